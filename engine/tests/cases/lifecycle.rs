//! Age with nothing sweeping: what a policy takes out of memory is gone at that instant on every
//! read, and figures are those of the instant.

use memcards::card::{CardId, Fact, State, Track, category};
use memcards::{
    Apply, Clock, Correct, Count, Feedback, Forget, Get, Include, List, MakePlan, Recall, Remember, Tenant,
    Timestamp,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    EVERYTHING, Fixture, active, ask, contents, duration, filter, get, question, said_in, say, start, text,
};
use crate::times::reads_that_show;

const DAY: i64 = 86_400_000_000;

/// A relation, which is on more read paths than other cards.
fn standing() -> Remember {
    let fact = Fact { entity: "umbrella stand".into(), attribute: "is by".into(), value: "the door".into() };
    Remember {
        fact: Some(fact),
        category: Some(category::RELATION.into()),
        ..text("The umbrella stand is by the door")
    }
}

fn of_category(category: &str, content: &str) -> Remember {
    Remember { category: Some(category.into()), ..text(content) }
}

fn moved(at: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(at.as_micros() + micros)
}

/// The formula as the documentation has it.
fn naive(base: f32, per_day: f64, from: Timestamp, at: Timestamp) -> f64 {
    let days = (at.as_micros() - from.as_micros()) as f64 / DAY as f64;
    f64::from(base) * (-per_day * days).exp()
}

/// The first microsecond at which that lies below a threshold.
fn first_below(threshold: f64, base: f32, per_day: f64, from: Timestamp) -> Timestamp {
    let (mut above, mut below) = (0, 36_500 * DAY);
    while below - above > 1 {
        let middle = above + (below - above) / 2;
        if naive(base, per_day, from, moved(from, middle)) < threshold {
            below = middle;
        } else {
            above = middle;
        }
    }
    moved(from, below)
}

fn default_and_archived(tenant: &Tenant, query: &str) -> (Vec<String>, Vec<String>) {
    let archived = Recall { include: vec![Include::Archived], ..question(query) };
    (ask(tenant, query), contents(&tenant.recall(archived).unwrap()))
}

#[test]
fn a_card_is_gone_on_every_read_the_instant_its_time_to_live_is_over() {
    let fixture = Fixture::new();
    let (tenant, other) = (fixture.tenant("t"), fixture.tenant("other"));
    let id = tenant.remember(standing()).unwrap().id;
    let kept = other.remember(standing()).unwrap().id;
    tenant.set_policy(Some(&json!({"categories": {"relation": {"ttl": "7d"}}}))).unwrap();
    let about = || {
        let forget = Forget { about: Some("umbrella stand".into()), dry_run: true, ..Forget::default() };
        tenant.forget(forget).unwrap().forgotten.len()
    };
    let matching = || {
        let any = filter(json!({"field": "content", "exists": true}));
        tenant
            .forget(Forget { filter: Some(any), dry_run: true, ..Forget::default() })
            .unwrap()
            .forgotten
            .len()
    };
    let end = start().plus(duration("7d"));
    fixture.clock.set(moved(end, -1)).unwrap();
    assert_eq!((reads_that_show(&tenant, id), about(), matching()), (15, 1, 1), "a microsecond before");
    fixture.clock.set(end).unwrap();
    assert_eq!((reads_that_show(&tenant, id), about(), matching()), (0, 1, 1), "only forgetting reaches it");
    assert_eq!(tenant.statistics().unwrap().states["expired"], 1);
    assert!(tenant.feedback(Feedback { used: vec![id], ..Feedback::default() }).is_err());
    assert_eq!(reads_that_show(&other, kept), 15, "where no policy says so");
    // What was known then can still be asked for, and rules that change hold at once.
    assert_eq!(tenant.get(&Get { id, known_at: Some(start()), ..Get::default() }).unwrap().id, id);
    tenant.set_policy(None).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 15);
}

#[test]
fn temporary_cards_live_for_seven_days_without_any_policy() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    let parcel = "The parcel waits at the gate";
    let id = tenant.remember(of_category(category::TEMPORARY, parcel)).unwrap().id;
    let pinned = Remember { pinned: true, ..of_category(category::TEMPORARY, "The key hangs by the oven") };
    tenant.remember(pinned).unwrap();
    let own =
        Remember { ttl: Some(duration("9d")), ..of_category(category::TEMPORARY, "Ladders are lent out") };
    tenant.remember(own).unwrap();
    let everything = || List { include: EVERYTHING.into(), ..List::default() };
    let count = || tenant.list(&everything()).unwrap().cards.len();
    let end = start().plus(duration("7d"));
    fixture.clock.set(moved(end, -1)).unwrap();
    assert_eq!((count(), ask(&tenant, "where is the parcel?")), (3, vec![parcel.to_owned()]));
    fixture.clock.set(end).unwrap();
    assert_eq!((count(), ask(&tenant, "where is the parcel?")), (2, vec![]));
    // Told again it is a new card: the old one must not swallow it.
    let again = tenant.remember(of_category(category::TEMPORARY, parcel)).unwrap();
    assert_ne!(again.id, id);
    assert_eq!(ask(&tenant, "where is the parcel?"), [parcel]);
    fixture.clock.set(start().plus(duration("9d"))).unwrap();
    assert_eq!(count(), 2, "its own expiry holds");
    // A kill switch stops rules, not what a caller said.
    fixture.store.set_policy(Some(&json!({"enabled": false}))).unwrap();
    assert_eq!(count(), 3);
    fixture.store.set_policy(None).unwrap();
    fixture.pass("8d");
    assert_eq!(active(&tenant), ["The key hangs by the oven"]);
}

#[test]
fn a_card_fades_from_default_reads_at_the_exact_microsecond() {
    let fixture = Fixture::new();
    let (tenant, other) = (fixture.tenant("t"), fixture.tenant("other"));
    let id = tenant.remember(standing()).unwrap().id;
    let kept = other.remember(standing()).unwrap().id;
    let rule = json!({"half_life": "10d", "fade_below": 0.3, "archive_after": "never"});
    tenant.set_policy(Some(&json!({"categories": {"relation": rule}}))).unwrap();
    let end = first_below(0.3, 0.8, std::f64::consts::LN_2 / 10.0, start());
    fixture.clock.set(moved(end, -1)).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 15, "a microsecond before");
    fixture.clock.set(end).unwrap();
    // By name, with archived cards, of the past, and in its history it is there.
    assert_eq!(reads_that_show(&tenant, id), 8, "at that instant");
    assert_eq!(reads_that_show(&other, kept), 15, "where nobody set a policy");
    let found = tenant.list(&List { include: vec![Include::Archived], ..List::default() }).unwrap();
    assert_eq!(found.cards[0].id, id);
    let candidates = List { include: vec![Include::Candidates], ..List::default() };
    assert!(tenant.list(&candidates).unwrap().cards.is_empty());
    assert_eq!(tenant.count(&Count::default()).unwrap(), 0);
    assert_eq!(tenant.statistics().unwrap().states["faded"], 1);
    assert_eq!(get(&tenant, id).unwrap().state, State::Active, "nothing is rewritten");
    // What is pinned does not fade; a switch stops it for all.
    tenant.correct(Correct { id, pinned: Some(true), ..Correct::default() }).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 15);
    tenant.correct(Correct { id, pinned: Some(false), ..Correct::default() }).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 8);
    fixture.store.set_policy(Some(&json!({"enabled": false}))).unwrap();
    assert_eq!(reads_that_show(&tenant, id), 15);
}

#[test]
fn policies_of_store_tenant_track_and_category_decide_when_a_card_is_too_old() {
    let policy = |days: &str| json!({"archive_after": days, "half_life": "never"});
    let store = json!({
        "defaults": policy("10d"), "tracks": {"procedural": policy("20d")},
        "categories": {"hobby": policy("30d")},
    });
    let own = json!({"defaults": policy("40d"), "categories": {"hobby": policy("50d")}});
    let cards = || {
        [
            of_category("errand", "Bring the boots to the cobbler"),
            Remember {
                track: Some(Track::Procedural),
                ..of_category("errand", "Descale the kettle with vinegar")
            },
            of_category("hobby", "Kites need a steady wind"),
        ]
    };
    let fixture = Fixture::new();
    let (plain, special) = (fixture.tenant("plain"), fixture.tenant("special"));
    for tenant in [&plain, &special] {
        cards().into_iter().for_each(|card| drop(tenant.remember(card).unwrap()));
    }
    fixture.store.set_policy(Some(&store)).unwrap();
    special.set_policy(Some(&own)).unwrap();
    for (tenant, ends) in [(&plain, [10, 20, 30]), (&special, [40, 40, 50])] {
        for end in ends {
            let at = moved(start(), end * DAY);
            for (at, gone) in [(moved(at, -1), 0), (at, 1)] {
                if at < fixture.clock_now() {
                    continue;
                }
                fixture.clock.set(at).unwrap();
                let over = ends.iter().filter(|other| **other < end + gone).count();
                assert_eq!(active(tenant).len(), 3 - over, "{end} days, {gone}");
                let query = "boots kettle kites";
                let (now, archived) = default_and_archived(tenant, query);
                assert_eq!((now.len(), archived.len()), (3 - over, 3), "{end} days, {gone}");
            }
        }
    }
}

#[test]
fn a_thousand_faded_cards_near_the_question_leave_five_their_place() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let lantern = |session: &str, turn: u32| Remember {
        turn: Some(turn),
        ..said_in(session, &format!("The lantern by window {turn} of the {session} is lit"))
    };
    let old = (0..1000).map(|turn| lantern("mill", turn)).collect();
    assert!(tenant.remember_all(old).unwrap().iter().all(Result::is_ok));
    fixture.pass("130d");
    for turn in 0..5 {
        tenant.remember(lantern("barn", turn)).unwrap();
    }
    let request = || Recall { top: Some(5), ..question("which lantern by the window is lit?") };
    fixture.store.set_policy(Some(&json!({"preset": "assistant"}))).unwrap();
    let mut found = contents(&tenant.recall(request()).unwrap());
    found.sort();
    let expected: Vec<String> = (0..5).map(|turn| lantern("barn", turn).content).collect();
    assert_eq!(found, expected);
    let archived = Recall { include: vec![Include::Archived], top: Some(1000), ..request() };
    assert_eq!(tenant.recall(archived).unwrap().hits.len(), 1000);
    // The five score as if they were alone.
    let alone = fixture.tenant("alone");
    for turn in 0..5 {
        alone.remember(lantern("barn", turn)).unwrap();
    }
    let scores = |tenant: &Tenant| {
        tenant.recall(request()).unwrap().hits.iter().map(|hit| hit.score).collect::<Vec<_>>()
    };
    assert_eq!(scores(&tenant), scores(&alone));
}

#[test]
fn use_and_telling_again_keep_a_card() {
    let fixture = Fixture::words_only();
    let (tenant, preset) = (fixture.tenant("t"), json!({"preset": "assistant"}));
    fixture.store.set_policy(Some(&preset)).unwrap();
    let boat = say(&tenant, "The boat lies at pier nine").id;
    say(&tenant, "Ferns want shade");
    say(&tenant, "The cellar floods in spring");
    let end = first_below(0.3, 0.8, 0.01, start());
    fixture.clock.set(moved(end, -1)).unwrap();
    assert_eq!(active(&tenant).len(), 3);
    tenant.feedback(Feedback { used: vec![boat], ..Feedback::default() }).unwrap();
    assert!((get(&tenant, boat).unwrap().effective_confidence - f64::from(0.8f32)).abs() < 1e-9);
    fixture.clock.set(end).unwrap();
    assert_eq!(active(&tenant), ["The boat lies at pier nine"]);
    assert_eq!(say(&tenant, "Ferns want shade").outcome, memcards::Outcome::Duplicate);
    assert_eq!(ask(&tenant, "what do ferns want?"), ["Ferns want shade"]);
    let used = first_below(0.3, 0.8, 0.01, moved(end, -1));
    fixture.clock.set(moved(used, -1)).unwrap();
    assert_eq!(active(&tenant).len(), 2);
    fixture.clock.set(used).unwrap();
    assert_eq!(active(&tenant), ["Ferns want shade"]);
}

#[test]
fn a_run_changes_no_answer() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let policy = json!({"preset": "assistant", "categories": {"errand": {"ttl": "100d"}}});
    fixture.store.set_policy(Some(&policy)).unwrap();
    for (category, content) in [
        ("knowledge", "The boat lies at pier nine"),
        ("preference", "I like ferns in the hall"),
        ("errand", "Bring the boots to the cobbler"),
        ("task_state", "The fence is half painted"),
    ] {
        tenant.remember(of_category(category, content)).unwrap();
    }
    let state = || {
        let archived = List { include: vec![Include::Archived], ..List::default() };
        let all: Vec<CardId> = tenant.list(&archived).unwrap().cards.iter().map(|card| card.id).collect();
        (active(&tenant), all, default_and_archived(&tenant, "boat ferns boots fence"))
    };
    for days in [10, 20, 99, 101, 260] {
        fixture.clock.set(moved(start(), days * DAY)).unwrap();
        let before = state();
        let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
        tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
        let after = state();
        assert_eq!((&before.0, &before.1, &before.2.0), (&after.0, &after.1, &after.2.0), "day {days}");
    }
    assert!(active(&tenant).is_empty());
}

#[test]
fn the_least_confidence_is_that_of_the_instant() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    say(&tenant, "The boat lies at pier nine");
    fixture.pass("40d");
    say(&tenant, "The boat sails on Sunday");
    let counts = |least: f32| {
        let min_confidence = Some(least);
        let recalled = tenant.recall(Recall { min_confidence, ..question("the boat") }).unwrap().hits.len();
        let listed = tenant.list(&List { min_confidence, ..List::default() }).unwrap().cards.len();
        let counted = tenant.count(&Count { min_confidence, ..Count::default() }).unwrap();
        assert!(recalled == listed && listed as u64 == counted, "{least}: {recalled} {listed} {counted}");
        listed
    };
    // 0.8 · e^(−0.4) = 0.536…
    assert_eq!([0.0, 0.5, 0.55, 0.8, 0.81, 1.0].map(counts), [2, 2, 1, 1, 0, 0]);
    assert!(
        tenant
            .recall(Recall { min_confidence: Some(0.5), ..question("violin lessons") })
            .unwrap()
            .hits
            .is_empty(),
        "it is no reason to return what does not match"
    );
    for least in [-0.1, 1.1, f32::NAN] {
        let min_confidence = Some(least);
        let errors = [
            tenant.recall(Recall { min_confidence, ..question("boat") }).unwrap_err(),
            tenant.list(&List { min_confidence, ..List::default() }).unwrap_err(),
            tenant.count(&Count { min_confidence, ..Count::default() }).unwrap_err(),
        ];
        errors.iter().for_each(|error| assert_eq!(error.field(), Some("min_confidence")));
    }
}

#[test]
fn of_two_equal_cards_the_one_that_is_still_believed_ranks_first() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    let old =
        Remember { confidence: Some(0.9), ..of_category("task_state", "Crate seven holds copper wire") };
    tenant.remember(Remember { occurred_at: Some(start()), ..old }).unwrap();
    let other = Remember { confidence: Some(0.85), ..of_category("profile", "Crate four holds copper wire") };
    tenant.remember(Remember { occurred_at: Some(start()), ..other }).unwrap();
    let confidences = || {
        let preset = Some("card".into());
        let request = Recall { explain: true, preset, ..question("copper wire") };
        let hits = tenant.recall(request).unwrap().hits;
        let part = |start: &str| {
            let hit = hits.iter().find(|hit| hit.card.content.starts_with(start)).unwrap();
            hit.parts.as_ref().unwrap().confidence
        };
        (part("Crate seven"), part("Crate four"))
    };
    let (before, after) = (confidences(), {
        fixture.pass("10d");
        confidences()
    });
    assert!(before.0 > before.1 && after.0 < after.1, "{before:?} {after:?}");
}

#[test]
fn past_reads_show_what_was_believed_with_its_figures_of_then() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    fixture.store.set_policy(Some(&json!({"preset": "assistant"}))).unwrap();
    let id = say(&tenant, "The boat lies at pier nine").id;
    fixture.pass("150d");
    assert!(ask(&tenant, "where is the boat?").is_empty());
    let then = moved(start(), 120 * DAY);
    let expected = naive(0.8, 0.01, start(), then);
    for (as_of, known_at) in [(Some(then), None), (None, Some(then))] {
        let hits = tenant.recall(Recall { as_of, known_at, ..question("boat") }).unwrap().hits;
        assert!((hits[0].card.effective_confidence - expected).abs() < 1e-9);
        let listed = tenant.list(&List { as_of, known_at, ..List::default() }).unwrap().cards;
        assert_eq!(listed[0], hits[0].card);
    }
    let known = tenant.get(&Get { id, known_at: Some(then), ..Get::default() }).unwrap();
    assert!((known.effective_confidence - expected).abs() < 1e-9);
    assert_eq!(known.confidence, 0.8);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Figures are those of the formula, and a read at any instant shows what the formula says.
    #[test]
    fn figures_are_those_of_the_formula(
        half_life in 1u32..400,
        importance_half_life in 1u32..400,
        fade_below in 0u32..=10,
        confidence in 8u32..=10,
        importance in 0u32..=10,
        days in 0i64..800,
        set in any::<bool>(),
    ) {
        let fixture = Fixture::words_only();
        let tenant = fixture.tenant("t");
        let (confidence, importance) = (confidence as f32 / 10.0, importance as f32 / 10.0);
        let fade_below = f64::from(fade_below) / 10.0;
        let policy: Value = json!({"defaults": {
            "half_life": format!("{half_life}d"), "importance_half_life": format!("{importance_half_life}d"),
            "fade_below": fade_below, "archive_after": "never",
        }});
        if set {
            fixture.store.set_policy(Some(&policy)).unwrap();
        }
        let card = Remember { confidence: Some(confidence), importance: Some(importance), ..text("Ferns want shade") };
        let id = tenant.remember(card).unwrap().id;
        fixture.clock.set(moved(start(), days * DAY)).unwrap();
        let now = fixture.clock_now();
        let card = get(&tenant, id).unwrap();
        let rate = |half_life: u32| if set { std::f64::consts::LN_2 / f64::from(half_life) } else { 0.01 };
        let expected = naive(confidence, rate(half_life), start(), now);
        prop_assert!((card.effective_confidence - expected).abs() < 1e-9);
        let figure = naive(importance, rate(importance_half_life), start(), now);
        prop_assert!((card.effective_importance - figure).abs() < 1e-9);
        prop_assert_eq!((card.confidence, card.importance), (confidence, importance));
        // A base below the threshold fades as a plain statement would, or a certain one.
        let base = [confidence, 0.8, 1.0].into_iter().find(|base| f64::from(*base) >= fade_below).unwrap();
        let faded = set && naive(base, rate(half_life), start(), now) < fade_below;
        prop_assert_eq!(active(&tenant).is_empty(), faded);
        prop_assert_eq!(ask(&tenant, "ferns").is_empty(), faded);
    }
}
