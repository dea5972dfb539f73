//! Reading the tokens of one text: which ones are content, and what the others do.

use super::lexicon::{self, Term};
use super::tokens::{Kind, Token};

/// What an item does to the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain(Term),
    Comma,
    Colon,
    Equals,
    End,
}

/// One read item: a token, or a listed phrase of several.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) role: Role,
    /// As compared for "the same statement".
    pub(super) exact: String,
    /// As compared for "the same topic": inflection taken off.
    pub(super) topic: String,
    /// The words as found, in lower case.
    pub(super) text: String,
    /// As written.
    pub(super) source: String,
    pub(super) kind: Kind,
    pub(super) capital: bool,
    pub(super) initial: bool,
    pub(super) date: bool,
}

impl Item {
    pub(super) fn is(&self, term: Term) -> bool {
        self.role == Role::Plain(term)
    }

    /// Carries meaning of its own, scope words included.
    pub(super) fn is_content(&self) -> bool {
        matches!(self.role, Role::Plain(Term::Content | Term::Scope | Term::Condition | Term::Question))
    }

    pub(super) fn is_number(&self) -> bool {
        self.kind == Kind::Number
    }

    pub(super) fn is_preposition(&self) -> bool {
        lexicon::PREPOSITIONS.contains(&self.text.as_str())
    }
}

/// The longest English entry of the lists, in words.
const LONGEST_PHRASE: usize = 4;

/// Reads tokens into items.
pub(super) fn read(tokens: &[Token]) -> Vec<Item> {
    let speaker = speaker_is_unambiguous(tokens);
    let mut items: Vec<Item> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    let mut start = true;
    let mut past = false;
    while let Some(token) = tokens.get(at) {
        let mut length = 1;
        let mut text = token.text.clone();
        let mut term = Term::Content;
        match token.kind {
            Kind::Word => {
                if let Some((found, words, phrase)) = phrase(tokens, at, start, &items) {
                    (term, length, text) = (found, words, phrase);
                }
            }
            Kind::Han if exempts(tokens, at) => {
                (term, length, text) = (Term::Exempt, 2, "不用".to_owned());
            }
            Kind::Han => term = chinese_term(tokens, at, start),
            _ => {}
        }
        // "Correction: …" and 更正：… say that what follows has changed.
        let leads = |place: usize| {
            tokens.get(place).is_some_and(|token| lexicon::LEAD_INS.contains(&token.text.as_str()))
        };
        if at == 0 && leads(0) {
            let set_off = tokens.get(1).is_some_and(|next| matches!(next.kind, Kind::Colon | Kind::Comma));
            if set_off || token.text == "actually" {
                (term, length, text) = (Term::Changed, 1, token.text.clone());
            }
        }
        let role = match token.kind {
            Kind::Colon if at == 1 && leads(0) => Role::Comma,
            Kind::Comma => Role::Comma,
            Kind::Colon => Role::Colon,
            Kind::Equals => Role::Equals,
            Kind::End(_) => Role::End,
            _ => Role::Plain(term),
        };
        // "Don't …" and "Never …" at the start forbid.
        let role = match role {
            Role::Plain(Term::Not) if start && matches!(text.as_str(), "not" | "never") => {
                Role::Plain(Term::MustNot)
            }
            other => other,
        };
        let kept_case = length == 1 && token.literal != token.text && term == Term::Content;
        let mut exact = if kept_case { token.literal.clone() } else { lexicon::canonical(&text).to_owned() };
        if speaker && points_to_speaker(tokens, at, start) {
            exact = "\u{2}self".to_owned();
        }
        let mut topic =
            if kept_case || token.kind != Kind::Word { exact.clone() } else { stem(&exact, past) };
        if matches!(role, Role::Plain(Term::Was)) && text == "did" {
            past = true;
        } else if term == Term::Content {
            past = false;
        }
        if let Role::Plain(Term::Scope | Term::Condition) = role {
            topic.clone_from(&exact);
        }
        let possessive = matches!(text.as_str(), "my") && exact == "\u{2}self";
        let date = is_date(tokens, at);
        let initial = start;
        let keeps_start = matches!(role, Role::End)
            || (start
                && (matches!(
                    role,
                    Role::Plain(Term::Filler | Term::Reminder | Term::Changed) | Role::Comma
                ) || matches!(text.as_str(), "do" | "always" | "so" | "and")));
        start = keeps_start;
        items.push(Item {
            role,
            exact,
            topic,
            source: if length == 1 { token.source.clone() } else { text.clone() },
            text,
            kind: token.kind,
            capital: token.capital,
            initial,
            date,
        });
        if possessive {
            items.push(Item {
                role: Role::Plain(Term::Content),
                exact: "'s".to_owned(),
                topic: "'s".to_owned(),
                text: "'s".to_owned(),
                source: "'s".to_owned(),
                kind: Kind::Word,
                capital: false,
                initial: false,
                date: false,
            });
        }
        if let Some(verb) = implied(&items) {
            items.push(verb);
        }
        at += length;
    }
    cancel_negated_stops(&mut items);
    items
}

/// To be out of something is not to have it: the verb that is not said.
fn implied(items: &[Item]) -> Option<Item> {
    let last = items.last().filter(|item| item.is(Term::Not) && item.text == "out of")?;
    let mut verb = last.clone();
    verb.role = Role::Plain(Term::Content);
    verb.exact = "\u{2}have".to_owned();
    verb.topic = "have".to_owned();
    Some(verb)
}

/// "Do not stop using it" asks to go on: neither word negates then.
fn cancel_negated_stops(items: &mut [Item]) {
    for at in 1..items.len() {
        if items[at].is(Term::Stop) && matches!(items[at - 1].role, Role::Plain(Term::Not | Term::MustNot)) {
            items[at].role = Role::Plain(Term::Content);
            items[at - 1].role = Role::Plain(Term::Content);
        }
    }
}

/// The longest listed phrase that begins here, unless its surroundings speak against it.
fn phrase(tokens: &[Token], at: usize, start: bool, before: &[Item]) -> Option<(Term, usize, String)> {
    let run = tokens[at..].iter().take(LONGEST_PHRASE).take_while(|token| token.kind == Kind::Word).count();
    for length in (1..=run).rev() {
        let words: Vec<&str> = tokens[at..at + length].iter().map(|token| token.text.as_str()).collect();
        let text = words.join(" ");
        let Some(term) = lexicon::term(&text) else { continue };
        let previous = before.last();
        let next = tokens.get(at + length);
        let gerund = next.is_some_and(|token| token.kind == Kind::Word && token.text.ends_with("ing"));
        let term = match term {
            Term::Reminder if !start => Term::Content,
            Term::Like(_)
                if text.starts_with("like")
                    && previous.is_some_and(|item| lexicon::COMPARING.contains(&item.text.as_str())) =>
            {
                Term::Content
            }
            // "Avoid tabs" against "Use tabs", "I prefer tabs".
            Term::Stop
                if !gerund
                    && text.starts_with("avoid")
                    && next.is_some_and(|token| token.kind == Kind::Word)
                    && (start
                        || previous.is_some_and(|item| lexicon::AVOIDING.contains(&item.text.as_str()))) =>
            {
                Term::Like(false)
            }
            Term::Stop | Term::Start if !gerund => Term::Content,
            // "The required field" names a field, "the field is required" judges it.
            Term::Pair(lexicon::REQUIRED, _) if !follows_be(before) => Term::Content,
            Term::Like(_) if text.contains(" fan ") && !follows_be(before) => Term::Content,
            Term::Not if text == "out of" && !follows_be(before) => Term::Content,
            Term::Start => Term::Changed,
            // "No, …" answers; "No 5" numbers; "May 5" dates.
            Term::Not
                if text == "no"
                    && next.is_none_or(|token| {
                        matches!(token.kind, Kind::Comma | Kind::Number | Kind::End(_))
                    }) =>
            {
                Term::Content
            }
            Term::Can if text == "may" && is_date(tokens, at) => Term::Content,
            // "She speaks kindly" tells how; "kindly wait" asks.
            Term::Filler if text == "kindly" && !start => Term::Content,
            // "Too" at the end adds; before an adjective it judges.
            Term::Filler
                if text == "too" && next.is_some_and(|token| !matches!(token.kind, Kind::End(_))) =>
            {
                Term::Content
            }
            // "Well, …" pads; a well is a thing, "works well" a judgement.
            Term::Grammar if text == "well" => Term::Content,
            // "As of now", "a house where he instead …": a marker wherever it stands.
            other => other,
        };
        return Some((term, length, text));
    }
    // A second person before a rule is whoever reads it.
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1)?;
    if start && token.text == "you" && next.kind == Kind::Word {
        let rule = matches!(
            lexicon::term(&next.text),
            Some(Term::Can | Term::Must | Term::Not | Term::Be) | Some(Term::Grammar)
        ) || matches!(next.text.as_str(), "have" | "need" | "do");
        if rule {
            return Some((Term::Grammar, 1, token.text.clone()));
        }
    }
    None
}

/// 不用预约 says that it need not be done, 不用红色 that the thing is not used.
fn exempts(tokens: &[Token], at: usize) -> bool {
    let [no, used, following @ ..] = &tokens[at..] else { return false };
    let following: String = following
        .iter()
        .take(4)
        .take_while(|token| token.kind == Kind::Han)
        .map(|token| token.text.as_str())
        .collect();
    no.text == "不" && used.text == "用" && lexicon::is_exempted(&following)
}

/// Whether a form of "be" stands just before, apart from negations and intensifiers.
fn follows_be(before: &[Item]) -> bool {
    before
        .iter()
        .rev()
        .find(|item| {
            !matches!(item.role, Role::Plain(Term::Not | Term::Grammar | Term::Changed | Term::Filler))
        })
        .is_some_and(|item| item.is(Term::Be))
}

fn chinese_term(tokens: &[Token], at: usize, start: bool) -> Term {
    let token = &tokens[at];
    if matches!(token.text.as_str(), "你" | "您" | "大家") && start {
        let next = tokens.get(at + 1).and_then(|token| lexicon::term(&token.text));
        if matches!(
            next,
            Some(
                Term::Can | Term::CanNot | Term::Must | Term::MustNot | Term::Need | Term::Exempt | Term::Not
            )
        ) {
            return Term::Grammar;
        }
    }
    if token.text == "以后" && start {
        return Term::Changed;
    }
    let next = tokens.get(at + 1);
    let neighbour = |place: Option<usize>| {
        place
            .and_then(|place| tokens.get(place))
            .filter(|token| token.kind == Kind::Han)
            .map_or("", |token| token.text.as_str())
    };
    // 看得见, 看不见
    if matches!(token.text.as_str(), "得" | "不")
        && lexicon::is_complemented(neighbour(at.checked_sub(1)), neighbour(Some(at + 1)))
    {
        let able = tokens[..at].iter().any(|token| lexicon::term(&token.text) == Some(Term::Can));
        return match token.text.as_str() {
            "不" if able => Term::Not,
            "不" => Term::CanNot,
            _ if able => Term::Grammar,
            _ => Term::Can,
        };
    }
    match lexicon::term(&token.text) {
        // 需要的材料 and 根据需要 name a thing.
        Some(Term::Exempt) if next.is_some_and(|next| next.text == "的") => Term::Content,
        Some(Term::Need) if next.is_none_or(|next| next.kind == Kind::End(false) || next.text == "的") => {
            Term::Content
        }
        Some(Term::Pair(lexicon::REQUIRED, _)) if neighbour(at.checked_sub(1)) != "是" => Term::Content,
        // 请用空格 asks; 请他吃饭 invites, 申请 is another word.
        Some(Term::Filler)
            if token.text == "请"
                && !(start
                    && next
                        .is_some_and(|next| next.text.starts_with(|c| lexicon::REQUESTED.contains(c)))) =>
        {
            Term::Content
        }
        // Particles close a sentence; inside one the syllable belongs to a word, as in 酒吧.
        Some(Term::Filler)
            if matches!(token.text.as_str(), "吧" | "啊" | "呀" | "哦" | "啦")
                && (next.is_some_and(|next| !matches!(next.kind, Kind::End(_) | Kind::Comma))
                    || (at > 0
                        && matches!(tokens[at - 1].text.as_str(), "酒" | "网" | "贴" | "水" | "书"))) =>
        {
            Term::Content
        }
        Some(Term::Reminder) if !start => Term::Content,
        // 我最喜欢的颜色: the liking belongs to the thing named, it is not stated.
        Some(Term::Like(_)) if tokens.get(at + 1).is_some_and(|next| next.text == "的") => Term::Content,
        // 有效的方法 likewise.
        Some(Term::Pair(..))
            if tokens.get(at + 1).is_some_and(|next| next.text == "的")
                && tokens.get(at + 2).is_some_and(|next| next.kind == Kind::Han) =>
        {
            Term::Content
        }
        Some(Term::Single(_)) if at == 0 => Term::Content,
        Some(term) => term,
        None => Term::Content,
    }
}

/// Where both "I" and "the user" occur they may be two people.
fn speaker_is_unambiguous(tokens: &[Token]) -> bool {
    let first = tokens
        .iter()
        .any(|token| matches!(token.text.as_str(), "i" | "my" | "me" | "mine" | "myself" | "我"));
    let third = tokens.iter().any(|token| matches!(token.text.as_str(), "user" | "users" | "用户"));
    !(first && third)
}

fn points_to_speaker(tokens: &[Token], at: usize, start: bool) -> bool {
    let token = &tokens[at];
    if lexicon::SELF.contains(&token.text.as_str()) || token.text == "用户" {
        return true;
    }
    let article =
        at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|token| token.text == "the");
    token.text == "user" && (article || start)
}

/// A word of the calendar, or a number that belongs to one.
fn is_date(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let neighbour = |place: Option<usize>| place.and_then(|place| tokens.get(place));
    let around = [neighbour(at.checked_sub(1)), neighbour(Some(at + 1))];
    let numbered = around.iter().flatten().any(|token| token.kind == Kind::Number);
    match token.kind {
        Kind::Number => {
            let text = token.text.as_str();
            let clock = text.contains(':');
            let calendar = text.matches('-').count() == 2 && text.len() >= 8;
            clock
                || calendar
                || around
                    .iter()
                    .flatten()
                    .any(|token| lexicon::is_calendar(&token.text) && token.text != "am")
        }
        Kind::Word if matches!(token.text.as_str(), "may" | "march") => {
            numbered || (token.capital && at > 0 && !matches!(tokens[at - 1].kind, Kind::End(_)))
        }
        Kind::Word if matches!(token.text.as_str(), "am" | "pm" | "sun" | "mar" | "sat") => numbered,
        Kind::Han if matches!(token.text.as_str(), "年" | "月" | "日" | "号" | "点") => numbered,
        Kind::Word | Kind::Han => lexicon::is_calendar(&token.text),
        _ => false,
    }
}

/// Takes the inflection of English off a word, and nothing else: "policy" and "police"
/// stay apart. Past forms keep a mark, since what was true need not be.
pub(super) fn stem(word: &str, past: bool) -> String {
    let marked = |base: String, past: bool| if past { format!("{base}\u{3}past") } else { base };
    if !word.is_ascii() || word.len() < 4 {
        return marked(word.to_owned(), past);
    }
    if let Some(base) = word.strip_suffix("ies") {
        return marked(format!("{base}y"), past);
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return marked(word[..word.len() - 2].to_owned(), past);
        }
    }
    if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is") {
        return marked(word[..word.len() - 1].to_owned(), past);
    }
    if let Some(base) = word.strip_suffix("ing").filter(|base| has_vowel(base)) {
        return marked(restored(base), past);
    }
    if let Some(base) = word.strip_suffix("ied").filter(|base| base.len() > 1) {
        return marked(format!("{base}y"), true);
    }
    if !word.ends_with("eed")
        && let Some(base) = word.strip_suffix("ed").filter(|base| has_vowel(base))
    {
        return marked(restored(base), true);
    }
    marked(word.to_owned(), past)
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

fn has_vowel(word: &str) -> bool {
    word.bytes().any(is_vowel)
}

/// The base of a word whose "-ing" or "-ed" is off: "smok" is "smoke", "runn" is "run".
fn restored(base: &str) -> String {
    let bytes = base.as_bytes();
    let length = bytes.len();
    if ["at", "bl", "iz"].iter().any(|ending| base.ends_with(ending)) {
        return format!("{base}e");
    }
    if length > 2
        && bytes[length - 1] == bytes[length - 2]
        && !matches!(bytes[length - 1], b'l' | b's' | b'z')
    {
        return base[..length - 1].to_owned();
    }
    let closing = |at: usize| !is_vowel(bytes[at]);
    let vowels = bytes.windows(2).filter(|pair| is_vowel(pair[0]) && !is_vowel(pair[1])).count();
    let short = (length == 2 && is_vowel(bytes[0]) && closing(1))
        || (length > 2
            && closing(length - 1)
            && is_vowel(bytes[length - 2])
            && closing(length - 3)
            && !matches!(bytes[length - 1], b'w' | b'x' | b'y'));
    if vowels == 1 && short { format!("{base}e") } else { base.to_owned() }
}
