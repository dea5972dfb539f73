//! The Chinese part of MemoryBank with labelled questions: short exchanges of a user with
//! an assistant over some days.

use std::collections::BTreeSet;
use std::path::Path;

use memcards::card::Role;
use memcards::{Remember, Timestamp};
use serde::Deserialize;

use crate::Outcome;
use crate::evaluation::{Corpus, Question};

/// How exchanges become cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One card per message, roles user and assistant.
    Messages,
    /// One card per exchange.
    Records,
}

#[derive(Deserialize)]
struct User {
    user: String,
    records: Vec<Record>,
    questions: Vec<Labelled>,
}

#[derive(Deserialize)]
struct Record {
    i: usize,
    date: String,
    query: String,
    response: String,
}

#[derive(Deserialize)]
struct Labelled {
    question: String,
    mode: String,
    evidence: Vec<usize>,
}

/// Reads the users of a MemoryBank file.
///
/// # Errors
/// When the file cannot be read or has another layout.
pub fn read(path: &Path, shape: Shape) -> Outcome<Vec<Corpus>> {
    let users: Vec<User> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    users.into_iter().map(|user| corpus(user, shape)).collect()
}

fn corpus(user: User, shape: Shape) -> Outcome<Corpus> {
    let mut cards = Vec::new();
    let mut asked_at = Timestamp::MIN;
    // For each record its cards, by number of the record.
    let mut members: Vec<(usize, BTreeSet<usize>)> = Vec::new();
    for (number, record) in user.records.iter().enumerate() {
        let at: Timestamp = format!("{}T00:00:00Z", record.date).parse()?;
        asked_at = asked_at.max(at.plus(memcards::Duration::from_hours(24)));
        let card = |content: String, turn: usize, speaker: Option<&str>, role: Option<Role>| Remember {
            content,
            speaker: speaker.map(str::to_owned),
            role,
            session: Some(record.date.clone()),
            turn: Some(turn as u32),
            occurred_at: Some(at),
            ..Remember::default()
        };
        let first = cards.len();
        match shape {
            Shape::Messages => {
                let (turn, user) = (2 * number, Some(user.user.as_str()));
                let (asked, said) = (record.query.clone(), record.response.clone());
                cards.push((format!("{}/query", record.i), card(asked, turn, user, Some(Role::User))));
                let said = card(said, turn + 1, Some("AI"), Some(Role::Assistant));
                cards.push((format!("{}/response", record.i), said));
            }
            Shape::Records => {
                let content = format!("{}\n{}", record.query, record.response);
                cards.push((record.i.to_string(), card(content, number, None, None)));
            }
        }
        members.push((record.i, (first..cards.len()).collect()));
    }
    let questions = user
        .questions
        .into_iter()
        .enumerate()
        .map(|(at, labelled)| {
            let groups = labelled.evidence.iter().map(|i| {
                let found = members.iter().find(|(number, _)| number == i);
                found.map(|(_, cards)| cards.clone()).ok_or("evidence that is no record")
            });
            let groups = groups.collect::<Result<Vec<_>, _>>()?;
            let evidence = match labelled.mode.as_str() {
                "any" => vec![groups.into_iter().flatten().collect()],
                _ => groups,
            };
            let id = format!("{}/{at}", user.user);
            Ok(Question {
                id,
                category: labelled.mode,
                text: labelled.question,
                evidence,
                ..Question::default()
            })
        })
        .collect::<Outcome<_>>()?;
    Ok(Corpus { name: user.user, cards, asked_at, questions })
}
