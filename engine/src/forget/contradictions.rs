//! Finding statements that cannot both hold: what was told through doors that do not compare, or
//! was stored before the rules knew better.
//!
//! Of two statements that say the contrary, or give one thing another value, the later in time
//! holds, by the rules by which `remember` judges: facts and merge keys may have one value,
//! plain statements supersede where they are opposite or say of themselves that something has
//! changed. A weak card overturns no stated one, and whatever somebody has linked stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::card::{Card, LinkKind, STATED_CONFIDENCE, State};
use crate::forget::duplicates::Told;
use crate::judge::{Analysis, Relation};
use crate::learn::compare::{are_about_the_same, are_compatible};
use crate::learn::relation_of;
use crate::store::Lookup;
use crate::time::Timestamp;

/// Why an earlier statement does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// The later one says the contrary.
    Opposite,
    /// The later one gives another value.
    Value,
}

/// An earlier statement and the later one that holds.
pub(super) struct Replaced {
    pub(super) old: usize,
    pub(super) by: usize,
    pub(super) why: Otherwise,
}

/// Which of some cards do not hold any more because of another one, the newest that says so. A
/// card that is replaced itself replaces none.
pub(super) fn contradictions(told: &[Told], now: Timestamp) -> Vec<Replaced> {
    let mut groups: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (at, one) in told.iter().enumerate() {
        if one.card.state != State::Active || one.card.is_event() {
            continue;
        }
        for key in topics(one) {
            groups.entry(key).or_default().push(at);
        }
    }
    let mut found: BTreeMap<usize, Replaced> = BTreeMap::new();
    let mut stays: BTreeSet<usize> = BTreeSet::new();
    for mut group in groups.into_values().filter(|group| group.len() > 1) {
        // The latest first: what it replaces replaces nothing.
        group.sort_by_key(|at| {
            let card = &told[*at].card;
            std::cmp::Reverse((card.start(), card.recorded_at, card.id))
        });
        for (place, by) in group.iter().enumerate() {
            if found.contains_key(by) {
                continue;
            }
            for old in &group[place + 1..] {
                if found.contains_key(old) || stays.contains(old) {
                    continue;
                }
                if let Some(why) = otherwise(&told[*old], &told[*by], now) {
                    stays.insert(*by);
                    found.insert(*old, Replaced { old: *old, by: *by, why });
                }
            }
        }
    }
    found.into_values().collect()
}

/// What two cards must have in common to be compared.
fn topics(told: &Told) -> Vec<Vec<u8>> {
    let card = &told.card;
    let fact = card.fact.iter().map(|fact| Lookup::Fact(fact).key().to_vec());
    let key = card.merge_key.iter().map(|key| Lookup::MergeKey(key).key().to_vec());
    let hashes = told.analysis.lookup_hashes().into_iter().flatten().map(|hash| hash.to_le_bytes().to_vec());
    fact.chain(key).chain(hashes).collect()
}

/// Why the later of two cards takes the place of the earlier; `None` when it does not.
fn otherwise(old: &Told, new: &Told, now: Timestamp) -> Option<Otherwise> {
    let (earlier, later) = (&old.card, &new.card);
    let linked = |from: &Card, to: &Card| {
        from.links.iter().any(|link| link.to == to.id && link.kind != LinkKind::Related)
    };
    let voice = |card: &Card| card.source().and_then(|source| source.role);
    let barred = earlier.pinned
        || later.start() > now
        || later.start() < earlier.start()
        || later.confidence < STATED_CONFIDENCE && earlier.confidence >= STATED_CONFIDENCE
        || voice(earlier) != voice(later)
        || linked(earlier, later)
        || linked(later, earlier)
        || old.refuses(new)
        || !are_about_the_same(later, earlier);
    if barred {
        return None;
    }
    let relation = relation_of((&old.analysis, earlier.polarity), (&new.analysis, later.polarity));
    if relation == Relation::Opposite {
        return Some(Otherwise::Opposite);
    }
    let same_key = |a: &Option<String>, b: &Option<String>| matches!((a, b), (Some(a), Some(b)) if a == b);
    let same_fact = matches!(
        (&earlier.fact, &later.fact),
        (Some(a), Some(b)) if Lookup::Fact(a).key() == Lookup::Fact(b).key()
    );
    let says_the_same = matches!(relation, Relation::Identical | Relation::Same);
    let by_key = same_key(&earlier.merge_key, &later.merge_key) && !says_the_same;
    let by_fact = same_fact && !are_compatible(later, earlier);
    let changed = relation == Relation::ValueChanged { explicit: true };
    (by_key || by_fact || changed).then_some(Otherwise::Value)
}

/// A card and what the rules read in it.
pub(super) type Read<'a> = (&'a Card, &'a Analysis);

/// True when two statements that stand side by side would mix what held at different times.
pub(super) fn differ_in_time((a, mine): Read<'_>, (b, theirs): Read<'_>) -> bool {
    let facts = matches!(
        (&a.fact, &b.fact),
        (Some(a), Some(b)) if Lookup::Fact(a).key() == Lookup::Fact(b).key()
    );
    let relation = relation_of((mine, a.polarity), (theirs, b.polarity));
    facts && !are_compatible(a, b) || matches!(relation, Relation::Opposite | Relation::ValueChanged { .. })
}
