//! Adding nodes: in batches, by any number of threads, always to the same graph.
//!
//! Each node of a batch looks for its neighbours in the graph as it was before the batch,
//! and among the nodes of the batch; then links are made, target by target. Both steps
//! depend on no order, so that one thread and many give the same graph (the prefix
//! doubling of ParlayANN, Manohar et al., 2024). Where a batch ends depends on the slot
//! alone.

use parking_lot::Mutex;

use crate::index::vector::codes::Codes;
use crate::index::vector::graph::equal::{first_of_equal, same_code};
use crate::index::vector::graph::{EF_CONSTRUCTION, Graph, LINKS, Walk, WalkScratch, key_score, key_slot};
use crate::index::vector::kernels::Kernels;
use crate::index::vector::quantize::CodedQuery;
use crate::index::vector::sync::Ordering;

/// Nodes of one batch at most; more would leave too many of each other's neighbours to the
/// comparison within the batch.
const BATCH: usize = 512;
/// A batch is at most this part of the graph.
const BATCH_SHARE: usize = 32;
/// Work that a thread takes at a time.
const CHUNK: usize = 16;

/// The first slot behind the batch that starts at a slot.
pub(crate) fn batch_end(from: usize) -> usize {
    from + (from / BATCH_SHARE).clamp(1, BATCH)
}

/// A vector that is to become a node: rotated, of unit length.
pub(crate) struct NewNode<'a> {
    pub(crate) rotated: &'a [f32],
}

/// A neighbour on one level, before links are made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) score: f32,
    pub(super) slot: u32,
}

/// What one thread needs.
#[derive(Default)]
pub(super) struct Builder {
    walk: WalkScratch,
    query: CodedQuery,
    dots: Vec<i32>,
    scores: Vec<f32>,
    pub(super) chosen: Vec<Found>,
    pub(super) candidates: Vec<Found>,
}

/// What a new node has found.
#[derive(Clone, Debug, Default)]
struct Chosen {
    /// A node with the same code: this one becomes its member.
    twin: Option<u32>,
    /// Neighbours, from the lowest level up.
    levels: Vec<Vec<Found>>,
}

/// A link to be made from a target back to a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reverse {
    level: usize,
    target: u32,
    source: u32,
}

impl Graph {
    /// Links the next nodes, which must be one batch (see [`batch_end`]) or a part of one.
    /// False when they do not fit, or
    /// have no codes.
    pub(crate) fn add(
        &self,
        kernels: &'static dyn Kernels,
        codes: &Codes,
        nodes: &[NewNode<'_>],
        threads: usize,
    ) -> bool {
        let first = self.settled();
        let end = first + nodes.len();
        if end > codes.len() || end > self.upper_at.len() {
            return false;
        }
        // Of equal ones the first alone looks for neighbours.
        let firsts = first_of_equal(codes, first as u32, nodes.len());
        let new: Vec<u32> =
            (first as u32..end as u32).filter(|slot| firsts[*slot as usize - first] == *slot).collect();
        for slot in &new {
            if self.level(*slot) == 0 {
                self.reserve_upper(*slot, self.draw_level(*slot));
            }
        }
        let mut chosen: Vec<Chosen> = new.iter().map(|_| Chosen::default()).collect();
        in_parallel(threads, &mut chosen, |builder, index, out| {
            let rotated = nodes[new[index] as usize - first].rotated;
            *out = self.choose((kernels, codes), builder, first, (new[index], rotated), &new);
        });
        // What each has become, or whose member it is.
        let mut node_of = firsts;
        for (slot, chosen) in new.iter().zip(&chosen) {
            node_of[*slot as usize - first] = chosen.twin.unwrap_or(*slot);
        }
        for (slot, index) in (first as u32..).zip(0..nodes.len()) {
            if let Some(equal) = (node_of[index] as usize).checked_sub(first) {
                node_of[index] = node_of[equal];
            }
            if node_of[index] != slot {
                self.list_member(node_of[index], slot);
            }
        }
        let mut reverse = Vec::new();
        for (slot, chosen) in new.iter().zip(&mut chosen).filter(|(_, chosen)| chosen.twin.is_none()) {
            for (level, found) in chosen.levels.iter_mut().enumerate() {
                self.replace_members(level, found, (first, &node_of));
                self.set_neighbours(*slot, level, found.iter().map(|found| found.slot));
                reverse.extend(found.iter().map(|found| Reverse {
                    level,
                    target: found.slot,
                    source: *slot,
                }));
            }
        }
        reverse.sort_unstable();
        let mut groups: Vec<&[Reverse]> =
            reverse.chunk_by(|a, b| (a.level, a.target) == (b.level, b.target)).collect();
        in_parallel(threads, &mut groups, |builder, _, group| {
            self.link_back((kernels, codes), builder, group)
        });
        let highest = self.entry().map_or(0, |(_, level)| level);
        let best = new.iter().filter(|slot| !self.is_member(**slot)).map(|slot| (self.level(*slot), *slot));
        if let Some((level, slot)) = best.max_by_key(|(level, slot)| (*level, std::cmp::Reverse(*slot)))
            && (level > highest || self.entry().is_none())
        {
            self.set_entry(slot, level);
        }
        self.settled.store(end, Ordering::Release);
        true
    }

    /// Neighbours that have turned out to be members give way to their nodes.
    fn replace_members(&self, level: usize, found: &mut Vec<Found>, (first, node_of): (usize, &[u32])) {
        for found in found.iter_mut() {
            if let Some(node) = (found.slot as usize).checked_sub(first).and_then(|index| node_of.get(index))
            {
                found.slot = *node;
            }
        }
        let mut at = 0;
        while let Some(Found { slot, .. }) = found.get(at).copied() {
            let known = found[..at].iter().any(|other| other.slot == slot);
            if known || (level > 0 && self.level(slot) < level) {
                found.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Neighbours of a new node on each of its levels, or an equal node. `others` are all new
    /// nodes.
    fn choose(
        &self,
        (kernels, codes): (&'static dyn Kernels, &Codes),
        builder: &mut Builder,
        first: usize,
        (slot, rotated): (u32, &[f32]),
        others: &[u32],
    ) -> Chosen {
        let Builder { walk, query, dots, scores, chosen, candidates } = builder;
        query.rotated().clear();
        query.rotated().extend_from_slice(rotated);
        query.prepare_scalar(codes.scalar());
        let top = self.level(slot);
        // Within the batch everybody is compared with everybody.
        dots.resize(others.len(), 0);
        scores.resize(others.len(), 0.0);
        codes.estimate(kernels, query, others, dots, scores);
        let highest = self.entry().map(|(_, level)| level);
        let mut levels = Vec::with_capacity(top + 1);
        for level in 0..=top {
            match highest {
                Some(highest) if level <= highest => {
                    Walk { kernels, codes, query, ef: EF_CONSTRUCTION }.run(self, first, level, walk);
                }
                // Nobody is there yet.
                _ => walk.pool.reset(EF_CONSTRUCTION),
            }
            if level == 0 {
                let found = walk.pool.entries().iter().map(|key| key_slot(*key));
                let twin = found.filter(|found| same_code(codes, *found, slot)).min();
                if twin.is_some() {
                    return Chosen { twin, levels };
                }
            }
            for (other, score) in others.iter().zip(scores.iter()) {
                if *other != slot && (level == 0 || self.level(*other) >= level) {
                    walk.pool.insert(*score, *other);
                }
            }
            candidates.clear();
            candidates.extend(
                walk.pool.entries().iter().map(|key| Found { score: key_score(*key), slot: key_slot(*key) }),
            );
            diverse(kernels, codes, candidates, LINKS, chosen);
            levels.push(chosen.clone());
        }
        Chosen { twin: None, levels }
    }

    /// Adds links from one target to the new nodes that chose it.
    fn link_back(
        &self,
        (kernels, codes): (&'static dyn Kernels, &Codes),
        builder: &mut Builder,
        group: &[Reverse],
    ) {
        let Some(&Reverse { level, target, .. }) = group.first() else { return };
        let most = self.most_neighbours(target, level);
        let mut slots: Vec<u32> = self.neighbours(target, level).collect();
        for link in group {
            if !slots.contains(&link.source) {
                slots.push(link.source);
            }
        }
        if slots.len() > most {
            let Some(code) = codes.code(target) else { return };
            let Builder { candidates, chosen, .. } = builder;
            candidates.clear();
            candidates.extend(slots.iter().filter_map(|slot| {
                let score = codes.scalar().pair(kernels, code, codes.code(*slot)?);
                Some(Found { score, slot: *slot })
            }));
            candidates.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.slot.cmp(&b.slot)));
            diverse(kernels, codes, candidates, most, chosen);
            slots.clear();
            slots.extend(chosen.iter().map(|found| found.slot));
        }
        self.set_neighbours(target, level, slots.into_iter());
    }
}

/// Of candidates, best first, those that are nearer to the node than to any kept before:
/// links lead in all directions instead of into one cluster.
pub(super) fn diverse(
    kernels: &'static dyn Kernels,
    codes: &Codes,
    candidates: &[Found],
    most: usize,
    chosen: &mut Vec<Found>,
) {
    chosen.clear();
    for candidate in candidates {
        let Some(code) = codes.code(candidate.slot) else { continue };
        let hidden = chosen.iter().any(|kept| {
            let kept = codes.code(kept.slot);
            kept.is_some_and(|kept| codes.scalar().pair(kernels, code, kept) > candidate.score)
        });
        if !hidden {
            chosen.push(*candidate);
            if chosen.len() == most {
                break;
            }
        }
    }
}

/// Runs a task for every item, by several threads; each item is handled by one of them.
pub(super) fn in_parallel<T: Send>(
    threads: usize,
    items: &mut [T],
    task: impl Fn(&mut Builder, usize, &mut T) + Sync,
) {
    if threads <= 1 || items.len() <= CHUNK {
        let mut builder = Builder::default();
        for (index, item) in items.iter_mut().enumerate() {
            task(&mut builder, index, item);
        }
        return;
    }
    let chunks = Mutex::new(items.chunks_mut(CHUNK).enumerate());
    let work = || {
        let mut builder = Builder::default();
        loop {
            let next = chunks.lock().next();
            let Some((number, chunk)) = next else { break };
            for (offset, item) in chunk.iter_mut().enumerate() {
                task(&mut builder, number * CHUNK + offset, item);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        // Joined one by one: thread sanitizers know nothing of the end of a scope.
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
