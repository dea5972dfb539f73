//! Finding out what the rules would do, with figures. Nothing is changed here.
//!
//! A plan is made of a snapshot of the store at an instant: the same state, rules and instant
//! give the same plan. What is due comes from the queue (`due`), budgets are judged over all
//! cards of their scope, duplicates over what changed since they were last looked for.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::Result;
use crate::card::{Card, CardId, State, Track};
use crate::forget::due::{RuleBook, life};
use crate::forget::lifecycle::Due;
use crate::forget::mark;
use crate::forget::policy::OverBudget;
use crate::forget::resolve::{Budget, Policies, Resolved};
use crate::index::cache::SlotRef;
use crate::index::partition::Row;
use crate::store::{Item, Lookup, ReadBytes, Tables, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Action, Figures, PlanId, PlanItem, Totals, Work};

/// Name of the tenant's setting that says up to which change duplicates were looked for.
pub(crate) const MERGED: &str = "merged";

/// A plan as it is kept; its items stand with the tenants whose cards they concern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanRecord {
    pub(crate) digest: String,
    pub(crate) made_at: Timestamp,
    /// In order of their numbers.
    pub(crate) tenants: Vec<TenantPart>,
    pub(crate) totals: Totals,
    pub(crate) policy: String,
    /// The policy came with the request, and need not be the one in force.
    #[serde(default)]
    pub(crate) given: bool,
    pub(crate) notes: Vec<String>,
    pub(crate) work: Work,
}

impl Item for PlanItem {
    fn holds_words(&self) -> bool {
        self.make.is_some()
    }
}

/// What a plan does in one tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantPart {
    pub(crate) tenant: u32,
    pub(crate) items: u32,
    pub(crate) actions: BTreeMap<String, u64>,
    /// Up to which change duplicates were looked for; 0 when they were not.
    pub(crate) merged_upto: u64,
}

/// What is found in one tenant.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) items: Vec<PlanItem>,
    pub(crate) held_back: u64,
    pub(crate) notes: Vec<String>,
    pub(crate) work: Work,
    /// Entries of the queue that came too early.
    pub(crate) stale: Vec<(Timestamp, CardId)>,
    pub(crate) merged_upto: u64,
}

/// How many cards of a tenant a plan may concern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// In all.
    pub(crate) items: u64,
    /// That leave active memory.
    pub(crate) leaving: u64,
}

/// Makes the plan of one tenant.
pub(crate) struct Planner<'a, T> {
    pub(crate) tables: &'a Tables<T>,
    pub(crate) tenant: TenantId,
    pub(crate) policies: &'a Policies,
    pub(crate) now: Timestamp,
    /// The actions that are asked for; all when empty.
    pub(crate) wanted: &'a [Action],
    pub(crate) most: Most,
    /// The tenant's partitions, where budgets or duplicates need them.
    pub(crate) partitions: &'a dyn Fn(Track) -> Result<SlotRef>,
    /// Where an exact look-up leads.
    pub(crate) lookup: &'a dyn Fn(&Lookup<'_>) -> Result<Option<CardId>>,
}

impl<T: ReadBytes> Planner<'_, T> {
    /// Finds everything.
    pub(crate) fn find(&self) -> Result<Found> {
        let mut found = Found { work: Work { tenants: 1, ..Work::default() }, ..Found::default() };
        let mut book = RuleBook::new(self.policies);
        let mut leaving = 0;
        self.find_due(&mut found, &mut book, &mut leaving)?;
        let mut taken: HashSet<CardId> = found.items.iter().map(|item| item.id).collect();
        if self.wants(Action::Archive) || self.wants(Action::Forget) {
            for budget in self.policies.budgets() {
                self.find_over(&budget, &mut found, &mut book, &mut taken, &mut leaving)?;
            }
        }
        if self.wants(Action::Merge) || self.wants(Action::Supersede) {
            self.find_duplicates(&mut found, &mut book, &mut taken, &mut leaving)?;
        }
        found.items.sort_by(|a, b| (a.action, a.into, &a.rule, a.id).cmp(&(b.action, b.into, &b.rule, b.id)));
        Ok(found)
    }

    pub(crate) fn wants(&self, action: Action) -> bool {
        self.wanted.is_empty() || self.wanted.contains(&action)
    }

    /// True while another item fits; counts it.
    pub(crate) fn admits(&self, found: &mut Found, leaving: &mut u64, action: Action) -> bool {
        let leaves = !matches!(action, Action::Purge | Action::Consolidate);
        let fits = (found.items.len() as u64) < self.most.items && (!leaves || *leaving < self.most.leaving);
        match fits {
            true => *leaving += u64::from(leaves),
            false => found.held_back += 1,
        }
        fits
    }

    fn find_due(&self, found: &mut Found, book: &mut RuleBook<'_>, leaving: &mut u64) -> Result<()> {
        let mut seen = HashSet::new();
        for entry in self.tables.due(self.tenant, self.now)? {
            let (at, id) = entry?;
            found.work.due += 1;
            if found.items.len() as u64 >= self.most.items {
                // Only counted: what is not done now need not be read now.
                found.held_back += 1;
                continue;
            }
            found.work.cards += 1;
            let card = self.tables.card(self.tenant, id)?;
            let rule = card.as_ref().map(|card| book.of(card));
            let (Some(card), Some(rule)) = (&card, rule) else {
                found.stale.push((at, id));
                continue;
            };
            let life = life(card);
            if life.next(rule).is_none_or(|(next, _)| next != at) {
                found.stale.push((at, id));
                continue;
            }
            let Some(due) = life.due_action(rule, self.now).filter(|_| seen.insert(id)) else { continue };
            if self.wants(due.action) && self.admits(found, leaving, due.action) {
                found.items.push(self.due_item(card, rule, &due)?);
            }
        }
        Ok(())
    }

    fn due_item(&self, card: &Card, rule: &Resolved, due: &Due) -> Result<PlanItem> {
        let origins = &rule.origins;
        let (origin, threshold) = match due.rule {
            "ttl" => (origins.ttl.to_string(), rule.ttl.map(days)),
            "fade_below" => (origins.fade_below.to_string(), Some(rule.fade_below)),
            "archive_after" => (origins.archive_after.to_string(), rule.archive_after.map(days)),
            "grace" => (origins.grace.to_string(), rule.grace.map(days)),
            _ => ("the card".to_owned(), None),
        };
        let mut item = self.item(card, rule, due.action, format!("{} ({origin})", due.rule))?;
        item.figures.since = Some(due.since);
        item.figures.threshold = threshold;
        Ok(item)
    }

    /// An item about a card as it is.
    pub(crate) fn item(
        &self,
        card: &Card,
        rule: &Resolved,
        action: Action,
        because: String,
    ) -> Result<PlanItem> {
        let reference = card.reference();
        Ok(PlanItem {
            id: card.id,
            version: card.version,
            action,
            rule: because,
            figures: Figures {
                recorded_at: card.recorded_at,
                reference,
                confidence: f64::from(card.confidence),
                confidence_now: life(card).confidence_at(rule, self.now),
                ..Figures::default()
            },
            age: self.now.hours_since(reference) / 24.0,
            state: card.state,
            track: card.track,
            // A plan holds no words of a card: they would outlive it.
            category: String::new(),
            into: None,
            mark: mark(card)?,
            into_mark: 0,
            make: None,
        })
    }

    /// The cards beyond a budget: those of least worth.
    fn find_over(
        &self,
        budget: &Budget,
        found: &mut Found,
        book: &mut RuleBook<'_>,
        taken: &mut HashSet<CardId>,
        leaving: &mut u64,
    ) -> Result<()> {
        let action = match budget.over_budget {
            OverBudget::Archive => Action::Archive,
            OverBudget::Forget => Action::Forget,
        };
        if !self.wants(action) {
            return Ok(());
        }
        let mut cards: Vec<(f64, Timestamp, CardId, bool)> = Vec::new();
        for track in Track::ALL.iter().filter(|track| budget.scope.may_hold(**track)) {
            let slot = (self.partitions)(*track)?;
            let partition = slot.read()?;
            let counts = |row: &&Row| {
                row.until == Timestamp::MAX
                    && matches!(row.card.state, State::Active | State::Candidate)
                    && budget.scope.holds(row.card.track, &row.card.category)
                    && !taken.contains(&row.card.id)
            };
            for row in partition.rows().iter().filter(counts) {
                let (rule, life) = (book.of(&row.card), life(&row.card));
                if life.expires(rule).is_none_or(|at| at > self.now) {
                    let worth = life.worth_at(rule, self.now);
                    cards.push((worth, row.card.reference(), row.card.id, life.is_exempt(rule)));
                }
            }
        }
        let beyond = (cards.len() as u64).saturating_sub(budget.max_cards);
        if beyond == 0 {
            return Ok(());
        }
        cards.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let of = cards.len() as u64;
        let mut left = beyond;
        for (place, (_, _, id, exempt)) in cards.into_iter().enumerate() {
            if left == 0 {
                break;
            }
            if exempt {
                continue;
            }
            left -= 1;
            if !self.admits(found, leaving, action) {
                continue;
            }
            found.work.cards += 1;
            let Some(card) = self.tables.card(self.tenant, id)? else { continue };
            let because = format!("max_cards ({})", budget.origin);
            let mut item = self.item(&card, book.of(&card), action, because)?;
            item.figures.threshold = Some(budget.max_cards as f64);
            item.figures.rank = Some(of - place as u64);
            taken.insert(id);
            found.items.push(item);
        }
        if left > 0 {
            found.notes.push(format!(
                "{}: {left} cards beyond {} are pinned or protected and stay",
                budget.origin, budget.max_cards
            ));
        }
        Ok(())
    }
}

fn days(duration: crate::time::Duration) -> f64 {
    duration.as_micros() as f64 / 86_400_000_000.0
}

/// Identifies what a plan says: the instant, and per tenant its name and items.
pub(crate) fn digest<'a>(
    made_at: Timestamp,
    parts: impl Iterator<Item = (&'a str, &'a [PlanItem])>,
) -> Result<String> {
    let mut bytes = made_at.as_micros().to_le_bytes().to_vec();
    for (tenant, items) in parts {
        bytes.extend_from_slice(&(tenant.len() as u64).to_le_bytes());
        bytes.extend_from_slice(tenant.as_bytes());
        let json =
            serde_json::to_vec(items).map_err(|e| crate::Error::Internal(format!("encoding a plan: {e}")))?;
        bytes.extend_from_slice(&json);
    }
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}

/// The number of a plan: the same for the same plan of the same scope.
pub(crate) fn plan_id(digest: &str, scope: &str) -> PlanId {
    PlanId(xxh3_64(format!("{digest}\0{scope}").as_bytes()))
}

/// Counts items.
pub(crate) fn count(totals: &mut Totals, items: &[PlanItem]) {
    for item in items {
        totals.items += 1;
        *totals.actions.entry(item.action.name().to_owned()).or_default() += 1;
        *totals.rules.entry(item.rule.clone()).or_default() += 1;
    }
}
