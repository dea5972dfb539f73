//! Taking look-ups out of the change log that lead nowhere any more, or elsewhere by now.
//!
//! A look-up's key is a hash of what a card said. The index of look-ups needs where each leads
//! now, which later changes say; what earlier ones said is of no use, and of a card that was
//! purged it is something from which a few bytes of content could be computed back. So a
//! compaction leaves each key in the log only where it leads to the card that it leads to now.
//!
//! Where a change stands, and what it did, stays; so does what identifies it. An index that has
//! read the log only up to a place that was stripped since would never be told of what changed
//! there: the tenant's setting `stripped` says from which change on an index can be gone on with.

use std::ops::Bound;

use crate::store::batch::Batch;
use crate::store::database::Database;
use crate::store::keys::{self, TenantId};
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables};
use crate::{Error, Result};

/// Name of the tenant's setting that says up to which change the log was stripped.
const SETTING: &str = "stripped";
/// Changes that one transaction looks at.
const PIECE: u64 = 8192;

impl<T: ReadBytes> Tables<T> {
    /// Indexes of look-ups that hold fewer changes must be made anew.
    pub(super) fn stripped(&self, tenant: TenantId) -> Result<u64> {
        Ok(self.setting(tenant, SETTING)?.unwrap_or(0))
    }

    /// The first change of a tenant in which a look-up of a card stands that is not there any
    /// more; `None` when nothing of the kind is left.
    pub(crate) fn lookup_of_gone(&self, tenant: TenantId) -> Result<Option<u64>> {
        for logged in self.changes(tenant, 0)? {
            let logged = logged?;
            let change = &logged.change;
            if change.lookups.is_empty() {
                continue;
            }
            let cards = change.lookups.iter().filter_map(|lookup| lookup.card).chain([change.card]);
            for card in cards {
                if !self.has_card(tenant, card)? {
                    return Ok(Some(logged.sequence));
                }
            }
        }
        Ok(None)
    }
}

impl Database {
    /// Strips a tenant's log as it is now, and brings the file of the look-ups up to that. Gives
    /// how many look-ups were taken out.
    ///
    /// # Errors
    /// When the store cannot be read or written; what was stripped before stays so.
    pub(crate) fn strip_log(&self, tenant: TenantId) -> Result<u64> {
        let (upto, _) = self.read()?.last_change(tenant)?;
        let (mut after, mut taken) = (0, 0);
        while after < upto {
            let from = after;
            let (next, count) = self.write(move |batch| batch.strip(tenant, from, upto))?;
            (after, taken) = (next.max(from + 1), taken + count);
        }
        let tables = self.read()?;
        self.lookups().scrub(tenant, tables.stripped(tenant)?)?;
        Ok(taken)
    }
}

impl Batch<'_> {
    /// Strips the records of some changes after one; gives the last change that was looked at, and
    /// how many look-ups were taken out.
    fn strip(&mut self, tenant: TenantId, after: u64, upto: u64) -> Result<(u64, u64)> {
        if !self.tables().has_tenant(tenant)? {
            return Ok((upto, 0));
        }
        let (mut seen, mut taken, mut stripped) = (after, 0, 0);
        let mut records = Vec::new();
        let first = keys::change(tenant, after + 1);
        let end = keys::change(tenant, upto);
        for entry in self.tables().range(&first, Bound::Included(end.as_slice()))? {
            let (key, value) = entry?;
            let changes = record::open_changes(key.value(), value.value())?;
            // All of them are committed, and none of a record is behind the next one.
            seen = changes.last().map_or(seen, |last| last.sequence);
            if changes.iter().any(|logged| !logged.change.lookups.is_empty()) {
                records.push(changes);
            }
            if seen - after >= PIECE {
                break;
            }
        }
        let seen = if seen == after { upto } else { seen };
        for logged in records {
            let Some(first) = logged.first().map(|first| first.sequence) else { continue };
            let last = logged.last().map_or(first, |last| last.sequence);
            let mut changes = Vec::with_capacity(logged.len());
            let before = taken;
            for logged in logged {
                let mut change = logged.change;
                let mut kept = Vec::with_capacity(change.lookups.len());
                for lookup in change.lookups {
                    match lookup.card.is_some() && self.lookup_key(tenant, &lookup.key)? == lookup.card {
                        true => kept.push(lookup),
                        false => taken += 1,
                    }
                }
                change.lookups = kept;
                changes.push(change);
            }
            if taken == before {
                continue;
            }
            // Shorter than it was, so that it is one record again.
            let (sealed, _) = record::seal_changes(tenant, first, &changes)?;
            let [(key, value)] = sealed.as_slice() else {
                return Err(Error::Internal("a record of changes fell apart".into()));
            };
            self.tables_mut().put(key, value)?;
            stripped = last;
        }
        if stripped > self.tables().stripped(tenant)? {
            self.put_setting(tenant, SETTING, &stripped)?;
        }
        Ok((seen, taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::CardId;
    use crate::store::Lookup;
    use crate::{Options, Remember, Store};

    fn told(n: usize) -> Remember {
        Remember {
            content: format!("entry q{n}z"),
            merge_key: Some(format!("k{}", n % 40)),
            ..Remember::default()
        }
    }

    /// Where every look-up of the tenant leads.
    fn leads(store: &Store, tenant: TenantId) -> Vec<Option<CardId>> {
        let keys: Vec<String> = (0..40).map(|n| format!("k{n}")).collect();
        store
            .database()
            .write(move |batch| keys.iter().map(|key| batch.lookup(tenant, &Lookup::MergeKey(key))).collect())
            .unwrap()
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test puts an old file back")]
    fn what_leads_somewhere_still_does_and_an_index_from_before_is_not_gone_on_with() {
        let directory = tempfile::tempdir().unwrap();
        let options = || Options { embedder: None, ..Options::default() };
        let store = Store::open(directory.path(), options()).unwrap();
        let tenant = store.tenant("a").unwrap();
        let ids: Vec<CardId> = tenant
            .remember_all((0..300).map(told).collect())
            .unwrap()
            .into_iter()
            .map(|a| a.unwrap().id)
            .collect();
        let number = tenant.id().unwrap().unwrap();
        store.checkpoint().unwrap();
        let file = directory.path().join("index/00000001/lookup.idx");
        let old = std::fs::read(&file).unwrap();
        let gone: Vec<CardId> = ids.iter().rev().take(20).copied().collect();
        let now = store.clock().now();
        let purged = gone.clone();
        store.database().write(move |batch| batch.purge_all(number, &purged, now)).unwrap();
        let before = leads(&store, number);
        assert!(before.iter().any(Option::is_none) && before.iter().any(Option::is_some));
        let tables = store.database().read().unwrap();
        assert!(tables.lookup_of_gone(number).unwrap().is_some());
        let last = tables.last_change(number).unwrap();
        assert!(store.database().strip_log(number).unwrap() > 40);
        let tables = store.database().read().unwrap();
        assert_eq!(tables.last_change(number).unwrap(), last, "the change is the same one");
        assert_eq!(tables.lookup_of_gone(number).unwrap(), None);
        assert_eq!(leads(&store, number), before);
        assert_eq!(store.database().strip_log(number).unwrap(), 0);
        let report = store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        // A file from before the purge is put back: it holds look-ups that the log takes back no
        // more.
        drop((tables, tenant, store));
        assert_ne!(std::fs::read(&file).unwrap(), old);
        std::fs::write(&file, &old).unwrap();
        let store = Store::open(directory.path(), options()).unwrap();
        assert_eq!(leads(&store, number), before);
        drop(store);
        std::fs::remove_dir_all(directory.path().join("index")).unwrap();
        let store = Store::open(directory.path(), options()).unwrap();
        assert_eq!(leads(&store, number), before);
        let report = store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}
