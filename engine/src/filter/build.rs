//! Making filters in Rust.
//!
//! Every helper writes the JSON form and checks it like a filter that came from outside:
//! there is one set of rules, and one place that knows them.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Filter;
use crate::{Error, Result};

/// The operators and combinators as functions; all fail like [`Filter::parse`]. A value
/// is anything that serialises to what the field takes: text, numbers, a
/// [`Timestamp`](crate::Timestamp), a [`CardId`](crate::card::CardId), a
/// [`Track`](crate::card::Track).
///
/// ```
/// use memcards::card::Track;
/// use memcards::filter::Filter;
///
/// let filter = Filter::and([
///     Filter::eq("track", Track::Semantic)?,
///     Filter::not(Filter::contains("tags", "old")?)?,
///     Filter::one_of("attributes.region.code", [1, 2])?,
/// ])?;
/// assert_eq!(serde_json::to_value(&filter).unwrap()["and"][0]["eq"], "semantic");
/// # Ok::<(), memcards::Error>(())
/// ```
impl Filter {
    /// The field, or any of its elements, equals the value.
    pub fn eq(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "eq", value)
    }

    /// The field, and every of its elements, differs from the value, or is missing.
    pub fn ne(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "ne", value)
    }

    /// The field, or any of its elements, lies before the value.
    pub fn lt(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "lt", value)
    }

    /// The field, or any of its elements, lies before the value or equals it.
    pub fn lte(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "lte", value)
    }

    /// The field, or any of its elements, lies after the value.
    pub fn gt(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "gt", value)
    }

    /// The field, or any of its elements, lies after the value or equals it.
    pub fn gte(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "gte", value)
    }

    /// `in`: the field, or any of its elements, equals one of the values.
    pub fn one_of(field: &str, values: impl IntoIterator<Item = impl Serialize>) -> Result<Self> {
        leaf(field, "in", values.into_iter().collect::<Vec<_>>())
    }

    /// `nin`: the field, and every of its elements, differs from all values, or is missing.
    pub fn none_of(field: &str, values: impl IntoIterator<Item = impl Serialize>) -> Result<Self> {
        leaf(field, "nin", values.into_iter().collect::<Vec<_>>())
    }

    /// The list has the value as an element; the text has it as a part.
    pub fn contains(field: &str, value: impl Serialize) -> Result<Self> {
        leaf(field, "contains", value)
    }

    /// Whether the field has a value.
    pub fn exists(field: &str, exists: bool) -> Result<Self> {
        leaf(field, "exists", exists)
    }

    /// All of the filters select the card; at least one filter is needed.
    pub fn and(filters: impl IntoIterator<Item = Filter>) -> Result<Self> {
        combine("and", filters.into_iter().map(|filter| filter.source).collect())
    }

    /// Any of the filters selects the card; at least one filter is needed.
    pub fn or(filters: impl IntoIterator<Item = Filter>) -> Result<Self> {
        combine("or", filters.into_iter().map(|filter| filter.source).collect())
    }

    /// The filter does not select the card.
    // The operator `!` could not report a filter that becomes too deep.
    #[allow(clippy::should_implement_trait)]
    pub fn not(filter: Filter) -> Result<Self> {
        combine("not", filter.source)
    }
}

fn leaf(field: &str, operator: &str, value: impl Serialize) -> Result<Filter> {
    let value = serde_json::to_value(value)
        .map_err(|error| Error::invalid(format!("filter.{operator}"), error.to_string()))?;
    checked([("field", Value::from(field)), (operator, value)])
}

fn combine(operator: &str, operand: Value) -> Result<Filter> {
    checked([(operator, operand)])
}

fn checked<const N: usize>(entries: [(&str, Value); N]) -> Result<Filter> {
    let object: Map<String, Value> =
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Filter::parse(&Value::Object(object))
}
