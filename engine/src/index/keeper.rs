//! Background work of the indexes, off every caller's path: comparing large files with their
//! checksums, linking vectors that wait, and making partitions anew of which most has gone away.
//!
//! One thread per open store. It sleeps until a partition has work, and holds no lock while
//! it works but the index's own for maintenance.

use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};

use crate::index::cache::IndexCache;
use crate::store::Database;

/// Tells the keeper that there is work, or that it is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wake {
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Debug, Default)]
struct State {
    work: bool,
    over: bool,
}

impl Wake {
    /// There may be work.
    pub(crate) fn up(&self) {
        let (state, signal) = &*self.state;
        state.lock().work = true;
        signal.notify_one();
    }

    fn end(&self) {
        let (state, signal) = &*self.state;
        state.lock().over = true;
        signal.notify_one();
    }

    fn is_over(&self) -> bool {
        self.state.0.lock().over
    }

    /// Waits for work; false when it is over.
    fn wait(&self) -> bool {
        let (state, signal) = &*self.state;
        let mut state = state.lock();
        while !state.work && !state.over {
            signal.wait(&mut state);
        }
        state.work = false;
        !state.over
    }
}

/// The thread; it ends with this value.
#[derive(Debug)]
pub(crate) struct Keeper {
    wake: Wake,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the thread. Without one everything is found all the same, by scans.
    pub(crate) fn start(cache: &Arc<IndexCache>, database: &Arc<Database>) -> Self {
        let wake = cache.wake().clone();
        let (cache, database) = (cache.clone(), database.clone());
        let thread = std::thread::Builder::new().name("memcards-keeper".into()).spawn({
            let wake = wake.clone();
            move || {
                while wake.wait() {
                    cache.verify_files(&database, &|| wake.is_over());
                    cache.rebuild_sparse(&database, &|| wake.is_over());
                    for vectors in cache.due() {
                        while !wake.is_over() && vectors.maintain(1) {}
                    }
                }
            }
        });
        if let Err(error) = &thread {
            tracing::warn!(%error, "no thread for background work; large indexes are scanned, not walked");
        }
        Self { wake, thread: thread.ok() }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.wake.end();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread for background work ended with a panic");
        }
    }
}
