//! An index is derived: with its files, without them, with damaged ones, or kept in memory
//! all along, the answers are the same to the last bit.

use std::path::{Path, PathBuf};

use memcards::filter::Filter;
use memcards::{List, Order, Recall, Remember, Store};
use proptest::prelude::*;
use serde_json::Value;

use crate::sequences::cases;
use crate::steps::{filters, remember, step};
use crate::world::{EVERYTHING, TENANTS, World, options};

const QUERIES: [&str; 8] = [
    "do I like tea",
    "what colour is the car",
    "红色 绿茶",
    "smoking or the deadline",
    "INC-90312",
    "what did Ann say about Paris",
    "number 17 of the load",
    "的",
];

/// Every answer as JSON, scores and their parts included.
pub(crate) fn answers(store: &Store) -> Vec<Value> {
    let mut answers = Vec::new();
    for name in TENANTS {
        let tenant = store.tenant(name).unwrap();
        let filters = std::iter::once(None).chain(filters().into_iter().map(Some));
        for (number, filter) in filters.enumerate() {
            let filter = filter.map(|json| Filter::parse(&json).unwrap());
            let list = List {
                filter: filter.clone(),
                order: Order::LatestChange,
                limit: Some(1000),
                include: EVERYTHING.to_vec(),
                ..List::default()
            };
            answers.push(serde_json::to_value(tenant.list(&list).unwrap()).unwrap());
            for query in [QUERIES[number % QUERIES.len()], QUERIES[(number + 3) % QUERIES.len()]] {
                for known_at in [None, Some(store.clock().now())] {
                    let request = Recall {
                        query: Some(query.into()),
                        top: Some(40),
                        filter: filter.clone(),
                        include: if number % 3 == 0 { EVERYTHING.to_vec() } else { vec![] },
                        known_at,
                        explain: true,
                        ..Recall::default()
                    };
                    answers.push(serde_json::to_value(tenant.recall(request).unwrap()).unwrap());
                }
            }
        }
    }
    answers
}

fn index_files(directory: &Path) -> Vec<PathBuf> {
    let list = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).map(|entries| entries.map(|entry| entry.unwrap().path()));
        let mut names: Vec<PathBuf> = entries.map(Iterator::collect).unwrap_or_default();
        names.sort();
        names
    };
    list(&directory.join("index")).iter().flat_map(|directory| list(directory)).collect()
}

pub(crate) fn compare(what: &str, expected: &[Value], found: &[Value]) {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        let mut differences = Vec::new();
        differ(&format!("answer {number}"), expected, found, &mut differences);
        assert!(differences.is_empty(), "{what}:\n{}", differences.join("\n"));
    }
}

/// Names every place where two answers differ.
fn differ(place: &str, expected: &Value, found: &Value, out: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let null = Value::Null;
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                differ(&format!("{place}.{key}"), a, b, out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differ(&format!("{place}[{i}]"), a, b, out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{place}: expected {a}, found {b}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::with_cases(cases(8))
    })]

    #[test]
    fn index_files_change_no_answer(
        before in prop::collection::vec(step(false), 1..30),
        load in prop::collection::vec(remember(false), 40..60),
        after in prop::collection::vec(step(false), 1..40),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 6),
        cut in any::<prop::sample::Index>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(directory.path(), false);
        for step in &before {
            world.run(step);
        }
        // Enough rows for snapshot files, and more changes after these were written.
        let requests = |shift: usize| -> Vec<Remember> {
            (0..200)
                .map(|n| Remember {
                    content: format!("{} number {} of the load", load[n % load.len()].content, n + shift),
                    merge_key: None,
                    fact: None,
                    idempotency_key: None,
                    ..load[n % load.len()].clone()
                })
                .collect()
        };
        for (shift, name) in [(0, "anna"), (7, "bob")] {
            let tenant = world.store().tenant(name).unwrap();
            tenant.remember_all(requests(shift)).unwrap().into_iter().for_each(|answer| drop(answer.unwrap()));
            tenant.recall(Recall { query: Some("load".into()), ..Recall::default() }).unwrap();
        }
        let written = world.store().checkpoint().unwrap();
        prop_assert!(written >= 1, "no snapshot files");
        // From here on the model knows too little: carry the steps out without it.
        for step in &after {
            world.run_blind(step);
        }
        let live = answers(world.store());
        let options = world.options();
        drop(world);
        let files = index_files(directory.path());
        prop_assert!(!files.is_empty());
        let sound: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
        let reopened = || {
            let store = Store::open(directory.path(), options.clone()).unwrap();
            let answers = answers(&store);
            assert!(store.verify(|_| {}).is_ok());
            answers
        };
        compare("with snapshot files", &live, &reopened());
        for ((at, bit), (path, bytes)) in damage.iter().zip(files.iter().zip(&sound).cycle()) {
            let mut bytes = bytes.clone();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            std::fs::write(path, bytes).unwrap();
        }
        compare("with flipped bits", &live, &reopened());
        for (path, bytes) in files.iter().zip(&sound) {
            std::fs::write(path, &bytes[..cut.index(bytes.len())]).unwrap();
        }
        compare("with files cut short", &live, &reopened());
        std::fs::remove_dir_all(directory.path().join("index")).unwrap();
        compare("without files", &live, &reopened());
    }
}

/// The first source of a card can come with a later mention: speakers and conversations of
/// the index must be those of a rebuilt one.
#[test]
fn a_source_that_comes_later_is_indexed_like_one_that_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path(), false);
    let anna = world.store().tenant("anna").unwrap();
    let say = |content: &str, session: Option<&str>, speaker: Option<&str>| {
        let request = Remember {
            content: content.into(),
            session: session.map(str::to_owned),
            speaker: speaker.map(str::to_owned),
            ..Remember::default()
        };
        anna.remember(request).unwrap().id
    };
    say("The spare key is under the blue pot.", None, None);
    say("We talked about the garden.", Some("s1"), Some("Ann"));
    say("We talked about keys.", Some("s1"), None);
    anna.recall(Recall { query: Some("key".into()), ..Recall::default() }).unwrap();
    say("The spare key is under the blue pot.", Some("s1"), Some("Ben"));
    let ask = |store: &Store| {
        let anna = store.tenant("anna").unwrap();
        ["where is the key", "what did Ben say about the key", "garden"].map(|query| {
            let request = Recall { query: Some(query.into()), explain: true, ..Recall::default() };
            serde_json::to_value(anna.recall(request).unwrap()).unwrap()
        })
    };
    let live = ask(world.store());
    let clock = world.clock.clone();
    drop(anna);
    drop(world);
    let store = Store::open(directory.path(), options(false, 0, clock)).unwrap();
    compare("rebuilt", &live, &ask(&store));
}
