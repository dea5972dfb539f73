//! What a run judges once more before it does anything: budgets, the clock, the request; and what
//! is told of it afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memcards::embed::Embedder;
use memcards::{
    Apply, Audit, Consolidate, Consolidation, Count, Error, MakePlan, Options, Remember, execute,
};
use serde_json::json;

use crate::merging::{snapshot, summaries, turn};
use crate::support::{Fixture, ask, forget, say, text};

#[test]
fn a_run_takes_no_more_cards_than_are_still_too_many() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    let mut ids = Vec::new();
    for n in 0..300 {
        let importance = Some(if n < 100 { 0.9 } else { 0.1 });
        ids.push(
            tenant
                .remember(Remember { importance, ..text(&format!("Crate {n} holds part {n}")) })
                .unwrap()
                .id,
        );
    }
    let policy = json!({ "defaults": { "max_cards": 20, "fade_below": 0.0, "archive_after": "never" } });
    tenant.set_policy(Some(&policy)).unwrap();
    let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
    assert_eq!(plan.totals.items, 280);
    // Those of most worth are not in the plan; fifteen of them go before it is carried out.
    let planned: std::collections::HashSet<_> = plan.items.iter().map(|item| item.item.id).collect();
    let kept: Vec<_> = ids.iter().filter(|id| !planned.contains(id)).copied().collect();
    assert_eq!(kept.len(), 20);
    for id in kept.iter().take(15) {
        tenant.forget(forget(*id)).unwrap();
    }
    let run = tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
    assert_eq!((run.totals.applied, run.totals.skipped), (265, 15), "{:?}", run.totals);
    assert!(run.skipped.iter().all(|skipped| skipped.why == "within_budget"));
    assert_eq!(tenant.count(&Count::default()).unwrap(), 20);
}

/// What the policy allows when a run is carried out holds, where that is more than the plan says: between
/// plan and run, and between two pieces of a run.
#[test]
fn a_budget_that_was_raised_meanwhile_is_kept_to() {
    for (later, applied) in [
        (json!({ "max_cards": 250 }), 50),
        (json!({ "max_cards": "unlimited" }), 0),
        // Where it allows less, the plan says what is done.
        (json!({ "max_cards": 10 }), 280),
    ] {
        let fixture = Fixture::words_only();
        let tenant = fixture.tenant("t");
        for n in 0..300 {
            say(&tenant, &format!("Crate {n} holds part {n}"));
        }
        let rule = |max: &serde_json::Value| {
            let mut rule = json!({ "fade_below": 0.0, "archive_after": "never" });
            rule["max_cards"] = max["max_cards"].clone();
            json!({ "defaults": rule })
        };
        tenant.set_policy(Some(&rule(&json!({ "max_cards": 20 })))).unwrap();
        let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
        assert_eq!(plan.totals.items, 280);
        tenant.set_policy(Some(&rule(&later))).unwrap();
        let run = tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
        assert_eq!((run.totals.applied, run.totals.skipped), (applied, 280 - applied), "{later}");
        assert!(run.skipped.iter().all(|skipped| skipped.why == "within_budget"), "{later}");
        assert_eq!(tenant.count(&Count::default()).unwrap(), 300 - applied, "{later}");
    }
    // A policy that came with the request is not the one in force, and that has no say.
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    for n in 0..30 {
        say(&tenant, &format!("Crate {n} holds part {n}"));
    }
    let policy = Some(json!({ "defaults": { "max_cards": 20 } }));
    let plan = tenant.plan(&MakePlan { consent: true, policy, ..MakePlan::default() }).unwrap();
    let run = tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
    assert_eq!((run.totals.applied, run.totals.skipped), (10, 0));
}

#[test]
fn budgets_that_overlap_are_each_judged_by_what_is_left() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    for n in 0..60 {
        let category = Some(if n % 2 == 0 { "parts".to_owned() } else { "tools".to_owned() });
        tenant.remember(Remember { category, ..text(&format!("Crate {n} holds part {n}")) }).unwrap();
    }
    let policy = json!({
        "defaults": { "max_cards": 30, "fade_below": 0.0, "archive_after": "never" },
        "categories": { "parts": { "max_cards": 5 } }
    });
    tenant.set_policy(Some(&policy)).unwrap();
    let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
    let run = tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
    assert_eq!(run.totals.applied, plan.totals.items, "{run:?}");
    assert_eq!(tenant.count(&Count::default()).unwrap(), 30);
    assert!(tenant.plan(&MakePlan::default()).unwrap().items.is_empty());
}

#[test]
fn a_plan_is_not_carried_out_before_it_was_made() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    say(&tenant, "The ferry leaves from pier four");
    fixture.pass("400d");
    let plan = tenant.plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
    assert_eq!(plan.totals.items, 1);
    let then = fixture.clock_now();
    fixture.store.clock().set(then.plus(memcards::Duration::from_hours(-1))).unwrap();
    let request = || Apply { plan: Some(plan.plan), ..Apply::default() };
    let error = tenant.apply(request()).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    assert_eq!(tenant.count(&Count::default()).unwrap(), 1);
    fixture.store.clock().set(then).unwrap();
    assert_eq!(tenant.apply(request()).unwrap().totals.applied, 1);
}

#[test]
fn limits_are_given_by_name() {
    let fixture = Fixture::words_only();
    say(&fixture.tenant("t"), "The ferry leaves from pier four");
    for (verb, limits, field) in [
        ("plan", json!([5, 0.5]), "limits"),
        ("plan", json!("5"), "limits"),
        ("plan", json!({ "items": "5" }), "limits.items"),
        ("plan", json!({ "cards": 5 }), "limits.cards"),
        ("consolidate", json!([5]), "limits"),
    ] {
        let request = json!({ "verb": verb, "tenant": "t", "limits": limits }).to_string();
        let answer = execute(&fixture.store, &request);
        assert_eq!(answer["error"]["code"], json!("invalid_argument"), "{request}: {answer}");
        assert_eq!(answer["error"]["field"], json!(field), "{request}: {answer}");
    }
    let answer = execute(&fixture.store, r#"{"verb":"plan","tenant":"t","limits":{"items":5}}"#);
    assert_eq!(answer["ok"], json!(true), "{answer}");
}

/// A model that can be out of order for some texts.
struct Moody {
    down: AtomicBool,
}

impl Embedder for Moody {
    fn model_id(&self) -> &str {
        "moody-1"
    }

    fn dimension(&self) -> usize {
        8
    }

    fn embed(&self, text: &str) -> memcards::Result<Option<Vec<f32>>> {
        if self.down.load(Ordering::Relaxed) && text.contains("Bruno") {
            return Err(Error::Unavailable("out of order".into()));
        }
        let mut vector = [0.1f32; 8];
        for byte in text.bytes() {
            vector[usize::from(byte % 8)] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        Ok(Some(vector.iter().map(|x| x / length).collect()))
    }
}

#[test]
fn a_consolidation_whose_model_fails_half_way_leaves_every_source() {
    let moody = Arc::new(Moody { down: AtomicBool::new(false) });
    let model = moody.clone();
    let fixture = Fixture::with(|options: &mut Options| options.embedder = Some(model));
    let anna = fixture.tenant("anna");
    for (session, value) in [("s1", "14 euros"), ("s2", "15 euros on Sundays"), ("s3", "16 euros")] {
        for place in ["Luigi", "Bruno"] {
            let content = format!("The menu at {place}'s is {value}.");
            anna.remember(Remember {
                entities: vec![place.into()],
                ..turn(&format!("{session}{place}"), 1, &content)
            })
            .unwrap();
        }
        fixture.pass("1d");
    }
    let before = snapshot(&anna);
    let request = || Consolidate { rules: vec![Consolidation::Events], ..Consolidate::default() };
    moody.down.store(true, Ordering::Relaxed);
    let half = anna.consolidate(request()).unwrap();
    let done = half.done.unwrap();
    assert_eq!((half.planned.totals.items, done.applied, done.skipped), (2, 1, 1));
    assert_eq!(summaries(&anna).len(), 1);
    // Every source is there, as it was, and is found.
    let sources = |all: Vec<serde_json::Value>| -> Vec<serde_json::Value> {
        all.into_iter().filter(|card| card["merge_key"].is_null()).collect()
    };
    assert_eq!(sources(snapshot(&anna)), sources(before.clone()));
    for value in ["14 euros", "16 euros"] {
        for place in ["Luigi", "Bruno"] {
            let content = format!("The menu at {place}'s is {value}.");
            assert!(ask(&anna, &content).contains(&content), "{content}");
        }
    }
    // What was left alone is made once the model is there again.
    moody.down.store(false, Ordering::Relaxed);
    fixture.pass("1h");
    let rest = anna.consolidate(request()).unwrap();
    assert_eq!(rest.done.map(|done| (done.applied, done.skipped)), Some((1, 0)));
    assert_eq!(summaries(&anna).len(), 2);
    assert_eq!(sources(snapshot(&anna)), sources(before));
    assert!(fixture.store.verify(|_| {}).unwrap().is_sound());
}

#[test]
fn who_did_what_is_told_from_the_end() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    let id = tenant
        .remember(Remember { actor: Some("Mira".into()), ..text("The ferry leaves at nine") })
        .unwrap()
        .id;
    fixture.pass("1h");
    let request = memcards::Forget { actor: Some("Otto".into()), reason: Some("wrong".into()), ..forget(id) };
    tenant.forget(request).unwrap();
    say(&fixture.tenant("other"), "Nothing to see");
    let audited = tenant.audit(&Audit::default()).unwrap();
    let told: Vec<_> =
        audited.changes.iter().map(|c| (c.seq, c.kind, c.action.as_deref(), c.actor.as_deref())).collect();
    assert_eq!(
        told,
        [(2, "version", Some("forgotten"), Some("Otto")), (1, "version", Some("created"), Some("Mira"))]
    );
    assert_eq!(audited.changes[0].why.as_deref(), Some("wrong"));
    assert_eq!((audited.runs.len(), audited.runs[0].actor.as_deref()), (1, Some("Otto")));
    let page = tenant.audit(&Audit { before: Some(2), limit: Some(1), ..Audit::default() }).unwrap();
    assert_eq!(page.changes.iter().map(|change| change.seq).collect::<Vec<_>>(), [1]);
    assert_eq!(
        tenant.audit(&Audit { limit: Some(0), ..Audit::default() }).unwrap_err().field(),
        Some("limit")
    );
    // The store's own runs are those of plans over several tenants.
    assert!(fixture.store.audit(&Audit::default()).unwrap().runs.is_empty());
    fixture.store.set_policy(Some(&json!({ "preset": "assistant" }))).unwrap();
    fixture.pass("400d");
    let answer = execute(&fixture.store, r#"{"verb":"maintain"}"#);
    assert_eq!(answer["ok"], json!(true), "{answer}");
    assert_eq!(answer["scheduler"]["runs"], json!(1), "{answer}");
    let runs = fixture.store.audit(&Audit::default()).unwrap().runs;
    assert_eq!(runs.first().and_then(|run| run.actor.as_deref()), Some("scheduler"));
    let status = fixture.store.statistics().unwrap().scheduler;
    assert!(status.last_run.is_some() && !status.running && status.applied > 0, "{status:?}");
    let answer = execute(&fixture.store, r#"{"verb":"audit","tenant":"t","limit":1}"#);
    assert_eq!(answer["changes"].as_array().map(Vec::len), Some(1), "{answer}");
}

/// Pages of runs join to the whole, of a tenant and of the store, whose audit has no log to page.
#[test]
fn runs_are_told_page_by_page() {
    let fixture = Fixture::words_only();
    let tenant = fixture.tenant("t");
    for n in 0..7 {
        let id = say(&tenant, &format!("Crate {n} holds part {n}")).id;
        tenant.forget(forget(id)).unwrap();
        if n % 2 == 0 {
            fixture.pass("1h");
        }
    }
    fixture.store.set_policy(Some(&json!({ "preset": "assistant" }))).unwrap();
    for n in 0..5 {
        say(&tenant, &format!("Box {n} holds part {n}"));
        fixture.pass("400d");
        execute(&fixture.store, r#"{"verb":"maintain"}"#);
    }
    type Ask<'a> = &'a dyn Fn(&Audit) -> memcards::Result<memcards::Audited>;
    let (of_tenant, of_store) = (|r: &Audit| tenant.audit(r), |r: &Audit| fixture.store.audit(r));
    let asks: [(Ask<'_>, usize); 2] = [(&of_tenant, 7), (&of_store, 5)];
    for (ask, runs) in asks {
        let whole: Vec<_> = ask(&Audit::default()).unwrap().runs.iter().map(|run| run.run).collect();
        assert_eq!(whole.len(), runs);
        let mut pages = Vec::new();
        loop {
            let request = Audit { before_run: pages.last().copied(), limit: Some(2), ..Audit::default() };
            let page = ask(&request).unwrap().runs;
            if page.is_empty() {
                break;
            }
            pages.extend(page.iter().map(|run| run.run));
        }
        assert_eq!(pages, whole);
    }
    let error = fixture.store.audit(&Audit { before: Some(3), ..Audit::default() }).unwrap_err();
    assert_eq!((error.code(), error.field()), ("invalid_argument", Some("before")));
    // Of another scope no run is there.
    let theirs = tenant.audit(&Audit::default()).unwrap().runs[0].run;
    let error = fixture.store.audit(&Audit { before_run: Some(theirs), ..Audit::default() }).unwrap_err();
    assert_eq!(error.code(), "not_found");
}
