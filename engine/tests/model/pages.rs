//! Pages stay stable while cards are added: none comes twice, none that was there is lost.

use memcards::card::CardId;
use memcards::{Clock, Duration, List, ManualClock, Order, Remember, Store, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

use crate::sequences::cases;
use crate::steps::START;
use crate::world::options;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(24)) })]

    #[test]
    fn pages_neither_repeat_nor_lose(
        first in prop::collection::vec((-3..3i64, 0..4u8, -2..3i64), 1..25),
        added in prop::collection::vec((-3..3i64, 0..4u8, -2..3i64), 1..25),
        limit in 1..6usize,
        order in select(vec![
            Order::NewestFirst, Order::OldestFirst, Order::LatestEvent, Order::EarliestEvent,
            Order::LatestChange, Order::MostImportant, Order::MostConfident,
        ]),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
        let store = Store::open(directory.path(), options(true, 0, clock.clone())).unwrap();
        let tenant = store.tenant("anna").unwrap();
        let mut serial = 0;
        let mut add = |(event, weight, clock_by): (i64, u8, i64)| -> CardId {
            serial += 1;
            // The clock stands still, goes on, and goes back.
            clock.set(clock.now().plus(Duration::from_micros(clock_by))).unwrap();
            let request = Remember {
                content: format!("entry q{serial}z"),
                occurred_at: Some(Timestamp::from_micros(START + event)),
                importance: Some(f32::from(weight) / 4.0),
                confidence: Some(0.8 + f32::from(weight) / 20.0),
                ..Remember::default()
            };
            tenant.remember(request).unwrap().id
        };
        let there: Vec<CardId> = first.into_iter().map(&mut add).collect();
        let mut more = added.into_iter();
        let mut seen: Vec<CardId> = Vec::new();
        let mut request = List { order, limit: Some(limit), ..List::default() };
        loop {
            let page = tenant.list(&request).unwrap();
            seen.extend(page.cards.iter().map(|card| card.id));
            let Some(cursor) = page.cursor else { break };
            request.cursor = Some(cursor);
            if let Some(new) = more.next() {
                add(new);
            }
        }
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        prop_assert_eq!(once.len(), seen.len(), "a card comes twice");
        prop_assert!(there.iter().all(|id| seen.contains(id)), "a card is lost");
        let wrong = List { order: if order == Order::NewestFirst { Order::OldestFirst } else { Order::NewestFirst }, ..request };
        if wrong.cursor.is_some() {
            let error = tenant.list(&wrong).unwrap_err();
            prop_assert_eq!(error.field(), Some("cursor"));
        }
    }
}
