//! Holidays on fixed or computable days.

use jiff::civil::{Date, Weekday};

use super::values::{day_of, plus_days};

/// A yearly holiday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feast {
    NewYear,
    NewYearEve,
    Valentine,
    Women,
    Arbor,
    StPatrick,
    AprilFools,
    GoodFriday,
    Easter,
    Qingming,
    MayDay,
    Youth,
    Mothers,
    Memorial,
    Children,
    Fathers,
    Juneteenth,
    Independence,
    Army,
    Labor,
    Teachers,
    ChinaNational,
    Halloween,
    Singles,
    Veterans,
    Thanksgiving,
    BlackFriday,
    ChristmasEve,
    Christmas,
    BoxingDay,
    SpringEve,
    SpringFestival,
    Lantern,
    DragonBoat,
    Qixi,
    MidAutumn,
    DoubleNinth,
}

const FIRST_LUNAR_YEAR: i32 = 1990;

/// Spring Festival, Dragon Boat, Qixi, Mid-Autumn and Double Ninth of a year as month × 100 + day,
/// and the day of Qingming in April. Three independent calendar programs agree on every date.
const LUNAR: [(u16, u16, u16, u16, u16, u8); 61] = [
    (127, 528, 826, 1003, 1026, 5), // 1990
    (215, 616, 816, 922, 1016, 5),  // 1991
    (204, 605, 805, 911, 1004, 4),  // 1992
    (123, 624, 824, 930, 1023, 5),  // 1993
    (210, 613, 813, 920, 1013, 5),  // 1994
    (131, 602, 802, 909, 1101, 5),  // 1995
    (219, 620, 820, 927, 1020, 4),  // 1996
    (207, 609, 809, 916, 1010, 5),  // 1997
    (128, 530, 828, 1005, 1028, 5), // 1998
    (216, 618, 817, 924, 1017, 5),  // 1999
    (205, 606, 806, 912, 1006, 4),  // 2000
    (124, 625, 825, 1001, 1025, 5), // 2001
    (212, 615, 815, 921, 1014, 5),  // 2002
    (201, 604, 804, 911, 1004, 5),  // 2003
    (122, 622, 822, 928, 1022, 4),  // 2004
    (209, 611, 811, 918, 1011, 5),  // 2005
    (129, 531, 731, 1006, 1030, 5), // 2006
    (218, 619, 819, 925, 1019, 5),  // 2007
    (207, 608, 807, 914, 1007, 4),  // 2008
    (126, 528, 826, 1003, 1026, 4), // 2009
    (214, 616, 816, 922, 1016, 5),  // 2010
    (203, 606, 806, 912, 1005, 5),  // 2011
    (123, 623, 823, 930, 1023, 4),  // 2012
    (210, 612, 813, 919, 1013, 4),  // 2013
    (131, 602, 802, 908, 1002, 5),  // 2014
    (219, 620, 820, 927, 1021, 5),  // 2015
    (208, 609, 809, 915, 1009, 4),  // 2016
    (128, 530, 828, 1004, 1028, 4), // 2017
    (216, 618, 817, 924, 1017, 5),  // 2018
    (205, 607, 807, 913, 1007, 5),  // 2019
    (125, 625, 825, 1001, 1025, 4), // 2020
    (212, 614, 814, 921, 1014, 4),  // 2021
    (201, 603, 804, 910, 1004, 5),  // 2022
    (122, 622, 822, 929, 1023, 5),  // 2023
    (210, 610, 810, 917, 1011, 4),  // 2024
    (129, 531, 829, 1006, 1029, 4), // 2025
    (217, 619, 819, 925, 1018, 5),  // 2026
    (206, 609, 808, 915, 1008, 5),  // 2027
    (126, 528, 826, 1003, 1026, 4), // 2028
    (213, 616, 816, 922, 1016, 4),  // 2029
    (203, 605, 805, 912, 1005, 5),  // 2030
    (123, 624, 824, 1001, 1024, 5), // 2031
    (211, 612, 812, 919, 1012, 4),  // 2032
    (131, 601, 801, 908, 1001, 4),  // 2033
    (219, 620, 820, 927, 1020, 5),  // 2034
    (208, 610, 810, 916, 1009, 5),  // 2035
    (128, 530, 828, 1004, 1027, 4), // 2036
    (215, 618, 817, 924, 1017, 4),  // 2037
    (204, 607, 807, 913, 1007, 5),  // 2038
    (124, 527, 826, 1002, 1026, 5), // 2039
    (212, 614, 814, 920, 1014, 4),  // 2040
    (201, 603, 803, 910, 1003, 4),  // 2041
    (122, 622, 822, 928, 1022, 4),  // 2042
    (210, 611, 811, 917, 1011, 5),  // 2043
    (130, 531, 731, 1005, 1029, 4), // 2044
    (217, 619, 819, 925, 1018, 4),  // 2045
    (206, 608, 808, 915, 1008, 4),  // 2046
    (126, 529, 827, 1004, 1027, 5), // 2047
    (214, 615, 816, 922, 1016, 4),  // 2048
    (202, 604, 805, 911, 1005, 4),  // 2049
    (123, 623, 823, 930, 1024, 4),  // 2050
];

/// The so-manyth weekday of a month.
fn nth(year: i32, month: i8, nth: i8, weekday: Weekday) -> Option<Date> {
    day_of(year, month, 1)?.nth_weekday_of_month(nth, weekday).ok()
}

/// Western Easter Sunday (Gregorian computus).
fn easter(year: i32) -> Option<Date> {
    let (golden, century, rest) = (year % 19, year / 100, year % 100);
    let moon = (19 * golden + century - century / 4 - (century - (century + 8) / 25 + 1) / 3 + 15) % 30;
    let shift = (32 + 2 * (century % 4) + 2 * (rest / 4) - moon - rest % 4) % 7;
    let late = (golden + 11 * moon + 22 * shift) / 451;
    let days = moon + shift - 7 * late + 114;
    day_of(year, (days / 31) as i8, (days % 31 + 1) as i8)
}

impl Feast {
    /// The day in a year; `None` where the tables end.
    pub(super) fn day(self, year: i32) -> Option<Date> {
        let lunar = || LUNAR.get(usize::try_from(year - FIRST_LUNAR_YEAR).ok()?);
        let packed = |code: u16| day_of(year, (code / 100) as i8, (code % 100) as i8);
        if year < 1 {
            return None;
        }
        match self {
            Feast::NewYear => day_of(year, 1, 1),
            Feast::NewYearEve => day_of(year, 12, 31),
            Feast::Valentine => day_of(year, 2, 14),
            Feast::Women => day_of(year, 3, 8),
            Feast::Arbor => day_of(year, 3, 12),
            Feast::StPatrick => day_of(year, 3, 17),
            Feast::AprilFools => day_of(year, 4, 1),
            Feast::GoodFriday => easter(year).map(|day| plus_days(day, -2)),
            Feast::Easter => easter(year),
            Feast::Qingming => day_of(year, 4, lunar()?.5 as i8),
            Feast::MayDay => day_of(year, 5, 1),
            Feast::Youth => day_of(year, 5, 4),
            Feast::Mothers => nth(year, 5, 2, Weekday::Sunday),
            Feast::Memorial => nth(year, 5, -1, Weekday::Monday),
            Feast::Children => day_of(year, 6, 1),
            Feast::Fathers => nth(year, 6, 3, Weekday::Sunday),
            Feast::Juneteenth => day_of(year, 6, 19),
            Feast::Independence => day_of(year, 7, 4),
            Feast::Army => day_of(year, 8, 1),
            Feast::Labor => nth(year, 9, 1, Weekday::Monday),
            Feast::Teachers => day_of(year, 9, 10),
            Feast::ChinaNational => day_of(year, 10, 1),
            Feast::Halloween => day_of(year, 10, 31),
            Feast::Singles | Feast::Veterans => day_of(year, 11, 11),
            Feast::Thanksgiving => nth(year, 11, 4, Weekday::Thursday),
            Feast::BlackFriday => nth(year, 11, 4, Weekday::Thursday).map(|day| plus_days(day, 1)),
            Feast::ChristmasEve => day_of(year, 12, 24),
            Feast::Christmas => day_of(year, 12, 25),
            Feast::BoxingDay => day_of(year, 12, 26),
            Feast::SpringFestival => packed(lunar()?.0),
            // The last day of the lunar year lies in the same year as the day after it.
            Feast::SpringEve => packed(lunar()?.0).map(|day| plus_days(day, -1)),
            Feast::Lantern => packed(lunar()?.0).map(|day| plus_days(day, 14)),
            Feast::DragonBoat => packed(lunar()?.1),
            Feast::Qixi => packed(lunar()?.2),
            Feast::MidAutumn => packed(lunar()?.3),
            Feast::DoubleNinth => packed(lunar()?.4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_dates() {
        for (feast, dates) in [
            (Feast::Easter, &["2000-04-23", "2019-04-21", "2023-04-09", "2024-03-31", "2038-04-25"][..]),
            (Feast::Thanksgiving, &["2022-11-24", "2023-11-23", "2024-11-28"]),
            (Feast::Mothers, &["2023-05-14", "2024-05-12"]),
            (Feast::Memorial, &["2023-05-29", "2024-05-27"]),
            (Feast::Labor, &["2023-09-04", "2024-09-02"]),
            (
                Feast::SpringFestival,
                &["2000-02-05", "2023-01-22", "2024-02-10", "2025-01-29", "2027-02-06", "2030-02-03"],
            ),
            (Feast::SpringEve, &["2023-01-21", "2024-02-09"]),
            (Feast::DragonBoat, &["2023-06-22", "2024-06-10"]),
            (Feast::MidAutumn, &["2020-10-01", "2023-09-29", "2024-09-17"]),
            (Feast::Lantern, &["2023-02-05", "2024-02-24"]),
            (Feast::Qingming, &["2023-04-05", "2024-04-04"]),
            (Feast::Qixi, &["2023-08-22"]),
            (Feast::DoubleNinth, &["2023-10-23"]),
        ] {
            for date in dates {
                let date: Date = date.parse().unwrap();
                assert_eq!(feast.day(i32::from(date.year())), Some(date), "{feast:?}");
            }
        }
        assert_eq!(Feast::SpringFestival.day(1989), None);
        assert_eq!(Feast::SpringFestival.day(2051), None);
    }
}
