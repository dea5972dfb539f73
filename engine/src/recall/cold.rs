//! Cold cards that may answer a question.
//!
//! Segments are asked by words and by codes of vectors; the best of all of them are read and
//! laid out as partitions for the length of the question, so that the same code judges them as
//! every other card. What words weigh is counted over all cards, cold ones included: the
//! segments know how many have each.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::Result;
use crate::card::{Card, CardId, State, Track};
use crate::cold::ColdQuery;
use crate::engine::Tenant;
use crate::index::cache::{Slot, SlotRef};
use crate::index::partition::{Partition, Update};
use crate::index::text::{QueryTerms, Role, Statistics, analyze_query};
use crate::recall::View;
use crate::recall::relations::{slots, spelling};
use crate::recall::times::Times;
use crate::store::{ChangeKind, ReadBytes, Stored, Tables, TenantId};
use crate::verbs::Recall;

/// Candidates by words, and as many by meaning, where these are all that can be asked for.
pub(super) const KEPT: usize = 40;
/// The same where conditions may leave most of them out.
pub(super) const KEPT_MOST: usize = 4_096;
/// Postings that are read of one segment.
const POSTINGS: usize = 1_000_000;
/// A quarter of an hour, in microseconds: no zone's day begins inside of one.
const STRETCH: i64 = 900_000_000;
/// Cold cards that are laid out for what is asked by name.
const NAMED_MOST: usize = 10_000;
/// How often it is asked again because cards became cold meanwhile.
const TRIES: usize = 3;

/// Cold cards, laid out.
pub(super) struct Found {
    /// A partition of each track that has some.
    pub(super) slots: Vec<SlotRef>,
    pub(super) tracks: Vec<Track>,
    /// What is counted over all cold cards.
    pub(super) counted: Counted,
    /// True when there are no others.
    pub(super) complete: bool,
    /// The segments that were asked.
    pub(super) numbers: Vec<u64>,
}

/// The numbers of a tenant's segments.
pub(super) fn numbers(tenant: &Tenant, id: TenantId) -> Result<Vec<u64>> {
    let segments = tenant.store().database().read()?.segments(id)?;
    Ok(segments.into_iter().map(|(number, _)| number).collect())
}

/// What BM25 has to know of cold cards.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    documents: u64,
    length: u64,
    frequencies: Vec<u32>,
}

impl Counted {
    /// Adds the counts to those of other cards. What stands beside a cold card in its
    /// conversation is not asked, so that its window is the card itself.
    pub(super) fn add_to(&self, statistics: &mut Statistics) {
        statistics.documents += self.documents;
        statistics.total_length += self.length;
        statistics.total_window_length += self.length;
        if statistics.document_frequency.len() < self.frequencies.len() {
            statistics.document_frequency.resize(self.frequencies.len(), 0);
        }
        for (sum, frequency) in statistics.document_frequency.iter_mut().zip(&self.frequencies) {
            *sum = sum.saturating_add(*frequency);
        }
    }
}

/// A candidate: its segment, its position, and how good it is by words and by meaning.
#[derive(Clone, Copy)]
struct Candidate {
    segment: usize,
    position: u32,
    text: f32,
    meaning: f32,
    dated: bool,
}

/// What a question asks of cold cards.
pub(super) struct Asked<'a> {
    pub(super) terms: &'a QueryTerms,
    pub(super) vector: Option<&'a [f32]>,
    pub(super) times: &'a Times,
}

/// True when a view may show cold cards: they are archived, and what they were before.
pub(super) fn concerns(view: &View) -> bool {
    view.known_at().is_some() || view.wants(State::Archived)
}

/// The candidates among a tenant's cold cards; `None` when there are no cold cards.
pub(super) fn find(
    tenant: &Tenant,
    id: TenantId,
    request: &Recall,
    view: &View,
    Asked { terms, vector, times }: &Asked<'_>,
    keep: usize,
) -> Result<Option<Found>> {
    let database = tenant.store().database();
    let tables = database.read()?;
    let listed = tables.segments(id)?;
    if listed.is_empty() {
        return Ok(None);
    }
    let numbers = listed.iter().map(|(number, _)| *number).collect();
    let mut segments = Vec::with_capacity(listed.len());
    for (number, listed) in listed {
        let key = (id, number);
        segments.push((key, database.cold().segment(key)?, tables.left_of(key, &listed)?, listed));
    }
    let mut counted = Counted { frequencies: vec![0; terms.terms().len()], ..Counted::default() };
    for (key, segment, _, listed) in &segments {
        // Cards that have left are counted where they are now; which words they had is not known
        // without reading them, so they are taken to be like the others.
        let (cards, left) = (u64::from(listed.cards.max(1)), u64::from(listed.dead));
        let staying = |count: u64| (count * cards.saturating_sub(left)).div_ceil(cards);
        counted.documents += staying(u64::from(segment.documents()));
        counted.length += staying(segment.total_length());
        for (term, sum) in terms.terms().iter().zip(&mut counted.frequencies) {
            let frequency = segment.document_frequency(&term.text);
            let frequency = frequency.map_err(|error| database.cold().damaged(*key, error))?;
            *sum += staying(u64::from(frequency)) as u32;
        }
    }
    let mut statistics = Statistics::default();
    counted.add_to(&mut statistics);
    let weighted: Vec<(&str, f32)> = terms
        .terms()
        .iter()
        .enumerate()
        .map(|(at, term)| (term.text.as_str(), term.weight * statistics.idf(at)))
        .collect();
    let tracks = match request.tracks.is_empty() {
        true => u32::MAX,
        false => request.tracks.iter().fold(0, |mask, track| mask | 1 << track.number()),
    };
    let since = request.since.map_or(i64::MIN, |at| at.as_micros());
    let until = request.until.map_or(i64::MAX, |at| at.as_micros());
    // Neighbours happened about the same time: most are in the stretch that was looked at last.
    let last = Cell::new((i64::MIN, false));
    let is_dated = |micros: i64| {
        let stretch = micros.div_euclid(STRETCH);
        if last.get().0 != stretch {
            last.set((stretch, times.contain(micros)));
        }
        last.get().1
    };
    let mut candidates = Vec::new();
    let mut available = 0u64;
    for (at, (key, segment, left, listed)) in segments.iter().enumerate() {
        available += u64::from(listed.cards.saturating_sub(listed.dead));
        let dated = request.since.is_some() || request.until.is_some();
        let skip = |position: u32| {
            left.binary_search(&position).is_ok()
                || dated
                    && segment
                        .occurred_at(position)
                        .is_ok_and(|occurred| occurred < since || occurred >= until)
        };
        let usable = |vector: &&[f32]| {
            listed.generation == tables.generation() && vector.len() == segment.dimension() as usize
        };
        let found = segment.search(&ColdQuery {
            terms: &weighted,
            vector: vector.filter(usable),
            dated: (!times.is_empty()).then_some(&is_dated),
            average_length: (counted.length as f32 / counted.documents.max(1) as f32).max(1.0),
            tracks,
            skip: &skip,
            keep,
            postings: POSTINGS,
        });
        let found = found.map_err(|error| database.cold().damaged(*key, error))?;
        candidates.extend(found.iter().map(|found| Candidate {
            segment: at,
            position: found.position,
            text: found.text,
            meaning: found.cosine_estimate,
            dated: !times.is_empty() && segment.occurred_at(found.position).is_ok_and(is_dated),
        }));
    }
    let complete = candidates.len() as u64 >= available;
    let mut chosen: BTreeMap<(usize, u32), Vec<Stored>> = BTreeMap::new();
    let read = |(segment, position): (usize, u32)| -> Result<Option<Vec<Stored>>> {
        let (key, open, ..) = &segments[segment];
        let card = open.id(position).map_err(|error| database.cold().damaged(*key, error))?;
        let card = CardId::from_bytes(card);
        // It may have come back, or stand in another segment by now.
        let stub = tables.stub(id, card)?;
        match stub.is_some_and(|stub| (stub.segment, stub.position) == (key.1, position)) {
            true => versions(&tables, id, card, view).map(Some),
            false => Ok(None),
        }
    };
    for Candidate { segment, position, .. } in best(candidates, keep) {
        if !chosen.contains_key(&(segment, position))
            && let Some(found) = read((segment, position))?
        {
            let turn = found.last().and_then(|(card, _)| turn_of(card));
            chosen.insert((segment, position), found);
            let Some(turn) = turn.filter(|_| keep < KEPT_MOST) else { continue };
            // What was said before and after was recorded before and after, as a rule.
            for beside in [position.checked_sub(1), position.checked_add(1)].into_iter().flatten() {
                let place = (segment, beside);
                let there = beside < segments[segment].1.len() && !chosen.contains_key(&place);
                if there
                    && let Some(found) = read(place)?
                    && found
                        .last()
                        .and_then(|(card, _)| turn_of(card))
                        .is_some_and(|(session, number)| session == turn.0 && number.abs_diff(turn.1) == 1)
                {
                    chosen.insert(place, found);
                }
            }
        }
    }
    let mut partitions: Vec<(Track, Partition)> = Vec::new();
    for found in chosen.into_values() {
        lay_out(&tables, id, found, &mut partitions)?;
    }
    let (tracks, slots) =
        partitions.into_iter().map(|(track, partition)| (track, SlotRef::new(Slot::of(partition)))).unzip();
    Ok(Some(Found { slots, tracks, counted, complete, numbers }))
}

/// The best of all segments by words, by meaning and by date, in order of their places.
fn best(mut candidates: Vec<Candidate>, keep: usize) -> Vec<Candidate> {
    let place = |candidate: &Candidate| (candidate.segment, candidate.position);
    let mut chosen = BTreeSet::new();
    // Of those that happened at the time asked for, the ones with the best words; others follow.
    let by_date = |c: &Candidate| if c.dated { c.text + f32::MIN_POSITIVE } else { 0.0 };
    for by in [|c: &Candidate| c.text, |c: &Candidate| c.meaning, by_date] {
        candidates.sort_by(|a, b| by(b).total_cmp(&by(a)).then(place(a).cmp(&place(b))));
        chosen.extend(candidates.iter().filter(|c| by(c) > 0.0).take(keep).map(place));
    }
    candidates.retain(|candidate| chosen.contains(&place(candidate)));
    candidates.sort_by_key(place);
    candidates
}

/// The versions of a card that a view may show, oldest first.
fn versions<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    id: CardId,
    view: &View,
) -> Result<Vec<Stored>> {
    let mut versions = match view.known_at() {
        Some(_) => tables.stored_earlier(tenant, id)?,
        None => vec![],
    };
    versions.extend(tables.stored(tenant, id)?);
    Ok(versions)
}

/// Session and turn in which a card was told.
fn turn_of(card: &Card) -> Option<(String, u32)> {
    let source = card.source()?;
    Some((source.session.clone()?, source.turn?))
}

/// Puts versions of a card into the partition of its track.
fn lay_out<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    versions: Vec<Stored>,
    partitions: &mut Vec<(Track, Partition)>,
) -> Result<()> {
    for stored in versions {
        let (card, vector) = tables.vector_of(tenant, stored)?;
        let at = match partitions.iter().position(|(track, _)| *track == card.track) {
            Some(at) => at,
            None => {
                partitions.push((card.track, Partition::default()));
                partitions.len() - 1
            }
        };
        let partition = &mut partitions[at].1;
        let sequence = partition.applied().0 + 1;
        partition.apply(&Update {
            sequence,
            checksum: 0,
            kind: ChangeKind::Version,
            card: Arc::new(card),
            vector: vector.map(Arc::from),
            prepared: None,
        })?;
    }
    Ok(())
}

/// Reads what is known by name over the partitions of a tenant and, where the view may show them,
/// over the cold cards that have one of the names. `work` gives its answer and the keys of all
/// names that it has met; it is called again while cold cards bring more in.
///
/// `None` where there is no such tenant.
pub(super) fn by_name<A>(
    tenant: &Tenant,
    view: &View,
    work: impl Fn(&[Arc<Slot>]) -> Result<(A, Vec<String>)>,
) -> Result<Option<A>> {
    let Some(id) = tenant.id()? else { return Ok(None) };
    let mut tries = 0;
    loop {
        let Some(mut all) = slots(tenant)? else { return Ok(None) };
        if !concerns(view) {
            return work(&all).map(|(answer, _)| Some(answer));
        }
        let before = numbers(tenant, id)?;
        let (mut asked, mut laid) = (HashSet::new(), HashSet::new());
        let answer = loop {
            let (answer, keys) = work(&all)?;
            let new: Vec<String> = keys.into_iter().filter(|key| asked.insert(key.clone())).collect();
            let found = named(tenant, id, view, &new, &mut laid)?;
            if found.is_empty() {
                break answer;
            }
            all.extend(found);
        };
        tries += 1;
        if tries >= TRIES || numbers(tenant, id)? == before {
            return Ok(Some(answer));
        }
    }
}

/// The cold cards in which one of some names stands, laid out; those of `laid` are already.
fn named(
    tenant: &Tenant,
    id: TenantId,
    view: &View,
    keys: &[String],
    laid: &mut HashSet<CardId>,
) -> Result<Vec<Arc<Slot>>> {
    let tables = tenant.store().database().read()?;
    let mut partitions: Vec<(Track, Partition)> = Vec::new();
    for key in keys {
        for card in with_words(tenant, &tables, id, key)? {
            if laid.len() >= NAMED_MOST {
                break;
            }
            if laid.contains(&card) {
                continue;
            }
            let found = versions(&tables, id, card, view)?;
            if found.iter().any(|(version, _)| spelling(version, key).is_some()) {
                laid.insert(card);
                lay_out(&tables, id, found, &mut partitions)?;
            }
        }
    }
    Ok(partitions.into_iter().map(|(_, partition)| Arc::new(Slot::of(partition))).collect())
}

/// Cold cards whose words, of whatever version, include the rarest term of a text.
pub(super) fn with_words<T: ReadBytes>(
    tenant: &Tenant,
    tables: &Tables<T>,
    id: TenantId,
    text: &str,
) -> Result<Vec<CardId>> {
    let database = tenant.store().database();
    let terms = analyze_query(text);
    let terms: Vec<&str> = terms
        .terms()
        .iter()
        .filter(|term| term.role != Role::Secondary)
        .map(|term| term.text.as_str())
        .collect();
    let mut found = Vec::new();
    for (number, _) in tables.segments(id)? {
        let key = (id, number);
        let segment = database.cold().segment(key)?;
        let damaged = |error| database.cold().damaged(key, error);
        let mut rarest: Option<(u32, &str)> = None;
        for term in &terms {
            let frequency = segment.document_frequency(term).map_err(damaged)?;
            if rarest.is_none_or(|(least, _)| frequency < least) {
                rarest = Some((frequency, term));
            }
        }
        let positions: Vec<u32> = match rarest {
            Some((0, _)) => continue,
            Some((_, term)) => {
                let query = ColdQuery { terms: &[(term, 1.0)], ..ColdQuery::new(segment.len() as usize) };
                let found = segment.search(&query).map_err(damaged)?;
                found.iter().map(|candidate| candidate.position).collect()
            }
            // A name that is a function word as well: every card is looked into.
            None => (0..segment.len()).collect(),
        };
        for position in positions {
            let card = CardId::from_bytes(segment.id(position).map_err(damaged)?);
            let stub = tables.stub(id, card)?;
            if stub.is_some_and(|stub| (stub.segment, stub.position) == (number, position)) {
                found.push(card);
            }
        }
    }
    Ok(found)
}
