//! What the rules read in statements that are held, kept for the next comparison.
//!
//! Reading a text takes longer than comparing two. Many statements are compared with the
//! same ones, so what was read of them stays for a while, by card and version: the text of a
//! version never changes. Only what is committed may be put here.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::card::CardId;
use crate::judge::Analysis;
use crate::store::TenantId;

/// Analyses in one generation, about half a kilobyte each; there are two.
const GENERATION: usize = 8192;

type Key = (TenantId, CardId, u32);

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Key, Arc<Analysis>>,
    old: HashMap<Key, Arc<Analysis>>,
}

/// Analyses of the statements compared last, of all tenants.
#[derive(Debug, Default)]
pub(crate) struct Analyses(Mutex<Generations>);

impl Analyses {
    /// The analysis of what a version of a card states.
    pub(crate) fn get(&self, tenant: TenantId, card: CardId, version: u32) -> Option<Arc<Analysis>> {
        let key = (tenant, card, version);
        let mut kept = self.0.lock();
        if let Some(found) = kept.young.get(&key) {
            return Some(found.clone());
        }
        let found = kept.old.remove(&key)?;
        kept.put(key, found.clone());
        Some(found)
    }

    /// Keeps the analysis of what a committed version of a card states.
    pub(crate) fn insert(&self, tenant: TenantId, card: CardId, version: u32, analysis: Arc<Analysis>) {
        self.0.lock().put((tenant, card, version), analysis);
    }
}

impl Generations {
    fn put(&mut self, key: Key, analysis: Arc<Analysis>) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, analysis);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let kept = Analyses::default();
        let analysis = Arc::new(crate::judge::analyze("tea"));
        let card = |n: usize| CardId::from_bytes((n as u128).to_be_bytes());
        for n in 0..GENERATION * 5 {
            kept.insert(TenantId(1), card(n), 1, analysis.clone());
            assert!(kept.get(TenantId(1), card(0), 1).is_some());
        }
        let there = (0..GENERATION * 5).filter(|n| kept.get(TenantId(1), card(*n), 1).is_some()).count();
        assert!(there <= 2 * GENERATION + 1, "{there}");
        assert!(kept.get(TenantId(2), card(0), 1).is_none() && kept.get(TenantId(1), card(0), 2).is_none());
    }
}
