//! Churn: cycles of removing most vectors at random and inserting others.

use memcards::store::io::RealIo;
use memcards_benches::Outcome;
use memcards_benches::synthetic::Random;
use memcards_benches::usage::Stopwatch;
use serde_json::{Value, json};

use crate::Common;
use crate::data::{Data, empty, nearest, recall, resident, search_micros, total_bytes};

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let count = common.count(100_000);
    let cycles = if common.quick { 5 } else { 20 };
    let ef = None;
    // Twice as many as are in the index at a time: what comes in is new.
    let data = Data::of(common, 2 * count, 200)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("index");
    let mut random = Random::new(common.seed);
    let mut next = count;
    // The row that each identifier has now.
    let mut rows: Vec<usize> = (0..count).collect();
    let before = resident().1;
    let index = empty(common, data.base.dimension);
    index.insert_all((0..).zip(data.base.rows().take(count)), 2)?;

    let mut figures = Vec::new();
    for cycle in 0..=cycles {
        let watch = Stopwatch::start();
        if cycle > 0 {
            let mut ids: Vec<u32> = (0..count as u32).collect();
            for at in (1..ids.len()).rev() {
                ids.swap(at, random.below(at + 1));
            }
            ids.truncate(count * 9 / 10);
            for id in &ids {
                index.remove(*id);
            }
            for id in ids {
                rows[id as usize] = next % data.base.len();
                index.insert(id, data.row(next))?;
                next += 1;
            }
        }
        let spent = watch.read();
        let live = (0..).zip(&rows).map(|(id, row)| (id, data.row(*row)));
        let exact = nearest(live, &data.queries);
        let file = index.save(&RealIo, &path, [0, 0])?;
        let found = recall(&index, &data.queries, &exact, ef);
        let micros = search_micros(&index, &data.queries, ef);
        let bytes = total_bytes(&index);
        let memory = resident().1.saturating_sub(before);
        eprintln!(
            "cycle {cycle:2}: recall@10 {found:.4}, {bytes} bytes, resident {memory}, file {file}, search {micros:.0} µs, \
             changes {:.1} s CPU",
            spent.cpu
        );
        figures.push(json!({
            "cycle": cycle, "recall": found, "bytes": bytes, "resident": memory, "file": file, "search_us": micros,
            "changes_cpu": spent.cpu,
        }));
    }
    drop(index);
    let before = resident().1;
    let fresh = empty(common, data.base.dimension);
    fresh.insert_all((0..).zip(rows.iter().map(|row| data.row(*row))), 2)?;
    let memory = resident().1.saturating_sub(before);
    let live = (0..).zip(&rows).map(|(id, row)| (id, data.row(*row)));
    let exact = nearest(live, &data.queries);
    let fresh = json!({
        "recall": recall(&fresh, &data.queries, &exact, ef),
        "bytes": total_bytes(&fresh),
        "resident": memory,
        "file": fresh.save(&RealIo, &path, [0, 0])?,
        "search_us": search_micros(&fresh, &data.queries, ef),
    });
    eprintln!("fresh: {fresh}");
    Ok(json!({"count": count, "dimension": data.base.dimension, "cycles": figures, "fresh": fresh}))
}
