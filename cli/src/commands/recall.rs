//! `recall`.

use std::io::Write;

use clap::Args;
use memcards::calendar::Zone;
use memcards::card::Track;
use memcards::filter::Filter;
use memcards::recall::Weights;
use memcards::{Include, Recall, Recalled, Timestamp};

use super::verb;
use crate::arguments::{Json, example, json_names, names};
use crate::failure::Failure;
use crate::render::{self, style};
use crate::store::Door;

/// Names of [`Include`] in JSON.
pub(crate) const INCLUDE: &[&str] = &["superseded", "archived", "candidates", "forgotten"];

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards recall "where is the spare key?" --top 3 --explain"#,
    r#"memcards recall "钥匙在哪里" --since 2025-03-01T00:00:00+08:00"#
))]
pub(crate) struct RecallArguments {
    /// The question as plain text
    pub(crate) query: Vec<String>,
    /// The question's vector, as a JSON array of numbers
    #[arg(long, value_name = "JSON")]
    vector: Option<Json<Vec<f32>>>,
    /// Hits wanted, 1 to 1,000 [default: 5]
    #[arg(long, value_name = "NUMBER")]
    top: Option<usize>,
    /// Track to search (repeat for more) [default: all]
    #[arg(long, value_name = "TRACK", value_parser = names!(Track))]
    tracks: Vec<Track>,
    /// Category to search (repeat for more) [default: all]
    #[arg(long, value_name = "CATEGORY")]
    categories: Vec<String>,
    /// Condition that every hit satisfies, as JSON
    #[arg(long, value_name = "JSON")]
    filter: Option<Json<Filter>>,
    /// Only cards that name this entity (repeat for more)
    #[arg(long, value_name = "NAME")]
    entities: Vec<String>,
    /// Only what happened at or after this instant
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Only what happened before this instant
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Zone in which times in the question are meant: an IANA name or an offset [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<Zone>,
    /// What was true at this instant
    #[arg(long, value_name = "TIME")]
    as_of: Option<Timestamp>,
    /// What was recorded by this instant, also where it is forgotten since
    #[arg(long, value_name = "TIME")]
    known_at: Option<Timestamp>,
    /// State beyond active (repeat for more)
    #[arg(long, value_name = "STATE", value_parser = json_names::<Include>(INCLUDE))]
    include: Vec<Include>,
    /// Least confidence of a card by now, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_confidence: Option<f32>,
    /// Least score of a hit, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_score: Option<f32>,
    /// Name of a preset of weights: default, timeline, rule, dialogue, card
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Weights instead of a preset, as JSON
    #[arg(long, value_name = "JSON")]
    weights: Option<Json<Weights>>,
    /// Show what each score is made of
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(arguments: RecallArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Recall {
        query: (!arguments.query.is_empty()).then(|| arguments.query.join(" ")),
        vector: arguments.vector.map(|json| json.0),
        top: arguments.top,
        tracks: arguments.tracks,
        categories: arguments.categories,
        filter: arguments.filter.map(|json| json.0),
        entities: arguments.entities,
        since: arguments.since,
        until: arguments.until,
        zone: arguments.zone,
        as_of: arguments.as_of,
        known_at: arguments.known_at,
        include: arguments.include,
        min_confidence: arguments.min_confidence,
        min_score: arguments.min_score,
        preset: arguments.preset,
        weights: arguments.weights.map(|json| json.0),
        explain: arguments.explain,
    };
    verb(door, out, "recall", request, |tenant, request| tenant.recall(request), show)
}

fn show(answer: &Recalled, out: &mut dyn Write) -> std::io::Result<()> {
    let dim = style::DIM;
    for (number, hit) in answer.hits.iter().enumerate() {
        render::hit(number + 1, hit, out)?;
        render::parts(hit, out)?;
    }
    if answer.hits.is_empty() {
        writeln!(out, "nothing found")?;
    }
    if answer.hits.iter().any(|hit| hit.parts.is_some()) {
        let searched = &answer.searched;
        write!(out, "{dim}searched {} cards", searched.candidates)?;
        write!(out, " by {}", searched.legs.join(" and "))?;
        if !searched.terms.is_empty() {
            write!(out, "; words: {}", render::printable(&searched.terms.join(", ")))?;
        }
        if !searched.speakers.is_empty() {
            write!(out, "; speaker: {}", render::printable(&searched.speakers.join(", ")))?;
        }
        writeln!(out, "{dim:#}")?;
    }
    render::degraded(&answer.degraded, out)
}
