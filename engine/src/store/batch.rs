//! What one batch of writes may do inside its transaction.
//!
//! A batch sees the store with its own writes. It keeps record, version history, look-ups
//! and change log in step; it does not know the rules that decide what to write.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::card::{Card, CardId};
use crate::index::partition::Prepared;
use crate::store::database::{ModelRecord, read_model};
use crate::store::keys::{self, Lookup, TableId, TenantId};
use crate::store::record::{self, Change, ChangeKind};
use crate::store::tables::{Tables, TenantRecord, WriteTable};
use crate::time::Timestamp;
use crate::{Error, Result};

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
    /// What the indexes need of the card's text, where it was read before the commit.
    pub(crate) prepared: Option<Arc<Prepared>>,
}

/// The writing side of one transaction.
pub(crate) struct Batch<'t> {
    tables: Tables<WriteTable<'t>>,
    seed: u64,
    sequences: HashMap<TenantId, u64>,
    applied: Vec<Applied>,
    notes: HashMap<(TenantId, u64), Vec<CardId>>,
    new_tenants: HashSet<TenantId>,
    writes: u64,
    /// Looked up once for all the writes of the batch.
    model: OnceCell<ModelRecord>,
    tenant_ids: RefCell<HashMap<String, TenantId>>,
}

impl<'t> Batch<'t> {
    pub(super) fn new(tables: Tables<WriteTable<'t>>, seed: u64) -> Self {
        Self {
            tables,
            seed,
            sequences: HashMap::new(),
            applied: Vec::new(),
            notes: HashMap::new(),
            new_tenants: HashSet::new(),
            writes: 0,
            model: OnceCell::new(),
            tenant_ids: RefCell::default(),
        }
    }

    /// The store as this batch sees it.
    pub(crate) fn tables(&self) -> &Tables<WriteTable<'t>> {
        &self.tables
    }

    /// How many values this batch has written or removed so far.
    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }

    pub(super) fn into_applied(self) -> Vec<Applied> {
        self.applied
    }

    /// Sequence of the tenant's last change, this batch included.
    pub(crate) fn sequence(&mut self, tenant: TenantId) -> Result<u64> {
        if let Some(sequence) = self.sequences.get(&tenant) {
            return Ok(*sequence);
        }
        let (sequence, _) = self.tables.last_change(tenant)?;
        self.sequences.insert(tenant, sequence);
        Ok(sequence)
    }

    /// The identifier that a card created next in this tenant gets.
    pub(crate) fn next_id(&mut self, tenant: TenantId, name: &str, now: Timestamp) -> Result<CardId> {
        let sequence = self.sequence(tenant)? + 1;
        Ok(CardId::generate(self.seed, name, now, sequence))
    }

    /// Writes a new card. `prepared`: what the indexes need of its text, where a caller has
    /// read it already.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the identifier is taken.
    pub(crate) fn create(
        &mut self,
        tenant: TenantId,
        mut card: Card,
        vector: Option<Vec<f32>>,
        prepared: Option<Arc<Prepared>>,
    ) -> Result<Arc<Card>> {
        let key = keys::card(tenant, card.id);
        if self.tables.card(tenant, card.id)?.is_some() {
            return Err(Error::Conflict { message: format!("card {} exists already", card.id) });
        }
        card.vector_version = 0;
        let vector = self.put_vector(tenant, &mut card, vector)?;
        self.put_record(TableId::Cards, &key, &card)?;
        self.log(tenant, ChangeKind::Version, card, vector, prepared)
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
        let key = keys::card(tenant, card.id);
        let Some(present) = self.tables.card(tenant, card.id)? else {
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
                card.vector_version = 0;
                self.put_vector(tenant, &mut card, vector)?
            }
            None => {
                card.vector_version = present.vector_version;
                self.tables.vector(tenant, &present)?.map(Arc::from)
            }
        };
        self.put_record(TableId::Versions, &keys::version(tenant, present.id, present.version), &present)?;
        self.put_record(TableId::Cards, &key, &card)?;
        self.log(tenant, ChangeKind::Version, card, vector, None)
    }

    /// Rewrites counters and times of the present version without making a new one.
    pub(crate) fn touch(&mut self, tenant: TenantId, card: Card) -> Result<Arc<Card>> {
        self.put_record(TableId::Cards, &keys::card(tenant, card.id), &card)?;
        let vector = self.tables.vector(tenant, &card)?.map(Arc::from);
        self.log(tenant, ChangeKind::Touch, card, vector, None)
    }

    /// Writes the next version of a card as it was in another store.
    pub(crate) fn restore_version(
        &mut self,
        tenant: TenantId,
        card: Card,
        vector: Option<Vec<f32>>,
    ) -> Result<()> {
        if let Some(vector) = vector {
            let key = keys::version(tenant, card.id, card.vector_version);
            self.put(TableId::Vectors, &key, &record::seal_vector(&key, &vector))?;
        }
        if let Some(present) = self.tables.card(tenant, card.id)? {
            self.put_record(
                TableId::Versions,
                &keys::version(tenant, present.id, present.version),
                &present,
            )?;
        }
        self.put_record(TableId::Cards, &keys::card(tenant, card.id), &card)
    }

    /// Points a look-up, known by kind and hash only, at a card, if the card is there.
    pub(crate) fn restore_lookup(
        &mut self,
        tenant: TenantId,
        kind_and_hash: [u8; 17],
        card: CardId,
    ) -> Result<()> {
        if self.tables.card(tenant, card)?.is_none() {
            return Ok(());
        }
        let key = [tenant.prefix().as_slice(), &kind_and_hash].concat();
        self.put(TableId::Lookup, &key, &record::seal_bytes(TableId::Lookup, &key, &card.to_bytes()))
    }

    /// Appends a change as it was in another store; its card must have been restored.
    pub(crate) fn restore_change(
        &mut self,
        tenant: TenantId,
        kind: ChangeKind,
        card: CardId,
        version: u32,
        at: Timestamp,
    ) -> Result<()> {
        let card = self
            .tables
            .version(tenant, card, version)?
            .ok_or_else(|| Error::NotFound { what: format!("version {version} of card {card}") })?;
        let vector = self.tables.vector(tenant, &card)?.map(Arc::from);
        self.log_at(tenant, kind, card, (vector, None), at)?;
        Ok(())
    }

    /// Points an exact look-up at a card.
    pub(crate) fn set_lookup(&mut self, tenant: TenantId, lookup: &Lookup<'_>, card: CardId) -> Result<()> {
        let key = lookup.key(tenant);
        self.put(TableId::Lookup, &key, &record::seal_bytes(TableId::Lookup, &key, &card.to_bytes()))
    }

    /// Removes an exact look-up.
    pub(crate) fn clear_lookup(&mut self, tenant: TenantId, lookup: &Lookup<'_>) -> Result<()> {
        self.writes += 1;
        self.tables.remove(TableId::Lookup, &lookup.key(tenant))
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

    /// Notes a hash of a card so that a later write of this batch finds the card, which no
    /// index holds yet.
    pub(crate) fn note(&mut self, tenant: TenantId, hash: u64, card: CardId) {
        self.notes.entry((tenant, hash)).or_default().push(card);
    }

    /// The cards of this batch noted under a hash.
    pub(crate) fn noted(&self, tenant: TenantId, hash: u64) -> &[CardId] {
        self.notes.get(&(tenant, hash)).map_or(&[], Vec::as_slice)
    }

    fn put(&mut self, table: TableId, key: &[u8], value: &[u8]) -> Result<()> {
        self.writes += 1;
        self.tables.put(table, key, value)
    }

    fn put_record(&mut self, table: TableId, key: &[u8], card: &Card) -> Result<()> {
        let value = record::seal_card(table, key, card)?;
        self.put(table, key, &value)
    }

    fn put_vector(
        &mut self,
        tenant: TenantId,
        card: &mut Card,
        vector: Option<Vec<f32>>,
    ) -> Result<Option<Arc<[f32]>>> {
        let Some(vector) = vector else { return Ok(None) };
        card.vector_version = card.version;
        let key = keys::version(tenant, card.id, card.version);
        self.put(TableId::Vectors, &key, &record::seal_vector(&key, &vector))?;
        Ok(Some(vector.into()))
    }

    fn log(
        &mut self,
        tenant: TenantId,
        kind: ChangeKind,
        card: Card,
        vector: Option<Arc<[f32]>>,
        prepared: Option<Arc<Prepared>>,
    ) -> Result<Arc<Card>> {
        let at = card.updated_at;
        self.log_at(tenant, kind, card, (vector, prepared), at)
    }

    fn log_at(
        &mut self,
        tenant: TenantId,
        kind: ChangeKind,
        card: Card,
        (vector, prepared): (Option<Arc<[f32]>>, Option<Arc<Prepared>>),
        at: Timestamp,
    ) -> Result<Arc<Card>> {
        let sequence = self.sequence(tenant)? + 1;
        let key = keys::change(tenant, sequence);
        let change = Change { kind, track: card.track, card: card.id, version: card.version, at };
        let value = record::seal_change(&key, &change);
        self.put(TableId::Changes, &key, &value)?;
        self.sequences.insert(tenant, sequence);
        let card = Arc::new(card);
        let checksum = record::stored_checksum(&value);
        self.applied.push(Applied { tenant, sequence, checksum, kind, card: card.clone(), vector, prepared });
        Ok(card)
    }
}

/// Number of the next new tenant.
pub(crate) const META_NEXT_TENANT: &str = "next_tenant";
