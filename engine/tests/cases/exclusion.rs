//! What is ruled out keeps what recommends it out of answers.

use memcards::card::{Polarity, Role};
use memcards::{Forget, Include, Recall, Remember};

use crate::support::{Fixture, ask, contents, question, say, text};

/// A rule, what recommends the thing all the same, and what must stay.
const RULES: &[(&str, &str, &str, &str)] = &[
    (
        "Which restaurant should we book for dinner?",
        "For a dinner the Harbour Grill is a great seafood restaurant.",
        "Never recommend seafood restaurants to me.",
        "For a dinner the Old Mill is a great steak restaurant.",
    ),
    (
        "Which printer is good for photos?",
        "Model B is the best printer for photos.",
        "Please do not suggest model B.",
        "Model C is a good printer for photos.",
    ),
    ("晚餐吃什么好？", "晚餐推荐海边那家的海鲜。", "不要给我推荐海鲜。", "晚餐推荐老街那家的牛肉面。"),
    (
        "What snack should I bring for the hike?",
        "A bag of peanuts is a great snack for a hike.",
        "Don't recommend peanuts to me.",
        "A bag of dried apples is a great snack for a hike.",
    ),
];

#[test]
fn a_prohibition_withholds_what_recommends_its_object_and_nothing_else() {
    for (query, recommended, rule, allowed) in RULES {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        let kept_out = say(&tenant, recommended).id;
        say(&tenant, allowed);
        assert!(ask(&tenant, query).contains(&(*recommended).to_owned()), "{query}");
        fixture.pass("1d");
        let by = say(&tenant, rule).id;
        let answer = tenant.recall(question(query)).unwrap();
        let found = contents(&answer);
        assert!(!found.contains(&(*recommended).to_owned()), "{query}: {found:?}");
        assert!(found.contains(&(*allowed).to_owned()), "{query}: {found:?}");
        let withheld: Vec<_> = answer.withheld.iter().map(|withheld| (withheld.id, withheld.by)).collect();
        assert_eq!(withheld, [(kept_out, by)], "{query}");

        // With the rule the reason is gone.
        tenant.forget(Forget { id: Some(by), ..Forget::default() }).unwrap();
        assert!(ask(&tenant, query).contains(&(*recommended).to_owned()), "{query}");
    }
}

#[test]
fn an_excluded_value_withholds_without_any_prohibition_in_its_words() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    say(&tenant, "Model B is the best printer for photos.");
    fixture.pass("1h");
    let rule = Remember { polarity: Some(Polarity::Excluded), ..text("model B") };
    tenant.remember(rule).unwrap();
    let found = ask(&tenant, "Which printer is good for photos?");
    assert!(!found.contains(&"Model B is the best printer for photos.".to_owned()), "{found:?}");
}

#[test]
fn later_words_of_a_person_stay_and_those_of_the_assistant_do_not() {
    for (role, stays) in [(None, true), (Some(Role::User), true), (Some(Role::Assistant), false)] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        say(&tenant, "Never recommend seafood restaurants to me.");
        fixture.pass("30d");
        let later = "The Harbour Grill is a great seafood restaurant after all.";
        tenant.remember(Remember { role, ..text(later) }).unwrap();
        let found = ask(&tenant, "great restaurant");
        assert_eq!(found.contains(&later.to_owned()), stays, "{role:?}: {found:?}");
    }
}

#[test]
fn what_only_speaks_of_the_object_and_what_happened_is_no_recommendation() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let told = "The seafood restaurant at the harbour burned down.";
    say(&tenant, told);
    let happened = Remember {
        session: Some("s".into()),
        turn: Some(1),
        role: Some(Role::User),
        ..text("We had a great evening at the seafood restaurant.")
    };
    tenant.remember(happened).unwrap();
    fixture.pass("1d");
    say(&tenant, "Never recommend seafood restaurants to me.");
    let found = ask(&tenant, "seafood restaurant");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn as_many_are_found_as_there_are_beside_what_is_withheld() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    for number in 0..40 {
        say(&tenant, &format!("The seafood restaurant number {number} is great."));
    }
    for number in 0..5 {
        say(&tenant, &format!("The steak restaurant number {number} is great and popular with families."));
    }
    fixture.pass("1d");
    say(&tenant, "Never recommend seafood restaurants to me.");
    let found = ask(&tenant, "which seafood restaurant is great?");
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(found.iter().filter(|text| text.contains("steak")).count(), 4, "{found:?}");
}

#[test]
fn a_view_of_the_past_withholds_nothing() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let told = "Model B is the best printer for photos.";
    say(&tenant, told);
    fixture.pass("1d");
    say(&tenant, "Please do not suggest model B.");
    let history = Recall { include: vec![Include::Superseded], ..question("printer for photos") };
    assert!(contents(&tenant.recall(history).unwrap()).contains(&told.to_owned()));
}

#[test]
fn what_is_innocent_is_never_withheld() {
    for (told, rule, asked) in [
        ("I love plum cake more than anything.", "My cat must not eat plums.", "what cake do I love?"),
        ("I love onions.", "Dad hates onions.", "do I love onions?"),
        ("Vera loves her new job at the mill.", "I hate my job.", "what does Vera love?"),
        ("The best tram on Sundays leaves at 9:40.", "I hate Sundays.", "which tram on Sundays?"),
        ("Thanks to Noa we have a great balcony.", "No thanks.", "who made the balcony great?"),
        ("The best time to call Noa is noon.", "No time!", "best time to call Noa"),
        ("My favourite snack is salted almonds.", "I am not allergic to almonds.", "favourite snack"),
        ("A great substitute for cream is coconut.", "Never recommend cream.", "substitute for cream"),
        ("我最喜欢的酒店是云山。", "我不喝酒", "我最喜欢的酒店"),
        ("老师喜欢喝茉莉花茶。", "我讨厌老师", "老师喜欢喝什么？"),
    ] {
        let fixture = Fixture::new();
        let tenant = fixture.tenant("t");
        say(&tenant, told);
        fixture.pass("1d");
        say(&tenant, rule);
        let answer = tenant.recall(question(asked)).unwrap();
        assert!(answer.withheld.is_empty(), "{told} / {rule}");
        assert!(contents(&answer).contains(&told.to_owned()), "{told} / {rule}");
    }
}

#[test]
fn who_names_cards_by_a_filter_gets_them() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let told = "Model B is the best printer for photos.";
    say(&tenant, told);
    fixture.pass("1d");
    say(&tenant, "Please do not recommend model B.");
    let filter = crate::support::filter(serde_json::json!({"field": "category", "eq": "knowledge"}));
    let answer = tenant.recall(Recall { filter: Some(filter), ..question("printer for photos") }).unwrap();
    assert!(contents(&answer).contains(&told.to_owned()));
}
