//! Reading a question: who and when it names, and which words are left.
//!
//! Speakers and dates are fields of a card, so they are taken out of the words before these
//! are searched. Nothing in a question is ever read as a filter or a query language: what
//! is found here only shifts scores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::graph::{self, ConceptSet, Intent, Shape};
use crate::index::text::{QueryTerms, TermKind, analyze_query};
use crate::recall::shown::Shown;
use crate::time::Timestamp;

/// A date of which parts may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartialDate {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
}

/// A question, read.
#[derive(Debug)]
pub(super) struct Question {
    words: String,
    terms: QueryTerms,
    identifiers: Vec<String>,
    dates: Vec<PartialDate>,
    /// Names of the speakers it names; empty when nobody or everybody is named.
    named: BTreeSet<String>,
    /// Their numbers in each partition.
    numbers: Vec<BTreeSet<u32>>,
    asks_assistant: bool,
    /// What it asks for.
    asked: ConceptSet,
    shape: Shape,
    intent: Intent,
}

impl Question {
    /// Reads a question against the speakers and dates that the shown rows of the
    /// partitions know: what is not shown must not shift what is.
    pub(super) fn read(query: &str, shown: &[Shown<'_>]) -> Self {
        let speakers_of: Vec<Vec<(u32, &str)>> = shown.iter().map(Shown::speakers).collect();
        let speakers: BTreeSet<&str> = speakers_of.iter().flatten().map(|(_, name)| *name).collect();
        let (mut named, without_names) = find_speakers(query, &speakers);
        let (dates, without_dates) = find_dates(&without_names);
        let names = |micros: i64| dates.iter().any(|date| date.is(micros));
        let known = !dates.is_empty() && shown.iter().any(|shown| shown.count_dated(names) > 0);
        // A date that no card has stays among the words.
        let (dates, words) = if known { (dates, without_dates) } else { (vec![], without_names) };
        let mut terms = analyze_query(&words);
        let mut words = words;
        if terms.is_empty() && !named.is_empty() && dates.is_empty() {
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
        let (asked, shape, intent) = (graph::asked(query), graph::shape(query), graph::intent(query));
        Self { words, terms, identifiers, dates, named, numbers, asks_assistant, asked, shape, intent }
    }

    /// The kinds of things it asks for.
    pub(super) fn asked(&self) -> ConceptSet {
        self.asked
    }

    /// The shape of the answer it wants.
    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// What the asker is after.
    pub(super) fn intent(&self) -> Intent {
        self.intent
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
        self.has_terms() || !self.dates.is_empty()
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

    /// True when it names a date that some card has.
    pub(super) fn has_dates(&self) -> bool {
        !self.dates.is_empty()
    }

    /// True when it names a date that the instant (microseconds, UTC) lies on.
    pub(super) fn names_date(&self, micros: i64) -> bool {
        self.dates.iter().any(|date| date.is(micros))
    }
}

impl PartialDate {
    fn is(self, micros: i64) -> bool {
        let (year, month, day) = civil(micros);
        self.year.is_none_or(|y| y == year)
            && self.month.is_none_or(|m| m == month)
            && self.day.is_none_or(|d| d == day)
    }
}

/// Year, month and day (UTC) of an instant.
fn civil(micros: i64) -> (i16, i8, i8) {
    let instant =
        jiff::Timestamp::from_microsecond(Timestamp::from_micros(micros).as_micros()).unwrap_or_default();
    let date = jiff::tz::Offset::UTC.to_datetime(instant).date();
    (date.year(), date.month(), date.day())
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
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

static CAPITALISED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([A-Z][a-z]{2,})\b"));

static ASKS_ASSISTANT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)你[^，。？我]{0,6}(?:给|告诉|向|跟|和|为|帮|教|推荐|建议)过?我|\byou\s+(?:\w+\s+)?(?:recommend|suggest|advise|tell|told|gave|give|explain|said|mention|list|provid|show)",
    )
});

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Patterns of dates, and which group is what; the first that fits a place wins.
static DATES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let month = r"(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?";
    [
        (r"(\d{4})\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号])?".to_owned(), "ymd"),
        (r"(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]".to_owned(), "md"),
        (r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b".to_owned(), "ymd"),
        (r"(\d{1,2})\s*月份?".to_owned(), "m"),
        (format!(r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{month}(?:,?\s*(\d{{4}}))?\b"), "dmy"),
        (format!(r"(?i)\b{month}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s*(\d{{4}})\b)?"), "mdy"),
        (format!(r"(?i)\b{month},?\s+(?:of\s+)?(\d{{4}})\b"), "my"),
        (format!(r"(?i)\b(?:in|during|of|last|since|early|late|mid)[ -]{month}\b"), "m"),
        (
            r"(?i)\b(?:in|during|of|since|summer|winter|spring|fall|autumn)\s+((?:19|20)\d\d)\b".to_owned(),
            "y",
        ),
        (r"((?:19|20)\d\d)\s*年".to_owned(), "y"),
    ]
    .into_iter()
    .map(|(text, order)| (pattern(&text), order))
    .collect()
});

/// The dates a question names, and the question without them.
fn find_dates(text: &str) -> (Vec<PartialDate>, String) {
    let mut dates = Vec::new();
    let mut rest = text.to_owned();
    for (pattern, order) in DATES.iter() {
        rest = pattern
            .replace_all(&rest, |found: &Captures<'_>| {
                let mut date = PartialDate { year: None, month: None, day: None };
                for (part, group) in order.chars().zip(found.iter().skip(1)) {
                    let Some(text) = group.map(|group| group.as_str()) else { continue };
                    match part {
                        'y' => date.year = text.parse().ok(),
                        'd' => date.day = text.parse().ok(),
                        _ => date.month = month(text),
                    }
                }
                let possible = date.month.is_none_or(|m| (1..=12).contains(&m))
                    && date.day.is_none_or(|d| (1..=31).contains(&d))
                    && date != (PartialDate { year: None, month: None, day: None });
                if !possible {
                    return found[0].to_owned();
                }
                dates.push(date);
                " ".to_owned()
            })
            .into_owned();
    }
    (dates, rest)
}

fn month(text: &str) -> Option<i8> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let lower = text.to_lowercase();
    MONTHS.iter().position(|name| lower.starts_with(name)).map(|index| index as i8 + 1)
}

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
    fn dates_are_found_in_both_languages() {
        let date = |year, month, day| PartialDate { year, month, day };
        for (text, expected) in [
            ("what happened on 5 May 2023?", date(Some(2023), Some(5), Some(5))),
            ("on May 5th, 2023", date(Some(2023), Some(5), Some(5))),
            ("in March 2024", date(Some(2024), Some(3), None)),
            ("trips during August", date(None, Some(8), None)),
            ("2023年5月8日我做了什么", date(Some(2023), Some(5), Some(8))),
            ("5月8号", date(None, Some(5), Some(8))),
            ("2023-05-08", date(Some(2023), Some(5), Some(8))),
            ("去了哪里 2022年", date(Some(2022), None, None)),
            ("summer 2021", date(Some(2021), None, None)),
        ] {
            assert_eq!(find_dates(text).0, [expected], "{text}");
        }
        for text in ["may I come in?", "chapter 13月45日", "1999 bottles", "order 2023"] {
            assert_eq!(find_dates(text).0, [], "{text}");
        }
    }

    #[test]
    fn a_date_is_a_day_in_utc() {
        let micros = "2023-05-08T23:59:59Z".parse::<Timestamp>().expect("a time").as_micros();
        assert_eq!(civil(micros), (2023, 5, 8));
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
