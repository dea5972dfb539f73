//! What a store holds, as it can be compared: of each tenant every change, version, vector and
//! look-up that an export tells of, the policies, and what became of plans.

use std::collections::{BTreeMap, HashSet};

use memcards::Store;
use memcards::exchange::Export;
use xxhash_rust::xxh3::xxh3_64;

use crate::failure::{Checked, Failure};
use crate::words;

/// What one tenant holds.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TenantTruth {
    /// Its lines of an export.
    pub lines: Vec<u8>,
    /// Its plans, and whether they are carried out.
    pub plans: BTreeMap<String, &'static str>,
    /// Its policy.
    pub policy: String,
}

/// What a store holds.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Truth {
    /// By name.
    pub tenants: BTreeMap<String, TenantTruth>,
    /// The administrator's plans.
    pub plans: BTreeMap<String, &'static str>,
    /// The policy of the store.
    pub policy: String,
}

impl Truth {
    /// Reads it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(store: &Store) -> Checked<Self> {
        let mut bytes = Vec::new();
        store.export(&mut bytes, &Export { vectors: true, ..Export::default() }, |_| {})?;
        let mut truth = Self { policy: told(&store.policy()?.policy), ..Self::default() };
        for plan in store.plans()? {
            truth.plans.extend(plan.plan.map(|id| (id.to_string(), plan.status)));
        }
        let mut name = None;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.starts_with(br#"{"type":"tenant""#) {
                let json: serde_json::Value = serde_json::from_slice(line)
                    .map_err(|error| Failure(format!("an export's line: {error}")))?;
                name = json["tenant"].as_str().map(str::to_owned);
            }
            let is_end = line.starts_with(br#"{"type":"end""#);
            if let Some(name) = name.as_ref().filter(|_| !is_end) {
                truth.tenants.entry(name.clone()).or_default().lines.extend_from_slice(line);
            }
        }
        for (name, held) in &mut truth.tenants {
            let tenant = store.tenant(name)?;
            held.policy = told(&tenant.policy()?.policy);
            for plan in tenant.plans()? {
                held.plans.extend(plan.plan.map(|id| (id.to_string(), plan.status)));
            }
        }
        Ok(truth)
    }

    /// The words that stand in it, of those that were given out.
    pub fn words(&self, sought: &HashSet<String>) -> HashSet<String> {
        let mut seen = HashSet::new();
        for held in self.tenants.values() {
            words::found(&held.lines, sought, |word| {
                seen.insert(word.to_owned());
            });
        }
        seen
    }

    /// One number for everything that an export tells.
    pub fn digest(&self) -> u64 {
        let mut all = Vec::new();
        for (name, held) in &self.tenants {
            all.extend_from_slice(name.as_bytes());
            all.extend_from_slice(&xxh3_64(&held.lines).to_le_bytes());
        }
        xxh3_64(&all)
    }
}

fn told<T: std::fmt::Debug>(policy: &T) -> String {
    format!("{policy:?}")
}

/// A plan goes from not being there over being kept and being carried out to its end.
fn stage(status: Option<&&'static str>) -> usize {
    match status {
        None => 0,
        Some(&"planned") => 1,
        Some(&"running") => 2,
        Some(&"applied") => 3,
        Some(_) => 4,
    }
}

/// Whether plans are at a stage between two others, each of them.
fn plans_between(
    found: &BTreeMap<String, &'static str>,
    before: &BTreeMap<String, &'static str>,
    after: &BTreeMap<String, &'static str>,
) -> Checked {
    for plan in found.keys().chain(before.keys()).chain(after.keys()) {
        let [here, least, most] = [found, before, after].map(|plans| stage(plans.get(plan)));
        if !(least.min(most)..=least.max(most)).contains(&here) {
            return Err(Failure(format!(
                "{plan} is {:?}; it was {:?} and would be {:?}",
                found.get(plan),
                before.get(plan),
                after.get(plan)
            )));
        }
    }
    Ok(())
}

/// Fails unless what was found is what was there before one call or after it, tenant by tenant.
/// `grows`: the call may be cut between its commits, each of which adds changes.
///
/// # Errors
/// Says what differs.
pub fn between(found: &Truth, before: &Truth, after: &Truth, grows: bool) -> Checked {
    let names: std::collections::BTreeSet<&String> =
        found.tenants.keys().chain(before.tenants.keys()).chain(after.tenants.keys()).collect();
    for name in names {
        let [here, old, new] = [found, before, after].map(|truth| truth.tenants.get(name));
        let lines = |held: Option<&TenantTruth>| held.map(|held| held.lines.clone());
        let (is, was, becomes) = (lines(here), lines(old), lines(new));
        let part_way = grows
            && is.as_ref().is_some_and(|is| {
                becomes.as_ref().is_some_and(|new| new.starts_with(is))
                    && was.as_ref().is_none_or(|old| is.starts_with(old))
            });
        if is != was && is != becomes && !part_way {
            return Err(Failure(format!("tenant {name}: {}", difference(is, was, becomes))));
        }
        let empty = TenantTruth::default();
        let [here, old, new] = [here, old, new].map(|held| held.unwrap_or(&empty));
        if here.policy != old.policy && here.policy != new.policy && !here.policy.is_empty() {
            return Err(Failure(format!("tenant {name}: its policy is {}", here.policy)));
        }
        let gone = is.is_none() || old.lines.is_empty() || new.lines.is_empty();
        if !gone {
            plans_between(&here.plans, &old.plans, &new.plans)?;
        }
    }
    if found.policy != before.policy && found.policy != after.policy {
        return Err(Failure(format!("the policy of the store is {}", found.policy)));
    }
    plans_between(&found.plans, &before.plans, &after.plans)
}

fn difference(is: Option<Vec<u8>>, was: Option<Vec<u8>>, becomes: Option<Vec<u8>>) -> String {
    let Some(is) = is else { return "it is not there".into() };
    let compare = |other: &Option<Vec<u8>>| {
        let Some(other) = other else { return "not there".to_owned() };
        let (mine, theirs) = (String::from_utf8_lossy(&is), String::from_utf8_lossy(other));
        let (mine, theirs): (Vec<&str>, Vec<&str>) = (mine.lines().collect(), theirs.lines().collect());
        let at = mine.iter().zip(&theirs).take_while(|(left, right)| left == right).count();
        format!(
            "{} lines of {}, first other line {}: {:.300} / {:.300}",
            mine.len(),
            theirs.len(),
            at + 1,
            mine.get(at).unwrap_or(&"(end)"),
            theirs.get(at).unwrap_or(&"(end)")
        )
    };
    format!("neither as before ({}) nor as after ({})", compare(&was), compare(&becomes))
}
