//! Codes: a vector in few bits, and what a query needs to be compared with them.
//!
//! Two kinds. [`bits`](encode_bits): one sign bit per rotated coordinate, for the first pass
//! of a scan (RaBitQ, Gao and Long, SIGMOD 2024: an unbiased estimate of the cosine with a
//! known spread). [`Scalar`]: 4 or 8 bits per rotated coordinate with a scale per vector,
//! for the walk through a graph. Vectors here are of unit length and rotated; this module
//! knows nothing of rows or graphs.

use crate::index::vector::kernels::{
    self, BitQuery, Kernels, arrange_query_u4_into, pack_u4, packed_u4_length,
};

/// Bytes behind the bits of a row: factor and population count.
const BIT_TAIL: usize = 8;
/// Best step of a uniform quantiser of 16 levels for a normal distribution, in standard
/// deviations (Max, 1960).
const STEP_16: f32 = 0.3352;

/// The nearest integer of a small number. Adding 1.5 · 2²³ leaves it in the low bits: a
/// call per number, which rounding is without newer instructions, takes longer than all else.
#[inline]
fn rounded(value: f32) -> i32 {
    (value + 12_582_912.0).to_bits() as i32 - 0x4B40_0000
}

/// Sums and comparisons that run side by side: in a chain each would wait for the last.
const LANES: usize = 16;

/// The sum of a term of every value, in the same order everywhere.
fn sum_of(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0f32; LANES];
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += term(*value));
    }
    sums.iter_mut().zip(rest).for_each(|(sum, value)| *sum += term(*value));
    sums.iter().sum()
}

/// The least and the greatest of some values and zero.
fn range_of(values: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([0f32; LANES], [0f32; LANES]);
    let mut take = |lanes: &[f32]| {
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(lanes) {
            *low = if *x < *low { *x } else { *low };
            *high = if *x > *high { *x } else { *high };
        }
    };
    let (blocks, rest) = values.as_chunks::<LANES>();
    blocks.iter().for_each(|block| take(block));
    take(rest);
    (low.into_iter().fold(0.0, f32::min), high.into_iter().fold(0.0, f32::max))
}

/// The greatest magnitude.
fn largest(values: &[f32]) -> f32 {
    let (low, high) = range_of(values);
    high.max(-low)
}

/// Bytes of one row of sign bits.
pub(crate) fn bit_row_length(dimension: usize) -> usize {
    dimension.div_ceil(64) * 8 + BIT_TAIL
}

/// Writes the sign bits of a rotated unit vector and what turns a sum over them into a
/// cosine. `out` is [`bit_row_length`] bytes, zeroed.
pub(crate) fn encode_bits(rotated: &[f32], out: &mut [u8]) {
    let words = rotated.len().div_ceil(64) * 8;
    let (bits, tail) = out.split_at_mut(words);
    for (byte, values) in bits.iter_mut().zip(rotated.chunks(8)) {
        *byte = values.iter().enumerate().fold(0, |byte, (i, value)| byte | u8::from(*value > 0.0) << i);
    }
    let ones = bits.iter().map(|byte| byte.count_ones()).sum::<u32>() as f32;
    let sum = sum_of(rotated, |value| value.abs());
    let factor = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    tail[..4].copy_from_slice(&factor.to_le_bytes());
    tail[4..8].copy_from_slice(&ones.to_le_bytes());
}

/// How far an estimate from sign bits may be off: one standard deviation.
///
/// The error of the estimate of a cosine is √(1/f² − 1)/√(d − 1) for a row whose sign vector
/// has the cosine f with it; f is √(2/π) on average after rotation. The query is rounded
/// to 16 levels, which adds about a tenth.
pub(crate) fn bit_error(dimension: usize) -> f32 {
    let squared = std::f32::consts::PI / 2.0 - 1.0;
    1.1 * (squared / (dimension.max(2) - 1) as f32).sqrt()
}

/// Width of a scalar code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// 16 levels, two coordinates per byte.
    Four,
    /// 256 levels.
    Eight,
}

/// Scalar codes of one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub(crate) dimension: usize,
    pub(crate) width: Width,
}

impl Scalar {
    /// The codes that vectors of this dimension get. Errors of single coordinates average
    /// out over many, so long vectors do with 4 bits; short ones would lose neighbours.
    pub(crate) fn of(dimension: usize) -> Self {
        Self { dimension, width: if dimension >= 256 { Width::Four } else { Width::Eight } }
    }

    /// Bytes of one code.
    pub(crate) fn length(self) -> usize {
        match self.width {
            Width::Four => packed_u4_length(self.dimension),
            Width::Eight => self.dimension,
        }
    }

    /// The value of a code that stands for zero.
    fn middle(self) -> f32 {
        match self.width {
            Width::Four => 7.5,
            Width::Eight => 127.5,
        }
    }

    /// One standard deviation of the error of a cosine estimated from a code.
    pub(crate) fn error(self) -> f32 {
        let squared = match self.width {
            // The quantiser's mean squared error for a normal distribution (Max, 1960).
            Width::Four => 0.01154,
            Width::Eight => 0.0002,
        };
        (squared / (self.dimension.max(2) - 1) as f32).sqrt()
    }

    /// Encodes a rotated unit vector. `levels` is room for one byte per coordinate, `out`
    /// for a code. Gives its scale and sum.
    pub(crate) fn encode(self, rotated: &[f32], levels: &mut Vec<u8>, out: &mut [u8]) -> CodeTail {
        let norm = sum_of(rotated, |x| x * x).sqrt();
        let (step, most) = match self.width {
            Width::Four => (STEP_16 * norm / (self.dimension.max(1) as f32).sqrt(), 15.0),
            Width::Eight => (largest(rotated) / 127.5, 255.0),
        };
        let middle = self.middle();
        let per_step = if step > 0.0 { 1.0 / step } else { 0.0 };
        levels.clear();
        levels.extend(rotated.iter().map(|x| rounded((x * per_step + middle).clamp(0.0, most)) as u8));
        let sum: u32 = levels.iter().map(|level| u32::from(*level)).sum();
        let mut parts = [0f32; LANES];
        for (levels, values) in levels.chunks(LANES).zip(rotated.chunks(LANES)) {
            for ((part, level), value) in parts.iter_mut().zip(levels).zip(values) {
                *part += (f32::from(*level) - middle) * value;
            }
        }
        let along: f32 = parts.iter().sum();
        match self.width {
            Width::Four => pack_u4(levels, out),
            Width::Eight => out.copy_from_slice(levels),
        }
        // Scaled so that the code's dot product with its own vector is exact: the estimate
        // has no bias along it.
        let scale = if along > 0.0 { norm * norm / along } else { 0.0 };
        let sum = sum as i32 - self.middle_sum();
        CodeTail { scale, sum: sum.clamp(i16::MIN.into(), i16::MAX.into()) as i16 }
    }

    /// What sums of codes are counted from: that of a vector around zero, rounded down.
    fn middle_sum(self) -> i32 {
        let most = match self.width {
            Width::Four => 15,
            Width::Eight => 255,
        };
        (most * self.dimension / 2) as i32
    }

    /// Estimated cosine of two coded vectors.
    #[inline]
    pub(crate) fn pair(
        self,
        kernels: &dyn Kernels,
        (a, a_tail): (&[u8], CodeTail),
        (b, b_tail): (&[u8], CodeTail),
    ) -> f32 {
        let dot = match self.width {
            Width::Four => kernels.dot_u4(a, b),
            Width::Eight => kernels.dot_u8(a, b),
        };
        let middle = self.middle();
        let sums = (i32::from(a_tail.sum) + i32::from(b_tail.sum) + 2 * self.middle_sum()) as f32;
        let centered = dot as f32 - middle * sums + middle * middle * self.dimension as f32;
        a_tail.scale * b_tail.scale * centered
    }
}

/// What turns an integer dot product with a code into a cosine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CodeTail {
    pub(crate) scale: f32,
    /// Of the code's numbers, less what it would be around zero ([`Scalar::middle_sum`]). Sums
    /// of a rotated vector stay near it: every sum fits up to 4,368 numbers, and the longest
    /// vectors have forty standard deviations of room.
    pub(crate) sum: i16,
}

impl CodeTail {
    /// Equal for equal tails, bit by bit, and in an order.
    pub(crate) fn key(self) -> (u32, i16) {
        (self.scale.to_bits(), self.sum)
    }
}

/// A query as the codes need it. Reused from query to query.
#[derive(Debug, Default)]
pub(crate) struct CodedQuery {
    rotated: Vec<f32>,
    levels: Vec<u8>,
    bits: BitQuery,
    /// Cosine = (slope · sum + ones · offset − total) · factor of the row.
    slope: f32,
    offset: f32,
    total: f32,
    signed: Vec<i8>,
    arranged: Vec<i8>,
    /// Cosine = scale of the row · step · (sum − correction).
    step: f32,
    correction: f32,
    width: Option<Width>,
}

impl CodedQuery {
    /// Room for a rotated query of a dimension, to be filled before [`CodedQuery::prepare`].
    pub(crate) fn rotated(&mut self) -> &mut Vec<f32> {
        &mut self.rotated
    }

    /// Prepares the rotated query for scans over sign bits.
    pub(crate) fn prepare_bits(&mut self) {
        let (low, high) = range_of(&self.rotated);
        let step = (high - low) / 15.0;
        let per_step = if step > 0.0 { 1.0 / step } else { 0.0 };
        self.levels.clear();
        self.levels
            .extend(self.rotated.iter().map(|x| rounded(((x - low) * per_step).clamp(0.0, 15.0)) as u8));
        self.bits.set(&self.levels);
        self.slope = 2.0 * step;
        self.offset = 2.0 * low;
        // Of the rounded values, so that their error does not add up.
        let levels: u32 = self.levels.iter().map(|level| u32::from(*level)).sum();
        self.total = levels as f32 * step + low * self.levels.len() as f32;
    }

    /// Prepares the rotated query for scalar codes.
    pub(crate) fn prepare_scalar(&mut self, scalar: Scalar) {
        let most = largest(&self.rotated);
        let per_step = if most > 0.0 { 127.0 / most } else { 0.0 };
        self.signed.clear();
        self.signed.extend(self.rotated.iter().map(|x| rounded(x * per_step) as i8));
        let total: i32 = self.signed.iter().map(|x| i32::from(*x)).sum();
        self.step = most / 127.0;
        self.correction = scalar.middle() * total as f32;
        self.width = Some(scalar.width);
        if scalar.width == Width::Four {
            arrange_query_u4_into(&self.signed, &mut self.arranged);
        }
    }

    /// Appends the estimated cosines of gathered rows of sign bits.
    pub(crate) fn gather_bits(
        &self,
        kernels: &dyn Kernels,
        rows: kernels::Rows<'_, u8>,
        ids: &[u32],
        sums: &mut Vec<u32>,
        out: &mut Vec<f32>,
    ) {
        sums.resize(ids.len(), 0);
        kernels.gather_bits(&self.bits, rows, ids, sums);
        out.extend(sums.iter().zip(ids).map(|(sum, id)| {
            let at = *id as usize * rows.stride;
            self.cosine_of_bits(&rows.data[at..at + rows.stride], *sum)
        }));
    }

    /// Appends the estimated cosines of `count` rows of sign bits in sequence.
    pub(crate) fn range_bits(
        &self,
        kernels: &dyn Kernels,
        rows: kernels::Rows<'_, u8>,
        (from, count): (u32, usize),
        sums: &mut Vec<u32>,
        out: &mut Vec<f32>,
    ) {
        sums.resize(count, 0);
        kernels.range_bits(&self.bits, rows, from, sums);
        let rows = rows.data[from as usize * rows.stride..].chunks_exact(rows.stride);
        out.extend(sums.iter().zip(rows).map(|(sum, row)| self.cosine_of_bits(row, *sum)));
    }

    #[inline]
    fn cosine_of_bits(&self, row: &[u8], sum: u32) -> f32 {
        let Some((_, tail)) = row.split_last_chunk::<BIT_TAIL>() else { return 0.0 };
        let [f0, f1, f2, f3, ones @ ..] = *tail;
        let (factor, ones) = (f32::from_le_bytes([f0, f1, f2, f3]), f32::from_le_bytes(ones));
        (self.slope * sum as f32 + self.offset * ones - self.total) * factor
    }

    /// Dot products of gathered scalar codes, to be turned into cosines by
    /// [`CodedQuery::cosine`].
    #[inline]
    pub(crate) fn gather_scalar(
        &self,
        kernels: &dyn Kernels,
        rows: kernels::Rows<'_, u8>,
        ids: &[u32],
        out: &mut [i32],
    ) {
        match self.width {
            Some(Width::Four) => kernels.gather_u4(&self.arranged, rows, ids, out),
            _ => kernels.gather_u8(&self.signed, rows, ids, out),
        }
    }

    /// The estimated cosine from a dot product with a code of that scale.
    #[inline]
    pub(crate) fn cosine(&self, scale: f32, dot: i32) -> f32 {
        scale * self.step * (dot as f32 - self.correction)
    }
}
