//! Carrying plans out, in pieces, and taking runs back.

use std::collections::HashSet;
use std::sync::Arc;

use crate::card::{CardId, Reason, Track};
use crate::engine::Store;
use crate::engine::consolidation::vectors_for;
use crate::engine::forgetting::Scope;
use crate::engine::planning::{document, names, plan_record};
use crate::engine::tenant::reason;
use crate::forget::apply::{Piece, piece_of};
use crate::forget::budget::Budgets;
use crate::forget::erase;
use crate::forget::plan::TenantPart;
use crate::forget::rules::{policies_of, stored_policy};
use crate::forget::run::{RunItem, RunRecord, run_of};
use crate::forget::undo::{self, Undoing};
use crate::forget::{LISTED, listed};
use crate::store::{Batch, STORE, TableId, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Action, AppliedPlan, Apply, PlanId, PlanItem, RunId, RunTotals, Skipped, Undo, Undone};
use crate::{Error, Result};

/// Carries a plan out; `pause` is called before each piece with the number of items that are done
/// and of all, and stops the run when it says no.
pub(super) fn apply(
    scope: Scope<'_>,
    request: Apply,
    mut pause: impl FnMut(u64, u64) -> bool,
) -> Result<AppliedPlan> {
    let plan = request.plan.ok_or_else(|| Error::invalid("plan", "is missing"))?;
    let (number, record) = plan_record(scope, plan)?;
    if request.digest.as_ref().is_some_and(|digest| *digest != record.digest) {
        return Err(Error::Conflict { message: format!("{plan} has the digest {}", record.digest) });
    }
    let database = scope.store().database();
    let (run, now) = (run_of(plan), scope.now());
    if now < record.made_at {
        return Err(Error::Conflict {
            message: format!("{plan} was made at {}, and it is {now} only", record.made_at),
        });
    }
    let reason = reason(request.actor, request.reason);
    scope.store().check_reason(&reason)?;
    let before = begin(scope, (number, run), plan, reason, now)?;
    if before.undone_at.is_some() {
        return Err(Error::Conflict {
            message: format!("{plan} was carried out and undone; make a new plan"),
        });
    }
    let repeated = before.finished_at.is_some();
    let mut complete = true;
    if !repeated {
        let names = names(scope, &database.read()?)?;
        let mut behind = 0;
        'tenants: for part in &record.tenants {
            let tenant = TenantId(part.tenant);
            // What was wiped meanwhile is gone, and its items with it.
            let Some(name) = names.get(&part.tenant) else { continue };
            let mut first = before.done.get(&part.tenant).copied().unwrap_or(0);
            let budgets = budgets(scope.store(), tenant, part, record.given)?;
            while first < part.items {
                if !scope.store().life_rules(tenant)?.enabled()
                    || !pause(behind + u64::from(first), record.totals.items)
                {
                    complete = false;
                    break 'tenants;
                }
                let tables = database.read()?;
                let mut items = tables.items::<PlanItem>(TableId::PlanItems, tenant, plan.0, first)?;
                let items = piece_of(&mut items)?;
                if items.is_empty() {
                    break;
                }
                let piece = Piece {
                    scope: number,
                    run,
                    tenant,
                    tenant_name: name.clone(),
                    first,
                    vectors: vectors_for(scope.store(), tenant, &items)?,
                    budgets: budgets.clone(),
                    items,
                    now: scope.now(),
                };
                first = database.write(move |batch| piece.run(batch))?;
            }
            behind += u64::from(part.items);
        }
        if complete {
            finish(scope, (number, run), record.tenants.clone())?;
        }
    }
    let tables = database.read()?;
    let totals = tables
        .document::<RunRecord>(TableId::Runs, number, run.0)?
        .map_or_else(RunTotals::default, |r| r.totals);
    let (mut applied, mut skipped) = (Vec::new(), Vec::new());
    let listed_of = |count: u64| usize::try_from(count).map_or(LISTED, |count| count.min(LISTED));
    let (all_applied, all_skipped) = (listed_of(totals.applied), listed_of(totals.skipped));
    'parts: for part in &record.tenants {
        for item in tables.items::<RunItem>(TableId::RunItems, TenantId(part.tenant), run.0, 0)? {
            if applied.len() >= all_applied && skipped.len() >= all_skipped {
                break 'parts;
            }
            let (_, item) = item?;
            match item.why {
                None => listed(&mut applied, item.id),
                Some(why) if skipped.len() < LISTED => skipped.push(Skipped { id: item.id, why: why.into() }),
                Some(_) => {}
            }
        }
    }
    Ok(AppliedPlan { run, plan, applied, skipped, totals, complete, repeated })
}

/// What says how many cards of a tenant are too many, where a plan takes some for that.
fn budgets(store: &Store, tenant: TenantId, part: &TenantPart, given: bool) -> Result<Option<Arc<Budgets>>> {
    if [Action::Archive, Action::Forget].iter().all(|of| !part.actions.contains_key(of.name())) {
        return Ok(None);
    }
    let partition = |track: &Track| Ok((*track, store.cache().partition(store.database(), tenant, *track)?));
    let partitions = Track::ALL.iter().map(partition).collect::<Result<_>>()?;
    Ok(Some(Arc::new(Budgets::new(tenant, store.life_rules(tenant)?, partitions, given))))
}

/// Writes the record of a run before anything is done; the one that is there where one is.
fn begin(
    scope: Scope<'_>,
    (number, run): (TenantId, RunId),
    plan: PlanId,
    reason: Reason,
    now: Timestamp,
) -> Result<RunRecord> {
    let tables = scope.store().database().read()?;
    let enabled = match scope {
        Scope::Store(_) => stored_policy(&tables, STORE)?.is_none_or(|policy| policy.enabled),
        Scope::Tenant(tenant) => {
            tenant.id()?.map_or(Ok(true), |id| Ok(policies_of(&tables, id)?.enabled()))?
        }
    };
    drop(tables);
    if !enabled {
        return Err(Error::Unavailable("the policy has switched forgetting off (enabled = false)".into()));
    }
    scope.store().database().write(move |batch| {
        if let Some(found) = batch.tables().document(TableId::Runs, number, run.0)? {
            return Ok(found);
        }
        let record = RunRecord {
            plan: Some(plan),
            started_at: now,
            actor: reason.actor,
            why: reason.why,
            ..RunRecord::default()
        };
        batch.put_document(TableId::Runs, number, run.0, &record)?;
        Ok(record)
    })
}

/// Notes that a run has done everything.
fn finish(scope: Scope<'_>, (number, run): (TenantId, RunId), parts: Vec<TenantPart>) -> Result<()> {
    let now = scope.now();
    scope.store().database().write(move |batch| {
        let Some(mut record) = batch.tables().document::<RunRecord>(TableId::Runs, number, run.0)? else {
            return Ok(());
        };
        record.finished_at.get_or_insert(now);
        for part in parts {
            let tenant = TenantId(part.tenant);
            // Only what purges need be read once more: everybody's writes wait meanwhile.
            if part.actions.contains_key(Action::Purge.name()) {
                let purged = purged(batch, tenant, run)?;
                erase::forget_reasons(batch, tenant, &purged)?;
            }
            if part.merged_upto > 0 && batch.tables().has_tenant(tenant)? {
                batch.put_setting(tenant, crate::forget::plan::MERGED, &part.merged_upto)?;
            }
        }
        batch.put_document(TableId::Runs, number, run.0, &record)
    })
}

/// The cards that a run has purged.
fn purged(batch: &Batch<'_>, tenant: TenantId, run: RunId) -> Result<HashSet<CardId>> {
    let mut purged = HashSet::new();
    for item in batch.tables().items::<RunItem>(TableId::RunItems, tenant, run.0, 0)? {
        let (_, item) = item?;
        if item.action == Action::Purge && item.why.is_none() {
            purged.insert(item.id);
        }
    }
    Ok(purged)
}

/// Takes a run back.
pub(super) fn undo(scope: Scope<'_>, request: Undo) -> Result<Undone> {
    let run = request.run.ok_or_else(|| Error::invalid("run", "is missing"))?;
    let reason = reason(request.actor, request.reason);
    scope.store().check_reason(&reason)?;
    let database = scope.store().database();
    let only = |record: &RunRecord, tenant: TenantId| {
        !record.done.is_empty() && record.done.keys().all(|of| *of == tenant.0)
    };
    let (number, record) = document(scope, TableId::Runs, run.0, only)?
        .ok_or_else(|| Error::NotFound { what: run.to_string() })?;
    let mut answer = Undone { run, restored: vec![], skipped: vec![], totals: RunTotals::default() };
    for (tenant, items) in record.done.iter().rev() {
        let tenant = TenantId(*tenant);
        if !database.read()?.has_tenant(tenant)? {
            continue;
        }
        let mut end = *items;
        while end > 0 {
            let start = end.saturating_sub(undo::PIECE as u32);
            let undoing =
                Undoing { run, tenant, numbers: start..end, reason: reason.clone(), now: scope.now() };
            for (id, why) in database.write(move |batch| undoing.run(batch))? {
                answer.totals.applied += u64::from(why.is_none());
                answer.totals.skipped += u64::from(why.is_some());
                match why {
                    None => listed(&mut answer.restored, id),
                    Some(why) if answer.skipped.len() < LISTED => {
                        answer.skipped.push(Skipped { id, why: why.into() });
                    }
                    Some(_) => {}
                }
            }
            end = start;
        }
    }
    let now = scope.now();
    database.write(move |batch| {
        if let Some(mut record) = batch.tables().document::<RunRecord>(TableId::Runs, number, run.0)? {
            record.undone_at.get_or_insert(now);
            batch.put_document(TableId::Runs, number, run.0, &record)?;
        }
        Ok(())
    })?;
    Ok(answer)
}
