//! `correct`, `forget` and `restore`.

use std::io::{self, Write};

use clap::Args;
use memcards::calendar::Zone;
use memcards::card::{CardId, Polarity, Provenance};
use memcards::filter::Filter;
use memcards::{
    Correct, Corrected, Error, Forget, Forgotten, Get, How, Include, Restore, Restored, RunId, Skipped,
    Tenant, Timestamp,
};
use serde_json::{Map, Value};

use super::remember::{fact, show_affected};
use super::verb;
use crate::arguments::{Json, example, json_names, names};
use crate::failure::Failure;
use crate::render::table::{counted, cut, days};
use crate::render::{self, style};
use crate::store::Door;

/// Cards that a table shows.
const LISTED: usize = 50;

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards correct 0187d63c82c0000000400021a7f3c9e4 --content "The key is in the drawer." --reason moved"#
))]
pub(crate) struct CorrectArguments {
    /// The card
    id: CardId,
    /// Refuse unless this is its current version
    #[arg(long, value_name = "NUMBER")]
    version: Option<u32>,
    /// The old card was wrong, is narrowed, or stays beside the new one [default: negation]
    #[arg(long, value_parser = json_names::<How>(&["negation", "scope", "ambiguous"]))]
    how: Option<How>,
    /// New text
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// New short form
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// New typed fact
    #[arg(long, num_args = 3, value_names = ["ENTITY", "ATTRIBUTE", "VALUE"])]
    fact: Option<Vec<String>>,
    /// New polarity
    #[arg(long, value_parser = names!(Polarity))]
    polarity: Option<Polarity>,
    /// New category
    #[arg(long)]
    category: Option<String>,
    /// New list of entities (repeat for more)
    #[arg(long, value_name = "NAME")]
    entities: Option<Vec<String>>,
    /// New list of tags (repeat for more)
    #[arg(long, value_name = "TAG")]
    tags: Option<Vec<String>>,
    /// New attributes, as a JSON object
    #[arg(long, value_name = "JSON")]
    attributes: Option<Json<Map<String, Value>>>,
    /// New merge key
    #[arg(long, value_name = "KEY")]
    merge_key: Option<String>,
    /// New event time
    #[arg(long, value_name = "TIME")]
    occurred_at: Option<Timestamp>,
    /// Zone in which times in the new content are meant: an IANA name or an offset [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<Zone>,
    /// New start of validity
    #[arg(long, value_name = "TIME")]
    valid_from: Option<Timestamp>,
    /// New end of validity
    #[arg(long, value_name = "TIME")]
    valid_to: Option<Timestamp>,
    /// New expiry
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Timestamp>,
    /// New importance, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f32>,
    /// New confidence, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    confidence: Option<f32>,
    /// New provenance
    #[arg(long, value_parser = names!(Provenance))]
    provenance: Option<Provenance>,
    /// New pin: true or false
    #[arg(long)]
    pinned: Option<bool>,
    /// Field to empty: summary, fact, merge_key, valid_from, valid_to, expires_at (repeat for more)
    #[arg(long, value_name = "FIELD")]
    clear: Vec<String>,
    /// Vector of the new content, as a JSON array of numbers
    #[arg(long, value_name = "JSON")]
    vector: Option<Json<Vec<f32>>>,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
#[command(after_help = example!(
    "memcards forget 0187d63c82c0000000400021a7f3c9e4 --reason asked",
    r#"memcards forget --filter '{"field":"session","eq":"kickoff"}' --dry-run"#,
    r#"memcards forget --about "Otto Lang" --dry-run"#
))]
pub(crate) struct ForgetArguments {
    /// The cards
    #[arg(value_name = "ID")]
    ids: Vec<CardId>,
    /// All cards that satisfy a condition instead, as JSON
    #[arg(long, value_name = "JSON")]
    filter: Option<Json<Filter>>,
    /// All cards about somebody or something instead, under any name that is known for it
    #[arg(long, value_name = "NAME")]
    about: Option<String>,
    /// Only say what would be forgotten
    #[arg(long)]
    dry_run: bool,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Args)]
#[command(after_help = example!(
    "memcards restore 0187d63c82c0000000400021a7f3c9e4",
    "memcards restore --run run-0123456789abcdef"
))]
pub(crate) struct RestoreArguments {
    /// The cards
    #[arg(value_name = "ID", required_unless_present = "run")]
    ids: Vec<CardId>,
    /// All that a run has forgotten instead, as `forget` named it
    #[arg(long, value_name = "RUN", conflicts_with = "ids")]
    run: Option<RunId>,
    /// Who asks, for the history
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn correct(arguments: CorrectArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Correct {
        id: arguments.id,
        version: arguments.version,
        how: arguments.how.unwrap_or_default(),
        content: arguments.content,
        summary: arguments.summary,
        fact: arguments.fact.and_then(fact),
        polarity: arguments.polarity,
        category: arguments.category,
        entities: arguments.entities,
        tags: arguments.tags,
        attributes: arguments.attributes.map(|json| json.0),
        merge_key: arguments.merge_key,
        occurred_at: arguments.occurred_at,
        zone: arguments.zone,
        valid_from: arguments.valid_from,
        valid_to: arguments.valid_to,
        expires_at: arguments.expires_at,
        importance: arguments.importance,
        confidence: arguments.confidence,
        provenance: arguments.provenance,
        pinned: arguments.pinned,
        clear: arguments.clear,
        vector: arguments.vector.map(|json| json.0),
        actor: arguments.actor,
        reason: arguments.reason,
    };
    verb(door, out, "correct", request, |tenant, request| tenant.correct(request), show_corrected)
}

/// Shows which card holds a correction.
pub(crate) fn show_corrected(answer: &Corrected, out: &mut dyn Write) -> io::Result<()> {
    let (good, dim) = (style::GOOD, style::DIM);
    let edited = answer.affected.iter().any(|card| card.id == answer.id && card.change == "edited");
    let word = if edited { "edited" } else { "corrected; a new card holds it" };
    writeln!(out, "{good}{word}{good:#}")?;
    writeln!(out, "   {dim}id {} · version {}{dim:#}", answer.id, answer.version)?;
    show_affected(answer.id, &answer.affected, out)?;
    render::degraded(&answer.degraded, out)
}

pub(crate) fn forget(arguments: ForgetArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Forget {
        id: None,
        ids: arguments.ids,
        filter: arguments.filter.map(|json| json.0),
        about: arguments.about,
        dry_run: arguments.dry_run,
        actor: arguments.actor,
        reason: arguments.reason,
    };
    if request.dry_run && !door.json {
        let tenant = door.tenant()?;
        let answer = tenant.forget(request)?;
        return show_dry_run(&answer, &tenant, out);
    }
    let show = |answer: &Forgotten, out: &mut dyn Write| show_forgotten(answer, &door.program, out);
    verb(door, out, "forget", request, |tenant, request| tenant.forget(request), show)
}

/// Shows which cards are forgotten, and how to take it back.
pub(crate) fn show_forgotten(answer: &Forgotten, program: &str, out: &mut dyn Write) -> io::Result<()> {
    show_changed(&answer.forgotten, "forgotten", out)?;
    show_changed(&answer.detached, "said elsewhere too: only those sources go", out)?;
    show_skipped(&answer.skipped, out)?;
    show_none(answer, out)?;
    if let Some(run) = &answer.run {
        let strong = style::STRONG;
        writeln!(out, "take it back: {strong}{program}undo {run}{strong:#}")?;
    }
    Ok(())
}

fn show_none(answer: &Forgotten, out: &mut dyn Write) -> io::Result<()> {
    match answer.forgotten.is_empty() && answer.detached.is_empty() && answer.skipped.is_empty() {
        true => writeln!(out, "no card satisfies the condition; nothing forgotten"),
        false => Ok(()),
    }
}

/// Shows which cards would be forgotten, as a table.
fn show_dry_run(answer: &Forgotten, tenant: &Tenant, out: &mut dyn Write) -> Result<(), Failure> {
    let now = tenant.store().clock().now();
    let lists = [
        ("would be forgotten", &answer.forgotten),
        ("said elsewhere too: only those sources would go", &answer.detached),
    ];
    for (word, ids) in lists.into_iter().filter(|(_, ids)| !ids.is_empty()) {
        let (good, dim) = (style::GOOD, style::DIM);
        writeln!(out, "{good}{word}{good:#}: {}", counted(ids.len() as u64, "card"))?;
        writeln!(out, "{dim}{:<32}  {:<12} {:>6}  beginning{dim:#}", "id", "category", "age")?;
        for id in ids.iter().take(LISTED) {
            let include = vec![Include::Candidates, Include::Superseded, Include::Archived];
            let card = match tenant.get(&Get { id: *id, include, ..Get::default() }) {
                Ok(card) => card,
                // Expired: there is nothing to show of it any more.
                Err(Error::NotFound { .. }) => {
                    writeln!(out, "{id}")?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let category = cut(&card.category, 12);
            let fill = " ".repeat(12usize.saturating_sub(render::width(&category)));
            let age = days(now.hours_since(card.reference()) / 24.0);
            writeln!(out, "{id}  {category}{fill} {age:>6}  {}", cut(&card.content, 25))?;
        }
        if ids.len() > LISTED {
            writeln!(out, "{dim}… and {} more; --json names them all{dim:#}", ids.len() - LISTED)?;
        }
    }
    show_skipped(&answer.skipped, out)?;
    Ok(show_none(answer, out)?)
}

pub(crate) fn restore(arguments: RestoreArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Restore {
        id: None,
        ids: arguments.ids,
        run: arguments.run,
        actor: arguments.actor,
        reason: arguments.reason,
    };
    verb(door, out, "restore", request, |tenant, request| tenant.restore(request), show_restored)
}

/// Shows which cards are back.
pub(crate) fn show_restored(answer: &Restored, out: &mut dyn Write) -> io::Result<()> {
    show_changed(&answer.restored, "restored", out)?;
    show_changed(&answer.lifted, "gone for good; may be told again", out)?;
    show_skipped(&answer.skipped, out)
}

fn show_changed(ids: &[CardId], word: &str, out: &mut dyn Write) -> io::Result<()> {
    let good = style::GOOD;
    ids.iter().try_for_each(|id| writeln!(out, "{good}{word}{good:#}  {id}"))
}

fn show_skipped(skipped: &[Skipped], out: &mut dyn Write) -> io::Result<()> {
    skipped.iter().try_for_each(|card| writeln!(out, "left alone ({})  {}", why(&card.why), card.id))
}

/// Why a card was left alone, in words.
pub(crate) fn why(reason: &str) -> &str {
    match reason {
        "already_forgotten" => "was forgotten already",
        "not_forgotten" => "is not forgotten",
        "pinned" => "is pinned",
        "changed" => "has changed meanwhile",
        "said_again" => "was said again since",
        "replaced" => "was replaced since",
        "purged" => "is purged",
        "gone" => "is gone",
        "longer_name" => "seems to be about somebody with a longer name; forget it by its id if it is meant",
        "within_budget" => "is not too many any more",
        other => other,
    }
}
