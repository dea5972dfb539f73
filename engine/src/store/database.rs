//! Opening a store directory: the one place that does it.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::card::CardId;
use crate::store::batch::{Batch, META_NEXT_TENANT};
use crate::store::cold::ColdStore;
use crate::store::file::{OpenFile, StoreFile};
use crate::store::io::{Io, IoFile, OpenMode, Reader, at};
use crate::store::keys::{Lookup, TenantId};
use crate::store::lookups::Lookups;
use crate::store::pages::{Content, Pages};
use crate::store::tables::{ReadBytes, Tables, storage};
use crate::store::writer::{Observer, Writer, WriterBounds};
use crate::{Error, Result};

/// Version of everything on disk that this build writes.
const FORMAT: u64 = 1;
const META_FORMAT: &str = "format";
const META_SEED: &str = "seed";
const META_MODEL: &str = "model";
const META_GENERATION: &str = "generation";
const META_REEMBEDDING: &str = "reembedding";

/// Name of the redb file in the store directory.
pub(crate) const STORE_FILE: &str = "memcards.redb";
/// The same file while it is being made.
pub(crate) const NEW_STORE_FILE: &str = "memcards.redb.new";
const LOCK_FILE: &str = "LOCK";
const INDEX_DIRECTORY: &str = "index";

/// Which model made the vectors of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelRecord {
    /// The embedder's `model_id`, or [`ModelRecord::CALLER`].
    pub(crate) id: String,
    /// Length of every vector.
    pub(crate) dimension: usize,
}

impl ModelRecord {
    /// Stands for vectors that callers hand in.
    pub(crate) const CALLER: &'static str = "caller-supplied";

    /// True when callers hand in the vectors.
    pub(crate) fn is_caller(&self) -> bool {
        self.id == Self::CALLER
    }
}

impl std::fmt::Display for ModelRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} dimensions)", self.id, self.dimension)
    }
}

/// How to open a store directory.
pub(crate) struct DatabaseOptions {
    pub(crate) io: Arc<dyn Io>,
    /// redb's page cache, bytes.
    pub(crate) cache_bytes: usize,
    /// Memory for exact look-ups, bytes.
    pub(crate) lookup_bytes: usize,
    /// Writers that may wait.
    pub(crate) queue: usize,
    /// Writers in one commit.
    pub(crate) batch: usize,
    /// Seed of identifiers for a store that is created now.
    pub(crate) seed: u64,
    /// Check every page while opening.
    pub(crate) check_integrity: bool,
    /// Create the directory and the store when missing.
    pub(crate) create: bool,
    /// The model that will make vectors, if there is one.
    pub(crate) model: Option<ModelRecord>,
    /// Whether it may take the place of another one.
    pub(crate) replace_model: bool,
}

/// Where in a file a byte of what was read stands.
pub(crate) type OffsetOf = fn(u64) -> u64;

/// An open store directory.
#[derive(Debug)]
pub(crate) struct Database {
    // Dropped in this order: the writer first (it ends its thread), the lock last.
    writer: Writer,
    file: Arc<StoreFile>,
    lookups: Arc<Lookups>,
    cold: Arc<ColdStore>,
    /// Of redb, in bytes.
    cache_bytes: usize,
    io: Arc<dyn Io>,
    directory: PathBuf,
    generation: u16,
    _lock: Box<dyn IoFile>,
}

impl Database {
    /// Opens (or creates) the store in a directory.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process owns it; [`Error::Corrupt`] when the file is
    /// damaged; [`Error::NotFound`] when there is no store and `create` is off;
    /// [`Error::Unavailable`] for a format this build does not know;
    /// [`Error::ModelMismatch`] when the vectors come from another model.
    pub(crate) fn open(directory: &Path, options: &DatabaseOptions, observer: Observer) -> Result<Self> {
        let io = options.io.clone();
        let file = directory.join(STORE_FILE);
        if !io.exists(&file) && !options.create {
            return Err(Error::NotFound { what: format!("a store in {}", directory.display()) });
        }
        let new_directory = !io.exists(directory);
        at(directory, io.create_directory(directory))?;
        let lock = take_lock(io.as_ref(), directory)?;
        // Asked again: another process may have made it before this one had the lock.
        let exists = io.exists(&file);
        // A new store gets its name when it is complete: one that was cut short is no store.
        let (path, mode) = match exists {
            true => (file.clone(), OpenMode::ReadWrite),
            false => (directory.join(NEW_STORE_FILE), OpenMode::Truncate),
        };
        let opened = at(&path, io.open(&path, mode))?;
        let open = match exists {
            true => open_file(opened, &path, options)?,
            false => create_file(opened, &path, options)?,
        };
        let seed = match exists {
            // Where the store's settings are lost nothing is written, so nothing needs the seed.
            true => known(&open, check_format(&open))?,
            false => initialise(&open, options.seed)?,
        };
        if !exists {
            at(&file, io.rename(&path, &file))?;
            at(directory, io.sync_directory(directory))?;
            if new_directory {
                let above = crate::store::io::parent(directory);
                at(above, io.sync_directory(above))?;
            }
        }
        let generation = settle_model(&open, options.model.as_ref(), options.replace_model);
        let generation = known(&open, generation)?;
        let file = Arc::new(StoreFile::new(open, io.clone(), file, options.cache_bytes));
        let bounds = WriterBounds { queue: options.queue, batch: options.batch };
        let index = directory.join(INDEX_DIRECTORY);
        let lookups = Arc::new(Lookups::new(io.clone(), index, options.lookup_bytes));
        let cold = Arc::new(ColdStore::new(io.clone(), directory));
        let beside = (lookups.clone(), cold.clone());
        let writer = Writer::start(file.clone(), beside, (seed, generation), bounds, observer)?;
        let directory = directory.to_owned();
        let cache_bytes = options.cache_bytes;
        Ok(Self { writer, file, lookups, cold, cache_bytes, io, directory, generation, _lock: lock })
    }

    /// A consistent view of everything committed so far.
    pub(crate) fn read(&self) -> Result<Tables<impl ReadBytes + use<>>> {
        let cold = self.cold.reader();
        let mut file = self.file.get();
        if file.has_given_up() {
            // A failure that no commit was told of: reads go on beside redb.
            file = self.file.read_only(&file)?;
        }
        let read = file.read()?;
        Ok(read.with_generation(self.generation).with_cold(cold).with_file(file))
    }

    /// The segment files.
    pub(crate) fn cold(&self) -> &ColdStore {
        &self.cold
    }

    /// Counts the models that the store has had. It stays the same while the store is open.
    pub(crate) fn generation(&self) -> u16 {
        self.generation
    }

    /// True while there are vectors of an earlier model.
    pub(crate) fn is_reembedding(&self) -> Result<bool> {
        Ok(self.read()?.meta_number(META_REEMBEDDING)?.unwrap_or(0) > 0)
    }

    /// Runs `work` in the next commit; see [`Writer::write`].
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.write(work)
    }

    /// Makes sure that a tenant's exact look-ups are in memory, so that the next write to it
    /// does not keep the others waiting.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn load_lookups(&self, tenant: TenantId) -> Result<()> {
        if self.lookups.is_loaded(tenant) {
            return Ok(());
        }
        let tables = self.read()?;
        let (last, _) = tables.last_change(tenant)?;
        self.lookups.open(&tables, tenant, last)?;
        self.lookups.make_room();
        Ok(())
    }

    /// The exact look-ups in memory.
    pub(crate) fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// Where an exact look-up leads, for who reads: the card may have changed since the snapshot.
    pub(crate) fn leads_to<T: ReadBytes>(
        &self,
        tables: &Tables<T>,
        tenant: TenantId,
        lookup: &Lookup<'_>,
    ) -> Result<Option<CardId>> {
        let (upto, _) = tables.last_change(tenant)?;
        Ok(self.lookups.open(tables, tenant, upto)?.get(&lookup.key()))
    }

    /// The file that is written and read.
    pub(super) fn file(&self) -> &StoreFile {
        &self.file
    }

    /// Of redb, in bytes.
    pub(super) fn cache_bytes(&self) -> usize {
        self.cache_bytes
    }

    /// Refuses all writes until the store is reopened.
    pub(super) fn refuse_writes(&self, reason: String) {
        self.writer.refuse(reason);
    }

    /// The seed of the store.
    pub(crate) fn seed(&self) -> Result<u64> {
        let seed = self.read()?.meta_number(META_SEED)?;
        seed.ok_or_else(|| Error::corrupt("table meta key seed", "the seed is missing"))
    }

    /// The directory of the store.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Why writes are refused, if they are.
    pub(crate) fn write_failure(&self) -> Option<String> {
        self.writer.failure().or_else(|| self.file.get().check().err().map(|error| error.to_string()))
    }

    /// Refuses where no write would be taken.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], which says what to do, after a failed commit or where a page is damaged.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.writer.failure() {
            Some(reason) => Err(Error::ReadOnly { reason }),
            None => self.file.get().check(),
        }
    }

    /// The seam to the file system.
    pub(crate) fn io(&self) -> &dyn Io {
        self.io.as_ref()
    }

    /// A file's bytes from its start to its end, and where in the file each of them stands. Of the
    /// store file those that redb has written: a text may run across the checksums between.
    pub(crate) fn reader(&self, path: &Path) -> Result<(Box<dyn Read>, OffsetOf)> {
        if path == self.directory.join(STORE_FILE) {
            return Ok((Box::new(self.file.get().pages().content()), Content::offset_of));
        }
        Ok((Box::new(Reader::open(self.io(), path)?), |at| at))
    }

    /// Where derived index files live.
    pub(crate) fn index_directory(&self) -> PathBuf {
        self.directory.join(INDEX_DIRECTORY)
    }

    /// True when a page of the store file, in use or not, does not fit its checksum.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn is_file_damaged(&self) -> Result<bool> {
        let (file, mut damaged) = (self.file.get(), false);
        file.pages().check(|| self.file.hold(), |_| damaged = true)?;
        Ok(damaged || file.check().is_err())
    }

    /// Size of the store file in bytes.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        let file = self.directory.join(STORE_FILE);
        at(&file, self.io.open(&file, OpenMode::Read).and_then(|opened| opened.len()))
    }

    /// The model whose vectors the store holds; `None` before the first vector.
    pub(crate) fn model(&self) -> Result<Option<ModelRecord>> {
        read_model(&self.read()?)
    }
}

/// The model recorded in the tables.
pub(crate) fn read_model<T: ReadBytes>(tables: &Tables<T>) -> Result<Option<ModelRecord>> {
    let Some(json) = tables.meta(META_MODEL)? else { return Ok(None) };
    serde_json::from_slice(&json).map(Some).map_err(|e| Error::corrupt("table meta key model", e.to_string()))
}

impl Batch<'_> {
    /// Refuses a model that differs from the store's; true when none is recorded yet.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] when the store holds another model's vectors.
    pub(crate) fn check_model(&self, offered: &ModelRecord) -> Result<bool> {
        match self.model()? {
            Some(stored) if stored == offered => Ok(false),
            Some(stored) => {
                Err(Error::ModelMismatch { stored: stored.to_string(), offered: offered.to_string() })
            }
            None => Ok(true),
        }
    }

    /// Records the model of the store's vectors where none is recorded yet.
    ///
    /// # Errors
    /// As [`Batch::check_model`].
    pub(crate) fn require_model(&mut self, offered: &ModelRecord) -> Result<()> {
        if self.check_model(offered)? {
            self.put_meta(META_MODEL, &encode_model(offered)?)?;
            self.remember_model(offered.clone());
        }
        Ok(())
    }

    /// Notes that no vector of an earlier model is left.
    pub(crate) fn end_reembedding(&mut self) -> Result<()> {
        if self.tables().meta_number(META_REEMBEDDING)?.unwrap_or(0) > 0 {
            self.put_meta_number(META_REEMBEDDING, 0)?;
        }
        Ok(())
    }
}

/// Checks the model that is offered against that of the vectors; gives their generation. A
/// model that may take another one's place does so here, before anything is read or
/// written: from then on vectors of earlier generations are left alone until they are made
/// anew.
fn settle_model(file: &OpenFile, offered: Option<&ModelRecord>, replace: bool) -> Result<u16> {
    let tables = file.read()?;
    let number = tables.meta_number(META_GENERATION)?.unwrap_or(0);
    let generation = u16::try_from(number)
        .map_err(|_| Error::corrupt("table meta key generation", format!("{number} is too large")))?;
    let (Some(stored), Some(offered)) = (read_model(&tables)?, offered) else { return Ok(generation) };
    if stored == *offered || (stored.is_caller() && !replace) {
        return Ok(generation);
    }
    if !replace {
        return Err(Error::ModelMismatch { stored: stored.to_string(), offered: offered.to_string() });
    }
    let next = generation.checked_add(1).ok_or_else(|| Error::LimitExceeded {
        what: "embedding models in the life of a store".into(),
        limit: u64::from(u16::MAX),
    })?;
    let transaction = file.write()?;
    {
        let mut tables = Tables::write(&transaction, file.pages().damage())?;
        tables.put_meta(META_MODEL, &encode_model(offered)?)?;
        tables.put_meta(META_GENERATION, &u64::from(next).to_le_bytes())?;
        tables.put_meta(META_REEMBEDDING, &1u64.to_le_bytes())?;
    }
    transaction.commit().map_err(storage)?;
    tracing::info!(%stored, %offered, "the store has another embedding model from now on");
    Ok(next)
}

fn encode_model(model: &ModelRecord) -> Result<Vec<u8>> {
    serde_json::to_vec(model).map_err(|e| Error::Internal(format!("encoding the model's name: {e}")))
}

/// Takes the directory's lock and registers this process as the owner.
fn take_lock(io: &dyn Io, directory: &Path) -> Result<Box<dyn IoFile>> {
    let path = directory.join(LOCK_FILE);
    match at(&path, io.lock(&path))? {
        Some(file) => {
            let owner = format!("process {}", std::process::id());
            at(&path, file.set_len(0).and_then(|()| file.write_at(0, owner.as_bytes())))?;
            Ok(file)
        }
        None => {
            let owner = match crate::store::io::read_file(io, &path)? {
                Some(bytes) if !bytes.is_empty() => String::from_utf8_lossy(&bytes).into_owned(),
                _ => "another process".into(),
            };
            Err(Error::Locked { path: directory.to_owned(), owner })
        }
    }
}

/// Opens an existing store file; read-only where it is damaged.
fn open_file(file: Box<dyn IoFile>, path: &Path, options: &DatabaseOptions) -> Result<OpenFile> {
    let pages = Pages::open(file, path)?;
    // Where a file was not closed in order redb reads pages that nobody has checked yet.
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let redb = open_redb(&pages, path, options, options.check_integrity)?;
        pages.settle()?;
        Ok(redb)
    }));
    let opened = opened.unwrap_or_else(|_| Err(Error::Internal("a panic while it was opened".into())));
    // redb tells of what it gave up for, not of what it met first.
    let opened = opened.map_err(|error| match (error, pages.damage().first()) {
        (_, Some(page)) => Error::corrupt(page.place(), page.detail),
        (Error::Internal(detail), None) => Error::corrupt(path.display().to_string(), detail),
        (error, None) => error,
    });
    match opened {
        Ok(redb) => Ok(OpenFile::whole(redb, pages)),
        Err(error @ Error::Corrupt { .. }) => {
            tracing::error!(%error, "the store file is damaged; it is only read");
            let read_only = OpenFile::read_only(&*options.io, path, options.cache_bytes, &pages);
            pages.damage().note_whole(&error);
            read_only.map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

/// Makes a store file.
fn create_file(file: Box<dyn IoFile>, path: &Path, options: &DatabaseOptions) -> Result<OpenFile> {
    let pages = Pages::create(file, path);
    Ok(OpenFile::whole(open_redb(&pages, path, options, false)?, pages))
}

fn open_redb(
    pages: &Arc<Pages>,
    path: &Path,
    options: &DatabaseOptions,
    check: bool,
) -> Result<redb::Database> {
    let mut builder = redb::Database::builder();
    builder.set_cache_size(options.cache_bytes).set_check_integrity_on_open(check);
    builder.create_with_backend(pages.backend()).map_err(|error| match storage(error) {
        Error::Io { source, .. } => Error::Io { path: path.to_owned(), source },
        other => other,
    })
}

/// What a damaged page held is not known; then the store is only read, and 0 does.
fn known<T: Default>(file: &OpenFile, read: Result<T>) -> Result<T> {
    match read {
        Err(Error::Corrupt { .. }) if file.check().is_err() => Ok(T::default()),
        read => read,
    }
}

/// Checks the format of an existing store; gives its seed.
fn check_format(file: &OpenFile) -> Result<u64> {
    let tables = file.read()?;
    match tables.meta_number(META_FORMAT)? {
        Some(FORMAT) => tables
            .meta_number(META_SEED)?
            .ok_or_else(|| Error::corrupt("table meta key seed", "the seed is missing")),
        Some(other) => Err(Error::Unavailable(format!(
            "the store has format {other}, this build of memcards reads format {FORMAT}; use a newer build"
        ))),
        None => Err(Error::corrupt("table meta key format", "the format is missing")),
    }
}

/// Lays out a new store; gives its seed.
fn initialise(file: &OpenFile, seed: u64) -> Result<u64> {
    let transaction = file.write()?;
    {
        let mut tables = Tables::write(&transaction, file.pages().damage())?;
        tables.put_meta(META_FORMAT, &FORMAT.to_le_bytes())?;
        tables.put_meta(META_SEED, &seed.to_le_bytes())?;
        tables.put_meta(META_NEXT_TENANT, &1u64.to_le_bytes())?;
    }
    transaction.commit().map_err(storage)?;
    Ok(seed)
}
