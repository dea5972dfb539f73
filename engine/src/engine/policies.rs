//! The policies in force, so that a read need not look them up.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::Result;
use crate::engine::Store;
use crate::forget::rules::{LifeRules, policies_of};
use crate::store::TenantId;

/// Policies by tenant, as far as they were asked for since one was last set.
#[derive(Debug, Default)]
pub(super) struct PolicyCache {
    known: RwLock<HashMap<TenantId, Arc<LifeRules>>>,
    /// Counts the changes: what was read before one is not kept after it.
    changes: AtomicU64,
}

impl Store {
    /// What reads of a tenant judge by.
    pub(crate) fn life_rules(&self, tenant: TenantId) -> Result<Arc<LifeRules>> {
        let cache = &self.inner.policies;
        if let Some(known) = cache.known.read().get(&tenant) {
            return Ok(known.clone());
        }
        let before = cache.changes.load(Ordering::Acquire);
        let policies = policies_of(&self.database().read()?, tenant)?;
        let rules = Arc::new(LifeRules::new(Arc::new(policies)));
        let mut known = cache.known.write();
        if cache.changes.load(Ordering::Acquire) == before {
            known.insert(tenant, rules.clone());
        }
        Ok(rules)
    }

    /// Drops what is known: a policy was set, or a tenant wiped.
    pub(super) fn policies_changed(&self) {
        let mut known = self.inner.policies.known.write();
        self.inner.policies.changes.fetch_add(1, Ordering::Release);
        known.clear();
    }
}
