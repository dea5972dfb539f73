//! A second evaluator, slow and plain, over the JSON of a card. It shares nothing with the
//! engine but the parsing of times.

use std::cmp::Ordering;

use memcards::Timestamp;
use serde_json::{Value, json};

/// True when the filter selects the card, both as JSON; the filter must be valid.
pub(crate) fn selects(filter: &Value, card: &Value) -> bool {
    if let Some(list) = filter.get("and") {
        return list.as_array().unwrap().iter().all(|inner| selects(inner, card));
    }
    if let Some(list) = filter.get("or") {
        return list.as_array().unwrap().iter().any(|inner| selects(inner, card));
    }
    if let Some(inner) = filter.get("not") {
        return !selects(inner, card);
    }
    let field = filter["field"].as_str().unwrap();
    let (operator, operand) = filter.as_object().unwrap().iter().find(|(key, _)| *key != "field").unwrap();
    let again = |operator: &str, operand: &Value| selects(&json!({"field": field, operator: operand}), card);
    let values = values(field, card);
    let any =
        |test: &dyn Fn(Ordering) -> bool| values.iter().any(|v| order(field, v, operand).is_some_and(test));
    match operator.as_str() {
        "eq" => any(&|order| order == Ordering::Equal),
        "lt" => any(&|order| order == Ordering::Less),
        "lte" => any(&|order| order != Ordering::Greater),
        "gt" => any(&|order| order == Ordering::Greater),
        "gte" => any(&|order| order != Ordering::Less),
        "in" => operand.as_array().unwrap().iter().any(|one| again("eq", one)),
        "ne" => !again("eq", operand),
        "nin" => !again("in", operand),
        "exists" => operand.as_bool().unwrap() != values.is_empty(),
        "contains" if is_list(field) => again("eq", operand),
        "contains" => values.iter().any(|value| match (value, operand) {
            (Value::String(text), Value::String(part)) => {
                text.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
            }
            (Value::Array(items), _) => {
                items.iter().any(|item| order(field, item, operand) == Some(Ordering::Equal))
            }
            _ => false,
        }),
        other => panic!("operator {other}"),
    }
}

fn is_list(field: &str) -> bool {
    matches!(field, "entities" | "tags" | "session" | "turn" | "role" | "speaker" | "supersedes")
}

/// The values of a field; none when it is missing.
fn values(field: &str, card: &Value) -> Vec<Value> {
    let at = |pointer: String| card.pointer(&pointer).cloned().into_iter().collect::<Vec<_>>();
    let links = |kind: &str| {
        let links = card.get("links").and_then(Value::as_array).cloned().unwrap_or_default();
        links
            .into_iter()
            .filter(|link| link["kind"] == kind)
            .map(|link| link["to"].clone())
            .collect::<Vec<_>>()
    };
    match field {
        "session" | "turn" | "role" | "speaker" => {
            let sources = card.get("sources").and_then(Value::as_array).cloned().unwrap_or_default();
            sources.iter().filter_map(|source| source.get(field).cloned()).collect()
        }
        "supersedes" => links("supersedes"),
        "superseded_by" => links("superseded_by").pop().into_iter().collect(),
        "entities" | "tags" => card.get(field).and_then(Value::as_array).cloned().unwrap_or_default(),
        _ if field.starts_with("attributes./") => {
            at(field.replacen('.', "", 1).replacen("attributes", "/attributes", 1))
        }
        _ => at(format!("/{}", field.replace('.', "/"))),
    }
}

fn order(field: &str, value: &Value, operand: &Value) -> Option<Ordering> {
    let is_time = field.ends_with("_at") || field == "valid_from" || field == "valid_to";
    match (value, operand) {
        (Value::String(a), Value::String(b)) if is_time => Some(
            a.parse::<Timestamp>().unwrap().as_micros().cmp(&b.parse::<Timestamp>().unwrap().as_micros()),
        ),
        (Value::String(a), Value::String(b)) => Some(a.chars().cmp(b.chars())),
        (Value::Number(a), Value::Number(b)) if matches!(field, "importance" | "confidence") => {
            (a.as_f64()? as f32).partial_cmp(&(b.as_f64()? as f32))
        }
        (Value::Number(a), Value::Number(b)) => Some(decimal(a).cmp(&decimal(b))),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        _ => None,
    }
}

/// A number as digits of a fixed width that sort like it: exact for the numbers of the
/// test, which have few binary places.
fn decimal(number: &serde_json::Number) -> (bool, Vec<i8>) {
    const WIDTH: usize = 400;
    let text = match number.as_f64() {
        Some(float) if number.is_f64() => format!("{float:.30}"),
        _ => format!("{number}.{:030}", 0),
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte)), digits),
        None => (false, text.as_str()),
    };
    let sign = if negative { -1 } else { 1 };
    let padded = format!("{digits:0>WIDTH$}");
    (!negative, padded.bytes().filter(u8::is_ascii_digit).map(|byte| sign * (byte - b'0') as i8).collect())
}
