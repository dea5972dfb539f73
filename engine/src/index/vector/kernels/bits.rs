//! The query side of one-bit codes.

use super::MAXIMUM_LENGTH;

/// A query of unsigned 4-bit values, to be summed over the set bits of a row.
///
/// A row is `words()` little-endian words of 64 bits; dimension `i` is bit `i % 64` of
/// word `i / 64`. The values are kept as planes of bits: the sum is that of
/// `2^p * popcount(row & plane p)`.
#[derive(Clone, Debug, Default)]
pub struct BitQuery {
    dimension: usize,
    planes: Vec<Planes>,
}

/// The planes of two words: `planes[plane][word]`, zero beyond the last dimension.
pub(super) type Planes = [[u64; 2]; 4];

impl BitQuery {
    /// A query of these values, one per dimension.
    ///
    /// # Panics
    /// When a value exceeds 15, or when there are more than [`MAXIMUM_LENGTH`] of them.
    pub fn new(values: &[u8]) -> Self {
        let mut query = Self::default();
        query.set(values);
        query
    }

    /// Replaces the values and reuses the memory.
    ///
    /// # Panics
    /// As [`BitQuery::new`].
    pub fn set(&mut self, values: &[u8]) {
        assert!(values.len() <= MAXIMUM_LENGTH, "query of {} values", values.len());
        assert!(values.iter().fold(0, |all, value| all | value) <= 15, "a query value exceeds 15");
        self.dimension = values.len();
        self.planes.clear();
        for pair in values.chunks(128) {
            let mut bytes = [0; 128];
            bytes[..pair.len()].copy_from_slice(pair);
            self.planes.push(planes_of(&bytes));
        }
    }

    /// How many dimensions the query has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many 64-bit words of a row the query covers.
    pub fn words(&self) -> usize {
        self.dimension.div_ceil(64)
    }

    /// The planes of every two words.
    pub(super) fn planes(&self) -> &[Planes] {
        &self.planes
    }
}

fn planes_of(values: &[u8; 128]) -> Planes {
    let mut planes = Planes::default();
    for (position, eight) in values.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        for (plane, words) in planes.iter_mut().enumerate() {
            // The lowest bit of byte i moves to bit 56 + i; the other products land below
            // bit 56 or above bit 63, and no two meet.
            let gathered =
                ((eight >> plane) & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            words[position / 8] |= gathered << (position % 8 * 8);
        }
    }
    planes
}
