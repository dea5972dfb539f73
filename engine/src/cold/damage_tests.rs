//! Damaged bytes: an error or the right answer, never a panic, never other bytes.

use std::collections::BTreeMap;

use super::damage::{drive, reseal};
use super::layout::{HEADER, Header};
use super::tests::{Card, DIMENSION, Random, build, many_cards};
use super::*;
use proptest::prelude::*;

fn cards() -> Vec<Card> {
    let mut random = Random(3);
    (0..12u8)
        .map(|number| {
            let vector: Vec<f32> = (0..DIMENSION).map(|_| random.normal()).collect();
            let mut record = b"head".to_vec();
            vector.iter().for_each(|x| record.extend_from_slice(&x.to_le_bytes()));
            let floats = 4..record.len();
            record.extend_from_slice(format!("card {number} about tea, tea and tea").as_bytes());
            Card {
                id: [number * 3; 16],
                track: number % 3,
                versions: vec![(b"an earlier version".to_vec(), 0..0), (record, floats)],
                vector: Some(vector),
                terms: BTreeMap::from([("tea".into(), 3), (format!("card{number}"), 1), ("茶".into(), 2)]),
                length: 5,
                occurred_at: i64::from(number),
            }
        })
        .collect()
}

/// Answers to everything that can be asked; `None` for an error.
#[derive(Debug, PartialEq)]
struct Answers {
    rows: Vec<Option<(u8, u16, u32, i64)>>,
    ids: Vec<Option<[u8; 16]>>,
    found: Vec<Option<Option<u32>>>,
    versions: Vec<Option<Vec<Vec<u8>>>>,
    frequencies: Vec<Option<u32>>,
    candidates: Option<Vec<Candidate>>,
    terms: Option<Vec<String>>,
}

fn ask(bytes: &[u8], cards: &[Card]) -> Option<(Answers, bool)> {
    let segment = Segment::open(bytes).ok()?;
    let positions = 0..cards.len() as u32;
    let row = |position| {
        let (track, flags) = (segment.track(position).ok()?, segment.flags(position).ok()?);
        Some((track, flags, segment.length(position).ok()?, segment.occurred_at(position).ok()?))
    };
    let vector = cards[4].vector.as_deref();
    let query = ColdQuery { terms: &[("tea", 1.0), ("card3", 2.0)], vector, tracks: 5, ..ColdQuery::new(4) };
    let carrier = Carrier::new(&segment).ok();
    let terms = carrier.map(|carrier| {
        let of = |position| carrier.terms(position).unwrap_or_default();
        positions.clone().flat_map(of).map(|(term, count)| format!("{term} {count}")).collect()
    });
    let answers = Answers {
        rows: positions.clone().map(row).collect(),
        ids: positions.clone().map(|position| segment.id(position).ok()).collect(),
        found: cards.iter().map(|card| segment.find(card.id).ok()).collect(),
        versions: positions.clone().map(|position| segment.versions(position).ok()).collect(),
        frequencies: ["tea", "茶", "card7", "none"]
            .map(|term| segment.document_frequency(term).ok())
            .to_vec(),
        candidates: segment.search(&query).ok(),
        terms,
    };
    Some((answers, segment.verify().is_empty()))
}

/// Whether each answer is an error or the right one.
fn right_or_none(found: &Answers, right: &Answers) {
    fn each<T: PartialEq + std::fmt::Debug>(found: &[Option<T>], right: &[Option<T>]) {
        assert_eq!(found.len(), right.len());
        found
            .iter()
            .zip(right)
            .for_each(|(found, right)| assert!(found.is_none() || found == right, "{found:?}"));
    }
    each(&found.rows, &right.rows);
    each(&found.ids, &right.ids);
    each(&found.found, &right.found);
    each(&found.versions, &right.versions);
    each(&found.frequencies, &right.frequencies);
    assert!(found.candidates.is_none() || found.candidates == right.candidates);
    assert!(found.terms.is_none() || found.terms == right.terms);
}

#[test]
fn every_flipped_byte_is_noticed() {
    let cards = cards();
    let mut bytes = build(&cards);
    let (right, whole) = ask(&bytes, &cards).unwrap();
    assert!(whole && right.versions.iter().zip(&cards).all(|(found, card)| found == &Some(card.records())));
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            bytes[at] ^= flip;
            if let Some((found, whole)) = ask(&bytes, &cards) {
                right_or_none(&found, &right);
                assert!(!whole, "byte {at} is not covered");
            }
            bytes[at] ^= flip;
        }
    }
}

/// The same for bytes here and there of a segment of many pages and blocks.
#[test]
fn damage_far_away_does_no_harm() {
    let cards = many_cards();
    let mut bytes = build(&cards);
    let mut random = Random(11);
    for _ in 0..150 {
        let at = (random.draw() % bytes.len() as u64) as usize;
        let flip = random.draw() as u8 | 1;
        bytes[at] ^= flip;
        if let Ok(segment) = Segment::open(bytes.as_slice()) {
            let mut lost = 0;
            for position in (0..segment.len()).step_by(7) {
                match (segment.id(position), segment.versions(position)) {
                    (Ok(id), Ok(found)) => {
                        let card = &cards[position as usize];
                        assert!(id == card.id && found == card.records(), "byte {at}");
                    }
                    _ => lost += 1,
                }
            }
            let errors = segment.verify();
            assert!((1..3).contains(&errors.len()), "byte {at}: {errors:?}");
            let all = matches!(errors[0].place, Place::Section("dictionary" | "blocks" | "factors"));
            assert!(all || lost < 200, "byte {at}: {lost} lost, {errors:?}");
        }
        bytes[at] ^= flip;
    }
}

#[test]
fn every_other_length_is_noticed() {
    let cards = cards();
    let mut bytes = build(&cards);
    for length in 0..bytes.len() {
        assert!(Segment::open(&bytes[..length]).is_err(), "{length} bytes");
    }
    bytes.push(0);
    assert!(Segment::open(bytes.as_slice()).is_err());
}

#[test]
fn an_error_says_where() {
    let cards = cards();
    let mut bytes = build(&cards);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let segment = Segment::open(bytes.as_slice()).unwrap();
    let error = segment.versions(11).unwrap_err();
    assert_eq!((error.segment, error.place), (9, Place::Block(0)));
    assert_eq!(segment.verify(), std::slice::from_ref(&error));
    let start = segment.sizes().last().map(|(_, records)| bytes.len() as u64 - records).unwrap();
    assert_eq!(error.to_string(), format!("segment 9, block 0 at byte {start}: its checksum does not fit"));
    assert_eq!(segment.find([9; 16]).unwrap(), Some(3), "the rest is whole");

    let mut bytes = build(&cards);
    bytes[HEADER + 8] ^= 1;
    let segment = Segment::open(bytes.as_slice()).unwrap();
    assert_eq!(segment.id(0).unwrap_err().place, Place::Section("identifiers"));
    assert!(segment.search(&ColdQuery { terms: &[("tea", 1.0)], ..ColdQuery::new(3) }).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Where even the checksums fit, answers may be wrong, but reading stays safe.
    #[test]
    fn forged_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12), near: bool) {
        let cards = cards();
        let mut bytes = build(&cards);
        let length = if near { bytes.len().min(2600) } else { bytes.len() };
        for (at, byte) in changes {
            bytes[at.index(length)] = byte;
        }
        reseal(&mut bytes);
        ask(&bytes, &cards);
        drive(&bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(Segment::open(bytes.as_slice()).is_err());
    }
}

#[test]
fn a_header_comes_back() {
    let bytes = build(&cards());
    let (header, _) = Header::decode(&bytes).unwrap();
    assert_eq!(header.encode(bytes.len() as u64), bytes[..HEADER]);
    assert_eq!(HEADER, 200);
}
