//! Everything at once on one store: who writes, who reads, who forgets, and the work beside it.
//!
//! Meant for the sanitizers above all (`.ci/sanitize`); `STRESS_SECONDS` makes it longer.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration as Span, Instant};

use memcards::card::{CardId, State};
use memcards::{
    Apply, Clock, Correct, Count, Duration, Error, Forget, Get, History, Include, List, MakePlan,
    ManualClock, Options, Recall, Remember, Store, Tenant, Timestamp, Undo, Walk,
};
use serde_json::json;

const EVERY_STATE: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];
const TENANTS: [&str; 2] = ["anna", "ben"];
/// Tenants of one card that nobody touches.
const IDLE: u64 = 6;

fn idle(number: u64) -> String {
    format!("idle {number}")
}

fn options(clock: Arc<ManualClock>) -> Options {
    // Room for one partition: every other read loads one and takes another out.
    Options { clock, index_bytes: 1, cache_bytes: 1 << 20, queue: 64, batch: 8, ..Options::default() }
}

/// What a call answers, but for those that may be refused while others are at work.
fn answered<T>(answer: Result<T, Error>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(error) => {
            let code = error.code();
            assert!(matches!(code, "busy" | "not_found" | "conflict" | "invalid_argument"), "{error}");
            None
        }
    }
}

/// Threads that stop when the time is over, or when one of them has failed.
struct Running {
    until: Instant,
    stopped: AtomicBool,
    turns: AtomicU64,
}

struct Turns<'a>(&'a Running, u64);

impl Iterator for Turns<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.1 += 1;
        let goes_on = Instant::now() < self.0.until && !self.0.stopped.load(Ordering::Relaxed);
        goes_on.then(|| {
            self.0.turns.fetch_add(1, Ordering::Relaxed);
            self.1
        })
    }
}

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

fn write(tenant: &Tenant, turns: Turns<'_>, writer: u64) {
    let mut mine: Vec<CardId> = Vec::new();
    for turn in turns {
        let content = match turn % 4 {
            0 => format!("Order INC-{writer}{turn} is late"),
            1 => format!("我在第{turn}天喝绿茶{writer}"),
            2 => format!("Anna{writer} works with Ben{}", turn % 50),
            _ => format!("The deadline of project {writer} is day {turn}"),
        };
        let session = Some(format!("s{writer}"));
        let request = Remember { content, session, turn: Some(turn as u32), ..Remember::default() };
        let Some(answer) = answered(tenant.remember(request)) else { continue };
        // A caller reads its own writes, in the store and in the indexes.
        let get = Get { id: answer.id, include: EVERY_STATE.to_vec(), ..Get::default() };
        assert_eq!(tenant.get(&get).unwrap().card.id, answer.id);
        let question = Recall {
            query: Some(format!("INC-{writer}{turn}")),
            include: vec![Include::Archived],
            ..Recall::default()
        };
        let found = tenant.recall(question).unwrap();
        assert!(turn % 4 != 0 || found.hits.iter().any(|hit| hit.card.card.id == answer.id), "{found:?}");
        mine.push(answer.id);
        if turn % 5 == 0 {
            let id = mine[turn as usize % mine.len()];
            answered(tenant.correct(Correct {
                id,
                tags: Some(vec![format!("t{turn}")]),
                ..Correct::default()
            }));
        }
        if turn % 7 == 0 {
            let id = mine.swap_remove(turn as usize % mine.len());
            let forgotten = answered(tenant.forget(Forget { id: Some(id), ..Forget::default() }));
            if forgotten.is_none() {
                mine.push(id);
            }
        }
    }
    // What nobody has forgotten is there, wherever it stands by now.
    for id in mine {
        assert!(tenant.history(&History { id }).is_ok_and(|history| !history.versions.is_empty()), "{id}");
    }
}

fn read(store: &Store, turns: Turns<'_>) {
    for turn in turns {
        // Seldom asked: to load its index takes another one out.
        let idle = store.tenant(&idle(turn % IDLE)).unwrap();
        let found = idle.recall(Recall { query: Some("spare key".into()), ..Recall::default() }).unwrap();
        assert_eq!(found.hits.len(), 1);
        let tenant = store.tenant(TENANTS[turn as usize % 2]).unwrap();
        let query = ["late order", "绿茶", "who works with Ben7?", "deadline"][turn as usize / 2 % 4];
        let include = if turn.is_multiple_of(3) { EVERY_STATE.to_vec() } else { vec![] };
        let recall = Recall { query: Some(query.into()), include: include.clone(), ..Recall::default() };
        for hit in tenant.recall(recall).unwrap().hits {
            assert!(!include.is_empty() || hit.card.card.state == State::Active);
        }
        let list = List { include: EVERY_STATE.to_vec(), limit: Some(20), ..List::default() };
        let page = tenant.list(&list).unwrap();
        for view in &page.cards {
            // It may be purged since.
            answered(tenant.history(&History { id: view.card.id }));
        }
        answered(tenant.walk(&Walk { start: format!("Ben{}", turn % 50), ..Walk::default() }));
        store.statistics().unwrap();
    }
}

fn forget(store: &Store, clock: &ManualClock, turns: Turns<'_>) {
    for turn in turns {
        clock.set(clock.now().plus(Duration::from_hours(1))).unwrap();
        let tenant = store.tenant(TENANTS[turn as usize % 2]).unwrap();
        let plan = MakePlan { consent: true, ..MakePlan::default() };
        if let Some(planned) = answered(tenant.plan(&plan)) {
            let apply = Apply { plan: Some(planned.plan), ..Apply::default() };
            if let Some(applied) = answered(tenant.apply(apply)).filter(|_| turn % 4 == 0) {
                answered(tenant.undo(Undo { run: Some(applied.run), ..Undo::default() }));
            }
        }
        if turn.is_multiple_of(3) {
            answered(store.forget_due());
        }
    }
}

fn tend(store: &Store, turns: Turns<'_>) {
    for turn in turns {
        match turn % 4 {
            0 => assert!(store.freeze(None, Some(4)).is_ok()),
            1 => assert!(store.checkpoint().is_ok()),
            2 => assert!(store.compact(|_| {}).is_ok()),
            _ => {
                let report = store.verify(|_| {}).unwrap();
                assert!(report.is_sound(), "{:?}", report.findings);
            }
        }
    }
}

fn listed(store: &Store) -> Vec<Vec<memcards::CardView>> {
    let all = |name: &&str| {
        let tenant = store.tenant(name).unwrap();
        let mut list = List { include: EVERY_STATE.to_vec(), limit: Some(1000), ..List::default() };
        let mut cards = Vec::new();
        loop {
            let page = tenant.list(&list).unwrap();
            cards.extend(page.cards);
            list.cursor = page.cursor;
            if list.cursor.is_none() {
                break;
            }
        }
        let count = Count { include: EVERY_STATE.to_vec(), ..Count::default() };
        assert_eq!(tenant.count(&count).unwrap(), cards.len() as u64);
        cards
    };
    TENANTS.iter().map(all).collect()
}

#[test]
fn everything_at_once() {
    let seconds = std::env::var("STRESS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_700_000_000_000_000)));
    let store = Store::open(directory.path(), options(clock.clone())).unwrap();
    let policy = json!({
        "defaults": {"archive_after": "5h", "grace": "2h"},
        "limits": {"share": 1.0, "items": 200},
    });
    store.set_policy(Some(&policy)).unwrap();
    TENANTS.iter().for_each(|name| assert!(store.tenant(name).unwrap().create().unwrap()));
    for number in 0..IDLE {
        let content = "The spare key is under the blue pot.".into();
        let request = Remember { content, pinned: true, ..Remember::default() };
        store.tenant(&idle(number)).unwrap().remember(request).unwrap();
    }
    let running = Running {
        until: Instant::now() + Span::from_secs(seconds),
        stopped: AtomicBool::new(false),
        turns: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        let turns = || Turns(&running, 0);
        for writer in 0..2 {
            let (store, turns) = (&store, turns());
            scope.spawn(move || write(&store.tenant(TENANTS[writer as usize]).unwrap(), turns, writer));
        }
        for _ in 0..2 {
            let (store, turns) = (&store, turns());
            scope.spawn(move || read(store, turns));
        }
        let (forgetter, tender) = (turns(), turns());
        let (store, clock) = (&store, &clock);
        scope.spawn(move || forget(store, clock, forgetter));
        scope.spawn(move || tend(store, tender));
    });
    let figures = store.statistics().unwrap();
    eprintln!("{} turns, {figures:?}", running.turns.load(Ordering::Relaxed));
    assert!(figures.read_only.is_none());
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    let before = listed(&store);
    assert!(before.iter().all(|cards| !cards.is_empty()));
    drop(store);
    let store = Store::open(directory.path(), options(clock)).unwrap();
    assert_eq!(listed(&store), before);
}
