//! What each verb takes. Field names, defaults and limits are the same in every way in.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calendar::Zone;
use crate::card::{CardId, Fact, Link, Polarity, Provenance, Role, State, Track};
use crate::filter::Filter;
use crate::recall::Weights;
use crate::time::{Duration, Timestamp};
use crate::verbs::RunId;

/// Store one memory. Only `content` is required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Remember {
    /// The text, kept exactly as given (1 byte to 64 KiB, not blank).
    pub content: String,
    /// Track; `episodic` when a turn is given, else `semantic`.
    pub track: Option<Track>,
    /// Category; `conversation` when a turn is given, else `knowledge`. A card of the category
    /// `relation` with a fact is an edge, as `relate` makes it.
    pub category: Option<String>,
    /// Short form for prompts.
    pub summary: Option<String>,
    /// The typed fact the content states. A newer value of the same entity and attribute
    /// replaces the older one, unless the category is `relation`.
    pub fact: Option<Fact>,
    /// `affirmed` (default) or `excluded`.
    pub polarity: Option<Polarity>,
    /// People, projects, products, order numbers.
    pub entities: Vec<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Free JSON.
    pub attributes: Map<String, Value>,
    /// When it happened; now when absent.
    pub occurred_at: Option<Timestamp>,
    /// Zone in which times in the content are meant ("yesterday"): an IANA name or an offset;
    /// UTC when absent.
    pub zone: Option<Zone>,
    /// From when the content is true.
    pub valid_from: Option<Timestamp>,
    /// Until when (exclusive) it is true.
    pub valid_to: Option<Timestamp>,
    /// Time to live from now; instead of `expires_at`.
    pub ttl: Option<Duration>,
    /// Instant from which no read returns the card. Of two statements of the same the later
    /// expiry holds, and none at all above all.
    pub expires_at: Option<Timestamp>,
    /// 0 to 1; 0.5 when absent.
    pub importance: Option<f32>,
    /// 0 to 1; set by the provenance when absent.
    pub confidence: Option<f32>,
    /// `stated` when absent.
    pub provenance: Option<Provenance>,
    /// Key under which a newer card replaces this one.
    pub merge_key: Option<String>,
    /// The conversation it was said in.
    pub session: Option<String>,
    /// The turn within the session; needs `session`.
    pub turn: Option<u32>,
    /// Who produced the text.
    pub role: Option<Role>,
    /// Name of the speaker.
    pub speaker: Option<String>,
    /// What extracted the card.
    pub extractor: Option<String>,
    /// A second request with the same key in the same tenant changes nothing and answers
    /// with the card of the first.
    pub idempotency_key: Option<String>,
    /// The content's vector, for stores that hold caller-supplied vectors.
    pub vector: Option<Vec<f32>>,
    /// Links to cards of the tenant.
    pub links: Vec<Link>,
    /// Never touched by forgetting rules.
    pub pinned: bool,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// States that a read leaves out unless asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Include {
    /// Cards that a newer one replaced.
    Superseded,
    /// Cards in the cold tier.
    Archived,
    /// Weakly evidenced cards.
    Candidates,
    /// Soft-deleted cards.
    Forgotten,
}

impl Include {
    /// The state this lets in.
    pub const fn state(self) -> State {
        match self {
            Self::Superseded => State::Superseded,
            Self::Archived => State::Archived,
            Self::Candidates => State::Candidate,
            Self::Forgotten => State::Forgotten,
        }
    }
}

/// Find the cards that answer a question. A query, a vector, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recall {
    /// The question as plain text; never read as a filter or a query language.
    pub query: Option<String>,
    /// The question's vector, for stores that hold caller-supplied vectors.
    pub vector: Option<Vec<f32>>,
    /// Hits wanted, 1 to 1,000; 5 when absent.
    pub top: Option<usize>,
    /// Tracks to search; all when empty.
    pub tracks: Vec<Track>,
    /// Categories to search; all when empty.
    pub categories: Vec<String>,
    /// Condition that every hit satisfies.
    pub filter: Option<Filter>,
    /// Only cards that name one of these entities.
    pub entities: Vec<String>,
    /// Only what happened at or after this instant.
    pub since: Option<Timestamp>,
    /// Only what happened before this instant.
    pub until: Option<Timestamp>,
    /// Zone in which times in the question are meant ("last week"): an IANA name or an offset;
    /// UTC when absent.
    pub zone: Option<Zone>,
    /// What was true at this instant.
    pub as_of: Option<Timestamp>,
    /// What was recorded by this instant, also where it is forgotten since.
    pub known_at: Option<Timestamp>,
    /// States beyond `active`.
    pub include: Vec<Include>,
    /// Least confidence of a card at the instant of the read, 0 to 1: `effective_confidence`.
    pub min_confidence: Option<f32>,
    /// Least score of a hit, 0 to 1.
    pub min_score: Option<f32>,
    /// Name of a preset of weights; `default` when absent.
    pub preset: Option<String>,
    /// Weights instead of a preset.
    pub weights: Option<Weights>,
    /// Show the parts of each score.
    pub explain: bool,
}

/// Read one card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Get {
    /// The card.
    pub id: CardId,
    /// As it was recorded at this instant.
    pub known_at: Option<Timestamp>,
    /// States beyond the visible ones (`forgotten`).
    pub include: Vec<Include>,
}

/// Order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Newest recorded first.
    #[default]
    #[serde(rename = "-recorded_at")]
    NewestFirst,
    /// Oldest recorded first.
    #[serde(rename = "recorded_at")]
    OldestFirst,
    /// Latest event first.
    #[serde(rename = "-occurred_at")]
    LatestEvent,
    /// Earliest event first.
    #[serde(rename = "occurred_at")]
    EarliestEvent,
    /// Latest change first.
    #[serde(rename = "-updated_at")]
    LatestChange,
    /// Most important first, by what is stored: pages stay in their order as time goes by.
    #[serde(rename = "-importance")]
    MostImportant,
    /// Most certain first, by what is stored.
    #[serde(rename = "-confidence")]
    MostConfident,
}

/// Read cards page by page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct List {
    /// Condition that every card satisfies.
    pub filter: Option<Filter>,
    /// `-recorded_at` when absent.
    pub order: Order,
    /// Cards per page, 1 to 1,000; 50 when absent.
    pub limit: Option<usize>,
    /// Where the last page ended, as it was answered.
    pub cursor: Option<String>,
    /// What was true at this instant.
    pub as_of: Option<Timestamp>,
    /// What was recorded by this instant, also where it is forgotten since.
    pub known_at: Option<Timestamp>,
    /// States beyond `active`.
    pub include: Vec<Include>,
    /// Least confidence of a card at the instant of the read, 0 to 1: `effective_confidence`.
    pub min_confidence: Option<f32>,
}

/// Count cards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Count {
    /// Condition that every card satisfies.
    pub filter: Option<Filter>,
    /// What was true at this instant.
    pub as_of: Option<Timestamp>,
    /// What was recorded by this instant, also where it is forgotten since.
    pub known_at: Option<Timestamp>,
    /// States beyond `active`.
    pub include: Vec<Include>,
    /// Least confidence of a card at the instant of the read, 0 to 1: `effective_confidence`.
    pub min_confidence: Option<f32>,
}

/// How a correction relates to what it corrects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The old card was wrong or no longer holds: it is superseded.
    #[default]
    Negation,
    /// The new card is narrower: the old one still holds elsewhere.
    Scope,
    /// Both stay; the later one ranks first.
    Ambiguous,
}

/// Put a card right. Fields that are absent stay as they are.
///
/// A new content, fact or polarity makes a new card linked to the old one (see [`How`]);
/// other fields make a new version of the same card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Correct {
    /// The card.
    pub id: CardId,
    /// Refuse unless this is its current version.
    pub version: Option<u32>,
    /// `negation` when absent.
    pub how: How,
    /// New text.
    pub content: Option<String>,
    /// New short form.
    pub summary: Option<String>,
    /// New typed fact.
    pub fact: Option<Fact>,
    /// New polarity.
    pub polarity: Option<Polarity>,
    /// New category.
    pub category: Option<String>,
    /// New list of entities.
    pub entities: Option<Vec<String>>,
    /// New list of tags.
    pub tags: Option<Vec<String>>,
    /// New attributes.
    pub attributes: Option<Map<String, Value>>,
    /// New merge key.
    pub merge_key: Option<String>,
    /// New event time.
    pub occurred_at: Option<Timestamp>,
    /// Zone in which times in the new content are meant: an IANA name or an offset; UTC when absent.
    pub zone: Option<Zone>,
    /// New start of validity.
    pub valid_from: Option<Timestamp>,
    /// New end of validity.
    pub valid_to: Option<Timestamp>,
    /// New expiry.
    pub expires_at: Option<Timestamp>,
    /// New importance, 0 to 1.
    pub importance: Option<f32>,
    /// New confidence, 0 to 1.
    pub confidence: Option<f32>,
    /// New provenance.
    pub provenance: Option<Provenance>,
    /// New pin.
    pub pinned: Option<bool>,
    /// Optional fields to empty: `summary`, `fact`, `merge_key`, `valid_from`, `valid_to`,
    /// `expires_at`.
    pub clear: Vec<String>,
    /// Vector of the new content, for stores that hold caller-supplied vectors.
    pub vector: Option<Vec<f32>>,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// Read every version of a card, and of the cards it replaced or was replaced by. A forgotten
/// card is shown when it is the one asked for: this is the record of who changed what and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct History {
    /// The card.
    pub id: CardId,
}

/// Soft-delete cards: by `id`, by `ids`, by `filter`, or by what they are `about` (exactly one
/// of them).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Forget {
    /// One card.
    pub id: Option<CardId>,
    /// Several cards.
    pub ids: Vec<CardId>,
    /// All cards that satisfy a condition. A card that was also said in another session
    /// than the condition names keeps those sources and stays.
    pub filter: Option<Filter>,
    /// All cards about somebody or something: those that name it as entity, in their fact, tags
    /// or merge key, or in their text, under this name or another one that is known for it.
    pub about: Option<String>,
    /// Only say what would be forgotten.
    pub dry_run: bool,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}

/// Bring back forgotten cards: by `id`, by `ids`, or all that a `run` has forgotten.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Restore {
    /// One card.
    pub id: Option<CardId>,
    /// Several cards.
    pub ids: Vec<CardId>,
    /// All cards of a run; see `undo`.
    pub run: Option<RunId>,
    /// Who asks, for the history.
    pub actor: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
}
