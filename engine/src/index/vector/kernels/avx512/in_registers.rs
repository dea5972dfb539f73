//! What needs whole registers: comparisons that give a bit per value, and the Walsh–Hadamard
//! transform, where 256 values at a time are loaded once, pass through all their steps, and
//! are stored once.

use std::arch::x86_64::*;

use super::super::transform;

/// Values of one register.
const LANES: usize = 16;
/// Registers of one block.
const BLOCK: usize = 16;

/// The same bits as the plain loop: the same sums in the same order.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn hadamard(values: &mut [f32]) {
    let length = values.len();
    let (rows, _) = values.as_chunks_mut::<LANES>();
    match rows.len() {
        0 => return transform::hadamard(values),
        1 => block::<1>(rows),
        2 => block::<2>(rows),
        4 => block::<4>(rows),
        8 => block::<8>(rows),
        _ => rows.chunks_exact_mut(BLOCK).for_each(|rows| block::<BLOCK>(rows)),
    }
    let mut half = LANES * BLOCK;
    while half < length {
        transform::step(values, half);
        half *= 2;
    }
}

/// All steps within `N` registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn block<const N: usize>(rows: &mut [[f32; LANES]]) {
    let mut registers = [_mm512_setzero_ps(); N];
    for (register, row) in registers.iter_mut().zip(rows.iter()) {
        // SAFETY: a row has the values of one register.
        *register = within(unsafe { _mm512_loadu_ps(row.as_ptr()) });
    }
    across::<N, 1>(&mut registers);
    across::<N, 2>(&mut registers);
    across::<N, 4>(&mut registers);
    across::<N, 8>(&mut registers);
    for (register, row) in registers.iter().zip(rows) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_ps(row.as_mut_ptr(), *register) };
    }
}

/// The four steps within one register. Each adds the value at the other place to plus or
/// minus the value here; the product with 1 or −1 is exact, so that only the sum is rounded.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn within(x: __m512) -> __m512 {
    const P: f32 = 1.0;
    const M: f32 = -1.0;
    let x = _mm512_fmadd_ps(
        x,
        _mm512_setr_ps(P, M, P, M, P, M, P, M, P, M, P, M, P, M, P, M),
        _mm512_permute_ps::<0b10_11_00_01>(x),
    );
    let x = _mm512_fmadd_ps(
        x,
        _mm512_setr_ps(P, P, M, M, P, P, M, M, P, P, M, M, P, P, M, M),
        _mm512_permute_ps::<0b01_00_11_10>(x),
    );
    let x = _mm512_fmadd_ps(
        x,
        _mm512_setr_ps(P, P, P, P, M, M, M, M, P, P, P, P, M, M, M, M),
        _mm512_shuffle_f32x4::<0b10_11_00_01>(x, x),
    );
    _mm512_fmadd_ps(
        x,
        _mm512_setr_ps(P, P, P, P, P, P, P, P, M, M, M, M, M, M, M, M),
        _mm512_shuffle_f32x4::<0b01_00_11_10>(x, x),
    )
}

/// One step between registers; nothing when there are too few.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn across<const N: usize, const HALF: usize>(registers: &mut [__m512; N]) {
    for i in 0..N {
        if i & HALF == 0 && i + HALF < N {
            let (a, b) = (registers[i], registers[i + HALF]);
            registers[i] = _mm512_add_ps(a, b);
            registers[i + HALF] = _mm512_sub_ps(a, b);
        }
    }
}

/// Which of up to 64 values are at or above a bound.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn at_least(values: &[f32], bound: f32) -> u64 {
    let (rows, rest) = values.as_chunks::<LANES>();
    let bounds = _mm512_set1_ps(bound);
    let mut mask = 0;
    for (number, row) in rows.iter().enumerate() {
        // SAFETY: a row has the values of one register.
        let row = unsafe { _mm512_loadu_ps(row.as_ptr()) };
        mask |= u64::from(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(row, bounds)) << (LANES * number);
    }
    match rest {
        [] => mask,
        rest => mask | transform::at_least(rest, bound) << (LANES * rows.len()),
    }
}
