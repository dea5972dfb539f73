//! Plays a policy over cards on a virtual clock: what would be active, cold and gone on each day.
//!
//! Pure: it reads no store and no clock, and the same cards, policy and scenario always give the
//! same figures. Runs honour the limits of the policy, budgets and the kill switch, as runs of
//! the store do; duplicates are not looked for, since cards have no text here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::lifecycle::Life;
use super::policy::OverBudget;
use super::resolve::{Budget, Policies, Resolved, RunLimits};
use crate::card::{State, Track};
use crate::time::{Duration, Timestamp};
use crate::verbs::Action;
use crate::{Error, Result};

const DAY_MICROS: i64 = 86_400_000_000;
/// Longest simulation: ten years.
const MOST_DAYS: u32 = 3653;
/// Shortest time between runs, microseconds: bounds the work.
const SHORTEST: i64 = 60_000_000;

/// A card to play with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedCard {
    /// Its category.
    pub category: String,
    /// Its track.
    pub track: Track,
    /// What the formulas know of it. It is there from its `recorded_at` on, which may lie within
    /// the time that is played.
    pub life: Life,
}

/// A use of a card, which counts as a reference and brings a cold card back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// On which day, 0 being the first; it happens as that day begins.
    pub day: u32,
    /// Place of the card in the list of cards.
    pub index: usize,
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The beginning of day 0.
    pub start: Timestamp,
    /// How many days (1 to 3,653).
    pub days: u32,
    /// Time from one run to the next, if not that of the policy (a minute or more).
    pub every: Option<Duration>,
    /// Which cards are used when, in any order.
    pub uses: Vec<Use>,
}

/// How the cards of one category are spread at the end of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// In active memory, candidates included.
    pub active: u64,
    /// In the cold tier or replaced by a newer card: found on request only.
    pub cold: u64,
    /// Forgotten or purged.
    pub gone: u64,
}

impl Counts {
    /// All cards that have been recorded so far.
    pub fn total(&self) -> u64 {
        self.active.saturating_add(self.cold).saturating_add(self.gone)
    }
}

/// The state of things after so many days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    /// How many days have passed; 0 is before the first run.
    pub day: u32,
    /// The instant.
    pub at: Timestamp,
    /// By category, in the order of [`Simulation::categories`].
    pub counts: Vec<Counts>,
    /// Uses so far that found the card cold and brought it back.
    pub rewarmed: u64,
    /// Uses so far that came too late: the card was gone.
    pub missed: u64,
    /// Cards that were due and had to wait, as the last run had reached its limits.
    pub waiting: u64,
}

/// What became of the cards, day by day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// The categories in order of their names.
    pub categories: Vec<String>,
    /// One entry for the beginning and one for each day.
    pub days: Vec<Day>,
}

impl Simulation {
    /// The counts of all categories together after so many days; zero beyond the end.
    pub fn total(&self, day: usize) -> Counts {
        let counts = self.days.get(day).map(|day| day.counts.as_slice()).unwrap_or_default();
        counts.iter().fold(Counts::default(), |sum, counts| Counts {
            active: sum.active.saturating_add(counts.active),
            cold: sum.cold.saturating_add(counts.cold),
            gone: sum.gone.saturating_add(counts.gone),
        })
    }
}

/// Plays the policies of a tenant over its cards.
///
/// # Errors
/// [`Error::InvalidArgument`] on `days`, `every` or `uses` outside of their bounds.
pub fn simulate(policies: &Policies, cards: &[SimulatedCard], scenario: &Scenario) -> Result<Simulation> {
    let every = scenario.every.unwrap_or(policies.schedule().every).as_micros();
    if !(1..=MOST_DAYS).contains(&scenario.days) {
        return Err(Error::invalid("days", format!("must be from 1 to {MOST_DAYS}")));
    }
    if every < SHORTEST {
        return Err(Error::invalid("every", "must be at least 1m"));
    }
    if let Some(at) = scenario.uses.iter().position(|used| used.index >= cards.len()) {
        let message = format!("there is no card {}", scenario.uses[at].index);
        return Err(Error::invalid(format!("uses[{at}].index"), message));
    }
    if let Some(at) = scenario.uses.iter().position(|used| used.day >= scenario.days) {
        return Err(Error::invalid(format!("uses[{at}].day"), "lies beyond the last day"));
    }
    let span = i64::from(scenario.days) * DAY_MICROS;
    if scenario.start.as_micros() > Timestamp::MAX.as_micros() - span {
        return Err(Error::invalid("start", "leaves too little time before the year 9999"));
    }
    let mut uses = scenario.uses.clone();
    uses.sort_by_key(|used| (used.day, used.index));
    let mut uses = uses.into_iter().peekable();
    let mut world = World::new(policies, cards);
    let mut days = vec![world.day(0, scenario.start)];
    let mut run = every;
    for day in 0..scenario.days {
        let begin = i64::from(day) * DAY_MICROS;
        let instant = |micros: i64| scenario.start.plus(Duration::from_micros(micros));
        while let Some(used) = uses.next_if(|used| used.day == day) {
            world.use_card(used.index, instant(begin));
        }
        while run <= begin + DAY_MICROS {
            world.run(instant(run));
            run += every;
        }
        days.push(world.day(day + 1, instant(begin + DAY_MICROS)));
    }
    Ok(Simulation { categories: world.categories, days })
}

/// A card in play.
struct Piece<'a> {
    card: &'a SimulatedCard,
    life: Life,
    rule: usize,
    category: usize,
    purged: bool,
    /// When rules next have something to do with it.
    next: Option<Timestamp>,
}

impl Piece<'_> {
    fn is_active(&self) -> bool {
        matches!(self.life.state, State::Active | State::Candidate)
    }

    fn exists(&self, at: Timestamp) -> bool {
        self.life.recorded_at <= at && !self.purged
    }
}

struct World<'a> {
    pieces: Vec<Piece<'a>>,
    rules: Vec<Resolved>,
    categories: Vec<String>,
    budgets: Vec<Budget>,
    limits: RunLimits,
    enabled: bool,
    rewarmed: u64,
    missed: u64,
    waiting: u64,
}

impl<'a> World<'a> {
    fn new(policies: &Policies, cards: &'a [SimulatedCard]) -> Self {
        let mut names: BTreeMap<&str, usize> = cards.iter().map(|card| (card.category.as_str(), 0)).collect();
        names.values_mut().enumerate().for_each(|(place, value)| *value = place);
        let mut rules = Vec::new();
        let mut known = BTreeMap::new();
        let mut pieces = Vec::with_capacity(cards.len());
        for card in cards {
            let rule = *known.entry((card.track, card.category.as_str())).or_insert_with(|| {
                rules.push(policies.resolve(card.track, &card.category));
                rules.len() - 1
            });
            pieces.push(Piece {
                card,
                life: card.life,
                rule,
                category: names[card.category.as_str()],
                purged: false,
                next: card.life.next(&rules[rule]).map(|(at, _)| at),
            });
        }
        Self {
            pieces,
            rules,
            categories: names.into_keys().map(str::to_owned).collect(),
            budgets: policies.budgets(),
            limits: policies.limits(),
            enabled: policies.enabled(),
            rewarmed: 0,
            missed: 0,
            waiting: 0,
        }
    }

    fn use_card(&mut self, index: usize, at: Timestamp) {
        let piece = &mut self.pieces[index];
        if piece.life.recorded_at > at {
            return;
        }
        if piece.purged || piece.life.state == State::Forgotten {
            self.missed += 1;
            return;
        }
        if piece.life.state == State::Archived {
            piece.life.state = State::Active;
            self.rewarmed += 1;
        }
        piece.life.reinforced_at = piece.life.reinforced_at.max(at);
        piece.next = piece.life.next(&self.rules[piece.rule]).map(|(at, _)| at);
    }

    /// One run: everything that is due, longest due first, then the budgets, within the limits.
    fn run(&mut self, at: Timestamp) {
        if !self.enabled {
            return;
        }
        self.waiting = 0;
        let active = self.pieces.iter().filter(|piece| piece.exists(at) && piece.is_active()).count() as u64;
        let mut items = self.limits.items;
        let mut leaving = self.limits.most(active);
        let due = |piece: &Piece<'_>| piece.exists(at) && piece.next.is_some_and(|next| next <= at);
        let mut due: Vec<usize> = (0..self.pieces.len()).filter(|at| due(&self.pieces[*at])).collect();
        due.sort_by_key(|index| self.pieces[*index].next);
        for index in due {
            let piece = &self.pieces[index];
            let Some(due) = piece.life.due_action(&self.rules[piece.rule], at) else { continue };
            if items == 0 || (piece.is_active() && leaving == 0) {
                self.waiting += 1;
                continue;
            }
            items -= 1;
            leaving -= u64::from(piece.is_active());
            self.act(index, due.action, at);
        }
        for budget in 0..self.budgets.len() {
            let most = items.min(leaving);
            let done = self.keep_within(budget, most, at);
            items -= done;
            leaving -= done;
        }
    }

    fn act(&mut self, index: usize, action: Action, at: Timestamp) {
        let piece = &mut self.pieces[index];
        match action {
            Action::Expire | Action::Forget => piece.life.state = State::Forgotten,
            Action::Fade | Action::Archive => piece.life.state = State::Archived,
            Action::Purge => piece.purged = true,
            // What cards say to each other is not played.
            Action::Merge | Action::Supersede | Action::Consolidate => {}
        }
        piece.life.updated_at = at;
        let next = piece.life.next(&self.rules[piece.rule]).map(|(at, _)| at);
        piece.next = next.filter(|_| !piece.purged);
    }

    /// Brings a scope back to its budget with at most so many actions; returns how many it took.
    fn keep_within(&mut self, budget: usize, most: u64, at: Timestamp) -> u64 {
        let budget = &self.budgets[budget];
        let counts = |piece: &Piece<'_>| {
            piece.exists(at)
                && piece.is_active()
                && budget.scope.holds(piece.card.track, &piece.card.category)
        };
        let inside: Vec<usize> = (0..self.pieces.len()).filter(|at| counts(&self.pieces[*at])).collect();
        let excess = (inside.len() as u64).saturating_sub(budget.max_cards);
        if excess == 0 {
            return 0;
        }
        let mut worth: Vec<(f64, usize)> = inside
            .into_iter()
            .map(|index| (index, &self.pieces[index]))
            .filter(|(_, piece)| !piece.life.is_exempt(&self.rules[piece.rule]))
            .map(|(index, piece)| (piece.life.worth_at(&self.rules[piece.rule], at), index))
            .collect();
        worth.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let action = match budget.over_budget {
            OverBudget::Archive => Action::Archive,
            OverBudget::Forget => Action::Forget,
        };
        let done = excess.min(worth.len() as u64).min(most);
        self.waiting += excess.min(worth.len() as u64) - done;
        for (_, index) in worth.into_iter().take(done as usize) {
            self.act(index, action, at);
        }
        done
    }

    fn day(&self, day: u32, at: Timestamp) -> Day {
        let mut counts = vec![Counts::default(); self.categories.len()];
        for piece in self.pieces.iter().filter(|piece| piece.life.recorded_at <= at) {
            let counts = &mut counts[piece.category];
            match piece.life.state {
                State::Active | State::Candidate => counts.active += 1,
                State::Archived | State::Superseded => counts.cold += 1,
                State::Forgotten => counts.gone += 1,
            }
        }
        Day { day, at, counts, rewarmed: self.rewarmed, missed: self.missed, waiting: self.waiting }
    }
}

#[cfg(test)]
#[path = "simulate_tests.rs"]
mod tests;
