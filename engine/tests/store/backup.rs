//! Copies made while the store is written.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use memcards::{Correct, Forget, Remember, Store};

use crate::faulty_io::{FaultyIo, Kind};
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
    for target in [&taken, &empty, &directory.path().join("store")] {
        let error = store.backup(target, |_| {}).unwrap_err();
        assert_eq!((error.code(), error.field()), ("invalid_argument", Some("to")), "{}", target.display());
    }
    assert_eq!(std::fs::read(&taken).unwrap(), b"a file");
    assert!(std::fs::read_dir(&empty).unwrap().next().is_none());
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What a killed process has left, or somebody has put there, is in nobody's way and stays as it is.
#[test]
fn what_is_left_of_a_copy_does_not_keep_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("store"), options()).unwrap();
    store
        .tenant("anna")
        .unwrap()
        .remember(Remember { content: "one".into(), ..Remember::default() })
        .unwrap();
    let left = directory.path().join("new.partial");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("memcards.redb"), b"half of it").unwrap();
    std::fs::write(directory.path().join("new.partial-2"), b"a file of somebody's").unwrap();
    assert!(store.backup(directory.path().join("new"), |_| {}).unwrap() > 0);
    assert_eq!(std::fs::read(left.join("memcards.redb")).unwrap(), b"half of it");
    assert_eq!(std::fs::read(directory.path().join("new.partial-2")).unwrap(), b"a file of somebody's");
    let expected = ["new", "new.partial", "new.partial-2", "store"].map(str::to_owned);
    assert_eq!(names(directory.path()), expected.into());
    let copy = Store::open(directory.path().join("new"), options()).unwrap();
    assert_eq!(content(&copy).unwrap(), content(&store).unwrap());
}

/// Whichever file operation fails: nothing is left, and the next copy to the same name is made.
#[test]
fn a_copy_that_fails_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    // What fails, and how often: once, or from then on until the test lets it.
    let (armed, fired) = (Arc::new(Mutex::new(None::<(Kind, u64)>)), Arc::new(AtomicBool::new(false)));
    let (plan, seen) = (armed.clone(), fired.clone());
    let io = FaultyIo::new(true, move |kind| {
        let mut plan = plan.lock().unwrap();
        match plan.as_mut().filter(|(of, _)| *of == kind) {
            Some((_, 1)) => {
                *plan = None;
                seen.store(true, Ordering::SeqCst);
                Err(std::io::Error::other("a fault of the test"))
            }
            Some((_, left)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    });
    let options = memcards::Options { io: Arc::new(io), ..options() };
    let store = Store::open(directory.path().join("store"), options).unwrap();
    let tenant = store.tenant("anna").unwrap();
    let requests = (0..70).map(|n| Remember { content: format!("entry q{n}z"), ..Remember::default() });
    tenant.remember_all(requests.collect()).unwrap();
    let policy = serde_json::json!({ "defaults": { "max_cards": 1 }, "limits": { "share": 1.0 } });
    let request = memcards::MakePlan { policy: Some(policy), consent: true, ..memcards::MakePlan::default() };
    let plan = tenant.plan(&request).unwrap().plan;
    tenant.apply(memcards::Apply { plan: Some(plan), ..memcards::Apply::default() }).unwrap();
    assert_eq!(store.freeze(None, Some(1)).unwrap().segments, 1);
    let to = directory.path().join("copy");
    let mut failures = 0;
    for kind in [Kind::Write, Kind::Sync, Kind::Name] {
        for number in 1.. {
            *armed.lock().unwrap() = Some((kind, number));
            fired.store(false, Ordering::SeqCst);
            let made = store.backup(&to, |_| {});
            *armed.lock().unwrap() = None;
            if !fired.load(Ordering::SeqCst) {
                made.unwrap();
                std::fs::remove_dir_all(&to).unwrap();
                break;
            }
            match made {
                // What fails while redb tidies up may cost nothing; after the renaming the copy is there.
                _ if to.exists() => std::fs::remove_dir_all(&to).unwrap(),
                made => {
                    failures += 1;
                    assert!(made.is_err(), "{kind:?} {number}");
                }
            }
            assert_eq!(names(directory.path()), ["store".to_owned()].into(), "{kind:?} {number}");
        }
    }
    assert!(failures > 10, "{failures}");
    assert!(store.backup(&to, |_| {}).unwrap() > 70);
}
