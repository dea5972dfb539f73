//! Chinese names, by surnames, titles and endings, in contexts where they are safe.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::concept::Concept;
use super::latin;
use super::lexicon::Tag;
use super::lists::{GIVEN_CHARACTERS, SURNAMES};
use super::mention::{Finder, Found, Kind};
use super::words::{Token, TokenKind};

pub(super) fn find(finder: &Finder<'_, '_>, at: usize) -> Found {
    let token = finder.token(at)?;
    if finder.words.japanese {
        return token.is_place().then_some((at + 1, None, Kind::Place));
    }
    latin::product(finder, at)
        .or_else(|| organisation(finder, at))
        .or_else(|| place(finder, at))
        .or_else(|| given(finder, at))
        .or_else(|| titled(finder, at))
        .or_else(|| familiar(finder, at))
        .or_else(|| full_name(finder, at))
}

fn is_one(finder: &Finder<'_, '_>, at: usize) -> bool {
    let one = |token: &Token| token.kind == TokenKind::Han && finder.words.key(token).len() <= 4;
    finder.token(at).is_some_and(one)
}

/// Words of grammar, pronouns, numbers: no part of a name.
fn is_grammar(token: &Token) -> bool {
    is_function_word(token) || token.has(Tag::NUMBER)
}

/// Words that do something in a sentence and name nothing.
pub(super) fn is_function_word(token: &Token) -> bool {
    token.has(
        Tag::CHINESE_FUNCTION
            | Tag::FIRST
            | Tag::SECOND
            | Tag::THIRD
            | Tag::ASKS
            | Tag::DATE
            | Tag::SMALL_TALK,
    )
}

/// True for a character that is a surname.
pub(super) fn is_surname_character(c: char) -> bool {
    static KNOWN: LazyLock<HashSet<char>> = LazyLock::new(|| SURNAMES.chars().collect());
    KNOWN.contains(&c)
}

fn is_surname(finder: &Finder<'_, '_>, at: usize) -> bool {
    is_one(finder, at)
        && !finder.token(at).is_some_and(is_grammar)
        && finder.key(at).chars().next().is_some_and(is_surname_character)
}

/// 上海交通大学, 腾讯公司: a name before a word for an organisation.
fn organisation(finder: &Finder<'_, '_>, at: usize) -> Found {
    let token = finder.token(at)?;
    if token.has(Tag::COMPANY) && !finder.token(at + 1).is_some_and(|next| next.has(Tag::ORGANISATION)) {
        return Some((at + 1, None, Kind::Organisation));
    }
    let key = finder.key(at);
    if key.ends_with("大学") && key.len() > 6 && token.entry.concepts.contains(Concept::School) {
        return Some((at + 1, None, Kind::Organisation));
    }
    // Only from a place or company, or two characters that are no words; up to the ending.
    let mut characters = 0;
    let mut named = false;
    for end in at..at + 6 {
        let token = finder.token(end).filter(|token| token.kind == TokenKind::Han)?;
        if token.has(Tag::ORGANISATION) && end > at {
            return (named || characters >= 2).then_some((end + 1, None, Kind::Organisation));
        }
        if is_grammar(token)
            || token.has(Tag::BEFORE_NAME | Tag::AFTER_NAME | Tag::PERSONAL_VERB)
            || is_measure(finder.key(end))
        {
            return None;
        }
        named |= token.is_place() || token.has(Tag::COMPANY);
        let unknown = token.entry.tags == Tag::NONE && token.entry.concepts.is_empty();
        if unknown && is_one(finder, end) {
            characters += 1;
        } else if !named && end == at {
            return None;
        }
    }
    None
}

fn is_measure(key: &str) -> bool {
    matches!(
        key,
        "家" | "所"
            | "个"
            | "间"
            | "座"
            | "大"
            | "小"
            | "新"
            | "老"
            | "好"
            | "各"
            | "某"
            | "该"
            | "这"
            | "那"
            | "本"
            | "贵"
            | "分"
            | "母"
            | "子"
            | "同"
            | "一"
    )
}

/// A place of the lists with its ending, or two characters before an ending after "in".
fn place(finder: &Finder<'_, '_>, at: usize) -> Found {
    let token = finder.token(at)?;
    let ends = |at: usize| {
        finder.token(at).is_some_and(|token| token.has(Tag::PLACE_END) && token.kind == TokenKind::Han)
    };
    if token.is_place() {
        return Some((if ends(at + 1) { at + 2 } else { at + 1 }, None, Kind::Place));
    }
    let before = at.checked_sub(1).map_or("", |before| finder.words.key_at(before));
    if !matches!(
        before,
        "在" | "到" | "去" | "从" | "住" | "住在" | "来自" | "于" | "去了" | "去过" | "位于" | "搬到"
    ) {
        return None;
    }
    let unknown = |at: usize| {
        is_one(finder, at)
            && finder.token(at).is_some_and(|token| {
                !is_grammar(token) && !token.has(Tag::AFTER_NAME) && !token.has(Tag::PLACE_END)
            })
            && !is_measure(finder.key(at))
    };
    let mut end = at;
    while end < at + 3 && unknown(end) {
        end += 1;
    }
    (end - at >= 2 && ends(end)).then_some((end + 1, None, Kind::Place))
}

/// Foreign names as they are written in Chinese: 汤姆.
fn given(finder: &Finder<'_, '_>, at: usize) -> Found {
    finder.token(at)?.has(Tag::GIVEN).then_some((at + 1, None, Kind::Person))
}

/// 王老师, 张总.
fn titled(finder: &Finder<'_, '_>, at: usize) -> Found {
    let title = |at: usize| finder.token(at).is_some_and(|token| token.has(Tag::CHINESE_TITLE));
    (is_surname(finder, at) && title(at + 1) && (finder.key(at + 1) != "工" || boundary(finder, at + 2)))
        .then_some((at + 2, None, Kind::Person))
}

/// 小王, 老李, 阿强.
fn familiar(finder: &Finder<'_, '_>, at: usize) -> Found {
    let fits = match finder.key(at) {
        "小" | "老" => {
            is_surname(finder, at + 1)
                && !matches!(
                    finder.key(at + 1),
                    "马" | "牛" | "鱼" | "毛" | "花" | "车" | "路" | "苗" | "房" | "包"
                )
        }
        "阿" => is_one(finder, at + 1) && !finder.token(at + 1).is_some_and(is_grammar),
        _ => return None,
    };
    (fits && boundary(finder, at + 2)).then_some((at + 2, None, Kind::Person))
}

/// True where a name may end before this place.
fn boundary(finder: &Finder<'_, '_>, at: usize) -> bool {
    match finder.words.tokens().get(at) {
        None => true,
        Some(token) => {
            token.kind != TokenKind::Han
                || is_grammar(token)
                // What is known to be a word of its own.
                || finder.words.key(token).chars().count() > 1
                || token.has(Tag::AFTER_NAME | Tag::CHINESE_TITLE | Tag::RELATION | Tag::PERSONAL_VERB)
        }
    }
}

/// A surname with one or two characters that make a given name, after a word that calls for
/// a name, or at the start of a clause before what a person does.
fn full_name(finder: &Finder<'_, '_>, at: usize) -> Found {
    let double = finder.token(at)?.has(Tag::SURNAME);
    if !double && !is_surname(finder, at) {
        return None;
    }
    let character = |at: usize| {
        is_one(finder, at)
            && finder
                .token(at)
                .is_some_and(|token| !is_grammar(token) && !token.has(Tag::AFTER_NAME | Tag::CHINESE_TITLE))
    };
    let plausible = |at: usize| finder.key(at).chars().any(|given| GIVEN_CHARACTERS.contains(given));
    // One word of the lexicon may be a given name: 张大海.
    let pair = |at: usize| {
        finder.token(at).is_some_and(|token| {
            token.kind == TokenKind::Han
                && finder.key(at).chars().count() == 2
                && (token.entry.tags == Tag::NONE)
        })
    };
    let end = if character(at + 1)
        && character(at + 2)
        && boundary(finder, at + 3)
        && (plausible(at + 1) || plausible(at + 2))
    {
        at + 3
    } else if (character(at + 1) && plausible(at + 1) || pair(at + 1)) && boundary(finder, at + 2) {
        at + 2
    } else {
        return None;
    };
    let before = finder.before(at);
    let called = before
        .is_some_and(|before| before.has(Tag::BEFORE_NAME | Tag::RELATION) && before.kind == TokenKind::Han);
    let clause = before
        .is_none_or(|before| !before.is_content() || before.has(Tag::DATE) || before.has(Tag::SMALL_TALK));
    let acts =
        finder.words.tokens().get(end).is_some_and(|next| next.has(Tag::AFTER_NAME | Tag::CHINESE_TITLE));
    if !(called || (clause && acts)) {
        return None;
    }
    let title = finder.token(end).is_some_and(|token| token.has(Tag::CHINESE_TITLE));
    Some((end + usize::from(title), None, Kind::Person))
}
