//! Blocks: records of some neighbouring cards, compressed together.
//!
//! Vectors inside records hardly compress, and stand in the way of what does. They are
//! taken out of the records and cut into planes (all exponents, then the bytes of the
//! fractions), each of which is compressed if that helps; what is left of the records is
//! compressed with the segment's dictionary. Both come back byte for byte.

use std::borrow::Cow;
use std::ops::Range;

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::DecoderDictionary;
use zstd::zstd_safe::CParameter;

use super::layout::{put_varint, take_length, take_varint, u32_at};

/// Uncompressed bytes from which a block is full. A card larger than this is a block.
pub(super) const FULL: usize = 24 * 1024;
/// No record, and no block, is larger.
pub(super) const LARGEST: usize = 1 << 30;

const PLANES: usize = 4;
/// Exponents repeat by chance, which costs more to say than the bytes themselves under a good
/// code: only what is repeated at length is looked for.
const PLANE_LEVEL: i32 = 1;
const PLANE_MATCH: u32 = 7;
/// What one block of zstd holds at most, and the fewest bytes that it takes: a frame of so
/// many bytes cannot hold more, whatever it says of itself.
const ZSTD_BLOCK: u64 = 128 * 1024;
const ZSTD_BLOCK_BYTES: u64 = 4;

/// One version of a card, as bytes, and where in them a vector lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The bytes, which come back as they are.
    pub bytes: &'a [u8],
    /// Where the bytes are little-endian `f32` numbers that are better compressed apart; a
    /// whole number of them, or empty. Nothing but the size depends on it.
    pub floats: Range<usize>,
}

impl<'a> Record<'a> {
    /// A record of which nothing is known.
    pub const fn opaque(bytes: &'a [u8]) -> Self {
        Self { bytes, floats: 0..0 }
    }

    /// A record with a vector at these bytes.
    pub const fn with_floats(bytes: &'a [u8], floats: Range<usize>) -> Self {
        Self { bytes, floats }
    }
}

/// A record and where in it the floats lie.
pub(super) type Placed = (Vec<u8>, Range<usize>);

/// A block that is being filled.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    pub(super) first: u32,
    /// Records without their vectors, each with a head; see [`DecodedBlock`].
    text: Vec<u8>,
    /// Where each card's part of the text ends.
    ends: Vec<usize>,
    floats: Vec<u8>,
}

/// A full block, its vectors packed, its text not yet compressed.
#[derive(Debug)]
pub(super) struct FullBlock {
    pub(super) first: u32,
    pub(super) text: Vec<u8>,
    pub(super) ends: Vec<usize>,
    pub(super) floats: Vec<u8>,
    pub(super) raw_floats: usize,
}

impl OpenBlock {
    /// Appends a card's records.
    pub(super) fn push(&mut self, versions: &[Record<'_>]) -> Result<(), String> {
        let mut size = self.text.len() + self.floats.len();
        for record in versions {
            let Range { start, end } = record.floats;
            if start > end || end > record.bytes.len() || (end - start) % 4 != 0 {
                return Err(format!("{start}..{end} is no place of floats in {} bytes", record.bytes.len()));
            }
            size = size.saturating_add(record.bytes.len() + 32);
        }
        if size > LARGEST {
            return Err(format!("a card of {size} bytes is too large for a segment"));
        }
        put_varint(&mut self.text, versions.len() as u64);
        for Record { bytes, floats } in versions {
            for number in [bytes.len() - floats.len(), floats.start, floats.len() / 4] {
                put_varint(&mut self.text, number as u64);
            }
        }
        for Record { bytes, floats } in versions {
            self.text.extend_from_slice(&bytes[..floats.start]);
            self.text.extend_from_slice(&bytes[floats.end..]);
            self.floats.extend_from_slice(&bytes[floats.clone()]);
        }
        self.ends.push(self.text.len());
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() + self.floats.len() >= FULL
    }

    pub(super) fn finish(self, packer: &mut Packer) -> Result<FullBlock, String> {
        let (raw_floats, floats) = (self.floats.len(), packer.pack(&self.floats)?);
        Ok(FullBlock { first: self.first, text: self.text, ends: self.ends, floats, raw_floats })
    }
}

/// The exponent in the high byte, the sign behind the fraction, so that what can be guessed
/// is together.
const fn turned(float: [u8; 4]) -> [u8; 4] {
    u32::from_le_bytes(float).rotate_left(1).to_be_bytes()
}

const fn turned_back(bytes: [u8; 4]) -> [u8; 4] {
    u32::from_be_bytes(bytes).rotate_right(1).to_le_bytes()
}

/// Packs floats.
#[derive(Default)]
pub(super) struct Packer(Option<Compressor<'static>>);

impl Packer {
    /// The length of each plane, then the planes, compressed where shorter.
    fn pack(&mut self, floats: &[u8]) -> Result<Vec<u8>, String> {
        let floats = floats.as_chunks::<4>().0;
        if floats.is_empty() {
            return Ok(Vec::new());
        }
        let failed = |error: std::io::Error| error.to_string();
        let compressor = match &mut self.0 {
            Some(compressor) => compressor,
            none => {
                let mut compressor = Compressor::new(PLANE_LEVEL).map_err(failed)?;
                compressor.set_parameter(CParameter::MinMatch(PLANE_MATCH)).map_err(failed)?;
                none.insert(compressor)
            }
        };
        let mut out = vec![0; PLANES * 4];
        for plane in 0..PLANES {
            let bytes: Vec<u8> = floats.iter().map(|float| turned(*float)[plane]).collect();
            let packed = compressor.compress(&bytes).map_err(failed)?;
            let shorter = if packed.len() < bytes.len() { &packed } else { &bytes };
            out[plane * 4..plane * 4 + 4].copy_from_slice(&(shorter.len() as u32).to_le_bytes());
            out.extend_from_slice(shorter);
        }
        Ok(out)
    }
}

/// What decompresses blocks: one for texts, with the segment's dictionary, one for planes.
pub(super) struct Decompressors<'a> {
    texts: Decompressor<'a>,
    planes: Decompressor<'static>,
}

impl<'a> Decompressors<'a> {
    pub(super) fn new(dictionary: Option<&'a DecoderDictionary<'static>>) -> Result<Self, String> {
        let texts = match dictionary {
            Some(dictionary) => Decompressor::with_prepared_dictionary(dictionary),
            None => Decompressor::new(),
        };
        let failed = |error: std::io::Error| error.to_string();
        Ok(Self { texts: texts.map_err(failed)?, planes: Decompressor::new().map_err(failed)? })
    }
}

/// The planes of a block's floats.
fn unpack_floats<'a>(
    decompressor: &mut Decompressor<'_>,
    packed: &'a [u8],
    count: usize,
) -> Result<[Cow<'a, [u8]>; PLANES], String> {
    let mut planes = std::array::from_fn(|_| Cow::Borrowed(&packed[..0]));
    if count == 0 {
        return if packed.is_empty() { Ok(planes) } else { Err("vectors where there are none".into()) };
    }
    let (heads, mut rest) = packed.split_at_checked(PLANES * 4).ok_or("shorter than its head of vectors")?;
    for (index, plane) in planes.iter_mut().enumerate() {
        let length = u32_at(heads, index * 4) as usize;
        let (bytes, others) = rest.split_at_checked(length).ok_or("shorter than its vectors")?;
        rest = others;
        *plane = match length == count {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned(decompress(decompressor, bytes, count)?),
        };
    }
    if rest.is_empty() { Ok(planes) } else { Err("bytes behind its vectors".into()) }
}

/// Decompresses what must become `length` bytes. Takes no more memory than so many
/// compressed bytes can need.
fn decompress(decompressor: &mut Decompressor<'_>, bytes: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let most = (bytes.len() as u64 / ZSTD_BLOCK_BYTES + 1).saturating_mul(ZSTD_BLOCK);
    if length > LARGEST || length as u64 > most {
        return Err(format!("{} bytes cannot hold {length}", bytes.len()));
    }
    let out = decompressor.decompress(bytes, length).map_err(|error| error.to_string())?;
    match out.len() == length {
        true => Ok(out),
        false => Err(format!("{} bytes where {length} were packed", out.len())),
    }
}

/// A card's part of a block.
struct Part<'a> {
    /// Versions with the length of the text, the place and the number of the floats.
    heads: Vec<[usize; 3]>,
    text: &'a [u8],
    floats: Range<usize>,
}

/// Records of neighbouring cards, decompressed.
///
/// The text is, for each card: the number of versions, for each of them the bytes without
/// the floats, where the floats go and how many they are (varints), then those bytes.
#[derive(Clone, Debug)]
pub struct DecodedBlock<'a> {
    first: u32,
    cards: u32,
    text: Vec<u8>,
    planes: [Cow<'a, [u8]>; PLANES],
    floats: usize,
}

impl<'a> DecodedBlock<'a> {
    /// Unpacks a block whose checksum has been checked.
    pub(super) fn decode(
        decompressors: &mut Decompressors<'_>,
        cards: Range<u32>,
        (text, raw_text): (&[u8], usize),
        (floats, raw_floats): (&'a [u8], usize),
    ) -> Result<Self, String> {
        let text = decompress(&mut decompressors.texts, text, raw_text)?;
        let planes = unpack_floats(&mut decompressors.planes, floats, raw_floats / 4)?;
        Ok(Self { first: cards.start, cards: cards.end - cards.start, text, planes, floats: raw_floats / 4 })
    }

    /// The positions of the cards in this block.
    pub fn positions(&self) -> Range<u32> {
        self.first..self.first + self.cards
    }

    /// All bytes of the records, but for their vectors, with a few numbers in between.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    fn next_part<'t>(&self, rest: &mut &'t [u8], floats: &mut usize) -> Option<Part<'t>> {
        let versions = take_length(rest)?;
        // Each takes three bytes at least, so damaged numbers cannot make this large.
        let mut heads = Vec::with_capacity(versions.min(rest.len() / 3));
        let (mut text, first) = (0usize, *floats);
        for _ in 0..versions {
            let head = [take_length(rest)?, take_length(rest)?, take_length(rest)?];
            if head[1] > head[0] {
                return None;
            }
            text = text.checked_add(head[0])?;
            *floats = floats.checked_add(head[2]).filter(|count| *count <= self.floats)?;
            heads.push(head);
        }
        let (bytes, others) = rest.split_at_checked(text)?;
        *rest = others;
        Some(Part { heads, text: bytes, floats: first..*floats })
    }

    fn records(&self, part: Part<'_>) -> Vec<Vec<u8>> {
        let (mut text, mut float) = (part.text, part.floats.start);
        let mut records = Vec::with_capacity(part.heads.len());
        for [length, at, floats] in part.heads {
            let (bytes, rest) = text.split_at(length);
            text = rest;
            let mut record = Vec::with_capacity(length + floats * 4);
            record.extend_from_slice(&bytes[..at]);
            for index in float..float + floats {
                record
                    .extend_from_slice(&turned_back(std::array::from_fn(|plane| self.planes[plane][index])));
            }
            float += floats;
            record.extend_from_slice(&bytes[at..]);
            records.push(record);
        }
        records
    }

    /// The versions of the card at a position of the segment, oldest first, and where in each
    /// the floats lie.
    ///
    /// # Errors
    /// When the card is not in this block, or the block is not one.
    pub fn versions(&self, position: u32) -> Result<Vec<Vec<u8>>, String> {
        Ok(self.records(self.part(position)?))
    }

    /// As [`versions`](Self::versions), with the places of the floats.
    pub(super) fn versions_and_floats(&self, position: u32) -> Result<Vec<Placed>, String> {
        let part = self.part(position)?;
        let places: Vec<_> = part.heads.iter().map(|[_, at, floats]| *at..at + floats * 4).collect();
        Ok(self.records(part).into_iter().zip(places).collect())
    }

    fn part(&self, position: u32) -> Result<Part<'_>, String> {
        let index = position.checked_sub(self.first).filter(|index| *index < self.cards);
        let index = index.ok_or_else(|| format!("card {position} is not in it"))?;
        let (mut rest, mut floats) = (self.text.as_slice(), 0);
        let mut part = None;
        for _ in 0..=index {
            part = self.next_part(&mut rest, &mut floats);
            if part.is_none() {
                break;
            }
        }
        part.ok_or_else(|| "its records do not fit into it".into())
    }

    /// Checks that the block is its cards and nothing else, and gives the number of versions.
    pub(super) fn count_versions(&self) -> Result<u64, String> {
        let (mut rest, mut floats, mut versions) = (self.text.as_slice(), 0, 0);
        for _ in 0..self.cards {
            let part = self.next_part(&mut rest, &mut floats).ok_or("its records do not fit into it")?;
            versions += part.heads.len() as u64;
        }
        match rest.is_empty() && floats == self.floats {
            true => Ok(versions),
            false => Err("more records than cards".into()),
        }
    }

    /// The versions of each card, in order of position.
    ///
    /// # Errors
    /// As [`versions`](Self::versions), once, at the end.
    pub fn cards(&self) -> impl Iterator<Item = Result<(u32, Vec<Vec<u8>>), String>> + '_ {
        let (mut rest, mut floats, mut failed) = (self.text.as_slice(), 0, false);
        self.positions().map_while(move |position| {
            if failed {
                return None;
            }
            let part = self.next_part(&mut rest, &mut floats);
            failed = part.is_none();
            let part = part.ok_or_else(|| "its records do not fit into it".to_owned());
            Some(part.map(|part| (position, self.records(part))))
        })
    }

    /// Lets go of the segment's bytes.
    pub fn into_owned(self) -> DecodedBlock<'static> {
        let planes = self.planes.map(|plane| Cow::Owned(plane.into_owned()));
        DecodedBlock { first: self.first, cards: self.cards, text: self.text, planes, floats: self.floats }
    }
}

/// The number of versions that a card's part of a block's text begins with.
pub(super) fn versions_of(mut text: &[u8]) -> u64 {
    take_varint(&mut text).unwrap_or(0)
}
