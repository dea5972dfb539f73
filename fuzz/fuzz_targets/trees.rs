//! Bytes as a re-ranking model: refused, or written again as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| memcards::fuzzing::trees(bytes));
