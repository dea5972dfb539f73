//! Who changed what, when and why: the end of a tenant's change log, and runs.

use crate::Result;
use crate::engine::forgetting::Scope;
use crate::engine::{Store, Tenant};
use crate::error::Error;
use crate::forget::run::RunRecord;
use crate::store::{ChangeKind, ReadBytes, TableId, Tables, TenantId};
use crate::verbs::{Audit, Audited, AuditedChange, AuditedRun, RunId};

/// Entries of an answer when the request does not say.
const LIMIT: usize = 50;

fn audit(scope: Scope<'_>, request: &Audit) -> Result<Audited> {
    let most = scope.store().limits().top;
    let limit = request.limit.unwrap_or(LIMIT);
    if limit == 0 || limit > most {
        return Err(Error::invalid("limit", format!("must be 1 to {most}")));
    }
    if request.before.is_some() && matches!(scope, Scope::Store(_)) {
        let message = "is a position of a tenant's log: name the tenant, or page runs by `before_run`";
        return Err(Error::invalid("before", message));
    }
    let mut answer = Audited::default();
    let Some(number) = scope.number()? else { return Ok(answer) };
    let tables = scope.store().database().read()?;
    if let Scope::Tenant(_) = scope {
        answer.changes = changes(&tables, number, request.before, limit)?;
    }
    for run in tables.documents::<RunRecord>(TableId::Runs, number)? {
        let (run, record) = run?;
        answer.runs.push(AuditedRun {
            run: RunId(run),
            plan: record.plan,
            started_at: record.started_at,
            finished_at: record.finished_at,
            undone_at: record.undone_at,
            actor: record.actor,
            why: record.why,
            totals: record.totals,
        });
    }
    answer.runs.sort_by_key(|run| (std::cmp::Reverse(run.started_at), run.run));
    if let Some(before) = request.before_run {
        let place = answer.runs.iter().position(|run| run.run == before);
        let place = place.ok_or_else(|| Error::NotFound { what: before.to_string() })?;
        answer.runs.drain(..=place);
    }
    answer.runs.truncate(limit);
    Ok(answer)
}

/// The last changes before one, the latest first.
fn changes<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<AuditedChange>> {
    let (last, _) = tables.last_change(tenant)?;
    let end = before.map_or(last, |before| before.saturating_sub(1).min(last));
    let start = end.saturating_sub(limit as u64);
    let mut found = Vec::with_capacity(limit);
    for logged in tables.changes(tenant, start)? {
        let logged = logged?;
        if logged.sequence > end {
            break;
        }
        let change = logged.change;
        // Of a card that is gone nothing is known any more; others were only counted or moved.
        let version = match change.kind {
            ChangeKind::Version => tables.version(tenant, change.card, change.version)?,
            _ => None,
        };
        let reason = version.map(|card| card.reason).unwrap_or_default();
        found.push(AuditedChange {
            seq: logged.sequence,
            at: change.at,
            kind: match change.kind {
                ChangeKind::Version => "version",
                ChangeKind::Touch => "touch",
                ChangeKind::Lookups => "lookups",
                ChangeKind::Vector => "vector",
                ChangeKind::Purge => "purge",
                ChangeKind::Cool => "cool",
                ChangeKind::Thaw => "thaw",
            },
            id: change.card,
            version: change.version,
            action: Some(reason.action).filter(|action| !action.is_empty()),
            actor: reason.actor,
            why: reason.why,
        });
    }
    found.reverse();
    Ok(found)
}

impl Tenant {
    /// The end of the tenant's change log and its runs: who did what, when and why.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `limit`; [`Error::NotFound`] for a `before_run` that is not there.
    pub fn audit(&self, request: &Audit) -> Result<Audited> {
        audit(Scope::Tenant(self), request)
    }
}

impl Store {
    /// The store's own runs, those of the scheduler among them. What happened to a tenant's cards is
    /// told by [`Tenant::audit`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `limit`, and on `before`, which is a position of a tenant's log;
    /// [`Error::NotFound`] for a `before_run` that is not there.
    pub fn audit(&self, request: &Audit) -> Result<Audited> {
        audit(Scope::Store(self), request)
    }
}
