//! Retries, keys and typed facts: what a write replaces, and that it happens once.

use memcards::card::{Fact, Polarity, Provenance, State};
use memcards::{Correct, Count, How, Outcome, Remember, Tenant};

use crate::support::{Fixture, active, all_cards, ask, get, say, text};

fn fact(entity: &str, attribute: &str, value: &str) -> Option<Fact> {
    Some(Fact { entity: entity.into(), attribute: attribute.into(), value: value.into() })
}

#[test]
fn a_retry_with_the_same_key_changes_nothing() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let request = |content: &str| Remember { idempotency_key: Some("request-17".into()), ..text(content) };
    let first = tenant.remember(request("The concert is sold out")).unwrap();
    let before = tenant.statistics().unwrap();
    for content in ["The concert is sold out", "The concert is not sold out", "Quite another text"] {
        let again = tenant.remember(request(content)).unwrap();
        assert_eq!((again.id, again.outcome, again.affected.len()), (first.id, Outcome::Duplicate, 0));
    }
    assert_eq!(tenant.statistics().unwrap(), before);
    assert_eq!(get(&tenant, first.id).unwrap().mention_count, 1);
    // Also when the first answer came in the same batch, or before the store was closed.
    let answers = tenant
        .remember_all(vec![Remember { idempotency_key: Some("b".into()), ..text("Bring cups") }; 3])
        .unwrap();
    let ids: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    drop(tenant);
    let fixture = fixture.reopen();
    assert_eq!(fixture.tenant("t").remember(request("The concert is sold out")).unwrap().id, first.id);
    assert_eq!(all_cards(&fixture.tenant("t")), 2);
}

#[test]
fn a_refused_request_does_not_use_up_its_key() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let request = |content: &str| Remember { idempotency_key: Some("k".into()), ..text(content) };
    assert!(tenant.remember(request(" ")).is_err());
    assert_eq!(tenant.remember(request("The fuse is blown")).unwrap().outcome, Outcome::Created);
}

#[test]
fn one_refused_request_does_not_keep_the_others_out() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let bad = Remember { importance: Some(7.0), ..text("Too important") };
    let answers =
        tenant.remember_all(vec![text("The kiln is hot"), text(""), bad, text("窑炉很热")]).unwrap();
    let good: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, false, true]);
    assert_eq!(active(&tenant).len(), 2);
}

#[test]
fn a_merge_key_holds_one_value() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let keyed = |content: &str| {
        tenant.remember(Remember { merge_key: Some("style.greeting".into()), ..text(content) }).unwrap()
    };
    let formal = keyed("Greets guests formally");
    fixture.pass("1h");
    let casual = keyed("Says hello like to old friends");
    assert_eq!(casual.outcome, Outcome::Superseded);
    fixture.pass("1h");
    let chinese = keyed("问候客人时用敬语");
    assert_eq!(chinese.outcome, Outcome::Superseded);
    assert_eq!(active(&tenant), ["问候客人时用敬语"]);
    assert_eq!(get(&tenant, formal.id).unwrap().superseded_by, Some(casual.id));
    let again = keyed("问候客人时用敬语。");
    assert_eq!((again.id, again.outcome), (chinese.id, Outcome::Merged));
    // Another key is another thing, and a forgotten holder holds nothing.
    let other = Remember { merge_key: Some("style.farewell".into()), ..text("Waves goodbye from the gate") };
    assert_eq!(tenant.remember(other).unwrap().outcome, Outcome::Created);
    tenant.forget(crate::support::forget(chinese.id)).unwrap();
    assert_eq!(keyed("Bows slightly").outcome, Outcome::Created);
}

#[test]
fn a_newer_value_of_a_typed_fact_replaces_the_older() {
    for (entity, attribute, old, new) in [
        ("Priya", "desk", "14-B", "22-C"),
        ("李娜", "职位", "工程师", "经理"),
        ("Gate 4", "opens", "07:00", "06:30"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let told = |value: &str, words: &str| {
            tenant.remember(Remember { fact: fact(entity, attribute, value), ..text(words) }).unwrap()
        };
        let first = told(old, &format!("{entity}: {old}"));
        fixture.pass("1h");
        let same = told(old, &format!("As before, {entity} has {attribute} {old}"));
        assert_eq!(same.id, first.id, "the same value in other words");
        let second = told(new, &format!("There is news of {entity}, namely {new}"));
        assert_eq!(second.outcome, Outcome::Superseded, "{entity}");
        // The name in another case is the same name.
        let third = Remember {
            fact: fact(&entity.to_uppercase(), &attribute.to_uppercase(), old),
            ..text(&format!("Back to {old} for {entity}"))
        };
        assert_eq!(tenant.remember(third).unwrap().outcome, Outcome::Superseded);
        assert_eq!(tenant.count(&Count::default()).unwrap(), 1);
        // Another person's fact of the same kind is left alone.
        let other = Remember { fact: fact("Somebody Else", attribute, new), ..text("Somebody Else as well") };
        assert_eq!(tenant.remember(other).unwrap().outcome, Outcome::Created);
        assert_eq!(tenant.count(&Count::default()).unwrap(), 2);
    }
}

fn guess(content: &str) -> Remember {
    Remember { provenance: Some(Provenance::Inferred), ..text(content) }
}

#[test]
fn a_guess_does_not_overturn_what_was_said_nor_shield_it_from_the_next_statement() {
    type Keyed = fn(&mut Remember, &str);
    let ways: [(&str, Keyed); 2] = [
        ("fact", |request, value| request.fact = fact("bike", "lock", value)),
        ("merge key", |request, _| request.merge_key = Some("bike.lock".into())),
    ];
    for (way, change) in ways {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let tell = |mut request: Remember, value: &str| {
            change(&mut request, value);
            fixture.pass("1h");
            tenant.remember(request).unwrap()
        };
        let stated = tell(text("Opens with the number 204"), "204");
        let guessed = tell(guess("Perhaps one needs 311 for it"), "311");
        assert_eq!(get(&tenant, stated.id).unwrap().state, State::Active, "{way}");
        assert_eq!(get(&tenant, guessed.id).unwrap().state, State::Candidate, "{way}");
        tell(text("We set the digits to 557"), "557");
        assert_eq!(active(&tenant), ["We set the digits to 557"], "{way}");
        assert_eq!(get(&tenant, stated.id).unwrap().state, State::Superseded, "{way}");
        assert_eq!(get(&tenant, guessed.id).unwrap().state, State::Superseded, "{way}");
    }
}

#[test]
fn an_exclusion_and_its_contrary_are_opposites() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let polar = |polarity: Polarity, content: &str| {
        tenant.remember(Remember { polarity: Some(polarity), ..text(content) }).unwrap()
    };
    let yes = polar(Polarity::Affirmed, "Model Falcon for the roof job");
    fixture.pass("1h");
    let no = polar(Polarity::Excluded, "Model Falcon for the roof job");
    assert_ne!(yes.id, no.id);
    assert_eq!(no.outcome, Outcome::Superseded);
    assert_eq!(get(&tenant, no.id).unwrap().polarity, Polarity::Excluded);
    assert_eq!(tenant.count(&Count::default()).unwrap(), 1);
}

fn correct(tenant: &Tenant, request: Correct) -> memcards::Result<memcards::Corrected> {
    tenant.correct(request)
}

#[test]
fn a_correction_replaces_narrows_or_stands_beside() {
    for (how, kept) in [(How::Negation, 1), (How::Scope, 2), (How::Ambiguous, 2)] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let old = say(&tenant, "The pool is open every day").id;
        let neighbour = say(&tenant, "The pool has six lanes").id;
        fixture.pass("1h");
        let content = Some("The pool is open every day in summer".to_owned());
        let new = correct(&tenant, Correct { id: old, how, content, ..Correct::default() }).unwrap();
        assert_eq!(active(&tenant).len(), kept + 1, "{how:?}");
        assert_eq!(
            ask(&tenant, "when is the pool open in summer?")[0],
            "The pool is open every day in summer"
        );
        assert_eq!(get(&tenant, neighbour).unwrap().version, 1, "its neighbour is untouched");
        assert!(get(&tenant, old).unwrap().links.iter().any(|link| link.to == new.id), "linked both ways");
        assert!(get(&tenant, new.id).unwrap().links.iter().any(|link| link.to == old));
    }
}

#[test]
fn a_correction_of_a_version_that_has_moved_on_is_refused() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = say(&tenant, "The jar holds 500 grams").id;
    let set = |version: Option<u32>, importance: f32| {
        correct(&tenant, Correct { id, version, importance: Some(importance), ..Correct::default() })
    };
    assert_eq!(set(Some(1), 0.7).unwrap().version, 2);
    assert_eq!(set(Some(1), 0.8).unwrap_err().code(), "conflict");
    assert_eq!(set(None, 0.8).unwrap().version, 3);
    let rewrite = |id, content: &str| {
        correct(&tenant, Correct { id, content: Some(content.into()), ..Correct::default() })
    };
    let new = rewrite(id, "The jar holds 750 grams").unwrap();
    let error = rewrite(id, "The jar holds 800 grams").unwrap_err();
    assert_eq!(error.code(), "conflict");
    assert!(error.to_string().contains(&new.id.to_string()), "it names the successor: {error}");
    assert_eq!(active(&tenant), ["The jar holds 750 grams"]);
    let nothing = correct(&tenant, Correct { id: new.id, ..Correct::default() }).unwrap_err();
    assert_eq!(nothing.code(), "invalid_argument");
}

#[test]
fn of_many_corrections_at_once_each_wins_or_is_told_to_read_again() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = say(&tenant, "The scoreboard shows nil").id;
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..16)
            .map(|number| {
                let tenant = &tenant;
                let content = Some(format!("The scoreboard shows {number}"));
                scope.spawn(move || tenant.correct(Correct { id, content, ..Correct::default() }))
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(
        outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).all(|error| error.code() == "conflict")
    );
    assert_eq!(active(&tenant).len(), 1);
}
