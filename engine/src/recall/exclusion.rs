//! What the tenant has ruled out keeps what recommends it out of an answer.
//!
//! "Never recommend model B" is worth nothing when the next answer praises model B. A card
//! that rules something out (polarity `excluded`, or a prohibition in its words) withholds
//! cards that recommend the thing: those that are older, and whatever the assistant, a tool
//! or nobody known said. What a person said later stays: they may have changed their mind,
//! and the later statement ranks by itself. What a person told as an event stays, too: it
//! happened.

use crate::card::{Card, CardId, Polarity, Role};
use crate::index::partition::Partition;
use crate::judge;
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

/// The exclusion that keeps a card out of an answer.
pub(super) fn withheld(card: &Card, exclusions: &[Exclusion]) -> Option<Withheld> {
    if exclusions.is_empty() || card.polarity == Polarity::Excluded || card.pinned {
        return None;
    }
    let role = card.source().and_then(|source| source.role);
    let by_person = role == Some(Role::User);
    if by_person && card.is_event() || !judge::recommends(&card.content) {
        return None;
    }
    let concerns = |exclusion: &&Exclusion| {
        exclusion.id != card.id
            && (card.occurred_at <= exclusion.at || role.is_some_and(|role| role != Role::User))
            && judge::speaks_of(&card.content, &exclusion.object)
    };
    let by = exclusions.iter().find(concerns)?;
    // A card that rules the thing out itself says the same in other words.
    let object = judge::excluded_object(&card.content);
    if object.is_some_and(|object| judge::speaks_of(&object, &by.object)) {
        return None;
    }
    Some(Withheld { id: card.id, by: by.id })
}
