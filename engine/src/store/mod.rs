//! The store: one redb file that is the truth, in a directory with one owner.
//!
//! Only this room touches redb, and all of its file access goes through [`io`]. It keeps
//! cards, their versions, vectors, look-ups and the change log consistent in one
//! transaction; exact look-ups stand in the change log and are answered from memory
//! (`lookups`). It does not know the indexes (they receive committed changes through an
//! observer) nor the rules that decide what is written.

mod backup;
mod batch;
pub(crate) mod cold;
mod compact;
mod damage;
mod database;
mod entries;
mod file;
pub mod io;
pub(crate) mod keys;
mod ledger;
pub(crate) mod lookups;
mod mapped;
mod packs;
mod pages;
mod purge;
mod readable;
pub(crate) mod record;
mod repair;
mod revector;
mod strip;
mod tables;
mod verify;
mod writer;

pub(crate) use batch::{Applied, Batch};
pub use cold::{ColdStatistics, Frozen, Rewritten};
pub(crate) use cold::{Described, Freezing};
pub use compact::Compacted;
pub(crate) use database::{Database, DatabaseOptions, ModelRecord, read_model};
pub(crate) use keys::{Detail, Lookup, LookupKey, STORE, TableId, TenantId};
pub(crate) use packs::Item;
pub(crate) use readable::Damaged;
pub(crate) use record::{Change, ChangeKind, EncodedCard, LoggedChange, LookupChange, encode_card};
pub(crate) use revector::Embedded;
pub use tables::TenantRecord;
pub(crate) use tables::{Missing, ReadBytes, Stored, Tables};
pub use verify::{Finding, VerifyReport};
