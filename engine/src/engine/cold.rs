//! Moving archived cards to the cold tier.

use std::collections::BTreeMap;

use crate::card::Card;
use crate::engine::Store;
use crate::index::partition::searched_text;
use crate::index::text::analyze_document;
use crate::store::{ColdStatistics, Described, Freezing, Frozen, Rewritten};
use crate::{Error, Result};

/// Fewer archived cards of a tenant are not worth a file.
pub(crate) const FREEZE_LEAST: usize = 64;
/// Cards of one segment.
pub(crate) const SEGMENT_CARDS: usize = 100_000;

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
        let freezing = Freezing {
            least: least.unwrap_or(FREEZE_LEAST),
            most: SEGMENT_CARDS,
            now: self.clock().now(),
            describe: &describe,
        };
        let mut all = Frozen::default();
        for tenant in tenants {
            let frozen = self.database().freeze(tenant, &freezing)?;
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
