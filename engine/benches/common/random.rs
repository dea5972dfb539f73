//! A small deterministic generator; the benchmarks need no better.

/// Its state, which must not be 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as usize * bound) >> 32
    }
}
