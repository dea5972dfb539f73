//! Copies made while the store is written.

use std::sync::atomic::{AtomicBool, Ordering};

use memcards::{Correct, Forget, Remember, Store};

use crate::{content, options};

#[test]
fn a_copy_made_while_writing_is_the_store_at_one_instant() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("store"), options()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in ["anna", "bob"] {
            let (store, done) = (&store, &done);
            scope.spawn(move || {
                let tenant = store.tenant(name).unwrap();
                let mut n = 0;
                while !done.load(Ordering::SeqCst) {
                    let request = Remember {
                        content: format!("entry q{n}z of {name}"),
                        vector: Some(vec![n as f32, 1.0]),
                        ..Remember::default()
                    };
                    let id = tenant.remember(request).unwrap().id;
                    if n % 3 == 0 {
                        let request =
                            Correct { id, content: Some(format!("entry r{n}z")), ..Correct::default() };
                        tenant.correct(request).unwrap();
                    }
                    if n % 5 == 0 {
                        tenant.forget(Forget { id: Some(id), ..Forget::default() }).unwrap();
                    }
                    n += 1;
                }
            });
        }
        for number in 0..6 {
            std::thread::sleep(std::time::Duration::from_millis(15));
            let mut progress = 0;
            let records =
                store.backup(directory.path().join(format!("copy-{number}")), |n| progress = n).unwrap();
            assert!(records > 0 && progress == records);
        }
        done.store(true, Ordering::SeqCst);
    });
    // At one instant: for each tenant a prefix of the change log, and the versions of it.
    let lines_of = |store: &Store| String::from_utf8(content(store).unwrap()).unwrap();
    let whole = lines_of(&store);
    let changes = |text: &str, name: &str| -> Vec<String> {
        let tenant = format!("\"tenant\":{name:?}");
        text.lines()
            .skip_while(|line| !line.contains(&tenant))
            .skip(1)
            .take_while(|line| line.contains("\"type\":\"change\""))
            .map(str::to_owned)
            .collect()
    };
    let mut sizes = Vec::new();
    for number in 0..6 {
        let copy = Store::open(directory.path().join(format!("copy-{number}")), options()).unwrap();
        let report = copy.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        let text = lines_of(&copy);
        for name in ["anna", "bob"] {
            let (mine, theirs) = (changes(&text, name), changes(&whole, name));
            assert!(theirs.starts_with(&mine), "copy {number} of {name} is no state that the store was in");
        }
        sizes.push(report.changes);
        // The copy is a store of its own.
        let anna = copy.tenant("anna").unwrap();
        anna.remember(Remember { content: "only in the copy".into(), ..Remember::default() }).unwrap();
    }
    assert!(sizes.is_sorted() && sizes[0] < sizes[5], "{sizes:?}");
}

#[test]
fn a_copy_never_writes_over_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("store"), options()).unwrap();
    let taken = directory.path().join("taken");
    std::fs::write(&taken, b"a file").unwrap();
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let cut_short = directory.path().join("new");
    std::fs::create_dir(directory.path().join("new.partial")).unwrap();
    for target in [&taken, &empty, &cut_short, &directory.path().join("store")] {
        let error = store.backup(target, |_| {}).unwrap_err();
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some("to")), "{}", target.display());
    }
    assert_eq!(std::fs::read(&taken).unwrap(), b"a file");
    assert!(std::fs::read_dir(&empty).unwrap().next().is_none());
    assert!(!cut_short.exists());
}
