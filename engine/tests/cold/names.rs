//! Cold cards are seen by name, beside what was said before and after, and by date, by who asks
//! for archived ones; by nobody else.

use memcards::card::{Fact, Role};
use memcards::{Entity, Include, Recall, Relate, Remember, Tenant, Walk};
use serde_json::{Value, json};

use crate::{World, archive, ask, at, fill, first, sound};

fn entity(tenant: &Tenant, name: &str, include: &[Include]) -> Option<Value> {
    let request = Entity { name: name.into(), include: include.to_vec(), ..Entity::default() };
    tenant.entity(&request).ok().map(|view| json!(view))
}

fn walk(tenant: &Tenant, start: &str, include: &[Include]) -> Option<Value> {
    let request = Walk { start: start.into(), hops: Some(3), include: include.to_vec(), ..Walk::default() };
    tenant.walk(&request).ok().map(|walked| json!(walked.paths))
}

#[test]
fn entity_and_walk_read_cold_relations_where_archived_ones_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let tenant = store.tenant("anna").unwrap();
    for (from, relation, to) in [
        ("Mira", "works with", "Otto"),
        ("Otto", "lives in", "Basel"),
        ("Mira", "alias", "Mimi"),
        ("Mimi", "mentor of", "Jo"),
    ] {
        tenant.relate(Relate::new(from, relation, to)).unwrap();
    }
    let fact = Fact { entity: "Mira".into(), attribute: "desk".into(), value: "blue".into() };
    for request in [
        Remember {
            content: "The desk of the new one is blue.".into(),
            fact: Some(fact),
            ..Remember::default()
        },
        Remember { content: "She brings cake.".into(), entities: vec!["Mimi".into()], ..Remember::default() },
    ] {
        tenant.remember(request).unwrap();
    }
    fill(&tenant, 80);
    let (seen, gone) = (entity(&tenant, "Mira", &[]).unwrap(), walk(&tenant, "Mira", &[]).unwrap());
    assert_eq!(gone.as_array().map(Vec::len), Some(4), "{gone}");
    world.pass(60);
    archive(&tenant, 86);
    // What is told anew leads over what is archived.
    tenant.relate(Relate::new("Basel", "lies on", "Rhine")).unwrap();
    let archived = [Include::Archived];
    let hot = (entity(&tenant, "Mira", &archived), walk(&tenant, "Mira", &archived));
    assert_eq!(hot.0.as_ref().map(|view| &view["aliases"]), Some(&seen["aliases"]));
    assert_eq!(hot.1.as_ref().and_then(Value::as_array).map(Vec::len), Some(5), "{:?}", hot.1);
    assert_eq!(store.freeze(None, None).unwrap().cards, 86);
    for _ in 0..2 {
        assert_eq!((entity(&tenant, "Mira", &[]), walk(&tenant, "Mira", &[])), (None, None));
        assert_eq!((entity(&tenant, "Mira", &archived), walk(&tenant, "Mira", &archived)), hot);
        let past =
            Entity { name: "mimi".into(), known_at: Some(at("2024-01-02T00:00:00Z")), ..Entity::default() };
        let then = json!(tenant.entity(&past).unwrap());
        assert_eq!(
            (&then["attributes"][0]["value"], &then["cards"]["count"]),
            (&json!("blue"), &seen["cards"]["count"])
        );
        std::fs::remove_dir_all(world.directory.join("index")).ok();
    }
    assert_eq!(entity(&tenant, "Nobody", &archived), None);
    sound(&store);
}

#[test]
fn what_was_said_beside_a_cold_turn_and_on_a_day_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let tenant = store.tenant("anna").unwrap();
    let mut ids = Vec::new();
    for n in 0..120u32 {
        let content = match n {
            40 => "Did you ever meet the lighthouse keeper?".to_owned(),
            41 => "Yes, on the cliff, with two dogs.".to_owned(),
            n => format!("The number {n} tram was late because of shelf {}", n * 7),
        };
        let request = Remember {
            content,
            session: Some("walks".into()),
            turn: Some(n),
            role: Some(if n % 2 == 0 { Role::User } else { Role::Assistant }),
            occurred_at: Some(
                at("2023-05-01T12:00:00Z").plus(memcards::Duration::from_hours(24 * i64::from(n))),
            ),
            ..Remember::default()
        };
        ids.push(tenant.remember(request).unwrap().id);
    }
    world.pass(60);
    archive(&tenant, 120);
    let archived = [Include::Archived];
    let day = |tenant: &Tenant| {
        let query = Some("What was said on 3 July 2023?".into());
        let request = Recall { query, include: archived.to_vec(), top: Some(1), ..Recall::default() };
        first(&tenant.recall(request).unwrap())
    };
    let found = |tenant: &Tenant| {
        ask(tenant, "the lighthouse keeper", &archived)
            .hits
            .iter()
            .map(|hit| hit.card.id)
            .take(2)
            .collect::<Vec<_>>()
    };
    let (hot_day, hot) = (day(&tenant), found(&tenant));
    assert_eq!(hot_day, Some(ids[63]));
    assert_eq!(hot, [ids[40], ids[41]]);
    assert_eq!(store.freeze(None, None).unwrap().cards, 120);
    assert_eq!(found(&tenant), hot);
    assert_eq!(day(&tenant), hot_day);
    assert_eq!(first(&ask(&tenant, "the lighthouse keeper", &[])), None);
    sound(&store);
}
