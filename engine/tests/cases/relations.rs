//! Relations: an edge is a card, a thing is found by its name, and a walk finds the best path.

use std::collections::HashMap;

use memcards::card::{CardId, Fact, Polarity, State, Track, category};
use memcards::recall::{DECAY, EDGES_LOOKED_AT};
use memcards::{
    AttributeVersion, Correct, Count, Direction, Entity, EntityView, Forget, List, Options, Outcome, Path,
    Relate, Remember, Restore, Tenant, Timestamp, Walk, Walked, execute, execute_all,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{
    Fixture, all_cards, ask, duration, filter, forget, get, past, said_in, say, start, text, time,
};

fn relate(tenant: &Tenant, from: &str, relation: &str, to: &str) -> CardId {
    tenant.relate(Relate::new(from, relation, to)).unwrap().id
}

fn scored(tenant: &Tenant, from: &str, to: &str, score: f64) -> CardId {
    tenant.relate(Relate { score: Some(score), ..Relate::new(from, "knows", to) }).unwrap().id
}

fn entity(tenant: &Tenant, name: &str) -> EntityView {
    tenant.entity(&Entity { name: name.into(), ..Entity::default() }).unwrap()
}

fn from(start: &str) -> Walk {
    Walk { start: start.into(), ..Walk::default() }
}

fn walk(tenant: &Tenant, request: &Walk) -> Walked {
    tenant.walk(request).unwrap()
}

/// Names, scores in thousandths and hops.
fn reached(walked: &Walked) -> Vec<(&str, i64, usize)> {
    walked
        .paths
        .iter()
        .map(|path| (path.to.as_str(), (path.score * 1000.0).round() as i64, path.hops))
        .collect()
}

/// Names of the things next to one, in order of the answer.
fn near(tenant: &Tenant, name: &str) -> Vec<String> {
    let walked = walk(tenant, &Walk { hops: Some(1), ..from(name) });
    walked.paths.into_iter().map(|path| path.to).collect()
}

/// Other ends of a thing's relations, in order of the answer.
fn ends(view: &EntityView) -> Vec<String> {
    let other = |edge: &memcards::Edge| match edge.direction {
        Direction::In => edge.from.clone(),
        _ => edge.to.clone(),
    };
    view.edges.iter().map(other).collect()
}

fn told(entity: &str, attribute: &str, value: &str) -> Remember {
    Remember {
        fact: Some(Fact { entity: entity.into(), attribute: attribute.into(), value: value.into() }),
        ..text(&format!("{entity}, {attribute}: {value}"))
    }
}

#[test]
fn an_edge_is_a_card_with_every_field_in_its_place() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let answer = tenant
        .relate(Relate {
            score: Some(0.7),
            since: Some(time("2024-05-01T00:00:00Z")),
            until: Some(time("2026-05-01T00:00:00Z")),
            session: Some("s".into()),
            turn: Some(3),
            speaker: Some("Ines".into()),
            actor: Some("importer".into()),
            reason: Some("told so".into()),
            ..Relate::new("Mira", "works with", "Otto")
        })
        .unwrap();
    assert_eq!((answer.outcome, answer.version, answer.seq), (Outcome::Created, 1, 1));
    let card = get(&tenant, answer.id).unwrap();
    assert_eq!(card.content, "Mira works with Otto");
    assert_eq!((card.track, card.category.as_str()), (Track::Entity, category::RELATION));
    assert_eq!(card.entities, ["Mira", "Otto"]);
    let fact = Fact { entity: "Mira".into(), attribute: "works with".into(), value: "Otto".into() };
    assert_eq!(card.fact, Some(fact));
    assert_eq!(card.attributes["score"], json!(0.7));
    assert_eq!(card.valid_from, Some(time("2024-05-01T00:00:00Z")));
    assert_eq!(card.valid_to, Some(time("2026-05-01T00:00:00Z")));
    assert_eq!(
        (card.session.as_deref(), card.turn, card.speaker.as_deref()),
        (Some("s"), Some(3), Some("Ines"))
    );
    assert_eq!(card.reason.why.as_deref(), Some("told so"));
    assert!(category::BUILT_IN.contains(&category::RELATION));
    // What holds for cards holds for it.
    assert_eq!(ask(&tenant, "who works with Otto?"), ["Mira works with Otto"]);
    let edges = filter(json!({"field": "category", "eq": "relation"}));
    assert_eq!(tenant.list(&List { filter: Some(edges), ..List::default() }).unwrap().cards.len(), 1);
    let strong = filter(json!({"field": "attributes.score", "gte": 0.5}));
    assert_eq!(tenant.count(&Count { filter: Some(strong), ..Count::default() }).unwrap(), 1);
    assert_eq!(past(&tenant, answer.id), ["Mira works with Otto"]);
}

#[test]
fn a_thing_may_have_any_number_of_each_relation() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let names = ["Otto", "Ines", "Paul", "Ruth"];
    let mut ids: Vec<CardId> = names[..2].iter().map(|name| relate(&tenant, "Mira", "knows", name)).collect();
    // Also when `remember` makes them.
    for name in &names[2..] {
        let request = Remember { category: Some("relation".into()), ..told("Mira", "knows", name) };
        ids.push(tenant.remember(request).unwrap().id);
    }
    // Words that a statement would contradict, and be contradicted by.
    ids.push(relate(&tenant, "The bridge", "is", "open"));
    ids.push(relate(&tenant, "The bridge", "is", "not open"));
    for id in &ids {
        let card = get(&tenant, *id).unwrap();
        assert_eq!((card.state, card.links.len()), (State::Active, 0), "{}", card.content);
    }
    assert_eq!(near(&tenant, "mira"), ["Ines", "Otto", "Paul", "Ruth"]);
    // A statement in the same track is compared with statements only, and its fact with facts.
    let statement = |content: &str| Remember { track: Some(Track::Entity), ..text(content) };
    for request in [statement("The bridge is closed"), told("Mira", "knows", "nobody")] {
        let answer = tenant.remember(request).unwrap();
        assert_eq!((answer.outcome, answer.affected.len()), (Outcome::Created, 1));
    }
    assert!(ids.iter().all(|id| get(&tenant, *id).unwrap().state == State::Active));
    // "Now it is red" is about the statement before, not about the edge before.
    tenant.remember(said_in("s", "The colour of the door is blue")).unwrap();
    tenant
        .relate(Relate { session: Some("s".into()), ..Relate::new("door", "is part of", "house") })
        .unwrap();
    let answer = tenant.remember(said_in("s", "Now it is red")).unwrap();
    assert_eq!(answer.outcome, Outcome::Superseded);
}

#[test]
fn the_same_three_names_are_one_card_however_they_are_written() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let first = relate(&tenant, "Mira Sol", "works with", "Otto");
    for (mentions, names) in [
        ["Mira Sol", "works with", "Otto"],
        ["mira sol", "WORKS WITH", "otto"],
        ["Ｍｉｒａ　Ｓｏｌ", "works  with", "Ｏｔｔｏ"],
        [" Mira  Sol ", "works with", "Otto"],
        ["Mira Sol", "works with", "Otto"],
    ]
    .iter()
    .enumerate()
    {
        let [from, relation, to] = names;
        assert_eq!(relate(&tenant, from, relation, to), first, "{names:?}");
        let card = get(&tenant, first).unwrap();
        assert_eq!(card.mention_count as usize, mentions + 2);
        assert_eq!(card.content, format!("{from} {relation} {to}"), "the newest wording");
        assert_eq!(card.entities.len(), 2, "{:?}", card.entities);
    }
    // Told by somebody else it is the same, and by a turn that is delivered twice told once.
    let by = |turn| Relate {
        session: Some("s".into()),
        turn: Some(turn),
        speaker: Some("Ines".into()),
        ..Relate::new("Mira Sol", "works with", "Otto")
    };
    for (turn, mentions) in [(1, 7), (1, 7), (2, 8)] {
        assert_eq!(tenant.relate(by(turn)).unwrap().id, first);
        assert_eq!(get(&tenant, first).unwrap().mention_count, mentions);
    }
    // `remember` of the same fact as a relation meets it, too.
    let request = Remember {
        category: Some("relation".into()),
        track: Some(Track::Entity),
        ..told("mira sol", "works with", "otto")
    };
    assert_eq!(tenant.remember(request).unwrap().id, first);
    // The same words with other borders, the other direction, and other signs are others.
    let others = [
        ["Mira", "Sol works with", "Otto"],
        ["Otto", "works with", "Mira Sol"],
        ["Mira Sol", "works with", "Otto 2"],
        ["Mira-Sol", "works with", "Otto"],
    ];
    let mut ids: Vec<CardId> =
        others.iter().map(|[from, relation, to]| relate(&tenant, from, relation, to)).collect();
    ids.push(first);
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), all_cards(&tenant)), (5, 5));
}

#[test]
fn what_is_told_again_brings_score_and_time_up_to_date() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let since = Some(time("2024-01-01T00:00:00Z"));
    let until = Some(time("2027-01-01T00:00:00Z"));
    let base = || Relate::new("Mira", "leads", "the studio");
    let mut id = None;
    for (request, outcome, expected) in [
        (base(), Outcome::Created, (json!(1.0), None, None)),
        (base(), Outcome::Duplicate, (json!(1.0), None, None)),
        (Relate { score: Some(0.4), ..base() }, Outcome::Merged, (json!(0.4), None, None)),
        (base(), Outcome::Duplicate, (json!(0.4), None, None)),
        (Relate { since, ..base() }, Outcome::Merged, (json!(0.4), since, None)),
        (Relate { until, ..base() }, Outcome::Merged, (json!(0.4), since, until)),
        (Relate { score: Some(0.9), ..base() }, Outcome::Merged, (json!(0.9), since, until)),
        (
            Relate { confidence: Some(0.5), score: Some(0.1), ..base() },
            Outcome::Duplicate,
            (json!(0.9), since, until),
        ),
    ] {
        let answer = tenant.relate(request.clone()).unwrap();
        assert_eq!(answer.outcome, outcome, "{request:?}");
        assert_eq!(*id.get_or_insert(answer.id), answer.id);
        let card = get(&tenant, answer.id).unwrap();
        assert_eq!(
            (card.attributes["score"].clone(), card.valid_from, card.valid_to),
            expected,
            "{request:?}"
        );
    }
    let id = id.unwrap();
    assert_eq!(get(&tenant, id).unwrap().mention_count, 8);
    assert_eq!(past(&tenant, id).len(), 5, "each change is a version");
    let view = entity(&tenant, "mira");
    assert_eq!((view.edges[0].score, view.edges[0].since, view.edges[0].until), (0.9, since, until));
}

#[test]
fn a_time_that_is_over_and_begins_anew_is_history_and_present() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let at = |year: i32| time(&format!("{year}-01-01T00:00:00Z"));
    let base = || Relate::new("Mira", "works at", "the mill");
    let first = tenant.relate(Relate { since: Some(at(2015)), until: Some(at(2018)), ..base() }).unwrap().id;
    assert!(near(&tenant, "mira").is_empty(), "it is over");
    let again = tenant.relate(Relate { since: Some(at(2022)), ..base() }).unwrap();
    assert_eq!(again.outcome, Outcome::Superseded);
    // An earlier time that is told last is history at once; told twice it is told once.
    let early = Relate { since: Some(at(2010)), until: Some(at(2012)), ..base() };
    let oldest = tenant.relate(early.clone()).unwrap().id;
    assert_eq!(tenant.relate(early).unwrap().id, oldest);
    let longer = Relate { since: Some(at(2009)), until: Some(at(2012)), ..base() };
    assert_eq!(tenant.relate(longer).unwrap().id, oldest);
    assert_eq!(all_cards(&tenant), 3);
    for (year, holder) in [
        (2008, None),
        (2009, Some(oldest)),
        (2013, None),
        (2016, Some(first)),
        (2019, None),
        (2023, Some(again.id)),
    ] {
        let request = Walk { as_of: Some(at(year)), ..from("mira") };
        let found =
            tenant.walk(&request).ok().and_then(|walked| walked.paths.first().map(|path| path.edges[0].id));
        assert_eq!(found, holder, "{year}");
    }
    assert_eq!(near(&tenant, "mira"), ["the mill"]);
    assert_eq!(relate(&tenant, "mira", "works at", "the mill"), again.id);
    // It ends, and holds again without a word about the time.
    tenant.relate(Relate { until: Some(fixture.clock_now()), ..base() }).unwrap();
    assert!(near(&tenant, "mira").is_empty());
    fixture.pass("1d");
    let back = tenant.relate(base()).unwrap();
    assert_ne!(back.id, again.id);
    assert_eq!(near(&tenant, "mira"), ["the mill"]);
    // What begins later is not walked yet.
    let future = fixture.clock_now().plus(duration("10d"));
    tenant.relate(Relate { since: Some(future), ..Relate::new("Mira", "moves to", "the sea") }).unwrap();
    assert_eq!(near(&tenant, "mira"), ["the mill"]);
    fixture.pass("10d");
    assert_eq!(near(&tenant, "mira"), ["the mill", "the sea"]);
}

#[test]
fn versions_of_an_attribute_come_with_the_value_that_holds_first() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let mut ids = Vec::new();
    for value in ["blue", "red", "green"] {
        ids.push(tenant.remember(told("Kiln 7", "colour", value)).unwrap().id);
        fixture.pass("1d");
    }
    tenant.remember(told("kiln 7", "Weight", "90 kg")).unwrap();
    tenant
        .remember(Remember { polarity: Some(Polarity::Excluded), ..told("kiln 7", "fuel", "gas") })
        .unwrap();
    relate(&tenant, "KILN 7", "stands in", "the yard");
    let view = entity(&tenant, "ｋｉｌｎ 7");
    assert_eq!(view.name, "KILN 7");
    let attributes: Vec<(&str, &str)> =
        view.attributes.iter().map(|a| (a.attribute.as_str(), a.value.as_str())).collect();
    assert_eq!(attributes, [("colour", "green"), ("Weight", "90 kg")]);
    let day = |days: i64| start().plus(memcards::Duration::from_hours(24 * days));
    let version = |place: usize, value: &str, to: Option<Timestamp>, version| AttributeVersion {
        value: value.into(),
        from: day(place as i64),
        to,
        id: ids[place],
        version,
    };
    let colour = &view.attributes[0];
    assert_eq!((colour.id, colour.since, colour.confidence), (ids[2], day(2), 0.8));
    assert_eq!(
        colour.versions,
        [
            version(2, "green", None, 1),
            version(1, "red", Some(day(2)), 2),
            version(0, "blue", Some(day(1)), 2)
        ]
    );
    assert_eq!((view.cards.count, view.cards.latest.len(), view.edges.len()), (4, 4, 1));
    // The past, as it was true and as it was known.
    let at = |as_of, known_at| {
        let request = Entity { name: "kiln 7".into(), as_of, known_at, ..Entity::default() };
        let view = tenant.entity(&request).unwrap();
        let values = |a: &memcards::Attribute| a.versions.iter().map(|v| v.value.clone()).collect::<Vec<_>>();
        view.attributes.iter().map(values).collect::<Vec<_>>()
    };
    assert_eq!(at(Some(day(1)), None), [["red", "blue"]]);
    assert_eq!(at(None, Some(day(1))), [["red", "blue"]]);
    assert_eq!(at(Some(day(0)), Some(day(1))), [["blue"]]);
    // A value that is forgotten is no value any more, and no version.
    tenant.forget(forget(ids[1])).unwrap();
    assert_eq!(entity(&tenant, "kiln 7").attributes[0].versions.len(), 2);
    tenant.forget(forget(ids[2])).unwrap();
    assert_eq!(entity(&tenant, "kiln 7").attributes.len(), 1);
}

#[test]
fn an_entity_shows_both_directions_the_strongest_first() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    scored(&tenant, "Mira", "Otto", 0.5);
    scored(&tenant, "Ines", "Mira", 0.9);
    scored(&tenant, "Mira", "Paul", 0.5);
    scored(&tenant, "Mira", "Mira", 0.1);
    let view = entity(&tenant, "Mira");
    let shown: Vec<(&str, Direction)> = view.edges.iter().map(|e| (e.to.as_str(), e.direction)).collect();
    let (out, into) = (Direction::Out, Direction::In);
    assert_eq!(shown, [("Mira", into), ("Paul", out), ("Otto", out), ("Mira", out)]);
    assert!(!view.truncated);
    say(&tenant, "Nobody is named here");
    let named = tenant.remember(Remember { entities: vec!["MIRA".into()], ..text("She sings") }).unwrap().id;
    let view = tenant.entity(&Entity { name: "mira".into(), limit: Some(2), ..Entity::default() }).unwrap();
    assert_eq!((view.name.as_str(), view.edges.len(), view.truncated), ("MIRA", 2, true));
    assert_eq!((view.cards.count, view.cards.latest.len(), view.cards.latest[0]), (5, 2, named));
}

#[test]
fn other_names_of_a_thing_are_followed_three_steps() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    relate(&tenant, "Otto", "alias", "O. Kern");
    relate(&tenant, "Herr Kern", "Same As", "O. Kern");
    relate(&tenant, "Herr Kern", "alias", "Kern");
    relate(&tenant, "Kern", "alias", "K.");
    relate(&tenant, "Kern", "lives in", "Basel");
    relate(&tenant, "K.", "lives in", "Bern");
    tenant.remember(told("o. kern", "age", "44")).unwrap();
    let view = entity(&tenant, "otto");
    assert_eq!(view.aliases, ["O. Kern", "Herr Kern", "Kern"]);
    assert_eq!(view.attributes[0].value, "44");
    assert!(ends(&view).contains(&"Basel".into()) && !ends(&view).contains(&"Bern".into()));
    assert_eq!(entity(&tenant, "Kern").aliases, ["Herr Kern", "K.", "O. Kern", "Otto"]);
    assert!(entity(&tenant, "Basel").aliases.is_empty());
    // An alias that is taken back, or is over, is none.
    tenant.forget(forget(relate(&tenant, "otto", "alias", "o. kern"))).unwrap();
    assert_eq!(
        tenant.entity(&Entity { name: "Otto".into(), ..Entity::default() }).unwrap_err().code(),
        "not_found"
    );
    assert_eq!(entity(&tenant, "O. Kern").aliases, ["Herr Kern", "Kern", "K."]);
}

#[test]
fn each_thing_is_reached_by_its_best_path() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    // Straight but weak, or round about and strong.
    scored(&tenant, "a", "b", 0.3);
    scored(&tenant, "a", "c", 1.0);
    scored(&tenant, "c", "b", 0.9);
    scored(&tenant, "b", "d", 1.0);
    scored(&tenant, "d", "a", 0.2);
    scored(&tenant, "d", "e", 0.5);
    let hops = |hops| Walk { hops: Some(hops), direction: Direction::Out, ..from("A") };
    let found = walk(&tenant, &hops(1));
    assert_eq!(reached(&found), [("c", 1000, 1), ("b", 300, 1)]);
    // 1.0 × 0.9 × 0.7; d is reached by the weaker way to b, which leaves a hop.
    let found = walk(&tenant, &hops(2));
    assert_eq!(reached(&found), [("c", 1000, 1), ("b", 630, 2), ("d", 210, 2)]);
    let found = walk(&tenant, &hops(3));
    assert_eq!(reached(&found), [("c", 1000, 1), ("b", 630, 2), ("d", 441, 3), ("e", 74, 3)]);
    let found = walk(&tenant, &hops(4));
    assert_eq!(reached(&found), [("c", 1000, 1), ("b", 630, 2), ("d", 441, 3), ("e", 154, 4)]);
    let path = &found.paths[3];
    let names: Vec<String> = path.edges.iter().map(|e| format!("{}{}", e.from, e.to)).collect();
    assert_eq!(names, ["ac", "cb", "bd", "de"]);
    assert_eq!(get(&tenant, path.edges[0].id).unwrap().content, "a knows c");
    assert!((DECAY - 0.7).abs() < f64::EPSILON);
    // The other way, either way, and only some relations.
    let direction = |direction| Walk { direction, hops: Some(1), ..from("a") };
    assert_eq!(reached(&walk(&tenant, &direction(Direction::In))), [("d", 200, 1)]);
    assert_eq!(
        reached(&walk(&tenant, &direction(Direction::Both))),
        [("c", 1000, 1), ("b", 300, 1), ("d", 200, 1)]
    );
    relate(&tenant, "a", "owns", "a boat");
    relate(&tenant, "a boat", "knows", "the sea");
    let only = Walk { relations: vec!["OWNS".into()], ..from("a") };
    assert_eq!(reached(&walk(&tenant, &only)), [("a boat", 1000, 1)]);
    // Equal scores: fewer hops, then the name; the top of it.
    let top = Walk { top: Some(2), ..from("a") };
    assert_eq!(reached(&walk(&tenant, &top)), [("a boat", 1000, 1), ("c", 1000, 1)]);
    assert_eq!(walk(&tenant, &from("a")), walk(&tenant, &from("a")));
}

#[test]
fn bounds_are_told() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    relate(&tenant, "a", "knows", "b");
    for (request, field) in [
        (Relate::new("", "knows", "b"), "from"),
        (Relate::new("a", " ", "b"), "relation"),
        (Relate::new("a", "knows", "b\u{7}"), "to"),
        (Relate::new("a", "knows", "x".repeat(257)), "to"),
        (Relate { score: Some(1.1), ..Relate::new("a", "knows", "b") }, "score"),
        (Relate { score: Some(-0.1), ..Relate::new("a", "knows", "b") }, "score"),
        (Relate { score: Some(f64::NAN), ..Relate::new("a", "knows", "b") }, "score"),
        (Relate { since: Some(start()), until: Some(start()), ..Relate::new("a", "knows", "b") }, "until"),
        (Relate { turn: Some(1), ..Relate::new("a", "knows", "b") }, "turn"),
    ] {
        assert_eq!(tenant.relate(request.clone()).unwrap_err().field(), Some(field), "{request:?}");
    }
    for (request, field) in [
        (Walk { hops: Some(0), ..from("a") }, "hops"),
        (Walk { hops: Some(5), ..from("a") }, "hops"),
        (Walk { top: Some(0), ..from("a") }, "top"),
        (Walk { top: Some(1001), ..from("a") }, "top"),
        (from(""), "start"),
        (Walk { relations: vec![String::new()], ..from("a") }, "relations[0]"),
        (Walk { relations: vec!["x".into(); 65], ..from("a") }, "relations"),
    ] {
        assert_eq!(tenant.walk(&request).unwrap_err().field(), Some(field), "{request:?}");
    }
    for limit in [0, 1001] {
        let request = Entity { name: "a".into(), limit: Some(limit), ..Entity::default() };
        assert_eq!(tenant.entity(&request).unwrap_err().field(), Some("limit"));
    }
    for (request, field) in [
        (json!({"verb": "relate", "from": "a", "relation": "b"}), "to"),
        (json!({"verb": "entity"}), "name"),
        (json!({"verb": "walk", "hops": 1}), "start"),
        (json!({"verb": "walk", "start": "a", "direction": "up"}), "direction"),
        (json!({"verb": "walk", "start": "a", "depth": 1}), "depth"),
    ] {
        let mut request = request;
        request["tenant"] = "t".into();
        assert_eq!(execute(&fixture.store, &request.to_string())["error"]["field"], field, "{request}");
    }
    assert_eq!(all_cards(&tenant), 1);
}

#[test]
fn what_nobody_names_is_not_there() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let errors = |tenant: &Tenant, name: &str| {
        let entity = tenant.entity(&Entity { name: name.into(), ..Entity::default() });
        (entity.unwrap_err().to_string(), tenant.walk(&from(name)).unwrap_err().to_string())
    };
    let before = errors(&tenant, "Mira");
    assert!(before.0.ends_with("not found"), "{before:?}");
    relate(&fixture.tenant("other"), "Mira", "knows", "Otto");
    say(&tenant, "the admiral only has these letters in it");
    assert_eq!(errors(&tenant, "Mira"), before);
    assert_eq!(errors(&fixture.tenant("new"), "Mira"), before);
    // What a text mentions is named by it.
    let id = say(&tenant, "Mira is only a word of this text").id;
    let view = entity(&tenant, "mira");
    assert_eq!((view.name.as_str(), view.cards.latest), ("Mira", vec![id]));
    tenant.forget(forget(id)).unwrap();
    assert_eq!(errors(&tenant, "Mira"), before);
    // A thing that is named, but not related, leads nowhere.
    tenant.remember(Remember { entities: vec!["Mira".into()], ..text("She sings") }).unwrap();
    assert!(walk(&tenant, &from("Mira")).paths.is_empty());
    assert!(entity(&tenant, "mira").edges.is_empty());
}

#[test]
fn hostile_names_are_names() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let long = "长".repeat(85);
    let names = [
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "🫖 tea 👩‍👩‍👧",
        "o'neil",
        "\"quoted\" \\ back",
        "a:b#c*",
        "*",
        "{\"field\":\"x\"}",
        "用户-1",
        "林小雨",
        "ไทย",
        "שלום",
        "e\u{301}te",
        "\u{200b}",
        "İstanbul",
        "10⁵",
        "105",
        long.as_str(),
    ];
    for (at, name) in names.iter().enumerate() {
        let next = names[(at + 1) % names.len()];
        relate(&tenant, name, "→ \"rel\"", next);
        tenant.remember(told(name, "number", &at.to_string())).unwrap();
    }
    for (at, name) in names.iter().enumerate() {
        let (next, before) = (names[(at + 1) % names.len()], names[(at + names.len() - 1) % names.len()]);
        let mut expected = [next, before].map(str::to_owned);
        expected.sort();
        let view = entity(&tenant, name);
        let mut found = ends(&view);
        found.sort();
        assert_eq!((view.name.as_str(), found), (*name, expected.to_vec()));
        assert_eq!(view.attributes[0].value, at.to_string());
        assert_eq!(walk(&tenant, &Walk { hops: Some(1), ..from(name) }).paths.len(), 2, "{name}");
        let request = json!({"verb": "entity", "tenant": "t", "name": name}).to_string();
        assert_eq!(execute(&fixture.store, &request)["name"], *name);
    }
    assert_eq!(entity(&tenant, "étE").name, "e\u{301}te");
}

#[test]
fn chinese_names_and_relations() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("张");
    relate(&tenant, "林小雨", "住在", "杭州");
    relate(&tenant, "林小雨", "的同事是", "王强");
    relate(&tenant, "王强", "住在", "上海");
    relate(&tenant, "王强", "alias", "老王");
    assert_eq!(relate(&tenant, "林小雨", "住在", "杭州"), relate(&tenant, "林小雨", "住在　", "杭州"));
    assert_eq!(
        reached(&walk(&tenant, &from("林小雨"))),
        [("杭州", 1000, 1), ("王强", 1000, 1), ("上海", 700, 2), ("老王", 700, 2)]
    );
    assert_eq!(ends(&entity(&tenant, "老王")).len(), 3);
    relate(&tenant, "林小雨", "住在", "杭州");
    assert_eq!(ask(&tenant, "林小雨住在哪里？")[0], "林小雨 住在 杭州");
}

#[test]
fn forgotten_edges_are_not_walked_until_they_are_restored() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = relate(&tenant, "Mira", "knows", "Otto");
    relate(&tenant, "Mira", "knows", "Ines");
    fixture.pass("1d");
    let known_at = Some(fixture.clock_now());
    fixture.pass("1d");
    tenant.forget(forget(id)).unwrap();
    assert_eq!(near(&tenant, "Mira"), ["Ines"]);
    let gone = tenant.entity(&Entity { name: "Otto".into(), ..Entity::default() }).unwrap_err();
    assert_eq!(gone.code(), "not_found");
    assert_eq!(walk(&tenant, &Walk { known_at, ..from("Otto") }).paths.len(), 2, "as it was known then");
    assert_eq!(
        tenant.entity(&Entity { name: "Otto".into(), known_at, ..Entity::default() }).unwrap().edges.len(),
        1
    );
    drop(tenant);
    let fixture = fixture.reopen();
    let tenant = fixture.tenant("t");
    assert_eq!(near(&tenant, "Mira"), ["Ines"]);
    let restore = |id| tenant.restore(Restore { id: Some(id), ..Restore::default() }).unwrap();
    assert_eq!(restore(id).restored, [id]);
    assert_eq!(near(&tenant, "Mira"), ["Ines", "Otto"]);
    assert_eq!(relate(&tenant, "Mira", "knows", "Otto"), id);
    // Told again meanwhile, it has its place taken.
    tenant.forget(forget(id)).unwrap();
    let other = relate(&tenant, "mira", "KNOWS", "otto");
    assert_ne!(other, id);
    assert!(restore(id).restored.is_empty());
    assert_eq!(near(&tenant, "Mira"), ["Ines", "otto"]);
    // By condition: everything about somebody.
    let about = filter(json!({"field": "entities", "contains": "otto"}));
    tenant.forget(Forget { filter: Some(about), ..Forget::default() }).unwrap();
    assert_eq!(near(&tenant, "Mira"), ["Ines"]);
}

#[test]
fn only_edges_that_are_shown_and_hold_are_walked() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let edge = |to: &str| Remember { category: Some("relation".into()), ..told("hub", "knows", to) };
    let hour = Some(duration("1h"));
    tenant.remember(Remember { ttl: hour, ..edge("expired") }).unwrap();
    tenant.remember(Remember { polarity: Some(Polarity::Excluded), ..edge("excluded") }).unwrap();
    tenant.remember(Remember { confidence: Some(0.5), ..edge("weak") }).unwrap();
    tenant.remember(Remember { valid_to: Some(start().plus(duration("30m"))), ..edge("over") }).unwrap();
    tenant.remember(edge("plain")).unwrap();
    for (attribute, value) in [("score", json!("high")), ("score", json!(7)), ("other", json!(0))] {
        let attributes = [(attribute.to_owned(), value.clone())].into_iter().collect();
        tenant.remember(Remember { attributes, ..edge(&format!("odd {value}")) }).unwrap();
    }
    fixture.pass("1h");
    let odd = ["odd \"high\"", "odd 0", "odd 7"];
    assert_eq!(near(&tenant, "hub"), [&odd[..], &["plain"]].concat());
    // What is over is still told of, with its end.
    assert_eq!(ends(&entity(&tenant, "hub")).len(), 5);
    // A second telling makes the weak one walked.
    tenant.relate(Relate::new("hub", "knows", "weak")).unwrap();
    assert!(near(&tenant, "hub").contains(&"weak".into()));
    // The contrary replaces it, and the other way round.
    let answer = tenant.remember(Remember { polarity: Some(Polarity::Excluded), ..edge("plain") }).unwrap();
    assert_eq!(answer.outcome, Outcome::Superseded);
    assert!(!near(&tenant, "hub").contains(&"plain".into()));
    relate(&tenant, "hub", "knows", "plain");
    assert!(near(&tenant, "hub").contains(&"plain".into()));
}

#[test]
fn corrected_names_take_the_edge_along() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let id = relate(&tenant, "Mira", "knows", "Oto");
    let fact = Some(Fact { entity: "Mira".into(), attribute: "knows".into(), value: "Otto".into() });
    let put_right = tenant.correct(Correct { id, fact, ..Correct::default() }).unwrap().id;
    let card = get(&tenant, put_right).unwrap();
    assert_eq!((card.content.as_str(), card.entities.join(",")), ("Mira knows Otto", "Mira,Otto".into()));
    assert_eq!(near(&tenant, "Mira"), ["Otto"]);
    assert_eq!(relate(&tenant, "Mira", "knows", "Otto"), put_right, "under its new key");
    let old = relate(&tenant, "Mira", "knows", "Oto");
    assert!(![id, put_right].contains(&old));
    // A card becomes an edge, and stops being one.
    let note = tenant.remember(told("Mira", "likes", "tea")).unwrap().id;
    let category = |name: &str| Correct { id: note, category: Some(name.into()), ..Correct::default() };
    tenant.correct(category("relation")).unwrap();
    assert!(near(&tenant, "Mira").contains(&"tea".into()));
    assert_eq!(relate(&tenant, "Mira", "likes", "tea"), note);
    tenant.correct(category("preference")).unwrap();
    assert!(!near(&tenant, "Mira").contains(&"tea".into()));
    assert_eq!(entity(&tenant, "mira").attributes[0].value, "tea");
    // A fact of another category holds its place again.
    assert_eq!(tenant.remember(told("Mira", "likes", "coffee")).unwrap().outcome, Outcome::Superseded);
}

#[test]
fn one_batch_sees_its_own_edges() {
    let fixture = Fixture::new();
    let line = |from: &str, to: &str| {
        json!({"verb": "relate", "tenant": "t", "from": from, "relation": "knows", "to": to}).to_string()
    };
    let lines = [
        line("a", "b"),
        line("A", "B"),
        json!({"verb": "remember", "tenant": "t", "content": "The gate is shut"}).to_string(),
        line("b", "c"),
        json!({"verb": "relate", "tenant": "t", "from": "a"}).to_string(),
        json!({"verb": "walk", "tenant": "t", "start": "a"}).to_string(),
    ];
    let answers = execute_all(&fixture.store, &lines);
    let outcomes: Vec<&Value> = answers.iter().map(|answer| &answer["outcome"]).collect();
    assert_eq!(outcomes[..4], [&json!("created"), &json!("merged"), &json!("created"), &json!("created")]);
    assert_eq!(answers[4]["error"]["field"], "relation");
    assert_eq!(answers[5]["paths"][1]["to"], "c");
}

#[test]
fn edges_survive_export_backup_and_a_lost_index() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
        relate(&tenant, from, "knows", to);
    }
    scored(&tenant, "a", "b", 0.5);
    let expected = (walk(&tenant, &from("a")), entity(&tenant, "a"));
    let read = |tenant: &Tenant| (walk(tenant, &from("a")), entity(tenant, "a"));
    let elsewhere = tempfile::tempdir().unwrap();
    let (copy, file) = (elsewhere.path().join("copy"), elsewhere.path().join("export.jsonl"));
    fixture.store.backup(&copy, |_| {}).unwrap();
    fixture.store.export_file(&file, &memcards::exchange::Export::default(), |_| {}).unwrap();
    let imported = Fixture::new();
    imported.store.import_file(&file, |_| {}).unwrap();
    assert_eq!(read(&imported.tenant("t")), expected);
    let options = Options { clock: fixture.clock.clone(), ..Options::default() };
    assert_eq!(read(&memcards::Store::open(&copy, options).unwrap().tenant("t").unwrap()), expected);
    fixture.store.checkpoint().unwrap();
    drop(tenant);
    let fixture = fixture.reopen();
    assert_eq!(read(&fixture.tenant("t")), expected);
    assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
}

/// Edges that are not walked one by one: as many as are asked for, in few commits.
fn relate_all(tenant: &Tenant, edges: impl IntoIterator<Item = (String, String)>) {
    let request = |(from, to): (String, String)| Remember {
        category: Some("relation".into()),
        track: Some(Track::Entity),
        ..told(&from, "leads to", &to)
    };
    let requests: Vec<Remember> = edges.into_iter().map(request).collect();
    for chunk in requests.chunks(1000) {
        tenant.remember_all(chunk.to_vec()).unwrap().into_iter().for_each(|answer| {
            answer.unwrap();
        });
    }
}

#[test]
fn of_ten_thousand_things_only_what_is_near_is_looked_at() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    // A tree in which each thing leads to ten others.
    relate_all(&tenant, (1..12_000).map(|n: u32| (format!("n{}", (n - 1) / 10), format!("n{n}"))));
    let hops = |hops| Walk { hops: Some(hops), direction: Direction::Out, top: Some(1000), ..from("n0") };
    for (count, looked_at, found) in [(1, 10, 10), (2, 120, 110), (3, 1220, 1000)] {
        let walked = walk(&tenant, &hops(count));
        assert_eq!(
            (walked.looked_at, walked.paths.len(), walked.truncated),
            (looked_at, found, false),
            "{count}"
        );
    }
    // Four hops are more than is looked at.
    let walked = walk(&tenant, &hops(4));
    assert_eq!((walked.looked_at, walked.truncated), (EDGES_LOOKED_AT, true));
    assert_eq!(walked, walk(&tenant, &hops(4)));
    // So is one thing with too many.
    relate_all(&tenant, (0..10_001).map(|n| ("hub".to_owned(), format!("spoke {n}"))));
    let walked = walk(&tenant, &from("hub"));
    assert_eq!((walked.looked_at, walked.paths.len(), walked.truncated), (EDGES_LOOKED_AT, 20, true));
    let walked = walk(&tenant, &Walk { hops: Some(1), ..from("spoke 3") });
    assert_eq!((walked.looked_at, walked.truncated), (1, false));
    let view = entity(&tenant, "hub");
    assert_eq!((view.cards.count, view.edges.len(), view.truncated), (10_001, 50, true));
}

/// The best path to each thing, by trying every path; in the order of the answer.
fn tried(edges: &[(usize, usize, f64)], direction: Direction, hops: usize) -> Vec<(String, f64, usize)> {
    fn go(
        edges: &[(usize, usize, f64)],
        direction: Direction,
        left: usize,
        (score, path): (f64, &mut Vec<usize>),
        best: &mut HashMap<usize, (f64, usize)>,
    ) {
        let at = path[path.len() - 1];
        if left == 0 {
            return;
        }
        for (a, b, weight) in edges {
            for (from, to, way) in [(*a, *b, Direction::Out), (*b, *a, Direction::In)] {
                let followed = direction == Direction::Both || direction == way;
                if from != at || path.contains(&to) || !followed {
                    continue;
                }
                let score = score * if path.len() > 1 { DECAY } else { 1.0 } * weight;
                let found = (score, path.len());
                best.entry(to)
                    .and_modify(|held| {
                        if found.0 > held.0 || (found.0 == held.0 && found.1 < held.1) {
                            *held = found;
                        }
                    })
                    .or_insert(found);
                path.push(to);
                go(edges, direction, left - 1, (score, path), best);
                path.pop();
            }
        }
    }
    let mut best = HashMap::new();
    go(edges, direction, hops, (1.0, &mut vec![0]), &mut best);
    let mut found: Vec<(String, f64, usize)> =
        best.into_iter().map(|(thing, (score, hops))| (format!("n{thing}"), score, hops)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)).then_with(|| a.0.cmp(&b.0)));
    found
}

/// The score of a path by its own edges; each leads on from the one before.
fn followed(path: &Path, scores: &HashMap<(String, String), f64>) -> f64 {
    let mut at = "n0".to_owned();
    let mut score = 1.0;
    for (place, edge) in path.edges.iter().enumerate() {
        let decay = if place > 0 { DECAY } else { 1.0 };
        score = score * decay * scores[&(edge.from.clone(), edge.to.clone())];
        at = if edge.from == at { edge.to.clone() } else { edge.from.clone() };
    }
    assert_eq!(at, path.to);
    score
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_finds_what_trying_every_path_finds(
        edges in prop::collection::vec((0..7_usize, 0..7_usize, 0..=10_u8), 1..16),
        hops in 1..=4_usize,
        direction in prop_oneof![Just(Direction::Out), Just(Direction::In), Just(Direction::Both)],
    ) {
        let fixture = Fixture::words_only();
        let tenant = fixture.tenant("t");
        tenant.remember(Remember { entities: vec!["n0".into()], ..text("It begins here") }).unwrap();
        // The last score of the same two holds.
        let mut last: HashMap<(usize, usize), f64> = HashMap::new();
        for (from, to, tenths) in &edges {
            let score = f64::from(*tenths) / 10.0;
            last.insert((*from, *to), score);
            scored(&tenant, &format!("n{from}"), &format!("N{to}").to_lowercase(), score);
        }
        let edges: Vec<(usize, usize, f64)> = last.iter().map(|((from, to), score)| (*from, *to, *score)).collect();
        let walked = walk(&tenant, &Walk { hops: Some(hops), direction, ..from("N0") });
        let found: Vec<(String, f64, usize)> =
            walked.paths.iter().map(|path| (path.to.clone(), path.score, path.hops)).collect();
        prop_assert_eq!(found, tried(&edges, direction, hops));
        let scores = last.into_iter().map(|((from, to), score)| ((format!("n{from}"), format!("n{to}")), score)).collect();
        for path in &walked.paths {
            prop_assert_eq!(followed(path, &scores), path.score);
            prop_assert_eq!(path.edges.len(), path.hops);
        }
        prop_assert!(walked.looked_at <= 2 * edges.len());
    }
}
