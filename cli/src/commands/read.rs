//! `get`, `list`, `count` and `history`.

use std::io::{self, Write};

use clap::Args;
use memcards::card::CardId;
use memcards::filter::Filter;
use memcards::{Count, Get, History, Include, List, Order, Timestamp};

use super::recall::INCLUDE;
use super::verb;
use crate::arguments::{Json, example, json_names};
use crate::failure::Failure;
use crate::render::{self, style};
use crate::store::Door;

/// Names of [`Order`] in JSON.
const ORDERS: &[&str] = &[
    "-recorded_at",
    "recorded_at",
    "-occurred_at",
    "occurred_at",
    "-updated_at",
    "-importance",
    "-confidence",
];

#[derive(Args)]
#[command(after_help = example!("memcards get 0187d63c82c0000000400021a7f3c9e4"))]
pub(crate) struct GetArguments {
    /// The card
    id: CardId,
    /// As it was recorded at this instant
    #[arg(long, value_name = "TIME")]
    known_at: Option<Timestamp>,
    /// State beyond the visible ones: forgotten
    #[arg(long, value_name = "STATE", value_parser = json_names::<Include>(INCLUDE))]
    include: Vec<Include>,
}

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards list --filter '{"field":"category","eq":"preference"}' --order -importance"#,
    r#"memcards list --filter '{"and":[{"field":"tags","contains":"kiln"},{"field":"occurred_at","gte":"2025-03-01T00:00:00Z"}]}'"#
))]
pub(crate) struct ListArguments {
    /// Condition that every card satisfies, as JSON
    #[arg(long, value_name = "JSON")]
    filter: Option<Json<Filter>>,
    /// Order; `-` is descending [default: -recorded_at]
    #[arg(long, allow_hyphen_values = true, value_parser = json_names::<Order>(ORDERS))]
    order: Option<Order>,
    /// Cards per page, 1 to 1,000 [default: 50]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Where the last page ended, as it was answered
    #[arg(long)]
    cursor: Option<String>,
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
}

#[derive(Args)]
#[command(after_help = example!(
    r#"memcards count --filter '{"field":"speaker","contains":"Mira"}'"#
))]
pub(crate) struct CountArguments {
    /// Condition that every card satisfies, as JSON
    #[arg(long, value_name = "JSON")]
    filter: Option<Json<Filter>>,
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
}

#[derive(Args)]
#[command(after_help = example!("memcards history 0187d63c82c0000000400021a7f3c9e4"))]
pub(crate) struct HistoryArguments {
    /// The card, also a forgotten one; cards that replaced each other have one history, from which
    /// other forgotten cards are left out
    id: CardId,
}

pub(crate) fn get(arguments: GetArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Get { id: arguments.id, known_at: arguments.known_at, include: arguments.include };
    verb(door, out, "get", request, |tenant, request| tenant.get(&request), render::whole_card)
}

pub(crate) fn list(arguments: ListArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = List {
        filter: arguments.filter.map(|json| json.0),
        order: arguments.order.unwrap_or_default(),
        limit: arguments.limit,
        cursor: arguments.cursor,
        as_of: arguments.as_of,
        known_at: arguments.known_at,
        include: arguments.include,
        min_confidence: arguments.min_confidence,
    };
    verb(
        door,
        out,
        "list",
        request,
        |tenant, request| tenant.list(&request),
        |page, out| {
            for card in &page.cards {
                render::card(card, out)?;
            }
            if page.cards.is_empty() {
                writeln!(out, "no cards")?;
            }
            if let Some(cursor) = &page.cursor {
                let dim = style::DIM;
                writeln!(out, "{dim}more: --cursor {cursor}{dim:#}")?;
            }
            Ok(())
        },
    )
}

pub(crate) fn count(arguments: CountArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = Count {
        filter: arguments.filter.map(|json| json.0),
        as_of: arguments.as_of,
        known_at: arguments.known_at,
        include: arguments.include,
        min_confidence: arguments.min_confidence,
    };
    let show = |count: &u64, out: &mut dyn Write| writeln!(out, "{count}");
    verb(door, out, "count", request, |tenant, request| tenant.count(&request), show)
}

pub(crate) fn history(arguments: HistoryArguments, door: &Door, out: &mut dyn Write) -> Result<(), Failure> {
    let request = History { id: arguments.id };
    verb(door, out, "history", request, |tenant, request| tenant.history(&request), show_history)
}

/// Shows every version, oldest first.
pub(crate) fn show_history(answer: &memcards::HistoryAnswer, out: &mut dyn Write) -> io::Result<()> {
    answer.versions.iter().try_for_each(|version| render::version(version, out))
}
