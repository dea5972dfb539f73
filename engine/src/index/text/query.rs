//! The question's side of the analyzer: function words, weights, roles.

use std::collections::HashMap;

use super::scan::{Sink, scan};
use super::script::{is_hangul, is_hiragana, normalise};
use super::stop_words::{is_english, is_korean_particle, is_short, long_prefix};
use super::tokens::{English, QueryTerm, QueryTerms, Role, TermKind, run_elements};

/// Terms of one question that find rows; a pasted page is cut after so many.
const PRIMARY_TERMS: usize = 256;
/// Terms of one question that only add score.
const SECONDARY_TERMS: usize = 256;

/// A piece of an identifier: the whole identifier says it better.
const PART_WEIGHT: f32 = 0.4;
/// A pair with a one-character function word in it: mostly an accident of neighbourhood
/// ("的猫"), sometimes a word ("目的").
const STRADDLING_WEIGHT: f32 = 0.3;
/// A pair of Hiragana: mostly grammar, sometimes a word.
const HIRAGANA_WEIGHT: f32 = 0.5;
/// A character between function words, the only content its neighbours leave.
const LONE_WEIGHT: f32 = 0.5;
/// A single character next to the pairs it is in.
const SECONDARY_WEIGHT: f32 = 0.2;

/// Analyzes normalised text, leaving `removed` words out.
pub(super) fn analyze(question: Vec<char>, removed: &[&str]) -> QueryTerms {
    let mut names = NameSink::default();
    for word in removed {
        scan(&normalise(word), &mut names);
    }
    // The longest name first, so that a name inside another does not leave a rest of it.
    names.runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
    names.runs.dedup();
    let mut sink = QuerySink {
        names,
        stemmer: English::new(),
        terms: Vec::new(),
        positions: HashMap::new(),
        primary: 0,
        text: String::new(),
        elements: Vec::new(),
        dropping: false,
    };
    scan(&question, &mut sink);
    QueryTerms { terms: sink.terms, question }
}

/// Collects the tokens of the words that are taken out.
#[derive(Default)]
struct NameSink {
    tokens: Vec<String>,
    runs: Vec<Vec<char>>,
}

impl Sink for NameSink {
    fn word(&mut self, word: &str, part: bool) {
        if !part {
            self.tokens.push(word.to_owned());
        }
    }

    fn exact(&mut self, token: &str, _kind: TermKind, part: bool) {
        if !part {
            self.tokens.push(token.to_owned());
        }
    }

    fn run(&mut self, run: &[char], _after_digit: bool) {
        self.runs.push(run.to_vec());
    }
}

/// How much of a character is function word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    Content,
    Short,
    Long,
}

struct QuerySink {
    names: NameSink,
    stemmer: English,
    terms: Vec<QueryTerm>,
    positions: HashMap<String, usize>,
    primary: usize,
    text: String,
    elements: Vec<(usize, usize)>,
    /// The present identifier is a name that is taken out, and so are its parts.
    dropping: bool,
}

impl QuerySink {
    fn add(&mut self, text: &str, kind: TermKind, role: Role, weight: f32) {
        if let Some(known) = self.positions.get(text).map(|index| &mut self.terms[*index]) {
            // Asked twice counts once, in its strongest form.
            if known.role != Role::Primary && role != Role::Secondary {
                self.primary += usize::from(known.role == Role::Secondary);
                (known.role, known.kind) = (role, kind);
            }
            known.weight = known.weight.max(weight);
            return;
        }
        let secondary = role == Role::Secondary;
        if secondary && self.terms.len() - self.primary >= SECONDARY_TERMS
            || !secondary && self.primary >= PRIMARY_TERMS
        {
            return;
        }
        self.primary += usize::from(!secondary);
        self.positions.insert(text.to_owned(), self.terms.len());
        self.terms.push(QueryTerm { text: text.to_owned(), kind, role, weight });
    }

    fn add_token(&mut self, text: &str, kind: TermKind, part: bool) {
        let (role, weight) = if part { (Role::Part, PART_WEIGHT) } else { (Role::Primary, 1.0) };
        self.add(text, kind, role, weight);
    }

    /// Adds the terms of a run from which names are taken out already.
    fn add_run(&mut self, run: &[char], after_digit: bool) {
        let mut elements = std::mem::take(&mut self.elements);
        run_elements(run, &mut elements);
        let cover = cover(run, &elements);
        let mut text = std::mem::take(&mut self.text);
        for (index, &(start, end)) in elements.iter().enumerate() {
            let next = elements.get(index + 1).copied();
            if let Some((next_start, next_end)) = next
                && let Some(weight) = pair_weight(run[start], run[next_start], cover[index], cover[index + 1])
            {
                text.clear();
                text.extend(run[start..end].iter().chain(&run[next_start..next_end]));
                self.add(&text, TermKind::Bigram, Role::Primary, weight);
            }
            if cover[index] != Cover::Content {
                continue;
            }
            let content = |at: Option<usize>| at.and_then(|at| cover.get(at)) == Some(&Cover::Content);
            let (role, weight) = if elements.len() == 1 {
                // The 年 of "2023年" only measures the number.
                if after_digit { (Role::Secondary, SECONDARY_WEIGHT) } else { (Role::Primary, 1.0) }
            } else if !content(index.checked_sub(1)) && !content(Some(index + 1)) {
                (Role::Primary, LONE_WEIGHT)
            } else {
                (Role::Secondary, SECONDARY_WEIGHT)
            };
            if role == Role::Secondary && is_hiragana(run[start]) {
                continue;
            }
            text.clear();
            text.extend(&run[start..end]);
            self.add(&text, TermKind::Unigram, role, weight);
        }
        (self.elements, self.text) = (elements, text);
    }
}

impl Sink for QuerySink {
    fn word(&mut self, word: &str, part: bool) {
        self.dropping &= part;
        let named = || self.names.tokens.iter().any(|name| name == word);
        if self.dropping || is_english(word) || named() {
            return;
        }
        let stem = self.stemmer.stem(word).into_owned();
        self.add_token(&stem, TermKind::Word, part);
    }

    fn exact(&mut self, token: &str, kind: TermKind, part: bool) {
        if !part {
            self.dropping = self.names.tokens.iter().any(|name| name == token);
        }
        if !self.dropping {
            self.add_token(token, kind, part);
        }
    }

    fn run(&mut self, run: &[char], after_digit: bool) {
        let names = std::mem::take(&mut self.names);
        let (mut from, mut at) = (0, 0);
        while at < run.len() {
            let name = names
                .runs
                .iter()
                .find(|name| run[at..].starts_with(name) && (name.len() > 1 || run.len() == 1));
            match name {
                Some(name) => {
                    self.add_run(&run[from..at], after_digit && from == 0);
                    at += name.len();
                    from = at;
                }
                None => at += 1,
            }
        }
        self.add_run(&run[from..], after_digit && from == 0);
        self.names = names;
    }
}

/// Finds the function words of a run, the longest first.
fn cover(run: &[char], elements: &[(usize, usize)]) -> Vec<Cover> {
    let characters: Vec<char> = elements.iter().map(|(start, _)| run[*start]).collect();
    let mut cover = vec![Cover::Content; characters.len()];
    let mut at = 0;
    while at < characters.len() {
        if let Some(length) = long_prefix(&characters[at..]) {
            cover[at..at + length].fill(Cover::Long);
            at += length;
            continue;
        }
        if is_short(characters[at]) {
            cover[at] = Cover::Short;
        }
        at += 1;
    }
    if let [.., before, last] = characters[..]
        && characters.len() > 2
        && is_hangul(before)
        && is_korean_particle(last)
    {
        cover[characters.len() - 1] = Cover::Short;
    }
    cover
}

/// The weight of a pair of neighbours, none when the pair says nothing.
fn pair_weight(left: char, right: char, left_cover: Cover, right_cover: Cover) -> Option<f32> {
    match (left_cover, right_cover) {
        (Cover::Content, Cover::Content) if is_hiragana(left) && is_hiragana(right) => Some(HIRAGANA_WEIGHT),
        (Cover::Content, Cover::Content) => Some(1.0),
        (Cover::Content, Cover::Short) | (Cover::Short, Cover::Content) => Some(STRADDLING_WEIGHT),
        _ => None,
    }
}
