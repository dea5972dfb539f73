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

mod files;
mod follow;
mod freeze;
#[cfg(all(test, loom))]
mod model;
mod rewrite;
pub(crate) mod stub;
mod thaw;
pub(in crate::store) mod verify;

pub(crate) use files::{ColdReader, ColdStore};
pub use freeze::Frozen;
#[cfg(feature = "fuzzing")]
pub(crate) use freeze::Progress;
pub(crate) use freeze::{Described, Freezing};
pub use rewrite::Rewritten;
pub(crate) use stub::{Stub, is_stub};

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cold::Segment;
use crate::store::io::{at, write_file};
use crate::store::keys::{self, TableId, TenantId};
use crate::store::mapped::Mapped;
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables};
use crate::store::{Damaged, Database};
use crate::{Error, Result};
use files::{COLD_DIRECTORY, file_name, tenant_directory};

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
    /// Cards from this position on have not moved here, and will not where that was cut short; as
    /// many as there are when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moved: Option<u32>,
    /// Cards that have left it, those that have not moved here included.
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
        let bytes = bytes.len() as u64;
        Self { bytes, check, cards, moved: None, dead: 0, purged: 0, generation, dimension }
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
            let (key, value) = entry?;
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

    /// The positions of a segment that no card stands at any more, or yet, in order.
    pub(crate) fn left(&self, (tenant, number): SegmentKey, listed: &SegmentRecord) -> Result<Vec<u32>> {
        let mut left = self.noted_as_left((tenant, number))?;
        left.extend(listed.moved.unwrap_or(listed.cards)..listed.cards);
        Ok(left)
    }

    fn noted_as_left(&self, (tenant, number): SegmentKey) -> Result<Vec<u32>> {
        let first = dead_key((tenant, number), 0);
        let last = dead_key((tenant, number), u32::MAX);
        let range = self.range(&first, std::ops::Bound::Included(last.as_slice()))?;
        range
            .map(|entry| {
                let (key, value) = entry?;
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
            && *dead == (listed.dead, listed.moved)
        {
            return Ok(left.clone());
        }
        let left = Arc::new(self.left(key, listed)?);
        cold.left.lock().insert(key, ((listed.dead, listed.moved), left.clone()));
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
    /// something erased cannot see. Gives a place with each. What is damaged is noted and passed
    /// over.
    ///
    /// # Errors
    /// When the store cannot be read; `visit` may end it, too.
    pub(crate) fn cold_texts(
        &self,
        tenant: TenantId,
        damaged: &mut Damaged,
        mut visit: impl FnMut(&str, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let tables = self.read()?;
        for (number, _) in tables.segments(tenant)? {
            let key = (tenant, number);
            let Some(segment) = damaged.beside(self.cold().segment(key))? else { continue };
            let named = |error| self.cold().damaged(key, error);
            let place = |what: &str| format!("{}, {what}", self.cold().path(key).display());
            for (what, bytes) in [("terms", segment.strings()), ("dictionary", segment.dictionary())] {
                if let Some(bytes) = damaged.beside(bytes.map_err(named))? {
                    visit(&place(what), bytes)?;
                }
            }
            for (block, number) in segment.blocks().zip(0u32..) {
                if let Some(block) = damaged.beside(block.map_err(named))? {
                    visit(&place(&format!("block {number}")), block.text())?;
                }
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

    /// Removes what [`Database::copy_segments`] has made, and directories that are empty then.
    pub(super) fn remove_copied_segments(&self, to: &Path) -> std::io::Result<()> {
        let (io, cold) = (self.io(), to.join(COLD_DIRECTORY));
        if !io.exists(&cold) {
            return Ok(());
        }
        for directory in io.list(&cold)?.iter().filter(|path| io.is_directory(path)) {
            for file in io.list(directory)?.iter().filter(|path| files::is_segment_file(path)) {
                io.remove(file)?;
            }
            io.remove_directory(directory)?;
        }
        io.remove_directory(&cold)
    }
}
