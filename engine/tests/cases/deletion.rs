//! Kinds 7 to 10: what is forgotten is gone, and nothing else is.

use memcards::card::{CardId, State};
use memcards::{Count, Forget, Get, Include, Outcome, Recall, Remember, Restore};
use serde_json::json;

use crate::support::{
    EVERYTHING, Fixture, active, all_cards, ask, contents, filter, forget, get, question, said_in, say, text,
};

fn forget_session(session: &str) -> Forget {
    Forget { filter: Some(filter(json!({"field": "session", "eq": session}))), ..Forget::default() }
}

#[test]
fn emptying_one_tenant_leaves_the_other_searchable() {
    let fixture = Fixture::new();
    let (left, right) = (fixture.tenant("left"), fixture.tenant("right"));
    for tenant in [&left, &right] {
        for words in ["The attic holds the skis", "阁楼里有滑雪板", "The skis need wax"] {
            say(tenant, words);
        }
    }
    let before = serde_json::to_string(&right.recall(question("skis 滑雪板")).unwrap()).unwrap();
    let everything =
        Forget { filter: Some(filter(json!({"field": "content", "exists": true}))), ..Forget::default() };
    assert_eq!(left.forget(everything).unwrap().forgotten.len(), 3);
    assert!(ask(&left, "skis 滑雪板").is_empty());
    assert_eq!(serde_json::to_string(&right.recall(question("skis 滑雪板")).unwrap()).unwrap(), before);
    assert_eq!(active(&right).len(), 3);
}

#[test]
fn no_value_of_a_filter_stands_for_everything() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    tenant.remember(Remember { tags: vec!["a".into()], ..said_in("s-1", "The gate code is 4417") }).unwrap();
    for value in ["*", "%", "s-*", "s-%", ".*", "?", "s_1", "", " ", "null", "true", "S-1"] {
        for field in ["session", "tags", "content", "category", "speaker", "attributes.a"] {
            for operator in ["eq", "contains"] {
                if operator == "contains" && (field == "content" && " ?".contains(value)) {
                    continue;
                }
                let Ok(filter) = memcards::filter::Filter::parse(&json!({"field": field, operator: value}))
                else {
                    continue;
                };
                let answer = tenant.forget(Forget { filter: Some(filter), ..Forget::default() }).unwrap();
                assert!(
                    answer.forgotten.is_empty() && answer.detached.is_empty(),
                    "{field} {operator} {value:?}"
                );
            }
        }
    }
    for json in
        [json!({}), json!({"and": []}), json!({"or": []}), json!({"not": {}}), json!("*"), json!(null)]
    {
        assert!(memcards::filter::Filter::parse(&json).is_err(), "{json}");
    }
    assert_eq!(tenant.forget(Forget::default()).unwrap_err().code(), "invalid_argument");
    assert_eq!(active(&tenant).len(), 1);
}

#[test]
fn a_fact_told_in_two_sessions_outlives_either_of_them() {
    for words in ["Tomas is allergic to walnuts", "小陈对核桃过敏"] {
        for gone in ["june", "july"] {
            let fixture = Fixture::new();
            let tenant = fixture.tenant("t");
            let first = tenant.remember(said_in("june", words)).unwrap();
            fixture.pass("30d");
            let second = tenant.remember(said_in("july", words)).unwrap();
            assert_eq!(first.id, second.id);
            tenant.remember(said_in(gone, "Something said only here")).unwrap();
            let planned = tenant.forget(Forget { dry_run: true, ..forget_session(gone) }).unwrap();
            let done = tenant.forget(forget_session(gone)).unwrap();
            assert_eq!((&planned.forgotten, &planned.detached), (&done.forgotten, &done.detached));
            assert_eq!((done.forgotten.len(), done.detached.as_slice()), (1, &[first.id][..]));
            let card = get(&tenant, first.id).unwrap();
            let left = if gone == "june" { "july" } else { "june" };
            assert_eq!((card.state, card.session.as_deref()), (State::Active, Some(left)));
            assert_eq!(ask(&tenant, words), [words]);
            // With its last session the fact goes.
            assert_eq!(tenant.forget(forget_session(left)).unwrap().forgotten, [first.id]);
            assert!(ask(&tenant, words).is_empty());
        }
    }
}

#[test]
fn a_fact_told_outside_of_sessions_outlives_the_session_that_repeats_it() {
    for session_first in [true, false] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let words = "The boiler is serviced in autumn";
        let mut requests = [said_in("chat", words), text(words)];
        if !session_first {
            requests.reverse();
        }
        for request in requests {
            tenant.remember(request).unwrap();
            fixture.pass("2h");
        }
        let answer = tenant.forget(forget_session("chat")).unwrap();
        assert!(answer.forgotten.is_empty(), "session first: {session_first}");
        assert_eq!(active(&tenant), [words]);
        assert!(tenant.forget(forget_session("chat")).unwrap().detached.is_empty(), "nothing of it is left");
    }
}

#[test]
fn a_forgotten_card_takes_no_place_among_the_hits() {
    for (left, right, query) in [
        (
            "The spare fuses are in the red tin",
            "The spare fuses are behind the red tin",
            "where are the spare fuses?",
        ),
        ("备用保险丝在红色铁盒里", "备用保险丝在红色铁盒后面", "备用保险丝在哪里"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        say(&tenant, left);
        say(&tenant, right);
        let top = |tenant: &memcards::Tenant| {
            tenant.recall(Recall { top: Some(1), ..question(query) }).unwrap().hits.pop().unwrap().card
        };
        let first = top(&tenant);
        tenant.forget(forget(first.id)).unwrap();
        let second = top(&tenant);
        assert_ne!(first.id, second.id);
        assert!([left, right].contains(&second.content.as_str()));
        drop(tenant);
        let fixture = fixture.reopen();
        let tenant = fixture.tenant("t");
        assert_eq!(top(&tenant).id, second.id, "after opening again");
        tenant.restore(Restore { id: Some(first.id), ..Restore::default() }).unwrap();
        assert_eq!(top(&tenant).id, first.id, "restored");
    }
}

#[test]
fn a_forgotten_card_is_in_no_read() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let old = say(&tenant, "The wolfram lamp is allowed");
    fixture.pass("1h");
    let new = say(&tenant, "The wolfram lamp is not allowed");
    let before = fixture.clock_now();
    fixture.pass("1h");
    for id in [old.id, new.id] {
        tenant.forget(forget(id)).unwrap();
        fixture.pass("1h");
    }
    let now = fixture.clock_now();
    let visible = [Include::Superseded, Include::Archived, Include::Candidates];
    for as_of in [None, Some(before), Some(now)] {
        let request = Recall { as_of, include: visible.into(), ..question("wolfram lamp") };
        assert!(tenant.recall(request).unwrap().hits.is_empty());
        assert_eq!(tenant.count(&Count { as_of, include: visible.into(), ..Count::default() }).unwrap(), 0);
    }
    for id in [old.id, new.id] {
        assert_eq!(get(&tenant, id).unwrap_err().code(), "not_found");
        let correct = memcards::Correct { id, importance: Some(1.0), ..memcards::Correct::default() };
        assert_eq!(tenant.correct(correct).unwrap_err().code(), "not_found");
        // Asked for by name and state it is there, with all that happened to it.
        let included = Get { id, include: vec![Include::Forgotten], ..Get::default() };
        assert_eq!(tenant.get(&included).unwrap().state, State::Forgotten);
        let history = memcards::History { id };
        let versions = tenant.history(&history).unwrap().versions;
        assert_eq!(versions.last().unwrap().card.reason.action, "forgotten");
    }
    let request = Recall { include: EVERYTHING.into(), ..question("wolfram lamp") };
    assert_eq!(contents(&tenant.recall(request).unwrap()).len(), 2);
}

#[test]
fn history_leaves_out_forgotten_relatives() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let old = say(&tenant, "Parking in the yard is allowed");
    fixture.pass("1h");
    let new = say(&tenant, "Parking in the yard is not allowed");
    tenant.forget(forget(old.id)).unwrap();
    assert_eq!(crate::support::past(&tenant, new.id), ["Parking in the yard is not allowed"]);
}

#[test]
fn forgetting_says_what_it_did() {
    let fixture = Fixture::new();
    let (tenant, other) = (fixture.tenant("t"), fixture.tenant("u"));
    let (mine, kept) =
        (say(&tenant, "The loft key is copper").id, say(&tenant, "The cellar key is steel").id);
    let theirs = say(&other, "The shed key is brass").id;
    let unknown: CardId = "0123456789abcdef0123456789abcdef".parse().unwrap();

    assert_eq!(tenant.forget(forget(mine)).unwrap().forgotten, [mine]);
    let again = tenant.forget(forget(mine)).unwrap();
    assert!(again.forgotten.is_empty());
    assert_eq!((again.skipped[0].id, again.skipped[0].why.as_ref()), (mine, "already_forgotten"));

    for id in [unknown, theirs] {
        let error = tenant.forget(forget(id)).unwrap_err();
        assert_eq!((error.code(), error.to_string()), ("not_found", format!("card {id} not found")));
        // One that is missing among several: nothing is done.
        let several = Forget { ids: vec![kept, id], ..Forget::default() };
        assert_eq!(tenant.forget(several).unwrap_err().code(), "not_found");
        let restore = Restore { id: Some(id), ..Restore::default() };
        assert_eq!(tenant.restore(restore).unwrap_err().to_string(), format!("card {id} not found"));
    }
    assert_eq!(fixture.tenant("nobody").forget(forget(mine)).unwrap_err().code(), "not_found");
    assert_eq!(get(&tenant, kept).unwrap().state, State::Active);
    assert_eq!(get(&other, theirs).unwrap().state, State::Active);

    let twice = tenant.forget(Forget { ids: vec![kept, kept], ..Forget::default() }).unwrap();
    assert_eq!((twice.forgotten, twice.skipped.len()), (vec![kept], 0));
    let back = tenant.restore(Restore { ids: vec![kept, mine, kept], ..Restore::default() }).unwrap();
    assert_eq!(back.restored, [kept, mine]);
    let again = tenant.restore(Restore { id: Some(kept), ..Restore::default() }).unwrap();
    assert_eq!((again.restored.len(), again.skipped[0].why.as_ref()), (0, "not_forgotten"));
}

#[test]
fn a_dry_run_changes_nothing() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = tenant.remember(said_in("s", "The pond has nine carp")).unwrap().id;
    let before = tenant.statistics().unwrap();
    for request in [Forget { dry_run: true, ..forget(id) }, Forget { dry_run: true, ..forget_session("s") }] {
        let answer = tenant.forget(request).unwrap();
        assert_eq!((answer.forgotten, answer.dry_run), (vec![id], true));
    }
    assert_eq!(tenant.statistics().unwrap(), before);
}

#[test]
fn restoring_gives_back_the_state_before() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let old = say(&tenant, "Use the side entrance").id;
    fixture.pass("1h");
    let new = say(&tenant, "Do not use the side entrance").id;
    tenant.forget(Forget { ids: vec![old, new], ..Forget::default() }).unwrap();
    assert_eq!(all_cards(&tenant), 2);
    tenant.restore(Restore { ids: vec![old, new], ..Restore::default() }).unwrap();
    assert_eq!(get(&tenant, old).unwrap().state, State::Superseded);
    assert_eq!(get(&tenant, new).unwrap().state, State::Active);
    assert_eq!(ask(&tenant, "side entrance"), ["Do not use the side entrance"]);
}

#[test]
fn what_is_told_again_after_it_was_forgotten_is_a_new_card() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let first = say(&tenant, "The well is twelve metres deep");
    tenant.forget(forget(first.id)).unwrap();
    let second = say(&tenant, "The well is twelve metres deep");
    assert_eq!(second.outcome, Outcome::Created);
    assert_ne!(first.id, second.id);
    assert_eq!(active(&tenant).len(), 1);
    // Two cards of one statement would count it twice: the other one holds it already.
    let answer = tenant.restore(Restore { id: Some(first.id), ..Restore::default() }).unwrap();
    assert!(answer.restored.is_empty());
    assert_eq!((answer.skipped[0].id, answer.skipped[0].why.as_ref()), (first.id, "said_again"));
    assert_eq!(active(&tenant).len(), 1);
}

#[test]
fn what_another_speaker_told_meanwhile_does_not_keep_a_card_forgotten() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let by = |speaker: &str| {
        let speaker = Some(speaker.to_owned());
        tenant.remember(Remember { speaker, ..text("I sleep badly in summer") }).unwrap().id
    };
    let first = by("Rosa");
    tenant.forget(forget(first)).unwrap();
    let other = by("Emil");
    let answer = tenant.restore(Restore { id: Some(first), ..Restore::default() }).unwrap();
    assert_eq!(answer.restored, [first]);
    assert_eq!((by("Rosa"), by("Emil")), (first, other));
}

#[test]
fn by_condition_pinned_cards_stay_and_by_name_they_go() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let pinned =
        tenant.remember(Remember { pinned: true, ..said_in("s", "Blood type is B negative") }).unwrap().id;
    let answer = tenant.forget(forget_session("s")).unwrap();
    assert_eq!((answer.forgotten.len(), answer.skipped[0].why.as_ref()), (0, "pinned"));
    assert_eq!(tenant.forget(forget(pinned)).unwrap().forgotten, [pinned]);
}
