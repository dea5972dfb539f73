//! Cold cards read as if they had stayed where they were.

use memcards::{
    Action, Consolidate, Count, Forget, Get, Include, List, MakePlan, Order, Recall, Remember, Simulate,
    Store,
};

use crate::{
    EVERYTHING, World, archive, archived, ask, at, content, export, first, get, history, segments, sound,
};

#[test]
fn nothing_is_lost_by_freezing() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 150);
    let before: Vec<_> = ids.iter().map(|id| (get(&tenant, *id), history(&tenant, *id))).collect();
    let (exported, report) = (export(&store), sound(&store));
    let list = List {
        order: Order::OldestFirst,
        limit: Some(1000),
        include: EVERYTHING.to_vec(),
        ..List::default()
    };
    let listed = tenant.list(&list).unwrap();
    let figures = tenant.statistics().unwrap();
    // Too few are left where they are.
    assert_eq!(store.freeze(None, Some(1000)).unwrap().cards, 0);
    let frozen = store.freeze(Some("anna"), None).unwrap();
    assert_eq!((frozen.cards, frozen.segments), (150, 1));
    assert_eq!(segments(&world.directory).len(), 1);
    assert_eq!(store.freeze(None, Some(1)).unwrap().cards, 0);
    let check = |store: &Store| {
        let tenant = store.tenant("anna").unwrap();
        for (id, (card, versions)) in ids.iter().zip(&before) {
            assert_eq!(get(&tenant, *id), *card);
            assert_eq!(history(&tenant, *id), *versions);
        }
        assert!(export(store) == exported, "the export differs");
        assert_eq!(tenant.list(&list).unwrap(), listed);
        let now = tenant.statistics().unwrap();
        assert_eq!((&now.states, &now.categories, now.vectors), (&figures.states, &figures.categories, 150));
        let after = sound(store);
        assert_eq!(
            (after.cards, after.versions, after.vectors),
            (report.cards, report.versions, report.vectors)
        );
        assert_eq!((after.segments, store.cold_statistics().unwrap().cards), (1, 150));
    };
    check(&store);
    drop((tenant, store));
    std::fs::remove_dir_all(world.directory.join("index")).ok();
    check(&world.open());
    // An import of the export is the same store.
    let other = World::new(&directory.path().join("other"));
    std::fs::create_dir_all(directory.path().join("other")).unwrap();
    other.pass(60);
    let other = other.open();
    other.import(&mut &exported[..], |_| {}).unwrap();
    assert_eq!(get(&other.tenant("anna").unwrap(), ids[7]), before[7].0);
}

#[test]
fn found_by_who_asks_for_it_and_by_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 140);
    let present = tenant
        .remember(memcards::Remember { content: "A parrot sings in the hall".into(), ..Default::default() })
        .unwrap()
        .id;
    let hot = ask(&tenant, "violin word23", &[Include::Archived]);
    assert_eq!(store.freeze(None, None).unwrap().cards, 140);
    for again in [false, true] {
        for n in [0, 23, 77, 139] {
            let query = format!("what is beside word{n}");
            assert_eq!(first(&ask(&tenant, &query, &[])), None, "{query}");
            assert_eq!(first(&ask(&tenant, &query, &[Include::Archived])), Some(ids[n]), "{query}");
        }
        assert_eq!(first(&ask(&tenant, "parrot", &[Include::Archived])), Some(present));
        let cold = ask(&tenant, "violin word23", &[Include::Archived]);
        assert_eq!(first(&cold), first(&hot));
        assert!((cold.hits[0].score - hot.hits[0].score).abs() < 0.05, "{cold:?} {hot:?}");
        // By its vector alone.
        let vector = Some((0..16).map(|at| ((44 * 31 + at * 17) % 101) as f32 - 50.0).collect());
        let request = Recall { vector, include: vec![Include::Archived], top: Some(1), ..Recall::default() };
        assert_eq!(first(&tenant.recall(request).unwrap()), Some(ids[44]));
        // Conditions that few satisfy.
        let request: Recall = serde_json::from_value(serde_json::json!({
            "query": "shelf", "include": ["archived"], "top": 28,
            "filter": { "field": "tags", "contains": "tag3" }
        }))
        .unwrap();
        assert_eq!(tenant.recall(request).unwrap().hits.len(), 28, "{again}");
        let counted = |include: &[Include]| {
            tenant.count(&Count { include: include.to_vec(), ..Count::default() }).unwrap()
        };
        assert_eq!((counted(&[]), counted(&[Include::Archived])), (1, 141));
        std::fs::remove_dir_all(world.directory.join("index")).ok();
    }
}

#[test]
fn the_past_is_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 100);
    store.freeze(None, None).unwrap();
    let then = Some(at("2024-01-02T00:00:00Z"));
    let request = Recall { query: Some("word31".into()), known_at: then, ..Recall::default() };
    let found = tenant.recall(request).unwrap();
    assert_eq!(first(&found), Some(ids[31]));
    assert_eq!(found.hits[0].card.state, memcards::card::State::Active);
    let old = tenant.get(&Get { id: ids[30], known_at: then, ..Get::default() }).unwrap();
    assert_eq!((old.version, old.content.as_str()), (2, content(30).as_str()));
    let list = List { known_at: then, limit: Some(1000), ..List::default() };
    assert_eq!(tenant.list(&list).unwrap().cards.len(), 100);
    let before = Some(at("2023-12-31T00:00:00Z"));
    let request = Recall { query: Some("word31".into()), known_at: before, ..Recall::default() };
    assert_eq!(first(&tenant.recall(request).unwrap()), None);
}

#[test]
fn tenants_do_not_see_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (anna, ids) = archived(&world, &store, "anna", 80);
    let bert = store.tenant("bert").unwrap();
    bert.remember(memcards::Remember { content: "A parrot sings".into(), ..Default::default() }).unwrap();
    let (carl, others) = archived(&world, &store, "carl", 70);
    assert_eq!(store.freeze(None, None).unwrap().segments, 2);
    assert_eq!(first(&ask(&bert, "word5 lamp violin", &EVERYTHING)), None);
    assert_eq!(first(&ask(&anna, "word5", &EVERYTHING)), Some(ids[5]));
    assert_eq!(first(&ask(&carl, "word5", &EVERYTHING)), Some(others[5]));
    assert!(carl.get(&Get { id: ids[5], include: EVERYTHING.to_vec(), ..Get::default() }).is_err());
    assert!(store.freeze(Some("nobody"), None).is_err());
    sound(&store);
}

/// Counting, looking ahead and a new queue of what is due need no record of a cold card: they work
/// with a segment of which no block can be read.
#[test]
fn age_and_counts_are_known_without_reading_a_cold_card() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, _) = archived(&world, &store, "anna", 100);
    let figures = |store: &Store| {
        let tenant = store.tenant("anna").unwrap();
        let looked = Simulate { days: 400, ..Simulate::default() };
        let never = serde_json::json!({ "defaults": { "ttl": "900d", "fade_below": 0.0 } });
        // Duplicates are looked for in words.
        let rules = vec![Action::Expire];
        let plan = tenant.plan(&MakePlan { policy: Some(never), rules, ..MakePlan::default() }).unwrap();
        let statistics = tenant.statistics().unwrap();
        serde_json::json!([
            serde_json::to_value(tenant.simulate(&looked).unwrap()).unwrap(),
            serde_json::to_value(tenant.tiers().unwrap().tenants).unwrap(),
            [statistics.vectors, plan.totals.items],
            statistics.states,
            statistics.categories,
        ])
    };
    let before = figures(&store);
    store.freeze(None, None).unwrap();
    assert_eq!(figures(&store), before);
    drop((tenant, store));
    let file = segments(&world.directory).remove(0);
    let mut bytes = std::fs::read(&file).unwrap();
    let start = bytes.len() * 3 / 4;
    bytes[start..].fill(0);
    std::fs::write(&file, &bytes).unwrap();
    let store = world.open();
    assert_eq!(figures(&store), before);
    // Once it is due, a card is read.
    let soon = serde_json::json!({ "defaults": { "ttl": "1d" } });
    let request = MakePlan { policy: Some(soon), consent: true, ..MakePlan::default() };
    assert_eq!(store.tenant("anna").unwrap().plan(&request).unwrap_err().code(), "corrupt");
}

/// What was due before most cards became cold takes no room after a compaction, and what is due
/// is found all the same.
#[test]
fn a_compaction_leaves_no_queue_of_cold_cards() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, _) = archived(&world, &store, "anna", 200);
    let content = "A parrot sings in the hall".to_owned();
    let hot = tenant.remember(memcards::Remember { content, ..Default::default() }).unwrap().id;
    tenant.plan(&MakePlan::default()).unwrap();
    let due = |store: &Store| {
        let plan =
            store.tenant("anna").unwrap().plan(&MakePlan { consent: true, ..MakePlan::default() }).unwrap();
        (plan.items.iter().map(|item| item.item.id).collect::<Vec<_>>(), plan.work.due)
    };
    assert_eq!(store.freeze(None, None).unwrap().cards, 200);
    store.compact(|_| {}).unwrap();
    assert_eq!(due(&store), (vec![], 0));
    world.pass(400);
    assert_eq!(due(&store), (vec![hot], 1));
    sound(&store);
}

/// A preference, told in a conversation.
fn tea(session: &str) -> Remember {
    Remember {
        content: "I prefer tea with milk.".into(),
        session: Some(session.into()),
        turn: Some(1),
        ..Remember::default()
    }
}

/// What ages, counts and sums up looks at stubs: that no segment can be read any more takes nothing from it.
/// Cold cards begin no summary; those that are summed up stay so.
#[test]
fn counting_and_summing_up_read_no_cold_card() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, _) = archived(&world, &store, "anna", 300);
    store.freeze(None, None).unwrap();
    for session in ["s1", "s2", "s3"] {
        tenant.remember(tea(session)).unwrap();
        world.pass(1);
    }
    let before = (tenant.statistics().unwrap(), tenant.tiers().unwrap());
    assert!(before.0.states["archived"] == 300, "{:?}", before.0);
    drop((tenant, store));
    for file in segments(&world.directory) {
        std::fs::remove_file(file).unwrap();
    }
    let store = world.open();
    let tenant = store.tenant("anna").unwrap();
    assert_eq!((tenant.statistics().unwrap(), tenant.tiers().unwrap()), before);
    let days = Simulate { days: 30, ..Simulate::default() };
    assert_eq!(tenant.simulate(&days).unwrap().cards, 303);
    let summed = tenant.consolidate(Consolidate::default()).unwrap();
    assert_eq!((summed.planned.totals.items, summed.planned.work.cards), (1, 3), "{summed:?}");
    assert_eq!(summed.done.map(|done| done.applied), Some(1));
    assert!(tenant.consolidate(Consolidate::default()).unwrap().done.is_none());
}

/// A card that sums others up goes on from them when they and itself are cold.
#[test]
fn what_is_summed_up_stays_so_in_the_cold_tier() {
    let directory = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for frozen in [false, true] {
        let world = World::new(&directory.path().join(format!("{frozen}")));
        std::fs::create_dir(directory.path().join(format!("{frozen}"))).unwrap();
        let store = world.open();
        let tenant = store.tenant("anna").unwrap();
        for session in ["s1", "s2", "s3"] {
            tenant.remember(tea(session)).unwrap();
            world.pass(1);
        }
        let consolidate = || tenant.consolidate(Consolidate::default()).unwrap();
        assert_eq!(consolidate().planned.totals.items, 1);
        world.pass(60);
        archive(&tenant, 4);
        if frozen {
            assert_eq!(store.freeze(None, Some(1)).unwrap().cards, 4);
        }
        assert!(consolidate().planned.items.is_empty());
        // One more: together with the three that are cold.
        let fourth = tenant.remember(tea("s4")).unwrap().id;
        let more = consolidate().planned.items;
        assert_eq!(more.len(), 1, "{frozen}: {more:?}");
        let summary = more[0].item.into.expect("the card that is there already");
        assert_eq!(get(&tenant, summary).links.len(), 4, "{frozen}");
        // A source is forgotten by its owner: its words do not live on.
        tenant.forget(Forget { id: Some(fourth), ..Forget::default() }).unwrap();
        consolidate();
        assert_eq!(get(&tenant, summary).links.len(), 3, "{frozen}");
        sound(&store);
        all.push(history(&tenant, summary).versions.len());
    }
    assert_eq!(all[0], all[1]);
}
