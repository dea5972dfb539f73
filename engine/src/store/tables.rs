//! Typed access to the tables of one transaction, reading or writing.
//!
//! Knows records and keys, nothing of batches, callers or indexes.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::Arc;

use redb::{AccessGuard, ReadTransaction, ReadableTable, Table, WriteTransaction};
use serde::{Deserialize, Serialize};

use crate::card::{Card, CardId, State};
use crate::store::cold::{ColdReader, Stub};
use crate::store::damage::{Damage, Tolerant};
use crate::store::entries::{self, Entries, Entry};
use crate::store::file::OpenFile;
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record::{self, LoggedChange, OwnVector, Schema};
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

/// What is known of a tenant itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TenantRecord {
    /// The tenant's name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Versions that a log names and the store does not hold, while the log is read in its order.
///
/// That is no damage where the card went away later in the log; it may have come back since, with
/// fewer versions.
#[derive(Debug, Default)]
pub(crate) struct Missing(HashMap<CardId, (u64, u32)>);

impl Missing {
    /// Notes that the version which a change names is not there.
    pub(crate) fn note(&mut self, logged: &LoggedChange) {
        let change = &logged.change;
        self.0.entry(change.card).or_insert((logged.sequence, change.version));
    }

    /// The card has gone away: none of its versions up to here need be there.
    pub(crate) fn went_away(&mut self, card: CardId) {
        self.0.remove(&card);
    }

    /// By card, the first change whose version is missing: sequence, card and version.
    pub(crate) fn found(&self) -> Vec<(u64, CardId, u32)> {
        let mut found: Vec<_> =
            self.0.iter().map(|(card, (sequence, version))| (*sequence, *card, *version)).collect();
        found.sort_unstable();
        found
    }

    /// Refuses to go on when something is missing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] naming the first version.
    pub(crate) fn check(&self) -> Result<()> {
        match self.found().first() {
            None => Ok(()),
            Some((_, card, version)) => {
                Err(Error::corrupt("table changes", format!("version {version} of card {card} is missing")))
            }
        }
    }
}

/// Every logical table of one transaction, in the one table of redb.
#[derive(Debug)]
pub(crate) struct Tables<T> {
    table: T,
    /// Of the file that the table stands in.
    damage: Arc<Damage>,
    /// Of the vectors that are given out; see [`OwnVector::generation`].
    generation: u16,
    /// Where the records of cold cards are; none while a store is being opened or copied.
    cold: Option<ColdReader>,
    /// The file of a read, which another one may replace meanwhile: redb closes it to all reads
    /// when the last handle is dropped.
    _file: Option<Arc<OpenFile>>,
}

impl Tables<ReadTable> {
    /// Opens the table of a read transaction; it stays readable after that is dropped.
    pub(crate) fn read(transaction: &ReadTransaction, damage: &Arc<Damage>) -> Result<Self> {
        let table = {
            let _tolerant = Tolerant::here();
            transaction.open_table(keys::TABLE).map_err(storage)?
        };
        Ok(Self { table, damage: damage.clone(), generation: 0, cold: None, _file: None })
    }
}

impl<'t> Tables<WriteTable<'t>> {
    /// Opens (and creates) the table of a write transaction.
    pub(crate) fn write(transaction: &'t WriteTransaction, damage: &Arc<Damage>) -> Result<Self> {
        let table = transaction.open_table(keys::TABLE).map_err(storage)?;
        Ok(Self { table, damage: damage.clone(), generation: 0, cold: None, _file: None })
    }

    /// Writes a sealed value.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.table.insert(key, value).map_err(storage)?;
        Ok(())
    }

    /// Writes a sealed value; false when there was one under the key.
    pub(crate) fn put_new(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        Ok(self.table.insert(key, value).map_err(storage)?.is_none())
    }

    /// Removes a value; false when there was none.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.table.remove(key).map_err(storage)?.is_some())
    }

    /// Removes all values from one key on and before another; gives how many there were.
    pub(crate) fn remove_range(&mut self, first: &[u8], end: &[u8]) -> Result<u64> {
        let mut removed = 0;
        for entry in self.table.extract_from_if(first..end, |_, _| true).map_err(storage)? {
            entry.map_err(storage)?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Removes all versions of a card; gives the current one as it was, and how many there were.
    pub(crate) fn remove_card(&mut self, tenant: TenantId, id: CardId) -> Result<Option<(Card, u64)>> {
        let Some(card) = self.card(tenant, id)? else { return Ok(None) };
        let earlier =
            self.remove_range(&keys::version(tenant, id, 0), &keys::version(tenant, id, u32::MAX))?;
        self.remove(&keys::card(tenant, id))?;
        Ok(Some((card, earlier + 1)))
    }

    /// Writes a setting.
    pub(crate) fn put_meta(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let key = keys::meta(name);
        self.put(&key, &record::seal_bytes(TableId::Meta, &key, bytes))
    }

    /// Registers a tenant under a number.
    pub(crate) fn put_tenant(&mut self, id: TenantId, tenant: &TenantRecord) -> Result<()> {
        let json =
            serde_json::to_vec(tenant).map_err(|e| Error::Internal(format!("encoding a tenant: {e}")))?;
        let key = keys::tenant(id);
        self.put(&key, &record::seal(TableId::Tenants, &key, Schema::TenantJson, &json))?;
        let name = keys::tenant_name(&tenant.name);
        self.put(&name, &record::seal_bytes(TableId::TenantNames, &name, &id.bytes()))
    }
}

/// The card in a key of `cards`.
fn card_of(key: &[u8]) -> Result<CardId> {
    keys::card_of_key(key)
        .ok_or_else(|| Error::corrupt(record::place(TableId::Cards, key), "not the key of a card"))
}

/// The record of a tenant.
fn open_tenant(key: &[u8], value: &[u8]) -> Result<TenantRecord> {
    let (_, json) = record::open(TableId::Tenants, key, value)?;
    serde_json::from_slice(json)
        .map_err(|e| Error::corrupt(record::place(TableId::Tenants, key), e.to_string()))
}

/// A card and the vector that its version brought.
pub(crate) type Stored = (Card, Option<OwnVector>);

impl<T> Tables<T> {
    /// Gives out the vectors of another generation than the first one.
    pub(crate) fn with_generation(self, generation: u16) -> Self {
        Self { generation, ..self }
    }

    /// Finds cold cards, too. The reader was taken before the snapshot was.
    pub(crate) fn with_cold(self, cold: ColdReader) -> Self {
        Self { cold: Some(cold), ..self }
    }

    /// Keeps the file open that is read.
    pub(crate) fn with_file(self, file: Arc<OpenFile>) -> Self {
        Self { _file: Some(file), ..self }
    }

    /// The generation of the vectors that are given out.
    pub(crate) fn generation(&self) -> u16 {
        self.generation
    }
}

impl<T: ReadBytes> Tables<T> {
    /// The entries from a key on, in order.
    pub(super) fn range(&self, first: &[u8], end: Bound<&[u8]>) -> Result<Entries<'_, T>> {
        self.between(Bound::Included(first), end)
    }

    /// The entries between two keys, in order.
    fn between(&self, first: Bound<&[u8]>, end: Bound<&[u8]>) -> Result<Entries<'_, T>> {
        Entries::new(&self.table, &self.damage, (first, end))
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<AccessGuard<'_, &'static [u8]>>> {
        let found = {
            let _tolerant = Tolerant::here();
            self.table.get(key).map_err(storage)?
        };
        if found.is_none() {
            entries::check_reachable(&self.table, &self.damage, key)?;
        }
        Ok(found)
    }

    /// A setting.
    pub(crate) fn meta(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let key = keys::meta(name);
        let Some(value) = self.get(&key)? else { return Ok(None) };
        Ok(Some(record::open_bytes(TableId::Meta, &key, value.value())?.to_vec()))
    }

    /// A setting that is a number.
    pub(crate) fn meta_number(&self, name: &str) -> Result<Option<u64>> {
        let Some(bytes) = self.meta(name)? else { return Ok(None) };
        let bytes: [u8; 8] = bytes
            .try_into()
            .map_err(|_| Error::corrupt(record::place(TableId::Meta, &keys::meta(name)), "not a number"))?;
        Ok(Some(u64::from_le_bytes(bytes)))
    }

    /// The number of a tenant.
    pub(crate) fn tenant_id(&self, name: &str) -> Result<Option<TenantId>> {
        let key = keys::tenant_name(name);
        let Some(value) = self.get(&key)? else { return Ok(None) };
        let bytes = record::open_bytes(TableId::TenantNames, &key, value.value())?;
        TenantId::of_key(bytes)
            .map(Some)
            .ok_or_else(|| Error::corrupt(record::place(TableId::TenantNames, &key), "not a tenant number"))
    }

    /// Every tenant, in order of its number.
    pub(crate) fn tenants(&self) -> Result<Vec<(TenantId, TenantRecord)>> {
        let (first, last) = (keys::tenant(TenantId(0)), keys::tenant(TenantId(u32::MAX)));
        self.range(&first, Bound::Included(&last))?
            .map(|entry| {
                let (key, value) = entry?;
                let id = keys::tenant_of_key(key.value()).ok_or_else(|| {
                    Error::corrupt(record::place(TableId::Tenants, key.value()), "not a tenant key")
                })?;
                Ok((id, open_tenant(key.value(), value.value())?))
            })
            .collect()
    }

    /// A tenant's record; none when it is not there, or was wiped.
    pub(crate) fn tenant(&self, id: TenantId) -> Result<Option<TenantRecord>> {
        let key = keys::tenant(id);
        self.get(&key)?.map(|value| open_tenant(&key, value.value())).transpose()
    }

    /// The first number after another under which any record stands. Damaged places are told to
    /// `damaged`, and passed over.
    pub(crate) fn tenant_after(
        &self,
        before: TenantId,
        mut damaged: impl FnMut(Error) -> Result<()>,
    ) -> Result<Option<TenantId>> {
        let Some(next) = before.0.checked_add(1) else { return Ok(None) };
        for entry in self.range(&TenantId(next).bytes(), Bound::Unbounded)? {
            match entry {
                Ok((key, _)) => return Ok(TenantId::of_key(key.value())),
                Err(error) => damaged(error)?,
            }
        }
        Ok(None)
    }

    /// The cold tier, where it is open.
    pub(super) fn cold(&self) -> Option<&ColdReader> {
        self.cold.as_ref()
    }

    /// True when the tenant is there, and was not wiped.
    pub(crate) fn has_tenant(&self, tenant: TenantId) -> Result<bool> {
        Ok(self.get(&keys::tenant(tenant))?.is_some())
    }

    /// True when the card is there.
    pub(crate) fn has_card(&self, tenant: TenantId, id: CardId) -> Result<bool> {
        Ok(self.get(&keys::card(tenant, id))?.is_some())
    }

    /// True when no version of the card is expected to be anywhere, though the log names some: it
    /// was purged.
    pub(crate) fn is_gone(&self, tenant: TenantId, id: CardId) -> Result<bool> {
        Ok(!self.has_card(tenant, id)?)
    }

    /// The current version of a card.
    pub(crate) fn card(&self, tenant: TenantId, id: CardId) -> Result<Option<Card>> {
        let key = keys::card(tenant, id);
        let Some(value) = self.get(&key)? else { return Ok(None) };
        self.present_card(tenant, id, &key, value.value()).map(Some)
    }

    /// As [`Tables::present`], without its vector.
    fn present_card(&self, tenant: TenantId, id: CardId, key: &[u8], value: &[u8]) -> Result<Card> {
        match crate::store::cold::is_stub(value) {
            true => self.present(tenant, id, key, value).map(|(card, _)| card),
            false => record::open_card(TableId::Cards, key, value),
        }
    }

    /// The current version of a card, and the vector that it brought.
    pub(crate) fn stored(&self, tenant: TenantId, id: CardId) -> Result<Option<Stored>> {
        let key = keys::card(tenant, id);
        let Some(value) = self.get(&key)? else { return Ok(None) };
        self.present(tenant, id, &key, value.value()).map(Some)
    }

    /// The earlier versions of a card, oldest first.
    pub(crate) fn earlier_versions(&self, tenant: TenantId, id: CardId) -> Result<Vec<Card>> {
        Ok(self.stored_earlier(tenant, id)?.into_iter().map(|(card, _)| card).collect())
    }

    /// The earlier versions of a card, oldest first, with the vectors that they brought.
    pub(crate) fn stored_earlier(&self, tenant: TenantId, id: CardId) -> Result<Vec<Stored>> {
        if let Some(stub) = self.stub(tenant, id)? {
            if stub.version == 1 {
                return Ok(vec![]);
            }
            let records = self.cold_records(tenant, id, &stub)?;
            let mut versions = self.open_cold(tenant, id, &records)?;
            versions.pop();
            return Ok(versions);
        }
        let (first, last) = (keys::version(tenant, id, 0), keys::version(tenant, id, u32::MAX));
        self.range(&first, Bound::Included(&last))?
            .map(|entry| {
                let (key, value) = entry?;
                record::open_card_and_vector(TableId::Versions, key.value(), value.value())
            })
            .collect()
    }

    /// The sealed records of the earlier versions of a card that is not cold, oldest first.
    pub(super) fn sealed_earlier(&self, tenant: TenantId, id: CardId) -> Result<Vec<Vec<u8>>> {
        let (first, last) = (keys::version(tenant, id, 0), keys::version(tenant, id, u32::MAX));
        self.range(&first, Bound::Included(&last))?
            .map(|entry| entry.map(|(_, value)| value.value().to_vec()))
            .collect()
    }

    /// One version of a card, current or earlier, and the vector that it brought.
    pub(crate) fn stored_version(
        &self,
        tenant: TenantId,
        id: CardId,
        version: u32,
    ) -> Result<Option<Stored>> {
        match self.stub(tenant, id)? {
            Some(stub) => self.cold_version(tenant, id, &stub, version),
            None => self.hot_version(tenant, id, version),
        }
    }

    /// The same of a card that is not cold: what partitions hold.
    pub(crate) fn hot_version(&self, tenant: TenantId, id: CardId, version: u32) -> Result<Option<Stored>> {
        let key = keys::card(tenant, id);
        if let Some(value) = self.get(&key)? {
            if crate::store::cold::is_stub(value.value()) {
                return Ok(None);
            }
            let stored = record::open_card_and_vector(TableId::Cards, &key, value.value())?;
            if stored.0.version == version {
                return Ok(Some(stored));
            }
        }
        let key = keys::version(tenant, id, version);
        let Some(value) = self.get(&key)? else { return Ok(None) };
        record::open_card_and_vector(TableId::Versions, &key, value.value()).map(Some)
    }

    /// One version of a card, current or earlier.
    pub(crate) fn version(&self, tenant: TenantId, id: CardId, version: u32) -> Result<Option<Card>> {
        let key = keys::version(tenant, id, version);
        if let Some(value) = self.get(&key)? {
            return record::open_card(TableId::Versions, &key, value.value()).map(Some);
        }
        if let Some(stub) = self.stub(tenant, id)? {
            return Ok(self.cold_version(tenant, id, &stub, version)?.map(|(card, _)| card));
        }
        Ok(self.card(tenant, id)?.filter(|card| card.version == version))
    }

    /// The vector of a version's content, which that version or an earlier one brought; none
    /// where it comes from another model than the store's present one.
    pub(crate) fn vector(&self, tenant: TenantId, card: &Card) -> Result<Option<Vec<f32>>> {
        match card.vector_version {
            0 => Ok(None),
            version => match self.stored_version(tenant, card.id, version)? {
                Some((_, Some(own))) => Ok(own.of(self.generation)),
                _ => Err(Error::corrupt(
                    record::place(TableId::Versions, &keys::version(tenant, card.id, version)),
                    "the card's vector is missing",
                )),
            },
        }
    }

    /// The vector of a version's content, where what that version brought is read already.
    pub(crate) fn vector_of(
        &self,
        tenant: TenantId,
        (card, own): Stored,
    ) -> Result<(Card, Option<Vec<f32>>)> {
        let vector = match own {
            Some(own) if card.vector_version == card.version => own.of(self.generation),
            _ => self.vector(tenant, &card)?,
        };
        Ok((card, vector))
    }

    /// The tenant's cards after a card, current versions only, with the vectors that they brought.
    pub(crate) fn stored_cards<'a>(
        &'a self,
        tenant: TenantId,
        after: Option<CardId>,
    ) -> Result<impl Iterator<Item = Result<Stored>> + 'a> {
        let after = after.unwrap_or(CardId::from_bytes([0; 16]));
        let (low, high) = (keys::card(tenant, after), keys::card(tenant, CardId::from_bytes([255; 16])));
        let entries = self.between(Bound::Excluded(&low), Bound::Included(&high))?;
        Ok(entries.map(move |entry| {
            let (key, value) = entry?;
            self.present(tenant, card_of(key.value())?, key.value(), value.value())
        }))
    }

    /// The tenant's cards, their records unread.
    pub(crate) fn card_ids(&self, tenant: TenantId) -> Result<impl Iterator<Item = Result<CardId>> + '_> {
        let (low, high) = (CardId::from_bytes([0; 16]), CardId::from_bytes([255; 16]));
        let entries = self.range(&keys::card(tenant, low), Bound::Included(&keys::card(tenant, high)))?;
        Ok(entries.map(|entry| card_of(entry?.0.value())))
    }

    /// The tenant's cards after (before, when `backward`) a card, current versions only.
    pub(crate) fn cards<'a>(
        &'a self,
        tenant: TenantId,
        after: Option<CardId>,
        backward: bool,
    ) -> Result<Box<dyn Iterator<Item = Result<Card>> + 'a>> {
        self.cards_in(tenant, after, backward, |_| true)
    }

    /// As [`Tables::cards`]; cold cards in a state that is not wanted are passed over unread.
    pub(crate) fn cards_in<'a>(
        &'a self,
        tenant: TenantId,
        after: Option<CardId>,
        backward: bool,
        wants: impl Fn(State) -> bool + 'a,
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
        let range = self.between(from, to)?;
        let read = move |entry: Entry<'_>| -> Result<Option<Card>> {
            let (key, value) = entry?;
            let (key, value) = (key.value(), value.value());
            if let Some(stub) = Stub::open(key, value)?
                && !wants(stub.state)
            {
                return Ok(None);
            }
            self.present_card(tenant, card_of(key)?, key, value).map(Some)
        };
        let read = move |entry| read(entry).transpose();
        Ok(match backward {
            true => Box::new(range.rev().filter_map(read)),
            false => Box::new(range.filter_map(read)),
        })
    }

    /// The tenant's changes with a sequence above `after`, oldest first.
    pub(crate) fn changes<'a>(
        &'a self,
        tenant: TenantId,
        after: u64,
    ) -> Result<impl Iterator<Item = Result<LoggedChange>> + 'a> {
        let (low, high) = (keys::change(tenant, 0), keys::change(tenant, u64::MAX));
        // A record holds changes from that of its key on.
        let wanted = keys::change(tenant, after.saturating_add(1));
        let first = match after {
            0 => low.to_vec(),
            _ => match self.range(&low, Bound::Included(&wanted))?.next_back() {
                Some(entry) => entry?.0.value().to_vec(),
                None => low.to_vec(),
            },
        };
        let records = self.range(&first, Bound::Included(&high))?.map(|entry| {
            let (key, value) = entry?;
            record::open_changes(key.value(), value.value())
        });
        let changes = records.flat_map(|record| match record {
            Ok(changes) => changes.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        Ok(changes.filter(move |change| change.as_ref().map_or(true, |change| change.sequence > after)))
    }

    /// The tenant's last change: its sequence, and the checksum that identifies it.
    pub(crate) fn last_change(&self, tenant: TenantId) -> Result<(u64, u64)> {
        let (first, last) = (keys::change(tenant, 0), keys::change(tenant, u64::MAX));
        let mut range = self.range(&first, Bound::Included(&last))?;
        let Some(entry) = range.next_back() else { return Ok((0, 0)) };
        let (key, value) = entry?;
        let changes = record::open_changes(key.value(), value.value())?;
        Ok(changes.last().map_or((0, 0), |last| (last.sequence, last.checksum)))
    }

    /// The checksum that identifies one change; `None` when there is no such change.
    pub(crate) fn change_checksum(&self, tenant: TenantId, sequence: u64) -> Result<Option<u64>> {
        let Some(before) = sequence.checked_sub(1) else { return Ok(None) };
        let found = self.changes(tenant, before)?.next().transpose()?;
        Ok(found.filter(|change| change.sequence == sequence).map(|change| change.checksum))
    }

    /// Every entry of the store, in order of its key.
    pub(crate) fn entries(&self) -> Result<Entries<'_, T>> {
        self.between(Bound::Unbounded, Bound::Unbounded)
    }
}
