//! What is known of a thing by its name: its attributes, its relations, the cards that name it.
//!
//! All of it is read from the rows of the tenant's partitions, by the view that every read
//! uses: expiry, states, `as_of` and `known_at` hold here as they do elsewhere.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::card::{Card, CardId, Fact, Polarity, State, Track};
use crate::engine::Tenant;
use crate::index::cache::{PartitionGuard, SlotRef};
use crate::judge::name_key;
use crate::learn::edge::SCORE;
use crate::recall::{View, cold};
use crate::time::Timestamp;
use crate::verbs::{Attribute, AttributeVersion, Direction, Edge, Entity, EntityCards, EntityView};
use crate::{Error, Result};

/// Attributes, relations and cards in an answer when the request does not say.
const LIMIT: usize = 50;
/// Relations that make two names of one thing, as keys.
const ALIASES: [&str; 2] = ["alias", "same as"];
/// How many of them are followed one after the other.
const ALIAS_STEPS: usize = 3;

/// The partitions of all tracks of a tenant.
pub(super) fn slots(tenant: &Tenant) -> Result<Option<Vec<SlotRef>>> {
    let Some(id) = tenant.id()? else { return Ok(None) };
    let store = tenant.store();
    let slot = |track: &Track| store.cache().partition(store.database(), id, *track);
    Track::ALL.iter().map(slot).collect::<Result<_>>().map(Some)
}

/// The error for a name that no card has, in this tenant.
pub(super) fn unknown(name: &str) -> Error {
    Error::NotFound { what: format!("entity {name:?}") }
}

/// The relations of a tenant, as a view shows them, kept from changing while it lives.
pub(super) struct Relations<'a> {
    partitions: Vec<PartitionGuard<'a>>,
    view: &'a View,
}

impl<'a> Relations<'a> {
    pub(super) fn new(slots: &'a [SlotRef], view: &'a View) -> Result<Self> {
        let partitions = slots.iter().map(|slot| slot.read()).collect::<Result<_>>()?;
        Ok(Self { partitions, view })
    }

    /// The cards that a view shows of rows of each partition, the newest row of each first.
    fn shown<'b>(
        &'b self,
        view: &'b View,
        rows: Vec<&'b [u32]>,
    ) -> impl Iterator<Item = &'b Card> + use<'b, 'a> {
        self.partitions.iter().zip(rows).flat_map(move |(partition, rows)| {
            let judge = view.on(partition);
            let shown = rows.iter().rev().filter(move |row| judge.shows(**row));
            shown.map(|row| &partition.row(*row).card)
        })
    }

    /// Rows of relations with a name, as a key, at one of their ends.
    fn edge_rows(&self, key: &str) -> Vec<&[u32]> {
        self.partitions.iter().map(|partition| partition.named().edges(key)).collect()
    }

    /// Rows of all other cards that name it.
    fn other_rows(&self, key: &str) -> Vec<&[u32]> {
        self.partitions.iter().map(|partition| partition.named().others(key)).collect()
    }

    /// The relations at one of whose ends a name stands and which hold at the view's instant.
    pub(super) fn holding<'b>(
        &'b self,
        key: &str,
    ) -> impl Iterator<Item = (&'b Card, &'b Fact)> + use<'b, 'a> {
        let at = self.view.instant;
        // "Does not know" is no way from one to the other.
        let holds = move |card: &&Card| {
            card.polarity == Polarity::Affirmed
                && card.valid_from.is_none_or(|from| from <= at)
                && card.valid_to.is_none_or(|end| at < end)
        };
        let cards = self.shown(self.view, self.edge_rows(key)).filter(holds);
        cards.filter_map(|card| Some((card, card.edge()?)))
    }

    /// All cards that name a thing.
    pub(super) fn cards<'b>(&'b self, key: &str) -> impl Iterator<Item = &'b Card> + use<'b, 'a> {
        let edges = self.shown(self.view, self.edge_rows(key));
        edges.chain(self.shown(self.view, self.other_rows(key)))
    }

    /// True when any card names it.
    pub(super) fn is_known(&self, key: &str) -> bool {
        self.cards(key).next().is_some()
    }
}

/// The score of a relation: 1 where its card has none.
pub(super) fn score(card: &Card) -> f64 {
    card.attributes.get(SCORE).and_then(Value::as_f64).map_or(1.0, |score| score.clamp(0.0, 1.0))
}

/// How a card spells the name with that key.
pub(super) fn spelling<'a>(card: &'a Card, key: &str) -> Option<&'a String> {
    let ends = card.fact.iter().flat_map(|fact| [&fact.entity, &fact.value]);
    let mentions = card.mentions.iter().map(|mention| &mention.name);
    ends.chain(&card.entities).chain(mentions).find(|name| name_key(name) == key)
}

/// See [`Tenant::entity`].
pub(crate) fn entity(tenant: &Tenant, request: &Entity, now: Timestamp) -> Result<EntityView> {
    let limits = tenant.store().limits();
    limits.name("name", &request.name)?;
    let limit = request.limit.unwrap_or(LIMIT);
    if limit == 0 || limit > limits.top {
        return Err(Error::invalid("limit", format!("must be 1 to {}", limits.top)));
    }
    let view = View::new(tenant.life_rules()?, &request.include, request.as_of, request.known_at, now);
    let found = cold::by_name(tenant, &view, |slots| {
        let relations = Relations::new(slots, &view)?;
        let names = names(&relations, name_key(&request.name));
        let keys = names.iter().map(|(key, _)| key.clone()).collect();
        Ok((view_of(&relations, request, names, limit), keys))
    })?;
    found.flatten().ok_or_else(|| unknown(&request.name))
}

/// What is known of a thing that has these names; `None` when no card names it.
fn view_of(
    relations: &Relations<'_>,
    request: &Entity,
    names: Vec<(String, String)>,
    limit: usize,
) -> Option<EntityView> {
    let own = &names[0].0;
    let mut cards: HashMap<CardId, &Card> = HashMap::new();
    for (key, _) in &names {
        cards.extend(relations.cards(key).map(|card| (card.id, card)));
    }
    let mut cards: Vec<&Card> = cards.into_values().collect();
    cards.sort_unstable_by_key(|card| std::cmp::Reverse(card.id));
    let spelled = cards.iter().find_map(|card| spelling(card, own))?;

    let mut attributes = attributes(relations, &names, request.as_of);
    let mut edges: Vec<Edge> = cards
        .iter()
        .filter(|card| card.polarity == Polarity::Affirmed)
        .filter_map(|card| edge(card, card.edge()?, &names))
        .collect();
    // The cards are in order already.
    edges.sort_by(|a, b| b.score.total_cmp(&a.score));
    let truncated = attributes.len() > limit || edges.len() > limit;
    attributes.truncate(limit);
    edges.truncate(limit);
    Some(EntityView {
        name: spelled.clone(),
        attributes,
        edges,
        cards: EntityCards {
            count: cards.len(),
            latest: cards.iter().take(limit).map(|card| card.id).collect(),
        },
        aliases: names.into_iter().skip(1).map(|(_, spelled)| spelled).collect(),
        truncated,
    })
}

/// Keys and spellings of all names of a thing: the given one, then the others by how many
/// relations away they are, and by key.
pub(super) fn names(relations: &Relations<'_>, key: String) -> Vec<(String, String)> {
    let mut names = vec![(key, String::new())];
    let mut step = 0..1;
    for _ in 0..ALIAS_STEPS {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (key, _) in &names[step.clone()] {
            for (_, edge) in relations.holding(key) {
                if !ALIASES.contains(&name_key(&edge.attribute).as_str()) {
                    continue;
                }
                for end in [&edge.entity, &edge.value] {
                    let other = name_key(end);
                    if names.iter().all(|(known, _)| *known != other) {
                        found.entry(other).or_insert_with(|| end.clone());
                    }
                }
            }
        }
        step = names.len()..names.len() + found.len();
        names.extend(found);
    }
    names
}

/// A relation as seen from a thing that has these names.
fn edge(card: &Card, edge: &Fact, names: &[(String, String)]) -> Option<Edge> {
    let place = |name: &str| {
        let key = name_key(name);
        names.iter().position(|(known, _)| *known == key)
    };
    // Between two of its names the one that was asked for decides.
    let direction = match (place(&edge.entity), place(&edge.value)) {
        (Some(from), Some(to)) if to < from => Direction::In,
        (Some(_), _) => Direction::Out,
        (None, Some(_)) => Direction::In,
        (None, None) => return None,
    };
    Some(Edge {
        id: card.id,
        from: edge.entity.clone(),
        relation: edge.attribute.clone(),
        to: edge.value.clone(),
        score: score(card),
        since: card.valid_from,
        until: card.valid_to,
        direction,
    })
}

/// The attributes of a thing that has these names, in order of their keys.
fn attributes(
    relations: &Relations<'_>,
    names: &[(String, String)],
    as_of: Option<Timestamp>,
) -> Vec<Attribute> {
    let (view, past) = (relations.view, relations.view.with_the_past());
    let mut told: BTreeMap<String, Vec<(&Card, &Fact)>> = BTreeMap::new();
    for (key, _) in names {
        for card in relations.shown(&past, relations.other_rows(key)) {
            // A fact that is excluded is no value; one that begins later is none yet.
            let fact = card.fact.as_ref().filter(|fact| {
                !card.is_relation()
                    && card.polarity == Polarity::Affirmed
                    && name_key(&fact.entity) == *key
                    && as_of.is_none_or(|at| card.start() <= at)
            });
            if let Some(fact) = fact {
                told.entry(name_key(&fact.attribute)).or_default().push((card, fact));
            }
        }
    }
    told.into_values().filter_map(|values| attribute(view, values)).collect()
}

/// An attribute with its values; `None` when none of them holds.
fn attribute(view: &View, mut values: Vec<(&Card, &Fact)>) -> Option<Attribute> {
    values.sort_unstable_by_key(|(card, _)| std::cmp::Reverse((card.start(), card.id)));
    // The rows were chosen by what was recorded; the rest is told by the card.
    let current = values.iter().position(|(card, _)| view.shows(card))?;
    let first = values.remove(current);
    values.insert(0, first);
    let version = |(card, fact): &(&Card, &Fact)| AttributeVersion {
        value: fact.value.clone(),
        from: card.start(),
        // What was replaced before it began was never true.
        to: card.valid_to.or((card.state == State::Superseded).then(|| card.start())),
        id: card.id,
        version: card.version,
    };
    let (card, fact) = first;
    Some(Attribute {
        attribute: fact.attribute.clone(),
        value: fact.value.clone(),
        id: card.id,
        since: card.start(),
        confidence: card.confidence,
        versions: values.iter().map(version).collect(),
    })
}
