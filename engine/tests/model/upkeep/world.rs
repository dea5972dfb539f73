//! Carries steps out on a store and on the model, and compares every answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use memcards::card::{Card, CardId, State};
use memcards::filter::Filter;
use memcards::{
    Action, Apply, Clock, Consolidate, Consolidation, Correct, Count, Duration, Feedback, Forget, History,
    Include, List, MakePlan, ManualClock, Options, Order, PlanId, Planned, Recall, Remember, RunId, Store,
    Tenant, Timestamp, Undo,
};
use serde_json::json;

use super::keep::{Done, Item, Keep, Plan};
use super::policy::{Policies, Policy};
use super::sayings::SAYINGS;
use super::{Step, Told, Wrong};
use crate::forgetting::{copy, plain, whys};
use crate::oracle::draft;
use crate::steps::START;
use crate::world::{EVERYTHING, TENANTS, options};

/// What reads are asked to show.
const LOOKS: [&[Include]; 3] = [&[], &[Include::Archived], &[Include::Archived, Include::Candidates]];

/// A store, its clock, and what the model holds of it.
pub(crate) struct World {
    /// The last one is where the store is.
    directories: Vec<tempfile::TempDir>,
    clock: Arc<ManualClock>,
    options: Options,
    store: Option<Store>,
    keeps: [Keep; 2],
    serial: usize,
    /// How often what took effect.
    pub(crate) seen: BTreeMap<String, u64>,
}

impl World {
    pub(crate) fn new(index_bytes: usize, wrong: Option<Wrong>) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
        let options = Options { index_bytes, ..options(false, 0, clock.clone()) };
        let directories = vec![tempfile::tempdir().unwrap()];
        let store = Store::open(directories[0].path(), options.clone()).unwrap();
        let policies = Policies { store: Policy::first(), tenant: None, wrong };
        store.set_policy(Some(&policies.store.json(Some("manual")))).unwrap();
        TENANTS.iter().for_each(|name| assert!(store.tenant(name).unwrap().create().unwrap()));
        let keep = || Keep { rules: policies.clone(), ..Keep::default() };
        Self {
            directories,
            clock,
            options,
            keeps: [keep(), keep()],
            store: Some(store),
            serial: 0,
            seen: BTreeMap::new(),
        }
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn tenant(&self, t: usize) -> Tenant {
        self.store().tenant(TENANTS[t]).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.directories[self.directories.len() - 1].path().to_owned()
    }

    pub(crate) fn open(&mut self) {
        self.store = None;
        self.store = Some(Store::open(self.path(), self.options.clone()).unwrap());
    }

    fn count(&mut self, what: impl Into<String>, times: usize) {
        *self.seen.entry(what.into()).or_default() += times as u64;
    }

    fn pick(&self, t: usize, index: &proptest::sample::Index) -> CardId {
        let mine: Vec<CardId> = self.keeps[t].cards.keys().copied().collect();
        let at = index.index(mine.len() * 8 + 1);
        if at < mine.len() * 8 { mine[at / 8] } else { CardId::default() }
    }

    pub(crate) fn run(&mut self, step: &Step) {
        let now = self.clock.now();
        match step {
            Step::Tell(t, told) => self.tell(*t, told),
            Step::Pin(t, index, pinned) => {
                let id = self.pick(*t, index);
                let told = self.keeps[*t].edit(id, |card| card.pinned = *pinned, now);
                let request = Correct { id, pinned: Some(*pinned), ..Correct::default() };
                let answer = self.tenant(*t).correct(request).map(|_| ()).map_err(|error| error.code());
                assert_eq!(answer, told);
                self.count("pinned", usize::from(told.is_ok()));
            }
            Step::FeedBack(t, index, used) => {
                let id = self.pick(*t, index);
                let told = self.keeps[*t].feed_back(id, *used, now);
                let (used, rejected) = if *used { (vec![id], vec![]) } else { (vec![], vec![id]) };
                let answer = self.tenant(*t).feedback(Feedback { used, rejected, ..Feedback::default() });
                assert_eq!(answer.map(|done| done.affected[0].change).map_err(|error| error.code()), told);
                self.count(format!("feedback {}", told.unwrap_or_else(|code| code)), 1);
            }
            Step::Forget(t, indexes) => {
                let ids: Vec<CardId> = indexes.iter().map(|index| self.pick(*t, index)).collect();
                let (told, runs) = (self.keeps[*t].forget(&ids, now), self.keeps[*t].runs.len());
                let answer = self.tenant(*t).forget(Forget { ids, ..Forget::default() });
                if let (Ok((forgotten, _)), Ok(answer)) = (&told, &answer) {
                    assert_eq!(answer.run.is_some(), !forgotten.is_empty());
                    if let Some(run) = answer.run {
                        self.keeps[*t].runs[runs - 1].id = run;
                    }
                    self.count("forgotten by name", forgotten.len());
                }
                compare_done(answer.map(|answer| (answer.forgotten, answer.skipped)), told);
            }
            Step::Policy(t, policy) => {
                self.tenant(*t).set_policy(policy.as_ref().map(|policy| policy.json(None)).as_ref()).unwrap();
                self.keeps[*t].rules.tenant = policy.clone();
            }
            Step::StorePolicy(policy) => {
                self.store().set_policy(Some(&policy.json(Some("manual")))).unwrap();
                self.keeps.iter_mut().for_each(|keep| keep.rules.store = policy.clone());
            }
            Step::Plan(t, wanted, at_once) => {
                let request = MakePlan { rules: wanted.clone(), consent: true, ..MakePlan::default() };
                let planned = self.tenant(*t).plan(&request).unwrap();
                let (items, looked) = self.keeps[*t].plan(wanted, now);
                let plan = planned.plan;
                self.planned(*t, planned, items, looked);
                if *at_once {
                    self.apply(*t, plan);
                }
            }
            Step::Apply(t, index) => {
                let plans: Vec<PlanId> = self.keeps[*t].plans.iter().map(|plan| plan.id).collect();
                let one = match index {
                    Some(index) if !plans.is_empty() => Some(*index.get(&plans)),
                    _ => {
                        let waits = |plan: &&Plan| plan.run.is_none() && !plan.items.is_empty();
                        self.keeps[*t].plans.iter().rfind(waits).map(|plan| plan.id)
                    }
                };
                if let Some(plan) = one {
                    self.apply(*t, plan);
                }
            }
            Step::Undo(t, index) => {
                let runs: Vec<RunId> = self.keeps[*t].runs.iter().map(|run| run.id).collect();
                let one = match index {
                    Some(index) if !runs.is_empty() => Some(*index.get(&runs)),
                    _ => self.keeps[*t].runs.iter().rfind(|run| !run.undone).map(|run| run.id),
                };
                if let Some(run) = one {
                    self.undo(*t, run);
                }
            }
            Step::Consolidate(t, rules, dry_run) => self.consolidate(*t, rules, *dry_run),
            Step::Ask(t, archived) => self.ask(*t, *archived),
            Step::Pass(hours) => {
                // Never twice the same instant for two plans that find different cards.
                self.clock.set(now.plus(Duration::from_micros(hours * 3_600_000_000 + 1))).unwrap();
            }
            Step::Freeze => {
                let frozen = self.store().freeze(None, Some(1)).unwrap();
                let before: usize = self.keeps.iter().map(|keep| keep.cold.len()).sum();
                for keep in &mut self.keeps {
                    let archived: Vec<CardId> =
                        keep.all().filter(|card| card.state == State::Archived).map(|card| card.id).collect();
                    keep.cold.extend(archived);
                }
                let after: usize = self.keeps.iter().map(|keep| keep.cold.len()).sum();
                assert_eq!(frozen.cards as usize, after - before);
                self.count("frozen", after - before);
            }
            Step::Compact => drop(self.store().compact(|_| {}).unwrap()),
            Step::Checkpoint => drop(self.store().checkpoint().unwrap()),
            Step::Reopen => self.open(),
            Step::Crash => {
                let next = tempfile::tempdir().unwrap();
                copy(&self.path(), next.path());
                self.directories.push(next);
                self.open();
            }
        }
    }

    fn tell(&mut self, t: usize, told: &Told) {
        let now = self.clock.now();
        self.serial += 1;
        let name = format!("told{}", self.serial);
        let request = Remember {
            content: SAYINGS[told.saying].text.into(),
            track: Some(told.track),
            category: Some(name.clone()),
            entities: vec![name],
            tags: told.tag.map(str::to_owned).into_iter().collect(),
            session: told.session.map(str::to_owned),
            speaker: told.speaker.map(str::to_owned),
            role: told.role,
            polarity: Some(told.polarity),
            confidence: told.confidence,
            importance: told.importance,
            ttl: told.ttl.map(Duration::from_hours),
            pinned: told.pinned,
            ..Remember::default()
        };
        let answer = self.tenant(t).remember(request.clone()).unwrap();
        assert_eq!(answer.affected.len(), 1, "it is compared with nothing: {answer:?}");
        let keep = &mut self.keeps[t];
        keep.add(Card { id: answer.id, vector_version: 1, ..draft(&request, now) });
        let entities: Vec<String> = told.entities.iter().map(|name| (*name).to_owned()).collect();
        let category = told.category.to_owned();
        let put_right =
            |card: &mut Card| (card.category, card.entities) = (category.clone(), entities.clone());
        let edited = keep.edit(answer.id, put_right, now);
        let request = Correct {
            id: answer.id,
            category: Some(category.clone()),
            entities: Some(entities.clone()),
            ..Correct::default()
        };
        let answer = self.tenant(t).correct(request).map(|_| ()).map_err(|error| error.code());
        assert_eq!(answer, edited);
        self.count("told", 1);
    }

    /// Compares a plan with what the model finds, and keeps it.
    fn planned(&mut self, t: usize, planned: Planned, items: Vec<Item>, looked: Option<usize>) {
        let now = self.clock.now();
        type Line = (Action, CardId, u32, String, Option<CardId>, Option<u64>);
        let found: Vec<Line> = planned
            .items
            .iter()
            .map(|planned| &planned.item)
            .map(|item| (item.action, item.id, item.version, item.rule.clone(), item.into, item.figures.rank))
            .collect();
        let line = |item: &Item| -> Line {
            let into = item.into.as_ref().map(|card| card.id);
            let rank = item.over.as_ref().map(|over| over.rank);
            (item.action, item.card.id, item.card.version, item.rule.clone(), into, rank)
        };
        assert_eq!(found, items.iter().map(line).collect::<Vec<_>>());
        for (planned, item) in planned.items.iter().zip(&items) {
            let expected = self.keeps[t].rules.confidence(&item.card, now);
            assert!((planned.item.figures.confidence_now - expected).abs() < 1e-9);
            self.count(format!("planned {}", kind(item)), 1);
        }
        self.keeps[t].keep(planned.plan, items, looked, now);
        let run = self.keeps[t].plans.iter().find(|plan| plan.id == planned.plan).and_then(|plan| plan.run);
        assert_eq!(planned.run, run);
    }

    /// The cards that the store has and the model has not, in the order of their making.
    fn made(&self, t: usize) -> Vec<Card> {
        let known = &self.keeps[t].cards;
        self.list(t, &EVERYTHING).into_iter().filter(|card| !known.contains_key(&card.id)).collect()
    }

    fn apply(&mut self, t: usize, plan: PlanId) {
        let now = self.clock.now();
        let answer = self.tenant(t).apply(Apply { plan: Some(plan), ..Apply::default() });
        // Its number is the store's to give; the model needs it for the reasons of cards.
        let run = answer.as_ref().map_or_else(|_| "run-0000000000000000".parse().unwrap(), |done| done.run);
        let made = self.made(t);
        let kinds: BTreeMap<CardId, String> = self.keeps[t]
            .plans
            .iter()
            .filter(|known| known.id == plan)
            .flat_map(|plan| plan.items.iter().map(|item| (item.card.id, kind(item))))
            .collect();
        match (self.keeps[t].apply(plan, run, "policy", &made, now), answer) {
            (Ok(((applied, skipped), repeated)), Ok(answer)) => {
                assert_eq!((&answer.applied, answer.repeated, answer.complete), (&applied, repeated, true));
                assert_eq!(whys(&answer.skipped), skipped);
                applied
                    .iter()
                    .for_each(|id| self.count(format!("applied {}", kinds[id]), usize::from(!repeated)));
                skipped
                    .iter()
                    .for_each(|(_, why)| self.count(format!("skipped {why}"), usize::from(!repeated)));
                self.count("repeated", usize::from(repeated));
            }
            (told, answer) => {
                let code = told.as_ref().err().copied().unwrap_or("done");
                assert_eq!(answer.map(|_| ()).map_err(|e| e.code()), told.map(|_| ()));
                self.count(format!("refused {code}"), 1);
            }
        }
    }

    fn consolidate(&mut self, t: usize, rules: &[Consolidation], dry_run: bool) {
        let now = self.clock.now();
        let request = Consolidate { rules: rules.to_vec(), dry_run, consent: true, ..Consolidate::default() };
        let items = self.keeps[t].consolidations(rules, now);
        let refused = self.keeps[t].rules.is_off() && !dry_run && !items.is_empty();
        let answer = self.tenant(t).consolidate(request);
        if refused {
            assert_eq!(answer.unwrap_err().code(), "unavailable");
            // The plan stands all the same, and nobody has told its number.
            let known: Vec<PlanId> = self.keeps[t].plans.iter().map(|plan| plan.id).collect();
            let all = self.tenant(t).plans().unwrap();
            let new = all.iter().filter_map(|known| known.plan).find(|id| !known.contains(id));
            new.into_iter().for_each(|id| self.keeps[t].keep(id, items.clone(), None, now));
            return;
        }
        let answer = answer.unwrap();
        let carried_out = !dry_run && !items.is_empty();
        let (plan, run) = (answer.planned.plan, answer.planned.run);
        // A plan that the same cards gave at the same instant may have been carried out before.
        let again = self.keeps[t].plans.iter().any(|known| known.id == plan && known.run.is_some());
        assert_eq!(run.is_some(), carried_out || again);
        let planned = Planned { run: run.filter(|_| again), ..answer.planned };
        self.planned(t, planned, items, None);
        if let (true, Some(run)) = (carried_out, run) {
            let made = self.made(t);
            let ((applied, skipped), _) =
                self.keeps[t].apply(plan, run, "consolidation", &made, now).unwrap();
            let done = answer.done.unwrap();
            assert_eq!((done.applied, done.skipped), (applied.len() as u64, skipped.len() as u64));
            self.count("summed up", made.len());
            self.count("brought up to date", applied.len() - made.len());
        } else {
            assert_eq!(answer.done, None);
        }
    }

    fn undo(&mut self, t: usize, run: RunId) {
        let now = self.clock.now();
        let answer = self.tenant(t).undo(Undo { run: Some(run), ..Undo::default() });
        let told = self.keeps[t].undo(run, now);
        if let Ok((restored, skipped)) = &told {
            self.count("undone", restored.len());
            self.count("not undone", skipped.len());
        }
        compare_done(answer.map(|answer| (answer.restored, answer.skipped)), told);
    }

    /// What a view of the present shows, by the model.
    fn shown(&self, t: usize, include: &[Include]) -> Vec<Card> {
        let (keep, now) = (&self.keeps[t], self.clock.now());
        let wants =
            |state: State| state == State::Active || include.iter().any(|include| include.state() == state);
        let is_shown =
            |card: &&Card| wants(keep.rules.state(card, now)) && !keep.rules.has_expired(card, now);
        keep.all().filter(is_shown).cloned().collect()
    }

    fn list(&self, t: usize, include: &[Include]) -> Vec<Card> {
        let request = List {
            order: Order::OldestFirst,
            limit: Some(1000),
            include: include.to_vec(),
            ..List::default()
        };
        self.tenant(t).list(&request).unwrap().cards.iter().map(|card| plain(&card.card)).collect()
    }

    /// With a filter everything that a view shows is an answer, or withheld since it recommends
    /// what is ruled out.
    fn ask(&mut self, t: usize, archived: bool) {
        let include = if archived { vec![Include::Archived] } else { vec![] };
        let filter = Filter::parse(&json!({ "field": "version", "gte": 1 })).unwrap();
        let request = Recall {
            query: Some("tea key port 绿茶".into()),
            top: Some(1000),
            filter: Some(filter),
            include: include.clone(),
            ..Recall::default()
        };
        let answer = self.tenant(t).recall(request).unwrap();
        let mut found: Vec<CardId> = answer.hits.iter().map(|hit| hit.card.id).collect();
        found.extend(answer.withheld.iter().map(|withheld| withheld.id));
        found.sort();
        let expected: Vec<CardId> = self.shown(t, &include).iter().map(|card| card.id).collect();
        assert_eq!(found, expected);
        self.count("found", found.len());
    }

    /// What reads show of each tenant now.
    pub(crate) fn compare(&mut self) {
        let now = self.clock.now();
        for t in 0..TENANTS.len() {
            let (tenant, keep) = (self.tenant(t), &self.keeps[t]);
            assert_eq!(self.list(t, &EVERYTHING), self.shown(t, &EVERYTHING));
            for include in LOOKS {
                let ids = |cards: Vec<Card>| cards.iter().map(|card| card.id).collect::<Vec<_>>();
                let expected = self.shown(t, include);
                assert_eq!(ids(self.list(t, include)), ids(expected.clone()), "{include:?}");
                let least = 0.5f32;
                let sure =
                    expected.iter().filter(|card| keep.rules.confidence(card, now) >= f64::from(least));
                let request =
                    Count { include: include.to_vec(), min_confidence: Some(least), ..Count::default() };
                assert_eq!(tenant.count(&request).unwrap(), sure.count() as u64);
            }
            let request = List { limit: Some(1000), include: EVERYTHING.to_vec(), ..List::default() };
            for view in tenant.list(&request).unwrap().cards {
                let found = (view.effective_confidence, view.effective_importance);
                let expected =
                    (keep.rules.confidence(&view.card, now), keep.rules.importance(&view.card, now));
                assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9);
            }
            let mut states: BTreeMap<&str, u64> = BTreeMap::new();
            for card in keep.all() {
                let state = keep.rules.state(card, now);
                let name = match () {
                    () if keep.rules.has_expired(card, now) => "expired",
                    () if state != card.state => "faded",
                    () => state.name(),
                };
                *states.entry(name).or_default() += 1;
            }
            assert_eq!(tenant.statistics().unwrap().states, states);
            let (expired, faded) = (states.get("expired").copied(), states.get("faded").copied());
            self.count("seen expired", expired.unwrap_or(0) as usize);
            self.count("seen faded", faded.unwrap_or(0) as usize);
        }
    }

    /// Everything, versions, plans and runs included.
    pub(crate) fn compare_all(&mut self) {
        self.compare();
        let now = self.clock.now();
        for (t, keep) in self.keeps.iter().enumerate() {
            let tenant = self.tenant(t);
            for (id, versions) in &keep.cards {
                let hidden = keep.rules.has_expired(&versions[versions.len() - 1], now);
                let found = tenant.history(&History { id: *id }).ok();
                let found: Option<Vec<Card>> = found.map(|all| {
                    all.versions.iter().map(|v| plain(&v.card.card)).filter(|card| card.id == *id).collect()
                });
                assert_eq!(found.as_ref(), Some(versions).filter(|_| !hidden));
            }
            let plans = keep.plans.iter().map(|plan| (Some(plan.id), plan.run));
            let of_plan = |run: RunId| keep.plans.iter().any(|plan| plan.run == Some(run));
            let alone = keep.runs.iter().filter(|run| !of_plan(run.id)).map(|run| (None, Some(run.id)));
            let undone =
                |run: Option<RunId>| keep.runs.iter().any(|known| Some(known.id) == run && known.undone);
            let expected: BTreeSet<_> =
                plans.chain(alone).map(|(plan, run)| (plan, run, undone(run))).collect();
            let found: BTreeSet<_> = tenant
                .plans()
                .unwrap()
                .iter()
                .map(|known| (known.plan, known.run, known.status == "undone"))
                .collect();
            assert_eq!(found, expected);
        }
        let cold: usize = self.keeps.iter().map(|keep| keep.cold.len()).sum();
        assert_eq!(self.store().cold_statistics().unwrap().cards, cold as u64);
        let report = self.store().verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}

/// What a plan does, and why.
fn kind(item: &Item) -> String {
    format!("{}, {}", item.action, item.rule.split(" (").next().unwrap_or_default())
}

fn compare_done(
    answer: memcards::Result<(Vec<CardId>, Vec<memcards::Skipped>)>,
    told: Result<Done, &'static str>,
) {
    match (told, answer) {
        (Ok((changed, skipped)), Ok(answer)) => {
            assert_eq!(answer.0, changed);
            assert_eq!(whys(&answer.1), skipped);
        }
        (told, answer) => assert_eq!(answer.map(|_| ()).map_err(|e| e.code()), told.map(|_| ())),
    }
}
