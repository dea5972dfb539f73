//! The model: one tenant's cards in plain maps, every rule as a scan.
//!
//! It asks the judge how two sentences relate and the filter what it admits; who is
//! compared with whom, what becomes of a card and what a read shows is written here anew.
//! Here is what it keeps and what its rules share; each kind of call has a file.

mod apply;
mod change;
mod read;
mod write;

use std::collections::{BTreeMap, HashMap};

use memcards::card::{Card, CardId, LinkKind, Provenance, Reason, State, Track};
use memcards::judge::{self, Relation};
use memcards::{Outcome, Timestamp};

pub(crate) use read::Looking;
pub(crate) use write::draft;

/// Where exact words are looked up: normalised text, track, category, and more of it.
type Words = (u128, Track, String, Detail);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Detail {
    Anybody,
    Turn(String, u32),
    Moment(Timestamp),
    Speaker(String),
}

/// A line of the log: the card, and the session in which something was stated, if it was.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    card: CardId,
    stated_in: Option<Option<String>>,
}

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

/// One tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenant {
    /// All versions of each card, the current one last.
    pub(crate) cards: BTreeMap<CardId, Vec<Card>>,
    pub(crate) log: Vec<Line>,
    /// Changes that are no line of the log: vectors that were made anew.
    pub(crate) embedded: u64,
    vectors: HashMap<(CardId, u32), Vec<f32>>,
    words: HashMap<Words, CardId>,
    merge_keys: HashMap<String, CardId>,
    facts: HashMap<(String, String), CardId>,
    idempotency: HashMap<String, CardId>,
}

impl Tenant {
    /// The number of the last change.
    pub(crate) fn sequence(&self) -> u64 {
        self.log.len() as u64 + self.embedded
    }

    /// How many versions have a vector of their own.
    pub(crate) fn own_vectors(&self) -> u64 {
        self.vectors.len() as u64
    }
}

fn held(card: &Card, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate) && !card.is_expired(now)
}

fn is_event(card: &Card) -> bool {
    card.track == Track::Episodic
        && card.source().is_some_and(|source| source.turn.is_some() || source.occurred_at.is_some())
}

/// The places of a card's words, the narrowest first.
fn words(card: &Card) -> Vec<Words> {
    let place = |detail| (judge::normalized_hash(&card.content), card.track, card.category.clone(), detail);
    let source = card.source().cloned().unwrap_or_default();
    match (is_event(card), source.turn, source.occurred_at, source.speaker) {
        (true, Some(turn), _, _) => vec![place(Detail::Turn(source.session.unwrap(), turn))],
        (true, None, Some(at), _) => vec![place(Detail::Moment(at)), place(Detail::Anybody)],
        (_, _, _, Some(speaker)) => vec![place(Detail::Speaker(speaker)), place(Detail::Anybody)],
        _ => vec![place(Detail::Anybody)],
    }
}

/// What a card states: a content that only points back does so with its summary.
fn statement(card: &Card) -> &str {
    match &card.summary {
        Some(summary) if judge::analyze(&card.content).refers_back() => summary,
        _ => &card.content,
    }
}

fn relate(card: &Card, new: &Card) -> Relation {
    match judge::relation(&judge::analyze(statement(card)), &judge::analyze(&new.content)) {
        Relation::Identical | Relation::Same if card.polarity != new.polarity => Relation::Opposite,
        Relation::Opposite if card.polarity != new.polarity => Relation::Different,
        other => other,
    }
}

fn same_value(a: &str, b: &str) -> bool {
    judge::normalized_hash(a) == judge::normalized_hash(b)
}

fn fact_key(card: &Card) -> Option<(String, String)> {
    let fact = card.fact.as_ref()?;
    Some((fact.entity.trim().to_lowercase(), fact.attribute.trim().to_lowercase()))
}

impl Tenant {
    pub(crate) fn current(&self, id: CardId) -> Option<&Card> {
        self.cards.get(&id).and_then(|versions| versions.last())
    }

    fn vector(&self, card: &Card) -> Option<&Vec<f32>> {
        self.vectors.get(&(card.id, card.vector_version))
    }

    fn compatible(new: &Card, known: &Card) -> bool {
        (new.merge_key.is_none() || known.merge_key.is_none() || new.merge_key == known.merge_key)
            && match (&new.fact, &known.fact) {
                (Some(a), Some(b)) => fact_key(new) == fact_key(known) && same_value(&a.value, &b.value),
                _ => true,
            }
    }

    /// Nothing says that the two are of different people or things.
    fn about_the_same(new: &Card, known: &Card) -> bool {
        let name = |card: &Card| card.source().and_then(|s| s.speaker.clone());
        let names_fit = match (name(new), name(known)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let apart = !new.entities.is_empty()
            && !known.entities.is_empty()
            && new.entities.iter().all(|entity| !known.entities.contains(entity));
        names_fit && !apart
    }
}

fn link(card: &mut Card, to: CardId, kind: LinkKind) {
    let link = memcards::card::Link { to, kind };
    if !card.links.contains(&link) {
        card.links.push(link);
    }
}

fn begins(card: &Card) -> Timestamp {
    card.valid_from.unwrap_or(card.occurred_at)
}

fn supersede(mut old: Card, new: &Card, overturned: bool) -> Card {
    old.state = State::Superseded;
    link(&mut old, CardId::default(), LinkKind::SupersededBy);
    let end = new.valid_from.unwrap_or(new.occurred_at);
    if old.valid_to.is_none_or(|held| held > end) {
        let begins = old.valid_from.unwrap_or(old.occurred_at);
        old.valid_to = if end > begins { Some(end) } else { None };
    }
    if overturned {
        old.provenance = Provenance::Overturned;
        old.confidence = Provenance::Overturned.confidence();
    }
    old.reason = Reason { action: "superseded".into(), ..new.reason.clone() };
    old
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
