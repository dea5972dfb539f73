//! Several cards that say the same become one.
//!
//! Which cards say the same is found by `plan`; here is what the one card looks like. The
//! result depends on the set of cards only, never on an order in which they come.

use crate::card::{Card, Limits, Link, LinkKind, Provenance, STATED_CONFIDENCE, Source, State};
use crate::learn::{SOURCES_MAX, is_another_moment};

/// The card that `survivor` becomes when it takes the others over: the newest wording, all
/// mentions, uses and sources, the strongest evidence. The second value is the card whose
/// content it has now.
pub(crate) fn merged<'a>(survivor: &'a Card, others: &'a [Card]) -> (Card, &'a Card) {
    let mut all: Vec<&Card> = others.iter().chain([survivor]).collect();
    all.sort_by_key(|card| (card.recorded_at, card.id));
    let mut newest = survivor;
    for card in &all {
        if (card.occurred_at, card.recorded_at, card.id) > (newest.occurred_at, newest.recorded_at, newest.id)
        {
            newest = card;
        }
    }
    let mut card = survivor.clone();
    card.content = newest.content.clone();
    card.summary = newest.summary.clone();
    card.times = newest.times.clone();
    card.mentions = newest.mentions.clone();
    card.mention_count = all.iter().fold(0, |sum: u32, card| sum.saturating_add(card.mention_count));
    card.access_count = all.iter().fold(0, |sum: u32, card| sum.saturating_add(card.access_count));
    card.last_accessed_at = all.iter().filter_map(|card| card.last_accessed_at).max();
    card.importance = all.iter().map(|card| card.importance).fold(0.0, f32::max);
    card.pinned = all.iter().any(|card| card.pinned);
    card.expires_at = match all.iter().all(|card| card.expires_at.is_some()) {
        true => all.iter().filter_map(|card| card.expires_at).max(),
        false => None,
    };
    card.sources = sources(&all);
    // Whose evidence is strongest; of equals that of the first.
    let strongest = all.iter().rev().max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    if let Some(strongest) = strongest {
        (card.confidence, card.provenance) = (strongest.confidence, strongest.provenance);
    }
    // Said at several moments, it counts as said: and no more than that.
    let moments = all.windows(2).filter(|pair| is_another_moment(pair[0], pair[1])).count();
    if moments > 0 && card.confidence < STATED_CONFIDENCE {
        (card.confidence, card.provenance) = (STATED_CONFIDENCE, Provenance::Stated);
    }
    let active = all.iter().any(|other| other.state == State::Active);
    if active || card.state == State::Candidate && card.confidence >= STATED_CONFIDENCE {
        // What one of them has in active memory is not to vanish into the archive.
        (card.state, card.state_before) = (State::Active, None);
    }
    let limits = Limits::default();
    for other in &all {
        for (mine, theirs) in [(&mut card.entities, &other.entities), (&mut card.tags, &other.tags)] {
            let new: Vec<String> = theirs.iter().filter(|name| !mine.contains(name)).cloned().collect();
            mine.extend(new.into_iter().take(limits.list_items.saturating_sub(mine.len())));
        }
        let mut attributes = other.attributes.clone();
        attributes.extend(card.attributes.clone());
        if limits.attributes(&attributes).is_ok() {
            card.attributes = attributes;
        }
        card.fact = card.fact.take().or_else(|| other.fact.clone());
        card.merge_key = card.merge_key.take().or_else(|| other.merge_key.clone());
        card.reinforce(other.reference());
        let inside = |link: &&Link| all.iter().all(|member| member.id != link.to);
        for link in other.links.iter().filter(inside) {
            card.link(link.to, link.kind);
        }
    }
    for other in others {
        card.link(other.id, LinkKind::Supersedes);
    }
    (card, newest)
}

/// The first source of all and the latest, in order of their telling.
fn sources(all: &[&Card]) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for card in all {
        for source in &card.sources {
            if !sources.contains(source) {
                sources.push(source.clone());
            }
        }
    }
    if sources.len() > SOURCES_MAX {
        sources.drain(1..=sources.len() - SOURCES_MAX);
    }
    sources
}

/// What becomes of a card that another one has taken over.
pub(crate) fn taken_over(mut card: Card, by: &Card) -> Card {
    card.state_before = Some(card.state);
    card.state = State::Superseded;
    card.link(by.id, LinkKind::SupersededBy);
    card
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::CardId;
    use crate::time::{Duration, Timestamp};
    use proptest::prelude::*;

    fn card(number: u8, at: i64, confidence: f32, tag: u8) -> Card {
        let mut card = crate::store::record::tests::full_card();
        card.id = CardId::from_bytes([number; 16]);
        card.recorded_at = Timestamp::from_micros(0).plus(Duration::from_hours(at));
        card.occurred_at = card.recorded_at;
        card.content = format!("wording {number}");
        card.confidence = confidence;
        card.state = if confidence < STATED_CONFIDENCE { State::Candidate } else { State::Active };
        card.tags = vec![format!("t{tag}")];
        card.links = vec![];
        card.sources = vec![Source {
            session: Some(format!("s{number}")),
            occurred_at: Some(card.occurred_at),
            ..Source::default()
        }];
        card
    }

    proptest! {
        #[test]
        fn the_order_of_the_cards_does_not_matter(
            figures in prop::collection::vec((0i64..50, 0u8..4, 0u8..5), 2..8),
            turn in 0usize..8,
        ) {
            let all: Vec<Card> = figures
                .iter()
                .enumerate()
                .map(|(n, (at, confidence, tag))| card(n as u8, *at, [0.5, 0.6, 0.8, 1.0][usize::from(*confidence)], *tag))
                .collect();
            let (first, others) = all.split_first().expect("at least two");
            let mut turned = others.to_vec();
            let by = turn % turned.len();
            turned.rotate_left(by);
            let normal = |(mut card, newest): (Card, &Card)| {
                card.links.sort_by_key(|link| link.to);
                (card, newest.id)
            };
            prop_assert_eq!(normal(merged(first, others)), normal(merged(first, &turned)));
            let (result, _) = merged(first, others);
            prop_assert_eq!(result.mention_count, all.iter().map(|card| card.mention_count).sum::<u32>());
            prop_assert!(all.iter().flat_map(|card| &card.sources).all(|source| result.sources.contains(source)));
            prop_assert!(result.confidence <= all.iter().map(|card| card.confidence).fold(0.8, f32::max));
        }
    }
}
