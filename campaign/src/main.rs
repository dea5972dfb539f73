//! `memcards-campaign`: runs the modes and writes the report.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use memcards_campaign::failure::quiet_panics;
use memcards_campaign::modes::images::Crashes;
use memcards_campaign::modes::{Settings, images};
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
    /// Threads at work; all cores when absent.
    #[arg(long)]
    threads: Option<usize>,
    /// Only this part of what the seed gives.
    #[arg(long)]
    only: Option<u64>,
    /// The long form.
    #[arg(long)]
    long: bool,
    /// Write a page to this file.
    #[arg(long)]
    report: Option<PathBuf>,
}

fn main() -> ExitCode {
    // `cargo xtask campaign …` hands its own name over.
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "campaign") {
        words.remove(1);
    }
    let arguments = Arguments::parse_from(words);
    quiet_panics();
    let settings = Settings {
        count: arguments.count.unwrap_or(1000),
        seconds: arguments.seconds,
        seed: arguments.seed,
        threads: arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        only: arguments.only,
        long: arguments.long,
    };
    let mut reports: Vec<ModeReport> = Vec::new();
    match arguments.mode.as_deref() {
        Some("double") => reports.push(images::run(&settings, Crashes::Double)),
        _ => reports.push(images::run(&settings, Crashes::Single)),
    }
    print!("{}", report::text(&reports));
    if let Some(path) = &arguments.report
        && let Err(error) = std::fs::write(path, report::html(&reports, "The campaign"))
    {
        eprintln!("{}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    match reports.iter().all(|report| report.failures.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
