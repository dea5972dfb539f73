//! Recall on our own regression dialogues, one fresh store each, through the public API.

use clap::Parser;
use memcards_benches::{Outcome, dialogues, report};

/// Recall on our own regression dialogues.
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    arguments: report::Arguments,
}

fn main() -> Outcome {
    let Command { arguments } = Command::parse();
    let log = report::open_log(&arguments)?;
    let path = arguments.data.clone().unwrap_or_else(dialogues::folder);
    let value = report::run("Regression dialogues", dialogues::read(&path)?, &arguments, log.as_ref())?;
    if arguments.json {
        println!("{value:#}");
    }
    Ok(())
}
