//! Sums over the set bits of rows.
//!
//! A word of a row serves as the mask under which the 64 values of the query, one byte
//! each, are added to 64 byte sums: one masked addition per word, where planes of bits
//! would take four ANDs and four population counts per eight words. A byte holds the sum
//! of 17 values of 15; sums move to wider lanes every 16 words.

use std::arch::x86_64::*;

use super::super::Rows;
use super::gather::{add_quarters, prefetch};

/// Words after which the bytes must be emptied.
const FULL: usize = 16;

/// Rows that are asked for ahead of use.
const AHEAD: usize = 16;

/// The sums of four rows over `words` words, at most [`FULL`].
///
/// # Safety
/// `words` words can be read at every row, and `values` has as many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn sum_few(values: *const [u8; 64], rows: [*const u8; 4], words: usize) -> __m128i {
    let mut sums = [_mm512_setzero_si512(); 4];
    for word in 0..words {
        // SAFETY: word < words.
        let value = unsafe { _mm512_loadu_epi8(values.add(word).cast()) };
        for (sum, row) in sums.iter_mut().zip(rows) {
            // SAFETY: the row has this word, at any alignment; x86 is little-endian.
            let mask = unsafe { row.add(8 * word).cast::<u64>().read_unaligned() };
            *sum = _mm512_mask_add_epi8(*sum, mask, *sum, value);
        }
    }
    // Eight sums of at most 8 * 16 * 15 per row, then packed: in every quarter of the
    // register two 16-bit sums of each of the four rows, then one 32-bit sum of each.
    let zero = _mm512_setzero_si512();
    let [a, b, c, d] = sums.map(|sum| _mm512_sad_epu8(sum, zero));
    let packed = _mm512_packus_epi32(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
    add_quarters(_mm512_madd_epi16(packed, _mm512_set1_epi16(1)))
}

/// The sums of four rows; `WORDS` is their number of words, or 0 for `values.len()`.
///
/// # Safety
/// `values.len()` words can be read at every row, and that is `WORDS` unless 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn sum_rows<const WORDS: usize>(values: &[[u8; 64]], rows: [*const u8; 4]) -> __m128i {
    if WORDS > 0 {
        // SAFETY: as promised.
        return unsafe { sum_few(values.as_ptr(), rows, WORDS) };
    }
    let mut sums = _mm_setzero_si128();
    for (number, part) in values.chunks(FULL).enumerate() {
        // SAFETY: the rows have all words of all parts.
        let rows = rows.map(|row| unsafe { row.add(8 * FULL * number) });
        // SAFETY: as above; a part has no more than FULL words.
        sums = _mm_add_epi32(sums, unsafe { sum_few(part.as_ptr(), rows, part.len()) });
    }
    sums
}

/// Calls `sum_rows` for the rows at `pointer(i)`, four at a time; the last rows are filled
/// up by repeating the last one.
///
/// # Safety
/// `values.len()` words can be read at `pointer(i)` for every `i < out.len()`, and that is
/// `WORDS` unless 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn for_rows<const WORDS: usize>(
    values: &[[u8; 64]],
    out: &mut [u32],
    pointer: impl Fn(usize) -> *const u8,
    ahead: impl Fn(usize),
) {
    let count = out.len();
    let (groups, rest) = out.as_chunks_mut::<4>();
    let mut first = 0;
    for out in groups {
        ahead(first);
        // SAFETY: first + 4 <= count.
        let sums = unsafe { sum_rows::<WORDS>(values, [0, 1, 2, 3].map(|row| pointer(first + row))) };
        // SAFETY: `out` has four elements.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), sums) };
        first += 4;
    }
    if !rest.is_empty() {
        let mut four = [0u32; 4];
        // SAFETY: only rows below count are asked for.
        let sums = unsafe {
            sum_rows::<WORDS>(values, [0, 1, 2, 3].map(|row| pointer((first + row).min(count - 1))))
        };
        // SAFETY: `four` has four elements.
        unsafe { _mm_storeu_si128(four.as_mut_ptr().cast(), sums) };
        rest.copy_from_slice(&four[..rest.len()]);
    }
}

/// Calls `$function` with the number of words as a constant where that is a usual one.
macro_rules! by_words {
    ($function:ident, $values:expr $(, $argument:expr)*) => {
        match $values.len() {
            1 => $function::<1>($values $(, $argument)*),
            2 => $function::<2>($values $(, $argument)*),
            6 => $function::<6>($values $(, $argument)*),
            8 => $function::<8>($values $(, $argument)*),
            12 => $function::<12>($values $(, $argument)*),
            16 => $function::<16>($values $(, $argument)*),
            _ => $function::<0>($values $(, $argument)*),
        }
    };
}

/// # Safety
/// `8 * values.len() <= rows.length`, every id is a row, `out` is as long as `ids`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn gather_bits(values: &[[u8; 64]], rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
    // SAFETY: handed on; the constant is the length.
    unsafe { by_words!(gather_words, values, rows, ids, out) }
}

/// # Safety
/// As [`gather_bits`], and `values.len()` is `WORDS` unless 0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn gather_words<const WORDS: usize>(
    values: &[[u8; 64]],
    rows: Rows<'_, u8>,
    ids: &[u32],
    out: &mut [u32],
) {
    let base = rows.data.as_ptr();
    let bytes = 8 * values.len();
    for &id in &ids[..ids.len().min(AHEAD)] {
        prefetch(base.wrapping_add(id as usize * rows.stride), bytes);
    }
    let pointer = |number: usize| base.wrapping_add(ids[number] as usize * rows.stride);
    let ahead = |first: usize| {
        for &id in ids.iter().skip(first + AHEAD).take(4) {
            prefetch(base.wrapping_add(id as usize * rows.stride), bytes);
        }
    };
    // SAFETY: every id is a row, and a row has all the words.
    unsafe { for_rows::<WORDS>(values, out, pointer, ahead) }
}

/// # Safety
/// `8 * values.len() <= rows.length`, and `from..from + out.len()` are rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn range_bits(values: &[[u8; 64]], rows: Rows<'_, u8>, from: usize, out: &mut [u32]) {
    // SAFETY: handed on; the constant is the length.
    unsafe { by_words!(range_words, values, rows, from, out) }
}

/// # Safety
/// As [`range_bits`], and `values.len()` is `WORDS` unless 0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn range_words<const WORDS: usize>(
    values: &[[u8; 64]],
    rows: Rows<'_, u8>,
    from: usize,
    out: &mut [u32],
) {
    let start = rows.data.as_ptr().wrapping_add(from * rows.stride);
    // SAFETY: from + number is a row, and a row has all the words. Lines come in order, so
    // the CPU fetches ahead by itself.
    unsafe { for_rows::<WORDS>(values, out, |number| start.wrapping_add(number * rows.stride), |_| ()) }
}
