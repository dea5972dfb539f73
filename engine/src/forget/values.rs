//! Values of a policy that are more than a number: "30d" or "never", 500 or "unlimited".

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::Duration;
use crate::{Error, Result};

/// A length of time, or no end: `"30d"`, `"never"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// So long.
    Of(Duration),
    /// Without an end.
    Never,
}

impl Span {
    /// The length; `None` for [`Span::Never`].
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::Of(duration) => Some(duration),
            Self::Never => None,
        }
    }
}

impl FromStr for Span {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "never" {
            return Ok(Self::Never);
        }
        text.parse().map(Self::Of).map_err(|_| {
            Error::invalid(
                "duration",
                format!("{text:?} is not a duration such as 7d, 30m or 1h30m, and not \"never\""),
            )
        })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(duration) => duration.fmt(f),
            Self::Never => f.write_str("never"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|e: Error| de::Error::custom(e.message()))
    }
}

/// How many cards a scope may hold: a number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxCards {
    /// At most so many.
    Of(u64),
    /// Any number.
    Unlimited,
}

impl MaxCards {
    /// The number; `None` for [`MaxCards::Unlimited`].
    pub const fn count(self) -> Option<u64> {
        match self {
            Self::Of(count) => Some(count),
            Self::Unlimited => None,
        }
    }
}

impl Serialize for MaxCards {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Of(count) => serializer.serialize_u64(*count),
            Self::Unlimited => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for MaxCards {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = MaxCards;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of cards or \"unlimited\"")
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<MaxCards, E> {
                Ok(MaxCards::Of(count))
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<MaxCards, E> {
                let bad = |_| E::invalid_value(de::Unexpected::Signed(count), &self);
                u64::try_from(count).map(MaxCards::Of).map_err(bad)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<MaxCards, E> {
                match text {
                    "unlimited" => Ok(MaxCards::Unlimited),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
