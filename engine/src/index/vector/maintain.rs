//! Maintenance: linking what has settled, and leaving behind what was removed.
//!
//! Neither changes what a search finds, only how fast. Both work beside readers; writers
//! wait only while a finished generation takes the place of the old one.

use crate::index::vector::generation::{Generation, capacity_for};
use crate::index::vector::graph::{GONE, NewNode, batch_end};
use crate::index::vector::handle::VectorIndex;
use crate::index::vector::kernels;
use crate::index::vector::sync::Arc;

/// Slots that may wait to be linked: scanning them costs a tenth of a walk at most.
const HEAD: usize = 512;
/// Slots linked in one go.
const STEP: usize = 512;
/// A generation is replaced when one of so many slots is dead, and at least [`LEAST_DEAD`] are.
const DEAD_SHARE: usize = 4;
const LEAST_DEAD: usize = 256;

/// What is to be done first.
enum Due {
    Compact,
    Link,
}

impl VectorIndex {
    /// Does a step of the maintenance that is due, by that many threads; true when there is
    /// more to do.
    pub fn maintain(&self, threads: usize) -> bool {
        let _maintenance = self.maintenance.lock();
        let generation = self.generation.load_full();
        let done = match self.due(&generation, HEAD) {
            None => false,
            Some(Due::Compact) => self.compact(&generation, threads),
            Some(Due::Link) => self.link(&generation, threads, STEP),
        };
        done && self.due(&self.generation.load(), HEAD).is_some()
    }

    /// Does all maintenance, due or not: every slot is linked, if there is a graph at all.
    pub fn settle(&self, threads: usize) {
        let _maintenance = self.maintenance.lock();
        loop {
            let generation = self.generation.load_full();
            let done = match self.due(&generation, 0) {
                None => false,
                Some(Due::Compact) => self.compact(&generation, threads),
                Some(Due::Link) => self.link(&generation, threads, usize::MAX),
            };
            if !done {
                break;
            }
        }
    }

    /// Slots that are linked in the graph.
    pub fn linked(&self) -> usize {
        self.generation.load().graph().map_or(0, |graph| graph.settled())
    }

    /// True when [`VectorIndex::maintain`] has something to do.
    pub fn is_due(&self) -> bool {
        self.due(&self.generation.load(), HEAD).is_some()
    }

    fn due(&self, generation: &Generation, head: usize) -> Option<Due> {
        let (slots, live) = (generation.len(), generation.live());
        let dead = slots.saturating_sub(live);
        if dead >= LEAST_DEAD && dead * DEAD_SHARE >= slots {
            return Some(Due::Compact);
        }
        let settled = generation.graph().map_or(0, |graph| graph.settled());
        (live >= self.options.graph_from && slots.saturating_sub(settled) > head).then_some(Due::Link)
    }

    /// Links waiting slots in whole batches, at least one and up to `most` slots; false when
    /// they cannot be linked.
    fn link(&self, generation: &Generation, threads: usize, most: usize) -> bool {
        let graph = generation.graph_or_new(self.options.seed);
        let slots = generation.len();
        let until = slots.min(graph.settled().saturating_add(most));
        let dimension = self.options.dimension;
        let mut rotated = Vec::new();
        while graph.settled() < until {
            let from = graph.settled();
            let mut to = batch_end(from);
            if to > slots {
                // Part of a batch only when all must be linked: else the graph would hang on
                // when its slots were linked. Those that may wait are more than a batch.
                if most < usize::MAX {
                    break;
                }
                to = slots;
            }
            rotated.clear();
            for slot in from..to {
                rotated.extend_from_slice(generation.vector(slot as u32).unwrap_or(&[]));
            }
            rotated.chunks_exact_mut(dimension).for_each(|vector| self.rotation.apply(vector));
            let nodes: Vec<NewNode<'_>> =
                rotated.chunks_exact(dimension).map(|rotated| NewNode { rotated }).collect();
            if !graph.add(kernels::kernels(), generation.codes(), &nodes, threads) {
                tracing::error!(slot = from, "the graph of a vector index has no room for its slots");
                return false;
            }
        }
        true
    }

    /// Makes the next generation, without dead slots; false when it cannot be made.
    pub(super) fn compact(&self, old: &Generation, threads: usize) -> bool {
        // Of one moment: a slot that is being written now is in neither or in both.
        let (slots, live) = {
            let _writer = self.writer.lock();
            let slots = old.len();
            (slots, (0..slots.div_ceil(64)).map(|word| old.live_word(word)).collect::<Vec<u64>>())
        };
        let is_live = |slot: usize| live[slot / 64] >> (slot % 64) & 1 == 1;
        let count = (0..slots).filter(|slot| is_live(*slot)).count();
        let new = Generation::new(old.dimension, capacity_for(count), old.identifiers());
        let mut renumbered = vec![GONE; slots];
        for slot in (0..slots).filter(|slot| is_live(*slot)) {
            // What was removed or replaced since; or what a damaged file says twice.
            if old.slot_of(old.ids()[slot]) != Some(slot as u32) {
                continue;
            }
            renumbered[slot] = new.len() as u32;
            if !copy_slot(old, slot as u32, &new) {
                return false;
            }
        }
        if let Some(graph) = old.graph() {
            let settled = graph.settled().min(slots);
            let kept = renumbered[..settled].iter().filter(|number| **number != GONE).count();
            // Where most are gone, what is left of the links says little: link anew.
            if count >= self.options.graph_from / 2 && kept * 2 >= settled {
                new.set_graph(graph.repaired(
                    kernels::kernels(),
                    old.codes(),
                    &renumbered[..settled],
                    new.capacity(),
                    threads,
                ));
            }
        }
        // What was changed meanwhile.
        let _writer = self.writer.lock();
        for (slot, number) in renumbered.iter().enumerate() {
            if *number != GONE && !old.is_live(slot as u32) {
                let id = old.ids()[slot];
                if new.slot_of(id) == Some(*number) {
                    new.remove(id);
                }
            }
        }
        let mut new = new;
        for slot in slots..old.len() {
            if !old.is_live(slot as u32) {
                continue;
            }
            if !new.has_room(old.ids()[slot]) {
                let larger = Generation::new(old.dimension, capacity_for(new.capacity()), old.identifiers());
                larger.copy_from(&new);
                new = larger;
            }
            if !copy_slot(old, slot as u32, &new) {
                return false;
            }
        }
        self.generation.store(Arc::new(new));
        true
    }
}

/// Appends one slot of a generation to another; false when that cannot be.
fn copy_slot(old: &Generation, slot: u32, new: &Generation) -> bool {
    match (old.ids().get(slot as usize), old.vector(slot), old.bits(slot)) {
        (Some(id), Some(vector), Some(bits)) => {
            new.push(*id, vector, bits, |codes| codes.push_from(old.codes(), slot))
        }
        _ => false,
    }
}
