//! A file system whose operations are asked about before they happen: they may fail, be torn,
//! or be acknowledged without having been done.

use crate::disk::crash::SECTOR;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::store::io::{Io, IoFile, OpenMode};

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes read, lengths, lists of names, files opened for reading.
    Read,
    /// Bytes written.
    Write,
    /// A file made durable.
    Sync,
    /// A directory made durable.
    SyncDirectory,
    /// Names: open for writing, rename, remove, create, lock; lengths.
    Name,
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It happens.
    Do,
    /// It fails and does nothing.
    Fail(io::ErrorKind),
    /// A write of which half is done fails; others fail as they are.
    Tear(io::ErrorKind),
    /// It is said to have happened.
    Pretend,
}

type Hook = dyn Fn(Kind, &Path) -> Verdict + Send + Sync;

/// Files of another file system behind a hook.
#[derive(Clone)]
pub struct HookedIo {
    inner: Arc<dyn Io>,
    hook: Arc<Hook>,
}

impl fmt::Debug for HookedIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HookedIo").field(&self.inner).finish()
    }
}

impl HookedIo {
    /// Asks `hook` before every operation.
    pub fn new(inner: Arc<dyn Io>, hook: impl Fn(Kind, &Path) -> Verdict + Send + Sync + 'static) -> Self {
        Self { inner, hook: Arc::new(hook) }
    }

    /// Does an operation, or what the hook says instead; `None` where it is pretended.
    fn ask<T>(&self, kind: Kind, path: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        match (self.hook)(kind, path) {
            Verdict::Do => work().map(Some),
            Verdict::Pretend => Ok(None),
            Verdict::Fail(error) | Verdict::Tear(error) => Err(error.into()),
        }
    }

    fn wrap(&self, path: &Path, file: Box<dyn IoFile>) -> Box<dyn IoFile> {
        Box::new(HookedFile { file, path: path.to_owned(), io: self.clone() })
    }
}

/// What cannot be pretended, since something has to come back, happens.
fn happened<T>(answer: Option<T>, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    answer.map_or_else(work, Ok)
}

impl Io for HookedIo {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        let kind = if mode == OpenMode::Read { Kind::Read } else { Kind::Name };
        let open = || self.inner.open(path, mode);
        Ok(self.wrap(path, happened(self.ask(kind, path, open)?, open)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Kind::Name, to, || self.inner.rename(from, to)).map(drop)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.ask(Kind::Name, path, || self.inner.remove(path)).map(drop)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.ask(Kind::Name, path, || self.inner.create_directory(path)).map(drop)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.ask(Kind::Name, path, || self.inner.remove_directory(path)).map(drop)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.ask(Kind::SyncDirectory, path, || self.inner.sync_directory(path)).map(drop)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let list = || self.inner.list(path);
        happened(self.ask(Kind::Read, path, list)?, list)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.inner.is_directory(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        let lock = || self.inner.lock(path);
        let locked = happened(self.ask(Kind::Name, path, lock)?, lock)?;
        Ok(locked.map(|file| self.wrap(path, file)))
    }
}

#[derive(Debug)]
struct HookedFile {
    file: Box<dyn IoFile>,
    path: PathBuf,
    io: HookedIo,
}

impl IoFile for HookedFile {
    fn len(&self) -> io::Result<u64> {
        let len = || self.file.len();
        happened(self.io.ask(Kind::Read, &self.path, len)?, len)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.io.ask(Kind::Read, &self.path, || self.file.read_at(offset, out)).map(drop)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match (self.io.hook)(Kind::Write, &self.path) {
            Verdict::Do => self.file.write_at(offset, data),
            Verdict::Pretend => Ok(()),
            Verdict::Fail(error) => Err(error.into()),
            Verdict::Tear(error) => {
                // Sectors are written whole or not at all.
                self.file.write_at(offset, &data[..data.len() / 2 / SECTOR * SECTOR])?;
                Err(error.into())
            }
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.io.ask(Kind::Name, &self.path, || self.file.set_len(len)).map(drop)
    }

    fn sync(&self) -> io::Result<()> {
        self.io.ask(Kind::Sync, &self.path, || self.file.sync()).map(drop)
    }
}
