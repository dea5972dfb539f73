//! `relate`, `entity` and `walk`, end to end.

mod common;

use common::Place;
use serde_json::{Value, json};

const DAY1: &str = "2025-03-01T08:00:00Z";
const DAY2: &str = "2025-03-02T08:00:00Z";

/// A store with four relations and two values of an attribute.
fn studio() -> Place {
    let place = Place::new();
    for arguments in [
        &["relate", "Mira", "works with", "Otto", "--score", "0.8", "--since", "2024-05-01T00:00:00Z"][..],
        &["relate", "Otto", "lives in", "Basel", "--until", "2030-01-01T00:00:00Z"],
        &["relate", "Mira", "alias", "M. Sol"],
        &["relate", "林小雨", "的同事是", "Mira", "--score", "0.5"],
        &["remember", "Mira is 41", "--fact", "Mira", "age", "41"],
    ] {
        assert_eq!(place.at(DAY1, arguments).code, 0, "{arguments:?}");
    }
    assert_eq!(place.at(DAY2, &["remember", "Mira is 42", "--fact", "Mira", "age", "42"]).code, 0);
    place
}

#[test]
fn relate_says_what_became_of_it() {
    let place = Place::new();
    for (arguments, word) in [
        (&["relate", "Mira", "knows", "Otto"][..], "related"),
        (&["relate", "mira", "knows", "otto"], "known already; brought up to date"),
        (&["relate", "mira", "knows", "otto"], "known already; counted once more"),
        (&["relate", "Mira", "knows", "Ines", "--provenance", "inferred"], "noted as a candidate"),
        (&["relate", "Mira", "knows", "Otto", "--until", DAY1], "known already; brought up to date"),
        (&["relate", "Mira", "knows", "Otto", "--since", DAY2], "related; replaces what had ended before"),
    ] {
        let ran = place.at(DAY2, arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.starts_with(word), "{arguments:?}: {}", ran.out);
        assert!(ran.out.contains("   id "), "{}", ran.out);
    }
    let answer = place.json_at(DAY2, &["relate", "Mira", "knows", "Paul", "--actor", "me"]).ok();
    let fields: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["affected", "id", "ok", "outcome", "seq", "version"]);
    let card = place.json_at(DAY2, &["get", answer["id"].as_str().expect("an id")]).ok()["card"].clone();
    assert_eq!((&card["category"], &card["track"]), (&json!("relation"), &json!("entity")));
    let ran = place.at(DAY2, &["relate", "Mira", "knows", "Paul", "--score", "2"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("score: must be a number from 0 to 1"), "{}", ran.err);
}

#[test]
fn entity_shows_attributes_relations_and_cards() {
    let place = studio();
    let shown = place.at(DAY2, &["entity", "m. SOL"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for text in [
        "M. Sol\n   also Mira\n",
        "   age: 42\n      since 2025-03-02 08:00 UTC · certain 0.80\n      id ",
        "      was 41 (2025-03-01 08:00 UTC – 2025-03-02 08:00 UTC)\n",
        "   → 0.80  Mira —works with→ Otto\n      since 2024-05-01 00:00 UTC\n      id ",
        "   ← 0.50  林小雨 —的同事是→ Mira\n",
        "4 cards name it\n",
    ] {
        assert!(shown.out.contains(text), "{text}: {}", shown.out);
    }
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    let answer = place.json_at(DAY2, &["entity", "Mira", "--limit", "1"]).ok();
    assert_eq!(answer["aliases"], json!(["M. Sol"]));
    assert_eq!((&answer["truncated"], &answer["cards"]["count"]), (&json!(true), &json!(4)));
    let values = |answer: &Value| {
        let versions = answer["attributes"][0]["versions"].as_array().expect("versions").clone();
        versions.iter().map(|version| version["value"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(values(&answer), ["42", "41"]);
    let past = place.json_at(DAY2, &["entity", "Mira", "--as-of", "2025-03-01T12:00:00Z"]).ok();
    assert_eq!(values(&past), ["41"]);
    let ran = place.at(DAY2, &["entity", "Nobody"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("entity \"Nobody\" not found"), "{}", ran.err);
    assert_eq!(place.json_at(DAY2, &["entity", "Mira", "--tenant", "other"]).error(), "not_found");
}

#[test]
fn walk_shows_each_path() {
    let place = studio();
    let shown = place.at(DAY2, &["walk", "林小雨", "--hops", "3"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let expected = "\
1  0.50  Mira
         林小雨 —的同事是→ Mira
2  0.35  M. Sol
         林小雨 —的同事是→ Mira
         Mira —alias→ M. Sol
3  0.28  Otto
         林小雨 —的同事是→ Mira
         Mira —works with→ Otto
4  0.20  Basel
         林小雨 —的同事是→ Mira
         Mira —works with→ Otto
         Otto —lives in→ Basel
";
    assert_eq!(shown.out, expected);
    let only = ["walk", "Mira", "--relations", "works with", "--direction", "out", "--top", "5"];
    let answer = place.json_at(DAY2, &only).ok();
    assert_eq!(answer["paths"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["paths"][0]["edges"][0]["relation"], "works with");
    assert_eq!((&answer["looked_at"], &answer["truncated"]), (&json!(5), &json!(false)));
    let alone = place.at(DAY2, &["walk", "Basel", "--direction", "out"]);
    assert_eq!((alone.code, alone.out.as_str()), (0, "nothing is connected with it\n"));
    let ran = place.json_at(DAY2, &["walk", "Mira", "--hops", "9"]);
    assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"));
}

#[test]
fn the_shell_has_the_same_verbs() {
    let place = Place::new();
    let ran = place.shell(concat!(
        r#"{"verb":"relate","from":"a","relation":"knows","to":"b","score":0.5}"#,
        "\n",
        r#"{"verb":"relate","from":"b","relation":"knows","to":"c"}"#,
        "\n",
        r#"{"verb":"walk","start":"A"}"#,
        "\n",
        r#"{"verb":"entity","name":"B"}"#,
        "\n",
        r#"{"verb":"entity","name":"x"}"#,
    ));
    let lines = ran.lines();
    let reached: Vec<&Value> =
        lines[2]["paths"].as_array().expect("paths").iter().map(|path| &path["to"]).collect();
    assert_eq!(reached, ["b", "c"]);
    assert_eq!(lines[2]["paths"][1]["score"], 0.35);
    assert_eq!(lines[3]["edges"].as_array().map(Vec::len), Some(2));
    assert_eq!(lines[4]["error"]["code"], "not_found");
}
