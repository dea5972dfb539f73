//! The tables: every line that differs is told at once.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use memcards::calendar::{Anchor, Phrase, durations, phrases};
use memcards::{Duration, Timestamp};

struct Place {
    zone: TimeZone,
    anchor: Anchor,
}

fn place(line: &str) -> Place {
    let (local, name) = line.split_once(' ').unwrap();
    let zone = match name {
        "+00:00" => TimeZone::fixed(Offset::UTC),
        name => TimeZone::get(name).unwrap(),
    };
    let instant = instant(&zone, local);
    Place { zone, anchor: Anchor { instant, zone: name.parse().unwrap() } }
}

fn instant(zone: &TimeZone, local: &str) -> Timestamp {
    let local: DateTime =
        if local.contains('T') { local.parse() } else { format!("{local}T00:00").parse() }.unwrap();
    Timestamp::from_micros(zone.to_timestamp(local).unwrap().as_microsecond())
}

/// The two ends of an interval as the table writes it.
fn interval(zone: &TimeZone, text: &str) -> (Option<Timestamp>, Option<Timestamp>) {
    if text == "none" {
        return (None, None);
    }
    if let Some((from, to)) = text.split_once("..") {
        let end = |text: &str| (!text.trim().is_empty()).then(|| instant(zone, text.trim()));
        return (end(from), end(to));
    }
    let numbers: Vec<i16> = text.split('-').map(|part| part.parse().unwrap()).collect();
    let first = jiff::civil::date(
        numbers[0],
        numbers.get(1).map_or(1, |month| *month as i8),
        numbers.get(2).map_or(1, |day| *day as i8),
    );
    let span = jiff::Span::new();
    let after = first
        + match numbers.len() {
            1 => span.years(1),
            2 => span.months(1),
            _ => span.days(1),
        };
    (Some(instant(zone, &first.to_string())), Some(instant(zone, &after.to_string())))
}

fn shown(place: &Place, found: &[Phrase]) -> String {
    let local = |end: Option<Timestamp>| {
        end.map_or(String::new(), |end| {
            place.zone.to_datetime(jiff::Timestamp::from_microsecond(end.as_micros()).unwrap()).to_string()
        })
    };
    found
        .iter()
        .map(|phrase| {
            let Phrase { range, from, to, unit, kind, side } = phrase;
            format!("[{range:?} {} .. {} | {unit:?} | {side:?} | {kind:?}]", local(*from), local(*to))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with("# "))
}

#[test]
fn every_phrase_of_the_table() {
    let mut place = self::place("2024-05-15T10:00 Asia/Shanghai");
    let (mut wrong, mut chinese, mut english) = (Vec::new(), 0, 0);
    for (number, line) in lines(include_str!("phrases.txt")) {
        if let Some(anchor) = line.strip_prefix("@ ") {
            place = self::place(anchor);
            continue;
        }
        let [text, expected, unit, side, kind] =
            line.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        if text.is_ascii() {
            english += 1
        } else {
            chinese += 1
        }
        let found = phrases(text, &place.anchor, &());
        let (from, to) = interval(&place.zone, expected);
        let right = found.len() == 1
            && (found[0].from, found[0].to) == (from, to)
            && format!("{:?}", found[0].unit) == unit
            && format!("{:?}", found[0].side) == side
            && format!("{:?}", found[0].kind) == kind;
        if !right {
            wrong.push(format!("line {number}: {line}\n    got {}", shown(&place, &found)));
        }
    }
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(chinese >= 140 && english >= 140, "{chinese} Chinese and {english} English lines");
}

#[test]
fn texts_that_name_no_time() {
    let place = place("2024-05-15T10:00 Asia/Shanghai");
    let wrong: Vec<String> = lines(include_str!("nothing.txt"))
        .filter_map(|(number, line)| {
            let found = phrases(line, &place.anchor, &());
            (!found.is_empty()).then(|| format!("line {number}: {line}\n    got {}", shown(&place, &found)))
        })
        .collect();
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn lengths() {
    let mut wrong = Vec::new();
    for (number, line) in lines(include_str!("durations.txt")) {
        let [text, length, unit] = line.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let found = durations(text);
        let right = if length == "none" {
            found.is_empty()
        } else {
            let length: Duration = length.parse().unwrap();
            found.len() == 1 && found[0].length == length && format!("{:?}", found[0].unit) == unit
        };
        if !right {
            wrong.push(format!("line {number}: {line}\n    got {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn several_phrases_in_one_text() {
    let place = place("2024-05-15T10:00 Asia/Shanghai");
    for (text, expected) in [
        ("I was there yesterday and last Friday.", &["yesterday", "last Friday"][..]),
        ("昨天和上周三都下雨", &["昨天", "上周三"]),
        ("from May 3 to May 7, then since 2020", &["from May 3 to May 7", "since 2020"]),
        ("Meet at 3pm on Friday, or in two days", &["at 3pm on Friday", "in two days"]),
        ("2023年5月8日下午三点，以及去年夏天", &["2023年5月8日下午三点", "去年夏天"]),
        (
            "on May 5th, 2023; in March; at the end of last year",
            &["May 5th, 2023", "March", "the end of last year"],
        ),
    ] {
        let found = phrases(text, &place.anchor, &());
        let ranges: Vec<&str> = found.iter().map(|phrase| &text[phrase.range.clone()]).collect();
        assert_eq!(ranges, expected, "{}", shown(&place, &found));
    }
}

#[test]
fn known_days() {
    struct Mine;
    impl memcards::calendar::KnownDates for Mine {
        fn month_and_day(&self, name: &str) -> Option<(i8, i8)> {
            match name {
                "my birthday" | "我的生日" | "ann's birthday" => Some((6, 15)),
                "our wedding anniversary" | "结婚纪念日" => Some((2, 30)),
                "my anniversary" => Some((2, 29)),
                _ => None,
            }
        }
    }
    let place = place("2024-07-01T10:00 Asia/Shanghai");
    let rows = [
        ("What did I do on my birthday?", "2024-06-15", "my birthday"),
        ("two weeks before my birthday", "2024-05-29 .. 2024-06-05", "two weeks before my birthday"),
        ("Ann's birthday last year", "2023-06-15", "Ann's birthday last year"),
        ("那是我的生日前两天", "2024-06-13", "我的生日前两天"),
        ("我的生日之后", "2024-06-16 ..", "我的生日之后"),
        ("before my birthday", ".. 2024-06-15", "before my birthday"),
        ("my anniversary", "2024-02-29", "my anniversary"),
    ];
    for (text, expected, range) in rows {
        let found = phrases(text, &place.anchor, &Mine);
        assert_eq!(found.len(), 1, "{text}: {}", shown(&place, &found));
        let ends = (found[0].from, found[0].to);
        assert_eq!(ends, interval(&place.zone, expected), "{text}: {}", shown(&place, &found));
        assert_eq!(&text[found[0].range.clone()], range, "{text}");
    }
    for text in ["on our wedding anniversary", "结婚纪念日", "his birthday", "他的生日"] {
        assert!(phrases(text, &place.anchor, &Mine).is_empty(), "{text}");
    }
}
