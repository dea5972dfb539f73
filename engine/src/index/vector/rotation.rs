//! A random rotation that makes every direction look alike.
//!
//! Codes of few bits keep a vector well only when no coordinate stands out. An orthogonal
//! transform drawn from a seed sees to that and leaves every dot product as it was. It
//! knows nothing of codes or rows.
//!
//! The transform is a product of sign flips and Walsh–Hadamard transforms of the largest
//! power of two that fits, applied in turn to the head and to the tail of the vector, as
//! in the fast Johnson–Lindenstrauss transform (Ailon and Chazelle, 2009): O(d log d) and
//! no padding.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::index::vector::kernels::kernels;

/// Turns: two mix head and tail of any length, a third evens them out.
const ROUNDS: usize = 3;

/// An orthogonal transform of vectors of one dimension, the same for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Rotation {
    dimension: usize,
    /// Length of the transformed part: the largest power of two up to the dimension.
    block: usize,
    /// For each round, a sign per coordinate; where a transform follows, times what keeps
    /// lengths.
    factors: Vec<f32>,
}

impl Rotation {
    /// The rotation of vectors of `dimension` numbers that belongs to `seed`.
    pub(crate) fn new(dimension: usize, seed: u64) -> Self {
        let block = if dimension == 0 { 0 } else { 1 << dimension.ilog2() };
        let scale = (block as f32).sqrt().recip();
        let mut factors: Vec<f32> = (0..ROUNDS * dimension)
            .map(|i| match xxh3_64_with_seed(&(i as u64).to_le_bytes(), seed) & 1 {
                0 => 1.0,
                _ => -1.0,
            })
            .collect();
        for (round, factors) in factors.chunks_exact_mut(dimension.max(1)).enumerate() {
            let from = transformed_from(round, dimension, block);
            factors[from..from + block].iter_mut().for_each(|factor| *factor *= scale);
        }
        Self { dimension, block, factors }
    }

    /// Rotates a vector in place. The length must be the dimension; another one is left as
    /// it is.
    pub(crate) fn apply(&self, vector: &mut [f32]) {
        if vector.len() != self.dimension || self.dimension == 0 {
            return;
        }
        let kernels = kernels();
        for (round, factors) in self.factors.chunks_exact(self.dimension).enumerate() {
            kernels.multiply(vector, factors);
            let from = transformed_from(round, self.dimension, self.block);
            kernels.hadamard(&mut vector[from..from + self.block]);
        }
    }
}

/// Where the part that a round transforms begins: the head and the tail in turn.
fn transformed_from(round: usize, dimension: usize, block: usize) -> usize {
    if round.is_multiple_of(2) { 0 } else { dimension - block }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    }

    proptest! {
        /// Dot products stay, whatever the dimension.
        #[test]
        fn dot_products_survive(
            pairs in prop::collection::vec((-1f32..1.0, -1f32..1.0), 1..300),
            seed: u64,
        ) {
            let (mut a, mut b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let before = dot(&a, &b);
            let rotation = Rotation::new(a.len(), seed);
            rotation.apply(&mut a);
            rotation.apply(&mut b);
            prop_assert!((dot(&a, &b) - before).abs() < 1e-3);
        }
    }

    #[test]
    fn a_single_coordinate_is_spread_over_all() {
        for dimension in [64, 100, 384, 768] {
            let mut vector = vec![0.0; dimension];
            vector[dimension / 3] = 1.0;
            Rotation::new(dimension, 7).apply(&mut vector);
            let largest = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
            assert!(largest < 6.0 / (dimension as f32).sqrt(), "{dimension}: {largest}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_rotation() {
        let turned = |seed| {
            let mut vector = vec![1.0; 100];
            Rotation::new(100, seed).apply(&mut vector);
            vector
        };
        assert_eq!(turned(1), turned(1));
        assert_ne!(turned(1), turned(2));
    }
}
