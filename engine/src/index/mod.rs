//! Indexes: what is derived from the store to answer questions fast.
//!
//! A partition holds one track of one tenant: the attributes of its cards, their vectors,
//! their postings and the order of their conversations. Partitions are caches: each knows
//! the last change it has applied, loads from a snapshot file or from the change log, and
//! can be thrown away at any time. This room reads the store; it knows nothing of
//! questions, weights or rules of forgetting.

pub(crate) mod cache;
pub(crate) mod conversation;
pub(crate) mod files;
pub(crate) mod keeper;
pub(crate) mod named;
pub(crate) mod partition;
pub(crate) mod present;
pub mod rows;
pub(crate) mod said;
pub(crate) mod sense;
pub(crate) mod snapshot;
pub mod text;
pub mod vector;

/// Cosine of two vectors as they come, 0 when their dimensions differ; `None` when one of
/// them has no direction. For pairs: searches use the kernels of [`vector`].
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> Option<f32> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    let norms = dot(a, a).sqrt() * dot(b, b).sqrt();
    if !(norms > 0.0 && norms.is_finite()) {
        return None;
    }
    Some(if a.len() == b.len() { (dot(a, b) / norms).clamp(-1.0, 1.0) as f32 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn cosines_do_not_depend_on_lengths() {
        for scale in [1e38f32, 1.0, 1e-30] {
            let found = cosine(&[3.0 * scale, 0.0], &[3.0, 4.0]).expect("directions");
            assert!((found - 0.6).abs() < 1e-6, "{scale}: {found}");
        }
        assert_eq!(cosine(&[1.0], &[1.0, 0.0]), Some(0.0));
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), None);
    }
}
