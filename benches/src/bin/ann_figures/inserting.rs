//! Insertions into a small and into a large index, and searches before and after half of
//! the vectors were removed and inserted again.

use memcards_benches::Outcome;
use memcards_benches::usage::{Spent, Stopwatch};
use serde_json::{Value, json};

use crate::Common;
use crate::data::{Data, empty, nearest, recall, search_micros};

/// Vectors of a small index: below the number from which on there is a graph.
const SMALL: usize = 15_000;
const EF: usize = 64;

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let count = common.count(100_000);
    let data = Data::of(common, count + count / 5, 2_000)?;
    let dimension = data.base.dimension;
    let rate = |name: &str, count: usize, spent: Spent| {
        let per_second = count as f64 / spent.cpu;
        eprintln!("{name}: {per_second:.0}/s of CPU, {:.0}/s by the clock", count as f64 / spent.wall);
        json!({"count": count, "per_second": per_second, "wall": spent.wall, "cpu": spent.cpu})
    };

    let small = SMALL.min(count);
    let mut best = Spent { wall: f64::MAX, cpu: f64::MAX };
    for _ in 0..5 {
        let index = empty(common, dimension);
        let watch = Stopwatch::start();
        for row in 0..small {
            index.insert(row as u32, data.row(row))?;
        }
        let spent = watch.read();
        best = Spent { wall: best.wall.min(spent.wall), cpu: best.cpu.min(spent.cpu) };
    }
    let into_small = rate("into a small index", small, best);

    let index = empty(common, dimension);
    index.insert_all((0..).zip(data.base.rows().take(count)), 2)?;
    let watch = Stopwatch::start();
    for row in count..data.base.len() {
        index.insert(row as u32, data.row(row))?;
    }
    index.settle(1);
    let into_large =
        rate("into a large index, all maintenance counted", data.base.len() - count, watch.read());

    let exact = nearest((0..).zip(data.base.rows()), &data.queries);
    let state = |name: &str| {
        let found = recall(&index, &data.queries, &exact, Some(EF));
        let micros = search_micros(&index, &data.queries, Some(EF));
        eprintln!("{name}: recall {found:.4}, search {micros:.1} µs");
        json!({"recall": found, "search_us": micros})
    };
    let before = state("before");
    let half: Vec<usize> =
        (0..data.base.len()).filter(|row| row.wrapping_mul(2_654_435_761) >> 7 & 1 == 1).collect();
    let watch = Stopwatch::start();
    for row in &half {
        index.remove(*row as u32);
    }
    for row in &half {
        index.insert(*row as u32, data.row(*row))?;
    }
    let again = rate("half again, with maintenance", half.len(), watch.read());
    let after = state("after");
    index.settle(1);
    let settled = state("after, settled");
    Ok(json!({
        "count": count, "dimension": dimension, "ef": EF, "into_small": into_small,
        "into_large": into_large, "half_again": again, "before": before, "after": after,
        "settled": settled,
    }))
}
