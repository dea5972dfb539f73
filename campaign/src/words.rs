//! Words that stand for one card each: they are found in raw bytes, no two are alike, and no
//! rule of language takes one for another.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::numbers::Numbers;

/// Bytes of every word.
pub const WORD_BYTES: usize = 12;
/// Dimension of every vector.
pub const DIMENSION: usize = 8;

const FIRST: &[u8; 2] = b"qu";
const LAST: &str = "xo";

/// The word of a number below 2²⁴.
pub fn word(number: u64) -> String {
    let mixed = number.wrapping_mul(0x9e_3779).wrapping_add(0x5_1234) & 0xff_ffff;
    let mut word = String::from("qu");
    for at in 0..4 {
        let syllable = (mixed >> (6 * at)) as usize & 0x3f;
        word.push(b"bdfgklmnprstvzjh"[syllable % 16] as char);
        word.push(b"aeio"[syllable / 16] as char);
    }
    word + LAST
}

/// The vector that goes with a text.
pub fn vector(text: &str) -> Vec<f32> {
    let mut numbers = Numbers::new(xxh3_64(text.as_bytes()));
    (0..DIMENSION).map(|_| numbers.below(2000) as f32 - 999.5).collect()
}

/// The words in a text or in raw bytes, of those that are looked for.
pub fn found<'a>(bytes: &[u8], sought: &'a HashSet<String>, mut tell: impl FnMut(&'a str)) {
    let mut at = 0;
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == FIRST[0])) {
        at += next;
        if let Some(candidate) = bytes.get(at..at + WORD_BYTES)
            && candidate[1] == FIRST[1]
            && let Ok(candidate) = std::str::from_utf8(candidate)
            && let Some(word) = sought.get(candidate)
        {
            tell(word);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_words_are_alike_and_they_are_found() {
        let words: HashSet<String> = (0..20_000).map(word).collect();
        assert_eq!(words.len(), 20_000);
        assert!(words.iter().all(|word| word.len() == WORD_BYTES));
        let text = format!("q qu quq{}q{} and more", word(7), word(30_000));
        let mut seen = Vec::new();
        found(text.as_bytes(), &words, |word| seen.push(word.to_owned()));
        assert_eq!(seen, [word(7)]);
    }
}
