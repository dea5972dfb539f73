//! Kinds 15 and 16: one tenant neither crowds out nor learns of another.

use std::sync::Arc;

use memcards::card::{CardId, Fact, Link, LinkKind, Track};
use memcards::exchange::Export;
use memcards::{
    Apply, Audit, Clock, Correct, Count, Entity, Forget, Get, History, List, MakePlan, ManualClock, Options,
    Recall, Relate, Remember, Restore, Result, Store, Tenant, Walk, Wipe, execute,
};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::support::{
    EVERYTHING, Fixture, contents, duration, filter, get, question, said_in, say, start, text,
};

#[test]
fn ten_thousand_cards_of_one_tenant_leave_another_its_five() {
    let fixture = Fixture::new();
    let (many, few) = (fixture.tenant("many"), fixture.tenant("few"));
    for chunk in 0..10 {
        let requests = (0..1000).map(|number| {
            let number = chunk * 1000 + number;
            let tags = if number % 1000 == 7 { vec!["rare".to_owned()] } else { vec!["common".to_owned()] };
            Remember {
                tags,
                ..text(&format!("The ferry to island {number} leaves from pier {}", number + 1))
            }
        });
        for answer in many.remember_all(requests.collect()).unwrap() {
            answer.unwrap();
        }
    }
    let five: Vec<String> =
        (1..=5).map(|number| format!("The ferry to rock {number} leaves when the tide allows")).collect();
    for words in &five {
        say(&few, words);
    }
    for query in ["when does the ferry leave?", "ferry to island 500 from pier 501", "渡轮 ferry"] {
        let mut found = contents(&few.recall(Recall { top: Some(5), ..question(query) }).unwrap());
        found.sort();
        assert_eq!(found, five, "{query}");
    }
    // A tag that one card in a thousand has, asked for in the company of all others.
    for top in [1, 5, 10, 50] {
        let rare = filter(json!({"field": "tags", "contains": "rare"}));
        let request = Recall { top: Some(top), filter: Some(rare), ..question("ferry to island 4321") };
        let hits = many.recall(request).unwrap().hits;
        assert_eq!(hits.len(), top.min(10));
        assert!(hits.iter().all(|hit| hit.card.tags == ["rare"]));
    }
    for conditions in [
        Recall { entities: vec!["nobody".into()], ..question("ferry") },
        Recall { categories: vec!["preference".into()], ..question("ferry") },
        Recall { tracks: vec![Track::Procedural], ..question("ferry") },
    ] {
        assert!(many.recall(conditions).unwrap().hits.is_empty());
    }
    assert_eq!(many.recall(Recall { top: Some(1000), ..question("ferry") }).unwrap().hits.len(), 1000);
}

/// What the other tenant hides, in every field.
const CANARY: &str = "kryptonight7";

fn canary(number: usize) -> Remember {
    let name = || format!("{CANARY}-{number}");
    let mut attributes = serde_json::Map::new();
    attributes.insert(name(), json!({"inner": [name(), {"deep": name()}]}));
    Remember {
        content: format!("The password of the vault is {CANARY} {number}"),
        summary: Some(name()),
        category: Some(name()),
        fact: Some(Fact { entity: name(), attribute: name(), value: name() }),
        entities: vec![name()],
        tags: vec![name()],
        attributes,
        merge_key: Some(name()),
        session: Some(name()),
        turn: Some(number as u32),
        speaker: Some(name()),
        extractor: Some(name()),
        idempotency_key: Some("shared-key".to_owned() + &number.to_string()),
        actor: Some(name()),
        reason: Some(name()),
        ..Remember::default()
    }
}

/// What the observed tenant does.
#[derive(Clone, Debug)]
enum Step {
    Say(usize),
    Ask(usize),
    List,
    Count,
    Statistics,
    Get(usize),
    History(usize),
    Forget(usize),
    Restore(usize),
    Correct(usize),
    ForgetSession,
    Relate(usize),
    Entity(usize),
    Walk(usize),
    /// The same verbs with identifiers that the other tenant has, or that nobody has.
    Foreign(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    let number = || 0..6_usize;
    prop_oneof![
        4 => number().prop_map(Step::Say),
        3 => number().prop_map(Step::Ask),
        1 => Just(Step::List),
        1 => Just(Step::Count),
        1 => Just(Step::Statistics),
        1 => number().prop_map(Step::Get),
        1 => number().prop_map(Step::History),
        1 => number().prop_map(Step::Forget),
        1 => number().prop_map(Step::Restore),
        1 => number().prop_map(Step::Correct),
        1 => Just(Step::ForgetSession),
        3 => number().prop_map(Step::Relate),
        1 => number().prop_map(Step::Entity),
        2 => number().prop_map(Step::Walk),
        2 => number().prop_map(Step::Foreign),
    ]
}

/// An answer or an error, as a caller sees it.
fn shown<T: Serialize>(answer: Result<T>) -> String {
    match answer {
        Ok(answer) => serde_json::to_string(&answer).unwrap(),
        Err(error) => format!("{} {:?} {error}", error.code(), error.field()),
    }
}

const SAID: [&str; 6] = [
    "The vault is in the basement",
    "The vault is not in the basement",
    "保险库的密码每周更换",
    "The password changes every week",
    "My speaker number is 12",
    "My speaker number is now 14",
];

/// Names that both tenants use, and one that only the other does.
const NAMED: [&str; 6] = ["vault", "basement", "Password", "speaker", "kryptonight7-1", "nobody"];

const ASKED: [&str; 6] = [
    "the password of the vault",
    "保险库的密码",
    CANARY,
    "what did kryptonight7-1 say?",
    "speaker number",
    "kryptonight7-2",
];

fn take(tenant: &Tenant, step: &Step, ids: &mut Vec<CardId>, foreign: &[CardId]) -> Vec<String> {
    let own = |number: usize| ids.get(number % ids.len().max(1)).copied().unwrap_or_default();
    let by = |id: CardId| Forget { id: Some(id), ..Forget::default() };
    match *step {
        Step::Say(number) => {
            let key = Some(format!("shared-key{number}"));
            let answer = tenant.remember(Remember { idempotency_key: key, ..said_in("vault", SAID[number]) });
            if let Ok(answer) = &answer {
                ids.push(answer.id);
            }
            vec![shown(answer)]
        }
        Step::Ask(number) => {
            let request = Recall { explain: true, include: EVERYTHING.into(), ..question(ASKED[number]) };
            vec![shown(tenant.recall(question(ASKED[number]))), shown(tenant.recall(request))]
        }
        Step::List => vec![shown(tenant.list(&List { include: EVERYTHING.into(), ..List::default() }))],
        Step::Count => vec![shown(tenant.count(&Count::default()))],
        Step::Statistics => vec![shown(tenant.statistics())],
        Step::Get(number) => vec![shown(get(tenant, own(number)))],
        Step::History(number) => {
            vec![shown(tenant.history(&History { id: own(number) }))]
        }
        Step::Forget(number) => vec![shown(tenant.forget(by(own(number))))],
        Step::Restore(number) => {
            vec![shown(tenant.restore(Restore { id: Some(own(number)), ..Restore::default() }))]
        }
        Step::Correct(number) => {
            let content = Some(format!("Put right: {}", SAID[number]));
            let answer = tenant.correct(Correct { id: own(number), content, ..Correct::default() });
            vec![shown(answer)]
        }
        Step::ForgetSession => {
            let filter = Some(filter(json!({"field": "session", "eq": "vault"})));
            vec![shown(tenant.forget(Forget { filter, ..Forget::default() }))]
        }
        Step::Relate(number) => {
            let request = Relate::new(NAMED[number % 4], "belongs to", NAMED[(number * 5 + 1) % 4]);
            let answer = tenant.relate(request);
            if let Ok(answer) = &answer {
                ids.push(answer.id);
            }
            vec![shown(answer)]
        }
        Step::Entity(number) => {
            let name = NAMED[number].into();
            vec![shown(tenant.entity(&Entity { name, ..Entity::default() }))]
        }
        Step::Walk(number) => {
            let start = NAMED[number].into();
            vec![shown(tenant.walk(&Walk { start, hops: Some(4), ..Walk::default() }))]
        }
        Step::Foreign(number) => {
            let id = foreign[number % foreign.len()];
            let link = Remember { links: vec![Link { to: id, kind: LinkKind::Related }], ..text("Linked") };
            vec![
                shown(get(tenant, id)),
                shown(tenant.get(&Get { id, include: EVERYTHING.into(), ..Get::default() })),
                shown(tenant.history(&History { id })),
                shown(tenant.forget(by(id))),
                shown(tenant.restore(Restore { id: Some(id), ..Restore::default() })),
                shown(tenant.correct(Correct { id, pinned: Some(true), ..Correct::default() })),
                shown(tenant.remember(link)),
                shown(tenant.forget(Forget { ids: vec![id], dry_run: true, ..Forget::default() })),
            ]
        }
    }
}

fn open(directory: &tempfile::TempDir) -> (Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(start()));
    let options = Options { clock: clock.clone(), seed: 7, ..Options::default() };
    (Store::open(directory.path(), options).unwrap(), clock)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tenant_answers_as_though_it_were_alone(
        steps in prop::collection::vec(any_step(), 1..24),
        busy in prop::collection::vec(any::<bool>(), 24),
    ) {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let ((crowded, crowded_clock), (lonely, lonely_clock)) = (open(&directories[0]), open(&directories[1]));
        let other = crowded.tenant(CANARY).unwrap();
        let hidden: Vec<CardId> = (0..3).map(|number| other.remember(canary(number)).unwrap().id).collect();
        let (here, there) = (crowded.tenant("b").unwrap(), lonely.tenant("b").unwrap());
        let (mut ids, mut lonely_ids) = (Vec::new(), Vec::new());
        for (at, step) in steps.iter().enumerate() {
            if busy[at] {
                other.remember(canary(3 + at)).unwrap();
                other.recall(question("vault password")).unwrap();
                other.relate(Relate::new("vault", format!("hides {CANARY}"), CANARY)).unwrap();
                other.relate(Relate::new(CANARY, "alias", NAMED[at % NAMED.len()])).unwrap();
            }
            let answers = take(&here, step, &mut ids, &hidden);
            prop_assert_eq!(&answers, &take(&there, step, &mut lonely_ids, &hidden), "{:?}", step);
            for answer in answers {
                // The question's own words come back as terms; nothing else may.
                let named = matches!(step, Step::Entity(4) | Step::Walk(4));
                let asked = named || matches!(step, Step::Ask(_)) && answer.contains("\"terms\"");
                prop_assert!(asked || !answer.contains(CANARY), "{:?}: {}", step, answer);
                prop_assert!(!asked || answer.contains("\"hits\":[]") || !answer.contains("vault is kryptonight7"));
            }
            for clock in [&crowded_clock, &lonely_clock] {
                clock.set(clock.now().plus(duration("10m"))).unwrap();
            }
        }
        // The other one is untouched by all of it.
        for (number, id) in hidden.iter().enumerate() {
            prop_assert_eq!(&get(&other, *id).unwrap().content, &canary(number).content);
        }
    }
}

#[test]
fn a_cursor_of_one_tenant_shows_nothing_to_another() {
    let fixture = Fixture::new();
    let (left, right) = (fixture.tenant("left"), fixture.tenant("right"));
    for number in 0..10 {
        say(&left, &format!("Crate {number} is full of {CANARY}"));
    }
    say(&right, "One crate is empty");
    let page = left.list(&List { limit: Some(3), ..List::default() }).unwrap();
    let cards = right.list(&List { cursor: page.cursor, ..List::default() }).unwrap().cards;
    assert!(cards.iter().all(|card| card.content == "One crate is empty"));
}

#[test]
fn equal_keys_of_two_tenants_do_not_meet() {
    let fixture = Fixture::new();
    let fact = |value: &str| Fact { entity: "gate".into(), attribute: "code".into(), value: value.into() };
    let mut ids = Vec::new();
    for (name, value) in [("left", "1188"), ("right", "2299")] {
        let request = Remember {
            idempotency_key: Some("k".into()),
            merge_key: Some("gate.code".into()),
            fact: Some(fact(value)),
            ..said_in("s", &format!("The gate code is {value}"))
        };
        ids.push(fixture.tenant(name).remember(request).unwrap().id);
    }
    assert_ne!(ids[0], ids[1]);
    for (name, id) in [("left", ids[0]), ("right", ids[1])] {
        let card = get(&fixture.tenant(name), id).unwrap();
        assert_eq!((card.version, card.links.len()), (1, 0));
    }
}

/// What one tenant has removed, or a rule has archived of it, moves nothing in another one's log, from which its
/// identifiers come: not even where that one has enough archived cards to be moved to the cold tier.
#[test]
fn a_wipe_or_a_run_of_one_tenant_is_no_change_of_another() {
    let fixture = Fixture::words_only();
    let (anna, bert, carl) = (fixture.tenant("anna"), fixture.tenant("bert"), fixture.tenant("carl"));
    for tenant in [&anna, &bert, &carl] {
        for n in 0..100 {
            say(tenant, &format!("Crate {n} of {} holds part {n}", tenant.name()));
        }
    }
    fixture.pass("60d");
    let archive = json!({ "defaults": { "archive_after": "30d", "fade_below": 0.0 } });
    let request = MakePlan { policy: Some(archive.clone()), consent: true, ..MakePlan::default() };
    let plan = bert.plan(&request).unwrap().plan;
    assert_eq!(bert.apply(Apply { plan: Some(plan), ..Apply::default() }).unwrap().totals.applied, 100);
    let seen = || {
        let mut exported = Vec::new();
        let what = Export { tenant: Some("bert".into()), vectors: true, ..Export::default() };
        fixture.store.export(&mut exported, &what, |_| {}).unwrap();
        let audited = bert.audit(&Audit { limit: Some(300), ..Audit::default() }).unwrap();
        (bert.statistics().unwrap(), audited, bert.tiers().unwrap(), exported)
    };
    let before = seen();
    let policy = json!({ "defaults": archive["defaults"], "limits": { "share": 1.0 } });
    carl.set_policy(Some(&policy)).unwrap();
    execute(&fixture.store, r#"{"verb":"maintain"}"#);
    assert_eq!(carl.statistics().unwrap().states.get("archived"), Some(&100));
    assert!(fixture.store.cold_statistics().unwrap().cards >= 100, "those of the run are cold");
    assert!(seen() == before, "after a run");
    assert!(anna.wipe(Wipe { confirm: "anna".into() }).unwrap().proof.is_complete());
    assert!(seen() == before, "after a wipe");
    let (_, audited, ..) = before;
    assert_eq!(say(&bert, "One more crate").seq, audited.changes[0].seq + 1);
}
