//! The store file as it is open: whole, or what can still be read of it.
//!
//! redb gives up for good when an operation on its file fails, and does not open a damaged
//! file. Then a second view takes over that only reads: the last commit, with marks in the place of
//! damaged pages. Knows redb's handles and the pages, nothing of tables.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use redb::ReadableDatabase;

use parking_lot::{Mutex, MutexGuard};

use crate::store::damage::Tolerant;
use crate::store::io::{Io, OpenMode, at};
use crate::store::pages::Pages;
use crate::store::tables::{ReadBytes, Tables, storage};
use crate::{Error, Result};

/// How a file is open.
enum Handle {
    Whole(redb::Database),
    /// After a failure, or where the file is damaged: what can still be read of it.
    ReadOnly(redb::ReadOnlyDatabase),
}

/// An open file.
pub(crate) struct OpenFile {
    handle: Handle,
    pages: Arc<Pages>,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl OpenFile {
    /// A file that is read and written.
    pub(crate) fn whole(database: redb::Database, pages: Arc<Pages>) -> Self {
        Self { handle: Handle::Whole(database), pages }
    }

    /// What can still be read of a file whose pages these are.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when that is nothing.
    pub(crate) fn read_only(io: &dyn Io, path: &Path, cache_bytes: usize, pages: &Pages) -> Result<Self> {
        let pages = pages.salvage(at(path, io.open(path, OpenMode::Read))?);
        let database = redb::Database::builder()
            .set_cache_size(cache_bytes)
            // The only one in which redb does not ask how the file was closed.
            .set_concurrency_mode(redb::ConcurrencyMode::SingleWriter)
            .open_read_only_with_backend(pages.backend())
            .map_err(storage)?;
        Ok(Self { handle: Handle::ReadOnly(database), pages })
    }

    /// A consistent view of the table.
    pub(crate) fn read(&self) -> Result<Tables<impl ReadBytes + use<>>> {
        let transaction = {
            // It reads the page from which all others are found.
            let _tolerant = Tolerant::here();
            match &self.handle {
                Handle::Whole(database) => database.begin_read(),
                Handle::ReadOnly(database) => database.begin_read(),
            }
        };
        Tables::read(&transaction.map_err(storage)?, self.pages.damage())
    }

    /// A transaction that writes.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] when a page is known to be damaged: what would be written beside it
    /// could take its last traces away.
    pub(super) fn write(&self) -> Result<redb::WriteTransaction> {
        self.check()?;
        match &self.handle {
            Handle::Whole(database) => database.begin_write().map_err(storage),
            Handle::ReadOnly(_) => {
                Err(Error::ReadOnly { reason: "the store file is open for reading alone".into() })
            }
        }
    }

    /// # Errors
    /// [`Error::ReadOnly`] when a damaged page was met.
    pub(super) fn check(&self) -> Result<()> {
        match self.pages.damage().first() {
            None => Ok(()),
            Some(page) => Err(Error::ReadOnly { reason: format!("{DAMAGED} ({page})") }),
        }
    }

    /// True when redb does nothing more with it, and a view that only reads may.
    pub(crate) fn has_given_up(&self) -> bool {
        matches!(self.handle, Handle::Whole(_)) && self.pages.has_failed()
    }

    /// Its pages.
    pub(crate) fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }
}

/// Why nothing is written any more.
const DAMAGED: &str = "the store file is damaged, `memcards repair` saves what can be read";

/// The file that is written and read. A compacted one may take its place.
#[derive(Debug)]
pub(crate) struct StoreFile {
    present: ArcSwap<OpenFile>,
    /// Held while a commit is under way, and while the file is replaced.
    gate: Mutex<()>,
    io: Arc<dyn Io>,
    path: PathBuf,
    /// Of redb, in bytes.
    cache_bytes: usize,
}

impl StoreFile {
    /// An open file, and where it is.
    pub(crate) fn new(file: OpenFile, io: Arc<dyn Io>, path: PathBuf, cache_bytes: usize) -> Self {
        Self { present: ArcSwap::from_pointee(file), gate: Mutex::new(()), io, path, cache_bytes }
    }

    /// From now on this file is only read, unless another one has taken its place already; gives
    /// the one that is there then. Needs no gate: whoever holds that may read, too.
    ///
    /// # Errors
    /// When nothing can be read of it.
    pub(super) fn read_only(&self, present: &Arc<OpenFile>) -> Result<Arc<OpenFile>> {
        let file = OpenFile::read_only(&*self.io, &self.path, self.cache_bytes, present.pages())?;
        self.present.compare_and_swap(present, Arc::new(file));
        Ok(self.get())
    }

    /// The file as it is.
    pub(crate) fn get(&self) -> Arc<OpenFile> {
        self.present.load_full()
    }

    /// Keeps commits out while the guard lives.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.gate.lock()
    }

    /// Puts another file, which holds the same, in its place. Commits must be kept out.
    pub(crate) fn replace(&self, file: OpenFile) {
        self.present.store(Arc::new(file));
    }
}
