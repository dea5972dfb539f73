//! Moving archived cards out of the store file into a new segment.
//!
//! The segment is built from a snapshot, beside everything else. Commits of some cards each then
//! list it and let stubs take the place of the cards that are still as they were; the others
//! have a place in the segment that nothing leads to. Whoever writes waits for one of these
//! commits, not for all; between two of them the segment's record says how far it is, so that a
//! freeze that is cut short leaves a segment of which the rest counts as gone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::card::{Card, CardId, State};
use crate::cold::{ColdCard, Record, SegmentBuilder};
use crate::store::batch::Batch;
use crate::store::cold::{SegmentKey, SegmentRecord, Stub, dead_key};
use crate::store::database::{Database, read_model};
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record::{self, ChangeKind};
use crate::store::tables::{ReadBytes, Tables};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Name of the tenant's setting that says how far its archived cards are known.
const SETTING: &str = "cold";
/// Changes after which that is written down though nothing was frozen.
const CHANGES: u64 = 4096;

/// Up to which change it is known which cards are archived and not cold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Progress {
    upto: u64,
    /// Archived cards up to there that were too few for a segment.
    waiting: Vec<CardId>,
    /// No segment has had this number, or a greater one.
    pub(super) next: u64,
}

impl Progress {
    pub(super) fn of<T: ReadBytes>(tables: &Tables<T>, tenant: TenantId) -> Result<Self> {
        Ok(tables.setting(tenant, SETTING)?.unwrap_or_default())
    }

    pub(super) fn write(&self, batch: &mut Batch<'_>, tenant: TenantId) -> Result<()> {
        batch.put_setting(tenant, SETTING, self)
    }
}

/// The words by which a card is found: terms with their frequencies, and its length in tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Described {
    pub(crate) terms: Vec<(String, u16)>,
    pub(crate) length: u32,
}

/// How cards become cold.
pub(crate) struct Freezing<'a> {
    /// Fewer cards are not worth a file.
    pub(crate) least: usize,
    /// Cards of one segment.
    pub(crate) most: usize,
    /// Cards that move in one commit.
    pub(crate) piece: usize,
    pub(crate) now: Timestamp,
    /// Analyses the versions of a card, oldest first.
    pub(crate) describe: &'a dyn Fn(&[Card]) -> Described,
}

/// What was moved to the cold tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Frozen {
    /// Segments made.
    pub segments: u64,
    /// Cards moved.
    pub cards: u64,
    /// Size of the segments in bytes.
    pub bytes: u64,
}

/// A card in a segment that was built.
pub(super) struct Built {
    pub(super) id: CardId,
    pub(super) stub: Stub,
    /// Identifies the records that it was built from.
    mark: u64,
}

/// The sealed records of a card that is not cold, oldest version first.
type Sealed = Vec<Vec<u8>>;

fn mark_of(records: &[Vec<u8>]) -> u64 {
    let mut hasher = Xxh3::new();
    for record in records {
        hasher.update(&(record.len() as u64).to_le_bytes());
        hasher.update(record);
    }
    hasher.digest()
}

/// Where the vector's numbers stand in a sealed record.
fn floats_of(record: &[u8]) -> std::ops::Range<usize> {
    const START: usize = 20;
    let count = record.get(16..18).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    let end = START + count * 4;
    if end <= record.len() { START..end } else { 0..0 }
}

impl<T: ReadBytes> Tables<T> {
    /// The records of a card that is not cold, and the cards in them.
    fn sealed(&self, tenant: TenantId, id: CardId) -> Result<Option<Sealed>> {
        let key = keys::card(tenant, id);
        let Some(present) = self.get(&key)? else { return Ok(None) };
        if Stub::open(&key, present.value())?.is_some() {
            return Ok(None);
        }
        let mut records = self.sealed_earlier(tenant, id)?;
        records.push(present.value().to_vec());
        Ok(Some(records))
    }

    /// Archived cards that are not cold: those that were known and those that changed since.
    fn freezable(&self, tenant: TenantId, progress: &Progress) -> Result<Vec<CardId>> {
        let mut ids: BTreeSet<CardId> = progress.waiting.iter().copied().collect();
        for logged in self.changes(tenant, progress.upto)? {
            let change = logged?.change;
            if !change.kind.takes_away() {
                ids.insert(change.card);
            }
        }
        let mut archived = Vec::new();
        for id in ids {
            let key = keys::card(tenant, id);
            let Some(value) = self.get(&key)? else { continue };
            if Stub::open(&key, value.value())?.is_none()
                && record::open_card(TableId::Cards, &key, value.value())?.state == State::Archived
            {
                archived.push(id);
            }
        }
        Ok(archived)
    }
}

impl Database {
    /// Moves a tenant's archived cards out of the store file, if there are enough of them.
    ///
    /// # Errors
    /// When the store cannot be read or written, or a segment cannot be written: then nothing
    /// has changed, but for segments that were complete before.
    pub(crate) fn freeze(&self, tenant: TenantId, freezing: &Freezing<'_>) -> Result<Frozen> {
        let _work = self.cold().work();
        let mut frozen = Frozen::default();
        let tables = self.read()?;
        if !tables.has_tenant(tenant)? {
            return Ok(frozen);
        }
        let listed = tables.segments(tenant)?;
        self.cold().remove_unlisted(tenant, |number| listed.iter().any(|(other, _)| *other == number))?;
        let before = Progress::of(&tables, tenant)?;
        let (last, _) = tables.last_change(tenant)?;
        if last == before.upto && before.waiting.len() < freezing.least.max(1) {
            return Ok(frozen);
        }
        let ids = tables.freezable(tenant, &before)?;
        if ids.len() < freezing.least.max(1) {
            if last - before.upto >= CHANGES {
                let after = Progress { upto: last, waiting: ids, next: before.next };
                self.write(move |batch| match batch.tables().has_tenant(tenant)? {
                    true => after.write(batch, tenant),
                    false => Ok(()),
                })?;
            }
            return Ok(frozen);
        }
        let pieces = ids.chunks(freezing.most.max(1));
        let count = pieces.len();
        for (place, piece) in pieces.enumerate() {
            let progress = Progress::of(&self.read()?, tenant)?;
            let number = progress.next.max(1);
            // What is known goes with the last piece: until then it may be found again.
            let after = match place + 1 == count {
                true => Progress { upto: last, waiting: vec![], next: number + 1 },
                false => Progress { next: number + 1, ..progress },
            };
            let (listed, built, bytes) = self.build(&tables, (tenant, number), piece, freezing)?;
            if built.is_empty() {
                self.write(move |batch| match batch.tables().has_tenant(tenant)? {
                    true => after.write(batch, tenant),
                    false => Ok(()),
                })?;
                continue;
            }
            self.cold().write((tenant, number), &bytes)?;
            frozen.bytes += bytes.len() as u64;
            drop(bytes);
            let (now, mut rest) = (freezing.now, built);
            while !rest.is_empty() {
                let later = rest.split_off(freezing.piece.clamp(1, rest.len()));
                let (piece, listed) = (rest, listed.clone());
                let after = later.is_empty().then(|| after.clone());
                frozen.cards += self.write(move |batch| {
                    if !batch.tables().has_tenant(tenant)? {
                        return Ok(0);
                    }
                    batch.cool((tenant, number), listed, &piece, after.as_ref(), now)
                })?;
                rest = later;
            }
            frozen.segments += 1;
        }
        Ok(frozen)
    }

    fn build<T: ReadBytes>(
        &self,
        tables: &Tables<T>,
        (tenant, number): SegmentKey,
        ids: &[CardId],
        freezing: &Freezing<'_>,
    ) -> Result<(SegmentRecord, Vec<Built>, Vec<u8>)> {
        let dimension = read_model(tables)?.map_or(0, |model| model.dimension);
        let dimension = u32::try_from(dimension).unwrap_or(0);
        let mut builder = SegmentBuilder::new(tenant.0, segment_number(number)?, dimension);
        let mut built = Vec::with_capacity(ids.len());
        for id in ids {
            // It was there in this very snapshot.
            let Some(records) = tables.sealed(tenant, *id)? else { continue };
            let mut cards = Vec::with_capacity(records.len());
            let last = records.len() - 1;
            for (at, bytes) in records.iter().enumerate() {
                let key = keys::version(tenant, *id, at as u32 + 1);
                cards.push(match at == last {
                    true => record::open_card(TableId::Cards, &keys::card(tenant, *id), bytes)?,
                    false => record::open_card(TableId::Versions, &key, bytes)?,
                });
            }
            let card = &cards[last];
            if card.version as usize != records.len() {
                let place = record::place(TableId::Cards, &keys::card(tenant, *id));
                return Err(Error::corrupt(place, "its earlier versions are not complete"));
            }
            let vector = tables.vector(tenant, card)?;
            let vector = vector.filter(|vector| vector.len() == dimension as usize && dimension > 0);
            let described = (freezing.describe)(&cards);
            let terms: Vec<(&str, u16)> =
                described.terms.iter().map(|(term, count)| (term.as_str(), *count)).collect();
            let versions: Vec<Record<'_>> =
                records.iter().map(|bytes| Record::with_floats(bytes, floats_of(bytes))).collect();
            let position = builder.len();
            let pushed = builder.push(ColdCard {
                id: id.to_bytes(),
                track: card.track.number(),
                flags: u16::from(card.state.number()),
                versions: &versions,
                vector: vector.as_deref(),
                terms: &terms,
                length: described.length,
                occurred_at: card.occurred_at.as_micros(),
            });
            match pushed {
                Ok(()) => {
                    built.push(Built {
                        id: *id,
                        stub: Stub::of(card, number, position),
                        mark: mark_of(&records),
                    });
                }
                // It stays where it is.
                Err(detail) if builder.len() == position => {
                    tracing::warn!(card = %id, detail, "a card does not fit into a segment");
                }
                Err(detail) => return Err(Error::Internal(format!("card {id} in a segment: {detail}"))),
            }
        }
        let count = builder.len();
        let bytes = builder.finish().map_err(|detail| Error::Internal(format!("a segment: {detail}")))?;
        Ok((SegmentRecord::of(&bytes, count, tables.generation(), dimension), built, bytes))
    }
}

/// A segment counts itself in 32 bits.
pub(super) fn segment_number(number: u64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::LimitExceeded {
        what: "segments in the life of a tenant".into(),
        limit: u64::from(u32::MAX),
    })
}

impl Batch<'_> {
    /// Lists a segment, and puts stubs in the place of those of some of its cards that are as they
    /// were when it was built; gives how many. `after`: what is known once these were the last.
    fn cool(
        &mut self,
        (tenant, number): SegmentKey,
        listed: SegmentRecord,
        built: &[Built],
        after: Option<&Progress>,
        now: Timestamp,
    ) -> Result<u64> {
        let present: Option<SegmentRecord> = self.tables().document(TableId::Segments, tenant, number)?;
        // Nothing has moved there before the first commit.
        let mut listed = present.unwrap_or(SegmentRecord { moved: Some(0), dead: listed.cards, ..listed });
        let mut same = vec![false; built.len()];
        for (same, built) in same.iter_mut().zip(built) {
            let present = self.tables().sealed(tenant, built.id)?;
            *same = present.is_some_and(|records| mark_of(&records) == built.mark);
        }
        let mut cooled = 0;
        for (built, same) in built.iter().zip(same) {
            let Built { id, stub, .. } = built;
            if !same {
                let key = dead_key((tenant, number), stub.position);
                self.tables_mut().put(&key, &record::seal_bytes(TableId::Segments, &key, &[]))?;
                continue;
            }
            let (first, end) = (keys::version(tenant, *id, 0), keys::version(tenant, *id, u32::MAX));
            if stub.version > 1 {
                self.tables_mut().remove_range(&first, &end)?;
            }
            self.tables_mut().put(&keys::card(tenant, *id), &stub.seal(tenant, *id))?;
            let gone = Card { updated_at: now, ..Card::placeholder(*id, stub.track, stub.version) };
            self.log(tenant, ChangeKind::Cool, gone, None, None)?;
            cooled += 1;
        }
        listed.dead -= (cooled as u32).min(listed.dead);
        let moved = built.last().map_or(0, |last| last.stub.position + 1);
        listed.moved = (moved < listed.cards).then_some(moved);
        self.put_document(TableId::Segments, tenant, number, &listed)?;
        if let Some(after) = after {
            after.write(self, tenant)?;
        } else {
            // The number is taken all the same.
            let progress = Progress::of(self.tables(), tenant)?;
            Progress { next: progress.next.max(number + 1), ..progress }.write(self, tenant)?;
        }
        Ok(cooled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::CardId;
    use crate::{Get, Include, Options, Recall, Remember, Store};

    const NOW: Timestamp = Timestamp::from_micros(1_704_067_200_000_000);

    /// What a crash between two commits leaves is whole, and the rest moves the next time.
    #[test]
    fn a_freeze_that_is_cut_short_between_two_pieces_leaves_a_sound_store() {
        let directory = tempfile::tempdir().unwrap();
        let options = || Options { embedder: None, ..Options::default() };
        let store = Store::open(directory.path(), options()).unwrap();
        let tenant = store.tenant("a").unwrap();
        let requests =
            (0..90).map(|n| Remember { content: format!("Drawer {n} holds part{n}"), ..Remember::default() });
        let ids: Vec<CardId> =
            tenant.remember_all(requests.collect()).unwrap().into_iter().map(|a| a.unwrap().id).collect();
        let (number, all) = (tenant.id().unwrap().unwrap(), ids.clone());
        let archive = move |batch: &mut Batch<'_>| {
            for id in all {
                let card = batch.tables().card(number, id)?.unwrap();
                batch.revise(number, Card { state: State::Archived, ..card }, None, NOW)?;
            }
            Ok(())
        };
        store.database().write(archive).unwrap();
        let describe = |versions: &[Card]| Described {
            terms: vec![(versions[0].content.rsplit(' ').next().unwrap().to_lowercase(), 1)],
            length: 4,
        };
        let freezing = Freezing { least: 1, most: 100, piece: 20, now: NOW, describe: &describe };
        {
            // The first of the commits, and no other.
            let database = store.database();
            let tables = database.read().unwrap();
            let (listed, mut built, bytes) = database.build(&tables, (number, 1), &ids, &freezing).unwrap();
            database.cold().write((number, 1), &bytes).unwrap();
            built.truncate(20);
            let first = move |batch: &mut Batch<'_>| batch.cool((number, 1), listed, &built, None, NOW);
            assert_eq!(database.write(first).unwrap(), 20);
        }
        let check = |store: &Store, cold: u64| {
            let report = store.verify(|_| {}).unwrap();
            assert!(report.is_sound(), "{:?}", report.findings);
            assert_eq!(store.cold_statistics().unwrap().cards, cold);
            let tenant = store.tenant("a").unwrap();
            for (n, id) in ids.iter().enumerate().step_by(7) {
                let query = Some(format!("part{n}"));
                let include = vec![Include::Archived];
                let hits = tenant
                    .recall(Recall { query, include: include.clone(), ..Recall::default() })
                    .unwrap()
                    .hits;
                assert_eq!(hits.first().map(|hit| hit.card.id), Some(*id), "{n}");
                assert_eq!(tenant.get(&Get { id: *id, include, ..Get::default() }).unwrap().version, 2);
            }
        };
        check(&store, 20);
        drop((tenant, store));
        let store = Store::open(directory.path(), options()).unwrap();
        check(&store, 20);
        let rest = store.database().freeze(number, &freezing).unwrap();
        assert_eq!((rest.cards, rest.segments), (70, 1));
        check(&store, 90);
        // The first segment is mostly empty, and is put together with the other one.
        assert_eq!(store.compact_cold().unwrap().made, 1);
        check(&store, 90);
        assert_eq!(store.cold_statistics().unwrap().segments, 1);
    }
}
