//! One page of results out of the JSON that several evaluations have printed.

use std::path::PathBuf;

use clap::Parser;
use memcards_benches::{Outcome, page};

/// Make one page of results out of the JSON of several evaluations.
#[derive(Parser)]
struct Command {
    /// What evaluations have printed with `--json`, in the order in which they are shown.
    #[arg(required = true, value_name = "JSON")]
    files: Vec<PathBuf>,
    /// Where the page goes.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The page's title.
    #[arg(long, default_value = "Recall of memcards")]
    title: String,
}

fn main() -> Outcome {
    let command = Command::parse();
    let reports = page::read(&command.files)?;
    std::fs::write(&command.out, page::render(&command.title, &reports))?;
    Ok(())
}
