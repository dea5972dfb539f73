//! The publication protocol under the model checker: every order of the steps of two or
//! three threads, up to a number of preemptions, and every value that a load may see.
//!
//! Runs the code of the index itself; see [`crate::sync`] for what stands in for what.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use loom::thread;

use crate::index::rows::RowSet;
use crate::index::vector::generation::Generation;
use crate::index::vector::memory::AppendOnly;
use crate::index::vector::plan::ALWAYS_WALK;
use crate::index::vector::{Maintenance, Neighbor, SearchOptions, VectorIndex, VectorOptions};
use crate::sync::{Arc, check};

fn vector(id: u32) -> [f32; 2] {
    [(id as f32 + 0.3).sin(), (id as f32 + 0.3).cos()]
}

fn index(graph_from: usize, ids: std::ops::Range<u32>) -> Arc<VectorIndex> {
    let maintenance = Maintenance::Background;
    let options = VectorOptions { dimension: 2, graph_from, maintenance, ..VectorOptions::default() };
    let index = VectorIndex::new(options);
    ids.for_each(|id| assert!(index.insert(id, &vector(id)).unwrap()));
    Arc::new(index)
}

fn search(index: &VectorIndex, wanted: usize) -> Vec<Neighbor> {
    let found = index.search(&vector(0), wanted, &SearchOptions::default());
    for (at, neighbour) in found.iter().enumerate() {
        assert!((-1.0..=1.0).contains(&neighbour.score));
        assert!(at == 0 || found[at - 1].score >= neighbour.score);
        assert!(found[..at].iter().all(|other| other.id != neighbour.id), "{found:?}");
    }
    found
}

fn has(found: &[Neighbor], id: u32) -> bool {
    found.iter().any(|found| found.id == id)
}

#[test]
fn rows_are_seen_when_complete() {
    check("rows", || {
        let rows: Arc<AppendOnly<u32>> = Arc::new(AppendOnly::new(2, 3));
        let writer = rows.clone();
        let writer = thread::spawn(move || {
            assert!(writer.append(&[0, 1]));
            assert!(writer.append(&[2, 3, 4, 5]));
        });
        let reader = rows.clone();
        let reader = thread::spawn(move || {
            let before = reader.values().len();
            assert!(reader.values().iter().enumerate().all(|(at, value)| at == *value as usize));
            assert!(reader.len() * 2 >= before);
        });
        assert!(rows.values().iter().enumerate().all(|(at, value)| at == *value as usize));
        writer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(rows.values(), [0, 1, 2, 3, 4, 5]);
    });
}

#[test]
fn two_appends_at_once_never_mix() {
    check("two appends", || {
        let rows: Arc<AppendOnly<u32>> = Arc::new(AppendOnly::new(1, 2));
        let other = rows.clone();
        let other = thread::spawn(move || other.append(&[1]));
        let (mine, other) = (rows.append(&[2]), other.join().unwrap());
        assert!(mine || other);
        assert_eq!(rows.len(), usize::from(mine) + usize::from(other));
    });
}

#[test]
fn slots_of_a_generation() {
    check("generation", || {
        let generation = Arc::new(Generation::new(1, 4, 4));
        let push = |generation: &Generation, id: u32, value: f32| {
            assert!(
                generation
                    .push(id, &[value], &[0; 16], |codes| { codes.push(&[value], &mut vec![], &mut vec![]) })
            );
        };
        push(&generation, 0, 10.0);
        let writer = generation.clone();
        let writer = thread::spawn(move || {
            push(&writer, 1, 11.0);
            push(&writer, 0, 20.0);
            assert!(writer.remove(1));
        });
        // What is named is there, and is the identifier's.
        let slot = generation.slot_of(0).expect("it is never without one");
        let seen = generation.vector(slot).map(|vector| vector[0]);
        assert!(seen == Some(10.0) || seen == Some(20.0), "{seen:?}");
        assert_eq!(generation.ids()[slot as usize], 0);
        if let Some(slot) = generation.slot_of(1) {
            assert_eq!(generation.vector(slot), Some(&[11.0][..]));
        }
        let slots = generation.len();
        assert!(generation.vector_rows().count() >= slots && generation.bit_rows().count() >= slots);
        assert!(generation.codes().len() >= slots && generation.codes().rows().count() >= slots);
        writer.join().unwrap();
        assert_eq!((generation.len(), generation.live(), generation.live_word(0)), (3, 1, 0b100));
    });
}

#[test]
fn a_search_beside_changes() {
    check("search beside changes", || {
        let index = index(1000, 0..2);
        let writer = index.clone();
        let writer = thread::spawn(move || {
            // The same vector again: an answer may hold either slot, and never both.
            assert!(!writer.insert(1, &vector(1)).unwrap());
            assert!(writer.remove(1));
        });
        let found = search(&index, 4);
        assert!(has(&found, 0), "it is there all the time: {found:?}");
        writer.join().unwrap();
        assert_eq!(search(&index, 4).len(), 1);
    });
}

/// An identifier whose vector is replaced is found, with the old one or the new one.
#[test]
fn a_search_beside_replacement() {
    check("search beside replacement", || {
        let index = index(1000, 0..2);
        let writer = index.clone();
        let writer = thread::spawn(move || {
            assert!(!writer.insert(1, &vector(5)).unwrap());
            assert!(!writer.insert(1, &vector(9)).unwrap());
        });
        let found = search(&index, 2);
        assert!(found.len() == 2 && has(&found, 0) && has(&found, 1), "{found:?}");
        writer.join().unwrap();
    });
}

#[test]
fn a_filtered_search_beside_replacement() {
    check("filtered search beside replacement", || {
        let index = index(1000, 0..2);
        let writer = index.clone();
        let writer = thread::spawn(move || assert!(!writer.insert(1, &vector(5)).unwrap()));
        let allowed: RowSet = [1].into_iter().collect();
        let found = index.search(&vector(0), 2, &SearchOptions { ef: None, allowed: Some(&allowed) });
        assert!(found.len() == 1 && found[0].id == 1, "{found:?}");
        writer.join().unwrap();
    });
}

/// An identifier whose vector is replaced has one at every moment.
#[test]
fn scores_beside_replacement() {
    check("scores", || {
        let index = index(1000, 0..1);
        let writer = index.clone();
        let writer = thread::spawn(move || drop(writer.insert(0, &vector(5))));
        let mut seen = 0;
        index.scores(&vector(5), [0, 1], |id, score| {
            assert_eq!(id, 0);
            assert!((-1.0..=1.0).contains(&score));
            seen += 1;
        });
        assert_eq!(seen, 1);
        writer.join().unwrap();
    });
}

#[test]
fn a_search_while_the_index_grows() {
    check("growth", || {
        // Full: the next one needs a larger generation.
        let index = index(1000, 0..4);
        let writer = index.clone();
        let writer = thread::spawn(move || assert!(writer.insert(4, &vector(4)).unwrap()));
        let found = search(&index, 8);
        assert!((0..4).all(|id| has(&found, id)), "{found:?}");
        writer.join().unwrap();
        assert_eq!(search(&index, 8).len(), 5);
    });
}

/// Compaction loses nothing that comes in beside it, and brings back nothing that goes.
#[test]
fn changes_beside_compaction() {
    check("compaction", || {
        let index = index(1000, 0..3);
        assert!(index.remove(2));
        let writer = index.clone();
        let writer = thread::spawn(move || {
            writer.insert(1, &vector(7)).unwrap();
            assert!(writer.remove(0));
        });
        let maintainer = index.clone();
        let maintainer = thread::spawn(move || {
            let _maintenance = maintainer.maintenance.lock();
            let old = maintainer.generation.load_full();
            assert!(maintainer.compact(&old, 1));
        });
        writer.join().unwrap();
        maintainer.join().unwrap();
        let found = search(&index, 4);
        assert!(found.len() == 1 && found[0].id == 1, "{found:?}");
        assert_eq!(index.len(), 1);
        let expected = vector(7)[0];
        assert!(index.with_vector(1, |kept| (kept[0] - expected).abs() < 1e-6).unwrap());
    });
}

#[test]
fn a_search_beside_compaction() {
    check("search beside compaction", || {
        let index = index(1000, 0..3);
        assert!(index.remove(1));
        let maintainer = index.clone();
        let maintainer = thread::spawn(move || {
            let _maintenance = maintainer.maintenance.lock();
            let old = maintainer.generation.load_full();
            assert!(maintainer.compact(&old, 1));
        });
        let found = search(&index, 4);
        assert!(has(&found, 0) && has(&found, 2) && !has(&found, 1), "{found:?}");
        maintainer.join().unwrap();
    });
}

#[test]
fn a_walk_beside_linking() {
    check("linking", || {
        ALWAYS_WALK.set(true);
        let index = index(1, 0..3);
        let maintainer = index.clone();
        let maintainer = thread::spawn(move || maintainer.settle(1));
        let allowed: RowSet = [0, 2].into_iter().collect();
        let found = index.search(&vector(2), 1, &SearchOptions { ef: None, allowed: Some(&allowed) });
        assert!(found.len() == 1 && found[0].id == 2, "{found:?}");
        assert_eq!(search(&index, 4).len(), 3);
        maintainer.join().unwrap();
        assert_eq!(search(&index, 4).len(), 3);
    });
}

/// Equal vectors are listed behind the one that is linked while a walk is there.
#[test]
fn a_walk_beside_equal_vectors() {
    check("equal vectors", || {
        ALWAYS_WALK.set(true);
        let index = index(1, 0..1);
        index.settle(1);
        for id in 1..3 {
            assert!(index.insert(id, &vector(0)).unwrap());
        }
        let maintainer = index.clone();
        let maintainer = thread::spawn(move || maintainer.settle(1));
        let found = search(&index, 3);
        assert!(found.len() == 3 && found.iter().all(|found| found.score > 0.999), "{found:?}");
        maintainer.join().unwrap();
        assert_eq!(search(&index, 3).len(), 3);
    });
}
