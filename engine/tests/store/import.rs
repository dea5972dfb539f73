//! Files that no export wrote: refused by line, and the store goes on taking writes.

use memcards::{Apply, Correct, Forget, MakePlan, Remember, Store};
use serde_json::{Value, json};

use crate::{content, options};

/// The lines of an export of one card with a vector of the caller, told twice.
fn lines() -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let tea = Remember { content: "tea".into(), vector: Some(vec![1.0, 0.5]), ..Remember::default() };
    let tenant = store.tenant("anna").unwrap();
    tenant.remember(tea.clone()).unwrap();
    tenant.remember(tea).unwrap();
    let text = String::from_utf8(content(&store).unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Imports the lines and gives the message of the refusal.
fn refusal(lines: &[Value]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let error = store.import(&mut text.as_bytes(), |_| {}).expect_err("it is refused");
    assert_eq!(error.code(), "invalid_argument", "{error}");
    assert!(store.verify(|_| {}).unwrap().is_sound());
    let more = Remember { content: "more".into(), ..Remember::default() };
    store.tenant("anna").unwrap().remember(more).unwrap();
    error.to_string()
}

#[test]
fn what_no_export_wrote_is_refused_and_the_store_goes_on() {
    let sound = lines();
    assert_eq!((&sound[2]["kind"], &sound[3]["kind"]), (&json!("version"), &json!("touch")));
    let mended = |line: usize, mend: &dyn Fn(&mut Value)| {
        let mut lines = sound.clone();
        mend(&mut lines[line]);
        refusal(&lines)
    };
    for (message, expected) in [
        (mended(3, &|line| line["version"] = json!(0)), "line 4: version 0 of card"),
        (mended(3, &|line| line["version"] = json!(u32::MAX)), "line 4: version 4294967295 of card"),
        (mended(2, &|line| line["kind"] = json!("touch")), "line 3: only a new version carries its card"),
        (mended(2, &|line| line["vector"] = json!([1, 2, 3])), "line 3: the vector has another dimension"),
        (mended(2, &|line| line["card"]["vector_version"] = json!(0)), "line 3: a vector that the version"),
        (mended(0, &|line| line["model"] = Value::Null), "line 3: a vector, but the header names no model"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

fn keyed(content: &str, key: &str) -> Remember {
    Remember { content: content.into(), merge_key: Some(key.into()), ..Remember::default() }
}

/// What a compaction takes out of the log, and where it puts cards, is nothing that an export tells.
#[test]
fn an_export_is_the_same_before_a_compaction_and_after() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("first"), options()).unwrap();
    let tenant = store.tenant("anna").unwrap();
    let requests = (0..90).map(|n| keyed(&format!("entry q{n}z"), &format!("k{}", n % 80)));
    let answers = tenant.remember_all(requests.collect()).unwrap();
    let ids: Vec<_> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
    let corrected = Correct { id: ids[30], content: Some("entry r30z".into()), ..Correct::default() };
    tenant.correct(corrected).unwrap();
    tenant.remember(keyed("entry r40z", "k40")).unwrap();
    tenant.forget(Forget { ids: ids[50..60].to_vec(), ..Forget::default() }).unwrap();
    // Told again by somebody else: the key leads there from now on.
    tenant.remember(keyed("entry s52z", "k52")).unwrap();
    let told = content(&store).unwrap();
    let second = Store::open(directory.path().join("second"), options()).unwrap();
    second.import(&mut &told[..], |_| {}).unwrap();
    let plan = |policy| MakePlan { policy: Some(policy), consent: true, ..MakePlan::default() };
    let archive = json!({ "defaults": { "max_cards": 1, "grace": "0s" } });
    let plan = tenant.plan(&plan(archive)).unwrap().plan;
    let run = tenant.apply(Apply { plan: Some(plan), ..Apply::default() }).unwrap();
    assert!(run.totals.actions.contains_key("archive"), "{:?}", run.totals);
    let before = content(&store).unwrap();
    assert!(store.compact(|_| {}).unwrap().records > 0);
    assert!(store.cold_statistics().unwrap().cards > 0);
    let after = content(&store).unwrap();
    assert!(before == after, "{} bytes before, {} after", before.len(), after.len());
    assert!(store.verify(|_| {}).unwrap().is_sound());
    // An import of it is the same store, whether it begins anew or goes on from an earlier one.
    let third = Store::open(directory.path().join("third"), options()).unwrap();
    for copy in [&second, &third] {
        copy.import(&mut &after[..], |_| {}).unwrap();
        let known = content(copy).unwrap();
        assert_eq!(copy.import(&mut &after[..], |_| {}).unwrap().versions, 0);
        assert_eq!(content(copy).unwrap(), known);
        assert!(copy.verify(|_| {}).unwrap().is_sound());
    }
    let told = |store: &Store| {
        let tenant = store.tenant("anna").unwrap();
        [("entry t55z", "k55"), ("entry t52z", "k52"), ("entry t40z", "k40")].map(|(content, key)| {
            let answer = tenant.remember(keyed(content, key)).unwrap();
            let known = answer.affected.iter().filter(|card| card.change != "created");
            (answer.outcome, known.map(|card| (card.id, card.change)).collect::<Vec<_>>())
        })
    };
    let expected = told(&store);
    assert_eq!((told(&second), told(&third)), (expected.clone(), expected));
}
