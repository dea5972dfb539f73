//! Searches while another thread inserts at full speed into the same index, beside what the
//! machine itself costs: the same writer at work on another index, and nobody.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use memcards::index::vector::{Maintenance, SearchOptions, VectorIndex, VectorOptions};
use memcards_benches::Outcome;
use memcards_benches::synthetic::Random;
use memcards_benches::usage::percentile;
use serde_json::{Value, json};

use crate::Common;
use crate::data::{Data, WANTED, middle};

/// Searches of one round.
const SEARCHES: usize = 10_000;

/// What the writer does meanwhile.
#[derive(Clone, Copy, Debug)]
enum Beside {
    Nothing,
    AnotherIndex,
    ThisIndex,
    /// The same, so many insertions a second.
    ThisIndexAt(f64),
}

/// A writer that the graph can keep up with: more than one caller of durable remembers does.
const PACE: f64 = 5_000.0;

/// One round: percentiles in microseconds, by the clock and of the thread's processor time.
#[derive(Clone, Copy, Debug)]
struct Round {
    wall: [f64; 2],
    cpu: [f64; 2],
    worst: f64,
    inserted: f64,
    /// Slots scanned and walked per search.
    scanned: f64,
    walked: f64,
}

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let data = Data::of(common, common.count(100_000), 1_000)?;
    let build = || {
        let options = VectorOptions {
            dimension: data.base.dimension,
            seed: common.seed,
            maintenance: Maintenance::Background,
            ..Default::default()
        };
        let index = VectorIndex::new(options);
        index.insert_all((0..).zip(data.base.rows()), 2).map(|()| index)
    };
    let (index, other) = (build()?, build()?);
    let searches = if common.quick { SEARCHES / 5 } else { SEARCHES };
    let rounds = if common.quick { 2 } else { 5 };
    let kinds = [Beside::Nothing, Beside::AnotherIndex, Beside::ThisIndexAt(PACE), Beside::ThisIndex];
    let mut all: [Vec<Round>; 4] = Default::default();
    for number in 0..rounds {
        for (kind, rounds) in kinds.iter().zip(&mut all) {
            let written = match kind {
                Beside::Nothing => None,
                Beside::AnotherIndex => Some((&other, f64::INFINITY)),
                Beside::ThisIndex => Some((&index, f64::INFINITY)),
                Beside::ThisIndexAt(pace) => Some((&index, *pace)),
            };
            rounds.push(round(&index, written, &data, searches, number as u64));
            // The next round begins with an index at rest.
            index.settle(2);
        }
    }
    let mut figures = serde_json::Map::new();
    for (kind, rounds) in kinds.iter().zip(&all) {
        let of = |get: fn(&Round) -> f64| {
            let values: Vec<f64> = rounds.iter().map(get).collect();
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            json!({"best": least, "middle": middle(&values)})
        };
        let name = match kind {
            Beside::Nothing => "idle",
            Beside::AnotherIndex => "writer_on_another_index",
            Beside::ThisIndex => "writer_on_this_index",
            Beside::ThisIndexAt(_) => "paced_writer_on_this_index",
        };
        let values = json!({
            "wall_p50": of(|round| round.wall[0]), "wall_p99": of(|round| round.wall[1]),
            "cpu_p50": of(|round| round.cpu[0]), "cpu_p99": of(|round| round.cpu[1]),
            "worst": of(|round| round.worst), "inserts_per_second": of(|round| round.inserted),
            "scanned": of(|round| round.scanned), "walked": of(|round| round.walked),
        });
        eprintln!("{name}: {values}");
        figures.insert(name.into(), values);
    }
    Ok(json!({
        "count": data.base.len(), "dimension": data.base.dimension, "rounds": rounds,
        "searches_per_round": searches, "pace": PACE, "microseconds": figures,
    }))
}

/// Searches on one processor while the writer and its maintenance share the other.
fn round(
    index: &VectorIndex,
    written: Option<(&VectorIndex, f64)>,
    data: &Data,
    searches: usize,
    seed: u64,
) -> Round {
    let stop = AtomicBool::new(false);
    let inserted = AtomicUsize::new(0);
    let mut walls = Vec::with_capacity(searches);
    let mut cpus = Vec::with_capacity(searches);
    let pace = written.map_or(f64::INFINITY, |(_, pace)| pace);
    let mut seconds = 0.0;
    let (mut scanned, mut walked) = (0, 0);
    std::thread::scope(|scope| {
        if let Some((written, _)) = written {
            scope.spawn(|| {
                pin(1);
                let mut random = Random::new(seed);
                let start = Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    let id = random.below(data.base.len());
                    let row = random.below(data.base.len());
                    if written.insert(id as u32, data.row(row)).is_ok() {
                        inserted.fetch_add(1, Ordering::Relaxed);
                    }
                    let ahead = inserted.load(Ordering::Relaxed) as f64 / pace;
                    if start.elapsed().as_secs_f64() < ahead {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                }
            });
            scope.spawn(|| {
                pin(1);
                while !stop.load(Ordering::Relaxed) {
                    if !written.maintain(1) {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                }
            });
        }
        scope.spawn(|| {
            pin(0);
            let mut out = Vec::new();
            let options = SearchOptions::default();
            let queries: Vec<&[f32]> = data.queries.rows().collect();
            // The first searches make room and warm the caches.
            for query in &queries {
                index.search_into(query, WANTED, &options, &mut out);
            }
            let start = Instant::now();
            for number in 0..searches {
                let (wall, cpu) = (Instant::now(), thread_seconds());
                let query = queries[number % queries.len()];
                let work = index.search_into(query, WANTED, &options, &mut out);
                scanned += work.scanned;
                walked += work.walked;
                cpus.push((thread_seconds() - cpu) * 1e6);
                walls.push(wall.elapsed().as_secs_f64() * 1e6);
            }
            seconds = start.elapsed().as_secs_f64();
            stop.store(true, Ordering::Relaxed);
        });
    });
    Round {
        wall: [0.5, 0.99].map(|share| percentile(&walls, share)),
        cpu: [0.5, 0.99].map(|share| percentile(&cpus, share)),
        worst: percentile(&walls, 1.0),
        inserted: inserted.load(Ordering::Relaxed) as f64 / seconds,
        scanned: scanned as f64 / searches as f64,
        walked: walked as f64 / searches as f64,
    }
}

/// Processor time of this thread.
fn thread_seconds() -> f64 {
    #[cfg(unix)]
    {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        spent.tv_sec as f64 + spent.tv_nsec as f64 * 1e-9
    }
    #[cfg(not(unix))]
    0.0
}

/// Keeps this thread on one processor, where the system can.
fn pin(processor: usize) {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        set.set(processor);
        if let Err(error) = rustix::thread::sched_setaffinity(None, &set) {
            eprintln!("not pinned to processor {processor}: {error}");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = processor;
}
