//! Shared pieces of the measurement binaries: evaluation of recall, synthetic memories,
//! latencies. Data sets are read from paths that are given as arguments.

pub mod ablation;
pub mod evaluation;
pub mod latency;
pub mod locomo;
pub mod memorybank;
pub mod report;
pub mod synthetic;

/// What the binaries' `main` returns.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;
