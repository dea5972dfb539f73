//! An ensemble of oblivious trees, and its file.
//!
//! An oblivious tree asks the same question of every node of a level, so the leaf's number
//! is the answers' bits: nothing to branch on. File, little-endian: `MCTREES1`, number of
//! features, number of trees (u32 each), then for each tree its depth (u8), per level a
//! feature (u8) and a threshold (f32), and 2^depth leaves (f32); at the end the xxh3 of all
//! that precedes.

use xxhash_rust::xxh3::xxh3_64;

use crate::recall::rerank::{Candidate, FEATURES, Features, Reranker};
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"MCTREES1";
const MAX_DEPTH: usize = 8;
const MAX_TREES: usize = 10_000;

/// One oblivious tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Per level the number of a feature in [`FEATURES`] and a threshold: the bit is set
    /// where the feature is greater.
    pub splits: Vec<(u8, f32)>,
    /// Two to the power of the depth; the first level is the lowest bit.
    pub leaves: Vec<f32>,
}

impl Tree {
    /// The leaf that the features lead to.
    pub fn value(&self, features: &Features) -> f32 {
        let bit = |(level, (feature, threshold)): (usize, &(u8, f32))| {
            let greater = features.get(usize::from(*feature)).is_some_and(|value| value > threshold);
            usize::from(greater) << level
        };
        let leaf = self.splits.iter().enumerate().map(bit).sum::<usize>();
        self.leaves.get(leaf).copied().unwrap_or(0.0)
    }
}

/// A sum of trees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeModel {
    /// The trees.
    pub trees: Vec<Tree>,
}

impl TreeModel {
    /// Reads a model.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `model`: cut short, damaged, or for other features.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = |detail: &str| Error::invalid("model", format!("not a re-ranking model: {detail}"));
        let (body, stored) = bytes.split_last_chunk::<8>().ok_or_else(|| wrong("cut short"))?;
        if xxh3_64(body) != u64::from_le_bytes(*stored) {
            return Err(wrong("checksum mismatch"));
        }
        let mut rest = body.strip_prefix(MAGIC).ok_or_else(|| wrong("no magic"))?;
        let mut take = |length: usize| {
            let (head, tail) = rest.split_at_checked(length).ok_or_else(|| wrong("cut short"))?;
            rest = tail;
            Ok::<&[u8], Error>(head)
        };
        let mut number = || -> Result<usize> {
            let bytes: [u8; 4] = take(4)?.try_into().map_err(|_| wrong("cut short"))?;
            Ok(u32::from_le_bytes(bytes) as usize)
        };
        let (features, count) = (number()?, number()?);
        if features != FEATURES.len() {
            return Err(wrong(&format!("made for {features} features, there are {}", FEATURES.len())));
        }
        if count > MAX_TREES {
            return Err(wrong("too many trees"));
        }
        let float = |bytes: &[u8]| -> Result<f32> {
            let value = f32::from_le_bytes(bytes.try_into().map_err(|_| wrong("cut short"))?);
            if value.is_finite() { Ok(value) } else { Err(wrong("a number that is not finite")) }
        };
        let mut trees = Vec::with_capacity(count);
        for _ in 0..count {
            let depth = usize::from(take(1)?[0]);
            if depth > MAX_DEPTH {
                return Err(wrong("a tree is too deep"));
            }
            let mut tree = Tree::default();
            for _ in 0..depth {
                let feature = take(1)?[0];
                if usize::from(feature) >= FEATURES.len() {
                    return Err(wrong("an unknown feature"));
                }
                tree.splits.push((feature, float(take(4)?)?));
            }
            for _ in 0..1usize << depth {
                tree.leaves.push(float(take(4)?)?);
            }
            trees.push(tree);
        }
        if !rest.is_empty() {
            return Err(wrong("longer than it says"));
        }
        Ok(Self { trees })
    }

    /// The bytes that [`TreeModel::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend((FEATURES.len() as u32).to_le_bytes());
        out.extend((self.trees.len() as u32).to_le_bytes());
        for tree in &self.trees {
            out.push(tree.splits.len() as u8);
            for (feature, threshold) in &tree.splits {
                out.push(*feature);
                out.extend(threshold.to_le_bytes());
            }
            tree.leaves.iter().for_each(|leaf| out.extend(leaf.to_le_bytes()));
        }
        let checksum = xxh3_64(&out);
        out.extend(checksum.to_le_bytes());
        out
    }

    /// The sum of all trees.
    pub fn value(&self, features: &Features) -> f32 {
        self.trees.iter().map(|tree| tree.value(features)).sum()
    }
}

impl Reranker for TreeModel {
    fn adjust(&self, _question: &str, candidates: &[Candidate]) -> Vec<f32> {
        candidates.iter().map(|candidate| self.value(&candidate.features)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> TreeModel {
        let tree = |feature, threshold, leaves: &[f32]| Tree {
            splits: vec![(feature, threshold), (1, 0.5)],
            leaves: leaves.to_vec(),
        };
        TreeModel {
            trees: vec![tree(0, 1.0, &[0.0, 1.0, 2.0, 3.0]), Tree { splits: vec![], leaves: vec![0.5] }],
        }
    }

    #[test]
    fn a_leaf_is_found_by_the_answers_of_its_levels() {
        let mut features = [0.0; FEATURES.len()];
        for (first, second, expected) in [(0.0, 0.0, 0.5), (2.0, 0.0, 1.5), (0.0, 1.0, 2.5), (2.0, 1.0, 3.5)]
        {
            (features[0], features[1]) = (first, second);
            assert_eq!(model().value(&features), expected);
        }
    }

    #[test]
    fn a_model_comes_back_and_a_damaged_one_is_refused() {
        let bytes = model().to_bytes();
        assert_eq!(TreeModel::from_bytes(&bytes).unwrap(), model());
        for cut in 0..bytes.len() {
            assert!(TreeModel::from_bytes(&bytes[..cut]).is_err());
            let mut flipped = bytes.clone();
            flipped[cut] ^= 1;
            assert!(TreeModel::from_bytes(&flipped).is_err());
        }
    }
}
