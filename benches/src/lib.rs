//! Shared pieces of the measurement binaries: evaluation of recall, synthetic memories and
//! vectors, latencies, data files. Data sets are read from paths that are given as arguments.

pub mod ablation;
pub mod clustered;
pub mod dialogues;
pub mod evaluation;
pub mod figures;
pub mod files;
pub mod latency;
pub mod locomo;
pub mod longmemeval;
pub mod memorybank;
pub mod npy;
pub mod page;
pub mod plot;
pub mod report;
pub mod synthetic;
pub mod training;
pub mod usage;

/// What the binaries' `main` returns.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;
