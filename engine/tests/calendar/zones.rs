//! Days where clocks change, zones far apart, and the ends of the calendar.

use memcards::Timestamp;
use memcards::calendar::{Anchor, phrases};

fn anchor(instant: &str, zone: &str) -> Anchor {
    Anchor { instant: instant.parse().unwrap(), zone: zone.parse().unwrap() }
}

fn hours(text: &str, instant: &str, zone: &str) -> f64 {
    let found = phrases(text, &anchor(instant, zone), &());
    assert_eq!(found.len(), 1, "{text}");
    found[0].to.unwrap().hours_since(found[0].from.unwrap())
}

#[test]
fn a_day_is_as_long_as_its_clocks_make_it() {
    assert_eq!(hours("yesterday", "2024-03-11T20:00:00Z", "America/Los_Angeles"), 23.0);
    assert_eq!(hours("yesterday", "2024-11-04T20:00:00Z", "America/Los_Angeles"), 25.0);
    assert_eq!(hours("昨天", "2024-11-04T20:00:00Z", "America/Los_Angeles"), 25.0);
    assert_eq!(hours("last week", "2024-03-12T20:00:00Z", "America/Los_Angeles"), 167.0);
    assert_eq!(hours("yesterday", "2024-03-11T20:00:00Z", "Asia/Shanghai"), 24.0);
    assert_eq!(hours("yesterday", "2024-03-11T20:00:00Z", "-08:00"), 24.0);
}

#[test]
fn one_instant_is_another_day_elsewhere() {
    let instant = "2024-05-15T02:00:00Z";
    for (zone, from) in [
        ("Asia/Shanghai", "2024-05-15T00:00:00+08:00"),
        ("America/Los_Angeles", "2024-05-14T00:00:00-07:00"),
        ("+14:00", "2024-05-15T00:00:00+14:00"),
        ("-1130", "2024-05-14T00:00:00-11:30"),
        ("Z", "2024-05-15T00:00:00Z"),
    ] {
        let found = phrases("今天", &anchor(instant, zone), &());
        assert_eq!(found[0].from, Some(from.parse().unwrap()), "{zone}");
    }
}

#[test]
fn a_skipped_and_a_repeated_hour() {
    // 02:30 does not occur on that day: it is read with the offset before the change.
    let spring = anchor("2024-03-11T20:00:00Z", "America/Los_Angeles");
    let found = phrases("yesterday at 2:30 am", &spring, &());
    assert_eq!(found[0].from, Some("2024-03-10T10:30:00Z".parse().unwrap()));
    // 01:30 occurs twice: the first is meant.
    let autumn = anchor("2024-11-04T20:00:00Z", "America/Los_Angeles");
    let found = phrases("yesterday at 1:30 am", &autumn, &());
    assert_eq!(found[0].from, Some("2024-11-03T08:30:00Z".parse().unwrap()));
}

#[test]
fn the_ends_of_the_calendar_hold() {
    for instant in [Timestamp::MIN, Timestamp::MAX] {
        for zone in ["Z", "+14:00", "-12:00", "Asia/Shanghai", "America/Los_Angeles"] {
            let anchor = Anchor { instant, zone: zone.parse().unwrap() };
            for text in include_str!("phrases.txt").lines() {
                for phrase in phrases(text, &anchor, &()) {
                    for end in [phrase.from, phrase.to].into_iter().flatten() {
                        assert!((Timestamp::MIN..=Timestamp::MAX).contains(&end), "{text}");
                    }
                    if let (Some(from), Some(to)) = (phrase.from, phrase.to) {
                        assert!(from < to, "{text}");
                    }
                }
            }
        }
    }
}
