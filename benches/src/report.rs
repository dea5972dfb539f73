//! What the evaluation programs share: their command line, running a data set, tables, JSON
//! and the page of results.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::{Args, FromArgMatches};

use crate::ablation::variants;
use crate::evaluation::{Corpus, Evaluator, Loaded};
use crate::figures::{Abstention, Evaluation, Found, RANKS, Report, Shares, Variant};
use crate::files::FileError;
use crate::{Outcome, page};

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
    /// Draw the results as a page that needs nothing but itself.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Repeat without each signal.
    #[arg(long)]
    pub ablations: bool,
    /// Open the stores without an embedding model.
    #[arg(long)]
    pub keywords_only: bool,
    /// Only the first so many corpora: conversations, users, instances.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Score from which on a hit counts as an answer to a question that has none.
    #[arg(long, value_name = "SCORE", default_value_t = 0.5)]
    pub threshold: f64,
}

/// A data set, in one of the ways in which it becomes cards.
pub struct Shape {
    title: String,
    corpora: Box<dyn Iterator<Item = Outcome<Corpus>>>,
    /// The share of the data that has been read, where that is known.
    share: Option<Rc<Cell<f64>>>,
}

impl Shape {
    /// Of corpora that are all there.
    pub fn of(title: &str, corpora: Vec<Corpus>) -> Self {
        Self { title: title.into(), corpora: Box::new(corpora.into_iter().map(Ok)), share: None }
    }

    /// Of corpora that are read one at a time, `share` being how much has been read.
    pub fn streamed(
        title: &str,
        corpora: impl Iterator<Item = Outcome<Corpus>> + 'static,
        share: Rc<Cell<f64>>,
    ) -> Self {
        Self { title: title.into(), corpora: Box::new(corpora), share: Some(share) }
    }
}

impl Arguments {
    /// Reads the command line of a program that does what `about` says.
    pub fn parse(about: &'static str) -> Self {
        Self::parse_from(about, std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    fn parse_from(
        about: &'static str,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("evaluation").about(about));
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    /// The data set, for those that have no default.
    ///
    /// # Errors
    /// When it was not given.
    pub fn data(&self) -> Outcome<&Path> {
        self.data.as_deref().ok_or_else(|| "say where the data is: --data FILE".into())
    }

    /// Evaluates the shapes of a data set and hands the results over as the arguments say.
    ///
    /// # Errors
    /// When a corpus, a store or a file fails.
    pub fn run(&self, title: &str, shapes: Vec<Shape>) -> Outcome {
        let named = |path: &PathBuf| File::create(path).map_err(|error| FileError::new(path, error));
        let log = self.log.as_ref().map(named).transpose()?;
        // What cannot be written is said before the work, not after it.
        let html = self.html.as_ref().map(named).transpose()?;
        let reports: Vec<Report> =
            shapes.into_iter().map(|shape| run(shape, self, log.as_ref())).collect::<Outcome<_>>()?;
        if let Some(html) = html {
            std::io::Write::write_all(&mut &html, page::render(title, &reports).as_bytes())?;
        }
        if self.json {
            match reports.as_slice() {
                [report] => println!("{}", serde_json::to_string_pretty(report)?),
                _ => println!("{}", serde_json::to_string_pretty(&reports)?),
            }
        }
        Ok(())
    }
}

/// Evaluates one shape of a data set, a corpus at a time; prints tables unless JSON is wanted.
///
/// # Errors
/// When a corpus, a store or the log fails.
pub fn run(shape: Shape, arguments: &Arguments, log: Option<&File>) -> Outcome<Report> {
    let Shape { title, corpora, share } = shape;
    let mut progress = Progress::new(share);
    let mut full = Evaluator::new(None, arguments.threshold).showing_missed();
    let mut others: Vec<(&str, Evaluator)> = vec![];
    if arguments.ablations {
        let other = |(name, weights)| (name, Evaluator::new(Some(weights), arguments.threshold));
        others.extend(variants().into_iter().map(other));
    }
    let mut log = log.map(BufWriter::new);
    for (number, corpus) in (1..).zip(corpora.take(arguments.limit.unwrap_or(usize::MAX))) {
        let loaded = Loaded::new(corpus?, arguments.keywords_only)?;
        full.add(&loaded)?;
        // Latency is measured without a log: that asks more recalls between two questions.
        if let Some(log) = &mut log {
            full.log(&loaded, log)?;
        }
        for (_, other) in &mut others {
            other.add(&loaded)?;
        }
        progress.corpus(number, loaded.corpus(), full.recall_at_ten());
    }
    let variant =
        |(name, other): (&str, Evaluator)| Variant { variant: name.into(), evaluation: other.finish() };
    let ablations: Vec<Variant> = others.into_iter().map(variant).collect();
    let report = Report { shape: title, evaluation: full.finish(), ablations };
    if !arguments.json {
        print_tables(&report.shape, &report.evaluation);
        print_ablations(&report.ablations);
    }
    Ok(report)
}

/// Says on the standard error output how far a long run is.
struct Progress {
    start: Instant,
    said: Instant,
    share: Option<Rc<Cell<f64>>>,
}

impl Progress {
    const EVERY: Duration = Duration::from_secs(5);

    fn new(share: Option<Rc<Cell<f64>>>) -> Self {
        Self { start: Instant::now(), said: Instant::now(), share }
    }

    fn corpus(&mut self, number: usize, corpus: &Corpus, recall: f64) {
        if self.said.elapsed() < Self::EVERY {
            return;
        }
        self.said = Instant::now();
        let share = self
            .share
            .as_ref()
            .map_or_else(String::new, |share| format!(", {:.1} % of the data", share.get() * 100.0));
        eprintln!(
            "{number} corpora in {} s{share}; recall@10 so far {:.1}; last {} with {} cards",
            self.start.elapsed().as_secs(),
            recall * 100.0,
            corpus.name,
            corpus.cards.len()
        );
    }
}

fn shares(values: &Shares) -> String {
    values.map(|value| format!("{:.1}", value * 100.0)).join(" / ")
}

fn print_tables(title: &str, evaluation: &Evaluation) {
    let Evaluation { total, corpus_count, card_count, .. } = evaluation;
    println!("\n{title}: {} questions, at ranks {RANKS:?}", total.questions);
    println!("{corpus_count} corpora, {card_count} cards");
    println!("latency {}", evaluation.latency.line());
    println!(
        "\n| questions | count | recall | any | all | sessions | any session | all sessions | settled |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    let line = |name: &str, found: &Found| {
        let settled = match found.settled_questions {
            0 => String::new(),
            count => format!("{:.1} of {count}", found.settled * 100.0),
        };
        let Found { recall, any, all, sessions, any_session, all_sessions, .. } = found;
        let columns = [recall, any, all, sessions, any_session, all_sessions].map(shares).join(" | ");
        println!("| {name} | {} | {columns} | {settled} |", found.questions);
    };
    line("all", total);
    for (name, found) in &evaluation.categories {
        line(&format!("category {name}"), found);
    }
    for (name, found) in &evaluation.corpora {
        line(name, found);
    }
    if total.turn_questions < total.questions {
        println!("\nTurns are labelled for {} of the questions, sessions for all.", total.turn_questions);
    }
    if let Some(abstention) = &evaluation.abstention {
        print_abstention(abstention);
    }
}

fn print_abstention(abstention: &Abstention) {
    let Abstention { threshold, unanswerable, answerable, categories } = abstention;
    println!(
        "\n| questions without an answer | count | mean top score | no hit from {threshold} on |\n|---|---|---|---|"
    );
    let rows = categories.iter().map(|(name, scores)| (format!("category {name}"), scores));
    let rows = std::iter::once(("all".to_owned(), unanswerable)).chain(rows);
    for (name, scores) in rows.chain([("questions with an answer, for comparison".to_owned(), answerable)]) {
        println!("| {name} | {} | {:.3} | {:.1} |", scores.questions, scores.mean, scores.silent * 100.0);
    }
}

fn print_ablations(ablations: &[Variant]) {
    if !ablations.is_empty() {
        println!("\n| variant | recall@1/5/10/20 | recall@10 by category |\n|---|---|---|");
    }
    for Variant { variant, evaluation } in ablations {
        let category = |(name, found): (&String, &Found)| format!("{name} {:.0}", found.recall[2] * 100.0);
        let categories: Vec<String> = evaluation.categories.iter().map(category).collect();
        println!("| {variant} | {} | {} |", shares(&evaluation.total.recall), categories.join(", "));
    }
}
