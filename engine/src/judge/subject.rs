//! Finding "this thing has that value" in a statement.

use xxhash_rust::xxh3::xxh3_64;

use super::correction;
use super::lexicon::{self, CALLED, LIVE, MEASURES, Term, WORK};
use super::marks::{Item, Role};
use super::tokens::Kind;

/// How the value is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// X is Y, X: Y.
    Copula,
    /// X = Y.
    Assign,
    /// X lives in Y.
    Verb,
    /// X在Y, which only a move changes: one can be in two places.
    At,
    /// X changed to Y.
    Change,
    /// X moved to Y.
    Move,
}

/// What kind of thing a value is; values of two kinds answer two questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Date,
    Number,
    Color,
    Name,
    Other,
}

impl Shape {
    pub(super) fn is_typed(self) -> bool {
        matches!(self, Self::Date | Self::Number)
    }
}

/// A subject and its value.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) hash: u64,
    pub(super) form: Form,
    /// Only "it": the subject is whatever was spoken of before.
    pub(super) pointing: bool,
    /// The subject names an attribute, of which there is one value at a time.
    pub(super) attribute: bool,
    /// The subject is the part of one person, whose value is a name.
    pub(super) role: bool,
    /// The verb itself says that the value is new.
    pub(super) turns: bool,
    /// The value only judges the subject.
    pub(super) judging: bool,
    pub(super) past: bool,
    pub(super) value: u64,
    pub(super) value_text: Box<str>,
    pub(super) shape: Shape,
    /// The value without its numbers.
    pub(super) template: u64,
    /// The value begins with an article.
    pub(super) nominal: bool,
    /// The value begins with a preposition of place or time.
    pub(super) placed: bool,
    /// Dates inside a value that is more than a date: two dated readings both hold.
    pub(super) dated: u64,
    /// The narrowing words outside the subject.
    pub(super) scope: u64,
    /// Too much for a value: clauses, lists, explanations.
    pub(super) long: bool,
}

/// Where the parts of a statement are.
struct Cut<'items> {
    subject: &'items [Item],
    value: &'items [Item],
    form: Form,
    past: bool,
    verb: Option<u8>,
    turns: bool,
    /// Nothing but the value is said.
    bare: bool,
}

/// Words that change a value which stands further on: "changed X to Y".
const CHANGING: &[&str] = &[
    "changed",
    "change",
    "switched",
    "switch",
    "set",
    "updated",
    "update",
    "renamed",
    "rename",
    "moved",
    "move",
    "rescheduled",
    "reschedule",
    "raised",
    "raise",
    "lowered",
    "lower",
    "increased",
    "increase",
    "reduced",
    "reduce",
];
const LONGEST_VALUE: usize = 8;

/// The subject and value of one sentence, if it has that shape.
pub(super) fn find(items: &[Item]) -> Option<Subject> {
    let end = items.iter().position(|item| item.role == Role::End).unwrap_or(items.len());
    let items = &items[..end];
    let bound = |item: &Item| {
        matches!(
            item.role,
            Role::Plain(Term::Can | Term::CanNot | Term::Must | Term::MustNot | Term::Need | Term::Exempt)
        )
    };
    if items.iter().any(bound) {
        return None;
    }
    describe(&cut(items)?)
}

fn cut(items: &[Item]) -> Option<Cut<'_>> {
    let first = |wanted: &dyn Fn(&Item) -> bool| items.iter().position(wanted).filter(|at| *at > 0);
    let split = |at: usize, form: Form, verb: Option<u8>| {
        Some(Cut {
            subject: &items[..at],
            value: &items[at + 1..],
            form,
            past: false,
            verb,
            turns: matches!(form, Form::Change | Form::Move),
            bare: false,
        })
    };
    if let Some(at) = first(&|item| item.role == Role::Equals) {
        return split(at, Form::Assign, None);
    }
    if let Some(at) = first(&|item| item.role == Role::Colon) {
        return split(at, Form::Copula, None);
    }
    if let Some(cut) = named_after(items) {
        return Some(cut);
    }
    if let Some(cut) = changed_object(items) {
        return Some(cut);
    }
    if let Some(at) =
        first(&|item| matches!(item.role, Role::Plain(Term::Change | Term::Move | Term::MoveHome)))
    {
        return match items[at].role {
            Role::Plain(Term::MoveHome) => split(at, Form::Verb, Some(LIVE)),
            Role::Plain(Term::Move) => match moves_house(items, at) {
                true => split(at, Form::Verb, Some(LIVE)),
                false => split(at, Form::Move, None),
            },
            _ => split(at, Form::Change, None),
        };
    }
    let single = first(&|item| matches!(item.role, Role::Plain(Term::Single(_))));
    let be_after = |from: usize| {
        items
            .iter()
            .skip(from)
            .position(|item| item.is(Term::Be) || (item.is(Term::Was) && item.text.starts_with('w')))
    };
    if let Some(at) = single
        && be_after(at).is_none()
        && let Role::Plain(Term::Single(verb)) = items[at].role
    {
        return split(at, Form::Verb, Some(verb));
    }
    if let Some(cut) = chinese_work(items) {
        return Some(cut);
    }
    let from = single.unwrap_or(1);
    if let Some(at) = be_after(from).map(|at| at + from) {
        let past = items[at].is(Term::Was);
        return Some(Cut {
            subject: &items[..at],
            value: &items[at + 1..],
            form: Form::Copula,
            past,
            verb: None,
            turns: false,
            bare: false,
        });
    }
    if let Some(at) = first(&|item| item.kind == Kind::Han && item.text == "在") {
        return split(at - 1, Form::At, None).map(|cut| Cut { subject: &items[..at], ..cut });
    }
    // "No, floor 4": what is spoken of is left out.
    if correction::is_announced(items) && correction::is_bare_value(&items[2..]) {
        return split(1, Form::Copula, None).map(|cut| Cut { bare: true, ..cut });
    }
    // "Colour now red": only the marker stands between the two.
    let at = first(&|item| item.is(Term::Changed) && item.text == "now")?;
    split(at, Form::Copula, None).filter(|cut| is_attribute(cut))
}

/// "It is red now, my favourite colour": the thing is named after its value.
fn named_after(items: &[Item]) -> Option<Cut<'_>> {
    let [it, be, ..] = items else { return None };
    let mut commas = (0..items.len()).filter(|at| items[*at].role == Role::Comma);
    let (Some(comma), None) = (commas.next(), commas.next()) else { return None };
    if it.text != "it" || !be.is(Term::Be) || comma < 3 {
        return None;
    }
    let named = items.get(comma + 1).is_some_and(|item| matches!(item.text.as_str(), "my" | "the" | "our"));
    let cut = Cut {
        subject: &items[comma + 1..],
        value: &items[2..comma],
        form: Form::Copula,
        past: false,
        verb: None,
        turns: false,
        bare: false,
    };
    Some(cut).filter(|cut| named && is_attribute(cut))
}

/// "The colour I hate is blue": the liking belongs to the thing named, it is not stated.
pub(super) fn absorb_likings(items: &mut [Item]) {
    let Some(be) = items.iter().position(|item| item.is(Term::Be)) else { return };
    let Some(liking) = items[..be].iter().position(|item| matches!(item.role, Role::Plain(Term::Like(_))))
    else {
        return;
    };
    let named = items[..liking].iter().filter(|item| item.is_content()).count() > 1;
    let direct = items[liking..be].iter().all(|item| !item.is_content() && item.text != "that");
    if named && direct {
        items[liking].role = Role::Plain(Term::Content);
    }
}

/// "I changed my address to X", "the price was raised from 5 to 6".
fn changed_object(items: &[Item]) -> Option<Cut<'_>> {
    let verb = items.iter().position(|item| CHANGING.contains(&item.text.as_str()))?;
    let to = items.iter().rposition(|item| item.text == "to").filter(|to| *to > verb)?;
    let between = &items[verb + 1..to];
    let value = &items[to + 1..];
    if between.first().is_some_and(|item| item.text == "from") {
        let subject = &items[..verb];
        let moves = items[verb].text == "moved";
        let form = if moves { Form::Move } else { Form::Change };
        if moves && is_person(subject) && shape(&kept(value)) != Shape::Date {
            return Some(Cut {
                subject,
                value,
                form: Form::Verb,
                past: false,
                verb: Some(LIVE),
                turns: true,
                bare: false,
            });
        }
        return Some(Cut { subject, value, form, past: false, verb: None, turns: true, bare: false });
    }
    let actor_is_plain = items[..verb].iter().all(|item| {
        !item.is_content() || matches!(item.text.as_str(), "i" | "we" | "user" | "have" | "has" | "just")
    });
    if between.is_empty() || !actor_is_plain {
        return None;
    }
    let until = between.iter().position(|item| item.text == "from").unwrap_or(between.len());
    Some(Cut {
        subject: &between[..until],
        value,
        form: Form::Change,
        past: false,
        verb: None,
        turns: true,
        bare: false,
    })
}

/// 我在某地工作: the place stands inside.
fn chinese_work(items: &[Item]) -> Option<Cut<'_>> {
    let works = |item: &Item| matches!(item.text.as_str(), "工作" | "上班" | "任职");
    let last = items.iter().rposition(|item| !item.is(Term::Grammar)).filter(|last| works(&items[*last]))?;
    let at = items[..last].iter().position(|item| item.text == "在").filter(|at| *at > 0)?;
    Some(Cut {
        subject: &items[..at],
        value: &items[at + 1..last],
        form: Form::Verb,
        past: false,
        verb: Some(WORK),
        turns: false,
        bare: false,
    })
}

fn is_person(subject: &[Item]) -> bool {
    let content: Vec<&Item> = subject.iter().filter(|item| item.is_content() && !is_helper(item)).collect();
    content.first().is_some_and(|item| {
        item.exact == "\u{2}self" || matches!(item.text.as_str(), "he" | "she" | "we" | "they" | "他" | "她")
    }) || (!content.is_empty() && content.iter().all(|item| item.capital))
}

fn moves_house(items: &[Item], at: usize) -> bool {
    let value = kept(&items[at + 1..]);
    // "My meeting moved": the owner is a person, the subject is not.
    let owned = items[..at].iter().any(|item| item.text == "'s" || item.text == "的");
    items[at].text == "moved to" && is_person(&items[..at]) && !owned && !shape(&value).is_typed()
}

fn is_helper(item: &Item) -> bool {
    matches!(item.text.as_str(), "have" | "has" | "been" | "just" | "把" | "将")
}

/// The items that make up a subject or a value.
fn kept(items: &[Item]) -> Vec<&Item> {
    let dropped = [Term::Filler, Term::Grammar, Term::Reminder, Term::Changed, Term::Start, Term::Be];
    items
        .iter()
        .filter(|item| {
            !matches!(item.role, Role::Plain(term) if dropped.contains(&term))
                && !matches!(item.role, Role::End)
        })
        .collect()
}

fn subject_items<'items>(cut: &Cut<'items>) -> Vec<&'items Item> {
    let mut subject = kept(cut.subject);
    while subject.first().is_some_and(|item| item.role == Role::Comma) {
        subject.remove(0);
    }
    if matches!(cut.form, Form::Change | Form::Move) {
        let from = subject.iter().position(|item| matches!(item.text.as_str(), "从" | "from"));
        subject.truncate(from.unwrap_or(subject.len()));
        subject.retain(|item| !item.is(Term::Was));
    }
    if cut.form != Form::Copula {
        subject.retain(|item| !is_helper(item));
    }
    subject
}

fn is_attribute(cut: &Cut<'_>) -> bool {
    let subject = subject_items(cut);
    if cut.form == Form::Assign || subject.iter().any(|item| lexicon::singles_out(&item.exact)) {
        return true;
    }
    if head(&subject).is_some_and(|item| lexicon::is_attribute(&item.exact) || lexicon::is_role(&item.exact))
    {
        return true;
    }
    let joined: String =
        cut.subject.iter().filter(|item| item.kind == Kind::Han).map(|item| item.text.as_str()).collect();
    let kept: String =
        subject.iter().filter(|item| item.kind == Kind::Han).map(|item| item.text.as_str()).collect();
    lexicon::is_chinese_attribute(&kept) || lexicon::is_chinese_attribute(&joined)
}

/// The head of an English subject: its last word before any preposition.
fn head<'items>(subject: &[&'items Item]) -> Option<&'items Item> {
    let end = subject.iter().position(|item| item.is_preposition()).unwrap_or(subject.len());
    end.checked_sub(1).map(|at| subject[at])
}

fn is_role(subject: &[&Item]) -> bool {
    head(subject).is_some_and(|item| lexicon::is_role(&item.exact))
}

fn is_numeral(item: &Item) -> bool {
    item.kind == Kind::Number
        || (item.kind == Kind::Identifier && item.text.chars().any(|c| c.is_ascii_digit()))
        || (item.kind == Kind::Han && item.text.chars().all(|c| "一二三四五六七八九十".contains(c)))
}

fn shape(value: &[&Item]) -> Shape {
    let mut content = value.iter().filter(|item| !item.is_preposition()).peekable();
    if content.peek().is_none() {
        return Shape::Other;
    }
    let content: Vec<&&Item> = content.collect();
    // "Monday at 10" is a date; "20 on Monday" is a reading.
    let timed = value.iter().enumerate().all(|(at, item)| {
        let clock = item.is_number() && at > 0 && value[at - 1].is_preposition();
        item.date || item.is_preposition() || clock
    });
    if content.iter().any(|item| item.date) && timed {
        Shape::Date
    } else if content.iter().any(|item| is_numeral(item)) {
        Shape::Number
    } else if content.iter().all(|item| lexicon::is_color(&item.exact)) {
        Shape::Color
    } else if content.iter().all(|item| item.capital) {
        Shape::Name
    } else {
        Shape::Other
    }
}

fn hash_of<'text>(keys: impl Iterator<Item = &'text str>) -> u64 {
    let mut joined = String::new();
    for key in keys {
        joined.push('\u{1}');
        joined.push_str(key);
    }
    if joined.is_empty() { 0 } else { xxh3_64(joined.as_bytes()) }
}

fn describe(cut: &Cut<'_>) -> Option<Subject> {
    let mut subject = subject_items(cut);
    let attribute = is_attribute(cut);
    if attribute {
        // "My new address": new is the value, the subject is the address.
        subject.retain(|item| !matches!(item.text.as_str(), "new" | "latest"));
    }
    // 现在是白色的: what is spoken of is left out.
    let omitted = subject.is_empty()
        && cut.form == Form::Copula
        && (cut.bare || cut.subject.iter().any(|item| item.kind == Kind::Han && item.is(Term::Changed)));
    let pointing =
        omitted || matches!(subject.as_slice(), [only] if lexicon::POINTING.contains(&only.text.as_str()));
    let vague = subject.first().is_some_and(|item| lexicon::POINTING.contains(&item.text.as_str()));
    if (subject.is_empty() && !omitted)
        || (vague && !pointing)
        || subject
            .iter()
            .any(|item| item.role == Role::Comma || lexicon::RELATIVE_DAYS.contains(&item.text.as_str()))
    {
        return None;
    }
    let mut joined: Vec<&str> = subject.iter().map(|item| item.topic.as_str()).collect();
    let tag = cut.verb.map(|verb| format!("\u{2}{verb}"));
    joined.extend(tag.as_deref());

    let mut value = kept(cut.value);
    value.retain(|item| !matches!(item.text.as_str(), "家" | "instead"));
    let placed = value.first().is_some_and(|item| item.is_preposition());
    while value.first().is_some_and(|item| item.is_preposition()) {
        value.remove(0);
    }
    if value.is_empty() {
        return None;
    }
    let shape = shape(&value);
    if cut.bare && shape == Shape::Other {
        return None;
    }
    if let Some(verb) = cut.verb {
        // 叫 also means "tells somebody to"; "cost" and "weigh" take a measure.
        let person = value
            .first()
            .is_some_and(|item| item.exact == "\u{2}self" || "我你他她它".contains(item.text.as_str()));
        if (MEASURES.contains(&verb) && shape != Shape::Number)
            || (verb == CALLED && (person || value.len() > 3))
        {
            return None;
        }
    }
    let nominal =
        cut.value.iter().find(|item| !item.is(Term::Changed) && !item.is_preposition()).is_some_and(|item| {
            matches!(item.text.as_str(), "a" | "an" | "the" | "my" | "his" | "her" | "our" | "their")
        });
    let long = value.len() > LONGEST_VALUE
        || value.iter().any(|item| {
            matches!(item.role, Role::Comma | Role::Colon)
                || matches!(item.text.as_str(), "but" | "because" | "that" | "and")
        });
    let in_value = |item: &&&Item| item.is(Term::Scope);
    let dated = if shape == Shape::Date {
        0
    } else {
        hash_of(value.iter().filter(|item| item.date).map(|item| item.text.as_str()))
    };
    let mut value_text = String::new();
    for item in &value {
        let spaced = item.kind != Kind::Han && !value_text.is_empty();
        value_text.push_str(if spaced { " " } else { "" });
        value_text.push_str(&item.source);
    }
    Some(Subject {
        hash: hash_of(joined.into_iter()),
        form: if cut.verb.is_some() { Form::Verb } else { cut.form },
        pointing,
        attribute,
        role: is_role(&subject),
        turns: cut.turns,
        judging: value.iter().any(|item| lexicon::JUDGING.contains(&item.text.as_str())),
        past: cut.past,
        value: hash_of(value.iter().map(|item| item.exact.as_str())),
        value_text: value_text.into_boxed_str(),
        shape,
        template: hash_of(
            value
                .iter()
                .filter(|item| !is_numeral(item) && !item.is_preposition())
                .map(|item| item.topic.as_str()),
        ),
        nominal,
        placed,
        dated,
        scope: hash_of(value.iter().filter(in_value).map(|item| item.exact.as_str())),
        long,
    })
}
