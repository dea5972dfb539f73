//! The cold tier: most cards of a tenant archived and frozen, beside a store that only ever had
//! the others.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use memcards::card::State;
use memcards::{
    Apply, Clock, Duration as Span, Feedback, Include, MakePlan, ManualClock, Options, Recall, Remember,
    Store, Tenant,
};
use memcards_benches::Outcome;
use memcards_benches::latency::{Percentiles, timed};
use memcards_benches::synthetic::{Random, question, statements, turns};
use serde_json::{Value, json};

use crate::bytes;
use crate::forgetting::wait_for_links;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Cards that are archived.
    #[arg(long, default_value_t = 90_000)]
    cold: usize,
    /// Cards that stay.
    #[arg(long, default_value_t = 10_000)]
    hot: usize,
    /// Questions of each kind.
    #[arg(long, default_value_t = 500)]
    queries: usize,
    /// Made-up vectors of so many numbers instead of those of the built-in model. Questions are
    /// without one then.
    #[arg(long)]
    dimension: Option<usize>,
    /// Turns of conversations instead of statements: no two of them are one card.
    #[arg(long)]
    turns: bool,
}

fn fill(tenant: &Tenant, seed: u64, count: usize, arguments: &Arguments) -> Outcome<Vec<String>> {
    let (mut texts, mut chunk) = (Vec::with_capacity(count), Vec::new());
    let requests: Box<dyn Iterator<Item = Remember>> = match arguments.turns {
        true => Box::new(turns(seed, count, arguments.dimension)),
        false => Box::new(statements(seed, count, arguments.dimension)),
    };
    for mut request in requests {
        // Each is told in sessions of its own, now.
        request.session = request.session.map(|session| format!("{session} of {seed}"));
        request.occurred_at = None;
        texts.push(request.content.clone());
        chunk.push(request);
        if chunk.len() == 1000 || texts.len() == count {
            let answers = tenant.remember_all(std::mem::take(&mut chunk))?;
            answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        }
    }
    Ok(texts)
}

pub(crate) fn run(arguments: &Arguments, seed: u64) -> Outcome<Value> {
    let directory = tempfile::tempdir()?;
    let clock = Arc::new(ManualClock::new("2024-01-01T00:00:00Z".parse()?));
    let options = || Options { clock: clock.clone(), ..Options::default() };
    let path = directory.path().join("mixed");
    let store = Store::open(&path, options())?;
    let tenant = store.tenant("synthetic")?;
    let old = fill(&tenant, seed, arguments.cold, arguments)?;
    clock.set(clock.now().plus(Span::from_hours(24 * 60)))?;
    fill(&tenant, seed ^ 1, arguments.hot, arguments)?;
    store.checkpoint()?;
    store.compact(|_| {})?;
    let before = bytes::of_directory(&path)?;
    let policy = json!({ "defaults": { "archive_after": "30d", "fade_below": 0.0 } });
    let request = MakePlan { policy: Some(policy), consent: true, ..MakePlan::default() };
    let (run, applying) = timed(|| -> Outcome<u64> {
        let planned = tenant.plan(&request)?;
        tenant.apply(Apply { plan: Some(planned.plan), ..Apply::default() })?;
        Ok(planned.totals.items)
    });
    let planned = run?;
    // Every card is asked for by what it says itself.
    let step = (old.len() / arguments.queries.max(1)).max(1);
    let known: Vec<String> = old.iter().step_by(step).take(arguments.queries).cloned().collect();
    let found_before = found(&tenant, &known)?;
    let (frozen, freezing) = timed(|| store.freeze(None, None));
    let frozen = frozen?;
    let (compacted, compacting) = timed(|| store.compact(|_| {}));
    compacted?;
    store.checkpoint()?;
    let after = bytes::of_directory(&path)?;
    let segments = store.cold_statistics()?;
    eprintln!(
        "{planned} archived in {:.1} s, {} frozen in {:.1} s, compacted in {:.1} s; directory {:.1} MB, then {:.1} MB ({:.3} x), of which segments {:.1} MB",
        applying.as_secs_f64(),
        frozen.cards,
        freezing.as_secs_f64(),
        compacting.as_secs_f64(),
        before as f64 / 1e6,
        after as f64 / 1e6,
        after as f64 / before as f64,
        segments.bytes as f64 / 1e6,
    );
    drop((tenant, store));
    let places = bytes::where_they_are(&path)?;
    let store = Store::open(&path, options())?;
    let tenant = store.tenant("synthetic")?;
    let mut random = Random::new(seed ^ 2);
    let questions: Vec<String> = (0..arguments.queries).map(|_| question(&mut random)).collect();
    // By turns, so that whatever else the machine does slows both.
    let only = directory.path().join("alone");
    {
        let alone = Store::open(&only, options())?;
        fill(&alone.tenant("synthetic")?, seed ^ 1, arguments.hot, arguments)?;
        wait_for_links(&alone)?;
        alone.checkpoint()?;
    }
    let alone = Store::open(&only, options())?;
    let names = ["hot recall, most cards cold", "the same without any cold card"];
    let [hot, reference] = measure(names, [&tenant, &alone.tenant("synthetic")?], &questions, &[])?;
    drop(alone);
    let archived = [Include::Archived];
    let [cold] = measure(["cold recall, questions"], [&tenant], &questions, &archived)?;
    let [exact] = measure(["cold recall, by its own words"], [&tenant], &known, &archived)?;
    let found = found(&tenant, &known)?;
    eprintln!(
        "{found} of {} cards found by their own words, {found_before} before they were cold",
        known.len()
    );
    let used = use_again(&tenant, &known)?;
    Ok(json!({
        "archived": planned, "frozen": frozen, "segments": segments,
        "bytes_before": before, "bytes_after": after, "bytes_ratio": after as f64 / before as f64, "bytes": places,
        "apply_seconds": applying.as_secs_f64(), "freeze_seconds": freezing.as_secs_f64(),
        "compact_seconds": compacting.as_secs_f64(),
        "hot": hot, "cold": cold, "cold_exact": exact, "found": found, "found_before": found_before, "asked": known.len(),
        "used": used, "reference": reference,
    }))
}

/// Uses cards that are cold; gives how many were found hot after it, and how long a use took.
fn use_again(tenant: &Tenant, texts: &[String]) -> Outcome<Value> {
    let (mut times, mut hot, mut asked) = (Vec::new(), 0, 0);
    for text in texts {
        let ask = |include: Vec<Include>| {
            let request = Recall { query: Some(text.clone()), include, ..Recall::default() };
            tenant.recall(request)
        };
        let hits = ask(vec![Include::Archived])?.hits;
        let archived = hits.iter().find(|hit| hit.card.content == *text && hit.card.state == State::Archived);
        let Some(id) = archived.map(|hit| hit.card.id) else { continue };
        asked += 1;
        let (used, took) = timed(|| tenant.feedback(Feedback { used: vec![id], ..Feedback::default() }));
        used?;
        times.push(took);
        hot += usize::from(ask(vec![])?.hits.iter().any(|hit| hit.card.id == id));
    }
    let percentiles = Percentiles::of(&times);
    eprintln!(
        "{hot} of {asked} cold cards are found without asking for archived ones once they were used; {}",
        percentiles.line()
    );
    Ok(json!({"asked": asked, "hot": hot, "latency": percentiles}))
}

/// How many of some texts are among the first hits when they are asked for.
fn found(tenant: &Tenant, texts: &[String]) -> Outcome<usize> {
    let mut found = 0;
    for text in texts {
        let request =
            Recall { query: Some(text.clone()), include: vec![Include::Archived], ..Recall::default() };
        found += usize::from(tenant.recall(request)?.hits.iter().any(|hit| hit.card.content == *text));
    }
    Ok(found)
}

fn measure<const N: usize>(
    names: [&str; N],
    tenants: [&Tenant; N],
    questions: &[String],
    include: &[Include],
) -> Outcome<[Value; N]> {
    let ask = |tenant: &Tenant, question: &String| {
        let request =
            Recall { query: Some(question.clone()), include: include.to_vec(), ..Recall::default() };
        timed(|| tenant.recall(request))
    };
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(questions.len()));
    let mut first = [0.0; N];
    for (tenant, first) in tenants.iter().zip(&mut first) {
        let (answer, opening) = ask(tenant, &questions[0]);
        answer?;
        *first = opening.as_secs_f64() * 1e3;
    }
    for question in questions {
        for (tenant, times) in tenants.iter().zip(&mut times) {
            let (answer, time) = ask(tenant, question);
            answer?;
            times.push(time);
        }
    }
    Ok(std::array::from_fn(|at| {
        let percentiles = Percentiles::of(&times[at]);
        eprintln!("{}: first {:.1} ms, then {}", names[at], first[at], percentiles.line());
        json!({"name": names[at], "first_ms": first[at], "latency": percentiles})
    }))
}
