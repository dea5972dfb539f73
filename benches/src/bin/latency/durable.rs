//! Durable remember beside bare redb on the same disk, in alternating rounds: one table, one
//! key-value per record with as many bytes as memcards writes for a card. A second reference
//! writes entries of the same number and size as memcards does: what no program with this
//! layout can undercut.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use memcards::{Options, Remember, Store};
use memcards_benches::Outcome;
use memcards_benches::latency::{Percentiles, median, timed};
use memcards_benches::synthetic::{Random, statements, turns};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Concurrent callers, and records in one transaction of bare redb.
    #[arg(long, default_value_t = 64)]
    callers: usize,
    /// Records of each caller in one round.
    #[arg(long, default_value_t = 40)]
    each: usize,
    /// Records of one round with a single caller.
    #[arg(long, default_value_t = 300)]
    single: usize,
    /// Rounds; medians are reported.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Lengths of caller-supplied vectors to measure.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 256])]
    dimensions: Vec<usize>,
    /// Measure only this kind of card.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Leave the built-in model out.
    #[arg(long)]
    no_model: bool,
    /// Where the stores are made (the system's temporary directory when absent).
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// What is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Turns of a conversation, which are compared with nothing.
    Turns,
    /// Statements, which are compared with what is held.
    Statements,
}

const KEY_BYTES: usize = 20;

/// One of the entries that a record has.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Tells the entries of a record apart, and keeps those of its kind together.
    kind: u8,
    key_bytes: usize,
    value_bytes: usize,
}

pub(crate) fn run(arguments: &Arguments, seed: u64) -> Outcome<Value> {
    let mut figures = Vec::new();
    for (kind, kind_name) in [(Kind::Turns, "turns"), (Kind::Statements, "statements")] {
        if arguments.kind.is_some_and(|only| only != kind) {
            continue;
        }
        let vectors = arguments.dimensions.iter().map(|dimension| Some(*dimension));
        let vectors = vectors.chain((!arguments.no_model).then_some(None));
        for dimension in vectors {
            let name = match dimension {
                Some(dimension) => format!("{kind_name}, vectors of {dimension} from the caller"),
                None => format!("{kind_name}, built-in model"),
            };
            let requests = move |seed: u64, count: usize| -> Vec<Remember> {
                match kind {
                    Kind::Turns => turns(seed, count, dimension).collect(),
                    Kind::Statements => statements(seed, count, dimension).collect(),
                }
            };
            figures.push(compare(&name, arguments, seed, &requests)?);
        }
    }
    Ok(figures.into())
}

type Requests<'a> = &'a dyn Fn(u64, usize) -> Vec<Remember>;

fn compare(name: &str, arguments: &Arguments, seed: u64, requests: Requests<'_>) -> Outcome<Value> {
    let directory = match &arguments.directory {
        Some(directory) => tempfile::tempdir_in(directory)?,
        None => tempfile::tempdir()?,
    };
    let path = |name: &str| directory.path().join(name);
    let layout = entries_per_record(&path("sample"), requests(seed, 2_000))?;
    let bytes: usize = layout.iter().map(|entry| entry.key_bytes + entry.value_bytes).sum();
    let one_entry = [Entry { kind: 0, key_bytes: KEY_BYTES, value_bytes: bytes - KEY_BYTES }];
    let store = Store::open(path("store"), Options::default())?;
    let bare = Database::create(path("bare.redb"))?;
    let mut keys = 0u64;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut our_single, mut their_single) = (Vec::new(), Vec::new());
    let mut pooled: Vec<Duration> = Vec::new();
    let (mut our_medians, mut their_medians) = (Vec::new(), Vec::new());
    let same_layout = Database::create(path("layout.redb"))?;
    let (mut layout_rates, mut layout_medians) = (Vec::new(), Vec::new());
    // Everything once before it counts: files grow, tables appear.
    for round in 0..=arguments.rounds {
        let count = arguments.callers * arguments.each;
        let seed = seed.wrapping_add(1_000 * (round as u64 + 1));
        let (time, latencies) = together(&store, round, requests(seed, count), arguments.callers)?;
        let our_rate = count as f64 / time.as_secs_f64();
        let (result, time) =
            timed(|| bare_commits(&bare, &mut keys, &one_entry, arguments.callers, arguments.each));
        result?;
        let their_rate = count as f64 / time.as_secs_f64();
        let (result, time) =
            timed(|| bare_commits(&same_layout, &mut keys, &layout, arguments.callers, arguments.each));
        result?;
        let layout_rate = count as f64 / time.as_secs_f64();
        let our_times = one_by_one(&store, round, requests(seed ^ 1, arguments.single))?;
        let their_times = bare_commits(&bare, &mut keys, &one_entry, 1, arguments.single)?;
        let layout_times = bare_commits(&same_layout, &mut keys, &layout, 1, arguments.single)?;
        if round > 0 {
            ours.push(our_rate);
            theirs.push(their_rate);
            layout_rates.push(layout_rate);
            layout_medians.push(Percentiles::of(&layout_times).p50_ms);
            pooled.extend(latencies);
            our_medians.push(Percentiles::of(&our_times).p50_ms);
            their_medians.push(Percentiles::of(&their_times).p50_ms);
            our_single.extend(our_times);
            their_single.extend(their_times);
        }
    }
    let (our_rate, their_rate) = (median(&ours), median(&theirs));
    let (our_p50, their_p50) = (median(&our_medians), median(&their_medians));
    eprintln!("\n{name}: {bytes} bytes per record");
    eprintln!(
        "  {} callers: {our_rate:.0} records/s, bare redb {their_rate:.0} records/s, ratio {:.2}",
        arguments.callers,
        our_rate / their_rate
    );
    eprintln!(
        "  the same entries in bare redb ({} per record): {:.0} records/s, one by one p50 {:.3} ms",
        layout.len(),
        median(&layout_rates),
        median(&layout_medians)
    );
    eprintln!("  latency of a caller among them: {}", Percentiles::of(&pooled).line());
    eprintln!(
        "  one caller: p50 {our_p50:.3} ms, bare redb {their_p50:.3} ms, ratio {:.2}",
        our_p50 / their_p50
    );
    Ok(json!({
        "name": name, "bytes_per_record": bytes,
        "callers": arguments.callers, "rounds": arguments.rounds,
        "together": {
            "records_per_second": ours, "bare_records_per_second": theirs,
            "median_ratio": our_rate / their_rate, "latency": crate::value(Percentiles::of(&pooled))?,
        },
        "same_layout": {
            "entries": layout.len(), "records_per_second": layout_rates, "single_p50_ms": layout_medians,
        },
        "single": {
            "latency": crate::value(Percentiles::of(&our_single))?,
            "bare_latency": crate::value(Percentiles::of(&their_single))?,
            "p50_ratio": our_p50 / their_p50,
        },
    }))
}

/// The entries that memcards writes per record, read from a store's file.
fn entries_per_record(directory: &Path, requests: Vec<Remember>) -> Outcome<Vec<Entry>> {
    let store = Store::open(directory, Options::default())?;
    let tenant = store.tenant("sample")?;
    let count = requests.len();
    for chunk in requests.chunks(1000) {
        tenant.remember_all(chunk.to_vec())?.into_iter().collect::<Result<Vec<_>, _>>()?;
    }
    drop((tenant, store));
    let file = crate::bytes::plain(directory)?;
    let transaction = file.begin_read()?;
    let definition: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("memcards");
    let mut sums: BTreeMap<u8, (usize, usize, usize)> = BTreeMap::new();
    for entry in transaction.open_table(definition)?.iter()? {
        let (key, value) = entry?;
        // The fifth byte of a key is the kind of its record.
        let kind = key.value().get(4).copied().unwrap_or_default();
        let (number, key_bytes, value_bytes) = sums.entry(kind).or_default();
        *number += 1;
        *key_bytes += key.value().len();
        *value_bytes += value.value().len();
    }
    // What the store and the tenant have is not written for each record.
    let per_record = sums.into_iter().filter(|(_, (number, ..))| *number > count / 2);
    Ok(per_record
        .map(|(kind, (number, key_bytes, value_bytes))| Entry {
            kind,
            key_bytes: key_bytes / number,
            value_bytes: value_bytes / number,
        })
        .collect())
}

/// Many callers at once, one tenant; gives the time of all and of each call.
fn together(
    store: &Store,
    round: usize,
    requests: Vec<Remember>,
    callers: usize,
) -> Outcome<(Duration, Vec<Duration>)> {
    let tenant = store.tenant(&format!("together-{round}"))?;
    tenant.create()?;
    let mut shares: Vec<Vec<Remember>> = (0..callers).map(|_| Vec::new()).collect();
    for (number, request) in requests.into_iter().enumerate() {
        shares[number % callers].push(request);
    }
    let start = Instant::now();
    let latencies = std::thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .map(|share| {
                let tenant = tenant.clone();
                scope.spawn(move || -> memcards::Result<Vec<Duration>> {
                    share
                        .into_iter()
                        .map(|request| {
                            let (answer, time) = timed(|| tenant.remember(request));
                            answer.map(|_| time)
                        })
                        .collect()
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a caller panicked")??);
        }
        Ok::<_, Box<dyn std::error::Error>>(all)
    })?;
    Ok((start.elapsed(), latencies))
}

fn one_by_one(store: &Store, round: usize, requests: Vec<Remember>) -> Outcome<Vec<Duration>> {
    let tenant = store.tenant(&format!("single-{round}"))?;
    tenant.create()?;
    requests
        .into_iter()
        .map(|request| {
            let (answer, time) = timed(|| tenant.remember(request));
            answer?;
            Ok(time)
        })
        .collect()
}

/// Commits of `records` each with immediate durability, redb's default; gives their times.
fn bare_commits(
    database: &Database,
    keys: &mut u64,
    layout: &[Entry],
    records: usize,
    commits: usize,
) -> Outcome<Vec<Duration>> {
    let mut random = Random::new(*keys);
    let values: Vec<Vec<u8>> =
        layout.iter().map(|entry| (0..entry.value_bytes).map(|_| random.draw() as u8).collect()).collect();
    let definition: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");
    let mut times = Vec::with_capacity(commits);
    for _ in 0..commits {
        let (result, time) = timed(|| -> Outcome {
            let transaction = database.begin_write()?;
            {
                let mut table = transaction.open_table(definition)?;
                for _ in 0..records {
                    *keys += 1;
                    for (entry, value) in layout.iter().zip(&values) {
                        let mut key = vec![0; entry.key_bytes.max(9)];
                        key[0] = entry.kind;
                        key[1..9].copy_from_slice(&keys.to_be_bytes());
                        table.insert(key.as_slice(), value.as_slice())?;
                    }
                }
            }
            Ok(transaction.commit()?)
        });
        result?;
        times.push(time);
    }
    Ok(times)
}
