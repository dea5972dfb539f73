//! Tombstones come back as they were, and arbitrary bytes do no harm.

use proptest::prelude::*;

use crate::forget::erasure::fingerprint::Coverage;
use crate::forget::erasure::tombstone::VERSION;
use crate::forget::erasure::{Fingerprint, Fingerprints, Key, Tombstone};

fn coverages() -> impl Strategy<Value = Coverage> {
    (0_u8..3).prop_map(|number| Coverage::from_number(number).unwrap())
}

prop_compose! {
    fn tombstones()(
        card: [u8; 16],
        digest: u128,
        erased_at: i64,
        coverage in coverages(),
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..6),
    ) -> Tombstone {
        let key = Key::new(3);
        let list = texts.iter().flat_map(|text| Fingerprints::of(text, &key).list).collect();
        Tombstone::new(card, digest, erased_at, Fingerprints { list, coverage })
    }
}

proptest! {
    #[test]
    fn tombstones_come_back(tombstone in tombstones()) {
        prop_assert_eq!(Tombstone::decode(&tombstone.encode()), Ok(tombstone));
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_come_back(mut bytes: Vec<u8>, known in any::<bool>()) {
        if known && let Some(version) = bytes.first_mut() {
            *version = VERSION;
        }
        if let Ok(tombstone) = Tombstone::decode(&bytes) {
            prop_assert_eq!(tombstone.encode(), bytes);
        }
    }

    #[test]
    fn changed_and_cut_bytes_are_refused_or_come_back(
        tombstone in tombstones(),
        at: prop::sample::Index,
        byte: u8,
        cut: prop::sample::Index,
    ) {
        let mut bytes = tombstone.encode();
        prop_assert!(Tombstone::decode(&bytes[..cut.index(bytes.len())]).is_err());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(changed) = Tombstone::decode(&bytes) {
            prop_assert_eq!(changed.encode(), bytes);
        }
    }
}

#[test]
fn the_layout_of_version_1_stays() {
    let list = vec![Fingerprint::of_window(b"a window", &Key::new(0))];
    let fingerprints = Fingerprints { list: list.clone(), coverage: Coverage::Windows };
    let tombstone = Tombstone::new([0x11; 16], 0x2222, -2, fingerprints);
    let mut expected = vec![1];
    expected.extend([0x11; 16]);
    expected.extend([0x22, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    expected.extend([0, 1, 0]);
    expected.extend(list[0].to_bytes());
    assert_eq!(tombstone.encode(), expected);
}

#[test]
fn errors_say_what_does_not_fit() {
    for (bytes, expected) in [
        (vec![], "an empty tombstone"),
        (vec![9; 44], "tombstone version 9 is not known"),
        (vec![1; 43], "shorter than a tombstone"),
        ([vec![1], vec![0; 40], vec![7, 0, 0]].concat(), "a coverage that is not known"),
        ([vec![1], vec![0; 40], vec![0, 1, 0]].concat(), "fingerprints of the wrong length"),
        (
            [vec![1], vec![0; 40], vec![0, 1, 0], vec![5; 13]].concat(),
            "a window of a length that no window has",
        ),
    ] {
        assert_eq!(Tombstone::decode(&bytes), Err(expected.into()));
    }
}
