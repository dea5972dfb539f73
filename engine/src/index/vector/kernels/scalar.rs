//! Plain Rust, written so that the compiler can vectorise it: the reference of the other
//! implementations, and the last resort.

use super::bits::Planes;
use super::nibbles::BLOCK;
use super::{Bf16, BitQuery, Kernels, Rows, check_gather, check_gather_bits, check_pair, check_range_bits};

/// Independent sums, so that the compiler need not keep one order of addition.
const LANES: usize = 16;

pub(super) struct Scalar;

impl Kernels for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn dot_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        check_pair(a, b);
        sum(a, b, |x, y| x * y)
    }

    fn l2_f32(&self, a: &[f32], b: &[f32]) -> f32 {
        check_pair(a, b);
        sum(a, b, |x, y| (x - y) * (x - y))
    }

    fn dot_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        check_pair(a, b);
        sum(a, b, |x, y| x.to_f32() * y.to_f32())
    }

    fn l2_bf16(&self, a: &[Bf16], b: &[Bf16]) -> f32 {
        check_pair(a, b);
        sum(a, b, |x, y| {
            let difference = x.to_f32() - y.to_f32();
            difference * difference
        })
    }

    fn dot_i8(&self, a: &[i8], b: &[i8]) -> i32 {
        check_pair(a, b);
        a.iter().zip(b).map(|(&x, &y)| i32::from(i16::from(x) * i16::from(y))).sum()
    }

    fn l2_i8(&self, a: &[i8], b: &[i8]) -> u32 {
        check_pair(a, b);
        a.iter().zip(b).map(|(&x, &y)| u32::from(x.abs_diff(y)).pow(2)).sum()
    }

    fn dot_u8(&self, a: &[u8], b: &[u8]) -> u32 {
        check_pair(a, b);
        a.iter().zip(b).map(|(&x, &y)| u32::from(x) * u32::from(y)).sum()
    }

    fn dot_u4(&self, a: &[u8], b: &[u8]) -> u32 {
        check_pair(a, b);
        a.iter().zip(b).map(|(&x, &y)| u32::from((x & 15) * (y & 15)) + u32::from((x >> 4) * (y >> 4))).sum()
    }

    fn gather_f32(&self, query: &[f32], rows: Rows<'_, f32>, ids: &[u32], out: &mut [f32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        for (&id, out) in ids.iter().zip(out) {
            *out = sum(query, rows.row(id as usize), |x, y| x * y);
        }
    }

    fn gather_u8(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        check_gather(query.len(), rows.length, &rows, ids, out.len());
        for (&id, out) in ids.iter().zip(out) {
            *out = dot_u8_i8(rows.row(id as usize), query);
        }
    }

    fn gather_u4(&self, query: &[i8], rows: Rows<'_, u8>, ids: &[u32], out: &mut [i32]) {
        check_gather(query.len(), 2 * rows.length, &rows, ids, out.len());
        for (&id, out) in ids.iter().zip(out) {
            *out = dot_u4_i8(rows.row(id as usize), query);
        }
    }

    fn gather_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, ids: &[u32], out: &mut [u32]) {
        check_gather_bits(query, &rows, ids, out.len());
        for (&id, out) in ids.iter().zip(out) {
            *out = sum_bits(query.planes(), rows.row(id as usize));
        }
    }

    fn range_bits(&self, query: &BitQuery, rows: Rows<'_, u8>, from: u32, out: &mut [u32]) {
        check_range_bits(query, &rows, from, out.len());
        for (row, out) in (from as usize..).zip(out) {
            *out = sum_bits(query.planes(), rows.row(row));
        }
    }
}

#[inline(always)]
fn sum<T: Copy>(a: &[T], b: &[T], term: impl Fn(T, T) -> f32) -> f32 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += term(a[lane], b[lane]);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(&x, &y)| term(x, y)).sum();
    lanes.iter().sum::<f32>() + rest
}

/// Sum of code times query; slices of one length.
#[inline(always)]
pub(super) fn dot_u8_i8(codes: &[u8], query: &[i8]) -> i32 {
    codes.iter().zip(query).map(|(&code, &value)| i32::from(i16::from(code) * i16::from(value))).sum()
}

/// Sum of nibble times query; the query is arranged and twice as long as the code.
#[inline(always)]
pub(super) fn dot_u4_i8(code: &[u8], query: &[i8]) -> i32 {
    code.chunks(BLOCK)
        .zip(query.chunks(2 * BLOCK))
        .map(|(code, query)| {
            let (low, high) = query.split_at(code.len());
            code.iter()
                .zip(low.iter().zip(high))
                .map(|(&byte, (&low, &high))| {
                    i32::from(i16::from(byte & 15) * i16::from(low) + i16::from(byte >> 4) * i16::from(high))
                })
                .sum::<i32>()
        })
        .sum()
}

/// Sum of the query's values where the row has a set bit, by its planes.
#[inline(always)]
pub(super) fn sum_bits(planes: &[Planes], row: &[u8]) -> u32 {
    let mut counts = [0; 4];
    let mut add = |planes: &Planes, position: usize, word: [u8; 8]| {
        let word = u64::from_le_bytes(word);
        for (count, plane) in counts.iter_mut().zip(planes) {
            *count += (word & plane[position]).count_ones();
        }
    };
    let (pairs, rest) = row.as_chunks::<8>().0.as_chunks::<2>();
    for (planes, pair) in planes.iter().zip(pairs) {
        add(planes, 0, pair[0]);
        add(planes, 1, pair[1]);
    }
    // A last word alone: there is nothing in the other half of its planes.
    if let (Some(planes), [word]) = (planes.get(pairs.len()), rest) {
        add(planes, 0, *word);
    }
    counts[0] + 2 * counts[1] + 4 * counts[2] + 8 * counts[3]
}
