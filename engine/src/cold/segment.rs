//! A sealed segment: reading one, wherever its bytes lie.
//!
//! # Layout
//!
//! All integers are little-endian. A segment is its header, the checksums of its pages, and
//! sections that follow each other without a gap.
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | magic `MCCOLD\r\n` |
//! | 8– | u32 each: version of the layout (1) · tenant · number of the segment · dimension (0: no vectors) · cards · terms · blocks · bit mask of the cards' tracks |
//! | 40– | u64 each: versions of all cards · sum of the cards' lengths in tokens; i64 each: earliest, latest `occurred_at`; u64 each: bytes of the file · XXH3-64 of the page checksums |
//! | 88– | u64 for each section, in the order below: its bytes |
//! | 192–199 | XXH3-64 of the header so far |
//! | 200– | XXH3-64 of each page: 16 KiB of the sections up to `dictionary`, the last one shorter |
//!
//! | section | content |
//! |---|---|
//! | identifiers | 16 bytes per card, ascending; a card's place here is its position |
//! | tracks | u8 per card |
//! | flags | u16 per card, whatever its caller wants to know without reading records |
//! | lengths | u32 per card: its tokens |
//! | times | i64 per card: `occurred_at`, microseconds since 1970 |
//! | codes | per card, dimension ÷ 64 (rounded up) u64: the signs of its rotated vector, 1 for negative; see `codes.rs` |
//! | factors | f32 per card: what turns a sum under these signs into an estimated cosine; 0 for no vector. Empty where the dimension is 0 |
//! | terms | per term, in order of its bytes, and once more for the end: where its string begins u32 · its cards u32 · where its postings begin u64 |
//! | strings | the terms, UTF-8 |
//! | postings | per term, cards ascending, varints: (distance from the card before, less one) × 2 + 1 if the frequency is 1, or the distance × 2 and the frequency; the first distance is the position |
//! | blocks | per block: place in `records` u64 · XXH3-64 of its bytes, seeded with its number · first card u32 · bytes of its text u32 · the same uncompressed u32 · bytes of its vectors u32 · the same uncompressed u32 · 0 u32 |
//! | dictionary | of zstd, for the texts of blocks; may be empty |
//! | records | per block its text, then its vectors |
//!
//! A block holds all versions of some neighbouring cards. Its text is a zstd frame of, for
//! each card: the number of versions; for each of them the bytes of the record without its
//! vector, where in them the vector goes, and the number of its floats; then these bytes
//! (numbers are varints). Its vectors are the floats of all its records, rotated left by one
//! bit and cut into four planes, high bytes first: u32 bytes of each plane, then the planes,
//! each a zstd frame where that is shorter than the plane itself.
//!
//! Every byte is covered by a checksum: header and page checksums when a segment is opened, a
//! page when something in it is first read, a block whenever it is read.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
use zstd::dict::DecoderDictionary;

use super::block::{DecodedBlock, Decompressors};
use super::codes::Rotation;
use super::layout::{
    BLOCK_ROW, CHECK, Header, PAGE, Places, Section, TERM_ROW, code_words, pages, u32_at, u64_at,
};
use super::postings::Postings;

/// Where a segment is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the section of this name.
    Section(&'static str),
    /// In the block of this number.
    Block(u32),
}

/// What was to be read is damaged; the rest of the segment may be whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentError {
    /// The segment's number.
    pub segment: u32,
    /// What is damaged.
    pub place: Place,
    /// Where that begins in the segment's bytes.
    pub offset: u64,
    /// What does not fit.
    pub detail: String,
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {}, ", self.segment)?;
        match self.place {
            Place::Section(name) => write!(f, "section {name}")?,
            Place::Block(number) => write!(f, "block {number}")?,
        }
        write!(f, " at byte {}: {}", self.offset, self.detail)
    }
}

impl std::error::Error for SegmentError {}

/// A segment over bytes: a memory map, a vector, a slice.
pub struct Segment<B> {
    bytes: B,
    pub(super) header: Header,
    pub(super) places: Places,
    /// A bit for each page whose checksum has been found to fit.
    checked: Box<[AtomicU64]>,
    dictionary: OnceLock<DecoderDictionary<'static>>,
    rotation: OnceLock<Rotation>,
}

impl<B> fmt::Debug for Segment<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").field("header", &self.header).finish_non_exhaustive()
    }
}

/// A row of the section of blocks.
#[derive(Clone, Copy, Debug)]
struct BlockRow {
    offset: u64,
    check: u64,
    first: u32,
    text: u32,
    raw_text: u32,
    floats: u32,
    raw_floats: u32,
}

impl<B: AsRef<[u8]>> Segment<B> {
    /// Opens a segment. Reads its header and the page checksums (half a thousandth of the
    /// sections without the records); everything else is checked when it is read.
    ///
    /// # Errors
    /// What does not fit.
    pub fn open(bytes: B) -> Result<Self, String> {
        let (header, places) = Header::decode(bytes.as_ref())?;
        let words = pages(places.directory().len()).div_ceil(64);
        let checked = (0..words).map(|_| AtomicU64::new(0)).collect();
        Ok(Self { bytes, header, places, checked, dictionary: OnceLock::new(), rotation: OnceLock::new() })
    }

    /// The number of cards.
    pub fn len(&self) -> u32 {
        self.header.cards
    }

    /// Whether there are no cards.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that each section takes, by name.
    pub fn sizes(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Section::ALL.into_iter().map(|section| (section.name(), self.places.of(section).len() as u64))
    }

    /// All of its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The tenant whose cards these are.
    pub fn tenant(&self) -> u32 {
        self.header.tenant
    }

    /// The segment's number.
    pub fn number(&self) -> u32 {
        self.header.number
    }

    /// The dimension of vectors; 0 when there are none.
    pub fn dimension(&self) -> u32 {
        self.header.dimension
    }

    /// The number of versions of all cards.
    pub fn version_count(&self) -> u64 {
        self.header.versions
    }

    /// A bit for each track that a card has.
    pub fn tracks(&self) -> u32 {
        self.header.tracks
    }

    /// Earliest and latest `occurred_at`, unless there are no cards.
    pub fn times(&self) -> Option<(i64, i64)> {
        (!self.is_empty()).then_some((self.header.earliest, self.header.latest))
    }

    /// The number of documents for text statistics: all cards.
    pub fn documents(&self) -> u32 {
        self.len()
    }

    /// The sum of all cards' lengths in tokens.
    pub fn total_length(&self) -> u64 {
        self.header.total_length
    }

    /// The identifier of the card at a position.
    ///
    /// # Errors
    /// When that is damaged, or there is no such card.
    pub fn id(&self, position: u32) -> Result<[u8; 16], SegmentError> {
        self.column(Section::Identifiers, position)
    }

    /// The track of the card at a position.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn track(&self, position: u32) -> Result<u8, SegmentError> {
        self.column(Section::Tracks, position).map(|[track]| track)
    }

    /// The flags of the card at a position.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn flags(&self, position: u32) -> Result<u16, SegmentError> {
        self.column(Section::Flags, position).map(u16::from_le_bytes)
    }

    /// The length of the card at a position, in tokens.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn length(&self, position: u32) -> Result<u32, SegmentError> {
        self.column(Section::Lengths, position).map(u32::from_le_bytes)
    }

    /// When what the card says happened, in microseconds since 1970.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn occurred_at(&self, position: u32) -> Result<i64, SegmentError> {
        self.column(Section::Times, position).map(i64::from_le_bytes)
    }

    /// The position of a card.
    ///
    /// # Errors
    /// When the identifiers are damaged where they are compared.
    pub fn find(&self, id: [u8; 16]) -> Result<Option<u32>, SegmentError> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle)?.cmp(&id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The records of the card at a position, oldest version first.
    ///
    /// # Errors
    /// When its block is damaged, or there is no such card.
    pub fn versions(&self, position: u32) -> Result<Vec<Vec<u8>>, SegmentError> {
        let number = self.block_of(position)?;
        self.block(number)?.versions(position).map_err(|detail| self.block_error(number, detail))
    }

    /// The number of blocks.
    pub fn block_count(&self) -> u32 {
        self.header.blocks
    }

    /// The block that holds the card at a position.
    ///
    /// # Errors
    /// When the list of blocks is damaged, or there is no such card.
    pub fn block_of(&self, position: u32) -> Result<u32, SegmentError> {
        if position >= self.len() {
            return Err(self.error(Section::Blocks, format!("there is no card {position}")));
        }
        let (mut low, mut high) = (0, self.block_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.block_row(middle)?.first <= position {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low.checked_sub(1).ok_or_else(|| self.error(Section::Blocks, "no block holds the first card"))
    }

    /// A block, checked and decompressed.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn block(&self, number: u32) -> Result<DecodedBlock<'_>, SegmentError> {
        self.block_with(&mut self.decompressors()?, number)
    }

    /// All blocks, one after the other; damaged ones are errors in between.
    pub fn blocks(&self) -> impl Iterator<Item = Result<DecodedBlock<'_>, SegmentError>> + '_ {
        let mut decompressors = self.decompressors();
        (0..self.block_count()).map(move |number| match &mut decompressors {
            Ok(decompressors) => self.block_with(decompressors, number),
            Err(error) => Err(error.clone()),
        })
    }

    /// All terms, one after the other: together with the dictionary and the texts of the blocks,
    /// every place where words of a card can be.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn strings(&self) -> Result<&[u8], SegmentError> {
        self.read_all(Section::Strings)
    }

    /// The dictionary of the texts, which holds pieces of records; may be empty.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn dictionary(&self) -> Result<&[u8], SegmentError> {
        self.read_all(Section::Dictionary)
    }

    pub(super) fn error(&self, section: Section, detail: impl Into<String>) -> SegmentError {
        let offset = self.places.of(section).start as u64;
        let place = Place::Section(section.name());
        SegmentError { segment: self.number(), place, offset, detail: detail.into() }
    }

    pub(super) fn block_error(&self, number: u32, detail: impl Into<String>) -> SegmentError {
        let start = self.places.of(Section::Records).start as u64;
        let offset = start.saturating_add(self.block_row(number).map_or(0, |row| row.offset));
        SegmentError { segment: self.number(), place: Place::Block(number), offset, detail: detail.into() }
    }

    /// Bytes of a section other than the records, once their pages are checked.
    pub(super) fn read(&self, section: Section, range: Range<usize>) -> Result<&[u8], SegmentError> {
        let place = self.places.of(section);
        let outside = || self.error(section, "what is asked for is not in it");
        if range.start > range.end || range.end > place.len() {
            return Err(outside());
        }
        let range = place.start + range.start..place.start + range.end;
        if !range.is_empty() {
            let directory = self.places.directory().start;
            for page in (range.start - directory) / PAGE..=(range.end - 1 - directory) / PAGE {
                self.check_page(page)?;
            }
        }
        self.bytes.as_ref().get(range).ok_or_else(outside)
    }

    /// All bytes of a section other than the records.
    pub(super) fn read_all(&self, section: Section) -> Result<&[u8], SegmentError> {
        self.read(section, 0..self.places.of(section).len())
    }

    pub(super) fn check_page(&self, page: usize) -> Result<(), SegmentError> {
        let bit = 1 << (page % 64);
        let word = self.checked.get(page / 64);
        if word.is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0) {
            return Ok(());
        }
        let directory = self.places.directory();
        let start = directory.start + page * PAGE;
        let bytes = self.bytes.as_ref();
        let found = bytes.get(start..directory.end.min(start + PAGE)).map(xxh3_64);
        let check = bytes.get(self.places.checks.clone()).map(|checks| u64_at(checks, page * CHECK));
        if found.is_none() || found != check {
            return Err(SegmentError {
                segment: self.number(),
                place: Place::Section(self.places.section_at(start).name()),
                offset: start as u64,
                detail: format!("the checksum of page {page} does not fit"),
            });
        }
        if let Some(word) = word {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// A card's value in a column of values of `N` bytes.
    fn column<const N: usize>(&self, section: Section, position: u32) -> Result<[u8; N], SegmentError> {
        let missing = || self.error(section, format!("there is no card {position}"));
        let start = (position as usize).checked_mul(N).ok_or_else(missing)?;
        let bytes = self.read(section, start..start.saturating_add(N))?;
        bytes.first_chunk().copied().ok_or_else(missing)
    }

    /// A term's string, its number of cards, its postings.
    pub(super) fn term(&self, number: u32) -> Result<(&[u8], u32, Postings<'_>), SegmentError> {
        let start = number as usize * TERM_ROW;
        let rows = self.read(Section::Terms, start..start + 2 * TERM_ROW)?;
        let string = u32_at(rows, 0) as usize..u32_at(rows, TERM_ROW) as usize;
        let place = |at| usize::try_from(u64_at(rows, at)).unwrap_or(usize::MAX);
        let postings = self.read(Section::Postings, place(8)..place(TERM_ROW + 8))?;
        Ok((self.read(Section::Strings, string)?, u32_at(rows, 4), Postings::new(postings, self.len())))
    }

    /// A term's number.
    pub(super) fn find_term(&self, term: &str) -> Result<Option<u32>, SegmentError> {
        let (mut low, mut high) = (0, self.header.terms);
        while low < high {
            let middle = low + (high - low) / 2;
            let start = middle as usize * TERM_ROW;
            let rows = self.read(Section::Terms, start..start + 2 * TERM_ROW)?;
            let string = u32_at(rows, 0) as usize..u32_at(rows, TERM_ROW) as usize;
            match self.read(Section::Strings, string)?.cmp(term.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    pub(super) fn rotation(&self) -> &Rotation {
        self.rotation.get_or_init(|| Rotation::new(self.dimension()))
    }

    /// A card's code and its factor.
    pub(super) fn code(&self, position: u32) -> Result<(&[u8], f32), SegmentError> {
        let size = code_words(self.dimension()) * 8;
        let code = self.read(Section::Codes, position as usize * size..(position as usize + 1) * size)?;
        Ok((code, f32::from_le_bytes(self.column(Section::Factors, position)?)))
    }

    fn block_row(&self, number: u32) -> Result<BlockRow, SegmentError> {
        let start = number as usize * BLOCK_ROW;
        let row = self.read(Section::Blocks, start..start + BLOCK_ROW)?;
        Ok(BlockRow {
            offset: u64_at(row, 0),
            check: u64_at(row, 8),
            first: u32_at(row, 16),
            text: u32_at(row, 20),
            raw_text: u32_at(row, 24),
            floats: u32_at(row, 28),
            raw_floats: u32_at(row, 32),
        })
    }

    pub(super) fn decompressors(&self) -> Result<Decompressors<'_>, SegmentError> {
        let dictionary = match self.dictionary.get() {
            None if !self.places.of(Section::Dictionary).is_empty() => {
                let bytes = self.read_all(Section::Dictionary)?;
                Some(self.dictionary.get_or_init(|| DecoderDictionary::copy(bytes)))
            }
            made => made,
        };
        Decompressors::new(dictionary).map_err(|detail| self.error(Section::Dictionary, detail))
    }

    pub(super) fn block_with(
        &self,
        decompressors: &mut Decompressors<'_>,
        number: u32,
    ) -> Result<DecodedBlock<'_>, SegmentError> {
        let row = self.block_row(number)?;
        let next = match number + 1 < self.block_count() {
            true => self.block_row(number + 1)?.first,
            false => self.len(),
        };
        let error = |detail: String| self.block_error(number, detail);
        if row.first >= next {
            return Err(error("it holds no cards".into()));
        }
        let place = self.places.of(Section::Records);
        let length = row.text as usize + row.floats as usize;
        let start = usize::try_from(row.offset).ok().and_then(|offset| offset.checked_add(place.start));
        let range = start.and_then(|start| Some(start..start.checked_add(length)?));
        let range = range.filter(|range| range.end <= place.end);
        let bytes = range.and_then(|range| self.bytes.as_ref().get(range));
        let bytes = bytes.ok_or_else(|| error("it lies outside of the segment".into()))?;
        if xxh3_64_with_seed(bytes, u64::from(number)) != row.check {
            return Err(error("its checksum does not fit".into()));
        }
        let (text, floats) = bytes.split_at(row.text as usize);
        let (text, floats) = ((text, row.raw_text as usize), (floats, row.raw_floats as usize));
        DecodedBlock::decode(decompressors, row.first..next, text, floats).map_err(error)
    }
}
