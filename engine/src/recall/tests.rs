//! Candidates beside scoring everything.
