//! Files of every format: refused with a line, or taken; the store stays sound, and what
//! was taken from an export is exported again as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::exchange::{Export, read_chat, read_locomo};
use memcards_fuzz::{MemoryIo, store};

fuzz_target!(|bytes: &[u8]| {
    let io = MemoryIo::default();
    let first = store(&io, "/first");
    let result = first.import(&mut &bytes[..], |_| {});
    if let Err(error) = &result {
        assert!(!matches!(error.code(), "internal" | "corrupt" | "read_only"), "{error}");
    }
    let report = first.verify(|_| {}).expect("it can be read");
    assert!(report.is_sound(), "{result:?}: {:?}", report.findings);
    if result.is_ok() {
        let mut exported = Vec::new();
        first.export(&mut exported, &Export { vectors: true, ..Export::default() }, |_| {}).expect("it is written");
        let second = store(&io, "/second");
        second.import(&mut exported.as_slice(), |_| {}).expect("an export is imported");
        let mut again = Vec::new();
        second.export(&mut again, &Export { vectors: true, ..Export::default() }, |_| {}).expect("it is written");
        assert!(
            exported == again,
            "{}\n{}",
            String::from_utf8_lossy(&exported),
            String::from_utf8_lossy(&again)
        );
    }
    let text = String::from_utf8_lossy(bytes);
    for conversations in [read_chat(&text, "name"), read_locomo(&text)].into_iter().flatten() {
        for conversation in conversations.iter().take(3) {
            if let Err(error) = first.ingest("anna", conversation, |_| {}) {
                assert!(matches!(error.code(), "invalid_argument" | "too_large"), "{error}");
            }
        }
    }
});
