//! Several processes want the same directory.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use memcards::store::io::RealIo;
use memcards::{ManualClock, Store};

use crate::failure::{Checked, Failure, caught, ensure};
use crate::modes::{Settings, spread};
use crate::oracle;
use crate::report::{ModeReport, Tally};
use crate::script::{all_cards, options, start, told};

/// The mode in which the program is its own child.
pub const CHILD: &str = "child-opener";

/// Runs `settings.count` rounds.
pub fn run(settings: &Settings) -> ModeReport {
    let tally = Tally::default();
    spread(settings, settings.count, &tally, |unit| {
        let seed = settings.seed + unit;
        if let Err(failure) = caught(|| round(if seed.is_multiple_of(2) { 2 } else { 8 }, seed, &tally)) {
            tally.fail(failure.to_string(), format!("cargo xtask campaign openers --seed {seed} --count 1"));
        }
    });
    tally.into_report(
        "openers",
        "Two and eight processes open one directory at the same time: one owns it, the others get a typed `locked` \
         error, what the owner wrote is there for the next one.",
    )
}

/// Opens, tells how that ended, and keeps the store until its input ends.
///
/// # Errors
/// When a call fails in another way than it may.
pub fn child(directory: &Path, seed: u64) -> Checked {
    let clock = Arc::new(ManualClock::new(start()));
    match Store::open(directory, options(Arc::new(RealIo), clock)) {
        Ok(store) => {
            store.tenant("anna")?.remember(told(format!("item {}", crate::words::word(seed))))?;
            println!("OWNER");
            std::io::stdin().read_to_end(&mut Vec::new())?;
        }
        Err(error) => println!("{}", error.code()),
    }
    Ok(())
}

fn round(processes: usize, seed: u64, tally: &Tally) -> Checked {
    let place = tempfile::tempdir()?;
    let directory = place.path().join("store");
    for time in 0..2u64 {
        let mut children: Vec<Child> = Vec::new();
        for _ in 0..processes {
            let child = Command::new(std::env::current_exe()?)
                .arg(CHILD)
                .arg("--directory")
                .arg(&directory)
                .args(["--seed", &(seed * 2 + time).to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            children.push(child);
        }
        let mut ends = Vec::new();
        for child in &mut children {
            let Some(out) = child.stdout.take() else { return Err(Failure("a child without a pipe".into())) };
            let mut line = String::new();
            BufReader::new(out).read_line(&mut line)?;
            ends.push(line.trim().to_owned());
        }
        for mut child in children {
            drop(child.stdin.take());
            child.wait()?;
        }
        let owners = ends.iter().filter(|end| *end == "OWNER").count();
        let locked = ends.iter().filter(|end| *end == "locked").count();
        ensure(owners == 1 && locked == processes - 1, || format!("{processes} processes: {ends:?}"))?;
        tally.add(&format!("rounds of {processes} processes"), 1);
        tally.add("openings refused as locked", locked as u64);
    }
    let clock = Arc::new(ManualClock::new(start()));
    let store = Store::open(&directory, options(Arc::new(RealIo), clock))?;
    let cards = all_cards(&store.tenant("anna")?)?;
    ensure(cards.len() == 2, || format!("{} cards of two owners", cards.len()))?;
    oracle::sound(&store)
}
