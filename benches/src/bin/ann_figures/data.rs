//! The vectors of a measurement, exact answers, and recall.

use memcards::index::vector::{SearchOptions, VectorIndex, VectorOptions, kernels};
use memcards_benches::Outcome;
use memcards_benches::clustered::Clustered;
use memcards_benches::files::{self, Matrix};
use memcards_benches::usage::percentile;

use crate::Common;

/// Neighbours that are asked for.
pub(crate) const WANTED: usize = 10;

/// Vectors for an index and for queries.
pub(crate) struct Data {
    pub(crate) base: Matrix,
    pub(crate) queries: Matrix,
}

impl Data {
    /// So many of both, of one distribution. A file gives as many as it has; its last rows
    /// are the queries.
    pub(crate) fn of(common: &Common, count: usize, queries: usize) -> Outcome<Self> {
        let mut all = match &common.base {
            Some(path) => files::read_vectors(path, 0, count + queries)?,
            None => {
                let clusters = (count / 100).clamp(10, 10_000);
                Clustered::new(common.seed, common.dimension, clusters).take(count + queries)
            }
        };
        if all.len() <= queries {
            return Err(format!("{} vectors are too few", all.len()).into());
        }
        let rest = all.values.split_off((all.len() - queries) * all.dimension);
        let queries = Matrix { dimension: all.dimension, values: rest };
        Ok(Self { base: all, queries })
    }

    /// A row of the base; rows start again behind the last.
    pub(crate) fn row(&self, row: usize) -> &[f32] {
        self.base.row(row % self.base.len()).unwrap_or(&[])
    }
}

/// An empty index for such vectors.
pub(crate) fn empty(common: &Common, dimension: usize) -> VectorIndex {
    VectorIndex::new(VectorOptions { dimension, seed: common.seed, ..Default::default() })
}

/// The identifiers nearest to each query among given vectors, all compared.
pub(crate) fn nearest<'a>(
    vectors: impl Iterator<Item = (u32, &'a [f32])> + Clone,
    queries: &Matrix,
) -> Vec<Vec<u32>> {
    let kernels = kernels::kernels();
    let lengths: Vec<f32> =
        vectors.clone().map(|(_, vector)| kernels.dot_f32(vector, vector).sqrt()).collect();
    let mut scored = Vec::new();
    let best = |query: &[f32]| {
        scored.clear();
        let dots = vectors.clone().zip(&lengths);
        scored.extend(dots.map(|((id, vector), length)| (kernels.dot_f32(query, vector) / length, id)));
        if scored.len() > WANTED {
            scored.select_nth_unstable_by(WANTED - 1, |a, b| b.0.total_cmp(&a.0));
        }
        scored.iter().take(WANTED).map(|(_, id)| *id).collect()
    };
    queries.rows().map(best).collect()
}

/// The share of the exact answers that a search finds.
pub(crate) fn recall(index: &VectorIndex, queries: &Matrix, exact: &[Vec<u32>], ef: Option<usize>) -> f64 {
    let options = SearchOptions { ef, ..Default::default() };
    let (mut found, mut all) = (0, 0);
    for (query, exact) in queries.rows().zip(exact) {
        let answer = index.search(query, WANTED, &options);
        found += answer.iter().filter(|neighbor| exact.contains(&neighbor.id)).count();
        all += exact.len();
    }
    found as f64 / all.max(1) as f64
}

/// Processor microseconds per search, the best of a few rounds over all queries.
pub(crate) fn search_micros(index: &VectorIndex, queries: &Matrix, ef: Option<usize>) -> f64 {
    let options = SearchOptions { ef, ..Default::default() };
    let mut out = Vec::new();
    let round = |_| {
        let watch = memcards_benches::usage::Stopwatch::start();
        for query in queries.rows() {
            index.search_into(query, WANTED, &options, &mut out);
        }
        watch.read().cpu * 1e6 / queries.len().max(1) as f64
    };
    (0..7).map(round).fold(f64::MAX, f64::min)
}

/// The value in the middle.
pub(crate) fn middle(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// All bytes of an index.
pub(crate) fn total_bytes(index: &VectorIndex) -> usize {
    let bytes = index.bytes();
    bytes.vectors + bytes.codes + bytes.links + bytes.other
}

/// Resident memory of the process: all of it, and what belongs to no file.
pub(crate) fn resident() -> (u64, u64) {
    let status = memcards_benches::usage::resident();
    let of = |name: &str| status[name].as_u64().unwrap_or(0);
    (of("VmRSS"), of("RssAnon"))
}
