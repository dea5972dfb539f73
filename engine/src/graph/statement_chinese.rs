//! What a Chinese sentence says of its subject.

use super::concept::Concept;
use super::lexicon::Tag;
use super::mention::Kind;
use super::statement::Maker;
use super::words::TokenKind;

impl Maker<'_, '_> {
    pub(super) fn says_in_chinese(&mut self, entity: &str, at: usize, end: usize) {
        let reading = self.reading;
        let mut verb = at;
        while verb < at + 3
            && matches!(
                self.key(verb),
                "现在" | "目前" | "也" | "今年" | "就" | "一直" | "已经" | "都" | "正"
            )
        {
            verb += 1;
        }
        let next = self.key(verb + 1);
        let named = |at: usize| if at < end { reading.called(at) } else { None };
        match self.key(verb) {
            "住在" | "定居" => {
                let place = verb + 1 + usize::from(next == "在");
                if let Some((_, name)) = named(place) {
                    self.relation(entity, "lives in", name);
                }
            }
            "住" => {
                if let Some((_, name)) = named(verb + 1) {
                    self.relation(entity, "lives in", name);
                }
            }
            "在" => {
                if let Some((after, name)) = named(verb + 1)
                    && matches!(self.key(after), "工作" | "上班" | "任职" | "做" | "当" | "实习")
                {
                    self.relation(entity, "works at", name);
                }
            }
            "就职于" | "任职于" | "供职于" => {
                if let Some((_, name)) = named(verb + 1) {
                    self.relation(entity, "works at", name);
                }
            }
            "嫁给" | "娶了" => {
                if let Some((_, name)) = named(verb + 1 + usize::from(next == "了")) {
                    self.relation(entity, "married to", name);
                }
            }
            "和" | "跟" | "与" => {
                if let Some((after, name)) = named(verb + 1) {
                    let rest = (after..(after + 3).min(end)).map(|at| self.key(at));
                    let found = rest.filter_map(|key| match key {
                        "结婚" => Some("married to"),
                        "朋友" | "好朋友" | "好友" => Some("friend of"),
                        "同事" => Some("colleague of"),
                        _ => None,
                    });
                    if let Some(relation) = found.take(1).next() {
                        self.relation(entity, relation, name);
                    }
                }
            }
            "属于" | "拥有" => {
                let relation = if self.key(verb) == "属于" { "belongs to" } else { "owns" };
                if let Some((value, _)) = self.value(verb + 1, end) {
                    self.relation(entity, relation, value);
                }
            }
            "来自" => {
                if let Some((_, name)) = named(verb + 1) {
                    self.attribute(entity, "home town", name);
                }
            }
            "叫" | "名叫" | "叫做" => {
                if let Some((_, name)) = reading.called(verb + 1) {
                    self.attribute(entity, "name", name);
                }
            }
            "出生于" | "生于" => {
                if let Some((_, name, Kind::Place)) = reading.name(verb + 1) {
                    self.attribute(entity, "home town", name.to_owned());
                } else if let Some((value, _)) = self.value(verb + 1, end) {
                    self.attribute(entity, "birthday", value);
                }
            }
            "是" => self.is_in_chinese(entity, verb + 1, end),
            _ => {}
        }
        // 三十岁, 今年5岁了.
        let number = |at: usize| {
            reading.token(at).is_some_and(|token| token.kind == TokenKind::Number || token.has(Tag::NUMBER))
        };
        let mut after = verb;
        while after < verb + 4 && number(after) {
            after += 1;
        }
        if after > verb && matches!(self.key(after), "岁" | "周岁") {
            let value = reading.source(verb, after);
            self.attribute(entity, "age", value);
        }
    }

    /// 是一名医生, 是上海人, 是…的成员.
    fn is_in_chinese(&mut self, entity: &str, at: usize, end: usize) {
        let reading = self.reading;
        let mut place = at;
        while place < at + 3 && matches!(self.key(place), "一" | "一个" | "名" | "位" | "个" | "一名")
        {
            place += 1;
        }
        let token = reading.token(place).filter(|_| place < end);
        if token.is_some_and(|token| {
            token.common_concepts().contains(Concept::Job)
                && !token.has(Tag::CLASS)
                && token.kind == TokenKind::Han
        }) && reading.token(place + 1).is_none_or(|next| !next.is_content() || !reading.is_han(place + 1))
        {
            let value = reading.source(place, place + 1);
            self.attribute(entity, "job", value);
        } else if let Some((after, name, Kind::Place)) = reading.name(place)
            && self.key(after) == "人"
        {
            let name = name.to_owned();
            self.attribute(entity, "home town", name);
        } else if let Some((after, name)) = reading.called(place)
            && (self.key(after), self.key(after + 1)) == ("的", "成员")
        {
            self.relation(entity, "member of", name);
        }
    }
}
