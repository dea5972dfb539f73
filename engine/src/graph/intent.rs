//! What the asker is after, by rules: nothing, an event, a rule, an entity, a procedure, a
//! time, a preference, or anything else.

use super::concept::{Concept, ConceptSet, concepts_of_head};
use super::lexicon::Tag;
use super::shape::{self, Shape, Wants};
use super::words::{Token, TokenKind, Words};

/// What the asker is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aim {
    /// Nothing that a memory could help with: a greeting, thanks, a reaction, work on a
    /// text that is given with it.
    None,
    /// What happened.
    Happened,
    /// What is the rule, what is allowed.
    Rule,
    /// Who or what somebody or something is.
    Who,
    /// How to do something.
    How,
    /// When something was or will be.
    When,
    /// What somebody likes.
    Prefer,
    /// Anything else.
    Find,
}

impl Aim {
    /// The name of the aim.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Happened => "happened",
            Self::Rule => "rule",
            Self::Who => "who",
            Self::How => "how",
            Self::When => "when",
            Self::Prefer => "prefer",
            Self::Find => "find",
        }
    }
}

/// Kinds of memory, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);
    /// What happened.
    pub const EVENTS: Kinds = Kinds(1);
    /// Facts, rules and preferences.
    pub const FACTS: Kinds = Kinds(2);
    /// People, organisations and things.
    pub const ENTITIES: Kinds = Kinds(4);
    /// How to do a thing.
    pub const PROCEDURES: Kinds = Kinds(8);
    /// Every kind.
    pub const ALL: Kinds = Kinds(15);

    /// True when it has all of these.
    #[must_use]
    pub const fn contains(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// What the asker is after, why it was told so, and where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// What the asker is after.
    pub aim: Aim,
    /// The name of the rule that told.
    pub rule: &'static str,
    /// The kinds of memory that are likely to hold the answer.
    pub kinds: Kinds,
}

/// What the asker of a question is after.
///
/// [`Aim::None`] is told with care: whatever has a question or content of its own is another.
///
/// ```
/// use memcards::graph::{Aim, intent};
///
/// assert_eq!(intent("good morning").aim, Aim::None);
/// assert_eq!(intent("Hi, what's my sister's name?").aim, Aim::Who);
/// assert_eq!(intent("怎么重启服务器？").aim, Aim::How);
/// ```
#[must_use]
pub fn intent(question: &str) -> Intent {
    of_question(&Words::read(question))
}

pub(super) fn of_question(words: &Words<'_>) -> Intent {
    let (aim, rule) = rule(words);
    let kinds = match aim {
        Aim::None => Kinds::NONE,
        Aim::Happened | Aim::When => Kinds::EVENTS.union(Kinds::FACTS),
        Aim::Rule => Kinds::FACTS.union(Kinds::PROCEDURES),
        Aim::Who => Kinds::ENTITIES.union(Kinds::FACTS),
        Aim::How => Kinds::PROCEDURES.union(Kinds::FACTS),
        Aim::Prefer => Kinds::FACTS.union(Kinds::EVENTS),
        Aim::Find => Kinds::ALL,
    };
    Intent { aim, rule, kinds }
}

/// What one pass over a question has seen.
#[derive(Default)]
struct Seen {
    like: bool,
    rule_word: bool,
    may: bool,
    past: bool,
    happen: bool,
    about: bool,
    called: bool,
}

fn rule(words: &Words<'_>) -> (Aim, &'static str) {
    if shape::is_small_talk(words) {
        return (Aim::None, "small_talk");
    }
    if is_work_on_text(words) {
        return (Aim::None, "work_on_given_text");
    }
    let shape = shape::of_question(words);
    let asking = shape::asking_word(words);
    let seen = look(words);
    if shape.wants == Some(Wants::Time) {
        return (Aim::When, "asks_time");
    }
    if seen.happen {
        return (Aim::Happened, "what_happened");
    }
    if seen.rule_word {
        return (Aim::Rule, "rule_word");
    }
    if shape.wants == Some(Wants::Manner) && is_procedure(words, asking, &seen) {
        return (Aim::How, "how_to");
    }
    if is_instruction_word(words) {
        return (Aim::How, "procedure_word");
    }
    if seen.may && shape.wants != Some(Wants::Place) {
        return (Aim::Rule, "may_or_must");
    }
    if seen.like && shape.wants.is_some() {
        return (Aim::Prefer, "likes");
    }
    if let Some(rule) = entity(words, shape, asking, &seen) {
        return (Aim::Who, rule);
    }
    if seen.past && shape.wants.is_some() {
        return (Aim::Happened, "past_tense");
    }
    (Aim::Find, if shape.wants.is_some() { "question" } else { "content" })
}

fn look(words: &Words<'_>) -> Seen {
    let tokens = words.tokens();
    let mut seen = Seen::default();
    for (at, token) in tokens.iter().enumerate() {
        let next = words.key_at(at + 1);
        match words.key(token) {
            "favourite" | "favorite" | "prefer" | "prefers" | "preferred" | "preference" | "preferences"
            | "likes" | "enjoy" | "enjoys" | "dislike" | "dislikes" | "hate" | "hates" | "fond of"
            | "最喜欢" | "喜欢" | "最爱" | "偏好" | "喜好" | "讨厌" | "更喜欢" | "偏爱" | "不喜欢"
            | "爱吃" | "喜欢吃" | "爱" | "感兴趣" => seen.like = true,
            // "What is it like" is no liking, "would I like" is.
            "like" | "love" | "loves" | "loved" | "liked" => {
                let before = at.checked_sub(1).map(|before| &tokens[before]);
                seen.like |= before.is_some_and(|before| {
                    before.has(Tag::FIRST | Tag::SECOND | Tag::THIRD)
                        || before.capital
                        || matches!(words.key(before), "not" | "really" | "also" | "family" | "to")
                        || before.has(Tag::RELATION)
                });
            }
            "rule" | "rules" | "policy" | "policies" | "guideline" | "guidelines" | "convention"
            | "conventions" | "regulation" | "regulations" | "standard" | "standards" | "requirement"
            | "requirements" | "allowed" | "permitted" | "forbidden" | "prohibited" | "supposed"
            | "mandatory" | "规则" | "规定" | "政策" | "制度" | "规范" | "准则" | "要求" | "约定"
            | "允许" | "禁止" | "禁忌" | "不许" | "守则" | "原则" | "流程规定" | "惯例" => {
                seen.rule_word = true
            }
            "should" | "must" => seen.may |= at < 2 || !tokens[at].starts,
            "must not" | "shouldn't" => seen.may = true,
            "may" if tokens[at].starts && next == "i" => seen.may = true,
            "can" | "could" if next == "we" || (next == "i" && words.key_at(at + 2) != "help") => {
                seen.may |= tokens[at].starts;
            }
            "need" | "have" if next == "to" => {
                seen.may |= tokens.first().is_some_and(|first| first.has(Tag::AUXILIARY))
            }
            "应该" | "必须" | "可以" | "能不能" | "可不可以" | "该不该" | "不能" | "需要" | "要不要" => {
                seen.may = true
            }
            "did" | "didn't" | "was" | "were" | "had" => seen.past = true,
            "last week" | "last month" | "last year" | "last night" | "yesterday" | "last time" | "ago"
            | "昨天" | "前天" | "上周" | "上个月" | "去年" | "上次" | "上一次" | "过" | "曾经" | "刚才"
            | "昨晚" | "上周末" | "之前" | "前几天" | "看过" | "去过" | "读过" | "吃过" | "玩过" | "听过"
            | "去了" | "看了" | "买了" | "吃了" | "读了" | "了" | "当时" | "那天" | "那次" => {
                seen.past = true
            }
            "happened" | "happen" | "happening" | "发生" | "发生了" | "怎么了" | "经过" | "出了什么事"
            | "怎么回事" => seen.happen = true,
            "about" => seen.about |= at > 0 && matches!(words.key_at(at - 1), "me" | "know" | "remember"),
            "name" | "names" | "called" | "named" | "叫" | "叫什么" | "名字" | "叫做" | "姓" => {
                seen.called = true
            }
            _ => {}
        }
    }
    seen
}

/// "How do I …", "how to …", 怎么做; not "how is she", "how was it", 怎么样.
fn is_procedure(words: &Words<'_>, asking: Option<usize>, seen: &Seen) -> bool {
    let Some(at) = asking else { return false };
    let next = words.key_at(at + 1);
    match words.key_at(at) {
        "how" => match next {
            "to" | "do" | "can" | "should" | "could" | "would" => true,
            "does" => !seen.like && !matches!(words.key_at(at + 3), "feel" | "look" | "know" | "think"),
            "is" | "are" => words.tokens()[at..].iter().take(8).any(|token| {
                matches!(
                    words.key(token),
                    "done"
                        | "made"
                        | "configured"
                        | "deployed"
                        | "installed"
                        | "built"
                        | "handled"
                        | "set"
                        | "processed"
                )
            }),
            _ => false,
        },
        "怎么样" => false,
        "怎么" | "怎样" | "如何" | "咋" => {
            !seen.past
                && !matches!(next, "了" | "" | "?")
                && !matches!(words.key_at(at + 1), "看待" | "会" | "知道" | "说" | "认识" | "看")
        }
        "怎么办" => true,
        _ => false,
    }
}

fn is_instruction_word(words: &Words<'_>) -> bool {
    words.tokens().iter().any(|token| {
        matches!(
            words.key(token),
            "steps"
                | "procedure"
                | "instructions"
                | "instruction"
                | "workflow"
                | "tutorial"
                | "walkthrough"
                | "runbook"
                | "步骤"
                | "流程"
                | "教程"
                | "操作方法"
                | "做法"
                | "方法"
                | "怎么做"
                | "怎么弄"
                | "怎么用"
        )
    })
}

/// Who somebody is, what something is called, what is known of it.
fn entity(words: &Words<'_>, shape: Shape, asking: Option<usize>, seen: &Seen) -> Option<&'static str> {
    let tokens = words.tokens();
    let next = asking.map_or("", |at| words.key_at(at + 1));
    if shape.wants == Some(Wants::Person) {
        // "Who did I meet" asks what happened; "who is", "who works" ask for a person.
        return if seen.past && next != "was" && next != "is" && !seen.called && next != "'s" {
            None
        } else {
            Some("asks_person")
        };
    }
    if seen.about && shape.wants.is_none() {
        return Some("tell_about");
    }
    let at = asking?;
    if seen.called && !seen.past {
        return Some("asks_name");
    }
    let key = words.key(&tokens[at]);
    let copula = matches!(next, "is" | "'s" | "are" | "was");
    if key == "what" && copula {
        let after = &tokens[(at + 2).min(tokens.len())..];
        // "What is Kubernetes?", "What is INC-90312?"
        let named = after.first().is_some_and(|token| {
            (token.capital && !token.has(Tag::STOP)) || matches!(token.kind, TokenKind::Mixed)
        });
        let alone = after.iter().take_while(|token| token.kind != TokenKind::End).take(5).count() < 4;
        if named && alone && !after.iter().any(|token| token.kind == TokenKind::Clitic) {
            return Some("asks_what_it_is");
        }
        let head = concepts_of_head(words, at);
        if !head
            .intersection(ConceptSet::of(&[
                Concept::Contact,
                Concept::Name,
                Concept::Age,
                Concept::Birthday,
                Concept::Job,
            ]))
            .is_empty()
        {
            return Some("asks_attribute");
        }
    }
    if matches!(key, "什么" | "谁" | "是谁" | "啥") {
        let last = !tokens[at + 1..].iter().any(Token::is_content);
        let few = tokens[..at].iter().filter(|token| token.is_content()).take(8).count();
        let head = concepts_of_head(words, at);
        if last
            && few > 0
            && few < 6
            && words.key_at(at.wrapping_sub(1)) == "是"
            && head.is_empty()
            && !seen.past
        {
            return Some("asks_what_it_is");
        }
        if !head.intersection(ConceptSet::of(&[Concept::Contact, Concept::Name, Concept::Job])).is_empty()
            && !seen.past
        {
            return Some("asks_attribute");
        }
    }
    None
}

/// "Translate this: …": all that is needed comes with it.
fn is_work_on_text(words: &Words<'_>) -> bool {
    let tokens = words.tokens();
    let mut command = false;
    let mut this = false;
    for (at, token) in tokens.iter().enumerate().take(24) {
        let key = words.key(token);
        if token.kind == TokenKind::Mark && key == ":"
            || token.kind == TokenKind::End && words.source(token) == "\n"
        {
            return command && this && tokens[at + 1..].iter().any(Token::is_content);
        }
        match key {
            "please" | "can" | "could" | "you" | "help" | "me" | "请" | "帮我" | "帮忙" | "麻烦" | "你"
            | "把" | "将" | "给我" | "帮" | "," => {}
            "translate" | "summarize" | "summarise" | "rewrite" | "proofread" | "paraphrase" | "rephrase"
            | "correct" | "翻译" | "翻译成" | "润色" | "改写" | "总结" | "概括" | "校对" => {
                command = true;
                this |= key.starts_with('翻');
            }
            "this" | "these" | "following" | "below" | "以下" | "下面" | "下列" | "这段" | "这段话"
            | "这句话" | "这句" | "这个" | "这篇" => this = true,
            // Whatever reaches back to what was said before needs it.
            _ if token.has(Tag::FIRST | Tag::ASKS)
                || matches!(
                    key,
                    "last" | "previous" | "yesterday" | "earlier" | "上次" | "之前" | "昨天"
                ) =>
            {
                return false;
            }
            _ if !command => return false,
            _ => {}
        }
    }
    false
}
