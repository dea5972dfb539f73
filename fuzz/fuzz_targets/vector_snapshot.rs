//! Bytes of a vector index from disk, opened without verification: all calls come back.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| memcards::fuzzing::vector_snapshot(bytes));
