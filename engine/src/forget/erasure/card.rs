//! Which fingerprints stand for a card: few, of all its texts, the rarest tokens first.

use std::cmp::Reverse;

use crate::forget::erasure::fingerprint::{Coverage, Fingerprint, Fingerprints, is_distinct, window_within};
use crate::forget::erasure::key::Key;

/// How many fingerprints are enough for a card.
pub(crate) const PER_CARD: usize = 8;

/// The shortest token with a digit in it that is rare enough, in bytes.
const MIN_TOKEN: usize = 8;

/// The shortest token of letters only that is rare enough, in bytes.
const MIN_WORD: usize = 12;

/// What stemming cuts off at most words ("-s", "-ed", "-ies", "-ing"), in bytes.
const ENDING: usize = 3;

/// Collects the texts of a card and chooses its fingerprints.
#[derive(Debug)]
pub(crate) struct CardFingerprints<'k> {
    key: &'k Key,
    coverage: Coverage,
    content: Vec<Fingerprint>,
    /// Of tokens, each with how rare it looks.
    tokens: Vec<(u32, Fingerprint)>,
    /// Of other texts, each with which of the text's windows it is.
    others: Vec<(usize, Fingerprint)>,
}

impl<'k> CardFingerprints<'k> {
    /// Starts with the content, whose coverage is the card's.
    pub(crate) fn new(content: &str, key: &'k Key) -> Self {
        let Fingerprints { list, coverage } = Fingerprints::of(content, key);
        let mut card = Self { key, coverage, content: list, tokens: Vec::new(), others: Vec::new() };
        card.add_tokens(content);
        card
    }

    /// Adds another text: earlier content, a summary, a fact's value, a tag, an entity, the
    /// name of a speaker. What is too short is passed over.
    pub(crate) fn add(&mut self, text: &str) -> &mut Self {
        self.others.extend(Fingerprints::of(text, self.key).list.into_iter().enumerate());
        self.add_tokens(text);
        self
    }

    fn add_tokens(&mut self, text: &str) {
        for token in tokens(text) {
            let rarity = rarity(token);
            self.tokens.extend(of_token(token, self.key).into_iter().map(|found| (rarity, found)));
        }
    }

    /// At most `limit` fingerprints, each once. The content's come first, then the rarest
    /// token and one window of every other text in turns, then the rest.
    pub(crate) fn finish(mut self, limit: usize) -> Fingerprints {
        // Stable: of equally rare tokens the first one counts.
        self.tokens.sort_by_key(|(rarity, _)| Reverse(*rarity));
        self.others.sort_by_key(|(window, _)| *window);
        let mut tokens = self.tokens.into_iter().map(|(_, fingerprint)| fingerprint);
        let mut others = self.others.into_iter().map(|(_, fingerprint)| fingerprint);
        let mut list: Vec<Fingerprint> = Vec::new();
        let mut take = |fingerprint: Option<Fingerprint>| match fingerprint {
            Some(fingerprint) if list.len() < limit && !list.contains(&fingerprint) => list.push(fingerprint),
            _ => {}
        };
        self.content.into_iter().for_each(|fingerprint| take(Some(fingerprint)));
        loop {
            // A token has two forms as a rule, which belong together.
            let turn = [tokens.next(), tokens.next(), others.next()];
            if turn == [None; 3] {
                break;
            }
            turn.into_iter().for_each(&mut take);
        }
        // Of a short content with a long summary the summary can still be told.
        Fingerprints { list, coverage: self.coverage }
    }
}

/// The fingerprints of an identifier-like token, as written and in lower case: text indexes
/// keep the latter. None for a token that is not special enough.
///
/// It is one window, at the token's end, where identifiers differ more than at their start.
/// Of a plain word the lower-case form goes without its ending, which stemming may change.
pub(crate) fn of_token(token: &str, key: &Key) -> Vec<Fingerprint> {
    if rarity(token) == 0 {
        return Vec::new();
    }
    let lower = token.to_lowercase();
    let lower = match lower.as_bytes() {
        word if is_plain(token) => &word[..word.len() - ENDING],
        token => token,
    };
    let mut list: Vec<Fingerprint> = Vec::new();
    for form in [lower, token.as_bytes()] {
        let window = window_within(form.len()).map(|length| &form[form.len() - length..]);
        let fingerprint = window
            .filter(|window| window.len() >= MIN_TOKEN && is_distinct(window))
            .map(|window| Fingerprint::of_window(window, key))
            .filter(|fingerprint| !list.contains(fingerprint));
        list.extend(fingerprint);
    }
    list
}

/// How rare a token looks; 0 for one that is not special.
fn rarity(token: &str) -> u32 {
    let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = token.chars().any(char::is_alphabetic);
    let has_joiner = token.contains(is_joiner);
    let least = if has_digit || has_joiner { MIN_TOKEN } else { MIN_WORD };
    if token.len() < least {
        return 0;
    }
    // Digits among letters make a code, digits alone often a date; a joiner makes an address
    // or a name of a program. Length decides between equals.
    let kind = match (has_digit, has_letter, has_joiner) {
        (true, true, _) => 4,
        (_, true, true) => 3,
        (true, false, _) => 2,
        _ => 1,
    };
    kind * 256 + token.len().min(255) as u32
}

/// True for a word of ASCII letters only: the kind that is stemmed.
fn is_plain(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Characters that hold the pieces of an identifier together.
fn is_joiner(character: char) -> bool {
    matches!(character, '-' | '_' | '.' | '@' | '&')
}

/// The pieces of a text between blanks and signs; signs inside of identifiers stay.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !is_letter(character) && !is_joiner(character))
        .map(|token| token.trim_matches(is_joiner))
        .filter(|token| token.len() >= MIN_TOKEN)
}

/// Letters and digits of scripts that put blanks between words; a run of any other script is
/// a sentence, not a token.
fn is_letter(character: char) -> bool {
    character.is_alphanumeric() && matches!(character, ..'\u{e00}' | '\u{1e00}'..'\u{2000}')
}
