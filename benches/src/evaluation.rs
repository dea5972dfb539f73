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
use serde::Serialize;
use serde_json::json;

use crate::Outcome;
use crate::ablation::Leg;
use crate::latency::{Percentiles, timed};

/// Ranks at which recall is reported.
pub const RANKS: [usize; 4] = [1, 5, 10, 20];
const TOP: usize = 20;

/// One labelled question.
#[derive(Clone, Debug)]
pub struct Question {
    /// Names the question in the log.
    pub id: String,
    /// The group it is reported in.
    pub category: String,
    /// The question itself.
    pub text: String,
    /// Pieces of evidence, each a set of cards (by index in the corpus) of which one is
    /// enough.
    pub evidence: Vec<BTreeSet<usize>>,
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

/// What the questions of a group found, as shares from 0 to 1 at each of [`RANKS`].
#[derive(Clone, Debug, Default, Serialize)]
pub struct Found {
    /// Questions.
    pub questions: usize,
    /// Mean share of the evidence found.
    pub recall: [f64; RANKS.len()],
    /// Share of questions of which some evidence was found.
    pub any: [f64; RANKS.len()],
    /// Share of questions of which all evidence was found.
    pub all: [f64; RANKS.len()],
    /// Mean share of the evidence's sessions found.
    pub sessions: [f64; RANKS.len()],
    /// Share of questions of which some session of the evidence was found.
    pub any_session: [f64; RANKS.len()],
    /// Questions that have something outdated, and the share of them in which none of it came
    /// before the first evidence.
    pub settled_questions: usize,
    /// See [`Found::settled_questions`].
    pub settled: f64,
}

/// The answer of one evaluation run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Evaluation {
    /// All questions together.
    pub total: Found,
    /// By category.
    pub categories: BTreeMap<String, Found>,
    /// By corpus.
    pub corpora: BTreeMap<String, Found>,
    /// End to end, embedding of the question included.
    pub latency: Percentiles,
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
}

/// A card of the corpus in an answer.
struct Ranked {
    card: usize,
    score: f32,
    parts: Option<Parts>,
}

/// Sums over questions, divided at the end.
#[derive(Default)]
struct Sums(Found);

impl Sums {
    fn add(&mut self, loaded: &Loaded, question: &Question, ranked: &[Ranked]) {
        let found = &mut self.0;
        found.questions += 1;
        for (index, rank) in RANKS.into_iter().enumerate() {
            let seen: BTreeSet<usize> = ranked.iter().take(rank).map(|hit| hit.card).collect();
            let hits = question.evidence.iter().filter(|cards| !cards.is_disjoint(&seen)).count();
            found.recall[index] += hits as f64 / question.evidence.len() as f64;
            found.any[index] += f64::from(u8::from(hits > 0));
            found.all[index] += f64::from(u8::from(hits == question.evidence.len()));
            let seen: BTreeSet<_> = seen.iter().filter_map(|card| loaded.session(*card)).collect();
            let wanted: BTreeSet<_> =
                question.evidence.iter().flatten().filter_map(|card| loaded.session(*card)).collect();
            let shared = wanted.intersection(&seen).count();
            found.sessions[index] += shared as f64 / wanted.len().max(1) as f64;
            found.any_session[index] += f64::from(u8::from(shared > 0));
        }
        if !question.outdated.is_empty() {
            let first = |wanted: &dyn Fn(usize) -> bool| ranked.iter().position(|hit| wanted(hit.card));
            let evidence = first(&|card| question.evidence.iter().any(|cards| cards.contains(&card)));
            let outdated = first(&|card| question.outdated.contains(&card));
            let settled = match (evidence, outdated) {
                (Some(evidence), Some(outdated)) => evidence < outdated,
                (evidence, _) => evidence.is_some(),
            };
            found.settled_questions += 1;
            found.settled += f64::from(u8::from(settled));
        }
    }

    fn finish(mut self) -> Found {
        let count = self.0.questions.max(1) as f64;
        let found = &mut self.0;
        for sums in
            [&mut found.recall, &mut found.any, &mut found.all, &mut found.sessions, &mut found.any_session]
        {
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
        found.settled /= found.settled_questions.max(1) as f64;
        self.0
    }
}

/// Asks every question of every corpus.
///
/// # Errors
/// When a recall fails or the log cannot be written.
pub fn evaluate(
    corpora: &[Loaded],
    weights: Option<&Weights>,
    mut log: Option<&mut dyn Write>,
) -> Outcome<Evaluation> {
    let mut total = Sums::default();
    let (mut categories, mut names) = (BTreeMap::<String, Sums>::new(), BTreeMap::<String, Sums>::new());
    let mut latencies = Vec::new();
    for loaded in corpora {
        // The first recall loads the index; that is measured elsewhere.
        if let Some(first) = loaded.corpus.questions.first() {
            loaded.ask(first, Recall::default())?;
        }
        for question in &loaded.corpus.questions {
            let request = || Recall { weights: weights.cloned(), ..Recall::default() };
            let (ranked, time) = loaded.ask(question, request())?;
            latencies.push(time);
            total.add(loaded, question, &ranked);
            categories.entry(question.category.clone()).or_default().add(loaded, question, &ranked);
            names.entry(loaded.corpus.name.clone()).or_default().add(loaded, question, &ranked);
            if let Some(log) = log.as_deref_mut() {
                let (explained, _) = loaded.ask(question, Recall { explain: true, ..request() })?;
                write_line(log, loaded, question, &explained)?;
            }
        }
    }
    let finish = |groups: BTreeMap<String, Sums>| {
        groups.into_iter().map(|(name, sums)| (name, sums.finish())).collect()
    };
    Ok(Evaluation {
        total: total.finish(),
        categories: finish(categories),
        corpora: finish(names),
        latency: Percentiles::of(&latencies),
    })
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
    let ranks: Vec<_> = question
        .evidence
        .iter()
        .map(|cards| {
            let rank = fused.iter().position(|hit| cards.contains(&hit.card)).map(|at| at + 1);
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
