//! The cold tier: what is archived and moved out of the store file reads as if it had stayed,
//! comes back when it is written to, and leaves no byte when it goes.

#![allow(clippy::unwrap_used)]

mod damage;
mod erasure;
mod faults;
#[path = "../common/faulty_io.rs"]
mod faulty_io;
mod names;
mod reading;
mod twins;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::card::{CardId, State};
use memcards::exchange::Export;
use memcards::{
    Apply, CardView, Correct, Duration, Get, History, HistoryAnswer, Include, MakePlan, ManualClock, Options,
    Recall, Recalled, Remember, RunId, Store, Tenant, Timestamp,
};
use serde_json::json;

pub(crate) const EVERYTHING: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];

/// A store whose clock the test moves.
pub(crate) struct World {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) options: Options,
    pub(crate) directory: PathBuf,
}

impl World {
    pub(crate) fn new(directory: &Path) -> Self {
        let clock = Arc::new(ManualClock::new("2024-01-01T00:00:00Z".parse().unwrap()));
        let options = Options {
            clock: clock.clone(),
            embedder: None,
            cache_bytes: 4 << 20,
            seed: 5,
            ..Options::default()
        };
        Self { clock, options, directory: directory.join("store") }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.directory, self.options.clone()).unwrap()
    }

    pub(crate) fn pass(&self, days: i64) {
        use memcards::Clock;
        self.clock.set(self.clock.now().plus(Duration::from_hours(24 * days))).unwrap();
    }
}

/// What card `n` says.
pub(crate) fn content(n: usize) -> String {
    let thing = ["lamp", "boat", "violin", "ladder", "kettle", "compass", "saddle"][n % 7];
    format!("The {thing} number {n} is kept on shelf {} beside word{n}", n * 3)
}

fn vector(n: usize) -> Vec<f32> {
    (0..16).map(|at| ((n * 31 + at * 17) % 101) as f32 - 50.0).collect()
}

/// Cards with vectors; every third has an earlier version.
pub(crate) fn fill(tenant: &Tenant, count: usize) -> Vec<CardId> {
    let requests = (0..count)
        .map(|n| Remember {
            content: content(n),
            vector: Some(vector(n)),
            tags: vec![format!("tag{}", n % 5)],
            ..Remember::default()
        })
        .collect();
    let ids: Vec<CardId> =
        tenant.remember_all(requests).unwrap().into_iter().map(|answer| answer.unwrap().id).collect();
    for (n, id) in ids.iter().enumerate().filter(|(n, _)| n % 3 == 0) {
        let request = Correct { id: *id, summary: Some(format!("summary{n}")), ..Correct::default() };
        tenant.correct(request).unwrap();
    }
    ids
}

/// Archives everything that is active; gives the run.
pub(crate) fn archive(tenant: &Tenant, cards: usize) -> RunId {
    let policy = json!({ "defaults": { "archive_after": "30d", "fade_below": 0.0 } });
    let request = MakePlan { policy: Some(policy), consent: true, ..MakePlan::default() };
    let planned = tenant.plan(&request).unwrap();
    assert_eq!(planned.totals.items, cards as u64, "{:?}", planned.totals);
    tenant.apply(Apply { plan: Some(planned.plan), ..Apply::default() }).unwrap().run
}

/// A tenant of which everything is archived, before anything is cold.
pub(crate) fn archived(world: &World, store: &Store, name: &str, count: usize) -> (Tenant, Vec<CardId>) {
    let tenant = store.tenant(name).unwrap();
    let ids = fill(&tenant, count);
    world.pass(60);
    archive(&tenant, count);
    (tenant, ids)
}

pub(crate) fn get(tenant: &Tenant, id: CardId) -> CardView {
    tenant.get(&Get { id, include: EVERYTHING.to_vec(), ..Get::default() }).unwrap()
}

pub(crate) fn state(tenant: &Tenant, id: CardId) -> State {
    get(tenant, id).state
}

pub(crate) fn history(tenant: &Tenant, id: CardId) -> HistoryAnswer {
    tenant.history(&History { id }).unwrap()
}

pub(crate) fn ask(tenant: &Tenant, query: &str, include: &[Include]) -> Recalled {
    let request = Recall { query: Some(query.into()), include: include.to_vec(), ..Recall::default() };
    tenant.recall(request).unwrap()
}

/// The first hit.
pub(crate) fn first(answer: &Recalled) -> Option<CardId> {
    answer.hits.first().map(|hit| hit.card.id)
}

/// The whole content of a store as bytes.
pub(crate) fn export(store: &Store) -> Vec<u8> {
    let mut out = Vec::new();
    store.export(&mut out, &Export { vectors: true, ..Export::default() }, |_| {}).unwrap();
    out
}

#[track_caller]
pub(crate) fn sound(store: &Store) -> memcards::store::VerifyReport {
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    report
}

/// The segment files of a store.
pub(crate) fn segments(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(tenants) = std::fs::read_dir(directory.join("cold")) else { return found };
    for tenant in tenants {
        for file in std::fs::read_dir(tenant.unwrap().path()).unwrap() {
            found.push(file.unwrap().path());
        }
    }
    found.sort();
    found
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}
