//! The memory engine for AI agents: cards, time, recall and forgetting, embedded and offline.
//!
//! Open a [`Store`], take the handle of a [`Tenant`], and use the verbs: `remember`, `recall`,
//! `get`, `list`, `count`, `correct`, `history`, `forget`, `restore`, `relate`, `entity`, `walk`.
//! Requests and answers are plain structs ([`Remember`], [`Recall`], …) and, through [`execute`], JSON.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! use memcards::{Correct, History, Options, Recall, Remember, Store};
//!
//! let store = Store::open(directory.path(), Options::default())?;
//! let lin = store.tenant("林")?;
//! let first = lin.remember(Remember { content: "我每天早上喝咖啡。".into(), ..Default::default() })?;
//! let second = lin.correct(Correct { id: first.id, content: Some("我每天早上喝绿茶。".into()), ..Default::default() })?;
//! let found = lin.recall(Recall { query: Some("早上喝什么？".into()), ..Default::default() })?;
//! assert_eq!(found.hits[0].card.id, second.id);
//! assert_eq!(lin.history(&History { id: second.id, ..History::default() })?.versions.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod calendar;
pub mod card;
pub mod cold;
pub mod embed;
mod engine;
pub mod error;
pub mod exchange;
pub mod filter;
pub mod forget;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod graph;
pub mod index;
pub mod judge;
mod learn;
pub mod recall;
pub mod store;
mod sync;
pub mod time;
pub mod verbs;

pub use engine::{
    Options, PolicyView, Reembedded, Repaired, SchedulerStatus, Statistics, Store, Tenant, TenantStatistics,
};
pub use error::{Error, Result};
pub use time::{Clock, Duration, ManualClock, SystemClock, Timestamp};
pub use verbs::*;
