//! Doors for the fuzz targets to what is private: bytes of records, files and documents.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::forget::due;
use crate::forget::erasure::Tombstone;
use crate::forget::plan::PlanRecord;
use crate::forget::policy::Policy;
use crate::forget::run::{RunItem, RunRecord};
use crate::index::partition::Partition;
use crate::index::snapshot;
use crate::index::text::{TextIndex, analyze_document};
use crate::recall::rerank::{FEATURES, TreeModel};
use crate::store::cold::{Progress, SegmentRecord, stub};
use crate::store::{ModelRecord, TenantRecord, lookups, record};
use crate::verbs::PlanItem;

/// Reads bytes as every kind of record.
pub fn record(bytes: &[u8]) {
    record::fuzz(bytes);
    stub::fuzz(bytes);
}

/// Reads bytes as what records hold beside cards and changes: tombstones, and the documents of
/// plans, runs, segments, settings and tenants.
pub fn document(bytes: &[u8]) {
    if let Ok(tombstone) = Tombstone::decode(bytes) {
        assert_eq!(tombstone.encode(), bytes);
    }
    json::<PlanRecord>(bytes);
    json::<PlanItem>(bytes);
    json::<RunRecord>(bytes);
    json::<RunItem>(bytes);
    json::<SegmentRecord>(bytes);
    json::<Progress>(bytes);
    json::<due::Progress>(bytes);
    json::<Policy>(bytes);
    json::<TenantRecord>(bytes);
    json::<ModelRecord>(bytes);
    json::<crate::recall::Settings>(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        crate::recall::read::fuzz_cursor(text);
    }
}

/// A document that is read is written and read again as it was.
fn json<D: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<D>(bytes) else { return };
    let again = serde_json::to_vec(&document).and_then(|json| serde_json::from_slice::<D>(&json));
    assert_eq!(again.ok(), Some(document));
}

/// Reads bytes as a segment of the cold tier, as they are and with checksums that fit.
pub fn segment(bytes: &[u8]) {
    crate::cold::damage::drive(bytes);
    let mut sealed = bytes.to_vec();
    crate::cold::damage::reseal(&mut sealed);
    crate::cold::damage::drive(&sealed);
}

/// Reads bytes as a re-ranking model, as they are and with a checksum that fits; what is read
/// is written as it was.
pub fn trees(bytes: &[u8]) {
    let sealed = [bytes, &xxh3_64(bytes).to_le_bytes()].concat();
    for bytes in [bytes, &sealed] {
        let Ok(model) = TreeModel::from_bytes(bytes) else { continue };
        assert_eq!(model.to_bytes(), bytes);
        for value in [0.0, 0.5, f32::INFINITY, f32::NAN] {
            let _ = model.value(&[value; FEATURES.len()]);
        }
    }
}

/// Reads bytes as a snapshot file, as they are and with a checksum that fits; what is read
/// must be written and read again.
pub fn snapshot(bytes: &[u8]) {
    lookups::fuzz(bytes);
    let sealed = [bytes, &xxh3_64(bytes).to_le_bytes()].concat();
    for bytes in [bytes, &sealed] {
        let Ok((partition, ..)) = snapshot::decode(bytes) else { continue };
        let rows = partition.len();
        let written = snapshot::encode(&partition, 0).and_then(|bytes| {
            snapshot::decode(&bytes)
                .map_err(crate::Error::Internal)
                .map(|(partition, ..): (Partition, _, _)| partition.len())
        });
        assert_eq!(written.ok(), Some(rows));
    }
}

/// Reads bytes as a text index; what is read takes another row.
pub fn text_index(bytes: &[u8]) {
    let Ok(mut index) = TextIndex::from_bytes(bytes) else { return };
    let rows = index.rows();
    for term in ["tea", "茶"] {
        assert!(index.postings(term).iter().all(|(row, _)| (row as usize) < rows));
    }
    if index.insert(rows as u32, &analyze_document("tea 茶")).is_ok() {
        index.settle();
        assert_eq!(index.rows(), rows + 1);
    }
    assert!(TextIndex::from_bytes(&index.to_bytes()).is_ok());
}

/// Reads bytes as the file of a vector index, without any checksum, and does with it all
/// that can be done.
pub fn vector_snapshot(bytes: &[u8]) {
    crate::index::vector::damage::drive(bytes);
}
