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
use crate::store::reply::reply;
use crate::store::tables::{Tables, storage};
use crate::{Error, Result};

/// Called with the changes of each commit, in order, before its callers are answered.
pub(crate) type Observer = Box<dyn Fn(&[Applied]) + Send + Sync>;

/// Answers one caller: with its result, or with why the commit failed.
type Answer = Box<dyn FnOnce(Option<&str>) + Send>;
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
        seed: u64,
        bounds: WriterBounds,
        observer: Observer,
    ) -> Result<Self> {
        let (sender, receiver) = bounded(bounds.queue.max(1));
        let failure = Arc::new(Mutex::new(None));
        let run = Run { database, seed, batch: bounds.batch.max(1), observer, failure: failure.clone() };
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
                let result = match failure {
                    Some(reason) => Err(Error::ReadOnly { reason: reason.to_owned() }),
                    None => result,
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
                Some(reason)
            }
            None => self.run(jobs, &mut answers).err().map(|error| {
                let reason = format!(
                    "a commit failed ({error}); what it wrote may or may not be durable, reopen the store"
                );
                tracing::error!(%error, "commit failed, the store refuses writes until it is reopened");
                *self.failure.lock() = Some(reason.clone());
                reason
            }),
        };
        for answer in answers {
            answer(failure.as_deref());
        }
    }

    fn run(&self, jobs: Vec<Job>, answers: &mut Vec<Answer>) -> Result<()> {
        let transaction = self.database.begin_write().map_err(storage)?;
        let mut batch = Batch::new(Tables::write(&transaction)?, self.seed);
        let mut broken = false;
        for job in jobs {
            let (answer, failed_half_way) = job(&mut batch);
            answers.push(answer);
            broken |= failed_half_way;
        }
        let changed = batch.writes() > 0;
        let applied = batch.into_applied();
        if broken {
            transaction.abort().map_err(storage)?;
            return Err(Error::Internal("an operation failed after it had written".into()));
        }
        if !changed {
            return transaction.abort().map_err(storage);
        }
        transaction.commit().map_err(storage)?;
        (self.observer)(&applied);
        Ok(())
    }
}
