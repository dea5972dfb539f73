//! `memcards-campaign`: runs the modes and writes the report.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use memcards_campaign::failure::{Failure, quiet_panics};
use memcards_campaign::modes::images::Crashes;
use memcards_campaign::modes::{Settings, clock, determinism, faults, images, kill, openers, rot, space};
use memcards_campaign::report::{self, ModeReport};

/// Breaks memcards in every way that is promised not to matter, and says what was found.
#[derive(Parser)]
#[command(name = "cargo xtask campaign", version)]
struct Arguments {
    /// images, double, kill, faults, space, rot, clock, openers or determinism; all of them when absent.
    mode: Option<String>,
    /// How much is done (images, kills, …).
    #[arg(long)]
    count: Option<u64>,
    /// The longest time a mode may take.
    #[arg(long)]
    seconds: Option<u64>,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads at work; as many as there are cores when absent.
    #[arg(long)]
    threads: Option<usize>,
    /// Only this part of what the seed gives.
    #[arg(long)]
    only: Option<u64>,
    /// The long form.
    #[arg(long)]
    long: bool,
    /// Write a page to this file.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where a child process works.
    #[arg(long, hide = true)]
    directory: Option<PathBuf>,
}

/// A mode: its name, how much of it is done in the bounded and in the long form, and what does it.
struct Mode {
    name: &'static str,
    bounded: u64,
    long: u64,
    run: fn(&Settings) -> ModeReport,
}

const MODES: [Mode; 9] = [
    Mode { name: "images", bounded: 20_000, long: 1_000_000, run: |s| images::run(s, Crashes::Single) },
    Mode { name: "double", bounded: 5_000, long: 100_000, run: |s| images::run(s, Crashes::Double) },
    Mode { name: "kill", bounded: 300, long: 5_000, run: kill::run },
    // Every n of every workload; there is nothing to count.
    Mode { name: "faults", bounded: 0, long: 0, run: faults::run },
    Mode { name: "space", bounded: 30, long: 300, run: space::run },
    Mode { name: "rot", bounded: 10_000, long: 100_000, run: rot::run },
    Mode { name: "clock", bounded: 500, long: 5_000, run: clock::run },
    Mode { name: "openers", bounded: 20, long: 200, run: openers::run },
    Mode { name: "determinism", bounded: 2_000, long: 10_000, run: determinism::run },
];

fn main() -> ExitCode {
    // `cargo xtask campaign …` hands its own name over.
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "campaign") {
        words.remove(1);
    }
    let arguments = Arguments::parse_from(words);
    quiet_panics();
    if let (Some(mode), Some(directory)) = (&arguments.mode, &arguments.directory) {
        return be_child(mode, directory, arguments.seed);
    }
    let chosen: Vec<&Mode> =
        MODES.iter().filter(|mode| arguments.mode.as_ref().is_none_or(|name| name == mode.name)).collect();
    if chosen.is_empty() {
        eprintln!("there is no such mode; --help names them");
        return ExitCode::FAILURE;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut reports: Vec<ModeReport> = Vec::new();
    for mode in chosen {
        let usual = if arguments.long { mode.long } else { mode.bounded };
        let settings = Settings {
            count: arguments.count.unwrap_or(usual),
            seconds: arguments.seconds,
            seed: arguments.seed,
            threads: arguments.threads.unwrap_or(cores),
            only: arguments.only,
        };
        let report = (mode.run)(&settings);
        print!("{}", report::text(std::slice::from_ref(&report)));
        reports.push(report);
    }
    if let Some(path) = &arguments.report
        && let Err(error) = std::fs::write(path, report::html(&reports, "memcards: the proof campaign"))
    {
        eprintln!("{}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    match reports.iter().all(|report| report.failures.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The program as a child of itself.
fn be_child(mode: &str, directory: &std::path::Path, seed: u64) -> ExitCode {
    let end = match mode {
        kill::CHILD => kill::child(directory, seed, false),
        kill::CHILD_OPENS => kill::child(directory, seed, true),
        openers::CHILD => openers::child(directory, seed),
        other => Err(Failure(format!("{other} is no child"))),
    };
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("BAD {failure}");
            ExitCode::FAILURE
        }
    }
}
