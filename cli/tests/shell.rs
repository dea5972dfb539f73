//! The door for programs: JSON Lines in, JSON Lines out.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use common::Place;
use serde_json::{Value, json};

#[test]
fn answers_come_in_order_and_errors_do_not_end_it() {
    let place = Place::new();
    let ran = place.shell(concat!(
        "{\"verb\":\"remember\",\"tenant\":\"a\",\"content\":\"第一 🫖 o'neil \\u0000\"}\n",
        "\n",
        "   \r\n",
        "nonsense\n",
        "[1]\n",
        "{\"verb\":\"fly\"}\n",
        "{\"verb\":\"remember\",\"tenant\":\"a\",\"content\":\"  \"}\r\n",
        "{\"verb\":\"remember\",\"tenant\":\"a\",\"content\":\"x\",\"colour\":\"red\"}\n",
        "{\"verb\":\"recall\",\"tenant\":\"a\",\"query\":\"第一\"}\n",
        "{\"verb\":\"ping\"}",
    ));
    let lines = ran.lines();
    let told: Vec<&str> = lines
        .iter()
        .map(|line| match line["ok"].as_bool() {
            Some(true) => "ok",
            _ => line["error"]["code"].as_str().expect("a code"),
        })
        .collect();
    let bad = "invalid_argument";
    assert_eq!(told, ["ok", bad, bad, bad, bad, bad, "ok", "ok"]);
    assert_eq!(lines[3]["error"]["field"], "verb");
    assert_eq!(lines[4]["error"]["field"], "content");
    assert_eq!(lines[5]["error"]["field"], "colour");
    assert_eq!(lines[6]["hits"][0]["content"], "第一 🫖 o'neil \u{0}");
    assert_eq!(lines[7]["pong"], true);
}

#[test]
fn a_request_is_answered_before_the_next_one_comes() {
    let place = Place::new();
    let mut child = place
        .command(&["--store", "store", "shell"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("input");
    let mut output = BufReader::new(child.stdout.take().expect("output"));
    for number in 0..5 {
        // The beginning of the next line is no reason to wait.
        write!(input, "{{\"verb\":\"remember\",\"content\":\"number {number}\"}}\n{{\"verb\":")
            .expect("asks");
        input.flush().expect("sent");
        let mut line = String::new();
        output.read_line(&mut line).expect("answers");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON")["seq"], 2 * number + 1);
        writeln!(input, "\"remember\",\"content\":\"and {number}\"}}").expect("asks");
        line.clear();
        output.read_line(&mut line).expect("answers");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON")["seq"], 2 * number + 2);
    }
    drop(input);
    assert!(child.wait().expect("ends").success());
}

#[test]
fn huge_and_broken_lines_are_refused_and_skipped() {
    let place = Place::new();
    let mut input = br#"{"verb":"remember","content":""#.to_vec();
    input.resize(33 << 20, b'x');
    input.extend_from_slice(b"\"}\n{\"verb\":\"ping\"}\n\xff\xfe\n{\"verb\":\"remember\",\"content\":\"");
    // Within the bound of a line, beyond the bound of a text.
    input.extend(std::iter::repeat_n(b'y', 1 << 20));
    input.extend_from_slice(b"\"}\n");
    input.extend_from_slice("[".repeat(100_000).as_bytes());
    input.extend_from_slice(b"\n{\"verb\":\"count\"}\n");
    let lines = place.shell(&input).lines();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert_eq!(
        (&lines[0]["error"]["code"], &lines[0]["error"]["field"]),
        (&json!("too_large"), &json!("request"))
    );
    assert_eq!(lines[1]["pong"], true);
    assert_eq!(lines[2]["error"]["code"], "invalid_argument");
    assert_eq!(
        (&lines[3]["error"]["code"], &lines[3]["error"]["field"]),
        (&json!("too_large"), &json!("content"))
    );
    assert_eq!(lines[4]["error"]["code"], "invalid_argument");
    assert_eq!(lines[5]["count"], 0);
}

#[test]
fn tenants_do_not_see_each_other() {
    let place = Place::new();
    let lines = place
        .shell(concat!(
            "{\"verb\":\"remember\",\"tenant\":\"a\",\"content\":\"canary of a\"}\n",
            "{\"verb\":\"remember\",\"content\":\"canary of the shell's tenant\"}\n",
            "{\"verb\":\"recall\",\"tenant\":\"b\",\"query\":\"canary\"}\n",
            "{\"verb\":\"list\",\"tenant\":\"*\"}\n",
            "{\"verb\":\"count\",\"tenant\":\"a\"}\n",
            "{\"verb\":\"count\",\"tenant\":\"default\"}\n",
        ))
        .lines();
    assert_eq!((&lines[2]["hits"], &lines[3]["cards"]), (&json!([]), &json!([])));
    assert_eq!((&lines[4]["count"], &lines[5]["count"]), (&json!(1), &json!(1)));
    let id = lines[0]["id"].as_str().expect("an id");
    let mut requests = String::new();
    for tenant in ["a", "b"] {
        requests.push_str(&format!("{{\"verb\":\"get\",\"tenant\":\"{tenant}\",\"id\":\"{id}\"}}\n"));
        requests.push_str(&format!(
            "{{\"verb\":\"forget\",\"tenant\":\"{tenant}\",\"id\":\"{id}\",\"dry_run\":true}}\n"
        ));
    }
    let lines = place.shell(&requests).lines();
    assert_eq!(lines[0]["card"]["content"], "canary of a");
    for line in &lines[2..] {
        assert_eq!(line["error"]["code"], "not_found");
        assert!(!line.to_string().contains("canary"));
    }
}

#[test]
fn the_manual_clock_is_moved_by_requests() {
    let place = Place::new();
    let lines = place
        .shell(concat!(
            "{\"verb\":\"remember\",\"content\":\"milk\",\"ttl\":\"1h\",\"now\":\"2025-01-01T00:00:00Z\"}\n",
            "{\"verb\":\"count\",\"now\":\"2025-01-01T00:59:59.999999Z\"}\n",
            "{\"verb\":\"count\",\"now\":\"2025-01-01T09:00:00+08:00\"}\n",
            "{\"verb\":\"ping\",\"now\":\"soon\"}\n",
        ))
        .lines();
    assert_eq!((&lines[1]["count"], &lines[2]["count"]), (&json!(1), &json!(0)));
    assert_eq!(lines[3]["error"]["field"], "now");
    // With the machine's clock the time is not for requests to say.
    let request = "{\"verb\":\"ping\",\"now\":\"2025-01-01T00:00:00Z\"}\n";
    let ran = place.run_with(&["--store", "other", "shell"], request);
    assert_eq!(ran.lines()[0]["error"]["field"], "now");
}

#[test]
fn the_command_line_answers_with_the_same_objects() {
    let place = Place::new();
    let now = "2025-03-01T08:00:00Z";
    place.json_at(now, &["remember", "the tea is oolong", "--category", "preference"]).ok();
    let card = place.json_at(now, &["list"]).ok();
    let id = card["cards"][0]["id"].as_str().expect("an id").to_owned();
    for (arguments, request) in [
        (vec!["recall", "tea", "--explain"], json!({"verb": "recall", "query": "tea", "explain": true})),
        (vec!["get", &id], json!({"verb": "get", "id": id})),
        (vec!["list", "--order", "occurred_at"], json!({"verb": "list", "order": "occurred_at"})),
        (vec!["count"], json!({"verb": "count"})),
        (vec!["history", &id], json!({"verb": "history", "id": id})),
        (vec!["forget", &id, "--dry-run"], json!({"verb": "forget", "ids": [id], "dry_run": true})),
        (vec!["restore", &id], json!({"verb": "restore", "ids": [id]})),
        (vec!["correct", &id], json!({"verb": "correct", "id": id})),
        (vec!["get", "00000000000000000000000000000000"], json!({"verb": "get", "id": "0".repeat(32)})),
        (vec!["verify"], json!({"verb": "verify"})),
        (vec!["tenants"], json!({"verb": "tenant.list"})),
        (vec!["stats", "--tenant", "default"], json!({"verb": "tenant.stats"})),
    ] {
        let mut request = request;
        request["now"] = now.into();
        let shell = place.shell(format!("{request}\n"));
        assert_eq!(place.json_at(now, &arguments).json(), shell.lines()[0], "{arguments:?}");
    }
}

#[test]
fn many_requests_at_once_are_carried_out_in_order() {
    let place = Place::new();
    let mut requests = String::new();
    for number in 0..2500 {
        requests.push_str(&format!(
            "{{\"verb\":\"remember\",\"content\":\"reading {number}\",\"tags\":[\"t\"]}}\n"
        ));
        if number % 500 == 499 {
            requests.push_str("{\"verb\":\"count\"}\n");
        }
        if number % 700 == 699 {
            requests.push_str("broken\n");
        }
    }
    let lines = place.shell(&requests).lines();
    let counts: Vec<u64> = lines.iter().filter_map(|line| line["count"].as_u64()).collect();
    assert_eq!(counts, [500, 1000, 1500, 2000, 2500]);
    let sequence: Vec<u64> = lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert_eq!(sequence, (1..=2500).collect::<Vec<_>>());
    let errors: Vec<usize> = (0..lines.len()).filter(|at| lines[*at]["ok"] == false).collect();
    assert_eq!(errors, [701, 1403, 2106]);
}
