//! The index keeps what it was given, through bytes and settling, and refuses anything else.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::tokens::analyze_document;
use super::{Statistics, TextIndex, analyze_query};
use crate::Error;
use crate::index::rows::RowSet;

/// Everything an index says about these terms.
type Content = (BTreeMap<String, Vec<(u32, u32)>>, Vec<Option<u32>>);

fn content<'a>(index: &TextIndex, texts: impl IntoIterator<Item = &'a String>) -> Content {
    let mut terms = BTreeSet::new();
    for text in texts {
        terms.extend(analyze_document(text).iter().map(|(term, _)| term.to_owned()));
    }
    let postings = terms.into_iter().map(|term| {
        let postings = index.postings(&term);
        assert_eq!(postings.len(), postings.iter().count());
        let postings = postings.iter().collect::<Vec<_>>();
        (term, postings)
    });
    (postings.collect(), (0..index.rows() as u32).map(|row| index.document_length(row)).collect())
}

fn add(index: &mut TextIndex, row: u32, text: &str) {
    index.insert(row, &analyze_document(text)).expect("rows ascend");
}

fn build(texts: &[String]) -> TextIndex {
    let mut index = TextIndex::new();
    for (row, text) in texts.iter().enumerate() {
        add(&mut index, row as u32, text);
    }
    index
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec("([a-e]{1,2} |猫|狗|x-1 ){0,8}", 0..12)
}

#[test]
fn rows_ascend_and_gaps_stay_empty() {
    let mut index = TextIndex::new();
    add(&mut index, 2, "cat");
    add(&mut index, 5, "");
    assert!(matches!(index.insert(5, &analyze_document("dog")), Err(Error::Internal(_))));
    assert!(index.insert(0, &analyze_document("dog")).is_err());
    assert!(index.insert(u32::MAX, &analyze_document("dog")).is_err());
    assert!(index.postings("dog").is_empty());
    assert_eq!((index.rows(), index.documents()), (6, 2));
    assert_eq!(index.document_length(1), None);
    assert_eq!(index.document_length(2), Some(1));
    assert_eq!(index.document_length(5), Some(0));
    assert_eq!(index.document_length(99), None);
    let loaded = TextIndex::from_bytes(&index.to_bytes()).expect("own bytes");
    assert_eq!((loaded.rows(), loaded.documents()), (6, 2));
}

#[test]
fn bytes_of_another_analyzer_are_refused() {
    let mut bytes = TextIndex::new().to_bytes();
    bytes[12] ^= 1;
    let error = TextIndex::from_bytes(&bytes).expect_err("another version");
    assert!(error.to_string().contains("analyzer"), "{error}");
}

#[test]
fn every_damaged_byte_is_noticed() {
    let bytes = build(&["the cat".into(), "猫 cat INC-1".into()]).to_bytes();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        assert!(matches!(TextIndex::from_bytes(&damaged), Err(Error::Corrupt { .. })), "byte {at}");
        assert!(TextIndex::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
}

/// Whole by its checksum, and nothing that a search could rely on all the same.
#[test]
fn what_no_index_has_written_is_refused_by_name() {
    // Three rows; "cat" in the first and the last, "dog" in the first.
    let sound = build(&["cat dog".into(), String::new(), "cat".into()]).to_bytes();
    let (lengths, offsets, postings) = (40, 52, 64);
    let (rows, frequencies, terms) = (76, 88, 94);
    assert_eq!(sound.len(), terms + "catdog".len(), "the test knows where things are");
    for (at, byte, expected) in [
        (offsets + 4, 0, "term offsets"),
        (offsets + 8, 7, "term offsets"),
        (terms, b'e', "order of terms"),
        (postings, 1, "posting offsets"),
        (postings + 4, 3, "posting offsets"),
        (rows + 4, 0, "order of rows"),
        (rows + 4, 1, "a posting of a row without document"),
        (rows + 4, 9, "a posting of a row without document"),
        (frequencies, 0, "a frequency of zero"),
        (terms, 0xff, "terms are not UTF-8"),
    ] {
        let mut bytes = sound.clone();
        if byte == 1 && at == rows + 4 {
            // The second row has no document.
            bytes[lengths + 4..lengths + 8].fill(0xff);
        }
        bytes[at] = byte;
        super::bytes::seal(&mut bytes);
        let error = TextIndex::from_bytes(&bytes).expect_err("refused");
        assert!(error.to_string().contains(expected), "{at}: {error}");
    }
}

#[test]
fn statistics_and_memory_follow_the_rows() {
    let mut index = build(&["cat dog".into(), "cat".into()]);
    let query = analyze_query("cat bird");
    let mut statistics = Statistics::default();
    index.gather(&query, &RowSet::full(1), &mut statistics);
    assert_eq!((statistics.documents, statistics.total_length), (1, 2));
    index.gather(&query, &RowSet::full(900), &mut statistics);
    assert_eq!((statistics.documents, statistics.total_length), (3, 5));
    assert_eq!(statistics.document_frequency, [3, 0]);
    let before = index.bytes();
    assert!(before > 0 && index.unsettled() == 3);
    index.settle();
    assert!(index.bytes() < before && index.unsettled() == 0);
}

proptest! {
    #[test]
    fn bytes_round_trip_and_take_more_rows(before in texts(), after in texts()) {
        let all: Vec<String> = before.iter().chain(&after).cloned().collect();
        let expected = build(&all);
        let bytes = build(&before).to_bytes();
        let mut loaded = TextIndex::from_bytes(&bytes).expect("own bytes");
        prop_assert_eq!(loaded.to_bytes(), bytes);
        for (offset, text) in after.iter().enumerate() {
            add(&mut loaded, (before.len() + offset) as u32, text);
        }
        prop_assert_eq!(content(&loaded, &all), content(&expected, &all));
        prop_assert_eq!(loaded.to_bytes(), expected.to_bytes());
        loaded.settle();
        prop_assert_eq!(content(&loaded, &all), content(&expected, &all));
        prop_assert_eq!(loaded.to_bytes(), expected.to_bytes());
    }

    #[test]
    fn what_is_removed_leaves_nothing(before in texts(), after in texts(), chosen in vec(any::<bool>(), 24)) {
        let all: Vec<String> = before.iter().chain(&after).cloned().collect();
        let is_kept = |row: usize| chosen[row % chosen.len()];
        // Rows that never had a document, but as many.
        let mut expected = TextIndex::new();
        for (row, text) in all.iter().enumerate().filter(|(row, _)| is_kept(*row)) {
            add(&mut expected, row as u32, text);
        }
        let mut index = TextIndex::from_bytes(&build(&before).to_bytes()).expect("own bytes");
        for row in (0..before.len()).filter(|row| !is_kept(*row)) {
            prop_assert!(index.remove(row as u32) && !index.remove(row as u32));
        }
        for (offset, text) in after.iter().enumerate() {
            let row = before.len() + offset;
            add(&mut index, row as u32, text);
            if !is_kept(row) {
                index.remove(row as u32);
            }
        }
        prop_assert!(!index.remove(all.len() as u32));
        let live: RowSet = (0..all.len() as u32).filter(|row| is_kept(*row as usize)).collect();
        let query = analyze_query("a b c d e ab 猫 狗 x-1");
        let gathered = |index: &TextIndex| {
            let mut statistics = Statistics::default();
            index.gather(&query, &live, &mut statistics);
            statistics
        };
        prop_assert_eq!(gathered(&index), gathered(&expected));
        let loaded = TextIndex::from_bytes(&index.to_bytes()).expect("own bytes");
        prop_assert_eq!(loaded.rows(), all.len());
        index.settle();
        prop_assert_eq!(index.unsettled_removals(), 0);
        for index in [&index, &loaded] {
            let (postings, lengths) = content(index, &all);
            let (wanted, wanted_lengths) = content(&expected, &all);
            prop_assert_eq!(postings, wanted);
            prop_assert_eq!(&lengths[..wanted_lengths.len()], &wanted_lengths[..]);
            prop_assert_eq!(index.documents(), expected.documents());
        }
        prop_assert_eq!(index.to_bytes(), loaded.to_bytes());
    }

    #[test]
    fn any_bytes_never_panic(noise in vec(any::<u8>(), 0..200), at in 0usize..400, seal in any::<bool>()) {
        prop_assert!(TextIndex::from_bytes(&noise).is_err());
        // Damage under a right checksum gets past the first defence.
        let mut bytes = build(&["a cat".into(), "猫猫 cat".into()]).to_bytes();
        for (offset, byte) in noise.iter().take(6).enumerate() {
            let at = (16 + at + offset) % bytes.len();
            if at >= 16 {
                bytes[at] = *byte;
            }
        }
        if seal {
            super::bytes::seal(&mut bytes);
        }
        if let Ok(index) = TextIndex::from_bytes(&bytes) {
            let query = analyze_query("cat 猫");
            let rows = RowSet::full(index.rows());
            let mut statistics = Statistics::default();
            index.gather(&query, &rows, &mut statistics);
            index.score(&query, &statistics, &rows, Default::default(), &mut super::Scores::new());
            prop_assert_eq!(TextIndex::from_bytes(&index.to_bytes()).expect("own bytes").rows(), index.rows());
        }
    }
}
