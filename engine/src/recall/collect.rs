//! From ranked rows to cards: reads them from the store and checks them once more.

use crate::Result;
use crate::engine::Tenant;
use crate::filter::Filter;
use crate::recall::View;
use crate::recall::fuse::Parts;
use crate::recall::rank::{Candidate, Ranked, best_first};
use crate::store::{ReadBytes, Tables, TenantId};
use crate::verbs::{CardView, Hit, Recall};

/// The best cards, best first.
pub(super) fn collect(
    tenant: &Tenant,
    id: TenantId,
    request: &Recall,
    view: &View,
    ranked: &Ranked,
    top: usize,
) -> Result<Vec<Hit>> {
    // The indexes are released: what changes from here on is seen in the store.
    let tables = tenant.store().database().read()?;
    let reader = Reader { tables: &tables, tenant: id, view, filter: request.filter.as_ref() };
    let (first, rest) = ranked.candidates.split_at(ranked.sorted);
    let mut hits = reader.collect(first, &ranked.parts, top)?;
    if hits.len() < top && !rest.is_empty() {
        // Only when cards vanished between index and store: go through all of the rest.
        let mut rest = rest.to_vec();
        rest.sort_by(best_first);
        let no_parts = vec![None; rest.len()];
        hits.extend(reader.collect(&rest, &no_parts, top - hits.len())?);
    }
    Ok(hits)
}

/// Turns candidates into hits.
struct Reader<'a, T> {
    tables: &'a Tables<T>,
    tenant: TenantId,
    view: &'a View,
    filter: Option<&'a Filter>,
}

impl<T: ReadBytes> Reader<'_, T> {
    fn collect(&self, candidates: &[Candidate], parts: &[Option<Parts>], wanted: usize) -> Result<Vec<Hit>> {
        let mut hits = Vec::with_capacity(wanted.min(candidates.len()));
        for (candidate, parts) in candidates.iter().zip(parts) {
            if hits.len() == wanted {
                break;
            }
            let card = match self.view.known_at {
                None => self.tables.card(self.tenant, candidate.id)?,
                Some(_) => self.tables.version(self.tenant, candidate.id, candidate.version)?,
            };
            // The card may have been forgotten since it was scored.
            let Some(card) = card.filter(|card| self.view.shows(card)) else { continue };
            if self.filter.is_some_and(|filter| filter.needs_text() && !filter.matches(&card)) {
                continue;
            }
            hits.push(Hit { score: candidate.score, parts: parts.clone(), card: CardView::from(card) });
        }
        Ok(hits)
    }
}
