//! When a card next needs attention: the queue that lets a plan read what is due, not the store.
//!
//! The formulas of `lifecycle` give the instant at which the rules next have something to do
//! with a card, so the queue only has to be told of cards that changed. It is kept up from the
//! change log before a plan is made, not by whoever writes. An entry may come too early (the
//! card was used since): then the plan sees that nothing is due and drops it. None comes too
//! late: a change that makes a card due sooner is in the log. Another policy means other
//! instants, and a new queue.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::card::{Card, CardId, Track};
use crate::forget::lifecycle::Life;
use crate::forget::resolve::{Policies, Resolved};
use crate::store::{Batch, ChangeKind, Database, ReadBytes, Tables, TenantId};
use crate::time::Timestamp;

/// Name of the tenant's setting that says how far the queue is.
const SETTING: &str = "due";
/// Cards of one transaction.
const PIECE: usize = 4096;

/// How far the queue of a tenant is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Progress {
    /// Identifies the policies whose instants it holds.
    policies: u64,
    /// The last change that is in.
    upto: u64,
    /// While it is made anew: the last card that is in.
    after: Option<CardId>,
    building: bool,
    /// Cards that the tenant has, in every state.
    pub(crate) cards: u64,
}

/// The rules of a tenant, each resolved once.
pub(crate) struct RuleBook<'a> {
    policies: &'a Policies,
    known: HashMap<(Track, String), Resolved>,
}

impl<'a> RuleBook<'a> {
    pub(crate) fn new(policies: &'a Policies) -> Self {
        Self { policies, known: HashMap::new() }
    }

    /// What holds for a card.
    pub(crate) fn of(&mut self, card: &Card) -> &Resolved {
        let policies = self.policies;
        self.known
            .entry((card.track, card.category.clone()))
            .or_insert_with(|| policies.resolve(card.track, &card.category))
    }
}

/// What the formulas need to know of a card.
pub(crate) fn life(card: &Card) -> Life {
    Life {
        recorded_at: card.recorded_at,
        reinforced_at: card.reference(),
        expires_at: card.expires_at,
        updated_at: card.updated_at,
        confidence: card.confidence,
        importance: card.importance,
        pinned: card.is_exempt(),
        state: card.state,
    }
}

/// Brings a tenant's queue up to date; gives how far it is. `read` counts the cards it reads.
pub(crate) fn catch_up(
    database: &Database,
    tenant: TenantId,
    policies: &Policies,
    read: &mut u64,
) -> Result<Progress> {
    let digest = policies.digest();
    let mut book = RuleBook::new(policies);
    loop {
        let tables = database.read()?;
        let before: Option<Progress> = tables.setting(tenant, SETTING)?;
        let (last, _) = tables.last_change(tenant)?;
        let fits = before.as_ref().filter(|held| held.policies == digest && held.upto <= last);
        let Some(held) = fits else {
            let fresh = Progress { policies: digest, upto: last, building: true, ..Progress::default() };
            write(database, tenant, before, fresh, vec![], true)?;
            continue;
        };
        if !held.building && held.upto == last {
            return Ok(held.clone());
        }
        let (next, due) = match held.building {
            true => build(&tables, tenant, held, &mut book, read)?,
            false => follow(&tables, tenant, held, &mut book, read)?,
        };
        write(database, tenant, before.clone(), next, due, false)?;
    }
}

/// The next cards of a queue that is made anew.
fn build<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    held: &Progress,
    book: &mut RuleBook<'_>,
    read: &mut u64,
) -> Result<(Progress, Vec<(Timestamp, CardId)>)> {
    let (mut next, mut due) = (held.clone(), Vec::new());
    next.building = false;
    for card in tables.outlines(tenant, held.after)? {
        if next.cards - held.cards >= PIECE as u64 {
            next.building = true;
            break;
        }
        let card = card?;
        *read += 1;
        next.cards += 1;
        next.after = Some(card.id);
        due.extend(life(&card).next(book.of(&card)).map(|(at, _)| (at, card.id)));
    }
    if !next.building {
        next.after = None;
    }
    Ok((next, due))
}

/// The next changes that the queue does not hold.
fn follow<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    held: &Progress,
    book: &mut RuleBook<'_>,
    read: &mut u64,
) -> Result<(Progress, Vec<(Timestamp, CardId)>)> {
    let (mut next, mut changed) = (held.clone(), BTreeSet::new());
    for logged in tables.changes(tenant, held.upto)? {
        if changed.len() >= PIECE {
            break;
        }
        let logged = logged?;
        next.upto = logged.sequence;
        let change = logged.change;
        match change.kind {
            ChangeKind::Version | ChangeKind::Touch => {
                changed.insert(change.card);
                let new = change.kind == ChangeKind::Version && change.version == 1;
                next.cards += u64::from(new);
            }
            ChangeKind::Purge => next.cards = next.cards.saturating_sub(1),
            _ => {}
        }
    }
    let mut due = Vec::new();
    for id in changed {
        *read += 1;
        if let Some(card) = tables.outline(tenant, id)? {
            due.extend(life(&card).next(book.of(&card)).map(|(at, _)| (at, card.id)));
        }
    }
    Ok((next, due))
}

/// Writes a step, unless another one was taken meanwhile.
fn write(
    database: &Database,
    tenant: TenantId,
    before: Option<Progress>,
    next: Progress,
    due: Vec<(Timestamp, CardId)>,
    anew: bool,
) -> Result<()> {
    database.write(move |batch| {
        if batch.tables().setting::<Progress>(tenant, SETTING)? != before
            || !batch.tables().has_tenant(tenant)?
        {
            return Ok(());
        }
        if anew {
            batch.clear_due(tenant)?;
        }
        for (at, card) in due {
            batch.put_due(tenant, at, card)?;
        }
        batch.put_setting(tenant, SETTING, &next)
    })
}

/// Entries that are worth a new queue.
const LEFT_OVER: u64 = 64;

/// Drops a queue of which most is about cards that have become cold since: with these nothing is
/// due, as a rule. The next plan makes it anew, for which no cold card is read.
pub(crate) fn drop_left_over(database: &Database, tenant: TenantId) -> Result<bool> {
    let tables = database.read()?;
    let held: Option<Progress> = tables.setting(tenant, SETTING)?;
    let Some(held) = held.filter(|held| !held.building) else { return Ok(false) };
    let hot = held.cards.saturating_sub(tables.cold_statistics(tenant)?.cards);
    let entries = tables.due(tenant, Timestamp::MAX)?.count() as u64;
    if entries <= hot.saturating_mul(2).saturating_add(LEFT_OVER) {
        return Ok(false);
    }
    database.write(move |batch| {
        batch.clear_due(tenant)?;
        batch.remove_setting(tenant, SETTING)
    })
}

/// Drops entries that came too early.
pub(crate) fn drop_stale(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    stale: &[(Timestamp, CardId)],
) -> Result<()> {
    for (at, card) in stale {
        batch.remove_due(tenant, *at, *card)?;
    }
    Ok(())
}
