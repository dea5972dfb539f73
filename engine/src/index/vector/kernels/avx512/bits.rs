//! Sums over the set bits of rows.
//!
//! Four rows share a register, two words of each in a quarter of it; planes of the query
//! are repeated in every quarter. Bytes are counted (`vpopcntb`), and one `vpdpbusd` both
//! weighs the counts of a plane and adds them to sums of 32 bits: nothing is left over for
//! six words, and no row has an addition across the register of its own, since the sums of
//! four registers are transposed into those of sixteen rows in order. Taking words as masks
//! for additions of query bytes was measured as well, and is up to half slower.

use std::arch::x86_64::*;

use super::super::Rows;
use super::super::bits::Planes;
use super::gather::prefetch;

/// Rows that are asked for ahead of use.
const AHEAD: usize = 16;

/// Bytes between the rows in work and those asked for, when rows come in order.
const AHEAD_BYTES: usize = 4096;

/// The sums of four rows, four parts in each quarter. The query has `2 * PAIRS` words, or
/// as many as there are when that is 0.
///
/// # Safety
/// `words` words can be read at every row, `planes` are those of `words` words, and
/// `words` is `2 * PAIRS` unless 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bitalg")]
unsafe fn sum_four<const PAIRS: usize>(planes: &[Planes], words: usize, rows: [*const u8; 4]) -> __m512i {
    let mut sums = [_mm512_setzero_si512(); 2];
    let mut add = |planes: &Planes, [a, b, c, d]: [__m128i; 4]| {
        let ab = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
        let cd = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
        let bits = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(ab), cd);
        for (number, plane) in planes.iter().enumerate() {
            // SAFETY: a plane has 16 bytes.
            let plane = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(plane.as_ptr().cast()) });
            let counts = _mm512_popcnt_epi8(_mm512_and_si512(bits, plane));
            let sum = &mut sums[number % 2];
            *sum = _mm512_dpbusd_epi32(*sum, counts, _mm512_set1_epi8(1 << number));
        }
    };
    let pairs = if PAIRS > 0 { PAIRS } else { words / 2 };
    for (pair, planes) in planes.iter().take(pairs).enumerate() {
        // SAFETY: the words 2 * pair and 2 * pair + 1 of a row are readable.
        add(planes, rows.map(|row| unsafe { _mm_loadu_si128(row.add(16 * pair).cast()) }));
    }
    if PAIRS == 0 && words % 2 == 1 {
        // SAFETY: the last word of a row is readable; no more than it is read.
        add(&planes[pairs], rows.map(|row| unsafe { _mm_loadu_si64(row.add(16 * pairs)) }));
    }
    _mm512_add_epi32(sums[0], sums[1])
}

/// The sums of the rows at `pointer(i)`, sixteen at a time, then four; the last four are
/// filled up by repeating the last row. `ahead(i)` is called before row `i` and the next
/// fifteen are read.
///
/// # Safety
/// `words` words can be read at `pointer(i)` for every `i < out.len()`; the rest as
/// [`sum_four`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bitalg")]
unsafe fn sum_rows<const PAIRS: usize>(
    planes: &[Planes],
    words: usize,
    out: &mut [u32],
    pointer: impl Fn(usize) -> *const u8,
    ahead: impl Fn(usize),
) {
    let planes = if PAIRS > 0 { &planes[..PAIRS] } else { planes };
    let count = out.len();
    let (groups, rest) = out.as_chunks_mut::<16>();
    // From four rows in quarters, with their group inside, to groups of four rows.
    let order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    let mut first = 0;
    for out in groups {
        ahead(first);
        let [a, b, c, d] = [0, 4, 8, 12].map(|group| {
            let rows = [0, 1, 2, 3].map(|row| pointer(first + group + row));
            // SAFETY: first + 16 <= count.
            unsafe { sum_four::<PAIRS>(planes, words, rows) }
        });
        let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        let all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
        // SAFETY: `out` has sixteen elements.
        unsafe { _mm512_storeu_epi32(out.as_mut_ptr().cast(), _mm512_permutexvar_epi32(order, all)) };
        first += 16;
    }
    for out in rest.chunks_mut(4) {
        let rows = [0, 1, 2, 3].map(|row| pointer((first + row).min(count - 1)));
        // SAFETY: only rows below count are asked for.
        let sums = unsafe { sum_four::<PAIRS>(planes, words, rows) };
        let sums = _mm512_add_epi32(sums, _mm512_shuffle_epi32::<0b01_00_11_10>(sums));
        let sums = _mm512_add_epi32(sums, _mm512_shuffle_epi32::<0b10_11_00_01>(sums));
        let four = _mm512_castsi512_si128(_mm512_permutexvar_epi32(order, sums));
        // SAFETY: the mask admits as many elements as `out` has, at most four.
        unsafe { _mm_mask_storeu_epi32(out.as_mut_ptr().cast(), (1 << out.len()) - 1, four) };
        first += 4;
    }
}

/// Calls `$function` with half the number of words as a constant where that is a usual one.
macro_rules! by_words {
    ($words:ident, $function:ident($($argument:expr),*)) => {
        match $words {
            2 => $function::<1>($($argument),*),
            6 => $function::<3>($($argument),*),
            8 => $function::<4>($($argument),*),
            12 => $function::<6>($($argument),*),
            16 => $function::<8>($($argument),*),
            _ => $function::<0>($($argument),*),
        }
    };
}

/// # Safety
/// `planes` are those of `words` words, `8 * words <= rows.length`, every id is a row, and
/// `out` is as long as `ids`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bitalg")]
pub(super) unsafe fn gather_bits(
    planes: &[Planes],
    words: usize,
    rows: Rows<'_, u8>,
    ids: &[u32],
    out: &mut [u32],
) {
    // SAFETY: handed on; the constant is half the number of words.
    unsafe { by_words!(words, gather_pairs(planes, words, rows, ids, out)) }
}

/// # Safety
/// As [`gather_bits`], and `words` is `2 * PAIRS` unless 0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bitalg")]
unsafe fn gather_pairs<const PAIRS: usize>(
    planes: &[Planes],
    words: usize,
    rows: Rows<'_, u8>,
    ids: &[u32],
    out: &mut [u32],
) {
    let base = rows.data.as_ptr();
    let bytes = if PAIRS > 0 { 16 * PAIRS } else { 8 * words };
    for &id in &ids[..ids.len().min(AHEAD)] {
        prefetch(base.wrapping_add(id as usize * rows.stride), bytes);
    }
    let pointer = |number: usize| base.wrapping_add(ids[number] as usize * rows.stride);
    let ahead = |first: usize| {
        for &id in ids.iter().skip(first + AHEAD).take(16) {
            prefetch(base.wrapping_add(id as usize * rows.stride), bytes);
        }
    };
    // SAFETY: every id is a row, and a row has all the words.
    unsafe { sum_rows::<PAIRS>(planes, words, out, pointer, ahead) }
}

/// # Safety
/// `planes` are those of `words` words, `8 * words <= rows.length`, and
/// `from..from + out.len()` are rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bitalg")]
pub(super) unsafe fn range_bits(
    planes: &[Planes],
    words: usize,
    rows: Rows<'_, u8>,
    from: usize,
    out: &mut [u32],
) {
    // SAFETY: handed on; the constant is half the number of words.
    unsafe { by_words!(words, range_pairs(planes, words, rows, from, out)) }
}

/// # Safety
/// As [`range_bits`], and `words` is `2 * PAIRS` unless 0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512bitalg")]
unsafe fn range_pairs<const PAIRS: usize>(
    planes: &[Planes],
    words: usize,
    rows: Rows<'_, u8>,
    from: usize,
    out: &mut [u32],
) {
    let start = rows.data.as_ptr().wrapping_add(from.wrapping_mul(rows.stride));
    let pointer = |number: usize| start.wrapping_add(number.wrapping_mul(rows.stride));
    let bytes = if PAIRS > 0 { 16 * PAIRS } else { 8 * words };
    // Lines come in order, yet the CPU alone does not fetch far enough ahead.
    let dense = rows.stride <= 2 * bytes + 64;
    let ahead = |first: usize| {
        if dense {
            prefetch(pointer(first).wrapping_add(AHEAD_BYTES), 16 * rows.stride);
        } else {
            for row in 0..16 {
                prefetch(pointer(first + AHEAD + row), bytes);
            }
        }
    };
    // SAFETY: from + number is a row, and a row has all the words.
    unsafe { sum_rows::<PAIRS>(planes, words, out, pointer, ahead) }
}
