//! Telling how a new statement relates to an old one, without any model.
//!
//! A memory must not merge what differs, must not keep two answers to one question as
//! though both held, and must not take "do not forget" for a prohibition. This module
//! answers with rules on the text alone, for Chinese and English; the same two texts
//! always get the same answer, offline.
//!
//! It knows nothing of cards, tenants, time stamps, vectors or the store: who said a
//! sentence and when is for the caller to weigh. Where the rules do not understand a text
//! the answer is [`Relation::Different`], because a missed merge only costs space and a
//! wrong one destroys a fact.
//!
//! ```
//! use memcards::judge::{analyze, relation, Relation};
//!
//! let old = analyze("Smoking is allowed here.");
//! let new = analyze("Smoking is not allowed here.");
//! assert_eq!(relation(&old, &new), Relation::Opposite);
//! ```

mod analysis;
mod correction;
mod exclusion;
mod lexicon;
mod marks;
mod normalize;
#[cfg(test)]
mod properties;
mod relation;
mod subject;
#[cfg(test)]
mod tests;
mod tokens;

pub use analysis::{ANALYSIS_LIMIT, Analysis, Stance, analyze};
pub use exclusion::{SpokenOf, excluded_object, recommends};
pub use normalize::normalized_hash;
pub(crate) use normalize::{is_han, is_kana};
pub(crate) use normalize::{name_key, normalized};
pub use relation::{Relation, relation, relation_to_previous};
