//! Re-ranking: looking at the best candidates once more, side by side.
//!
//! The score of `fuse` judges every card by itself. A [`Reranker`] sees the best of them
//! together with some forty visible [`FEATURES`] and says by how much the evidence of each
//! should be raised or lowered. It never sees cards that the conditions of the request rule
//! out and cannot bring in new ones. The built-in one is a small ensemble of trees.
//!
//! Only turns of conversations are looked at: what was told as a statement of its own has
//! no neighbours to be judged by, and keeps its score.

mod features;
mod model;

use std::sync::{Arc, LazyLock};

pub use features::{FEATURES, Features};
pub use model::{Tree, TreeModel};

pub(super) use features::{Looked, features_of};

/// How many of the best candidates are looked at.
pub(super) const LOOKED_AT: usize = 100;
/// What a re-ranker may add or take away at most.
pub(super) const ADJUSTED_MOST: f32 = 4.0;

/// A candidate as a re-ranker sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The card.
    pub id: crate::card::CardId,
    /// What is known of it in view of the question; see [`FEATURES`].
    pub features: Features,
}

/// Judges the best candidates of a question side by side.
///
/// It must be deterministic: the same question and candidates give the same answer.
pub trait Reranker: Send + Sync {
    /// What to add to the evidence of each candidate, in their order; 1 is about what a card
    /// gets that has every word of the question once. Missing, infinite or undefined values
    /// count as 0, larger ones than 4 as 4.
    fn adjust(&self, question: &str, candidates: &[Candidate]) -> Vec<f32>;
}

static BUILTIN: &[u8] = include_bytes!("../../../models/rerank-turns.mct");

/// The built-in model.
pub fn builtin() -> Arc<dyn Reranker> {
    static MODEL: LazyLock<Arc<TreeModel>> = LazyLock::new(|| {
        // The file is part of the binary, and a test reads it.
        Arc::new(TreeModel::from_bytes(BUILTIN).unwrap_or_default())
    });
    MODEL.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_model_can_be_read() {
        assert!(TreeModel::from_bytes(BUILTIN).is_ok());
    }
}
