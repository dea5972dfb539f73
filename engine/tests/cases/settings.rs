//! Settings of recall in a policy: of the store, of a tenant over it, and of nobody else.

use memcards::{Remember, Tenant};
use serde_json::json;

use crate::support::{Fixture, question};

/// Score of each hit, and what recency has given it.
fn scores(tenant: &Tenant) -> Vec<(String, f32, f32)> {
    let mut request = question("where is the green ladder?");
    request.explain = true;
    let hits = tenant.recall(request).unwrap().hits;
    hits.into_iter()
        .map(|hit| {
            let parts = hit.parts.expect("asked for");
            (hit.card.card.content, hit.score, parts.recency)
        })
        .collect()
}

fn filled(fixture: &Fixture, name: &str) -> Tenant {
    let tenant = fixture.tenant(name);
    for (content, category) in [
        ("The green ladder is in the shed", "place"),
        ("The ladder was painted green in spring", "note"),
        ("Somebody bought a new rake", "note"),
    ] {
        let request =
            Remember { content: content.into(), category: Some(category.into()), ..Remember::default() };
        tenant.remember(request).unwrap();
    }
    tenant
}

#[test]
fn a_tenants_settings_hold_for_it_alone_and_go_before_the_stores() {
    let fixture = Fixture::new();
    let (anna, bob) = (filled(&fixture, "anna"), filled(&fixture, "bob"));
    fixture.pass("30d");
    let usual = scores(&anna);
    assert_eq!(scores(&bob), usual);
    assert!(usual.len() >= 2);

    // Recency of one category falls within an hour, and decides more.
    let own = json!(
        "[recall.half_life_hours]\nplace = 1\n[recall.presets.default]\nmodifier_cap = 0.5\nrecency = 1.0"
    );
    let view = anna.set_policy(Some(&own)).unwrap();
    let settings = view.recall.expect("changed");
    assert_eq!((settings.half_life("place"), settings.half_life("note")), (1.0, 720.0));
    assert_eq!(settings.presets["default"].recency, 1.0);
    assert_eq!(settings.presets["default"].keywords, usual_weight());
    assert!(!view.set, "of forgetting nothing was said");
    let changed = scores(&anna);
    let recency = |scores: &[(String, f32, f32)], words: &str| {
        scores.iter().find(|(content, ..)| content.contains(words)).expect("found").2
    };
    assert!(recency(&changed, "shed") < 1e-6);
    assert!(recency(&changed, "spring") > recency(&usual, "spring"));
    assert_eq!(scores(&bob), usual, "another tenant");
    assert!(bob.policy().unwrap().recall.is_none());

    // The store's hold where the tenant's say nothing.
    fixture.store.set_policy(Some(&json!({ "recall": { "min_score": 0.99 } }))).unwrap();
    assert!(scores(&bob).is_empty() && scores(&anna).is_empty());
    anna.set_policy(Some(&json!({ "recall": { "min_score": 0.0 } }))).unwrap();
    assert!(scores(&anna).len() >= usual.len());
    assert!(scores(&bob).is_empty());
    // They are kept, and can be taken back.
    drop((anna, bob));
    let fixture = fixture.reopen();
    let (anna, bob) = (fixture.tenant("anna"), fixture.tenant("bob"));
    assert!(scores(&bob).is_empty() && !scores(&anna).is_empty());
    fixture.store.set_policy(None).unwrap();
    anna.set_policy(None).unwrap();
    assert_eq!((scores(&anna), scores(&bob)), (usual.clone(), usual));
}

fn usual_weight() -> f32 {
    memcards::recall::Weights::default().keywords
}

/// A policy of recall alone changes nothing of what is forgotten, and a preset of one's own can be
/// asked for by its name.
#[test]
fn settings_of_recall_leave_forgetting_alone() {
    let fixture = Fixture::new();
    let anna = filled(&fixture, "anna");
    let rules = anna.policy().unwrap().rules;
    anna.set_policy(Some(&json!({ "recall": { "presets": { "words": { "meaning": 0.0 } } } }))).unwrap();
    assert_eq!(anna.policy().unwrap().rules, rules);
    fixture.pass("400d");
    let mut request = question("where is the green ladder?");
    request.preset = Some("words".into());
    request.explain = true;
    let answer = anna.recall(request.clone()).unwrap();
    assert!(answer.hits.len() >= 2, "nothing has faded");
    assert!(answer.hits.iter().all(|hit| hit.parts.as_ref().expect("asked for").meaning == 0.0));
    let error = fixture.tenant("bob").recall(request).unwrap_err();
    assert_eq!(error.field(), Some("preset"), "it is Anna's");
}

#[test]
fn settings_that_cannot_be_are_named() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("anna");
    for (policy, field) in [
        ("[recall]\nmin_score = 2", "recall.min_score"),
        ("[recall]\nbest = 2", "recall.best"),
        ("[recall]\ndefault_half_life_hours = 0", "recall.default_half_life_hours"),
        ("[recall.half_life_hours]\nnote = -1", "recall.half_life_hours.note"),
        ("[recall.half_life_hours]\nnote = nan", "recall.half_life_hours.note"),
        ("[recall.presets.default]\nmeaning = inf", "recall.presets.default.meaning"),
        ("[recall.presets.default]\nmeening = 1", "recall.presets.default.meening"),
        ("[recall.presets.default]\nb = 1.5", "recall.presets.default.b"),
        ("[recall.presets.mine]\nsquash = 0", "recall.presets.mine.squash"),
        ("[recall.presets.\"\"]\nsquash = 1", "recall.presets"),
    ] {
        for scope in [true, false] {
            let text = json!(policy);
            let error = match scope {
                true => tenant.set_policy(Some(&text)).unwrap_err(),
                false => fixture.store.set_policy(Some(&text)).unwrap_err(),
            };
            assert_eq!(error.field(), Some(field), "{policy}: {error}");
        }
    }
    assert!(tenant.policy().unwrap().policy.is_none());
}
