//! `relate`, `entity` and `walk`.

use std::io::{self, Write};

use clap::Args;
use memcards::card::{Provenance, Role};
use memcards::{
    Attribute, Direction, Edge, Entity, EntityView, Include, Outcome, Path, Relate, Remembered, Timestamp,
    Walk, Walked,
};

use super::recall::INCLUDE;
use super::remember::show_as;
use super::verb;
use crate::arguments::{example, json_names, names};
use crate::failure::Failure;
use crate::render::{self, COLUMNS, printable, style, wrap};
use crate::store::Door;

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards relate Mira "works with" Otto --score 0.8 --since 2024-05-01T00:00:00Z"#,
    "memcards relate 林小雨 住在 杭州"
))]
pub(crate) struct RelateArguments {
    /// What relates
    from: String,
    /// How; `alias` and `same as` make two names of one thing
    relation: String,
    /// To what
    to: String,
    /// How strong it is, 0 to 1 [default: 1, or as it is known]
    #[arg(long, value_name = "NUMBER")]
    score: Option<f64>,
    /// From when it holds
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Until when (exclusive) it holds
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// The conversation it was said in
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The turn within the session
    #[arg(long, value_name = "NUMBER")]
    turn: Option<u32>,
    /// Who said it
    #[arg(long, value_parser = names!(Role))]
    role: Option<Role>,
    /// Name of the speaker
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// How it came to be believed [default: stated]
    #[arg(long, value_parser = names!(Provenance))]
    provenance: Option<Provenance>,
    /// 0 to 1 [default: by provenance]
    #[arg(long, value_name = "NUMBER")]
    confidence: Option<f32>,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
#[command(after_help = example!("memcards entity Mira", "memcards entity Mira --as-of 2024-06-01T00:00:00Z"))]
pub(crate) struct EntityArguments {
    /// Its name; case and width make no difference
    name: String,
    /// What was true at this instant
    #[arg(long, value_name = "TIME")]
    as_of: Option<Timestamp>,
    /// What was recorded by this instant, also where it is forgotten since
    #[arg(long, value_name = "TIME")]
    known_at: Option<Timestamp>,
    /// State beyond active (repeat for more)
    #[arg(long, value_name = "STATE", value_parser = json_names::<Include>(INCLUDE))]
    include: Vec<Include>,
    /// Attributes, relations and cards shown, of each 1 to 1,000 [default: 50]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

#[derive(Args)]
#[command(after_help = example!(
    "memcards walk Mira --hops 3",
    r#"memcards walk Mira --relations "works with" --direction out --top 5"#
))]
pub(crate) struct WalkArguments {
    /// Name of the thing at which to start
    start: String,
    /// Relations one after the other, 1 to 4 [default: 2]
    #[arg(long, value_name = "NUMBER")]
    hops: Option<usize>,
    /// Only this relation (repeat for more) [default: all]
    #[arg(long, value_name = "RELATION")]
    relations: Vec<String>,
    /// Which way relations are followed [default: both]
    #[arg(long, value_parser = json_names::<Direction>(&["out", "in", "both"]))]
    direction: Option<Direction>,
    /// Things shown, 1 to 1,000 [default: 20]
    #[arg(long, value_name = "NUMBER")]
    top: Option<usize>,
    /// Over what was true at this instant
    #[arg(long, value_name = "TIME")]
    as_of: Option<Timestamp>,
    /// Over what was recorded by this instant, also where it is forgotten since
    #[arg(long, value_name = "TIME")]
    known_at: Option<Timestamp>,
    /// State beyond active (repeat for more)
    #[arg(long, value_name = "STATE", value_parser = json_names::<Include>(INCLUDE))]
    include: Vec<Include>,
}

pub(crate) fn relate(arguments: RelateArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Relate {
        from: arguments.from,
        relation: arguments.relation,
        to: arguments.to,
        score: arguments.score,
        since: arguments.since,
        until: arguments.until,
        session: arguments.session,
        turn: arguments.turn,
        role: arguments.role,
        speaker: arguments.speaker,
        provenance: arguments.provenance,
        confidence: arguments.confidence,
        actor: arguments.actor,
        reason: arguments.reason,
    };
    verb(door, out, "relate", request, |tenant, request| tenant.relate(request), show_related)
}

fn show_related(answer: &Remembered, out: &mut dyn Write) -> io::Result<()> {
    let word = match answer.outcome {
        Outcome::Created => "related",
        Outcome::Merged => "known already; brought up to date",
        Outcome::Duplicate => "known already; counted once more",
        Outcome::Superseded => "related; replaces what had ended before",
        Outcome::Candidate => "noted as a candidate; followed once there is more evidence",
    };
    show_as(word, answer, out)
}

pub(crate) fn entity(arguments: EntityArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Entity {
        name: arguments.name,
        as_of: arguments.as_of,
        known_at: arguments.known_at,
        include: arguments.include,
        limit: arguments.limit,
    };
    verb(door, out, "entity", request, |tenant, request| tenant.entity(&request), show_entity)
}

pub(crate) fn walk(arguments: WalkArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Walk {
        start: arguments.start,
        hops: arguments.hops,
        relations: arguments.relations,
        direction: arguments.direction.unwrap_or_default(),
        top: arguments.top,
        as_of: arguments.as_of,
        known_at: arguments.known_at,
        include: arguments.include,
    };
    verb(door, out, "walk", request, |tenant, request| tenant.walk(&request), show_walked)
}

/// Writes a text, set in, over as many lines as it takes.
fn lines(text: &str, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    wrap(text, COLUMNS - indent).iter().try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
}

fn show_entity(answer: &EntityView, out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim) = (style::STRONG, style::DIM);
    writeln!(out, "{strong}{}{strong:#}", printable(&answer.name))?;
    if !answer.aliases.is_empty() {
        lines(&format!("also {}", printable(&answer.aliases.join(", "))), 3, out)?;
    }
    for attribute in &answer.attributes {
        show_attribute(attribute, out)?;
    }
    for edge in &answer.edges {
        show_edge(edge, out)?;
    }
    let count = answer.cards.count;
    let cards = if count == 1 { "card names" } else { "cards name" };
    writeln!(out, "{dim}{count} {cards} it{dim:#}")?;
    if answer.truncated {
        writeln!(out, "{dim}there is more: --limit shows up to 1,000{dim:#}")?;
    }
    Ok(())
}

fn show_attribute(attribute: &Attribute, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    lines(&format!("{}: {}", printable(&attribute.attribute), printable(&attribute.value)), 3, out)?;
    let since = render::time(attribute.since);
    writeln!(out, "      {dim}since {since} · certain {:.2}{dim:#}", attribute.confidence)?;
    writeln!(out, "      {dim}id {}{dim:#}", attribute.id)?;
    for before in attribute.versions.iter().skip(1) {
        let end = before.to.map(|to| format!(" – {}", render::time(to))).unwrap_or_default();
        let text = format!("was {} ({}{end})", printable(&before.value), render::time(before.from));
        lines(&text, 6, out)?;
    }
    Ok(())
}

fn show_edge(edge: &Edge, out: &mut dyn Write) -> io::Result<()> {
    let dim = style::DIM;
    let arrow = if edge.direction == Direction::In { "←" } else { "→" };
    lines(&format!("{arrow} {:.2}  {}", edge.score, step(&edge.from, &edge.relation, &edge.to)), 3, out)?;
    let times = [("since", edge.since), ("until", edge.until)];
    let times: Vec<String> =
        times.iter().filter_map(|(word, at)| Some(format!("{word} {}", render::time((*at)?)))).collect();
    if !times.is_empty() {
        writeln!(out, "      {dim}{}{dim:#}", times.join(" · "))?;
    }
    writeln!(out, "      {dim}id {}{dim:#}", edge.id)
}

fn step(from: &str, relation: &str, to: &str) -> String {
    printable(&format!("{from} —{relation}→ {to}"))
}

fn show_walked(answer: &Walked, out: &mut dyn Write) -> io::Result<()> {
    let (strong, dim) = (style::STRONG, style::DIM);
    for (number, Path { to, score, edges, .. }) in answer.paths.iter().enumerate() {
        writeln!(out, "{}  {strong}{score:.2}{strong:#}  {}", number + 1, printable(to))?;
        for edge in edges {
            lines(&step(&edge.from, &edge.relation, &edge.to), 9, out)?;
        }
    }
    if answer.paths.is_empty() {
        writeln!(out, "nothing is connected with it")?;
    }
    if answer.truncated {
        writeln!(
            out,
            "{dim}looked at {} relations, and there are more: things may be missing{dim:#}",
            answer.looked_at
        )?;
    }
    Ok(())
}
