//! The order in which things are told is not the order in which they were true.

use std::sync::Arc;

use memcards::card::{Fact, State};
use memcards::{
    Error, Forget, Get, History, Include, List, ManualClock, Options, Outcome, Recall, Remember, Restore,
    Store, Tenant, Timestamp,
};

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

struct World {
    _directory: tempfile::TempDir,
    clock: Arc<ManualClock>,
    tenant: Tenant,
}

fn world() -> World {
    let directory = tempfile::tempdir().expect("a directory");
    let clock = Arc::new(ManualClock::new(time("2025-06-20T08:00:00Z")));
    let options = Options { clock: clock.clone(), ..Options::default() };
    let tenant = Store::open(directory.path(), options).and_then(|store| store.tenant("t")).expect("a store");
    World { _directory: directory, clock, tenant }
}

fn speed(value: &str, day: &str) -> Remember {
    Remember {
        content: format!("The pump runs at {value} rpm."),
        fact: Some(Fact { entity: "pump".into(), attribute: "speed".into(), value: value.into() }),
        occurred_at: Some(time(&format!("2025-06-{day}T08:00:00Z"))),
        ..Remember::default()
    }
}

fn held(tenant: &Tenant) -> Vec<String> {
    let page = tenant.list(&List::default()).expect("a list");
    page.cards.iter().map(|card| card.content.clone()).collect()
}

#[test]
fn an_older_value_told_late_is_history_at_once() {
    let World { tenant, .. } = world();
    let current = tenant.remember(speed("900", "10")).expect("remembered");
    let late = tenant.remember(speed("700", "01")).expect("remembered");
    assert_eq!(late.outcome, Outcome::Created);
    assert_eq!(held(&tenant), ["The pump runs at 900 rpm."]);
    let card = tenant.get(&Get { id: late.id, ..Get::default() }).expect("there");
    assert_eq!((card.state, card.superseded_by), (State::Superseded, Some(current.id)));
    let then = List { as_of: Some(time("2025-06-05T00:00:00Z")), ..List::default() };
    let page = tenant.list(&then).expect("a list");
    assert_eq!(page.cards.iter().map(|card| card.id).collect::<Vec<_>>(), [late.id]);
    // Told once more with its date it is the same telling; a newer value replaces as ever.
    assert_eq!(tenant.remember(speed("700", "01")).expect("remembered").id, late.id);
    assert_eq!(tenant.remember(speed("950", "15")).expect("remembered").outcome, Outcome::Superseded);
    assert_eq!(held(&tenant), ["The pump runs at 950 rpm."]);
    // Without a date it is told as of now.
    let undated = Remember { occurred_at: None, ..speed("700", "01") };
    assert_eq!(tenant.remember(undated).expect("remembered").outcome, Outcome::Superseded);
    assert_eq!(held(&tenant), ["The pump runs at 700 rpm."]);
}

#[test]
fn what_is_forgotten_is_gone_now_but_was_known_then() {
    let World { tenant, clock, .. } = world();
    let id = tenant.remember(speed("900", "10")).expect("remembered").id;
    let known_at = Some(tenant.store().clock().now());
    memcards::Clock::set(clock.as_ref(), time("2025-06-21T08:00:00Z")).expect("a manual clock");
    tenant
        .forget(Forget { id: Some(id), reason: Some("asked to".into()), ..Forget::default() })
        .expect("forgotten");
    let question = Recall { query: Some("how fast is the pump?".into()), ..Recall::default() };
    assert!(tenant.recall(question.clone()).expect("recalled").hits.is_empty());
    assert!(matches!(tenant.get(&Get { id, ..Get::default() }), Err(Error::NotFound { .. })));
    assert_eq!(tenant.recall(Recall { known_at, ..question.clone() }).expect("recalled").hits.len(), 1);
    let include = vec![Include::Forgotten];
    assert_eq!(tenant.recall(Recall { include, ..question }).expect("recalled").hits.len(), 1);
    // The record of who changed what, and why, stays.
    let history = tenant.history(&History { id }).expect("a history");
    assert_eq!(
        history.versions.last().and_then(|version| version.card.reason.why.as_deref()),
        Some("asked to")
    );
}

#[test]
fn restoring_does_not_double_what_was_said_again() {
    let World { tenant, .. } = world();
    let first = tenant.remember(speed("900", "10")).expect("remembered").id;
    tenant.forget(Forget { id: Some(first), ..Forget::default() }).expect("forgotten");
    let second = tenant.remember(speed("900", "10")).expect("remembered").id;
    assert_ne!(first, second);
    let restored = tenant.restore(Restore { ids: vec![first], ..Restore::default() }).expect("answered");
    assert!(restored.restored.is_empty());
    assert_eq!(restored.skipped[0].why, "said_again");
    assert_eq!(held(&tenant).len(), 1);
}

#[test]
fn notes_of_one_session_lend_nothing_to_each_other() {
    let World { tenant, .. } = world();
    let note = |content: &str| Remember {
        content: content.into(),
        session: Some("s".into()),
        ..Remember::default()
    };
    for content in ["The kiln is an A1605.", "Guests take off their shoes.", "The tea is oolong."] {
        tenant.remember(note(content)).expect("remembered");
    }
    let question = Recall {
        query: Some("which kiln is it?".into()),
        explain: true,
        min_score: Some(0.0),
        ..Recall::default()
    };
    let hits = tenant.recall(question).expect("recalled").hits;
    assert_eq!(hits[0].card.content, "The kiln is an A1605.");
    let rest: Vec<f32> = hits[1..].iter().filter_map(|hit| Some(hit.parts.as_ref()?.context)).collect();
    assert_eq!(rest, [0.0, 0.0]);
}

#[test]
fn a_value_that_begins_later_leaves_the_present_one_in_place_until_then() {
    let World { tenant, clock, .. } = world();
    let rent = |content: &str, valid_from: Option<&str>| Remember {
        content: content.into(),
        merge_key: Some("rent".into()),
        valid_from: valid_from.map(time),
        ..Remember::default()
    };
    let today = tenant.remember(rent("The rent is 900", None)).expect("remembered");
    let later = tenant.remember(rent("The rent is 1000", Some("2025-09-01T00:00:00Z"))).expect("remembered");
    assert_eq!(later.outcome, Outcome::Superseded);
    assert_eq!(later.affected[1].change, "succeeded");
    let question = || Recall { query: Some("how much is the rent?".into()), ..Recall::default() };
    let answers = |request: Recall| -> Vec<String> {
        let hits = tenant.recall(request).expect("recalled").hits;
        hits.into_iter().map(|hit| hit.card.card.content).collect()
    };
    assert_eq!(answers(question()), ["The rent is 900"]);
    assert_eq!(held(&tenant), ["The rent is 900"]);
    let then = Some(time("2025-10-01T00:00:00Z"));
    assert_eq!(answers(Recall { as_of: then, ..question() }), ["The rent is 1000"]);
    memcards::Clock::set(clock.as_ref(), time("2025-10-01T00:00:00Z")).expect("a manual clock");
    assert_eq!(answers(question()), ["The rent is 1000"]);
    let before = Some(time("2025-07-01T00:00:00Z"));
    assert_eq!(answers(Recall { as_of: before, ..question() }), ["The rent is 900"]);
    // Named, both are there; a third value replaces both.
    assert!(tenant.get(&Get { id: today.id, ..Get::default() }).is_ok());
    tenant.remember(rent("The rent is 950", None)).expect("remembered");
    assert_eq!(held(&tenant), ["The rent is 950"]);
}

#[test]
fn restoring_does_not_bring_back_what_was_replaced_meanwhile() {
    let World { tenant, .. } = world();
    let first = tenant.remember(speed("900", "10")).expect("remembered").id;
    tenant.forget(Forget { id: Some(first), ..Forget::default() }).expect("forgotten");
    tenant.remember(speed("950", "12")).expect("remembered");
    let restored = tenant.restore(Restore { ids: vec![first], ..Restore::default() }).expect("answered");
    assert_eq!((restored.restored.len(), restored.skipped[0].why.as_ref()), (0, "replaced"));
    assert_eq!(held(&tenant), ["The pump runs at 950 rpm."]);
}

#[test]
fn vectors_of_the_caller_rank_by_cosine_down_to_the_last() {
    let World { tenant, .. } = world();
    let vector = |n: usize| vec![(n as f32 * 0.7).cos(), (n as f32 * 0.7).sin()];
    let mut angles: Vec<(usize, f32)> = Vec::new();
    for n in 0..9 {
        let content = format!("entry {n}");
        tenant
            .remember(Remember { content, vector: Some(vector(n)), ..Remember::default() })
            .expect("remembered");
        angles.push((n, (n as f32 * 0.7).cos()));
    }
    angles.sort_by(|a, b| b.1.total_cmp(&a.1));
    let request = Recall { vector: Some(vec![1.0, 0.0]), top: Some(9), ..Recall::default() };
    let hits = tenant.recall(request).expect("recalled").hits;
    let found: Vec<String> = hits.into_iter().map(|hit| hit.card.card.content).collect();
    assert_eq!(found, angles.iter().map(|(n, _)| format!("entry {n}")).collect::<Vec<_>>());
}
