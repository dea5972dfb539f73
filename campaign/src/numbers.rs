//! Numbers that look random and depend on nothing but their seed.
//!
//! Every choice of the campaign comes from here, so that a seed is all it takes to see a
//! failure again.

/// A sequence of numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A sequence of its own for one part of what a seed decides.
    pub fn part(seed: u64, part: u64) -> Self {
        let mut numbers = Self(seed ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let seed = numbers.any();
        Self(seed)
    }

    /// The next number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.any() % end as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// True with a chance of so many percent.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.any() % 100 < percent
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        match from.len() {
            0 => None,
            len => from.get(self.below(len)),
        }
    }
}
