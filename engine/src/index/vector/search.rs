//! Searching one generation: which slots are scanned, which are walked, what is compared
//! exactly.
//!
//! Both ways end alike: estimates from codes, best first, are compared exactly until no
//! estimate that is left can make it. Dead slots and slots that a filter excludes are
//! never counted, and what is asked for is returned if it is there.

use std::ops::Range;

use crate::index::rows::RowSet;
use crate::index::vector::generation::Generation;
use crate::index::vector::graph::{Graph, Pool, Walk, WalkScratch, key_score, key_slot};
use crate::index::vector::kernels::{self, Kernels};
use crate::index::vector::plan::{self, Plan};
use crate::index::vector::quantize::{CodedQuery, bit_error};
use crate::index::vector::rotation::Rotation;
use crate::index::vector::sync::Ordering;
use crate::index::vector::{Neighbor, unit_into};

/// Slots scanned at a time: their estimates stay in the nearest cache.
const BLOCK: usize = 512;
/// Survivors compared exactly at a time.
const EXACT: usize = 16;
/// Survivors of a first pass that are estimated anew at a time.
const REFINED: usize = 64;
/// How many standard deviations an estimate from sign bits may be off before a neighbour
/// is lost.
const BIT_SPREAD: f32 = 3.0;
/// The same for scalar codes.
const CODE_SPREAD: f32 = 4.0;

/// Room for one search, reused.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    query: CodedQuery,
    unit: Vec<f32>,
    walk: WalkScratch,
    sums: Vec<u32>,
    estimates: Vec<f32>,
    dots: Vec<i32>,
    picked: Vec<u32>,
    waiting: Vec<u32>,
    best: Pool,
    /// What the last search did.
    pub(crate) work: Work,
}

/// What a search did, for statistics and calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Slots estimated by a scan over sign bits.
    pub scanned: usize,
    /// Nodes estimated by a walk.
    pub walked: usize,
    /// Vectors compared exactly.
    pub compared: usize,
}

/// What a scan looks at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Sign bits, then codes of what they leave.
    Bits,
    /// Codes at once: for few slots.
    Codes,
}

impl Pass {
    /// How far its estimates may be off.
    fn spread(self, generation: &Generation) -> f32 {
        match self {
            Pass::Bits => BIT_SPREAD * bit_error(generation.dimension),
            Pass::Codes => CODE_SPREAD * generation.codes().scalar().error(),
        }
    }
}

impl Scratch {
    /// The least estimate that may belong to one of the best, given its spread.
    fn least(&self, spread: f32) -> f32 {
        self.best.bound().map_or(f32::MIN, |bound| bound - spread)
    }
}

/// A search over one generation.
pub(crate) struct Search<'a> {
    pub(crate) generation: &'a Generation,
    pub(crate) rotation: &'a Rotation,
    pub(crate) wanted: usize,
    pub(crate) ef: usize,
    pub(crate) allowed: Option<&'a RowSet>,
}

impl Search<'_> {
    /// The best identifiers for a query, best first.
    pub(crate) fn run(mut self, query: &[f32], scratch: &mut Scratch, out: &mut Vec<Neighbor>) {
        out.clear();
        scratch.work = Work::default();
        let generation = self.generation;
        // Of this moment: what comes in later is looked at in the end.
        let slots = generation.complete();
        // More than there are cannot be found, and must not be made room for.
        let asked = self.wanted;
        self.wanted = asked.min(slots);
        if self.wanted == 0 || slots == 0 || query.len() != generation.dimension {
            return;
        }
        generation.prefetch_small();
        if !unit_into(query, &mut scratch.unit) {
            return;
        }
        let kernels = kernels::kernels();
        let candidates = match self.allowed {
            None => generation.live(),
            Some(allowed) => kernels.count_ones(allowed.words()),
        };
        if candidates == 0 {
            return;
        }
        let Scratch { query, unit, .. } = scratch;
        let rotated = query.rotated();
        rotated.clear();
        rotated.extend_from_slice(unit);
        let plan = plan::choose(generation, candidates, self.wanted, self.ef, self.allowed.is_some());
        if plan != Plan::Exact {
            self.rotation.apply(query.rotated());
            query.prepare_scalar(generation.codes().scalar());
        }
        scratch.best.reset(self.wanted);
        let settled = generation.graph().map_or(0, |graph| graph.settled()).min(slots);
        match (plan, generation.graph()) {
            (Plan::Exact, _) => self.compare_all(kernels, slots, scratch),
            (Plan::Scan(first), _) => self.scan(kernels, first, 0, slots, scratch),
            (Plan::Walk { ef }, Some(graph)) => {
                let walked = self.walk(kernels, graph, settled, ef, scratch);
                self.scan(kernels, Pass::Bits, if walked { settled } else { 0 }, slots, scratch);
                // A walk that did not reach enough of what is allowed is no answer.
                if scratch.best.entries().len() < self.wanted.min(candidates) {
                    scratch.best.reset(self.wanted);
                    self.scan(kernels, Pass::Bits, 0, slots, scratch);
                }
            }
            (Plan::Walk { .. }, None) => self.scan(kernels, Pass::Bits, 0, slots, scratch),
        }
        self.catch_up(kernels, slots, asked, scratch);
        let ids = generation.ids();
        for key in scratch.best.entries() {
            let slot = key_slot(*key);
            let Some(id) = ids.get(slot as usize) else { continue };
            // Replaced while this search ran: the vector it had. Not when it was removed, nor
            // where a damaged file names the slot of another identifier.
            let stands = generation.slot_of(*id).is_some_and(|now| now == slot || now as usize >= slots);
            if stands && self.allowed.is_none_or(|allowed| allowed.contains(*id)) {
                out.push(Neighbor { id: *id, score: key_score(*key).clamp(-1.0, 1.0) });
            }
        }
    }

    /// Compares what has come in since there were `slots`. An identifier that was replaced
    /// meanwhile may have been passed over as dead: then its new vector stands for it.
    fn catch_up(&self, kernels: &'static dyn Kernels, slots: usize, asked: usize, scratch: &mut Scratch) {
        let ids = self.generation.ids();
        if ids.len() <= slots {
            return;
        }
        scratch.best.widen(asked.min(ids.len()));
        // Those that are in the answer stay there with the vector they had.
        let mut known = std::mem::take(&mut scratch.picked);
        known.clear();
        known.extend(scratch.best.entries().iter().filter_map(|key| ids.get(key_slot(*key) as usize)));
        known.sort_unstable();
        for (slot, id) in (slots as u32..).zip(&ids[slots..]) {
            // One that is replaced by another of these leaves it to that one; one that is not
            // yet its identifier's counts for nothing.
            let now = self.generation.slot_of(*id);
            let counts = now.is_some_and(|now| now == slot || now as usize >= ids.len());
            if counts
                && self.allowed.is_none_or(|allowed| allowed.contains(*id))
                && let Err(at) = known.binary_search(id)
            {
                known.insert(at, *id);
                self.compare(kernels, &[slot], scratch);
            }
        }
        scratch.picked = known;
    }

    fn admits(&self, slot: u32) -> bool {
        self.generation.is_live(slot)
            && self.allowed.is_none_or(|allowed| {
                self.generation.ids().get(slot as usize).is_some_and(|id| allowed.contains(*id))
            })
    }

    /// Searches the graph. False when it could not be entered: its entry has just become a
    /// node that was linked after this search began.
    fn walk(
        &self,
        kernels: &'static dyn Kernels,
        graph: &Graph,
        settled: usize,
        ef: usize,
        scratch: &mut Scratch,
    ) -> bool {
        let codes = self.generation.codes();
        let Scratch { query, walk, .. } = scratch;
        let walker = Walk { kernels, codes, query, ef };
        // Dead slots alone need no second list: the plan made this one longer by as much as
        // they take, and there is room to spare unless nearly all of it is wanted.
        let none_dead = self.generation.live() == self.generation.len();
        let plain = self.allowed.is_none() && (none_dead || self.ef >= 2 * self.wanted);
        if plain {
            walker.run(graph, settled, 0, walk);
        } else {
            walker.run_where(graph, settled, walk, self.ef, |slot| self.admits(slot));
        }
        Walk::list_members(graph, settled, walk, !plain, |slot| self.admits(slot));
        scratch.work.walked += walk.scored;
        let entered = !walk.pool.entries().is_empty();
        let found = if plain { &mut walk.pool } else { &mut walk.passing };
        let found = std::mem::take(found);
        let spread = CODE_SPREAD * codes.scalar().error();
        for block in found.entries().chunks(EXACT) {
            // Best first: when the first of a block cannot make it, nothing behind it can.
            let hopeless = |best: f32| scratch.best.bound().is_some_and(|bound| best + spread < bound);
            if hopeless(key_score(block[0])) {
                break;
            }
            let mut slots = [0; EXACT];
            let mut count = 0;
            for slot in block.iter().map(|key| key_slot(*key)) {
                if self.generation.is_live(slot) {
                    slots[count] = slot;
                    count += 1;
                }
            }
            self.compare(kernels, &slots[..count], scratch);
        }
        let place = if plain { &mut scratch.walk.pool } else { &mut scratch.walk.passing };
        *place = found;
        entered
    }

    /// Compares every allowed slot exactly: for few.
    fn compare_all(&self, kernels: &'static dyn Kernels, slots: usize, scratch: &mut Scratch) {
        let mut picked = std::mem::take(&mut scratch.picked);
        self.pick(0, slots, &mut picked);
        for block in picked.chunks(EXACT) {
            self.compare(kernels, block, scratch);
        }
        scratch.picked = picked;
    }

    /// Estimates slots from their sign bits and compares exactly what may be among the best.
    ///
    /// The best estimates are compared first; the last of the best so far is then a bound.
    /// A slot whose estimate lies below it by more than the spread is left out.
    fn scan(
        &self,
        kernels: &'static dyn Kernels,
        first: Pass,
        from: usize,
        slots: usize,
        scratch: &mut Scratch,
    ) {
        if from >= slots {
            return;
        }
        let mut estimates = std::mem::take(&mut scratch.estimates);
        let mut picked = std::mem::take(&mut scratch.picked);
        match first {
            Pass::Codes => self.estimate_codes(kernels, from..slots, scratch, &mut picked, &mut estimates),
            Pass::Bits => self.estimate_bits(kernels, from..slots, scratch, &mut picked, &mut estimates),
        }
        scratch.work.scanned += estimates.len();
        let filtered = self.allowed.is_some() || first == Pass::Codes;
        let slot_at = |at: usize| if filtered { picked[at] } else { (from + at) as u32 };

        // After a walk there is a bound already.
        if scratch.best.bound().is_none() {
            let mut leaders = std::mem::take(&mut scratch.walk.passing);
            leaders.reset(self.wanted);
            let mut least = f32::MIN;
            each_above(kernels, &estimates, |at, estimate| {
                if estimate > least {
                    leaders.insert(estimate, at as u32);
                    least = leaders.bound().unwrap_or(least);
                }
                least
            });
            for block in leaders.entries().chunks(EXACT) {
                let mut slots = [0; EXACT];
                slots.iter_mut().zip(block).for_each(|(slot, key)| *slot = slot_at(key_slot(*key) as usize));
                self.compare(kernels, &slots[..block.len()], scratch);
                // Each once.
                block.iter().for_each(|key| estimates[key_slot(*key) as usize] = f32::NEG_INFINITY);
            }
            scratch.walk.passing = leaders;
        }

        let mut least = scratch.least(first.spread(self.generation));
        let mut waiting = std::mem::take(&mut scratch.waiting);
        waiting.clear();
        each_above(kernels, &estimates, |at, estimate| {
            if estimate >= least {
                waiting.push(slot_at(at));
                if waiting.len() == REFINED {
                    self.refine(kernels, first, &waiting, scratch);
                    least = scratch.least(first.spread(self.generation));
                    waiting.clear();
                }
            }
            least
        });
        self.refine(kernels, first, &waiting, scratch);
        scratch.waiting = waiting;
        scratch.estimates = estimates;
        scratch.picked = picked;
    }

    /// Compares those of up to [`REFINED`] slots exactly that a better estimate does not
    /// rule out.
    fn refine(&self, kernels: &'static dyn Kernels, first: Pass, slots: &[u32], scratch: &mut Scratch) {
        let codes = self.generation.codes();
        let spread = Pass::Codes.spread(self.generation);
        let mut dots = [0; REFINED];
        let mut estimates = [f32::INFINITY; REFINED];
        let (dots, estimates) = (&mut dots[..slots.len()], &mut estimates[..slots.len()]);
        if first == Pass::Bits {
            codes.estimate(kernels, &scratch.query, slots, dots, estimates);
        }
        let mut block = [0; EXACT];
        let mut count = 0;
        let mut least = scratch.least(spread);
        for (slot, estimate) in slots.iter().zip(estimates) {
            if *estimate >= least {
                block[count] = *slot;
                count += 1;
                if count == EXACT {
                    self.compare(kernels, &block, scratch);
                    least = scratch.least(spread);
                    count = 0;
                }
            }
        }
        self.compare(kernels, &block[..count], scratch);
    }

    /// Picks out the slots of a range that may be found, and estimates them from their codes.
    fn estimate_codes(
        &self,
        kernels: &'static dyn Kernels,
        range: Range<usize>,
        scratch: &mut Scratch,
        picked: &mut Vec<u32>,
        estimates: &mut Vec<f32>,
    ) {
        let Scratch { query, dots, .. } = scratch;
        self.pick(range.start, range.end, picked);
        dots.resize(picked.len(), 0);
        estimates.clear();
        estimates.resize(picked.len(), 0.0);
        self.generation.codes().estimate(kernels, query, picked, dots, estimates);
    }

    /// Estimates all slots of a range from their sign bits, or those of it that are allowed,
    /// which are picked out then. Dead slots get an estimate below every other.
    fn estimate_bits(
        &self,
        kernels: &'static dyn Kernels,
        Range { start: from, end: slots }: Range<usize>,
        scratch: &mut Scratch,
        picked: &mut Vec<u32>,
        estimates: &mut Vec<f32>,
    ) {
        let Scratch { query, sums, .. } = scratch;
        query.prepare_bits();
        let rows = self.generation.bit_rows();
        estimates.clear();
        if self.allowed.is_some() {
            self.pick(from, slots, picked);
            for block in picked.chunks(BLOCK) {
                query.gather_bits(kernels, rows, block, sums, estimates);
            }
            return;
        }
        for start in (from..slots).step_by(BLOCK) {
            let count = BLOCK.min(slots - start);
            query.range_bits(kernels, rows, (start as u32, count), sums, estimates);
        }
        for word in from / 64..slots.div_ceil(64) {
            let mut dead = !self.generation.live_word(word);
            while dead != 0 {
                let slot = word * 64 + dead.trailing_zeros() as usize;
                if (from..slots).contains(&slot) {
                    estimates[slot - from] = f32::NEG_INFINITY;
                }
                dead &= dead - 1;
            }
        }
    }

    /// The live and allowed slots of a range.
    fn pick(&self, from: usize, slots: usize, picked: &mut Vec<u32>) {
        picked.clear();
        let range = from as u32..slots as u32;
        let Some(allowed) = self.allowed else {
            picked.extend(range.filter(|slot| self.generation.is_live(*slot)));
            return;
        };
        let places = self.generation.slots_by_id();
        for (word, bits) in allowed.words().iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let id = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                // One less: no place becomes a slot beyond all.
                let slot = places.get(id).map_or(0, |place| place.load(Ordering::Acquire)).wrapping_sub(1);
                if range.contains(&slot) {
                    picked.push(slot);
                }
            }
        }
    }

    /// Compares up to [`EXACT`] slots exactly.
    fn compare(&self, kernels: &'static dyn Kernels, slots: &[u32], scratch: &mut Scratch) {
        let Scratch { best, unit, work, .. } = scratch;
        let mut scores = [0.0; EXACT];
        let scores = &mut scores[..slots.len()];
        kernels.gather_f32(unit, self.generation.vector_rows(), slots, scores);
        work.compared += slots.len();
        for (slot, score) in slots.iter().zip(scores.iter()) {
            best.insert(*score, *slot);
        }
    }
}

/// Calls for every value at or above a bound, which each call gives anew.
fn each_above(kernels: &dyn Kernels, values: &[f32], mut call: impl FnMut(usize, f32) -> f32) {
    const BITS: usize = 64;
    let mut bound = f32::MIN;
    for (number, chunk) in values.chunks(BITS).enumerate() {
        // Without a branch per value: few are left after the first.
        let mut above = kernels.at_least(chunk, bound);
        while above != 0 {
            let offset = above.trailing_zeros() as usize;
            above &= above - 1;
            if chunk[offset] >= bound {
                bound = call(number * BITS + offset, chunk[offset]);
            }
        }
    }
}
