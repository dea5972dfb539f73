//! Readers beside a writer and a maintainer: what holds at every moment.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memcards::index::rows::RowSet;
use memcards::index::vector::{Maintenance, SearchOptions, VectorIndex, VectorOptions};

use crate::model::clustered;

/// Identifiers below it are never touched.
const STEADY: u32 = 40;
/// Identifiers that come and go.
const CHANGING: std::ops::Range<u32> = 50..650;

/// Two readers, one writer, one thread for maintenance; `checks` counts what was read.
fn stress(graph_from: usize, dimension: usize, time: Duration) {
    let index = VectorIndex::new(VectorOptions {
        dimension,
        graph_from,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    });
    for id in 0..STEADY {
        index.insert(id, &clustered(dimension, u64::from(id))).unwrap();
    }
    let steady: RowSet = (0..STEADY).collect();
    let (stop, checks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let until = Instant::now() + time;
    // A reader that fails must end the others too.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let running = || Instant::now() < until && !stop.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        workers.push(scope.spawn(|| {
            let _stop = Stop(&stop);
            let mut turn = 0u64;
            let ids = u64::from(CHANGING.end - CHANGING.start);
            while running() {
                turn += 1;
                let id = CHANGING.start + (turn.wrapping_mul(7919) % ids) as u32;
                match turn % 5 {
                    0 => drop_in(index.remove(id)),
                    _ => drop_in(index.insert(id, &clustered(dimension, turn)).unwrap()),
                }
            }
        }));
        workers.push(scope.spawn(|| {
            let _stop = Stop(&stop);
            let mut turn = 0;
            while running() {
                turn += 1;
                match turn % 8 {
                    0 => index.settle(2),
                    _ => drop_in(index.maintain(2)),
                }
                std::thread::yield_now();
            }
        }));
        for reader in 0..2u64 {
            let (index, steady, checks, stop) = (&index, &steady, &checks, &stop);
            workers.push(scope.spawn(move || {
                let _stop = Stop(stop);
                let mut turn = reader;
                while running() {
                    turn += 2;
                    let own = (turn % u64::from(STEADY)) as u32;
                    let query = clustered(dimension, u64::from(own));
                    for (allowed, wanted) in [(None, 10), (None, 800), (Some(steady), 5)] {
                        let found = index.search(&query, wanted, &SearchOptions { ef: None, allowed });
                        check(&found, wanted, allowed);
                        // It was there all the time.
                        assert!(
                            found.iter().any(|found| found.id == own && found.score > 0.999_99),
                            "{own} of {found:?}"
                        );
                        if allowed.is_some() {
                            assert_eq!(found.len(), wanted);
                        }
                    }
                    let mut scored = 0;
                    index.scores(&query, 0..CHANGING.end + 50, |id, score| {
                        assert!(id < STEADY || CHANGING.contains(&id));
                        assert!((-1.0..=1.0).contains(&score));
                        scored += u32::from(id < STEADY);
                    });
                    assert_eq!(scored, STEADY);
                    let norm = index.with_vector(own, |vector| vector.iter().map(|x| x * x).sum::<f32>());
                    assert!((norm.unwrap() - 1.0).abs() < 1e-4);
                    checks.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        // Joined one by one: thread sanitizers know nothing of the end of a scope.
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    assert!(checks.load(Ordering::Relaxed) > 0);
    // Once all is quiet, everything that was put in last is there.
    index.settle(1);
    let all = index.search(&clustered(dimension, 1), 10_000, &SearchOptions::default());
    assert_eq!(all.len(), index.len());
    eprintln!("{} rounds of reading, {} vectors left", checks.load(Ordering::Relaxed), index.len());
}

fn drop_in(_: bool) {}

fn check(found: &[memcards::index::vector::Neighbor], wanted: usize, allowed: Option<&RowSet>) {
    assert!(found.len() <= wanted);
    for (at, neighbour) in found.iter().enumerate() {
        assert!((-1.0..=1.0).contains(&neighbour.score));
        assert!(at == 0 || found[at - 1].score >= neighbour.score);
        assert!(neighbour.id < STEADY || CHANGING.contains(&neighbour.id));
        assert!(allowed.is_none_or(|allowed| allowed.contains(neighbour.id)));
    }
    let mut ids: Vec<u32> = found.iter().map(|found| found.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), found.len(), "an identifier twice");
}

/// Without a graph every answer is exact.
#[test]
fn readers_beside_changes_of_a_flat_index() {
    stress(1_000_000, 16, Duration::from_millis(1200));
}

#[test]
fn readers_beside_changes_of_a_graph() {
    stress(50, 16, Duration::from_millis(1200));
}

/// What was inserted beside compaction is not lost, and what was removed stays removed.
#[test]
fn nothing_is_lost_to_compaction() {
    let dimension = 4;
    let index = VectorIndex::new(VectorOptions {
        dimension,
        graph_from: 1_000_000,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    });
    let stop = AtomicBool::new(false);
    let vector = |turn: u32| [(turn as f32).sin(), (turn as f32).cos(), 0.3, 0.1];
    std::thread::scope(|scope| {
        let maintainer = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                index.maintain(1);
            }
        });
        let until = Instant::now() + Duration::from_millis(1000);
        let mut turn = 0;
        while Instant::now() < until {
            turn += 1;
            let id = turn % 200;
            index.insert(id, &vector(turn)).unwrap();
            if turn % 3 == 0 {
                let gone = (turn + 77) % 200;
                index.remove(gone);
                assert!(gone == id || index.contains(id), "turn {turn}: {id} is lost");
            }
            // Replaced most recently: all of the last ones are there, with their vectors.
            let last = turn.saturating_sub(1) % 200;
            if turn > 1 && turn % 3 == 1 && (turn - 1 + 77) % 200 != last {
                let [first, ..] = vector(turn - 1);
                let kept = index.with_vector(last, |kept| kept[0] * first >= 0.0);
                assert_eq!(kept, Some(true), "turn {turn}: {last}");
            }
        }
        stop.store(true, Ordering::Relaxed);
        maintainer.join().unwrap();
    });
}

/// An identifier that is replaced over and over has its old vector or its new one in every
/// answer, never both and never neither.
#[test]
fn what_is_replaced_is_always_found() {
    const IDS: u32 = 60;
    // Compared in full, scanned, picked out of many others, and beside a graph.
    for (others, graph_from) in [(0, 1_000_000), (2000, 1_000_000), (2000, 500)] {
        let dimension = 8;
        let index = VectorIndex::new(VectorOptions {
            dimension,
            graph_from,
            maintenance: Maintenance::Background,
            ..VectorOptions::default()
        });
        let mut near = vec![1.0; dimension];
        let mut vector = |turn: u32| {
            near[turn as usize % dimension] = 1.0 + (turn % 97) as f32 / 1000.0;
            near.clone()
        };
        (0..IDS).for_each(|id| drop_in(index.insert(id, &vector(id)).unwrap()));
        for id in IDS..IDS + others {
            let far: Vec<f32> = clustered(dimension, u64::from(id)).iter().map(|x| x - 1.5).collect();
            index.insert(id, &far).unwrap();
        }
        let changing: RowSet = (0..IDS).collect();
        let (stop, writes, missing) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let mut searches = 0;
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut turn = 0u32;
                while !stop.load(Ordering::Relaxed) {
                    turn += 1;
                    let id = turn.wrapping_mul(31) % IDS;
                    assert!(!index.insert(id, &vector(turn)).unwrap(), "it has one");
                    writes.fetch_add(1, Ordering::Relaxed);
                }
            });
            let maintainer = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if !index.maintain(1) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            });
            let until = Instant::now() + Duration::from_millis(600);
            while Instant::now() < until {
                for allowed in [None, Some(&changing)] {
                    let options = SearchOptions { ef: None, allowed };
                    let found = index.search(&[1.0; 8], IDS as usize, &options);
                    let mut ids: Vec<u32> = found.iter().map(|found| found.id).collect();
                    ids.sort_unstable();
                    ids.dedup();
                    assert_eq!(ids.len(), found.len(), "an identifier twice");
                    let there = ids.iter().filter(|id| **id < IDS).count();
                    missing.fetch_add(IDS as usize - there, Ordering::Relaxed);
                    searches += 1;
                }
            }
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
            maintainer.join().unwrap();
        });
        let (writes, missing) = (writes.into_inner(), missing.into_inner());
        eprintln!(
            "{others} others, graph from {graph_from}: {missing} missing, {searches} searches beside {writes} replacements"
        );
        assert!(searches > 0 && writes > 0);
        assert_eq!(missing, 0, "of {searches} searches beside {writes} replacements");
    }
}
