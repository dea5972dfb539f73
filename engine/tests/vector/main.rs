//! The vector index against what it must hold, whatever comes in: laws over random changes,
//! edge cases, files and threads.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod concurrent;
mod edges;
#[path = "../common/faulty_io.rs"]
mod faulty_io;
mod files;
mod laws;
mod model;
