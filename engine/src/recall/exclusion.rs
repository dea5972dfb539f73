//! What the tenant has ruled out keeps what recommends it out of an answer.
//!
//! "Never recommend model B" is worth nothing when the next answer praises model B. A card
//! that forbids to recommend something (in its words, or by polarity `excluded`) withholds
//! cards that recommend the thing: those that are older, and whatever the assistant or a tool
//! said. What a person, or nobody known, said later stays: they may have changed their mind.
//! What a person told as an event stays, too: it happened. Who names cards by a filter, and
//! who asks for the past, gets all of them.

use crate::card::{Card, CardId, Polarity, Role};
use crate::index::partition::Partition;
use crate::index::sense::beginning;
use crate::judge::{self, SpokenOf};
use crate::recall::shown::Shown;
use crate::time::Timestamp;
use crate::verbs::Withheld;

/// One thing that is ruled out.
pub(super) struct Exclusion {
    id: CardId,
    object: Box<str>,
    at: Timestamp,
}

/// What the shown rows of a partition rule out.
pub(super) fn exclusions<'a>(
    partition: &'a Partition,
    shown: &'a Shown<'a>,
) -> impl Iterator<Item = Exclusion> + 'a {
    partition.exclusions().filter(|row| shown.rows().contains(*row)).filter_map(|row| {
        let row = partition.row(row);
        let object = row.excludes.clone()?;
        Some(Exclusion { id: row.card.id, object, at: row.card.occurred_at })
    })
}

/// So many of the latest exclusions are looked at.
const LOOKED_AT: usize = 256;
/// So many withheld cards are named in an answer.
pub(super) const NAMED: usize = 100;

/// The latest exclusions, latest first.
pub(super) fn latest(mut exclusions: Vec<Exclusion>) -> Vec<Exclusion> {
    exclusions.sort_unstable_by_key(|exclusion| std::cmp::Reverse((exclusion.at, exclusion.id)));
    exclusions.truncate(LOOKED_AT);
    exclusions
}

/// The exclusion that keeps a card out of an answer.
pub(super) fn withheld(card: &Card, exclusions: &[Exclusion]) -> Option<Withheld> {
    if exclusions.is_empty() || card.polarity == Polarity::Excluded || card.pinned || card.is_relation() {
        return None;
    }
    let role = card.source().and_then(|source| source.role);
    let content = beginning(&card.content);
    if role == Some(Role::User) && card.is_event() || !judge::recommends(content) {
        return None;
    }
    let spoken = SpokenOf::of(content);
    let concerns = |exclusion: &&Exclusion| {
        exclusion.id != card.id
            && (card.occurred_at <= exclusion.at || role.is_some_and(|role| role != Role::User))
            && spoken.is_about(&exclusion.object)
    };
    let by = exclusions.iter().find(concerns)?;
    Some(Withheld { id: card.id, by: by.id })
}
