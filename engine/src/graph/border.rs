//! Where a name may begin and end in Chinese text, which has no blanks between words.
//!
//! A border is only seen where what stands beside the name is a word by itself: 张伟喜欢 ends after
//! 张伟, since 喜欢 is a word; 张伟丽 does not, as far as anybody can see.

use super::chinese::{is_function_word, is_surname_character};
use super::lexicon::Tag;
use super::words::{Token, TokenKind, Words};

/// Characters beside a name that are looked at.
const NEAR: usize = 12;

/// Verbs and prepositions of one character that stand beside names and are not used in given names.
const BESIDE: &str = "的了吗呢吧是在说去来有跟与要想会能也都就还又才没不被把给对从到为让叫请找买卖吃喝看听做写打用住走跑骑\
坐送拿带问答怕恨骂夸帮陪劝催等接见救追赶推拉抱教由将替借租换修搬养约您你我他她它们嗯啊哦";

/// Titles and forms of address after a Japanese name.
const JAPANESE_TITLES: [&str; 14] = [
    "先生", "氏", "様", "君", "教授", "部長", "課長", "社長", "店長", "選手", "監督", "博士", "夫人", "会長",
];

fn is_word(token: &Token, words: &Words<'_>) -> bool {
    token.kind != TokenKind::Han
        || words.key(token).chars().count() > 1
        || is_function_word(token)
        || token.has(Tag::CHINESE_TITLE | Tag::RELATION | Tag::PERSONAL_VERB)
        || words.key(token).chars().all(|c| BESIDE.contains(c))
}

/// True when a name may end before `rest`: a word of its own follows, or no Chinese.
pub(crate) fn ends_before(rest: &str) -> bool {
    let near: String = rest.chars().take(NEAR).collect();
    let words = Words::read(&near);
    words.tokens().first().is_none_or(|token| is_word(token, &words) || token.has(Tag::AFTER_NAME))
}

/// True when a name may begin after `before`: a word of its own stands there, or no Chinese.
pub(crate) fn begins_after(before: &str) -> bool {
    let skipped = before.chars().count().saturating_sub(NEAR);
    let near: String = before.chars().skip(skipped).collect();
    let words = Words::read(&near);
    words.tokens().last().is_none_or(|token| is_word(token, &words) || token.has(Tag::BEFORE_NAME))
}

/// True when a text begins with a Japanese title or form of address.
pub(crate) fn is_japanese_title(rest: &str) -> bool {
    JAPANESE_TITLES.iter().any(|title| rest.starts_with(title))
}

/// True for a surname of one character and a given name of two: Chinese names do not go on from there.
pub(crate) fn is_full_name(name: &str) -> bool {
    let words = Words::read(name);
    let double = words.tokens().first().is_some_and(|token| token.has(Tag::SURNAME));
    !double && name.chars().count() == 3 && name.chars().next().is_some_and(is_surname_character)
}

/// True when a text is nothing but a title, as 老师 after a name.
pub(crate) fn is_title(text: &str) -> bool {
    let words = Words::read(text);
    let mut tokens = words.tokens().iter();
    tokens.len() == 1 && tokens.all(|token| token.has(Tag::CHINESE_TITLE))
}
