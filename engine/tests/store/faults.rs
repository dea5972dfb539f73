//! File operations that fail, one after the other: whatever was acknowledged is there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memcards::card::CardId;
use memcards::store::io::{Io, IoFile, OpenMode, RealIo};
use memcards::{Correct, Error, Forget, Get, Options, Recall, Remember, Store};

use crate::{EVERYTHING, everything, options};

/// Which operations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Write,
    Sync,
    /// Names: rename, remove, create, list, lock, lengths.
    Name,
}

/// Fails the n-th operation of a kind, and with `lasting` all after it.
#[derive(Clone, Debug)]
struct FaultyIo(Arc<Faults>);

#[derive(Debug)]
struct Faults {
    kind: Kind,
    left: AtomicU64,
    lasting: bool,
    /// Write half of the data before the write fails.
    torn: bool,
    fired: AtomicU64,
}

impl Faults {
    fn check(&self, kind: Kind) -> io::Result<()> {
        if kind != self.kind {
            return Ok(());
        }
        let before = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if before == Ok(1) || (before == Err(0) && self.lasting) {
            self.fired.fetch_add(1, Ordering::SeqCst);
            return Err(io::Error::other("a fault of the test"));
        }
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyFile(Box<dyn IoFile>, Arc<Faults>);

impl IoFile for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Err(error) = self.1.check(Kind::Write) {
            if self.1.torn {
                self.0.write_at(offset, &data[..data.len() / 2])?;
            }
            return Err(error);
        }
        self.0.write_at(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.check(Kind::Name)?;
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.1.check(Kind::Sync)?;
        self.0.sync()
    }
}

impl Io for FaultyIo {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        if mode != OpenMode::Read {
            self.0.check(Kind::Name)?;
        }
        Ok(Box::new(FaultyFile(RealIo.open(path, mode)?, self.0.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.check(Kind::Name)?;
        RealIo.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.check(Kind::Name)?;
        RealIo.remove(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.0.check(Kind::Name)?;
        RealIo.create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        RealIo.remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.0.check(Kind::Sync)?;
        RealIo.sync_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        RealIo.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        RealIo.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        self.0.check(Kind::Name)?;
        Ok(RealIo.lock(path)?.map(|file| Box::new(FaultyFile(file, self.0.clone())) as Box<dyn IoFile>))
    }
}

/// What was acknowledged: versions of cards.
type Acknowledged = BTreeMap<CardId, u32>;

/// A short workload; stops nowhere, notes what succeeded, and gives the errors.
fn work(store: &Store, label: &str, acknowledged: &mut Acknowledged) -> Vec<Error> {
    let tenant = store.tenant("anna").unwrap();
    let mut errors = Vec::new();
    let mut last;
    for n in 0..12 {
        let request = Remember {
            content: format!("entry {label}{n}z"),
            vector: Some(vec![n as f32, 1.0, 0.0]),
            ..Remember::default()
        };
        match tenant.remember(request) {
            Ok(answer) => {
                acknowledged.insert(answer.id, answer.version);
                last = Some(answer.id);
            }
            Err(error) => {
                errors.push(error);
                last = None;
            }
        }
        let Some(id) = last else { continue };
        if n % 3 == 1 {
            let request = Correct { id, summary: Some(format!("summary {n}")), ..Correct::default() };
            match tenant.correct(request) {
                Ok(answer) => drop(acknowledged.insert(answer.id, answer.version)),
                Err(error) => errors.push(error),
            }
        }
        if n % 4 == 2 {
            match tenant.forget(Forget { id: Some(id), ..Forget::default() }) {
                Ok(_) => *acknowledged.get_mut(&id).unwrap() += 1,
                Err(error) => errors.push(error),
            }
        }
    }
    errors
}

/// Every acknowledged version, or a later one that was under way, is there.
fn check(store: &Store, acknowledged: &Acknowledged, what: &str) {
    let tenant = store.tenant("anna").unwrap();
    for (id, version) in acknowledged {
        let get = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
        let found = tenant.get(&get).unwrap_or_else(|error| panic!("{what}: card {id} is lost: {error}"));
        assert!(found.version >= *version, "{what}: card {id} has version {}, not {version}", found.version);
    }
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{what}: {:?}", report.findings);
}

fn sweep(kind: Kind, lasting: bool, torn: bool) {
    let mut number = 1;
    let mut refused = 0;
    loop {
        let what = format!("{kind:?} {number}, lasting {lasting}, torn {torn}");
        let directory = tempfile::tempdir().unwrap();
        let faults =
            Arc::new(Faults { kind, left: AtomicU64::new(number), lasting, torn, fired: AtomicU64::new(0) });
        let fired = || faults.fired.load(Ordering::SeqCst) > 0;
        let mut acknowledged = Acknowledged::new();
        let faulty = Options { io: Arc::new(FaultyIo(faults.clone())), ..options() };
        match Store::open(directory.path(), faulty) {
            Err(error) => {
                assert!(fired(), "{what}: {error}");
                assert!(matches!(error.code(), "unavailable" | "read_only" | "internal"), "{what}: {error}");
            }
            Ok(store) => {
                let errors = work(&store, "q", &mut acknowledged);
                for error in &errors {
                    assert_eq!(error.code(), "read_only", "{what}: {error}");
                }
                if !errors.is_empty() {
                    refused += 1;
                    assert!(store.statistics().unwrap().read_only.is_some(), "{what}");
                    // Refused for good, also when the fault was a passing one.
                    let tenant = store.tenant("anna").unwrap();
                    let request = Remember { content: "one more".into(), ..Remember::default() };
                    assert_eq!(tenant.remember(request).unwrap_err().code(), "read_only", "{what}");
                    // Reads go on.
                    for id in acknowledged.keys() {
                        let get = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
                        tenant.get(&get).unwrap_or_else(|error| panic!("{what}: reading {id}: {error}"));
                    }
                    let found =
                        everything(&tenant).unwrap_or_else(|error| panic!("{what}: {error}")).cards.len();
                    assert!(found >= acknowledged.len(), "{what}");
                    let request = Recall { vector: Some(vec![1.0, 1.0, 0.0]), ..Recall::default() };
                    tenant.recall(request).unwrap_or_else(|error| panic!("{what}: {error}"));
                } else {
                    assert_eq!(acknowledged.len(), 12, "{what}");
                }
            }
        }
        let store =
            Store::open(directory.path(), options()).unwrap_or_else(|error| panic!("{what}: {error}"));
        check(&store, &acknowledged, &what);
        let mut more = acknowledged.clone();
        assert!(work(&store, "r", &mut more).is_empty(), "{what}: writing after reopening");
        check(&store, &more, &what);
        if !fired() {
            break;
        }
        number += 1;
    }
    println!("{kind:?} lasting {lasting} torn {torn}: {number} runs, {refused} of them with refused writes");
    assert!(number > 3 && (kind == Kind::Name || refused > 3), "the faults do not reach the store");
}

#[test]
fn a_failed_write_loses_nothing_acknowledged() {
    sweep(Kind::Write, false, false);
}

#[test]
fn a_torn_write_loses_nothing_acknowledged() {
    sweep(Kind::Write, true, true);
}

#[test]
fn a_failed_fsync_loses_nothing_acknowledged() {
    sweep(Kind::Sync, false, false);
    sweep(Kind::Sync, true, false);
}

#[test]
fn a_failed_name_or_length_loses_nothing_acknowledged() {
    sweep(Kind::Name, false, false);
}
