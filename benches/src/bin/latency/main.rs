//! How long recall and remember take on synthetic stores of given sizes. Tables go to the
//! standard error output, one JSON document to the standard output.

mod bytes;
mod cold;
mod durable;
mod forgetting;
mod load;
mod recall;

use clap::{Parser, Subcommand};
use memcards_benches::Outcome;
use serde_json::{Value, json};

/// How long recall and remember take on synthetic stores.
#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    what: What,
    /// Seed of texts and vectors.
    #[arg(long, default_value_t = 20_240_101, global = true)]
    seed: u64,
}

#[derive(Subcommand)]
enum What {
    /// Recall on one tenant, end to end, one thread.
    Recall(recall::Arguments),
    /// A large store of many tenants: loading, opening, first and warm recalls.
    Store(load::Arguments),
    /// What a plan of forgetting reads, and recall while a run is under way.
    Forget(forgetting::Arguments),
    /// Durable remember beside bare redb with the same bytes.
    Remember(durable::Arguments),
    /// A tenant of which most cards are in the cold tier.
    Cold(cold::Arguments),
}

fn main() -> Outcome {
    let command = Command::parse();
    let (name, figures) = match &command.what {
        What::Recall(arguments) => ("recall", recall::run(arguments, command.seed)?),
        What::Store(arguments) => ("store", load::run(arguments, command.seed)?),
        What::Forget(arguments) => ("forget", forgetting::run(arguments, command.seed)?),
        What::Remember(arguments) => ("remember", durable::run(arguments, command.seed)?),
        What::Cold(arguments) => ("cold", cold::run(arguments, command.seed)?),
    };
    println!("{:#}", json!({"measured": name, "seed": command.seed, "figures": figures}));
    Ok(())
}

/// Figures as JSON.
fn value(figures: impl serde::Serialize) -> Outcome<Value> {
    Ok(serde_json::to_value(figures)?)
}
