//! AVX-512 with VNNI and BITALG: Ice Lake, Zen 4 and newer.
//!
//! Bytes are multiplied by `vpdpbusd`, which takes unsigned times signed and never
//! saturates; where both sides have the same sign, one is shifted by 128 and the shift is
//! taken back with the sum of the other. All 32-bit sums wrap and are exact in the end.

#![allow(unsafe_code)]

mod bits;
mod gather;
mod in_registers;
mod pair;

use super::{
    Bf16, BitQuery, Kernels, Rows, check_at_least, check_gather, check_gather_bits, check_hadamard,
    check_pair, check_range_bits, transform,
};

/// Exists only where the CPU has F, BW, VL, VNNI and BITALG.
pub(super) struct Avx512(());

/// The same with the dot product of bf16 in hardware.
pub(super) struct Avx512Bf16(Avx512);

static PLAIN: Avx512 = Avx512(());
static WITH_BF16: Avx512Bf16 = Avx512Bf16(Avx512(()));

/// What this CPU can run of the two, the better one last.
pub(super) fn detect() -> Vec<&'static dyn Kernels> {
    let mut found: Vec<&'static dyn Kernels> = Vec::new();
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("avx512bitalg")
    {
        found.push(&PLAIN);
        if is_x86_feature_detected!("avx512bf16") {
            found.push(&WITH_BF16);
        }
    }
    found
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn normalize(values: &[f32], out: &mut [f32]) -> bool {
    transform::normalize(values, out)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn multiply(values: &mut [f32], factors: &[f32]) {
    transform::multiply(values, factors);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,popcnt")]
fn count_ones(words: &[u64]) -> usize {
    transform::count_ones(words)
}

impl Kernels for Avx512 {
    fn name(&self) -> &'static str {
        "avx512-vnni"
    }

    fn hadamard(&self, values: &mut [f32]) {
        check_hadamard(values);
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { in_registers::hadamard(values) }
    }

    fn normalize(&self, values: &[f32], out: &mut [f32]) -> bool {
        check_pair(values, out);
        // SAFETY: as in `hadamard`.
        unsafe { normalize(values, out) }
    }

    fn multiply(&self, values: &mut [f32], factors: &[f32]) {
        check_pair(values, factors);
        // SAFETY: as in `hadamard`.
        unsafe { multiply(values, factors) }
    }

    fn at_least(&self, values: &[f32], bound: f32) -> u64 {
        check_at_least(values);
        // SAFETY: as in `hadamard`.
        unsafe { in_registers::at_least(values, bound) }
    }

    fn count_ones(&self, words: &[u64]) -> usize {
        // SAFETY: as in `hadamard`; a CPU with AVX-512 has POPCNT.
        unsafe { count_ones(words) }
    }

    fn dot_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        check_pair(a, b);
        // SAFETY: the CPU has the features, or `self` would not be; lengths are equal.
        unsafe { pair::dot_f32(a, b) }
    }

    fn l2_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::l2_f32(a, b) }
    }

    fn dot_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::dot_bf16_widened(a, b) }
    }

    fn l2_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::l2_bf16(a, b) }
    }

    fn dot_i8(&self, a: &[i8], b: &[i8]) -> i32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::dot_i8(a, b) }
    }

    fn l2_i8(&self, a: &[i8], b: &[i8]) -> u32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::l2_i8(a, b) }
    }

    fn dot_u8(&self, a: &[u8], b: &[u8]) -> u32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::dot_u8(a, b) }
    }

    fn dot_u4(&self, a: &[u8], b: &[u8]) -> u32 {
        check_pair(a, b);
        // SAFETY: as in `dot_f32`.
        unsafe { pair::dot_u4(a, b) }
    }

    fn gather_f32(&self, query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        // SAFETY: the CPU has the features, or `self` would not be; the query has the length
        // of a row, every id is a row, and `out` is as long as `ids`.
        unsafe { gather::gather_f32(query, rows, ids, out) }
    }

    fn gather_u8(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        // SAFETY: as in `gather_f32`.
        unsafe { gather::gather_u8(query, rows, ids, out) }
    }

    fn gather_u4(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        check_gather(query.len(), 2 * rows.length, &rows, ids, out.len());
        // SAFETY: as in `gather_f32`, but the query has twice the length of a row.
        unsafe { gather::gather_u4(query, rows, ids, out) }
    }

    fn gather_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
        check_gather_bits(query, &rows, ids, out.len());
        // SAFETY: the CPU has the features, or `self` would not be; a row holds the words of
        // the query, every id is a row, and `out` is as long as `ids`.
        unsafe { bits::gather_bits(query.planes(), query.words(), rows, ids, out) }
    }

    fn range_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]) {
        check_range_bits(query, &rows, from, out.len());
        // SAFETY: the CPU has the features, or `self` would not be; a row holds the words of
        // the query, and `from..from + out.len()` are rows.
        unsafe { bits::range_bits(query.planes(), query.words(), rows, from as usize, out) }
    }
}

impl Kernels for Avx512Bf16 {
    fn name(&self) -> &'static str {
        "avx512-bf16"
    }

    fn dot_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        check_pair(a, b);
        // SAFETY: the CPU has the features, or `self` would not be; lengths are equal.
        unsafe { pair::dot_bf16(a, b) }
    }

    fn hadamard(&self, values: &mut [f32]) {
        self.0.hadamard(values);
    }

    fn normalize(&self, values: &[f32], out: &mut [f32]) -> bool {
        self.0.normalize(values, out)
    }

    fn multiply(&self, values: &mut [f32], factors: &[f32]) {
        self.0.multiply(values, factors);
    }

    fn at_least(&self, values: &[f32], bound: f32) -> u64 {
        self.0.at_least(values, bound)
    }

    fn count_ones(&self, words: &[u64]) -> usize {
        self.0.count_ones(words)
    }

    fn dot_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        self.0.dot_f32(a, b)
    }

    fn l2_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        self.0.l2_f32(a, b)
    }

    fn l2_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        self.0.l2_bf16(a, b)
    }

    fn dot_i8(&self, a: &[i8], b: &[i8]) -> i32 {
        self.0.dot_i8(a, b)
    }

    fn l2_i8(&self, a: &[i8], b: &[i8]) -> u32 {
        self.0.l2_i8(a, b)
    }

    fn dot_u8(&self, a: &[u8], b: &[u8]) -> u32 {
        self.0.dot_u8(a, b)
    }

    fn dot_u4(&self, a: &[u8], b: &[u8]) -> u32 {
        self.0.dot_u4(a, b)
    }

    fn gather_f32(&self, query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
        self.0.gather_f32(query, rows, ids, out);
    }

    fn gather_u8(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        self.0.gather_u8(query, rows, ids, out);
    }

    fn gather_u4(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        self.0.gather_u4(query, rows, ids, out);
    }

    fn gather_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
        self.0.gather_bits(query, rows, ids, out);
    }

    fn range_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]) {
        self.0.range_bits(query, rows, from, out);
    }
}
