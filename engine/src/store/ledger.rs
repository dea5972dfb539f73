//! What forgetting keeps beside the cards: settings of tenants, due instants, plans, runs
//! and tombstones.
//!
//! Documents are JSON inside sealed records; the items of plans and runs are in `packs`. This
//! module knows where they stand, not what they mean.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::card::CardId;
use crate::store::batch::Batch;
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables, WriteTable};
use crate::time::Timestamp;
use crate::{Error, Result};

fn encode<D: Serialize>(table: TableId, document: &D) -> Result<Vec<u8>> {
    serde_json::to_vec(document).map_err(|e| Error::Internal(format!("encoding for {}: {e}", table.name())))
}

fn decode<D: DeserializeOwned>(table: TableId, key: &[u8], value: &[u8]) -> Result<D> {
    let json = record::open_bytes(table, key, value)?;
    serde_json::from_slice(json).map_err(|e| Error::corrupt(record::place(table, key), e.to_string()))
}

/// A numbered document, or one of its items.
pub(super) type Numbered<N, D> = Result<(N, D)>;

impl<T: ReadBytes> Tables<T> {
    fn json<D: DeserializeOwned>(&self, table: TableId, key: &[u8]) -> Result<Option<D>> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        decode(table, key, value.value()).map(Some)
    }

    /// A setting of a tenant.
    pub(crate) fn setting<D: DeserializeOwned>(&self, tenant: TenantId, name: &str) -> Result<Option<D>> {
        self.json(TableId::Settings, &keys::setting(tenant, name))
    }

    /// The tenant's cards that are due by an instant, the longest due first.
    pub(crate) fn due(
        &self,
        tenant: TenantId,
        until: Timestamp,
    ) -> Result<impl Iterator<Item = Result<(Timestamp, CardId)>> + '_> {
        let (first, _) = keys::range_of(TableId::Due, tenant);
        let last = keys::due(tenant, until, CardId::from_bytes([255; 16]));
        let range = self.range(&first, std::ops::Bound::Included(last.as_slice()))?;
        Ok(range.map(|entry| {
            let (key, value) = entry?;
            let (key, value) = (key.value(), value.value());
            record::open_bytes(TableId::Due, key, value)?;
            keys::due_of_key(key)
                .ok_or_else(|| Error::corrupt(record::place(TableId::Due, key), "not a key of due"))
        }))
    }

    /// A plan, a run or a segment by its number.
    pub(crate) fn document<D: DeserializeOwned>(
        &self,
        table: TableId,
        tenant: TenantId,
        number: u64,
    ) -> Result<Option<D>> {
        self.json(table, &keys::numbered(table, tenant, number))
    }

    /// All documents of a kind, in order of their numbers.
    pub(crate) fn documents<D: DeserializeOwned>(
        &self,
        table: TableId,
        tenant: TenantId,
    ) -> Result<impl Iterator<Item = Numbered<u64, D>> + '_> {
        let (first, end) = keys::range_of(table, tenant);
        let range = self.range(&first, std::ops::Bound::Excluded(end.as_slice()))?;
        Ok(range.map(move |entry| {
            let (key, value) = entry?;
            let number = keys::number_of_key(key.value())
                .ok_or_else(|| Error::corrupt(record::place(table, key.value()), "the key has no number"))?;
            Ok((number, decode(table, key.value(), value.value())?))
        }))
    }

    /// What is noted of something erased.
    pub(crate) fn tombstone(&self, tenant: TenantId, kind: u8, hash: u128) -> Result<Option<Vec<u8>>> {
        let key = keys::tombstone(tenant, kind, hash);
        let Some(value) = self.get(&key)? else { return Ok(None) };
        Ok(Some(record::open_bytes(TableId::Tombstones, &key, value.value())?.to_vec()))
    }

    /// Every tombstone of a tenant (or of the store): kind, hash and what it says.
    pub(crate) fn tombstones(
        &self,
        tenant: TenantId,
    ) -> Result<impl Iterator<Item = Result<(u8, u128, Vec<u8>)>> + '_> {
        let (first, end) = keys::range_of(TableId::Tombstones, tenant);
        let range = self.range(&first, std::ops::Bound::Excluded(end.as_slice()))?;
        Ok(range.map(|entry| {
            let (key, value) = entry?;
            let (key, value) = (key.value(), value.value());
            let (kind, hash) = keys::tombstone_of_key(key).ok_or_else(|| {
                Error::corrupt(record::place(TableId::Tombstones, key), "the key is not that of a tombstone")
            })?;
            Ok((kind, hash, record::open_bytes(TableId::Tombstones, key, value)?.to_vec()))
        }))
    }
}

impl Tables<WriteTable<'_>> {
    fn put_json<D: Serialize>(&mut self, table: TableId, key: &[u8], document: &D) -> Result<()> {
        let bytes = encode(table, document)?;
        self.put(key, &record::seal_bytes(table, key, &bytes))
    }
}

impl Batch<'_> {
    /// Writes a setting of a tenant.
    pub(crate) fn put_setting<D: Serialize>(
        &mut self,
        tenant: TenantId,
        name: &str,
        value: &D,
    ) -> Result<()> {
        self.tables_mut().put_json(TableId::Settings, &keys::setting(tenant, name), value)
    }

    /// Removes a setting of a tenant; false when there was none.
    pub(crate) fn remove_setting(&mut self, tenant: TenantId, name: &str) -> Result<bool> {
        self.tables_mut().remove(&keys::setting(tenant, name))
    }

    /// Notes that a card is due at an instant.
    pub(crate) fn put_due(&mut self, tenant: TenantId, at: Timestamp, card: CardId) -> Result<()> {
        let key = keys::due(tenant, at, card);
        self.tables_mut().put(&key, &record::seal_bytes(TableId::Due, &key, &[]))
    }

    /// Removes a note of [`Batch::put_due`].
    pub(crate) fn remove_due(&mut self, tenant: TenantId, at: Timestamp, card: CardId) -> Result<bool> {
        self.tables_mut().remove(&keys::due(tenant, at, card))
    }

    /// Removes every note of [`Batch::put_due`] of a tenant; gives how many there were.
    pub(crate) fn clear_due(&mut self, tenant: TenantId) -> Result<u64> {
        let (first, end) = keys::range_of(TableId::Due, tenant);
        self.tables_mut().remove_range(&first, &end)
    }

    /// Writes a plan, a run or a segment under its number.
    pub(crate) fn put_document<D: Serialize>(
        &mut self,
        table: TableId,
        tenant: TenantId,
        number: u64,
        document: &D,
    ) -> Result<()> {
        self.tables_mut().put_json(table, &keys::numbered(table, tenant, number), document)
    }

    /// Removes a document; false when there was none.
    pub(crate) fn remove_document(&mut self, table: TableId, tenant: TenantId, number: u64) -> Result<bool> {
        self.tables_mut().remove(&keys::numbered(table, tenant, number))
    }

    /// Removes all items of a document in a tenant.
    pub(crate) fn remove_items(&mut self, table: TableId, tenant: TenantId, number: u64) -> Result<u64> {
        let first = keys::item(table, tenant, number, 0);
        let end = [keys::item(table, tenant, number, u32::MAX).as_slice(), &[0]].concat();
        self.tables_mut().remove_range(&first, &end)
    }

    /// Notes what was erased, by hashes.
    pub(crate) fn put_tombstone(
        &mut self,
        tenant: TenantId,
        kind: u8,
        hash: u128,
        bytes: &[u8],
    ) -> Result<()> {
        let key = keys::tombstone(tenant, kind, hash);
        self.tombstones_changed(tenant);
        self.tables_mut().put(&key, &record::seal_bytes(TableId::Tombstones, &key, bytes))
    }

    /// Lifts a tombstone; false when there was none.
    pub(crate) fn remove_tombstone(&mut self, tenant: TenantId, kind: u8, hash: u128) -> Result<bool> {
        self.tombstones_changed(tenant);
        self.tables_mut().remove(&keys::tombstone(tenant, kind, hash))
    }

    /// Removes everything that stands under a tenant's number, and its name; gives how many
    /// records that were.
    pub(crate) fn remove_tenant(&mut self, tenant: TenantId, name: &str) -> Result<u64> {
        let (first, end) = (tenant.bytes().to_vec(), TenantId(tenant.0 + 1).bytes().to_vec());
        let removed = self.tables_mut().remove_range(&first, &end)?;
        self.tables_mut().remove(&keys::tenant(tenant))?;
        self.tables_mut().remove(&keys::tenant_name(name))?;
        self.forget_tenant(tenant, name);
        Ok(removed)
    }
}
