//! Damage in a segment is named; the rest stays readable.

use memcards::{Get, Remember};

use crate::{EVERYTHING, World, archived, ask, first, segments};

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
