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
use crate::store::keys::{LookupKey, TableId};
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
    /// A card, first layout, after the vector that its version brought.
    CardV1 = 2,
    /// A change, first layout.
    ChangeV1 = 3,
    /// A tenant as JSON.
    TenantJson = 4,
}

impl Schema {
    fn from_number(number: u16) -> Option<Self> {
        [Self::Bytes, Self::CardV1, Self::ChangeV1, Self::TenantJson]
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

/// Seals a card for `cards` or `versions`, with the vector that its version brought.
///
/// # Errors
/// [`Error::Internal`] when encoding fails, which only running out of memory can cause.
pub(crate) fn seal_card(table: TableId, key: &[u8], card: &Card, vector: Option<&[f32]>) -> Result<Vec<u8>> {
    let archive = v1::encode(card)?;
    let vector = vector.unwrap_or_default();
    let mut payload = Vec::with_capacity(4 + vector.len() * 4 + archive.len());
    payload.extend_from_slice(&(vector.len() as u32).to_le_bytes());
    vector.iter().for_each(|x| payload.extend_from_slice(&x.to_le_bytes()));
    payload.extend_from_slice(&archive);
    Ok(seal(table, key, Schema::CardV1, &payload))
}

/// Checks a value of `cards` or `versions` and gives its vector's bytes and the card's.
fn open_parts<'a>(table: TableId, key: &[u8], value: &'a [u8]) -> Result<(&'a [u8], &'a [u8])> {
    let bad = |detail: String| Error::corrupt(place(table, key), detail);
    let (schema, payload) = open(table, key, value)?;
    if schema != Schema::CardV1 {
        return Err(bad(format!("a card was expected, found {schema:?}")));
    }
    payload
        .split_first_chunk::<4>()
        .and_then(|(length, rest)| {
            rest.split_at_checked((u32::from_le_bytes(*length) as usize).checked_mul(4)?)
        })
        .ok_or_else(|| bad("shorter than its vector".into()))
}

/// Reads a card from a value of `cards` or `versions`.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact card of that key.
pub(crate) fn open_card(table: TableId, key: &[u8], value: &[u8]) -> Result<Card> {
    let (_, card) = open_parts(table, key, value)?;
    v1::decode(card).map_err(|detail| Error::corrupt(place(table, key), detail))
}

/// Reads a card and the vector that its version brought, if it brought one.
///
/// # Errors
/// As [`open_card`].
pub(crate) fn open_card_and_vector(
    table: TableId,
    key: &[u8],
    value: &[u8],
) -> Result<(Card, Option<Vec<f32>>)> {
    let (vector, card) = open_parts(table, key, value)?;
    let card = v1::decode(card).map_err(|detail| Error::corrupt(place(table, key), detail))?;
    let vector: Vec<f32> = vector.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
    Ok((card, (!vector.is_empty()).then_some(vector)))
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// The card has a new current version.
    Version,
    /// Counters or times of the current version changed; no new version.
    Touch,
    /// Nothing of the card changed, only what leads to it.
    Lookups,
}

impl ChangeKind {
    const ALL: [(u8, Self); 3] = [(1, Self::Version), (2, Self::Touch), (3, Self::Lookups)];
}

/// An exact look-up that a change pointed at a card, or took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LookupChange {
    pub(crate) key: LookupKey,
    pub(crate) card: Option<CardId>,
}

/// One entry of a tenant's change log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    /// The card's track: a partition skips the changes of others without reading cards.
    pub(crate) track: Track,
    pub(crate) card: CardId,
    pub(crate) version: u32,
    pub(crate) at: Timestamp,
    /// Look-ups that changed with it, in order.
    pub(crate) lookups: Vec<LookupChange>,
}

const CHANGE_LENGTH: usize = 1 + 1 + 16 + 4 + 8;

/// What a look-up in a change leads to.
const CLEARED: u8 = 0;
const TO_THE_CARD: u8 = 1;
const TO_ANOTHER: u8 = 2;

/// Seals a change.
pub(crate) fn seal_change(key: &[u8], change: &Change) -> Vec<u8> {
    let mut payload = Vec::with_capacity(CHANGE_LENGTH + change.lookups.len() * 34);
    payload.push(ChangeKind::ALL.iter().find(|(_, kind)| *kind == change.kind).map_or(0, |(n, _)| *n));
    payload.push(change.track.number());
    payload.extend_from_slice(&change.card.to_bytes());
    payload.extend_from_slice(&change.version.to_le_bytes());
    payload.extend_from_slice(&change.at.as_micros().to_le_bytes());
    for lookup in &change.lookups {
        match lookup.card {
            None => payload.push(CLEARED),
            Some(card) if card == change.card => payload.push(TO_THE_CARD),
            Some(_) => payload.push(TO_ANOTHER),
        }
        payload.extend_from_slice(&lookup.key);
        if let Some(card) = lookup.card.filter(|card| *card != change.card) {
            payload.extend_from_slice(&card.to_bytes());
        }
    }
    seal(TableId::Changes, key, Schema::ChangeV1, &payload)
}

/// Reads a change.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact change of that key.
pub(crate) fn open_change(key: &[u8], value: &[u8]) -> Result<Change> {
    let bad = |detail: &str| Error::corrupt(place(TableId::Changes, key), detail);
    let (schema, payload) = open(TableId::Changes, key, value)?;
    let (fixed, mut rest) = match (schema, payload.split_first_chunk::<CHANGE_LENGTH>()) {
        (Schema::ChangeV1, Some(parts)) => parts,
        _ => return Err(bad("not a change")),
    };
    fn part<const N: usize>(payload: &[u8], at: usize) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&payload[at..at + N]);
        out
    }
    let card = CardId::from_bytes(part(fixed, 2));
    let mut lookups = Vec::new();
    while let Some((what, after)) = rest.split_first() {
        let (key, after) = after.split_first_chunk::<17>().ok_or_else(|| bad("a look-up is cut short"))?;
        rest = after;
        let card = match *what {
            CLEARED => None,
            TO_THE_CARD => Some(card),
            TO_ANOTHER => {
                let (card, after) =
                    rest.split_first_chunk::<16>().ok_or_else(|| bad("a look-up is cut short"))?;
                rest = after;
                Some(CardId::from_bytes(*card))
            }
            other => return Err(bad(&format!("unknown kind of look-up {other}"))),
        };
        lookups.push(LookupChange { key: *key, card });
    }
    let kind = ChangeKind::ALL.into_iter().find(|(number, _)| *number == fixed[0]);
    Ok(Change {
        kind: kind.ok_or_else(|| bad(&format!("unknown kind of change {}", fixed[0])))?.1,
        track: Track::from_number(fixed[1]).ok_or_else(|| bad(&format!("unknown track {}", fixed[1])))?,
        card,
        version: u32::from_le_bytes(part(fixed, 18)),
        at: Timestamp::from_micros(i64::from_le_bytes(part(fixed, 22))),
        lookups,
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
    for schema in [Schema::Bytes, Schema::CardV1, Schema::ChangeV1, Schema::TenantJson] {
        for table in TableId::ALL {
            let sealed = seal(table, &key, schema, bytes);
            for value in [bytes, &sealed] {
                let _ = open(table, &key, value);
                let _ = open_bytes(table, &key, value);
                let _ = open_change(&key, value);
                if let Ok((card, vector)) = open_card_and_vector(table, &key, value) {
                    let again = seal_card(table, &key, &card, vector.as_deref())
                        .and_then(|value| open_card_and_vector(table, &key, &value));
                    // Not-a-number is not equal to itself; everything else is.
                    assert!(again.is_ok_and(|again| format!("{again:?}") == format!("{:?}", (card, vector))));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
