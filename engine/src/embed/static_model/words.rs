//! From text to the words that are cut into pieces.
//!
//! NFKC, lower case, letters, digits and apostrophes kept, everything else a word
//! boundary, and one more boundary wherever Han meets a Latin letter or an ASCII digit.
//! Every word is handed on with [`WORD_START`] in front of it, as it stands in the pieces.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The mark in front of every word, also inside the pieces that begin one.
pub(super) const WORD_START: char = '\u{2581}';

/// Calls `take` with each word of `text` in turn. `word` is scratch space.
pub(super) fn for_each_word(text: &str, word: &mut String, take: impl FnMut(&str)) {
    let mut splitter = Splitter { word, take, before: Class::Gap };
    splitter.word.clear();
    // Most English text needs neither table.
    if text.is_ascii() {
        text.bytes().for_each(|byte| splitter.push(char::from(byte.to_ascii_lowercase())));
    } else {
        text.nfkc().flat_map(char::to_lowercase).for_each(|character| splitter.push(character));
    }
    splitter.finish();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Han,
    /// `a` to `z` and `0` to `9`.
    Latin,
    Other,
}

struct Splitter<'a, Take> {
    word: &'a mut String,
    take: Take,
    before: Class,
}

impl<Take: FnMut(&str)> Splitter<'_, Take> {
    fn push(&mut self, character: char) {
        let class = class_of(character);
        let boundary = matches!(
            (self.before, class),
            (Class::Gap, _) | (_, Class::Gap) | (Class::Han, Class::Latin) | (Class::Latin, Class::Han)
        );
        if boundary {
            self.finish();
        }
        if class != Class::Gap {
            if self.word.is_empty() {
                self.word.push(WORD_START);
            }
            self.word.push(character);
        }
        self.before = class;
    }

    fn finish(&mut self) {
        if !self.word.is_empty() {
            (self.take)(self.word);
            self.word.clear();
        }
    }
}

fn class_of(character: char) -> Class {
    match character {
        'a'..='z' | '0'..='9' => Class::Latin,
        '\u{4e00}'..='\u{9fff}' => Class::Han,
        'A'..='Z' | '\'' => Class::Other,
        '\0'..='\u{7f}' => Class::Gap,
        _ if character.is_numeric() || is_letter(character) => Class::Other,
        _ => Class::Gap,
    }
}

/// General category L. The standard library only knows "alphabetic", which is L, the
/// letter numbers (a digit to us all the same), many marks and the circled letters.
fn is_letter(character: char) -> bool {
    character.is_alphabetic()
        && !is_combining_mark(character)
        && !matches!(character, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, &mut String::new(), |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_split_and_folded() {
        assert_eq!(words("Hello,  World!"), ["▁hello", "▁world"]);
        assert_eq!(words("我有2只Cat喜欢"), ["▁我有", "▁2", "▁只", "▁cat", "▁喜欢"]);
        assert_eq!(words("ＡＢＣ１２３，ﬁne"), ["▁abc123", "▁fine"]);
        assert_eq!(words("don't don\u{2019}t"), ["▁don't", "▁don", "▁t"]);
        assert_eq!(words("ΣΑΣ"), ["▁σασ"], "no final sigma: letters are folded one by one");
    }

    #[test]
    fn nothing_comes_of_nothing() {
        for text in ["", " \t\n", "🙂🙂", "\u{0}", "——", "▁"] {
            assert!(words(text).is_empty(), "{text:?}");
        }
    }
}
