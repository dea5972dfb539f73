//! Random sequences of calls, store against model.

use memcards::card::State;
use memcards::{Correct, Count, Get, Outcome, Remember};
use proptest::prelude::*;

use crate::steps::steps;
use crate::world::World;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(64)) })]

    #[test]
    fn the_store_answers_like_the_model((caller, steps) in steps(60)) {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(directory.path(), caller);
        for step in &steps {
            world.run(step);
        }
        world.compare_all();
        world.reopen();
        world.compare_all();
    }
}

/// `PROPTEST_CASES`, or a number that suits a test suite.
pub(crate) fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn editing_what_is_replaced_leaves_the_merge_key_with_what_replaced_it() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path(), false);
    let anna = world.store().tenant("anna").unwrap();
    let remember = |content: &str| {
        let request =
            Remember { content: content.into(), merge_key: Some("tone".into()), ..Remember::default() };
        anna.remember(request).unwrap().id
    };
    let old = remember("Answer in a formal tone.");
    let new = remember("Keep it short.");
    anna.correct(Correct { id: old, tags: Some(vec!["old".into()]), ..Correct::default() }).unwrap();
    let newest = remember("Use many emojis.");
    let state = |id| anna.get(&Get { id, ..Get::default() }).unwrap().state;
    assert_eq!([old, new, newest].map(state), [State::Superseded, State::Superseded, State::Active]);
}

#[test]
fn the_first_batch_of_a_tenant_is_compared_with_itself() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path(), false);
    let anna = world.store().tenant("anna").unwrap();
    let batch = ["Smoking is allowed here.", "Smoking is not allowed here."];
    let requests = batch.map(|content| Remember { content: content.into(), ..Remember::default() });
    let answers: Vec<_> =
        anna.remember_all(requests.into()).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(answers[1].outcome, Outcome::Superseded);
}

#[test]
fn racing_first_writes_of_a_tenant_are_compared_with_each_other() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let world = World::new(directory.path(), false);
        let anna = world.store().tenant("anna").unwrap();
        let say = &|content: &str| anna.remember(Remember { content: content.into(), ..Remember::default() });
        std::thread::scope(|scope| {
            for content in
                ["Smoking is allowed here.", "Smoking is not allowed here.", "Smoking is allowed here!"]
            {
                scope.spawn(move || say(content).unwrap());
            }
        });
        assert_eq!(anna.count(&Count::default()).unwrap(), 1);
    }
}
