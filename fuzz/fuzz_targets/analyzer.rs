//! Any text becomes terms; a document finds itself; bytes of an index read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::index::text::{TextIndex, analyze_document, analyze_query};

fuzz_target!(|texts: (String, String)| {
    let (document, question) = texts;
    let terms = analyze_document(&document);
    let query = analyze_query(&question);
    let mut index = TextIndex::new();
    index.insert(0, &terms).expect("row 0 comes first");
    index.insert(1, &analyze_document(&question)).expect("row 1 comes second");
    for (term, count) in terms.iter() {
        assert!(index.postings(term).iter().any(|found| found == (0, count)), "{term:?}");
    }
    assert_eq!(index.document_length(0), Some(terms.length()));
    assert_eq!(query.is_empty(), query.terms().is_empty());
    let copy = TextIndex::from_bytes(&index.to_bytes()).expect("its own bytes");
    assert_eq!(copy.rows(), index.rows());
    for (term, _) in terms.iter() {
        assert!(copy.postings(term).iter().eq(index.postings(term).iter()), "{term:?}");
    }
});
