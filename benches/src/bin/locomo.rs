//! Recall on LoCoMo conversations, one fresh store each, through the public API.

use clap::Parser;
use memcards_benches::{Outcome, locomo, report};

/// Recall on LoCoMo conversations.
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    arguments: report::Arguments,
}

fn main() -> Outcome {
    let Command { arguments } = Command::parse();
    let log = report::open_log(&arguments)?;
    let corpora = locomo::read(arguments.data()?)?;
    let value = report::run("LoCoMo by turn", corpora, &arguments, log.as_ref())?;
    if arguments.json {
        println!("{value:#}");
    }
    Ok(())
}
