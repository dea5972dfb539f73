//! Indexes: what is derived from the store to answer questions fast.
//!
//! A partition holds one track of one tenant: the attributes of its cards, their vectors,
//! their postings and the order of their conversations. Partitions are caches: each knows
//! the last change it has applied, loads from a snapshot file or from the change log, and
//! can be thrown away at any time. This room reads the store; it knows nothing of
//! questions, weights or rules of forgetting.

pub(crate) mod cache;
pub(crate) mod conversation;
pub(crate) mod partition;
pub mod rows;
pub(crate) mod snapshot;
pub mod text;
pub mod vector;
pub(crate) mod vectors;
