//! Bytes as documents of plans, runs, segments, policies and tenants, as tombstones, as cursors:
//! refused, or written and read again as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| memcards::fuzzing::document(bytes));
