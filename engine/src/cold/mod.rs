//! The cold tier's files: sealed segments of archived cards.
//!
//! A segment holds cards of one tenant that nobody is expected to ask for soon: their
//! records, compressed, and what is needed to find them by words and by meaning without
//! reading a record. It is written once and never changes; cards leave it by being carried
//! over into a new one without those that are gone ([`SegmentBuilder::push_from`]).
//!
//! This room turns cards into bytes and reads bytes that may be damaged. It knows nothing of
//! files, stores or what a record means: the caller maps and writes files.

mod block;
mod build;
mod codes;
mod layout;
mod postings;
mod reader;
mod search;
mod segment;
mod verify;

pub use block::{DecodedBlock, Record};
pub use build::{Carrier, ColdCard, SegmentBuilder};
pub(crate) use layout::{put_varint, take_varint};
pub use reader::Reader;
pub use search::{Candidate, ColdQuery};
pub use segment::{Place, Segment, SegmentError};

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod damage;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;
