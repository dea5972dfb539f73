//! Random changes and searches, compared with a map of all vectors.

use std::path::Path;

use memcards::index::rows::RowSet;
use memcards::index::vector::{
    Maintenance, SearchOptions, SnapshotTag, VectorIndex, VectorOptions, verify_snapshot,
};
use memcards::store::io::RealIo;
use proptest::prelude::*;

use crate::model::{Model, Recall, TOLERANCE, clustered, search};

const TAG: SnapshotTag = [3, 4];
/// Identifiers in use.
const IDS: u32 = 700;

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    /// So many insertions, of new and of known identifiers.
    Insert {
        seed: u64,
        count: usize,
        equal: bool,
    },
    /// Removes this share of all identifiers, in percent.
    Remove {
        seed: u64,
        percent: u64,
    },
    Search {
        seed: u64,
        wanted: usize,
        ef: Option<usize>,
        allowed: Option<(u64, u64)>,
    },
    Scores {
        seed: u64,
    },
    Maintain,
    Settle,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let allowed = prop::option::of((any::<u64>(), prop::sample::select(vec![0u64, 1, 5, 50, 95, 100])));
    let wanted = prop::sample::select(vec![0usize, 1, 10, 10, 10, 40, 5000]);
    let ef = prop::sample::select(vec![None, None, Some(1), Some(40), Some(300)]);
    let step = prop_oneof![
        6 => (any::<u64>(), 1usize..200, prop::bool::weighted(0.1))
            .prop_map(|(seed, count, equal)| Step::Insert { seed, count, equal }),
        3 => (any::<u64>(), prop::sample::select(vec![1u64, 10, 50, 90, 100]))
            .prop_map(|(seed, percent)| Step::Remove { seed, percent }),
        12 => (any::<u64>(), wanted, ef, allowed)
            .prop_map(|(seed, wanted, ef, allowed)| Step::Search { seed, wanted, ef, allowed }),
        2 => any::<u64>().prop_map(|seed| Step::Scores { seed }),
        2 => Just(Step::Maintain),
        3 => Just(Step::Settle),
        2 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..24)
}

fn mixed(seed: u64, number: u64) -> u64 {
    (seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD1B5_4A32_D192_ED03) >> 20
}

struct Run {
    index: VectorIndex,
    model: Model,
    options: VectorOptions,
    threads: usize,
    folder: tempfile::TempDir,
    walks: Recall,
    scans: Recall,
}

impl Run {
    fn new(options: &VectorOptions, threads: usize) -> Self {
        Self {
            index: VectorIndex::new(options.clone()),
            model: Model::default(),
            options: options.clone(),
            threads,
            folder: tempfile::tempdir().unwrap(),
            walks: Recall::default(),
            scans: Recall::default(),
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("index")
    }

    fn bytes(&self) -> Vec<u8> {
        let size = self.index.save(&RealIo, &self.path(), TAG).unwrap();
        let bytes = std::fs::read(self.path()).unwrap();
        assert_eq!(bytes.len() as u64, size);
        bytes
    }

    fn step(&mut self, step: &Step) {
        let dimension = self.options.dimension;
        match *step {
            Step::Insert { seed, count, equal } => {
                for number in 0..count as u64 {
                    let id = (mixed(seed, number) % u64::from(IDS)) as u32;
                    let vector = clustered(dimension, if equal { seed } else { mixed(seed, number + 1000) });
                    let new = self.index.insert(id, &vector).unwrap();
                    assert_eq!(new, self.model.insert(id, &vector));
                }
            }
            Step::Remove { seed, percent } => {
                for id in (0..IDS).filter(|id| mixed(seed, u64::from(*id)) % 100 < percent) {
                    assert_eq!(self.index.remove(id), self.model.vectors.remove(&id).is_some());
                }
            }
            Step::Search { seed, wanted, ef, allowed } => {
                let allowed = allowed.map(|(seed, percent)| -> RowSet {
                    // Some of them were never inserted.
                    (0..IDS + 200).filter(|id| mixed(seed, u64::from(*id)) % 100 < percent).collect()
                });
                let options = SearchOptions { ef, allowed: allowed.as_ref() };
                let query = clustered(dimension, seed);
                let (work, recall, _) = search(&self.index, &self.model, &query, wanted, &options);
                if work.walked > 0 {
                    if ef.is_none() && wanted == 10 {
                        self.walks.add(recall);
                    }
                } else if work.scanned > 0 {
                    self.scans.add(recall);
                } else {
                    assert_eq!(recall.right, recall.wanted, "what is compared in full is exact");
                }
            }
            Step::Scores { seed } => {
                let query = clustered(dimension, seed);
                let mut scored = Vec::new();
                self.index.scores(&query, (0..IDS + 100).rev(), |id, score| scored.push((id, score)));
                assert!(scored.is_sorted_by_key(|(id, _)| std::cmp::Reverse(*id)));
                assert_eq!(scored.len(), self.model.vectors.len());
                for (id, score) in scored {
                    let cosine = self.model.cosine(&query, id).unwrap();
                    assert!((cosine - f64::from(score)).abs() < TOLERANCE);
                }
            }
            Step::Maintain => {
                for _ in 0..3 {
                    self.index.maintain(self.threads);
                }
            }
            Step::Settle => {
                self.index.settle(self.threads);
                assert!(!self.index.maintain(1), "nothing is left to do");
            }
            Step::Reopen => {
                let before = self.bytes();
                verify_snapshot(&RealIo, &self.path()).unwrap();
                let options = VectorOptions { dimension: 9999, seed: 9999, ..self.options.clone() };
                let opened = VectorIndex::open(&RealIo, &self.path(), &options, TAG).unwrap();
                for seed in 0..3 {
                    let query = clustered(dimension, seed);
                    for wanted in [1, 10, 1000] {
                        let options = SearchOptions::default();
                        assert_eq!(
                            self.index.search(&query, wanted, &options),
                            opened.search(&query, wanted, &options)
                        );
                    }
                }
                self.index = opened;
                assert!(self.bytes() == before, "the same bytes from what was opened");
            }
        }
        assert_eq!(self.index.len(), self.model.vectors.len());
        assert_eq!(self.index.is_empty(), self.model.vectors.is_empty());
    }

    /// Every identifier has its vector, and no other has one.
    fn check_all(&self) {
        for id in 0..IDS + 100 {
            let kept = self.index.with_vector(id, <[f32]>::to_vec);
            assert_eq!(self.index.contains(id), kept.is_some());
            assert_eq!(kept.is_some(), self.model.vectors.contains_key(&id), "{id}");
            for (a, b) in kept.iter().flatten().zip(self.model.vectors.get(&id).into_iter().flatten()) {
                assert!((f64::from(*a) - b).abs() < TOLERANCE);
            }
        }
    }
}

fn dimensions() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 3, 7, 64, 100, 256, 260])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// Everything that must hold for any history; two threads make the same index as one,
    /// bit by bit, and the same history makes it again.
    #[test]
    fn any_history(steps in steps(), dimension in dimensions(), seed: u64, background: bool) {
        let maintenance = if background { Maintenance::Background } else { Maintenance::Inline };
        let options = VectorOptions { dimension, seed, graph_from: 50, maintenance };
        let mut run = Run::new(&options, 1);
        let mut again = Run::new(&options, 2);
        for step in &steps {
            run.step(step);
            match step {
                Step::Search { .. } | Step::Scores { .. } => {}
                _ => again.step(step),
            }
        }
        run.check_all();
        prop_assert!(run.bytes() == again.bytes(), "the same changes, another index");
        run.index.settle(2);
        again.index.settle(1);
        run.check_all();
        prop_assert!(run.bytes() == again.bytes());
        if run.walks.wanted >= 60 {
            prop_assert!(run.walks.share() >= 0.9, "walks: {:?}", run.walks);
        }
        if run.scans.wanted >= 60 {
            prop_assert!(run.scans.share() >= 0.99, "scans: {:?}", run.scans);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Insertions one by one and all at once are the same index, however often identifiers
    /// repeat: both compact at the same moments, and what is linked by then is the same.
    #[test]
    fn all_at_once_is_one_by_one_whatever_repeats(
        seed: u64,
        before in 0..600u64,
        rounds in prop::collection::vec((1..900u64, 1..700u64, any::<bool>()), 1..4),
        background: bool,
    ) {
        let maintenance = if background { Maintenance::Background } else { Maintenance::Inline };
        let options = VectorOptions { dimension: 5, seed, graph_from: 60, maintenance };
        let folder = tempfile::tempdir().unwrap();
        let file = |index: &VectorIndex| {
            index.save(&RealIo, &folder.path().join("index"), TAG).unwrap();
            std::fs::read(folder.path().join("index")).unwrap()
        };
        let (single, many) = (VectorIndex::new(options.clone()), VectorIndex::new(options));
        for number in 0..before {
            single.insert(number as u32, &clustered(5, number)).unwrap();
            many.insert(number as u32, &clustered(5, number)).unwrap();
        }
        for (round, (count, ids, equal)) in (0u64..).zip(&rounds) {
            // Few identifiers again and again: most slots are dead at some time.
            let vectors: Vec<(u32, Vec<f32>)> = (0..*count)
                .map(|number| {
                    let vector = if *equal { round } else { mixed(seed, round * 10_000 + number) };
                    ((mixed(seed, number) % ids) as u32, clustered(5, vector))
                })
                .collect();
            for (id, vector) in &vectors {
                single.insert(*id, vector).unwrap();
            }
            single.settle(1);
            many.insert_all(vectors.iter().map(|(id, vector)| (*id, &vector[..])), 1 + round as usize % 2).unwrap();
            prop_assert!(file(&single) == file(&many), "after round {round}");
        }
    }
}

/// Insertions one by one, with maintenance as they go, and all at once are the same index.
#[test]
fn all_at_once_is_one_by_one() {
    let options = VectorOptions { dimension: 16, graph_from: 50, ..VectorOptions::default() };
    let vectors: Vec<Vec<f32>> = (0..1800).map(|seed| clustered(16, seed)).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = |index: &VectorIndex, name: &str| {
        index.save(&RealIo, &folder.path().join(name), TAG).unwrap();
        std::fs::read(folder.path().join(name)).unwrap()
    };
    let single = VectorIndex::new(options.clone());
    for (id, vector) in vectors.iter().enumerate() {
        single.insert(id as u32, vector).unwrap();
    }
    single.settle(1);
    let many = VectorIndex::new(options);
    many.insert_all(vectors.iter().enumerate().map(|(id, vector)| (id as u32, &vector[..])), 2).unwrap();
    assert!(file(&single, "single") == file(&many, "many"));
    assert!(!Path::exists(&folder.path().join("single.tmp")));

    // And walks over what it built find what there is to find.
    let mut model = Model::default();
    vectors.iter().enumerate().for_each(|(id, vector)| assert!(model.insert(id as u32, vector)));
    let mut recall = Recall::default();
    for seed in 5000..5040 {
        recall.add(search(&many, &model, &clustered(16, seed), 10, &SearchOptions::default()).1);
    }
    assert!(recall.share() >= 0.95, "{recall:?}");
}
