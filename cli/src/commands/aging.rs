//! `simulate`, `tiers`, `compact` and `wipe`: how cards age, and bytes that go for good.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use memcards::forget::chart::{to_svg, to_text};
use memcards::{Duration, Error, Proof, Simulate, Simulated, TenantTiers, Tiers, Wipe, Wiped};
use serde_json::json;

use super::admin::size;
use super::policy::policy_value;
use super::{answer, print_answer};
use crate::arguments::example;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::table::{Table, counted, cut};
use crate::render::{self, COLUMNS, printable, style};
use crate::store::Door;

/// Lines of a chart on the terminal.
const CHART_LINES: usize = 12;

#[derive(Args)]
#[command(after_help = example!(
    "memcards simulate --policy tutoring",
    "memcards simulate --all --days 730 --svg aging.svg"
))]
pub(crate) struct SimulateArguments {
    /// How many days, 1 to 3,653
    #[arg(long, value_name = "NUMBER", default_value_t = 365)]
    days: u32,
    /// The policy to play: a preset or a TOML file [default: the one in force]
    #[arg(long, value_name = "PRESET|FILE")]
    policy: Option<String>,
    /// Every tenant together
    #[arg(long)]
    all: bool,
    /// Time from one run to the next, such as 1h or 7d [default: the policy's]
    #[arg(long, value_name = "DURATION")]
    every: Option<Duration>,
    /// Write a picture, a chart for each category
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = example!("memcards wipe anna --confirm anna"))]
pub(crate) struct WipeArguments {
    /// The tenant
    #[arg(value_name = "TENANT")]
    name: String,
    /// Its name once more: there is no undo
    #[arg(long, value_name = "TENANT")]
    confirm: String,
}

pub(crate) fn simulate(
    arguments: SimulateArguments,
    door: &Door,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let request = Simulate {
        policy: arguments.policy.as_deref().map(policy_value).transpose()?,
        days: arguments.days,
        every: arguments.every,
        ..Simulate::default()
    };
    let play = || match arguments.all {
        true => door.store.simulate(&request),
        false => door.tenant()?.simulate(&request),
    };
    if door.json {
        if let Some(path) = &arguments.svg {
            write_picture(path, &play()?)?;
        }
        let tenant = (!arguments.all).then(|| door.tenant_name().to_owned());
        return print_answer(&answer(door, "simulate", &request, tenant)?, out);
    }
    let played = play()?;
    let dim = style::DIM;
    let whose = match arguments.all {
        true => counted(played.tenants, "tenant"),
        false => printable(door.tenant_name()),
    };
    writeln!(out, "{} of {whose}, from {}", counted(played.cards, "card"), render::time(played.start))?;
    writeln!(out, "{dim}by {}; nothing is changed{dim:#}\n", printable(&played.policy))?;
    write!(out, "{}", to_text(&played.simulation, COLUMNS, CHART_LINES))?;
    if let Some(path) = &arguments.svg {
        write_picture(path, &played)?;
        writeln!(out, "\nwritten: {}", printable(&path.display().to_string()))?;
    }
    Ok(())
}

fn write_picture(path: &std::path::Path, played: &Simulated) -> Result<(), Error> {
    std::fs::write(path, to_svg(&played.simulation))
        .map_err(|error| Error::invalid("svg", format!("{}: {error}", path.display())))
}

pub(crate) fn tiers(door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        return print_answer(&answer(door, "tiers", json!({}), door.named_tenant.clone())?, out);
    }
    let tiers = match &door.named_tenant {
        Some(_) => door.tenant()?.tiers()?,
        None => door.store.tiers()?,
    };
    Ok(show_tiers(&tiers, out)?)
}

fn show_tiers(tiers: &Tiers, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    for (number, tenant) in tiers.tenants.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        show_tenant(tenant, out)?;
    }
    if tiers.tenants.is_empty() {
        writeln!(out, "no cards")?;
    }
    if !tiers.files.is_empty() {
        writeln!(out)?;
        let mut table = Table::new(&["files of the store", "size"]);
        for (name, bytes) in &tiers.files {
            table.row([cut(name, 40), size(*bytes)]);
        }
        table.row(["all".to_owned(), size(tiers.files.values().sum())]);
        table.write(out)?;
    }
    if !tiers.tenants.is_empty() {
        writeln!(
            out,
            "\n{dim}days since a card was last told, confirmed or used; of forgotten ones, since then{dim:#}"
        )?;
    }
    Ok(())
}

fn show_tenant(tenant: &TenantTiers, out: &mut dyn Write) -> io::Result<()> {
    let strong = style::STRONG;
    writeln!(out, "{strong}{}{strong:#}", printable(&tenant.tenant))?;
    let bands = tenant.states.first().map(|state| state.ages.as_slice()).unwrap_or_default();
    let heading = |below: Option<u32>| below.map_or("older".to_owned(), |days| format!("<{days} d"));
    let headings: Vec<String> = bands.iter().map(|band| heading(band.below_days)).collect();
    let all = ["state", "cards"].into_iter().chain(headings.iter().map(String::as_str));
    let mut table = Table::new(&all.collect::<Vec<_>>());
    for state in &tenant.states {
        let cells = [state.state.to_owned(), state.cards.to_string()];
        table.row(cells.into_iter().chain(state.ages.iter().map(|band| band.cards.to_string())));
    }
    table.write(out)?;
    if tenant.expired > 0 {
        writeln!(out, "expired, and not forgotten yet: {}", counted(tenant.expired, "card"))?;
    }
    let purges = &tenant.purges;
    if purges.due + purges.later + purges.never > 0 {
        let mut parts = Vec::new();
        if purges.due > 0 {
            parts.push(format!("{} by the next run", purges.due));
        }
        if purges.later > 0 {
            let first = purges.next.map(|at| format!(" (first {})", render::time(at)));
            parts.push(format!("{} later{}", purges.later, first.unwrap_or_default()));
        }
        if purges.never > 0 {
            parts.push(format!("{} never by themselves", purges.never));
        }
        writeln!(out, "forgotten cards are purged: {}", parts.join(", "))?;
    }
    Ok(())
}

pub(crate) fn compact(door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        return print_answer(&answer(door, "compact", json!({}), None)?, out);
    }
    let progress = Progress::start("copying records");
    let done = door.store.compact(|done| progress.at(done))?;
    drop(progress);
    let good = style::GOOD;
    let (before, after) = (size(done.bytes_before), size(done.bytes_after));
    writeln!(out, "{good}compacted{good:#}: {before} → {after}, {} records", done.records)?;
    let warn = style::WARN;
    for damage in &done.damaged {
        writeln!(out, "{warn}left as it is{warn:#}: {}", render::printable(damage))?;
    }
    Ok(())
}

pub(crate) fn wipe(arguments: WipeArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let WipeArguments { name, confirm } = arguments;
    let request = Wipe { confirm };
    if door.json {
        let answer = answer(door, "wipe", request, Some(name))?;
        print_answer(&answer, out)?;
        let empty = |field: &str| answer["proof"][field].as_array().is_none_or(Vec::is_empty);
        let clean = empty("found") && empty("damaged");
        return if clean { Ok(()) } else { Err(Failure::Damage) };
    }
    let wiped = door.store.tenant(&name)?.wipe(request)?;
    show_wiped(&name, &wiped, out)?;
    if wiped.proof.is_complete() { Ok(()) } else { Err(Failure::Damage) }
}

fn show_wiped(name: &str, wiped: &Wiped, out: &mut dyn Write) -> io::Result<()> {
    let good = style::GOOD;
    writeln!(
        out,
        "{good}wiped{good:#} {}: {}, {}, {} of its log, {} in all",
        printable(name),
        counted(wiped.cards, "card"),
        counted(wiped.versions, "earlier version"),
        counted(wiped.log_positions, "position"),
        counted(wiped.records, "record"),
    )?;
    let warn = style::WARN;
    for place in &wiped.damaged {
        writeln!(
            out,
            "   {warn}could not be read, and is removed like the rest:{warn:#} {}",
            printable(place)
        )?;
    }
    show_proof(&wiped.proof, out)
}

/// Shows what a scan for erased content has found.
pub(crate) fn show_proof(proof: &Proof, out: &mut dyn Write) -> io::Result<()> {
    let (good, bad, warn) = (style::GOOD, style::BAD, style::WARN);
    writeln!(
        out,
        "looked for {} of erased content in {} ({}):",
        counted(proof.fingerprints, "piece"),
        counted(proof.files, "file"),
        size(proof.bytes),
    )?;
    for place in &proof.found {
        writeln!(out, "   {bad}found{bad:#} {}", printable(place))?;
    }
    for place in &proof.damaged {
        writeln!(out, "   {bad}could not be searched{bad:#} {}", printable(place))?;
    }
    if proof.is_complete() {
        writeln!(out, "   {good}none is left{good:#}")?;
    }
    if proof.unprovable > 0 {
        let cards = counted(proof.unprovable, "card");
        writeln!(
            out,
            "   {warn}note:{warn:#} {cards} too short, too uniform or too damaged to be looked for"
        )?;
    }
    Ok(())
}
