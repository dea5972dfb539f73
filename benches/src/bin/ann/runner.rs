//! Carries out the commands of the comparison. Reading files is never counted as time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use memcards::index::rows::RowSet;
use memcards::index::vector::SnapshotTag;
use memcards::store::io::RealIo;
use memcards_benches::Outcome;
use serde_json::{Value, json};

use crate::index::{Neighbor, SearchOptions, VectorIndex, VectorOptions};
use crate::partitions::Partitions;
use crate::protocol::{Add, Filter, Mode, Parameters, Search};
use memcards_benches::files::{self, FileError, Matrix};
use memcards_benches::usage::{self, Stopwatch, cpu_seconds};

/// File of the index inside the folder of `save`.
const INDEX_FILE: &str = "vectors.index";
/// File of the ids that are in it; partitions of tenants are made anew from these.
const ROWS_FILE: &str = "rows.npy";

/// What its snapshots are tagged with: nothing in particular.
const TAG: SnapshotTag = [0; 2];

/// The index, and what belongs to the data beside vectors.
pub(crate) struct Runner {
    seed: u64,
    threads: usize,
    data: Option<PathBuf>,
    /// Where the rows' vectors are, for the partitions of tenants.
    base: Option<PathBuf>,
    index: Option<VectorIndex>,
    /// Ids that are in the index.
    live: RowSet,
    attributes: HashMap<String, RowSet>,
    partitions: Option<Partitions>,
}

/// Where a search looks.
enum Target<'a> {
    All(Option<&'a RowSet>),
    /// In the partition of each query's tenant.
    Partitions(&'a Partitions, &'a [i32]),
}

impl Runner {
    /// A runner that waits for `init`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            threads: 1,
            data: None,
            base: None,
            index: None,
            live: RowSet::new(),
            attributes: HashMap::new(),
            partitions: None,
        }
    }

    /// Takes the folder of the data.
    pub(crate) fn init(
        &mut self,
        data: PathBuf,
        parameters: Parameters,
        threads: Option<usize>,
    ) -> Outcome<Value> {
        if !data.is_dir() {
            return Err(FileError::new(&data, "no such folder").into());
        }
        *self = Self::new(parameters.seed.unwrap_or(self.seed));
        self.threads = threads.unwrap_or(1).max(1);
        self.data = Some(data);
        Ok(json!({"caps": ["save", "filter", "add", "delete"]}))
    }

    /// Makes the index of a file of vectors, graph and all.
    pub(crate) fn build(&mut self, base: &Path, n: usize) -> Outcome<Value> {
        let vectors = files::read_vectors(base, 0, if n == 0 { usize::MAX } else { n })?;
        let before = usage::resident()["VmRSS"].clone();
        let watch = Stopwatch::start();
        let index = VectorIndex::new(VectorOptions {
            dimension: vectors.dimension,
            seed: self.seed,
            ..Default::default()
        });
        u32::try_from(vectors.len())?;
        index.insert_all((0..).zip(vectors.rows()), self.threads)?;
        let spent = watch.read();
        self.live = RowSet::full(vectors.len());
        self.base = Some(base.to_path_buf());
        self.partitions = None;
        self.index = Some(index);
        let n = vectors.len();
        drop(vectors);
        Ok(json!({
            "wall": spent.wall, "cpu": spent.cpu, "n": n,
            "rss_before_incl_input": before, "rss": usage::resident(), "bytes": self.bytes(),
        }))
    }

    /// Writes the index into a folder.
    pub(crate) fn save(&mut self, folder: &Path) -> Outcome<Value> {
        std::fs::create_dir_all(folder).map_err(|error| FileError::new(folder, error))?;
        let watch = Stopwatch::start();
        let bytes = self.index()?.save(&RealIo, &folder.join(INDEX_FILE), TAG)?;
        let spent = watch.read();
        memcards_benches::npy::write_ids(&folder.join(ROWS_FILE), self.live.iter())?;
        Ok(json!({"wall": spent.wall, "cpu": spent.cpu, "bytes": bytes}))
    }

    /// Opens what `save` wrote.
    pub(crate) fn load(&mut self, folder: &Path) -> Outcome<Value> {
        let rows = files::read_ids(&folder.join(ROWS_FILE))?;
        let before = usage::resident();
        let watch = Stopwatch::start();
        let index = VectorIndex::open(&RealIo, &folder.join(INDEX_FILE), &VectorOptions::default(), TAG)?;
        let spent = watch.read();
        let n = index.len();
        self.live = rows.into_iter().collect();
        self.partitions = None;
        self.index = Some(index);
        Ok(json!({
            "wall": spent.wall, "cpu": spent.cpu, "n": n, "rss0": before, "rss": usage::resident(),
        }))
    }

    /// Answers queries; ids go to a file.
    pub(crate) fn search(&mut self, search: &Search) -> Outcome<Value> {
        let queries = files::read_vectors(&search.queries, search.from, search.n.unwrap_or(usize::MAX))?;
        let tenants = match &search.filter {
            Some(Filter::Tenant(name)) => {
                self.partition()?;
                self.tenants_of_queries(name, search.from, queries.len())?
            }
            Some(Filter::Attr(name)) => {
                self.read_attribute(name)?;
                Vec::new()
            }
            None => Vec::new(),
        };
        let target = match (&search.filter, &self.partitions) {
            (Some(Filter::Tenant(_)), Some(partitions)) => Target::Partitions(partitions, &tenants),
            (Some(Filter::Attr(name)), _) => Target::All(self.attributes.get(name)),
            _ => Target::All(None),
        };
        let index = self.index()?;
        let one = |row: usize, query: &[f32]| -> Vec<Neighbor> {
            let options = |allowed| SearchOptions { ef: search.ef, allowed };
            match target {
                Target::All(allowed) => index.search(query, search.k, &options(allowed)),
                Target::Partitions(partitions, tenants) => {
                    partitions.search(tenants[row], query, search.k, &options(None))
                }
            }
        };

        let mut found = vec![-1i32; queries.len() * search.k];
        let mut each = Vec::with_capacity(queries.len());
        if search.mode == Mode::Single
            && let Some(query) = queries.row(0)
        {
            one(0, query);
        }
        let watch = Stopwatch::start();
        for (row, query) in queries.rows().enumerate() {
            let start = if search.mode == Mode::Single { cpu_seconds() } else { 0.0 };
            let neighbors = one(row, query);
            if search.mode == Mode::Single {
                each.push(cpu_seconds() - start);
            }
            let slots = found[row * search.k..].iter_mut().take(search.k);
            slots.zip(neighbors).for_each(|(slot, neighbor)| *slot = neighbor.id as i32);
        }
        let spent = watch.read();
        files::write_ivecs(&search.out, search.k, &found)?;
        let mut answer = json!({"wall": spent.wall, "cpu": spent.cpu});
        if search.mode == Mode::Single {
            answer["p50"] = usage::percentile(&each, 0.50).into();
            answer["p99"] = usage::percentile(&each, 0.99).into();
        }
        Ok(answer)
    }

    /// Inserts or replaces vectors. Partitions of tenants follow, outside of the time.
    pub(crate) fn add(&mut self, add: &Add) -> Outcome<Value> {
        let (vectors, ids) = match &add.ids {
            Some(path) => {
                let (all, ids) = (files::read_vectors(&add.vecs, 0, usize::MAX)?, files::read_ids(path)?);
                let mut vectors = Matrix { dimension: all.dimension, values: Vec::new() };
                for &id in &ids {
                    let row = all.row(id as usize).ok_or_else(|| {
                        FileError::new(path, format!("id {id} is past the end of {}", add.vecs.display()))
                    })?;
                    vectors.values.extend_from_slice(row);
                }
                (vectors, ids)
            }
            None => {
                let vectors = files::read_vectors(&add.vecs, add.from, add.n.unwrap_or(usize::MAX))?;
                let ids = (add.id0..).take(vectors.len()).collect();
                (vectors, ids)
            }
        };
        // Partitions that are made later take the rows' vectors from the base, so those of
        // another file must find them made.
        if self.base()? != add.vecs
            && let Some(tenants) = self.tenants()?
            && ids.iter().any(|&id| (id as usize) < tenants.len())
        {
            self.partition()?;
        }
        let index = self.index.as_ref().ok_or(NO_INDEX)?;
        let watch = Stopwatch::start();
        for (&id, vector) in ids.iter().zip(vectors.rows()) {
            index.insert(id, vector)?;
        }
        let spent = watch.read();
        for (&id, vector) in ids.iter().zip(vectors.rows()) {
            self.live.insert(id);
            if let Some(partitions) = &mut self.partitions {
                partitions.insert(id, vector)?;
            }
        }
        drop(vectors);
        Ok(json!({"wall": spent.wall, "cpu": spent.cpu, "n": ids.len(), "rss": usage::resident()}))
    }

    /// Removes vectors. Partitions of tenants follow, outside of the time.
    pub(crate) fn delete(&mut self, ids: &Path) -> Outcome<Value> {
        let ids = files::read_ids(ids)?;
        let index = self.index.as_ref().ok_or(NO_INDEX)?;
        let watch = Stopwatch::start();
        let removed = ids.iter().filter(|&&id| index.remove(id)).count();
        let spent = watch.read();
        for &id in &ids {
            self.live.remove(id);
            if let Some(partitions) = &mut self.partitions {
                partitions.remove(id);
            }
        }
        Ok(json!({"wall": spent.wall, "cpu": spent.cpu, "n": ids.len(), "removed": removed}))
    }

    /// Runs background work to its end; that of the tenants' partitions outside of the time.
    pub(crate) fn finish(&mut self) -> Outcome<Value> {
        let threads = self.threads;
        let index = self.index.as_ref().ok_or(NO_INDEX)?;
        let watch = Stopwatch::start();
        index.settle(threads);
        let spent = watch.read();
        if let Some(partitions) = &mut self.partitions {
            partitions.settle(threads);
        }
        Ok(json!({"wall": spent.wall, "cpu": spent.cpu, "rss": usage::resident()}))
    }

    /// Tells memory.
    pub(crate) fn stat(&mut self) -> Outcome<Value> {
        let n = self.index.as_ref().map_or(0, VectorIndex::len);
        Ok(json!({"rss": usage::resident(), "n": n, "bytes": self.bytes()}))
    }

    fn index(&self) -> Outcome<&VectorIndex> {
        Ok(self.index.as_ref().ok_or(NO_INDEX)?)
    }

    fn data(&self) -> Outcome<&Path> {
        Ok(self.data.as_deref().ok_or("no data yet: init comes first")?)
    }

    /// Where the rows' vectors are: what was built from, or else the data's own.
    fn base(&self) -> Outcome<PathBuf> {
        match &self.base {
            Some(path) => Ok(path.clone()),
            None => Ok(files::file_of(self.data()?, "base", "fvecs")),
        }
    }

    /// Bytes of the index by what they are for.
    fn bytes(&self) -> Value {
        self.index.as_ref().map_or(Value::Null, |index| {
            let bytes = index.bytes();
            json!({
                "vectors": bytes.vectors, "codes": bytes.codes, "links": bytes.links, "other": bytes.other,
            })
        })
    }

    /// Makes the set of rows that have an attribute, once.
    fn read_attribute(&mut self, name: &str) -> Outcome {
        if !self.attributes.contains_key(name) {
            let path = files::file_of(self.data()?, &format!("attr_{name}"), "u8");
            let flags = files::read_column(&path)?;
            let rows = (0u32..).zip(flags).filter(|(_, flag)| *flag == 1).map(|(row, _)| row).collect();
            self.attributes.insert(String::from(name), rows);
        }
        Ok(())
    }

    /// The tenant of each row; `None` when the data have no tenants.
    fn tenants(&self) -> Outcome<Option<Vec<i32>>> {
        let path = files::file_of(self.data()?, "tenant", "i32");
        Ok(if path.exists() { Some(files::read_column(&path)?) } else { None })
    }

    fn tenants_of_queries(&self, name: &str, from: usize, queries: usize) -> Outcome<Vec<i32>> {
        let path = files::file_of(self.data()?, &format!("qtenant_{name}"), "i32");
        let all = files::read_column(&path)?;
        let own = all.get(from..from.saturating_add(queries)).map(<[i32]>::to_vec);
        Ok(own.ok_or_else(|| {
            FileError::new(&path, format!("{} tenants for queries {from} to {}", all.len(), from + queries))
        })?)
    }

    /// Makes the partitions of the tenants, once.
    fn partition(&mut self) -> Outcome {
        if self.partitions.is_some() {
            return Ok(());
        }
        self.index()?;
        let data = self.data()?;
        let tenants = self.tenants()?.ok_or_else(|| FileError::new(data, "has no tenants (tenant.i32)"))?;
        let base = files::read_vectors(&self.base()?, 0, usize::MAX)?;
        self.partitions = Some(Partitions::build(tenants, &base, &self.live, self.seed, self.threads)?);
        Ok(())
    }
}

/// What a command says that came too early.
const NO_INDEX: &str = "no index yet: build or load comes first";
