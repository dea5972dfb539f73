//! The same graph in other memory: with more room, or without what was removed.

use crate::index::vector::codes::Codes;
use crate::index::vector::graph::build::{Found, diverse, in_parallel};
use crate::index::vector::graph::{BASE_LINKS, Graph, LINKS};
use crate::index::vector::kernels::Kernels;
use crate::index::vector::sync::Ordering;

/// Marks a slot that is not in the copy.
pub(crate) const GONE: u32 = u32::MAX;

/// True for an old slot that has a new one.
fn is_kept(renumbered: &[u32], slot: u32) -> bool {
    renumbered.get(slot as usize).is_some_and(|new| *new != GONE)
}

impl Graph {
    /// The same graph with room for more nodes. Nobody may add nodes meanwhile.
    pub(crate) fn with_capacity(&self, capacity: usize) -> Self {
        let new = Self::new(capacity, self.seed);
        let nodes = self.settled();
        let used = self.upper_used.load(Ordering::Acquire);
        for (old, new, count) in [
            (&self.base, &new.base, nodes * BASE_LINKS),
            (&self.upper_at, &new.upper_at, nodes),
            (&self.upper, &new.upper, used * LINKS),
        ] {
            for (from, to) in old.cells().iter().zip(new.cells()).take(count) {
                to.store(from.load(Ordering::Acquire), Ordering::Release);
            }
        }
        new.upper_used.store(used, Ordering::Release);
        new.entry.store(self.entry.load(Ordering::Acquire), Ordering::Release);
        new.settled.store(nodes, Ordering::Release);
        new
    }

    /// The graph of the nodes that are kept: `codes` are those of the old slots,
    /// `renumbered` gives each its new one, in
    /// the same order, or [`GONE`]. A node that loses neighbours is offered theirs instead
    /// (Singh et al., FreshDiskANN, 2021). Nobody may add nodes meanwhile.
    pub(crate) fn repaired(
        &self,
        kernels: &'static dyn Kernels,
        codes: &Codes,
        renumbered: &[u32],
        capacity: usize,
        threads: usize,
    ) -> Self {
        let new = Self::new(capacity, self.seed);
        let nodes_of_members = self.nodes_of_members(self.settled());
        // Per old node the slot that has its links from now on: its own, or that of the first
        // of its members that is kept.
        let mut heirs = renumbered.to_vec();
        let mut members = Vec::new();
        // Per new slot the old node whose links it takes over.
        let mut sources = Vec::new();
        for old in (0..self.settled() as u32).filter(|old| is_kept(renumbered, *old)) {
            let slot = sources.len() as u32;
            let node = nodes_of_members.get(old as usize).copied().filter(|node| *node != GONE);
            sources.push(match node {
                None => old,
                Some(node) if is_kept(&heirs, node) => {
                    members.push((heirs[node as usize], slot));
                    GONE
                }
                Some(node) => {
                    heirs[node as usize] = slot;
                    node
                }
            });
        }
        let mut highest: Option<(usize, u32)> = None;
        for (slot, source) in (0u32..).zip(&sources).filter(|(_, source)| **source != GONE) {
            let level = self.level(*source);
            new.reserve_upper(slot, level);
            if highest.is_none_or(|(most, _)| level > most) {
                highest = Some((level, slot));
            }
        }
        in_parallel(threads, &mut sources, |builder, slot, source| {
            if *source == GONE {
                return;
            }
            for level in 0..=self.level(*source) {
                let found = &mut builder.candidates;
                let whole = self.replacements((kernels, codes), *source, level, &heirs, found);
                let kept = match whole {
                    true => &builder.candidates,
                    false => {
                        let most = if level == 0 { BASE_LINKS } else { LINKS };
                        let (candidates, chosen) = (&builder.candidates, &mut builder.chosen);
                        diverse(kernels, codes, candidates, most, chosen);
                        &builder.chosen
                    }
                };
                let slots = kept.iter().map(|found| heirs[found.slot as usize]);
                new.set_neighbours(slot as u32, level, slots);
            }
        });
        members.into_iter().for_each(|(node, member)| new.list_member(node, member));
        if let Some((level, slot)) = highest {
            new.set_entry(slot, level);
        }
        new.settled.store(sources.len(), Ordering::Release);
        new
    }

    /// Neighbours of an old slot that are kept, and those of its neighbours that are not, best
    /// first. True when none was lost: then they are in their old order, unscored.
    fn replacements(
        &self,
        (kernels, codes): (&'static dyn Kernels, &Codes),
        slot: u32,
        level: usize,
        heirs: &[u32],
        found: &mut Vec<Found>,
    ) -> bool {
        let is_kept = |slot: u32| is_kept(heirs, slot);
        found.clear();
        let add = |found: &mut Vec<Found>, other: u32| {
            if other != slot && is_kept(other) && found.iter().all(|known| known.slot != other) {
                found.push(Found { score: 0.0, slot: other });
            }
        };
        self.neighbours(slot, level).for_each(|neighbour| add(found, neighbour));
        let mut whole = true;
        for lost in self.neighbours(slot, level).filter(|neighbour| !is_kept(*neighbour)) {
            whole = false;
            self.neighbours(lost, level).for_each(|neighbour| add(found, neighbour));
        }
        let Some(code) = codes.code(slot).filter(|_| !whole) else { return whole };
        for candidate in found.iter_mut() {
            if let Some(other) = codes.code(candidate.slot) {
                candidate.score = codes.scalar().pair(kernels, code, other);
            }
        }
        found.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.slot.cmp(&b.slot)));
        false
    }
}
