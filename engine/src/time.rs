//! Instants, durations and the clock.
//!
//! Every rule of the engine takes the present as a parameter; only [`SystemClock`] reads
//! the machine's clock. This module knows nothing of cards or storage.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result};

/// An instant: microseconds since 1970-01-01T00:00:00Z.
///
/// Written and read as RFC 3339 with an offset; the offset is used to find the instant
/// and not kept.
///
/// ```
/// use memcards::Timestamp;
/// let a: Timestamp = "2024-05-01T02:00:00Z".parse()?;
/// let b: Timestamp = "2024-04-30T19:00:00-07:00".parse()?;
/// assert_eq!(a, b);
/// assert_eq!(b.to_string(), "2024-05-01T02:00:00Z");
/// # Ok::<(), memcards::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest instant that can be written as RFC 3339 (year 0000).
    pub const MIN: Self = Self(-62_167_219_200_000_000);
    /// The latest instant that can be written as RFC 3339 (end of year 9999, less a day).
    pub const MAX: Self = Self(253_402_207_200_000_000);

    /// The instant that many microseconds after (before, if negative) 1970-01-01T00:00Z,
    /// moved into [`Timestamp::MIN`]..=[`Timestamp::MAX`] where it lies outside.
    pub const fn from_micros(micros: i64) -> Self {
        if micros < Self::MIN.0 {
            Self::MIN
        } else if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// Microseconds since 1970-01-01T00:00Z.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// This instant moved by a duration, kept within the range of RFC 3339.
    pub const fn plus(self, duration: Duration) -> Self {
        Self::from_micros(self.0.saturating_add(duration.0))
    }

    /// Hours from `earlier` to this instant; negative when it lies before.
    pub fn hours_since(self, earlier: Self) -> f64 {
        (self.0 - earlier.0) as f64 / 3.6e9
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let instant: jiff::Timestamp = text.parse().map_err(|_| {
            Error::invalid(
                "time",
                format!("{text:?} is not an RFC 3339 time with an offset, such as 2024-05-01T09:30:00+08:00"),
            )
        })?;
        let stamp = Self(instant.as_microsecond());
        if stamp < Self::MIN || stamp > Self::MAX {
            return Err(Error::invalid("time", format!("{text:?} lies outside the years 0000 to 9999")));
        }
        Ok(stamp)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(instant) => instant.fmt(f),
            // Unreachable by construction; a number still says more than a panic.
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|e: Error| serde::de::Error::custom(e.message()))
    }
}

/// A signed length of time in microseconds, written like `7d`, `30m` or `1h30m`.
///
/// Units: `w`, `d` (24 h), `h`, `m` (minutes), `s`, `ms`, `us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

impl Duration {
    /// So many microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// So many hours.
    pub const fn from_hours(hours: i64) -> Self {
        Self(hours.saturating_mul(3_600_000_000))
    }

    /// The length in microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }
}

/// Units from long to short, with their microseconds.
const UNITS: [(&str, i64); 7] = [
    ("w", 604_800_000_000),
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

impl FromStr for Duration {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad =
            || Error::invalid("duration", format!("{text:?} is not a duration such as 7d, 30m or 1h30m"));
        let mut rest = text.trim();
        let mut total = 0i64;
        if rest.is_empty() {
            return Err(bad());
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let amount: i64 = rest[..digits].parse().map_err(|_| bad())?;
            let tail = &rest[digits..];
            let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (_, unit) = UNITS.iter().find(|(name, _)| *name == &tail[..letters]).ok_or_else(bad)?;
            total = amount.checked_mul(*unit).and_then(|part| total.checked_add(part)).ok_or_else(bad)?;
            rest = &tail[letters..];
        }
        Ok(Self(total))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let mut rest = self.0.unsigned_abs();
        for (name, unit) in UNITS {
            let amount = rest / unit.unsigned_abs();
            rest %= unit.unsigned_abs();
            if amount > 0 {
                write!(f, "{amount}{name}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|e: Error| serde::de::Error::custom(e.message()))
    }
}

/// Where the present comes from.
pub trait Clock: Send + Sync {
    /// The present.
    fn now(&self) -> Timestamp;

    /// Moves the present, where this clock can be moved.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `now` for a clock that follows the machine.
    fn set(&self, now: Timestamp) -> Result<()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }

    fn set(&self, _now: Timestamp) -> Result<()> {
        Err(Error::invalid(
            "now",
            "this store follows the machine's clock; open it with a manual clock to set the time",
        ))
    }
}

/// A clock that stands still until it is set; for tests, replays and simulations.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_micros()))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }

    fn set(&self, now: Timestamp) -> Result<()> {
        self.0.store(now.as_micros(), Ordering::SeqCst);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_in_three_zones() {
        let utc: Timestamp = "2024-05-01T02:00:00Z".parse().unwrap();
        for text in
            ["2024-04-30T19:00:00-07:00", "2024-05-01T10:00:00+08:00", "2024-05-01T02:00:00.000000+00:00"]
        {
            assert_eq!(text.parse::<Timestamp>().unwrap(), utc, "{text}");
        }
    }

    #[test]
    fn a_time_without_offset_is_refused() {
        for text in ["2024-05-01T02:00:00", "2024-05-01", "yesterday", "", "9999-12-31T23:59:60"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_ends_of_the_range_can_be_written_and_read() {
        for stamp in [
            Timestamp::MIN,
            Timestamp::MAX,
            Timestamp::from_micros(i64::MIN),
            Timestamp::from_micros(i64::MAX),
        ] {
            assert_eq!(stamp.to_string().parse::<Timestamp>().unwrap(), stamp);
        }
    }

    #[test]
    fn durations_round_trip() {
        for (text, micros) in
            [("7d", 604_800_000_000), ("1h30m", 5_400_000_000), ("30m", 1_800_000_000), ("5us", 5)]
        {
            let duration: Duration = text.parse().unwrap();
            assert_eq!(duration.as_micros(), micros);
            assert_eq!(duration.to_string().parse::<Duration>().unwrap(), duration);
        }
        for text in ["", "7", "d", "7 d", "-3d", "7x", "99999999999999999w"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }
}
