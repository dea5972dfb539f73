//! Who waits for a commit, and who makes it: the order of callers, whatever is committed.
//!
//! A caller who finds nobody at work commits in its own thread: no switch of threads for who is
//! alone. What comes meanwhile is taken over by the writer's own thread, which goes on until
//! nobody waits. All of a group are answered after their commit. The queue is bounded; when it
//! is full the caller gets an error at once, never a hang. After a failed commit the outcome on
//! disk is unknown, so every later one is refused.
//!
//! This module knows nothing of what a job writes or where; the model checker runs it with jobs
//! of its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::store::writer::WriterBounds;
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering, Waker, timed};
use crate::{Error, Result};

/// Why a group was not committed.
pub(super) enum Failure {
    /// It was given up before the commit: nothing of it was written, later ones are not concerned.
    GivenUp(String),
    /// What is on disk is unknown: no later write can be trusted.
    Lasting(String),
}

/// Answers one caller: with its result, or with why its group was not committed.
pub(super) type Answer = Box<dyn FnOnce(Option<&Failure>) + Send>;

/// What is done with the jobs of a group.
pub(super) trait Transaction: Send + Sync + 'static {
    /// What one caller wants to be done.
    type Job: Send;

    /// Runs the jobs one after the other and commits; tells when the group was given up instead.
    /// After an error what was written is unknown.
    fn run(&self, jobs: Vec<Self::Job>, answers: &mut Vec<Answer>) -> Result<Option<Failure>>;

    /// Told of such an error; says why no job is taken any more.
    fn failed(&self, error: Error) -> String;
}

/// Longest time a commit waits for callers that are expected to come back.
const GATHER_MAX: Duration = Duration::from_millis(2);
/// Commits faster than this wait for nobody: meanwhile they could commit for half of them.
const GATHER_FROM: Duration = Duration::from_millis(1);

/// Callers that are answered by one commit.
#[derive(Debug, Default)]
struct Group {
    answered: AtomicBool,
    members: Mutex<Vec<Waker>>,
}

impl Group {
    /// Adds a caller; gives its number.
    fn join(&self, caller: Waker) -> usize {
        let mut members = self.members.lock();
        members.push(caller);
        members.len() - 1
    }

    fn answer(&self) {
        self.answered.store(true, Ordering::Release);
        self.wake(0);
    }

    /// Waits for the answer. Each caller wakes two others: to wake them one by one would keep
    /// the next commit waiting.
    fn wait(&self, number: usize, caller: &Waker) {
        while !self.answered.load(Ordering::Acquire) {
            caller.wait();
        }
        self.wake(2 * number + 1);
        self.wake(2 * number + 2);
    }

    fn wake(&self, number: usize) {
        let member = self.members.lock().get(number).cloned();
        if let Some(member) = member {
            member.wake();
        }
    }
}

/// Who waits.
struct Queue<J> {
    /// The group that is next stands first; each has at most as many jobs as fit in one commit.
    groups: VecDeque<(Arc<Group>, Vec<J>)>,
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

impl<J> Default for Queue<J> {
    fn default() -> Self {
        let (jobs, wanted, last) = Default::default();
        let (busy, handed_over, closed) = Default::default();
        Self { groups: VecDeque::new(), jobs, busy, handed_over, closed, wanted, last }
    }
}

/// The queue before a transaction.
pub(super) struct GroupCommit<T: Transaction> {
    queue: Mutex<Queue<T::Job>>,
    /// The jobs that a commit waits for are there.
    arrived: Condvar,
    /// There is work for the writer's own thread, or an end of it.
    handed_over: Condvar,
    pub(super) bounds: WriterBounds,
    transaction: T,
    failure: Mutex<Option<String>>,
}

impl<T: Transaction> GroupCommit<T> {
    pub(super) fn new(transaction: T, bounds: WriterBounds) -> Self {
        let bounds = WriterBounds { queue: bounds.queue.max(1), batch: bounds.batch.max(1) };
        let (queue, arrived, handed_over, failure) = Default::default();
        Self { queue, arrived, handed_over, bounds, transaction, failure }
    }

    /// Puts a job into the next commit and waits until it is answered.
    ///
    /// # Errors
    /// [`Error::Busy`] when the queue is full; [`Error::ReadOnly`] after a failed commit.
    pub(super) fn put(&self, job: T::Job) -> Result<()> {
        if let Some(reason) = self.failure() {
            return Err(Error::ReadOnly { reason });
        }
        let caller = Waker::new();
        let (group, number, alone) = self.enter(job, &caller)?;
        if alone {
            self.commit_first(false);
        }
        group.wait(number, &caller);
        Ok(())
    }

    /// What commits.
    #[cfg(all(test, loom))]
    pub(super) fn transaction(&self) -> &T {
        &self.transaction
    }

    /// Refuses all jobs from now on.
    pub(super) fn refuse(&self, reason: String) {
        self.failure.lock().get_or_insert(reason);
    }

    /// Why jobs are refused, if they are.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// Ends the writer's own thread once nobody waits.
    pub(super) fn close(&self) {
        self.queue.lock().closed = true;
        self.handed_over.notify_one();
    }

    /// Puts a job into the last group that has room; gives the caller's number in it, and
    /// whether the caller has to commit it.
    fn enter(&self, job: T::Job, caller: &Waker) -> Result<(Arc<Group>, usize, bool)> {
        let mut queue = self.queue.lock();
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
        let number = group.join(caller.clone());
        if queue.jobs == queue.wanted {
            self.arrived.notify_one();
        }
        Ok((group, number, !std::mem::replace(&mut queue.busy, true)))
    }

    /// The writer's own thread.
    pub(super) fn forever(&self) {
        let mut queue = self.queue.lock();
        loop {
            if queue.handed_over {
                drop(queue);
                self.commit_first(true);
                queue = self.queue.lock();
            } else if queue.closed {
                return;
            } else {
                queue = self.handed_over.wait(queue);
            }
        }
    }

    /// Commits for the first group and answers it. Those who have come meanwhile are left to
    /// the writer's own thread.
    fn commit_first(&self, own_thread: bool) {
        let Some((group, jobs)) = self.gather() else { return };
        let served = jobs.len();
        let ((), took) = timed(|| self.commit(jobs));
        let mut queue = self.queue.lock();
        // Who was answered is about to come back, who waits is there already.
        queue.last = (served + queue.jobs, took);
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
    fn gather(&self) -> Option<(Arc<Group>, Vec<T::Job>)> {
        let mut queue = self.queue.lock();
        let (present, took) = queue.last;
        let mut left = (took / 4).min(GATHER_MAX);
        queue.wanted = if took < GATHER_FROM { 0 } else { present.min(self.bounds.batch) };
        while queue.jobs < queue.wanted && !left.is_zero() {
            (queue, left) = self.arrived.wait_within(&self.queue, queue, left);
        }
        queue.wanted = 0;
        let (group, jobs) = queue.groups.pop_front()?;
        queue.jobs -= jobs.len();
        Some((group, jobs))
    }

    fn commit(&self, jobs: Vec<T::Job>) {
        let failed = self.failure();
        let mut answers = Vec::with_capacity(jobs.len());
        let failure = match failed {
            Some(reason) => Some(Failure::Lasting(reason)),
            None => {
                let result = catch_unwind(AssertUnwindSafe(|| self.transaction.run(jobs, &mut answers)));
                result.unwrap_or_else(|_| Err(Error::Internal("a panic".into()))).unwrap_or_else(|error| {
                    tracing::error!(%error, "commit failed, the store refuses writes until it is reopened");
                    let reason = self.transaction.failed(error);
                    self.refuse(reason.clone());
                    Some(Failure::Lasting(reason))
                })
            }
        };
        for answer in answers {
            answer(failure.as_ref());
        }
    }
}
