//! What an evaluation found: figures that can be added up question by question, written as
//! JSON, and read again to be drawn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::latency::{Bin, Percentiles};

/// Ranks at which recall is reported.
pub const RANKS: [usize; 4] = [1, 5, 10, 20];
/// Hits that are asked for: what comes later counts as not found.
pub const TOP: usize = 20;
/// Bins of a distribution of scores, which lie from 0 to 1.
pub const SCORE_BINS: usize = 20;

/// A share from 0 to 1 at each of [`RANKS`].
pub type Shares = [f64; RANKS.len()];

/// What the questions of a group found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    /// Questions.
    pub questions: usize,
    /// Questions of which turns are labelled: the next three are about these.
    pub turn_questions: usize,
    /// Mean share of the evidence found.
    pub recall: Shares,
    /// Share of questions of which some evidence was found.
    pub any: Shares,
    /// Share of questions of which all evidence was found.
    pub all: Shares,
    /// Questions of which sessions are labelled or hold the evidence: the next three are
    /// about these.
    pub session_questions: usize,
    /// Mean share of the evidence's sessions found.
    pub sessions: Shares,
    /// Share of questions of which some session of the evidence was found.
    pub any_session: Shares,
    /// Share of questions of which all sessions of the evidence were found.
    pub all_sessions: Shares,
    /// Questions that have something outdated, and the share of them in which none of it came
    /// before the first evidence.
    pub settled_questions: usize,
    /// See [`Found::settled_questions`].
    pub settled: f64,
}

impl Found {
    /// Makes the shares of what were sums until now.
    pub(crate) fn divide(&mut self) {
        let divide = |sums: [&mut Shares; 3], count: usize| {
            for sum in sums.into_iter().flatten() {
                *sum /= count.max(1) as f64;
            }
        };
        divide([&mut self.recall, &mut self.any, &mut self.all], self.turn_questions);
        divide([&mut self.sessions, &mut self.any_session, &mut self.all_sessions], self.session_questions);
        self.settled /= self.settled_questions.max(1) as f64;
    }

    /// The standard error of recall at one of [`RANKS`], as if each question were found or not.
    pub fn error(&self, index: usize) -> f64 {
        let share = self.recall[index];
        (share * (1.0 - share) / self.turn_questions.max(1) as f64).sqrt()
    }
}

/// Scores of the first hits of a group of questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopScores {
    /// Questions.
    pub questions: usize,
    /// Mean score of the first hit, 0 where there was none.
    pub mean: f64,
    /// Share of questions without a hit that reaches the threshold.
    pub silent: f64,
    /// How many first hits have a score in each twentieth from 0 to 1.
    pub bins: [usize; SCORE_BINS],
}

impl TopScores {
    pub(crate) fn add(&mut self, score: Option<f32>, threshold: f64) {
        let score = score.map_or(0.0, f64::from);
        self.questions += 1;
        self.mean += score;
        self.silent += f64::from(u8::from(score < threshold));
        self.bins[((score * SCORE_BINS as f64) as usize).min(SCORE_BINS - 1)] += 1;
    }

    pub(crate) fn divide(&mut self) {
        let count = self.questions.max(1) as f64;
        (self.mean, self.silent) = (self.mean / count, self.silent / count);
    }
}

/// How questions fare that nothing in the memory answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Abstention {
    /// The score that a hit must reach to count as an answer.
    pub threshold: f64,
    /// Questions without an answer in the memory.
    pub unanswerable: TopScores,
    /// The others, for comparison: a threshold silences some of them too.
    pub answerable: TopScores,
    /// Questions without an answer by category.
    pub categories: BTreeMap<String, TopScores>,
}

/// A text of the data set, by its name there; long texts are cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quote {
    /// The name of the card, or of the session.
    pub name: String,
    /// Who said it.
    pub speaker: String,
    /// The text.
    pub text: String,
}

/// A piece of evidence that was wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wanted {
    /// The cards of which one is enough.
    pub quotes: Vec<Quote>,
    /// Where the first of them came; `None` when it was not among the hits.
    pub rank: Option<usize>,
}

/// A hit, with what its score is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explained {
    /// The card.
    pub quote: Quote,
    /// Its score.
    pub score: f64,
    /// The parts of the score that are not 0.
    pub parts: BTreeMap<String, f64>,
    /// Whether it is labelled as evidence.
    pub evidence: bool,
}

/// A question of which not all evidence came among the first ten.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missed {
    /// The question's name.
    pub id: String,
    /// Its category.
    pub category: String,
    /// The question.
    pub question: String,
    /// The instant at which it was asked.
    pub asked_at: String,
    /// What should have come.
    pub wanted: Vec<Wanted>,
    /// What came first.
    pub first: Vec<Explained>,
}

impl Missed {
    /// Whether nothing of the evidence came among the first ten.
    pub fn whole(&self) -> bool {
        self.wanted.iter().all(|wanted| wanted.rank.is_none_or(|rank| rank > 10))
    }
}

/// The answer of one evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evaluation {
    /// All questions that have an answer.
    pub total: Found,
    /// By category.
    pub categories: BTreeMap<String, Found>,
    /// By corpus; empty where each corpus has one question only.
    pub corpora: BTreeMap<String, Found>,
    /// Corpora.
    pub corpus_count: usize,
    /// Cards in all of them.
    pub card_count: usize,
    /// How many questions have their first evidence at each rank, from 1 to [`TOP`], and the
    /// number of those that have none there.
    pub first_ranks: Vec<usize>,
    /// Questions without an answer, where the data has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abstention: Option<Abstention>,
    /// End to end, embedding of the question included.
    pub latency: Percentiles,
    /// The distribution of these latencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latency_bins: Vec<Bin>,
    /// Questions of which not all evidence came among the first ten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Missed>,
}

/// The same questions with other weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// What was changed.
    pub variant: String,
    /// What came of it.
    pub evaluation: Evaluation,
}

/// One run of an evaluation: what the programs print as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The data set, and how it became cards.
    pub shape: String,
    /// With the default weights.
    pub evaluation: Evaluation,
    /// With others.
    #[serde(default)]
    pub ablations: Vec<Variant>,
}
