//! The memory engine for AI agents.

pub mod embed;
pub mod error;
pub mod index;
pub mod judge;

pub use error::{Error, Result};
