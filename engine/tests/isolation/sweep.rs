//! Every verb of a tenant and every field of it.

use std::collections::BTreeSet;

use memcards::{Clock, VERBS};
use serde_json::{Value, json};

use crate::canary::{find, secrets};
use crate::requests::{Asking, Fields, Side};
use crate::schema;
use crate::world::{ASKING, WATCHED, World, asking, hide, request, settle, tenant_verbs};

/// Takes out of an answer what is said of the store as a whole. The scan after a wipe goes over
/// all files, and says how many these were.
pub(crate) fn of_the_tenant(verb: &str, mut answer: Value) -> Value {
    if verb == "wipe" && answer["ok"] == true {
        let proof = answer["proof"].as_object_mut().unwrap();
        for figure in ["files", "bytes"] {
            assert!(proof.remove(figure).is_some_and(|figure| figure.is_u64()));
        }
    }
    answer
}

struct Stores {
    crowded: World,
    lonely: World,
    asked: usize,
    refused: usize,
}

impl Stores {
    /// Asks both stores the same and compares.
    fn ask(&mut self, verb: &str, fields: &Fields) {
        let before = self.crowded.store.clock().now();
        let [here, there] = [&self.crowded, &self.lonely].map(|world| {
            let answer = world.ask(verb, Some(ASKING), fields);
            // A request may have moved the clock.
            world.store.clock().set(before).unwrap();
            of_the_tenant(verb, answer)
        });
        let text = here.to_string();
        assert_eq!(text, there.to_string(), "{}", request(verb, Some(ASKING), fields));
        if let Some(canary) = find(&text) {
            panic!("{canary} in the answer to {}: {text}", request(verb, Some(ASKING), fields));
        }
        self.asked += 1;
        self.refused += usize::from(here["ok"] == false);
    }

    fn settle(&mut self, own: &mut Side) {
        let mut other = own.clone();
        settle(&self.crowded, own);
        settle(&self.lonely, &mut other);
        assert_eq!(*own, other);
        assert!(
            own.cards.len() > 8 && !own.plans.is_empty() && !own.runs.is_empty() && !own.cursors.is_empty()
        );
    }
}

fn sweep(vectors: bool) {
    let mut stores = Stores {
        crowded: World::new(vectors, 1 << 30),
        lonely: World::new(vectors, 1 << 30),
        asked: 0,
        refused: 0,
    };
    let watched = hide(&stores.crowded, vectors);
    stores.lonely.clock.set(stores.crowded.store.clock().now()).unwrap();
    let mut own = asking(vectors);
    for verb in tenant_verbs() {
        stores.settle(&mut own);
        let questions = Asking::learn(&stores.crowded.store, verb.name, Some(ASKING), &own);
        // Whose the vectors are makes a difference to verbs that take some, and to those that compare them.
        let compares = matches!(verb.name, "plan" | "apply" | "consolidate" | "wipe");
        if vectors && !compares && !questions.fields.iter().any(|field| field == "vector") {
            continue;
        }
        for other in [&own.clone(), &watched] {
            for fields in questions.honest(&own, other) {
                stores.ask(verb.name, &fields);
            }
        }
        // What needs the other one's things altogether.
        for fields in questions.honest(&watched, &watched) {
            stores.ask(verb.name, &fields);
        }
        stores.settle(&mut own);
        for fields in questions.damaged(&own, &watched.words[0]) {
            if !fields.contains_key("tenant") {
                stores.ask(verb.name, &fields);
            }
        }
    }
    println!("{} questions, {} of them refused", stores.asked, stores.refused);
    assert!(stores.asked > if vectors { 2000 } else { 5000 } && stores.refused * 10 < stores.asked * 9);
    // The watched tenant is as it was.
    let mut again = Side::new(&watched.tenant, &crate::world::KNOWN, vectors, watched.number);
    again.look_around(&stores.crowded.store);
    assert_eq!(again, watched);
    for world in [&stores.crowded, &stores.lonely] {
        let report = world.store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}

#[test]
fn no_verb_tells_of_another_tenant_where_a_model_makes_vectors() {
    sweep(false);
}

#[test]
fn no_verb_tells_of_another_tenant_where_callers_give_vectors() {
    sweep(true);
}

/// The canaries are where they are looked for: the watched tenant itself sees them.
#[test]
fn canaries_stand_in_every_field_that_holds_text() {
    let world = World::new(false, 1 << 30);
    hide(&world, false);
    let to = world.path("watched");
    let export = json!({ "to": to, "tenant": WATCHED });
    assert_eq!(world.ask("export", None, export.as_object().unwrap())["ok"], true);
    let mut places = BTreeSet::new();
    for line in std::fs::read_to_string(to).unwrap().lines() {
        collect("", &serde_json::from_str::<Value>(line).unwrap()["card"], &mut places);
    }
    let expected = [
        "content",
        "summary",
        "category",
        "fact.entity",
        "fact.attribute",
        "fact.value",
        "entities",
        "tags",
        "merge_key",
        "sources.session",
        "sources.speaker",
        "extractor",
        "reason.actor",
        "reason.why",
    ];
    for place in expected {
        assert!(places.contains(place), "no canary in {place}: {places:?}");
    }
    assert!(
        places.iter().any(|place| place.starts_with("attributes.") && find(place).is_some()),
        "{places:?}"
    );
    let names = world.ask("tenant.list", None, &Fields::new()).to_string();
    assert!(names.contains(&secrets(2)[0]) && !names.contains(&secrets(3)[2]), "{names}");
    // What the tenant itself has asked and set.
    let plans = world.ask("policy.get", Some(WATCHED), &Fields::new());
    assert_eq!(plans["set"], true);
}

/// The places of an answer at which a canary stands.
fn collect(place: &str, value: &Value, places: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(place, item, places)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                if find(name).is_some() {
                    places.insert(inner.clone());
                }
                collect(&inner, value, places);
            }
        }
        Value::String(text) if find(text).is_some() => drop(places.insert(place.to_owned())),
        _ => {}
    }
}

/// The samples know the fields of what is nested in a request.
#[test]
fn samples_fill_every_nested_field() {
    let world = World::new(false, 1 << 30);
    let mut own = asking(false);
    settle(&world, &mut own);
    let places: [(&str, &[&str]); 14] = [
        ("remember", &["fact"]),
        ("remember", &["links[]"]),
        ("correct", &["fact"]),
        ("relate", &[]),
        ("recall", &["weights"]),
        ("plan", &["limits"]),
        ("plan", &["policy"]),
        ("consolidate", &["limits"]),
        ("simulate", &["uses[]"]),
        ("policy.set", &["policy"]),
        ("policy.set", &["policy", "defaults"]),
        ("policy.set", &["policy", "limits"]),
        ("policy.set", &["policy", "schedule"]),
        ("policy.set", &["policy", "tracks", "episodic"]),
    ];
    for (verb, path) in places {
        let known = schema::nested(&world.store, verb, ASKING, &own.needed(verb), path);
        let Some((field, deeper)) = path.split_first() else { continue };
        let samples = own.values(verb, field.trim_end_matches("[]")).unwrap();
        let mut filled = BTreeSet::new();
        for sample in &samples {
            let inner = deeper.iter().fold(sample, |value, step| &value[*step]);
            let objects: Vec<&Value> =
                inner.as_array().map_or_else(|| vec![inner], |items| items.iter().collect());
            for object in objects.iter().filter_map(|object| object.as_object()) {
                filled.extend(object.keys().cloned());
            }
        }
        // Numbers alone, and rules that are those of the defaults. A half-life is another way to
        // say the decay.
        let numbers = field.trim_end_matches("[]") == "weights" || path.contains(&"episodic");
        filled.insert("half_life".into());
        let missing: Vec<_> = known.difference(&filled).collect();
        assert!(numbers || missing.is_empty(), "{verb} {path:?}: {missing:?}");
    }
}

/// Every verb has been asked as a tenant, or stands in the list of the administrator's verbs.
#[test]
fn every_verb_is_a_tenants_or_an_administrators() {
    for verb in VERBS {
        assert!(
            verb.tenant || crate::admin::VERBS.iter().any(|(name, ..)| *name == verb.name),
            "{}",
            verb.name
        );
    }
}
