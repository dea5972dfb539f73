//! `plan`, `plans`, `apply`, `undo` and `feedback`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use clap::{Args, Subcommand};
use memcards::card::CardId;
use memcards::{
    Action, AppliedPlan, Apply, FedBack, Feedback, MakePlan, PlanId, PlanLimits, Plans, RunId, Skipped, Undo,
    Undone,
};

use super::policy::policy_value;
use super::{answer, print_answer, verb};
use crate::arguments::{example, names};
use crate::failure::Failure;
use crate::render::table::counted;
use crate::render::{self, plan as show, style};
use crate::store::Door;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = example!(
    "memcards plan",
    "memcards plan --all --policy tutoring --rules expire,fade",
    "memcards plan show plan-0123456789abcdef --items"
))]
pub(crate) struct PlanArguments {
    #[command(subcommand)]
    show: Option<PlanCommand>,
    /// Several tenants, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "all")]
    tenants: Vec<String>,
    /// Every tenant
    #[arg(long)]
    all: bool,
    /// The policy to go by: a preset or a TOML file [default: the one in force]
    #[arg(long, value_name = "PRESET|FILE")]
    policy: Option<String>,
    /// Only these: expire, merge, fade, archive, forget, purge, consolidate, supersede [default: all]
    #[arg(long, value_name = "ACTIONS", value_delimiter = ',', value_parser = names!(Action))]
    rules: Vec<Action>,
    /// Cards per tenant at most [default: the policy's]
    #[arg(long, value_name = "NUMBER")]
    items: Option<u64>,
    /// Share of a tenant's cards at most, 0 to 1 [default: the policy's]
    #[arg(long, value_name = "NUMBER")]
    share: Option<f64>,
    /// With --all: share of the tenants, 0 to 1 [default: the policy's]
    #[arg(long, value_name = "NUMBER")]
    tenants_share: Option<f64>,
    /// Lift the limits on the number of cards
    #[arg(long)]
    consent: bool,
}

#[derive(Subcommand)]
enum PlanCommand {
    /// Show a plan that was made
    #[command(after_help = example!("memcards plan show plan-0123456789abcdef"))]
    Show {
        /// The plan
        plan: PlanId,
        /// Every card (up to 1,000), not three of each kind
        #[arg(long)]
        items: bool,
    },
}

#[derive(Args)]
#[command(after_help = example!("memcards plans", "memcards plans --all"))]
pub(crate) struct PlansArguments {
    /// Those of the store, made for several tenants
    #[arg(long)]
    all: bool,
}

#[derive(Args)]
#[command(after_help = example!(
    "memcards apply plan-0123456789abcdef",
    "memcards apply plan-0123456789abcdef --yes --actor Mira --reason \"spring cleaning\""
))]
pub(crate) struct ApplyArguments {
    /// The plan
    plan: PlanId,
    /// Refuse unless the plan has this digest
    #[arg(long)]
    digest: Option<String>,
    /// Do not ask; nothing is asked either where no person looks on
    #[arg(long, short)]
    yes: bool,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
#[command(after_help = example!("memcards undo run-0123456789abcdef"))]
pub(crate) struct UndoArguments {
    /// The run, as `apply` or `forget` named it
    run: RunId,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards feedback --used 0187d63c82c0000000400021a7f3c9e4 --query "where is the key?""#,
    "memcards feedback --rejected 0187d63c82c0000000400021a7f3c9e4 --reason \"not so any more\""
))]
pub(crate) struct FeedbackArguments {
    /// Cards that were of use: they age from now on
    #[arg(long, value_name = "ID", num_args = 1..)]
    used: Vec<CardId>,
    /// Cards that were wrong: they are doubted until they are told again
    #[arg(long, value_name = "ID", num_args = 1..)]
    rejected: Vec<CardId>,
    /// The question that they answered, for the history
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
#[command(after_help = example!("memcards maintain", "memcards maintain --every 1h"))]
pub(crate) struct MaintainArguments {
    /// Stay, and look again after this time, until the program is stopped [default: once]
    #[arg(long, value_name = "DURATION")]
    every: Option<memcards::Duration>,
}

/// The shortest time after which `maintain --every` looks again.
const EVERY_LEAST: Duration = Duration::from_secs(1);

pub(crate) fn maintain(
    arguments: &MaintainArguments,
    door: &Door,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let every = arguments.every.map(|every| {
        let micros = u64::try_from(every.as_micros()).unwrap_or(0);
        Duration::from_micros(micros).max(EVERY_LEAST)
    });
    loop {
        if door.json {
            print_answer(&answer(door, "maintain", serde_json::json!({}), None)?, out)?;
        } else {
            match door.store.forget_due()? {
                Some(applied) => show_applied(&applied, &door.program, out)?,
                None => writeln!(out, "nothing is due")?,
            }
        }
        let Some(every) = every else { return Ok(()) };
        out.flush()?;
        std::thread::sleep(every);
    }
}

pub(crate) fn plan(arguments: PlanArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(PlanCommand::Show { plan, items }) = arguments.show {
        return show_plan(plan, items, door, out);
    }
    let whole = arguments.all || !arguments.tenants.is_empty();
    let request = MakePlan {
        tenants: arguments.tenants,
        policy: arguments.policy.as_deref().map(policy_value).transpose()?,
        rules: arguments.rules,
        limits: PlanLimits {
            items: arguments.items,
            share: arguments.share,
            tenants: arguments.tenants_share,
        },
        consent: arguments.consent,
    };
    if door.json {
        let tenant = (!whole).then(|| door.tenant_name().to_owned());
        return print_answer(&answer(door, "plan", request, tenant)?, out);
    }
    let planned = if whole { door.store.plan(&request)? } else { door.tenant()?.plan(&request)? };
    Ok(show::planned(&planned, false, &door.program, out)?)
}

fn show_plan(plan: PlanId, all: bool, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        let request = Plans { plan: Some(plan) };
        return print_answer(&answer(door, "plans", request, door.named_tenant.clone())?, out);
    }
    let planned = find_plan(plan, door)?;
    Ok(show::planned(&planned, all, &door.program, out)?)
}

/// A plan of the named tenant, or of any.
fn find_plan(plan: PlanId, door: &Door) -> memcards::Result<memcards::Planned> {
    match &door.named_tenant {
        Some(_) => door.tenant()?.show_plan(plan),
        None => door.store.show_plan(plan),
    }
}

pub(crate) fn plans(arguments: &PlansArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        let tenant = (!arguments.all).then(|| door.tenant_name().to_owned());
        return print_answer(&answer(door, "plans", Plans::default(), tenant)?, out);
    }
    let plans = if arguments.all { door.store.plans()? } else { door.tenant()?.plans()? };
    Ok(show::summaries(&plans, out)?)
}

pub(crate) fn apply(arguments: ApplyArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = arguments.plan;
    let request = Apply {
        plan: Some(plan),
        digest: arguments.digest,
        actor: arguments.actor,
        reason: arguments.reason,
    };
    if door.json {
        return print_answer(&answer(door, "apply", request, door.named_tenant.clone())?, out);
    }
    if !arguments.yes && io::stdin().is_terminal() && !confirmed(plan, door, out)? {
        writeln!(out, "nothing has been changed")?;
        return Ok(());
    }
    let applied = match &door.named_tenant {
        Some(_) => door.tenant()?.apply(request)?,
        None => door.store.apply(request)?,
    };
    Ok(show_applied(&applied, &door.program, out)?)
}

/// Asks the person at the terminal.
fn confirmed(plan: PlanId, door: &Door, out: &mut dyn Write) -> Result<bool, Failure> {
    let planned = find_plan(plan, door)?;
    let actions = show::actions(&planned.totals.actions);
    write!(out, "{}: {actions}. Carry it out? [y/N] ", counted(planned.totals.items, "card"))?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(matches!(typed.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Shows what a run has done, and how to take it back.
pub(crate) fn show_applied(applied: &AppliedPlan, program: &str, out: &mut dyn Write) -> io::Result<()> {
    let (good, warn, strong) = (style::GOOD, style::WARN, style::STRONG);
    let totals = &applied.totals;
    if applied.repeated {
        writeln!(out, "carried out before; nothing more was done")?;
    }
    let actions = show::actions(&totals.actions);
    writeln!(out, "{good}applied{good:#} to {}: {actions}", counted(totals.applied, "card"))?;
    show_skipped(&applied.skipped, totals.skipped, out)?;
    if !applied.complete {
        writeln!(out, "{warn}stopped{warn:#} before its end: apply it again to go on")?;
    }
    let purged = totals.actions.get(Action::Purge.name()).copied().unwrap_or(0);
    if purged > 0 {
        writeln!(out, "{warn}no undo{warn:#}: {} removed for good", counted(purged, "card"))?;
    }
    match totals.applied > purged {
        true => writeln!(out, "take it back: {strong}{program}undo {}{strong:#}", applied.run),
        false => Ok(()),
    }
}

/// Shows which cards were left alone, by reason.
fn show_skipped(skipped: &[Skipped], count: u64, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    if count > 0 {
        writeln!(out, "left alone: {}", counted(count, "card"))?;
    }
    let mut reasons: BTreeMap<&str, Vec<CardId>> = BTreeMap::new();
    for card in skipped {
        reasons.entry(&card.why).or_default().push(card.id);
    }
    for (why, ids) in reasons {
        writeln!(out, "   {} {}", ids.len(), render::printable(super::change::why(why)))?;
        for id in ids.iter().take(3) {
            writeln!(out, "      {dim}{id}{dim:#}")?;
        }
    }
    Ok(())
}

pub(crate) fn undo(arguments: UndoArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Undo { run: Some(arguments.run), actor: arguments.actor, reason: arguments.reason };
    if door.json {
        return print_answer(&answer(door, "undo", request, door.named_tenant.clone())?, out);
    }
    let undone = match &door.named_tenant {
        Some(_) => door.tenant()?.undo(request)?,
        None => door.store.undo(request)?,
    };
    Ok(show_undone(&undone, out)?)
}

/// Shows how much is as it was.
pub(crate) fn show_undone(undone: &Undone, out: &mut dyn Write) -> io::Result<()> {
    let good = style::GOOD;
    let cards = counted(undone.restored.len() as u64, "card");
    writeln!(out, "{good}taken back{good:#}: {cards} as before the run")?;
    show_skipped(&undone.skipped, undone.skipped.len() as u64, out)
}

pub(crate) fn feedback(
    arguments: FeedbackArguments,
    door: &Door,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let request = Feedback {
        used: arguments.used,
        rejected: arguments.rejected,
        query: arguments.query,
        actor: arguments.actor,
        reason: arguments.reason,
    };
    verb(door, out, "feedback", request, |tenant, request| tenant.feedback(request), show_fed_back)
}

fn show_fed_back(answer: &FedBack, out: &mut dyn Write) -> io::Result<()> {
    let good = style::GOOD;
    for card in &answer.affected {
        writeln!(out, "{good}{}{good:#}  {}", card.change, card.id)?;
    }
    if answer.affected.is_empty() {
        writeln!(out, "nothing changed")?;
    }
    Ok(())
}
