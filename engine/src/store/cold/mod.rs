//! The cold tier: archived cards that stand in segment files beside the store file.
//!
//! Of a cold card the store file keeps a *stub*, which says where its records are and enough
//! of it to be passed over without looking. [`Tables`](crate::store::Tables) follow it, so
//! nobody else has to know which cards are cold; a write brings the card back (`thaw`).
//! `freeze` moves archived cards out, `rewrite` makes segments anew without what has left
//! them. What a segment looks like inside is `crate::cold`'s business.
//!
//! A segment's file is complete before a commit lists it, and is removed only after a commit
//! has unlisted it: files that no record lists belong to work that was cut short.

mod freeze;
mod rewrite;
mod stub;
mod thaw;
pub(in crate::store) mod verify;

pub use freeze::Frozen;
pub(crate) use freeze::{Described, Freezing};
pub use rewrite::Rewritten;
pub(crate) use stub::{Stub, is_stub};

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use crate::card::CardId;
use crate::cold::{DecodedBlock, Segment, SegmentError};
use crate::store::Database;
use crate::store::io::{Io, OpenMode, at, parent, remove_file, write_file};
use crate::store::keys::{self, TableId, TenantId};
use crate::store::mapped::Mapped;
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables, storage};
use crate::{Error, Result};

/// Name of the directory of segments in the store directory.
pub(crate) const COLD_DIRECTORY: &str = "cold";
/// Decompressed blocks that are kept: cards that are read together often stand together.
const BLOCKS_KEPT: usize = 64;

/// An open segment.
pub(crate) type OpenSegment = Segment<Mapped>;

/// A segment of a tenant.
pub(crate) type SegmentKey = (TenantId, u64);

/// What the store file says of a segment file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentRecord {
    /// Length of the file.
    pub(crate) bytes: u64,
    /// The checksum of its header, which covers those of all that follows but the records.
    pub(crate) check: u64,
    pub(crate) cards: u32,
    /// Cards that have left it.
    pub(crate) dead: u32,
    /// Those of them whose bytes must go.
    pub(crate) purged: u32,
    /// Of the model whose vectors its codes come from.
    pub(crate) generation: u16,
    pub(crate) dimension: u32,
}

impl SegmentRecord {
    /// Of the bytes of a segment that nothing has left yet.
    fn of(bytes: &[u8], cards: u32, generation: u16, dimension: u32) -> Self {
        let check = header_check(bytes).unwrap_or_default();
        Self { bytes: bytes.len() as u64, check, cards, dead: 0, purged: 0, generation, dimension }
    }
}

/// The checksum of a segment's header.
fn header_check(bytes: &[u8]) -> Option<u64> {
    bytes.get(192..200)?.try_into().ok().map(u64::from_le_bytes)
}

/// Figures of the cold tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ColdStatistics {
    /// Segment files.
    pub segments: u64,
    /// Cards in them that have not left.
    pub cards: u64,
    /// Size of the files in bytes.
    pub bytes: u64,
}

/// Reads opened before a segment was unlisted may still look into it: it is kept for as long
/// as one of them lives.
#[derive(Debug, Default)]
struct State {
    open: HashMap<SegmentKey, Arc<OpenSegment>>,
    retired: Vec<(SegmentKey, Weak<()>)>,
    /// Held by every read that began since the last segment was retired.
    epoch: Arc<()>,
}

impl State {
    fn sweep(&mut self) {
        let Self { open, retired, .. } = self;
        retired.retain(|(key, readers)| {
            let read = readers.strong_count() > 0;
            if !read {
                open.remove(key);
            }
            read
        });
    }
}

type KeptBlock = (SegmentKey, u32, Arc<DecodedBlock<'static>>);

/// The segment files of a store.
#[derive(Debug)]
pub(crate) struct ColdStore {
    io: Arc<dyn Io>,
    directory: PathBuf,
    state: Mutex<State>,
    blocks: Mutex<VecDeque<KeptBlock>>,
    /// By segment, how many cards have left it and their positions, as last asked for.
    left: Mutex<HashMap<SegmentKey, (u32, Arc<Vec<u32>>)>>,
    /// Held by who makes or removes files.
    work: Mutex<()>,
}

/// What a read holds to see the segments of its snapshot. Taken before the snapshot is.
#[derive(Clone, Debug)]
pub(crate) struct ColdReader {
    store: Arc<ColdStore>,
    _epoch: Arc<()>,
}

impl std::ops::Deref for ColdReader {
    type Target = ColdStore;

    fn deref(&self) -> &ColdStore {
        &self.store
    }
}

impl ColdStore {
    /// The segments below a store directory.
    pub(crate) fn new(io: Arc<dyn Io>, directory: &Path) -> Self {
        let directory = directory.join(COLD_DIRECTORY);
        let (state, blocks, left) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { io, directory, state, blocks, left, work: Mutex::new(()) }
    }

    /// To be taken before a snapshot of the store is.
    pub(crate) fn reader(self: &Arc<Self>) -> ColdReader {
        let mut state = self.state.lock();
        if !state.retired.is_empty() {
            state.sweep();
        }
        ColdReader { store: self.clone(), _epoch: state.epoch.clone() }
    }

    /// Keeps others from making and removing files while the guard lives.
    fn work(&self) -> MutexGuard<'_, ()> {
        self.work.lock()
    }

    /// Where a tenant's segments are.
    pub(crate) fn tenant_directory(&self, tenant: TenantId) -> PathBuf {
        tenant_directory(&self.directory, tenant)
    }

    /// The file of a segment.
    pub(crate) fn path(&self, (tenant, number): SegmentKey) -> PathBuf {
        self.tenant_directory(tenant).join(file_name(number))
    }

    /// A segment, opened.
    ///
    /// # Errors
    /// [`Error::Corrupt`] naming its file when it is missing or its head is damaged.
    pub(crate) fn segment(&self, key: SegmentKey) -> Result<Arc<OpenSegment>> {
        if let Some(segment) = self.state.lock().open.get(&key) {
            return Ok(segment.clone());
        }
        let segment = Arc::new(self.open(key)?);
        Ok(self.state.lock().open.entry(key).or_insert(segment).clone())
    }

    fn open(&self, key: SegmentKey) -> Result<OpenSegment> {
        let path = self.path(key);
        let bad = |detail: String| Error::corrupt(path.display().to_string(), detail);
        let file = match self.io.open(&path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(bad("the segment file is missing".into()));
            }
            file => at(&path, file)?,
        };
        let segment = Segment::open(at(&path, Mapped::open(&*file))?).map_err(bad)?;
        if (segment.tenant(), u64::from(segment.number())) != (key.0.0, key.1) {
            return Err(bad(format!("it is segment {} of tenant {}", segment.number(), segment.tenant())));
        }
        Ok(segment)
    }

    /// Names the file of a segment in which something is damaged.
    pub(crate) fn damaged(&self, key: SegmentKey, error: SegmentError) -> Error {
        Error::corrupt(self.path(key).display().to_string(), error.to_string())
    }

    fn block(
        &self,
        key: SegmentKey,
        segment: &OpenSegment,
        number: u32,
    ) -> Result<Arc<DecodedBlock<'static>>> {
        {
            let mut blocks = self.blocks.lock();
            if let Some(found) = blocks.iter().position(|(k, n, _)| (*k, *n) == (key, number))
                && let Some(kept) = blocks.remove(found)
            {
                let block = kept.2.clone();
                blocks.push_front(kept);
                return Ok(block);
            }
        }
        let block = segment.block(number).map_err(|error| self.damaged(key, error))?;
        let block = Arc::new(block.into_owned());
        let mut blocks = self.blocks.lock();
        blocks.push_front((key, number, block.clone()));
        blocks.truncate(BLOCKS_KEPT);
        Ok(block)
    }

    /// The sealed records of a card, oldest version first.
    ///
    /// # Errors
    /// [`Error::Corrupt`] naming file and place when they are damaged, or are another card's.
    pub(super) fn records(&self, tenant: TenantId, id: CardId, stub: &Stub) -> Result<Vec<Vec<u8>>> {
        let (key, position) = ((tenant, stub.segment), stub.position);
        let segment = self.segment(key)?;
        let damaged = |error| self.damaged(key, error);
        if segment.id(position).map_err(damaged)? != id.to_bytes() {
            let place = self.path(key).display().to_string();
            return Err(Error::corrupt(place, format!("card {position} is not {id}")));
        }
        let number = segment.block_of(position).map_err(damaged)?;
        let records = self.block(key, &segment, number)?.versions(position).map_err(|detail| {
            Error::corrupt(self.path(key).display().to_string(), format!("block {number}: {detail}"))
        })?;
        match records.len() == stub.version as usize {
            true => Ok(records),
            false => Err(Error::corrupt(
                self.path(key).display().to_string(),
                format!("{} versions of card {id}, which has {}", records.len(), stub.version),
            )),
        }
    }

    /// Writes the file of a segment; the name appears when it is complete.
    fn write(&self, key: SegmentKey, bytes: &[u8]) -> Result<()> {
        let directory = self.tenant_directory(key.0);
        if !self.io.exists(&directory) {
            at(&directory, self.io.create_directory(&directory))?;
            // Names are durable from the store's directory on.
            let above = parent(&directory);
            at(above, self.io.sync_directory(above))?;
            let store = parent(above);
            at(store, self.io.sync_directory(store))?;
        }
        write_file(self.io.as_ref(), &self.path(key), bytes)
    }

    /// Removes files of segments that no record lists any more. Reads that began before go on
    /// seeing what is in them.
    fn retire(&self, tenant: TenantId, numbers: &[u64]) -> Result<()> {
        for number in numbers {
            // What is open stays readable. A damaged one cannot be kept, nor could it be read.
            let _ = self.segment((tenant, *number));
        }
        {
            let mut state = self.state.lock();
            let before = Arc::downgrade(&std::mem::take(&mut state.epoch));
            state.retired.extend(numbers.iter().map(|number| ((tenant, *number), before.clone())));
            state.sweep();
        }
        self.blocks.lock().retain(|((of, number), ..)| *of != tenant || !numbers.contains(number));
        self.left.lock().retain(|(of, number), _| *of != tenant || !numbers.contains(number));
        for number in numbers {
            let path = self.path((tenant, *number));
            remove_file(self.io.as_ref(), &path)?;
        }
        let directory = self.tenant_directory(tenant);
        match self.io.exists(&directory) {
            true => at(&directory, self.io.sync_directory(&directory)),
            false => Ok(()),
        }
    }

    /// Removes files of ours that no record lists: those of work that was cut short.
    fn remove_unlisted(&self, tenant: TenantId, listed: impl Fn(u64) -> bool) -> Result<usize> {
        let directory = self.tenant_directory(tenant);
        if !self.io.exists(&directory) {
            return Ok(0);
        }
        let mut removed = 0;
        for path in at(&directory, self.io.list(&directory))? {
            let ours = number_of(&path);
            if let Some((number, complete)) = ours
                && !(complete && listed(number))
            {
                removed += usize::from(remove_file(self.io.as_ref(), &path)?);
            }
        }
        if removed > 0 {
            at(&directory, self.io.sync_directory(&directory))?;
        }
        Ok(removed)
    }

    /// The tenants that have a directory of segments, whether or not they are there.
    pub(super) fn tenants(&self) -> Result<Vec<TenantId>> {
        if !self.io.exists(&self.directory) {
            return Ok(vec![]);
        }
        let mut found = Vec::new();
        for path in at(&self.directory, self.io.list(&self.directory))? {
            let name = path.file_name().and_then(|name| name.to_str()).filter(|name| name.len() == 8);
            let tenant = name.and_then(|name| u32::from_str_radix(name, 16).ok()).map(TenantId);
            found.extend(tenant.filter(|tenant| tenant_directory(&self.directory, *tenant) == path));
        }
        Ok(found)
    }

    /// Removes every segment file of a tenant whose records are gone; gives how many.
    pub(crate) fn forget_tenant(&self, tenant: TenantId) -> Result<usize> {
        let _work = self.work();
        {
            let mut state = self.state.lock();
            let keys: Vec<SegmentKey> = state.open.keys().filter(|key| key.0 == tenant).copied().collect();
            let before = Arc::downgrade(&std::mem::take(&mut state.epoch));
            state.retired.extend(keys.into_iter().map(|key| (key, before.clone())));
            state.sweep();
        }
        self.blocks.lock().retain(|(key, ..)| key.0 != tenant);
        self.left.lock().retain(|key, _| key.0 != tenant);
        let removed = self.remove_unlisted(tenant, |_| false)?;
        let directory = self.tenant_directory(tenant);
        if self.io.exists(&directory) && at(&directory, self.io.list(&directory))?.is_empty() {
            at(&directory, self.io.remove_directory(&directory))?;
            at(&self.directory, self.io.sync_directory(&self.directory))?;
        }
        Ok(removed)
    }
}

/// Where a tenant's segments are, below the directory of all segments.
fn tenant_directory(directory: &Path, tenant: TenantId) -> PathBuf {
    directory.join(format!("{:08x}", tenant.0))
}

fn file_name(number: u64) -> String {
    format!("{number:016x}.seg")
}

/// The number in the name of a segment file, and whether the name is that of a complete one;
/// `None` for files that are not ours.
fn number_of(path: &Path) -> Option<(u64, bool)> {
    let complete = match path.extension()?.to_str()? {
        "seg" => true,
        "tmp" => false,
        _ => return None,
    };
    let digits = path.file_stem()?.to_str()?;
    let ours = digits.len() == 16 && digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    Some((u64::from_str_radix(digits, 16).ok().filter(|_| ours)?, complete))
}

/// Key of the note that a card has left a segment.
fn dead_key((tenant, number): SegmentKey, position: u32) -> [u8; 17] {
    keys::item(TableId::Segments, tenant, number, position)
}

impl<T: ReadBytes> Tables<T> {
    /// The tenant's segments, in order of their numbers.
    pub(crate) fn segments(&self, tenant: TenantId) -> Result<Vec<(u64, SegmentRecord)>> {
        let (first, end) = keys::range_of(TableId::Segments, tenant);
        let mut segments = Vec::new();
        // Between two segments stand the notes of what has left the first.
        let mut from = first;
        loop {
            let mut range = self.range(&from, std::ops::Bound::Excluded(end.as_slice()))?;
            let Some(entry) = range.next() else { return Ok(segments) };
            let (key, value) = entry.map_err(storage)?;
            let key = key.value();
            let bad = |detail: String| Error::corrupt(record::place(TableId::Segments, key), detail);
            let number = keys::number_of_key(key).ok_or_else(|| bad("the key has no number".into()))?;
            if key.len() == keys::numbered(TableId::Segments, tenant, number).len() {
                let json = record::open_bytes(TableId::Segments, key, value.value())?;
                segments.push((number, serde_json::from_slice(json).map_err(|e| bad(e.to_string()))?));
            }
            from = keys::numbered(TableId::Segments, tenant, number.saturating_add(1)).to_vec();
            if number == u64::MAX {
                return Ok(segments);
            }
        }
    }

    /// The positions of a segment that cards have left, in order.
    pub(crate) fn left(&self, (tenant, number): SegmentKey) -> Result<Vec<u32>> {
        let first = dead_key((tenant, number), 0);
        let last = dead_key((tenant, number), u32::MAX);
        let range = self.range(&first, std::ops::Bound::Included(last.as_slice()))?;
        range
            .map(|entry| {
                let (key, value) = entry.map_err(storage)?;
                let key = key.value();
                record::open_bytes(TableId::Segments, key, value.value())?;
                keys::item_of_key(key)
                    .ok_or_else(|| Error::corrupt(record::place(TableId::Segments, key), "no position"))
            })
            .collect()
    }

    /// As [`Tables::left`], remembered for the next question.
    pub(crate) fn left_of(&self, key: SegmentKey, listed: &SegmentRecord) -> Result<Arc<Vec<u32>>> {
        let Some(cold) = self.cold().filter(|_| listed.dead > 0) else { return Ok(Arc::default()) };
        if let Some((dead, left)) = cold.left.lock().get(&key)
            && *dead == listed.dead
        {
            return Ok(left.clone());
        }
        let left = Arc::new(self.left(key)?);
        cold.left.lock().insert(key, (listed.dead, left.clone()));
        Ok(left)
    }

    /// Figures of a tenant's cold cards.
    pub(crate) fn cold_statistics(&self, tenant: TenantId) -> Result<ColdStatistics> {
        let mut figures = ColdStatistics::default();
        for (_, segment) in self.segments(tenant)? {
            figures.segments += 1;
            figures.cards += u64::from(segment.cards.saturating_sub(segment.dead));
            figures.bytes += segment.bytes;
        }
        Ok(figures)
    }
}

impl Database {
    /// Figures of the cold tier of the whole store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn cold_statistics(&self) -> Result<ColdStatistics> {
        let tables = self.read()?;
        let mut all = ColdStatistics::default();
        for (tenant, _) in tables.tenants()? {
            let figures = tables.cold_statistics(tenant)?;
            all.segments += figures.segments;
            all.cards += figures.cards;
            all.bytes += figures.bytes;
        }
        Ok(all)
    }

    /// Every text that a tenant's segments hold, decompressed: what a search of the files for
    /// something erased cannot see. Gives a place with each.
    ///
    /// # Errors
    /// When the store cannot be read, or a segment is damaged; `visit` may end it, too.
    pub(crate) fn cold_texts(
        &self,
        tenant: TenantId,
        mut visit: impl FnMut(&str, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let tables = self.read()?;
        for (number, _) in tables.segments(tenant)? {
            let key = (tenant, number);
            let segment = self.cold().segment(key)?;
            let damaged = |error| self.cold().damaged(key, error);
            let place = |what: &str| format!("{}, {what}", self.cold().path(key).display());
            visit(&place("terms"), segment.strings().map_err(damaged)?)?;
            visit(&place("dictionary"), segment.dictionary().map_err(damaged)?)?;
            for (block, number) in segment.blocks().zip(0u32..) {
                visit(&place(&format!("block {number}")), block.map_err(damaged)?.text())?;
            }
        }
        Ok(())
    }

    /// Copies the segments that a snapshot lists into another store directory.
    pub(super) fn copy_segments<T: ReadBytes>(&self, tables: &Tables<T>, to: &Path) -> Result<()> {
        let cold = to.join(COLD_DIRECTORY);
        for (tenant, _) in tables.tenants()? {
            let segments = tables.segments(tenant)?;
            if segments.is_empty() {
                continue;
            }
            let directory = tenant_directory(&cold, tenant);
            at(&directory, self.io().create_directory(&directory))?;
            for (number, listed) in segments {
                let key = (tenant, number);
                let segment = self.cold().segment(key)?;
                if let Some(error) = segment.verify().into_iter().next() {
                    return Err(self.cold().damaged(key, error));
                }
                let bytes = segment.bytes();
                if (bytes.len() as u64, header_check(bytes)) != (listed.bytes, Some(listed.check)) {
                    let place = self.cold().path(key).display().to_string();
                    return Err(Error::corrupt(place, "it is not the segment that the store lists"));
                }
                write_file(self.io(), &directory.join(file_name(number)), bytes)?;
            }
            at(&cold, self.io().sync_directory(&cold))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_ours() {
        for (name, expected) in [
            ("000000000000000a.seg", Some((10, true))),
            ("000000000000000a.tmp", Some((10, false))),
            ("000000000000000A.seg", None),
            ("a.seg", None),
            ("000000000000000a.bak", None),
            ("notes.tmp", None),
            ("+00000000000000a.seg", None),
        ] {
            assert_eq!(number_of(Path::new(name)), expected, "{name}");
        }
        assert_eq!(number_of(Path::new(&file_name(77))), Some((77, true)));
    }
}
