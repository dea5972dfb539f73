//! Times of day in both languages.

use super::Unit;
use super::grammar::Reader;
use super::values::Time;
use super::words::{Form, Number, Part, Word};

/// A clock time with what decides its half of the day.
#[derive(Clone, Copy)]
pub(super) struct ClockTime {
    pub(super) minutes: i32,
    pub(super) unit: Unit,
    /// No half of the day was named.
    pub(super) bare: bool,
    pub(super) end: usize,
}

impl ClockTime {
    fn new(minutes: i32, unit: Unit, bare: bool, end: usize) -> Self {
        Self { minutes, unit, bare, end }
    }

    /// The time within a part of the day, or by itself.
    pub(super) fn time(self, part: Option<Part>) -> Time {
        let mut minutes = self.minutes;
        let hour = minutes / 60;
        if hour <= 12 {
            match part {
                Some(Part::Afternoon) if hour < 12 => minutes += 720,
                Some(Part::Noon) if (1..=3).contains(&hour) => minutes += 720,
                Some(Part::Evening | Part::Night) => match hour {
                    12 => minutes += 720,
                    5..=11 => minutes += 720,
                    // Two at night is the next morning.
                    _ => minutes += 1440,
                },
                Some(Part::EarlyHours) if hour == 12 => minutes -= 720,
                Some(_) => {}
                // A bare hour before seven is in the afternoon.
                None if self.bare && (1..=6).contains(&hour) => minutes += 720,
                None => {}
            }
        }
        let length = if self.unit == Unit::Hour { 60 } else { 1 };
        Time { from: minutes, to: minutes + length, unit: self.unit, part: None }
    }
}

impl Reader<'_> {
    /// An English clock time at a token: 3pm, 3:30 p.m., 14:30, noon, half past three, six o'clock;
    /// with `loose` also a bare hour.
    pub(super) fn english_clock(&self, at: usize, loose: bool) -> Option<ClockTime> {
        match self.word(at) {
            Word::NoonHour => Some(ClockTime::new(720, Unit::Hour, false, at + 1)),
            Word::MidnightHour => Some(ClockTime::new(0, Unit::Hour, false, at + 1)),
            Word::Clock(minutes, wide) => {
                if let Some((half, end)) = self.half_of_day(at + 1, minutes) {
                    return Some(ClockTime::new(half, Unit::Moment, false, end));
                }
                (wide || loose).then_some(ClockTime::new(minutes, Unit::Moment, !wide, at + 1))
            }
            Word::Half if self.word(at + 1) == Word::Past => self.past(at + 2, 30),
            Word::Scale(super::words::Scale::Quarter) => match self.word(at + 1) {
                Word::Past | Word::After => self.past(at + 2, 15),
                Word::To => self.past(at + 2, -15),
                _ => None,
            },
            Word::A if self.word(at + 1) == Word::Scale(super::words::Scale::Quarter) => {
                self.english_clock(at + 1, loose)
            }
            Word::Number(Number { low: hour @ 0..=24, form: Form::Digits | Form::Spelled, high, .. })
                if high == hour =>
            {
                let minutes = hour as i32 * 60;
                if let Some((minutes, end)) = self.half_of_day(at + 1, minutes) {
                    return Some(ClockTime::new(minutes, Unit::Hour, false, end));
                }
                if self.word(at + 1) == Word::OClock {
                    return Some(ClockTime::new(minutes, Unit::Hour, true, at + 2));
                }
                // "At one" is as often one of something.
                let thing = hour == 1 && self.source(at).eq_ignore_ascii_case("one");
                (loose && !thing && (1..=12).contains(&hour) && self.closes(at + 1))
                    .then_some(ClockTime::new(minutes, Unit::Hour, true, at + 1))
            }
            _ => None,
        }
    }

    /// After "half past": an hour and minutes more or less.
    fn past(&self, at: usize, minutes: i32) -> Option<ClockTime> {
        let Word::Number(Number { low: hour @ 1..=12, form: Form::Digits | Form::Spelled, .. }) =
            self.word(at)
        else {
            return None;
        };
        let total = hour as i32 * 60 + minutes;
        match self.half_of_day(at + 1, hour as i32 * 60) {
            Some((hour, end)) => Some(ClockTime::new(hour + minutes, Unit::Moment, false, end)),
            None => Some(ClockTime::new(total, Unit::Moment, true, at + 1)),
        }
    }

    /// am or pm behind a time of so many minutes.
    fn half_of_day(&self, at: usize, minutes: i32) -> Option<(i32, usize)> {
        let hour = minutes / 60;
        let pm = match self.word(at) {
            Word::Am => {
                // "6 am" but not "at 6 am I late": letters that stand apart must be am and not a verb.
                if !(1..=12).contains(&hour) {
                    return None;
                }
                false
            }
            Word::Pm => true,
            _ => return None,
        };
        Some((
            match (pm, hour) {
                (false, 12) => minutes - 720,
                (true, 1..=11) => minutes + 720,
                _ => minutes,
            },
            at + 1,
        ))
    }

    /// Whether a bare hour may end before this token: nothing countable follows.
    pub(super) fn closes(&self, at: usize) -> bool {
        match self.word(at) {
            Word::Stop
            | Word::Comma
            | Word::On
            | Word::In
            | Word::Day(_)
            | Word::DayPart(..)
            | Word::And
            | Word::To
            | Word::Dash
            | Word::Weekday(..)
            | Word::Until
            | Word::Rel(_) => true,
            _ => at >= self.tokens.len(),
        }
    }

    /// A Chinese clock time: 三点, 三点半, 3点20分, 三点一刻, 14:30; `loose` after a day or part of a day.
    pub(super) fn chinese_clock(&self, at: usize, loose: bool) -> Option<ClockTime> {
        if let Word::Clock(minutes, wide) = self.word(at) {
            return (wide || loose).then_some(ClockTime::new(minutes, Unit::Moment, !wide, at + 1));
        }
        let Word::Number(Number { low: hour @ 0..=24, high, .. }) = self.word(at) else { return None };
        if high != hour || self.word(at + 1) != Word::HourMark {
            return None;
        }
        let minutes = hour as i32 * 60;
        let clear = self.source(at + 1) == "点钟";
        let found = |more: i32, end: usize| Some(ClockTime::new(minutes + more, Unit::Moment, true, end));
        match (self.word(at + 2), self.word(at + 3)) {
            (Word::Half, _) => found(30, at + 3),
            (Word::Whole, _) => Some(ClockTime::new(minutes, Unit::Hour, true, at + 3)),
            (Word::Number(Number { low: quarters @ 1..=3, .. }), Word::QuarterHour) => {
                found(15 * quarters as i32, at + 4)
            }
            (Word::Number(Number { low: more @ 0..=59, .. }), Word::MinuteMark) => found(more as i32, at + 4),
            (next, _) => {
                // 九点四十
                if let Word::Number(Number { low: more @ 10..=59, high, digits: 0 | 2, .. }) = next
                    && more == high
                    && !matches!(
                        self.word(at + 3),
                        Word::Ge | Word::Scale(_) | Word::HourMark | Word::MonthMark | Word::DayMark
                    )
                    && self.glued(at + 2)
                    && (loose || !self.glued(at + 3) || matches!(self.word(at + 3), Word::Stop | Word::Comma))
                {
                    return found(more as i32, at + 3);
                }
                let marked = matches!(
                    next,
                    Word::AroundEnd | Word::Before | Word::After | Word::SinceEnd | Word::UntilEnd
                ) || matches!(next, Word::To) && matches!(self.word(at + 3), Word::Number(_));
                let led =
                    at > 0 && matches!(self.word(at - 1), Word::At | Word::From | Word::Until | Word::About);
                (loose || clear || marked || led).then_some(ClockTime::new(minutes, Unit::Hour, true, at + 2))
            }
        }
    }
}
