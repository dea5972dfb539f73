//! What a read shows: views, lists and histories.

use memcards::card::{Card, CardId, LinkKind, State};
use memcards::filter::Filter;
use memcards::{Include, Order, Timestamp};

use super::Tenant;

/// Which versions a read shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looking {
    pub(crate) include: Vec<Include>,
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) known_at: Option<Timestamp>,
    /// Whether what is not true yet, or no more, is shown too.
    pub(crate) any_time: bool,
}

impl Tenant {
    /// The version of a card that a view shows.
    pub(crate) fn shown(&self, id: CardId, view: &Looking, now: Timestamp) -> Option<&Card> {
        let versions = self.cards.get(&id)?;
        let card = match view.known_at {
            None => versions.last()?,
            Some(at) => versions.iter().rev().find(|card| card.updated_at <= at)?,
        };
        let wanted = match card.state {
            State::Active => true,
            State::Superseded if view.as_of.is_some() => true,
            state => view.include.iter().any(|include| include.state() == state),
        };
        let instant = view.as_of.or(view.known_at).unwrap_or(now);
        let holds = view.as_of.is_none_or(|at| {
            let begun = card.valid_from.unwrap_or(card.occurred_at) <= at;
            begun && card.valid_to.map_or(card.state != State::Superseded, |end| at < end)
        });
        (wanted && holds && card.expires_at.is_none_or(|end| instant < end)).then_some(card)
    }

    /// Every card that a view shows and a filter admits, by identifier.
    pub(crate) fn select(
        &self,
        view: &Looking,
        filter: Option<&Filter>,
        now: Timestamp,
    ) -> impl Iterator<Item = &Card> {
        self.cards
            .keys()
            .filter_map(move |id| self.shown(*id, view, now))
            .filter(move |card| {
                let instant = view.known_at.unwrap_or(now);
                let due = card.links.iter().all(|link| match link.kind {
                    LinkKind::Succeeds => card.valid_from.is_none_or(|from| from <= instant),
                    LinkKind::SucceededBy => card.valid_to.is_none_or(|end| instant < end),
                    _ => true,
                });
                view.as_of.is_some() || view.any_time || due
            })
            .filter(move |card| filter.is_none_or(|filter| filter.matches_card(card)))
    }

    /// All of them in an order.
    pub(crate) fn list(
        &self,
        view: &Looking,
        filter: Option<&Filter>,
        order: Order,
        now: Timestamp,
    ) -> Vec<Card> {
        let mut cards: Vec<Card> = self.select(view, filter, now).cloned().collect();
        // By identifier first: sorting is stable.
        match order {
            Order::OldestFirst => {}
            Order::NewestFirst => cards.reverse(),
            Order::LatestEvent => cards.sort_by_key(|card| std::cmp::Reverse(card.occurred_at)),
            Order::EarliestEvent => cards.sort_by_key(|card| card.occurred_at),
            Order::LatestChange => cards.sort_by_key(|card| std::cmp::Reverse(card.updated_at)),
            Order::MostImportant => cards.sort_by(|a, b| b.importance.total_cmp(&a.importance)),
            Order::MostConfident => cards.sort_by(|a, b| b.confidence.total_cmp(&a.confidence)),
        }
        cards
    }

    /// All versions of a card and of those it replaced or was replaced by.
    pub(crate) fn history(&self, id: CardId, now: Timestamp) -> Option<Vec<Card>> {
        self.current(id).filter(|card| !card.is_expired(now))?;
        let mut family = vec![id];
        let mut at = 0;
        while at < family.len() {
            for link in &self.current(family[at])?.links {
                let succession = matches!(
                    link.kind,
                    LinkKind::Supersedes
                        | LinkKind::SupersededBy
                        | LinkKind::Succeeds
                        | LinkKind::SucceededBy
                );
                let there = self
                    .current(link.to)
                    .is_some_and(|card| !card.is_expired(now) && card.state != State::Forgotten);
                if succession && there && !family.contains(&link.to) {
                    family.push(link.to);
                }
            }
            at += 1;
        }
        let mut versions: Vec<Card> = family.iter().flat_map(|id| self.cards[id].clone()).collect();
        versions.sort_by_key(|card| (card.updated_at, card.id, card.version));
        Some(versions)
    }
}
