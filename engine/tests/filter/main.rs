//! The typed filter against tables, a second evaluator, and hostile input.

#![allow(clippy::unwrap_used)]

mod errors;
mod naive;
mod properties;
mod random;
mod table;
