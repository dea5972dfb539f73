//! The score: the only place that computes it.
//!
//! Each step works on absolute scales, so that a score means the same over three cards and
//! over a million, and no step needs the other candidates but the neighbours of a card:
//!
//! 1. legs: keywords (BM25 over the ideal match), the same over the card with its
//!    neighbours, cosine above the floor, named date;
//! 2. their weighted sum, lowered where terms of the question are not covered;
//! 3. factors: another speaker than the one named, the assistant, cards that ask;
//! 4. neighbours in the conversation lend, the session's best lend;
//! 5. identifiers of the question add; of turns, the re-ranker's judgement does;
//! 6. `1 − exp(−raw / squash)` brings the sum to 0..1: the relevance;
//! 7. recency, importance and confidence, as age leaves them, decide a capped share.

use serde::Serialize;

use crate::forget::rules::LifeRules;
use crate::graph::Concept;
use crate::index::partition::Partition;
use crate::index::rows::RowSet;
use crate::index::text::{NO_ROW, Statistics};
use crate::recall::aging::Aging;
use crate::recall::cold::Counted;
use crate::recall::evidence::{Evidence, Legs, rivals, session_of};
use crate::recall::gather::{Gathered, Limits, gather};
use crate::recall::question::Question;
use crate::recall::settings::{Settings, Weights};
use crate::recall::shown::Shown;
use crate::time::Timestamp;

/// What a score is made of. The parts add up to the score.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// Terms of the question in the card.
    pub keywords: f32,
    /// Terms of the question in the card and its neighbours.
    pub context: f32,
    /// Nearness of the vectors.
    pub meaning: f32,
    /// The date that the question names.
    pub date: f32,
    /// Things of the kind that the question asks for.
    pub concepts: f32,
    /// Taken away for terms that are not covered.
    pub coverage: f32,
    /// Taken away because another speaker was named.
    pub speaker: f32,
    /// Taken away from the assistant's words.
    pub role: f32,
    /// Taken away because the card asks something itself.
    pub asks: f32,
    /// Taken away because the question asks for another kind of memory.
    pub track: f32,
    /// Lent by the turns before and after.
    pub neighbours: f32,
    /// Lent by the best cards of the session.
    pub session: f32,
    /// What a card without neighbours or without a session gets of itself in their place.
    pub alone: f32,
    /// Identifiers of the question found whole.
    pub identifier: f32,
    /// Added or taken away by the re-ranker.
    pub rerank: f32,
    /// Freshness, by the half-life of the category.
    pub recency: f32,
    /// Importance of the card at the instant of the read.
    pub importance: f32,
    /// Confidence of the card at the instant of the read.
    pub confidence: f32,
    /// Added so that the card ranks no lower than an earlier one that it contradicts.
    pub settled: f32,
}

impl Parts {
    /// The sum of all parts: the score.
    pub fn sum(&self) -> f32 {
        self.relevance_sum() + self.recency + self.importance + self.confidence + self.settled
    }

    fn relevance_sum(&self) -> f32 {
        self.keywords
            + self.context
            + self.meaning
            + self.date
            + self.concepts
            + self.coverage
            + self.speaker
            + self.role
            + self.asks
            + self.track
            + self.neighbours
            + self.session
            + self.alone
            + self.identifier
            + self.rerank
    }

    fn scale(&mut self, by: f32) {
        for part in [
            &mut self.keywords,
            &mut self.context,
            &mut self.meaning,
            &mut self.date,
            &mut self.concepts,
            &mut self.coverage,
            &mut self.speaker,
            &mut self.role,
            &mut self.asks,
            &mut self.track,
            &mut self.neighbours,
            &mut self.session,
            &mut self.alone,
            &mut self.identifier,
            &mut self.rerank,
        ] {
            *part *= by;
        }
    }
}

/// One question over the partitions of one tenant.
pub(super) struct Search<'a> {
    pub(super) partitions: &'a [&'a Partition],
    /// Rows whose text counts: visible ones, filters not yet applied.
    pub(super) shown: &'a [Shown<'a>],
    /// Those of them that may be returned; `None` for all.
    pub(super) wanted: &'a [Option<RowSet>],
    /// By partition, whether its track is unlikely to hold the answer.
    pub(super) off_track: &'a [bool],
    /// See [`Ranking::cold`](crate::recall::rank::Ranking::cold).
    pub(super) cold: Option<(usize, &'a Counted)>,
    /// Hits that are wanted.
    pub(super) top: usize,
    pub(super) limits: &'a Limits,
    pub(super) question: &'a Question,
    /// The question's vector, of whatever length.
    pub(super) vector: Option<&'a [f32]>,
    /// True when the caller gave it.
    pub(super) caller_vector: bool,
    pub(super) weights: &'a Weights,
    pub(super) half_lives: &'a Settings,
    /// The instant at which age is judged.
    pub(super) instant: Timestamp,
    /// Rules of age.
    pub(super) rules: &'a LifeRules,
}

/// Scores of a question, ready to be asked row by row.
pub(super) struct Scorer<'a> {
    pub(super) search: &'a Search<'a>,
    evidence: Vec<Evidence>,
    pub(super) statistics: Statistics,
    /// idf mass of the question's terms.
    pub(super) mass: f32,
    /// The same with its date; 0 when it has no usable word.
    pub(super) ideal: f32,
    pub(super) date_idf: f32,
    /// Concepts that the question asks for with the weight of each; they add up to 1.
    concepts: Vec<(Concept, f32)>,
    /// Categories' half-lives by partition and name number.
    half_lives: Vec<Vec<f32>>,
    /// By partition, what confidence and importance are worth by now.
    agings: Vec<Aging<'a>>,
}

impl<'a> Scorer<'a> {
    /// Runs all legs over all shown rows, or over the candidates among them.
    pub(super) fn new(search: &'a Search<'a>) -> Self {
        let terms = search.question.query_terms();
        let mut statistics = Statistics::default();
        let hot = search.cold.map_or(search.shown.len(), |(hot, _)| hot);
        for shown in &search.shown[..hot] {
            shown.gather(terms, &mut statistics);
        }
        if let Some((_, counted)) = search.cold {
            counted.add_to(&mut statistics);
        }
        let mass = if terms.is_empty() { 0.0 } else { statistics.mass(terms) };
        let times = search.question.times();
        let hits: usize = match times.is_empty() {
            true => 0,
            false => search.shown.iter().map(|shown| shown.count_dated(times)).sum(),
        };
        let date_idf = match hits {
            0 => 0.0,
            hits => {
                let (documents, hits) = (statistics.documents as f32, hits as f32);
                let idf = (1.0 + ((documents - hits).max(0.0) + 0.5) / (hits + 0.5)).ln();
                search.weights.date * idf.max(search.weights.date_idf_min)
            }
        };
        let half_lives = search
            .partitions
            .iter()
            .map(|partition| partition.names().iter().map(|name| search.half_lives.half_life(name)).collect())
            .collect();
        let agings = search.partitions.iter().map(|partition| Aging::new(partition, search.rules)).collect();
        let ideal = mass + date_idf;
        let concepts = concepts(search, statistics.documents);
        let evidence = Vec::new();
        let mut scorer =
            Self { search, evidence, statistics, mass, ideal, date_idf, concepts, half_lives, agings };
        for (number, (gathered, rivals)) in scorer.gather().into_iter().enumerate() {
            let evidence = match gathered {
                Gathered::Everything => Evidence::of_every_row(&scorer, number),
                gathered => Evidence::of_candidates(&scorer, number, gathered, &rivals),
            };
            scorer.evidence.push(evidence);
        }
        scorer
    }

    /// The rows of each partition that may be candidates, and those that contradict one of
    /// another partition.
    fn gather(&self) -> Vec<(Gathered, Vec<u32>)> {
        let search = self.search;
        let gathered: Vec<_> = (0..search.partitions.len()).map(|number| gather(self, number)).collect();
        let cards: Vec<_> = search
            .partitions
            .iter()
            .zip(&gathered)
            .filter(|_| gathered.len() > 1)
            .flat_map(|(partition, gathered)| rivals(partition, gathered.rows()))
            .collect();
        gathered.into_iter().zip(search.shown).map(|(rows, shown)| (rows, shown.rows_of(&cards))).collect()
    }

    /// True when the question asks for things of a kind.
    pub(super) fn asks_concepts(&self) -> bool {
        !self.concepts.is_empty()
    }

    /// The share of what is asked for that a row speaks of.
    pub(super) fn concepts_leg(&self, number: usize, row: u32) -> f32 {
        let sense = &self.search.partitions[number].senses()[row as usize];
        let has = |(concept, _): &&(Concept, f32)| sense.concepts.contains(*concept);
        self.concepts.iter().filter(has).map(|(_, weight)| weight).sum()
    }

    /// True when some word can find rows.
    pub(super) fn has_words(&self) -> bool {
        self.ideal > 1e-9 && self.mass > 0.0
    }

    /// The rows of a partition that are scored, those that must not be returned included.
    pub(super) fn each_row(&self, number: usize, call: impl FnMut(u32)) {
        match (self.evidence[number].candidates(), &self.search.wanted[number]) {
            (Some(candidates), _) => candidates.iter().copied().for_each(call),
            (None, Some(wanted)) => wanted.iter().for_each(call),
            (None, None) => self.search.shown[number].rows().iter().for_each(call),
        }
    }

    /// The vector leg of a cosine.
    pub(super) fn vector_leg(&self, cosine: f32) -> f32 {
        // The floor is the noise of the built-in model. A caller's vectors have none, and
        // where nothing but a vector is asked for, every cosine counts, negative ones too.
        let floor = match (self.search.caller_vector, self.ideal > 1e-9) {
            (false, _) => self.search.weights.cosine_floor,
            (true, true) => 0.0,
            (true, false) => -1.0,
        };
        ((cosine - floor) / (1.0 - floor)).max(0.0)
    }

    /// A row's own evidence, factors applied.
    pub(super) fn own_of(&self, number: usize, row: u32, legs: &Legs) -> f32 {
        let mut own = self.own(legs);
        self.factors(number, row, &mut own.parts, own.relevance)
    }

    /// Step 2: the weighted sum of a row's legs.
    fn own(&self, legs: &Legs) -> Own {
        let weights = self.search.weights;
        // Without a usable word the vector stands alone.
        let meaning = if self.ideal > 1e-9 { weights.meaning } else { weights.keywords };
        let dated = if self.ideal > 1e-9 { legs.dated * self.date_idf / self.ideal } else { 0.0 };
        let mut parts = Parts {
            keywords: weights.keywords * legs.turn,
            context: weights.context * legs.window,
            meaning: meaning * legs.vector,
            date: (weights.keywords + weights.context) * dated,
            ..Parts::default()
        };
        // A kind of thing is no find by itself: there are many dogs.
        if parts.relevance_sum() > 0.0 {
            parts.concepts = weights.concepts * legs.concepts;
        }
        parts.coverage =
            -(1.0 - weights.coverage) * (1.0 - legs.coverage.min(1.0)) * (parts.keywords + parts.context);
        Own { relevance: parts.relevance_sum().max(0.0), parts }
    }

    /// Step 3: what speaker, role and form of the card take away.
    fn factors(&self, number: usize, row: u32, parts: &mut Parts, mut own: f32) -> f32 {
        let (weights, question) = (self.search.weights, self.search.question);
        let voice = &self.search.partitions[number].voices()[row as usize];
        let mut apply = |part: &mut f32, factor: f32| {
            *part = own * (factor - 1.0);
            own += *part;
        };
        if question.names_somebody() {
            if voice.speaker != NO_ROW && !question.names_speaker(number, voice.speaker) {
                apply(&mut parts.speaker, weights.other_speaker);
            }
        } else if voice.assistant && !question.asks_assistant() {
            apply(&mut parts.role, weights.assistant);
        }
        if voice.question {
            apply(&mut parts.asks, weights.asks);
        }
        if self.search.off_track.get(number) == Some(&true) {
            apply(&mut parts.track, weights.off_track);
        }
        own
    }

    /// Step 4, first half: a row's own evidence with what its neighbours lend, and that.
    pub(super) fn with_neighbours(&self, number: usize, evidence: &Evidence, row: u32) -> (f32, f32) {
        let (weights, partition) = (self.search.weights, self.search.partitions[number]);
        let (before, after) = partition.conversations().neighbours(row);
        let mine = evidence.own(row);
        let lent = match (before, after) {
            (None, None) => weights.alone * mine,
            _ => {
                let previous = before.map_or(0.0, |before| {
                    let asks = partition.voices()[before as usize].question;
                    let share = weights.lend_previous + if asks { weights.lend_answer } else { 0.0 };
                    share * evidence.own(before)
                });
                previous + after.map_or(0.0, |after| weights.lend_next * evidence.own(after))
            }
        };
        (mine + lent, lent)
    }

    /// Steps 4 to 6: raw score, and what session and identifiers add to it.
    pub(super) fn raw_of(&self, number: usize, evidence: &Evidence, row: u32) -> (f32, f32, f32) {
        let weights = self.search.weights;
        let (legs, value) = evidence.value(row);
        let session = match session_of(self.search.partitions[number], row) {
            NO_ROW => value,
            session => evidence.session(session),
        };
        let session = weights.session * session;
        let identifier = weights.identifier * legs.identifiers;
        (value + session + identifier, session, identifier)
    }

    fn relevance(&self, raw: f32) -> f32 {
        1.0 - (-raw / self.search.weights.squash).exp()
    }

    /// Step 7: the modifiers, each 0 to 1, times their shares.
    fn modifiers(&self, number: usize, row: u32) -> (f32, f32, f32) {
        let weights = self.search.weights;
        let total = weights.recency + weights.importance + weights.confidence;
        if total <= 0.0 {
            return (0.0, 0.0, 0.0);
        }
        let hot = &self.search.partitions[number].hot()[row as usize];
        let age = self.search.instant.hours_since(Timestamp::from_micros(hot.referenced)).max(0.0) as f32;
        let half_life = self.half_lives[number].get(hot.category as usize).copied().unwrap_or(720.0);
        let recency = (-age / half_life.max(1e-3)).exp();
        let (confidence, importance) = self.agings[number].figures(row, self.search.instant);
        (
            weights.recency / total * recency,
            weights.importance / total * importance as f32,
            weights.confidence / total * confidence as f32,
        )
    }

    /// Share of the score that the modifiers decide.
    fn cap(&self) -> f32 {
        let weights = self.search.weights;
        match weights.recency + weights.importance + weights.confidence > 0.0 {
            true => weights.modifier_cap,
            false => 0.0,
        }
    }

    /// Relevance of a row, 0 to 1, unless it is below `least`.
    pub(super) fn relevance_of(&self, number: usize, row: u32, least: f32) -> Option<f32> {
        let raw = self.raw_of(number, &self.evidence[number], row).0;
        // 1 − exp(−x) never exceeds x: most rows are ruled out without the exponential.
        if raw / self.search.weights.squash < least {
            return None;
        }
        Some(self.relevance(raw)).filter(|relevance| *relevance >= least)
    }

    /// Evidence of a row with all that is lent to it.
    pub(super) fn raw(&self, number: usize, row: u32) -> f32 {
        self.raw_of(number, &self.evidence[number], row).0
    }

    /// Relevance of a row whose evidence is adjusted.
    pub(super) fn relevance_with(&self, number: usize, row: u32, adjusted: f32) -> f32 {
        self.relevance((self.raw(number, row) + adjusted).max(0.0))
    }

    /// The evidence of every partition.
    pub(super) fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    /// Score of a row with that relevance, 0 to 1. But for rounding it is never above the
    /// relevance.
    pub(super) fn score(&self, number: usize, row: u32, relevance: f32) -> f32 {
        let (recency, importance, confidence) = self.modifiers(number, row);
        let cap = self.cap();
        relevance * (1.0 - cap) + relevance * cap * (recency + importance + confidence)
    }

    /// The parts of a row's score; they add up to it.
    pub(super) fn parts(&self, number: usize, row: u32, adjusted: f32) -> Parts {
        let evidence = &self.evidence[number];
        let Own { relevance: own, mut parts } = self.own(&evidence.legs(row));
        self.factors(number, row, &mut parts, own);
        let lent = self.with_neighbours(number, evidence, row).1;
        let (raw, session, identifier) = self.raw_of(number, evidence, row);
        let partition = self.search.partitions[number];
        match partition.conversations().neighbours(row) {
            (None, None) => {
                parts.alone += lent;
                // There are no words around it: its own were counted twice.
                parts.keywords += std::mem::take(&mut parts.context);
            }
            _ => parts.neighbours = lent,
        }
        match session_of(partition, row) {
            NO_ROW => parts.alone += session,
            _ => parts.session = session,
        }
        parts.identifier = identifier;
        // Nothing falls below nothing.
        parts.rerank = adjusted.max(-raw);
        let raw = (raw + adjusted).max(0.0);
        let (relevance, cap) = (self.relevance(raw), self.cap());
        let (recency, importance, confidence) = self.modifiers(number, row);
        parts.scale(if raw > 1e-12 { relevance / raw * (1.0 - cap) } else { 0.0 });
        parts.recency = relevance * cap * recency;
        parts.importance = relevance * cap * importance;
        parts.confidence = relevance * cap * confidence;
        parts
    }
}

/// The concepts that a question asks for with their weights, by how rare they are.
fn concepts(search: &Search<'_>, documents: u64) -> Vec<(Concept, f32)> {
    let rarity = |concept| {
        let rows: u32 = search.shown.iter().map(|shown| shown.concept_count(concept)).sum();
        let (documents, rows) = (documents as f32, rows as f32);
        (1.0 + ((documents - rows).max(0.0) + 0.5) / (rows + 0.5)).ln()
    };
    let mut asked: Vec<(Concept, f32)> =
        search.question.asked().iter().map(|concept| (concept, rarity(concept))).collect();
    let sum: f32 = asked.iter().map(|(_, weight)| weight).sum();
    asked.iter_mut().for_each(|(_, weight)| *weight /= sum.max(1e-6));
    asked
}

struct Own {
    relevance: f32,
    parts: Parts,
}
