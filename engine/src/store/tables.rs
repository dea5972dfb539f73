//! Typed access to the tables of one transaction, reading or writing.
//!
//! Knows records and keys, nothing of batches, callers or indexes.

use std::ops::Bound;

use redb::{AccessGuard, ReadTransaction, ReadableTable, Table, WriteTransaction};
use serde::{Deserialize, Serialize};

use crate::card::{Card, CardId};
use crate::store::keys::{self, Lookup, TableId, TenantId};
use crate::store::record::{self, Change, Schema};
use crate::time::Timestamp;
use crate::{Error, Result};

/// A table of raw bytes that can be read.
pub(crate) trait ReadBytes: ReadableTable<&'static [u8], &'static [u8]> {}
impl<T: ReadableTable<&'static [u8], &'static [u8]>> ReadBytes for T {}

type ReadTable = redb::ReadOnlyTable<&'static [u8], &'static [u8]>;
pub(crate) type WriteTable<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// Turns redb's errors into ours.
pub(crate) fn storage(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Corrupted(detail) => Error::corrupt("the store file", detail),
        redb::Error::Io(source) if source.kind() == std::io::ErrorKind::InvalidData => {
            Error::corrupt("the store file", source.to_string())
        }
        redb::Error::Io(source) => Error::Io { path: "the store file".into(), source },
        redb::Error::PreviousIo => {
            Error::ReadOnly { reason: "an earlier file operation failed; reopen the store".into() }
        }
        redb::Error::TableDoesNotExist(name) => {
            Error::corrupt("the store file", format!("table {name} is missing"))
        }
        other => Error::Internal(other.to_string()),
    }
}

/// The card in a value of `lookup`.
pub(crate) fn open_lookup(key: &[u8], value: &[u8]) -> Result<CardId> {
    let bytes = record::open_bytes(TableId::Lookup, key, value)?;
    let id = bytes
        .try_into()
        .map_err(|_| Error::corrupt(record::place(TableId::Lookup, key), "not a card identifier"))?;
    Ok(CardId::from_bytes(id))
}

/// What is known of a tenant itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TenantRecord {
    /// The tenant's name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Every table of one transaction.
#[derive(Debug)]
pub(crate) struct Tables<T> {
    pub(crate) meta: T,
    pub(crate) tenant_names: T,
    pub(crate) tenants: T,
    pub(crate) cards: T,
    pub(crate) versions: T,
    pub(crate) vectors: T,
    pub(crate) lookup: T,
    pub(crate) changes: T,
}

impl Tables<ReadTable> {
    /// Opens the tables of a read transaction; they stay readable after it is dropped.
    pub(crate) fn read(transaction: &ReadTransaction) -> Result<Self> {
        let table = |id: TableId| transaction.open_table(id.definition()).map_err(storage);
        Self::open(table)
    }
}

impl<'t> Tables<WriteTable<'t>> {
    /// Opens (and creates) the tables of a write transaction.
    pub(crate) fn write(transaction: &'t WriteTransaction) -> Result<Self> {
        let table = |id: TableId| transaction.open_table(id.definition()).map_err(storage);
        Self::open(table)
    }

    /// Writes a sealed value.
    pub(crate) fn put(&mut self, table: TableId, key: &[u8], value: &[u8]) -> Result<()> {
        self.table_mut(table).insert(key, value).map_err(storage)?;
        Ok(())
    }

    /// Removes a value.
    pub(crate) fn remove(&mut self, table: TableId, key: &[u8]) -> Result<()> {
        self.table_mut(table).remove(key).map_err(storage)?;
        Ok(())
    }

    /// Writes a setting.
    pub(crate) fn put_meta(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let value = record::seal_bytes(TableId::Meta, name.as_bytes(), bytes);
        self.put(TableId::Meta, name.as_bytes(), &value)
    }

    /// Registers a tenant under a number.
    pub(crate) fn put_tenant(&mut self, id: TenantId, tenant: &TenantRecord) -> Result<()> {
        let json =
            serde_json::to_vec(tenant).map_err(|e| Error::Internal(format!("encoding a tenant: {e}")))?;
        let key = id.prefix();
        self.put(TableId::Tenants, &key, &record::seal(TableId::Tenants, &key, Schema::TenantJson, &json))?;
        let name = tenant.name.as_bytes();
        self.put(TableId::TenantNames, name, &record::seal_bytes(TableId::TenantNames, name, &key))
    }

    fn table_mut(&mut self, table: TableId) -> &mut WriteTable<'t> {
        match table {
            TableId::Meta => &mut self.meta,
            TableId::TenantNames => &mut self.tenant_names,
            TableId::Tenants => &mut self.tenants,
            TableId::Cards => &mut self.cards,
            TableId::Versions => &mut self.versions,
            TableId::Vectors => &mut self.vectors,
            TableId::Lookup => &mut self.lookup,
            TableId::Changes => &mut self.changes,
        }
    }
}

/// Entries of a table between two bounds, checked one by one by the caller.
type Entry<'a> = Result<(AccessGuard<'a, &'static [u8]>, AccessGuard<'a, &'static [u8]>)>;

impl<T: ReadBytes> Tables<T> {
    fn open(mut table: impl FnMut(TableId) -> Result<T>) -> Result<Self> {
        Ok(Self {
            meta: table(TableId::Meta)?,
            tenant_names: table(TableId::TenantNames)?,
            tenants: table(TableId::Tenants)?,
            cards: table(TableId::Cards)?,
            versions: table(TableId::Versions)?,
            vectors: table(TableId::Vectors)?,
            lookup: table(TableId::Lookup)?,
            changes: table(TableId::Changes)?,
        })
    }

    /// The table with that number.
    pub(crate) fn table(&self, table: TableId) -> &T {
        match table {
            TableId::Meta => &self.meta,
            TableId::TenantNames => &self.tenant_names,
            TableId::Tenants => &self.tenants,
            TableId::Cards => &self.cards,
            TableId::Versions => &self.versions,
            TableId::Vectors => &self.vectors,
            TableId::Lookup => &self.lookup,
            TableId::Changes => &self.changes,
        }
    }

    /// A setting.
    pub(crate) fn meta(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let key = name.as_bytes();
        let Some(value) = self.meta.get(key).map_err(storage)? else { return Ok(None) };
        Ok(Some(record::open_bytes(TableId::Meta, key, value.value())?.to_vec()))
    }

    /// A setting that is a number.
    pub(crate) fn meta_number(&self, name: &str) -> Result<Option<u64>> {
        let Some(bytes) = self.meta(name)? else { return Ok(None) };
        let bytes: [u8; 8] = bytes
            .try_into()
            .map_err(|_| Error::corrupt(record::place(TableId::Meta, name.as_bytes()), "not a number"))?;
        Ok(Some(u64::from_le_bytes(bytes)))
    }

    /// The number of a tenant.
    pub(crate) fn tenant_id(&self, name: &str) -> Result<Option<TenantId>> {
        let key = name.as_bytes();
        let Some(value) = self.tenant_names.get(key).map_err(storage)? else { return Ok(None) };
        let bytes = record::open_bytes(TableId::TenantNames, key, value.value())?;
        TenantId::of_key(bytes)
            .map(Some)
            .ok_or_else(|| Error::corrupt(record::place(TableId::TenantNames, key), "not a tenant number"))
    }

    /// Every tenant, in order of its number.
    pub(crate) fn tenants(&self) -> Result<Vec<(TenantId, TenantRecord)>> {
        self.tenants
            .iter()
            .map_err(storage)?
            .map(|entry| {
                let (key, value) = entry.map_err(storage)?;
                let (key, value) = (key.value(), value.value());
                let bad = |detail: String| Error::corrupt(record::place(TableId::Tenants, key), detail);
                let id = TenantId::of_key(key).ok_or_else(|| bad("not a tenant key".into()))?;
                let (_, json) = record::open(TableId::Tenants, key, value)?;
                Ok((id, serde_json::from_slice(json).map_err(|e| bad(e.to_string()))?))
            })
            .collect()
    }

    /// The current version of a card.
    pub(crate) fn card(&self, tenant: TenantId, id: CardId) -> Result<Option<Card>> {
        let key = keys::card(tenant, id);
        let Some(value) = self.cards.get(key.as_slice()).map_err(storage)? else { return Ok(None) };
        record::open_card(TableId::Cards, &key, value.value()).map(Some)
    }

    /// The earlier versions of a card, oldest first.
    pub(crate) fn earlier_versions(&self, tenant: TenantId, id: CardId) -> Result<Vec<Card>> {
        let (first, last) = (keys::version(tenant, id, 0), keys::version(tenant, id, u32::MAX));
        self.versions
            .range(first.as_slice()..=last.as_slice())
            .map_err(storage)?
            .map(|entry| {
                let (key, value) = entry.map_err(storage)?;
                record::open_card(TableId::Versions, key.value(), value.value())
            })
            .collect()
    }

    /// One version of a card, current or earlier.
    pub(crate) fn version(&self, tenant: TenantId, id: CardId, version: u32) -> Result<Option<Card>> {
        let key = keys::version(tenant, id, version);
        if let Some(value) = self.versions.get(key.as_slice()).map_err(storage)? {
            return record::open_card(TableId::Versions, &key, value.value()).map(Some);
        }
        Ok(self.card(tenant, id)?.filter(|card| card.version == version))
    }

    /// The vector of a version's content.
    pub(crate) fn vector(&self, tenant: TenantId, card: &Card) -> Result<Option<Vec<f32>>> {
        if card.vector_version == 0 {
            return Ok(None);
        }
        let key = keys::version(tenant, card.id, card.vector_version);
        match self.vectors.get(key.as_slice()).map_err(storage)? {
            Some(value) => record::open_vector(&key, value.value()).map(Some),
            None => {
                Err(Error::corrupt(record::place(TableId::Vectors, &key), "the card's vector is missing"))
            }
        }
    }

    /// The card an exact look-up leads to.
    pub(crate) fn lookup(&self, tenant: TenantId, lookup: &Lookup<'_>) -> Result<Option<CardId>> {
        let key = lookup.key(tenant);
        let Some(value) = self.lookup.get(key.as_slice()).map_err(storage)? else { return Ok(None) };
        open_lookup(&key, value.value()).map(Some)
    }

    /// The tenant's cards after (before, when `backward`) a card, current versions only.
    pub(crate) fn cards<'a>(
        &'a self,
        tenant: TenantId,
        after: Option<CardId>,
        backward: bool,
    ) -> Result<Box<dyn Iterator<Item = Result<Card>> + 'a>> {
        let (low, high) = (
            keys::card(tenant, CardId::from_bytes([0; 16])),
            keys::card(tenant, CardId::from_bytes([255; 16])),
        );
        let edge = after.map(|id| keys::card(tenant, id));
        let (from, to) = match (&edge, backward) {
            (None, _) => (Bound::Included(low.as_slice()), Bound::Included(high.as_slice())),
            (Some(edge), false) => (Bound::Excluded(edge.as_slice()), Bound::Included(high.as_slice())),
            (Some(edge), true) => (Bound::Included(low.as_slice()), Bound::Excluded(edge.as_slice())),
        };
        let range = self.cards.range::<&[u8]>((from, to)).map_err(storage)?;
        let read = |entry: Result<_, redb::StorageError>| {
            let (key, value): (AccessGuard<'_, &'static [u8]>, AccessGuard<'_, &'static [u8]>) =
                entry.map_err(storage)?;
            record::open_card(TableId::Cards, key.value(), value.value())
        };
        Ok(if backward { Box::new(range.rev().map(read)) } else { Box::new(range.map(read)) })
    }

    /// The tenant's changes with a sequence above `after`, oldest first.
    pub(crate) fn changes<'a>(
        &'a self,
        tenant: TenantId,
        after: u64,
    ) -> Result<impl Iterator<Item = Result<(u64, Change)>> + 'a> {
        let (first, last) = (keys::change(tenant, after), keys::change(tenant, u64::MAX));
        let range = self
            .changes
            .range::<&[u8]>((Bound::Excluded(first.as_slice()), Bound::Included(last.as_slice())))
            .map_err(storage)?;
        Ok(range.map(|entry| {
            let (key, value) = entry.map_err(storage)?;
            let sequence = keys::sequence_of_key(key.value()).ok_or_else(|| {
                Error::corrupt(record::place(TableId::Changes, key.value()), "not a change key")
            })?;
            Ok((sequence, record::open_change(key.value(), value.value())?))
        }))
    }

    /// The tenant's last change: its sequence, and the checksum that identifies it.
    pub(crate) fn last_change(&self, tenant: TenantId) -> Result<(u64, u64)> {
        let (first, last) = (keys::change(tenant, 0), keys::change(tenant, u64::MAX));
        let mut range = self.changes.range(first.as_slice()..=last.as_slice()).map_err(storage)?;
        let Some(entry) = range.next_back() else { return Ok((0, 0)) };
        let (key, value) = entry.map_err(storage)?;
        Ok((keys::sequence_of_key(key.value()).unwrap_or(0), record::stored_checksum(value.value())))
    }

    /// The checksum that identifies one change; `None` when there is no such change.
    pub(crate) fn change_checksum(&self, tenant: TenantId, sequence: u64) -> Result<Option<u64>> {
        let key = keys::change(tenant, sequence);
        let value = self.changes.get(key.as_slice()).map_err(storage)?;
        Ok(value.map(|value| record::stored_checksum(value.value())))
    }

    /// Every entry of a table whose key starts with `prefix`.
    pub(crate) fn entries<'a>(
        &'a self,
        table: TableId,
        tenant: Option<TenantId>,
    ) -> Result<impl Iterator<Item = Entry<'a>> + 'a> {
        let start = tenant.map_or(Vec::new(), |tenant| tenant.prefix().to_vec());
        let end = tenant.and_then(TenantId::end).map(|end| end.to_vec());
        let bounds =
            (Bound::Included(start.as_slice()), end.as_deref().map_or(Bound::Unbounded, Bound::Excluded));
        let range = self.table(table).range::<&[u8]>(bounds).map_err(storage)?;
        Ok(range.map(|entry| entry.map_err(storage)))
    }
}
