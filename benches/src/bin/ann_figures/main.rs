//! Figures of the vector index that a comparison side by side does not show: churn, reads
//! during writes, insertions, opening, memory, building. Readable lines go to the standard
//! error output, one JSON document to the standard output.

mod building;
mod churn;
mod data;
mod inserting;
mod killing;
mod memory;
mod opening;
mod reading;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use memcards_benches::Outcome;
use serde_json::json;

/// Figures of the vector index: life and scale.
#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    common: Common,
}

/// What every measurement takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Vectors from this file (.fvecs or .npy) instead of synthetic ones.
    #[arg(long, global = true, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Vectors in the index; each measurement has its own number when absent.
    #[arg(long, global = true)]
    count: Option<usize>,
    /// Numbers per synthetic vector.
    #[arg(long, global = true, default_value_t = 384)]
    dimension: usize,
    /// Seed of vectors and index.
    #[arg(long, global = true, default_value_t = 42)]
    seed: u64,
    /// A quarter of the vectors and fewer rounds.
    #[arg(long, global = true)]
    quick: bool,
    /// Where large files are written.
    #[arg(long, global = true, value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(Subcommand)]
enum What {
    /// Cycles of removing 90 % at random and inserting anew.
    Churn,
    /// Searches while another thread inserts at full speed.
    Reading,
    /// Insertions into a small and a large index; searches before and after replacing half.
    Inserting,
    /// Opening a large index from its snapshot.
    Opening,
    /// Killing the process while it saves.
    Killing,
    /// Memory per vector, with and without a graph.
    Memory,
    /// Building by one thread and by two.
    Building,
    /// Opens a snapshot and reports: the other half of `opening`.
    #[command(hide = true)]
    Opened {
        /// The snapshot.
        file: PathBuf,
    },
    /// Saves again and again until it is killed: the other half of `killing`.
    #[command(hide = true)]
    Saving {
        /// The snapshot.
        file: PathBuf,
        /// The number of its present content.
        content: u64,
    },
}

impl Common {
    /// How many vectors: as said, or the usual number.
    fn count(&self, usual: usize) -> usize {
        self.count.unwrap_or(if self.quick { usual / 4 } else { usual })
    }
}

fn main() -> Outcome {
    let Command { what, common } = Command::parse();
    let (name, figures) = match &what {
        What::Churn => ("churn", churn::run(&common)?),
        What::Reading => ("reading", reading::run(&common)?),
        What::Inserting => ("inserting", inserting::run(&common)?),
        What::Opening => ("opening", opening::run(&common)?),
        What::Killing => ("killing", killing::run(&common)?),
        What::Memory => ("memory", memory::run(&common)?),
        What::Building => ("building", building::run(&common)?),
        What::Opened { file } => return opening::opened(file, &common),
        What::Saving { file, content } => return killing::save_forever(file, *content),
    };
    println!("{:#}", json!({"measured": name, "seed": common.seed, "figures": figures}));
    Ok(())
}
