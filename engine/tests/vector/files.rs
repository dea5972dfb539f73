//! Saving that is interrupted: the old file stays whole.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use memcards::index::vector::{SearchOptions, VectorIndex, VectorOptions, verify_snapshot};
use memcards::store::io::RealIo;

use crate::faulty_io::{FaultyIo, Kind};
use crate::model::clustered;

/// Fails at the n-th operation that changes anything, and at all after it; a write does half
/// of its work first.
fn failing(steps: usize) -> FaultyIo {
    let left = AtomicUsize::new(steps);
    FaultyIo::new(true, move |_| {
        match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("a fault of the test")),
        }
    })
}

#[test]
fn an_interrupted_save_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let options = VectorOptions { dimension: 16, graph_from: 50, ..VectorOptions::default() };
    let index = VectorIndex::new(options.clone());
    let insert = |ids: std::ops::Range<u32>| {
        ids.for_each(|id| assert!(index.insert(id, &clustered(16, u64::from(id))).unwrap()));
        index.settle(1);
    };
    insert(0..100);
    index.save(&RealIo, &path, [1, 0]).unwrap();
    insert(100..200);
    let mut finished = false;
    for steps in 0..60 {
        let io = failing(steps);
        let saved = index.save(&io, &path, [2, 0]);
        verify_snapshot(&RealIo, &path).unwrap();
        let old = VectorIndex::open(&RealIo, &path, &options, [1, 0]);
        let new = VectorIndex::open(&RealIo, &path, &options, [2, 0]);
        assert!(old.is_ok() != new.is_ok(), "step {steps}: one of the two, whole");
        if let Ok(old) = old {
            assert_eq!(old.len(), 100);
            assert!(saved.is_err(), "step {steps}");
        } else if let Ok(new) = new {
            assert_eq!(new.len(), 200);
            let options = SearchOptions::default();
            assert_eq!(
                new.search(&clustered(16, 5), 10, &options),
                index.search(&clustered(16, 5), 10, &options)
            );
        }
        finished |= saved.is_ok();
    }
    assert!(finished, "with enough steps it is saved");
}

/// An insertion that needs more room does not wait for the file that is being written; what
/// it inserts is not in the file.
#[test]
fn an_index_grows_while_it_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let options = VectorOptions { dimension: 16, graph_from: 50, ..VectorOptions::default() };
    let index = Arc::new(VectorIndex::new(options.clone()));
    let vector = |id: u32| clustered(16, u64::from(id));
    (0..100).for_each(|id| assert!(index.insert(id, &vector(id)).unwrap()));
    index.settle(1);
    let (grown, first) = (index.clone(), AtomicBool::new(true));
    let (done, inserted) = mpsc::channel();
    let inserted = std::sync::Mutex::new(inserted);
    let io = FaultyIo::new(false, move |kind| {
        // At the first write: far more than there is room for.
        if kind == Kind::Write && first.swap(false, Ordering::Relaxed) {
            let (grown, done) = (grown.clone(), done.clone());
            std::thread::spawn(move || {
                (100..600).for_each(|id| assert!(grown.append(id, &clustered(16, u64::from(id))).unwrap()));
                done.send(()).unwrap();
            });
            let inserted = inserted.lock().unwrap();
            inserted.recv_timeout(Duration::from_secs(30)).map_err(io::Error::other)?;
        }
        Ok(())
    });
    index.save(&io, &path, [1, 0]).expect("the insertions came to an end meanwhile");
    let opened = VectorIndex::open(&RealIo, &path, &options, [1, 0]).unwrap();
    assert_eq!((opened.len(), index.len()), (100, 600));
    let find = |index: &VectorIndex, id| index.search(&vector(id), 1, &SearchOptions::default())[0].id;
    assert!((0..100).all(|id| find(&opened, id) == id));
    index.settle(1);
    assert!((0..600).all(|id| find(&index, id) == id));
}
