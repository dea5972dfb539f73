//! The text half of a partition's index: analyzer, inverted index, BM25.
//!
//! This room turns text into terms ([`tokens`]), keeps which row holds which term how
//! often ([`TextIndex`]), and scores rows against a question ([`bm25`]). A row is a slot
//! number of a partition and nothing else: cards, tenants, time and storage are unknown
//! here. Which rows are alive or wanted comes in as a [`RowSet`](crate::index::rows::RowSet);
//! bytes go out and come in, where they are kept is the caller's business.

pub mod bm25;
mod bytes;
pub mod index;
mod query;
mod scan;
mod script;
mod selected;
mod stop_words;
pub mod tokens;

pub use bm25::NO_ROW;
pub use bm25::{Parameters, Scores, Statistics, Windows};
pub use index::{Postings, TextIndex};
pub(crate) use script::is_emoji;
pub use selected::{Promising, RowScore, Selection};
pub use tokens::{
    ANALYZER_VERSION, DocumentTerms, QueryTerm, QueryTerms, Role, TermKind, analyze_document, analyze_query,
};

#[cfg(test)]
mod bm25_tests;
#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod token_tests;
