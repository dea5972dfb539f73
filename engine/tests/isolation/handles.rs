//! What a tenant's handle offers beside the verbs, and handles that are not quite the same.

use std::collections::BTreeSet;

use memcards::{Count, List, Recall, Remember, Wipe};

use crate::canary::find;
use crate::world::{ASKING, KNOWN, WATCHED, World, hide};

/// The calls of a handle, and the verb that is the same; empty where there is none.
const CALLS: &[(&str, &str)] = &[
    ("name", ""),
    ("store", ""),
    ("remember_all", ""),
    ("create", "tenant.create"),
    ("statistics", "tenant.stats"),
    ("show_plan", "plans"),
    ("policy", "policy.get"),
    ("set_policy", "policy.set"),
    ("remember", "remember"),
    ("recall", "recall"),
    ("get", "get"),
    ("list", "list"),
    ("count", "count"),
    ("correct", "correct"),
    ("history", "history"),
    ("forget", "forget"),
    ("restore", "restore"),
    ("feedback", "feedback"),
    ("plan", "plan"),
    ("plans", "plans"),
    ("apply", "apply"),
    ("undo", "undo"),
    ("simulate", "simulate"),
    ("tiers", "tiers"),
    ("consolidate", "consolidate"),
    ("wipe", "wipe"),
    ("relate", "relate"),
    ("entity", "entity"),
    ("walk", "walk"),
    ("audit", "audit"),
];

/// The public calls in the blocks `impl Tenant` of the engine's source.
fn calls() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine");
    for entry in std::fs::read_dir(directory).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut within = false;
        for line in text.lines() {
            match line {
                "impl Tenant {" => within = true,
                "}" => within = false,
                _ => {}
            }
            let call = line.strip_prefix("    pub fn ").and_then(|rest| rest.split(['(', '<']).next());
            all.extend(call.filter(|_| within).map(str::to_owned));
        }
    }
    all
}

#[test]
fn every_call_of_a_handle_is_a_verb_or_is_looked_at_here() {
    let known: BTreeSet<String> = CALLS.iter().map(|(call, _)| (*call).to_owned()).collect();
    assert_eq!(calls(), known);
    for (call, verb) in CALLS.iter().filter(|(_, verb)| !verb.is_empty()) {
        assert!(memcards::VERBS.iter().any(|known| known.name == *verb && known.tenant), "{call}");
    }
}

/// Everything that a handle shows without being asked for something.
fn shown(tenant: &memcards::Tenant) -> String {
    let everything = ["superseded", "archived", "candidates", "forgotten"];
    let include: Vec<memcards::Include> =
        everything.iter().map(|name| serde_json::from_str(&format!("\"{name}\"")).unwrap()).collect();
    let list = List { include: include.clone(), limit: Some(1000), ..List::default() };
    let mut all = serde_json::to_string(&tenant.list(&list).unwrap()).unwrap();
    for word in KNOWN {
        let recall = Recall { query: Some(word.into()), include: include.clone(), ..Recall::default() };
        all += &serde_json::to_string(&tenant.recall(recall).unwrap().hits).unwrap();
    }
    all += &serde_json::to_string(&tenant.plans().unwrap()).unwrap();
    all += &serde_json::to_string(&tenant.statistics().unwrap()).unwrap();
    all + tenant.name()
}

/// A name is what it is, byte for byte: one that looks the same is another tenant.
#[test]
fn a_name_that_resembles_another_one_is_another_tenant() {
    let world = World::new(false, 1 << 30);
    hide(&world, false);
    assert!(find(&shown(&world.store.tenant(WATCHED).unwrap())).is_some());
    let alike = [
        WATCHED.to_lowercase(),
        WATCHED.to_uppercase(),
        format!(" {WATCHED}"),
        format!("{WATCHED} "),
        WATCHED.replace(' ', "\u{a0}"),
        WATCHED.replace('S', "\u{17f}"),
        WATCHED.replace('&', "\u{ff06}"),
        WATCHED.replace('n', "n\u{200b}"),
        WATCHED[..WATCHED.len() - 1].to_owned(),
        format!("{WATCHED}s"),
        format!("{WATCHED}/"),
        "*".into(),
        "%".into(),
        "first".into(),
    ];
    for name in alike {
        let tenant = world.store.tenant(&name).unwrap();
        let before = shown(&tenant);
        assert_eq!(find(&before), None, "{name:?}");
        tenant.remember(Remember { content: "Something of my own".into(), ..Remember::default() }).unwrap();
        assert_eq!(find(&shown(&tenant)), None, "{name:?}");
    }
    for name in ["", "\0", "a\nb"] {
        assert!(world.store.tenant(name).is_err(), "{name:?}");
    }
}

/// A handle that is kept while its tenant is wiped leads to nobody who comes after.
#[test]
fn a_handle_that_outlives_its_tenant_shows_nobody_elses_cards() {
    let world = World::new(false, 1 << 30);
    let kept = world.store.tenant(ASKING).unwrap();
    let told = |tenant: &memcards::Tenant, content: &str| {
        let request = Remember { content: content.into(), ..Remember::default() };
        tenant.remember_all(vec![request]).unwrap().remove(0).unwrap()
    };
    told(&kept, "Mine, before");
    let (also_kept, words) = (kept.clone(), "Mine, before");
    assert_eq!(kept.count(&Count::default()).unwrap(), 1);
    world.store.tenant(ASKING).unwrap().wipe(Wipe { confirm: ASKING.into() }).unwrap();
    // Whoever comes next may get the number that has become free.
    hide(&world, false);
    for handle in [&kept, &also_kept] {
        let seen = shown(handle);
        assert!(find(&seen).is_none() && !seen.contains(words), "{seen}");
        assert_eq!(handle.count(&Count::default()).unwrap(), 0);
    }
    told(&kept, "Mine, after");
    assert_eq!(also_kept.count(&Count::default()).unwrap(), 1);
    assert!(also_kept.store().tenants().unwrap().iter().any(|tenant| tenant.name == ASKING));
}

/// Of several cards in one call, one that names another tenant's card is refused, and no other.
#[test]
fn a_batch_with_links_to_another_tenants_cards_is_refused_as_with_links_to_nothing() {
    let world = World::new(false, 1 << 30);
    let watched = hide(&world, false);
    let asking = world.store.tenant(ASKING).unwrap();
    let linked = |id: &str| {
        let link = format!(r#"{{"content":"Linked","links":[{{"to":"{id}","kind":"related"}}]}}"#);
        serde_json::from_str::<Remember>(&link).unwrap()
    };
    let nobodys = "18c03e9157a000000a1c9bc433f3a257";
    let batch = vec![
        linked(&watched.cards[0]),
        linked(nobodys),
        Remember { content: "Alone".into(), ..Remember::default() },
    ];
    let answers = asking.remember_all(batch).unwrap();
    let refused: Vec<String> =
        answers[..2].iter().map(|answer| answer.as_ref().unwrap_err().to_string()).collect();
    assert_eq!(refused[0].replace(&watched.cards[0], ""), refused[1].replace(nobodys, ""));
    assert!(answers[2].is_ok());
    assert_eq!(asking.count(&Count::default()).unwrap(), 1);
}
