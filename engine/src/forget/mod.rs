//! Forgetting: what leaves active memory, when, why, and how it is taken back.
//!
//! `policy` holds the rules as data, `lifecycle` the closed formulas of age, `rules` what is in
//! force, as reads judge by it; `due` knows when
//! a card next needs attention; `plan` finds out what the rules would do, `apply` does exactly
//! that, `undo` takes it back, each recorded as a `run`. `request` forgets and restores what
//! a caller names. A forgotten card keeps all of its versions until it is purged; only a purge
//! is physical. Rules get the present as a parameter and never read the clock; this room
//! knows nothing of questions and scores.

pub(crate) mod apply;
pub(crate) mod budget;
pub mod chart;
pub(crate) mod consolidate;
mod contradictions;
pub(crate) mod due;
mod duplicates;
pub(crate) mod erase;
pub(crate) mod erasure;
pub(crate) mod feedback;
pub mod lifecycle;
pub(crate) mod merge;
pub(crate) mod plan;
pub mod policy;
pub(crate) mod request;
pub mod resolve;
pub(crate) mod rules;
pub(crate) mod run;
pub mod simulate;
mod summary;
pub(crate) mod undo;
mod values;

pub(crate) use request::{Forgetting, Restoring};

use xxhash_rust::xxh3::xxh3_64;

use crate::Result;
use crate::card::{Card, CardId};
use crate::judge;
use crate::learn::content_lookups;
use crate::store::{Batch, Lookup, LookupKey, TenantId, encode_card};

/// Identifies a card as it is, counters and times included: what a plan has seen of it.
pub(crate) fn mark(card: &Card) -> Result<u64> {
    Ok(xxh3_64(&encode_card(card)?))
}

/// Look-ups that a card must not hold on to when it is forgotten.
pub(crate) fn exclusive_lookups(card: &Card) -> Vec<Lookup<'_>> {
    let key = card.merge_key.iter().map(|key| Lookup::MergeKey(key));
    // Of a relation there may be any number: its card holds no fact against others.
    let fact = card.fact.iter().filter(|_| !card.is_relation());
    key.chain(fact.map(Lookup::Fact)).collect()
}

/// The keys of every look-up that may lead to a card: by its words, its merge key, its fact.
pub(crate) fn lookup_keys(card: &Card) -> Vec<LookupKey> {
    let words = content_lookups(card, judge::normalized_hash(&card.content));
    words.iter().chain(&exclusive_lookups(card)).map(Lookup::key).collect()
}

/// Takes the look-ups away by which a card would be found as the holder of its merge key or
/// fact.
pub(crate) fn release_lookups(batch: &mut Batch<'_>, tenant: TenantId, card: &Card) -> Result<()> {
    for lookup in exclusive_lookups(card) {
        if batch.lookup(tenant, &lookup)? == Some(card.id) {
            batch.clear_lookup(tenant, &lookup)?;
        }
    }
    Ok(())
}

/// The contrary of [`release_lookups`]; a card that took the place meanwhile keeps it.
pub(crate) fn regain_lookups(batch: &mut Batch<'_>, tenant: TenantId, card: &Card) -> Result<()> {
    for lookup in exclusive_lookups(card) {
        if batch.lookup(tenant, &lookup)?.is_none() {
            batch.set_lookup(tenant, &lookup, card.id)?;
        }
    }
    Ok(())
}

/// The cards of an answer that lists no more than so many of each.
pub(crate) const LISTED: usize = 1000;

/// Adds to a list that an answer shows, as far as it shows any.
pub(crate) fn listed(list: &mut Vec<CardId>, id: CardId) {
    if list.len() < LISTED {
        list.push(id);
    }
}
