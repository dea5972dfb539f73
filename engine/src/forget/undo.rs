//! Taking back what a run has done: content, links, times, look-ups.
//!
//! Each card gets the fields of its version before the run, as a new version: the history of
//! what happened in between stays. A card that was changed since the run is left alone.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::card::{Card, CardId, Reason, State};
use crate::forget::request::forget;
use crate::forget::run::{Beside, RunItem};
use crate::forget::{regain_lookups, release_lookups};
use crate::learn::{Reading, register_content};
use crate::store::{Batch, LookupKey, TableId, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Action, RunId};
use crate::{Error, Result};

/// Items of one transaction.
pub(crate) const PIECE: usize = 128;

/// Some items of a run to be taken back.
pub(crate) struct Undoing {
    pub(crate) run: RunId,
    pub(crate) tenant: TenantId,
    /// Numbers of the items.
    pub(crate) numbers: Range<u32>,
    pub(crate) reason: Reason,
    pub(crate) now: Timestamp,
}

/// What became of one item: the card, and why it was left alone.
pub(crate) type Outcome = (CardId, Option<&'static str>);

impl Undoing {
    /// Takes the items back, the last first; each is noted as undone in the same transaction.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Vec<Outcome>> {
        let (run, Range { start, end }) = (self.run.0, self.numbers.clone());
        let items: Vec<(u32, RunItem)> = batch
            .tables()
            .items(TableId::RunItems, self.tenant, run, start)?
            .take_while(|item| item.as_ref().map_or(true, |(number, _)| *number < end))
            .collect::<Result<_>>()?;
        let (mut outcomes, mut undone) = (Vec::with_capacity(items.len()), BTreeMap::new());
        for (number, item) in items.into_iter().rev() {
            if item.why.is_some() || item.undone {
                continue;
            }
            let why = self.take_back(batch, &item)?;
            outcomes.push((item.id, why));
            if why.is_none() {
                undone.insert(number, RunItem { undone: true, ..item });
            }
        }
        batch.replace_items(TableId::RunItems, self.tenant, run, undone)?;
        Ok(outcomes)
    }

    fn take_back(&self, batch: &mut Batch<'_>, item: &RunItem) -> Result<Option<&'static str>> {
        if item.action == Action::Purge {
            return Ok(Some("purged"));
        }
        let mut why = None;
        if let Some(Beside { id, before, after }) = item.beside {
            let present = batch.tables().card(self.tenant, id)?;
            // Of several that were taken over, the first that comes back has seen to it.
            let seen_to =
                present.is_some_and(|card| card.version == after + 1 && card.reason.action == "undone");
            if !seen_to {
                why = self.reinstate(batch, id, (before, after))?;
            }
            if why.is_some() {
                return Ok(why);
            }
        }
        if item.before != item.after {
            why = self.reinstate(batch, item.id, (item.before, item.after))?.or(why);
        }
        if why.is_none() {
            self.lead_back(batch, item)?;
        }
        Ok(why)
    }

    /// Lets the look-ups of cards that had become one lead where they led before, unless they
    /// lead to a card that is not of these by now.
    fn lead_back(&self, batch: &mut Batch<'_>, item: &RunItem) -> Result<()> {
        for (key, before) in &item.lookups {
            let Some(key) = read_key(key) else {
                return Err(Error::corrupt("table run items", "a look-up's key is not hexadecimal"));
            };
            let now = batch.lookup_key(self.tenant, &key)?;
            let card = now.map(|id| batch.tables().card(self.tenant, id)).transpose()?.flatten();
            if card.is_none_or(|card| card.reason.action == "undone") {
                batch.point_key(self.tenant, key, *before)?;
            }
        }
        Ok(())
    }

    /// Gives a card the fields of an earlier version; `before` 0: it was made by the run.
    fn reinstate(
        &self,
        batch: &mut Batch<'_>,
        id: CardId,
        (before, after): (u32, u32),
    ) -> Result<Option<&'static str>> {
        let Some(present) = batch.tables().card(self.tenant, id)? else { return Ok(Some("gone")) };
        if present.version != after && !self.is_as(batch, &present, after)? {
            return Ok(Some("changed"));
        }
        if before == 0 {
            let reason = Reason { action: "undone".into(), ..self.reason.clone() };
            forget(batch, self.tenant, Card { reason, ..present }, self.now)?;
            return Ok(None);
        }
        let Some(earlier) = batch.tables().version(self.tenant, id, before)? else {
            let message = format!("version {before} of card {id} is missing");
            return Err(Error::corrupt("table versions", message));
        };
        let vector = match earlier.vector_version == present.vector_version {
            true => None,
            false => Some(batch.tables().vector(self.tenant, &earlier)?),
        };
        let reason = Reason { action: "undone".into(), ..self.reason.clone() };
        let card = batch.revise(self.tenant, Card { reason, ..earlier }, vector, self.now)?;
        release_lookups(batch, self.tenant, &present)?;
        if card.state != State::Forgotten {
            register_content(batch, self.tenant, &card, &Reading::default())?;
            if card.state != State::Superseded {
                regain_lookups(batch, self.tenant, &card)?;
            }
        }
        Ok(None)
    }
}

impl Undoing {
    /// True when a card is again what one of its versions was: what was done to it since was
    /// undone.
    fn is_as(&self, batch: &Batch<'_>, present: &Card, version: u32) -> Result<bool> {
        let Some(then) = batch.tables().version(self.tenant, present.id, version)? else { return Ok(false) };
        let again = Card {
            version: then.version,
            updated_at: then.updated_at,
            reason: then.reason.clone(),
            ..present.clone()
        };
        Ok(again == then)
    }
}

/// A key of a look-up, as a run keeps it.
fn read_key(text: &str) -> Option<LookupKey> {
    let mut key = LookupKey::default();
    if text.len() != 2 * key.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(key)
}
