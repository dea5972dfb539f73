//! Nodes with equal codes: one of them is linked, the others are listed behind it.
//!
//! Equal vectors would fill each other's neighbour lists and the candidates of every walk
//! that comes by; nothing would lead away from them any more. So only the first of them
//! becomes a node like all others. The rest, its *members*, have neither links nor levels
//! and nobody links to them: a walk steers by nodes alone, and lists the members of the
//! best it has come to at its end.
//!
//! The last cell of a node with members leads to its newest *page*: a member whose own
//! cells hold further members, and whose last cell leads to the page before. Pages are
//! only put in front, so their slots fall from one to the next, and the list is whole at
//! every moment for those who read it beside the thread that adds.

use crate::index::vector::codes::Codes;
use crate::index::vector::graph::{Graph, PAGE};
use crate::index::vector::sync::Ordering;

/// What [`Graph::upper_at`] holds for a member: a level that no node has.
const MEMBER: u32 = 15 << super::LEVEL_SHIFT;

impl Graph {
    /// True for a slot that is listed behind a node with the same code.
    pub(super) fn is_member(&self, slot: u32) -> bool {
        self.upper_at.cells().get(slot as usize).is_some_and(|at| at.load(Ordering::Acquire) == MEMBER)
    }

    /// The newest page behind a node, or the one before a page.
    #[inline]
    fn page_behind(&self, slot: u32) -> Option<u32> {
        let cell = self.cells(slot, 0).last()?.load(Ordering::Acquire);
        (cell & PAGE != 0).then_some(cell & !PAGE)
    }

    /// True for a node with members.
    #[inline]
    pub(super) fn has_members(&self, slot: u32) -> bool {
        self.page_behind(slot).is_some()
    }

    /// Calls for every member of a node, newest page first, until a call gives false.
    pub(super) fn each_member(&self, node: u32, mut call: impl FnMut(u32) -> bool) {
        let mut before = PAGE;
        let mut next = self.page_behind(node);
        // In a damaged file pages may lead anywhere: only forward, so that there is an end.
        while let Some(page) = next.filter(|page| *page < before) {
            if !call(page) || !self.neighbours(page, 0).all(&mut call) {
                return;
            }
            before = page;
            next = self.page_behind(page);
        }
    }

    /// Lists a slot behind a node with the same code. Members of one node come in the order
    /// of their slots, by one thread.
    pub(super) fn list_member(&self, node: u32, member: u32) {
        self.upper_at.cells()[member as usize].store(MEMBER, Ordering::Release);
        if let Some(page) = self.page_behind(node) {
            let members = self.cells(page, 0).split_last().map_or(&[][..], |(_, members)| members);
            if let Some(free) = members.iter().find(|cell| cell.load(Ordering::Relaxed) == 0) {
                free.store(member + 1, Ordering::Release);
                return;
            }
            self.lead_to_page(member, page);
        }
        self.lead_to_page(node, member);
    }

    fn lead_to_page(&self, slot: u32, page: u32) {
        if let Some(cell) = self.cells(slot, 0).last() {
            cell.store(PAGE | page, Ordering::Release);
        }
    }

    /// The node of every member among the first slots; [`super::GONE`] for all others. Empty
    /// when there are none.
    pub(super) fn nodes_of_members(&self, slots: usize) -> Vec<u32> {
        let mut nodes = Vec::new();
        for node in (0..slots as u32).filter(|slot| self.has_members(*slot) && !self.is_member(*slot)) {
            nodes.resize(slots, super::GONE);
            self.each_member(node, |member| match nodes.get_mut(member as usize) {
                // Each belongs to one node; a damaged file may say it twice.
                Some(of) if *of == super::GONE && member != node => {
                    *of = node;
                    true
                }
                _ => false,
            });
        }
        nodes
    }
}

/// True when two slots have the same code: no walk can tell them apart.
pub(super) fn same_code(codes: &Codes, a: u32, b: u32) -> bool {
    match (codes.code(a), codes.code(b)) {
        (Some((a, a_tail)), Some((b, b_tail))) => a_tail.key() == b_tail.key() && a == b,
        _ => false,
    }
}

/// For each of `count` slots from `first` on, the first of them with the same code, itself
/// if there is none before it.
pub(super) fn first_of_equal(codes: &Codes, first: u32, count: usize) -> Vec<u32> {
    let mut firsts: Vec<u32> = (first..first + count as u32).collect();
    let tail = |slot: &u32| codes.code(*slot).map(|(_, tail)| tail.key());
    let mut order = firsts.clone();
    order.sort_unstable_by_key(|slot| (tail(slot), *slot));
    for group in order.chunk_by(|a, b| tail(a) == tail(b)) {
        for (at, slot) in group.iter().enumerate().skip(1) {
            if let Some(equal) = group[..at].iter().find(|other| same_code(codes, **other, *slot)) {
                firsts[(slot - first) as usize] = *equal;
            }
        }
    }
    firsts
}
