//! Recall on one tenant, end to end: built-in model, one thread.

use std::time::Duration;

use clap::Args;
use memcards::{Options, Recall, Store, Tenant};
use memcards_benches::Outcome;
use memcards_benches::latency::{Percentiles, timed};
use memcards_benches::synthetic::{Random, question, statements, turns};
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Cards of the tenant.
    #[arg(long, default_value_t = 10_000)]
    cards: usize,
    /// Share of cards that are statements outside a conversation.
    #[arg(long, default_value_t = 0.1)]
    statements: f64,
    /// Questions asked.
    #[arg(long, default_value_t = 4_000)]
    queries: usize,
}

pub(crate) fn run(arguments: &Arguments, seed: u64) -> Outcome<Value> {
    let directory = tempfile::tempdir()?;
    let store = Store::open(directory.path(), Options::default())?;
    let tenant = store.tenant("synthetic")?;
    let facts = (arguments.cards as f64 * arguments.statements) as usize;
    let all: Vec<_> =
        turns(seed, arguments.cards - facts, None).chain(statements(seed ^ 1, facts, None)).collect();
    let (loaded, time) = timed(|| -> Outcome {
        for chunk in all.chunks(1000) {
            tenant.remember_all(chunk.to_vec())?.into_iter().collect::<Result<Vec<_>, _>>()?;
        }
        Ok(())
    });
    loaded?;
    let count = tenant.count(&memcards::Count::default())?;
    eprintln!(
        "{count} current cards from {} remembered, {:.0} cards/s",
        all.len(),
        all.len() as f64 / time.as_secs_f64()
    );
    let mut random = Random::new(seed ^ 2);
    let questions: Vec<String> = (0..arguments.queries).map(|_| question(&mut random)).collect();
    let mut figures =
        vec![json!({"cards": count, "remembered_per_second": all.len() as f64 / time.as_secs_f64()})];
    for (name, request) in [
        ("recall, 5 hits", Recall::default()),
        ("recall, 20 hits", Recall { top: Some(20), ..Recall::default() }),
        ("recall, 5 hits, explained", Recall { explain: true, ..Recall::default() }),
    ] {
        figures.push(measure(name, &tenant, &questions, &request)?);
    }
    if let Some(embedder) = memcards::embed::builtin() {
        let times: Vec<Duration> =
            questions.iter().map(|question| timed(|| embedder.embed(question)).1).collect();
        let percentiles = Percentiles::of(&times);
        eprintln!("embedding the question alone: {}", percentiles.line());
        figures.push(json!({"name": "embedding the question alone", "latency": percentiles}));
    }
    drop((tenant, store));
    let store = Store::open(directory.path(), Options { embedder: None, ..Options::default() })?;
    figures.push(measure(
        "recall, 5 hits, no vectors",
        &store.tenant("synthetic")?,
        &questions,
        &Recall::default(),
    )?);
    Ok(figures.into())
}

fn measure(name: &str, tenant: &Tenant, questions: &[String], request: &Recall) -> Outcome<Value> {
    let ask = |question: &String| {
        let request = Recall { query: Some(question.clone()), ..request.clone() };
        timed(|| tenant.recall(request))
    };
    for question in questions.iter().take(20) {
        ask(question).0?;
    }
    let (mut times, mut hits) = (Vec::with_capacity(questions.len()), 0);
    for question in questions {
        let (answer, time) = ask(question);
        hits += answer?.hits.len();
        times.push(time);
    }
    let percentiles = Percentiles::of(&times);
    let mean_hits = hits as f64 / questions.len().max(1) as f64;
    eprintln!("{name}: {}; {mean_hits:.1} hits on average", percentiles.line());
    Ok(json!({"name": name, "latency": percentiles, "mean_hits": mean_hits}))
}
