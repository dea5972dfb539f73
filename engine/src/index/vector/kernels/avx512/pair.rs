//! Kernels on pairs of vectors. All expect slices of one length; they check it no more.

use std::arch::x86_64::*;

use super::super::Bf16;

/// Mask of the first `count` of 16 lanes; `count` is below 16.
#[inline(always)]
pub(super) fn first_16(count: usize) -> __mmask16 {
    (1 << count) - 1
}

/// Mask of the first `count` of 32 lanes, of all when there are more.
#[inline(always)]
fn first_32(count: usize) -> __mmask32 {
    if count < 32 { (1 << count) - 1 } else { u32::MAX }
}

/// Mask of the first `count` of 64 lanes; `count` is below 64.
#[inline(always)]
pub(super) fn first_64(count: usize) -> __mmask64 {
    (1 << count) - 1
}

/// Sums `step` over both vectors; `step` must leave its sum as it is for two zeros.
///
/// # Safety
/// `b` is as long as `a`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn fold_f32(a: &[f32], b: &[f32], step: impl Fn(__m512, __m512, __m512) -> __m512) -> f32 {
    let (length, a, b) = (a.len(), a.as_ptr(), b.as_ptr());
    let mut sums = [_mm512_setzero_ps(); 4];
    let mut at = 0;
    while at + 64 <= length {
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: at + 64 elements are within both slices.
            let (x, y) =
                unsafe { (_mm512_loadu_ps(a.add(at + 16 * lane)), _mm512_loadu_ps(b.add(at + 16 * lane))) };
            *sum = step(*sum, x, y);
        }
        at += 64;
    }
    while at + 16 <= length {
        // SAFETY: at + 16 elements are within both slices.
        let (x, y) = unsafe { (_mm512_loadu_ps(a.add(at)), _mm512_loadu_ps(b.add(at))) };
        sums[0] = step(sums[0], x, y);
        at += 16;
    }
    if at < length {
        let mask = first_16(length - at);
        // SAFETY: the mask admits only elements within both slices; others are not read.
        let (x, y) =
            unsafe { (_mm512_maskz_loadu_ps(mask, a.add(at)), _mm512_maskz_loadu_ps(mask, b.add(at))) };
        sums[3] = step(sums[3], x, y);
    }
    let sums = [_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])];
    _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: handed on.
    unsafe { fold_f32(a, b, |sum, x, y| _mm512_fmadd_ps(x, y, sum)) }
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn l2_f32(a: &[f32], b: &[f32]) -> f32 {
    let step = |sum, x, y| {
        let difference = _mm512_sub_ps(x, y);
        _mm512_fmadd_ps(difference, difference, sum)
    };
    // SAFETY: handed on.
    unsafe { fold_f32(a, b, step) }
}

/// Sums `step` over both vectors, widened to f32; `step` must leave its sum as it is for
/// two zeros.
///
/// # Safety
/// `b` is as long as `a`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn fold_bf16(a: &[Bf16], b: &[Bf16], step: impl Fn(__m512, __m512, __m512) -> __m512) -> f32 {
    let (length, a, b) = (a.len(), a.as_ptr().cast::<i16>(), b.as_ptr().cast::<i16>());
    let upper = _mm512_set1_epi32(0xFFFF_0000_u32 as i32);
    // A pair of elements is one lane of 32 bits: the first one moves to the upper half, the
    // second one is there.
    let widen = |pairs| {
        let (first, second) = (_mm512_slli_epi32::<16>(pairs), _mm512_and_si512(pairs, upper));
        (_mm512_castsi512_ps(first), _mm512_castsi512_ps(second))
    };
    let add = |sums: &mut [__m512], x, y| {
        let ((x_first, x_second), (y_first, y_second)) = (widen(x), widen(y));
        sums[0] = step(sums[0], x_first, y_first);
        sums[1] = step(sums[1], x_second, y_second);
    };
    let mut sums = [_mm512_setzero_ps(); 4];
    let mut at = 0;
    while at + 64 <= length {
        // SAFETY: at + 64 elements are within both slices.
        let (x, y) = unsafe { (_mm512_loadu_epi16(a.add(at)), _mm512_loadu_epi16(b.add(at))) };
        add(&mut sums[..2], x, y);
        // SAFETY: as above.
        let (x, y) = unsafe { (_mm512_loadu_epi16(a.add(at + 32)), _mm512_loadu_epi16(b.add(at + 32))) };
        add(&mut sums[2..], x, y);
        at += 64;
    }
    while at < length {
        let mask = first_32(length - at);
        // SAFETY: the mask admits only elements within both slices; others are not read.
        let (x, y) =
            unsafe { (_mm512_maskz_loadu_epi16(mask, a.add(at)), _mm512_maskz_loadu_epi16(mask, b.add(at))) };
        add(&mut sums[..2], x, y);
        at += 32;
    }
    let sums = [_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])];
    _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn dot_bf16_widened(a: &[Bf16], b: &[Bf16]) -> f32 {
    // SAFETY: handed on.
    unsafe { fold_bf16(a, b, |sum, x, y| _mm512_fmadd_ps(x, y, sum)) }
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn l2_bf16(a: &[Bf16], b: &[Bf16]) -> f32 {
    let step = |sum, x, y| {
        let difference = _mm512_sub_ps(x, y);
        _mm512_fmadd_ps(difference, difference, sum)
    };
    // SAFETY: handed on.
    unsafe { fold_bf16(a, b, step) }
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bf16")]
pub(super) unsafe fn dot_bf16(a: &[Bf16], b: &[Bf16]) -> f32 {
    let (length, a, b) = (a.len(), a.as_ptr().cast::<i16>(), b.as_ptr().cast::<i16>());
    let step = |sum, x: __m512i, y: __m512i| {
        // SAFETY: both are 64 plain bytes.
        let (x, y) = unsafe {
            (std::mem::transmute::<__m512i, __m512bh>(x), std::mem::transmute::<__m512i, __m512bh>(y))
        };
        _mm512_dpbf16_ps(sum, x, y)
    };
    let mut sums = [_mm512_setzero_ps(); 4];
    let mut at = 0;
    while at + 128 <= length {
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: at + 128 elements are within both slices.
            let (x, y) = unsafe {
                (_mm512_loadu_epi16(a.add(at + 32 * lane)), _mm512_loadu_epi16(b.add(at + 32 * lane)))
            };
            *sum = step(*sum, x, y);
        }
        at += 128;
    }
    while at < length {
        let mask = first_32(length - at);
        // SAFETY: the mask admits only elements within both slices; others are not read.
        let (x, y) =
            unsafe { (_mm512_maskz_loadu_epi16(mask, a.add(at)), _mm512_maskz_loadu_epi16(mask, b.add(at))) };
        sums[0] = step(sums[0], x, y);
        at += 32;
    }
    let sums = [_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])];
    _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
}

/// Two sums of `step` over the bytes of both vectors, 64 at a time; `step` must leave its
/// sums as they are for two zeros.
///
/// # Safety
/// `length` bytes can be read at `a` and at `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn fold_bytes(
    a: *const i8,
    b: *const i8,
    length: usize,
    step: impl Fn([__m512i; 2], __m512i, __m512i) -> [__m512i; 2],
) -> [i32; 2] {
    let mut even = [_mm512_setzero_si512(); 2];
    let mut odd = even;
    let mut at = 0;
    while at + 128 <= length {
        // SAFETY: at + 128 bytes are readable on both sides.
        let (x, y) = unsafe { (_mm512_loadu_epi8(a.add(at)), _mm512_loadu_epi8(b.add(at))) };
        even = step(even, x, y);
        // SAFETY: as above.
        let (x, y) = unsafe { (_mm512_loadu_epi8(a.add(at + 64)), _mm512_loadu_epi8(b.add(at + 64))) };
        odd = step(odd, x, y);
        at += 128;
    }
    if at + 64 <= length {
        // SAFETY: at + 64 bytes are readable on both sides.
        let (x, y) = unsafe { (_mm512_loadu_epi8(a.add(at)), _mm512_loadu_epi8(b.add(at))) };
        even = step(even, x, y);
        at += 64;
    }
    if at < length {
        let mask = first_64(length - at);
        // SAFETY: the mask admits only readable bytes; others are not read.
        let (x, y) =
            unsafe { (_mm512_maskz_loadu_epi8(mask, a.add(at)), _mm512_maskz_loadu_epi8(mask, b.add(at))) };
        odd = step(odd, x, y);
    }
    [0, 1].map(|sum| _mm512_reduce_add_epi32(_mm512_add_epi32(even[sum], odd[sum])))
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let (flip, ones) = (_mm512_set1_epi8(i8::MIN), _mm512_set1_epi8(1));
    let step = |[shifted, sum]: [__m512i; 2], x, y| {
        // a + 128 as an unsigned byte, and the sum of b to take the shift back.
        [_mm512_dpbusd_epi32(shifted, _mm512_xor_si512(x, flip), y), _mm512_dpbusd_epi32(sum, ones, y)]
    };
    // SAFETY: the slices have one length.
    let [shifted, sum] = unsafe { fold_bytes(a.as_ptr(), b.as_ptr(), a.len(), step) };
    shifted.wrapping_sub(sum.wrapping_mul(128))
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn l2_i8(a: &[i8], b: &[i8]) -> u32 {
    let (flip, ones) = (_mm512_set1_epi8(i8::MIN), _mm512_set1_epi8(1));
    let step = |[shifted, sum]: [__m512i; 2], x, y| {
        // The distance fits an unsigned byte; its square is d * (d - 128) + 128 * d.
        let distance = _mm512_sub_epi8(_mm512_max_epi8(x, y), _mm512_min_epi8(x, y));
        [
            _mm512_dpbusd_epi32(shifted, distance, _mm512_xor_si512(distance, flip)),
            _mm512_dpbusd_epi32(sum, distance, ones),
        ]
    };
    // SAFETY: the slices have one length.
    let [shifted, sum] = unsafe { fold_bytes(a.as_ptr(), b.as_ptr(), a.len(), step) };
    shifted.wrapping_add(sum.wrapping_mul(128)) as u32
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn dot_u8(a: &[u8], b: &[u8]) -> u32 {
    let (flip, ones) = (_mm512_set1_epi8(i8::MIN), _mm512_set1_epi8(1));
    let step = |[shifted, sum]: [__m512i; 2], x, y| {
        // b - 128 as a signed byte, and the sum of a to take the shift back.
        [_mm512_dpbusd_epi32(shifted, x, _mm512_xor_si512(y, flip)), _mm512_dpbusd_epi32(sum, x, ones)]
    };
    // SAFETY: the slices have one length.
    let [shifted, sum] = unsafe { fold_bytes(a.as_ptr().cast(), b.as_ptr().cast(), a.len(), step) };
    shifted.wrapping_add(sum.wrapping_mul(128)) as u32
}

/// # Safety
/// The slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn dot_u4(a: &[u8], b: &[u8]) -> u32 {
    let low = _mm512_set1_epi8(15);
    let step = |[lows, highs]: [__m512i; 2], x, y| {
        // The high nibble of x stays where it is, which makes its products 16-fold.
        let high = _mm512_and_si512(_mm512_srli_epi16::<4>(y), low);
        [
            _mm512_dpbusd_epi32(lows, _mm512_and_si512(x, low), _mm512_and_si512(y, low)),
            _mm512_dpbusd_epi32(highs, _mm512_andnot_si512(low, x), high),
        ]
    };
    // SAFETY: the slices have one length.
    let [lows, highs] = unsafe { fold_bytes(a.as_ptr().cast(), b.as_ptr().cast(), a.len(), step) };
    (lows + (highs >> 4)) as u32
}
