//! What one batch of writes may do inside its transaction.
//!
//! A batch sees the store with its own writes. It keeps record, version history, look-ups
//! and change log in step; it does not know the rules that decide what to write.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::card::{Card, CardId};
use crate::store::database::{ModelRecord, read_model};
use crate::store::keys::{self, Lookup, LookupKey, TableId, TenantId};
use crate::store::lookups::{Lookups, Slot};
use crate::store::record::{self, Change, ChangeKind, EncodedCard, LookupChange, OwnVector, VectorParts};
use crate::store::tables::{Tables, TenantRecord, WriteTable};
use crate::time::Timestamp;
use crate::{Error, Result};

/// What an observer wants to have beside a change; the store only hands it on.
pub(crate) type Payload = Arc<dyn Any + Send + Sync>;

/// A committed change, as the indexes receive it.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub(crate) tenant: TenantId,
    pub(crate) sequence: u64,
    pub(crate) checksum: u64,
    pub(crate) kind: ChangeKind,
    pub(crate) card: Arc<Card>,
    /// The vector of the card's content, where it has one.
    pub(crate) vector: Option<Arc<[f32]>>,
    /// What the caller prepared for the indexes.
    pub(crate) payload: Option<Payload>,
}

/// A tenant in a batch.
#[derive(Debug)]
struct Log {
    /// Its last change before the batch.
    committed: u64,
    /// Its last change.
    sequence: u64,
    /// The look-ups as they were before the batch, once they are needed.
    before: Option<Arc<Slot>>,
    /// What the batch has changed of them.
    lookups: HashMap<LookupKey, Option<CardId>>,
    /// The changes of the batch, which are written together at its end.
    changes: Vec<Change>,
}

/// The writing side of one transaction.
pub(crate) struct Batch<'t> {
    tables: Tables<WriteTable<'t>>,
    lookups: &'t Lookups,
    seed: u64,
    logs: RefCell<HashMap<TenantId, Log>>,
    applied: Vec<Applied>,
    /// The cards that it has written.
    changed: HashSet<(TenantId, CardId)>,
    notes: HashMap<(TenantId, u64), Vec<CardId>>,
    new_tenants: HashSet<TenantId>,
    writes: u64,
    /// Looked up once for all the writes of the batch.
    model: OnceCell<ModelRecord>,
    tenant_ids: RefCell<HashMap<String, TenantId>>,
    /// Whether tenants have tombstones.
    tombstones: RefCell<HashMap<TenantId, bool>>,
}

/// What a batch has changed, for those who are told after its commit.
pub(super) struct Changes {
    pub(super) applied: Vec<Applied>,
    logs: HashMap<TenantId, Log>,
}

impl Changes {
    /// Takes the look-ups that were changed over into memory.
    pub(super) fn commit_lookups(self) {
        let last: HashMap<TenantId, (u64, u64)> =
            self.applied.iter().map(|change| (change.tenant, (change.sequence, change.checksum))).collect();
        for (tenant, log) in self.logs {
            if let (Some(slot), Some(last)) = (log.before, last.get(&tenant)) {
                let changes = log.lookups.into_iter().map(|(key, card)| LookupChange { key, card });
                slot.commit(log.committed, *last, changes);
            }
        }
    }
}

impl<'t> Batch<'t> {
    pub(super) fn new(tables: Tables<WriteTable<'t>>, lookups: &'t Lookups, seed: u64) -> Self {
        Self {
            tables,
            lookups,
            seed,
            logs: RefCell::default(),
            applied: Vec::new(),
            changed: HashSet::new(),
            notes: HashMap::new(),
            new_tenants: HashSet::new(),
            writes: 0,
            model: OnceCell::new(),
            tenant_ids: RefCell::default(),
            tombstones: RefCell::default(),
        }
    }

    /// The store as this batch sees it.
    pub(crate) fn tables(&self) -> &Tables<WriteTable<'t>> {
        &self.tables
    }

    /// The same, to write records that are no cards and no changes.
    pub(super) fn tables_mut(&mut self) -> &mut Tables<WriteTable<'t>> {
        self.writes += 1;
        &mut self.tables
    }

    /// Forgets what was looked up of a tenant whose records are removed.
    pub(super) fn forget_tenant(&mut self, tenant: TenantId, name: &str) {
        self.tenant_ids.borrow_mut().remove(name);
        self.logs.borrow_mut().remove(&tenant);
        self.applied.retain(|change| change.tenant != tenant);
        self.new_tenants.remove(&tenant);
    }

    /// How many values this batch has written or removed so far.
    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }

    /// Writes the log and gives what was changed.
    pub(super) fn finish(self) -> Result<Changes> {
        let Self { mut tables, mut applied, logs, .. } = self;
        let mut logs = logs.into_inner();
        let mut checksums: HashMap<TenantId, Vec<u64>> = HashMap::with_capacity(logs.len());
        for (tenant, log) in &mut logs {
            let (records, identities) = record::seal_changes(*tenant, log.committed + 1, &log.changes)?;
            for (key, value) in records {
                tables.put(&key, &value)?;
            }
            checksums.insert(*tenant, identities);
        }
        for change in &mut applied {
            let at = logs.get(&change.tenant).map_or(0, |log| change.sequence - log.committed - 1);
            let identities = checksums.get(&change.tenant);
            change.checksum = identities.and_then(|all| all.get(at as usize)).copied().unwrap_or_default();
        }
        Ok(Changes { applied, logs })
    }

    /// Works on a tenant's log, which is looked up once for the batch.
    fn with_log<R>(&self, tenant: TenantId, work: impl FnOnce(&mut Log) -> R) -> Result<R> {
        let mut logs = self.logs.borrow_mut();
        let log = match logs.entry(tenant) {
            std::collections::hash_map::Entry::Occupied(log) => log.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let (committed, _) = self.tables.last_change(tenant)?;
                place.insert(Log {
                    committed,
                    sequence: committed,
                    before: None,
                    lookups: HashMap::new(),
                    changes: Vec::new(),
                })
            }
        };
        Ok(work(log))
    }

    /// Sequence of the tenant's last change, this batch included.
    pub(crate) fn sequence(&self, tenant: TenantId) -> Result<u64> {
        self.with_log(tenant, |log| log.sequence)
    }

    /// The tenant's last changes, this batch included, newest first; at most `most`. Vectors
    /// that were made anew and cards that went away are left out: nothing was said.
    pub(crate) fn last_changes(&self, tenant: TenantId, most: usize) -> Result<Vec<Change>> {
        let counts = |change: &Change| change.kind.says();
        let (mut end, mut found) = self.with_log(tenant, |log| {
            let mine = log.changes.iter().rev().filter(|change| counts(change)).take(most);
            (log.committed, mine.cloned().collect::<Vec<_>>())
        })?;
        // As a rule the first step is enough; there are more after a re-embedding.
        let mut step = most as u64;
        while end > 0 && found.len() < most {
            let start = end.saturating_sub(step);
            let before = self.tables.changes(tenant, start)?.take((end - start) as usize);
            let before = before.map(|logged| Ok(logged?.change)).collect::<Result<Vec<_>>>()?;
            let wanted = most - found.len();
            found.extend(before.into_iter().rev().filter(|change| counts(change)).take(wanted));
            (end, step) = (start, step.saturating_mul(8));
        }
        Ok(found)
    }

    /// The card an exact look-up leads to.
    pub(crate) fn lookup(&self, tenant: TenantId, lookup: &Lookup<'_>) -> Result<Option<CardId>> {
        self.lookup_key(tenant, &lookup.key())
    }

    /// The card that the look-up of a key leads to.
    pub(crate) fn lookup_key(&self, tenant: TenantId, key: &LookupKey) -> Result<Option<CardId>> {
        self.with_log(tenant, |log| {
            if let Some(card) = log.lookups.get(key) {
                return Ok(*card);
            }
            let before = match &log.before {
                Some(before) => before,
                None => log.before.insert(self.lookups.open(&self.tables, tenant, log.committed)?),
            };
            Ok(before.get(key))
        })?
    }

    /// The seed of the store.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// True when something of a tenant was erased, with tombstones left.
    pub(crate) fn has_tombstones(&self, tenant: TenantId) -> Result<bool> {
        if let Some(known) = self.tombstones.borrow().get(&tenant) {
            return Ok(*known);
        }
        let found = self.tables.tombstones(tenant)?.next().transpose()?.is_some();
        self.tombstones.borrow_mut().insert(tenant, found);
        Ok(found)
    }

    /// Notes that tombstones of a tenant come or go.
    pub(super) fn tombstones_changed(&self, tenant: TenantId) {
        self.tombstones.borrow_mut().remove(&tenant);
    }

    /// The identifier that a card created next in this tenant gets.
    pub(crate) fn next_id(&self, tenant: TenantId, name: &str, now: Timestamp) -> Result<CardId> {
        let sequence = self.sequence(tenant)? + 1;
        Ok(CardId::generate(self.seed, name, now, sequence))
    }

    /// Writes a new card. `encoded`: the card as it is, where that was done already;
    /// `payload` goes to the observer with it.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the identifier is taken, then the batch is given up: an
    /// identifier holds the number of its change, so that this cannot happen to a sound store.
    pub(crate) fn create(
        &mut self,
        tenant: TenantId,
        mut card: Card,
        vector: Option<Vec<f32>>,
        encoded: Option<EncodedCard>,
        payload: Option<Payload>,
    ) -> Result<Arc<Card>> {
        card.vector_version = if vector.is_some() { card.version } else { 0 };
        let parts = vector.as_deref().map(|vector| (self.generation(), vector));
        let encoded = match encoded {
            Some(encoded) => {
                debug_assert_eq!(Some(&encoded), EncodedCard::new(&card, parts).ok().as_ref());
                encoded
            }
            None => EncodedCard::new(&card, parts)?,
        };
        let key = keys::card(tenant, card.id);
        self.writes += 1;
        if !self.tables.put_new(&key, &encoded.seal(TableId::Cards, &key))? {
            return Err(Error::Conflict { message: format!("card {} exists already", card.id) });
        }
        self.log(tenant, ChangeKind::Version, card, vector, payload)
    }

    /// Writes the next version of a card and keeps the present one as history.
    ///
    /// `vector`: `Some` when the content changed (its vector, or none), `None` to keep the
    /// vector of the present version.
    pub(crate) fn revise(
        &mut self,
        tenant: TenantId,
        mut card: Card,
        vector: Option<Option<Vec<f32>>>,
        now: Timestamp,
    ) -> Result<Arc<Card>> {
        let Some((present, own)) = self.tables.stored(tenant, card.id)? else {
            return Err(Error::NotFound { what: format!("card {}", card.id) });
        };
        card.version = present.version.checked_add(1).ok_or_else(|| Error::LimitExceeded {
            what: "versions of a card".into(),
            limit: u64::from(u32::MAX),
        })?;
        // The clock may go back; the order of versions may not.
        card.updated_at = now.max(present.updated_at);
        let vector = match vector {
            Some(vector) => {
                card.vector_version = if vector.is_some() { card.version } else { 0 };
                let parts = vector.as_deref().map(|vector| (self.generation(), vector));
                self.put_card(tenant, &card, parts, now)?;
                self.put_earlier(tenant, &present, own.as_ref().map(OwnVector::parts))?;
                vector
            }
            None => {
                card.vector_version = present.vector_version;
                self.put_card(tenant, &card, None, now)?;
                self.put_earlier(tenant, &present, own.as_ref().map(OwnVector::parts))?;
                self.tables.vector_of(tenant, (present, own))?.1
            }
        };
        self.log(tenant, ChangeKind::Version, card, vector, None)
    }

    /// Rewrites counters and times of the present version without making a new one.
    pub(crate) fn touch(&mut self, tenant: TenantId, card: Card, now: Timestamp) -> Result<Arc<Card>> {
        let own = self.tables.stored(tenant, card.id)?.and_then(|(_, own)| own);
        self.put_card(tenant, &card, own.as_ref().map(OwnVector::parts), now)?;
        let (card, vector) = self.tables.vector_of(tenant, (card, own))?;
        self.log_at(tenant, ChangeKind::Touch, card, vector, now)
    }

    /// Writes the next version of a card as it was in another store.
    pub(crate) fn restore_version(
        &mut self,
        tenant: TenantId,
        card: &Card,
        vector: Option<&[f32]>,
    ) -> Result<()> {
        if let Some((present, own)) = self.tables.stored(tenant, card.id)? {
            self.put_earlier(tenant, &present, own.as_ref().map(OwnVector::parts))?;
        }
        let vector = vector.map(|vector| (self.generation(), vector));
        self.put_card(tenant, card, vector, card.updated_at)
    }

    /// Appends a change as it was in another store; its card must have been restored.
    pub(crate) fn restore_change(&mut self, tenant: TenantId, change: Change) -> Result<()> {
        let (card, version) = (change.card, change.version);
        self.thaw(tenant, card, change.at)?;
        let stored = self
            .tables
            .stored_version(tenant, card, version)?
            .ok_or_else(|| Error::NotFound { what: format!("version {version} of card {card}") })?;
        let (card, vector) = self.tables.vector_of(tenant, stored)?;
        self.log_change(tenant, Change { lookups: vec![], ..change }, Arc::new(card), vector, None)?;
        for lookup in change.lookups {
            self.change_lookup(tenant, lookup)?;
        }
        Ok(())
    }

    /// Removes all versions of a card; gives the current one as it was.
    pub(super) fn remove_card(&mut self, tenant: TenantId, id: CardId) -> Result<Option<Card>> {
        if let Some(card) = self.remove_cold(tenant, id)? {
            return Ok(Some(card));
        }
        let Some((card, removed)) = self.tables.remove_card(tenant, id)? else { return Ok(None) };
        self.writes += removed;
        Ok(Some(card))
    }

    /// The exact look-ups that lead to one of some cards, in order of their keys.
    pub(crate) fn lookups_to(
        &self,
        tenant: TenantId,
        cards: &HashSet<CardId>,
    ) -> Result<Vec<(LookupKey, CardId)>> {
        self.with_log(tenant, |log| {
            let before = match &log.before {
                Some(before) => before,
                None => log.before.insert(self.lookups.open(&self.tables, tenant, log.committed)?),
            };
            let before =
                before.leading_to(cards).into_iter().filter(|(key, _)| !log.lookups.contains_key(key));
            let own = log.lookups.iter().filter_map(|(key, card)| Some((*key, (*card)?)));
            let mut found: Vec<(LookupKey, CardId)> =
                before.chain(own.filter(|(_, card)| cards.contains(card))).collect();
            found.sort_unstable();
            Ok(found)
        })?
    }

    /// Points an exact look-up at a card, as a part of the tenant's last change.
    pub(crate) fn set_lookup(&mut self, tenant: TenantId, lookup: &Lookup<'_>, card: CardId) -> Result<()> {
        let key = lookup.key();
        match self.lookup_key(tenant, &key)? == Some(card) {
            true => Ok(()),
            false => self.change_lookup(tenant, LookupChange { key, card: Some(card) }),
        }
    }

    /// Removes an exact look-up, as a part of the tenant's last change.
    pub(crate) fn clear_lookup(&mut self, tenant: TenantId, lookup: &Lookup<'_>) -> Result<()> {
        self.change_lookup(tenant, LookupChange { key: lookup.key(), card: None })
    }

    /// Points the look-up of a key where it is to lead, as a part of the tenant's last change.
    pub(crate) fn point_key(&mut self, tenant: TenantId, key: LookupKey, card: Option<CardId>) -> Result<()> {
        match self.lookup_key(tenant, &key)? == card {
            true => Ok(()),
            false => self.change_lookup(tenant, LookupChange { key, card }),
        }
    }

    /// Logs that only what leads to a card changes: look-ups that follow belong to it.
    pub(crate) fn log_lookups(&mut self, tenant: TenantId, id: CardId, now: Timestamp) -> Result<()> {
        self.thaw(tenant, id, now)?;
        let Some(stored) = self.tables.stored(tenant, id)? else {
            return Err(Error::NotFound { what: format!("card {id}") });
        };
        let (card, vector) = self.tables.vector_of(tenant, stored)?;
        self.log_at(tenant, ChangeKind::Lookups, card, vector, now).map(drop)
    }

    /// The number of a tenant.
    pub(crate) fn tenant(&self, name: &str) -> Result<Option<TenantId>> {
        if let Some(id) = self.tenant_ids.borrow().get(name) {
            return Ok(Some(*id));
        }
        let id = self.tables.tenant_id(name)?;
        if let Some(id) = id {
            self.tenant_ids.borrow_mut().insert(name.to_owned(), id);
        }
        Ok(id)
    }

    /// The model whose vectors the store holds; `None` before the first vector.
    pub(super) fn model(&self) -> Result<Option<&ModelRecord>> {
        if self.model.get().is_none()
            && let Some(model) = read_model(&self.tables)?
        {
            let _ = self.model.set(model);
        }
        Ok(self.model.get())
    }

    /// Notes the model that this batch has recorded.
    pub(super) fn remember_model(&self, model: ModelRecord) {
        let _ = self.model.set(model);
    }

    /// The number of a tenant, which is created when missing.
    pub(crate) fn ensure_tenant(&mut self, name: &str, now: Timestamp) -> Result<TenantId> {
        if let Some(id) = self.tenant(name)? {
            return Ok(id);
        }
        let next = self.tables.meta_number(META_NEXT_TENANT)?.unwrap_or(1);
        let id = TenantId(u32::try_from(next).map_err(|_| Error::LimitExceeded {
            what: "tenants of a store".into(),
            limit: u64::from(u32::MAX),
        })?);
        self.put_meta_number(META_NEXT_TENANT, next + 1)?;
        self.writes += 1;
        self.tables.put_tenant(id, &TenantRecord { name: name.to_owned(), created_at: now })?;
        self.new_tenants.insert(id);
        Ok(id)
    }

    /// True for a tenant of this batch: all of its cards are noted.
    pub(crate) fn is_new(&self, tenant: TenantId) -> bool {
        self.new_tenants.contains(&tenant)
    }

    /// Writes a setting of the store.
    pub(crate) fn put_meta(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.writes += 1;
        self.tables.put_meta(name, bytes)
    }

    /// Writes a numeric setting of the store.
    pub(crate) fn put_meta_number(&mut self, name: &str, number: u64) -> Result<()> {
        self.put_meta(name, &number.to_le_bytes())
    }

    /// True when this batch has written the card: no index shows it as it is.
    pub(crate) fn is_changed(&self, tenant: TenantId, card: CardId) -> bool {
        self.changed.contains(&(tenant, card))
    }

    /// Notes a hash of a card so that a later write of this batch finds the card, which no
    /// index holds yet.
    pub(crate) fn note(&mut self, tenant: TenantId, hash: u64, card: CardId) {
        self.notes.entry((tenant, hash)).or_default().push(card);
    }

    /// The cards of this batch noted under a hash.
    pub(crate) fn noted(&self, tenant: TenantId, hash: u64) -> &[CardId] {
        self.notes.get(&(tenant, hash)).map_or(&[], Vec::as_slice)
    }

    /// The generation of the vectors that are written; see [`OwnVector::generation`].
    fn generation(&self) -> u16 {
        self.tables.generation()
    }

    pub(super) fn put_card(
        &mut self,
        tenant: TenantId,
        card: &Card,
        vector: Option<VectorParts<'_>>,
        now: Timestamp,
    ) -> Result<()> {
        // Whatever is written of a cold card, it is written where the others are.
        self.thaw(tenant, card.id, now)?;
        let key = keys::card(tenant, card.id);
        self.writes += 1;
        self.tables.put(&key, &record::seal_card(TableId::Cards, &key, card, vector)?)
    }

    pub(super) fn put_earlier(
        &mut self,
        tenant: TenantId,
        card: &Card,
        vector: Option<VectorParts<'_>>,
    ) -> Result<()> {
        let key = keys::version(tenant, card.id, card.version);
        self.writes += 1;
        self.tables.put(&key, &record::seal_card(TableId::Versions, &key, card, vector)?)
    }

    pub(super) fn change_lookup(&mut self, tenant: TenantId, lookup: LookupChange) -> Result<()> {
        self.writes += 1;
        self.with_log(tenant, |log| {
            let Some(change) = log.changes.last_mut() else {
                return Err(Error::Internal("a look-up was changed without a change of its tenant".into()));
            };
            change.lookups.push(lookup);
            log.lookups.insert(lookup.key, lookup.card);
            Ok(())
        })?
    }

    /// Logs a change that was made when the card was updated last.
    pub(super) fn log(
        &mut self,
        tenant: TenantId,
        kind: ChangeKind,
        card: Card,
        vector: Option<Vec<f32>>,
        payload: Option<Payload>,
    ) -> Result<Arc<Card>> {
        let at = card.updated_at;
        self.log_as(tenant, (kind, at), card, vector, payload)
    }

    /// Logs a change that brings no version, and is made at an instant of its own.
    pub(super) fn log_at(
        &mut self,
        tenant: TenantId,
        kind: ChangeKind,
        card: Card,
        vector: Option<Vec<f32>>,
        now: Timestamp,
    ) -> Result<Arc<Card>> {
        self.log_as(tenant, (kind, now), card, vector, None)
    }

    fn log_as(
        &mut self,
        tenant: TenantId,
        (kind, at): (ChangeKind, Timestamp),
        card: Card,
        vector: Option<Vec<f32>>,
        payload: Option<Payload>,
    ) -> Result<Arc<Card>> {
        let (track, version) = (card.track, card.version);
        let change = Change { kind, track, card: card.id, version, at, lookups: Vec::new() };
        let card = Arc::new(card);
        self.log_change(tenant, change, card.clone(), vector, payload)?;
        Ok(card)
    }

    fn log_change(
        &mut self,
        tenant: TenantId,
        change: Change,
        card: Arc<Card>,
        vector: Option<Vec<f32>>,
        payload: Option<Payload>,
    ) -> Result<()> {
        self.writes += 1;
        self.changed.insert((tenant, change.card));
        let kind = change.kind;
        let sequence = self.with_log(tenant, |log| {
            log.sequence += 1;
            log.changes.push(change);
            log.sequence
        })?;
        let vector = vector.map(Arc::from);
        self.applied.push(Applied { tenant, sequence, checksum: 0, kind, card, vector, payload });
        Ok(())
    }
}

/// Number of the next new tenant.
pub(crate) const META_NEXT_TENANT: &str = "next_tenant";
