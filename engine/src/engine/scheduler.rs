//! Forgetting that happens by itself: off the request path, one run at a time.
//!
//! A run plans for the tenants for which somebody has set a policy, writes the plan, and carries
//! it out in pieces with pauses in between, longer ones while recalls take longer than they did
//! before. When something is due is told by the store's clock; only pauses are real time. A run
//! that was cut short is finished by the next one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Result;
use crate::engine::forgetting::Scope;
use crate::engine::planning::{plan_if_any, plan_record};
use crate::engine::running::apply;
use crate::engine::{Inner, Store};
use crate::forget::plan::TenantPart;
use crate::forget::resolve::{Policies, Schedule};
use crate::forget::rules::{policies_of, stored_policy};
use crate::forget::run::RunRecord;
use crate::store::{STORE, TableId, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Action, AppliedPlan, Apply, MakePlan, PlanId};

/// How often the thread looks whether something is due.
const LOOK: Duration = Duration::from_secs(1);
/// A recall that takes so much longer than before a run lets the run wait longer.
const SLOWER: f64 = 1.2;
/// The longest pause between two pieces.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How scheduled forgetting stands.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SchedulerStatus {
    /// True when the store was opened with a scheduler.
    pub scheduled: bool,
    /// True while a run is under way.
    pub running: bool,
    /// Of the run that is under way: the plan that it carries out, once there is one.
    pub plan: Option<PlanId>,
    /// How many of its items are done, and how many there are.
    pub done: u64,
    /// See `done`.
    pub of: u64,
    /// When the last run began; absent before the first.
    pub last_run: Option<Timestamp>,
    /// When the next one is due, with a scheduler; absent before the first.
    pub next_run: Option<Timestamp>,
    /// Runs since the store was opened, those that found nothing included.
    pub runs: u64,
    /// Cards changed by them.
    pub applied: u64,
    /// Cards that a plan named and that had changed since.
    pub skipped: u64,
    /// Why the last run failed, if it did.
    pub error: Option<String>,
}

/// What is known of scheduled runs, and of how long recalls take meanwhile.
#[derive(Debug, Default)]
pub(super) struct Scheduler {
    /// Held by the run that is under way.
    one: Mutex<()>,
    status: Mutex<SchedulerStatus>,
    /// A moving mean of how long recalls take, in nanoseconds; 0 before the first one.
    recall: AtomicU64,
}

impl Scheduler {
    /// Notes how long a recall took.
    pub(super) fn note(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
        let before = self.recall.load(Ordering::Relaxed);
        // Two at once may lose one: it is a mean.
        let mean = if before == 0 { took } else { before - before / 16 + took / 16 };
        self.recall.store(mean.max(1), Ordering::Relaxed);
    }
}

/// Pauses between the pieces of a run.
struct Pauses<'a> {
    scheduler: &'a Scheduler,
    slice: Duration,
    pause: Duration,
    /// How long recalls took before the run.
    before: u64,
    since: Instant,
}

impl Pauses<'_> {
    /// Waits where the slice is used up, longer where recalls have become slower.
    fn take(&mut self) {
        let recall = self.scheduler.recall.load(Ordering::Relaxed);
        let slower = self.before > 0 && recall as f64 > self.before as f64 * SLOWER;
        if self.since.elapsed() < self.slice && !slower {
            return;
        }
        self.pause = match slower {
            true => (self.pause * 2).min(PAUSE_MAX),
            false => self.pause,
        };
        std::thread::sleep(self.pause);
        self.since = Instant::now();
    }
}

impl Store {
    /// Carries out what is due by the policies that were set, if the last run was long enough ago
    /// and none is under way; gives what was done. The scheduler calls it; an application without
    /// one may call it when it likes.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn forget_due(&self) -> Result<Option<AppliedPlan>> {
        let scheduler = &self.inner.scheduler;
        let Some(_one) = scheduler.one.try_lock() else { return Ok(None) };
        let now = self.clock().now();
        let schedule = self.schedule()?;
        let last = scheduler.status.lock().last_run;
        if last.is_some_and(|last| now < last.plus(schedule.every) && now >= last) {
            return Ok(None);
        }
        {
            let mut status = scheduler.status.lock();
            (status.last_run, status.running) = (Some(now), true);
            status.next_run = status.scheduled.then(|| now.plus(schedule.every));
            status.runs += 1;
        }
        let done = self.run(&schedule);
        let mut status = scheduler.status.lock();
        (status.running, status.plan, status.done, status.of) = (false, None, 0, 0);
        status.error = done.as_ref().err().map(ToString::to_string);
        if let Ok(Some(done)) = &done {
            status.applied += done.totals.applied;
            status.skipped += done.totals.skipped;
        }
        done
    }

    /// How scheduled forgetting stands. The last run may be one from before the store was opened.
    pub fn scheduler(&self) -> SchedulerStatus {
        let mut status = self.inner.scheduler.status.lock().clone();
        if status.last_run.is_none() {
            status.last_run = self.last_scheduled().unwrap_or_default();
        }
        status
    }

    /// When the last scheduled run that did something began.
    fn last_scheduled(&self) -> Result<Option<Timestamp>> {
        let tables = self.database().read()?;
        let mut last = None;
        for run in tables.documents::<RunRecord>(TableId::Runs, STORE)? {
            let (_, run) = run?;
            if run.actor.as_deref() == Some(ACTOR) {
                last = last.max(Some(run.started_at));
            }
        }
        Ok(last)
    }

    fn schedule(&self) -> Result<Schedule> {
        let store = stored_policy(&self.database().read()?, STORE)?;
        Ok(Policies { store, tenant: None }.schedule())
    }

    fn run(&self, schedule: &Schedule) -> Result<Option<AppliedPlan>> {
        let scheduler = &self.inner.scheduler;
        let mut pauses = Pauses {
            scheduler,
            slice: Duration::from_millis(schedule.slice_ms),
            pause: Duration::from_millis(schedule.pause_ms),
            before: scheduler.recall.load(Ordering::Relaxed),
            since: Instant::now(),
        };
        let mut carry_out = |plan: PlanId| {
            let request = Apply { plan: Some(plan), actor: Some(ACTOR.into()), ..Apply::default() };
            apply(Scope::Store(self), request, |done, of| {
                {
                    let mut status = scheduler.status.lock();
                    (status.plan, status.done, status.of) = (Some(plan), done, of);
                }
                pauses.take();
                true
            })
        };
        if let Some(plan) = self.unfinished()? {
            carry_out(plan)?;
        }
        let tables = self.database().read()?;
        let mut tenants = Vec::new();
        for (tenant, record) in tables.tenants()? {
            let policies = policies_of(&tables, tenant)?;
            if policies.is_set() && policies.enabled() && policies.limits().includes(&record.name) {
                tenants.push(record.name);
            }
        }
        drop(tables);
        if tenants.is_empty() {
            return Ok(None);
        }
        let request = MakePlan { tenants, ..MakePlan::default() };
        let done = match plan_if_any(Scope::Store(self), &request)? {
            Some(plan) if !schedule.plan_only => carry_out(plan)?,
            _ => return Ok(None),
        };
        // Of those from whom the run has archived something: the log of another one is none of its business.
        let archives = |part: &&TenantPart| {
            [Action::Fade, Action::Archive].iter().any(|of| part.actions.contains_key(of.name()))
        };
        let (_, record) = plan_record(Scope::Store(self), done.plan)?;
        let tenants: Vec<TenantId> =
            record.tenants.iter().filter(archives).map(|part| TenantId(part.tenant)).collect();
        if let Err(error) = self.freeze_of(&tenants, None) {
            // What is archived stays where it is, until the next time.
            tracing::warn!(%error, "archived cards could not be moved to the cold tier yet");
        }
        Ok(Some(done))
    }

    /// The plan of a scheduled run that was cut short.
    fn unfinished(&self) -> Result<Option<PlanId>> {
        let tables = self.database().read()?;
        for run in tables.documents::<RunRecord>(TableId::Runs, STORE)? {
            let (_, run) = run?;
            let open = run.finished_at.is_none() && run.undone_at.is_none();
            if open && run.actor.as_deref() == Some(ACTOR) {
                return Ok(run.plan);
            }
        }
        Ok(None)
    }
}

/// Who the history names for scheduled runs.
const ACTOR: &str = "scheduler";

/// The thread that carries out what is due.
#[derive(Debug)]
pub(super) struct SchedulerThread {
    thread: Option<JoinHandle<()>>,
    stop: Option<Sender<()>>,
}

impl SchedulerThread {
    /// Starts the thread; it ends with the store.
    pub(super) fn start(inner: &Arc<Inner>) -> Result<Self> {
        let (stop, stopped) = channel::<()>();
        let store: Weak<Inner> = Arc::downgrade(inner);
        inner.scheduler.status.lock().scheduled = true;
        let thread = std::thread::Builder::new()
            .name("memcards-forgetting".into())
            .spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK) {
                    let Some(inner) = store.upgrade() else { return };
                    if let Err(error) = (Store { inner }).forget_due() {
                        tracing::error!(%error, "a scheduled run of forgetting failed");
                    }
                }
            })
            .map_err(|source| crate::Error::Io { path: "the scheduler's thread".into(), source })?;
        Ok(Self { thread: Some(thread), stop: Some(stop) })
    }
}

impl Drop for SchedulerThread {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            // It may be the thread itself that lets go of the store last.
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            tracing::error!("the scheduler's thread ended with a panic");
        }
    }
}
