//! What can still be read of a tenant beside damage: for who removes it, or looks for what was
//! removed, and must not stop at the first record that is lost.
//!
//! Everything else stops there: an answer that leaves something out is no answer.

use std::ops::Bound;

use crate::card::{Card, CardId};
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables};
use crate::{Error, Result};

/// Notes what is damaged, each place once, up to a number of them.
#[derive(Debug, Default)]
pub(crate) struct Damaged {
    /// Place and what is wrong with it.
    pub(crate) places: Vec<String>,
}

impl Damaged {
    /// Places that are named at most.
    const NAMED: usize = 100;

    /// What `work` gives; `None` where it meets damage, which is noted.
    ///
    /// # Errors
    /// That of `work` when it is another one.
    pub(crate) fn beside<T>(&mut self, work: Result<T>) -> Result<Option<T>> {
        match work {
            Ok(done) => Ok(Some(done)),
            Err(Error::Corrupt { place, detail }) => {
                self.note(format!("{place}: {detail}"));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Notes a place.
    pub(crate) fn note(&mut self, place: String) {
        if self.places.len() < Self::NAMED && !self.places.contains(&place) {
            tracing::warn!(place, "damage is passed over");
            self.places.push(place);
        }
    }
}

impl<T: ReadBytes> Tables<T> {
    /// Those versions of a card that can be read, oldest first, and whether these are all.
    ///
    /// # Errors
    /// When the store cannot be read for another reason than damage, which is noted.
    pub(crate) fn readable_versions(
        &self,
        tenant: TenantId,
        id: CardId,
        damaged: &mut Damaged,
    ) -> Result<(Vec<Card>, bool)> {
        let current = damaged.beside(self.card(tenant, id))?;
        let mut whole = current.is_some();
        let mut versions = match self.earlier_versions(tenant, id) {
            Ok(versions) => versions,
            Err(error @ Error::Corrupt { .. }) => {
                damaged.beside(Err::<(), _>(error))?;
                whole = false;
                // One by one: those of a cold card stand elsewhere, and are read together or not at all.
                let (first, last) = (keys::version(tenant, id, 0), keys::version(tenant, id, u32::MAX));
                let mut readable = Vec::new();
                for entry in self.range(&first, Bound::Included(&last))? {
                    let card = entry.and_then(|(key, value)| {
                        record::open_card(TableId::Versions, key.value(), value.value())
                    });
                    readable.extend(damaged.beside(card)?);
                }
                readable
            }
            Err(other) => return Err(other),
        };
        versions.extend(current.flatten());
        Ok((versions, whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Export;
    use crate::{Correct, Options, Remember, Store, Tenant, Wipe};

    fn fill(tenant: &Tenant) -> Vec<CardId> {
        let content = |n| format!("The {} keeps box{n} in the attic since last winter", tenant.name());
        let requests = (0..40).map(|n| Remember { content: content(n), ..Remember::default() }).collect();
        let answers = tenant.remember_all(requests).unwrap();
        let ids: Vec<CardId> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
        for id in &ids[..10] {
            for summary in ["one", "two"] {
                let request = Correct { id: *id, summary: Some(summary.into()), ..Correct::default() };
                tenant.correct(request).unwrap();
            }
        }
        ids
    }

    fn export(store: &Store, tenant: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let of = Export { tenant: Some(tenant.into()), ..Export::default() };
        store.export(&mut out, &of, |_| {}).unwrap();
        out
    }

    /// Whatever record of a tenant is damaged: it goes with the rest, and the answer names it.
    #[test]
    fn damaged_records_do_not_keep_a_tenant() {
        type Place = fn(TenantId, &[CardId]) -> Vec<u8>;
        let places: [(&str, Place, u64); 6] = [
            ("nothing", |_, _| vec![], 0),
            ("a card", |tenant, ids| keys::card(tenant, ids[20]).to_vec(), 1),
            ("a version", |tenant, ids| keys::version(tenant, ids[3], 1).to_vec(), 1),
            ("a card with versions", |tenant, ids| keys::card(tenant, ids[4]).to_vec(), 1),
            ("the log", |tenant, _| keys::change(tenant, 1).to_vec(), 0),
            ("its name", |_, _| keys::tenant_name("anna").to_vec(), 0),
        ];
        for (what, place, unprovable) in places {
            let directory = tempfile::tempdir().unwrap();
            let options = || Options { embedder: None, ..Options::default() };
            let store = Store::open(directory.path(), options()).unwrap();
            let (anna, bert) = (store.tenant("anna").unwrap(), store.tenant("bert").unwrap());
            let ids = fill(&anna);
            fill(&bert);
            let before = export(&store, "bert");
            let key = place(anna.id().unwrap().unwrap(), &ids);
            if !key.is_empty() {
                store.database().write(move |batch| batch.tables_mut().put(&key, b"rot")).unwrap();
            }
            drop((anna, bert, store));
            let store = Store::open(directory.path(), options()).unwrap();
            let wiped = store.tenant("anna").unwrap().wipe(Wipe { confirm: "anna".into() }).unwrap();
            assert_eq!((wiped.cards, wiped.proof.unprovable), (40, unprovable), "{what}: {wiped:?}");
            // What is only removed need not be read.
            assert_eq!(wiped.damaged.len() as u64, unprovable, "{what}: {wiped:?}");
            // What could be read was looked for, of a damaged card its other versions, too.
            assert!(wiped.proof.is_complete() && wiped.proof.fingerprints > 70, "{what}: {wiped:?}");
            assert_eq!(export(&store, "bert"), before, "{what}");
            let report = store.verify(|_| {}).unwrap();
            assert!(report.is_sound(), "{what}: {:?}", report.findings);
            assert!(store.verify_erased().unwrap().is_complete(), "{what}");
            assert!(store.tenants().unwrap().iter().all(|tenant| tenant.name == "bert"), "{what}");
        }
    }

    /// A tenant is wiped beside one that is damaged, too; its bytes go when that is seen to.
    #[test]
    fn damage_of_others_is_told_of() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { embedder: None, ..Options::default() };
        let store = Store::open(directory.path(), options).unwrap();
        let (anna, bert) = (store.tenant("anna").unwrap(), store.tenant("bert").unwrap());
        fill(&anna);
        let ids = fill(&bert);
        let key = keys::card(bert.id().unwrap().unwrap(), ids[20]);
        store.database().write(move |batch| batch.tables_mut().put(&key, b"rot")).unwrap();
        let wiped = anna.wipe(Wipe { confirm: "anna".into() }).unwrap();
        assert_eq!((wiped.cards, wiped.damaged.len()), (40, 0));
        let found = &wiped.proof.found;
        assert!(found.iter().any(|found| found.contains("repair, then compact")), "{found:?}");
        assert_eq!(wiped.proof.damaged.len(), 1, "{:?}", wiped.proof);
        assert!(anna.id().unwrap().is_none());
        // Once the damage is gone the rest follows.
        assert!(bert.wipe(Wipe { confirm: "bert".into() }).unwrap().proof.is_complete());
        assert!(store.verify_erased().unwrap().is_complete());
    }
}
