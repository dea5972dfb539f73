//! Every claim that `memcards demo` makes.

mod common;

use common::Place;
use serde_json::Value;

fn steps(place: &Place) -> Vec<Value> {
    place.run(&["demo", "--json"]).ok()["steps"].as_array().expect("steps").clone()
}

fn answers<'a>(steps: &'a [Value], query: &str) -> Vec<&'a Value> {
    let asked = |step: &&Value| step["verb"] == "recall" && step["request"]["query"] == query;
    steps.iter().filter(asked).collect()
}

fn contents(step: &Value) -> Vec<&str> {
    let hits = step["answer"]["hits"].as_array().expect("hits");
    hits.iter().map(|hit| hit["content"].as_str().expect("text")).collect()
}

fn only<'a>(steps: &'a [Value], verb: &str) -> &'a Value {
    &steps.iter().find(|step| step["verb"] == verb).unwrap_or_else(|| panic!("{verb}"))["answer"]
}

#[test]
fn it_loads_what_it_says() {
    let steps = steps(&Place::new());
    let loaded = only(&steps, "load");
    assert_eq!((&loaded["sessions"], &loaded["turns"]), (&7.into(), &84.into()));
    assert_eq!((&loaded["notes"], &loaded["replaced"]), (&20.into(), &2.into()));
}

#[test]
fn questions_are_answered_right_in_both_languages() {
    let steps = steps(&Place::new());
    let best = |query: &str| contents(answers(&steps, query)[0]);
    let kiln = best("What is the order number of the kiln?");
    assert!(kiln[0].contains("KLN-48213") && kiln[1].contains("KLN-48213"), "{kiln:?}");
    let glaze = best("At what temperature is G-270 fired?");
    assert!(glaze[0].contains("G-270") && glaze[0].contains("1,280"), "{glaze:?}");
    assert!(!glaze[1].contains("G-207"), "{glaze:?}");
    let allergy = best("阿禾对什么过敏？");
    assert!(allergy[0].contains("花生") && allergy[1].contains("花生"), "{allergy:?}");
    let hits = answers(&steps, "阿禾对什么过敏？")[0]["answer"]["hits"].clone();
    let marked = |hit: &Value| hit["pinned"] == true && hit["polarity"] == "excluded";
    assert!(hits.as_array().is_some_and(|hits| hits.iter().any(marked)), "{hits}");
    let never = best("which kiln should never be suggested?");
    assert!(never[0].contains("never suggest a type B kiln"), "{never:?}");
    assert!(never[1].contains("绝不要再推荐 B 型窑"), "{never:?}");
}

#[test]
fn each_score_is_the_sum_of_its_parts() {
    for step in steps(&Place::new()).iter().filter(|step| step["verb"] == "recall") {
        for hit in step["answer"]["hits"].as_array().expect("hits") {
            let parts = hit["parts"].as_object().expect("parts");
            let sum: f64 = parts.values().filter_map(Value::as_f64).sum();
            assert!((sum - hit["score"].as_f64().expect("a score")).abs() < 1e-4, "{hit}");
        }
    }
}

#[test]
fn the_past_is_answered_as_it_was() {
    let steps = steps(&Place::new());
    let opening = answers(&steps, "When does Paper Heron open?");
    assert_eq!(contents(opening[0]), ["Paper Heron opens on Saturday, 26 April 2025."]);
    assert_eq!(contents(opening[1]), ["Paper Heron opens on Saturday, 12 April 2025."]);
    let clay = answers(&steps, "On which day does North Hill deliver clay?");
    assert_eq!(contents(clay[0]), ["North Hill delivers clay on Tuesdays."]);
    assert_eq!(contents(clay[1]), ["North Hill delivers clay on Thursdays."]);
    assert_eq!(contents(clay[2]), ["North Hill delivers clay on Tuesdays."]);
}

#[test]
fn the_history_tells_who_when_why_and_what() {
    let steps = steps(&Place::new());
    let versions = only(&steps, "history")["versions"].as_array().expect("versions");
    let actions: Vec<&str> = versions.iter().filter_map(|v| v["reason"]["action"].as_str()).collect();
    assert_eq!(actions, ["created", "superseded", "corrected"]);
    assert_eq!(versions[0]["reason"]["actor"], "assistant");
    let last = &versions[2];
    assert_eq!(last["reason"]["actor"], "Mira");
    assert_eq!(last["reason"]["why"], "new route of their van");
    assert_eq!(last["updated_at"], "2025-04-15T02:05:00Z");
    let diff = last["diff"].as_array().expect("a diff");
    let content = diff.iter().find(|change| change["field"] == "content").expect("the content");
    assert_eq!(content["from"], "North Hill delivers clay on Tuesdays.");
    assert_eq!(content["to"], "North Hill delivers clay on Thursdays.");
}

#[test]
fn forgotten_is_not_found_and_restored_is() {
    let steps = steps(&Place::new());
    let key = answers(&steps, "where is the spare key?");
    let note = "The spare key is with the baker next door.";
    assert_eq!(contents(key[0]), [note]);
    assert!(contents(key[1]).is_empty());
    assert_eq!(contents(key[2]), [note]);
    // Another tenant asks the same and sees nothing.
    assert_eq!(key[3]["tenant"], "visitor");
    assert!(contents(key[3]).is_empty());
    let id = &key[0]["answer"]["hits"][0]["id"];
    assert_eq!(&only(&steps, "forget")["forgotten"][0], id);
    assert_eq!(&only(&steps, "restore")["restored"][0], id);
}

#[test]
fn what_is_over_goes_with_a_reason_and_comes_back() {
    let steps = steps(&Place::new());
    let plan = only(&steps, "plan");
    assert_eq!(plan["totals"]["actions"], serde_json::json!({"fade": 1}));
    let item = &plan["items"][0];
    assert_eq!(
        (&item["category"], &item["rule"]),
        (&"task_state".into(), &"fade_below (built-in: defaults)".into())
    );
    let note = "四月二十号之前提醒阿禾向消防报备乐烧。";
    assert_eq!(item["excerpt"], note);
    assert_eq!(only(&steps, "apply")["applied"], Value::Array(vec![item["id"].clone()]));
    assert_eq!(only(&steps, "undo")["restored"], Value::Array(vec![item["id"].clone()]));
    let asked = answers(&steps, "向消防报备什么？");
    assert!(contents(asked[0]).is_empty());
    assert_eq!(contents(asked[1]), [note]);
}

#[test]
fn the_store_is_sound() {
    let report = only(&steps(&Place::new()), "verify").clone();
    assert_eq!(report["findings"], Value::Array(vec![]));
    assert_eq!(report["cards"], 105);
}

#[test]
fn every_run_reads_the_same_and_fits_the_terminal() {
    let place = Place::new();
    let first = place.run(&["demo"]);
    assert_eq!((first.code, first.err.as_str()), (0, ""), "{first:?}");
    assert_eq!(first.out, place.run(&["demo"]).out);
    assert!(!first.out.contains('\u{1b}'), "no colours outside of a terminal");
    for line in first.out.lines() {
        let wide = |c: char| c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c);
        let columns: usize = line.chars().map(|c| if wide(c) { 2 } else { 1 }).sum();
        assert!(columns <= 80, "{columns}: {line}");
    }
    // Nothing was left behind.
    assert!(std::fs::read_dir(place.path(".")).expect("here").next().is_none());
}

#[test]
fn the_commands_it_shows_give_what_it_shows() {
    let place = Place::new();
    let told = place.run(&["demo", "--store", "kept"]).out;
    let now = ["--store", "kept", "--clock", "manual", "--now", "2025-04-15T02:15:00Z"];
    let run = |arguments: &[&str]| place.run(&[&now[..], arguments].concat());
    for (command, shown) in [
        (&["recall", "At what temperature is G-270 fired?"][..], "1,280 degrees"),
        (&["recall", "儿童班多少钱？", "--explain"], "儿童班便宜一点，150。"),
        (&["list", "--filter", r#"{"field":"polarity","eq":"excluded"}"#], "绝不要推荐 B 型窑"),
        (&["--tenant", "visitor", "recall", "where is the spare key?"], "nothing found"),
        (&["verify"], "sound"),
    ] {
        let ran = run(command);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains(shown), "{command:?}: {}", ran.out);
    }
    let id = told.lines().find_map(|line| line.strip_prefix("$ memcards history ")).expect("an id");
    let history = run(&["history", id]).out;
    assert!(told.contains(&history), "{history}");
}

#[test]
fn it_leaves_stores_with_memories_alone() {
    let place = Place::new();
    assert_eq!(place.run(&["remember", "mine", "--store", "mine"]).code, 0);
    let ran = place.run(&["demo", "--store", "mine"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("holds memories already"), "{ran:?}");
    // The everyday store of the environment is not used at all.
    let mut command = place.command(&["demo"]);
    command.env("MEMCARDS_STORE", place.path("mine")).env("MEMCARDS_TENANT", "me");
    assert_eq!(common::finish(command, b"").code, 0);
    assert_eq!(place.run(&["count", "--store", "mine"]).out, "1\n");
}

#[test]
fn it_works_without_a_model_too() {
    let ran = Place::new().run(&["demo", "--model", "none"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("KLN-48213"));
}
