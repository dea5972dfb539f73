//! A filter is refused with a place, or it is read back as it was and decides every card.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::card::Card;
use memcards::filter::Filter;
use std::sync::LazyLock;

static CARDS: LazyLock<Vec<Card>> = LazyLock::new(|| {
    let card = serde_json::json!({
        "id": "00000000000000000000000000000001", "version": 2, "track": "semantic",
        "category": "preference", "content": "Likes tea. 喜欢喝茶", "summary": "tea", "polarity": "affirmed",
        "tags": ["drinks", "a"], "entities": ["tea"], "attributes": {"a": {"b": [1, 2.5, null]}, "n": 1e300},
        "fact": {"entity": "me", "attribute": "drink", "value": "tea"}, "merge_key": "k",
        "links": [{"to": "00000000000000000000000000000002", "kind": "supersedes"}],
        "sources": [{"session": "s", "turn": 1, "role": "user"}, {"session": "t", "speaker": "Ann"}],
        "provenance": "stated", "occurred_at": "2024-05-01T02:00:00Z",
        "recorded_at": "2024-05-01T02:00:00Z", "updated_at": "2024-05-01T02:00:00Z",
        "access_count": 0, "mention_count": 1, "importance": 0.5, "confidence": 0.8,
        "pinned": false, "state": "active", "reason": {"action": "created"}
    });
    vec![serde_json::from_value(card).expect("a card")]
});

fuzz_target!(|text: &str| {
    let Ok(filter) = serde_json::from_str::<Filter>(text) else { return };
    assert!(!filter.is_empty());
    let again = Filter::parse(filter.as_json()).expect("what was read is read again");
    for card in CARDS.iter() {
        assert_eq!(filter.matches_card(card), again.matches_card(card));
        if let Ok(not) = Filter::not(filter.clone()) {
            assert_ne!(filter.matches_card(card), not.matches_card(card));
        }
    }
});
