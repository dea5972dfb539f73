//! From JSON to a filter ready for evaluation; every error names its place in the request
//! and what is allowed there.

use serde_json::{Map, Value};

use super::condition::{Condition, Operand, Operator, Quantity, Test};
use super::field::{AttributePath, ENTRIES, Field, Kind, names};
use super::{DEPTH, ITEMS, NODES, Node, TEXT_BYTES};
use crate::{Error, Result};

/// The shapes a filter may have, for error messages.
const FORMS: &str =
    r#"{"field": name, operator: value}, {"and": [filters]}, {"or": [filters]} or {"not": filter}"#;
/// Where a request holds its filter.
const PLACE: &str = "filter";

/// Reads a filter.
pub(super) fn parse(value: &Value) -> Result<Node> {
    Parser { nodes: 1 }.node(PLACE, value, 1)
}

struct Parser {
    /// Conditions and combinations announced so far.
    nodes: usize,
}

impl Parser {
    fn node(&mut self, place: &str, value: &Value, depth: usize) -> Result<Node> {
        limit(place, depth, DEPTH, "levels")?;
        let Value::Object(object) = value else {
            return Err(invalid(place, format!("is {}; a filter is {FORMS}", described(value))));
        };
        if object.is_empty() {
            return Err(invalid(
                place,
                format!(
                    "is empty; a filter has at least one condition and is {FORMS}; where all cards are meant, leave it out"
                ),
            ));
        }
        let Some((key, operand)) =
            object.iter().find(|(key, _)| matches!(key.as_str(), "and" | "or" | "not"))
        else {
            return Ok(Node::Leaf(condition(place, object)?));
        };
        if let Some(other) = object.keys().find(|other| *other != key) {
            return Err(invalid(
                step(place, other),
                format!("{} cannot stand beside {key:?}, which is alone in its object", shown(other)),
            ));
        }
        let place = format!("{place}.{key}");
        match key.as_str() {
            "and" => self.list(&place, operand, depth).map(Node::All),
            "or" => self.list(&place, operand, depth).map(Node::Any),
            _ => {
                self.count(1)?;
                Ok(Node::Not(Box::new(self.node(&place, operand, depth + 1)?)))
            }
        }
    }

    fn list(&mut self, place: &str, value: &Value, depth: usize) -> Result<Vec<Node>> {
        let Value::Array(items) = value else {
            return Err(invalid(place, format!("is {}; it takes a list of filters", described(value))));
        };
        if items.is_empty() {
            return Err(invalid(place, "is empty; it takes a list of at least one filter"));
        }
        self.count(items.len())?;
        let node = |(at, item)| self.node(&format!("{place}[{at}]"), item, depth + 1);
        items.iter().enumerate().map(node).collect()
    }

    fn count(&mut self, more: usize) -> Result<()> {
        self.nodes += more;
        limit(PLACE, self.nodes, NODES, "conditions and combinations")
    }
}

/// A field as a condition uses it.
struct Target {
    field: Field,
    kind: Kind,
    list: bool,
}

fn condition(place: &str, object: &Map<String, Value>) -> Result<Condition> {
    let mut operators = object.iter().filter(|(key, _)| *key != "field");
    let operator = operators.next();
    for (key, _) in operator.into_iter().chain(operators.clone()) {
        if Operator::from_name(key).is_none() {
            return Err(invalid(
                step(place, key),
                format!(
                    "{} is not an operator; there are {} (and \"and\", \"or\", \"not\")",
                    shown(key),
                    joined(Operator::ALL.map(|(_, name)| name))
                ),
            ));
        }
    }
    let Some(name) = object.get("field") else {
        return Err(invalid(place, format!("names no field; a filter is {FORMS}")));
    };
    let target = target(&format!("{place}.field"), name)?;
    let allowed =
        || joined(Operator::ALL.into_iter().filter(|(op, _)| target.allows(*op)).map(|(_, name)| name));
    let Some((key, value)) = operator else {
        return Err(invalid(place, format!("has no operator; for this field there are {}", allowed())));
    };
    if let Some((second, _)) = operators.next() {
        return Err(invalid(
            step(place, second),
            format!("a condition has one operator; combine {key:?} and {second:?} with \"and\""),
        ));
    }
    let place = format!("{place}.{key}");
    match Operator::from_name(key) {
        Some(operator) if target.allows(operator) => target.condition(&place, operator, value),
        _ => Err(invalid(place, format!("cannot be used with this field; there are {}", allowed()))),
    }
}

fn target(place: &str, name: &Value) -> Result<Target> {
    let Value::String(name) = name else {
        return Err(invalid(place, format!("is {}; it takes the name of a field", described(name))));
    };
    limit(place, name.len(), TEXT_BYTES, "bytes")?;
    if let Some(path) = name.strip_prefix("attributes.") {
        let path = AttributePath::parse(path)
            .map_err(|problem| invalid(place, format!("{} {problem}", shown(name))))?;
        return Ok(Target { field: Field::Attribute(path), kind: Kind::Json, list: false });
    }
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        return Err(invalid(
            place,
            format!("{} is not a field; there are {}, attributes.<path>", shown(name), joined(names())),
        ));
    };
    Ok(Target { field: entry.field.clone(), kind: entry.kind, list: entry.list })
}

impl Target {
    fn allows(&self, operator: Operator) -> bool {
        match operator {
            Operator::Contains => self.list || matches!(self.kind, Kind::Text | Kind::Json),
            _ => !(operator.is_order() && matches!(self.kind, Kind::Bool | Kind::Name(_))),
        }
    }

    fn condition(self, place: &str, operator: Operator, value: &Value) -> Result<Condition> {
        let one = || self.operand(&|| place.to_owned(), operator, value);
        let (test, negated) = match operator {
            Operator::Eq => (Test::Equal(one()?), false),
            Operator::Ne => (Test::Equal(one()?), true),
            Operator::Lt => (Test::Less(one()?), false),
            Operator::Lte => (Test::LessOrEqual(one()?), false),
            Operator::Gt => (Test::Greater(one()?), false),
            Operator::Gte => (Test::GreaterOrEqual(one()?), false),
            Operator::In => (self.one_of(place, operator, value)?, false),
            Operator::Nin => (self.one_of(place, operator, value)?, true),
            // The elements of a list are tested one by one: having one is being equal.
            Operator::Contains if self.list => (Test::Equal(one()?), false),
            Operator::Contains => (Test::Contains(one()?), false),
            Operator::Exists => match value {
                Value::Bool(exists) => (Test::Exists, !exists),
                _ => return Err(invalid(place, format!("is {}; it takes true or false", described(value)))),
            },
        };
        Ok(Condition { field: self.field, test, negated })
    }

    fn one_of(&self, place: &str, operator: Operator, value: &Value) -> Result<Test> {
        let Value::Array(items) = value else {
            return Err(invalid(
                place,
                format!(
                    "is {}; it takes a list of values, each {}",
                    described(value),
                    self.expected(operator)
                ),
            ));
        };
        if items.is_empty() {
            return Err(invalid(place, "is empty; it takes a list of at least one value"));
        }
        limit(place, items.len(), ITEMS, "items")?;
        let operand = |(at, item)| self.operand(&|| format!("{place}[{at}]"), operator, item);
        items.iter().enumerate().map(operand).collect::<Result<_>>().map(Test::one_of)
    }

    fn operand(&self, place: &dyn Fn() -> String, operator: Operator, value: &Value) -> Result<Operand> {
        let wrong = || {
            let hint = match value {
                Value::Null => "; to ask whether there is a value use \"exists\"",
                Value::Array(_) => "; to give several values use \"in\" or \"nin\"",
                _ => "",
            };
            invalid(place(), format!("is {}; it takes {}{hint}", described(value), self.expected(operator)))
        };
        if let Value::String(text) = value {
            limit(&place(), text.len(), TEXT_BYTES, "bytes")?;
            if operator == Operator::Contains && text.is_empty() {
                return Err(invalid(
                    place(),
                    "is empty, which every text contains; it takes at least one character",
                ));
            }
        }
        Ok(match (self.kind, value) {
            (Kind::Text, Value::String(text)) => Operand::Text(text.as_str().into()),
            (Kind::Name(names), Value::String(text)) if names().contains(&text.as_str()) => {
                Operand::Text(text.as_str().into())
            }
            (Kind::Integer, Value::Number(number)) => {
                Operand::Number(Quantity::from_json(number).ok_or_else(wrong)?)
            }
            (Kind::Number, Value::Number(number)) => {
                Operand::Number(Quantity::from_json(number).ok_or_else(wrong)?.to_single())
            }
            (Kind::Bool, Value::Bool(value)) => Operand::Bool(*value),
            (Kind::Time, Value::String(text)) => Operand::Time(text.parse().map_err(|_| wrong())?),
            (Kind::Id, Value::String(text)) => Operand::Id(text.parse().map_err(|_| wrong())?),
            (Kind::Json, Value::String(text)) => Operand::Text(text.as_str().into()),
            (Kind::Json, Value::Number(number)) => {
                Operand::Number(Quantity::from_json(number).ok_or_else(wrong)?)
            }
            (Kind::Json, Value::Bool(value)) if !operator.is_order() => Operand::Bool(*value),
            (Kind::Json, Value::Null) if !operator.is_order() => Operand::Null,
            _ => return Err(wrong()),
        })
    }

    fn expected(&self, operator: Operator) -> String {
        match self.kind {
            Kind::Text => "a string".into(),
            Kind::Name(names) => format!("one of {}", joined(names())),
            Kind::Integer | Kind::Number => "a number".into(),
            Kind::Bool => "true or false".into(),
            Kind::Time => {
                "an RFC 3339 time with an offset, from year 0000 to 9999, such as 2024-05-01T09:30:00+08:00"
                    .into()
            }
            Kind::Id => "a card id, which is 32 lower-case hexadecimal digits".into(),
            Kind::Json if operator.is_order() => "a string or a number".into(),
            Kind::Json => "a string, a number, true, false or null".into(),
        }
    }
}

fn invalid(place: impl Into<String>, message: impl Into<String>) -> Error {
    Error::invalid(place, message)
}

fn limit(place: &str, actual: usize, limit: usize, unit: &'static str) -> Result<()> {
    if actual > limit {
        return Err(Error::TooLarge {
            field: place.into(),
            actual: actual as u64,
            limit: limit as u64,
            unit,
        });
    }
    Ok(())
}

/// The place of a key that need not be one of ours: the key itself only when it is short
/// and plain, so that a place stays readable.
fn step(place: &str, key: &str) -> String {
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && (1..=32).contains(&key.len()) { format!("{place}.{key}") } else { place.to_owned() }
}

/// Text from outside in quotes, escaped, and cut where it is long.
pub(super) fn shown(text: &str) -> String {
    const CHARACTERS: usize = 64;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", shown(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn joined(names: impl IntoIterator<Item = &'static str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}
