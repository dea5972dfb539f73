//! The text index as bytes: a header and the arrays of the base, little-endian.
//!
//! ```text
//! magic 8 | format u32 | analyzer u32 | rows u32 | terms u32 | postings u32 | term bytes u32 |
//! xxh3-64 of header before and arrays after it |
//! lengths u32 × rows | term offsets u32 × (terms + 1) | posting offsets u32 × (terms + 1) |
//! posting rows u32 × postings | frequencies u16 × postings | terms
//! ```

use xxhash_rust::xxh3::Xxh3;

use super::index::{ABSENT, Base, TextIndex};
use super::tokens::ANALYZER_VERSION;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"mc-text\n";
const FORMAT: u32 = 1;
const COUNTS: usize = 6;
const CHECKSUM_AT: usize = MAGIC.len() + COUNTS * 4;
const HEADER: usize = CHECKSUM_AT + 8;

impl TextIndex {
    /// The whole index, added rows included and removed ones left out, as bytes that [`TextIndex::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let merged;
        let base = if self.is_settled() {
            &self.base
        } else {
            merged = self.merged();
            &merged
        };
        let counts = [
            FORMAT,
            ANALYZER_VERSION,
            self.lengths.len() as u32,
            base.len() as u32,
            base.rows.len() as u32,
            base.terms.len() as u32,
        ];
        let mut bytes = Vec::with_capacity(HEADER + base_size(counts) as usize);
        bytes.extend_from_slice(&MAGIC);
        put_u32(&mut bytes, &counts);
        bytes.extend_from_slice(&[0; 8]);
        put_u32(&mut bytes, &self.lengths);
        put_u32(&mut bytes, &base.term_offsets);
        put_u32(&mut bytes, &base.posting_offsets);
        put_u32(&mut bytes, &base.rows);
        put_u16(&mut bytes, &base.frequencies);
        bytes.extend_from_slice(base.terms.as_bytes());
        seal(&mut bytes);
        bytes
    }

    /// Reads what [`TextIndex::to_bytes`] wrote. Anything else is
    /// [`Error::Corrupt`], an index of another analyzer included: both are built again.
    pub fn from_bytes(bytes: &[u8]) -> Result<TextIndex> {
        if bytes.len() < HEADER || bytes[..MAGIC.len()] != MAGIC {
            return Err(corrupt("not a text index"));
        }
        let counts: Vec<u32> = get_u32(&bytes[MAGIC.len()..CHECKSUM_AT]);
        let &[format, analyzer, rows, terms, postings, term_bytes] = &counts[..] else {
            return Err(corrupt("header"));
        };
        if (format, analyzer) != (FORMAT, ANALYZER_VERSION) {
            return Err(corrupt(&format!(
                "format {format} of analyzer {analyzer}, expected {FORMAT} of {ANALYZER_VERSION}"
            )));
        }
        let size = base_size([format, analyzer, rows, terms, postings, term_bytes]);
        if (bytes.len() - HEADER) as u64 != size {
            return Err(corrupt("size"));
        }
        if checksum(bytes).to_le_bytes() != bytes[CHECKSUM_AT..HEADER] {
            return Err(corrupt("checksum"));
        }
        // The size is known to fit, so every count is below the number of bytes.
        let mut rest = &bytes[HEADER..];
        let mut take = |size: usize| {
            let (head, tail) = rest.split_at(size);
            rest = tail;
            head
        };
        let (rows, terms, postings) = (rows as usize, terms as usize, postings as usize);
        let lengths = get_u32(take(rows * 4));
        let term_offsets = get_u32(take((terms + 1) * 4));
        let posting_offsets = get_u32(take((terms + 1) * 4));
        let posting_rows = get_u32(take(postings * 4));
        let frequencies = get_u16(take(postings * 2));
        let text = take(term_bytes as usize).to_vec();
        let text = String::from_utf8(text).map_err(|_| corrupt("terms are not UTF-8"))?;
        let base = Base { terms: text, term_offsets, posting_offsets, rows: posting_rows, frequencies };
        check(&base, &lengths)?;
        Ok(TextIndex::from_parts(base, lengths))
    }
}

/// Everything the search relies on without looking again.
fn check(base: &Base, lengths: &[u32]) -> Result<()> {
    let spans = |offsets: &[u32], end: usize| {
        offsets.first() == Some(&0)
            && offsets.last().is_some_and(|last| *last as usize == end)
            && offsets.windows(2).all(|pair| pair[0] < pair[1])
    };
    if !spans(&base.term_offsets, base.terms.len())
        || !base.term_offsets.iter().all(|offset| base.terms.is_char_boundary(*offset as usize))
    {
        return Err(corrupt("term offsets"));
    }
    if (1..base.len()).any(|index| base.term(index - 1) >= base.term(index)) {
        return Err(corrupt("order of terms"));
    }
    if !spans(&base.posting_offsets, base.rows.len()) {
        return Err(corrupt("posting offsets"));
    }
    for range in base.posting_offsets.windows(2) {
        let rows = &base.rows[range[0] as usize..range[1] as usize];
        if rows.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(corrupt("order of rows"));
        }
    }
    if base.rows.iter().any(|row| lengths.get(*row as usize).is_none_or(|length| *length == ABSENT)) {
        return Err(corrupt("a posting of a row without document"));
    }
    if base.frequencies.contains(&0) {
        return Err(corrupt("a frequency of zero"));
    }
    Ok(())
}

/// Bytes after the header, in 64 bits, which no counts can overflow.
fn base_size([_, _, rows, terms, postings, term_bytes]: [u32; COUNTS]) -> u64 {
    u64::from(rows) * 4 + (u64::from(terms) + 1) * 8 + u64::from(postings) * 6 + u64::from(term_bytes)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&bytes[..CHECKSUM_AT]);
    hash.update(&bytes[HEADER..]);
    hash.digest()
}

/// Writes the checksum.
pub(super) fn seal(bytes: &mut [u8]) {
    let checksum = checksum(bytes).to_le_bytes();
    bytes[CHECKSUM_AT..HEADER].copy_from_slice(&checksum);
}

fn corrupt(detail: &str) -> Error {
    Error::corrupt("text index", detail)
}

fn put_u32(bytes: &mut Vec<u8>, values: &[u32]) {
    if cfg!(target_endian = "little") {
        bytes.extend_from_slice(bytemuck::cast_slice(values));
    } else {
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
}

fn put_u16(bytes: &mut Vec<u8>, values: &[u16]) {
    if cfg!(target_endian = "little") {
        bytes.extend_from_slice(bytemuck::cast_slice(values));
    } else {
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
}

/// The bytes are copied in one go wherever they lie; `bytes.len()` is a multiple of four.
fn get_u32(bytes: &[u8]) -> Vec<u32> {
    let mut values: Vec<u32> = bytemuck::allocation::pod_collect_to_vec(bytes);
    if cfg!(target_endian = "big") {
        values.iter_mut().for_each(|value| *value = value.swap_bytes());
    }
    values
}

fn get_u16(bytes: &[u8]) -> Vec<u16> {
    let mut values: Vec<u16> = bytemuck::allocation::pod_collect_to_vec(bytes);
    if cfg!(target_endian = "big") {
        values.iter_mut().for_each(|value| *value = value.swap_bytes());
    }
    values
}
