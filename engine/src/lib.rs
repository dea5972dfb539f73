//! The memory engine for AI agents.

pub mod card;
pub mod embed;
pub mod error;
pub mod filter;
pub mod index;
pub mod judge;
pub mod store;
pub mod time;

pub use error::{Error, Result};
pub use time::{Clock, Duration, ManualClock, SystemClock, Timestamp};
