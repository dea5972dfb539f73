//! Walking the graph towards a query.

use crate::index::vector::codes::Codes;
use crate::index::vector::graph::{BASE_LINKS, Graph, Pool};
use crate::index::vector::kernels::Kernels;
use crate::index::vector::memory::prefetch;
use crate::index::vector::quantize::CodedQuery;
use crate::index::vector::sync::Ordering;

/// Room for one walk, reused: nothing is allocated once it is as large as the graph.
#[derive(Debug, Default)]
pub(crate) struct WalkScratch {
    visited: Visited,
    /// What the walk steers by.
    pub(crate) pool: Pool,
    /// The best that pass the caller's test; filled only when there is one.
    pub(crate) passing: Pool,
    /// Nodes with members.
    crowded: Vec<u64>,
    /// Slots whose score was taken.
    pub(crate) scored: usize,
}

/// Slots that were seen: one bit each, cleared by touching only what was touched.
#[derive(Debug, Default)]
struct Visited {
    words: Vec<u64>,
    touched: Vec<u32>,
}

impl Visited {
    fn begin(&mut self, slots: usize) {
        for word in self.touched.drain(..) {
            self.words[word as usize] = 0;
        }
        if self.words.len() < slots.div_ceil(64) {
            self.words.resize(slots.div_ceil(64), 0);
        }
    }

    /// True the first time.
    #[inline]
    fn insert(&mut self, slot: u32) -> bool {
        let at = slot / 64;
        let Some(word) = self.words.get_mut(at as usize) else { return false };
        if *word == 0 {
            self.touched.push(at);
        }
        let bit = 1 << (slot % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// One walk: a prepared query and how far to look.
pub(crate) struct Walk<'a> {
    pub(crate) kernels: &'static dyn Kernels,
    pub(crate) codes: &'a Codes,
    pub(crate) query: &'a CodedQuery,
    /// Length of the list of candidates.
    pub(crate) ef: usize,
}

impl Walk<'_> {
    /// Walks to the nodes most alike the query, down to a level; they are in
    /// [`WalkScratch::pool`] then. Only the first `slots` nodes exist for it, and
    /// all of them have codes.
    pub(crate) fn run(&self, graph: &Graph, slots: usize, level: usize, scratch: &mut WalkScratch) {
        self.start(graph, slots, level, scratch);
        self.layer(graph, slots, level, scratch, None::<(usize, fn(u32) -> bool)>);
    }

    /// As [`Walk::run`] on the lowest level; beside steering, the best `wanted` of the slots
    /// that pass the test go into [`WalkScratch::passing`].
    pub(crate) fn run_where(
        &self,
        graph: &Graph,
        slots: usize,
        scratch: &mut WalkScratch,
        wanted: usize,
        test: impl Fn(u32) -> bool,
    ) {
        scratch.passing.reset(wanted);
        self.start(graph, slots, 0, scratch);
        if let Some(&first) = scratch.pool.entries().first() {
            let (score, slot) = (super::key_score(first), super::key_slot(first));
            if test(slot) {
                scratch.passing.insert(score, slot);
            }
        }
        self.layer(graph, slots, 0, scratch, Some((wanted, test)));
    }

    /// Takes the members of the nodes a walk has come to into its result, if they pass the
    /// test: into [`WalkScratch::passing`] after [`Walk::run_where`], else into
    /// [`WalkScratch::pool`].
    pub(crate) fn list_members(
        graph: &Graph,
        slots: usize,
        scratch: &mut WalkScratch,
        into_passing: bool,
        test: impl Fn(u32) -> bool,
    ) {
        let WalkScratch { visited, pool, passing, crowded, .. } = scratch;
        crowded.clear();
        crowded.extend(pool.entries().iter().filter(|key| graph.has_members(super::key_slot(**key))));
        let found = if into_passing { passing } else { pool };
        for key in crowded.iter() {
            let score = super::key_score(*key);
            graph.each_member(super::key_slot(*key), |member| {
                if found.bound().is_some_and(|bound| bound >= score) {
                    return false;
                }
                // Linked after this walk began.
                if member as usize >= slots {
                    return true;
                }
                // Each has one node; a damaged file may lead to it twice.
                let new = visited.insert(member);
                if new && test(member) {
                    found.insert(score, member);
                }
                new
            });
        }
    }

    /// Greedy descent from the entry to the level above, whose best node starts the pool.
    fn start(&self, graph: &Graph, slots: usize, level: usize, scratch: &mut WalkScratch) {
        scratch.visited.begin(slots);
        scratch.pool.reset(self.ef);
        scratch.scored = 1;
        let Some((mut best, top)) = graph.entry().filter(|(slot, _)| (*slot as usize) < slots) else {
            return;
        };
        let mut batch = [0; BASE_LINKS];
        let mut dots = [0; BASE_LINKS];
        let mut scores = [0.0; BASE_LINKS];
        self.codes.estimate(self.kernels, self.query, &[best], &mut dots[..1], &mut scores[..1]);
        let [mut score, ..] = scores;
        for level in (level + 1..=top).rev() {
            loop {
                let mut count = 0;
                for slot in graph.neighbours(best, level).filter(|slot| (*slot as usize) < slots) {
                    batch[count] = slot;
                    count += 1;
                }
                let (batch, dots, scores) = (&batch[..count], &mut dots[..count], &mut scores[..count]);
                self.codes.estimate(self.kernels, self.query, batch, dots, scores);
                scratch.scored += count;
                let before = best;
                for (slot, found) in batch.iter().zip(scores) {
                    if *found > score {
                        (best, score) = (*slot, *found);
                    }
                }
                if best == before {
                    break;
                }
            }
        }
        scratch.visited.insert(best);
        scratch.pool.insert(score, best);
    }

    fn layer(
        &self,
        graph: &Graph,
        slots: usize,
        level: usize,
        scratch: &mut WalkScratch,
        passing: Option<(usize, impl Fn(u32) -> bool)>,
    ) {
        let WalkScratch { visited, pool, passing: results, scored, .. } = scratch;
        let mut batch = [0u32; BASE_LINKS];
        let mut dots = [0i32; BASE_LINKS];
        let mut scores = [0f32; BASE_LINKS];
        let (rows, scales) = (self.codes.rows(), self.codes.scales());
        while let Some(slot) = pool.expand() {
            let mut count = 0;
            for cell in graph.cells(slot, level) {
                let neighbour = cell.load(Ordering::Acquire).wrapping_sub(1);
                if neighbour as usize >= slots {
                    match neighbour {
                        super::NONE => break,
                        // A node that was linked after this walk began, or a page of members.
                        _ => continue,
                    }
                }
                if visited.insert(neighbour) {
                    Codes::prefetch(rows, scales, neighbour);
                    batch[count] = neighbour;
                    count += 1;
                }
            }
            if let Some(next) = pool.peek() {
                prefetch(graph.cells(next, level));
            }
            let (batch, dots, scores) = (&batch[..count], &mut dots[..count], &mut scores[..count]);
            self.codes.estimate(self.kernels, self.query, batch, dots, scores);
            *scored += count;
            for (slot, score) in batch.iter().zip(scores) {
                let score = *score;
                if pool.insert(score, *slot) {
                    prefetch(graph.cells(*slot, level));
                }
                if let Some((_, test)) = &passing
                    && results.bound().is_none_or(|bound| score > bound)
                    && test(*slot)
                {
                    results.insert(score, *slot);
                }
            }
        }
    }
}
