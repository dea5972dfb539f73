//! Kinds 13 and 14: names and texts of every kind come back byte for byte, or are refused.

use memcards::card::Fact;
use memcards::{Correct, List, Options, Recall, Remember, Store};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{Fixture, filter, get, question, say, text};

/// Texts that some parser, store or shell gives a meaning.
pub(crate) const HOSTILE: &[&str] = &[
    "550e8400-e29b-41d4-a716-446655440000",
    "用户-7",
    "x:y",
    "d'Artagnan",
    "🧑‍🚀🏳️‍🌈",
    "back\\slash",
    "\"quoted\" and 'single'",
    "*",
    "#kind:rule",
    "zero\u{200d}width\u{200b}joiner\u{feff}",
    "\u{202e}right to left\u{202c} שלום مرحبا",
    "caf\u{e9}",
    "cafe\u{301}",
    "{\"field\":\"id\",\"exists\":true}",
    "%00 %s {} ${HOME} $(id) `id`",
    "../../etc/passwd",
    "'; DROP TABLE cards;--",
    "<script>alert(1)</script>",
    "NULL",
    "\u{10ffff}\u{e000}",
    "ＦＵＬＬ　ｗｉｄｔｈ",
    " leading and trailing ",
    "한국어 이름",
    "@tenant",
];

/// Any text, mostly hostile.
fn any_text() -> impl Strategy<Value = String> {
    let pool = prop::sample::select(HOSTILE).prop_map(str::to_owned);
    prop_oneof![
        3 => pool.clone(),
        2 => any::<String>(),
        1 => (pool, any::<String>()).prop_map(|(a, b)| format!("{a}\0\r\n\t{b}")),
    ]
}

/// A name: as any text, within the rules for names.
fn any_name() -> impl Strategy<Value = String> {
    any_text().prop_map(|text| {
        let mut name: String = text.chars().filter(|c| !c.is_control()).take(50).collect();
        if name.trim().is_empty() {
            name.push('x');
        }
        name
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any_text(), inner, 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_request() -> impl Strategy<Value = Remember> {
    let texts = (any_text(), any_text(), any_text());
    let names = prop::collection::vec(any_name(), 8);
    let lists = (prop::collection::vec(any_name(), 0..4), prop::collection::vec(any_name(), 0..4));
    let attributes = prop::collection::btree_map(any_text(), any_json(), 0..3);
    (texts, names, lists, attributes).prop_map(|(texts, names, lists, attributes)| {
        let visible = |text: String| if text.trim().is_empty() { format!("{text}x") } else { text };
        let mut names = names.into_iter();
        let mut name = || names.next().unwrap();
        let category = name().chars().take(16).collect::<String>();
        Remember {
            content: visible(texts.0),
            summary: Some(texts.1),
            category: Some(if category.trim().is_empty() { "x".into() } else { category }),
            fact: Some(Fact { entity: name(), attribute: name(), value: visible(texts.2) }),
            entities: lists.0,
            tags: lists.1,
            attributes: attributes.into_iter().collect::<Map<_, _>>(),
            merge_key: Some(name()),
            session: Some(name()),
            turn: Some(3),
            speaker: Some(name()),
            extractor: Some(name()),
            idempotency_key: Some(name()),
            ..Remember::default()
        }
    })
}

fn check_against(request: &Remember, card: &memcards::CardView) -> Result<(), TestCaseError> {
    prop_assert_eq!(&card.content, &request.content);
    prop_assert_eq!(&card.summary, &request.summary);
    prop_assert_eq!(&card.category, request.category.as_ref().unwrap());
    prop_assert_eq!(&card.fact, &request.fact);
    prop_assert_eq!(&card.entities, &request.entities);
    prop_assert_eq!(&card.tags, &request.tags);
    prop_assert_eq!(&card.attributes, &request.attributes);
    prop_assert_eq!(&card.merge_key, &request.merge_key);
    prop_assert_eq!(&card.session, &request.session);
    prop_assert_eq!(&card.speaker, &request.speaker);
    prop_assert_eq!(&card.extractor, &request.extractor);
    Ok(())
}

#[test]
fn every_text_field_comes_back_byte_for_byte() {
    let fixture = Fixture::new();
    let config = ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() };
    let number = std::cell::Cell::new(0);
    let written = std::cell::RefCell::new(Vec::new());
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&(any_request(), any_name(), any_text()), |(request, name, query)| {
            number.set(number.get() + 1);
            let name = format!("{name}{}", number.get());
            let tenant = fixture.tenant(&name);
            prop_assert_eq!(tenant.name(), &name);
            let answer = tenant.remember(request.clone()).unwrap();
            check_against(&request, &get(&tenant, answer.id).unwrap())?;
            let by_session = filter(json!({"field": "session", "eq": request.session}));
            let page = tenant.list(&List { filter: Some(by_session.clone()), ..List::default() }).unwrap();
            prop_assert_eq!(page.cards.len(), 1);
            check_against(&request, &page.cards[0])?;
            // Whatever is asked, it is a question and nothing else.
            for words in [&query, &request.content, request.session.as_ref().unwrap()] {
                let hits = tenant.recall(question(words)).unwrap().hits;
                prop_assert!(hits.len() <= 1);
                let conditioned = Recall { filter: Some(by_session.clone()), ..question(words) };
                for hit in tenant.recall(conditioned).unwrap().hits {
                    check_against(&request, &hit.card)?;
                }
            }
            written.borrow_mut().push((name, answer.id, request));
            Ok(())
        })
        .unwrap();
    // And from the disk.
    let fixture = fixture.reopen();
    for (name, id, request) in written.into_inner() {
        check_against(&request, &get(&fixture.tenant(&name), id).unwrap()).unwrap();
    }
    assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
}

#[test]
fn names_that_differ_in_any_byte_are_different_tenants_sessions_and_entities() {
    let fixture = Fixture::new();
    for name in HOSTILE {
        let tenant = fixture.tenant(name);
        assert!(tenant.list(&List::default()).unwrap().cards.is_empty(), "{name:?} is another tenant's");
        tenant
            .remember(Remember { session: Some((*name).into()), ..text("The tide turns at noon") })
            .unwrap();
    }
    assert_eq!(fixture.store.tenants().unwrap().len(), HOSTILE.len());
    let tenant = fixture.tenant("all");
    for (number, name) in HOSTILE.iter().enumerate() {
        let content = format!("Note number {number} about the tide");
        let request = Remember {
            session: Some((*name).into()),
            entities: vec![(*name).into()],
            tags: vec![(*name).into()],
            ..text(&content)
        };
        tenant.remember(request).unwrap();
    }
    for (number, name) in HOSTILE.iter().enumerate() {
        let content = format!("Note number {number} about the tide");
        for field in ["session", "entities", "tags"] {
            let found = Recall {
                filter: Some(filter(json!({"field": field, "eq": name}))),
                top: Some(100),
                ..question("tide")
            };
            assert_eq!(
                crate::support::contents(&tenant.recall(found).unwrap()),
                [content.as_str()],
                "{field} {name:?}"
            );
        }
        let by_entity = Recall { entities: vec![(*name).into()], ..question("tide") };
        assert_eq!(tenant.recall(by_entity).unwrap().hits.len(), 1, "{name:?}");
    }
}

#[test]
fn names_that_cannot_be_are_refused_and_named() {
    let fixture = Fixture::new();
    for name in ["", " ", "\t", "a\0b", "a\nb", "\u{7f}", &"n".repeat(257), &"名".repeat(86)] {
        let error = fixture.store.tenant(name).err().unwrap();
        assert_eq!(error.field(), Some("tenant"), "{name:?}");
    }
    assert!(fixture.store.tenant(&"名".repeat(85)).is_ok(), "255 bytes");
    let tenant = fixture.tenant("t");
    type Change = fn(&mut Remember, String);
    let changes: [(&str, Change); 8] = [
        ("session", |request, text| request.session = Some(text)),
        ("speaker", |request, text| request.speaker = Some(text)),
        ("tags[0]", |request, text| request.tags = vec![text]),
        ("entities[0]", |request, text| request.entities = vec![text]),
        ("merge_key", |request, text| request.merge_key = Some(text)),
        ("idempotency_key", |request, text| request.idempotency_key = Some(text)),
        ("category", |request, text| request.category = Some(text)),
        ("actor", |request, text| request.actor = Some(text)),
    ];
    for bad in ["", "  ", "a\0", "line\nbreak", &"é".repeat(129)] {
        for (field, change) in changes {
            let mut request = text("The weather vane points north");
            change(&mut request, bad.to_owned());
            let error = tenant.remember(request).unwrap_err();
            assert_eq!(error.field(), Some(field), "{bad:?}: {error}");
        }
    }
    assert!(fixture.store.tenants().unwrap().is_empty(), "a refused request leaves nothing behind");
}

#[test]
fn content_is_whole_or_refused() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    for blank in ["", " ", "\n\r\t", "\u{3000}\u{a0}\u{2003}"] {
        let error = tenant.remember(text(blank)).unwrap_err();
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some("content")), "{blank:?}");
    }
    let limit = 64 << 10;
    for (unit, size) in [("界", 1 << 20), ("é", 1 << 20), ("a", 16 << 20), ("👩‍🔬", 16 << 20), ("a", limit + 1)]
    {
        let content = unit.repeat(size / unit.len() + 1);
        let error = tenant.remember(text(&content)).unwrap_err();
        assert_eq!((error.code(), error.field()), ("too_large", Some("content")));
        assert!(error.to_string().contains("65536"), "{error}");
        assert!(error.to_string().len() < 200, "the text itself is not repeated");
    }
    assert!(tenant.list(&List::default()).unwrap().cards.is_empty());
    // At the limit it is whole, to the last character.
    for unit in ["界 ", "é", "a b ", "👩‍🔬 "] {
        let mut content = unit.repeat(limit / unit.len());
        content.push_str(&"z".repeat(limit - content.len()));
        let id = say(&tenant, &content).id;
        assert_eq!(get(&tenant, id).unwrap().content, content);
    }
}

#[test]
fn a_raised_limit_takes_a_megabyte_whole() {
    let fixture = Fixture::with(|options| options.limits.content_bytes = 1 << 20);
    let tenant = fixture.tenant("t");
    let mut content = "潮汐表 tide table 🌊 ".repeat((1 << 20) / 31);
    content.push_str("quartzbeacon");
    let id = say(&tenant, &content).id;
    assert_eq!(get(&tenant, id).unwrap().content, content);
    assert_eq!(tenant.recall(question("quartzbeacon")).unwrap().hits[0].card.content.len(), content.len());
    drop(tenant);
    let fixture = fixture.reopen();
    assert_eq!(get(&fixture.tenant("t"), id).unwrap().content, content, "also under the lower limit");
}

#[test]
fn an_empty_store_answers_with_an_empty_list() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let vector = vec![1.0; 8];
    for request in [
        question("anything"),
        question("任何东西"),
        question(""),
        Recall { vector: Some(vector), ..Recall::default() },
        Recall { top: Some(1000), min_score: Some(0.0), explain: true, ..question("anything") },
    ] {
        assert!(tenant.recall(request).unwrap().hits.is_empty());
    }
    // The same once the tenant is there, and once its only card is gone.
    let id = say(&tenant, "A card for a moment").id;
    tenant.forget(crate::support::forget(id)).unwrap();
    assert!(tenant.recall(question("a card for a moment")).unwrap().hits.is_empty());
    assert!(!fixture.tenant("never seen").create().unwrap() || fixture.store.tenants().unwrap().len() == 2);
}

#[test]
fn a_correction_takes_hostile_text_as_well() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    for content in HOSTILE {
        let id = say(&tenant, &format!("Draft of {content:?}")).id;
        let corrected =
            tenant.correct(Correct { id, content: Some((*content).into()), ..Correct::default() }).unwrap();
        assert_eq!(get(&tenant, corrected.id).unwrap().content, *content);
        for blank in ["", " \n"] {
            let request = Correct { id: corrected.id, content: Some(blank.into()), ..Correct::default() };
            assert_eq!(tenant.correct(request).unwrap_err().field(), Some("content"));
        }
    }
}

#[test]
fn directories_with_hostile_names_hold_stores() {
    let parent = tempfile::tempdir().unwrap();
    for name in ["with space", "用户-7", "o'neil", "emoji 🦆", "-rf"] {
        let directory = parent.path().join(name);
        let store = Store::open(&directory, Options::default()).unwrap();
        say(&store.tenant("t").unwrap(), "Here as anywhere");
        drop(store);
        let store = Store::open(&directory, Options { create: false, ..Options::default() }).unwrap();
        assert_eq!(store.tenants().unwrap().len(), 1);
    }
}

#[test]
fn what_grows_by_telling_again_stays_within_its_limit() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("anna");
    let with = |key: &str| {
        let attributes = Map::from_iter([(key.to_owned(), Value::from("x".repeat(10_000)))]);
        tenant.remember(Remember { attributes, ..text("The kiln is ready.") }).unwrap()
    };
    let first = with("a");
    assert_eq!(with("b").id, first.id);
    let card = get(&tenant, first.id).unwrap();
    assert_eq!(card.attributes.keys().collect::<Vec<_>>(), ["b"], "the newest stay");
}

#[test]
fn what_could_not_be_read_again_is_refused() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("anna");
    let nested = |levels: usize| {
        let value = (1..levels).fold(Value::Null, |inner, _| json!([inner]));
        let attributes = Map::from_iter([("deep".to_owned(), value)]);
        tenant.remember(Remember { attributes, ..text("The kiln is ready.") })
    };
    let error = nested(65).unwrap_err().to_string();
    assert!(error.contains("attributes") && error.contains("64 levels"), "{error}");
    let id = nested(64).unwrap().id;
    assert_eq!(get(&tenant, id).unwrap().attributes.len(), 1);

    let links = vec![memcards::card::Link { to: id, kind: memcards::card::LinkKind::Related }; 65];
    let error = tenant.remember(Remember { links, ..text("The kiln is cold.") }).unwrap_err();
    assert_eq!((error.code(), error.field()), ("too_large", Some("links")));
}

#[test]
fn a_track_named_twice_is_searched_once() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("anna");
    say(&tenant, "The kiln is ready.");
    let tracks = vec![memcards::card::Track::Semantic; 3];
    let found = tenant.recall(Recall { tracks, ..question("kiln") }).unwrap();
    assert_eq!((found.hits.len(), found.searched.candidates), (1, 1));
}
