//! Tests of the commands, driven line by line as a driver does it.

use std::path::Path;

use serde_json::{Value, json};

use crate::protocol;
use crate::runner::Runner;

const ROWS: usize = 300;
const DIMENSION: usize = 8;

/// Vectors that follow from their row, each in a direction of its own.
fn vector(row: usize) -> Vec<f32> {
    let mut state = row as u64 * 2 + 1;
    (0..DIMENSION)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

fn fvecs(path: &Path, rows: impl Iterator<Item = usize>) {
    let mut bytes = Vec::new();
    for row in rows {
        bytes.extend((DIMENSION as i32).to_le_bytes());
        vector(row).iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    }
    std::fs::write(path, bytes).unwrap();
}

/// A folder of data: the queries are the first rows; row r is of tenant r mod 7, even rows
/// have the attribute `p50`.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fvecs(&path("base.fvecs"), 0..ROWS);
    fvecs(&path("queries.fvecs"), 0..20);
    std::fs::write(path("attr_p50.u8"), (0..ROWS).map(|row| u8::from(row % 2 == 0)).collect::<Vec<_>>())
        .unwrap();
    let tenants = |rows: usize, tenant: fn(usize) -> i32| -> Vec<u8> {
        (0..rows).flat_map(|row| tenant(row).to_le_bytes()).collect()
    };
    std::fs::write(path("tenant.i32"), tenants(ROWS, |row| (row % 7) as i32)).unwrap();
    // The first ten queries ask their own tenant, the others one that has no rows.
    std::fs::write(path("qtenant_tw.i32"), tenants(20, |row| if row < 10 { (row % 7) as i32 } else { 99 }))
        .unwrap();
    folder
}

struct Session {
    runner: Runner,
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Self {
        let mut session = Self { runner: Runner::new(1), folder: data() };
        let ready = session.ok(json!({
            "cmd": "init", "data": session.folder.path(), "params": {"M": 16, "efc": 128, "dir": "x"}, "threads": 1,
        }));
        assert_eq!(ready["caps"], json!(["save", "filter", "add", "delete"]));
        session
    }

    fn built() -> Self {
        let mut session = Self::new();
        let built = session.ok(json!({"cmd": "build", "base": session.path("base.fvecs"), "n": 0}));
        assert_eq!(built["n"], ROWS);
        assert!(built["cpu"].is_f64() && built["wall"].is_f64() && built["rss"]["VmRSS"].is_u64());
        session
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn ids(&self, name: &str, ids: &[u32]) -> String {
        let path = self.folder.path().join(name);
        memcards_benches::npy::write_ids(&path, ids.iter().copied()).unwrap();
        path.display().to_string()
    }

    fn ok(&mut self, command: Value) -> Value {
        let (answer, last) = protocol::answer(&mut self.runner, &command.to_string());
        assert_eq!(answer["ok"], true, "{command} -> {answer}");
        assert!(!last);
        answer
    }

    fn refused(&mut self, line: &str) -> String {
        let (answer, last) = protocol::answer(&mut self.runner, line);
        assert_eq!(answer["ok"], false, "{line} -> {answer}");
        assert!(!last);
        String::from(answer["error"].as_str().unwrap())
    }

    /// Ids of each query, without the -1.
    fn search(&mut self, more: Value) -> (Value, Vec<Vec<i32>>) {
        let mut command = json!({
            "cmd": "search", "queries": self.path("queries.fvecs"), "n": 20, "k": 5, "ef": 64,
            "out": self.path("o.ivecs"),
        });
        command.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.ok(command);
        let bytes = std::fs::read(self.path("o.ivecs")).unwrap();
        let numbers: Vec<i32> =
            bytes.chunks_exact(4).map(|x| i32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
        let width = numbers[0] as usize;
        let rows = numbers.chunks_exact(width + 1);
        (answer, rows.map(|row| row[1..].iter().copied().filter(|&id| id >= 0).collect()).collect())
    }
}

#[test]
fn queries_find_themselves_in_batch_and_one_by_one() {
    let mut session = Session::built();
    let (_, batch) = session.search(json!({"mode": "batch", "filter": null}));
    assert_eq!(batch.len(), 20);
    for (row, ids) in batch.iter().enumerate() {
        assert_eq!((ids.len(), ids[0]), (5, row as i32));
    }
    let (answer, single) = session.search(json!({"mode": "single"}));
    assert_eq!(batch, single);
    assert!(answer["p50"].as_f64().unwrap() <= answer["p99"].as_f64().unwrap());
    let (_, part) = session.search(json!({"from": 4, "n": 2}));
    assert_eq!(part, batch[4..6]);
}

#[test]
fn filters_hold_and_follow_changes() {
    let mut session = Session::built();
    let (_, ids) = session.search(json!({"filter": {"attr": "p50"}}));
    assert!(ids.iter().flatten().all(|id| id % 2 == 0));
    assert_eq!((ids[4][0], ids[4].len()), (4, 5));

    let (_, ids) = session.search(json!({"filter": {"tenant": "tw"}}));
    for (query, ids) in ids.iter().enumerate() {
        assert!(ids.iter().all(|id| *id as usize % 7 == query % 7));
        assert_eq!(ids.first().copied(), (query < 10).then_some(query as i32));
    }

    let gone = session.ids("gone.npy", &[3, 8]);
    assert_eq!(session.ok(json!({"cmd": "delete", "ids": gone}))["removed"], 2);
    for filter in [json!(null), json!({"tenant": "tw"}), json!({"attr": "p50"})] {
        let (_, ids) = session.search(json!({"filter": filter}));
        assert!(ids.iter().flatten().all(|id| *id != 3 && *id != 8));
    }
    session.ok(json!({"cmd": "add", "vecs": session.path("base.fvecs"), "ids": gone}));
    session.ok(json!({"cmd": "finish"}));
    for filter in [json!(null), json!({"tenant": "tw"})] {
        let (_, ids) = session.search(json!({"filter": filter}));
        assert_eq!((ids[3][0], ids[8][0]), (3, 8));
    }
}

#[test]
fn new_ids_continue_after_the_base() {
    let mut session = Session::built();
    let added = session.ok(json!({
        "cmd": "add", "vecs": session.path("queries.fvecs"), "from": 5, "n": 10, "id0": ROWS,
    }));
    assert_eq!(added["n"], 10);
    assert_eq!(session.ok(json!({"cmd": "stat"}))["n"], ROWS + 10);
    let (_, ids) = session.search(json!({"from": 5, "n": 1, "k": 2}));
    let mut twins = ids[0].clone();
    twins.sort_unstable();
    assert_eq!(twins, [5, ROWS as i32]);
}

#[test]
fn a_vector_of_another_file_reaches_partitions_that_are_made_later() {
    let mut session = Session::built();
    // Row 0 gets the vector of query 7, which is of the same tenant.
    let moved = session.path("moved.fvecs");
    fvecs(Path::new(&moved), std::iter::once(7));
    session.ok(json!({"cmd": "add", "vecs": moved, "n": 1, "id0": 0}));
    let (_, ids) = session.search(json!({"filter": {"tenant": "tw"}, "k": 2}));
    let mut twins = ids[7].clone();
    twins.sort_unstable();
    assert_eq!(twins, [0, 7]);
}

#[test]
fn a_saved_index_answers_the_same_and_knows_its_rows() {
    let mut session = Session::built();
    let gone = session.ids("gone.npy", &[2]);
    session.ok(json!({"cmd": "delete", "ids": gone}));
    let (_, expected) = session.search(json!({}));
    let (_, expected_tenant) = session.search(json!({"filter": {"tenant": "tw"}}));
    let folder = session.path("saved");
    let saved = session.ok(json!({"cmd": "save", "dir": folder}));
    assert!(saved["bytes"].as_u64().unwrap() > (ROWS * DIMENSION) as u64);

    let mut other = Session::new();
    other.refused(&json!({"cmd": "load", "dir": other.path("nothing")}).to_string());
    let loaded = other.ok(json!({"cmd": "load", "dir": folder, "mmap": false}));
    assert_eq!(loaded["n"], ROWS - 1);
    assert!(loaded["rss0"]["VmRSS"].is_u64() && loaded["rss"]["VmRSS"].is_u64());
    assert_eq!(other.search(json!({})).1, expected);
    assert_eq!(other.search(json!({"filter": {"tenant": "tw"}})).1, expected_tenant);
}

#[test]
fn a_part_of_the_base_can_be_built() {
    let mut session = Session::new();
    let built = session.ok(json!({"cmd": "build", "base": session.path("base.fvecs"), "n": 50}));
    assert_eq!(built["n"], 50);
    for filter in [json!(null), json!({"tenant": "tw"})] {
        let (_, ids) = session.search(json!({"filter": filter}));
        assert!(ids.iter().flatten().all(|id| *id < 50));
    }
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_ends() {
    let mut session = Session { runner: Runner::new(1), folder: data() };
    assert!(session.refused("{\"cmd\":").contains("not a command"));
    assert!(session.refused("{\"cmd\":\"dance\"}").contains("dance"));
    assert!(session.refused(&json!({"cmd": "init", "data": "no/such"}).to_string()).contains("no/such"));
    assert!(session.refused("{\"cmd\":\"finish\"}").contains("build or load"));
    let mut session = Session::built();
    let search = |filter: Value| {
        json!({
            "cmd": "search", "queries": session.path("queries.fvecs"), "k": 5, "filter": filter,
            "out": session.path("o.ivecs"),
        })
        .to_string()
    };
    let (attribute, tenant) = (search(json!({"attr": "p99"})), search(json!({"tenant": "tx"})));
    assert!(session.refused(&attribute).contains("attr_p99.u8"));
    assert!(session.refused(&tenant).contains("qtenant_tx.i32"));
    let far = session.ids("far.npy", &[5000]);
    let add = json!({"cmd": "add", "vecs": session.path("base.fvecs"), "ids": far}).to_string();
    assert!(session.refused(&add).contains("5000 is past the end"));
    let (answer, last) = protocol::answer(&mut session.runner, "{\"cmd\":\"quit\"}");
    assert_eq!((answer, last), (json!({"ok": true}), true));
}
