//! One condition made ready, and how it judges a value. Nothing here allocates.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::field::{Field, FieldValue, Fields};
use crate::card::CardId;
use crate::time::Timestamp;

/// An operator as requests name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    Nin,
    Contains,
    Exists,
}

impl Operator {
    /// All of them, with their names.
    pub(super) const ALL: [(Self, &'static str); 10] = [
        (Self::Eq, "eq"),
        (Self::Ne, "ne"),
        (Self::Lt, "lt"),
        (Self::Lte, "lte"),
        (Self::Gt, "gt"),
        (Self::Gte, "gte"),
        (Self::In, "in"),
        (Self::Nin, "nin"),
        (Self::Contains, "contains"),
        (Self::Exists, "exists"),
    ];

    /// The operator with that name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, text)| *text == name).map(|(operator, _)| *operator)
    }

    /// True for the operators that need an order.
    pub(super) fn is_order(self) -> bool {
        matches!(self, Self::Lt | Self::Lte | Self::Gt | Self::Gte)
    }
}

/// A field and what must hold of it.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) field: Field,
    pub(super) test: Test,
    /// True for `ne`, `nin` and `exists: false`, the negations of `eq`, `in` and
    /// `exists: true`.
    pub(super) negated: bool,
}

impl Condition {
    /// True when the condition holds.
    pub(super) fn matches(&self, fields: &impl Fields) -> bool {
        fields.any(&self.field, |value| self.test.accepts(value)) != self.negated
    }
}

/// What is asked of a value that is there.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Exists,
    Equal(Operand),
    Less(Operand),
    LessOrEqual(Operand),
    Greater(Operand),
    GreaterOrEqual(Operand),
    /// In the order of [`Scalar::order`], see [`Test::one_of`].
    OneOf(Box<[Operand]>),
    /// A part of a text or an element of a JSON array.
    Contains(Operand),
}

impl Test {
    /// The test for membership.
    pub(super) fn one_of(mut operands: Vec<Operand>) -> Self {
        operands.sort_by(|a, b| a.scalar().order(b.scalar()));
        Self::OneOf(operands.into())
    }

    fn accepts(&self, value: FieldValue<'_>) -> bool {
        match self {
            Self::Exists => true,
            Self::Equal(operand) => compare(value, operand).is_some_and(Ordering::is_eq),
            Self::Less(operand) => compare(value, operand).is_some_and(Ordering::is_lt),
            Self::LessOrEqual(operand) => compare(value, operand).is_some_and(Ordering::is_le),
            Self::Greater(operand) => compare(value, operand).is_some_and(Ordering::is_gt),
            Self::GreaterOrEqual(operand) => compare(value, operand).is_some_and(Ordering::is_ge),
            Self::OneOf(operands) => scalar(value)
                .is_some_and(|value| operands.binary_search_by(|item| item.scalar().order(value)).is_ok()),
            Self::Contains(operand) => contains(value, operand),
        }
    }
}

/// How the value lies to the operand; nothing when their types differ.
fn compare(value: FieldValue<'_>, operand: &Operand) -> Option<Ordering> {
    let (value, operand) = (scalar(value)?, operand.scalar());
    (value.rank() == operand.rank()).then(|| value.order(operand))
}

fn contains(value: FieldValue<'_>, operand: &Operand) -> bool {
    match (value, operand) {
        (FieldValue::Text(text), Operand::Text(part)) => text.contains(&**part),
        (FieldValue::Json(Value::String(text)), Operand::Text(part)) => text.contains(&**part),
        (FieldValue::Json(Value::Array(items)), _) => {
            items.iter().any(|item| compare(FieldValue::Json(item), operand).is_some_and(Ordering::is_eq))
        }
        _ => false,
    }
}

/// The right-hand side of an operator.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Null,
    Bool(bool),
    Number(Quantity),
    Text(Box<str>),
    Time(Timestamp),
    Id(CardId),
}

impl Operand {
    fn scalar(&self) -> Scalar<'_> {
        match self {
            Self::Null => Scalar::Null,
            Self::Bool(value) => Scalar::Bool(*value),
            Self::Number(value) => Scalar::Number(*value),
            Self::Text(value) => Scalar::Text(value),
            Self::Time(value) => Scalar::Time(*value),
            Self::Id(value) => Scalar::Id(*value),
        }
    }
}

/// A value that has an order among its own type.
#[derive(Clone, Copy)]
enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(Quantity),
    Text(&'a str),
    Time(Timestamp),
    Id(CardId),
}

/// The value as a scalar; nothing for arrays, objects and numbers that are none.
fn scalar(value: FieldValue<'_>) -> Option<Scalar<'_>> {
    Some(match value {
        FieldValue::Text(text) => Scalar::Text(text),
        FieldValue::Integer(value) => Scalar::Number(Quantity::Whole(value.into())),
        FieldValue::Number(value) => Scalar::Number(Quantity::float(value)?),
        FieldValue::Bool(value) => Scalar::Bool(value),
        FieldValue::Time(value) => Scalar::Time(value),
        FieldValue::Id(value) => Scalar::Id(value),
        FieldValue::Json(Value::Null) => Scalar::Null,
        FieldValue::Json(Value::Bool(value)) => Scalar::Bool(*value),
        FieldValue::Json(Value::Number(value)) => Scalar::Number(Quantity::from_json(value)?),
        FieldValue::Json(Value::String(text)) => Scalar::Text(text),
        FieldValue::Json(Value::Array(_) | Value::Object(_)) => return None,
    })
}

impl Scalar<'_> {
    fn rank(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Time(_) => 4,
            Self::Id(_) => 5,
        }
    }

    /// A total order: by type, then by value. Text is in order of its code points, which
    /// is the order of its UTF-8 bytes.
    fn order(self, other: Scalar<'_>) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Scalar::Bool(b)) => a.cmp(&b),
            (Self::Number(a), Scalar::Number(b)) => a.order(b),
            (Self::Text(a), Scalar::Text(b)) => a.cmp(b),
            (Self::Time(a), Scalar::Time(b)) => a.cmp(&b),
            (Self::Id(a), Scalar::Id(b)) => a.cmp(&b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// A number, compared by its mathematical value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quantity {
    /// Wide enough for what JSON holds as a signed or an unsigned number of 64 bits.
    Whole(i128),
    /// Never NaN.
    Float(f64),
}

impl Quantity {
    fn float(value: f64) -> Option<Self> {
        (!value.is_nan()).then_some(Self::Float(value))
    }

    /// The number that JSON holds.
    pub(super) fn from_json(number: &Number) -> Option<Self> {
        if let Some(value) = number.as_i64() {
            return Some(Self::Whole(value.into()));
        }
        if let Some(value) = number.as_u64() {
            return Some(Self::Whole(value.into()));
        }
        Self::float(number.as_f64()?)
    }

    /// The nearest number of single precision.
    pub(super) fn to_single(self) -> Self {
        Self::Float(f64::from(match self {
            Self::Whole(value) => value as f32,
            Self::Float(value) => value as f32,
        }))
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            // Equal stands for "not comparable" only where a number is NaN, and none is.
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Whole(a), Self::Float(b)) => order_mixed(a, b),
            (Self::Float(a), Self::Whole(b)) => order_mixed(b, a).reverse(),
        }
    }
}

/// Compares without rounding the whole number. Floats beyond its range saturate, which
/// leaves them beyond every number of 64 bits.
fn order_mixed(whole: i128, float: f64) -> Ordering {
    let floor = float.floor();
    let fraction = if float > floor { Ordering::Less } else { Ordering::Equal };
    whole.cmp(&(floor as i128)).then(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_exactly() {
        use Quantity::{Float, Whole};
        let ascending = [
            Float(f64::NEG_INFINITY),
            Float(-1e300),
            Whole(i64::MIN.into()),
            Float(-1.5),
            Whole(-1),
            Float(-0.5),
            Whole(0),
            Float(0.5),
            Whole(1),
            Float(9_007_199_254_740_992.0),
            Whole(9_007_199_254_740_993),
            Float(9_007_199_254_740_994.0),
            Whole(i64::MAX.into()),
            Float(9_223_372_036_854_775_808.0),
            Whole(u64::MAX.into()),
            Float(18_446_744_073_709_551_616.0),
            Float(f64::INFINITY),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.order(*b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        assert!(Whole(0).order(Float(-0.0)).is_eq());
        assert!(Whole(3).order(Float(3.0)).is_eq());
        assert!(Quantity::float(f64::NAN).is_none());
    }
}
