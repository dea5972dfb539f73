//! Requests as JSON, one a line, on one store: an answer for each, never an internal error,
//! and a store that stays sound.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use memcards::{Store, execute, execute_all};
use memcards_fuzz::{MemoryIo, store};

/// Inputs on one store; then a new one.
const INPUTS: usize = 200;

thread_local! {
    static OPEN: RefCell<Option<(Store, usize)>> = const { RefCell::new(None) };
}

fuzz_target!(|text: &str| {
    OPEN.with_borrow_mut(|open| {
        let (store, used) = open.get_or_insert_with(|| (store(&MemoryIo::default(), "/store"), 0));
        *used += 1;
        let lines: Vec<&str> = text.lines().take(8).collect();
        let mut answers: Vec<_> = lines.iter().map(|line| execute(store, line)).collect();
        answers.extend(execute_all(store, &lines));
        for answer in answers {
            if answer["ok"] != true {
                let code = answer["error"]["code"].as_str().expect("an error has a code");
                assert!(!matches!(code, "internal" | "corrupt" | "read_only"), "{answer}");
            }
        }
        if *used % 50 == 0 {
            let report = store.verify(|_| {}).expect("it can be read");
            assert!(report.is_sound(), "{:?}", report.findings);
        }
        if *used >= INPUTS {
            *open = None;
        }
    });
});
