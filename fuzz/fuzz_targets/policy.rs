//! Policies as TOML and as JSON: refused on a field, or the same when written and read again;
//! what holds by them keeps within its bounds. As the JSON of a request, also on a store.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use memcards::Store;
use memcards::card::Track;
use memcards::forget::policy::Policy;
use memcards::forget::resolve::Policies;
use memcards_fuzz::{MemoryIo, store};

/// Inputs on one store; then a new one.
const INPUTS: usize = 500;

thread_local! {
    static OPEN: RefCell<Option<(Store, usize)>> = const { RefCell::new(None) };
}

fn check(policy: Policy) {
    let toml = policy.to_toml().expect("a checked policy is written");
    assert_eq!(Policy::from_toml(&toml).expect("what was written is read"), policy);
    let json = policy.to_json().expect("a checked policy is written");
    assert_eq!(Policy::from_json(&json).expect("what was written is read"), policy);
    let categories: Vec<String> = policy.categories.keys().take(8).cloned().collect();
    let tenant = policy.check_for_tenant().is_ok().then(|| policy.clone());
    let policies = Policies { store: Some(policy), tenant };
    assert_eq!(policies.digest(), policies.clone().digest());
    for track in Track::ALL {
        for category in categories.iter().map(String::as_str).chain(["knowledge"]) {
            let rule = policies.resolve(*track, category);
            assert!(rule.decay >= 0.0 && rule.importance_decay >= 0.0 && rule.decay.is_finite());
            assert!((0.0..=1.0).contains(&rule.fade_below) && (0.5..=1.0).contains(&rule.similarity));
        }
    }
    let limits = policies.limits();
    assert!(limits.most(1000) <= 1000 && (0.0..=1.0).contains(&limits.tenants_share));
    assert!(policies.budgets().iter().all(|budget| budget.max_cards > 0));
    assert!(policies.schedule().every.as_micros() > 0);
}

fuzz_target!(|text: &str| {
    for policy in [Policy::from_toml(text), Policy::from_json(text)] {
        match policy {
            Ok(policy) => check(policy),
            Err(error) => assert!(error.field().is_some(), "{error}"),
        }
    }
    let Ok(value) = serde_json::from_str(text) else { return };
    OPEN.with_borrow_mut(|open| {
        let (store, used) = open.get_or_insert_with(|| (store(&MemoryIo::default(), "/store"), 0));
        *used += 1;
        match store.set_policy(Some(&value)) {
            Ok(view) => {
                assert_eq!(store.policy().expect("it is read").policy, view.policy);
                check(view.policy.expect("it was set"));
            }
            Err(error) => assert!(error.field().is_some(), "{error}"),
        }
        if *used >= INPUTS {
            *open = None;
        }
    });
});
