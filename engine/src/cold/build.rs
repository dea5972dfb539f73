//! Writing a segment: the same cards give the same bytes.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
use zstd::bulk::Compressor;
use zstd::dict::EncoderDictionary;

use super::block::{FullBlock, OpenBlock, Packer, Record, versions_of};
use super::codes::Rotation;
use super::layout::{HEADER, Header, LAST_TRACK, MAX_DIMENSION, PAGE, Section};
use super::postings::PostingsBuilder;
use super::reader::Reader;
use super::segment::{Segment, SegmentError};

/// Level of zstd for texts: 9 and 12 save a hundredth of them more, for twice the time.
const LEVEL: i32 = 6;
/// Bytes of a dictionary. It saves a fifth of the texts; one of twice the size a twentieth
/// more, of which each reader pays the memory.
const DICTIONARY: usize = 32 * 1024;
/// Bytes of samples for it, and the fewest samples of which one is made.
const SAMPLES: usize = 1024 * 1024;
const FEWEST_SAMPLES: usize = 512;

/// A card as it goes into a segment.
#[derive(Clone, Debug)]
pub struct ColdCard<'a> {
    /// Its identifier.
    pub id: [u8; 16],
    /// The number of its track, 31 at most.
    pub track: u8,
    /// Whatever the caller wants to know of it without reading records.
    pub flags: u16,
    /// Its records, oldest version first; the last one is the current one.
    pub versions: &'a [Record<'a>],
    /// The vector of the current content.
    pub vector: Option<&'a [f32]>,
    /// The analysed terms and how often each occurs; each once, those of frequency 0 are
    /// left out.
    pub terms: &'a [(&'a str, u16)],
    /// Its tokens.
    pub length: u32,
    /// When what it says happened, in microseconds since 1970.
    pub occurred_at: i64,
}

/// Takes cards, gives a segment.
pub struct SegmentBuilder {
    header: Header,
    rotation: Rotation,
    columns: Columns,
    postings: PostingsBuilder,
    block: OpenBlock,
    full: Vec<FullBlock>,
    packer: Packer,
    /// A card went in by half.
    broken: bool,
}

#[derive(Default)]
struct Columns {
    identifiers: Vec<u8>,
    tracks: Vec<u8>,
    flags: Vec<u8>,
    lengths: Vec<u8>,
    times: Vec<u8>,
    codes: Vec<u8>,
    factors: Vec<u8>,
}

/// What a card has beside records, code and terms.
struct Row {
    id: [u8; 16],
    track: u8,
    flags: u16,
    length: u32,
    occurred_at: i64,
}

impl SegmentBuilder {
    /// A segment of a tenant; `dimension` is that of its vectors, 0 when there are none.
    pub fn new(tenant: u32, number: u32, dimension: u32) -> Self {
        let dimension = dimension.min(MAX_DIMENSION);
        Self {
            header: Header {
                tenant,
                number,
                dimension,
                earliest: i64::MAX,
                latest: i64::MIN,
                ..Header::default()
            },
            rotation: Rotation::new(dimension),
            columns: Columns::default(),
            postings: PostingsBuilder::default(),
            block: OpenBlock::default(),
            full: Vec::new(),
            packer: Packer::default(),
            broken: false,
        }
    }

    /// The number of cards so far.
    pub fn len(&self) -> u32 {
        self.header.cards
    }

    /// Whether there are no cards yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a card. Identifiers must ascend. A card that does not fit stays out, and the
    /// builder can go on, unless a term comes twice: then it cannot finish.
    ///
    /// # Errors
    /// What of the card does not fit.
    pub fn push(&mut self, card: ColdCard<'_>) -> Result<(), String> {
        if let Some(vector) = card.vector
            && vector.len() != self.header.dimension as usize
        {
            return Err(format!("a vector of {} numbers, not {}", vector.len(), self.header.dimension));
        }
        let ColdCard { id, track, flags, length, occurred_at, .. } = card;
        self.push_row(Row { id, track, flags, length, occurred_at }, card.versions)?;
        self.broken = true;
        self.postings.push(self.header.cards - 1, card.terms.iter().copied())?;
        if self.header.dimension > 0 {
            let factor = self.rotation.encode(card.vector, &mut self.columns.codes);
            self.columns.factors.extend_from_slice(&factor.to_le_bytes());
        }
        self.broken = false;
        Ok(())
    }

    /// Appends a card of another segment with its records, code and terms as they are.
    /// Identifiers must ascend as for [`push`](Self::push); a card that does not fit or is
    /// damaged stays out.
    ///
    /// # Errors
    /// When the card cannot be read, or does not fit into this segment: then
    /// [`SegmentError::detail`] says why.
    pub fn push_from<B: AsRef<[u8]>>(
        &mut self,
        from: &mut Carrier<'_, B>,
        position: u32,
    ) -> Result<(), SegmentError> {
        let segment = from.segment;
        let row = Row {
            id: segment.id(position)?,
            track: segment.track(position)?,
            flags: segment.flags(position)?,
            length: segment.length(position)?,
            occurred_at: segment.occurred_at(position)?,
        };
        let records = from.reader.records(position)?;
        let records: Vec<_> =
            records.iter().map(|(bytes, floats)| Record::with_floats(bytes, floats.clone())).collect();
        let terms = from.terms(position)?;
        let misfit = |detail: String| segment.error(Section::Identifiers, detail);
        if segment.dimension() != self.header.dimension && segment.dimension() > 0 {
            return Err(misfit(format!(
                "vectors of {} numbers, not {}",
                segment.dimension(),
                self.header.dimension
            )));
        }
        let code = match segment.dimension() {
            0 => None,
            _ => Some(segment.code(position)?),
        };
        self.push_row(row, &records).map_err(misfit)?;
        self.broken = true;
        self.postings.push(self.header.cards - 1, terms.into_iter()).map_err(misfit)?;
        if let Some((code, factor)) = code {
            self.columns.codes.extend_from_slice(code);
            self.columns.factors.extend_from_slice(&factor.to_le_bytes());
        } else if self.header.dimension > 0 {
            let factor = self.rotation.encode(None, &mut self.columns.codes);
            self.columns.factors.extend_from_slice(&factor.to_le_bytes());
        }
        self.broken = false;
        Ok(())
    }

    fn push_row(&mut self, row: Row, versions: &[Record<'_>]) -> Result<(), String> {
        let ids = &self.columns.identifiers;
        if ids.len() >= 16 && ids[ids.len() - 16..] >= row.id[..] {
            return Err("identifiers must ascend".into());
        }
        if row.track > LAST_TRACK {
            return Err(format!("track {} is above {LAST_TRACK}", row.track));
        }
        let cards = self.header.cards.checked_add(1).ok_or("too many cards for a segment")?;
        if self.block.is_empty() {
            self.block.first = self.header.cards;
        }
        self.block.push(versions)?;
        if self.block.is_full() {
            self.full.push(std::mem::take(&mut self.block).finish(&mut self.packer)?);
        }
        self.columns.identifiers.extend_from_slice(&row.id);
        self.columns.tracks.push(row.track);
        self.columns.flags.extend_from_slice(&row.flags.to_le_bytes());
        self.columns.lengths.extend_from_slice(&row.length.to_le_bytes());
        self.columns.times.extend_from_slice(&row.occurred_at.to_le_bytes());
        let header = &mut self.header;
        header.cards = cards;
        header.tracks |= 1 << row.track;
        header.total_length += u64::from(row.length);
        header.earliest = header.earliest.min(row.occurred_at);
        header.latest = header.latest.max(row.occurred_at);
        Ok(())
    }

    /// The segment.
    ///
    /// # Errors
    /// When a part of it would be too large, or compression fails.
    pub fn finish(mut self) -> Result<Vec<u8>, String> {
        if self.broken {
            return Err("a card did not fit and went in by half".into());
        }
        if !self.block.is_empty() {
            self.full.push(std::mem::take(&mut self.block).finish(&mut self.packer)?);
        }
        if self.header.cards == 0 {
            (self.header.earliest, self.header.latest) = (0, 0);
        }
        let dictionary = dictionary(&self.full);
        let (blocks, records) = self.compress(&dictionary)?;
        let terms = self.postings.finish()?;
        let mut header = self.header;
        header.terms = terms.terms;
        let columns = self.columns;
        let sections: [Vec<u8>; Section::ALL.len()] = [
            columns.identifiers,
            columns.tracks,
            columns.flags,
            columns.lengths,
            columns.times,
            columns.codes,
            columns.factors,
            terms.rows,
            terms.strings,
            terms.postings,
            blocks,
            dictionary,
            records,
        ];
        header.lengths = std::array::from_fn(|index| sections[index].len() as u64);
        let directory: usize = sections[..Section::Records as usize].iter().map(Vec::len).sum();
        let start = HEADER + directory.div_ceil(PAGE) * size_of::<u64>();
        let file = start + directory + sections[Section::Records as usize].len();
        let mut out = Vec::with_capacity(file);
        out.resize(start, 0);
        for section in sections {
            out.extend_from_slice(&section);
        }
        let checks: Vec<u8> =
            out[start..start + directory].chunks(PAGE).flat_map(|page| xxh3_64(page).to_le_bytes()).collect();
        header.check_of_pages = xxh3_64(&checks);
        out[HEADER..start].copy_from_slice(&checks);
        out[..HEADER].copy_from_slice(&header.encode(file as u64));
        Ok(out)
    }

    /// Compresses the blocks: their rows, and the records.
    fn compress(&mut self, dictionary: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
        let failed = |error: std::io::Error| error.to_string();
        let prepared = EncoderDictionary::copy(dictionary, LEVEL);
        let mut compressor = match dictionary.is_empty() {
            true => Compressor::new(LEVEL),
            false => Compressor::with_prepared_dictionary(&prepared),
        }
        .map_err(failed)?;
        let (mut rows, mut records) = (Vec::new(), Vec::new());
        self.header.blocks = u32::try_from(self.full.len()).map_err(|_| "too many blocks")?;
        for (number, block) in std::mem::take(&mut self.full).into_iter().enumerate() {
            let starts = std::iter::once(0).chain(block.ends.iter().copied()).zip(&block.ends);
            self.header.versions +=
                starts.map(|(start, end)| versions_of(&block.text[start..*end])).sum::<u64>();
            let offset = records.len() as u64;
            let text = compressor.compress(&block.text).map_err(failed)?;
            records.extend_from_slice(&text);
            records.extend_from_slice(&block.floats);
            let check = xxh3_64_with_seed(&records[offset as usize..], number as u64);
            rows.extend_from_slice(&offset.to_le_bytes());
            rows.extend_from_slice(&check.to_le_bytes());
            let lengths = [text.len(), block.text.len(), block.floats.len(), block.raw_floats, 0];
            rows.extend_from_slice(&block.first.to_le_bytes());
            for length in lengths {
                let length = u32::try_from(length).map_err(|_| "a block is too large")?;
                rows.extend_from_slice(&length.to_le_bytes());
            }
        }
        Ok((rows, records))
    }
}

/// A dictionary of cards from all over the segment; empty when they are too few, or too much
/// alike for zstd to make one.
fn dictionary(blocks: &[FullBlock]) -> Vec<u8> {
    let cards: usize = blocks.iter().map(|block| block.ends.len()).sum();
    let bytes: usize = blocks.iter().map(|block| block.text.len()).sum();
    let step = bytes.div_ceil(SAMPLES).max(1);
    if cards / step < FEWEST_SAMPLES {
        return Vec::new();
    }
    let (mut samples, mut sizes) = (Vec::with_capacity(SAMPLES * 2), Vec::new());
    let all = blocks.iter().flat_map(|block| {
        let starts = std::iter::once(0).chain(block.ends.iter().copied());
        starts.zip(&block.ends).map(|(start, end)| &block.text[start..*end])
    });
    for card in all.step_by(step).filter(|card| card.len() <= SAMPLES / 64) {
        if samples.len() + card.len() > SAMPLES * 2 {
            break;
        }
        samples.extend_from_slice(card);
        sizes.push(card.len());
    }
    if sizes.len() < FEWEST_SAMPLES {
        return Vec::new();
    }
    zstd::dict::from_continuous(&samples, &sizes, DICTIONARY.min(samples.len() / 8)).unwrap_or_default()
}

/// What it takes to carry cards of a segment over into another: the terms of each card, put
/// together once from all postings (8 bytes per posting), and a reader of its records.
pub struct Carrier<'a, B> {
    segment: &'a Segment<B>,
    strings: Vec<&'a str>,
    /// Where the terms of each card begin in `terms`, and the end.
    starts: Vec<u32>,
    /// Numbers of terms with their frequency.
    terms: Vec<(u32, u16)>,
    reader: Reader<'a, B>,
}

impl<'a, B: AsRef<[u8]>> Carrier<'a, B> {
    /// Reads all terms and postings of a segment.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn new(segment: &'a Segment<B>) -> Result<Self, SegmentError> {
        let damaged = |detail: &str| segment.error(Section::Postings, detail);
        let mut strings = Vec::new();
        let mut starts = vec![0u32; segment.len() as usize + 1];
        // Each posting takes a byte at least: damaged rows cannot make more of them.
        let mut left = u32::try_from(segment.places.of(Section::Postings).len()).unwrap_or(u32::MAX);
        for number in 0..segment.header.terms {
            let (string, _, postings) = segment.term(number)?;
            strings.push(std::str::from_utf8(string).map_err(|_| damaged("a term is not UTF-8"))?);
            for posting in postings {
                starts[posting.map_err(damaged)?.0 as usize + 1] += 1;
                left = left.checked_sub(1).ok_or_else(|| damaged("more postings than bytes"))?;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut terms = vec![(0, 0); sum as usize];
        let mut next = starts.clone();
        for number in 0..segment.header.terms {
            for posting in segment.term(number)?.2 {
                let (position, frequency) = posting.map_err(damaged)?;
                let next = &mut next[position as usize];
                terms[*next as usize] = (number, frequency);
                *next += 1;
            }
        }
        Ok(Self { segment, strings, starts, terms, reader: segment.reader()? })
    }

    /// The terms of the card at a position, in order, and how often each occurs.
    ///
    /// # Errors
    /// When there is no such card.
    pub fn terms(&self, position: u32) -> Result<Vec<(&'a str, u16)>, SegmentError> {
        let place = self.starts.get(position as usize..).and_then(|starts| starts.first_chunk::<2>());
        let [start, end] = place
            .ok_or_else(|| self.segment.error(Section::Postings, format!("there is no card {position}")))?;
        let terms = &self.terms[*start as usize..*end as usize];
        Ok(terms.iter().map(|(number, frequency)| (self.strings[*number as usize], *frequency)).collect())
    }
}
