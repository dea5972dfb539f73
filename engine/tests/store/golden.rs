//! A store of format 1 as a committed file, read field by field: what older builds wrote
//! stays readable, and the bytes of a record do not change by accident.
//!
//! `MEMCARDS_WRITE_FIXTURES=1` writes the file anew; that is right only together with a new
//! format number.

use std::path::{Path, PathBuf};

use memcards::card::{Fact, Link, LinkKind, Polarity, Provenance, Role, State, Track};
use memcards::{
    Correct, Duration, Forget, Get, History, How, Include, List, Recall, Remember, Store, Timestamp,
};
use serde_json::json;

use crate::{content, everything, options};

const BLOCK: usize = 512;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Keeps only the blocks of a file that are not empty: position and bytes, after the length.
fn squeeze(bytes: &[u8]) -> Vec<u8> {
    let mut out = (bytes.len() as u64).to_le_bytes().to_vec();
    for (number, block) in bytes.chunks(BLOCK).enumerate() {
        if block.iter().any(|byte| *byte != 0) {
            out.extend_from_slice(&(number as u32).to_le_bytes());
            out.extend_from_slice(block);
            out.resize(out.len() + BLOCK - block.len(), 0);
        }
    }
    out
}

fn expand(bytes: &[u8]) -> Vec<u8> {
    let (length, blocks) = bytes.split_first_chunk::<8>().unwrap();
    let length = u64::from_le_bytes(*length) as usize;
    let mut out = vec![0; length.next_multiple_of(BLOCK)];
    for block in blocks.chunks_exact(4 + BLOCK) {
        let (number, bytes) = block.split_first_chunk::<4>().unwrap();
        let at = u32::from_le_bytes(*number) as usize * BLOCK;
        out[at..at + BLOCK].copy_from_slice(bytes);
    }
    out.truncate(length);
    out
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The content of the fixture: every field set somewhere, every state, kind and link.
fn fill(store: &Store) {
    let anna = store.tenant("anna").unwrap();
    let full = Remember {
        content: "安娜的车是蓝色的 🚗 \u{0}tail".into(),
        track: Some(Track::Entity),
        category: Some("profile".into()),
        summary: Some("car: blue".into()),
        fact: Some(Fact { entity: "Anna's car".into(), attribute: "colour".into(), value: "blue".into() }),
        polarity: Some(Polarity::Excluded),
        entities: vec!["Anna".into(), "car".into()],
        tags: vec!["a".into(), "b b".into()],
        attributes: json!({"n": 1, "deep": {"list": [1, 2.5, null, "x"]}}).as_object().unwrap().clone(),
        occurred_at: Some(at("2023-11-01T08:00:00+08:00")),
        valid_from: Some(at("2023-01-01T00:00:00Z")),
        valid_to: Some(at("2033-01-01T00:00:00Z")),
        ttl: Some(Duration::from_hours(24 * 365 * 20)),
        importance: Some(0.75),
        provenance: Some(Provenance::Confirmed),
        merge_key: Some("profile.car.colour".into()),
        session: Some("s-1".into()),
        role: Some(Role::User),
        speaker: Some("Anna".into()),
        extractor: Some("rules-1".into()),
        idempotency_key: Some("request-1".into()),
        vector: Some(vec![0.25, -1.5, 3.0, 1e-3]),
        pinned: true,
        actor: Some("importer".into()),
        reason: Some("first import".into()),
        ..Remember::default()
    };
    let first = anna.remember(full).unwrap().id;
    let turn = |content: &str, turn, role| Remember {
        content: content.into(),
        session: Some("s-2".into()),
        turn: Some(turn),
        role: Some(role),
        ..Remember::default()
    };
    let question = anna.remember(turn("When do we meet?", 1, Role::Assistant)).unwrap().id;
    anna.remember(turn("On Friday at nine.", 2, Role::Tool)).unwrap();
    let plain = |content: &str| Remember { content: content.into(), ..Remember::default() };
    let linked = Remember {
        links: vec![Link { to: first, kind: LinkKind::Related }],
        provenance: Some(Provenance::Inferred),
        ..plain("Anna drives to work")
    };
    anna.remember(linked).unwrap();
    anna.remember(plain("Smoking is allowed here.")).unwrap();
    anna.remember(plain("Smoking is allowed here!")).unwrap();
    anna.remember(plain("Smoking is not allowed here.")).unwrap();
    let office = anna.remember(plain("The office opens at 8")).unwrap().id;
    store.clock().set(store.clock().now().plus(Duration::from_hours(30))).unwrap();
    let narrower = Correct {
        id: office,
        how: How::Scope,
        content: Some("The office opens at 10 on Sundays".into()),
        vector: Some(vec![1.0, 0.0, 0.0, 0.0]),
        ..Correct::default()
    };
    anna.correct(narrower).unwrap();
    anna.correct(Correct {
        id: office,
        importance: Some(1.0),
        actor: Some("Ben".into()),
        ..Correct::default()
    })
    .unwrap();
    anna.forget(Forget { id: Some(question), reason: Some("asked to".into()), ..Forget::default() }).unwrap();
    let bob = store.tenant("bob ☃").unwrap();
    bob.remember(plain("我喜欢喝绿茶")).unwrap();
}

fn unpack(directory: &Path) {
    let squeezed = std::fs::read(fixture("store-format-1.blocks")).unwrap();
    std::fs::write(directory.join("memcards.redb"), expand(&squeezed)).unwrap();
}

#[test]
fn a_store_of_format_1_is_read_field_by_field() {
    if std::env::var_os("MEMCARDS_WRITE_FIXTURES").is_some() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), options()).unwrap();
        fill(&store);
        let lines = content(&store).unwrap();
        let copy = directory.path().join("copy");
        store.backup(&copy, |_| {}).unwrap();
        let bytes = std::fs::read(copy.join("memcards.redb")).unwrap();
        assert_eq!(expand(&squeeze(&bytes)), bytes);
        std::fs::write(fixture("store-format-1.blocks"), squeeze(&bytes)).unwrap();
        std::fs::write(fixture("store-format-1.jsonl"), lines).unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    unpack(directory.path());
    let store = Store::open(directory.path(), options()).unwrap();
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!((report.tenants, report.vectors), (2, 2));
    let names: Vec<String> = store.tenants().unwrap().into_iter().map(|tenant| tenant.name).collect();
    assert_eq!(names, ["anna", "bob ☃"]);
    // Every version, change, vector and look-up.
    let lines = std::fs::read(fixture("store-format-1.jsonl")).unwrap();
    assert!(content(&store).unwrap() == lines, "{}", String::from_utf8_lossy(&content(&store).unwrap()));

    let anna = store.tenant("anna").unwrap();
    let cards = everything(&anna).unwrap().cards;
    let car = &cards[0];
    let expected = json!({
        "id": car.id, "version": 2, "track": "entity", "category": "profile",
        "content": "安娜的车是蓝色的 🚗 \u{0}tail", "summary": "car: blue",
        "fact": {"entity": "Anna's car", "attribute": "colour", "value": "blue"},
        "polarity": "excluded", "entities": ["Anna", "car"], "tags": ["a", "b b"],
        "attributes": {"n": 1, "deep": {"list": [1, 2.5, null, "x"]}},
        "merge_key": "profile.car.colour", "links": [{"to": cards[3].id, "kind": "related"}],
        "provenance": "confirmed",
        "sources": [{"session": "s-1", "role": "user", "speaker": "Anna", "occurred_at": "2023-11-01T00:00:00Z"}],
        "extractor": "rules-1", "occurred_at": "2023-11-01T00:00:00Z",
        "recorded_at": "2023-11-14T22:13:20Z", "updated_at": "2023-11-14T22:13:20Z",
        "mentions": [{"name": "安娜", "kind": "person"}],
        "access_count": 0, "mention_count": 1, "expires_at": "2043-11-09T22:13:20Z",
        "valid_from": "2023-01-01T00:00:00Z", "valid_to": "2033-01-01T00:00:00Z",
        "importance": 0.75, "confidence": 1.0, "pinned": true, "state": "active", "vector_version": 1,
        "reason": {"action": "linked"},
    });
    assert_eq!(serde_json::to_value(&car.card).unwrap(), expected);
    let first = &anna.history(&History { id: car.id }).unwrap().versions[0].card;
    assert_eq!(first.reason.actor.as_deref(), Some("importer"));
    assert_eq!(first.reason.why.as_deref(), Some("first import"));
    let states: Vec<State> = cards.iter().map(|card| card.state).collect();
    for state in [State::Active, State::Candidate, State::Superseded, State::Forgotten] {
        assert!(states.contains(&state), "{state}");
    }
    let forgotten = cards.iter().find(|card| card.state == State::Forgotten).unwrap();
    assert_eq!(forgotten.state_before, Some(State::Active));
    assert_eq!((forgotten.session.as_deref(), forgotten.turn), (Some("s-2"), Some(1)));
    assert!(anna.get(&Get { id: forgotten.id, ..Get::default() }).is_err());

    // It is still a store: it is searched, its look-ups hold, and it takes writes.
    store.clock().set(store.clock().now().plus(Duration::from_hours(40))).unwrap();
    let request = Recall { vector: Some(vec![0.25, -1.5, 3.0, 1e-3]), top: Some(1), ..Recall::default() };
    assert_eq!(anna.recall(request).unwrap().hits[0].card.id, car.id);
    let again = Remember {
        content: "anything".into(),
        idempotency_key: Some("request-1".into()),
        ..Remember::default()
    };
    assert_eq!(anna.remember(again).unwrap().id, car.id);
    let smoking = Remember { content: "Smoking is allowed here.".into(), ..Remember::default() };
    assert_eq!(anna.remember(smoking).unwrap().affected[1].change, "superseded");
    let include = vec![Include::Superseded];
    let known = List { known_at: Some(at("2023-11-14T22:13:20Z")), include, ..List::default() };
    assert_eq!(anna.list(&known).unwrap().cards.len(), 6);
    assert!(store.verify(|_| {}).unwrap().is_sound());
}

/// The same calls give the same store today as when the fixture was written.
#[test]
fn the_same_calls_give_the_same_records() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    fill(&store);
    let lines = std::fs::read_to_string(fixture("store-format-1.jsonl")).unwrap();
    let found = String::from_utf8(content(&store).unwrap()).unwrap();
    for (expected, found) in lines.lines().zip(found.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), lines.lines().count());
}
