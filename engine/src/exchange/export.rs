//! Writing a store as JSON Lines.

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::engine::Store;
use crate::exchange::{ChangeLine, FORMAT, Kind, Line, LookupLine};
use crate::store::{ChangeKind, LoggedChange, ReadBytes, Tables, TenantId};
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
    for change in tables.changes(tenant, 0)? {
        let LoggedChange { sequence, change, .. } = change?;
        let mut line = ChangeLine {
            seq: sequence,
            kind: match change.kind {
                ChangeKind::Version => Kind::Version,
                ChangeKind::Touch => Kind::Touch,
                ChangeKind::Lookups => Kind::Lookups,
                ChangeKind::Vector => Kind::Vector,
                ChangeKind::Purge | ChangeKind::Cool => continue,
            },
            id: change.card,
            version: change.version,
            at: change.at,
            card: None,
            vector: None,
            lookups: change.lookups.iter().map(LookupLine::of).collect(),
        };
        if change.kind == ChangeKind::Version {
            let stored = tables.stored_version(tenant, change.card, change.version)?;
            let (card, vector) = stored.ok_or_else(|| {
                Error::corrupt(
                    "table changes",
                    format!("version {} of {} is missing", change.version, change.card),
                )
            })?;
            line.vector = vector.and_then(|own| own.of(tables.generation())).filter(|_| vectors);
            line.card = Some(card);
            answer.versions += 1;
        }
        write_line(out, &Line::Change(Box::new(line)))?;
        answer.changes += 1;
        if answer.changes.is_multiple_of(1024) {
            progress(answer.changes);
        }
    }
    progress(answer.changes);
    Ok(())
}

fn write_line(out: &mut impl Write, line: &Line) -> Result<()> {
    serde_json::to_writer(&mut *out, line).map_err(|e| written(e.into()))?;
    out.write_all(b"\n").map_err(written)
}

fn written(source: std::io::Error) -> Error {
    Error::Io { path: "the export".into(), source }
}
