//! The same log gives the same store: two engines that are told the same, and what one of them
//! has written out and another one read in, hold the same bytes and give the same answers.
//!
//! The second engine has hardly any memory for its indexes, is closed and opened, and writes
//! snapshot files. `MEMCARDS_LOGS` says how many logs there are, `MEMCARDS_SEED` which is the first.

use memcards::exchange::Export;
use memcards::{Options, Recall, Store};
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use crate::forgetting;
use crate::numbers::{Numbers, from_environment};
use crate::steps::steps;
use crate::world::{EVERYTHING, TENANTS, World};

const QUERIES: [&str; 4] =
    ["do I like tea", "what colour is the car", "红色 绿茶", "smoking or the deadline"];

/// What a strategy makes of a number.
fn made<T: std::fmt::Debug>(strategy: &BoxedStrategy<T>, seed: u64) -> T {
    let mut bytes = [0u8; 32];
    let mut numbers = Numbers(seed);
    bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&numbers.next().to_le_bytes()));
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    strategy.new_tree(&mut runner).unwrap().current()
}

/// The lines of an export without the look-ups of its changes. A compaction takes out of the
/// change log those that lead nowhere any more, so that these lines may differ between stores of
/// which one was compacted; where a statement that is told again leads to, the answers show. A
/// line that has nothing but look-ups goes as a whole, and is not counted at the end.
fn without_lookups(export: &[u8]) -> Vec<u8> {
    let (mut kept, mut left_out) = (Vec::with_capacity(export.len()), 0);
    for line in export.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut line: Value = serde_json::from_slice(line).unwrap();
        if line["type"] == "change" {
            if line["kind"] == "lookups" {
                left_out += 1;
                continue;
            }
            line.as_object_mut().unwrap().remove("lookups");
        }
        if line["type"] == "end" {
            line["changes"] = (line["changes"].as_u64().unwrap() - left_out).into();
        }
        serde_json::to_writer(&mut kept, &line).unwrap();
        kept.push(b'\n');
    }
    kept
}

/// Everything that a store holds, and what it answers, as one number.
fn hash(store: &Store) -> u128 {
    let mut bytes = Vec::new();
    store.export(&mut bytes, &Export { vectors: true, ..Export::default() }, |_| {}).unwrap();
    let mut hasher = Xxh3::new();
    hasher.update(&without_lookups(&bytes));
    for name in TENANTS {
        let tenant = store.tenant(name).unwrap();
        for query in QUERIES {
            for include in [vec![], EVERYTHING.to_vec()] {
                let request = Recall {
                    query: Some(query.into()),
                    top: Some(20),
                    include,
                    explain: true,
                    ..Recall::default()
                };
                let answer = tenant.recall(request).unwrap();
                hasher.update(&serde_json::to_vec(&answer).unwrap());
            }
        }
    }
    hasher.digest128()
}

/// Lives through a log of forgetting in two ways; gives the hash. Of plans, runs, policies and of
/// what was purged an export tells nothing: there is nothing to read in.
fn live_forgetting(seed: u64) -> u128 {
    let (mut plain, mut disturbed) = (forgetting::World::new(1 << 30), forgetting::World::new(1));
    let mut numbers = Numbers(seed);
    for step in made(&forgetting::steps(40), seed) {
        plain.run(&step);
        disturbed.run(&step);
        match numbers.below(24) {
            0 => disturbed.open(),
            1 => drop(disturbed.store().checkpoint().unwrap()),
            2 => drop(disturbed.store().compact(|_| {}).unwrap()),
            _ => {}
        }
    }
    let expected = hash(plain.store());
    assert_eq!(hash(disturbed.store()), expected, "seed {seed}: two engines");
    expected
}

/// Lives through a log in two ways, and reads its export in; gives the hash.
fn live(seed: u64) -> u128 {
    if seed.is_multiple_of(2) {
        return live_forgetting(seed);
    }
    let (caller, steps) = made(&steps(40), seed);
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut plain = World::new(directories[0].path(), caller);
    let mut disturbed = World::with_index_bytes(directories[1].path(), caller, 1);
    let mut numbers = Numbers(seed);
    for step in &steps {
        plain.run_blind(step);
        disturbed.run_blind(step);
        match numbers.below(24) {
            0 => disturbed.reopen(),
            1 => drop(disturbed.store().checkpoint().unwrap()),
            2 => drop(disturbed.store().compact(|_| {}).unwrap()),
            _ => {}
        }
    }
    let expected = hash(plain.store());
    assert_eq!(hash(disturbed.store()), expected, "seed {seed}: two engines");
    let mut file = Vec::new();
    plain.store().export(&mut file, &Export { vectors: true, ..Export::default() }, |_| {}).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let copy = Store::open(directory.path(), Options { index_bytes: 1 << 30, ..plain.options() }).unwrap();
    copy.import(&mut file.as_slice(), |_| {}).unwrap();
    assert_eq!(hash(&copy), expected, "seed {seed}: read in");
    expected
}

#[test]
fn the_same_log_gives_the_same_store() {
    let (first, logs) = (from_environment("MEMCARDS_SEED", 1), from_environment("MEMCARDS_LOGS", 50));
    let start = std::time::Instant::now();
    let mut hashes: Vec<u128> = (first..first + logs).map(live).collect();
    println!("{logs} logs in {:.1} s", start.elapsed().as_secs_f64());
    hashes.sort_unstable();
    hashes.dedup();
    // Different logs are told apart: a hash that were always the same would show nothing.
    assert!(hashes.len() as u64 * 10 > logs * 8, "{} of {logs}", hashes.len());
}
