//! What corrects: words that take back what was said before ("No, …", 不对，…), and the value
//! that is denied beside the one that holds ("Dora, not Carl").

use super::lexicon::{self, Term};
use super::marks::{Item, Role};
use super::tokens::{Kind, Token};

/// They take back what was said, when they stand at the start and are set off.
const DENIALS: &str = "no|nope|no no|no wait|wait no|wrong|scratch that|i mean|i meant|i misspoke|i was wrong|my mistake|\
     my bad|that is wrong|that was wrong|that is not right|that is not correct|not quite|不|不对|不不|不是|不对不对|错了|\
     说错了|我说错了|记错了|我记错了|搞错了|我搞错了|弄错了|写错了|哦不|应该说|我是说|我的意思是|准确地说|确切地说";
/// They only stand before such words.
const SIGHS: &str = "sorry|oops|oh|wait|hmm|well|ah|抱歉|不好意思|对不起|等等|等一下|哎呀|哦|啊|唉";
/// They need no mark behind them.
const OPENERS: &str = "i meant|i meant to say|i mean|我是说|我的意思是|我想说的是|应该是|我说的是";
/// Tokens of the longest of them.
const LONGEST: usize = 6;
/// Items of a value that is denied.
const LONGEST_DENIED: usize = 6;
/// What follows "No, …" as a name does, and is none.
const NO_VALUES: &[&str] = &["thanks", "thank", "sorry", "really", "yes", "ok", "okay"];

/// The tokens with "Correction, …" in the place of the words that take back what was said.
pub(super) fn announced(tokens: Vec<Token>) -> Vec<Token> {
    let (mut at, mut start) = (0, None);
    while let Some(end) = set_off(&tokens[at..]).map(|length| at + length) {
        let words = joined(&tokens[at..end]);
        if is_listed(DENIALS, &words) {
            start = Some(end + 1);
        } else if !is_listed(SIGHS, &words) {
            break;
        }
        at = end + 1;
    }
    let opened =
        |length: &usize| tokens.get(at..at + length).is_some_and(|words| is_listed(OPENERS, &joined(words)));
    if let Some(length) = (1..=LONGEST).rev().find(opened) {
        start = Some(at + length);
    }
    match start.filter(|start| *start < tokens.len()) {
        Some(start) => {
            [lead_in(&tokens[0]), comma()].into_iter().chain(tokens.into_iter().skip(start)).collect()
        }
        None => tokens,
    }
}

/// How many tokens stand before the first mark, if these are few.
fn set_off(tokens: &[Token]) -> Option<usize> {
    let mark = |token: &Token| matches!(token.kind, Kind::Comma | Kind::Colon | Kind::End(false));
    tokens.iter().take(LONGEST + 1).position(mark).filter(|length| *length > 0)
}

fn is_listed(list: &str, words: &str) -> bool {
    list.split('|').any(|entry| entry == words)
}

fn joined(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        let spaced = token.kind != Kind::Han && !text.is_empty();
        text.push_str(if spaced { " " } else { "" });
        text.push_str(&token.text);
    }
    text
}

fn token(kind: Kind, text: &str) -> Token {
    Token { kind, text: text.to_owned(), literal: text.to_owned(), source: text.to_owned(), capital: false }
}

fn lead_in(first: &Token) -> Token {
    match first.kind {
        Kind::Han => token(Kind::Han, "更正"),
        _ => token(Kind::Word, "correction"),
    }
}

fn comma() -> Token {
    token(Kind::Comma, ",")
}

/// True when a text begins with "Correction, …".
pub(super) fn is_announced(items: &[Item]) -> bool {
    items
        .first()
        .is_some_and(|item| item.is(Term::Changed) && lexicon::LEAD_INS.contains(&item.text.as_str()))
        && items.get(1).is_some_and(|item| item.role == Role::Comma)
}

/// Where a value that is denied begins at the end of a sentence: at ", not Carl", "instead of
/// Carl", 而不是小李.
pub(super) fn denied_at(items: &[Item]) -> Option<usize> {
    let end = items.iter().position(|item| item.role == Role::End).unwrap_or(items.len());
    let starts = |at: usize, words: &[&str]| {
        items
            .get(at..at + words.len())
            .is_some_and(|found| found.iter().zip(words).all(|(item, word)| item.text == *word))
    };
    (2..end).rev().find_map(|at| {
        let after_comma = items[at - 1].role == Role::Comma;
        let length = if after_comma && starts(at, &["not"]) {
            1
        } else if (after_comma && starts(at, &["不", "是"]))
            || starts(at, &["instead", "of"])
            || starts(at, &["rather", "than"])
        {
            2
        } else if starts(at, &["而", "不", "是"]) {
            3
        } else if starts(at, &["而", "非"]) {
            2
        } else {
            return None;
        };
        let denied = &items[at + length..end];
        let is_value = |item: &Item| {
            item.is_content()
                || item.is_preposition()
                || matches!(item.role, Role::Plain(Term::Filler | Term::Grammar | Term::Changed))
        };
        let fits = (1..=LONGEST_DENIED).contains(&denied.len()) && denied.iter().all(is_value);
        fits.then(|| at - usize::from(after_comma))
    })
}

/// Whether items may be a value and nothing else: "No, Tuesday", "No, floor 4".
pub(super) fn is_bare_value(items: &[Item]) -> bool {
    (1..=LONGEST_DENIED).contains(&items.len())
        && items.iter().all(|item| {
            (item.is_content()
                || item.is_preposition()
                || item.is(Term::Filler)
                || item.is(Term::Grammar)
                || item.role == Role::End)
                && item.exact != "\u{2}self"
                && !NO_VALUES.contains(&item.text.as_str())
        })
}
