//! Removing cards for good, and keeping them from coming back.
//!
//! Of what is erased only keyed hashes stay, as tombstones: by them an import or a conversation
//! that is read again is told from something new. What is told anew, at a later time, is no
//! return of the old: it is remembered, and lifts the tombstone.

use crate::card::{Card, CardId};
use crate::forget::erasure::{CardFingerprints, Key, PER_CARD, Tombstone};
use crate::judge::normalized;
use crate::store::{Batch, ReadBytes, STORE, TableId, Tables, TenantId};
use crate::time::Timestamp;
use crate::verbs::PlanItem;
use crate::{Error, Result};

/// Kinds of tombstones.
const CONTENT: u8 = 1;
const CARD: u8 = 2;
const TENANT: u8 = 3;

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
    let found: Vec<((u64, u32), PlanItem)> = batch
        .tables()
        .all_items::<PlanItem>(TableId::PlanItems, tenant)?
        .filter(|entry| entry.as_ref().map_or(true, |(_, item)| cites(item)))
        .collect::<Result<_>>()?;
    for (at, item) in found {
        batch.put_item(TableId::PlanItems, tenant, at, &PlanItem { make: None, ..item })?;
    }
    Ok(())
}

/// When the words of a card were erased, and as which card; `None` when they were not.
fn erased_words(batch: &Batch<'_>, tenant: TenantId, content: &str) -> Result<Option<(Timestamp, CardId)>> {
    if !batch.has_tombstones(tenant)? {
        return Ok(None);
    }
    let digest = digest(&Key::new(batch.seed()), content);
    let Some(bytes) = batch.tables().tombstone(tenant, CONTENT, digest)? else { return Ok(None) };
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
    let Some((at, id)) = erased_words(batch, tenant, &card.content)? else { return Ok(()) };
    if dated && card.occurred_at <= at {
        return Err(Error::Erased { id: id.to_string(), at: at.to_string() });
    }
    lift(batch, tenant, id).map(drop)
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
    Ok(true)
}

/// The tombstones of a tenant's cards.
pub(crate) fn tombstones<T: ReadBytes>(tables: &Tables<T>, tenant: TenantId) -> Result<Vec<Tombstone>> {
    let all = tables.tombstones(tenant)?;
    let cards = all.filter(|entry| entry.as_ref().map_or(true, |(kind, _)| *kind == CARD));
    cards.map(|entry| Tombstone::decode(&entry?.1).map_err(bad)).collect()
}

/// Notes that a tenant was wiped.
pub(crate) fn note_wiped(batch: &mut Batch<'_>, name: &str, now: Timestamp) -> Result<()> {
    let hash = Key::new(batch.seed()).digest(name.as_bytes());
    batch.put_tombstone(STORE, TENANT, hash, &now.as_micros().to_le_bytes())
}

/// When a tenant was wiped; `None` when it was not, or is wanted again.
pub(crate) fn wiped_at(batch: &Batch<'_>, name: &str) -> Result<Option<Timestamp>> {
    let hash = Key::new(batch.seed()).digest(name.as_bytes());
    let Some(bytes) = batch.tables().tombstone(STORE, TENANT, hash)? else { return Ok(None) };
    let at = bytes.try_into().map_err(|_| bad("not a time".into()))?;
    Ok(Some(Timestamp::from_micros(i64::from_le_bytes(at))))
}

/// Lets a wiped tenant be imported again.
pub(crate) fn lift_tenant(batch: &mut Batch<'_>, name: &str) -> Result<bool> {
    let hash = Key::new(batch.seed()).digest(name.as_bytes());
    batch.remove_tombstone(STORE, TENANT, hash)
}
