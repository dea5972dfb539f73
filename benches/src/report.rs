//! Tables of evaluation figures, and the command line that both evaluations share.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::Outcome;
use crate::ablation::variants;
use crate::evaluation::{Corpus, Evaluation, Found, Loaded, RANKS, evaluate};

/// Arguments of an evaluation.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The data set; our own dialogues have a default.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Write what each leg and the whole returned for each question, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Print JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Repeat without each signal.
    #[arg(long)]
    pub ablations: bool,
    /// Open the stores without an embedding model.
    #[arg(long)]
    pub keywords_only: bool,
}

/// Loads and evaluates one shape of a data set; prints tables unless JSON is wanted.
///
/// # Errors
/// When a store or the log fails.
pub fn run(title: &str, corpora: Vec<Corpus>, arguments: &Arguments, log: Option<&File>) -> Outcome<Value> {
    let corpora = corpora
        .into_iter()
        .map(|corpus| Loaded::new(corpus, arguments.keywords_only))
        .collect::<Outcome<Vec<_>>>()?;
    // Latency is measured without a log: that asks more recalls between two questions.
    let full = evaluate(&corpora, None, None)?;
    if let Some(log) = log {
        evaluate(&corpora, None, Some(&mut BufWriter::new(log)))?;
    }
    if !arguments.json {
        print_tables(title, &full);
    }
    let mut rows = Vec::new();
    if arguments.ablations {
        for (name, weights) in variants() {
            let evaluation = evaluate(&corpora, Some(&weights), None)?;
            if !arguments.json {
                if rows.is_empty() {
                    println!("\n| variant | recall@1/5/10/20 | recall@10 by category |\n|---|---|---|");
                }
                let categories: Vec<String> = evaluation
                    .categories
                    .iter()
                    .map(|(name, found)| format!("{name} {:.0}", found.recall[2] * 100.0))
                    .collect();
                println!("| {name} | {} | {} |", shares(&evaluation.total.recall), categories.join(", "));
            }
            rows.push(json!({"variant": name, "evaluation": evaluation}));
        }
    }
    Ok(json!({"shape": title, "evaluation": full, "ablations": rows}))
}

impl Arguments {
    /// The data set, for those that have no default.
    ///
    /// # Errors
    /// When it was not given.
    pub fn data(&self) -> Outcome<&Path> {
        self.data.as_deref().ok_or_else(|| "say where the data is: --data FILE".into())
    }
}

/// Opens the log that the arguments name.
///
/// # Errors
/// When it cannot be created.
pub fn open_log(arguments: &Arguments) -> Outcome<Option<File>> {
    Ok(arguments.log.as_ref().map(File::create).transpose()?)
}

fn shares(values: &[f64; RANKS.len()]) -> String {
    values.map(|value| format!("{:.1}", value * 100.0)).join(" / ")
}

fn print_tables(title: &str, evaluation: &Evaluation) {
    println!("\n{title}: {} questions, at ranks {RANKS:?}", evaluation.total.questions);
    println!("latency {}", evaluation.latency.line());
    println!(
        "\n| questions | count | recall | any | all | sessions | any session | settled |\n|---|---|---|---|---|---|---|---|"
    );
    let line = |name: &str, found: &Found| {
        let settled = match found.settled_questions {
            0 => String::new(),
            count => format!("{:.1} of {count}", found.settled * 100.0),
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {settled} |",
            found.questions,
            shares(&found.recall),
            shares(&found.any),
            shares(&found.all),
            shares(&found.sessions),
            shares(&found.any_session)
        );
    };
    line("all", &evaluation.total);
    for (name, found) in &evaluation.categories {
        line(&format!("category {name}"), found);
    }
    for (name, found) in &evaluation.corpora {
        line(name, found);
    }
}
