//! Forgetting on request: soft, by name or by condition, and back again.
//!
//! A forgotten card is invisible to every read but keeps all of its versions until it is
//! purged. Rules that forget on their own do not live here yet.

use crate::card::{Card, CardId, Reason, State};
use crate::filter::Filter;
use crate::learn::{Reading, is_held, is_said_again, register_content};
use crate::store::{Batch, Lookup, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Forgotten, Restored, Skipped};
use crate::{Error, Result};

/// What a `forget` does to one card.
enum Step {
    Forget,
    /// Only the sources that satisfy the condition go; the card was also said elsewhere.
    Detach(Box<Card>),
    Skip(&'static str),
}

/// A validated `forget` on its way into the store.
pub(crate) struct Forgetting {
    pub(crate) tenant: String,
    pub(crate) ids: Vec<CardId>,
    /// Present when the cards were chosen by a condition: each must still satisfy it.
    pub(crate) filter: Option<Filter>,
    pub(crate) reason: Reason,
    pub(crate) dry_run: bool,
    pub(crate) now: Timestamp,
}

impl Forgetting {
    /// Carries the request out (or, on a dry run, only says what it would do).
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Forgotten> {
        let (tenant, cards) = find_all(batch, &self.tenant, &self.ids, self.filter.is_none())?;
        let mut answer = Forgotten { dry_run: self.dry_run, ..Forgotten::default() };
        for card in cards {
            match self.step(&card) {
                Step::Skip(why) => answer.skipped.push(Skipped { id: card.id, why }),
                Step::Detach(rest) => {
                    answer.detached.push(card.id);
                    if !self.dry_run {
                        batch.revise(tenant, self.with_reason(*rest, "detached"), None, self.now)?;
                    }
                }
                Step::Forget => {
                    answer.forgotten.push(card.id);
                    if !self.dry_run {
                        forget(batch, tenant, self.with_reason(card, "forgotten"), self.now)?;
                    }
                }
            }
        }
        Ok(answer)
    }

    fn with_reason(&self, mut card: Card, action: &str) -> Card {
        card.reason = Reason { action: action.into(), ..self.reason.clone() };
        card
    }

    fn step(&self, card: &Card) -> Step {
        if card.state == State::Forgotten {
            return Step::Skip("already_forgotten");
        }
        let Some(filter) = &self.filter else { return Step::Forget };
        if !filter.matches(card) {
            return Step::Skip("changed");
        }
        if card.pinned {
            return Step::Skip("pinned");
        }
        // A source on its own that does not satisfy the condition keeps the card.
        let kept: Vec<_> = card
            .sources
            .iter()
            .filter(|source| {
                let alone = Card { sources: vec![(*source).clone()], ..card.clone() };
                !filter.matches(&alone)
            })
            .cloned()
            .collect();
        match kept.is_empty() {
            true => Step::Forget,
            false => Step::Detach(Box::new(Card { sources: kept, ..card.clone() })),
        }
    }
}

fn forget(batch: &mut Batch<'_>, tenant: TenantId, mut card: Card, now: Timestamp) -> Result<()> {
    card.state_before = Some(card.state);
    card.state = State::Forgotten;
    let card = batch.revise(tenant, card, None, now)?;
    for lookup in exclusive_lookups(&card) {
        if batch.lookup(tenant, &lookup)? == Some(card.id) {
            batch.clear_lookup(tenant, &lookup)?;
        }
    }
    Ok(())
}

/// Look-ups that a forgotten card must not hold on to.
fn exclusive_lookups(card: &Card) -> Vec<Lookup<'_>> {
    let key = card.merge_key.iter().map(|key| Lookup::MergeKey(key));
    // Of a relation there may be any number: its card holds no fact against others.
    let fact = card.fact.iter().filter(|_| !card.is_relation());
    key.chain(fact.map(Lookup::Fact)).collect()
}

/// A validated `restore` on its way into the store.
pub(crate) struct Restoring {
    pub(crate) tenant: String,
    pub(crate) ids: Vec<CardId>,
    pub(crate) reason: Reason,
    pub(crate) now: Timestamp,
}

impl Restoring {
    /// Brings the cards back to the state they had.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Restored> {
        let (tenant, cards) = find_all(batch, &self.tenant, &self.ids, true)?;
        let mut answer = Restored::default();
        for mut card in cards {
            if card.state != State::Forgotten {
                answer.skipped.push(Skipped { id: card.id, why: "not_forgotten" });
                continue;
            }
            if is_said_again(batch, tenant, &card, self.now)? {
                answer.skipped.push(Skipped { id: card.id, why: "said_again" });
                continue;
            }
            if is_replaced(batch, tenant, &card, self.now)? {
                answer.skipped.push(Skipped { id: card.id, why: "replaced" });
                continue;
            }
            card.state = card.state_before.take().unwrap_or(State::Active);
            card.reason = Reason { action: "restored".into(), ..self.reason.clone() };
            let card = batch.revise(tenant, card, None, self.now)?;
            register_content(batch, tenant, &card, &Reading::default())?;
            for lookup in exclusive_lookups(&card) {
                // A card that took the place meanwhile keeps it.
                if batch.lookup(tenant, &lookup)?.is_none() {
                    batch.set_lookup(tenant, &lookup, card.id)?;
                }
            }
            answer.restored.push(card.id);
        }
        Ok(answer)
    }
}

/// True when another held card has the merge key or the fact of this one meanwhile: both
/// active, they would contradict each other.
fn is_replaced(batch: &Batch<'_>, tenant: TenantId, card: &Card, now: Timestamp) -> Result<bool> {
    if !matches!(card.state_before, Some(State::Active | State::Candidate) | None) {
        return Ok(false);
    }
    for lookup in exclusive_lookups(card) {
        if let Some(other) = batch.lookup(tenant, &lookup)?.filter(|other| *other != card.id)
            && batch.tables().card(tenant, other)?.is_some_and(|other| is_held(&other, now))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The tenant and its cards with these identifiers, each once, in order of first mention.
/// With `strict`, one that is missing is an error and nothing is changed.
fn find_all(batch: &Batch<'_>, tenant: &str, ids: &[CardId], strict: bool) -> Result<(TenantId, Vec<Card>)> {
    let missing = |id: &CardId| Error::NotFound { what: format!("card {id}") };
    let Some(tenant) = batch.tenant(tenant)? else {
        return match ids.first() {
            Some(id) => Err(missing(id)),
            None => Ok((TenantId(0), vec![])),
        };
    };
    let mut cards: Vec<Card> = Vec::with_capacity(ids.len());
    let mut seen = std::collections::HashSet::with_capacity(ids.len());
    for id in ids {
        if !seen.insert(*id) {
            continue;
        }
        match batch.tables().card(tenant, *id)? {
            Some(card) => cards.push(card),
            None if strict => return Err(missing(id)),
            None => {}
        }
    }
    Ok((tenant, cards))
}
