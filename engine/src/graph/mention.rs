//! The names in a text: of people, organisations, places, products, identifiers, titles.

use std::collections::HashMap;
use std::ops::Range;

use super::lexicon::Tag;
use super::script::fold;
use super::words::{Token, TokenKind, Words};
use super::{chinese, latin};
use crate::judge::is_han;

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A person.
    Person,
    /// A company, school, hospital or the like.
    Organisation,
    /// A city, country, street or the like.
    Place,
    /// A product.
    Product,
    /// An order number, model number, version or ticket.
    Identifier,
    /// A title in quotes or 《》.
    Title,
    /// An e-mail or web address.
    Contact,
    /// A name of unknown kind.
    Other,
}

/// A name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// The name: as known where it is known, else as written.
    pub name: String,
    /// What it names.
    pub kind: Kind,
}

/// Longer names are not looked for.
const LONGEST: usize = 128;

/// The names that the caller knows.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<(String, Kind)>,
    /// By the form in which names are compared.
    forms: HashMap<String, u32>,
    /// The lengths of the forms that begin with a word or a Chinese character, longest first.
    lengths: HashMap<String, Vec<u8>>,
}

impl Names {
    /// No names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name, to be found in any case as a whole word. A single Chinese character, and
    /// more than 128 bytes, are no name. Of the same name the first kind stays.
    pub fn add(&mut self, name: &str, kind: Kind) {
        let name = name.trim();
        let form = form(name);
        let Some(first) = form.chars().next() else { return };
        if form.len() > LONGEST
            || (is_han(first) && form.chars().nth(1).is_none())
            || self.forms.contains_key(&form)
        {
            return;
        }
        let head = head(&form);
        let lengths = self.lengths.entry(head.to_owned()).or_default();
        let length = u8::try_from(form.len()).unwrap_or(u8::MAX);
        if let Err(at) = lengths.binary_search_by(|known| length.cmp(known)) {
            lengths.insert(at, length);
        }
        self.forms.insert(form, u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push((name.to_owned(), kind));
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The longest name that a text begins with, where `ends` allows its end.
    fn longest(&self, text: &str, ends: impl Fn(usize) -> bool) -> Option<(usize, u32)> {
        let lengths = self.lengths.get(head(text))?;
        lengths.iter().find_map(|length| {
            let length = usize::from(*length);
            let name = self.forms.get(text.get(..length)?)?;
            ends(length).then_some((length, *name))
        })
    }
}

impl<N: AsRef<str>> FromIterator<(N, Kind)> for Names {
    fn from_iter<I: IntoIterator<Item = (N, Kind)>>(names: I) -> Self {
        let mut all = Self::new();
        for (name, kind) in names {
            all.add(name.as_ref(), kind);
        }
        all
    }
}

/// The form of a name: as the words of a text are put side by side, or plain characters
/// where it begins with a Chinese one.
fn form(name: &str) -> String {
    if name.starts_with(is_han) {
        return plain(name);
    }
    let words = Words::read(name);
    let parts: Vec<&str> = words.tokens().iter().map(|token| words.key(token)).collect();
    parts.join(" ")
}

/// One character for one, none of another length, so that places hold.
fn plain(text: &str) -> String {
    let same = |character: char| {
        let folded = fold(character).to_ascii_lowercase();
        if folded.len_utf8() == character.len_utf8() { folded } else { character }
    };
    text.chars().map(same).collect()
}

/// The first word, or the first Chinese character.
fn head(form: &str) -> &str {
    match form.chars().next() {
        Some(first) if is_han(first) => &form[..first.len_utf8()],
        _ => form.split(' ').next().unwrap_or_default(),
    }
}

/// The names in a text, in order, none within another.
///
/// Known names are found in any case as whole words, the longest first; others by rules that
/// would rather miss a name than make one up.
///
/// ```
/// use memcards::graph::{Kind, Names, mentions};
///
/// let names = Names::from_iter([("anna", Kind::Person)]);
/// let found = mentions("ANNA read 《三体》 in Berlin", &names);
/// let found: Vec<_> = found.iter().map(|mention| (mention.name.as_str(), mention.kind)).collect();
/// assert_eq!(found, [("anna", Kind::Person), ("三体", Kind::Title), ("Berlin", Kind::Place)]);
/// ```
#[must_use]
pub fn mentions(text: &str, names: &Names) -> Vec<Mention> {
    found(&Words::read(text), names)
}

pub(super) fn found(words: &Words<'_>, names: &Names) -> Vec<Mention> {
    let tokens = words.tokens();
    let known = known(words, names);
    let mut finder = Finder { words, shouted: is_shouted(tokens), covered: Vec::new() };
    finder.covered = cover(tokens, &known);
    let mut all = Vec::new();
    let mut known = known.into_iter().peekable();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some(mention) = known.peek()
            && mention.range.start < token.range().end
        {
            let end = mention.range.end;
            all.extend(known.next());
            while tokens.get(at).is_some_and(|token| token.range().end <= end) {
                at += 1;
            }
            continue;
        }
        if finder.covered[at] {
            at += 1;
            continue;
        }
        let mention = finder.contact(at).or_else(|| finder.quoted(at)).or_else(|| {
            if token.kind == TokenKind::Han { chinese::find(&finder, at) } else { latin::find(&finder, at) }
        });
        if let Some((end, name, kind)) = mention {
            let end = end.max(at + 1);
            let range = finder.span(at, end);
            let name = name.unwrap_or_else(|| words.text()[range.clone()].to_owned());
            let mut mention = Mention { range, name, kind };
            // Known names within a title give way to it, unless one is the whole title.
            while let Some(inner) = known.next_if(|known| known.range.start < mention.range.end) {
                if mention.kind == Kind::Title && words.text()[inner.range.clone()] == mention.name {
                    (mention.name, mention.kind) = (inner.name, inner.kind);
                }
            }
            all.push(mention);
            at = end;
        } else {
            at += 1;
        }
    }
    all.extend(known);
    all
}

/// The names that are known, in order, none within another.
fn known(words: &Words<'_>, names: &Names) -> Vec<Mention> {
    let mut all: Vec<Mention> = Vec::new();
    if names.is_empty() {
        return all;
    }
    let text = words.text();
    let flat = if text.is_ascii() { String::new() } else { plain(text) };
    let mut free = 0;
    for (at, token) in words.tokens().iter().enumerate() {
        let range = token.range();
        if token.kind == TokenKind::Han {
            for (offset, _) in words.source(token).char_indices() {
                let start = range.start + offset;
                if start < free {
                    continue;
                }
                let ends = |length: usize| {
                    let end = start + length;
                    let inside = |c: char| c.is_alphanumeric() && !is_han(c);
                    !(flat[..end].ends_with(inside) && flat[end..].starts_with(inside))
                };
                if let Some((length, name)) = names.longest(&flat[start..], ends) {
                    let (name, kind) = &names.names[name as usize];
                    free = start + length;
                    all.push(Mention { range: start..free, name: name.clone(), kind: *kind });
                }
            }
        } else if range.start >= free && (token.is_content() || token.kind == TokenKind::Mark) {
            let mut last = at;
            let end_of = |length: usize| words.token_ending(at, length);
            let ends = |length: usize| end_of(length).is_some();
            if let Some((length, name)) = names.longest(words.folded_from(token), ends) {
                last = end_of(length).unwrap_or(last);
                // A name that is a common word too needs its capital, and not by its place only.
                let common = last == at && token.has(Tag::STOP) && (!token.capital || token.starts);
                if !common {
                    let (name, kind) = &names.names[name as usize];
                    free = words.tokens()[last].range().end;
                    all.push(Mention { range: range.start..free, name: name.clone(), kind: *kind });
                }
            }
        }
    }
    all
}

/// Which tokens belong to a known name, at least in part.
fn cover(tokens: &[Token], known: &[Mention]) -> Vec<bool> {
    let mut covered = vec![false; tokens.len()];
    let mut next = known.iter().peekable();
    for (token, covered) in tokens.iter().zip(&mut covered) {
        while next.next_if(|mention| mention.range.end <= token.range().start).is_some() {}
        *covered = next.peek().is_some_and(|mention| mention.range.start < token.range().end);
    }
    covered
}

/// Capitals in most words say nothing of names.
fn is_shouted(tokens: &[Token]) -> bool {
    let (mut words, mut upper) = (0_usize, 0_usize);
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Word) {
        words += 1;
        upper += usize::from(token.upper);
    }
    upper > 3 && upper * 2 > words
}

/// Where a name ends (the token after it), what it is called if not as written, its kind.
pub(super) type Found = Option<(usize, Option<String>, Kind)>;

/// A text in which names are looked for.
pub(super) struct Finder<'w, 'a> {
    pub(super) words: &'w Words<'a>,
    pub(super) shouted: bool,
    covered: Vec<bool>,
}

impl Finder<'_, '_> {
    /// The token at a place, unless a known name has it.
    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.words.tokens().get(at).filter(|_| !self.covered[at])
    }

    pub(super) fn key(&self, at: usize) -> &str {
        self.token(at).map_or("", |token| self.words.key(token))
    }

    /// The token before a place, known or not.
    pub(super) fn before(&self, at: usize) -> Option<&Token> {
        self.words.tokens().get(at.checked_sub(1)?)
    }

    /// The bytes of the tokens from one place to before another.
    fn span(&self, from: usize, to: usize) -> Range<usize> {
        let tokens = self.words.tokens();
        tokens[from].range().start..tokens[to - 1].range().end
    }

    fn contact(&self, at: usize) -> Found {
        (self.token(at)?.kind == TokenKind::Contact).then_some((at + 1, None, Kind::Contact))
    }

    /// A title in quotes: any in 《》, a short one in title case in other quotes.
    fn quoted(&self, at: usize) -> Found {
        let token = self.token(at)?;
        if token.kind != TokenKind::Mark {
            return None;
        }
        let source = self.words.source(token);
        let (close, sure) = match source {
            "《" => ("》", true),
            "「" => ("」", false),
            "『" => ("』", false),
            "“" => ("”", false),
            "\"" => ("\"", false),
            _ => return None,
        };
        let tokens = self.words.tokens();
        let inner = &tokens[at + 1..tokens.len().min(at + if sure { 40 } else { 24 })];
        let length = inner.iter().position(|token| self.words.source(token) == close)?;
        let inner = &inner[..length];
        let first = inner.first()?;
        if !sure && !self.is_title(inner) {
            return None;
        }
        let range = first.range().start..inner.last()?.range().end;
        let title = self.words.text()[range].trim();
        // Marks in brackets are no title.
        title.contains(char::is_alphanumeric).then(|| (at + length + 2, Some(title.to_owned()), Kind::Title))
    }

    fn is_title(&self, inner: &[Token]) -> bool {
        let (mut latin, mut han, mut capitals) = (0_usize, 0_usize, 0_usize);
        let (mut content, mut small_letters) = (false, false);
        for (at, token) in inner.iter().enumerate() {
            match token.kind {
                TokenKind::End if at + 1 < inner.len() || self.words.key(token) == "." => return false,
                TokenKind::Word | TokenKind::Mixed => {
                    let small = token.has(Tag::STOP) && at > 0;
                    latin += usize::from(!small);
                    capitals += usize::from(token.capital && !small);
                    content |= !token.has(Tag::STOP);
                    small_letters |= !token.capital;
                }
                TokenKind::Han => {
                    han += self.words.key(token).chars().count();
                    if token.has(Tag::FIRST | Tag::SECOND | Tag::SMALL_TALK | Tag::ASKS) {
                        return false;
                    }
                }
                TokenKind::Mark if matches!(self.words.key(token), "," | "，" | "、") && han > 0 => {
                    return false;
                }
                _ => {}
            }
        }
        let small_talk = inner.iter().all(|token| token.has(Tag::SMALL_TALK) || !token.is_content());
        if small_talk {
            return false;
        }
        (latin > 0 && latin == capitals && (content || !small_letters) && inner.len() <= 10 && han == 0)
            || (latin == 0 && (2..=10).contains(&han))
    }
}
