//! What was true at an instant: the wrong statement and the right one never both.

use std::sync::Arc;

use memcards::{Clock, Correct, List, ManualClock, Options, Remember, Store, Tenant, Timestamp};

const EARLY: &str = "2025-03-01T08:00:00Z";
const LATE: &str = "2025-03-20T08:00:00Z";
const AFTER: &str = "2025-03-25T08:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn contents(tenant: &Tenant, as_of: &str) -> Vec<String> {
    let page = tenant.list(&List { as_of: Some(time(as_of)), ..List::default() }).expect("a list");
    page.cards.iter().map(|card| card.content.clone()).collect()
}

/// Remembers, corrects at `corrected`, and gives what was true then and afterwards.
fn corrected(request: Remember, corrected: &str) -> [Vec<String>; 2] {
    let directory = tempfile::tempdir().expect("a directory");
    let clock = Arc::new(ManualClock::new(time(EARLY)));
    let options = Options { clock: clock.clone(), ..Options::default() };
    let store = Store::open(directory.path(), options).expect("a store");
    let tenant = store.tenant("t").expect("a tenant");
    let id = tenant.remember(request).expect("remembered").id;
    clock.set(time(corrected)).expect("a manual clock");
    let content = Some("The fair is in the park.".to_owned());
    tenant.correct(Correct { id, content, ..Correct::default() }).expect("corrected");
    clock.set(time(AFTER)).expect("a manual clock");
    [contents(&tenant, corrected), contents(&tenant, AFTER)]
}

#[test]
fn a_card_corrected_before_it_began_was_never_true() {
    let wrong = || Remember { content: "The fair is in the town hall.".into(), ..Remember::default() };
    let right = || vec!["The fair is in the park.".to_owned()];
    // At the very instant, before the event, and before a stretch with an end of its own.
    assert_eq!(corrected(wrong(), EARLY), [right(), right()]);
    let event = Remember { occurred_at: Some(time(LATE)), ..wrong() };
    assert_eq!(corrected(event, "2025-03-02T08:00:00Z"), [right(), right()]);
    let stretch =
        Remember { valid_from: Some(time(LATE)), valid_to: Some(time("2025-03-28T08:00:00Z")), ..wrong() };
    let [_, after] = corrected(stretch, "2025-03-02T08:00:00Z");
    assert_eq!(after, right());
}

#[test]
fn a_card_corrected_later_was_true_until_then() {
    let wrong = Remember { content: "The fair is in the town hall.".into(), ..Remember::default() };
    let [then, after] = corrected(wrong, LATE);
    assert_eq!(
        (then.as_slice(), after.as_slice()),
        (&["The fair is in the park.".to_owned()][..], &then[..])
    );
}
