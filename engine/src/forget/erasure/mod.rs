//! Proof of erasure: after a purge, that no byte of a card's text is left in any file.
//!
//! Before a card is purged, [`CardFingerprints`] takes hashes of a few short windows of its
//! texts. After the purge, a [`Scanner`] reads every file of the store once and says whether
//! a window with one of these hashes is still there. A [`Tombstone`] keeps the hashes in
//! between. This room knows bytes only: which files there are, and what a card is, are the
//! caller's business.
//!
//! # What is found
//! - A text of at least [`MIN_WINDOW`] bytes that stands in a file as it was given (UTF-8),
//!   anywhere, across any border of pages or reads, as long as its bytes follow each other.
//! - A part of a text that has one of its windows whole: the first, middle or last
//!   [`MAX_WINDOW`] bytes, or nearly all of a shorter text.
//! - Identifier-like tokens ("zxqv-canary-8841") on their own, as written and in lower case,
//!   as the dictionary of a text index has them.
//!
//! # What is not found
//! - Texts shorter than [`MIN_WINDOW`] bytes, or of one or two characters over and over: they
//!   occur by chance. [`Coverage`] says so; a report has to pass it on.
//! - Compressed or encrypted bytes (the caller feeds what it has decompressed), UTF-16, JSON
//!   escapes, other Unicode forms.
//! - A text kept in pieces shorter than its windows, and ordinary words by themselves in the
//!   dictionary of a text index.
//! - Vectors and numbers computed from the text.
//!
//! # What a match means
//! The bytes of a window are there; whose they are is not known. A phrase that a living card
//! has as well matches too. Scan the texts of the living cards with the same fingerprints
//! first: what [`Report::found`] has there proves nothing about the purged card.
//!
//! # What the hashes give away
//! A hash of a short or guessable text can be guessed by whoever has it and the key, whatever
//! the hash. So the confirming hash is a keyed one that cannot be run backwards (XXH3 can: of
//! at most eight bytes, it is the text in another spelling), only half of the rolling hash is
//! kept. Best is a key of fresh random bits that never reaches
//! the disk and fingerprints that never do.

mod card;
mod fingerprint;
mod key;
mod scan;
mod tombstone;

pub(crate) use card::{CardFingerprints, PER_CARD};
pub(crate) use fingerprint::{Coverage, Fingerprint, Fingerprints};
pub(crate) use key::Key;
pub(crate) use scan::Scanner;
pub(crate) use tombstone::Tombstone;

#[cfg(test)]
mod fingerprint_tests;
#[cfg(test)]
mod scan_tests;
#[cfg(test)]
mod tombstone_tests;
