//! Every way to be refused: the place and what the message tells.

use memcards::filter::Filter;
use serde_json::{Value, json};

#[test]
fn each_error_names_its_place_and_what_is_allowed() {
    let names = Filter::field_names().collect::<Vec<_>>().join(", ");
    let operators = "eq, ne, lt, lte, gt, gte, in, nin, contains, exists";
    let rows: Vec<(Value, &str, &str)> = vec![
        // The form.
        (json!({}), "filter", "at least one condition"),
        (json!(null), "filter", "is null"),
        (json!([]), "filter", r#"{"and": [filters]}"#),
        (json!("category = 'x'"), "filter", "the string \"category = 'x'\""),
        (json!({"and": []}), "filter.and", "at least one filter"),
        (json!({"or": []}), "filter.or", "at least one filter"),
        (json!({"not": {}}), "filter.not", "is empty"),
        (json!({"not": []}), "filter.not", "is a list"),
        (json!({"and": {}}), "filter.and", "a list of filters"),
        (json!({"or": [{"field": "id", "exists": true}, 7]}), "filter.or[1]", "the number 7"),
        (json!({"and": [{"field": "id", "exists": true}], "or": []}), "filter.or", "beside \"and\""),
        (json!({"not": {"field": "id", "exists": true}, "field": "id"}), "filter.field", "beside \"not\""),
        // Fields.
        (json!({"eq": 1}), "filter", "names no field"),
        (json!({"field": "colour", "eq": 1}), "filter.field", &names),
        (json!({"field": "Category", "eq": "x"}), "filter.field", "is not a field"),
        (json!({"field": "attributes", "exists": true}), "filter.field", "attributes.<path>"),
        (json!({"field": "attributes.", "exists": true}), "filter.field", "empty key"),
        (json!({"field": "attributes.a..b", "exists": true}), "filter.field", "JSON pointer"),
        (json!({"field": "attributes./a~b", "exists": true}), "filter.field", "~1"),
        (json!({"field": ["id"], "exists": true}), "filter.field", "the name of a field"),
        (json!({"and": [{"not": {"field": "x", "eq": 1}}]}), "filter.and[0].not.field", "is not a field"),
        // Operators.
        (json!({"field": "category"}), "filter", operators),
        (json!({"field": "pinned"}), "filter", "eq, ne, in, nin, exists"),
        (json!({"field": "category", "equals": "x"}), "filter.equals", operators),
        (json!({"field": "category", "$eq": "x"}), "filter", "\"$eq\" is not an operator"),
        (json!({"field": "category", "eq": "x", "extra": 1}), "filter.extra", "is not an operator"),
        (json!({"field": "category", "eq": "x", "ne": "y"}), "filter.ne", "combine \"eq\" and \"ne\""),
        (json!({"field": "track", "lt": "semantic"}), "filter.lt", "eq, ne, in, nin, exists"),
        (json!({"field": "pinned", "gt": false}), "filter.gt", "cannot be used"),
        (json!({"field": "track", "contains": "semantic"}), "filter.contains", "cannot be used"),
        (json!({"field": "version", "contains": 1}), "filter.contains", "cannot be used"),
        (json!({"field": "occurred_at", "contains": "2024"}), "filter.contains", "lt, lte"),
        (json!({"field": "id", "contains": "00"}), "filter.contains", "cannot be used"),
        // Operands.
        (json!({"field": "category", "eq": 1}), "filter.eq", "it takes a string"),
        (json!({"field": "category", "eq": null}), "filter.eq", "use \"exists\""),
        (json!({"field": "category", "eq": ["x"]}), "filter.eq", "use \"in\" or \"nin\""),
        (json!({"field": "category", "contains": ""}), "filter.contains", "at least one character"),
        (json!({"field": "tags", "contains": 1}), "filter.contains", "it takes a string"),
        (json!({"field": "track", "eq": "Semantic"}), "filter.eq", "episodic, semantic, entity, procedural"),
        (json!({"field": "polarity", "ne": "no"}), "filter.ne", "affirmed, excluded"),
        (json!({"field": "provenance", "eq": "*"}), "filter.eq", "confirmed, stated, inferred, overturned"),
        (json!({"field": "role", "contains": "bot"}), "filter.contains", "user, assistant, system, tool"),
        (json!({"field": "state", "in": ["active", "dead"]}), "filter.in[1]", "candidate, active"),
        (json!({"field": "version", "eq": "1"}), "filter.eq", "it takes a number"),
        (json!({"field": "importance", "gt": true}), "filter.gt", "it takes a number"),
        (json!({"field": "pinned", "eq": 1}), "filter.eq", "true or false"),
        (json!({"field": "occurred_at", "gte": "2024-05-01T00:00:00"}), "filter.gte", "RFC 3339"),
        (json!({"field": "occurred_at", "gte": 1714521600}), "filter.gte", "with an offset"),
        (json!({"field": "id", "eq": "1"}), "filter.eq", "32 lower-case hexadecimal digits"),
        (json!({"field": "supersedes", "contains": "x"}), "filter.contains", "card id"),
        (json!({"field": "attributes.a", "eq": {}}), "filter.eq", "true, false or null"),
        (json!({"field": "attributes.a", "lt": true}), "filter.lt", "a string or a number"),
        (json!({"field": "attributes.a", "gte": null}), "filter.gte", "a string or a number"),
        (json!({"field": "attributes.a", "contains": []}), "filter.contains", "is a list"),
        (json!({"field": "tags", "in": "x"}), "filter.in", "a list of values, each a string"),
        (json!({"field": "tags", "in": []}), "filter.in", "at least one value"),
        (json!({"field": "tags", "nin": []}), "filter.nin", "at least one value"),
        (json!({"field": "tags", "nin": ["x", 2]}), "filter.nin[1]", "it takes a string"),
        (json!({"field": "tags", "in": [["x"]]}), "filter.in[0]", "is a list"),
        (json!({"field": "tags", "exists": 1}), "filter.exists", "true or false"),
        (
            json!({"and": [{"field": "id", "exists": true}, {"field": "valid_to", "gte": "now"}]}),
            "filter.and[1].gte",
            "2024-05-01T09:30:00+08:00",
        ),
    ];
    for (json, place, part) in rows {
        let error = Filter::parse(&json).expect_err(&json.to_string());
        assert_eq!(error.code(), "invalid_argument", "{json}");
        assert_eq!(error.field(), Some(place), "{json}: {error}");
        assert!(error.to_string().contains(part), "{json}: {error}");
        let again = serde_json::from_value::<Filter>(json).unwrap_err();
        assert_eq!(again.to_string(), error.to_string());
    }
}

fn condition() -> Value {
    json!({"field": "pinned", "eq": true})
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(
        condition(),
        |inner, level| if level % 2 == 0 { json!({"not": inner}) } else { json!({"or": [inner]}) },
    )
}

#[test]
fn limits() {
    let text = |bytes: usize| "x".repeat(bytes);
    let tags = |items: usize| json!({"field": "tags", "in": vec!["x"; items]});
    let many = |nodes: usize| json!({"and": vec![condition(); nodes - 1]});
    let path = |bytes: usize| json!({"field": format!("attributes.{}", text(bytes - 11)), "exists": true});
    for (allowed, refused, place, figures) in [
        (nested(32), nested(33), None, "33 levels, the limit is 32"),
        (many(1_000), many(1_001), Some("filter"), "1001 conditions and combinations, the limit is 1000"),
        (tags(1_000), tags(1_001), Some("filter.in"), "1001 items, the limit is 1000"),
        (path(4_096), path(4_097), Some("filter.field"), "4097 bytes, the limit is 4096"),
        (
            json!({"field": "content", "eq": text(4_096)}),
            json!({"field": "content", "eq": text(4_097)}),
            Some("filter.eq"),
            "4097 bytes",
        ),
        (
            json!({"field": "tags", "nin": ["a", text(4_096)]}),
            json!({"field": "tags", "nin": ["a", text(4_097)]}),
            Some("filter.nin[1]"),
            "4097 bytes",
        ),
    ] {
        Filter::parse(&allowed).unwrap();
        serde_json::from_str::<Filter>(&allowed.to_string()).unwrap();
        let error = Filter::parse(&refused).unwrap_err();
        assert_eq!(error.code(), "too_large");
        assert!(error.to_string().contains(figures), "{error}");
        assert!(place.is_none() || error.field() == place, "{error}");
        assert!(
            serde_json::from_str::<Filter>(&refused.to_string()).unwrap_err().to_string().contains(figures)
        );
    }
    let deepest = Filter::parse(&nested(32)).unwrap();
    assert_eq!(Filter::not(deepest).unwrap_err().code(), "too_large");
    assert!(Filter::and([]).is_err() && Filter::one_of("tags", [""; 0]).is_err());
}

#[test]
fn nesting_beyond_measure_is_an_error() {
    let deep = |levels: usize| format!("{}1{}", r#"{"not":"#.repeat(levels), "}".repeat(levels));
    for levels in [33, 60, 90, 100_000] {
        assert!(serde_json::from_str::<Filter>(&deep(levels)).is_err());
    }
    let error = serde_json::from_str::<Filter>(&deep(100)).unwrap_err();
    assert!(error.to_string().contains("limit is 32 levels"), "{error}");
}

#[test]
fn a_key_given_twice_is_an_error() {
    for text in [
        r#"{"field": "tags", "field": "id", "exists": true}"#,
        r#"{"field": "tags", "eq": "x", "eq": "y"}"#,
        r#"{"not": {"field": "tags", "eq": "x", "\u0065q": "x"}}"#,
        r#"{"and": [{"field": "id", "exists": true}], "and": [{"field": "id", "exists": true}]}"#,
    ] {
        let error = serde_json::from_str::<Filter>(text).unwrap_err();
        assert!(error.to_string().contains("is given twice"), "{text}: {error}");
    }
}

#[test]
fn what_was_sent_is_escaped_and_cut_in_messages() {
    let hostile = format!("\u{1b}[31m\n{}", "é".repeat(3_000));
    for json in [
        json!({"field": hostile, "eq": 1}),
        json!({"field": "category", hostile.as_str(): 1}),
        json!({"field": "track", "eq": hostile}),
        json!({hostile.as_str(): 1}),
        json!({"not": condition(), hostile.as_str(): 1}),
    ] {
        let message = Filter::parse(&json).unwrap_err().to_string();
        assert!(message.len() < 1_200 && !message.chars().any(char::is_control), "{message}");
    }
}
