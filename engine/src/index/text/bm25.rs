//! BM25, for rows and for windows of three rows. The only place that computes it.
//!
//! Statistics are gathered first, over all partitions of one tenant, then each partition
//! is scored with them; so a score means the same in every partition.

use super::index::TextIndex;
use super::tokens::{QueryTerm, QueryTerms, Role};
use crate::index::rows::RowSet;

/// No neighbour, in [`Windows`].
pub const NO_ROW: u32 = u32::MAX;

/// The two constants of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// How slowly repeated terms saturate.
    pub k1: f32,
    /// How much the length of the document counts, 0 to 1.
    pub b: f32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// What BM25 has to know of all documents together. Sums over partitions: gather the
/// same question into one value from each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Live documents.
    pub documents: u64,
    /// The sum of their lengths.
    pub total_length: u64,
    /// The sum of the lengths of the windows around each of them; 0 when not gathered.
    pub total_window_length: u64,
    /// For each term of the question, in its order, the live documents that have it.
    pub document_frequency: Vec<u32>,
}

impl Statistics {
    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        let mut document_frequency = std::mem::take(&mut self.document_frequency);
        document_frequency.clear();
        *self = Self { document_frequency, ..Self::default() };
    }

    /// ln(1 + (N − df + ½) / (df + ½)) of a term of the question.
    pub fn idf(&self, term: usize) -> f32 {
        let frequency = f64::from(self.document_frequency.get(term).copied().unwrap_or(0));
        let others = (self.documents as f64 - frequency).max(0.0);
        (1.0 + (others + 0.5) / (frequency + 0.5)).ln() as f32
    }

    /// The idf mass of the question: the sum of weight × idf of all terms that find rows.
    pub fn mass(&self, query: &QueryTerms) -> f32 {
        let terms = query.terms().iter().enumerate().filter(|(_, term)| term.role != Role::Secondary);
        terms.map(|(index, term)| term.weight * self.idf(index)).sum()
    }

    /// Average length of a window.
    pub(super) fn average_window(&self) -> f32 {
        match self.total_window_length {
            0 => self.average(self.total_length * 3),
            total => self.average(total),
        }
    }

    pub(super) fn average(&self, total: u64) -> f32 {
        if total == 0 { 1.0 } else { (total as f64 / self.documents.max(1) as f64) as f32 }
    }
}

/// The rows around each row, for [`TextIndex::score_windows`].
///
/// `previous[row]` and `next[row]` are rows of the same partition or [`NO_ROW`], and
/// mirror each other. Dead neighbours add nothing: only rows in `live` are read.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a> {
    /// The row before each row.
    pub previous: &'a [u32],
    /// The row after each row.
    pub next: &'a [u32],
    /// The rows whose text may count.
    pub live: &'a RowSet,
}

impl Windows<'_> {
    /// The neighbours whose windows hold the row and that its window holds.
    pub(super) fn mirrored(&self, row: u32) -> (Option<u32>, Option<u32>) {
        let before = Self::neighbour(self.previous, row)
            .filter(|before| Self::neighbour(self.next, *before) == Some(row));
        let after = Self::neighbour(self.next, row)
            .filter(|after| Self::neighbour(self.previous, *after) == Some(row));
        (before, after)
    }

    /// The rows before and after a row.
    pub(super) fn around(&self, row: u32) -> (Option<u32>, Option<u32>) {
        (Self::neighbour(self.previous, row), Self::neighbour(self.next, row))
    }

    fn neighbour(neighbours: &[u32], row: u32) -> Option<u32> {
        neighbours.get(row as usize).copied().filter(|row| *row != NO_ROW)
    }

    pub(super) fn length(&self, index: &TextIndex, row: u32) -> u64 {
        let length = |row: Option<u32>| {
            let row = row.filter(|row| self.live.contains(*row));
            u64::from(row.and_then(|row| index.document_length(row)).unwrap_or(0))
        };
        length(Some(row))
            + length(Self::neighbour(self.previous, row))
            + length(Self::neighbour(self.next, row))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    score: f32,
    /// idf mass of the matched terms.
    matched: f32,
    touched: bool,
}

/// The scores of the rows of one partition. Reuse one value for many questions: it is
/// cleared by touching only what was touched.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    cells: Vec<Cell>,
    touched: Vec<u32>,
    mass: f32,
    /// Per window: the present term's frequency (only while one term is scored), and the
    /// part of the denominator that depends on its length.
    frequencies: Vec<u32>,
    norms: Vec<f32>,
    present: Vec<u32>,
}

impl Scores {
    /// No scores.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rows that match, in no particular order.
    pub fn rows(&self) -> &[u32] {
        &self.touched
    }

    /// The matching rows with their scores, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.touched.iter().map(|row| (*row, self.cells[*row as usize].score))
    }

    /// The score of a row, 0 when it does not match.
    #[inline]
    pub fn score(&self, row: u32) -> f32 {
        self.cell(row).score
    }

    /// How much of the question a row has, 0 to 1: the idf mass of the terms it matches
    /// over that of all terms. Terms that no document has count as unmatched.
    #[inline]
    pub fn coverage(&self, row: u32) -> f32 {
        let matched = self.cell(row).matched;
        if self.mass > 0.0 { (matched / self.mass).min(1.0) } else { 0.0 }
    }

    fn cell(&self, row: u32) -> Cell {
        self.cells.get(row as usize).copied().unwrap_or_default()
    }

    fn begin(&mut self, rows: usize, mass: f32) {
        for row in self.touched.drain(..) {
            self.cells[row as usize] = Cell::default();
        }
        if self.cells.len() < rows {
            self.cells.resize(rows, Cell::default());
        }
        self.mass = mass;
    }

    /// Adds a term's score to a row; a secondary term only to a row found before.
    #[inline]
    fn add(&mut self, row: u32, factor: &Factor, saturation: f32) {
        let cell = &mut self.cells[row as usize];
        if !cell.touched {
            if factor.secondary {
                return;
            }
            cell.touched = true;
            self.touched.push(row);
        }
        cell.score += factor.mass * saturation;
        if !factor.secondary {
            cell.matched += factor.mass;
        }
    }
}

/// What one term of the question brings to every row it matches.
pub(super) struct Factor {
    pub(super) mass: f32,
    pub(super) secondary: bool,
}

impl Factor {
    fn new(term: &QueryTerm, idf: f32) -> Self {
        Self { mass: term.weight * idf, secondary: term.role == Role::Secondary }
    }
}

/// The question's terms with their factors, those first that find rows.
pub(super) fn in_order<'a>(
    query: &'a QueryTerms,
    statistics: &'a Statistics,
) -> impl Iterator<Item = (&'a str, Factor)> + 'a {
    [false, true].into_iter().flat_map(move |secondary| {
        let terms = query.terms().iter().enumerate();
        terms
            .map(|(index, term)| (&term.text[..], Factor::new(term, statistics.idf(index))))
            .filter(move |(_, factor)| factor.secondary == secondary)
    })
}

/// The part of BM25's denominator that does not depend on the term.
#[inline]
pub(super) fn norm(parameters: Parameters, length: f32, average: f32) -> f32 {
    parameters.k1 * (1.0 - parameters.b + parameters.b * length / average)
}

/// The share of its idf that a term gives: 1 for one occurrence in an average document.
#[inline]
pub(super) fn saturation(parameters: Parameters, frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (parameters.k1 + 1.0) / (frequency + norm)
}

impl TextIndex {
    /// Adds this partition's live rows to the statistics of a question.
    pub fn gather(&self, query: &QueryTerms, live: &RowSet, statistics: &mut Statistics) {
        for row in live.iter().take_while(|row| (*row as usize) < self.rows()) {
            if let Some(length) = self.document_length(row) {
                statistics.documents += 1;
                statistics.total_length += u64::from(length);
            }
        }
        self.gather_frequencies(query, live, live.len(), statistics);
    }

    /// Adds the live rows that have each term: all that [`TextIndex::gather`] adds beside
    /// documents and lengths, for owners who keep count of these. `count` is how many rows
    /// are live. Takes as long as the postings, or as what is missing in `live` when that
    /// is little.
    pub fn gather_frequencies(
        &self,
        query: &QueryTerms,
        live: &RowSet,
        count: usize,
        statistics: &mut Statistics,
    ) {
        if statistics.document_frequency.len() < query.terms().len() {
            statistics.document_frequency.resize(query.terms().len(), 0);
        }
        // A search in the postings costs about as much as looking at so many of them.
        const SEARCH: usize = 16;
        let missing = self.rows().saturating_sub(count);
        let mut dead = None;
        for (term, frequency) in query.terms().iter().zip(&mut statistics.document_frequency) {
            let postings = self.postings(&term.text);
            let found = if missing == 0 {
                postings.len()
            } else if missing.saturating_mul(SEARCH) < postings.len() {
                let dead = dead.get_or_insert_with(|| {
                    (0..self.rows() as u32).filter(|row| !live.contains(*row)).collect::<Vec<u32>>()
                });
                postings.len() - dead.iter().filter(|row| postings.contains(**row)).count()
            } else {
                postings.iter().filter(|(row, _)| live.contains(*row)).count()
            };
            *frequency += found as u32;
        }
    }

    /// Adds the lengths of this partition's windows to the statistics. Without it,
    /// [`TextIndex::score_windows`] takes a window to be as long as three rows.
    pub fn gather_windows(&self, windows: Windows<'_>, statistics: &mut Statistics) {
        for row in windows.live.iter().take_while(|row| (*row as usize) < self.rows()) {
            if self.document_length(row).is_some() {
                statistics.total_window_length += windows.length(self, row);
            }
        }
    }

    /// BM25 of every allowed row that has a term of the question. `out` is overwritten.
    pub fn score(
        &self,
        query: &QueryTerms,
        statistics: &Statistics,
        allowed: &RowSet,
        parameters: Parameters,
        out: &mut Scores,
    ) {
        out.begin(self.rows(), statistics.mass(query));
        let average = statistics.average(statistics.total_length);
        for (term, factor) in in_order(query, statistics) {
            for (row, frequency) in self.postings(term).iter() {
                if allowed.contains(row) {
                    let norm = norm(parameters, self.lengths[row as usize] as f32, average);
                    out.add(row, &factor, saturation(parameters, frequency, norm));
                }
            }
        }
    }

    /// BM25 of the window (row before, row, row after) around every allowed row, as if
    /// the three were one document. Inverse document frequencies stay those of the rows.
    /// `out` is overwritten; coverage too is that of the window.
    pub fn score_windows(
        &self,
        query: &QueryTerms,
        statistics: &Statistics,
        windows: Windows<'_>,
        allowed: &RowSet,
        parameters: Parameters,
        out: &mut Scores,
    ) {
        out.begin(self.rows(), statistics.mass(query));
        let average = statistics.average_window();
        if out.frequencies.len() < self.rows() {
            out.frequencies.resize(self.rows(), 0);
            out.norms.resize(self.rows(), 0.0);
        }
        for (term, factor) in in_order(query, statistics) {
            for (row, frequency) in self.postings(term).iter() {
                if !windows.live.contains(row) {
                    continue;
                }
                let (before, after) = windows.mirrored(row);
                for center in [Some(row), before, after].into_iter().flatten() {
                    let Some(slot) = out.frequencies.get_mut(center as usize) else { continue };
                    if *slot == 0 {
                        out.present.push(center);
                    }
                    *slot += frequency;
                }
            }
            let mut present = std::mem::take(&mut out.present);
            for center in present.drain(..) {
                let frequency = std::mem::take(&mut out.frequencies[center as usize]);
                if !allowed.contains(center) || self.document_length(center).is_none() {
                    continue;
                }
                if !out.cells[center as usize].touched {
                    if factor.secondary {
                        continue;
                    }
                    let length = windows.length(self, center);
                    out.norms[center as usize] = norm(parameters, length as f32, average);
                }
                let norm = out.norms[center as usize];
                out.add(center, &factor, saturation(parameters, frequency, norm));
            }
            out.present = present;
        }
    }
}
