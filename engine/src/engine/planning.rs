//! Making plans, keeping and showing them.

use std::collections::BTreeMap;

use crate::card::Track;
use crate::engine::Store;
use crate::engine::forgetting::Scope;
use crate::engine::policy::{describe, read_policy};
use crate::forget::LISTED;
use crate::forget::consolidate::Consolidation;
use crate::forget::due::{catch_up, drop_stale};
use crate::forget::plan::{Found, Most, PlanRecord, Planner, TenantPart, count, digest, plan_id};
use crate::forget::resolve::{Policies, RunLimits};
use crate::forget::rules::policies_of;
use crate::forget::run::{RunRecord, run_of};
use crate::store::{Lookup, ReadBytes, STORE, TableId, Tables, TenantId};
use crate::time::{Duration, Timestamp};
use crate::verbs::{MakePlan, PlanId, PlanItem, PlanSummary, Planned, PlannedItem, RunId, Totals, Work};
use crate::{Error, Result};

/// Plans that nobody carried out are kept so long.
pub(super) const PLANS_KEPT: Duration = Duration::from_hours(24 * 30);

/// Characters of a card's content that a plan shows.
pub(super) const EXCERPT: usize = 120;

/// What a plan looks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sought<'a> {
    /// What the policy says.
    Due,
    /// What can be summed up by these rules.
    Consolidation(&'a [Consolidation]),
}

/// What a plan would do, by tenant.
pub(super) type Parts = Vec<(TenantId, String, Vec<PlanItem>)>;

/// Makes a plan and keeps it.
pub(super) fn plan(scope: Scope<'_>, request: &MakePlan) -> Result<Planned> {
    plan_for(scope, request, Sought::Due)
}

/// Makes a plan of what is sought and keeps it.
pub(super) fn plan_for(scope: Scope<'_>, request: &MakePlan, sought: Sought<'_>) -> Result<Planned> {
    let (record, all) = make(scope, request, sought)?;
    let plan = plan_id(&record.digest, scope.name());
    keep(scope, plan, &record, &all)?;
    // Of a tenant that is not there, there are no runs.
    show(scope, scope.number()?.unwrap_or(STORE), plan, record)
}

/// Makes a plan and keeps it if there is anything in it.
pub(super) fn plan_if_any(scope: Scope<'_>, request: &MakePlan) -> Result<Option<PlanId>> {
    let (record, all) = make(scope, request, Sought::Due)?;
    if record.totals.items == 0 {
        return Ok(None);
    }
    let plan = plan_id(&record.digest, scope.name());
    keep(scope, plan, &record, &all)?;
    Ok(Some(plan))
}

/// Finds out what a plan says.
pub(super) fn make(scope: Scope<'_>, request: &MakePlan, sought: Sought<'_>) -> Result<(PlanRecord, Parts)> {
    let (store, now) = (scope.store(), scope.now());
    check_limits(request)?;
    let given = request.policy.as_ref().map(read_policy).transpose()?;
    let tenants = scope.tenants(&request.tenants)?;
    let mut record = PlanRecord {
        digest: String::new(),
        made_at: now,
        tenants: vec![],
        totals: Totals::default(),
        policy: String::new(),
        given: given.is_some(),
        notes: vec![],
        work: Work::default(),
    };
    let mut all: Parts = Vec::new();
    let mut left_out = 0u64;
    let (mut described, mut set, mut switched_off) = (None, false, false);
    for (id, name) in tenants {
        let mut policies = policies_of(&store.database().read()?, id)?;
        if let Some(policy) = &given {
            policies = Policies { store: Some(policy.clone()), tenant: None };
        }
        set |= policies.is_set();
        switched_off |= !policies.enabled();
        described.get_or_insert_with(|| describe(&policies, given.is_some()));
        let mut limits = policies.limits();
        limits.tenants_share = request.limits.tenants.unwrap_or(limits.tenants_share);
        if request.tenants.is_empty() && matches!(scope, Scope::Store(_)) && !limits.includes(&name) {
            left_out += 1;
            continue;
        }
        let found = plan_tenant(store, (id, &policies), &limits, (request, sought), now)?;
        record.totals.held_back += found.held_back;
        for note in &found.notes {
            record.notes.push(match scope {
                Scope::Store(_) => format!("{name}: {note}"),
                Scope::Tenant(_) => note.clone(),
            });
        }
        record.work.tenants += 1;
        record.work.due += found.work.due;
        record.work.cards += found.work.cards;
        let mut totals = Totals::default();
        count(&mut totals, &found.items);
        count(&mut record.totals, &found.items);
        if !found.items.is_empty() || found.merged_upto > 0 {
            record.tenants.push(TenantPart {
                tenant: id.0,
                items: found.items.len() as u32,
                actions: totals.actions,
                merged_upto: found.merged_upto,
            });
            all.push((id, name, found.items));
        }
    }
    if left_out > 0 {
        record.notes.push(format!("{left_out} tenants are not in the policy's share of tenants"));
    }
    if switched_off {
        record.notes.push("a policy has switched forgetting off (enabled = false): apply will refuse".into());
    }
    if record.totals.held_back > 0 {
        record.notes.push(format!(
            "{} more are due and held back by the limits; `consent` or higher limits let them in",
            record.totals.held_back
        ));
    }
    if !set && matches!(sought, Sought::Due) {
        record
            .notes
            .push("no policy is set: the built-in one is only proposed; by itself only what is temporary ends, after 7 days".into());
    }
    record.policy = described.unwrap_or_else(|| "built-in".into());
    record.digest = digest(now, all.iter().map(|(_, name, items)| (name.as_str(), items.as_slice())))?;
    Ok((record, all))
}

pub(super) fn check_limits(request: &MakePlan) -> Result<()> {
    let share = |field: &str, share: Option<f64>| match share {
        Some(share) if !(share > 0.0 && share <= 1.0) => {
            Err(Error::invalid(field, "must be a number above 0 and at most 1"))
        }
        _ => Ok(()),
    };
    share("limits.share", request.limits.share)?;
    share("limits.tenants", request.limits.tenants)?;
    if request.limits.items == Some(0) {
        return Err(Error::invalid("limits.items", "must be at least 1"));
    }
    Ok(())
}

/// What is found in one tenant.
pub(super) fn plan_tenant(
    store: &Store,
    (tenant, policies): (TenantId, &Policies),
    limits: &RunLimits,
    (request, sought): (&MakePlan, Sought<'_>),
    now: Timestamp,
) -> Result<Found> {
    let database = store.database();
    let mut caught_up = 0;
    let progress = catch_up(database, tenant, policies, &mut caught_up)?;
    let limits = RunLimits {
        items: request.limits.items.unwrap_or(limits.items),
        share: request.limits.share.unwrap_or(limits.share),
        ..limits.clone()
    };
    let most = match request.consent {
        true => Most { items: u64::MAX, leaving: u64::MAX },
        false => Most { items: limits.items, leaving: limits.most(progress.cards) },
    };
    let tables = database.read()?;
    let partitions = |track: Track| store.cache().partition(database, tenant, track);
    let lookup = |lookup: &Lookup<'_>| database.leads_to(&tables, tenant, lookup);
    let planner = Planner {
        tables: &tables,
        tenant,
        policies,
        now,
        wanted: &request.rules,
        most,
        partitions: &partitions,
        lookup: &lookup,
    };
    let mut found = match sought {
        Sought::Due => planner.find()?,
        Sought::Consolidation(rules) => planner.find_consolidations(rules)?,
    };
    if request.policy.is_some() {
        // What another policy lets pass is not settled for the one in force.
        found.merged_upto = 0;
    }
    if found.items.is_empty() && found.held_back == 0 && found.merged_upto > 0 {
        // Nothing will be carried out that would note how far duplicates were looked for.
        let upto = found.merged_upto;
        database.write(move |batch| match batch.tables().has_tenant(tenant)? {
            true => batch.put_setting(tenant, crate::forget::plan::MERGED, &upto),
            false => Ok(()),
        })?;
    }
    if !found.stale.is_empty() {
        let stale = std::mem::take(&mut found.stale);
        database.write(move |batch| drop_stale(batch, tenant, &stale))?;
    }
    Ok(found)
}

/// Writes a plan, its items first: without its record it is none.
pub(super) fn keep(scope: Scope<'_>, plan: PlanId, record: &PlanRecord, all: &Parts) -> Result<()> {
    const PIECE: usize = 2048;
    let database = scope.store().database();
    for (tenant, _, items) in all {
        for (piece, at) in items.chunks(PIECE).zip((0u32..).step_by(PIECE)) {
            let (tenant, piece) = (*tenant, piece.to_vec());
            database.write(move |batch| batch.put_items(TableId::PlanItems, tenant, (plan.0, at), &piece))?;
        }
    }
    let Some(number) = scope.number()? else { return Ok(()) };
    let (record, now) = (record.clone(), record.made_at);
    database.write(move |batch| {
        let old: Vec<(u64, PlanRecord)> =
            batch.tables().documents(TableId::Plans, number)?.collect::<Result<_>>()?;
        for (old, kept) in old {
            let run = batch.tables().document::<RunRecord>(TableId::Runs, number, run_of(PlanId(old)).0)?;
            if old != plan.0 && run.is_none() && kept.made_at.plus(PLANS_KEPT) < now {
                batch.remove_document(TableId::Plans, number, old)?;
                for part in kept.tenants {
                    batch.remove_items(TableId::PlanItems, TenantId(part.tenant), old)?;
                }
            }
        }
        batch.put_document(TableId::Plans, number, plan.0, &record)
    })
}

/// Names of tenants by number; those that were wiped since have none.
pub(super) fn names<T: ReadBytes>(scope: Scope<'_>, tables: &Tables<T>) -> Result<BTreeMap<u32, String>> {
    match scope {
        Scope::Tenant(tenant) => {
            Ok(tenant.id()?.map(|id| (id.0, tenant.name().to_owned())).into_iter().collect())
        }
        Scope::Store(_) => {
            Ok(tables.tenants()?.into_iter().map(|(id, record)| (id.0, record.name)).collect())
        }
    }
}

pub(super) fn totals_of(record: &PlanRecord, names: &BTreeMap<u32, String>, scope: Scope<'_>) -> Totals {
    let mut totals = record.totals.clone();
    if let Scope::Store(_) = scope {
        for part in record.tenants.iter().filter(|part| part.items > 0) {
            let name = names.get(&part.tenant).cloned().unwrap_or_else(|| "(wiped)".into());
            totals.tenants.insert(name, part.actions.clone());
        }
    }
    totals
}

/// A plan with its items; its run stands where the plan stands.
pub(super) fn show(scope: Scope<'_>, number: TenantId, plan: PlanId, record: PlanRecord) -> Result<Planned> {
    let tables = scope.store().database().read()?;
    let names = names(scope, &tables)?;
    let mut items = Vec::new();
    for part in &record.tenants {
        let tenant = TenantId(part.tenant);
        for item in tables.items::<PlanItem>(TableId::PlanItems, tenant, plan.0, 0)? {
            if items.len() >= LISTED {
                break;
            }
            let (_, item) = item?;
            let card = tables.card(tenant, item.id)?.or(item.make.as_deref().cloned());
            let category = card.as_ref().map(|card| card.category.clone()).unwrap_or_default();
            let shown = item.make.as_deref().map(|made| made.content.clone());
            items.push(PlannedItem {
                tenant: matches!(scope, Scope::Store(_)).then(|| names.get(&part.tenant).cloned()).flatten(),
                excerpt: shown.or(card.map(|card| card.content)).map(|content| excerpt(&content)),
                item: PlanItem { category, mark: 0, into_mark: 0, make: None, ..item },
            });
        }
    }
    let run = run_of(plan);
    let run = tables.document::<RunRecord>(TableId::Runs, number, run.0)?.map(|_| run);
    let totals = totals_of(&record, &names, scope);
    let PlanRecord { digest, made_at, policy, notes, work, .. } = record;
    Ok(Planned { plan, digest, made_at, items, totals, policy, notes, work, run })
}

/// The beginning of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(EXCERPT).collect();
    match text.chars().nth(EXCERPT) {
        Some(_) => line + "…",
        None => line,
    }
}

/// A plan or a run as the scope may see it, and where it stands: an administrator sees those of
/// every tenant, a tenant also those of an administrator that concern no other one.
pub(super) fn document<D: serde::de::DeserializeOwned>(
    scope: Scope<'_>,
    table: TableId,
    number: u64,
    concerns_only: impl Fn(&D, TenantId) -> bool,
) -> Result<Option<(TenantId, D)>> {
    let tables = scope.store().database().read()?;
    let Some(own) = scope.number()? else { return Ok(None) };
    if let Some(found) = tables.document(table, own, number)? {
        return Ok(Some((own, found)));
    }
    match scope {
        Scope::Tenant(_) => {
            let found = tables.document::<D>(table, STORE, number)?;
            Ok(found.filter(|found| concerns_only(found, own)).map(|found| (STORE, found)))
        }
        Scope::Store(_) => {
            for (tenant, _) in tables.tenants()? {
                if let Some(found) = tables.document(table, tenant, number)? {
                    return Ok(Some((tenant, found)));
                }
            }
            Ok(None)
        }
    }
}

pub(super) fn plan_record(scope: Scope<'_>, plan: PlanId) -> Result<(TenantId, PlanRecord)> {
    let only = |record: &PlanRecord, tenant: TenantId| {
        !record.tenants.is_empty() && record.tenants.iter().all(|part| part.tenant == tenant.0)
    };
    document(scope, TableId::Plans, plan.0, only)?.ok_or_else(|| Error::NotFound { what: plan.to_string() })
}

/// One plan with its items. What an administrator's plan says beside them is of other tenants as
/// well: which were looked at, by whose policy, and what is held back. A tenant is shown none of it.
pub(super) fn shown_plan(scope: Scope<'_>, plan: PlanId) -> Result<Planned> {
    let (number, mut record) = plan_record(scope, plan)?;
    if number == STORE && matches!(scope, Scope::Tenant(_)) {
        record.policy = "an administrator's plan".into();
        record.notes.clear();
        record.totals.held_back = 0;
        record.work = Work::default();
    }
    show(scope, number, plan, record)
}

/// Plans and runs, the latest first.
pub(super) fn plans(scope: Scope<'_>) -> Result<Vec<PlanSummary>> {
    let Some(number) = scope.number()? else { return Ok(vec![]) };
    let tables = scope.store().database().read()?;
    let names = names(scope, &tables)?;
    let mut all = Vec::new();
    let status = |run: &RunRecord| match (run.undone_at, run.finished_at) {
        (Some(_), _) => "undone",
        (None, Some(_)) => "applied",
        (None, None) => "running",
    };
    for plan in tables.documents::<PlanRecord>(TableId::Plans, number)? {
        let (plan, record) = plan?;
        let plan = PlanId(plan);
        let run = run_of(plan);
        let found = tables.document::<RunRecord>(TableId::Runs, number, run.0)?;
        all.push(PlanSummary {
            plan: Some(plan),
            made_at: record.made_at,
            totals: totals_of(&record, &names, scope),
            status: found.as_ref().map_or("planned", status),
            run: found.map(|_| run),
            digest: Some(record.digest),
        });
    }
    for run in tables.documents::<RunRecord>(TableId::Runs, number)? {
        let (run, record) = run?;
        if record.plan.is_some() {
            continue;
        }
        all.push(PlanSummary {
            plan: None,
            digest: None,
            made_at: record.started_at,
            totals: Totals {
                items: record.totals.applied,
                actions: record.totals.actions.clone(),
                ..Totals::default()
            },
            status: status(&record),
            run: Some(RunId(run)),
        });
    }
    all.sort_by_key(|summary| (std::cmp::Reverse(summary.made_at), summary.plan, summary.run));
    Ok(all)
}
