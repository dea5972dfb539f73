//! What a question means: whether there is anything to look for, when, and who is meant.

use memcards::card::{Role, Track};
use memcards::recall::{Controller, Decision};
use memcards::{Recall, Relate, Remember, execute};
use serde_json::json;

use crate::support::{Fixture, ask, contents, get, question, say, text, time};

#[test]
fn a_greeting_finds_nothing_and_says_why() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    say(&tenant, "Good morning is what the old porter always says.");
    say(&tenant, "钥匙在蓝色花盆下面，谢谢提醒。");
    for greeting in ["good morning", "Thanks!", "你好", "谢谢"] {
        let answer = tenant.recall(question(greeting)).unwrap();
        assert_eq!((answer.hits.len(), answer.intent.as_deref()), (0, Some("none")), "{greeting}");
        assert!(answer.searched.legs.is_empty() && answer.searched.rule.is_some(), "{greeting}");
    }
    for asked in ["good morning, who is the porter?", "谢谢，钥匙在哪里？", "porter", "钥匙"] {
        let answer = tenant.recall(question(asked)).unwrap();
        assert!(!answer.hits.is_empty() && answer.intent.as_deref() != Some("none"), "{asked}");
    }
}

#[test]
fn a_name_that_is_a_greeting_too_is_looked_for_where_it_is_known() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    assert_eq!(ask(&tenant, "Nice"), Vec::<String>::new());
    tenant.remember(Remember { entities: vec!["Nice".into()], ..text("We spent May in Nice.") }).unwrap();
    assert_eq!(ask(&tenant, "Nice?"), ["We spent May in Nice."]);
    assert_eq!(ask(&fixture.tenant("other"), "Nice"), Vec::<String>::new());
    say(&tenant, "The Apollo project has five people.");
    assert!(!ask(&tenant, "please summarize the following project: Apollo").is_empty());
}

#[test]
fn a_correction_goes_before_what_it_corrects() {
    for (told, corrected, asked) in [
        ("Our standup is on Tuesday.", "Actually the standup is on Thursday.", "when is the standup?"),
        (
            "The dentist is on Monday at nine.",
            "The dentist was moved to Friday at nine.",
            "when is the dentist?",
        ),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        say(&tenant, told);
        fixture.pass("2d");
        say(&tenant, corrected);
        assert_eq!(ask(&tenant, asked)[0], corrected);
    }
}

#[test]
fn an_application_may_decide_instead() {
    struct Silent;
    impl Controller for Silent {
        fn decide(&self, _question: &str) -> Decision {
            Decision {
                intent: "quiet hours".into(),
                rule: "always".into(),
                search: false,
                tracks: vec![Track::Semantic],
                preset: None,
            }
        }
    }
    let fixture = Fixture::with(|options| options.controller = std::sync::Arc::new(Silent));
    let tenant = fixture.tenant("t");
    say(&tenant, "The key is under the pot.");
    let answer = tenant.recall(question("where is the key?")).unwrap();
    assert_eq!((answer.hits.len(), answer.intent.as_deref()), (0, Some("quiet hours")));
}

#[test]
fn yesterday_is_the_askers_yesterday() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    // The clock shows 2025-03-10 09:00 UTC, which is 01:00 or 02:00 of that day in Los Angeles.
    for (content, at) in [
        ("We visited the museum of glass.", "2025-03-08T20:00:00Z"),
        ("We visited the museum of clocks.", "2025-03-09T23:30:00Z"),
        ("We visited the museum of ships.", "2025-03-10T03:00:00Z"),
    ] {
        let card = Remember { occurred_at: Some(time(at)), ..text(content) };
        tenant.remember(card).unwrap();
    }
    for (zone, first) in [("UTC", "clocks"), ("-10:00", "glass"), ("Asia/Tokyo", "glass")] {
        let request =
            Recall { zone: Some(zone.parse().unwrap()), ..question("which museum did we visit yesterday?") };
        let found = contents(&tenant.recall(request).unwrap());
        // In Tokyo yesterday was 8 March 15:00 UTC to 9 March 15:00 UTC; ten hours west of
        // Greenwich it began at 8 March 10:00 UTC and ended a day later.
        assert!(found[0].contains(first), "{zone}: {found:?}");
    }
}

#[test]
fn what_a_card_tells_of_a_time_is_found_by_that_time() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    let told = say(&tenant, "The dentist can see you on 25 March.");
    say(&tenant, "The dentist can see you any other time.");
    say(&tenant, "The dentist has a new assistant to see.");
    let card = get(&tenant, told.id).unwrap();
    assert_eq!(card.times.len(), 1);
    assert_eq!(
        (card.times[0].from, card.times[0].to),
        (Some(time("2025-03-25T00:00:00Z")), Some(time("2025-03-26T00:00:00Z")))
    );
    let found = ask(&tenant, "Who can see me on 25 March?");
    assert_eq!(found[0], "The dentist can see you on 25 March.");

    let zoned =
        Remember { zone: Some("Asia/Shanghai".parse().unwrap()), ..text("昨天下午修好了自行车") };
    let card = get(&tenant, tenant.remember(zoned).unwrap().id).unwrap();
    assert_eq!(card.times[0].phrase, "昨天下午");
    assert_eq!(card.times[0].from, Some(time("2025-03-09T12:00:00+08:00")));
}

#[test]
fn a_time_before_a_birthday_is_known_when_the_birthday_is() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let plan = "We will fly to Rome two weeks before my birthday.";
    let early = say(&fixture.tenant("other"), plan);
    assert!(get(&fixture.tenant("other"), early.id).unwrap().times.is_empty());
    say(&tenant, "My birthday is June 15.");
    let card = get(&tenant, say(&tenant, plan).id).unwrap();
    let (from, to) = (card.times[0].from.unwrap(), card.times[0].to.unwrap());
    assert!(from <= time("2025-06-01T00:00:00Z") && time("2025-06-01T00:00:00Z") < to, "{from} {to}");
}

#[test]
fn a_zone_that_does_not_exist_is_named() {
    let fixture = Fixture::new();
    for request in [
        json!({"verb": "remember", "tenant": "t", "content": "tea", "zone": "Mars/Olympus"}),
        json!({"verb": "recall", "tenant": "t", "query": "tea", "zone": "Mars/Olympus"}),
    ] {
        let answer = execute(&fixture.store, &request.to_string());
        assert_eq!(answer["error"]["field"], "zone", "{answer}");
        assert_eq!(answer["error"]["code"], "invalid_argument", "{answer}");
    }
}

#[test]
fn somebody_known_by_relation_is_found_by_name() {
    for (told, of_name, asked) in [
        (
            "My sister Anna lives in Bergen.",
            "Anna works as a vet at the harbour clinic.",
            "What is my sister's job?",
        ),
        ("我妹妹叫安娜。", "安娜在港口诊所当兽医。", "我妹妹做什么工作？"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        say(&tenant, told);
        say(&tenant, of_name);
        say(&tenant, "Paul works as a cook at the harbour canteen.");
        say(&tenant, "保罗在港口食堂当厨师。");
        let found = ask(&tenant, asked);
        let place = |content: &str| found.iter().position(|text| text == content);
        assert!(place(of_name).is_some(), "{asked}: {found:?}");
        let paul = place("Paul works as a cook at the harbour canteen.").or(place("保罗在港口食堂当厨师。"));
        assert!(paul.is_none_or(|paul| place(of_name).unwrap() < paul), "{asked}: {found:?}");
    }
}

#[test]
fn an_edge_names_somebody_as_well_and_only_while_it_holds() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    let edge =
        Relate { from: "Tom".into(), relation: "sister".into(), to: "Anna".into(), ..Relate::default() };
    let edge = tenant.relate(edge).unwrap();
    let answer = "Anna runs the harbour clinic.";
    say(&tenant, answer);
    let asked = "Where is Tom's sister employed?";
    assert!(ask(&tenant, asked).contains(&answer.to_owned()));
    tenant.forget(crate::support::forget(edge.id)).unwrap();
    assert!(!ask(&tenant, asked).contains(&answer.to_owned()));
}

#[test]
fn turns_are_looked_at_once_more_and_statements_are_not() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let turns = [
        (Role::User, "What a storm last night!"),
        (Role::Assistant, "Did it damage anything?"),
        (Role::User, "The storm tore down the fence behind the house."),
        (Role::Assistant, "I am sorry to hear that."),
    ];
    for (number, (role, content)) in turns.into_iter().enumerate() {
        let turn = Remember {
            session: Some("s".into()),
            turn: Some(number as u32 + 1),
            role: Some(role),
            ..text(content)
        };
        tenant.remember(turn).unwrap();
    }
    say(&tenant, "The fence is made of larch.");
    let explained = Recall { explain: true, ..question("What did the storm damage?") };
    let answer = tenant.recall(explained).unwrap();
    for hit in &answer.hits {
        let parts = hit.parts.as_ref().unwrap();
        assert!((parts.sum() - hit.score).abs() < 1e-4, "{parts:?} {}", hit.score);
        assert!(hit.card.turn.is_some() || parts.rerank == 0.0, "{parts:?}");
    }
    assert_eq!(answer.hits[0].card.content, "The storm tore down the fence behind the house.");
    let without = memcards::recall::Weights { rerank: 0.0, ..Default::default() };
    let plain = Recall { weights: Some(without), explain: true, ..question("What did the storm damage?") };
    let plain = tenant.recall(plain).unwrap();
    assert!(plain.hits.iter().all(|hit| hit.parts.as_ref().unwrap().rerank == 0.0));
}
