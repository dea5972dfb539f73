//! The same random requests of one tenant, in a store where it is alone and in one where another
//! tenant is busy: every answer is the same to the last byte.
//!
//! The other one writes, plans, applies, undoes, purges, moves to the cold tier and is wiped; its
//! store is closed and opened, compacted, and has so little memory for indexes that each of them
//! drives out the others. What is random depends on a seed alone. `MEMCARDS_TRAFFIC` says how many
//! sequences there are, `MEMCARDS_SEED` which is the first.

use std::collections::BTreeMap;

use memcards::{Clock, Duration, execute_all};
use serde_json::{Value, json};

use crate::canary::{NUMBER, find, secrets};
use crate::numbers::{Numbers, from_environment};
use crate::requests::{Asking, Fields, Side};
use crate::sweep::of_the_tenant;
use crate::world::{ASKING, KNOWN, OWN, WATCHED, World, asking, request, tenant_verbs};

/// Verbs that are asked more often than others: without them there is nothing to ask about.
const OFTEN: [&str; 9] =
    ["remember", "remember", "remember", "remember", "relate", "recall", "recall", "list", "apply"];

/// Sequences by default.
const SEQUENCES: u64 = 6;

fn questions(world: &World, side: &Side) -> Vec<Asking> {
    tenant_verbs().map(|verb| Asking::learn(&world.store, verb.name, Some(&side.tenant), side)).collect()
}

fn random(numbers: &mut Numbers, all: &[Asking], own: &Side, other: &Side) -> (&'static str, Fields) {
    let wanted = if numbers.once_in(2) { *numbers.pick(&OFTEN) } else { numbers.pick(all).verb };
    // A wipe too often leaves nothing to see.
    let wanted = if wanted == "wipe" && !numbers.once_in(2) { "remember" } else { wanted };
    let asking = all.iter().find(|asking| asking.verb == wanted).unwrap();
    let mut fields = asking.random(numbers, own, other);
    if wanted == "remember" && fields.get("content") == own.needed(wanted).get("content") {
        let (word, shelf) = (numbers.pick(&own.words), numbers.below(20));
        fields.insert("content".into(), format!("{word} lies on shelf {shelf}").into());
    }
    if wanted == "wipe" && numbers.once_in(2) {
        fields.insert("confirm".into(), own.tenant.as_str().into());
    }
    // Of all cards, those that are forgotten come back.
    if wanted == "restore" && numbers.once_in(2) && !own.cards.is_empty() {
        fields = [("ids".to_owned(), own.cards.clone().into())].into_iter().collect();
    }
    if wanted == "plan" && numbers.once_in(2) {
        let policy =
            json!({ "defaults": { "archive_after": "1h", "grace": "0s" }, "limits": { "share": 1.0 } });
        fields.insert("policy".into(), policy);
    }
    (wanted, fields)
}

/// An answer without what is said of the store as a whole, and without the number of records that
/// a wipe has removed: changes of one commit share one, and commits are shared with others.
fn of_one(verb: &str, answer: Value) -> Value {
    let mut answer = of_the_tenant(verb, answer);
    if verb == "wipe" && answer["ok"] == true {
        assert!(answer.as_object_mut().unwrap().remove("records").is_some());
    }
    answer
}

/// What happens to the store of both, and is no business of the tenant that asks.
fn disturb(numbers: &mut Numbers, mut crowded: World, watched: &mut Side) -> World {
    watched.look_around(&crowded.store);
    match numbers.below(6) {
        0 => crowded = crowded.reopen(),
        1 => drop(crowded.store.checkpoint().unwrap()),
        2 => drop(crowded.store.compact(|_| {}).unwrap()),
        3 => {
            // The tenant may have been wiped.
            let _ = crowded.store.freeze(Some(WATCHED), Some(1));
        }
        4 => {
            let confirm = json!({ "confirm": WATCHED });
            crowded.ask("wipe", Some(WATCHED), confirm.as_object().unwrap());
        }
        _ => {
            let all = json!({ "policy": { "defaults": { "archive_after": "1h", "grace": "0s" } }, "consent": true });
            let plan = crowded.ask("plan", Some(WATCHED), all.as_object().unwrap())["plan"].clone();
            crowded.ask("apply", Some(WATCHED), json!({ "plan": plan }).as_object().unwrap());
        }
    }
    crowded
}

/// Lives through a sequence; counts the answers that were no errors, by verb.
fn live(seed: u64, steps: usize, answered: &mut BTreeMap<&'static str, usize>) {
    let mut numbers = Numbers(seed);
    let vectors = numbers.once_in(2);
    let (mut crowded, lonely) = (World::new(vectors, 1), World::new(vectors, 1 << 30));
    let (mut own, mut watched) = (asking(vectors), Side::new(WATCHED, &KNOWN, vectors, 0.4375));
    let secret = Side::new(&secrets(0)[0], &secrets(1), vectors, NUMBER);
    let words: Vec<&str> = OWN.into_iter().chain([KNOWN[0], KNOWN[2]]).collect();
    own.words = words.iter().map(|word| (*word).to_owned()).collect();
    let all = questions(&lonely, &own);
    for step in 0..steps {
        let mine: Vec<_> =
            (0..=numbers.below(3)).map(|_| random(&mut numbers, &all, &own, &watched)).collect();
        // Amid them, in one go, what the other one asks.
        let mut together: Vec<(bool, &'static str, String)> = Vec::new();
        for (verb, fields) in &mine {
            for _ in 0..numbers.below(3) {
                let (verb, fields) = random(&mut numbers, &all, &watched, &secret);
                together.push((false, verb, request(verb, Some(WATCHED), &fields)));
            }
            together.push((true, *verb, request(verb, Some(ASKING), fields)));
        }
        let texts: Vec<&String> = together.iter().map(|(.., text)| text).collect();
        let here: Vec<Value> = execute_all(&crowded.store, &texts)
            .into_iter()
            .zip(&together)
            .filter_map(|(answer, (mine, verb, _))| mine.then(|| of_one(verb, answer)))
            .collect();
        let texts: Vec<String> =
            mine.iter().map(|(verb, fields)| request(verb, Some(ASKING), fields)).collect();
        let there: Vec<Value> = execute_all(&lonely.store, &texts);
        for (((here, there), text), (verb, _)) in here.iter().zip(there).zip(&texts).zip(&mine) {
            let there = of_one(verb, there);
            assert_eq!(here.to_string(), there.to_string(), "seed {seed}, step {step}: {text}");
            assert_eq!(find(&here.to_string()), None, "seed {seed}, step {step}: {text}");
            *answered.entry(verb).or_default() += usize::from(here["ok"] == true);
        }
        if numbers.once_in(4) {
            let mut other = own.clone();
            own.look_around(&crowded.store);
            other.look_around(&lonely.store);
            assert_eq!(own, other, "seed {seed}, step {step}");
        }
        if numbers.once_in(5) {
            crowded = disturb(&mut numbers, crowded, &mut watched);
        }
        let by = [1, 60_000_000, 7_200_000_000, 40 * 86_400_000_000, -1][numbers.below(5)];
        for world in [&crowded, &lonely] {
            world.clock.set(world.clock.now().plus(Duration::from_micros(by))).unwrap();
        }
    }
    let exports = [&crowded, &lonely].map(|world| {
        let export = json!({ "to": world.path("export"), "tenant": ASKING, "vectors": true });
        match world.ask("export", None, export.as_object().unwrap())["ok"] == true {
            true => std::fs::read_to_string(world.path("export")).unwrap(),
            false => String::new(),
        }
    });
    assert_eq!(exports[0], exports[1], "seed {seed}");
    assert_eq!(find(&exports[0]), None, "seed {seed}");
    for world in [crowded, lonely] {
        let report = world.store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "seed {seed}: {:?}", report.findings);
    }
}

#[test]
fn a_tenant_is_answered_the_same_whether_another_one_is_there_or_not() {
    let first = from_environment("MEMCARDS_SEED", 1);
    let sequences = from_environment("MEMCARDS_TRAFFIC", SEQUENCES);
    let mut answered = BTreeMap::new();
    for seed in first..first + sequences {
        live(seed, 40, &mut answered);
    }
    println!("{sequences} sequences, answers that are no errors: {answered:?}");
    // Other seeds, or fewer sequences, may leave out what is rare.
    if first == 1 && sequences >= SEQUENCES {
        let unanswered = |verb: &&memcards::Verb| answered.get(verb.name).is_none_or(|count| *count == 0);
        let missing: Vec<&str> = tenant_verbs().filter(unanswered).map(|verb| verb.name).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
