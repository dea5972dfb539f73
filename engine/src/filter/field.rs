//! The fields a filter can name, their types, and how they are read from a card.

use serde_json::{Map, Value};

use crate::card::{Card, CardId, Polarity, Provenance, Role, Source, State, Track};
use crate::time::Timestamp;

/// A field of a card, or a path into its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    Id,
    Version,
    Track,
    Category,
    Content,
    Summary,
    Polarity,
    Entities,
    Tags,
    MergeKey,
    Provenance,
    /// Of any source, like the three that follow.
    Session,
    Turn,
    Role,
    Speaker,
    Extractor,
    OccurredAt,
    RecordedAt,
    UpdatedAt,
    LastAccessedAt,
    ReinforcedAt,
    AccessCount,
    MentionCount,
    ExpiresAt,
    ValidFrom,
    ValidTo,
    Importance,
    Confidence,
    Pinned,
    State,
    FactEntity,
    FactAttribute,
    FactValue,
    Supersedes,
    SupersededBy,
    Attribute(AttributePath),
}

/// The type of a field: what an operand must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    /// A text out of a fixed set.
    Name(fn() -> Vec<&'static str>),
    Integer,
    /// Kept in single precision, to which operands are rounded.
    Number,
    Bool,
    Time,
    Id,
    Json,
}

/// A field as filters name it.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) field: Field,
    pub(super) kind: Kind,
    /// True when the field holds any number of values.
    pub(super) list: bool,
}

const fn one(name: &'static str, field: Field, kind: Kind) -> Entry {
    Entry { name, field, kind, list: false }
}

const fn many(name: &'static str, field: Field, kind: Kind) -> Entry {
    Entry { name, field, kind, list: true }
}

/// Every field but the attributes.
pub(super) static ENTRIES: [Entry; 35] = [
    one("id", Field::Id, Kind::Id),
    one("version", Field::Version, Kind::Integer),
    one("track", Field::Track, Kind::Name(|| Track::ALL.iter().map(|track| track.name()).collect())),
    one("category", Field::Category, Kind::Text),
    one("content", Field::Content, Kind::Text),
    one("summary", Field::Summary, Kind::Text),
    one("polarity", Field::Polarity, Kind::Name(|| Polarity::ALL.iter().map(|value| value.name()).collect())),
    many("entities", Field::Entities, Kind::Text),
    many("tags", Field::Tags, Kind::Text),
    one("merge_key", Field::MergeKey, Kind::Text),
    one(
        "provenance",
        Field::Provenance,
        Kind::Name(|| Provenance::ALL.iter().map(|value| value.name()).collect()),
    ),
    many("session", Field::Session, Kind::Text),
    many("turn", Field::Turn, Kind::Integer),
    many("role", Field::Role, Kind::Name(|| Role::ALL.iter().map(|role| role.name()).collect())),
    many("speaker", Field::Speaker, Kind::Text),
    one("extractor", Field::Extractor, Kind::Text),
    one("occurred_at", Field::OccurredAt, Kind::Time),
    one("recorded_at", Field::RecordedAt, Kind::Time),
    one("updated_at", Field::UpdatedAt, Kind::Time),
    one("last_accessed_at", Field::LastAccessedAt, Kind::Time),
    one("reinforced_at", Field::ReinforcedAt, Kind::Time),
    one("access_count", Field::AccessCount, Kind::Integer),
    one("mention_count", Field::MentionCount, Kind::Integer),
    one("expires_at", Field::ExpiresAt, Kind::Time),
    one("valid_from", Field::ValidFrom, Kind::Time),
    one("valid_to", Field::ValidTo, Kind::Time),
    one("importance", Field::Importance, Kind::Number),
    one("confidence", Field::Confidence, Kind::Number),
    one("pinned", Field::Pinned, Kind::Bool),
    one("state", Field::State, Kind::Name(|| State::ALL.iter().map(|state| state.name()).collect())),
    one("fact.entity", Field::FactEntity, Kind::Text),
    one("fact.attribute", Field::FactAttribute, Kind::Text),
    one("fact.value", Field::FactValue, Kind::Text),
    many("supersedes", Field::Supersedes, Kind::Id),
    one("superseded_by", Field::SupersededBy, Kind::Id),
];

/// The name of every entry.
pub(super) fn names() -> [&'static str; ENTRIES.len()] {
    std::array::from_fn(|at| ENTRIES[at].name)
}

/// The keys that lead from the attributes of a card to one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AttributePath(Box<[Box<str>]>);

impl AttributePath {
    /// Reads what follows `attributes.`: keys with dots between them or, after a slash, a
    /// JSON pointer. The error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let Some(pointer) = text.strip_prefix('/') else {
            if text.split('.').any(str::is_empty) {
                return Err("has an empty key; write keys that are empty or hold dots as a JSON pointer, \
                     such as attributes./a.b/c");
            }
            return Ok(Self(text.split('.').map(Into::into).collect()));
        };
        pointer.split('/').map(unescape).collect::<Result<_, _>>().map(Self)
    }

    /// The value at the end of the path, where there is one. Arrays are not entered.
    pub(crate) fn find<'a>(&self, attributes: &'a Map<String, Value>) -> Option<&'a Value> {
        let (first, rest) = self.0.split_first()?;
        rest.iter().try_fold(attributes.get(&**first)?, |value, key| value.as_object()?.get(&**key))
    }
}

/// One key of a JSON pointer without its escapes.
fn unescape(key: &str) -> Result<Box<str>, &'static str> {
    let mut parts = key.split('~');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', &part[1..]),
            Some(b'1') => ('/', &part[1..]),
            _ => return Err("is not a JSON pointer: ~ is written ~0 and / within a key ~1"),
        };
        plain.push(escaped);
        plain.push_str(rest);
    }
    Ok(plain.into())
}

/// One value of a field.
///
/// The fixed names of track, polarity, provenance, role and state are [`FieldValue::Text`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldValue<'a> {
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Bool(bool),
    Time(Timestamp),
    Id(CardId),
    /// What an attribute holds.
    Json(&'a Value),
}

/// Something a filter can be applied to.
pub(crate) trait Fields {
    /// Calls `test` with each value of the field until it answers true, and tells whether
    /// it did. An absent field and an empty list have no value: the answer is false.
    ///
    /// A field that is not kept here has no value either: whoever leaves out content and
    /// summary must ask [`Filter::needs_text`](super::Filter::needs_text) first.
    fn any(&self, field: &Field, test: impl FnMut(FieldValue<'_>) -> bool) -> bool;
}

impl Fields for Card {
    fn any(&self, field: &Field, mut test: impl FnMut(FieldValue<'_>) -> bool) -> bool {
        use FieldValue::{Bool, Id, Integer, Json, Number, Text, Time};
        let optional = match field {
            Field::Id => Some(Id(self.id)),
            Field::Version => Some(Integer(self.version.into())),
            Field::Track => Some(Text(self.track.name())),
            Field::Category => Some(Text(&self.category)),
            Field::Content => Some(Text(&self.content)),
            Field::Summary => self.summary.as_deref().map(Text),
            Field::Polarity => Some(Text(self.polarity.name())),
            Field::Entities => return self.entities.iter().any(|entity| test(Text(entity))),
            Field::Tags => return self.tags.iter().any(|tag| test(Text(tag))),
            Field::MergeKey => self.merge_key.as_deref().map(Text),
            Field::Provenance => Some(Text(self.provenance.name())),
            Field::Session => return any_source(self, |source| source.session.as_deref().map(Text), test),
            Field::Turn => {
                return any_source(self, |source| source.turn.map(|turn| Integer(turn.into())), test);
            }
            Field::Role => return any_source(self, |source| source.role.map(|role| Text(role.name())), test),
            Field::Speaker => return any_source(self, |source| source.speaker.as_deref().map(Text), test),
            Field::Extractor => self.extractor.as_deref().map(Text),
            Field::OccurredAt => Some(Time(self.occurred_at)),
            Field::RecordedAt => Some(Time(self.recorded_at)),
            Field::UpdatedAt => Some(Time(self.updated_at)),
            Field::LastAccessedAt => self.last_accessed_at.map(Time),
            Field::ReinforcedAt => self.reinforced_at.map(Time),
            Field::AccessCount => Some(Integer(self.access_count.into())),
            Field::MentionCount => Some(Integer(self.mention_count.into())),
            Field::ExpiresAt => self.expires_at.map(Time),
            Field::ValidFrom => self.valid_from.map(Time),
            Field::ValidTo => self.valid_to.map(Time),
            Field::Importance => Some(Number(self.importance.into())),
            Field::Confidence => Some(Number(self.confidence.into())),
            Field::Pinned => Some(Bool(self.pinned)),
            Field::State => Some(Text(self.state.name())),
            Field::FactEntity => self.fact.as_ref().map(|fact| Text(&fact.entity)),
            Field::FactAttribute => self.fact.as_ref().map(|fact| Text(&fact.attribute)),
            Field::FactValue => self.fact.as_ref().map(|fact| Text(&fact.value)),
            Field::Supersedes => return self.supersedes().any(|id| test(Id(id))),
            Field::SupersededBy => self.superseded_by().map(Id),
            Field::Attribute(path) => path.find(&self.attributes).map(Json),
        };
        optional.is_some_and(test)
    }
}

fn any_source<'a>(
    card: &'a Card,
    value: impl Fn(&'a Source) -> Option<FieldValue<'a>>,
    test: impl FnMut(FieldValue<'_>) -> bool,
) -> bool {
    card.sources.iter().filter_map(value).any(test)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(text: &str) -> Vec<String> {
        AttributePath::parse(text).unwrap().0.iter().map(|key| key.to_string()).collect()
    }

    #[test]
    fn paths_by_dots_and_by_pointer() {
        assert_eq!(keys("region.code"), ["region", "code"]);
        assert_eq!(keys("a/b"), ["a/b"]);
        assert_eq!(keys("/a.b/c"), ["a.b", "c"]);
        assert_eq!(keys("/"), [""]);
        assert_eq!(keys("/a~1b~0~01//"), ["a/b~~1", "", ""]);
        for text in ["", ".", "a.", ".a", "a..b", "/~", "/a~2", "/~~0", "/a~é"] {
            assert!(AttributePath::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_descends_objects_and_never_arrays() {
        let attributes = json!({"a": {"b": [{"c": 1}], "d": null}, "a.b": 2});
        let attributes = attributes.as_object().unwrap();
        let find = |text: &str| AttributePath::parse(text).unwrap().find(attributes).cloned();
        assert_eq!(find("a.d"), Some(Value::Null));
        assert_eq!(find("/a.b"), Some(json!(2)));
        assert_eq!(find("a.b"), Some(json!([{"c": 1}])));
        for text in ["a.b.0", "a.b.c", "a.d.e", "x", "a.x"] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut all = names();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
