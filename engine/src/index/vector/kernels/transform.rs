//! Loops that the compiler vectorises well once it may use the CPU's instructions: each is
//! written once and compiled for several of them. Results are the same bits everywhere.

/// The Walsh–Hadamard transform, not normalised; the length is a power of two.
#[inline(always)]
pub(super) fn hadamard(values: &mut [f32]) {
    // The first steps within 16 values, which stay in registers.
    let (blocks, rest) = values.as_chunks_mut::<16>();
    for block in blocks {
        butterflies::<1, 16>(block);
        butterflies::<2, 16>(block);
        butterflies::<4, 16>(block);
        butterflies::<8, 16>(block);
    }
    let mut half = if rest.is_empty() { 16 } else { 1 };
    while half < values.len() {
        step(values, half);
        half *= 2;
    }
}

/// One step: sums and differences of values that lie `half` apart.
#[inline(always)]
pub(super) fn step(values: &mut [f32], half: usize) {
    for pair in values.chunks_exact_mut(half * 2) {
        let (low, high) = pair.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
}

#[inline(always)]
fn butterflies<const HALF: usize, const LENGTH: usize>(values: &mut [f32; LENGTH]) {
    let before = *values;
    for (i, value) in values.iter_mut().enumerate() {
        let other = before[i ^ HALF];
        *value = if i & HALF == 0 { before[i] + other } else { other - before[i] };
    }
}

/// How many bits are set.
#[inline(always)]
pub(super) fn count_ones(words: &[u64]) -> usize {
    words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() as usize
}

/// Sums that run side by side: one alone would wait for each addition.
const SUMS: usize = 16;

/// Brings a vector to unit length; false when it has no direction.
#[inline(always)]
pub(super) fn normalize(values: &[f32], out: &mut [f32]) -> bool {
    let mut sums = [0f64; SUMS];
    let (blocks, rest) = values.as_chunks::<SUMS>();
    for block in blocks {
        for (sum, x) in sums.iter_mut().zip(block) {
            *sum += f64::from(*x) * f64::from(*x);
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum += f64::from(*x) * f64::from(*x);
    }
    let mut half = SUMS / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    let scale = sums[0].sqrt().recip();
    for (out, x) in out.iter_mut().zip(values) {
        *out = (f64::from(*x) * scale) as f32;
    }
    scale > 0.0 && scale.is_finite()
}

/// Products, one by one.
#[inline(always)]
pub(super) fn multiply(values: &mut [f32], factors: &[f32]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= factor;
    }
}

/// Which of up to 64 values are at or above a bound, one bit each.
#[inline(always)]
pub(super) fn at_least(values: &[f32], bound: f32) -> u64 {
    values.iter().enumerate().fold(0, |mask, (i, value)| mask | u64::from(*value >= bound) << i)
}
