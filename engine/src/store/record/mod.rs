//! Records: bytes with a header, a checksum bound to their place, and a schema version.
//!
//! A value is `magic u16 · schema u16 · length u32 · xxh3 u64 · payload`, little-endian.
//! The checksum covers table, key, schema and payload, so that a value that is damaged, or
//! stands under another key, is told on every read: redb checks neither, and rkyv's
//! validation accepts most damaged bytes. One frozen struct per schema version; old ones
//! are upgraded on read.

mod v1;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::card::{Card, CardId, Track};
use crate::store::keys::TableId;
use crate::time::Timestamp;
use crate::{Error, Result};

const MAGIC: u16 = 0x434d;
const HEADER: usize = 16;

/// What a payload is. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Schema {
    /// Raw bytes: settings, names, numbers.
    Bytes = 1,
    /// A card, first layout.
    CardV1 = 2,
    /// A vector of little-endian f32.
    VectorF32 = 3,
    /// A change, first layout.
    ChangeV1 = 4,
    /// A tenant as JSON.
    TenantJson = 5,
}

impl Schema {
    fn from_number(number: u16) -> Option<Self> {
        [Self::Bytes, Self::CardV1, Self::VectorF32, Self::ChangeV1, Self::TenantJson]
            .into_iter()
            .find(|schema| *schema as u16 == number)
    }
}

fn checksum(table: TableId, key: &[u8], schema: u16, payload: &[u8]) -> u64 {
    let place = xxh3_64_with_seed(key, u64::from(table as u8) << 16 | u64::from(schema));
    xxh3_64_with_seed(payload, place)
}

/// Wraps a payload for storing under a key of a table.
pub(crate) fn seal(table: TableId, key: &[u8], schema: Schema, payload: &[u8]) -> Vec<u8> {
    let schema = schema as u16;
    let mut out = Vec::with_capacity(HEADER + payload.len());
    out.extend_from_slice(&MAGIC.to_le_bytes());
    out.extend_from_slice(&schema.to_le_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&checksum(table, key, schema, payload).to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// Names table and key for an error.
pub(crate) fn place(table: TableId, key: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = format!("table {} key ", table.name());
    for byte in key {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Encodes a card for a snapshot file, which has a checksum of its own.
pub(crate) fn encode_card(card: &Card) -> Result<Vec<u8>> {
    v1::encode(card)
}

/// Reads what [`encode_card`] wrote; the error says what does not fit.
pub(crate) fn decode_card(payload: &[u8]) -> Result<Card, String> {
    v1::decode(payload)
}

/// Checks a stored value and gives its schema and payload.
///
/// # Errors
/// [`Error::Corrupt`] naming table and key when header, length or checksum do not fit.
pub(crate) fn open<'a>(table: TableId, key: &[u8], value: &'a [u8]) -> Result<(Schema, &'a [u8])> {
    let bad = |detail: &str| Error::corrupt(place(table, key), detail);
    let (header, payload) =
        value.split_at_checked(HEADER).ok_or_else(|| bad("shorter than a record header"))?;
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    if u16_at(0) != MAGIC {
        return Err(bad("no record magic"));
    }
    let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    if length != payload.len() {
        return Err(bad(&format!("{} payload bytes where the header says {length}", payload.len())));
    }
    let mut stored = [0; 8];
    stored.copy_from_slice(&header[8..16]);
    let number = u16_at(2);
    if u64::from_le_bytes(stored) != checksum(table, key, number, payload) {
        return Err(bad("checksum mismatch"));
    }
    let schema = Schema::from_number(number)
        .ok_or_else(|| bad(&format!("schema {number} is newer than this version of memcards knows")))?;
    Ok((schema, payload))
}

/// The checksum stored in a sealed value; identifies its content.
pub(crate) fn stored_checksum(value: &[u8]) -> u64 {
    value.get(8..16).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Seals a card for `cards` or `versions`.
///
/// # Errors
/// [`Error::Internal`] when encoding fails, which only running out of memory can cause.
pub(crate) fn seal_card(table: TableId, key: &[u8], card: &Card) -> Result<Vec<u8>> {
    Ok(seal(table, key, Schema::CardV1, &v1::encode(card)?))
}

/// Reads a card from a value of `cards` or `versions`.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact card of that key.
pub(crate) fn open_card(table: TableId, key: &[u8], value: &[u8]) -> Result<Card> {
    let (schema, payload) = open(table, key, value)?;
    match schema {
        Schema::CardV1 => v1::decode(payload).map_err(|detail| Error::corrupt(place(table, key), detail)),
        other => Err(Error::corrupt(place(table, key), format!("a card was expected, found {other:?}"))),
    }
}

/// Seals a vector.
pub(crate) fn seal_vector(key: &[u8], vector: &[f32]) -> Vec<u8> {
    let payload: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
    seal(TableId::Vectors, key, Schema::VectorF32, &payload)
}

/// Reads a vector.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact vector of that key.
pub(crate) fn open_vector(key: &[u8], value: &[u8]) -> Result<Vec<f32>> {
    let (schema, payload) = open(TableId::Vectors, key, value)?;
    if schema != Schema::VectorF32 || !payload.len().is_multiple_of(4) {
        return Err(Error::corrupt(place(TableId::Vectors, key), "not a vector"));
    }
    Ok(payload.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect())
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// The card has a new current version.
    Version,
    /// Counters or times of the current version changed; no new version.
    Touch,
}

/// One entry of a tenant's change log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    /// The card's track: a partition skips the changes of others without reading cards.
    pub(crate) track: Track,
    pub(crate) card: CardId,
    pub(crate) version: u32,
    pub(crate) at: Timestamp,
}

const CHANGE_LENGTH: usize = 1 + 1 + 16 + 4 + 8;

/// Seals a change.
pub(crate) fn seal_change(key: &[u8], change: &Change) -> Vec<u8> {
    let mut payload = Vec::with_capacity(CHANGE_LENGTH);
    payload.push(match change.kind {
        ChangeKind::Version => 1,
        ChangeKind::Touch => 2,
    });
    payload.push(change.track.number());
    payload.extend_from_slice(&change.card.to_bytes());
    payload.extend_from_slice(&change.version.to_le_bytes());
    payload.extend_from_slice(&change.at.as_micros().to_le_bytes());
    seal(TableId::Changes, key, Schema::ChangeV1, &payload)
}

/// Reads a change.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact change of that key.
pub(crate) fn open_change(key: &[u8], value: &[u8]) -> Result<Change> {
    let bad = |detail: &str| Error::corrupt(place(TableId::Changes, key), detail);
    let (schema, payload) = open(TableId::Changes, key, value)?;
    let payload: &[u8; CHANGE_LENGTH] = match (schema, payload.try_into()) {
        (Schema::ChangeV1, Ok(payload)) => payload,
        _ => return Err(bad("not a change")),
    };
    let kind = match payload[0] {
        1 => ChangeKind::Version,
        2 => ChangeKind::Touch,
        other => return Err(bad(&format!("unknown kind of change {other}"))),
    };
    fn part<const N: usize>(payload: &[u8; CHANGE_LENGTH], at: usize) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&payload[at..at + N]);
        out
    }
    Ok(Change {
        kind,
        track: Track::from_number(payload[1]).ok_or_else(|| bad(&format!("unknown track {}", payload[1])))?,
        card: CardId::from_bytes(part(payload, 2)),
        version: u32::from_le_bytes(part(payload, 18)),
        at: Timestamp::from_micros(i64::from_le_bytes(part(payload, 22))),
    })
}

/// Seals raw bytes.
pub(crate) fn seal_bytes(table: TableId, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    seal(table, key, Schema::Bytes, bytes)
}

/// Reads raw bytes.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact record of that key.
pub(crate) fn open_bytes<'a>(table: TableId, key: &[u8], value: &'a [u8]) -> Result<&'a [u8]> {
    match open(table, key, value)? {
        (Schema::Bytes, payload) => Ok(payload),
        (other, _) => {
            Err(Error::corrupt(place(table, key), format!("raw bytes were expected, found {other:?}")))
        }
    }
}

/// Reads bytes as every kind of record, as they are and with a header that fits.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzz(bytes: &[u8]) {
    let key = [7; 24];
    for schema in [Schema::Bytes, Schema::CardV1, Schema::VectorF32, Schema::ChangeV1, Schema::TenantJson] {
        for table in TableId::ALL {
            let sealed = seal(table, &key, schema, bytes);
            for value in [bytes, &sealed] {
                let _ = open(table, &key, value);
                let _ = open_bytes(table, &key, value);
                let _ = open_change(&key, value);
                let _ = open_vector(&key, value);
                if let Ok(card) = open_card(table, &key, value) {
                    let again =
                        seal_card(table, &key, &card).and_then(|value| open_card(table, &key, &value));
                    // Not-a-number is not equal to itself; everything else is.
                    assert!(again.is_ok_and(|again| format!("{again:?}") == format!("{card:?}")));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
