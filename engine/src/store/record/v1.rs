//! The first layout of a card record. Frozen: a change of this file changes bytes on disk,
//! which the golden file in `tests/fixtures` would show.

use rkyv::rancor::Error as RkyvError;
use rkyv::{Archive, Deserialize, Serialize};

use crate::card::{
    Card, CardId, Fact, Link, LinkKind, Mention, MentionKind, Polarity, Provenance, Reason, Role, Source,
    State, TimeSpan, Track,
};
use crate::time::Timestamp;
use crate::{Error, Result};

#[derive(Archive, Serialize, Deserialize)]
struct SourceV1 {
    session: Option<String>,
    turn: Option<u32>,
    role: Option<u8>,
    speaker: Option<String>,
    occurred_at: Option<i64>,
}

#[derive(Archive, Serialize, Deserialize)]
struct CardV1 {
    version: u32,
    track: u8,
    polarity: u8,
    provenance: u8,
    state: u8,
    state_before: Option<u8>,
    pinned: bool,
    category: String,
    content: String,
    summary: Option<String>,
    fact: Option<(String, String, String)>,
    entities: Vec<String>,
    /// Name and kind.
    mentions: Vec<(String, u8)>,
    /// Words, beginning and end.
    times: Vec<(String, Option<i64>, Option<i64>)>,
    tags: Vec<String>,
    /// JSON object; empty text for none.
    attributes: String,
    merge_key: Option<String>,
    links: Vec<([u8; 16], u8)>,
    sources: Vec<SourceV1>,
    extractor: Option<String>,
    journal: Option<u64>,
    occurred_at: i64,
    recorded_at: i64,
    updated_at: i64,
    last_accessed_at: Option<i64>,
    reinforced_at: Option<i64>,
    access_count: u32,
    mention_count: u32,
    expires_at: Option<i64>,
    valid_from: Option<i64>,
    valid_to: Option<i64>,
    importance: f32,
    confidence: f32,
    vector_version: u32,
    action: String,
    actor: Option<String>,
    why: Option<String>,
}

/// Appends a card without its identifier, which stands in its key.
pub(super) fn encode(card: &Card, out: Vec<u8>) -> Result<Vec<u8>> {
    let micros = |time: Option<Timestamp>| time.map(Timestamp::as_micros);
    let internal = |e: &dyn std::fmt::Display| Error::Internal(format!("encoding a card: {e}"));
    let attributes = match card.attributes.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&card.attributes).map_err(|e| internal(&e))?,
    };
    let record = CardV1 {
        version: card.version,
        track: card.track.number(),
        polarity: card.polarity.number(),
        provenance: card.provenance.number(),
        state: card.state.number(),
        state_before: card.state_before.map(State::number),
        pinned: card.pinned,
        category: card.category.clone(),
        content: card.content.clone(),
        summary: card.summary.clone(),
        fact: card.fact.as_ref().map(|f| (f.entity.clone(), f.attribute.clone(), f.value.clone())),
        entities: card.entities.clone(),
        mentions: card.mentions.iter().map(|mention| (mention.name.clone(), mention.kind.number())).collect(),
        times: card
            .times
            .iter()
            .map(|time| (time.phrase.clone(), micros(time.from), micros(time.to)))
            .collect(),
        tags: card.tags.clone(),
        attributes,
        merge_key: card.merge_key.clone(),
        links: card.links.iter().map(|link| (link.to.to_bytes(), link.kind.number())).collect(),
        sources: card
            .sources
            .iter()
            .map(|source| SourceV1 {
                session: source.session.clone(),
                turn: source.turn,
                role: source.role.map(Role::number),
                speaker: source.speaker.clone(),
                occurred_at: micros(source.occurred_at),
            })
            .collect(),
        extractor: card.extractor.clone(),
        journal: card.journal,
        occurred_at: card.occurred_at.as_micros(),
        recorded_at: card.recorded_at.as_micros(),
        updated_at: card.updated_at.as_micros(),
        last_accessed_at: micros(card.last_accessed_at),
        reinforced_at: micros(card.reinforced_at),
        access_count: card.access_count,
        mention_count: card.mention_count,
        expires_at: micros(card.expires_at),
        valid_from: micros(card.valid_from),
        valid_to: micros(card.valid_to),
        importance: card.importance,
        confidence: card.confidence,
        vector_version: card.vector_version,
        action: card.reason.action.clone(),
        actor: card.reason.actor.clone(),
        why: card.reason.why.clone(),
    };
    rkyv::api::high::to_bytes_in::<_, RkyvError>(&record, out).map_err(|e| internal(&e))
}

/// Decodes a card whose checksum has been verified. The error says what does not fit.
pub(super) fn decode(id: CardId, payload: &[u8]) -> Result<Card, String> {
    let record: CardV1 =
        rkyv::from_bytes::<CardV1, RkyvError>(payload).map_err(|e| format!("not a card record: {e}"))?;
    fn known<T>(what: &str, number: u8, find: impl Fn(u8) -> Option<T>) -> Result<T, String> {
        find(number).ok_or_else(|| format!("unknown {what} {number}"))
    }
    let time = |micros: Option<i64>| micros.map(Timestamp::from_micros);
    let attributes = match record.attributes.is_empty() {
        true => Default::default(),
        false => serde_json::from_str(&record.attributes).map_err(|e| format!("attributes: {e}"))?,
    };
    let links = record
        .links
        .into_iter()
        .map(|(to, kind)| {
            Ok(Link { to: CardId::from_bytes(to), kind: known("kind of link", kind, LinkKind::from_number)? })
        })
        .collect::<Result<_, String>>()?;
    let mentions = record
        .mentions
        .into_iter()
        .map(|(name, kind)| {
            Ok(Mention { name, kind: known("kind of mention", kind, MentionKind::from_number)? })
        })
        .collect::<Result<_, String>>()?;
    let sources = record
        .sources
        .into_iter()
        .map(|source| {
            Ok(Source {
                session: source.session,
                turn: source.turn,
                role: source.role.map(|n| known("role", n, Role::from_number)).transpose()?,
                speaker: source.speaker,
                occurred_at: time(source.occurred_at),
            })
        })
        .collect::<Result<_, String>>()?;
    Ok(Card {
        id,
        version: record.version,
        track: known("track", record.track, Track::from_number)?,
        category: record.category,
        content: record.content,
        summary: record.summary,
        fact: record.fact.map(|(entity, attribute, value)| Fact { entity, attribute, value }),
        polarity: known("polarity", record.polarity, Polarity::from_number)?,
        entities: record.entities,
        mentions,
        times: record
            .times
            .into_iter()
            .map(|(phrase, from, to)| TimeSpan { phrase, from: time(from), to: time(to) })
            .collect(),
        tags: record.tags,
        attributes,
        merge_key: record.merge_key,
        links,
        provenance: known("provenance", record.provenance, Provenance::from_number)?,
        sources,
        extractor: record.extractor,
        journal: record.journal,
        occurred_at: Timestamp::from_micros(record.occurred_at),
        recorded_at: Timestamp::from_micros(record.recorded_at),
        updated_at: Timestamp::from_micros(record.updated_at),
        last_accessed_at: time(record.last_accessed_at),
        reinforced_at: time(record.reinforced_at),
        access_count: record.access_count,
        mention_count: record.mention_count,
        expires_at: time(record.expires_at),
        valid_from: time(record.valid_from),
        valid_to: time(record.valid_to),
        importance: record.importance,
        confidence: record.confidence,
        pinned: record.pinned,
        state: known("state", record.state, State::from_number)?,
        state_before: record.state_before.map(|n| known("state", n, State::from_number)).transpose()?,
        vector_version: record.vector_version,
        reason: Reason { action: record.action, actor: record.actor, why: record.why },
    })
}
