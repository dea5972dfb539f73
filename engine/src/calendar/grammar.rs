//! The part of the grammar that both languages share: sides, ranges, relative steps, names that
//! only a person knows. Every rule looks at a bounded number of words, so a text costs its length.

use std::cell::Cell;

use jiff::civil::{Date, DateTime};

use super::english_numbers::is_year;
use super::resolve::Rule;
use super::token::Token;
use super::values::{Item, Time, Value};
use super::words::{Form, Number, Portion, Scale, Word};
use super::{Anchor, Kind, KnownDates, Phrase, Side, Unit};
use crate::Timestamp;

/// How deep phrases may lie in one another: "the week before | the day after | Christmas".
const DEPTH: u8 = 6;

/// How far words that tell past from future may stand, in words.
const SENTENCE_REACH: usize = 12;

/// How many words the name of a known day may have.
const NAME_WORDS: usize = 4;

/// How many characters may stand before 生日.
const NAME_CHARACTERS: usize = 6;

/// So many units, in hundredths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) scale: Scale,
    pub(super) end: usize,
}

/// Reads the phrases of one text.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) anchor: &'a Anchor,
    known: &'a dyn KnownDates,
    names: bool,
    /// The anchor's local day.
    pub(super) today: Date,
    /// How many phrases the one that is being read lies within.
    depth: Cell<u8>,
}

struct Found {
    start: u32,
    end: usize,
    from: Option<i64>,
    to: Option<i64>,
    unit: Unit,
    kind: Kind,
    side: Side,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        text: &'a str,
        tokens: &'a [Token],
        anchor: &'a Anchor,
        known: &'a dyn KnownDates,
    ) -> Self {
        let local: DateTime = anchor.zone.local(anchor.instant);
        let names = tokens.iter().any(|token| token.word == Word::KnownEnd);
        Self { text, tokens, anchor, known, names, today: local.date(), depth: Cell::new(0) }
    }

    pub(super) fn read(&self) -> Vec<Phrase> {
        let mut phrases = Vec::new();
        let mut at = 0;
        let mut behind = 0;
        while at < self.tokens.len() {
            let word = self.word(at);
            if matches!(word, Word::Other | Word::Stop | Word::Comma) && !self.names {
                at += 1;
                continue;
            }
            match self.phrase(at).filter(|found| found.start >= behind && found.end > at) {
                Some(found) => {
                    let end = self.tokens[found.end - 1].end;
                    phrases.push(Phrase {
                        range: found.start as usize..end as usize,
                        from: found.from.map(Timestamp::from_micros),
                        to: found.to.map(Timestamp::from_micros),
                        unit: found.unit,
                        kind: found.kind,
                        side: found.side,
                    });
                    behind = end;
                    at = found.end;
                }
                None => at += 1,
            }
        }
        phrases
    }

    pub(super) fn word(&self, at: usize) -> Word {
        self.tokens.get(at).map_or(Word::Other, |token| token.word)
    }

    /// The word before a token, `Other` at the beginning.
    pub(super) fn previous(&self, at: usize) -> Word {
        at.checked_sub(1).map_or(Word::Other, |at| self.word(at))
    }

    pub(super) fn source(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start as usize..token.end as usize])
    }

    /// Whether the token is Chinese.
    pub(super) fn han(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| self.text.as_bytes()[token.start as usize] >= 0x80)
    }

    pub(super) fn capital(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.capital)
    }

    /// Whether no space stands before the token.
    pub(super) fn glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| !token.gap)
    }

    /// What the words of the sentence around a stretch say about past and future.
    pub(super) fn rule(&self, start: usize, end: usize) -> Rule {
        let ends = |token: &&Token| token.word != Word::Stop;
        let before = self.tokens[..start].iter().rev().take_while(ends).take(SENTENCE_REACH);
        let after = self.tokens.get(end..).unwrap_or_default().iter().take_while(ends).take(SENTENCE_REACH);
        let (mut past, mut future) = (false, false);
        for token in before.chain(after) {
            past |= token.word == Word::Did;
            future |= token.word == Word::Will;
        }
        match (past, future) {
            (true, false) => Rule::Past,
            (false, true) => Rule::Future,
            (false, false) if self.is_ahead(start, end) => Rule::Future,
            _ => Rule::Near,
        }
    }

    fn phrase(&self, at: usize) -> Option<Found> {
        let word = self.word(at);
        let start = self.tokens.get(at)?.start;
        let han = self.han(at);
        let side = match word {
            Word::Before if !han => Some(Side::Before),
            Word::After if !han => Some(Side::After),
            Word::Since => Some(Side::Since),
            Word::Until | Word::By => Some(Side::Until),
            _ => None,
        };
        match word {
            Word::Between if !han => return self.pair(at, at + 1, &[Word::And]),
            Word::During if self.word(at + 1) == Word::Between => return None,
            Word::From => {
                if let Some(found) = self.pair(at, at + 1, &[Word::To, Word::Until, Word::Dash]) {
                    return Some(found);
                }
                let item = self.item(at + 1, true)?;
                let closed = match self.word(item.end) {
                    // "from Monday on": nothing may follow that "on" could belong to.
                    Word::On if !han => {
                        item.end + 1 >= self.tokens.len()
                            || matches!(self.word(item.end + 1), Word::Stop | Word::Comma)
                    }
                    Word::SinceEnd => true,
                    Word::After => han,
                    _ => self.source(item.end) == "onwards" || self.source(item.end) == "onward",
                };
                return closed.then(|| self.sided(start, at, item, item.end + 1, Side::Since)).flatten();
            }
            _ => {}
        }
        if let Some(side) = side {
            if let Some(item) = self.item(at + 1, true) {
                let mut end = item.end;
                if han
                    && matches!(self.word(end), Word::SinceEnd | Word::UntilEnd | Word::After | Word::Before)
                {
                    end += 1;
                }
                return self.sided(start, at, item, end, side);
            }
            // "since my birthday" names a day that is not known; nothing else begins here.
            return None;
        }
        if let Some(found) = self.pair(at, at, &[Word::To, Word::Dash]) {
            return Some(found);
        }
        let mut item = self.item(at, false)?;
        let start = item.start.unwrap_or(start);
        let (end, side) = match self.word(item.end) {
            Word::Before if self.han(item.end) => (item.end + 1, Side::Before),
            Word::After if self.han(item.end) => (item.end + 1, Side::After),
            Word::SinceEnd => (item.end + 1, Side::Since),
            Word::UntilEnd => (item.end + 1, Side::Until),
            Word::AroundEnd => {
                item.wide = true;
                (item.end + 1, Side::On)
            }
            _ => (item.end, Side::On),
        };
        // 到5月为止, and 以前 behind 很久 belong elsewhere.
        let end = if side == Side::On { end } else { end.max(item.end) };
        self.sided(start, at, item, end, side)
    }

    /// An item as a phrase on one side of it.
    fn sided(&self, start: u32, at: usize, item: Item, end: usize, side: Side) -> Option<Found> {
        let found = |from, to, unit| Found { start, end, from, to, unit, kind: item.kind, side };
        if item.value == Value::Recurring {
            return (side == Side::On).then(|| Found { side, ..found(None, None, item.unit) });
        }
        // What something has lasted since lies behind.
        let lasting = self.word(at) == Word::Since || self.source(end - 1) == "以来";
        let rule = match self.rule(at, end) {
            Rule::Near if lasting => Rule::Past,
            rule => rule,
        };
        let (from, to) = self.instants(&item, rule)?;
        // "Before the end of the year", 年底前: as long as it is not over.
        let ending = matches!(item.value, Value::Fields { portion: Portion::End, .. });
        // A clock time ends where it is: "after 6 pm" begins at six, "by 5" ends at five.
        let to =
            if item.time.is_some_and(|time| time.part.is_none()) && side != Side::On { from } else { to };
        Some(match side {
            Side::On | Side::Between => found(Some(from), Some(to), item.unit),
            Side::Before => found(None, Some(if ending { to } else { from }), Unit::Open),
            Side::After => found(Some(to), None, Unit::Open),
            Side::Since => found(Some(from), None, Unit::Open),
            Side::Until => found(None, Some(to), Unit::Open),
        })
    }

    /// Two ends with a word between them, from the token `first`; the phrase begins at `at`.
    fn pair(&self, at: usize, first: usize, joiners: &[Word]) -> Option<Found> {
        let led = first > at;
        let start = self.tokens.get(at)?.start;
        let joins = |place: usize| {
            joiners.contains(&self.word(place))
                || self.han(place)
                    && matches!(self.word(place), Word::To | Word::And if led || self.word(place) == Word::To)
        };
        // "3-7 May", "between 3 and 7 May", "3 to 5pm": the left end is a bare number.
        let bare = |place: usize| match self.word(place) {
            Word::Number(Number {
                low,
                high,
                form: Form::Digits | Form::DigitsOrdinal | Form::Spelled | Form::Han,
                ..
            }) if low == high && (1..=31).contains(&low) => Some(low as i8),
            _ => None,
        };
        let (mut left, mut right, mut end);
        if let Word::Number(number) = self.word(first)
            && is_year(number)
            && joins(first + 1)
            && self.han(first + 1)
        {
            // 2019至2021年
            left = Item::fields(first + 1, Some(number.low as i32), None, None);
            right = self.item(first + 2, true)?;
            if right.unit != Unit::Year {
                return None;
            }
            end = right.end;
        } else if let Some(number) = bare(first)
            && joins(first + 1)
        {
            right = self.item(first + 2, false)?;
            left = right;
            match (&mut left.value, right.time) {
                (Value::Fields { day: Some(day), .. }, None) => *day = number,
                // 三到五月
                (Value::Fields { month: Some(month), .. }, None)
                    if number <= 12 && self.word(right.end - 1) == Word::MonthMark =>
                {
                    *month = number;
                }
                (_, Some(time)) if time.part.is_none() && number <= 12 => {
                    let hour = i32::from(number) * 60;
                    let hour = if hour < 720 && hour + 720 < time.to { hour + 720 } else { hour };
                    left.time = Some(Time { from: hour, to: hour + 60, unit: Unit::Hour, part: None });
                }
                _ => return None,
            }
            end = right.end;
        } else {
            left = self.item(first, led)?;
            if !joins(left.end) {
                return None;
            }
            // A dash stands between bare items only where no space, or a space on both sides, is.
            let next = left.end + 1;
            // "May 3 to 7", 5月3日至7日.
            let shortened = match (left.value, bare(next)) {
                (Value::Fields { month: Some(month), day: Some(_), year, .. }, Some(day)) => {
                    let marked = self.word(next + 1) == Word::DayMark;
                    let plain = !self.han(left.end)
                        && !matches!(
                            self.word(next + 1),
                            Word::Month(..)
                                | Word::Of
                                | Word::MonthMark
                                | Word::Scale(_)
                                | Word::Am
                                | Word::Pm
                                | Word::Ago
                        );
                    (marked || plain).then(|| {
                        let mut item =
                            Item::fields(next + 1 + usize::from(marked), year, Some(month), Some(day));
                        if year.is_none()
                            && let Some((year, end)) = self.trailing_year(item.end)
                        {
                            item = Item::fields(end, Some(year), Some(month), Some(day));
                        }
                        item
                    })
                }
                _ => None,
            };
            right = match shortened {
                Some(item) => item,
                None if self.word(next) == Word::Now => {
                    let now = self.anchor.instant.as_micros();
                    Item::new(
                        next + 1,
                        Value::Exact(now.saturating_sub(1), now),
                        Unit::Moment,
                        Kind::Relative,
                    )
                }
                None => self.item(next, true)?,
            };
            end = right.end;
        }
        if left.value == Value::Recurring || right.value == Value::Recurring {
            return None;
        }
        // 之间, 期间 close a range.
        if self.han(end) && self.word(end) == Word::Between {
            end += 1;
        }
        right.end = end;
        let (from, to, unit, kind) = self.range(left, right, self.rule(at, end))?;
        Some(Found { start, end, from: Some(from), to: Some(to), unit, kind, side: Side::Between })
    }

    /// One thing that the text names, at a token. `loose` where a word before it (since, from) says
    /// that a time follows.
    pub(super) fn item(&self, at: usize, loose: bool) -> Option<Item> {
        self.deeper(|| self.item_within(at, loose))
    }

    /// Reads a phrase that may be part of another, to a bounded depth.
    pub(super) fn deeper(&self, read: impl FnOnce() -> Option<Item>) -> Option<Item> {
        if self.depth.get() >= DEPTH {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let item = read();
        self.depth.set(self.depth.get() - 1);
        item
    }

    fn item_within(&self, at: usize, loose: bool) -> Option<Item> {
        if at >= self.tokens.len() {
            return None;
        }
        let named = if self.names { self.known_day(at) } else { None };
        if named.is_some() {
            return named.map(|item| self.stepped(item));
        }
        // Digits are of both languages; the longer reading wins.
        let digits = matches!(self.word(at), Word::Number(Number { form: Form::Digits, .. }))
            || matches!(
                self.word(at),
                Word::Clock(..) | Word::Date(..) | Word::YearMonth(..) | Word::QuarterNumber(_)
            );
        let chinese = if self.han(at) || digits { self.chinese(at, loose) } else { None };
        let english = if !self.han(at) { self.english(at, loose) } else { None };
        match (chinese, english) {
            (Some(chinese), Some(english)) => {
                Some(if english.end >= chinese.end { english } else { chinese })
            }
            (chinese, english) => chinese.or(english),
        }
    }

    /// "My birthday", 妈妈的生日: a yearly day that somebody knows.
    fn known_day(&self, at: usize) -> Option<Item> {
        let close = (at..(at + NAME_WORDS + 2).min(self.tokens.len()))
            .take_while(|place| !matches!(self.word(*place), Word::Stop | Word::Comma))
            .find(|place| self.word(*place) == Word::KnownEnd)?;
        let end = self.tokens[close].end as usize;
        let first = self.tokens[at].start as usize;
        let found = |start: usize| {
            let name = self.text[start..end].to_ascii_lowercase();
            let (month, day) = self.known.month_and_day(&name)?;
            // What is known must be a day; 2000 has a 29th of February.
            super::values::day_of(2000, month, day)?;
            let mut item = Item::fields(close + 1, None, Some(month), Some(day));
            item.start = Some(start as u32);
            Some(item)
        };
        if self.han(close) {
            let token = self.tokens[at].start as usize..self.tokens[at].end as usize;
            let before =
                self.text[..end - self.source(close).len()].char_indices().rev().take(NAME_CHARACTERS);
            let reach = before.map(|(place, _)| place).last().unwrap_or(first).max(first);
            let starts = self.text[token.clone()].char_indices().map(|(place, _)| token.start + place);
            return starts.skip_while(|start| *start < reach).take(NAME_CHARACTERS).find_map(found);
        }
        found(first).map(|item| match self.trailing_year(item.end) {
            Some((year, end)) => {
                let Value::Fields { month, day, .. } = item.value else { return item };
                let kind = if matches!(self.word(end - 1), Word::Number(_)) {
                    Kind::Absolute
                } else {
                    Kind::Relative
                };
                Item { start: item.start, kind, ..Item::fields(end, Some(year), month, day) }
            }
            None => item,
        })
    }
}

pub(super) fn clamp(micros: i64) -> i64 {
    Timestamp::from_micros(micros).as_micros()
}
