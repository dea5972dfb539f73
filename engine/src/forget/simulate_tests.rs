use proptest::prelude::*;

use super::*;
use crate::forget::policy::Policy;

fn start() -> Timestamp {
    "2024-01-01T00:00:00Z".parse().unwrap()
}

fn day(count: i64) -> Timestamp {
    start().plus(Duration::from_hours(24 * count))
}

fn store(text: &str) -> Policies {
    Policies { store: Some(Policy::from_toml(text).unwrap()), tenant: None }
}

fn card(category: &str, recorded_at: Timestamp) -> SimulatedCard {
    let life = Life {
        recorded_at,
        reinforced_at: recorded_at,
        expires_at: None,
        updated_at: recorded_at,
        confidence: 0.8,
        importance: 0.5,
        pinned: false,
        state: State::Active,
    };
    SimulatedCard { category: category.into(), track: Track::Semantic, life }
}

fn scenario(days: u32) -> Scenario {
    Scenario { start: start(), days, every: None, uses: Vec::new() }
}

/// Active, cold and gone in total after so many days.
fn at(simulation: &Simulation, day: usize) -> (u64, u64, u64) {
    let total = simulation.total(day);
    (total.active, total.cold, total.gone)
}

#[test]
fn a_temporary_card_lives_for_a_week() {
    let played = simulate(&Policies::default(), &[card("temporary", start())], &scenario(45)).unwrap();
    assert_eq!(played.days.len(), 46);
    assert_eq!((at(&played, 0), at(&played, 6), at(&played, 7)), ((1, 0, 0), (1, 0, 0), (0, 0, 1)));
    assert_eq!(at(&played, 45), (0, 0, 1));
    assert_eq!(played.days[7].at, day(7));
}

#[test]
fn a_statement_fades_unless_it_is_used() {
    let cards = [card("knowledge", start()), card("preference", start())];
    let played = simulate(&Policies::default(), &cards, &scenario(300)).unwrap();
    assert_eq!(played.categories, ["knowledge", "preference"]);
    assert_eq!(at(&played, 98), (2, 0, 0));
    assert_eq!(at(&played, 99), (1, 1, 0));
    // Half a year of half-life: 254.7 days.
    assert_eq!((at(&played, 254), at(&played, 255)), ((1, 1, 0), (0, 2, 0)));
    let uses = (1..=3).map(|turn| Use { day: turn * 80, index: 0 }).collect();
    let played = simulate(&Policies::default(), &cards, &Scenario { uses, ..scenario(300) }).unwrap();
    assert_eq!(played.days[300].counts[0], Counts { active: 1, cold: 0, gone: 0 });
}

#[test]
fn a_use_brings_a_cold_card_back_and_comes_too_late_for_a_forgotten_one() {
    let cards = [card("knowledge", start()), card("temporary", start()), card("knowledge", day(500))];
    let uses = vec![
        Use { day: 120, index: 0 },
        Use { day: 20, index: 1 },
        Use { day: 60, index: 1 },
        Use { day: 5, index: 2 },
    ];
    let played = simulate(&Policies::default(), &cards, &Scenario { uses, ..scenario(300) }).unwrap();
    assert_eq!((played.days[120].counts[0].cold, played.days[121].counts[0].active), (1, 1));
    // Forgotten on day 20, purged on day 60; the card of day 500 is not there yet.
    assert_eq!((played.days[300].rewarmed, played.days[300].missed), (1, 2));
    assert_eq!(played.total(300).total(), 2);
}

#[test]
fn the_switch_and_the_limits_hold() {
    let cards: Vec<SimulatedCard> = (0..100).map(|_| card("temporary", start())).collect();
    let off = simulate(&store("enabled = false"), &cards, &scenario(30)).unwrap();
    assert_eq!(at(&off, 30), (100, 0, 0));
    let daily = Scenario { every: Some(Duration::from_hours(24)), ..scenario(60) };
    let played = simulate(&store("[limits]\nshare = 0.5"), &cards, &daily).unwrap();
    assert_eq!([7, 8, 9].map(|day| at(&played, day).0), [50, 25, 12]);
    assert_eq!([7, 8].map(|day| played.days[day].waiting), [50, 25]);
    let played = simulate(&store("[limits]\nitems = 3\nshare = 1"), &cards, &daily).unwrap();
    assert_eq!(at(&played, 9), (91, 0, 9));
    // The share does not bound a purge, which takes nothing out of active memory.
    let forgotten: Vec<SimulatedCard> = cards
        .iter()
        .map(|card| SimulatedCard { life: Life { state: State::Forgotten, ..card.life }, ..card.clone() })
        .collect();
    let played = simulate(&Policies::default(), &forgotten, &scenario(31)).unwrap();
    assert_eq!((at(&played, 31), played.days[31].waiting), ((0, 0, 100), 0));
}

#[test]
fn a_budget_keeps_what_is_worth_most() {
    let mut cards: Vec<SimulatedCard> = (0..10).map(|i| card("notes", day(-i))).collect();
    cards[9].life.pinned = true;
    let policy = "preset = \"manual\"\n[limits]\nshare = 1\n[categories.notes]\nmax_cards = 4\nover_budget = \"forget\"";
    let recent = |simulation: &Simulation| at(simulation, 1);
    assert_eq!(recent(&simulate(&store(policy), &cards, &scenario(1)).unwrap()), (4, 0, 6));
    let cold = policy.replace("forget", "archive");
    assert_eq!(recent(&simulate(&store(&cold), &cards, &scenario(1)).unwrap()), (4, 6, 0));
    for card in &mut cards {
        card.life.pinned = true;
    }
    assert_eq!(recent(&simulate(&store(policy), &cards, &scenario(1)).unwrap()), (10, 0, 0));
}

#[test]
fn a_scenario_out_of_bounds_is_refused() {
    let cards = [card("x", start())];
    let field = |scenario: Scenario| {
        simulate(&Policies::default(), &cards, &scenario).unwrap_err().field().map(str::to_owned)
    };
    assert_eq!(field(scenario(0)).as_deref(), Some("days"));
    assert_eq!(field(scenario(4000)).as_deref(), Some("days"));
    let every = Some(Duration::from_micros(5));
    assert_eq!(field(Scenario { every, ..scenario(1) }).as_deref(), Some("every"));
    let uses = vec![Use { day: 0, index: 0 }, Use { day: 0, index: 1 }];
    assert_eq!(field(Scenario { uses, ..scenario(1) }).as_deref(), Some("uses[1].index"));
    let uses = vec![Use { day: 1, index: 0 }];
    assert_eq!(field(Scenario { uses, ..scenario(1) }).as_deref(), Some("uses[0].day"));
    assert_eq!(field(Scenario { start: Timestamp::MAX, ..scenario(1) }).as_deref(), Some("start"));
    let last = Timestamp::MAX.plus(Duration::from_hours(-24));
    assert!(simulate(&Policies::default(), &cards, &Scenario { start: last, ..scenario(1) }).is_ok());
    assert!(simulate(&Policies::default(), &[], &scenario(3)).unwrap().categories.is_empty());
}

#[test]
fn figures_come_back_from_json() {
    let played = simulate(&Policies::default(), &[card("temporary", start())], &scenario(9)).unwrap();
    let json = serde_json::to_string(&played).unwrap();
    assert_eq!(serde_json::from_str::<Simulation>(&json).unwrap(), played);
}

fn any_card() -> impl Strategy<Value = SimulatedCard> {
    let category =
        proptest::sample::select(vec!["temporary", "preference", "knowledge", "conversation", "own"]);
    (
        category,
        proptest::sample::select(Track::ALL.to_vec()),
        -400i64..60,
        proptest::option::weighted(0.2, -100i64..100),
        0f32..=1.0,
        proptest::bool::weighted(0.1),
        proptest::sample::select(State::ALL.to_vec()),
    )
        .prop_map(|(category, track, recorded, expires, confidence, pinned, state)| {
            let card = card(category, day(recorded));
            let expires_at = expires.map(day);
            SimulatedCard { track, life: Life { confidence, pinned, state, expires_at, ..card.life }, ..card }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_card_is_lost_or_made(
        cards in proptest::collection::vec(any_card(), 0..40),
        preset in proptest::sample::select(Policy::preset_names().collect::<Vec<_>>()),
        budget in 1u64..20,
        uses in proptest::collection::vec((0u32..80, 0usize..40), 0..20),
    ) {
        let policies = store(&format!("preset = \"{preset}\"\n[tracks.semantic]\nmax_cards = {budget}"));
        let uses = uses.into_iter().filter(|(_, index)| *index < cards.len());
        let uses = uses.map(|(day, index)| Use { day, index }).collect();
        let scenario = Scenario { uses, every: Some(Duration::from_hours(6)), ..scenario(80) };
        let played = simulate(&policies, &cards, &scenario).unwrap();
        prop_assert_eq!(&played, &simulate(&policies, &cards, &scenario).unwrap());
        for day in &played.days {
            for (category, counts) in played.categories.iter().zip(&day.counts) {
                let there = |card: &&SimulatedCard| card.category == *category && card.life.recorded_at <= day.at;
                prop_assert_eq!(counts.total(), cards.iter().filter(there).count() as u64);
            }
        }
        for pair in played.days.windows(2) {
            prop_assert!(pair[0].counts.iter().zip(&pair[1].counts).all(|(a, b)| a.gone <= b.gone));
        }
    }
}
