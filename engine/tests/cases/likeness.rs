//! Kinds 4, 5 and 6: what is the same is one card, what only looks alike never is.

use std::collections::BTreeSet;

use memcards::card::{CardId, Fact, Provenance, Role, State, Track};
use memcards::{Count, Outcome, Remember};

use crate::support::{Fixture, active, all_cards, ask, get, question, said_in, say, text, time};

const LOOK_ALIKES: &[(&str, &str)] = &[
    ("Board K70-12 draws 40 mA", "Board K70-13 draws 40 mA"),
    ("Board K70-12 draws 40 mA", "Board K70-12 draws 45 mA"),
    ("2025-02-01: weight 71.2 kg", "2025-02-02: weight 71.2 kg"),
    ("On 4 June Marta paid 80 euros", "On 5 June Marta paid 80 euros"),
    ("Marta collects stamps", "Martha collects stamps"),
    ("The Lyon team won the cup", "The Lille team won the cup"),
    ("Invoice R-1001 was paid", "Invoice R-1010 was paid"),
    ("Greta lent Olaf a ladder", "Olaf lent Greta a ladder"),
    ("Ship version 2.10 on Friday", "Ship version 2.1 on Friday"),
    ("主板K70-12功耗40毫瓦", "主板K70-13功耗40毫瓦"),
    ("2月1日体重71.2公斤", "2月2日体重71.2公斤"),
    ("赵敏收藏邮票", "赵明收藏邮票"),
    ("孙丽借给周强一把梯子", "周强借给孙丽一把梯子"),
    ("发票R-1001已付款", "发票R-1010已付款"),
];

#[test]
fn look_alikes_stay_two_cards_and_each_is_found_by_what_tells_it_apart() {
    for (left, right) in LOOK_ALIKES {
        for (left, right) in [(left, right), (right, left)] {
            let fixture = Fixture::new();
            let tenant = fixture.tenant("t");
            let first = say(&tenant, left);
            let second = say(&tenant, right);
            assert_eq!(second.outcome, Outcome::Created, "{left} / {right}");
            assert_ne!(first.id, second.id);
            for (id, words) in [(first.id, left), (second.id, right)] {
                let card = get(&tenant, id).unwrap();
                assert_eq!((card.state, card.content.as_str()), (State::Active, *words));
                let hits = ask(&tenant, words);
                // The order of words is for the judge; a search by words does not see it.
                match words.contains("ladder") || words.contains("梯子") {
                    true => assert_eq!(hits.len(), 2),
                    false => assert_eq!(hits.first().map(String::as_str), Some(*words)),
                }
            }
        }
    }
}

#[test]
fn the_same_words_of_different_people_or_things_are_different_cards() {
    type Change = fn(&mut Remember, &str);
    let ways: [(&str, Change); 3] = [
        ("speaker", |request, who| request.speaker = Some(who.into())),
        ("entities", |request, who| request.entities = vec![who.into()]),
        ("fact", |request, who| {
            request.fact =
                Some(Fact { entity: who.into(), attribute: "seat".into(), value: "window".into() });
        }),
    ];
    for words in ["Prefers a seat at the window", "喜欢靠窗的座位"] {
        for (way, change) in ways {
            let fixture = Fixture::new();
            let tenant = fixture.tenant("t");
            let by = |who: &str| {
                let mut request = text(words);
                change(&mut request, who);
                tenant.remember(request).unwrap()
            };
            let (nora, ivan) = (by("Nora"), by("Ivan"));
            assert_ne!(nora.id, ivan.id, "{way}: {words}");
            // Said again, each finds its own card.
            for _ in 0..3 {
                assert_eq!(by("Nora").id, nora.id, "{way}");
                assert_eq!(by("Ivan").id, ivan.id, "{way}");
            }
            assert_eq!(all_cards(&tenant), 2, "{way}");
        }
    }
}

#[test]
fn the_same_event_at_another_time_is_another_event() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let ran = |day: &str| {
        let occurred_at = Some(time(day));
        tenant
            .remember(Remember { track: Some(Track::Episodic), occurred_at, ..text("Ran six kilometres") })
            .unwrap()
    };
    let (monday, tuesday) = (ran("2025-03-03T07:00:00Z"), ran("2025-03-04T07:00:00Z"));
    assert_ne!(monday.id, tuesday.id);
    assert_eq!(ran("2025-03-04T07:00:00Z").id, tuesday.id, "told again");
    assert_eq!(ran("2025-03-04T15:00:00+08:00").id, tuesday.id, "told again from elsewhere");
    assert_eq!(all_cards(&tenant), 2);
}

#[test]
fn a_turn_is_an_event_but_a_fact_with_its_turn_is_still_a_fact() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let turn = |track: Option<Track>, session: &str, turn: u32, words: &str| {
        tenant.remember(Remember { track, turn: Some(turn), ..said_in(session, words) }).unwrap()
    };
    let (first, second) = (turn(None, "s", 1, "Yes."), turn(None, "s", 2, "Yes."));
    assert_ne!(first.id, second.id);
    assert_eq!(turn(None, "s", 1, "Yes.").id, first.id, "delivered twice");
    assert_eq!(get(&tenant, first.id).unwrap().mention_count, 1, "one turn is one mention");

    let semantic = Some(Track::Semantic);
    let fact = turn(semantic, "s", 3, "The courtyard may be used for parties");
    let again = turn(semantic, "u", 8, "The courtyard may be used for parties");
    assert_eq!((fact.id, again.outcome), (again.id, Outcome::Duplicate));
    let contrary = turn(semantic, "u", 9, "The courtyard may not be used for parties");
    assert_eq!(contrary.outcome, Outcome::Superseded);
    assert_eq!(get(&tenant, fact.id).unwrap().state, State::Superseded);
}

#[test]
fn a_hundred_threads_with_one_text_make_one_card_per_tenant() {
    for words in ["The canteen opens at half past seven", "食堂七点半开门"] {
        let fixture = Fixture::new();
        let names = ["north", "south"];
        let barrier = std::sync::Barrier::new(200);
        let ids: Vec<(usize, CardId)> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..200)
                .map(|thread| {
                    let (barrier, tenant) = (&barrier, fixture.tenant(names[thread % 2]));
                    scope.spawn(move || {
                        barrier.wait();
                        (thread % 2, say(&tenant, words).id)
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        let distinct: BTreeSet<_> = ids.into_iter().collect();
        assert_eq!(distinct.len(), 2, "one card each");
        let ids: Vec<CardId> = distinct.into_iter().map(|(_, id)| id).collect();
        assert_ne!(ids[0], ids[1]);
        for (at, name) in names.iter().enumerate() {
            let tenant = fixture.tenant(name);
            assert_eq!(get(&tenant, ids[at]).unwrap().mention_count, 100);
            assert_eq!(all_cards(&tenant), 1);
            assert!(get(&tenant, ids[1 - at]).is_err(), "the other tenant's card");
        }
        let mentions = |fixture: &Fixture| get(&fixture.tenant("north"), ids[0]).unwrap().mention_count;
        assert_eq!(mentions(&fixture.reopen()), 100, "on disk as well");
    }
}

#[test]
fn the_same_text_a_hundred_times_in_one_batch_is_one_card() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let answers = tenant.remember_all(vec![text("Ring the lower bell"); 100]).unwrap();
    assert!(answers.iter().skip(1).all(|answer| answer.as_ref().unwrap().outcome == Outcome::Duplicate));
    let id = answers[0].as_ref().unwrap().id;
    assert_eq!((get(&tenant, id).unwrap().mention_count, all_cards(&tenant)), (100, 1));
}

#[test]
fn what_a_repetition_adds_is_kept() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let first = say(&tenant, "The bakery is closed on Mondays");
    let richer = Remember {
        tags: vec!["shops".into()],
        entities: vec!["bakery".into()],
        fact: Some(Fact { entity: "bakery".into(), attribute: "closed".into(), value: "Monday".into() }),
        summary: Some("bakery closed Mondays".into()),
        pinned: true,
        ..text("The bakery is closed on Mondays")
    };
    let second = tenant.remember(richer.clone()).unwrap();
    assert_eq!((second.id, second.outcome), (first.id, Outcome::Merged));
    let card = get(&tenant, first.id).unwrap();
    assert_eq!((&card.tags, &card.entities, &card.fact), (&richer.tags, &richer.entities, &richer.fact));
    assert_eq!((card.summary.as_deref(), card.pinned), (Some("bakery closed Mondays"), true));
    // And then it counts for conflicts.
    let fact = Some(Fact { value: "Tuesday".into(), ..richer.fact.clone().unwrap() });
    let other = tenant.remember(Remember { fact, ..text("Tuesday is the bakery's day of rest") }).unwrap();
    assert_eq!(other.outcome, Outcome::Superseded);
    assert_eq!(active(&tenant), ["Tuesday is the bakery's day of rest"]);
}

#[test]
fn recalled_text_fed_back_for_many_rounds_adds_nothing() {
    type Feed = fn(&mut Remember);
    let feeders: [(&str, Feed); 5] = [
        ("plainly", |_| {}),
        ("as the assistant", |request| request.role = Some(Role::Assistant)),
        ("as a conclusion", |request| request.provenance = Some(Provenance::Inferred)),
        ("as a tool, in a session", |request| {
            request.role = Some(Role::Tool);
            request.session = Some("loop".into());
        }),
        ("as a conclusion in a session", |request| {
            request.provenance = Some(Provenance::Inferred);
            request.session = Some("loop".into());
        }),
    ];
    for (how, feed) in feeders {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        for words in
            ["I keep bees on the roof", "我在屋顶养蜂", "The bees need syrup in March", "屋顶的蜂箱有三个"]
        {
            say(&tenant, words);
        }
        let guess = tenant
            .remember(Remember { provenance: Some(Provenance::Inferred), ..text("I may like honey") })
            .unwrap();
        let before: Vec<(String, f32)> = snapshot(&tenant);
        for round in 0..30 {
            let mut request = question(if round % 2 == 0 { "bees on the roof" } else { "屋顶养蜂" });
            request.include = vec![memcards::Include::Candidates];
            let hits = tenant.recall(request).unwrap().hits;
            assert!(!hits.is_empty());
            for hit in hits {
                let mut again = text(&hit.card.content);
                feed(&mut again);
                // A plain statement by the user is evidence; an echo must not pass for one.
                if hit.card.id == guess.id && again.provenance.is_none() && again.role.is_none() {
                    continue;
                }
                tenant.remember(again).unwrap();
            }
        }
        assert_eq!(snapshot(&tenant), before, "{how}");
        assert_eq!(all_cards(&tenant), 5, "{how}");
    }

    fn snapshot(tenant: &memcards::Tenant) -> Vec<(String, f32)> {
        let page = tenant
            .list(&memcards::List { include: crate::support::EVERYTHING.into(), ..memcards::List::default() })
            .unwrap();
        page.cards.iter().map(|card| (card.content.clone(), card.confidence)).collect()
    }
}

#[test]
fn a_conclusion_repeated_at_once_stays_a_candidate_and_one_of_another_day_is_believed() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let conclude = || {
        let provenance = Some(Provenance::Inferred);
        tenant.remember(Remember { provenance, ..said_in("s", "Prefers to travel by train") }).unwrap()
    };
    let first = conclude();
    assert_eq!(first.outcome, Outcome::Candidate);
    for _ in 0..50 {
        conclude();
    }
    assert_eq!(get(&tenant, first.id).unwrap().state, State::Candidate);
    assert_eq!(tenant.count(&Count::default()).unwrap(), 0);
    fixture.pass("1d");
    conclude();
    let card = get(&tenant, first.id).unwrap();
    assert_eq!((card.state, card.confidence), (State::Active, 0.8));
    for _ in 0..50 {
        fixture.pass("1d");
        conclude();
    }
    assert_eq!(get(&tenant, first.id).unwrap().confidence, 0.8, "repetition raises no further");
}

#[test]
fn yesterday_told_on_two_days_is_two_cards() {
    for told in ["Yesterday my blood pressure was 120.", "昨天量的血压是120。"] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        assert_eq!(say(&tenant, told).outcome, Outcome::Created);
        assert_eq!(say(&tenant, told).outcome, Outcome::Duplicate, "{told}");
        fixture.pass("3d");
        assert_eq!(say(&tenant, told).outcome, Outcome::Created, "{told}");
        assert_eq!(active(&tenant).len(), 2);
    }
    // Where the day is the same whenever it is told, it is the same statement.
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    say(&tenant, "My birthday is on June 5.");
    fixture.pass("400d");
    assert_eq!(say(&tenant, "My birthday is on June 5.").outcome, Outcome::Duplicate);
}
