//! Showing plans to people: grouped, with figures and samples, and how to go on.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use memcards::{Action, PlanSummary, Planned, PlannedItem};

use super::table::{Table, counted, cut, days};
use super::{COLUMNS, printable, style, time, wrap};

/// Cards shown of a group.
const SAMPLES: usize = 3;

/// A plan, grouped by what is done and why; `all` shows every item that it answered.
pub(crate) fn planned(plan: &Planned, all: bool, program: &str, out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim) = (style::STRONG, style::DIM);
    writeln!(out, "{strong}{}{strong:#} {dim}made {}{dim:#}", plan.plan, time(plan.made_at))?;
    for line in wrap(&format!("by {}", printable(&plan.policy)), COLUMNS) {
        writeln!(out, "{dim}{line}{dim:#}")?;
    }
    let mut groups: BTreeMap<(Action, &str), Vec<&PlannedItem>> = BTreeMap::new();
    for item in &plan.items {
        groups.entry((item.item.action, item.item.rule.as_str())).or_default().push(item);
    }
    for ((action, rule), items) in &groups {
        let count = plan.totals.rules.get(*rule).copied().unwrap_or(items.len() as u64);
        writeln!(out, "\n{strong}{action} {}{strong:#}", counted(count, "card"))?;
        for line in wrap(&format!("{}: {rule}", meaning(*action)), COLUMNS - 3) {
            writeln!(out, "   {dim}{line}{dim:#}")?;
        }
        let shown = if all { items.len() } else { items.len().min(SAMPLES) };
        for item in &items[..shown] {
            sample(item, out)?;
        }
        let more = count.saturating_sub(shown as u64);
        if more > 0 {
            writeln!(out, "   {dim}… and {more} more{dim:#}")?;
        }
    }
    let named: BTreeSet<&str> = groups.keys().map(|(_, rule)| *rule).collect();
    for (rule, count) in plan.totals.rules.iter().filter(|(rule, _)| !named.contains(rule.as_str())) {
        writeln!(out, "\n{strong}{}{strong:#} {dim}({}){dim:#}", counted(*count, "card"), printable(rule))?;
    }
    by_tenant(plan, out)?;
    writeln!(out)?;
    for note in &plan.notes {
        let warn = style::WARN;
        for (number, line) in wrap(&printable(note), COLUMNS - 6).iter().enumerate() {
            let word = if number == 0 { "note:" } else { "" };
            writeln!(out, "{warn}{word:<5}{warn:#} {line}")?;
        }
    }
    match (plan.totals.items, &plan.run) {
        (0, _) => writeln!(out, "nothing is due"),
        (_, Some(run)) => {
            writeln!(out, "carried out already; take it back: {strong}{program}undo {run}{strong:#}")
        }
        (items, None) => {
            writeln!(out, "{} in all; nothing has been changed yet", counted(items, "card"))?;
            writeln!(out, "carry it out: {strong}{program}apply {}{strong:#}", plan.plan)
        }
    }
}

/// What an action does to a card.
fn meaning(action: Action) -> &'static str {
    match action {
        Action::Expire => "their time is over, so they are forgotten",
        Action::Merge => "another card says the same and takes them over",
        Action::Fade => "believed too little by now, so they leave active memory",
        Action::Archive => "they leave active memory",
        Action::Forget => "they are forgotten",
        Action::Purge => "forgotten long ago, so every byte goes (no undo)",
        Action::Supersede => "another card, told later, says otherwise and takes their place",
        Action::Consolidate => "several become one more card that cites them",
    }
}

fn sample(planned: &PlannedItem, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    let (item, figures) = (&planned.item, &planned.item.figures);
    let text = planned.excerpt.as_deref().unwrap_or("(gone)");
    writeln!(out, "   {}", cut(text, COLUMNS - 3))?;
    let mut parts = vec![format!("{}/{}", item.track, printable(&item.category))];
    parts.extend(planned.tenant.as_deref().map(printable));
    parts.push(format!("age {}", days(item.age)));
    let (before, now) = (figures.confidence, figures.confidence_now);
    let fades = item.action == Action::Fade;
    match figures.threshold {
        Some(bound) if fades => parts.push(format!("confidence {before:.2} → {now:.2}, below {bound:.2}")),
        _ => parts.push(format!("confidence {before:.2} → {now:.2}")),
    }
    match (figures.threshold, figures.rank) {
        (Some(bound), Some(rank)) => parts.push(format!("place {rank} of {bound:.0} by worth")),
        (Some(bound), None) if !fades && figures.similarity.is_none() => {
            parts.push(format!("bound {}", days(bound)));
        }
        _ => {}
    }
    parts.extend(figures.similarity.map(|similarity| format!("alike {similarity:.2}")));
    parts.extend(figures.since.map(|since| format!("since {}", time(since))));
    parts.extend(item.into.map(|into| format!("into {into}")));
    parts.push(format!("id {}", item.id));
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && super::width(&line) + super::width(&part) + 3 > COLUMNS - 6 {
            writeln!(out, "      {dim}{line}{dim:#}")?;
            line.clear();
        }
        line.push_str(if line.is_empty() { "" } else { " · " });
        line.push_str(&part);
    }
    writeln!(out, "      {dim}{line}{dim:#}")
}

/// How much a plan over tenants does to each of them.
fn by_tenant(plan: &Planned, out: &mut dyn Write) -> io::Result<()> {
    if plan.totals.tenants.is_empty() {
        return Ok(());
    }
    let actions: Vec<&str> = plan.totals.actions.keys().map(String::as_str).collect();
    let headings: Vec<&str> = ["tenant"].into_iter().chain(actions.iter().copied()).chain(["all"]).collect();
    let mut table = Table::new(&headings);
    for (tenant, counts) in &plan.totals.tenants {
        let count = |action: &&str| counts.get(*action).copied().unwrap_or(0).to_string();
        let all = counts.values().sum::<u64>().to_string();
        table.row([cut(tenant, 30)].into_iter().chain(actions.iter().map(count)).chain([all]));
    }
    writeln!(out)?;
    table.write(out)
}

/// Plans and runs in a list.
pub(crate) fn summaries(plans: &[PlanSummary], out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim) = (style::STRONG, style::DIM);
    for plan in plans {
        let name = match (&plan.plan, &plan.run) {
            (Some(plan), _) => plan.to_string(),
            (None, Some(run)) => run.to_string(),
            (None, None) => "–".into(),
        };
        let actions = actions(&plan.totals.actions);
        writeln!(out, "{strong}{name}{strong:#}  {:<8} {}  {actions}", plan.status, time(plan.made_at))?;
        match (&plan.plan, &plan.run) {
            (Some(_), Some(run)) => writeln!(out, "   {dim}{run}{dim:#}")?,
            (None, _) => writeln!(out, "   {dim}forgotten on request{dim:#}")?,
            _ => {}
        }
    }
    if plans.is_empty() {
        writeln!(out, "no plans and no runs")?;
    }
    Ok(())
}

/// Counts by action, in words.
pub(crate) fn actions(actions: &BTreeMap<String, u64>) -> String {
    match actions.is_empty() {
        true => "nothing".to_owned(),
        false => {
            let named = actions.iter().map(|(action, count)| format!("{action} {count}"));
            named.collect::<Vec<_>>().join(", ")
        }
    }
}
