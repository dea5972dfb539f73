//! Damage in a segment is named; the rest stays readable.

use memcards::{Get, Remember, Wipe};

use crate::{EVERYTHING, World, archived, ask, export, first, segments, sound};

#[test]
fn damage_names_its_file_and_place() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let (tenant, ids) = archived(&world, &store, "anna", 400);
    let fresh = tenant
        .remember(Remember { content: "A parrot sings in the hall".into(), ..Remember::default() })
        .unwrap()
        .id;
    store.freeze(None, None).unwrap();
    drop((tenant, store));
    let file = segments(&world.directory).remove(0);
    let whole = std::fs::read(&file).unwrap();
    let length = whole.len();
    let get = |store: &memcards::Store, n: usize| {
        let request = Get { id: ids[n], include: EVERYTHING.to_vec(), ..Get::default() };
        store.tenant("anna").unwrap().get(&request)
    };
    // In the last block, in the header, and cut short.
    for (what, readable) in [("block", true), ("header", false), ("short", false), ("gone", false)] {
        let mut bytes = whole.clone();
        match what {
            "block" => bytes[length - 10] ^= 1,
            "header" => bytes[60] ^= 1,
            _ => bytes.truncate(length / 2),
        }
        match what {
            "gone" => std::fs::remove_file(&file).unwrap(),
            _ => std::fs::write(&file, &bytes).unwrap(),
        }
        let store = world.open();
        let report = store.verify(|_| {}).unwrap();
        let named = file.display().to_string();
        assert!(
            report.findings.iter().any(|finding| finding.place == named),
            "{what}: {:?}",
            report.findings
        );
        assert_eq!(get(&store, 0).is_ok(), readable, "{what}");
        let error = get(&store, 399).unwrap_err();
        assert_eq!(error.code(), "corrupt", "{what}: {error}");
        assert!(error.to_string().contains(&named), "{what}: {error}");
        // What is not cold does not suffer.
        let tenant = store.tenant("anna").unwrap();
        assert_eq!(first(&ask(&tenant, "parrot", &[])), Some(fresh));
        assert!(store.backup(directory.path().join(what), |_| {}).is_err());
        drop((tenant, store));
        std::fs::write(&file, &whole).unwrap();
    }
    let store = world.open();
    assert!(store.verify(|_| {}).unwrap().is_sound());
    assert!(get(&store, 399).is_ok());
}

#[test]
fn a_damaged_segment_does_not_keep_the_rest_from_being_compacted() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::new(directory.path());
    let store = world.open();
    let mut all = Vec::new();
    for name in ["anna", "bert"] {
        let (tenant, ids) = archived(&world, &store, name, 100);
        store.freeze(None, None).unwrap();
        // Most of it leaves the segment, which is to be made anew then.
        let used = ids[..70].to_vec();
        tenant.feedback(memcards::Feedback { used, ..memcards::Feedback::default() }).unwrap();
        all.push((tenant, ids));
    }
    let files = segments(&world.directory);
    let whole = std::fs::read(&files[0]).unwrap();
    drop(store);
    all.clear();
    let mut bytes = whole.clone();
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    std::fs::write(&files[0], &bytes).unwrap();
    let store = world.open();
    let compacted = store.compact(|_| {}).unwrap();
    assert_eq!(compacted.damaged.len(), 1, "{compacted:?}");
    assert!(compacted.damaged[0].contains(&files[0].display().to_string()));
    let now = segments(&world.directory);
    assert!(now.contains(&files[0]) && !now.contains(&files[1]) && now.len() == 2, "{now:?}");
    drop(store);
    std::fs::write(&files[0], &whole).unwrap();
    let store = world.open();
    assert!(store.compact(|_| {}).unwrap().damaged.is_empty());
    assert!(store.verify(|_| {}).unwrap().is_sound());
    assert!(!segments(&world.directory).contains(&files[0]));
}

/// Whatever has become of its segment: the tenant goes, and the answer says what could not be read. A
/// damaged segment of somebody else's stays as it is, and the proof names it.
#[test]
fn a_damaged_segment_does_not_keep_its_tenant() {
    for damaged in ["anna", "bert"] {
        for what in ["block", "header", "short", "gone"] {
            let directory = tempfile::tempdir().unwrap();
            let world = World::new(directory.path());
            let store = world.open();
            for name in ["anna", "bert"] {
                archived(&world, &store, name, 100);
            }
            let before = {
                store
                    .tenant("carl")
                    .unwrap()
                    .remember(Remember { content: "A parrot".into(), ..Remember::default() })
                    .unwrap();
                store.freeze(None, None).unwrap();
                export(&store).len()
            };
            drop(store);
            let files = segments(&world.directory);
            assert_eq!(files.len(), 2);
            let file = &files[usize::from(damaged == "bert")];
            let mut bytes = std::fs::read(file).unwrap();
            let length = bytes.len();
            match what {
                "block" => bytes[length - 10] ^= 1,
                "header" => bytes[60] ^= 1,
                _ => bytes.truncate(length / 2),
            }
            match what {
                "gone" => std::fs::remove_file(file).unwrap(),
                _ => std::fs::write(file, &bytes).unwrap(),
            }
            let store = world.open();
            let tenant = store.tenant("anna").unwrap();
            let wiped = tenant.wipe(Wipe { confirm: "anna".into() }).unwrap();
            assert_eq!(wiped.cards, 100, "{damaged} {what}");
            let lost = wiped.damaged.len();
            assert_eq!(lost > 0, damaged == "anna", "{damaged} {what}: {wiped:?}");
            assert_eq!(wiped.proof.unprovable > 0, lost > 0, "{damaged} {what}: {wiped:?}");
            assert!(wiped.damaged.iter().all(|place| place.contains(&file.display().to_string())));
            // The two say the same. Of what cannot be read it is not known that it is the other one's.
            let theirs = |place: &String| damaged == "bert" && place.contains("00000002");
            assert!(wiped.proof.found.iter().all(theirs), "{damaged} {what}: {wiped:?}");
            assert_eq!(wiped.proof.is_complete(), damaged == "anna", "{damaged} {what}: {wiped:?}");
            assert!(!files[0].exists() && tenant.create().unwrap());
            if damaged == "anna" {
                sound(&store);
                assert!(export(&store).len() < before);
                assert!(store.verify_erased().unwrap().is_complete());
            } else {
                assert_eq!(file.exists(), what != "gone");
                assert!(!store.verify_erased().unwrap().is_complete());
                assert!(!store.verify(|_| {}).unwrap().is_sound());
            }
        }
    }
}
