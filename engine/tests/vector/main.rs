//! The vector index against what it must hold, whatever comes in: laws over random changes,
//! edge cases, files and threads.

mod concurrent;
mod edges;
mod files;
mod laws;
mod model;
