//! BM25 against a plain reference, and what is found at all.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::bm25::NO_ROW;
use super::tokens::{Role, analyze_document};
use super::{Parameters, QueryTerms, Scores, Statistics, TextIndex, Windows, analyze_query};
use crate::index::rows::RowSet;

const PARAMETERS: Parameters = Parameters { k1: 1.2, b: 0.75 };

fn build<T: AsRef<str>>(texts: &[T]) -> TextIndex {
    let mut index = TextIndex::new();
    for (row, text) in texts.iter().enumerate() {
        index.insert(row as u32, &analyze_document(text.as_ref())).expect("rows ascend");
    }
    index
}

fn score(index: &TextIndex, query: &QueryTerms, live: &RowSet, allowed: &RowSet) -> Scores {
    let (mut statistics, mut scores) = (Statistics::default(), Scores::new());
    index.gather(query, live, &mut statistics);
    index.score(query, &statistics, allowed, PARAMETERS, &mut scores);
    scores
}

/// The rows that a question finds, best first.
fn hits(texts: &[&str], question: &str) -> Vec<u32> {
    let all = RowSet::full(texts.len());
    let scores = score(&build(texts), &analyze_query(question), &all, &all);
    let mut hits: Vec<(u32, f32)> = scores.iter().collect();
    hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    hits.into_iter().map(|(row, _)| row).collect()
}

/// BM25 of documents as written in the books, in f64. `documents` are the texts to score,
/// `frequency` the document frequency of a term among `count` documents.
fn reference(
    documents: &[Option<String>],
    query: &QueryTerms,
    count: f64,
    average: f64,
    frequency: impl Fn(&str) -> f64,
) -> BTreeMap<u32, f64> {
    let (k1, b) = (1.2f32 as f64, 0.75);
    let mut scores = BTreeMap::new();
    for (row, text) in documents.iter().enumerate() {
        let Some(text) = text else { continue };
        let terms = analyze_document(text);
        let (mut score, mut found) = (0.0, false);
        for term in query.terms() {
            let Some((_, tf)) = terms.iter().find(|(text, _)| *text == term.text) else { continue };
            let (tf, df) = (f64::from(tf), frequency(&term.text));
            let idf = (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
            let norm = k1 * (1.0 - b + b * f64::from(terms.length()) / average);
            score += f64::from(term.weight) * idf * tf * (k1 + 1.0) / (tf + norm);
            found |= term.role != Role::Secondary;
        }
        if found {
            scores.insert(row as u32, score);
        }
    }
    scores
}

fn same(scores: &Scores, expected: &BTreeMap<u32, f64>) -> Result<(), TestCaseError> {
    let mut rows = scores.rows().to_vec();
    rows.sort_unstable();
    prop_assert_eq!(rows, expected.keys().copied().collect::<Vec<_>>());
    for (row, expected) in expected {
        let score = f64::from(scores.score(*row));
        prop_assert!((score - expected).abs() <= 1e-4 * expected.max(1.0), "{} for {}", score, expected);
    }
    Ok(())
}

fn lengths(documents: &[Option<String>]) -> (f64, f64) {
    let lengths: Vec<f64> =
        documents.iter().flatten().map(|text| f64::from(analyze_document(text).length())).collect();
    (lengths.len() as f64, lengths.iter().sum())
}

fn corpus() -> impl Strategy<Value = Vec<String>> {
    vec("([a-f]x |猫|狗|的|鱼|x-1 |7 ){0,9}", 1..14)
}

const QUESTIONS: [&str; 6] = ["bx cx x-1", "猫狗 ax", "的鱼", "狗猫鱼 7", "x-1", "nothing"];

proptest! {
    #[test]
    fn scores_equal_the_reference(
        texts in corpus(), dead in vec(0u8..4, 14), filter in vec(0u8..4, 14), ask in 0usize..6, split in 0usize..14,
    ) {
        let query = analyze_query(QUESTIONS[ask]);
        let rows = |choice: &[u8]| (0..texts.len() as u32).filter(|row| choice[*row as usize] > 0).collect::<RowSet>();
        let (live, allowed) = (rows(&dead), rows(&filter).iter().filter(|row| dead[*row as usize] > 0).collect::<RowSet>());
        let alive: Vec<_> = texts.iter().zip(&dead).map(|(text, dead)| (*dead > 0).then(|| text.clone())).collect();
        let wanted: Vec<_> = alive.iter().enumerate()
            .map(|(row, text)| text.clone().filter(|_| allowed.contains(row as u32))).collect();
        let (count, total) = lengths(&alive);
        let average = if total > 0.0 { total / count } else { 1.0 };
        let frequency = |term: &str| alive.iter().flatten()
            .filter(|text| analyze_document(text).iter().any(|(known, _)| known == term)).count() as f64;
        let expected = reference(&wanted, &query, count, average, frequency);
        let mut index = build(&texts);
        same(&score(&index, &query, &live, &allowed), &expected)?;
        index.settle();
        same(&score(&index, &query, &live, &allowed), &expected)?;

        // Two partitions with shared statistics score like one.
        let split = split.min(texts.len());
        let mut statistics = Statistics::default();
        let mut scores = Scores::new();
        let parts = [(0, &texts[..split]), (split, &texts[split..])].map(|(offset, texts)| {
            let part = |rows: &RowSet| rows.iter().filter_map(|row| row.checked_sub(offset as u32))
                .filter(|row| (*row as usize) < texts.len()).collect::<RowSet>();
            (offset as u32, build(texts), part(&live), part(&allowed))
        });
        parts.iter().for_each(|(_, index, live, _)| index.gather(&query, live, &mut statistics));
        let mut found = 0;
        for (offset, index, _, allowed) in &parts {
            index.score(&query, &statistics, allowed, PARAMETERS, &mut scores);
            for (row, score) in scores.iter() {
                let expected = expected[&(row + offset)];
                prop_assert!((f64::from(score) - expected).abs() <= 1e-4 * expected.max(1.0));
                found += 1;
            }
        }
        prop_assert_eq!(found, expected.len());
    }

    #[test]
    fn windows_equal_joined_documents(
        texts in corpus(), dead in vec(0u8..5, 14), breaks in vec(0u8..4, 14), ask in 0usize..6,
    ) {
        let query = analyze_query(QUESTIONS[ask]);
        let count = texts.len();
        let live: RowSet = (0..count as u32).filter(|row| dead[*row as usize] > 0).collect();
        let linked = |row: usize| row > 0 && row < count && breaks[row] > 0;
        let previous: Vec<u32> = (0..count).map(|row| if linked(row) { row as u32 - 1 } else { NO_ROW }).collect();
        let next: Vec<u32> = (0..count).map(|row| if linked(row + 1) { row as u32 + 1 } else { NO_ROW }).collect();
        let windows = Windows { previous: &previous, next: &next, live: &live };
        let joined: Vec<Option<String>> = (0..count).map(|row| live.contains(row as u32).then(|| {
            [previous[row], row as u32, next[row]].iter().filter(|row| live.contains(**row))
                .map(|row| &texts[*row as usize][..]).collect::<Vec<_>>().join("\n")
        })).collect();
        let (documents, total) = lengths(&joined);
        let average = if total > 0.0 { total / documents } else { 1.0 };
        let frequency = |term: &str| live.iter()
            .filter(|row| analyze_document(&texts[*row as usize]).iter().any(|(known, _)| known == term)).count() as f64;
        let expected = reference(&joined, &query, documents, average, frequency);
        let index = build(&texts);
        let (mut statistics, mut scores) = (Statistics::default(), Scores::new());
        index.gather(&query, &live, &mut statistics);
        index.gather_windows(windows, &mut statistics);
        // Twice, and after another question, to see that nothing is left over.
        index.score(&analyze_query("猫 ax"), &statistics, &live, PARAMETERS, &mut scores);
        for _ in 0..2 {
            index.score_windows(&query, &statistics, windows, &live, PARAMETERS, &mut scores);
            same(&scores, &expected)?;
        }
    }
}

#[test]
fn words_are_found_inside_unsegmented_text() {
    let texts = [
        "我们昨天去北京大学看朋友",
        "昨日は東京駅で友達に会った",
        "어제서울역에서친구를만났다",
        "a plain text",
    ];
    assert_eq!(hits(&texts, "大学"), [0]);
    assert_eq!(hits(&texts, "北京在哪里？"), [0]);
    assert_eq!(hits(&texts, "友達"), [1]);
    assert_eq!(hits(&texts, "東京"), [1]);
    assert_eq!(hits(&texts, "친구"), [2]);
    assert_eq!(hits(&texts, "서울"), [2]);
    assert_eq!(hits(&texts, "plain"), [3]);
}

#[test]
fn nothing_is_found_across_a_gap() {
    for text in ["东北 京剧", "东北，京剧", "东北\n京剧", "东北a京剧", "东北\u{200b}京剧"]
    {
        assert!(hits(&[text], "北京").is_empty(), "{text:?}");
        assert_eq!(hits(&[text], "京剧"), [0]);
    }
}

#[test]
fn single_characters_only_help_rows_that_match() {
    let texts = ["黑猫", "白猫", "猫白"];
    // 白 and 猫 alone do not make a match; in a row that matches they add to the score.
    assert_eq!(hits(&texts, "白猫"), [1]);
    assert_eq!(hits(&texts, "猫"), [0, 1, 2]);
}

#[test]
fn exact_identifiers_stand_out() {
    let texts = ["INC-90312 was closed", "INC-90313 was closed", "incident 90312", "closed closed closed"];
    let all = RowSet::full(4);
    let query = analyze_query("when was INC-90312 closed");
    let scores = score(&build(&texts), &query, &all, &all);
    assert!((scores.coverage(0) - 1.0).abs() < 1e-5);
    assert!(scores.coverage(1) < scores.coverage(0) && scores.coverage(2) > 0.0);
    assert!(scores.score(0) > scores.score(1));
    assert_eq!((scores.score(77), scores.coverage(77)), (0.0, 0.0));
}

#[test]
fn dead_rows_count_nowhere() {
    let texts = ["secret cat", "cat", "dog"];
    let index = build(&texts);
    let query = analyze_query("secret cat");
    let live: RowSet = [1, 2].into_iter().collect();
    let scores = score(&index, &query, &live, &live);
    assert_eq!(scores.rows(), [1]);
    let mut statistics = Statistics::default();
    index.gather(&query, &live, &mut statistics);
    assert_eq!(statistics.document_frequency, [0, 1]);
    let windows = Windows { previous: &[NO_ROW, 0, 1], next: &[1, 2, NO_ROW], live: &live };
    let mut scores = Scores::new();
    index.score_windows(&query, &statistics, windows, &RowSet::full(3), PARAMETERS, &mut scores);
    assert!(scores.coverage(1) < 0.9, "the dead neighbour's secret must not show");
}

#[test]
fn odd_neighbours_do_not_panic() {
    let index = build(&["cat", "cat dog"]);
    let (all, query) = (RowSet::full(2), analyze_query("cat"));
    let mut statistics = Statistics::default();
    index.gather(&query, &all, &mut statistics);
    for (previous, next) in
        [(vec![], vec![]), (vec![9, 9], vec![9, 9]), (vec![0, 1], vec![0, 1]), (vec![1], vec![1, 0])]
    {
        let windows = Windows { previous: &previous, next: &next, live: &all };
        let mut scores = Scores::new();
        index.score_windows(&query, &statistics, windows, &RowSet::full(50), PARAMETERS, &mut scores);
        assert_eq!(scores.rows().len(), 2);
    }
}
