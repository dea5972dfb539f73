//! The pages of the store file, each with its checksum.
//!
//! redb keeps checksums of its pages but looks at them only when it recovers; a flipped bit
//! would pass as an answer. Here each block of 4 KiB that redb writes gets a checksum, and
//! each that it reads is checked before redb sees it. The file is a sequence of groups: one
//! block of 512 checksums, and the 512 blocks that they belong to. Both reach the disk with
//! the same sync. The first block, where redb keeps its header, holds its checksum in the
//! header's own sector of 512 bytes, since that is written in place.
//!
//! After a crash a block and its checksum may come from different moments. That can only be so
//! where a write was not yet acknowledged: redb then checks everything that is in use with its
//! own checksums, and what it has accepted gets its checksum anew ([`Pages::settle`]).
//!
//! Knows the layout of redb's header as far as it must (whether the file was closed in
//! order); nothing of tables and keys.

mod backend;
mod content;
mod layout;

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::store::damage::{Damage, DamagedPage, Tolerant, write_marks};
use crate::store::io::{IoFile, at};
use crate::store::pages::layout::{
    COMMITS, GOD_BYTE, GROUP, HEADER_SUM, MAGIC, PRIMARY_UNFLUSHED, RECOVERY_REQUIRED, SECTOR, blocks_in,
    fits, fits_header, header_sum, offset_of, pieces, sum_of,
};
use crate::{Error, Result};

pub(crate) use backend::Backend;
pub(crate) use content::Content;
pub(crate) use layout::BLOCK;

/// Blocks that are read in one go where all are.
const STRETCH: u64 = 256;

/// How a damaged block is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// An error; marks where the reader can tell them.
    Checked,
    /// Blocks are handed on as they are: redb checks them itself.
    Recovering,
    /// Marks, whoever reads. Nothing is written.
    Salvage,
}

/// The checksums of one group; 0 where nothing was ever written.
#[derive(Debug)]
struct Group {
    sums: Vec<AtomicU64>,
    dirty: AtomicBool,
}

/// What was written of redb's header.
#[derive(Clone, Debug, Default)]
struct Header {
    /// Since the last sync.
    written: Option<Vec<u8>>,
    /// With the last sync.
    durable: Option<Vec<u8>>,
}

/// The store file, in blocks.
#[derive(Debug)]
pub(crate) struct Pages {
    file: Box<dyn IoFile>,
    path: PathBuf,
    mode: RwLock<Mode>,
    groups: Arc<RwLock<Vec<Option<Arc<Group>>>>>,
    /// Held by whoever writes checksums to the file.
    saving: Mutex<()>,
    /// The sector of redb's header.
    header: Mutex<Header>,
    damage: Arc<Damage>,
    /// An operation has failed, and redb was told.
    failed: AtomicBool,
}

fn invalid(detail: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, detail)
}

impl Pages {
    /// A new file, which must be empty.
    pub(crate) fn create(file: Box<dyn IoFile>, path: &Path) -> Arc<Self> {
        Arc::new(Self::new(file, path, Mode::Checked))
    }

    /// An existing file. Where it was not closed in order, redb has to be opened with it, which
    /// recovers it, and then [`Pages::settle`] be called.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when there is no header, [`Error::Io`] when it cannot be read.
    pub(crate) fn open(file: Box<dyn IoFile>, path: &Path) -> Result<Arc<Self>> {
        let pages = Self::new(file, path, Mode::Checked);
        if at(path, pages.len())? == 0 {
            return Err(Error::corrupt(path.display().to_string(), "the store file is empty, or cut short"));
        }
        let sector = at(path, pages.header())?;
        if !sector.starts_with(MAGIC) {
            return Err(Error::corrupt(pages.place(0), "this is not the header of a store file"));
        }
        if sector[GOD_BYTE] & (RECOVERY_REQUIRED | PRIMARY_UNFLUSHED) != 0 {
            pages.set_mode(Mode::Recovering);
        }
        Ok(Arc::new(pages))
    }

    fn new(file: Box<dyn IoFile>, path: &Path, mode: Mode) -> Self {
        Self {
            file,
            path: path.to_owned(),
            mode: RwLock::new(mode),
            groups: Arc::default(),
            saving: Mutex::default(),
            header: Mutex::default(),
            damage: Arc::default(),
            failed: AtomicBool::new(false),
        }
    }

    /// As redb's file.
    pub(crate) fn backend(self: &Arc<Self>) -> Backend {
        Backend(self.clone())
    }

    /// True when an operation has failed: redb does nothing more with the file.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// What was found damaged so far.
    pub(crate) fn damage(&self) -> &Arc<Damage> {
        &self.damage
    }

    /// Another handle of the file, for which damaged pages are marks, whoever reads; it writes
    /// nothing, and stays with the last commit that is known to be durable.
    pub(crate) fn salvage(&self, file: Box<dyn IoFile>) -> Arc<Self> {
        // With the checksums in memory: the last ones may not have reached the file.
        let (damage, groups) = (self.damage.clone(), self.groups.clone());
        let header = Mutex::new(self.header.lock().clone());
        Arc::new(Self { damage, groups, header, ..Self::new(file, &self.path, Mode::Salvage) })
    }

    /// Ends the recovery of a file that was not closed in order: redb has checked all that is in
    /// use, so every block is what it has to be.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn settle(&self) -> Result<()> {
        if self.mode() != Mode::Recovering {
            return Ok(());
        }
        let mut settled = 0u64;
        let each = |block: u64, bytes: &[u8]| {
            let group = self.group(block / GROUP)?;
            let sum = &group.sums[(block % GROUP) as usize];
            let stored = sum.load(Ordering::Relaxed);
            if block > 0 && (stored == 0 || sum_of(block, bytes) != stored) {
                let empty = bytes.iter().all(|byte| *byte == 0);
                let new = if empty && stored == 0 { 0 } else { sum_of(block, bytes) };
                if new != stored {
                    sum.store(new, Ordering::Relaxed);
                    group.dirty.store(true, Ordering::Release);
                    settled += 1;
                }
            }
            Ok(())
        };
        at(&self.path, self.each_block(each))?;
        // Of blocks that were to come, or have been cut off.
        if let Some((group, unused)) = at(&self.path, self.unused())? {
            for sum in group.sums[unused].iter().filter(|sum| sum.load(Ordering::Relaxed) != 0) {
                sum.store(0, Ordering::Relaxed);
                group.dirty.store(true, Ordering::Release);
            }
        }
        at(&self.path, self.save_sums())?;
        tracing::debug!(settled, "checksums of pages that were being written when the store ended");
        self.set_mode(Mode::Checked);
        Ok(())
    }

    /// Tells of every block whose checksum does not fit, those that are not in use included.
    /// Asked while the file is written, `still` keeps that from happening for a moment.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn check<G>(
        &self,
        still: impl FnOnce() -> G,
        mut found: impl FnMut(DamagedPage),
    ) -> Result<u64> {
        let mut looked_at = 0;
        let mut doubtful = Vec::new();
        let each = |block: u64, bytes: &[u8]| {
            looked_at += 1;
            if !self.is_exact(block, bytes)? {
                doubtful.push(block);
            }
            Ok(())
        };
        at(&self.path, self.each_block(each))?;
        let _still = still();
        if let Some((group, unused)) = at(&self.path, self.unused())? {
            let hit = group.sums[unused.clone()].iter().position(|sum| sum.load(Ordering::Relaxed) != 0);
            if let Some(position) = hit {
                let first = at(&self.path, self.len())? / BLOCK as u64 / GROUP * (GROUP + 1) * BLOCK as u64;
                let offset = first + 8 * (unused.start + position) as u64;
                let detail = "a checksum of a page that is not there".into();
                found(DamagedPage { offset, detail });
            }
        }
        let mut bytes = vec![0; BLOCK];
        for block in doubtful {
            let detail = match self.file.read_at(offset_of(block), &mut bytes) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => continue,
                Err(error) => format!("cannot be read: {error}"),
                Ok(()) if at(&self.path, self.is_exact(block, &bytes))? => continue,
                Ok(()) => "the checksum does not fit".into(),
            };
            found(DamagedPage { offset: offset_of(block), detail });
        }
        Ok(looked_at)
    }

    /// What redb has written, without checksums between, as it is.
    pub(crate) fn content(self: &Arc<Self>) -> Content {
        Content::of(self.clone())
    }

    /// True when a block is exactly what its checksum says.
    fn is_exact(&self, block: u64, bytes: &[u8]) -> io::Result<bool> {
        let sum = self.group(block / GROUP)?.sums[(block % GROUP) as usize].load(Ordering::Relaxed);
        Ok(match (block, sum) {
            (0, 0) => fits_header(bytes) && bytes[SECTOR..].iter().all(|byte| *byte == 0),
            (0, _) => false,
            (_, 0) => bytes.iter().all(|byte| *byte == 0),
            _ => sum_of(block, bytes) == sum,
        })
    }

    /// Hands out every block of the file, in order.
    fn each_block(&self, mut each: impl FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let blocks = blocks_in(self.file.len()? / BLOCK as u64);
        let mut bytes = vec![0; BLOCK * STRETCH as usize];
        let mut next = 0;
        while next < blocks {
            let end = (next + STRETCH).min(blocks).min((next / GROUP + 1) * GROUP);
            let bytes = &mut bytes[..(end - next) as usize * BLOCK];
            match self.file.read_at(offset_of(next), bytes) {
                Ok(()) => {}
                // Others may cut the file while it is read.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(_) => {
                    // One of them: those beside it can be read.
                    for (block, bytes) in (next..end).zip(bytes.chunks_exact_mut(BLOCK)) {
                        if self.file.read_at(offset_of(block), bytes).is_err() {
                            bytes.fill(0xff);
                        }
                    }
                }
            }
            for (block, bytes) in (next..end).zip(bytes.chunks_exact(BLOCK)) {
                each(block, bytes)?;
            }
            next = end;
        }
        Ok(())
    }

    fn mode(&self) -> Mode {
        *self.mode.read()
    }

    fn set_mode(&self, mode: Mode) {
        *self.mode.write() = mode;
    }

    /// A block's place in messages.
    fn place(&self, block: u64) -> String {
        format!("{} at byte {}", self.path.display(), offset_of(block))
    }

    /// The sector of redb's header.
    fn header(&self) -> io::Result<Vec<u8>> {
        let mut sector = vec![0; SECTOR];
        self.read_twice(offset_of(0), &mut sector)?;
        Ok(sector)
    }

    /// Reads; once more where that fails, since what redb is told of a page it keeps.
    fn read_twice(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, out).or_else(|_| self.file.read_at(offset, out))
    }

    /// The checksums of a group, read from the file when they are needed first.
    fn group(&self, number: u64) -> io::Result<Arc<Group>> {
        let index = usize::try_from(number).map_err(|_| invalid("the file is too long".into()))?;
        let known = self.groups.read();
        if let Some(Some(group)) = known.get(index) {
            return Ok(group.clone());
        }
        drop(known);
        let mut groups = self.groups.write();
        if groups.len() <= index {
            groups.resize(index + 1, None);
        }
        if let Some(group) = &groups[index] {
            return Ok(group.clone());
        }
        let mut bytes = vec![0; BLOCK];
        match self.read_twice(number * (GROUP + 1) * BLOCK as u64, &mut bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => bytes.fill(0),
            read => read?,
        }
        let sums = bytes.as_chunks::<8>().0.iter().map(|sum| AtomicU64::new(u64::from_le_bytes(*sum)));
        let group = Arc::new(Group { sums: sums.collect(), dirty: AtomicBool::new(false) });
        groups[index] = Some(group.clone());
        Ok(group)
    }

    /// The last group, and where in it the checksums stand of blocks that are not there.
    fn unused(&self) -> io::Result<Option<(Arc<Group>, Range<usize>)>> {
        let blocks = blocks_in(self.file.len()? / BLOCK as u64);
        match blocks % GROUP {
            // The next group has no block of checksums yet.
            0 => Ok(None),
            used => Ok(Some((self.group(blocks / GROUP)?, used as usize..GROUP as usize))),
        }
    }

    /// Writes the checksums that have changed.
    fn save_sums(&self) -> io::Result<()> {
        let _saving = self.saving.lock();
        let groups: Vec<(usize, Arc<Group>)> = {
            let groups = self.groups.read();
            let dirty = groups.iter().enumerate().filter_map(|(number, group)| {
                let group = group.as_ref().filter(|group| group.dirty.load(Ordering::Acquire))?;
                Some((number, group.clone()))
            });
            dirty.collect()
        };
        let file_blocks = self.file.len()? / BLOCK as u64;
        for (number, group) in groups {
            // First: what changes meanwhile is written once more.
            group.dirty.store(false, Ordering::Release);
            let block = number as u64 * (GROUP + 1);
            if block < file_blocks {
                let bytes: Vec<u8> =
                    group.sums.iter().flat_map(|sum| sum.load(Ordering::Relaxed).to_le_bytes()).collect();
                self.file.write_at(block * BLOCK as u64, &bytes).inspect_err(|_| {
                    group.dirty.store(true, Ordering::Release);
                })?;
            }
        }
        Ok(())
    }

    /// Reads blocks and answers for what is damaged in them.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset < BLOCK as u64 {
            return self.read_header(offset, out);
        }
        let (first, rest) = (offset / BLOCK as u64, offset % BLOCK as u64);
        if rest != 0 || !out.len().is_multiple_of(BLOCK) {
            return Err(invalid(format!("{} bytes at {offset} are no blocks", out.len())));
        }
        let mode = self.mode();
        let count = (out.len() / BLOCK) as u64;
        let mut damaged = None;
        for blocks in pieces(first..first + count) {
            let from = (blocks.start - first) as usize * BLOCK;
            let bytes = &mut out[from..from + (blocks.end - blocks.start) as usize * BLOCK];
            if let Err(error) = self.read_twice(offset_of(blocks.start), bytes) {
                if mode == Mode::Recovering {
                    return Err(error);
                }
                damaged = Some((blocks.start, format!("cannot be read: {error}"), Some(error)));
                break;
            }
            if mode == Mode::Recovering {
                continue;
            }
            let group = self.group(blocks.start / GROUP)?;
            for (block, bytes) in blocks.zip(bytes.chunks_exact(BLOCK)) {
                if !fits(block, bytes, group.sums[(block % GROUP) as usize].load(Ordering::Relaxed)) {
                    damaged = Some((block, "the checksum does not fit".into(), None));
                    break;
                }
            }
        }
        let Some((block, detail, error)) = damaged else { return Ok(()) };
        let page = DamagedPage { offset: offset_of(block), detail };
        self.damage.note(page.clone());
        if mode == Mode::Salvage || Tolerant::is_here() {
            write_marks(out, page.offset);
            return Ok(());
        }
        Err(error.unwrap_or_else(|| invalid(page.to_string())))
    }

    /// Reads from redb's header. Whoever salvages sees a file that was closed in order, and the
    /// later of two commits where it cannot be trusted which of them counts; each has a checksum of
    /// its own.
    fn read_header(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let salvage = self.mode() == Mode::Salvage;
        let durable = self.header.lock().durable.clone().filter(|_| salvage);
        let mut sector = durable.map_or_else(|| self.header(), Ok)?;
        if !fits_header(&sector) {
            let detail = "the checksum of the header does not fit".to_owned();
            let page = DamagedPage { offset: offset_of(0), detail };
            self.damage.note(page.clone());
            if !salvage {
                return Err(invalid(page.to_string()));
            }
            let [first, second] =
                COMMITS.map(|at| u64::from_le_bytes(*sector[at..].first_chunk().unwrap_or(&[0; 8])));
            sector[GOD_BYTE] = u8::from(second > first);
        }
        if salvage {
            sector[GOD_BYTE] &= !(RECOVERY_REQUIRED | PRIMARY_UNFLUSHED);
        }
        sector.truncate(HEADER_SUM);
        sector.resize(BLOCK, 0);
        // Below the length of a block.
        let start = offset as usize;
        match sector.get(start..start + out.len()) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => return Err(invalid(format!("{} bytes at {offset} reach out of the header", out.len()))),
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.mode() == Mode::Salvage {
            return Err(io::Error::new(ErrorKind::ReadOnlyFilesystem, "the store file is damaged"));
        }
        if offset == 0 && data.len() <= HEADER_SUM {
            let mut sector = data.to_vec();
            sector.resize(SECTOR, 0);
            if self.mode() == Mode::Recovering {
                // redb takes the flag back once it is done, which is before checksums are settled: who
                // is killed in between has to recover once more.
                sector[GOD_BYTE] |= RECOVERY_REQUIRED;
            }
            let sum = header_sum(&sector);
            sector[HEADER_SUM..].copy_from_slice(&sum.to_le_bytes());
            self.file.write_at(offset_of(0), &sector)?;
            self.header.lock().written = Some(sector);
            return Ok(());
        }
        let (first, rest) = (offset / BLOCK as u64, offset % BLOCK as u64);
        if first == 0 || rest != 0 || !data.len().is_multiple_of(BLOCK) {
            return Err(invalid(format!("{} bytes at {offset} are no blocks", data.len())));
        }
        for blocks in pieces(first..first + (data.len() / BLOCK) as u64) {
            let from = (blocks.start - first) as usize * BLOCK;
            let bytes = &data[from..from + (blocks.end - blocks.start) as usize * BLOCK];
            let group = self.group(blocks.start / GROUP)?;
            self.file.write_at(offset_of(blocks.start), bytes)?;
            for (block, bytes) in blocks.zip(bytes.chunks_exact(BLOCK)) {
                group.sums[(block % GROUP) as usize].store(sum_of(block, bytes), Ordering::Relaxed);
            }
            group.dirty.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.save_sums()?;
        self.file.sync()?;
        let mut header = self.header.lock();
        if let Some(written) = header.written.take() {
            header.durable = Some(written);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if self.mode() == Mode::Salvage {
            return Err(io::Error::new(ErrorKind::ReadOnlyFilesystem, "the store file is damaged"));
        }
        if !len.is_multiple_of(BLOCK as u64) {
            return Err(invalid(format!("{len} bytes are no blocks")));
        }
        let (blocks, before) = (len / BLOCK as u64, self.len()? / BLOCK as u64);
        // What is cut off or added is empty, also where that was cut short before.
        for block in blocks.min(before)..blocks.max(before) {
            let group = self.group(block / GROUP)?;
            group.sums[(block % GROUP) as usize].store(0, Ordering::Relaxed);
            group.dirty.store(true, Ordering::Release);
        }
        self.file.set_len(if blocks == 0 { 0 } else { offset_of(blocks - 1) + BLOCK as u64 })
    }

    fn len(&self) -> io::Result<u64> {
        Ok(blocks_in(self.file.len()? / BLOCK as u64) * BLOCK as u64)
    }
}

#[cfg(test)]
mod tests;
