//! The inverted index: term → rows with frequencies, row → length.
//!
//! Most of it is an immutable sorted base of a few flat arrays, which loads by bulk copy.
//! Rows added since are in a hash map on the side; [`TextIndex::to_bytes`] and
//! [`TextIndex::settle`] fold them into a new base.

use std::collections::HashMap;
use std::mem::size_of_val;

use super::tokens::DocumentTerms;
use crate::{Error, Result};

/// The length of a row that has no document.
pub(super) const ABSENT: u32 = u32::MAX;

/// Sorted terms with contiguous postings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Base {
    /// All terms one after the other, ascending.
    pub(super) terms: String,
    /// Where each term starts in `terms`, and the end of the last.
    pub(super) term_offsets: Vec<u32>,
    /// Where each term's postings start in `rows` and `frequencies`, and the end.
    pub(super) posting_offsets: Vec<u32>,
    pub(super) rows: Vec<u32>,
    pub(super) frequencies: Vec<u16>,
}

impl Default for Base {
    fn default() -> Self {
        Self {
            terms: String::new(),
            term_offsets: vec![0],
            posting_offsets: vec![0],
            rows: Vec::new(),
            frequencies: Vec::new(),
        }
    }
}

impl Base {
    fn with_capacity(terms: usize, term_bytes: usize, postings: usize) -> Self {
        let mut base = Self::default();
        base.terms.reserve(term_bytes);
        base.term_offsets.reserve(terms);
        base.posting_offsets.reserve(terms);
        base.rows.reserve(postings);
        base.frequencies.reserve(postings);
        base
    }

    pub(super) fn len(&self) -> usize {
        self.term_offsets.len() - 1
    }

    pub(super) fn term(&self, index: usize) -> &str {
        &self.terms[self.term_offsets[index] as usize..self.term_offsets[index + 1] as usize]
    }

    fn postings(&self, index: usize) -> Slices<'_> {
        let range = self.posting_offsets[index] as usize..self.posting_offsets[index + 1] as usize;
        (&self.rows[range.clone()], &self.frequencies[range])
    }

    fn find(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Ends the term whose postings were just appended; a term without any is left out.
    fn end_term(&mut self, term: &str) {
        let postings = self.rows.len() as u32;
        if self.posting_offsets.last() != Some(&postings) {
            self.terms.push_str(term);
            self.term_offsets.push(self.terms.len() as u32);
            self.posting_offsets.push(postings);
        }
    }

    /// Gives back the room that was reserved for what was left out.
    fn shrink(&mut self) {
        self.terms.shrink_to_fit();
        self.term_offsets.shrink_to_fit();
        self.posting_offsets.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.frequencies.shrink_to_fit();
    }

    fn bytes(&self) -> usize {
        self.terms.len()
            + size_of_val(&self.term_offsets[..])
            + size_of_val(&self.posting_offsets[..])
            + size_of_val(&self.rows[..])
            + size_of_val(&self.frequencies[..])
    }
}

pub(super) type Slices<'a> = (&'a [u32], &'a [u16]);

/// The postings of one term: rows in ascending order with the term's frequency.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postings<'a> {
    base: Slices<'a>,
    delta: Slices<'a>,
}

impl<'a> Postings<'a> {
    /// Row and frequency, rows ascending. Frequencies saturate at 65 535.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let pairs = |(rows, frequencies): Slices<'a>| {
            rows.iter().zip(frequencies).map(|(row, frequency)| (*row, u32::from(*frequency)))
        };
        pairs(self.base).chain(pairs(self.delta))
    }

    /// True when the row has the term.
    pub fn contains(&self, row: u32) -> bool {
        self.base.0.binary_search(&row).is_ok() || self.delta.0.binary_search(&row).is_ok()
    }

    /// The two runs of the postings, each ascending, the first before the second.
    pub(super) fn runs(&self) -> [Slices<'a>; 2] {
        [self.base, self.delta]
    }

    /// How many rows have the term, dead ones included.
    pub fn len(&self) -> usize {
        self.base.0.len() + self.delta.0.len()
    }

    /// True when no row has the term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The postings of a term in the rows added since the base was made.
type Added = (Vec<u32>, Vec<u16>);

/// The text index of one partition.
#[derive(Clone, Debug, Default)]
pub struct TextIndex {
    pub(super) base: Base,
    delta: HashMap<Box<str>, Added>,
    /// Bytes and postings of `delta`, kept for [`TextIndex::bytes`].
    delta_term_bytes: usize,
    delta_postings: usize,
    /// Length of the document of each row, [`ABSENT`] where there is none.
    pub(super) lengths: Vec<u32>,
    /// Rows that were removed and may have postings yet.
    removed: usize,
}

impl TextIndex {
    /// An index without rows.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn from_parts(base: Base, lengths: Vec<u32>) -> Self {
        Self { base, lengths, ..Self::default() }
    }

    /// Adds the document of a row. Rows come in strictly ascending order (gaps are
    /// allowed); another order is an error and changes nothing. Memory grows with the
    /// highest row.
    pub fn insert(&mut self, row: u32, terms: &DocumentTerms) -> Result<()> {
        if (row as usize) < self.lengths.len() || row == u32::MAX {
            return Err(Error::Internal(format!(
                "text index: row {row} after row {}",
                self.lengths.len().saturating_sub(1)
            )));
        }
        // Offsets are 32 bits wide, in memory and in the bytes.
        let postings = self.base.rows.len() + self.delta_postings + terms.len();
        let term_bytes = self.base.terms.len() + self.delta_term_bytes + terms.text_bytes();
        if postings.max(term_bytes) > u32::MAX as usize {
            let what = "postings of one partition".to_owned();
            return Err(Error::LimitExceeded { what, limit: u32::MAX.into() });
        }
        self.lengths.resize(row as usize, ABSENT);
        self.lengths.push(terms.length().min(ABSENT - 1));
        for (term, frequency) in terms.iter() {
            let frequency = u16::try_from(frequency).unwrap_or(u16::MAX);
            if let Some((rows, frequencies)) = self.delta.get_mut(term) {
                rows.push(row);
                frequencies.push(frequency);
            } else {
                self.delta.insert(term.into(), (vec![row], vec![frequency]));
                self.delta_term_bytes += term.len();
            }
        }
        self.delta_postings += terms.len();
        Ok(())
    }

    /// Removes the document of a row; false when it has none. Its postings stay behind, for
    /// owners who never score it, until [`TextIndex::settle`]; bytes are without them at once.
    pub fn remove(&mut self, row: u32) -> bool {
        let Some(length) = self.lengths.get_mut(row as usize).filter(|length| **length != ABSENT) else {
            return false;
        };
        *length = ABSENT;
        self.removed += 1;
        true
    }

    /// The postings of a term; empty when no row has it.
    pub fn postings(&self, term: &str) -> Postings<'_> {
        Postings {
            base: self.base.find(term).map(|index| self.base.postings(index)).unwrap_or_default(),
            delta: self.delta.get(term).map(|(rows, all)| (&rows[..], &all[..])).unwrap_or_default(),
        }
    }

    /// The length in tokens of a row's document, none when the row has no document.
    #[inline]
    pub fn document_length(&self, row: u32) -> Option<u32> {
        self.lengths.get(row as usize).copied().filter(|length| *length != ABSENT)
    }

    /// One more than the highest row; every row of the index is below.
    pub fn rows(&self) -> usize {
        self.lengths.len()
    }

    /// How many rows have a document, dead ones included.
    pub fn documents(&self) -> usize {
        self.lengths.iter().filter(|length| **length != ABSENT).count()
    }

    /// Postings that are not in the base yet; the owner settles when they are many.
    pub fn unsettled(&self) -> usize {
        self.delta_postings
    }

    /// Rows that were removed and may have postings yet; the owner settles when they are many.
    pub fn unsettled_removals(&self) -> usize {
        self.removed
    }

    /// The memory the index takes, roughly, in bytes.
    pub fn bytes(&self) -> usize {
        // Per added term: key, two vectors, their smallest allocations, table overhead.
        const ADDED_TERM: usize = size_of::<(Box<str>, Added)>() + 64;
        self.base.bytes()
            + size_of_val(&self.lengths[..])
            + self.delta.len() * ADDED_TERM
            + self.delta_term_bytes
            + self.delta_postings * (size_of::<u32>() + size_of::<u16>()) * 3 / 2
    }

    /// Folds the added rows into the base, and leaves out what was removed: smaller, and faster to
    /// search. Goes through all postings once.
    pub fn settle(&mut self) {
        if !self.is_settled() {
            self.base = self.merged();
            self.delta = HashMap::new();
            (self.delta_term_bytes, self.delta_postings, self.removed) = (0, 0, 0);
        }
    }

    /// True when the base is the whole index.
    pub(super) fn is_settled(&self) -> bool {
        self.delta.is_empty() && self.removed == 0
    }

    /// Base and added rows as one base, without the rows that were removed and without terms that
    /// no other row has.
    pub(super) fn merged(&self) -> Base {
        let mut added: Vec<(&str, &Added)> =
            self.delta.iter().map(|(term, added)| (&**term, added)).collect();
        added.sort_unstable_by_key(|(term, _)| *term);
        let mut merged = Base::with_capacity(
            self.base.len() + added.len(),
            self.base.terms.len() + self.delta_term_bytes,
            self.base.rows.len() + self.delta_postings,
        );
        let append = |merged: &mut Base, (rows, frequencies): Slices<'_>| {
            if self.removed == 0 {
                merged.rows.extend_from_slice(rows);
                merged.frequencies.extend_from_slice(frequencies);
                return;
            }
            for (row, frequency) in rows.iter().zip(frequencies) {
                if self.lengths.get(*row as usize).is_some_and(|length| *length != ABSENT) {
                    merged.rows.push(*row);
                    merged.frequencies.push(*frequency);
                }
            }
        };
        let mut added = added.into_iter().peekable();
        for index in 0..self.base.len() {
            let term = self.base.term(index);
            while let Some((new, (rows, frequencies))) = added.next_if(|(new, _)| *new < term) {
                append(&mut merged, (rows, frequencies));
                merged.end_term(new);
            }
            append(&mut merged, self.base.postings(index));
            if let Some((_, (rows, frequencies))) = added.next_if(|(new, _)| *new == term) {
                append(&mut merged, (rows, frequencies));
            }
            merged.end_term(term);
        }
        for (new, (rows, frequencies)) in added {
            append(&mut merged, (rows, frequencies));
            merged.end_term(new);
        }
        if self.removed > 0 {
            merged.shrink();
        }
        merged
    }
}
