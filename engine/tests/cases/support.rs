//! A small store on a clock that the test moves, and short forms of the verbs.

use std::sync::Arc;

use memcards::card::CardId;
use memcards::filter::Filter;
use memcards::{
    CardView, Clock, Count, Duration, Forget, Get, History, Include, List, ManualClock, Options, Recall,
    Recalled, Remember, Remembered, Store, Tenant, Timestamp,
};
use serde_json::Value;

/// Every state that a read leaves out unless asked.
pub(crate) const EVERYTHING: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];

/// A store in a directory of its own.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) directory: tempfile::TempDir,
}

/// The instant at which every test starts.
pub(crate) fn start() -> Timestamp {
    time("2025-03-10T09:00:00Z")
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn duration(text: &str) -> Duration {
    text.parse().unwrap()
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A store without vectors: only the words count.
    pub(crate) fn words_only() -> Self {
        Self::with(|options| options.embedder = None)
    }

    pub(crate) fn with(adjust: impl FnOnce(&mut Options)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(start()));
        let mut options = Options { clock: clock.clone(), ..Options::default() };
        adjust(&mut options);
        let store = Store::open(directory.path(), options).unwrap();
        Self { store, clock, directory }
    }

    pub(crate) fn tenant(&self, name: &str) -> Tenant {
        self.store.tenant(name).unwrap()
    }

    /// Closes the store and opens it again.
    pub(crate) fn reopen(self) -> Self {
        let Self { store, clock, directory } = self;
        drop(store);
        let options = Options { clock: clock.clone(), ..Options::default() };
        let store = Store::open(directory.path(), options).unwrap();
        Self { store, clock, directory }
    }

    pub(crate) fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, length: &str) {
        let now = self.clock.now().plus(duration(length));
        self.clock.set(now).unwrap();
    }
}

/// A request with nothing but its text.
pub(crate) fn text(content: &str) -> Remember {
    Remember { content: content.into(), ..Remember::default() }
}

/// A request with its text and the session it was said in.
pub(crate) fn said_in(session: &str, content: &str) -> Remember {
    Remember { session: Some(session.into()), ..text(content) }
}

pub(crate) fn say(tenant: &Tenant, content: &str) -> Remembered {
    tenant.remember(text(content)).unwrap()
}

pub(crate) fn question(query: &str) -> Recall {
    Recall { query: Some(query.into()), ..Recall::default() }
}

pub(crate) fn ask(tenant: &Tenant, query: &str) -> Vec<String> {
    contents(&tenant.recall(question(query)).unwrap())
}

pub(crate) fn contents(answer: &Recalled) -> Vec<String> {
    answer.hits.iter().map(|hit| hit.card.content.clone()).collect()
}

pub(crate) fn get(tenant: &Tenant, id: CardId) -> memcards::Result<CardView> {
    tenant.get(&Get { id, ..Get::default() })
}

/// Contents of all active cards, sorted.
pub(crate) fn active(tenant: &Tenant) -> Vec<String> {
    let page = tenant.list(&List { limit: Some(1000), ..List::default() }).unwrap();
    let mut contents: Vec<String> = page.cards.iter().map(|card| card.content.clone()).collect();
    contents.sort();
    contents
}

/// How many cards there are, in whatever state.
pub(crate) fn all_cards(tenant: &Tenant) -> u64 {
    tenant.count(&Count { include: EVERYTHING.into(), ..Count::default() }).unwrap()
}

/// Contents of all versions in the history of a card, oldest first.
pub(crate) fn past(tenant: &Tenant, id: CardId) -> Vec<String> {
    let history = tenant.history(&History { id }).unwrap();
    history.versions.iter().map(|version| version.card.content.clone()).collect()
}

pub(crate) fn forget(id: CardId) -> Forget {
    Forget { id: Some(id), ..Forget::default() }
}

pub(crate) fn filter(json: Value) -> Filter {
    Filter::parse(&json).unwrap()
}
