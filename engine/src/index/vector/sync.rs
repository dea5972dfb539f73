//! Atomics and locks of the index: those of the standard library, or those of the model
//! checker, so that it tries the code of the index itself in every order of its steps.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p memcards --lib vector::model` checks; see
//! [`Watch`] for how plain memory takes part.

#[cfg(not(all(test, loom)))]
pub(crate) use real::*;

#[cfg(all(test, loom))]
pub(crate) use checked::*;

#[cfg(not(all(test, loom)))]
mod real {
    use std::ops::Range;

    use std::time::Duration;

    pub(crate) use arc_swap::ArcSwap;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Arc, OnceLock};
    pub(crate) use std::thread_local;

    /// A lock without poison.
    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

    impl<T> Mutex<T> {
        #[inline]
        pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, T> {
            self.0.lock()
        }

        /// Waits no longer than that.
        pub(crate) fn lock_within(&self, time: Duration) -> Option<parking_lot::MutexGuard<'_, T>> {
            self.0.try_lock_for(time)
        }
    }

    /// Tells the model checker which rows of plain memory are read and written; nothing else.
    #[derive(Debug)]
    pub(crate) struct Watch;

    impl Watch {
        #[inline(always)]
        pub(crate) fn new(_rows: usize) -> Self {
            Self
        }

        #[inline(always)]
        pub(crate) fn read(&self, _rows: Range<usize>) {}

        #[inline(always)]
        pub(crate) fn write(&self, _rows: Range<usize>) {}
    }
}

#[cfg(all(test, loom))]
#[allow(unsafe_code)]
mod checked {
    use std::fmt;
    use std::ops::Range;

    use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::Arc;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::thread_local;

    /// One cell per row: the checker fails when a row is read and written without an order.
    pub(crate) struct Watch(Vec<UnsafeCell<()>>);

    // SAFETY: the cells hold nothing; the checker looks at who uses them when.
    unsafe impl Sync for Watch {}
    // SAFETY: as above.
    unsafe impl Send for Watch {}

    impl Watch {
        pub(crate) fn new(rows: usize) -> Self {
            Self((0..rows).map(|_| UnsafeCell::new(())).collect())
        }

        pub(crate) fn read(&self, rows: Range<usize>) {
            self.0[rows].iter().for_each(|row| row.with(|_| ()));
        }

        pub(crate) fn write(&self, rows: Range<usize>) {
            self.0[rows].iter().for_each(|row| row.with_mut(|_| ()));
        }
    }

    impl fmt::Debug for Watch {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Watch")
        }
    }

    /// A lock without poison.
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        /// Time is nothing to the checker.
        pub(crate) fn lock_within(&self, _: std::time::Duration) -> Option<loom::sync::MutexGuard<'_, T>> {
            Some(self.lock())
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self(loom::sync::Mutex::new(T::default()))
        }
    }

    impl<T> fmt::Debug for Mutex<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Mutex")
        }
    }

    /// Publishes one value after the other; a lock does what the checker cannot look into.
    pub(crate) struct ArcSwap<T>(loom::sync::Mutex<Arc<T>>);

    impl<T> ArcSwap<T> {
        pub(crate) fn from_pointee(value: T) -> Self {
            Self(loom::sync::Mutex::new(Arc::new(value)))
        }

        pub(crate) fn load(&self) -> Arc<T> {
            self.0.lock().unwrap().clone()
        }

        pub(crate) fn load_full(&self) -> Arc<T> {
            self.load()
        }

        pub(crate) fn store(&self, value: Arc<T>) {
            let old = std::mem::replace(&mut *self.0.lock().unwrap(), value);
            drop(old);
        }
    }

    impl<T> fmt::Debug for ArcSwap<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("ArcSwap")
        }
    }

    /// A value that is set once; the flag orders setting and getting for the checker.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        set: AtomicBool,
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self { value: std::sync::OnceLock::new(), set: AtomicBool::new(false) }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            if self.set.load(Ordering::Acquire) { self.value.get() } else { None }
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            self.value.set(value)?;
            self.set.store(true, Ordering::Release);
            Ok(())
        }

        /// Only one thread at a time may begin, as the index sees to by its locks.
        pub(crate) fn get_or_init(&self, value: impl FnOnce() -> T) -> &T {
            if self.get().is_none() {
                let _ = self.set(value());
            }
            self.get().unwrap()
        }
    }
}
