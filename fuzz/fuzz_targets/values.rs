//! Texts as instants, lengths of time, identifiers and zones: what is read is written and read
//! again as the same.
#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use memcards::calendar::Zone;
use memcards::card::CardId;
use memcards::forget::policy::{MaxCards, Span};
use memcards::{Duration, PlanId, RunId, Timestamp};

fn round_trip<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    assert_eq!(value.to_string().parse::<T>().ok(), Some(value));
}

fuzz_target!(|text: &str| {
    round_trip::<Timestamp>(text);
    round_trip::<Duration>(text);
    round_trip::<CardId>(text);
    round_trip::<PlanId>(text);
    round_trip::<RunId>(text);
    round_trip::<Zone>(text);
    round_trip::<Span>(text);
    if let Ok(most) = serde_json::from_str::<MaxCards>(text) {
        let json = serde_json::to_string(&most).expect("it is written");
        assert_eq!(serde_json::from_str::<MaxCards>(&json).ok(), Some(most));
    }
});
