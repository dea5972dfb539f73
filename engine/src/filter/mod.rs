//! The typed filter: which cards a request is about, by their fields.
//!
//! This room knows cards and JSON. It must not know storage, indexes, tenants or recall:
//! whoever keeps cards in another form says how to read a field (`field::Fields`) and the
//! filter does the rest. A filter is data, never text that is parsed: a value cannot turn
//! into an operator, and no value has a special meaning (`"*"` is the character).
//!
//! # Form
//!
//! ```json
//! {"field": "category", "eq": "preference"}
//! {"field": "attributes.region.code", "in": [1, 2]}
//! {"and": [{"field": "occurred_at", "gte": "2024-05-01T00:00:00+08:00"},
//!          {"not": {"field": "tags", "contains": "x"}}]}
//! ```
//!
//! A condition is `field` and exactly one operator. `and` and `or` take one or more
//! filters, `not` takes one. Anything else is an error that names its place, such as
//! `filter.and[1].gte`. That includes the empty filter `{}`, an empty `and` or `or`, an
//! empty `in` or `nin`, and `contains` with an empty string: each of them would select
//! everything or nothing, which is what a missing value in a template looks like.
//!
//! # Fields
//!
//! | Type | Fields | Operand | Operators |
//! |---|---|---|---|
//! | text | `category` `content` `summary` `merge_key` `extractor` `fact.entity` `fact.attribute` `fact.value` | string | all |
//! | list of text | `entities` `tags` `session` `speaker` | string | all |
//! | name | `track` `polarity` `provenance` `state` | one of the names | `eq ne in nin exists` |
//! | list of names | `role` | one of the names | those and `contains` |
//! | number | `version` `access_count` `mention_count` `importance` `confidence` | number | all but `contains` |
//! | list of numbers | `turn` | number | all |
//! | time | `occurred_at` `recorded_at` `updated_at` `last_accessed_at` `reinforced_at` `expires_at` `valid_from` `valid_to` | RFC 3339 with an offset | all but `contains` |
//! | identifier | `id` `superseded_by` | card id | all but `contains` |
//! | list of identifiers | `supersedes` | card id | all |
//! | truth | `pinned` | `true`, `false` | `eq ne in nin exists` |
//! | JSON | `attributes.<path>` | string, number, truth, null | all |
//!
//! `session`, `turn`, `role` and `speaker` hold the values of all sources of the card.
//!
//! Dots in a path descend into objects: `attributes.region.code`. A path that starts with
//! a slash is a JSON pointer (RFC 6901), for keys that hold dots, start with a slash or
//! are empty: `attributes./a.b/c` is the key `c` in the object under `a.b`; `~0` and `~1`
//! stand for `~` and `/`. Neither form enters arrays.
//!
//! # Meaning
//!
//! | Operator | True when |
//! |---|---|
//! | `eq` | the value, or any element of a list, equals the operand |
//! | `ne` | `eq` is false: also when the value is missing |
//! | `lt` `lte` `gt` `gte` | the value, or any element of a list, lies there |
//! | `in` | the value, or any element of a list, equals any of 1 to 1,000 operands |
//! | `nin` | `in` is false: also when the value is missing |
//! | `contains` | a text has the operand as a part; a list or an attribute's array has it as an element |
//! | `exists` | the operand is `true` and there is a value, or it is `false` and there is none |
//!
//! * An absent field and an empty list are missing: every operator but `ne`, `nin` and
//!   `exists: false` is then false. An attribute that is `null` is there.
//! * Texts are compared exactly, by Unicode code points: no case folding, no
//!   normalisation (NFC and NFD forms differ), no wildcards.
//! * Numbers are compared by their mathematical value, whole numbers of 64 bits exactly
//!   (`1` equals `1.0`; 2⁵³ and 2⁵³ + 1 differ). `importance` and `confidence` are single
//!   precision: the operand is rounded to it first, so that `0.8` equals the `0.8` shown.
//! * Times are instants: the offset they are written with does not matter. Identifiers
//!   order by the time of the card.
//! * Attributes have no declared type: a value of another JSON type than the operand is
//!   never equal, and `lt`, `lte`, `gt`, `gte` compare numbers with numbers and strings
//!   with strings. A time in an attribute is a string. An attribute's array or object
//!   equals nothing; `contains` looks into arrays.

mod build;
mod condition;
pub(crate) mod field;
mod parse;
mod strict;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Result;
use crate::card::Card;
use condition::Condition;
use field::{Field, Fields};

/// Deepest nesting of `and`, `or`, `not` and conditions.
const DEPTH: usize = 32;
/// Most conditions and combinations in one filter.
const NODES: usize = 1_000;
/// Longest field name or text operand, bytes.
const TEXT_BYTES: usize = 4 << 10;
/// Most operands of `in` and `nin`.
const ITEMS: usize = 1_000;

/// A checked filter over the fields of cards; the [module](self) tells form and meaning.
///
/// ```
/// use memcards::filter::Filter;
/// use serde_json::json;
///
/// let filter = Filter::parse(&json!({"and": [
///     {"field": "category", "eq": "preference"},
///     {"field": "confidence", "gte": 0.8},
/// ]}))?;
/// assert!(!filter.needs_text());
///
/// let wrong = Filter::parse(&json!({"and": [{"field": "colour", "eq": "red"}]}));
/// assert_eq!(wrong.unwrap_err().field(), Some("filter.and[0].field"));
/// # Ok::<(), memcards::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filter {
    node: Node,
    /// What the filter was made from, for writing it as it was read.
    source: Value,
}

/// A filter made ready for evaluation.
#[derive(Clone, Debug)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Leaf(Condition),
}

impl Filter {
    /// Names of all fields a filter can use but the attributes.
    ///
    /// ```
    /// use memcards::filter::Filter;
    /// assert!(Filter::field_names().any(|name| name == "fact.value"));
    /// ```
    pub fn field_names() -> impl Iterator<Item = &'static str> {
        field::names().into_iter()
    }

    /// Checks a filter and makes it ready.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the place and what is
    /// allowed there, [`Error::TooLarge`](crate::Error::TooLarge) beyond 32 levels, 1,000
    /// conditions and combinations, 1,000 operands of one `in`, or 4 KiB of one text.
    ///
    /// ```
    /// use memcards::filter::Filter;
    /// use serde_json::json;
    ///
    /// let error = Filter::parse(&json!({"field": "occurred_at", "gte": "yesterday"})).unwrap_err();
    /// assert_eq!(error.field(), Some("filter.gte"));
    /// assert!(error.to_string().contains("RFC 3339"));
    /// assert!(Filter::parse(&json!({})).is_err());
    /// ```
    pub fn parse(value: &Value) -> Result<Self> {
        let node = parse::parse(value)?;
        // Copied only now that its depth is known to be small.
        Ok(Self { node, source: value.clone() })
    }

    /// True when the filter has no condition, which [`Filter::parse`] refuses: every
    /// `Filter` there is has at least one, so this is always false.
    ///
    /// ```
    /// use memcards::filter::Filter;
    /// use serde_json::json;
    ///
    /// for empty in [json!({}), json!({"and": []}), json!({"not": {"or": []}})] {
    ///     assert!(Filter::parse(&empty).is_err());
    /// }
    /// assert!(!Filter::eq("pinned", true)?.is_empty());
    /// # Ok::<(), memcards::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        !self.node.any_leaf(&|_| true)
    }

    /// True when the filter mentions `content` or `summary`, so that the card itself is
    /// needed to evaluate it.
    ///
    /// ```
    /// use memcards::filter::Filter;
    /// assert!(Filter::contains("content", "tea")?.needs_text());
    /// assert!(!Filter::contains("tags", "tea")?.needs_text());
    /// # Ok::<(), memcards::Error>(())
    /// ```
    pub fn needs_text(&self) -> bool {
        self.node.any_leaf(&|leaf| matches!(leaf.field, Field::Content | Field::Summary))
    }

    /// True when the filter selects that card.
    ///
    /// ```
    /// use memcards::filter::Filter;
    /// # use memcards::card::Card;
    /// # let card: Card = serde_json::from_value(serde_json::json!({
    /// #     "id": "00000000000000000000000000000001", "version": 1, "track": "semantic",
    /// #     "category": "preference", "content": "Likes tea.", "polarity": "affirmed",
    /// #     "tags": ["drinks"], "provenance": "stated", "occurred_at": "2024-05-01T02:00:00Z",
    /// #     "recorded_at": "2024-05-01T02:00:00Z", "updated_at": "2024-05-01T02:00:00Z",
    /// #     "access_count": 0, "mention_count": 1, "importance": 0.5, "confidence": 0.8,
    /// #     "pinned": false, "state": "active", "reason": {}
    /// # })).map_err(|e| memcards::Error::Internal(e.to_string()))?;
    /// // A card with the tag "drinks".
    /// assert!(Filter::contains("tags", "drinks")?.matches_card(&card));
    /// assert!(!Filter::contains("tags", "*")?.matches_card(&card));
    /// # Ok::<(), memcards::Error>(())
    /// ```
    pub fn matches_card(&self, card: &Card) -> bool {
        self.matches(card)
    }

    /// True when the filter selects what has those fields.
    pub(crate) fn matches(&self, fields: &impl Fields) -> bool {
        self.node.matches(fields)
    }

    /// The filter as JSON, the same as it was made from.
    ///
    /// ```
    /// use memcards::filter::Filter;
    /// let filter = Filter::eq("category", "preference")?;
    /// assert_eq!(filter.as_json(), &serde_json::json!({"field": "category", "eq": "preference"}));
    /// # Ok::<(), memcards::Error>(())
    /// ```
    pub fn as_json(&self) -> &Value {
        &self.source
    }
}

impl Node {
    fn matches(&self, fields: &impl Fields) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.matches(fields)),
            Self::Any(nodes) => nodes.iter().any(|node| node.matches(fields)),
            Self::Not(node) => !node.matches(fields),
            Self::Leaf(condition) => condition.matches(fields),
        }
    }

    fn any_leaf(&self, test: &impl Fn(&Condition) -> bool) -> bool {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().any(|node| node.any_leaf(test)),
            Self::Not(node) => node.any_leaf(test),
            Self::Leaf(condition) => test(condition),
        }
    }
}

/// Filters are equal when their JSON is.
impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.source.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Filter {
    /// Like [`Filter::parse`], and refuses a key that is given twice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = strict::value(deserializer)?;
        let node = parse::parse(&source).map_err(serde::de::Error::custom)?;
        Ok(Self { node, source })
    }
}
