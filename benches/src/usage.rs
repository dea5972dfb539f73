//! What the process has used so far: processor time, wall time and resident memory.

use std::time::Instant;

use serde_json::{Map, Value};

/// Processor seconds of the whole process. Where the system has no such clock, seconds since
/// the first call.
pub fn cpu_seconds() -> f64 {
    #[cfg(unix)]
    {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        spent.tv_sec as f64 + spent.tv_nsec as f64 * 1e-9
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_secs_f64()
    }
}

/// A stretch of wall and processor time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: f64,
}

/// Seconds that something took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// By the clock.
    pub wall: f64,
    /// Of the processor, all threads together.
    pub cpu: f64,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// Seconds since the start.
    pub fn read(&self) -> Spent {
        Spent { wall: self.wall.elapsed().as_secs_f64(), cpu: cpu_seconds() - self.cpu }
    }
}

/// Resident memory in bytes by the names of `/proc/self/status` (`VmRSS`, `RssAnon`,
/// `RssFile`); zeros where there is no such file.
pub fn resident() -> Value {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        Value::from(kilobytes.unwrap_or(0) * 1024)
    };
    let names = ["VmRSS", "RssAnon", "RssFile"];
    Value::Object(names.iter().map(|name| (String::from(*name), bytes(name))).collect::<Map<_, _>>())
}

/// A percentile with linear interpolation between ranks; 0 of nothing.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = sorted.len().saturating_sub(1) as f64 * share;
    let (low, high) = (rank.floor() as usize, rank.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(a), Some(b)) => a + (b - a) * rank.fract(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&[], 0.5), 0.0);
        assert_eq!(percentile(&[3.0], 0.99), 3.0);
        assert_eq!(percentile(&[4.0, 1.0, 2.0, 3.0], 0.5), 2.5);
        assert_eq!(percentile(&[1.0, 2.0], 1.0), 2.0);
    }

    #[test]
    fn processor_time_grows_with_work() {
        let watch = Stopwatch::start();
        let mut sum = 0u64;
        while watch.read().cpu <= 0.0 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert!(watch.read().wall > 0.0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn resident_memory_is_told() {
        assert!(resident()["VmRSS"].as_u64().unwrap() > 100_000);
    }
}
