//! Plans that an administrator makes over several tenants, as one of these tenants sees them.

use serde_json::{Value, json};

use crate::canary::{find, secrets};
use crate::world::{ASKING, World};

fn tell(world: &World, tenant: &str, count: usize, pinned: bool) {
    for at in 0..count {
        let content = format!("{} drawer {at} holds part{at}", secrets(at)[0]);
        let content = if tenant == ASKING { format!("Drawer {at} holds part{at}") } else { content };
        let request = json!({ "content": content, "pinned": pinned, "category": "stock" });
        assert_eq!(world.ask("remember", Some(tenant), request.as_object().unwrap())["ok"], true);
    }
}

/// A plan of the store whose items concern one tenant alone may be seen by that one. What else
/// went into it, may not.
#[test]
fn a_plan_of_the_store_tells_a_tenant_of_nobody_else() {
    let (crowded, lonely) = (World::new(false, 1 << 30), World::new(false, 1 << 30));
    let secret = secrets(1)[0].clone();
    // One of the other tenants has only cards that must stay, which the plan notes.
    tell(&crowded, &secret, 6, true);
    tell(&crowded, &secrets(2)[1], 1, false);
    for world in [&crowded, &lonely] {
        tell(world, ASKING, 6, false);
    }
    let policy =
        json!({ "policy": { "categories": { "stock": { "max_cards": 2, "over_budget": "forget" } } } });
    let mut seen = Vec::new();
    for world in [&crowded, &lonely] {
        assert_eq!(world.ask("policy.set", None, policy.as_object().unwrap())["ok"], true);
        // Looking for duplicates would concern everybody.
        let limits = json!({ "rules": ["forget"], "limits": { "share": 1.0, "items": 3 } });
        let plan = world.ask("plan", None, limits.as_object().unwrap());
        assert_eq!(plan["totals"]["items"], 3, "{plan}");
        let named = json!({ "plan": plan["plan"] });
        let asked = |verb: &str, fields: &Value| world.ask(verb, Some(ASKING), fields.as_object().unwrap());
        let mut answers = vec![asked("plans", &named), asked("apply", &named), asked("plans", &named)];
        answers.push(asked("undo", &json!({ "run": answers[1]["run"] })));
        answers.push(asked("plans", &named));
        answers.push(asked("plans", &json!({})));
        answers.push(asked("apply", &named));
        seen.push(answers);
    }
    assert!(seen[0][..5].iter().all(|answer| answer["ok"] == true), "{:?}", seen[0]);
    for (here, there) in seen[0].iter().zip(&seen[1]) {
        assert_eq!(here, there);
        assert_eq!(find(&here.to_string()), None);
    }
}

/// One that concerns others as well is not there for any of them.
#[test]
fn a_plan_over_several_tenants_is_not_there_for_one_of_them() {
    let world = World::new(false, 1 << 30);
    tell(&world, ASKING, 6, false);
    tell(&world, &secrets(1)[0], 6, false);
    let policy = json!({ "categories": { "stock": { "max_cards": 2, "over_budget": "forget" } } });
    let plan = world.ask("plan", None, json!({ "policy": policy, "consent": true }).as_object().unwrap());
    assert_eq!(plan["totals"]["items"], 8, "{plan}");
    let applied = world.ask("apply", None, json!({ "plan": plan["plan"] }).as_object().unwrap());
    let nobody = |kind: &str| format!("{kind}-0123456789abcdef");
    let ask = |verb: &str, field: &str, id: &str| {
        let fields = json!({ field: id });
        world.ask(verb, Some(ASKING), fields.as_object().unwrap()).to_string().replace(id, "")
    };
    for (verb, kind, id) in [
        ("plans", "plan", &plan["plan"]),
        ("apply", "plan", &plan["plan"]),
        ("undo", "run", &applied["run"]),
        ("restore", "run", &applied["run"]),
    ] {
        let answer = ask(verb, kind, id.as_str().unwrap());
        assert_eq!(answer, ask(verb, kind, &nobody(kind)), "{verb}");
        assert!(answer.contains("not_found"), "{verb}: {answer}");
    }
    // Its own part of what was done stands in the history of its cards, and names nobody.
    let card = applied["applied"].as_array().unwrap().iter().find_map(|id| {
        let fields = json!({ "id": id });
        let history = world.ask("history", Some(ASKING), fields.as_object().unwrap());
        (history["ok"] == true).then_some(history)
    });
    assert_eq!(find(&card.unwrap().to_string()), None);
}

/// The scan after a wipe finds no words that others hold as theirs, wherever they hold them: it
/// would tell that they do, and be no proof that the wipe has left something.
#[test]
fn the_scan_after_a_wipe_does_not_tell_who_else_holds_the_words() {
    let words = "The combination of the harbour safe is twelve, forty and seven";
    let (crowded, lonely) = (World::new(false, 1 << 30), World::new(false, 1 << 30));
    tell(&crowded, &secrets(1)[0], 2, false);
    let ask =
        |verb: &str, fields: Value| crowded.ask(verb, Some(&secrets(1)[0]), fields.as_object().unwrap());
    let page = ask("list", json!({}));
    let card = |at: usize| page["cards"][at]["id"].clone();
    // As a reason (also of a run that has changed nothing), as a question, and as words that were
    // purged there.
    let nothing = ask("plan", json!({ "rules": ["archive"] }));
    assert_eq!(ask("apply", json!({ "plan": nothing["plan"], "reason": words }))["totals"]["applied"], 0);
    assert_eq!(ask("forget", json!({ "id": card(0), "reason": words, "actor": words }))["ok"], true);
    assert_eq!(ask("feedback", json!({ "used": [card(1)], "query": words }))["ok"], true);
    let purged = ask("remember", json!({ "content": words, "tags": [words] }));
    assert_eq!(ask("forget", json!({ "id": purged["id"], "reason": words }))["ok"], true);
    let policy = json!({ "defaults": { "grace": "0s" } });
    let plan = ask("plan", json!({ "policy": policy, "rules": ["purge"], "consent": true }));
    assert_eq!(ask("apply", json!({ "plan": plan["plan"], "reason": words }))["ok"], true);
    let proofs = [&crowded, &lonely].map(|world| {
        let ask = |verb: &str, fields: Value| world.ask(verb, Some(ASKING), fields.as_object().unwrap());
        assert_eq!(ask("remember", json!({ "content": words, "tags": [words] }))["ok"], true);
        ask("wipe", json!({ "confirm": ASKING }))["proof"]["found"].clone()
    });
    assert_eq!(proofs[0], json!([]));
    assert_eq!(proofs[0], proofs[1]);
}
