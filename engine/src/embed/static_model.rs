//! The static model: a table with one vector per word piece, and no network to run.
//!
//! A text is cut into words and the words into pieces (`words`, then the most probable
//! segmentation under a unigram model); its vector is the mean of their rows at unit
//! length. How much a frequent word counts is already in the length of its row.
//!
//! # File format
//!
//! Everything is little-endian and is read where it lies, whatever its alignment, so the
//! built-in model costs neither a copy nor a pass over its rows.
//!
//! | section     | content |
//! |-------------|---------|
//! | header      | magic `MCMODEL\0`, then `u32`: version (1), dimension, pieces, trie units, bytes of the model id, bytes of all piece strings |
//! | scores      | `f64` per piece: its log probability |
//! | scales      | `f32` per piece: what to multiply its row by |
//! | units       | `u32` per trie unit (see `trie`) |
//! | lengths     | `u8` per piece: bytes of its string |
//! | model id    | UTF-8 |
//! | strings     | UTF-8, one piece after the other |
//! | rows        | `i8`, dimension values per piece |
//! | checksum    | `u64`: XXH3 of everything before it |
//!
//! Piece 0 stands for whatever no piece covers; its string is never looked up. Its row
//! counts in the mean like any other, but a text of nothing else has no vector.
//!
//! # Determinism
//!
//! Segmentation and sums run in one fixed order, so that the same text gives the same
//! vector, to the bit, on every machine. The one thing that may move with a compiler or
//! library update is the treatment of characters that an older Unicode did not know.

mod trie;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use self::trie::Trie;
use super::Embedder;
use crate::{Error, Result};

static BUILTIN: &[u8] = include_bytes!("../../models/static-zh-en-256.mcm");

const MAGIC: &[u8; 8] = b"MCMODEL\0";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 8 + 6 * 4;
const CHECKSUM_BYTES: usize = 8;
const UNKNOWN: u32 = 0;

/// How much less probable an unknown character is than the least probable piece, in
/// natural logarithm.
const UNKNOWN_PENALTY: f64 = 10.0;

/// A static multilingual embedding model.
///
/// [`StaticModel::builtin`] is the model that ships inside the library (Chinese and
/// English, 256 dimensions); [`StaticModel::from_bytes`] takes one from outside. Texts of
/// any length are taken, in time linear in their length. A model has no state: it can be
/// shared between threads freely.
///
/// ```
/// use memcards::embed::{Embedder, StaticModel};
///
/// let model = StaticModel::builtin();
/// let vector = model.embed("她养了一只 cat")?.expect("these words are known");
/// assert_eq!(vector.len(), model.dimension());
///
/// let length: f32 = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
/// assert!((length - 1.0).abs() < 1e-5);
///
/// assert!(model.embed("🙂")?.is_none(), "there are no words in it");
/// # Ok::<(), memcards::Error>(())
/// ```
pub struct StaticModel {
    bytes: Cow<'static, [u8]>,
    layout: Layout,
    model_id: String,
    unknown_score: f64,
    longest_piece: usize,
    /// The piece that is only the mark in front of a word, if there is one.
    bare_word_start: Option<u32>,
}

/// Where the sections are in the bytes; every range is within them.
struct Layout {
    dimension: usize,
    scores: Range<usize>,
    scales: Range<usize>,
    units: Range<usize>,
    lengths: Range<usize>,
    strings: Range<usize>,
    rows: Range<usize>,
}

/// The sections themselves.
#[derive(Clone, Copy)]
struct Sections<'a> {
    scores: &'a [[u8; 8]],
    scales: &'a [[u8; 4]],
    trie: Trie<'a>,
    lengths: &'a [u8],
    strings: &'a [u8],
    rows: &'a [i8],
}

/// Buffers that one text after another can use.
#[derive(Default)]
struct Scratch {
    word: String,
    ends: Vec<PathEnd>,
    pieces: Vec<u32>,
}

/// The best segmentation of a word up to one byte position.
#[derive(Clone, Copy, Default)]
struct PathEnd {
    score: f64,
    piece: u32,
    /// Bytes of the last piece; 0 while no segmentation ends here.
    length: u8,
}

impl StaticModel {
    /// The model that ships inside the library. The first call takes well under a
    /// millisecond, later ones nothing.
    pub fn builtin() -> &'static StaticModel {
        static MODEL: OnceLock<StaticModel> = OnceLock::new();
        MODEL.get_or_init(|| match StaticModel::parse(Cow::Borrowed(BUILTIN)) {
            Ok(model) => model,
            // These bytes are part of the program, and the tests load and verify them.
            Err(error) => unreachable!("the built-in model: {error}"),
        })
    }

    /// A model from the content of an `.mcm` file, as [`StaticModel::pack`] makes it. The
    /// content is kept and used in place. All of it is checked, which takes a few
    /// milliseconds for ten megabytes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the bytes are not a whole and consistent model of the
    /// format version this library knows.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<StaticModel> {
        let model = StaticModel::parse(bytes.into())?;
        model.verify()?;
        Ok(model)
    }

    /// The content of an `.mcm` file.
    ///
    /// `pieces` are strings (at most 255 bytes, no NUL) with their natural log
    /// probabilities; words begin with `▁` (U+2581) and are in lower case, and the first
    /// piece stands for unknown text. There is one of `scales` for every piece, and as many
    /// of `rows` as the dimension (1 to 4,096) for every piece, one piece after the other;
    /// scale times row is the vector of a piece. `model_id` has 1 to 255 bytes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when the arguments do not fit this description.
    pub fn pack(model_id: &str, pieces: &[(String, f64)], scales: &[f32], rows: &[i8]) -> Result<Vec<u8>> {
        if !(1..=255).contains(&model_id.len()) {
            return Err(Error::invalid("model_id", "it must have 1 to 255 bytes"));
        }
        if pieces.is_empty() || pieces.len() >= trie::UNIT_LIMIT {
            return Err(Error::invalid("pieces", format!("there must be 1 to {}", trie::UNIT_LIMIT - 1)));
        }
        let dimension = rows.len() / pieces.len();
        if !(1..=4096).contains(&dimension) || rows.len() != dimension * pieces.len() {
            return Err(Error::invalid("rows", "there must be 1 to 4096 values for every piece"));
        }
        if scales.len() != pieces.len() || scales.iter().any(|scale| !scale.is_finite()) {
            return Err(Error::invalid("scales", "there must be one finite number for every piece"));
        }
        for (piece, score) in pieces {
            if !(1..=255).contains(&piece.len()) || piece.contains('\0') || !score.is_finite() {
                let message = format!("{piece:?} needs 1 to 255 bytes, no NUL and a finite score");
                return Err(Error::invalid("pieces", message));
            }
        }
        let mut numbered: Vec<_> =
            (0..).zip(pieces).skip(1).map(|(id, (piece, _))| (piece.as_bytes(), id)).collect();
        numbered.sort_unstable();
        if let Some(pair) = numbered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("{:?} is there twice", String::from_utf8_lossy(pair[0].0));
            return Err(Error::invalid("pieces", message));
        }
        let units = trie::build(numbered)?;
        let string_bytes: usize = pieces.iter().map(|(piece, _)| piece.len()).sum();

        let mut bytes = Vec::with_capacity(rows.len() + string_bytes + 16 * pieces.len() + 4 * units.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        for count in [dimension, pieces.len(), units.len(), model_id.len(), string_bytes] {
            let count = u32::try_from(count).map_err(|_| Error::invalid("pieces", "they are too many"))?;
            bytes.extend(count.to_le_bytes());
        }
        pieces.iter().for_each(|(_, score)| bytes.extend(score.to_le_bytes()));
        scales.iter().for_each(|scale| bytes.extend(scale.to_le_bytes()));
        units.iter().for_each(|unit| bytes.extend(unit.to_le_bytes()));
        bytes.extend(pieces.iter().map(|(piece, _)| piece.len() as u8));
        bytes.extend(model_id.as_bytes());
        pieces.iter().for_each(|(piece, _)| bytes.extend(piece.as_bytes()));
        bytes.extend(bytemuck::cast_slice::<i8, u8>(rows));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// The numbers of the pieces that `text` is cut into, 0 for each run of characters of
    /// a word that no piece covers.
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        let mut scratch = Scratch::default();
        self.tokenize(text, &mut scratch);
        scratch.pieces
    }

    /// Finds the sections. What is needed to embed without a panic holds afterwards, for
    /// any bytes; [`StaticModel::verify`] checks the rest.
    fn parse(bytes: Cow<'static, [u8]>) -> Result<StaticModel> {
        let (header, _) = bytes
            .split_at_checked(HEADER_BYTES)
            .filter(|(header, _)| header.starts_with(MAGIC))
            .ok_or_else(|| corrupt("it does not begin like a model file"))?;
        let (fields, _) = header[MAGIC.len()..].as_chunks::<4>();
        let &[version, dimension, pieces, units, id_bytes, string_bytes] = fields else {
            return Err(corrupt("the header is incomplete"));
        };
        let version = u32::from_le_bytes(version);
        if version != VERSION {
            return Err(corrupt(format!("format version {version}, this library knows {VERSION}")));
        }
        let [dimension, pieces, units, id_bytes, string_bytes] =
            [dimension, pieces, units, id_bytes, string_bytes]
                .map(|field| u64::from(u32::from_le_bytes(field)));
        if !(1..=4096).contains(&dimension) || pieces == 0 || !(1..=255).contains(&id_bytes) {
            return Err(corrupt("a count in the header is out of range"));
        }

        // All factors are below 2^32, and so no sum of these comes near 2^64.
        let mut end = HEADER_BYTES as u64;
        let sections =
            [8 * pieces, 4 * pieces, 4 * units, pieces, id_bytes, string_bytes, dimension * pieces].map(
                |length| {
                    let start = end;
                    end += length;
                    start..end
                },
            );
        if end + CHECKSUM_BYTES as u64 != bytes.len() as u64 {
            return Err(corrupt(format!(
                "{} bytes, the header announces {}",
                bytes.len(),
                end + CHECKSUM_BYTES as u64
            )));
        }
        // The end is the length of a slice, so every position before it fits as well.
        let [scores, scales, units, lengths, id, strings, rows] =
            sections.map(|range| range.start as usize..range.end as usize);
        let model_id =
            std::str::from_utf8(&bytes[id]).map_err(|_| corrupt("the model id is not UTF-8"))?.to_owned();
        let layout = Layout { dimension: dimension as usize, scores, scales, units, lengths, strings, rows };

        let mut model = StaticModel {
            bytes,
            layout,
            model_id,
            unknown_score: 0.0,
            longest_piece: 0,
            bare_word_start: None,
        };
        let sections = model.sections();
        let lowest =
            sections.scores.iter().map(|score| f64::from_le_bytes(*score)).fold(f64::INFINITY, f64::min);
        let longest = sections.lengths.iter().copied().max().unwrap_or(0);
        let word_start = sections.trie.get(words::WORD_START.encode_utf8(&mut [0; 4]).as_bytes());
        model.bare_word_start = word_start;
        model.unknown_score = lowest - UNKNOWN_PENALTY;
        model.longest_piece = usize::from(longest);
        Ok(model)
    }

    /// Checks the content of the sections against the checksum and against each other.
    fn verify(&self) -> Result<()> {
        let sections = self.sections();
        let (content, checksum) = self
            .bytes
            .split_last_chunk::<CHECKSUM_BYTES>()
            .ok_or_else(|| corrupt("the checksum is missing"))?;
        if xxh3_64(content) != u64::from_le_bytes(*checksum) {
            return Err(corrupt("the checksum does not fit the content"));
        }
        if sections.scores.iter().any(|score| !f64::from_le_bytes(*score).is_finite())
            || sections.scales.iter().any(|scale| !f32::from_le_bytes(*scale).is_finite())
        {
            return Err(corrupt("a score or scale is not a finite number"));
        }
        let mut strings = sections.strings;
        for (piece, &length) in (0_u32..).zip(sections.lengths) {
            let (string, rest) = strings
                .split_at_checked(usize::from(length))
                .ok_or_else(|| corrupt("the piece strings end too early"))?;
            strings = rest;
            if length == 0 || std::str::from_utf8(string).is_err() {
                return Err(corrupt(format!("piece {piece} is not a string")));
            }
            if piece != UNKNOWN && sections.trie.get(string) != Some(piece) {
                return Err(corrupt(format!("piece {piece} is not found by its string")));
            }
        }
        if !strings.is_empty() || sections.trie.ends() != sections.lengths.len() - 1 {
            return Err(corrupt("there are more strings or trie entries than pieces"));
        }
        Ok(())
    }

    fn sections(&self) -> Sections<'_> {
        let Layout { scores, scales, units, lengths, strings, rows, .. } = &self.layout;
        let section = |range: &Range<usize>| &self.bytes[range.clone()];
        Sections {
            scores: section(scores).as_chunks().0,
            scales: section(scales).as_chunks().0,
            trie: Trie::new(section(units).as_chunks().0),
            lengths: section(lengths),
            strings: section(strings),
            rows: bytemuck::cast_slice(section(rows)),
        }
    }

    fn tokenize(&self, text: &str, scratch: &mut Scratch) {
        let sections = self.sections();
        let Scratch { word, ends, pieces } = scratch;
        pieces.clear();
        words::for_each_word(text, word, |word| self.cut(sections, word, ends, pieces));
    }

    /// Appends the pieces of the most probable segmentation of `word`.
    fn cut(&self, sections: Sections<'_>, word: &str, ends: &mut Vec<PathEnd>, pieces: &mut Vec<u32>) {
        ends.clear();
        ends.resize(word.len() + 1, PathEnd::default());
        for (start, character) in word.char_indices() {
            let score_here = ends[start].score;
            let mut reach = |length: usize, piece: u32, score: f64| {
                let end = &mut ends[start + length];
                let score = score_here + score;
                // On a tie the longer last piece, which came first, stays.
                if end.length == 0 || score > end.score {
                    *end = PathEnd { score, piece, length: length as u8 };
                }
            };
            let character_length = character.len_utf8();
            let mut character_known = false;
            sections.trie.prefixes(&word.as_bytes()[start..], self.longest_piece, |length, piece| {
                if let Some(score) = sections.scores.get(piece as usize) {
                    reach(length, piece, f64::from_le_bytes(*score));
                    character_known |= length == character_length;
                }
            });
            if !character_known {
                reach(character_length, UNKNOWN, self.unknown_score);
            }
        }

        let first = pieces.len();
        let mut position = word.len();
        while position > 0 {
            let PathEnd { piece, length, .. } = ends[position];
            let continues_unknown =
                piece == UNKNOWN && pieces.len() > first && pieces.last() == Some(&UNKNOWN);
            if !continues_unknown {
                pieces.push(piece);
            }
            position -= usize::from(length);
        }
        pieces[first..].reverse();
    }

    fn vector(&self, text: &str, scratch: &mut Scratch) -> Option<Vec<f32>> {
        self.tokenize(text, scratch);
        // The rows of these two are not zero, but say nothing about a text by themselves.
        if scratch.pieces.iter().all(|piece| *piece == UNKNOWN || Some(*piece) == self.bare_word_start) {
            return None;
        }
        let sections = self.sections();
        let dimension = self.layout.dimension;
        // The mean and the sum have the same direction, and only that is left at the end.
        let mut sum = vec![0.0_f32; dimension];
        for &piece in &scratch.pieces {
            let piece = piece as usize;
            let scale = sections.scales.get(piece).map_or(0.0, |scale| f32::from_le_bytes(*scale));
            let row = sections.rows.get(piece * dimension..).unwrap_or(&[]);
            for (total, value) in sum.iter_mut().zip(row) {
                *total += f32::from(*value) * scale;
            }
        }
        // In double precision no square can overflow, whatever the scales.
        let length = sum.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        if !length.is_finite() || length == 0.0 {
            return None;
        }
        sum.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
        Some(sum)
    }
}

impl Embedder for StaticModel {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dimension(&self) -> usize {
        self.layout.dimension
    }

    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.vector(text, &mut Scratch::default()))
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        let mut scratch = Scratch::default();
        Ok(texts.iter().map(|text| self.vector(text, &mut scratch)).collect())
    }
}

impl std::fmt::Debug for StaticModel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StaticModel")
            .field("model_id", &self.model_id)
            .field("dimension", &self.layout.dimension)
            .field("pieces", &self.layout.lengths.len())
            .finish_non_exhaustive()
    }
}

fn corrupt(detail: impl Into<String>) -> Error {
    Error::corrupt("embedding model", detail)
}
