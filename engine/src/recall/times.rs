//! The times that a question names.
//!
//! A date of which the year is missing means that day of any year; everything else is an
//! interval, measured from the instant and in the zone of the asker.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::calendar::{self, Anchor, Kind, KnownDates, Side, Unit, Zone};
use crate::card::TimeSpan;
use crate::recall::question::pattern;
use crate::time::Timestamp;

const DAY_MICROS: i64 = 86_400_000_000;
/// What a card tells of longer times is no date.
const LONGEST_TOLD: i64 = 32 * DAY_MICROS;

/// A date of which parts may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartialDate {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
}

/// The times that a question names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Times {
    dates: Vec<PartialDate>,
    /// Half-open, in microseconds.
    intervals: Vec<(i64, i64)>,
    /// Whose days the dates are.
    zone: Zone,
}

impl Times {
    /// An interval.
    #[cfg(test)]
    pub(super) fn within(from: i64, to: i64) -> Self {
        Self { dates: vec![], intervals: vec![(from, to)], zone: Zone::UTC }
    }

    /// Reads a question; gives the question without them, too.
    pub(super) fn find(text: &str, anchor: &Anchor, days: &dyn KnownDates) -> (Self, String) {
        let mut rest = text.to_owned();
        let mut intervals = Vec::new();
        for phrase in calendar::phrases(text, anchor, days).into_iter().rev() {
            // Days, months and years by name are read below, years left out included.
            let named = matches!(phrase.kind, Kind::Absolute | Kind::Partial)
                && phrase.side == Side::On
                && matches!(phrase.unit, Unit::Day | Unit::Month | Unit::Year)
                && !find_dates(&text[phrase.range.clone()]).0.is_empty();
            if named || phrase.kind == Kind::Recurring || phrase.unit < Unit::Hour {
                continue;
            }
            let bound = |end: Option<Timestamp>, open: i64| end.map_or(open, Timestamp::as_micros);
            let interval = (bound(phrase.from, i64::MIN), bound(phrase.to, i64::MAX));
            if interval != (i64::MIN, i64::MAX) {
                intervals.push(interval);
                rest.replace_range(phrase.range, " ");
            }
        }
        let (dates, rest) = find_dates(&rest);
        (Self { dates, intervals, zone: anchor.zone.clone() }, rest)
    }

    /// True when an instant lies on a day, in a month or year that is named.
    fn names(&self, micros: i64) -> bool {
        if self.dates.is_empty() {
            return false;
        }
        let date = self.zone.local(Timestamp::from_micros(micros)).date();
        self.dates.iter().any(|named| named.is((date.year(), date.month(), date.day())))
    }

    /// True when no time is named.
    pub(super) fn is_empty(&self) -> bool {
        self.dates.is_empty() && self.intervals.is_empty()
    }

    /// True when whole days (UTC) are named and nothing else.
    pub(super) fn are_days(&self) -> bool {
        self.intervals.is_empty() && self.zone == Zone::UTC
    }

    /// True when some instant of a day, which is named by its beginning, may be meant.
    pub(super) fn touch_day(&self, day: i64) -> bool {
        self.names(day)
            || self.zone != Zone::UTC && self.names(day.saturating_add(DAY_MICROS - 1))
            || self.intervals.iter().any(|(from, to)| *from < day.saturating_add(DAY_MICROS) && day < *to)
    }

    /// True when an instant (microseconds) is meant.
    pub(super) fn contain(&self, micros: i64) -> bool {
        self.names(micros) || self.intervals.iter().any(|(from, to)| (*from..*to).contains(&micros))
    }

    /// True when one of the times that a card tells of is meant.
    pub(super) fn meet(&self, told: &[TimeSpan]) -> bool {
        told.iter().any(|time| {
            let (Some(from), Some(to)) = (time.from, time.to) else { return false };
            let (from, to) = (from.as_micros(), to.as_micros());
            if to.saturating_sub(from) > LONGEST_TOLD {
                return false;
            }
            // Its middle: a local day begins on another day elsewhere.
            let middle = from + (to - from) / 2;
            self.names(middle) || self.intervals.iter().any(|(begin, end)| *begin < to && from < *end)
        })
    }
}

impl PartialDate {
    fn is(self, (year, month, day): (i16, i8, i8)) -> bool {
        self.year.is_none_or(|y| y == year)
            && self.month.is_none_or(|m| m == month)
            && self.day.is_none_or(|d| d == day)
    }
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Patterns of dates, and which group is what; the first that fits a place wins.
static DATES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let month = r"(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?";
    [
        (r"(\d{4})\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号])?".to_owned(), "ymd"),
        (r"(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]".to_owned(), "md"),
        (r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b".to_owned(), "ymd"),
        (r"(\d{1,2})\s*月份?".to_owned(), "m"),
        (format!(r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{month}(?:,?\s*(\d{{4}}))?\b"), "dmy"),
        (format!(r"(?i)\b{month}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s*(\d{{4}})\b)?"), "mdy"),
        (format!(r"(?i)\b{month},?\s+(?:of\s+)?(\d{{4}})\b"), "my"),
        (format!(r"(?i)\b(?:in|during|of|last|since|early|late|mid)[ -]{month}\b"), "m"),
        (
            r"(?i)\b(?:in|during|of|since|summer|winter|spring|fall|autumn)\s+((?:19|20)\d\d)\b".to_owned(),
            "y",
        ),
        (r"((?:19|20)\d\d)\s*年".to_owned(), "y"),
    ]
    .into_iter()
    .map(|(text, order)| (pattern(&text), order))
    .collect()
});

/// The dates a question names, and the question without them.
fn find_dates(text: &str) -> (Vec<PartialDate>, String) {
    let mut dates = Vec::new();
    let mut rest = text.to_owned();
    for (pattern, order) in DATES.iter() {
        rest = pattern
            .replace_all(&rest, |found: &Captures<'_>| {
                let mut date = PartialDate { year: None, month: None, day: None };
                for (part, group) in order.chars().zip(found.iter().skip(1)) {
                    let Some(text) = group.map(|group| group.as_str()) else { continue };
                    match part {
                        'y' => date.year = text.parse().ok(),
                        'd' => date.day = text.parse().ok(),
                        _ => date.month = month(text),
                    }
                }
                let possible = date.month.is_none_or(|m| (1..=12).contains(&m))
                    && date.day.is_none_or(|d| (1..=31).contains(&d))
                    && date != (PartialDate { year: None, month: None, day: None });
                if !possible {
                    return found[0].to_owned();
                }
                dates.push(date);
                " ".to_owned()
            })
            .into_owned();
    }
    (dates, rest)
}

fn month(text: &str) -> Option<i8> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let lower = text.to_lowercase();
    MONTHS.iter().position(|name| lower.starts_with(name)).map(|index| index as i8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_found_in_both_languages() {
        let date = |year, month, day| PartialDate { year, month, day };
        for (text, expected) in [
            ("what happened on 5 May 2023?", date(Some(2023), Some(5), Some(5))),
            ("on May 5th, 2023", date(Some(2023), Some(5), Some(5))),
            ("in March 2024", date(Some(2024), Some(3), None)),
            ("trips during August", date(None, Some(8), None)),
            ("2023年5月8日我做了什么", date(Some(2023), Some(5), Some(8))),
            ("5月8号", date(None, Some(5), Some(8))),
            ("2023-05-08", date(Some(2023), Some(5), Some(8))),
            ("去了哪里 2022年", date(Some(2022), None, None)),
            ("summer 2021", date(Some(2021), None, None)),
        ] {
            assert_eq!(find_dates(text).0, [expected], "{text}");
        }
        for text in ["may I come in?", "chapter 13月45日", "1999 bottles", "order 2023"] {
            assert_eq!(find_dates(text).0, [], "{text}");
        }
    }

    #[test]
    fn a_date_is_a_day_where_the_asker_is() {
        let at = "2023-05-08T23:59:59Z".parse::<Timestamp>().expect("a time");
        for (zone, text, on) in [
            ("UTC", "8 May 2023", true),
            ("Asia/Shanghai", "8 May 2023", false),
            ("Asia/Shanghai", "9 May 2023", true),
        ] {
            let anchor = Anchor { instant: at, zone: zone.parse().unwrap() };
            let (times, _) = Times::find(text, &anchor, &());
            assert_eq!(times.contain(at.as_micros()), on, "{zone} {text}");
            let day = at.as_micros().div_euclid(DAY_MICROS) * DAY_MICROS;
            assert!(!on || times.touch_day(day), "{zone} {text}");
        }
    }

    #[test]
    fn times_measured_from_the_question_are_intervals() {
        let anchor = Anchor {
            instant: "2024-05-15T02:00:00Z".parse().unwrap(),
            zone: "Asia/Shanghai".parse().unwrap(),
        };
        for (text, from, to, rest) in [
            (
                "what did I eat yesterday",
                "2024-05-14T00:00:00+08:00",
                "2024-05-15T00:00:00+08:00",
                "what did I eat",
            ),
            ("上周三我去了哪里", "2024-05-08T00:00:00+08:00", "2024-05-09T00:00:00+08:00", "我去了哪里"),
        ] {
            let (times, left) = Times::find(text, &anchor, &());
            let micros = |text: &str| text.parse::<Timestamp>().unwrap().as_micros();
            assert_eq!(times.intervals, [(micros(from), micros(to))], "{text}");
            assert_eq!(left.trim(), rest);
            assert!(times.contain(micros(from)) && !times.contain(micros(to)));
        }
    }
}
