//! `remember`.

use std::io::{IsTerminal, Read, Write};

use clap::Args;
use memcards::calendar::Zone;
use memcards::card::{CardId, Fact, Limits, Link, Polarity, Provenance, Role, Track};
use memcards::{Duration, Error, Outcome, Remember, Remembered, Timestamp};
use serde_json::{Map, Value};

use super::verb;
use crate::arguments::{Json, example, link, names};
use crate::failure::Failure;
use crate::render::{self, style};
use crate::store::Door;

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards remember "The spare key is under the blue pot.""#,
    r#"memcards remember "绝不要推荐 B 型窑" --polarity excluded --category preference"#
))]
pub(crate) struct RememberArguments {
    /// The text, kept exactly as given; `-` or nothing reads standard input
    pub(crate) content: Vec<String>,
    /// Track [default: episodic with --turn, else semantic]
    #[arg(long, value_parser = names!(Track))]
    track: Option<Track>,
    /// profile, preference, knowledge, decision, conclusion, correction, task_state, temporary,
    /// conversation, relation, or your own
    #[arg(long)]
    category: Option<String>,
    /// Short form for prompts
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// The typed fact the content states; a newer value replaces the older one, unless the
    /// category is relation
    #[arg(long, num_args = 3, value_names = ["ENTITY", "ATTRIBUTE", "VALUE"])]
    fact: Option<Vec<String>>,
    /// Whether the content holds or must not happen [default: affirmed]
    #[arg(long, value_parser = names!(Polarity))]
    polarity: Option<Polarity>,
    /// Person, project, product or order number it names (repeat for more)
    #[arg(long, value_name = "NAME")]
    entities: Vec<String>,
    /// Label (repeat for more)
    #[arg(long, value_name = "TAG")]
    tags: Vec<String>,
    /// Free JSON object
    #[arg(long, value_name = "JSON")]
    attributes: Option<Json<Map<String, Value>>>,
    /// When it happened (RFC 3339) [default: now]
    #[arg(long, value_name = "TIME")]
    occurred_at: Option<Timestamp>,
    /// From when it is true
    #[arg(long, value_name = "TIME")]
    valid_from: Option<Timestamp>,
    /// Zone in which times in the content are meant: an IANA name or an offset [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<Zone>,
    /// Until when (exclusive) it is true
    #[arg(long, value_name = "TIME")]
    valid_to: Option<Timestamp>,
    /// Time to live, such as 7d or 30m
    #[arg(long, value_name = "DURATION")]
    ttl: Option<Duration>,
    /// Instant from which no read returns it
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Timestamp>,
    /// 0 to 1 [default: 0.5]
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f32>,
    /// 0 to 1 [default: by provenance]
    #[arg(long, value_name = "NUMBER")]
    confidence: Option<f32>,
    /// How it came to be believed [default: stated]
    #[arg(long, value_parser = names!(Provenance))]
    provenance: Option<Provenance>,
    /// Key under which a newer card replaces this one
    #[arg(long, value_name = "KEY")]
    merge_key: Option<String>,
    /// The conversation it was said in
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The turn within the session
    #[arg(long, value_name = "NUMBER")]
    turn: Option<u32>,
    /// Who produced the text
    #[arg(long, value_parser = names!(Role))]
    role: Option<Role>,
    /// Name of the speaker
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// What extracted the card
    #[arg(long, value_name = "NAME")]
    extractor: Option<String>,
    /// A second request with the same key changes nothing
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// The content's vector, as a JSON array of numbers
    #[arg(long, value_name = "JSON")]
    vector: Option<Json<Vec<f32>>>,
    /// Link to another card (repeat for more)
    #[arg(long, value_name = "KIND:ID", value_parser = link)]
    links: Vec<Link>,
    /// Never touched by forgetting rules
    #[arg(long)]
    pinned: bool,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(arguments: RememberArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = request(arguments)?;
    verb(door, out, "remember", request, |tenant, request| tenant.remember(request), show)
}

fn request(arguments: RememberArguments) -> Result<Remember, Error> {
    Ok(Remember {
        content: content(arguments.content)?,
        track: arguments.track,
        category: arguments.category,
        summary: arguments.summary,
        fact: arguments.fact.and_then(fact),
        polarity: arguments.polarity,
        entities: arguments.entities,
        tags: arguments.tags,
        attributes: arguments.attributes.map(|json| json.0).unwrap_or_default(),
        occurred_at: arguments.occurred_at,
        zone: arguments.zone,
        valid_from: arguments.valid_from,
        valid_to: arguments.valid_to,
        ttl: arguments.ttl,
        expires_at: arguments.expires_at,
        importance: arguments.importance,
        confidence: arguments.confidence,
        provenance: arguments.provenance,
        merge_key: arguments.merge_key,
        session: arguments.session,
        turn: arguments.turn,
        role: arguments.role,
        speaker: arguments.speaker,
        extractor: arguments.extractor,
        idempotency_key: arguments.idempotency_key,
        vector: arguments.vector.map(|json| json.0),
        links: arguments.links,
        pinned: arguments.pinned,
        actor: arguments.actor,
        reason: arguments.reason,
    })
}

/// A fact from its three words.
pub(crate) fn fact(words: Vec<String>) -> Option<Fact> {
    let [entity, attribute, value] = <[String; 3]>::try_from(words).ok()?;
    Some(Fact { entity, attribute, value })
}

/// The text of the command line, or of standard input less its last line break.
fn content(words: Vec<String>) -> Result<String, Error> {
    let from_input = match words.as_slice() {
        [] => !std::io::stdin().is_terminal(),
        [word] => word == "-",
        _ => false,
    };
    if !from_input {
        return Ok(words.join(" "));
    }
    // One byte more than is allowed is enough to be refused by the engine.
    let most = Limits::default().content_bytes as u64 + 3;
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::Unavailable(format!("standard input: {error}")))?;
    let mut text = String::from_utf8(bytes).map_err(|_| Error::invalid("content", "is not UTF-8"))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Shows what became of a text.
pub(crate) fn show(answer: &Remembered, out: &mut dyn Write) -> std::io::Result<()> {
    let word = match answer.outcome {
        Outcome::Created => "remembered",
        Outcome::Merged => "known in other words; the card has the newest wording now",
        Outcome::Duplicate => "known already; counted once more",
        Outcome::Superseded => "remembered; replaces what it contradicts",
        Outcome::Candidate => "noted as a candidate; recalled once there is more evidence",
    };
    show_as(word, answer, out)
}

/// Shows a card that was written, under a heading.
pub(crate) fn show_as(word: &str, answer: &Remembered, out: &mut dyn Write) -> std::io::Result<()> {
    let (good, dim) = (style::GOOD, style::DIM);
    writeln!(out, "{good}{word}{good:#}")?;
    writeln!(out, "   {dim}id {} · version {}{dim:#}", answer.id, answer.version)?;
    show_affected(answer.id, &answer.affected, out)?;
    render::degraded(&answer.degraded, out)
}

/// Shows the other cards that a write has changed.
pub(crate) fn show_affected(
    id: CardId,
    affected: &[memcards::Affected],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let dim = style::DIM;
    for other in affected.iter().filter(|other| other.id != id) {
        writeln!(out, "   {dim}{} {}{dim:#}", other.change, other.id)?;
    }
    Ok(())
}
