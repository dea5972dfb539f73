//! Evaluation of recall: a corpus with labelled questions goes through the public API, and
//! what comes back is compared with the labels.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use memcards::card::CardId;
use memcards::recall::rerank::Reranker;
use memcards::recall::{Parts, Weights};
use memcards::{ManualClock, Options, Recall, Remember, Store, Tenant, Timestamp};
use serde_json::json;

use crate::Outcome;
use crate::ablation::Leg;
use crate::figures::{
    Abstention, Evaluation, Explained, Found, Missed, Quote, RANKS, Shares, TOP, TopScores, Wanted,
};
use crate::latency::{Percentiles, distribution, timed};

/// Hits that are shown of a question that missed its evidence.
const SHOWN: usize = 3;
/// Characters that are kept of a text that is shown.
const QUOTED: usize = 400;

/// One labelled question.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Names the question in the log.
    pub id: String,
    /// The group it is reported in.
    pub category: String,
    /// The question itself.
    pub text: String,
    /// Pieces of evidence, each a set of cards (by index in the corpus) of which one is
    /// enough. A question without evidence and sessions has no answer in the corpus.
    pub evidence: Vec<BTreeSet<usize>>,
    /// Sessions that hold the answer, each under all names that it has; those of the evidence
    /// when empty.
    pub sessions: Vec<BTreeSet<String>>,
    /// Cards that state what holds no longer: none may come before the evidence.
    pub outdated: BTreeSet<usize>,
}

/// Memories of one user, and questions about them.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Names the corpus in the log.
    pub name: String,
    /// What is remembered, in order, and the name of each in the data set.
    pub cards: Vec<(String, Remember)>,
    /// The instant at which the questions are asked.
    pub asked_at: Timestamp,
    /// The questions.
    pub questions: Vec<Question>,
}

/// A corpus in a store of its own.
pub struct Loaded {
    corpus: Corpus,
    numbers: HashMap<CardId, usize>,
    tenant: Tenant,
    _directory: tempfile::TempDir,
}

impl Loaded {
    /// Remembers a corpus in a fresh store.
    ///
    /// # Errors
    /// When a card is refused or does not become a card of its own.
    pub fn new(corpus: Corpus, keywords_only: bool) -> Outcome<Self> {
        Self::with_reranker(corpus, keywords_only, Options::default().reranker)
    }

    /// The same with another re-ranker.
    ///
    /// # Errors
    /// As [`Loaded::new`].
    pub fn with_reranker(
        corpus: Corpus,
        keywords_only: bool,
        reranker: Option<Arc<dyn Reranker>>,
    ) -> Outcome<Self> {
        let directory = tempfile::tempdir()?;
        let mut options =
            Options { clock: Arc::new(ManualClock::new(corpus.asked_at)), reranker, ..Options::default() };
        if keywords_only {
            options.embedder = None;
        }
        let store = Store::open(directory.path(), options)?;
        let tenant = store.tenant(&corpus.name)?;
        let mut numbers = HashMap::new();
        let requests: Vec<Remember> = corpus.cards.iter().map(|(_, request)| request.clone()).collect();
        for (start, chunk) in (0..).step_by(1000).zip(requests.chunks(1000)) {
            for (offset, answer) in tenant.remember_all(chunk.to_vec())?.into_iter().enumerate() {
                let name = &corpus.cards[start + offset].0;
                let answer = answer.map_err(|error| format!("{name}: {error}"))?;
                if numbers.insert(answer.id, start + offset).is_some() {
                    return Err(format!("{name} did not become a card of its own").into());
                }
            }
        }
        Ok(Self { corpus, numbers, tenant, _directory: directory })
    }

    /// The corpus.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// The number of a card in the corpus.
    pub fn number(&self, card: CardId) -> Option<usize> {
        self.numbers.get(&card).copied()
    }

    /// Asks a question with the default weights; what comes back is of no interest.
    ///
    /// # Errors
    /// When recall fails.
    pub fn touch(&self, question: &Question) -> Outcome {
        self.ask(question, Recall::default()).map(|_| ())
    }

    fn ask(&self, question: &Question, request: Recall) -> Outcome<(Vec<Ranked>, Duration)> {
        let request = Recall { query: Some(question.text.clone()), top: Some(TOP), ..request };
        let (answer, time) = timed(|| self.tenant.recall(request));
        let ranked = answer?
            .hits
            .into_iter()
            .filter_map(|hit| {
                let card = *self.numbers.get(&hit.card.id)?;
                Some(Ranked { card, score: hit.score, parts: hit.parts })
            })
            .collect();
        Ok((ranked, time))
    }

    fn session(&self, card: usize) -> Option<&str> {
        self.corpus.cards[card].1.session.as_deref()
    }

    fn quote(&self, card: usize) -> Quote {
        let (name, request) = &self.corpus.cards[card];
        let role = request.role.map(|role| role.name().to_owned());
        let mut text: String = request.content.chars().take(QUOTED).collect();
        if text.len() < request.content.len() {
            text.push('…');
        }
        let speaker = request.speaker.clone().or(role).unwrap_or_default();
        Quote { name: name.clone(), speaker, text }
    }
}

/// A card of the corpus in an answer.
struct Ranked {
    card: usize,
    score: f32,
    parts: Option<Parts>,
}

impl Question {
    /// Whether the corpus answers it.
    pub fn is_answerable(&self) -> bool {
        !self.evidence.is_empty() || !self.sessions.is_empty()
    }

    /// Where the first of the hits is that satisfies something, from 1.
    fn rank(ranked: &[Ranked], wanted: impl Fn(usize) -> bool) -> Option<usize> {
        ranked.iter().position(|hit| wanted(hit.card)).map(|at| at + 1)
    }

    fn is_evidence(&self, card: usize) -> bool {
        self.evidence.iter().any(|cards| cards.contains(&card))
    }

    /// Where each piece of the evidence came.
    fn evidence_ranks(&self, ranked: &[Ranked]) -> Vec<Option<usize>> {
        self.evidence.iter().map(|cards| Self::rank(ranked, |card| cards.contains(&card))).collect()
    }

    /// Where each session of the evidence came first.
    fn session_ranks(&self, loaded: &Loaded, ranked: &[Ranked]) -> Vec<Option<usize>> {
        let rank = |wanted: &dyn Fn(&str) -> bool| {
            Self::rank(ranked, |card| loaded.session(card).is_some_and(wanted))
        };
        if !self.sessions.is_empty() {
            return self.sessions.iter().map(|names| rank(&|session| names.contains(session))).collect();
        }
        let wanted: BTreeSet<&str> =
            self.evidence.iter().flatten().filter_map(|card| loaded.session(*card)).collect();
        wanted.into_iter().map(|name| rank(&|session| session == name)).collect()
    }
}

/// Adds shares found by each rank, some found and all found to three sums.
fn add_shares(sums: [&mut Shares; 3], found: &[Option<usize>]) {
    let [share, any, all] = sums;
    for (index, rank) in RANKS.into_iter().enumerate() {
        let hits = found.iter().flatten().filter(|at| **at <= rank).count();
        share[index] += hits as f64 / found.len().max(1) as f64;
        any[index] += f64::from(u8::from(hits > 0));
        all[index] += f64::from(u8::from(hits == found.len()));
    }
}

/// Adds the answer of one question to the sums of a group.
fn add(found: &mut Found, loaded: &Loaded, question: &Question, ranked: &[Ranked]) {
    found.questions += 1;
    let evidence = question.evidence_ranks(ranked);
    if !evidence.is_empty() {
        found.turn_questions += 1;
        add_shares([&mut found.recall, &mut found.any, &mut found.all], &evidence);
    }
    let sessions = question.session_ranks(loaded, ranked);
    if !sessions.is_empty() {
        found.session_questions += 1;
        add_shares([&mut found.sessions, &mut found.any_session, &mut found.all_sessions], &sessions);
    }
    if !question.outdated.is_empty() {
        let outdated = Question::rank(ranked, |card| question.outdated.contains(&card));
        let settled = match (evidence.iter().flatten().min(), outdated) {
            (Some(evidence), Some(outdated)) => *evidence < outdated,
            (evidence, _) => evidence.is_some(),
        };
        found.settled_questions += 1;
        found.settled += f64::from(u8::from(settled));
    }
}

/// Adds up what the questions of corpora find that come one after the other.
pub struct Evaluator {
    weights: Option<Weights>,
    /// Whether missed questions are shown.
    shown: bool,
    durations: Vec<Duration>,
    answerable: TopScores,
    /// Holds sums until the end.
    sums: Evaluation,
    abstention: Abstention,
}

impl Evaluator {
    /// With other weights, if there are some; `threshold` is the score from which on a hit
    /// counts as an answer to a question that has none.
    pub fn new(weights: Option<Weights>, threshold: f64) -> Self {
        let sums = Evaluation { first_ranks: vec![0; TOP + 1], ..Evaluation::default() };
        Self {
            weights,
            shown: false,
            durations: vec![],
            answerable: TopScores::default(),
            sums,
            abstention: Abstention { threshold, ..Abstention::default() },
        }
    }

    /// Keeps the questions that missed evidence, with what came instead.
    pub fn showing_missed(self) -> Self {
        Self { shown: true, ..self }
    }

    fn request(&self) -> Recall {
        Recall { weights: self.weights.clone(), ..Recall::default() }
    }

    /// Asks every question of a corpus.
    ///
    /// # Errors
    /// When a recall fails.
    pub fn add(&mut self, loaded: &Loaded) -> Outcome {
        // The first recall loads the index; that is measured elsewhere.
        if let Some(first) = loaded.corpus.questions.first() {
            loaded.ask(first, Recall::default())?;
        }
        self.sums.corpus_count += 1;
        self.sums.card_count += loaded.corpus.cards.len();
        for question in &loaded.corpus.questions {
            let (ranked, time) = loaded.ask(question, self.request())?;
            self.durations.push(time);
            let top = ranked.first().map(|hit| hit.score);
            let threshold = self.abstention.threshold;
            if !question.is_answerable() {
                let category = self.abstention.categories.entry(question.category.clone()).or_default();
                category.add(top, threshold);
                self.abstention.unanswerable.add(top, threshold);
                continue;
            }
            self.answerable.add(top, threshold);
            let group = |groups: &mut BTreeMap<String, Found>, name: &String| {
                add(groups.entry(name.clone()).or_default(), loaded, question, &ranked);
            };
            add(&mut self.sums.total, loaded, question, &ranked);
            group(&mut self.sums.categories, &question.category);
            group(&mut self.sums.corpora, &loaded.corpus.name);
            let wanted = match question.evidence.is_empty() {
                true => question.session_ranks(loaded, &ranked),
                false => question.evidence_ranks(&ranked),
            };
            if !question.evidence.is_empty() {
                let first = wanted.iter().flatten().min();
                self.sums.first_ranks[first.map_or(TOP, |rank| rank - 1)] += 1;
            }
            if self.shown && wanted.iter().any(|rank| rank.is_none_or(|rank| rank > 10)) {
                let missed = self.missed(loaded, question, &wanted)?;
                self.sums.missed.push(missed);
            }
        }
        Ok(())
    }

    /// Mean share of the evidence among the first ten so far.
    pub fn recall_at_ten(&self) -> f64 {
        self.sums.total.recall[2] / self.sums.total.turn_questions.max(1) as f64
    }

    /// The figures of all corpora.
    pub fn finish(self) -> Evaluation {
        let Self { durations, mut sums, mut abstention, answerable, .. } = self;
        // The questions of such corpora are told from each other by category only.
        if sums.corpora.len() > 1 && sums.corpora.values().all(|found| found.questions == 1) {
            sums.corpora.clear();
        }
        sums.total.divide();
        sums.categories.values_mut().chain(sums.corpora.values_mut()).for_each(Found::divide);
        if abstention.unanswerable.questions > 0 {
            abstention.answerable = answerable;
            abstention.unanswerable.divide();
            abstention.answerable.divide();
            abstention.categories.values_mut().for_each(TopScores::divide);
            sums.abstention = Some(abstention);
        }
        sums.latency = Percentiles::of(&durations);
        sums.latency_bins = distribution(&durations);
        sums
    }

    fn missed(&self, loaded: &Loaded, question: &Question, ranks: &[Option<usize>]) -> Outcome<Missed> {
        let (explained, _) = loaded.ask(question, Recall { explain: true, ..self.request() })?;
        let quotes: Vec<Vec<Quote>> = match question.evidence.is_empty() {
            false => {
                let quotes = |cards: &BTreeSet<usize>| cards.iter().map(|card| loaded.quote(*card)).collect();
                question.evidence.iter().map(quotes).collect()
            }
            true => {
                let quote = |name: &String| Quote { name: name.clone(), ..Quote::default() };
                question.sessions.iter().map(|names| names.iter().map(quote).collect()).collect()
            }
        };
        let wanted = quotes.into_iter().zip(ranks).map(|(quotes, rank)| Wanted { quotes, rank: *rank });
        let first = explained.iter().take(SHOWN).map(|hit| {
            Ok(Explained {
                quote: loaded.quote(hit.card),
                score: f64::from(hit.score),
                parts: hit.parts.as_ref().map(parts).transpose()?.unwrap_or_default(),
                evidence: question.is_evidence(hit.card),
            })
        });
        Ok(Missed {
            id: question.id.clone(),
            category: question.category.clone(),
            question: question.text.clone(),
            asked_at: loaded.corpus.asked_at.to_string(),
            wanted: wanted.collect(),
            first: first.collect::<Outcome<_>>()?,
        })
    }

    /// Writes one line for every question of a corpus: what each leg alone returned, the fused
    /// list, the ranks of the evidence.
    ///
    /// # Errors
    /// When a recall fails or the log cannot be written.
    pub fn log(&self, loaded: &Loaded, log: &mut dyn Write) -> Outcome {
        for question in &loaded.corpus.questions {
            let (explained, _) = loaded.ask(question, Recall { explain: true, ..self.request() })?;
            write_line(log, loaded, question, &explained)?;
        }
        Ok(())
    }
}

/// The parts of a score that are not 0, rounded to what matters.
fn parts(parts: &Parts) -> Outcome<BTreeMap<String, f64>> {
    let parts: BTreeMap<String, f64> = serde_json::from_value(serde_json::to_value(parts)?)?;
    let rounded = parts.into_iter().map(|(name, part)| (name, (part * 1e4).round() / 1e4));
    Ok(rounded.filter(|(_, part)| *part != 0.0).collect())
}

/// One line of the log: what each leg alone returned, the fused list, ranks of evidence.
fn write_line(log: &mut dyn Write, loaded: &Loaded, question: &Question, fused: &[Ranked]) -> Outcome {
    let name = |card: usize| loaded.corpus.cards[card].0.as_str();
    let mut legs = serde_json::Map::new();
    for leg in Leg::ALL {
        let request = Recall {
            weights: Some(leg.weights()),
            min_score: Some(1e-6),
            explain: leg == Leg::Date,
            ..Recall::default()
        };
        let (ranked, _) = loaded.ask(question, request)?;
        let list: Vec<_> = ranked
            .iter()
            .filter(|hit| hit.parts.as_ref().is_none_or(|parts| parts.date > 0.0))
            .map(|hit| json!({"id": name(hit.card), "score": hit.score}))
            .collect();
        legs.insert(leg.name().into(), list.into());
    }
    let found = question.evidence_ranks(fused);
    let ranks: Vec<_> = question
        .evidence
        .iter()
        .zip(found)
        .map(|(cards, rank)| {
            let cards: Vec<_> = cards.iter().map(|card| name(*card)).collect();
            json!({"ids": cards, "rank": rank})
        })
        .collect();
    let fused: Vec<_> = fused
        .iter()
        .map(|hit| json!({"id": name(hit.card), "score": hit.score, "parts": hit.parts}))
        .collect();
    let line = json!({
        "corpus": loaded.corpus.name,
        "id": question.id,
        "category": question.category,
        "question": question.text,
        "evidence": ranks,
        "legs": legs,
        "fused": fused,
    });
    serde_json::to_writer(&mut *log, &line)?;
    log.write_all(b"\n")?;
    Ok(())
}
