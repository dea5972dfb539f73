//! `import` and `export`, end to end.

mod common;

use common::Place;

const NOW: &str = "2025-03-01T08:00:00Z";

#[test]
fn an_export_brings_everything_back() {
    let place = Place::new();
    place.at(NOW, &["remember", "first 第一", "--fact", "tea", "kind", "oolong"]);
    place.at(NOW, &["--tenant", "b", "remember", "second"]);
    let id = place.json_at(NOW, &["list"]).ok()["cards"][0]["id"].as_str().expect("an id").to_owned();
    place.at(NOW, &["correct", &id, "--content", "first, corrected"]);
    let ran = place.at(NOW, &["export", "all.jsonl"]);
    assert!(ran.code == 0 && ran.out.starts_with("exported "), "{ran:?}");
    // A file that is there is not written over.
    assert_eq!(place.json_at(NOW, &["export", "all.jsonl"]).error(), "invalid_argument");

    let into = ["--store", "copy"];
    let ran = place.run(&[&into[..], &["import", "all.jsonl"]].concat());
    assert!(ran.code == 0 && ran.out.starts_with("imported 4 versions of cards in 2 tenants; 0 "), "{ran:?}");
    let again = place.run(&[&into[..], &["import", "all.jsonl", "--json"]].concat()).ok();
    assert_eq!((&again["versions"], &again["known"]), (&0.into(), &4.into()));
    for command in [&["list", "--include", "superseded"][..], &["--tenant", "b", "list"], &["history", &id]] {
        let copy = place.run(&[&into[..], command].concat());
        assert_eq!(copy.out, place.at(NOW, command).out, "{command:?}");
    }
    // One tenant, to standard output.
    let ran = place.at(NOW, &["export", "-", "--tenant", "b"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("second") && !ran.out.contains("first"), "{ran:?}");
    assert!(ran.lines().len() > 2);
    assert_eq!(place.json_at(NOW, &["export", "-"]).error(), "invalid_argument");
    assert_eq!(place.json_at(NOW, &["export", "x", "--tenant", "nobody"]).error(), "not_found");
}

#[test]
fn chat_messages_go_to_the_tenant() {
    let place = Place::new();
    let file = place.file(
        "talk.json",
        r#"{"id":"t1","messages":[
            {"role":"user","name":"Mira","content":"My bowl is green.","created_at":"2025-02-01T10:00:00+08:00"},
            {"role":"assistant","content":[{"type":"text","text":"Green it is."},{"type":"image_url","image_url":{}}]},
            {"role":"user","content":""}]}"#,
    );
    let ran = place.at(NOW, &["import", &file, "--format", "chat"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, "imported 2 turns of t1 into tenant default; 1 without text left out\n");
    let ran = place.at(NOW, &["import", &file, "--format", "chat"]);
    assert!(ran.out.contains("imported 0 turns") && ran.out.contains("2 were known already"), "{ran:?}");
    let hits = place.json_at(NOW, &["recall", "which colour is my bowl?"]).ok()["hits"].clone();
    assert_eq!(hits[0]["content"], "My bowl is green.");
    assert_eq!((&hits[0]["speaker"], &hits[0]["session"]), (&"Mira".into(), &"t1".into()));
    assert_eq!(hits[0]["occurred_at"], "2025-02-01T02:00:00Z");
    let answer = place.json_at(NOW, &["import", &file, "--format", "chat", "--tenant", "b"]).ok();
    assert_eq!(answer["conversations"][0]["tenant"], "b");
}

#[test]
fn locomo_samples_go_to_tenants_of_their_own() {
    let place = Place::new();
    let sample = |name: &str, text: &str| {
        format!(
            r#"{{"sample_id":"{name}","conversation":{{"speaker_a":"Ana","speaker_b":"Ben",
            "session_1_date_time":"1:56 pm on 8 May, 2023",
            "session_1":[{{"speaker":"Ana","dia_id":"D1:1","text":"{text}"}}]}}}}"#
        )
    };
    let file = place
        .file("l.json", &format!("[{},{}]", sample("one", "I paint boats"), sample("two", "I fix bells")));
    let ran = place.at(NOW, &["import", &file, "--format", "locomo"]);
    assert!(ran.out.contains("into tenant one\n") && ran.out.contains("into tenant two\n"), "{ran:?}");
    let hits = place.json_at(NOW, &["--tenant", "two", "recall", "what does Ana fix?"]).ok()["hits"].clone();
    assert_eq!(hits[0]["content"], "I fix bells");
    assert_eq!(hits[0]["attributes"]["dia_id"], "D1:1");
    let ran = place.at(NOW, &["import", &file, "--format", "locomo", "--tenant", "both"]);
    assert_eq!(ran.code, 0);
    // Both samples have a first turn in their first session: two things that were said.
    assert_eq!(place.at(NOW, &["--tenant", "both", "count"]).out, "2\n");
}

#[test]
fn a_file_that_does_not_fit_is_refused_with_a_hint() {
    let place = Place::new();
    let file = place.file("x.json", "[{\"role\":\"user\",\"content\":\"hello\"}]");
    let ran = place.at(NOW, &["import", &file]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("line 1") && ran.err.contains("hint: --format"), "{ran:?}");
    for format in ["chat", "locomo"] {
        let ran = place.json_at(NOW, &["import", "missing.json", "--format", format]);
        assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"));
    }
    let ran = place.json_at(NOW, &["import", &file, "--format", "nope"]);
    assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"));
}
