//! Removing cards for good, and keeping them from coming back.
//!
//! Of what is erased only keyed hashes stay, as tombstones: by them an import or a conversation
//! that is read again is told from something new. What is told anew, at a later time, is no
//! return of the old: it is remembered, and lifts the tombstone.

use std::collections::{BTreeMap, HashSet};

use crate::card::{Card, CardId};
use crate::forget::erasure::{CardFingerprints, Fingerprint, Key, PER_CARD, Tombstone};
use crate::forget::run::{RunItem, RunRecord};
use crate::judge::normalized;
use crate::store::{Batch, ReadBytes, STORE, TableId, Tables, TenantId};
use crate::time::Timestamp;
use crate::verbs::PlanItem;
use crate::{Error, Result};

/// Kinds of tombstones.
const CONTENT: u8 = 1;
const CARD: u8 = 2;
const TENANT: u8 = 3;
const EVENT: u8 = 4;
/// Name of the setting of the store that lists tenants whose wiping is under way.
const ERASING: &str = "erasing";
/// Fingerprints that are kept of a wiped tenant.
pub(crate) const KEPT: usize = 1024;

/// The digest under which a card's words are known when they come again.
fn digest(key: &Key, content: &str) -> u128 {
    key.digest(normalized(content).as_bytes())
}

fn card_hash(id: CardId) -> u128 {
    u128::from_be_bytes(id.to_bytes())
}

fn bad(detail: String) -> Error {
    Error::corrupt("table tombstones", detail)
}

/// Takes the fingerprints of a card with all of its versions.
pub(crate) fn fingerprints<'k>(versions: &[Card], key: &'k Key) -> Option<CardFingerprints<'k>> {
    let (current, earlier) = versions.split_last()?;
    let mut found = CardFingerprints::new(&current.content, key);
    for card in earlier.iter().filter(|card| card.content != current.content) {
        found.add(&card.content);
    }
    for card in versions {
        let texts = card.summary.iter().chain(&card.entities).chain(&card.tags).chain(&card.merge_key);
        for text in texts {
            found.add(text);
        }
        if let Some(fact) = &card.fact {
            for text in [&fact.entity, &fact.attribute, &fact.value] {
                found.add(text);
            }
        }
        for name in card.sources.iter().filter_map(|source| source.speaker.as_ref()) {
            found.add(name);
        }
    }
    Some(found)
}

/// Removes cards with all of their versions; tombstones keep them from coming back. Gives how
/// many were there.
pub(crate) fn erase(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    ids: &[CardId],
    now: Timestamp,
) -> Result<usize> {
    let key = Key::new(batch.seed());
    for id in ids {
        let Some(card) = batch.tables().card(tenant, *id)? else { continue };
        let digest = digest(&key, &card.content);
        let mut versions = batch.tables().earlier_versions(tenant, *id)?;
        versions.push(card);
        let Some(found) = fingerprints(&versions, &key) else { continue };
        let tombstone = Tombstone::new(id.to_bytes(), digest, now.as_micros(), found.finish(PER_CARD));
        batch.put_tombstone(tenant, CARD, card_hash(*id), &tombstone.encode())?;
        let told = [&now.as_micros().to_le_bytes()[..], &id.to_bytes()].concat();
        batch.put_tombstone(tenant, CONTENT, digest, &told)?;
        for hash in versions.last().into_iter().flat_map(|card| events(&key, card)) {
            batch.put_tombstone(tenant, EVENT, hash, &told)?;
        }
    }
    drop_words(batch, tenant, ids)?;
    batch.purge_all(tenant, ids, now)
}

/// Takes the words out of plans that would make a card of these ones; such an item is not carried
/// out any more.
fn drop_words(batch: &mut Batch<'_>, tenant: TenantId, ids: &[CardId]) -> Result<()> {
    let cites = |item: &PlanItem| {
        let made = item.make.as_deref();
        made.is_some_and(|card| card.links.iter().any(|link| ids.contains(&link.to)))
            || (made.is_some() && ids.contains(&item.id))
    };
    let mut found: BTreeMap<u64, BTreeMap<u32, PlanItem>> = BTreeMap::new();
    for entry in batch.tables().items_with_words::<PlanItem>(TableId::PlanItems, tenant)? {
        let ((plan, at), item) = entry?;
        if cites(&item) {
            found.entry(plan).or_default().insert(at, PlanItem { make: None, ..item });
        }
    }
    for (plan, items) in found {
        batch.replace_items(TableId::PlanItems, tenant, plan, items)?;
    }
    Ok(())
}

/// The digests of the turns in which a card was told: the same turn read again is the same
/// telling, whether or not it says when.
fn events(key: &Key, card: &Card) -> Vec<u128> {
    let words = normalized(&card.content);
    let turns = card.sources.iter().filter_map(|source| Some((source.session.as_ref()?, source.turn?)));
    let parts = |(session, turn): (&String, u32)| {
        [&(session.len() as u64).to_le_bytes()[..], session.as_bytes(), &turn.to_le_bytes(), words.as_bytes()]
            .concat()
    };
    turns.map(|turn| key.digest(&parts(turn))).collect()
}

/// When the words of a card were erased, and as which card; `None` when they were not.
fn erased_words(batch: &Batch<'_>, tenant: TenantId, content: &str) -> Result<Option<(Timestamp, CardId)>> {
    if !batch.has_tombstones(tenant)? {
        return Ok(None);
    }
    told(batch, tenant, CONTENT, digest(&Key::new(batch.seed()), content))
}

/// What a tombstone of words or of a turn says: when, and as which card.
fn told(batch: &Batch<'_>, tenant: TenantId, kind: u8, hash: u128) -> Result<Option<(Timestamp, CardId)>> {
    let Some(bytes) = batch.tables().tombstone(tenant, kind, hash)? else { return Ok(None) };
    let parts = || {
        let (at, id) = bytes.split_first_chunk::<8>()?;
        Some((i64::from_le_bytes(*at), CardId::from_bytes(id.try_into().ok()?)))
    };
    let (at, id) = parts().ok_or_else(|| bad("not a time and a card".into()))?;
    Ok(Some((Timestamp::from_micros(at), id)))
}

/// Refuses a card whose words were erased and which tells of a time before that: an old
/// conversation that is read again. One that is told anew lifts the tombstone.
///
/// # Errors
/// [`Error::Erased`].
pub(crate) fn admit(batch: &mut Batch<'_>, tenant: TenantId, card: &Card, dated: bool) -> Result<()> {
    if !batch.has_tombstones(tenant)? {
        return Ok(());
    }
    let refuse = |(at, id): (Timestamp, CardId)| Error::Erased { id: id.to_string(), at: at.to_string() };
    for hash in events(&Key::new(batch.seed()), card) {
        if let Some(erased) = told(batch, tenant, EVENT, hash)? {
            return Err(refuse(erased));
        }
    }
    let Some((at, id)) = erased_words(batch, tenant, &card.content)? else { return Ok(()) };
    if dated && card.occurred_at <= at {
        return Err(refuse((at, id)));
    }
    lift(batch, tenant, id).map(drop)
}

/// Refuses what tells of a time before its tenant was wiped.
///
/// # Errors
/// [`Error::Erased`].
pub(crate) fn admit_to(batch: &Batch<'_>, name: &str, card: &Card, dated: bool) -> Result<()> {
    if !dated || !batch.has_tombstones(STORE)? {
        return Ok(());
    }
    match wiped_at(batch, name)? {
        Some(at) if card.occurred_at <= at => Err(Error::Wiped { at: at.to_string() }),
        _ => Ok(()),
    }
}

/// Takes who and why out of the runs that have changed cards which are gone by now, and hashes of
/// these cards out of plans and runs.
pub(crate) fn forget_reasons(batch: &mut Batch<'_>, tenant: TenantId, gone: &HashSet<CardId>) -> Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let mut runs: BTreeMap<u64, BTreeMap<u32, RunItem>> = BTreeMap::new();
    for item in batch.tables().all_items::<RunItem>(TableId::RunItems, tenant)? {
        let ((run, at), item) = item?;
        let beside = item.beside.is_some_and(|beside| gone.contains(&beside.id));
        if gone.contains(&item.id) || beside {
            let hashes = runs.entry(run).or_default();
            // The first item of those that became one has the look-ups of all.
            if !item.lookups.is_empty() {
                hashes.insert(at, RunItem { lookups: vec![], ..item });
            }
        }
    }
    let mut plans: BTreeMap<u64, BTreeMap<u32, PlanItem>> = BTreeMap::new();
    for item in batch.tables().all_items::<PlanItem>(TableId::PlanItems, tenant)? {
        let ((plan, at), item) = item?;
        if gone.contains(&item.id) || item.into.is_some_and(|into| gone.contains(&into)) {
            plans.entry(plan).or_default().insert(at, PlanItem { mark: 0, into_mark: 0, ..item });
        }
    }
    for (plan, items) in plans {
        batch.replace_items(TableId::PlanItems, tenant, plan, items)?;
    }
    for (run, hashes) in runs {
        batch.replace_items(TableId::RunItems, tenant, run, hashes)?;
        for scope in [tenant, STORE] {
            let record = batch.tables().document::<RunRecord>(TableId::Runs, scope, run)?;
            // Who carries a plan out for a tenant of many says nothing of this one's cards.
            let record = record.filter(|record| record.plan.is_none() || record.done.len() <= 1);
            if let Some(record) = record.filter(|record| record.why.is_some() || record.actor.is_some()) {
                let record = RunRecord { why: None, actor: None, ..record };
                batch.put_document(TableId::Runs, scope, run, &record)?;
            }
        }
    }
    Ok(())
}

/// True for a card of an import that was erased here, itself or its words.
pub(crate) fn is_erased(
    batch: &Batch<'_>,
    tenant: TenantId,
    id: CardId,
    card: Option<&Card>,
) -> Result<bool> {
    if !batch.has_tombstones(tenant)? {
        return Ok(false);
    }
    if batch.tables().tombstone(tenant, CARD, card_hash(id))?.is_some() {
        return Ok(true);
    }
    match card {
        Some(card) => {
            let erased = erased_words(batch, tenant, &card.content)?;
            Ok(erased.is_some_and(|(at, _)| card.recorded_at <= at))
        }
        None => Ok(false),
    }
}

/// Lifts the tombstone of a card; false when there is none.
pub(crate) fn lift(batch: &mut Batch<'_>, tenant: TenantId, id: CardId) -> Result<bool> {
    let Some(bytes) = batch.tables().tombstone(tenant, CARD, card_hash(id))? else { return Ok(false) };
    let tombstone = Tombstone::decode(&bytes).map_err(bad)?;
    batch.remove_tombstone(tenant, CARD, card_hash(id))?;
    batch.remove_tombstone(tenant, CONTENT, tombstone.digest)?;
    let events: Vec<u128> = batch
        .tables()
        .tombstones(tenant)?
        .filter_map(|entry| match entry {
            Ok((EVENT, hash, bytes)) => bytes.ends_with(&id.to_bytes()).then_some(Ok(hash)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
        .collect::<Result<_>>()?;
    for hash in events {
        batch.remove_tombstone(tenant, EVENT, hash)?;
    }
    Ok(true)
}

/// The tombstones of a tenant's cards.
pub(crate) fn tombstones<T: ReadBytes>(tables: &Tables<T>, tenant: TenantId) -> Result<Vec<Tombstone>> {
    let all = tables.tombstones(tenant)?;
    let cards = all.filter(|entry| entry.as_ref().map_or(true, |(kind, ..)| *kind == CARD));
    cards.map(|entry| Tombstone::decode(&entry?.2).map_err(bad)).collect()
}

/// Notes that a tenant was wiped, with some fingerprints of what it held, and that files are still
/// to be seen to.
pub(crate) fn note_wiped(
    batch: &mut Batch<'_>,
    (tenant, name): (TenantId, &str),
    fingerprints: &[Fingerprint],
    now: Timestamp,
) -> Result<()> {
    let hash = Key::new(batch.seed()).digest(name.as_bytes());
    let mut bytes = now.as_micros().to_le_bytes().to_vec();
    for fingerprint in fingerprints.iter().take(KEPT) {
        bytes.extend_from_slice(&fingerprint.to_bytes());
    }
    batch.put_tombstone(STORE, TENANT, hash, &bytes)?;
    let mut open = erasing(batch.tables())?;
    open.push(tenant.0);
    put_erasing(batch, &open)
}

/// What a tombstone of a tenant says: when it was wiped, and fingerprints of what it held.
fn read_wiped(bytes: &[u8]) -> Result<(Timestamp, Vec<Fingerprint>)> {
    let (at, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| bad("not a time".into()))?;
    let (prints, left) = rest.as_chunks();
    let prints: Option<Vec<Fingerprint>> = prints.iter().map(Fingerprint::from_bytes).collect();
    let prints = prints.filter(|_| left.is_empty()).ok_or_else(|| bad("no fingerprints".into()))?;
    Ok((Timestamp::from_micros(i64::from_le_bytes(*at)), prints))
}

/// Fingerprints of what wiped tenants held.
pub(crate) fn wiped_fingerprints<T: ReadBytes>(tables: &Tables<T>) -> Result<Vec<Fingerprint>> {
    let mut all = Vec::new();
    for entry in tables.tombstones(STORE)? {
        let (_, _, bytes) = entry?;
        all.extend(read_wiped(&bytes)?.1);
    }
    Ok(all)
}

/// Tenants whose records are gone and whose bytes may still be in files.
pub(crate) fn erasing<T: ReadBytes>(tables: &Tables<T>) -> Result<Vec<u32>> {
    let Some(json) = tables.meta(ERASING)?.filter(|json| !json.is_empty()) else { return Ok(vec![]) };
    serde_json::from_slice(&json).map_err(|e| Error::corrupt("table meta key erasing", e.to_string()))
}

/// Notes which tenants these are.
pub(crate) fn put_erasing(batch: &mut Batch<'_>, open: &[u32]) -> Result<()> {
    let json = serde_json::to_vec(open).map_err(|e| Error::Internal(format!("encoding numbers: {e}")))?;
    batch.put_meta(ERASING, &json)
}

/// When a tenant was wiped; `None` when it was not, or is wanted again.
pub(crate) fn wiped_at(batch: &Batch<'_>, name: &str) -> Result<Option<Timestamp>> {
    let hash = Key::new(batch.seed()).digest(name.as_bytes());
    let Some(bytes) = batch.tables().tombstone(STORE, TENANT, hash)? else { return Ok(None) };
    Ok(Some(read_wiped(&bytes)?.0))
}

/// Lets a wiped tenant be imported again.
pub(crate) fn lift_tenant(batch: &mut Batch<'_>, name: &str) -> Result<bool> {
    let hash = Key::new(batch.seed()).digest(name.as_bytes());
    batch.remove_tombstone(STORE, TENANT, hash)
}
