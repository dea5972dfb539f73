//! Group commit: one transaction and one fsync for all who wait.
//!
//! Callers hand in closures that run one after the other inside the same write transaction, in
//! the order that [`group`] gives them. All of a group are answered after the commit, and after
//! the observer (the indexes) has seen what was committed: a caller reads its own writes. After
//! a failed commit every later write is refused until the store is reopened.

mod group;
#[cfg(all(test, loom))]
mod model;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::store::batch::{Applied, Batch};
use crate::store::cold::ColdStore;
use crate::store::file::StoreFile;
use crate::store::lookups::Lookups;
use crate::store::tables::{Tables, storage};
use crate::store::writer::group::{Answer, Failure, GroupCommit, Transaction};
use crate::sync::{Arc as Shared, Mutex};
use crate::{Error, Result};

/// Called with the changes of each commit, in order, before its callers are answered.
pub(crate) type Observer = Box<dyn Fn(&[Applied]) + Send + Sync>;

/// One caller's writes.
type Job = Box<dyn FnOnce(&mut Batch<'_>) -> (Answer, bool) + Send>;

/// The handle that callers share.
pub(crate) struct Writer {
    groups: Shared<GroupCommit<Run>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("bounds", &self.groups.bounds).finish_non_exhaustive()
    }
}

/// Bounds of the writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriterBounds {
    /// Jobs that may wait.
    pub(crate) queue: usize,
    /// Jobs in one commit.
    pub(crate) batch: usize,
}

impl Writer {
    /// Starts the only writer of a database.
    pub(crate) fn start(
        file: Arc<StoreFile>,
        (lookups, cold): (Arc<Lookups>, Arc<ColdStore>),
        (seed, generation): (u64, u16),
        bounds: WriterBounds,
        observer: Observer,
    ) -> Result<Self> {
        let run = Run { file, lookups, cold, seed, generation, observer };
        let groups = Shared::new(GroupCommit::new(run, bounds));
        let writer = groups.clone();
        let thread = std::thread::Builder::new()
            .name("memcards-writer".into())
            .spawn(move || writer.forever())
            .map_err(|source| Error::Io { path: "the writer thread".into(), source })?;
        Ok(Self { groups, thread: Some(thread) })
    }

    /// Runs `work` in the next commit and waits until it is durable and indexed.
    ///
    /// `work` must decide everything before it writes anything: an error after a write
    /// gives up the whole batch.
    ///
    /// # Errors
    /// What `work` returns; [`Error::Busy`] when the queue is full; [`Error::ReadOnly`]
    /// after a failed commit.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let place = Arc::new(Mutex::new(None));
        let answered = place.clone();
        let job: Job = Box::new(move |batch| {
            let before = batch.writes();
            let result = catch_unwind(AssertUnwindSafe(|| work(batch)))
                .unwrap_or_else(|_| Err(Error::Internal("a write stopped with a panic".into())));
            let broken = result.is_err() && batch.writes() != before;
            let answer: Answer = Box::new(move |failure| {
                *answered.lock() = Some(match (failure, result) {
                    (None, result) => result,
                    // Says more than that writes are refused.
                    (Some(Failure::Lasting(_)), Err(error @ Error::Corrupt { .. })) => Err(error),
                    (Some(Failure::Lasting(reason)), _) => Err(Error::ReadOnly { reason: reason.clone() }),
                    (Some(Failure::GivenUp(_)), Err(error)) => Err(error),
                    (Some(Failure::GivenUp(reason)), Ok(_)) => Err(Error::Internal(reason.clone())),
                });
            });
            (answer, broken)
        });
        self.groups.put(job)?;
        let answer = place.lock().take();
        answer.unwrap_or_else(|| {
            // Its job was never run.
            let reason = self.failure().unwrap_or_else(|| "the commit was not carried out".into());
            Err(Error::ReadOnly { reason })
        })
    }

    /// Refuses all writes from now on.
    pub(crate) fn refuse(&self, reason: String) {
        self.groups.refuse(reason);
    }

    /// Why writes are refused, if they are.
    pub(crate) fn failure(&self) -> Option<String> {
        self.groups.failure()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What still waits is committed first.
        self.groups.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread ended with a panic");
        }
    }
}

/// What it takes to commit.
struct Run {
    file: Arc<StoreFile>,
    lookups: Arc<Lookups>,
    cold: Arc<ColdStore>,
    seed: u64,
    /// Of the vectors that are written.
    generation: u16,
    observer: Observer,
}

impl Transaction for Run {
    type Job = Job;

    fn run(&self, jobs: Vec<Job>, answers: &mut Vec<Answer>) -> Result<Option<Failure>> {
        let _gate = self.file.hold();
        let file = self.file.get();
        let transaction = file.write()?;
        let tables = Tables::write(&transaction, file.pages().damage())?.with_generation(self.generation);
        let tables = tables.with_cold(self.cold.reader());
        let mut batch = Batch::new(tables, &self.lookups, self.seed);
        let mut broken = false;
        for job in jobs {
            let (answer, failed_half_way) = job(&mut batch);
            answers.push(answer);
            broken |= failed_half_way;
        }
        if let Err(error) = file.check() {
            // A mark may have been taken for an entry: nothing of this must reach the file.
            drop(batch);
            transaction.abort().map_err(storage)?;
            return Err(error);
        }
        if broken || batch.writes() == 0 {
            drop(batch);
            transaction.abort().map_err(storage)?;
            if !broken {
                return Ok(None);
            }
            tracing::error!("a batch was given up: one of its operations failed after it had written");
            let reason = "the batch was given up since another of its writes failed half way; nothing of it was written";
            return Ok(Some(Failure::GivenUp(reason.into())));
        }
        let changes = batch.finish()?;
        transaction.commit().map_err(storage)?;
        (self.observer)(&changes.applied);
        changes.commit_lookups();
        Ok(None)
    }

    /// Reads go on beside redb, which gives up when a file operation fails.
    fn failed(&self, error: Error) -> String {
        if let Err(error) = self.file.read_only(&self.file.get()) {
            tracing::error!(%error, "the store file cannot be opened for reading alone");
        }
        match error {
            Error::ReadOnly { reason } => reason,
            error => {
                format!(
                    "a commit failed ({error}); what it wrote may or may not be durable, reopen the store"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::RealIo;
    use crate::store::{Database, DatabaseOptions};
    use crate::time::Timestamp;

    fn open(directory: &std::path::Path, batch: usize) -> Database {
        let options = DatabaseOptions {
            io: Arc::new(RealIo),
            cache_bytes: 1 << 16,
            lookup_bytes: 1 << 20,
            queue: 8,
            batch,
            seed: 0,
            check_integrity: false,
            create: true,
            model: None,
            replace_model: false,
        };
        Database::open(directory, &options, Box::new(|_| {})).unwrap()
    }

    const NOW: Timestamp = Timestamp::from_micros(1);

    #[test]
    fn a_batch_given_up_leaves_nothing_and_the_store_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let database = open(directory.path(), 8);
        let failed: Result<()> = database.write(move |batch| {
            batch.ensure_tenant("half", NOW)?;
            Err(Error::Conflict { message: "after a write".into() })
        });
        assert_eq!(failed.unwrap_err().code(), "conflict");
        assert!(database.write_failure().is_none());
        database.write(move |batch| batch.ensure_tenant("whole", NOW)).unwrap();
        let tables = database.read().unwrap();
        assert!(tables.tenant_id("half").unwrap().is_none());
        assert!(tables.tenant_id("whole").unwrap().is_some());
    }

    #[test]
    fn a_panic_is_its_callers_error_and_the_store_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let database = open(directory.path(), 8);
        for writes in [false, true] {
            let failed: Result<()> = database.write(move |batch| {
                if writes {
                    batch.ensure_tenant("half", NOW)?;
                }
                panic!("a panic of the test")
            });
            assert_eq!(failed.unwrap_err().code(), "internal");
        }
        database.write(move |batch| batch.ensure_tenant("whole", NOW)).unwrap();
        assert!(database.read().unwrap().tenant_id("half").unwrap().is_none());
    }

    #[test]
    fn a_read_goes_on_in_its_file_while_another_takes_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..2000).map(|number| format!("{number}-{}", "x".repeat(200))).collect();
        let wanted = names.clone();
        let database = open(directory.path(), 8);
        database
            .write(move |batch| names.iter().try_for_each(|name| batch.ensure_tenant(name, NOW).map(drop)))
            .unwrap();
        drop(database);
        // Nothing of it is in memory yet.
        let database = open(directory.path(), 8);
        let read = database.read().unwrap();
        database.compact(|_| {}).unwrap();
        database.compact(|_| {}).unwrap();
        for tables in [read, database.read().unwrap()] {
            let found: Vec<String> = tables.tenants().unwrap().into_iter().map(|(_, t)| t.name).collect();
            assert_eq!(found, wanted);
        }
    }

    /// Many callers, groups smaller than they are many, some jobs that fail or panic: each
    /// gets its own answer and nobody waits for ever.
    #[test]
    fn every_caller_gets_its_own_answer() {
        for batch in [1, 3, 64] {
            let directory = tempfile::tempdir().unwrap();
            let database = open(directory.path(), batch);
            let run = std::sync::Barrier::new(9);
            let written: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..9)
                    .map(|caller| {
                        let (database, run) = (&database, &run);
                        scope.spawn(move || {
                            run.wait();
                            let mut written = 0;
                            for n in 0..40 {
                                let name = format!("{caller}-{n}");
                                let asked = name.clone();
                                let answer = database.write(move |batch| {
                                    match n % 10 {
                                        7 => return Err(Error::NotFound { what: asked }),
                                        8 => panic!("a panic of the test"),
                                        _ => {}
                                    }
                                    batch.ensure_tenant(&asked, NOW)?;
                                    Ok(asked)
                                });
                                match answer {
                                    Ok(answer) => {
                                        assert_eq!(answer, name);
                                        assert!(database.read().unwrap().tenant_id(&name).unwrap().is_some());
                                        written += 1;
                                    }
                                    Err(Error::Busy { .. }) => std::thread::yield_now(),
                                    Err(error) if n % 10 == 7 => assert_eq!(error.code(), "not_found"),
                                    Err(error) => assert_eq!((n % 10, error.code()), (8, "internal")),
                                }
                            }
                            written
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(database.read().unwrap().tenants().unwrap().len(), written);
            assert!(written > 0 && database.write_failure().is_none());
        }
    }
}
