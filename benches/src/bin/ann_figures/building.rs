//! Building the graph by one thread and by two.

use memcards_benches::Outcome;
use memcards_benches::usage::Stopwatch;
use serde_json::{Value, json};

use crate::Common;
use crate::data::{Data, empty, nearest, recall};

/// Length of the list that recall is compared at.
const EF: usize = 64;

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let data = Data::of(common, common.count(100_000), 2_000)?;
    let exact = nearest((0..).zip(data.base.rows()), &data.queries);
    let rounds = if common.quick { 1 } else { 2 };
    let mut best = [(f64::MAX, f64::MAX, 0.0); 2];
    for _ in 0..rounds {
        for (at, best) in best.iter_mut().enumerate() {
            let index = empty(common, data.base.dimension);
            let watch = Stopwatch::start();
            index.insert_all((0..).zip(data.base.rows()), at + 1)?;
            let spent = watch.read();
            let found = recall(&index, &data.queries, &exact, Some(EF));
            eprintln!(
                "{} threads: wall {:.2} s, CPU {:.2} s, recall {found:.4}",
                at + 1,
                spent.wall,
                spent.cpu
            );
            *best = (best.0.min(spent.wall), best.1.min(spent.cpu), found);
        }
    }
    let speedup = best[0].0 / best[1].0;
    eprintln!("speed-up {speedup:.2}");
    let of = |(wall, cpu, recall): (f64, f64, f64)| json!({"wall": wall, "cpu": cpu, "recall": recall});
    Ok(json!({
        "count": data.base.len(), "dimension": data.base.dimension, "ef": EF,
        "one": of(best[0]), "two": of(best[1]), "speedup": speedup,
    }))
}
