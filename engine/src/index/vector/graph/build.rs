//! Adding nodes: in batches, by any number of threads, always to the same graph.
//!
//! Each node of a batch looks for its neighbours in the graph as it was before the batch,
//! and among the nodes of the batch; then links are made, target by target. Both steps
//! depend on no order, so that one thread and many give the same graph (the prefix
//! doubling of ParlayANN, Manohar et al., 2024). Where a batch ends depends on the slot
//! alone.

use std::sync::Mutex;

use crate::index::vector::codes::Codes;
use crate::index::vector::graph::{
    BASE_LINKS, EF_CONSTRUCTION, Graph, LINKS, Walk, WalkScratch, key_score, key_slot,
};
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

/// Neighbours of a new node, from the lowest level up.
type Chosen = Vec<Vec<Found>>;

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
        for slot in first as u32..(first + nodes.len()) as u32 {
            if self.level(slot) == 0 {
                self.reserve_upper(slot, self.draw_level(slot));
            }
        }
        let mut chosen: Vec<Chosen> = nodes.iter().map(|_| Chosen::new()).collect();
        in_parallel(threads, &mut chosen, |builder, index, out| {
            *out = self.choose((kernels, codes), builder, first, index, nodes);
        });
        let mut reverse = Vec::new();
        for (index, levels) in chosen.iter().enumerate() {
            let slot = (first + index) as u32;
            for (level, found) in levels.iter().enumerate() {
                self.set_neighbours(slot, level, found.iter().map(|found| found.slot));
                reverse.extend(found.iter().map(|found| Reverse { level, target: found.slot, source: slot }));
            }
        }
        reverse.sort_unstable();
        let mut groups: Vec<&[Reverse]> =
            reverse.chunk_by(|a, b| (a.level, a.target) == (b.level, b.target)).collect();
        in_parallel(threads, &mut groups, |builder, _, group| {
            self.link_back((kernels, codes), builder, group)
        });
        let highest = self.entry().map_or(0, |(_, level)| level);
        let best = (0..nodes.len()).map(|index| (self.level((first + index) as u32), index));
        if let Some((level, index)) = best.max_by_key(|(level, index)| (*level, std::cmp::Reverse(*index)))
            && (level > highest || self.entry().is_none())
        {
            self.set_entry((first + index) as u32, level);
        }
        self.settled.store(first + nodes.len(), Ordering::Release);
        true
    }

    /// Neighbours of a new node on each of its levels.
    fn choose(
        &self,
        (kernels, codes): (&'static dyn Kernels, &Codes),
        builder: &mut Builder,
        first: usize,
        index: usize,
        nodes: &[NewNode<'_>],
    ) -> Chosen {
        let slot = (first + index) as u32;
        let Builder { walk, query, dots, scores, chosen, candidates } = builder;
        query.rotated().clear();
        query.rotated().extend_from_slice(nodes[index].rotated);
        query.prepare_scalar(codes.scalar());
        let top = self.level(slot);
        // Within the batch everybody is compared with everybody.
        let others: Vec<u32> = (first as u32..(first + nodes.len()) as u32).collect();
        dots.resize(others.len(), 0);
        scores.resize(others.len(), 0.0);
        codes.estimate(kernels, query, &others, dots, scores);
        let highest = self.entry().map(|(_, level)| level);
        (0..=top)
            .map(|level| {
                match highest {
                    Some(highest) if level <= highest => {
                        Walk { kernels, codes, query, ef: EF_CONSTRUCTION }.run(self, first, level, walk);
                    }
                    // Nobody is there yet.
                    _ => walk.pool.reset(EF_CONSTRUCTION),
                }
                for (other, score) in others.iter().zip(scores.iter()) {
                    if *other != slot && (level == 0 || self.level(*other) >= level) {
                        walk.pool.insert(*score, *other);
                    }
                }
                candidates.clear();
                candidates.extend(
                    walk.pool
                        .entries()
                        .iter()
                        .map(|key| Found { score: key_score(*key), slot: key_slot(*key) }),
                );
                diverse(kernels, codes, candidates, LINKS, chosen);
                chosen.clone()
            })
            .collect()
    }

    /// Adds links from one target to the new nodes that chose it.
    fn link_back(
        &self,
        (kernels, codes): (&'static dyn Kernels, &Codes),
        builder: &mut Builder,
        group: &[Reverse],
    ) {
        let Some(&Reverse { level, target, .. }) = group.first() else { return };
        let most = if level == 0 { BASE_LINKS } else { LINKS };
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
            let next = match chunks.lock() {
                Ok(mut chunks) => chunks.next(),
                // Another thread failed; its panic is passed on below.
                Err(_) => None,
            };
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
