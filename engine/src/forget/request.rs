//! Forgetting and restoring what a caller names: soft, by identifier or by condition.

use std::sync::Arc;

use crate::card::{Card, CardId, Reason, State};
use crate::filter::Filter;
use crate::forget::due::life;
use crate::forget::erase;
use crate::forget::rules::LifeRules;
use crate::forget::run::{RunItem, RunRecord, run_of_request};
use crate::forget::{exclusive_lookups, regain_lookups, release_lookups};
use crate::learn::{Reading, is_held, is_said_again, register_content};
use crate::store::{Batch, TableId, TenantId};
use crate::time::{Duration, Timestamp};
use crate::verbs::{Action, Forgotten, Restored, Skipped};
use crate::{Error, Result};

/// A restored card whose time was over gets as much time again, and at least this (a day).
const MORE_TIME: i64 = 24 * 3_600_000_000;

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
    /// True when the cards were not named but found: those that are pinned stay.
    pub(crate) chosen: bool,
    /// Cards that were left out because nobody can be sure that they are meant.
    pub(crate) unsure: Vec<CardId>,
    /// Present when they were chosen by a condition: each must still satisfy it.
    pub(crate) filter: Option<Filter>,
    pub(crate) reason: Reason,
    pub(crate) dry_run: bool,
    pub(crate) now: Timestamp,
}

impl Forgetting {
    /// Carries the request out (or, on a dry run, only says what it would do).
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Forgotten> {
        let (tenant, cards) = find_all(batch, &self.tenant, &self.ids, !self.chosen)?;
        let mut answer = Forgotten { dry_run: self.dry_run, ..Forgotten::default() };
        let mut items = Vec::new();
        let before = batch.sequence(tenant)?;
        for card in cards {
            let (id, version) = (card.id, card.version);
            match self.step(&card) {
                Step::Skip(why) => answer.skipped.push(Skipped { id, why: why.into() }),
                Step::Detach(rest) => {
                    answer.detached.push(id);
                    if !self.dry_run {
                        let rest = self.with_reason(*rest, "detached");
                        let after = batch.revise(tenant, rest, None, self.now)?.version;
                        items.push(RunItem::done(id, Action::Forget, (version, after)));
                    }
                }
                Step::Forget => {
                    answer.forgotten.push(id);
                    if !self.dry_run {
                        let card = self.with_reason(card, "forgotten");
                        let after = forget(batch, tenant, card, self.now)?;
                        items.push(RunItem::done(id, Action::Forget, (version, after)));
                    }
                }
            }
        }
        let longer = |id: &CardId| Skipped { id: *id, why: "longer_name".into() };
        answer.skipped.extend(self.unsure.iter().map(longer));
        if !items.is_empty() {
            answer.run = Some(self.record(batch, (tenant, before), &items)?);
        }
        Ok(answer)
    }

    /// Notes what was done, for `undo`.
    fn record(
        &self,
        batch: &mut Batch<'_>,
        (tenant, before): (TenantId, u64),
        items: &[RunItem],
    ) -> Result<crate::verbs::RunId> {
        let run = run_of_request(&self.tenant, before, self.now);
        let mut record = RunRecord {
            started_at: self.now,
            finished_at: Some(self.now),
            actor: self.reason.actor.clone(),
            why: self.reason.why.clone(),
            ..RunRecord::default()
        };
        record.done.insert(tenant.0, items.len() as u32);
        items.iter().for_each(|item| record.count(item));
        batch.put_items(TableId::RunItems, tenant, (run.0, 0), items)?;
        batch.put_document(TableId::Runs, tenant, run.0, &record)?;
        Ok(run)
    }

    fn with_reason(&self, mut card: Card, action: &str) -> Card {
        card.reason = Reason { action: action.into(), ..self.reason.clone() };
        card
    }

    fn step(&self, card: &Card) -> Step {
        if card.state == State::Forgotten {
            return Step::Skip("already_forgotten");
        }
        if self.filter.as_ref().is_some_and(|filter| !filter.matches(card)) {
            return Step::Skip("changed");
        }
        if self.chosen && card.pinned {
            return Step::Skip("pinned");
        }
        let Some(filter) = &self.filter else { return Step::Forget };
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

/// Soft-deletes a card; gives its new version.
pub(crate) fn forget(batch: &mut Batch<'_>, tenant: TenantId, mut card: Card, now: Timestamp) -> Result<u32> {
    card.state_before = Some(card.state);
    card.state = State::Forgotten;
    let card = batch.revise(tenant, card, None, now)?;
    release_lookups(batch, tenant, &card)?;
    Ok(card.version)
}

/// A validated `restore` on its way into the store.
pub(crate) struct Restoring {
    pub(crate) tenant: String,
    pub(crate) ids: Vec<CardId>,
    pub(crate) reason: Reason,
    pub(crate) rules: Arc<LifeRules>,
    pub(crate) now: Timestamp,
}

impl Restoring {
    /// Brings the cards back to the state they had.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Restored> {
        let mut answer = Restored::default();
        let mut ids = self.ids.clone();
        if let Some(tenant) = batch.tenant(&self.tenant)? {
            // What is erased does not come back, but may from now on.
            let mut erased = Vec::new();
            for id in &ids {
                if !batch.tables().has_card(tenant, *id)? && erase::is_erased(batch, tenant, *id, None)? {
                    erased.push(*id);
                }
            }
            ids.retain(|id| !erased.contains(id));
            answer.lifted = erased;
        }
        let (tenant, cards) = find_all(batch, &self.tenant, &ids, true)?;
        for id in &answer.lifted {
            erase::lift(batch, tenant, *id)?;
        }
        for mut card in cards {
            if card.state != State::Forgotten {
                answer.skipped.push(Skipped { id: card.id, why: "not_forgotten".into() });
                continue;
            }
            if is_said_again(batch, tenant, &card, &self.rules, self.now)? {
                answer.skipped.push(Skipped { id: card.id, why: "said_again".into() });
                continue;
            }
            if is_replaced(batch, tenant, &card, &self.rules, self.now)? {
                answer.skipped.push(Skipped { id: card.id, why: "replaced".into() });
                continue;
            }
            card.state = card.state_before.take().unwrap_or(State::Active);
            // Who brings a card back does not want it to be over or to fade at once.
            if self.rules.is_expired(&card, self.now) {
                let end = life(&card).expires(&self.rules.of(card.track, &card.category));
                let length = end.map_or(0, |end| end.as_micros() - card.recorded_at.as_micros());
                card.expires_at = Some(self.now.plus(Duration::from_micros(length.max(MORE_TIME))));
            }
            card.reinforce(self.now);
            card.reason = Reason { action: "restored".into(), ..self.reason.clone() };
            let card = batch.revise(tenant, card, None, self.now)?;
            register_content(batch, tenant, &card, &Reading::default())?;
            regain_lookups(batch, tenant, &card)?;
            answer.restored.push(card.id);
        }
        Ok(answer)
    }
}

/// True when another held card has the merge key or the fact of this one meanwhile: both
/// active, they would contradict each other.
fn is_replaced(
    batch: &Batch<'_>,
    tenant: TenantId,
    card: &Card,
    rules: &LifeRules,
    now: Timestamp,
) -> Result<bool> {
    if !matches!(card.state_before, Some(State::Active | State::Candidate) | None) {
        return Ok(false);
    }
    for lookup in exclusive_lookups(card) {
        if let Some(other) = batch.lookup(tenant, &lookup)?.filter(|other| *other != card.id)
            && batch.tables().card(tenant, other)?.is_some_and(|other| is_held(&other, rules, now))
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
