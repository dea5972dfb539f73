//! Writing a store as JSON Lines.

use std::collections::HashMap;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::card::CardId;
use crate::engine::Store;
use crate::exchange::{ChangeLine, FORMAT, Kind, Line, LookupLine};
use crate::store::{ChangeKind, LoggedChange, LookupChange, LookupKey, ReadBytes, Tables, TenantId};
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
}

impl Store {
    /// Writes tenants, every version of every card, changes and look-ups as JSON Lines, as
    /// of one instant. `progress` is told how many changes are done.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a tenant that is not there; [`Error::Unavailable`] while there
    /// are vectors of an earlier model; [`Error::Corrupt`] when a record is
    /// damaged; [`Error::Io`] when `out` cannot be written.
    pub fn export(
        &self,
        out: &mut impl Write,
        what: &Export,
        mut progress: impl FnMut(u64),
    ) -> Result<Exported> {
        let tables = self.database().read()?;
        if self.database().is_reembedding()? {
            return Err(Error::Unavailable(
                "the store holds vectors of an earlier embedding model; finish with `reembed` first".into(),
            ));
        }
        let model = crate::store::read_model(&tables)?;
        let vectors = what.vectors || model.as_ref().is_some_and(|model| model.is_caller());
        let mut tenants = tables.tenants()?;
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
            export_tenant(&tables, id, vectors, out, &mut answer, &mut progress)?;
        }
        write_line(out, &Line::End { changes: answer.changes })?;
        out.flush().map_err(written)?;
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

/// Which cards and look-ups of a tenant an export tells of.
///
/// Of look-ups where each key leads in the end, with the last change that says so: what others said is of no
/// use, and a compaction takes it out of the log. So an export is the same before one and after, and whether or
/// not there was one in between.
struct Kept<'a, T> {
    tables: &'a Tables<T>,
    tenant: TenantId,
    /// False while all cards that there ever were are there.
    any_gone: bool,
    /// By card, the change by which it was purged last: what came before is told of no more.
    purged: HashMap<CardId, u64>,
    /// The cards that were asked for, and whether they are there.
    known: HashMap<CardId, bool>,
    /// Where each look-up leads in the end, and since which change.
    lookups: HashMap<LookupKey, (CardId, u64)>,
}

impl<'a, T: ReadBytes> Kept<'a, T> {
    fn of(tables: &'a Tables<T>, tenant: TenantId) -> Result<Self> {
        let (mut any_gone, mut purged, mut lookups) = (false, HashMap::new(), HashMap::new());
        for logged in tables.changes(tenant, 0)? {
            let LoggedChange { sequence, change, .. } = logged?;
            if change.kind == ChangeKind::Purge {
                any_gone = true;
                purged.insert(change.card, sequence);
            }
            for LookupChange { key, card } in change.lookups {
                match card {
                    Some(card) => lookups.insert(key, (card, sequence)),
                    None => lookups.remove(&key),
                };
            }
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
        match lookup.card {
            Some(card) if self.lookups.get(&lookup.key) == Some(&(card, sequence)) => {
                self.tells(sequence, card)
            }
            _ => Ok(false),
        }
    }
}

fn write_line(out: &mut impl Write, line: &Line) -> Result<()> {
    serde_json::to_writer(&mut *out, line).map_err(|e| written(e.into()))?;
    out.write_all(b"\n").map_err(written)
}

fn written(source: std::io::Error) -> Error {
    Error::Io { path: "the export".into(), source }
}
