//! What a card may hold: one place for every limit, with errors that name field and bound.

use serde_json::{Map, Value};

use crate::card::{Card, Fact};
use crate::{Error, Result};

/// Bounds on what a request may hold. The defaults are the documented limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Content of a card, bytes.
    pub content_bytes: usize,
    /// Summary of a card, bytes; also the value of a fact.
    pub summary_bytes: usize,
    /// Number of entities, of tags, and of links in one request.
    pub list_items: usize,
    /// Length of one entity, tag, speaker, merge key or other name, bytes.
    pub name_bytes: usize,
    /// JSON attributes as text, bytes.
    pub attributes_bytes: usize,
    /// Dimensions of a vector.
    pub vector_dimensions: usize,
    /// Hits of one recall, cards of one list page.
    pub top: usize,
    /// Requests in one batch.
    pub batch: usize,
    /// Query text, bytes.
    pub query_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            content_bytes: 64 << 10,
            summary_bytes: 2 << 10,
            list_items: 64,
            name_bytes: 256,
            attributes_bytes: 16 << 10,
            vector_dimensions: 4096,
            top: 1000,
            batch: 1000,
            query_bytes: 64 << 10,
        }
    }
}

/// Longest category name, bytes.
const CATEGORY_BYTES: usize = 64;

/// Levels of lists and objects in attributes: what is stored must be read again, also out
/// of the line of an export, and readers of JSON stop at 128.
const ATTRIBUTE_LEVELS: usize = 64;

impl Limits {
    /// Refuses text longer than `limit` bytes.
    pub(crate) fn bytes(field: &str, text: &str, limit: usize) -> Result<()> {
        size(field, text.len(), limit, "bytes")
    }

    /// A name: 1 to `name_bytes` bytes of UTF-8 without control characters.
    pub(crate) fn name(&self, field: &str, text: &str) -> Result<()> {
        name(field, text, self.name_bytes)
    }

    /// Content: not blank, within its limit. Every other character is allowed.
    pub(crate) fn content(&self, field: &str, text: &str) -> Result<()> {
        Self::bytes(field, text, self.content_bytes)?;
        if text.chars().all(is_blank) {
            return Err(Error::invalid(field, "must hold something other than white space"));
        }
        Ok(())
    }

    /// Checks every field of a card that a caller can set.
    pub(crate) fn card(&self, card: &Card) -> Result<()> {
        self.content("content", &card.content)?;
        if let Some(summary) = &card.summary {
            Self::bytes("summary", summary, self.summary_bytes)?;
        }
        name("category", &card.category, CATEGORY_BYTES)?;
        if let Some(key) = &card.merge_key {
            self.name("merge_key", key)?;
        }
        if let Some(fact) = &card.fact {
            self.fact(fact)?;
        }
        self.names("entities", &card.entities)?;
        self.names("tags", &card.tags)?;
        self.attributes(&card.attributes)?;
        for source in &card.sources {
            if let Some(session) = &source.session {
                self.name("session", session)?;
            }
            if let Some(speaker) = &source.speaker {
                self.name("speaker", speaker)?;
            }
        }
        if let Some(extractor) = &card.extractor {
            self.name("extractor", extractor)?;
        }
        unit_range("importance", card.importance)?;
        unit_range("confidence", card.confidence)?;
        if let (Some(from), Some(to)) = (card.valid_from, card.valid_to)
            && from >= to
        {
            return Err(Error::invalid("valid_to", "must lie after valid_from"));
        }
        Ok(())
    }

    fn fact(&self, fact: &Fact) -> Result<()> {
        self.name("fact.entity", &fact.entity)?;
        self.name("fact.attribute", &fact.attribute)?;
        Self::bytes("fact.value", &fact.value, self.summary_bytes)?;
        if fact.value.trim().is_empty() {
            return Err(Error::invalid("fact.value", "must hold something other than white space"));
        }
        Ok(())
    }

    /// A list: no more items than the limit.
    pub(crate) fn items(&self, field: &str, count: usize) -> Result<()> {
        size(field, count, self.list_items, "items")
    }

    fn names(&self, field: &str, names: &[String]) -> Result<()> {
        self.items(field, names.len())?;
        names.iter().enumerate().try_for_each(|(i, text)| self.name(&format!("{field}[{i}]"), text))
    }

    /// Attributes: within their limit as text, and not too deep to be read again.
    pub(crate) fn attributes(&self, attributes: &Map<String, Value>) -> Result<()> {
        if attributes.is_empty() {
            return Ok(());
        }
        if !attributes.values().all(|value| is_within(value, ATTRIBUTE_LEVELS - 1)) {
            return Err(Error::invalid(
                "attributes",
                format!("must not be nested deeper than {ATTRIBUTE_LEVELS} levels"),
            ));
        }
        let text =
            serde_json::to_string(attributes).map_err(|e| Error::invalid("attributes", e.to_string()))?;
        Self::bytes("attributes", &text, self.attributes_bytes)
    }
}

/// True when a value has at most so many levels of lists and objects.
fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(fields) => levels > 0 && fields.values().all(|item| is_within(item, levels - 1)),
        _ => true,
    }
}

/// White space, and characters that show nothing at all: zero-width ones, byte order marks.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

fn size(field: &str, actual: usize, limit: usize, unit: &'static str) -> Result<()> {
    if actual > limit {
        return Err(Error::TooLarge {
            field: field.into(),
            actual: actual as u64,
            limit: limit as u64,
            unit,
        });
    }
    Ok(())
}

fn name(field: &str, text: &str, limit: usize) -> Result<()> {
    size(field, text.len(), limit, "bytes")?;
    if text.trim().is_empty() {
        return Err(Error::invalid(field, format!("must be 1 to {limit} bytes and not blank")));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(field, "must not hold control characters"));
    }
    Ok(())
}

fn unit_range(field: &str, value: f32) -> Result<()> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(field, "must be a number from 0 to 1"));
    }
    Ok(())
}

/// Checks the name of a tenant: 1 to 256 bytes of UTF-8 without control characters.
pub(crate) fn check_tenant_name(text: &str, limits: &Limits) -> Result<()> {
    limits.name("tenant", text)
}

/// Checks a vector given by a caller: within the limit, finite, not all zero.
pub(crate) fn check_vector(vector: &[f32], limits: &Limits) -> Result<()> {
    size("vector", vector.len(), limits.vector_dimensions, "dimensions")?;
    if vector.is_empty() {
        return Err(Error::invalid("vector", "must have at least one dimension"));
    }
    if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
        return Err(Error::invalid(format!("vector[{at}]"), "must be a finite number"));
    }
    let norm: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    // Below this length a direction cannot be told from rounding, in f32 arithmetic.
    if norm < 1e-18 {
        return Err(Error::invalid("vector", "must not be zero"));
    }
    Ok(())
}
