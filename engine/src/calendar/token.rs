//! Cuts a text into the words, numbers and marks that the grammar knows.
//!
//! One pass, each character is looked at a bounded number of times. Everything unknown between
//! two known words becomes one separator.

use super::words::{Form, Number, Word};
use super::{lexicon_en, lexicon_zh, numeric};

/// A word with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) start: u32,
    pub(super) end: u32,
    /// White space stands before it.
    pub(super) gap: bool,
    /// Begins with a capital letter.
    pub(super) capital: bool,
}

/// The words of a text.
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// Some word can be the heart of a phrase.
    pub(super) promising: bool,
}

/// Whether a phrase needs a word like this.
fn is_heart(word: Word) -> bool {
    matches!(
        word,
        Word::Number(_)
            | Word::Decimal(_)
            | Word::Date(..)
            | Word::YearMonth(..)
            | Word::Clock(..)
            | Word::Instant(_)
            | Word::Day(_)
            | Word::DayPart(..)
            | Word::Part(_)
            | Word::NoonHour
            | Word::MidnightHour
            | Word::Scale(_)
            | Word::Weekday(..)
            | Word::Weekdays(_)
            | Word::Month(..)
            | Word::MonthMark
            | Word::Season(_)
            | Word::Feast(_)
            | Word::FeastStart
            | Word::KnownEnd
            | Word::YearRel(_)
            | Word::MonthPortion(_)
            | Word::YearPortion(_)
            | Word::QuarterNumber(_)
            | Word::DecadeName(_)
            | Word::Decades
    )
}

struct Cutter<'t> {
    text: &'t str,
    list: Vec<Token>,
    promising: bool,
    gap: bool,
}

impl Cutter<'_> {
    fn push(&mut self, word: Word, start: usize, end: usize) {
        if word == Word::Other
            && !self.gap
            && let Some(last) = self.list.last_mut()
            && last.word == Word::Other
        {
            last.end = end as u32;
            return;
        }
        self.promising |= is_heart(word);
        let capital = self.text.as_bytes()[start].is_ascii_uppercase();
        self.list.push(Token { word, start: start as u32, end: end as u32, gap: self.gap, capital });
        self.gap = false;
    }

    /// A run of ASCII letters.
    fn letters(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = start;
        while end < bytes.len() && bytes[end].is_ascii_alphabetic() {
            end += 1;
        }
        let letters = &bytes[start..end];
        // "o'clock", "p.m.": one word with a mark in it.
        if letters.len() == 1 {
            let rest = &self.text[start + 1..];
            let letter = letters[0].to_ascii_lowercase();
            if letter == b'o' {
                for tail in ["'clock", "’clock"] {
                    if rest.len() >= tail.len()
                        && rest.is_char_boundary(tail.len())
                        && rest[..tail.len()].eq_ignore_ascii_case(tail)
                    {
                        self.push(Word::OClock, start, start + 1 + tail.len());
                        return start + 1 + tail.len();
                    }
                }
            }
            let tail = rest.as_bytes();
            if matches!(letter, b'a' | b'p') && tail.len() >= 2 && tail[0] == b'.' && tail[1] | 0x20 == b'm' {
                let end = start + 3 + usize::from(tail.get(2) == Some(&b'.'));
                self.push(if letter == b'a' { Word::Am } else { Word::Pm }, start, end);
                return end;
            }
            if letter == b'q'
                && let [digit @ b'1'..=b'4', after @ ..] = tail
                && !after.first().is_some_and(u8::is_ascii_alphanumeric)
            {
                self.push(Word::QuarterNumber((digit - b'0') as i8), start, start + 2);
                return start + 2;
            }
        }
        // Letters and digits in one ("v2", "a4") are a name.
        if bytes.get(end).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'_') {
            while end < bytes.len()
                && (bytes[end].is_ascii_alphanumeric() || matches!(bytes[end], b'_' | b'.' | b'-'))
            {
                end += 1;
            }
            self.push(Word::Other, start, end);
            return end;
        }
        self.push(lexicon_en::word(letters), start, end);
        end
    }

    /// A run of Chinese numerals, or of anything else that is not ASCII.
    fn wide(&mut self, start: usize, first: char) -> usize {
        let rest = &self.text[start..];
        let found = lexicon_zh::entry(first, rest);
        let numeral = lexicon_zh::numeral(first).is_some();
        if let Some((length, word)) = found {
            let after = &rest[length..];
            // 十分钟, 半天前 and 五一年 are not what they begin with.
            let number = numeral && after.starts_with(['钟', '年', '月', '号', '天', '点', '个', '日'])
                || &rest[..length] == "一时" && after.starts_with('半');
            // 年中国, 三月中旬: not the middle of the year or month.
            let middle = matches!(&rest[..length], "年中" | "月中")
                && after.starts_with(['国', '文', '学', '央', '秋', '旬', '午', '东', '医', '餐', '考']);
            if middle {
                let word =
                    lexicon_zh::entry(first, &rest[..first.len_utf8()]).map_or(Word::Other, |(_, word)| word);
                self.push(word, start, start + first.len_utf8());
                return start + first.len_utf8();
            }
            if &rest[..length] == "半天" {
                self.push(Word::Half, start, start + 3);
                return start + 3;
            }
            if !(number && numeral) {
                self.push(word, start, start + length);
                return start + length;
            }
        }
        if numeral {
            return self.numerals(start);
        }
        let word = match first {
            '，' | '、' => Word::Comma,
            '。' | '！' | '？' | '；' => Word::Stop,
            '～' | '—' | '–' | '―' | '〜' => Word::Dash,
            '’' | '‘' => Word::Quote,
            '\u{3000}' | '\u{a0}' => {
                self.gap = true;
                return start + first.len_utf8();
            }
            _ => Word::Other,
        };
        self.push(word, start, start + first.len_utf8());
        start + first.len_utf8()
    }

    fn numerals(&mut self, start: usize) -> usize {
        let mut end = start;
        let (mut total, mut section, mut digit) = (0u64, 0u64, 0u64);
        let (mut digits, mut only_digits, mut spelled) = (0u8, true, 0u64);
        let mut last_two = [0u64; 2];
        for character in self.text[start..].chars() {
            let Some((value, is_digit)) = lexicon_zh::numeral(character) else { break };
            let value = u64::from(value);
            if is_digit {
                last_two = [last_two[1], value];
                digit = value;
                digits = digits.saturating_add(1);
                spelled = spelled.saturating_mul(10).saturating_add(value);
            } else {
                only_digits = false;
                let base = if digit == 0 && (value == 10 || section == 0) { 1 } else { digit };
                if value == 10_000 {
                    total = total.saturating_add((section + digit).max(1).saturating_mul(value));
                    section = 0;
                } else {
                    section = section.saturating_add(base * value).min(u64::from(u32::MAX));
                }
                digit = 0;
                last_two = [0, 0];
            }
            end += character.len_utf8();
        }
        // 十几, 二十多
        let more = ['几', '多', '来'].iter().any(|mark| self.text[end..].starts_with(*mark));
        if more && !only_digits && digit == 0 {
            let value = u32::try_from(total.saturating_add(section)).unwrap_or(u32::MAX);
            if value % 10 == 0 && value < 100 {
                let number = Number { low: value + 1, high: value + 9, form: Form::Han, digits: 0 };
                self.push(Word::Number(number), start, end + 3);
                return end + 3;
            }
        }
        // 二三十: twenty or thirty.
        let mut characters = self.text[start..end].chars().map(lexicon_zh::numeral);
        if let (Some(Some((low, true))), Some(Some((high, true))), Some(Some((10, false))), None) =
            (characters.next(), characters.next(), characters.next(), characters.next())
            && low > 0
            && high == low + 1
        {
            let number = Number { low: low * 10, high: high * 10, form: Form::Han, digits: 0 };
            self.push(Word::Number(number), start, end);
            return end;
        }
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let number = if only_digits && digits >= 2 {
            let [low, high] = last_two;
            if digits == 2 && low > 0 && high == low + 1 {
                // 两三: two or three.
                Number { low: small(low), high: small(high), form: Form::Han, digits }
            } else {
                Number { low: small(spelled), high: small(spelled), form: Form::HanDigits, digits }
            }
        } else {
            let value = small(total.saturating_add(section).saturating_add(digit));
            Number { low: value, high: value, form: Form::Han, digits: 0 }
        };
        self.push(Word::Number(number), start, end);
        end
    }
}

/// Cuts a text into words.
pub(super) fn tokens(text: &str) -> Tokens {
    let bytes = text.as_bytes();
    let mut cutter =
        Cutter { text, list: Vec::with_capacity(bytes.len() / 4 + 4), promising: false, gap: false };
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        at = match byte {
            b' ' | b'\t' | b'\r' => {
                cutter.gap = true;
                at + 1
            }
            b'a'..=b'z' | b'A'..=b'Z' => cutter.letters(at),
            b'0'..=b'9' => {
                let glued = at > 0
                    && matches!(
                        bytes[at - 1],
                        b'$' | b'#' | b'_' | b'@' | b'+' | b'=' | b'&' | b'.' | b'/' | b'\\' | b'*' | b'^'
                    )
                    || cutter.text[..at].ends_with(['￥', '¥', '€', '£', '№']);
                let (end, words) = numeric::read(text, at, glued);
                for (word, from, to) in words.into_iter().flatten() {
                    cutter.push(word, from, to);
                }
                end
            }
            0x80.. => {
                let Some(first) = text[at..].chars().next() else { break };
                cutter.wide(at, first)
            }
            _ => {
                let word = match byte {
                    b',' => Word::Comma,
                    b'-' | b'~' => Word::Dash,
                    b'\'' => Word::Quote,
                    b'.' | b'!' | b'?' | b';' | b'\n' => Word::Stop,
                    _ => Word::Other,
                };
                cutter.push(word, at, at + 1);
                at + 1
            }
        };
    }
    Tokens { list: cutter.list, promising: cutter.promising }
}
