//! What the card looks like that sums several up.

use std::collections::{BTreeMap, BTreeSet};

use crate::Result;
use crate::card::{
    CONSOLIDATION, Card, CardId, Limits, Link, LinkKind, Polarity, Provenance, Reason, STATED_CONFIDENCE,
    State, Track, category,
};
use crate::forget::contradictions::differ_in_time;
use crate::index::partition::statement;
use crate::judge::{self, Analysis, Relation};
use crate::learn::{SOURCES_MAX, relation_of};

/// Sources that a card is linked to: the newest ones.
const LINKS: usize = 32;
/// Bytes of a summary of several statements.
const LONGEST: usize = 500;
/// Bytes that the day of a statement may take.
const DAY: usize = " (2025-03-10)".len();

/// What the cards of a cluster have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// They state the same.
    Same,
    /// They are about the same.
    About,
}

/// A card that is to be made or brought up to date.
pub(super) struct Summary {
    pub(super) card: Card,
    /// Identifies its sources as they are.
    pub(super) sources_mark: u64,
    /// The source told last.
    pub(super) newest: Card,
}

/// The card of a cluster; `None` when the present one says it all, or there is nothing to say.
/// `withdrawn`: one of its sources may not be spoken of any more.
pub(super) fn summarize(
    kind: Kind,
    key: String,
    mut sources: Vec<Card>,
    (present, withdrawn): (Option<&Card>, bool),
    mark: impl Fn(&[CardId]) -> Result<Option<u64>>,
) -> Result<Option<Summary>> {
    sources.sort_by_key(|card| std::cmp::Reverse((card.occurred_at, card.recorded_at, card.id)));
    let Some(newest) = sources.first().cloned() else { return Ok(None) };
    let Some(content) = content(kind, &sources, present.filter(|_| !withdrawn)) else { return Ok(None) };
    let links: Vec<CardId> = sources.iter().take(LINKS).map(|source| source.id).collect();
    let mentions = sources.iter().fold(0, |sum: u32, source| sum.saturating_add(source.mention_count));
    if let Some(present) = present {
        let known: BTreeSet<CardId> = super::apply::sources_of(present).into_iter().collect();
        let more = links.iter().any(|id| !known.contains(id)) || mentions > present.mention_count;
        if !withdrawn && !more && present.content == content {
            return Ok(None);
        }
    }
    let mut card = match present {
        Some(present) => present.clone(),
        None => blank(kind, key, &newest),
    };
    card.content = content;
    card.links.retain(|link| link.kind != LinkKind::Related);
    card.links.extend(links.iter().map(|id| Link { to: *id, kind: LinkKind::Related }));
    evidence(&mut card, &sources, mentions, withdrawn);
    details(kind, &mut card, &sources, &newest);
    Ok(mark(&links)?.map(|sources_mark| Summary { card, sources_mark, newest }))
}

/// A card that says nothing yet.
fn blank(kind: Kind, key: String, newest: &Card) -> Card {
    Card {
        track: Track::Semantic,
        category: match kind {
            Kind::About => category::KNOWLEDGE.into(),
            Kind::Same => category::PREFERENCE.into(),
        },
        merge_key: Some(key),
        extractor: Some(CONSOLIDATION.into()),
        summary: None,
        entities: vec![],
        mentions: vec![],
        times: vec![],
        tags: vec![],
        attributes: serde_json::Map::new(),
        links: vec![],
        sources: vec![],
        journal: None,
        last_accessed_at: None,
        reinforced_at: None,
        access_count: 0,
        mention_count: 0,
        valid_from: None,
        valid_to: None,
        importance: 0.0,
        confidence: 0.0,
        provenance: Provenance::Stated,
        pinned: false,
        state: State::Active,
        state_before: None,
        vector_version: 0,
        reason: Reason::default(),
        ..newest.clone()
    }
}

/// Mentions, sources, confidence, times of use: what the sources have together.
fn evidence(card: &mut Card, sources: &[Card], mentions: u32, withdrawn: bool) {
    // It may have been told in the very words of the summary as well.
    card.mention_count = if withdrawn { mentions } else { card.mention_count.max(mentions) };
    if withdrawn {
        card.sources.clear();
    }
    for source in sources.iter().rev().flat_map(|source| &source.sources) {
        if !card.sources.contains(source) {
            card.sources.push(source.clone());
        }
    }
    if card.sources.len() > SOURCES_MAX {
        // The first one tells whose card it is.
        card.sources.drain(1..=card.sources.len() - SOURCES_MAX);
    }
    let strongest = sources.iter().rev().max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    match strongest.filter(|source| source.confidence >= STATED_CONFIDENCE) {
        Some(source) if source.confidence > card.confidence => {
            (card.confidence, card.provenance) = (source.confidence, source.provenance);
        }
        None if card.confidence < STATED_CONFIDENCE => {
            (card.confidence, card.provenance) = (STATED_CONFIDENCE, Provenance::Stated);
        }
        _ => {}
    }
    if card.state == State::Candidate {
        card.state = State::Active;
    }
    card.importance = sources.iter().map(|source| source.importance).fold(card.importance, f32::max);
    if let Some(reference) = sources.iter().map(Card::reference).max() {
        card.reinforce(reference);
    }
    // What was told for a time only is not kept beyond it by being summed up.
    card.expires_at = match sources.iter().all(|source| source.expires_at.is_some()) {
        true => sources.iter().filter_map(|source| source.expires_at).max(),
        false => None,
    };
}

/// Category, names, fact: what the newest source says, and what all of them name.
fn details(kind: Kind, card: &mut Card, sources: &[Card], newest: &Card) {
    let limits = Limits::default();
    (card.entities, card.tags, card.mentions) = (vec![], vec![], vec![]);
    for source in sources {
        for (mine, theirs) in [(&mut card.entities, &source.entities), (&mut card.tags, &source.tags)] {
            for name in theirs {
                if !mine.contains(name) && mine.len() < limits.list_items {
                    mine.push(name.clone());
                }
            }
        }
        for mention in &source.mentions {
            if card.mentions.len() < 32
                && card.content.contains(&mention.name)
                && !card.mentions.contains(mention)
            {
                card.mentions.push(mention.clone());
            }
        }
    }
    (card.occurred_at, card.polarity) = (newest.occurred_at, newest.polarity);
    if kind == Kind::About {
        // The times that several texts name are those of each, which the sources have.
        (card.fact, card.summary, card.times) = (None, None, vec![]);
        return;
    }
    (card.fact, card.summary) = (newest.fact.clone(), newest.summary.clone());
    card.times = if card.content == newest.content { newest.times.clone() } else { card.times.clone() };
    let is = |name: &str| sources.iter().any(|source| source.category == name);
    let profile = is(category::PROFILE) || card.fact.is_some();
    card.category = match profile && !is(category::PREFERENCE) {
        true => category::PROFILE.into(),
        false => category::PREFERENCE.into(),
    };
}

/// The words of the card: those of its sources, the newest first.
fn content(kind: Kind, sources: &[Card], present: Option<&Card>) -> Option<String> {
    let newest = sources.first()?;
    let wanted = match kind {
        Kind::Same => newest.content.clone(),
        Kind::About => list(sources)?,
    };
    match present {
        // It was told in other words since: these are the newest.
        Some(present)
            if sources.iter().all(|source| source.content != present.content)
                && newest.recorded_at <= present.updated_at
                && states_the_same(present, newest) =>
        {
            Some(present.content.clone())
        }
        _ => Some(wanted),
    }
}

/// The day from which on a card holds, or on which it happened.
fn day(card: &Card) -> String {
    card.start().to_string().chars().take_while(|c| *c != 'T').collect()
}

fn states_the_same(a: &Card, b: &Card) -> bool {
    let (mine, theirs) = (judge::analyze(statement(a)), judge::analyze(statement(b)));
    matches!(relation_of((&mine, a.polarity), (&theirs, b.polarity)), Relation::Identical | Relation::Same)
}

/// The distinct statements, each on a line, with its day where another one says otherwise, as far as there is room: whole ones, so that no
/// name, number, date or "not" is cut off. What rules something out finds room first.
fn list(sources: &[Card]) -> Option<String> {
    let mut distinct: Vec<&Card> = Vec::new();
    let mut seen = BTreeSet::new();
    for source in sources {
        if seen.insert(judge::analyze(statement(source)).statement_hash()) {
            distinct.push(source);
        }
    }
    let excludes =
        |card: &Card| card.polarity == Polarity::Excluded || judge::excluded_object(&card.content).is_some();
    let (first, then): (Vec<&Card>, Vec<&Card>) = distinct.iter().copied().partition(|card| excludes(card));
    let mut room = LONGEST;
    let mut kept: BTreeMap<CardId, Analysis> = BTreeMap::new();
    for card in first.into_iter().chain(then) {
        let length = card.content.trim().len() + DAY + usize::from(!kept.is_empty());
        if length <= room {
            room -= length;
            kept.insert(card.id, judge::analyze(statement(card)));
        }
    }
    distinct.retain(|card| kept.contains_key(&card.id));
    // What held at different times must not stand side by side as if it held at once.
    let read = |card: &Card| kept.get(&card.id);
    let changes = |card: &Card, analysis: &Analysis| {
        let others = distinct.iter().filter(|other| other.id != card.id);
        others
            .filter_map(|other| Some((*other, read(other)?)))
            .any(|other| differ_in_time(other, (card, analysis)))
    };
    let line = |card: &&Card| match read(card).is_some_and(|analysis| changes(card, analysis)) {
        true => format!("{} ({})", card.content.trim(), day(card)),
        false => card.content.trim().to_owned(),
    };
    let lines: Vec<String> = distinct.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
