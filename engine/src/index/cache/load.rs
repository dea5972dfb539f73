//! How a partition comes into memory: from its file and the changes since, or from the log.

use std::sync::Arc;

use crate::Result;
use crate::card::{Card, Track};
use crate::index::files::PartitionFiles;
use crate::index::partition::{Partition, Update};
use crate::store::{Database, Missing, ReadBytes, Tables, TenantId};

/// A partition that was read, and what is known of its file.
pub(super) struct Loaded {
    pub(super) partition: Partition,
    /// Rows and last change of the file it came from; 0 without one.
    pub(super) saved: usize,
    pub(super) saved_change: u64,
    /// True when a file that is there may hold cards that have gone away since it was written.
    pub(super) unscrubbed: bool,
}

/// Loads a partition from its file and the log, or from the log alone.
pub(super) fn load(database: &Database, tenant: TenantId, track: Track) -> Result<Loaded> {
    let tables = database.read()?;
    let files = PartitionFiles::new(database, tenant, track);
    let mut loaded = Loaded { partition: Partition::default(), saved: 0, saved_change: 0, unscrubbed: false };
    match files.read(|applied, rows| fits(&tables, tenant, applied, rows)) {
        Ok(None) => {}
        Ok(Some(found)) => {
            (loaded.saved, loaded.saved_change) = (found.len(), found.applied().0);
            loaded.partition = found;
        }
        Err(detail) => {
            // Nobody knows what it holds.
            loaded.unscrubbed = true;
            tracing::warn!(
                tenant = tenant.0,
                track = track.name(),
                detail,
                "a snapshot is not used; rebuilding from the store"
            );
        }
    }
    let dropped = loaded.partition.dropped();
    replay(&tables, tenant, track, &mut loaded.partition, || false)?;
    loaded.unscrubbed |= loaded.partition.dropped() > dropped;
    Ok(loaded)
}

/// A snapshot fits when the change it holds last is in the store, unchanged.
pub(super) fn fits<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    (sequence, checksum): (u64, u64),
    rows: usize,
) -> Result<(), String> {
    match tables.change_checksum(tenant, sequence) {
        Ok(Some(stored)) if stored == checksum => Ok(()),
        Ok(_) if sequence == 0 && rows == 0 => Ok(()),
        Ok(_) => Err("it does not belong to this state of the store".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Applies the changes that a partition does not hold yet; false when it was stopped before the
/// last one.
pub(super) fn replay<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    track: Track,
    partition: &mut Partition,
    stop: impl Fn() -> bool,
) -> Result<bool> {
    let (after, _) = partition.applied();
    let mut missing = Missing::default();
    for logged in tables.changes(tenant, after)? {
        let logged = logged?;
        let change = &logged.change;
        if change.track != track {
            continue;
        }
        if stop() {
            return Ok(false);
        }
        let (card, vector) = if change.kind.takes_away() {
            missing.went_away(change.card);
            (Card::placeholder(change.card, track, change.version), None)
        } else {
            match tables.hot_version(tenant, change.card, change.version)? {
                Some(stored) => tables.vector_of(tenant, stored)?,
                None => {
                    missing.note(&logged);
                    continue;
                }
            }
        };
        partition.apply(&Update {
            sequence: logged.sequence,
            checksum: logged.checksum,
            kind: change.kind,
            card: Arc::new(card),
            vector: vector.map(Arc::from),
            prepared: None,
        })?;
    }
    missing.check()?;
    let (last, checksum) = tables.last_change(tenant)?;
    partition.catch_up(last, checksum);
    Ok(true)
}
