//! Kinds 18 and 19: what is expired is gone at once, and an instant is one everywhere.

use std::sync::Arc;

use memcards::card::{Fact, State, category};
use memcards::{
    Clock, Correct, Count, Entity, Get, History, Include, List, ManualClock, Options, Recall, Remember,
    Store, Tenant, Timestamp, Walk,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{
    EVERYTHING, Fixture, ask, contents, duration, filter, get, question, said_in, say, start, text, time,
};

/// The only card of a tenant on whose reads an expiry is tried: a relation, which is on more
/// read paths than other cards.
fn standing(ttl: &str) -> Remember {
    let fact = Fact { entity: "umbrella stand".into(), attribute: "is by".into(), value: "the door".into() };
    Remember {
        fact: Some(fact),
        category: Some(category::RELATION.into()),
        ..expiring("The umbrella stand is by the door", ttl)
    }
}

fn expiring(content: &str, ttl: &str) -> Remember {
    Remember { ttl: Some(duration(ttl)), ..text(content) }
}

/// How many reads still show anything of the tenant's only card.
pub(crate) fn reads_that_show(tenant: &Tenant, id: memcards::card::CardId) -> usize {
    let everything = || EVERYTHING.to_vec();
    let walk = |known_at| {
        let start = "Umbrella stand".into();
        tenant.walk(&Walk { start, known_at, ..Walk::default() }).is_ok_and(|walked| !walked.paths.is_empty())
    };
    let any = filter(json!({"field": "content", "exists": true}));
    let on_tags = filter(json!({"field": "tags", "exists": false}));
    // A correction that changes nothing is refused.
    let importance = Some(get(tenant, id).map_or(0.9, |card| (card.importance + 0.25).fract()));
    [
        !ask(tenant, "umbrella stand").is_empty(),
        !tenant.recall(Recall { include: everything(), ..question("umbrella") }).unwrap().hits.is_empty(),
        !tenant.recall(Recall { filter: Some(any.clone()), ..question("umbrella") }).unwrap().hits.is_empty(),
        !tenant.recall(Recall { filter: Some(on_tags), ..question("umbrella") }).unwrap().hits.is_empty(),
        !tenant.recall(Recall { min_score: Some(0.0), ..question("anything else") }).unwrap().hits.is_empty(),
        get(tenant, id).is_ok(),
        tenant.get(&Get { id, include: everything(), ..Get::default() }).is_ok(),
        !tenant.list(&List::default()).unwrap().cards.is_empty(),
        !tenant.list(&List { include: everything(), ..List::default() }).unwrap().cards.is_empty(),
        tenant.count(&Count { include: everything(), filter: Some(any), ..Count::default() }).unwrap() > 0,
        tenant.history(&History { id }).is_ok(),
        tenant.entity(&Entity { name: "the door".into(), ..Entity::default() }).is_ok(),
        walk(None),
        walk(Some(tenant.store().clock().now())),
        tenant.correct(Correct { id, importance, ..Correct::default() }).is_ok(),
    ]
    .into_iter()
    .filter(|shows| *shows)
    .count()
}

#[test]
fn a_card_is_gone_on_every_read_the_instant_it_expires() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = tenant.remember(standing("7d")).unwrap().id;
    let end = start().plus(duration("7d"));
    fixture.clock.set(Timestamp::from_micros(end.as_micros() - 1)).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 15, "a microsecond before");
    fixture.clock.set(end).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 0, "at that instant");
    drop(tenant);
    let fixture = fixture.reopen();
    assert_eq!(reads_that_show(&fixture.tenant("t"), id), 0, "from the disk");
    // What was seen then can still be asked for.
    let then = Some(start());
    let tenant = fixture.tenant("t");
    assert_eq!(tenant.get(&Get { id, known_at: then, ..Get::default() }).unwrap().id, id);
    let request = Recall { known_at: then, ..question("umbrella") };
    assert_eq!(tenant.recall(request).unwrap().hits.len(), 1);
    let at_end = Recall { as_of: Some(end), ..question("umbrella") };
    assert!(tenant.recall(at_end).unwrap().hits.is_empty());
}

#[test]
fn a_thousand_expired_cards_take_no_place() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let stale = (0..1000).map(|n| expiring(&format!("The parcel for door {n} waits at the porter's"), "1h"));
    tenant.remember_all(stale.collect()).unwrap();
    let live: Vec<String> =
        (1..=5).map(|n| format!("A parcel for flat {n} waits, says the porter")).collect();
    for words in &live {
        say(&tenant, words);
    }
    fixture.pass("1h");
    for query in ["parcel for door 500 at the porter's", "where is the parcel?"] {
        let mut hits = ask(&tenant, query);
        hits.sort();
        assert_eq!(hits, live, "{query}");
    }
    assert_eq!(tenant.count(&Count::default()).unwrap(), 5);
    assert_eq!(tenant.statistics().unwrap().states["expired"], 1000);
}

#[test]
fn an_expired_statement_is_no_longer_repeated_or_contradicted() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let first = tenant.remember(expiring("The bridge is open", "1h")).unwrap();
    fixture.pass("1h");
    let second = say(&tenant, "The bridge is open");
    assert_ne!(first.id, second.id);
    assert_eq!(get(&tenant, second.id).unwrap().mention_count, 1);
    assert!(get(&tenant, second.id).unwrap().links.is_empty());
}

#[test]
fn of_two_expiries_of_one_statement_the_longer_holds() {
    for (first, second, lives) in [
        (Some("1h"), None, None),
        (None, Some("1h"), None),
        (Some("1h"), Some("5h"), Some("5h")),
        (Some("5h"), Some("1h"), Some("5h")),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let tell = |ttl: Option<&str>| {
            let ttl = ttl.map(duration);
            tenant.remember(Remember { ttl, ..text("The side door is unlocked") }).unwrap().id
        };
        assert_eq!(tell(first), tell(second));
        let expected = lives.map(|length| start().plus(duration(length)));
        let page = tenant.list(&List::default()).unwrap();
        assert_eq!(page.cards[0].expires_at, expected, "{first:?} then {second:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn at_any_instant_exactly_the_unexpired_cards_are_there(
        ends in prop::collection::vec(prop::option::of(1..100_i64), 1..20),
        instants in prop::collection::vec(0..110_i64, 1..8),
    ) {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let at = |minutes: i64| start().plus(memcards::Duration::from_micros(minutes * 60_000_000));
        let requests = ends.iter().enumerate().map(|(number, end)| Remember {
            expires_at: end.map(at),
            ..text(&format!("Lantern {number} is lit"))
        });
        tenant.remember_all(requests.collect()).unwrap();
        for instant in instants {
            fixture.clock.set(at(instant)).unwrap();
            let mut expected: Vec<String> = ends
                .iter()
                .enumerate()
                .filter(|(_, end)| end.is_none_or(|end| end > instant))
                .map(|(number, _)| format!("Lantern {number} is lit"))
                .collect();
            expected.sort();
            prop_assert_eq!(crate::support::active(&tenant), expected.clone());
            let request = Recall { top: Some(100), min_score: Some(0.0), ..question("lantern lit") };
            let mut found = contents(&tenant.recall(request).unwrap());
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn an_instant_is_the_same_however_it_is_written() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let spellings = [
        "2025-02-11T02:00:00Z",
        "2025-02-10T18:00:00-08:00",
        "2025-02-11T10:00:00+08:00",
        "2025-02-11T07:30:00+05:30",
    ];
    for (number, spelling) in spellings.iter().enumerate() {
        let request: Remember = serde_json::from_value(
            json!({"content": format!("Reading {number} of the gauge"), "occurred_at": spelling}),
        )
        .unwrap();
        tenant.remember(request).unwrap();
    }
    for spelling in spellings {
        for operator in ["eq", "lte", "gte"] {
            let same = filter(json!({"field": "occurred_at", operator: spelling}));
            assert_eq!(tenant.count(&Count { filter: Some(same), ..Count::default() }).unwrap(), 4);
        }
        let since = Recall { since: Some(time(spelling)), ..question("gauge") };
        assert_eq!(tenant.recall(since).unwrap().hits.len(), 4);
        let until = Recall { until: Some(time(spelling)), ..question("gauge") };
        assert!(tenant.recall(until).unwrap().hits.is_empty());
    }
    let page = tenant.list(&List::default()).unwrap();
    assert!(page.cards.iter().all(|card| card.occurred_at == time(spellings[0])));
    for bad in ["2025-02-11T02:00:00", "2025-02-11", "yesterday", "1739239200"] {
        let request = serde_json::from_value::<Remember>(json!({"content": "x", "occurred_at": bad}));
        assert!(request.is_err(), "{bad} names no instant");
    }
}

#[test]
fn what_was_true_and_what_was_known_are_two_questions() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = say(&tenant, "Ilse works at the mill").id;
    fixture.pass("10d");
    let learnt = fixture.clock_now();
    let corrected = tenant
        .correct(Correct {
            id,
            content: Some("Ilse works at the library".into()),
            occurred_at: Some(start().plus(duration("5d"))),
            ..Correct::default()
        })
        .unwrap();
    let at = |days: &str| Some(start().plus(duration(days)));
    let read = |as_of, known_at| {
        let recalled = contents(
            &tenant.recall(Recall { as_of, known_at, ..question("where does Ilse work?") }).unwrap(),
        );
        let listed = tenant.list(&List { as_of, known_at, ..List::default() }).unwrap();
        let listed: Vec<String> = listed.cards.iter().map(|card| card.content.clone()).collect();
        assert_eq!(recalled, listed, "{as_of:?} {known_at:?}");
        assert_eq!(
            tenant.count(&Count { as_of, known_at, ..Count::default() }).unwrap(),
            listed.len() as u64
        );
        listed
    };
    let (mill, library) = (["Ilse works at the mill"], ["Ilse works at the library"]);
    assert_eq!(read(None, None), library);
    assert_eq!(read(at("1d"), None), mill, "true on day 1");
    assert_eq!(read(at("6d"), None), library, "true on day 6, as is known today");
    assert_eq!(read(None, at("6d")), mill, "believed on day 6");
    assert_eq!(read(at("6d"), at("6d")), mill, "true on day 6, as was known on day 6");
    assert_eq!(read(None, Some(learnt)), library);
    assert_eq!(read(at("0s"), None), mill);
    let nothing: [&str; 0] = [];
    assert_eq!(read(Some(time("2025-03-10T08:59:59Z")), None), nothing, "before it began");
    assert_eq!(read(None, Some(time("2025-03-10T08:59:59Z"))), nothing, "before it was told");
    let then = tenant.get(&Get { id, known_at: at("6d"), ..Get::default() }).unwrap();
    assert_eq!((then.state, then.version), (State::Active, 1));
    assert_eq!(get(&tenant, id).unwrap().superseded_by, Some(corrected.id));
    let missing = tenant.get(&Get { id: corrected.id, known_at: at("6d"), ..Get::default() });
    assert_eq!(missing.unwrap_err().code(), "not_found");
}

#[test]
fn what_was_overturned_at_once_was_never_true() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    // The clock stands still.
    say(&tenant, "The sauna is enabled");
    say(&tenant, "The sauna is disabled");
    let read = |as_of| {
        let recalled = contents(&tenant.recall(Recall { as_of, ..question("sauna") }).unwrap());
        let listed = tenant.list(&List { as_of, ..List::default() }).unwrap();
        assert_eq!(recalled, listed.cards.iter().map(|card| card.content.clone()).collect::<Vec<_>>());
        recalled
    };
    assert_eq!(read(Some(fixture.clock_now())), ["The sauna is disabled"]);
    // What is told of an earlier time was true until then, and does not hold today.
    let occurred_at = Some(time("2024-01-01T00:00:00Z"));
    tenant.remember(Remember { occurred_at, ..text("The sauna is enabled") }).unwrap();
    assert_eq!(read(None), ["The sauna is disabled"]);
    assert_eq!(read(Some(time("2024-06-01T00:00:00Z"))), ["The sauna is enabled"]);
}

#[test]
fn a_state_of_today_does_not_show_in_the_past() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = tenant.remember(said_in("s", "The attic is dry")).unwrap().id;
    fixture.pass("1d");
    tenant.forget(crate::support::forget(id)).unwrap();
    fixture.pass("1d");
    let known_at = Some(start().plus(duration("1h")));
    let before = Recall { known_at, ..question("attic") };
    assert_eq!(contents(&tenant.recall(before).unwrap()), ["The attic is dry"], "as it was known then");
    let included = Recall { include: vec![Include::Forgotten], ..question("attic") };
    assert_eq!(tenant.recall(included).unwrap().hits.len(), 1);
    assert!(ask(&tenant, "attic").is_empty());
}

#[test]
fn a_store_read_from_another_zone_or_by_a_clock_set_back_is_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let open = |now: &str| {
        let clock = Arc::new(ManualClock::new(time(now)));
        let options = Options { clock: clock.clone(), ..Options::default() };
        (Store::open(directory.path(), options).unwrap(), clock)
    };
    let (store, clock) = open("2025-02-11T02:00:00Z");
    let tenant = store.tenant("t").unwrap();
    let id = tenant.remember(expiring("The ice holds", "1h")).unwrap().id;
    assert_eq!(get(&tenant, id).unwrap().recorded_at, clock.now());
    drop((tenant, store));
    for (now, there) in [("2025-02-11T10:59:59+08:00", true), ("2025-02-10T19:00:00-08:00", false)] {
        let (store, _) = open(now);
        assert_eq!(get(&store.tenant("t").unwrap(), id).is_ok(), there, "{now}");
    }
    // Versions keep their order when the clock goes back.
    let (store, clock) = open("2025-02-11T02:30:00Z");
    let tenant = store.tenant("t").unwrap();
    for importance in [0.1, 0.2, 0.3] {
        clock.set(clock.now().plus(memcards::Duration::from_micros(-600_000_000))).unwrap();
        tenant.correct(Correct { id, importance: Some(importance), ..Correct::default() }).unwrap();
    }
    let versions = tenant.history(&History { id }).unwrap().versions;
    let numbers: Vec<u32> = versions.iter().map(|version| version.card.version).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert!(versions.is_sorted_by_key(|version| version.card.updated_at));
}

/// The day that a correction speaks of is one of the corrector's zone, as for a first telling.
#[test]
fn a_correction_is_read_in_its_zone() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = say(&tenant, "The plumber came yesterday").id;
    // The tests begin at nine in the morning UTC: in Auckland it is ten in the evening of that day.
    fixture.pass("4h");
    let day = |zone: Option<&str>| {
        let request = Correct {
            id,
            version: None,
            content: Some(format!("The plumber came today, {zone:?}")),
            zone: zone.map(|zone| zone.parse().unwrap()),
            how: memcards::How::Ambiguous,
            ..Correct::default()
        };
        let corrected = tenant.correct(request).unwrap();
        get(&tenant, corrected.id).unwrap().times[0].from
    };
    assert_eq!(day(None), Some(time("2025-03-10T00:00:00Z")));
    assert_eq!(day(Some("Pacific/Auckland")), Some(time("2025-03-11T00:00:00+13:00")));
    assert_eq!(day(Some("-05:00")), Some(time("2025-03-10T00:00:00-05:00")));
}
