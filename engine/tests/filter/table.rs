//! Every operator on every type of field, by hand.

use memcards::card::{Card, CardId, Track};
use memcards::filter::Filter;
use serde_json::{Value, json};

/// A card with every field.
fn full() -> Card {
    card(json!({
        "id": "000000000000000000000000000000aa", "version": 3, "track": "semantic", "category": "preference",
        "content": "Likes tea, not *coffee*.", "summary": "tea", "polarity": "affirmed",
        "fact": {"entity": "Ann", "attribute": "drink", "value": "tea"},
        "entities": ["Ann", "Bob"], "tags": ["x", "y*"], "merge_key": "preference.drink",
        "attributes": {
            "region": {"code": 2, "name": "north"}, "a.b": {"c": 1}, "n": null, "on": true, "ratio": 1.5,
            "big": 9007199254740993u64, "huge": u64::MAX, "list": ["p", 1, true, null, ["deep"]], "text": "Hello",
            "": {"": "blank"}
        },
        "links": [
            {"to": "00000000000000000000000000000001", "kind": "supersedes"},
            {"to": "00000000000000000000000000000002", "kind": "supersedes"},
            {"to": "00000000000000000000000000000003", "kind": "superseded_by"},
            {"to": "00000000000000000000000000000004", "kind": "superseded_by"},
            {"to": "00000000000000000000000000000005", "kind": "related"}
        ],
        "provenance": "stated",
        "sources": [
            {"session": "s1", "turn": 1, "role": "user", "speaker": "Ann"},
            {"session": "s2", "turn": 7, "role": "tool"},
            {}
        ],
        "extractor": "rules", "occurred_at": "2024-05-01T02:00:00Z", "recorded_at": "2024-05-02T02:00:00Z",
        "updated_at": "2024-05-03T02:00:00Z", "last_accessed_at": "2024-05-04T02:00:00Z", "reinforced_at": "2024-05-05T02:00:00Z", "access_count": 4,
        "mention_count": 2, "expires_at": "2025-01-01T00:00:00Z", "valid_from": "2024-01-01T00:00:00Z",
        "valid_to": "2024-12-01T00:00:00Z", "importance": 0.1, "confidence": 0.8, "pinned": true,
        "state": "active", "reason": {}
    }))
}

/// A card with what a card must have.
fn bare() -> Card {
    card(json!({
        "id": "000000000000000000000000000000bb", "version": 1, "track": "episodic", "category": "conversation",
        "content": "Hi.", "polarity": "excluded", "provenance": "inferred",
        "occurred_at": "2024-05-01T02:00:00Z", "recorded_at": "2024-05-01T02:00:00Z",
        "updated_at": "2024-05-01T02:00:00Z", "access_count": 0, "mention_count": 1, "importance": 0.0,
        "confidence": 0.5, "pinned": false, "state": "candidate", "reason": {}
    }))
}

fn card(json: Value) -> Card {
    serde_json::from_value(json).unwrap()
}

fn selects(card: &Card, field: &str, operator: &str, operand: &Value) -> bool {
    let json = json!({"field": field, operator: operand});
    Filter::parse(&json).unwrap_or_else(|error| panic!("{json}: {error}")).matches_card(card)
}

/// Field, its value or one of them, something below it, something above it.
fn ordered() -> Vec<(&'static str, Value, Value, Value)> {
    let mut rows = vec![
        (
            "id",
            json!("000000000000000000000000000000aa"),
            json!("000000000000000000000000000000a9"),
            json!("000000000000000000000000000000ab"),
        ),
        (
            "supersedes",
            json!("00000000000000000000000000000001"),
            json!("00000000000000000000000000000000"),
            json!("00000000000000000000000000000007"),
        ),
        (
            "superseded_by",
            json!("00000000000000000000000000000004"),
            json!("00000000000000000000000000000003"),
            json!("00000000000000000000000000000005"),
        ),
        ("version", json!(3), json!(2.5), json!(u64::MAX)),
        ("turn", json!(7), json!(0), json!(8)),
        ("access_count", json!(4.0), json!(-1), json!(4.5)),
        ("mention_count", json!(2), json!(i64::MIN), json!(1e300)),
        ("importance", json!(0.1), json!(0.09), json!(0.11)),
        ("confidence", json!(0.8), json!(0), json!(1)),
        ("category", json!("preference"), json!("Preference"), json!("preferencf")),
        ("content", json!("Likes tea, not *coffee*."), json!("*"), json!("M")),
        ("summary", json!("tea"), json!("te"), json!("tea\0")),
        ("merge_key", json!("preference.drink"), json!(""), json!("é")),
        ("extractor", json!("rules"), json!("ruleS"), json!("😀")),
        ("fact.entity", json!("Ann"), json!("A"), json!("a")),
        ("fact.attribute", json!("drink"), json!("Drink"), json!("drinks")),
        ("fact.value", json!("tea"), json!("Tea"), json!("te\u{301}")),
        ("entities", json!("Bob"), json!("A"), json!("C")),
        ("tags", json!("y*"), json!("w"), json!("z")),
        ("session", json!("s1"), json!("s0"), json!("s3")),
        ("speaker", json!("Ann"), json!("Am"), json!("Ao")),
        ("attributes.region.code", json!(2.0), json!(1), json!(3)),
        ("attributes.region.name", json!("north"), json!("North"), json!("northern")),
        ("attributes./a.b/c", json!(1), json!(0.5), json!(1.5)),
        ("attributes.ratio", json!(1.5), json!(1), json!(2)),
        (
            "attributes.big",
            json!(9007199254740993u64),
            json!(9007199254740992u64),
            json!(9007199254740994u64),
        ),
        ("attributes.huge", json!(u64::MAX), json!(u64::MAX - 1), json!(18446744073709551616.0)),
        ("attributes.text", json!("Hello"), json!("HELLO"), json!("hello")),
        ("attributes.//", json!("blank"), json!("b"), json!("c")),
    ];
    for (field, day) in [
        ("occurred_at", 1),
        ("recorded_at", 2),
        ("updated_at", 3),
        ("last_accessed_at", 4),
        ("reinforced_at", 5),
    ] {
        let at = |time: &str| json!(format!("2024-05-0{day}T{time}"));
        rows.push((field, at("10:00:00+08:00"), at("01:59:59.999999Z"), at("02:00:00.000001Z")));
    }
    for (field, same) in [
        ("expires_at", "2024-12-31T19:00:00-05:00"),
        ("valid_from", "2024-01-01T00:00:00.000+00:00"),
        ("valid_to", "2024-12-01T00:00:00Z"),
    ] {
        rows.push((field, json!(same), json!("0001-01-01T00:00:00Z"), json!("9999-01-01T00:00:00Z")));
    }
    rows
}

#[test]
fn comparisons_on_every_ordered_field() {
    let full = full();
    for (field, same, below, above) in ordered() {
        let is = |operator: &str, operand: &Value| selects(&full, field, operator, operand);
        for (operator, expected) in [
            ("eq", [false, true, false]),
            ("ne", [true, false, true]),
            ("gt", [true, true, false]),
            ("gte", [true, true, false]),
            ("lt", [false, true, true]),
            ("lte", [false, true, true]),
        ] {
            for (operand, expected) in [&below, &same, &above].into_iter().zip(expected) {
                // A list may hold other values that lie below or above its own value.
                let strict = matches!(operator, "lt" | "gt") && *operand == same;
                if !strict {
                    assert_eq!(is(operator, operand), expected, "{field} {operator} {operand}");
                }
            }
        }
        let list = ["entities", "session", "turn", "tags", "supersedes"].contains(&field);
        assert_eq!(is("lt", &same) || is("gt", &same), list, "{field}");
        assert!(is("in", &json!([above, same, below])), "{field}");
        assert!(!is("in", &json!([above, below])), "{field}");
        assert!(!is("nin", &json!([same])), "{field}");
        assert!(is("nin", &json!([below])), "{field}");
    }
}

#[test]
fn names_and_truth() {
    for (field, same, other) in [
        ("track", json!("semantic"), json!("entity")),
        ("polarity", json!("affirmed"), json!("excluded")),
        ("provenance", json!("stated"), json!("confirmed")),
        ("state", json!("active"), json!("forgotten")),
        ("role", json!("user"), json!("assistant")),
        ("role", json!("tool"), json!("system")),
        ("pinned", json!(true), json!(false)),
    ] {
        let is = |operator: &str, operand: &Value| selects(&full(), field, operator, operand);
        assert!(is("eq", &same) && !is("eq", &other), "{field}");
        assert!(!is("ne", &same) && is("ne", &other), "{field}");
        assert!(is("in", &json!([other, same])) && !is("in", &json!([other])), "{field}");
        assert!(!is("nin", &json!([other, same])) && is("nin", &json!([other])), "{field}");
    }
    assert!(selects(&full(), "role", "contains", &json!("tool")));
    assert!(!selects(&full(), "role", "contains", &json!("system")));
}

#[test]
fn contains() {
    for (field, operand, expected) in [
        ("content", json!("tea"), true),
        ("content", json!("*coffee*"), true),
        ("content", json!("*"), true),
        ("content", json!("t*a"), false),
        ("content", json!("TEA"), false),
        ("summary", json!("tea"), true),
        ("category", json!("refer"), true),
        ("merge_key", json!("."), true),
        ("extractor", json!("x"), false),
        ("fact.value", json!("ea"), true),
        ("entities", json!("Ann"), true),
        ("entities", json!("An"), false),
        ("tags", json!("y*"), true),
        ("tags", json!("*"), false),
        ("session", json!("s2"), true),
        ("turn", json!(7.0), true),
        ("turn", json!(2), false),
        ("speaker", json!("Ann"), true),
        ("supersedes", json!("00000000000000000000000000000002"), true),
        ("supersedes", json!("00000000000000000000000000000004"), false),
        ("attributes.text", json!("ell"), true),
        ("attributes.text", json!(1), false),
        ("attributes.list", json!("p"), true),
        ("attributes.list", json!("P"), false),
        ("attributes.list", json!("deep"), false),
        ("attributes.list", json!(1.0), true),
        ("attributes.list", json!(true), true),
        ("attributes.list", json!(false), false),
        ("attributes.list", Value::Null, true),
        ("attributes.ratio", json!("1"), false),
        ("attributes.region", json!("code"), false),
    ] {
        assert_eq!(selects(&full(), field, "contains", &operand), expected, "{field} {operand}");
    }
}

#[test]
fn missing_values() {
    let optional = [
        "summary",
        "entities",
        "tags",
        "merge_key",
        "session",
        "turn",
        "role",
        "speaker",
        "extractor",
        "last_accessed_at",
        "reinforced_at",
        "expires_at",
        "valid_from",
        "valid_to",
        "fact.entity",
        "fact.attribute",
        "fact.value",
        "supersedes",
        "superseded_by",
        "attributes.region",
        "attributes.region.code",
        "attributes./a.b/c",
    ];
    for field in
        Filter::field_names().chain(["attributes.region", "attributes.region.code", "attributes./a.b/c"])
    {
        let has = !optional.contains(&field);
        assert!(selects(&full(), field, "exists", &json!(true)), "{field}");
        assert!(!selects(&full(), field, "exists", &json!(false)), "{field}");
        assert_eq!(selects(&bare(), field, "exists", &json!(true)), has, "{field}");
        assert_eq!(selects(&bare(), field, "exists", &json!(false)), !has, "{field}");
    }
    for (field, same, below, above) in ordered().into_iter().filter(|row| optional.contains(&row.0)) {
        for operand in [&same, &below, &above] {
            for operator in ["eq", "lt", "lte", "gt", "gte"] {
                assert!(!selects(&bare(), field, operator, operand), "{field} {operator}");
            }
            assert!(!selects(&bare(), field, "in", &json!([operand])), "{field}");
            assert!(selects(&bare(), field, "ne", operand), "{field}");
            assert!(selects(&bare(), field, "nin", &json!([operand])), "{field}");
        }
    }
    assert!(!selects(&bare(), "summary", "contains", &json!("a")));
    assert!(!selects(&bare(), "tags", "contains", &json!("a")));
    assert!(!selects(&bare(), "attributes.list", "contains", &json!("a")));
}

#[test]
fn attributes_of_another_type_are_never_equal() {
    for (path, operand) in [
        ("region.code", json!("2")),
        ("text", json!(0)),
        ("on", json!("true")),
        ("on", json!(1)),
        ("n", json!(false)),
        ("n", json!("")),
        ("region", json!("{}")),
        ("list", json!("p")),
        ("none", Value::Null),
    ] {
        let field = format!("attributes.{path}");
        for operator in ["eq", "ne"] {
            assert_eq!(selects(&full(), &field, operator, &operand), operator == "ne", "{field} {operand}");
        }
        if operand.is_string() || operand.is_number() {
            for operator in ["lt", "lte", "gt", "gte"] {
                assert!(!selects(&full(), &field, operator, &operand), "{field} {operator} {operand}");
            }
        }
    }
    assert!(selects(&full(), "attributes.n", "eq", &Value::Null));
    assert!(selects(&full(), "attributes.n", "exists", &json!(true)));
    assert!(selects(&full(), "attributes.on", "eq", &json!(true)));
    assert!(selects(&full(), "attributes.on", "in", &json!(["true", 1, true])));
}

#[test]
fn hostile_strings_are_only_strings() {
    let texts = [
        "*",
        "%",
        "?",
        ".*",
        "'",
        "\"",
        "o'neil",
        "\\",
        "\\\"",
        "\0",
        "a\0b",
        "用户-1",
        "a:b",
        "#type:fact",
        "é",
        "e\u{301}",
        "😀",
        "👩\u{200d}👧",
        "\u{202e}rtl",
        "{\"field\":\"id\",\"exists\":true}",
        "' OR 1=1 --",
        "$eq",
        " ",
        "\n",
    ];
    for kept in texts {
        let mut card = bare();
        card.content = kept.into();
        card.tags = vec![kept.into()];
        card.attributes = [(kept.to_owned(), json!(kept))].into_iter().collect();
        let pointer = format!("attributes./{}", kept.replace('~', "~0").replace('/', "~1"));
        for sought in texts {
            let same = kept == sought;
            assert_eq!(selects(&card, "content", "eq", &json!(sought)), same, "{kept:?} {sought:?}");
            assert_eq!(selects(&card, "content", "contains", &json!(sought)), kept.contains(sought));
            assert_eq!(selects(&card, "tags", "contains", &json!(sought)), same);
            assert_eq!(selects(&card, "tags", "nin", &json!([sought])), !same);
            assert_eq!(selects(&card, &pointer, "eq", &json!(sought)), same);
        }
    }
}

#[test]
fn combinations_and_the_helpers_of_rust() {
    let yes = || Filter::eq("track", Track::Semantic).unwrap();
    let no = || Filter::eq("track", Track::Entity).unwrap();
    let is = |filter: memcards::Result<Filter>| filter.unwrap().matches_card(&full());
    assert!(is(Filter::and([yes(), yes()])) && !is(Filter::and([yes(), no()])));
    assert!(is(Filter::or([no(), yes()])) && !is(Filter::or([no(), no()])));
    assert!(is(Filter::not(no())) && !is(Filter::not(yes())));
    let id = CardId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa]);
    let at: memcards::Timestamp = "2024-05-01T02:00:00Z".parse().unwrap();
    for filter in [
        Filter::eq("id", id),
        Filter::ne("id", CardId::default()),
        Filter::lte("occurred_at", at),
        Filter::gte("occurred_at", at),
        Filter::lt("version", 4),
        Filter::gt("version", 2u64),
        Filter::eq("confidence", 0.8f32),
        Filter::one_of("track", [Track::Entity, Track::Semantic]),
        Filter::none_of("tags", ["z"]),
        Filter::contains("entities", "Ann"),
        Filter::exists("summary", true),
    ] {
        assert!(filter.unwrap().matches_card(&full()));
    }
    let text = Filter::not(Filter::or([yes(), Filter::exists("summary", true).unwrap()]).unwrap()).unwrap();
    assert!(text.needs_text() && !yes().needs_text());
}
