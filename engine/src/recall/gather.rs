//! Candidates: the rows of a large partition that may be among the best.
//!
//! Scoring every row of a partition takes as long as the partition is large. Of a large one
//! only candidates are scored: those nearest in meaning, those with the question's words,
//! identifiers or date, and what these lend their score to. Which rows are candidates is a
//! guess; what a candidate's score is is not.

use crate::index::rows::RowSet;
use crate::index::text::{Parameters, Promising, Selection};
use crate::index::vector::SearchOptions;
use crate::recall::evidence::{Legs, scores_of};
use crate::recall::fuse::Scorer;

/// How much is looked at. The figures are measured, see the README of the benches.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Of a partition that shows no more rows, every one is scored; likewise when no more
    /// rows satisfy the conditions of a request.
    pub(crate) every: usize,
    /// Rows nearest in meaning.
    pub(crate) vectors: usize,
    /// Rows with the best words, of which the best `words` by words and meaning are taken.
    pub(crate) pool: usize,
    /// See [`Limits::pool`]; also rows with one of the identifiers, or the date.
    pub(crate) words: usize,
    /// Of these rows, how many are candidates with their neighbours.
    pub(crate) kept: usize,
    /// Of so many rows that have the question's date the best are looked for by meaning, too;
    /// of more only by words.
    pub(crate) dated: usize,
    /// Postings that are read to find these.
    pub(crate) postings: usize,
    /// Rows beyond the wanted ones whose sessions are scored as a whole.
    pub(crate) contenders: usize,
    /// Rows of the largest session that is.
    pub(crate) session: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            every: 16_384,
            vectors: 100,
            pool: 2_000,
            words: 200,
            kept: 200,
            dated: 16_384,
            postings: 1_000_000,
            contenders: 16,
            session: 256,
        }
    }
}

impl Limits {
    /// Scores everything.
    pub(crate) fn none() -> Self {
        Self { every: usize::MAX, ..Self::default() }
    }
}

/// Rows of one partition that may be candidates, in no particular order.
pub(super) enum Gathered {
    /// Every row is to be scored.
    Everything,
    /// These are all that can be found.
    Wanted(Vec<u32>),
    /// The best of them are candidates.
    Guess(Vec<u32>),
}

impl Gathered {
    /// The rows; none when every one is to be scored.
    pub(super) fn rows(&self) -> &[u32] {
        match self {
            Self::Everything => &[],
            Self::Wanted(rows) | Self::Guess(rows) => rows,
        }
    }
}

/// Looks for the rows of a partition that may be among the best.
pub(super) fn gather(scorer: &Scorer<'_>, number: usize) -> Gathered {
    let search = scorer.search;
    let (limits, shown) = (search.limits, &search.shown[number]);
    if shown.len() <= limits.every {
        return Gathered::Everything;
    }
    let wanted = search.wanted[number].as_ref();
    if let Some(wanted) = wanted
        && wanted.len() <= limits.every
    {
        return Gathered::Wanted(wanted.iter().collect());
    }
    let mut rows = Vec::new();
    // Rows that must not be found lend to those that may be: the best of all are wanted, and
    // the best of these.
    for allowed in [Some(shown.rows()), wanted].into_iter().flatten() {
        let gathering = Gathering { scorer, number, allowed };
        rows.extend(gathering.by_words(|row| allowed.contains(row)));
        let everything = wanted.is_none() && shown.is_everything();
        gathering.by_vector((!everything).then_some(allowed), &mut rows);
        gathering.by_identifiers(&mut rows);
        gathering.by_date(&mut rows);
    }
    Gathered::Guess(rows)
}

struct Gathering<'a> {
    scorer: &'a Scorer<'a>,
    number: usize,
    /// Rows that are looked for.
    allowed: &'a RowSet,
}

impl Gathering<'_> {
    fn by_words(&self, admit: impl Fn(u32) -> bool) -> Vec<u32> {
        let search = self.scorer.search;
        let partition = search.partitions[self.number];
        let windows = partition.windows(search.shown[self.number].rows());
        let wanted = search.limits.words.max(search.top * 2);
        let selection = Selection { rows: search.limits.pool.max(wanted), postings: search.limits.postings };
        let parameters = Parameters { k1: search.weights.k1, b: search.weights.b };
        let terms = search.question.query_terms();
        let statistics = &self.scorer.statistics;
        let pool = partition.text().best_rows(terms, statistics, windows, parameters, selection, admit);
        if pool.len() <= wanted {
            return pool.iter().map(|promising| promising.row).collect();
        }
        self.best_of(pool, wanted)
    }

    /// The best of a pool, as far as can be told without their windows. Many rows may have
    /// the same words: then it is the rest of their evidence that decides.
    fn best_of(&self, mut pool: Vec<Promising>, wanted: usize) -> Vec<u32> {
        let (scorer, ideal) = (self.scorer, self.scorer.ideal);
        pool.sort_unstable_by_key(|promising| promising.row);
        let rows: Vec<u32> = pool.iter().map(|promising| promising.row).collect();
        let mut rated: Vec<(f32, u32)> = pool
            .iter()
            .zip(scores_of(scorer, self.number, &rows))
            .map(|(promising, vector)| {
                let window = (promising.score + promising.around) / ideal;
                let turn = promising.score / ideal;
                let legs = Legs { turn, window, vector, coverage: window, ..Legs::default() };
                (scorer.own_of(self.number, promising.row, &legs), promising.row)
            })
            .collect();
        keep_best(&mut rated, wanted);
        rated.into_iter().map(|(_, row)| row).collect()
    }

    fn by_vector(&self, allowed: Option<&RowSet>, rows: &mut Vec<u32>) {
        let search = self.scorer.search;
        let (Some(query), Some(index)) = (search.vector, search.partitions[self.number].vectors()) else {
            return;
        };
        let options = SearchOptions { allowed, ..SearchOptions::default() };
        let found = index.search(query, search.limits.vectors.max(search.top * 2), &options);
        rows.extend(found.iter().map(|neighbor| neighbor.id));
    }

    fn by_identifiers(&self, rows: &mut Vec<u32>) {
        let search = self.scorer.search;
        for identifier in search.question.identifiers() {
            let postings = search.partitions[self.number].text().postings(identifier);
            let having = postings.iter().map(|(row, _)| row).filter(|row| self.allowed.contains(*row));
            if postings.len() <= search.limits.words {
                rows.extend(having);
            } else {
                let having: RowSet = having.collect();
                rows.extend(self.by_words(|row| having.contains(row)));
            }
        }
    }

    fn by_date(&self, rows: &mut Vec<u32>) {
        let search = self.scorer.search;
        let times = search.question.times();
        if times.is_empty() {
            return;
        }
        let shown = &search.shown[self.number];
        if shown.count_dated(times) > search.limits.dated {
            rows.extend(self.by_words(|row| self.allowed.contains(row) && shown.is_dated(row, times)));
            return;
        }
        let dated = shown.dated(times);
        let dated: RowSet = dated.into_iter().filter(|row| self.allowed.contains(*row)).collect();
        if dated.len() <= search.limits.words {
            rows.extend(dated.iter());
        } else {
            rows.extend(self.by_words(|row| dated.contains(row)));
            self.by_vector(Some(&dated), rows);
        }
    }
}

/// Keeps the rows with the greatest values, in no particular order.
pub(super) fn keep_best(rated: &mut Vec<(f32, u32)>, wanted: usize) {
    if wanted == 0 || rated.len() <= wanted {
        return;
    }
    rated.select_nth_unstable_by(wanted - 1, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    rated.truncate(wanted);
}
