//! The graph tier: a hierarchical navigable small world over scalar codes.
//!
//! Malkov and Yashunin (2018), with what makes it fast here: codes instead of vectors on
//! the walk, neighbour lists of a fixed length in one flat array, and slots that are
//! written once. Nodes are the first slots of an index, in order; one thread adds nodes,
//! any number of readers walk without a lock, since neighbour lists are atomic cells that
//! hold either an old or a new neighbour. This room knows nothing of identifiers, deletion
//! or filters beyond a test per slot.

mod build;
mod pool;
mod walk;

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::index::vector::kernels;
use crate::index::vector::memory::{AppendOnly, Arena};
use crate::index::vector::quantize::{CodeTail, Scalar};

pub(crate) use build::{NewNode, batch_end};
pub(crate) use pool::{Pool, key_score, key_slot};
pub(crate) use walk::{Walk, WalkScratch};

/// Neighbours that a new node chooses, and most of them on upper levels.
pub(crate) const LINKS: usize = 16;
/// Most neighbours on the lowest level.
pub(crate) const BASE_LINKS: usize = 2 * LINKS;
/// Candidates that a new node's neighbours are chosen from.
pub(crate) const EF_CONSTRUCTION: usize = 128;
/// No neighbour; slots stay below half of it.
const NONE: u32 = u32::MAX;
/// Levels above the lowest; 16 to the seventh nodes fill them.
const MOST_LEVELS: usize = 7;

/// A graph over the first slots of an index.
#[derive(Debug)]
pub(crate) struct Graph {
    scalar: Scalar,
    seed: u64,
    codes: AppendOnly<u8>,
    scales: AppendOnly<f32>,
    sums: AppendOnly<u32>,
    /// `BASE_LINKS` cells per slot.
    base: Arena<AtomicU32>,
    /// Per slot: first block of its upper levels plus one, 0 for none.
    upper_at: Arena<AtomicU32>,
    /// Blocks of `LINKS` cells, one per upper level of a node.
    upper: Arena<AtomicU32>,
    upper_used: AtomicUsize,
    /// Where every walk begins: level in the high half, slot plus one in the low one.
    entry: AtomicU64,
    /// Slots that are linked.
    settled: AtomicUsize,
}

/// Bytes from one code to the next: none lies over more cache lines than it must.
fn code_stride(length: usize) -> usize {
    if length > 64 { length.next_multiple_of(64) } else { length.next_power_of_two() }
}

impl Graph {
    /// A graph without nodes, with room for `capacity` of them.
    pub(crate) fn new(scalar: Scalar, capacity: usize, seed: u64) -> Self {
        let blocks = capacity / 12 + 64;
        Self {
            scalar,
            seed,
            codes: AppendOnly::new(code_stride(scalar.length()), capacity),
            scales: AppendOnly::new(1, capacity),
            sums: AppendOnly::new(1, capacity),
            base: Arena::new(capacity * BASE_LINKS),
            upper_at: Arena::new(capacity),
            upper: Arena::new(blocks * LINKS),
            upper_used: AtomicUsize::new(0),
            entry: AtomicU64::new(0),
            settled: AtomicUsize::new(0),
        }
    }

    /// The same graph with room for more nodes. Nobody may add nodes meanwhile.
    pub(crate) fn with_capacity(&self, capacity: usize) -> Self {
        let new = Self::new(self.scalar, capacity, self.seed);
        let fits = new.codes.append(self.codes.values())
            && new.scales.append(self.scales.values())
            && new.sums.append(self.sums.values());
        debug_assert!(fits, "a graph that grows has room for the smaller one");
        for (old, new) in
            [(&self.base, &new.base), (&self.upper_at, &new.upper_at), (&self.upper, &new.upper)]
        {
            for (from, to) in old.cells().iter().zip(new.cells()) {
                to.store(from.load(Ordering::Acquire), Ordering::Release);
            }
        }
        new.upper_used.store(self.upper_used.load(Ordering::Acquire), Ordering::Release);
        new.entry.store(self.entry.load(Ordering::Acquire), Ordering::Release);
        new.settled.store(self.settled(), Ordering::Release);
        new
    }

    /// How many slots are linked: the graph finds these, and only these.
    pub(crate) fn settled(&self) -> usize {
        self.settled.load(Ordering::Acquire)
    }

    /// The codes it walks on.
    pub(crate) fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Bytes of codes and of links for the nodes that are in.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let codes = self.codes.len() * (self.codes.width() + 8);
        let links = self.codes.len() * (BASE_LINKS + 1) * 4;
        (codes, links + self.upper_used.load(Ordering::Relaxed) * LINKS * 4)
    }

    fn code_rows(&self) -> kernels::Rows<'_, u8> {
        kernels::Rows { data: self.codes.values(), stride: self.codes.width(), length: self.scalar.length() }
    }

    fn code(&self, slot: u32) -> Option<(&[u8], CodeTail)> {
        let code = &self.codes.get(slot)?[..self.scalar.length()];
        let scale = *self.scales.values().get(slot as usize)?;
        let sum = *self.sums.values().get(slot as usize)?;
        Some((code, CodeTail { scale, sum }))
    }

    /// The neighbour cells of a slot on a level; empty when it has none there.
    fn cells(&self, slot: u32, level: usize) -> &[AtomicU32] {
        let slot = slot as usize;
        let (cells, from, count) = match level {
            0 => (&self.base, slot * BASE_LINKS, BASE_LINKS),
            _ => match self.upper_at.cells().get(slot).map(|at| at.load(Ordering::Acquire)) {
                None | Some(0) => return &[],
                Some(at) => (&self.upper, (at as usize - 1 + level - 1) * LINKS, LINKS),
            },
        };
        cells.cells().get(from..from + count).unwrap_or(&[])
    }

    /// The neighbours of a slot on a level. A cell holds a slot plus one, so that zeroed
    /// memory is a list without neighbours.
    #[inline]
    fn neighbours(&self, slot: u32, level: usize) -> impl Iterator<Item = u32> + '_ {
        self.cells(slot, level)
            .iter()
            .map(|cell| cell.load(Ordering::Acquire))
            .take_while(|cell| *cell != 0)
            .map(|cell| cell - 1)
    }

    fn set_neighbours(&self, slot: u32, level: usize, neighbours: impl Iterator<Item = u32>) {
        let mut cells = self.cells(slot, level).iter();
        for (neighbour, cell) in neighbours.zip(&mut cells) {
            cell.store(neighbour + 1, Ordering::Release);
        }
        for cell in cells {
            cell.store(0, Ordering::Release);
        }
    }

    /// Slot and level where walks begin; `None` for a graph without nodes.
    fn entry(&self) -> Option<(u32, usize)> {
        let entry = self.entry.load(Ordering::Acquire);
        let slot = (entry as u32).checked_sub(1)?;
        Some((slot, (entry >> 32) as usize))
    }

    fn set_entry(&self, slot: u32, level: usize) {
        self.entry.store((level as u64) << 32 | u64::from(slot + 1), Ordering::Release);
    }

    /// The level of a slot: geometric with ratio 1 to `LINKS`, drawn from the seed.
    fn level(&self, slot: u32) -> usize {
        let mut draw = xxh3_64_with_seed(&slot.to_le_bytes(), self.seed);
        let mut level = 0;
        while level < MOST_LEVELS && draw.is_multiple_of(LINKS as u64) {
            draw /= LINKS as u64;
            level += 1;
        }
        level
    }
}
