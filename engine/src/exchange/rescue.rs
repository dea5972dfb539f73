//! Writing what is left of a damaged store as JSON Lines, and naming what is not.
//!
//! The lines are those of any export, so an import makes a sound store of them. What a card
//! says now decides: one whose present version is lost is left out whole, since that version
//! may have said that the card is forgotten, and an earlier one must not come back as if it
//! held. Earlier versions that are lost leave no gap: those behind them move up. A change that
//! is lost from the log is told of where its version is still there; exact look-ups go with
//! the log, so a request that is sent again may be taken for a new one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

use crate::card::{Card, CardId};
use crate::exchange::export::{Exported, Leads, write_line};
use crate::exchange::{ChangeLine, Kind, Line, LookupLine};
use crate::store::{
    Change, ChangeKind, Finding, LoggedChange, LookupChange, ReadBytes, Tables, TenantId, TenantRecord,
};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Where the vectors of a store come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From a model: an import computes them anew.
    Model,
    /// From callers.
    Caller,
    /// That is lost, and the vectors with it.
    Lost,
}

/// What was left out, each place once.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    findings: Vec<Finding>,
    places: HashSet<String>,
}

impl LeftOut {
    /// What could be read; damage is noted and gives nothing.
    pub(super) fn readable<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Ok(found) => Ok(Some(found)),
            Err(Error::Corrupt { place, detail }) => {
                self.note(place, detail);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn note(&mut self, place: String, detail: String) {
        if self.places.insert(place.clone()) {
            self.findings.push(Finding { place, detail });
        }
    }

    /// All of it.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// Every tenant of which there are records. One whose name is lost is called `lost-` and its
/// number.
///
/// # Errors
/// When the store cannot be read at all.
pub(super) fn tenants<T: ReadBytes>(
    tables: &Tables<T>,
    left_out: &mut LeftOut,
) -> Result<Vec<(TenantId, TenantRecord)>> {
    let mut all = Vec::new();
    let mut before = TenantId(0);
    while let Some(id) = tables.tenant_after(before, |error| left_out.readable::<()>(Err(error)).map(drop))? {
        before = id;
        match left_out.readable(tables.tenant(id))? {
            Some(Some(tenant)) => all.push((id, tenant)),
            // It went away.
            Some(None) => {}
            None => {
                let tenant =
                    TenantRecord { name: format!("lost-{}", id.0), created_at: Timestamp::from_micros(0) };
                left_out.note(
                    format!("tenant {}", id.0),
                    format!("its name is lost; it is called {}", tenant.name),
                );
                all.push((id, tenant));
            }
        }
    }
    Ok(all)
}

/// Writes the lines of a tenant.
///
/// # Errors
/// As [`crate::Store::export`], but for damage.
pub(super) fn export_tenant<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    (vectors, origin): (bool, Origin),
    out: &mut impl Write,
    (answer, left_out): (&mut Exported, &mut LeftOut),
    progress: &mut impl FnMut(u64),
) -> Result<()> {
    let mut log = Vec::new();
    for change in tables.changes(tenant, 0)? {
        log.extend(left_out.readable(change)?);
    }
    let (mut purged, mut leads) = (HashMap::new(), Leads::default());
    log.iter().for_each(|logged| leads.follow(logged.sequence, &logged.change.lookups));
    for logged in log.iter().filter(|logged| logged.change.kind == ChangeKind::Purge) {
        purged.insert(logged.change.card, logged.sequence);
    }
    // In order, so that the same damage gives the same lines.
    let mut cards = BTreeMap::new();
    for id in tables.card_ids(tenant)? {
        let Some(id) = left_out.readable(id)? else { continue };
        cards.extend(Readable::of(tables, tenant, id, left_out)?.map(|readable| (id, readable)));
    }
    for LoggedChange { sequence, change, .. } in &log {
        let is_told =
            cards.contains_key(&change.card) || purged.get(&change.card).is_some_and(|at| sequence <= at);
        if !is_told && !change.kind.takes_away() {
            left_out.readable(tables.stored(tenant, change.card))?;
        }
    }
    let mut lines = Lines {
        tables,
        tenant,
        vectors,
        origin,
        cards,
        sequence: 0,
        leads,
        carried: Vec::new(),
        carried_from: 0,
        last: None,
        out,
        answer,
        left_out,
        progress,
    };
    for LoggedChange { sequence, change, .. } in log {
        let kind = match change.kind {
            ChangeKind::Version => Some(Kind::Version),
            ChangeKind::Touch => Some(Kind::Touch),
            ChangeKind::Lookups => Some(Kind::Lookups),
            ChangeKind::Vector => Some(Kind::Vector),
            ChangeKind::Purge | ChangeKind::Cool | ChangeKind::Thaw => None,
        };
        let is_gone = purged.get(&change.card).is_some_and(|purged| sequence <= *purged);
        lines.sequence = lines.sequence.max(sequence);
        lines.change(kind.filter(|_| !is_gone), sequence, change)?;
    }
    lines.rest()?;
    let answer = &*lines.answer;
    (lines.progress)(answer.changes);
    Ok(())
}

/// The versions of a card that can be read.
struct Readable {
    /// Their numbers, ascending; the present one is the last.
    versions: Vec<u32>,
    /// How many were written.
    written: usize,
}

impl Readable {
    /// Nothing where the present version is lost.
    fn of<T: ReadBytes>(
        tables: &Tables<T>,
        tenant: TenantId,
        id: CardId,
        left_out: &mut LeftOut,
    ) -> Result<Option<Self>> {
        let Some(Some(present)) = left_out.readable(tables.card(tenant, id))? else { return Ok(None) };
        let mut versions = Vec::new();
        for version in 1..present.version {
            match left_out.readable(tables.stored_version(tenant, id, version))? {
                Some(Some(_)) => versions.push(version),
                Some(None) => {
                    left_out.note(format!("version {version} of card {id}"), "it is missing".into())
                }
                None => {}
            }
        }
        versions.push(present.version);
        Ok(Some(Self { versions, written: 0 }))
    }

    /// The number that a version gets.
    fn number(&self, version: u32) -> Option<u32> {
        let at = self.versions.binary_search(&version).ok()?;
        u32::try_from(at + 1).ok()
    }

    fn is_whole(&self) -> bool {
        self.versions.last().is_some_and(|last| *last as usize == self.versions.len())
    }
}

struct Lines<'a, T, W, P> {
    tables: &'a Tables<T>,
    tenant: TenantId,
    vectors: bool,
    origin: Origin,
    cards: BTreeMap<CardId, Readable>,
    sequence: u64,
    leads: Leads,
    /// Look-ups that changed with what is left out: they go with the next line.
    carried: Vec<LookupChange>,
    /// Where the last of them stood.
    carried_from: u64,
    /// What the last line told of.
    last: Option<(CardId, u32, Timestamp)>,
    out: &'a mut W,
    answer: &'a mut Exported,
    left_out: &'a mut LeftOut,
    progress: &'a mut P,
}

impl<T: ReadBytes, W: Write, P: FnMut(u64)> Lines<'_, T, W, P> {
    /// Writes a change, unless there is nothing to tell of it.
    fn change(&mut self, kind: Option<Kind>, sequence: u64, change: Change) -> Result<()> {
        let number = self.cards.get(&change.card).and_then(|readable| readable.number(change.version));
        let is_version = kind == Some(Kind::Version);
        let told = kind.zip(number).filter(|_| !is_version || !self.is_told(change.card, number));
        // What was lost of the log before it.
        if let Some((_, number)) = told {
            self.catch_up(change.card, if is_version { number - 1 } else { number })?;
        }
        let own = told.filter(|_| is_version).map(|_| change.card);
        for lookup in change.lookups {
            let leads = self.leads.last_word(sequence, &lookup);
            if leads.is_some_and(|to| own == Some(to) || self.is_told(to, Some(1))) {
                self.carried.push(lookup);
                self.carried_from = sequence;
            }
        }
        match told {
            None => Ok(()),
            Some((Kind::Version, _)) => self.version(change.card, change.version, change.at),
            Some((kind, number)) => self.write(kind, (change.card, number, change.at), None, None),
        }
    }

    /// Writes the versions of a card, up to so many, that no line has told of.
    fn catch_up(&mut self, id: CardId, until: u32) -> Result<()> {
        while let Some(readable) = self.cards.get(&id).filter(|readable| readable.written < until as usize) {
            let version = readable.versions[readable.written];
            let Some((card, _)) = self.tables.stored_version(self.tenant, id, version)? else { break };
            self.version(id, version, card.updated_at)?;
        }
        Ok(())
    }

    fn version(&mut self, id: CardId, version: u32, at: Timestamp) -> Result<()> {
        let Some((card, own)) = self.tables.stored_version(self.tenant, id, version)? else { return Ok(()) };
        let own = own.and_then(|own| own.of(self.tables.generation()));
        let Some(readable) = self.cards.get_mut(&id) else { return Ok(()) };
        readable.written += 1;
        let (number, is_whole) = (readable.number(version).unwrap_or(version), readable.is_whole());
        let mut card = Card { version: number, ..card };
        let brings = card.vector_version == version;
        // Whose version was moved up, or lost.
        let moved = card.vector_version > 0 && !is_whole;
        let vector = match self.origin {
            Origin::Lost => {
                card.vector_version = 0;
                None
            }
            Origin::Model if moved => {
                card.vector_version = number;
                None
            }
            Origin::Caller if moved => {
                let brought = self.tables.vector(self.tenant, &Card { version, ..card.clone() });
                let brought = self.left_out.readable(brought)?.flatten();
                card.vector_version = if brought.is_some() { number } else { 0 };
                brought
            }
            _ => own.filter(|_| self.vectors && brings),
        };
        let links = std::mem::take(&mut card.links);
        card.links =
            links.into_iter().filter(|link| link.to == id || self.is_told(link.to, Some(1))).collect();
        self.answer.versions += 1;
        self.write(Kind::Version, (id, number, at), Some(card), vector)
    }

    /// True when so many versions of a card were written.
    fn is_told(&self, card: CardId, number: Option<u32>) -> bool {
        let written = self.cards.get(&card).map_or(0, |readable| readable.written);
        number.is_some_and(|number| written >= number as usize)
    }

    /// The versions that the log tells nothing of any more, in the order of their times.
    fn rest(&mut self) -> Result<()> {
        let mut open = Vec::new();
        for (id, readable) in &self.cards {
            for version in &readable.versions[readable.written..] {
                if let Some((card, _)) = self.tables.stored_version(self.tenant, *id, *version)? {
                    open.push((card.updated_at, *id, *version));
                }
            }
        }
        open.sort_unstable();
        for (at, id, version) in open {
            self.version(id, version, at)?;
        }
        match (self.last, self.carried.is_empty()) {
            (Some(last), false) => {
                self.sequence = self.carried_from;
                self.write(Kind::Lookups, last, None, None)
            }
            _ => Ok(()),
        }
    }

    fn write(
        &mut self,
        kind: Kind,
        (id, version, at): (CardId, u32, Timestamp),
        card: Option<Card>,
        vector: Option<Vec<f32>>,
    ) -> Result<()> {
        let lookups = self.carried.drain(..).map(|lookup| LookupLine::of(&lookup)).collect();
        let line = ChangeLine { seq: self.sequence, kind, id, version, at, card, vector, lookups };
        write_line(self.out, &Line::Change(Box::new(line)))?;
        self.sequence += 1;
        self.last = Some((id, version, at));
        self.answer.changes += 1;
        if self.answer.changes.is_multiple_of(1024) {
            (self.progress)(self.answer.changes);
        }
        Ok(())
    }
}
