//! Normal form of text and the class of a character, by code-point ranges.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What a character is to the analyzer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A letter of a script that separates its words.
    Letter,
    /// An ASCII digit (others are folded to ASCII by [`normalise`]).
    Digit,
    /// A combining mark that did not compose; belongs to what precedes it.
    Mark,
    /// A character of a script that is indexed by pairs: Han, kana, Hangul, and the
    /// scripts of South-East Asia that write no spaces.
    Run,
    /// An emoji or pictograph.
    Emoji,
    /// Everything else; separates.
    Other,
}

/// The class of a normalised character.
pub(super) fn class(c: char) -> Class {
    if c.is_ascii() {
        return match c {
            'a'..='z' | 'A'..='Z' => Class::Letter,
            '0'..='9' => Class::Digit,
            _ => Class::Other,
        };
    }
    if is_combining_mark(c) {
        Class::Mark
    } else if is_run(c) {
        Class::Run
    } else if is_emoji(c) {
        Class::Emoji
    } else if c.is_alphanumeric() {
        Class::Letter
    } else {
        Class::Other
    }
}

/// Compatibility-composed, lower-cased text without invisible characters, so that every
/// way to encode a text gives the same terms.
pub(super) fn normalise(text: &str) -> Vec<char> {
    if text.is_ascii() {
        return text.bytes().map(|byte| byte.to_ascii_lowercase() as char).collect();
    }
    // Invisible characters go before composition, or they would keep a letter from its
    // accent; and again after it, because decomposition brings vowel points forth.
    text.chars()
        .filter(|c| !is_dropped(*c))
        .nfkc()
        .filter(|c| !is_dropped(*c))
        .map(|c| if c == 'İ' { 'i' } else { c })
        .flat_map(char::to_lowercase)
        .map(fold)
        .collect()
}

fn fold(c: char) -> char {
    let digit = |zero: u32| char::from(b'0' + (c as u32 - zero) as u8);
    match c {
        'ς' => 'σ',
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        '\u{2010}' => '-',
        '\u{660}'..='\u{669}' => digit(0x660),
        '\u{6f0}'..='\u{6f9}' => digit(0x6f0),
        '\u{966}'..='\u{96f}' => digit(0x966),
        '\u{9e6}'..='\u{9ef}' => digit(0x9e6),
        '\u{e50}'..='\u{e59}' => digit(0xe50),
        _ => c,
    }
}

/// Characters that carry no meaning for a search: joiners, direction marks, variation
/// selectors, skin tones, and the optional vowel points of Arabic and Hebrew. None of
/// them takes part in a canonical composition, so dropping them early is safe.
fn is_dropped(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}'
        | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{20dd}'..='\u{20e4}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}'
        | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}' | '\u{670}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}')
}

fn is_run(c: char) -> bool {
    matches!(c,
        // Han, with iteration mark and zero.
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}'
        // Kana and bopomofo.
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}' | '\u{1b000}'..='\u{1b16f}')
        || is_hangul(c)
        // Thai, Lao, Myanmar, Khmer.
        || matches!(c, '\u{e01}'..='\u{e2e}' | '\u{e2f}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}'
        | '\u{e81}'..='\u{ecf}' | '\u{edc}'..='\u{edf}' | '\u{1000}'..='\u{103f}'
        | '\u{1050}'..='\u{108f}' | '\u{1780}'..='\u{17d3}')
}

/// True for Hangul syllables and the letters they are made of.
pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{d7b0}'..='\u{d7fb}')
}

/// True for Hiragana, which mostly writes Japanese grammar.
pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// True for the letters that flags are made of, two each.
pub(super) fn is_regional_indicator(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

pub(crate) fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{231a}' | '\u{231b}' | '\u{2328}' | '\u{23cf}' | '\u{23e9}'..='\u{23fa}'
        | '\u{2600}'..='\u{27bf}' | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}' | '\u{2b1c}'
        | '\u{2b50}' | '\u{2b55}' | '\u{1f000}'..='\u{1f0ff}' | '\u{1f170}'..='\u{1f2ff}'
        | '\u{1f300}'..='\u{1faff}')
}
