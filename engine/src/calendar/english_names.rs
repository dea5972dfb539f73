//! Named English times: last Friday, weekdays, months, seasons, holidays, and the years behind them.

use super::english_numbers::is_year;
use super::feasts::Feast;
use super::grammar::Reader;
use super::resolve::Rule;
use super::values::{Item, Time, Value, monday, plus_days, year_of};
use super::words::{Form, MonthWord, Part, Portion, Scale, Word};
use super::{Kind, Unit};

impl Reader<'_> {
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
                if step == -1
                    && self.word(next + 1) == Word::Of
                    && matches!(self.word(next + 2), Word::Month(..)) =>
            {
                self.nth_in_month(next, -1)
            }
            Word::Scale(scale) => {
                let item = self.calendar_unit(next + 1, scale, step)?;
                // "Next week on Tuesday".
                let behind = next + 1 + usize::from(self.word(next + 1) == Word::On);
                if scale == Scale::Week
                    && let Word::Weekday(day, false) = self.word(behind)
                {
                    let date = plus_days(monday(self.today, step), i64::from(day) - 1);
                    return Some(Item::days(behind + 1, date, plus_days(date, 1), Unit::Day, Kind::Relative));
                }
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
                let found = self.nearest_year(step, value)?;
                Some(Item::new(next + 1, value(found), Unit::Season, Kind::Relative))
            }
            Word::Feast(_) | Word::FeastStart => {
                let item = self.feast(next)?;
                let Value::Feast { year: None, feast } = item.value else { return None };
                let value = |year| Value::Feast { year: Some(year), feast };
                let year = if step == 0 { year_of(self.today) } else { self.nearest_year(step, value)? };
                Some(Item { value: value(year), kind: Kind::Relative, ..item })
            }
            _ => None,
        }
    }

    /// The year of the last, nearest or next occurrence of something yearly.
    pub(super) fn nearest_year(&self, step: i64, value: impl Fn(i32) -> Value) -> Option<i32> {
        let this = year_of(self.today);
        let today = self.today;
        let days = |year: i32| self.days(value(year), Rule::Near);
        match step {
            -1 => (this - 2..=this).rev().find(|year| days(*year).is_some_and(|(_, to)| to <= today)),
            0 => (this - 1..=this + 1)
                .filter_map(|year| Some((year, days(year)?)))
                .min_by_key(|(_, (from, to))| {
                    let gap = |from, to| super::values::days_between(from, to).max(0);
                    gap(today, *from) + if *to <= today { gap(*to, today) + 1 } else { 0 }
                })
                .map(|(year, _)| year),
            _ => (this..=this + 2).find(|year| days(*year).is_some_and(|(from, _)| from > today)),
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
                Word::In
                    | Word::Since
                    | Word::Until
                    | Word::By
                    | Word::Of
                    | Word::During
                    | Word::Portion(_)
                    | Word::Dash
                    | Word::Before
                    | Word::After
                    | Word::From
                    | Word::Around
            )
            || matches!(self.previous(at), Word::On) && matches!(self.word(next), Word::Number(_))
            || self.capital(at)
                && matches!(self.word(lone), Word::Dash | Word::To)
                && matches!(self.word(lone + 1), Word::Month(..));
        let sure = support != MonthWord::Verb
            || self.capital(at)
            || led
                && matches!(
                    self.previous(at),
                    Word::In | Word::Since | Word::Of | Word::During | Word::On | Word::Portion(_)
                );
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
            if digits && self.word(lone) != Word::In
                || sure && (led || support != MonthWord::Verb || self.word(lone) != Word::In)
            {
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
                let clock = after == Word::S && self.glued(next + 1)
                    || matches!(after, Word::Decades | Word::HourMark);
                (!clock).then_some((number.low as i32, next + 1))
            }
            (Word::Quote, Word::Number(number))
                if number.digits == 2 && self.glued(next + 1) && self.word(next + 2) != Word::S =>
            {
                let year = if number.low >= 50 { 1900 } else { 2000 } + number.low as i32;
                Some((year, next + 2))
            }
            (Word::Rel(step), Word::Scale(Scale::Year)) => {
                Some((year_of(self.today) + i32::from(step), next + 2))
            }
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
            || self.previous(at) == Word::The
                && before > 0
                && self.source(before - 1).eq_ignore_ascii_case("for")
            || matches!(
                self.previous(before),
                Word::In | Word::During | Word::Since | Word::Until | Word::Before | Word::After | Word::By
            );
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
            (
                Feast::Christmas | Feast::Thanksgiving | Feast::Halloween | Feast::Easter,
                Word::Scale(Scale::Day),
            ) if !matches!(self.word(end + 1), Word::Before | Word::After) => {
                end += 1;
                feast
            }
            _ => feast,
        };
        let thing = matches!(
            self.source(end).to_ascii_lowercase().as_str(),
            "tree"
                | "trees"
                | "egg"
                | "eggs"
                | "bunny"
                | "card"
                | "cards"
                | "carol"
                | "carols"
                | "island"
                | "song"
                | "songs"
                | "sweater"
                | "music"
                | "decorations"
                | "costume"
                | "costumes"
                | "movie"
                | "movies"
                | "lights"
        );
        let item =
            self.with_year(Item::new(end, Value::Feast { year: None, feast }, Unit::Day, Kind::Partial));
        // "The Christmas magic" is no day.
        let kind_of = self.previous(at) == Word::The
            && matches!(self.word(at), Word::Feast(_))
            && item.kind == Kind::Partial
            && end < self.tokens.len()
            && self.word(end) == Word::Other;
        (!thing && !kind_of).then_some(item)
    }

    fn long_feast(&self, at: usize) -> Option<(Feast, usize)> {
        let owned =
            at + 1 + if self.word(at + 1) == Word::Quote && self.word(at + 2) == Word::S { 2 } else { 0 };
        let name = self.source(at).to_ascii_lowercase();
        let second = self.source(at + 1).to_ascii_lowercase();
        let third = self.source(at + 2).to_ascii_lowercase();
        let day = self.word(owned) == Word::Scale(Scale::Day);
        Some(match (name.as_str(), second.as_str()) {
            ("new", "year") => {
                let owned = at
                    + 2
                    + if self.word(at + 2) == Word::Quote && self.word(at + 3) == Word::S { 2 } else { 0 };
                match self.word(owned) {
                    Word::Eve => (Feast::NewYearEve, owned + 1),
                    Word::Scale(Scale::Day) => (Feast::NewYear, owned + 1),
                    _ if self.trailing_year(at + 2).is_some() => (Feast::NewYear, at + 2),
                    _ if owned == at + 2 => {
                        let led = matches!(
                            self.previous(at),
                            Word::At | Word::Before | Word::After | Word::Since | Word::By | Word::Until
                        );
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
                if self.source(name).eq_ignore_ascii_case("patrick")
                    && self.word(day) == Word::Scale(Scale::Day)
                {
                    (Feast::StPatrick, day + 1)
                } else {
                    return None;
                }
            }
            _ => return None,
        })
    }
}
