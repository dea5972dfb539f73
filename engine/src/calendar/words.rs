//! What a word of either language means to the grammar.

use super::Unit;
use super::feasts::Feast;

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    EarlyHours,
    Morning,
    Noon,
    Afternoon,
    Evening,
    Night,
}

impl Part {
    /// First minute and minute after the last, counted from the midnight that begins the day.
    pub(super) fn minutes(self) -> (i32, i32) {
        let (from, to) = match self {
            Part::EarlyHours => (0, 5),
            Part::Morning => (5, 12),
            Part::Noon => (11, 14),
            Part::Afternoon => (12, 18),
            Part::Evening => (18, 24),
            Part::Night => (18, 29),
        };
        (from * 60, to * 60)
    }
}

/// A part of a longer unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Portion {
    #[default]
    Whole,
    /// The first third.
    Early,
    /// The middle third.
    Middle,
    /// The last third.
    Late,
    /// The first days (of a month) or months (of a year).
    Start,
    /// The last days or months.
    End,
    FirstHalf,
    SecondHalf,
}

/// How a number was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// 2021
    Digits,
    /// 5th
    DigitsOrdinal,
    /// five
    Spelled,
    /// fifth
    SpelledOrdinal,
    /// 二十三
    Han,
    /// 二〇二三
    HanDigits,
}

/// A number: `low` to `high`, both the same unless it is vague (a few, 两三).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) form: Form,
    pub(super) digits: u8,
}

/// The length that is counted in: the public units and those that only lengths know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Minute,
    Hour,
    Day,
    Weekend,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
}

impl Scale {
    pub(super) fn unit(self) -> Unit {
        match self {
            Scale::Minute => Unit::Moment,
            Scale::Hour => Unit::Hour,
            Scale::Day => Unit::Day,
            Scale::Weekend => Unit::Weekend,
            Scale::Week | Scale::Fortnight => Unit::Week,
            Scale::Month => Unit::Month,
            Scale::Quarter => Unit::Quarter,
            Scale::Year => Unit::Year,
            Scale::Decade | Scale::Century => Unit::Decade,
        }
    }
}

/// A word, mark or number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    /// Anything that the grammar does not know; it separates.
    Other,
    /// A sentence ends here.
    Stop,
    Comma,
    Dash,
    Quote,
    Number(Number),
    /// 2.5, in hundredths.
    Decimal(u32),
    /// 2023-05-08
    Date(i16, i8, i8),
    /// 2023-05
    YearMonth(i16, i8),
    /// 14:30, in minutes; the flag says that the hour has two digits.
    Clock(i32, bool),
    /// 2023-05-08T14:30:00Z, in microseconds.
    Instant(i64),

    /// A day counted from today.
    Day(i8),
    /// A part of a day counted from today: tonight, 昨晚.
    DayPart(i8, Part),
    Part(Part),
    /// 早 or 晚, which mean a time only before a clock time.
    PartBefore(Part),
    NoonHour,
    MidnightHour,
    Scale(Scale),
    /// 1 is Monday; the flag marks an abbreviation.
    Weekday(i8, bool),
    /// "Mondays".
    Weekdays(i8),
    /// 1 is January.
    Month(i8, MonthWord),
    /// 0 is spring.
    Season(u8),
    Feast(Feast),
    /// Begins the name of a holiday of several words.
    FeastStart,
    /// Ends the name of a yearly day that a person may know: birthday, 生日.
    KnownEnd,
    /// Last, this, next; 上, 这, 下.
    Rel(i8),
    /// A year counted from this one: 去年.
    YearRel(i8),
    /// A portion that stands by itself or behind a month or year: 月底.
    MonthPortion(Portion),
    YearPortion(Portion),
    /// Early, mid, late; beginning, end; 初, 底.
    Portion(Portion),
    /// Q3.
    QuarterNumber(i8),
    Every,
    Ago,
    Later,
    From,
    Now,
    Half,
    Few(u8, u8),
    A,
    The,
    Of,
    And,
    Or,
    In,
    On,
    At,
    To,
    Since,
    Before,
    After,
    Until,
    By,
    Between,
    Around,
    During,
    About,
    Past,
    Coming,
    Within,
    /// "The other day".
    Different,
    Am,
    Pm,
    OClock,
    Eve,
    Will,
    Did,
    Happy,
    /// "Nineties".
    DecadeName(u8),
    /// The letter, of "1990s" or after an apostrophe.
    S,

    // Chinese marks.
    DayMark,
    HourMark,
    MonthMark,
    MinuteMark,
    Whole,
    QuarterHour,
    De,
    Ge,
    Nth,
    Decades,
    SinceEnd,
    UntilEnd,
    AroundEnd,
}

/// How much support the name of a month needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MonthWord {
    /// Only a month: October.
    Plain,
    /// Also a name: April, June, August, or an abbreviation.
    Name,
    /// Also a verb: may, march.
    Verb,
}
