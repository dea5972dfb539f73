//! English dates that begin with a number, an article or a part: "the 25th", "5 May", "2021", "the 90s",
//! "early March".

use super::english_numbers::is_year;
use super::feasts::Feast;
use super::grammar::Reader;
use super::resolve::decade_portion;
use super::values::{Item, Value, month_start, plus_days, year_of};
use super::words::{Form, Number, Portion, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
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
        let led = loose
            || matches!(
                self.previous(the),
                Word::On | Word::By | Word::Since | Word::Until | Word::Before | Word::After
            );
        let noun = matches!(
            self.source(end).to_ascii_lowercase().as_str(),
            "floor"
                | "time"
                | "page"
                | "street"
                | "st"
                | "avenue"
                | "ave"
                | "try"
                | "attempt"
                | "grade"
                | "chapter"
                | "row"
                | "line"
                | "level"
                | "place"
                | "edition"
                | "round"
                | "hole"
                | "amendment"
                | "birthday"
                | "anniversary"
                | "century"
                | "day"
                | "week"
                | "month"
                | "year"
                | "hour"
                | "minute"
                | "one"
                | "side"
                | "step"
                | "shelf"
                | "ring"
                | "call"
                | "date"
                | "lap"
                | "story"
                | "storey"
                | "of"
                | "half"
        );
        if !led || noun || number.form == Form::SpelledOrdinal && day < 4 {
            return None;
        }
        Some(Item::fields(end, None, None, Some(day)))
    }

    /// Behind a day number: "of May 2023", "May", "of last month".
    pub(super) fn day_of_month(&self, end: usize, day: i8) -> Option<Item> {
        let of = self.word(end) == Word::Of;
        let next = end + usize::from(of);
        match self.word(next) {
            Word::Month(month, _) => {
                let ordinal = matches!(
                    self.word(end - 1),
                    Word::Number(Number { form: Form::DigitsOrdinal | Form::SpelledOrdinal, .. })
                );
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
    pub(super) fn number_first(&self, at: usize, number: Number, loose: bool) -> Option<Item> {
        if let Some(item) = self.step_english(at) {
            return Some(item);
        }
        // "Two Fridays ago".
        if let (Word::Weekdays(day), Word::Ago) = (self.word(at + 1), self.word(at + 2))
            && matches!(number.form, Form::Digits | Form::Spelled)
            && (1..=200).contains(&number.low)
        {
            let this = i64::from(self.today.weekday().to_monday_one_offset());
            let last = (this - i64::from(day) + 6).rem_euclid(7) + 1;
            return Some(self.day_away(at + 3, -(last + (i64::from(number.low) - 1) * 7)));
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
            let led = loose
                || matches!(
                    self.previous(at),
                    Word::The | Word::Quote | Word::In | Word::Portion(_) | Word::Dash
                );
            if led && number.digits == 2 {
                return Some(self.decade(at + 2, decade_year(number.low), Portion::Whole));
            }
            return None;
        }
        // 2023Q2
        if let Word::QuarterNumber(quarter) = self.word(at + 1)
            && is_year(number)
        {
            let value = Value::Quarter { year: Some(number.low as i32), quarter };
            return Some(Item::new(at + 2, value, Unit::Quarter, Kind::Absolute));
        }
        if self.word(at + 1) == Word::Quote
            && self.word(at + 2) == Word::S
            && number.digits == 4
            && number.low % 10 == 0
            && (1000..=2900).contains(&number.low)
        {
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
    pub(super) fn bare_year(&self, at: usize, number: Number, loose: bool) -> bool {
        if !is_year(number) {
            return false;
        }
        let led = loose
            || matches!(
                self.previous(at),
                Word::In
                    | Word::Since
                    | Word::Before
                    | Word::After
                    | Word::Until
                    | Word::By
                    | Word::During
                    | Word::From
                    | Word::Around
                    | Word::Portion(_)
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
            "words"
                | "pieces"
                | "bottles"
                | "steps"
                | "dollars"
                | "people"
                | "miles"
                | "km"
                | "meters"
                | "metres"
                | "calories"
                | "lines"
                | "ways"
                | "cases"
                | "places"
                | "characters"
                | "points"
                | "hours"
                | "days"
                | "years"
                | "minutes"
                | "seconds"
                | "users"
                | "items"
                | "copies"
                | "students"
                | "employees"
                | "euros"
                | "pounds"
                | "yuan"
                | "rmb"
                | "usd"
                | "kg"
                | "ml"
                | "mb"
                | "gb"
                | "tokens"
                | "files"
                | "times"
                | "votes"
                | "feet"
                | "units"
                | "pages"
        );
        let attached = self.glued(at + 1)
            && !matches!(self.word(at + 1), Word::Stop | Word::Comma | Word::Dash | Word::Quote)
            && !matches!(
                self.source(at + 1).as_bytes().first(),
                Some(b')' | b'"' | b']' | b':' | b'(') | None
            )
            && !self.han(at + 1);
        !amount && !attached
    }

    pub(super) fn decade(&self, end: usize, first: i32, portion: Portion) -> Item {
        let (from, to) = decade_portion(first, portion);
        Item::days(end, from, to, Unit::Decade, Kind::Absolute)
    }

    /// '90s
    pub(super) fn short_decade(&self, at: usize) -> Option<Item> {
        match (self.word(at + 1), self.word(at + 2)) {
            (Word::Number(number), Word::S)
                if self.glued(at + 1) && self.glued(at + 2) && number.digits == 2 && number.low % 10 == 0 =>
            {
                Some(self.decade(at + 3, decade_year(number.low), Portion::Whole))
            }
            _ => None,
        }
    }

    /// "Early March", "mid-2021", "the end of last year", "late 90s".
    pub(super) fn portion(&self, at: usize, portion: Portion) -> Option<Item> {
        let mut next = at + 1;
        if self.word(next) == Word::Dash || self.word(next) == Word::In {
            next += 1;
        }
        let of = self.word(next) == Word::Of;
        next += usize::from(of);
        if !of
            && (matches!(portion, Portion::Start | Portion::End)
                || self.source(at).eq_ignore_ascii_case("middle"))
        {
            return None;
        }
        let the = self.word(next) == Word::The;
        if the || self.word(next) == Word::Rel(0) {
            let year = year_of(self.today);
            match self.word(next + 1) {
                Word::Scale(Scale::Month) => {
                    let value = Value::Fields {
                        year: Some(year),
                        month: Some(self.today.month()),
                        day: None,
                        portion,
                    };
                    return Some(Item::new(next + 2, value, Unit::Month, Kind::Relative));
                }
                Word::Scale(Scale::Year) => {
                    let value = Value::Fields { year: Some(year), month: None, day: None, portion };
                    return Some(Item::new(next + 2, value, Unit::Year, Kind::Relative));
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
            Value::Season { year, season, portion: Portion::Whole } => {
                (Value::Season { year, season, portion }, item.end)
            }
            Value::Days(from, to) => match item.unit {
                Unit::Decade => {
                    let (from, to) = decade_portion(year_of(from), portion);
                    (Value::Days(from, to), item.end)
                }
                Unit::Year if plus_days(from, 367) > to => {
                    (Value::Fields { year: Some(year_of(from)), month: None, day: None, portion }, item.end)
                }
                Unit::Month if plus_days(from, 32) > to => {
                    let value = Value::Fields {
                        year: Some(year_of(from)),
                        month: Some(from.month()),
                        day: None,
                        portion,
                    };
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
