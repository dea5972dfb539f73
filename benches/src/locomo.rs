//! The LoCoMo data set: conversations of two people over months, with questions whose
//! evidence is labelled turn by turn. For evaluation only.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use memcards::card::Role;
use memcards::{Remember, Timestamp};
use serde_json::Value;

use crate::Outcome;
use crate::evaluation::{Corpus, Question};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Number of session and turn of a piece of evidence.
type TurnKey = (u32, u32);

/// Reads the conversations of a LoCoMo file.
///
/// # Errors
/// When the file cannot be read or has another layout.
pub fn read(path: &Path) -> Outcome<Vec<Corpus>> {
    let samples: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    samples.iter().enumerate().map(|(number, sample)| corpus(number, sample)).collect()
}

fn corpus(number: usize, sample: &Value) -> Outcome<Corpus> {
    let name = sample["sample_id"].as_str().map_or_else(|| format!("conversation-{number}"), str::to_owned);
    let conversation = sample["conversation"].as_object().ok_or("a sample without a conversation")?;
    let mut sessions: Vec<(u32, &Vec<Value>)> = conversation
        .iter()
        .filter_map(|(key, turns)| Some((key.strip_prefix("session_")?.parse().ok()?, turns.as_array()?)))
        .collect();
    sessions.sort_unstable_by_key(|(number, _)| *number);
    let mut cards = Vec::new();
    let mut turns: HashMap<TurnKey, usize> = HashMap::new();
    let mut asked_at = Timestamp::MIN;
    for (session, messages) in sessions {
        let date = conversation
            .get(&format!("session_{session}_date_time"))
            .and_then(Value::as_str)
            .ok_or("a session without a date")?;
        let at = parse_date(date).ok_or_else(|| format!("{date:?} is not a LoCoMo date"))?;
        asked_at = asked_at.max(at.plus(memcards::Duration::from_hours(24)));
        for (turn, message) in messages.iter().enumerate() {
            let id = message["dia_id"].as_str().unwrap_or_default();
            for key in evidence_keys(id) {
                turns.insert(key, cards.len());
            }
            let mut content = message["text"].as_str().unwrap_or_default().to_owned();
            if let Some(caption) = message["blip_caption"].as_str().filter(|caption| !caption.is_empty()) {
                content.push_str(&format!(" [image: {caption}]"));
            }
            let request = Remember {
                content,
                speaker: message["speaker"].as_str().map(str::to_owned),
                role: Some(Role::User),
                session: Some(format!("session_{session}")),
                turn: Some(turn as u32),
                occurred_at: Some(at),
                ..Remember::default()
            };
            cards.push((id.to_owned(), request));
        }
    }
    let questions = sample["qa"].as_array().ok_or("a sample without questions")?;
    let questions = questions
        .iter()
        .enumerate()
        .filter_map(|(at, qa)| {
            let labels = qa["evidence"].as_array()?.iter().filter_map(Value::as_str);
            let labels = labels.collect::<Vec<_>>().join(" ");
            let evidence: BTreeSet<usize> =
                evidence_keys(&labels).iter().filter_map(|key| turns.get(key).copied()).collect();
            // Without evidence in the conversation nothing can be found.
            (!evidence.is_empty()).then(|| Question {
                id: format!("{name}/{at}"),
                category: qa["category"].to_string(),
                text: qa["question"].as_str().unwrap_or_default().to_owned(),
                evidence: evidence.into_iter().map(|card| [card].into()).collect(),
            })
        })
        .collect();
    Ok(Corpus { name: name.clone(), cards, asked_at, questions })
}

/// Every `D:?(\d+):0*(\d+)` in a text: the labels are written in several ways.
fn evidence_keys(text: &str) -> Vec<TurnKey> {
    let number = |text: &mut &str| -> Option<u32> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        *text = rest;
        digits.parse().ok()
    };
    text.match_indices('D')
        .filter_map(|(at, _)| {
            let mut rest = &text[at + 1..];
            rest = rest.strip_prefix(':').unwrap_or(rest);
            let session = number(&mut rest)?;
            rest = rest.strip_prefix(':')?;
            Some((session, number(&mut rest)?))
        })
        .collect()
}

/// "2:07 pm on 9 June, 2021", read as UTC.
fn parse_date(text: &str) -> Option<Timestamp> {
    let (time, date) = text.split_once(" on ")?;
    let (clock, half) = time.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = hour % 12 + if half.eq_ignore_ascii_case("pm") { 12 } else { 0 };
    let (day_month, year) = date.split_once(',')?;
    let (day, month) = day_month.trim().split_once(' ')?;
    let day: u32 = day.parse().ok()?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? + 1;
    format!("{}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z", year.trim()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_in_all_their_spellings() {
        assert_eq!(evidence_keys("D1:3"), [(1, 3)]);
        assert_eq!(evidence_keys("D:11:26"), [(11, 26)]);
        assert_eq!(evidence_keys("D8:6; D9:017"), [(8, 6), (9, 17)]);
        assert_eq!(evidence_keys("D30:05 D, D4"), [(30, 5)]);
        assert_eq!(evidence_keys(""), []);
    }

    #[test]
    fn dates_are_read_as_utc() {
        for (text, expected) in [
            ("2:07 pm on 9 June, 2021", "2021-06-09T14:07:00Z"),
            ("12:05 am on 31 December, 2022", "2022-12-31T00:05:00Z"),
            ("12:30 pm on 1 July, 2023", "2023-07-01T12:30:00Z"),
        ] {
            assert_eq!(parse_date(text), expected.parse().ok(), "{text}");
        }
        assert_eq!(parse_date("yesterday"), None);
    }
}
