//! Every command of a person, end to end: what it prints, and its exit code.

mod common;

use common::{Place, finish};
use serde_json::Value;

const DAY1: &str = "2025-03-01T08:00:00Z";
const DAY2: &str = "2025-03-02T08:00:00Z";
const DAY3: &str = "2025-03-03T08:00:00Z";

/// Remembers a text and gives its identifier.
fn remember(place: &Place, now: &str, arguments: &[&str]) -> String {
    let answer = place.json_at(now, &[&["remember"], arguments].concat()).ok();
    answer["id"].as_str().expect("an id").to_owned()
}

#[test]
fn remember_takes_every_field_and_get_shows_it() {
    let place = Place::new();
    let other = remember(&place, DAY1, &["The kettle is new."]);
    let link = format!("related:{other}");
    let id = remember(
        &place,
        DAY1,
        &[
            "Mira wants the blue kettle — 蓝色的壶 🫖",
            "--track",
            "entity",
            "--category",
            "preference",
            "--summary",
            "blue kettle",
            "--fact",
            "Mira",
            "kettle",
            "blue",
            "--polarity",
            "affirmed",
            "--entities",
            "Mira",
            "--entities",
            "kettle",
            "--tags",
            "shop",
            "--attributes",
            r#"{"region":{"code":7}}"#,
            "--occurred-at",
            "2025-02-28T20:00:00+08:00",
            "--valid-from",
            "2025-02-01T00:00:00Z",
            "--valid-to",
            "2026-01-01T00:00:00Z",
            "--ttl",
            "30d",
            "--importance",
            "0.7",
            "--confidence",
            "0.9",
            "--provenance",
            "confirmed",
            "--merge-key",
            "preference.kettle",
            "--session",
            "s1",
            "--turn",
            "3",
            "--role",
            "user",
            "--speaker",
            "Mira",
            "--extractor",
            "by hand",
            "--idempotency-key",
            "k1",
            "--links",
            &link,
            "--pinned",
            "--actor",
            "me",
            "--reason",
            "she said so",
        ],
    );
    let card = place.json_at(DAY1, &["get", &id]).ok()["card"].clone();
    for (field, value) in [
        ("content", "Mira wants the blue kettle — 蓝色的壶 🫖"),
        ("track", "entity"),
        ("summary", "blue kettle"),
        ("occurred_at", "2025-02-28T12:00:00Z"),
        ("expires_at", "2025-03-31T08:00:00Z"),
        ("provenance", "confirmed"),
        ("merge_key", "preference.kettle"),
        ("session", "s1"),
        ("speaker", "Mira"),
        ("extractor", "by hand"),
    ] {
        assert_eq!(card[field], value, "{field}");
    }
    assert_eq!(card["fact"]["value"], "blue");
    assert_eq!(card["attributes"]["region"]["code"], 7);
    assert_eq!(card["reason"]["why"], "she said so");
    assert_eq!(card["links"][0]["to"], other.as_str());
    assert_eq!(card["pinned"], true);

    let shown = place.at(DAY1, &["get", &id]).out;
    for text in
        ["Mira wants the blue kettle", "fact              Mira · kettle = blue", "created by me: she said so"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // The same request again changes nothing.
    let again = place.json_at(DAY2, &["remember", "x", "--idempotency-key", "k1"]).ok();
    assert_eq!((&again["id"], &again["outcome"]), (&id.as_str().into(), &"duplicate".into()));
}

#[test]
fn words_need_no_quotes_and_text_may_come_from_standard_input() {
    let place = Place::new();
    assert_eq!(place.run(&["remember", "the", "bell", "is", "broken"]).code, 0);
    for input in ["from a pipe\n", "line one\nline two\r\n", "-"] {
        let ran = place.run_with(&["remember", "-", "--json"], input);
        ran.ok();
    }
    let list = place.run(&["list", "--json", "--order", "recorded_at"]).ok();
    let contents: Vec<&str> =
        list["cards"].as_array().expect("cards").iter().filter_map(|card| card["content"].as_str()).collect();
    assert_eq!(contents, ["the bell is broken", "from a pipe", "line one\nline two", "-"]);
    // The default store lies in the data folder.
    assert!(place.path(".local/share/memcards").is_dir());
    let ran = place.run_with(&["remember", "--json"], [b'a', 0xff]);
    assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"));
    let ran = place.run_with(&["remember", "--json"], "x".repeat(70_000));
    assert_eq!((ran.code, ran.error().as_str()), (2, "too_large"));
}

#[test]
fn recall_shows_hits_and_explains_them() {
    let place = Place::new();
    remember(&place, DAY1, &["The spare key is under the blue pot.", "--speaker", "Mira"]);
    remember(&place, DAY1, &["备用钥匙在蓝色花盆下面。", "--category", "profile"]);
    let shown = place.at(DAY2, &["recall", "where is the spare key?", "--explain"]);
    assert_eq!(shown.code, 0);
    for text in [
        "1  0.",
        "2025-03-01 08:00 UTC · semantic/knowledge · Mira",
        "   why words of the question  +0.",
        "searched 2 cards by text and vector",
    ] {
        assert!(shown.out.contains(text), "{text}: {}", shown.out);
    }
    let answer = place.json_at(DAY2, &["recall", "钥匙", "--categories", "profile", "--top", "1"]).ok();
    assert_eq!(answer["hits"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["hits"][0]["content"], "备用钥匙在蓝色花盆下面。");
    assert!(answer["hits"][0].get("parts").is_none());
    let filter = r#"{"field":"category","eq":"knowledge"}"#;
    let answer = place.json_at(DAY2, &["recall", "key", "--filter", filter, "--preset", "rule"]).ok();
    assert_eq!(answer["hits"].as_array().map(Vec::len), Some(1));
    assert_eq!(place.at(DAY2, &["recall", "zebra crossings", "--min-score", "0.9"]).out, "nothing found\n");
    assert_eq!(place.at(DAY1, &["recall", "key", "--until", DAY1]).out, "nothing found\n");
}

#[test]
fn what_controls_a_terminal_is_shown_as_text() {
    let place = Place::new();
    remember(&place, DAY1, &["evil \u{1b}[2J\u{7} text", "--speaker", "\u{202e}x"]);
    for command in [&["list"][..], &["recall", "evil"]] {
        let out = place.at(DAY1, command).out;
        assert!(out.contains("evil \\u{1b}[2J\\u{7} text"), "{out:?}");
        assert!(!out.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{out:?}");
    }
}

#[test]
fn list_pages_and_count_agree() {
    let place = Place::new();
    for text in ["one apple", "two pears", "three plums"] {
        remember(&place, DAY1, &[text]);
    }
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut arguments = vec!["list", "--limit", "2", "--order", "-occurred_at"];
        arguments.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor]));
        let page = place.json_at(DAY2, &arguments).ok();
        seen.extend(page["cards"].as_array().expect("cards").iter().map(|card| card["id"].to_string()));
        match page["cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 3);
    assert!(place.at(DAY2, &["list", "--limit", "2"]).out.contains("more: --cursor "));
    assert_eq!(place.at(DAY2, &["count"]).out, "3\n");
    assert_eq!(place.json_at(DAY2, &["count", "--known-at", "2024-01-01T00:00:00Z"]).ok()["count"], 0);
    let filter = r#"{"field":"content","contains":"p"}"#;
    assert_eq!(place.json_at(DAY2, &["count", "--filter", filter]).ok()["count"], 3);
}

#[test]
fn correct_forget_restore_and_history() {
    let place = Place::new();
    let old = remember(&place, DAY1, &["The shop opens at nine."]);
    let correct =
        ["correct", &old, "--content", "The shop opens at ten.", "--actor", "me", "--reason", "new sign"];
    let new = place.json_at(DAY2, &correct).ok();
    let id = new["id"].as_str().expect("an id").to_owned();
    assert_ne!(id, old);
    // The superseded card cannot be corrected once more; a version that is out of date neither.
    let ran = place.json_at(DAY2, &["correct", &old, "--content", "The shop opens at eleven."]);
    assert_eq!((ran.code, ran.error().as_str()), (4, "conflict"));
    let ran = place.at(DAY2, &["correct", &id, "--version", "9", "--pinned", "true"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{ran:?}");
    assert!(ran.err.starts_with("error: conflict: ") && ran.err.contains("\nhint: read the card again"));
    let edited = place.at(DAY2, &["correct", &id, "--tags", "hours", "--tags", "shop", "--pinned", "true"]);
    assert!(edited.out.starts_with("edited\n"), "{edited:?}");

    let history = place.at(DAY3, &["history", &old]).out;
    for text in [
        "2025-03-01 08:00 UTC  created\n",
        "2025-03-02 08:00 UTC  corrected by me: new sign\n",
        "content: The shop opens at nine. → The shop opens at ten.",
        r#"tags: – → ["hours","shop"]"#,
        "state: active → superseded",
    ] {
        assert!(history.contains(text), "{text}: {history}");
    }
    let at = |time: &str| place.json_at(DAY3, &["recall", "when does the shop open?", "--as-of", time]).ok();
    assert_eq!(at("2025-03-01T12:00:00Z")["hits"][0]["content"], "The shop opens at nine.");
    assert_eq!(at("2025-03-02T12:00:00Z")["hits"][0]["content"], "The shop opens at ten.");

    let dry = place.at(DAY3, &["forget", &id, "--dry-run"]).out;
    assert!(dry.starts_with("would be forgotten: 1 card\n"), "{dry}");
    assert!(dry.ends_with(&format!("{id}  knowledge       1 d  The shop opens at ten.\n")), "{dry}");
    let done = place.at(DAY3, &["forget", &id]).out;
    assert!(done.starts_with(&format!("forgotten  {id}\ntake it back: memcards --store store undo run-")));
    assert_eq!(place.at(DAY3, &["forget", &id]).out, format!("left alone (was forgotten already)  {id}\n"));
    let ran = place.json_at(DAY3, &["get", &id]);
    assert_eq!((ran.code, ran.error().as_str()), (3, "not_found"));
    assert_eq!(
        place.json_at(DAY3, &["get", &id, "--include", "forgotten"]).ok()["card"]["state"],
        "forgotten"
    );
    assert_eq!(place.at(DAY3, &["restore", &id]).out, format!("restored  {id}\n"));
    assert_eq!(place.at(DAY3, &["restore", &id]).out, format!("left alone (is not forgotten)  {id}\n"));
    let filter = r#"{"field":"tags","contains":"nothing"}"#;
    assert!(place.at(DAY3, &["forget", "--filter", filter]).out.contains("nothing forgotten"));
    let ran = place.json_at(DAY3, &["forget"]);
    assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"));
}

#[test]
fn tenants_are_apart_and_figures_are_told() {
    let place = Place::new();
    let id = remember(&place, DAY1, &["secret of the default tenant"]);
    place.at(DAY1, &["--tenant", "用户-1", "remember", "mine"]);
    assert_eq!(place.at(DAY1, &["--tenant", "用户-1", "recall", "secret"]).out, "nothing found\n");
    assert_eq!(place.json_at(DAY1, &["--tenant", "用户-1", "get", &id]).error(), "not_found");
    assert_eq!(
        place.at(DAY1, &["tenants"]).out,
        "default  since 2025-03-01 08:00 UTC\n用户-1  since 2025-03-01 08:00 UTC\n"
    );
    assert_eq!(place.json_at(DAY1, &["tenants"]).ok()["tenants"][1]["name"], "用户-1");
    assert_eq!(place.json_at(DAY1, &["stats"]).ok()["tenants"], 2);
    assert_eq!(place.json_at(DAY1, &["stats", "--tenant", "用户-1"]).ok()["states"]["active"], 1);
    assert!(place.at(DAY1, &["stats"]).out.contains("tenants      2\n"));
    assert!(place.at(DAY1, &["stats", "--tenant", "default"]).out.contains("cards        active 1\n"));
    let mut command = place.command(&["count", "--store", "store"]);
    command.env("MEMCARDS_TENANT", "nobody");
    assert_eq!(finish(command, b"").out, "0\n");
}

#[test]
fn backup_is_a_store_and_verify_tells_damage() {
    let place = Place::new();
    remember(&place, DAY1, &["keep this"]);
    let ran = place.at(DAY1, &["backup", "copy"]);
    assert!(ran.code == 0 && ran.out.starts_with("copied "), "{ran:?}");
    let ran = place.json_at(DAY1, &["backup", "copy"]);
    assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"));
    assert_eq!(place.run(&["--store", "copy", "count"]).out, "1\n");
    assert!(place.run(&["--store", "copy", "verify"]).out.contains("\nsound: "));
    assert_eq!(place.run(&["--store", "copy", "verify", "--json"]).ok()["sound"], true);

    // A flipped byte in a text.
    let file = place.path("copy/memcards.redb");
    let mut bytes = std::fs::read(&file).expect("the store file");
    let at: Vec<usize> = (0..bytes.len() - 9).filter(|at| bytes[*at..].starts_with(b"keep this")).collect();
    assert!(!at.is_empty());
    at.into_iter().for_each(|at| bytes[at] ^= 1);
    std::fs::write(&file, bytes).expect("damage");
    let ran = place.run(&["--store", "copy", "verify"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.out.contains("damaged "), "{ran:?}");
    let ran = place.run(&["--store", "copy", "verify", "--json"]);
    assert_eq!((ran.code, &ran.json()["sound"]), (6, &Value::Bool(false)));
}

#[test]
fn a_store_that_is_not_there_is_made_by_writing_only() {
    let place = Place::new();
    for command in [
        &["recall", "x"][..],
        &["list"],
        &["count"],
        &["verify"],
        &["stats"],
        &["tenants"],
        &["export", "f"],
        &["backup", "d"],
    ] {
        let ran = place.run(&[&["--store", "none"], command].concat());
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{command:?}: {ran:?}");
        assert!(ran.err.starts_with("error: a store in none not found\nhint: "), "{ran:?}");
        let ran = place.run(&[&["--store", "none", "--json"], command].concat());
        assert_eq!((ran.error().as_str(), ran.err.as_str()), ("not_found", ""));
    }
    assert!(!place.path("none").exists());
    assert_eq!(place.run(&["--store", "none/deeper", "remember", "x"]).code, 0);
}

#[test]
fn a_second_process_is_told_that_the_store_is_locked() {
    let place = Place::new();
    let mut shell = place.command(&["--store", "store", "shell"]);
    shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut shell = shell.spawn().expect("a shell");
    {
        use std::io::{BufRead, Write};
        let input = shell.stdin.as_mut().expect("input");
        writeln!(input, r#"{{"verb":"ping"}}"#).expect("asks");
        let mut line = String::new();
        std::io::BufReader::new(shell.stdout.as_mut().expect("output"))
            .read_line(&mut line)
            .expect("answers");
        assert!(line.contains("pong"), "{line}");
    }
    let ran = place.run(&["--store", "store", "count"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("is in use by") && ran.err.contains("hint: "), "{ran:?}");
    let ran = place.run(&["--store", "store", "count", "--json"]);
    assert_eq!((ran.code, ran.error().as_str()), (5, "locked"));
    // A program that talks to the shell reads JSON Lines, this one too.
    let mut second = place.command(&["--store", "store", "shell"]);
    let second = second.stdin(std::process::Stdio::null()).output().expect("runs");
    assert_eq!(second.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&second.stdout).contains(r#""code":"locked""#), "{second:?}");
    drop(shell.stdin.take());
    assert!(shell.wait().expect("ends").success());
    assert_eq!(place.run(&["--store", "store", "count"]).out, "0\n");
}

#[test]
fn usage_mistakes_are_code_2() {
    let place = Place::new();
    remember(&place, DAY1, &["x"]);
    for arguments in [
        &["fly"][..],
        &["recall", "x", "--nope"],
        &["recall", "x", "--tracks", "nope"],
        &["recall", "x", "--since", "yesterday"],
        &["list", "--filter", r#"{"field":"colour","eq":"red"}"#],
        &["list", "--filter", "{}"],
        &["get", "12"],
        &["recall", "x", "--top", "0"],
        &["recall", "x", "--preset", "nope"],
        &["list", "--cursor", "00"],
        &["list", "--now", DAY1],
        &["list", "--clock", "manual"],
        &["demo", "--clock", "manual"],
        &["--tenant", "", "list"],
    ] {
        let ran = place.run(&[&["--store", "store"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains("error:"), "{ran:?}");
        let ran = place.run(&[&["--store", "store", "--json"], arguments].concat());
        assert_eq!((ran.code, ran.error().as_str()), (2, "invalid_argument"), "{arguments:?}");
        assert!(ran.json()["error"]["field"].is_string(), "{ran:?}");
        assert_eq!(ran.err, "", "{arguments:?}");
    }
    let field = |arguments: &[&str]| {
        let ran = place.run(&[&["--store", "store", "--json"], arguments].concat());
        ran.json()["error"]["field"].as_str().expect("a field").to_owned()
    };
    assert_eq!(field(&["recall", "x", "--min-score", "much"]), "min_score");
    assert_eq!(field(&["recall", "x", "--min-score", "7"]), "min_score");
}

#[test]
fn help_tells_the_exit_codes_and_completions_are_printed() {
    let place = Place::new();
    let help = place.run(&["--help"]);
    assert_eq!(help.code, 0);
    for text in ["0  done", "2  usage", "3  not found", "5  locked", "6  verify found damage"] {
        assert!(help.out.contains(text), "{text}");
    }
    assert!(place.run(&["recall", "--help"]).out.contains("Example:\n  memcards recall "));
    assert!(place.run(&["--version"]).out.starts_with("memcards 0."));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = place.run(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("recall"), "{shell}");
    }
    // None of them made a store.
    assert!(!place.path(".local").exists());
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_is_no_mistake() {
    let place = Place::new();
    let many: String = (0..3000)
        .map(|n| format!("{{\"verb\":\"remember\",\"content\":\"number {n} is remembered\"}}\n"))
        .collect();
    place.shell(&many);
    let mut command = place.command(&["--store", "store", "list", "--limit", "1000"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn the_same_commands_with_a_manual_clock_give_the_same_bytes() {
    let run = || {
        let place = Place::new();
        let id = remember(&place, DAY1, &["same every time"]);
        (id, place.at(DAY2, &["recall", "same", "--explain", "--json"]).out)
    };
    assert_eq!(run(), run());
    // With the machine's clock identifiers cannot be guessed.
    let id = || Place::new().run(&["remember", "x", "--json"]).ok()["id"].to_string();
    assert_ne!(id()[21..], id()[21..]);
}

#[test]
fn reembed_gives_vectors_to_what_was_written_without_a_model() {
    let place = Place::new();
    remember(&place, DAY1, &["The kettle is new.", "--model", "none"]);
    let refused = place.at(DAY1, &["reembed", "--model", "none", "--json"]);
    assert_eq!(refused.error(), "unavailable");
    let ran = place.at(DAY1, &["reembed"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("embedded 1 texts of 1 cards"), "{ran:?}");
    let again = place.json_at(DAY1, &["reembed", "--tenant", "default"]).ok();
    assert_eq!((&again["cards"], &again["embedded"]), (&1.into(), &0.into()));
    assert_eq!(place.at(DAY1, &["reembed", "--tenant", "nobody", "--json"]).error(), "not_found");
    let answers = place.shell("{\"verb\":\"reembed\"}\n{\"verb\":\"reembed\",\"tenants\":1}\n").lines();
    assert_eq!((&answers[0]["ok"], &answers[1]["error"]["field"]), (&true.into(), &"tenants".into()));
}

#[test]
#[cfg(not(feature = "encoder"))]
fn an_encoder_that_is_not_built_in_is_named() {
    let place = Place::new();
    let ran = place.run(&["--store", "store", "--encoder", "folder", "remember", "x", "--json"]);
    assert_eq!(ran.error(), "unavailable");
    assert!(ran.out.contains("--features encoder"), "{ran:?}");
}

#[test]
#[cfg(not(feature = "remote-embedder"))]
fn a_service_that_is_not_built_in_is_named() {
    let place = Place::new();
    let service = ["--embedder-url", "http://localhost:1", "--embedder-model", "m"];
    let ran = place.run(&[&["--store", "store"], &service[..], &["remember", "x", "--json"]].concat());
    assert_eq!(ran.error(), "unavailable");
    assert!(ran.out.contains("--features remote-embedder"), "{ran:?}");
    assert_eq!(place.run(&["--embedder-url", "http://localhost:1", "stats"]).code, 2);
}

#[test]
#[cfg(feature = "encoder")]
fn an_encoder_takes_the_place_of_the_built_in_model_when_told() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/encoder/bert");
    remember(&place, DAY1, &["The key is under the blue pot."]);
    let encoder = ["--encoder", folder];
    let stats = [&["stats", "--json"], &encoder[..]].concat();
    assert_eq!(place.at(DAY1, &stats).error(), "model_mismatch");
    let reembed = [&["reembed", "--replace-model", "--json"], &encoder[..]].concat();
    assert_eq!(place.at(DAY1, &reembed).ok()["embedded"], 1);
    assert!(place.at(DAY1, &stats).ok()["model"].as_str().expect("a model").starts_with("bert-2x32-"));
    let missing = place.at(DAY1, &["stats", "--encoder", "nowhere", "--json"]);
    assert_eq!(missing.error(), "unavailable");
    assert!(missing.out.contains("nowhere/config.json"), "{missing:?}");
}
