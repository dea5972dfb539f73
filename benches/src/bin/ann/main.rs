//! The vector index behind the line protocol of a side-by-side comparison: one JSON command
//! per line on the standard input, one JSON answer per line on the standard output. A driver
//! keeps several such programs alive, one per index, and alternates between them.

mod partitions;
mod protocol;
mod runner;
#[cfg(test)]
mod runner_tests;

use std::io::{BufRead, Write};

use clap::Parser;
use memcards::index::vector as index;
use memcards_benches::Outcome;

/// Drives the vector index by JSON Lines on the standard input and output.
#[derive(Parser)]
struct Command {
    /// Seed of the index's random choices; `init` can give another.
    #[arg(long, default_value_t = 42)]
    seed: u64,
}

fn main() -> Outcome {
    let command = Command::parse();
    let mut runner = runner::Runner::new(command.seed);
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let (answer, last) = protocol::answer(&mut runner, &line);
        writeln!(answers, "{answer}")?;
        answers.flush()?;
        if last {
            break;
        }
    }
    Ok(())
}
