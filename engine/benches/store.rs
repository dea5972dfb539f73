//! Remembering, recall, filters and the loading of snapshots on a tenant of 10,000 cards.

#![allow(missing_docs)]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memcards::filter::Filter;
use memcards::{Options, Recall, Remember, Store, Tenant};

const CARDS: usize = 10_000;

const PEOPLE: [&str; 8] = ["Maria", "Tom", "Ingrid", "Pavel", "小王", "李娜", "陈静", "Olga"];
const THINGS: [&str; 12] = [
    "the garden fence",
    "an old bicycle",
    "绿茶",
    "the tax papers",
    "钢琴",
    "a concert in Lisbon",
    "the winter tyres",
    "摄影课",
    "a wooden shelf",
    "火锅",
    "the dentist",
    "a second-hand piano",
];
const COLOURS: [&str; 7] = ["green", "red", "quiet", "expensive", "broken", "wonderful", "heavy"];

fn turn(number: usize) -> Remember {
    let (person, thing) = (PEOPLE[number % 8], THINGS[number / 8 % 12]);
    let colour = COLOURS[number / 96 % 7];
    Remember {
        content: format!("{person} talked about {thing} number {number}, which is {colour} again."),
        tags: vec![colour.to_owned()],
        session: Some(format!("session-{}", number / 30)),
        turn: Some((number % 30) as u32),
        ..Remember::default()
    }
}

fn open(directory: &Path) -> Store {
    Store::open(directory, Options::default()).expect("the store opens")
}

fn filled(directory: &Path) -> Store {
    let store = open(directory);
    let tenant = store.tenant("bench").expect("a name");
    let turns: Vec<Remember> = (0..CARDS).map(turn).collect();
    for chunk in turns.chunks(1000) {
        tenant.remember_all(chunk.to_vec()).expect("they are written");
    }
    store
}

fn ask(tenant: &Tenant, request: &Recall) -> usize {
    tenant.recall(black_box(request.clone())).expect("an answer").hits.len()
}

fn remembering(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    let tenant = store.tenant("bench").expect("a name");
    let mut group = criterion.benchmark_group("remember");
    group.sample_size(20);
    let mut next = 0;
    group.bench_function("one, durable", |b| {
        b.iter(|| {
            next += 1;
            tenant.remember(turn(next)).expect("it is written")
        })
    });
    group.throughput(Throughput::Elements(100));
    group.bench_function("a hundred in one commit", |b| {
        b.iter(|| {
            next += 100;
            tenant.remember_all((next..next + 100).map(turn).collect()).expect("they are written")
        })
    });
    group.finish();
}

fn recalling(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = filled(directory.path());
    let tenant = store.tenant("bench").expect("a name");
    let query = |text: &str| Recall { query: Some(text.to_owned()), ..Recall::default() };
    let filter = |field: &str| Recall {
        filter: Some(Filter::contains(field, "green").expect("a filter")),
        ..query("Who talked about the garden fence?")
    };
    let mut group = criterion.benchmark_group("recall/10000");
    for (name, request) in [
        ("english", query("Who talked about the garden fence?")),
        ("chinese", query("谁和我讨论过钢琴？")),
        ("explained", Recall { explain: true, ..query("Who talked about the garden fence?") }),
        ("filter on tags", filter("tags")),
        ("filter on the text", filter("content")),
    ] {
        group.bench_function(name, |b| b.iter(|| ask(&tenant, &request)));
    }
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = filled(directory.path());
    let request = Recall { query: Some("fence".into()), ..Recall::default() };
    ask(&store.tenant("bench").expect("a name"), &request);
    store.checkpoint().expect("the snapshot is written");
    drop(store);
    let mut group = criterion.benchmark_group("open/10000");
    group.sample_size(10);
    group.bench_function("open and close", |b| b.iter(|| open(directory.path())));
    group.bench_function("open, first recall from the snapshot", |b| {
        b.iter(|| ask(&open(directory.path()).tenant("bench").expect("a name"), &request))
    });
    group.finish();
}

criterion_group!(benches, remembering, recalling, loading);
criterion_main!(benches);
