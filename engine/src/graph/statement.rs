//! What a text states of entities: other names, relations, attributes.

use super::concept::Concept;
use super::lexicon::Tag;
use super::mention::Kind;
use super::reading::{Chain, Reading, possessed};
use super::words::TokenKind;

/// A statement of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Somebody's sister, boss or dog has a name.
    Alias {
        /// The owner and the relation in canonical form: "user's sister".
        alias: String,
        /// The name.
        name: String,
    },
    /// Two entities are related.
    Relation {
        /// Who.
        from: String,
        /// In what way: "works at", "lives in", "married to", …
        relation: &'static str,
        /// To whom or what.
        to: String,
    },
    /// An entity has an attribute.
    Attribute {
        /// Who.
        entity: String,
        /// Which: "birthday", "age", "job", "home town", "phone", "email", "favourite colour", …
        attribute: String,
        /// Its value, as written.
        value: String,
    },
}

/// The aliases, relations and attributes that a text states, in order.
///
/// The speaker stands for "I", "my" and 我; without one it is "user". Sentences that ask are
/// left out.
///
/// ```
/// use memcards::graph::{Statement, statements};
///
/// let found = statements("我妹妹叫安娜。", None);
/// assert_eq!(found, [Statement::Alias { alias: "user's sister".into(), name: "安娜".into() }]);
/// ```
#[must_use]
pub fn statements(text: &str, speaker: Option<&str>) -> Vec<Statement> {
    of_reading(&Reading::new(text, speaker))
}

pub(super) fn of_reading(reading: &Reading<'_>) -> Vec<Statement> {
    let mut maker = Maker { reading, all: Vec::new() };
    let mut start = 0;
    while start < reading.count() {
        let mut end = start;
        let mut asks = false;
        while let Some(token) = reading.token(end) {
            asks |= token.has(Tag::ASKS)
                && !matches!(reading.key(end), "when" | "who" | "which" | "where" | "几" | "how");
            end += 1;
            if token.kind == TokenKind::End {
                asks |= reading.key(end - 1) == "?";
                break;
            }
        }
        if !asks {
            maker.sentence(start, end);
        }
        start = end;
    }
    maker.all
}

pub(super) struct Maker<'r, 'a> {
    pub(super) reading: &'r Reading<'a>,
    all: Vec<Statement>,
}

/// Who a sentence speaks of, and the token after it.
struct Subject {
    entity: String,
    end: usize,
}

impl Maker<'_, '_> {
    pub(super) fn key(&self, at: usize) -> &str {
        self.reading.key(at)
    }

    pub(super) fn relation(&mut self, from: &str, relation: &'static str, to: String) {
        if !to.is_empty() && from != to {
            self.all.push(Statement::Relation { from: from.to_owned(), relation, to });
        }
    }

    pub(super) fn attribute(&mut self, entity: &str, attribute: &str, value: String) {
        if !value.is_empty() {
            self.all.push(Statement::Attribute {
                entity: entity.to_owned(),
                attribute: attribute.to_owned(),
                value,
            });
        }
    }

    fn sentence(&mut self, start: usize, end: usize) {
        let mut subject: Option<Subject> = None;
        let mut at = start;
        while at < end {
            let reading = self.reading;
            if let Some(after) = self.possessed_attribute(at, end) {
                at = after;
                continue;
            } else if let Some(chain) = reading.chain(at) {
                subject = Some(self.chain(at, &chain, end));
            } else if let Some((after, name, kind)) = reading.name(at) {
                if matches!(kind, Kind::Person | Kind::Other | Kind::Organisation) {
                    subject = Some(Subject { entity: name.to_owned(), end: after });
                    self.says(name.to_owned(), after, end);
                }
                at = after;
                continue;
            } else if matches!(self.key(at), "i" | "我" | "本人") {
                subject = Some(Subject { entity: reading.speaker.clone(), end: at + 1 });
            }
            match &subject {
                Some(Subject { entity, end: after }) if *after > at => {
                    let (entity, after) = (entity.clone(), *after);
                    self.says(entity, after, end);
                    at = after.max(at + 1);
                }
                _ => at += 1,
            }
        }
    }

    /// What a chain of possession is called; who is the subject from here on.
    fn chain(&mut self, at: usize, chain: &Chain, end: usize) -> Subject {
        let reading = self.reading;
        let alias = chain.canonical();
        let mut after = chain.end;
        let mut name = None;
        // "Rex is our dog", 安娜是我妹妹: the name stands before.
        let linked = at > 0 && matches!(self.key(at - 1), "is" | "was" | "'s" | "是" | "就是");
        if linked
            && let Some(before) = reading.name_before(at - 1)
            && !matches!(self.key(after), "'s" | "的")
        {
            self.all.push(Statement::Alias { alias, name: before.to_owned() });
            return Subject { entity: before.to_owned(), end: after };
        }
        if let Some((end, found)) = self.apposition(after) {
            name = Some(found);
            after = end;
        } else if let Some(place) = self.naming(after)
            && place < end
            && let Some((end, found)) = reading.called(place)
            && !matches!(self.key(end), "'s" | "的")
        {
            name = Some(found);
            after = end;
        }
        match name {
            Some(name) => {
                self.all.push(Statement::Alias { alias, name: name.clone() });
                Subject { entity: name, end: after }
            }
            None => Subject { entity: alias, end: after },
        }
    }

    /// "my sister Anna", "my boss, Mr Lee,", 我妹妹安娜.
    fn apposition(&self, at: usize) -> Option<(usize, String)> {
        let reading = self.reading;
        let comma = matches!(self.key(at), "," | "，");
        let (end, name, kind) = reading.name(if comma { at + 1 } else { at })?;
        if !matches!(kind, Kind::Person | Kind::Other) || self.key(end) == "'s" && comma {
            return None;
        }
        let closed = reading
            .token(end)
            .is_none_or(|token| matches!(token.kind, TokenKind::End) || self.key(end) == ",");
        (!comma || closed).then(|| (end, name.to_owned()))
    }

    /// The place of the name after "is called", "'s name is", 叫, 的名字是, "is".
    fn naming(&self, at: usize) -> Option<usize> {
        let key = |offset: usize| self.key(at + offset);
        if key(0) == "'s" && key(1) == "name" && matches!(key(2), "is" | "was") {
            return Some(at + 3);
        }
        match (key(0), key(1)) {
            ("is" | "was" | "'s" | "are", "called" | "named") => Some(at + 2),
            ("named" | "called", _) | ("叫" | "名叫" | "叫做" | "名字叫", _) => Some(at + 1),
            ("名字", "叫" | "是") => Some(at + 2),
            ("的", "名字") if matches!(key(2), "叫" | "是") => Some(at + 3),
            ("is" | "是" | "就是", _) => {
                // "My boss is Tom", not "my boss is French".
                let person = self
                    .reading
                    .name(at + 1)
                    .is_some_and(|(_, _, kind)| matches!(kind, Kind::Person | Kind::Other));
                person.then_some(at + 1)
            }
            _ => None,
        }
    }

    /// "My birthday is …", "Anna's favourite colour is …", 我的生日是….
    fn possessed_attribute(&mut self, at: usize, end: usize) -> Option<usize> {
        let reading = self.reading;
        let (entity, mut place) = if matches!(self.key(at), "my" | "我" | "我的") {
            (reading.speaker.clone(), at + 1)
        } else {
            let (after, name, kind) = reading.name(at)?;
            if !matches!(kind, Kind::Person | Kind::Other) || !matches!(self.key(after), "'s" | "的") {
                return None;
            }
            (name.to_owned(), after + 1)
        };
        if self.key(place) == "的" {
            place += 1;
        }
        let (attribute, after) = self.attribute_name(place)?;
        let value = match (self.key(after), self.key(after + 1)) {
            ("is" | "'s", "on" | "at") => after + 2,
            ("is" | "'s" | "are" | "是" | "在" | "为", _) => after + 1,
            _ => return None,
        };
        let (value, after) = self.value(value, end)?;
        self.attribute(&entity, &attribute, value);
        Some(after)
    }

    fn attribute_name(&self, at: usize) -> Option<(String, usize)> {
        let plain = match self.key(at) {
            "birthday" | "date of birth" | "生日" | "出生日期" => "birthday",
            "age" | "年龄" => "age",
            "job" | "profession" | "occupation" | "职业" | "工作" => "job",
            "hometown" | "home town" | "家乡" | "老家" | "故乡" => "home town",
            "phone" | "phone number" | "电话" | "电话号码" | "手机号" | "手机" => "phone",
            "email" | "email address" | "e mail" | "邮箱" | "电子邮件" => "email",
            "address" | "地址" | "住址" => "address",
            "name" | "名字" | "姓名" => "name",
            "nickname" | "昵称" | "外号" | "小名" => "nickname",
            "nationality" | "国籍" => "nationality",
            "favourite" | "favorite" | "最喜欢" | "最爱" => {
                let mut end = at + 1;
                if self.key(end) == "的" {
                    end += 1;
                }
                let first = end;
                let names = |end: usize| {
                    self.reading
                        .token(end)
                        .is_some_and(|token| token.is_content() && !token.has(Tag::AUXILIARY))
                        && !matches!(self.key(end), "是" | "就是")
                };
                while end < first + 3 && names(end) {
                    end += 1;
                }
                if end == first {
                    return None;
                }
                let what: String = self.reading.source(first, end).to_lowercase();
                let what = english_class(self.reading, first, end).unwrap_or(what);
                return Some((format!("favourite {what}"), end));
            }
            _ => return None,
        };
        let after =
            if matches!(self.key(at), "phone" | "电话") && matches!(self.key(at + 1), "number" | "号码") {
                at + 2
            } else {
                at + 1
            };
        Some((plain.to_owned(), after))
    }

    /// The words up to the end of the clause.
    pub(super) fn value(&self, at: usize, end: usize) -> Option<(String, usize)> {
        let mut after = at;
        while after < end.min(at + 12) {
            let token = self.reading.token(after)?;
            let stops = matches!(token.kind, TokenKind::End)
                || (token.kind == TokenKind::Mark
                    && matches!(self.key(after), "," | "，" | "、" | "(" | "（"))
                || (after > at
                    && matches!(
                        self.key(after),
                        "but" | "because" | "so" | "which" | "但" | "但是" | "因为" | "所以"
                    ));
            if stops {
                break;
            }
            after += 1;
        }
        (after > at && !matches!(self.key(at), "not" | "不" | "a" | "the" | "also"))
            .then(|| (self.reading.source(at, after), after))
    }

    /// What a sentence says of its subject, from the token after it on.
    fn says(&mut self, entity: String, at: usize, end: usize) {
        let mut verb = at;
        while verb < at + 3
            && (is_adverb(self.key(verb))
                || matches!(self.key(verb), "am" | "is" | "'m" | "'s" | "are" | "'re"))
        {
            verb += 1;
        }
        if verb >= end {
            return;
        }
        let copula = verb > at && (at..verb).any(|place| !is_adverb(self.key(place)));
        if self.reading.is_han(verb) {
            self.says_in_chinese(&entity, verb, end);
        } else {
            self.says_in_english(&entity, verb, end, copula);
        }
    }

    /// The name or the place that begins here.
    fn object(&self, at: usize) -> Option<String> {
        let at = if matches!(self.key(at), "the" | "a" | "an") { at + 1 } else { at };
        self.reading
            .chain(at)
            .map(|chain| chain.canonical())
            .or_else(|| self.reading.called(at).map(|(_, name)| name))
    }

    fn says_in_english(&mut self, entity: &str, verb: usize, end: usize, copula: bool) {
        let reading = self.reading;
        let (next, third) = (self.key(verb + 1), self.key(verb + 2));
        let object = |at: usize| if at < end { self.object(at) } else { None };
        let related = match (self.key(verb), next) {
            ("live" | "lives" | "living" | "reside" | "resides" | "based", "in" | "at") => {
                object(verb + 2).map(|to| ("lives in", to))
            }
            ("work" | "works" | "working" | "employed", "at" | "for" | "by") => {
                object(verb + 2).map(|to| ("works at", to))
            }
            ("married", "to") => object(verb + 2).map(|to| ("married to", to)),
            ("married", _) if !copula => object(verb + 1).map(|to| ("married to", to)),
            ("friends", "with") => object(verb + 2).map(|to| ("friend of", to)),
            ("colleagues", "with") => object(verb + 2).map(|to| ("colleague of", to)),
            ("belong" | "belongs", "to") => object(verb + 2).map(|to| ("belongs to", to)),
            ("own" | "owns", _) => self
                .object(verb + 1)
                .or_else(|| {
                    self.value(verb + if matches!(next, "a" | "an" | "the") { 2 } else { 1 }, end)
                        .map(|(value, _)| value)
                })
                .map(|to| ("owns", to)),
            ("a" | "an" | "the", _) if copula && third == "of" => {
                let kind = match next {
                    "friend" => Some("friend of"),
                    "colleague" | "coworker" => Some("colleague of"),
                    "member" => Some("member of"),
                    _ => None,
                };
                kind.and_then(|kind| {
                    self.object(verb + 3)
                        .or_else(|| {
                            self.value(
                                verb + if matches!(self.key(verb + 3), "the" | "a") { 4 } else { 3 },
                                end,
                            )
                            .map(|(value, _)| value)
                        })
                        .map(|to| (kind, to))
                })
            }
            _ => None,
        };
        if let Some((relation, to)) = related {
            return self.relation(entity, relation, to);
        }
        let number = reading.token(verb).is_some_and(|token| token.kind == TokenKind::Number);
        let word = reading.token(verb + 1);
        let ends = word.is_none_or(|word| !word.is_content());
        match self.key(verb) {
            "was" if next == "born" => match third {
                "on" => {
                    if let Some((value, _)) = self.value(verb + 3, end) {
                        self.attribute(entity, "birthday", value);
                    }
                }
                "in" => {
                    if let Some((_, name, Kind::Place)) = reading.name(verb + 3) {
                        self.attribute(entity, "home town", name.to_owned());
                    }
                }
                _ => {}
            },
            "from" if copula => {
                if let Some((_, name, Kind::Place | Kind::Other)) = reading.name(verb + 1) {
                    self.attribute(entity, "home town", name.to_owned());
                }
            }
            "grew up" | "grew" if matches!((next, third), ("up", "in")) => {
                if let Some((_, name, _)) = reading.name(verb + 3) {
                    self.attribute(entity, "home town", name.to_owned());
                }
            }
            "work" | "works" | "working" if next == "as" => {
                if let Some((value, _)) = self.profession(verb + 2, end) {
                    self.attribute(entity, "job", value);
                }
            }
            "a" | "an" if copula => {
                if let Some((value, _)) = self.profession(verb, end) {
                    self.attribute(entity, "job", value);
                }
            }
            "years old" => {}
            "called" | "named" if copula => {
                if let Some((_, name)) = reading.called(verb + 1) {
                    self.attribute(entity, "name", name);
                }
            }
            _ if number && copula && (ends || matches!(next, "years old" | "years" | "year old" | "yrs")) => {
                let value = reading.source(verb, verb + 1);
                if value.len() <= 3
                    && value.bytes().all(|byte| byte.is_ascii_digit())
                    && self.key(verb + 1) != "%"
                {
                    self.attribute(entity, "age", value);
                }
            }
            _ => {}
        }
    }

    /// "a senior software engineer": words up to the one for a job.
    fn profession(&self, at: usize, end: usize) -> Option<(String, usize)> {
        let first = if matches!(self.key(at), "a" | "an" | "the") { at + 1 } else { at };
        for place in first..end.min(first + 4) {
            let token = self.reading.token(place)?;
            if token.kind != TokenKind::Word || token.has(Tag::PREPOSITION) {
                return None;
            }
            let next = self.reading.token(place + 1);
            let last = next.is_none_or(|next| !next.common_concepts().contains(Concept::Job));
            if token.common_concepts().contains(Concept::Job) && !token.has(Tag::CLASS) && last {
                return Some((self.reading.source(first, place + 1), place + 1));
            }
        }
        None
    }
}

fn is_adverb(key: &str) -> bool {
    matches!(
        key,
        "also"
            | "now"
            | "currently"
            | "still"
            | "just"
            | "both"
            | "really"
            | "actually"
            | "already"
            | "happily"
    )
}

/// The English word of a class that a Chinese word names: 颜色 is "colour".
fn english_class(reading: &Reading<'_>, from: usize, to: usize) -> Option<String> {
    if to != from + 1 {
        return None;
    }
    let token = reading.token(from)?;
    let mut concepts = token.common_concepts().iter();
    let first = concepts.next()?;
    (concepts.next().is_none() && token.has(Tag::CLASS)).then(|| first.name().to_owned())
}

/// The canonical form of an alias: "user's sister".
#[must_use]
pub fn alias(owner: &str, relation: &str) -> String {
    possessed(owner, relation)
}
