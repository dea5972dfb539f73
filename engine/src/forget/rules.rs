//! The rules in force for a tenant, as reads judge cards by them, each resolved once.
//!
//! Every read judges age at its own instant, whether or not a run has come by since: `ttl` holds
//! wherever rules are on, fading where an operator has set a policy. A card's own expiry is the
//! caller's word and holds always.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use crate::card::{Card, State, Track};
use crate::forget::due::life;
use crate::forget::lifecycle::Life;
use crate::forget::policy::Policy;
use crate::forget::resolve::{Policies, Resolved};
use crate::recall::Settings;
use crate::store::{ReadBytes, STORE, Tables, TenantId};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Name of the setting, of the store and of tenants, that holds the policy.
pub(crate) const POLICY: &str = "policy";

/// Rules that are kept: more categories than an application has, unless it makes them up.
const KEPT: usize = 4096;

/// The policy kept under a scope.
pub(crate) fn stored_policy<T: ReadBytes>(tables: &Tables<T>, scope: TenantId) -> Result<Option<Policy>> {
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

/// The rules that hold for the cards of a tenant.
#[derive(Debug)]
pub(crate) struct LifeRules {
    policies: Arc<Policies>,
    known: RwLock<HashMap<Track, HashMap<String, Arc<Resolved>>>>,
    /// Whether `ttl` is judged.
    expires: bool,
    /// Whether cards leave active memory by age before a run has archived them.
    fades: bool,
    /// The settings of recall, once they were asked for.
    recall: OnceLock<Arc<Settings>>,
}

impl Default for LifeRules {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl LifeRules {
    pub(crate) fn new(policies: Arc<Policies>) -> Self {
        let expires = policies.enabled();
        Self {
            known: RwLock::default(),
            expires,
            fades: expires && policies.is_set(),
            recall: OnceLock::new(),
            policies,
        }
    }

    /// The settings of recall that hold for the tenant, over those of the store's options.
    ///
    /// # Errors
    /// As [`Policies::recall_settings`].
    pub(crate) fn recall_settings(&self, base: &Arc<Settings>) -> Result<Arc<Settings>> {
        if let Some(known) = self.recall.get() {
            return Ok(known.clone());
        }
        let settings = self.policies.recall_settings(base)?.map_or_else(|| base.clone(), Arc::new);
        Ok(self.recall.get_or_init(|| settings).clone())
    }

    /// True where cards may expire by a rule.
    pub(crate) fn expires(&self) -> bool {
        self.expires
    }

    /// True unless a policy has switched forgetting off.
    pub(crate) fn enabled(&self) -> bool {
        self.policies.enabled()
    }

    /// True where cards leave active memory by age alone.
    pub(crate) fn fades(&self) -> bool {
        self.fades
    }

    /// What holds for the cards of a track and category.
    pub(crate) fn of(&self, track: Track, category: &str) -> Arc<Resolved> {
        if let Some(rule) = self.known.read().get(&track).and_then(|known| known.get(category)) {
            return rule.clone();
        }
        let rule = Arc::new(self.policies.resolve(track, category));
        let mut known = self.known.write();
        let known = known.entry(track).or_default();
        if known.len() < KEPT {
            known.insert(category.to_owned(), rule.clone());
        }
        rule
    }

    /// Whether a card's time is over, by its own expiry or by its rule.
    pub(crate) fn has_expired(&self, life: &Life, rule: &Resolved, at: Timestamp) -> bool {
        match self.expires {
            true => life.expires(rule),
            false => life.expires_at,
        }
        .is_some_and(|end| end <= at)
    }

    /// The same of a card.
    pub(crate) fn is_expired(&self, card: &Card, at: Timestamp) -> bool {
        card.is_expired(at)
            || card.expires_at.is_none()
                && self.expires
                && self.has_expired(&life(card), &self.of(card.track, &card.category), at)
    }

    /// The state in which reads of the present find a card.
    pub(crate) fn state(&self, life: &Life, rule: &Resolved, at: Timestamp) -> State {
        if self.fades { life.state_at(rule, at) } else { life.state }
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
