//! English phrases.

use super::feasts::Feast;
use super::grammar::Reader;
use super::resolve::Rule;
use super::values::{Item, Time, Value, monday, plus_days};
use super::words::{Form, Part, Portion, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
    /// An English phrase at a token, with the time of day that belongs to it.
    pub(super) fn english(&self, at: usize, loose: bool) -> Option<Item> {
        let item = self.english_core(at, loose)?;
        Some(self.with_time(item))
    }

    pub(super) fn english_core(&self, at: usize, loose: bool) -> Option<Item> {
        self.deeper(|| self.english_within(at, loose))
    }

    fn english_within(&self, at: usize, loose: bool) -> Option<Item> {
        match self.word(at) {
            Word::The => self.after_the(at, at + 1, loose),
            Word::Day(days) => Some(self.day_away(at + 1, i64::from(days))),
            Word::DayPart(days, part) => {
                Some(self.day_away(at + 1, i64::from(days)).at(at + 1, Time::part(part)))
            }
            Word::Date(year, month, day) => {
                Some(Item::fields(at + 1, Some(i32::from(year)), Some(month), Some(day)))
            }
            Word::YearMonth(year, month) => {
                Some(Item::fields(at + 1, Some(i32::from(year)), Some(month), None))
            }
            Word::Instant(micros) => {
                let value = Value::Exact(micros, micros.saturating_add(60_000_000));
                Some(Item::new(at + 1, value, Unit::Moment, Kind::Absolute))
            }
            Word::Rel(step) => self.relative(at, i64::from(step)),
            Word::Past | Word::Coming => self.past_or_coming(at),
            Word::Weekday(day, short) => self.weekday(at, day, short, loose),
            Word::Weekdays(_) => Some(Item::new(at + 1, Value::Recurring, Unit::Day, Kind::Recurring)),
            Word::Season(0) if self.source(at + 1).eq_ignore_ascii_case("festival") => {
                Some(self.with_year(Item::new(
                    at + 2,
                    Value::Feast { year: None, feast: Feast::SpringFestival },
                    Unit::Day,
                    Kind::Partial,
                )))
            }
            Word::Month(4, _) if self.source(at + 1).to_ascii_lowercase().starts_with("fool") => {
                let owned = at
                    + 2
                    + if self.word(at + 2) == Word::Quote && self.word(at + 3) == Word::S { 2 } else { 0 };
                let quote = owned + usize::from(self.word(owned) == Word::Quote);
                let end = quote + usize::from(self.word(quote) == Word::Scale(Scale::Day));
                Some(self.with_year(Item::new(
                    end,
                    Value::Feast { year: None, feast: Feast::AprilFools },
                    Unit::Day,
                    Kind::Partial,
                )))
            }
            Word::Month(month, _) => self.month_first(at, month, loose),
            Word::Season(season) => self.season(at, season, loose),
            Word::Feast(_) | Word::FeastStart => self.feast(at),
            Word::QuarterNumber(quarter) => {
                let value = Value::Quarter { year: None, quarter };
                Some(self.with_year(Item::new(at + 1, value, Unit::Quarter, Kind::Partial)))
            }
            Word::Every => self.every(at),
            Word::Portion(portion) => self.portion(at, portion),
            Word::In => self.after_in(at),
            Word::During if self.word(at + 1) == Word::The => None,
            Word::At => match self.word(at + 1) {
                Word::Part(Part::Night) => Some(self.anchor_day().at(at + 2, Time::part(Part::Night))),
                _ => {
                    let clock = self.english_clock(at + 1, true)?;
                    Some(self.anchor_day().at(clock.end, clock.time(None)))
                }
            },
            Word::Around => {
                let mut item = match self.english_clock(at + 1, true) {
                    Some(clock) => self.with_time(self.anchor_day().at(clock.end, clock.time(None))),
                    None => self.english(at + 1, true)?,
                };
                item.wide =
                    matches!(item.value, Value::AnchorDay | Value::Fields { .. } | Value::Feast { .. })
                        || item.time.is_some();
                Some(item)
            }
            Word::Scale(Scale::Weekend)
                if self.previous(at) == Word::On && self.source(at).ends_with('s') =>
            {
                Some(Item::new(at + 1, Value::Recurring, Unit::Weekend, Kind::Recurring))
            }
            Word::Scale(_) | Word::A => {
                if let Some(clock) = self.english_clock(at, false) {
                    return Some(self.anchor_day().at(clock.end, clock.time(None)));
                }
                self.step_english(at)
            }
            Word::DecadeName(decade) => {
                let led = matches!(self.previous(at), Word::The | Word::Portion(_) | Word::Dash);
                led.then(|| self.decade(at + 1, 1900 + i32::from(decade), Portion::Whole))
            }
            Word::Quote => self.short_decade(at),
            Word::Half | Word::Few(..) | Word::Decimal(_) => {
                if let Some(clock) = self.english_clock(at, false) {
                    return Some(self.anchor_day().at(clock.end, clock.time(None)));
                }
                self.step_english(at)
            }
            Word::Number(number) => self.number_first(at, number, loose),
            Word::Clock(..) | Word::NoonHour | Word::MidnightHour => {
                let led = loose
                    || matches!(self.previous(at), Word::At | Word::To | Word::From | Word::By | Word::Until);
                let clock = self.english_clock(at, led)?;
                Some(self.anchor_day().at(clock.end, clock.time(None)))
            }
            _ => None,
        }
    }

    pub(super) fn anchor_day(&self) -> Item {
        Item::new(0, Value::AnchorDay, Unit::Day, Kind::Partial)
    }

    pub(super) fn day_away(&self, end: usize, days: i64) -> Item {
        let day = plus_days(self.today, days);
        Item::days(end, day, plus_days(day, 1), Unit::Day, Kind::Relative)
    }

    /// "Yesterday at 3pm", "Friday night", "3pm yesterday": joins a day and a time.
    pub(super) fn with_time(&self, mut item: Item) -> Item {
        // A time first, then its day.
        if item.value == Value::AnchorDay
            && let Some(time) = item.time
        {
            let mut next = item.end;
            if matches!(self.word(next), Word::Comma) {
                next += 1;
            }
            if matches!(self.word(next), Word::On | Word::Of) {
                next += 1;
            }
            let day = match self.word(next) {
                Word::Other | Word::In | Word::At | Word::Around | Word::Every => None,
                _ => self.english_core(next, next > item.end),
            };
            return match day {
                Some(day) if day.is_plain_day() => {
                    Item { start: item.start, wide: item.wide, ..day.at(day.end, time) }
                }
                Some(Item { time: Some(Time { part: Some(part), .. }), .. }) if time.part.is_none() => {
                    let day = day.unwrap_or(item);
                    let moved = super::clock::ClockTime {
                        minutes: if time.from >= 720 && time.from < 19 * 60 {
                            time.from - 720
                        } else {
                            time.from
                        },
                        unit: time.unit,
                        bare: true,
                        end: day.end,
                    };
                    let time = if part == Part::Night || part == Part::Evening {
                        moved.time(Some(part))
                    } else {
                        time
                    };
                    Item { wide: item.wide, ..day.at(day.end, time) }
                }
                _ => item,
            };
        }
        let part = match item.time {
            None if item.is_plain_day() => None,
            Some(Time { part: Some(part), .. }) => Some(part),
            _ => return item,
        };
        if part.is_none() {
            match (self.word(item.end), self.word(item.end + 1), self.word(item.end + 2)) {
                (Word::Part(part), _, _) => item = item.at(item.end + 1, Time::part(part)),
                (Word::In, Word::The, Word::Part(part)) => item = item.at(item.end + 3, Time::part(part)),
                (Word::At, Word::Part(part @ Part::Night), _) => {
                    item = item.at(item.end + 2, Time::part(part))
                }
                _ => {}
            }
        }
        let part = item.time.and_then(|time| time.part);
        let mut next = item.end;
        let comma = matches!(self.word(next), Word::Comma);
        next += usize::from(comma);
        let led = matches!(self.word(next), Word::At | Word::Around | Word::By);
        let wide = self.word(next) == Word::Around;
        next += usize::from(led);
        if let Some(clock) = self.english_clock(next, led) {
            item = item.at(clock.end, clock.time(part));
            item.wide = wide;
            if self.word(item.end) == Word::In
                && self.word(item.end + 1) == Word::The
                && let Word::Part(part) = self.word(item.end + 2)
            {
                item = item.at(item.end + 3, clock.time(Some(part)));
            }
        }
        item
    }

    /// Behind "the".
    fn after_the(&self, the: usize, at: usize, loose: bool) -> Option<Item> {
        match (self.word(at), self.word(at + 1)) {
            (Word::Different, Word::Scale(Scale::Day)) => {
                let (from, to) = (plus_days(self.today, -5), plus_days(self.today, -1));
                Some(Item::days(at + 2, from, to, Unit::Day, Kind::Relative))
            }
            (Word::Different, Word::Part(Part::Night)) => {
                let (from, to) = (plus_days(self.today, -5), plus_days(self.today, -1));
                Some(Item::days(at + 2, from, to, Unit::Day, Kind::Relative))
            }
            // "The week before last".
            (Word::Part(Part::Night), Word::Before) if self.lone_relative(at + 2, -1) => {
                Some(self.day_away(at + 3, -2).at(at + 3, Time::part(Part::Night)))
            }
            (Word::Weekday(day, false), Word::After) if self.lone_relative(at + 2, 1) => {
                let date = plus_days(monday(self.today, 2), i64::from(day) - 1);
                Some(Item::days(at + 3, date, plus_days(date, 1), Unit::Day, Kind::Relative))
            }
            // "The night before Christmas".
            (Word::Part(Part::Night), Word::Before) => {
                let base = self.english_core(at + 2, true).filter(Item::is_plain_day)?;
                let (from, _) = self.days(base.value, self.rule(the, base.end))?;
                let item = Item::days(base.end, plus_days(from, -1), from, Unit::Day, base.kind);
                Some(item.at(base.end, Time::part(Part::Night)))
            }
            (Word::Scale(Scale::Week), Word::Of) => {
                let item = self.english_core(at + 2, true).filter(Item::is_plain_day)?;
                let (from, _) = self.days(item.value, self.rule(the, item.end))?;
                let week = monday(from, 0);
                Some(Item::days(item.end, week, plus_days(week, 7), Unit::Week, item.kind))
            }
            (Word::Scale(Scale::Weekend), Word::Of) if !matches!(self.word(at + 2), Word::Rel(_)) => {
                let item = self.english_core(at + 2, true).filter(Item::is_plain_day)?;
                let (from, _) = self.days(item.value, self.rule(the, item.end))?;
                // Monday and Tuesday lie nearer to the weekend behind them.
                let saturday = plus_days(monday(plus_days(from, -2), 0), 5);
                Some(Item::days(item.end, saturday, plus_days(saturday, 2), Unit::Weekend, item.kind))
            }
            (Word::Scale(_), Word::Before | Word::After) => self.step_english(at),
            (Word::Scale(Scale::Weekend), _) if self.source(at).ends_with('s') => {
                Some(Item::new(at + 1, Value::Recurring, Unit::Weekend, Kind::Recurring))
            }
            (Word::Scale(Scale::Weekend), _) => {
                Some(Item::new(at + 1, Value::Weekend, Unit::Weekend, Kind::Partial))
            }
            // "The Sunday before 25 May".
            (Word::Weekday(day, false), side @ (Word::Before | Word::After)) => {
                let base = self.english_core(at + 2, true)?;
                let (from, to) = self.days(base.value, self.rule(the, base.end))?;
                let day = if side == Word::Before {
                    let behind = (i64::from(from.weekday().to_monday_one_offset()) - i64::from(day) + 6)
                        .rem_euclid(7)
                        + 1;
                    plus_days(from, -behind)
                } else {
                    let last = plus_days(to, -1);
                    let ahead = (i64::from(day) - i64::from(last.weekday().to_monday_one_offset()) + 6)
                        .rem_euclid(7)
                        + 1;
                    plus_days(last, ahead)
                };
                Some(Item::days(base.end, day, plus_days(day, 1), Unit::Day, base.kind))
            }
            (Word::Part(part), Word::Of) => {
                let item = self.english_core(at + 2, true).filter(Item::is_plain_day)?;
                Some(item.at(item.end, Time::part(part)))
            }
            (Word::Number(number), _) => {
                let (number, end) = self.english_number(at).unwrap_or((number, at + 1));
                if matches!(number.form, Form::DigitsOrdinal | Form::SpelledOrdinal) {
                    return self.ordinal(the, number, end, loose);
                }
                if number.form == Form::Digits && self.word(at + 1) == Word::S && self.glued(at + 1) {
                    return self.number_first(at, number, true);
                }
                self.step_english(at)
            }
            (Word::Season(_), _)
            | (Word::Portion(_), _)
            | (Word::Past | Word::Coming | Word::Rel(_), _)
            | (Word::DecadeName(_) | Word::Quote, _) => self.english_core(at, loose),
            (Word::Weekday(..) | Word::Feast(_) | Word::FeastStart, _) => self.english_core(at, loose),
            _ => None,
        }
    }

    /// "In": three days, the morning, May.
    fn after_in(&self, at: usize) -> Option<Item> {
        if self.word(at + 1) == Word::The
            && let Word::Part(part) = self.word(at + 2)
        {
            let item = self.anchor_day().at(at + 3, Time::part(part));
            // "In the afternoon, at 3"
            return Some(item);
        }
        let next = if self.word(at + 1) == Word::About { at + 2 } else { at + 1 };
        let count = self.english_count(next)?;
        if matches!(
            self.word(count.end),
            Word::Ago | Word::Later | Word::From | Word::Before | Word::After | Word::Of
        ) {
            return None;
        }
        // "Finished it in three days" is how long it took.
        if self.rule(at, count.end) == Rule::Past {
            return None;
        }
        self.step_now(count, 1, count.end)
    }
}
