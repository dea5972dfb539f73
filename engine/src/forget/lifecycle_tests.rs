use proptest::prelude::*;

use super::*;
use crate::card::Track;
use crate::forget::policy::{Policy, Rule, Span};
use crate::forget::resolve::Policies;

const DAY: i64 = 86_400_000_000;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn day(count: f64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + (count * DAY as f64) as i64)
}

fn built_in() -> Resolved {
    Policies::default().resolve(Track::Semantic, "knowledge")
}

fn resolved(rule: Rule) -> Resolved {
    let policy = Policy { preset: Some("manual".into()), defaults: rule, ..Policy::default() };
    Policies { store: Some(policy), tenant: None }.resolve(Track::Semantic, "knowledge")
}

fn stated() -> Life {
    Life {
        recorded_at: day(0.0),
        reinforced_at: day(0.0),
        expires_at: None,
        updated_at: day(0.0),
        confidence: 0.8,
        importance: 0.5,
        pinned: false,
        state: State::Active,
    }
}

/// One microsecond earlier, where there is one.
fn before(instant: Timestamp) -> Timestamp {
    instant.plus(Duration::from_micros(-1))
}

#[test]
fn confidence_halves_in_about_seventy_days() {
    let (life, rule) = (stated(), built_in());
    assert!((life.confidence_at(&rule, day(69.314_718)) - 0.4).abs() < 1e-7);
    assert_eq!(life.confidence_at(&rule, day(-5.0)), f64::from(0.8f32));
    assert!((life.importance_at(&rule, day(69.314_718)) - 0.25).abs() < 1e-7);
    let fades = life.fades(&rule).unwrap();
    assert!((days(day(0.0), fades) - 98.082_926).abs() < 1e-4);
    assert_eq!(life.next(&rule), Some((fades, Action::Fade)));
    assert_eq!(
        life.due_action(&rule, day(200.0)),
        Some(Due { action: Action::Fade, rule: "fade_below", since: fades })
    );
    assert_eq!(life.archives(&rule), Some(day(180.0)));
}

#[test]
fn access_falls_in_two_straight_lines() {
    let life = stated();
    for (days, weight) in [
        (-3.0, 1.0),
        (0.0, 1.0),
        (30.0, 1.0),
        (60.0, 0.65),
        (90.0, 0.3),
        (135.0, 0.15),
        (180.0, 0.0),
        (999.0, 0.0),
    ] {
        assert!((life.access_weight(day(days)) - weight).abs() < 1e-9, "{days}");
    }
}

#[test]
fn a_card_expires_by_its_own_word_first() {
    let rule = Policies::default().resolve(Track::Semantic, "temporary");
    let life = stated();
    assert_eq!(life.expires(&rule), Some(day(7.0)));
    assert_eq!(life.due_action(&rule, day(7.0)).unwrap().rule, "ttl");
    let own = Life { expires_at: Some(day(20.0)), ..life };
    assert_eq!(own.expires(&rule), Some(day(20.0)));
    assert_eq!(own.due_action(&rule, day(20.0)).unwrap().rule, "expires_at");
    // A use does not prolong it.
    let used = Life { reinforced_at: day(6.0), ..life };
    assert_eq!(used.expires(&rule), Some(day(7.0)));
}

#[test]
fn a_pin_holds_against_rules_and_not_against_the_caller() {
    let rule = Policies::default().resolve(Track::Semantic, "temporary");
    let pinned = Life { pinned: true, ..stated() };
    assert_eq!(pinned.next(&rule), None);
    assert_eq!(pinned.due_action(&rule, Timestamp::MAX), None);
    let own = Life { expires_at: Some(day(20.0)), ..pinned };
    assert_eq!(own.next(&rule), Some((day(20.0), Action::Expire)));
    let protected = Resolved { protect: true, ..rule };
    assert_eq!(stated().next(&protected), None);
    let forgotten = Life { state: State::Forgotten, ..stated() };
    // Somebody wanted it gone: that holds against a pin and a protection.
    assert_eq!(forgotten.next(&protected).map(|(_, action)| action), Some(Action::Purge));
}

#[test]
fn a_state_decides_what_can_happen() {
    let rule = built_in();
    let next = |state| Life { state, expires_at: Some(day(50.0)), ..stated() }.next(&rule);
    assert_eq!(next(State::Active), Some((day(50.0), Action::Expire)));
    assert_eq!(next(State::Candidate), Some((day(50.0), Action::Expire)));
    assert_eq!(next(State::Archived), Some((day(50.0), Action::Expire)));
    assert_eq!(next(State::Superseded), Some((day(180.0), Action::Archive)));
    assert_eq!(next(State::Forgotten), Some((day(30.0), Action::Purge)));
    assert_eq!(Life { state: State::Archived, ..stated() }.next(&rule), None);
    // The first in the order of actions, however long the others have been due.
    let life = Life { expires_at: Some(day(300.0)), ..stated() };
    assert_eq!(life.due_action(&rule, day(299.0)).unwrap().action, Action::Fade);
    assert_eq!(life.due_action(&rule, day(300.0)).unwrap().action, Action::Expire);
}

#[test]
fn what_was_never_certain_fades_by_age() {
    let rule = built_in();
    let stated = stated();
    let overturned = Life { confidence: 0.1, ..stated };
    assert_eq!(overturned.fades(&rule), stated.fades(&rule));
    // Where not even a plain statement reaches the threshold, a confirmed one is the measure.
    let strict = Resolved { fade_below: 0.9, ..rule.clone() };
    let confirmed = Life { confidence: 1.0, ..stated };
    assert_eq!(stated.fades(&strict), confirmed.fades(&strict));
    assert!(stated.fades(&strict).unwrap() > stated.reinforced_at);
    for never in [Resolved { fade_below: 0.0, ..rule.clone() }, Resolved { decay: 0.0, ..rule }] {
        assert_eq!(overturned.fades(&never), None);
        assert_eq!(stated.fades(&never), None);
    }
}

#[test]
fn nothing_happens_beyond_the_end_of_time() {
    let rule = resolved(Rule {
        ttl: Some("36525d".parse().unwrap()),
        half_life: Some("36525d".parse().unwrap()),
        archive_after: Some("36525d".parse().unwrap()),
        grace: Some("36525d".parse().unwrap()),
        fade_below: Some(0.3),
        ..Rule::default()
    });
    let late = at("9950-01-01T00:00:00Z");
    let life = Life { recorded_at: late, reinforced_at: late, updated_at: late, ..stated() };
    for state in State::ALL {
        assert_eq!(Life { state: *state, ..life }.next(&rule), None);
    }
}

fn any_timestamp() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        any::<i64>().prop_map(Timestamp::from_micros),
        (1_600_000_000_000_000i64..1_800_000_000_000_000).prop_map(Timestamp::from_micros),
        Just(Timestamp::MIN),
        Just(Timestamp::MAX),
    ]
}

fn any_life() -> impl Strategy<Value = Life> {
    (
        (any_timestamp(), any_timestamp(), proptest::option::weighted(0.3, any_timestamp()), any_timestamp()),
        prop_oneof![0f32..=1.0, any::<f32>()],
        any::<f32>(),
        proptest::bool::weighted(0.1),
        proptest::sample::select(State::ALL.to_vec()),
    )
        .prop_map(
            |(
                (recorded_at, reinforced_at, expires_at, updated_at),
                confidence,
                importance,
                pinned,
                state,
            )| {
                Life {
                    recorded_at,
                    reinforced_at,
                    expires_at,
                    updated_at,
                    confidence,
                    importance,
                    pinned,
                    state,
                }
            },
        )
}

fn any_rule() -> impl Strategy<Value = Resolved> {
    let span = || proptest::option::of(prop_oneof![0i64..36_525 * DAY, any::<i64>()]);
    let decay = prop_oneof![Just(0.0), 1e-6..1.0f64, 1.0..1000.0f64, any::<f64>()];
    let below = prop_oneof![Just(0.0), Just(0.3), 0.0..=1.0f64, any::<f64>()];
    (span(), decay, below, span(), span(), proptest::bool::weighted(0.1)).prop_map(
        |(ttl, decay, fade_below, archive_after, grace, protect)| Resolved {
            ttl: ttl.map(Duration::from_micros),
            decay,
            importance_decay: decay,
            fade_below,
            archive_after: archive_after.map(Duration::from_micros),
            grace: grace.map(Duration::from_micros),
            protect,
            ..built_in()
        },
    )
}

/// Rules and cards as they occur: everything in range.
fn usual() -> impl Strategy<Value = (Life, Resolved)> {
    let half_life = (60_000_000i64..36_525 * DAY).prop_map(|micros| Span::Of(Duration::from_micros(micros)));
    let below = prop_oneof![Just(0.3), 0.0..=1.0f64];
    (any_timestamp(), 0f32..=1.0, half_life, below).prop_map(
        |(reinforced_at, confidence, half_life, fade_below)| {
            let rule = Rule { half_life: Some(half_life), fade_below: Some(fade_below), ..Rule::default() };
            (Life { reinforced_at, confidence, ..stated() }, resolved(rule))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_formula_is_the_plain_one(
        base in 0f32..=1.0, decay in 0.0..2.0f64, since in 0i64..4000 * DAY,
    ) {
        let life = Life { confidence: base, importance: base, ..stated() };
        let rule = Resolved { decay, importance_decay: decay, ..built_in() };
        let at = life.reinforced_at.plus(Duration::from_micros(since));
        let hours = at.hours_since(life.reinforced_at);
        let naive = f64::from(base) * std::f64::consts::E.powf(-(decay * hours / 24.0));
        prop_assert!((life.confidence_at(&rule, at) - naive).abs() < 1e-12);
        prop_assert!((life.importance_at(&rule, at) - naive).abs() < 1e-12);
    }

    #[test]
    fn a_half_life_halves(micros in 60_000_000i64..36_525 * DAY, halvings in 0i32..8) {
        let rule = resolved(Rule { half_life: Some(Span::Of(Duration::from_micros(micros))), ..Rule::default() });
        let life = Life { reinforced_at: Timestamp::from_micros(0), ..stated() };
        let at = Timestamp::from_micros(micros * i64::from(halvings));
        let naive = f64::from(0.8f32) * 0.5f64.powi(halvings);
        prop_assert!((life.confidence_at(&rule, at) - naive).abs() < 1e-12);
    }

    #[test]
    fn fading_is_exact_to_the_microsecond((life, rule) in usual()) {
        let below = rule.fade_below;
        let stated = [0.8f32, 1.0].into_iter().find(|base| f64::from(*base) >= below).unwrap();
        let measure = if f64::from(life.confidence) >= below { life.confidence } else { stated };
        let measure = Life { confidence: measure, ..life };
        match life.fades(&rule) {
            Some(fades) => {
                prop_assert!(measure.confidence_at(&rule, fades) < below);
                prop_assert!(measure.confidence_at(&rule, before(fades)) >= below);
                prop_assert!(fades > life.reinforced_at);
            }
            None => prop_assert!(measure.confidence_at(&rule, Timestamp::MAX) >= below),
        }
    }

    #[test]
    fn figures_only_fall(life in any_life(), rule in any_rule(), a in any_timestamp(), b in any_timestamp()) {
        let (a, b) = (a.min(b), a.max(b));
        // The library's exp may be off by its last digit.
        let close = 1.0 + 4.0 * f64::EPSILON;
        for (early, late) in [
            (life.confidence_at(&rule, a), life.confidence_at(&rule, b)),
            (life.importance_at(&rule, a), life.importance_at(&rule, b)),
            (life.access_weight(a), life.access_weight(b)),
            (life.worth_at(&rule, a), life.worth_at(&rule, b)),
        ] {
            prop_assert!(late <= early * close, "{early} {late}");
            prop_assert!((0.0..=1.0).contains(&early));
        }
        if life.confidence.is_finite() {
            prop_assert!(life.confidence_at(&rule, b) <= f64::from(life.confidence.clamp(0.0, 1.0)));
        }
    }

    #[test]
    fn the_next_instant_is_when_something_is_due(life in any_life(), rule in any_rule(), at in any_timestamp()) {
        match life.next(&rule) {
            Some((next, action)) => {
                let due = life.due_action(&rule, next).unwrap();
                prop_assert_eq!((due.action, due.since), (action, next));
                if next > Timestamp::MIN {
                    prop_assert_eq!(life.due_action(&rule, before(next)), None);
                }
                prop_assert_eq!(life.due_action(&rule, at).is_some(), at >= next);
                if let Some(due) = life.due_action(&rule, at) {
                    prop_assert!(due.since <= at && due.since >= next);
                }
            }
            None => prop_assert_eq!(life.due_action(&rule, Timestamp::MAX), None),
        }
    }

    #[test]
    fn a_reference_moves_nothing_earlier(life in any_life(), rule in any_rule(), later in any_timestamp()) {
        let used = Life { reinforced_at: life.reinforced_at.max(later), ..life };
        let end = |at: Option<Timestamp>| at.map_or(i64::MAX, Timestamp::as_micros);
        // Away from 1970 instants are coarser than a microsecond for the formula.
        prop_assert!(end(used.fades(&rule)) >= end(life.fades(&rule)).saturating_sub(64));
        prop_assert!(end(used.archives(&rule)) >= end(life.archives(&rule)));
        prop_assert_eq!(used.expires(&rule), life.expires(&rule));
        prop_assert_eq!(used.purges(&rule), life.purges(&rule));
    }

    #[test]
    fn reading_changes_nothing(life in any_life(), rule in any_rule(), at in any_timestamp()) {
        let again = life;
        let _ = (life.due_action(&rule, at), life.next(&rule), life.worth_at(&rule, at));
        prop_assert_eq!(life.confidence_at(&rule, at).to_bits(), again.confidence_at(&rule, at).to_bits());
        prop_assert_eq!(life.next(&rule), again.next(&rule));
    }
}
