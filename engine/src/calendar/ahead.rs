//! Whether the words right beside a date say that it lies ahead: "the exam is on Friday", "I have an
//! exam on Friday", 周四我要飞.
//!
//! The present tense dates what is to come. Words farther away belong to something else too
//! often ("everyone is talking about what happened on Friday"), so only those next to it count.

use super::grammar::Reader;
use super::words::Word;

/// Bytes that are looked at before a phrase.
const REACH: usize = 64;
/// Words before a phrase among which somebody has to do with something.
const HAVING: usize = 7;
/// Characters behind a phrase in which 要 belongs to it.
const CHINESE_REACH: usize = 4;

impl Reader<'_> {
    /// True when the date from the token `start` to `end` is told of as still to come.
    pub(super) fn is_ahead(&self, start: usize, end: usize) -> bool {
        let Some(first) = self.tokens.get(start) else { return false };
        let before = sentence_end(&self.text[..first.start as usize]);
        if self.han(start) {
            let last = end.checked_sub(1).and_then(|last| self.tokens.get(last));
            let after = last.map_or("", |last| &self.text[last.end as usize..]);
            return wants_before(before) || wants_after(after);
        }
        let after = self.word(end);
        let mut words: Vec<String> = before.split_whitespace().map(str::to_lowercase).collect();
        if matches!(self.word(start), Word::By | Word::Until) {
            words.push("by".into());
        }
        after != Word::Dash && (is_dated(&words) || has_to(&words))
    }
}

/// The end of the sentence that a text breaks off in.
fn sentence_end(text: &str) -> &str {
    let mut from = text.len().saturating_sub(REACH);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let stops = ['.', '!', '?', ';', ',', '\n', '。', '！', '？', '；', '，'];
    text[from..].rsplit(stops).next().unwrap_or_default().trim_end()
}

/// "The exam is on", "it is due", "the meeting is scheduled for".
fn is_dated(words: &[String]) -> bool {
    let mut words = words;
    for skipped in [&["on", "at", "for", "this"][..], &["due", "scheduled", "planned", "booked", "set"]] {
        if let Some((last, rest)) = words.split_last()
            && skipped.contains(&last.as_str())
        {
            words = rest;
        }
    }
    words.last().is_some_and(|last| matches!(last.as_str(), "is" | "are" | "isn't" | "aren't"))
}

/// "I have an exam on", "you must hand it in by".
fn has_to(words: &[String]) -> bool {
    let Some((last, words)) = words.split_last() else { return false };
    if !matches!(last.as_str(), "on" | "by") {
        return false;
    }
    let near = &words[words.len().saturating_sub(HAVING)..];
    near.windows(2).any(|pair| match [pair[0].as_str(), pair[1].as_str()] {
        ["have" | "has", next] => {
            matches!(next, "a" | "an" | "my" | "our" | "her" | "his" | "to" | "another")
        }
        ["need" | "needs", "to"] => true,
        ["must", _] => true,
        _ => false,
    })
}

/// 我要, 得在: what somebody is to do then.
fn wants_before(before: &str) -> bool {
    let before = before.strip_suffix('在').unwrap_or(before);
    let mut characters = before.chars().rev();
    characters.next() == Some('要')
        && !characters.next().is_some_and(|before| "重主首必只摘概纪".contains(before))
}

/// 我要飞, 需要交.
fn wants_after(after: &str) -> bool {
    let mut characters = after.chars().take(CHINESE_REACH + 1);
    let mut previous = ' ';
    while let Some(character) = characters.next() {
        if !('\u{4e00}'..='\u{9fff}').contains(&character) {
            return false;
        }
        if character == '要' {
            let next = characters.next().unwrap_or('。');
            return !"重主首必只摘概纪".contains(previous) && !"是求点素么紧不".contains(next);
        }
        previous = character;
    }
    false
}
