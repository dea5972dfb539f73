//! Deciding what a write means: new, known, in other words, or contrary to what is held.
//!
//! The rules run inside the writer's transaction, so that of a hundred callers who say the
//! same thing at once one makes a card and the others are counted. They never call a model
//! and never read the clock.

pub(crate) mod analyses;
pub(crate) mod compare;
pub(crate) mod correct;
pub(crate) mod edge;
pub(crate) mod extract;
pub(crate) mod remember;

use std::cell::OnceCell;
use std::sync::Arc;

use crate::Result;
use crate::card::{Card, LinkKind, Polarity, Provenance, Role, STATED_CONFIDENCE, Source, State};
use crate::forget::feedback::revive;
use crate::forget::rules::LifeRules;
use crate::index::partition::{Prepared, statement};
use crate::judge::{self, Analysis, Relation};
use crate::store::{Batch, Detail, Lookup, TenantId};
use crate::time::{Duration, Timestamp};
use crate::verbs::Affected;

/// Sources that a card keeps: the first one and the latest.
pub(crate) const SOURCES_MAX: usize = 64;

/// Two mentions this far apart, or in two sessions, are two moments.
const MOMENT: Duration = Duration::from_hours(1);

/// True for cards that a new statement is compared with.
pub(crate) fn is_held(card: &Card, rules: &LifeRules, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate | State::Archived) && !rules.is_expired(card, now)
}

/// The same by the card's own expiry alone, for those who judge the rules themselves.
pub(crate) fn is_kept(card: &Card, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate | State::Archived) && !card.is_expired(now)
}

/// How a statement relates to a card, the card's and the statement's polarity included.
fn relation(card: &Card, new: &Analysis, polarity: Polarity) -> Relation {
    relation_of((&judge::analyze(statement(card)), card.polarity), (new, polarity))
}

/// As [`relation`], of what was read already.
pub(crate) fn relation_of(old: (&Analysis, Polarity), new: (&Analysis, Polarity)) -> Relation {
    match judge::relation(old.0, new.0) {
        Relation::Identical | Relation::Same if old.1 != new.1 => Relation::Opposite,
        // An exclusion of what is negated anyway is no contradiction.
        Relation::Opposite if old.1 != new.1 => Relation::Different,
        other => other,
    }
}

/// Adds a source unless it is known; true when it tells of another moment than those known.
///
/// A mention that names no source counts as one as soon as another mention names one: when
/// that one is forgotten, the statement was still made elsewhere.
fn add_source(card: &mut Card, source: Option<&Source>, now: Timestamp) -> bool {
    let nameless = Source::default();
    if source.is_some() && card.sources.is_empty() {
        card.sources.push(nameless.clone());
    }
    let source = source.unwrap_or(&nameless);
    let time = source.occurred_at.unwrap_or(now);
    // Where nothing is known of the sessions before, this may be one of them.
    let new_session = source.session.is_some()
        && card.sources.iter().any(|known| known.session.is_some())
        && card.sources.iter().all(|known| known.session != source.session);
    let told = |known: &Source| known.occurred_at.unwrap_or(card.recorded_at);
    let later = match card.sources.is_empty() {
        true => told(&nameless).plus(MOMENT) <= time,
        false => card.sources.iter().all(|known| told(known).plus(MOMENT) <= time),
    };
    if !card.sources.is_empty() && !card.sources.contains(source) {
        card.sources.push(source.clone());
        if card.sources.len() > SOURCES_MAX {
            // The first one tells whose card it is.
            card.sources.remove(1);
        }
    }
    new_session || later
}

/// True for two cards that persons told at different moments.
pub(crate) fn is_another_moment(a: &Card, b: &Card) -> bool {
    let session = |card: &Card| card.source().and_then(|source| source.session.clone());
    let apart = a.occurred_at.max(b.occurred_at) >= a.occurred_at.min(b.occurred_at).plus(MOMENT);
    let sessions = matches!((session(a), session(b)), (Some(mine), Some(theirs)) if mine != theirs);
    by_person(a) && by_person(b) && (apart || sessions)
}

/// True when a person said it, as far as is known.
pub(crate) fn by_person(card: &Card) -> bool {
    card.source().and_then(|source| source.role).is_none_or(|role| role == Role::User)
}

/// Counts a mention. Evidence of another moment by a person, or a plain statement, raises a
/// weak card to [`STATED_CONFIDENCE`] and no further; only confirmation raises it above.
/// True when the card became active by it: one that is told again leaves the archive.
fn mention(card: &mut Card, by: &Card, now: Timestamp) -> bool {
    card.mention_count = card.mention_count.saturating_add(1);
    let archived = card.state == State::Archived;
    revive(card);
    let moment = add_source(card, by.source(), now);
    let spoken_by_person = by_person(by);
    if spoken_by_person {
        card.reinforce(now);
    }
    let evidence = match by.provenance {
        Provenance::Confirmed => by.confidence,
        Provenance::Stated | Provenance::Inferred if moment && spoken_by_person => STATED_CONFIDENCE,
        Provenance::Stated if spoken_by_person => by.confidence.min(STATED_CONFIDENCE),
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
    promoted || archived
}

/// Marks a card as replaced by another one.
pub(crate) fn supersede(
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

/// Ends a card where the one that takes its place begins, at a later time: until then it
/// holds.
fn succeed(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    mut old: Card,
    new: &Card,
    from: Timestamp,
    now: Timestamp,
) -> Result<Affected> {
    old.link(new.id, LinkKind::SucceededBy);
    old.valid_to = Some(old.valid_to.map_or(from, |end| end.min(from)));
    old.reason = crate::card::Reason { action: "succeeded".into(), ..new.reason.clone() };
    let old = batch.revise(tenant, old, None, now)?;
    Ok(Affected { id: old.id, change: "succeeded" })
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
    analysis: OnceCell<Arc<Analysis>>,
}

impl Reading {
    /// Reads a text as far as remembering it will need.
    pub(crate) fn of(content: &str, is_statement: bool) -> Self {
        let reading = Self::default();
        if is_statement {
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
        Prepared::of(card, self.analysis.get().map(AsRef::as_ref))
    }

    fn analysis(&self, content: &str) -> &Analysis {
        self.analysis.get_or_init(|| Arc::new(judge::analyze(content)))
    }

    /// The analysis, where the content was read and says by itself what it states.
    pub(crate) fn statement(&self) -> Option<Arc<Analysis>> {
        self.analysis.get().filter(|analysis| !analysis.refers_back()).cloned()
    }
}

/// The look-ups of a card's exact content by its normalised hash, the narrowest first. A
/// turn is found only as that turn.
pub(crate) fn content_lookups(card: &Card, hash: u128) -> Vec<Lookup<'_>> {
    let lookup = |detail| Lookup::Content { hash, track: card.track, category: &card.category, detail };
    let source = card.source();
    if card.is_event()
        && let Some(source) = source
    {
        if let (Some(session), Some(turn)) = (&source.session, source.turn) {
            return vec![lookup(Detail::Turn(session, turn))];
        }
        if let Some(at) = source.occurred_at {
            return vec![lookup(Detail::Moment(at.as_micros())), lookup(Detail::None)];
        }
    }
    let speaker = source.and_then(|source| source.speaker.as_deref());
    speaker.map(|name| lookup(Detail::Speaker(name))).into_iter().chain([lookup(Detail::None)]).collect()
}

/// The look-ups by which a telling of the same words is found: an event is looked up as itself
/// only; what is no event may be told of one.
fn telling_lookups(card: &Card, hash: u128) -> impl Iterator<Item = Lookup<'_>> {
    let wanted = if card.is_event() { 1 } else { usize::MAX };
    content_lookups(card, hash).into_iter().take(wanted)
}

/// Points the look-ups of a card's exact content at it.
pub(crate) fn register_content(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    card: &Card,
    reading: &Reading,
) -> Result<()> {
    for lookup in content_lookups(card, reading.hash(&card.content)) {
        set_lookup(batch, tenant, &lookup, card)?;
    }
    Ok(())
}

/// Points a look-up at a card. One that sums others up does not take it from them: what is told
/// again is counted where it was told.
fn set_lookup(batch: &mut Batch<'_>, tenant: TenantId, lookup: &Lookup<'_>, card: &Card) -> Result<()> {
    match card.is_consolidated() && batch.lookup(tenant, lookup)?.is_some() {
        true => Ok(()),
        false => batch.set_lookup(tenant, lookup, card.id),
    }
}

/// True when another held card has the very words of this one.
pub(crate) fn is_said_again(
    batch: &Batch<'_>,
    tenant: TenantId,
    card: &Card,
    rules: &LifeRules,
    now: Timestamp,
) -> Result<bool> {
    let hash = judge::normalized_hash(&card.content);
    for lookup in telling_lookups(card, hash) {
        let Some(other) = batch.lookup(tenant, &lookup)?.filter(|other| *other != card.id) else {
            continue;
        };
        let other = batch.tables().card(tenant, other)?;
        let same = |other: &Card| {
            other.polarity == card.polarity
                && judge::normalized_hash(&other.content) == hash
                && compare::are_about_the_same(card, other)
        };
        if other.is_some_and(|other| is_held(&other, rules, now) && same(&other)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Points every exact look-up of a card at it, and notes its hashes for this batch.
pub(crate) fn register(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    card: &Card,
    reading: &Reading,
) -> Result<()> {
    register_content(batch, tenant, card, reading)?;
    if let Some(key) = &card.merge_key {
        batch.set_lookup(tenant, &Lookup::MergeKey(key), card.id)?;
    }
    if let Some(fact) = card.fact.as_ref().filter(|_| !card.is_relation()) {
        set_lookup(batch, tenant, &Lookup::Fact(fact), card)?;
    }
    // Nobody looks by their topic for what is not compared with statements.
    if !card.is_statement() {
        return Ok(());
    }
    let analysis = reading.analysis(&card.content);
    let hashes = match analysis.refers_back() {
        true => judge::analyze(statement(card)).lookup_hashes(),
        false => analysis.lookup_hashes(),
    };
    for hash in hashes.into_iter().flatten() {
        batch.note(tenant, hash, card.id);
    }
    Ok(())
}
