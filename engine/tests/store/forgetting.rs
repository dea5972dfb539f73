//! Faults while a plan is carried out and the file is written anew: each card is done or not,
//! never half, and going on finishes the rest.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memcards::card::{CardId, State};
use memcards::{
    Apply, CardView, Count, Forget, Get, MakePlan, ManualClock, Options, PlanId, Remember, Store, Timestamp,
    Undo,
};
use serde_json::json;

use crate::faulty_io::{FaultyIo, Kind};
use crate::{EVERYTHING, options};

const CARDS: usize = 240;

/// The instant of the plan: what was told 200 days before has faded, what was forgotten goes.
fn later() -> Options {
    let clock = ManualClock::new(Timestamp::from_micros(1_700_000_000_000_000 + 200 * 86_400_000_000));
    Options { clock: Arc::new(clock), ..options() }
}

fn state(store: &Store, id: CardId) -> Option<CardView> {
    let tenant = store.tenant("t").unwrap();
    tenant.get(&Get { id, include: EVERYTHING.to_vec(), ..Get::default() }).ok()
}

/// A closed store with a plan that fades and purges; gives the plan and its cards.
fn prepare(directory: &Path) -> (PlanId, Vec<CardId>, Vec<CardId>) {
    let store = Store::open(directory, options()).unwrap();
    let tenant = store.tenant("t").unwrap();
    let requests =
        (0..CARDS).map(|n| Remember { content: format!("Drawer {n} holds part {n}"), ..Remember::default() });
    let ids: Vec<CardId> = tenant
        .remember_all(requests.collect())
        .unwrap()
        .into_iter()
        .map(|answer| answer.unwrap().id)
        .collect();
    let (purged, faded) = ids.split_at(60);
    tenant.forget(Forget { ids: purged.to_vec(), ..Forget::default() }).unwrap();
    drop((tenant, store));
    let store = Store::open(directory, later()).unwrap();
    let tenant = store.tenant("t").unwrap();
    let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
    assert_eq!(plan.totals.items, CARDS as u64);
    (plan.plan, faded.to_vec(), purged.to_vec())
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// Fails the n-th operation of a kind and all after it, when that lasts.
fn faulty(kind: Kind, number: u64, lasting: bool) -> (Options, Arc<AtomicU64>) {
    let (left, fired) = (AtomicU64::new(number), Arc::new(AtomicU64::new(0)));
    let seen = fired.clone();
    let io = FaultyIo::new(lasting, move |of| {
        if of != kind {
            return Ok(());
        }
        let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if before == Ok(1) || (before == Err(0) && lasting) {
            seen.fetch_add(1, Ordering::SeqCst);
            return Err(io::Error::other("a fault of the test"));
        }
        Ok(())
    });
    (Options { io: Arc::new(io), ..later() }, fired)
}

fn sweep(kind: Kind, lasting: bool, step: u64) {
    let template = tempfile::tempdir().unwrap();
    let (plan, faded, purged) = prepare(template.path());
    let request = || Apply { plan: Some(plan), ..Apply::default() };
    let (mut number, mut cut_short) = (1, 0);
    loop {
        let what = format!("{kind:?} {number} lasting {lasting}");
        let directory = tempfile::tempdir().unwrap();
        copy(template.path(), directory.path());
        let (options, fired) = faulty(kind, number, lasting);
        let fired = || fired.load(Ordering::SeqCst) > 0;
        let mut done = false;
        if let Ok(store) = Store::open(directory.path(), options) {
            done = store.tenant("t").unwrap().apply(request()).is_ok();
            let compacted = store.compact(|_| {});
            assert!(compacted.is_ok() || fired(), "{what}: {compacted:?}");
        }
        cut_short += u64::from(!done);
        let store = Store::open(directory.path(), later()).unwrap_or_else(|error| panic!("{what}: {error}"));
        let report = store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{what}: {:?}", report.findings);
        let whole = |state: &Store| {
            for id in &faded {
                let card = self::state(state, *id).unwrap_or_else(|| panic!("{what}: {id} is lost"));
                let (version, expected) =
                    if card.state == State::Archived { (2, "faded") } else { (1, "created") };
                assert_eq!((card.version, card.reason.action.as_str()), (version, expected), "{what}: {id}");
            }
            for id in &purged {
                assert!(self::state(state, *id).is_none_or(|card| card.state == State::Forgotten), "{what}");
            }
        };
        whole(&store);
        let tenant = store.tenant("t").unwrap();
        if done {
            assert!(faded.iter().all(|id| state(&store, *id).unwrap().state == State::Archived), "{what}");
        }
        let run = tenant.apply(request()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((run.totals.applied, run.complete), (CARDS as u64, true), "{what}");
        // A commit whose fsync failed may have reached the disk all the same.
        assert!(run.repeated || !done, "{what}");
        assert!(purged.iter().all(|id| state(&store, *id).is_none()), "{what}");
        store.compact(|_| {}).unwrap();
        assert!(store.verify_erased().unwrap().found.is_empty(), "{what}");
        let undone = tenant.undo(Undo { run: Some(run.run), ..Undo::default() }).unwrap();
        assert_eq!((undone.restored.len(), undone.skipped.len()), (faded.len(), purged.len()), "{what}");
        assert_eq!(tenant.count(&Count::default()).unwrap(), faded.len() as u64, "{what}");
        if !fired() {
            break;
        }
        number += step;
    }
    println!("{kind:?} lasting {lasting}: {} faults, {cut_short} runs cut short", number.div_ceil(step));
    assert!(number > 2, "the faults do not reach the store");
}

#[test]
fn a_run_survives_failed_writes() {
    sweep(Kind::Write, true, 17);
}

#[test]
fn a_run_survives_failed_fsyncs_and_names() {
    sweep(Kind::Sync, false, 1);
    sweep(Kind::Name, true, 3);
}

#[test]
fn a_plan_of_another_policy_says_whose_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let (plan, ..) = prepare(directory.path());
    let store = Store::open(directory.path(), later()).unwrap();
    let tenant = store.tenant("t").unwrap();
    assert!(tenant.show_plan(plan).unwrap().policy.contains("built-in"));
    let other = MakePlan { policy: Some(json!("medical")), ..MakePlan::default() };
    assert!(tenant.plan(&other).unwrap().policy.contains("medical"));
}
