//! Snapshot files of partitions.
//!
//! `magic · layout · analyzer · counts · sections · xxh3`, little-endian; the checksum is
//! over all that precedes it. A snapshot says which change it holds last, and that
//! change's checksum: a file that belongs to another store, or to another past of this
//! one, does not fit and is rebuilt. Vectors are in a file of their own, which is mapped
//! instead of read; see [`crate::index::vector`].

use xxhash_rust::xxh3::xxh3_64;

use crate::Result;
use crate::index::partition::{Partition, Row};
use crate::index::said::Saying;
use crate::index::sense::{SENSE_VERSION, Sense};
use crate::index::text::{ANALYZER_VERSION, TextIndex};
use crate::store::record;
use crate::time::Timestamp;

const MAGIC: &[u8; 8] = b"MCINDEX\0";
/// Raise it whenever layout, judging or attributes of rows change: old files are rebuilt.
const LAYOUT: u32 = 5;

/// Writes a partition as bytes of a snapshot file; `generation` is that of its vectors.
pub(crate) fn encode(partition: &Partition, generation: u16) -> Result<Vec<u8>> {
    let (applied, checksum) = partition.applied();
    let vectors = partition.vectors().map_or(0, |index| index.len());
    let mut out = Vec::with_capacity(partition.len() * 512);
    out.extend_from_slice(MAGIC);
    for number in [LAYOUT, ANALYZER_VERSION, SENSE_VERSION] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for number in [applied, checksum, partition.len() as u64, vectors as u64, u64::from(generation)] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    let mut rows = Vec::new();
    for (row, number) in partition.rows().iter().zip(0..) {
        let is_dropped = partition.is_dropped(number);
        rows.push(u8::from(!is_dropped));
        if !is_dropped {
            encode_row(row, &mut rows)?;
        }
    }
    section(&mut out, &rows);
    section(&mut out, &partition.text().to_bytes());
    let checksum = xxh3_64(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    Ok(out)
}

/// Bytes of a file from which [`applied`] reads.
pub(crate) const HEADER: usize = 8 + 3 * 4 + 2 * 8;

/// The last change that a file holds, by its first bytes: sequence and checksum. The error says
/// why the file cannot be used.
pub(crate) fn applied(header: &[u8]) -> Result<(u64, u64), String> {
    let mut reader = Reader(header);
    reader.versions()?;
    Ok((reader.u64()?, reader.u64()?))
}

/// Reads a snapshot file: the partition without its vectors, how many of its rows have
/// one, and of which generation these are. The error says what does not fit; the caller
/// rebuilds.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Partition, usize, u64), String> {
    let (body, stored) = bytes.split_last_chunk::<8>().ok_or("shorter than a checksum")?;
    if xxh3_64(body) != u64::from_le_bytes(*stored) {
        return Err("checksum mismatch".into());
    }
    let mut reader = Reader(body);
    reader.versions()?;
    let (applied, checksum) = (reader.u64()?, reader.u64()?);
    let (count, vectors, generation) = (reader.size()?, reader.size()?, reader.u64()?);
    let mut rows_section = Reader(reader.section()?);
    if count > rows_section.0.len() {
        return Err("more rows than bytes".into());
    }
    let mut row = || match rows_section.array()? {
        [0] => Ok(None),
        [1] => decode_row(&mut rows_section).map(Some),
        [other] => Err(format!("a row begins with {other}")),
    };
    let rows = (0..count).map(|_| row()).collect::<Result<Vec<_>, String>>()?;
    let text = TextIndex::from_bytes(reader.section()?).map_err(|e| e.to_string())?;
    if !reader.0.is_empty() || !rows_section.0.is_empty() {
        return Err("sections of the wrong length".into());
    }
    let partition = Partition::from_parts(rows, text, applied, checksum).ok_or("rows do not fit")?;
    Ok((partition, vectors, generation))
}

fn encode_row(row: &Row, out: &mut Vec<u8>) -> Result<()> {
    let card = record::encode_card(&row.card)?;
    out.extend_from_slice(&row.until.as_micros().to_le_bytes());
    for hash in [row.topic, row.subject] {
        out.push(u8::from(hash.is_some()));
        out.extend_from_slice(&hash.unwrap_or(0).to_le_bytes());
    }
    out.extend_from_slice(&row.length.to_le_bytes());
    out.push(u8::from(row.question));
    out.extend_from_slice(&row.sense.to_bytes());
    out.push(row.says.len() as u8);
    for saying in &row.says {
        let (kind, parts) = saying.parts();
        out.push(kind);
        parts.iter().for_each(|part| section(out, part.as_bytes()));
    }
    section(out, row.excludes.as_deref().unwrap_or_default().as_bytes());
    section(out, &card);
    Ok(())
}

fn decode_row(reader: &mut Reader<'_>) -> Result<Row, String> {
    let until = Timestamp::from_micros(i64::from_le_bytes(reader.array()?));
    let mut hash = || -> Result<Option<u64>, String> {
        let there = reader.array::<1>()? == [1];
        let hash = reader.u64()?;
        Ok(there.then_some(hash))
    };
    let (topic, subject) = (hash()?, hash()?);
    let length = reader.u32()?;
    let question = reader.array::<1>()? == [1];
    let sense = Sense::from_bytes(reader.array()?);
    let [count] = reader.array()?;
    let says = (0..count).map(|_| decode_saying(reader)).collect::<Result<_, String>>()?;
    let excludes = std::str::from_utf8(reader.section()?).map_err(|e| e.to_string())?;
    let excludes = Some(excludes).filter(|object| !object.is_empty()).map(Into::into);
    let card = record::decode_card(reader.section()?)?;
    Ok(Row { card, until, topic, subject, length, question, excludes, sense, says })
}

fn decode_saying(reader: &mut Reader<'_>) -> Result<Saying, String> {
    let [kind] = reader.array()?;
    let mut text =
        || Ok::<_, String>(std::str::from_utf8(reader.section()?).map_err(|e| e.to_string())?.to_owned());
    let parts = [text()?, text()?, text()?];
    Saying::from_parts(kind, parts).ok_or_else(|| format!("unknown kind of saying {kind}"))
}

fn section(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (head, rest) = self.0.split_at_checked(length).ok_or("cut short")?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "cut short".into())
    }

    /// Magic and versions; the error says what is not of this build.
    fn versions(&mut self) -> Result<(), String> {
        if self.take(8)? != MAGIC {
            return Err("no snapshot magic".into());
        }
        let (layout, analyzer, senses) = (self.u32()?, self.u32()?, self.u32()?);
        if (layout, analyzer, senses) != (LAYOUT, ANALYZER_VERSION, SENSE_VERSION) {
            return Err(format!(
                "layout {layout} with analyzer {analyzer}, rules {senses} is of another build"
            ));
        }
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Result<usize, String> {
        usize::try_from(self.u64()?).map_err(|_| "a length beyond memory".into())
    }

    fn section(&mut self) -> Result<&'a [u8], String> {
        let length = self.size()?;
        self.take(length)
    }
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
