//! Files that no export wrote: refused by line, and the store goes on taking writes.

use memcards::{Remember, Store};
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
