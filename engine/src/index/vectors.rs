//! The vectors of one partition, and the exact scan over them.
//!
//! Vectors are brought to unit length here, so that a dot product is the cosine. Rows
//! without a vector are zero and marked absent.

use simsimd::SpatialSimilarity;

use crate::index::rows::RowSet;

/// Unit-length vectors in row order, one flat array.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vectors {
    dimension: usize,
    data: Vec<f32>,
    present: RowSet,
}

/// A vector of unit length in the direction of `vector`; `None` for a zero vector.
pub(crate) fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    (norm > 0.0 && norm.is_finite()).then(|| vector.iter().map(|&x| (f64::from(x) / norm) as f32).collect())
}

/// Cosine of two vectors of unit length and the same dimension; 0 when these differ.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    <f32 as SpatialSimilarity>::dot(a, b).map_or(0.0, |dot| dot as f32).clamp(-1.0, 1.0)
}

impl Vectors {
    /// Sets the vector of the next row; rows must come in ascending order. A vector of
    /// another dimension than the first counts as absent.
    pub(crate) fn push(&mut self, row: u32, vector: Option<&[f32]>) {
        let vector = vector.and_then(unit);
        if let Some(vector) = &vector
            && self.dimension == 0
        {
            self.dimension = vector.len();
        }
        let vector = vector.filter(|vector| vector.len() == self.dimension);
        self.data.resize(row as usize * self.dimension, 0.0);
        match vector {
            Some(vector) => {
                self.data.extend_from_slice(&vector);
                self.present.insert(row);
            }
            None => self.data.resize((row as usize + 1) * self.dimension, 0.0),
        }
    }

    /// The unit vector of a row.
    pub(crate) fn get(&self, row: u32) -> Option<&[f32]> {
        if !self.present.contains(row) {
            return None;
        }
        self.data.get(row as usize * self.dimension..(row as usize + 1) * self.dimension)
    }

    /// Cosine of every allowed row that has a vector with a unit-length query.
    pub(crate) fn scan(&self, query: &[f32], allowed: &RowSet, mut found: impl FnMut(u32, f32)) {
        if query.len() != self.dimension {
            return;
        }
        for row in allowed.iter() {
            if let Some(vector) = self.get(row) {
                found(row, cosine(query, vector));
            }
        }
    }

    /// Memory used in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.data.capacity() * 4
    }

    /// Dimension, numbers and present rows, for a snapshot.
    pub(crate) fn parts(&self) -> (usize, &[f32], &RowSet) {
        (self.dimension, &self.data, &self.present)
    }

    /// Vectors from a snapshot's parts; `None` when they do not fit together.
    pub(crate) fn from_parts(dimension: usize, data: Vec<f32>, present: RowSet, rows: usize) -> Option<Self> {
        let fits = match dimension {
            0 => data.is_empty() && present.is_empty(),
            _ => data.len() <= rows * dimension && data.len().is_multiple_of(dimension),
        };
        let inside = present.iter().last().is_none_or(|last| (last as usize) < data.len() / dimension.max(1));
        (fits && inside).then_some(Self { dimension, data, present })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The kernel agrees with plain arithmetic in double precision.
        #[test]
        fn cosine_agrees_with_a_double_precision_reference(
            pairs in prop::collection::vec((-1e3f32..1e3, -1e3f32..1e3), 1..512),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            if let (Some(ua), Some(ub)) = (unit(&a), unit(&b)) {
                let dot: f64 = ua.iter().zip(&ub).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
                prop_assert!((f64::from(cosine(&ua, &ub)) - dot).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn huge_and_tiny_vectors_keep_their_direction() {
        for scale in [1e38f32, 1.0, 1e-15] {
            let vector = unit(&[3.0 * scale, 4.0 * scale.min(1e37)]).expect("not zero");
            assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6, "{scale}");
        }
        assert!(unit(&[0.0, 0.0]).is_none());
    }

    #[test]
    fn rows_without_a_vector_are_not_found() {
        let mut vectors = Vectors::default();
        vectors.push(0, None);
        vectors.push(1, Some(&[1.0, 0.0]));
        vectors.push(2, None);
        vectors.push(3, Some(&[0.0, 2.0]));
        vectors.push(4, Some(&[1.0, 2.0, 3.0]));
        let mut found = Vec::new();
        vectors.scan(&[0.0, 1.0], &RowSet::full(5), |row, cosine| found.push((row, cosine)));
        assert_eq!(found, [(1, 0.0), (3, 1.0)]);
    }
}
