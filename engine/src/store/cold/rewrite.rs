//! Making segments anew without what has left them.
//!
//! A segment is made anew when half of it has left, or something of it was purged: its bytes
//! must go. Small ones are put together with others on the occasion. One commit lists the
//! new segment, points the stubs there and unlists the old ones; then their files are removed.

use std::collections::HashSet;

use serde::Serialize;

use crate::card::CardId;
use crate::cold::{Carrier, SegmentBuilder};
use crate::store::batch::Batch;
use crate::store::cold::freeze::{Progress, segment_number};
use crate::store::cold::{OpenSegment, SegmentKey, SegmentRecord, dead_key};
use crate::store::database::Database;
use crate::store::keys::{TableId, TenantId};
use crate::store::readable::Damaged;
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables};
use crate::{Error, Result};

/// What was done to the segments of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// Segments removed, those that were made anew included.
    pub removed: u64,
    /// Segments made.
    pub made: u64,
    /// Size of the removed ones in bytes.
    pub bytes_before: u64,
    /// Size of those made in their place.
    pub bytes_after: u64,
    /// What is wrong with segments that should have been made anew and are left as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// Where a card stood before, and where it stands in the new segment.
struct Moved {
    id: CardId,
    from: (u64, u32),
    to: u32,
}

/// Segments that become one.
type Group = Vec<(u64, SegmentRecord)>;

/// Which segments are made anew, together with which others.
fn groups(segments: Group, most: usize, erased: &HashSet<u64>) -> Vec<Group> {
    let live = |listed: &SegmentRecord| listed.cards.saturating_sub(listed.dead) as usize;
    let due = |number: u64, listed: &SegmentRecord| {
        listed.purged > 0 || erased.contains(&number) || u64::from(listed.dead) * 2 > u64::from(listed.cards)
    };
    let small = |listed: &SegmentRecord| live(listed) * 4 < most;
    let few = segments.iter().filter(|(_, listed)| small(listed)).count() < 2;
    let chosen =
        segments.into_iter().filter(|(number, listed)| due(*number, listed) || (!few && small(listed)));
    let mut groups: Vec<Group> = Vec::new();
    for (number, listed) in chosen {
        let fits = |group: &&mut Group| {
            let cards: usize = group.iter().map(|(_, other)| live(other)).sum();
            let like = |other: &SegmentRecord| {
                (other.generation, other.dimension) == (listed.generation, listed.dimension)
            };
            cards + live(&listed) <= most && group.iter().all(|(_, other)| like(other))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push((number, listed)),
            None => groups.push(vec![(number, listed)]),
        }
    }
    // One by itself is only made anew for a reason.
    groups.retain(|group| group.len() > 1 || due(group[0].0, &group[0].1));
    groups
}

impl Database {
    /// [`Database::rewrite_segments`] of every tenant; files that nothing lists are removed.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn compact_cold(&self, most: usize) -> Result<Rewritten> {
        let mut all = Rewritten::default();
        // A tenant is registered before it has a file, so the files are looked at first.
        let with_files = self.cold().tenants()?;
        let tenants = self.read()?.tenants()?;
        for wiped in with_files.iter().filter(|with| tenants.iter().all(|(tenant, _)| tenant != *with)) {
            self.cold().forget_tenant(*wiped)?;
        }
        for (tenant, _) in tenants {
            let done = self.rewrite_segments(tenant, most)?;
            all.removed += done.removed;
            all.made += done.made;
            all.bytes_before += done.bytes_before;
            all.bytes_after += done.bytes_after;
            all.damaged.extend(done.damaged);
        }
        Ok(all)
    }

    /// Makes those segments of a tenant anew that much has left, or from which something was
    /// purged; `most` is how many cards one holds.
    ///
    /// # Errors
    /// When the store or a file cannot be written; segments that were made before are in place.
    /// One that is damaged is left as it is.
    pub(crate) fn rewrite_segments(&self, tenant: TenantId, most: usize) -> Result<Rewritten> {
        let _work = self.cold().work();
        let mut done = Rewritten::default();
        let tables = self.read()?;
        let mut segments = tables.segments(tenant)?;
        self.cold().remove_unlisted(tenant, |number| segments.iter().any(|(other, _)| *other == number))?;
        let mut met = Damaged::default();
        let (mut erased, mut damaged) = (HashSet::new(), HashSet::new());
        for (number, listed) in segments.iter().filter(|(_, listed)| listed.dead > 0) {
            match met.beside(self.holds_erased(&tables, (tenant, *number), listed))? {
                Some(true) => {
                    erased.insert(*number);
                }
                Some(false) => {}
                None => {
                    damaged.insert(*number);
                }
            }
        }
        drop(tables);
        segments.retain(|(number, _)| !damaged.contains(number));
        // What is damaged shows when it is read: those beside it are then made anew by themselves.
        let mut groups = groups(segments, most.max(1), &erased);
        while let Some(group) = groups.pop() {
            let alone = group.len() == 1;
            let made = match self.rewrite_group(tenant, &group) {
                Err(Error::Corrupt { .. }) if !alone => {
                    groups.extend(group.into_iter().map(|segment| vec![segment]));
                    continue;
                }
                made => met.beside(made)?,
            };
            let Some(made) = made else { continue };
            done.bytes_before += group.iter().map(|(_, listed)| listed.bytes).sum::<u64>();
            let numbers: Vec<u64> = group.iter().map(|(number, _)| *number).collect();
            self.cold().retire(tenant, &numbers)?;
            done.removed += numbers.len() as u64;
            done.made += u64::from(made > 0);
            done.bytes_after += made;
        }
        done.damaged = met.places;
        Ok(done)
    }

    /// True when a card that has left a segment is not there any more: it came back first, and
    /// was purged then.
    fn holds_erased<T: ReadBytes>(
        &self,
        tables: &Tables<T>,
        key: SegmentKey,
        listed: &SegmentRecord,
    ) -> Result<bool> {
        let segment = self.cold().segment(key)?;
        for position in tables.left_of(key, listed)?.iter() {
            let id = segment.id(*position).map_err(|error| self.cold().damaged(key, error))?;
            if !tables.has_card(key.0, CardId::from_bytes(id))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives the size of the new segment; 0 when none was needed.
    fn rewrite_group(&self, tenant: TenantId, group: &[(u64, SegmentRecord)]) -> Result<u64> {
        let tables = self.read()?;
        let number = Progress::of(&tables, tenant)?.next.max(1);
        let (generation, dimension) = group.first().map_or((0, 0), |(_, l)| (l.generation, l.dimension));
        let mut builder = SegmentBuilder::new(tenant.0, segment_number(number)?, dimension);
        let mut open = Vec::with_capacity(group.len());
        for (number, listed) in group {
            let key = (tenant, *number);
            // As of this snapshot, not as of the one in which the group was found.
            let listed = tables.document(TableId::Segments, tenant, *number)?.unwrap_or(listed.clone());
            let left: HashSet<u32> = tables.left(key, &listed)?.into_iter().collect();
            open.push((key, self.cold().segment(key)?, left));
        }
        let mut cards: Vec<([u8; 16], usize, u32)> = Vec::new();
        for (place, (key, segment, left)) in open.iter().enumerate() {
            for position in (0..segment.len()).filter(|position| !left.contains(position)) {
                let id = segment.id(position).map_err(|error| self.cold().damaged(*key, error))?;
                cards.push((id, place, position));
            }
        }
        cards.sort_unstable();
        let mut moved = Vec::with_capacity(cards.len());
        {
            let mut carriers = Vec::with_capacity(open.len());
            for (key, segment, _) in &open {
                let carrier: Carrier<'_, _> =
                    carrier_of(segment).map_err(|error| self.cold().damaged(*key, error))?;
                carriers.push(carrier);
            }
            for (id, place, position) in cards {
                let key = open[place].0;
                let to = builder.len();
                builder
                    .push_from(&mut carriers[place], position)
                    .map_err(|error| self.cold().damaged(key, error))?;
                moved.push(Moved { id: CardId::from_bytes(id), from: (key.1, position), to });
            }
        }
        let count = builder.len();
        let mut listed = None;
        if count > 0 {
            let bytes = builder.finish().map_err(|detail| Error::Internal(format!("a segment: {detail}")))?;
            self.cold().write((tenant, number), &bytes)?;
            listed = Some(SegmentRecord::of(&bytes, count, generation, dimension));
        }
        let size = listed.as_ref().map_or(0, |listed| listed.bytes);
        let old: Vec<u64> = group.iter().map(|(number, _)| *number).collect();
        self.write(move |batch| match batch.tables().has_tenant(tenant)? {
            true => batch.replace_segments((tenant, number), listed, &moved, &old),
            false => Ok(()),
        })?;
        Ok(size)
    }
}

fn carrier_of(
    segment: &OpenSegment,
) -> Result<Carrier<'_, crate::store::mapped::Mapped>, crate::cold::SegmentError> {
    Carrier::new(segment)
}

impl Batch<'_> {
    /// Lists a new segment in the place of others. Cards that have left these meanwhile have
    /// left the new one.
    fn replace_segments(
        &mut self,
        (tenant, number): SegmentKey,
        listed: Option<SegmentRecord>,
        moved: &[Moved],
        old: &[u64],
    ) -> Result<()> {
        let mut there = Vec::with_capacity(moved.len());
        for Moved { id, from, .. } in moved {
            let stub = self.tables().stub(tenant, *id)?;
            there.push(stub.filter(|stub| (stub.segment, stub.position) == *from));
        }
        let mut progress = Progress::of(self.tables(), tenant)?;
        let purged: u32 = {
            let mut since = 0;
            for old in old {
                let record: Option<SegmentRecord> =
                    self.tables().document(TableId::Segments, tenant, *old)?;
                since += record.map_or(0, |record| record.purged);
            }
            since
        };
        let mut dead = 0;
        for (Moved { id, to, .. }, stub) in moved.iter().zip(there) {
            match stub {
                Some(mut stub) => {
                    (stub.segment, stub.position) = (number, *to);
                    let value = stub.seal(tenant, *id);
                    self.tables_mut().put(&crate::store::keys::card(tenant, *id), &value)?;
                }
                None => {
                    dead += 1;
                    let key = dead_key((tenant, number), *to);
                    self.tables_mut().put(&key, &record::seal_bytes(TableId::Segments, &key, &[]))?;
                }
            }
        }
        for old in old {
            self.remove_items(TableId::Segments, tenant, *old)?;
            self.remove_document(TableId::Segments, tenant, *old)?;
        }
        if let Some(listed) = listed {
            // One that was purged while the copy was made is in the copy.
            let purged = purged.min(dead);
            self.put_document(TableId::Segments, tenant, number, &SegmentRecord { dead, purged, ..listed })?;
        }
        progress.next = progress.next.max(number + 1);
        progress.write(self, tenant)
    }
}
