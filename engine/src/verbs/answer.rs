//! What each verb answers.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Serialize;
use serde_json::Value;

use crate::card::{Card, CardId, Role, Track};
use crate::forget::due::life;
use crate::forget::rules::LifeRules;
use crate::recall::Parts;
use crate::time::Timestamp;
use crate::verbs::RunId;

/// What became of a remembered text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A new card.
    Created,
    /// The same statement in other words was known: its card now has the newest wording.
    Merged,
    /// The very text was known: its card counts one mention more.
    Duplicate,
    /// A new card that replaced one which no longer holds.
    Superseded,
    /// A new card with too little evidence to be recalled yet.
    Candidate,
}

/// A card that a verb changed, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Affected {
    /// The card.
    pub id: CardId,
    /// `created`, `merged`, `mentioned`, `promoted`, `superseded`, `succeeded`,
    /// `narrowed`, `linked`,
    /// `edited`, `forgotten`, `detached`, `restored`.
    pub change: &'static str,
}

/// Answer of `remember`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remembered {
    /// The card that now holds the text.
    pub id: CardId,
    /// What became of the text.
    pub outcome: Outcome,
    /// Current version of the card.
    pub version: u32,
    /// Every card that changed.
    pub affected: Vec<Affected>,
    /// Position of the tenant's change log after the write.
    pub seq: u64,
    /// What was left out or done with less than usual, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

/// A card as reads return it: whole, with its first source and its successions at hand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CardView {
    /// The card.
    #[serde(flatten)]
    pub card: Card,
    /// Session of the first source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Turn of the first source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Role of the first source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Speaker of the first source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Cards that this one replaced.
    pub supersedes: Vec<CardId>,
    /// The card that replaced this one.
    pub superseded_by: Option<CardId>,
    /// What age leaves of `confidence` at the instant of the read, by the policy in force;
    /// `confidence` itself is that of the card's last reference.
    pub effective_confidence: f64,
    /// The same of `importance`.
    pub effective_importance: f64,
}

impl CardView {
    /// The view of a card at an instant, by the rules in force. There is no other way to make
    /// one, so that no read forgets what age makes of a card.
    pub(crate) fn new(card: Card, rules: &LifeRules, at: Timestamp) -> Self {
        let rule = rules.of(card.track, &card.category);
        let (effective_confidence, effective_importance) = life(&card).figures_at(&rule, at);
        let source = card.source().cloned().unwrap_or_default();
        Self {
            effective_confidence,
            effective_importance,
            supersedes: card.supersedes().collect(),
            superseded_by: card.superseded_by(),
            session: source.session,
            turn: source.turn,
            role: source.role,
            speaker: source.speaker,
            card,
        }
    }
}

impl Deref for CardView {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.card
    }
}

/// One card that answers a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// Overall score, 0 to 1; hits come in descending order of it.
    pub score: f32,
    /// What the score is made of, when asked to explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// The card.
    #[serde(flatten)]
    pub card: CardView,
}

/// What a recall looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// Name of the rule that told the intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Preset of weights that ranked, when it was not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Tracks that are likely to hold the answer, which are preferred by a little.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub likely: Vec<Track>,
    /// Tracks whose indexes were searched.
    pub tracks: Vec<Track>,
    /// Cards that satisfy every condition that attributes decide, and were scored: all there
    /// are in a track with up to 16,384 of them, else those that could be among the best.
    pub candidates: usize,
    /// Which signals took part: `text`, `vector`.
    pub legs: Vec<&'static str>,
    /// The query's usable terms after analysis.
    pub terms: Vec<String>,
    /// Speakers of the tenant that the question names.
    pub speakers: Vec<String>,
}

/// A card that would have been an answer, and the one that rules out what it recommends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Withheld {
    /// The card that recommends something.
    pub id: CardId,
    /// The card that rules it out.
    pub by: CardId,
}

/// Answer of `recall`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recalled {
    /// What the asker is after: `none`, `happened`, `rule`, `who`, `how`, `when`, `prefer` or
    /// `find`; absent without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The best cards, best first.
    pub hits: Vec<Hit>,
    /// Cards left out because they recommend what is ruled out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
    /// What was looked at.
    pub searched: Searched,
    /// What was left out or done with less than usual, in words.
    pub degraded: Vec<String>,
}

/// Answer of `list`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The cards of this page.
    pub cards: Vec<CardView>,
    /// Where the next page starts; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// One field that a version changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange {
    /// The field.
    pub field: String,
    /// Its value before; null when absent.
    pub from: Value,
    /// Its value after; null when absent.
    pub to: Value,
}

/// One version of a card, and what it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VersionView {
    /// The card as of this version; `reason` says who made it and why.
    #[serde(flatten)]
    pub card: CardView,
    /// Fields that differ from the version before (of this card or of the one it replaced).
    pub diff: Vec<FieldChange>,
}

/// Answer of `history`: oldest first, across the cards that replaced each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryAnswer {
    /// Every version.
    pub versions: Vec<VersionView>,
}

/// A card that a verb left alone, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The card.
    pub id: CardId,
    /// Why: `already_forgotten`, `not_forgotten`, `pinned`, `changed` (meanwhile), `said_again`
    /// (another card holds the very words), `replaced` (another card
    /// holds its merge key or fact), `longer_name` (the name that was asked for seems to be a part
    /// of a longer one there), `within_budget` (there are not too many cards any more).
    pub why: Cow<'static, str>,
}

/// Answer of `correct`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Corrected {
    /// The card that now holds the correction.
    pub id: CardId,
    /// Its version.
    pub version: u32,
    /// Every card that changed.
    pub affected: Vec<Affected>,
    /// Position of the tenant's change log after the write.
    pub seq: u64,
    /// What was done with less than usual, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

/// Answer of `forget`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Cards that are (with `dry_run`: would be) forgotten.
    pub forgotten: Vec<CardId>,
    /// Cards that only lost the sources named by the filter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub detached: Vec<CardId>,
    /// Cards left alone.
    pub skipped: Vec<Skipped>,
    /// True when nothing was changed.
    pub dry_run: bool,
    /// The run, for `undo`; absent when nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// Answer of `restore`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// Cards that are back.
    pub restored: Vec<CardId>,
    /// Cards that are gone for good, but may be imported or told again from now on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lifted: Vec<CardId>,
    /// Cards left alone.
    pub skipped: Vec<Skipped>,
}
