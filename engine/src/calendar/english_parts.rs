//! The pieces of English phrases: numbers, counts, weekdays, months, seasons, holidays, years.

use super::feasts::Feast;
use super::grammar::{Count, Reader};
use super::resolve::Rule;
use super::values::{Item, Time, Value, monday, month_start, plus_days, year_of};
use super::words::{Form, MonthWord, Number, Part, Portion, Scale, Word};
use super::{Kind, Unit};

/// Whether a number can be a year.
pub(super) fn is_year(number: Number) -> bool {
    number.digits == 4 && matches!(number.form, Form::Digits | Form::HanDigits) && (1000..=2999).contains(&number.low)
}

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
                let scale = scale_at(at + 1 + usize::from(article)).filter(|_| article || self.word(at + 1) != Word::A)?;
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
                    (Word::Dash | Word::To | Word::Or, Word::Number(Number { low, form: Form::Digits | Form::Spelled, .. }))
                        if low > number.low && low < number.low + 20 && scale_at(end + 2).is_some() =>
                    {
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
        if self.word(next) == Word::And && self.word(next + 1) == Word::A && self.word(next + 2) == Word::Half {
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
        let end = count.end;
        match (self.word(end), self.word(end + 1)) {
            (Word::Ago, _) if !bare => self.step_now(count, -1, end + 1),
            (Word::From, Word::Now) if !bare => self.step_now(count, 1, end + 2),
            (Word::From, _) if !bare => {
                // "A week from Friday": the coming one, and the very day.
                let base = self.english(end + 1, false).filter(Item::is_plain_day)?;
                let (from, _) = self.days(base.value, Rule::Future)?;
                let fixed = Item::days(base.end, from, plus_days(from, 1), Unit::Day, base.kind);
                let count = match count.scale {
                    Scale::Week => Count { low: count.low.saturating_mul(7), high: count.high.saturating_mul(7), scale: Scale::Day, ..count },
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
                    let (from, to) = if sign < 0 { (plus_days(from, -7), from) } else { (to, plus_days(to, 7)) };
                    return Some(Item::days(base.end, from, to, Unit::Week, base.kind));
                }
                if bare && count.scale == Scale::Weekend {
                    let (from, to) = self.days(base.value, self.rule(at, base.end))?;
                    let saturday = if sign < 0 {
                        // The last Sunday that lies before.
                        plus_days(monday(plus_days(from, -1), 0), if plus_days(from, -1) == plus_days(monday(plus_days(from, -1), 0), 6) { 5 } else { -2 })
                    } else {
                        let monday = monday(to, 0);
                        if plus_days(monday, 5) >= to { plus_days(monday, 5) } else { plus_days(monday, 12) }
                    };
                    return Some(Item::days(base.end, saturday, plus_days(saturday, 2), Unit::Weekend, base.kind));
                }
                self.step_from(base, count, sign, base.end)
            }
            _ => None,
        }
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

    /// "Last Friday", "this week", "next March", "last few days", "this past weekend".
    pub(super) fn relative(&self, at: usize, step: i64) -> Option<Item> {
        let (mut step, mut next, mut nearest) = (step, at + 1, false);
        match (step, self.word(next)) {
            (0, Word::Past) => (step, next, nearest) = (-1, next + 1, true),
            (0, Word::Coming) => (step, next, nearest) = (1, next + 1, true),
            _ => {}
        }
        match self.word(next) {
            Word::Scale(Scale::Day | Scale::Hour | Scale::Minute | Scale::Century | Scale::Fortnight) => None,
            Word::Scale(Scale::Week | Scale::Weekend) | Word::Weekday(_, false)
                if step == -1 && self.word(next + 1) == Word::Of && matches!(self.word(next + 2), Word::Month(..)) =>
            {
                self.nth_in_month(next, -1)
            }
            Word::Scale(scale) => {
                let item = self.calendar_unit(next + 1, scale, step)?;
                // "Last year's Christmas", "last year in March".
                if scale == Scale::Year {
                    let mut behind = next + 1;
                    if self.word(behind) == Word::Quote && self.word(behind + 1) == Word::S {
                        behind += 2;
                    } else if matches!(self.word(behind), Word::In | Word::At | Word::On) {
                        behind += 1;
                    } else {
                        return Some(item);
                    }
                    if let Some(mut yearly) = self.english(behind, true)
                        && let Some(year @ None) = yearly.year_mut()
                    {
                        *year = Some(year_of(self.today) + i32::try_from(step).ok()?);
                        yearly.kind = Kind::Relative;
                        return Some(yearly);
                    }
                }
                Some(item)
            }
            Word::Number(_) | Word::Few(..) if step != 0 => {
                let count = self.english_count(next)?;
                self.stretch(count, step, count.end)
            }
            Word::Weekday(day, short) => {
                if short && !self.capital(next) {
                    return None;
                }
                let day = i64::from(day);
                let this = i64::from(self.today.weekday().to_monday_one_offset());
                let away = match step {
                    -1 => -((this - day + 6).rem_euclid(7) + 1),
                    0 => day - this,
                    _ if nearest => (day - this + 6).rem_euclid(7) + 1,
                    _ => day - this + 7,
                };
                Some(self.day_away(next + 1, away))
            }
            Word::Part(part) => match (step, part) {
                (-1, Part::Night | Part::Evening | Part::Afternoon | Part::Morning) => {
                    Some(self.day_away(next + 1, -1).at(next + 1, Time::part(part)))
                }
                (0, part) => Some(self.day_away(next + 1, 0).at(next + 1, Time::part(part))),
                _ => None,
            },
            Word::Month(month, support) => {
                // "This may be": a verb.
                if support == MonthWord::Verb && !self.capital(next) && step == 0 {
                    return None;
                }
                let (year, this) = (year_of(self.today), self.today.month());
                let year = match step {
                    -1 if month < this => year,
                    -1 => year - 1,
                    0 => year,
                    _ if month > this => year,
                    _ => year + 1,
                };
                let mut item = Item::fields(next + 1, Some(year), Some(month), None);
                item.kind = Kind::Relative;
                Some(item)
            }
            Word::Season(season) => {
                let value = |year| Value::Season { year: Some(year), season, portion: Portion::Whole };
                let found = self.nearest_year(step, |year| value(year))?;
                Some(Item::new(next + 1, value(found), Unit::Season, Kind::Relative))
            }
            Word::Feast(_) | Word::FeastStart => {
                let item = self.feast(next)?;
                let Value::Feast { year: None, feast } = item.value else { return None };
                let value = |year| Value::Feast { year: Some(year), feast };
                let year = if step == 0 { year_of(self.today) } else { self.nearest_year(step, |year| value(year))? };
                Some(Item { value: value(year), kind: Kind::Relative, ..item })
            }
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
        if !matches!(month.value, Value::Fields { month: Some(_), day: None, .. }) {
            return None;
        }
        let (first, after) = self.days(month.value, self.rule(at, month.end))?;
        let weekday = |day: i64| {
            let wait = |from: jiff::civil::Date| (day - i64::from(from.weekday().to_monday_one_offset())).rem_euclid(7);
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
        (nth <= 5 && from < after).then(|| Item::days(month.end, from, plus_days(from, length), unit, month.kind))
    }

    /// The year of the last, nearest or next occurrence of something yearly.
    fn nearest_year(&self, step: i64, value: impl Fn(i32) -> Value) -> Option<i32> {
        let this = year_of(self.today);
        let today = self.today;
        let days = |year: i32| self.days(value(year), Rule::Near);
        match step {
            -1 => (this - 2..=this).rev().find(|year| days(*year).is_some_and(|(_, to)| to <= today)),
            0 => (this - 1..=this + 1).filter_map(|year| Some((year, days(year)?))).min_by_key(|(_, (from, to))| {
                let gap = |from, to| super::values::days_between(from, to).max(0);
                gap(today, *from) + if *to <= today { gap(*to, today) + 1 } else { 0 }
            }).map(|(year, _)| year),
            _ => (this..=this + 2).find(|year| days(*year).is_some_and(|(from, _)| from > today)),
        }
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
                let away = if sign < 0 { -((this - day + 6).rem_euclid(7) + 1) } else { (day - this + 6).rem_euclid(7) + 1 };
                Some(self.day_away(at + 2, away))
            }
            Word::Scale(Scale::Weekend) => self.calendar_unit(at + 2, Scale::Weekend, sign.min(0)),
            _ => None,
        }
    }

    /// "Friday", "Friday last week", "Friday, May 5".
    pub(super) fn weekday(&self, at: usize, day: i8, short: bool, loose: bool) -> Option<Item> {
        let mut next = at + 1;
        // "Fri., 5 May"
        if short && self.word(next) == Word::Stop && self.glued(next) {
            next += 1;
        }
        let dated = next + usize::from(self.word(next) == Word::Comma);
        let dated = dated + usize::from(self.word(dated) == Word::The);
        if matches!(self.word(dated), Word::Month(..) | Word::Number(_) | Word::Date(..))
            && let Some(item) = self.english(dated, false)
            && matches!(item.value, Value::Fields { month: Some(_), day: Some(_), .. })
        {
            return Some(item);
        }
        // "Friday the 13th"
        if self.word(dated - 1) == Word::The
            && let Some((number, end)) = self.english_number(dated)
            && matches!(number.form, Form::DigitsOrdinal | Form::SpelledOrdinal)
            && let Some(item) = self.ordinal(dated - 1, number, end, true)
        {
            return Some(item);
        }
        let of = next + usize::from(self.word(next) == Word::Of);
        if let (Word::Rel(step), Word::Scale(Scale::Week)) = (self.word(of), self.word(of + 1)) {
            let date = plus_days(monday(self.today, i64::from(step)), i64::from(day) - 1);
            return Some(Item::days(of + 2, date, plus_days(date, 1), Unit::Day, Kind::Relative));
        }
        if short {
            let led = loose || matches!(self.previous(at), Word::On | Word::By | Word::Since | Word::Until);
            if !led || !self.capital(at) {
                return None;
            }
        }
        Some(Item::new(at + 1, Value::Weekday(day), Unit::Day, Kind::Partial))
    }

    /// Whether a month's name needs a capital letter to be one.
    pub(super) fn needs_capital(&self, at: usize) -> bool {
        matches!(self.word(at), Word::Month(_, MonthWord::Verb))
    }

    /// "March 5, 2023", "May 2023", "March".
    pub(super) fn month_first(&self, at: usize, month: i8, loose: bool) -> Option<Item> {
        let Word::Month(_, support) = self.word(at) else { return None };
        let mut next = at + 1;
        // "Jan. 5"
        if self.tokens.get(at).is_some_and(|token| token.end - token.start <= 4)
            && self.word(next) == Word::Stop
            && self.source(next) == "."
            && self.glued(next)
            && matches!(self.word(next + 1), Word::Number(_))
        {
            next += 1;
        }
        let lone = next;
        if self.word(next) == Word::The {
            next += 1;
        }
        let led = loose
            || matches!(
                self.previous(at),
                Word::In | Word::Since | Word::Until | Word::By | Word::Of | Word::During | Word::Portion(_) | Word::Dash
                    | Word::Before | Word::After | Word::From | Word::Around
            )
            || matches!(self.previous(at), Word::On) && matches!(self.word(next), Word::Number(_));
        let sure = support != MonthWord::Verb || self.capital(at) || led && matches!(self.previous(at), Word::In | Word::Since | Word::Of | Word::During | Word::On | Word::Portion(_));
        if let Some((number, end)) = self.english_number(next) {
            let ordinal = matches!(number.form, Form::DigitsOrdinal | Form::SpelledOrdinal);
            let written = ordinal || number.form == Form::Digits && number.digits <= 2;
            if written
                && let Ok(day @ 1..=31) = i8::try_from(number.low)
                && !matches!(self.word(end), Word::OClock | Word::Am | Word::Pm)
            {
                let item = self.with_year(Item::fields(end, None, Some(month), Some(day)));
                if sure || ordinal || item.kind == Kind::Absolute {
                    return Some(item);
                }
                return None;
            }
        }
        if let Some((_, _)) = self.trailing_year(lone) {
            let item = self.with_year(Item::fields(lone, None, Some(month), None));
            let digits = item.kind == Kind::Absolute;
            if digits && self.word(lone) != Word::In || sure && (led || support != MonthWord::Verb || self.word(lone) != Word::In) {
                return Some(item);
            }
        }
        let alone = match support {
            MonthWord::Plain => true,
            MonthWord::Name => led,
            MonthWord::Verb => led && sure,
        };
        alone.then(|| Item::fields(at + 1, None, Some(month), None))
    }

    /// A year behind something yearly: ", 2023", "of 2022", "last year", "'22".
    pub(super) fn trailing_year(&self, at: usize) -> Option<(i32, usize)> {
        let mut next = at;
        if matches!(self.word(next), Word::Comma | Word::Of | Word::In) {
            next += 1;
        }
        match (self.word(next), self.word(next + 1)) {
            (Word::Number(number), after) if is_year(number) => {
                let clock = after == Word::S && self.glued(next + 1) || matches!(after, Word::Decades | Word::HourMark);
                (!clock && !(self.word(at) == Word::Comma && self.word(at + 1) == Word::Dash)).then_some((number.low as i32, next + 1))
            }
            (Word::Quote, Word::Number(number)) if number.digits == 2 && self.glued(next + 1) && self.word(next + 2) != Word::S => {
                let year = if number.low >= 50 { 1900 } else { 2000 } + number.low as i32;
                Some((year, next + 2))
            }
            (Word::Rel(step), Word::Scale(Scale::Year)) => Some((year_of(self.today) + i32::from(step), next + 2)),
            _ => None,
        }
    }

    /// An item with the year that follows it.
    pub(super) fn with_year(&self, mut item: Item) -> Item {
        if let Some((found, end)) = self.trailing_year(item.end)
            && let Some(year @ None) = item.year_mut()
        {
            *year = Some(found);
            item.end = end;
            let digits = matches!(self.word(end - 1), Word::Number(_));
            item.kind = if digits { Kind::Absolute } else { Kind::Relative };
        }
        item
    }

    /// "In the summer", "summer of 2022".
    pub(super) fn season(&self, at: usize, season: u8, loose: bool) -> Option<Item> {
        let value = Value::Season { year: None, season, portion: Portion::Whole };
        let item = self.with_year(Item::new(at + 1, value, Unit::Season, Kind::Partial));
        let before = if self.previous(at) == Word::The { at - 1 } else { at };
        let led = loose && self.previous(at) != Word::The
            || self.previous(at) == Word::The && before > 0 && self.source(before - 1).eq_ignore_ascii_case("for")
            || matches!(self.previous(before), Word::In | Word::During | Word::Since | Word::Until | Word::Before | Word::After | Word::By);
        (led || item.kind != Kind::Partial).then_some(item)
    }

    /// A holiday, with its year.
    pub(super) fn feast(&self, at: usize) -> Option<Item> {
        if self.previous(at) == Word::Happy {
            return None;
        }
        let (feast, mut end) = match self.word(at) {
            Word::Feast(feast) => (feast, at + 1),
            _ => self.long_feast(at)?,
        };
        let feast = match (feast, self.word(end)) {
            (Feast::Christmas, Word::Eve) => {
                end += 1;
                Feast::ChristmasEve
            }
            (Feast::Easter, Word::Weekday(7, false)) => {
                end += 1;
                feast
            }
            (Feast::Christmas | Feast::Thanksgiving | Feast::Halloween | Feast::Easter, Word::Scale(Scale::Day))
                if !matches!(self.word(end + 1), Word::Before | Word::After) =>
            {
                end += 1;
                feast
            }
            _ => feast,
        };
        let thing = matches!(
            self.source(end).to_ascii_lowercase().as_str(),
            "tree" | "trees" | "egg" | "eggs" | "bunny" | "card" | "cards" | "carol" | "carols" | "island" | "song" | "songs"
                | "sweater" | "music" | "decorations" | "costume" | "costumes" | "movie" | "movies" | "lights"
        );
        let item = self.with_year(Item::new(end, Value::Feast { year: None, feast }, Unit::Day, Kind::Partial));
        // "The Christmas magic" is no day.
        let kind_of = self.previous(at) == Word::The
            && matches!(self.word(at), Word::Feast(_))
            && item.kind == Kind::Partial
            && end < self.tokens.len()
            && self.word(end) == Word::Other;
        (!thing && !kind_of).then_some(item)
    }

    fn long_feast(&self, at: usize) -> Option<(Feast, usize)> {
        let owned = at + 1 + if self.word(at + 1) == Word::Quote && self.word(at + 2) == Word::S { 2 } else { 0 };
        let name = self.source(at).to_ascii_lowercase();
        let second = self.source(at + 1).to_ascii_lowercase();
        let third = self.source(at + 2).to_ascii_lowercase();
        let day = self.word(owned) == Word::Scale(Scale::Day);
        Some(match (name.as_str(), second.as_str()) {
            ("new", "year") => {
                let owned = at + 2 + if self.word(at + 2) == Word::Quote && self.word(at + 3) == Word::S { 2 } else { 0 };
                match self.word(owned) {
                    Word::Eve => (Feast::NewYearEve, owned + 1),
                    Word::Scale(Scale::Day) => (Feast::NewYear, owned + 1),
                    _ if self.trailing_year(at + 2).is_some() => (Feast::NewYear, at + 2),
                    _ if owned == at + 2 => {
                        let led = matches!(self.previous(at), Word::At | Word::Before | Word::After | Word::Since | Word::By | Word::Until);
                        return led.then_some((Feast::NewYear, owned));
                    }
                    _ if self.source(owned) != "resolution" && self.source(owned) != "resolutions" => {
                        (Feast::NewYear, owned)
                    }
                    _ => return None,
                }
            }
            ("new", "years") => match self.word(at + 2) {
                Word::Eve => (Feast::NewYearEve, at + 3),
                Word::Scale(Scale::Day) => (Feast::NewYear, at + 3),
                _ => return None,
            },
            ("valentine" | "valentines", _) if day => (Feast::Valentine, owned + 1),
            ("labor" | "labour", _) if day => (Feast::Labor, owned + 1),
            ("memorial", _) if day => (Feast::Memorial, owned + 1),
            ("independence", _) if day => (Feast::Independence, owned + 1),
            ("veterans", _) if day => (Feast::Veterans, owned + 1),
            ("boxing", _) if day && self.capital(at) => (Feast::BoxingDay, owned + 1),
            ("mother" | "mothers", _) if day => (Feast::Mothers, owned + 1),
            ("father" | "fathers", _) if day => (Feast::Fathers, owned + 1),
            ("lunar" | "chinese", "new") if third == "year" => (Feast::SpringFestival, at + 3),
            ("dragon", "boat") if third == "festival" => (Feast::DragonBoat, at + 3),
            ("lantern", "festival") => (Feast::Lantern, at + 2),
            ("good", "friday") if self.capital(at) => (Feast::GoodFriday, at + 2),
            ("black", "friday") if self.capital(at) => (Feast::BlackFriday, at + 2),
            ("st", _) => {
                // "St. Patrick's Day"
                let name = at + 1 + usize::from(self.word(at + 1) == Word::Stop);
                let day = name + 3;
                if self.source(name).eq_ignore_ascii_case("patrick") && self.word(day) == Word::Scale(Scale::Day) {
                    (Feast::StPatrick, day + 1)
                } else {
                    return None;
                }
            }
            _ => return None,
        })
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
        } else if self.word(end) == Word::In && self.word(end + 1) == Word::The && matches!(self.word(end + 2), Word::Part(_)) {
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
