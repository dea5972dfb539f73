//! Which windows a text and a card have, and that hashes are what they are said to be.

use std::hash::Hasher;

use proptest::prelude::*;

use crate::forget::erasure::card::of_token;
use crate::forget::erasure::fingerprint::{Coverage, WINDOWS};
use crate::forget::erasure::key::{siphash, window_hash};
use crate::forget::erasure::{CardFingerprints, Fingerprint, Fingerprints, Key, PER_CARD};

fn key() -> Key {
    Key::new(7)
}

fn window(bytes: &[u8]) -> Fingerprint {
    Fingerprint::of_window(bytes, &key())
}

fn token(token: &str) -> Vec<Fingerprint> {
    of_token(token, &key())
}

#[test]
fn short_and_uniform_texts_have_none_and_say_why() {
    for (text, coverage) in [
        ("", Coverage::TooShort),
        ("coffe", Coverage::TooShort),
        ("coffee", Coverage::Windows),
        ("      ", Coverage::TooUniform),
        ("-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=", Coverage::TooUniform),
        ("咖啡", Coverage::Windows),
    ] {
        let found = Fingerprints::of(text, &key());
        assert_eq!(found.coverage, coverage, "{text:?}");
        assert_eq!(found.list.is_empty(), coverage != Coverage::Windows, "{text:?}");
    }
}

#[test]
fn a_long_text_has_its_first_last_and_middle_window() {
    let text: Vec<u8> = (0..100).collect();
    let expected = [&text[..32], &text[68..], &text[34..66]].map(window);
    assert_eq!(Fingerprints::of(&text, &key()).list, expected);
    assert_eq!(Fingerprints::of(&text[..32], &key()).list, [window(&text[..32])]);
    assert_eq!(Fingerprints::of(&text[..33], &key()).list, [window(&text[..32]), window(&text[1..33])]);
}

#[test]
fn a_text_between_two_lengths_has_windows_of_the_shorter_one() {
    let found = Fingerprints::of("bees and honey", &key()).list;
    assert_eq!(found, [window(b"bees and honey")]);
    let found = Fingerprints::of("bees and honeys", &key()).list;
    assert_eq!(found, [window(b"bees and honey"), window(b"ees and honeys")]);
}

#[test]
fn uniform_ends_are_passed_over() {
    let text = format!("{}I keep bees behind the house{}", " ".repeat(200), "\n".repeat(300));
    let found = Fingerprints::of(&text, &key()).list;
    let bytes = text.as_bytes();
    // The outermost windows with three different bytes: "…  I k" and "se\n\n…".
    assert_eq!(found[0], window(&bytes[200 + 3 - 32..200 + 3]));
    assert_eq!(found[1], window(&bytes[226..226 + 32]));
    assert_eq!(found.len(), 2);
}

#[test]
fn an_identifier_counts_as_written_and_in_lower_case() {
    assert_eq!(token("zxqv-canary-8841"), [window(b"zxqv-canary-8841")]);
    assert_eq!(token("INC-9031"), [window(b"inc-9031"), window(b"INC-9031")]);
    // Nine bytes have no window of their own: the last eight.
    assert_eq!(token("INC-90312"), [window(b"nc-90312"), window(b"NC-90312")]);
    assert_eq!(token("Zhukovskaya2"), [window(b"zhukovskaya2"), window(b"Zhukovskaya2")]);
    // A plain word: without the ending that a stemmer may take.
    assert_eq!(token("Photosynthesis"), [window(b"hotosynthe"), window(b"Photosynthesis")]);
    let long = format!("{}@example.com", "x".repeat(60));
    assert_eq!(token(&long), [window(&long.as_bytes()[long.len() - 32..])]);
    for ordinary in ["", "house", "birthday", "wonderful", "inc-903"] {
        assert_eq!(token(ordinary), [], "{ordinary}");
    }
}

#[test]
fn a_card_takes_content_first_then_tokens_and_others_in_turn() {
    let content = "The order ZX-2209-QV was sent to lin.chen@example.com on the third, and the parcel came.";
    let key = key();
    let mut card = CardFingerprints::new(content, &key);
    card.add("A parcel for Lin").add("Lin").add("deliveries").add("deliveries");
    let found = card.finish(PER_CARD);
    assert_eq!(found.coverage, Coverage::Windows);
    assert_eq!(found.list[..3], Fingerprints::of(content, &key).list);
    assert_eq!(
        found.list[3..],
        [
            window(b"zx-2209-qv"),
            window(b"ZX-2209-QV"),
            window(b"A parcel for Lin"),
            window(b"lin.chen@example.com"),
            window(b"deliveries"),
        ]
    );
}

#[test]
fn a_short_content_says_so_although_a_summary_can_be_told() {
    let key = key();
    let mut card = CardFingerprints::new("4711", &key);
    card.add("The code of the safe, told once.");
    let found = card.finish(PER_CARD);
    assert_eq!((found.coverage, found.list.len()), (Coverage::TooShort, 1));
}

#[test]
fn another_seed_gives_other_hashes() {
    let (one, other) = (window(b"a window"), Fingerprint::of_window(b"a window", &Key::new(8)));
    assert_ne!(one.rolling(), other.rolling());
    assert_ne!(one.confirming(), other.confirming());
    assert!(!format!("{:?}", key()).contains('7'));
}

#[test]
fn the_hashes_of_this_version_stay() {
    let bytes = window(b"a window of thirty-two bytes, so").to_bytes();
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text, "2014034e2d823da253094f6f8e");
}

proptest! {
    #[test]
    fn siphash_is_the_reference_function(bytes: Vec<u8>, key: [u64; 2]) {
        #[expect(deprecated)]
        let mut reference = std::hash::SipHasher::new_with_keys(key[0], key[1]);
        reference.write(&bytes);
        prop_assert_eq!(siphash(key, &bytes), reference.finish());
    }

    #[test]
    fn a_window_hash_does_not_depend_on_what_is_before(
        before in prop::collection::vec(any::<u8>(), 0..200),
        bytes in prop::collection::vec(any::<u8>(), 1..=32),
    ) {
        let key = key();
        let start = before.iter().fold(0, |hash, byte| key.extend(hash, *byte));
        let end = bytes.iter().fold(start, |hash, byte| key.extend(hash, *byte));
        prop_assert_eq!(window_hash(start, end, bytes.len() as u32), key.rolling(&bytes));
    }

    #[test]
    fn fingerprints_come_back_from_their_bytes(mut bytes: [u8; Fingerprint::SIZE]) {
        bytes[0] %= 40;
        if let Some(fingerprint) = Fingerprint::from_bytes(&bytes) {
            prop_assert_eq!(fingerprint.to_bytes(), bytes);
        } else {
            prop_assert!(!WINDOWS.contains(&usize::from(bytes[0])));
        }
    }

    #[test]
    fn any_card_has_few(content: String, others: Vec<String>, limit in 0_usize..20) {
        let key = key();
        let mut card = CardFingerprints::new(&content, &key);
        for text in &others {
            card.add(text);
        }
        let mut list = card.finish(limit).list;
        prop_assert!(list.len() <= limit);
        let count = list.len();
        list.sort();
        list.dedup();
        prop_assert_eq!(list.len(), count);
    }
}
