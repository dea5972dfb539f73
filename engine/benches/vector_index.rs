//! The vector index: building, searching by length of the list, with filters and with a
//! head that is not linked yet, churn, saving and opening. The vectors are synthetic:
//! clusters in a space of few dimensions turned into one of 384, as embeddings are spread.

#![allow(missing_docs)]

#[path = "common/random.rs"]
mod random;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use memcards::index::rows::RowSet;
use memcards::index::vector::{Maintenance, SearchOptions, VectorIndex, VectorOptions};
use memcards::store::io::RealIo;

use random::Random;

const DIMENSION: usize = 384;
const LATENT: usize = 24;
const CLUSTERS: usize = 100;
/// Vectors of the index that is searched.
const COUNT: usize = 50_000;
/// Vectors of the one that is built again and again.
const BUILT: usize = 10_000;
const QUERIES: usize = 256;
const WANTED: usize = 10;

/// Nearly normal, variance 1.
fn normal(random: &mut Random) -> f32 {
    let sum: f32 = (0..4).map(|_| random.below(1 << 16) as f32 / 65_536.0 - 0.5).sum();
    sum * 3f32.sqrt()
}

/// Rows and the cluster of each.
struct Data {
    rows: Vec<f32>,
    clusters: Vec<usize>,
}

impl Data {
    fn new(count: usize) -> Self {
        let mut random = Random(7);
        let centers: Vec<f32> = (0..CLUSTERS * LATENT).map(|_| normal(&mut random)).collect();
        let turn: Vec<f32> = (0..LATENT * DIMENSION).map(|_| normal(&mut random)).collect();
        let mut data = Self { rows: Vec::with_capacity(count * DIMENSION), clusters: Vec::new() };
        for _ in 0..count {
            let cluster = random.below(CLUSTERS);
            let start = data.rows.len();
            data.rows.resize(start + DIMENSION, 0.0);
            for (center, turn) in centers[cluster * LATENT..].iter().zip(turn.chunks_exact(DIMENSION)) {
                let value = center + 0.6 * normal(&mut random);
                data.rows[start..].iter_mut().zip(turn).for_each(|(out, turn)| *out += value * turn);
            }
            data.clusters.push(cluster);
        }
        data
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * DIMENSION..][..DIMENSION]
    }

    fn index(&self, count: usize, maintenance: Maintenance, threads: usize) -> VectorIndex {
        let options = VectorOptions { dimension: DIMENSION, seed: 7, graph_from: 1_000, maintenance };
        let index = VectorIndex::new(options);
        index
            .insert_all((0..).zip(self.rows.chunks_exact(DIMENSION).take(count)), threads)
            .expect("what the bench made itself");
        index
    }
}

/// Searches with one query after the other.
fn search(
    bencher: &mut criterion::Bencher<'_>,
    data: &Data,
    index: &VectorIndex,
    options: &SearchOptions<'_>,
) {
    let mut out = Vec::new();
    let mut next = 0;
    bencher.iter(|| {
        next = (next + 1) % QUERIES;
        black_box(index.search_into(data.row(COUNT + next), WANTED, options, &mut out));
    });
}

fn searches(criterion: &mut Criterion) {
    let data = Data::new(COUNT + QUERIES);
    let index = data.index(COUNT, Maintenance::Background, 2);
    let mut group = criterion.benchmark_group("vector_index/search");
    for ef in [16, 32, 64, 128, 256] {
        let options = SearchOptions { ef: Some(ef), ..Default::default() };
        group.bench_function(BenchmarkId::new("ef", ef), |bencher| search(bencher, &data, &index, &options));
    }
    group.finish();

    let mut random = Random(11);
    let mut share =
        |permille: usize| -> RowSet { (0..COUNT as u32).filter(|_| random.below(1000) < permille).collect() };
    let sets = [
        ("50%", share(500)),
        ("10%", share(100)),
        ("1%", share(10)),
        ("0.1%", share(1)),
        ("clustered-1%", (0..COUNT as u32).filter(|id| data.clusters[*id as usize] == 3).collect()),
    ];
    let mut group = criterion.benchmark_group("vector_index/filtered");
    for (name, allowed) in &sets {
        let options = SearchOptions { ef: Some(64), allowed: Some(allowed) };
        group.bench_function(*name, |bencher| search(bencher, &data, &index, &options));
    }
    group.finish();

    // Slots that wait to be linked.
    let mut group = criterion.benchmark_group("vector_index/head");
    let options = SearchOptions { ef: Some(64), ..Default::default() };
    let mut waiting = 0;
    for head in [0, 256, 1_024, 4_096] {
        while waiting < head {
            index.append((COUNT + waiting) as u32, data.row(waiting)).expect("what the bench made itself");
            waiting += 1;
        }
        group.bench_function(BenchmarkId::new("waiting", head), |bencher| {
            search(bencher, &data, &index, &options);
        });
    }
    group.finish();
    files(criterion, &index);
}

fn files(criterion: &mut Criterion, index: &VectorIndex) {
    let folder = tempfile::tempdir().expect("what the bench made itself");
    let path = folder.path().join("index");
    let bytes = index.save(&RealIo, &path, [1, 1]).expect("what the bench made itself");
    let mut group = criterion.benchmark_group("vector_index/files");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.bench_function("open", |bencher| {
        bencher.iter(|| {
            VectorIndex::open(&RealIo, &path, &VectorOptions::default(), [1, 1])
                .expect("what the bench made itself")
        });
    });
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("save", |bencher| {
        bencher.iter(|| index.save(&RealIo, &path, [1, 1]).expect("what the bench made itself"))
    });
    group.finish();
}

fn builds(criterion: &mut Criterion) {
    let data = Data::new(BUILT);
    let mut group = criterion.benchmark_group("vector_index/build");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(BUILT as u64));
    for threads in [1, 2] {
        group.bench_function(BenchmarkId::new("threads", threads), |bencher| {
            bencher.iter(|| data.index(BUILT, Maintenance::Inline, threads));
        });
    }
    group.finish();
}

/// A vector goes, another comes, somebody asks: all maintenance counted.
fn churn(criterion: &mut Criterion) {
    let data = Data::new(COUNT + QUERIES);
    let mut group = criterion.benchmark_group("vector_index/churn");
    group.sample_size(20).measurement_time(Duration::from_secs(6));
    for (name, count) in [("flat", 900), ("graph", BUILT)] {
        let index = data.index(count, Maintenance::Inline, 2);
        let mut random = Random(13);
        let mut out = Vec::new();
        let options = SearchOptions { ef: Some(64), ..Default::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let id = random.below(count) as u32;
                index.remove(id);
                index.insert(id, data.row(random.below(COUNT))).expect("what the bench made itself");
                let query = data.row(COUNT + random.below(QUERIES));
                black_box(index.search_into(query, WANTED, &options, &mut out));
            });
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_500))
        .sample_size(30)
}

criterion_group! { name = benches; config = short(); targets = builds, searches, churn }
criterion_main!(benches);
