//! `simulate` and `tiers`, on small stores with a manual clock.

use std::sync::Arc;

use serde_json::json;

use crate::time::{Clock, ManualClock, Timestamp};
use crate::verbs::{Forget, Remember, Simulate, Simulated, StateAges, UseOfCard};
use crate::{Options, Store, execute};

fn store() -> (tempfile::TempDir, Store, Arc<ManualClock>) {
    let directory = tempfile::tempdir().expect("a directory");
    let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().expect("a time")));
    let options = Options { clock: clock.clone(), embedder: None, ..Options::default() };
    let store = Store::open(directory.path(), options).expect("a store");
    (directory, store, clock)
}

fn remember(store: &Store, tenant: &str, content: &str, category: &str) -> crate::card::CardId {
    let request =
        Remember { content: content.into(), category: Some(category.into()), ..Remember::default() };
    store.tenant(tenant).and_then(|tenant| tenant.remember(request)).expect("remembered").id
}

fn totals(simulated: &Simulated) -> Vec<(u32, u64, u64, u64)> {
    let of = |place: usize| simulated.simulation.total(place);
    let days = simulated.simulation.days.iter().enumerate();
    days.map(|(place, day)| (day.day, of(place).active, of(place).cold, of(place).gone)).collect()
}

#[test]
fn a_simulation_plays_the_cards_there_are_and_changes_none() {
    let (_directory, store, _) = store();
    let key = remember(&store, "anna", "The key is under the pot.", "temporary");
    remember(&store, "anna", "Tea, no sugar.", "preference");
    remember(&store, "ben", "The door code is 4711.", "temporary");
    let anna = store.tenant("anna").expect("a tenant");
    let request = Simulate { days: 10, ..Simulate::default() };
    let alone = anna.simulate(&request).expect("played");
    assert_eq!((alone.tenants, alone.cards), (1, 2));
    assert_eq!(alone.simulation.categories, ["preference", "temporary"]);
    assert_eq!(totals(&alone).first(), Some(&(0, 2, 0, 0)));
    assert_eq!(totals(&alone).last(), Some(&(10, 1, 0, 1)));
    let all = store.simulate(&request).expect("played");
    assert_eq!((all.tenants, all.cards), (2, 3));
    assert_eq!(totals(&all).last(), Some(&(10, 1, 0, 2)));
    let only = Simulate { tenants: vec!["ben".into()], ..request.clone() };
    assert_eq!(store.simulate(&only).expect("played").cards, 1);
    let manual = Simulate { policy: Some(json!("manual")), ..request.clone() };
    assert_eq!(totals(&anna.simulate(&manual).expect("played")).last(), Some(&(10, 2, 0, 0)));
    // What is used is still used: a date of expiry is not put off by it.
    let uses = vec![UseOfCard { id: key, day: 9 }];
    let used = anna.simulate(&Simulate { uses, ..request.clone() }).expect("played");
    assert_eq!(used.simulation.days.last().map(|day| day.missed), Some(1));
    assert_eq!(anna.plans().expect("plans").len(), 0);
    assert_eq!(anna.statistics().expect("figures").states["active"], 2);
}

#[test]
fn a_simulation_says_what_is_wrong_with_a_request() {
    let (_directory, store, _) = store();
    let id = remember(&store, "anna", "Tea, no sugar.", "preference");
    let field = |request: serde_json::Value| {
        let answer = execute(&store, &request.to_string());
        (answer["error"]["code"].clone(), answer["error"]["field"].clone())
    };
    for (more, code, at) in [
        (json!({"days": 0}), "invalid_argument", json!("days")),
        (json!({"days": 3654}), "invalid_argument", json!("days")),
        (json!({"policy": "nonsense"}), "invalid_argument", json!("policy")),
        (json!({"uses": [{"id": id, "day": 1}]}), "invalid_argument", json!("uses")),
        (json!({"tenants": ["nobody"]}), "not_found", json!(null)),
        (json!({"tenant": "ben", "days": 0}), "invalid_argument", json!("days")),
        (json!({"tenant": "anna", "every": "1s"}), "invalid_argument", json!("every")),
        (json!({"tenant": "anna", "tenants": ["ben"]}), "invalid_argument", json!("tenants")),
    ] {
        let mut request = json!({"verb": "simulate"});
        for (name, value) in more.as_object().expect("fields") {
            request[name] = value.clone();
        }
        assert_eq!(field(request.clone()), (json!(code), at), "{request}");
    }
    let other = id.to_string().replace(|c: char| c.is_ascii_digit(), "0");
    let request =
        json!({"verb": "simulate", "tenant": "anna", "uses": [{"id": other, "day": 1}]}).to_string();
    assert_eq!(execute(&store, &request)["error"]["code"], "not_found");
}

#[test]
fn the_verb_answers_few_enough_points() {
    let (_directory, store, _) = store();
    remember(&store, "anna", "Tea, no sugar.", "preference");
    for (days, points, step) in [(1, 2, 1), (365, 366, 1), (366, 184, 2), (3653, 334, 11)] {
        let request = json!({"verb": "simulate", "days": days}).to_string();
        let answer = execute(&store, &request);
        let found: Vec<u64> =
            answer["days"].as_array().expect("days").iter().filter_map(|day| day["day"].as_u64()).collect();
        assert!(found.len() <= 366, "{days}");
        assert_eq!((found.len(), found[1], found.last().copied()), (points, step, Some(days)));
        assert_eq!(answer["categories"], json!(["preference"]));
    }
}

#[test]
fn tiers_count_by_state_and_age() {
    let (_directory, store, clock) = store();
    let first = remember(&store, "anna", "The key is under the pot.", "temporary");
    let later = |days: i64| {
        let now: Timestamp = clock.now();
        clock.set(now.plus(crate::Duration::from_hours(24 * days))).expect("a later time");
    };
    later(3);
    remember(&store, "anna", "Tea, no sugar.", "preference");
    remember(&store, "anna", "The shop opens at nine.", "temporary");
    remember(&store, "ben", "The door code is 4711.", "profile");
    later(5);
    let anna = store.tenant("anna").expect("a tenant");
    let tiers = anna.tiers().expect("tiers");
    assert!(tiers.files.is_empty(), "a tenant does not see the store");
    let of = |state: &str| -> StateAges {
        let tiers = anna.tiers().expect("tiers");
        tiers.tenants[0].states.iter().find(|found| found.state == state).expect(state).clone()
    };
    let ages = |state: &str| of(state).ages.iter().map(|band| band.cards).collect::<Vec<_>>();
    assert_eq!(ages("active"), [0, 2, 1, 0, 0, 0]);
    assert_eq!(tiers.tenants[0].expired, 1);
    let forget = |ids| Forget { ids, ..Forget::default() };
    anna.forget(forget(vec![first])).expect("forgotten");
    assert_eq!((ages("active"), ages("forgotten")), (vec![0, 2, 0, 0, 0, 0], vec![1, 0, 0, 0, 0, 0]));
    let purges = anna.tiers().expect("tiers").tenants[0].purges;
    assert_eq!((purges.due, purges.later, purges.never), (0, 1, 0));
    assert_eq!(purges.next.map(|at| at.to_string()).as_deref(), Some("2026-02-08T00:00:00Z"));
    later(40);
    assert_eq!(anna.tiers().expect("tiers").tenants[0].purges.due, 1);
    let all = store.tiers().expect("tiers");
    assert_eq!(all.tenants.iter().map(|of| of.tenant.as_str()).collect::<Vec<_>>(), ["anna", "ben"]);
    assert!(all.files.values().sum::<u64>() >= store.statistics().expect("figures").file_bytes);
    let answer = execute(&store, r#"{"verb":"tiers","tenant":"ben"}"#);
    assert_eq!(answer["tenants"][0]["states"][1]["ages"][3], json!({"below_days": 90, "cards": 1}));
}
