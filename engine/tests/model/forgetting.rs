//! Forgetting, store against model: plans that are carried out later and taken back, feedback,
//! policies, erasure, wipes, the cold tier; amid checkpoints, evictions, compactions, reopening
//! and crashes. `PROPTEST_CASES` says how many sequences, `MEMCARDS_STEPS` how long at most.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::card::{Card, CardId, State, Track};
use memcards::filter::Filter;
use memcards::{
    Action, Apply, Clock, Correct, Duration, Feedback, Forget, History, List, MakePlan, ManualClock, Options,
    Order, PlanId, Recall, Remember, Restore, RunId, Skipped, Store, Tenant, Timestamp, Undo, Wipe,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

use crate::lives::{Item, Lives};
use crate::numbers::from_environment;
use crate::oracle::draft;
use crate::sequences::cases;
use crate::steps::START;
use crate::world::{EVERYTHING, TENANTS, options};

/// How a card is told: of whom, with which tag, for how long, how surely, pinned or not.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    entity: Option<&'static str>,
    tag: Option<&'static str>,
    ttl: Option<i64>,
    confidence: Option<f32>,
    pinned: bool,
}

/// A call, or what happens to the store; cards, plans and runs by their place in what is there.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Tell(usize, Told),
    TellErased(usize, Index),
    Edit(usize, Index, &'static str),
    FeedBack(usize, Index, bool),
    Forget(usize, Vec<Index>, bool),
    ForgetTagged(usize, bool),
    ForgetAbout(usize, &'static str, bool),
    Restore(usize, Vec<Index>),
    Plan(usize, Action, i64),
    Apply(usize, Index),
    Undo(usize, Index, bool),
    Switch(usize, bool),
    Wipe(usize, bool),
    Ask(usize, Index),
    Pass(i64),
    Freeze,
    Compact,
    Checkpoint,
    Reopen,
    /// Goes on with a copy of the directory, as it was while the store was open.
    Crash,
}

fn step() -> BoxedStrategy<Step> {
    let t = || 0..2usize;
    let index = any::<Index>;
    let maybe = |weight, hours: Vec<i64>| prop::option::weighted(weight, select(hours));
    let told = (
        prop::option::weighted(0.4, select(vec!["Ada", "Boris"])),
        prop::option::weighted(0.4, select(vec!["a", "b"])),
        maybe(0.3, vec![1, 5, 40]),
        prop::option::weighted(0.3, select(vec![0.5f32, 0.85, 1.0])),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(entity, tag, ttl, confidence, pinned)| Told { entity, tag, ttl, confidence, pinned });
    let plan =
        select(vec![(Action::Archive, 3), (Action::Archive, 0), (Action::Expire, 0), (Action::Purge, 2)]);
    prop_oneof![
        10 => (t(), told).prop_map(|(t, told)| Step::Tell(t, told)),
        1 => (t(), index()).prop_map(|(t, i)| Step::TellErased(t, i)),
        2 => (t(), index(), select(vec!["a", "b", "c"])).prop_map(|(t, i, tag)| Step::Edit(t, i, tag)),
        4 => (t(), index(), prop::bool::weighted(0.7)).prop_map(|(t, i, used)| Step::FeedBack(t, i, used)),
        3 => (t(), prop::collection::vec(index(), 1..4), prop::bool::weighted(0.2))
            .prop_map(|(t, ids, dry)| Step::Forget(t, ids, dry)),
        1 => (t(), prop::bool::weighted(0.3)).prop_map(|(t, dry)| Step::ForgetTagged(t, dry)),
        1 => (t(), select(vec!["Ada", "boris"]), prop::bool::weighted(0.3))
            .prop_map(|(t, name, dry)| Step::ForgetAbout(t, name, dry)),
        2 => (t(), prop::collection::vec(index(), 1..4)).prop_map(|(t, ids)| Step::Restore(t, ids)),
        6 => (t(), plan).prop_map(|(t, (action, hours))| Step::Plan(t, action, hours)),
        6 => (t(), index()).prop_map(|(t, i)| Step::Apply(t, i)),
        3 => (t(), index(), any::<bool>()).prop_map(|(t, i, by)| Step::Undo(t, i, by)),
        1 => (t(), prop::bool::weighted(0.3)).prop_map(|(t, off)| Step::Switch(t, off)),
        1 => (t(), any::<bool>()).prop_map(|(t, create)| Step::Wipe(t, create)),
        2 => (t(), index()).prop_map(|(t, i)| Step::Ask(t, i)),
        6 => select(vec![0i64, 1, 2, 4, 30, 24 * 31]).prop_map(Step::Pass),
        3 => Just(Step::Freeze),
        1 => Just(Step::Compact),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ]
    .boxed()
}

/// A sequence of steps.
pub(crate) fn steps(most: usize) -> BoxedStrategy<Vec<Step>> {
    prop::collection::vec(step(), 1..most).boxed()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            // A file may go while others are copied.
            false => drop(std::fs::copy(from, to)),
        }
    }
}

fn nobody() -> CardId {
    CardId::default()
}

fn request(content: String, occurred_at: Timestamp, told: &Told) -> Remember {
    let list = |name: Option<&str>| name.map(str::to_owned).into_iter().collect();
    Remember {
        content,
        track: Some(Track::Episodic),
        occurred_at: Some(occurred_at),
        entities: list(told.entity),
        tags: list(told.tag),
        ttl: told.ttl.map(Duration::from_hours),
        confidence: told.confidence,
        pinned: told.pinned,
        ..Remember::default()
    }
}

/// A store, its clock, and what the model holds of it.
pub(crate) struct World {
    /// The last one is where the store is.
    directories: Vec<tempfile::TempDir>,
    clock: Arc<ManualClock>,
    options: Options,
    store: Option<Store>,
    lives: [Lives; 2],
    /// Cards that there are or were, by tenant.
    known: [Vec<CardId>; 2],
    serial: usize,
}

impl World {
    pub(crate) fn new(index_bytes: usize) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
        let options = Options { index_bytes, ..options(false, 0, clock.clone()) };
        let directories = vec![tempfile::tempdir().unwrap()];
        let store = Some(Store::open(directories[0].path(), options.clone()).unwrap());
        Self {
            directories,
            clock,
            options,
            store,
            lives: Default::default(),
            known: Default::default(),
            serial: 0,
        }
    }

    pub(crate) fn store(&self) -> &Store {
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

    /// A card of the tenant, present or gone, of the other one, or of nobody.
    fn pick(&self, t: usize, index: &Index) -> CardId {
        let mine = &self.known[t];
        let at = index.index(mine.len() * 8 + 2);
        match at.checked_sub(mine.len() * 8) {
            None => mine[at / 8],
            Some(0) => self.known[1 - t].first().copied().unwrap_or_else(nobody),
            Some(_) => nobody(),
        }
    }

    fn tell(&mut self, t: usize, request: Remember) {
        let now = self.clock.now();
        let answer = self.tenant(t).remember(request.clone());
        if self.lives[t].refuses(&request.content, request.occurred_at.unwrap()) {
            assert_eq!(answer.unwrap_err().code(), "conflict", "{request:?}");
            return;
        }
        let id = answer.unwrap().id;
        let card = Card { id, vector_version: 1, ..draft(&request, now) };
        self.known[t].push(id);
        self.lives[t].tell(card);
    }

    pub(crate) fn run(&mut self, step: &Step) {
        let now = self.clock.now();
        match step {
            Step::Tell(t, told) => {
                self.serial += 1;
                let content = format!("Entry part{}x of the log", self.serial);
                self.tell(*t, request(content, now, told));
            }
            Step::TellErased(t, index) => {
                let purged = &self.lives[*t].purged;
                if purged.is_empty() {
                    return;
                }
                let (content, at) = index.get(purged).clone();
                // One that is there is the same telling.
                if self.lives[*t].cards.values().all(|versions| versions[0].content != content) {
                    let told = Told { entity: None, tag: None, ttl: None, confidence: None, pinned: false };
                    self.tell(*t, request(content, at, &told));
                }
            }
            Step::Edit(t, index, tag) => {
                let (id, tags) = (self.pick(*t, index), vec![(*tag).to_owned()]);
                let told = self.lives[*t].edit(id, tags.clone(), now);
                let answer = self.tenant(*t).correct(Correct { id, tags: Some(tags), ..Correct::default() });
                assert_eq!(answer.map(|_| ()).map_err(|error| error.code()), told);
            }
            Step::FeedBack(t, index, used) => {
                let id = self.pick(*t, index);
                let told = self.lives[*t].feed_back(id, *used, now);
                let (used, rejected) = if *used { (vec![id], vec![]) } else { (vec![], vec![id]) };
                let answer = self.tenant(*t).feedback(Feedback { used, rejected, ..Feedback::default() });
                assert_eq!(answer.map(|done| done.affected[0].change).map_err(|error| error.code()), told);
            }
            Step::Forget(t, indexes, dry_run) => {
                let ids: Vec<CardId> = indexes.iter().map(|index| self.pick(*t, index)).collect();
                self.forget(
                    *t,
                    &ids,
                    false,
                    Forget { ids: ids.clone(), dry_run: *dry_run, ..Forget::default() },
                );
            }
            Step::ForgetTagged(t, dry_run) => {
                let filter = Filter::parse(&json!({ "field": "tags", "contains": "a" })).unwrap();
                let ids = self.lives[*t].found(|card| card.tags.iter().any(|tag| tag == "a"));
                let request = Forget { filter: Some(filter), dry_run: *dry_run, ..Forget::default() };
                self.forget(*t, &ids, true, request);
            }
            Step::ForgetAbout(t, name, dry_run) => {
                let named =
                    |card: &Card| card.entities.iter().any(|entity| entity.eq_ignore_ascii_case(name));
                let ids = self.lives[*t].found(named);
                let request = Forget { about: Some((*name).into()), dry_run: *dry_run, ..Forget::default() };
                self.forget(*t, &ids, true, request);
            }
            Step::Restore(t, indexes) => {
                let ids: Vec<CardId> = indexes.iter().map(|index| self.pick(*t, index)).collect();
                let answer = self.tenant(*t).restore(Restore { ids: ids.clone(), ..Restore::default() });
                match (self.lives[*t].restore(&ids, now), answer) {
                    (Ok(((restored, skipped), lifted)), Ok(answer)) => {
                        assert_eq!((answer.restored, answer.lifted), (restored, lifted));
                        assert_eq!(whys(&answer.skipped), skipped);
                    }
                    (told, answer) => assert_eq!(answer.map(|_| ()).map_err(|e| e.code()), told.map(|_| ())),
                }
            }
            Step::Plan(t, action, hours) => self.plan(*t, *action, *hours),
            Step::Apply(t, index) => {
                let plans: Vec<PlanId> = self.lives[*t].plans.iter().map(|plan| plan.id).collect();
                let other: Vec<PlanId> =
                    self.lives[1 - *t].plans.iter().map(|plan| plan.id).take(1).collect();
                let all = [plans, other].concat();
                if !all.is_empty() {
                    self.apply(*t, *index.get(&all));
                }
            }
            Step::Undo(t, index, by_restore) => {
                let runs: Vec<RunId> = self.lives[*t].runs.iter().map(|run| run.id).collect();
                let other: Vec<RunId> = self.lives[1 - *t].runs.iter().map(|run| run.id).take(1).collect();
                let all = [runs, other].concat();
                if !all.is_empty() {
                    self.undo(*t, *index.get(&all), *by_restore);
                }
            }
            Step::Switch(t, off) => {
                let policy = json!({ "enabled": false });
                self.tenant(*t).set_policy(Some(&policy).filter(|_| *off)).unwrap();
                self.lives[*t].off = *off;
                self.lives[*t].there |= *off;
            }
            Step::Wipe(t, create) => self.wipe(*t, *create),
            Step::Ask(t, index) => self.ask(*t, index),
            Step::Pass(hours) => {
                // Never twice the same instant for two plans that find different cards.
                self.clock.set(now.plus(Duration::from_micros(hours * 3_600_000_000 + 1))).unwrap();
            }
            Step::Freeze => {
                let frozen = self.store().freeze(None, Some(1)).unwrap();
                let before: usize = self.lives.iter().map(|lives| lives.cold.len()).sum();
                for lives in &mut self.lives {
                    let archived = lives.found(|card| card.state == State::Archived);
                    lives.cold.extend(archived);
                }
                let after: usize = self.lives.iter().map(|lives| lives.cold.len()).sum();
                assert_eq!(frozen.cards as usize, after - before);
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

    fn forget(&mut self, t: usize, ids: &[CardId], chosen: bool, request: Forget) {
        let (now, runs) = (self.clock.now(), self.lives[t].runs.len());
        let told = self.lives[t].forget(ids, chosen, request.dry_run, now);
        match (told, self.tenant(t).forget(request.clone())) {
            (Ok((forgotten, skipped)), Ok(answer)) => {
                assert_eq!((answer.forgotten, answer.dry_run), (forgotten, request.dry_run));
                assert!(answer.detached.is_empty());
                assert_eq!(whys(&answer.skipped), skipped);
                assert_eq!(answer.run.is_some(), self.lives[t].runs.len() > runs);
                if let Some(run) = answer.run {
                    self.lives[t].runs[runs].id = run;
                }
            }
            (told, answer) => assert_eq!(answer.map(|_| ()).map_err(|e| e.code()), told.map(|_| ())),
        }
    }

    fn plan(&mut self, t: usize, action: Action, hours: i64) {
        let (now, span) = (self.clock.now(), format!("{}s", hours * 3600));
        let age = if hours == 0 { "60s".to_owned() } else { span.clone() };
        let after = match action {
            Action::Archive => Duration::from_micros((hours * 3600).max(60) * 1_000_000),
            _ => Duration::from_hours(hours),
        };
        let policy = json!({ "defaults": { "archive_after": age, "fade_below": 0.0, "grace": span } });
        let request =
            MakePlan { policy: Some(policy), rules: vec![action], consent: true, ..MakePlan::default() };
        let planned = self.tenant(t).plan(&request).unwrap();
        let expected = self.lives[t].due(action, after, now);
        let found: Vec<_> =
            planned.items.iter().map(|p| (p.item.id, p.item.version, p.item.action)).collect();
        assert_eq!(found, expected.iter().map(|card| (card.id, card.version, action)).collect::<Vec<_>>());
        let items = expected.into_iter().zip(planned.items);
        let items = items.map(|(card, planned)| Item { card, action, rule: planned.item.rule }).collect();
        self.lives[t].keep(planned.plan, items, now);
        let run = self.lives[t].plans.iter().find(|plan| plan.id == planned.plan).and_then(|plan| plan.run);
        assert_eq!(planned.run, run);
    }

    fn apply(&mut self, t: usize, plan: PlanId) {
        let now = self.clock.now();
        let answer = self.tenant(t).apply(Apply { plan: Some(plan), ..Apply::default() });
        // Its number is the store's to give; the model needs it for the reasons of cards.
        let run = answer.as_ref().map_or_else(|_| "run-0000000000000000".parse().unwrap(), |done| done.run);
        match (self.lives[t].apply(plan, run, now), answer) {
            (Ok(((applied, skipped), repeated)), Ok(answer)) => {
                assert_eq!((&answer.applied, answer.repeated, answer.complete), (&applied, repeated, true));
                assert_eq!(whys(&answer.skipped), skipped);
                assert_eq!(
                    (answer.totals.applied, answer.totals.skipped),
                    (applied.len() as u64, skipped.len() as u64)
                );
            }
            (told, answer) => assert_eq!(answer.map(|_| ()).map_err(|e| e.code()), told.map(|_| ())),
        }
    }

    fn undo(&mut self, t: usize, run: RunId, by_restore: bool) {
        let now = self.clock.now();
        let answer = match by_restore {
            true => {
                let answer = self.tenant(t).restore(Restore { run: Some(run), ..Restore::default() });
                answer.map(|answer| (answer.restored, answer.skipped))
            }
            false => {
                let answer = self.tenant(t).undo(Undo { run: Some(run), ..Undo::default() });
                answer.map(|answer| (answer.restored, answer.skipped))
            }
        };
        match (self.lives[t].undo(run, now), answer) {
            (Ok((restored, skipped)), Ok(answer)) => {
                assert_eq!(answer.0, restored);
                assert_eq!(whys(&answer.1), skipped);
            }
            (told, answer) => assert_eq!(answer.map(|_| ()).map_err(|e| e.code()), told.map(|_| ())),
        }
    }

    fn wipe(&mut self, t: usize, create: bool) {
        let now = self.clock.now();
        let answer = self.tenant(t).wipe(Wipe { confirm: TENANTS[t].into() });
        if !self.lives[t].there {
            assert_eq!(answer.unwrap_err().code(), "not_found");
        } else {
            let wiped = answer.unwrap();
            assert_eq!(wiped.cards, self.lives[t].cards.len() as u64);
            let versions: usize = self.lives[t].cards.values().map(|versions| versions.len() - 1).sum();
            assert_eq!(wiped.versions, versions as u64);
            assert_eq!(wiped.proof.found, Vec::<String>::new());
            self.lives[t] = Lives::wiped(now);
        }
        if create {
            assert_eq!(self.tenant(t).create().unwrap(), !self.lives[t].there);
            self.lives[t].there = true;
            self.lives[t].wiped_at = None;
        }
    }

    /// A word that one card alone has finds that card, hot or cold, if it can be seen.
    fn ask(&self, t: usize, index: &Index) {
        let (now, id) = (self.clock.now(), self.pick(t, index));
        let Some(card) = self.lives[t].present(id) else { return };
        let word = card.content.split(' ').nth(1).unwrap();
        let request = Recall {
            query: Some(word.into()),
            top: Some(1000),
            include: EVERYTHING.to_vec(),
            ..Recall::default()
        };
        let hits = self.tenant(t).recall(request).unwrap().hits;
        let found = hits.iter().find(|hit| hit.card.id == id);
        assert_eq!(found.is_some(), !card.is_expired(now), "{card:?}");
        if let Some(hit) = found {
            assert_eq!(&plain(&hit.card.card), card);
        }
    }

    /// Every card as it is now, figures and plans.
    fn compare(&self, t: usize) {
        let (tenant, lives, now) = (self.tenant(t), &self.lives[t], self.clock.now());
        let request = List {
            order: Order::OldestFirst,
            limit: Some(1000),
            include: EVERYTHING.to_vec(),
            ..List::default()
        };
        let found: Vec<Card> =
            tenant.list(&request).unwrap().cards.iter().map(|card| plain(&card.card)).collect();
        let present = || lives.cards.values().filter_map(|versions| versions.last());
        let expected: Vec<Card> = present().filter(|card| !card.is_expired(now)).cloned().collect();
        assert_eq!(found, expected);
        let mut states: BTreeMap<&str, u64> = BTreeMap::new();
        for card in present() {
            *states.entry(if card.is_expired(now) { "expired" } else { card.state.name() }).or_default() += 1;
        }
        assert_eq!(tenant.statistics().unwrap().states, states);
        let mut plans: Vec<(Option<PlanId>, Option<RunId>, bool)> = lives
            .plans
            .iter()
            .map(|plan| {
                (Some(plan.id), plan.run, lives.runs.iter().any(|r| Some(r.id) == plan.run && r.undone))
            })
            .chain(lives.runs.iter().filter(|run| !run.of_plan).map(|run| (None, Some(run.id), run.undone)))
            .collect();
        let mut found: Vec<_> =
            tenant.plans().unwrap().iter().map(|p| (p.plan, p.run, p.status == "undone")).collect();
        plans.sort();
        found.sort();
        assert_eq!(found, plans);
    }

    /// Everything, versions included.
    fn compare_all(&self) {
        let now = self.clock.now();
        for (t, lives) in self.lives.iter().enumerate() {
            self.compare(t);
            for id in &self.known[t] {
                let expected =
                    lives.cards.get(id).filter(|versions| !versions[versions.len() - 1].is_expired(now));
                let found = self.tenant(t).history(&History { id: *id }).ok();
                let found =
                    found.map(|all| all.versions.iter().map(|v| plain(&v.card.card)).collect::<Vec<_>>());
                assert_eq!(found.as_ref(), expected);
            }
        }
        let cold: usize = self.lives.iter().map(|lives| lives.cold.len()).sum();
        assert_eq!(self.store().cold_statistics().unwrap().cards, cold as u64);
        let report = self.store().verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}

pub(crate) fn whys(skipped: &[Skipped]) -> Vec<(CardId, &str)> {
    skipped.iter().map(|skipped| (skipped.id, &*skipped.why)).collect()
}

/// A card without what is read in its text.
pub(crate) fn plain(card: &Card) -> Card {
    Card { mentions: vec![], times: vec![], ..card.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(48)) })]

    #[test]
    fn what_is_forgotten_and_comes_back_is_as_in_the_model(
        steps in steps(from_environment("MEMCARDS_STEPS", 60) as usize),
        small in any::<bool>(),
    ) {
        let mut world = World::new(if small { 1 } else { 1 << 30 });
        for step in &steps {
            world.run(step);
            (0..TENANTS.len()).for_each(|t| world.compare(t));
            if matches!(step, Step::Reopen | Step::Crash | Step::Compact) {
                world.compare_all();
            }
        }
        world.compare_all();
        world.open();
        world.compare_all();
    }
}
