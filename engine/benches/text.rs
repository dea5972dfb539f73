//! The text index: analysis, insertion, loading, and the two BM25 functions.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memcards::index::rows::RowSet;
use memcards::index::text::{
    Parameters, Scores, Statistics, TextIndex, Windows, analyze_document, analyze_query,
};

/// Ranks of the words in the question: a few frequent, most of them rare.
const QUESTION: [u64; 8] = [3, 12, 40, 75, 160, 420, 900, 2500];

/// A small deterministic generator; the benchmarks need no better.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The word of a rank, letters only, with an ending that no stemmer touches.
fn word(rank: u64) -> String {
    let letters = rank.to_string().bytes().map(|digit| (digit - b'0' + b'b') as char).collect::<String>();
    format!("{letters}ox")
}

fn question() -> String {
    QUESTION.map(word).join(" ")
}

/// Short messages whose words are roughly as skewed as those of language.
fn messages(count: usize) -> Vec<String> {
    let mut random = Random(88_172_645_463_325_252);
    let any_word = |random: &mut Random| {
        let uniform = (random.below(1_000_000) + 1) as f64 / 1_000_000.0;
        word(20_000f64.powf(uniform) as u64)
    };
    (0..count)
        .map(|_| {
            let words = 8 + random.below(24);
            (0..words).map(|_| any_word(&mut random)).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn build(messages: &[String]) -> TextIndex {
    let mut index = TextIndex::new();
    for (row, message) in messages.iter().enumerate() {
        index.insert(row as u32, &analyze_document(message)).expect("rows ascend");
    }
    index
}

fn analysis(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analyze");
    let english = "Caroline went to the farmers' market on 2023-05-08 and bought three pounds of apples. ";
    let chinese = "昨天我和小明一起去了北京大学，看了一场关于人工智能的讲座。";
    for (name, text) in [("english", english), ("chinese", chinese)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("document/{name}"), |b| b.iter(|| analyze_document(black_box(text))));
        let long = text.repeat(65_536 / text.len());
        group.throughput(Throughput::Bytes(long.len() as u64));
        group.bench_function(format!("document/{name}/64KiB"), |b| {
            b.iter(|| analyze_document(black_box(&long)))
        });
    }
    group.finish();
    criterion.bench_function("analyze/query", |b| {
        b.iter(|| analyze_query(black_box("What did Caroline buy at the farmers' market in May?")))
    });
}

fn scoring(criterion: &mut Criterion) {
    for count in [10_000usize, 100_000] {
        let mut index = build(&messages(count));
        let live = RowSet::full(count);
        let previous: Vec<u32> = (0..count as u32).map(|row| row.wrapping_sub(1)).collect();
        let next: Vec<u32> =
            (1..=count as u32).map(|row| if row == count as u32 { u32::MAX } else { row }).collect();
        let windows = Windows { previous: &previous, next: &next, live: &live };
        let query = analyze_query(&question());
        let mut group = criterion.benchmark_group(format!("bm25/{count}"));
        for state in ["added", "settled"] {
            if state == "settled" {
                index.settle();
            }
            let (mut statistics, mut scores) = (Statistics::default(), Scores::new());
            index.gather(&query, &live, &mut statistics);
            group.bench_function(format!("gather/{state}"), |b| {
                b.iter(|| {
                    let mut statistics = Statistics::default();
                    index.gather(&query, &live, &mut statistics);
                    statistics
                })
            });
            group.bench_function(format!("score/{state}"), |b| {
                b.iter(|| {
                    index.score(&query, &statistics, &live, Parameters::default(), &mut scores);
                    scores.rows().len()
                })
            });
            group.bench_function(format!("gather_windows/{state}"), |b| {
                b.iter(|| {
                    let mut statistics = Statistics::default();
                    index.gather_windows(windows, &mut statistics);
                    statistics
                })
            });
            group.bench_function(format!("score_windows/{state}"), |b| {
                b.iter(|| {
                    index.score_windows(
                        &query,
                        &statistics,
                        windows,
                        &live,
                        Parameters::default(),
                        &mut scores,
                    );
                    scores.rows().len()
                })
            });
        }
        println!("bm25/{count}: frequencies {:?}, {} bytes in memory", frequencies(&index), index.bytes());
        group.finish();
    }
}

fn frequencies(index: &TextIndex) -> Vec<usize> {
    analyze_query(&question()).terms().iter().map(|term| index.postings(&term.text).len()).collect()
}

fn storage(criterion: &mut Criterion) {
    let messages = messages(100_000);
    let documents: Vec<_> = messages.iter().map(|message| analyze_document(message)).collect();
    let index = build(&messages);
    let bytes = index.to_bytes();
    println!("storage/100000: {} bytes", bytes.len());
    let mut group = criterion.benchmark_group("storage/100000");
    group.sample_size(10);
    group.bench_function("insert", |b| {
        b.iter(|| {
            let mut index = TextIndex::new();
            for (row, document) in documents.iter().enumerate() {
                index.insert(row as u32, document).expect("rows ascend");
            }
            index
        })
    });
    group.bench_function("to_bytes", |b| b.iter(|| index.to_bytes()));
    group.bench_function("from_bytes", |b| b.iter(|| TextIndex::from_bytes(&bytes).expect("own bytes")));
    group.finish();
}

criterion_group!(benches, analysis, scoring, storage);
criterion_main!(benches);
