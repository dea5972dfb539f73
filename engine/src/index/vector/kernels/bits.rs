//! The query side of one-bit codes.

use super::MAXIMUM_LENGTH;

/// A query of unsigned 4-bit values, to be summed over the set bits of a row.
///
/// A row is `words()` little-endian words of 64 bits; dimension `i` is bit `i % 64` of
/// word `i / 64`. The values are kept in the two forms that the kernels use: as four planes
/// of bits (the sum is that of `2^p * popcount(row & plane p)`), and as one byte each (a
/// word of a row is then a mask of 64 lanes).
#[derive(Clone, Debug, Default)]
pub struct BitQuery {
    dimension: usize,
    /// `planes[word][plane]`.
    planes: Vec<[u64; 4]>,
    values: Vec<[u8; 64]>,
}

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
        self.values.clear();
        self.planes.clear();
        for part in values.chunks(64) {
            let mut bytes = [0; 64];
            bytes[..part.len()].copy_from_slice(part);
            self.planes.push(planes_of(&bytes));
            self.values.push(bytes);
        }
    }

    /// How many dimensions the query has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many 64-bit words of a row the query covers.
    pub fn words(&self) -> usize {
        self.planes.len()
    }

    /// The planes of each word.
    pub(super) fn planes(&self) -> &[[u64; 4]] {
        &self.planes
    }

    /// The values of the dimensions of each word, zero beyond the last dimension.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) fn values(&self) -> &[[u8; 64]] {
        &self.values
    }
}

fn planes_of(values: &[u8; 64]) -> [u64; 4] {
    let mut planes = [0; 4];
    for (position, eight) in values.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        for (plane, bits) in planes.iter_mut().enumerate() {
            // The lowest bit of byte i moves to bit 56 + i; the other products land below
            // bit 56 or above bit 63, and no two meet.
            let gathered =
                ((eight >> plane) & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *bits |= gathered << (position * 8);
        }
    }
    planes
}
