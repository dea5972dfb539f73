//! The best candidates of a walk, in order.

/// A sorted list of bounded length: the best first, each expanded once.
///
/// An entry is one number: the score in the high half, made so that greater means better,
/// then the slot, then whether it was expanded.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    entries: Vec<u64>,
    capacity: usize,
    /// Before it everything is expanded.
    cursor: usize,
}

/// A score as a number that compares alike.
#[inline]
fn ordered(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// The score of an entry.
#[inline]
pub(crate) fn key_score(key: u64) -> f32 {
    let bits = (key >> 32) as u32;
    f32::from_bits(if bits >> 31 == 1 { bits & !(1 << 31) } else { !bits })
}

/// The slot of an entry.
#[inline]
pub(crate) fn key_slot(key: u64) -> u32 {
    key as u32 >> 1
}

impl Pool {
    /// Forgets everything; keeps the memory.
    pub(crate) fn reset(&mut self, capacity: usize) {
        self.entries.clear();
        self.entries.reserve(capacity + 1);
        self.capacity = capacity;
        self.cursor = 0;
    }

    /// Makes room for more entries; those that are there stay.
    pub(crate) fn widen(&mut self, capacity: usize) {
        self.capacity = self.capacity.max(capacity);
    }

    /// Takes a candidate in, if it is among the best. True when it is the one to expand
    /// next.
    #[inline]
    pub(crate) fn insert(&mut self, score: f32, slot: u32) -> bool {
        let key = u64::from(ordered(score)) << 32 | u64::from(slot) << 1;
        if self.entries.len() >= self.capacity {
            if self.entries.last().is_none_or(|worst| key <= *worst) {
                return false;
            }
            self.entries.pop();
        }
        let at = self.entries.partition_point(|entry| *entry > key);
        self.entries.insert(at, key);
        if at <= self.cursor {
            self.cursor = at;
            return true;
        }
        false
    }

    /// The best candidate that was not expanded yet; from now on it is.
    #[inline]
    pub(crate) fn expand(&mut self) -> Option<u32> {
        while let Some(entry) = self.entries.get_mut(self.cursor) {
            self.cursor += 1;
            if *entry & 1 == 0 {
                *entry |= 1;
                return Some(key_slot(*entry));
            }
        }
        None
    }

    /// The candidate that [`Pool::expand`] will give next, as far as is known.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u32> {
        self.entries[self.cursor.min(self.entries.len())..]
            .iter()
            .find(|entry| **entry & 1 == 0)
            .map(|entry| key_slot(*entry))
    }

    /// All entries, best first; read them by [`key_score`] and [`key_slot`].
    pub(crate) fn entries(&self) -> &[u64] {
        &self.entries
    }

    /// The score of the last entry of a full pool.
    pub(crate) fn bound(&self) -> Option<f32> {
        (self.entries.len() >= self.capacity)
            .then(|| self.entries.last().map(|key| key_score(*key)))
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The pool keeps the best of all that came, in order.
        #[test]
        fn the_best_stay(scores in prop::collection::vec(-1f32..1.0, 0..200), capacity in 1usize..40) {
            let mut pool = Pool::default();
            pool.reset(capacity);
            for (slot, score) in scores.iter().enumerate() {
                pool.insert(*score, slot as u32);
            }
            let mut expected: Vec<(f32, u32)> =
                scores.iter().enumerate().map(|(slot, score)| (*score, slot as u32)).collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            expected.truncate(capacity);
            let kept: Vec<_> =
                pool.entries().iter().map(|key| (key_score(*key), key_slot(*key))).collect();
            prop_assert_eq!(kept, expected.clone());
            let expanded: Vec<u32> = std::iter::from_fn(|| pool.expand()).collect();
            prop_assert_eq!(expanded, expected.into_iter().map(|(_, slot)| slot).collect::<Vec<_>>());
        }
    }
}
