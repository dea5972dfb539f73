//! Forgetting: what a plan reads, and what a run costs those who recall meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use memcards::{Clock, MakePlan, ManualClock, Options, Recall, Remember, Store, Tenant, Timestamp};
use memcards_benches::Outcome;
use memcards_benches::latency::{Percentiles, timed};
use memcards_benches::synthetic::{Random, question, turns};
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Cards of the large tenant.
    #[arg(long, default_value_t = 100_000)]
    cards: usize,
    /// Cards of the small tenant.
    #[arg(long, default_value_t = 10_000)]
    small: usize,
    /// Cards that are due in each.
    #[arg(long, default_value_t = 1_000)]
    due: usize,
    /// Cards that a run forgets while recalls are measured.
    #[arg(long, default_value_t = 20_000)]
    run: usize,
    /// Questions asked before the run, and at least so many during it.
    #[arg(long, default_value_t = 2_000)]
    queries: usize,
}

const DAY: i64 = 86_400_000_000;

fn fill(tenant: &Tenant, cards: usize, seed: u64, expiring: &[(usize, Timestamp)]) -> Outcome {
    let mut requests: Vec<Remember> = turns(seed, cards, None).collect();
    for (at, (count, expires_at)) in expiring.iter().enumerate() {
        for number in 0..*count {
            // Spread over the whole tenant.
            let place = (at + number * (cards / count.max(&1))) % cards;
            requests[place].expires_at = Some(*expires_at);
        }
    }
    for chunk in requests.chunks(1000) {
        tenant.remember_all(chunk.to_vec())?.into_iter().collect::<Result<Vec<_>, _>>()?;
    }
    Ok(())
}

/// Waits until the background has linked what it is going to; gives how many vectors that is.
pub(super) fn wait_for_links(store: &Store) -> Outcome<usize> {
    let mut before = (0, 0);
    loop {
        let linked = store.statistics()?.index.linked;
        before = if linked == before.0 { (linked, before.1 + 1) } else { (linked, 0) };
        // It works without pause where there is something to link.
        if before.1 == 5 {
            return Ok(linked);
        }
        std::thread::sleep(Duration::from_secs(2));
    }
}

pub(crate) fn run(arguments: &Arguments, seed: u64) -> Outcome<Value> {
    let directory = tempfile::tempdir()?;
    let start = Timestamp::from_micros(1_767_225_600_000_000);
    let clock = Arc::new(ManualClock::new(start));
    let after = |days: i64| start.plus(memcards::Duration::from_micros(days * DAY));
    let store = Store::open(directory.path(), Options { clock: clock.clone(), ..Options::default() })?;
    let policy = json!({"preset": "manual", "limits": {"items": 10_000_000, "share": 1.0}});
    store.set_policy(Some(&policy))?;
    let mut plans = Vec::new();
    let mut works = Vec::new();
    for (name, cards) in [("small", arguments.small), ("large", arguments.cards)] {
        let tenant = store.tenant(name)?;
        let later = if name == "large" { arguments.run } else { 0 };
        fill(&tenant, cards, seed, &[(arguments.due, after(10)), (later, after(30))])?;
        let (_, queue) = timed(|| tenant.plan(&MakePlan::default()));
        eprintln!("{name}: {cards} cards; the queue of what is due brought up to date in {queue:?}");
    }
    clock.set(after(11))?;
    for name in ["small", "large"] {
        let (plan, took) =
            timed(|| store.tenant(name)?.plan(&MakePlan { consent: true, ..MakePlan::default() }));
        let plan = plan?;
        let work = plan.work.due + plan.work.cards;
        eprintln!("{name}: {} items, {work} entries and cards read, {took:?}", plan.totals.items);
        works.push(work as f64);
        plans.push(
            json!({"tenant": name, "items": plan.totals.items, "read": work, "seconds": took.as_secs_f64()}),
        );
    }
    eprintln!("the large one reads {:.2} x the small one", works[1] / works[0]);
    store.forget_due()?;
    clock.set(after(31))?;
    let linked = wait_for_links(&store)?;
    eprintln!("{linked} vectors are linked in the graph");
    let tenant = store.tenant("large")?;
    let mut random = Random::new(seed ^ 2);
    let mut ask = |tenant: &Tenant| -> Outcome<Duration> {
        let request = Recall { query: Some(question(&mut random)), ..Recall::default() };
        let (answer, took) = timed(|| tenant.recall(request));
        answer?;
        Ok(took)
    };
    let mut idle = Vec::new();
    for number in 0..arguments.queries + 50 {
        let took = ask(&tenant)?;
        if number >= 50 {
            idle.push(took);
        }
    }
    let done = Arc::new(AtomicBool::new(false));
    let (forgetting, finished) = (store.clone(), done.clone());
    let thread = std::thread::spawn(move || {
        let (answer, took) = timed(|| forgetting.forget_due());
        finished.store(true, Ordering::Release);
        (answer, took)
    });
    let mut busy = Vec::new();
    while !done.load(Ordering::Acquire) {
        busy.push(ask(&tenant)?);
    }
    let (answer, took) = thread.join().map_err(|_| "the run stopped with a panic")?;
    let applied = answer?.map_or(0, |run| run.totals.applied);
    let count = busy.len();
    let (idle, busy) = (Percentiles::of(&idle), Percentiles::of(&busy));
    eprintln!("idle: {}", idle.line());
    eprintln!("{} recalls while {applied} cards are forgotten in {took:?}: {}", count, busy.line());
    eprintln!("p99 {:.2} x idle", busy.p99_ms / idle.p99_ms);
    Ok(json!({
        "plans": plans,
        "read_ratio": works[1] / works[0],
        "linked": linked,
        "idle": idle,
        "during_a_run": busy,
        "p99_ratio": busy.p99_ms / idle.p99_ms,
        "applied": applied,
        "seconds": took.as_secs_f64(),
        "now": clock.now(),
    }))
}
