//! File operations that fail, one after the other: whatever was acknowledged is there.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memcards::card::CardId;
use memcards::{Correct, Error, Forget, Get, Options, Recall, Remember, Store};

use crate::faulty_io::{FaultyIo, Kind};
use crate::{EVERYTHING, everything, options};

/// Fails the n-th operation of a kind, and with `lasting` all after it.
#[derive(Debug)]
struct Faults {
    kind: Kind,
    left: AtomicU64,
    lasting: bool,
    /// Write half of the data before the write fails.
    torn: bool,
    fired: AtomicU64,
}

impl Faults {
    fn check(&self, kind: Kind) -> io::Result<()> {
        if kind != self.kind {
            return Ok(());
        }
        let before = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if before == Ok(1) || (before == Err(0) && self.lasting) {
            self.fired.fetch_add(1, Ordering::SeqCst);
            return Err(io::Error::other("a fault of the test"));
        }
        Ok(())
    }
}

/// A file system with these faults.
fn faulty(faults: &Arc<Faults>) -> FaultyIo {
    let checked = faults.clone();
    FaultyIo::new(faults.torn, move |kind| checked.check(kind))
}

/// What was acknowledged: versions of cards.
type Acknowledged = BTreeMap<CardId, u32>;

/// A short workload; stops nowhere, notes what succeeded, and gives the errors.
fn work(store: &Store, label: &str, acknowledged: &mut Acknowledged) -> Vec<Error> {
    let tenant = store.tenant("anna").unwrap();
    let mut errors = Vec::new();
    let mut last;
    for n in 0..12 {
        let request = Remember {
            content: format!("entry {label}{n}z"),
            vector: Some(vec![n as f32, 1.0, 0.0]),
            ..Remember::default()
        };
        match tenant.remember(request) {
            Ok(answer) => {
                acknowledged.insert(answer.id, answer.version);
                last = Some(answer.id);
            }
            Err(error) => {
                errors.push(error);
                last = None;
            }
        }
        let Some(id) = last else { continue };
        if n % 3 == 1 {
            let request = Correct { id, summary: Some(format!("summary {n}")), ..Correct::default() };
            match tenant.correct(request) {
                Ok(answer) => drop(acknowledged.insert(answer.id, answer.version)),
                Err(error) => errors.push(error),
            }
        }
        if n % 4 == 2 {
            match tenant.forget(Forget { id: Some(id), ..Forget::default() }) {
                Ok(_) => *acknowledged.get_mut(&id).unwrap() += 1,
                Err(error) => errors.push(error),
            }
        }
    }
    errors
}

/// Every acknowledged version, or a later one that was under way, is there.
fn check(store: &Store, acknowledged: &Acknowledged, what: &str) {
    let tenant = store.tenant("anna").unwrap();
    for (id, version) in acknowledged {
        let get = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
        let found = tenant.get(&get).unwrap_or_else(|error| panic!("{what}: card {id} is lost: {error}"));
        assert!(found.version >= *version, "{what}: card {id} has version {}, not {version}", found.version);
    }
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{what}: {:?}", report.findings);
}

fn sweep(kind: Kind, lasting: bool, torn: bool) {
    let mut number = 1;
    let mut refused = 0;
    loop {
        let what = format!("{kind:?} {number}, lasting {lasting}, torn {torn}");
        let directory = tempfile::tempdir().unwrap();
        let faults =
            Arc::new(Faults { kind, left: AtomicU64::new(number), lasting, torn, fired: AtomicU64::new(0) });
        let fired = || faults.fired.load(Ordering::SeqCst) > 0;
        let mut acknowledged = Acknowledged::new();
        let faulty = Options { io: Arc::new(faulty(&faults)), ..options() };
        match Store::open(directory.path(), faulty) {
            Err(error) => {
                assert!(fired(), "{what}: {error}");
                assert!(matches!(error.code(), "unavailable" | "read_only" | "internal"), "{what}: {error}");
            }
            Ok(store) => {
                let errors = work(&store, "q", &mut acknowledged);
                for error in &errors {
                    assert_eq!(error.code(), "read_only", "{what}: {error}");
                }
                if !errors.is_empty() {
                    refused += 1;
                    assert!(store.statistics().unwrap().read_only.is_some(), "{what}");
                    // Refused for good, also when the fault was a passing one.
                    let tenant = store.tenant("anna").unwrap();
                    let request = Remember { content: "one more".into(), ..Remember::default() };
                    assert_eq!(tenant.remember(request).unwrap_err().code(), "read_only", "{what}");
                    // Reads go on.
                    for id in acknowledged.keys() {
                        let get = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
                        tenant.get(&get).unwrap_or_else(|error| panic!("{what}: reading {id}: {error}"));
                    }
                    let found =
                        everything(&tenant).unwrap_or_else(|error| panic!("{what}: {error}")).cards.len();
                    assert!(found >= acknowledged.len(), "{what}");
                    let request = Recall { vector: Some(vec![1.0, 1.0, 0.0]), ..Recall::default() };
                    tenant.recall(request).unwrap_or_else(|error| panic!("{what}: {error}"));
                } else {
                    assert_eq!(acknowledged.len(), 12, "{what}");
                }
            }
        }
        let store =
            Store::open(directory.path(), options()).unwrap_or_else(|error| panic!("{what}: {error}"));
        check(&store, &acknowledged, &what);
        let mut more = acknowledged.clone();
        assert!(work(&store, "r", &mut more).is_empty(), "{what}: writing after reopening");
        check(&store, &more, &what);
        if !fired() {
            break;
        }
        number += 1;
    }
    println!("{kind:?} lasting {lasting} torn {torn}: {number} runs, {refused} of them with refused writes");
    assert!(number > 3 && (kind == Kind::Name || refused > 3), "the faults do not reach the store");
}

#[test]
fn a_failed_write_loses_nothing_acknowledged() {
    sweep(Kind::Write, false, false);
}

#[test]
fn a_torn_write_loses_nothing_acknowledged() {
    sweep(Kind::Write, true, true);
}

#[test]
fn a_failed_fsync_loses_nothing_acknowledged() {
    sweep(Kind::Sync, false, false);
    sweep(Kind::Sync, true, false);
}

#[test]
fn a_failed_name_or_length_loses_nothing_acknowledged() {
    sweep(Kind::Name, false, false);
}
