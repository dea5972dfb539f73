//! Maintenance: linking what has settled, and leaving behind what was removed.
//!
//! Neither changes what a search finds, only how fast. Both work beside readers; writers
//! wait only while a finished generation takes the place of the old one.

use std::time::Duration;

use crate::Result;
use crate::index::vector::generation::{Generation, LARGE, capacity_for};
use crate::index::vector::graph::{GONE, NewNode, batch_end};
use crate::index::vector::handle::VectorIndex;
use crate::index::vector::sync::Arc;
use crate::index::vector::{MAXIMUM_ID, Maintenance, kernels};

/// Slots that may wait to be linked: scanning them costs a tenth of a walk at most.
const HEAD: usize = 512;
/// Slots that may wait while somebody else does the linking; with more, insertions help.
const MOST_WAITING: usize = 4096;
/// How long an insertion that is to help waits for maintenance that is at work.
const PATIENCE: Duration = Duration::from_millis(10);
/// Slots linked in one go.
const STEP: usize = 512;
/// A generation is replaced when one of so many slots is dead, and at least [`LEAST_DEAD`] are.
const DEAD_SHARE: usize = 4;
const LEAST_DEAD: usize = 256;
/// A large generation is made larger in the background when less than one of so many slots
/// is free, so that no insertion has to wait for the copy.
const FREE_SHARE: usize = 8;

/// What is to be done first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Compact,
    Grow,
    Link,
}

/// The slots that are linked after one step, when that many were before it. Whole batches
/// only unless `all`: the graph would hang on when its slots were linked.
fn step_end(settled: usize, slots: usize, all: bool) -> usize {
    let mut end = settled;
    while end < slots.min(settled + STEP) {
        match batch_end(end) {
            to if to <= slots => end = to,
            _ if all => end = slots,
            _ => break,
        }
    }
    end
}

fn settled(generation: &Generation) -> usize {
    generation.graph().map_or(0, |graph| graph.settled())
}

impl VectorIndex {
    /// Does a step of the maintenance that is due, by that many threads; true when there is
    /// more to do.
    pub fn maintain(&self, threads: usize) -> bool {
        self.step(HEAD, threads) && self.is_due()
    }

    /// Does all maintenance, due or not: every slot is linked, if there is a graph at all.
    pub fn settle(&self, threads: usize) {
        while self.step(0, threads) {}
    }

    /// Makes the next generation now if there is any dead slot, so that no file written from here
    /// on holds a vector that was removed before; false when it cannot be made.
    pub fn sweep(&self, threads: usize) -> bool {
        let _links = self.links.lock();
        let _maintenance = self.maintenance.lock();
        let generation = self.generation.load_full();
        generation.len() == generation.live() || self.compact(&generation, threads)
    }

    /// Slots that are linked in the graph.
    pub fn linked(&self) -> usize {
        settled(&self.generation.load())
    }

    /// True when [`VectorIndex::maintain`] has something to do.
    pub fn is_due(&self) -> bool {
        let generation = self.generation.load();
        self.due(&generation, settled(&generation), HEAD).is_some()
    }

    /// True when [`VectorIndex::help`] has something to do.
    pub fn needs_help(&self) -> bool {
        let generation = self.generation.load();
        self.due_to_insert(&generation, settled(&generation)).is_some()
    }

    /// Does the maintenance that falls to those who insert: all that is due, or with
    /// maintenance in the background a step of linking once very many slots wait, so that
    /// searches stay fast through any burst. May take as long as linking some hundred slots.
    pub fn help(&self) {
        if !self.needs_help() {
            return;
        }
        match self.options.maintenance {
            Maintenance::Inline => drop(self.maintain(1)),
            Maintenance::Background => {
                // When others link, there is less to do soon; when they write a file or make
                // the next generation, that takes longer: insertions are only slowed then.
                let Some(_links) = self.links.lock_within(PATIENCE) else { return };
                let Some(_maintenance) = self.maintenance.lock_within(PATIENCE) else { return };
                let generation = self.generation.load_full();
                if self.due_to_insert(&generation, settled(&generation)).is_some() {
                    self.link(&generation, 1, step_end(settled(&generation), generation.len(), false));
                }
            }
        }
    }

    /// Inserts many vectors, in order, then does all maintenance by that many threads: the
    /// same index as by single insertions and [`VectorIndex::settle`], sooner.
    ///
    /// # Errors
    /// As [`VectorIndex::insert`]; what precedes the faulty vector is in then.
    pub fn insert_all<'a>(
        &self,
        vectors: impl IntoIterator<Item = (u32, &'a [f32])>,
        threads: usize,
    ) -> Result<()> {
        // What single insertions would have linked by now. When it is linked makes no
        // difference, except to what is compacted.
        let mut linked = self.linked();
        let inserted = vectors.into_iter().try_for_each(|(id, vector)| {
            self.append(id, vector)?;
            let generation = self.generation.load();
            linked = linked.min(generation.len());
            match self.due_to_insert(&generation, linked) {
                None => {}
                Some(Due::Link) => linked = step_end(linked, generation.len(), false),
                Some(Due::Compact | Due::Grow) => {
                    drop(generation);
                    self.link_to(linked, threads);
                    self.step(HEAD, threads);
                    linked = self.linked();
                }
            }
            Ok(())
        });
        self.link_to(linked, threads);
        self.settle(threads);
        inserted
    }

    /// Links the slots before `end`, which a batch ends with.
    fn link_to(&self, end: usize, threads: usize) {
        loop {
            let _links = self.links.lock();
            let _maintenance = self.maintenance.lock();
            let generation = self.generation.load_full();
            let linked = settled(&generation);
            let next = step_end(linked, generation.len().min(end), false);
            if next == linked || !self.link(&generation, threads, next) {
                return;
            }
        }
    }

    /// Does what is due first when so many slots may wait; false when nothing is, or it
    /// cannot be done. Locks are given up after every step: who needs room gets its turn.
    fn step(&self, head: usize, threads: usize) -> bool {
        let _links = self.links.lock();
        let _maintenance = self.maintenance.lock();
        let generation = self.generation.load_full();
        let linked = settled(&generation);
        match self.due(&generation, linked, head) {
            None => false,
            Some(Due::Compact) => self.compact(&generation, threads),
            Some(Due::Grow) => self.grow(&generation),
            Some(Due::Link) => self.link(&generation, threads, step_end(linked, generation.len(), head == 0)),
        }
    }

    /// What is due when so many slots are linked and `head` may wait.
    fn due(&self, generation: &Generation, linked: usize, head: usize) -> Option<Due> {
        let (slots, live, capacity) = (generation.len(), generation.live(), generation.capacity());
        let dead = slots.saturating_sub(live);
        if dead >= LEAST_DEAD && dead * DEAD_SHARE >= slots {
            return Some(Due::Compact);
        }
        let background = self.options.maintenance == Maintenance::Background;
        if background && capacity >= LARGE && capacity.saturating_sub(slots) < capacity / FREE_SHARE {
            return Some(Due::Grow);
        }
        (live >= self.options.graph_from && slots.saturating_sub(linked) > head).then_some(Due::Link)
    }

    /// What of it an insertion does itself.
    fn due_to_insert(&self, generation: &Generation, linked: usize) -> Option<Due> {
        match self.options.maintenance {
            Maintenance::Inline => self.due(generation, linked, HEAD),
            Maintenance::Background => {
                let waiting = generation.len().saturating_sub(linked);
                (generation.live() >= self.options.graph_from && waiting > MOST_WAITING).then_some(Due::Link)
            }
        }
    }

    /// Links waiting slots in batches up to `end`; false when they cannot be linked.
    fn link(&self, generation: &Generation, threads: usize, end: usize) -> bool {
        let graph = generation.graph_or_new(self.options.seed);
        let dimension = self.options.dimension;
        let mut rotated = Vec::new();
        while graph.settled() < end {
            let from = graph.settled();
            rotated.clear();
            for slot in from..batch_end(from).min(end) {
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

    /// Makes a larger generation. Nobody waits for the copy: what comes in meanwhile is
    /// copied in the end.
    fn grow(&self, old: &Generation) -> bool {
        let identifiers = old.identifiers().max(capacity_for(old.capacity()).min(MAXIMUM_ID as usize + 1));
        let new = Generation::new(old.dimension, capacity_for(old.capacity()), identifiers);
        new.copy_slots_from(old);
        let _writer = self.writer.lock();
        new.copy_from(old);
        self.generation.store(Arc::new(new));
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
