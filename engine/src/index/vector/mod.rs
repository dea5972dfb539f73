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

mod generation;
mod graph;
pub mod kernels;
mod memory;
mod plan;
mod quantize;
mod rotation;
mod search;

use std::cell::RefCell;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::index::rows::RowSet;
use crate::{Error, Result};

use generation::Generation;
use graph::{NewNode, batch_end};
use quantize::{bit_row_length, encode_bits};
use rotation::Rotation;
use search::{Scratch, Search};

pub use search::Work;

/// What an index is made with.
#[derive(Clone, Debug)]
pub struct VectorOptions {
    /// Numbers per vector, 1 to 65,536.
    pub dimension: usize,
    /// Decides rotation and levels: the same seed and the same changes give the same index.
    pub seed: u64,
    /// Live vectors from which on a graph is kept.
    pub graph_from: usize,
}

impl Default for VectorOptions {
    fn default() -> Self {
        Self { dimension: 0, seed: 0, graph_from: 20_000 }
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

/// Candidate list of a walk when the request does not say.
const EF: usize = 96;
/// Slots that may wait to be linked before an insertion links some itself.
const HEAD: usize = 2048;
/// Slots of a new index.
const FIRST_CAPACITY: usize = 64;

/// Vectors by identifier, searched by cosine.
#[derive(Debug)]
pub struct VectorIndex {
    options: VectorOptions,
    rotation: Rotation,
    generation: ArcSwap<Generation>,
    writer: Mutex<WriteScratch>,
}

#[derive(Debug, Default)]
struct WriteScratch {
    unit: Vec<f32>,
    rotated: Vec<f32>,
    bits: Vec<u8>,
}

/// A vector of unit length in the same direction; `None` for one without a direction.
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let mut unit = Vec::with_capacity(vector.len());
    unit_into(vector, &mut unit).then_some(unit)
}

/// Brings a vector to unit length; false when it has no direction.
fn unit_into(vector: &[f32], unit: &mut Vec<f32>) -> bool {
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    unit.clear();
    unit.extend(vector.iter().map(|x| (f64::from(*x) / norm) as f32));
    norm > 0.0 && norm.is_finite()
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl VectorIndex {
    /// An empty index.
    pub fn new(options: VectorOptions) -> Self {
        let generation = Generation::new(options.dimension, FIRST_CAPACITY, FIRST_CAPACITY);
        Self {
            rotation: Rotation::new(options.dimension, options.seed),
            generation: ArcSwap::from_pointee(generation),
            writer: Mutex::default(),
            options,
        }
    }

    /// Sets the vector of an identifier; true when it had none before. Identifiers are
    /// small numbers: memory grows with the greatest.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a vector of another dimension, of length zero, or with
    /// numbers that are not finite.
    pub fn insert(&self, id: u32, vector: &[f32]) -> Result<bool> {
        if vector.len() != self.options.dimension {
            let message = format!("has {} numbers, not {}", vector.len(), self.options.dimension);
            return Err(Error::invalid("vector", message));
        }
        let mut writer = self.writer.lock();
        let WriteScratch { unit, rotated, bits } = &mut *writer;
        if !unit_into(vector, unit) {
            return Err(Error::invalid("vector", "must be finite and not zero"));
        }
        rotated.clone_from(unit);
        self.rotation.apply(rotated);
        bits.clear();
        bits.resize(bit_row_length(self.options.dimension), 0);
        encode_bits(rotated, bits);
        let mut generation = self.generation.load_full();
        if generation.len() >= generation.capacity() || id as usize >= generation.identifiers() {
            generation = self.grow(&generation, id);
        }
        let new = generation.slot_of(id).is_none();
        generation.push(id, unit, bits);
        if self.is_due(&generation, HEAD) {
            self.link_some(&generation, 1, HEAD / 2);
        }
        Ok(new)
    }

    /// Removes the vector of an identifier; false when it has none.
    pub fn remove(&self, id: u32) -> bool {
        let _writer = self.writer.lock();
        self.generation.load().remove(id)
    }

    /// Live vectors.
    pub fn len(&self) -> usize {
        self.generation.load().live()
    }

    /// True without any vector.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `wanted` vectors most alike the query, best first; all that are allowed when there
    /// are fewer. A query of another dimension or without a direction finds nothing.
    pub fn search(&self, query: &[f32], wanted: usize, options: &SearchOptions<'_>) -> Vec<Neighbor> {
        let mut out = Vec::with_capacity(wanted);
        self.search_into(query, wanted, options, &mut out);
        out
    }

    /// As [`VectorIndex::search`], into memory of the caller's; tells the work done.
    pub fn search_into(
        &self,
        query: &[f32],
        wanted: usize,
        options: &SearchOptions<'_>,
        out: &mut Vec<Neighbor>,
    ) -> Work {
        let generation = self.generation.load();
        let search = Search {
            generation: &generation,
            rotation: &self.rotation,
            wanted,
            ef: options.ef.unwrap_or(EF).max(wanted),
            allowed: options.allowed,
        };
        SCRATCH.with_borrow_mut(|scratch| {
            search.run(query, scratch, out);
            scratch.work
        })
    }

    /// The exact cosine of a query with the vector of every given identifier that has one, in
    /// the order of the identifiers. A query of another dimension finds nothing.
    pub fn scores(&self, query: &[f32], ids: impl IntoIterator<Item = u32>, mut found: impl FnMut(u32, f32)) {
        const BLOCK: usize = 64;
        let generation = self.generation.load();
        let Some(unit) = unit(query).filter(|unit| unit.len() == self.options.dimension) else { return };
        let kernels = kernels::kernels();
        let mut slots = [0; BLOCK];
        let mut names = [0; BLOCK];
        let mut out = [0.0; BLOCK];
        let mut count = 0;
        // The rows are taken after the slots: what a slot names is complete then.
        let mut flush = |names: &[u32], slots: &[u32], out: &mut [f32]| {
            kernels.gather_f32(&unit, generation.vector_rows(), slots, out);
            for (id, score) in names.iter().zip(out.iter()) {
                found(*id, score.clamp(-1.0, 1.0));
            }
        };
        for id in ids {
            let Some(slot) = generation.slot_of(id) else { continue };
            (names[count], slots[count]) = (id, slot);
            count += 1;
            if count == BLOCK {
                flush(&names, &slots, &mut out);
                count = 0;
            }
        }
        flush(&names[..count], &slots[..count], &mut out[..count]);
    }

    /// True when the identifier has a vector.
    pub fn contains(&self, id: u32) -> bool {
        self.generation.load().slot_of(id).is_some()
    }

    /// Calls with the vector of an identifier, which has unit length.
    pub fn with_vector<T>(&self, id: u32, call: impl FnOnce(&[f32]) -> T) -> Option<T> {
        let generation = self.generation.load();
        generation.vector(generation.slot_of(id)?).map(call)
    }

    /// Brings everything that waits to its end: slots are linked into the graph.
    pub fn settle(&self, threads: usize) {
        let _writer = self.writer.lock();
        let generation = self.generation.load_full();
        if self.is_due(&generation, 0) {
            self.link_some(&generation, threads, usize::MAX);
        }
    }

    /// Memory in use.
    pub fn bytes(&self) -> VectorBytes {
        let generation = self.generation.load();
        let (vectors, bits, other) = generation.bytes();
        let (codes, links) = generation.graph().map_or((0, 0), |graph| graph.bytes());
        VectorBytes { vectors, codes: bits + codes, links, other }
    }

    /// True when more than `head` slots wait to be linked.
    fn is_due(&self, generation: &Generation, head: usize) -> bool {
        let settled = generation.graph().map_or(0, |graph| graph.settled());
        generation.live() >= self.options.graph_from && generation.len() - settled > head
    }

    /// Links up to `most` waiting slots, whole batches only.
    fn link_some(&self, generation: &Generation, threads: usize, most: usize) {
        let graph = generation.graph_or_new(self.options.seed);
        let until = generation.len().min(graph.settled().saturating_add(most));
        let dimension = self.options.dimension;
        let mut rotated = Vec::new();
        while graph.settled() < until {
            let from = graph.settled();
            let to = batch_end(from).min(generation.len());
            rotated.clear();
            for slot in from..to {
                rotated.extend_from_slice(generation.vector(slot as u32).unwrap_or(&[]));
            }
            rotated.chunks_exact_mut(dimension).for_each(|vector| self.rotation.apply(vector));
            let nodes: Vec<NewNode<'_>> =
                rotated.chunks_exact(dimension).map(|rotated| NewNode { rotated }).collect();
            if !graph.add(kernels::kernels(), &nodes, threads) {
                break;
            }
        }
    }

    fn grow(&self, old: &Generation, id: u32) -> Arc<Generation> {
        let capacity = if old.len() >= old.capacity() { old.capacity() * 2 } else { old.capacity() };
        let identifiers = old.identifiers().max((id as usize + 1).next_power_of_two());
        let new = Generation::new(self.options.dimension, capacity, identifiers);
        new.copy_from(old);
        let new = Arc::new(new);
        self.generation.store(new.clone());
        new
    }
}
