//! Vectors, identifiers and questions at the edges of what is allowed.

use memcards::Error;
use memcards::index::rows::RowSet;
use memcards::index::vector::{MAXIMUM_DIMENSION, MAXIMUM_ID, SearchOptions, VectorIndex, VectorOptions};
use memcards::store::io::RealIo;

use crate::model::{Model, clustered, search};

fn index(dimension: usize) -> VectorIndex {
    VectorIndex::new(VectorOptions { dimension, graph_from: 50, ..VectorOptions::default() })
}

#[test]
fn vectors_without_a_direction_are_refused() {
    let index = index(3);
    for vector in [
        vec![0.0, 0.0, 0.0],
        vec![f32::NAN, 0.0, 1.0],
        vec![1.0, f32::INFINITY, 0.0],
        vec![f32::NEG_INFINITY, f32::INFINITY, 0.0],
        vec![],
        vec![1.0, 2.0],
        vec![1.0, 2.0, 3.0, 4.0],
    ] {
        let error = index.insert(1, &vector).expect_err("refused");
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some("vector")), "{vector:?}");
        assert!(index.is_empty() && !index.contains(1));
        assert_eq!(index.search(&vector, 5, &SearchOptions::default()), []);
        index.scores(&vector, [1], |_, _| panic!("nothing has a score"));
    }
    index.insert(1, &[1.0, 2.0, 3.0]).unwrap();
    for query in [vec![0.0; 3], vec![f32::NAN; 3], vec![f32::INFINITY; 3], vec![], vec![1.0; 4]] {
        assert_eq!(index.search(&query, 5, &SearchOptions::default()), [], "{query:?}");
        index.scores(&query, [1], |_, _| panic!("nothing has a score"));
    }
}

#[test]
fn huge_and_tiny_vectors_keep_their_direction() {
    for dimension in [2, 100, 300] {
        let index = index(dimension);
        let along = |axis: usize, length: f32| {
            let mut vector = vec![0.0; dimension];
            vector[axis] = length;
            vector
        };
        for (id, length) in [f32::MAX, 1e30, 1.0, 1e-30, f32::MIN_POSITIVE, 1e-45].into_iter().enumerate() {
            index.insert(id as u32 * 2, &along(0, length)).unwrap();
            index.insert(id as u32 * 2 + 1, &along(1, -length)).unwrap();
            let found = index.search(&along(0, length), 100, &SearchOptions::default());
            assert_eq!(found.len(), id * 2 + 2);
            for neighbour in found {
                let expected = if neighbour.id % 2 == 0 { 1.0 } else { 0.0 };
                assert!((neighbour.score - expected).abs() < 1e-6, "{neighbour:?}");
            }
        }
        assert!(index.insert(99, &vec![f32::MAX; dimension]).unwrap());
    }
}

#[test]
fn dimensions_outside_the_range_take_no_vector() {
    for dimension in [0, MAXIMUM_DIMENSION + 1, usize::MAX] {
        let index = index(dimension);
        let vector = vec![1.0; dimension.min(MAXIMUM_DIMENSION + 1)];
        let error = index.insert(0, &vector).expect_err("refused");
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some("dimension")));
        assert!(error.to_string().contains("65536"), "{error}");
        assert_eq!(index.dimension(), dimension);
        assert_eq!(index.search(&vector, 3, &SearchOptions::default()), []);
        assert!(!index.remove(0) && !index.contains(0) && index.is_empty());
        index.settle(1);
        assert!(!index.maintain(1));
        let folder = tempfile::tempdir().unwrap();
        let error = index.save(&RealIo, &folder.path().join("index"), [0, 0]).expect_err("no file");
        assert_eq!(error.field(), Some("dimension"));
    }
}

#[test]
fn the_longest_vectors() {
    let index = index(MAXIMUM_DIMENSION);
    let mut model = Model::default();
    for id in 0..3 {
        let vector = clustered(MAXIMUM_DIMENSION, u64::from(id));
        index.insert(id, &vector).unwrap();
        model.insert(id, &vector);
    }
    let found = search(&index, &model, &clustered(MAXIMUM_DIMENSION, 1), 2, &SearchOptions::default()).2;
    assert_eq!(found[0].id, 1);
}

#[test]
fn identifiers_have_a_limit() {
    let index = index(3);
    for id in [MAXIMUM_ID + 1, u32::MAX] {
        let error = index.insert(id, &[1.0; 3]).expect_err("refused");
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some("id")));
        assert!(error.to_string().contains(&MAXIMUM_ID.to_string()), "{error}");
        assert!(!index.remove(id) && !index.contains(id));
        assert!(index.is_empty());
    }
    // Gaps are addresses only, in memory and in the file.
    let far = 5_000_000;
    index.insert(far, &[1.0, 0.0, 0.0]).unwrap();
    index.insert(2, &[0.0, 1.0, 0.0]).unwrap();
    let allowed: RowSet = [2, far, 6_000_000].into_iter().collect();
    let options = SearchOptions { allowed: Some(&allowed), ef: None };
    let found = index.search(&[1.0, 0.5, 0.0], 5, &options);
    assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [far, 2]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let size = index.save(&RealIo, &path, [0, 0]).unwrap();
    assert!(size < 21_000_000, "{size}");
    let opened = VectorIndex::open(&RealIo, &path, &VectorOptions::default(), [0, 0]).unwrap();
    assert_eq!(opened.search(&[1.0, 0.5, 0.0], 5, &options), found);
    opened.insert(far + 1, &[1.0, 0.5, 0.0]).unwrap();
    assert_eq!(opened.search(&[1.0, 0.5, 0.0], 1, &SearchOptions::default())[0].id, far + 1);
    // Without the far one the file is small again.
    assert!(index.remove(far));
    assert!(index.save(&RealIo, &path, [0, 0]).unwrap() < 2000);
}

#[test]
fn any_number_may_be_wanted() {
    let index = index(7);
    let mut model = Model::default();
    for id in 0..300 {
        let vector = clustered(7, u64::from(id));
        index.insert(id, &vector).unwrap();
        model.insert(id, &vector);
    }
    let everything = RowSet::full(400);
    for settled in [false, true] {
        if settled {
            index.settle(1);
        }
        for allowed in [None, Some(&everything)] {
            for wanted in [0, 1, 299, 300, 301, 1 << 20, usize::MAX - 1, usize::MAX] {
                for ef in [None, Some(0), Some(1), Some(usize::MAX)] {
                    let options = SearchOptions { ef, allowed };
                    search(&index, &model, &clustered(7, 5), wanted, &options);
                }
            }
        }
    }
}

/// All vectors equal, or hundreds of equal ones among others: none is lost.
#[test]
fn equal_vectors_are_all_found() {
    for dimension in [3, 64, 256] {
        for others in [0u32, 300] {
            let index = index(dimension);
            let mut model = Model::default();
            let mut insert = |id: u32, seed: u64| {
                let vector = clustered(dimension, seed);
                index.insert(id, &vector).unwrap();
                model.insert(id, &vector);
            };
            (0..others).for_each(|id| insert(id, u64::from(id)));
            (others..others + 400).for_each(|id| insert(id, 9_999));
            index.settle(1);
            for wanted in [1, 10, 100, 400, 700] {
                let (work, recall, _) =
                    search(&index, &model, &clustered(dimension, 9_999), wanted, &SearchOptions::default());
                assert!(recall.share() >= 0.99, "{dimension} {others} {wanted} {recall:?} {work:?}");
            }
        }
    }
}

/// Replacing one vector over and over neither grows without bound nor loses it.
#[test]
fn one_identifier_over_and_over() {
    let index = index(8);
    for turn in 0..5000u64 {
        assert_eq!(index.insert(7, &clustered(8, turn)).unwrap(), turn == 0);
    }
    assert_eq!(index.len(), 1);
    assert!(index.bytes().vectors < 1000 * 8 * 4, "{:?}", index.bytes());
    let found = index.search(&clustered(8, 4999), 5, &SearchOptions::default());
    assert_eq!(found.len(), 1);
    assert!(found[0].score > 0.999_999);
}

#[test]
fn the_wrong_tag_is_another_state() {
    let index = index(2);
    index.insert(0, &[1.0, 1.0]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index.save(&RealIo, &path, [1, 2]).unwrap();
    let error = VectorIndex::open(&RealIo, &path, &VectorOptions::default(), [1, 3]).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(VectorIndex::open(&RealIo, &path, &VectorOptions::default(), [1, 2]).is_ok());
}
