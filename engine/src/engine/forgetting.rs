//! Plans, runs and policies: of the whole store, or of one tenant.
//!
//! The two have the same calls. What belongs to a tenant's handle stands under that tenant
//! and knows of no other one.

use serde_json::Value;

use crate::engine::planning::{excerpt, plan, plans, shown_plan};
use crate::engine::policy::{PolicyView, policy, set_policy};
use crate::engine::running::{apply, undo};
use crate::engine::tenant::reason;
use crate::engine::{Store, Tenant};
use crate::forget::feedback::FeedingBack;
use crate::store::{STORE, TenantId};
use crate::time::Timestamp;
use crate::verbs::{
    AppliedPlan, Apply, FedBack, Feedback, MakePlan, PlanId, PlanSummary, Planned, Undo, Undone,
};
use crate::{Error, Result};

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

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Store(_) => "",
            Self::Tenant(tenant) => tenant.name(),
        }
    }

    /// Where the records stand; `None` for a tenant that is not there.
    pub(super) fn number(&self) -> Result<Option<TenantId>> {
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
        apply(Scope::Tenant(self), request, |_, _| true)
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
        apply(Scope::Store(self), request, |_, _| true)
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
