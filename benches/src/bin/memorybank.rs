//! Recall on the Chinese MemoryBank, once with a card per message, once per exchange.

use clap::Parser;
use memcards_benches::memorybank::{Shape, read};
use memcards_benches::{Outcome, report};

/// Recall on the Chinese MemoryBank.
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    arguments: report::Arguments,
}

fn main() -> Outcome {
    let Command { arguments } = Command::parse();
    let log = report::open_log(&arguments)?;
    let mut values = Vec::new();
    for (shape, title) in
        [(Shape::Messages, "MemoryBank, card per message"), (Shape::Records, "MemoryBank, card per exchange")]
    {
        let corpora = read(arguments.data()?, shape)?;
        values.push(report::run(title, corpora, &arguments, log.as_ref())?);
    }
    if arguments.json {
        println!("{:#}", serde_json::Value::from(values));
    }
    Ok(())
}
