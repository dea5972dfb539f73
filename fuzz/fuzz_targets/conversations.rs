//! Chats and LoCoMo files become requests, without a store: no turn without text, and each can be
//! written as JSON and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::Remember;
use memcards::exchange::{read_chat, read_locomo};

fuzz_target!(|text: &str| {
    for conversations in [read_chat(text, "name"), read_locomo(text)] {
        match conversations {
            Ok(conversations) => {
                for turn in conversations.iter().flat_map(|conversation| &conversation.turns) {
                    assert!(!turn.content.trim().is_empty());
                    let json = serde_json::to_string(turn).expect("a request is written");
                    let again: Remember = serde_json::from_str(&json).expect("what was written is read");
                    assert_eq!(&again, turn);
                }
            }
            Err(error) => assert!(matches!(error.code(), "invalid_argument" | "too_large"), "{error}"),
        }
    }
});
