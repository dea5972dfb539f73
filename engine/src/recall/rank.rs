//! Ranking: reads the question against the partitions, scores, settles conflicts, sorts.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::Result;
use crate::calendar::Anchor;
use crate::card::{Card, CardId, LinkKind};
use crate::filter::Filter;
use crate::index::cache::{PartitionGuard, SlotRef};
use crate::index::partition::Partition;
use crate::index::rows::RowSet;
use crate::recall::View;
use crate::recall::aging::Aging;
use crate::recall::cold::Counted;
use crate::recall::exclusion::{Exclusion, exclusions, latest};
use crate::recall::fuse::{Parts, Scorer, Search};
use crate::recall::gather::Limits;
use crate::recall::question::Question;
use crate::recall::rerank::{self, ADJUSTED_MOST, LOOKED_AT, Looked, Reranker, features_of};
use crate::recall::settings::{Settings, Weights};
use crate::recall::shown::Shown;
use crate::time::Timestamp;
use crate::verbs::Recall;

/// Conditions beside the view that every hit satisfies.
struct Conditions<'a> {
    request: &'a Recall,
    view: &'a View,
    /// The filter, when attributes alone decide it.
    filter: Option<&'a Filter>,
}

impl Conditions<'_> {
    /// True when they say which cards are wanted. How sure a card has to be does not.
    fn any(&self) -> bool {
        let request = self.request;
        self.filter.is_some()
            || !request.categories.is_empty()
            || !request.entities.is_empty()
            || request.since.is_some()
            || request.until.is_some()
    }

    /// The rows that satisfy them; `None` when there are no conditions.
    fn wanted(&self, partition: &Partition, shown: &Shown<'_>) -> Option<RowSet> {
        let request = self.request;
        if !self.any() && request.min_confidence.is_none() {
            return None;
        }
        let aging = Aging::new(partition, &self.view.rules);
        let sure = |row: u32| {
            request.min_confidence.is_none_or(|least| {
                let hot = &partition.hot()[row as usize];
                // No figure ever rises with age.
                hot.confidence >= least && aging.figures(row, self.view.instant).0 >= f64::from(least)
            })
        };
        let numbers: Vec<u32> = partition
            .names()
            .iter()
            .enumerate()
            .filter(|(_, name)| request.categories.contains(name))
            .map(|(number, _)| number as u32)
            .collect();
        let since = request.since.map_or(i64::MIN, Timestamp::as_micros);
        let until = request.until.map_or(i64::MAX, Timestamp::as_micros);
        let admits = |row: &u32| {
            let hot = &partition.hot()[*row as usize];
            // What is at hand first: cards are further away.
            let near = hot.occurred >= since
                && hot.occurred < until
                && (request.categories.is_empty() || numbers.contains(&hot.category));
            near && sure(*row)
                && (request.entities.is_empty() && self.filter.is_none()
                    || self.admits_card(&partition.row(*row).card))
        };
        Some(shown.rows().iter().filter(admits).collect())
    }

    fn admits_card(&self, card: &Card) -> bool {
        let entities = &self.request.entities;
        (entities.is_empty() || entities.iter().any(|entity| card.entities.contains(entity)))
            && self.filter.is_none_or(|filter| filter.matches(card))
    }
}

/// A scored row.
#[derive(Clone, Copy)]
struct Candidate {
    score: f32,
    relevance: f32,
    /// What the re-ranker added to its evidence.
    adjusted: f32,
    /// What [`settle`] added to the score.
    settled: f32,
    partition: usize,
    row: u32,
}

impl Candidate {
    fn card<'a>(&self, partitions: &[&'a Partition]) -> &'a Card {
        &partitions[self.partition].row(self.row).card
    }
}

/// Best first: score, then newer, then identifier.
fn best_first(partitions: &[&Partition]) -> impl Fn(&Candidate, &Candidate) -> Ordering {
    move |a, b| {
        // Cards are far away, and few scores are equal.
        b.score.total_cmp(&a.score).then_with(|| {
            let key = |candidate: &Candidate| {
                let card = candidate.card(partitions);
                (card.recorded_at, card.id)
            };
            key(b).cmp(&key(a))
        })
    }
}

/// One of the best rows, on its way to become a hit.
pub(super) struct Place {
    pub(super) id: CardId,
    pub(super) version: u32,
    pub(super) score: f32,
    /// What the score is made of, when asked for.
    pub(super) parts: Option<Parts>,
}

/// A question, read, and what was found out on the way.
pub(super) struct Read {
    pub(super) question: Question,
    /// By partition, the rows that are shown where these are not at hand.
    shown: Vec<Option<RowSet>>,
    /// Where each partition was; see [`positions`].
    position: Vec<(u64, usize)>,
}

impl Read {
    /// Reads the question of a request.
    pub(super) fn new(slots: &[SlotRef], view: &View, request: &Recall, anchor: &Anchor) -> Result<Self> {
        let guards = read_all(slots)?;
        let shown: Vec<Shown<'_>> = guards.iter().map(|partition| Shown::of(partition, view)).collect();
        let question = Question::read(request.query.as_deref().unwrap_or(""), &shown, anchor);
        let shown = shown.into_iter().map(Shown::into_set).collect();
        Ok(Self { question, shown, position: positions(&guards) })
    }
}

/// What a ranking is made by.
pub(super) struct Ranking<'a> {
    pub(super) request: &'a Recall,
    pub(super) view: &'a View,
    /// Hits that are wanted.
    pub(super) top: usize,
    pub(super) settings: &'a Settings,
    pub(super) weights: &'a Weights,
    pub(super) vector: Option<&'a [f32]>,
    pub(super) reranker: Option<&'a dyn Reranker>,
    /// By partition, whether its track is unlikely to hold the answer.
    pub(super) off_track: Vec<bool>,
    /// From which partition on they hold a choice of cold cards, and what is counted over all
    /// of these.
    pub(super) cold: Option<(usize, &'a Counted)>,
}

/// The best rows.
pub(super) struct Ranked {
    /// In their order.
    pub(super) places: Vec<Place>,
    /// Rows that satisfy all conditions that attributes decide, and were scored.
    pub(super) scored: usize,
    /// True when there are more rows that satisfy everything than are given.
    pub(super) truncated: bool,
    /// True when every row that satisfies the conditions was scored and, if its score
    /// suffices, is given.
    pub(super) complete: bool,
    /// What the shown rows rule out.
    pub(super) exclusions: Vec<Exclusion>,
}

impl Ranking<'_> {
    /// The filter, when attributes alone decide it.
    fn filter(&self) -> Option<&Filter> {
        self.request.filter.as_ref().filter(|filter| !filter.needs_text())
    }

    fn conditions(&self) -> Conditions<'_> {
        Conditions { request: self.request, view: self.view, filter: self.filter() }
    }

    /// The least relevance of a hit. A threshold keeps noise out of an open question.
    /// Conditions and a vector say which cards are wanted: then nothing that satisfies them
    /// is left out.
    pub(super) fn least(&self) -> f32 {
        let request = self.request;
        match request.min_score {
            Some(least) => least,
            None if self.conditions().any() || request.filter.is_some() || request.vector.is_some() => 0.0,
            None => self.settings.min_score,
        }
    }

    /// Scores and sorts; gives `spare` rows more than are wanted.
    pub(super) fn rank(
        &self,
        slots: &[SlotRef],
        read: Read,
        limits: &Limits,
        spare: usize,
    ) -> Result<Ranked> {
        let guards = read_all(slots)?;
        let partitions: Vec<&Partition> = guards.iter().map(|guard| &**guard).collect();
        // What was written meanwhile is searched too.
        let unchanged = positions(&guards) == read.position;
        let sets = read.shown.into_iter().map(|set| set.filter(|_| unchanged));
        let shown: Vec<Shown<'_>> = partitions
            .iter()
            .zip(sets)
            .map(|(partition, set)| match set {
                Some(set) => Shown::from_set(partition, set),
                None => Shown::of(partition, self.view),
            })
            .collect();
        let conditions = self.conditions();
        let wanted: Vec<Option<RowSet>> = partitions
            .iter()
            .zip(&shown)
            .map(|(partition, shown)| conditions.wanted(partition, shown))
            .collect();
        let available: usize = wanted
            .iter()
            .zip(&shown)
            .map(|(wanted, shown)| wanted.as_ref().map_or(shown.len(), RowSet::len))
            .sum();
        let search = Search {
            partitions: &partitions,
            shown: &shown,
            wanted: &wanted,
            question: &read.question,
            vector: self.vector,
            caller_vector: self.request.vector.is_some(),
            weights: self.weights,
            half_lives: self.settings,
            instant: self.view.instant,
            rules: &self.view.rules,
            off_track: &self.off_track,
            cold: self.cold,
            top: self.top,
            limits,
        };
        let scorer = Scorer::new(&search);
        let least = self.least();
        let (mut candidates, scored) = rate(&search, &scorer, least);
        let found = candidates.len();
        let kept = self.top.saturating_add(spare);
        self.adjust(&mut candidates, &search, &scorer);
        score(&mut candidates, &search, &scorer, kept);
        settle(&mut candidates, &partitions);
        prefer_changes(&mut candidates, &partitions);
        candidates.retain(|candidate| candidate.relevance >= least);
        if kept < candidates.len() {
            candidates.select_nth_unstable_by(kept, best_first(&partitions));
            candidates.truncate(kept);
        }
        let truncated = kept < found;
        candidates.sort_by(best_first(&partitions));
        let place = |candidate: &Candidate| {
            let card = candidate.card(&partitions);
            let parts = || {
                let parts = scorer.parts(candidate.partition, candidate.row, candidate.adjusted);
                Parts { settled: candidate.settled, ..parts }
            };
            let parts = self.request.explain.then(parts);
            Place { id: card.id, version: card.version, score: candidate.score, parts }
        };
        let places = candidates.iter().map(place).collect();
        // Who asks for the history wants to see what was replaced and ruled out.
        let exclusions = match self.view.is_present() && self.request.filter.is_none() {
            true => partitions
                .iter()
                .zip(&shown)
                .flat_map(|(partition, shown)| exclusions(partition, shown))
                .collect(),
            false => vec![],
        };
        let exclusions = latest(exclusions);
        let complete = scored == available && !truncated;
        Ok(Ranked { places, scored, truncated, complete, exclusions })
    }
}

impl Ranking<'_> {
    /// Lets the re-ranker look at the best candidates. What it does not look at is lowered
    /// as far as the lowest of those, so that nothing overtakes by not being looked at.
    fn adjust(&self, candidates: &mut [Candidate], search: &Search<'_>, scorer: &Scorer<'_>) {
        let Some(reranker) = self.reranker.filter(|_| self.weights.rerank > 0.0) else { return };
        let is_turn = |c: &Candidate| {
            let (before, after) = search.partitions[c.partition].conversations().neighbours(c.row);
            // What nothing speaks for is nothing to compare with.
            c.relevance > 0.0 && (before.is_some() || after.is_some())
        };
        let mut turns: Vec<usize> = (0..candidates.len()).filter(|at| is_turn(&candidates[*at])).collect();
        if turns.is_empty() {
            return;
        }
        let by_relevance = |a: &usize, b: &usize| {
            let key = |at: usize| (candidates[at].partition, candidates[at].row);
            candidates[*b].relevance.total_cmp(&candidates[*a].relevance).then(key(*a).cmp(&key(*b)))
        };
        // However many hits are wanted: the first of many are the same as the first of few.
        let most = LOOKED_AT;
        if most < turns.len() {
            turns.select_nth_unstable_by(most, by_relevance);
        }
        let count = most.min(turns.len());
        turns[..count].sort_unstable_by(by_relevance);
        let looked: Vec<Looked> = turns[..count]
            .iter()
            .map(|at| {
                let Candidate { partition, row, .. } = candidates[*at];
                Looked { partition, row, raw: scorer.raw(partition, row) }
            })
            .collect();
        let seen: Vec<rerank::Candidate> = features_of(scorer, &looked)
            .into_iter()
            .zip(&looked)
            .map(|(features, l)| rerank::Candidate {
                id: search.partitions[l.partition].row(l.row).card.id,
                features,
            })
            .collect();
        let question = self.request.query.as_deref().unwrap_or_default();
        let mut given = reranker.adjust(question, &seen).into_iter();
        let weight = self.weights.rerank;
        let mut lowest = 0.0f32;
        for (place, at) in turns.iter().enumerate() {
            let adjusted = match place < count {
                true => {
                    let value = given.next().filter(|value| value.is_finite()).unwrap_or(0.0);
                    let value = value.clamp(-ADJUSTED_MOST, ADJUSTED_MOST) * weight;
                    lowest = lowest.min(value);
                    value
                }
                false => lowest,
            };
            let candidate = &mut candidates[*at];
            candidate.adjusted = adjusted;
            candidate.relevance = scorer.relevance_with(candidate.partition, candidate.row, adjusted);
        }
    }
}

/// Rows with their relevance, where it is not below `least`, and how many were looked at.
fn rate(search: &Search<'_>, scorer: &Scorer<'_>, least: f32) -> (Vec<Candidate>, usize) {
    let (mut candidates, mut rated) = (Vec::new(), 0);
    for (number, partition) in search.partitions.iter().enumerate() {
        let wanted = search.wanted[number].as_ref();
        scorer.each_row(number, |row| {
            if wanted.is_some_and(|wanted| !wanted.contains(row)) {
                return;
            }
            rated += 1;
            // Whether a card that contradicts another one is wanted is settled later.
            let floor = if partition.voices()[row as usize].contradicts { 0.0 } else { least };
            if let Some(relevance) = scorer.relevance_of(number, row, floor) {
                candidates.push(Candidate {
                    score: 0.0,
                    relevance,
                    adjusted: 0.0,
                    settled: 0.0,
                    partition: number,
                    row,
                });
            }
        });
    }
    (candidates, rated)
}

/// Scores candidates. Leaves out those that cannot be among the best `kept`, whatever else
/// than relevance their scores depend on; never one that contradicts another.
fn score(candidates: &mut Vec<Candidate>, search: &Search<'_>, scorer: &Scorer<'_>, kept: usize) {
    /// More than rounding adds to a score.
    const ROUNDING: f32 = 1.0 + 1e-5;
    let score = |candidate: &Candidate| scorer.score(candidate.partition, candidate.row, candidate.relevance);
    if kept < candidates.len() {
        candidates.select_nth_unstable_by(kept, |a, b| b.relevance.total_cmp(&a.relevance));
        let lowest = candidates[..kept].iter().map(score).fold(f32::INFINITY, f32::min);
        let contradicts = |c: &Candidate| search.partitions[c.partition].voices()[c.row as usize].contradicts;
        candidates.retain(|candidate| candidate.relevance * ROUNDING >= lowest || contradicts(candidate));
    }
    candidates.iter_mut().for_each(|candidate| candidate.score = score(candidate));
}

/// Every partition, kept from changing while the guards live.
fn read_all(slots: &[SlotRef]) -> Result<Vec<PartitionGuard<'_>>> {
    slots.iter().map(|slot| slot.read()).collect()
}

/// The last change that each partition holds, and how many rows it has: one that was made anew
/// without what had gone holds the same changes under other row numbers.
fn positions(partitions: &[PartitionGuard<'_>]) -> Vec<(u64, usize)> {
    partitions.iter().map(|partition| (partition.applied().0, partition.len())).collect()
}

/// How many of the best candidates are compared with each other for changes.
const COMPARED: usize = 20;
/// A card that tells of a change goes before an earlier one that is no more relevant than
/// this many times.
const NEAR: f32 = 1.25;

/// "Actually it is on Thursday" goes before "it is on Tuesday": of two cards of one voice that
/// the question finds about equally well, one that says that something has changed is ranked no lower
/// than the earlier one. That they contradict each other is not known, so nothing is left out.
fn prefer_changes(candidates: &mut [Candidate], partitions: &[&Partition]) {
    let voice = |c: &Candidate| partitions[c.partition].voices()[c.row as usize];
    let changes = |c: &Candidate| partitions[c.partition].senses()[c.row as usize].changes;
    let when = |c: &Candidate| {
        let card = c.card(partitions);
        (card.occurred_at, card.recorded_at, card.id)
    };
    let mut best: Vec<usize> = (0..candidates.len()).collect();
    let order = |a: &usize, b: &usize| candidates[*b].score.total_cmp(&candidates[*a].score).then(a.cmp(b));
    if best.len() > COMPARED {
        best.select_nth_unstable_by(COMPARED, order);
        best.truncate(COMPARED);
    }
    best.sort_unstable_by(order);
    for (place, &later) in best.iter().enumerate().skip(1) {
        // Of turns the re-ranker has judged already.
        let event = candidates[later].card(partitions).is_event();
        if event || !changes(&candidates[later]) || voice(&candidates[later]).question {
            continue;
        }
        let mine = voice(&candidates[later]);
        let raised = best[..place]
            .iter()
            .map(|earlier| candidates[*earlier])
            .filter(|earlier| earlier.relevance <= candidates[later].relevance * NEAR)
            .filter(|earlier| {
                let theirs = voice(earlier);
                theirs.speaker == mine.speaker && theirs.assistant == mine.assistant && !theirs.question
            })
            .filter(|earlier| when(earlier) < when(&candidates[later]))
            .map(|earlier| (earlier.score, earlier.relevance))
            .fold((0.0f32, 0.0f32), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        let card = &mut candidates[later];
        // A hair more, so that the order does not hang on the times of writing.
        let score = (raised.0 * (1.0 + 1e-6)).min(1.0);
        if score > card.score {
            card.settled += score - card.score;
            card.score = score;
            card.relevance = card.relevance.max(raised.1);
        }
    }
}

/// Of two cards that contradict each other the later one is ranked no lower than the
/// earlier one, also where it has fewer of the question's words.
fn settle(candidates: &mut [Candidate], partitions: &[&Partition]) {
    let rivals = |candidate: &Candidate| {
        let links = &candidate.card(partitions).links;
        links.iter().filter(|link| link.kind == LinkKind::ConflictsWith).map(|link| link.to)
    };
    let contradicts = |c: &Candidate| partitions[c.partition].voices()[c.row as usize].contradicts;
    if !candidates.iter().any(contradicts) {
        return;
    }
    let places: HashMap<CardId, usize> =
        candidates.iter().enumerate().map(|(at, c)| (c.card(partitions).id, at)).collect();
    let age = |at: usize| {
        let card = candidates[at].card(partitions);
        (card.recorded_at, card.id)
    };
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
