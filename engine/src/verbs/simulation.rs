//! What `simulate` and `tiers` take and answer: how cards will age, and how they have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::card::CardId;
use crate::forget::simulate::Simulation;
use crate::time::{Duration, Timestamp};

/// Play a policy over the cards there are, on a virtual clock that starts now. Changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simulate {
    /// Only these tenants; all when empty. Through a tenant's handle, that tenant.
    pub tenants: Vec<String>,
    /// The policy to play: the name of a preset, or a policy as `policy.set` takes it. The one
    /// in force when absent.
    pub policy: Option<Value>,
    /// How many days, 1 to 3,653.
    pub days: u32,
    /// Time from one run to the next; the policy's when absent.
    pub every: Option<Duration>,
    /// Which cards are used when. Through a tenant's handle only.
    pub uses: Vec<UseOfCard>,
}

impl Default for Simulate {
    fn default() -> Self {
        Self { tenants: vec![], policy: None, days: 365, every: None, uses: vec![] }
    }
}

/// A use of a card, which counts as a reference and brings a cold card back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UseOfCard {
    /// The card.
    pub id: CardId,
    /// On which day, 0 being the first; it happens as that day begins.
    pub day: u32,
}

/// Answer of `simulate`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// The beginning of day 0.
    pub start: Timestamp,
    /// How many tenants were played.
    pub tenants: u64,
    /// How many cards were played.
    pub cards: u64,
    /// Where the rules come from.
    pub policy: String,
    /// What became of the cards, day by day; of more than 366 entries, the answer of the verb has
    /// 366 at most, each of which says its day.
    #[serde(flatten)]
    pub simulation: Simulation,
}

/// Answer of `tiers`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tiers {
    /// The instant.
    pub at: Timestamp,
    /// The tenants, in order of their creation.
    pub tenants: Vec<TenantTiers>,
    /// Bytes of what lies in the directory of the store, by name. An administrator's view:
    /// absent for one tenant.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, u64>,
}

/// The cards of one tenant, by state and age.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TenantTiers {
    /// The tenant.
    pub tenant: String,
    /// Every state there is, from `candidate` to `forgotten`.
    pub states: Vec<StateAges>,
    /// Cards whose end of life has come, and which no run has forgotten yet. They count above.
    pub expired: u64,
    /// When forgotten cards will be purged.
    pub purges: Purges,
}

/// The cards in one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateAges {
    /// The state.
    pub state: &'static str,
    /// How many.
    pub cards: u64,
    /// How long ago they were last told, confirmed or used; for forgotten cards, how long ago
    /// they were forgotten.
    pub ages: Vec<AgeBand>,
}

/// The cards of some age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgeBand {
    /// Younger than so many days; absent for the last band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_days: Option<u32>,
    /// How many.
    pub cards: u64,
}

/// When forgotten cards will be purged, by the policy in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Purges {
    /// By the next run.
    pub due: u64,
    /// Later.
    pub later: u64,
    /// Not by themselves: pinned, protected, or without a period of grace that ends.
    pub never: u64,
    /// When the next of those that are not due yet becomes so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
}
