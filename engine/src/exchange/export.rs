//! Writing a store as JSON Lines.

use std::collections::HashMap;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::card::CardId;
use crate::engine::Store;
use crate::exchange::rescue::{self, LeftOut, Origin};
use crate::exchange::{ChangeLine, FORMAT, Kind, Line, LookupLine};
use crate::store::{ChangeKind, Finding, LoggedChange, LookupChange, LookupKey, ReadBytes, Tables, TenantId};
use crate::{Error, Result};

/// What to export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Export {
    /// Only this tenant; all when absent.
    pub tenant: Option<String>,
    /// Write vectors of the store's own model too. Without them an import computes them
    /// anew, which gives the same ones. Caller-supplied vectors are always written.
    pub vectors: bool,
    /// Leave out what is damaged, and name it, in place of refusing to go on. Of a card whose
    /// present version is lost nothing is written; look-ups that are lost are no more known.
    pub skip_damaged: bool,
}

/// What was exported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Tenants.
    pub tenants: u64,
    /// Versions of cards.
    pub versions: u64,
    /// Changes.
    pub changes: u64,
    /// What is damaged and was left out; nothing of a sound store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Finding>,
}

impl Store {
    /// Writes tenants, every version of every card, changes and look-ups as JSON Lines, as
    /// of one instant. `progress` is told how many changes are done.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a tenant that is not there; [`Error::Unavailable`] while there
    /// are vectors of an earlier model; [`Error::Corrupt`] when a record is
    /// damaged, unless that is to be left out; [`Error::Io`] when `out` cannot be written.
    pub fn export(
        &self,
        out: &mut impl Write,
        what: &Export,
        mut progress: impl FnMut(u64),
    ) -> Result<Exported> {
        let tables = self.database().read()?;
        let mut left_out = LeftOut::default();
        let mut lenient = |error: Error| match what.skip_damaged {
            true => left_out.readable::<()>(Err(error)).map(drop),
            false => Err(error),
        };
        if self.database().is_reembedding().or_else(|error| lenient(error).map(|()| false))? {
            return Err(Error::Unavailable(
                "the store holds vectors of an earlier embedding model; finish with `reembed` first".into(),
            ));
        }
        let stored = crate::store::read_model(&tables).map(|model| (model, false));
        let (model, is_lost) = match stored {
            Ok(model) => model,
            Err(error) => {
                lenient(error)?;
                (self.own_model(), true)
            }
        };
        let is_caller = model.as_ref().is_some_and(|model| model.is_caller());
        let origin = match (is_caller, is_lost && model.is_none()) {
            (true, _) => Origin::Caller,
            (_, true) => Origin::Lost,
            _ => Origin::Model,
        };
        let vectors = !is_lost && (what.vectors || is_caller);
        let mut tenants = match what.skip_damaged {
            true => rescue::tenants(&tables, &mut left_out)?,
            false => tables.tenants()?,
        };
        if let Some(name) = &what.tenant {
            tenants.retain(|(_, tenant)| tenant.name == *name);
            if tenants.is_empty() {
                return Err(Error::NotFound { what: format!("tenant {name:?}") });
            }
        }
        let mut answer = Exported::default();
        write_line(out, &Line::Header { format: FORMAT, model })?;
        for (id, tenant) in tenants {
            answer.tenants += 1;
            write_line(out, &Line::Tenant { tenant: tenant.name, created_at: tenant.created_at })?;
            match what.skip_damaged {
                true => {
                    let told = (&mut answer, &mut left_out);
                    rescue::export_tenant(&tables, id, (vectors, origin), out, told, &mut progress)?;
                }
                false => export_tenant(&tables, id, vectors, out, &mut answer, &mut progress)?,
            }
        }
        write_line(out, &Line::End { changes: answer.changes })?;
        out.flush().map_err(written)?;
        answer.left_out = left_out.into_findings();
        Ok(answer)
    }
}

fn export_tenant<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    vectors: bool,
    out: &mut impl Write,
    answer: &mut Exported,
    progress: &mut impl FnMut(u64),
) -> Result<()> {
    let mut kept = Kept::of(tables, tenant)?;
    // Look-ups that changed with what is left out go with the next line; where the last of them stood.
    let mut carried: Vec<LookupChange> = Vec::new();
    let mut carried_from = 0;
    let mut last = None;
    for change in tables.changes(tenant, 0)? {
        let LoggedChange { sequence, change, .. } = change?;
        for lookup in change.lookups {
            if kept.leads(sequence, &lookup)? {
                carried.push(lookup);
                carried_from = sequence;
            }
        }
        let kind = match change.kind {
            ChangeKind::Version => Kind::Version,
            ChangeKind::Touch => Kind::Touch,
            ChangeKind::Lookups => Kind::Lookups,
            ChangeKind::Vector => Kind::Vector,
            // What went away is not told of, and neither is that it did. Where records are is
            // nothing to tell.
            ChangeKind::Purge | ChangeKind::Cool | ChangeKind::Thaw => continue,
        };
        if !kept.tells(sequence, change.card)? {
            continue;
        }
        let mut line = ChangeLine {
            seq: sequence,
            kind,
            id: change.card,
            version: change.version,
            at: change.at,
            card: None,
            vector: None,
            lookups: carried.drain(..).map(|lookup| LookupLine::of(&lookup)).collect(),
        };
        last = Some((change.card, change.version, change.at));
        if change.kind == ChangeKind::Version {
            let stored = tables.stored_version(tenant, change.card, change.version)?;
            let (mut card, vector) = stored.ok_or_else(|| {
                Error::corrupt(
                    "table changes",
                    format!("version {} of {} is missing", change.version, change.card),
                )
            })?;
            line.vector = vector.and_then(|own| own.of(tables.generation())).filter(|_| vectors);
            // A link to a card that is gone leads nowhere, and an import refuses it.
            for link in std::mem::take(&mut card.links) {
                if kept.tells(sequence, link.to)? {
                    card.links.push(link);
                }
            }
            line.card = Some(card);
            answer.versions += 1;
        }
        write_line(out, &Line::Change(Box::new(line)))?;
        answer.changes += 1;
        if answer.changes.is_multiple_of(1024) {
            progress(answer.changes);
        }
    }
    if let (Some((id, version, at)), false) = (last, carried.is_empty()) {
        let lookups = carried.iter().map(LookupLine::of).collect();
        let (seq, kind, card, vector) = (carried_from, Kind::Lookups, None, None);
        let line = ChangeLine { seq, kind, id, version, at, card, vector, lookups };
        write_line(out, &Line::Change(Box::new(line)))?;
        answer.changes += 1;
    }
    progress(answer.changes);
    Ok(())
}

/// Where look-ups lead in the end, with the last change that says so.
///
/// That is all an export tells of them: what others said is of no use, and a compaction takes it out of the
/// log. So an export is the same before one and after, and whether or not there was one in between.
#[derive(Debug, Default)]
pub(super) struct Leads(HashMap<LookupKey, (CardId, u64)>);

impl Leads {
    /// Takes a change in, in order.
    pub(super) fn follow(&mut self, sequence: u64, lookups: &[LookupChange]) {
        for LookupChange { key, card } in lookups {
            match card {
                Some(card) => self.0.insert(*key, (*card, sequence)),
                None => self.0.remove(key),
            };
        }
    }

    /// The card to which a look-up of a change leads in the end; `None` where that change is not the
    /// last word.
    pub(super) fn last_word(&self, sequence: u64, lookup: &LookupChange) -> Option<CardId> {
        lookup.card.filter(|card| self.0.get(&lookup.key) == Some(&(*card, sequence)))
    }
}

/// Which cards and look-ups of a tenant an export tells of.
struct Kept<'a, T> {
    tables: &'a Tables<T>,
    tenant: TenantId,
    /// False while all cards that there ever were are there.
    any_gone: bool,
    /// By card, the change by which it was purged last: what came before is told of no more.
    purged: HashMap<CardId, u64>,
    /// The cards that were asked for, and whether they are there.
    known: HashMap<CardId, bool>,
    lookups: Leads,
}

impl<'a, T: ReadBytes> Kept<'a, T> {
    fn of(tables: &'a Tables<T>, tenant: TenantId) -> Result<Self> {
        let (mut any_gone, mut purged, mut lookups) = (false, HashMap::new(), Leads::default());
        for logged in tables.changes(tenant, 0)? {
            let LoggedChange { sequence, change, .. } = logged?;
            if change.kind == ChangeKind::Purge {
                any_gone = true;
                purged.insert(change.card, sequence);
            }
            lookups.follow(sequence, &change.lookups);
        }
        Ok(Self { tables, tenant, any_gone, purged, known: HashMap::new(), lookups })
    }

    /// True for a card that is there and was not purged after that change.
    fn tells(&mut self, sequence: u64, card: CardId) -> Result<bool> {
        if !self.any_gone {
            return Ok(true);
        }
        if self.purged.get(&card).is_some_and(|purged| sequence <= *purged) {
            return Ok(false);
        }
        if let Some(known) = self.known.get(&card) {
            return Ok(*known);
        }
        let is_there = !self.tables.is_gone(self.tenant, card)?;
        self.known.insert(card, is_there);
        Ok(is_there)
    }

    /// True for a look-up of a change that leads where its key leads in the end, to a card that is told of.
    fn leads(&mut self, sequence: u64, lookup: &LookupChange) -> Result<bool> {
        match self.lookups.last_word(sequence, lookup) {
            Some(card) => self.tells(sequence, card),
            None => Ok(false),
        }
    }
}

pub(super) fn write_line(out: &mut impl Write, line: &Line) -> Result<()> {
    serde_json::to_writer(&mut *out, line).map_err(|e| written(e.into()))?;
    out.write_all(b"\n").map_err(written)
}

fn written(source: std::io::Error) -> Error {
    Error::Io { path: "the export".into(), source }
}
