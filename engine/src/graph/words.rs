//! Cutting a text into words that keep their places, each with what the lexicon knows of it.
//!
//! One pass over the characters; Chinese is cut at the longest words that the lexicon has,
//! what it does not have stays single characters. Phrases of the lexicon ("ice cream",
//! "how many") become one token.

use std::ops::Range;

use super::concept::ConceptSet;
use super::lexicon::{Entry, Lexicon, Tag, lexicon};
use super::script::fold;
use crate::index::text::is_emoji as is_pictograph;
use crate::judge::{is_han, is_kana};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word of a script that separates words.
    Word,
    /// `'s`, `'m` and the like after a word.
    Clitic,
    /// A Chinese word of the lexicon, or one character of any script without spaces.
    Han,
    /// Digits, with the marks inside of numbers, times and dates.
    Number,
    /// Letters and digits mixed: A1603, v2.3, 5km.
    Mixed,
    /// An e-mail or web address.
    Contact,
    /// The end of a sentence or line.
    End,
    /// Any other mark.
    Mark,
    /// An emoji or pictograph.
    Pictograph,
}

/// One token.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    start: u32,
    end: u32,
    key: (u32, u32),
    /// First of its sentence.
    pub(super) starts: bool,
    /// Nothing or a hyphen or another inner mark between it and the one before.
    pub(super) glued: bool,
    /// Begins with a capital letter.
    pub(super) capital: bool,
    /// More capitals than one and no small letter.
    pub(super) upper: bool,
    pub(super) entry: Entry,
}

impl Token {
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn has(&self, tag: Tag) -> bool {
        self.entry.tags.intersects(tag)
    }

    /// Names count as such with a capital only: Turkey, not turkey.
    pub(super) fn concepts(&self) -> ConceptSet {
        if self.capital || self.kind == TokenKind::Han {
            self.entry.concepts.union(self.entry.proper)
        } else {
            self.entry.concepts
        }
    }

    pub(super) fn common_concepts(&self) -> ConceptSet {
        self.entry.concepts
    }

    /// True for a place of the lists.
    pub(super) fn is_place(&self) -> bool {
        self.has(Tag::PLACE) && (self.capital || self.kind == TokenKind::Han)
    }

    /// True for what stands for content: words, numbers, addresses.
    pub(super) fn is_content(&self) -> bool {
        !matches!(self.kind, TokenKind::End | TokenKind::Mark | TokenKind::Pictograph)
    }
}

/// A text that has been read.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    folded: String,
    tokens: Vec<Token>,
    /// Any Japanese syllable: Chinese rules do not hold.
    pub(super) japanese: bool,
    /// Comparisons and steps made, for the tests of the bound of costs.
    #[cfg(test)]
    pub(super) steps: usize,
}

impl<'a> Words<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let mut reader = Reader {
            text,
            lexicon: lexicon(),
            folded: String::with_capacity(text.len() + 8),
            tokens: Vec::with_capacity(text.len() / 4 + 4),
            starts: true,
            steps: 0,
        };
        reader.read();
        let mut tokens = reader.tokens;
        merge_phrases(reader.lexicon, &reader.folded, &mut tokens, &mut reader.steps);
        Self {
            text,
            folded: reader.folded,
            tokens,
            japanese: text.chars().any(is_kana),
            #[cfg(test)]
            steps: reader.steps,
        }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The token in lower case and usual forms of characters.
    pub(super) fn key(&self, token: &Token) -> &str {
        &self.folded[token.key.0 as usize..token.key.1 as usize]
    }

    /// The keys from a token on, with one space between them.
    pub(super) fn folded_from(&self, token: &Token) -> &str {
        &self.folded[token.key.0 as usize..]
    }

    /// The token that ends where the keys from a token on have a length.
    pub(super) fn token_ending(&self, from: usize, length: usize) -> Option<usize> {
        let end = self.tokens[from].key.0 as usize + length;
        let rest = &self.tokens[from..];
        let place = rest.partition_point(|token| (token.key.1 as usize) < end);
        rest.get(place).filter(|token| token.key.1 as usize == end).map(|_| from + place)
    }

    /// The key of the token at a place, empty beyond either end.
    pub(super) fn key_at(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| self.key(token))
    }

    pub(super) fn source(&self, token: &Token) -> &'a str {
        &self.text[token.range()]
    }
}

struct Reader<'a> {
    text: &'a str,
    lexicon: &'static Lexicon,
    folded: String,
    tokens: Vec<Token>,
    starts: bool,
    steps: usize,
}

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "st", "prof", "vs", "etc", "no", "inc", "ltd", "co", "corp", "jr", "sr",
    "approx", "e", "i", "g",
];

fn is_letter(c: char) -> bool {
    (c.is_alphabetic() && !is_han(c) && !is_kana(c)) || unicode_normalization::char::is_combining_mark(c)
}

impl Reader<'_> {
    fn read(&mut self) {
        let text = self.text;
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            self.steps += 1;
            let folded = fold(character);
            let next = at + character.len_utf8();
            if is_han(character) || is_kana(character) {
                at = self.han(at);
            } else if is_letter(folded) || folded.is_numeric() {
                at = self.chunk(at);
            } else if character.is_whitespace() || is_invisible(character) {
                if character == '\n' {
                    self.end(at, next);
                }
                at = next;
            } else if matches!(folded, '-' | '_' | '/' | '.') && self.joins(at, next) {
                at = next;
            } else if matches!(folded, '.' | '!' | '?' | ';' | '。' | '…') {
                let dotted = folded == '.' && self.is_abbreviated(at);
                if dotted {
                    self.push(TokenKind::Mark, at, next);
                } else {
                    self.end(at, next);
                }
                at = next;
            } else {
                let kind = if is_pictograph(character) { TokenKind::Pictograph } else { TokenKind::Mark };
                self.push(kind, at, next);
                at = next;
            }
        }
    }

    /// A mark inside of what hangs together: INC-90312, mother-in-law, a.b.
    fn joins(&self, at: usize, next: usize) -> bool {
        let word =
            |token: &Token| matches!(token.kind, TokenKind::Word | TokenKind::Number | TokenKind::Mixed);
        let after = self.text[next..].chars().next();
        let dotted = self.text[at..next].starts_with(['.', '．']);
        self.tokens.last().is_some_and(|last| last.end as usize == at && word(last))
            && next - at == 1
            && after.is_some_and(|c| {
                if dotted { c.is_lowercase() || c.is_ascii_digit() } else { is_letter(c) || c.is_numeric() }
            })
    }

    /// A full stop that follows an abbreviation or an initial at once.
    fn is_abbreviated(&self, at: usize) -> bool {
        let Some(last) = self.tokens.last().filter(|last| last.end as usize == at) else { return false };
        if last.kind != TokenKind::Word {
            return false;
        }
        let key = &self.folded[last.key.0 as usize..last.key.1 as usize];
        (ABBREVIATIONS.contains(&key) && key != "no")
            || (last.capital && key != "i" && self.text[last.range()].chars().nth(1).is_none())
    }

    fn end(&mut self, start: usize, end: usize) {
        self.push(TokenKind::End, start, end);
        self.starts = true;
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        let from = self.folded.len();
        let source = &self.text[start..end];
        let mut uppers = 0;
        let mut lowers = 0;
        for character in source.chars() {
            let folded = fold(character);
            uppers += usize::from(folded.is_uppercase());
            lowers += usize::from(folded.is_lowercase());
            self.folded.extend(folded.to_lowercase());
        }
        let to = self.folded.len();
        // Phrases are compared with one space between their words.
        self.folded.push(' ');
        let capital =
            kind != TokenKind::Clitic && source.chars().next().is_some_and(|c| fold(c).is_uppercase());
        let glued = self.tokens.last().is_some_and(|last| {
            let last_end = last.end as usize;
            last_end == start
                || (start - last_end == 1
                    && matches!(self.text.as_bytes()[last_end], b'-' | b'_' | b'/' | b'.'))
        });
        let starts = self.starts && !matches!(kind, TokenKind::Mark | TokenKind::Pictograph | TokenKind::End);
        if starts {
            self.starts = false;
        }
        self.tokens.push(Token {
            kind,
            start: start as u32,
            end: end as u32,
            key: (from as u32, to as u32),
            starts,
            glued,
            capital,
            upper: uppers > 1 && lowers == 0,
            entry: Entry::default(),
        });
    }

    /// A run of characters without spaces: the longest word of the lexicon at each place.
    fn han(&mut self, start: usize) -> usize {
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !is_han(c) && !is_kana(c)).unwrap_or(rest.len());
        let run: String = rest[..length].chars().map(fold).collect();
        // Folding keeps the length of each character of these scripts, or the run is cut
        // into single characters.
        let same = run.len() == length;
        let mut at = 0;
        while let Some(character) = rest[at..length].chars().next() {
            let word = if same { self.lexicon.han_prefix(&run[at..], &mut self.steps) } else { None };
            let (size, entry) = word.unwrap_or((character.len_utf8(), Entry::default()));
            self.push(TokenKind::Han, start + at, start + at + size);
            if let Some(token) = self.tokens.last_mut() {
                token.entry = entry;
            }
            at += size;
        }
        start + length
    }

    /// Letters and digits with the marks inside of them, up to white space.
    fn chunk(&mut self, start: usize) -> usize {
        let rest = &self.text[start..];
        if let Some(length) = address(rest, &mut self.steps) {
            self.push(TokenKind::Contact, start, start + length);
            return start + length;
        }
        let mut end = 0;
        let (mut letters, mut digits) = (false, false);
        let mut apostrophe = None;
        let mut characters = rest.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            self.steps += 1;
            let folded = fold(character);
            let next = characters.peek().map(|(_, next)| fold(*next));
            if folded.is_numeric() {
                digits = true;
            } else if is_letter(folded) {
                letters = true;
            } else if folded == '\'' {
                if digits || apostrophe.is_some() || !next.is_some_and(is_letter) {
                    break;
                }
                apostrophe = Some(at);
            } else if matches!(folded, '.' | ',' | ':' | '/' | '-') {
                // Inside of numbers and versions only; a hyphen also in A-1603.
                let joins = digits
                    && next.is_some_and(|next| next.is_ascii_digit())
                    && rest[..at].ends_with(|c: char| fold(c).is_ascii_digit());
                if !joins {
                    break;
                }
            } else if !(folded == '_' && next.is_some_and(char::is_alphanumeric)) {
                break;
            }
            end = at + character.len_utf8();
        }
        let kind = match (letters, digits) {
            (true, true) => TokenKind::Mixed,
            (false, true) => TokenKind::Number,
            _ => TokenKind::Word,
        };
        match apostrophe {
            Some(at) if at > 0 && is_clitic(&rest[at..end]) => {
                self.push(kind, start, start + at);
                self.push(TokenKind::Clitic, start + at, start + end);
            }
            _ => self.push(kind, start, start + end),
        }
        start + end.max(rest.chars().next().map_or(1, char::len_utf8))
    }
}

/// True for what follows a word with an apostrophe, which is its first character.
fn is_clitic(ending: &str) -> bool {
    let letters = ending.trim_start_matches(['\'', '’', 'ʼ', '＇', '‘']);
    ["s", "m", "re", "ve", "ll", "d"].iter().any(|clitic| letters.eq_ignore_ascii_case(clitic))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{fe0f}' | '\u{feff}')
}

/// The length of the e-mail or web address that a chunk begins with. A chunk may be read
/// again at each of its parts, so no more than a constant is looked at before it is one.
fn address(rest: &str, steps: &mut usize) -> Option<usize> {
    *steps += 1;
    let bytes = rest.as_bytes();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b".@:/_-+%?&=#~,;!".contains(byte);
    if ["http://", "https://", "ftp://", "www."].iter().any(|start| rest.starts_with(start)) {
        let length = bytes.iter().take_while(is_part).count();
        *steps += length;
        let chunk = rest[..length].trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '/');
        return (chunk.len() > 8).then_some(chunk.len());
    }
    // No word of letters alone is one; most words are told here.
    let user = bytes
        .iter()
        .take(64)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(byte))
        .count();
    *steps += user;
    if bytes.get(user) != Some(&b'@') {
        return None;
    }
    let host = &rest[user + 1..];
    let length = host
        .bytes()
        .take(255)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte))
        .count();
    *steps += length;
    let host = host[..length].trim_end_matches(['.', '-']);
    let (name, zone) = host.rsplit_once('.')?;
    (!name.is_empty() && zone.len() >= 2).then_some(user + 1 + host.len())
}

/// Looks every word up and puts the words of a phrase together.
fn merge_phrases(lexicon: &Lexicon, folded: &str, tokens: &mut Vec<Token>, steps: &mut usize) {
    let mut kept = 0;
    let mut at = 0;
    while at < tokens.len() {
        let mut taken = 1;
        let token = &tokens[at];
        let mut merged = token.clone();
        if matches!(token.kind, TokenKind::Word | TokenKind::Clitic | TokenKind::Mixed) {
            let key = |token: &Token| &folded[token.key.0 as usize..token.key.1 as usize];
            let following = tokens[at + 1..].iter().map(|token| match token.kind {
                TokenKind::Word | TokenKind::Clitic => key(token),
                _ => "",
            });
            let (count, entry) = lexicon.word(key(token), following, steps);
            taken = count;
            let last = &tokens[at + taken - 1];
            merged.end = last.end;
            merged.entry = entry;
            if taken > 1 {
                merged.key.1 = last.key.1;
                merged.upper = false;
            }
        }
        tokens[kept] = merged;
        kept += 1;
        at += taken;
    }
    tokens.truncate(kept);
}
