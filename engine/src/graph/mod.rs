//! What a text says of people and things, and what a question asks for, without any model.
//!
//! Rules on the text alone, for Chinese and English: the concepts that a text touches and a
//! question asks for, the shape of the answer that is wanted, what the asker is after.
//! The same text always gets the same answer, offline, at a cost that is linear in its
//! length. Precision goes first: what the rules do not understand they leave out.
//!
//! This room knows nothing of cards, tenants, time, vectors or the store.

mod chinese;
mod concept;
mod intent;
mod latin;
mod lexicon;
mod lists;
mod mention;
mod reading;
mod referent;
mod script;
mod shape;
mod statement;
mod statement_chinese;
mod words;

pub use concept::{Concept, ConceptSet, LEXICON_VERSION, asked, concepts};
pub use intent::{Aim, Intent, Kinds, intent};
pub use mention::{Kind, Mention, Names, mentions};
pub use referent::{Reference, referents};
pub use shape::{ContentShape, Length, Ordering, Shape, Wants, content_shape, shape};
pub use statement::{Statement, alias, statements};

#[cfg(test)]
mod tests;
