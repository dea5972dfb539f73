//! Carries steps out on a store and on the model, and compares every answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::card::{Card, CardId, LinkKind, Reason};
use memcards::embed::Embedder;
use memcards::{
    Affected, CardView, Clock, Correct, Count, Error, Forget, Get, History, Include, List, ManualClock,
    Options, Order, Recall, Remember, Restore, Store, Timestamp,
};

use crate::oracle::{self, Looking, Told};
use crate::steps::{START, Step};
use crate::unsynced_io::UnsyncedIo;

pub(crate) const TENANTS: [&str; 2] = ["anna", "bob"];
pub(crate) const EVERYTHING: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];

/// A model whose vectors are counts of characters: like texts are near, and nothing rounds.
/// Every version of it finds the same texts alike, by other numbers.
#[derive(Debug)]
pub(crate) struct Counting {
    name: String,
    dimension: usize,
    turned: usize,
}

impl Counting {
    pub(crate) fn version(version: usize) -> Self {
        Self { name: format!("counting-{version}"), dimension: 16 + version / 2 % 3, turned: version * 5 }
    }
}

impl Embedder for Counting {
    fn model_id(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, text: &str) -> memcards::Result<Option<Vec<f32>>> {
        let mut vector = vec![0f32; self.dimension];
        for c in text.chars().filter(|c| c.is_alphanumeric() && *c != '的') {
            let letter = c.to_lowercase().next().unwrap_or(c) as usize % 16;
            vector[(letter + self.turned) % 16] += 1.0;
        }
        Ok(vector.iter().any(|x| *x > 0.0).then_some(vector))
    }
}

/// A store, its clock, and what the model holds of it.
pub(crate) struct World {
    directory: PathBuf,
    pub(crate) clock: Arc<ManualClock>,
    caller: bool,
    index_bytes: usize,
    /// Version of the embedding model.
    embedder: usize,
    store: Option<Store>,
    pub(crate) model: [oracle::Tenant; 2],
}

pub(crate) fn options(caller: bool, version: usize, clock: Arc<ManualClock>) -> Options {
    let embedder: Option<Arc<dyn Embedder>> =
        if caller { None } else { Some(Arc::new(Counting::version(version))) };
    Options { embedder, clock, io: Arc::new(UnsyncedIo), cache_bytes: 4 << 20, seed: 7, ..Options::default() }
}

impl World {
    pub(crate) fn new(directory: &Path, caller: bool) -> Self {
        Self::with_index_bytes(directory, caller, Options::default().index_bytes)
    }

    /// The same with another bound on the memory for indexes.
    pub(crate) fn with_index_bytes(directory: &Path, caller: bool, index_bytes: usize) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
        let (directory, model) = (directory.to_owned(), Default::default());
        let mut world = Self { directory, clock, caller, index_bytes, embedder: 0, store: None, model };
        world.reopen();
        world
    }

    /// How its store is opened.
    pub(crate) fn options(&self) -> Options {
        Options { index_bytes: self.index_bytes, ..options(self.caller, self.embedder, self.clock.clone()) }
    }

    /// The same model over a store in another directory.
    pub(crate) fn moved_to(mut self, directory: &Path) -> Self {
        self.directory = directory.to_owned();
        self.reopen();
        self
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn tenant(&self, number: usize) -> memcards::Tenant {
        self.store().tenant(TENANTS[number]).unwrap()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn reopen(&mut self) {
        self.store = None;
        self.store = Some(Store::open(&self.directory, self.options()).unwrap());
    }

    fn replace_embedder(&mut self) {
        self.store = None;
        self.embedder += 1;
        let options = Options { reembed: true, ..self.options() };
        self.store = Some(Store::open(&self.directory, options).unwrap());
    }

    /// Opens the store with another model, which then embeds everything anew.
    fn reembed(&mut self) {
        if self.caller {
            assert_eq!(self.store().reembed(None, |_| {}).unwrap_err().code(), "unavailable");
            return;
        }
        self.replace_embedder();
        let own: Vec<u64> = self.model.iter().map(oracle::Tenant::own_vectors).collect();
        let done = self.store().reembed(None, |_| {}).unwrap();
        assert_eq!((done.embedded, done.removed), (own.iter().sum(), 0));
        for (tenant, own) in self.model.iter_mut().zip(own) {
            tenant.embedded += own;
        }
        assert_eq!(self.store().reembed(None, |_| {}).unwrap().embedded, 0, "there is nothing left to do");
        assert!(!self.store().statistics().unwrap().reembedding);
    }

    fn vector(&self, content: &str, given: Option<&Vec<f32>>) -> Option<Vec<f32>> {
        match self.caller {
            true => given.cloned(),
            false => Counting::version(0).embed(content).unwrap(),
        }
    }

    /// A card of the tenant, or one of the other tenant, or one that was never there.
    fn pick(&self, tenant: usize, index: &proptest::sample::Index) -> CardId {
        let mine: Vec<CardId> = self.model[tenant].cards.keys().copied().collect();
        let theirs = self.model[1 - tenant].cards.keys().next().copied();
        let spare = [theirs.unwrap_or_default(), CardId::default()];
        let at = index.index(mine.len() * 6 + 2);
        if at < mine.len() * 6 { mine[at / 6] } else { spare[at - mine.len() * 6] }
    }

    /// Carries out one step and compares; panics where store and model differ.
    pub(crate) fn run(&mut self, step: &Step) {
        match step {
            Step::Remember(t, request) => self.remember(*t, request),
            Step::Correct(t, index, stale, request) => self.correct(*t, index, *stale, request),
            Step::Forget(t, ids, filter, dry_run) => self.forget(*t, ids, filter.as_ref(), *dry_run),
            Step::Restore(t, ids) => self.restore(*t, ids),
            Step::Get(t, index, known_at, include) => self.get(*t, index, *known_at, include),
            Step::List(t, order, limit, filter, view) => {
                let request = List {
                    filter: filter.clone(),
                    order: *order,
                    limit: Some(*limit),
                    cursor: None,
                    as_of: view.as_of,
                    known_at: view.known_at,
                    include: view.include.clone(),
                    ..List::default()
                };
                self.list(*t, request);
            }
            Step::History(t, index) => self.history(*t, index),
            Step::Recall(t, query, top, filter, view) => {
                let request = Recall {
                    query: Some((*query).into()),
                    top: Some(*top),
                    filter: filter.clone(),
                    include: view.include.clone(),
                    as_of: view.as_of,
                    known_at: view.known_at,
                    ..Recall::default()
                };
                self.recall(*t, request);
            }
            Step::Clock(by) => {
                let now = Timestamp::from_micros(self.now().as_micros() + by);
                self.clock.set(now).unwrap();
            }
            Step::Reopen => {
                self.reopen();
                self.compare_all();
            }
            Step::Reembed => self.reembed(),
            Step::Checkpoint => drop(self.store().checkpoint().unwrap()),
        }
    }

    /// Carries out one step that the model does not follow; an error is an answer, too.
    pub(crate) fn run_blind(&mut self, step: &Step) {
        let all = |store: &World, t: usize| {
            let request = List { limit: Some(1000), include: EVERYTHING.to_vec(), ..List::default() };
            ids(&store.tenant(t).list(&request).unwrap().cards)
        };
        match step {
            // What was forgotten is refused when its turn is read again.
            Step::Remember(t, request) => drop(self.tenant(*t).remember((**request).clone())),
            Step::Correct(t, index, _, request) => {
                let there = all(self, *t);
                if !there.is_empty() {
                    let id = *index.get(&there);
                    let _ = self.tenant(*t).correct(Correct { id, ..(**request).clone() });
                }
            }
            Step::Forget(t, indexes, filter, dry_run) => {
                let there = all(self, *t);
                let ids: Vec<CardId> = match filter {
                    Some(_) => vec![],
                    None if there.is_empty() => return,
                    None => indexes.iter().map(|index| *index.get(&there)).collect(),
                };
                let request = Forget { ids, filter: filter.clone(), dry_run: *dry_run, ..Forget::default() };
                self.tenant(*t).forget(request).unwrap();
            }
            Step::Restore(t, indexes) => {
                let there = all(self, *t);
                if !there.is_empty() {
                    let ids = indexes.iter().map(|index| *index.get(&there)).collect();
                    self.tenant(*t).restore(Restore { ids, ..Restore::default() }).unwrap();
                }
            }
            Step::Reembed if self.caller => {}
            Step::Reembed => {
                self.replace_embedder();
                self.store().reembed(None, |_| {}).unwrap();
            }
            Step::Clock(_) | Step::Checkpoint => self.run(step),
            Step::Recall(t, query, ..) => {
                let request = Recall { query: Some((*query).into()), ..Recall::default() };
                self.tenant(*t).recall(request).unwrap();
            }
            Step::Get(..) | Step::List(..) | Step::History(..) | Step::Reopen => {}
        }
    }

    fn remember(&mut self, t: usize, request: &Remember) {
        if self.model[t].refuses(request, self.now()) {
            let refused = self.tenant(t).remember(request.clone());
            assert!(matches!(refused, Err(memcards::Error::Erased { .. })), "{request:?}: {refused:?}");
            return self.compare_cards(t);
        }
        let vector = self.vector(&request.content, request.vector.as_ref());
        let told = self.model[t].remember(request, vector.as_ref(), self.now());
        let answer = self.tenant(t).remember(request.clone()).unwrap();
        let new = self.compare_write(t, &told, answer.id, &answer.affected);
        assert_eq!(Some(answer.outcome), told.outcome, "{request:?}");
        self.model[t].carry_out(told, new, vector.as_ref(), self.now());
        let current = self.model[t].current(answer.id).unwrap();
        assert_eq!((answer.version, answer.seq), (current.version, self.model[t].sequence()));
        self.compare_cards(t);
    }

    /// Compares what a write says it did; gives the identifier of a new card.
    fn compare_write(&self, t: usize, told: &Told, id: CardId, affected: &[Affected]) -> Option<CardId> {
        let known = self.model[t].current(id).is_some();
        assert_eq!(told.id.is_some(), known, "new or known: {id} {told:?}");
        assert_eq!(told.id.unwrap_or(id), id);
        let expected: Vec<_> =
            told.affected.iter().map(|(card, change)| (card.unwrap_or(id), *change)).collect();
        let found: Vec<_> = affected.iter().map(|affected| (affected.id, affected.change)).collect();
        assert_eq!(found, expected);
        (!known).then_some(id)
    }

    fn correct(&mut self, t: usize, index: &proptest::sample::Index, stale: bool, request: &Correct) {
        let id = self.pick(t, index);
        let version = stale.then(|| self.model[t].current(id).map_or(1, |card| card.version + 1));
        let request = Correct { id, version, ..request.clone() };
        let content = request.content.clone().unwrap_or_default();
        let vector = self.vector(&content, request.vector.as_ref());
        let told = self.model[t].correct(&request, vector.as_ref(), self.now());
        let answer = self.tenant(t).correct(request.clone());
        match (told, answer) {
            (Ok(told), Ok(answer)) => {
                let new = self.compare_write(t, &told, answer.id, &answer.affected);
                self.model[t].carry_out(told, new, vector.as_ref(), self.now());
                let current = self.model[t].current(answer.id).unwrap();
                assert_eq!((answer.version, answer.seq), (current.version, self.model[t].sequence()));
            }
            (told, answer) => {
                let codes = (told.as_ref().err().copied(), answer.as_ref().err().map(Error::code));
                assert!(codes.0.is_some() && codes.0 == codes.1, "{request:?}: {told:?} {answer:?}");
            }
        }
        self.compare_cards(t);
    }

    fn forget(
        &mut self,
        t: usize,
        ids: &[proptest::sample::Index],
        filter: Option<&memcards::filter::Filter>,
        dry_run: bool,
    ) {
        let ids: Vec<CardId> = match filter {
            Some(_) => vec![],
            None => ids.iter().map(|index| self.pick(t, index)).collect(),
        };
        let request = Forget {
            id: ids.first().copied().filter(|_| ids.len() == 1),
            ids: if ids.len() == 1 { vec![] } else { ids.clone() },
            filter: filter.cloned(),
            about: None,
            dry_run,
            actor: Some("tester".into()),
            reason: None,
        };
        let reason = Reason { actor: request.actor.clone(), ..Reason::default() };
        let told = self.model[t].forget(&ids, filter, &reason);
        match (told, self.tenant(t).forget(request.clone())) {
            (Ok((forgotten, detached, skipped, told)), Ok(answer)) => {
                assert_eq!(
                    (answer.forgotten, answer.detached, answer.dry_run),
                    (forgotten, detached, dry_run)
                );
                let found: Vec<_> =
                    answer.skipped.iter().map(|skipped| (skipped.id, skipped.why.to_string())).collect();
                let skipped: Vec<_> = skipped.iter().map(|(id, why)| (*id, (*why).to_owned())).collect();
                assert_eq!(found, skipped);
                if !dry_run {
                    self.model[t].carry_out(told, None, None, self.now());
                }
            }
            (Err(code), Err(error)) => assert_eq!(error.code(), code),
            (told, answer) => panic!("{request:?}: {told:?} {answer:?}"),
        }
        self.compare_cards(t);
    }

    fn restore(&mut self, t: usize, ids: &[proptest::sample::Index]) {
        let ids: Vec<CardId> = ids.iter().map(|index| self.pick(t, index)).collect();
        let now = self.now();
        let told = self.model[t].restore(&ids, &Reason::default(), now);
        match (told, self.tenant(t).restore(Restore { ids: ids.clone(), ..Restore::default() })) {
            (Ok((restored, skipped, told)), Ok(answer)) => {
                assert_eq!(answer.restored, restored);
                assert_eq!(answer.skipped.iter().map(|skipped| skipped.id).collect::<Vec<_>>(), skipped);
                self.model[t].carry_out(told, None, None, self.now());
            }
            (Err(code), Err(error)) => assert_eq!(error.code(), code),
            (told, answer) => panic!("{ids:?}: {told:?} {answer:?}"),
        }
        self.compare_cards(t);
    }

    fn get(
        &self,
        t: usize,
        index: &proptest::sample::Index,
        known_at: Option<Timestamp>,
        include: &[Include],
    ) {
        let id = self.pick(t, index);
        let include_all: Vec<Include> =
            include.iter().copied().chain([Include::Superseded, Include::Candidates]).collect();
        let view = Looking { include: include_all, as_of: None, known_at, any_time: true };
        let expected = self.model[t].shown(id, &view, self.now());
        match (expected, self.tenant(t).get(&Get { id, known_at, include: include.to_vec() })) {
            (Some(expected), Ok(found)) => compare_view(&found, expected),
            (None, Err(error)) => assert_eq!(error.code(), "not_found"),
            (expected, found) => panic!("get {id} as of {known_at:?}: {expected:?} {found:?}"),
        }
    }

    /// Goes through all pages.
    pub(crate) fn list(&self, t: usize, mut request: List) {
        let view = Looking {
            include: request.include.clone(),
            as_of: request.as_of,
            known_at: request.known_at,
            ..Looking::default()
        };
        let expected = self.model[t].list(&view, request.filter.as_ref(), request.order, self.now());
        let limit = request.limit.unwrap();
        let mut found = Vec::new();
        loop {
            let page = self.tenant(t).list(&request).unwrap();
            assert!(page.cards.len() <= limit);
            let last = page.cursor.is_none();
            assert!(last || page.cards.len() == limit, "a page that is not the last is full");
            found.extend(page.cards);
            if last {
                break;
            }
            request.cursor = page.cursor;
        }
        assert_eq!(ids(&found), expected.iter().map(|card| card.id).collect::<Vec<_>>(), "{request:?}");
        found.iter().zip(&expected).for_each(|(found, expected)| compare_view(found, expected));
        let count = Count {
            filter: request.filter.clone(),
            as_of: request.as_of,
            known_at: request.known_at,
            include: request.include.clone(),
            ..Count::default()
        };
        assert_eq!(self.tenant(t).count(&count).unwrap(), expected.len() as u64);
    }

    fn history(&self, t: usize, index: &proptest::sample::Index) {
        let id = self.pick(t, index);
        let expected = self.model[t].history(id, self.now());
        match (expected, self.tenant(t).history(&History { id })) {
            (Some(expected), Ok(answer)) => {
                assert_eq!(answer.versions.len(), expected.len());
                for (found, expected) in answer.versions.iter().zip(&expected) {
                    compare_view(&found.card, expected);
                    if let Some(before) = answer
                        .versions
                        .iter()
                        .find(|v| v.card.id == expected.id && v.card.version + 1 == expected.version)
                    {
                        let changed = found.diff.iter().any(|change| change.field == "state");
                        assert_eq!(changed, before.card.state != expected.state);
                    }
                }
            }
            (None, Err(error)) => assert_eq!(error.code(), "not_found"),
            (expected, found) => panic!("history {id}: {expected:?} {found:?}"),
        }
    }

    /// With a filter everything that it admits is a hit, so the set is known; without one
    /// the hits are some of what the view shows.
    fn recall(&self, t: usize, request: Recall) {
        let view = Looking {
            include: request.include.clone(),
            as_of: request.as_of,
            known_at: request.known_at,
            ..Looking::default()
        };
        let top = request.top.unwrap();
        let expected = self.model[t].list(&view, request.filter.as_ref(), Order::OldestFirst, self.now());
        let tenant = self.tenant(t);
        let all = tenant.recall(Recall { top: Some(1000), explain: true, ..request.clone() }).unwrap();
        let some = tenant.recall(request.clone()).unwrap();
        let mut found: Vec<CardId> = all.hits.iter().map(|hit| hit.card.id).collect();
        assert!(all.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "order of {request:?}");
        for hit in &all.hits {
            let card = expected.iter().find(|card| card.id == hit.card.id);
            compare_view(
                &hit.card,
                card.unwrap_or_else(|| panic!("{} is no answer to {request:?}", hit.card.id)),
            );
            assert!((0.0..=1.0).contains(&hit.score), "{}", hit.score);
        }
        found.sort();
        found.dedup();
        assert_eq!(found.len(), all.hits.len(), "a card is a hit once");
        if request.filter.is_some() {
            let asked = !all.searched.legs.is_empty();
            // What is ruled out is left out, and said to be.
            let count = found.len() + all.withheld.len();
            assert_eq!(count, if asked { expected.len() } else { 0 }, "{request:?}");
        }
        assert_eq!(some.hits.len(), top.min(all.hits.len()));
        let settled =
            all.hits.iter().any(|hit| hit.card.links.iter().any(|l| l.kind == LinkKind::ConflictsWith));
        if !settled {
            let whole = all.hits.iter().map(|hit| (hit.card.id, hit.score));
            assert!(some.hits.iter().map(|hit| (hit.card.id, hit.score)).eq(whole.take(top)), "{request:?}");
        }
    }

    /// Every card as it is now.
    fn compare_cards(&self, t: usize) {
        let request = List {
            order: Order::OldestFirst,
            limit: Some(1000),
            include: EVERYTHING.to_vec(),
            ..List::default()
        };
        self.list(t, request);
    }

    /// Everything, versions included.
    pub(crate) fn compare_all(&self) {
        for t in 0..TENANTS.len() {
            self.compare_cards(t);
            for id in self.model[t].cards.keys() {
                let expected = self.model[t].history(*id, self.now());
                let found = self.tenant(t).history(&History { id: *id });
                assert_eq!(
                    expected,
                    found.ok().map(|answer| answer
                        .versions
                        .into_iter()
                        .map(|v| without_extracts(v.card.card))
                        .collect())
                );
            }
        }
        let report = self.store().verify(|_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        let written: u64 = self.model.iter().map(oracle::Tenant::sequence).sum();
        assert_eq!(report.changes, written);
    }
}

/// A card without what is read in its text, which other tests are about.
fn without_extracts(card: Card) -> Card {
    Card { mentions: vec![], times: vec![], ..card }
}

fn ids(cards: &[CardView]) -> Vec<CardId> {
    cards.iter().map(|card| card.id).collect()
}

fn compare_view(found: &CardView, expected: &Card) {
    assert_eq!(&without_extracts(found.card.clone()), expected);
    let source = expected.source().cloned().unwrap_or_default();
    assert_eq!((&found.session, found.turn, found.role), (&source.session, source.turn, source.role));
    assert!(found.supersedes.iter().copied().eq(expected.supersedes()));
    assert_eq!(found.superseded_by, expected.superseded_by());
}
