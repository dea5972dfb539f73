//! Looking ahead and looking around: playing a policy over the cards there are, and how many
//! cards lie in which state for how long. Nothing is changed here.

use std::collections::BTreeMap;

use crate::card::{CardId, State};
use crate::engine::forgetting::Scope;
use crate::engine::policy::{describe, read_policy};
use crate::engine::{Store, Tenant};
use crate::forget::due::{RuleBook, life};
use crate::forget::resolve::Policies;
use crate::forget::rules::policies_of;
use crate::forget::simulate::{Counts, Day, Scenario, SimulatedCard, Simulation, Use, simulate};
use crate::store::TenantId;
use crate::store::io::{OpenMode, at};
use crate::time::Timestamp;
use crate::verbs::{AgeBand, Purges, Simulate, Simulated, StateAges, TenantTiers, Tiers, UseOfCard};
use crate::{Error, Result};

/// Points of a simulation that the verb answers at most.
const POINTS: usize = 366;
/// Upper ends of the bands of age, in days.
const BANDS: [u32; 5] = [1, 7, 30, 90, 365];

impl Simulated {
    /// The same with so few points that an answer can hold them: the first, the last, and others
    /// at equal distances.
    pub(crate) fn thinned(mut self) -> Self {
        let days = &mut self.simulation.days;
        let last = days.len().saturating_sub(1);
        let step = last.div_ceil(POINTS - 1).max(1);
        let mut place = 0;
        days.retain(|_| {
            place += 1;
            (place - 1) % step == 0 || place - 1 == last
        });
        self
    }
}

fn simulated(scope: Scope<'_>, request: &Simulate) -> Result<Simulated> {
    let (store, start) = (scope.store(), scope.now());
    if matches!(scope, Scope::Store(_)) && !request.uses.is_empty() {
        return Err(Error::invalid("uses", "name a tenant: a card belongs to one"));
    }
    let given = request.policy.as_ref().map(read_policy).transpose()?;
    let mut answer = Simulated {
        start,
        tenants: 0,
        cards: 0,
        policy: String::new(),
        simulation: Simulation { categories: vec![], days: vec![] },
    };
    let mut described = None;
    let mut all = Vec::new();
    let tenants = scope.tenants(&request.tenants)?;
    if tenants.is_empty() {
        // For its checks, and a chart without cards.
        all.push(simulate(&Policies::default(), &[], &scenario(request, start, vec![]))?);
    }
    for (id, _) in tenants {
        let mut policies = policies_of(&store.database().read()?, id)?;
        if let Some(policy) = &given {
            policies = Policies { store: Some(policy.clone()), tenant: None };
        }
        described.get_or_insert_with(|| describe(&policies, given.is_some()));
        let (ids, cards) = collect(store, id)?;
        let uses = request.uses.iter().map(|used| place(used, &ids)).collect::<Result<Vec<_>>>()?;
        all.push(simulate(&policies, &cards, &scenario(request, start, uses))?);
        answer.tenants += 1;
        answer.cards += cards.len() as u64;
    }
    answer.policy = described.unwrap_or_else(|| describe(&Policies::default(), false));
    answer.simulation = sum(&all);
    Ok(answer)
}

fn scenario(request: &Simulate, start: Timestamp, uses: Vec<Use>) -> Scenario {
    Scenario { start, days: request.days, every: request.every, uses }
}

/// A use by the place of its card.
fn place(used: &UseOfCard, ids: &[CardId]) -> Result<Use> {
    let index =
        ids.binary_search(&used.id).map_err(|_| Error::NotFound { what: format!("card {}", used.id) })?;
    Ok(Use { day: used.day, index })
}

/// The cards of a tenant, in every state, as they can be played with.
fn collect(store: &Store, tenant: TenantId) -> Result<(Vec<CardId>, Vec<SimulatedCard>)> {
    let tables = store.database().read()?;
    let (mut ids, mut cards) = (Vec::new(), Vec::new());
    // In order of their identifiers.
    for card in tables.outlines(tenant, None)? {
        let card = card?;
        ids.push(card.id);
        cards.push(SimulatedCard { life: life(&card), track: card.track, category: card.category });
    }
    Ok((ids, cards))
}

/// Several simulations of the same days as one.
fn sum(all: &[Simulation]) -> Simulation {
    let mut places: BTreeMap<&str, usize> =
        all.iter().flat_map(|one| &one.categories).map(|name| (name.as_str(), 0)).collect();
    places.values_mut().enumerate().for_each(|(place, value)| *value = place);
    let mut days: Vec<Day> = Vec::new();
    for one in all {
        for (number, day) in one.days.iter().enumerate() {
            if number == days.len() {
                days.push(Day {
                    counts: vec![Counts::default(); places.len()],
                    rewarmed: 0,
                    missed: 0,
                    waiting: 0,
                    ..day.clone()
                });
            }
            let whole = &mut days[number];
            whole.rewarmed += day.rewarmed;
            whole.missed += day.missed;
            whole.waiting += day.waiting;
            for (name, counts) in one.categories.iter().zip(&day.counts) {
                let sum = &mut whole.counts[places[name.as_str()]];
                sum.active += counts.active;
                sum.cold += counts.cold;
                sum.gone += counts.gone;
            }
        }
    }
    Simulation { categories: places.into_keys().map(str::to_owned).collect(), days }
}

fn tiers(scope: Scope<'_>) -> Result<Tiers> {
    let (store, now) = (scope.store(), scope.now());
    let tenants = scope
        .tenants(&[])?
        .into_iter()
        .map(|(id, name)| tiers_of(store, id, name, now))
        .collect::<Result<Vec<_>>>()?;
    let files = match scope {
        Scope::Store(store) => files(store)?,
        Scope::Tenant(_) => BTreeMap::new(),
    };
    Ok(Tiers { at: now, tenants, files })
}

fn tiers_of(store: &Store, id: TenantId, tenant: String, now: Timestamp) -> Result<TenantTiers> {
    let tables = store.database().read()?;
    let policies = policies_of(&tables, id)?;
    let mut book = RuleBook::new(&policies);
    let bands = || {
        let ends = BANDS.map(Some).into_iter().chain([None]);
        ends.map(|below_days| AgeBand { below_days, cards: 0 }).collect::<Vec<_>>()
    };
    let mut states: Vec<StateAges> =
        State::ALL.iter().map(|state| StateAges { state: state.name(), cards: 0, ages: bands() }).collect();
    let (mut expired, mut purges) = (0, Purges::default());
    for card in tables.outlines(id, None)? {
        let card = card?;
        let (rule, life) = (book.of(&card), life(&card));
        let mut since = card.reference();
        if card.state == State::Forgotten {
            since = card.updated_at;
            match life.purges(rule) {
                Some(at) if at <= now => purges.due += 1,
                Some(at) => {
                    purges.later += 1;
                    purges.next = Some(purges.next.map_or(at, |next| next.min(at)));
                }
                None => purges.never += 1,
            }
        } else if life.expires(rule).is_some_and(|at| at <= now) {
            expired += 1;
        }
        let age = now.hours_since(since) / 24.0;
        if let Some(state) = states.iter_mut().find(|state| state.state == card.state.name()) {
            state.cards += 1;
            let younger = |band: &&mut AgeBand| band.below_days.is_none_or(|days| age < f64::from(days));
            if let Some(band) = state.ages.iter_mut().find(younger) {
                band.cards += 1;
            }
        }
    }
    Ok(TenantTiers { tenant, states, expired, purges })
}

/// Bytes of everything in the directory of the store, by name.
fn files(store: &Store) -> Result<BTreeMap<String, u64>> {
    let (io, directory) = (store.database().io(), store.database().directory());
    let mut files = BTreeMap::new();
    let mut open: Vec<std::path::PathBuf> = at(directory, io.list(directory))?;
    while let Some(path) = open.pop() {
        // What can be listed is a directory; what is gone meanwhile has no bytes.
        let bytes = match io.list(&path) {
            Ok(inside) => {
                open.extend(inside);
                0
            }
            Err(_) => io.open(&path, OpenMode::Read).and_then(|file| file.len()).unwrap_or(0),
        };
        let within = path.strip_prefix(directory).unwrap_or(&path);
        let name = within.components().next().map(|name| name.as_os_str().to_string_lossy().into_owned());
        *files.entry(name.unwrap_or_default()).or_default() += bytes;
    }
    Ok(files)
}

impl Tenant {
    /// Plays a policy over the tenant's cards on a virtual clock that starts now: what would be
    /// active, cold and gone on each day. Changes nothing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] names the field; [`Error::NotFound`] for a used card that is
    /// not there.
    pub fn simulate(&self, request: &Simulate) -> Result<Simulated> {
        simulated(Scope::Tenant(self), request)
    }

    /// How many of the tenant's cards are in which state, and for how long.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tiers(&self) -> Result<Tiers> {
        tiers(Scope::Tenant(self))
    }
}

impl Store {
    /// Plays a policy over the cards of all tenants, or of those named, each within its own
    /// limits and budgets; see [`Tenant::simulate`]. An administrator's view.
    ///
    /// # Errors
    /// As [`Tenant::simulate`]; [`Error::NotFound`] for a tenant that is not there.
    pub fn simulate(&self, request: &Simulate) -> Result<Simulated> {
        simulated(Scope::Store(self), request)
    }

    /// How many cards of every tenant are in which state, and the sizes of the store's files.
    /// An administrator's view.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tiers(&self) -> Result<Tiers> {
        tiers(Scope::Store(self))
    }
}

#[cfg(test)]
#[path = "simulation_tests.rs"]
mod tests;
