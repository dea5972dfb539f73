//! A run: one carrying out of a plan, or one `forget`, as it is kept for `undo`.
//!
//! The record of a run is written before anything is done; each of its items is written in
//! the transaction that does it, so that a run that was cut short is gone on with where it
//! was, and no card is ever changed without its item.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::card::CardId;
use crate::store::Item;
use crate::time::Timestamp;
use crate::verbs::{Action, PlanId, RunId, RunTotals};

/// A run. It stands with the tenant it belongs to, or with the store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RunRecord {
    /// The plan that it carries out; none for a `forget`.
    pub(crate) plan: Option<PlanId>,
    pub(crate) started_at: Timestamp,
    /// When everything was done; absent while it is under way, or was cut short.
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) actor: Option<String>,
    pub(crate) why: Option<String>,
    /// By tenant, how many of its items are done.
    pub(crate) done: BTreeMap<u32, u32>,
    pub(crate) totals: RunTotals,
    /// When it was taken back.
    pub(crate) undone_at: Option<Timestamp>,
}

impl RunRecord {
    /// Counts an item.
    pub(crate) fn count(&mut self, item: &RunItem) {
        match item.why {
            Some(_) => self.totals.skipped += 1,
            None => {
                self.totals.applied += 1;
                *self.totals.actions.entry(item.action.name().to_owned()).or_default() += 1;
            }
        }
    }
}

/// Another card that an item has changed as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    pub(crate) id: CardId,
    /// Its version before; 0 for a card that was made.
    pub(crate) before: u32,
    pub(crate) after: u32,
}

/// What a run has done with one card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunItem {
    pub(crate) id: CardId,
    pub(crate) action: Action,
    /// Its versions before and after.
    pub(crate) before: u32,
    pub(crate) after: u32,
    /// Why it was left alone; absent when it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) beside: Option<Beside>,
    /// Where the look-ups of the cards that became one have led before: key in hexadecimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lookups: Vec<(String, Option<CardId>)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) undone: bool,
}

impl Item for RunItem {
    fn holds_words(&self) -> bool {
        false
    }
}

impl RunItem {
    /// A card that was left alone.
    pub(crate) fn skipped(id: CardId, action: Action, why: &str) -> Self {
        Self {
            id,
            action,
            before: 0,
            after: 0,
            why: Some(why.into()),
            beside: None,
            lookups: vec![],
            undone: false,
        }
    }

    /// A card that was changed.
    pub(crate) fn done(id: CardId, action: Action, (before, after): (u32, u32)) -> Self {
        Self { id, action, before, after, why: None, beside: None, lookups: vec![], undone: false }
    }
}

/// The run of a plan: there is one, so that applying twice finds what the first time did.
pub(crate) fn run_of(plan: PlanId) -> RunId {
    RunId(xxh3_64_with_seed(b"the run of a plan", plan.0))
}

/// The run of a `forget` that comes next in a tenant's log. It depends on nothing that another
/// tenant does.
pub(crate) fn run_of_request(tenant: &str, sequence: u64, now: Timestamp) -> RunId {
    let seed = sequence ^ (now.as_micros() as u64).rotate_left(32);
    RunId(xxh3_64_with_seed(tenant.as_bytes(), seed))
}
