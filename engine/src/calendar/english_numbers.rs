//! English numbers, counts of units, and steps from a day: "a week before Christmas", "last three weeks".

use super::grammar::{Count, Reader};
use super::resolve::Rule;
use super::values::{Item, Value, monday, month_start, plus_days, year_of};
use super::words::{Form, Number, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
    /// A number in digits or words: 25, 25th, twenty-five, twenty-fifth.
    pub(super) fn english_number(&self, at: usize) -> Option<(Number, usize)> {
        let Word::Number(number) = self.word(at) else { return None };
        if number.form == Form::Spelled && number.low >= 20 && number.low % 10 == 0 {
            let dash = self.word(at + 1) == Word::Dash && self.glued(at + 1);
            if let Word::Number(ones) = self.word(at + 1 + usize::from(dash))
                && matches!(ones.form, Form::Spelled | Form::SpelledOrdinal)
                && (1..=9).contains(&ones.low)
            {
                let value = number.low + ones.low;
                let number = Number { low: value, high: value, ..ones };
                return Some((number, at + 2 + usize::from(dash)));
            }
        }
        Some((number, at + 1))
    }

    /// So many units: "three weeks", "a couple of days", "half a year", "two and a half months",
    /// "a year and a half".
    pub(super) fn english_count(&self, at: usize) -> Option<Count> {
        let scale_at = |place: usize| match self.word(place) {
            Word::Scale(scale) if !self.han(place) => Some(scale),
            _ => None,
        };
        let (low, high, mut next) = match self.word(at) {
            Word::Half => {
                let article = self.word(at + 1) == Word::A;
                let scale = scale_at(at + 1 + usize::from(article))
                    .filter(|_| article || self.word(at + 1) != Word::A)?;
                return Some(Count { low: 50, high: 50, scale, end: at + 2 + usize::from(article) });
            }
            Word::A => match self.word(at + 1) {
                Word::Few(low, high) => (u64::from(low) * 100, u64::from(high) * 100, at + 2),
                Word::Half => (50, 50, at + 2),
                _ => (100, 100, at + 1),
            },
            Word::Few(low, high) => (u64::from(low) * 100, u64::from(high) * 100, at + 1),
            Word::Decimal(hundredths) => (u64::from(hundredths), u64::from(hundredths), at + 1),
            Word::Number(_) => {
                let (number, end) = self.english_number(at)?;
                if !matches!(number.form, Form::Digits | Form::Spelled) {
                    return None;
                }
                // "2-3 weeks", "two or three weeks".
                match (self.word(end), self.word(end + 1)) {
                    (
                        Word::Dash | Word::To | Word::Or,
                        Word::Number(Number { low, form: Form::Digits | Form::Spelled, .. }),
                    ) if low > number.low && low < number.low + 20 && scale_at(end + 2).is_some() => {
                        (u64::from(number.low) * 100, u64::from(low) * 100, end + 2)
                    }
                    _ => (u64::from(number.low) * 100, u64::from(number.low) * 100, end),
                }
            }
            _ => return None,
        };
        if self.word(next) == Word::Of {
            next += 1;
        }
        if self.word(next) == Word::And && self.word(next + 1) == Word::A && self.word(next + 2) == Word::Half
        {
            let scale = scale_at(next + 3)?;
            return Some(Count { low: low + 50, high: high + 50, scale, end: next + 4 });
        }
        // "A 3-week trip" is a length as well.
        if self.word(next) == Word::Dash && self.glued(next) && self.glued(next + 1) {
            next += 1;
        }
        let scale = scale_at(next)?;
        let mut end = next + 1;
        let (mut low, mut high) = (low, high);
        if self.word(end) == Word::And && self.word(end + 1) == Word::A && self.word(end + 2) == Word::Half {
            (low, high, end) = (low + 50, high + 50, end + 3);
        }
        Some(Count { low, high, scale, end })
    }

    /// "Three weeks ago", "two days from now", "a week before Christmas", "the day after tomorrow".
    pub(super) fn step_english(&self, at: usize) -> Option<Item> {
        let count = match self.word(at) {
            Word::Scale(scale) => Count { low: 100, high: 100, scale, end: at + 1 },
            _ => self.english_count(at)?,
        };
        let bare = matches!(self.word(at), Word::Scale(_));
        // "Three years and two months ago".
        if count.scale == Scale::Year
            && self.word(count.end) == Word::And
            && let Some(more) = self.english_count(count.end + 1)
            && more.scale == Scale::Month
            && self.word(more.end) == Word::Ago
        {
            let months = |years: u64, months: u64| years.saturating_mul(12).saturating_add(months);
            let (low, high) = (months(count.low, more.low), months(count.high, more.high));
            return self.step_now(Count { low, high, ..more }, -1, more.end + 1);
        }
        // The second half of such a sum is none by itself.
        if self.previous(at) == Word::And && at >= 2 && matches!(self.word(at - 2), Word::Scale(_)) {
            return None;
        }
        let end = count.end;
        // "The week before last", "the month after next".
        if bare && self.word(end) == Word::Before && self.lone_relative(end + 1, -1) {
            return self.calendar_unit(end + 2, count.scale, -2);
        }
        if bare && self.word(end) == Word::After && self.lone_relative(end + 1, 1) {
            return self.calendar_unit(end + 2, count.scale, 2);
        }
        match (self.word(end), self.word(end + 1)) {
            (Word::Ago, _) if !bare => self.step_now(count, -1, end + 1),
            (Word::From, Word::Now) if !bare => self.step_now(count, 1, end + 2),
            (Word::From, _) if !bare => {
                // "A week from Friday": the coming one, and the very day.
                let base = self.english(end + 1, false).filter(Item::is_plain_day)?;
                let (from, _) = self.days(base.value, Rule::Future)?;
                let fixed = Item::days(base.end, from, plus_days(from, 1), Unit::Day, base.kind);
                let count = match count.scale {
                    Scale::Week => Count {
                        low: count.low.saturating_mul(7),
                        high: count.high.saturating_mul(7),
                        scale: Scale::Day,
                        ..count
                    },
                    _ => count,
                };
                self.step_from(fixed, count, 1, base.end)
            }
            (side @ (Word::Before | Word::After), _) if !self.han(end) => {
                let sign = if side == Word::Before { -1 } else { 1 };
                let base = self.item(end + 1, true)?;
                if base.time.is_some() || base.value == Value::Recurring {
                    return None;
                }
                // "The week before" is the seven days that end where the other begins.
                if bare && count.scale == Scale::Week {
                    let (from, to) = self.days(base.value, self.rule(at, base.end))?;
                    let (from, to) =
                        if sign < 0 { (plus_days(from, -7), from) } else { (to, plus_days(to, 7)) };
                    return Some(Item::days(base.end, from, to, Unit::Week, base.kind));
                }
                if bare && count.scale == Scale::Weekend {
                    let (from, to) = self.days(base.value, self.rule(at, base.end))?;
                    let saturday = if sign < 0 {
                        // The last Sunday that lies before.
                        plus_days(
                            monday(plus_days(from, -1), 0),
                            if plus_days(from, -1) == plus_days(monday(plus_days(from, -1), 0), 6) {
                                5
                            } else {
                                -2
                            },
                        )
                    } else {
                        let monday = monday(to, 0);
                        if plus_days(monday, 5) >= to { plus_days(monday, 5) } else { plus_days(monday, 12) }
                    };
                    return Some(Item::days(
                        base.end,
                        saturday,
                        plus_days(saturday, 2),
                        Unit::Weekend,
                        base.kind,
                    ));
                }
                self.step_from(base, count, sign, base.end)
            }
            _ => None,
        }
    }

    /// Whether "last" or "next" stands alone.
    pub(super) fn lone_relative(&self, at: usize, step: i8) -> bool {
        let followed = matches!(
            self.word(at + 1),
            Word::Scale(_)
                | Word::Weekday(..)
                | Word::Month(..)
                | Word::Season(_)
                | Word::Feast(_)
                | Word::FeastStart
                | Word::Part(_)
                | Word::Number(_)
                | Word::Few(..)
        );
        self.word(at) == Word::Rel(step) && !followed
    }

    /// The calendar unit so many units away.
    pub(super) fn calendar_unit(&self, end: usize, scale: Scale, step: i64) -> Option<Item> {
        let today = self.today;
        let (year, month) = (year_of(today), i64::from(today.month()));
        let (from, to) = match scale {
            Scale::Week => (monday(today, step), monday(today, step + 1)),
            Scale::Weekend => (plus_days(monday(today, step), 5), monday(today, step + 1)),
            Scale::Month => (month_start(year, month + step), month_start(year, month + step + 1)),
            Scale::Quarter => {
                let first = (month - 1) / 3 * 3 + 1 + step * 3;
                (month_start(year, first), month_start(year, first + 3))
            }
            Scale::Year => (month_start(year, 1 + step * 12), month_start(year, 13 + step * 12)),
            Scale::Decade => {
                let first = 1 - i64::from(year.rem_euclid(10)) * 12 + step * 120;
                (month_start(year, first), month_start(year, first + 120))
            }
            _ => return None,
        };
        Some(Item::days(end, from, to, scale.unit(), Kind::Relative))
    }

    /// "Past three weeks", "past month", "coming Friday", "coming two weeks".
    pub(super) fn past_or_coming(&self, at: usize) -> Option<Item> {
        let led = matches!(self.previous(at), Word::The | Word::In | Word::During | Word::Rel(0));
        if !led {
            return None;
        }
        let sign = if self.word(at) == Word::Past { -1 } else { 1 };
        match self.word(at + 1) {
            Word::Scale(scale) if !matches!(scale, Scale::Weekend) => {
                // "The coming weeks" are a few.
                let amount = if self.source(at + 1).ends_with('s') { 500 } else { 100 };
                let count = Count { low: 100, high: amount, scale, end: at + 2 };
                self.stretch(count, sign, at + 2)
            }
            Word::Number(_) | Word::Few(..) => {
                let count = self.english_count(at + 1)?;
                self.stretch(count, sign, count.end)
            }
            Word::Weekday(day, false) => {
                let this = i64::from(self.today.weekday().to_monday_one_offset());
                let day = i64::from(day);
                let away = if sign < 0 {
                    -((this - day + 6).rem_euclid(7) + 1)
                } else {
                    (day - this + 6).rem_euclid(7) + 1
                };
                Some(self.day_away(at + 2, away))
            }
            Word::Scale(Scale::Weekend) => self.calendar_unit(at + 2, Scale::Weekend, sign.min(0)),
            _ => None,
        }
    }

    /// "First weekend of May 2023", "second Tuesday in March", "last week of June": `at` is the week,
    /// weekend or weekday, -1 the last of the month.
    pub(super) fn nth_in_month(&self, at: usize, nth: i64) -> Option<Item> {
        if !matches!(self.word(at + 1), Word::Of | Word::In) {
            return None;
        }
        let month = self.english(at + 2, true)?;
        self.nth_within(at, nth, month)
    }

    /// The so-manyth week, weekend or weekday (the word at `at`) of a month.
    pub(super) fn nth_within(&self, at: usize, nth: i64, month: Item) -> Option<Item> {
        if !matches!(month.value, Value::Fields { month: Some(_), day: None, .. }) {
            return None;
        }
        let (first, after) = self.days(month.value, self.rule(at, month.end))?;
        let weekday = |day: i64| {
            let wait = |from: jiff::civil::Date| {
                (day - i64::from(from.weekday().to_monday_one_offset())).rem_euclid(7)
            };
            if nth < 0 {
                let last_week = plus_days(after, -7);
                plus_days(last_week, wait(last_week))
            } else {
                plus_days(first, wait(first) + (nth - 1) * 7)
            }
        };
        let (from, length, unit) = match self.word(at) {
            Word::Scale(Scale::Week) if nth < 0 => (plus_days(after, -7), 7, Unit::Week),
            Word::Scale(Scale::Week) => (plus_days(first, (nth - 1) * 7), 7, Unit::Week),
            Word::Scale(Scale::Weekend) => (weekday(6), 2, Unit::Weekend),
            Word::Weekday(day, _) => (weekday(i64::from(day)), 1, Unit::Day),
            _ => return None,
        };
        (nth <= 5 && from < after)
            .then(|| Item::days(month.end, from, plus_days(from, length), unit, month.kind))
    }

    /// "Every Monday", "each year", "every other week".
    pub(super) fn every(&self, at: usize) -> Option<Item> {
        let mut next = at + 1;
        if self.word(next) == Word::Different {
            next += 1;
        }
        let unit = match self.word(next) {
            Word::Weekday(..) => Unit::Day,
            Word::Part(_) => Unit::PartOfDay,
            Word::Scale(scale) => scale.unit(),
            Word::Month(..) => Unit::Month,
            Word::Season(_) => Unit::Season,
            Word::Feast(_) => Unit::Day,
            Word::Number(_) | Word::Few(..) => {
                let count = self.english_count(next)?;
                next = count.end - 1;
                count.scale.unit()
            }
            _ => return None,
        };
        let mut end = next + 1;
        // "Every Monday morning", "every day at 7".
        if let Word::Part(_) = self.word(end) {
            end += 1;
        } else if self.word(end) == Word::In
            && self.word(end + 1) == Word::The
            && matches!(self.word(end + 2), Word::Part(_))
        {
            end += 3;
        }
        if matches!(self.word(end), Word::At | Word::Around)
            && let Some(clock) = self.english_clock(end + 1, true)
        {
            end = clock.end;
        }
        Some(Item::new(end, Value::Recurring, unit, Kind::Recurring))
    }
}

/// Whether a number can be a year.
pub(super) fn is_year(number: Number) -> bool {
    number.digits == 4
        && matches!(number.form, Form::Digits | Form::HanDigits)
        && (1000..=2999).contains(&number.low)
}
