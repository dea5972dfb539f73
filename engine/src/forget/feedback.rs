//! What a caller says of cards that it has recalled: of use, or wrong.

use std::sync::Arc;

use crate::card::{Card, CardId, Provenance, Reason, STATED_CONFIDENCE, State};
use crate::forget::rules::LifeRules;
use crate::store::{Batch, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Affected, FedBack};
use crate::{Error, Result};

/// A validated `feedback` on its way into the store.
pub(crate) struct FeedingBack {
    pub(crate) tenant: String,
    pub(crate) used: Vec<CardId>,
    pub(crate) rejected: Vec<CardId>,
    pub(crate) reason: Reason,
    pub(crate) rules: Arc<LifeRules>,
    pub(crate) now: Timestamp,
}

impl FeedingBack {
    /// Carries the request out; an identifier that is not there, or is forgotten, refuses all.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<FedBack> {
        let missing = |id: &CardId| Error::NotFound { what: format!("card {id}") };
        let all = || self.used.iter().chain(&self.rejected);
        let Some(tenant) = batch.tenant(&self.tenant)? else {
            return Err(all().next().map_or_else(|| Error::invalid("used", "name a card"), missing));
        };
        let mut cards = Vec::new();
        for id in all() {
            let card = batch.tables().card(tenant, *id)?;
            let card =
                card.filter(|card| card.state != State::Forgotten && !self.rules.is_expired(card, self.now));
            cards.push(card.ok_or_else(|| missing(id))?);
        }
        let mut affected = Vec::with_capacity(cards.len());
        for (at, card) in cards.into_iter().enumerate() {
            affected.push(match at < self.used.len() {
                true => use_card(batch, tenant, card, &self.reason, self.now)?,
                false => self.reject(batch, tenant, card)?,
            });
        }
        Ok(FedBack { affected, seq: batch.sequence(tenant)? })
    }

    /// Halves the confidence: a card below a plain statement's is a candidate, which is
    /// recalled again once it is told or confirmed again.
    fn reject(&self, batch: &mut Batch<'_>, tenant: TenantId, mut card: Card) -> Result<Affected> {
        card.confidence /= 2.0;
        if card.confidence <= Provenance::Overturned.confidence() {
            card.provenance = Provenance::Overturned;
        }
        if card.state == State::Active && card.confidence < STATED_CONFIDENCE {
            card.state = State::Candidate;
        }
        card.reason = Reason { action: "rejected".into(), ..self.reason.clone() };
        let card = batch.revise(tenant, card, None, self.now)?;
        Ok(Affected { id: card.id, change: "rejected" })
    }
}

/// Counts a use: the card ages from now on, and is active again if it was archived.
pub(crate) fn use_card(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    mut card: Card,
    reason: &Reason,
    now: Timestamp,
) -> Result<Affected> {
    let id = card.id;
    card.access_count = card.access_count.saturating_add(1);
    card.last_accessed_at = Some(card.last_accessed_at.map_or(now, |at| at.max(now)));
    card.reinforce(now);
    if card.state != State::Archived {
        batch.touch(tenant, card, now)?;
        return Ok(Affected { id, change: "used" });
    }
    revive(&mut card);
    card.reason = Reason { action: "revived".into(), ..reason.clone() };
    batch.revise(tenant, card, None, now)?;
    Ok(Affected { id, change: "revived" })
}

/// Gives an archived card the state that it had.
pub(crate) fn revive(card: &mut Card) {
    if card.state == State::Archived {
        card.state =
            card.state_before.take().filter(|state| *state != State::Archived).unwrap_or(State::Active);
    }
}

/// Takes a card out of active memory; gives its new version. It goes on holding its merge key
/// and fact: a later statement supersedes it.
pub(crate) fn archive(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    mut card: Card,
    now: Timestamp,
) -> Result<u32> {
    card.state_before = Some(card.state);
    card.state = State::Archived;
    Ok(batch.revise(tenant, card, None, now)?.version)
}
