//! The proof campaign of memcards: what is promised about crashes, failing and full disks, rot,
//! clocks and processes, tried by the hundred thousand.
//!
//! A disk in memory ([`disk`]) records every operation of a workload ([`script`]); images of what
//! a power failure may leave are opened and compared with what was acknowledged ([`oracle`]).
//! The modes ([`modes`]) say what is broken, and how often.

pub mod disk;
pub mod failure;
pub mod modes;
pub mod numbers;
pub mod oracle;
pub mod recording;
pub mod report;
pub mod script;
pub mod truth;
pub mod words;
