//! Distance kernels of the vector index: pairs of vectors, and one query against many rows.
//!
//! [`kernels`] gives the best implementation this CPU can run; it is found once. The batch
//! calls exist so that dispatch, checks and the reduction of vector registers are paid per
//! batch, and so that prefetching lives inside.
//!
//! Every call is sound for every input: slices may be unaligned, empty and of any length up
//! to [`MAXIMUM_LENGTH`]. A call whose arguments do not fit together (unequal lengths, a row
//! number out of range) panics before it reads anything.
//!
//! Implementations: AVX-512 with VNNI and BITALG, AVX2 with FMA, `simsimd` for pairs where neither is
//! there (on AArch64 it has NEON; batches are then plain loops that the compiler vectorises),
//! and plain Rust. All integer results are exact and equal among them; sums of floats
//! differ in the last bits.

mod bf16;
mod bits;
mod nibbles;
mod portable;
mod scalar;
mod transform;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub use bf16::Bf16;
pub use bits::BitQuery;
pub use nibbles::{arrange_query_u4, arrange_query_u4_into, pack_u4, packed_u4_length, unpack_u4};

/// Longest vector: up to here every integer sum fits its 32 bits.
pub const MAXIMUM_LENGTH: usize = 65_536;

/// Rows of codes in one flat allocation: row `r` is `data[r * stride..r * stride + length]`.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    /// All rows.
    pub data: &'a [T],
    /// Elements from the start of one row to the start of the next, at least `length`.
    pub stride: usize,
    /// Elements of one row.
    pub length: usize,
}

impl<'a, T> Rows<'a, T> {
    /// How many rows there are; the last one need not be followed by its padding.
    ///
    /// # Panics
    /// When the stride is shorter than a row.
    #[inline(always)]
    pub fn count(&self) -> usize {
        assert!(
            self.stride >= self.length,
            "stride {} is shorter than a row of {}",
            self.stride,
            self.length
        );
        match self.data.len().checked_sub(self.length) {
            None => 0,
            // Without a stride all rows are the same empty one.
            Some(room) => room.checked_div(self.stride).map_or(usize::MAX, |last| last + 1),
        }
    }

    /// One row.
    ///
    /// # Panics
    /// When there is no such row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [T] {
        &self.data[row * self.stride..][..self.length]
    }
}

/// One implementation of all kernels.
///
/// Distances are squared Euclidean distances. Lengths are at most [`MAXIMUM_LENGTH`]
/// dimensions. Methods on pairs panic when the slices differ in length; the `gather` methods
/// panic when a row number is out of range, when `ids` and `out` differ in length, or when
/// the query does not fit the rows.
pub trait Kernels: Send + Sync {
    /// Name of the implementation, for reports.
    fn name(&self) -> &'static str;

    /// Dot product.
    fn dot_f32(&self, a: &[f32], b: &[f32]) -> f32;
    /// Squared distance.
    fn l2_f32(&self, a: &[f32], b: &[f32]) -> f32;
    /// Dot product, summed in f32. Subnormal elements may count as zero.
    fn dot_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32;
    /// Squared distance, summed in f32.
    fn l2_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32;
    /// Exact dot product.
    fn dot_i8(&self, a: &[i8], b: &[i8]) -> i32;
    /// Exact squared distance.
    fn l2_i8(&self, a: &[i8], b: &[i8]) -> u32;
    /// Exact dot product of two 8-bit codes.
    fn dot_u8(&self, a: &[u8], b: &[u8]) -> u32;
    /// Exact dot product of two codes of [`pack_u4`].
    fn dot_u4(&self, a: &[u8], b: &[u8]) -> u32;

    /// `out[i]` = dot product of the query and row `ids[i]`.
    fn gather_f32(&self, query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]);
    /// `out[i]` = exact sum of code times query over row `ids[i]`.
    fn gather_u8(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]);
    /// `out[i]` = exact sum of code times query over row `ids[i]`; rows are codes of
    /// [`pack_u4`], the query comes from [`arrange_query_u4`] and is twice as long as a row.
    fn gather_u4(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]);
    /// `out[i]` = sum of the query's values where row `ids[i]` has a set bit. A row starts
    /// with the bits and may carry other data after them.
    fn gather_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]);
    /// The same for the rows `from..from + out.len()`.
    fn range_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]);

    /// The Walsh–Hadamard transform in place, not normalised: each of the log2(n) steps
    /// replaces pairs by their sums and differences. The same bits from every implementation.
    ///
    /// # Panics
    /// Unless the length is a power of two.
    fn hadamard(&self, values: &mut [f32]) {
        check_hadamard(values);
        transform::hadamard(values);
    }
    /// Writes a vector brought to unit length; false when it has no direction, and `out` is
    /// of no use then. The same bits from every implementation.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn normalize(&self, values: &[f32], out: &mut [f32]) -> bool {
        check_pair(values, out);
        transform::normalize(values, out)
    }
    /// Multiplies values by factors, one by one.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn multiply(&self, values: &mut [f32], factors: &[f32]) {
        check_pair(values, factors);
        transform::multiply(values, factors);
    }
    /// Which values are at or above a bound: one bit each, the first one the lowest.
    ///
    /// # Panics
    /// When there are more than 64.
    fn at_least(&self, values: &[f32], bound: f32) -> u64 {
        check_at_least(values);
        transform::at_least(values, bound)
    }
    /// How many bits are set.
    fn count_ones(&self, words: &[u64]) -> usize {
        transform::count_ones(words)
    }

    /// Cosine; 0 when one of the vectors is zero.
    fn cosine_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        cosine(self.dot_f32(a, b), self.dot_f32(a, a), self.dot_f32(b, b))
    }
    /// Cosine; 0 when one of the vectors is zero.
    fn cosine_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        cosine(self.dot_bf16(a, b), self.dot_bf16(a, a), self.dot_bf16(b, b))
    }
}

fn cosine(dot: f32, a: f32, b: f32) -> f32 {
    // Square roots apart: the product of two squared norms leaves f32 sooner.
    let norms = a.sqrt() * b.sqrt();
    if norms > 0.0 { (dot / norms).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The best implementation that this CPU can run.
pub fn kernels() -> &'static dyn Kernels {
    static BEST: OnceLock<&'static dyn Kernels> = OnceLock::new();
    *BEST.get_or_init(|| all_kernels().pop().unwrap_or(&scalar::Scalar))
}

/// Every implementation that this CPU can run, plain Rust first, best last.
pub fn all_kernels() -> Vec<&'static dyn Kernels> {
    let mut all: Vec<&'static dyn Kernels> = vec![&scalar::Scalar, &portable::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(avx2::detect());
        all.extend(avx512::detect());
    }
    all
}

/// Panics unless the length is a power of two.
#[inline(always)]
fn check_hadamard(values: &[f32]) {
    assert!(values.len().is_power_of_two(), "a transform of {} values", values.len());
}

/// Panics unless every value has a bit.
#[inline(always)]
fn check_at_least(values: &[f32]) {
    assert!(values.len() <= 64, "{} values for 64 bits", values.len());
}

/// Panics unless the two vectors have one admissible length.
#[inline(always)]
fn check_pair<T>(a: &[T], b: &[T]) {
    assert!(a.len() == b.len(), "vectors of {} and {} elements", a.len(), b.len());
    assert!(a.len() <= MAXIMUM_LENGTH, "vector of {} elements", a.len());
}

/// Panics unless the query has `expected` elements, at most [`MAXIMUM_LENGTH`], and every
/// id is the number of a row and has a place in `out`.
#[inline(always)]
fn check_gather<T>(query: usize, expected: usize, rows: &Rows<'_, T>, ids: &[u32], out: usize) {
    assert!(query == expected, "query of {query} elements for rows that take {expected}");
    assert!(query <= MAXIMUM_LENGTH, "query of {query} elements");
    assert!(ids.len() == out, "{} rows, {out} results", ids.len());
    if let Some(&highest) = ids.iter().max() {
        let count = rows.count();
        assert!((highest as usize) < count, "row {highest} of {count}");
    }
}

/// Panics unless every row holds the query's bits and every id is the number of a row and
/// has a place in `out`.
#[inline(always)]
fn check_gather_bits(query: &BitQuery, rows: &Rows<'_, u8>, ids: &[u32], out: usize) {
    check_bits(query, rows);
    check_gather(0, 0, rows, ids, out);
}

/// Panics unless every row holds the query's bits and `from..from + out` are rows.
#[inline(always)]
fn check_range_bits(query: &BitQuery, rows: &Rows<'_, u8>, from: u32, out: usize) {
    check_bits(query, rows);
    let count = rows.count();
    let from = from as usize;
    assert!(out == 0 || (from < count && out <= count - from), "rows {from}..{from}+{out} of {count}");
}

#[inline(always)]
fn check_bits(query: &BitQuery, rows: &Rows<'_, u8>) {
    assert!(
        query.words() * 8 <= rows.length,
        "query of {} words for rows of {} bytes",
        query.words(),
        rows.length
    );
}
