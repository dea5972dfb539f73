//! Exact look-ups in memory: kind and hash → card, one index per tenant.
//!
//! The truth is the change log, whose entries carry the look-ups that changed with them. An
//! index is derived from it like a partition: loaded on first use from its snapshot file and
//! the changes since, or from the log alone; dropped when the budget is exceeded; deleted at
//! any time. It is kept out of the store's tree because hashed keys touch a page of their own
//! with every write. This module knows nothing of what the look-ups mean.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use xxhash_rust::xxh3::xxh3_64;

use crate::card::CardId;
use crate::store::io::{self, Io};
use crate::store::keys::{LookupKey, TenantId};
use crate::store::record::LookupChange;
use crate::store::tables::{ReadBytes, Tables};
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"MCLOOKUP";
/// Raise it whenever the layout or the hashes of look-ups change: old files are rebuilt.
const LAYOUT: u64 = 1;
const HEADER: usize = 40;
/// A key and its card.
const ENTRY: usize = 17 + 16;

/// Smaller indexes are rebuilt faster than a file is worth.
const SNAPSHOT_MIN_ENTRIES: usize = 128;
/// Without being asked, a file is written when this many look-ups are not in it: to read them
/// from the log takes a millisecond, to write a file takes several.
const SNAPSHOT_MIN_CHANGED: usize = 4096;
/// An index further behind the log than this is worth a file, however small.
const SNAPSHOT_MAX_CHANGES: u64 = 65_536;

/// Name of the snapshot file in a tenant's directory of index files.
pub(crate) const FILE_NAME: &str = "lookup.idx";

/// The look-ups of one tenant as of one change.
#[derive(Debug, Default)]
pub(super) struct LookupIndex {
    /// Entries as they stand in the snapshot file, in order of their keys.
    base: Vec<u8>,
    /// What has changed since; `None` for a look-up that was cleared.
    recent: HashMap<LookupKey, Option<CardId>>,
    applied: u64,
    checksum: u64,
}

impl LookupIndex {
    /// The card that a look-up leads to.
    fn get(&self, key: &LookupKey) -> Option<CardId> {
        match self.recent.get(key) {
            Some(card) => *card,
            None => {
                let (entries, _) = self.base.as_chunks::<ENTRY>();
                let at = entries.binary_search_by(|entry| entry[..17].cmp(key)).ok()?;
                Some(card_of(&entries[at]))
            }
        }
    }

    /// The look-ups that lead to one of some cards.
    fn leading_to(&self, cards: &HashSet<CardId>) -> Vec<(LookupKey, CardId)> {
        let (base, _) = self.base.as_chunks::<ENTRY>();
        let base = base.iter().filter_map(|entry| Some((*entry.first_chunk()?, card_of(entry))));
        let base = base.filter(|(_, card)| cards.contains(card));
        let recent = self.recent.iter().filter_map(|(key, card)| Some((*key, (*card)?)));
        base.filter(|(key, _)| !self.recent.contains_key(key))
            .chain(recent.filter(|(_, card)| cards.contains(card)))
            .collect()
    }

    fn set(&mut self, change: &LookupChange) {
        self.recent.insert(change.key, change.card);
    }

    /// Applies the changes up to a sequence that it does not hold yet.
    fn catch_up<T: ReadBytes>(&mut self, tables: &Tables<T>, tenant: TenantId, upto: u64) -> Result<()> {
        if self.applied >= upto {
            return Ok(());
        }
        for change in tables.changes(tenant, self.applied)? {
            let change = change?;
            if change.sequence > upto {
                break;
            }
            change.change.lookups.iter().for_each(|lookup| self.set(lookup));
            (self.applied, self.checksum) = (change.sequence, change.checksum);
        }
        Ok(())
    }

    /// Every look-up, in order of its key.
    pub(super) fn entries(&self) -> BTreeMap<LookupKey, CardId> {
        let (base, _) = self.base.as_chunks::<ENTRY>();
        let mut all: BTreeMap<LookupKey, CardId> =
            base.iter().filter_map(|entry| Some((*entry.first_chunk()?, card_of(entry)))).collect();
        for (key, card) in &self.recent {
            match card {
                Some(card) => all.insert(*key, *card),
                None => all.remove(key),
            };
        }
        all
    }

    /// The last change that is in.
    pub(super) fn applied(&self) -> u64 {
        self.applied
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.base.len() + self.recent.capacity() * (ENTRY + 8)
    }

    /// The bytes of its snapshot file.
    fn encode(&self) -> Vec<u8> {
        let entries = self.entries();
        let mut out = Vec::with_capacity(HEADER + entries.len() * ENTRY + 8);
        out.extend_from_slice(MAGIC);
        for number in [LAYOUT, self.applied, self.checksum, entries.len() as u64] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for (key, card) in entries {
            out.extend_from_slice(&key);
            out.extend_from_slice(&card.to_bytes());
        }
        let checksum = xxh3_64(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    /// Reads a snapshot file. The error says what does not fit; the caller rebuilds.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let (body, stored) = bytes.split_last_chunk::<8>().ok_or("shorter than a checksum")?;
        if xxh3_64(body) != u64::from_le_bytes(*stored) {
            return Err("checksum mismatch".into());
        }
        let (header, base) = body.split_at_checked(HEADER).ok_or("shorter than a header")?;
        let number = |at: usize| header[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if &header[..8] != MAGIC {
            return Err("no look-up magic".into());
        }
        if number(8) != LAYOUT {
            return Err(format!("layout {} is of another build", number(8)));
        }
        let (entries, rest) = base.as_chunks::<ENTRY>();
        if number(32) != entries.len() as u64 || !rest.is_empty() {
            return Err("entries of the wrong length".into());
        }
        if !entries.is_sorted_by(|a, b| a[..17] < b[..17]) {
            return Err("entries out of order".into());
        }
        Ok(Self { base: base.to_vec(), recent: HashMap::new(), applied: number(16), checksum: number(24) })
    }
}

fn card_of(entry: &[u8; ENTRY]) -> CardId {
    let mut card = [0; 16];
    card.copy_from_slice(&entry[17..]);
    CardId::from_bytes(card)
}

/// The place of one tenant's index.
#[derive(Debug, Default)]
pub(super) struct Slot {
    index: RwLock<Option<LookupIndex>>,
    /// Held while its file is written: once at a time.
    disk: Mutex<()>,
    used: AtomicU64,
    /// Last change in the snapshot file; 0 when there is none.
    saved: AtomicU64,
}

impl Slot {
    /// The card that a look-up leads to.
    pub(super) fn get(&self, key: &LookupKey) -> Option<CardId> {
        self.index.read().as_ref().and_then(|index| index.get(key))
    }

    /// The look-ups that lead to one of some cards.
    pub(super) fn leading_to(&self, cards: &HashSet<CardId>) -> Vec<(LookupKey, CardId)> {
        self.index.read().as_ref().map_or_else(Vec::new, |index| index.leading_to(cards))
    }

    /// Takes over what a commit has changed, if it is the next one. If not, the index reads
    /// it from the log on its next use.
    pub(super) fn commit(
        &self,
        before: u64,
        (sequence, checksum): (u64, u64),
        changes: impl Iterator<Item = LookupChange>,
    ) {
        if let Some(index) = self.index.write().as_mut().filter(|index| index.applied == before) {
            changes.for_each(|change| index.set(&change));
            (index.applied, index.checksum) = (sequence, checksum);
        }
    }
}

/// The look-ups of every tenant that is in use.
#[derive(Debug)]
pub(crate) struct Lookups {
    slots: Mutex<HashMap<TenantId, Arc<Slot>>>,
    tick: AtomicU64,
    budget: usize,
    io: Arc<dyn Io>,
    directory: PathBuf,
}

impl Lookups {
    /// No look-ups yet. `directory`: where index files live.
    pub(super) fn new(io: Arc<dyn Io>, directory: PathBuf, budget: usize) -> Self {
        Self { slots: Mutex::new(HashMap::new()), tick: AtomicU64::new(1), budget, io, directory }
    }

    /// Where the snapshot file of a tenant is.
    fn path(&self, tenant: TenantId) -> PathBuf {
        path(&self.directory, tenant)
    }

    pub(super) fn is_loaded(&self, tenant: TenantId) -> bool {
        let slot = self.slots.lock().get(&tenant).cloned();
        slot.is_some_and(|slot| slot.index.read().is_some())
    }

    /// The tenant's index, holding the changes up to a sequence. It never holds one that is
    /// not committed: `upto` is the last committed change that `tables` show.
    ///
    /// # Errors
    /// When the store cannot be read; a damaged snapshot file only costs a rebuild.
    pub(super) fn open<T: ReadBytes>(
        &self,
        tables: &Tables<T>,
        tenant: TenantId,
        upto: u64,
    ) -> Result<Arc<Slot>> {
        let slot = self.slots.lock().entry(tenant).or_default().clone();
        slot.used.store(self.tick.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if slot.index.read().as_ref().is_some_and(|index| index.applied >= upto) {
            return Ok(slot);
        }
        let mut place = slot.index.write();
        let stripped = tables.stripped(tenant)?;
        let mut index = match place.take().filter(|index| index.applied >= stripped) {
            Some(index) => index,
            None => {
                let found = self.load(tables, tenant, upto);
                slot.saved.store(found.applied, Ordering::Relaxed);
                found
            }
        };
        index.catch_up(tables, tenant, upto)?;
        *place = Some(index);
        drop(place);
        Ok(slot)
    }

    /// What the snapshot file holds; nothing where it does not fit this state of the store.
    fn load<T: ReadBytes>(&self, tables: &Tables<T>, tenant: TenantId, upto: u64) -> LookupIndex {
        let path = self.path(tenant);
        let found = match io::read_file(self.io.as_ref(), &path) {
            Ok(None) => return LookupIndex::default(),
            Ok(Some(bytes)) => {
                LookupIndex::decode(&bytes).and_then(|index| fits(tables, tenant, upto, index))
            }
            Err(error) => Err(error.to_string()),
        };
        found.unwrap_or_else(|detail| {
            tracing::warn!(path = %path.display(), detail, "a snapshot file is not used; rebuilding from the store");
            LookupIndex::default()
        })
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let slots: Vec<_> = self.slots.lock().values().cloned().collect();
        slots.iter().map(|slot| slot.index.read().as_ref().map_or(0, LookupIndex::bytes)).sum()
    }

    /// Drops the least recently used indexes while the budget is exceeded; one always stays.
    pub(super) fn make_room(&self) {
        while self.bytes() > self.budget {
            let victim = {
                let slots = self.slots.lock();
                if slots.len() <= 1 {
                    return;
                }
                let unused = slots.iter().filter(|(_, slot)| Arc::strong_count(slot) == 1);
                unused
                    .min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed))
                    .map(|(tenant, slot)| (*tenant, slot.clone()))
            };
            let Some((tenant, slot)) = victim else { return };
            if let Err(error) = self.save(tenant, &slot, false) {
                tracing::warn!(%error, "a snapshot could not be written; the look-ups will be rebuilt");
            }
            // What is taken into use meanwhile goes on with its own handle, and the next one
            // reads from the log what that one is told.
            self.slots.lock().remove(&tenant);
        }
    }

    /// Writes snapshot files of all indexes that have changed enough to be worth it (`all`:
    /// that have changed at all). Gives how many were written.
    pub(crate) fn checkpoint(&self, all: bool) -> Result<usize> {
        let mut slots: Vec<(TenantId, Arc<Slot>)> =
            self.slots.lock().iter().map(|(tenant, slot)| (*tenant, slot.clone())).collect();
        // The same work writes the same files in the same order.
        slots.sort_unstable_by_key(|(tenant, _)| *tenant);
        let mut written = 0;
        for (tenant, slot) in slots {
            written += usize::from(self.save(tenant, &slot, all)?);
        }
        Ok(written)
    }

    fn save(&self, tenant: TenantId, slot: &Slot, all: bool) -> Result<bool> {
        let _disk = slot.disk.lock();
        // Taken out meanwhile, with its file.
        if !self.slots.lock().get(&tenant).is_some_and(|present| std::ptr::eq(&**present, slot)) {
            return Ok(false);
        }
        let (bytes, applied) = {
            let place = slot.index.read();
            let Some(index) = place.as_ref() else { return Ok(false) };
            let (base, recent) = (index.base.len() / ENTRY, index.recent.len());
            let worth = match all {
                true => recent > 0 && base + recent >= SNAPSHOT_MIN_ENTRIES,
                false => recent >= base / 8 + SNAPSHOT_MIN_CHANGED,
            };
            let behind = index.applied.saturating_sub(slot.saved.load(Ordering::Relaxed));
            if !worth && behind < SNAPSHOT_MAX_CHANGES {
                return Ok(false);
            }
            (index.encode(), index.applied)
        };
        let path = self.path(tenant);
        if let Some(directory) = path.parent() {
            io::at(directory, self.io.create_directory(directory))?;
        }
        io::write_file(self.io.as_ref(), &path, &bytes)?;
        slot.saved.store(applied, Ordering::Relaxed);
        // The sorted array takes less memory than the map.
        if let Some(index) = slot.index.write().as_mut().filter(|index| index.applied == applied) {
            index.base = bytes[HEADER..bytes.len() - 8].to_vec();
            index.recent = HashMap::new();
        }
        Ok(true)
    }

    /// Leaves no file of a tenant that holds less than a place up to which the log was stripped: it
    /// is written anew, or removed where the index is not in memory or not worth one.
    pub(super) fn scrub(&self, tenant: TenantId, stripped: u64) -> Result<()> {
        let slot = self.slots.lock().entry(tenant).or_default().clone();
        {
            let _disk = slot.disk.lock();
            let path = self.path(tenant);
            let bytes = io::read_file(self.io.as_ref(), &path)?;
            let current =
                |bytes: &Vec<u8>| LookupIndex::decode(bytes).is_ok_and(|index| index.applied >= stripped);
            if bytes.as_ref().is_none_or(current) {
                return Ok(());
            }
            io::remove_file(self.io.as_ref(), &path)?;
            slot.saved.store(0, Ordering::Relaxed);
            if let Some(index) = slot.index.write().as_mut() {
                // All of it is what a file would have to hold.
                let base = std::mem::take(&mut index.base);
                for entry in base.as_chunks::<ENTRY>().0 {
                    let key: Option<&LookupKey> = entry.first_chunk();
                    if let Some(key) = key {
                        index.recent.entry(*key).or_insert(Some(card_of(entry)));
                    }
                }
            }
        }
        self.save(tenant, &slot, true).map(drop)
    }

    /// Drops a tenant's index from memory and removes its file; true when there was one.
    pub(crate) fn forget(&self, tenant: TenantId) -> Result<bool> {
        let slot = self.slots.lock().entry(tenant).or_default().clone();
        let _disk = slot.disk.lock();
        self.slots.lock().remove(&tenant);
        io::remove_file(self.io.as_ref(), &self.path(tenant))
    }

    /// True when there is a snapshot file of a tenant that cannot be used.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn is_snapshot_damaged(&self, tenant: TenantId) -> Result<bool> {
        Ok(matches!(self.read_snapshot(tenant)?, Some((_, Err(_)))))
    }

    /// The tenant's snapshot file, if there is one; for verification.
    pub(super) fn read_snapshot(
        &self,
        tenant: TenantId,
    ) -> Result<Option<(PathBuf, Result<LookupIndex, String>)>> {
        let path = self.path(tenant);
        let bytes = io::read_file(self.io.as_ref(), &path)?;
        Ok(bytes.map(|bytes| (path, LookupIndex::decode(&bytes))))
    }
}

fn path(directory: &Path, tenant: TenantId) -> PathBuf {
    directory.join(format!("{:08x}", tenant.0)).join(FILE_NAME)
}

/// A snapshot fits when the change it holds last is in the store, unchanged.
fn fits<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    upto: u64,
    index: LookupIndex,
) -> Result<LookupIndex, String> {
    match tables.change_checksum(tenant, index.applied).map_err(|error: Error| error.to_string())? {
        Some(stored) if stored == index.checksum && index.applied <= upto => {
            match index.applied >= tables.stripped(tenant).map_err(|error| error.to_string())? {
                true => Ok(index),
                false => Err("look-ups were taken out of the change log since".into()),
            }
        }
        _ => Err("it does not belong to this state of the store".into()),
    }
}

/// Reads bytes as a snapshot file, as they are and with a checksum that fits.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzz(bytes: &[u8]) {
    let sealed = [bytes, &xxh3_64(bytes).to_le_bytes()].concat();
    for bytes in [bytes, &sealed] {
        let Ok(index) = LookupIndex::decode(bytes) else { continue };
        assert_eq!(index.encode(), bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: u8, hash: u128) -> LookupKey {
        let mut key = [kind; 17];
        key[1..].copy_from_slice(&hash.to_be_bytes());
        key
    }

    fn card(number: u128) -> CardId {
        CardId::from_bytes(number.to_be_bytes())
    }

    #[test]
    fn what_changed_last_holds_with_and_without_a_file() {
        let mut index = LookupIndex { applied: 7, checksum: 9, ..LookupIndex::default() };
        for n in 0..300 {
            index.set(&LookupChange { key: key(n as u8 % 5, (n * n) << 100), card: Some(card(n)) });
        }
        let mut index = LookupIndex::decode(&index.encode()).unwrap();
        assert!(index.recent.is_empty());
        assert_eq!((index.applied, index.checksum, index.entries().len()), (7, 9, 300));
        index.set(&LookupChange { key: key(3, 9 << 100), card: Some(card(1000)) });
        index.set(&LookupChange { key: key(4, 16 << 100), card: None });
        for index in [&index, &LookupIndex::decode(&index.encode()).unwrap()] {
            assert_eq!(index.get(&key(2, 49 << 100)), Some(card(7)));
            assert_eq!(index.get(&key(3, 9 << 100)), Some(card(1000)));
            assert_eq!(index.get(&key(4, 16 << 100)), None);
            assert_eq!(index.get(&key(4, 5)), None);
            assert_eq!(index.entries().len(), 299);
        }
    }

    #[test]
    fn a_damaged_file_is_told() {
        let mut index = LookupIndex::default();
        index.set(&LookupChange { key: key(1, 5), card: Some(card(1)) });
        index.set(&LookupChange { key: key(1, 6), card: Some(card(2)) });
        let bytes = index.encode();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(LookupIndex::decode(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(LookupIndex::decode(&bytes[..length]).is_err(), "cut to {length}");
        }
    }

    /// Whole by its checksum, and no file of this build all the same.
    #[test]
    fn a_file_that_nobody_has_written_so_is_told() {
        let mut index = LookupIndex::default();
        index.set(&LookupChange { key: key(1, 5), card: Some(card(1)) });
        index.set(&LookupChange { key: key(1, 6), card: Some(card(2)) });
        let bytes = index.encode();
        let body = &bytes[..bytes.len() - 8];
        let refusal = |body: &[u8]| {
            let sealed = [body, &xxh3_64(body).to_le_bytes()].concat();
            LookupIndex::decode(&sealed).map(|index| index.applied()).unwrap_err()
        };
        let with = |at: usize, byte: u8| {
            let mut body = body.to_vec();
            body[at] = byte;
            refusal(&body)
        };
        assert_eq!(refusal(&body[..HEADER - 1]), "shorter than a header");
        assert_eq!(with(0, b'm'), "no look-up magic");
        assert_eq!(with(8, 99), "layout 99 is of another build");
        assert_eq!(with(32, 3), "entries of the wrong length");
        assert_eq!(refusal(&[body, b"x"].concat()), "entries of the wrong length");
        let turned = [&body[..HEADER], &body[HEADER + ENTRY..], &body[HEADER..HEADER + ENTRY]].concat();
        assert_eq!(refusal(&turned), "entries out of order");
        let twice = [&body[..HEADER], &body[HEADER..HEADER + ENTRY], &body[HEADER..HEADER + ENTRY]].concat();
        assert_eq!(refusal(&twice), "entries out of order");
    }

    /// A file with a good checksum of its own that says something else than the log.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test plays a defect of the file")]
    fn verification_compares_the_file_with_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let options = crate::Options { embedder: None, ..crate::Options::default() };
        let store = crate::Store::open(directory.path(), options).unwrap();
        let request = |n| crate::Remember { content: format!("entry q{n}z"), ..crate::Remember::default() };
        let tenant = store.tenant("anna").unwrap();
        // What goes into a file and what is read from the log after it.
        tenant.remember_all((0..200).map(request).collect()).unwrap();
        store.checkpoint().unwrap();
        tenant.remember_all((150..250).map(request).collect()).unwrap();
        let report = store.verify(|_| {}).unwrap();
        assert!(report.is_sound() && report.index_files > 0, "{:?}", report.findings);
        assert_eq!(report.lookups, 250);
        let path = path(&directory.path().join("index"), TenantId(1));
        let mut index = LookupIndex::decode(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((index.applied(), index.entries().len()), (200, 200));
        let first = *index.entries().keys().next().unwrap();
        index.set(&LookupChange { key: first, card: None });
        std::fs::write(&path, index.encode()).unwrap();
        let findings = store.verify(|_| {}).unwrap().findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].place.ends_with(FILE_NAME) && findings[0].detail.contains("change log"));
    }
}
