//! What the index needs of the model checker beside [`crate::sync`]: plain memory that is
//! watched ([`Watch`]), values that are published.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p memcards --lib vector::model` checks.

pub(crate) use crate::sync::{Arc, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};

#[cfg(not(all(test, loom)))]
pub(crate) use real::*;

#[cfg(all(test, loom))]
pub(crate) use checked::*;

#[cfg(not(all(test, loom)))]
mod real {
    use std::ops::Range;

    pub(crate) use arc_swap::ArcSwap;
    pub(crate) use std::sync::OnceLock;
    pub(crate) use std::thread_local;

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
    pub(crate) use loom::thread_local;

    use crate::sync::{Arc, AtomicBool, Ordering};

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
