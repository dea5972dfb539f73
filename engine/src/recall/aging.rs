//! Age at the instant of a read: which rows are over, and what their figures are worth.
//!
//! The formulas are those of `forget::lifecycle`; here they meet rows. Rules are resolved once
//! per category of a partition and read, not per row.

use std::cell::RefCell;
use std::sync::Arc;

use crate::card::Card;
use crate::forget::due::life;
use crate::forget::lifecycle::{Life, youngest_archived};
use crate::forget::resolve::Resolved;
use crate::forget::rules::LifeRules;
use crate::index::partition::Partition;
use crate::recall::View;
use crate::time::Timestamp;
use crate::verbs::CardView;

/// The rules of one partition's categories, as far as a read came to need them.
pub(super) struct Aging<'a> {
    partition: &'a Partition,
    rules: &'a LifeRules,
    known: RefCell<Vec<Option<Arc<Resolved>>>>,
}

impl<'a> Aging<'a> {
    pub(super) fn new(partition: &'a Partition, rules: &'a LifeRules) -> Self {
        Self { partition, rules, known: RefCell::default() }
    }

    /// What the formulas need to know of a row.
    fn life(&self, row: u32) -> Life {
        let (hot, age) = (&self.partition.hot()[row as usize], &self.partition.ages()[row as usize]);
        Life {
            recorded_at: Timestamp::from_micros(age.recorded),
            reinforced_at: Timestamp::from_micros(age.reference),
            expires_at: (hot.expires != i64::MAX).then(|| Timestamp::from_micros(hot.expires)),
            updated_at: Timestamp::from_micros(hot.from),
            confidence: hot.confidence,
            importance: hot.importance,
            pinned: age.exempt,
            state: hot.state,
        }
    }

    /// Does something with a row and its rule.
    fn with<T>(&self, row: u32, work: impl FnOnce(&Life, &Resolved) -> T) -> T {
        let number = self.partition.hot()[row as usize].category as usize;
        let mut known = self.known.borrow_mut();
        if known.len() <= number {
            known.resize(number + 1, None);
        }
        // All rows of a partition are of one track.
        let resolve = || self.rules.of(self.partition.row(row).card.track, &self.partition.names()[number]);
        work(&self.life(row), known[number].get_or_insert_with(resolve))
    }

    /// Confidence and importance of a row at an instant.
    pub(super) fn figures(&self, row: u32, at: Timestamp) -> (f64, f64) {
        self.with(row, |life, rule| life.figures_at(rule, at))
    }

    /// Rows that a view of the present does not show because of their age, of those that the
    /// partition keeps as shown whatever the instant. It looks only at rows that are old enough.
    pub(super) fn lapsed(&self, view: &View) -> Vec<u32> {
        let mut lapsed = Vec::new();
        if !self.rules.expires() {
            return lapsed;
        }
        let instant = view.instant.as_micros();
        for (_, ages) in self.partition.present().ages() {
            // The group is not empty: any of its rows tells the rule.
            let Some(first) = ages.recorded_until(i64::MAX).next() else { continue };
            self.with(first, |_, rule| {
                if let Some(ttl) = rule.ttl.filter(|_| !rule.protect) {
                    lapsed.extend(ages.recorded_until(instant.saturating_sub(ttl.as_micros().max(0))));
                }
                if self.rules.fades() {
                    let old = ages.older_than(|least, most| youngest_archived(rule, least, most), instant);
                    let faded = |row: &u32| {
                        let life = self.life(*row);
                        self.rules.state(&life, rule, view.instant) != life.state
                    };
                    lapsed.extend(old.filter(faded));
                }
            });
        }
        lapsed.sort_unstable();
        lapsed.dedup();
        lapsed
    }
}

/// A view on one partition.
pub(super) struct Judge<'a> {
    view: &'a View,
    aging: Aging<'a>,
}

impl<'a> Judge<'a> {
    /// True when a row may be returned.
    pub(super) fn shows(&self, row: u32) -> bool {
        let partition = self.aging.partition;
        let hot = &partition.hot()[row as usize];
        self.view.has_version(hot)
            && (hot.expires == i64::MAX || hot.expires > self.view.instant.as_micros())
            && self.aging.with(row, |life, rule| self.view.admits(life, rule))
            && ((self.view.as_of.is_none() && !hot.scheduled) || self.view.holds(&partition.row(row).card))
    }

    /// See [`Aging::lapsed`].
    pub(super) fn lapsed(&self) -> Vec<u32> {
        self.aging.lapsed(self.view)
    }
}

impl View {
    /// The same view on one partition.
    pub(super) fn on<'a>(&'a self, partition: &'a Partition) -> Judge<'a> {
        Judge { view: self, aging: Aging::new(partition, &self.rules) }
    }

    /// True when age leaves a card, in whatever version, among those that the view is of.
    pub(super) fn admits(&self, life: &Life, rule: &Resolved) -> bool {
        let state = if self.fades { self.rules.state(life, rule, self.instant) } else { life.state };
        self.wants(state) && !self.rules.has_expired(life, rule, self.instant)
    }

    /// A card as the view answers it.
    pub(super) fn card(&self, card: Card) -> CardView {
        CardView::new(card, &self.rules, self.instant)
    }

    /// True when the confidence of a card at the view's instant is not below `least`.
    pub(super) fn is_sure(&self, card: &Card, least: Option<f32>) -> bool {
        least.is_none_or(|least| {
            let rule = self.rules.of(card.track, &card.category);
            life(card).confidence_at(&rule, self.instant) >= f64::from(least)
        })
    }
}
