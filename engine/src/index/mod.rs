//! Derived indexes.
pub mod rows;
pub mod text;
