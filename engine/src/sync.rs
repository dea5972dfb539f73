//! Locks and atomics of what threads share: those of the standard library and of parking_lot, or
//! those of the model checker, so that it tries the code itself in every order of its steps.
//!
//! `.ci/sanitize model` checks. A lock here has no poison: what it protects is whole between any
//! two statements. This module knows nothing of what is shared.

#[cfg(all(test, loom))]
pub(crate) use checked::*;
#[cfg(not(all(test, loom)))]
pub(crate) use real::*;

#[cfg(not(all(test, loom)))]
mod real {
    use std::time::{Duration, Instant};

    pub(crate) use std::sync::Arc;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

    pub(crate) use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

    /// One at a time.
    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(parking_lot::Mutex::new(value))
        }

        #[inline]
        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock()
        }

        /// Waits no longer than that.
        pub(crate) fn lock_within(&self, time: Duration) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock_for(time)
        }
    }

    /// One who writes, or many who read.
    #[derive(Debug, Default)]
    pub(crate) struct RwLock<T>(parking_lot::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(parking_lot::RwLock::new(value))
        }

        #[inline]
        pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read()
        }

        #[inline]
        pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write()
        }
    }

    /// A signal to who waits.
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(&mut guard);
            guard
        }

        /// Waits no longer than that, with a guard of that lock; gives what is left of the time.
        pub(crate) fn wait_within<'a, T>(
            &self,
            _lock: &'a Mutex<T>,
            mut guard: MutexGuard<'a, T>,
            time: Duration,
        ) -> (MutexGuard<'a, T>, Duration) {
            let end = Instant::now() + time;
            self.0.wait_until(&mut guard, end);
            (guard, end.saturating_duration_since(Instant::now()))
        }
    }

    /// Wakes the thread that has made it; a wake that comes before the wait is not lost.
    #[derive(Clone, Debug)]
    pub(crate) struct Waker(std::thread::Thread);

    impl Waker {
        /// Of this thread.
        pub(crate) fn new() -> Self {
            Self(std::thread::current())
        }

        pub(crate) fn wake(&self) {
            self.0.unpark();
        }

        /// Waits for a wake, or for no reason; only in the thread that has made it.
        pub(crate) fn wait(&self) {
            std::thread::park();
        }
    }

    /// Does something, and tells how long it took.
    pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
        let start = Instant::now();
        let result = work();
        (result, start.elapsed())
    }
}

#[cfg(all(test, loom))]
mod checked {
    use std::fmt;
    use std::time::Duration;

    pub(crate) use loom::sync::Arc;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        /// Time is nothing to the checker.
        pub(crate) fn lock_within(&self, _: Duration) -> Option<MutexGuard<'_, T>> {
            Some(self.lock())
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    impl<T> fmt::Debug for Mutex<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Mutex")
        }
    }

    pub(crate) struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::RwLock::new(value))
        }

        pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().unwrap()
        }

        pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().unwrap()
        }
    }

    impl<T> fmt::Debug for RwLock<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("RwLock")
        }
    }

    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Default for Condvar {
        fn default() -> Self {
            Self(loom::sync::Condvar::new())
        }
    }

    impl Condvar {
        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap()
        }

        /// The time is over once others had the chance to do something.
        pub(crate) fn wait_within<'a, T>(
            &self,
            lock: &'a Mutex<T>,
            guard: MutexGuard<'a, T>,
            _: Duration,
        ) -> (MutexGuard<'a, T>, Duration) {
            drop(guard);
            loom::thread::yield_now();
            (lock.lock(), Duration::ZERO)
        }
    }

    /// Of one wait alone: the checker's own parking mixes them up.
    #[derive(Clone)]
    pub(crate) struct Waker(Arc<(Mutex<bool>, Condvar)>);

    impl Waker {
        pub(crate) fn new() -> Self {
            Self(Arc::default())
        }

        pub(crate) fn wake(&self) {
            *self.0.0.lock() = true;
            self.0.1.notify_one();
        }

        pub(crate) fn wait(&self) {
            let mut woken = self.0.0.lock();
            while !std::mem::take(&mut *woken) {
                woken = self.0.1.wait(woken);
            }
        }
    }

    impl fmt::Debug for Waker {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Waker")
        }
    }

    /// Everything takes so long that whoever waits for others does so.
    pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
        (work(), Duration::from_millis(4))
    }

    /// Tries all interleavings, up to a number of preemptions, and says how many there were.
    /// `LOOM_MAX_PREEMPTIONS` and `LOOM_MAX_DURATION` (seconds for each model) widen the search.
    pub(crate) fn check(name: &str, model: impl Fn() + Sync + Send + 'static) {
        use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

        let mut builder = loom::model::Builder::new();
        builder.max_branches = 200_000;
        builder.preemption_bound = builder.preemption_bound.or(Some(2));
        let most = builder.max_duration.unwrap_or(Duration::from_secs(30));
        builder.max_duration = Some(most);
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let before = RUNS.load(Relaxed);
        let start = std::time::Instant::now();
        builder.check(move || {
            RUNS.fetch_add(1, Relaxed);
            model();
        });
        let whole = if start.elapsed() < most { "all" } else { "stopped by time" };
        eprintln!("{name}: {} interleavings, {whole}", RUNS.load(Relaxed) - before);
    }
}
