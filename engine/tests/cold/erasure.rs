//! What is purged or wiped leaves no byte in the cold tier; a copy is whole.

use memcards::{Action, Apply, Forget, Include, MakePlan, Store, Wipe};
use serde_json::json;

use crate::{World, archived, ask, export, first, get, segments, sound};

fn holds(store: &Store, text: &str) -> bool {
    String::from_utf8_lossy(&export(store)).contains(text)
}

#[test]
fn what_is_purged_leaves_its_segment() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 100);
    store.freeze(None, None).unwrap();
    let before = segments(&world.directory);
    tenant.forget(Forget { id: Some(ids[50]), ..Forget::default() }).unwrap();
    world.pass(1);
    let policy = Some(json!({ "defaults": { "grace": "0s" } }));
    let request = MakePlan { policy, rules: vec![Action::Purge], consent: true, ..MakePlan::default() };
    let plan = tenant.plan(&request).unwrap();
    assert_eq!(plan.totals.items, 1);
    tenant.apply(Apply { plan: Some(plan.plan), ..Apply::default() }).unwrap();
    assert!(!holds(&store, "word50"));
    sound(&store);
    assert_eq!(first(&ask(&tenant, "word50", &[Include::Archived])).filter(|id| *id == ids[50]), None);
    store.compact(|_| {}).unwrap();
    let after = segments(&world.directory);
    assert!(after.len() == 1 && after != before);
    let proof = store.verify_erased().unwrap();
    assert!(proof.found.is_empty(), "{proof:?}");
    sound(&store);
    assert_eq!(first(&ask(&tenant, "word51", &[Include::Archived])), Some(ids[51]));
}

#[test]
fn a_wiped_tenant_has_no_files() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (anna, _) = archived(&world, &store, "anna", 80);
    let (_carl, others) = archived(&world, &store, "carl", 80);
    store.freeze(None, None).unwrap();
    assert_eq!(segments(&world.directory).len(), 2);
    let wiped = anna.wipe(Wipe { confirm: "anna".into() }).unwrap();
    assert_eq!(wiped.cards, 80);
    assert_eq!(segments(&world.directory).len(), 1);
    sound(&store);
    let carl = store.tenant("carl").unwrap();
    assert_eq!(first(&ask(&carl, "word5", &[Include::Archived])), Some(others[5]));
}

#[test]
fn a_copy_has_its_segments() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 80);
    store.freeze(None, None).unwrap();
    let copy = directory.path().join("copy");
    store.backup(&copy, |_| {}).unwrap();
    let expected = export(&store);
    // The copy stands by itself.
    std::fs::remove_dir_all(world.directory.join("cold")).unwrap();
    drop((tenant, store));
    let copied = Store::open(&copy, world.options.clone()).unwrap();
    sound(&copied);
    assert!(export(&copied) == expected);
    let tenant = copied.tenant("anna").unwrap();
    assert_eq!(get(&tenant, ids[9]).id, ids[9]);
    assert_eq!(first(&ask(&tenant, "word9", &[Include::Archived])), Some(ids[9]));
}
