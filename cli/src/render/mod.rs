//! Showing cards to people: compact, clear, safe on a terminal.

pub(crate) mod plan;
pub(crate) mod style;
pub(crate) mod table;
mod text;

use std::io::{self, Write};

use memcards::card::{Card, Fact, Polarity, Source, State};
use memcards::{CardView, Hit, Timestamp, VersionView};
use serde::Deserialize;
use serde_json::Value;

pub(crate) use text::{printable, width, wrap};

/// Columns of a line; every terminal has as many.
pub(crate) const COLUMNS: usize = 80;
/// What a card's lines are set in by.
const INDENT: &str = "   ";

/// An instant to the minute; to the second where it is not on a minute.
pub(crate) fn time(at: Timestamp) -> String {
    let text = at.to_string();
    let date = text.get(..10).unwrap_or(&text);
    let seconds = text.get(17..19).filter(|seconds| *seconds != "00");
    let clock = text.get(11..if seconds.is_some() { 19 } else { 16 }).unwrap_or_default();
    format!("{date} {clock} UTC")
}

/// Writes a text in lines of its own, set in.
fn body(content: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in wrap(content, COLUMNS - INDENT.len()) {
        writeln!(out, "{INDENT}{line}")?;
    }
    Ok(())
}

/// Time, kind, speaker, and what is special about a card.
fn headline(card: &CardView) -> String {
    let mut parts = vec![time(card.occurred_at), format!("{}/{}", card.track, printable(&card.category))];
    if let Some(speaker) = &card.speaker {
        parts.push(printable(speaker));
    } else if let Some(role) = card.role {
        parts.push(role.to_string());
    }
    if card.polarity == Polarity::Excluded {
        parts.push("EXCLUDED".into());
    }
    if card.state != State::Active {
        parts.push(card.state.to_string());
    }
    if card.pinned {
        parts.push("pinned".into());
    }
    parts.join(" · ")
}

/// A card in a list.
pub(crate) fn card(card: &CardView, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    writeln!(out, "{}", headline(card))?;
    body(&card.content, out)?;
    writeln!(out, "{INDENT}{dim}id {}{dim:#}", card.id)
}

/// A card that answers a question.
pub(crate) fn hit(number: usize, hit: &Hit, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    let card = &hit.card;
    short_hit(number, hit, out)?;
    write!(out, "{INDENT}{dim}id {}", card.id)?;
    if let Some(by) = card.superseded_by {
        write!(out, "\n{INDENT}superseded by {by}")?;
    }
    for old in &card.supersedes {
        write!(out, "\n{INDENT}replaces {old}")?;
    }
    writeln!(out, "{dim:#}")
}

/// The same without identifiers.
pub(crate) fn short_hit(number: usize, hit: &Hit, out: &mut dyn Write) -> io::Result<()> {
    let strong = style::STRONG;
    writeln!(out, "{number}  {strong}{:.2}{strong:#}  {}", hit.score, headline(&hit.card))?;
    body(&hit.card.content, out)
}

/// The parts of a score by name, as words, the greatest first.
pub(crate) fn named_parts(hit: &Hit) -> Vec<(&'static str, f32)> {
    let Some(parts) = &hit.parts else { return vec![] };
    let evidence = parts.keywords
        + parts.context
        + parts.meaning
        + parts.date
        + parts.coverage
        + parts.speaker
        + parts.role
        + parts.asks;
    // What a conversation lends, a card without one gets as a share of its own evidence:
    // shown where it comes from.
    let own = if evidence > 0.0 { 1.0 + parts.alone / evidence } else { 1.0 };
    let mut named = vec![
        ("words of the question", own * parts.keywords),
        ("words around it", own * parts.context),
        ("near in meaning", own * parts.meaning),
        ("the date asked for", own * parts.date),
        ("words it lacks", own * parts.coverage),
        ("another speaker", own * parts.speaker),
        ("said by the assistant", own * parts.role),
        ("asks itself", own * parts.asks),
        ("turns next to it", parts.neighbours),
        ("its session", parts.session),
        ("the exact code", parts.identifier),
        ("fresh", parts.recency),
        ("important", parts.importance),
        ("certain", parts.confidence),
        ("later than a rival", parts.settled),
    ];
    named.retain(|(_, part)| part.abs() >= 0.005);
    named.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    named
}

/// What a score is made of, a line each, with a bar.
pub(crate) fn parts(hit: &Hit, out: &mut dyn Write) -> io::Result<()> {
    let (good, bad, dim) = (style::GOOD, style::BAD, style::DIM);
    for (number, (name, part)) in named_parts(hit).into_iter().enumerate() {
        let why = if number == 0 { "why" } else { "" };
        let colour = if part < 0.0 { bad } else { good };
        let bar = bar(part.abs());
        writeln!(out, "{INDENT}{dim}{why:<4}{name:<22}{dim:#} {part:>+5.2} {colour}{bar}{colour:#}")?;
    }
    Ok(())
}

/// The greatest parts of a score, as many as fit into a line.
pub(crate) fn parts_line(hit: &Hit) -> String {
    let mut line = "why:".to_owned();
    for (name, part) in named_parts(hit) {
        let more = format!(" {name} {part:+.2},");
        if INDENT.len() + width(&line) + width(&more) > COLUMNS + 1 {
            break;
        }
        line.push_str(&more);
    }
    line.trim_end_matches(',').to_owned()
}

/// A bar of up to 20 cells for a number from 0 to 1.
fn bar(part: f32) -> String {
    let cells = (part.clamp(0.0, 1.0) * 20.0).round() as usize;
    "▇".repeat(cells.max(1))
}

/// One version of a card: who made it when and why, and what it changed.
pub(crate) fn version(version: &VersionView, out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim) = (style::STRONG, style::DIM);
    let card = &version.card;
    let mut by = String::new();
    if let Some(actor) = &card.reason.actor {
        by = format!(" by {}", printable(actor));
    }
    let (when, action) = (time(card.updated_at), printable(&card.reason.action));
    write!(out, "{when}  {strong}{action}{strong:#}{by}")?;
    match &card.reason.why {
        Some(why) if width(&when) + width(&action) + width(&by) + width(why) + 4 <= COLUMNS => {
            writeln!(out, ": {}", printable(why))?;
        }
        Some(why) => {
            writeln!(out, ":")?;
            body(why, out)?;
        }
        None => writeln!(out)?,
    }
    if version.diff.is_empty() {
        body(&card.content, out)?;
    }
    for change in &version.diff {
        // The links are on the lines of the other versions; the state says the same.
        if ["links", "sources", "state_before"].contains(&change.field.as_str()) {
            continue;
        }
        let (from, to) = (value(&change.from), value(&change.to));
        let field = format!("{dim}{}{dim:#}", change.field);
        if width(&from) + width(&to) + width(&change.field) + INDENT.len() + 6 <= COLUMNS {
            writeln!(out, "{INDENT}{field}: {from} → {to}")?;
        } else {
            writeln!(out, "{INDENT}{field}:")?;
            for (mark, text) in [("-", from), ("+", to)] {
                for line in wrap(&text, COLUMNS - INDENT.len() - 4) {
                    writeln!(out, "{INDENT}  {mark} {line}")?;
                }
            }
        }
    }
    writeln!(out, "{INDENT}{dim}id {} · version {}{dim:#}", card.id, card.version)
}

/// A value of a field; texts without their quotes, nothing as a dash.
fn value(value: &Value) -> String {
    if let Ok(fact) = Fact::deserialize(value) {
        return fact_line(&fact);
    }
    match value {
        Value::Null => "–".into(),
        Value::String(text) => match text.parse::<Timestamp>() {
            Ok(at) => time(at),
            Err(_) => printable(text),
        },
        // Numbers of single precision are stored; more digits would be noise.
        Value::Number(number) if number.is_f64() => {
            let rounded = (number.as_f64().unwrap_or_default() * 1000.0).round() / 1000.0;
            rounded.to_string()
        }
        other => printable(&other.to_string()),
    }
}

fn fact_line(fact: &Fact) -> String {
    printable(&format!("{} · {} = {}", fact.entity, fact.attribute, fact.value))
}

/// Where a card was said.
fn source_line(source: &Source) -> String {
    let parts = [
        source.session.clone(),
        source.turn.map(|turn| format!("turn {turn}")),
        source.speaker.clone().or(source.role.map(|role| role.to_string())),
        source.occurred_at.map(time),
    ];
    printable(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

/// Every field of a card.
pub(crate) fn whole_card(card: &CardView, out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim) = (style::STRONG, style::DIM);
    for line in wrap(&card.content, COLUMNS) {
        writeln!(out, "{strong}{line}{strong:#}")?;
    }
    let whole: &Card = card;
    let fields = match serde_json::to_value(whole) {
        Ok(Value::Object(fields)) => fields,
        other => return Err(io::Error::other(format!("a card is no JSON object: {other:?}"))),
    };
    for (field, content) in fields.iter().filter(|(field, _)| *field != "content") {
        let texts = match field.as_str() {
            "reason" => {
                let reason = &whole.reason;
                let by = reason.actor.as_ref().map(|actor| format!(" by {actor}")).unwrap_or_default();
                let why = reason.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                vec![format!("{}{by}{why}", reason.action)]
            }
            "entities" => vec![whole.entities.join(", ")],
            "tags" => vec![whole.tags.join(", ")],
            "links" => whole.links.iter().map(|link| format!("{} {}", link.kind, link.to)).collect(),
            "sources" => whole.sources.iter().map(source_line).collect(),
            "vector_version" => continue,
            _ => vec![value(content)],
        };
        let mut name = field.as_str();
        for line in texts.iter().flat_map(|text| wrap(text, COLUMNS - 18)) {
            writeln!(out, "{dim}{name:<17}{dim:#} {line}")?;
            name = "";
        }
    }
    Ok(())
}

/// What was done with less than usual.
pub(crate) fn degraded(notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    let warn = style::WARN;
    notes.iter().try_for_each(|note| writeln!(out, "{warn}note:{warn:#} {}", printable(note)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_short_as_they_can_be() {
        for (text, shown) in [
            ("2025-04-02T10:15:00Z", "2025-04-02 10:15 UTC"),
            ("2025-04-02T10:15:07Z", "2025-04-02 10:15:07 UTC"),
            ("2025-04-02T10:15:07.25+08:00", "2025-04-02 02:15:07 UTC"),
        ] {
            assert_eq!(time(text.parse().expect(text)), shown);
        }
    }
}
