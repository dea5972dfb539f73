//! Where the bytes of a store directory are: files by kind, records of the store file by table.

use std::collections::BTreeMap;
use std::path::Path;

use memcards_benches::Outcome;
use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use serde_json::{Value, json};

/// Names of the tables by number, as docs/format.md has them.
const TABLES: [&str; 15] = [
    "?",
    "meta",
    "tenant_names",
    "tenants",
    "cards",
    "versions",
    "changes",
    "settings",
    "due",
    "plans",
    "plan_items",
    "runs",
    "run_items",
    "tombstones",
    "segments",
];

/// Bytes of a page, and pages of a group, before which their checksums stand; see docs/format.md.
const PAGE: usize = 4096;
const GROUP: usize = 512;
/// Where the header's checksum stands.
const HEADER_SUM: std::ops::Range<usize> = 504..512;

/// The store file of a closed store as redb knows it: without the checksums of its pages.
pub(super) fn plain(directory: &Path) -> Outcome<redb::Database> {
    let bytes = std::fs::read(directory.join("memcards.redb"))?;
    let groups = bytes.chunks((GROUP + 1) * PAGE);
    let mut plain: Vec<u8> = groups.filter_map(|group| group.get(PAGE..)).flatten().copied().collect();
    plain.get_mut(HEADER_SUM).ok_or("no store file")?.fill(0);
    let path = directory.join("plain.redb");
    std::fs::write(&path, plain)?;
    let database = redb::Database::open(&path)?;
    // It stays readable through the handle.
    std::fs::remove_file(&path)?;
    Ok(database)
}

/// Bytes of all files below a directory.
pub(super) fn of_directory(directory: &Path) -> Outcome<u64> {
    Ok(by_extension(directory)?.values().sum())
}

fn by_extension(directory: &Path) -> Outcome<BTreeMap<String, u64>> {
    let mut sums = BTreeMap::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.metadata()?.is_dir() {
            for (kind, bytes) in by_extension(&entry.path())? {
                *sums.entry(kind).or_default() += bytes;
            }
            continue;
        }
        let path = entry.path();
        let kind = path.extension().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        *sums.entry(kind).or_default() += entry.metadata()?.len();
    }
    Ok(sums)
}

/// The same by kind of file, and what the records of each table take, keys included. The store
/// must be closed.
pub(super) fn where_they_are(directory: &Path) -> Outcome<Value> {
    let database = plain(directory)?;
    let table = TableDefinition::<&[u8], &[u8]>::new("memcards");
    let mut tables: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in database.begin_read()?.open_table(table)?.iter()? {
        let (key, value) = entry?;
        let number = key.value().get(4).copied().unwrap_or_default();
        let sums = tables.entry(TABLES.get(usize::from(number)).unwrap_or(&"?")).or_default();
        sums.0 += 1;
        sums.1 += (key.value().len() + value.value().len()) as u64;
    }
    let files = by_extension(directory)?;
    for (kind, bytes) in &files {
        eprintln!("  {:>10.1} MB  {kind}", *bytes as f64 / 1e6);
    }
    for (name, (records, bytes)) in &tables {
        eprintln!("  {:>10.1} MB  records of {name}: {records}", *bytes as f64 / 1e6);
    }
    let tables: BTreeMap<_, _> = tables
        .into_iter()
        .map(|(name, (records, bytes))| (name, json!({"records": records, "bytes": bytes})))
        .collect();
    Ok(json!({"files": files, "tables": tables}))
}
