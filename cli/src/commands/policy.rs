//! `policy`: what happens to cards by themselves, for the store or a tenant.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use memcards::forget::policy::{OverBudget, Policy};
use memcards::forget::resolve::Resolved;
use memcards::{Error, PolicyView};
use serde_json::{Value, json};

use super::{answer, print_answer};
use crate::arguments::example;
use crate::failure::Failure;
use crate::render::{COLUMNS, printable, style, wrap};
use crate::store::Door;

#[derive(Args)]
#[command(after_help = example!(
    "memcards policy show",
    "memcards policy presets tutoring > mine.toml",
    "memcards policy set mine.toml",
    "memcards policy set medical --tenant anna",
    "memcards policy clear --tenant anna"
))]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Subcommand)]
enum PolicyCommand {
    /// Show what is set for the store or, with --tenant, for a tenant, and what holds by it
    #[command(after_help = example!("memcards policy show --tenant anna"))]
    Show,
    /// Set the policy of the store or, with --tenant, of a tenant
    #[command(after_help = example!("memcards policy set assistant"))]
    Set {
        /// A preset, or a TOML file
        #[arg(value_name = "PRESET|FILE")]
        policy: String,
    },
    /// Take the policy away
    #[command(after_help = example!("memcards policy clear"))]
    Clear,
    /// Name the presets, or print one with the comments that say why
    #[command(after_help = example!("memcards policy presets medical"))]
    Presets {
        /// The preset
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

impl PolicyArguments {
    /// True when no store is needed.
    pub(crate) fn is_about_presets(&self) -> bool {
        matches!(self.command, PolicyCommand::Presets { .. })
    }
}

/// A policy as it was named: a preset, or a file.
pub(crate) fn policy_value(named: &str) -> Result<Value, Error> {
    if Policy::preset(named).is_some() {
        return Ok(named.into());
    }
    let text = std::fs::read_to_string(named).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let names: Vec<&str> = Policy::preset_names().collect();
            let known = names.join(", ");
            Error::invalid("policy", format!("{named:?} is no file and no preset ({known})"))
        }
        _ => Error::invalid("policy", format!("{named}: {error}")),
    })?;
    let policy = Policy::from_toml(&text)?;
    serde_json::to_value(policy).map_err(|error| Error::Internal(format!("encoding a policy: {error}")))
}

pub(crate) fn run(arguments: PolicyArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let value = match &arguments.command {
        PolicyCommand::Presets { .. } => return presets(&arguments, door.json, out),
        PolicyCommand::Show => None,
        PolicyCommand::Set { policy } => Some(policy_value(policy)?),
        PolicyCommand::Clear => Some(Value::Null),
    };
    if door.json {
        let tenant = door.named_tenant.clone();
        let answer = match value {
            None => answer(door, "policy.get", json!({}), tenant)?,
            Some(policy) => answer(door, "policy.set", json!({ "policy": policy }), tenant)?,
        };
        return print_answer(&answer, out);
    }
    let tenant = match door.named_tenant {
        Some(_) => Some(door.tenant()?),
        None => None,
    };
    let (good, whose) = (style::GOOD, if tenant.is_some() { "tenant" } else { "store" });
    let view = match value {
        None => {
            let view = tenant.map_or_else(|| door.store.policy(), |tenant| tenant.policy())?;
            return Ok(show(&view, whose, out)?);
        }
        Some(value) => {
            let policy = Some(&value).filter(|value| !value.is_null());
            tenant.map_or_else(|| door.store.set_policy(policy), |tenant| tenant.set_policy(policy))?
        }
    };
    match &view.policy {
        Some(policy) => {
            writeln!(out, "{good}set{good:#} for the {whose}: {}", describe(policy))?;
            let dim = style::DIM;
            writeln!(out, "{dim}`policy show` tells what holds, `plan` what it would do{dim:#}")?;
        }
        None => writeln!(out, "{good}cleared{good:#}: the {whose} has no policy of its own")?,
    }
    Ok(())
}

/// Names the presets, or prints one.
pub(crate) fn presets(arguments: &PolicyArguments, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let PolicyCommand::Presets { name } = &arguments.command else { return Ok(()) };
    let text = |name: &str| {
        Policy::preset_text(name).ok_or_else(|| Error::NotFound { what: format!("preset {name:?}") })
    };
    match name {
        Some(name) if json => writeln!(out, "{}", json!({"ok": true, "name": name, "toml": text(name)?}))?,
        Some(name) => write!(out, "{}", text(name)?)?,
        None if json => {
            let names: Vec<&str> = Policy::preset_names().collect();
            writeln!(out, "{}", json!({"ok": true, "presets": names}))?;
        }
        None => {
            let (strong, dim) = (style::STRONG, style::DIM);
            for name in Policy::preset_names() {
                writeln!(out, "{strong}{name}{strong:#}")?;
                let comment: Vec<&str> = text(name)?
                    .lines()
                    .map_while(|line| line.strip_prefix('#'))
                    .map(str::trim)
                    .take_while(|line| !line.is_empty())
                    .collect();
                for line in wrap(&comment.join(" "), COLUMNS - 3) {
                    writeln!(out, "   {dim}{line}{dim:#}")?;
                }
            }
        }
    }
    Ok(())
}

fn describe(policy: &Policy) -> String {
    let own = Policy { preset: None, ..policy.clone() } != Policy::default();
    match &policy.preset {
        Some(preset) if own => format!("preset {} with changes of its own", printable(preset)),
        Some(preset) => format!("preset {}", printable(preset)),
        None => "a policy of its own".to_owned(),
    }
}

fn show(view: &PolicyView, whose: &str, out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim, warn) = (style::STRONG, style::DIM, style::WARN);
    match &view.policy {
        Some(policy) => writeln!(out, "the {whose} has {}", describe(policy))?,
        None => writeln!(out, "the {whose} has no policy of its own")?,
    }
    if !view.set {
        writeln!(out, "{warn}note:{warn:#} no policy is set: the built-in one is only proposed by `plan`")?;
    }
    if !view.enabled {
        writeln!(out, "{warn}note:{warn:#} switched off (enabled = false): no rule does anything")?;
    }
    let limits = &view.limits;
    writeln!(
        out,
        "one run on a tenant: at most {} cards, and {:.0} % of them out of active memory",
        limits.items,
        limits.share * 100.0
    )?;
    let tracks = view.rules.iter().filter(|(scope, _)| scope.starts_with("tracks."));
    let categories = view.rules.iter().filter(|(scope, _)| scope.starts_with("categories."));
    for (scope, rule) in tracks.chain(categories) {
        writeln!(out, "\n{strong}{}{strong:#}", printable(scope))?;
        for (name, value, origin) in rows(rule) {
            writeln!(out, "   {dim}{name:<17}{dim:#} {value:<10} {dim}{}{dim:#}", printable(&origin))?;
        }
    }
    Ok(())
}

/// What holds, by the names of a policy, with where it comes from.
fn rows(rule: &Resolved) -> Vec<(&'static str, String, String)> {
    let half_life = |rate: f64| match rate > 0.0 {
        true => {
            let days = std::f64::consts::LN_2 / rate;
            if days < 10.0 { format!("{days:.1}d") } else { format!("{days:.0}d") }
        }
        false => "never".to_owned(),
    };
    let span = |span: Option<memcards::Duration>| span.map_or("never".to_owned(), in_days);
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let from = &rule.origins;
    let mut rows = vec![
        ("ttl", span(rule.ttl), &from.ttl),
        ("half_life", half_life(rule.decay), &from.decay),
        ("fade_below", format!("{:.2}", rule.fade_below), &from.fade_below),
        ("archive_after", span(rule.archive_after), &from.archive_after),
        ("max_cards", rule.max_cards.map_or("unlimited".into(), |most| most.to_string()), &from.max_cards),
        ("merge", yes(rule.merge), &from.merge),
        ("grace", span(rule.grace), &from.grace),
        ("protect", yes(rule.protect), &from.protect),
    ];
    if rule.max_cards.is_some() {
        let word = match rule.over_budget {
            OverBudget::Archive => "archive",
            OverBudget::Forget => "forget",
        };
        rows.insert(5, ("over_budget", word.into(), &from.over_budget));
    }
    rows.into_iter().map(|(name, value, origin)| (name, value, origin.to_string())).collect()
}

/// A length of time in whole days where it is one: weeks are no unit to compare by.
fn in_days(duration: memcards::Duration) -> String {
    const DAY: i64 = 86_400_000_000;
    let micros = duration.as_micros();
    if micros > 0 && micros % DAY == 0 { format!("{}d", micros / DAY) } else { duration.to_string() }
}
