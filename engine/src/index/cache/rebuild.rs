//! Making a partition anew in the background, when most of its rows are empty slots.
//!
//! What was dropped leaves slots that scans and counts go over and memory is kept for. The
//! new partition is read from the store beside the old one, which serves readers until then, and
//! takes its place with the changes that came in meanwhile.

use crate::Result;
use crate::index::cache::load::replay;
use crate::index::cache::{Content, IndexCache, Key, SlotRef};
use crate::index::partition::Partition;
use crate::store::Database;
use crate::sync::Ordering;

impl IndexCache {
    /// Makes the partitions anew of which most has gone away, until it is told to stop.
    pub(crate) fn rebuild_sparse(&self, database: &Database, stop: &dyn Fn() -> bool) {
        let slots: Vec<(Key, SlotRef)> =
            self.slots.lock().iter().map(|(key, slot)| (*key, slot.clone())).collect();
        for (key, slot) in slots {
            let dropped = match &*slot.content.read() {
                Content::Ready(partition) if slot.is_sparse(partition) => partition.dropped(),
                _ => continue,
            };
            // When it fails, it is tried again when more has gone.
            slot.tried.store(dropped, Ordering::Relaxed);
            match self.rebuild(database, key, &slot, stop) {
                Ok(true) => {
                    tracing::info!(tenant = key.0.0, track = key.1.name(), "a partition was made anew")
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "a partition could not be made anew and stays as it is"),
            }
        }
    }

    fn rebuild(
        &self,
        database: &Database,
        key: Key,
        slot: &SlotRef,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let (tenant, track) = key;
        let mut partition = Partition::default();
        if !replay(&database.read()?, tenant, track, &mut partition, stop)? {
            return Ok(false);
        }
        // The one that it replaces is linked; readers should not find it slower.
        while let Some(vectors) = partition.vectors().filter(|vectors| vectors.is_due())
            && !stop()
        {
            vectors.maintain(1);
        }
        // What came in meanwhile; what comes in during that is little.
        if !replay(&database.read()?, tenant, track, &mut partition, stop)? {
            return Ok(false);
        }
        // The file is of the old one: nobody may write or read it while the two change places.
        let _disk = slot.disk.lock();
        if !self.holds(key, slot) {
            return Ok(false);
        }
        let mut content = slot.content.write();
        // A change that the old one has taken in was committed before, so the store shows it;
        // one that waits is in the store too, and is not taken in twice.
        replay(&database.read()?, tenant, track, &mut partition, || false)?;
        slot.bytes.store(partition.bytes(), Ordering::Relaxed);
        slot.tried.store(0, Ordering::Relaxed);
        // Nothing of it is in a file, so the next checkpoint writes it. What the old one's file
        // still has to lose is not known: some of what waits was taken in here.
        slot.set_saved(0, 0, 0);
        slot.unscrubbed.store(true, Ordering::Relaxed);
        let old = std::mem::replace(&mut *content, Content::Ready(Box::new(partition)));
        // To give much memory back takes a while.
        drop(content);
        drop(old);
        Ok(true)
    }
}
