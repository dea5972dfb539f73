//! From ranked rows to cards: reads them from the store and checks them once more.

use std::collections::HashSet;

use crate::Result;
use crate::card::Card;
use crate::engine::Tenant;
use crate::recall::View;
use crate::recall::exclusion;
use crate::recall::rank::Ranked;
use crate::store::TenantId;
use crate::verbs::{Hit, Recall, Withheld};

/// Cards of an answer, and those that it leaves out.
pub(super) struct Collected {
    pub(super) hits: Vec<Hit>,
    pub(super) withheld: Vec<Withheld>,
}

/// The first `top` cards that the store shows, too.
pub(super) fn collect(
    tenant: &Tenant,
    id: TenantId,
    request: &Recall,
    view: &View,
    ranked: &mut Ranked,
    top: usize,
) -> Result<Collected> {
    // The indexes are released: what changes from here on is seen in the store.
    let tables = tenant.store().database().read()?;
    let filter = request.filter.as_ref().filter(|filter| filter.needs_text());
    let places = std::mem::take(&mut ranked.places);
    let mut withheld = Vec::new();
    // A card that came back from the cold tier meanwhile stands in two partitions.
    let mut seen = HashSet::new();
    let mut hits = Vec::with_capacity(top.min(places.len()));
    for place in places {
        if hits.len() == top {
            break;
        }
        if !seen.insert(place.id) {
            continue;
        }
        let card = match view.known_at() {
            None => tables.card(id, place.id)?,
            Some(_) => tables.version(id, place.id, place.version)?,
        };
        // The card may have been forgotten since it was scored.
        let shows = |card: &Card| view.shows(card) && view.is_sure(card, request.min_confidence);
        let Some(card) = card.filter(shows) else { continue };
        if let Some(kept_out) = exclusion::withheld(&card, &ranked.exclusions) {
            if withheld.len() < exclusion::NAMED {
                withheld.push(kept_out);
            }
            continue;
        }
        if filter.is_none_or(|filter| filter.matches(&card)) {
            hits.push(Hit { score: place.score, parts: place.parts, card: view.card(card) });
        }
    }
    Ok(Collected { hits, withheld })
}
