//! Sets of row numbers inside one partition.
//!
//! A row is a slot of a partition (0, 1, 2, … in order of insertion). This module knows
//! nothing of cards; it is the bitmap that filters and the liveness of rows share.

/// A growable set of row numbers, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// A set that holds every row below `rows`.
    pub fn full(rows: usize) -> Self {
        let mut set = Self { words: vec![u64::MAX; rows.div_ceil(64)] };
        if let Some(last) = set.words.last_mut()
            && !rows.is_multiple_of(64)
        {
            *last = (1u64 << (rows % 64)) - 1;
        }
        set
    }

    /// Adds a row; true when it was not there before.
    pub fn insert(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, row % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let before = self.words[word];
        self.words[word] |= 1 << bit;
        before != self.words[word]
    }

    /// Removes a row; true when it was there.
    pub fn remove(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, row % 64);
        let Some(slot) = self.words.get_mut(word) else { return false };
        let before = *slot;
        *slot &= !(1 << bit);
        before != *slot
    }

    /// True when the row is in the set.
    #[inline]
    pub fn contains(&self, row: u32) -> bool {
        self.words.get(row as usize / 64).is_some_and(|w| w >> (row % 64) & 1 == 1)
    }

    /// How many rows are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// True when no row is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// The bits of all rows, 64 to a word, as far as any is set.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The rows in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| i as u32 * 64 + w.trailing_zeros())
        })
    }
}

impl FromIterator<u32> for RowSet {
    fn from_iter<I: IntoIterator<Item = u32>>(rows: I) -> Self {
        let mut set = Self::new();
        rows.into_iter().for_each(|row| {
            set.insert(row);
        });
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order_without_repeats() {
        let set: RowSet = [130, 0, 63, 64, 64, 1].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 1, 63, 64, 130]);
        assert_eq!(set.len(), 5);
        assert!(!set.contains(5000));
    }

    #[test]
    fn full_holds_exactly_the_rows_below_its_bound() {
        for n in [0usize, 1, 63, 64, 65, 200] {
            let set = RowSet::full(n);
            assert_eq!(set.len(), n);
            assert!(!set.contains(n as u32));
        }
    }
}
