//! Kinds 1, 2, 3 and 21: of two statements that cannot both hold, the later one does.

use memcards::card::{LinkKind, Provenance, State};
use memcards::{Outcome, Recall};

use crate::support::{Fixture, active, all_cards, ask, get, past, question, said_in, say, text};

/// First a statement, then its contrary.
const CONTRARY: &[(&str, &str, &str)] = &[
    (
        "Visitors are allowed to use the garden",
        "Visitors are not allowed to use the garden",
        "garden visitors",
    ),
    (
        "Interns can merge to the release branch",
        "Interns cannot merge to the release branch",
        "interns release branch",
    ),
    ("The backup job is enabled", "The backup job is disabled", "backup job"),
    ("Always round the totals", "Never round the totals", "round totals"),
    ("I adore olives", "I hate olives", "olives"),
    ("I like early flights", "I do not like early flights", "early flights"),
    ("周末可以加班", "周末不可以加班", "周末加班"),
    ("报告要附图表", "报告不要附图表", "报告图表"),
    ("请用缩写", "请别用缩写", "缩写"),
    ("这里允许拍照", "这里禁止拍照", "这里拍照"),
    ("我爱吃香菜", "我恨吃香菜", "香菜"),
    ("我喜欢开会", "我讨厌开会", "开会"),
];

#[test]
fn the_later_of_two_contrary_statements_holds_and_the_earlier_is_history() {
    for (before, after, query) in CONTRARY {
        // Both ways round: what was forbidden may be allowed again.
        for (before, after) in [(before, after), (after, before)] {
            let fixture = Fixture::new();
            let tenant = fixture.tenant("t");
            let old = say(&tenant, before);
            fixture.pass("1h");
            let new = say(&tenant, after);
            assert_eq!(new.outcome, Outcome::Superseded, "{before} → {after}");
            assert_eq!(ask(&tenant, query), [*after], "{query}");
            assert_eq!(active(&tenant), [*after]);
            assert_eq!(past(&tenant, new.id).first().map(String::as_str), Some(*before));
            assert_eq!(past(&tenant, old.id), past(&tenant, new.id), "one history from both ends");
            let replaced = get(&tenant, old.id).unwrap();
            assert_eq!((replaced.state, replaced.superseded_by), (State::Superseded, Some(new.id)));
            assert_eq!(replaced.provenance, Provenance::Overturned);
            assert_eq!(get(&tenant, new.id).unwrap().supersedes, [old.id]);
        }
    }
}

#[test]
fn a_mind_changed_many_times_leaves_one_statement() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    for round in 0..10 {
        fixture.pass("1h");
        say(&tenant, "Remote work is allowed");
        assert_eq!(ask(&tenant, "remote work"), ["Remote work is allowed"], "round {round}");
        fixture.pass("1h");
        say(&tenant, "Remote work is not allowed");
        assert_eq!(ask(&tenant, "remote work"), ["Remote work is not allowed"], "round {round}");
    }
    assert_eq!(active(&tenant).len(), 1);
}

#[test]
fn contrary_statements_in_one_batch_are_seen_even_as_the_first_of_a_tenant() {
    for (before, after, query) in CONTRARY {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("new");
        let answers = tenant.remember_all(vec![text(before), text(after)]).unwrap();
        assert_eq!(answers[1].as_ref().unwrap().outcome, Outcome::Superseded, "{before} → {after}");
        assert_eq!(ask(&tenant, query), [*after]);
    }
}

#[test]
fn the_first_two_writers_of_a_tenant_see_each_other() {
    for round in 0..10 {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for words in ["The lift is available", "The lift is unavailable"] {
                let (tenant, barrier) = (&tenant, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    say(tenant, words);
                });
            }
        });
        assert_eq!(active(&tenant).len(), 1, "round {round}");
    }
}

#[test]
fn the_later_of_two_values_is_the_first_hit_even_alone() {
    for (before, after, query) in [
        ("The standup is at 9:15 in room Oak", "The standup is at 9:45 in room Oak", "when is the standup?"),
        ("My favourite fruit is mango", "My favourite fruit is papaya", "what is my favourite fruit mango"),
        ("The default port is 7001", "The default port is 7002", "default port 7001"),
        ("我最喜欢的城市是成都", "我最喜欢的城市是昆明", "我最喜欢的城市 成都"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let old = say(&tenant, before);
        fixture.pass("1h");
        let new = say(&tenant, after);
        assert_ne!(old.id, new.id, "{before} → {after}");
        for top in [1, 2, 5] {
            let request = Recall { top: Some(top), explain: true, ..question(query) };
            let answer = tenant.recall(request).unwrap();
            let conflict =
                get(&tenant, new.id).unwrap().links.iter().any(|l| l.kind == LinkKind::ConflictsWith);
            if conflict || get(&tenant, old.id).unwrap().state == State::Superseded {
                assert_eq!(answer.hits[0].card.id, new.id, "{query}, top {top}");
            }
            for hit in &answer.hits {
                let sum = hit.parts.as_ref().unwrap().sum();
                assert!((sum - hit.score).abs() < 1e-4, "{sum} {}", hit.score);
            }
            assert!(answer.hits.is_sorted_by(|a, b| a.score >= b.score));
        }
    }
}

#[test]
fn a_reminder_not_to_forget_affirms() {
    for (before, after) in [
        ("Use metric units in drawings", "Do not forget to use metric units in drawings"),
        ("Lock the archive room", "Don't forget to lock the archive room!"),
        ("Water the ferns", "Please remember to water the ferns"),
        ("用公制单位画图", "别忘了用公制单位画图"),
        ("锁好档案室", "不要忘记锁好档案室"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let first = say(&tenant, before);
        fixture.pass("2h");
        let second = say(&tenant, after);
        assert_eq!((second.id, second.outcome), (first.id, Outcome::Merged), "{after}");
        let card = get(&tenant, first.id).unwrap();
        assert_eq!((card.state, card.mention_count), (State::Active, 2));
        assert!(card.confidence >= 0.8, "not demoted");
        assert_eq!(all_cards(&tenant), 1);
        // A prohibition after it is one all the same.
        let third = say(&tenant, &format!("{}{before}", if before.is_ascii() { "Never " } else { "不要" }));
        assert_eq!(third.outcome, Outcome::Superseded, "{before}");
    }
}

#[test]
fn two_negations_are_none() {
    for (statement, doubled) in [
        ("Keep using the old logo", "Don't stop using the old logo"),
        ("We have to sign the form", "We cannot not sign the form"),
        ("必须值班", "不得不值班"),
        ("可能延期", "不是不可能延期"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let first = say(&tenant, statement);
        let second = say(&tenant, doubled);
        assert_ne!(second.outcome, Outcome::Superseded, "{doubled}");
        assert_eq!(get(&tenant, first.id).unwrap().state, State::Active, "{doubled}");
    }
}

/// A statement, what follows it, a question, and what must not be answered any more.
const FOLLOW_UPS: &[(&str, &str, &str)] = &[
    ("The accent colour is teal", "now it is orange", "what is the accent colour?"),
    ("The review is on Monday", "It moved to Thursday", "when is the review?"),
    ("The retry limit is 3", "Now it is 5", "what is the retry limit?"),
    ("主色是绿色", "现在它是紫色", "主色是什么？"),
];

#[test]
fn a_follow_up_replaces_the_statement_before_it_every_time() {
    for (before, after, query) in FOLLOW_UPS {
        for round in 0..20 {
            let fixture = Fixture::new();
            let tenant = fixture.tenant("t");
            // Something else may have been said before, and asked in between.
            for noise in 0..round % 4 {
                say(&tenant, &format!("Shelf {noise} holds the paper of size A{noise}"));
            }
            say(&tenant, before);
            ask(&tenant, query);
            let new = say(&tenant, after);
            assert_eq!(new.outcome, Outcome::Superseded, "{before} → {after}, round {round}");
            let hits = ask(&tenant, query);
            assert_eq!(hits.first().map(String::as_str), Some(*after), "{query}: {hits:?}");
            assert!(!hits.iter().any(|hit| hit == before));
        }
    }
}

#[test]
fn follow_ups_may_follow_each_other() {
    for (first, others, last) in [
        (
            "The accent colour is teal",
            &["now it is orange", "now it is pink"][..],
            "The accent colour is now grey",
        ),
        ("主色是绿色", &["现在它是紫色", "现在它是黑色"], "主色改成白色"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        say(&tenant, first);
        for other in others {
            fixture.pass("1m");
            assert_eq!(say(&tenant, other).outcome, Outcome::Superseded, "{other}");
            assert_eq!(active(&tenant), [*other]);
        }
        fixture.pass("1m");
        say(&tenant, last);
        assert_eq!(active(&tenant), [last], "the whole statement again");
    }
}

#[test]
fn a_follow_up_belongs_to_what_was_said_last_in_its_own_session() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let tell = |session: &str, words: &str| tenant.remember(said_in(session, words)).unwrap();
    tell("kitchen", "The wall colour is white");
    tell("office", "The carpet colour is brown");
    tell("kitchen", "now it is yellow");
    assert_eq!(active(&tenant), ["The carpet colour is brown", "now it is yellow"]);
    // Changed explicitly just before: the replaced card's own change stands in between.
    tell("office", "The carpet colour is now black");
    tell("office", "now it is blue");
    assert_eq!(active(&tenant), ["now it is blue", "now it is yellow"]);
}

#[test]
fn the_same_follow_up_after_another_statement_is_about_that() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    say(&tenant, "The wall colour is white");
    let wall = say(&tenant, "now it is yellow");
    assert_eq!(say(&tenant, "now it is yellow").id, wall.id, "said twice");
    say(&tenant, "The carpet colour is brown");
    let carpet = say(&tenant, "now it is yellow");
    assert_eq!((carpet.outcome, active(&tenant).len()), (Outcome::Superseded, 2));
    for (query, id) in [("what is the wall colour?", wall.id), ("what is the carpet colour?", carpet.id)] {
        assert_eq!(tenant.recall(question(query)).unwrap().hits[0].card.id, id, "{query}");
    }
    let summary = |id| get(&tenant, id).unwrap().summary.clone().unwrap();
    assert_eq!(summary(wall.id), "The wall colour is yellow");
    assert_eq!(summary(carpet.id), "The carpet colour is yellow");
}

#[test]
fn a_follow_up_without_anything_before_it_replaces_nothing() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    say(&tenant, "Lena plays the cello");
    assert_eq!(say(&tenant, "now it is orange").outcome, Outcome::Created);
    assert_eq!(active(&tenant).len(), 2);
}

#[test]
fn one_correction_among_six_facts_touches_only_its_fact() {
    for (facts, correction, wrong) in [
        (
            [
                "My office is on the third floor",
                "My badge number is 5521",
                "My manager is Carla",
                "My favourite tea is oolong",
                "My desk is by the window",
                "My shift is in the evening",
            ],
            "My badge number is now 6034",
            1,
        ),
        (
            [
                "我住在南京",
                "我的工号是5521",
                "我的经理是王芳",
                "我最喜欢的茶是乌龙",
                "我的座位是靠窗",
                "我的班次是晚班",
            ],
            "我的工号改成6034了",
            1,
        ),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        for fact in facts {
            say(&tenant, fact);
        }
        fixture.pass("1d");
        let answer = say(&tenant, correction);
        assert_eq!(answer.outcome, Outcome::Superseded);
        assert_eq!(answer.affected.len(), 2, "{:?}", answer.affected);
        let mut expected: Vec<&str> = facts.into_iter().filter(|fact| *fact != facts[wrong]).collect();
        expected.push(correction);
        expected.sort_unstable();
        assert_eq!(active(&tenant), expected);
    }
}

#[test]
fn a_statement_of_one_speaker_does_not_overturn_that_of_another() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let by = |speaker: &str, words: &str| {
        tenant.remember(memcards::Remember { speaker: Some(speaker.into()), ..text(words) }).unwrap()
    };
    by("Rosa", "I like spicy food");
    by("Emil", "I don't like spicy food");
    assert_eq!(active(&tenant).len(), 2);
    by("Rosa", "I don't like spicy food");
    assert_eq!(active(&tenant), ["I don't like spicy food", "I don't like spicy food"]);
}

/// Words that take back what was said just before, with and without saying of what, and a value that is
/// denied beside the one that holds.
#[test]
fn a_correction_in_passing_leaves_one_answer() {
    for (first, second, question) in [
        ("The standup is on Monday", "No, Tuesday", "when is the standup?"),
        ("The workshop is on floor 3", "No, floor 4", "which floor is the workshop on?"),
        ("My boss is Carl", "My boss is now Dora, not Carl", "who is my boss?"),
        ("My dentist is Miller", "Sorry, no, my dentist is Novak", "who is my dentist?"),
        ("例会是周一", "不对，是周二", "例会是哪天？"),
        ("我的老板是小李", "我的老板是小王，不是小李", "我的老板是谁？"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("anna");
        say(&tenant, first);
        say(&tenant, second);
        assert_eq!(active(&tenant), [second], "{first}");
        let found = ask(&tenant, question);
        assert_eq!(found.first().map(String::as_str), Some(second), "{question}");
        assert!(!found.iter().any(|text| text == first), "{question}: {found:?}");
    }
    // Somebody else's "no" takes nothing back, nor does a "no" that goes on to something else.
    let fixture = Fixture::new();
    let tenant = fixture.tenant("anna");
    say(&tenant, "The standup is on Monday");
    say(&tenant, "No, thanks");
    say(&tenant, "No, I like tea");
    assert_eq!(active(&tenant).len(), 3);
}
