//! What a phrase names before it is placed in time, and arithmetic that stays within the calendar.

use jiff::Span;
use jiff::civil::{Date, DateTime};

use super::feasts::Feast;
use super::words::{Part, Portion};
use super::{Kind, Unit};

/// Something that the text names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// Calendar fields, some of them left out.
    Fields {
        year: Option<i32>,
        month: Option<i8>,
        day: Option<i8>,
        portion: Portion,
    },
    /// 0 is spring.
    Season {
        year: Option<i32>,
        season: u8,
        portion: Portion,
    },
    Quarter {
        year: Option<i32>,
        quarter: i8,
    },
    /// The first or second half of a year.
    Half {
        year: Option<i32>,
        second: bool,
    },
    Feast {
        year: Option<i32>,
        feast: Feast,
    },
    /// 1 is Monday.
    Weekday(i8),
    Weekend,
    /// The anchor's day, for times that name no day.
    AnchorDay,
    /// From the beginning of one day to the beginning of another.
    Days(Date, Date),
    /// Instants in microseconds.
    Exact(i64, i64),
    Recurring,
}

/// Minutes from the midnight that begins a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Time {
    pub(super) from: i32,
    pub(super) to: i32,
    pub(super) unit: Unit,
    /// The part of the day, where only that is named.
    pub(super) part: Option<Part>,
}

impl Time {
    pub(super) fn part(part: Part) -> Self {
        let (from, to) = part.minutes();
        Self { from, to, unit: Unit::PartOfDay, part: Some(part) }
    }
}

/// A value with the tokens that it was read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Index of the token behind the last.
    pub(super) end: usize,
    /// First byte, where it is not that of the first token.
    pub(super) start: Option<u32>,
    pub(super) value: Value,
    pub(super) unit: Unit,
    pub(super) kind: Kind,
    pub(super) time: Option<Time>,
    /// "Around": a wider interval.
    pub(super) wide: bool,
}

impl Item {
    pub(super) fn new(end: usize, value: Value, unit: Unit, kind: Kind) -> Self {
        Self { end, start: None, value, unit, kind, time: None, wide: false }
    }

    pub(super) fn days(end: usize, from: Date, to: Date, unit: Unit, kind: Kind) -> Self {
        Self::new(end, Value::Days(from, to), unit, kind)
    }

    pub(super) fn fields(end: usize, year: Option<i32>, month: Option<i8>, day: Option<i8>) -> Self {
        let unit = match (month, day) {
            (_, Some(_)) => Unit::Day,
            (Some(_), None) => Unit::Month,
            (None, None) => Unit::Year,
        };
        let kind = if year.is_some() { Kind::Absolute } else { Kind::Partial };
        Self::new(end, Value::Fields { year, month, day, portion: Portion::Whole }, unit, kind)
    }

    /// The same with a time of day.
    pub(super) fn at(mut self, end: usize, time: Time) -> Self {
        self.end = end;
        self.unit = time.unit;
        self.time = Some(time);
        self
    }

    /// The year of a yearly value, if it is one.
    pub(super) fn year_mut(&mut self) -> Option<&mut Option<i32>> {
        match &mut self.value {
            Value::Fields { month: None, .. } => None,
            Value::Fields { year, .. }
            | Value::Season { year, .. }
            | Value::Quarter { year, .. }
            | Value::Half { year, .. }
            | Value::Feast { year, .. } => Some(year),
            _ => None,
        }
    }

    /// Whether it is one day without a time.
    pub(super) fn is_plain_day(&self) -> bool {
        self.unit == Unit::Day
            && self.time.is_none()
            && !matches!(self.value, Value::Recurring | Value::AnchorDay)
    }
}

/// A day that exists, from the year 0 to 9999.
pub(super) fn day_of(year: i32, month: i8, day: i8) -> Option<Date> {
    let year = i16::try_from(year).ok().filter(|year| (0..=9999).contains(year))?;
    Date::new(year, month, day).ok()
}

/// Moved by days; stops at the ends of the calendar.
pub(super) fn plus_days(date: Date, days: i64) -> Date {
    // Longer than the whole calendar is as good as the whole calendar.
    date.saturating_add(Span::new().days(days.clamp(-7_000_000, 7_000_000)))
}

/// The first day of the month so many months away.
pub(super) fn month_start(year: i32, month: i64) -> Date {
    let months = i64::from(year) * 12 + month - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    match i16::try_from(year).ok().and_then(|year| Date::new(year, month as i8, 1).ok()) {
        Some(date) => date,
        None if year < 0 => Date::MIN,
        None => Date::MAX,
    }
}

pub(super) fn year_of(date: Date) -> i32 {
    i32::from(date.year())
}

/// Days from one to the other.
pub(super) fn days_between(from: Date, to: Date) -> i64 {
    from.until(to).map_or(0, |span| i64::from(span.get_days()))
}

/// The Monday of a day's week, moved by weeks.
pub(super) fn monday(date: Date, weeks: i64) -> Date {
    let behind = i64::from(date.weekday().to_monday_zero_offset());
    plus_days(date, weeks.saturating_mul(7) - behind)
}

/// A day and a minute counted from its midnight, which may lie in a later or earlier day.
pub(super) fn at_minute(date: Date, minute: i32) -> DateTime {
    let day = plus_days(date, i64::from(minute.div_euclid(1440)));
    let minute = minute.rem_euclid(1440);
    day.at((minute / 60) as i8, (minute % 60) as i8, 0, 0)
}

/// Microseconds since 1970 of a time in UTC.
pub(super) fn micros_utc(year: i16, month: i8, day: i8, hour: u32, minute: u32) -> i64 {
    let Ok(date) = Date::new(year, month, day) else { return 0 };
    let days = days_between(jiff::civil::date(1970, 1, 1), date);
    (days * 1440 + i64::from(hour * 60 + minute)) * 60_000_000
}
