//! A cold card comes back, with all that it was, as soon as somebody writes to it.

use memcards::card::State;
use memcards::{Correct, Feedback, Forget, Include, Remember, Restore, Undo};

use crate::{
    EVERYTHING, World, archive, archived, ask, content, export, fill, first, get, history, segments, sound,
    state,
};

#[test]
fn what_is_used_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 100);
    let before = history(&tenant, ids[30]);
    store.freeze(None, None).unwrap();
    let used = tenant.feedback(Feedback { used: vec![ids[30]], ..Feedback::default() }).unwrap();
    assert_eq!(used.affected[0].change, "revived");
    assert_eq!(state(&tenant, ids[30]), State::Active);
    for again in [false, true] {
        assert_eq!(first(&ask(&tenant, "word30", &[])), Some(ids[30]), "{again}");
        let after = history(&tenant, ids[30]);
        assert_eq!(after.versions[..before.versions.len()], before.versions[..]);
        assert_eq!(after.versions.len(), before.versions.len() + 1);
        assert_eq!(
            ask(&tenant, "word30", &EVERYTHING).hits.iter().filter(|h| h.card.id == ids[30]).count(),
            1
        );
        sound(&store);
        assert_eq!(store.cold_statistics().unwrap().cards, 99);
        std::fs::remove_dir_all(world.directory.join("index")).ok();
    }
    drop((tenant, store));
    let store = world.open();
    let tenant = store.tenant("anna").unwrap();
    assert_eq!(first(&ask(&tenant, "word30", &[])), Some(ids[30]));
    // As of then, its version of then.
    let then = Some(crate::at("2024-01-02T00:00:00Z"));
    let request = memcards::Recall { query: Some("word30".into()), known_at: then, ..Default::default() };
    let found = tenant.recall(request).unwrap();
    assert_eq!((found.hits[0].card.id, found.hits[0].card.version), (ids[30], 2));
}

#[test]
fn every_write_reaches_it() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 100);
    store.freeze(None, None).unwrap();
    // Told again: the same card.
    let told = tenant.remember(Remember { content: content(11), ..Remember::default() }).unwrap();
    assert_eq!(told.id, ids[11]);
    // Corrected.
    let summary = Some("quite another summary".into());
    tenant.correct(Correct { id: ids[12], summary, ..Correct::default() }).unwrap();
    assert_eq!(get(&tenant, ids[12]).summary.as_deref(), Some("quite another summary"));
    // Forgotten by name and by what it is about, and brought back.
    tenant.forget(Forget { id: Some(ids[13]), ..Forget::default() }).unwrap();
    assert_eq!(state(&tenant, ids[13]), State::Forgotten);
    tenant.restore(Restore { id: Some(ids[13]), ..Restore::default() }).unwrap();
    assert_eq!(state(&tenant, ids[13]), State::Archived);
    let forgotten = tenant.forget(Forget { about: Some("word14".into()), ..Forget::default() }).unwrap();
    assert_eq!(forgotten.forgotten, [ids[14]]);
    sound(&store);
    assert_eq!(first(&ask(&tenant, "word14", &[Include::Archived])).filter(|id| *id == ids[14]), None);
    // What is archived again is frozen again.
    assert!(store.freeze(None, Some(1)).unwrap().cards >= 1);
    sound(&store);
    assert_eq!(first(&ask(&tenant, "word13", &[Include::Archived])), Some(ids[13]));
}

#[test]
fn a_run_is_undone_though_its_cards_are_cold() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let tenant = store.tenant("anna").unwrap();
    let ids = fill(&tenant, 90);
    world.pass(60);
    let run = archive(&tenant, 90);
    assert_eq!(store.freeze(None, None).unwrap().cards, 90);
    let undone = tenant.undo(Undo { run: Some(run), ..Undo::default() }).unwrap();
    assert_eq!((undone.restored.len(), undone.skipped.len()), (90, 0));
    for id in &ids {
        assert_eq!(state(&tenant, *id), State::Active);
    }
    assert_eq!(first(&ask(&tenant, "word45", &[])), Some(ids[45]));
    sound(&store);
    assert_eq!(store.cold_statistics().unwrap().cards, 0);
    // Nothing is left in the segment: it goes.
    let exported = export(&store);
    store.compact(|_| {}).unwrap();
    assert_eq!(segments(&world.directory).len(), 0);
    assert!(export(&store) == exported);
    sound(&store);
}

#[test]
fn segments_are_made_anew_and_put_together() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 120);
    store.freeze(None, None).unwrap();
    tenant.feedback(Feedback { used: ids[..80].to_vec(), ..Feedback::default() }).unwrap();
    world.pass(60);
    archive(&tenant, 80);
    store.freeze(None, None).unwrap();
    assert_eq!(segments(&world.directory).len(), 2);
    let (exported, list) = (export(&store), store.cold_statistics().unwrap());
    assert_eq!(list.cards, 120);
    store.compact(|_| {}).unwrap();
    assert_eq!(segments(&world.directory).len(), 1);
    assert!(export(&store) == exported);
    sound(&store);
    for n in [3, 79, 80, 119] {
        assert_eq!(first(&ask(&tenant, &format!("word{n}"), &[Include::Archived])), Some(ids[n]));
    }
    assert_eq!(store.cold_statistics().unwrap().cards, 120);
    drop((tenant, store));
    assert!(export(&world.open()) == exported);
}

/// Whatever brings a card back: the log says when that was, not when its versions were made.
#[test]
fn the_log_says_when_a_card_came_back() {
    use memcards::{Audit, Clock};
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 80);
    store.freeze(None, None).unwrap();
    world.pass(30);
    let used = Feedback { used: vec![ids[0]], ..Feedback::default() };
    tenant.feedback(used).unwrap();
    let corrected = Correct { id: ids[3], summary: Some("anew".into()), ..Correct::default() };
    tenant.correct(corrected).unwrap();
    let now = world.clock.now();
    let changes = tenant.audit(&Audit::default()).unwrap().changes;
    let thawed: Vec<_> = changes.iter().filter(|change| change.kind == "thaw").collect();
    // Each of the two has an earlier version and one that archived it.
    assert_eq!(thawed.len(), 6, "{changes:?}");
    assert!(thawed.iter().all(|change| change.at == now), "{thawed:?}");
    // Being counted is noted when it happens, too.
    world.pass(1);
    tenant.feedback(Feedback { used: vec![ids[0]], ..Feedback::default() }).unwrap();
    let last = tenant.audit(&Audit::default()).unwrap().changes.remove(0);
    assert_eq!((last.kind, last.at), ("touch", world.clock.now()));
}
