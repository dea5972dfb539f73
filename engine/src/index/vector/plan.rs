//! Which way a search goes: compare all, scan, or walk.
//!
//! The choice is by estimated work, never by a setting. Costs are constants measured once
//! (`cargo bench -p memcards --bench vector_index`) and not on the running machine, so that the
//! same index gives the same answer everywhere.

use crate::index::vector::generation::Generation;

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Compare every allowed vector.
    Exact,
    /// Estimate every allowed slot from sign bits, compare the survivors.
    Scan,
    /// Walk the graph with a list of that length, scan what is not in it.
    Walk {
        /// Length of the list of candidates.
        ef: usize,
    },
}

/// Costs in nanoseconds on the machine of the published figures; only their ratios matter.
const FIXED_SCAN: f32 = 2_500.0;
const COMPARE: f32 = 25.0;
/// Per slot in sequence, per allowed slot picked out.
const SCAN_NEXT: f32 = 2.0;
const SCAN_PICKED: f32 = 5.0;
/// Per entry of the candidate list of a walk.
const WALK: f32 = 220.0;
/// A list is lengthened by no more than this; beyond it a scan is better.
const MOST_FACTOR: f32 = 16.0;

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
    let scan = FIXED_SCAN + if filtered { SCAN_PICKED * count } else { SCAN_NEXT * slots as f32 };
    let exact = COMPARE * count;
    let settled = generation.graph().map_or(0, |graph| graph.settled());
    if settled > 0 {
        let share = (count / slots as f32).clamp(1e-6, 1.0);
        // The list must hold enough that passes.
        let factor = share.recip();
        let walk_ef = ((ef.max(wanted) as f32) * factor.min(MOST_FACTOR)) as usize;
        let walk = WALK * walk_ef as f32 + SCAN_NEXT * (slots - settled.min(slots)) as f32;
        if factor <= MOST_FACTOR && walk < scan.min(exact) {
            return Plan::Walk { ef: walk_ef };
        }
    }
    if exact <= scan { Plan::Exact } else { Plan::Scan }
}
