//! Walks over small graphs, which the plan would scan: recall and laws where vectors come
//! and go.

use std::collections::BTreeMap;

use crate::index::rows::RowSet;
use crate::index::vector::damage::Memory;
use crate::index::vector::plan::ALWAYS_WALK;
use crate::index::vector::{Maintenance, SearchOptions, VectorBytes, VectorIndex, VectorOptions, unit};

const DIMENSION: usize = 32;

fn noise(seed: u64, number: u64) -> f32 {
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), seed);
    (hash >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// A unit vector near one of thirty centres.
fn clustered(seed: u64) -> Vec<f32> {
    let centre = 1_000_000 + seed % 30;
    let vector: Vec<f32> = (0..DIMENSION as u64).map(|i| noise(centre, i) + 0.4 * noise(seed, i)).collect();
    unit(&vector).expect("noise has a direction")
}

type Model = BTreeMap<u32, Vec<f32>>;

/// Share of the ten nearest that walks find, over many queries; checks each answer.
fn recall(index: &VectorIndex, model: &Model, allowed: Option<&RowSet>) -> f64 {
    let mut right = 0;
    let mut wanted = 0;
    for seed in 0..60 {
        let query = clustered(77_000_000 + seed);
        let score = |vector: &[f32]| vector.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
        let open = model.iter().filter(|(id, _)| allowed.is_none_or(|allowed| allowed.contains(**id)));
        let mut best: Vec<f32> = open.map(|(_, vector)| score(vector)).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.truncate(10);
        let mut found = Vec::new();
        let work = index.search_into(&query, 10, &SearchOptions { ef: None, allowed }, &mut found);
        assert!(work.walked > 0, "{work:?}");
        assert_eq!(found.len(), best.len());
        for (at, neighbour) in found.iter().enumerate() {
            assert!(allowed.is_none_or(|allowed| allowed.contains(neighbour.id)));
            assert!((score(&model[&neighbour.id]) - neighbour.score).abs() < 1e-5);
            assert!(found[..at].iter().all(|other| other.id != neighbour.id));
        }
        let last = best.last().copied().unwrap_or(f32::MIN);
        right += found.iter().filter(|found| found.score >= last - 1e-6).count();
        wanted += best.len();
    }
    right as f64 / wanted as f64
}

fn sum(bytes: VectorBytes) -> usize {
    bytes.vectors + bytes.codes + bytes.links + bytes.other
}

fn file_size(index: &VectorIndex) -> u64 {
    index.save(&Memory::default(), "index".as_ref(), [0, 0]).expect("memory takes it")
}

/// After a sweep no file holds a vector that was removed, however few were, and walks find the
/// rest.
#[test]
fn a_sweep_leaves_nothing_of_what_was_removed() {
    ALWAYS_WALK.set(true);
    let options = VectorOptions {
        dimension: DIMENSION,
        graph_from: 200,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    };
    let index = VectorIndex::new(options);
    let mut model = Model::new();
    for id in 0..900 {
        model.insert(id, clustered(u64::from(id)));
        index.insert(id, &model[&id]).expect("a vector");
    }
    index.settle(1);
    let io = Memory::default();
    let holds = |vector: &[f32]| {
        index.save(&io, "index".as_ref(), [0, 0]).expect("memory takes it");
        let bytes = io.0.lock().clone();
        let wanted: &[u8] = bytemuck::cast_slice(&vector[..4]);
        bytes.windows(16).any(|window| window == wanted)
    };
    let stored = |id: u32| index.with_vector(id, <[f32]>::to_vec).expect("it is there");
    let gone: Vec<Vec<f32>> = [3, 77, 500].map(stored).to_vec();
    for id in [3, 77, 500] {
        assert!(index.remove(id) && model.remove(&id).is_some());
    }
    assert!(gone.iter().all(|vector| holds(vector)), "removal alone leaves them");
    assert!(index.sweep(1));
    assert!(!gone.iter().any(|vector| holds(vector)));
    assert!(holds(&stored(4)));
    assert_eq!((index.len(), index.linked()), (897, 897));
    assert!(recall(&index, &model, None) > 0.9);
    assert!(index.sweep(1), "with nothing to do");
}

/// Nine of ten vectors replaced, again and again: as good and as small as a fresh index.
#[test]
fn churn() {
    ALWAYS_WALK.set(true);
    let (vectors, cycles) = if cfg!(debug_assertions) { (800, 4) } else { (5_000, 10) };
    let options = VectorOptions {
        dimension: DIMENSION,
        graph_from: 200,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    };
    let mut model = Model::new();
    let index = VectorIndex::new(options.clone());
    for cycle in 0..=cycles {
        for id in (0..vectors).filter(|id| noise(cycle, u64::from(*id)) < 0.8) {
            assert_eq!(index.remove(id), model.remove(&id).is_some());
        }
        for id in (0..vectors).filter(|id| !model.contains_key(id)).collect::<Vec<_>>() {
            let vector = clustered(cycle * 1_000_003 + u64::from(id));
            assert!(index.insert(id, &vector).unwrap());
            model.insert(id, vector);
            if id % 500 == 0 {
                index.maintain(1);
            }
        }
        index.settle(2);
    }
    let fresh = VectorIndex::new(options);
    fresh.insert_all(model.iter().map(|(id, vector)| (*id, &vector[..])), 2).unwrap();
    let (old, new) = (recall(&index, &model, None), recall(&fresh, &model, None));
    assert!(old >= 0.95 && new >= 0.95, "{old} after churn, {new} when fresh");
    let (bytes, bytes_fresh) = (sum(index.bytes()), sum(fresh.bytes()));
    assert!(bytes * 2 <= bytes_fresh * 3, "{bytes} bytes, {bytes_fresh} when fresh");
    let (size, size_fresh) = (file_size(&index), file_size(&fresh));
    assert!(size * 2 <= size_fresh * 3, "{size} bytes of file, {size_fresh} when fresh");
}

/// Dead slots, filters and waiting slots beside the graph.
#[test]
fn walks_among_what_does_not_count() {
    ALWAYS_WALK.set(true);
    let vectors = if cfg!(debug_assertions) { 700 } else { 3_000 };
    let options = VectorOptions { dimension: DIMENSION, graph_from: 100, ..VectorOptions::default() };
    let index = VectorIndex::new(options);
    let mut model = Model::new();
    for id in 0..vectors {
        let vector = clustered(u64::from(id));
        index.insert(id, &vector).unwrap();
        model.insert(id, vector);
    }
    index.settle(2);
    for id in (0..vectors).step_by(5) {
        assert!(index.remove(id) && model.remove(&id).is_some());
    }
    for id in vectors..vectors + 100 {
        let vector = clustered(u64::from(id));
        index.insert(id, &vector).unwrap();
        model.insert(id, vector);
    }
    let share = recall(&index, &model, None);
    assert!(share >= 0.95, "{share} with dead slots");
    for every in [2, 8] {
        let allowed: RowSet = (0..vectors + 200).step_by(every).collect();
        let share = recall(&index, &model, Some(&allowed));
        assert!(share >= 0.95, "{share} with one of {every} allowed");
    }
}

/// With nobody at maintenance the slots that wait stay bounded; and while maintenance is busy
/// with something else insertions go on all the same.
#[test]
fn insertions_help_when_many_slots_wait() {
    let options = VectorOptions {
        dimension: 2,
        graph_from: 100,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    };
    let index = VectorIndex::new(options);
    let vector = |id: u32| [(id as f32 * 0.37).sin(), (id as f32 * 0.37).cos()];
    for id in 0..6000 {
        index.insert(id, &vector(id)).expect("a vector of the dimension");
        assert!(index.len() - index.linked() <= 4096, "{id}: {} are linked", index.linked());
    }
    assert!(index.linked() > 0);
    for busy in [&index.links, &index.maintenance] {
        let _busy = busy.lock();
        let (linked, start) = (index.linked(), std::time::Instant::now());
        let mut inserted = 0u32;
        while index.len() - linked <= 4096 + 5 {
            index.insert(6000 + inserted, &vector(inserted)).expect("a vector of the dimension");
            inserted += 1;
        }
        assert!(start.elapsed().as_millis() >= 50, "each of the last waited for a while");
        assert_eq!(index.linked(), linked);
        drop(_busy);
        while index.len() - index.linked() > 4096 {
            index.help();
        }
    }
}

/// A large index is made larger before it is full, beside those who use it.
#[test]
fn large_indexes_grow_in_the_background() {
    let options = VectorOptions {
        dimension: 1,
        graph_from: 1_000_000,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    };
    let index = VectorIndex::new(options);
    let insert = |id: u32| {
        index.append(id, &[if id.is_multiple_of(2) { 1.0 } else { -1.0 }]).expect("of the dimension")
    };
    (0..14_336).for_each(|id| assert!(insert(id)));
    assert!(!index.is_due());
    assert!(insert(14_336) && index.is_due());
    let before = index.generation.load().capacity();
    std::thread::scope(|scope| {
        let maintainer = scope.spawn(|| assert!(!index.maintain(1), "once is enough"));
        (14_337..15_000).for_each(|id| assert!(insert(id)));
        assert!(index.remove(7) && !insert(8));
        maintainer.join().expect("it does not fail");
    });
    let generation = index.generation.load();
    assert!(generation.capacity() > before && generation.identifiers() >= 1 << 20, "{before}");
    assert_eq!((generation.len(), generation.live(), generation.complete()), (15_001, 14_999, 15_001));
    assert_eq!((generation.slot_of(7), generation.slot_of(8)), (None, Some(15_000)));
    assert!((9..15_000).all(|id| generation.slot_of(id) == Some(id)));
}

/// Hundreds of equal vectors among others.
fn among_equal(others: u32) -> (VectorIndex, Model) {
    ALWAYS_WALK.set(true);
    let options = VectorOptions { dimension: DIMENSION, graph_from: 50, ..VectorOptions::default() };
    let index = VectorIndex::new(options);
    let mut model = Model::new();
    for id in 0..others + 300 {
        let vector = clustered(if id < others { u64::from(id) } else { 5 });
        index.insert(id, &vector).expect("a vector of the dimension");
        model.insert(id, vector);
    }
    index.settle(1);
    (index, model)
}

/// Equal vectors are found as often as they are asked for.
#[test]
fn walks_to_equal_vectors() {
    for others in [0, 200] {
        let (index, model) = among_equal(others);
        for wanted in [1, 10, 100, 300, 600] {
            let found = index.search(&clustered(5), wanted, &SearchOptions::default());
            assert_eq!(found.len(), wanted.min(model.len()));
            let equal = found.iter().filter(|found| found.score > 0.999_99).count();
            assert!(equal * 100 >= 99 * wanted.min(300), "{equal} of {wanted} with {others} others");
        }
    }
}

/// Equal vectors do not hide what is beside them.
#[test]
fn walks_past_equal_vectors() {
    let (index, model) = among_equal(200);
    let share = recall(&index, &model, None);
    assert!(share >= 0.95, "{share}");
}

/// Nor once some of them are removed, the first and linked one included, and the graph is
/// made without them; and they are still found.
#[test]
fn walks_past_equal_vectors_after_removals() {
    // Some of each; nearly all equal ones; all but a few others.
    for (equal_gone, others_gone) in [(2, 3), (20, 3), (3, 0)] {
        let (index, mut model) = among_equal(1000);
        let tells = |index: &VectorIndex, model: &Model, what: &str| {
            let share = recall(index, model, None);
            assert!(share >= 0.95, "{share} {what}, {equal_gone} {others_gone}");
            let even: RowSet = (0..1300).step_by(2).collect();
            let share = recall(index, model, Some(&even));
            assert!(share >= 0.95, "{share} of the even ones {what}, {equal_gone} {others_gone}");
            let left = model.range(1000..).count();
            let found = index.search(&clustered(5), left, &SearchOptions::default());
            let equal = found.iter().filter(|found| found.score > 0.999_99).count();
            assert!(equal * 100 >= left * 99, "{equal} of {left} {what}, {equal_gone} {others_gone}");
        };
        let remove = |model: &mut Model, ids: &mut dyn Iterator<Item = u32>| {
            for id in ids {
                let _writer = index.writer.lock();
                assert_eq!(index.generation.load().remove(id), model.remove(&id).is_some());
            }
        };
        // The equal ones that hold the links: 5 is one of the others.
        remove(&mut model, &mut [5].into_iter().chain(1000..1010));
        tells(&index, &model, "without the first");
        remove(
            &mut model,
            &mut (1010..1300)
                .filter(|id| if equal_gone > 3 { id % equal_gone != 0 } else { id % equal_gone == 0 }),
        );
        remove(&mut model, &mut (0..1000).filter(|id| others_gone > 0 && *id != 5 && id % others_gone == 0));
        tells(&index, &model, "removed");
        let linked = index.linked();
        {
            let _maintenance = index.maintenance.lock();
            let generation = index.generation.load_full();
            assert!(index.compact(&generation, 2));
            let graph = index.generation.load_full();
            assert_eq!(graph.graph().expect("it is kept").settled(), model.len());
        }
        assert!(index.linked() < linked);
        tells(&index, &model, "compacted");
        // More of them, behind the one that has the links now.
        for id in 2000..2100 {
            assert!(index.insert(id, &clustered(5)).expect("a vector of the dimension"));
            model.insert(id, clustered(5));
        }
        index.settle(2);
        let share = recall(&index, &model, None);
        assert!(share >= 0.95, "{share} with more");
        let found = index.search(&clustered(5), 100, &SearchOptions::default());
        assert_eq!(found.iter().filter(|found| found.score > 0.999_99).count(), 100);
    }
}
