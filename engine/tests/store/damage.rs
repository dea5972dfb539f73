//! Flipped bits in the store file: right answers or a typed error, never another content, and
//! `verify` finds each.

use std::collections::BTreeMap;
use std::path::Path;

use memcards::card::{Card, CardId};
use memcards::{
    Correct, Forget, Get, History, Include, List, Options, Recall, Remember, Store, Tenant, Wipe,
};

use crate::{EVERYTHING, everything, options};

const FLIPS: u64 = 300;

fn fill(store: &Store) {
    for name in ["anna", "bob"] {
        let tenant = store.tenant(name).unwrap();
        let requests = (0..60).map(|n| Remember {
            content: format!("entry q{n}z of {name}, with some words that make it longer than a line"),
            tags: vec![format!("t{}", n % 7)],
            vector: Some(vec![n as f32, 1.0, -2.0, 0.5]),
            ..Remember::default()
        });
        let answers = tenant.remember_all(requests.collect()).unwrap();
        let ids: Vec<CardId> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
        for id in &ids[..20] {
            tenant.correct(Correct { id: *id, summary: Some("short".into()), ..Correct::default() }).unwrap();
        }
        tenant.forget(Forget { ids: ids[30..40].to_vec(), ..Forget::default() }).unwrap();
    }
}

/// Versions of each card by tenant, and what a search finds.
#[derive(Debug, Default, PartialEq)]
struct Content {
    versions: BTreeMap<(String, CardId, u32), Card>,
    hits: BTreeMap<String, Vec<CardId>>,
}

fn read(store: &Store, ids: &[(String, CardId)]) -> memcards::Result<Content> {
    let mut content = Content::default();
    let tenant_of = |name: &str| -> memcards::Result<Tenant> { store.tenant(name) };
    // Every fifth: a history is slow to compare, and the present cards are all read below.
    for (name, id) in ids.iter().step_by(5) {
        let tenant = tenant_of(name)?;
        for version in tenant.history(&History { id: *id })?.versions {
            content.versions.insert((name.clone(), version.card.id, version.card.version), version.card.card);
        }
    }
    for name in ["anna", "bob"] {
        let tenant = tenant_of(name)?;
        for card in everything(&tenant)?.cards {
            content.versions.insert((name.into(), card.id, card.version), card.card);
        }
        let request = Recall {
            query: Some("entry words".into()),
            vector: Some(vec![9.0, 1.0, -2.0, 0.5]),
            top: Some(100),
            ..Recall::default()
        };
        let hits = tenant.recall(request)?.hits;
        content.hits.insert(name.into(), hits.iter().map(|hit| hit.card.id).collect());
    }
    Ok(content)
}

fn open(directory: &Path, check_integrity: bool) -> memcards::Result<Store> {
    Store::open(directory, Options { check_integrity, ..options() })
}

/// A store that is filled and closed: its cards, and all that it holds.
fn filled(directory: &Path) -> (Vec<(String, CardId)>, Content) {
    let store = open(directory, false).unwrap();
    fill(&store);
    let mut ids = Vec::new();
    for name in ["anna", "bob"] {
        let cards = everything(&store.tenant(name).unwrap()).unwrap().cards;
        ids.extend(cards.iter().map(|card| (name.to_owned(), card.id)));
    }
    let whole = read(&store, &ids).unwrap();
    (ids, whole)
}

#[test]
fn flipped_bits_never_give_another_content() {
    let directory = tempfile::tempdir().unwrap();
    let (ids, whole) = filled(directory.path());
    let newest: BTreeMap<(&str, bool), Option<CardId>> = {
        let store = open(directory.path(), false).unwrap();
        let first = |name: &str, include: &[Include]| {
            let request = List { limit: Some(1), include: include.to_vec(), ..List::default() };
            let page = store.tenant(name).unwrap().list(&request).unwrap();
            page.cards.into_iter().map(|card| card.id).next()
        };
        let asked = ["anna", "bob"].into_iter().flat_map(|name| [(name, true), (name, false)]);
        asked
            .map(|(name, plain)| ((name, plain), first(name, if plain { &[] } else { &EVERYTHING })))
            .collect()
    };
    assert!(newest.values().all(Option::is_some));
    let path = directory.path().join("memcards.redb");
    let bytes = std::fs::read(&path).unwrap();
    // Empty blocks tell nothing: flip where something is.
    let used: Vec<usize> = (0..bytes.len() / 64)
        .filter(|block| bytes[block * 64..block * 64 + 64].iter().any(|byte| *byte != 0))
        .collect();
    let mut seed = std::env::var("MEMCARDS_SEED").ok().map_or(1u64, |text| text.parse().unwrap());
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let flips = std::env::var("MEMCARDS_FLIPS").ok().map_or(FLIPS, |text| text.parse().unwrap());
    let (mut refused, mut whole_again, mut readable, mut lost) = (0u64, 0u64, 0u64, 0u64);
    for flip in 0..flips {
        let at = used[next() % used.len()] * 64 + next() % 64;
        let bit = next() % 8;
        let what = format!("byte {at} bit {bit}");
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << bit;
        let copy = directory.path().join(format!("copy-{flip}"));
        std::fs::create_dir(&copy).unwrap();
        std::fs::write(copy.join("memcards.redb"), &damaged).unwrap();
        match open(&copy, false) {
            Err(error) => {
                assert_eq!(error.code(), "corrupt", "{what}: {error}");
                refused += 1;
            }
            Ok(store) => {
                let report = store.verify(|_| {}).unwrap();
                assert!(!report.is_sound(), "{what}: verify is content");
                for (name, id) in &ids {
                    let get = Get { id: *id, include: EVERYTHING.to_vec(), ..Get::default() };
                    let found = store.tenant(name).and_then(|tenant| tenant.get(&get));
                    match found {
                        Ok(found) => {
                            let key = (name.clone(), *id, found.version);
                            assert_eq!(whole.versions.get(&key), Some(&found.card), "{what}");
                            readable += 1;
                        }
                        Err(error) => {
                            assert_eq!(error.code(), "corrupt", "{what}: {error}");
                            lost += 1;
                        }
                    }
                }
                // From the newest on: the end of a range is looked for first.
                for name in ["anna", "bob"] {
                    let list = |include: &[Include]| {
                        let tenant = store.tenant(name).unwrap();
                        let request = List { limit: Some(1), include: include.to_vec(), ..List::default() };
                        tenant.list(&request).map(|page| page.cards.into_iter().map(|card| card.id).next())
                    };
                    for include in [&[][..], &EVERYTHING[..]] {
                        match list(include) {
                            Ok(first) => assert_eq!(first, newest[&(name, include.is_empty())], "{what}"),
                            Err(error) => assert_eq!(error.code(), "corrupt", "{what}: {error}"),
                        }
                    }
                }
                match read(&store, &ids) {
                    Ok(content) => {
                        assert_eq!(content, whole, "{what}");
                        whole_again += 1;
                    }
                    Err(error) => assert_eq!(error.code(), "corrupt", "{what}: {error}"),
                }
                // Nothing is written beside damage that is known.
                let tenant = store.tenant("anna").unwrap();
                let request = Remember { content: "one more".into(), ..Remember::default() };
                if store.statistics().map_or(true, |statistics| statistics.read_only.is_some()) {
                    let error = tenant.remember(request).unwrap_err();
                    assert!(matches!(error.code(), "read_only" | "corrupt"), "{what}: {error}");
                    drop((tenant, store));
                    let after = std::fs::read(copy.join("memcards.redb")).unwrap();
                    assert_eq!(after.len(), damaged.len(), "{what}");
                }
            }
        }
        std::fs::remove_dir_all(&copy).unwrap();
    }
    println!(
        "{flips} flips: {refused} not opened, {whole_again} read whole, {readable} cards read, {lost} not"
    );
    // Not opened: where the header, or the page of the store's settings, was hit.
    assert!(refused * 5 < flips, "most of a store stays readable");
    assert!(lost < readable, "most of a store stays readable");
    // Reading a whole card by name is the same question.
    let store = open(directory.path(), true).unwrap();
    let (name, id) = &ids[0];
    assert!(store.tenant(name).unwrap().get(&Get { id: *id, ..Get::default() }).is_ok());
}

#[test]
fn an_empty_store_file_is_damage_and_no_new_store() {
    let directory = tempfile::tempdir().unwrap();
    fill(&Store::open(directory.path(), options()).unwrap());
    let file = directory.path().join("memcards.redb");
    std::fs::write(&file, []).unwrap();
    let error = Store::open(directory.path(), options()).err().expect("refused");
    assert_eq!(error.code(), "corrupt", "{error}");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 0, "nothing was laid out in it");
    // A database of somebody else's is none of ours either.
    drop(redb::Database::create(directory.path().join("other.redb")).unwrap());
    std::fs::rename(directory.path().join("other.redb"), &file).unwrap();
    assert_eq!(Store::open(directory.path(), options()).err().expect("refused").code(), "corrupt");
}

/// Whatever is hit: a repair either gives back every card and a sound store that is written again, or
/// changes nothing and names what is lost. The damaged file stays.
#[test]
fn a_repair_loses_nothing_and_removes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (ids, whole) = filled(directory.path());
    let bytes = std::fs::read(directory.path().join("memcards.redb")).unwrap();
    let (mut repaired, mut lost) = (0, 0);
    for page in 0..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096 + 77] ^= 8;
        let copy = directory.path().join(format!("copy-{page}"));
        std::fs::create_dir(&copy).unwrap();
        std::fs::write(copy.join("memcards.redb"), &damaged).unwrap();
        let Ok(store) = open(&copy, false) else { continue };
        let answer = store.repair(|_| {}).unwrap();
        assert!(!answer.found.is_empty(), "page {page}");
        match answer.lost.is_empty() {
            true => {
                repaired += 1;
                let kept = answer.kept.expect("a copy of the damaged file");
                let (at, kept) = (page * 4096 + 77, std::fs::read(kept).unwrap());
                assert_eq!(kept[at], damaged[at], "page {page}");
                assert_eq!(read(&store, &ids).unwrap(), whole, "page {page}");
                drop(store);
                let store = open(&copy, false).unwrap();
                assert!(store.repair(|_| {}).unwrap().found.is_empty(), "page {page}");
                let request = Remember {
                    content: "one more".into(),
                    vector: Some(vec![1.0, 2.0, 3.0, 4.0]),
                    ..Remember::default()
                };
                store.tenant("anna").unwrap().remember(request).unwrap();
            }
            false => {
                lost += 1;
                assert!(answer.kept.is_none() && answer.records == 0, "page {page}");
            }
        }
        std::fs::remove_dir_all(&copy).unwrap();
    }
    println!("{repaired} pages repaired, {lost} with something lost");
    assert!(repaired > 5 && lost > 5);
}

/// An index file that was hit is made anew.
#[test]
fn a_repair_makes_index_files_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), false).unwrap();
    let tenant = store.tenant("anna").unwrap();
    for part in 0..5 {
        let requests = (0..1000).map(|n| Remember {
            content: format!("entry q{part}x{n}z"),
            vector: Some(vec![n as f32, part as f32, -2.0, 0.5]),
            ..Remember::default()
        });
        tenant.remember_all(requests.collect()).unwrap();
    }
    let ask = |store: &Store| {
        let request = Recall { vector: Some(vec![70.0, 3.0, -2.0, 0.5]), ..Recall::default() };
        let hits = store.tenant("anna").unwrap().recall(request).unwrap().hits;
        hits.iter().map(|hit| hit.card.id).collect::<Vec<_>>()
    };
    let whole = ask(&store);
    assert!(store.checkpoint().unwrap() > 0);
    drop((tenant, store));
    let index = std::fs::read_dir(directory.path().join("index")).unwrap().next().unwrap().unwrap().path();
    let files = std::fs::read_dir(index).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "idx")).collect();
    assert!(!files.is_empty());
    for file in files {
        let sound = std::fs::read(&file).unwrap();
        let mut damaged = sound.clone();
        damaged[sound.len() / 2] ^= 1;
        std::fs::write(&file, damaged).unwrap();
        let store = open(directory.path(), false).unwrap();
        let answer = store.repair(|_| {}).unwrap();
        assert_eq!((answer.indexes, answer.records), (1, 0), "{}", file.display());
        assert!(answer.lost.is_empty() && answer.kept.is_none());
        assert_eq!(ask(&store), whole);
        drop(store);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, sound).unwrap();
    }
}

/// Beside a damaged page nothing is written: a wipe is refused, and says that `repair` goes first.
/// Where that can save everything the tenant goes afterwards.
#[test]
fn a_wipe_beside_a_damaged_page_waits_for_the_repair() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let bytes = std::fs::read(directory.path().join("memcards.redb")).unwrap();
    let (mut refused, mut wiped, mut repaired) = (0, 0, 0);
    for page in 1..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096 + 77] ^= 8;
        let copy = directory.path().join(format!("copy-{page}"));
        std::fs::create_dir(&copy).unwrap();
        std::fs::write(copy.join("memcards.redb"), &damaged).unwrap();
        let Ok(store) = open(&copy, false) else { continue };
        let wipe = |store: &Store| store.tenant("anna").unwrap().wipe(Wipe { confirm: "anna".into() });
        match wipe(&store) {
            Ok(answer) => {
                wiped += 1;
                assert!(answer.proof.is_complete() && answer.damaged.is_empty(), "page {page}: {answer:?}");
            }
            Err(error) => {
                refused += 1;
                assert_eq!(error.code(), "read_only", "page {page}: {error}");
                assert!(error.to_string().contains("memcards repair"), "page {page}: {error}");
                let kept = store.repair(|_| {}).unwrap().kept;
                drop(store);
                // A file that was written anew takes writes again.
                if kept.is_some() {
                    repaired += 1;
                    let store = open(&copy, false).unwrap();
                    assert!(wipe(&store).unwrap().damaged.is_empty(), "page {page}");
                }
            }
        }
        std::fs::remove_dir_all(&copy).unwrap();
    }
    println!("{refused} refused, of these {repaired} after a repair; {wiped} wiped");
    assert!(refused > 5 && wiped > 5 && repaired > 0);
}
