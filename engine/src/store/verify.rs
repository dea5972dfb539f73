//! Walking everything and naming what is wrong and where. Changes nothing.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::card::{Card, CardId};
use crate::store::cold::verify::{Met, meet};
use crate::store::database::Database;
use crate::store::keys::{self, STORE, TableId, TenantId};
use crate::store::record::{self, ChangeKind, LoggedChange};
use crate::store::tables::{Missing, ReadBytes, Stored, Tables};
use crate::{Error, Result};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// File or table and key.
    pub place: String,
    /// What does not fit.
    pub detail: String,
}

/// What a verification looked at and found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Pages of the store file whose checksums were compared.
    pub pages: u64,
    /// Tenants walked.
    pub tenants: u64,
    /// Current cards read.
    pub cards: u64,
    /// Earlier versions read.
    pub versions: u64,
    /// Vectors read.
    pub vectors: u64,
    /// Look-ups followed.
    pub lookups: u64,
    /// Changes read.
    pub changes: u64,
    /// Segments of the cold tier read.
    pub segments: u64,
    /// Index files read.
    pub index_files: u64,
    /// Everything that is wrong; empty for a sound store.
    pub findings: Vec<Finding>,
}

impl VerifyReport {
    /// True when nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    pub(crate) fn find(&mut self, place: impl Into<String>, detail: impl Into<String>) {
        self.findings.push(Finding { place: place.into(), detail: detail.into() });
    }

    pub(super) fn note(&mut self, error: Error) {
        match error {
            Error::Corrupt { place, detail } => self.find(place, detail),
            other => self.find("the store file", other.to_string()),
        }
    }
}

impl Database {
    /// Reads every record, checks its checksum and that records agree with each other.
    ///
    /// # Errors
    /// Only when the store cannot be read at all; damage is in the report.
    pub(crate) fn verify(&self, mut progress: impl FnMut(u64)) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        let file = self.file().get();
        match file.pages().check(|| self.file().hold(), |page| report.find(page.place(), page.detail)) {
            Ok(pages) => report.pages = pages,
            Err(error) => report.note(error),
        }
        let tables = match self.read() {
            Ok(tables) => tables,
            // Not even the table is there any more.
            Err(error @ Error::Corrupt { .. }) => {
                report.note(error);
                return Ok(report);
            }
            Err(error) => return Err(error),
        };
        let mut known = HashSet::new();
        match tables.tenants() {
            Ok(tenants) => {
                for (id, tenant) in tenants {
                    report.tenants += 1;
                    known.insert(id);
                    match tables.tenant_id(&tenant.name) {
                        Ok(Some(found)) if found == id => {}
                        Ok(_) => report.find(
                            record::place(TableId::Tenants, &keys::tenant(id)),
                            "the tenant's name does not lead back to it",
                        ),
                        Err(error) => report.note(error),
                    }
                }
            }
            Err(error) => report.note(error),
        }
        let gone = purged(&tables, &known);
        let mut met = Met::new();
        let mut walked = 0u64;
        for entry in tables.entries()? {
            let (key, value) = match entry {
                Ok(entry) => entry,
                // What stood in a damaged page is passed over.
                Err(error @ Error::Corrupt { .. }) => {
                    report.note(error);
                    continue;
                }
                Err(error) => {
                    report.note(error);
                    break;
                }
            };
            let checked =
                check(&tables, (key.value(), value.value()), (&known, &gone), &mut met, &mut report);
            if let Err(error) = checked {
                report.note(error);
            }
            walked += 1;
            if walked.is_multiple_of(4096) {
                progress(walked);
            }
        }
        for &tenant in &known {
            if let Err(error) = self.check_log(&tables, tenant, &mut report) {
                report.note(error);
            }
            self.check_segments(&tables, tenant, &met, &mut report);
        }
        progress(walked);
        Ok(report)
    }

    /// A tenant's changes are numbered 1, 2, 3, …, and name versions that are there, unless the
    /// card is gone; the look-ups that they leave lead to cards, and are those of the snapshot
    /// file.
    fn check_log<T: ReadBytes>(
        &self,
        tables: &Tables<T>,
        tenant: TenantId,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let snapshot = match self.lookups().read_snapshot(tenant)? {
            None => None,
            Some((path, read)) => {
                report.index_files += 1;
                let path = path.display().to_string();
                match read {
                    Ok(index) => Some((path, index)),
                    Err(detail) => {
                        report.find(path, format!("{detail} (the index is rebuilt on use)"));
                        None
                    }
                }
            }
        };
        let (stripped, (last, _)) = (tables.stripped(tenant)?, tables.last_change(tenant)?);
        let mut expected = 1;
        let (mut lookups, mut missing) = (BTreeMap::new(), Missing::default());
        for change in tables.changes(tenant, 0)? {
            match change {
                Ok(logged) => {
                    match logged.change.kind.takes_away() {
                        true => missing.went_away(logged.change.card),
                        false => match tables.version(tenant, logged.change.card, logged.change.version) {
                            Ok(Some(_)) => {}
                            Ok(None) => missing.note(&logged),
                            // Named where the record itself is checked.
                            Err(_) => {}
                        },
                    }
                    let LoggedChange { sequence, change, .. } = logged;
                    if sequence != expected {
                        report.find(
                            record::place(TableId::Changes, &keys::change(tenant, sequence)),
                            format!("change {expected} is missing before it"),
                        );
                    }
                    for lookup in change.lookups {
                        match lookup.card {
                            Some(card) => lookups.insert(lookup.key, card),
                            None => lookups.remove(&lookup.key),
                        };
                    }
                    // Of a log that was stripped only the end says what look-ups there are: what led
                    // elsewhere in between was taken out.
                    if let Some((path, index)) = &snapshot
                        && index.applied() == sequence
                        && (stripped == 0 || sequence == last)
                        && index.entries() != lookups
                    {
                        report.find(path, "its look-ups are not those of the change log");
                    }
                    expected = sequence + 1;
                }
                Err(error) => {
                    report.note(error);
                    expected += 1;
                }
            }
        }
        for (sequence, ..) in missing.found() {
            report.find(
                record::place(TableId::Changes, &keys::change(tenant, sequence)),
                format!("change {sequence} names a version of a card that is not there"),
            );
        }
        for card in lookups.into_values() {
            report.lookups += 1;
            if !tables.has_card(tenant, card)? {
                let place = record::place(TableId::Cards, &keys::card(tenant, card));
                report.find(place, "a look-up leads to this card, which is not there");
            }
        }
        Ok(())
    }
}

/// Cards that were purged.
type Purged = HashSet<(TenantId, CardId)>;

fn purged<T: ReadBytes>(tables: &Tables<T>, known: &HashSet<TenantId>) -> Purged {
    let mut gone = Purged::new();
    for tenant in known {
        // What cannot be read is told of when the log is checked.
        for change in tables.changes(*tenant, 0).into_iter().flatten() {
            if let Ok(logged) = change
                && logged.change.kind == ChangeKind::Purge
            {
                gone.insert((*tenant, logged.change.card));
            }
        }
    }
    gone
}

/// The table that an entry belongs to, once its checksum fits.
///
/// # Errors
/// [`Error::Corrupt`] naming table and key.
pub(super) fn open_entry(key: &[u8], value: &[u8]) -> Result<TableId> {
    let Some(table) = TableId::of_key(key) else {
        return Err(Error::corrupt("the store file", format!("{key:02x?} is no key of a table")));
    };
    record::open(table, key, value)?;
    Ok(table)
}

fn check<T: ReadBytes>(
    tables: &Tables<T>,
    (key, value): (&[u8], &[u8]),
    (known, gone): (&HashSet<TenantId>, &Purged),
    met: &mut Met,
    report: &mut VerifyReport,
) -> Result<()> {
    let table = open_entry(key, value)?;
    let bad = |detail: &str| Error::corrupt(record::place(table, key), detail);
    if matches!(table, TableId::Meta | TableId::TenantNames | TableId::Tenants) {
        return Ok(());
    }
    let tenant = TenantId::of_key(key).ok_or_else(|| bad("the key has no tenant"))?;
    if tenant != STORE && !known.contains(&tenant) {
        return Err(bad("belongs to no known tenant"));
    }
    match table {
        TableId::Cards => {
            report.cards += 1;
            meet(met, tenant, key, value)?;
            let id = keys::card_of_key(key).ok_or_else(|| bad("not the key of a card"))?;
            if let Some(stub) = tables.stub(tenant, id)? {
                let records = tables.cold_records(tenant, id, &stub)?;
                for stored in tables.open_cold(tenant, id, &records)? {
                    check_version(tables, (table, tenant), key, stored, gone, report)?;
                }
                report.versions += u64::from(stub.version) - 1;
                return Ok(());
            }
            let card = check_card(tables, (table, tenant), (key, value), gone, report)?;
            let earlier = tables.earlier_versions(tenant, card.id)?;
            let expected = 1..card.version;
            if !earlier.iter().map(|card| card.version).eq(expected) {
                return Err(bad("its earlier versions are not complete"));
            }
        }
        TableId::Versions => {
            report.versions += 1;
            let card = check_card(tables, (table, tenant), (key, value), gone, report)?;
            if keys::version_of_key(key) != Some(card.version) {
                return Err(bad("the record is of another version"));
            }
            if !tables.has_card(tenant, card.id)? {
                return Err(bad("an earlier version without a current one"));
            }
        }
        TableId::Changes => {
            report.changes += record::open_changes(key, value)?.len() as u64;
        }
        _ => {}
    }
    Ok(())
}

fn check_card<T: ReadBytes>(
    tables: &Tables<T>,
    (table, tenant): (TableId, TenantId),
    (key, value): (&[u8], &[u8]),
    gone: &Purged,
    report: &mut VerifyReport,
) -> Result<Card> {
    let stored = record::open_card_and_vector(table, key, value)?;
    check_version(tables, (table, tenant), key, stored, gone, report)
}

fn check_version<T: ReadBytes>(
    tables: &Tables<T>,
    (table, tenant): (TableId, TenantId),
    key: &[u8],
    (card, vector): Stored,
    gone: &Purged,
    report: &mut VerifyReport,
) -> Result<Card> {
    let bad = |detail: String| Error::corrupt(record::place(table, key), detail);
    for link in &card.links {
        // What was purged leaves the links of others as they were.
        if !tables.has_card(tenant, link.to)? && !gone.contains(&(tenant, link.to)) {
            return Err(bad(format!("{} {}, which is not there", link.kind, link.to)));
        }
    }
    report.vectors += u64::from(vector.is_some());
    if vector.iter().flat_map(|own| &own.numbers).any(|x| !x.is_finite()) {
        return Err(bad("the vector holds a number that is not finite".into()));
    }
    if vector.is_some() != (card.vector_version == card.version) {
        return Err(
            bad("it holds a vector that its version did not bring, or not the one it brought".into()),
        );
    }
    if vector.as_ref().is_some_and(|own| own.generation > tables.generation()) {
        return Err(bad("the vector comes from a model that the store has never had".into()));
    }
    if vector.is_none() {
        tables.vector(tenant, &card)?;
    }
    Ok(card)
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
