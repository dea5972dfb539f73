//! What the store file keeps of a cold card.

use crate::card::{Card, CardId, State, Track};
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

/// Bytes before the category.
const LENGTH: usize = 59;
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

    /// The record for a key of `cards`.
    pub(super) fn seal(&self, tenant: TenantId, id: CardId) -> Vec<u8> {
        let mut payload = Vec::with_capacity(LENGTH + self.category.len());
        payload.extend_from_slice(&self.segment.to_le_bytes());
        payload.extend_from_slice(&self.position.to_le_bytes());
        payload.extend_from_slice(&self.version.to_le_bytes());
        payload.push(self.state.number());
        payload.push(self.track.number());
        let expires = self.expires_at.map_or(i64::MAX, Timestamp::as_micros);
        payload.extend_from_slice(&expires.to_le_bytes());
        payload.extend_from_slice(&self.updated_at.as_micros().to_le_bytes());
        payload.extend_from_slice(&self.recorded_at.as_micros().to_le_bytes());
        let reinforced = self.reinforced_at.map_or(i64::MAX, Timestamp::as_micros);
        payload.extend_from_slice(&reinforced.to_le_bytes());
        payload.extend_from_slice(&self.confidence.to_le_bytes());
        payload.extend_from_slice(&self.importance.to_le_bytes());
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        payload.push(flag(self.exempt, EXEMPT) | flag(self.has_vector, HAS_VECTOR));
        payload.extend_from_slice(self.category.as_bytes());
        record::seal(TableId::Cards, &card(tenant, id), Schema::ColdV1, &payload)
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let (bytes, category) = payload.split_first_chunk::<LENGTH>()?;
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let instant = |at: usize| Timestamp::from_micros(u64_at(at) as i64);
        // No instant is as late as the number that stands for none.
        let some = |at: usize| (u64_at(at) as i64 != i64::MAX).then(|| instant(at));
        Some(Self {
            segment: u64_at(0),
            position: u32_at(8),
            version: u32_at(12),
            state: State::from_number(bytes[16])?,
            track: Track::from_number(bytes[17])?,
            expires_at: some(18),
            updated_at: instant(26),
            recorded_at: instant(34),
            reinforced_at: some(42),
            confidence: f32::from_bits(u32_at(50)),
            importance: f32::from_bits(u32_at(54)),
            exempt: bytes[58] & EXEMPT != 0,
            has_vector: bytes[58] & HAS_VECTOR != 0,
            category: std::str::from_utf8(category).ok()?.to_owned(),
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
