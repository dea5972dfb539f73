//! How far a tenant is beyond its budgets while a run carries a plan out.
//!
//! A plan says which cards are too many as of its own instant. Others may have been forgotten
//! since, so a run takes no more of them than are still too many: they are counted in the very
//! transaction that takes them. What a run has counted holds until somebody else writes. The policy may
//! allow more by now as well: that is asked in the same transaction. Where it allows less, the plan's word
//! holds: a run takes nothing that was not shown.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::Result;
use crate::card::{State, Track};
use crate::forget::due::life;
use crate::forget::resolve::Scope;
use crate::forget::rules::{LifeRules, policies_of};
use crate::index::cache::Slot;
use crate::index::partition::Row;
use crate::store::{Batch, TenantId};
use crate::time::Timestamp;
use crate::verbs::PlanItem;

/// How often a count is put off because others write to the tenant in the same commit.
const PATIENCE: u32 = 8;

/// What is known of a tenant's budgets.
#[derive(Debug)]
pub(crate) struct Budgets {
    tenant: TenantId,
    rules: Arc<LifeRules>,
    partitions: HashMap<Track, Arc<Slot>>,
    /// The plan was made for a policy that came with the request: what is in force is another matter.
    given: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The tenant's last change when it was counted, the words of the rule, and how many cards
    /// there were.
    held: Option<(u64, String, u64)>,
    put_off: u32,
}

/// True for an item that is done only while there are too many cards.
pub(crate) fn is_over_budget(item: &PlanItem) -> bool {
    item.figures.rank.is_some()
}

/// True for items that may stand in one transaction: of those that depend on a budget the ones of
/// one rule, since budgets overlap.
pub(crate) fn go_together(a: &PlanItem, b: &PlanItem) -> bool {
    match (is_over_budget(a), is_over_budget(b)) {
        (true, true) => a.rule == b.rule,
        (mine, theirs) => mine == theirs,
    }
}

impl Budgets {
    /// Of a tenant with these partitions.
    pub(crate) fn new(
        tenant: TenantId,
        rules: Arc<LifeRules>,
        partitions: HashMap<Track, Arc<Slot>>,
        given: bool,
    ) -> Self {
        Self { tenant, rules, partitions, given, known: Mutex::default() }
    }

    /// How many cards the budget that an item names allows: what the plan says, or more where the policy
    /// in force does.
    pub(crate) fn most(&self, batch: &Batch<'_>, item: &PlanItem) -> Result<u64> {
        let planned = item.figures.threshold.unwrap_or(0.0) as u64;
        let Some(scope) = scope_of(&item.rule).filter(|_| !self.given) else { return Ok(planned) };
        let budgets = policies_of(batch.tables(), self.tenant)?.budgets();
        let now = budgets.iter().find(|budget| budget.scope == scope);
        Ok(now.map_or(u64::MAX, |budget| budget.max_cards.max(planned)))
    }

    /// How many cards the budget that an item names holds. `None`: to be asked again in
    /// another transaction, since this one has changes of others in it that no partition shows.
    pub(crate) fn held(&self, batch: &Batch<'_>, item: &PlanItem, now: Timestamp) -> Result<Option<u64>> {
        let sequence = batch.sequence(self.tenant)?;
        let mut known = self.known.lock();
        if let Some((at, rule, held)) = &known.held
            && (*at, rule) == (sequence, &item.rule)
        {
            return Ok(Some(*held));
        }
        let (committed, _) = batch.tables().last_change(self.tenant)?;
        if sequence != committed && known.put_off < PATIENCE {
            known.put_off += 1;
            return Ok(None);
        }
        match scope_of(&item.rule) {
            Some(scope) => Ok(Some(self.count(&scope, now)?)),
            // No rule of ours: as the plan says.
            None => Ok(Some(u64::MAX)),
        }
    }

    /// Notes how many cards a budget holds once the batch is committed.
    pub(crate) fn note(&self, batch: &Batch<'_>, rule: &str, held: u64) -> Result<()> {
        let sequence = batch.sequence(self.tenant)?;
        *self.known.lock() = Known { held: Some((sequence, rule.to_owned(), held)), put_off: 0 };
        Ok(())
    }

    /// The cards of a scope that count, as plans count them.
    fn count(&self, scope: &Scope, now: Timestamp) -> Result<u64> {
        let mut sum = 0;
        for (_, slot) in self.partitions.iter().filter(|(track, _)| scope.may_hold(**track)) {
            let partition = slot.read()?;
            let counts = |row: &&Row| {
                row.until == Timestamp::MAX
                    && matches!(row.card.state, State::Active | State::Candidate)
                    && scope.holds(row.card.track, &row.card.category)
                    && life(&row.card)
                        .expires(&self.rules.of(row.card.track, &row.card.category))
                        .is_none_or(|at| at > now)
            };
            sum += partition.rows().iter().filter(counts).count() as u64;
        }
        Ok(sum)
    }
}

/// The scope of a budget in the words of its rule, `max_cards (origin)`.
fn scope_of(rule: &str) -> Option<Scope> {
    Scope::of_origin(rule.strip_prefix("max_cards (")?.strip_suffix(')')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forget::resolve::{Layer, Origin};

    #[test]
    fn a_scope_is_read_back_from_its_rule() {
        for scope in [
            Scope::Defaults,
            Scope::Track(Track::Episodic),
            Scope::Category("a: tracks.b (c)".into()),
            Scope::Category("defaults".into()),
        ] {
            for layer in [Layer::Tenant, Layer::Store, Layer::Preset("assistant"), Layer::BuiltIn] {
                let origin = Origin { layer, scope: scope.clone() };
                assert_eq!(scope_of(&format!("max_cards ({origin})")), Some(scope.clone()), "{origin}");
            }
        }
        assert_eq!(scope_of("ttl (tenant.defaults)"), None);
        assert_eq!(scope_of("max_cards (nobody.defaults)"), None);
    }
}
