//! The store against golden files, flipped bits, failing file operations, other processes,
//! made-up exports and copies made while it is written.

#![allow(clippy::unwrap_used)]

mod backup;
mod damage;
mod faults;
#[path = "../common/faulty_io.rs"]
mod faulty_io;
mod forgetting;
mod golden;
mod import;
mod indexes;
mod lock;
mod rescue;

use std::sync::Arc;

use memcards::exchange::Export;
use memcards::{Include, List, ManualClock, Options, Order, Page, Store, Tenant, Timestamp};

/// Every state there is.
pub(crate) const EVERYTHING: [Include; 4] =
    [Include::Superseded, Include::Archived, Include::Candidates, Include::Forgotten];

/// Options without a model, with a clock that stands still.
pub(crate) fn options() -> Options {
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_700_000_000_000_000)));
    Options { embedder: None, clock, cache_bytes: 1 << 20, seed: 11, ..Options::default() }
}

/// Every card of a tenant as it is now.
pub(crate) fn everything(tenant: &Tenant) -> memcards::Result<Page> {
    let request = List {
        order: Order::OldestFirst,
        limit: Some(1000),
        include: EVERYTHING.to_vec(),
        ..List::default()
    };
    tenant.list(&request)
}

/// The whole content of a store as bytes.
pub(crate) fn content(store: &Store) -> memcards::Result<Vec<u8>> {
    let mut out = Vec::new();
    store.export(&mut out, &Export { vectors: true, ..Export::default() }, |_| {})?;
    Ok(out)
}
