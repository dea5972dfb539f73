//! Terms and their postings: which card holds which term how often.
//!
//! A term's postings are one string of varints, cards in ascending order: the distance to
//! the card before (from −1 for the first) times two, plus one where the term occurs once
//! only; otherwise the frequency follows.

use std::collections::HashMap;

use super::layout::{TERM_ROW, put_varint, take_varint};

/// Postings that are being written.
#[derive(Debug, Default)]
pub(super) struct PostingsBuilder {
    numbers: HashMap<Box<str>, usize>,
    lists: Vec<List>,
}

#[derive(Debug, Default)]
struct List {
    bytes: Vec<u8>,
    documents: u32,
    /// One more than the last position.
    next: u32,
}

/// The three sections of the terms.
pub(super) struct Sections {
    pub(super) terms: u32,
    pub(super) rows: Vec<u8>,
    pub(super) strings: Vec<u8>,
    pub(super) postings: Vec<u8>,
}

impl PostingsBuilder {
    /// Appends a card's terms. Positions must ascend; a term may come once per card.
    pub(super) fn push<'t>(
        &mut self,
        position: u32,
        terms: impl Iterator<Item = (&'t str, u16)>,
    ) -> Result<(), String> {
        for (term, frequency) in terms.filter(|(_, frequency)| *frequency > 0) {
            let number = match self.numbers.get(term) {
                Some(number) => *number,
                None => {
                    self.lists.push(List::default());
                    self.numbers.insert(term.into(), self.lists.len() - 1);
                    self.lists.len() - 1
                }
            };
            let list = &mut self.lists[number];
            let distance = position.checked_sub(list.next);
            let distance = distance.ok_or_else(|| format!("the term {term:?} comes twice in a card"))?;
            put_varint(&mut list.bytes, u64::from(distance) << 1 | u64::from(frequency == 1));
            if frequency > 1 {
                put_varint(&mut list.bytes, u64::from(frequency));
            }
            list.documents += 1;
            list.next = position + 1;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Sections, String> {
        let mut terms: Vec<_> = self.numbers.into_iter().collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut sections = Sections {
            terms: terms.len() as u32,
            rows: Vec::with_capacity((terms.len() + 1) * TERM_ROW),
            strings: Vec::new(),
            postings: Vec::new(),
        };
        for (term, number) in terms {
            let list = &self.lists[number];
            sections.row(list.documents)?;
            sections.strings.extend_from_slice(term.as_bytes());
            sections.postings.extend_from_slice(&list.bytes);
        }
        sections.row(0)?;
        Ok(sections)
    }
}

impl Sections {
    /// A term's row: where its string begins, its number of cards, where its postings begin.
    fn row(&mut self, documents: u32) -> Result<(), String> {
        let string = u32::try_from(self.strings.len()).map_err(|_| "more than 4 GiB of terms")?;
        self.rows.extend_from_slice(&string.to_le_bytes());
        self.rows.extend_from_slice(&documents.to_le_bytes());
        self.rows.extend_from_slice(&(self.postings.len() as u64).to_le_bytes());
        Ok(())
    }
}

/// Reads the postings of a term.
#[derive(Clone, Debug)]
pub(super) struct Postings<'a> {
    bytes: &'a [u8],
    next: u32,
    /// How many cards the segment has.
    cards: u32,
}

impl<'a> Postings<'a> {
    pub(super) fn new(bytes: &'a [u8], cards: u32) -> Self {
        Self { bytes, next: 0, cards }
    }

    #[inline(always)]
    fn read(&mut self) -> Option<(u32, u16)> {
        let number = take_varint(&mut self.bytes)?;
        let position = u64::from(self.next).checked_add(number >> 1)?;
        let position = u32::try_from(position).ok().filter(|position| *position < self.cards)?;
        let frequency = match number & 1 {
            1 => 1,
            _ => u16::try_from(take_varint(&mut self.bytes)?).ok()?,
        };
        self.next = position + 1;
        Some((position, frequency))
    }

    /// Reads the next postings into a batch and gives their number; 0 at the end.
    pub(super) fn fill(&mut self, batch: &mut Batch) -> Result<usize, &'static str> {
        // A copy is kept in registers.
        let mut rest = self.clone();
        let mut count = 0;
        for (position, frequency) in batch.positions.iter_mut().zip(&mut batch.frequencies) {
            if rest.bytes.is_empty() {
                break;
            }
            (*position, *frequency) = rest.read().ok_or(MISFIT)?;
            count += 1;
        }
        *self = rest;
        Ok(count)
    }
}

/// Some postings, side by side, so that they can be scored side by side.
pub(super) struct Batch {
    pub(super) positions: [u32; BATCH],
    pub(super) frequencies: [u16; BATCH],
}

/// Postings in a batch.
pub(super) const BATCH: usize = 128;

const MISFIT: &str = "its postings do not fit";

impl Batch {
    pub(super) fn new() -> Self {
        Self { positions: [0; BATCH], frequencies: [0; BATCH] }
    }
}

/// A card and the frequency of a term in it; `Err` when the bytes are no postings.
impl Iterator for Postings<'_> {
    type Item = Result<(u32, u16), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let found = self.read();
        if found.is_none() {
            self.bytes = &[];
        }
        Some(found.ok_or(MISFIT))
    }
}
