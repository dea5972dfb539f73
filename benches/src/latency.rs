//! Percentiles of measured durations.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Percentiles of a set of latencies, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// How many were measured.
    pub count: usize,
    /// Half are faster.
    pub p50_ms: f64,
    /// 95 of 100 are faster.
    pub p95_ms: f64,
    /// 99 of 100 are faster.
    pub p99_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

impl Percentiles {
    /// Percentiles by the nearest rank.
    pub fn of(durations: &[Duration]) -> Self {
        let mut sorted: Vec<f64> = durations.iter().map(|d| d.as_secs_f64() * 1e3).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = |share: f64| {
            let index = (sorted.len() as f64 * share).ceil() as usize;
            sorted.get(index.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Self {
            count: sorted.len(),
            p50_ms: rank(0.50),
            p95_ms: rank(0.95),
            p99_ms: rank(0.99),
            max_ms: rank(1.0),
        }
    }

    /// The three usual percentiles as text.
    pub fn line(&self) -> String {
        format!(
            "p50 {:.3} ms, p95 {:.3} ms, p99 {:.3} ms, max {:.3} ms ({} measured)",
            self.p50_ms, self.p95_ms, self.p99_ms, self.max_ms, self.count
        )
    }
}

/// Latencies from one to another bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The lower bound in milliseconds, inclusive.
    pub from_ms: f64,
    /// The upper bound, exclusive.
    pub to_ms: f64,
    /// How many lie between them.
    pub count: usize,
}

/// Bins between one power of ten and the next.
const BINS_PER_DECADE: f64 = 16.0;

/// The distribution of latencies in bins of one ratio, whose bounds are the same for all
/// measurements: distributions of several runs can be laid over each other.
pub fn distribution(durations: &[Duration]) -> Vec<Bin> {
    let place = |d: &Duration| ((d.as_secs_f64() * 1e3).max(1e-4).log10() * BINS_PER_DECADE).floor() as i32;
    let places: Vec<i32> = durations.iter().map(place).collect();
    let (Some(first), Some(last)) = (places.iter().min(), places.iter().max()) else { return vec![] };
    let bound = |place: i32| 10f64.powf(f64::from(place) / BINS_PER_DECADE);
    (*first..=*last)
        .map(|at| Bin {
            from_ms: bound(at),
            to_ms: bound(at + 1),
            count: places.iter().filter(|place| **place == at).count(),
        })
        .collect()
}

/// Runs something and says how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// The middle value; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_holds_every_latency() {
        let all: Vec<Duration> = [1, 99, 100, 101, 100_000].into_iter().map(Duration::from_micros).collect();
        let bins = distribution(&all);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), all.len());
        assert!(bins.windows(2).all(|pair| (pair[0].to_ms - pair[1].from_ms).abs() < 1e-9));
        assert!(bins[0].from_ms <= 0.001 && bins[bins.len() - 1].to_ms > 100.0);
        assert!(distribution(&[]).is_empty());
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let all: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let found = Percentiles::of(&all);
        assert_eq!((found.p50_ms, found.p95_ms, found.p99_ms, found.max_ms), (100.0, 190.0, 198.0, 200.0));
        assert_eq!(Percentiles::of(&[]).max_ms, 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
    }
}
