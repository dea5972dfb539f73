//! What was told twice becomes one card, what was told often one summary, and nothing that
//! only looks alike becomes either. Duplicates come in through imports, which do not compare.

use memcards::card::{CardId, LinkKind, Polarity, State, Track};
use memcards::{
    Action, AppliedPlan, Apply, Consolidate, Consolidation, Feedback, MakePlan, Options, Planned, Remember,
    Store, Tenant, Undo, execute,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::support::{EVERYTHING, Fixture, active, all_cards, ask, forget, get, said_in, say, start, text};

/// The export of a store in which nothing but this was told, so many hours after the start.
pub(crate) fn told_elsewhere(seed: u64, hours: i64, request: Remember) -> String {
    let elsewhere = Fixture::with(|options: &mut Options| options.seed = seed);
    elsewhere.pass(&format!("{hours}h"));
    elsewhere.tenant("anna").remember(request).unwrap();
    let mut bytes = Vec::new();
    elsewhere.store.export(&mut bytes, &memcards::exchange::Export::default(), |_| {}).unwrap();
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn import(store: &Store, export: &str) {
    store.import(&mut export.as_bytes(), |_| {}).unwrap();
}

/// A store into which each of these came from elsewhere, an hour apart.
pub(crate) fn imported(requests: Vec<Remember>) -> Fixture {
    let fixture = Fixture::new();
    for (at, request) in requests.into_iter().enumerate() {
        import(&fixture.store, &told_elsewhere(at as u64 + 1, at as i64, request));
    }
    fixture.pass("30d");
    fixture
}

fn merges(tenant: &Tenant) -> Planned {
    tenant.plan(&MakePlan { rules: vec![Action::Merge], consent: true, ..MakePlan::default() }).unwrap()
}

pub(crate) fn apply(tenant: &Tenant, planned: &Planned) -> AppliedPlan {
    let digest = Some(planned.digest.clone());
    tenant.apply(Apply { plan: Some(planned.plan), digest, ..Apply::default() }).unwrap()
}

/// Everything that a tenant holds, as it can be read, without what writing itself counts.
pub(crate) fn snapshot(tenant: &Tenant) -> Vec<serde_json::Value> {
    let list = memcards::List { limit: Some(1000), include: EVERYTHING.into(), ..Default::default() };
    let mut cards: Vec<_> = tenant
        .list(&list)
        .unwrap()
        .cards
        .into_iter()
        .map(|card| {
            let mut json = serde_json::to_value(&card.card).unwrap();
            for field in ["version", "updated_at", "reason", "vector_version"] {
                json.as_object_mut().unwrap().remove(field);
            }
            let links = json.get_mut("links").and_then(serde_json::Value::as_array_mut);
            if let Some(links) = links {
                links.sort_by_key(ToString::to_string);
            }
            json
        })
        .collect();
    cards.sort_by_key(|card| card["id"].to_string());
    cards
}

#[test]
fn the_same_from_two_exports_becomes_one_card_and_undo_gives_both_back() {
    let fixture = imported(vec![
        said_in("s1", "The spare key is under the blue pot."),
        said_in("s2", "the spare key is under the blue pot"),
        said_in("s3", "Please, the spare key is under the blue pot."),
        said_in("s4", "The cat is called Tom."),
    ]);
    let anna = fixture.tenant("anna");
    assert_eq!(active(&anna).len(), 4);
    let before = snapshot(&anna);
    let planned = merges(&anna);
    assert_eq!(planned.items.len(), 2, "{planned:#?}");
    let survivor = planned.items[0].item.into.unwrap();
    assert!(planned.items.iter().all(|item| item.item.into == Some(survivor) && item.item.id != survivor));
    let again = merges(&anna);
    assert_eq!((again.plan, &again.digest), (planned.plan, &planned.digest));
    let applied = apply(&anna, &planned);
    assert_eq!(applied.totals.applied, 2);
    assert_eq!(active(&anna).len(), 2);
    let card = get(&anna, survivor).unwrap().card;
    assert_eq!((card.mention_count, card.sources.len()), (3, 3));
    assert_eq!(card.content, "Please, the spare key is under the blue pot.");
    assert!(merges(&anna).items.is_empty());
    // Told again, it is counted at the one card.
    assert_eq!(say(&anna, "The spare key is under the blue pot.").id, survivor);
    let run = anna.undo(Undo { run: Some(applied.run), ..Undo::default() }).unwrap();
    assert!(run.restored.is_empty() && run.skipped.iter().all(|skipped| skipped.why == "changed"));
    // Another time, and nothing in between.
    let fixture = imported(vec![
        said_in("s1", "The spare key is under the blue pot."),
        said_in("s2", "the spare key is under the blue pot"),
    ]);
    let anna = fixture.tenant("anna");
    let (before_two, applied) = (snapshot(&anna), apply(&anna, &merges(&anna)));
    assert_eq!(applied.totals.applied, 1);
    anna.undo(Undo { run: Some(applied.run), ..Undo::default() }).unwrap();
    assert_eq!(snapshot(&anna), before_two);
    assert_eq!(before.len(), 4);
    // The words lead to the card that they led to before: the one that came last.
    let second = before_two.iter().find(|card| card["sources"][0]["session"] == "s2").unwrap();
    let told = said_in("s2", "the spare key is under the blue pot");
    assert_eq!(json!(anna.remember(told).unwrap().id), second["id"]);
    assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
}

#[test]
fn look_alikes_are_never_merged() {
    for (one, other) in [
        ("Chip A1603 passed the test.", "Chip A1605 passed the test."),
        ("The rent is 900 euros.", "The rent is 950 euros."),
        ("The dentist appointment is on May 3.", "The dentist appointment is on May 4."),
        ("Anna plays the violin.", "Bella plays the violin."),
        ("Smoking is allowed here.", "Smoking is not allowed here."),
        ("I love coriander.", "I hate coriander."),
        ("这里可以吸烟。", "这里不可以吸烟。"),
        ("我喜欢香菜。", "我讨厌香菜。"),
        ("张伟住在三楼。", "张伟住在四楼。"),
    ] {
        let fixture = imported(vec![text(one), text(other)]);
        assert_eq!(all_cards(&fixture.tenant("anna")), 2);
        let planned = merges(&fixture.tenant("anna"));
        assert!(planned.items.is_empty(), "{one} / {other}: {planned:#?}");
    }
    let words = || text("We met at the lake.");
    let apart: [(Remember, Remember); 7] = [
        (
            Remember { speaker: Some("Ben".into()), ..words() },
            Remember { speaker: Some("Eva".into()), ..words() },
        ),
        (words(), Remember { polarity: Some(Polarity::Excluded), ..words() }),
        (
            Remember { entities: vec!["Ben".into()], ..words() },
            Remember { entities: vec!["Eva".into()], ..words() },
        ),
        (words(), Remember { category: Some("decision".into()), ..words() }),
        (words(), Remember { track: Some(Track::Procedural), ..words() }),
        (
            Remember { merge_key: Some("a".into()), ..words() },
            Remember { merge_key: Some("b".into()), ..words() },
        ),
        (
            Remember { turn: Some(1), ..said_in("s1", "We met at the lake.") },
            Remember { turn: Some(2), ..said_in("s1", "We met at the lake.") },
        ),
    ];
    for (one, other) in apart {
        let label = format!("{one:?} / {other:?}");
        let fixture = imported(vec![one, other]);
        assert_eq!(all_cards(&fixture.tenant("anna")), 2);
        assert!(merges(&fixture.tenant("anna")).items.is_empty(), "{label}");
    }
}

#[test]
fn the_very_same_turn_twice_is_one_turn() {
    let turn = || Remember { turn: Some(4), ..said_in("s1", "We met at the lake.") };
    let fixture = imported(vec![turn(), turn()]);
    let anna = fixture.tenant("anna");
    assert_eq!(merges(&anna).items.len(), 1);
    apply(&anna, &merges(&anna));
    assert_eq!(active(&anna).len(), 1);
}

#[test]
fn a_card_that_fits_two_others_makes_no_chain_of_them() {
    // Nobody is named in the first: each of the others may be it, but they are not each other.
    let about = |names: &[&str], session: &str| Remember {
        entities: names.iter().map(|name| (*name).to_owned()).collect(),
        ..said_in(session, "The meeting is on the third floor.")
    };
    let fixture = imported(vec![about(&[], "s1"), about(&["Ben"], "s2"), about(&["Eva"], "s3")]);
    let anna = fixture.tenant("anna");
    let planned = merges(&anna);
    assert_eq!(planned.items.len(), 1, "{planned:#?}");
    apply(&anna, &planned);
    assert_eq!(active(&anna).len(), 2);
}

#[test]
fn pinned_cards_stay_and_what_is_about_to_go_takes_nothing_over() {
    let pinned = Remember { pinned: true, ..said_in("s2", "The door code is 4711.") };
    let fixture = imported(vec![said_in("s1", "The door code is 4711."), pinned.clone()]);
    assert!(merges(&fixture.tenant("anna")).items.is_empty());
    let fixture = imported(vec![pinned, said_in("s1", "The door code is 4711.")]);
    assert_eq!(merges(&fixture.tenant("anna")).items.len(), 1);
    // The first one is over by the time of the plan.
    let short = Remember { ttl: Some("2h".parse().unwrap()), ..said_in("s1", "The door code is 4711.") };
    let fixture = imported(vec![short, said_in("s2", "The door code is 4711.")]);
    let planned = fixture.tenant("anna").plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
    assert!(planned.items.iter().all(|item| item.item.action != Action::Merge), "{planned:#?}");
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let requests = [
        ("s1", "The spare key is under the blue pot."),
        ("s2", "The spare key is under the blue pot"),
        ("s3", "Please, the spare key is under the blue pot."),
        ("s4", "The spare key is under the red pot."),
        ("s5", "我每天早上喝咖啡。"),
        ("s6", "我每天早上喝咖啡"),
        ("s7", "Tom owes me 20 euros."),
        ("s8", "Tom owes me 30 euros."),
    ];
    let exports: Vec<String> = requests
        .iter()
        .enumerate()
        // Several at the same hour, so that identifiers decide.
        .map(|(at, (session, content))| {
            told_elsewhere(at as u64 + 1, at as i64 / 2, said_in(session, content))
        })
        .collect();
    let outcome = |order: &[usize]| {
        let fixture = Fixture::new();
        for at in order {
            import(&fixture.store, &exports[*at]);
        }
        fixture.pass("30d");
        let anna = fixture.tenant("anna");
        apply(&anna, &merges(&anna));
        assert!(merges(&anna).items.is_empty());
        snapshot(&anna)
    };
    let order: Vec<usize> = (0..exports.len()).collect();
    let expected = outcome(&order);
    let mut runner = TestRunner::new(Config { cases: 12, ..Config::default() });
    runner
        .run(&Just(order).prop_shuffle(), |order| {
            prop_assert_eq!(outcome(&order), expected.clone());
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_the_limits_hold_back_is_found_by_the_next_plan() {
    let requests = ["s1", "s2", "s3", "s4"].map(|session| said_in(session, "The cat is called Tom."));
    let fixture = imported(requests.into());
    let anna = fixture.tenant("anna");
    let limits = memcards::PlanLimits { items: Some(2), share: Some(1.0), ..Default::default() };
    let some = || MakePlan { rules: vec![Action::Merge], limits: limits.clone(), ..MakePlan::default() };
    let first = anna.plan(&some()).unwrap();
    assert_eq!((first.items.len(), first.totals.held_back), (2, 1));
    apply(&anna, &first);
    fixture.pass("1h");
    let second = anna.plan(&some()).unwrap();
    assert_eq!((second.items.len(), second.totals.held_back), (1, 0));
    apply(&anna, &second);
    assert_eq!(active(&anna).len(), 1);
    fixture.pass("1h");
    assert!(merges(&anna).items.is_empty());
}

#[test]
fn an_archived_card_that_takes_an_active_one_over_is_active() {
    let mut requests: Vec<Remember> =
        ["s1", "s2"].map(|session| said_in(session, "The cat is called Tom.")).into();
    let fixture = imported(vec![requests.remove(0)]);
    let anna = fixture.tenant("anna");
    fixture.pass("900d");
    let archive =
        MakePlan { rules: vec![Action::Archive, Action::Fade], consent: true, ..MakePlan::default() };
    apply(&anna, &anna.plan(&archive).unwrap());
    assert!(active(&anna).is_empty());
    import(&fixture.store, &told_elsewhere(9, 24 * 930, requests.remove(0)));
    apply(&anna, &merges(&anna));
    assert_eq!(active(&anna), ["The cat is called Tom."]);
}

/// A turn of a conversation on some day.
pub(crate) fn turn(session: &str, turn: u32, content: &str) -> Remember {
    Remember { turn: Some(turn), ..said_in(session, content) }
}

fn consolidate(tenant: &Tenant) -> memcards::Consolidated {
    tenant.consolidate(Consolidate { consent: true, ..Consolidate::default() }).unwrap()
}

/// The cards that sum others up.
pub(crate) fn summaries(tenant: &Tenant) -> Vec<memcards::card::Card> {
    let list = memcards::List { limit: Some(1000), ..Default::default() };
    let cards = tenant.list(&list).unwrap().cards.into_iter().map(|view| view.card);
    cards.filter(|card| card.merge_key.as_ref().is_some_and(|key| key.starts_with("consolidated."))).collect()
}

/// Three sessions in which the same preference is told.
fn preferences(fixture: &Fixture) -> (Tenant, Vec<CardId>) {
    let anna = fixture.tenant("anna");
    let mut ids = Vec::new();
    for (session, content) in [
        ("s1", "I prefer window seats."),
        ("s2", "Please, I prefer window seats"),
        ("s3", "I also prefer window seats."),
    ] {
        ids.push(anna.remember(turn(session, 1, content)).unwrap().id);
        fixture.pass("1d");
    }
    (anna, ids)
}

#[test]
fn a_preference_told_three_times_becomes_one_card_that_recall_finds() {
    let fixture = Fixture::new();
    let (anna, ids) = preferences(&fixture);
    let sources = snapshot(&anna);
    let dry = anna.consolidate(Consolidate { dry_run: true, ..Consolidate::default() }).unwrap();
    assert_eq!((dry.planned.items.len(), dry.planned.run), (1, None));
    assert_eq!(snapshot(&anna), sources);
    let done = consolidate(&anna);
    assert!(done.planned.run.is_some());
    let made = summaries(&anna);
    assert_eq!(made.len(), 1);
    let card = &made[0];
    assert_eq!(
        (card.content.as_str(), card.category.as_str()),
        ("I also prefer window seats.", "preference")
    );
    assert_eq!((card.track, card.state, card.mention_count), (Track::Semantic, State::Active, 3));
    assert!(card.confidence >= 0.8 && card.sources.len() == 3);
    let linked: Vec<CardId> =
        card.links.iter().filter(|link| link.kind == LinkKind::Related).map(|link| link.to).collect();
    assert_eq!(linked, [ids[2], ids[1], ids[0]]);
    assert!(ask(&anna, "which seat do I prefer?").contains(&card.content));
    // The sources are as they were.
    let now: Vec<_> = snapshot(&anna).into_iter().filter(|other| other["id"] != json!(card.id)).collect();
    assert_eq!(now, sources);
    assert!(consolidate(&anna).planned.items.is_empty());
    // Told once more, the card is brought up to date and stays the one.
    anna.remember(turn("s9", 1, "I prefer window seats.")).unwrap();
    assert_eq!(consolidate(&anna).planned.items.len(), 1);
    assert!(consolidate(&anna).planned.items.is_empty());
    let again = summaries(&anna);
    assert_eq!((again.len(), again[0].id, again[0].mention_count), (1, card.id, 4));
    // Undone, it is what it was; and undone again, it is gone.
    let runs: Vec<_> = anna.plans().unwrap().into_iter().filter_map(|plan| plan.run).collect();
    assert_eq!(runs.len(), 2);
    anna.undo(Undo { run: Some(runs[0]), ..Undo::default() }).unwrap();
    assert_eq!(summaries(&anna)[0].mention_count, 3);
    assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
}

#[test]
fn undoing_a_consolidation_leaves_the_sources_alone() {
    let fixture = Fixture::new();
    let (anna, _) = preferences(&fixture);
    let before = snapshot(&anna);
    let run = consolidate(&anna).planned.run;
    anna.undo(Undo { run, ..Undo::default() }).unwrap();
    let after: Vec<_> = snapshot(&anna).into_iter().filter(|card| card["state"] != "forgotten").collect();
    assert_eq!(after, before);
    // Somebody took it back: it is not proposed again as long as nothing has changed.
    fixture.pass("1h");
    assert!(consolidate(&anna).planned.items.is_empty());
    drop(anna);
    let fixture = fixture.reopen();
    let anna = fixture.tenant("anna");
    assert!(consolidate(&anna).planned.items.is_empty());
    anna.remember(turn("s7", 1, "I prefer window seats.")).unwrap();
    assert_eq!(consolidate(&anna).planned.items.len(), 1);
    assert_eq!(summaries(&anna).len(), 1);
}

#[test]
fn rounds_of_consolidation_and_feedback_do_not_grow() {
    let fixture = Fixture::new();
    let (anna, _) = preferences(&fixture);
    consolidate(&anna);
    let (cards, card) = (all_cards(&anna), summaries(&anna)[0].clone());
    for round in 0..100 {
        fixture.pass("2h");
        anna.feedback(Feedback { used: vec![card.id], ..Feedback::default() }).unwrap();
        if round % 10 == 0 {
            // What was recalled is told back by the assistant.
            let role = Some(memcards::card::Role::Assistant);
            let category = Some("preference".into());
            anna.remember(Remember { role, category, ..text(&card.content) }).unwrap();
        }
        consolidate(&anna);
    }
    let now = summaries(&anna);
    assert_eq!(now.len(), 1);
    assert_eq!((&now[0].content, now[0].confidence), (&card.content, card.confidence));
    assert!(now[0].links.len() <= 32 && all_cards(&anna) <= cards + 1);
}

#[test]
fn what_is_no_preference_or_from_one_moment_is_not_made_one() {
    let fixture = Fixture::new();
    let anna = fixture.tenant("anna");
    for session in ["s1", "s2", "s3"] {
        anna.remember(turn(session, 1, "Good morning!")).unwrap();
        anna.remember(turn(session, 2, "Do I prefer tea?")).unwrap();
        let role = Some(memcards::card::Role::Assistant);
        anna.remember(Remember { role, ..turn(session, 3, "I prefer short answers.") }).unwrap();
        fixture.pass("1d");
    }
    for number in 1..=3 {
        anna.remember(turn("s8", number, "I prefer green tea.")).unwrap();
    }
    let by = |speaker: &str, number| Remember {
        speaker: Some(speaker.into()),
        ..turn("s9", number, "I hate mornings.")
    };
    for (number, speaker) in [(1, "Ben"), (2, "Eva"), (3, "Tom")] {
        fixture.pass("1d");
        anna.remember(by(speaker, number)).unwrap();
    }
    let planned = consolidate(&anna).planned;
    assert!(planned.items.is_empty(), "{planned:#?}");
}

#[test]
fn what_was_contradicted_or_forgotten_is_not_brought_back() {
    let fixture = Fixture::new();
    let (anna, ids) = preferences(&fixture);
    consolidate(&anna);
    let first = summaries(&anna)[0].id;
    anna.forget(forget(first)).unwrap();
    fixture.pass("1d");
    assert!(consolidate(&anna).planned.items.is_empty());
    // A source that is forgotten takes its words along.
    let fixture = Fixture::new();
    let (ben, more) = preferences(&fixture);
    consolidate(&ben);
    ben.forget(forget(more[2])).unwrap();
    fixture.pass("1d");
    assert_eq!(consolidate(&ben).planned.items.len(), 1);
    assert_eq!(summaries(&ben)[0].content, "Please, I prefer window seats");
    for id in &more[..2] {
        ben.forget(forget(*id)).unwrap();
    }
    fixture.pass("1d");
    consolidate(&ben);
    assert!(summaries(&ben).is_empty());
    assert!(consolidate(&ben).planned.items.is_empty());
    assert_eq!(ids.len(), 3);
    // What was taken back since is not made a preference.
    let fixture = Fixture::new();
    let (eva, _) = preferences(&fixture);
    eva.remember(turn("s7", 1, "I don't prefer window seats.")).unwrap();
    assert!(consolidate(&eva).planned.items.is_empty());
}

#[test]
fn a_contrary_statement_and_a_new_value_overturn_the_summary_as_well() {
    let fixture = Fixture::new();
    let (anna, _) = preferences(&fixture);
    consolidate(&anna);
    say(&anna, "I don't prefer window seats.");
    assert!(summaries(&anna).is_empty());
    fixture.pass("1d");
    assert!(consolidate(&anna).planned.items.is_empty());
    // A typed fact, told in words of which none is like the other.
    let fact = |value: &str| {
        let fact =
            memcards::card::Fact { entity: "Anna".into(), attribute: "city".into(), value: value.into() };
        Some(fact)
    };
    let told = |session: &str, content: &str, value: &str| Remember {
        fact: fact(value),
        category: Some("profile".into()),
        ..said_in(session, content)
    };
    let fixture = imported(vec![
        told("s1", "My flat is near the Alster.", "Hamburg"),
        told("s2", "We have the port at our door.", "Hamburg"),
        told("s3", "Moin from the north!", "Hamburg"),
    ]);
    let ben = fixture.tenant("anna");
    assert_eq!(consolidate(&ben).planned.items.len(), 1);
    let made = summaries(&ben);
    assert_eq!((made[0].category.as_str(), made[0].content.as_str()), ("profile", "Moin from the north!"));
    // Whichever of them the fact leads to, the summary falls with it.
    ben.remember(told("s4", "Servus from the south!", "Munich")).unwrap();
    assert!(summaries(&ben).is_empty());
}

#[test]
fn events_about_one_thing_become_a_summary_of_whole_statements() {
    let fixture = Fixture::new();
    let anna = fixture.tenant("anna");
    for (session, value) in [("s1", "14 euros"), ("s2", "15 euros on Sundays"), ("s3", "16 euros")] {
        anna.remember(turn(session, 1, &format!("The menu at Luigi's is {value}."))).unwrap();
        fixture.pass("1d");
    }
    let request = || Consolidate { rules: vec![Consolidation::Events], ..Consolidate::default() };
    let done = anna.consolidate(request()).unwrap();
    assert_eq!(done.planned.items.len(), 1, "{done:#?}");
    let card = summaries(&anna)[0].clone();
    let lines: Vec<&str> = card.content.lines().collect();
    // What held at different times has its day.
    assert_eq!(lines[0], "The menu at Luigi's is 16 euros. (2025-03-12)");
    assert!(lines.contains(&"The menu at Luigi's is 14 euros. (2025-03-10)"));
    assert!(ask(&anna, "Luigi's menu").contains(&card.content));
    assert!(anna.consolidate(request()).unwrap().planned.items.is_empty());
    for round in 0..60 {
        let content = format!("The menu at Luigi's is {} euros.", 20 + round);
        anna.remember(turn("s4", round, &content)).unwrap();
        fixture.pass("1h");
        if round % 10 == 9 {
            assert_eq!(anna.consolidate(request()).unwrap().planned.items.len(), 1);
        }
    }
    let now = summaries(&anna);
    assert_eq!((now.len(), now[0].id), (1, card.id));
    assert!(now[0].content.len() <= 500 && now[0].links.len() <= 32);
    assert!(now[0].content.starts_with("The menu at Luigi's is 79 euros. (2025-03-15)\n"));
    assert!(now[0].content.lines().all(|line| line.contains("euros. (2025-03-1")));
}

#[test]
fn the_verb_consolidates() {
    let fixture = Fixture::new();
    preferences(&fixture);
    let answer = execute(
        &fixture.store,
        r#"{"verb":"consolidate","tenant":"anna","rules":["preferences"],"dry_run":true}"#,
    );
    assert_eq!((&answer["ok"], &answer["totals"]["items"]), (&json!(true), &json!(1)), "{answer}");
    let answer = execute(&fixture.store, r#"{"verb":"consolidate","tenant":"anna"}"#);
    assert!(answer["run"].is_string() && answer["done"]["applied"] == json!(1), "{answer}");
    let answer = execute(&fixture.store, r#"{"verb":"consolidate","tenant":"anna","rules":["dreams"]}"#);
    assert_eq!(answer["error"]["field"], json!("rules[0]"), "{answer}");
    assert!(start() < fixture.clock_now());
}
