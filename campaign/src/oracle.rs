//! What must hold of a store that was opened after something went wrong: what was acknowledged
//! is there, what was under way is whole or absent, the store is sound, and its indexes answer
//! what it holds.

use std::collections::{BTreeSet, HashSet};

use memcards::card::{Card, CardId};
use memcards::{Get, Include, List, Order, Recall, Store, Tenant};

use crate::disk::Contents;
use crate::failure::{Checked, ensure};
use crate::numbers::Numbers;
use crate::script::EVERYTHING;
use crate::truth::{Truth, between};
use crate::words::{self, WORD_BYTES, vector};

/// Cards in one answer at most.
const MOST: usize = 1000;
/// How many cards of a tenant are asked for one by one.
const SAMPLE: usize = 3;
/// Place among the hits up to which a card must be found by its own word or vector: recency and
/// the like decide between near ones.
const PLACE: usize = 5;
/// Cosine from which another card may come first for a card's own vector.
const NEAR: f64 = 0.75;

/// What was true before the call that was under way, and what it makes true.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Acknowledged.
    pub before: &'a Truth,
    /// After the call that may have been under way.
    pub after: &'a Truth,
    /// Whether that call adds changes in several commits.
    pub grows: bool,
}

/// Checks a store that was just opened; gives what it holds.
///
/// # Errors
/// Says what does not hold.
pub fn check(store: &Store, expected: Expected<'_>, numbers: &mut Numbers) -> Checked<Truth> {
    let found = Truth::of(store).map_err(|failure| failure.at("reading everything"))?;
    between(&found, expected.before, expected.after, expected.grows)?;
    sound(store)?;
    for name in found.tenants.keys() {
        answers(&store.tenant(name)?, numbers)
            .map_err(|failure| failure.at(format_args!("tenant {name}")))?;
    }
    Ok(found)
}

/// Fails unless a verification finds nothing.
///
/// # Errors
/// With the findings.
pub fn sound(store: &Store) -> Checked {
    let report = store.verify(|_| {})?;
    ensure(report.is_sound(), || format!("verify finds {:?}", report.findings))
}

/// Every card that a list shows, with those that are not active as far as they are included.
fn listed(tenant: &Tenant, include: &[Include]) -> Checked<Vec<Card>> {
    let include = include.to_vec();
    let mut request = List { order: Order::OldestFirst, limit: Some(MOST), include, ..List::default() };
    let mut cards = Vec::new();
    loop {
        let page = tenant.list(&request)?;
        cards.extend(page.cards.into_iter().map(|view| view.card));
        match page.cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => return Ok(cards),
        }
    }
}

/// The index is the store: what a list shows is what a search finds, all of it and nothing else.
/// Where a tenant has more cards than an answer, an answer is full, and each card that is picked is
/// found by its own.
///
/// # Errors
/// Says what differs.
pub fn answers(tenant: &Tenant, numbers: &mut Numbers) -> Checked {
    let listed = listed(tenant, &[])?;
    let with_vector: BTreeSet<CardId> =
        listed.iter().filter(|card| card.vector_version > 0).map(|card| card.id).collect();
    let active: BTreeSet<CardId> = listed.iter().map(|card| card.id).collect();
    if !with_vector.is_empty() {
        let request = Recall { vector: Some(vector("any")), top: Some(MOST), ..Recall::default() };
        let hits: BTreeSet<CardId> = tenant.recall(request)?.hits.iter().map(|hit| hit.card.id).collect();
        let complete = match active.len() > MOST {
            true => hits.len() >= with_vector.len().min(MOST),
            false => hits.is_superset(&with_vector),
        };
        ensure(complete && hits.is_subset(&active), || {
            let lost: Vec<_> = with_vector.difference(&hits).collect();
            let alien: Vec<_> = hits.difference(&active).collect();
            format!("a search by vector misses {lost:?} and finds {alien:?}, which no list shows")
        })?;
    }
    for _ in 0..SAMPLE {
        let Some(card) = numbers.pick(&listed) else { break };
        let read = tenant.get(&Get { id: card.id, ..Get::default() })?;
        ensure(read.card == *card, || format!("card {} reads in two ways", card.id))?;
        if let Some(own) = own_word(card) {
            let request = Recall { query: Some(own.clone()), top: Some(MOST), ..Recall::default() };
            let hits = tenant.recall(request)?.hits;
            let place = hits.iter().position(|hit| hit.card.id == card.id);
            ensure(place.is_some_and(|place| place < PLACE), || {
                format!("card {} is at place {place:?} for its own word {own}", card.id)
            })?;
            // No other card may have it; texts that stand in a relation to it may.
            let alien = hits.iter().find(|hit| !active.contains(&hit.card.id));
            ensure(alien.is_none(), || format!("{own} finds {alien:?}, which no list shows"))?;
        }
        // Of cards that contradict each other the later one comes first, and turns of a conversation
        // are judged by what stands around them.
        if card.vector_version > 0 && card.links.is_empty() && own_word(card).is_some() {
            let own = vector(&card.content);
            let near = listed.iter().filter(|other| cosine(&vector(&other.content), &own) > NEAR).count();
            let request = Recall { vector: Some(own), top: Some(MOST), ..Recall::default() };
            let hits = tenant.recall(request)?.hits;
            let place = hits.iter().position(|hit| hit.card.id == card.id);
            ensure(place.is_some_and(|place| place < PLACE + near), || {
                format!("card {} is at place {place:?} for its own vector, which {near} are near", card.id)
            })?;
        }
    }
    Ok(())
}

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

/// The word that stands for a card.
fn own_word(card: &Card) -> Option<String> {
    let word = card.content.strip_prefix("item ")?;
    (word.len() == WORD_BYTES).then(|| word.to_owned())
}

/// Fails when a word is in any byte of any file.
///
/// # Errors
/// Names word and file.
pub fn gone(contents: &Contents, words: &HashSet<String>) -> Checked {
    if words.is_empty() {
        return Ok(());
    }
    let mut leaked = Vec::new();
    for (path, bytes) in contents.named() {
        bytes.written(|_, run| {
            words::found(run, words, |word| leaked.push(format!("{word} in {}", path.display())));
        });
    }
    leaked.sort();
    leaked.dedup();
    ensure(leaked.is_empty(), || format!("what was erased is still there: {}", leaked.join(", ")))
}

/// Says which cards hold one of these words, and what the engine's own scan says of them.
///
/// # Errors
/// When the store cannot be read.
pub fn holders(store: &Store, words: &HashSet<String>) -> Checked<String> {
    let mut told = Vec::new();
    for tenant in store.tenants()? {
        for card in listed(&store.tenant(&tenant.name)?, &EVERYTHING)? {
            let text = format!("{card:?}");
            words::found(text.as_bytes(), words, |word| {
                told.push(format!("{word} in card {} of {} ({})", card.id, tenant.name, card.state));
            });
        }
    }
    let proof = store.verify_erased()?;
    Ok(format!("cards that hold it: {told:?}; the store's own scan finds {:?}", proof.found))
}

/// Writes to a store that was opened after a crash, and finds it again after opening it once
/// more with `reopen`.
///
/// # Errors
/// Says what does not hold.
pub fn goes_on(store: Store, reopen: impl FnOnce() -> memcards::Result<Store>) -> Checked {
    let content = format!("item {}", words::word(2_000_000));
    let before: usize;
    {
        let tenant = store.tenant("anna")?;
        tenant.remember(crate::script::told(content.clone()))?;
        before = listed(&tenant, &EVERYTHING)?.len();
        sound(&store).map_err(|failure| failure.at("after a further write"))?;
    }
    drop(store);
    let store = reopen()?;
    let cards = listed(&store.tenant("anna")?, &EVERYTHING)?;
    ensure(cards.len() == before && cards.iter().any(|card| card.content == content), || {
        "what was written after the recovery is not there after the next opening".into()
    })?;
    sound(&store).map_err(|failure| failure.at("after the next opening"))
}
