//! One query against many rows: four rows at a time, so that a load of the query serves
//! four rows and one transposition adds up four registers.

use std::arch::x86_64::*;

use super::super::Rows;
use super::pair::{self, first_16, first_64};

/// Cache lines that are asked for ahead of use: from memory anything from 16 to 100 is alike.
const AHEAD_LINES: usize = 32;

/// How many rows to prefetch ahead, a multiple of four.
fn rows_ahead(bytes: usize) -> usize {
    (AHEAD_LINES / bytes.div_ceil(64).max(1)).clamp(4, 16) & !3
}

/// Asks for all lines of a row. Any address will do: a prefetch never faults.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn prefetch<T>(row: *const T, bytes: usize) {
    let start = row.cast::<i8>();
    let mut offset = 0;
    while offset < bytes {
        _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
        offset += 64;
    }
    // The row may reach into one more line.
    _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(bytes.saturating_sub(1)));
}

/// The four sums of four registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn reduce_i32([a, b, c, d]: [__m512i; 4]) -> __m128i {
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    let all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    let half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64::<1>(all));
    _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
}

/// The four sums of four registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn reduce_f32([a, b, c, d]: [__m512; 4]) -> __m128 {
    let ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    let cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    let (ab, cd) = (_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    let all = _mm512_add_ps(
        _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
        _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)),
    );
    let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(all)));
    let half = _mm256_add_ps(_mm512_castps512_ps256(all), high);
    _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps::<1>(half))
}

/// # Safety
/// The query has `rows.length` elements, every id is a row, `out` is as long as `ids`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn gather_f32(query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
    let bytes = rows.length * size_of::<f32>();
    let ahead = rows_ahead(bytes);
    let base = rows.data.as_ptr();
    for &id in &ids[..ids.len().min(ahead)] {
        prefetch(base.wrapping_add(id as usize * rows.stride), bytes);
    }
    let (groups, rest) = ids.as_chunks::<4>();
    let (outs, rest_out) = out.as_chunks_mut::<4>();
    for (number, (group, out)) in groups.iter().zip(outs).enumerate() {
        for &id in ids.iter().skip(4 * number + ahead).take(4) {
            prefetch(base.wrapping_add(id as usize * rows.stride), bytes);
        }
        // SAFETY: every id is a row, so all its elements are within `data`.
        let four = group.map(|id| unsafe { base.add(id as usize * rows.stride) });
        let mut sums = [_mm512_setzero_ps(); 4];
        let mut at = 0;
        while at + 16 <= query.len() {
            // SAFETY: at + 16 elements are within the query and within each row.
            let value = unsafe { _mm512_loadu_ps(query.as_ptr().add(at)) };
            for (sum, row) in sums.iter_mut().zip(four) {
                // SAFETY: as above.
                *sum = _mm512_fmadd_ps(unsafe { _mm512_loadu_ps(row.add(at)) }, value, *sum);
            }
            at += 16;
        }
        if at < query.len() {
            let mask = first_16(query.len() - at);
            // SAFETY: the mask admits only elements within the query and each row.
            let value = unsafe { _mm512_maskz_loadu_ps(mask, query.as_ptr().add(at)) };
            for (sum, row) in sums.iter_mut().zip(four) {
                // SAFETY: as above.
                *sum = _mm512_fmadd_ps(unsafe { _mm512_maskz_loadu_ps(mask, row.add(at)) }, value, *sum);
            }
        }
        // SAFETY: `out` has four elements.
        unsafe { _mm_storeu_ps(out.as_mut_ptr(), reduce_f32(sums)) };
    }
    for (&id, out) in rest.iter().zip(rest_out) {
        // SAFETY: a row has the length of the query.
        *out = unsafe { pair::dot_f32(query, rows.row(id as usize)) };
    }
}

/// Sums of code times query over `N` rows.
///
/// # Safety
/// `length` elements can be read at `query` and at every row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn sum_u8<const N: usize>(query: *const i8, rows: [*const u8; N], length: usize) -> [__m512i; N] {
    let mut sums = [_mm512_setzero_si512(); N];
    let mut at = 0;
    while at + 64 <= length {
        // SAFETY: at + 64 elements are readable everywhere.
        let value = unsafe { _mm512_loadu_epi8(query.add(at)) };
        for (sum, row) in sums.iter_mut().zip(rows) {
            // SAFETY: as above.
            *sum = _mm512_dpbusd_epi32(*sum, unsafe { _mm512_loadu_epi8(row.add(at).cast()) }, value);
        }
        at += 64;
    }
    if at < length {
        let mask = first_64(length - at);
        // SAFETY: the mask admits only readable elements.
        let value = unsafe { _mm512_maskz_loadu_epi8(mask, query.add(at)) };
        for (sum, row) in sums.iter_mut().zip(rows) {
            // SAFETY: as above.
            let codes = unsafe { _mm512_maskz_loadu_epi8(mask, row.add(at).cast()) };
            *sum = _mm512_dpbusd_epi32(*sum, codes, value);
        }
    }
    sums
}

/// Sums of nibble times query over `N` rows.
///
/// # Safety
/// `length` bytes can be read at every row, and twice as many at `query`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn sum_u4<const N: usize>(query: *const i8, rows: [*const u8; N], length: usize) -> [__m512i; N] {
    let nibble = _mm512_set1_epi8(15);
    let mut lows = [_mm512_setzero_si512(); N];
    // The high nibbles stay in their place: these sums are 16-fold.
    let mut highs = lows;
    let mut at = 0;
    while at + 64 <= length {
        // SAFETY: 2 * (at + 64) elements of the query are readable.
        let (low, high) =
            unsafe { (_mm512_loadu_epi8(query.add(2 * at)), _mm512_loadu_epi8(query.add(2 * at + 64))) };
        for row in 0..N {
            // SAFETY: at + 64 bytes of every row are readable.
            let codes = unsafe { _mm512_loadu_epi8(rows[row].add(at).cast()) };
            lows[row] = _mm512_dpbusd_epi32(lows[row], _mm512_and_si512(codes, nibble), low);
            highs[row] = _mm512_dpbusd_epi32(highs[row], _mm512_andnot_si512(nibble, codes), high);
        }
        at += 64;
    }
    if at < length {
        let mask = first_64(length - at);
        // SAFETY: the mask admits length - at elements, and twice as many are readable.
        let (low, high) = unsafe {
            (
                _mm512_maskz_loadu_epi8(mask, query.add(2 * at)),
                _mm512_maskz_loadu_epi8(mask, query.add(at + length)),
            )
        };
        for row in 0..N {
            // SAFETY: the mask admits only readable bytes.
            let codes = unsafe { _mm512_maskz_loadu_epi8(mask, rows[row].add(at).cast()) };
            lows[row] = _mm512_dpbusd_epi32(lows[row], _mm512_and_si512(codes, nibble), low);
            highs[row] = _mm512_dpbusd_epi32(highs[row], _mm512_andnot_si512(nibble, codes), high);
        }
    }
    let mut sums = lows;
    for (sum, high) in sums.iter_mut().zip(highs) {
        // Each lane is a multiple of 16 below 2^31 in size: the shift is exact.
        *sum = _mm512_add_epi32(*sum, _mm512_srai_epi32::<4>(high));
    }
    sums
}

/// Four rows at a time, then one by one.
macro_rules! gather_codes {
    ($sum:ident, $length:expr, $query:ident, $rows:ident, $ids:ident, $out:ident) => {{
        let length = $length;
        let ahead = rows_ahead(length);
        let base = $rows.data.as_ptr();
        for &id in &$ids[..$ids.len().min(ahead)] {
            prefetch(base.wrapping_add(id as usize * $rows.stride), length);
        }
        let (groups, rest) = $ids.as_chunks::<4>();
        let (outs, rest_out) = $out.as_chunks_mut::<4>();
        for (number, (group, out)) in groups.iter().zip(outs).enumerate() {
            for &id in $ids.iter().skip(4 * number + ahead).take(4) {
                prefetch(base.wrapping_add(id as usize * $rows.stride), length);
            }
            // SAFETY: every id is a row, so all its bytes are within `data`.
            let four = group.map(|id| unsafe { base.add(id as usize * $rows.stride) });
            // SAFETY: the lengths of query and rows fit, by the caller's promise.
            let sums = reduce_i32(unsafe { $sum($query.as_ptr(), four, length) });
            // SAFETY: `out` has four elements.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), sums) };
        }
        for (&id, out) in rest.iter().zip(rest_out) {
            let row = $rows.row(id as usize).as_ptr();
            // SAFETY: the lengths of query and rows fit, by the caller's promise.
            let [sum] = unsafe { $sum($query.as_ptr(), [row], length) };
            *out = _mm512_reduce_add_epi32(sum);
        }
    }};
}

/// # Safety
/// The query has `rows.length` elements, every id is a row, `out` is as long as `ids`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn gather_u8(query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
    // The usual dimensions apart: their loops unroll, and the query stays in registers.
    match rows.length {
        384 => gather_codes!(sum_u8, 384, query, rows, ids, out),
        length => gather_codes!(sum_u8, length, query, rows, ids, out),
    }
}

/// # Safety
/// The query has twice `rows.length` elements, every id is a row, `out` is as long as `ids`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn gather_u4(query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
    match rows.length {
        192 => gather_codes!(sum_u4, 192, query, rows, ids, out),
        length => gather_codes!(sum_u4, length, query, rows, ids, out),
    }
}
