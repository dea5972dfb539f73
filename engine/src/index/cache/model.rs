//! Partitions under the model checker: who writes, who reads, who loads and who makes room, in
//! every order of their steps, up to a number of preemptions. See [`crate::sync`].
//!
//! The store is a list of committed changes here; slots, partitions and their locks are the
//! real ones.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use loom::thread;

use super::*;
use crate::card::{Card, CardId};
use crate::store::ChangeKind;

const TENANT: TenantId = TenantId(1);
const KEY: Key = (TENANT, Track::Semantic);
const OTHER: Key = (TENANT, Track::Episodic);

/// A store of two tracks, and its indexes.
struct World {
    cache: IndexCache,
    /// Committed, whether or not the indexes were told.
    committed: Mutex<Vec<Applied>>,
    /// How many changes their writers were told of.
    acknowledged: AtomicUsize,
}

impl World {
    fn new() -> Self {
        Self {
            cache: IndexCache::new(0),
            committed: Mutex::new(Vec::new()),
            acknowledged: AtomicUsize::new(0),
        }
    }

    /// Commits a change, as the writer does: only one thread may.
    fn commit(&self, kind: ChangeKind, card: u8) {
        let change = {
            let mut committed = self.committed.lock();
            let sequence = committed.len() as u64 + 1;
            let id = CardId::from_bytes([card; 16]);
            committed.push(Applied {
                tenant: TENANT,
                sequence,
                checksum: sequence,
                kind,
                card: Arc::new(Card::placeholder(id, Track::Semantic, 1)),
                vector: None,
                payload: None,
            });
            committed.last().unwrap().clone()
        };
        self.cache.apply(&[change]);
        self.acknowledged.fetch_add(1, Ordering::Release);
    }

    fn load(&self, (_, track): Key) -> Result<Loaded> {
        let mut partition = Partition::default();
        // One transaction sees one state.
        let committed = self.committed.lock().clone();
        for change in &committed {
            if change.card.track == track {
                partition.apply(&Update {
                    sequence: change.sequence,
                    checksum: change.checksum,
                    kind: change.kind,
                    card: change.card.clone(),
                    vector: None,
                    prepared: None,
                })?;
            }
        }
        let last = committed.len() as u64;
        partition.catch_up(last, last);
        Ok(Loaded { partition, saved: 0, saved_change: 0, unscrubbed: false })
    }

    fn obtain(&self, key: Key) -> SlotRef {
        let (slot, loaded) = self.cache.obtain(key, || self.load(key)).unwrap();
        if loaded {
            self.cache.make_room(0, |_, _| {});
        }
        slot
    }

    /// What is read holds all that was acknowledged before, and nothing that is not committed.
    fn read(&self, gone: usize) -> usize {
        let acknowledged = self.acknowledged.load(Ordering::Acquire);
        let slot = self.obtain(KEY);
        let partition = slot.read().unwrap();
        let (applied, checksum) = partition.applied();
        assert_eq!(applied, checksum);
        assert!(applied as usize >= acknowledged, "{applied} of {acknowledged}");
        let rows = partition.len();
        assert!(rows + gone >= acknowledged, "{rows} rows of {acknowledged}");
        assert!(rows <= applied as usize);
        rows
    }
}

/// A thread with room for what a partition does with a change.
fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::Builder::new().stack_size(1 << 16).spawn(work).unwrap()
}

/// As [`crate::sync::check`], in such a thread.
fn check(name: &str, model: fn()) {
    crate::sync::check(name, move || spawn(model).join().unwrap());
}

fn run(writer: impl FnOnce(&World) + Send + 'static, reader: impl FnOnce(&World)) -> sync::Arc<World> {
    let world = sync::Arc::new(World::new());
    let shared = world.clone();
    let writer = spawn(move || writer(&shared));
    reader(&world);
    writer.join().unwrap();
    world
}

#[test]
fn who_reads_sees_what_was_acknowledged_also_while_it_loads() {
    check("a writer and a reader that loads", || {
        let write = |world: &World| {
            world.commit(ChangeKind::Version, 1);
            world.commit(ChangeKind::Version, 2);
        };
        let world = run(write, |world| assert!(world.read(0) <= 2));
        assert_eq!(world.read(0), 2);
    });
}

#[test]
fn a_writer_reads_its_own_writes_while_others_load() {
    check("a writer that reads, and a reader", || {
        let write = |world: &World| {
            world.commit(ChangeKind::Version, 1);
            assert_eq!(world.read(0), 1);
        };
        let world = run(write, |world| assert!(world.read(0) <= 1));
        world.commit(ChangeKind::Version, 2);
        assert_eq!(world.read(0), 2);
    });
}

#[test]
fn what_is_taken_out_loses_no_change() {
    check("a writer, a reader, and another partition that takes its place", || {
        let read = |world: &World| {
            world.read(0);
            // There is room for one.
            world.obtain(OTHER);
            world.read(0);
        };
        let world = run(|world| world.commit(ChangeKind::Version, 1), read);
        assert_eq!(world.read(0), 1);
        assert!(world.cache.statistics().partitions <= 2);
    });
}

#[test]
fn two_readers_and_one_who_makes_room() {
    check("two readers and one who makes room", || {
        let world = sync::Arc::new(World::new());
        world.commit(ChangeKind::Version, 1);
        let threads = [KEY, OTHER].map(|key| {
            let world = world.clone();
            spawn(move || drop(world.obtain(key).read().unwrap()))
        });
        assert_eq!(world.read(0), 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(world.read(0), 1);
    });
}

#[test]
fn a_load_that_fails_is_begun_anew_by_who_waits() {
    check("a load that fails", || {
        let world = sync::Arc::new(World::new());
        let shared = world.clone();
        let failing = spawn(move || {
            let failed = shared.cache.obtain(KEY, || Err(Error::Internal("of the model".into())));
            // Another one may have loaded it before.
            failed.is_err()
        });
        world.commit(ChangeKind::Version, 1);
        assert_eq!(world.read(0), 1);
        failing.join().unwrap();
        world.commit(ChangeKind::Version, 2);
        assert_eq!(world.read(0), 2);
    });
}

#[test]
fn who_drops_a_card_and_who_loads_agree() {
    check("a card that goes away", || {
        let write = |world: &World| {
            world.commit(ChangeKind::Version, 1);
            world.commit(ChangeKind::Purge, 1);
        };
        let world = run(write, |world| assert!(world.read(2) <= 2));
        let slot = world.obtain(KEY);
        let partition = slot.read().unwrap();
        assert_eq!(partition.len(), partition.dropped());
    });
}
