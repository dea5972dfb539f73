//! Operations on a store, and what must hold after each of them.
//!
//! The model is coarse on purpose: which cards a tenant has. What becomes of a card is the
//! business of the model tests of the engine; here any order of all operations is tried.

use std::collections::BTreeSet;
use std::sync::Arc;

use arbitrary::Arbitrary;
use memcards::card::{CardId, Fact, Provenance, Role, State};
use memcards::filter::Filter;
use memcards::{
    Action, Apply, Clock, Consolidate, Correct, Count, Duration, Error, Feedback, Forget, Get, History, How,
    Include, List, MakePlan, ManualClock, Order, PlanId, Recall, Relate, Remember, Restore, RunId, Store,
    Tenant, Timestamp, Undo, Walk, Wipe,
};
use serde_json::json;

use crate::{MemoryIo, clock, store_at};

/// Sentences that repeat, contradict and follow each other.
const TEXTS: &[&str] = &[
    "I like tea",
    "I like tea!",
    "I don't like tea",
    "我喜欢喝绿茶",
    "我不喜欢喝绿茶",
    "The deadline is Friday",
    "The deadline has changed to Monday",
    "order INC-90312 is late",
    "I have a cat named Miso",
    "Anna works with Ben",
    "I live in Paris",
    "I moved to Berlin yesterday",
    "的",
];

const EVERY_STATE: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];

/// What is told.
#[derive(Arbitrary, Clone, Debug)]
pub enum Text {
    /// One of the sentences.
    Known(u8),
    /// Anything.
    Free(String),
}

impl Text {
    fn get(&self) -> String {
        match self {
            Self::Known(number) => TEXTS[usize::from(*number) % TEXTS.len()].into(),
            Self::Free(text) => text.clone(),
        }
    }
}

/// One operation. Cards, plans and runs are named by their place among those there are.
#[derive(Arbitrary, Clone, Debug)]
pub enum Step {
    /// `remember`.
    Remember {
        second: bool,
        text: Text,
        category: u8,
        fact: Option<(u8, u8)>,
        turn: Option<(u8, u8)>,
        rest: u8,
    },
    /// `remember` with a time to live.
    Passing { second: bool, text: Text, minutes: u16 },
    /// `relate`.
    Relate { second: bool, from: u8, to: u8, alias: bool },
    /// `correct`.
    Correct { second: bool, card: u8, text: Option<Text>, how: u8, pinned: Option<bool> },
    /// `forget`, by cards or by a condition.
    Forget { second: bool, card: u8, also: Option<u8>, filter: bool },
    /// `restore`.
    Restore { second: bool, card: u8 },
    /// `feedback`.
    Feedback { second: bool, used: u8, rejected: u8 },
    /// `recall`.
    Recall { second: bool, text: Text, everything: bool },
    /// `walk` and `entity`.
    Walk { second: bool, from: u8 },
    /// `list`, page by page.
    Pages { second: bool, order: u8, limit: u8 },
    /// The clock goes on, or back.
    Clock(i32),
    /// A policy for the store, or none.
    Policy(u8),
    /// `plan` for a tenant or the store, then perhaps `apply`.
    Plan { second: Option<bool>, consent: bool, apply: bool },
    /// What is due by the policies.
    Due,
    /// `apply` once more.
    Again(u8),
    /// `undo`.
    Undo(u8),
    /// `consolidate`.
    Consolidate { second: bool, dry: bool },
    /// Archived cards go to the cold tier.
    Freeze,
    /// `compact`.
    Compact,
    /// Snapshots of the indexes.
    Checkpoint,
    /// Closed and opened again.
    Reopen,
    /// A copy, which is opened.
    Backup,
    /// `wipe`.
    Wipe { second: bool },
}

/// A store, and which cards each of two tenants has.
pub struct World {
    io: MemoryIo,
    clock: Arc<ManualClock>,
    store: Option<Store>,
    cards: [BTreeSet<CardId>; 2],
    /// The time of a card may have come, which hides it.
    passing: bool,
    plans: Vec<(Option<bool>, PlanId)>,
    runs: Vec<(Option<bool>, RunId)>,
    copies: usize,
}

/// An answer, or nothing where the request was refused for a reason of its own.
fn allowed<T>(answer: Result<T, Error>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(error) => {
            assert!(
                matches!(error.code(), "invalid_argument" | "not_found" | "conflict" | "too_large"),
                "{error}"
            );
            None
        }
    }
}

fn action(name: Action, totals: &memcards::RunTotals) -> usize {
    totals.actions.get(name.name()).map_or(0, |count| *count as usize)
}

/// Every card of a tenant, as it is listed.
fn listed(tenant: &Tenant) -> Vec<memcards::CardView> {
    let list = List { include: EVERY_STATE.to_vec(), limit: Some(1000), ..List::default() };
    tenant.list(&list).expect("it is listed").cards
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty store.
    pub fn new() -> Self {
        let (io, clock) = (MemoryIo::default(), clock());
        let store = Some(store_at(&io, "/store", clock.clone()));
        let (cards, plans, runs) = Default::default();
        Self { io, clock, store, cards, passing: false, plans, runs, copies: 0 }
    }

    fn store(&self) -> &Store {
        self.store.as_ref().expect("it is open")
    }

    fn tenant(&self, second: bool) -> Tenant {
        self.store().tenant(["anna", "ben"][usize::from(second)]).expect("a name")
    }

    /// A card that is there, or one that never was.
    fn card(&self, second: bool, place: u8) -> CardId {
        let cards = &self.cards[usize::from(second)];
        cards.iter().nth(usize::from(place) % (cards.len() + 1)).copied().unwrap_or_default()
    }

    fn told(&mut self, second: bool, id: Option<CardId>) {
        self.cards[usize::from(second)].extend(id);
    }

    /// Carries a step out and checks what must hold.
    pub fn take(&mut self, step: &Step) {
        self.run(step);
        for second in [false, true] {
            self.check(second);
        }
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Remember { second, text, category, fact, turn, rest } => {
                let pick = |names: [&str; 2], number: u8| names[usize::from(number % 2)].to_owned();
                let request = Remember {
                    content: text.get(),
                    category: (category % 3 > 0).then(|| pick(["preference", "profile"], *category)),
                    fact: fact.map(|(entity, value)| Fact {
                        entity: pick(["car", "Car "], entity),
                        attribute: "colour".into(),
                        value: pick(["blue", "red"], value),
                    }),
                    session: turn.map(|(session, _)| pick(["s", "t"], session)),
                    turn: turn.map(|(_, turn)| u32::from(turn)),
                    role: (rest & 1 > 0).then_some(Role::User),
                    pinned: rest & 2 > 0,
                    merge_key: (rest & 4 > 0).then(|| "key".into()),
                    provenance: (rest & 8 > 0).then_some(Provenance::Inferred),
                    idempotency_key: (rest & 16 > 0).then(|| format!("r{rest}")),
                    tags: if rest & 32 > 0 { vec!["a".into()] } else { vec![] },
                    speaker: (rest & 64 > 0).then(|| "Ann".into()),
                    occurred_at: (rest & 128 > 0).then(|| Timestamp::from_micros(1_600_000_000_000_000)),
                    ..Remember::default()
                };
                let id = allowed(self.tenant(*second).remember(request)).map(|answer| answer.id);
                self.told(*second, id);
            }
            Step::Passing { second, text, minutes } => {
                self.passing = true;
                let ttl = Some(Duration::from_micros(i64::from(*minutes) * 60_000_000));
                let request = Remember { content: text.get(), ttl, ..Remember::default() };
                let id = allowed(self.tenant(*second).remember(request)).map(|answer| answer.id);
                self.told(*second, id);
            }
            Step::Relate { second, from, to, alias } => {
                let name = |number: &u8| format!("thing {}", number % 8);
                let relation = if *alias { "alias" } else { "works with" };
                let request =
                    Relate { from: name(from), relation: relation.into(), to: name(to), ..Relate::default() };
                let id = allowed(self.tenant(*second).relate(request)).map(|answer| answer.id);
                self.told(*second, id);
            }
            Step::Correct { second, card, text, how, pinned } => {
                let request = Correct {
                    id: self.card(*second, *card),
                    content: text.as_ref().map(Text::get),
                    how: [How::Negation, How::Scope, How::Ambiguous][usize::from(how % 3)],
                    pinned: *pinned,
                    ..Correct::default()
                };
                let id = allowed(self.tenant(*second).correct(request)).map(|answer| answer.id);
                self.told(*second, id);
            }
            Step::Forget { second, card, also, filter } => {
                let mut request = Forget::default();
                if *filter {
                    let category = ["preference", "profile"][usize::from(card % 2)];
                    let json = json!({"field": "category", "eq": category});
                    request.filter = Some(Filter::parse(&json).expect("a filter"));
                } else {
                    request.ids = [Some(*card), *also]
                        .into_iter()
                        .flatten()
                        .map(|card| self.card(*second, card))
                        .collect();
                }
                let run = allowed(self.tenant(*second).forget(request)).and_then(|answer| answer.run);
                self.runs.extend(run.map(|run| (Some(*second), run)));
            }
            Step::Restore { second, card } => {
                let id = Some(self.card(*second, *card));
                allowed(self.tenant(*second).restore(Restore { id, ..Restore::default() }));
            }
            Step::Feedback { second, used, rejected } => {
                let (used, rejected) = (vec![self.card(*second, *used)], vec![self.card(*second, *rejected)]);
                allowed(self.tenant(*second).feedback(Feedback { used, rejected, ..Feedback::default() }));
            }
            Step::Recall { second, text, everything } => {
                let include = if *everything { EVERY_STATE.to_vec() } else { vec![] };
                let request = Recall { query: Some(text.get()), include, ..Recall::default() };
                let found = allowed(self.tenant(*second).recall(request));
                for hit in found.into_iter().flat_map(|answer| answer.hits) {
                    let card = &hit.card.card;
                    assert!(self.cards[usize::from(*second)].contains(&card.id), "{card:?}");
                    assert!(*everything || card.state == State::Active, "{card:?}");
                }
            }
            Step::Walk { second, from } => {
                let start = format!("thing {}", from % 8);
                allowed(self.tenant(*second).walk(&Walk { start, ..Walk::default() }));
            }
            Step::Pages { second, order, limit } => self.pages(*second, *order, usize::from(limit % 8) + 1),
            Step::Clock(minutes) => {
                let now = self.clock.now().plus(Duration::from_micros(i64::from(*minutes) * 60_000_000));
                self.clock.set(now).expect("a clock that can be set");
            }
            Step::Policy(number) => {
                self.passing = true;
                let policy = match number % 4 {
                    0 => None,
                    1 => Some(json!("assistant")),
                    2 => Some(json!({"defaults": {"grace": "0s", "archive_after": "1h", "max_cards": 3}})),
                    _ => Some(json!({"defaults": {"half_life": "1h", "fade_below": 0.4, "ttl": "30d"}})),
                };
                allowed(self.store().set_policy(policy.as_ref()));
            }
            Step::Plan { second, consent, apply } => {
                let request = MakePlan { consent: *consent, ..MakePlan::default() };
                let planned = match second {
                    Some(second) => self.tenant(*second).plan(&request),
                    None => self.store().plan(&request),
                };
                if let Some(planned) = allowed(planned) {
                    self.plans.push((*second, planned.plan));
                    if *apply {
                        self.apply(*second, planned.plan);
                    }
                }
            }
            Step::Due => {
                let before = self.cards.clone();
                let due = allowed(self.store().forget_due()).flatten();
                let totals = due.map(|due| due.totals).unwrap_or_default();
                self.follow(&before, action(Action::Consolidate, &totals), action(Action::Purge, &totals));
            }
            Step::Again(number) => {
                if let Some((scope, plan)) = self.plans.get(usize::from(*number)).copied() {
                    self.apply(scope, plan);
                }
            }
            Step::Undo(number) => {
                if let Some((scope, run)) = self.runs.get(usize::from(*number)).copied() {
                    let undo = Undo { run: Some(run), ..Undo::default() };
                    allowed(match scope {
                        Some(second) => self.tenant(second).undo(undo),
                        None => self.store().undo(undo),
                    });
                }
            }
            Step::Consolidate { second, dry } => {
                let before = self.cards.clone();
                let request = Consolidate { dry_run: *dry, consent: true, ..Consolidate::default() };
                let done = allowed(self.tenant(*second).consolidate(request)).and_then(|answer| answer.done);
                self.follow(&before, done.map_or(0, |totals| totals.applied as usize), 0);
            }
            Step::Freeze => {
                allowed(self.store().freeze(None, Some(1)));
            }
            Step::Compact => {
                allowed(self.store().compact(|_| {}));
            }
            Step::Checkpoint => {
                allowed(self.store().checkpoint());
            }
            Step::Reopen => self.reopen(),
            Step::Backup => {
                self.copies += 1;
                let to = format!("/copy{}", self.copies);
                self.store().backup(&to, |_| {}).expect("it is copied");
                let copy = store_at(&self.io, &to, self.clock.clone());
                for second in [false, true] {
                    let tenant = self.tenant(second);
                    let copied = copy.tenant(tenant.name()).expect("a name");
                    assert_eq!(listed(&copied), listed(&tenant));
                }
                assert!(copy.verify(|_| {}).expect("it can be read").is_sound());
            }
            Step::Wipe { second } => {
                let tenant = self.tenant(*second);
                if allowed(tenant.wipe(Wipe { confirm: tenant.name().into() })).is_some() {
                    self.cards[usize::from(*second)].clear();
                    assert!(
                        !self
                            .store()
                            .tenants()
                            .expect("they are read")
                            .iter()
                            .any(|t| t.name == tenant.name())
                    );
                }
            }
        }
    }

    fn apply(&mut self, scope: Option<bool>, plan: PlanId) {
        let before = self.cards.clone();
        let request = Apply { plan: Some(plan), ..Apply::default() };
        let applied = allowed(match scope {
            Some(second) => self.tenant(second).apply(request),
            None => self.store().apply(request),
        });
        let totals = applied.map(|applied| {
            self.runs.push((scope, applied.run));
            if applied.repeated { memcards::RunTotals::default() } else { applied.totals }
        });
        let totals = totals.unwrap_or_default();
        self.follow(&before, action(Action::Consolidate, &totals), action(Action::Purge, &totals));
    }

    /// Takes over which cards a run has made and purged: no more than it says.
    fn follow(&mut self, before: &[BTreeSet<CardId>; 2], made: usize, purged: usize) {
        let (mut new, mut gone) = (0, 0);
        for second in [false, true] {
            let place = usize::from(second);
            let tenant = self.tenant(second);
            let now: BTreeSet<CardId> = listed(&tenant).iter().map(|view| view.card.id).collect();
            new += now.difference(&before[place]).count();
            let lost: Vec<CardId> = before[place].difference(&now).copied().collect();
            // A card whose time has come is not listed, but it is there.
            let there = |id: &CardId| tenant.history(&History { id: *id }).is_ok();
            let (hidden, purged): (Vec<CardId>, Vec<CardId>) = lost.into_iter().partition(there);
            assert!(self.passing || hidden.is_empty(), "{hidden:?} are not listed");
            gone += purged.len();
            self.cards[place] = now.into_iter().chain(hidden).collect();
        }
        assert!(new <= made && gone <= purged, "{new} of {made} made, {gone} of {purged} purged");
    }

    fn check(&self, second: bool) {
        let tenant = self.tenant(second);
        let cards = &self.cards[usize::from(second)];
        let views = listed(&tenant);
        let ids: BTreeSet<CardId> = views.iter().map(|view| view.card.id).collect();
        assert_eq!(ids.len(), views.len());
        assert!(ids.is_subset(cards) && (self.passing || ids.len() == cards.len()), "{ids:?} of {cards:?}");
        let count = Count { include: EVERY_STATE.to_vec(), ..Count::default() };
        assert_eq!(tenant.count(&count).expect("they are counted"), views.len() as u64);
        for view in &views {
            let get = Get { id: view.card.id, include: EVERY_STATE.to_vec(), ..Get::default() };
            assert_eq!(&tenant.get(&get).expect("what is listed is there"), view);
        }
    }

    fn pages(&self, second: bool, order: u8, limit: usize) {
        let tenant = self.tenant(second);
        let orders = [
            Order::NewestFirst,
            Order::OldestFirst,
            Order::LatestEvent,
            Order::LatestChange,
            Order::MostImportant,
        ];
        let mut list = List {
            order: orders[usize::from(order) % orders.len()],
            include: EVERY_STATE.to_vec(),
            limit: Some(limit),
            ..List::default()
        };
        let mut ids = Vec::new();
        loop {
            let page = tenant.list(&list).expect("it is listed");
            ids.extend(page.cards.iter().map(|view| view.card.id));
            list.cursor = page.cursor;
            if list.cursor.is_none() {
                break;
            }
        }
        let mut all: Vec<CardId> = listed(&tenant).iter().map(|view| view.card.id).collect();
        ids.sort();
        all.sort();
        assert_eq!(ids, all);
    }

    fn reopen(&mut self) {
        let state = |world: &Self| [false, true].map(|second| listed(&world.tenant(second)));
        let before = state(self);
        self.store = None;
        self.store = Some(store_at(&self.io, "/store", self.clock.clone()));
        assert_eq!(state(self), before);
    }

    /// The store is sound, and the same when it is opened again.
    pub fn end(mut self) {
        let report = self.store().verify(|_| {}).expect("it can be read");
        assert!(report.is_sound(), "{:?}", report.findings);
        self.reopen();
        let report = self.store().verify(|_| {}).expect("it can be read");
        assert!(report.is_sound(), "{:?}", report.findings);
    }
}
