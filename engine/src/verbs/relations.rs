//! What `relate`, `entity` and `walk` take and answer.

use serde::{Deserialize, Serialize};

use crate::card::{CardId, Provenance, Role};
use crate::time::Timestamp;
use crate::verbs::Include;

/// Say how one thing relates to another. Only the three names are required.
///
/// It is kept as a card of the category `relation` on the track `entity`. A thing may have any
/// number of each relation: another `to` replaces nothing. The same three names (apart from
/// case, width and blanks) are the same card: told again it counts a mention, and the score,
/// `since` and `until` that are given replace those that are known. Where the two times have
/// nothing in common, it is another card and both are history; told without `until` after it
/// has ended, it holds again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Relate {
    /// Name of the thing that relates (1 to 256 bytes).
    pub from: String,
    /// The relation, such as `works with` (1 to 256 bytes). `alias` and `same as` make two
    /// names of one thing.
    pub relation: String,
    /// Name of the thing it relates to (1 to 256 bytes).
    pub to: String,
    /// How strong it is, 0 to 1; 1 when it was never given. Kept as the attribute `score`.
    pub score: Option<f64>,
    /// From when it holds.
    pub since: Option<Timestamp>,
    /// Until when (exclusive) it holds.
    pub until: Option<Timestamp>,
    /// The conversation it was said in.
    pub session: Option<String>,
    /// The turn within the session; needs `session`.
    pub turn: Option<u32>,
    /// Who said it.
    pub role: Option<Role>,
    /// Name of the speaker.
    pub speaker: Option<String>,
    /// `stated` when absent.
    pub provenance: Option<Provenance>,
    /// 0 to 1; set by the provenance when absent. Below 0.8 it is a candidate, which is not
    /// walked until there is more evidence.
    pub confidence: Option<f32>,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

impl Relate {
    /// A request with nothing but its names.
    pub fn new(from: impl Into<String>, relation: impl Into<String>, to: impl Into<String>) -> Self {
        Self { from: from.into(), relation: relation.into(), to: to.into(), ..Self::default() }
    }
}

/// Read what is known of a thing by its name, and by its other names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entity {
    /// The name; case, width and blanks make no difference.
    pub name: String,
    /// What was true at this instant.
    pub as_of: Option<Timestamp>,
    /// What was recorded by this instant, also where it is forgotten since.
    pub known_at: Option<Timestamp>,
    /// Cards in these states as well: of archived ones also those in the cold tier.
    pub include: Vec<Include>,
    /// Attributes, relations and cards in the answer, of each at most so many, 1 to 1,000; 50
    /// when absent.
    pub limit: Option<usize>,
}

/// Which way relations are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the thing that relates to the one it relates to.
    Out,
    /// The other way.
    In,
    /// Either way.
    #[default]
    Both,
}

/// Follow relations from a thing, and find what it is connected with.
///
/// The score of a path is the product of its relations' scores, times
/// [`DECAY`](crate::recall::DECAY) for each relation after the first. Relations that do not
/// hold yet, or no more, are not followed, nor are forgotten, expired and superseded ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Walk {
    /// Name of the thing at which to start.
    pub start: String,
    /// Relations one after the other, 1 to 4; 2 when absent.
    pub hops: Option<usize>,
    /// Only these relations; all when empty.
    pub relations: Vec<String>,
    /// `both` when absent.
    pub direction: Direction,
    /// Things in the answer, 1 to 1,000; 20 when absent.
    pub top: Option<usize>,
    /// Over what was true at this instant.
    pub as_of: Option<Timestamp>,
    /// Over what was recorded by this instant, also where it is forgotten since.
    pub known_at: Option<Timestamp>,
    /// Over relations in these states as well: of archived ones also those in the cold tier.
    pub include: Vec<Include>,
}

/// One value that an attribute has or had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeVersion {
    /// The value.
    pub value: String,
    /// From when it is true.
    pub from: Timestamp,
    /// Until when (exclusive); absent while it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// The card that says so.
    pub id: CardId,
    /// Its version.
    pub version: u32,
}

/// An attribute of a thing: its value, and those before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attribute {
    /// Name of the attribute.
    pub attribute: String,
    /// The value that holds.
    pub value: String,
    /// The card that says so.
    pub id: CardId,
    /// From when it is true.
    pub since: Timestamp,
    /// How certain it is, 0 to 1.
    pub confidence: f32,
    /// That value, then the earlier ones, the latest first.
    pub versions: Vec<AttributeVersion>,
}

/// A relation, as seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// The card that says so.
    pub id: CardId,
    /// What relates.
    pub from: String,
    /// How.
    pub relation: String,
    /// To what.
    pub to: String,
    /// How strong it is, 0 to 1.
    pub score: f64,
    /// From when it holds, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Until when (exclusive) it holds, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// `out` from the thing asked for, or `in` towards it.
    pub direction: Direction,
}

/// The cards that name a thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EntityCards {
    /// How many there are, relations and attributes included.
    pub count: usize,
    /// The latest of them, the latest first.
    pub latest: Vec<CardId>,
}

/// Answer of `entity`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntityView {
    /// The name as the latest card that has it spells it.
    pub name: String,
    /// Its other names, the nearest first.
    pub aliases: Vec<String>,
    /// Its attributes, by name.
    pub attributes: Vec<Attribute>,
    /// Its relations in both directions, also such as are over; the strongest first, of equal
    /// ones the one recorded last.
    pub edges: Vec<Edge>,
    /// What names it.
    pub cards: EntityCards,
    /// True when there are more attributes or relations than were asked for.
    pub truncated: bool,
}

/// A relation on a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathEdge {
    /// The card that says so.
    pub id: CardId,
    /// What relates, whichever way it was followed.
    pub from: String,
    /// How.
    pub relation: String,
    /// To what.
    pub to: String,
}

/// The best path to one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// Name of the thing.
    pub to: String,
    /// Product of the scores, less what each further relation takes.
    pub score: f64,
    /// How many relations lead there.
    pub hops: usize,
    /// The relations, from the start on.
    pub edges: Vec<PathEdge>,
}

/// Answer of `walk`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Walked {
    /// Each thing that was reached by its best path; the best first, of equal ones the one with
    /// fewer relations, then by name.
    pub paths: Vec<Path>,
    /// Relations that were looked at.
    pub looked_at: usize,
    /// True when there were more relations than are looked at, so that things may be missing.
    pub truncated: bool,
}
