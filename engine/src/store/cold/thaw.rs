//! Bringing a cold card back into the store file, because somebody writes to it.

use crate::Result;
use crate::card::{Card, CardId};
use crate::store::batch::Batch;
use crate::store::cold::{SegmentRecord, Stub, dead_key};
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record::{self, ChangeKind};
use crate::time::Timestamp;

impl Batch<'_> {
    /// Puts all versions of a card back, if it is cold: from here on it is as it was before it
    /// became so. Each version is a change of its own, made at `now`, for the partitions to take in.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when its records are damaged; then nothing is
    /// written.
    pub(in crate::store) fn thaw(&mut self, tenant: TenantId, id: CardId, now: Timestamp) -> Result<bool> {
        let Some(stub) = self.tables().stub(tenant, id)? else { return Ok(false) };
        let records = self.tables().cold_records(tenant, id, &stub)?;
        let stored = self.tables().open_cold(tenant, id, &records)?;
        let last = records.len() - 1;
        for (at, bytes) in records.iter().enumerate() {
            match at == last {
                true => self.tables_mut().put(&keys::card(tenant, id), bytes)?,
                false => self.tables_mut().put(&keys::version(tenant, id, at as u32 + 1), bytes)?,
            }
        }
        self.leave_segment(tenant, &stub, false)?;
        for stored in stored {
            let (card, vector) = self.tables().vector_of(tenant, stored)?;
            self.log_at(tenant, ChangeKind::Thaw, card, vector, now)?;
        }
        Ok(true)
    }

    /// Removes the stub of a cold card for good, whether or not its records can be read; gives
    /// what is known of it without them.
    pub(in crate::store) fn remove_cold(&mut self, tenant: TenantId, id: CardId) -> Result<Option<Card>> {
        let Some(stub) = self.tables().stub(tenant, id)? else { return Ok(None) };
        self.tables_mut().remove(&keys::card(tenant, id))?;
        self.leave_segment(tenant, &stub, true)?;
        Ok(Some(Card { state: stub.state, ..Card::placeholder(id, stub.track, stub.version) }))
    }

    /// Notes that nothing leads to a card's place in its segment any more.
    fn leave_segment(&mut self, tenant: TenantId, stub: &Stub, purged: bool) -> Result<()> {
        let number = stub.segment;
        let key = dead_key((tenant, number), stub.position);
        let value = record::seal_bytes(TableId::Segments, &key, &[]);
        let new = self.tables_mut().put_new(&key, &value)?;
        let listed: Option<SegmentRecord> = self.tables().document(TableId::Segments, tenant, number)?;
        if let Some(mut listed) = listed {
            listed.dead += u32::from(new);
            listed.purged += u32::from(purged);
            self.put_document(TableId::Segments, tenant, number, &listed)?;
        }
        Ok(())
    }
}
