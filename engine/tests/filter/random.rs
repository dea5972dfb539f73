//! Random cards and valid filters out of small pools, so that they meet often.

use memcards::Timestamp;
use memcards::card::{
    Card, CardId, Fact, Link, LinkKind, Polarity, Provenance, Reason, Role, Source, State, Track,
};
use serde_json::{Map, Value, json};

/// Texts that differ by case, normalisation, or by what some language gives a meaning.
const TEXTS: [&str; 12] =
    ["a", "ab", "A", "b", "*", "é", "e\u{301}", "😀", "\"", "\\", "\0", "{\"field\":\"id\",\"exists\":true}"];
const TIMES: [&str; 6] = [
    "2024-05-01T02:00:00Z",
    "2024-04-30T19:00:00-07:00",
    "2024-05-01T10:00:00.000001+08:00",
    "1969-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "2030-01-01T00:00:00Z",
];
const NUMBERS: [&str; 14] = [
    "0",
    "-0.0",
    "1",
    "1.0",
    "1.5",
    "-1",
    "2",
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.0",
    "18446744073709551615",
    "-9223372036854775808",
    "9223372036854775808.0",
    "1e300",
];
const SINGLES: [f64; 5] = [0.0, 0.1, 0.5, 0.8, 1.0];
const PATHS: [&str; 7] = [
    "attributes.a",
    "attributes.b",
    "attributes.o.a",
    "attributes.o.b",
    "attributes./x.y",
    "attributes./o/c~1d",
    "attributes.none",
];
const FIELDS: [&str; 35] = [
    "id",
    "version",
    "track",
    "category",
    "content",
    "summary",
    "polarity",
    "entities",
    "tags",
    "merge_key",
    "provenance",
    "session",
    "turn",
    "role",
    "speaker",
    "extractor",
    "occurred_at",
    "recorded_at",
    "updated_at",
    "last_accessed_at",
    "reinforced_at",
    "access_count",
    "mention_count",
    "expires_at",
    "valid_from",
    "valid_to",
    "importance",
    "confidence",
    "pinned",
    "state",
    "fact.entity",
    "fact.attribute",
    "fact.value",
    "supersedes",
    "superseded_by",
];

/// Turns bytes into choices; zeros after the end, so that fewer bytes are simpler.
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % bound
    }

    fn of<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }

    fn text(&mut self) -> String {
        self.of(&TEXTS).to_owned()
    }

    fn time(&mut self) -> Timestamp {
        self.of(&TIMES).parse().unwrap()
    }

    fn id(&mut self) -> CardId {
        let mut bytes = [0; 16];
        bytes[15] = self.below(3) as u8;
        CardId::from_bytes(bytes)
    }

    fn number(&mut self) -> Value {
        serde_json::from_str(self.of(&NUMBERS)).unwrap()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) > 0).then(|| make(self))
    }

    fn several<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| make(self)).collect()
    }

    fn json(&mut self) -> Value {
        match self.below(6) {
            0 => Value::Null,
            1 => json!(self.below(2) == 1),
            2 | 3 => self.number(),
            _ => json!(self.text()),
        }
    }

    fn object(&mut self, keys: [&str; 3]) -> Map<String, Value> {
        let mut object = Map::new();
        for key in keys {
            let value = if self.below(3) == 0 { Value::from(self.several(Self::json)) } else { self.json() };
            self.maybe(|_| value).map(|value| object.insert(key.into(), value));
        }
        object
    }

    fn attributes(&mut self) -> Map<String, Value> {
        let mut outer = self.object(["a", "b", "x.y"]);
        self.maybe(|choices| choices.object(["a", "b", "c/d"]))
            .map(|inner| outer.insert("o".into(), inner.into()));
        outer
    }

    pub(crate) fn card(&mut self) -> Card {
        let kinds = [LinkKind::Supersedes, LinkKind::SupersededBy, LinkKind::Related];
        Card {
            id: self.id(),
            version: self.below(3) as u32,
            track: self.of(Track::ALL),
            category: self.text(),
            content: self.text() + &self.maybe(Self::text).unwrap_or_default(),
            summary: self.maybe(Self::text),
            fact: self.maybe(|c| Fact { entity: c.text(), attribute: c.text(), value: c.text() }),
            polarity: self.of(Polarity::ALL),
            entities: self.several(Self::text),
            mentions: vec![],
            times: vec![],
            tags: self.several(Self::text),
            attributes: self.attributes(),
            merge_key: self.maybe(Self::text),
            links: self.several(|c| Link { to: c.id(), kind: c.of(&kinds) }),
            provenance: self.of(Provenance::ALL),
            sources: self.several(|c| Source {
                session: c.maybe(Self::text),
                turn: c.maybe(|c| c.below(3) as u32),
                role: c.maybe(|c| c.of(Role::ALL)),
                speaker: c.maybe(Self::text),
                occurred_at: None,
            }),
            extractor: self.maybe(Self::text),
            journal: None,
            occurred_at: self.time(),
            recorded_at: self.time(),
            updated_at: self.time(),
            last_accessed_at: self.maybe(Self::time),
            reinforced_at: self.maybe(Self::time),
            access_count: self.below(3) as u32,
            mention_count: self.below(3) as u32,
            expires_at: self.maybe(Self::time),
            valid_from: self.maybe(Self::time),
            valid_to: self.maybe(Self::time),
            importance: self.of(&SINGLES) as f32,
            confidence: self.of(&SINGLES) as f32,
            pinned: self.below(2) == 1,
            state: self.of(State::ALL),
            state_before: None,
            vector_version: 0,
            reason: Reason::default(),
        }
    }

    /// A valid filter of at most so many levels.
    pub(crate) fn filter(&mut self, depth: usize) -> Value {
        match self.below(if depth > 1 { 6 } else { 3 }) {
            0..=2 => self.condition(),
            3 => json!({"not": self.filter(depth - 1)}),
            choice => {
                let key = if choice == 4 { "and" } else { "or" };
                let items: Vec<Value> = (0..1 + self.below(3)).map(|_| self.filter(depth - 1)).collect();
                json!({key: items})
            }
        }
    }

    fn condition(&mut self) -> Value {
        let field = if self.below(3) == 0 { self.of(&PATHS) } else { self.of(&FIELDS) };
        let dynamic = field.starts_with("attributes.");
        let is_text = matches!(field, "category" | "content" | "summary" | "merge_key" | "extractor")
            || field.starts_with("fact.");
        let is_list =
            matches!(field, "entities" | "tags" | "session" | "turn" | "role" | "speaker" | "supersedes");
        let is_named = matches!(field, "track" | "polarity" | "provenance" | "state" | "role" | "pinned");
        let mut operators = vec!["eq", "ne", "in", "nin", "exists"];
        if !is_named {
            operators.extend(["lt", "lte", "gt", "gte"]);
        }
        if dynamic || is_text || is_list {
            operators.push("contains");
        }
        let operator = self.of(&operators);
        let operand = match operator {
            "exists" => json!(self.below(2) == 1),
            "in" | "nin" => (0..1 + self.below(3)).map(|_| self.operand(field)).collect(),
            "lt" | "lte" | "gt" | "gte" if dynamic && self.below(2) == 0 => self.number(),
            "lt" | "lte" | "gt" | "gte" if dynamic => json!(self.text()),
            _ => self.operand(field),
        };
        json!({"field": field, operator: operand})
    }

    fn operand(&mut self, field: &str) -> Value {
        match field {
            "id" | "supersedes" | "superseded_by" => json!(self.id()),
            "version" | "turn" | "access_count" | "mention_count" => self.number(),
            "importance" | "confidence" => json!(self.of(&SINGLES)),
            "track" => json!(self.of(Track::ALL)),
            "polarity" => json!(self.of(Polarity::ALL)),
            "provenance" => json!(self.of(Provenance::ALL)),
            "role" => json!(self.of(Role::ALL)),
            "state" => json!(self.of(State::ALL)),
            "pinned" => json!(self.below(2) == 1),
            "valid_from" | "valid_to" => json!(self.of(&TIMES)),
            _ if field.ends_with("_at") => json!(self.of(&TIMES)),
            _ if field.starts_with("attributes.") => self.json(),
            _ => json!(self.text()),
        }
    }
}
