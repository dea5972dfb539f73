//! Opening a large index from its snapshot, in a process of its own.

use std::path::Path;
use std::process::Command;

use memcards::index::vector::{SearchOptions, VectorIndex, VectorOptions};
use memcards::store::io::RealIo;
use memcards_benches::Outcome;
use memcards_benches::clustered::Clustered;
use memcards_benches::files;
use memcards_benches::usage::Stopwatch;
use serde_json::{Value, json};

use crate::Common;
use crate::data::{Data, WANTED, empty, middle, resident};

const TAG: [u64; 2] = [1, 1];

pub(crate) fn run(common: &Common) -> Outcome<Value> {
    let folder = match &common.folder {
        Some(parent) => tempfile::tempdir_in(parent)?,
        None => tempfile::tempdir()?,
    };
    let path = folder.path().join("index");
    let (built, file, dimension, count) = {
        let data = Data::of(common, common.count(1_000_000), 1)?;
        let watch = Stopwatch::start();
        let index = empty(common, data.base.dimension);
        index.insert_all((0..).zip(data.base.rows()), 2)?;
        let built = watch.read();
        let file = index.save(&RealIo, &path, TAG)?;
        (built, file, data.base.dimension, data.base.len())
    };
    eprintln!(
        "{count} vectors of {dimension}: built in {:.0} s ({:.0} s CPU), file of {file} bytes",
        built.wall, built.cpu
    );
    let rounds = if common.quick { 3 } else { 7 };
    let mut opened = Vec::new();
    for _ in 0..rounds {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("opened").arg(&path).args(["--seed", &common.seed.to_string()]);
        if let Some(base) = &common.base {
            command.arg("--base").arg(base);
        }
        let output = command.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let figures: Value = serde_json::from_slice(&output.stdout)?;
        eprintln!("{figures}");
        opened.push(figures);
    }
    let walls: Vec<f64> = opened.iter().filter_map(|figures| figures["open_ms"].as_f64()).collect();
    eprintln!("opening: {:.2} ms in the middle of {rounds}", middle(&walls));
    Ok(json!({
        "count": count, "dimension": dimension, "build_wall": built.wall, "build_cpu": built.cpu,
        "file": file, "open_ms": middle(&walls), "rounds": opened,
    }))
}

/// Opens the file and tells time and memory, then those of first searches.
pub(crate) fn opened(path: &Path, common: &Common) -> Outcome {
    let anonymous = || resident().1 as f64 / 1e6;
    let resident = || resident().0 as f64 / 1e6;
    let anonymous_before = anonymous();
    let before = resident();
    let watch = Stopwatch::start();
    let index = VectorIndex::open(&RealIo, path, &VectorOptions::default(), TAG)?;
    let open = watch.read();
    let after = resident();
    let open_anonymous = anonymous() - anonymous_before;
    let queries = match &common.base {
        Some(base) => files::read_vectors(base, 0, 100)?,
        None => Clustered::new(common.seed, index.dimension(), 10_000).take(100),
    };
    let (idle, anonymous_idle) = (resident(), anonymous());
    let mut out = Vec::new();
    let mut search = |rows: std::ops::Range<usize>| {
        let watch = Stopwatch::start();
        for query in queries.rows().skip(rows.start).take(rows.len()) {
            index.search_into(query, WANTED, &SearchOptions::default(), &mut out);
        }
        watch.read().wall * 1e3
    };
    let first = search(0..1);
    let after_one = resident() - idle;
    let hundred = search(1..100);
    let after_hundred = resident() - idle;
    println!(
        "{}",
        json!({
            "open_ms": open.wall * 1e3, "open_cpu_ms": open.cpu * 1e3, "vectors": index.len(),
            "resident_before_mb": before, "open_mb": after - before,
            "open_anonymous_mb": open_anonymous, "searches_anonymous_mb": anonymous() - anonymous_idle,
            "first_search_ms": first, "first_search_mb": after_one,
            "next_99_ms": hundred, "hundred_searches_mb": after_hundred,
        })
    );
    Ok(())
}
