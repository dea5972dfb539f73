//! BM25 where there are too many rows to score each of them with its window: which rows
//! may be the best, and the scores of given ones.
//!
//! The first is a guess, made by one pass over the postings; the second is exact, and the
//! same as what [`super::bm25`] gives when it scores everything.

use std::cell::RefCell;
use std::cmp::Ordering;

use super::bm25::{Factor, Parameters, Statistics, Windows, in_order, norm, saturation};
use super::index::{Slices, TextIndex};
use super::tokens::QueryTerms;

/// Rows whose sums are made at a time: they stay in the nearest caches.
const BLOCK: usize = 1 << 14;

/// What [`TextIndex::best_rows`] looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Rows that are wanted.
    pub rows: usize,
    /// Postings that are read at most. The rarest terms come first; terms whose postings do
    /// not fit any more bring no rows. Of the rarest term at least this many are read.
    pub postings: usize,
}

/// The scores of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowScore {
    /// BM25 of the row.
    pub row: f32,
    /// BM25 of the window around it.
    pub window: f32,
    /// How much of the question the window has, 0 to 1.
    pub coverage: f32,
}

/// The rest of one term's postings.
struct List<'a> {
    runs: [Slices<'a>; 2],
    factor: Factor,
}

impl List<'_> {
    fn len(&self) -> usize {
        self.runs.iter().map(|(rows, _)| rows.len()).sum()
    }

    /// Leaves out the oldest postings beyond `most`.
    fn keep_newest(&mut self, most: usize) {
        let mut surplus = self.len().saturating_sub(most);
        for (rows, frequencies) in &mut self.runs {
            let cut = surplus.min(rows.len());
            (*rows, *frequencies) = (&rows[cut..], &frequencies[cut..]);
            surplus -= cut;
        }
    }
}

/// A row that may be among the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promising {
    /// The row.
    pub row: u32,
    /// Its BM25, without terms that were left out.
    pub score: f32,
    /// The same of the rows before and after it together, as far as these are nearby.
    pub around: f32,
}

impl Promising {
    fn value(&self) -> f32 {
        self.score + self.around / 2.0
    }
}

/// Rows of which the best are kept.
struct Best {
    wanted: usize,
    found: Vec<Promising>,
    /// A row with a lower value is not among the best any more.
    bound: f32,
}

/// Greatest value first, then the newest row.
fn greatest_first(a: &Promising, b: &Promising) -> Ordering {
    b.value().total_cmp(&a.value()).then(b.row.cmp(&a.row))
}

impl Best {
    fn add(&mut self, row: Promising) {
        self.found.push(row);
        if self.found.len() >= self.wanted * 2 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.found.len() > self.wanted {
            self.found.select_nth_unstable_by(self.wanted - 1, greatest_first);
            self.found.truncate(self.wanted);
            self.bound = self.found[self.wanted - 1].value();
        }
    }
}

thread_local! {
    static SUMS: RefCell<Vec<f32>> = RefCell::default();
}

impl TextIndex {
    /// Rows that may be the best for a question, in no particular order: those with the
    /// greatest BM25, half of that of their neighbours added, as far as these are nearby.
    /// Only rows that `admit` are given; the text of those that are not in `windows.live`
    /// counts for nothing.
    pub fn best_rows(
        &self,
        query: &QueryTerms,
        statistics: &Statistics,
        windows: Windows<'_>,
        parameters: Parameters,
        selection: Selection,
        admit: impl Fn(u32) -> bool,
    ) -> Vec<Promising> {
        let mut lists: Vec<List<'_>> = in_order(query, statistics)
            .map(|(term, factor)| List { runs: self.postings(term).runs(), factor })
            .filter(|list| list.len() > 0)
            .collect();
        // A stable sort: terms of one weight stay in the order of the question.
        lists.sort_by(|a, b| {
            let secondary = a.factor.secondary.cmp(&b.factor.secondary);
            secondary.then(b.factor.mass.total_cmp(&a.factor.mass))
        });
        if let Some(first) = lists.first_mut() {
            first.keep_newest(selection.postings);
        }
        let mut left = selection.postings;
        lists.retain(|list| {
            let fits = list.len() <= left;
            left -= if fits { list.len() } else { 0 };
            fits
        });
        if lists.first().is_none_or(|list| list.factor.secondary) || selection.rows == 0 {
            return Vec::new();
        }
        let everything = windows.live.len() >= self.rows();
        let average = statistics.average(statistics.total_length);
        let mut best = Best { wanted: selection.rows, found: Vec::new(), bound: 0.0 };
        SUMS.with_borrow_mut(|sums| {
            sums.clear();
            sums.resize(BLOCK, 0.0);
            for start in (0..self.rows()).step_by(BLOCK) {
                let end = (start + BLOCK).min(self.rows());
                let mut any = false;
                for list in &mut lists {
                    any |= self.add_block(list, start, end, (parameters, average), sums, |row| {
                        everything || windows.live.contains(row)
                    });
                }
                if any {
                    choose(&sums[..end - start], start as u32, windows, &admit, &mut best);
                    sums.fill(0.0);
                }
            }
        });
        best.cut();
        best.found
    }

    /// Adds what a term brings to the rows of a block, and leaves these postings behind;
    /// true when there are any.
    fn add_block(
        &self,
        list: &mut List<'_>,
        start: usize,
        end: usize,
        (parameters, average): (Parameters, f32),
        sums: &mut [f32],
        live: impl Fn(u32) -> bool,
    ) -> bool {
        let (mass, secondary) = (list.factor.mass, list.factor.secondary);
        let mut any = false;
        for (rows, frequencies) in &mut list.runs {
            let mut count = 0;
            for (row, frequency) in rows.iter().zip(*frequencies) {
                if *row as usize >= end {
                    break;
                }
                count += 1;
                let sum = &mut sums[*row as usize - start];
                if (secondary && *sum == 0.0) || !live(*row) {
                    continue;
                }
                let norm = norm(parameters, self.lengths[*row as usize] as f32, average);
                *sum += mass * saturation(parameters, u32::from(*frequency), norm);
            }
            any |= count > 0;
            (*rows, *frequencies) = (&rows[count..], &frequencies[count..]);
        }
        any
    }

    /// BM25 of given rows, which ascend and are live, and of the windows around them: what
    /// [`TextIndex::score`] and [`TextIndex::score_windows`] give for them.
    pub fn score_rows(
        &self,
        query: &QueryTerms,
        statistics: &Statistics,
        windows: Windows<'_>,
        rows: &[u32],
        parameters: Parameters,
    ) -> Vec<RowScore> {
        let read = Read::new(windows, rows);
        let mass = statistics.mass(query);
        let average = statistics.average(statistics.total_length);
        let average_window = statistics.average_window();
        let norms: Vec<(f32, f32)> = rows
            .iter()
            .map(|row| {
                let length = self.document_length(*row).unwrap_or(0) as f32;
                let window = windows.length(self, *row) as f32;
                (norm(parameters, length, average), norm(parameters, window, average_window))
            })
            .collect();
        // Terms that find rows come first: score and matched stay 0 until one has.
        let mut touched = vec![(false, false); rows.len()];
        let mut matched = vec![0f32; rows.len()];
        let mut scores = vec![RowScore::default(); rows.len()];
        let mut frequencies = vec![0u32; read.rows.len() + 1];
        for (term, factor) in in_order(query, statistics) {
            if !read.frequencies(self.postings(term).runs(), &mut frequencies) {
                continue;
            }
            for (at, [row, before, after]) in read.places.iter().enumerate() {
                let frequency = frequencies[*row];
                let around = frequency + frequencies[*before] + frequencies[*after];
                if around == 0 || self.document_length(rows[at]).is_none() {
                    continue;
                }
                let (found, found_window) = &mut touched[at];
                if frequency > 0 && (*found || !factor.secondary) {
                    *found = true;
                    scores[at].row += factor.mass * saturation(parameters, frequency, norms[at].0);
                }
                if *found_window || !factor.secondary {
                    *found_window = true;
                    scores[at].window += factor.mass * saturation(parameters, around, norms[at].1);
                    matched[at] += if factor.secondary { 0.0 } else { factor.mass };
                }
            }
        }
        for (score, matched) in scores.iter_mut().zip(matched) {
            score.coverage = if mass > 0.0 { (matched / mass).min(1.0) } else { 0.0 };
        }
        scores
    }
}

/// Offers the rows of a block that may be among the best.
fn choose(sums: &[f32], start: u32, windows: Windows<'_>, admit: impl Fn(u32) -> bool, best: &mut Best) {
    const LANES: usize = 16;
    // A row with less is at most as good as the better of its neighbours.
    let mut least = (best.bound / 2.0).max(f32::MIN_POSITIVE);
    let sum_of = |row: Option<u32>| {
        row.and_then(|row| sums.get(row.checked_sub(start)? as usize)).copied().unwrap_or(0.0)
    };
    for (number, chunk) in sums.chunks(LANES).enumerate() {
        // Without a branch per row: most chunks have none.
        if !chunk.iter().fold(false, |any, sum| any | (*sum >= least)) {
            continue;
        }
        for (offset, sum) in chunk.iter().enumerate() {
            if *sum < least {
                continue;
            }
            let row = start + (number * LANES + offset) as u32;
            let (before, after) = windows.around(row);
            let row = Promising { row, score: *sum, around: sum_of(before) + sum_of(after) };
            if row.value() >= best.bound && admit(row.row) {
                best.add(row);
                least = (best.bound / 2.0).max(f32::MIN_POSITIVE);
            }
        }
    }
}

/// The rows that are read to score some rows with their windows.
struct Read {
    /// Ascending.
    rows: Vec<u32>,
    /// For each row that is scored the places in `rows` of itself, of the row before and of
    /// the row after it; one beyond the end for none.
    places: Vec<[usize; 3]>,
}

impl Read {
    fn new(windows: Windows<'_>, scored: &[u32]) -> Self {
        let around = |row: u32| {
            let (before, after) = windows.mirrored(row);
            let live = |row: Option<u32>| row.filter(|row| windows.live.contains(*row));
            [Some(row), live(before), live(after)]
        };
        let mut rows: Vec<u32> = scored.iter().flat_map(|row| around(*row).into_iter().flatten()).collect();
        rows.sort_unstable();
        rows.dedup();
        let place = |row: Option<u32>, guess: usize| match row {
            None => rows.len(),
            Some(row) if rows.get(guess) == Some(&row) => guess,
            Some(row) => rows.binary_search(&row).unwrap_or(rows.len()),
        };
        let mut next = 0;
        let places = scored
            .iter()
            .map(|row| {
                let [own, before, after] = around(*row);
                // Rows ascend, and neighbours mostly stand beside each other.
                while rows.get(next).is_some_and(|other| Some(*other) < own) {
                    next += 1;
                }
                [next, place(before, next.wrapping_sub(1)), place(after, next + 1)]
            })
            .collect();
        Self { rows, places }
    }

    /// How often each row has a term; false when none has it.
    fn frequencies(&self, runs: [Slices<'_>; 2], out: &mut [u32]) -> bool {
        out.fill(0);
        let mut any = false;
        for (rows, frequencies) in runs {
            let mut at = 0;
            for (place, row) in self.rows.iter().enumerate() {
                at = seek(rows, at, *row);
                match rows.get(at) {
                    None => break,
                    Some(found) if found == row => {
                        out[place] = u32::from(frequencies[at]);
                        any = true;
                    }
                    Some(_) => {}
                }
            }
        }
        any
    }
}

/// The first place from `at` on whose row is not before `row`: in steps that double.
fn seek(rows: &[u32], at: usize, row: u32) -> usize {
    let mut step = 1;
    let mut low = at;
    while low + step <= rows.len() && rows[low + step - 1] < row {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(rows.len());
    low + rows[low..high].partition_point(|other| *other < row)
}
