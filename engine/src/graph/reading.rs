//! A text with its names found, in which owners, relations and subjects are looked for.

use std::ops::Range;

use super::lexicon::Tag;
use super::mention::{self, Kind, Names};
use super::words::{Token, TokenKind, Words};

/// The entity that stands for the speaker where nobody is named.
pub(super) const USER: &str = "user";

/// Longer chains ("my sister's boss's dog's …") are cut.
const LONGEST_CHAIN: usize = 4;

/// Whose, by what relations, up to which token.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) owner: String,
    pub(super) relations: Vec<&'static str>,
    pub(super) end: usize,
}

impl Chain {
    /// The canonical name: "user's sister's boss".
    pub(super) fn canonical(&self) -> String {
        let mut name = self.owner.clone();
        for relation in &self.relations {
            name = possessed(&name, relation);
        }
        name
    }
}

/// "user's sister".
pub(super) fn possessed(owner: &str, relation: &str) -> String {
    format!("{owner}'s {relation}")
}

pub(super) struct Reading<'a> {
    pub(super) words: Words<'a>,
    pub(super) speaker: String,
    /// For the token at which a name begins: the token after it, and the name's number.
    begins: Vec<Option<(usize, usize)>>,
    /// For the token after a name: the name's number.
    ends: Vec<Option<usize>>,
    names: Vec<mention::Mention>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str, speaker: Option<&str>) -> Self {
        let words = Words::read(text);
        let names = mention::found(&words, &Names::default());
        let count = words.tokens().len();
        let mut begins = vec![None; count];
        let mut ends = vec![None; count + 1];
        let mut at = 0;
        for (number, name) in names.iter().enumerate() {
            while at < count && words.tokens()[at].range().start < name.range.start {
                at += 1;
            }
            let first = at;
            while at < count && words.tokens()[at].range().end <= name.range.end {
                at += 1;
            }
            if first < at {
                begins[first] = Some((at, number));
                ends[at] = Some(number);
            }
        }
        let speaker = speaker.map(str::trim).filter(|speaker| !speaker.is_empty()).unwrap_or(USER).to_owned();
        Self { words, speaker, begins, ends, names }
    }

    pub(super) fn count(&self) -> usize {
        self.words.tokens().len()
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.words.tokens().get(at)
    }

    pub(super) fn key(&self, at: usize) -> &str {
        self.words.key_at(at)
    }

    pub(super) fn has(&self, at: usize, tag: Tag) -> bool {
        self.token(at).is_some_and(|token| token.has(tag))
    }

    pub(super) fn is_han(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.kind == TokenKind::Han)
    }

    /// The name that begins here: the token after it, the name, its kind.
    pub(super) fn name(&self, at: usize) -> Option<(usize, &str, Kind)> {
        let (end, number) = (*self.begins.get(at)?)?;
        let name = &self.names[number];
        Some((end, &name.name, name.kind))
    }

    /// The name that ends before this token.
    pub(super) fn name_before(&self, at: usize) -> Option<&str> {
        Some(&self.names[(*self.ends.get(at)?)?].name)
    }

    /// A name where one must be ("is called …"): one that is found, else capitalised words,
    /// or up to four Chinese characters.
    pub(super) fn called(&self, at: usize) -> Option<(usize, String)> {
        if let Some((end, name, kind)) = self.name(at)
            && !matches!(kind, Kind::Identifier | Kind::Contact)
        {
            return Some((end, name.to_owned()));
        }
        let mut end = at;
        if self.is_han(at) {
            let mut characters = 0;
            while let Some(token) = self.token(end) {
                let size = self.key(end).chars().count();
                let grammar = token.has(
                    Tag::CHINESE_FUNCTION
                        | Tag::FIRST
                        | Tag::SECOND
                        | Tag::THIRD
                        | Tag::ASKS
                        | Tag::SMALL_TALK
                        | Tag::RELATION,
                );
                if token.kind != TokenKind::Han || grammar || characters + size > 4 {
                    break;
                }
                characters += size;
                end += 1;
            }
            if characters < 2 || (self.is_han(end) && !self.has(end, Tag::CHINESE_FUNCTION)) {
                return None;
            }
        } else {
            let named = |token: &Token| {
                token.kind == TokenKind::Word
                    && token.capital
                    && !token.starts
                    && (!token.has(Tag::STOP) || token.has(Tag::GIVEN))
            };
            while end < at + 4 && self.token(end).is_some_and(named) {
                end += 1;
            }
        }
        (end > at).then(|| (end, self.words.text()[self.range(at, end)].to_owned()))
    }

    /// The bytes of the tokens from one place to before another.
    pub(super) fn range(&self, from: usize, to: usize) -> Range<usize> {
        let tokens = self.words.tokens();
        let last = to.clamp(from + 1, tokens.len()) - 1;
        tokens[from].range().start..tokens[last].range().end
    }

    pub(super) fn source(&self, from: usize, to: usize) -> String {
        self.words.text()[self.range(from, to)].to_owned()
    }

    fn relation(&self, at: usize) -> Option<&'static str> {
        self.token(at)?.entry.relation()
    }

    /// "My sister", "Tom's sister's boss", 我妹妹, 汤姆的妹妹: an owner and relations.
    pub(super) fn chain(&self, at: usize) -> Option<Chain> {
        if self.is_han(at)
            || (self.name(at).is_some() && self.name(at).is_some_and(|(end, _, _)| self.key(end) == "的"))
        {
            return self.chinese_chain(at);
        }
        // "The sister of Tom".
        if let Some(relation) = self.relation(at)
            && self.key(at + 1) == "of"
            && let Some((end, name, Kind::Person | Kind::Other)) = self.name(at + 2)
        {
            return Some(Chain { owner: name.to_owned(), relations: vec![relation], end });
        }
        let (owner, mut end) = if matches!(self.key(at), "my" | "our") {
            (self.speaker.clone(), at + 1)
        } else {
            let (end, name, kind) = self.name(at)?;
            if !matches!(kind, Kind::Person | Kind::Other) || self.key(end) != "'s" {
                return None;
            }
            (name.to_owned(), end + 1)
        };
        let mut relations = Vec::new();
        while relations.len() < LONGEST_CHAIN {
            let mut place = end;
            while place < end + 2 && is_adjective(self.key(place)) {
                place += 1;
            }
            let Some(relation) = self.relation(place) else { break };
            relations.push(relation);
            end = place + 1;
            if self.key(end) == "'s" && self.next_relation(end + 1) {
                end += 1;
            } else {
                break;
            }
        }
        (!relations.is_empty()).then_some(Chain { owner, relations, end })
    }

    fn next_relation(&self, at: usize) -> bool {
        self.relation(at).is_some() || (is_adjective(self.key(at)) && self.relation(at + 1).is_some())
    }

    fn chinese_chain(&self, at: usize) -> Option<Chain> {
        if self.words.japanese {
            return None;
        }
        let (owner, mut end) = match self.key(at) {
            "我" | "我的" | "我们" | "我们的" | "我家" | "俺" | "咱" | "咱们" => {
                (self.speaker.clone(), at + 1)
            }
            _ => {
                let (end, name, kind) = self.name(at)?;
                if !matches!(kind, Kind::Person | Kind::Other) || self.key(end) != "的" {
                    return None;
                }
                (name.to_owned(), end)
            }
        };
        let mut relations = Vec::new();
        while relations.len() < LONGEST_CHAIN {
            let mut place = end;
            if self.key(place) == "的" {
                place += 1;
            }
            let Some(relation) = self.relation(place).filter(|_| self.is_han(place)) else { break };
            relations.push(relation);
            end = place + 1;
        }
        (!relations.is_empty()).then_some(Chain { owner, relations, end })
    }
}

fn is_adjective(key: &str) -> bool {
    matches!(
        key,
        "older"
            | "younger"
            | "big"
            | "little"
            | "elder"
            | "eldest"
            | "youngest"
            | "oldest"
            | "new"
            | "old"
            | "dear"
            | "twin"
            | "late"
            | "good"
            | "close"
            | "closest"
            | "favorite"
            | "favourite"
            | "beloved"
            | "lovely"
            | "former"
            | "current"
            | "first"
            | "second"
            | "pet"
            | "long"
            | "other"
            | "best"
    )
}
