//! Saving that is interrupted: the old file stays whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memcards::index::vector::{SearchOptions, VectorIndex, VectorOptions, verify_snapshot};
use memcards::store::io::{Io, IoFile, OpenMode, RealIo};

use crate::model::clustered;

/// Fails at the n-th operation that changes anything, after half of a write.
#[derive(Clone, Debug)]
struct Failing(Arc<AtomicUsize>);

impl Failing {
    fn step(&self) -> io::Result<()> {
        match self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("a fault of the test")),
        }
    }
}

#[derive(Debug)]
struct FailingFile(Box<dyn IoFile>, Failing);

impl IoFile for FailingFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Err(error) = self.1.step() {
            self.0.write_at(offset, &data[..data.len() / 2])?;
            return Err(error);
        }
        self.0.write_at(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.step()?;
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.1.step()?;
        self.0.sync()
    }
}

impl Io for Failing {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        if mode != OpenMode::Read {
            self.step()?;
        }
        Ok(Box::new(FailingFile(RealIo.open(path, mode)?, self.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        RealIo.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealIo.remove(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        RealIo.create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        RealIo.remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        RealIo.sync_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        RealIo.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        RealIo.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        RealIo.lock(path)
    }
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
        let io = Failing(Arc::new(AtomicUsize::new(steps)));
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
