//! Exports that leave out what is damaged: the rest arrives in a new store, nothing false with it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use memcards::card::{Card, CardId, Link, LinkKind, State};
use memcards::exchange::{Export, Exported};
use memcards::{
    Apply, Correct, Forget, History, MakePlan, ManualClock, Options, Remember, Restore, Store, Timestamp,
};

use crate::{everything, options};

const NAMES: [&str; 2] = ["anna", "bob"];

/// Cards with several versions, links, look-ups; some forgotten, some brought back, some purged.
fn fill(store: &Store, caller: bool) {
    for name in NAMES {
        let tenant = store.tenant(name).unwrap();
        let vector = |n: u64| caller.then(|| vec![n as f32, 1.0, -2.0, 0.5]);
        let mut ids: Vec<CardId> = Vec::new();
        for n in 0..30 {
            let request = Remember {
                content: format!("entry q{n}z of {name}, with some words that make it longer than a line"),
                idempotency_key: Some(format!("key {n}")),
                links: ids.last().map(|to| Link { to: *to, kind: LinkKind::Related }).into_iter().collect(),
                vector: vector(n),
                ..Remember::default()
            };
            ids.push(tenant.remember(request).unwrap().id);
        }
        for (n, id) in ids[..12].iter().enumerate() {
            tenant.correct(Correct { id: *id, summary: Some("short".into()), ..Correct::default() }).unwrap();
            let content = Some(format!("entry q{n}z of {name}, told otherwise since"));
            let change = Correct { id: *id, content, vector: vector(90), ..Correct::default() };
            tenant.correct(change).unwrap();
        }
        tenant.forget(Forget { ids: ids[8..20].to_vec(), ..Forget::default() }).unwrap();
        tenant.restore(Restore { ids: ids[16..20].to_vec(), ..Restore::default() }).unwrap();
        tenant.forget(Forget { ids: ids[22..25].to_vec(), ..Forget::default() }).unwrap();
    }
}

fn export(store: &Store, skip_damaged: bool) -> memcards::Result<(Vec<u8>, Exported)> {
    let mut out = Vec::new();
    let what = Export { vectors: true, skip_damaged, ..Export::default() };
    let answer = store.export(&mut out, &what, |_| {})?;
    Ok((out, answer))
}

type Cards = BTreeMap<(String, CardId), Vec<Card>>;

/// All versions of all cards.
fn read(store: &Store, names: &[String]) -> Cards {
    let mut all = Cards::new();
    for name in names {
        let tenant = store.tenant(name).unwrap();
        for card in everything(&tenant).unwrap().cards {
            let history = tenant.history(&History { id: card.id }).unwrap().versions;
            // It goes on to those that it replaced.
            let own =
                history.into_iter().map(|version| version.card.card).filter(|other| other.id == card.id);
            let versions = own.collect();
            all.insert((name.clone(), card.id), versions);
        }
    }
    all
}

/// What a version says, without what moves when an earlier one is lost.
fn said(card: &Card) -> Card {
    Card { version: 0, vector_version: 0, links: vec![], ..card.clone() }
}

/// Some days after the store was filled, with a model or without one.
fn open(directory: &Path, caller: bool, days: i64) -> memcards::Result<Store> {
    let clock = ManualClock::new(Timestamp::from_micros(1_700_000_000_000_000 + days * 86_400_000_000));
    let embedder = Options::default().embedder.filter(|_| !caller);
    Store::open(directory, Options { clock: Arc::new(clock), embedder, ..options() })
}

/// Hits pages of a store in turn, one of so many.
fn pages(caller: bool, step: usize) {
    let directory = tempfile::tempdir().unwrap();
    let names: Vec<String> = NAMES.map(str::to_owned).to_vec();
    let (whole, plain) = {
        fill(&open(directory.path(), caller, 0).unwrap(), caller);
        // What was forgotten is purged.
        let store = open(directory.path(), caller, 40).unwrap();
        let tenant = store.tenant("anna").unwrap();
        let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
        let done = tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
        assert!(done.totals.applied > 5, "{done:?}");
        (read(&store, &names), export(&store, false).unwrap().0)
    };
    let bytes = std::fs::read(directory.path().join("memcards.redb")).unwrap();
    let (mut moved, mut nothing, mut some_lost, mut unnamed, mut renumbered) = (0, 0, 0, 0, 0);
    for page in (1..bytes.len() / 4096).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[page * 4096 + 77] ^= 8;
        let copy = directory.path().join(format!("copy-{page}"));
        std::fs::create_dir(&copy).unwrap();
        std::fs::write(copy.join("memcards.redb"), &damaged).unwrap();
        let Ok(store) = open(&copy, caller, 41) else { continue };
        let strict = export(&store, false);
        let (file, answer) = match export(&store, true) {
            Ok(written) => written,
            // The page that says where the table begins.
            Err(error) => {
                assert_eq!(error.code(), "corrupt", "page {page}");
                nothing += 1;
                continue;
            }
        };
        match answer.left_out.is_empty() {
            true => assert!(file == plain, "page {page}: nothing is missing, and it differs"),
            false => assert_eq!(strict.unwrap_err().code(), "corrupt", "page {page}"),
        }
        drop(store);
        let elsewhere = copy.join("elsewhere");
        let sound = open(&elsewhere, caller, 41).unwrap();
        let imported = sound.import(&mut file.as_slice(), |_| {}).unwrap();
        assert_eq!(imported.versions, answer.versions, "page {page}");
        let report = sound.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "page {page}: {:?}", report.findings);
        let mut there: Vec<String> = sound.tenants().unwrap().into_iter().map(|tenant| tenant.name).collect();
        // A tenant whose name is lost has another one.
        unnamed += there.iter().filter(|name| name.starts_with("lost-")).count();
        there.retain(|name| names.contains(name));
        let cards = read(&sound, &there);
        for (key, versions) in &cards {
            let told: Vec<Card> = whole[key].iter().map(said).collect();
            let arrived: Vec<Card> = versions.iter().map(said).collect();
            assert_eq!(arrived.last(), told.last(), "page {page}: {key:?}");
            // Those that are there keep their order.
            let mut rest = told.iter();
            assert!(arrived.iter().all(|card| rest.any(|other| other == card)), "page {page}: {key:?}");
            renumbered += usize::from(arrived.len() < told.len());
        }
        if there == names {
            let lost: Vec<_> = whole.keys().filter(|key| !cards.contains_key(*key)).collect();
            assert!(lost.is_empty() || !answer.left_out.is_empty(), "page {page}");
            some_lost += usize::from(!lost.is_empty());
            moved += usize::from(lost.len() * 2 < whole.len());
        }
        // Written again, and searched.
        let tenant = sound.tenant("anna").unwrap();
        let vector = caller.then(|| vec![1.0, 2.0, 3.0, 4.0]);
        tenant.remember(Remember { content: "one more".into(), vector, ..Remember::default() }).unwrap();
        let forgotten =
            everything(&tenant).unwrap().cards.into_iter().filter(|card| card.state == State::Forgotten);
        for card in forgotten {
            let was = whole[&("anna".to_owned(), card.id)].last().unwrap();
            assert_eq!(was.state, State::Forgotten);
        }
        std::fs::remove_dir_all(&copy).unwrap();
    }
    println!(
        "{moved} moved, {nothing} not, {some_lost} with some lost, {unnamed} unnamed, {renumbered} renumbered"
    );
    assert!(nothing <= 2 && moved * step > 5 && some_lost * step > 3 && renumbered > 0);
}

#[test]
fn what_is_left_of_a_damaged_store_moves_to_a_new_one() {
    pages(true, 1);
}

#[test]
#[cfg(feature = "static-model")]
fn vectors_of_the_own_model_are_made_anew() {
    pages(false, 4);
}
