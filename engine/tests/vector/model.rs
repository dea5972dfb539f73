//! What an index should say: all vectors in a map, compared one by one.

use std::collections::BTreeMap;

use memcards::index::rows::RowSet;
use memcards::index::vector::{Neighbor, SearchOptions, VectorIndex, Work};

/// Scores may differ by this much from those in double precision.
pub(crate) const TOLERANCE: f64 = 2e-6;

/// A number in −1..1 that hangs on two others.
pub(crate) fn noise(seed: u64, number: u64) -> f32 {
    let mut x =
        seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number.wrapping_mul(0xD1B5_4A32_D192_ED03));
    x ^= x >> 31;
    x = x.wrapping_mul(0x7FB5_D329_728E_A185);
    x ^= x >> 27;
    x = x.wrapping_mul(0x81DA_DEF4_BC2D_D44D);
    x ^= x >> 33;
    (x >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// A vector near one of eight centres.
pub(crate) fn clustered(dimension: usize, seed: u64) -> Vec<f32> {
    let centre = 1_000_000 + seed % 8;
    (0..dimension as u64).map(|i| noise(centre, i) + 0.4 * noise(seed, i) + 1e-3).collect()
}

/// The vectors by identifier, of unit length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) vectors: BTreeMap<u32, Vec<f64>>,
}

pub(crate) fn unit(vector: &[f32]) -> Vec<f64> {
    let norm = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    vector.iter().map(|x| f64::from(*x) / norm).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

impl Model {
    pub(crate) fn insert(&mut self, id: u32, vector: &[f32]) -> bool {
        self.vectors.insert(id, unit(vector)).is_none()
    }

    pub(crate) fn cosine(&self, query: &[f32], id: u32) -> Option<f64> {
        self.vectors.get(&id).map(|vector| dot(&unit(query), vector))
    }

    /// Scores of all that may be found, best first.
    pub(crate) fn best(&self, query: &[f32], allowed: Option<&RowSet>) -> Vec<f64> {
        let query = unit(query);
        let found =
            self.vectors.iter().filter(|(id, _)| allowed.is_none_or(|allowed| allowed.contains(**id)));
        let mut scores: Vec<f64> = found.map(|(_, vector)| dot(&query, vector)).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores
    }
}

/// How an answer compares with the best one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recall {
    pub(crate) right: usize,
    pub(crate) wanted: usize,
}

impl Recall {
    pub(crate) fn add(&mut self, other: Self) {
        self.right += other.right;
        self.wanted += other.wanted;
    }

    pub(crate) fn share(self) -> f64 {
        if self.wanted == 0 { 1.0 } else { self.right as f64 / self.wanted as f64 }
    }
}

/// Searches, and checks everything that must hold for any answer. Gives what was done and
/// how many of the answer are as good as they could be.
pub(crate) fn search(
    index: &VectorIndex,
    model: &Model,
    query: &[f32],
    wanted: usize,
    options: &SearchOptions<'_>,
) -> (Work, Recall, Vec<Neighbor>) {
    let mut found = Vec::new();
    let work = index.search_into(query, wanted, options, &mut found);
    let best = model.best(query, options.allowed);
    assert_eq!(found.len(), wanted.min(best.len()), "as many as there are, {wanted} at most; {work:?}");
    for (at, neighbour) in found.iter().enumerate() {
        let cosine = model.cosine(query, neighbour.id).expect("only live identifiers are found");
        assert!((cosine - f64::from(neighbour.score)).abs() < TOLERANCE, "{cosine} {}", neighbour.score);
        assert!(options.allowed.is_none_or(|allowed| allowed.contains(neighbour.id)), "not allowed");
        assert!(found[..at].iter().all(|other| other.id != neighbour.id), "{} twice", neighbour.id);
        assert!(at == 0 || found[at - 1].score >= neighbour.score, "best first");
    }
    let right = match best.get(found.len().wrapping_sub(1)) {
        None => 0,
        Some(last) => found.iter().filter(|found| f64::from(found.score) >= last - TOLERANCE).count(),
    };
    (work, Recall { right, wanted: found.len() }, found)
}
