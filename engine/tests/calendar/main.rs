//! Dates and durations against tables that were written by hand, at the edges of the calendar,
//! and under hostile texts.

#![allow(clippy::unwrap_used)]

mod properties;
mod table;
mod zones;
