//! Synthetic vectors that are spread like embeddings: many clusters in a space of few
//! dimensions, turned into one of many, with a little noise. The same for the same seed.

use crate::files::Matrix;
use crate::synthetic::Random;

/// Dimensions in which the vectors really differ, as of sentence embeddings.
const LATENT: usize = 24;
/// Standard deviation within a cluster; centres have 1.
const WITHIN: f32 = 0.6;
/// Standard deviation of the noise in each of the final dimensions.
const NOISE: f32 = 0.15;

/// A source of vectors.
#[derive(Clone, Debug)]
pub struct Clustered {
    random: Random,
    dimension: usize,
    centers: Vec<[f32; LATENT]>,
    /// Row by row, one row per latent dimension.
    turn: Vec<f32>,
}

impl Clustered {
    /// Vectors of `dimension` numbers around so many centres.
    pub fn new(seed: u64, dimension: usize, clusters: usize) -> Self {
        let mut random = Random::new(seed);
        let centers = (0..clusters.max(1)).map(|_| std::array::from_fn(|_| normal(&mut random))).collect();
        let scale = (LATENT as f32).sqrt().recip();
        let turn = (0..LATENT * dimension).map(|_| normal(&mut random) * scale).collect();
        Self { random, dimension, centers, turn }
    }

    /// The next vector, appended.
    pub fn push(&mut self, out: &mut Vec<f32>) {
        let center = self.centers[self.random.below(self.centers.len())];
        let start = out.len();
        out.extend((0..self.dimension).map(|_| uniform(&mut self.random) * NOISE));
        for (center, row) in center.iter().zip(self.turn.chunks_exact(self.dimension)) {
            let value = center + WITHIN * normal(&mut self.random);
            out[start..].iter_mut().zip(row).for_each(|(out, turn)| *out += value * turn);
        }
    }

    /// The next `count` vectors.
    pub fn take(&mut self, count: usize) -> Matrix {
        let mut values = Vec::with_capacity(count * self.dimension);
        (0..count).for_each(|_| self.push(&mut values));
        Matrix { dimension: self.dimension, values }
    }
}

/// A number of a uniform distribution with variance 1.
fn uniform(random: &mut Random) -> f32 {
    ((random.unit() - 0.5) * 12f64.sqrt()) as f32
}

/// A number of nearly a normal distribution with variance 1.
fn normal(random: &mut Random) -> f32 {
    (0..4).map(|_| uniform(random)).sum::<f32>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_vectors() {
        let of = |seed| Clustered::new(seed, 40, 7).take(9);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(of(1).len(), 9);
    }
}
