//! The shape of the answer that a question wants, and the shape of what a text holds.

use super::concept::{Concept, ConceptSet, asks_place, concepts_of_head};
use super::lexicon::Tag;
use super::mention;
use super::words::{Token, TokenKind, Words};

/// What kind of answer a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wants {
    /// A point in time: when, what day.
    Time,
    /// A span of time: how long.
    Duration,
    /// Where.
    Place,
    /// Who.
    Person,
    /// How many, how much, how old, how often.
    Number,
    /// Why.
    Reason,
    /// How something is or is done.
    Manner,
    /// Several things of a class: which books.
    List,
    /// Whether something is so.
    YesNo,
    /// One of the things that the question names.
    Choice,
    /// Any other thing.
    Thing,
}

/// Which end of an order in time a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// The first, the earliest.
    First,
    /// The last, the latest.
    Last,
}

/// The shape of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// What it wants; nothing where it is no question.
    pub wants: Option<Wants>,
    /// More than one thing may be the answer.
    pub list: bool,
    /// It asks for the first or the last of several.
    pub ordering: Option<Ordering>,
    /// It compares: more than, the difference between, 更.
    pub comparison: bool,
    /// It asks how often, or how many times.
    pub frequency: bool,
}

/// How long a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Length {
    /// No word at all.
    #[default]
    Empty,
    /// Up to five words.
    Few,
    /// Up to twenty words: a sentence.
    Sentence,
    /// Up to eighty words: a paragraph.
    Paragraph,
    /// More.
    Long,
}

/// What a text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentShape {
    /// A number, in digits or words.
    pub number: bool,
    /// A word or figure for a date.
    pub date: bool,
    /// A span of time: two weeks.
    pub duration: bool,
    /// A place by name, or where something is.
    pub place: bool,
    /// A person by name.
    pub person: bool,
    /// A sum of money.
    pub money: bool,
    /// It asks something.
    pub question: bool,
    /// Nothing but a greeting, thanks or a reaction.
    pub small_talk: bool,
    /// It speaks in the first person.
    pub first_person: bool,
    /// How long it is.
    pub length: Length,
}

/// The shape of the answer that a question wants.
///
/// ```
/// use memcards::graph::{Wants, shape};
///
/// assert_eq!(shape("How long has Anna lived there?").wants, Some(Wants::Duration));
/// assert!(shape("他看过哪些电影？").list);
/// ```
#[must_use]
pub fn shape(question: &str) -> Shape {
    of_question(&Words::read(question))
}

pub(super) fn of_question(words: &Words<'_>) -> Shape {
    let tokens = words.tokens();
    let mut shape = Shape::default();
    let mut either = false;
    for (at, token) in tokens.iter().enumerate() {
        let key = words.key(token);
        match key {
            "or" | "还是" | "或者" => either = true,
            "than" | "compare" | "compared" | "versus" | "vs" | "difference" | "differ" | "differs"
            | "better" | "worse" | "more" | "更" | "比" | "区别" | "相比" | "不同" => {
                shape.comparison |=
                    key != "more" || tokens[at..].iter().take(6).any(|t| words.key(t) == "than");
            }
            "all" | "every" | "list" | "哪些" | "所有" | "哪几" | "哪几个" | "哪几种" | "哪几本"
            | "哪几部" | "全部" | "都" => {
                shape.list = true;
            }
            "how often" | "how many times" | "多久一次" | "几次" | "多少次" => {
                shape.frequency = true
            }
            _ => {}
        }
        if token.has(Tag::ORDER) && words.key_at(at + 1) != "name" && shape.ordering.is_none() {
            let first =
                matches!(key, "first" | "earliest" | "oldest" | "最早" | "第一次" | "首次" | "第一个");
            shape.ordering = Some(if first { Ordering::First } else { Ordering::Last });
        }
    }
    let asking = asking_word(words);
    shape.wants = match asking {
        Some(at) => Some(wanted(words, at, either, &mut shape)),
        None if is_question(words) => Some(if either { Wants::Choice } else { Wants::YesNo }),
        None if orders_list(words) => {
            shape.list = true;
            Some(Wants::List)
        }
        None => None,
    };
    shape
}

/// The place of the word that asks, if there is one.
pub(super) fn asking_word(words: &Words<'_>) -> Option<usize> {
    let tokens = words.tokens();
    let asks = |at: usize| tokens[at].has(Tag::ASKS) && !matches!(words.key(&tokens[at]), "吗" | "呢");
    let mut whether = false;
    let mut later = None;
    for at in 0..tokens.len() {
        if tokens[at].starts && tokens[at].kind == TokenKind::Word && begins_question(words, at) && !asks(at)
        {
            whether = true;
        }
        if !asks(at) {
            continue;
        }
        if tokens[at].kind == TokenKind::Han {
            return Some(at);
        }
        let before = at.checked_sub(1).map_or("", |before| words.key(&tokens[before]));
        let leads = at == 0
            || tokens[at].starts
            || matches!(
                before,
                "know"
                    | "me"
                    | "remember"
                    | "recall"
                    | "say"
                    | "think"
                    | "sure"
                    | "idea"
                    | "remind"
                    | "out"
                    | "check"
                    | "explain"
                    | "and"
                    | ","
                    | ":"
                    | "of"
                    | "about"
                    | "in"
                    | "at"
                    | "on"
                    | "for"
                    | "from"
                    | "with"
                    | "to"
                    | "but"
                    | "so"
                    | "then"
                    | "again"
                    | "you"
                    | "wondering"
                    | "since"
                    | "until"
                    | "by"
            );
        if leads {
            return Some(at);
        }
        // "Did she call when I was out?" asks whether; "Anna lives where?" asks where.
        later = later.or((!whether).then_some(at));
    }
    later.filter(|_| words.tokens().iter().any(|token| is_question_mark(words, token)))
}

fn is_question_mark(words: &Words<'_>, token: &Token) -> bool {
    token.kind == TokenKind::End && words.key(token) == "?"
}

/// An auxiliary verb at the start of a sentence.
fn begins_question(words: &Words<'_>, at: usize) -> bool {
    let token = &words.tokens()[at];
    token.has(Tag::AUXILIARY)
        && token.kind == TokenKind::Word
        && !matches!(words.key(token), "be" | "been" | "may" | "might" | "don't" | "must")
        // "Will" and "May" are names too; "do that" is an order.
        && words.tokens().get(at + 1).is_some_and(|next| next.kind != TokenKind::End)
        && !(matches!(words.key(token), "do" | "have") && matches!(words.key_at(at + 1), "it" | "that" | "this" | "not" | "a"))
}

/// True where a text asks: a question mark, an asking word at its place, 吗, A-not-A.
pub(super) fn is_question(words: &Words<'_>) -> bool {
    let tokens = words.tokens();
    tokens.iter().enumerate().any(|(at, token)| {
        let key = words.key(token);
        match token.kind {
            TokenKind::End => key == "?",
            TokenKind::Word if token.starts => {
                begins_question(words, at)
                    || (token.has(Tag::ASKS)
                        && !(matches!(key, "when" | "what" | "how" | "which" | "who" | "where")
                            && is_clause(words, at)))
            }
            TokenKind::Han => match key {
                "吗" | "为什么" | "什么时候" | "哪里" | "哪儿" | "哪些" | "哪个" | "怎么样" | "为啥"
                | "多久" | "多大" | "几岁" | "几点" | "是谁" | "哪天" | "哪年" | "何时" | "多少钱"
                | "是不是" | "有没有" | "能不能" | "会不会" | "可不可以" | "什么地方" | "哪位" | "是否"
                | "如何" | "干什么" => {
                    // "我知道他为什么来" tells; so does an asking word before 都 or 也.
                    !tokens[at..].iter().take(4).any(|token| matches!(words.key(token), "都" | "也"))
                }
                "什么" | "谁" | "怎么" | "几个" | "多少" | "几" | "哪" | "呢" => {
                    tokens[at..].iter().take(6).any(|token| is_question_mark(words, token))
                        || !tokens[at + 1..].iter().any(Token::is_content) && at > 0
                        || at == 0
                }
                _ => false,
            },
            _ => false,
        }
    })
}

/// "When I was young, …", "What a day": an asking word that asks nothing.
fn is_clause(words: &Words<'_>, at: usize) -> bool {
    let next = words.key_at(at + 1);
    let key = words.key_at(at);
    if words.tokens()[at..].iter().take(40).any(|token| is_question_mark(words, token)) {
        return false;
    }
    match key {
        "when" => !words.tokens().get(at + 1).is_some_and(|token| token.has(Tag::AUXILIARY)),
        "what" | "how" => matches!(
            next,
            "a" | "an" | "nice" | "lovely" | "wonderful" | "cool" | "i" | "exciting" | "cute" | "sweet"
        ),
        _ => next == "i",
    }
}

fn orders_list(words: &Words<'_>) -> bool {
    let mut content = words.tokens().iter().filter(|token| token.is_content());
    let first =
        content.find(|token| !matches!(words.key(token), "please" | "can" | "could" | "you" | "请" | "帮我"));
    first.is_some_and(|first| {
        matches!(words.key(first), "list" | "name" | "enumerate" | "列出" | "列举" | "列")
            || (matches!(words.key(first), "tell" | "show" | "give")
                && content.take(4).any(|token| matches!(words.key(token), "all" | "every" | "list")))
    }) || words.tokens().iter().any(|token| matches!(words.key(token), "列出" | "列举"))
}

fn wanted(words: &Words<'_>, at: usize, either: bool, shape: &mut Shape) -> Wants {
    let tokens = words.tokens();
    let next = words.key_at(at + 1);
    let following = |key: &str| tokens[at..].iter().any(|token| words.key(token) == key);
    match words.key(&tokens[at]) {
        "when" | "what time" | "what date" | "what day" | "which day" | "what year" | "which year"
        | "what month" | "which month" | "how soon" | "什么时候" | "什么时间" | "什么日子" | "哪天"
        | "哪一天" | "哪年" | "哪一年" | "何时" | "几点" | "几点钟" | "几号" | "几月" | "周几" | "星期几" => {
            Wants::Time
        }
        "how long" if next == "ago" => Wants::Time,
        "how long" | "多久" | "多长时间" | "几年" | "几天" | "几个月" | "几个小时" | "几小时" | "几周" => {
            if following("前") || following("以前") || following("之前") {
                Wants::Time
            } else {
                Wants::Duration
            }
        }
        "where" | "哪里" | "哪儿" | "什么地方" | "哪个地方" | "何处" | "哪边" => Wants::Place,
        "who" | "whom" | "whose" | "谁" | "是谁" | "哪位" | "什么人" | "哪个人" | "何人" => {
            shape.list |= next == "are" || next == "were";
            Wants::Person
        }
        "how many" | "how much" | "how often" | "how old" | "how far" | "how many times" | "how big"
        | "how tall" | "how heavy" | "how high" | "几" | "几个" | "几次" | "几只" | "几本" | "几部"
        | "几条" | "几岁" | "多少" | "多少钱" | "多少岁" | "多大" | "多大年纪" | "多高" | "多远" | "多重"
        | "多快" | "多久一次" => Wants::Number,
        "哪" if asks_place(words, at) => Wants::Place,
        "why" | "how come" | "为什么" | "为何" | "为啥" => Wants::Reason,
        "how" | "怎么" | "怎么样" | "怎样" | "如何" | "怎么办" | "咋" => Wants::Manner,
        "哪些" | "哪几" | "哪几个" | "哪几种" | "哪几本" | "哪几部" => {
            shape.list = true;
            Wants::List
        }
        _ => thing(words, at, either, shape),
    }
}

/// What, which, 什么, 哪个: by the noun that they ask for.
fn thing(words: &Words<'_>, at: usize, either: bool, shape: &mut Shape) -> Wants {
    let tokens = words.tokens();
    let next = words.key_at(at + 1);
    if matches!(next, "reason" | "reasons" | "made" | "caused" | "motivated" | "原因" | "理由")
        || tokens[at..].iter().take(4).any(|token| matches!(words.key(token), "reason" | "cause"))
        || at > 0 && matches!(words.key_at(at - 1), "原因是" | "因为")
    {
        return Wants::Reason;
    }
    if either {
        return Wants::Choice;
    }
    let plural = next == "are"
        || next == "were"
        || tokens[at + 1..]
            .iter()
            .take(3)
            .take_while(|token| token.is_content() && !token.has(Tag::AUXILIARY))
            .any(|token| {
                let key = words.key(token);
                token.kind == TokenKind::Word
                    && !token.concepts().is_empty()
                    && (is_plural(key) || key == "else")
            })
        || matches!(
            words.key(&tokens[at]),
            "what kinds of" | "what types of" | "what sorts of" | "what else"
        );
    shape.list |= plural || (at > 0 && matches!(words.key_at(at - 1), "都有" | "有"));
    let head = concepts_of_head(words, at);
    let has = |concepts: &[Concept]| !head.intersection(ConceptSet::of(concepts)).is_empty();
    if shape.list {
        return Wants::List;
    }
    if has(&[Concept::Date, Concept::Time, Concept::Birthday]) {
        Wants::Time
    } else if has(&[Concept::City, Concept::Country, Concept::Place, Concept::Restaurant]) {
        Wants::Place
    } else if has(&[Concept::Friend, Concept::Person, Concept::Colleague])
        || (head.contains(Concept::Name) && has(&[Concept::Family, Concept::Child, Concept::Partner]))
    {
        Wants::Person
    } else if has(&[Concept::Age, Concept::Number, Concept::Money]) {
        Wants::Number
    } else if has(&[Concept::Duration]) {
        Wants::Duration
    } else {
        Wants::Thing
    }
}

fn is_plural(key: &str) -> bool {
    (key.ends_with('s')
        && !key.ends_with("ss")
        && !key.ends_with("us")
        && !matches!(key, "series" | "class" | "tennis"))
        || matches!(key, "children" | "people" | "men" | "women" | "mice")
}

/// What a text holds, as far as rules can tell.
///
/// ```
/// use memcards::graph::content_shape;
///
/// let shape = content_shape("I paid $40 in Berlin yesterday.");
/// assert!(shape.money && shape.place && shape.date && shape.first_person);
/// assert!(content_shape("好的，谢谢！").small_talk);
/// ```
#[must_use]
pub fn content_shape(text: &str) -> ContentShape {
    of_content(&Words::read(text))
}

pub(super) fn of_content(words: &Words<'_>) -> ContentShape {
    let tokens = words.tokens();
    let mut shape = ContentShape::default();
    let (mut latin, mut han) = (0_usize, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        let key = words.key(token);
        if token.kind == TokenKind::Han {
            han += key.chars().count();
        } else if token.is_content() {
            latin += 1;
        }
        let calendar = token.has(Tag::CALENDAR) && (token.kind == TokenKind::Han || token.capital);
        shape.date |= token.has(Tag::DATE) || calendar;
        shape.first_person |= token.has(Tag::FIRST);
        shape.place |= token.is_place();
        let number = token.kind == TokenKind::Number || token.has(Tag::NUMBER);
        let next = tokens.get(at + 1);
        shape.number |=
            number || (token.kind == TokenKind::Mixed && key.starts_with(|c: char| c.is_ascii_digit()));
        if number {
            shape.date |= is_date_figure(key);
            if let Some(next) = next {
                let unit = words.key(next);
                let year = unit == "年" && key.len() == 4 && key.bytes().all(|byte| byte.is_ascii_digit());
                if matches!(unit, "月" | "日" | "号") || year {
                    shape.date = true;
                } else if next.has(Tag::UNIT) {
                    shape.duration = true;
                }
                shape.money |= next.has(Tag::MONEY);
            }
        }
        if token.kind == TokenKind::Han
            && token.has(Tag::UNIT)
            && matches!(key, "半年" | "半小时" | "半天" | "整天" | "多年")
        {
            shape.duration = true;
        }
        shape.money |= matches!(key, "$" | "€" | "£" | "¥" | "￥")
            && next.is_some_and(|next| next.kind == TokenKind::Number);
    }
    for mention in mention::found(words, &mention::Names::default()) {
        shape.place |= mention.kind == mention::Kind::Place;
        shape.person |= mention.kind == mention::Kind::Person;
    }
    shape.question = is_question(words);
    shape.small_talk = is_small_talk(words);
    shape.length = match latin + han * 2 / 3 + usize::from(han > 0) {
        0 => Length::Empty,
        1..=5 => Length::Few,
        6..=20 => Length::Sentence,
        21..=80 => Length::Paragraph,
        _ => Length::Long,
    };
    shape
}

/// 2023, 2023-05-01, 5/12.
fn is_date_figure(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    let plain = digits == key.len();
    (plain && digits == 4 && (key.starts_with("19") || key.starts_with("20")))
        || (!plain && matches!(digits, 3..=8) && (key.matches('-').count() == 2 || key.contains('/')))
}

/// True where a text has nothing but greetings, thanks and reactions. Anything else in it,
/// and any question that is not itself a greeting, makes it false.
pub(super) fn is_small_talk(words: &Words<'_>) -> bool {
    let tokens = words.tokens();
    let asks = tokens.iter().any(|token| is_question_mark(words, token));
    let mut polite = false;
    let mut content = false;
    for token in tokens {
        if !token.is_content() {
            // Brackets, quotes and signs say that there is more to it.
            let mark = words.key(token);
            if token.kind == TokenKind::Mark
                && !matches!(
                    mark,
                    "," | "~" | "、" | ":" | ")" | "(" | "-" | "—" | "*" | "^" | "～" | "_" | "'"
                )
            {
                return false;
            }
            continue;
        }
        let first = !content;
        content = true;
        if token.has(Tag::SMALL_TALK) {
            polite = true;
            continue;
        }
        let called = polite && token.has(Tag::GIVEN) && !token.has(Tag::STOP) && token.capital;
        if called {
            continue;
        }
        if !token.has(Tag::PADDING) || token.has(Tag::ASKS) {
            return false;
        }
        // "Was it good": a question without its mark.
        if (first && token.has(Tag::AUXILIARY) && token.kind == TokenKind::Word)
            || (asks
                && !matches!(
                    words.key(token),
                    "you" | "today" | "there" | "all" | "everyone" | "你" | "您" | "大家"
                ))
        {
            return false;
        }
    }
    polite || !content
}
