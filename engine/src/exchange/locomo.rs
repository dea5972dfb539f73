//! Conversations in the format of the LoCoMo benchmark.
//!
//! A list of samples, each with `conversation.session_N` (turns with `speaker`, `dia_id`,
//! `text` and perhaps `blip_caption`) and `session_N_date_time` such as
//! "1:56 pm on 8 May, 2023", which is read as UTC. A picture's caption is added to the text.

use serde_json::{Map, Value};

use crate::Result;
use crate::card::Role;
use crate::exchange::{Conversation, not_read};
use crate::time::Timestamp;
use crate::verbs::Remember;

/// Reads LoCoMo samples: one conversation each, named by its `sample_id`. The turn's
/// `dia_id` is kept as attribute.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) on `from`, with what does not fit.
pub fn read_locomo(text: &str) -> Result<Vec<Conversation>> {
    let samples: Vec<Map<String, Value>> = serde_json::from_str(text).map_err(|e| not_read("LoCoMo", e))?;
    samples.iter().enumerate().map(|(number, sample)| conversation(sample, number)).collect()
}

fn conversation(sample: &Map<String, Value>, number: usize) -> Result<Conversation> {
    let name = match sample.get("sample_id") {
        Some(Value::String(name)) => name.clone(),
        _ => format!("sample-{}", number + 1),
    };
    let wrong = |detail: String| not_read("LoCoMo", format!("{name}: {detail}"));
    let sessions = sample
        .get("conversation")
        .and_then(Value::as_object)
        .ok_or_else(|| wrong("no conversation".into()))?;
    let mut numbered: Vec<(u32, &String, &Value)> = sessions
        .iter()
        .filter_map(|(key, turns)| Some((key.strip_prefix("session_")?.parse().ok()?, key, turns)))
        .collect();
    numbered.sort_unstable_by_key(|(number, key, _)| (*number, *key));
    let mut found = Conversation { name: name.clone(), turns: vec![], without_text: 0 };
    for (_, key, turns) in numbered {
        let date = sessions.get(&format!("{key}_date_time")).and_then(Value::as_str);
        let occurred_at = date
            .map(|date| {
                read_date(date).ok_or_else(|| wrong(format!("{key}_date_time: {date:?} is not a date")))
            })
            .transpose()?;
        let turns = turns.as_array().ok_or_else(|| wrong(format!("{key} is no list")))?;
        for (turn, entry) in turns.iter().enumerate() {
            let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let mut content = field("text").to_owned();
            if let Some(caption) = entry.get("blip_caption").and_then(Value::as_str) {
                content = format!("{content} [image: {caption}]").trim_start().to_owned();
            }
            if content.trim().is_empty() {
                found.without_text += 1;
                continue;
            }
            let mut attributes = Map::new();
            attributes.insert("dia_id".into(), field("dia_id").into());
            found.turns.push(Remember {
                content,
                session: Some(key.clone()),
                turn: Some(turn as u32 + 1),
                role: Some(Role::User),
                speaker: Some(field("speaker").to_owned()).filter(|speaker| !speaker.is_empty()),
                occurred_at,
                attributes,
                ..Remember::default()
            });
        }
    }
    Ok(found)
}

/// Reads "1:56 pm on 8 May, 2023" as an instant in UTC.
fn read_date(text: &str) -> Option<Timestamp> {
    let (clock, date) = text.trim().split_once(" on ")?;
    let (time, half) = clock.trim().split_once(' ')?;
    let (hour, minute) = time.split_once(':')?;
    let hour: i8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    let hour = hour % 12 + if half.eq_ignore_ascii_case("pm") { 12 } else { 0 };
    let mut parts = date.split([' ', ',']).filter(|part| !part.is_empty());
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as i8 + 1;
    let date = jiff::civil::Date::new(year.parse().ok()?, month, day.parse().ok()?).ok()?;
    let instant = date.at(hour, minute.parse().ok().filter(|m| (0..60).contains(m))?, 0, 0);
    let instant = jiff::tz::Offset::UTC.to_timestamp(instant).ok()?;
    Some(Timestamp::from_micros(instant.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_the_benchmark_writes_them() {
        for (text, expected) in [
            ("1:56 pm on 8 May, 2023", Some("2023-05-08T13:56:00Z")),
            ("12:05 am on 31 December, 2022", Some("2022-12-31T00:05:00Z")),
            ("12:00 pm on 1 January, 2024", Some("2024-01-01T12:00:00Z")),
            ("13:00 pm on 1 January, 2024", None),
            ("1:00 pm on 31 June, 2024", None),
            ("yesterday", None),
        ] {
            assert_eq!(read_date(text).map(|t| t.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn turns_in_order_with_captions() {
        let text = r#"[{"sample_id":"s1","conversation":{
            "session_2":[{"speaker":"Ana","dia_id":"D2:1","text":"later"}],
            "session_1_date_time":"1:56 pm on 8 May, 2023",
            "session_1":[{"speaker":"Ben","dia_id":"D1:1","text":"look","blip_caption":"a red boat"},{"speaker":"Ana","dia_id":"D1:2","text":" "}]}}]"#;
        let found = &read_locomo(text).expect("reads")[0];
        assert_eq!(
            found.turns.iter().map(|t| t.content.as_str()).collect::<Vec<_>>(),
            ["look [image: a red boat]", "later"]
        );
        assert_eq!(found.without_text, 1);
        assert_eq!(found.turns[0].attributes["dia_id"], "D1:1");
        assert!(found.turns[1].occurred_at.is_none());
    }

    #[test]
    fn a_session_number_may_be_written_in_any_way() {
        let text = r#"[{"conversation":{"session_02":[{"text":"b"}],"session_+1":[{"text":"a"}]}}]"#;
        let found = &read_locomo(text).expect("reads")[0];
        assert_eq!(found.name, "sample-1");
        let sessions: Vec<_> = found.turns.iter().filter_map(|turn| turn.session.as_deref()).collect();
        assert_eq!(sessions, ["session_+1", "session_02"]);
    }
}
