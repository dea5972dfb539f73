//! The distance kernels, implementations side by side: pairs and batches in cache, and
//! batches gathered at random from an array far larger than the caches.
//!
//! Times are of batches of 256 rows. To see huge pages with the large array, run with
//! `GLIBC_TUNABLES=glibc.malloc.hugetlb=1`.

#![allow(missing_docs)]

#[path = "common/random.rs"]
mod random;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memcards::index::vector::kernels::{
    Bf16, BitQuery, Kernels, Rows, all_kernels, arrange_query_u4, packed_u4_length,
};

use random::Random;

const DIMENSIONS: [usize; 5] = [64, 100, 384, 768, 1024];
const BATCH: usize = 256;
/// Bytes of rows that stay in the second-level cache.
const CACHE: usize = 1 << 18;
/// Bytes of the large array.
const MEMORY: usize = 512 << 20;

/// Values to measure with.
trait Values {
    fn bytes(&mut self, length: usize) -> Vec<u8>;
    fn signed(&mut self, length: usize) -> Vec<i8>;
    fn floats(&mut self, length: usize) -> Vec<f32>;
}

impl Values for Random {
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    fn signed(&mut self, length: usize) -> Vec<i8> {
        (0..length).map(|_| self.below(256) as u8 as i8).collect()
    }

    fn floats(&mut self, length: usize) -> Vec<f32> {
        (0..length).map(|_| self.below(2001) as f32 / 1000.0 - 1.0).collect()
    }
}

fn measure(criterion: &mut Criterion, name: &str, rows: usize, mut run: impl FnMut(&dyn Kernels)) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(rows as u64));
    for kernels in all_kernels() {
        group.bench_function(kernels.name(), |bencher| bencher.iter(|| run(kernels)));
    }
    group.finish();
}

fn pairs(criterion: &mut Criterion) {
    let mut random = Random(3);
    for dimension in DIMENSIONS {
        let count = (CACHE / 4 / dimension).min(BATCH);
        let mut pair = |name: &str, run: &dyn Fn(&dyn Kernels, usize) -> f32| {
            measure(criterion, &format!("pair/{name}/{dimension}"), count, |kernels| {
                for row in 0..count {
                    black_box(run(kernels, row));
                }
            });
        };
        let floats = random.floats(dimension * count);
        let float = |row: usize| &floats[row * dimension..][..dimension];
        pair("dot_f32", &|kernels, row| kernels.dot_f32(float(0), float(row)));
        pair("l2_f32", &|kernels, row| kernels.l2_f32(float(0), float(row)));
        let halves: Vec<Bf16> = floats.iter().map(|&value| Bf16::from_f32(value)).collect();
        let half = |row: usize| &halves[row * dimension..][..dimension];
        pair("dot_bf16", &|kernels, row| kernels.dot_bf16(half(0), half(row)));
        pair("l2_bf16", &|kernels, row| kernels.l2_bf16(half(0), half(row)));
        let signed = random.signed(dimension * count);
        let signed = |row: usize| &signed[row * dimension..][..dimension];
        pair("dot_i8", &|kernels, row| kernels.dot_i8(signed(0), signed(row)) as f32);
        pair("l2_i8", &|kernels, row| kernels.l2_i8(signed(0), signed(row)) as f32);
        let codes = random.bytes(dimension * count);
        let code = |row: usize| &codes[row * dimension..][..dimension];
        pair("dot_u8", &|kernels, row| kernels.dot_u8(code(0), code(row)) as f32);
        let length = packed_u4_length(dimension);
        let packed = |row: usize| &codes[row * length..][..length];
        pair("dot_u4", &|kernels, row| kernels.dot_u4(packed(0), packed(row)) as f32);
    }
}

/// Batches over `bytes` bytes of rows. In cache all rows in random order; otherwise random
/// rows, new ones in every batch.
fn batches(criterion: &mut Criterion, place: &str, bytes: usize, dimensions: &[usize]) {
    let mut random = Random(5);
    let codes: Vec<u8> = (0..bytes).map(|at| (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as u8).collect();
    let floats: Vec<f32> = (0..bytes / 4).map(|at| (at % 1999) as f32 / 1000.0 - 1.0).collect();
    for &dimension in dimensions {
        let query = random.signed(dimension);
        let arranged = arrange_query_u4(&query);
        let float_query = random.floats(dimension);
        let values: Vec<u8> = (0..dimension).map(|_| random.below(16) as u8).collect();
        let bit_query = BitQuery::new(&values);
        let words = 8 * bit_query.words();
        let length = packed_u4_length(dimension);

        let mut batch = |name: &str, count: usize, run: &mut dyn FnMut(&dyn Kernels, &[u32])| {
            let ids: Vec<u32> = (0..1 << 20).map(|_| random.below(count) as u32).collect();
            let mut start = 0;
            measure(criterion, &format!("{place}/{name}/{dimension}"), BATCH, |kernels| {
                run(kernels, &ids[start..start + BATCH]);
                start = (start + BATCH) % ids.len();
            });
        };
        let rows = Rows { data: &floats[..], stride: dimension, length: dimension };
        let mut out = [0.0; BATCH];
        batch("gather_f32", rows.count(), &mut |kernels, ids| {
            kernels.gather_f32(&float_query, rows, ids, &mut out);
        });
        let rows = Rows { data: &codes[..], stride: dimension, length: dimension };
        let mut out = [0; BATCH];
        batch("gather_u8", rows.count(), &mut |kernels, ids| {
            kernels.gather_u8(&query, rows, ids, &mut out);
        });
        let rows = Rows { data: &codes[..], stride: length, length };
        batch("gather_u4", rows.count(), &mut |kernels, ids| {
            kernels.gather_u4(&arranged, rows, ids, &mut out);
        });
        let rows = Rows { data: &codes[..], stride: words, length: words };
        let mut out = [0; BATCH];
        batch("gather_bits", rows.count(), &mut |kernels, ids| {
            kernels.gather_bits(&bit_query, rows, ids, &mut out);
        });
        let mut from = 0;
        batch("range_bits", rows.count(), &mut |kernels, _| {
            from = if from + 2 * BATCH <= rows.count() { from + BATCH } else { 0 };
            kernels.range_bits(&bit_query, rows, from as u32, &mut out);
        });
        // A row of 8 more bytes: what a code carries beside its bits.
        let rows = Rows { data: &codes[..], stride: words + 8, length: words };
        batch("range_bits_and_8", rows.count(), &mut |kernels, _| {
            from = if from + 2 * BATCH <= rows.count() { from + BATCH } else { 0 };
            kernels.range_bits(&bit_query, rows, from as u32, &mut out);
        });
    }
}

fn in_cache(criterion: &mut Criterion) {
    batches(criterion, "cache", CACHE, &DIMENSIONS);
}

fn from_memory(criterion: &mut Criterion) {
    batches(criterion, "memory", MEMORY, &[100, 384, 768, 1024]);
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(100))
        .measurement_time(std::time::Duration::from_millis(400))
        .sample_size(30)
}

criterion_group! { name = benches; config = short(); targets = pairs, in_cache, from_memory }
criterion_main!(benches);
