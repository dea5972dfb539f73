//! From a stub to the records of a cold card.

use crate::card::{Card, CardId};
use crate::store::cold::Stub;
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record;
use crate::store::tables::{ReadBytes, Stored, Tables};
use crate::{Error, Result};

impl<T: ReadBytes> Tables<T> {
    /// What stands in the place of a cold card; `None` for any other card.
    pub(crate) fn stub(&self, tenant: TenantId, id: CardId) -> Result<Option<Stub>> {
        let key = keys::card(tenant, id);
        match self.get(&key)? {
            Some(value) => Stub::open(&key, value.value()),
            None => Ok(None),
        }
    }

    /// The tenant's cards after a card, current versions, as far as age and counting need them: of
    /// cold ones there are no words, names and links.
    pub(crate) fn outlines<'a>(
        &'a self,
        tenant: TenantId,
        after: Option<CardId>,
    ) -> Result<impl Iterator<Item = Result<Card>> + 'a> {
        let after = after.unwrap_or(CardId::from_bytes([0; 16]));
        let (low, high) = (keys::card(tenant, after), keys::card(tenant, CardId::from_bytes([255; 16])));
        let range = self.range(&low, std::ops::Bound::Included(high.as_slice()))?;
        Ok(range.filter_map(move |entry| {
            let read = || {
                let (key, value) = entry?;
                let (key, value) = (key.value(), value.value());
                match key == low.as_slice() {
                    true => Ok(None),
                    false => Self::outline_of(key, value).map(Some),
                }
            };
            read().transpose()
        }))
    }

    /// The same of one card.
    pub(crate) fn outline(&self, tenant: TenantId, id: CardId) -> Result<Option<Card>> {
        let key = keys::card(tenant, id);
        match self.get(&key)? {
            Some(value) => Self::outline_of(&key, value.value()).map(Some),
            None => Ok(None),
        }
    }

    fn outline_of(key: &[u8], value: &[u8]) -> Result<Card> {
        match Stub::open(key, value)? {
            None => record::open_card(TableId::Cards, key, value),
            Some(stub) => {
                let id = keys::card_of_key(key);
                let id = id.ok_or_else(|| {
                    Error::corrupt(record::place(TableId::Cards, key), "not the key of a card")
                })?;
                Ok(stub.outline(id))
            }
        }
    }

    /// The sealed records of a cold card, oldest version first; never empty.
    pub(in crate::store) fn cold_records(
        &self,
        tenant: TenantId,
        id: CardId,
        stub: &Stub,
    ) -> Result<Vec<Vec<u8>>> {
        let cold = self.cold();
        let cold = cold.ok_or_else(|| Error::Internal("the cold tier is not open".into()))?;
        let records = cold.records(tenant, id, stub)?;
        match records.is_empty() {
            false => Ok(records),
            true => {
                Err(Error::corrupt(record::place(TableId::Cards, &keys::card(tenant, id)), "no versions"))
            }
        }
    }

    /// Reads one of a cold card's records.
    fn open_cold_version(
        tenant: TenantId,
        id: CardId,
        records: &[Vec<u8>],
        at: usize,
    ) -> Result<Option<Stored>> {
        let Some(bytes) = records.get(at) else { return Ok(None) };
        match at + 1 == records.len() {
            true => record::open_card_and_vector(TableId::Cards, &keys::card(tenant, id), bytes),
            false => {
                let key = keys::version(tenant, id, at as u32 + 1);
                record::open_card_and_vector(TableId::Versions, &key, bytes)
            }
        }
        .map(Some)
    }

    /// Reads all of a cold card's records, oldest version first.
    pub(in crate::store) fn open_cold(
        &self,
        tenant: TenantId,
        id: CardId,
        records: &[Vec<u8>],
    ) -> Result<Vec<Stored>> {
        let versions = (0..records.len()).map(|at| Self::open_cold_version(tenant, id, records, at));
        versions.filter_map(Result::transpose).collect()
    }

    /// One version of a cold card.
    pub(in crate::store) fn cold_version(
        &self,
        tenant: TenantId,
        id: CardId,
        stub: &Stub,
        version: u32,
    ) -> Result<Option<Stored>> {
        let Some(at) = version.checked_sub(1) else { return Ok(None) };
        if version > stub.version {
            return Ok(None);
        }
        Self::open_cold_version(tenant, id, &self.cold_records(tenant, id, stub)?, at as usize)
    }

    /// A value of `cards` as it stands there, or what its stub leads to.
    pub(in crate::store) fn present(
        &self,
        tenant: TenantId,
        id: CardId,
        key: &[u8],
        value: &[u8],
    ) -> Result<Stored> {
        let Some(stub) = Stub::open(key, value)? else {
            return record::open_card_and_vector(TableId::Cards, key, value);
        };
        let found = self.cold_version(tenant, id, &stub, stub.version)?;
        found.ok_or_else(|| Error::corrupt(record::place(TableId::Cards, key), "no current version"))
    }
}
