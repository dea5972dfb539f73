//! A process that is killed (SIGKILL) while it works, on real files.
//!
//! The child does a workload whose every call a second store in memory does as well, so that the
//! parent knows exactly what each acknowledged call made true; beside it, other threads write
//! cards of their own. What returned, the child tells over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use memcards::card::State;
use memcards::store::io::RealIo;
use memcards::{Clock, Forget, ManualClock, Store};

use crate::disk::SimulatedDisk;
use crate::failure::{Checked, Failure, caught, ensure};
use crate::modes::{Settings, spread};
use crate::numbers::Numbers;
use crate::oracle;
use crate::report::{ModeReport, Tally};
use crate::script::{Act, DIRECTORY, Live, all_cards, options, random, start, told};
use crate::truth::{Truth, between};
use crate::words::word;

/// The mode in which the program is its own child.
pub const CHILD: &str = "child-work";
/// As [`CHILD`], but it only opens the store and closes it.
pub const CHILD_OPENS: &str = "child-open";
/// Threads that write cards of their own.
const OTHERS: u64 = 2;
/// The child is killed that long after a moment of its work at the latest, in microseconds.
const LATEST: usize = 60_000;

/// Runs `settings.count` kills.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    spread(settings, settings.count, &tally, |unit| {
        let seed = settings.seed + unit;
        if let Err(failure) = caught(|| kill(seed, &tally)) {
            tally.fail(failure.to_string(), format!("cargo xtask campaign kill --seed {seed} --count 1"));
        }
    });
    tally.into_report(
        "kill",
        "A process is killed (SIGKILL) 0 to 60 ms into its work, or while it opens the store, on real files: what was \
         acknowledged is there, the call under way whole or absent, verify is sound, indexes answer what the store \
         holds.",
    )
}

/// The steps of a child: those that depend on no other thread's cards.
fn acts(seed: u64) -> Vec<Act> {
    let mut acts = random(seed);
    acts.extend(random(seed ^ 0x5555));
    acts.retain(|act| !matches!(act, Act::ArchiveAll | Act::ForgetDue));
    acts
}

fn other(thread: u64) -> String {
    format!("other {thread}")
}

/// What the child does until it is killed, or has done everything.
///
/// # Errors
/// When a call fails.
pub fn child(directory: &Path, seed: u64, only_open: bool) -> Checked {
    if only_open {
        let clock = Arc::new(ManualClock::new(start()));
        tell("READY");
        drop(Store::open(directory, options(Arc::new(RealIo), clock))?);
        tell("END");
        return Ok(());
    }
    let mut live = Live::new(Arc::new(RealIo), directory, seed);
    live.open()?;
    let acts = acts(seed);
    // Reopening needs everybody's handles closed: there are others until the first time.
    let store = live.open()?.clone();
    std::thread::scope(|scope| {
        for thread in 0..OTHERS {
            let store = store.clone();
            scope.spawn(move || {
                if let Err(failure) = caught(|| write(&store, thread)) {
                    tell(&format!("BAD thread {thread}: {failure}"));
                }
            });
        }
        for (number, act) in acts.iter().enumerate() {
            if *act != Act::Reopen
                && let Err(error) = live.act(*act)
            {
                tell(&format!("BAD step {number} {act:?}: {error}"));
            }
            tell(&format!("DONE {}", number + 1));
        }
    });
    Ok(())
}

/// A thread that writes until the process is killed.
fn write(store: &Store, thread: u64) -> Checked {
    let tenant = store.tenant(&other(thread))?;
    for serial in 0..2000u64 {
        let content = format!("item {}", word(3_000_000 + thread * 100_000 + serial));
        let id = tenant.remember(told(content))?.id;
        tell(&format!("TOLD {thread} {serial}"));
        if serial % 4 == 3 {
            tenant.forget(Forget { id: Some(id), ..Forget::default() })?;
            tell(&format!("GONE {thread} {serial}"));
        }
    }
    Ok(())
}

/// One line; so short a one reaches a pipe whole or not at all.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    // The parent may have gone.
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

fn start_child(mode: &str, directory: &Path, seed: u64) -> Checked<Child> {
    let program = std::env::current_exe()?;
    let child = Command::new(program)
        .arg(mode)
        .arg("--directory")
        .arg(directory)
        .args(["--seed", &seed.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(child)
}

/// Lets a child work and kills it; gives what it told.
fn run_child(mode: &str, directory: &Path, seed: u64, steps: usize, wait: Duration) -> Checked<Vec<String>> {
    let mut child = start_child(mode, directory, seed)?;
    let Some(out) = child.stdout.take() else { return Err(Failure("a child without a pipe".into())) };
    let mut lines = Vec::new();
    let mut out = BufReader::new(out).lines();
    let wanted = if mode == CHILD { format!("DONE {steps}") } else { "READY".into() };
    for line in out.by_ref() {
        lines.push(line?);
        if lines.last() == Some(&wanted) {
            break;
        }
    }
    std::thread::sleep(wait);
    child.kill()?;
    child.wait()?;
    for line in out {
        lines.push(line?);
    }
    match lines.iter().find(|line| line.starts_with("BAD")) {
        Some(bad) => Err(Failure(bad.clone())),
        None => Ok(lines),
    }
}

fn kill(seed: u64, tally: &Tally) -> Checked {
    let mut numbers = Numbers::part(seed, 6);
    let place = tempfile::tempdir()?;
    let directory = place.path().join("store");
    let acts = acts(seed);
    let steps = 1 + numbers.below(acts.len() * 2 / 3);
    let wait = Duration::from_micros(numbers.below(LATEST) as u64);
    let lines = run_child(CHILD, &directory, seed, steps, wait)?;
    tally.add("kills", 1);
    if numbers.once_in(3) {
        let wait = Duration::from_micros(numbers.below(12_000) as u64);
        run_child(CHILD_OPENS, &directory, seed, 0, wait)?;
        tally.add("kills while it was opened", 1);
    }
    // The same calls in memory.
    let done = lines.iter().filter(|line| line.starts_with("DONE")).count();
    let mut live = Live::new(Arc::new(SimulatedDisk::default()), DIRECTORY, seed);
    live.open()?;
    let mut before = Truth::default();
    let mut after = None;
    for (number, act) in acts.iter().enumerate().take(done + 1) {
        if number == done {
            before = Truth::of(live.open()?)?;
        }
        if *act != Act::Reopen {
            live.act(*act)?;
        }
    }
    let last = Truth::of(live.open()?)?;
    let grows = acts.get(done) == Some(&Act::Import);
    match done < acts.len() {
        true => after = Some(last),
        false => before = last,
    }
    let after = after.unwrap_or_else(|| before.clone());
    let clock = Arc::new(ManualClock::new(live.clock.now()));
    let store = Store::open(&directory, options(Arc::new(RealIo), clock))
        .map_err(|error| Failure::from(error).at(format_args!("opening after {done} calls")))?;
    let mut found = Truth::of(&store)?;
    found.tenants.retain(|name, _| !name.starts_with("other "));
    between(&found, &before, &after, grows)
        .map_err(|failure| failure.at(format_args!("after {done} calls, under way {:?}", acts.get(done))))?;
    oracle::sound(&store)?;
    for tenant in store.tenants()? {
        oracle::answers(&store.tenant(&tenant.name)?, &mut numbers)?;
    }
    for thread in 0..OTHERS {
        others(&store, thread, &lines, tally).map_err(|failure| failure.at(other(thread)))?;
    }
    tally.add("acknowledged calls", done as u64);
    oracle::goes_on(store, || {
        let clock = Arc::new(ManualClock::new(live.clock.now()));
        Store::open(&directory, options(Arc::new(RealIo), clock))
    })
}

/// What the other threads were told of is there, as it was last; at most one more.
fn others(store: &Store, thread: u64, lines: &[String], tally: &Tally) -> Checked {
    let count =
        |what: &str| lines.iter().filter(|line| line.starts_with(&format!("{what} {thread} "))).count();
    let (told, gone) = (count("TOLD"), count("GONE"));
    let cards = all_cards(&store.tenant(&other(thread))?)?;
    let expected = |serial: usize| format!("item {}", word(3_000_000 + thread * 100_000 + serial as u64));
    ensure((told..=told + 1).contains(&cards.len()), || {
        format!("{} cards, {told} acknowledged", cards.len())
    })?;
    let mut forgotten = 0;
    for (serial, card) in cards.iter().enumerate() {
        ensure(card.content == expected(serial), || format!("card {serial} says {:?}", card.content))?;
        if card.state == State::Forgotten {
            forgotten += 1;
            ensure(serial % 4 == 3, || format!("card {serial} is forgotten"))?;
        }
    }
    ensure((gone..=gone + 1).contains(&forgotten), || format!("{forgotten} forgotten, {gone} acknowledged"))?;
    tally.add("acknowledged calls of other threads", (told + gone) as u64);
    Ok(())
}
