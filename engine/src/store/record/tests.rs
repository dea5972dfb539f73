//! Records: golden bytes of every layout, and no damage that goes unseen.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::card::{
    Fact, Link, LinkKind, Mention, MentionKind, Polarity, Provenance, Reason, Role, Source, State, TimeSpan,
};
use crate::store::keys::{self, TenantId};

/// A card with every field set.
pub(crate) fn full_card() -> Card {
    let at = |micros: i64| Timestamp::from_micros(1_700_000_000_000_000 + micros);
    let id = |number: u128| CardId::from_bytes(number.to_be_bytes());
    Card {
        id: id(0x1122_3344_5566_7788_99aa_bbcc_ddee_ff00),
        version: 7,
        track: Track::Procedural,
        category: "task_state".into(),
        content: "安娜的车是蓝色的 🚗\u{0}\n".into(),
        summary: Some("car: blue".into()),
        fact: Some(Fact { entity: "car".into(), attribute: "colour".into(), value: "blue".into() }),
        polarity: Polarity::Excluded,
        entities: vec!["Anna".into(), "车".into()],
        mentions: vec![Mention { name: "Café Élan".into(), kind: MentionKind::Organisation }],
        times: vec![TimeSpan {
            phrase: "since May".into(),
            from: Some(Timestamp::from_micros(1_714_521_600_000_000)),
            to: None,
        }],
        tags: vec!["a".into(), "b b".into(), String::new()],
        attributes: json!({"n": 1, "f": 0.1, "deep": {"l": [1, null, "x"]}}).as_object().cloned().unwrap(),
        merge_key: Some("profile.car".into()),
        links: LinkKind::ALL.iter().zip(1..).map(|(kind, n)| Link { to: id(n), kind: *kind }).collect(),
        provenance: Provenance::Overturned,
        sources: vec![
            Source {
                session: Some("s".into()),
                turn: Some(3),
                role: Some(Role::Tool),
                speaker: Some("Ann".into()),
                occurred_at: Some(at(1)),
            },
            Source::default(),
        ],
        extractor: Some("rules".into()),
        journal: Some(u64::MAX),
        occurred_at: Timestamp::MIN,
        recorded_at: at(2),
        updated_at: at(3),
        last_accessed_at: Some(at(4)),
        reinforced_at: Some(at(5)),
        access_count: 5,
        mention_count: 6,
        expires_at: Some(Timestamp::MAX),
        valid_from: Some(at(-8)),
        valid_to: Some(at(9)),
        importance: 0.75,
        confidence: 0.1,
        pinned: true,
        state: State::Forgotten,
        state_before: Some(State::Candidate),
        vector_version: 6,
        reason: Reason { action: "forgotten".into(), actor: Some("Ben".into()), why: Some("why".into()) },
    }
}

const TENANT: TenantId = TenantId(3);

fn golden() -> Vec<(&'static str, Vec<u8>)> {
    let card = full_card();
    let key = keys::card(TENANT, card.id);
    let seal = |vector: Option<&[f32]>| {
        seal_card(TableId::Cards, &key, &card, vector.map(|vector| (0, vector))).unwrap()
    };
    vec![
        ("card-v1.record", seal(None)),
        ("card-v1-vector.record", seal(Some(&VECTOR))),
        ("changes-v1.record", seal_changes(TENANT, 77, &full_changes()).unwrap().0.remove(0).1),
        ("bytes.record", seal_bytes(TableId::Meta, &keys::meta("format"), &1u64.to_le_bytes())),
    ]
}

const VECTOR: [f32; 4] = [0.25, -1.5, f32::MIN_POSITIVE, 3e38];

/// Two changes, one with every kind of look-up.
fn full_changes() -> Vec<Change> {
    let card = full_card();
    let other = CardId::from_bytes([9; 16]);
    let lookup = |n, card| LookupChange { key: [n; 17], card };
    let first = Change {
        kind: ChangeKind::Touch,
        track: card.track,
        card: card.id,
        version: 7,
        at: card.updated_at,
        lookups: vec![lookup(1, Some(card.id)), lookup(2, None), lookup(3, Some(other))],
    };
    let second =
        Change { kind: ChangeKind::Lookups, card: other, version: 1, lookups: vec![], ..first.clone() };
    vec![first, second]
}

#[test]
fn many_changes_are_several_records_that_read_alike() {
    let changes: Vec<Change> = full_changes().into_iter().cycle().take(101).collect();
    let (records, checksums) = seal_changes(TENANT, 5, &changes).unwrap();
    assert!(records.len() > 2 && records.iter().all(|(_, value)| value.len() < 3500));
    let read: Vec<_> = records.iter().flat_map(|(key, value)| open_changes(key, value).unwrap()).collect();
    assert!(read.iter().map(|logged| logged.sequence).eq(5..106));
    assert!(read.iter().map(|logged| &logged.change).eq(&changes));
    assert!(read.iter().map(|logged| &logged.checksum).eq(&checksums));
    // The same change at another place is another one, however the changes are divided.
    assert_ne!(checksums[0], checksums[2]);
    assert_eq!(checksums[3..5], seal_changes(TENANT, 8, &changes[3..5]).unwrap().1);
}

/// `MEMCARDS_WRITE_FIXTURES=1` writes the files anew; that is right only together with a
/// new schema number.
#[test]
#[allow(clippy::disallowed_methods, reason = "fixtures are no files of a store")]
fn golden_records_are_written_and_read_to_the_byte() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for (name, sealed) in golden() {
        let path = directory.join(name);
        if std::env::var_os("MEMCARDS_WRITE_FIXTURES").is_some() {
            std::fs::write(&path, &sealed).unwrap();
        }
        let stored = std::fs::read(&path).unwrap();
        assert!(stored == sealed, "{name}: today's bytes differ from those of the file");
        let card = full_card();
        match name {
            "card-v1.record" => {
                let key = keys::card(TENANT, card.id);
                assert_eq!(open_card(TableId::Cards, &key, &stored).unwrap(), card);
            }
            "card-v1-vector.record" => {
                let key = keys::card(TENANT, card.id);
                let (found, vector) = open_card_and_vector(TableId::Cards, &key, &stored).unwrap();
                let own = OwnVector { generation: 0, numbers: VECTOR.to_vec() };
                assert_eq!((found, vector), (card, Some(own)));
            }
            "changes-v1.record" => {
                let read = open_changes(&keys::change(TENANT, 77), &stored).unwrap();
                assert!(read.iter().map(|logged| logged.sequence).eq([77, 78]));
                assert!(read.into_iter().map(|logged| logged.change).eq(full_changes()));
            }
            _ => assert_eq!(
                open_bytes(TableId::Meta, &keys::meta("format"), &stored).unwrap(),
                [1, 0, 0, 0, 0, 0, 0, 0]
            ),
        }
    }
}

#[test]
fn every_flipped_bit_of_value_or_key_is_told() {
    let card = full_card();
    let keys: [(&str, TableId, Vec<u8>); 4] = [
        ("card-v1.record", TableId::Cards, keys::card(TENANT, card.id).to_vec()),
        ("card-v1-vector.record", TableId::Cards, keys::card(TENANT, card.id).to_vec()),
        ("changes-v1.record", TableId::Changes, keys::change(TENANT, 77).to_vec()),
        ("bytes.record", TableId::Meta, keys::meta("format")),
    ];
    for ((name, sealed), (_, table, key)) in golden().iter().zip(&keys) {
        assert!(open(*table, key, sealed).is_ok());
        let told = |key: &[u8], value: &[u8]| matches!(open(*table, key, value), Err(Error::Corrupt { .. }));
        for bit in 0..sealed.len() * 8 {
            let mut value = sealed.clone();
            value[bit / 8] ^= 1 << (bit % 8);
            assert!(told(key, &value), "{name}: bit {bit}");
        }
        for bit in 0..key.len() * 8 {
            let mut other = key.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(told(&other, sealed), "{name}: key bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(told(key, &sealed[..length]), "{name}: cut to {length}");
        }
        let other = if *table == TableId::Cards { TableId::Versions } else { TableId::Cards };
        assert!(open(other, key, sealed).is_err(), "{name} in another table");
    }
}

/// A payload with a good checksum may still be no card (a defect of another build): that is
/// an error, too, and never a panic.
#[test]
fn damaged_payloads_with_a_good_checksum_never_panic() {
    let card = full_card();
    let key = keys::card(TENANT, card.id);
    let payload = [&[0; 4], &encode_card(&card).unwrap()[16..]].concat();
    for bit in 0..payload.len() * 8 {
        let mut payload = payload.clone();
        payload[bit / 8] ^= 1 << (bit % 8);
        let _ = open_card(TableId::Cards, &key, &seal(TableId::Cards, &key, Schema::CardV1, &payload));
    }
}

/// Whole, and of another kind than the table holds.
#[test]
fn a_record_of_another_kind_is_told() {
    let card = full_card();
    let key = keys::card(TENANT, card.id);
    let told = |value: &[u8]| open_card_and_vector(TableId::Cards, &key, value).unwrap_err().to_string();
    let changes = seal(TableId::Cards, &key, Schema::ChangesV1, b"not a card");
    assert!(told(&changes).contains("a card was expected, found ChangesV1"), "{}", told(&changes));
    let short = seal(TableId::Cards, &key, Schema::CardV1, &[9, 0, 0, 0, 1, 2]);
    assert!(told(&short).contains("cards"), "{}", told(&short));
    let meta = keys::meta("model");
    let value = seal(TableId::Meta, &meta, Schema::CardV1, b"{}");
    let error = open_bytes(TableId::Meta, &meta, &value).unwrap_err();
    assert_eq!(error.code(), "corrupt", "{error}");
}

/// The length of a vector is two bytes of a record.
#[test]
fn a_vector_that_a_record_cannot_count_is_refused() {
    let vector = vec![0.5; usize::from(u16::MAX) + 1];
    let error = EncodedCard::new(&full_card(), Some((0, &vector))).unwrap_err();
    assert_eq!((error.code(), error.field()), ("too_large", Some("vector")));
    let most = &vector[1..];
    let key = keys::card(TENANT, full_card().id);
    let record = EncodedCard::new(&full_card(), Some((0, most))).unwrap().seal(TableId::Cards, &key);
    let (_, own) = open_card_and_vector(TableId::Cards, &key, &record).unwrap();
    assert_eq!(own.unwrap().numbers, most);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,8}", any::<String>()]
}

fn card() -> impl Strategy<Value = Card> {
    let words = || prop::collection::vec(text(), 0..4);
    let numbers = (any::<u128>(), any::<u32>(), any::<[u8; 4]>(), any::<i64>(), any::<Option<i64>>());
    (numbers, text(), any::<Option<String>>(), words(), words(), any::<(bool, bool, bool)>()).prop_map(
        |((id, version, kinds, at, maybe_at), content, maybe_text, entities, tags, flags)| {
            let pick = |n: u8, all: usize| n as usize % all;
            let full = full_card();
            let maybe = |flag: bool| flag.then(|| maybe_text.clone()).flatten();
            Card {
                id: CardId::from_bytes(id.to_be_bytes()),
                version,
                track: Track::ALL[pick(kinds[0], Track::ALL.len())],
                state: State::ALL[pick(kinds[1], State::ALL.len())],
                state_before: flags.0.then_some(State::ALL[pick(kinds[2], State::ALL.len())]),
                content,
                summary: maybe(true),
                merge_key: maybe(flags.1),
                extractor: maybe(flags.2),
                fact: if flags.0 { full.fact.clone() } else { None },
                sources: if flags.1 { full.sources.clone() } else { vec![] },
                attributes: if flags.2 { full.attributes.clone() } else { Default::default() },
                links: if flags.0 { full.links.clone() } else { vec![] },
                journal: maybe_at.map(|n| n as u64),
                occurred_at: Timestamp::from_micros(at),
                expires_at: maybe_at.map(Timestamp::from_micros),
                importance: f32::from(kinds[3]) / 255.0,
                mentions: entities
                    .iter()
                    .map(|name: &String| Mention { name: name.clone(), kind: MentionKind::Other })
                    .collect(),
                times: vec![],
                entities,
                tags,
                ..full
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cards_come_back_as_they_went_in(
        card in card(),
        vector in prop::option::of(prop::collection::vec(any::<f32>(), 1..9)),
        generation in any::<u16>(),
        at in any::<prop::sample::Index>(),
        bit in 0..8u8,
    ) {
        let key = keys::card(TENANT, card.id);
        let vector = vector.map(|numbers| OwnVector { generation, numbers });
        let sealed = seal_card(TableId::Cards, &key, &card, vector.as_ref().map(OwnVector::parts)).unwrap();
        prop_assert_eq!(&open_card(TableId::Cards, &key, &sealed).unwrap(), &card);
        let bits = |own: Option<OwnVector>| {
            own.map(|own| (own.generation, own.numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>()))
        };
        let (_, found) = open_card_and_vector(TableId::Cards, &key, &sealed).unwrap();
        prop_assert_eq!(bits(found), bits(vector));
        let mut damaged = sealed.clone();
        damaged[at.index(sealed.len())] ^= 1 << bit;
        let told = matches!(open_card(TableId::Cards, &key, &damaged), Err(Error::Corrupt { .. }));
        prop_assert!(told);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), schema in 0..8u16) {
        for table in TableId::ALL {
            let _ = open(table, b"key", &bytes);
        }
        let _ = decode_card(&bytes);
        let mut sealed = seal(TableId::Changes, b"key", Schema::ChangesV1, &bytes);
        sealed[2..4].copy_from_slice(&schema.to_le_bytes());
        let _ = open_changes(b"key", &sealed);
        let key = keys::change(TENANT, 1);
        let _ = open_changes(&key, &seal(TableId::Changes, &key, Schema::ChangesV1, &bytes));
        let _ = open_card(TableId::Cards, b"key", &seal(TableId::Cards, b"key", Schema::CardV1, &bytes));
    }
}
