//! Group commit: one thread, one transaction and one fsync for all who wait.
//!
//! Callers hand in closures that run one after the other inside the same write
//! transaction. All are answered after the commit, and after the observer (the indexes)
//! has seen what was committed: a caller reads its own writes. The queue is bounded; when
//! it is full the caller gets an error at once, never a hang. After a failed commit the
//! outcome on disk is unknown, so every later write is refused until the store is reopened.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
use parking_lot::Mutex;

use crate::store::batch::{Applied, Batch};
use crate::store::lookups::Lookups;
use crate::store::reply::reply;
use crate::store::tables::{Tables, storage};
use crate::{Error, Result};

/// Called with the changes of each commit, in order, before its callers are answered.
pub(crate) type Observer = Box<dyn Fn(&[Applied]) + Send + Sync>;

/// Why a batch was not committed.
enum Failure {
    /// It was given up before the commit: nothing of it was written, later ones are not concerned.
    GivenUp(String),
    /// What is on disk is unknown: no later write can be trusted.
    Lasting(String),
}

/// Answers one caller: with its result, or with why the batch was not committed.
type Answer = Box<dyn FnOnce(Option<&Failure>) + Send>;
/// One caller's writes.
type Job = Box<dyn FnOnce(&mut Batch<'_>) -> (Answer, bool) + Send>;

/// Longest time a commit waits for callers that are expected to come back.
const GATHER_MAX: Duration = Duration::from_micros(500);

/// The handle that callers share.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<String>>>,
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
    /// Starts the writer thread.
    pub(crate) fn start(
        database: Arc<redb::Database>,
        lookups: Arc<Lookups>,
        seed: u64,
        bounds: WriterBounds,
        observer: Observer,
    ) -> Result<Self> {
        let (sender, receiver) = bounded(bounds.queue.max(1));
        let failure = Arc::new(Mutex::new(None));
        let run =
            Run { database, lookups, seed, batch: bounds.batch.max(1), observer, failure: failure.clone() };
        let thread = std::thread::Builder::new()
            .name("memcards-writer".into())
            .spawn(move || run.forever(&receiver))
            .map_err(|source| Error::Io { path: "the writer thread".into(), source })?;
        Ok(Self { queue: Some(sender), thread: Some(thread), failure })
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
        if let Some(reason) = self.failure.lock().clone() {
            return Err(Error::ReadOnly { reason });
        }
        let (reply, waiting) = reply();
        let job: Job = Box::new(move |batch| {
            let before = batch.writes();
            let result = work(batch);
            let broken = result.is_err() && batch.writes() != before;
            let answer: Answer = Box::new(move |failure| {
                let result = match (failure, result) {
                    (None, result) => result,
                    (Some(Failure::Lasting(reason)), _) => Err(Error::ReadOnly { reason: reason.clone() }),
                    (Some(Failure::GivenUp(_)), Err(error)) => Err(error),
                    (Some(Failure::GivenUp(reason)), Ok(_)) => Err(Error::Internal(reason.clone())),
                };
                reply.send(result);
            });
            (answer, broken)
        });
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy { retry_after_ms: 20 },
            TrySendError::Disconnected(_) => closed(),
        })?;
        waiting.receive().ok_or_else(closed)?
    }

    /// Why writes are refused, if they are.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }
}

fn closed() -> Error {
    Error::ReadOnly { reason: "the store is being closed or its writer has stopped".into() }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the queue lets the thread finish what is in it, then end.
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread ended with a panic");
        }
    }
}

struct Run {
    database: Arc<redb::Database>,
    lookups: Arc<Lookups>,
    seed: u64,
    batch: usize,
    observer: Observer,
    failure: Arc<Mutex<Option<String>>>,
}

impl Run {
    fn forever(self, queue: &Receiver<Job>) {
        let mut expected = 1;
        let mut commit_time = Duration::ZERO;
        while let Ok(first) = queue.recv() {
            let jobs = self.gather(first, queue, expected, commit_time);
            expected = jobs.len();
            let start = Instant::now();
            self.commit(jobs);
            commit_time = start.elapsed();
        }
    }

    /// Takes what waits. When the last commit served several callers, these are about to
    /// come back: a short wait for them saves an fsync each.
    fn gather(&self, first: Job, queue: &Receiver<Job>, expected: usize, commit_time: Duration) -> Vec<Job> {
        let mut jobs = vec![first];
        let deadline = Instant::now() + (commit_time / 4).min(GATHER_MAX);
        while jobs.len() < self.batch {
            match queue.try_recv() {
                Ok(job) => jobs.push(job),
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) if jobs.len() >= expected => break,
                Err(TryRecvError::Empty) => match queue.recv_deadline(deadline) {
                    Ok(job) => jobs.push(job),
                    Err(_) => break,
                },
            }
        }
        jobs
    }

    fn commit(&self, jobs: Vec<Job>) {
        let failed = self.failure.lock().clone();
        let mut answers = Vec::with_capacity(jobs.len());
        let failure = match failed {
            Some(reason) => {
                // Still run nothing: each job is dropped, its caller sees the writer closed.
                drop(jobs);
                Some(Failure::Lasting(reason))
            }
            None => self.run(jobs, &mut answers).unwrap_or_else(|error| {
                let reason = format!(
                    "a commit failed ({error}); what it wrote may or may not be durable, reopen the store"
                );
                tracing::error!(%error, "commit failed, the store refuses writes until it is reopened");
                *self.failure.lock() = Some(reason.clone());
                Some(Failure::Lasting(reason))
            }),
        };
        for answer in answers {
            answer(failure.as_ref());
        }
    }

    /// Runs the jobs and commits; tells when the batch was given up instead.
    fn run(&self, jobs: Vec<Job>, answers: &mut Vec<Answer>) -> Result<Option<Failure>> {
        let transaction = self.database.begin_write().map_err(storage)?;
        let mut batch = Batch::new(Tables::write(&transaction)?, &self.lookups, self.seed);
        let mut broken = false;
        for job in jobs {
            let (answer, failed_half_way) = job(&mut batch);
            answers.push(answer);
            broken |= failed_half_way;
        }
        let changed = batch.writes() > 0;
        let changes = batch.finish()?;
        if broken {
            transaction.abort().map_err(storage)?;
            tracing::error!("a batch was given up: one of its operations failed after it had written");
            let reason = "the batch was given up since another of its writes failed half way; nothing of it was written";
            return Ok(Some(Failure::GivenUp(reason.into())));
        }
        if !changed {
            transaction.abort().map_err(storage)?;
            return Ok(None);
        }
        transaction.commit().map_err(storage)?;
        (self.observer)(&changes.applied);
        changes.commit_lookups();
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::RealIo;
    use crate::store::{Database, DatabaseOptions};
    use crate::time::Timestamp;

    #[test]
    fn a_batch_given_up_leaves_nothing_and_the_store_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let options = DatabaseOptions {
            io: Arc::new(RealIo),
            cache_bytes: 1 << 20,
            lookup_bytes: 1 << 20,
            queue: 8,
            batch: 8,
            seed: 0,
            check_integrity: false,
            create: true,
        };
        let database = Database::open(directory.path(), &options, Box::new(|_| {})).unwrap();
        let now = Timestamp::from_micros(1);
        let failed: Result<()> = database.write(move |batch| {
            batch.ensure_tenant("half", now)?;
            Err(Error::Conflict { message: "after a write".into() })
        });
        assert_eq!(failed.unwrap_err().code(), "conflict");
        assert!(database.write_failure().is_none());
        database.write(move |batch| batch.ensure_tenant("whole", now)).unwrap();
        let tables = database.read().unwrap();
        assert!(tables.tenant_id("half").unwrap().is_none());
        assert!(tables.tenant_id("whole").unwrap().is_some());
    }
}
