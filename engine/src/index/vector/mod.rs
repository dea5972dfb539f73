//! The vector index: nearest neighbours by cosine, for partitions of any size.
//!
//! Every vector that comes in is found by the next search: it gets a slot with its sign
//! bits, which a scan reads at a few bytes per dimension. Once there are many, slots that
//! have settled are linked into a graph, in the background; a search walks it and scans
//! what came after. Which of the two serves a search is decided by its candidates alone.
//! Removed vectors leave dead slots behind until the next generation of the index is made
//! without them. There is one writer at a time; readers take no lock.
//!
//! ```
//! use memcards::index::vector::{SearchOptions, VectorIndex, VectorOptions};
//!
//! let index = VectorIndex::new(VectorOptions { dimension: 3, ..Default::default() });
//! index.insert(7, &[0.0, 2.0, 0.0])?;
//! index.insert(9, &[1.0, 1.0, 0.0])?;
//! let found = index.search(&[1.0, 0.9, 0.0], 1, &SearchOptions::default());
//! assert_eq!(found[0].id, 9);
//! # Ok::<(), memcards::Error>(())
//! ```

mod codes;
#[cfg(any(all(test, not(loom)), feature = "fuzzing"))]
pub(crate) mod damage;
mod generation;
mod graph;
mod handle;
pub mod kernels;
mod maintain;
mod memory;
#[cfg(all(test, loom))]
mod model;
mod plan;
mod quantize;
mod rotation;
mod search;
mod snapshot;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::index::rows::RowSet;

pub use handle::VectorIndex;
pub use search::Work;
pub use snapshot::{SnapshotTag, verify_snapshot};

/// Most numbers per vector.
pub const MAXIMUM_DIMENSION: usize = kernels::MAXIMUM_LENGTH;
/// The greatest identifier: four bytes of memory and file are kept for every one below the
/// greatest in use.
pub const MAXIMUM_ID: u32 = (1 << 28) - 1;

/// What an index is made with.
#[derive(Clone, Debug)]
pub struct VectorOptions {
    /// Numbers per vector, 1 to [`MAXIMUM_DIMENSION`]. An index of any other takes no vector.
    pub dimension: usize,
    /// Decides rotation and levels: the same seed and the same changes give the same index.
    pub seed: u64,
    /// Live vectors from which on a graph is kept.
    pub graph_from: usize,
    /// Who links and compacts.
    pub maintenance: Maintenance,
}

/// Who does the work that makes later searches fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maintenance {
    /// Insertions and removals, as soon as there is some: the index depends on nothing but
    /// its changes.
    #[default]
    Inline,
    /// The owner, by [`VectorIndex::maintain`] in the background: insertions take no longer
    /// than to append, and what waits to be linked is scanned. When thousands of slots wait,
    /// insertions link too, or wait for those who do: see [`VectorIndex::help`].
    Background,
}

impl Default for VectorOptions {
    fn default() -> Self {
        Self { dimension: 0, seed: 0, graph_from: 20_000, maintenance: Maintenance::Inline }
    }
}

/// How a search is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchOptions<'a> {
    /// Length of the candidate list of a walk: longer finds more and takes longer. At
    /// least the number of neighbours asked for; 96 when absent.
    pub ef: Option<usize>,
    /// The identifiers that may be found; all when absent.
    pub allowed: Option<&'a RowSet>,
}

/// A vector that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Its identifier.
    pub id: u32,
    /// Cosine with the query, −1 to 1.
    pub score: f32,
}

/// Memory of an index in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorBytes {
    /// The vectors themselves.
    pub vectors: usize,
    /// Their codes, of scan and walk.
    pub codes: usize,
    /// Links of the graph.
    pub links: usize,
    /// Identifiers and marks.
    pub other: usize,
}

/// A vector of unit length in the same direction; `None` for one without a direction.
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let mut unit = Vec::with_capacity(vector.len());
    unit_into(vector, &mut unit).then_some(unit)
}

/// Brings a vector to unit length; false when it has no direction.
fn unit_into(vector: &[f32], unit: &mut Vec<f32>) -> bool {
    unit.clear();
    unit.resize(vector.len(), 0.0);
    kernels::kernels().normalize(vector, unit)
}
