//! Dates and durations in Chinese and English text, read at a known instant and place.
//!
//! The room is pure: it knows texts, instants and zones, and nothing of cards or the store. The
//! same text read at the same [`Anchor`] always gives the same [`Phrase`]s, offline: the database
//! of zones is part of the binary. It prefers silence to a wrong date.
//!
//! ```
//! use memcards::calendar::{Anchor, Side, Unit, phrases};
//!
//! let anchor = Anchor { instant: "2024-05-15T02:00:00Z".parse()?, zone: "Asia/Shanghai".parse()? };
//! let found = phrases("What did I eat yesterday? 上周三呢？", &anchor, &());
//! assert_eq!(found.len(), 2);
//! assert_eq!(found[0].range, 15..24);
//! assert_eq!((found[0].unit, found[0].side), (Unit::Day, Side::On));
//! assert_eq!(found[0].from, Some("2024-05-14T00:00:00+08:00".parse()?));
//! assert_eq!(found[0].to, Some("2024-05-15T00:00:00+08:00".parse()?));
//! assert_eq!(found[1].from, Some("2024-05-08T00:00:00+08:00".parse()?));
//! # Ok::<(), memcards::Error>(())
//! ```
//!
//! # Conventions
//!
//! Intervals are half-open and local: a day is the day of the anchor's zone, 23 to 25 hours long
//! where clocks change.
//!
//! * Weeks begin on Monday. 上周三 is the Wednesday of the week before, "next Tuesday" that of the
//!   week after, "this Friday" that of the anchor's week. "Last Friday" is the most recent Friday
//!   before the anchor's day; "the coming Friday" the first one after it.
//! * "N days ago" is the local day, "N weeks ago" the seven days around that day, "N months (years,
//!   decades) ago" the calendar month (year, decade) with that day. Hours are half an hour around
//!   the instant, minutes the minute. "A couple" is 2 to 3 units, "a few" and 几 2 to 5,
//!   "several" and 数 3 to 7: the interval holds all of them.
//! * What names no year (month and day, month, holiday, weekday, weekend) is the occurrence nearest
//!   to the anchor, the past preferred: one ahead is taken only when three times its distance is
//!   less than the distance of the one behind. Words in the same sentence overrule this: "did",
//!   "was", 曾 and the like take the latest that has begun, "will", "next", 打算 and the like the next one, and so does the
//!   present tense right beside it ("is on Friday", "I have an exam on Friday", 周四我要飞). A bare day of
//!   the month ("on the 25th", 八号) is the latest past one unless such words point ahead.
//! * "Last March" is the latest one before the anchor's month, "last summer" the latest that is
//!   over; "this October" is the anchor's year's, "this winter" the nearest one. Seasons are the
//!   northern meteorological ones; a winter belongs to the year of its December.
//! * Parts of the day: early hours 0–5, morning 5–12, noon 11–14, afternoon 12–18, evening 18–24,
//!   night 18 to 5 of the next day. A part or a clock time without a day is the anchor's day's.
//!   A bare hour from 1 to 6 is in the afternoon. "Around" widens times by an hour, days by two.
//! * Thirds: early, mid and late months begin on the 1st, 11th and 21st, years in January, May and
//!   September; the beginning and the end (月初, 月底) of a month are its first and last seven days, those
//!   of a year (年初, 年底) its first and last two months.
//! * "Before" and "after" leave out what they name (but "before the end of the year" is all of it), "since", "until", "till" and "by" include it; a
//!   range includes both ends. A clock time counts there as the instant: "after 6 pm" begins at six,
//!   "from 3 to 5 pm" ends at five.
//! * A date `a/b/year` that can be read both ways gives nothing; with dots the day comes first.

mod ahead;
mod chinese;
mod chinese_counts;
mod clock;
mod durations;
mod english;
mod english_dates;
mod english_names;
mod english_numbers;
mod feasts;
mod grammar;
mod lexicon_en;
mod lexicon_zh;
mod numeric;
mod resolve;
mod steps;
mod token;
mod values;
mod words;
mod zone;

use std::ops::Range;

use crate::{Duration, Timestamp};

pub use zone::Zone;

/// Texts are read up to here; what comes later gives nothing.
pub const TEXT_LIMIT: usize = 64 * 1024;

/// When and where something was said: what "yesterday" is measured from.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// The time of the message or question.
    pub instant: Timestamp,
    /// Whose days and clock times are meant.
    pub zone: Zone,
}

/// The calendar unit that a phrase or duration is given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A minute or less.
    Moment,
    /// An hour.
    Hour,
    /// A morning, afternoon, night.
    PartOfDay,
    /// A local day.
    Day,
    /// Saturday and Sunday.
    Weekend,
    /// Seven days.
    Week,
    /// A month or a part of one.
    Month,
    /// Three months: spring, summer, autumn, winter.
    Season,
    /// A quarter or half of a year.
    Quarter,
    /// A year or a part of one.
    Year,
    /// Ten years or a part of them.
    Decade,
    /// No bound on one side: before, after, since, until.
    Open,
}

/// What a phrase needs to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Names a year, with or without month and day: the same at every anchor.
    Absolute,
    /// Names a place in some cycle (5 May, a weekday, March, Christmas, 3 pm) and leaves out which.
    Partial,
    /// Measured from the anchor: yesterday, last March, three weeks ago.
    Relative,
    /// Comes again and again ("every Monday"): no interval.
    Recurring,
}

/// On which side of what it names a phrase lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Within it.
    On,
    /// Before it begins.
    Before,
    /// After it ends.
    After,
    /// From its beginning on.
    Since,
    /// Up to its end.
    Until,
    /// From the beginning of one to the end of another.
    Between,
}

/// A stretch of text that names a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The bytes of the text. A preposition that carries no meaning of its own ("on Friday", "in
    /// March") is left out.
    pub range: Range<usize>,
    /// The first instant; `None` where the interval is open or there is none.
    pub from: Option<Timestamp>,
    /// The first instant after it; `None` where the interval is open or there is none.
    pub to: Option<Timestamp>,
    /// The unit that is named; for a range the smaller of both ends.
    pub unit: Unit,
    /// What it needs to be understood.
    pub kind: Kind,
    /// On which side of what it names it lies.
    pub side: Side,
}

/// A stretch of text that names a length of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// The length; a month counts 30.4375 days, a year 365.25.
    pub length: Duration,
    /// The largest unit that is named.
    pub unit: Unit,
}

/// Yearly days that a person has a name for.
///
/// ```
/// use memcards::calendar::{Anchor, KnownDates, phrases};
///
/// struct Mine;
/// impl KnownDates for Mine {
///     fn month_and_day(&self, name: &str) -> Option<(i8, i8)> {
///         (name == "my birthday").then_some((6, 15))
///     }
/// }
/// let anchor = Anchor { instant: "2024-07-01T00:00:00Z".parse()?, zone: "UTC".parse()? };
/// let found = phrases("It was two days before my birthday.", &anchor, &Mine);
/// assert_eq!(found[0].from, Some("2024-06-13T00:00:00Z".parse()?));
/// # Ok::<(), memcards::Error>(())
/// ```
pub trait KnownDates {
    /// Month and day of a yearly day. The name is a stretch of the text as it stands, ASCII letters
    /// in lower case, that ends in "birthday", "anniversary", 生日 or 纪念日: "my birthday",
    /// "ann's birthday", 我的生日. Longer stretches are asked for first, at most eight for one mention.
    fn month_and_day(&self, name: &str) -> Option<(i8, i8)>;
}

/// Nothing is known.
impl KnownDates for () {
    fn month_and_day(&self, _name: &str) -> Option<(i8, i8)> {
        None
    }
}

/// The times that a text names, in the order of the text, without overlaps; see the
/// [conventions](self#conventions).
pub fn phrases(text: &str, anchor: &Anchor, known: &dyn KnownDates) -> Vec<Phrase> {
    let text = within_limit(text);
    let tokens = token::tokens(text);
    if !tokens.promising {
        return Vec::new();
    }
    grammar::Reader::new(text, &tokens.list, anchor, known).read()
}

/// The lengths of time that a text names: "for three weeks", 两个半月. What is measured from a point
/// ("three weeks ago", 三天后) is a phrase and not among them.
///
/// ```
/// let found = memcards::calendar::durations("We travelled for a year and a half.");
/// assert_eq!(found[0].range, 17..34);
/// assert_eq!(found[0].length, memcards::Duration::from_hours(365 * 36 + 9));
/// ```
pub fn durations(text: &str) -> Vec<Span> {
    let text = within_limit(text);
    let tokens = token::tokens(text);
    if !tokens.promising {
        return Vec::new();
    }
    durations::read(text, &tokens.list)
}

fn within_limit(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_LIMIT)]
}
