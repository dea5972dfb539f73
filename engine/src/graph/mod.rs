//! What a text says of people and things, and what a question asks for, without any model.
//!
//! Rules on the text alone, for Chinese and English: the concepts that a text touches and a
//! question asks for, the shape of the answer that is wanted, what the asker is after.
//! The same text always gets the same answer, offline, at a cost that is linear in its
//! length. Precision goes first: what the rules do not understand they leave out.
//!
//! This room knows nothing of cards, tenants, time, vectors or the store.

mod border;
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

pub(crate) use border::{begins_after, ends_before, is_full_name, is_japanese_title, is_title};
pub use concept::{Concept, ConceptSet, LEXICON_VERSION, asked, concepts};
pub use intent::{Aim, Intent, Kinds, intent};
pub use mention::{Kind, Mention, Names, mentions};
pub use referent::{Reference, referents};
pub use shape::{ContentShape, Length, Ordering, Shape, Wants, content_shape, shape};
pub use statement::{Statement, alias, statements};

/// What a text tells: all that is read in a text that is kept, in one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// As [`concepts`] gives it.
    pub concepts: ConceptSet,
    /// As [`content_shape`] gives it.
    pub shape: ContentShape,
    /// As [`statements`] gives it.
    pub statements: Vec<Statement>,
}

/// Reads a text by a speaker, who is "user" without a name.
#[must_use]
pub fn told(text: &str, speaker: Option<&str>) -> Told {
    let reading = reading::Reading::new(text, speaker);
    Told {
        concepts: concept::of_words(&reading.words),
        shape: shape::of_content(&reading.words),
        statements: statement::of_reading(&reading),
    }
}

/// What a question asks for: all that is read in a question, in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// As [`asked`] gives it.
    pub concepts: ConceptSet,
    /// As [`shape()`] gives it.
    pub shape: Shape,
    /// As [`intent()`] gives it.
    pub intent: Intent,
}

/// Reads a question.
#[must_use]
pub fn wanted(question: &str) -> Wanted {
    let words = words::Words::read(question);
    Wanted {
        concepts: concept::of_question(&words),
        shape: shape::of_question(&words),
        intent: intent::of_question(&words),
    }
}

#[cfg(test)]
mod tests;
