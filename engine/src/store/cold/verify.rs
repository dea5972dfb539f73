//! Checking the cold tier: segments, and that stubs and places in them are the same in number.

use std::collections::HashMap;

use crate::Result;
use crate::store::cold::{SegmentKey, Stub, header_check};
use crate::store::database::Database;
use crate::store::keys::{self, TableId, TenantId};
use crate::store::record;
use crate::store::tables::{ReadBytes, Tables};
use crate::store::verify::VerifyReport;

/// The stubs that were met, by segment.
pub(in crate::store) type Met = HashMap<SegmentKey, u64>;

/// Notes the stub in a value of `cards`, if it is one.
pub(in crate::store) fn meet(met: &mut Met, tenant: TenantId, key: &[u8], value: &[u8]) -> Result<()> {
    if let Some(stub) = Stub::open(key, value)? {
        *met.entry((tenant, stub.segment)).or_default() += 1;
    }
    Ok(())
}

impl Database {
    /// Reads every segment that a tenant lists.
    pub(in crate::store) fn check_segments<T: ReadBytes>(
        &self,
        tables: &Tables<T>,
        tenant: TenantId,
        met: &Met,
        report: &mut VerifyReport,
    ) {
        let segments = match tables.segments(tenant) {
            Ok(segments) => segments,
            Err(error) => return report.note(error),
        };
        for (number, listed) in segments {
            let key = (tenant, number);
            report.segments += 1;
            let record = record::place(TableId::Segments, &keys::numbered(TableId::Segments, tenant, number));
            let live = met.get(&key).copied().unwrap_or(0);
            if live + u64::from(listed.dead) != u64::from(listed.cards) {
                report.find(
                    &record,
                    format!(
                        "{live} cards lead into a segment of {}, which {} have left",
                        listed.cards, listed.dead
                    ),
                );
            }
            match tables.left(key, &listed) {
                Ok(left) if left.len() as u64 == u64::from(listed.dead) => {}
                Ok(left) => report.find(
                    &record,
                    format!("{} cards are noted to have left, of {}", left.len(), listed.dead),
                ),
                Err(error) => report.note(error),
            }
            let segment = match self.cold().segment(key) {
                Ok(segment) => segment,
                Err(error) => {
                    report.note(error);
                    continue;
                }
            };
            let place = self.cold().path(key).display().to_string();
            let bytes = segment.bytes();
            let found = (bytes.len() as u64, header_check(bytes), segment.len());
            if found != (listed.bytes, Some(listed.check), listed.cards) {
                report.find(&place, "it is not the segment that the store lists");
            }
            for error in segment.verify() {
                report.find(&place, error.to_string());
            }
        }
        for (key, count) in met.iter().filter(|(key, _)| key.0 == tenant) {
            let listed: Result<Option<super::SegmentRecord>> =
                tables.document(TableId::Segments, tenant, key.1);
            if matches!(listed, Ok(None)) {
                let place = self.cold().path(*key).display().to_string();
                report.find(place, format!("{count} cards lead to this segment, which is not listed"));
            }
        }
    }
}
