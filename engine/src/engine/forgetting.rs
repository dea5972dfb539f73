//! Plans, runs and policies: of the whole store, or of one tenant.
//!
//! The two have the same calls. What belongs to a tenant's handle stands under that tenant
//! and knows of no other one.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::card::{CardId, Reason, Track};
use crate::engine::consolidation::vectors_for;
use crate::engine::tenant::reason;
use crate::engine::{Store, Tenant};
use crate::forget::apply::{Piece, piece_of};
use crate::forget::consolidate::Consolidation;
use crate::forget::due::{catch_up, drop_stale};
use crate::forget::erase;
use crate::forget::feedback::FeedingBack;
use crate::forget::plan::{Found, Most, PlanRecord, Planner, TenantPart, count, digest, plan_id};
use crate::forget::policy::Policy;
use crate::forget::resolve::{Policies, RunLimits};
use crate::forget::run::{RunItem, RunRecord, run_of};
use crate::forget::undo::{self, Undoing};
use crate::forget::{LISTED, listed};
use crate::store::{ReadBytes, STORE, TableId, Tables, TenantId};
use crate::time::{Duration, Timestamp};
use crate::verbs::{
    Action, AppliedPlan, Apply, FedBack, Feedback, MakePlan, PlanId, PlanItem, PlanSummary, Planned,
    PlannedItem, RunId, RunTotals, Skipped, Totals, Undo, Undone, Work,
};
use crate::{Error, Result};

/// Name of the setting, of the store and of tenants, that holds the policy.
const POLICY: &str = "policy";
/// Plans that nobody carried out are kept so long.
const PLANS_KEPT: Duration = Duration::from_hours(24 * 30);
/// Characters of a card's content that a plan shows.
const EXCERPT: usize = 120;

/// Whose plans and runs they are.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    /// Those of the store: an administrator's.
    Store(&'a Store),
    /// Those of one tenant.
    Tenant(&'a Tenant),
}

impl Scope<'_> {
    pub(super) fn store(&self) -> &Store {
        match self {
            Self::Store(store) => store,
            Self::Tenant(tenant) => tenant.store(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.store().clock().now()
    }

    fn name(&self) -> &str {
        match self {
            Self::Store(_) => "",
            Self::Tenant(tenant) => tenant.name(),
        }
    }

    /// Where the records stand; `None` for a tenant that is not there.
    fn number(&self) -> Result<Option<TenantId>> {
        match self {
            Self::Store(_) => Ok(Some(STORE)),
            Self::Tenant(tenant) => tenant.id(),
        }
    }

    /// The tenants that a plan looks at, by name, in order of their creation.
    pub(super) fn tenants(&self, named: &[String]) -> Result<Vec<(TenantId, String)>> {
        match self {
            Self::Tenant(tenant) => {
                if named.iter().any(|name| name != tenant.name()) {
                    return Err(Error::invalid("tenants", "a tenant plans for itself only"));
                }
                Ok(tenant.id()?.map(|id| (id, tenant.name().to_owned())).into_iter().collect())
            }
            Self::Store(store) => {
                let tables = store.database().read()?;
                if named.is_empty() {
                    return Ok(tables.tenants()?.into_iter().map(|(id, record)| (id, record.name)).collect());
                }
                let find = |name: &String| match tables.tenant_id(name)? {
                    Some(id) => Ok((id, name.clone())),
                    None => Err(Error::NotFound { what: format!("tenant {name:?}") }),
                };
                let mut all = named.iter().map(find).collect::<Result<Vec<_>>>()?;
                all.sort_unstable();
                all.dedup();
                Ok(all)
            }
        }
    }
}

/// The policy kept under a scope.
pub(super) fn stored_policy<T: ReadBytes>(tables: &Tables<T>, scope: TenantId) -> Result<Option<Policy>> {
    if scope != STORE {
        return tables.setting(scope, POLICY);
    }
    let Some(json) = tables.meta(POLICY)? else { return Ok(None) };
    if json.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&json)
        .map(Some)
        .map_err(|e| Error::corrupt("table meta key policy", e.to_string()))
}

/// What holds for a tenant: its own policy over that of the store.
pub(crate) fn policies_of<T: ReadBytes>(tables: &Tables<T>, tenant: TenantId) -> Result<Policies> {
    Ok(Policies { store: stored_policy(tables, STORE)?, tenant: stored_policy(tables, tenant)? })
}

/// A policy as a request gives it: the name of a preset, TOML, or JSON.
pub(super) fn read_policy(value: &Value) -> Result<Policy> {
    match value {
        Value::String(name) if Policy::preset(name).is_some() => {
            Ok(Policy { preset: Some(name.clone()), ..Policy::default() })
        }
        Value::String(text) if !text.contains(['=', '\n', '{']) => {
            let names: Vec<&str> = Policy::preset_names().collect();
            Err(Error::invalid("policy", format!("{text:?} is not one of {}", names.join(", "))))
        }
        Value::String(text) => Policy::from_toml(text),
        other => {
            // A list would be taken for fields in their order.
            let rules = |name: &str| other.get(name).and_then(Value::as_object).into_iter().flatten();
            let parts = ["defaults", "tracks", "categories", "limits", "schedule"];
            let all = parts.iter().filter_map(|name| Some((*name, other.get(*name)?)));
            let all = all
                .chain(rules("tracks").chain(rules("categories")).map(|(name, rule)| (name.as_str(), rule)));
            for (field, value) in [("policy", other)].into_iter().chain(all) {
                if !(value.is_object() || value.is_null() && field != "policy") {
                    return Err(Error::invalid(
                        field,
                        "must be an object, or the whole the name of a preset or TOML",
                    ));
                }
            }
            Policy::from_json(&other.to_string())
        }
    }
}

/// The answer of `policy.get`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PolicyView {
    /// The policy that was set for this scope; absent where none was.
    pub policy: Option<Policy>,
    /// The same as TOML.
    pub toml: Option<String>,
    /// True when a policy was set, here or for the whole store: only then are cards that have
    /// faded left out of reads before a run has archived them.
    pub set: bool,
    /// False where rules do nothing.
    pub enabled: bool,
    /// What holds for each track and category that a policy names, and for others.
    pub rules: BTreeMap<String, crate::forget::resolve::Resolved>,
    /// How much one run may do.
    pub limits: RunLimits,
    /// Shipped presets.
    pub presets: Vec<&'static str>,
}

pub(super) fn policy(scope: Scope<'_>) -> Result<PolicyView> {
    let tables = scope.store().database().read()?;
    let store = stored_policy(&tables, STORE)?;
    let tenant = match scope.number()? {
        Some(STORE) | None => None,
        Some(tenant) => stored_policy(&tables, tenant)?,
    };
    let own = match scope {
        Scope::Store(_) => store.clone(),
        Scope::Tenant(_) => tenant.clone(),
    };
    let policies = Policies { store, tenant };
    let mut rules = BTreeMap::new();
    for track in Track::ALL {
        rules.insert(format!("tracks.{track}"), policies.resolve(*track, ""));
    }
    let named =
        [&policies.store, &policies.tenant].into_iter().flatten().flat_map(|policy| policy.categories.keys());
    let built_in = crate::card::category::BUILT_IN.iter().map(|name| (*name).to_owned());
    for category in named.cloned().chain(built_in) {
        let rule = policies.resolve(crate::card::category::usual_track(&category), &category);
        rules.insert(format!("categories.{category}"), rule);
    }
    Ok(PolicyView {
        toml: own.as_ref().map(Policy::to_toml).transpose()?,
        policy: own,
        set: policies.is_set(),
        enabled: policies.enabled(),
        rules,
        limits: policies.limits(),
        presets: Policy::preset_names().collect(),
    })
}

pub(super) fn set_policy(scope: Scope<'_>, value: Option<&Value>) -> Result<PolicyView> {
    let policy = value.map(read_policy).transpose()?;
    let now = scope.now();
    match scope {
        Scope::Store(store) => {
            if let Some(policy) = &policy {
                policy.check()?;
            }
            let json = match &policy {
                Some(policy) => policy.to_json()?.into_bytes(),
                None => Vec::new(),
            };
            store.database().write(move |batch| batch.put_meta(POLICY, &json))?;
        }
        Scope::Tenant(tenant) => {
            if let Some(policy) = &policy {
                policy.check_for_tenant()?;
            }
            let name = tenant.name().to_owned();
            tenant.store().database().write(move |batch| {
                let Some(policy) = policy else {
                    return match batch.tenant(&name)? {
                        Some(id) => batch.remove_setting(id, POLICY).map(drop),
                        None => Ok(()),
                    };
                };
                let id = batch.ensure_tenant(&name, now)?;
                batch.put_setting(id, POLICY, &policy)
            })?;
        }
    }
    scope.store().policies_changed();
    self::policy(scope)
}

/// What a plan looks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sought<'a> {
    /// What the policy says.
    Due,
    /// What can be summed up by these rules.
    Consolidation(&'a [Consolidation]),
}

/// What a plan would do, by tenant.
type Parts = Vec<(TenantId, String, Vec<PlanItem>)>;

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
fn make(scope: Scope<'_>, request: &MakePlan, sought: Sought<'_>) -> Result<(PlanRecord, Parts)> {
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

fn check_limits(request: &MakePlan) -> Result<()> {
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

pub(super) fn describe(policies: &Policies, given: bool) -> String {
    let preset = |policy: &Policy| match &policy.preset {
        Some(preset) => format!("preset {preset}"),
        None => "custom".to_owned(),
    };
    match (given, &policies.tenant, &policies.store) {
        (true, _, Some(policy)) => format!("given with the request: {}", preset(policy)),
        (_, Some(policy), _) => format!("the tenant's: {}", preset(policy)),
        (_, None, Some(policy)) => format!("the store's: {}", preset(policy)),
        _ => "built-in: preset assistant".to_owned(),
    }
}

/// What is found in one tenant.
fn plan_tenant(
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
    let planner = Planner {
        tables: &tables,
        tenant,
        policies,
        now,
        wanted: &request.rules,
        most,
        partitions: &partitions,
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
fn keep(scope: Scope<'_>, plan: PlanId, record: &PlanRecord, all: &Parts) -> Result<()> {
    const PIECE: usize = 2048;
    let database = scope.store().database();
    for (tenant, _, items) in all {
        for (piece, at) in items.chunks(PIECE).zip((0u32..).step_by(PIECE)) {
            let (tenant, piece) = (*tenant, piece.to_vec());
            database.write(move |batch| {
                for (item, number) in piece.iter().zip(at..) {
                    batch.put_item(TableId::PlanItems, tenant, (plan.0, number), item)?;
                }
                Ok(())
            })?;
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
fn names<T: ReadBytes>(scope: Scope<'_>, tables: &Tables<T>) -> Result<BTreeMap<u32, String>> {
    match scope {
        Scope::Tenant(tenant) => {
            Ok(tenant.id()?.map(|id| (id.0, tenant.name().to_owned())).into_iter().collect())
        }
        Scope::Store(_) => {
            Ok(tables.tenants()?.into_iter().map(|(id, record)| (id.0, record.name)).collect())
        }
    }
}

fn totals_of(record: &PlanRecord, names: &BTreeMap<u32, String>, scope: Scope<'_>) -> Totals {
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
fn show(scope: Scope<'_>, number: TenantId, plan: PlanId, record: PlanRecord) -> Result<Planned> {
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
fn excerpt(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(EXCERPT).collect();
    match text.chars().nth(EXCERPT) {
        Some(_) => line + "…",
        None => line,
    }
}

/// A plan or a run as the scope may see it, and where it stands: an administrator sees those of
/// every tenant, a tenant also those of an administrator that concern no other one.
fn document<D: serde::de::DeserializeOwned>(
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

fn plan_record(scope: Scope<'_>, plan: PlanId) -> Result<(TenantId, PlanRecord)> {
    let only = |record: &PlanRecord, tenant: TenantId| {
        !record.tenants.is_empty() && record.tenants.iter().all(|part| part.tenant == tenant.0)
    };
    document(scope, TableId::Plans, plan.0, only)?.ok_or_else(|| Error::NotFound { what: plan.to_string() })
}

/// One plan with its items.
pub(super) fn shown_plan(scope: Scope<'_>, plan: PlanId) -> Result<Planned> {
    let (number, record) = plan_record(scope, plan)?;
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

/// Carries a plan out; `pause` is called between pieces.
pub(super) fn apply(
    scope: Scope<'_>,
    request: Apply,
    mut pause: impl FnMut() -> bool,
) -> Result<AppliedPlan> {
    let plan = request.plan.ok_or_else(|| Error::invalid("plan", "is missing"))?;
    let (number, record) = plan_record(scope, plan)?;
    if request.digest.as_ref().is_some_and(|digest| *digest != record.digest) {
        return Err(Error::Conflict { message: format!("{plan} has the digest {}", record.digest) });
    }
    let database = scope.store().database();
    let (run, now) = (run_of(plan), scope.now());
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
        'tenants: for part in &record.tenants {
            let tenant = TenantId(part.tenant);
            // What was wiped meanwhile is gone, and its items with it.
            let Some(name) = names.get(&part.tenant) else { continue };
            let mut first = before.done.get(&part.tenant).copied().unwrap_or(0);
            while first < part.items {
                if !policies_of(&database.read()?, tenant)?.enabled() || !pause() {
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
                    items,
                    now: scope.now(),
                };
                first = database.write(move |batch| piece.run(batch))?;
            }
        }
        if complete {
            finish(scope, (number, run), record.tenants.clone())?;
        }
    }
    let tables = database.read()?;
    let (mut applied, mut skipped) = (Vec::new(), Vec::new());
    for part in &record.tenants {
        for item in tables.items::<RunItem>(TableId::RunItems, TenantId(part.tenant), run.0, 0)? {
            let (_, item) = item?;
            match item.why {
                None => listed(&mut applied, item.id),
                Some(why) if skipped.len() < LISTED => skipped.push(Skipped { id: item.id, why: why.into() }),
                Some(_) => {}
            }
        }
    }
    let totals = tables
        .document::<RunRecord>(TableId::Runs, number, run.0)?
        .map_or_else(RunTotals::default, |r| r.totals);
    Ok(AppliedPlan { run, plan, applied, skipped, totals, complete, repeated })
}

/// Writes the record of a run before anything is done; the one that is there where one is.
fn begin(
    scope: Scope<'_>,
    (number, run): (TenantId, RunId),
    plan: PlanId,
    reason: Reason,
    now: Timestamp,
) -> Result<RunRecord> {
    if let Scope::Store(store) = scope
        && stored_policy(&store.database().read()?, STORE)?.is_some_and(|policy| !policy.enabled)
    {
        return Err(Error::Unavailable("the policy has switched forgetting off (enabled = false)".into()));
    }
    if let Scope::Tenant(tenant) = scope
        && let Some(id) = tenant.id()?
        && !policies_of(&tenant.store().database().read()?, id)?.enabled()
    {
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

fn finish(scope: Scope<'_>, (number, run): (TenantId, RunId), parts: Vec<TenantPart>) -> Result<()> {
    let now = scope.now();
    scope.store().database().write(move |batch| {
        let Some(mut record) = batch.tables().document::<RunRecord>(TableId::Runs, number, run.0)? else {
            return Ok(());
        };
        record.finished_at.get_or_insert(now);
        for part in parts {
            let tenant = TenantId(part.tenant);
            let purged: HashSet<CardId> = batch
                .tables()
                .items::<RunItem>(TableId::RunItems, tenant, run.0, 0)?
                .filter_map(|item| match item {
                    Ok((_, item)) => {
                        (item.action == Action::Purge && item.why.is_none()).then_some(Ok(item.id))
                    }
                    Err(error) => Some(Err(error)),
                })
                .collect::<Result<_>>()?;
            erase::forget_reasons(batch, tenant, &purged)?;
            if part.merged_upto > 0 && batch.tables().has_tenant(tenant)? {
                batch.put_setting(tenant, crate::forget::plan::MERGED, &part.merged_upto)?;
            }
        }
        batch.put_document(TableId::Runs, number, run.0, &record)
    })
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
            let numbers: Vec<u32> = (start..end).rev().collect();
            let undoing = Undoing { run, tenant, numbers, reason: reason.clone(), now: scope.now() };
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

impl Tenant {
    /// Says which recalled cards were of use and which were wrong; see [`Feedback`].
    ///
    /// # Errors
    /// [`Error::NotFound`] for an identifier that is not there (then nothing is changed);
    /// [`Error::InvalidArgument`] when no card is named, or one as both.
    pub fn feedback(&self, request: Feedback) -> Result<FedBack> {
        let limits = self.store().limits();
        for (field, ids) in [("used", &request.used), ("rejected", &request.rejected)] {
            if ids.len() > limits.batch {
                return Err(Error::TooLarge {
                    field: field.into(),
                    actual: ids.len() as u64,
                    limit: limits.batch as u64,
                    unit: "items",
                });
            }
        }
        let (mut used, mut rejected) = (request.used, request.rejected);
        for ids in [&mut used, &mut rejected] {
            let mut seen = std::collections::HashSet::new();
            ids.retain(|id| seen.insert(*id));
        }
        if used.is_empty() && rejected.is_empty() {
            return Err(Error::invalid("used", "name the cards that were used, or rejected"));
        }
        if used.iter().any(|id| rejected.contains(id)) {
            return Err(Error::invalid("rejected", "a card cannot be used and rejected"));
        }
        let mut reason = reason(request.actor, request.reason);
        if reason.why.is_none() {
            reason.why = request.query.map(|query| excerpt(&query));
        }
        self.store().check_reason(&reason)?;
        let feeding = FeedingBack {
            tenant: self.name().to_owned(),
            used,
            rejected,
            reason,
            rules: self.life_rules()?,
            now: self.store().clock().now(),
        };
        self.store().database().write(move |batch| feeding.run(batch))
    }

    /// Finds out what the rules would forget of this tenant; changes no card.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] names the field.
    pub fn plan(&self, request: &MakePlan) -> Result<Planned> {
        plan(Scope::Tenant(self), request)
    }

    /// The tenant's plans and runs, the latest first, without items.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn plans(&self) -> Result<Vec<PlanSummary>> {
        plans(Scope::Tenant(self))
    }

    /// One plan with its items.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a plan that is not there, or is another tenant's.
    pub fn show_plan(&self, plan: PlanId) -> Result<Planned> {
        shown_plan(Scope::Tenant(self), plan)
    }

    /// Carries a plan out: exactly what it says, of cards that are as they were. A call that was
    /// cut short is gone on with by the next one; a second one does nothing.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] on another digest or after an undo;
    /// [`Error::Unavailable`] when the policy has switched forgetting off.
    pub fn apply(&self, request: Apply) -> Result<AppliedPlan> {
        apply(Scope::Tenant(self), request, || true)
    }

    /// Takes back what a run has done, of cards that have not changed since.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run that is not there, or is another tenant's.
    pub fn undo(&self, request: Undo) -> Result<Undone> {
        undo(Scope::Tenant(self), request)
    }

    /// The tenant's policy, and what holds for it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn policy(&self) -> Result<PolicyView> {
        policy(Scope::Tenant(self))
    }

    /// Gives the tenant a policy of its own (a preset's name, TOML or JSON), or takes it away.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] names the field; then nothing is changed.
    pub fn set_policy(&self, value: Option<&Value>) -> Result<PolicyView> {
        set_policy(Scope::Tenant(self), value)
    }
}

impl Store {
    /// Finds out what the rules would forget, of all tenants or of those named; changes no card.
    /// An administrator's view.
    ///
    /// # Errors
    /// As [`Tenant::plan`]; [`Error::NotFound`] for a tenant that is not there.
    pub fn plan(&self, request: &MakePlan) -> Result<Planned> {
        plan(Scope::Store(self), request)
    }

    /// The store's own plans and runs (not those of tenants), the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn plans(&self) -> Result<Vec<PlanSummary>> {
        plans(Scope::Store(self))
    }

    /// One of the store's own plans with its items.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a plan that is not there.
    pub fn show_plan(&self, plan: PlanId) -> Result<Planned> {
        shown_plan(Scope::Store(self), plan)
    }

    /// Carries out one of the store's own plans; see [`Tenant::apply`].
    ///
    /// # Errors
    /// As [`Tenant::apply`].
    pub fn apply(&self, request: Apply) -> Result<AppliedPlan> {
        apply(Scope::Store(self), request, || true)
    }

    /// Takes back what one of the store's own runs has done; see [`Tenant::undo`].
    ///
    /// # Errors
    /// As [`Tenant::undo`].
    pub fn undo(&self, request: Undo) -> Result<Undone> {
        undo(Scope::Store(self), request)
    }

    /// The policy of the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn policy(&self) -> Result<PolicyView> {
        policy(Scope::Store(self))
    }

    /// Gives the store a policy (a preset's name, TOML or JSON), or takes it away.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] names the field; then nothing is changed.
    pub fn set_policy(&self, value: Option<&Value>) -> Result<PolicyView> {
        set_policy(Scope::Store(self), value)
    }
}
