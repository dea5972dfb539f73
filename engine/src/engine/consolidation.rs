//! Summing up: planned and carried out like any plan; texts that are made are embedded in the
//! caller's thread.

use crate::Result;
use crate::engine::forgetting::Scope;
use crate::engine::model::{embed, model_of};
use crate::engine::planning::{Sought, plan_for, shown_plan};
use crate::engine::running::apply;
use crate::engine::{Store, Tenant};
use crate::forget::apply::{MadeVectors, sources_of};
use crate::store::{ModelRecord, TenantId};
use crate::verbs::{Apply, Consolidate, Consolidated, MakePlan, PlanItem};

/// The vectors of texts that items make and no source has. A text that cannot be embedded now
/// has none here, and its item is left alone.
pub(super) fn vectors_for(store: &Store, tenant: TenantId, items: &[PlanItem]) -> Result<MadeVectors> {
    let mut made = MadeVectors::default();
    let makes = items.iter().filter_map(|item| item.make.as_deref());
    let embedder = match store.model()?.is_some_and(ModelRecord::is_caller) {
        true => None,
        false => store.embedder()?,
    };
    made.model = embedder.map(|embedder| model_of(embedder.as_ref()));
    // Vectors that the store has, but nothing to make one with.
    let cannot = embedder.is_none() && store.model()?.is_some_and(|model| !model.is_caller());
    let tables = store.database().read()?;
    for card in makes {
        let mut has_source = false;
        for id in sources_of(card) {
            has_source |= tables.card(tenant, id)?.is_some_and(|source| source.content == card.content);
        }
        if has_source || cannot {
            continue;
        }
        match embedder.map(|embedder| embed(embedder.as_ref(), &card.content)).transpose() {
            Ok(vector) => {
                made.by_text.insert(card.content.clone(), vector.flatten());
            }
            Err(error) => tracing::warn!(%error, "a summary is left for later"),
        }
    }
    Ok(made)
}

impl Tenant {
    /// Sums up what was told several times, or of one thing; see [`Consolidate`]. What it does is
    /// a run, which [`Tenant::undo`] takes back.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] names the field; [`crate::Error::Unavailable`] when the
    /// policy has switched forgetting off.
    pub fn consolidate(&self, request: Consolidate) -> Result<Consolidated> {
        let scope = Scope::Tenant(self);
        let make = MakePlan { limits: request.limits, consent: request.consent, ..MakePlan::default() };
        let planned = plan_for(scope, &make, Sought::Consolidation(&request.rules))?;
        if request.dry_run || planned.totals.items == 0 {
            return Ok(Consolidated { planned, done: None });
        }
        let digest = Some(planned.digest);
        let carried_out = Apply {
            plan: Some(planned.plan),
            digest,
            actor: request.actor.or_else(|| Some("consolidation".into())),
            reason: request.reason,
        };
        let applied = apply(scope, carried_out, |_, _| true)?;
        Ok(Consolidated { planned: shown_plan(scope, planned.plan)?, done: Some(applied.totals) })
    }
}
