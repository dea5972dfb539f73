//! Candidates: the rows of a large partition that may be among the best.
//!
//! Scoring every row of a partition takes as long as the partition is large. Of a large one
//! only candidates are scored: those nearest in meaning, those with the question's words,
//! identifiers or date, and what these lend their score to. Which rows are candidates is a
//! guess; what a candidate's score is is not.

use crate::index::rows::RowSet;
use crate::index::text::{Parameters, Selection, Statistics, Windows};
use crate::index::vector::SearchOptions;
use crate::recall::fuse::Search;

/// How much is looked at. The figures are measured, see the README of the benches.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Of a partition that shows no more rows, every one is scored; likewise when no more
    /// rows satisfy the conditions of a request.
    pub(crate) every: usize,
    /// Rows nearest in meaning.
    pub(crate) vectors: usize,
    /// Rows with the best words; also rows with one of the identifiers, or the date.
    pub(crate) words: usize,
    /// Postings that are read to find these.
    pub(crate) postings: usize,
    /// Rows beyond the wanted ones whose sessions are scored as a whole.
    pub(crate) contenders: usize,
    /// Rows of the largest session that is.
    pub(crate) session: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { every: 16_384, vectors: 200, words: 300, postings: 1_000_000, contenders: 24, session: 256 }
    }
}

impl Limits {
    /// Scores everything.
    pub(crate) fn none() -> Self {
        Self { every: usize::MAX, ..Self::default() }
    }
}

/// The candidates of one partition before any others are added for their sake, in no
/// particular order; `None` when every row is to be scored.
pub(super) fn gather(search: &Search<'_>, number: usize, statistics: &Statistics) -> Option<Vec<u32>> {
    let (limits, shown) = (search.limits, &search.shown[number]);
    if shown.len() <= limits.every {
        return None;
    }
    let wanted = search.wanted[number].as_ref();
    if let Some(wanted) = wanted
        && wanted.len() <= limits.every
    {
        return Some(wanted.iter().collect());
    }
    let gathering = Gathering { search, number, statistics, allowed: wanted.unwrap_or(shown.rows()) };
    let mut rows = gathering.by_words(|row| shown.rows().contains(row));
    if let Some(wanted) = wanted {
        // Those before help to score them, but these are the ones that can be found.
        rows.extend(gathering.by_words(|row| wanted.contains(row)));
    }
    let everything = wanted.is_none() && shown.is_everything();
    gathering.by_vector((!everything).then_some(gathering.allowed), &mut rows);
    gathering.by_identifiers(&mut rows);
    gathering.by_date(&mut rows);
    Some(rows)
}

struct Gathering<'a> {
    search: &'a Search<'a>,
    number: usize,
    statistics: &'a Statistics,
    /// Rows that may be found.
    allowed: &'a RowSet,
}

impl Gathering<'_> {
    fn by_words(&self, admit: impl Fn(u32) -> bool) -> Vec<u32> {
        let (search, limits) = (self.search, self.search.limits);
        let partition = search.partitions[self.number];
        let windows: Windows<'_> = partition.windows(search.shown[self.number].rows());
        let selection = Selection { rows: limits.words.max(search.top * 2), postings: limits.postings };
        let parameters = Parameters { k1: search.weights.k1, b: search.weights.b };
        let terms = search.question.query_terms();
        partition.text().best_rows(terms, self.statistics, windows, parameters, selection, admit)
    }

    fn by_vector(&self, allowed: Option<&RowSet>, rows: &mut Vec<u32>) {
        let (search, limits) = (self.search, self.search.limits);
        let (Some(query), Some(index)) = (search.vector, search.partitions[self.number].vectors()) else {
            return;
        };
        let options = SearchOptions { allowed, ..SearchOptions::default() };
        let found = index.search(query, limits.vectors.max(search.top * 2), &options);
        rows.extend(found.iter().map(|neighbor| neighbor.id));
    }

    fn by_identifiers(&self, rows: &mut Vec<u32>) {
        let text = self.search.partitions[self.number].text();
        for identifier in self.search.question.identifiers() {
            let postings = text.postings(identifier);
            let mut having = postings.iter().map(|(row, _)| row).filter(|row| self.allowed.contains(*row));
            if postings.len() <= self.search.limits.words {
                rows.extend(having);
            } else {
                let having: RowSet = having.by_ref().collect();
                rows.extend(self.by_words(|row| having.contains(row)));
            }
        }
    }

    fn by_date(&self, rows: &mut Vec<u32>) {
        let (search, limits) = (self.search, self.search.limits);
        if !search.question.has_dates() {
            return;
        }
        let partition = search.partitions[self.number];
        let is = |micros: i64| search.question.names_date(micros);
        if search.shown[self.number].count_dated(is) > limits.every {
            // Nearly all of a year's cards have it: the other legs find the best of them.
            let dated = |row: u32| is(partition.hot()[row as usize].occurred);
            rows.extend(self.by_words(|row| self.allowed.contains(row) && dated(row)));
            return;
        }
        let dated = search.shown[self.number].dated(is);
        let dated: RowSet = dated.into_iter().filter(|row| self.allowed.contains(*row)).collect();
        if dated.len() <= limits.words {
            rows.extend(dated.iter());
        } else {
            rows.extend(self.by_words(|row| dated.contains(row)));
            self.by_vector(Some(&dated), rows);
        }
    }
}
