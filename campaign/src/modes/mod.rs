//! The modes of the campaign: each breaks something else.

pub mod clock;
pub mod determinism;
pub mod faults;
pub mod images;
pub mod kill;
pub mod openers;
pub mod rot;
pub mod space;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::report::Tally;

/// What a mode is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How much is done; what is counted, the mode says.
    pub count: u64,
    /// The longest time it may take.
    pub seconds: Option<u64>,
    /// The first seed.
    pub seed: u64,
    /// Threads at work.
    pub threads: usize,
    /// Only this part of what the seed gives.
    pub only: Option<u64>,
}

/// Does units of work on several threads until all are done or time is up.
pub fn spread(settings: &Settings, units: u64, tally: &Tally, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let end = settings.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    std::thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let unit = next.fetch_add(1, Ordering::Relaxed);
                    let late = end.is_some_and(|end| Instant::now() >= end);
                    if unit >= units || late || tally.is_enough() {
                        return;
                    }
                    work(unit);
                }
            });
        }
    });
}
