//! Reading cards by name, by condition and in order: get, list, count, history.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::card::{Card, CardId, LinkKind, State};
use crate::engine::Tenant;
use crate::filter::Filter;
use crate::recall::{View, check_share};
use crate::store::{ReadBytes, Tables, TenantId};
use crate::time::Timestamp;
use crate::verbs::{
    CardView, Count, FieldChange, Get, History, HistoryAnswer, Include, List, Order, Page, VersionView,
};
use crate::{Error, Result};

/// Cards per page when the request does not say.
const PAGE: usize = 50;

fn missing(id: CardId) -> Error {
    Error::NotFound { what: format!("card {id}") }
}

/// See [`Tenant::get`].
pub(crate) fn get(tenant: &Tenant, request: &Get, now: Timestamp) -> Result<CardView> {
    let tables = tenant.store().database().read()?;
    let id = tenant.id()?.ok_or_else(|| missing(request.id))?;
    // A card asked for by name is shown in every state but the forgotten one.
    let include: Vec<Include> = request
        .include
        .iter()
        .copied()
        .chain([Include::Superseded, Include::Archived, Include::Candidates])
        .collect();
    let view = View::new(tenant.life_rules()?, &include, None, request.known_at, now).at_any_time();
    let card = tables.card(id, request.id)?.ok_or_else(|| missing(request.id))?;
    version_at(&tables, id, card, &view)?
        .filter(|card| view.shows(card))
        .map(|card| view.card(card))
        .ok_or_else(|| missing(request.id))
}

/// The version of a card that was current at the view's instant; `None` when there was none yet.
fn version_at<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    card: Card,
    view: &View,
) -> Result<Option<Card>> {
    let Some(at) = view.known_at() else { return Ok(Some(card)) };
    if card.updated_at <= at {
        return Ok(Some(card));
    }
    Ok(tables.earlier_versions(tenant, card.id)?.into_iter().rev().find(|version| version.updated_at <= at))
}

/// What cards have to satisfy beside the view.
#[derive(Clone, Copy)]
struct Conditions<'a> {
    filter: Option<&'a Filter>,
    min_confidence: Option<f32>,
}

/// The tenant's cards that a view shows and the conditions admit, in order of their identifiers.
fn select<'a, T: ReadBytes>(
    tables: &'a Tables<T>,
    tenant: TenantId,
    view: &'a View,
    conditions: Conditions<'a>,
    after: Option<CardId>,
    backward: bool,
) -> Result<impl Iterator<Item = Result<Card>> + 'a> {
    // The state of today says nothing of the past.
    let wants = |state| view.known_at().is_some() || view.wants(state);
    Ok(tables.cards_in(tenant, after, backward, wants)?.filter_map(move |card| {
        let version = card.and_then(|card| version_at(tables, tenant, card, view));
        match version {
            Ok(Some(card)) => {
                let admitted = view.shows(&card)
                    && conditions.filter.is_none_or(|filter| filter.matches(&card))
                    && view.is_sure(&card, conditions.min_confidence);
                admitted.then_some(Ok(card))
            }
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

/// Where a page ended: the last card's sort key and identifier.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cursor {
    order: Order,
    key: i64,
    id: CardId,
}

impl Cursor {
    fn encode(&self) -> Result<String> {
        let json =
            serde_json::to_string(self).map_err(|e| Error::Internal(format!("encoding a cursor: {e}")))?;
        Ok(json.bytes().map(|byte| format!("{byte:02x}")).collect())
    }

    fn decode(text: &str, order: Order) -> Result<Self> {
        let bad = || Error::invalid("cursor", "is not one that a list with this order answered");
        if !text.len().is_multiple_of(2) || text.len() > 1024 || !text.is_ascii() {
            return Err(bad());
        }
        let bytes = (0..text.len() / 2)
            .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| bad()))
            .collect::<Result<Vec<u8>>>()?;
        let cursor: Self = serde_json::from_slice(&bytes).map_err(|_| bad())?;
        if cursor.order == order { Ok(cursor) } else { Err(bad()) }
    }
}

/// Reads a text as a cursor of every order; what is read is written and read again.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzz_cursor(text: &str) {
    for order in [Order::NewestFirst, Order::OldestFirst, Order::LatestEvent, Order::MostConfident] {
        let Ok(cursor) = Cursor::decode(text, order) else { continue };
        let again = cursor.encode().and_then(|text| Cursor::decode(&text, order));
        assert!(again.is_ok_and(|again| (again.key, again.id) == (cursor.key, cursor.id)));
    }
}

/// The number by which an order sorts, ascending.
fn sort_key(order: Order, card: &Card) -> i64 {
    // Bits of a number from 0 to 1 sort like the number.
    let bits = |number: f32| i64::from(number.max(0.0).to_bits());
    match order {
        Order::NewestFirst => 0,
        Order::OldestFirst => 0,
        Order::LatestEvent => -card.occurred_at.as_micros(),
        Order::EarliestEvent => card.occurred_at.as_micros(),
        Order::LatestChange => -card.updated_at.as_micros(),
        Order::MostImportant => -bits(card.importance),
        Order::MostConfident => -bits(card.confidence),
    }
}

/// See [`Tenant::list`].
pub(crate) fn list(tenant: &Tenant, request: &List, now: Timestamp) -> Result<Page> {
    let most = tenant.store().limits().top;
    let limit = request.limit.unwrap_or(PAGE);
    if limit == 0 || limit > most {
        return Err(Error::invalid("limit", format!("must be 1 to {most}")));
    }
    check_share("min_confidence", request.min_confidence)?;
    let cursor = request.cursor.as_deref().map(|text| Cursor::decode(text, request.order)).transpose()?;
    let view = View::new(tenant.life_rules()?, &request.include, request.as_of, request.known_at, now);
    let tables = tenant.store().database().read()?;
    let Some(id) = tenant.id()? else { return Ok(Page { cards: vec![], cursor: None }) };
    let conditions = Conditions { filter: request.filter.as_ref(), min_confidence: request.min_confidence };
    let mut cards: Vec<Card> = match request.order {
        // Identifiers ascend with the time of recording: the table is in this order.
        Order::NewestFirst | Order::OldestFirst => {
            let backward = request.order == Order::NewestFirst;
            let after = cursor.map(|cursor| cursor.id);
            select(&tables, id, &view, conditions, after, backward)?.take(limit + 1).collect::<Result<_>>()?
        }
        order => {
            let mut all = select(&tables, id, &view, conditions, None, false)?.collect::<Result<Vec<_>>>()?;
            if let Some(cursor) = cursor {
                all.retain(|card| (sort_key(order, card), card.id) > (cursor.key, cursor.id));
            }
            all.sort_by_key(|card| (sort_key(order, card), card.id));
            all.truncate(limit + 1);
            all
        }
    };
    let more = cards.len() > limit;
    cards.truncate(limit);
    let cursor = match cards.last().filter(|_| more) {
        Some(last) => {
            Some(Cursor { order: request.order, key: sort_key(request.order, last), id: last.id }.encode()?)
        }
        None => None,
    };
    Ok(Page { cards: cards.into_iter().map(|card| view.card(card)).collect(), cursor })
}

/// See [`Tenant::count`].
pub(crate) fn count(tenant: &Tenant, request: &Count, now: Timestamp) -> Result<u64> {
    check_share("min_confidence", request.min_confidence)?;
    let view = View::new(tenant.life_rules()?, &request.include, request.as_of, request.known_at, now);
    let tables = tenant.store().database().read()?;
    let Some(id) = tenant.id()? else { return Ok(0) };
    let conditions = Conditions { filter: request.filter.as_ref(), min_confidence: request.min_confidence };
    let mut count = 0;
    for card in select(&tables, id, &view, conditions, None, false)? {
        card?;
        count += 1;
    }
    Ok(count)
}

/// Identifiers of all cards, in every state but the forgotten one and of any age, that satisfy a
/// filter: for forgetting them.
pub(crate) fn matching(tenant: &Tenant, filter: &Filter, now: Timestamp) -> Result<Vec<CardId>> {
    let include = [Include::Superseded, Include::Archived, Include::Candidates];
    let view = View::new(tenant.life_rules()?, &include, None, None, now).at_any_age();
    let tables = tenant.store().database().read()?;
    let Some(id) = tenant.id()? else { return Ok(vec![]) };
    let conditions = Conditions { filter: Some(filter), min_confidence: None };
    select(&tables, id, &view, conditions, None, false)?.map(|card| card.map(|card| card.id)).collect()
}

/// Cards of one history; bounds a chain of corrections.
const HISTORY_CARDS: usize = 1000;

/// See [`Tenant::history`].
pub(crate) fn history(tenant: &Tenant, request: &History, now: Timestamp) -> Result<HistoryAnswer> {
    let tables = tenant.store().database().read()?;
    let id = tenant.id()?.ok_or_else(|| missing(request.id))?;
    let rules = tenant.life_rules()?;
    let lives = |card: &Card| !rules.is_expired(card, now);
    // The record of a forgotten card is kept for who asks for it by name.
    let shown = |card: &Card| lives(card) && card.state != State::Forgotten;
    let first = tables.card(id, request.id)?.filter(lives).ok_or_else(|| missing(request.id))?;
    // The card, what it replaced and what replaced it, each once.
    let mut queue = vec![first];
    let mut seen = BTreeSet::from([request.id]);
    let mut versions: Vec<Card> = Vec::new();
    while let Some(card) = queue.pop() {
        for link in &card.links {
            if matches!(
                link.kind,
                LinkKind::Supersedes | LinkKind::SupersededBy | LinkKind::Succeeds | LinkKind::SucceededBy
            ) && seen.len() < HISTORY_CARDS
                && seen.insert(link.to)
                && let Some(other) = tables.card(id, link.to)?.filter(shown)
            {
                queue.push(other);
            }
        }
        versions.extend(tables.earlier_versions(id, card.id)?);
        versions.push(card);
    }
    versions.sort_by_key(|card| (card.updated_at, card.id, card.version));
    let known: HashMap<(CardId, u32), &Card> =
        versions.iter().map(|card| ((card.id, card.version), card)).collect();
    let views = versions
        .iter()
        .map(|card| {
            let earlier = card.version.checked_sub(1).and_then(|version| known.get(&(card.id, version)));
            let before = earlier.copied().or_else(|| {
                let replaced = card.supersedes().next()?;
                versions.iter().rfind(|other| other.id == replaced && other.state != State::Superseded)
            });
            Ok(VersionView { diff: diff(before, card)?, card: CardView::new(card.clone(), &rules, now) })
        })
        .collect::<Result<_>>()?;
    Ok(HistoryAnswer { versions: views })
}

/// Fields in which two versions differ, apart from those that always do.
fn diff(before: Option<&Card>, after: &Card) -> Result<Vec<FieldChange>> {
    const ALWAYS: [&str; 6] = ["id", "version", "updated_at", "recorded_at", "reason", "vector_version"];
    let Some(before) = before else { return Ok(vec![]) };
    let object = |card: &Card| -> Result<Map<String, Value>> {
        match serde_json::to_value(card) {
            Ok(Value::Object(object)) => Ok(object),
            other => Err(Error::Internal(format!("a card is no JSON object: {other:?}"))),
        }
    };
    let (mut from, mut to) = (object(before)?, object(after)?);
    let mut fields: Vec<String> = from.keys().chain(to.keys()).cloned().collect();
    fields.sort_unstable();
    fields.dedup();
    fields.retain(|field| !ALWAYS.contains(&field.as_str()) && from.get(field) != to.get(field));
    let take = |object: &mut Map<String, Value>, field: &str| object.remove(field).unwrap_or(Value::Null);
    Ok(fields
        .into_iter()
        .map(|field| FieldChange { from: take(&mut from, &field), to: take(&mut to, &field), field })
        .collect())
}
