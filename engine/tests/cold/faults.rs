//! Freezing and rewriting that are cut short anywhere lose nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memcards::{Feedback, Options, Store};

use crate::faulty_io::{FaultyIo, Kind};
use crate::{World, archived, export, segments, sound};

fn faulty(options: &Options, kind: Kind, number: u64) -> (Options, Arc<AtomicU64>) {
    let (left, fired) = (AtomicU64::new(number), Arc::new(AtomicU64::new(0)));
    let seen = fired.clone();
    let io = FaultyIo::new(true, move |of| {
        if of != kind {
            return Ok(());
        }
        let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if before == Ok(1) || before == Err(0) {
            seen.fetch_add(1, Ordering::SeqCst);
            return Err(io::Error::other("a fault of the test"));
        }
        Ok(())
    });
    (Options { io: Arc::new(io), ..options.clone() }, fired)
}

/// Does something to a copy of a store under every fault, until there is none.
fn sweep(prepare: impl Fn(&World, &Store), work: impl Fn(&Store) -> memcards::Result<()>, left: usize) {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let expected = {
        let store = world.open();
        archived(&world, &store, "anna", 70);
        prepare(&world, &store);
        export(&store)
    };
    let mut cut = 0;
    for kind in [Kind::Write, Kind::Sync, Kind::Name] {
        for number in 1.. {
            let copy = directory.path().join(format!("{kind:?}{number}"));
            copy_all(&world.directory, &copy);
            let (options, fired) = faulty(&world.options, kind, number);
            let refused = match Store::open(&copy, options) {
                Ok(store) => work(&store).is_err(),
                Err(_) => true,
            };
            let done = fired.load(Ordering::SeqCst) == 0;
            cut += usize::from(refused);
            let store = Store::open(&copy, world.options.clone()).unwrap();
            sound(&store);
            assert!(export(&store) == expected, "{kind:?} {number}");
            work(&store).unwrap();
            sound(&store);
            assert_eq!(segments(&copy).len(), left, "{kind:?} {number}");
            assert!(export(&store) == expected, "{kind:?} {number} afterwards");
            drop(store);
            std::fs::remove_dir_all(&copy).unwrap();
            if done {
                break;
            }
        }
    }
    assert!(cut > 5, "{cut}");
}

fn copy_all(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_all(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}

#[test]
fn freezing_that_is_cut_short() {
    sweep(|_, _| {}, |store| store.freeze(None, None).map(drop), 1);
}

#[test]
fn rewriting_that_is_cut_short() {
    let prepare = |_: &World, store: &Store| {
        store.freeze(None, None).unwrap();
        let tenant = store.tenant("anna").unwrap();
        let all = memcards::List {
            limit: Some(1000),
            include: crate::EVERYTHING.to_vec(),
            ..memcards::List::default()
        };
        let used = tenant.list(&all).unwrap().cards.iter().take(40).map(|card| card.id).collect();
        tenant.feedback(Feedback { used, ..Feedback::default() }).unwrap();
    };
    sweep(prepare, |store| store.compact(|_| {}).map(drop), 1);
}
