use super::*;
use crate::forget::lifecycle::youngest_archived;
use crate::forget::policy::Policy;

const DAY: i64 = 86_400_000_000;

fn rules(toml: &str) -> LifeRules {
    let store = Some(Policy::from_toml(toml).unwrap());
    LifeRules::new(Arc::new(Policies { store, tenant: None }))
}

fn life_of(confidence: f32) -> Life {
    let start = Timestamp::from_micros(1_700_000_000_000_000);
    Life {
        recorded_at: start,
        reinforced_at: start,
        expires_at: None,
        updated_at: start,
        confidence,
        importance: 0.5,
        pinned: false,
        state: State::Active,
    }
}

/// No confidence within the bounds fades before the bound says, and the bound is near.
#[test]
fn the_youngest_archived_is_never_older_than_any_card_that_is() {
    for toml in [
        "",
        "[defaults]\nfade_below = 0.8",
        "[defaults]\nfade_below = 0.9\ndecay = 3.0",
        "[defaults]\nfade_below = 0",
        "[defaults]\nfade_below = 1.0\ndecay = 0.00001\narchive_after = \"never\"",
        "[defaults]\nhalf_life = \"never\"",
        "[defaults]\narchive_after = \"1h\"",
    ] {
        let rules = rules(toml);
        let rule = rules.of(Track::Semantic, "knowledge");
        for (least, most) in
            [(0.0, 0.06), (0.25, 0.31), (0.3, 0.3), (0.75, 0.8), (0.8, 0.8), (0.0, 1.0), (1.0, 1.0)]
        {
            let bound = youngest_archived(&rule, least, most);
            for step in 0..=20u8 {
                let confidence = least + (most - least) * f32::from(step) / 20.0;
                let life = life_of(confidence);
                let start = life.reinforced_at.as_micros();
                let ends = [life.fades(&rule), life.archives(&rule)].into_iter().flatten().min();
                let age = ends.map(|end| end.as_micros() - start);
                assert!(
                    age.is_none() || bound.is_some_and(|bound| Some(bound) <= age),
                    "{toml} {confidence}"
                );
                if let (Some(age), Some(bound), true) = (age, bound, least == most) {
                    assert!(age - bound <= 2000 + age / 100_000_000, "{toml} {confidence}: {bound} of {age}");
                }
                for at in ends.into_iter().flat_map(|end| [-1, 0, 1, DAY].map(|d| (end, d))) {
                    let instant = Timestamp::from_micros(at.0.as_micros() + at.1);
                    let expected = if at.1 < 0 { State::Active } else { State::Archived };
                    assert_eq!(life.state_at(&rule, instant), expected, "{toml} {confidence} {}", at.1);
                }
            }
        }
    }
}

#[test]
fn what_nobody_set_does_not_fade_and_what_is_switched_off_does_nothing() {
    let life = life_of(0.8);
    let later = Timestamp::from_micros(life.recorded_at.as_micros() + 1000 * DAY);
    for (rules, state, expired) in [
        (LifeRules::default(), State::Active, true),
        (rules(""), State::Archived, true),
        (rules("enabled = false"), State::Active, false),
    ] {
        let rule = rules.of(Track::Semantic, "temporary");
        assert_eq!(rules.state(&life, &rule, later), state);
        assert_eq!(rules.has_expired(&life, &rule, later), expired);
        let own = Life { expires_at: Some(later), pinned: true, ..life };
        assert!(rules.has_expired(&own, &rule, later));
        assert!(!rules.has_expired(&Life { pinned: true, ..life }, &rule, later));
    }
}
