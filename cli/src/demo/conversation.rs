//! The bundled conversation, and how it becomes memories.

use std::sync::Arc;

use memcards::card::Role;
use memcards::exchange::Conversation;
use memcards::{Clock, Duration, Error, ManualClock, Outcome, Remember, Result, Store, Timestamp};
use serde::Deserialize;

/// Invented people open an invented studio.
const BUNDLED: &str = include_str!("conversation.json");
/// Name of the one speaker who is no person.
const ASSISTANT: &str = "Assistant";
/// From one turn to the next, microseconds.
const TURN: i64 = 120_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    session: String,
    started_at: Timestamp,
    /// Speaker and words.
    turns: Vec<(String, String)>,
    /// What the assistant wrote down afterwards.
    notes: Vec<Remember>,
}

/// What was loaded.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(super) struct Loaded {
    pub(super) sessions: usize,
    pub(super) turns: u64,
    pub(super) notes: usize,
    /// Notes that replaced an earlier one.
    pub(super) replaced: usize,
}

/// Remembers the conversation as it happened: each session at its own time.
pub(super) fn load(store: &Store, tenant: &str, clock: &Arc<ManualClock>) -> Result<Loaded> {
    let broken = |error: serde_json::Error| Error::Internal(format!("the bundled conversation: {error}"));
    let bundle: Bundle = serde_json::from_str(BUNDLED).map_err(broken)?;
    let mut loaded = Loaded::default();
    for session in bundle.sessions {
        let at = |turn: usize| session.started_at.plus(Duration::from_micros(TURN * turn as i64));
        let turns = session.turns.len();
        clock.set(at(turns + session.notes.len()))?;
        let said = session.turns.iter().enumerate().map(|(number, (speaker, words))| Remember {
            content: words.clone(),
            session: Some(session.session.clone()),
            turn: Some(number as u32 + 1),
            role: Some(if speaker == ASSISTANT { Role::Assistant } else { Role::User }),
            speaker: Some(speaker.clone()),
            occurred_at: Some(at(number)),
            ..Remember::default()
        });
        let conversation =
            Conversation { name: session.session.clone(), turns: said.collect(), without_text: 0 };
        let ingested = store.ingest(tenant, &conversation, |_| {})?;
        loaded.sessions += 1;
        loaded.turns += ingested.created;
        let notes = session.notes.into_iter().enumerate().map(|(number, note)| Remember {
            occurred_at: Some(at(turns + number)),
            session: Some(session.session.clone()),
            actor: Some("assistant".into()),
            ..note
        });
        for answer in store.tenant(tenant)?.remember_all(notes.collect())? {
            loaded.notes += 1;
            loaded.replaced += usize::from(answer?.outcome == Outcome::Superseded);
        }
    }
    Ok(loaded)
}
