//! One generation of an index: slots that are written once, and what says which count.
//!
//! A slot holds one vector under one identifier for as long as the generation lives. A
//! removed or replaced vector leaves a dead slot behind; the next generation is without
//! it. Readers hold a generation and need no lock: rows are published when complete, the
//! rest are atomic cells. This room stores; it neither searches nor decides.

use crate::index::vector::codes::Codes;
use crate::index::vector::graph::Graph;
use crate::index::vector::kernels;
use crate::index::vector::memory::{AppendOnly, Arena, prefetch};
use crate::index::vector::quantize::{Scalar, bit_row_length};
use crate::index::vector::sync::{AtomicU32, AtomicU64, AtomicUsize, OnceLock, Ordering};

/// Slots of the smallest generation.
const FIRST_CAPACITY: usize = if cfg!(all(test, loom)) { 4 } else { 64 };
/// Searches of generations up to here ask for all small arrays before they begin.
const SMALL: usize = 256;
/// From here on arrays are mapped, and room that is not used yet costs addresses only.
pub(crate) const LARGE: usize = 1 << 14;

/// The room that an index of so many slots gets next.
pub(crate) fn capacity_for(slots: usize) -> usize {
    match slots + 1 {
        few if few <= LARGE => few.next_power_of_two().max(FIRST_CAPACITY),
        many => (many * 2).next_power_of_two().max(LARGE << 6),
    }
}

/// All slots of an index.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) dimension: usize,
    pub(super) capacity: usize,
    /// Vectors of unit length.
    pub(super) vectors: AppendOnly<f32>,
    /// Sign bits of the rotated vectors.
    pub(super) bits: AppendOnly<u8>,
    pub(super) codes: Codes,
    pub(super) ids: AppendOnly<u32>,
    /// One bit per slot: set while it is the present vector of its identifier.
    pub(super) live: Arena<AtomicU64>,
    /// Per identifier its present slot plus one, 0 for none.
    pub(super) slots: Arena<AtomicU32>,
    pub(super) live_count: AtomicUsize,
    /// Slots whose appending is over: up to here each identifier has one live slot at most.
    pub(super) complete: AtomicUsize,
    pub(super) graph: OnceLock<Graph>,
}

impl Generation {
    /// An empty generation for `capacity` slots and identifiers below `identifiers`.
    pub(crate) fn new(dimension: usize, capacity: usize, identifiers: usize) -> Self {
        Self {
            dimension,
            capacity,
            vectors: AppendOnly::new(dimension, capacity),
            bits: AppendOnly::new(bit_row_length(dimension), capacity),
            codes: Codes::new(Scalar::of(dimension), capacity),
            ids: AppendOnly::new(1, capacity),
            live: Arena::new(capacity.div_ceil(64)),
            slots: Arena::new(identifiers),
            live_count: AtomicUsize::new(0),
            complete: AtomicUsize::new(0),
            graph: OnceLock::new(),
        }
    }

    /// Slots that are written, dead ones included.
    pub(crate) fn len(&self) -> usize {
        // Published last of all columns.
        self.ids.len()
    }

    /// Slots whose appending is over: all but the one that is at work now. None of them
    /// becomes live any more; what stops being so because it is replaced is replaced by a
    /// slot behind these, which is in [`Generation::len`] by then.
    pub(crate) fn complete(&self) -> usize {
        self.complete.load(Ordering::Acquire)
    }

    /// Slots that count.
    pub(crate) fn live(&self) -> usize {
        self.live_count.load(Ordering::Acquire)
    }

    /// How many slots there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Identifiers below it have a place.
    pub(crate) fn identifiers(&self) -> usize {
        self.slots.len()
    }

    /// True when a vector of this identifier can be appended.
    pub(crate) fn has_room(&self, id: u32) -> bool {
        self.len() < self.capacity && (id as usize) < self.identifiers()
    }

    /// Asks for what a search of a small generation reads beside vectors and most codes. Of
    /// many small ones each has been untouched for long, and waiting for one array after the
    /// other would take longer than all else.
    #[inline]
    pub(crate) fn prefetch_small(&self) {
        if self.capacity <= SMALL {
            prefetch(self.live.cells());
            self.codes.prefetch_small();
            prefetch(self.ids());
            prefetch(self.slots.cells().get(..self.capacity).unwrap_or(&[]));
        }
    }

    /// Appends a vector and makes it the present one of its identifier. False when there
    /// is no room; then nothing has changed.
    ///
    /// `encode` appends the slot's code.
    pub(crate) fn push(
        &self,
        id: u32,
        unit: &[f32],
        bits: &[u8],
        encode: impl FnOnce(&Codes) -> bool,
    ) -> bool {
        let slot = self.len();
        if !self.has_room(id) {
            return false;
        }
        let columns = self.vectors.append(unit) && self.bits.append(bits) && encode(&self.codes);
        if !(columns && self.ids.append(&[id])) {
            return false;
        }
        self.set_live(slot as u32, true);
        // From here on readers take the new slot for the identifier's, and no other.
        let old = self.slots.cells()[id as usize].swap(slot as u32 + 1, Ordering::AcqRel);
        if let Some(old) = old.checked_sub(1) {
            self.set_live(old, false);
        }
        self.complete.store(slot + 1, Ordering::Release);
        true
    }

    /// Removes the vector of an identifier; false when there is none.
    pub(crate) fn remove(&self, id: u32) -> bool {
        let Some(cell) = self.slots.cells().get(id as usize) else { return false };
        match cell.swap(0, Ordering::AcqRel).checked_sub(1) {
            Some(slot) => {
                self.set_live(slot, false);
                true
            }
            None => false,
        }
    }

    fn set_live(&self, slot: u32, live: bool) {
        let bit = 1u64 << (slot % 64);
        // A slot number from a damaged file may point anywhere, or at what is dead already.
        let Some(cell) = self.live.cells().get(slot as usize / 64) else { return };
        if live {
            if cell.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
                self.live_count.fetch_add(1, Ordering::AcqRel);
            }
        } else if cell.fetch_and(!bit, Ordering::AcqRel) & bit != 0 {
            self.live_count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// True while the slot holds the present vector of its identifier.
    #[inline]
    pub(crate) fn is_live(&self, slot: u32) -> bool {
        self.live_word(slot as usize / 64) >> (slot % 64) & 1 == 1
    }

    /// The live bits of 64 slots.
    #[inline]
    pub(crate) fn live_word(&self, word: usize) -> u64 {
        self.live.cells().get(word).map_or(0, |cell| cell.load(Ordering::Acquire))
    }

    /// The slot that holds an identifier's vector.
    #[inline]
    pub(crate) fn slot_of(&self, id: u32) -> Option<u32> {
        self.slots.cells().get(id as usize)?.load(Ordering::Acquire).checked_sub(1)
    }

    /// Per identifier its slot plus one, 0 for none.
    pub(crate) fn slots_by_id(&self) -> &[AtomicU32] {
        self.slots.cells()
    }

    /// The identifiers of all slots.
    pub(crate) fn ids(&self) -> &[u32] {
        self.ids.values()
    }

    /// The vectors of all slots, to be gathered.
    pub(crate) fn vector_rows(&self) -> kernels::Rows<'_, f32> {
        kernels::Rows { data: self.vectors.values(), stride: self.dimension, length: self.dimension }
    }

    /// The sign bits of all slots, to be scanned.
    pub(crate) fn bit_rows(&self) -> kernels::Rows<'_, u8> {
        let width = self.bits.width();
        kernels::Rows { data: self.bits.values(), stride: width, length: width }
    }

    /// The vector in a slot.
    pub(crate) fn vector(&self, slot: u32) -> Option<&[f32]> {
        self.vectors.get(slot)
    }

    /// The sign bits in a slot.
    pub(crate) fn bits(&self, slot: u32) -> Option<&[u8]> {
        self.bits.get(slot)
    }

    /// The scalar codes of all slots.
    pub(crate) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The graph over the first slots, once there is one.
    pub(crate) fn graph(&self) -> Option<&Graph> {
        self.graph.get()
    }

    /// The graph, which is begun when there is none.
    pub(crate) fn graph_or_new(&self, seed: u64) -> &Graph {
        self.graph.get_or_init(|| Graph::new(self.capacity, seed))
    }

    /// Takes over the slots of a smaller generation that are not here yet. They stay out of
    /// sight until [`Generation::copy_from`] says what counts.
    pub(crate) fn copy_slots_from(&self, old: &Self) {
        let fits = self.vectors.extend_from(&old.vectors)
            && self.bits.extend_from(&old.bits)
            && self.codes.extend_from(&old.codes)
            && self.ids.extend_from(&old.ids);
        debug_assert!(fits, "a generation that grows has room for the smaller one");
    }

    /// Takes over everything of a smaller generation, slot by slot. Nobody else may write to
    /// either meanwhile.
    pub(crate) fn copy_from(&self, old: &Self) {
        self.copy_slots_from(old);
        for (from, to) in old.live.cells().iter().zip(self.live.cells()) {
            to.store(from.load(Ordering::Acquire), Ordering::Release);
        }
        for (from, to) in old.slots.cells().iter().zip(self.slots.cells()) {
            to.store(from.load(Ordering::Acquire), Ordering::Release);
        }
        self.live_count.store(old.live(), Ordering::Release);
        self.complete.store(old.complete(), Ordering::Release);
        if let Some(graph) = old.graph() {
            let _ = self.graph.set(graph.with_capacity(self.capacity));
        }
    }

    /// Takes a finished graph of its first slots; there must be none yet.
    pub(crate) fn set_graph(&self, graph: Graph) {
        let _ = self.graph.set(graph);
    }

    /// Memory of the slots that are written: vectors, codes, and bookkeeping.
    pub(crate) fn bytes(&self) -> (usize, usize, usize) {
        let slots = self.len();
        let other = slots * 4 + slots / 8 + self.slots.len().min(slots) * 4;
        (slots * self.dimension * 4, slots * (self.bits.width() + self.codes.row_bytes()), other)
    }
}
