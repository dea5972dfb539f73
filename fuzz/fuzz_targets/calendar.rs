//! Any text at any instant and zone: phrases in order, within the text, with a beginning before
//! their end. The first line is the anchor: microseconds and a zone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::Timestamp;
use memcards::calendar::{Anchor, KnownDates, Zone, durations, phrases};

struct Known;

impl KnownDates for Known {
    fn month_and_day(&self, name: &str) -> Option<(i8, i8)> {
        let bytes = name.as_bytes();
        Some((*bytes.first()? as i8, bytes.len() as i8))
    }
}

fuzz_target!(|input: &str| {
    let (head, text) = input.split_once('\n').unwrap_or(("", input));
    let (micros, zone) = head.split_once(' ').unwrap_or((head, "Z"));
    let instant = Timestamp::from_micros(micros.parse().unwrap_or(1_700_000_000_000_000));
    let zone: Zone = zone.parse().unwrap_or_default();
    assert_eq!(zone.to_string().parse::<Zone>().expect("what is written is read"), zone);
    let anchor = Anchor { instant, zone };
    for known in [&() as &dyn KnownDates, &Known] {
        let mut behind = 0;
        for phrase in phrases(text, &anchor, known) {
            assert!(phrase.range.start >= behind && phrase.range.end > phrase.range.start);
            assert!(text.get(phrase.range.clone()).is_some());
            behind = phrase.range.end;
            if let (Some(from), Some(to)) = (phrase.from, phrase.to) {
                assert!(from < to);
            }
        }
    }
    let mut behind = 0;
    for span in durations(text) {
        assert!(span.range.start >= behind && text.get(span.range.clone()).is_some());
        assert!(span.length.as_micros() >= 0);
        behind = span.range.end;
    }
});
