//! The memory engine for AI agents.

pub mod card;
pub mod embed;
mod engine;
pub mod error;
pub mod exchange;
pub mod filter;
mod forget;
pub mod index;
pub mod judge;
mod learn;
pub mod recall;
pub mod store;
pub mod time;
pub mod verbs;

pub use engine::{Options, Statistics, Store, Tenant, TenantStatistics};
pub use error::{Error, Result};
pub use time::{Clock, Duration, ManualClock, SystemClock, Timestamp};
pub use verbs::*;
