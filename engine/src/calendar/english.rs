//! English phrases.

use super::english_parts::is_year;
use super::feasts::Feast;
use super::grammar::Reader;
use super::resolve::{Rule, decade_portion, year_portion};
use super::values::{Item, Time, Value, monday, month_start, plus_days, year_of};
use super::words::{Form, Number, Part, Portion, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
    /// An English phrase at a token, with the time of day that belongs to it.
    pub(super) fn english(&self, at: usize, loose: bool) -> Option<Item> {
        let item = self.english_core(at, loose)?;
        Some(self.with_time(item))
    }

    fn english_core(&self, at: usize, loose: bool) -> Option<Item> {
        self.deeper(|| self.english_within(at, loose))
    }

    fn english_within(&self, at: usize, loose: bool) -> Option<Item> {
        match self.word(at) {
            Word::The => self.after_the(at, at + 1, loose),
            Word::Day(days) => Some(self.day_away(at + 1, i64::from(days))),
            Word::DayPart(days, part) => Some(self.day_away(at + 1, i64::from(days)).at(at + 1, Time::part(part))),
            Word::Date(year, month, day) => {
                Some(Item::fields(at + 1, Some(i32::from(year)), Some(month), Some(day)))
            }
            Word::YearMonth(year, month) => Some(Item::fields(at + 1, Some(i32::from(year)), Some(month), None)),
            Word::Instant(micros) => {
                let value = Value::Exact(micros, micros.saturating_add(60_000_000));
                Some(Item::new(at + 1, value, Unit::Moment, Kind::Absolute))
            }
            Word::Rel(step) => self.relative(at, i64::from(step)),
            Word::Past | Word::Coming => self.past_or_coming(at),
            Word::Weekday(day, short) => self.weekday(at, day, short, loose),
            Word::Weekdays => Some(Item::new(at + 1, Value::Recurring, Unit::Day, Kind::Recurring)),
            Word::Season(0) if self.source(at + 1).eq_ignore_ascii_case("festival") => {
                Some(self.with_year(Item::new(at + 2, Value::Feast { year: None, feast: Feast::SpringFestival }, Unit::Day, Kind::Partial)))
            }
            Word::Month(4, _) if self.source(at + 1).to_ascii_lowercase().starts_with("fool") => {
                let owned = at + 2 + if self.word(at + 2) == Word::Quote && self.word(at + 3) == Word::S { 2 } else { 0 };
                let quote = owned + usize::from(self.word(owned) == Word::Quote);
                let end = quote + usize::from(self.word(quote) == Word::Scale(Scale::Day));
                Some(self.with_year(Item::new(end, Value::Feast { year: None, feast: Feast::AprilFools }, Unit::Day, Kind::Partial)))
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
                item.wide = matches!(item.value, Value::AnchorDay | Value::Fields { .. } | Value::Feast { .. })
                    || item.time.is_some();
                Some(item)
            }
            Word::Scale(Scale::Weekend) if self.previous(at) == Word::On && self.source(at).ends_with('s') => {
                Some(Item::new(at + 1, Value::Recurring, Unit::Weekend, Kind::Recurring))
            }
            Word::Scale(_) | Word::A => self.step_english(at),
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
                let led = loose || matches!(self.previous(at), Word::At | Word::To | Word::From | Word::By | Word::Until);
                let clock = self.english_clock(at, led)?;
                Some(self.anchor_day().at(clock.end, clock.time(None)))
            }
            _ => None,
        }
    }

    fn anchor_day(&self) -> Item {
        Item::new(0, Value::AnchorDay, Unit::Day, Kind::Partial)
    }

    pub(super) fn day_away(&self, end: usize, days: i64) -> Item {
        let day = plus_days(self.today, days);
        Item::days(end, day, plus_days(day, 1), Unit::Day, Kind::Relative)
    }

    /// "Yesterday at 3pm", "Friday night", "3pm yesterday": joins a day and a time.
    fn with_time(&self, mut item: Item) -> Item {
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
                Some(day) if day.is_plain_day() => Item { start: item.start, wide: item.wide, ..day.at(day.end, time) },
                Some(Item { time: Some(Time { part: Some(part), .. }), .. }) if time.part.is_none() => {
                    let day = day.unwrap_or(item);
                    let moved = super::clock::ClockTime {
                        minutes: if time.from >= 720 && time.from < 19 * 60 { time.from - 720 } else { time.from },
                        unit: time.unit,
                        bare: true,
                        end: day.end,
                    };
                    let time = if part == Part::Night || part == Part::Evening { moved.time(Some(part)) } else { time };
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
                (Word::At, Word::Part(part @ Part::Night), _) => item = item.at(item.end + 2, Time::part(part)),
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
            (Word::Scale(scale), Word::Before) if self.word(at + 2) == Word::Rel(-1) => self.calendar_unit(at + 3, scale, -2),
            (Word::Part(Part::Night), Word::Before) if self.word(at + 2) == Word::Rel(-1) => {
                Some(self.day_away(at + 3, -2).at(at + 3, Time::part(Part::Night)))
            }
            (Word::Scale(Scale::Week), Word::Of) => {
                let item = self.english_core(at + 2, true).filter(Item::is_plain_day)?;
                let (from, _) = self.days(item.value, self.rule(the, item.end))?;
                let week = monday(from, 0);
                Some(Item::days(item.end, week, plus_days(week, 7), Unit::Week, item.kind))
            }
            (Word::Scale(Scale::Weekend), Word::Of) => {
                let item = self.english_core(at + 2, true).filter(Item::is_plain_day)?;
                let (from, _) = self.days(item.value, self.rule(the, item.end))?;
                let saturday = plus_days(monday(from, 0), 5);
                Some(Item::days(item.end, saturday, plus_days(saturday, 2), Unit::Weekend, item.kind))
            }
            (Word::Scale(_), Word::Before | Word::After) => self.step_english(at),
            (Word::Scale(Scale::Weekend), _) if self.source(at).ends_with('s') => {
                Some(Item::new(at + 1, Value::Recurring, Unit::Weekend, Kind::Recurring))
            }
            (Word::Scale(Scale::Weekend), _) => Some(Item::new(at + 1, Value::Weekend, Unit::Weekend, Kind::Partial)),
            // "The Sunday before 25 May".
            (Word::Weekday(day, false), side @ (Word::Before | Word::After)) => {
                let base = self.english_core(at + 2, true)?;
                let (from, to) = self.days(base.value, self.rule(the, base.end))?;
                let day = if side == Word::Before {
                    let behind = (i64::from(from.weekday().to_monday_one_offset()) - i64::from(day) + 6).rem_euclid(7) + 1;
                    plus_days(from, -behind)
                } else {
                    let last = plus_days(to, -1);
                    let ahead = (i64::from(day) - i64::from(last.weekday().to_monday_one_offset()) + 6).rem_euclid(7) + 1;
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

    /// "The 25th", "the 5th of May", "the third quarter of 2024"; `the` is the article, `end` stands behind
    /// the number.
    pub(super) fn ordinal(&self, the: usize, number: Number, end: usize, loose: bool) -> Option<Item> {
        let day = i8::try_from(number.low).ok()?;
        if self.word(end) == Word::Scale(Scale::Quarter) && (1..=4).contains(&day) {
            let value = Value::Quarter { year: None, quarter: day };
            return Some(self.with_year(Item::new(end + 1, value, Unit::Quarter, Kind::Partial)));
        }
        if !(1..=31).contains(&day) {
            return None;
        }
        if matches!(self.word(end), Word::Scale(Scale::Week | Scale::Weekend) | Word::Weekday(_, false)) {
            return self.nth_in_month(end, i64::from(day));
        }
        if let Some(item) = self.day_of_month(end, day) {
            return Some(item);
        }
        let led = loose || matches!(self.previous(the), Word::On | Word::By | Word::Since | Word::Until | Word::Before | Word::After);
        let noun = matches!(
            self.source(end).to_ascii_lowercase().as_str(),
            "floor" | "time" | "page" | "street" | "st" | "avenue" | "ave" | "try" | "attempt" | "grade" | "chapter"
                | "row" | "line" | "level" | "place" | "edition" | "round" | "hole" | "amendment" | "birthday"
                | "anniversary" | "century" | "day" | "week" | "month" | "year" | "hour" | "minute" | "one" | "side"
                | "step" | "shelf" | "ring" | "call" | "date" | "lap" | "story" | "storey" | "of" | "half"
        );
        if !led || noun || number.form == Form::SpelledOrdinal && day < 4 {
            return None;
        }
        Some(Item::fields(end, None, None, Some(day)))
    }

    /// Behind a day number: "of May 2023", "May", "of last month".
    fn day_of_month(&self, end: usize, day: i8) -> Option<Item> {
        let of = self.word(end) == Word::Of;
        let next = end + usize::from(of);
        match self.word(next) {
            Word::Month(month, _) => {
                let ordinal = matches!(self.word(end - 1), Word::Number(Number { form: Form::DigitsOrdinal | Form::SpelledOrdinal, .. }));
                let year = self.trailing_year(next + 1).is_some();
                let supported = of || ordinal || year || self.capital(next) || !self.needs_capital(next);
                supported.then(|| self.with_year(Item::fields(next + 1, None, Some(month), Some(day))))
            }
            Word::Rel(step @ -1..=1) if of && self.word(next + 1) == Word::Scale(Scale::Month) => {
                self.day_in_month(next + 2, i64::from(step), day)
            }
            Word::The if of && self.word(next + 1) == Word::Scale(Scale::Month) => {
                Some(Item::fields(next + 2, None, None, Some(day)))
            }
            _ => None,
        }
    }

    /// A day of the month so many months away.
    pub(super) fn day_in_month(&self, end: usize, step: i64, day: i8) -> Option<Item> {
        let first = month_start(year_of(self.today), i64::from(self.today.month()) + step);
        let mut item = Item::fields(end, Some(year_of(first)), Some(first.month()), Some(day));
        item.kind = Kind::Relative;
        Some(item)
    }

    /// A number first.
    fn number_first(&self, at: usize, number: Number, loose: bool) -> Option<Item> {
        if let Some(item) = self.step_english(at) {
            return Some(item);
        }
        let led_clock = loose || matches!(self.previous(at), Word::At);
        if let Some(clock) = self.english_clock(at, false) {
            return Some(self.anchor_day().at(clock.end, clock.time(None)));
        }
        let (number, end) = self.english_number(at).unwrap_or((number, at + 1));
        let ordinal = matches!(number.form, Form::DigitsOrdinal | Form::SpelledOrdinal);
        if number.form == Form::Digits || ordinal {
            if let Ok(day @ 1..=31) = i8::try_from(number.low)
                && number.digits <= 2
                && let Some(item) = self.day_of_month(end, day)
            {
                return Some(item);
            }
            if ordinal {
                if self.word(end) == Word::Scale(Scale::Quarter) {
                    let item = self.ordinal(at, number, end, loose)?;
                    return (item.kind == Kind::Absolute || item.kind == Kind::Relative).then_some(item);
                }
                let led = loose || matches!(self.previous(at), Word::On);
                return if led { self.ordinal(at, number, end, true) } else { None };
            }
        }
        if number.form != Form::Digits {
            return None;
        }
        // 1990s, the 90s.
        if self.word(at + 1) == Word::S && self.glued(at + 1) && number.low % 10 == 0 {
            if number.digits == 4 && (1000..=2900).contains(&number.low) {
                return Some(self.decade(at + 2, number.low as i32, Portion::Whole));
            }
            let led = loose || matches!(self.previous(at), Word::The | Word::Quote | Word::In | Word::Portion(_) | Word::Dash);
            if led && number.digits == 2 {
                return Some(self.decade(at + 2, decade_year(number.low), Portion::Whole));
            }
            return None;
        }
        if self.word(at + 1) == Word::Quote && self.word(at + 2) == Word::S && number.digits == 4 && number.low % 10 == 0 && (1000..=2900).contains(&number.low) {
            return Some(self.decade(at + 3, number.low as i32, Portion::Whole));
        }
        if self.bare_year(at, number, loose) {
            return Some(Item::fields(at + 1, Some(number.low as i32), None, None));
        }
        if led_clock {
            let clock = self.english_clock(at, true)?;
            return Some(self.anchor_day().at(clock.end, clock.time(None)));
        }
        None
    }

    /// Whether four digits that stand alone are a year.
    fn bare_year(&self, at: usize, number: Number, loose: bool) -> bool {
        if !is_year(number) {
            return false;
        }
        let led = loose
            || matches!(
                self.previous(at),
                Word::In | Word::Since | Word::Before | Word::After | Word::Until | Word::By | Word::During | Word::From
                    | Word::Around | Word::Portion(_)
            )
            || self.previous(at) == Word::Scale(Scale::Year)
            || self.word(at + 1) == Word::Dash
                && matches!(self.word(at + 2), Word::Number(number) if is_year(number) && self.glued(at + 1) && self.glued(at + 2));
        if !led || (1000..1500).contains(&number.low) || number.low > 2199 {
            return false;
        }
        // "In 2000 words": an amount of something.
        let noun = self.source(at + 1).to_ascii_lowercase();
        let amount = matches!(
            noun.as_str(),
            "words" | "pieces" | "bottles" | "steps" | "dollars" | "people" | "miles" | "km" | "meters" | "metres" | "calories"
                | "lines" | "ways" | "cases" | "places" | "characters" | "points" | "hours" | "days" | "years" | "minutes"
                | "seconds" | "users" | "items" | "copies" | "students" | "employees" | "euros" | "pounds" | "yuan" | "rmb"
                | "usd" | "kg" | "ml" | "mb" | "gb" | "tokens" | "files" | "times" | "votes" | "feet" | "units" | "pages"
        );
        let attached = self.glued(at + 1)
            && !matches!(self.word(at + 1), Word::Stop | Word::Comma | Word::Dash | Word::Quote)
            && !matches!(self.source(at + 1).as_bytes().first(), Some(b')' | b'"' | b']' | b':' | b'(') | None)
            && !self.han(at + 1);
        !amount && !attached
    }

    pub(super) fn decade(&self, end: usize, first: i32, portion: Portion) -> Item {
        let (from, to) = decade_portion(first, portion);
        Item::days(end, from, to, Unit::Decade, Kind::Absolute)
    }

    /// '90s
    fn short_decade(&self, at: usize) -> Option<Item> {
        match (self.word(at + 1), self.word(at + 2)) {
            (Word::Number(number), Word::S) if self.glued(at + 1) && self.glued(at + 2) && number.digits == 2 && number.low % 10 == 0 => {
                Some(self.decade(at + 3, decade_year(number.low), Portion::Whole))
            }
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
        if matches!(self.word(count.end), Word::Ago | Word::Later | Word::From | Word::Before | Word::After | Word::Of) {
            return None;
        }
        // "Finished it in three days" is how long it took.
        if self.rule(at, count.end) == Rule::Past {
            return None;
        }
        self.step_now(count, 1, count.end)
    }

    /// "Early March", "mid-2021", "the end of last year", "late 90s".
    fn portion(&self, at: usize, portion: Portion) -> Option<Item> {
        let mut next = at + 1;
        if self.word(next) == Word::Dash || self.word(next) == Word::In {
            next += 1;
        }
        let of = self.word(next) == Word::Of;
        next += usize::from(of);
        if !of && (matches!(portion, Portion::Start | Portion::End) || self.source(at).eq_ignore_ascii_case("middle")) {
            return None;
        }
        let the = self.word(next) == Word::The;
        if the || self.word(next) == Word::Rel(0) {
            let year = year_of(self.today);
            match self.word(next + 1) {
                Word::Scale(Scale::Month) => {
                    let value = Value::Fields { year: Some(year), month: Some(self.today.month()), day: None, portion };
                    return Some(Item::new(next + 2, value, Unit::Month, Kind::Relative));
                }
                Word::Scale(Scale::Year) => {
                    let (from, to) = year_portion(year, portion);
                    return Some(Item::days(next + 2, from, to, Unit::Year, Kind::Relative));
                }
                _ => {}
            }
        }
        if self.word(next) == Word::Season(2) && self.source(next + 1).eq_ignore_ascii_case("festival") {
            let value = Value::Feast { year: None, feast: Feast::MidAutumn };
            return Some(self.with_year(Item::new(next + 2, value, Unit::Day, Kind::Partial)));
        }
        let item = self.english_core(next, true)?;
        let (value, end) = match item.value {
            Value::Fields { year, month, day: None, portion: Portion::Whole } => {
                (Value::Fields { year, month, day: None, portion }, item.end)
            }
            Value::Season { year, season, portion: Portion::Whole } => (Value::Season { year, season, portion }, item.end),
            Value::Days(from, to) => match item.unit {
                Unit::Decade => {
                    let (from, to) = decade_portion(year_of(from), portion);
                    (Value::Days(from, to), item.end)
                }
                Unit::Year if plus_days(from, 367) > to => {
                    let (from, to) = year_portion(year_of(from), portion);
                    (Value::Days(from, to), item.end)
                }
                Unit::Month if plus_days(from, 32) > to => {
                    let value = Value::Fields { year: Some(year_of(from)), month: Some(from.month()), day: None, portion };
                    (value, item.end)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Item { end, value, ..item })
    }
}

/// The first year of a decade of two digits.
pub(super) fn decade_year(two: u32) -> i32 {
    if two >= 30 { 1900 + two as i32 } else { 2000 + two as i32 }
}
