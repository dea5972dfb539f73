//! Moving archived cards to the cold tier.

use std::collections::BTreeMap;

use crate::card::Card;
use crate::engine::Store;
use crate::index::partition::searched_text;
use crate::index::text::analyze_document;
use crate::store::{ColdStatistics, Described, Freezing, Frozen, Rewritten, TenantId};
use crate::{Error, Result};

/// Fewer archived cards of a tenant are not worth a file.
pub(crate) const FREEZE_LEAST: usize = 64;
/// Cards of one segment.
pub(crate) const SEGMENT_CARDS: usize = 100_000;
/// Cards that move in one commit, for which whoever writes has to wait.
const PIECE_CARDS: usize = 2048;

impl Store {
    /// Moves archived cards out of the store file into the cold tier: those of a tenant, or of
    /// all tenants, where there are `least` of them (64 where it is not said). They keep all of
    /// their versions, are found by whoever asks for archived cards, and come back when they
    /// are used or changed.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a tenant that is not there; [`Error::Io`] when a file cannot be
    /// written, then the cards stay where they are.
    pub fn freeze(&self, tenant: Option<&str>, least: Option<usize>) -> Result<Frozen> {
        let tables = self.database().read()?;
        let tenants: Vec<_> = match tenant {
            None => tables.tenants()?.into_iter().map(|(id, _)| id).collect(),
            Some(name) => match tables.tenant_id(name)? {
                Some(id) => vec![id],
                None => return Err(Error::NotFound { what: format!("tenant {name:?}") }),
            },
        };
        drop(tables);
        self.freeze_of(&tenants, least)
    }

    /// As [`Store::freeze`], of some tenants.
    pub(super) fn freeze_of(&self, tenants: &[TenantId], least: Option<usize>) -> Result<Frozen> {
        let freezing = Freezing {
            least: least.unwrap_or(FREEZE_LEAST),
            most: SEGMENT_CARDS,
            piece: PIECE_CARDS,
            now: self.clock().now(),
            describe: &describe,
        };
        let mut all = Frozen::default();
        for tenant in tenants {
            let frozen = self.database().freeze(*tenant, &freezing)?;
            all.segments += frozen.segments;
            all.cards += frozen.cards;
            all.bytes += frozen.bytes;
        }
        Ok(all)
    }

    /// Makes segments of the cold tier anew from which much has gone, or something that must
    /// leave no byte. A part of compaction.
    pub(crate) fn compact_cold(&self) -> Result<Rewritten> {
        self.database().compact_cold(SEGMENT_CARDS)
    }

    /// Figures of the cold tier.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn cold_statistics(&self) -> Result<ColdStatistics> {
        self.database().cold_statistics()
    }
}

/// The words of a card. Those that only an earlier version had count as well: questions about
/// the past look for them.
fn describe(versions: &[Card]) -> Described {
    let Some((present, earlier)) = versions.split_last() else { return Described::default() };
    let text = searched_text(present);
    let analyzed = analyze_document(&text);
    let clamp = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
    let mut terms: BTreeMap<String, u16> =
        analyzed.iter().map(|(term, count)| (term.to_owned(), clamp(count))).collect();
    for version in earlier {
        let before = searched_text(version);
        if before == text {
            continue;
        }
        for (term, count) in analyze_document(&before).iter() {
            terms.entry(term.to_owned()).or_insert(clamp(count));
        }
    }
    Described { terms: terms.into_iter().collect(), length: analyzed.length() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{CardId, State};
    use crate::store::Damaged;
    use crate::{Get, Options, Remember, Tenant, Timestamp};

    const NOW: Timestamp = Timestamp::from_micros(1_704_067_200_000_000);

    /// A tenant with cards that are archived one by one.
    fn archived(store: &Store, count: usize) -> (Tenant, TenantId, Vec<CardId>) {
        let tenant = store.tenant("a").unwrap();
        let requests = (0..count)
            .map(|n| Remember { content: format!("Drawer {n} holds part{n}"), ..Remember::default() });
        let answers = tenant.remember_all(requests.collect()).unwrap();
        let ids: Vec<CardId> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
        let (number, all) = (tenant.id().unwrap().unwrap(), ids.clone());
        store
            .database()
            .write(move |batch| {
                for id in all {
                    let card = batch.tables().card(number, id)?.unwrap();
                    batch.revise(number, Card { state: State::Archived, ..card }, None, NOW)?;
                }
                Ok(())
            })
            .unwrap();
        (tenant, number, ids)
    }

    fn sound(store: &Store) {
        let report = store.verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }

    fn holds(store: &Store, tenant: TenantId, text: &str) -> bool {
        let mut found = false;
        let visit = |_: &str, bytes: &[u8]| {
            found |= bytes.windows(text.len()).any(|window| window == text.as_bytes());
            Ok(())
        };
        let mut damaged = Damaged::default();
        store.database().cold_texts(tenant, &mut damaged, visit).unwrap();
        assert!(damaged.places.is_empty(), "{damaged:?}");
        found
    }

    #[test]
    fn many_cards_make_several_segments_which_become_one() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { embedder: None, ..Options::default() };
        let store = Store::open(directory.path(), options).unwrap();
        let (tenant, number, ids) = archived(&store, 50);
        let freezing = Freezing { least: 10, most: 20, piece: 7, now: NOW, describe: &describe };
        let frozen = store.database().freeze(number, &freezing).unwrap();
        assert_eq!((frozen.segments, frozen.cards), (3, 50));
        assert_eq!(store.database().freeze(number, &freezing).unwrap(), Frozen::default());
        sound(&store);
        // A read that began before sees what it saw, though the files are gone.
        let before = store.database().read().unwrap();
        let done = store.database().rewrite_segments(number, 1000).unwrap();
        assert_eq!((done.removed, done.made), (3, 1));
        let here: Vec<Card> = ids.iter().map(|id| before.card(number, *id).unwrap().unwrap()).collect();
        assert!(here.iter().zip(&ids).all(|(card, id)| card.id == *id && card.version == 2));
        drop(before);
        for (id, card) in ids.iter().zip(&here) {
            assert_eq!(tenant.get(&Get { id: *id, ..Get::default() }).unwrap().content, card.content);
        }
        sound(&store);
        assert_eq!(store.cold_statistics().unwrap().cards, 50);
    }

    #[test]
    fn a_cold_card_that_is_purged_leaves_its_segment() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { embedder: None, ..Options::default() };
        let store = Store::open(directory.path(), options).unwrap();
        let (_, number, ids) = archived(&store, 40);
        store.freeze(None, Some(1)).unwrap();
        let gone = ids[7];
        let purged =
            store.database().write(move |batch| batch.purge_all(number, &[gone, gone], NOW)).unwrap();
        assert_eq!(purged, 1);
        sound(&store);
        assert!(holds(&store, number, "part7"));
        assert_eq!(store.compact_cold().unwrap().made, 1);
        assert!(!holds(&store, number, "part7") && holds(&store, number, "part8"));
        sound(&store);
        // There is nothing to do twice.
        assert_eq!(store.compact_cold().unwrap(), Rewritten::default());
        assert_eq!(store.cold_statistics().unwrap().cards, 39);
    }
}
