//! The analyzer: text to terms, the same way for documents and for questions.
//!
//! Words are stemmed (English, ASCII only), numbers and identifiers stay whole and give
//! their parts as well, runs of Han, kana, Hangul and of the South-East Asian scripts
//! give overlapping pairs and single characters. The rules are in the order of the
//! code: normal form in `script`, token bounds in `scan`, questions in `query`.

use rust_stemmers::{Algorithm, Stemmer};

use super::query;
use super::scan::{Sink, scan};
use super::script::{Class, class, normalise};

/// Changes whenever the terms of a document change; an index of another version has to
/// be built again.
pub const ANALYZER_VERSION: u32 = 1;

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// A word of an alphabetic script, stemmed when ASCII.
    Word,
    /// A number: "2023", "3.5", "10:30", "5km".
    Number,
    /// A name with digits or symbols in it: "inc-90312", "user_id", "c++".
    Identifier,
    /// Two neighbouring characters of a script without (reliable) word boundaries.
    Bigram,
    /// One character of such a script.
    Unigram,
    /// An emoji.
    Emoji,
}

/// How a term of a question takes part in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Finds rows.
    Primary,
    /// Finds rows too, but is only a piece of an identifier that is itself a term.
    Part,
    /// Adds score to rows that another term found; finds none by itself.
    Secondary,
}

/// The terms of one document with their frequencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentTerms {
    text: String,
    /// End of each term in `text`, and how often the document has it. Sorted by term.
    terms: Vec<(u32, u32)>,
    length: u32,
}

impl DocumentTerms {
    /// The distinct terms in ascending order with their frequencies.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut start = 0;
        self.terms.iter().map(move |&(end, frequency)| {
            let term = &self.text[start..end as usize];
            start = end as usize;
            (term, frequency)
        })
    }

    /// The length of the document in tokens.
    ///
    /// Single characters of a run that has pairs, and the parts of an identifier, do not
    /// count: they are a second look at text that already counted, and counting them
    /// would make a Chinese document look twice as long as it is.
    pub fn length(&self) -> u32 {
        self.length
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// How many distinct terms there are.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// True when the document has no term.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// One term of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The term as the index has it.
    pub text: String,
    /// What the term is.
    pub kind: TermKind,
    /// How the term takes part in the search.
    pub role: Role,
    /// Multiplies the term's score; 1 for an ordinary term.
    pub weight: f32,
}

/// The terms of a question, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTerms {
    pub(super) question: Vec<char>,
    pub(super) terms: Vec<QueryTerm>,
}

impl QueryTerms {
    /// The terms in order of their first appearance.
    pub fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }

    /// True when no term can find a row: nothing to ask the text index.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| term.role == Role::Secondary)
    }

    /// The same question with these words taken out, as if they had not been asked:
    /// names of speakers, for instance. A word may have several parts ("Mary Jane") and
    /// may be in any script; one of a single Han character only goes where it stands alone.
    pub fn without(&self, words: &[&str]) -> QueryTerms {
        query::analyze(self.question.clone(), words)
    }
}

/// The terms of a document.
pub fn analyze_document(text: &str) -> DocumentTerms {
    let mut sink = DocumentSink::new();
    scan(&normalise(text), &mut sink);
    sink.finish()
}

/// The terms of a question. Function words are left out; when nothing else is there,
/// the result [is empty](QueryTerms::is_empty).
pub fn analyze_query(text: &str) -> QueryTerms {
    query::analyze(normalise(text), &[])
}

/// The English stemmer, for ASCII words only: it knows no other letters.
pub(super) struct English(Stemmer);

impl English {
    pub(super) fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    pub(super) fn stem<'a>(&self, word: &'a str) -> std::borrow::Cow<'a, str> {
        if word.is_ascii() { self.0.stem(word) } else { word.into() }
    }
}

/// Splits a run into its characters, each with the marks that follow it. More than a
/// few marks on one character are not writing; the rest is ignored to bound the token.
pub(super) fn run_elements(run: &[char], elements: &mut Vec<(usize, usize)>) {
    elements.clear();
    for (at, c) in run.iter().enumerate() {
        match elements.last_mut() {
            Some((start, end)) if class(*c) == Class::Mark => *end = (at + 1).min(*start + 5),
            _ => elements.push((at, at + 1)),
        }
    }
}

struct DocumentSink {
    stemmer: English,
    text: String,
    /// End of each occurrence in `text`.
    ends: Vec<usize>,
    elements: Vec<(usize, usize)>,
    length: u32,
}

impl DocumentSink {
    fn new() -> Self {
        Self {
            stemmer: English::new(),
            text: String::new(),
            ends: Vec::new(),
            elements: Vec::new(),
            length: 0,
        }
    }

    fn finish(self) -> DocumentTerms {
        let mut start = 0;
        let mut occurrences: Vec<&str> =
            self.ends.iter().map(|end| &self.text[std::mem::replace(&mut start, *end)..*end]).collect();
        occurrences.sort_unstable();
        let mut document = DocumentTerms { length: self.length, ..Default::default() };
        for same in occurrences.chunk_by(|a, b| a == b) {
            document.text.push_str(same[0]);
            document.terms.push((document.text.len() as u32, same.len() as u32));
        }
        document
    }
}

impl Sink for DocumentSink {
    fn word(&mut self, word: &str, part: bool) {
        self.text.push_str(&self.stemmer.stem(word));
        self.ends.push(self.text.len());
        self.length += u32::from(!part);
    }

    fn exact(&mut self, token: &str, _kind: TermKind, part: bool) {
        self.text.push_str(token);
        self.ends.push(self.text.len());
        self.length += u32::from(!part);
    }

    fn run(&mut self, run: &[char], _after_digit: bool) {
        run_elements(run, &mut self.elements);
        for (index, &(start, end)) in self.elements.iter().enumerate() {
            self.text.extend(&run[start..end]);
            self.ends.push(self.text.len());
            if let Some(&(next_start, next_end)) = self.elements.get(index + 1) {
                self.text.extend(&run[start..end]);
                self.text.extend(&run[next_start..next_end]);
                self.ends.push(self.text.len());
            }
        }
        self.length += self.elements.len().saturating_sub(1).max(1) as u32;
    }
}
