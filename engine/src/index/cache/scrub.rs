//! Keeping what has gone away out of the files of the indexes.
//!
//! Snapshots are written without the cards that had gone by then. These here bring the files of a
//! tenant up to that at once, however little else has changed, or remove them altogether.

use crate::Result;
use crate::card::Track;
use crate::index::cache::load::fits;
use crate::index::cache::{IndexCache, Key, Slot, SlotRef, When, write};
use crate::index::files::{PartitionFiles, tenant_directory};
use crate::store::{Database, TenantId, io};
use crate::sync::Ordering;

/// What was done to the files of a tenant's indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Scrubbed {
    /// Snapshots that were written anew.
    pub(crate) written: usize,
    /// Files that were removed; their indexes are made anew on use.
    pub(crate) removed: usize,
}

impl IndexCache {
    /// Leaves no file of a tenant's partitions that holds anything of a card that has gone away:
    /// they are written anew, or removed where the partition is not in memory.
    ///
    /// # Errors
    /// When a file cannot be read, written or removed, or the store not be read; then the rest may
    /// be as it was, and it can be done again.
    pub(crate) fn scrub(&self, database: &Database, tenant: TenantId) -> Result<Scrubbed> {
        let mut done = Scrubbed::default();
        for track in Track::ALL {
            self.with_files((tenant, *track), |slot| {
                scrub(database, (tenant, *track), slot, &mut done)?;
                if slot.due.swap(false, Ordering::Relaxed) {
                    self.wake.up();
                }
                Ok(())
            })?;
        }
        Ok(done)
    }

    /// Drops all indexes of a tenant from memory and removes its directory of index files. Gives
    /// how many files there were. Who still uses one of them goes on with what it was.
    ///
    /// # Errors
    /// When a file cannot be removed; then it can be done again.
    pub(crate) fn forget_tenant(&self, database: &Database, tenant: TenantId) -> Result<usize> {
        let mut removed = 0;
        for track in Track::ALL {
            let key = (tenant, *track);
            self.with_files(key, |slot| {
                self.remove(key, slot);
                removed += PartitionFiles::new(database, tenant, *track).remove(None)?;
                Ok(())
            })?;
        }
        removed += usize::from(database.lookups().forget(tenant)?);
        let (io, directory) = (database.io(), tenant_directory(database, tenant));
        if !io.exists(&directory) {
            return Ok(removed);
        }
        for path in io::at(&directory, io.list(&directory))? {
            removed += usize::from(io::remove_file(io, &path)?);
        }
        io::at(&directory, io.remove_directory(&directory))?;
        let above = io::parent(&directory);
        io::at(above, io.sync_directory(above))?;
        Ok(removed)
    }

    /// Works on the files of a partition while nobody else reads or writes them. A partition that
    /// is not in memory is not brought there.
    fn with_files<T>(&self, key: Key, work: impl FnOnce(&SlotRef) -> Result<T>) -> Result<T> {
        loop {
            let slot = self.slots.lock().entry(key).or_insert_with(|| SlotRef::new(Slot::new())).clone();
            let disk = slot.disk.lock();
            if !self.holds(key, &slot) {
                drop(disk);
                continue;
            }
            let result = work(&slot);
            if !slot.is_ready() {
                // Who waits to load it begins again with another slot.
                self.remove(key, &slot);
            }
            return result;
        }
    }
}

/// As [`IndexCache::scrub`], for one partition whose files are held.
fn scrub(database: &Database, key: Key, slot: &Slot, done: &mut Scrubbed) -> Result<()> {
    let (tenant, track) = key;
    let files = PartitionFiles::new(database, tenant, track);
    let keep = if slot.is_ready() {
        slot.settle()?;
        let saved = || slot.saved_change.load(Ordering::Relaxed);
        if files.exist() && (slot.unscrubbed.load(Ordering::Relaxed) || saved() == 0) {
            match write(database, key, slot, When::Always) {
                Ok(written) => done.written += usize::from(written),
                Err(error) => {
                    tracing::warn!(%error, "a snapshot could not be written anew and is removed");
                    slot.set_saved(0, 0, 0);
                }
            }
        }
        (saved() > 0).then(saved)
    } else {
        match files.applied()? {
            Some(Ok(applied)) if !is_behind(database, key, applied)? => Some(applied.0),
            _ => None,
        }
    };
    done.removed += files.remove(keep)?;
    Ok(())
}

/// True when a card of the track has gone away since a file was written, or the file is of another
/// store.
fn is_behind(database: &Database, (tenant, track): Key, applied: (u64, u64)) -> Result<bool> {
    let tables = database.read()?;
    // How many rows it has does not matter: one without changes is as good as none.
    if fits(&tables, tenant, applied, 1).is_err() {
        return Ok(true);
    }
    for logged in tables.changes(tenant, applied.0)? {
        let change = logged?.change;
        if change.track == track && change.kind.takes_away() {
            return Ok(true);
        }
    }
    Ok(false)
}
