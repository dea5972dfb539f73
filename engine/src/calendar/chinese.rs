//! Chinese phrases: year, then month, then day, then time, each with what can be left out.

use super::english_dates::decade_year;
use super::english_numbers::is_year;
use super::grammar::Reader;
use super::values::{Item, Time, Value, monday, month_start, plus_days, year_of};
use super::words::{Form, Number, Part, Portion, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
    /// A Chinese phrase at a token, with the time of day and the step that belong to it.
    pub(super) fn chinese(&self, at: usize, loose: bool) -> Option<Item> {
        let item = self.deeper(|| self.chinese_core(at, loose))?;
        let item = self.nth_chinese(item);
        let item = self.chinese_time(item);
        Some(self.stepped(item))
    }

    /// 三月的第一周, 五月的第二个星期天.
    fn nth_chinese(&self, month: Item) -> Item {
        let nth = month.end + usize::from(self.word(month.end) == Word::De);
        if self.word(nth) != Word::Nth {
            return month;
        }
        let Some(number) = self.small(nth + 1, 1, 5) else { return month };
        let what = nth + 2 + usize::from(self.word(nth + 2) == Word::Ge);
        match self.nth_within(what, i64::from(number), month) {
            Some(item) => Item { end: what + 1, ..item },
            None => month,
        }
    }

    pub(super) fn number(&self, at: usize) -> Option<Number> {
        match self.word(at) {
            Word::Number(number)
                if !matches!(number.form, Form::Spelled | Form::SpelledOrdinal | Form::DigitsOrdinal) =>
            {
                Some(number)
            }
            _ => None,
        }
    }

    /// An exact small number.
    pub(super) fn small(&self, at: usize, from: u32, to: u32) -> Option<i8> {
        let number = self.number(at)?;
        let exact = number.low == number.high && number.digits <= 2 && (from..=to).contains(&number.low);
        if exact { i8::try_from(number.low).ok() } else { None }
    }

    fn chinese_core(&self, at: usize, loose: bool) -> Option<Item> {
        match self.word(at) {
            Word::Day(days) => Some(self.day_away(at + 1, i64::from(days))),
            Word::DayPart(days, part) => {
                Some(self.day_away(at + 1, i64::from(days)).at(at + 1, Time::part(part)))
            }
            Word::YearRel(step) => {
                Some(self.behind_year(at + 1, year_of(self.today) + i32::from(step), Kind::Relative))
            }
            Word::Weekday(day, _) => Some(Item::new(at + 1, Value::Weekday(day), Unit::Day, Kind::Partial)),
            Word::Scale(Scale::Weekend) => {
                Some(Item::new(at + 1, Value::Weekend, Unit::Weekend, Kind::Partial))
            }
            Word::Feast(_) => self.yearly(at, None, Kind::Partial),
            Word::Part(part) => {
                let item = Item::new(at, Value::AnchorDay, Unit::Day, Kind::Partial);
                Some(item.at(at + 1, Time::part(part)))
            }
            // 晚9点
            Word::PartBefore(part) => {
                let clock = self.chinese_clock(at + 1, true)?;
                let item = Item::new(at, Value::AnchorDay, Unit::Day, Kind::Partial);
                Some(item.at(clock.end, clock.time(Some(part))))
            }
            Word::Rel(step) => self.chinese_relative(at, i64::from(step)),
            Word::Past | Word::Coming => {
                let sign = if self.word(at) == Word::Past { -1 } else { 1 };
                let next = at + 1 + usize::from(self.word(at + 1) == Word::Rel(0));
                let count = self.chinese_count(next)?;
                self.stretch(count, sign, count.end)
            }
            Word::Before => {
                // 前几天, 前两天: a few days ago.
                if matches!(self.previous(at), Word::KnownEnd | Word::Feast(_)) {
                    return None;
                }
                let vague = matches!(self.word(at + 1), Word::Few(..))
                    || self.small(at + 1, 2, 2).is_some() && self.source(at + 1) == "两";
                let mut count = self.chinese_count(at + 1).filter(|_| vague)?;
                if count.low == count.high {
                    count.high += 100;
                }
                self.step_now(count, -1, count.end)
            }
            Word::Every => self.chinese_every(at),
            Word::Nth => self.yearly(at, None, Kind::Partial),
            Word::QuarterNumber(_) => self.yearly(at, None, Kind::Partial),
            Word::MonthPortion(portion) => {
                let today = self.today;
                let value = Value::Fields {
                    year: Some(year_of(today)),
                    month: Some(today.month()),
                    day: None,
                    portion,
                };
                let lunar = portion == Portion::Start && self.number(at + 1).is_some();
                (!lunar && matches!(portion, Portion::Start | Portion::Middle | Portion::End))
                    .then(|| Item::new(at + 1, value, Unit::Month, Kind::Relative))
            }
            Word::YearPortion(_) => {
                // A portion without a year is this year's.
                Some(self.behind_year(at, year_of(self.today), Kind::Relative))
            }
            Word::Month(month, _) if self.han(at) => {
                Some(self.behind_month(at + 1, None, month, Kind::Partial))
            }
            Word::Few(..) | Word::Half | Word::Decimal(_) => self.ago(at),
            Word::Date(year, month, day) => {
                Some(Item::fields(at + 1, Some(i32::from(year)), Some(month), Some(day)))
            }
            Word::Clock(..) => {
                let clock = self.chinese_clock(at, loose)?;
                let item = Item::new(at, Value::AnchorDay, Unit::Day, Kind::Partial);
                Some(item.at(clock.end, clock.time(None)))
            }
            Word::Number(_) => self.chinese_number(at, loose),
            _ => None,
        }
    }

    fn chinese_number(&self, at: usize, loose: bool) -> Option<Item> {
        let number = self.number(at)?;
        if let Some(item) = self.ago(at) {
            // 三年前的夏天
            if let (Value::Days(from, to), Unit::Year) = (item.value, item.unit)
                && plus_days(from, 367) > to
                && self.word(item.end) == Word::De
            {
                return Some(self.behind_year(item.end, year_of(from), Kind::Relative));
            }
            return Some(item);
        }
        match self.word(at + 1) {
            Word::Scale(Scale::Year) | Word::YearPortion(_) => {
                let year = self.written_year(at)?;
                let end = if self.word(at + 1) == Word::Scale(Scale::Year) { at + 2 } else { at + 1 };
                return Some(self.behind_year(end, year, Kind::Absolute));
            }
            Word::Decades => {
                let first = match (number.digits, number.low) {
                    (4, year @ 1000..=2990) if year % 10 == 0 => year as i32,
                    (_, two @ 10..=90) if two % 10 == 0 => decade_year(two),
                    (_, 0) => 2000,
                    _ => return None,
                };
                return Some(match self.word(at + 2) {
                    Word::Portion(portion) if self.han(at + 2) => self.decade(at + 3, first, portion),
                    _ => self.decade(at + 2, first, Portion::Whole),
                });
            }
            Word::Scale(Scale::Century) if self.word(at + 3) == Word::Decades => {
                let decade = self.number(at + 2).filter(|decade| decade.low <= 90 && decade.low % 10 == 0)?;
                let century = i32::try_from(number.low).ok().filter(|century| (1..=30).contains(century))?;
                return Some(self.decade(at + 4, (century - 1) * 100 + decade.low as i32, Portion::Whole));
            }
            Word::MonthMark | Word::MonthPortion(_) => {
                let month = self.small(at, 1, 12)?;
                return self.month_with_days(at, None, month, Kind::Partial);
            }
            Word::DayMark => {
                let day = self.small(at, 1, 31)?;
                return self.bare_day(at, day, loose);
            }
            Word::Scale(Scale::Quarter)
                if self.small(at, 1, 4).is_some() && self.word(at + 1) == Word::Scale(Scale::Quarter) =>
            {
                // 三季度 is the third quarter; 三个季度 would be nine months.
                return self.yearly(at, None, Kind::Partial);
            }
            _ => {}
        }
        let clock = self.chinese_clock(at, loose)?;
        let item = Item::new(at, Value::AnchorDay, Unit::Day, Kind::Partial);
        Some(item.at(clock.end, clock.time(None)))
    }

    /// 2023年, 二〇二三年, 95年, 08年.
    fn written_year(&self, at: usize) -> Option<i32> {
        let number = self.number(at)?;
        let followed = matches!(self.word(at + 3), Word::MonthMark | Word::MonthPortion(_))
            || matches!(self.word(at + 2), Word::Season(_) | Word::Feast(_));
        match (number.form, number.digits) {
            _ if is_year(number) && number.low >= 1000 => Some(number.low as i32),
            (Form::Digits, 2) | (Form::HanDigits, 2) => {
                let zero = number.low < 10;
                let year = if number.low >= 50 { 1900 } else { 2000 } + number.low as i32;
                (number.low >= 50 || zero || followed).then_some(year)
            }
            // 八九年 reads as eight or nine before anything else.
            _ => None,
        }
    }

    /// What may stand behind a year.
    fn behind_year(&self, at: usize, year: i32, kind: Kind) -> Item {
        let whole = |end| Item { kind, ..Item::fields(end, Some(year), None, None) };
        let next = at + usize::from(self.word(at) == Word::De);
        match self.word(next) {
            Word::YearPortion(portion @ (Portion::FirstHalf | Portion::SecondHalf)) => {
                let value = Value::Half { year: Some(year), second: portion == Portion::SecondHalf };
                Item::new(next + 1, value, Unit::Quarter, kind)
            }
            Word::YearPortion(portion) => {
                let value = Value::Fields { year: Some(year), month: None, day: None, portion };
                Item::new(next + 1, value, Unit::Year, kind)
            }
            Word::Portion(portion @ (Portion::Start | Portion::End)) if next == at && self.han(next) => {
                let value = Value::Fields { year: Some(year), month: None, day: None, portion };
                Item::new(next + 1, value, Unit::Year, kind)
            }
            Word::Number(_) if matches!(self.word(next + 1), Word::MonthMark | Word::MonthPortion(_)) => self
                .small(next, 1, 12)
                .and_then(|month| self.month_with_days(next, Some(year), month, kind))
                .unwrap_or_else(|| whole(at)),
            Word::Month(month, _) if self.han(next) => self.behind_month(next + 1, Some(year), month, kind),
            // 去年的今天
            Word::Day(days) if self.han(next) && (next > at || days == 0) => {
                let day = plus_days(self.today, i64::from(days));
                Item { kind, ..Item::fields(next + 1, Some(year), Some(day.month()), Some(day.day())) }
            }
            _ => self.yearly(next, Some(year), kind).unwrap_or_else(|| whole(at)),
        }
    }

    /// Season, quarter or holiday.
    fn yearly(&self, at: usize, year: Option<i32>, kind: Kind) -> Option<Item> {
        let plain = |end, value, unit| Some(Item::new(end, value, unit, kind));
        match self.word(at) {
            Word::Season(season) if self.han(at) => {
                let portion = match self.word(at + 1) {
                    Word::Portion(portion @ Portion::Start) => Some(portion),
                    Word::Portion(portion @ Portion::End) => Some(portion),
                    _ => None,
                };
                let end = at + 1 + usize::from(portion.is_some());
                let portion = portion.unwrap_or_default();
                plain(end, Value::Season { year, season, portion }, Unit::Season)
            }
            Word::Feast(feast) if self.han(at) => {
                if self.word(at + 1) == Word::Happy {
                    return None;
                }
                plain(at + 1, Value::Feast { year, feast }, Unit::Day)
            }
            Word::QuarterNumber(quarter) => {
                if year.is_none() && !self.han(at.saturating_sub(1)) {
                    return None;
                }
                plain(at + 1, Value::Quarter { year, quarter }, Unit::Quarter)
            }
            Word::Nth | Word::Number(_) => {
                let next = at + usize::from(self.word(at) == Word::Nth);
                let quarter = self.small(next, 1, 4)?;
                (self.word(next + 1) == Word::Scale(Scale::Quarter))
                    .then(|| Item::new(next + 2, Value::Quarter { year, quarter }, Unit::Quarter, kind))
            }
            _ => None,
        }
    }

    /// Number and 月 at a token, with day or portion.
    fn month_with_days(&self, at: usize, year: Option<i32>, month: i8, kind: Kind) -> Option<Item> {
        if let Word::MonthPortion(portion) = self.word(at + 1) {
            if portion == Portion::Start && self.number(at + 2).is_some() {
                return None;
            }
            let value = Value::Fields { year, month: Some(month), day: None, portion };
            return Some(Item::new(at + 2, value, Unit::Month, kind));
        }
        // 五月初八 is a day of another calendar.
        if matches!(self.word(at + 2), Word::Portion(_)) && self.number(at + 3).is_some() {
            return None;
        }
        Some(self.behind_month(at + 2, year, month, kind))
    }

    fn behind_month(&self, at: usize, year: Option<i32>, month: i8, kind: Kind) -> Item {
        let fields = |end, day, portion, unit| {
            Item::new(end, Value::Fields { year, month: Some(month), day, portion }, unit, kind)
        };
        let next = at + usize::from(self.word(at) == Word::De);
        match self.word(next) {
            Word::MonthPortion(portion) | Word::Portion(portion) if self.han(next) => {
                fields(next + 1, None, portion, Unit::Month)
            }
            Word::Number(_) if (next == at || year.is_some()) && self.word(next + 1) == Word::DayMark => {
                match self.small(next, 1, 31) {
                    Some(day) => fields(next + 2, Some(day), Portion::Whole, Unit::Day),
                    None => fields(at, None, Portion::Whole, Unit::Month),
                }
            }
            // 8月15 without 号, in digits only.
            Word::Number(Number { form: Form::Digits, .. })
                if next == at
                    && matches!(
                        self.word(next + 1),
                        Word::Part(_) | Word::Stop | Word::Comma | Word::Other | Word::Weekday(..)
                    )
                    && self.glued(next)
                    && self.source(next + 1).is_empty() =>
            {
                match self.small(next, 1, 31) {
                    Some(day) => fields(next + 1, Some(day), Portion::Whole, Unit::Day),
                    None => fields(at, None, Portion::Whole, Unit::Month),
                }
            }
            _ => fields(at, None, Portion::Whole, Unit::Month),
        }
    }

    /// 上周三, 这个月底, 下下周, 本季度.
    fn chinese_relative(&self, at: usize, step: i64) -> Option<Item> {
        let mut next = at + 1;
        if self.small(next, 1, 1).is_some() {
            next += 1;
        }
        let ge = self.word(next) == Word::Ge;
        next += usize::from(ge);
        match self.word(next) {
            Word::Weekday(day, _) => Some(self.weekday_of(next + 1, step, day)),
            Word::Scale(Scale::Week) => {
                let behind = next + 1 + usize::from(self.word(next + 1) == Word::De);
                match self.word(behind) {
                    Word::Weekday(day, _) => Some(self.weekday_of(behind + 1, step, day)),
                    Word::Scale(Scale::Weekend) => self.calendar_unit(behind + 1, Scale::Weekend, step),
                    _ => self.calendar_unit(next + 1, Scale::Week, step),
                }
            }
            Word::Scale(scale @ (Scale::Weekend | Scale::Quarter)) => {
                self.calendar_unit(next + 1, scale, step)
            }
            Word::Scale(Scale::Century) if step == -1 && self.word(next + 2) == Word::Decades => {
                let decade =
                    self.number(next + 1).filter(|decade| decade.low <= 90 && decade.low % 10 == 0)?;
                let first = (year_of(self.today) / 100 - 1) * 100 + decade.low as i32;
                let mut item = self.decade(next + 3, first, Portion::Whole);
                item.kind = Kind::Relative;
                Some(item)
            }
            Word::MonthMark => {
                let first = month_start(year_of(self.today), i64::from(self.today.month()) + step);
                let item = self.behind_month(next + 1, Some(year_of(first)), first.month(), Kind::Relative);
                Some(item)
            }
            Word::MonthPortion(portion) => {
                let first = month_start(year_of(self.today), i64::from(self.today.month()) + step);
                let value = Value::Fields {
                    year: Some(year_of(first)),
                    month: Some(first.month()),
                    day: None,
                    portion,
                };
                Some(Item::new(next + 1, value, Unit::Month, Kind::Relative))
            }
            // 这几天, 这两天: the last few.
            Word::Few(..) | Word::Number(_) if step == 0 && !ge => {
                let vague = matches!(self.word(next), Word::Few(..)) || self.source(next) == "两";
                let count = self.chinese_count(next).filter(|_| vague)?;
                self.stretch(count, -1, count.end)
            }
            Word::Season(season) => {
                let value = |year| Value::Season { year: Some(year), season, portion: Portion::Whole };
                let year = self.nearest_year(step.clamp(-1, 1), value)?;
                Some(Item::new(next + 1, value(year), Unit::Season, Kind::Relative))
            }
            Word::Feast(feast) => {
                let value = |year| Value::Feast { year: Some(year), feast };
                let year = self.nearest_year(step.clamp(-1, 1), value)?;
                Some(Item::new(next + 1, value(year), Unit::Day, Kind::Relative))
            }
            _ => None,
        }
    }

    fn weekday_of(&self, end: usize, step: i64, day: i8) -> Item {
        let date = plus_days(monday(self.today, step), i64::from(day) - 1);
        Item::days(end, date, plus_days(date, 1), Unit::Day, Kind::Relative)
    }

    /// A part of the day or a clock time behind a day.
    fn chinese_time(&self, mut item: Item) -> Item {
        // 5月8日星期三, 5月8日（周三）: the weekday adds nothing.
        if matches!(item.value, Value::Fields { month: Some(_), day: Some(_), .. }) && item.is_plain_day() {
            let bracket = matches!(self.source(item.end), "（" | "(");
            if let Word::Weekday(..) = self.word(item.end + usize::from(bracket))
                && (!bracket || matches!(self.source(item.end + 2).chars().next(), Some('）' | ')')))
            {
                item.end += 1 + 2 * usize::from(bracket);
            }
        }
        let mut part = match item.time {
            None if item.is_plain_day() => None,
            Some(Time { part: Some(part), .. }) => Some(part),
            _ => return item,
        };
        let mut next = item.end + usize::from(matches!(self.word(item.end), Word::De));
        if part.is_none()
            && let Word::Part(named) = self.word(next)
            && self.han(next)
        {
            part = Some(named);
            item = item.at(next + 1, Time::part(named));
            next = item.end;
        }
        if part.is_none()
            && let Word::PartBefore(named) = self.word(next)
            && let Some(clock) = self.chinese_clock(next + 1, true)
        {
            return item.at(clock.end, clock.time(Some(named)));
        }
        // 昨天凌晨 belongs to that day; 昨晚凌晨 does not occur.
        if matches!(part, Some(Part::Night | Part::Evening | Part::Afternoon | Part::Morning))
            && let Word::Part(Part::EarlyHours) = self.word(next)
        {
            return item;
        }
        if let Some(clock) = self.chinese_clock(next, true)
            && (self.glued(next) || item.end == next)
        {
            item = item.at(clock.end, clock.time(part));
        }
        item
    }
}
