//! The policy of the store and of tenants: reading, setting, and what holds by it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::card::Track;
use crate::engine::forgetting::Scope;
use crate::forget::policy::Policy;
use crate::forget::resolve::{Policies, RunLimits};
use crate::forget::rules::{POLICY, stored_policy};
use crate::store::STORE;
use crate::{Error, Result};

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
            let parts = ["defaults", "tracks", "categories", "limits", "schedule", "recall"];
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
    /// The settings of recall that hold; absent where no policy changes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<crate::recall::Settings>,
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
        recall: policies.recall_settings(&scope.store().inner.recall)?,
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
