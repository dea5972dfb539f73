//! Verbs about the store as a whole: what each of them may tell of the tenants in it.
//!
//! They are an administrator's. Whoever serves tenants hands them out to nobody else; here stands
//! how far what they tell goes, so that none of them tells more by and by.

use std::collections::BTreeSet;

use memcards::Clock;
use serde_json::{Value, json};

use crate::canary::{find, secrets};
use crate::requests::{Asking, Fields, Side};
use crate::world::{ASKING, KNOWN, WATCHED, World, asking, hide, settle};

/// How much a verb may tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// Figures: no word of any tenant.
    Figures,
    /// What tenants are called.
    Names,
    /// What they hold.
    Contents,
}

use Tells::{Contents, Figures, Names};

/// Every verb that may leave the tenant out.
pub(crate) const VERBS: &[(&str, Tells, &str)] = &[
    ("tenant.list", Names, "it names all tenants: that is what it is for"),
    ("stats", Figures, "counts and sizes of the whole store"),
    ("verify", Figures, "findings name tables, files and identifiers"),
    ("checkpoint", Figures, "how many files were written"),
    ("backup", Figures, "the copy holds everything; the answer counts records"),
    ("compact", Figures, "sizes before and after"),
    ("maintain", Figures, "identifiers of cards, and counts"),
    (
        "audit",
        Contents,
        "runs over all tenants, with who asked for them and why in the administrator's words",
    ),
    ("reembed", Figures, "how many cards there were; the tenant is named by the request"),
    ("export", Figures, "the file holds what was asked for; the answer counts"),
    ("import", Figures, "the file says what goes where; the answer counts"),
    ("ping", Figures, "nothing is looked at"),
    ("version", Figures, "nothing is looked at"),
    ("plan", Contents, "an administrator judges items by tenant, category and the beginning of the text"),
    ("plans", Contents, "the same, of plans that were made"),
    ("apply", Figures, "identifiers of cards, and counts"),
    ("undo", Figures, "identifiers of cards, and counts"),
    ("simulate", Contents, "the chart has a line for each category"),
    ("tiers", Names, "counts by tenant"),
    ("policy.get", Figures, "the policy of the store, which is no tenant's"),
    ("policy.set", Figures, "the same; it comes last, since it changes what the others find"),
];

/// What is left of an answer when the names of tenants that are there are left out.
fn without_names(text: &str) -> String {
    text.replace(&secrets(2)[0], "")
}

fn check(verb: &str, tells: Tells, request: &Fields, answer: &Value) {
    let text = answer.to_string();
    let found = match tells {
        Figures => find(&text),
        Names => find(&without_names(&text)),
        Contents => None,
    };
    assert_eq!(found, None, "{verb} {request:?}: {text}");
}

#[test]
fn verbs_of_the_store_tell_what_is_written_down_here_and_no_more() {
    let world = World::new(false, 1 << 30);
    let watched = hide(&world, false);
    let mut own = asking(false);
    settle(&world, &mut own);
    // The administrator asks with everything that the tenants have.
    let side = Side { directory: world.path(""), ..watched };
    let policy = json!({ "policy": { "limits": { "share": 1.0 }, "defaults": { "max_cards": 20 } } });
    assert_eq!(world.ask("policy.set", None, policy.as_object().unwrap())["ok"], true);
    for (verb, tells, _) in VERBS.iter().copied() {
        let questions = Asking::learn(&world.store, verb, None, &side);
        let all = questions.honest(&side, &side).into_iter().chain(questions.damaged(&side, KNOWN[0]));
        for fields in all {
            let before = world.clock.now();
            let answer = world.ask(verb, None, &fields);
            world.clock.set(before).unwrap();
            if fields.contains_key("tenant") {
                // Of one tenant, that named itself: the sweep is about these.
                continue;
            }
            check(verb, tells, &fields, &answer);
        }
    }
}

#[test]
fn the_list_of_these_verbs_is_the_table_of_verbs() {
    let listed: BTreeSet<&str> = VERBS.iter().map(|(name, ..)| *name).collect();
    let known: BTreeSet<&str> =
        memcards::VERBS.iter().filter(|verb| verb.store).map(|verb| verb.name).collect();
    assert_eq!(listed, known);
    assert!(VERBS.iter().all(|(_, _, reason)| !reason.is_empty()));
}

/// The runs of the store are told in the words of whoever asked for them. Nothing else in them is
/// text, and what tenants did themselves is not among them.
#[test]
fn an_audit_of_the_store_says_nothing_of_what_tenants_said_and_did() {
    let world = World::new(false, 1 << 30);
    let watched = hide(&world, false);
    let ask = |verb: &str, fields: Value| world.ask(verb, None, fields.as_object().unwrap());
    let all = json!({ "limit": 1000 });
    let own = world.ask("audit", Some(WATCHED), all.as_object().unwrap()).to_string();
    assert!(find(&own).is_some(), "{own}");
    let policy = json!({ "defaults": { "archive_after": "1h", "grace": "0s" }, "limits": { "share": 1.0 } });
    world.pass(40 * 24);
    let plan = ask("plan", json!({ "policy": policy, "consent": true }));
    let applied = ask("apply", json!({ "plan": plan["plan"], "reason": "spring cleaning" }));
    assert!(applied["totals"]["applied"].as_u64() > Some(0), "{applied}");
    let told = ask("audit", all);
    assert_eq!((told["runs"][0]["why"].as_str(), &told["changes"]), (Some("spring cleaning"), &json!([])));
    let text = told.to_string();
    assert_eq!(find(&text), None, "{text}");
    assert!(watched.cards.iter().chain(&watched.runs).all(|id| !text.contains(id)), "{text}");
}

/// What a tenant can be handed: an export of it, byte for byte as though it were alone.
#[test]
fn an_export_of_one_tenant_holds_nothing_of_another() {
    for vectors in [false, true] {
        let (crowded, lonely) = (World::new(vectors, 1 << 30), World::new(vectors, 1 << 30));
        hide(&crowded, vectors);
        lonely.clock.set(crowded.clock.now()).unwrap();
        for with_vectors in [false, true] {
            let files = [&crowded, &lonely].map(|world| {
                let mut own = asking(vectors);
                settle(world, &mut own);
                let to = world.path(&format!("export {with_vectors}"));
                let request = json!({ "to": to, "tenant": ASKING, "vectors": with_vectors });
                let answer = world.ask("export", None, request.as_object().unwrap());
                assert_eq!(answer["ok"], true, "{answer}");
                assert_eq!(find(&answer.to_string()), None);
                std::fs::read_to_string(to).unwrap()
            });
            assert!(files[0].contains(crate::world::OWN[0]));
            assert!(files[0] == files[1], "{}\n{}", files[0], files[1]);
            assert_eq!(find(&files[0]), None);
        }
    }
}

/// A conversation that is read in for one tenant, and a file that does not fit.
#[test]
fn an_import_tells_nothing_of_other_tenants() {
    let (crowded, lonely) = (World::new(false, 1 << 30), World::new(false, 1 << 30));
    hide(&crowded, false);
    lonely.clock.set(crowded.clock.now()).unwrap();
    let turn = |text: &str| json!({ "role": "user", "content": text });
    let said = json!([turn(KNOWN[0]), turn(&format!("{} is a friend of {}", KNOWN[1], KNOWN[2]))]);
    let answers = [&crowded, &lonely].map(|world| {
        let mut answers = Vec::new();
        for (name, text) in
            [("chat", said.to_string()), ("broken", "[{\"role\":".into()), ("other", "{}".into())]
        {
            let from = world.path(name);
            std::fs::write(&from, text).unwrap();
            for format in ["chat", "locomo", "memcards"] {
                let mut request = json!({ "from": from, "format": format, "tenant": ASKING });
                if format == "memcards" {
                    request.as_object_mut().unwrap().remove("tenant");
                }
                let answer = world.ask("import", None, request.as_object().unwrap()).to_string();
                answers.push(answer.replace(&*world.path("").to_string_lossy(), ""));
            }
        }
        answers
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].iter().all(|answer| find(answer).is_none()), "{answers:?}");
    assert!(answers[0].iter().any(|answer| answer.contains("\"ok\":true")), "{answers:?}");
    let hidden = crowded.ask("tenant.stats", Some(WATCHED), &Fields::new());
    assert!(hidden["seq"].as_u64() > Some(50), "{hidden}");
}
