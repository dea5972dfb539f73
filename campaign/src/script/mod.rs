//! Workloads: sequences of calls whose every choice follows from a seed and from what the store
//! has answered so far.

mod acts;
pub mod scripted;

use std::sync::Arc;

use memcards::card::{Card, State};
use memcards::store::io::Io;
use memcards::{
    Clock, Duration, Include, List, ManualClock, Options, Order, RunId, Store, Tenant, Timestamp,
};

use crate::numbers::Numbers;
use crate::words::{vector, word};

/// The directory of the store on a simulated disk.
pub const DIRECTORY: &str = "/store";
/// Every state that a read leaves out unless asked.
pub const EVERYTHING: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];
/// The tenants that write; the last one is the one that is wiped.
pub const TENANTS: [&str; 3] = ["anna", "bob", "cleo"];

/// One step of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// One new card.
    Remember,
    /// Many callers' new cards in one commit, some of them told twice.
    RememberMany(usize),
    /// A turn of a conversation.
    Turn,
    /// A card that is there is told again.
    Again,
    /// A card with a fact, or the next value of one.
    Fact,
    /// A card that ends by itself.
    Brief,
    /// The same request twice, under one key.
    Twice,
    /// A relation between two things.
    Relate,
    /// A preference that was told before, at another time.
    Preference,
    /// A card's words are corrected.
    Replace,
    /// A card gets another summary.
    Edit,
    /// A card is linked to what narrows it.
    Narrow,
    /// Cards are forgotten.
    Forget,
    /// A forgotten card comes back.
    Restore,
    /// A policy is set, or taken away.
    Policy,
    /// A plan is made and kept.
    Plan,
    /// A plan to archive is made and carried out.
    Archive,
    /// The same for all tenants together.
    ArchiveAll,
    /// The last run is taken back.
    Undo,
    /// What is forgotten is purged.
    Purge,
    /// Archived cards go to the cold tier.
    Freeze,
    /// Cards are used, among them archived ones, which come back.
    Feedback,
    /// What was told several times is summed up.
    Consolidate,
    /// Index files are written.
    Checkpoint,
    /// The store file is written anew.
    Compact,
    /// A tenant is removed with every byte.
    Wipe,
    /// Another store's export is read.
    Import,
    /// What is due by itself.
    ForgetDue,
    /// Closed and opened again.
    Reopen,
    /// Nothing but time passes.
    Pass,
}

/// How often a random workload takes each step, in parts of their sum.
const WEIGHTS: [(Act, usize); 30] = [
    (Act::Remember, 10),
    (Act::RememberMany(6), 8),
    (Act::Turn, 4),
    (Act::Again, 3),
    (Act::Fact, 4),
    (Act::Brief, 2),
    (Act::Twice, 2),
    (Act::Relate, 2),
    (Act::Preference, 3),
    (Act::Replace, 4),
    (Act::Edit, 4),
    (Act::Narrow, 2),
    (Act::Forget, 7),
    (Act::Restore, 3),
    (Act::Policy, 2),
    (Act::Plan, 1),
    (Act::Archive, 4),
    (Act::ArchiveAll, 2),
    (Act::Undo, 3),
    (Act::Purge, 5),
    (Act::Freeze, 5),
    (Act::Feedback, 4),
    (Act::Consolidate, 2),
    (Act::Checkpoint, 4),
    (Act::Compact, 3),
    (Act::Wipe, 2),
    (Act::Import, 1),
    (Act::ForgetDue, 2),
    (Act::Reopen, 4),
    (Act::Pass, 2),
];

/// The steps of a seed: a few to begin with, then any. One in four has enough cards for index
/// files.
pub fn random(seed: u64) -> Vec<Act> {
    let mut numbers = Numbers::part(seed, 1);
    let mut acts = vec![Act::RememberMany(12), Act::Turn, Act::Fact];
    if numbers.once_in(4) {
        acts.extend([Act::RememberMany(140), Act::Checkpoint]);
    }
    let sum: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    for _ in 0..12 + numbers.below(24) {
        let mut at = numbers.below(sum);
        let chosen = WEIGHTS.iter().find(|(_, weight)| {
            let here = at < *weight;
            at = at.wrapping_sub(*weight);
            here
        });
        acts.extend(chosen.map(|(act, _)| *act));
    }
    acts
}

/// Options of every store of the campaign.
pub fn options(io: Arc<dyn Io>, clock: Arc<ManualClock>) -> Options {
    Options {
        io,
        clock,
        embedder: None,
        cache_bytes: 1 << 20,
        index_bytes: 64 << 20,
        seed: 7,
        ..Options::default()
    }
}

/// When every workload begins.
pub fn start() -> Timestamp {
    Timestamp::from_micros(1_704_067_200_000_000)
}

/// A store under work.
pub struct Live {
    /// Open, unless opening it has failed.
    pub store: Option<Store>,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    io: Arc<dyn Io>,
    directory: std::path::PathBuf,
    seed: u64,
    /// How many steps were done.
    steps: u64,
    /// How many words were given out.
    words: u64,
    last_run: Option<(Option<String>, RunId)>,
    /// Whether the clock goes back now and then.
    pub unsteady: bool,
}

impl Live {
    /// A store that is about to be made in a directory.
    pub fn new(io: Arc<dyn Io>, directory: impl Into<std::path::PathBuf>, seed: u64) -> Self {
        Self {
            store: None,
            clock: Arc::new(ManualClock::new(start())),
            io,
            directory: directory.into(),
            seed,
            steps: 0,
            words: 0,
            last_run: None,
            unsteady: false,
        }
    }

    /// Closes the store; the next step opens it again.
    pub fn close(&mut self) {
        self.store = None;
    }

    /// Opens the store where it is not open.
    ///
    /// # Errors
    /// Those of opening.
    pub fn open(&mut self) -> memcards::Result<&Store> {
        if self.store.is_none() {
            let options = options(self.io.clone(), self.clock.clone());
            self.store = Some(Store::open(&self.directory, options)?);
        }
        self.store.as_ref().ok_or_else(|| memcards::Error::Internal("no store".into()))
    }

    /// The words given out so far.
    pub fn words(&self) -> impl Iterator<Item = String> {
        (0..self.words).map(word)
    }

    /// Does one step; it is acknowledged when this returns.
    ///
    /// # Errors
    /// Those of the calls that it is made of.
    pub fn act(&mut self, act: Act) -> memcards::Result<()> {
        self.steps += 1;
        let mut numbers = Numbers::part(self.seed, 1000 + self.steps);
        self.pass(Duration::from_micros(1_000_000 + numbers.below(600) as i64 * 1_000_000));
        if self.unsteady && numbers.once_in(3) {
            self.pass(Duration::from_micros(-(numbers.below(400 * 24 * 3600) as i64) * 1_000_000));
        }
        if act == Act::Reopen {
            self.store = None;
        }
        let store = self.open()?.clone();
        acts::perform(self, &store, act, &mut numbers)
    }

    fn pass(&self, length: Duration) {
        // A manual clock can always be set.
        let _ = self.clock.set(self.clock.now().plus(length));
    }

    fn fresh(&mut self) -> String {
        self.words += 1;
        word(self.words - 1)
    }
}

/// Every card of a tenant, the first recorded first.
///
/// # Errors
/// When the store cannot be read.
pub fn all_cards(tenant: &Tenant) -> memcards::Result<Vec<Card>> {
    let request = List {
        order: Order::OldestFirst,
        limit: Some(1000),
        include: EVERYTHING.to_vec(),
        ..List::default()
    };
    Ok(tenant.list(&request)?.cards.into_iter().map(|view| view.card).collect())
}

/// Those of them in a state.
fn cards_in(tenant: &Tenant, state: State) -> memcards::Result<Vec<Card>> {
    Ok(all_cards(tenant)?.into_iter().filter(|card| card.state == state).collect())
}

/// A request that remembers a text with its vector.
pub fn told(content: String) -> memcards::Remember {
    memcards::Remember { vector: Some(vector(&content)), content, ..memcards::Remember::default() }
}
