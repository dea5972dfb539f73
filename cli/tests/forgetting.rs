//! Forgetting, end to end: plan, apply, undo, policies, feedback, looking ahead, erasing.

mod common;

use common::Place;
use serde_json::{Value, json};

const THEN: &str = "2025-01-01T00:00:00Z";
const NOW: &str = "2025-06-01T00:00:00Z";

/// A store with memories of two tenants, five months old.
fn old() -> Place {
    let place = Place::new();
    for arguments in [
        &["remember", "The kiln arrives on Friday with two men.", "--category", "temporary"][..],
        &["remember", "Mira likes jasmine tea.", "--category", "preference"],
        &["remember", "阿禾对花生过敏。", "--category", "profile", "--pinned"],
        &["remember", "The glaze was blue at last.", "--category", "knowledge"],
        &["remember", "Otto is ill this week.", "--category", "task_state", "--tenant", "ben"],
    ] {
        assert_eq!(place.at(THEN, arguments).code, 0, "{arguments:?}");
    }
    place
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn count(place: &Place, tenant: &str) -> String {
    place.at(NOW, &["count", "--tenant", tenant]).out.trim().to_owned()
}

#[test]
fn a_plan_says_what_why_and_how_to_go_on() {
    let place = old();
    let before = count(&place, "default");
    let shown = place.at(NOW, &["plan", "--consent"]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{shown:?}");
    for part in [
        "by built-in: preset assistant\n",
        "expire 1 card\n   their time is over, so they are forgotten: ttl (built-in:",
        "   The kiln arrives on Friday with two men.\n      semantic/temporary · age 151 d",
        "fade 1 card\n",
        "   The glaze was blue at last.\n",
        "confidence 0.80 → 0.18, below 0.30\n      since 2025-04-09",
        "note: no policy is set",
        "2 cards in all; nothing has been changed yet\n",
        "carry it out: memcards --store store apply plan-",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert_eq!(count(&place, "default"), before, "a plan changes nothing");
    let all = place.at(NOW, &["plan", "--all", "--consent", "--policy", "assistant"]).out;
    for part in [
        "by given with the request: preset assistant\n",
        "tenant   expire  fade  all\nben           0     1    1\n",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    let answer = place.json_at(NOW, &["plan", "--tenants", "ben", "--rules", "fade,expire"]).ok();
    assert_eq!((&answer["totals"]["items"], &answer["items"][0]["tenant"]), (&json!(1), &json!("ben")));
    assert_eq!(answer["totals"]["tenants"], json!({"ben": {"fade": 1}}));
    let held = place.json_at(NOW, &["plan", "--items", "1"]).ok();
    assert_eq!((&held["totals"]["items"], &held["totals"]["held_back"]), (&json!(1), &json!(1)));
    let purge = place.at(NOW, &["plan", "--rules", "purge"]);
    assert!(purge.out.contains("nothing is due\n"), "{}", purge.out);
}

#[test]
fn a_plan_is_refused_where_it_is_wrong() {
    let place = old();
    for (arguments, code, field) in [
        (&["plan", "--share", "2"][..], 2, Some("limits.share")),
        (&["plan", "--items", "0"], 2, Some("limits.items")),
        (&["plan", "--policy", "nonsense"], 2, Some("policy")),
        (&["plan", "--rules", "shred"], 2, Some("rules")),
        (&["plan", "--tenants", "nobody"], 3, None),
        (&["plan", "show", "plan-0123456789abcdef"], 3, None),
        (&["apply", "plan-0123456789abcdef"], 3, None),
        (&["undo", "run-0123456789abcdef"], 3, None),
    ] {
        let ran = place.json_at(NOW, arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        ran.error();
        assert_eq!(ran.json()["error"]["field"].as_str(), field, "{ran:?}");
    }
    let file = place.file("wrong.toml", "[categories.preference]\nhalf_life = \"soon\"\n");
    let ran = place.json_at(NOW, &["plan", "--policy", &file]);
    assert_eq!(ran.json()["error"]["field"], "categories.preference.half_life");
    let ran = place.at(NOW, &["undo", "run-0123456789abcdef"]);
    assert!(ran.err.contains("hint: `memcards plans` lists plans and runs"), "{}", ran.err);
}

#[test]
fn what_was_applied_is_taken_back() {
    let place = old();
    let plan = place.json_at(NOW, &["plan", "--consent"]).ok();
    let (id, digest) = (text(&plan["plan"]), text(&plan["digest"]));
    let wrong = place.at(NOW, &["apply", id, "--digest", "0"]);
    assert_eq!(wrong.code, 4, "{wrong:?}");
    // Nobody looks on, so nobody is asked.
    let applied = place.at(NOW, &["apply", id, "--digest", digest]);
    assert_eq!((applied.code, applied.err.as_str()), (0, ""), "{applied:?}");
    assert!(applied.out.starts_with("applied to 2 cards: expire 1, fade 1\n"), "{}", applied.out);
    let undo = applied.out.lines().last().and_then(|line| line.split_once("undo ")).expect("how to undo").1;
    assert_eq!(count(&place, "default"), "2");
    let again = place.at(NOW, &["apply", id]);
    assert!(again.out.starts_with("carried out before; nothing more was done\n"), "{}", again.out);
    // The administrator sees what became of a tenant's plan.
    let shown = place.at(NOW, &["plan", "show", id, "--items"]).out;
    assert!(
        shown.contains(&format!("carried out already; take it back: memcards --store store undo {undo}")),
        "{shown}"
    );
    let listed = place.at(NOW, &["plans"]).out;
    assert!(
        listed.contains(&format!("{id}  applied  2025-06-01 00:00 UTC  expire 1, fade 1\n   {undo}\n")),
        "{listed}"
    );
    assert_eq!(place.at(NOW, &["plans", "--all"]).out, "no plans and no runs\n");
    let taken = place.at(NOW, &["undo", undo]);
    assert_eq!(taken.out, "taken back: 2 cards as before the run\n");
    assert_eq!(place.json_at(NOW, &["plans"]).ok()["plans"][0]["status"], "undone");
    assert_eq!(place.at(NOW, &["apply", id]).code, 4);
    // Another tenant's plans are not there.
    assert_eq!(place.at(NOW, &["plan", "show", id, "--tenant", "ben"]).code, 3);
    assert_eq!(place.at(NOW, &["undo", undo, "--tenant", "ben"]).code, 3);
}

#[test]
fn cards_that_changed_are_left_alone() {
    let place = old();
    let plan = place.json_at(NOW, &["plan", "--consent", "--rules", "fade"]).ok();
    let card = text(&plan["items"][0]["id"]);
    assert_eq!(place.at(NOW, &["correct", card, "--importance", "1"]).code, 0);
    let applied = place.at(NOW, &["apply", text(&plan["plan"]), "--yes"]);
    assert!(applied.out.contains("left alone: 1 card\n   1 has changed meanwhile\n"), "{}", applied.out);
    let plan = place.json_at(NOW, &["plan", "--consent"]).ok();
    let answer = place.json_at(NOW, &["apply", text(&plan["plan"])]).ok();
    assert!(text(&answer["run"]).starts_with("run-"));
    let undone = place.json_at(NOW, &["undo", text(&answer["run"])]).ok();
    assert_eq!(
        undone["restored"].as_array().map(Vec::len),
        answer["totals"]["applied"].as_u64().map(|n| n as usize)
    );
}

#[test]
fn forgetting_shows_first_and_names_its_run() {
    let place = old();
    let dry = place.at(NOW, &["forget", "--about", "Mira", "--dry-run"]).out;
    assert!(dry.starts_with("would be forgotten: 1 card\nid "), "{dry}");
    assert!(dry.contains("  preference    151 d  Mira likes jasmine tea.\n"), "{dry}");
    assert_eq!(count(&place, "default"), "3"); // the kiln is over
    let done = place.at(NOW, &["forget", "--about", "Mira"]).out;
    let run = done.lines().last().and_then(|line| line.split_once("undo ")).expect("how to undo").1;
    assert_eq!(count(&place, "default"), "2");
    let listed = place.at(NOW, &["plans"]).out;
    assert!(
        listed.contains(&format!("{run}  applied ")) && listed.contains("forgotten on request"),
        "{listed}"
    );
    let restored = place.at(NOW, &["restore", "--run", run]);
    assert!(restored.out.starts_with("restored  "), "{restored:?}");
    assert_eq!(count(&place, "default"), "3");
    let none = place.at(NOW, &["forget", "--about", "Nobody", "--dry-run"]);
    assert_eq!(none.out, "no card satisfies the condition; nothing forgotten\n");
    let both = place.at(NOW, &["restore", "--run", run, "0187d63c82c0000000400021a7f3c9e4"]);
    assert_eq!(both.code, 2);
    let answer = place.json_at(NOW, &["forget", "--about", "Mira", "--dry-run"]).ok();
    assert_eq!((&answer["dry_run"], answer["forgotten"].as_array().map(Vec::len)), (&json!(true), Some(1)));
}

#[test]
fn policies_are_set_shown_and_cleared() {
    let place = old();
    let names = place.run(&["policy", "presets", "--json"]).ok();
    assert_eq!(names["presets"], json!(["assistant", "support_desk", "tutoring", "medical", "manual"]));
    let preset = place.run(&["policy", "presets", "medical"]);
    assert!(preset.out.starts_with("# Medical and care settings") && preset.out.contains("[defaults]"));
    assert_eq!(place.run(&["policy", "presets", "nonsense"]).code, 3);
    let none = place.at(NOW, &["policy", "show"]).out;
    assert!(none.starts_with("the store has no policy of its own\nnote: no policy is set"), "{none}");
    // What a preset prints can be set.
    let file =
        place.file("mine.toml", &format!("{}\n[categories.preference]\nhalf_life = \"40d\"\n", preset.out));
    let set = place.at(NOW, &["policy", "set", &file]);
    assert!(set.out.starts_with("set for the store: a policy of its own\n"), "{set:?}");
    assert!(
        place
            .at(NOW, &["policy", "set", "manual", "--tenant", "ben"])
            .out
            .starts_with("set for the tenant: preset manual\n")
    );
    let shown = place.at(NOW, &["policy", "show"]).out;
    assert!(shown.contains("categories.preference\n"), "{shown}");
    assert!(shown.contains("   half_life         40d        store.categories.preference\n"), "{shown}");
    let ben = place.json_at(NOW, &["policy", "show", "--tenant", "ben"]).ok();
    assert_eq!(ben["policy"]["preset"], "manual");
    assert_eq!(ben["rules"]["tracks.semantic"]["origins"]["decay"], "preset manual: defaults");
    assert_eq!(place.json_at(NOW, &["policy", "clear", "--tenant", "ben"]).ok()["policy"], Value::Null);
    assert!(place.at(NOW, &["policy", "clear"]).out.starts_with("cleared"));
    assert_eq!(place.json_at(NOW, &["policy", "show"]).ok()["set"], false);
    let wrong = place.file("wrong.toml", "[tracks.episodic]\nfade_below = 2\n");
    let ran = place.at(NOW, &["policy", "set", &wrong]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("tracks.episodic.fade_below"), "{}", ran.err);
    // The kill switch.
    let plan = place.json_at(NOW, &["plan"]).ok();
    let off = place.file("off.toml", "enabled = false\n");
    assert_eq!(place.at(NOW, &["policy", "set", &off]).code, 0);
    assert_eq!(place.json_at(NOW, &["apply", text(&plan["plan"])]).error(), "unavailable");
    assert!(place.at(NOW, &["policy", "show"]).out.contains("switched off"));
}

#[test]
fn feedback_is_taken() {
    let place = old();
    let listed = place.json_at(NOW, &["list"]).ok();
    let id = |number: usize| text(&listed["cards"][number]["id"]).to_owned();
    let (used, rejected) = (id(0), id(1));
    let told = place.at(NOW, &["feedback", "--used", &used, "--rejected", &rejected, "--query", "tea?"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(
        told.out.contains(&format!("used  {used}\n"))
            && told.out.contains(&format!("rejected  {rejected}\n")),
        "{told:?}"
    );
    let both = place.json_at(NOW, &["feedback", "--used", &used, "--rejected", &used]);
    assert_eq!((both.code, both.error().as_str()), (2, "invalid_argument"));
    assert_eq!(place.at(NOW, &["feedback"]).code, 2);
    assert_eq!(place.at(NOW, &["feedback", "--used", &used, "--tenant", "ben"]).code, 3);
}

#[test]
fn a_simulation_shows_what_will_be_and_changes_nothing() {
    let place = old();
    let shown = place.at(NOW, &["simulate", "--days", "60", "--policy", "assistant", "--svg", "aging.svg"]);
    assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{shown:?}");
    for part in [
        "4 cards of default, from 2025-06-01 00:00 UTC\n",
        "nothing is changed\n",
        "all               2        1        1\n",
        "written: aging.svg\n",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    let picture = std::fs::read_to_string(place.path("aging.svg")).expect("a picture");
    assert!(picture.starts_with("<svg ") && picture.contains("temporary"));
    let answer = place.json_at(NOW, &["simulate", "--all", "--days", "3653", "--policy", "manual"]).ok();
    assert_eq!((&answer["tenants"], &answer["cards"]), (&json!(2), &json!(5)));
    let days = answer["days"].as_array().expect("days");
    assert!(days.len() <= 366 && days.last().is_some_and(|day| day["day"] == 3653));
    assert_eq!(
        (place.at(NOW, &["simulate", "--days", "0"]).code, place.at(NOW, &["plans"]).out.as_str()),
        (2, "no plans and no runs\n")
    );
    let nowhere = place.json_at(NOW, &["simulate", "--days", "2", "--svg", "no/such/place.svg"]);
    assert_eq!((nowhere.code, &nowhere.json()["error"]["field"]), (2, &json!("svg")));
}

#[test]
fn tiers_show_where_cards_lie() {
    let place = old();
    let plan = place.json_at(NOW, &["plan", "--consent"]).ok();
    assert_eq!(place.at(NOW, &["apply", text(&plan["plan"])]).code, 0);
    let shown = place.at(NOW, &["tiers"]).out;
    for part in [
        "default\nstate       cards  <1 d  <7 d  <30 d  <90 d  <365 d  older\n",
        "archived        1     0     0      0      0       1      0\n",
        "forgotten       1     1     0      0      0       0      0\n",
        "forgotten cards are purged: 1 later (first 2025-07-01 00:00 UTC)\n",
        "\nben\n",
        "memcards.redb",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!place.at(NOW, &["tiers", "--tenant", "ben"]).out.contains("memcards.redb"));
    let answer = place.json_at(NOW, &["tiers"]).ok();
    assert_eq!(answer["tenants"][0]["purges"]["next"], "2025-07-01T00:00:00Z");
}

#[test]
fn bytes_go_for_good_only_when_confirmed() {
    let place = old();
    let compacted = place.at(NOW, &["compact"]);
    assert!(compacted.out.starts_with("compacted: ") && compacted.out.contains(" → "), "{compacted:?}");
    let answer = place.json_at(NOW, &["compact"]).ok();
    assert!(answer["bytes_after"].as_u64() <= answer["bytes_before"].as_u64());
    assert_eq!(place.at(NOW, &["wipe", "ben"]).code, 2);
    let other = place.json_at(NOW, &["wipe", "ben", "--confirm", "default"]);
    assert_eq!((other.code, &other.json()["error"]["field"]), (2, &json!("confirm")));
    assert_eq!(count(&place, "ben"), "1");
    let wiped = place.at(NOW, &["wipe", "ben", "--confirm", "ben"]);
    assert_eq!((wiped.code, wiped.err.as_str()), (0, ""), "{wiped:?}");
    assert!(wiped.out.starts_with("wiped ben: 1 card, 0 earlier versions, "), "{}", wiped.out);
    assert!(wiped.out.contains("   none is left\n"), "{}", wiped.out);
    assert_eq!(place.at(NOW, &["wipe", "ben", "--confirm", "ben"]).code, 3);
    let answer = place.json_at(NOW, &["wipe", "default", "--confirm", "default"]).ok();
    assert_eq!((&answer["cards"], &answer["proof"]["found"]), (&json!(4), &json!([])));
    let checked = place.at(NOW, &["verify", "--erased"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.out.contains("erased content"), "{}", checked.out);
    assert_eq!(place.json_at(NOW, &["verify", "--erased"]).ok()["erased"]["found"], json!([]));
}

#[test]
fn what_is_due_is_carried_out_on_request_and_told_afterwards() {
    let place = old();
    assert_eq!(
        place.at(NOW, &["maintain"]).out,
        "nothing is due\n",
        "without a policy nothing happens by itself"
    );
    assert_eq!(place.at(NOW, &["policy", "set", "assistant"]).code, 0);
    let done = place.at(NOW, &["maintain"]);
    assert!(done.code == 0 && done.out.contains("applied to "), "{done:?}");
    let figures = place.at(NOW, &["stats"]).out;
    assert!(figures.contains("last run 2025-06-01"), "{figures}");
    let runs = place.at(NOW, &["audit"]).out;
    assert!(runs.contains("by scheduler") && runs.contains("run-"), "{runs}");
    let changes = place.at(NOW, &["audit", "--tenant", "default", "--limit", "2"]).out;
    assert_eq!(changes.lines().next().map(|line| line.contains("by scheduler")), Some(true), "{changes}");
    // A run takes a part of the cards; then there is nothing left.
    let maintained = || -> Value {
        let json = place.at(NOW, &["maintain", "--json"]).out;
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
    };
    let last = (0..5).map(|_| maintained()).find(|json| json["run"].is_null());
    assert_eq!(last.map(|json| json["ok"].clone()), Some(json!(true)));
    // After a purge there is nothing to take back.
    assert_eq!(place.at(NOW, &["forget", "--about", "Mira"]).code, 0);
    let later = "2025-09-01T00:00:00Z";
    let planned = place.at(later, &["plan", "--rules", "purge", "--consent"]).out;
    let plan = planned.split("apply ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let applied = place.at(later, &["apply", plan.unwrap_or_else(|| panic!("{planned}")), "--yes"]).out;
    assert!(applied.contains("no undo") && !applied.contains("take it back"), "{applied}");
}
