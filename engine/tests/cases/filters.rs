//! Kind 17: a filter selects what it says, on every read, and as many as are asked for.

use std::collections::BTreeSet;

use memcards::card::CardId;
use memcards::filter::Filter;
use memcards::{Count, Forget, List, Recall, Remember, Tenant};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::naive;
use crate::random::Choices;
use crate::support::{EVERYTHING, Fixture, question};

/// A store with random cards; some replace each other, some are forgotten.
fn filled() -> Fixture {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut ids = Vec::new();
    for number in 0..160 {
        let mut bytes = [0; 240];
        bytes.fill_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        });
        let card = Choices(&bytes).card();
        let source = card.source().cloned().unwrap_or_default();
        let clean = |text: String| if text.contains('\0') { "nul".to_owned() } else { text };
        let request = Remember {
            content: format!("{} tea {number}", card.content),
            track: Some(card.track),
            category: Some(clean(card.category)),
            summary: card.summary,
            fact: card.fact.map(|mut fact| {
                fact.entity = clean(fact.entity);
                fact.attribute = clean(fact.attribute);
                fact
            }),
            polarity: Some(card.polarity),
            entities: card.entities.into_iter().map(clean).collect(),
            tags: card.tags.into_iter().map(clean).collect(),
            attributes: card.attributes,
            occurred_at: Some(card.occurred_at),
            valid_from: card.valid_from,
            valid_to: card.valid_to.filter(|end| card.valid_from.is_none_or(|start| start < *end)),
            importance: Some(card.importance),
            confidence: Some(card.confidence),
            provenance: Some(card.provenance),
            merge_key: card.merge_key.map(clean).filter(|_| number % 4 == 0),
            turn: source.turn.filter(|_| source.session.is_some()),
            session: source.session.map(clean),
            role: source.role,
            speaker: source.speaker.map(clean),
            extractor: card.extractor.map(clean),
            pinned: card.pinned,
            ..Remember::default()
        };
        ids.push(tenant.remember(request).unwrap().id);
        fixture.pass("1m");
    }
    let tenth: Vec<CardId> = ids.iter().copied().step_by(10).collect();
    tenant.forget(Forget { ids: tenth, ..Forget::default() }).unwrap();
    fixture
}

/// The cards among `cards` that the filter selects, by the plain evaluator.
fn brute(cards: &[(CardId, Value)], json: &Value) -> BTreeSet<CardId> {
    cards.iter().filter(|(_, card)| naive::selects(json, card)).map(|(id, _)| *id).collect()
}

fn cards(tenant: &Tenant, list: List) -> Vec<(CardId, Value)> {
    let page = tenant.list(&List { limit: Some(1000), ..list }).unwrap();
    page.cards.iter().map(|view| (view.id, serde_json::to_value(&view.card).unwrap())).collect()
}

#[test]
fn every_read_agrees_with_brute_force_and_gives_as_many_as_there_are() {
    let fixture = filled();
    check(&fixture);
    // The same from the indexes as they are rebuilt.
    check(&fixture.reopen());

    fn check(fixture: &Fixture) {
        let tenant = fixture.tenant("t");
        let every = cards(&tenant, List { include: EVERYTHING.into(), ..List::default() });
        let active = cards(&tenant, List::default());
        assert!(every.len() > active.len() && active.len() > 40, "{} {}", every.len(), active.len());
        let config = ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() };
        let bytes = prop::collection::vec(any::<u8>(), 0..80);
        let mut runner = proptest::test_runner::TestRunner::new(config);
        runner
            .run(&(bytes, 1..200_usize, any::<bool>()), |(bytes, top, all)| {
                let json = Choices(&bytes).filter(3);
                let filter = Some(Filter::parse(&json).unwrap());
                let (pool, include) = if all { (&every, EVERYTHING.to_vec()) } else { (&active, vec![]) };
                let expected = brute(pool, &json);
                let list = List { filter: filter.clone(), include: include.clone(), ..List::default() };
                let listed: BTreeSet<CardId> = cards(&tenant, list).into_iter().map(|(id, _)| id).collect();
                prop_assert_eq!(&listed, &expected, "list {}", json);
                let count = Count { filter: filter.clone(), include: include.clone(), ..Count::default() };
                prop_assert_eq!(tenant.count(&count).unwrap(), expected.len() as u64);
                let recall = Recall { filter: filter.clone(), include, top: Some(top), ..question("tea ab") };
                let hits = tenant.recall(recall).unwrap().hits;
                let found: BTreeSet<CardId> = hits.iter().map(|hit| hit.card.id).collect();
                prop_assert_eq!(found.len(), hits.len(), "a card twice");
                prop_assert_eq!(hits.len(), top.min(expected.len()), "recall {}", json);
                prop_assert!(found.is_subset(&expected), "recall {}", json);
                if !all {
                    let dry = Forget { filter, dry_run: true, ..Forget::default() };
                    let plan = tenant.forget(dry).unwrap();
                    let touched: BTreeSet<CardId> =
                        plan.forgotten.iter().chain(&plan.detached).copied().collect();
                    let pinned = plan.skipped.iter().filter(|skipped| skipped.why == "pinned").map(|s| s.id);
                    let planned: BTreeSet<CardId> = touched.iter().copied().chain(pinned).collect();
                    prop_assert!(planned.is_superset(&expected), "forget {}", json);
                }
                Ok(())
            })
            .unwrap();
    }
}

#[test]
fn pages_join_to_the_whole_in_every_order() {
    let fixture = filled();
    let tenant = fixture.tenant("t");
    for order in [
        "-recorded_at",
        "recorded_at",
        "-occurred_at",
        "occurred_at",
        "-updated_at",
        "-importance",
        "-confidence",
    ] {
        let order: memcards::Order = serde_json::from_value(json!(order)).unwrap();
        let whole: Vec<CardId> =
            cards(&tenant, List { order, ..List::default() }).into_iter().map(|(id, _)| id).collect();
        let (mut joined, mut cursor) = (Vec::new(), None);
        loop {
            let page = tenant.list(&List { order, limit: Some(7), cursor, ..List::default() }).unwrap();
            joined.extend(page.cards.iter().map(|card| card.id));
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(joined, whole, "{order:?}");
    }
}

#[test]
fn unknown_fields_and_operators_are_errors() {
    for json in [
        json!({"field": "colour", "eq": "red"}),
        json!({"field": "tags", "equals": "x"}),
        json!({"field": "tags", "like": "x%"}),
        json!({"field": "tags", "regex": ".*"}),
        json!({"field": "tenant", "eq": "other"}),
        json!({"field": "tags"}),
        json!({"field": "tags", "eq": "x", "ne": "y"}),
        json!({"xor": [{"field": "tags", "eq": "x"}]}),
        json!({"field": "importance", "gt": "high"}),
        json!({"field": "attributes", "eq": 1}),
        json!([{"field": "tags", "eq": "x"}]),
        json!({"not": [{"field": "tags", "eq": "x"}]}),
    ] {
        let error = Filter::parse(&json).unwrap_err();
        assert_eq!(error.code(), "invalid_argument", "{json}");
        assert!(error.field().unwrap().starts_with("filter"), "{json}: {error}");
        assert!(serde_json::from_value::<Recall>(json!({"query": "x", "filter": json})).is_err());
    }
    assert!(serde_json::from_value::<Recall>(json!({"query": "x", "filters": {}})).is_err(), "unknown field");
}
