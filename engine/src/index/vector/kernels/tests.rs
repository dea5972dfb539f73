//! Every implementation against sums in f64 and i64, written the obvious way.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A small deterministic generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    fn signed(&mut self, length: usize) -> Vec<i8> {
        (0..length).map(|_| self.next() as i8).collect()
    }

    fn floats(&mut self, length: usize) -> Vec<f32> {
        (0..length).map(|_| (self.next() as f64 / f64::from(1u32 << 31) - 1.0) as f32).collect()
    }
}

fn dot(a: &[i64], b: &[i64]) -> i64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn wide<T: Copy + Into<i64>>(values: &[T]) -> Vec<i64> {
    values.iter().map(|&value| value.into()).collect()
}

fn nibbles(packed: &[u8]) -> Vec<i64> {
    packed.iter().flat_map(|&byte| [i64::from(byte & 15), i64::from(byte >> 4)]).collect()
}

/// Whether a float sum is as near to the exact one as rounding allows.
fn near(got: f32, terms: impl Iterator<Item = f64> + Clone) -> bool {
    let exact: f64 = terms.clone().sum();
    let size: f64 = terms.map(f64::abs).sum();
    (f64::from(got) - exact).abs() <= 2e-6 * size + 1e-30
}

fn check_float_pair(a: &[f32], b: &[f32]) {
    let half = |values: &[f32]| values.iter().map(|&value| Bf16::from_f32(value)).collect::<Vec<_>>();
    let (half_a, half_b) = (half(a), half(b));
    let exact = a.iter().zip(b).map(|(&x, &y)| (f64::from(x), f64::from(y)));
    let halved = half_a.iter().zip(&half_b).map(|(x, y)| (f64::from(x.to_f32()), f64::from(y.to_f32())));
    for kernels in all_kernels() {
        let (name, length) = (kernels.name(), a.len());
        assert!(near(kernels.dot_f32(a, b), exact.clone().map(|(x, y)| x * y)), "{name} dot_f32 {length}");
        assert!(
            near(kernels.l2_f32(a, b), exact.clone().map(|(x, y)| (x - y).powi(2))),
            "{name} l2_f32 {length}"
        );
        let (dot, l2) = (kernels.dot_bf16(&half_a, &half_b), kernels.l2_bf16(&half_a, &half_b));
        assert!(near(dot, halved.clone().map(|(x, y)| x * y)), "{name} dot_bf16 {length}");
        assert!(near(l2, halved.clone().map(|(x, y)| (x - y).powi(2))), "{name} l2_bf16 {length}");
    }
}

fn check_byte_pair(a: &[u8], b: &[u8]) {
    let (signed_a, signed_b): (&[i8], &[i8]) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
    let (wide_a, wide_b) = (wide(signed_a), wide(signed_b));
    let l2: i64 = wide_a.iter().zip(&wide_b).map(|(x, y)| (x - y).pow(2)).sum();
    for kernels in all_kernels() {
        let (name, length) = (kernels.name(), a.len());
        assert_eq!(
            i64::from(kernels.dot_i8(signed_a, signed_b)),
            dot(&wide_a, &wide_b),
            "{name} dot_i8 {length}"
        );
        assert_eq!(i64::from(kernels.l2_i8(signed_a, signed_b)), l2, "{name} l2_i8 {length}");
        assert_eq!(i64::from(kernels.dot_u8(a, b)), dot(&wide(a), &wide(b)), "{name} dot_u8 {length}");
        assert_eq!(i64::from(kernels.dot_u4(a, b)), dot(&nibbles(a), &nibbles(b)), "{name} dot_u4 {length}");
    }
}

/// Every kind of batch over rows of `length` dimensions.
fn check_batches(random: &mut Random, length: usize, padding: usize, ids: &[u32], extreme: bool) {
    let count = ids.iter().max().map_or(1, |&id| id as usize + 1);
    let query = if extreme { vec![i8::MIN; length] } else { random.signed(length) };
    let codes: Vec<Vec<u8>> =
        (0..count).map(|_| if extreme { vec![255; length] } else { random.bytes(length) }).collect();
    let floats: Vec<Vec<f32>> = (0..count).map(|_| random.floats(length)).collect();
    let float_query = random.floats(length);
    let packed: Vec<Vec<u8>> = codes
        .iter()
        .map(|codes| {
            let mut packed = vec![0; packed_u4_length(length)];
            pack_u4(codes, &mut packed);
            packed
        })
        .collect();
    let arranged = arrange_query_u4(&query);
    let values: Vec<u8> = (0..length).map(|_| if extreme { 15 } else { random.next() as u8 & 15 }).collect();
    let bit_query = BitQuery::new(&values);
    // Bits beyond the last dimension may be set, and count for nothing.
    let bits: Vec<Vec<u8>> = (0..count)
        .map(|_| if extreme { vec![255; 8 * bit_query.words()] } else { random.bytes(8 * bit_query.words()) })
        .collect();
    let bit = |row: usize, at: usize| i64::from(bits[row][at / 8] >> (at % 8) & 1);

    let flat_floats = flatten(&floats, padding);
    let (flat_codes, flat_packed, flat_bits) =
        (flatten(&codes, padding), flatten(&packed, padding), flatten(&bits, padding));
    for kernels in all_kernels() {
        let name = format!("{} {length}+{padding} {ids:?}", kernels.name());
        let mut out_floats = vec![f32::NAN; ids.len()];
        kernels.gather_f32(&float_query, rows(&flat_floats, padding, length), ids, &mut out_floats);
        let mut out_codes = vec![-1; ids.len()];
        kernels.gather_u8(&query, rows(&flat_codes, padding, length), ids, &mut out_codes);
        let mut out_packed = vec![-1; ids.len()];
        kernels.gather_u4(
            &arranged,
            rows(&flat_packed, padding, packed_u4_length(length)),
            ids,
            &mut out_packed,
        );
        let bit_rows = rows(&flat_bits, padding, 8 * bit_query.words());
        let mut out_bits = vec![u32::MAX; ids.len()];
        kernels.gather_bits(&bit_query, bit_rows, ids, &mut out_bits);
        for (place, &id) in ids.iter().enumerate() {
            let row = id as usize;
            let terms = floats[row].iter().zip(&float_query).map(|(&x, &y)| f64::from(x) * f64::from(y));
            assert!(near(out_floats[place], terms), "gather_f32 {name}");
            assert_eq!(
                i64::from(out_codes[place]),
                dot(&wide(&codes[row]), &wide(&query)),
                "gather_u8 {name}"
            );
            let low: Vec<i64> = codes[row].iter().map(|code| i64::from(code & 15)).collect();
            assert_eq!(i64::from(out_packed[place]), dot(&low, &wide(&query)), "gather_u4 {name}");
            let sum: i64 = (0..length).map(|at| bit(row, at) * i64::from(values[at])).sum();
            assert_eq!(i64::from(out_bits[place]), sum, "gather_bits {name}");
        }
        let from = count / 3;
        let mut range = vec![u32::MAX; count - from];
        kernels.range_bits(&bit_query, bit_rows, from as u32, &mut range);
        for (place, &got) in range.iter().enumerate() {
            let sum: i64 = (0..length).map(|at| bit(from + place, at) * i64::from(values[at])).sum();
            assert_eq!(i64::from(got), sum, "range_bits {name}");
        }
    }
}

/// Rows one after the other with padding between, but neither before the first (which is
/// at an odd address: one element is dropped) nor after the last.
fn flatten<T: Copy + Default>(rows: &[Vec<T>], padding: usize) -> Vec<T> {
    let mut flat = vec![T::default()];
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            flat.resize(flat.len() + padding, T::default());
        }
        flat.extend_from_slice(row);
    }
    flat.shrink_to_fit();
    flat
}

fn rows<T>(flat: &[T], padding: usize, length: usize) -> Rows<'_, T> {
    Rows { data: &flat[1..], stride: length + padding, length }
}

#[test]
fn pairs_of_every_length() {
    let mut random = Random(7);
    for length in 0..1100 {
        let (a, b) = (random.bytes(length + 1), random.bytes(length + 1));
        check_byte_pair(&a[1..], &b[1..]);
        let (a, b) = (random.floats(length + 1), random.floats(length + 1));
        check_float_pair(&a[1..], &b[1..]);
    }
}

#[test]
fn pairs_of_extreme_values() {
    for length in [1, 63, 64, 65, 127, 128, 129, 384, 1000, 20_000, MAXIMUM_LENGTH] {
        for (a, b) in [(255, 255), (128, 128), (128, 127), (127, 127), (255, 128), (0, 255)] {
            check_byte_pair(&vec![a; length], &vec![b; length]);
        }
    }
}

#[test]
fn batches_of_every_length() {
    let mut random = Random(11);
    for length in 0..1100 {
        let count = random.next() as usize % 11;
        let ids: Vec<u32> = (0..count).map(|_| (random.next() % 9) as u32).collect();
        let padding = random.next() as usize % 20;
        check_batches(&mut random, length, padding, &ids, false);
    }
}

#[test]
fn batches_of_extreme_values() {
    let mut random = Random(13);
    for length in [64, 100, 128, 200, 384, 768, 1024, 1088, 1100, 20_000, MAXIMUM_LENGTH] {
        check_batches(&mut random, length, 3, &[0, 2, 1, 2, 0], true);
    }
}

proptest! {
    #[test]
    fn batches_of_any_ids(
        length in 0usize..1100,
        padding in 0usize..100,
        ids in vec(0u32..40, 0..70),
        seed in 1u64..,
    ) {
        check_batches(&mut Random(seed), length, padding, &ids, false);
    }

    #[test]
    fn floats_of_any_size(pairs in vec((-1e15f32..1e15, -1e15f32..1e15), 0..300)) {
        let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        check_float_pair(&a, &b);
    }

    #[test]
    fn nearest_bf16(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        let rounded = Bf16::from_f32(value);
        prop_assert_eq!(value.is_nan(), rounded.to_f32().is_nan());
        if value.is_finite() && rounded.to_f32().is_finite() {
            let error = (f64::from(rounded.to_f32()) - f64::from(value)).abs();
            for neighbour in [rounded.0.wrapping_sub(1), rounded.0.wrapping_add(1)] {
                let other = (f64::from(Bf16(neighbour).to_f32()) - f64::from(value)).abs();
                prop_assert!(other.is_nan() || error < other || (error == other && rounded.0.is_multiple_of(2)));
            }
        }
        prop_assert!(value.is_nan() || Bf16::from_f32(rounded.to_f32()) == rounded);
    }

    #[test]
    fn nibbles_survive_packing(codes in vec(0u8..16, 0..600)) {
        let mut packed = vec![0xFF; packed_u4_length(codes.len())];
        pack_u4(&codes, &mut packed);
        let mut back = vec![0xFF; codes.len()];
        unpack_u4(&packed, &mut back);
        prop_assert_eq!(back, codes);
    }
}

#[test]
fn packed_lengths() {
    assert_eq!([0, 1, 2, 100, 127, 128, 384].map(packed_u4_length), [0, 1, 1, 50, 64, 64, 192]);
}

#[test]
fn a_bit_query_is_set_again() {
    let mut query = BitQuery::new(&[15; 200]);
    query.set(&[1, 2, 3]);
    assert_eq!((query.dimension(), query.words()), (3, 1));
    let mut out = [0];
    kernels().range_bits(
        &query,
        Rows { data: &[0b110, 0, 0, 0, 0, 0, 0, 255], stride: 8, length: 8 },
        0,
        &mut out,
    );
    assert_eq!(out, [5]);
    assert!(catch_unwind(|| BitQuery::new(&[16])).is_err());
}

#[test]
fn cosines() {
    for kernels in all_kernels() {
        assert!((kernels.cosine_f32(&[3.0, 0.0], &[5.0, 0.0]) - 1.0).abs() < 1e-6);
        assert!(kernels.cosine_f32(&[1e18, 0.0], &[0.0, 1e18]).abs() < 1e-6);
        assert_eq!(kernels.cosine_f32(&[0.0, 0.0], &[5.0, 0.0]), 0.0);
        let (one, minus) = (Bf16::from_f32(1.0), Bf16::from_f32(-1.0));
        assert!((kernels.cosine_bf16(&[one], &[minus]) + 1.0).abs() < 1e-6);
    }
}

#[test]
fn what_does_not_fit_panics() {
    let query = BitQuery::new(&[1; 64]);
    let data = [0u8; 100];
    let rows = Rows { data: &data, stride: 10, length: 8 };
    let floats = Rows { data: &[0f32; 10], stride: 5, length: 5 };
    assert_eq!((rows.count(), floats.count()), (10, 2));
    assert_eq!(Rows { data: &data, stride: 0, length: 0 }.count(), usize::MAX);
    let refused = |call: &dyn Fn()| catch_unwind(AssertUnwindSafe(call)).is_err();
    for kernels in all_kernels() {
        assert!(refused(&|| {
            let _ = kernels.dot_f32(&[1.0], &[]);
        }));
        assert!(refused(&|| {
            let _ = kernels.l2_f32(&[], &[1.0]);
        }));
        assert!(refused(&|| {
            let _ = kernels.dot_bf16(&[], &[Bf16(0)]);
        }));
        assert!(refused(&|| {
            let _ = kernels.l2_bf16(&[], &[Bf16(0)]);
        }));
        assert!(refused(&|| {
            let _ = kernels.dot_i8(&[1, 2], &[1]);
        }));
        assert!(refused(&|| {
            let _ = kernels.l2_i8(&[1, 2], &[1]);
        }));
        assert!(refused(&|| {
            let _ = kernels.dot_u8(&[1, 2], &[1]);
        }));
        assert!(refused(&|| {
            let _ = kernels.dot_u4(&[1, 2], &[1]);
        }));
        assert!(refused(&|| {
            let _ = kernels.dot_u8(&[0; MAXIMUM_LENGTH + 1], &[0; MAXIMUM_LENGTH + 1]);
        }));
        for (ids, places) in [(&[10u32][..], 1), (&[0, 1, 2, 3, u32::MAX], 5), (&[0, 0], 1), (&[0], 2)] {
            assert!(refused(&|| kernels.gather_f32(&[0.0; 5], floats, ids, &mut vec![0.0; places])));
            assert!(refused(&|| kernels.gather_u8(&[0; 8], rows, ids, &mut vec![0; places])));
            assert!(refused(&|| kernels.gather_u4(&[0; 16], rows, ids, &mut vec![0; places])));
            assert!(refused(&|| kernels.gather_bits(&query, rows, ids, &mut vec![0; places])));
        }
        assert!(refused(&|| kernels.gather_f32(&[0.0; 5], floats, &[2], &mut [0.0])));
        assert!(refused(&|| kernels.gather_f32(&[0.0; 4], floats, &[0], &mut [0.0])));
        assert!(refused(&|| kernels.gather_u8(&[0; 9], rows, &[0], &mut [0])));
        assert!(refused(&|| kernels.gather_u4(&[0; 8], rows, &[0], &mut [0])));
        assert!(refused(&|| kernels.gather_bits(&query, Rows { length: 7, ..rows }, &[0], &mut [0])));
        assert!(refused(&|| kernels.gather_bits(&query, Rows { stride: 7, ..rows }, &[0], &mut [0])));
        assert!(refused(&|| kernels.range_bits(&query, rows, 9, &mut [0; 2])));
        assert!(refused(&|| kernels.range_bits(&query, rows, 10, &mut [0; 1])));
        assert!(refused(&|| kernels.range_bits(&query, rows, u32::MAX, &mut [0; 1])));
        assert!(!refused(&|| kernels.range_bits(&query, rows, 9, &mut [0; 1])));
        assert!(!refused(&|| kernels.range_bits(&query, rows, u32::MAX, &mut [])));
        assert!(!refused(&|| kernels.gather_u8(
            &[],
            Rows { data: &[], stride: 0, length: 0 },
            &[3, 4],
            &mut [0; 2]
        )));
    }
}

/// The transform as its definition says, step by step.
fn hadamard_of(values: &[f32]) -> Vec<f32> {
    let mut values = values.to_vec();
    let mut half = 1;
    while half < values.len() {
        let before = values.clone();
        for (i, value) in values.iter_mut().enumerate() {
            let other = before[i ^ half];
            *value = if i & half == 0 { before[i] + other } else { other - before[i] };
        }
        half *= 2;
    }
    values
}

#[test]
fn transforms_are_the_same_bits_everywhere() {
    let mut random = Random(29);
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for length in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048] {
        let values = random.floats(length);
        let factors = random.floats(length);
        let mut multiplied = values.clone();
        multiplied.iter_mut().zip(&factors).for_each(|(x, factor)| *x *= factor);
        for kernels in all_kernels() {
            let mut out = values.clone();
            kernels.hadamard(&mut out);
            assert_eq!(bits(&out), bits(&hadamard_of(&values)), "{} of {length}", kernels.name());
            let mut out = values.clone();
            kernels.multiply(&mut out, &factors);
            assert_eq!(bits(&out), bits(&multiplied), "{} of {length}", kernels.name());
        }
    }
}

#[test]
fn bits_say_what_is_at_least_the_bound() {
    let mut random = Random(37);
    for length in 0..=64 {
        let mut values = random.floats(length);
        values.iter_mut().step_by(5).for_each(|value| *value = 0.25);
        for bound in [-2.0, 0.25, 2.0, f32::MIN] {
            let expected: u64 = values.iter().enumerate().map(|(i, x)| u64::from(*x >= bound) << i).sum();
            for kernels in all_kernels() {
                let mask: u64 = kernels.at_least(&values, bound);
                assert_eq!(mask, expected, "{} of {length}", kernels.name());
            }
        }
    }
}

#[test]
fn vectors_get_unit_length() {
    let mut random = Random(31);
    let scalar = all_kernels()[0];
    for length in 1..200 {
        for scale in [1.0, 1e-30, 1e30] {
            let values: Vec<f32> = random.floats(length).iter().map(|x| (x + 1.5) * scale).collect();
            let mut expected = vec![0.0; length];
            assert!(scalar.normalize(&values, &mut expected));
            let norm: f64 = expected.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
            assert!((norm - 1.0).abs() < 1e-6, "{norm} of {length}");
            for kernels in all_kernels() {
                let mut out = vec![0.0; length];
                assert!(kernels.normalize(&values, &mut out));
                assert_eq!(out, expected, "{} of {length}", kernels.name());
            }
        }
        for bad in [vec![0.0; length], vec![f32::NAN; length], vec![f32::INFINITY; length]] {
            for kernels in all_kernels() {
                assert!(!kernels.normalize(&bad, &mut vec![0.0; length]), "{}", kernels.name());
            }
        }
    }
}

#[test]
fn implementations_in_order() {
    let names: Vec<_> = all_kernels().iter().map(|kernels| kernels.name()).collect();
    assert_eq!(names[..2], ["scalar", "simsimd"]);
    assert_eq!(kernels().name(), names[names.len() - 1]);
}
