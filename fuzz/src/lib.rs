//! What the targets share: a file system in memory, so that a target can open thousands of
//! stores a second and can never touch a file of the machine; and [`world`].

pub mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memcards::store::io::{Io, IoFile, OpenMode};
use memcards::{ManualClock, Options, Store, Timestamp};

type Bytes = Arc<Mutex<Vec<u8>>>;

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct MemoryIo {
    files: Arc<Mutex<BTreeMap<PathBuf, Bytes>>>,
    directories: Arc<Mutex<BTreeSet<PathBuf>>>,
}

#[derive(Debug)]
struct MemoryFile(Bytes);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl MemoryIo {
    /// Puts a file there.
    pub fn put(&self, path: impl Into<PathBuf>, bytes: Vec<u8>) {
        lock(&self.files).insert(path.into(), Arc::new(Mutex::new(bytes)));
    }
}

impl IoFile for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.0).len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = lock(&self.0);
        let start = offset as usize;
        let end = start.checked_add(out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut bytes = lock(&self.0);
        let end = offset as usize + data.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(data);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        lock(&self.0).resize(len as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Io for MemoryIo {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        let mut files = lock(&self.files);
        let there = files.get(path).cloned();
        let bytes = match (mode, there) {
            (OpenMode::Read, there) => there.ok_or_else(missing)?,
            (OpenMode::CreateNew, Some(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            (OpenMode::ReadWrite, Some(there)) => there,
            (OpenMode::Truncate, Some(there)) => {
                lock(&there).clear();
                there
            }
            (_, None) => files.entry(path.to_owned()).or_default().clone(),
        };
        Ok(Box::new(MemoryFile(bytes)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = lock(&self.files);
        let moved: Vec<PathBuf> = files.keys().filter(|path| path.starts_with(from)).cloned().collect();
        if moved.is_empty() && !lock(&self.directories).contains(from) {
            return Err(missing());
        }
        for path in moved {
            let rest = path.strip_prefix(from).unwrap_or(Path::new("")).to_owned();
            let target = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
            if let Some(bytes) = files.remove(&path) {
                files.insert(target, bytes);
            }
        }
        let mut directories = lock(&self.directories);
        if directories.remove(from) {
            directories.insert(to.to_owned());
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        lock(&self.files).remove(path).map(drop).ok_or_else(missing)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        lock(&self.directories).insert(path.to_owned());
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        lock(&self.directories).remove(path);
        Ok(())
    }

    fn sync_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let names: BTreeSet<PathBuf> = lock(&self.files)
            .keys()
            .chain(lock(&self.directories).iter())
            .filter_map(|name| Some(path.join(name.strip_prefix(path).ok()?.components().next()?)))
            .collect();
        Ok(names.into_iter().collect())
    }

    fn exists(&self, path: &Path) -> bool {
        lock(&self.files).keys().any(|name| name.starts_with(path)) || lock(&self.directories).contains(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.exists(path) && !lock(&self.files).contains_key(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        self.open(path, OpenMode::ReadWrite).map(Some)
    }
}

/// A clock that stands still until it is set.
pub fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(Timestamp::from_micros(1_700_000_000_000_000)))
}

/// A store in memory; one that is there is opened again.
pub fn store_at(io: &MemoryIo, directory: &str, clock: Arc<ManualClock>) -> Store {
    let options = Options { io: Arc::new(io.clone()), clock, cache_bytes: 1 << 20, ..Options::default() };
    Store::open(directory, options).expect("a store in memory opens")
}

/// A new store in memory, with a clock that stands still.
pub fn store(io: &MemoryIo, directory: &str) -> Store {
    store_at(io, directory, clock())
}
