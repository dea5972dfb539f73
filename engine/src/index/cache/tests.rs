//! Cards that go away: what is left answers as if they had never been, and no file keeps a byte.

#![allow(clippy::disallowed_methods, reason = "the tests look into the files themselves")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::card::CardId;
use crate::engine::{Options, Store, Tenant};
use crate::filter::Filter;
use crate::index::text::{Statistics, analyze_query};
use crate::time::{ManualClock, Timestamp};
use crate::verbs::{Forget, Include, Recall, Remember};

const START: i64 = 1_704_067_200_000_000;
const DIMENSION: usize = 40;
const DAY: i64 = 86_400_000_000;
const WORDS: [&str; 12] = [
    "tea",
    "coffee",
    "garden",
    "train",
    "Paris",
    "violin",
    "绿茶",
    "花园",
    "INC-90312",
    "sister",
    "budget",
    "river",
];
const QUERIES: [&str; 7] = [
    "tea in the garden",
    "花园 绿茶",
    "INC-90312",
    "what did Anna say about Paris",
    "my sister",
    "when is my birthday",
    "train on 2024-01-05",
];

/// A small generator (SplitMix64), the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % bound.max(1) as u64) as usize
    }

    pub(super) fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.below(2001) as f32 / 1000.0 - 1.0).collect()
    }
}

pub(super) fn open(directory: &Path) -> Store {
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START + 100 * DAY)));
    let options = Options { embedder: None, clock, ..Options::default() };
    Store::open(directory.join("store"), options).unwrap()
}

/// Cards of every kind that a partition keeps something of.
fn card(random: &mut Random, number: usize) -> Remember {
    let words: Vec<&str> = (0..1 + random.below(5)).map(|_| WORDS[random.below(WORDS.len())]).collect();
    let mut content = format!("{} {number}", words.join(" "));
    match random.below(9) {
        0 => content = format!("My sister Anna lives in {content}."),
        1 => content = format!("My birthday is June {}. {content}", 1 + number % 28),
        2 => content = format!("Never buy {content}"),
        3 => content.push('?'),
        4 => content = format!("On 2024-01-05 I took the {content}."),
        _ => {}
    }
    let turn = random.below(3) > 0;
    Remember {
        content,
        session: turn.then(|| format!("session {}", random.below(5))),
        turn: turn.then_some(number as u32),
        speaker: (random.below(2) == 0).then(|| ["Anna", "Ben", "李雷"][random.below(3)].to_owned()),
        occurred_at: Some(Timestamp::from_micros(START + random.below(20) as i64 * DAY + number as i64)),
        expires_at: (random.below(6) == 0)
            .then(|| Timestamp::from_micros(START + random.below(400) as i64 * DAY)),
        entities: if random.below(4) == 0 { vec!["Paris".into(), "Anna".into()] } else { vec![] },
        tags: if random.below(3) == 0 { vec!["kept".into()] } else { vec![] },
        merge_key: (random.below(6) == 0).then(|| format!("key {}", random.below(4))),
        vector: (random.below(4) > 0).then(|| random.vector(DIMENSION)),
        ..Remember::default()
    }
}

fn purge(store: &Store, tenant: &Tenant, ids: &[CardId]) -> usize {
    let (id, ids, now) = (tenant.id().unwrap().unwrap(), ids.to_vec(), store.clock().now());
    store.database().write(move |batch| batch.purge_all(id, &ids, now)).unwrap()
}

fn scrub(store: &Store, tenant: &Tenant) -> scrub::Scrubbed {
    store.cache().scrub(store.database(), tenant.id().unwrap().unwrap()).unwrap()
}

/// Takes everything out of memory, as if the store were opened again.
fn unload(store: &Store) {
    store.cache().slots.lock().clear();
}

fn slot(store: &Store, tenant: &Tenant, track: Track) -> SlotRef {
    store.cache().partition(store.database(), tenant.id().unwrap().unwrap(), track).unwrap()
}

/// Hits with their scores, of all kinds of questions.
fn answers(tenant: &Tenant) -> Vec<Vec<(CardId, f32)>> {
    let mut answers = Vec::new();
    for (number, query) in QUERIES.iter().enumerate() {
        for variant in 0..4 {
            let request = Recall {
                query: Some((*query).into()),
                vector: (variant % 2 == 0).then(|| Random(number as u64).vector(DIMENSION)),
                top: Some(1000),
                min_score: Some(0.0),
                include: if variant > 1 {
                    vec![Include::Superseded, Include::Forgotten, Include::Candidates]
                } else {
                    vec![]
                },
                known_at: (variant == 3).then(|| Timestamp::from_micros(START + 200 * DAY)),
                filter: (number == 1).then(|| {
                    Filter::parse(&serde_json::json!({"field": "tags", "contains": "kept"})).unwrap()
                }),
                ..Recall::default()
            };
            let found = tenant.recall(request).unwrap();
            answers.push(found.hits.iter().map(|hit| (hit.card.id, hit.score)).collect());
        }
    }
    answers
}

/// What a partition counts, and what hangs on no row number.
fn figures(store: &Store, tenant: &Tenant) -> Vec<String> {
    Track::ALL
        .iter()
        .map(|track| {
            let slot = slot(store, tenant, *track);
            let partition = slot.read().unwrap();
            let present = partition.present();
            let mut statistics = Statistics::default();
            let terms = analyze_query(&WORDS.join(" "));
            partition.text().gather(&terms, present.rows(), &mut statistics);
            let speakers = partition.names().iter().zip(present.speakers());
            let mut speakers: Vec<_> = speakers.filter(|(_, count)| **count > 0).collect();
            speakers.sort_unstable();
            let named = |key: &str| {
                let rows = partition.named().edges(key).iter().chain(partition.named().others(key));
                rows.filter(|row| !partition.is_dropped(**row)).count()
            };
            let concepts: Vec<u32> =
                crate::graph::Concept::ALL.iter().map(|concept| partition.concept_count(*concept)).collect();
            format!(
                "{:?} {:?} {statistics:?} {speakers:?} {:?} {:?} {:?} {concepts:?}",
                (partition.len() - partition.dropped(), present.len(), present.special().count()),
                (present.length(), present.window_length(), present.days().collect::<Vec<_>>()),
                partition.vectors().map_or(0, |index| index.len()),
                (partition.exclusions().count(), partition.timed().len(), partition.stale()),
                ["anna", "paris", "sister"].map(named),
            )
        })
        .collect()
}

fn compare(what: &str, expected: &[Vec<(CardId, f32)>], found: &[Vec<(CardId, f32)>]) {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        let ids = |hits: &[(CardId, f32)]| hits.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        assert_eq!(ids(expected), ids(found), "{what}, question {number}");
        for ((id, a), (_, b)) in expected.iter().zip(found) {
            assert!((a - b).abs() < 1e-6, "{what}, question {number}, card {id}: {a} and {b}");
        }
    }
}

fn files(store_directory: &Path) -> Vec<PathBuf> {
    let list = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).map(|entries| entries.map(|entry| entry.unwrap().path()));
        entries.map(Iterator::collect).unwrap_or_default()
    };
    let tenants = list(&store_directory.join("store").join("index"));
    tenants.iter().flat_map(|directory| list(directory)).collect()
}

/// The files that hold one of some runs of bytes.
fn holding(directory: &Path, canaries: &[Vec<u8>]) -> Vec<String> {
    let mut found = Vec::new();
    let mut by_start: Vec<Vec<&Vec<u8>>> = vec![Vec::new(); 256];
    for canary in canaries {
        by_start[usize::from(canary[0])].push(canary);
    }
    for path in files(directory) {
        let bytes = std::fs::read(&path).unwrap();
        for (at, byte) in bytes.iter().enumerate() {
            for canary in by_start[usize::from(*byte)].iter().filter(|canary| bytes[at..].starts_with(canary))
            {
                found.push(format!("{}: {:?}", path.display(), String::from_utf8_lossy(canary)));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written, read and purged in whatever order, what is left answers like an index
    /// that was made of it alone, with and without files.
    #[test]
    fn what_is_left_answers_as_if_the_rest_had_never_been(seed in any::<u64>()) {
        let mut random = Random(seed);
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        let tenant = store.tenant("a").unwrap();
        tenant.create().unwrap();
        let mut ids: Vec<CardId> = Vec::new();
        let mut number = 0;
        for _ in 0..30 + random.below(60) {
            match random.below(12) {
                0..7 => {
                    let requests = (0..1 + random.below(8)).map(|n| card(&mut random, number + n)).collect();
                    let told = tenant.remember_all(requests).unwrap();
                    number += told.len();
                    ids.extend(told.into_iter().map(|answer| answer.unwrap().id));
                }
                7 if !ids.is_empty() => {
                    let id = ids[random.below(ids.len())];
                    tenant.forget(Forget { id: Some(id), ..Forget::default() }).ok();
                }
                8 | 9 if !ids.is_empty() => {
                    let gone: Vec<CardId> =
                        (0..1 + random.below(12)).map(|_| ids[random.below(ids.len())]).collect();
                    ids.retain(|id| !gone.contains(id));
                    purge(&store, &tenant, &gone);
                }
                10 => drop(answers(&tenant)),
                11 if random.below(2) == 0 => drop(store.checkpoint().unwrap()),
                11 => drop(scrub(&store, &tenant)),
                _ => {}
            }
        }
        let (live, counted) = (answers(&tenant), figures(&store, &tenant));
        store.cache().checkpoint(store.database(), true).unwrap();
        unload(&store);
        compare("from files", &live, &answers(&tenant));
        prop_assert_eq!(&counted, &figures(&store, &tenant));
        scrub(&store, &tenant);
        unload(&store);
        compare("from scrubbed files", &live, &answers(&tenant));
        prop_assert_eq!(&counted, &figures(&store, &tenant));
        store.cache().forget_tenant(store.database(), tenant.id().unwrap().unwrap()).unwrap();
        prop_assert!(files(directory.path()).is_empty());
        compare("made anew", &live, &answers(&tenant));
        prop_assert_eq!(&counted, &figures(&store, &tenant));
        // The records agree, but for links to what is gone, which are not the indexes' business.
        let report = store.verify(|_| {}).unwrap();
        let is_link = |detail: &str| detail.ends_with("which is not there") && !detail.starts_with("a look-up");
        let other = report.findings.iter().find(|finding| !is_link(&finding.detail));
        prop_assert!(other.is_none(), "{:?}", other);
    }
}

const PARTS: [&str; 8] =
    ["content", "category", "session", "speaker", "entity", "tag", "mergekey", "attribute"];

/// A card whose every part can be found in a file.
fn canary(number: usize) -> (Remember, Vec<Vec<u8>>) {
    let word = |part: &str| format!("zq{part}{number}qz");
    let request = Remember {
        content: format!("{} is on 2031-02-03", word("content")),
        category: Some(word("category")),
        session: Some(word("session")),
        speaker: Some(word("speaker")),
        entities: vec![word("entity")],
        tags: vec![word("tag")],
        merge_key: Some(word("mergekey")),
        attributes: serde_json::json!({ word("attribute"): 1 }).as_object().unwrap().clone(),
        vector: Some(Random(9_000 + number as u64).vector(DIMENSION)),
        ..Remember::default()
    };
    (request, PARTS.iter().map(|part| word(part).into_bytes()).collect())
}

/// The beginning of the vector of a card as an index keeps it.
fn vector_bytes(store: &Store, tenant: &Tenant, id: CardId) -> Vec<u8> {
    let found = Track::ALL.iter().find_map(|track| {
        let slot = slot(store, tenant, *track);
        let partition = slot.read().unwrap();
        let row = partition.open_row(id)?;
        partition.vectors()?.with_vector(row, |vector| vector[..4].to_vec())
    });
    found.unwrap().into_iter().flat_map(f32::to_le_bytes).collect()
}

/// The vectors of a partition's file, by slot.
fn vectors_in(directory: &Path) -> Vec<Vec<f32>> {
    let mut vectors = Vec::new();
    for path in files(directory).iter().filter(|path| path.extension().is_some_and(|end| end == "vec")) {
        let bytes = std::fs::read(path).unwrap();
        let field = |at: usize| u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap()) as usize;
        let (dimension, slots) = (field(2), field(6));
        // The first array begins at the first multiple of 64, or of a page, behind the header.
        let numbers: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let start = (0..numbers.len())
            .step_by(16)
            .find(|at| {
                let first = &numbers[*at..(*at + dimension).min(numbers.len())];
                (first.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4
            })
            .unwrap();
        vectors.extend((0..slots).map(|slot| numbers[start + slot * dimension..][..dimension].to_vec()));
    }
    vectors
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    crate::index::cosine(a, b).unwrap()
}

#[test]
fn no_file_keeps_a_byte_of_what_is_gone() {
    for (loaded, others) in [(true, 300), (false, 300), (true, 5), (false, 5)] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        let tenant = store.tenant("a").unwrap();
        let mut random = Random(7);
        let mut remember = |store: &Store, count: usize, from: usize| {
            let requests = (from..from + count)
                .map(|n| Remember { vector: Some(random.vector(DIMENSION)), ..card(&mut random, n) });
            for told in store.tenant("a").unwrap().remember_all(requests.collect()).unwrap() {
                told.unwrap();
            }
        };
        remember(&store, others, 0);
        let (mut gone, mut canaries, mut vectors) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..6 {
            let (request, words) = canary(number);
            vectors.push(request.vector.clone().unwrap());
            let told = tenant.remember(request.clone()).unwrap();
            gone.push(told.id);
            canaries.extend(words);
            // An earlier version, with everything the same.
            let tags = vec![format!("zqother{number}qz")];
            canaries.push(tags[0].clone().into_bytes());
            tenant.remember(Remember { tags, ..request }).unwrap();
        }
        remember(&store, 3, 1000);
        drop(answers(&tenant));
        // Whatever their size.
        for track in Track::ALL {
            let key = (tenant.id().unwrap().unwrap(), *track);
            write(store.database(), key, &slot(&store, &tenant, *track), When::Always).unwrap();
        }
        let found = holding(directory.path(), &canaries);
        for part in PARTS {
            let word = format!("zq{part}0qz");
            assert!(found.iter().any(|found| found.contains(&word)), "{word} is in no file to begin with");
        }
        let bytes: Vec<Vec<u8>> = gone.iter().map(|id| vector_bytes(&store, &tenant, *id)).collect();
        assert!(bytes.iter().all(|bytes| !holding(directory.path(), std::slice::from_ref(bytes)).is_empty()));
        canaries.extend(bytes);
        let near = |vector: &Vec<f32>| {
            vectors_in(directory.path()).iter().filter(|other| cosine(vector, other) > 0.999).count()
        };
        assert!(vectors.iter().all(|vector| near(vector) > 0));
        if !loaded {
            unload(&store);
        }
        assert_eq!(purge(&store, &tenant, &gone), 6);
        assert_eq!(purge(&store, &tenant, &gone), 0);
        let done = scrub(&store, &tenant);
        assert!(if loaded { done.written > 0 } else { done.removed > 0 }, "{loaded} {others}: {done:?}");
        for round in 0..3 {
            assert_eq!(
                holding(directory.path(), &canaries),
                Vec::<String>::new(),
                "{loaded} {others} {round}"
            );
            assert_eq!(vectors.iter().map(near).sum::<usize>(), 0, "{loaded} {others} {round}");
            // Nothing more to do; and nothing comes back.
            assert_eq!(scrub(&store, &tenant), scrub::Scrubbed::default());
            drop(answers(&tenant));
            for track in Track::ALL.iter().filter(|_| round > 0) {
                let names = slot(&store, &tenant, *track).read().unwrap().names().to_vec();
                assert!(names.iter().all(|name| !name.starts_with("zq")), "{names:?}");
            }
            remember(&store, 150, 2000 + 200 * round);
            store.checkpoint().unwrap();
            unload(&store);
        }
    }
}

/// A half-written file of a killed process, and vectors that no rows name, are somebody's cards.
#[test]
fn what_a_killed_process_left_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let tenant = store.tenant("a").unwrap();
    let mut random = Random(3);
    let requests = (0..300).map(|n| card(&mut random, n)).collect();
    tenant.remember_all(requests).unwrap();
    drop(answers(&tenant));
    assert!(store.checkpoint().unwrap() > 0);
    let folder = directory.path().join("store/index/00000001");
    let before = files(directory.path()).len();
    for name in ["episodic.tmp", "episodic-00ff.tmp", "episodic-00000000000000ff.vec"] {
        std::fs::write(folder.join(name), b"left").unwrap();
    }
    for _ in 0..2 {
        let removed = scrub(&store, &tenant).removed;
        assert!(removed == 3 || removed == 0);
        unload(&store);
    }
    assert_eq!(files(directory.path()).len(), before);
    // Of a file that cannot be used nobody knows what it holds.
    let path = folder.join("episodic.idx");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(scrub(&store, &tenant).removed > 0);
    assert!(!path.exists());
}

/// A partition of which most is gone becomes small again while it is read and written.
#[test]
fn a_sparse_partition_is_made_anew_beside_its_readers() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let tenant = store.tenant("a").unwrap();
    let mut random = Random(5);
    let mut ids = Vec::new();
    for chunk in 0..4 {
        let requests: Vec<Remember> = (0..600).map(|n| card(&mut random, chunk * 600 + n)).collect();
        ids.extend(tenant.remember_all(requests).unwrap().into_iter().map(|told| told.unwrap().id));
    }
    drop(answers(&tenant));
    store.checkpoint().unwrap();
    let rows = |store: &Store| {
        let lengths = Track::ALL.iter().map(|track| {
            let slot = slot(store, &tenant, *track);
            let partition = slot.read().unwrap();
            (partition.len(), partition.dropped())
        });
        lengths.fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
    };
    let before = rows(&store).0;
    purge(&store, &tenant, &ids[..1900]);
    let deadline = Instant::now() + Duration::from_secs(300);
    let mut number = 10_000;
    let mut expected = ids[1900..].to_vec();
    while rows(&store).1 > 1024 {
        assert!(Instant::now() < deadline, "{:?}", rows(&store));
        let told = tenant.remember(card(&mut random, number)).unwrap();
        expected.push(told.id);
        number += 1;
        let request = Recall { query: Some(format!("{}", number - 1)), ..Recall::default() };
        tenant.recall(request).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        if number % 7 == 0 {
            purge(&store, &tenant, &[expected.swap_remove(random.below(600) % expected.len())]);
        }
    }
    assert!(rows(&store).0 < before / 2 + number, "{before}: {:?}", rows(&store));
    let (live, counted) = (answers(&tenant), figures(&store, &tenant));
    // The file is of the partition before; the next checkpoint writes the new one.
    assert!(store.checkpoint().unwrap() > 0);
    unload(&store);
    compare("from files", &live, &answers(&tenant));
    assert_eq!(counted, figures(&store, &tenant));
    assert!(rows(&store).1 <= 1024);
    store.cache().forget_tenant(store.database(), tenant.id().unwrap().unwrap()).unwrap();
    compare("made anew", &live, &answers(&tenant));
    assert_eq!(counted, figures(&store, &tenant));
}

#[test]
fn a_forgotten_tenant_leaves_no_files_and_others_keep_theirs() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let mut random = Random(1);
    let tenants = ["a", "b"].map(|name| store.tenant(name).unwrap());
    for tenant in &tenants {
        tenant.remember_all((0..300).map(|n| card(&mut random, n)).collect()).unwrap();
        drop(answers(tenant));
    }
    assert!(store.checkpoint().unwrap() > 2);
    let of = |number: usize| {
        let name = format!("{number:08x}");
        files(directory.path()).iter().filter(|path| path.parent().unwrap().ends_with(&name)).count()
    };
    let (before, others) = (answers(&tenants[0]), of(2));
    assert!(of(1) > 2 && others > 2);
    let read = slot(&store, &tenants[0], Track::Episodic);
    let id = tenants[0].id().unwrap().unwrap();
    let removed = store.cache().forget_tenant(store.database(), id).unwrap();
    assert!(removed > 2);
    assert_eq!((of(1), of(2)), (0, others));
    assert!(!directory.path().join("store/index/00000001").exists());
    assert_eq!(store.cache().forget_tenant(store.database(), id).unwrap(), 0);
    // Who had it goes on reading, and writes no file any more.
    assert!(read.read().unwrap().len() > 0);
    assert!(!store.cache().save(store.database(), (id, Track::Episodic), &read, When::Always).unwrap());
    assert_eq!(of(1), 0);
    compare("made anew", &before, &answers(&tenants[0]));
    let told = card(&mut random, 7);
    let first = tenants[0].remember(told.clone()).unwrap().id;
    assert_eq!(tenants[0].remember(told).unwrap().id, first);
}
