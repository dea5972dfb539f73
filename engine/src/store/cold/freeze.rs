//! Moving archived cards out of the store file into a new segment.
//!
//! The segment is built from a snapshot, beside everything else. One commit then lists it and
//! lets stubs take the place of the cards that are still as they were; the others have a
//! place in the segment that nothing leads to.

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
            self.cold().write((tenant, number), &bytes)?;
            frozen.bytes += bytes.len() as u64;
            drop(bytes);
            let now = freezing.now;
            let cooled = self.write(move |batch| {
                if !batch.tables().has_tenant(tenant)? {
                    return Ok(0);
                }
                batch.cool((tenant, number), listed, &built, &after, now)
            })?;
            frozen.segments += 1;
            frozen.cards += cooled;
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
    /// Lists a segment, and puts stubs in the place of those of its cards that are as they were
    /// when it was built; gives how many.
    fn cool(
        &mut self,
        (tenant, number): SegmentKey,
        mut listed: SegmentRecord,
        built: &[Built],
        after: &Progress,
        now: Timestamp,
    ) -> Result<u64> {
        let mut same = vec![false; built.len()];
        for (same, built) in same.iter_mut().zip(built) {
            let present = self.tables().sealed(tenant, built.id)?;
            *same = present.is_some_and(|records| mark_of(&records) == built.mark);
        }
        listed.dead = same.iter().filter(|same| !**same).count() as u32;
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
        self.put_document(TableId::Segments, tenant, number, &listed)?;
        after.write(self, tenant)?;
        Ok(cooled)
    }
}
