//! Partitions on demand, under a memory budget.
//!
//! A partition loads on first use, from its snapshot file and the changes since, or from
//! the change log alone. The least recently used ones leave when the budget is exceeded.
//! Committed changes wait beside their partition until somebody reads it, or many have come
//! together: the writer waits neither for a load nor for a scan, and who reads sees them all.

mod load;
#[cfg(all(test, loom))]
mod model;
mod rebuild;
mod scrub;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use crate::card::Track;
use crate::index::cache::load::{Loaded, load};
use crate::index::files::{PartitionFiles, Snapshot};
use crate::index::keeper::Wake;
use crate::index::partition::{Partition, Update};
use crate::index::vector::VectorIndex;
use crate::store::{Applied, Database, TenantId};
use crate::sync::{self, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, RwLock, RwLockReadGuard};
use crate::{Error, Result};

/// Smaller partitions are rebuilt faster than a file is worth.
const SNAPSHOT_MIN_ROWS: usize = 128;
/// A partition further behind the log than this is worth a file, however small.
const SNAPSHOT_MAX_CHANGES: u64 = 4096;

type Key = (TenantId, Track);

/// Changes that wait from here on are taken in by the caller who has written the last one.
const WAITING: usize = 64;
/// Changes that wait from here on are taken in at once.
const WAITING_MAX: usize = 4096;

/// For so many changes a writer helps once, if very many vectors wait to be linked: who writes
/// now and then is not made to pay for what others, or a rebuild, have left.
const UNHELPED: usize = 16;

/// A partition, once it is there.
#[derive(Debug)]
enum Content {
    Loading,
    Ready(Box<Partition>),
}

/// Committed changes that a partition has not taken in yet.
#[derive(Debug, Default)]
struct Waiting {
    updates: Vec<Update>,
    /// The tenant's last change, other tracks included.
    last: (u64, u64),
}

/// The place of one partition in the cache.
#[derive(Debug)]
pub(crate) struct Slot {
    content: RwLock<Content>,
    waiting: Mutex<Waiting>,
    /// True when its vectors have maintenance due, or it is to be made anew.
    due: AtomicBool,
    /// Changes taken in since a writer last helped to link; 0 while no help is needed.
    unhelped: AtomicUsize,
    /// How many changes wait.
    behind: AtomicUsize,
    /// Held while the partition is read from files or its file is written: once at a time.
    disk: Mutex<()>,
    used: AtomicU64,
    bytes: AtomicUsize,
    /// Rows and last change in the snapshot file; 0 when there is none.
    saved: AtomicUsize,
    saved_change: AtomicU64,
    /// Rows that are linked in the graph of that file.
    saved_linked: AtomicUsize,
    /// True when a file that is there may hold cards that have gone away since it was written.
    unscrubbed: AtomicBool,
    /// How many rows were dropped when making the partition anew was last tried.
    tried: AtomicUsize,
}

/// Who uses a partition: it stays, and goes on receiving changes.
pub(crate) type SlotRef = sync::Arc<Slot>;

/// A partition that is kept from changing.
#[derive(Debug)]
pub(crate) struct PartitionGuard<'a>(RwLockReadGuard<'a, Content>);

impl Deref for PartitionGuard<'_> {
    type Target = Partition;

    fn deref(&self) -> &Partition {
        match &*self.0 {
            Content::Ready(partition) => partition,
            // It was there when the guard was made, and nothing changes while that lives.
            Content::Loading => unreachable!("a guard of a partition that is not there"),
        }
    }
}

/// When a snapshot file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Enough has changed to be worth it.
    Worth,
    /// Anything has changed.
    Changed,
    /// In any case.
    Always,
}

impl Slot {
    fn new() -> Self {
        Self {
            content: RwLock::new(Content::Loading),
            waiting: Mutex::new(Waiting::default()),
            due: AtomicBool::new(false),
            unhelped: AtomicUsize::new(0),
            behind: AtomicUsize::new(0),
            disk: Mutex::new(()),
            used: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            saved: AtomicUsize::new(0),
            saved_change: AtomicU64::new(0),
            saved_linked: AtomicUsize::new(0),
            unscrubbed: AtomicBool::new(false),
            tried: AtomicUsize::new(0),
        }
    }

    /// A partition that is not the cache's: made for the length of a question.
    pub(crate) fn of(partition: Partition) -> Self {
        Self { content: RwLock::new(Content::Ready(Box::new(partition))), ..Self::new() }
    }

    /// Takes over what is in the snapshot file that a partition came from or went to.
    fn set_saved(&self, rows: usize, change: u64, linked: usize) {
        self.saved.store(rows, Ordering::Relaxed);
        self.saved_change.store(change, Ordering::Relaxed);
        self.saved_linked.store(linked, Ordering::Relaxed);
    }

    /// True when the partition is worth making anew, and that was not tried for this reason.
    fn is_sparse(&self, partition: &Partition) -> bool {
        partition.is_sparse() && partition.dropped() > self.tried.load(Ordering::Relaxed)
    }

    /// The partition, kept from changing while the guard lives. Never take a second guard
    /// of the same slot in one thread: a writer that waits in between would block both.
    pub(crate) fn read(&self) -> Result<PartitionGuard<'_>> {
        if self.behind.load(Ordering::Acquire) > 0 {
            self.settle()?;
        }
        let content = self.content.read();
        match &*content {
            Content::Ready(_) => Ok(PartitionGuard(content)),
            Content::Loading => Err(Error::Internal("a partition was used before it was loaded".into())),
        }
    }

    /// The vectors of a partition that is loaded.
    fn vectors(&self) -> Option<Arc<VectorIndex>> {
        match &*self.content.read() {
            Content::Ready(partition) => partition.vectors().cloned(),
            Content::Loading => None,
        }
    }

    fn is_ready(&self) -> bool {
        matches!(&*self.content.read(), Content::Ready(_))
    }

    /// Takes in the changes that wait. When one does not fit the partition is loaded anew on
    /// its next use: the store is the truth.
    fn settle(&self) -> Result<()> {
        let mut content = self.content.write();
        let Content::Ready(partition) = &mut *content else { return Ok(()) };
        let Waiting { updates, last } = {
            let mut waiting = self.waiting.lock();
            self.behind.store(0, Ordering::Release);
            Waiting { updates: std::mem::take(&mut waiting.updates), last: waiting.last }
        };
        let dropped = partition.dropped();
        let result = updates.iter().try_for_each(|update| partition.apply(update));
        partition.catch_up(last.0, last.1);
        if partition.dropped() > dropped {
            self.unscrubbed.store(true, Ordering::Relaxed);
        }
        self.bytes.store(partition.bytes(), Ordering::Relaxed);
        let vectors = partition.vectors();
        let due = vectors.is_some_and(|index| index.is_due()) || self.is_sparse(partition);
        self.due.store(due, Ordering::Relaxed);
        if vectors.is_some_and(|index| index.needs_help()) {
            self.unhelped.fetch_add(updates.len(), Ordering::Relaxed);
        } else {
            self.unhelped.store(0, Ordering::Relaxed);
        }
        if let Err(error) = &result {
            tracing::error!(%error, "a partition could not take a change and is dropped");
            *content = Content::Loading;
        }
        result
    }

    /// Adds a committed change; gives how many wait.
    fn push(&self, update: Update) -> usize {
        let mut waiting = self.waiting.lock();
        waiting.updates.push(update);
        self.behind.store(waiting.updates.len(), Ordering::Release);
        waiting.updates.len()
    }
}

/// All loaded partitions of a store.
#[derive(Debug)]
pub(crate) struct IndexCache {
    /// In order: which one of several equals leaves does not depend on chance.
    slots: Mutex<BTreeMap<Key, SlotRef>>,
    tick: AtomicU64,
    budget: usize,
    /// Wakes the thread that links vectors.
    wake: Wake,
}

/// Figures of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheStatistics {
    /// Partitions in memory.
    pub partitions: usize,
    /// Memory they use, roughly, in bytes.
    pub bytes: usize,
    /// Budget in bytes.
    pub budget: usize,
    /// Vectors that are linked in a graph.
    pub linked: usize,
}

impl IndexCache {
    /// An empty cache with a budget in bytes.
    pub(crate) fn new(budget: usize) -> Self {
        Self { slots: Mutex::new(BTreeMap::new()), tick: AtomicU64::new(1), budget, wake: Wake::default() }
    }

    /// The partition, loaded.
    ///
    /// # Errors
    /// When the store cannot be read; a damaged snapshot file only costs a rebuild.
    pub(crate) fn partition(&self, database: &Database, tenant: TenantId, track: Track) -> Result<SlotRef> {
        let (slot, loaded) = self.obtain((tenant, track), || load(database, tenant, track))?;
        if loaded {
            self.make_room(database.lookups().bytes(), |key, slot| {
                if let Err(error) = self.save(database, key, slot, When::Worth) {
                    tracing::warn!(%error, "a snapshot could not be written; the partition will be rebuilt");
                }
            });
        }
        Ok(slot)
    }

    /// The partition, and whether it was loaded for this.
    fn obtain(&self, key: Key, load: impl Fn() -> Result<Loaded>) -> Result<(SlotRef, bool)> {
        loop {
            let slot = self.slots.lock().entry(key).or_insert_with(|| SlotRef::new(Slot::new())).clone();
            slot.used.store(self.tick.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
            if slot.is_ready() {
                if slot.due.swap(false, Ordering::Relaxed) {
                    self.wake.up();
                }
                return Ok((slot, false));
            }
            let guard = slot.disk.lock();
            if slot.is_ready() {
                drop(guard);
                return Ok((slot, false));
            }
            // Another caller failed to load it, or forgot it, and took it out: changes no longer
            // reach it.
            if !self.holds(key, &slot) {
                continue;
            }
            // The transaction starts after the slot is known to the writer: a change is in the
            // transaction, or it waits in the slot, or both.
            let loaded = load().and_then(|loaded| {
                let Loaded { partition, saved, saved_change, unscrubbed } = loaded;
                slot.bytes.store(partition.bytes(), Ordering::Relaxed);
                slot.set_saved(saved, saved_change, partition.vectors().map_or(0, |index| index.linked()));
                slot.unscrubbed.store(unscrubbed, Ordering::Relaxed);
                *slot.content.write() = Content::Ready(Box::new(partition));
                slot.settle()
            });
            if let Err(error) = loaded {
                self.remove(key, &slot);
                return Err(error);
            }
            drop(guard);
            if slot.vectors().is_some_and(|vectors| vectors.is_unverified()) {
                self.wake.up();
            }
            return Ok((slot, true));
        }
    }

    /// What wakes the thread that does background work.
    pub(crate) fn wake(&self) -> &Wake {
        &self.wake
    }

    /// Vector indexes that have maintenance due.
    pub(crate) fn due(&self) -> Vec<Arc<VectorIndex>> {
        let slots: Vec<SlotRef> = self.slots.lock().values().cloned().collect();
        slots.iter().filter_map(|slot| slot.vectors()).filter(|index| index.is_due()).collect()
    }

    /// True when the partition is loaded, so that changes will be applied to it.
    pub(crate) fn is_loaded(&self, tenant: TenantId, track: Track) -> bool {
        let slot = self.slots.lock().get(&(tenant, track)).cloned();
        slot.is_some_and(|slot| slot.is_ready())
    }

    /// Lets a partition take in the changes that wait beside it, if these are many, and helps
    /// to link its vectors if very many of them are not linked yet.
    pub(crate) fn relieve(&self, tenant: TenantId, track: Track) {
        let Some(slot) = self.slots.lock().get(&(tenant, track)).cloned() else { return };
        if slot.behind.load(Ordering::Relaxed) >= WAITING {
            // Whoever needs the partition is told what went wrong.
            let _ = slot.settle();
            if slot.due.swap(false, Ordering::Relaxed) {
                self.wake.up();
            }
        }
        // Without the partition's lock: linking takes longer than any reader should wait.
        if slot.unhelped.load(Ordering::Relaxed) >= UNHELPED
            && slot.unhelped.swap(0, Ordering::Relaxed) >= UNHELPED
            && let Some(vectors) = slot.vectors()
        {
            vectors.help();
        }
    }

    /// Hands committed changes to the partitions that are loaded or loading.
    pub(crate) fn apply(&self, applied: &[Applied]) {
        for change in applied {
            let key = (change.tenant, change.card.track);
            let Some(slot) = self.slots.lock().get(&key).cloned() else { continue };
            let update = Update {
                sequence: change.sequence,
                checksum: change.checksum,
                kind: change.kind,
                card: change.card.clone(),
                vector: change.vector.clone(),
                prepared: change.payload.clone().and_then(|payload| payload.downcast().ok()),
            };
            if slot.push(update) >= WAITING_MAX && slot.is_ready() {
                let _ = slot.settle();
            }
        }
        self.catch_up(applied);
    }

    /// Tells the partitions of other tracks that these changes are none of theirs.
    fn catch_up(&self, applied: &[Applied]) {
        let last: HashMap<TenantId, &Applied> =
            applied.iter().map(|change| (change.tenant, change)).collect();
        let slots = self.slots.lock();
        for (tenant, change) in last {
            for slot in Track::ALL.iter().filter_map(|track| slots.get(&(tenant, *track))) {
                slot.waiting.lock().last = (change.sequence, change.checksum);
            }
        }
    }

    /// Writes snapshot files of all loaded partitions that have changed enough to be worth
    /// it (`all`: that have changed at all). Gives how many were written.
    pub(crate) fn checkpoint(&self, database: &Database, all: bool) -> Result<usize> {
        let mut slots: Vec<(Key, SlotRef)> = self.slots.lock().iter().map(|(k, s)| (*k, s.clone())).collect();
        // The same work writes the same files in the same order.
        slots.sort_unstable_by_key(|(key, _)| *key);
        let when = if all { When::Changed } else { When::Worth };
        let mut written = 0;
        for (key, slot) in slots {
            written += usize::from(self.save(database, key, &slot, when)?);
        }
        Ok(written + database.lookups().checkpoint(all)?)
    }

    /// Figures of the cache.
    pub(crate) fn statistics(&self) -> CacheStatistics {
        let slots: Vec<Arc<Slot>> = self.slots.lock().values().cloned().collect();
        let linked = |slot: &Arc<Slot>| {
            let partition = slot.read().ok()?;
            Some(partition.vectors()?.linked())
        };
        CacheStatistics {
            partitions: slots.len(),
            bytes: slots.iter().map(|slot| slot.bytes.load(Ordering::Relaxed)).sum(),
            budget: self.budget,
            linked: slots.iter().filter(|slot| slot.is_ready()).filter_map(linked).sum(),
        }
    }

    /// True while changes reach the slot.
    fn holds(&self, key: Key, slot: &SlotRef) -> bool {
        self.slots.lock().get(&key).is_some_and(|present| SlotRef::ptr_eq(present, slot))
    }

    /// Takes a slot out, unless another one has its place by now.
    fn remove(&self, key: Key, slot: &SlotRef) {
        let mut slots = self.slots.lock();
        if slots.get(&key).is_some_and(|present| SlotRef::ptr_eq(present, slot)) {
            slots.remove(&key);
        }
    }

    /// Takes out what was not used for long while there is more than the budget, of which others
    /// need a part; each is saved before.
    fn make_room(&self, others: usize, save: impl Fn(Key, &SlotRef)) {
        loop {
            let victim = {
                let budget = self.budget.saturating_sub(others);
                let slots = self.slots.lock();
                let bytes: usize = slots.values().map(|slot| slot.bytes.load(Ordering::Relaxed)).sum();
                // One partition always stays, however large.
                if bytes <= budget || slots.len() <= 1 {
                    return;
                }
                slots
                    .iter()
                    .filter(|(_, slot)| SlotRef::strong_count(slot) == 1)
                    .min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed))
                    .map(|(key, slot)| (*key, slot.clone()))
            };
            let Some((key, slot)) = victim else { return };
            save(key, &slot);
            let mut slots = self.slots.lock();
            // Taken into use while it was saved: it must go on receiving changes.
            if SlotRef::strong_count(&slot) > 2 {
                return;
            }
            slots.remove(&key);
        }
    }
}

impl IndexCache {
    /// Writes a partition's snapshot file; true when it was written.
    fn save(&self, database: &Database, key: Key, slot: &SlotRef, when: When) -> Result<bool> {
        // Two that write at once would share the temporary file.
        let _disk = slot.disk.lock();
        // Once a slot was taken out its files are none of its business.
        match self.holds(key, slot) && self.is_sound(database, key, slot) {
            true => write(database, key, slot, when),
            false => Ok(false),
        }
    }
}

/// As [`IndexCache::save`], for who holds the slot's lock for files.
fn write(database: &Database, (tenant, track): Key, slot: &Slot, when: When) -> Result<bool> {
    slot.settle()?;
    let files = PartitionFiles::new(database, tenant, track);
    let (snapshot, unscrubbed) = {
        let content = slot.content.read();
        let Content::Ready(partition) = &*content else { return Ok(false) };
        let (rows, saved) = (partition.len(), slot.saved.load(Ordering::Relaxed));
        let (change, _) = partition.applied();
        let behind = change.saturating_sub(slot.saved_change.load(Ordering::Relaxed));
        let linked = partition.vectors().map_or(0, |index| index.linked());
        let linked_since = linked.saturating_sub(slot.saved_linked.load(Ordering::Relaxed));
        let unscrubbed = slot.unscrubbed.load(Ordering::Relaxed);
        // Replaying or linking an eighth more rows costs less than writing all of them each
        // time; but a partition that stays small in a busy tenant must not read a long log
        // either.
        let worth = match when {
            When::Always => true,
            When::Changed => {
                (rows > saved || linked_since > 0) && rows >= SNAPSHOT_MIN_ROWS || unscrubbed && files.exist()
            }
            When::Worth => rows.max(saved + linked_since) >= saved + saved / 8 + SNAPSHOT_MIN_ROWS,
        };
        if !worth && behind < SNAPSHOT_MAX_CHANGES {
            return Ok(false);
        }
        let snapshot = Snapshot::of(partition, database.generation())?;
        // What goes away from here on, while others may not change the partition yet, is not
        // kept out of this file.
        slot.unscrubbed.store(false, Ordering::Relaxed);
        (snapshot, unscrubbed)
    };
    if let Err(error) = snapshot.clean(unscrubbed).and_then(|()| files.write(&snapshot)) {
        slot.unscrubbed.fetch_or(unscrubbed, Ordering::Relaxed);
        return Err(error);
    }
    slot.set_saved(snapshot.rows, snapshot.applied.0, snapshot.linked());
    Ok(true)
}
