//! Which way a search goes: compare all, scan, or walk.
//!
//! The choice is by estimated work, never by a setting. Costs are constants measured once
//! (`cargo bench -p memcards --bench vector_index`) and not on the running machine, so that the
//! same index gives the same answer everywhere.

use crate::index::vector::generation::Generation;
use crate::index::vector::search::Pass;

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Compare every allowed vector.
    Exact,
    /// Estimate every allowed slot, compare the survivors.
    Scan(Pass),
    /// Walk the graph with a list of that length, scan what is not in it.
    Walk {
        /// Length of the list of candidates.
        ef: usize,
    },
}

/// Costs in nanoseconds for 384 dimensions; only their ratios matter.
const COMPARE: f32 = 80.0;
/// Rotating and coding the query.
const FIXED: f32 = 500.0;
/// Per slot whose code is looked at, and comparisons that follow.
const CODE: f32 = 20.0;
const AFTER_CODES: f32 = 16.0 * COMPARE;
/// Per slot whose sign bits are looked at in sequence, or picked out; codes and comparisons
/// that follow.
const BITS_NEXT: f32 = 2.5;
const BITS_PICKED: f32 = 5.0;
const AFTER_BITS: f32 = 100.0 * CODE + AFTER_CODES;
/// Per entry of the candidate list of a walk.
const WALK: f32 = 650.0;
/// A list is lengthened by no more than this; beyond it a scan is better.
const MOST_FACTOR: f32 = 16.0;

#[cfg(test)]
std::thread_local! {
    /// Tests of small graphs walk wherever a walk can find enough.
    pub(crate) static ALWAYS_WALK: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Chooses the way for `candidates` allowed vectors.
pub(crate) fn choose(
    generation: &Generation,
    candidates: usize,
    wanted: usize,
    ef: usize,
    filtered: bool,
) -> Plan {
    let slots = generation.len();
    let count = candidates as f32;
    let bits = if filtered { BITS_PICKED * count } else { BITS_NEXT * slots as f32 };
    let mut best = (COMPARE * count, Plan::Exact);
    let mut offer = |cost: f32, plan: Plan| {
        if cost < best.0 {
            best = (cost, plan);
        }
    };
    offer(FIXED + CODE * count + AFTER_CODES, Plan::Scan(Pass::Codes));
    offer(FIXED + bits + AFTER_BITS, Plan::Scan(Pass::Bits));
    let settled = generation.graph().map_or(0, |graph| graph.settled()).min(slots);
    if settled > 0 {
        // The list must hold enough that passes.
        let factor = slots as f32 / count;
        let longer = (ef.max(wanted) as f32) * factor;
        #[cfg(test)]
        if factor <= MOST_FACTOR && ALWAYS_WALK.get() {
            return Plan::Walk { ef: (longer as usize).min(2 * slots) };
        }
        if factor <= MOST_FACTOR {
            let head = BITS_NEXT * (slots - settled) as f32;
            offer(FIXED + WALK * longer + head, Plan::Walk { ef: longer as usize });
        }
    }
    best.1
}
