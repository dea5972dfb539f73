//! Bytes from disk: an error that says what does not fit, or something that is sound.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    memcards::fuzzing::record(bytes);
    memcards::fuzzing::snapshot(bytes);
    memcards::fuzzing::text_index(bytes);
});
