//! Candidates of a segment for a question: the best by words, the best by meaning.
//!
//! Nothing is read but postings and codes. How good a candidate really is, whoever reads its
//! record decides.

use super::codes::Asked;
use super::layout::{Section, code_words};
use super::postings::{BATCH, Batch};
use super::segment::{Segment, SegmentError};

/// How slowly repeated terms saturate.
const K1: f32 = 0.9;
/// How much the length of a card counts.
const B: f32 = 0.4;
/// The short list by differing bits is so many times what is kept by estimated cosine, or
/// this part of all cards.
const SHORT_LIST: usize = 16;
const SHORT_LIST_PART: usize = 32;
/// Codes that are compared at a time.
const SCAN: usize = 256;

/// What is looked for.
#[derive(Clone, Copy)]
pub struct ColdQuery<'a> {
    /// Terms as the analyzer gives them, and what each counts: its weight in the question
    /// times its idf over all cards, wherever they are.
    pub terms: &'a [(&'a str, f32)],
    /// The question's vector.
    pub vector: Option<&'a [f32]>,
    /// The average length of all cards, wherever they are; 0 for that of this segment.
    pub average_length: f32,
    /// A bit for each track whose cards are wanted.
    pub tracks: u32,
    /// Positions that are not wanted.
    pub skip: &'a dyn Fn(u32) -> bool,
    /// How many candidates to take by words, as many by meaning, and as many by date.
    pub keep: usize,
    /// True for the instants, in microseconds since 1970, that are asked for; the candidates among
    /// the cards that happened then are those with the best words.
    pub dated: Option<&'a dyn Fn(i64) -> bool>,
    /// How many postings to read at most. Terms are taken from the rarest on, the first one
    /// always; those with which there would be more are left out. A million takes about
    /// 7 ms.
    pub postings: usize,
}

impl ColdQuery<'_> {
    /// A question without terms or vector, for all tracks and cards.
    pub fn new(keep: usize) -> Self {
        Self {
            terms: &[],
            vector: None,
            average_length: 0.0,
            tracks: u32::MAX,
            skip: &|_| false,
            keep,
            dated: None,
            postings: 1_000_000,
        }
    }
}

/// A card that may answer a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its position in the segment.
    pub position: u32,
    /// BM25 with the question's weights; 0 where it has none of the terms that were read.
    pub text: f32,
    /// Estimated cosine with the question's vector; 0 where either has none.
    pub cosine_estimate: f32,
}

/// The best so far, by key: the smallest keys, which hold the position in their low half.
struct Best {
    keep: usize,
    keys: Vec<u64>,
    /// Only smaller keys are of use.
    bound: u64,
}

impl Best {
    fn new(keep: usize) -> Self {
        Self { keep, keys: Vec::new(), bound: if keep == 0 { 0 } else { u64::MAX } }
    }

    fn offer(&mut self, key: u64) {
        self.keys.push(key);
        if self.keys.len() >= self.keep.saturating_mul(2).max(64) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.keys.len() > self.keep {
            // keep is 1 at least: nothing is offered below a bound of 0.
            let (_, last, _) = self.keys.select_nth_unstable(self.keep - 1);
            self.bound = *last;
            self.keys.truncate(self.keep);
        }
    }

    fn positions(mut self) -> Vec<u32> {
        self.shrink();
        self.keys.into_iter().map(|key| key as u32).collect()
    }
}

/// A key that is smaller for a greater number, and at the same number for an earlier card.
fn descending(score: f32, position: u32) -> u64 {
    let bits = score.to_bits();
    // Order of the bits as that of the numbers: negative ones the other way round.
    let ascending = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    u64::from(!ascending) << 32 | u64::from(position)
}

impl<B: AsRef<[u8]>> Segment<B> {
    /// The number of cards that have a term.
    ///
    /// # Errors
    /// When the terms are damaged where they are compared.
    pub fn document_frequency(&self, term: &str) -> Result<u32, SegmentError> {
        match self.find_term(term)? {
            Some(number) => Ok(self.term(number)?.1),
            None => Ok(0),
        }
    }

    /// The best cards by words and the best by meaning, in order of position.
    ///
    /// # Errors
    /// When something that has to be read is damaged.
    pub fn search(&self, query: &ColdQuery<'_>) -> Result<Vec<Candidate>, SegmentError> {
        if self.tracks() & query.tracks == 0 || query.keep == 0 {
            return Ok(Vec::new());
        }
        let all_tracks = self.tracks() & !query.tracks == 0;
        let tracks: &[u8] = if all_tracks { &[] } else { self.read_all(Section::Tracks)? };
        let wanted = |position: u32| {
            let track = tracks.get(position as usize).map_or(0, |track| 1 << (track & 31));
            (all_tracks || track & query.tracks != 0) && !(query.skip)(position)
        };
        let (scores, touched) = self.score(query)?;
        let mut best = Best::new(query.keep);
        for position in touched {
            let key = descending(scores[position as usize], position);
            if key < best.bound && wanted(position) {
                best.offer(key);
            }
        }
        let mut positions = best.positions();
        let asked = match query.vector {
            Some(vector) if self.dimension() > 0 => Asked::new(self.rotation(), vector),
            _ => None,
        };
        if let Some(asked) = &asked {
            positions.extend(self.nearest(asked, query.keep, wanted)?);
        }
        if let Some(dated) = query.dated {
            let times = self.read_all(Section::Times)?.as_chunks::<8>().0;
            let mut best = Best::new(query.keep);
            for (position, time) in (0..).zip(times) {
                let score = scores.get(position as usize).copied().unwrap_or(0.0);
                let key = descending(score, position);
                if key < best.bound && dated(i64::from_le_bytes(*time)) && wanted(position) {
                    best.offer(key);
                }
            }
            positions.extend(best.positions());
        }
        positions.sort_unstable();
        positions.dedup();
        let candidate = |position: u32| {
            let text = scores.get(position as usize).copied().unwrap_or(0.0);
            let cosine_estimate = match &asked {
                Some(asked) => {
                    let (code, factor) = self.code(position)?;
                    asked.cosine(code, factor)
                }
                None => 0.0,
            };
            Ok(Candidate { position, text, cosine_estimate })
        };
        positions.into_iter().map(candidate).collect()
    }

    /// BM25 of every card (none at all where no term is found), and the cards that have any.
    fn score(&self, query: &ColdQuery<'_>) -> Result<(Vec<f32>, Vec<u32>), SegmentError> {
        let mut lists = Vec::with_capacity(query.terms.len());
        for (term, weight) in query.terms {
            if let Some(number) = self.find_term(term)?.filter(|_| *weight > 0.0 && weight.is_finite()) {
                let (_, documents, postings) = self.term(number)?;
                lists.push((documents, *weight, postings));
            }
        }
        if lists.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        // The sort is stable: equal ones stay in the order of the question.
        lists.sort_by_key(|(documents, ..)| *documents);
        let lengths = self.read_all(Section::Lengths)?.as_chunks::<4>().0;
        let average = match query.average_length {
            average if average > 0.0 => average,
            _ => (self.total_length() as f32 / self.len().max(1) as f32).max(1.0),
        };
        let (fixed, each) = (K1 * (1.0 - self::B), K1 * self::B / average);
        let mut scores = vec![0f32; lengths.len()];
        // One place more than cards: it is written before it is known whether it counts, which
        // is faster than asking.
        let mut touched = vec![0; lengths.len() + 1];
        let mut count = 0;
        let mut read = 0usize;
        let (mut batch, mut impacts) = (Batch::new(), [0f32; BATCH]);
        for (index, (documents, weight, mut postings)) in lists.into_iter().enumerate() {
            read = read.saturating_add(documents as usize);
            if index > 0 && read > query.postings {
                break;
            }
            loop {
                let filled =
                    postings.fill(&mut batch).map_err(|detail| self.error(Section::Postings, detail))?;
                if filled == 0 {
                    break;
                }
                let positions = &batch.positions[..filled];
                for (impact, position) in impacts.iter_mut().zip(positions) {
                    let length =
                        lengths.get(*position as usize).map_or(0, |length| u32::from_le_bytes(*length));
                    *impact = length as f32;
                }
                // On its own, so that the compiler divides several at a time.
                for (impact, frequency) in impacts.iter_mut().zip(&batch.frequencies) {
                    let frequency = f32::from(*frequency);
                    *impact = weight * (frequency * (K1 + 1.0) / (frequency + (fixed + each * *impact)));
                }
                for (impact, position) in impacts.iter().zip(positions) {
                    let (Some(score), Some(place)) =
                        (scores.get_mut(*position as usize), touched.get_mut(count))
                    else {
                        continue;
                    };
                    *place = *position;
                    count += usize::from(*score == 0.0);
                    *score += impact;
                }
            }
        }
        touched.truncate(count);
        Ok((scores, touched))
    }

    /// The best by estimated cosine: of a short list by differing bits.
    fn nearest(
        &self,
        asked: &Asked,
        keep: usize,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>, SegmentError> {
        let codes = self.read_all(Section::Codes)?;
        let factors = self.read_all(Section::Factors)?.as_chunks::<4>().0;
        let factor =
            |position: u32| factors.get(position as usize).map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        let size = code_words(self.dimension()) * 8;
        let short = keep.saturating_mul(SHORT_LIST).max(self.len() as usize / SHORT_LIST_PART);
        let mut list = Best::new(short);
        let mut differences = [0; SCAN];
        for (chunk, codes) in codes.chunks(size * SCAN).enumerate() {
            let count = codes.len() / size;
            asked.differences(codes, &mut differences[..count]);
            for (index, difference) in differences[..count].iter().enumerate() {
                let position = (chunk * SCAN + index) as u32;
                let key = u64::from(*difference) << 32 | u64::from(position);
                if key < list.bound && factor(position) > 0.0 && wanted(position) {
                    list.offer(key);
                }
            }
        }
        let mut best = Best::new(keep);
        for position in list.positions() {
            let start = position as usize * size;
            let code = codes.get(start..start + size).unwrap_or_default();
            let key = descending(asked.cosine(code, factor(position)), position);
            if key < best.bound {
                best.offer(key);
            }
        }
        Ok(best.positions())
    }
}
