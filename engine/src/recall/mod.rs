//! Finding the few cards that answer a question, and reading cards in general.
//!
//! question → partitions → legs → one score with parts → conflicts → threshold → cards.
//! Every condition of the request is applied before scoring, so that `k` cards that
//! satisfy it and match give `k` hits. This room reads store and indexes; it never writes.

mod fuse;
mod question;
pub(crate) mod read;
mod settings;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::MappedRwLockReadGuard;

use crate::card::{Card, CardId, LinkKind, State, Track};
use crate::engine::Tenant;
use crate::filter::Filter;
use crate::index::cache::Slot;
use crate::index::partition::{Hot, Partition, Row};
use crate::index::rows::RowSet;
use crate::store::{ReadBytes, Tables, TenantId};
use crate::time::Timestamp;
use crate::verbs::{CardView, Hit, Include, Recall, Recalled, Searched};
use crate::{Error, Result};

pub use fuse::Parts;
pub use settings::{Settings, Weights};

use fuse::{Scorer, Search};
use question::Question;

/// Hits when the request does not say.
const TOP: usize = 5;

/// Which versions a read may return, apart from filters.
#[derive(Clone, Debug)]
pub(crate) struct View {
    states: Vec<State>,
    /// Versions as recorded at this instant; the current ones when absent.
    known_at: Option<Timestamp>,
    /// Cards whose content was true at this instant.
    as_of: Option<Timestamp>,
    /// Whether cards are shown before their time has come and after it.
    any_time: bool,
    /// The instant at which expiry is judged.
    pub(crate) instant: Timestamp,
}

impl View {
    pub(crate) fn new(
        include: &[Include],
        as_of: Option<Timestamp>,
        known_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let mut states = vec![State::Active];
        states.extend(include.iter().map(|include| include.state()));
        // What is superseded today may have been true then.
        if as_of.is_some() && !states.contains(&State::Superseded) {
            states.push(State::Superseded);
        }
        Self { states, known_at, as_of, any_time: false, instant: as_of.or(known_at).unwrap_or(now) }
    }

    /// The same view without regard to validity: for cards that are named, not asked for.
    pub(crate) fn at_any_time(self) -> Self {
        Self { any_time: true, ..self }
    }

    /// True when cards of this state are wanted.
    pub(crate) fn wants(&self, state: State) -> bool {
        self.states.contains(&state)
    }

    /// The versions as of which the read is made.
    pub(crate) fn known_at(&self) -> Option<Timestamp> {
        self.known_at
    }

    /// True when the card, in the version at hand, may be returned.
    pub(crate) fn shows(&self, card: &Card) -> bool {
        self.wants(card.state) && !card.is_expired(self.instant) && self.holds(card)
    }

    /// True when the content was true at the instant asked for. What was replaced before it
    /// began has no end, and was never true.
    fn holds(&self, card: &Card) -> bool {
        match self.as_of {
            Some(at) => {
                card.valid_from.unwrap_or(card.occurred_at) <= at
                    && card.valid_to.map_or(card.state != State::Superseded, |end| at < end)
            }
            // Of two cards of which one takes the other's place at a given time, the one whose
            // time it is.
            None => {
                self.any_time
                    || card.links.iter().all(|link| match link.kind {
                        LinkKind::Succeeds => card.valid_from.is_none_or(|from| from <= self.instant),
                        LinkKind::SucceededBy => card.valid_to.is_none_or(|end| self.instant < end),
                        _ => true,
                    })
            }
        }
    }

    /// The same decision from what a partition keeps at hand.
    fn shows_row(&self, hot: &Hot, row: &Row) -> bool {
        let present = match self.known_at {
            None => hot.until == Timestamp::MAX.as_micros(),
            Some(at) => hot.from <= at.as_micros() && at.as_micros() < hot.until,
        };
        present
            && hot.expires > self.instant.as_micros()
            && self.wants(hot.state)
            && ((self.as_of.is_none() && !hot.scheduled) || self.holds(&row.card))
    }
}

/// Conditions beside the view that every hit satisfies.
struct Conditions<'a> {
    request: &'a Recall,
    /// The filter, when attributes alone decide it.
    filter: Option<&'a Filter>,
}

impl Conditions<'_> {
    fn any(&self) -> bool {
        let request = self.request;
        self.filter.is_some()
            || !request.categories.is_empty()
            || !request.entities.is_empty()
            || request.since.is_some()
            || request.until.is_some()
    }

    fn admit(&self, card: &Card) -> bool {
        let request = self.request;
        (request.categories.is_empty() || request.categories.contains(&card.category))
            && (request.entities.is_empty()
                || request.entities.iter().any(|entity| card.entities.contains(entity)))
            && request.since.is_none_or(|since| card.occurred_at >= since)
            && request.until.is_none_or(|until| card.occurred_at < until)
            && self.filter.is_none_or(|filter| filter.matches(card))
    }
}

/// A scored row on its way to become a hit.
#[derive(Clone, Copy)]
struct Candidate {
    score: f32,
    relevance: f32,
    /// What [`settle`] added to the score.
    settled: f32,
    recorded: Timestamp,
    id: CardId,
    version: u32,
    partition: usize,
    row: u32,
}

/// Best first: score, then newer, then identifier.
fn best_first(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score).then(b.recorded.cmp(&a.recorded)).then(b.id.cmp(&a.id))
}

/// Answers a question; see [`Tenant::recall`].
pub(crate) fn run(tenant: &Tenant, request: Recall, now: Timestamp) -> Result<Recalled> {
    let top = check(tenant, &request)?;
    let weights = tenant.recall_settings().weights(request.preset.as_deref(), request.weights.as_ref())?;
    let view = View::new(&request.include, request.as_of, request.known_at, now);
    let mut answer = Recalled { hits: vec![], searched: Searched::default(), degraded: vec![] };
    let Some(id) = tenant.id()? else { return Ok(answer) };
    // Each once: a thread must not lock a partition twice.
    let wanted = |track: &Track| request.tracks.is_empty() || request.tracks.contains(track);
    let tracks: Vec<Track> = Track::ALL.iter().copied().filter(wanted).collect();
    let slots = tracks
        .iter()
        .map(|track| tenant.store().cache().partition(tenant.store().database(), id, *track))
        .collect::<Result<Vec<_>>>()?;
    answer.searched.tracks = tracks;

    let (question, rows_shown, position) = {
        let guards = read_all(&slots)?;
        let partitions: Vec<&Partition> = guards.iter().map(|guard| &**guard).collect();
        let shown = all_shown(&partitions, &view);
        let question = Question::read(request.query.as_deref().unwrap_or(""), &partitions, &shown);
        (question, shown, applied(&partitions))
    };
    // An embedder may take its time: the writer must not wait for it.
    let (vector, degraded) =
        tenant.embed_query(question.has_terms().then_some(question.words()), request.vector.as_deref())?;
    answer.degraded = degraded;
    answer.searched.terms = question.terms();
    answer.searched.speakers = question.speakers();
    if question.has_keywords() {
        answer.searched.legs.push("text");
    }
    if vector.is_some() {
        answer.searched.legs.push("vector");
    }
    if answer.searched.legs.is_empty() {
        return Ok(answer);
    }

    let (candidates, parts, limit) = {
        let guards = read_all(&slots)?;
        let partitions: Vec<&Partition> = guards.iter().map(|guard| &**guard).collect();
        // What was written meanwhile is searched too.
        let shown = match applied(&partitions) == position {
            true => rows_shown,
            false => all_shown(&partitions, &view),
        };
        let attributes_decide = request.filter.as_ref().filter(|filter| !filter.needs_text());
        let conditions = Conditions { request: &request, filter: attributes_decide };
        // A threshold keeps noise out of an open question. Conditions and a vector say
        // which cards are wanted: then nothing that satisfies them is left out.
        let least = match request.min_score {
            Some(least) => least,
            None if conditions.any() || request.filter.is_some() || request.vector.is_some() => 0.0,
            None => tenant.recall_settings().min_score,
        };
        let search = Search {
            partitions: &partitions,
            shown: &shown,
            question: &question,
            vector: vector.as_deref(),
            caller_vector: request.vector.is_some(),
            weights: &weights,
            half_lives: tenant.recall_settings(),
            instant: view.instant,
        };
        let scorer = Scorer::new(&search);
        let mut candidates = Vec::new();
        for (number, partition) in partitions.iter().enumerate() {
            for row in shown[number].iter() {
                let card = &partition.row(row).card;
                if conditions.any() && !conditions.admit(card) {
                    continue;
                }
                answer.searched.candidates += 1;
                // Whether a card that contradicts another one is wanted is settled below.
                let floor = if partition.hot()[row as usize].contradicts { 0.0 } else { least };
                if let Some((relevance, score)) = scorer.score(number, row, floor) {
                    candidates.push(Candidate {
                        score,
                        relevance,
                        settled: 0.0,
                        recorded: card.recorded_at,
                        id: card.id,
                        version: card.version,
                        partition: number,
                        row,
                    });
                }
            }
        }
        settle(&mut candidates, &partitions);
        candidates.retain(|candidate| candidate.relevance >= least);
        // A filter on the text needs the cards themselves: then any candidate may be asked.
        let spare = if request.filter.is_some() && attributes_decide.is_none() { usize::MAX } else { 16 };
        let limit = top.saturating_add(spare).min(candidates.len());
        if limit < candidates.len() {
            candidates.select_nth_unstable_by(limit, best_first);
        }
        candidates[..limit].sort_by(best_first);
        let parts: Vec<Option<Parts>> = match request.explain {
            true => candidates[..limit]
                .iter()
                .map(|c| Some(Parts { settled: c.settled, ..scorer.parts(c.partition, c.row) }))
                .collect(),
            false => vec![None; limit],
        };
        (candidates, parts, limit)
    };

    // The indexes are released: what changes from here on is seen in the store.
    let tables = tenant.store().database().read()?;
    let reader = Reader { tables: &tables, tenant: id, view: &view, filter: request.filter.as_ref() };
    let mut hits = reader.collect(&candidates[..limit], &parts, top)?;
    if hits.len() < top && limit < candidates.len() {
        // Only when cards vanished between index and store: go through all of the rest.
        let mut rest = candidates[limit..].to_vec();
        rest.sort_by(best_first);
        let no_parts = vec![None; rest.len()];
        hits.extend(reader.collect(&rest, &no_parts, top - hits.len())?);
    }
    answer.hits = hits;
    Ok(answer)
}

/// Checks a request; gives how many hits are wanted.
fn check(tenant: &Tenant, request: &Recall) -> Result<usize> {
    let limits = tenant.store().limits();
    match (&request.query, &request.vector) {
        (None, None) => return Err(Error::invalid("query", "give a query, a vector, or both")),
        (Some(query), _) => crate::card::Limits::bytes("query", query, limits.query_bytes)?,
        (None, Some(_)) => {}
    }
    for (field, names) in [("categories", &request.categories), ("entities", &request.entities)] {
        for name in names {
            limits.name(field, name)?;
        }
    }
    if let (Some(since), Some(until)) = (request.since, request.until)
        && since >= until
    {
        return Err(Error::invalid("until", "must lie after since"));
    }
    if request.min_score.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
        return Err(Error::invalid("min_score", "must be a number from 0 to 1"));
    }
    let top = request.top.unwrap_or(TOP);
    if top == 0 || top > limits.top {
        return Err(Error::invalid("top", format!("must be 1 to {}", limits.top)));
    }
    Ok(top)
}

/// Every partition, kept from changing while the guards live.
fn read_all(slots: &[Arc<Slot>]) -> Result<Vec<MappedRwLockReadGuard<'_, Partition>>> {
    slots.iter().map(|slot| slot.read()).collect()
}

/// The last change that each partition holds.
fn applied(partitions: &[&Partition]) -> Vec<u64> {
    partitions.iter().map(|partition| partition.applied().0).collect()
}

/// The rows of each partition that a view shows.
fn all_shown(partitions: &[&Partition], view: &View) -> Vec<RowSet> {
    partitions.iter().map(|partition| shown(partition, view)).collect()
}

/// The rows that a view shows, before any filter.
fn shown(partition: &Partition, view: &View) -> RowSet {
    let rows = partition.hot().iter().zip(partition.rows()).enumerate();
    rows.filter(|(_, (hot, row))| view.shows_row(hot, row)).map(|(number, _)| number as u32).collect()
}

/// Turns candidates into hits.
struct Reader<'a, T> {
    tables: &'a Tables<T>,
    tenant: TenantId,
    view: &'a View,
    filter: Option<&'a Filter>,
}

impl<T: ReadBytes> Reader<'_, T> {
    fn collect(&self, candidates: &[Candidate], parts: &[Option<Parts>], wanted: usize) -> Result<Vec<Hit>> {
        let mut hits = Vec::with_capacity(wanted.min(candidates.len()));
        for (candidate, parts) in candidates.iter().zip(parts) {
            if hits.len() == wanted {
                break;
            }
            let card = match self.view.known_at {
                None => self.tables.card(self.tenant, candidate.id)?,
                Some(_) => self.tables.version(self.tenant, candidate.id, candidate.version)?,
            };
            // The card may have been forgotten since it was scored.
            let Some(card) = card.filter(|card| self.view.shows(card)) else { continue };
            if self.filter.is_some_and(|filter| filter.needs_text() && !filter.matches(&card)) {
                continue;
            }
            hits.push(Hit { score: candidate.score, parts: parts.clone(), card: CardView::from(card) });
        }
        Ok(hits)
    }
}

/// Of two cards that contradict each other the later one is ranked no lower than the
/// earlier one, also where it has fewer of the question's words.
fn settle(candidates: &mut [Candidate], partitions: &[&Partition]) {
    let rivals = |candidate: &Candidate| {
        let links = &partitions[candidate.partition].row(candidate.row).card.links;
        links.iter().filter(|link| link.kind == LinkKind::ConflictsWith).map(|link| link.to)
    };
    let contradicts = |c: &Candidate| partitions[c.partition].hot()[c.row as usize].contradicts;
    if !candidates.iter().any(contradicts) {
        return;
    }
    let places: HashMap<CardId, usize> = candidates.iter().enumerate().map(|(at, c)| (c.id, at)).collect();
    let age = |at: usize| (candidates[at].recorded, candidates[at].id);
    let mut pairs: Vec<(usize, usize)> = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| contradicts(candidate))
        .flat_map(|(at, candidate)| rivals(candidate).map(move |id| (at, id)))
        .filter_map(|(at, id)| places.get(&id).map(|other| (at, *other)))
        .map(|(a, b)| if age(a) < age(b) { (a, b) } else { (b, a) })
        .collect();
    // Oldest first: what a card is raised to counts for those that are later still.
    pairs.sort_by_key(|(earlier, later)| (age(*earlier), age(*later)));
    for (earlier, later) in pairs {
        let earlier = candidates[earlier];
        let later = &mut candidates[later];
        later.settled += (earlier.score - later.score).max(0.0);
        later.score = later.score.max(earlier.score);
        later.relevance = later.relevance.max(earlier.relevance);
    }
}
