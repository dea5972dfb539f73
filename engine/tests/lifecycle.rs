//! Years lived on a clock that the test moves: what leaves active memory, and when, agrees with
//! the formulas to the run.
//!
//! `MEMCARDS_YEARS` says how many (3 in the long form, with hourly runs; a part of one by default).

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use memcards::card::{CardId, State};
use memcards::{
    Clock, Duration, Feedback, Get, Include, MakePlan, ManualClock, Options, Remember, Store, Tenant,
    Timestamp,
};
use serde_json::json;

const HOUR: i64 = 3_600_000_000;
const DAY: f64 = 24.0 * HOUR as f64;

/// What the test knows of a card.
#[derive(Clone, Copy, Debug)]
struct Known {
    confidence: f64,
    reference: i64,
    /// Per day.
    decay: f64,
    expires: Option<i64>,
    /// Days without a reference after which it is archived.
    archive: f64,
}

impl Known {
    /// The formula of the requirements.
    fn confidence_at(&self, at: i64) -> f64 {
        self.confidence * (-self.decay * (at - self.reference) as f64 / DAY).exp()
    }

    /// When it leaves active memory, in microseconds, to the precision of the formula.
    fn leaves(&self) -> f64 {
        let fades = match self.decay > 0.0 {
            true => self.reference as f64 + (self.confidence / 0.3).ln() / self.decay * DAY,
            false => f64::INFINITY,
        };
        let archived = self.reference as f64 + self.archive * DAY;
        fades.min(archived).min(self.expires.map_or(f64::INFINITY, |at| at as f64))
    }
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

fn is_active(tenant: &Tenant, id: CardId) -> bool {
    let include = vec![Include::Archived, Include::Forgotten, Include::Superseded, Include::Candidates];
    match tenant.get(&Get { id, include, ..Get::default() }) {
        Ok(card) => matches!(card.state, State::Active | State::Candidate),
        // Expired: no read shows it.
        Err(_) => false,
    }
}

#[test]
fn cards_leave_when_the_formulas_say() {
    let hours: i64 = match std::env::var("MEMCARDS_YEARS") {
        Ok(years) => years.parse::<i64>().unwrap() * 365 * 24,
        Err(_) => 300 * 24,
    };
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new("2024-01-01T00:00:00Z".parse().unwrap()));
    let options = Options { clock: clock.clone(), embedder: None, ..Options::default() };
    let store = Store::open(directory.path(), options).unwrap();
    let policy = json!({ "preset": "assistant", "limits": { "items": 100_000, "share": 1.0 } });
    store.set_policy(Some(&policy)).unwrap();
    let tenant = store.tenant("t").unwrap();
    let mut numbers = Numbers(7);
    let mut known: BTreeMap<CardId, Known> = BTreeMap::new();
    let mut gone: BTreeMap<CardId, i64> = BTreeMap::new();
    let half = |days: f64| std::f64::consts::LN_2 / days;
    let kinds = [
        ("knowledge", 0.01, 180.0),
        ("preference", half(180.0), 365.0),
        ("profile", half(730.0), 1095.0),
        ("task_state", half(5.0), 14.0),
    ];
    for hour in 1..=hours {
        let now = clock.now().plus(Duration::from_hours(1));
        clock.set(now).unwrap();
        let at = now.as_micros();
        if numbers.below(60) == 0 {
            let (category, decay, archive) = kinds[numbers.below(4) as usize];
            let expires = (numbers.below(5) == 0).then(|| at + (1 + numbers.below(2000) as i64) * HOUR + 17);
            let request = Remember {
                content: format!("Note {hour} says that shelf {} holds box {hour}", hour * 7),
                category: Some(category.into()),
                expires_at: expires.map(Timestamp::from_micros),
                ..Remember::default()
            };
            let id = tenant.remember(request).unwrap().id;
            let confidence = f64::from(0.8f32);
            known.insert(id, Known { confidence, reference: at, decay, expires, archive });
        }
        if numbers.below(80) == 0 && !known.is_empty() {
            let pick = numbers.below(known.len() as u64) as usize;
            let (id, card) = known.iter_mut().nth(pick).unwrap();
            // One that faded since the last run is there still, and comes back by being used.
            if tenant.feedback(Feedback { used: vec![*id], ..Feedback::default() }).is_ok() {
                card.reference = at;
            }
        }
        store.forget_due().unwrap();
        let thorough = hour % (24 * 20) == 0;
        for (id, card) in &known {
            let leaves = card.leaves();
            if thorough || (leaves - at as f64).abs() < 2.0 * HOUR as f64 {
                assert_eq!(is_active(&tenant, *id), leaves > at as f64, "{id} {card:?} at {now}");
            }
        }
        known.retain(|id, card| {
            let left = card.leaves() <= at as f64;
            if left {
                gone.insert(*id, at);
            }
            !left
        });
        if thorough {
            let request =
                MakePlan { policy: Some(json!({"defaults": {"fade_below": 0.79}})), ..MakePlan::default() };
            for item in tenant.plan(&MakePlan { consent: true, ..request }).unwrap().items {
                let Some(card) = known.get(&item.item.id) else { continue };
                // The plan goes by another policy: its decay is that of the same preset.
                let figure = item.item.figures.confidence_now;
                assert!((figure - card.confidence_at(at)).abs() < 1e-9, "{figure} {card:?}");
            }
        }
    }
    assert!(gone.len() > 50, "{}", gone.len());
    assert_eq!(store.scheduler().runs, hours as u64);
    assert!(store.verify(|_| {}).unwrap().is_sound());
}
