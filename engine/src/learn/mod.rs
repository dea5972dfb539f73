//! Deciding what a write means: new, known, in other words, or contrary to what is held.
//!
//! The rules run inside the writer's transaction, so that of a hundred callers who say the
//! same thing at once one makes a card and the others are counted. They never call a model
//! and never read the clock.

pub(crate) mod correct;
pub(crate) mod remember;

use std::cell::OnceCell;

use crate::Result;
use crate::card::{Card, LinkKind, Polarity, Provenance, Role, STATED_CONFIDENCE, Source, State};
use crate::index::partition::Prepared;
use crate::judge::{self, Analysis, Relation};
use crate::store::{Batch, Lookup, TenantId};
use crate::time::{Duration, Timestamp};
use crate::verbs::Affected;

/// Sources that a card keeps; the oldest leave first.
const SOURCES_MAX: usize = 64;

/// Two mentions this far apart, or in two sessions, are two moments.
const MOMENT: Duration = Duration::from_hours(1);

/// True for cards that a new statement is compared with.
fn is_held(card: &Card, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate) && !card.is_expired(now)
}

/// How a statement relates to a card, the card's and the statement's polarity included.
fn relation(card: &Card, statement: &Analysis, polarity: Polarity) -> Relation {
    let relation = judge::relation(&judge::analyze(&card.content), statement);
    match relation {
        Relation::Identical | Relation::Same if card.polarity != polarity => Relation::Opposite,
        // An exclusion of what is negated anyway is no contradiction.
        Relation::Opposite if card.polarity != polarity => Relation::Different,
        other => other,
    }
}

/// Adds a source unless it is known; true when it tells of another moment than those known.
fn add_source(card: &mut Card, source: Option<&Source>, now: Timestamp) -> bool {
    let Some(source) = source else {
        return card.updated_at.plus(MOMENT) <= now;
    };
    let time = source.occurred_at.unwrap_or(now);
    let new_session =
        source.session.is_some() && card.sources.iter().all(|known| known.session != source.session);
    let later =
        card.sources.iter().filter_map(|known| known.occurred_at).all(|known| known.plus(MOMENT) <= time);
    if !card.sources.contains(source) {
        card.sources.push(source.clone());
        if card.sources.len() > SOURCES_MAX {
            card.sources.remove(0);
        }
    }
    new_session || later
}

/// Counts a mention. Evidence of another moment by a person, or a plain statement, raises a
/// weak card to [`STATED_CONFIDENCE`] and no further; only confirmation raises it above.
/// True when the card became active by it.
fn mention(card: &mut Card, by: &Card, now: Timestamp) -> bool {
    card.mention_count = card.mention_count.saturating_add(1);
    let moment = add_source(card, by.source(), now);
    let spoken_by_person = by.source().and_then(|source| source.role).is_none_or(|role| role == Role::User);
    let evidence = match by.provenance {
        Provenance::Confirmed => by.confidence,
        Provenance::Stated if spoken_by_person => by.confidence.min(STATED_CONFIDENCE),
        Provenance::Inferred if moment && spoken_by_person => STATED_CONFIDENCE,
        _ => 0.0,
    };
    if evidence > card.confidence {
        card.confidence = evidence;
        card.provenance = by.provenance;
    }
    let promoted = card.state == State::Candidate && card.confidence >= STATED_CONFIDENCE;
    if promoted {
        card.state = State::Active;
    }
    promoted
}

/// Marks a card as replaced by another one.
fn supersede(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    mut old: Card,
    new: &Card,
    overturned: bool,
    now: Timestamp,
) -> Result<Affected> {
    old.state = State::Superseded;
    old.link(new.id, LinkKind::SupersededBy);
    let end = new.valid_from.unwrap_or(new.occurred_at);
    if old.valid_to.is_none_or(|held| held > end) {
        // Replaced before it began: it has no time in which it was true.
        old.valid_to = Some(end).filter(|end| *end > old.valid_from.unwrap_or(old.occurred_at));
    }
    if overturned {
        old.provenance = Provenance::Overturned;
        old.confidence = Provenance::Overturned.confidence();
    }
    old.reason = crate::card::Reason { action: "superseded".into(), ..new.reason.clone() };
    let old = batch.revise(tenant, old, None, now)?;
    Ok(Affected { id: old.id, change: "superseded" })
}

/// Adds a link to a card of the tenant, as a new version of it.
fn link(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    mut card: Card,
    to: &Card,
    kind: LinkKind,
    now: Timestamp,
) -> Result<Affected> {
    card.link(to.id, kind);
    card.reason = crate::card::Reason { action: "linked".into(), ..to.reason.clone() };
    let card = batch.revise(tenant, card, None, now)?;
    let change = if kind == LinkKind::NarrowedBy { "narrowed" } else { "linked" };
    Ok(Affected { id: card.id, change })
}

/// What the rules read in one text: read once, and for statements before the writer's
/// transaction, in which every caller waits for every other.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    hash: OnceCell<u128>,
    analysis: OnceCell<Analysis>,
}

impl Reading {
    /// Reads a text as far as remembering it will need.
    pub(crate) fn of(content: &str, is_event: bool) -> Self {
        let reading = Self::default();
        if !is_event {
            reading.analysis(content);
        }
        reading.hash(content);
        reading
    }

    fn hash(&self, content: &str) -> u128 {
        *self.hash.get_or_init(|| match self.analysis.get() {
            Some(analysis) => analysis.normalized_hash(),
            None => judge::normalized_hash(content),
        })
    }

    /// What the index needs of the card that was read.
    pub(crate) fn prepare(&self, card: &Card) -> Prepared {
        Prepared::of(card, self.analysis.get())
    }

    fn analysis(&self, content: &str) -> &Analysis {
        self.analysis.get_or_init(|| judge::analyze(content))
    }
}

/// The look-up of a card's exact content, by its normalised hash.
fn content_lookup(card: &Card, hash: u128) -> Lookup<'_> {
    let source = card.source();
    let event = source.and_then(|source| Some((source.session.as_deref()?, source.turn?)));
    Lookup::Content { hash, track: card.track, category: &card.category, event }
}

/// Points every exact look-up of a card at it, and notes its hashes for this batch.
fn register(batch: &mut Batch<'_>, tenant: TenantId, card: &Card, reading: &Reading) -> Result<()> {
    batch.set_lookup(tenant, &content_lookup(card, reading.hash(&card.content)), card.id)?;
    if let Some(key) = &card.merge_key {
        batch.set_lookup(tenant, &Lookup::MergeKey(key), card.id)?;
    }
    if let Some(fact) = &card.fact {
        batch.set_lookup(tenant, &Lookup::Fact(fact), card.id)?;
    }
    // Events are never compared with statements: nobody looks for them by their topic.
    if card.is_event() {
        return Ok(());
    }
    let analysis = reading.analysis(&card.content);
    for hash in analysis.lookup_hashes().into_iter().flatten() {
        batch.note(tenant, hash, card.id);
    }
    Ok(())
}
