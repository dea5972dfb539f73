//! The memory card: its fields, tracks, states, and the rules a card must satisfy.
//!
//! One card is one unit that can be retrieved on its own. This room knows nothing of
//! storage, indexes or recall.

mod id;
mod validate;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::Timestamp;

pub use id::CardId;
pub use validate::Limits;
pub(crate) use validate::{check_tenant_name, check_vector};

/// Declares an enum whose variants have one lower-case name, used in JSON, filters, the
/// command line and (by number) in records.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every variant, in order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name used in JSON, filters and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The variant with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }

            /// The number used in records; never reused for something else.
            #[allow(dead_code, reason = "not every one stands in records")]
            pub(crate) const fn number(self) -> u8 {
                match self { $(Self::$variant => $number),+ }
            }

            /// The variant with that number.
            #[allow(dead_code, reason = "not every one stands in records")]
            pub(crate) const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use named_enum;

named_enum! {
    /// What kind of memory a card is. Each track has its own index.
    Track {
        /// What happened, with a strong sense of time.
        Episodic = 0 "episodic",
        /// Facts, rules and preferences, stripped of the moment.
        Semantic = 1 "semantic",
        /// Attributes and relations of people, organisations, devices, products.
        Entity = 2 "entity",
        /// How to do a thing.
        Procedural = 3 "procedural",
    }
}

named_enum! {
    /// Where a card is in its life.
    State {
        /// Weakly evidenced; not recalled until seen again or confirmed.
        Candidate = 0 "candidate",
        /// Believed, and recalled.
        Active = 1 "active",
        /// Replaced by a newer card; kept as history.
        Superseded = 2 "superseded",
        /// In the cold tier.
        Archived = 3 "archived",
        /// Soft-deleted; can be restored.
        Forgotten = 4 "forgotten",
    }
}

named_enum! {
    /// Whether the card affirms its content or excludes it ("never model B").
    Polarity {
        /// The content holds.
        Affirmed = 0 "affirmed",
        /// The content must not happen or be recommended.
        Excluded = 1 "excluded",
    }
}

named_enum! {
    /// How a card came to be believed; sets its initial confidence.
    Provenance {
        /// Confirmed by the user on being asked: confidence 1.0.
        Confirmed = 0 "confirmed",
        /// Said by the user: 0.8.
        Stated = 1 "stated",
        /// Concluded from what was said: 0.5.
        Inferred = 2 "inferred",
        /// Said or concluded, then overturned: 0.1.
        Overturned = 3 "overturned",
    }
}

impl Provenance {
    /// The confidence a card starts with.
    pub const fn confidence(self) -> f32 {
        match self {
            Self::Confirmed => 1.0,
            Self::Stated => STATED_CONFIDENCE,
            Self::Inferred => 0.5,
            Self::Overturned => 0.1,
        }
    }
}

/// Confidence of a plain statement. A card below it is a candidate; repetition raises a
/// card to it and never above, so that recalled text fed back cannot inflate itself.
pub const STATED_CONFIDENCE: f32 = 0.8;

named_enum! {
    /// Who produced the text of a card.
    Role {
        /// The person.
        User = 0 "user",
        /// The agent.
        Assistant = 1 "assistant",
        /// Instructions to the agent.
        System = 2 "system",
        /// Output of a tool.
        Tool = 3 "tool",
    }
}

named_enum! {
    /// What kind of thing a name in a text is the name of.
    MentionKind {
        /// A person.
        Person = 0 "person",
        /// A company, authority, school, …
        Organisation = 1 "organisation",
        /// A city, country, street, …
        Place = 2 "place",
        /// A product or model.
        Product = 3 "product",
        /// An order number, a ticket, a version, …
        Identifier = 4 "identifier",
        /// A title of a book, film, song, …
        Title = 5 "title",
        /// An address to write to or to open.
        Contact = 6 "contact",
        /// It cannot be told.
        Other = 7 "other",
    }
}

named_enum! {
    /// How two cards relate.
    LinkKind {
        /// They concern the same thing.
        Related = 0 "related",
        /// This card replaced the other one.
        Supersedes = 1 "supersedes",
        /// The other card replaced this one.
        SupersededBy = 2 "superseded_by",
        /// They contradict each other and neither replaced the other: the later ranks first.
        ConflictsWith = 3 "conflicts_with",
        /// This card narrows the other one, which still holds elsewhere.
        Narrows = 4 "narrows",
        /// The other card narrows this one.
        NarrowedBy = 5 "narrowed_by",
        /// This card takes the other one's place when its validity begins.
        Succeeds = 6 "succeeds",
        /// The other card takes this one's place when this one's validity ends.
        SucceededBy = 7 "succeeded_by",
    }
}

impl LinkKind {
    /// The kind of the same link seen from the other card.
    pub const fn reverse(self) -> Self {
        match self {
            Self::Related => Self::Related,
            Self::ConflictsWith => Self::ConflictsWith,
            Self::Supersedes => Self::SupersededBy,
            Self::SupersededBy => Self::Supersedes,
            Self::Succeeds => Self::SucceededBy,
            Self::SucceededBy => Self::Succeeds,
            Self::Narrows => Self::NarrowedBy,
            Self::NarrowedBy => Self::Narrows,
        }
    }
}

/// A link from one card to another of the same tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The other card.
    pub to: CardId,
    /// How this card relates to it.
    pub kind: LinkKind,
}

/// A typed fact: an attribute of an entity has a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Whose attribute (1 to 256 bytes).
    pub entity: String,
    /// Which attribute (1 to 256 bytes).
    pub attribute: String,
    /// Its value (1 to 2,048 bytes).
    pub value: String,
}

/// One place where a card's content was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn within it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Who produced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Name of the speaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// When it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
}

/// A time that a content names, as it was understood when it was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSpan {
    /// The words.
    pub phrase: String,
    /// The first instant; absent where it has no beginning ("until June").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// The first instant after it; absent where it has no end ("since 2020").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

/// Somebody or something that a content mentions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mention {
    /// The name as it is written.
    pub name: String,
    /// What kind of thing it is, as far as can be told.
    pub kind: MentionKind,
}

/// Who changed a card, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reason {
    /// What happened: `created`, `merged`, `superseded`, `edited`, `forgotten`, `restored`, …
    pub action: String,
    /// Who asked for it, as the caller names itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Why, in the caller's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// One version of a memory card.
///
/// Optional fields that are absent are left out of JSON. Times are UTC microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Identifier, the same for all versions.
    pub id: CardId,
    /// Number of this version, from 1.
    pub version: u32,
    /// The track whose index holds the card.
    pub track: Track,
    /// Category: one of [`category::BUILT_IN`] or the application's own (1 to 64 bytes).
    pub category: String,
    /// The text, exactly as given (1 byte to 64 KiB).
    pub content: String,
    /// A short form for prompts (at most 2 KiB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The typed fact the content states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<Fact>,
    /// Affirmed or excluded.
    pub polarity: Polarity,
    /// People, projects, products, order numbers (at most 64 of 256 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// Names that were found in the content when it was written (at most 32 of 256 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Times that the content names, as understood when it was told (at most 16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<TimeSpan>,
    /// Labels (at most 64 of 256 bytes).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Free JSON (at most 16 KiB as text).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
    /// Key under which a newer card replaces an older one, such as `preference.style.tone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_key: Option<String>,
    /// Links to other cards of the tenant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// How the card came to be believed.
    pub provenance: Provenance,
    /// Where it was said, first source first (that one and the latest 63 are kept). An empty
    /// one stands for mentions that named no source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// What extracted the card from its source, where something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor: Option<String>,
    /// Position in the journal that the card was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<u64>,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// When the card was first written.
    pub recorded_at: Timestamp,
    /// When this version was written.
    pub updated_at: Timestamp,
    /// When it was last used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// When it was last told again, confirmed, restored or used since it was recorded; what
    /// decays counts from here. See [`Card::reference`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reinforced_at: Option<Timestamp>,
    /// How often it was used.
    pub access_count: u32,
    /// How often it was said.
    pub mention_count: u32,
    /// From this instant on no read returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// From when the content is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when (exclusive) the content is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// 0 to 1.
    pub importance: f32,
    /// 0 to 1.
    pub confidence: f32,
    /// Never touched by forgetting rules.
    pub pinned: bool,
    /// Where the card is in its life.
    pub state: State,
    /// The state it had before it was forgotten, for restoring it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_before: Option<State>,
    /// Version whose content the stored vector belongs to; 0 when there is no vector.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub vector_version: u32,
    /// Who made this version, and why.
    pub reason: Reason,
}

/// What the extractor of cards that sum others up is called.
pub(crate) const CONSOLIDATION: &str = "consolidation";
/// How the merge keys of these cards begin.
pub(crate) const CONSOLIDATED: &str = "consolidated.";

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Card {
    /// A card of which nothing is known but what it is called: it stands for one that is gone.
    pub(crate) fn placeholder(id: CardId, track: Track, version: u32) -> Self {
        Self {
            id,
            version,
            track,
            category: String::new(),
            content: String::new(),
            summary: None,
            fact: None,
            polarity: Polarity::Affirmed,
            entities: Vec::new(),
            mentions: Vec::new(),
            times: Vec::new(),
            tags: Vec::new(),
            attributes: Map::new(),
            merge_key: None,
            links: Vec::new(),
            provenance: Provenance::Stated,
            sources: Vec::new(),
            extractor: None,
            journal: None,
            occurred_at: Timestamp::MIN,
            recorded_at: Timestamp::MIN,
            updated_at: Timestamp::MIN,
            last_accessed_at: None,
            reinforced_at: None,
            access_count: 0,
            mention_count: 0,
            expires_at: None,
            valid_from: None,
            valid_to: None,
            importance: 0.0,
            confidence: 0.0,
            pinned: false,
            state: State::Forgotten,
            state_before: None,
            vector_version: 0,
            reason: Reason::default(),
        }
    }

    /// Cards that this one replaced.
    pub fn supersedes(&self) -> impl Iterator<Item = CardId> + '_ {
        self.links.iter().filter(|link| link.kind == LinkKind::Supersedes).map(|link| link.to)
    }

    /// The card that replaced this one.
    pub fn superseded_by(&self) -> Option<CardId> {
        self.links.iter().rev().find(|link| link.kind == LinkKind::SupersededBy).map(|link| link.to)
    }

    /// The first source, which tells session, turn, role and speaker of the card.
    pub fn source(&self) -> Option<&Source> {
        self.sources.first()
    }

    /// True for a turn of a conversation, and for what happened at a given time: an event,
    /// which only equals itself, contradicts nothing and is never compared with statements.
    /// (A fact may well have a turn as its source.)
    pub(crate) fn is_event(&self) -> bool {
        let timed = |source: &Source| source.turn.is_some() || source.occurred_at.is_some();
        self.track == Track::Episodic && self.source().is_some_and(timed)
    }

    /// True for a card that relates one thing to another; see [`category::RELATION`].
    pub(crate) fn is_relation(&self) -> bool {
        self.category == category::RELATION
    }

    /// The two ends and the name of a relation; `None` for every other card.
    pub(crate) fn edge(&self) -> Option<&Fact> {
        self.fact.as_ref().filter(|_| self.is_relation())
    }

    /// True for what is compared with other statements: neither an event nor a relation, of
    /// which one thing may have any number.
    pub(crate) fn is_statement(&self) -> bool {
        !self.is_event() && !self.is_relation()
    }

    /// True for a card that sums others up: its words are theirs, and it is no evidence of its
    /// own.
    pub(crate) fn is_consolidated(&self) -> bool {
        self.extractor.as_deref() == Some(CONSOLIDATION)
            && self.merge_key.as_ref().is_some_and(|key| key.starts_with(CONSOLIDATED))
    }

    /// From when on the card ages: when it was last told, confirmed or used.
    pub fn reference(&self) -> Timestamp {
        self.reinforced_at.map_or(self.recorded_at, |at| at.max(self.recorded_at))
    }

    /// Lets the card age from an instant on, unless it does from a later one already.
    pub(crate) fn reinforce(&mut self, at: Timestamp) {
        if at > self.reference() {
            self.reinforced_at = Some(at);
        }
    }

    /// Since when the content is true.
    pub(crate) fn start(&self) -> Timestamp {
        self.valid_from.unwrap_or(self.occurred_at)
    }

    /// True for a card that no rule of age touches: what is ruled out must not come back because
    /// nobody spoke of it.
    pub(crate) fn is_exempt(&self) -> bool {
        self.pinned || self.polarity == Polarity::Excluded
    }

    /// True when the card is past its own expiry at that instant.
    pub fn is_expired(&self, at: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= at)
    }

    /// Adds a link unless the same one is there.
    pub(crate) fn link(&mut self, to: CardId, kind: LinkKind) {
        let link = Link { to, kind };
        if to != self.id && !self.links.contains(&link) {
            self.links.push(link);
        }
    }
}

/// The built-in categories.
pub mod category {
    /// Who the user is.
    pub const PROFILE: &str = "profile";
    /// Likes, dislikes, wishes and prohibitions.
    pub const PREFERENCE: &str = "preference";
    /// Knowledge of the application's field.
    pub const KNOWLEDGE: &str = "knowledge";
    /// What was decided.
    pub const DECISION: &str = "decision";
    /// How a task ended.
    pub const CONCLUSION: &str = "conclusion";
    /// Something the user put right.
    pub const CORRECTION: &str = "correction";
    /// How a task stands.
    pub const TASK_STATE: &str = "task_state";
    /// Of use for a few days only.
    pub const TEMPORARY: &str = "temporary";
    /// A turn of a conversation.
    pub const CONVERSATION: &str = "conversation";
    /// How one thing relates to another: an edge. Its fact's entity and value are the ends, the
    /// attribute is the relation. A thing may have any number of each relation, so a card of
    /// this category replaces no other one and is replaced by none, except that the same three
    /// names are the same card.
    pub const RELATION: &str = "relation";

    /// The track on which cards of a category stand unless their writer says otherwise.
    pub fn usual_track(category: &str) -> super::Track {
        match category {
            CONVERSATION => super::Track::Episodic,
            RELATION => super::Track::Entity,
            _ => super::Track::Semantic,
        }
    }

    /// All of them.
    pub const BUILT_IN: [&str; 10] = [
        PROFILE,
        PREFERENCE,
        KNOWLEDGE,
        DECISION,
        CONCLUSION,
        CORRECTION,
        TASK_STATE,
        TEMPORARY,
        CONVERSATION,
        RELATION,
    ];
}
