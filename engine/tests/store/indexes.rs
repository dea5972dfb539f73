//! What stands in the folder of indexes and is none: it is passed over, and stays.

use memcards::{Recall, Remember, Store};

use crate::options;

#[test]
fn what_is_no_index_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let tenant = store.tenant("anna").unwrap();
    let requests = (0..300).map(|n| Remember {
        content: format!("entry q{n}z"),
        vector: Some(vec![n as f32, 1.0]),
        ..Remember::default()
    });
    tenant.remember_all(requests.collect()).unwrap();
    tenant.recall(Recall { query: Some("entry".into()), ..Recall::default() }).unwrap();
    assert!(store.checkpoint().unwrap() > 0);
    let files = store.verify(|_| {}).unwrap().index_files;
    assert!(files >= 2, "rows, vectors or look-ups: {files}");
    let index = directory.path().join("index");
    // A file where folders of tenants are; what a killed process left half-written; a note.
    let others = ["note", "00000001/semantic.idx.partial", "00000001/note"].map(|name| index.join(name));
    for path in &others {
        std::fs::write(path, "of somebody else").unwrap();
    }
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!(report.index_files, files);
    assert!(store.repair(|_| {}).unwrap().found.is_empty());
    // A file of vectors that is none is found.
    let none = index.join("00000001/semantic-ffffffffffffffff.vec");
    std::fs::write(&none, "no vectors").unwrap();
    let findings = store.verify(|_| {}).unwrap().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].place, none.display().to_string());
    assert!(others.iter().all(|path| path.exists()));
}
