//! Pairs by `simsimd`, which finds the best it has for the CPU at run time; what it lacks
//! (8-bit unsigned and 4-bit dot products, batches of codes, bf16 distances without loss)
//! is plain Rust.

#![allow(unsafe_code)]

use simsimd::SpatialSimilarity;

use super::scalar::Scalar;
use super::{Bf16, BitQuery, Kernels, Rows, check_gather, check_pair};

/// Its sums of 8-bit squares are signed 32-bit numbers on some CPUs: 33,025 of them fit.
const EXACT: usize = 16_384;

pub(super) struct Portable;

/// `simsimd` answers nothing only for slices of unequal length, which are refused before.
fn answer(distance: Option<f64>) -> f64 {
    distance.unwrap_or(f64::NAN)
}

fn foreign(vector: &[Bf16]) -> &[simsimd::bf16] {
    // SAFETY: both types are transparent wrappers of a u16, and the lifetime is kept.
    unsafe { std::slice::from_raw_parts(vector.as_ptr().cast(), vector.len()) }
}

impl Kernels for Portable {
    fn name(&self) -> &'static str {
        "simsimd"
    }

    fn dot_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        check_pair(a, b);
        answer(f32::dot(a, b)) as f32
    }

    fn l2_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        check_pair(a, b);
        answer(f32::l2sq(a, b)) as f32
    }

    fn dot_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        check_pair(a, b);
        answer(simsimd::bf16::dot(foreign(a), foreign(b))) as f32
    }

    fn l2_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        // That of `simsimd` rounds every difference to a bf16 on some CPUs.
        Scalar.l2_bf16(a, b)
    }

    fn dot_i8(&self, a: &[i8], b: &[i8]) -> i32 {
        check_pair(a, b);
        a.chunks(EXACT).zip(b.chunks(EXACT)).map(|(a, b)| answer(i8::dot(a, b)) as i32).sum()
    }

    fn l2_i8(&self, a: &[i8], b: &[i8]) -> u32 {
        check_pair(a, b);
        a.chunks(EXACT).zip(b.chunks(EXACT)).map(|(a, b)| answer(i8::l2sq(a, b)) as u32).sum()
    }

    fn dot_u8(&self, a: &[u8], b: &[u8]) -> u32 {
        Scalar.dot_u8(a, b)
    }

    fn dot_u4(&self, a: &[u8], b: &[u8]) -> u32 {
        Scalar.dot_u4(a, b)
    }

    fn gather_f32(&self, query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        for (&id, out) in ids.iter().zip(out) {
            *out = self.dot_f32(query, rows.row(id as usize));
        }
    }

    fn gather_u8(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        Scalar.gather_u8(query, rows, ids, out);
    }

    fn gather_u4(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        Scalar.gather_u4(query, rows, ids, out);
    }

    fn gather_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
        Scalar.gather_bits(query, rows, ids, out);
    }

    fn range_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]) {
        Scalar.range_bits(query, rows, from, out);
    }
}
