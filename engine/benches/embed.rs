//! How fast the built-in model loads and turns short texts into vectors.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memcards::embed::{Embedder, StaticModel};

const ENGLISH: [&str; 4] = [
    "My sister moved to Lisbon in spring and rents a flat near the harbour.",
    "We decided to paint the garden fence green before the guests arrive.",
    "He never drinks coffee after four because it keeps him awake at night.",
    "The dentist appointment is next Wednesday at three, right after the meeting.",
];

const CHINESE: [&str; 4] = [
    "她最喜欢的水果是芒果，但是从来不吃榴莲。",
    "下周三下午三点和牙医有预约，别忘了带病历。",
    "我们上次讨论的旅行计划是先去京都再去大阪。",
    "小王的女儿今年上小学一年级，每天自己走路去学校。",
];

fn encode(criterion: &mut Criterion) {
    let model = StaticModel::builtin();
    let mut group = criterion.benchmark_group("embed");
    for (name, texts) in [("english", ENGLISH), ("chinese", CHINESE)] {
        group.throughput(Throughput::Elements(texts.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| model.embed_batch(black_box(&texts))));
    }
    let long = ENGLISH.join(" ").repeat(64 * 1024 / ENGLISH.join(" ").len());
    group.throughput(Throughput::Bytes(long.len() as u64));
    group.bench_function("64 KiB", |bencher| bencher.iter(|| model.embed(black_box(&long))));
    group.finish();
}

fn load(criterion: &mut Criterion) {
    let bytes: &'static [u8] = include_bytes!("../models/static-zh-en-256.mcm");
    criterion.bench_function("load and verify", |bencher| {
        bencher.iter(|| StaticModel::from_bytes(black_box(bytes)))
    });
}

criterion_group!(benches, encode, load);
criterion_main!(benches);
