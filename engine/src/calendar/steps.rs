//! Steps and stretches from a day or the anchor: three weeks ago, the last two months.

use jiff::civil::Date;

use super::grammar::{Count, Reader, clamp};
use super::values::{Item, Value, monday, month_start, plus_days, year_of};
use super::words::{Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
    /// 国庆节前三天, 生日后一周: a step from a day.
    pub(super) fn stepped(&self, item: Item) -> Item {
        if !item.is_plain_day() {
            return item;
        }
        let mark = item.end + usize::from(self.word(item.end) == Word::De);
        if !self.han(mark) {
            return item;
        }
        let sign = match self.word(mark) {
            Word::Before => -1,
            Word::After => 1,
            _ => return item,
        };
        let Some(count) = self.chinese_count(mark + 1) else { return item };
        if matches!(self.word(count.end), Word::Before | Word::After | Word::MonthMark | Word::DayMark) {
            return item;
        }
        self.step_from(item, count, sign, count.end)
            .map_or(item, |stepped| Item { start: item.start, ..stepped })
    }

    /// So many units before or after what an item names.
    pub(super) fn step_from(&self, base: Item, count: Count, sign: i64, end: usize) -> Option<Item> {
        let (from, to) = self.days(base.value, self.rule(base.end.min(self.tokens.len()), end))?;
        let whole = base.unit != Unit::Day;
        let day = if sign < 0 || !whole { from } else { plus_days(to, -1) };
        let (value, unit) = self.step(day, None, count, sign)?;
        Some(Item::new(end, value, unit, base.kind))
    }

    /// So many units from the anchor.
    pub(super) fn step_now(&self, count: Count, sign: i64, end: usize) -> Option<Item> {
        let (value, unit) = self.step(self.today, Some(self.anchor.instant.as_micros()), count, sign)?;
        Some(Item::new(end, value, unit, Kind::Relative))
    }

    /// So many units from a day, or from an instant where the units are hours.
    pub(super) fn step(
        &self,
        day: Date,
        instant: Option<i64>,
        count: Count,
        sign: i64,
    ) -> Option<(Value, Unit)> {
        let Count { mut low, mut high, mut scale, .. } = count;
        // A part of a unit is counted in the next smaller one.
        if low % 100 != 0 || high % 100 != 0 {
            let (factor, smaller) = match scale {
                Scale::Decade => (10, Scale::Year),
                Scale::Year => (12, Scale::Month),
                Scale::Month => {
                    // Half months are days, with the width of a week.
                    let days = |hundredths: u64| i64::try_from(hundredths.saturating_mul(3044) / 10_000).ok();
                    let (near, far) = (sign * days(low)?, sign * days(high)?);
                    let (first, last) = (near.min(far), near.max(far));
                    return Some((
                        Value::Days(plus_days(day, first - 3), plus_days(day, last + 4)),
                        Unit::Week,
                    ));
                }
                Scale::Week => (7, Scale::Day),
                Scale::Day => (24, Scale::Hour),
                Scale::Hour => (60, Scale::Minute),
                _ => return None,
            };
            (low, high, scale) = (low.saturating_mul(factor), high.saturating_mul(factor), smaller);
        }
        if scale == Scale::Fortnight {
            (low, high, scale) = (low.saturating_mul(2), high.saturating_mul(2), Scale::Week);
        }
        let amount =
            |hundredths: u64| i64::try_from(hundredths / 100).ok().filter(|amount| *amount <= 1_000_000);
        let (low, high) = (sign * amount(low)?, sign * amount(high)?);
        let (first, last) = (low.min(high), low.max(high));
        let days =
            |from: i64, to: i64, unit| Some((Value::Days(plus_days(day, from), plus_days(day, to)), unit));
        let month = i64::from(day.month());
        let year = year_of(day);
        let months = |from: i64, to: i64, unit| {
            Some((Value::Days(month_start(year, from), month_start(year, to)), unit))
        };
        match scale {
            Scale::Day => days(first, last + 1, Unit::Day),
            Scale::Week => days(first * 7 - 3, last * 7 + 4, Unit::Week),
            Scale::Weekend => Some((
                Value::Days(plus_days(monday(day, first), 5), plus_days(monday(day, last), 7)),
                Unit::Weekend,
            )),
            Scale::Month => months(month + first, month + last + 1, Unit::Month),
            Scale::Quarter => {
                let begin = (month - 1) / 3 * 3 + 1;
                months(begin + first * 3, begin + last * 3 + 3, Unit::Quarter)
            }
            Scale::Year => months(1 + first * 12, 13 + last * 12, Unit::Year),
            Scale::Decade => {
                let begin = 1 - i64::from(year.rem_euclid(10)) * 12;
                months(begin + first * 120, begin + last * 120 + 120, Unit::Decade)
            }
            Scale::Hour => {
                let (hour, half) = (3_600_000_000, 1_800_000_000);
                let instant = instant?;
                let at = |hours: i64, more: i64| {
                    instant.saturating_add(hours.saturating_mul(hour)).saturating_add(more)
                };
                Some((Value::Exact(clamp(at(first, -half)), clamp(at(last, half))), Unit::Hour))
            }
            Scale::Minute => {
                let minute = 60_000_000;
                let instant = instant?;
                let at = |minutes: i64| clamp(instant.saturating_add(minutes.saturating_mul(minute)));
                Some((Value::Exact(at(first), at(last + 1)), Unit::Moment))
            }
            Scale::Fortnight | Scale::Century => None,
        }
    }

    /// The last or the coming so many units, up to or from the anchor.
    pub(super) fn stretch(&self, count: Count, sign: i64, end: usize) -> Option<Item> {
        let now = self.anchor.instant.as_micros();
        let micros = hundredths_in_micros(count.high, count.scale)?;
        let (from, to) = match (count.scale, sign < 0) {
            (Scale::Minute | Scale::Hour, true) => (now.saturating_sub(micros), now),
            (Scale::Minute | Scale::Hour, false) => (now, now.saturating_add(micros)),
            _ => {
                // Whole days: those behind include today's until now.
                let far = self.far_day(count, sign)?;
                let edge = |day: Date| self.anchor.zone.micros(day.at(0, 0, 0, 0));
                if sign < 0 { (edge(far), now) } else { (now, edge(plus_days(far, 1))) }
            }
        };
        Some(Item::new(end, Value::Exact(clamp(from), clamp(to)), count.scale.unit(), Kind::Relative))
    }

    pub(super) fn far_day(&self, count: Count, sign: i64) -> Option<Date> {
        let months = match count.scale {
            Scale::Month => Some(1),
            Scale::Quarter => Some(3),
            Scale::Year => Some(12),
            Scale::Decade => Some(120),
            _ => None,
        };
        if let Some(months) = months {
            let hundredths = i64::try_from(count.high.saturating_mul(months)).ok()?;
            let shift = jiff::Span::new().try_months(sign * (hundredths / 100)).ok()?;
            return Some(self.today.saturating_add(shift));
        }
        let days = hundredths_in_micros(count.high, count.scale)? / 86_400_000_000;
        Some(plus_days(self.today, sign * days))
    }
}

/// The length of so many hundredths of a unit.
pub(super) fn hundredths_in_micros(hundredths: u64, scale: Scale) -> Option<i64> {
    let hours: f64 = match scale {
        Scale::Minute => 1.0 / 60.0,
        Scale::Hour => 1.0,
        Scale::Day => 24.0,
        Scale::Weekend => 48.0,
        Scale::Week => 168.0,
        Scale::Fortnight => 336.0,
        Scale::Month => 730.5,
        Scale::Quarter => 2191.5,
        Scale::Year => 8766.0,
        Scale::Decade => 87_660.0,
        Scale::Century => 876_600.0,
    };
    let micros = hundredths as f64 / 100.0 * hours * 3.6e9;
    // Ten thousand years are the calendar.
    (micros < 3.2e17).then_some(micros.round() as i64)
}
