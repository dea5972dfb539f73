//! Bytes as a segment of the cold tier: an error or cards, and what is whole can be carried over.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| memcards::fuzzing::segment(bytes));
