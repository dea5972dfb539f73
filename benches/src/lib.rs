//! Shared pieces of the measurement binaries.
