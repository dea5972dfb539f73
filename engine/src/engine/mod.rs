//! The public face: [`Store`], [`Tenant`], and the verbs on them.
//!
//! A [`Tenant`] handle is the only way to read or write memories. This room checks requests,
//! turns text into vectors and hands the rest to the rooms that know the rules.

mod audit;
mod cold;
mod consolidation;
mod erasure;
mod forgetting;
mod model;
mod planning;
mod policies;
mod policy;
mod reembed;
mod relations;
mod repair;
mod running;
mod scheduler;
mod simulation;
mod tenant;

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use crate::card::{Limits, Reason, check_tenant_name};
use crate::embed::Embedder;
use crate::index::cache::{CacheStatistics, IndexCache};
use crate::index::files;
use crate::index::keeper::Keeper;
use crate::learn::analyses::Analyses;
pub(crate) use crate::learn::remember::Draft;
use crate::recall;
use crate::store::io::{Io, RealIo};
use crate::store::{ColdStatistics, Database, DatabaseOptions, ModelRecord, TenantRecord, VerifyReport};
use crate::time::{Clock, SystemClock};
use crate::verbs::Remembered;
use crate::{Error, Result};

use model::{embed, model_of};
pub use policy::PolicyView;
pub use reembed::Reembedded;
pub use repair::Repaired;
pub use scheduler::SchedulerStatus;
pub use tenant::{Tenant, TenantStatistics};

/// How to open a store.
#[derive(Clone)]
pub struct Options {
    /// Create the directory and the store when missing (default: true).
    pub create: bool,
    /// Page cache of the store file in bytes (default: 64 MiB).
    pub cache_bytes: usize,
    /// Memory for loaded indexes in bytes (default: 1 GiB); at least one partition stays.
    pub index_bytes: usize,
    /// Writes that may wait for the next commit before callers get `busy` (default: 4,096).
    pub queue: usize,
    /// Writes in one commit at most (default: 1,024).
    pub batch: usize,
    /// Seed of card identifiers of a store created now (default: 0).
    pub seed: u64,
    /// Check the checksum of every page while opening (default: false; reads the whole file).
    pub check_integrity: bool,
    /// Bounds on requests.
    pub limits: Limits,
    /// Where the present comes from (default: the machine's clock).
    pub clock: Arc<dyn Clock>,
    /// Turns text into vectors (default: the built-in model where it is compiled in).
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Whether the embedder may take the place of the model that the store was made with
    /// (default: false; then another model is refused). Vectors of the earlier model are not
    /// searched from then on, until [`Store::reembed`] has made them anew.
    pub reembed: bool,
    /// Whether forgetting happens by itself, by the policies that were set (default: false; then
    /// [`Store::forget_due`] is called by the application, or plans are made by hand).
    pub scheduler: bool,
    /// Half-lives, presets and other settings of recall.
    pub recall: recall::Settings,
    /// Looks at the best turns of a recall once more (default: the built-in model).
    pub reranker: Option<Arc<dyn recall::rerank::Reranker>>,
    /// Decides how to look for the answer of a question (default: by rules).
    pub controller: Arc<dyn recall::Controller>,
    /// The file system.
    pub io: Arc<dyn Io>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: true,
            cache_bytes: 64 << 20,
            index_bytes: 1 << 30,
            queue: 4096,
            batch: 1024,
            seed: 0,
            check_integrity: false,
            limits: Limits::default(),
            clock: Arc::new(SystemClock),
            embedder: crate::embed::builtin(),
            reembed: false,
            scheduler: false,
            recall: recall::Settings::default(),
            reranker: Some(recall::rerank::builtin()),
            controller: Arc::new(recall::Rules),
            io: Arc::new(RealIo),
        }
    }
}

/// An open store. Clones share it; the directory is free again when the last one is gone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    database: Arc<Database>,
    cache: Arc<IndexCache>,
    /// Ended before the last checkpoint.
    keeper: Option<Keeper>,
    analyses: Arc<Analyses>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    embedder: Option<Arc<dyn Embedder>>,
    policies: policies::PolicyCache,
    scheduler: scheduler::Scheduler,
    /// Started when everything else is there.
    scheduler_thread: OnceLock<scheduler::SchedulerThread>,
    /// Tenants wiped since the store was opened: their numbers are void.
    wiped: AtomicU64,
    /// The store's model, once it is known: it is recorded with the first vector and stays.
    model: OnceLock<ModelRecord>,
    recall: Arc<recall::Settings>,
    reranker: Option<Arc<dyn recall::rerank::Reranker>>,
    controller: Arc<dyn recall::Controller>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.scheduler_thread.take());
        self.keeper = None;
        if let Err(error) = self.cache.checkpoint(&self.database, false) {
            // Snapshots are derived: without them the next start only takes longer.
            tracing::warn!(%error, "index snapshots could not be written on closing");
        }
    }
}

/// Figures of a store, without any content.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Statistics {
    /// Tenants.
    pub tenants: u64,
    /// Size of the store file in bytes.
    pub file_bytes: u64,
    /// Model of the vectors and their dimension, once there is a vector.
    pub model: Option<String>,
    /// True while there are vectors of an earlier model, which are not searched.
    pub reembedding: bool,
    /// Loaded indexes.
    pub index: CacheStatistics,
    /// Segments of the cold tier, and the cards in them.
    pub cold: ColdStatistics,
    /// How scheduled forgetting stands.
    pub scheduler: SchedulerStatus,
    /// Why writes are refused, if they are.
    pub read_only: Option<String>,
}

impl Store {
    /// Opens (and, unless told otherwise, creates) the store in a directory.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// use memcards::{Options, Recall, Remember, Store};
    ///
    /// let store = Store::open(directory.path(), Options::default())?;
    /// let anna = store.tenant("anna")?;
    /// anna.remember(Remember { content: "The spare key is under the blue pot.".into(), ..Default::default() })?;
    /// let found = anna.recall(Recall { query: Some("where is the key?".into()), ..Default::default() })?;
    /// assert_eq!(found.hits[0].card.content, "The spare key is under the blue pot.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Locked`] when another process has it open; [`Error::ModelMismatch`] when its
    /// vectors come from another model, unless [`Options::reembed`] says that it be replaced; [`Error::Corrupt`] when the file is damaged;
    /// [`Error::NotFound`] when there is none and `create` is off.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Self> {
        let cache = Arc::new(IndexCache::new(options.index_bytes));
        let observer = {
            let cache = cache.clone();
            Box::new(move |applied: &[_]| cache.apply(applied))
        };
        let database = Arc::new(Database::open(
            directory.as_ref(),
            &DatabaseOptions {
                io: options.io,
                cache_bytes: options.cache_bytes,
                // A part of the memory for indexes, which leaves it to partitions while unused.
                lookup_bytes: options.index_bytes / 4,
                queue: options.queue,
                batch: options.batch,
                seed: options.seed,
                check_integrity: options.check_integrity,
                create: options.create,
                model: options.embedder.as_deref().map(model_of),
                replace_model: options.reembed,
            },
            observer,
        )?);
        let store = Self {
            inner: Arc::new(Inner {
                keeper: Some(Keeper::start(&cache, &database)),
                database,
                cache,
                analyses: Arc::default(),
                limits: options.limits,
                clock: options.clock,
                embedder: options.embedder,
                policies: policies::PolicyCache::default(),
                scheduler: scheduler::Scheduler::default(),
                scheduler_thread: OnceLock::new(),
                wiped: AtomicU64::new(0),
                model: OnceLock::new(),
                recall: Arc::new(options.recall),
                reranker: options.reranker,
                controller: options.controller,
            }),
        };
        // What is only read has nothing to finish.
        if store.database().write_failure().is_none() {
            store.finish_wipes()?;
        }
        if options.scheduler {
            let thread = scheduler::SchedulerThread::start(&store.inner)?;
            // Nobody else has the store yet.
            let _ = store.inner.scheduler_thread.set(thread);
        }
        Ok(store)
    }

    /// The handle of a tenant, which is created by its first write.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] or [`Error::TooLarge`] on `tenant`: a name is 1 to 256
    /// bytes of UTF-8 without control characters.
    pub fn tenant(&self, name: &str) -> Result<Tenant> {
        check_tenant_name(name, &self.inner.limits)?;
        Ok(Tenant::new(self.clone(), name))
    }

    /// Every tenant, in order of creation. An administrator's view.
    pub fn tenants(&self) -> Result<Vec<TenantRecord>> {
        Ok(self.inner.database.read()?.tenants()?.into_iter().map(|(_, record)| record).collect())
    }

    /// The clock of this store.
    pub fn clock(&self) -> &dyn Clock {
        self.inner.clock.as_ref()
    }

    /// Figures of the store.
    pub fn statistics(&self) -> Result<Statistics> {
        let database = &self.inner.database;
        Ok(Statistics {
            tenants: database.read()?.tenants()?.len() as u64,
            file_bytes: database.file_bytes()?,
            model: database.model()?.map(|model| model.to_string()),
            reembedding: database.is_reembedding()?,
            index: self.inner.cache.statistics(),
            cold: database.cold_statistics()?,
            scheduler: self.scheduler(),
            read_only: database.write_failure(),
        })
    }

    /// Reads everything, checks every checksum and that records agree; changes nothing.
    /// `progress` is told how many records were read.
    ///
    /// # Errors
    /// Only when the store cannot be read at all; damage is in the report.
    pub fn verify(&self, progress: impl FnMut(u64)) -> Result<VerifyReport> {
        let mut report = self.inner.database.verify(progress)?;
        files::check_files(&self.inner.database, |path, detail| {
            report.index_files += 1;
            if let Some(detail) = detail {
                report.find(path.display().to_string(), format!("{detail} (the index is rebuilt on use)"));
            }
        })?;
        Ok(report)
    }

    /// Writes snapshot files of all loaded indexes that have changed.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be written; the store itself is not affected.
    pub fn checkpoint(&self) -> Result<usize> {
        self.inner.cache.checkpoint(&self.inner.database, true)
    }

    /// Copies the committed state into a new directory while the store stays in use; gives
    /// the number of records. The copy is a store that can be opened.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `to` when something is there; [`Error::Corrupt`] when a
    /// record is damaged, then there is no copy.
    pub fn backup(&self, to: impl AsRef<Path>, progress: impl FnMut(u64)) -> Result<u64> {
        self.inner.database.backup(to.as_ref(), progress)
    }

    /// Writes drafts in one commit; one that is refused does not keep the others out.
    pub(crate) fn write_drafts(&self, drafts: Vec<Result<Draft>>) -> Result<Vec<Result<Remembered>>> {
        self.inner.database.write(move |batch| {
            let mut answers = Vec::with_capacity(drafts.len());
            for draft in drafts {
                let before = batch.writes();
                match draft.and_then(|draft| draft.run(batch)) {
                    // Half-written work must not be committed with the others.
                    Err(error) if batch.writes() != before => return Err(error),
                    answer => answers.push(answer),
                }
            }
            Ok(answers)
        })
    }

    /// Checks who asks and why.
    pub(crate) fn check_reason(&self, reason: &Reason) -> Result<()> {
        let limits = &self.inner.limits;
        if let Some(actor) = &reason.actor {
            limits.name("actor", actor)?;
        }
        if let Some(why) = &reason.why {
            Limits::bytes("reason", why, limits.summary_bytes)?;
        }
        Ok(())
    }

    pub(crate) fn database(&self) -> &Database {
        &self.inner.database
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    pub(crate) fn reranker(&self) -> Option<&dyn recall::rerank::Reranker> {
        self.inner.reranker.as_deref()
    }

    pub(crate) fn controller(&self) -> &dyn recall::Controller {
        self.inner.controller.as_ref()
    }

    pub(crate) fn cache(&self) -> &IndexCache {
        &self.inner.cache
    }

    /// The vector of a text whose vector an export left out.
    pub(crate) fn embed_again(&self, text: &str, model: Option<&ModelRecord>) -> Result<Option<Vec<f32>>> {
        match (&self.inner.embedder, model) {
            (Some(embedder), Some(model)) if model_of(embedder.as_ref()) == *model => {
                embed(embedder.as_ref(), text)
            }
            (_, Some(model)) if model.is_caller() => Ok(None),
            (_, model) => Err(Error::Unavailable(format!(
                "the import needs the embedding model {} to compute vectors; open the store with it, or export with vectors",
                model.map_or_else(|| "of the export".into(), ToString::to_string)
            ))),
        }
    }

    /// The model that this store was opened with.
    pub(crate) fn own_model(&self) -> Option<ModelRecord> {
        self.inner.embedder.as_ref().map(|embedder| model_of(embedder.as_ref()))
    }

    /// The model whose vectors the store holds; `None` before the first vector.
    fn model(&self) -> Result<Option<&ModelRecord>> {
        if self.inner.model.get().is_none()
            && let Some(model) = self.inner.database.model()?
        {
            // Another caller may have been faster, with the same model.
            let _ = self.inner.model.set(model);
        }
        Ok(self.inner.model.get())
    }

    /// The model that new text is embedded with: none when the store holds vectors that
    /// callers hand in.
    fn embedder(&self) -> Result<Option<&Arc<dyn Embedder>>> {
        let caller = self.model()?.is_some_and(ModelRecord::is_caller);
        Ok(self.inner.embedder.as_ref().filter(|_| !caller))
    }
}
