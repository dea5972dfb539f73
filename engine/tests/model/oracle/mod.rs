//! The model: one tenant's cards in plain maps, every rule as a scan.
//!
//! It asks the judge how two sentences relate and the filter what it admits; who is
//! compared with whom, what becomes of a card and what a read shows is written here anew.

mod change;
mod write;

use std::collections::{BTreeMap, HashMap};

use memcards::card::{Card, CardId, LinkKind, State, Track};
use memcards::filter::Filter;
use memcards::judge;
use memcards::{Include, Order, Outcome, Timestamp};

/// Where exact words are looked up: normalised text, track, category, turn.
type Words = (u128, Track, String, Option<(String, u32)>);

/// What a write is expected to answer; `None` stands for the identifier of a new card.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) id: Option<CardId>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) affected: Vec<(Option<CardId>, &'static str)>,
    /// Cards as they become, in the order in which they are logged.
    writes: Vec<Write>,
    register: bool,
    key: Option<String>,
}

#[derive(Debug)]
enum Write {
    Create(Box<Card>),
    Revise(Box<Card>),
    Touch(Box<Card>),
}

/// Which versions a read shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looking {
    pub(crate) include: Vec<Include>,
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) known_at: Option<Timestamp>,
}

/// One tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenant {
    /// All versions of each card, the current one last.
    pub(crate) cards: BTreeMap<CardId, Vec<Card>>,
    pub(crate) log: Vec<CardId>,
    vectors: HashMap<(CardId, u32), Vec<f32>>,
    words: HashMap<Words, CardId>,
    merge_keys: HashMap<String, CardId>,
    facts: HashMap<(String, String), CardId>,
    idempotency: HashMap<String, CardId>,
}

fn held(card: &Card, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate) && !card.is_expired(now)
}

fn words(card: &Card) -> Words {
    let event = card.source().and_then(|s| Some((s.session.clone()?, s.turn?)));
    (judge::normalized_hash(&card.content), card.track, card.category.clone(), event)
}

fn same_value(a: &str, b: &str) -> bool {
    judge::normalized_hash(a) == judge::normalized_hash(b)
}

fn fact_key(card: &Card) -> Option<(String, String)> {
    let fact = card.fact.as_ref()?;
    Some((fact.entity.trim().to_lowercase(), fact.attribute.trim().to_lowercase()))
}

/// A forgotten card gives its key away; a restored one takes it if nobody has it.
fn place<K: std::hash::Hash + Eq>(held: &mut HashMap<K, CardId>, key: K, card: &Card) {
    if card.state == State::Forgotten {
        if held.get(&key) == Some(&card.id) {
            held.remove(&key);
        }
    } else if card.reason.action == "restored" {
        held.entry(key).or_insert(card.id);
    }
}

impl Tenant {
    pub(crate) fn current(&self, id: CardId) -> Option<&Card> {
        self.cards.get(&id).and_then(|versions| versions.last())
    }

    fn vector(&self, card: &Card) -> Option<&Vec<f32>> {
        self.vectors.get(&(card.id, card.vector_version))
    }

    /// Carries out what was told; `new` is the identifier that the store gave a new card.
    pub(crate) fn carry_out(
        &mut self,
        told: Told,
        new: Option<CardId>,
        vector: Option<&Vec<f32>>,
        now: Timestamp,
    ) {
        let Told { id, writes, register, key, .. } = told;
        let answered = id.or(new);
        let mut main = None;
        for write in writes {
            let card = match write {
                Write::Create(mut card) => {
                    card.id = new.unwrap();
                    if card.vector_version > 0 {
                        // A correction that keeps the content keeps its vector.
                        let kept = card.links.first().and_then(|link| self.current(link.to));
                        let kept = kept.filter(|old| old.content == card.content);
                        let kept = kept.and_then(|old| self.vector(old)).cloned();
                        let vector = vector.cloned().or(kept).unwrap();
                        self.vectors.insert((card.id, 1), vector);
                    }
                    self.cards.insert(card.id, vec![(*card).clone()]);
                    card
                }
                Write::Revise(mut card) => {
                    let versions = self.cards.get_mut(&card.id).unwrap();
                    let present = &versions[versions.len() - 1];
                    card.version = present.version + 1;
                    card.updated_at = now.max(present.updated_at);
                    for link in &mut card.links {
                        if link.to == CardId::default() {
                            link.to = new.unwrap();
                        }
                    }
                    if card.vector_version == card.version {
                        self.vectors.insert((card.id, card.version), vector.unwrap().clone());
                    }
                    versions.push((*card).clone());
                    if let Some(key) = card.merge_key.clone() {
                        place(&mut self.merge_keys, key, &card);
                    }
                    if let Some(key) = fact_key(&card) {
                        place(&mut self.facts, key, &card);
                    }
                    if card.reason.action == "restored" {
                        self.words.insert(words(&card), card.id);
                    }
                    card
                }
                Write::Touch(card) => {
                    *self.cards.get_mut(&card.id).unwrap().last_mut().unwrap() = (*card).clone();
                    card
                }
            };
            self.log.push(card.id);
            main.get_or_insert(*card);
        }
        if let Some(card) =
            main.as_ref().filter(|card| !register && card.state == State::Superseded && card.version == 1)
        {
            self.words.insert(words(card), card.id);
        }
        if let Some(card) = main.filter(|_| register) {
            self.words.insert(words(&card), card.id);
            if let Some(key) = &card.merge_key {
                self.merge_keys.insert(key.clone(), card.id);
            }
            if let Some(key) = fact_key(&card) {
                self.facts.insert(key, card.id);
            }
        }
        if let (Some(key), Some(id)) = (key, answered) {
            self.idempotency.entry(key).or_insert(id);
        }
    }

    /// The version of a card that a view shows.
    pub(crate) fn shown(&self, id: CardId, view: &Looking, now: Timestamp) -> Option<&Card> {
        let versions = self.cards.get(&id)?;
        let card = match view.known_at {
            None => versions.last()?,
            Some(at) => versions.iter().rev().find(|card| card.updated_at <= at)?,
        };
        let forgotten = versions.last()?.state == State::Forgotten;
        if forgotten && !view.include.contains(&Include::Forgotten) {
            return None;
        }
        let wanted = match card.state {
            State::Active => true,
            State::Superseded if view.as_of.is_some() => true,
            state => view.include.iter().any(|include| include.state() == state),
        };
        let instant = view.as_of.or(view.known_at).unwrap_or(now);
        let holds = view.as_of.is_none_or(|at| {
            let begun = card.valid_from.unwrap_or(card.occurred_at) <= at;
            begun && card.valid_to.map_or(card.state != State::Superseded, |end| at < end)
        });
        (wanted && holds && card.expires_at.is_none_or(|end| instant < end)).then_some(card)
    }

    /// Every card that a view shows and a filter admits, by identifier.
    pub(crate) fn select(
        &self,
        view: &Looking,
        filter: Option<&Filter>,
        now: Timestamp,
    ) -> impl Iterator<Item = &Card> {
        self.cards
            .keys()
            .filter_map(move |id| self.shown(*id, view, now))
            .filter(move |card| filter.is_none_or(|filter| filter.matches_card(card)))
    }

    /// All of them in an order.
    pub(crate) fn list(
        &self,
        view: &Looking,
        filter: Option<&Filter>,
        order: Order,
        now: Timestamp,
    ) -> Vec<Card> {
        let mut cards: Vec<Card> = self.select(view, filter, now).cloned().collect();
        // By identifier first: sorting is stable.
        match order {
            Order::OldestFirst => {}
            Order::NewestFirst => cards.reverse(),
            Order::LatestEvent => cards.sort_by_key(|card| std::cmp::Reverse(card.occurred_at)),
            Order::EarliestEvent => cards.sort_by_key(|card| card.occurred_at),
            Order::LatestChange => cards.sort_by_key(|card| std::cmp::Reverse(card.updated_at)),
            Order::MostImportant => cards.sort_by(|a, b| b.importance.total_cmp(&a.importance)),
            Order::MostConfident => cards.sort_by(|a, b| b.confidence.total_cmp(&a.confidence)),
        }
        cards
    }

    /// All versions of a card and of those it replaced or was replaced by.
    pub(crate) fn history(&self, id: CardId, now: Timestamp) -> Option<Vec<Card>> {
        self.current(id).filter(|card| !card.is_expired(now))?;
        let mut family = vec![id];
        let mut at = 0;
        while at < family.len() {
            for link in &self.current(family[at])?.links {
                let succession = matches!(link.kind, LinkKind::Supersedes | LinkKind::SupersededBy);
                let there = self.current(link.to).is_some_and(|card| !card.is_expired(now));
                if succession && there && !family.contains(&link.to) {
                    family.push(link.to);
                }
            }
            at += 1;
        }
        let mut versions: Vec<Card> = family.iter().flat_map(|id| self.cards[id].clone()).collect();
        versions.sort_by_key(|card| (card.updated_at, card.id, card.version));
        Some(versions)
    }
}

fn link(card: &mut Card, to: CardId, kind: LinkKind) {
    let link = memcards::card::Link { to, kind };
    if !card.links.contains(&link) {
        card.links.push(link);
    }
}
