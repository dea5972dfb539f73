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
//! 5. identifiers of the question add;
//! 6. `1 − exp(−raw / squash)` brings the sum to 0..1: the relevance;
//! 7. recency, importance and confidence decide a capped share.

use serde::Serialize;

use crate::index::partition::Partition;
use crate::index::rows::RowSet;
use crate::index::text::{NO_ROW, Parameters, Scores, Statistics, Windows};
use crate::recall::question::Question;
use crate::recall::settings::{Settings, Weights};
use crate::time::Timestamp;

/// How many cards of a session make its best.
const SESSION_BEST: usize = 3;

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
    /// Taken away for terms that are not covered.
    pub coverage: f32,
    /// Taken away because another speaker was named.
    pub speaker: f32,
    /// Taken away from the assistant's words.
    pub role: f32,
    /// Taken away because the card asks something itself.
    pub asks: f32,
    /// Lent by the turns before and after.
    pub neighbours: f32,
    /// Lent by the best cards of the session.
    pub session: f32,
    /// What a card without neighbours or without a session gets of itself in their place.
    pub alone: f32,
    /// Identifiers of the question found whole.
    pub identifier: f32,
    /// Freshness, by the half-life of the category.
    pub recency: f32,
    /// Importance of the card.
    pub importance: f32,
    /// Confidence of the card.
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
            + self.coverage
            + self.speaker
            + self.role
            + self.asks
            + self.neighbours
            + self.session
            + self.alone
            + self.identifier
    }

    fn scale(&mut self, by: f32) {
        for part in [
            &mut self.keywords,
            &mut self.context,
            &mut self.meaning,
            &mut self.date,
            &mut self.coverage,
            &mut self.speaker,
            &mut self.role,
            &mut self.asks,
            &mut self.neighbours,
            &mut self.session,
            &mut self.alone,
            &mut self.identifier,
        ] {
            *part *= by;
        }
    }
}

/// One question over the partitions of one tenant.
pub(super) struct Search<'a> {
    pub(super) partitions: &'a [&'a Partition],
    /// Rows whose text counts: visible ones, filters not yet applied.
    pub(super) shown: &'a [RowSet],
    pub(super) question: &'a Question,
    /// The question's vector, of unit length.
    pub(super) vector: Option<&'a [f32]>,
    /// True when the caller gave it.
    pub(super) caller_vector: bool,
    pub(super) weights: &'a Weights,
    pub(super) half_lives: &'a Settings,
    /// The instant at which age is judged.
    pub(super) instant: Timestamp,
}

/// The legs of one row.
#[derive(Clone, Copy, Default)]
struct Legs {
    turn: f32,
    window: f32,
    vector: f32,
    /// 1 when the row has the date that is named.
    dated: f32,
    coverage: f32,
    identifiers: f32,
}

/// One partition, scored.
struct Scored {
    legs: Vec<Legs>,
    /// Evidence of the row itself, factors applied.
    own: Vec<f32>,
    /// By session number: mean of its best rows, neighbours included.
    session: Vec<f32>,
}

/// Scores of a question, ready to be asked row by row.
pub(super) struct Scorer<'a> {
    search: &'a Search<'a>,
    scored: Vec<Scored>,
    /// idf mass of the question's terms and date; 0 when it has no usable word.
    ideal: f32,
    date_idf: f32,
    /// Categories' half-lives by partition and name number.
    half_lives: Vec<Vec<f32>>,
}

impl<'a> Scorer<'a> {
    /// Runs all legs over all shown rows.
    pub(super) fn new(search: &'a Search<'a>) -> Self {
        let terms = search.question.query_terms();
        let mut statistics = Statistics::default();
        let windows: Vec<Windows<'_>> = search
            .partitions
            .iter()
            .zip(search.shown)
            .map(|(partition, shown)| Windows { live: shown, ..partition.windows() })
            .collect();
        for (partition, windows) in search.partitions.iter().zip(&windows) {
            partition.text().gather(terms, windows.live, &mut statistics);
            partition.text().gather_windows(*windows, &mut statistics);
        }
        let mass = if terms.is_empty() { 0.0 } else { statistics.mass(terms) };
        let hits: usize = search
            .partitions
            .iter()
            .zip(search.shown)
            .map(|(partition, shown)| {
                shown
                    .iter()
                    .filter(|row| search.question.names_date(partition.hot()[*row as usize].occurred))
                    .count()
            })
            .sum();
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
        let mut scorer = Self { search, scored: Vec::new(), ideal: mass + date_idf, date_idf, half_lives };
        for (number, windows) in windows.iter().enumerate() {
            let scored = scorer.partition(number, *windows, &statistics, mass);
            scorer.scored.push(scored);
        }
        scorer
    }

    fn partition(&self, number: usize, windows: Windows<'_>, statistics: &Statistics, mass: f32) -> Scored {
        let (search, weights) = (self.search, self.search.weights);
        let partition = search.partitions[number];
        let shown = windows.live;
        let mut legs = vec![Legs::default(); partition.len()];
        let terms = search.question.query_terms();
        if self.ideal > 1e-9 && mass > 0.0 {
            let parameters = Parameters { k1: weights.k1, b: weights.b };
            let mut scores = Scores::new();
            partition.text().score(terms, statistics, shown, parameters, &mut scores);
            for (row, score) in scores.iter() {
                legs[row as usize].turn = score / self.ideal;
            }
            partition.text().score_windows(terms, statistics, windows, shown, parameters, &mut scores);
            for (row, score) in scores.iter() {
                legs[row as usize].window = score / self.ideal;
                legs[row as usize].coverage = scores.coverage(row) * mass / self.ideal;
            }
        }
        if self.date_idf > 0.0 {
            for row in shown.iter() {
                if search.question.names_date(partition.hot()[row as usize].occurred) {
                    legs[row as usize].dated = 1.0;
                    legs[row as usize].coverage += self.date_idf / self.ideal;
                }
            }
        }
        if let Some(query) = search.vector {
            // The floor is the noise of the built-in model. A caller's vectors have none, and
            // where nothing but a vector is asked for, every cosine counts, negative ones too.
            let floor = match (search.caller_vector, self.ideal > 1e-9) {
                (false, _) => weights.cosine_floor,
                (true, true) => 0.0,
                (true, false) => -1.0,
            };
            partition.vectors().scan(query, shown, |row, cosine| {
                legs[row as usize].vector = ((cosine - floor) / (1.0 - floor)).max(0.0);
            });
        }
        let identifiers = search.question.identifiers();
        for identifier in identifiers {
            for (row, _) in partition.text().postings(identifier).iter() {
                if shown.contains(row) {
                    legs[row as usize].identifiers += 1.0 / identifiers.len() as f32;
                }
            }
        }
        let mut scored = Scored { own: vec![0.0; partition.len()], legs, session: Vec::new() };
        for row in shown.iter() {
            let mut own = self.own(&scored.legs[row as usize]);
            own.relevance = self.factors(number, row, &mut own.parts, own.relevance);
            scored.own[row as usize] = own.relevance;
        }
        let mut best = vec![[0f32; SESSION_BEST]; partition.conversations().sessions()];
        let mut members = vec![0usize; best.len()];
        for row in shown.iter() {
            let session = session_of(partition, row);
            if session == NO_ROW {
                continue;
            }
            let (value, _) = self.with_neighbours(partition, &scored.own, row);
            members[session as usize] += 1;
            let best = &mut best[session as usize];
            if value > best[SESSION_BEST - 1] {
                best[SESSION_BEST - 1] = value;
                best.sort_by(|a, b| b.total_cmp(a));
            }
        }
        scored.session = best
            .iter()
            .zip(members)
            .map(|(best, members)| best.iter().sum::<f32>() / members.clamp(1, SESSION_BEST) as f32)
            .collect();
        scored
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
        parts.coverage =
            -(1.0 - weights.coverage) * (1.0 - legs.coverage.min(1.0)) * (parts.keywords + parts.context);
        Own { relevance: parts.relevance_sum().max(0.0), parts }
    }

    /// Step 3: what speaker, role and form of the card take away.
    fn factors(&self, number: usize, row: u32, parts: &mut Parts, mut own: f32) -> f32 {
        let (weights, question) = (self.search.weights, self.search.question);
        let hot = &self.search.partitions[number].hot()[row as usize];
        let mut apply = |part: &mut f32, factor: f32| {
            *part = own * (factor - 1.0);
            own += *part;
        };
        if question.names_somebody() {
            if hot.speaker != NO_ROW && !question.names_speaker(number, hot.speaker) {
                apply(&mut parts.speaker, weights.other_speaker);
            }
        } else if hot.assistant && !question.asks_assistant() {
            apply(&mut parts.role, weights.assistant);
        }
        if hot.question {
            apply(&mut parts.asks, weights.asks);
        }
        own
    }

    /// Step 4, first half: a row's own evidence with what its neighbours lend.
    fn with_neighbours(&self, partition: &Partition, own: &[f32], row: u32) -> (f32, f32) {
        let weights = self.search.weights;
        let (before, after) = neighbours_of(partition, row);
        let mine = own[row as usize];
        let lent = match (before, after) {
            (None, None) => weights.alone * mine,
            _ => {
                let previous = before.map_or(0.0, |before| {
                    let asks = partition.hot()[before as usize].question;
                    let share = weights.lend_previous + if asks { weights.lend_answer } else { 0.0 };
                    share * own[before as usize]
                });
                previous + after.map_or(0.0, |after| weights.lend_next * own[after as usize])
            }
        };
        (mine + lent, lent)
    }

    /// Steps 4 to 6: raw score, and what neighbours, session and identifiers add to it.
    fn raw(&self, number: usize, row: u32) -> (f32, f32, f32, f32) {
        let (weights, scored) = (self.search.weights, &self.scored[number]);
        let partition = self.search.partitions[number];
        let (value, lent) = self.with_neighbours(partition, &scored.own, row);
        let session = match session_of(partition, row) {
            NO_ROW => value,
            session => scored.session[session as usize],
        };
        let session = weights.session * session;
        let identifier = weights.identifier * scored.legs[row as usize].identifiers;
        (value + session + identifier, lent, session, identifier)
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
        (
            weights.recency / total * recency,
            weights.importance / total * hot.importance,
            weights.confidence / total * hot.confidence,
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

    /// Relevance and score of a row, each 0 to 1, unless its relevance is below `least`.
    pub(super) fn score(&self, number: usize, row: u32, least: f32) -> Option<(f32, f32)> {
        let raw = self.raw(number, row).0;
        // 1 − exp(−x) never exceeds x: most rows are ruled out without the exponentials.
        if raw / self.search.weights.squash < least {
            return None;
        }
        let relevance = self.relevance(raw);
        if relevance < least {
            return None;
        }
        let (recency, importance, confidence) = self.modifiers(number, row);
        let cap = self.cap();
        let score = relevance * (1.0 - cap) + relevance * cap * (recency + importance + confidence);
        Some((relevance, score))
    }

    /// The parts of a row's score; they add up to it.
    pub(super) fn parts(&self, number: usize, row: u32) -> Parts {
        let Own { relevance: own, mut parts } = self.own(&self.scored[number].legs[row as usize]);
        self.factors(number, row, &mut parts, own);
        let (raw, lent, session, identifier) = self.raw(number, row);
        let partition = self.search.partitions[number];
        match neighbours_of(partition, row) {
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
        let (relevance, cap) = (self.relevance(raw), self.cap());
        let (recency, importance, confidence) = self.modifiers(number, row);
        parts.scale(if raw > 1e-12 { relevance / raw * (1.0 - cap) } else { 0.0 });
        parts.recency = relevance * cap * recency;
        parts.importance = relevance * cap * importance;
        parts.confidence = relevance * cap * confidence;
        parts
    }
}

struct Own {
    relevance: f32,
    parts: Parts,
}

/// The rows before and after a row in its conversation.
fn neighbours_of(partition: &Partition, row: u32) -> (Option<u32>, Option<u32>) {
    let neighbour = |rows: &[u32]| rows.get(row as usize).copied().filter(|row| *row != NO_ROW);
    (neighbour(partition.conversations().previous()), neighbour(partition.conversations().next()))
}

fn session_of(partition: &Partition, row: u32) -> u32 {
    partition.conversations().session().get(row as usize).copied().unwrap_or(NO_ROW)
}
