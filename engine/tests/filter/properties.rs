//! Properties over random filters, cards, texts and JSON.

use std::collections::BTreeMap;

use memcards::filter::Filter;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::naive;
use crate::random::Choices;

fn parse(json: &Value) -> Filter {
    Filter::parse(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn bytes(length: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..length)
}

/// Any JSON, made mostly of the words of the filter language.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        4 => prop::sample::select(vec![
            "field", "and", "or", "not", "eq", "ne", "lt", "gte", "in", "nin", "contains", "exists", "id", "tags",
            "pinned", "importance", "track", "occurred_at", "semantic", "2024-05-01T02:00:00Z", "attributes.a",
            "attributes./a~1b", "attributes.", "attributes./~", "00000000000000000000000000000001",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    scalar.prop_recursive(6, 64, 4, move |inner| {
        let condition = (word.clone(), word.clone(), inner.clone())
            .prop_map(|(field, operator, operand)| json!({"field": field, operator: operand}));
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let object = prop::collection::btree_map(word.clone(), inner, 0..3)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()));
        prop_oneof![condition, list, object]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_naive_evaluator(filter in bytes(120), card in bytes(200)) {
        let json = Choices(&filter).filter(4);
        let card = Choices(&card).card();
        let expected = naive::selects(&json, &serde_json::to_value(&card).unwrap());
        prop_assert_eq!(parse(&json).matches_card(&card), expected, "{}", json);
    }

    #[test]
    fn de_morgan(a in bytes(60), b in bytes(60), card in bytes(200)) {
        let card = Choices(&card).card();
        let (a, b) = (parse(&Choices(&a).filter(3)), parse(&Choices(&b).filter(3)));
        let not = |filter: &Filter| Filter::not(filter.clone()).unwrap();
        let both = Filter::and([a.clone(), b.clone()]).unwrap();
        let either = Filter::or([a.clone(), b.clone()]).unwrap();
        let neither = Filter::and([not(&a), not(&b)]).unwrap();
        let not_both = Filter::or([not(&a), not(&b)]).unwrap();
        prop_assert_eq!(not(&both).matches_card(&card), not_both.matches_card(&card));
        prop_assert_eq!(not(&either).matches_card(&card), neither.matches_card(&card));
        prop_assert_eq!(not(&not(&a)).matches_card(&card), a.matches_card(&card));
    }

    #[test]
    fn round_trips_as_json_and_as_text(filter in bytes(120)) {
        let json = Choices(&filter).filter(5);
        let filter: Filter = serde_json::from_value(json.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&filter).unwrap(), json);
        let again: Filter = serde_json::from_str(&serde_json::to_string(&filter).unwrap()).unwrap();
        prop_assert_eq!(again, filter);
    }

    #[test]
    fn any_json_is_a_filter_or_an_error_with_a_place(json in any_json(), card in bytes(200)) {
        match Filter::parse(&json) {
            Ok(filter) => {
                let card = Choices(&card).card();
                let expected = naive::selects(&json, &serde_json::to_value(&card).unwrap());
                prop_assert_eq!(filter.matches_card(&card), expected);
                prop_assert_eq!(filter.as_json(), &json);
                prop_assert!(!filter.is_empty());
            }
            Err(error) => prop_assert!(error.field().unwrap().starts_with("filter"), "{}", error),
        }
        let text = json.to_string();
        prop_assert_eq!(serde_json::from_str::<Filter>(&text).is_ok(), Filter::parse(&json).is_ok());
    }

    #[test]
    fn texts_are_compared_literally(kept in any::<String>(), sought in any::<String>()) {
        let mut card = Choices(&[]).card();
        card.category.clone_from(&kept);
        card.tags = vec![kept.clone()];
        card.attributes.insert("a".into(), kept.clone().into());
        for field in ["category", "tags", "attributes.a"] {
            prop_assert!(Filter::eq(field, &kept).unwrap().matches_card(&card));
            prop_assert_eq!(Filter::eq(field, &sought).unwrap().matches_card(&card), kept == sought);
            prop_assert_eq!(Filter::lt(field, &sought).unwrap().matches_card(&card), kept.chars().lt(sought.chars()));
            prop_assert_eq!(Filter::one_of(field, [&sought, &kept]).unwrap().matches_card(&card), true);
        }
        if !sought.is_empty() {
            let part = Filter::contains("category", &sought).unwrap();
            prop_assert_eq!(part.matches_card(&card), kept.contains(&sought));
            let element = Filter::contains("tags", &sought).unwrap();
            prop_assert_eq!(element.matches_card(&card), kept == sought);
        }
    }
}

/// The comparison above is worth little if a kind of condition were always false.
#[test]
fn random_filters_meet_random_cards_in_every_way() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        let mut out = [0; 240];
        out.fill_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        });
        out
    };
    let mut seen: BTreeMap<(String, String), [u32; 2]> = BTreeMap::new();
    for _ in 0..40_000 {
        let json = Choices(&draw()).filter(1);
        let card = Choices(&draw()).card();
        let answer = parse(&json).matches_card(&card);
        assert_eq!(answer, naive::selects(&json, &serde_json::to_value(&card).unwrap()), "{json}");
        let operator = json.as_object().unwrap().keys().find(|key| *key != "field").unwrap().clone();
        let field = json["field"].as_str().unwrap();
        let field = if field.starts_with("attributes.") { "attributes" } else { field }.to_owned();
        seen.entry((field, operator)).or_default()[usize::from(answer)] += 1;
    }
    for ((field, operator), [no, yes]) in &seen {
        // A field that every card has exists always.
        assert!(operator == "exists" || (*no > 0 && *yes > 0), "{field} {operator}: {no} false, {yes} true");
    }
    assert!(seen.len() > 250, "{}", seen.len());
}
