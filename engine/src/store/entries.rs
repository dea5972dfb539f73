//! Walking the entries of the one table, and noticing where some are lost.
//!
//! Knows the marks that stand in the place of damaged pages; nothing of what keys and values
//! mean.

use std::ops::Bound;
use std::sync::Arc;

use redb::AccessGuard;

use crate::store::damage::{self, Damage, HIGH, Tolerant, is_mark, offset_of};
use crate::store::keys::TableId;
use crate::store::record;
use crate::store::tables::{ReadBytes, storage};
use crate::{Error, Result};

/// A raw entry of the store, checked by the caller.
pub(crate) type Entry<'a> = Result<(AccessGuard<'a, &'static [u8]>, AccessGuard<'a, &'static [u8]>)>;

/// Entries in order of their keys, from either end. Where some are lost with a damaged page,
/// an error stands in their place, and what comes behind it follows.
pub(crate) struct Entries<'a, T> {
    table: &'a T,
    damage: &'a Arc<Damage>,
    range: redb::Range<'a, &'static [u8], &'static [u8]>,
    /// Where to begin and to end, until the first entry was met.
    bounds: Option<(Vec<u8>, Bound<Vec<u8>>)>,
}

impl<'a, T: ReadBytes> Entries<'a, T> {
    pub(super) fn new(
        table: &'a T,
        damage: &'a Arc<Damage>,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
    ) -> Result<Self> {
        let _tolerant = Tolerant::here();
        let range = table.range::<&[u8]>(bounds).map_err(storage)?;
        let first = match bounds.0 {
            Bound::Included(key) | Bound::Excluded(key) => key.to_vec(),
            Bound::Unbounded => vec![0],
        };
        let end = match bounds.1 {
            Bound::Included(key) => Bound::Included(key.to_vec()),
            Bound::Excluded(key) => Bound::Excluded(key.to_vec()),
            Bound::Unbounded => Bound::Unbounded,
        };
        Ok(Self { table, damage, range, bounds: Some((first, end)) })
    }

    fn step(
        &mut self,
        step: impl FnOnce(
            &mut redb::Range<'a, &'static [u8], &'static [u8]>,
        ) -> Option<
            Result<(AccessGuard<'a, &'static [u8]>, AccessGuard<'a, &'static [u8]>), redb::StorageError>,
        >,
    ) -> Option<Entry<'a>> {
        let entry = {
            let _tolerant = Tolerant::here();
            step(&mut self.range)
        };
        let bounds = self.bounds.take();
        match entry {
            Some(Ok((key, value))) if is_mark(key.value()) => Some(Err(lost(None, value.value()))),
            Some(entry) => Some(entry.map_err(storage)),
            // Nothing at all: an end of it may lie in a damaged page, whose marks are beyond the
            // other end.
            None => {
                let (first, end) = bounds?;
                let checked = check_reachable(self.table, self.damage, &first)
                    .and_then(|()| check_end(self.table, self.damage, &end));
                checked.err().map(Err)
            }
        }
    }
}

impl<'a, T: ReadBytes> Iterator for Entries<'a, T> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl<T: ReadBytes> DoubleEndedIterator for Entries<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}

/// Refuses to say that a key is not there where its page is damaged.
///
/// # Errors
/// [`Error::Corrupt`] then.
pub(super) fn check_reachable<T: ReadBytes>(table: &T, damage: &Damage, key: &[u8]) -> Result<()> {
    if !damage.any() {
        return Ok(());
    }
    let _tolerant = Tolerant::here();
    let next = table.range::<&[u8]>((Bound::Included(key), Bound::Unbounded)).map_err(storage)?.next();
    match next.transpose().map_err(storage)? {
        Some((found, value)) if found.value() == HIGH => Err(lost(Some(key), value.value())),
        _ => Ok(()),
    }
}

/// Refuses to say that nothing is before an end whose page is damaged.
///
/// # Errors
/// [`Error::Corrupt`] then.
fn check_end<T: ReadBytes>(table: &T, damage: &Damage, end: &Bound<Vec<u8>>) -> Result<()> {
    if !damage.any() {
        return Ok(());
    }
    let _tolerant = Tolerant::here();
    let end = end.as_ref().map(Vec::as_slice);
    let last = table.range::<&[u8]>((Bound::Unbounded, end)).map_err(storage)?.next_back();
    match last.transpose().map_err(storage)? {
        Some((found, value)) if is_mark(found.value()) => Err(lost(None, value.value())),
        _ => Ok(()),
    }
}

/// What stood in a damaged page is lost.
fn lost(key: Option<&[u8]>, value: &[u8]) -> Error {
    let page = damage::place(offset_of(value));
    let place = match key.and_then(|key| Some(record::place(TableId::of_key(key)?, key))) {
        Some(key) => format!("{key}, {page}"),
        None => page,
    };
    Error::corrupt(place, "the page is damaged, its checksum does not fit or it cannot be read")
}
