//! Reading a question: who and when it names, and which words are left.
//!
//! Speakers and dates are fields of a card, so they are taken out of the words before these
//! are searched. Nothing in a question is ever read as a filter or a query language: what
//! is found here only shifts scores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::calendar::Anchor;
use crate::graph::{self, ConceptSet, Intent, Shape, Wanted};
use crate::index::sense::beginning;
use crate::index::text::{QueryTerms, TermKind, analyze_query};
use crate::recall::days::KnownDays;
use crate::recall::shown::Shown;
use crate::recall::times::Times;

/// Somebody known by relation may have several names (two sisters); more are noise.
const RESOLVED_MOST: usize = 4;
/// Longer texts are pasted, not asked.
const RESOLVED_BYTES: usize = 2048;

/// A question, read.
#[derive(Debug)]
pub(super) struct Question {
    words: String,
    terms: QueryTerms,
    identifiers: Vec<String>,
    times: Times,
    /// Names of the speakers it names; empty when nobody or everybody is named.
    named: BTreeSet<String>,
    /// Their numbers in each partition.
    numbers: Vec<BTreeSet<u32>>,
    asks_assistant: bool,
    /// What it asks for.
    wanted: Wanted,
}

impl Question {
    /// Reads a question against the speakers and dates that the shown rows of the
    /// partitions know: what is not shown must not shift what is.
    pub(super) fn read(query: &str, shown: &[Shown<'_>], anchor: &Anchor) -> Self {
        let query = &match query.len() <= RESOLVED_BYTES {
            true => resolve(query, shown),
            false => query.to_owned(),
        };
        let days = KnownDays::within(shown);
        let speakers_of: Vec<Vec<(u32, &str)>> = shown.iter().map(Shown::speakers).collect();
        let speakers: BTreeSet<&str> = speakers_of.iter().flatten().map(|(_, name)| *name).collect();
        let (mut named, without_names) = find_speakers(query, &speakers);
        let (times, without_times) = Times::find(&without_names, anchor, &days);
        let known = !times.is_empty() && shown.iter().any(|shown| shown.count_dated(&times) > 0);
        // A time that no card tells of stays among the words.
        let (times, words) = if known { (times, without_times) } else { (Times::default(), without_names) };
        let mut terms = analyze_query(&words);
        let mut words = words;
        if terms.is_empty() && !named.is_empty() && times.is_empty() {
            // Nothing but a name is asked for: then the name is the question.
            words = query.to_owned();
            terms = analyze_query(&words);
        }
        let identifiers = terms
            .terms()
            .iter()
            .filter(|term| match term.kind {
                TermKind::Identifier => term.text.chars().any(|c| c.is_ascii_digit()),
                TermKind::Number => term.text.len() >= 5,
                _ => false,
            })
            .map(|term| term.text.clone())
            .collect();
        if named.len() == speakers.len() {
            named.clear();
        }
        let numbers = speakers_of
            .iter()
            .map(|speakers| {
                speakers.iter().filter(|(_, name)| named.contains(*name)).map(|(number, _)| *number).collect()
            })
            .collect();
        let asks_assistant = ASKS_ASSISTANT.is_match(query);
        let wanted = graph::wanted(beginning(query));
        Self { words, terms, identifiers, times, named, numbers, asks_assistant, wanted }
    }

    /// The kinds of things it asks for.
    pub(super) fn asked(&self) -> ConceptSet {
        self.wanted.concepts
    }

    /// The shape of the answer it wants.
    pub(super) fn shape(&self) -> Shape {
        self.wanted.shape
    }

    /// What the asker is after.
    pub(super) fn intent(&self) -> Intent {
        self.wanted.intent
    }

    /// The question without names and dates.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// Its terms.
    pub(super) fn query_terms(&self) -> &QueryTerms {
        &self.terms
    }

    /// True when some word can be searched.
    pub(super) fn has_terms(&self) -> bool {
        !self.terms.is_empty()
    }

    /// True when words or a date can be searched.
    pub(super) fn has_keywords(&self) -> bool {
        self.has_terms() || !self.times.is_empty()
    }

    /// Its terms, for showing.
    pub(super) fn terms(&self) -> Vec<String> {
        self.terms.terms().iter().map(|term| term.text.clone()).collect()
    }

    /// Identifiers such as order numbers and versions, as the index has them.
    pub(super) fn identifiers(&self) -> &[String] {
        &self.identifiers
    }

    /// The speakers it names, for showing.
    pub(super) fn speakers(&self) -> Vec<String> {
        self.named.iter().cloned().collect()
    }

    /// True when it names some but not all speakers.
    pub(super) fn names_somebody(&self) -> bool {
        !self.named.is_empty()
    }

    /// True when it names that speaker of a partition.
    pub(super) fn names_speaker(&self, partition: usize, speaker: u32) -> bool {
        self.numbers[partition].contains(&speaker)
    }

    /// True when it asks for what the assistant said.
    pub(super) fn asks_assistant(&self) -> bool {
        self.asks_assistant
    }

    /// The times it names, as far as some card tells of one.
    pub(super) fn times(&self) -> &Times {
        &self.times
    }
}

/// The question with the names of those it speaks of by relation: "Tom's sister" becomes
/// "Anna sister" where a shown card says that she is.
fn resolve(query: &str, shown: &[Shown<'_>]) -> String {
    let mut resolved = query.to_owned();
    for reference in graph::referents(query, None).into_iter().rev() {
        let mut owners = vec![reference.owner.clone()];
        for relation in &reference.relations {
            let mut next: Vec<String> = Vec::new();
            for owner in &owners {
                let alias = graph::alias(owner, relation);
                let told = shown.iter().flat_map(|shown| shown.names_of(&alias));
                let edges = shown.iter().flat_map(|shown| shown.related(owner, relation));
                for name in told.chain(edges) {
                    if next.len() < RESOLVED_MOST && !next.iter().any(|known| known == name) {
                        next.push(name.to_owned());
                    }
                }
            }
            owners = next;
        }
        let written = query.get(reference.range.clone()).unwrap_or_default();
        if !owners.is_empty() {
            // The relation stays a word of the question, the owner is not who is asked for.
            let relation = written.rsplit([' ', '的', '\'', '’']).next().unwrap_or_default();
            resolved.replace_range(reference.range, &format!("{} {relation}", owners.join(" ")));
        }
    }
    resolved
}

/// The speakers a question names, and the question without their names.
fn find_speakers(query: &str, speakers: &BTreeSet<&str>) -> (BTreeSet<String>, String) {
    // Each form of a name, and whose it is; a form of several speakers names nobody.
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for speaker in speakers {
        let whole = speaker.trim().to_lowercase();
        let parts =
            whole.split([' ', '_', '-', '.']).filter(|part| part.chars().count() >= 2).map(str::to_owned);
        for form in parts.chain([whole.clone()]) {
            owners.entry(form).or_default().insert(speaker);
        }
    }
    let mut forms: Vec<(&String, &str)> = owners
        .iter()
        .filter(|(_, owners)| owners.len() == 1)
        .filter_map(|(form, owners)| Some((form, *owners.first()?)))
        .collect();
    forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    let mut named = BTreeSet::new();
    let mut rest = query.to_owned();
    for (form, speaker) in &forms {
        while let Some((start, end)) = find_name(&rest, form) {
            named.insert((*speaker).to_owned());
            rest.replace_range(start..end, " ");
        }
    }
    // Short forms: a capitalised word that begins exactly one speaker's name.
    let short: Vec<(String, &str)> = CAPITALISED
        .captures_iter(&rest)
        .filter_map(|found| {
            let word = found.get(1)?.as_str();
            let lower = word.to_lowercase();
            let mut owners =
                forms.iter().filter(|(form, _)| form.starts_with(&lower) && form.len() > lower.len());
            let (_, owner) = owners.next()?;
            let alone = owners.all(|(_, other)| other == owner) && !analyze_query(word).is_empty();
            alone.then_some((lower, *owner))
        })
        .collect();
    for (form, speaker) in short {
        while let Some((start, end)) = find_name(&rest, &form) {
            named.insert(speaker.to_owned());
            rest.replace_range(start..end, " ");
        }
    }
    (named, rest)
}

/// Where a lower-case name stands in a text as a word of its own, its possessive ending
/// included. Scripts that write no spaces need no word boundary.
fn find_name(text: &str, name: &str) -> Option<(usize, usize)> {
    if name.is_empty() {
        return None;
    }
    let spaced = name.chars().any(|c| c.is_ascii_alphanumeric());
    let starts: Vec<(usize, char)> = text.char_indices().collect();
    'starts: for (index, (start, _)) in starts.iter().enumerate() {
        let before = index.checked_sub(1).map(|i| starts[i].1);
        if spaced && before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let mut end = *start;
        let mut rest = text[*start..].chars();
        let mut wanted = name.chars().peekable();
        while wanted.peek().is_some() {
            let Some(c) = rest.next() else { continue 'starts };
            for lower in c.to_lowercase() {
                if wanted.next() != Some(lower) {
                    continue 'starts;
                }
            }
            end += c.len_utf8();
        }
        let tail = &text[end..];
        let ending =
            ["'s", "’s", "'", "’"].iter().find(|ending| tail.starts_with(**ending)).map_or(0, |e| e.len());
        let after = text[end + ending..].chars().next();
        if spaced && after.is_some_and(|c| c.is_alphanumeric() && c.is_ascii()) {
            continue;
        }
        return Some((*start, end + ending));
    }
    None
}

/// Compiles a pattern of this file.
#[allow(clippy::expect_used, reason = "constant patterns, compiled by the tests below")]
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

static CAPITALISED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([A-Z][a-z]{2,})\b"));

static ASKS_ASSISTANT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)你[^，。？我]{0,6}(?:给|告诉|向|跟|和|为|帮|教|推荐|建议)过?我|\byou\s+(?:\w+\s+)?(?:recommend|suggest|advise|tell|told|gave|give|explain|said|mention|list|provid|show)",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    fn named(query: &str, speakers: &[&str]) -> (Vec<String>, String) {
        let (named, rest) = find_speakers(query, &speakers.iter().copied().collect());
        (named.into_iter().collect(), rest.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_are_found_with_their_endings_and_taken_out() {
        for (query, speakers, who, rest) in [
            ("What is Anna's favourite tea?", &["Anna", "Ben"][..], &["Anna"][..], "What is favourite tea?"),
            ("what did anna buy", &["Anna", "Ben"], &["Anna"], "what did buy"),
            ("Which bananas are ripe?", &["Anna", "Ban"], &[], "Which bananas are ripe?"),
            ("Where did Jo go?", &["Joanna"], &[], "Where did Jo go?"),
            ("Where did Joan go?", &["Joanna"], &["Joanna"], "Where did go?"),
            ("Where did Joan go?", &["Joanna", "Joanne"], &[], "Where did Joan go?"),
            ("李雷喜欢什么茶？", &["李雷", "韩梅梅"], &["李雷"], "喜欢什么茶？"),
            ("Did Mary Jane call?", &["Mary Jane", "Mary Ann"], &["Mary Jane"], "Did call?"),
            ("", &["Anna"], &[], ""),
        ] {
            let (found, left) = named(query, speakers);
            assert_eq!(
                (found.iter().map(String::as_str).collect::<Vec<_>>(), left.as_str()),
                (who.to_vec(), rest),
                "{query}"
            );
        }
    }

    #[test]
    fn the_assistant_is_asked_for() {
        for (text, asked) in [
            ("What did you recommend to me?", true),
            ("你给我推荐了什么书？", true),
            ("What do I like?", false),
            ("我喜欢什么？", false),
        ] {
            assert_eq!(ASKS_ASSISTANT.is_match(text), asked, "{text}");
        }
    }
}
