//! The form of a text in which exact duplicates are compared.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use xxhash_rust::xxh3::xxh3_128;

/// Characters whose compatibility form would change the meaning: 10⁵ is not 105, and 1½
/// is not 11⁄2.
fn keeps_its_form(character: char) -> bool {
    matches!(character,
        '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{bc}'..='\u{be}'
        | '\u{2070}'..='\u{209f}' | '\u{2150}'..='\u{215f}' | '\u{2189}'
        | '\u{2460}'..='\u{24ff}')
}

/// NFKC, apart from the characters that must keep their form.
pub(super) fn compatible(text: &str) -> Cow<'_, str> {
    // Most texts are in this form already; telling so is far cheaper than making it.
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut start = 0;
    for (at, character) in text.char_indices() {
        if keeps_its_form(character) {
            out.extend(text[start..at].nfkc());
            out.push(character);
            start = at + character.len_utf8();
        }
    }
    out.extend(text[start..].nfkc());
    out.into()
}

/// Chinese characters, which are written without spaces.
pub(crate) fn is_han(character: char) -> bool {
    matches!(character,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' | '々' | '〇')
}

/// Japanese syllables: a text with any of them is not read as Chinese.
pub(crate) fn is_kana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30ff}')
}

/// Capitals all through are emphasis, not identifiers, when nothing else is there.
pub(super) fn is_shouted(text: &str) -> bool {
    !text.chars().any(char::is_lowercase)
        && text
            .split_whitespace()
            .filter(|chunk| chunk.chars().filter(|c| c.is_uppercase()).count() > 1)
            .count()
            > 2
}

/// Case matters in what looks like an identifier, an abbreviation or a unit of measure
/// (`fooBar`, `a.B`, US, 5 M against 5 m); it does not in an ordinary word.
fn fold_case(chunk: &str, after_number: bool, shouted: bool, out: &mut String) {
    let is_edge =
        |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '\\' | '@' | '#' | '$' | '+' | '*');
    let core = chunk.trim_matches(is_edge);
    let plain = core.chars().all(|c| {
        (c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
            || unicode_normalization::char::is_combining_mark(c)
    });
    let inner_capital = core.chars().skip(1).any(char::is_uppercase);
    let capital_part = core.split('-').any(|part| part.chars().skip(1).any(char::is_uppercase));
    if plain && !after_number && (shouted || !inner_capital || !capital_part) {
        out.extend(chunk.chars().flat_map(char::to_lowercase));
    } else {
        out.push_str(chunk);
    }
}

/// A text with everything removed that does not make it another text: width and
/// composition of characters, runs of white space, case of ordinary words, the full stop
/// or exclamation mark at its end.
pub(crate) fn normalized(text: &str) -> String {
    let text = compatible(text);
    let shouted = is_shouted(&text);
    let mut out = String::with_capacity(text.len());
    let mut chunk = String::new();
    let mut space = false;
    let mut after_number = false;
    let flush = |chunk: &mut String, out: &mut String, after_number: &mut bool| {
        if !chunk.is_empty() {
            fold_case(chunk, *after_number, shouted, out);
            *after_number = chunk.chars().next_back().is_some_and(char::is_numeric);
            chunk.clear();
        }
    };
    for character in text.chars() {
        if character.is_whitespace() {
            flush(&mut chunk, &mut out, &mut after_number);
            space = true;
            continue;
        }
        if is_han(character) {
            flush(&mut chunk, &mut out, &mut after_number);
            after_number = false;
        }
        if space {
            space = false;
            if out.chars().next_back().is_some_and(|last| !joins(last, character)) {
                out.push(' ');
            }
        }
        if is_han(character) {
            out.push(character);
        } else {
            chunk.push(character);
        }
    }
    flush(&mut chunk, &mut out, &mut after_number);
    let kept = without_final_stop(&out).len();
    out.truncate(kept);
    out
}

/// A space between a Chinese character and a Latin one is typography only.
fn joins(last: char, next: char) -> bool {
    (is_han(last) && next.is_ascii_alphanumeric()) || (last.is_ascii_alphanumeric() && is_han(next))
}

fn without_final_stop(text: &str) -> &str {
    let stripped = text.trim_end_matches(['.', '!', '。']);
    match stripped.chars().next_back() {
        // `..`, `cd ..`: the dots are content.
        None => text,
        Some(last) if last.is_whitespace() => text,
        // 5! is not 5.
        Some(last) if last.is_numeric() && text[stripped.len()..].starts_with('!') => text,
        Some(_) => stripped,
    }
}

/// The form of a name under which the same name meets: width and composition of characters,
/// case and runs of white space make no other name.
pub(crate) fn name_key(name: &str) -> String {
    let name = compatible(name);
    let mut key = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.extend(word.chars().flat_map(char::to_lowercase));
    }
    key
}

/// The hash under which exact duplicates meet.
///
/// Equal for texts that differ only in Unicode composition, character width, runs of
/// white space, the case of ordinary words, or the final full stop or exclamation mark.
/// Everything else counts: numbers, negations, symbols, question marks, and the case of
/// identifiers and abbreviations.
///
/// ```
/// use memcards::judge::normalized_hash;
///
/// assert_eq!(normalized_hash("Tea is  ready."), normalized_hash("tea is ready"));
/// assert_ne!(normalized_hash("C++"), normalized_hash("C"));
/// assert_ne!(normalized_hash("contact US"), normalized_hash("contact us"));
/// ```
#[must_use]
pub fn normalized_hash(text: &str) -> u128 {
    xxh3_128(normalized(text).as_bytes())
}
