//! Tombstones: what is kept of a card that was erased. Hashes and instants, no content.
//!
//! Layout, little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version |
//! | 16 | identifier of the card |
//! | 16 | digest of its normalised content |
//! | 8 | when it was erased |
//! | 1 | coverage |
//! | 2 | how many fingerprints |
//! | 13 each | fingerprints |

use crate::forget::erasure::fingerprint::{Coverage, Fingerprint, Fingerprints};

/// The version of the layout that is written.
pub(crate) const VERSION: u8 = 1;

const HEADER: usize = 44;

/// A record of one erased card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    /// Identifier of the card.
    pub(crate) card: [u8; 16],
    /// Digest of the card's normalised content, by which it is known when it comes again.
    pub(crate) digest: u128,
    /// When the card was erased, in the store's unit of time.
    pub(crate) erased_at: i64,
    /// What the fingerprints can prove.
    pub(crate) coverage: Coverage,
    fingerprints: Vec<Fingerprint>,
}

impl Tombstone {
    /// How many fingerprints a tombstone can have.
    pub(crate) const MAX_FINGERPRINTS: usize = u16::MAX as usize;

    /// The tombstone of a card. Fingerprints beyond [`Self::MAX_FINGERPRINTS`] are left out.
    pub(crate) fn new(card: [u8; 16], digest: u128, erased_at: i64, fingerprints: Fingerprints) -> Self {
        let Fingerprints { mut list, coverage } = fingerprints;
        list.truncate(Self::MAX_FINGERPRINTS);
        Self { card, digest, erased_at, coverage, fingerprints: list }
    }

    /// Hashes of windows of the card's texts.
    pub(crate) fn fingerprints(&self) -> &[Fingerprint] {
        &self.fingerprints
    }

    /// The tombstone as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.fingerprints.len() * Fingerprint::SIZE);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.card);
        bytes.extend_from_slice(&self.digest.to_le_bytes());
        bytes.extend_from_slice(&self.erased_at.to_le_bytes());
        bytes.push(self.coverage as u8);
        bytes.extend_from_slice(&(self.fingerprints.len() as u16).to_le_bytes());
        for fingerprint in &self.fingerprints {
            bytes.extend_from_slice(&fingerprint.to_bytes());
        }
        bytes
    }

    /// Reads what [`Tombstone::encode`] wrote, and nothing else. The error says what does not
    /// fit.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let version = *bytes.first().ok_or("an empty tombstone")?;
        if version != VERSION {
            return Err(format!("tombstone version {version} is not known"));
        }
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or("shorter than a tombstone")?;
        let coverage = Coverage::from_number(header[41]).ok_or("a coverage that is not known")?;
        let count = u16::from_le_bytes([header[42], header[43]]);
        let (encoded, left) = rest.as_chunks();
        if encoded.len() != usize::from(count) || !left.is_empty() {
            return Err("fingerprints of the wrong length".into());
        }
        let fingerprints: Option<Vec<_>> = encoded.iter().map(Fingerprint::from_bytes).collect();
        Ok(Self {
            card: array(header, 1),
            digest: u128::from_le_bytes(array(header, 17)),
            erased_at: i64::from_le_bytes(array(header, 33)),
            coverage,
            fingerprints: fingerprints.ok_or("a window of a length that no window has")?,
        })
    }
}

/// The bytes of a field.
fn array<const N: usize>(header: &[u8; HEADER], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&header[at..at + N]);
    field
}
