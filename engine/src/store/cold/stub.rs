//! What the store file keeps of a cold card.

use crate::card::{Card, CardId, State, Track};
use crate::cold::{put_varint, take_varint};
use crate::store::keys::{TableId, TenantId, card};
use crate::store::record::{self, Schema};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Where a cold card's records are, and what is to be known of it without them: all that age and
/// counting need.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stub {
    pub(crate) segment: u64,
    pub(crate) position: u32,
    /// Of the current version; so many records there are.
    pub(crate) version: u32,
    pub(crate) state: State,
    pub(crate) track: Track,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) updated_at: Timestamp,
    pub(crate) recorded_at: Timestamp,
    pub(crate) reinforced_at: Option<Timestamp>,
    pub(crate) confidence: f32,
    pub(crate) importance: f32,
    /// Rules leave it alone.
    pub(crate) exempt: bool,
    pub(crate) has_vector: bool,
    pub(crate) category: String,
}

/// Flags.
const EXEMPT: u8 = 1;
const HAS_VECTOR: u8 = 2;

impl Stub {
    /// Of a card that stands in a segment.
    pub(super) fn of(card: &Card, segment: u64, position: u32) -> Self {
        Self {
            segment,
            position,
            version: card.version,
            state: card.state,
            track: card.track,
            expires_at: card.expires_at,
            updated_at: card.updated_at,
            recorded_at: card.recorded_at,
            reinforced_at: card.reinforced_at,
            confidence: card.confidence,
            importance: card.importance,
            exempt: card.is_exempt(),
            has_vector: card.vector_version > 0,
            category: card.category.clone(),
        }
    }

    /// The card as far as it is known without its records: without words, names and links.
    pub(in crate::store) fn outline(&self, id: CardId) -> Card {
        Card {
            state: self.state,
            category: self.category.clone(),
            expires_at: self.expires_at,
            updated_at: self.updated_at,
            recorded_at: self.recorded_at,
            reinforced_at: self.reinforced_at,
            confidence: self.confidence,
            importance: self.importance,
            pinned: self.exempt,
            vector_version: u32::from(self.has_vector),
            ..Card::placeholder(id, self.track, self.version)
        }
    }

    /// The record for a key of `cards`. Most numbers are small, and times lie close to each other.
    pub(super) fn seal(&self, tenant: TenantId, id: CardId) -> Vec<u8> {
        let mut payload = Vec::with_capacity(64 + self.category.len());
        for number in [self.segment, self.position.into(), self.version.into()] {
            put_varint(&mut payload, number);
        }
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(self.exempt, EXEMPT) | flag(self.has_vector, HAS_VECTOR);
        payload.extend_from_slice(&[self.state.number(), self.track.number(), flags]);
        let recorded = self.recorded_at.as_micros();
        payload.extend_from_slice(&recorded.to_le_bytes());
        for time in [Some(self.updated_at), self.expires_at, self.reinforced_at] {
            put_varint(
                &mut payload,
                time.map_or(0, |time| 1 + folded(time.as_micros().wrapping_sub(recorded))),
            );
        }
        payload.extend_from_slice(&self.confidence.to_le_bytes());
        payload.extend_from_slice(&self.importance.to_le_bytes());
        payload.extend_from_slice(self.category.as_bytes());
        record::seal(TableId::Cards, &card(tenant, id), Schema::ColdV1, &payload)
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
            let (part, after) = rest.split_first_chunk()?;
            *rest = after;
            Some(part)
        }
        let mut rest = payload;
        let segment = take_varint(&mut rest)?;
        let position = u32::try_from(take_varint(&mut rest)?).ok()?;
        let version = u32::try_from(take_varint(&mut rest)?).ok()?;
        let [state, track, flags] = *take(&mut rest)?;
        let recorded = i64::from_le_bytes(*take(&mut rest)?);
        let mut time = || {
            let distance = take_varint(&mut rest)?.checked_sub(1);
            Some(distance.map(|folded| Timestamp::from_micros(recorded.wrapping_add(unfolded(folded)))))
        };
        let (updated_at, expires_at, reinforced_at) = (time()??, time()?, time()?);
        let confidence = f32::from_le_bytes(*take(&mut rest)?);
        let importance = f32::from_le_bytes(*take(&mut rest)?);
        if !confidence.is_finite() || !importance.is_finite() {
            return None;
        }
        Some(Self {
            segment,
            position,
            version,
            state: State::from_number(state)?,
            track: Track::from_number(track)?,
            expires_at,
            updated_at,
            recorded_at: Timestamp::from_micros(recorded),
            reinforced_at,
            confidence,
            importance,
            exempt: flags & EXEMPT != 0,
            has_vector: flags & HAS_VECTOR != 0,
            category: std::str::from_utf8(rest).ok()?.to_owned(),
        })
    }

    /// Reads a value of `cards`; `None` for that of a card which is not cold.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the value is not an intact record of that key.
    pub(crate) fn open(key: &[u8], value: &[u8]) -> Result<Option<Self>> {
        if !is_stub(value) {
            return Ok(None);
        }
        let (_, payload) = record::open(TableId::Cards, key, value)?;
        Self::decode(payload)
            .map(Some)
            .ok_or_else(|| Error::corrupt(record::place(TableId::Cards, key), "not the stub of a cold card"))
    }
}

/// A distance as a number that is small where it is short, in either direction.
const fn folded(distance: i64) -> u64 {
    (distance << 1 ^ distance >> 63) as u64
}

const fn unfolded(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

/// True for what says of itself that it is a stub: told before its checksum is looked at.
pub(crate) fn is_stub(value: &[u8]) -> bool {
    value.get(2..4) == Some(&(Schema::ColdV1 as u16).to_le_bytes())
}

/// Reads bytes as a stub, as they are and sealed; what is read is written as it was.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzz(bytes: &[u8]) {
    let (tenant, id) = (TenantId(7), CardId::from_bytes([9; 16]));
    let key = card(tenant, id);
    let sealed = record::seal(TableId::Cards, &key, Schema::ColdV1, bytes);
    for value in [bytes, &sealed] {
        if let Ok(Some(stub)) = Stub::open(&key, value) {
            assert_eq!(Stub::open(&key, &stub.seal(tenant, id)).ok(), Some(Some(stub)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_comes_back() {
        let (tenant, id) = (TenantId(7), CardId::from_bytes([9; 16]));
        for expires_at in [None, Some(Timestamp::from_micros(-5))] {
            let stub = Stub {
                segment: 3,
                position: 99_999,
                version: 4,
                state: State::Archived,
                track: Track::Episodic,
                expires_at,
                updated_at: Timestamp::from_micros(1_704_067_200_000_000),
                recorded_at: Timestamp::from_micros(-7),
                reinforced_at: expires_at,
                confidence: 0.8,
                importance: 0.25,
                exempt: expires_at.is_some(),
                has_vector: expires_at.is_none(),
                category: "喜好".into(),
            };
            let (key, mut value) = (card(tenant, id), stub.seal(tenant, id));
            assert_eq!(Stub::open(&key, &value).unwrap(), Some(stub));
            assert!(Stub::open(&card(TenantId(8), id), &value).is_err());
            value[20] ^= 1;
            assert!(Stub::open(&key, &value).is_err());
        }
    }
}
