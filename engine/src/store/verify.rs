//! Walking everything and naming what is wrong and where. Changes nothing.

use std::collections::HashSet;

use serde::Serialize;

use crate::card::Card;
use crate::store::database::Database;
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables, open_lookup};
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

    fn note(&mut self, error: Error) {
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
        let tables = self.read()?;
        let mut report = VerifyReport::default();
        let mut known = HashSet::new();
        match tables.tenants() {
            Ok(tenants) => {
                for (id, tenant) in tenants {
                    report.tenants += 1;
                    known.insert(id);
                    match tables.tenant_id(&tenant.name) {
                        Ok(Some(found)) if found == id => {}
                        Ok(_) => report.find(
                            record::place(TableId::Tenants, &id.prefix()),
                            "the tenant's name does not lead back to it",
                        ),
                        Err(error) => report.note(error),
                    }
                }
            }
            Err(error) => report.note(error),
        }
        let mut walked = 0u64;
        for table in TableId::ALL {
            for entry in tables.entries(table, None)? {
                let (key, value) = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        report.note(error);
                        break;
                    }
                };
                if let Err(error) = check(&tables, table, key.value(), value.value(), &known, &mut report) {
                    report.note(error);
                }
                walked += 1;
                if walked.is_multiple_of(4096) {
                    progress(walked);
                }
            }
        }
        check_sequences(&tables, &known, &mut report)?;
        progress(walked);
        Ok(report)
    }
}

fn check<T: ReadBytes>(
    tables: &Tables<T>,
    table: TableId,
    key: &[u8],
    value: &[u8],
    known: &HashSet<TenantId>,
    report: &mut VerifyReport,
) -> Result<()> {
    let bad = |detail: &str| Error::corrupt(record::place(table, key), detail);
    record::open(table, key, value)?;
    if matches!(table, TableId::Meta | TableId::TenantNames) {
        return Ok(());
    }
    let tenant = TenantId::of_key(key).ok_or_else(|| bad("the key has no tenant"))?;
    if !known.contains(&tenant) {
        return Err(bad("belongs to no known tenant"));
    }
    match table {
        TableId::Cards => {
            report.cards += 1;
            let card = record::open_card(table, key, value)?;
            check_card(tables, tenant, key, &card)?;
            let earlier = tables.earlier_versions(tenant, card.id)?;
            let expected = 1..card.version;
            if !earlier.iter().map(|card| card.version).eq(expected) {
                return Err(bad("its earlier versions are not complete"));
            }
        }
        TableId::Versions => {
            report.versions += 1;
            let card = record::open_card(table, key, value)?;
            if keys::version_of_key(key) != Some(card.version) {
                return Err(bad("the record is of another version"));
            }
            check_card(tables, tenant, key, &card)?;
            if tables.card(tenant, card.id)?.is_none() {
                return Err(bad("an earlier version without a current one"));
            }
        }
        TableId::Vectors => {
            report.vectors += 1;
            let vector = record::open_vector(key, value)?;
            if vector.iter().any(|x| !x.is_finite()) {
                return Err(bad("the vector holds a number that is not finite"));
            }
            let (Some(card), Some(version)) = (keys::card_of_key(key), keys::version_of_key(key)) else {
                return Err(bad("not a vector key"));
            };
            if tables.version(tenant, card, version)?.is_none_or(|card| card.vector_version != version) {
                return Err(bad("no version of a card owns this vector"));
            }
        }
        TableId::Lookup => {
            report.lookups += 1;
            if tables.card(tenant, open_lookup(key, value)?)?.is_none() {
                return Err(bad("leads to a card that is not there"));
            }
        }
        TableId::Changes => {
            report.changes += 1;
            let change = record::open_change(key, value)?;
            if tables.version(tenant, change.card, change.version)?.is_none() {
                return Err(bad("names a version of a card that is not there"));
            }
        }
        TableId::Meta | TableId::TenantNames | TableId::Tenants => {}
    }
    Ok(())
}

fn check_card<T: ReadBytes>(tables: &Tables<T>, tenant: TenantId, key: &[u8], card: &Card) -> Result<()> {
    let bad = |detail: String| Error::corrupt(record::place(TableId::Cards, key), detail);
    if keys::card_of_key(key) != Some(card.id) {
        return Err(bad("the record is of another card".into()));
    }
    for link in &card.links {
        if tables.card(tenant, link.to)?.is_none() {
            return Err(bad(format!("{} {}, which is not there", link.kind, link.to)));
        }
    }
    tables.vector(tenant, card).map(drop)
}

/// A tenant's changes are numbered 1, 2, 3, … and name every version of every card.
fn check_sequences<T: ReadBytes>(
    tables: &Tables<T>,
    known: &HashSet<TenantId>,
    report: &mut VerifyReport,
) -> Result<()> {
    for &tenant in known {
        let mut expected = 1;
        for change in tables.changes(tenant, 0)? {
            match change {
                Ok((sequence, _)) => {
                    if sequence != expected {
                        report.find(
                            record::place(TableId::Changes, &keys::change(tenant, sequence)),
                            format!("change {expected} is missing before it"),
                        );
                    }
                    expected = sequence + 1;
                }
                Err(error) => {
                    report.note(error);
                    expected += 1;
                }
            }
        }
    }
    Ok(())
}
