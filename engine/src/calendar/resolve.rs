//! Places what a text names in time.

use jiff::civil::Date;

use super::grammar::Reader;
use super::values::{Item, Value, at_minute, day_of, days_between, monday, month_start, plus_days, year_of};
use super::words::{Portion, Word};
use super::{Kind, Unit};

/// Which occurrence of something that comes again is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// The nearest, the past preferred.
    Near,
    /// The latest that has begun.
    Past,
    /// The first that is not over.
    Future,
    /// The first that begins on a day or later.
    From(Date),
}

/// How much farther than the past the future counts.
const FUTURE_WEIGHT: i64 = 3;

type Days = (Date, Date);

/// One of the occurrences, which come in order.
fn choose(all: impl Iterator<Item = Days>, today: Date, rule: Rule) -> Option<Days> {
    let (mut behind, mut ahead): (Option<Days>, Option<Days>) = (None, None);
    for (from, to) in all {
        let after = match rule {
            Rule::From(first) => from >= first,
            _ => from > today,
        };
        if after {
            ahead = Some((from, to));
            break;
        }
        behind = Some((from, to));
    }
    match rule {
        Rule::From(_) => ahead,
        Rule::Past => behind.or(ahead),
        Rule::Future => behind.filter(|(_, to)| *to > today).or(ahead).or(behind),
        Rule::Near => match (behind, ahead) {
            (Some(behind), Some(ahead)) => {
                let past = days_between(behind.1, today) + 1;
                let future = days_between(today, ahead.0);
                Some(if past > 0 && future.saturating_mul(FUTURE_WEIGHT) < past { ahead } else { behind })
            }
            (behind, ahead) => behind.or(ahead),
        },
    }
}

/// A part of a month.
fn month_portion(first: Date, portion: Portion) -> Days {
    let next = month_start(year_of(first), i64::from(first.month()) + 1);
    let part = |from: i64, to: i64| (plus_days(first, from), plus_days(first, to));
    match portion {
        Portion::Early => part(0, 10),
        Portion::Middle => part(10, 20),
        Portion::Late => (plus_days(first, 20), next),
        Portion::Start => part(0, 7),
        Portion::End => (plus_days(next, -7), next),
        Portion::FirstHalf => part(0, 15),
        Portion::SecondHalf => (plus_days(first, 15), next),
        Portion::Whole => (first, next),
    }
}

/// Months of a year, as first month and month after the last.
pub(super) fn year_portion(year: i32, portion: Portion) -> Days {
    let (from, to) = match portion {
        Portion::Early => (1, 5),
        Portion::Middle => (5, 9),
        Portion::Late => (9, 13),
        Portion::Start => (1, 3),
        Portion::End => (11, 13),
        Portion::FirstHalf => (1, 7),
        Portion::SecondHalf => (7, 13),
        Portion::Whole => (1, 13),
    };
    (month_start(year, from), month_start(year, to))
}

/// Years of a decade.
pub(super) fn decade_portion(first: i32, portion: Portion) -> Days {
    let (from, to) = match portion {
        Portion::Early | Portion::Start => (0, 4),
        Portion::Middle => (4, 7),
        Portion::Late | Portion::End => (7, 10),
        Portion::FirstHalf => (0, 5),
        Portion::SecondHalf => (5, 10),
        Portion::Whole => (0, 10),
    };
    (month_start(first + from, 1), month_start(first + to, 1))
}

fn season(year: i32, season: u8, portion: Portion) -> Days {
    let first = 3 + 3 * i64::from(season);
    let (from, to) = match portion {
        Portion::Early | Portion::Start => (first, first + 1),
        Portion::Middle => (first + 1, first + 2),
        Portion::Late | Portion::End => (first + 2, first + 3),
        _ => (first, first + 3),
    };
    (month_start(year, from), month_start(year, to))
}

fn one_day(day: Date) -> Days {
    (day, plus_days(day, 1))
}

/// The days of something yearly in one year.
fn in_year(value: Value, year: i32) -> Option<Days> {
    match value {
        Value::Fields { month: Some(month), day: Some(day), .. } => day_of(year, month, day).map(one_day),
        Value::Fields { month: Some(month), portion, .. } => {
            day_of(year, month, 1).map(|first| month_portion(first, portion))
        }
        Value::Fields { portion, .. } => Some(year_portion(year, portion)),
        Value::Season { season: which, portion, .. } => Some(season(year, which, portion)),
        Value::Quarter { quarter, .. } => {
            let first = i64::from(quarter) * 3 - 2;
            Some((month_start(year, first), month_start(year, first + 3)))
        }
        Value::Half { second, .. } => {
            let portion = if second { Portion::SecondHalf } else { Portion::FirstHalf };
            Some(year_portion(year, portion))
        }
        Value::Feast { feast, .. } => feast.day(year).map(one_day),
        _ => None,
    }
}

impl Reader<'_> {
    /// The days that a value covers; `None` for what has no days of its own.
    pub(super) fn days(&self, value: Value, rule: Rule) -> Option<Days> {
        let today = self.today;
        let this = year_of(today);
        match value {
            Value::Days(from, to) => Some((from, to)),
            Value::AnchorDay => Some(one_day(today)),
            Value::Exact(..) | Value::Recurring => None,
            Value::Weekday(number) => {
                let first = plus_days(monday(self.rule_day(rule), -1), i64::from(number) - 1);
                choose((0..4).map(|week| one_day(plus_days(first, week * 7))), today, rule)
            }
            Value::Weekend => {
                let first = plus_days(monday(self.rule_day(rule), -1), 5);
                let weekends =
                    (0..4).map(|week| (plus_days(first, week * 7), plus_days(first, week * 7 + 2)));
                choose(weekends, today, rule)
            }
            Value::Fields { year: Some(year), .. }
            | Value::Season { year: Some(year), .. }
            | Value::Quarter { year: Some(year), .. }
            | Value::Half { year: Some(year), .. }
            | Value::Feast { year: Some(year), .. } => in_year(value, year),
            Value::Fields { month: None, day: Some(day), .. } => {
                // A bare day of the month lies behind unless something points ahead.
                let rule = if rule == Rule::Near { Rule::Past } else { rule };
                let start = self.rule_day(rule);
                let months = (-2..=3).filter_map(|month| {
                    let first = month_start(year_of(start), i64::from(start.month()) + month);
                    day_of(year_of(first), first.month(), day).map(one_day)
                });
                choose(months, today, rule)
            }
            _ => {
                let this = if let Rule::From(day) = rule { year_of(day) } else { this };
                let near = choose((this - 1..=this + 1).filter_map(|year| in_year(value, year)), today, rule);
                // The 29th of February can be eight years away.
                near.or_else(|| {
                    choose((this - 8..=this + 8).filter_map(|year| in_year(value, year)), today, rule)
                })
            }
        }
    }

    fn rule_day(&self, rule: Rule) -> Date {
        if let Rule::From(day) = rule { day } else { self.today }
    }

    /// The instants of an item in microseconds.
    pub(super) fn instants(&self, item: &Item, rule: Rule) -> Option<(i64, i64)> {
        let zone = &self.anchor.zone;
        let (mut from, mut to) = match item.value {
            Value::Exact(from, to) => (from, to),
            value => {
                let (from, to) = self.days(value, rule)?;
                match item.time {
                    // A time belongs to one day.
                    Some(time) => {
                        (zone.micros(at_minute(from, time.from)), zone.micros(at_minute(from, time.to)))
                    }
                    None => {
                        let (from, to) = if item.wide && item.unit == Unit::Day {
                            (plus_days(from, -2), plus_days(to, 2))
                        } else {
                            (from, to)
                        };
                        (zone.micros(at_minute(from, 0)), zone.micros(at_minute(to, 0)))
                    }
                }
            }
        };
        if item.wide && matches!(item.unit, Unit::Moment | Unit::Hour) {
            let hour = 3_600_000_000;
            from = from.saturating_sub(hour);
            // An hour and its neighbours, or an hour around the minute.
            to = to.saturating_add(hour);
        }
        (from < to).then_some((from, to))
    }

    /// Both ends of a range: first instant of the left, end of the right.
    pub(super) fn range(&self, left: Item, right: Item, rule: Rule) -> Option<(i64, i64, Unit, Kind)> {
        let (mut left, mut right) = (left, right);
        // A time without a day takes the other's day, and with it what that needs to be understood.
        match (left.value, right.value) {
            (Value::AnchorDay, other) if other != Value::AnchorDay => left.kind = right.kind,
            (other, Value::AnchorDay) if other != Value::AnchorDay => right.kind = left.kind,
            _ => {}
        }
        if let (Value::Exact(..), Word::Now) = (right.value, self.previous(right.end)) {
            let (from, _) = self.instants(&left, rule)?;
            let (_, to) = self.instants(&right, rule)?;
            return (from < to).then_some((from, to, left.unit, Kind::Relative));
        }
        let unit = left.unit.min(right.unit);
        // A year that is named once belongs to both.
        let mut named = left.kind == Kind::Absolute && right.kind == Kind::Absolute;
        if let (Some(one), Some(other)) =
            (left.year_mut().map(|year| *year), right.year_mut().map(|year| *year))
        {
            match (one, other) {
                (None, Some(year)) => {
                    let wraps = in_year(left.value, year)?.0 > in_year(right.value, year)?.0;
                    *left.year_mut()? = Some(if wraps { year - 1 } else { year });
                    named |= right.kind == Kind::Absolute;
                }
                (Some(year), None) => {
                    let wraps = in_year(left.value, year)?.0 > in_year(right.value, year)?.0;
                    *right.year_mut()? = Some(if wraps { year + 1 } else { year });
                    named |= left.kind == Kind::Absolute;
                }
                _ => {}
            }
        }
        let kind = if named {
            Kind::Absolute
        } else if left.kind == Kind::Relative || right.kind == Kind::Relative {
            Kind::Relative
        } else {
            Kind::Partial
        };
        // A day that is named once belongs to both times.
        let right_bare = right.value == Value::AnchorDay;
        if left.value == Value::AnchorDay && right.time.is_some() && right.value != Value::AnchorDay {
            left.value = right.value;
        } else if right.value == Value::AnchorDay
            && left.time.is_some()
            && let Some((from, to)) = self.days(left.value, rule)
        {
            right.value = Value::Days(from, to);
            left.value = right.value;
        }
        let left_day = left.value;
        // "5pm to 7": the other half of the day; "10pm to 2am": the next day.
        if let (Some(one), Some(mut other)) = (left.time, right.time)
            && left_day == right.value
        {
            if other.from < one.from && right_bare && other.from + 720 > one.from {
                (other.from, other.to) = (other.from + 720, other.to + 720);
            } else if other.from < one.from {
                (other.from, other.to) = (other.from + 1440, other.to + 1440);
            }
            right.time = Some(other);
        }
        let (from, _) = self.instants(&left, rule)?;
        let right_rule = match (left.value, right.value) {
            (Value::Exact(..), _) => rule,
            (value, _) => self.days(value, rule).map_or(rule, |(from, _)| Rule::From(from)),
        };
        // A range of clock times ends at the second.
        let clock = right.time.is_some_and(|time| time.part.is_none());
        let (right_from, right_to) = self.instants(&right, right_rule)?;
        let to = if clock { right_from } else { right_to };
        (from < to).then_some((from, to, unit, kind))
    }
}
