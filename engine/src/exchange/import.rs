//! Reading a store from JSON Lines: identifiers, versions, times and the order of changes
//! are kept. Reading the same file again changes nothing.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use serde::Serialize;

use crate::card::{Card, CardId};
use crate::engine::Store;
use crate::exchange::{ChangeLine, FORMAT, Kind, Line, LookupLine};
use crate::forget::erase;
use crate::store::{Batch, Change, ChangeKind, LookupChange, LookupKey, ModelRecord, TenantId};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Lines in one commit.
const LINES_PER_COMMIT: usize = 1000;
/// Longest line, bytes: a card at its limits with a vector of 4,096 numbers fits well.
const LINE_BYTES: u64 = 4 << 20;

/// What was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Tenants named by the file.
    pub tenants: u64,
    /// Versions that are new in this store.
    pub versions: u64,
    /// Changes appended to the change log.
    pub changes: u64,
    /// Versions that were there already, unchanged.
    pub known: u64,
    /// Versions left out: their card, its words or the whole tenant were erased here.
    #[serde(skip_serializing_if = "super::is_none")]
    pub erased: u64,
}

impl Store {
    /// Reads what [`Store::export`] wrote. `progress` is told how many lines are done.
    ///
    /// The file is read in commits of a thousand lines: after an error what came before it
    /// stays, and reading the mended file again adds the rest.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `from` with the line that is wrong; [`Error::Conflict`]
    /// when a card of the file is here with another content; [`Error::ModelMismatch`] when
    /// the file's vectors come from another model than this store's.
    pub fn import(&self, input: &mut impl BufRead, mut progress: impl FnMut(u64)) -> Result<Imported> {
        let mut import = Import {
            store: self,
            tenant: None,
            model: None,
            answer: Imported::default(),
            is_wiped: false,
            gone: HashSet::new(),
            known: HashSet::new(),
            grown: HashSet::new(),
            leads: HashMap::new(),
        };
        let mut pending = Vec::new();
        let mut number = 0u64;
        let (mut changes, mut ended) = (0u64, false);
        let mut text = Vec::new();
        loop {
            text.clear();
            let read = std::io::Read::take(&mut *input, LINE_BYTES)
                .read_until(b'\n', &mut text)
                .map_err(|source| Error::Io { path: "the import".into(), source })?;
            number += 1;
            let wrong = |detail: String| Error::invalid("from", format!("line {number}: {detail}"));
            if read as u64 == LINE_BYTES {
                return Err(wrong(format!("longer than {LINE_BYTES} bytes")));
            }
            if read == 0 {
                break;
            }
            if text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let line: Line = serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))?;
            if ended {
                return Err(wrong("stands after the end".into()));
            }
            changes += u64::from(matches!(line, Line::Change(_)));
            match line {
                Line::Header { format, model } => {
                    if number != 1 || format != FORMAT {
                        return Err(wrong(format!("a header of format {FORMAT} belongs in line 1 only")));
                    }
                    import.check_model(model)?;
                }
                _ if number == 1 => return Err(wrong("the header is missing".into())),
                Line::End { changes: expected } => {
                    if changes != expected {
                        return Err(wrong(format!(
                            "{changes} changes were read, the file was written with {expected}"
                        )));
                    }
                    ended = true;
                }
                Line::Tenant { tenant, created_at } => {
                    import.flush(&mut pending)?;
                    import.let_go()?;
                    let handle = self.tenant(&tenant).map_err(|e| wrong(e.to_string()))?;
                    import.start_tenant(handle.name().to_owned(), created_at)?;
                }
                Line::Change(change) if import.is_wiped => {
                    import.answer.erased += u64::from(change.kind == Kind::Version);
                }
                other => {
                    pending.push((number, import.prepare(number, other)?));
                    if pending.len() >= LINES_PER_COMMIT {
                        import.flush(&mut pending)?;
                        progress(number);
                    }
                }
            }
        }
        import.flush(&mut pending)?;
        if ended {
            import.let_go()?;
        }
        progress(number - 1);
        if !ended {
            return Err(Error::invalid(
                "from",
                "the file is cut short: its end is missing; what it has was read, the whole file can be read again",
            ));
        }
        Ok(import.answer)
    }
}

struct Import<'a> {
    store: &'a Store,
    tenant: Option<TenantId>,
    model: Option<ModelRecord>,
    answer: Imported,
    /// True while lines tell of a tenant that was wiped here after it was made there.
    is_wiped: bool,
    /// Cards that are left out since they were erased.
    gone: HashSet<(TenantId, CardId)>,
    /// Versions that were here before.
    known: HashSet<(TenantId, CardId, u32)>,
    /// Cards of the tenant that were here before, and have got another version from the file.
    grown: HashSet<CardId>,
    /// Where the file's look-ups of the tenant lead.
    leads: HashMap<LookupKey, CardId>,
}

/// A checked line, its vector included.
struct Step {
    line: Box<ChangeLine>,
    lookups: Vec<LookupChange>,
}

impl Import<'_> {
    fn check_model(&mut self, model: Option<ModelRecord>) -> Result<()> {
        let here = self.store.database().model()?;
        if let (Some(theirs), Some(ours)) = (&model, &here)
            && theirs != ours
        {
            return Err(Error::ModelMismatch { stored: ours.to_string(), offered: theirs.to_string() });
        }
        self.model = model;
        Ok(())
    }

    fn start_tenant(&mut self, name: String, created_at: Timestamp) -> Result<()> {
        let id = self.store.database().write(move |batch| {
            match erase::wiped_at(batch, &name)?.is_some_and(|at| created_at <= at) {
                true => Ok(None),
                false => batch.ensure_tenant(&name, created_at).map(Some),
            }
        })?;
        (self.tenant, self.is_wiped) = (id, id.is_none());
        self.answer.tenants += 1;
        Ok(())
    }

    /// Checks a line and computes what it leaves out.
    fn prepare(&self, number: u64, line: Line) -> Result<Step> {
        let wrong = |detail: &str| Error::invalid("from", format!("line {number}: {detail}"));
        match line {
            Line::Change(mut change) => {
                let lookups: Option<Vec<_>> = change.lookups.iter().map(LookupLine::read).collect();
                let lookups =
                    lookups.ok_or_else(|| wrong("the key of a look-up is 34 hexadecimal digits"))?;
                let Some(card) = &change.card else {
                    return match change.kind {
                        Kind::Touch | Kind::Lookups | Kind::Vector => Ok(Step { line: change, lookups }),
                        Kind::Version => Err(wrong("a new version without its card")),
                    };
                };
                if change.kind != Kind::Version {
                    return Err(wrong("only a new version carries its card"));
                }
                if card.id != change.id || card.version != change.version || card.version == 0 {
                    return Err(wrong("the card is not the version that the change names"));
                }
                if card.vector_version > card.version {
                    return Err(wrong("vector_version lies after the version"));
                }
                self.store.limits().card(card).map_err(|e| wrong(&e.to_string()))?;
                match &change.vector {
                    Some(_) if card.vector_version != card.version => {
                        return Err(wrong("a vector that the version did not bring"));
                    }
                    Some(_) if self.model.is_none() => {
                        return Err(wrong("a vector, but the header names no model"));
                    }
                    Some(vector) => crate::card::check_vector(vector, self.store.limits())
                        .map_err(|e| wrong(&e.to_string()))?,
                    None if card.vector_version == card.version => {
                        let vector = self.store.embed_again(&card.content, self.model.as_ref())?;
                        change.vector = Some(vector.ok_or_else(|| wrong("the vector is missing"))?);
                    }
                    None => {}
                }
                if let (Some(vector), Some(model)) = (&change.vector, &self.model)
                    && vector.len() != model.dimension
                {
                    return Err(wrong("the vector has another dimension than the header names"));
                }
                Ok(Step { line: change, lookups })
            }
            Line::Header { .. } | Line::Tenant { .. } | Line::End { .. } => Err(wrong("out of place")),
        }
    }

    fn flush(&mut self, pending: &mut Vec<(u64, Step)>) -> Result<()> {
        if pending.is_empty() {
            return Ok(());
        }
        let steps = std::mem::take(pending);
        let tenant = self.tenant.ok_or_else(|| {
            Error::invalid("from", format!("line {}: no tenant was named before it", steps[0].0))
        })?;
        for (_, step) in &steps {
            for LookupChange { key, card } in &step.lookups {
                match card {
                    Some(card) => self.leads.insert(*key, *card),
                    None => self.leads.remove(key),
                };
            }
        }
        let (model, mut known) = (self.model.clone(), std::mem::take(&mut self.known));
        let mut gone = std::mem::take(&mut self.gone);
        let mut grown = std::mem::take(&mut self.grown);
        let (done, known, gone, grown) = self.store.database().write(move |batch| {
            let mut done = Imported::default();
            let steps = leave_erased_out(batch, tenant, steps, &mut gone, &mut done.erased)?;
            // Look at everything first: an error must leave the batch untouched.
            let vectors = |(_, step): &(u64, Step)| step.line.vector.is_some();
            if let Some(model) = model.as_ref().filter(|_| steps.iter().any(vectors)) {
                batch.check_model(model)?;
            }
            let mut ahead = HashMap::new();
            for (number, step) in &steps {
                check(batch, tenant, *number, step, &mut known, &mut ahead)?;
            }
            for (_, step) in steps {
                let (id, version) = (step.line.id, step.line.version);
                let is_new = step.line.card.is_some() && !known.contains(&(tenant, id, version));
                if is_new && known.contains(&(tenant, id, version.saturating_sub(1))) {
                    grown.insert(id);
                }
                apply(batch, tenant, step, model.as_ref(), &known, &mut done)?;
            }
            Ok((done, known, gone, grown))
        })?;
        (self.known, self.gone, self.grown) = (known, gone, grown);
        self.answer.versions += done.versions;
        self.answer.changes += done.changes;
        self.answer.known += done.known;
        self.answer.erased += done.erased;
        Ok(())
    }
}

impl Import<'_> {
    /// Ends a tenant's part of the file: what led here to a card that has a newer version by now, and does
    /// not in the file, is taken away. A file says where look-ups lead, not where they led.
    fn let_go(&mut self) -> Result<()> {
        let (grown, leads) = (std::mem::take(&mut self.grown), std::mem::take(&mut self.leads));
        let Some(tenant) = self.tenant.filter(|_| !grown.is_empty()) else { return Ok(()) };
        let now = self.store.clock().now();
        self.store.database().write(move |batch| {
            let mut last = None;
            let mut stale = batch.lookups_to(tenant, &grown)?;
            stale.retain(|(key, card)| leads.get(key) != Some(card));
            stale.sort_unstable_by_key(|(key, card)| (*card, *key));
            for (key, card) in stale {
                if last.replace(card) != Some(card) {
                    batch.log_lookups(tenant, card, now)?;
                }
                batch.point_key(tenant, key, None)?;
            }
            Ok(())
        })
    }
}

/// The steps without cards that were erased here, and without what leads to these.
fn leave_erased_out(
    batch: &Batch<'_>,
    tenant: TenantId,
    steps: Vec<(u64, Step)>,
    gone: &mut HashSet<(TenantId, CardId)>,
    erased: &mut u64,
) -> Result<Vec<(u64, Step)>> {
    if !batch.has_tombstones(tenant)? {
        return Ok(steps);
    }
    let mut is_gone = |id: CardId, card: Option<&Card>| -> Result<bool> {
        if gone.contains(&(tenant, id)) {
            return Ok(true);
        }
        let erased = !batch.tables().has_card(tenant, id)? && erase::is_erased(batch, tenant, id, card)?;
        Ok(erased && gone.insert((tenant, id)))
    };
    let mut kept = Vec::with_capacity(steps.len());
    for (number, mut step) in steps {
        if is_gone(step.line.id, step.line.card.as_ref())? {
            *erased += u64::from(step.line.kind == Kind::Version);
            continue;
        }
        for lookup in std::mem::take(&mut step.lookups) {
            if !lookup.card.map_or(Ok(false), |id| is_gone(id, None))? {
                step.lookups.push(lookup);
            }
        }
        let known = batch.tables().version(tenant, step.line.id, step.line.version)?.is_some();
        if let Some(card) = step.line.card.as_mut().filter(|_| !known) {
            for link in std::mem::take(&mut card.links) {
                if !is_gone(link.to, None)? {
                    card.links.push(link);
                }
            }
        }
        kept.push((number, step));
    }
    Ok(kept)
}

/// Version and vector version of cards, as they will be after the lines checked so far.
type Ahead = HashMap<CardId, (u32, u32)>;

/// Refuses what would not fit: a version that is here with another content, versions out of
/// order, a vector or a linked card that is nowhere. Notes the versions that are here.
fn check(
    batch: &Batch<'_>,
    tenant: TenantId,
    number: u64,
    step: &Step,
    known: &mut HashSet<(TenantId, CardId, u32)>,
    ahead: &mut Ahead,
) -> Result<()> {
    let wrong = |detail: String| Error::invalid("from", format!("line {number}: {detail}"));
    let change = &step.line;
    let present = |id: CardId, ahead: &Ahead| -> Result<Option<(u32, u32)>> {
        match ahead.get(&id) {
            Some(found) => Ok(Some(*found)),
            None => Ok(batch.tables().card(tenant, id)?.map(|card| (card.version, card.vector_version))),
        }
    };
    for id in step.lookups.iter().filter_map(|lookup| lookup.card) {
        if id != change.id && present(id, ahead)?.is_none() {
            return Err(wrong(format!("a look-up leads to card {id}, which was not there before it")));
        }
    }
    let Some(card) = &change.card else {
        return match present(change.id, ahead)? {
            Some((version, _)) if (1..=version).contains(&change.version) => Ok(()),
            _ => Err(wrong(format!(
                "version {} of card {} was not there before it",
                change.version, change.id
            ))),
        };
    };
    if !ahead.contains_key(&card.id)
        && let Some(here) = batch.tables().version(tenant, card.id, card.version)?
    {
        // It may have been embedded since the file was written, or before.
        if here != (Card { vector_version: here.vector_version, ..card.clone() }) {
            return Err(Error::Conflict {
                message: format!(
                    "line {number}: version {} of card {} is here with another content",
                    card.version, card.id
                ),
            });
        }
        known.insert((tenant, card.id, card.version));
        return Ok(());
    }
    let (version, vector_version) = present(card.id, ahead)?.unwrap_or((0, 0));
    if card.version != version + 1 {
        return Err(wrong(format!(
            "version {} of card {} does not follow version {version}",
            card.version, card.id
        )));
    }
    if ![0, card.version, vector_version].contains(&card.vector_version) {
        return Err(wrong(format!(
            "no vector of version {} of card {} is there",
            card.vector_version, card.id
        )));
    }
    for link in &card.links {
        if link.to != card.id && present(link.to, ahead)?.is_none() {
            return Err(wrong(format!("the linked card {} was not there before it", link.to)));
        }
    }
    ahead.insert(card.id, (card.version, card.vector_version));
    Ok(())
}

fn apply(
    batch: &mut Batch<'_>,
    tenant: TenantId,
    step: Step,
    model: Option<&ModelRecord>,
    known: &HashSet<(TenantId, CardId, u32)>,
    done: &mut Imported,
) -> Result<()> {
    let Step { line: change, lookups } = step;
    let kind = match change.kind {
        Kind::Version => ChangeKind::Version,
        Kind::Touch => ChangeKind::Touch,
        Kind::Lookups => ChangeKind::Lookups,
        Kind::Vector => ChangeKind::Vector,
    };
    if known.contains(&(tenant, change.id, change.version)) {
        done.known += u64::from(change.kind == Kind::Version);
        return Ok(());
    }
    let (version, track) = match (&change.card, batch.tables().version(tenant, change.id, change.version)?) {
        (Some(card), _) => (card.version, card.track),
        (None, Some(card)) => (card.version, card.track),
        (None, None) => return Err(Error::NotFound { what: format!("card {}", change.id) }),
    };
    if let Some(card) = &change.card {
        if let (Some(_), Some(model)) = (&change.vector, model) {
            batch.require_model(model)?;
        }
        batch.restore_version(tenant, card, change.vector.as_deref())?;
        done.versions += 1;
    }
    let restored = Change { kind, track, card: change.id, version, at: change.at, lookups };
    batch.restore_change(tenant, restored)?;
    done.changes += 1;
    Ok(())
}
