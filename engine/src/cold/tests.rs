//! Segments against what went into them, and searches against looking at everything.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A card that owns what it is made of.
#[derive(Clone, Debug)]
pub(super) struct Card {
    pub(super) id: [u8; 16],
    pub(super) track: u8,
    pub(super) versions: Vec<(Vec<u8>, std::ops::Range<usize>)>,
    pub(super) vector: Option<Vec<f32>>,
    pub(super) terms: BTreeMap<String, u16>,
    pub(super) length: u32,
    pub(super) occurred_at: i64,
}

impl Card {
    pub(super) fn records(&self) -> Vec<Vec<u8>> {
        self.versions.iter().map(|(bytes, _)| bytes.clone()).collect()
    }

    pub(super) fn push(&self, builder: &mut SegmentBuilder) -> Result<(), String> {
        let versions: Vec<_> =
            self.versions.iter().map(|(bytes, floats)| Record::with_floats(bytes, floats.clone())).collect();
        let terms: Vec<_> = self.terms.iter().map(|(term, frequency)| (term.as_str(), *frequency)).collect();
        builder.push(ColdCard {
            id: self.id,
            track: self.track,
            flags: self.flags(),
            versions: &versions,
            vector: self.vector.as_deref(),
            terms: &terms,
            length: self.length,
            occurred_at: self.occurred_at,
        })
    }

    fn flags(&self) -> u16 {
        self.length as u16 ^ 0x55
    }
}

pub(super) const DIMENSION: u32 = 70;

pub(super) fn build(cards: &[Card]) -> Vec<u8> {
    let mut builder = SegmentBuilder::new(3, 9, DIMENSION);
    cards.iter().for_each(|card| card.push(&mut builder).unwrap());
    builder.finish().unwrap()
}

fn record() -> impl Strategy<Value = (Vec<u8>, std::ops::Range<usize>)> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(97u8..100, 0..2000),
        (0usize..40_000).prop_map(|length| vec![7; length]),
    ];
    (bytes, any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(|(bytes, start, floats)| {
        let start = start.index(bytes.len() + 1);
        let floats = floats.index((bytes.len() - start) / 4 + 1);
        (bytes, start..start + floats * 4)
    })
}

fn vector() -> impl Strategy<Value = Option<Vec<f32>>> {
    prop::option::of(prop_oneof![
        8 => prop::collection::vec(-1f32..1.0, DIMENSION as usize),
        1 => prop::collection::vec(any::<f32>(), DIMENSION as usize),
        1 => Just(vec![0.0; DIMENSION as usize]),
    ])
}

fn card() -> impl Strategy<Value = Card> {
    let term = prop_oneof!["[a-e]{0,2}", "\\PC{1,6}", "[茶水山火]{1,2}"];
    (
        any::<[u8; 16]>(),
        0u8..5,
        prop::collection::vec(record(), 0..5),
        vector(),
        prop::collection::btree_map(term, 1u16..400, 0..12),
        0u32..60,
        any::<i64>(),
    )
        .prop_map(|(id, track, versions, vector, terms, length, occurred_at)| Card {
            id,
            track,
            versions,
            vector,
            terms,
            length,
            occurred_at,
        })
}

fn cards(most: usize) -> impl Strategy<Value = Vec<Card>> {
    prop::collection::vec(card(), 0..most).prop_map(|mut cards| {
        cards.sort_by_key(|card| card.id);
        cards.dedup_by_key(|card| card.id);
        cards
    })
}

/// What a segment says of each of its cards is what was put in.
fn same(segment: &Segment<&[u8]>, cards: &[Card]) -> Result<(), TestCaseError> {
    prop_assert_eq!(segment.verify(), vec![]);
    prop_assert_eq!(segment.len() as usize, cards.len());
    prop_assert_eq!(segment.total_length(), cards.iter().map(|card| u64::from(card.length)).sum::<u64>());
    prop_assert_eq!(
        segment.version_count(),
        cards.iter().map(|card| card.versions.len() as u64).sum::<u64>()
    );
    let times = || cards.iter().map(|card| card.occurred_at);
    prop_assert_eq!(segment.times(), times().min().zip(times().max()));
    let mut iterated = segment.blocks().flat_map(|block| {
        let block = block.unwrap().into_owned();
        block.cards().collect::<Vec<_>>()
    });
    let mut frequencies = BTreeMap::<&str, u32>::new();
    let mut reader = segment.reader().unwrap();
    for (position, card) in (0..).zip(cards) {
        prop_assert_eq!(reader.versions(position).unwrap(), card.records());
        prop_assert_eq!(segment.id(position).unwrap(), card.id);
        prop_assert_eq!(segment.find(card.id).unwrap(), Some(position));
        prop_assert_eq!(segment.track(position).unwrap(), card.track);
        prop_assert_eq!(segment.flags(position).unwrap(), card.flags());
        prop_assert_eq!(segment.length(position).unwrap(), card.length);
        prop_assert_eq!(segment.occurred_at(position).unwrap(), card.occurred_at);
        prop_assert_eq!(segment.versions(position).unwrap(), card.records());
        prop_assert_eq!(iterated.next().unwrap().unwrap(), (position, card.records()));
        card.terms.keys().for_each(|term| *frequencies.entry(term).or_default() += 1);
    }
    prop_assert!(iterated.next().is_none());
    for (term, frequency) in frequencies {
        prop_assert_eq!(segment.document_frequency(term).unwrap(), frequency);
    }
    prop_assert_eq!(segment.document_frequency("no such term").unwrap(), 0);
    let carrier = Carrier::new(segment).unwrap();
    for (position, card) in (0..).zip(cards) {
        let terms: BTreeMap<_, _> = carrier.terms(position).unwrap().into_iter().collect();
        let expected: BTreeMap<_, _> =
            card.terms.iter().map(|(term, count)| (term.as_str(), *count)).collect();
        prop_assert_eq!(terms, expected);
    }
    prop_assert!(segment.id(cards.len() as u32).is_err() && segment.versions(cards.len() as u32).is_err());
    prop_assert!(segment.id(u32::MAX).is_err() && segment.versions(u32::MAX).is_err());
    Ok(())
}

fn bm25(card: &Card, terms: &[(&str, f32)], average: f32) -> f32 {
    let norm = 0.9 * (1.0 - 0.4 + 0.4 * card.length as f32 / average);
    let score = |(term, weight): &(&str, f32)| {
        let frequency = f32::from(card.terms.get(*term).copied().unwrap_or(0));
        weight * frequency * 1.9 / (frequency + norm)
    };
    terms.iter().map(score).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Everything comes back as it went in, and the same cards give the same bytes.
    #[test]
    fn what_goes_in_comes_back(cards in cards(300), other: [u8; 16]) {
        let bytes = build(&cards);
        let segment = Segment::open(bytes.as_slice()).unwrap();
        prop_assert_eq!((segment.tenant(), segment.number(), segment.dimension()), (3, 9, DIMENSION));
        same(&segment, &cards)?;
        let there = cards.iter().position(|card| card.id == other).map(|position| position as u32);
        prop_assert_eq!(segment.find(other).unwrap(), there);
        prop_assert_eq!(bytes, build(&cards));
    }

    /// Cards of two segments carried over are the segment that they would have been at once.
    #[test]
    fn carrying_over_is_building(cards in cards(120), split: u64, dead: u64) {
        let bit = |bits: u64, index: usize| bits.rotate_left(index as u32 * 7) & 1 == 1;
        let part = |wanted: bool| {
            let chosen = cards.iter().enumerate().filter(|(index, _)| bit(split, *index) == wanted);
            build(&chosen.map(|(_, card)| card.clone()).collect::<Vec<_>>())
        };
        let parts = [part(false), part(true)];
        let segments = parts.each_ref().map(|bytes| Segment::open(bytes.as_slice()).unwrap());
        let mut carriers = segments.each_ref().map(|segment| Carrier::new(segment).unwrap());
        let mut builder = SegmentBuilder::new(3, 9, DIMENSION);
        let mut live = Vec::new();
        for (index, card) in cards.iter().enumerate().filter(|(index, _)| !bit(dead, *index)) {
            let from = usize::from(bit(split, index));
            let position = segments[from].find(card.id).unwrap().unwrap();
            builder.push_from(&mut carriers[from], position).unwrap();
            live.push(card.clone());
        }
        let bytes = builder.finish().unwrap();
        prop_assert!(bytes == build(&live));
        same(&Segment::open(bytes.as_slice()).unwrap(), &live)?;
    }

    /// With room for all, every wanted card with a term is a candidate, with its score; with
    /// less, the best are.
    #[test]
    fn words_find_the_best(cards in cards(200), tracks in 0u32..32, dead: u64, keep in 1usize..20) {
        let bytes = build(&cards);
        let segment = Segment::open(bytes.as_slice()).unwrap();
        let terms = [("a", 1.5), ("bc", 2.5), ("茶", 3.0), ("", 0.5), ("missing", 9.0)];
        let skip = |position: u32| dead.rotate_left(position.wrapping_mul(5)) & 1 == 1;
        let query = ColdQuery { terms: &terms, tracks, skip: &skip, average_length: 20.0, ..ColdQuery::new(cards.len()) };
        let mut expected: Vec<(u32, f32)> = (0..).zip(&cards)
            .filter(|(position, card)| tracks >> card.track & 1 == 1 && !skip(*position))
            .map(|(position, card)| (position, bm25(card, &terms, 20.0)))
            .filter(|(_, score)| *score > 0.0)
            .collect();
        let found = segment.search(&query).unwrap();
        prop_assert_eq!(found.iter().map(|c| c.position).collect::<Vec<_>>(), expected.iter().map(|e| e.0).collect::<Vec<_>>());
        for (candidate, (_, score)) in found.iter().zip(&expected) {
            prop_assert!((candidate.text - score).abs() <= score * 1e-5);
            prop_assert_eq!(candidate.cosine_estimate, 0.0);
        }
        let best = segment.search(&ColdQuery { keep, ..query }).unwrap();
        prop_assert_eq!(best.len(), keep.min(expected.len()));
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        let worst = best.iter().map(|candidate| candidate.text).fold(f32::MAX, f32::min);
        for (_, score) in &expected[..best.len()] {
            prop_assert!(worst >= expected[best.len() - 1].1 * 0.9999, "{worst} {score}");
        }
    }

    /// With room for all, every wanted card with a vector is a candidate.
    #[test]
    fn meaning_finds_all_that_have_one(cards in cards(100), asked in vector(), tracks in 0u32..32) {
        let bytes = build(&cards);
        let segment = Segment::open(bytes.as_slice()).unwrap();
        let query = ColdQuery { vector: asked.as_deref(), tracks, ..ColdQuery::new(cards.len().max(1)) };
        let found = segment.search(&query).unwrap();
        let directed = |vector: &Option<Vec<f32>>| vector.as_ref().is_some_and(|vector| {
            vector.iter().all(|x| x.is_finite()) && vector.iter().any(|x| *x != 0.0)
        });
        let expected: Vec<u32> = (0..).zip(&cards)
            .filter(|(_, card)| directed(&asked) && directed(&card.vector) && tracks >> card.track & 1 == 1)
            .map(|(position, _)| position)
            .collect();
        prop_assert_eq!(found.iter().map(|candidate| candidate.position).collect::<Vec<_>>(), expected);
        prop_assert!(found.iter().all(|candidate| candidate.cosine_estimate.abs() <= 1.0));
    }
}

/// A small deterministic generator (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(super) fn normal(&mut self) -> f32 {
        (0..4).map(|_| (self.draw() >> 40) as f32 / (1u32 << 24) as f32 - 0.5).sum::<f32>() * 3f32.sqrt()
    }
}

/// Vectors around centres that differ in few dimensions, as embeddings do.
fn clustered(random: &mut Random, count: usize, dimension: usize) -> Vec<Vec<f32>> {
    const LATENT: usize = 24;
    let centers: Vec<[f32; LATENT]> = (0..200).map(|_| std::array::from_fn(|_| random.normal())).collect();
    let turn: Vec<f32> = (0..LATENT * dimension).map(|_| random.normal() / (LATENT as f32).sqrt()).collect();
    let mut vector = || {
        let center = centers[(random.draw() % 200) as usize];
        let mut out: Vec<f32> = (0..dimension).map(|_| 0.15 * random.normal()).collect();
        for (center, row) in center.iter().zip(turn.chunks_exact(dimension)) {
            let value = center + 0.6 * random.normal();
            out.iter_mut().zip(row).for_each(|(out, turn)| *out += value * turn);
        }
        let length = out.iter().map(|x| x * x).sum::<f32>().sqrt();
        out.iter_mut().for_each(|x| *x /= length);
        out
    };
    (0..count).map(|_| vector()).collect()
}

#[test]
fn meaning_finds_the_nearest() {
    for dimension in [256, 384] {
        let mut random = Random(5);
        let vectors = clustered(&mut random, 20_025, dimension);
        let (asked, vectors) = vectors.split_at(25);
        let mut builder = SegmentBuilder::new(1, 1, dimension as u32);
        for (number, vector) in vectors.iter().enumerate() {
            let card = ColdCard {
                id: (number as u128).to_be_bytes(),
                track: 0,
                flags: 0,
                versions: &[],
                vector: Some(vector),
                terms: &[],
                length: 0,
                occurred_at: 0,
            };
            builder.push(card).unwrap();
        }
        let segment = Segment::open(builder.finish().unwrap()).unwrap();
        let (mut found, mut error) = (0, 0.0);
        for asked in asked {
            let cosine = |position: u32| -> f32 {
                vectors[position as usize].iter().zip(asked).map(|(a, b)| a * b).sum()
            };
            let candidates =
                segment.search(&ColdQuery { vector: Some(asked), ..ColdQuery::new(100) }).unwrap();
            assert_eq!(candidates.len(), 100);
            let mut all: Vec<(f32, u32)> = (0..vectors.len() as u32).map(|p| (cosine(p), p)).collect();
            all.select_nth_unstable_by(9, |a, b| b.0.total_cmp(&a.0));
            found += all[..10].iter().filter(|(_, p)| candidates.iter().any(|c| c.position == *p)).count();
            let off = |c: &Candidate| (c.cosine_estimate - cosine(c.position)).abs();
            error += candidates.iter().map(off).sum::<f32>() / 100.0;
        }
        let (recall, error) = (found as f32 / 250.0, error / 25.0);
        assert!(recall >= 0.95, "recall {recall} of dimension {dimension}");
        assert!(error < 0.06, "estimates are off by {error}");
    }
}

fn plain(id: u8, text: &[u8]) -> Card {
    Card {
        id: [id; 16],
        track: 0,
        versions: vec![(text.to_vec(), 0..0)],
        vector: None,
        terms: BTreeMap::from([("tea".to_owned(), 1)]),
        length: 1,
        occurred_at: 0,
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut builder = SegmentBuilder::new(1, 1, DIMENSION);
    plain(5, b"one").push(&mut builder).unwrap();
    let refused = |builder: &mut SegmentBuilder, card: Card| card.push(builder).unwrap_err();
    assert!(refused(&mut builder, plain(5, b"again")).contains("ascend"));
    assert!(refused(&mut builder, plain(4, b"before")).contains("ascend"));
    assert!(refused(&mut builder, Card { track: 32, ..plain(6, b"") }).contains("track"));
    assert!(refused(&mut builder, Card { vector: Some(vec![1.0]), ..plain(6, b"") }).contains("vector"));
    for floats in [0..3, 0..8, 8..8] {
        let versions = vec![(b"four".to_vec(), floats)];
        assert!(refused(&mut builder, Card { versions, ..plain(6, b"") }).contains("floats"));
    }
    plain(7, b"two").push(&mut builder).unwrap();
    let segment = Segment::open(builder.finish().unwrap()).unwrap();
    assert_eq!((segment.len(), segment.verify()), (2, vec![]));

    let mut builder = SegmentBuilder::new(1, 1, 0);
    let card = ColdCard {
        id: [1; 16],
        track: 0,
        flags: 0,
        versions: &[],
        vector: None,
        terms: &[("tea", 1), ("tea", 2)],
        length: 3,
        occurred_at: 0,
    };
    assert!(builder.push(card).unwrap_err().contains("twice"));
    assert!(builder.finish().is_err());
}

#[test]
fn a_search_reads_the_rarest_terms_first() {
    let mut builder = SegmentBuilder::new(1, 1, 0);
    for id in 0..200u8 {
        let mut card = plain(id, b"");
        if id % 50 == 0 {
            card.terms.insert("rare".into(), 1);
        }
        card.push(&mut builder).unwrap();
    }
    let segment = Segment::open(builder.finish().unwrap()).unwrap();
    let query = ColdQuery { terms: &[("tea", 1.0), ("rare", 2.0)], postings: 100, ..ColdQuery::new(300) };
    assert_eq!(segment.search(&query).unwrap().len(), 4);
    assert_eq!(segment.search(&ColdQuery { postings: 204, ..query }).unwrap().len(), 200);
    assert_eq!(segment.search(&ColdQuery { terms: &[("tea", 1.0)], ..query }).unwrap().len(), 200);
    assert_eq!(segment.search(&ColdQuery { terms: &[("tea", f32::NAN)], ..query }).unwrap().len(), 0);
}

/// Enough cards for a dictionary, many blocks and many pages.
pub(super) fn many_cards() -> Vec<Card> {
    let mut random = Random(1);
    let texts: Vec<String> = (0..3000)
        .map(|number| {
            format!("card {number}: {} said so on day {}", random.draw() % 50, random.draw() % 1000)
        })
        .collect();
    let card = |(text, number): (&String, u32)| {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        let vector: Vec<f32> = (0..DIMENSION).map(|_| random.normal()).collect();
        let mut record = text.as_bytes().to_vec();
        vector.iter().for_each(|x| record.extend_from_slice(&x.to_le_bytes()));
        let versions = vec![(record, text.len()..text.len() + vector.len() * 4)];
        Card { id, versions, vector: Some(vector), ..plain(0, b"") }
    };
    texts.iter().zip(0..).map(card).collect()
}

#[test]
fn many_cards_share_a_dictionary() {
    let cards = many_cards();
    let bytes = build(&cards);
    let segment = Segment::open(bytes.as_slice()).unwrap();
    let sizes: BTreeMap<_, _> = segment.sizes().collect();
    assert!(sizes["dictionary"] > 0);
    assert!(segment.block_count() > 20);
    for (position, card) in (0..).zip(&cards) {
        assert_eq!(segment.versions(position).unwrap(), card.records());
    }
    assert!(build(&cards) == bytes);
}

#[test]
fn a_segment_may_be_read_by_many_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Segment<Vec<u8>>>();
}

/// What a rewrite leaves out is nowhere in the new segment: not in texts, terms or dictionary.
#[test]
fn nothing_is_left_of_a_card_that_is_not_carried_over() {
    let mut cards = many_cards();
    for card in &mut cards {
        card.versions.push((b"the secret word is xyzzy".to_vec(), 0..0));
    }
    let mut kept = many_cards();
    kept.truncate(2000);
    cards.drain(..2000);
    cards.splice(0..0, kept);
    cards[2001].terms.insert("xyzzy".into(), 1);
    let holds = |bytes: &[u8]| bytes.windows(5).any(|window| window == b"xyzzy");
    let any = |segment: &Segment<Vec<u8>>| {
        holds(segment.strings().unwrap())
            || holds(segment.dictionary().unwrap())
            || segment.blocks().any(|block| holds(block.unwrap().text()))
    };
    let segment = Segment::open(build(&cards)).unwrap();
    assert!(any(&segment) && holds(segment.dictionary().unwrap()) && holds(segment.strings().unwrap()));
    let mut carrier = Carrier::new(&segment).unwrap();
    let mut builder = SegmentBuilder::new(3, 10, DIMENSION);
    (0..2000).for_each(|position| builder.push_from(&mut carrier, position).unwrap());
    let rewritten = Segment::open(builder.finish().unwrap()).unwrap();
    assert!(!rewritten.dictionary().unwrap().is_empty() && !any(&rewritten));
}
