//! Taking cards out of the store for good: no version, no vector, no look-up of them stays.
//!
//! What the change log says of them stays, which is identifiers, versions, times and hashes; its
//! last word is that they are gone. Which cards go is for others to decide, and so is what
//! becomes of links that lead to them.

use std::collections::HashMap;

use crate::Result;
use crate::card::{Card, CardId};
use crate::store::batch::Batch;
use crate::store::keys::{LookupKey, TenantId};
use crate::store::record::{ChangeKind, LookupChange};
use crate::time::Timestamp;

impl Batch<'_> {
    /// Removes a card with all of its versions, and the look-ups that lead to it. False when there
    /// is no such card.
    #[allow(dead_code, reason = "the rules that purge come next")]
    pub(crate) fn purge(&mut self, tenant: TenantId, id: CardId, now: Timestamp) -> Result<bool> {
        Ok(self.purge_all(tenant, &[id], now)? == 1)
    }

    /// As [`Batch::purge`], for any number of cards: the look-ups of the tenant are gone through
    /// once. Gives how many of the cards were there.
    pub(crate) fn purge_all(&mut self, tenant: TenantId, ids: &[CardId], now: Timestamp) -> Result<usize> {
        let mut lookups: HashMap<CardId, Vec<LookupKey>> = HashMap::new();
        for (key, card) in self.lookups_to(tenant, &ids.iter().copied().collect())? {
            lookups.entry(card).or_default().push(key);
        }
        let mut purged = 0;
        for id in ids {
            let Some(card) = self.remove_card(tenant, *id)? else { continue };
            purged += 1;
            let gone = Card { updated_at: now, ..Card::placeholder(*id, card.track, card.version) };
            self.log(tenant, ChangeKind::Purge, gone, None, None)?;
            for key in lookups.remove(id).unwrap_or_default() {
                self.change_lookup(tenant, LookupChange { key, card: None })?;
            }
        }
        Ok(purged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Fact;
    use crate::exchange::Export;
    use crate::{Options, Recall, Remember, Store, Tenant};

    const NOW: Timestamp = Timestamp::from_micros(1_704_067_200_000_000);

    fn open(directory: &std::path::Path) -> Store {
        Store::open(directory, Options { embedder: None, ..Options::default() }).unwrap()
    }

    fn remember(tenant: &Tenant, content: &str) -> CardId {
        tenant.remember(Remember { content: content.into(), ..Remember::default() }).unwrap().id
    }

    fn purge(tenant: &Tenant, ids: &[CardId]) -> usize {
        let (id, ids) = (tenant.id().unwrap().unwrap(), ids.to_vec());
        tenant.store().database().write(move |batch| batch.purge_all(id, &ids, NOW)).unwrap()
    }

    /// What is found, the records agreeing.
    fn contents(store: &Store, query: &str) -> Vec<String> {
        let report = store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        let request = Recall { query: Some(query.into()), min_score: Some(0.0), ..Recall::default() };
        let found = store.tenant("a").unwrap().recall(request).unwrap();
        let mut found: Vec<String> = found.hits.iter().map(|hit| hit.card.content.clone()).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn what_is_purged_can_be_told_as_if_for_the_first_time() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        let tenant = store.tenant("a").unwrap();
        let whole = Remember {
            content: "The boiler code is 4711.".into(),
            merge_key: Some("boiler".into()),
            fact: Some(Fact { entity: "boiler".into(), attribute: "code".into(), value: "4711".into() }),
            idempotency_key: Some("once".into()),
            ..Remember::default()
        };
        let first = tenant.remember(whole.clone()).unwrap().id;
        let other = remember(&tenant, "The boiler is in the cellar.");
        let tags = vec!["house".into()];
        tenant.remember(Remember { tags, idempotency_key: None, ..whole.clone() }).unwrap();
        assert_eq!(store.verify(|_| {}).unwrap().versions, 1);
        assert_eq!(purge(&tenant, &[first, first, CardId::default()]), 1);
        let report = store.verify(|_| {}).unwrap();
        assert_eq!((report.cards, report.versions, report.lookups), (1, 0, 1), "{:?}", report.findings);
        assert_eq!(contents(&store, "boiler"), ["The boiler is in the cellar."]);
        let second = tenant.remember(whole.clone()).unwrap();
        assert!(second.id != first && second.id != other);
        assert_eq!(tenant.remember(whole).unwrap().id, second.id);
        // In the same commit, too: what it has written itself is undone.
        let (id, now) = (tenant.id().unwrap().unwrap(), NOW);
        let gone = store
            .database()
            .write(move |batch| Ok((batch.purge(id, second.id, now)?, batch.purge(id, second.id, now)?)));
        assert_eq!(gone.unwrap(), (true, false));
        assert_eq!(contents(&store, "boiler").len(), 1);
        drop((tenant, store));
        std::fs::remove_dir_all(directory.path().join("index")).ok();
        assert_eq!(contents(&open(directory.path()), "boiler").len(), 1);
    }

    /// An export is without what is gone, and an import of it, or of one from before, is sound.
    #[test]
    fn exports_tell_of_what_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory.path().join("first"));
        let tenant = store.tenant("a").unwrap();
        let key = |content: &str, tags: &[&str]| Remember {
            content: content.into(),
            merge_key: Some("colour".into()),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Remember::default()
        };
        let blue = tenant.remember(key("The canary door is blue.", &[])).unwrap().id;
        let lamp = remember(&tenant, "The lamp is in the hall.");
        tenant.remember(key("The canary door is blue.", &["paint"])).unwrap();
        let export = |store: &Store| {
            let mut out = Vec::new();
            store.export(&mut out, &Export::default(), |_| {}).unwrap();
            out
        };
        let before = export(&store);
        assert_eq!(purge(&tenant, &[blue]), 1);
        let after = export(&store);
        assert!(String::from_utf8_lossy(&before).contains("canary"));
        let text = String::from_utf8_lossy(&after).into_owned();
        assert!(!text.contains("canary") && !text.contains(&blue.to_string()), "{text}");
        let second = open(&directory.path().join("second"));
        assert_eq!(second.import(&mut &after[..], |_| {}).unwrap().versions, 1);
        assert_eq!(contents(&second, "door lamp"), ["The lamp is in the hall."]);
        assert_eq!(export(&second).len(), after.len());
        // What was purged comes back, with its history, by a file from before.
        for _ in 0..2 {
            store.import(&mut &before[..], |_| {}).unwrap();
            assert_eq!(contents(&store, "door lamp").len(), 2);
        }
        let again = export(&store);
        let third = open(&directory.path().join("third"));
        third.import(&mut &again[..], |_| {}).unwrap();
        assert_eq!(contents(&third, "door lamp").len(), 2);
        assert_eq!(
            third.tenant("a").unwrap().remember(key("The canary door is blue.", &[])).unwrap().id,
            blue
        );
        assert_eq!(remember(&store.tenant("a").unwrap(), "The lamp is in the hall."), lamp);
    }

    /// A card that came back with fewer versions than it had is no damage; one whose version is
    /// missing for no reason is.
    #[test]
    fn a_version_may_be_missing_only_where_the_log_says_why() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        let tenant = store.tenant("a").unwrap();
        let told = |tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let request =
                Remember { content: "The key is under the pot.".into(), tags, ..Remember::default() };
            tenant.remember(request).unwrap().id
        };
        let id = told(&[]);
        let first = tenant.store().database().read().unwrap().card(tenant.id().unwrap().unwrap(), id);
        let first = first.unwrap().unwrap();
        told(&["house"]);
        let number = tenant.id().unwrap().unwrap();
        assert_eq!(purge(&tenant, &[id]), 1);
        let back = first.clone();
        store.database().write(move |batch| batch.create(number, back, None, None, None).map(drop)).unwrap();
        assert_eq!(contents(&store, "key").len(), 1);
        store.cache().forget_tenant(store.database(), number).unwrap();
        assert_eq!(contents(&store, "key").len(), 1);
        store.database().write(move |batch| batch.remove_card(number, id).map(drop)).unwrap();
        let report = store.verify(|_| {}).unwrap();
        assert!(
            report.findings.iter().any(|finding| finding.detail.contains("names a version")),
            "{report:?}"
        );
        store.cache().forget_tenant(store.database(), number).unwrap();
        let request = Recall { query: Some("key".into()), ..Recall::default() };
        assert_eq!(store.tenant("a").unwrap().recall(request).unwrap_err().code(), "corrupt");
    }
}
