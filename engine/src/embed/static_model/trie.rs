//! The piece table: a double-array trie over the bytes of the pieces, read in place.
//!
//! A unit is a little-endian `u32`: the low 8 bits repeat the byte that leads to it, bit 8
//! says that a piece ends here, and the upper 23 bits are the base of its children. The
//! child over byte `b` is at `base ^ b`; the child over byte 0 is the number of the piece
//! that ends here (in the upper 23 bits). No two units share a base, so that the repeated
//! byte alone tells a child from a stranger. Pieces hold no byte 0, and an empty unit is
//! all zero, so neither can be taken for a child.

use crate::{Error, Result};

/// Largest base, and with it largest number of units and of pieces.
pub(super) const UNIT_LIMIT: usize = 1 << 23;

const ENDS_HERE: u32 = 1 << 8;

/// A trie over borrowed units. Any bytes are safe to search, if perhaps useless.
#[derive(Clone, Copy)]
pub(super) struct Trie<'a> {
    units: &'a [[u8; 4]],
}

impl<'a> Trie<'a> {
    pub(super) fn new(units: &'a [[u8; 4]]) -> Self {
        Trie { units }
    }

    fn unit(self, index: u32) -> u32 {
        self.units.get(index as usize).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Calls `found(length in bytes, piece)` for every piece that `text` begins with,
    /// shortest first, looking at no more than the first `longest` bytes.
    #[inline]
    pub(super) fn prefixes(self, text: &[u8], longest: usize, mut found: impl FnMut(usize, u32)) {
        let mut unit = self.unit(0);
        for (position, &byte) in text.iter().take(longest).enumerate() {
            unit = self.unit((unit >> 9) ^ u32::from(byte));
            if unit & 0xff != u32::from(byte) {
                return;
            }
            if unit & ENDS_HERE != 0 {
                found(position + 1, self.unit(unit >> 9) >> 9);
            }
        }
    }

    /// The piece that is exactly `text`.
    pub(super) fn get(self, text: &[u8]) -> Option<u32> {
        let mut piece = None;
        self.prefixes(text, text.len(), |length, candidate| {
            if length == text.len() {
                piece = Some(candidate);
            }
        });
        piece
    }

    /// How many units end a piece.
    pub(super) fn ends(self) -> usize {
        self.units.iter().filter(|bytes| u32::from_le_bytes(**bytes) & ENDS_HERE != 0).count()
    }
}

/// The units of a trie over `pieces`, which are non-empty, distinct and free of byte 0.
pub(super) fn build(mut pieces: Vec<(&[u8], u32)>) -> Result<Vec<u32>> {
    pieces.sort_unstable();
    let mut builder = Builder { units: vec![0], taken: vec![true], base_used: vec![true], first_free: 1 };
    // Breadth first: the upper levels, which every search crosses, end up close together.
    let mut level = vec![(0_usize, 0_usize..pieces.len())];
    let mut depth = 0;
    while !level.is_empty() {
        let mut next_level = Vec::new();
        for (parent, range) in level {
            builder.place(parent, &pieces, range, depth, &mut next_level)?;
        }
        level = next_level;
        depth += 1;
    }
    let used = builder.taken.iter().rposition(|taken| *taken).map_or(1, |last| last + 1);
    builder.units.truncate(used);
    Ok(builder.units)
}

struct Builder {
    units: Vec<u32>,
    taken: Vec<bool>,
    base_used: Vec<bool>,
    first_free: usize,
}

impl Builder {
    /// Places the children of `parent`, which stands for the first `depth` bytes that the
    /// pieces in `range` have in common.
    fn place(
        &mut self,
        parent: usize,
        pieces: &[(&[u8], u32)],
        range: std::ops::Range<usize>,
        depth: usize,
        next_level: &mut Vec<(usize, std::ops::Range<usize>)>,
    ) -> Result<()> {
        let mut children: Vec<(u8, std::ops::Range<usize>)> = Vec::new();
        for index in range {
            let byte = pieces[index].0.get(depth).copied().unwrap_or(0);
            match children.last_mut() {
                Some((last, group)) if *last == byte => group.end = index + 1,
                _ => children.push((byte, index..index + 1)),
            }
        }
        let Some(first_byte) = children.first().map(|(byte, _)| usize::from(*byte)) else {
            return Ok(());
        };

        let mut candidate = self.first_free;
        let base = loop {
            let base = candidate ^ first_byte;
            self.grow((candidate | 0xff) + 1)?;
            let fits = !self.taken[candidate]
                && !self.base_used[base]
                && children.iter().all(|(byte, _)| !self.taken[base ^ usize::from(*byte)]);
            if fits {
                break base;
            }
            candidate += 1;
        };

        self.base_used[base] = true;
        self.units[parent] |= (base as u32) << 9;
        for (byte, group) in children {
            let index = base ^ usize::from(byte);
            self.taken[index] = true;
            if byte == 0 {
                self.units[parent] |= ENDS_HERE;
                self.units[index] = pieces[group.start].1 << 9;
            } else {
                self.units[index] = u32::from(byte);
                next_level.push((index, group));
            }
        }
        while self.taken.get(self.first_free).copied().unwrap_or(false) {
            self.first_free += 1;
        }
        Ok(())
    }

    fn grow(&mut self, length: usize) -> Result<()> {
        if length > UNIT_LIMIT {
            return Err(Error::invalid("pieces", format!("they need more than {UNIT_LIMIT} trie units")));
        }
        if length > self.units.len() {
            self.units.resize(length, 0);
            self.taken.resize(length, false);
            self.base_used.resize(length, false);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_found_and_nothing_else() {
        let pieces = ["a", "ab", "abcd", "b", "é", "学", "学习", "▁学", "\u{10ffff}"];
        let numbered = pieces.iter().zip(7..).map(|(piece, id)| (piece.as_bytes(), id)).collect();
        let units: Vec<[u8; 4]> =
            build(numbered).expect("it fits").into_iter().map(u32::to_le_bytes).collect();
        let trie = Trie::new(&units);
        for (piece, id) in pieces.iter().zip(7..) {
            assert_eq!(trie.get(piece.as_bytes()), Some(id), "{piece}");
        }
        for stranger in ["", "abc", "c", "ba", "学习习", "▁", "\u{0}", "a\u{0}"] {
            assert_eq!(trie.get(stranger.as_bytes()), None, "{stranger:?}");
        }
        assert_eq!(trie.ends(), pieces.len());

        let mut found = Vec::new();
        trie.prefixes(b"abcde", 3, |length, id| found.push((length, id)));
        assert_eq!(found, [(1, 7), (2, 8)], "the piece of four bytes is beyond the limit");
    }
}
