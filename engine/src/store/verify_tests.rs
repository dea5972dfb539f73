//! Records that are whole, each by itself, and do not fit together: `verify` finds each and says
//! where, whatever it is that was put in.

use std::path::Path;

use super::*;
use crate::card::{Link, LinkKind, State};
use crate::store::Batch;
use crate::store::cold::SegmentRecord;
use crate::store::record::{Change, LookupChange, seal_card, seal_changes};
use crate::store::tables::TenantRecord;
use crate::time::Timestamp;
use crate::{Correct, Options, Remember, Store};

const TENANT: TenantId = TenantId(1);
const VECTOR: &[f32] = &[1.0, 2.0];

/// A store of one tenant with three cards that bring vectors, the first in two versions, and what
/// the first and the second one are. Each write is a record of the log: 1, 2, 3, and 4 for the
/// second version.
fn made(directory: &Path) -> (Store, [Card; 2]) {
    let store = Store::open(directory, Options { embedder: None, ..Options::default() }).unwrap();
    let tenant = store.tenant("anna").unwrap();
    let told = ["a red lamp", "a blue jar", "a green door"].map(|content| {
        let vector = Some(VECTOR.to_vec());
        tenant.remember(Remember { content: content.into(), vector, ..Remember::default() }).unwrap().id
    });
    let tags = Some(vec!["a".to_owned()]);
    tenant.correct(Correct { id: told[0], tags, ..Correct::default() }).unwrap();
    let report = store.verify(|_| {}).unwrap();
    assert!(report.is_sound() && (report.changes, report.versions) == (4, 1), "{report:?}");
    let tables = store.database().read().unwrap();
    let cards = [told[0], told[1]].map(|id| tables.card(TENANT, id).unwrap().unwrap());
    drop(tables);
    (store, cards)
}

type Harm = fn(&mut Batch<'_>, [Card; 2]) -> Result<()>;

/// Writes a card under its key, whatever was there.
fn put(batch: &mut Batch<'_>, card: &Card, vector: Option<(u16, &[f32])>) -> Result<()> {
    let key = keys::card(TENANT, card.id);
    let record = seal_card(TableId::Cards, &key, card, vector)?;
    batch.tables_mut().put(&key, &record)
}

fn remove(batch: &mut Batch<'_>, key: &[u8]) -> Result<()> {
    assert!(batch.tables_mut().remove(key)?, "there was something to remove");
    Ok(())
}

/// Each with what is said of it: a part of the place, and of the detail.
const HARMS: [(&str, Harm, &str, &str); 17] = [
    (
        "a key of no table",
        |batch, _| batch.tables_mut().put(&[250, 1, 2], b"x"),
        "the store file",
        "is no key of a table",
    ),
    (
        "a name that leads to another tenant",
        |batch, _| {
            let tenant = TenantRecord { name: "anna".into(), created_at: Timestamp::MIN };
            batch.tables_mut().put_tenant(TenantId(9), &tenant)
        },
        "tenants",
        "does not lead back",
    ),
    (
        "a name whose record is damaged",
        |batch, _| batch.tables_mut().put(&keys::tenant_name("anna"), b"nothing that was sealed"),
        "tenant",
        "",
    ),
    (
        "a tenant whose record is damaged",
        |batch, _| batch.tables_mut().put(&keys::tenant(TENANT), b"nothing that was sealed"),
        "tenants",
        "",
    ),
    (
        "a card of nobody",
        |batch, [card, _]| {
            let key = keys::card(TenantId(77), card.id);
            let record = seal_card(TableId::Cards, &key, &card, Some((0, VECTOR)))?;
            batch.tables_mut().put(&key, &record)
        },
        "cards",
        "belongs to no known tenant",
    ),
    (
        "a change that is missing",
        |batch, _| remove(batch, &keys::change(TENANT, 2)),
        "changes",
        "change 2 is missing before it",
    ),
    (
        "a change that is damaged",
        |batch, _| batch.tables_mut().put(&keys::change(TENANT, 2), b"nothing that was sealed"),
        "changes",
        "",
    ),
    (
        "a look-up that leads nowhere",
        |batch, [card, _]| {
            let lookup = LookupChange { key: [7; 17], card: Some(CardId::from_bytes([9; 16])) };
            let kind = ChangeKind::Lookups;
            let (id, version, at) = (card.id, card.version, card.updated_at);
            let change = Change { kind, track: card.track, card: id, version, at, lookups: vec![lookup] };
            for (key, value) in seal_changes(TENANT, 5, &[change])?.0 {
                batch.tables_mut().put(&key, &value)?;
            }
            Ok(())
        },
        "cards",
        "a look-up leads to this card, which is not there",
    ),
    (
        "a version that is missing",
        |batch, [card, _]| put(batch, &Card { version: 3, vector_version: 3, ..card }, Some((0, VECTOR))),
        "cards",
        "its earlier versions are not complete",
    ),
    (
        "a version under the number of another one",
        |batch, [card, _]| {
            let key = keys::version(TENANT, card.id, 9);
            let record = seal_card(TableId::Versions, &key, &Card { version: 8, ..card }, None)?;
            batch.tables_mut().put(&key, &record)
        },
        "versions",
        "the record is of another version",
    ),
    (
        "a card that is gone, and its earlier version is not",
        |batch, [card, _]| remove(batch, &keys::card(TENANT, card.id)),
        "versions",
        "an earlier version without a current one",
    ),
    (
        "a link that leads nowhere",
        |batch, [_, card]| {
            let link = Link { to: CardId::from_bytes([9; 16]), kind: LinkKind::Supersedes };
            put(batch, &Card { links: vec![link], ..card }, Some((0, VECTOR)))
        },
        "cards",
        "which is not there",
    ),
    (
        "a vector of something that is no number",
        |batch, [_, card]| put(batch, &card, Some((0, &[1.0, f32::NAN]))),
        "cards",
        "a number that is not finite",
    ),
    (
        "a vector that the version did not bring",
        |batch, [card, _]| put(batch, &card, Some((0, VECTOR))),
        "cards",
        "a vector that its version did not bring",
    ),
    (
        "no vector where the version brought one",
        |batch, [_, card]| put(batch, &card, None),
        "cards",
        "not the one it brought",
    ),
    (
        "a vector of a model of later",
        |batch, [_, card]| put(batch, &card, Some((9, VECTOR))),
        "cards",
        "a model that the store has never had",
    ),
    (
        "a vector that a version is said to have brought",
        |batch, [card, _]| {
            let key = keys::version(TENANT, card.id, 1);
            let first = Card { version: 1, vector_version: 0, ..card };
            let record = seal_card(TableId::Versions, &key, &first, None)?;
            batch.tables_mut().put(&key, &record)
        },
        "versions",
        "the card's vector is missing",
    ),
];

#[test]
fn records_that_do_not_fit_together_are_found() {
    let mut missed = vec![];
    for (what, harm, place, detail) in HARMS {
        let directory = tempfile::tempdir().unwrap();
        let (store, cards) = made(directory.path());
        store.database().write(move |batch| harm(batch, cards)).unwrap();
        let findings = store.verify(|_| {}).unwrap().findings;
        let is_it = |finding: &&Finding| finding.place.contains(place) && finding.detail.contains(detail);
        if !findings.iter().any(|finding| is_it(&finding)) {
            missed.push((what, findings));
        }
    }
    assert_eq!(missed, []);
}

type ColdHarm = fn(&mut Batch<'_>, SegmentRecord) -> Result<()>;

fn list(batch: &mut Batch<'_>, record: &SegmentRecord) -> Result<()> {
    batch.put_document(TableId::Segments, TENANT, 1, record)
}

/// The same of what the store says of a segment of the cold tier.
const COLD_HARMS: [(&str, ColdHarm, &str); 4] = [
    (
        "fewer cards than there are",
        |batch, record| list(batch, &SegmentRecord { dead: record.dead + 1, ..record }),
        "20 cards lead into a segment of 20, which 1 have left",
    ),
    (
        "as many as are noted nowhere",
        |batch, record| list(batch, &SegmentRecord { dead: record.dead + 1, ..record }),
        "cards are noted to have left, of 1",
    ),
    (
        "another segment",
        |batch, record| list(batch, &SegmentRecord { check: record.check ^ 1, ..record }),
        "it is not the segment that the store lists",
    ),
    (
        "none",
        |batch, _| {
            assert!(batch.remove_document(TableId::Segments, TENANT, 1)?);
            Ok(())
        },
        "20 cards lead to this segment, which is not listed",
    ),
];

#[test]
fn segments_that_are_not_those_of_the_store_are_found() {
    for (what, harm, detail) in COLD_HARMS {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { embedder: None, ..Options::default() };
        let store = Store::open(directory.path(), options).unwrap();
        let tenant = store.tenant("anna").unwrap();
        let requests =
            (0..20).map(|n| Remember { content: format!("Drawer {n} holds part{n}"), ..Remember::default() });
        let answers = tenant.remember_all(requests.collect()).unwrap();
        let ids: Vec<CardId> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
        let archive = move |batch: &mut Batch<'_>| {
            for id in ids {
                let card = batch.tables().card(TENANT, id)?.unwrap();
                let now = card.updated_at;
                batch.revise(TENANT, Card { state: State::Archived, ..card }, None, now)?;
            }
            Ok(())
        };
        store.database().write(archive).unwrap();
        assert_eq!(store.freeze(None, Some(1)).unwrap().cards, 20);
        assert!(store.verify(|_| {}).unwrap().is_sound());
        let record: Option<SegmentRecord> =
            store.database().read().unwrap().document(TableId::Segments, TENANT, 1).unwrap();
        let record = record.unwrap();
        store.database().write(move |batch| harm(batch, record)).unwrap();
        let findings = store.verify(|_| {}).unwrap().findings;
        assert!(findings.iter().any(|finding| finding.detail.contains(detail)), "{what}: {findings:#?}");
    }
}
