//! The graph tier: a hierarchical navigable small world over scalar codes.
//!
//! Malkov and Yashunin (2018), with what makes it fast here: codes instead of vectors on
//! the walk, neighbour lists of a fixed length in one flat array, and slots that are
//! written once. Nodes are the first slots of an index, in order; one thread adds nodes,
//! any number of readers walk without a lock, since neighbour lists are atomic cells that
//! hold either an old or a new neighbour. Of slots with equal codes one is a node, see
//! [`equal`]. This room knows nothing of identifiers, deletion or filters beyond a test per
//! slot.

mod build;
mod copy;
mod equal;
mod pool;
mod walk;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::index::vector::memory::Arena;
use crate::index::vector::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub(crate) use build::{NewNode, batch_end};
pub(crate) use copy::GONE;
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
/// Marks a cell that leads to a page of members instead of a neighbour.
const PAGE: u32 = 1 << 31;
/// Levels above the lowest; 16 to the seventh nodes fill them.
const MOST_LEVELS: usize = 7;
/// Where the level stands in the word that says where upper levels are.
const LEVEL_SHIFT: u32 = 28;

/// A graph over the first slots of an index.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(super) seed: u64,
    /// `BASE_LINKS` cells per slot.
    pub(super) base: Arena<AtomicU32>,
    /// Per slot: its level above `LEVEL_SHIFT` bits, below them the first block of its upper
    /// levels; 0 for a slot on the lowest level only. Members have a level beyond all.
    pub(super) upper_at: Arena<AtomicU32>,
    /// Blocks of `LINKS` cells, one per upper level of a node.
    pub(super) upper: Arena<AtomicU32>,
    pub(super) upper_used: AtomicUsize,
    /// Where every walk begins: level in the high half, slot plus one in the low one.
    pub(super) entry: AtomicU64,
    /// Slots that are linked.
    pub(super) settled: AtomicUsize,
}

/// Room for upper levels, in blocks: one node in fifteen needs one on average.
pub(super) fn upper_blocks(capacity: usize) -> usize {
    capacity / 12 + 64
}

/// The level that a word of [`Graph::upper_at`] speaks of; the lowest where it is none.
fn level_of(at: u32) -> usize {
    let level = (at >> LEVEL_SHIFT) as usize;
    if level > MOST_LEVELS { 0 } else { level }
}

impl Graph {
    /// A graph without nodes, with room for `capacity` of them.
    pub(crate) fn new(capacity: usize, seed: u64) -> Self {
        Self {
            seed,
            base: Arena::new(capacity * BASE_LINKS),
            upper_at: Arena::new(capacity),
            upper: Arena::new(upper_blocks(capacity) * LINKS),
            upper_used: AtomicUsize::new(0),
            entry: AtomicU64::new(0),
            settled: AtomicUsize::new(0),
        }
    }

    /// How many slots are linked: the graph finds these, and only these.
    pub(crate) fn settled(&self) -> usize {
        self.settled.load(Ordering::Acquire)
    }

    /// Bytes of the links of the nodes that are in.
    pub(crate) fn bytes(&self) -> usize {
        let upper = self.upper_used.load(Ordering::Relaxed) * LINKS * 4;
        self.settled() * (BASE_LINKS + 1) * 4 + upper
    }

    /// The neighbour cells of a slot on a level; empty when it has none there.
    fn cells(&self, slot: u32, level: usize) -> &[AtomicU32] {
        let slot = slot as usize;
        let (cells, from, count) = match level {
            0 => (&self.base, slot * BASE_LINKS, BASE_LINKS),
            _ => match self.upper_at.cells().get(slot).map(|at| at.load(Ordering::Acquire)) {
                Some(at) if level <= level_of(at) => {
                    let block = (at & ((1 << LEVEL_SHIFT) - 1)) as usize + level - 1;
                    (&self.upper, block * LINKS, LINKS)
                }
                _ => return &[],
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
            .take_while(|cell| *cell != 0 && *cell & PAGE == 0)
            .map(|cell| cell - 1)
    }

    /// How many neighbours a slot can have on a level.
    fn most_neighbours(&self, slot: u32, level: usize) -> usize {
        let cells = self.cells(slot, level).len();
        // The last cell of a node with members leads to them.
        cells - usize::from(level == 0 && self.has_members(slot))
    }

    fn set_neighbours(&self, slot: u32, level: usize, neighbours: impl Iterator<Item = u32>) {
        let mut cells = self.cells(slot, level)[..self.most_neighbours(slot, level)].iter();
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
        // A damaged file may say anything.
        Some((slot, ((entry >> 32) as usize).min(MOST_LEVELS)))
    }

    /// The level of a slot.
    fn level(&self, slot: u32) -> usize {
        let at = self.upper_at.cells().get(slot as usize).map_or(0, |at| at.load(Ordering::Acquire));
        level_of(at)
    }

    /// Makes room for the upper levels of a slot; without any left it stays on the lowest.
    fn reserve_upper(&self, slot: u32, level: usize) {
        let used = self.upper_used.load(Ordering::Relaxed);
        if level > 0 && (used + level) * LINKS <= self.upper.len() && used < 1 << LEVEL_SHIFT {
            self.upper_used.store(used + level, Ordering::Relaxed);
            let at = (level as u32) << LEVEL_SHIFT | used as u32;
            self.upper_at.cells()[slot as usize].store(at, Ordering::Release);
        }
    }

    fn set_entry(&self, slot: u32, level: usize) {
        self.entry.store((level as u64) << 32 | u64::from(slot + 1), Ordering::Release);
    }

    /// The level that a new slot draws: geometric with ratio 1 to `LINKS`, from the seed.
    fn draw_level(&self, slot: u32) -> usize {
        let mut draw = xxh3_64_with_seed(&slot.to_le_bytes(), self.seed);
        let mut level = 0;
        while level < MOST_LEVELS && draw.is_multiple_of(LINKS as u64) {
            draw /= LINKS as u64;
            level += 1;
        }
        level
    }
}
