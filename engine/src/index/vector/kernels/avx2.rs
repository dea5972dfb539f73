//! AVX2 with FMA: what AVX-512 is missing on.
//!
//! `vpmaddubsw` saturates for full bytes, so 8-bit numbers are widened to 16 bits and
//! multiplied by `vpmaddwd`; 4-bit codes cannot saturate it. Bits are counted word by word.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::nibbles::BLOCK;
use super::scalar::{dot_u4_i8, dot_u8_i8, sum_bits};
use super::{
    Bf16, BitQuery, Kernels, Rows, check_at_least, check_gather, check_gather_bits, check_hadamard,
    check_pair, check_range_bits, transform,
};

/// Exists only where the CPU has AVX2, FMA and POPCNT.
pub(super) struct Avx2(());

static AVX2: Avx2 = Avx2(());

/// Rows that are asked for ahead of use.
const AHEAD: usize = 6;

/// The kernels, if this CPU can run them.
pub(super) fn detect() -> Option<&'static dyn Kernels> {
    let found = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("popcnt");
    found.then_some(&AVX2)
}

/// Runs `one` for every id, and asks for the row that comes a few places later.
#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn gather<T, R>(rows: Rows<'_, T>, ids: &[u32], out: &mut [R], one: impl Fn(&[T]) -> R) {
    let prefetch = |id: u32| {
        let row: *const [T] = rows.row(id as usize);
        let mut line = 0;
        while line < rows.length * size_of::<T>() {
            _mm_prefetch::<_MM_HINT_T0>(row.cast::<i8>().wrapping_add(line));
            line += 64;
        }
    };
    for &id in &ids[..ids.len().min(AHEAD)] {
        prefetch(id);
    }
    for (place, (&id, out)) in ids.iter().zip(out).enumerate() {
        if let Some(&later) = ids.get(place + AHEAD) {
            prefetch(later);
        }
        *out = one(rows.row(id as usize));
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn reduce_f32(sums: [__m256; 4]) -> f32 {
    let all = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
    let half = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
    let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
    _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn reduce_i32(sums: [__m256i; 2]) -> i32 {
    let all = _mm256_add_epi32(sums[0], sums[1]);
    let half = _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256::<1>(all));
    let pair = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    _mm_cvtsi128_si32(_mm_add_epi32(pair, _mm_shuffle_epi32::<1>(pair)))
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn load_f32(eight: &[f32; 8]) -> __m256 {
    // SAFETY: the array has 32 bytes; the load is an unaligned one.
    unsafe { _mm256_loadu_ps(eight.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn load_bf16(eight: &[Bf16; 8]) -> __m256 {
    // SAFETY: the array has 16 bytes; the load is an unaligned one.
    let eight = unsafe { _mm_loadu_si128(eight.as_ptr().cast()) };
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(eight)))
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn load_i8(sixteen: &[i8; 16]) -> __m256i {
    // SAFETY: the array has 16 bytes; the load is an unaligned one.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn load_u8(sixteen: &[u8; 16]) -> __m256i {
    // SAFETY: the array has 16 bytes; the load is an unaligned one.
    _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn load_bytes<T: bytemuck::Pod>(bytes: &[T; 32]) -> __m256i {
    // SAFETY: the array has at least 32 bytes; the load is an unaligned one.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Sums `step` over both slices, eight elements at a time; what is left over is filled up
/// with zeros, for which `step` must leave its sum as it is.
#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn fold_floats<T: Copy + Default>(
    a: &[T],
    b: &[T],
    load: impl Fn(&[T; 8]) -> __m256,
    step: impl Fn(__m256, __m256, __m256) -> __m256,
) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [_mm256_setzero_ps(); 4];
    let ((a_four, a_few), (b_four, b_few)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (x, y) in a_four.iter().zip(b_four) {
        for lane in 0..4 {
            sums[lane] = step(sums[lane], load(&x[lane]), load(&y[lane]));
        }
    }
    for (x, y) in a_few.iter().zip(b_few) {
        sums[0] = step(sums[0], load(x), load(y));
    }
    if !a_rest.is_empty() {
        let (mut x, mut y) = ([T::default(); 8], [T::default(); 8]);
        x[..a_rest.len()].copy_from_slice(a_rest);
        y[..b_rest.len()].copy_from_slice(b_rest);
        sums[3] = step(sums[3], load(&x), load(&y));
    }
    reduce_f32(sums)
}

/// Sums `terms` (eight sums of 32 bits) over both slices, sixteen elements at a time; what
/// is left over is filled up with zeros, of which `terms` must make zero.
#[inline]
#[target_feature(enable = "avx2,fma,popcnt")]
fn fold_bytes<A: Copy + Default, B: Copy + Default>(
    a: &[A],
    b: &[B],
    terms: impl Fn(&[A; 16], &[B; 16]) -> __m256i,
) -> i32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [_mm256_setzero_si256(); 2];
    let ((a_two, a_one), (b_two, b_one)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
    for (x, y) in a_two.iter().zip(b_two) {
        for lane in 0..2 {
            sums[lane] = _mm256_add_epi32(sums[lane], terms(&x[lane], &y[lane]));
        }
    }
    if let ([x], [y]) = (a_one, b_one) {
        sums[0] = _mm256_add_epi32(sums[0], terms(x, y));
    }
    if !a_rest.is_empty() {
        let (mut x, mut y) = ([A::default(); 16], [B::default(); 16]);
        x[..a_rest.len()].copy_from_slice(a_rest);
        y[..b_rest.len()].copy_from_slice(b_rest);
        sums[1] = _mm256_add_epi32(sums[1], terms(&x, &y));
    }
    reduce_i32(sums)
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    fold_floats(a, b, |x| load_f32(x), |sum, x, y| _mm256_fmadd_ps(x, y, sum))
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn l2_f32(a: &[f32], b: &[f32]) -> f32 {
    let step = |sum, x, y| {
        let difference = _mm256_sub_ps(x, y);
        _mm256_fmadd_ps(difference, difference, sum)
    };
    fold_floats(a, b, |x| load_f32(x), step)
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_bf16(a: &[Bf16], b: &[Bf16]) -> f32 {
    fold_floats(a, b, |x| load_bf16(x), |sum, x, y| _mm256_fmadd_ps(x, y, sum))
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn l2_bf16(a: &[Bf16], b: &[Bf16]) -> f32 {
    let step = |sum, x, y| {
        let difference = _mm256_sub_ps(x, y);
        _mm256_fmadd_ps(difference, difference, sum)
    };
    fold_floats(a, b, |x| load_bf16(x), step)
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    fold_bytes(a, b, |x, y| _mm256_madd_epi16(load_i8(x), load_i8(y)))
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn l2_i8(a: &[i8], b: &[i8]) -> u32 {
    fold_bytes(a, b, |x, y| {
        let difference = _mm256_sub_epi16(load_i8(x), load_i8(y));
        _mm256_madd_epi16(difference, difference)
    }) as u32
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_u8(a: &[u8], b: &[u8]) -> u32 {
    fold_bytes(a, b, |x, y| _mm256_madd_epi16(load_u8(x), load_u8(y))) as u32
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_u8_query(codes: &[u8], query: &[i8]) -> i32 {
    // The compiler does as well for short codes, and better than a filled-up block.
    if codes.len() < 16 {
        return dot_u8_i8(codes, query);
    }
    fold_bytes(codes, query, |code, value| _mm256_madd_epi16(load_u8(code), load_i8(value)))
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_u4(a: &[u8], b: &[u8]) -> u32 {
    let (nibble, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
    let split = |bytes| {
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
        [_mm256_and_si256(bytes, nibble), high]
    };
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    let terms = |x: &[u8; 32], y: &[u8; 32]| {
        let ([x_low, x_high], [y_low, y_high]) = (split(load_bytes(x)), split(load_bytes(y)));
        // Four products of at most 225: far from saturation.
        let products =
            _mm256_add_epi16(_mm256_maddubs_epi16(x_low, y_low), _mm256_maddubs_epi16(x_high, y_high));
        _mm256_madd_epi16(products, ones)
    };
    let mut sum = _mm256_setzero_si256();
    for (x, y) in a.iter().zip(b) {
        sum = _mm256_add_epi32(sum, terms(x, y));
    }
    let (mut x, mut y) = ([0; 32], [0; 32]);
    x[..a_rest.len()].copy_from_slice(a_rest);
    y[..b_rest.len()].copy_from_slice(b_rest);
    reduce_i32([sum, terms(&x, &y)]) as u32
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_u4_query(code: &[u8], query: &[i8]) -> i32 {
    let (nibble, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
    let mut sums = [_mm256_setzero_si256(); 2];
    let (blocks, rest) = code.as_chunks::<BLOCK>();
    let (query_blocks, query_rest) = query.as_chunks::<{ 2 * BLOCK }>();
    for (block, values) in blocks.iter().zip(query_blocks) {
        let halves = block.as_chunks::<32>().0;
        let values = values.as_chunks::<32>().0;
        for half in 0..2 {
            let codes = load_bytes(&halves[half]);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), nibble);
            // Four products of at most 15 * 128: far from saturation.
            let products = _mm256_add_epi16(
                _mm256_maddubs_epi16(_mm256_and_si256(codes, nibble), load_bytes(&values[half])),
                _mm256_maddubs_epi16(high, load_bytes(&values[2 + half])),
            );
            sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(products, ones));
        }
    }
    reduce_i32(sums) + dot_u4_i8(rest, query_rest)
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn gather_f32(query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
    gather(rows, ids, out, |row| dot_f32(row, query));
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn gather_u8(query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
    gather(rows, ids, out, |row| dot_u8_query(row, query));
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn gather_u4(query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
    gather(rows, ids, out, |row| dot_u4_query(row, query));
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn gather_bits(query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
    gather(rows, ids, out, |row| sum_bits(query.planes(), row));
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn range_bits(query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]) {
    for (row, out) in (from as usize..).zip(out) {
        *out = sum_bits(query.planes(), rows.row(row));
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn hadamard(values: &mut [f32]) {
    transform::hadamard(values);
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn normalize(values: &[f32], out: &mut [f32]) -> bool {
    transform::normalize(values, out)
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn at_least(values: &[f32], bound: f32) -> u64 {
    let (blocks, rest) = values.as_chunks::<8>();
    let bounds = _mm256_set1_ps(bound);
    let mut mask = 0;
    for (number, block) in blocks.iter().enumerate() {
        // SAFETY: a block has the eight values of a register.
        let above = _mm256_cmp_ps::<_CMP_GE_OQ>(unsafe { _mm256_loadu_ps(block.as_ptr()) }, bounds);
        mask |= u64::from(_mm256_movemask_ps(above) as u32) << (8 * number);
    }
    match rest {
        [] => mask,
        rest => mask | transform::at_least(rest, bound) << (8 * blocks.len()),
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn multiply(values: &mut [f32], factors: &[f32]) {
    transform::multiply(values, factors);
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn count_ones(words: &[u64]) -> usize {
    transform::count_ones(words)
}

/// The methods of the trait: checks, then the function of the same name.
macro_rules! checked {
    (pair $($name:ident($element:ty) -> $result:ty;)*) => {
        $(fn $name(&self, a: &[$element], b: &[$element]) -> $result {
            check_pair(a, b);
            // SAFETY: the CPU has the features, or `self` would not be.
            unsafe { $name(a, b) }
        })*
    };
}

impl Kernels for Avx2 {
    fn name(&self) -> &'static str {
        "avx2"
    }

    checked! { pair
        dot_f32(f32) -> f32;
        l2_f32(f32) -> f32;
        dot_bf16(Bf16) -> f32;
        l2_bf16(Bf16) -> f32;
        dot_i8(i8) -> i32;
        l2_i8(i8) -> u32;
        dot_u8(u8) -> u32;
        dot_u4(u8) -> u32;
    }

    fn gather_f32(&self, query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { gather_f32(query, rows, ids, out) }
    }

    fn gather_u8(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { gather_u8(query, rows, ids, out) }
    }

    fn gather_u4(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        check_gather(query.len(), 2 * rows.length, &rows, ids, out.len());
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { gather_u4(query, rows, ids, out) }
    }

    fn gather_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
        check_gather_bits(query, &rows, ids, out.len());
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { gather_bits(query, rows, ids, out) }
    }

    fn hadamard(&self, values: &mut [f32]) {
        check_hadamard(values);
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { hadamard(values) }
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
        unsafe { at_least(values, bound) }
    }

    fn count_ones(&self, words: &[u64]) -> usize {
        // SAFETY: as in `hadamard`.
        unsafe { count_ones(words) }
    }

    fn range_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]) {
        check_range_bits(query, &rows, from, out.len());
        // SAFETY: the CPU has the features, or `self` would not be.
        unsafe { range_bits(query, rows, from, out) }
    }
}
