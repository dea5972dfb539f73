//! Card identifiers: 128 bits, ordered by time, the same for the same log.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::time::Timestamp;
use crate::{Error, Result};

/// Identifier of a card: 54 bits of time (microseconds, recorded), 24 bits of the tenant's
/// change number, 50 bits of a keyed hash. Ascending identifiers are ascending times.
///
/// It depends on the store's seed, the tenant's name, the tenant's own change number and
/// the clock, and on nothing that another tenant does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CardId(u128);

impl CardId {
    /// Makes the identifier of the card written as change `sequence` of a tenant.
    pub(crate) fn generate(seed: u64, tenant: &str, at: Timestamp, sequence: u64) -> Self {
        let time = (at.as_micros().max(0) as u128) & ((1 << 54) - 1);
        let hash = xxh3_64_with_seed(tenant.as_bytes(), seed ^ sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self((time << 74) | (u128::from(sequence & 0xff_ffff) << 50) | u128::from(hash & ((1 << 50) - 1)))
    }

    /// The identifier as big-endian bytes; their order is the identifiers' order.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The identifier with these big-endian bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for CardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CardId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.len() == 32
            && text.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
            && let Ok(value) = u128::from_str_radix(text, 16)
        {
            return Ok(Self(value));
        }
        Err(Error::invalid("id", "a card id is 32 lower-case hexadecimal digits"))
    }
}

impl Serialize for CardId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CardId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|e: Error| serde::de::Error::custom(e.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_writes_have_greater_identifiers() {
        let at = |micros| Timestamp::from_micros(micros);
        let ids = [
            CardId::generate(7, "a", at(1_000), 5),
            CardId::generate(7, "a", at(1_000), 6),
            CardId::generate(7, "a", at(1_001), 7),
            CardId::generate(7, "a", at(1_700_000_000_000_000), 8),
        ];
        assert!(ids.is_sorted());
        assert_eq!(ids[0], CardId::generate(7, "a", at(1_000), 5));
        assert_ne!(ids[0], CardId::generate(7, "b", at(1_000), 5));
        assert_ne!(ids[0], CardId::generate(8, "a", at(1_000), 5));
    }

    #[test]
    fn text_form_round_trips_and_rejects_the_rest() {
        let id = CardId::generate(1, "x", Timestamp::from_micros(3), 1);
        assert_eq!(id.to_string().parse::<CardId>().unwrap(), id);
        for text in
            ["", "0", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33), "+0000000000000000000000000000001"]
        {
            assert!(text.parse::<CardId>().is_err(), "{text}");
        }
    }
}
