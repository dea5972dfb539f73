//! Time zones by name or offset.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result, Timestamp};

/// A time zone: an IANA name or a fixed offset from UTC. Names are found in a database that is part of
/// the binary.
///
/// ```
/// use memcards::calendar::Zone;
///
/// for text in ["Asia/Shanghai", "+08:00", "Z", "America/Los_Angeles", "-0330"] {
///     text.parse::<Zone>()?;
/// }
/// assert_eq!("asia/shanghai".parse::<Zone>()?.to_string(), "Asia/Shanghai");
/// assert_eq!("Mars/Olympus".parse::<Zone>().unwrap_err().field(), Some("zone"));
/// # Ok::<(), memcards::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The local date and time of an instant.
    pub(crate) fn local(&self, instant: Timestamp) -> DateTime {
        let instant = jiff::Timestamp::from_microsecond(instant.as_micros()).unwrap_or_default();
        self.0.to_datetime(instant)
    }

    /// The instant of a local time in microseconds. A time that a change of clocks skips is read with the
    /// offset before the change, one that comes twice is the first; what lies outside the range of
    /// instants becomes its nearest end.
    pub(super) fn micros(&self, local: DateTime) -> i64 {
        match self.0.to_timestamp(local) {
            Ok(instant) => Timestamp::from_micros(instant.as_microsecond()).as_micros(),
            Err(_) if local.year() > 5000 => Timestamp::MAX.as_micros(),
            Err(_) => Timestamp::MIN.as_micros(),
        }
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

/// `+08:00`, `+0800`, `+08`, with seconds or without.
fn offset(text: &str) -> Option<Offset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = &text[1..];
    let compact;
    let digits = if digits.contains(':') {
        if !digits.split(':').all(|part| part.len() == 2) {
            return None;
        }
        compact = digits.replace(':', "");
        &compact
    } else {
        digits
    };
    if !matches!(digits.len(), 2 | 4 | 6) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |two| two.parse::<i32>().ok());
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60 + seconds)).ok()
}

impl FromStr for Zone {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
            return Ok(Self::UTC);
        }
        if let Some(offset) = offset(text) {
            return Ok(Self(if offset == Offset::UTC { TimeZone::UTC } else { TimeZone::fixed(offset) }));
        }
        let wrong = || {
            Error::invalid(
                "zone",
                format!(
                    "{text:?} is not a time zone such as Asia/Shanghai, America/Los_Angeles, +08:00 or Z"
                ),
            )
        };
        let named = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !named || text.eq_ignore_ascii_case("etc/unknown") {
            return Err(wrong());
        }
        TimeZone::get(text).map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == TimeZone::UTC {
            return f.write_str("Z");
        }
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(offset)) => offset.fmt(f),
            (None, Err(_)) => f.write_str("Etc/Unknown"),
        }
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|e: Error| serde::de::Error::custom(e.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_offsets_are_read_and_written() {
        for (text, shown) in [
            ("Asia/Shanghai", "Asia/Shanghai"),
            ("america/new_york", "America/New_York"),
            ("+08:00", "+08"),
            ("-0330", "-03:30"),
            ("+05", "+05"),
            ("+00:00", "Z"),
            ("Z", "Z"),
            ("utc", "Z"),
        ] {
            let zone: Zone = text.parse().unwrap();
            assert_eq!(zone.to_string(), shown, "{text}");
            assert_eq!(zone.to_string().parse::<Zone>().unwrap(), zone, "{text}");
        }
        for text in [
            "",
            "+",
            "+8",
            "+08:0",
            "+24:00",
            "+08:60",
            "08:00",
            "Mars/Olympus",
            "北京",
            "Etc/Unknown",
            "+é8",
        ] {
            assert_eq!(text.parse::<Zone>().unwrap_err().field(), Some("zone"), "{text}");
        }
    }
}
