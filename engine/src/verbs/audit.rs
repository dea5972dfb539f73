//! What `audit` takes and answers.

use serde::{Deserialize, Serialize};

use crate::card::CardId;
use crate::time::Timestamp;
use crate::verbs::{PlanId, RunId, RunTotals};

/// Read who changed what, the latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// Changes before this position of the log; from its end when absent. Of a tenant only: the store
    /// has no log of its own.
    pub before: Option<u64>,
    /// Runs that began before this one, the last of an earlier answer; from the latest when absent.
    pub before_run: Option<RunId>,
    /// Changes and runs in the answer, of each at most so many, 1 to 1,000; 50 when absent.
    pub limit: Option<usize>,
}

/// A change of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditedChange {
    /// Its position in the tenant's log.
    pub seq: u64,
    /// When it was made.
    pub at: Timestamp,
    /// `version` (it has a new one), `touch` (it was counted or used), `lookups` (only what leads to
    /// it), `vector` (it was embedded anew), `purge` (it is gone), `cool` and `thaw` (it moved to
    /// the cold tier, or back).
    pub kind: &'static str,
    /// The card.
    pub id: CardId,
    /// The version that the change is about.
    pub version: u32,
    /// What was done; absent where no version says so, or it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A run: a plan that was carried out, or a `forget`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditedRun {
    /// The run.
    pub run: RunId,
    /// The plan that it carried out; absent for a `forget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it had done everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// When it was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<Timestamp>,
    /// Who asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many cards it has changed and left alone.
    pub totals: RunTotals,
}

/// Answer of `audit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// Changes of the tenant's cards, the latest first.
    pub changes: Vec<AuditedChange>,
    /// Runs, the latest first.
    pub runs: Vec<AuditedRun>,
}
