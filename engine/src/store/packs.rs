//! Items of plans and runs, packed: so many to a record, compressed.
//!
//! An item by itself is some four hundred bytes of JSON that says nearly what the one before
//! says; a run over a million cards has a million of them, and they are kept for as long as it
//! can be taken back. What holds words of cards is left uncompressed, so that a scan of the
//! files for something erased sees it. This module does not know what items mean.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::batch::Batch;
use crate::store::keys::{self, TableId, TenantId};
use crate::store::ledger::Numbered;
use crate::store::record::{self, Schema};
use crate::store::tables::{ReadBytes, Tables};
use crate::{Error, Result};

/// Items of a record, as far as they fit: compressed they and their key fit on a page.
const ITEMS: usize = 64;
/// Bytes of JSON from which a record is full.
const FULL: usize = 256 * 1024;
/// No record holds more JSON: an item is some kilobytes at most.
const LARGEST: usize = 64 << 20;
/// Level of zstd.
const LEVEL: i32 = 6;

/// How the JSON of a record stands there.
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
/// That, the number of items u32, bytes of JSON u32.
const HEAD: usize = 9;

/// One of many items of a document.
pub(crate) trait Item: Serialize + DeserializeOwned + 'static {
    /// True when it holds words of a card.
    fn holds_words(&self) -> bool;
}

/// Items that follow each other, the first with the number of the record's key.
fn seal<D: Item>(table: TableId, key: &[u8], items: &[D]) -> Result<Vec<u8>> {
    let failed = |detail: String| Error::Internal(format!("encoding for {}: {detail}", table.name()));
    let json = serde_json::to_vec(items).map_err(|e| failed(e.to_string()))?;
    let how = if items.iter().any(Item::holds_words) { PLAIN } else { COMPRESSED };
    let (Ok(count), Ok(length)) = (u32::try_from(items.len()), u32::try_from(json.len())) else {
        return Err(failed("items of more than 4 GiB".into()));
    };
    let bytes = match how {
        PLAIN => json,
        _ => zstd::bulk::compress(&json, LEVEL).map_err(|e| failed(e.to_string()))?,
    };
    let payload = [&[how][..], &count.to_le_bytes(), &length.to_le_bytes(), &bytes].concat();
    Ok(record::seal(table, key, Schema::ItemsV1, &payload))
}

/// The items of a record.
fn open<D: Item>(table: TableId, key: &[u8], value: &[u8]) -> Result<Vec<D>> {
    let bad = |detail: &str| Error::corrupt(record::place(table, key), detail);
    let (schema, payload) = record::open(table, key, value)?;
    let (head, bytes) = payload.split_first_chunk::<HEAD>().ok_or_else(|| bad("shorter than its head"))?;
    if schema != Schema::ItemsV1 {
        return Err(bad("items were expected"));
    }
    let u32_at =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    let (count, length) = (u32_at(1), u32_at(5));
    if length > LARGEST {
        return Err(bad("more bytes than items can have"));
    }
    let unpacked;
    let json = match head[0] {
        PLAIN => bytes,
        COMPRESSED => {
            unpacked = zstd::bulk::decompress(bytes, length).map_err(|e| bad(&e.to_string()))?;
            &unpacked
        }
        _ => return Err(bad("items in a way that is not known")),
    };
    if json.len() != length {
        return Err(bad("items of another length"));
    }
    let items: Vec<D> = serde_json::from_slice(json).map_err(|e| bad(&e.to_string()))?;
    match items.len() == count && count > 0 {
        true => Ok(items),
        false => Err(bad("another number of items")),
    }
}

/// The number of the first item of a record.
fn first_of(table: TableId, key: &[u8]) -> Result<u32> {
    keys::item_of_key(key)
        .ok_or_else(|| Error::corrupt(record::place(table, key), "the key has no number of an item"))
}

/// The items of one record with the number of the first, or why they cannot be read, one by one.
fn flat<D: Item>(record: Result<(u32, Vec<D>)>) -> Vec<Numbered<u32, D>> {
    match record {
        Ok((first, items)) => (first..).zip(items).map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }
}

impl<T: ReadBytes> Tables<T> {
    /// The items of a document in a tenant, from a number on, in order.
    pub(crate) fn items<D: Item>(
        &self,
        table: TableId,
        tenant: TenantId,
        number: u64,
        from: u32,
    ) -> Result<impl Iterator<Item = Numbered<u32, D>> + '_> {
        let low = keys::item(table, tenant, number, 0);
        let wanted = keys::item(table, tenant, number, from);
        let last = keys::item(table, tenant, number, u32::MAX);
        // A record holds the items from that of its key on.
        let before = self.range(&low, std::ops::Bound::Included(wanted.as_slice()))?.next_back();
        let first = match before {
            Some(entry) => entry?.0.value().to_vec(),
            None => wanted.to_vec(),
        };
        let range = self.range(&first, std::ops::Bound::Included(last.as_slice()))?;
        let records = range.map(move |entry| {
            let (key, value) = entry?;
            Ok((first_of(table, key.value())?, open(table, key.value(), value.value())?))
        });
        let items = records.flat_map(flat);
        Ok(items.filter(move |item| item.as_ref().map_or(true, |(number, _)| *number >= from)))
    }

    /// All items of all documents of a kind in a tenant: number of the document, of the item, and
    /// the item.
    pub(crate) fn all_items<D: Item>(
        &self,
        table: TableId,
        tenant: TenantId,
    ) -> Result<impl Iterator<Item = Numbered<(u64, u32), D>> + '_> {
        self.items_of(table, tenant, |_| true)
    }

    /// The same of the records in which there are words of cards; the others are not decoded.
    pub(crate) fn items_with_words<D: Item>(
        &self,
        table: TableId,
        tenant: TenantId,
    ) -> Result<impl Iterator<Item = Numbered<(u64, u32), D>> + '_> {
        self.items_of(table, tenant, |value| record::payload(value).first() == Some(&PLAIN))
    }

    fn items_of<D: Item>(
        &self,
        table: TableId,
        tenant: TenantId,
        wants: impl Fn(&[u8]) -> bool,
    ) -> Result<impl Iterator<Item = Numbered<(u64, u32), D>>> {
        let (first, end) = keys::range_of(table, tenant);
        let range = self.range(&first, std::ops::Bound::Excluded(end.as_slice()))?;
        let read = move |key: &[u8], value: &[u8]| {
            let number = keys::number_of_key(key)
                .ok_or_else(|| Error::corrupt(record::place(table, key), "the key has no number"))?;
            let items = (first_of(table, key)?..).zip(open::<D>(table, key, value)?);
            Ok(items.map(|(at, item)| Ok(((number, at), item))).collect::<Vec<_>>())
        };
        Ok(range.flat_map(move |entry| match entry {
            Ok((_, value)) if !wants(value.value()) => vec![],
            Ok((key, value)) => read(key.value(), value.value()).unwrap_or_else(|error| vec![Err(error)]),
            Err(error) => vec![Err(error)],
        }))
    }
}

impl Batch<'_> {
    /// Writes items of a document that follow each other from a number on, behind all that it has.
    pub(crate) fn put_items<D: Item>(
        &mut self,
        table: TableId,
        tenant: TenantId,
        (number, first): (u64, u32),
        items: &[D],
    ) -> Result<()> {
        let (mut at, mut rest) = (first, items);
        while !rest.is_empty() {
            let mut bytes = 0;
            let mut count = 0;
            for item in rest.iter().take(ITEMS) {
                if count > 0 && bytes >= FULL {
                    break;
                }
                count += 1;
                // What holds no words is small.
                if item.holds_words() {
                    let json = serde_json::to_vec(item);
                    bytes += json.map_err(|e| Error::Internal(format!("encoding an item: {e}")))?.len();
                }
            }
            let (items, after) = rest.split_at(count);
            let key = keys::item(table, tenant, number, at);
            self.tables_mut().put(&key, &seal(table, &key, items)?)?;
            // No document has more items than it can count.
            at = at.saturating_add(count as u32);
            rest = after;
        }
        Ok(())
    }

    /// Writes items that are there already, by their numbers.
    pub(crate) fn replace_items<D: Item>(
        &mut self,
        table: TableId,
        tenant: TenantId,
        number: u64,
        mut items: BTreeMap<u32, D>,
    ) -> Result<()> {
        while let Some((at, _)) = items.first_key_value() {
            let (low, wanted) =
                (keys::item(table, tenant, number, 0), keys::item(table, tenant, number, *at));
            let found = {
                let mut range = self.tables().range(&low, std::ops::Bound::Included(wanted.as_slice()))?;
                match range.next_back() {
                    Some(entry) => {
                        let (key, value) = entry?;
                        let first = first_of(table, key.value())?;
                        Some((first, key.value().to_vec(), open::<D>(table, key.value(), value.value())?))
                    }
                    None => None,
                }
            };
            let missing = || Error::NotFound { what: format!("item {at} of a document in {}", table.name()) };
            let (first, key, mut present) = found.ok_or_else(missing)?;
            let end = first.saturating_add(present.len() as u32);
            if *at >= end {
                return Err(missing());
            }
            let later = items.split_off(&end);
            for (at, item) in std::mem::replace(&mut items, later) {
                present[(at - first) as usize] = item;
            }
            self.tables_mut().put(&key, &seal(table, &key, &present)?)?;
        }
        Ok(())
    }
}
