//! The store against a plain model: random sequences of calls on two tenants must give the
//! answers that maps and scans give, whatever is closed, reopened or damaged in between.

#![allow(clippy::unwrap_used)]

mod determinism;
mod forgetting;
mod indexes;
mod lives;
#[path = "../common/numbers.rs"]
mod numbers;
mod oracle;
mod pages;
mod replay;
mod sequences;
mod steps;
#[path = "../common/unsynced_io.rs"]
mod unsynced_io;
mod upkeep;
mod world;
