//! The LoCoMo data set: conversations of two people over months, with questions whose
//! evidence is labelled turn by turn. For evaluation only.
//!
//! The turns come from the engine's own importer; this reads the questions.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use memcards::exchange::read_locomo;
use memcards::{Duration, Timestamp};
use serde_json::Value;

use crate::Outcome;
use crate::evaluation::{Corpus, Question};

/// Number of session and turn of a piece of evidence.
type TurnKey = (u32, u32);

/// Reads the conversations of a LoCoMo file.
///
/// # Errors
/// When the file cannot be read or has another layout.
pub fn read(path: &Path) -> Outcome<Vec<Corpus>> {
    let text = std::fs::read_to_string(path)?;
    let samples: Vec<Value> = serde_json::from_str(&text)?;
    let conversations = read_locomo(&text)?;
    conversations
        .into_iter()
        .zip(&samples)
        .map(|(conversation, sample)| {
            let mut cards = Vec::new();
            let mut turns: HashMap<TurnKey, usize> = HashMap::new();
            let mut asked_at = Timestamp::MIN;
            for turn in conversation.turns {
                let id = turn.attributes["dia_id"].as_str().unwrap_or_default().to_owned();
                for key in evidence_keys(&id) {
                    turns.insert(key, cards.len());
                }
                if let Some(at) = turn.occurred_at {
                    asked_at = asked_at.max(at.plus(Duration::from_hours(24)));
                }
                cards.push((id, turn));
            }
            let questions = questions(&conversation.name, sample, &turns)?;
            Ok(Corpus { name: conversation.name, cards, asked_at, questions })
        })
        .collect()
}

fn questions(name: &str, sample: &Value, turns: &HashMap<TurnKey, usize>) -> Outcome<Vec<Question>> {
    let labelled = sample["qa"].as_array().ok_or("a sample without questions")?;
    let questions = labelled.iter().enumerate().filter_map(|(at, qa)| {
        let labels = qa["evidence"].as_array()?.iter().filter_map(Value::as_str);
        let labels = labels.collect::<Vec<_>>().join(" ");
        let evidence: BTreeSet<usize> =
            evidence_keys(&labels).iter().filter_map(|key| turns.get(key).copied()).collect();
        // Without evidence in the conversation nothing can be found.
        (!evidence.is_empty()).then(|| Question {
            id: format!("{name}/{at}"),
            category: category(&qa["category"]),
            text: qa["question"].as_str().unwrap_or_default().to_owned(),
            evidence: evidence.into_iter().map(|card| [card].into()).collect(),
            ..Question::default()
        })
    });
    Ok(questions.collect())
}

/// The number of a category with what it means.
fn category(number: &Value) -> String {
    let name = match number.as_u64() {
        Some(1) => "multi-hop",
        Some(2) => "time",
        Some(3) => "inference",
        Some(4) => "single-hop",
        Some(5) => "adversarial",
        _ => return number.to_string(),
    };
    format!("{number} {name}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_have_names() {
        assert_eq!(category(&1.into()), "1 multi-hop");
        assert_eq!(category(&9.into()), "9");
    }

    #[test]
    fn labels_are_read_in_all_their_spellings() {
        assert_eq!(evidence_keys("D1:3"), [(1, 3)]);
        assert_eq!(evidence_keys("D:11:26"), [(11, 26)]);
        assert_eq!(evidence_keys("D8:6; D9:017"), [(8, 6), (9, 17)]);
        assert_eq!(evidence_keys("D7:05 D, D4"), [(7, 5)]);
        assert_eq!(evidence_keys(""), []);
    }
}
