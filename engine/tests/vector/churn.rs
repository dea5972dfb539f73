//! An index whose vectors come and go: as good and as small as a fresh one.

use memcards::index::vector::{Maintenance, SearchOptions, VectorBytes, VectorIndex, VectorOptions};
use memcards::store::io::RealIo;

use crate::model::{Model, Recall, clustered, noise, search};

const DIMENSION: usize = 32;
const VECTORS: u32 = 3_000;
const CYCLES: u64 = 8;

fn sum(bytes: VectorBytes) -> usize {
    bytes.vectors + bytes.codes + bytes.links + bytes.other
}

#[test]
fn nine_of_ten_come_and_go() {
    let options = VectorOptions {
        dimension: DIMENSION,
        graph_from: 500,
        maintenance: Maintenance::Background,
        ..VectorOptions::default()
    };
    let mut model = Model::default();
    let index = VectorIndex::new(options.clone());
    for cycle in 0..=CYCLES {
        for id in (0..VECTORS).filter(|id| noise(cycle, u64::from(*id)) < 0.8) {
            assert_eq!(index.remove(id), model.vectors.remove(&id).is_some());
        }
        for id in (0..VECTORS).filter(|id| !model.vectors.contains_key(id)).collect::<Vec<_>>() {
            let vector = clustered(DIMENSION, cycle * 1_000_003 + u64::from(id));
            assert!(index.insert(id, &vector).unwrap());
            model.insert(id, &vector);
            if id % 500 == 0 {
                index.maintain(1);
            }
        }
        // What a background thread would have done by now.
        while index.maintain(2) {}
    }
    index.settle(2);
    let fresh = VectorIndex::new(options);
    let vectors: Vec<(u32, Vec<f32>)> =
        model.vectors.iter().map(|(id, vector)| (*id, vector.iter().map(|x| *x as f32).collect())).collect();
    fresh.insert_all(vectors.iter().map(|(id, vector)| (*id, &vector[..])), 2).unwrap();

    let (mut old, mut new, mut walked) = (Recall::default(), Recall::default(), 0);
    for seed in 0..100 {
        let query = clustered(DIMENSION, 77_000_000 + seed);
        let (work, recall, _) = search(&index, &model, &query, 10, &SearchOptions::default());
        old.add(recall);
        walked += work.walked;
        new.add(search(&fresh, &model, &query, 10, &SearchOptions::default()).1);
    }
    eprintln!("recall {:.4}, {:.4} when fresh; {walked} nodes walked", old.share(), new.share());
    assert!(old.share() >= 0.95 && new.share() >= 0.95);
    let (bytes, bytes_fresh) = (sum(index.bytes()), sum(fresh.bytes()));
    assert!(bytes * 2 <= bytes_fresh * 3, "{bytes} bytes, {bytes_fresh} when fresh");
    let folder = tempfile::tempdir().unwrap();
    let size = index.save(&RealIo, &folder.path().join("old"), [0, 0]).unwrap();
    let size_fresh = fresh.save(&RealIo, &folder.path().join("new"), [0, 0]).unwrap();
    assert!(size * 2 <= size_fresh * 3, "{size} bytes of file, {size_fresh} when fresh");
}
