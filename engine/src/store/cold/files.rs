//! The segment files of a store: opening, reading, writing, removing.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::card::CardId;
use crate::cold::{DecodedBlock, Segment, SegmentError};
use crate::store::cold::{OpenSegment, SegmentKey, Stub};
use crate::store::io::{Io, OpenMode, at, parent, remove_file, write_file};
use crate::store::keys::TenantId;
use crate::store::mapped::Mapped;
use crate::sync;
use crate::{Error, Result};

/// Name of the directory of segments in the store directory.
pub(super) const COLD_DIRECTORY: &str = "cold";
/// Decompressed blocks that are kept: cards that are read together often stand together.
const BLOCKS_KEPT: usize = 64;

/// Reads opened before a segment was unlisted may still look into it: it is kept for as long
/// as one of them lives.
#[derive(Debug)]
struct State {
    open: HashMap<SegmentKey, Arc<OpenSegment>>,
    retired: Vec<Retired>,
    /// Held by every read that began since the last segment was retired.
    epoch: sync::Arc<()>,
}

/// Segments that were unlisted together, and the epoch of the reads that began before.
#[derive(Debug)]
struct Retired {
    keys: Vec<SegmentKey>,
    epoch: sync::Arc<()>,
}

impl State {
    fn new() -> Self {
        Self { open: HashMap::new(), retired: Vec::new(), epoch: sync::Arc::new(()) }
    }

    /// Ends the epoch: reads that begin from now on see nothing of these segments.
    fn retire(&mut self, keys: Vec<SegmentKey>) {
        let epoch = std::mem::replace(&mut self.epoch, sync::Arc::new(()));
        self.retired.push(Retired { keys, epoch });
        self.sweep();
    }

    fn sweep(&mut self) {
        let Self { open, retired, .. } = self;
        // Who read before an earlier epoch ended may look into what was retired later, too.
        let mut earlier = false;
        retired.retain(|Retired { keys, epoch }| {
            earlier |= sync::Arc::strong_count(epoch) > 1;
            if !earlier {
                keys.iter().for_each(|key| drop(open.remove(key)));
            }
            earlier
        });
    }
}

/// How many cards have left a segment, up to where cards have moved there, and the positions at
/// which there is none.
type Left = ((u32, Option<u32>), Arc<Vec<u32>>);
type KeptBlock = (SegmentKey, u32, Arc<DecodedBlock<'static>>);

/// The segment files of a store.
#[derive(Debug)]
pub(crate) struct ColdStore {
    io: Arc<dyn Io>,
    directory: PathBuf,
    state: sync::Mutex<State>,
    blocks: Mutex<VecDeque<KeptBlock>>,
    /// By segment, how many cards have left it and their positions, as last asked for.
    pub(super) left: Mutex<HashMap<SegmentKey, Left>>,
    /// Held by who makes or removes files.
    work: Mutex<()>,
}

/// What a read holds to see the segments of its snapshot. Taken before the snapshot is.
#[derive(Clone, Debug)]
pub(crate) struct ColdReader {
    store: Arc<ColdStore>,
    _epoch: sync::Arc<()>,
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
        let (state, blocks, left) = (sync::Mutex::new(State::new()), Mutex::default(), Mutex::default());
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
    pub(super) fn work(&self) -> MutexGuard<'_, ()> {
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
        match self.open(key) {
            Ok(segment) => Ok(self.state.lock().open.entry(key).or_insert(Arc::new(segment)).clone()),
            // It may have been opened and its file removed since; then who opened it has kept it
            // for the reads that began before.
            Err(error) => self.state.lock().open.get(&key).cloned().ok_or(error),
        }
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
    pub(super) fn write(&self, key: SegmentKey, bytes: &[u8]) -> Result<()> {
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
    pub(super) fn retire(&self, tenant: TenantId, numbers: &[u64]) -> Result<()> {
        for number in numbers {
            // What is open stays readable. A damaged one cannot be kept, nor could it be read.
            let _ = self.segment((tenant, *number));
        }
        self.state.lock().retire(numbers.iter().map(|number| (tenant, *number)).collect());
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
    pub(super) fn remove_unlisted(&self, tenant: TenantId, listed: impl Fn(u64) -> bool) -> Result<usize> {
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

    /// The segments that are kept open.
    #[cfg(test)]
    pub(super) fn open_segments(&self) -> Vec<SegmentKey> {
        self.state.lock().open.keys().copied().collect()
    }

    /// The numbers of a tenant's complete files.
    pub(super) fn numbers(&self, tenant: TenantId) -> Result<Vec<u64>> {
        let directory = self.tenant_directory(tenant);
        if !self.io.exists(&directory) {
            return Ok(vec![]);
        }
        let names = at(&directory, self.io.list(&directory))?;
        Ok(names
            .iter()
            .filter_map(|path| number_of(path))
            .filter(|(_, complete)| *complete)
            .map(|(n, _)| n)
            .collect())
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
        // Reads that began before see what is in them, as in those of any segment.
        for number in self.numbers(tenant)? {
            let _ = self.segment((tenant, number));
        }
        {
            let mut state = self.state.lock();
            let keys: Vec<SegmentKey> = state.open.keys().filter(|key| key.0 == tenant).copied().collect();
            state.retire(keys);
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
pub(super) fn tenant_directory(directory: &Path, tenant: TenantId) -> PathBuf {
    directory.join(format!("{:08x}", tenant.0))
}

pub(super) fn file_name(number: u64) -> String {
    format!("{number:016x}.seg")
}

/// True for a file with the name of a segment, complete or not.
pub(super) fn is_segment_file(path: &Path) -> bool {
    number_of(path).is_some()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cold::{ColdCard, Record, SegmentBuilder};
    use crate::store::io::RealIo;

    fn segment(number: u64) -> Vec<u8> {
        let mut builder = SegmentBuilder::new(1, number as u32, 0);
        let versions = [Record::opaque(b"a record")];
        let (id, track, flags, vector, length, occurred_at) = ([1; 16], 0, 0, None, 1, 0);
        let card =
            ColdCard { id, track, flags, versions: &versions, vector, terms: &[], length, occurred_at };
        builder.push(card).unwrap();
        builder.finish().unwrap()
    }

    /// A read sees every segment that was listed when it began, however often some were made
    /// anew since, and whether or not it had opened them.
    #[test]
    fn a_read_sees_what_was_listed_when_it_began() {
        let directory = tempfile::tempdir().unwrap();
        let cold = Arc::new(ColdStore::new(Arc::new(RealIo), directory.path()));
        let tenant = TenantId(1);
        (1..=4).for_each(|number| cold.write((tenant, number), &segment(number)).unwrap());
        let read = cold.reader();
        cold.retire(tenant, &[1]).unwrap();
        let later = cold.reader();
        cold.retire(tenant, &[2, 3]).unwrap();
        for number in 1..=4 {
            assert_eq!(
                read.segment((tenant, number)).unwrap().versions(0).unwrap(),
                [b"a record"],
                "{number}"
            );
        }
        assert!(later.segment((tenant, 3)).is_ok());
        drop(read);
        drop(cold.reader());
        let mut open = cold.open_segments();
        open.sort();
        assert_eq!(open, [(tenant, 2), (tenant, 3), (tenant, 4)], "nobody reads the first any more");
        drop(later);
        drop(cold.reader());
        assert_eq!(cold.open_segments(), [(tenant, 4)]);
        let read = cold.reader();
        assert_eq!(cold.forget_tenant(tenant).unwrap(), 1);
        assert!(read.segment((tenant, 4)).is_ok());
        assert!(!cold.path((tenant, 4)).exists());
        drop(read);
        drop(cold.reader());
        assert!(cold.open_segments().is_empty() && cold.segment((tenant, 4)).is_err());
    }

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
