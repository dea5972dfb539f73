//! Carrying out a plan: exactly what it says, of cards that are exactly as it saw them.
//!
//! Items are done in pieces, each in a transaction of its own together with the record of
//! what was done. A piece begins where the record says that the run stands, so that a run that
//! was cut short, or is carried out by two at once, does every item once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::card::{Card, CardId, LinkKind, Reason, State};
use crate::forget::budget::{Budgets, go_together, is_over_budget};
use crate::forget::erase::erase;
use crate::forget::feedback::archive;
use crate::forget::merge::{merged, taken_over};
use crate::forget::request::forget;
use crate::forget::run::{Beside, RunItem, RunRecord};
use crate::forget::{lookup_keys, mark, regain_lookups, release_lookups};
use crate::index::partition::statement;
use crate::judge::{self, Relation};
use crate::learn::{self, Reading, is_kept, register, relation_of};
use crate::store::{Batch, Lookup, LookupKey, ModelRecord, ReadBytes, TableId, Tables, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Action, PlanItem, RunId};
use crate::{Error, Result};

/// Items of one transaction: short enough that no writer waits long.
pub(crate) const PIECE: usize = 128;

/// Some items of a run, on their way into the store.
pub(crate) struct Piece {
    /// Where the record of the run stands.
    pub(crate) scope: TenantId,
    pub(crate) run: RunId,
    /// Whose cards they are.
    pub(crate) tenant: TenantId,
    pub(crate) tenant_name: String,
    /// The first one's number in the plan.
    pub(crate) first: u32,
    pub(crate) items: Vec<PlanItem>,
    /// Vectors of texts that are to be made, by text.
    pub(crate) vectors: MadeVectors,
    /// What says how many cards are too many, where items depend on it.
    pub(crate) budgets: Option<Arc<Budgets>>,
    pub(crate) now: Timestamp,
}

/// What the caller's thread has embedded of the texts that a run makes.
#[derive(Debug, Default)]
pub(crate) struct MadeVectors {
    /// By text; `None` where the store's vectors are not made from text.
    pub(crate) by_text: HashMap<String, Option<Vec<f32>>>,
    /// The model that made them.
    pub(crate) model: Option<ModelRecord>,
}

/// The items of a piece that starts at the beginning of some items: those that make one card
/// of several stay together.
pub(crate) fn piece_of(items: &mut impl Iterator<Item = Result<(u32, PlanItem)>>) -> Result<Vec<PlanItem>> {
    let mut piece: Vec<PlanItem> = Vec::new();
    let mut items = items.peekable();
    while let Some(item) = items.next_if(|item| match item {
        Ok((_, item)) => {
            let last = piece.last();
            let together = last.is_some_and(|last| last.into.is_some() && last.into == item.into);
            (piece.len() < PIECE || together) && last.is_none_or(|last| go_together(last, item))
        }
        Err(_) => true,
    }) {
        piece.push(item?.1);
    }
    Ok(piece)
}

impl Piece {
    /// Does the items, unless somebody has done them; gives where the run stands now.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<u32> {
        let record: Option<RunRecord> = batch.tables().document(TableId::Runs, self.scope, self.run.0)?;
        let Some(mut record) = record else {
            return Err(Error::NotFound { what: self.run.to_string() });
        };
        let stands = record.done.get(&self.tenant.0).copied().unwrap_or(0);
        if stands != self.first {
            return Ok(stands);
        }
        // All items depend on the same budget, or none does.
        let budgeted = self.items.first().filter(|item| is_over_budget(item));
        let budget = self.budgets.as_ref().zip(budgeted);
        let (mut held, mut most) = (u64::MAX, 0);
        if let Some((budgets, item)) = budget {
            most = budgets.most(batch, item)?;
            match budgets.held(batch, item, self.now)? {
                Some(count) => held = count,
                None => return Ok(self.first),
            }
        }
        let mut all_done = Vec::with_capacity(self.items.len());
        let mut rest = self.items.as_slice();
        while let Some(item) = rest.first() {
            // What makes one card of several, and what is erased, is done together.
            let together = |other: &&PlanItem| {
                other.action == item.action
                    && match item.action {
                        Action::Merge | Action::Supersede => other.into == item.into,
                        action => action == Action::Purge,
                    }
            };
            let (group, after) = rest.split_at(rest.iter().take_while(together).count().max(1));
            let all = match held > most {
                false => vec![RunItem::skipped(item.id, item.action, "within_budget")],
                true => self.execute(batch, group, &record)?,
            };
            if budget.is_some() {
                held -= all.iter().filter(|done| done.why.is_none()).count() as u64;
            }
            all.iter().for_each(|done| record.count(done));
            all_done.extend(all);
            rest = after;
        }
        if let Some((budgets, item)) = budget {
            budgets.note(batch, &item.rule, held)?;
        }
        batch.put_items(TableId::RunItems, self.tenant, (self.run.0, self.first), &all_done)?;
        let number = self.first + all_done.len() as u32;
        record.done.insert(self.tenant.0, number);
        batch.put_document(TableId::Runs, self.scope, self.run.0, &record)?;
        Ok(number)
    }

    fn execute(&self, batch: &mut Batch<'_>, group: &[PlanItem], record: &RunRecord) -> Result<Vec<RunItem>> {
        let item = &group[0];
        match item.action {
            Action::Merge => return self.merge(batch, group, record),
            Action::Supersede => return self.supersede(batch, group, record),
            Action::Purge => return self.purge(batch, group),
            _ => {}
        }
        let skipped = |why| Ok(vec![RunItem::skipped(item.id, item.action, why)]);
        let Some(card) = batch.tables().card(self.tenant, item.id)? else { return skipped("gone") };
        if let Some(why) = changed(item, &card)? {
            return skipped(why);
        }
        let (id, before) = (card.id, card.version);
        let done = |after| Ok(vec![RunItem::done(id, item.action, (before, after))]);
        match item.action {
            Action::Expire => {
                done(forget(batch, self.tenant, self.with(card, item, "expired", record), self.now)?)
            }
            Action::Forget => {
                done(forget(batch, self.tenant, self.with(card, item, "forgotten", record), self.now)?)
            }
            Action::Fade => {
                done(archive(batch, self.tenant, self.with(card, item, "faded", record), self.now)?)
            }
            Action::Archive => {
                done(archive(batch, self.tenant, self.with(card, item, "archived", record), self.now)?)
            }
            Action::Consolidate => self.consolidate(batch, item, before, record),
            Action::Merge | Action::Supersede | Action::Purge => skipped("changed"),
        }
    }

    /// Gives a card the reason of what is done to it.
    fn with(&self, mut card: Card, item: &PlanItem, action: &str, record: &RunRecord) -> Card {
        card.reason = self.reason(item, action, record);
        card
    }

    fn reason(&self, item: &PlanItem, action: &str, record: &RunRecord) -> Reason {
        let why = match &record.why {
            Some(why) => format!("{why}; {} ({})", item.rule, self.run),
            None => format!("{} ({})", item.rule, self.run),
        };
        let actor = record.actor.clone().or_else(|| Some("policy".into()));
        Reason { action: action.into(), actor, why: Some(why) }
    }

    /// Removes cards with all that they hold.
    fn purge(&self, batch: &mut Batch<'_>, group: &[PlanItem]) -> Result<Vec<RunItem>> {
        let mut done = Vec::with_capacity(group.len());
        let mut erased = Vec::with_capacity(group.len());
        for item in group {
            let card = batch.tables().card(self.tenant, item.id)?;
            let why = match &card {
                Some(card) => changed(item, card)?,
                None => Some("gone"),
            };
            done.push(match (card, why) {
                (Some(card), None) => {
                    let before = card.version;
                    erased.push(card.id);
                    RunItem::done(item.id, item.action, (before, 0))
                }
                (_, why) => RunItem::skipped(item.id, item.action, why.unwrap_or("gone")),
            });
        }
        erase(batch, self.tenant, &erased, self.now)?;
        Ok(done)
    }

    /// Lets one card take over those that say the same.
    fn merge(&self, batch: &mut Batch<'_>, group: &[PlanItem], record: &RunRecord) -> Result<Vec<RunItem>> {
        let Members { survivor, members, mut done } = match self.members(batch, group)? {
            Ok(members) => members,
            Err(skipped) => return Ok(skipped),
        };
        if members.is_empty() {
            return Ok(done);
        }
        let others: Vec<Card> = members.iter().map(|(_, card)| card.clone()).collect();
        let (mut card, newest) = merged(&survivor, &others);
        let vector = match newest.id == survivor.id {
            true => None,
            false => Some(batch.tables().vector(self.tenant, newest)?),
        };
        card.reason = self.reason(&group[0], "merged", record);
        let touched: Vec<&Card> = others.iter().chain([&survivor, &card]).collect();
        let led = Led::before(batch, self.tenant, &touched)?;
        let before = survivor.version;
        // First those that go: they let go of their merge keys.
        for (item, member) in members {
            let version = member.version;
            let mut member = taken_over(member, &survivor);
            member.reason = self.reason(item, "merged", record);
            let member = batch.revise(self.tenant, member, None, self.now)?;
            release_lookups(batch, self.tenant, &member)?;
            done.push(RunItem::done(member.id, item.action, (version, member.version)));
        }
        let card = batch.revise(self.tenant, card, vector, self.now)?;
        register(batch, self.tenant, &card, &Reading::default())?;
        self.note_beside(batch, &mut done, led, Beside { id: card.id, before, after: card.version })?;
        Ok(done)
    }

    /// Lets a card that was told later take the place of those that say otherwise.
    fn supersede(
        &self,
        batch: &mut Batch<'_>,
        group: &[PlanItem],
        record: &RunRecord,
    ) -> Result<Vec<RunItem>> {
        let Members { survivor, members, mut done } = match self.members(batch, group)? {
            Ok(members) => members,
            Err(skipped) => return Ok(skipped),
        };
        if members.is_empty() {
            return Ok(done);
        }
        let touched: Vec<&Card> = members.iter().map(|(_, card)| card).chain([&survivor]).collect();
        let led = Led::before(batch, self.tenant, &touched)?;
        let (before, analysis) = (survivor.version, judge::analyze(statement(&survivor)));
        let mut card = self.with(survivor.clone(), &group[0], "superseding", record);
        members.iter().for_each(|(_, old)| card.link(old.id, LinkKind::Supersedes));
        for (item, old) in members {
            let (id, version, polarity) = (old.id, old.version, old.polarity);
            let theirs = judge::analyze(statement(&old));
            let relation = relation_of((&theirs, polarity), (&analysis, survivor.polarity));
            let by = Card { reason: self.reason(item, "superseded", record), ..card.clone() };
            let overturned = relation == Relation::Opposite;
            learn::supersede(batch, self.tenant, old, &by, overturned, self.now)?;
            if let Some(old) = batch.tables().card(self.tenant, id)? {
                release_lookups(batch, self.tenant, &old)?;
            }
            done.push(RunItem::done(id, item.action, (version, version + 1)));
        }
        let card = batch.revise(self.tenant, card, None, self.now)?;
        regain_lookups(batch, self.tenant, &card)?;
        self.note_beside(batch, &mut done, led, Beside { id: card.id, before, after: card.version })?;
        Ok(done)
    }

    /// The cards of items that make one of several, as far as they are as they were; all of the
    /// items as left alone where the card that stays is not.
    fn members<'p>(
        &self,
        batch: &Batch<'_>,
        group: &'p [PlanItem],
    ) -> Result<std::result::Result<Members<'p>, Vec<RunItem>>> {
        let all_skipped =
            |why| Ok(Err(group.iter().map(|item| RunItem::skipped(item.id, item.action, why)).collect()));
        let Some(into) = group[0].into else { return all_skipped("gone") };
        let Some(survivor) = batch.tables().card(self.tenant, into)? else { return all_skipped("gone") };
        if mark(&survivor)? != group[0].into_mark {
            return all_skipped("changed");
        }
        let (mut members, mut done) = (Vec::new(), Vec::with_capacity(group.len()));
        for item in group {
            let card = batch.tables().card(self.tenant, item.id)?;
            let why = match &card {
                Some(card) => changed(item, card)?,
                None => Some("gone"),
            };
            match (card, why) {
                (Some(card), None) => members.push((item, card)),
                (_, why) => done.push(RunItem::skipped(item.id, item.action, why.unwrap_or("gone"))),
            }
        }
        Ok(Ok(Members { survivor, members, done }))
    }

    /// Notes with the items of a group what has become of the card that stays, and of look-ups.
    fn note_beside(&self, batch: &Batch<'_>, done: &mut [RunItem], led: Led, beside: Beside) -> Result<()> {
        let lookups = led.changed(batch, self.tenant)?;
        for item in done.iter_mut().filter(|item| item.why.is_none()) {
            item.beside = Some(beside);
        }
        // The first one is taken back last.
        if let Some(first) = done.iter_mut().find(|item| item.why.is_none()) {
            first.lookups = lookups;
        }
        Ok(())
    }

    /// Makes the card that sums several up, or brings it up to date; these stay as they are.
    fn consolidate(
        &self,
        batch: &mut Batch<'_>,
        item: &PlanItem,
        before: u32,
        record: &RunRecord,
    ) -> Result<Vec<RunItem>> {
        let skipped = |why| Ok(vec![RunItem::skipped(item.id, item.action, why)]);
        let Some(make) = item.make.as_deref() else { return skipped("changed") };
        let mut card = make.clone();
        let sources = sources_of(&card);
        if sources_mark(batch.tables(), self.tenant, &sources)? != Some(item.into_mark) {
            return skipped("changed");
        }
        // That the one which is brought up to date is as it was has been seen to: the item is
        // about it. Of a new one there must not be another one since.
        let present = item.into.map(|id| batch.tables().card(self.tenant, id)).transpose()?.flatten();
        if let (None, Some(key)) = (&present, &card.merge_key)
            && let Some(other) = batch.lookup(self.tenant, &Lookup::MergeKey(key))?
            && batch.tables().card(self.tenant, other)?.is_some_and(|other| is_kept(&other, self.now))
        {
            return skipped("changed");
        }
        let keeps_content = present.as_ref().is_some_and(|present| present.content == card.content);
        let vector = match keeps_content {
            true => None,
            false => match self.vector_of(batch, &card.content, &sources)? {
                Some(vector) => Some(vector),
                None => return skipped("not_embedded"),
            },
        };
        card.reason = self.reason(item, "consolidated", record);
        let touched: Vec<&Card> = present.iter().chain([&card]).collect();
        let led = Led::before(batch, self.tenant, &touched)?;
        let beside = match present {
            Some(present) => {
                let card = batch.revise(self.tenant, Card { id: present.id, ..card }, vector, self.now)?;
                register(batch, self.tenant, &card, &Reading::default())?;
                Beside { id: card.id, before: present.version, after: card.version }
            }
            None => {
                card.id = batch.next_id(self.tenant, &self.tenant_name, self.now)?;
                card.version = 1;
                (card.recorded_at, card.updated_at) = (self.now, self.now);
                let card = batch.create(self.tenant, card, vector.flatten(), None, None)?;
                register(batch, self.tenant, &card, &Reading::default())?;
                Beside { id: card.id, before: 0, after: 1 }
            }
        };
        let lookups = led.changed(batch, self.tenant)?;
        let done = RunItem::done(item.id, item.action, (before, before));
        Ok(vec![RunItem { beside: Some(beside), lookups, ..done }])
    }

    /// The vector of a text: that of the source whose text it is, or what was made for it.
    /// `None` where it should have been made and was not.
    fn vector_of(
        &self,
        batch: &mut Batch<'_>,
        text: &str,
        sources: &[CardId],
    ) -> Result<Option<Option<Vec<f32>>>> {
        for id in sources {
            if let Some(source) = batch.tables().card(self.tenant, *id)?
                && source.content == text
            {
                return batch.tables().vector(self.tenant, &source).map(Some);
            }
        }
        let Some(vector) = self.vectors.by_text.get(text) else { return Ok(None) };
        if let (Some(_), Some(model)) = (vector, &self.vectors.model) {
            batch.require_model(model)?;
        }
        Ok(Some(vector.clone()))
    }
}

/// Cards that become one, and those that cannot.
struct Members<'p> {
    survivor: Card,
    members: Vec<(&'p PlanItem, Card)>,
    done: Vec<RunItem>,
}

/// The cards that a card sums up.
pub(crate) fn sources_of(card: &Card) -> Vec<CardId> {
    card.links.iter().filter(|link| link.kind == LinkKind::Related).map(|link| link.to).collect()
}

/// Where look-ups lead before a run changes them.
struct Led(BTreeMap<LookupKey, Option<CardId>>);

impl Led {
    /// Notes where the look-ups of cards lead.
    fn before(batch: &Batch<'_>, tenant: TenantId, cards: &[&Card]) -> Result<Self> {
        let keys = cards.iter().flat_map(|card| lookup_keys(card));
        keys.map(|key| Ok((key, batch.lookup_key(tenant, &key)?))).collect::<Result<_>>().map(Self)
    }

    /// Those that lead elsewhere now, as a run keeps them.
    fn changed(self, batch: &Batch<'_>, tenant: TenantId) -> Result<Vec<(String, Option<CardId>)>> {
        let mut changed = Vec::new();
        for (key, before) in self.0 {
            if batch.lookup_key(tenant, &key)? != before {
                changed.push((key.iter().map(|byte| format!("{byte:02x}")).collect(), before));
            }
        }
        Ok(changed)
    }
}

/// Why a card is not as the plan has seen it; `None` when it is.
fn changed(item: &PlanItem, card: &Card) -> Result<Option<&'static str>> {
    if mark(card)? == item.mark {
        return Ok(None);
    }
    Ok(Some(match () {
        () if card.state == State::Forgotten && item.action != Action::Purge => "already_forgotten",
        () if card.reference() != item.figures.reference => "used",
        () if card.pinned => "pinned",
        () => "changed",
    }))
}

/// Identifies some cards as they are together; `None` when one of them is gone.
pub(crate) fn sources_mark<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    ids: &[CardId],
) -> Result<Option<u64>> {
    let mut marks = Vec::with_capacity(ids.len() * 8);
    for id in ids {
        let Some(card) = tables.card(tenant, *id)? else { return Ok(None) };
        marks.extend_from_slice(&mark(&card)?.to_le_bytes());
    }
    Ok(Some(xxhash_rust::xxh3::xxh3_64(&marks)))
}
