//! Trains the model that re-ranks turns on conversations that we may ship, and says what it
//! brings on some that it has not seen.

use std::path::PathBuf;

use clap::Parser;
use memcards::recall::rerank::TreeModel;
use memcards_benches::evaluation::Corpus;
use memcards_benches::memorybank::{self, Shape};
use memcards_benches::training::{List, Settings, lists, recall_at, stack, train};
use memcards_benches::{Outcome, dialogues, locomo};

/// Train the model that re-ranks turns.
#[derive(Parser)]
struct Command {
    /// Dialogues to train on; the project's own when absent.
    #[arg(long, value_name = "PATH")]
    dialogues: Vec<PathBuf>,
    /// A MemoryBank file to train on as well.
    #[arg(long, value_name = "FILE")]
    memorybank: Vec<PathBuf>,
    /// A LoCoMo file to look at, never to train on.
    #[arg(long, value_name = "FILE")]
    locomo: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Trees.
    #[arg(long, default_value_t = Settings::default().trees)]
    trees: usize,
    /// Models that are averaged.
    #[arg(long, default_value_t = Settings::default().bags)]
    bags: usize,
    /// Levels of a tree.
    #[arg(long, default_value_t = Settings::default().depth)]
    depth: usize,
    /// Share of each tree that is kept.
    #[arg(long, default_value_t = Settings::default().rate)]
    rate: f32,
    /// Added to the second derivatives of a leaf.
    #[arg(long, default_value_t = Settings::default().ridge)]
    ridge: f32,
    /// Conversations that are joined into one, besides each by itself; 0 for none.
    #[arg(long, default_value_t = 10)]
    stacked: usize,
    /// Leave out each conversation by itself.
    #[arg(long)]
    only_stacked: bool,
    /// Parts into which the conversations are divided for cross-validation; 0 for none.
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Leave each source out in turn.
    #[arg(long)]
    sources: bool,
}

fn main() -> Outcome {
    let command = Command::parse();
    let settings = Settings {
        trees: command.trees,
        bags: command.bags,
        depth: command.depth,
        rate: command.rate,
        ridge: command.ridge,
        ..Settings::default()
    };
    let folders = match command.dialogues.is_empty() {
        true => vec![dialogues::folder()],
        false => command.dialogues.clone(),
    };
    let mut seen = Vec::new();
    for folder in &folders {
        let single = dialogues::read(folder)?;
        if command.stacked > 1 {
            seen.extend(collect(stack(&single, command.stacked))?);
        }
        if !command.only_stacked {
            seen.extend(collect(single)?);
        }
    }
    for file in &command.memorybank {
        seen.extend(collect(memorybank::read(file, Shape::Messages)?)?);
    }
    let unseen = match &command.locomo {
        Some(file) => collect(locomo::read(file)?)?,
        None => vec![],
    };
    println!("{} questions to train on, {} to look at", seen.len(), unseen.len());
    if command.folds > 1 {
        let mut held = (vec![], vec![]);
        for fold in 0..command.folds {
            let (out, rest): (Vec<List>, Vec<List>) =
                seen.iter().cloned().partition(|list| number(&list.corpus) % command.folds == fold);
            let model = train(&rest, &settings);
            held.0.push(figures(&out, &TreeModel::default()));
            held.1.push(figures(&out, &model));
        }
        println!("held out, without: {}", mean(&held.0));
        println!("held out, with:    {}", mean(&held.1));
    }
    if command.sources {
        for source in ["en-a", "en-b", "zh-a", "zh-b"] {
            let (out, rest): (Vec<List>, Vec<List>) =
                seen.iter().cloned().partition(|list| list.corpus.starts_with(source));
            let model = train(&rest, &settings);
            println!(
                "without {source}: there {} → {}; LoCoMo {}",
                line(&figures(&out, &TreeModel::default())),
                line(&figures(&out, &model)),
                line(&figures(&unseen, &model))
            );
        }
    }
    let model = train(&seen, &settings);
    println!("trained on, without: {}", line(&figures(&seen, &TreeModel::default())));
    println!("trained on, with:    {}", line(&figures(&seen, &model)));
    if !unseen.is_empty() {
        println!("LoCoMo, without: {}", line(&figures(&unseen, &TreeModel::default())));
        println!("LoCoMo, with:    {}", line(&figures(&unseen, &model)));
    }
    if let Some(out) = command.out {
        std::fs::write(&out, model.to_bytes())?;
        println!("{} trees written to {}", model.trees.len(), out.display());
    }
    Ok(())
}

fn collect(corpora: Vec<Corpus>) -> Outcome<Vec<List>> {
    Ok(corpora.into_iter().map(lists).collect::<Outcome<Vec<_>>>()?.into_iter().flatten().collect())
}

/// A number that is the same for all questions of a corpus, spread over the sources.
fn number(corpus: &str) -> usize {
    corpus.bytes().fold(7usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)))
}

fn figures(lists: &[List], model: &TreeModel) -> [f64; 4] {
    [1, 5, 10, 20].map(|rank| recall_at(lists, model, rank) * 100.0)
}

fn mean(figures: &[[f64; 4]]) -> String {
    let sum = |at: usize| figures.iter().map(|f| f[at]).sum::<f64>() / figures.len().max(1) as f64;
    line(&[sum(0), sum(1), sum(2), sum(3)])
}

fn line(figures: &[f64; 4]) -> String {
    let shares: Vec<String> = figures.iter().map(|f| format!("{f:.1}")).collect();
    shares.join(" / ")
}
