//! A large store of many tenants: loading, opening, first and warm recalls. The page cache
//! of the operating system is warm; the store's own caches are cold where it says "first".

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use memcards::{Options, Recall, Store};
use memcards_benches::Outcome;
use memcards_benches::latency::{Percentiles, median, timed};
use memcards_benches::synthetic::{Random, question, turns};
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Tenants.
    #[arg(long, default_value_t = 1_000)]
    tenants: usize,
    /// Cards of all tenants together.
    #[arg(long, default_value_t = 1_000_000)]
    cards: usize,
    /// How many cards each tenant has.
    #[arg(long, value_enum, default_value_t = Sizes::Zipf)]
    sizes: Sizes,
    /// Length of the caller-supplied vectors; 0 for none.
    #[arg(long, default_value_t = 64)]
    dimension: usize,
    /// Build the store in this directory and leave it there.
    #[arg(long, value_name = "DIR", conflicts_with = "reuse")]
    keep: Option<PathBuf>,
    /// Measure a store that was built before with the same arguments.
    #[arg(long, value_name = "DIR")]
    reuse: Option<PathBuf>,
    /// Questions asked of each chosen tenant.
    #[arg(long, default_value_t = 2_000)]
    queries: usize,
    /// Leave opening and first recalls out.
    #[arg(long)]
    warm_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sizes {
    /// The n-th tenant has a share of 1/n.
    Zipf,
    /// All have the same number.
    Even,
}

impl Arguments {
    fn sizes(&self) -> Vec<usize> {
        let share = |rank: usize| match self.sizes {
            Sizes::Zipf => 1.0 / (rank + 1) as f64,
            Sizes::Even => 1.0,
        };
        let total: f64 = (0..self.tenants).map(share).sum();
        (0..self.tenants)
            .map(|rank| ((self.cards as f64 * share(rank) / total).round() as usize).max(1))
            .collect()
    }

    fn vectors(&self) -> Option<usize> {
        (self.dimension > 0).then_some(self.dimension)
    }
}

fn name(tenant: usize) -> String {
    format!("tenant-{tenant:05}")
}

pub(crate) fn run(arguments: &Arguments, seed: u64) -> Outcome<Value> {
    let sizes = arguments.sizes();
    let scratch;
    let (directory, built) = match (&arguments.reuse, &arguments.keep) {
        (Some(directory), _) => (directory.as_path(), Value::Null),
        (None, Some(directory)) => (directory.as_path(), build(directory, arguments, &sizes, seed)?),
        (None, None) => {
            scratch = tempfile::tempdir()?;
            (scratch.path(), build(scratch.path(), arguments, &sizes, seed)?)
        }
    };
    let opening = if arguments.warm_only { vec![] } else { opening(directory)? };
    let mut chosen: Vec<usize> = [100, 1_000, usize::MAX]
        .iter()
        .filter_map(|wanted| (0..sizes.len()).min_by_key(|tenant| sizes[*tenant].abs_diff(*wanted)))
        .collect();
    chosen.dedup();
    let mut recalls = Vec::new();
    for tenant in chosen {
        recalls.push(recall(directory, arguments, tenant, sizes[tenant], seed)?);
    }
    Ok(json!({
        "tenants": sizes.len(),
        "cards": sizes.iter().sum::<usize>(),
        "dimension": arguments.dimension,
        "built": built,
        "open_ms": opening,
        "recalls": recalls,
        "resident_mib": resident_mib(),
    }))
}

/// Loads the store in batches of 1,000.
fn build(directory: &Path, arguments: &Arguments, sizes: &[usize], seed: u64) -> Outcome<Value> {
    if directory.join("memcards.redb").exists() {
        return Err(format!("{} holds a store already; use --reuse", directory.display()).into());
    }
    let store = Store::open(directory, Options { embedder: None, ..Options::default() })?;
    let mut spent = Duration::ZERO;
    let mut done = 0;
    for (number, size) in sizes.iter().enumerate() {
        let tenant = store.tenant(&name(number))?;
        let mut requests = turns(seed.wrapping_add(number as u64), *size, arguments.vectors()).peekable();
        while requests.peek().is_some() {
            let batch: Vec<_> = requests.by_ref().take(1000).collect();
            done += batch.len();
            let (answers, time) = timed(|| tenant.remember_all(batch));
            answers?.into_iter().collect::<Result<Vec<_>, _>>()?;
            spent += time;
        }
        if number.is_multiple_of(sizes.len().div_ceil(20)) {
            eprintln!("{done} cards, {:.0} cards/s", done as f64 / spent.as_secs_f64());
        }
    }
    let bytes = store.statistics()?.file_bytes;
    let (_, close) = timed(|| drop(store));
    let speed = done as f64 / spent.as_secs_f64();
    eprintln!(
        "loaded {done} cards with {speed:.0} cards/s, {} MiB, closed in {:.1} ms",
        bytes >> 20,
        close.as_secs_f64() * 1e3
    );
    Ok(json!({
        "cards": done, "cards_per_second": speed, "seconds": spent.as_secs_f64(),
        "file_bytes": bytes, "close_ms": close.as_secs_f64() * 1e3,
    }))
}

/// Milliseconds of opening after a clean close, several times.
fn opening(directory: &Path) -> Outcome<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let (store, time) = timed(|| Store::open(directory, Options::default()));
        drop(store?);
        times.push(time.as_secs_f64() * 1e3);
    }
    eprintln!("open after a clean close: median {:.1} ms of {times:.1?}", median(&times));
    Ok(times)
}

/// First recall from the change log, first recall from a snapshot, warm recalls.
fn recall(directory: &Path, arguments: &Arguments, number: usize, size: usize, seed: u64) -> Outcome<Value> {
    let mut random = Random::new(seed ^ number as u64);
    let mut request = || Recall {
        query: Some(question(&mut random)),
        vector: arguments.vectors().map(|dimension| random.vector(dimension)),
        // The threshold of open questions, which a vector would otherwise lift.
        min_score: Some(0.05),
        ..Recall::default()
    };
    let first = |request: Recall, snapshot: bool| -> Outcome<f64> {
        let store = Store::open(directory, Options::default())?;
        let tenant = store.tenant(&name(number))?;
        let (answer, time) = timed(|| tenant.recall(request));
        answer?;
        if snapshot {
            store.checkpoint()?;
        }
        Ok(time.as_secs_f64() * 1e3)
    };
    let (mut log, mut snapshot, mut file) = (vec![], vec![], false);
    if !arguments.warm_only {
        // Without its snapshot files a store reads the change log.
        let index = directory.join("index");
        for _ in 0..3 {
            if index.exists() {
                std::fs::remove_dir_all(&index)?;
            }
            log.push(first(request(), false)?);
        }
        first(request(), true)?;
        file = std::fs::read_dir(&index).is_ok_and(|mut entries| entries.next().is_some());
        for _ in 0..5 {
            snapshot.push(first(request(), false)?);
        }
    }

    let store = Store::open(directory, Options::default())?;
    let tenant = store.tenant(&name(number))?;
    let mut times = Vec::new();
    for _ in 0..arguments.queries + 20 {
        let request = request();
        let (answer, time) = timed(|| tenant.recall(request));
        answer?;
        times.push(time);
    }
    let warm = Percentiles::of(&times[20..]);
    if !arguments.warm_only {
        let snapshot_name = if file { "from its snapshot" } else { "(too small for a snapshot)" };
        eprintln!(
            "tenant of {size} cards: first recall from the log {:.1} ms, {snapshot_name} {:.1} ms",
            median(&log),
            median(&snapshot),
        );
    }
    eprintln!("tenant of {size} cards: warm {}", warm.line());
    Ok(json!({
        "cards": size, "first_from_log_ms": log, "has_snapshot": file, "first_ms": snapshot, "warm": warm,
    }))
}

/// Resident memory of this process, where the system tells it.
fn resident_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
