//! Group commit: one transaction and one fsync for all who wait.
//!
//! Callers hand in closures that run one after the other inside the same write
//! transaction. A caller who finds nobody at work commits in its own thread: no switch of
//! threads for who is alone. What comes meanwhile is taken over by the writer's own thread,
//! which goes on until nobody waits. All of a group are answered after the commit, and after
//! the observer (the indexes) has seen what was committed: a caller reads its own writes. The
//! queue is bounded; when it is full the caller gets an error at once, never a hang. After a
//! failed commit the outcome on disk is unknown, so every later write is refused until the
//! store is reopened.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::store::batch::{Applied, Batch};
use crate::store::cold::ColdStore;
use crate::store::file::StoreFile;
use crate::store::lookups::Lookups;
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
const GATHER_MAX: Duration = Duration::from_millis(2);
/// Commits faster than this wait for nobody: meanwhile they could commit for half of them.
const GATHER_FROM: Duration = Duration::from_millis(1);

/// Callers that are answered by one commit.
#[derive(Debug, Default)]
struct Group {
    answered: AtomicBool,
    members: Mutex<Vec<Thread>>,
}

impl Group {
    /// Adds a caller; gives its number.
    fn join(&self, thread: Thread) -> usize {
        let mut members = lock(&self.members);
        members.push(thread);
        members.len() - 1
    }

    fn answer(&self) {
        self.answered.store(true, Ordering::Release);
        self.wake(0);
    }

    /// Waits for the answer. Each caller wakes two others: to wake them one by one would keep
    /// the next commit waiting.
    fn wait(&self, number: usize) {
        while !self.answered.load(Ordering::Acquire) {
            std::thread::park();
        }
        self.wake(2 * number + 1);
        self.wake(2 * number + 2);
    }

    fn wake(&self, number: usize) {
        let member = lock(&self.members).get(number).cloned();
        if let Some(member) = member {
            member.unpark();
        }
    }
}

/// What a lock protects here is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who waits.
#[derive(Default)]
struct Queue {
    /// The group that is next stands first; each has at most as many jobs as fit in one commit.
    groups: VecDeque<(Arc<Group>, Vec<Job>)>,
    jobs: usize,
    /// True while somebody commits or is about to.
    busy: bool,
    /// True when that is the writer's own thread.
    handed_over: bool,
    closed: bool,
    /// How many jobs a commit waits for.
    wanted: usize,
    /// How many callers were there at the end of the last commit, and how long it took.
    last: (usize, Duration),
}

/// The handle that callers share.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// The jobs that a commit waits for are there.
    arrived: Condvar,
    /// There is work for the writer's own thread, or an end of it.
    handed_over: Condvar,
    bounds: WriterBounds,
    run: Run,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("bounds", &self.shared.bounds).finish_non_exhaustive()
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
        let bounds = WriterBounds { queue: bounds.queue.max(1), batch: bounds.batch.max(1) };
        let run = Run { file, lookups, cold, seed, generation, observer, failure: Mutex::new(None) };
        let (queue, arrived, handed_over) = (Mutex::default(), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { queue, arrived, handed_over, bounds, run });
        let writer = shared.clone();
        let thread = std::thread::Builder::new()
            .name("memcards-writer".into())
            .spawn(move || writer.forever())
            .map_err(|source| Error::Io { path: "the writer thread".into(), source })?;
        Ok(Self { shared, thread: Some(thread) })
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
        if let Some(reason) = self.failure() {
            return Err(Error::ReadOnly { reason });
        }
        let place = Arc::new(Mutex::new(None));
        let answered = place.clone();
        let job: Job = Box::new(move |batch| {
            let before = batch.writes();
            let result = catch_unwind(AssertUnwindSafe(|| work(batch)))
                .unwrap_or_else(|_| Err(Error::Internal("a write stopped with a panic".into())));
            let broken = result.is_err() && batch.writes() != before;
            let answer: Answer = Box::new(move |failure| {
                *lock(&answered) = Some(match (failure, result) {
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
        let (group, number, alone) = self.shared.enter(job)?;
        if alone {
            self.shared.commit_first(false);
        }
        group.wait(number);
        let answer = lock(&place).take();
        answer.unwrap_or_else(|| {
            // Its job was never run.
            let reason = self.failure().unwrap_or_else(|| "the commit was not carried out".into());
            Err(Error::ReadOnly { reason })
        })
    }

    /// Refuses all writes from now on.
    pub(crate) fn refuse(&self, reason: String) {
        lock(&self.shared.run.failure).get_or_insert(reason);
    }

    /// Why writes are refused, if they are.
    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.shared.run.failure).clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What still waits is committed first.
        lock(&self.shared.queue).closed = true;
        self.shared.handed_over.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread ended with a panic");
        }
    }
}

impl Shared {
    /// Puts a job into the last group that has room; gives the caller's number in it, and
    /// whether the caller has to commit it.
    fn enter(&self, job: Job) -> Result<(Arc<Group>, usize, bool)> {
        let mut queue = lock(&self.queue);
        if queue.jobs >= self.bounds.queue {
            return Err(Error::Busy { retry_after_ms: 20 });
        }
        queue.jobs += 1;
        let group = match queue.groups.back_mut() {
            Some((group, jobs)) if jobs.len() < self.bounds.batch => {
                jobs.push(job);
                group.clone()
            }
            _ => {
                let group = Arc::new(Group::default());
                queue.groups.push_back((group.clone(), vec![job]));
                group
            }
        };
        let number = group.join(std::thread::current());
        if queue.jobs == queue.wanted {
            self.arrived.notify_one();
        }
        Ok((group, number, !std::mem::replace(&mut queue.busy, true)))
    }

    /// The writer's own thread.
    fn forever(&self) {
        let mut queue = lock(&self.queue);
        loop {
            if queue.handed_over {
                drop(queue);
                self.commit_first(true);
                queue = lock(&self.queue);
            } else if queue.closed {
                return;
            } else {
                queue = self.handed_over.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Commits for the first group and answers it. Those who have come meanwhile are left to
    /// the writer's own thread.
    fn commit_first(&self, own_thread: bool) {
        let Some((group, jobs)) = self.gather() else { return };
        let (served, start) = (jobs.len(), Instant::now());
        self.run.commit(jobs);
        let mut queue = lock(&self.queue);
        // Who was answered is about to come back, who waits is there already.
        queue.last = (served + queue.jobs, start.elapsed());
        queue.busy = !queue.groups.is_empty();
        queue.handed_over = queue.busy;
        if queue.handed_over && !own_thread {
            self.handed_over.notify_one();
        }
        drop(queue);
        group.answer();
    }

    /// Takes the first group. When the last commit served several callers, these are about
    /// to come back: a short wait for them saves an fsync each.
    fn gather(&self) -> Option<(Arc<Group>, Vec<Job>)> {
        let mut queue = lock(&self.queue);
        let (present, took) = queue.last;
        let deadline = Instant::now() + (took / 4).min(GATHER_MAX);
        queue.wanted = if took < GATHER_FROM { 0 } else { present.min(self.bounds.batch) };
        while queue.jobs < queue.wanted {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (queue, _) = self.arrived.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner);
        }
        queue.wanted = 0;
        let (group, jobs) = queue.groups.pop_front()?;
        queue.jobs -= jobs.len();
        Some((group, jobs))
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
    failure: Mutex<Option<String>>,
}

impl Run {
    fn commit(&self, jobs: Vec<Job>) {
        let failed = lock(&self.failure).clone();
        let mut answers = Vec::with_capacity(jobs.len());
        let failure = match failed {
            Some(reason) => Some(Failure::Lasting(reason)),
            None => {
                let result = catch_unwind(AssertUnwindSafe(|| self.run(jobs, &mut answers)));
                result
                    .unwrap_or_else(|_| Err(Error::Internal("a panic".into())))
                    .unwrap_or_else(|error| Some(Failure::Lasting(self.refuse_from_now_on(error))))
            }
        };
        for answer in answers {
            answer(failure.as_ref());
        }
    }

    /// No later write can be trusted; gives the reason. Reads go on beside redb, which gives up
    /// when a file operation fails.
    fn refuse_from_now_on(&self, error: Error) -> String {
        tracing::error!(%error, "commit failed, the store refuses writes until it is reopened");
        let reason = match error {
            Error::ReadOnly { reason } => reason,
            error => {
                if let Err(error) = self.file.read_only() {
                    tracing::error!(%error, "the store file cannot be opened for reading alone");
                }
                format!(
                    "a commit failed ({error}); what it wrote may or may not be durable, reopen the store"
                )
            }
        };
        *lock(&self.failure) = Some(reason.clone());
        reason
    }

    /// Runs the jobs and commits; tells when the batch was given up instead.
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
            cache_bytes: 1 << 20,
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
