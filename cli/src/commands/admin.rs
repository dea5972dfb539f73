//! Commands about the store as a whole: `reembed`, `backup`, `verify`, `repair`, `stats`, `tenants`; and
//! `completions`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use memcards::store::Finding;
use memcards::{Audit, Error, RunId, SchedulerStatus, Timestamp};
use serde_json::json;

use super::{answer, print_answer};
use crate::arguments::{Arguments, example};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::{self, style};
use crate::store::Door;

#[derive(Args)]
#[command(after_help = example!("memcards backup ./memcards-copy"))]
pub(crate) struct BackupArguments {
    /// The new directory; nothing may be there
    #[arg(value_name = "DIR")]
    to: PathBuf,
}

#[derive(Args)]
#[command(after_help = example!("memcards verify", "memcards verify --erased"))]
pub(crate) struct VerifyArguments {
    /// Look in every byte of every file for what was purged, too; before a `compact` some of it
    /// is still in pages that are free
    #[arg(long)]
    erased: bool,
}

#[derive(Args)]
#[command(after_help = example!("memcards completions bash > memcards.bash"))]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

#[derive(Args)]
#[command(after_help = example!("memcards audit", "memcards audit --tenant anna --limit 20"))]
pub(crate) struct AuditArguments {
    /// Changes before this position of the log [default: from its end]
    #[arg(long, value_name = "NUMBER")]
    before: Option<u64>,
    /// Runs that began before this one [default: from the latest]
    #[arg(long, value_name = "RUN")]
    before_run: Option<RunId>,
    /// Changes and runs shown, of each 1 to 1,000 [default: 50]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

pub(crate) fn audit(arguments: &AuditArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request =
        Audit { before: arguments.before, before_run: arguments.before_run, limit: arguments.limit };
    if door.json {
        return print_answer(&answer(door, "audit", request, door.named_tenant.clone())?, out);
    }
    let audited = match &door.named_tenant {
        Some(_) => door.tenant()?.audit(&request)?,
        None => door.store.audit(&request)?,
    };
    let dim = style::DIM;
    let who = |actor: &Option<String>, why: &Option<String>| {
        let actor = actor.as_deref().map(|name| format!(" by {}", render::printable(name)));
        let why = why.as_deref().map(|why| format!(": {}", render::printable(why)));
        actor.unwrap_or_default() + &why.unwrap_or_default()
    };
    for change in &audited.changes {
        let action = change.action.as_deref().unwrap_or(change.kind);
        let (at, who) = (render::time(change.at), who(&change.actor, &change.why));
        let (id, version) = (change.id, change.version);
        writeln!(out, "{dim}{:>8}  {at}{dim:#}  {action}{who}  {dim}{id} v{version}{dim:#}", change.seq)?;
    }
    for run in &audited.runs {
        let (at, who) = (render::time(run.started_at), who(&run.actor, &run.why));
        let actions = render::plan::actions(&run.totals.actions);
        let end = match (run.undone_at, run.finished_at) {
            (Some(_), _) => ", taken back",
            (None, None) => ", not finished",
            _ => "",
        };
        writeln!(out, "{dim}{at}{dim:#}  {}{who}  {actions}{end}", run.run)?;
    }
    if audited.changes.is_empty() && audited.runs.is_empty() {
        writeln!(out, "nothing yet")?;
    }
    Ok(())
}

pub(crate) fn backup(arguments: &BackupArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let to = &arguments.to;
    if door.json {
        return print_answer(&answer(door, "backup", json!({ "to": to }), None)?, out);
    }
    let progress = Progress::start("copying records");
    let records = door.store.backup(to, |done| progress.at(done))?;
    drop(progress);
    let (good, shown) = (style::GOOD, render::printable(&to.display().to_string()));
    writeln!(out, "{good}copied{good:#} {records} records to {shown}")?;
    Ok(())
}

pub(crate) fn reembed(door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let tenant = door.named_tenant.as_deref();
    if door.json {
        return print_answer(&answer(door, "reembed", json!({ "tenant": tenant }), None)?, out);
    }
    let progress = Progress::start("looking at cards");
    let done = door.store.reembed(tenant, |done| progress.at(done))?;
    drop(progress);
    let (good, model) = (style::GOOD, render::printable(&done.model));
    write!(out, "{good}embedded{good:#} {} texts of {} cards with {model}", done.embedded, done.cards)?;
    if done.removed > 0 {
        write!(out, "; {} have no vector any more", done.removed)?;
    }
    writeln!(out)?;
    Ok(())
}

pub(crate) fn verify(arguments: &VerifyArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        let answer = answer(door, "verify", json!({ "erased": arguments.erased }), None)?;
        print_answer(&answer, out)?;
        return if answer["sound"] == json!(false) { Err(Failure::Damage) } else { Ok(()) };
    }
    let progress = Progress::start("reading records");
    let report = door.store.verify(|done| progress.at(done))?;
    drop(progress);
    let good = style::GOOD;
    writeln!(
        out,
        "read {} tenants, {} cards, {} earlier versions, {} vectors, {} changes, {} index files",
        report.tenants, report.cards, report.versions, report.vectors, report.changes, report.index_files,
    )?;
    let proof = if arguments.erased { Some(door.store.verify_erased()?) } else { None };
    if let Some(proof) = &proof {
        super::aging::show_proof(proof, out)?;
    }
    if report.is_sound() {
        writeln!(out, "{good}sound{good:#}: every checksum fits and the records agree")?;
        let clean = proof.is_none_or(|proof| proof.is_complete());
        return if clean { Ok(()) } else { Err(Failure::Damage) };
    }
    show_findings(&report.findings, out)?;
    Err(Failure::Damage)
}

pub(super) fn show_findings(findings: &[Finding], out: &mut dyn Write) -> Result<(), Failure> {
    let bad = style::BAD;
    for finding in findings {
        let (place, detail) = (render::printable(&finding.place), render::printable(&finding.detail));
        writeln!(out, "{bad}damaged{bad:#} {place}: {detail}")?;
    }
    Ok(())
}

pub(crate) fn repair(door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let progress = (!door.json).then(|| Progress::start("reading records"));
    let repaired = door.store.repair(|done| progress.iter().for_each(|progress| progress.at(done)))?;
    drop(progress);
    let end = if repaired.lost.is_empty() { Ok(()) } else { Err(Failure::Damage) };
    if door.json {
        let answer = serde_json::to_value(&repaired)
            .map_err(|error| Error::Internal(format!("encoding the answer: {error}")))?;
        print_answer(&answer, out)?;
        return end;
    }
    let good = style::GOOD;
    if repaired.found.is_empty() {
        writeln!(out, "{good}sound{good:#}: nothing to repair")?;
        return end;
    }
    writeln!(out, "{} places were damaged", repaired.found.len())?;
    if repaired.indexes > 0 {
        writeln!(
            out,
            "removed the index files of {} tenants; they are made anew when they are needed",
            repaired.indexes
        )?;
    }
    if let Some(kept) = &repaired.kept {
        let kept = render::printable(&kept.display().to_string());
        writeln!(
            out,
            "wrote the store file anew with all of its {} records; the damaged one is {kept}",
            repaired.records
        )?;
    }
    match repaired.lost.is_empty() {
        true => writeln!(out, "{good}repaired{good:#}: nothing is lost")?,
        false => {
            writeln!(out, "this is lost, unless a backup has it; all else can be read, not written:")?;
            show_findings(&repaired.lost, out)?;
            writeln!(
                out,
                "`memcards export FILE --skip-damaged` writes all else, and `memcards import FILE` with a new \
                 directory makes a sound store of it"
            )?;
        }
    }
    end
}

pub(crate) fn statistics(door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        let name = if door.named_tenant.is_some() { "tenant.stats" } else { "stats" };
        return print_answer(&answer(door, name, json!({}), door.named_tenant.clone())?, out);
    }
    let dim = style::DIM;
    let mut line = |name: &str, value: String| writeln!(out, "{dim}{name:<12}{dim:#} {value}");
    if door.named_tenant.is_none() {
        let figures = door.store.statistics()?;
        line("tenants", figures.tenants.to_string())?;
        line("file", size(figures.file_bytes))?;
        line("model", figures.model.as_deref().map_or("none yet".into(), render::printable))?;
        if figures.reembedding {
            line("vectors", "some come from an earlier model and are not searched; run reembed".into())?;
        }
        let runs = &figures.scheduler;
        if runs.scheduled || runs.last_run.is_some() {
            line("forgetting", scheduler(runs))?;
        }
        if let Some(why) = &figures.read_only {
            line("read-only", render::printable(why))?;
        }
        return Ok(());
    }
    let figures = door.tenant()?.statistics()?;
    let counts = |counts: Vec<(String, u64)>| match counts.is_empty() {
        true => "none".to_owned(),
        false => counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", "),
    };
    let named = |(name, count): (&&str, &u64)| ((*name).to_owned(), *count);
    line("cards", counts(figures.states.iter().map(named).collect()))?;
    line("tracks", counts(figures.tracks.iter().map(named).collect()))?;
    let own = |(name, count): (&String, &u64)| (render::printable(name), *count);
    line("categories", counts(figures.categories.iter().map(own).collect()))?;
    line("vectors", figures.vectors.to_string())?;
    line("changes", figures.seq.to_string())?;
    Ok(())
}

/// How scheduled forgetting stands, on one line.
fn scheduler(status: &SchedulerStatus) -> String {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "none yet".to_owned(), render::time);
    let mut text = match status.running {
        true => format!("under way, {} of {} done", status.done, status.of),
        false => format!("last run {}", time(status.last_run)),
    };
    if let Some(next) = status.next_run {
        text += &format!(", next {}", render::time(next));
    }
    text += &format!("; {} runs, {} cards, {} left alone", status.runs, status.applied, status.skipped);
    if let Some(error) = &status.error {
        text += &format!("; failed: {}", render::printable(error));
    }
    text
}

/// A size in the unit that suits it.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..=1_048_575 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..=1_073_741_823 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

pub(crate) fn tenants(door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    if door.json {
        return print_answer(&answer(door, "tenant.list", json!({}), None)?, out);
    }
    let dim = style::DIM;
    let tenants = door.store.tenants()?;
    for tenant in &tenants {
        let since = render::time(tenant.created_at);
        writeln!(out, "{}  {dim}since {since}{dim:#}", render::printable(&tenant.name))?;
    }
    if tenants.is_empty() {
        writeln!(out, "no tenants")?;
    }
    Ok(())
}

pub(crate) fn completions(arguments: &CompletionsArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "memcards", &mut script);
    Ok(out.write_all(&script)?)
}
