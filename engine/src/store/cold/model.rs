//! Reads of segments and work on them under the model checker: every order of their steps, up to
//! a number of preemptions. See [`crate::sync`].
//!
//! The list of segments is a number behind a lock here, as a commit publishes it; files are in
//! memory, segments and the bookkeeping of who may still read them are the real ones.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use loom::thread;

use super::ColdStore;
use crate::cold::{ColdCard, Record, SegmentBuilder};
use crate::store::io::{Io, IoFile, OpenMode};
use crate::store::keys::TenantId;
use crate::sync;

const TENANT: TenantId = TenantId(1);

/// Files that are written once, renamed and removed. Each operation is a step for the checker.
#[derive(Clone, Debug, Default)]
struct Memory(Arc<sync::Mutex<BTreeMap<PathBuf, Arc<Vec<u8>>>>>);

#[derive(Debug)]
struct MemoryFile(Memory, PathBuf, Arc<Vec<u8>>);

impl IoFile for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.2.len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.2[offset as usize..offset as usize + out.len()]);
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        assert_eq!(offset, 0);
        self.0.0.lock().insert(self.1.clone(), Arc::new(data.to_vec()));
        Ok(())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Io for Memory {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        let there = self.0.lock().get(path).cloned();
        let bytes = match mode {
            OpenMode::Read => there.ok_or(io::ErrorKind::NotFound)?,
            _ => Arc::default(),
        };
        Ok(Box::new(MemoryFile(self.clone(), path.to_owned(), bytes)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.0.lock();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.lock().remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.0.lock().keys().filter(|name| name.parent() == Some(path)).cloned().collect())
    }

    fn exists(&self, _: &Path) -> bool {
        true
    }

    fn lock(&self, _: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        Ok(None)
    }
}

/// Made once: it takes longer, and more room, than the model has.
static SEGMENTS: LazyLock<[Vec<u8>; 4]> = LazyLock::new(|| [0, 1, 2, 3].map(segment));

fn segment(number: u64) -> Vec<u8> {
    let mut builder = SegmentBuilder::new(TENANT.0, number as u32, 0);
    let versions = [Record::opaque(b"a record")];
    let (terms, vector) = (&[], None);
    let (id, track, flags, length, occurred_at) = ([1; 16], 0, 0, 1, 0);
    builder
        .push(ColdCard { id, track, flags, versions: &versions, vector, terms, length, occurred_at })
        .unwrap();
    builder.finish().unwrap()
}

struct World {
    cold: Arc<ColdStore>,
    /// The segment that is listed.
    listed: sync::Mutex<Option<u64>>,
}

impl World {
    fn new() -> sync::Arc<Self> {
        let cold = Arc::new(ColdStore::new(Arc::new(Memory::default()), Path::new("/store")));
        cold.write((TENANT, 1), &SEGMENTS[1]).unwrap();
        sync::Arc::new(Self { cold, listed: sync::Mutex::new(Some(1)) })
    }

    /// Puts another segment in the place of the one that is listed, as a rewrite does.
    fn rewrite(&self, next: u64) {
        self.cold.write((TENANT, next), &SEGMENTS[next as usize]).unwrap();
        let before = self.listed.lock().replace(next).unwrap();
        self.cold.retire(TENANT, &[before]).unwrap();
    }

    /// What a snapshot lists can be read for as long as the read lasts.
    fn read(&self) {
        let reader = self.cold.reader();
        let Some(listed) = *self.listed.lock() else { return };
        for _ in 0..2 {
            let segment = reader.segment((TENANT, listed)).unwrap();
            assert_eq!(segment.versions(0).unwrap(), [b"a record"]);
        }
    }

    /// Nothing is kept but what is listed once nobody reads.
    fn end(&self) {
        drop(self.cold.reader());
        let listed = *self.listed.lock();
        let open: Vec<u64> = self.cold.open_segments().into_iter().map(|(_, number)| number).collect();
        assert!(open.iter().all(|number| Some(*number) == listed), "{open:?}");
        assert_eq!(self.cold.numbers(TENANT).unwrap(), Vec::from_iter(listed));
    }
}

/// As [`crate::sync::check`], once all that is not looked into is there.
fn check(name: &str, model: impl Fn() + Sync + Send + 'static) {
    LazyLock::force(&SEGMENTS);
    crate::sync::check(name, model);
}

fn run(work: impl FnOnce(&World), readers: usize) {
    let world = World::new();
    let threads: Vec<_> = (0..readers)
        .map(|_| {
            let world = world.clone();
            thread::spawn(move || world.read())
        })
        .collect();
    work(&world);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world.read();
    world.end();
}

#[test]
fn a_read_outlives_a_rewrite() {
    check("a read and a rewrite", || run(|world| world.rewrite(2), 1));
}

#[test]
fn a_read_outlives_two_rewrites() {
    check("a read and two rewrites", || {
        run(
            |world| {
                world.rewrite(2);
                world.rewrite(3);
            },
            1,
        );
    });
}

#[test]
fn two_reads_outlive_a_rewrite() {
    check("two reads and a rewrite", || run(|world| world.rewrite(2), 2));
}

#[test]
fn a_read_outlives_a_wipe() {
    check("a read and a wipe", || {
        run(
            |world| {
                *world.listed.lock() = None;
                world.cold.forget_tenant(TENANT).unwrap();
            },
            1,
        );
    });
}
