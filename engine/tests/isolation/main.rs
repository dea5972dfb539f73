//! What one tenant holds, no answer to another one tells: neither a word of it nor whether it is
//! there.
//!
//! A tenant that hides canaries in every field lives in one store, and is missing from another
//! one that is otherwise the same. Whatever a second tenant asks, the two stores must answer to
//! the last byte alike, and no canary may be in it. What is asked comes from the table of verbs
//! and from the fields that the verbs themselves say they know, so that a new verb or field fails
//! here until somebody has said what to ask with it.
//!
//! - [`sweep`]: every verb and field, honest, with the other one's identifiers and names, damaged;
//! - [`admin`]: what verbs about the store as a whole may tell, one by one;
//! - [`handles`]: calls of a tenant's handle that are no verbs;
//! - [`shared`]: plans of an administrator over several tenants, as each of them sees them;
//! - [`traffic`]: random requests, alone and amid another one's traffic.

#![allow(clippy::unwrap_used)]

mod admin;
mod canary;
mod handles;
#[path = "../common/numbers.rs"]
mod numbers;
mod requests;
mod schema;
mod shared;
mod sweep;
mod traffic;
mod world;
