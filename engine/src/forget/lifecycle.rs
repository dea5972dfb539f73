//! The life of one card under a rule: closed formulas that say what a card is worth at an instant
//! and when the rules next have something to do with it.
//!
//! Everything is computed from the card and the rule; there is no clock, and nothing is rewritten
//! as time goes by. Reading the same card at the same instant gives the same figures, whether or
//! not a run took place in between.

use serde::{Deserialize, Serialize};

use super::resolve::Resolved;
use crate::card::{STATED_CONFIDENCE, State};
use crate::time::{Duration, Timestamp};
use crate::verbs::Action;

/// Microseconds of 24 hours.
pub(super) const MICROS_PER_DAY: f64 = 86_400_000_000.0;

/// What the formulas need to know of a card.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// When it was first written.
    pub recorded_at: Timestamp,
    /// When it was last told, confirmed or used: its last reference.
    pub reinforced_at: Timestamp,
    /// The expiry that the caller gave it.
    pub expires_at: Option<Timestamp>,
    /// When its version was written; for a forgotten card, when it was forgotten.
    pub updated_at: Timestamp,
    /// Confidence at the last reference.
    pub confidence: f32,
    /// Importance at the last reference.
    pub importance: f32,
    /// Rules do not touch it.
    pub pinned: bool,
    /// Where it is in its life.
    pub state: State,
}

/// What is to be done with a card, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Due {
    /// What is done.
    pub action: Action,
    /// The field of the rule that says so: `ttl`, `grace`, `fade_below`, `archive_after`; or
    /// `expires_at`, the card's own expiry.
    pub rule: &'static str,
    /// Since when it has been due.
    pub since: Timestamp,
}

impl Life {
    /// Confidence at an instant: base · e^(−decay · days since the last reference). It is the
    /// base itself before the last reference and with a decay of 0, and never above it.
    pub fn confidence_at(&self, rule: &Resolved, at: Timestamp) -> f64 {
        decayed(unit(self.confidence), rule.decay, self.reinforced_at, at)
    }

    /// Importance at an instant, by the same formula.
    pub fn importance_at(&self, rule: &Resolved, at: Timestamp) -> f64 {
        decayed(unit(self.importance), rule.importance_decay, self.reinforced_at, at)
    }

    /// How readily a card is reached: 1 for 30 days after its last reference, from there in a
    /// straight line to 0.3 after 90 days, and in another to 0 (cold) after 180.
    pub fn access_weight(&self, at: Timestamp) -> f64 {
        match days(self.reinforced_at, at) {
            days if days <= 30.0 => 1.0,
            days if days <= 90.0 => 1.0 - 0.7 * (days - 30.0) / 60.0,
            days if days < 180.0 => 0.3 * (180.0 - days) / 90.0,
            _ => 0.0,
        }
    }

    /// Confidence and importance at an instant: [`Life::confidence_at`] and
    /// [`Life::importance_at`] for who needs both of many cards.
    pub(crate) fn figures_at(&self, rule: &Resolved, at: Timestamp) -> (f64, f64) {
        let confidence = factor(rule.decay, self.reinforced_at, at);
        let importance = match rule.importance_decay == rule.decay {
            true => confidence,
            false => factor(rule.importance_decay, self.reinforced_at, at),
        };
        (unit(self.confidence) * confidence, unit(self.importance) * importance)
    }

    /// What a card is worth when a budget forces a choice: the mean of confidence, importance
    /// and access weight, 0 to 1. The cards of least worth go first.
    pub fn worth_at(&self, rule: &Resolved, at: Timestamp) -> f64 {
        (self.confidence_at(rule, at) + self.importance_at(rule, at) + self.access_weight(at)) / 3.0
    }

    /// True for a card that rules must leave alone.
    pub fn is_exempt(&self, rule: &Resolved) -> bool {
        self.pinned || rule.protect
    }

    /// When the card expires: at its own expiry, which is the caller's word and holds for pinned
    /// cards too; otherwise by the rule's `ttl` after it was recorded.
    pub fn expires(&self, rule: &Resolved) -> Option<Timestamp> {
        self.expiry(rule).map(|(at, _)| at)
    }

    /// The same with the rule that says so.
    fn expiry(&self, rule: &Resolved) -> Option<(Timestamp, &'static str)> {
        if let Some(at) = self.expires_at {
            return Some((at, "expires_at"));
        }
        let ttl = rule.ttl.filter(|_| !self.is_exempt(rule))?;
        Some((after(self.recorded_at, ttl)?, "ttl"))
    }

    /// When the card fades: the first microsecond at which [`Life::confidence_at`] lies below
    /// `fade_below`. `None` when that is never, or beyond [`Timestamp::MAX`].
    ///
    /// A card that was never that certain (a candidate, an overturned one) would be gone as soon
    /// as it is written. It fades by age alone: as long after its last reference as a plain
    /// statement would, one of confidence 0.8; or, where not even that reaches the threshold, one of 1.
    pub fn fades(&self, rule: &Resolved) -> Option<Timestamp> {
        let threshold = rule.fade_below;
        let base = fading_base(unit(self.confidence), rule).filter(|_| !self.is_exempt(rule))?;
        let below = |micros: i64| {
            let at = Timestamp::from_micros(micros);
            decayed(base, rule.decay, self.reinforced_at, at) < threshold
        };
        let start = self.reinforced_at.as_micros();
        // Not below at `start` by the choice of the base; from here on not below at the first of
        // the two and below at the second.
        let (mut still, mut faded) = (start, Timestamp::MAX.as_micros());
        if !below(faded) {
            return None;
        }
        // The formula solved for time is right but for rounding: steps that grow around it find
        // the exact instant, halving once it lies between two of them.
        let solved = (base / threshold).ln() / rule.decay * MICROS_PER_DAY;
        let mut probe = start.saturating_add(solved as i64).clamp(still, faded);
        let mut step = 1i64;
        while faded - still > 1 {
            if !(still < probe && probe < faded) {
                probe = still + (faded - still) / 2;
            }
            if below(probe) {
                faded = probe;
                probe = probe.saturating_sub(step);
            } else {
                still = probe;
                probe = probe.saturating_add(step);
            }
            step = step.saturating_mul(4);
        }
        Some(Timestamp::from_micros(faded))
    }

    /// True from the instant on that [`Life::fades`] names.
    pub fn has_faded(&self, rule: &Resolved, at: Timestamp) -> bool {
        !self.is_exempt(rule)
            && fading_base(unit(self.confidence), rule)
                .is_some_and(|base| decayed(base, rule.decay, self.reinforced_at, at) < rule.fade_below)
    }

    /// The state in which a run at an instant would leave the card, as far as age decides:
    /// archived from the instant on at which it fades or grows too old.
    pub fn state_at(&self, rule: &Resolved, at: Timestamp) -> State {
        let is_old = || self.archives(rule).is_some_and(|since| since <= at);
        let archived = match self.state {
            State::Candidate | State::Active => is_old() || self.has_faded(rule, at),
            State::Superseded => is_old(),
            State::Archived | State::Forgotten => false,
        };
        if archived { State::Archived } else { self.state }
    }

    /// When the card is so old that it goes to the cold tier: `archive_after` after its last
    /// reference.
    pub fn archives(&self, rule: &Resolved) -> Option<Timestamp> {
        let age = rule.archive_after.filter(|_| !self.is_exempt(rule))?;
        after(self.reinforced_at, age)
    }

    /// When a forgotten card is purged: `grace` after it was forgotten. A pin does not keep it:
    /// rules forget no pinned card, so somebody wanted it gone.
    pub fn purges(&self, rule: &Resolved) -> Option<Timestamp> {
        let grace = rule.grace.filter(|_| self.state == State::Forgotten)?;
        after(self.updated_at, grace)
    }

    /// The first instant at which the rules have something to do with the card in its present
    /// state, and what. It may lie in the past, when no run has come by since.
    pub fn next(&self, rule: &Resolved) -> Option<(Timestamp, Action)> {
        let all = self.dates(rule);
        all.into_iter().flatten().map(|due| (due.since, due.action)).min()
    }

    /// What a plan made at an instant does with the card: of all that is due, the first in the
    /// order of [`Action`].
    pub fn due_action(&self, rule: &Resolved, at: Timestamp) -> Option<Due> {
        self.dates(rule).into_iter().flatten().find(|due| due.since <= at)
    }

    /// Everything that can happen to the card in its present state, in the order of [`Action`].
    fn dates(&self, rule: &Resolved) -> [Option<Due>; 4] {
        let due = |action, rule| move |since| Due { action, rule, since };
        let expire = || self.expiry(rule).map(|(since, rule)| Due { action: Action::Expire, rule, since });
        let purge = || self.purges(rule).map(due(Action::Purge, "grace"));
        let fade = || self.fades(rule).map(due(Action::Fade, "fade_below"));
        let archive = || self.archives(rule).map(due(Action::Archive, "archive_after"));
        match self.state {
            State::Candidate | State::Active => [expire(), None, fade(), archive()],
            State::Superseded => [None, None, None, archive()],
            State::Archived => [expire(), None, None, None],
            State::Forgotten => [None, purge(), None, None],
        }
    }
}

/// A figure of a card, 0 to 1 whatever was stored.
fn unit(figure: f32) -> f64 {
    if figure.is_nan() { 0.0 } else { f64::from(figure.clamp(0.0, 1.0)) }
}

/// Days from one instant to another; negative when it lies before.
fn days(from: Timestamp, to: Timestamp) -> f64 {
    to.as_micros().saturating_sub(from.as_micros()) as f64 / MICROS_PER_DAY
}

/// The one formula of decay.
fn decayed(base: f64, decay: f64, since: Timestamp, at: Timestamp) -> f64 {
    base * factor(decay, since, at)
}

/// What is left of a figure of 1.
fn factor(decay: f64, since: Timestamp, at: Timestamp) -> f64 {
    let days = days(since, at);
    if days > 0.0 && decay > 0.0 { (-decay * days).exp() } else { 1.0 }
}

/// The confidence from which a card's fading is counted; `None`: it never fades.
fn fading_base(own: f64, rule: &Resolved) -> Option<f64> {
    [own, f64::from(STATED_CONFIDENCE), 1.0].into_iter().find(|base| *base >= rule.fade_below)
}

/// An age, in microseconds, below which no card of a confidence within these bounds is archived
/// by [`Life::state_at`]; `None`: none ever is. It may be less than the exact age, never more.
pub(crate) fn youngest_archived(rule: &Resolved, least: f32, most: f32) -> Option<i64> {
    /// More than rounding can take away.
    const SHARE: f64 = 1.0 - 1e-9;
    const MICROS: i64 = 1000;
    if rule.protect {
        return None;
    }
    let (least, most) = (unit(least), unit(most));
    let crosses = least < rule.fade_below && rule.fade_below <= most;
    let base = if crosses { Some(rule.fade_below) } else { fading_base(least, rule) };
    let fades = base.filter(|_| rule.decay > 0.0 && rule.fade_below > 0.0).map(|base| {
        let exact = (base / rule.fade_below).ln() / rule.decay * MICROS_PER_DAY;
        ((exact * SHARE) as i64).saturating_sub(MICROS).max(0)
    });
    let old = rule.archive_after.map(|age| age.as_micros().max(0));
    [fades, old].into_iter().flatten().min()
}

/// An instant moved by a duration, which is taken as 0 when negative; `None` beyond the end of time.
fn after(start: Timestamp, duration: Duration) -> Option<Timestamp> {
    let micros = start.as_micros().checked_add(duration.as_micros().max(0))?;
    (micros <= Timestamp::MAX.as_micros()).then(|| Timestamp::from_micros(micros))
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
