//! The index as its owner holds it: who may write when, and what a reader gets.
//!
//! Locks, in this order: `links` by whoever changes links, or writes them to a file;
//! `maintenance` by whoever links nodes, compacts or makes room; `writer` by whoever
//! inserts, removes or replaces the generation. Readers take none: they load the present
//! generation and keep it.
//!
//! An insertion that finds no room waits for maintenance: for some hundred slots that are
//! being linked, or for a compaction, never for a file that is being written. Then it copies
//! the index. In the background large ones are made larger before that (`Due::Grow` in
//! `maintain.rs`); an insertion meets it only when it is faster than that thread.

use std::cell::RefCell;

use crate::index::vector::generation::{Generation, capacity_for};
use crate::index::vector::quantize::{bit_row_length, encode_bits};
use crate::index::vector::rotation::Rotation;
use crate::index::vector::search::{Scratch, Search};
use crate::index::vector::snapshot::Unverified;
use crate::index::vector::sync::{self, Arc, ArcSwap, Mutex};
use crate::index::vector::{
    MAXIMUM_DIMENSION, MAXIMUM_ID, Maintenance, Neighbor, SearchOptions, VectorBytes, VectorOptions, Work,
    kernels, unit, unit_into,
};
use crate::{Error, Result};

/// Candidate list of a walk when the request does not say.
const EF: usize = 96;

/// Vectors by identifier, searched by cosine.
#[derive(Debug)]
pub struct VectorIndex {
    pub(super) options: VectorOptions,
    pub(super) rotation: Rotation,
    pub(super) generation: ArcSwap<Generation>,
    pub(super) links: Mutex<()>,
    pub(super) maintenance: Mutex<()>,
    pub(super) writer: Mutex<WriteScratch>,
    /// The file it came from, until that was compared with its checksums.
    pub(super) unverified: Mutex<Option<Unverified>>,
}

/// Room for one insertion, reused.
#[derive(Debug, Default)]
pub(super) struct WriteScratch {
    unit: Vec<f32>,
    rotated: Vec<f32>,
    bits: Vec<u8>,
    levels: Vec<u8>,
    code: Vec<u8>,
}

sync::thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl VectorIndex {
    /// An empty index.
    pub fn new(options: VectorOptions) -> Self {
        let capacity = capacity_for(0);
        let generation = match (1..=MAXIMUM_DIMENSION).contains(&options.dimension) {
            true => Generation::new(options.dimension, capacity, capacity),
            // Stays empty: every insertion is refused.
            false => Generation::new(0, 0, 0),
        };
        Self::with_generation(options, generation)
    }

    pub(super) fn with_generation(options: VectorOptions, generation: Generation) -> Self {
        Self {
            rotation: Rotation::new(generation.dimension, options.seed),
            generation: ArcSwap::from_pointee(generation),
            links: Mutex::default(),
            maintenance: Mutex::default(),
            writer: Mutex::default(),
            unverified: Mutex::default(),
            options,
        }
    }

    /// Numbers per vector.
    pub fn dimension(&self) -> usize {
        self.options.dimension
    }

    /// Sets the vector of an identifier; true when it had none before. Identifiers are
    /// small numbers: memory grows with the greatest.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a vector of another dimension, of length zero, or with
    /// numbers that are not finite, for an identifier above [`MAXIMUM_ID`], and for any
    /// vector when the index has no dimension that vectors can have.
    pub fn insert(&self, id: u32, vector: &[f32]) -> Result<bool> {
        let new = self.append(id, vector)?;
        self.help();
        Ok(new)
    }

    /// Refuses to go on with a dimension that no vector can have.
    pub(super) fn check_dimension(&self) -> Result<()> {
        let dimension = self.options.dimension;
        if (1..=MAXIMUM_DIMENSION).contains(&dimension) {
            return Ok(());
        }
        Err(Error::invalid("dimension", format!("is {dimension}, 1 to {MAXIMUM_DIMENSION} are allowed")))
    }

    /// As [`VectorIndex::insert`], without any maintenance: for an owner that holds a lock of
    /// its own meanwhile and calls [`VectorIndex::help`] when it does no longer.
    ///
    /// # Errors
    /// As [`VectorIndex::insert`].
    pub fn append(&self, id: u32, vector: &[f32]) -> Result<bool> {
        self.check_dimension()?;
        if id > MAXIMUM_ID {
            return Err(Error::invalid("id", format!("is {id}, at most {MAXIMUM_ID} is allowed")));
        }
        if vector.len() != self.options.dimension {
            let message = format!("has {} numbers, not {}", vector.len(), self.options.dimension);
            return Err(Error::invalid("vector", message));
        }
        loop {
            let mut writer = self.writer.lock();
            let generation = self.generation.load();
            if !generation.has_room(id) {
                drop(writer);
                drop(generation);
                self.make_room(id);
                continue;
            }
            let WriteScratch { unit, rotated, bits, levels, code } = &mut *writer;
            if !unit_into(vector, unit) {
                return Err(Error::invalid("vector", "must be finite and not zero"));
            }
            rotated.clone_from(unit);
            self.rotation.apply(rotated);
            bits.clear();
            bits.resize(bit_row_length(self.options.dimension), 0);
            encode_bits(rotated, bits);
            let new = generation.slot_of(id).is_none();
            if generation.push(id, unit, bits, |codes| codes.push(rotated, levels, code)) {
                return Ok(new);
            }
        }
    }

    /// Removes the vector of an identifier; false when it has none.
    pub fn remove(&self, id: u32) -> bool {
        let removed = {
            let _writer = self.writer.lock();
            self.generation.load().remove(id)
        };
        if self.options.maintenance == Maintenance::Inline {
            self.help();
        }
        removed
    }

    /// Removes the vectors of all identifiers from this one on.
    pub fn truncate(&self, from: u32) {
        let _writer = self.writer.lock();
        let generation = self.generation.load();
        for id in from..u32::try_from(generation.identifiers()).unwrap_or(u32::MAX) {
            generation.remove(id);
        }
    }

    /// Makes the generation larger, in capacity or in identifiers.
    fn make_room(&self, id: u32) {
        let _maintenance = self.maintenance.lock();
        let _writer = self.writer.lock();
        let old = self.generation.load_full();
        if old.has_room(id) {
            return;
        }
        let capacity = if old.len() >= old.capacity() { capacity_for(old.len()) } else { old.capacity() };
        let identifiers = match (id as usize) < old.identifiers() {
            true => old.identifiers(),
            false => capacity_for(id as usize),
        };
        let new = Generation::new(self.options.dimension, capacity, identifiers);
        new.copy_from(&old);
        self.generation.store(Arc::new(new));
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
        let mut out = Vec::with_capacity(wanted.min(self.len()));
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
        SCRATCH.with(|scratch| {
            let scratch = &mut *scratch.borrow_mut();
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
        let slot_of = |id: u32| generation.slot_of(id).filter(|slot| generation.vector(*slot).is_some());
        let mut named = ids.into_iter().filter_map(|id| Some((id, slot_of(id)?)));
        let (mut names, mut slots) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        let mut scores = [0.0; BLOCK];
        loop {
            names.clear();
            slots.clear();
            for (name, slot) in named.by_ref().take(BLOCK) {
                names.push(name);
                slots.push(slot);
            }
            if names.is_empty() {
                break;
            }
            // The rows are taken after the slots: what a slot names is complete then.
            kernels::kernels().gather_f32(
                &unit,
                generation.vector_rows(),
                &slots,
                &mut scores[..slots.len()],
            );
            for (id, score) in names.iter().zip(&scores) {
                found(*id, score.clamp(-1.0, 1.0));
            }
        }
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

    /// Memory in use.
    pub fn bytes(&self) -> VectorBytes {
        let generation = self.generation.load();
        let (vectors, codes, other) = generation.bytes();
        let links = generation.graph().map_or(0, |graph| graph.bytes());
        VectorBytes { vectors, codes, links, other }
    }
}
