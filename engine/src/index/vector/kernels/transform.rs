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
        for pair in values.chunks_exact_mut(half * 2) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
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
