//! Doors for the fuzz targets to what is private: bytes of records and index files.

use crate::index::partition::Partition;
use crate::index::snapshot;
use crate::index::text::{TextIndex, analyze_document};
use crate::store::{lookups, record};

/// Reads bytes as every kind of record.
pub fn record(bytes: &[u8]) {
    record::fuzz(bytes);
}

/// Reads bytes as a snapshot file, as they are and with a checksum that fits; what is read
/// must be written and read again.
pub fn snapshot(bytes: &[u8]) {
    lookups::fuzz(bytes);
    let sealed = [bytes, &xxhash_rust::xxh3::xxh3_64(bytes).to_le_bytes()].concat();
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
