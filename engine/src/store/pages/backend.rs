//! The pages as redb sees them: a file of its own.

use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::store::pages::Pages;

/// redb's view of the pages.
#[derive(Debug)]
pub(crate) struct Backend(pub(super) Arc<Pages>);

impl Backend {
    /// Notes a failure: redb gives up for good after the first one.
    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.0.failed.store(true, Ordering::Release);
        }
        result
    }
}

impl redb::StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.noted(self.0.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.noted(self.0.read(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.noted(self.0.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.noted(self.0.sync())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.noted(self.0.write(offset, data))
    }

    // The directory's lock keeps other processes out. What salvages opens the file as a reader
    // beside a writer would, which asks for locks of ranges.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, redb::BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, redb::BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), redb::BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), redb::BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), redb::BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, redb::BackendError> {
        Ok(false)
    }
}
