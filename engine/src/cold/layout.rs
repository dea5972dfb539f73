//! Where things are in a segment: the header, the order of the sections, numbers in bytes.
//!
//! The layout itself is described at the top of `segment.rs`.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a segment. The line ends tell a file that was sent as text.
pub(super) const MAGIC: [u8; 8] = *b"MCCOLD\r\n";
/// The version of the layout.
pub(super) const VERSION: u32 = 1;
/// How much of the directory one checksum covers: little enough that a binary search
/// checks few bytes, enough that the checksums are few.
pub(super) const PAGE: usize = 16 * 1024;
/// Bytes of a checksum.
pub(super) const CHECK: usize = 8;
/// Bytes of a term's row.
pub(super) const TERM_ROW: usize = 16;
/// Bytes of a block's row.
pub(super) const BLOCK_ROW: usize = 40;
/// The largest number of a track.
pub(super) const LAST_TRACK: u8 = 31;
/// The largest dimension of vectors.
pub(super) const MAX_DIMENSION: u32 = 1 << 16;

const FIXED: usize = 88;
/// Bytes of the header.
pub(super) const HEADER: usize = FIXED + Section::ALL.len() * 8 + CHECK;

/// The sections, in the order in which they lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Identifiers,
    Tracks,
    Flags,
    Lengths,
    Times,
    Codes,
    Factors,
    Terms,
    Strings,
    Postings,
    Blocks,
    Dictionary,
    Records,
}

impl Section {
    pub(super) const ALL: [Self; 13] = [
        Self::Identifiers,
        Self::Tracks,
        Self::Flags,
        Self::Lengths,
        Self::Times,
        Self::Codes,
        Self::Factors,
        Self::Terms,
        Self::Strings,
        Self::Postings,
        Self::Blocks,
        Self::Dictionary,
        Self::Records,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Identifiers => "identifiers",
            Self::Tracks => "tracks",
            Self::Flags => "flags",
            Self::Lengths => "lengths",
            Self::Times => "times",
            Self::Codes => "codes",
            Self::Factors => "factors",
            Self::Terms => "terms",
            Self::Strings => "strings",
            Self::Postings => "postings",
            Self::Blocks => "blocks",
            Self::Dictionary => "dictionary",
            Self::Records => "records",
        }
    }
}

/// What the header says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) tenant: u32,
    pub(super) number: u32,
    pub(super) dimension: u32,
    pub(super) cards: u32,
    pub(super) terms: u32,
    pub(super) blocks: u32,
    /// One bit for each track that a card has.
    pub(super) tracks: u32,
    /// Versions of all cards.
    pub(super) versions: u64,
    /// Sum of the cards' lengths.
    pub(super) total_length: u64,
    pub(super) earliest: i64,
    pub(super) latest: i64,
    /// Checksum of the page checksums.
    pub(super) check_of_pages: u64,
    /// Bytes of each section.
    pub(super) lengths: [u64; Section::ALL.len()],
}

/// Words of 64 bits in one code.
pub(super) const fn code_words(dimension: u32) -> usize {
    (dimension as usize).div_ceil(64)
}

/// How many pages a directory of that length has.
pub(super) const fn pages(directory: usize) -> usize {
    directory.div_ceil(PAGE)
}

impl Header {
    /// Bytes of the directory: all sections but the records.
    fn directory(&self) -> Option<usize> {
        let sections = &self.lengths[..Section::Records as usize];
        usize::try_from(sections.iter().try_fold(0u64, |sum, length| sum.checked_add(*length))?).ok()
    }

    pub(super) fn encode(&self, file: u64) -> [u8; HEADER] {
        let mut out = Vec::with_capacity(HEADER);
        out.extend_from_slice(&MAGIC);
        for number in [
            VERSION,
            self.tenant,
            self.number,
            self.dimension,
            self.cards,
            self.terms,
            self.blocks,
            self.tracks,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.versions, self.total_length] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.earliest, self.latest] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [file, self.check_of_pages].iter().chain(&self.lengths) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let check = xxh3_64(&out);
        out.extend_from_slice(&check.to_le_bytes());
        let mut header = [0; HEADER];
        header.copy_from_slice(&out);
        header
    }

    /// Reads and checks a header, and gives the places of the sections in a file of these
    /// bytes.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Self, Places), String> {
        let header = bytes.get(..HEADER).ok_or("shorter than the header of a segment")?;
        if header[..8] != MAGIC {
            return Err("not a segment: its first bytes are others".into());
        }
        let narrow = |index: usize| u32_at(header, 8 + index * 4);
        let wide = |index: usize| u64_at(header, 40 + index * 8);
        if narrow(0) != VERSION {
            return Err(format!("version {} of the segment's layout is not known", narrow(0)));
        }
        if u64_at(header, HEADER - CHECK) != xxh3_64(&header[..HEADER - CHECK]) {
            return Err("the header's checksum does not fit".into());
        }
        if wide(4) != bytes.len() as u64 {
            return Err(format!("{} bytes where the header says {}", bytes.len(), wide(4)));
        }
        let this = Self {
            tenant: narrow(1),
            number: narrow(2),
            dimension: narrow(3),
            cards: narrow(4),
            terms: narrow(5),
            blocks: narrow(6),
            tracks: narrow(7),
            versions: wide(0),
            total_length: wide(1),
            earliest: wide(2) as i64,
            latest: wide(3) as i64,
            check_of_pages: wide(5),
            lengths: std::array::from_fn(|index| u64_at(header, FIXED + index * 8)),
        };
        let places = this.places(bytes.len()).ok_or("the lengths of the sections do not fit")?;
        let checks = bytes.get(places.checks.clone()).ok_or("shorter than its page checksums")?;
        if xxh3_64(checks) != this.check_of_pages {
            return Err("the checksum of the page checksums does not fit".into());
        }
        Ok((this, places))
    }

    fn places(&self, file: usize) -> Option<Places> {
        let cards = u64::from(self.cards);
        let fixed = [
            (Section::Identifiers, cards * 16),
            (Section::Tracks, cards),
            (Section::Flags, cards * 2),
            (Section::Lengths, cards * 4),
            (Section::Times, cards * 8),
            (Section::Codes, cards.checked_mul(code_words(self.dimension) as u64 * 8)?),
            (Section::Factors, if self.dimension == 0 { 0 } else { cards * 4 }),
            (Section::Terms, (u64::from(self.terms) + 1) * TERM_ROW as u64),
            (Section::Blocks, u64::from(self.blocks) * BLOCK_ROW as u64),
        ];
        if self.dimension > MAX_DIMENSION
            || fixed.iter().any(|(section, length)| self.lengths[*section as usize] != *length)
        {
            return None;
        }
        let checks = HEADER..HEADER.checked_add(pages(self.directory()?).checked_mul(CHECK)?)?;
        let mut at = checks.end;
        let mut sections: [Range<usize>; Section::ALL.len()] = std::array::from_fn(|_| 0..0);
        for (place, length) in sections.iter_mut().zip(&self.lengths) {
            let end = at.checked_add(usize::try_from(*length).ok()?)?;
            *place = at..end;
            at = end;
        }
        (at == file).then_some(Places { checks, sections })
    }
}

/// Where things are in a file; all within it.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) checks: Range<usize>,
    sections: [Range<usize>; Section::ALL.len()],
}

impl Places {
    pub(super) fn of(&self, section: Section) -> Range<usize> {
        self.sections[section as usize].clone()
    }

    pub(super) fn directory(&self) -> Range<usize> {
        self.checks.end..self.of(Section::Records).start
    }

    /// The section in which a byte of the file lies.
    pub(super) fn section_at(&self, offset: usize) -> Section {
        let found = Section::ALL.into_iter().find(|section| self.of(*section).contains(&offset));
        found.unwrap_or(Section::Records)
    }
}

/// A number in bytes that are known to be there; 0 where they are not.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// As [`u32_at`].
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Appends a number in seven bits per byte, low ones first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes such a number from the front.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    if *first < 0x80 {
        return Some(u64::from(*first));
    }
    let mut number = u64::from(*first & 0x7f);
    for shift in (7..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(*byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// As [`take_varint`], for a length or a number of things.
pub(super) fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    take_varint(bytes).and_then(|number| usize::try_from(number).ok())
}
