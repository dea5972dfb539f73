//! One schema of verbs: what each takes and answers, in every way in.

mod answer;
mod audit;
mod dispatch;
mod forgetting;
mod relations;
mod request;
mod simulation;

pub use crate::forget::consolidate::Consolidation;
pub use answer::{
    Affected, CardView, Corrected, FieldChange, Forgotten, HistoryAnswer, Hit, Outcome, Page, Recalled,
    Remembered, Restored, Searched, Skipped, VersionView, Withheld,
};
pub use audit::{Audit, Audited, AuditedChange, AuditedRun};
pub use dispatch::{Format, VERBS, Verb, error_answer, execute, execute_all, import};
pub use forgetting::{
    Action, AppliedPlan, Apply, Consolidate, Consolidated, FedBack, Feedback, Figures, MakePlan, PlanId,
    PlanItem, PlanLimits, PlanSummary, Planned, PlannedItem, Plans, Proof, RunId, RunTotals, Totals, Undo,
    Undone, Wipe, Wiped, Work,
};
pub use relations::{
    Attribute, AttributeVersion, Direction, Edge, Entity, EntityCards, EntityView, Path, PathEdge, Relate,
    Walk, Walked,
};
pub use request::{
    Correct, Count, Forget, Get, History, How, Include, List, Order, Recall, Remember, Restore,
};
pub use simulation::{AgeBand, Purges, Simulate, Simulated, StateAges, TenantTiers, Tiers, UseOfCard};
