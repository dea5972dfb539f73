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
use crate::store::keys::{self, LookupKey, TableId, TenantId};
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
    /// Changes that follow each other, first layout.
    ChangesV1 = 3,
    /// A tenant as JSON.
    TenantJson = 4,
    /// What stands in the place of a cold card, first layout.
    ColdV1 = 5,
    /// Items of a plan or a run that follow each other, first layout.
    ItemsV1 = 6,
}

impl Schema {
    fn from_number(number: u16) -> Option<Self> {
        [Self::Bytes, Self::CardV1, Self::ChangesV1, Self::TenantJson, Self::ColdV1, Self::ItemsV1]
            .into_iter()
            .find(|schema| *schema as u16 == number)
    }
}

fn checksum(table: TableId, key: &[u8], schema: u16, payload: &[u8]) -> u64 {
    let place = xxh3_64_with_seed(key, u64::from(table as u8) << 16 | u64::from(schema));
    xxh3_64_with_seed(payload, place)
}

fn header(table: TableId, key: &[u8], schema: Schema, payload: &[u8]) -> [u8; HEADER] {
    let schema = schema as u16;
    let mut header = [0; HEADER];
    header[..2].copy_from_slice(&MAGIC.to_le_bytes());
    header[2..4].copy_from_slice(&schema.to_le_bytes());
    header[4..8].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    header[8..].copy_from_slice(&checksum(table, key, schema, payload).to_le_bytes());
    header
}

/// Wraps a payload for storing under a key of a table.
pub(crate) fn seal(table: TableId, key: &[u8], schema: Schema, payload: &[u8]) -> Vec<u8> {
    [&header(table, key, schema, payload), payload].concat()
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
    v1::encode(card, card.id.to_bytes().to_vec())
}

/// Reads what [`encode_card`] wrote; the error says what does not fit.
pub(crate) fn decode_card(payload: &[u8]) -> Result<Card, String> {
    let (id, card) = payload.split_first_chunk().ok_or("shorter than an identifier")?;
    v1::decode(CardId::from_bytes(*id), card)
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

/// The payload of a record, unchecked: enough to choose which records to open.
pub(crate) fn payload(value: &[u8]) -> &[u8] {
    value.get(HEADER..).unwrap_or_default()
}

/// Generation and numbers of a vector; see [`OwnVector`].
pub(crate) type VectorParts<'a> = (u16, &'a [f32]);

/// The vector that a version brought.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnVector {
    /// Counts the models of the store: vectors of different generations come from different
    /// models and are never compared.
    pub(crate) generation: u16,
    pub(crate) numbers: Vec<f32>,
}

impl OwnVector {
    /// What a record is written from.
    pub(crate) fn parts(&self) -> VectorParts<'_> {
        (self.generation, &self.numbers)
    }

    /// The numbers, if they come from the model of a generation.
    pub(crate) fn of(self, generation: u16) -> Option<Vec<f32>> {
        (self.generation == generation).then_some(self.numbers)
    }
}

/// A card's record before it is known under which key it will stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EncodedCard(Vec<u8>);

impl EncodedCard {
    /// Encodes a card with the vector that its version brought. The identifier is left out:
    /// it stands in the key.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a vector of more numbers than a record can count;
    /// [`Error::Internal`] when encoding fails, which only running out of memory can cause.
    pub(crate) fn new(card: &Card, vector: Option<VectorParts<'_>>) -> Result<Self> {
        let (generation, vector) = vector.filter(|(_, numbers)| !numbers.is_empty()).unwrap_or_default();
        let length = u16::try_from(vector.len()).map_err(|_| Error::TooLarge {
            field: "vector".into(),
            actual: vector.len() as u64,
            limit: u64::from(u16::MAX),
            unit: "dimensions",
        })?;
        let mut out = Vec::with_capacity(HEADER + 4 + vector.len() * 4 + card.content.len() + 512);
        out.resize(HEADER, 0);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&generation.to_le_bytes());
        vector.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
        v1::encode(card, out).map(Self)
    }

    /// The record for a key of `cards` or `versions`.
    pub(crate) fn seal(self, table: TableId, key: &[u8]) -> Vec<u8> {
        let mut record = self.0;
        let header = header(table, key, Schema::CardV1, &record[HEADER..]);
        record[..HEADER].copy_from_slice(&header);
        record
    }
}

/// Seals a card for `cards` or `versions`, with the vector that its version brought.
///
/// # Errors
/// As [`EncodedCard::new`].
pub(crate) fn seal_card(
    table: TableId,
    key: &[u8],
    card: &Card,
    vector: Option<VectorParts<'_>>,
) -> Result<Vec<u8>> {
    Ok(EncodedCard::new(card, vector)?.seal(table, key))
}

/// The card whose record stands under a key.
fn card_id(table: TableId, key: &[u8]) -> Result<CardId> {
    keys::card_of_key(key).ok_or_else(|| Error::corrupt(place(table, key), "not the key of a card"))
}

/// Checks a value of `cards` or `versions` and gives its vector's generation and bytes, and the
/// card's bytes.
fn open_parts<'a>(table: TableId, key: &[u8], value: &'a [u8]) -> Result<(u16, &'a [u8], &'a [u8])> {
    let bad = |detail: String| Error::corrupt(place(table, key), detail);
    let (schema, payload) = open(table, key, value)?;
    if schema != Schema::CardV1 {
        return Err(bad(format!("a card was expected, found {schema:?}")));
    }
    let parts = || {
        let (length, rest) = payload.split_first_chunk()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let (vector, card) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)) * 4)?;
        Some((u16::from_le_bytes(*generation), vector, card))
    };
    parts().ok_or_else(|| bad("shorter than its vector".into()))
}

/// Reads a card from a value of `cards` or `versions`.
///
/// # Errors
/// [`Error::Corrupt`] when the value is not an intact card of that key.
pub(crate) fn open_card(table: TableId, key: &[u8], value: &[u8]) -> Result<Card> {
    let (.., card) = open_parts(table, key, value)?;
    v1::decode(card_id(table, key)?, card).map_err(|detail| Error::corrupt(place(table, key), detail))
}

/// Reads a card and the vector that its version brought, if it brought one.
///
/// # Errors
/// As [`open_card`].
pub(crate) fn open_card_and_vector(
    table: TableId,
    key: &[u8],
    value: &[u8],
) -> Result<(Card, Option<OwnVector>)> {
    let (generation, vector, card) = open_parts(table, key, value)?;
    let card =
        v1::decode(card_id(table, key)?, card).map_err(|detail| Error::corrupt(place(table, key), detail))?;
    let numbers: Vec<f32> = vector.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
    Ok((card, (!numbers.is_empty()).then_some(OwnVector { generation, numbers })))
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
    /// A version's text was embedded anew.
    Vector,
    /// The card is gone from the store with all of its versions.
    Purge,
    /// The card's records moved to the cold tier: neither its current version nor its history
    /// stands in the store file any more.
    Cool,
    /// The card came back from the cold tier: one change for each of its versions, in order.
    Thaw,
}

impl ChangeKind {
    const ALL: [(u8, Self); 7] = [
        (1, Self::Version),
        (2, Self::Touch),
        (3, Self::Lookups),
        (4, Self::Vector),
        (5, Self::Purge),
        (6, Self::Cool),
        (7, Self::Thaw),
    ];

    /// True when the store file holds no version of the card from this change on, until another
    /// one brings it back.
    pub(crate) fn takes_away(self) -> bool {
        matches!(self, Self::Purge | Self::Cool)
    }

    /// True when something was told of the card, or done to it: not when its records only moved,
    /// or its vector was made anew.
    pub(crate) fn says(self) -> bool {
        matches!(self, Self::Version | Self::Touch | Self::Lookups)
    }
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

/// What a look-up in a change leads to.
const CLEARED: u8 = 0;
const TO_THE_CARD: u8 = 1;
const TO_ANOTHER: u8 = 2;

/// Bytes of changes in one record, about: a record and its key fit on a page of the store.
const CHANGES_BYTES: usize = 3000;

/// Appends a change to the payload of a record.
fn encode_change(change: &Change, out: &mut Vec<u8>) -> Result<()> {
    out.push(ChangeKind::ALL.iter().find(|(_, kind)| *kind == change.kind).map_or(0, |(n, _)| *n));
    out.push(change.track.number());
    out.extend_from_slice(&change.card.to_bytes());
    out.extend_from_slice(&change.version.to_le_bytes());
    out.extend_from_slice(&change.at.as_micros().to_le_bytes());
    let count = u16::try_from(change.lookups.len())
        .map_err(|_| Error::Internal("more look-ups in a change than it can count".into()))?;
    out.extend_from_slice(&count.to_le_bytes());
    for lookup in &change.lookups {
        match lookup.card {
            None => out.push(CLEARED),
            Some(card) if card == change.card => out.push(TO_THE_CARD),
            Some(_) => out.push(TO_ANOTHER),
        }
        out.extend_from_slice(&lookup.key);
        if let Some(card) = lookup.card.filter(|card| *card != change.card) {
            out.extend_from_slice(&card.to_bytes());
        }
    }
    Ok(())
}

/// Bytes of a change before its look-ups.
const CHANGE_HEAD: usize = 30;

/// What identifies a change at its place in the log. Its look-ups do not count: those that lead
/// nowhere by now are taken out of it one day.
fn change_checksum(tenant: TenantId, sequence: u64, change: &[u8]) -> u64 {
    let head = &change[..CHANGE_HEAD.min(change.len())];
    checksum(TableId::Changes, &keys::change(tenant, sequence), Schema::ChangesV1 as u16, head)
}

/// Seals changes that follow each other from a sequence on: gives the records with their
/// keys, and what identifies each change.
#[allow(clippy::type_complexity, reason = "records and checksums, each used once")]
pub(crate) fn seal_changes(
    tenant: TenantId,
    first: u64,
    changes: &[Change],
) -> Result<(Vec<([u8; 13], Vec<u8>)>, Vec<u64>)> {
    let (mut records, mut checksums) = (Vec::new(), Vec::with_capacity(changes.len()));
    let (mut key, mut payload) = (keys::change(tenant, first), Vec::new());
    for (change, sequence) in changes.iter().zip(first..) {
        if payload.len() >= CHANGES_BYTES {
            records.push((key, seal(TableId::Changes, &key, Schema::ChangesV1, &payload)));
            payload.clear();
            key = keys::change(tenant, sequence);
        }
        let start = payload.len();
        encode_change(change, &mut payload)?;
        checksums.push(change_checksum(tenant, sequence, &payload[start..]));
    }
    if !payload.is_empty() {
        records.push((key, seal(TableId::Changes, &key, Schema::ChangesV1, &payload)));
    }
    Ok((records, checksums))
}

/// A change with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedChange {
    pub(crate) sequence: u64,
    /// Identifies the change.
    pub(crate) checksum: u64,
    pub(crate) change: Change,
}

/// Reads the changes of a record.
///
/// # Errors
/// [`Error::Corrupt`] when the value does not hold intact changes of that key.
pub(crate) fn open_changes(key: &[u8], value: &[u8]) -> Result<Vec<LoggedChange>> {
    let bad = |detail: &str| Error::corrupt(place(TableId::Changes, key), detail);
    let (schema, mut rest) = open(TableId::Changes, key, value)?;
    let (Some(tenant), Some(first)) = (TenantId::of_key(key), keys::sequence_of_key(key)) else {
        return Err(bad("not a key of changes"));
    };
    if schema != Schema::ChangesV1 || rest.is_empty() {
        return Err(bad("no changes"));
    }
    let mut changes = Vec::new();
    let mut sequence = first;
    while !rest.is_empty() {
        let (change, length) = decode_change(rest).map_err(|detail| bad(&detail))?;
        let (bytes, after) = rest.split_at(length);
        changes.push(LoggedChange { sequence, checksum: change_checksum(tenant, sequence, bytes), change });
        rest = after;
        sequence = sequence.checked_add(1).ok_or_else(|| bad("more changes than numbers"))?;
    }
    Ok(changes)
}

/// Reads the first of some changes, and tells how many bytes it has.
fn decode_change(payload: &[u8]) -> Result<(Change, usize), String> {
    fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Result<&'a [u8; N], String> {
        let (part, after) = rest.split_first_chunk().ok_or("a change is cut short")?;
        *rest = after;
        Ok(part)
    }
    let mut rest = payload;
    let [kind, track] = *take::<2>(&mut rest)?;
    let card = CardId::from_bytes(*take(&mut rest)?);
    let version = u32::from_le_bytes(*take(&mut rest)?);
    let at = Timestamp::from_micros(i64::from_le_bytes(*take(&mut rest)?));
    let mut lookups = Vec::new();
    for _ in 0..u16::from_le_bytes(*take(&mut rest)?) {
        let [what] = *take::<1>(&mut rest)?;
        let key = *take::<17>(&mut rest)?;
        let card = match what {
            CLEARED => None,
            TO_THE_CARD => Some(card),
            TO_ANOTHER => Some(CardId::from_bytes(*take(&mut rest)?)),
            other => return Err(format!("unknown kind of look-up {other}")),
        };
        lookups.push(LookupChange { key, card });
    }
    let known = ChangeKind::ALL.into_iter().find(|(number, _)| *number == kind);
    let change = Change {
        kind: known.ok_or_else(|| format!("unknown kind of change {kind}"))?.1,
        track: Track::from_number(track).ok_or_else(|| format!("unknown track {track}"))?,
        card,
        version,
        at,
        lookups,
    };
    Ok((change, payload.len() - rest.len()))
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

/// Reads bytes as every kind of record, as they are and with a header that fits; what is read
/// is written and read again as the same.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzz(bytes: &[u8]) {
    let all = [1, 2, 3, 4, 5, 6].into_iter().filter_map(Schema::from_number);
    for schema in all {
        for table in TableId::ALL {
            // Long enough to be the key of a version, whose parts the others' keys have too.
            let mut key = [7; 25];
            key[4] = table as u8;
            let sealed = seal(table, &key, schema, bytes);
            for value in [bytes, &sealed] {
                let opened = open(table, &key, value);
                assert_eq!(open_bytes(table, &key, value).is_ok(), matches!(opened, Ok((Schema::Bytes, _))));
                if let Ok((card, vector)) = open_card_and_vector(table, &key, value) {
                    let again = seal_card(table, &key, &card, vector.as_ref().map(OwnVector::parts))
                        .and_then(|value| open_card_and_vector(table, &key, &value));
                    // Not-a-number is not equal to itself; everything else is.
                    assert!(again.is_ok_and(|again| format!("{again:?}") == format!("{:?}", (card, vector))));
                }
                if let Ok(logged) = open_changes(&key, value) {
                    let first = logged.first().map_or(0, |change| change.sequence);
                    let changes: Vec<Change> = logged.iter().map(|logged| logged.change.clone()).collect();
                    let tenant = TenantId(u32::from_be_bytes([7; 4]));
                    let (records, _) = seal_changes(tenant, first, &changes).unwrap_or_default();
                    // What identifies a change may differ: some can be written in two ways.
                    let read = records.iter().flat_map(|(key, value)| open_changes(key, value)).flatten();
                    let read = read.map(|logged| (logged.sequence, logged.change));
                    assert!(read.eq(logged.into_iter().map(|logged| (logged.sequence, logged.change))));
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
