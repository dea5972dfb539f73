//! What came in by imports and cannot both hold: the later in time takes the place of the earlier,
//! by a plan, and what somebody took back is left alone.

use memcards::card::{CardId, Fact, LinkKind, Polarity, State};
use memcards::{Action, Correct, Get, MakePlan, Planned, Remember, Tenant, Undo};

use crate::merging::{apply, imported, snapshot};
use crate::support::{EVERYTHING, active, ask, said_in, text};

fn plan(tenant: &Tenant) -> Planned {
    let rules = vec![Action::Merge, Action::Supersede];
    tenant.plan(&MakePlan { rules, consent: true, ..MakePlan::default() }).unwrap()
}

fn whole(tenant: &Tenant, id: CardId) -> memcards::card::Card {
    tenant.get(&Get { id, include: EVERYTHING.into(), ..Get::default() }).unwrap().card
}

fn colour(session: &str, value: &str) -> Remember {
    let fact = Fact { entity: "Boat".into(), attribute: "Colour".into(), value: value.into() };
    Remember { fact: Some(fact), ..said_in(session, &format!("They painted it {value} in the yard.")) }
}

#[test]
fn of_two_contrary_statements_the_later_holds_and_an_undo_is_the_last_word() {
    for (first, second) in [
        ("Smoking is allowed on the terrace.", "Smoking is not allowed on the terrace."),
        ("会议室可以吃东西", "会议室不可以吃东西"),
    ] {
        let fixture = imported(vec![said_in("s1", first), said_in("s2", second)]);
        let anna = fixture.tenant("anna");
        assert_eq!(active(&anna).len(), 2, "{first}");
        let before = snapshot(&anna);
        let planned = plan(&anna);
        assert_eq!(planned.items.len(), 1, "{planned:#?}");
        let (old, new) = (planned.items[0].item.id, planned.items[0].item.into.unwrap());
        assert_eq!(planned.items[0].item.action, Action::Supersede);
        let applied = apply(&anna, &planned);
        assert_eq!((applied.totals.applied, active(&anna)), (1, vec![second.to_owned()]));
        let (old_card, new_card) = (whole(&anna, old), whole(&anna, new));
        assert_eq!((old_card.state, old_card.superseded_by()), (State::Superseded, Some(new)));
        assert_eq!(old_card.confidence, 0.1, "it is overturned");
        assert!(new_card.links.iter().any(|link| link.to == old && link.kind == LinkKind::Supersedes));
        assert_eq!(ask(&anna, first).first().map(String::as_str), Some(second));
        assert!(plan(&anna).items.is_empty());
        anna.undo(Undo { run: Some(applied.run), ..Undo::default() }).unwrap();
        assert_eq!(snapshot(&anna), before);
        // Both are as they were, and nobody proposes it again, until one of them changes.
        fixture.pass("1h");
        assert!(plan(&anna).items.is_empty(), "{first}");
        drop(anna);
        let fixture = fixture.reopen();
        let anna = fixture.tenant("anna");
        assert!(plan(&anna).items.is_empty(), "{first}");
        anna.correct(Correct { id: new, importance: Some(0.9), ..Correct::default() }).unwrap();
        assert_eq!(plan(&anna).items.len(), 1, "{first}");
        assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
    }
}

#[test]
fn of_the_values_of_one_fact_the_newest_takes_the_place_of_all() {
    let fixture = imported(vec![colour("s1", "blue"), colour("s2", "green"), colour("s3", "red")]);
    let anna = fixture.tenant("anna");
    let planned = plan(&anna);
    assert_eq!(planned.items.len(), 2, "{planned:#?}");
    assert!(planned.items.iter().all(|item| item.item.into == planned.items[0].item.into));
    apply(&anna, &planned);
    assert_eq!(active(&anna), ["They painted it red in the yard."]);
    assert!(plan(&anna).items.is_empty());
    // The look-up of the fact leads to the card that holds.
    let again = anna.remember(colour("s4", "red")).unwrap();
    assert_eq!(Some(again.id), planned.items[0].item.into);
    assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
}

#[test]
fn what_can_both_be_true_is_left_alone() {
    let other = |value: &str| Remember {
        fact: Some(Fact { entity: "Dinghy".into(), attribute: "Colour".into(), value: value.into() }),
        ..said_in("s2", "The yard painted the dinghy as well.")
    };
    let speaker =
        |name: &str, content: &str| Remember { speaker: Some(name.into()), ..said_in("s1", content) };
    let excluded = Remember { polarity: Some(Polarity::Affirmed), ..text("Nora likes tulips.") };
    for pair in [
        vec![colour("s1", "blue"), other("red")],
        vec![speaker("Ann", "Smoking is allowed here."), speaker("Bob", "Smoking is not allowed here.")],
        vec![excluded, text("Nora likes roses.")],
        vec![Remember { pinned: true, ..colour("s1", "blue") }, colour("s2", "red")],
        vec![
            said_in("s1", "Smoking is allowed here."),
            Remember { confidence: Some(0.5), ..said_in("s2", "Smoking is not allowed here.") },
        ],
    ] {
        let words: Vec<String> = pair.iter().map(|request| request.content.clone()).collect();
        let fixture = imported(pair);
        let planned = plan(&fixture.tenant("anna"));
        assert!(planned.items.is_empty(), "{words:?}: {planned:#?}");
    }
}

#[test]
fn a_merge_that_was_taken_back_is_not_proposed_again() {
    let fixture = imported(vec![
        said_in("s1", "The spare key is under the blue pot."),
        said_in("s2", "the spare key is under the blue pot"),
    ]);
    let anna = fixture.tenant("anna");
    let planned = plan(&anna);
    let applied = apply(&anna, &planned);
    assert_eq!(applied.totals.applied, 1);
    anna.undo(Undo { run: Some(applied.run), ..Undo::default() }).unwrap();
    fixture.pass("1h");
    assert!(plan(&anna).items.is_empty());
    // To use one of them is no change of what it says.
    let used = vec![planned.items[0].item.id];
    anna.feedback(memcards::Feedback { used, ..memcards::Feedback::default() }).unwrap();
    assert!(plan(&anna).items.is_empty());
    let id = planned.items[0].item.into.unwrap();
    anna.correct(Correct { id, summary: Some("spare key: blue pot".into()), ..Correct::default() }).unwrap();
    assert_eq!(plan(&anna).items.len(), 1);
}
