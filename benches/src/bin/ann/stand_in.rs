//! Holds the place of the vector index until that is there: the same face over an exact scan.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memcards::index::rows::RowSet;

type Result<T> = std::result::Result<T, std::io::Error>;

/// What an index is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct VectorOptions {
    pub(crate) dimension: usize,
    pub(crate) seed: u64,
    /// Not used here; the index has more options than the runner sets.
    pub(crate) more: usize,
}

/// How to search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchOptions<'a> {
    pub(crate) ef: Option<usize>,
    pub(crate) allowed: Option<&'a RowSet>,
}

/// A vector found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbor {
    pub(crate) id: u32,
    pub(crate) score: f32,
}

/// Bytes by what they are for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VectorBytes {
    pub(crate) vectors: usize,
    pub(crate) codes: usize,
    pub(crate) links: usize,
    pub(crate) other: usize,
}

/// Vectors by id.
pub(crate) struct VectorIndex {
    options: VectorOptions,
    vectors: RwLock<Vectors>,
}

type Vectors = BTreeMap<u32, Vec<f32>>;

impl VectorIndex {
    pub(crate) fn new(options: VectorOptions) -> Self {
        Self { options, vectors: RwLock::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Vectors> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vectors> {
        self.vectors.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, id: u32, vector: &[f32]) -> Result<bool> {
        if vector.len() != self.options.dimension {
            return Err(std::io::Error::other("another dimension"));
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm == 0.0 {
            return Ok(false);
        }
        Ok(self.write().insert(id, vector.iter().map(|x| x / norm).collect()).is_none())
    }

    pub(crate) fn remove(&self, id: u32) -> bool {
        self.write().remove(&id).is_some()
    }

    pub(crate) fn search(&self, query: &[f32], k: usize, options: &SearchOptions<'_>) -> Vec<Neighbor> {
        let _ = (options.ef, self.options.seed, self.options.more);
        let norm = query.iter().map(|x| x * x).sum::<f32>().sqrt();
        let mut found: Vec<Neighbor> = self
            .read()
            .iter()
            .filter(|(id, _)| options.allowed.is_none_or(|allowed| allowed.contains(**id)))
            .map(|(&id, vector)| {
                let score = vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>() / norm;
                Neighbor { id, score }
            })
            .collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(k);
        found
    }

    pub(crate) fn settle(&self, _threads: usize) {}

    pub(crate) fn save(&self, path: &Path) -> Result<u64> {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let mut written = 4;
        file.write_all(&(self.options.dimension as u32).to_le_bytes())?;
        for (id, vector) in self.read().iter() {
            file.write_all(&id.to_le_bytes())?;
            for x in vector {
                file.write_all(&x.to_le_bytes())?;
            }
            written += 4 + 4 * vector.len() as u64;
        }
        file.flush()?;
        Ok(written)
    }

    pub(crate) fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)?;
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|x| u32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
        let dimension = words.first().copied().unwrap_or(0) as usize;
        let vectors = words.get(1..).unwrap_or_default().chunks_exact(dimension + 1);
        let vectors = vectors.map(|x| (x[0], x[1..].iter().map(|&x| f32::from_bits(x)).collect())).collect();
        Ok(Self { options: VectorOptions { dimension, ..Default::default() }, vectors: RwLock::new(vectors) })
    }

    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    pub(crate) fn bytes(&self) -> VectorBytes {
        VectorBytes { vectors: self.read().len() * self.options.dimension * 4, ..Default::default() }
    }
}
