//! The files of a partition: where they are, and how one pair of them replaces another.
//!
//! A partition is written as two files: its vectors, in a file that is mapped when it is
//! opened and named after the change it holds last, then rows and postings, whose file
//! says which change that is. The second one is replaced atomically: whatever happens in
//! between, it finds its vectors. This module knows nothing of what is worth writing.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use crate::card::Track;
use crate::index::partition::{Partition, vector_options};
use crate::index::snapshot;
use crate::index::vector::{VectorIndex, verify_snapshot};
use crate::store::io::OpenMode;
use crate::store::lookups::FILE_NAME as LOOKUP_FILE;
use crate::store::{Database, TenantId, io};
use crate::{Error, Result};

/// A partition as it is to be written, taken while it was kept from changing.
pub(crate) struct Snapshot {
    bytes: Vec<u8>,
    vectors: Option<Arc<VectorIndex>>,
    /// Its rows.
    pub(crate) rows: usize,
    /// Sequence and checksum of the last change that is in.
    pub(crate) applied: (u64, u64),
}

impl Snapshot {
    /// What is to be written of a partition. Vectors that are added from now on are left
    /// out when it is read.
    pub(crate) fn of(partition: &Partition, generation: u16) -> Result<Self> {
        Ok(Self {
            bytes: snapshot::encode(partition, generation)?,
            vectors: partition.vectors().cloned(),
            rows: partition.len(),
            applied: partition.applied(),
        })
    }
}

impl Snapshot {
    /// Makes sure that no vector which was removed goes into the file, if `needed`.
    pub(crate) fn clean(&self, needed: bool) -> Result<()> {
        match &self.vectors {
            Some(vectors) if needed && !vectors.sweep(1) => {
                Err(Error::Internal("vectors that were removed could not be left out of a file".into()))
            }
            _ => Ok(()),
        }
    }

    /// Rows that are linked in the graph of its vectors.
    pub(crate) fn linked(&self) -> usize {
        self.vectors.as_ref().map_or(0, |index| index.linked())
    }
}

/// Where the index files of a tenant are.
pub(crate) fn tenant_directory(database: &Database, tenant: TenantId) -> PathBuf {
    database.index_directory().join(format!("{:08x}", tenant.0))
}

/// The place of one partition's files.
pub(crate) struct PartitionFiles<'a> {
    database: &'a Database,
    directory: PathBuf,
    track: Track,
}

impl<'a> PartitionFiles<'a> {
    /// The files of one track of a tenant.
    pub(crate) fn new(database: &'a Database, tenant: TenantId, track: Track) -> Self {
        let directory = tenant_directory(database, tenant);
        Self { database, directory, track }
    }

    fn rows_path(&self) -> PathBuf {
        self.directory.join(format!("{}.idx", self.track.name()))
    }

    fn vectors_path(&self, sequence: u64) -> PathBuf {
        self.directory.join(format!("{}-{sequence:016x}.{VECTORS}", self.track.name()))
    }

    /// True when the partition has a file.
    pub(crate) fn exist(&self) -> bool {
        self.database.io().exists(&self.rows_path())
    }

    /// The last change that the files hold: sequence and checksum. `None` without files; the
    /// error says why they cannot be used.
    pub(crate) fn applied(&self) -> Result<Option<Result<(u64, u64), String>>> {
        let path = self.rows_path();
        let file = match self.database.io().open(&path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return io::at(&path, Err(error)),
        };
        let length = io::at(&path, file.len())?.min(snapshot::HEADER as u64) as usize;
        let mut header = [0; snapshot::HEADER];
        io::at(&path, file.read_at(0, &mut header[..length]))?;
        Ok(Some(snapshot::applied(&header[..length])))
    }

    /// Removes the files of the partition, but for those that hold the change of a sequence
    /// last, if one is given. Gives how many were removed.
    pub(crate) fn remove(&self, keep: Option<u64>) -> Result<usize> {
        let io = self.database.io();
        if !io.exists(&self.directory) {
            return Ok(0);
        }
        let kept = keep.map(|sequence| [self.rows_path(), self.vectors_path(sequence)]);
        let name = self.track.name();
        let mut removed = 0;
        for path in io::at(&self.directory, io.list(&self.directory))? {
            // Half-written ones of a killed process too.
            let rest = path.file_name().and_then(|file| file.to_str()?.strip_prefix(name));
            let ours = rest.is_some_and(|rest| rest.starts_with(['.', '-']));
            if ours && kept.as_ref().is_none_or(|kept| !kept.contains(&path)) {
                removed += usize::from(io::remove_file(io, &path)?);
            }
        }
        if removed > 0 {
            io::at(&self.directory, io.sync_directory(&self.directory))?;
        }
        Ok(removed)
    }

    /// Reads the partition; `None` when there is none. `fits` is told which change it holds
    /// last and how many rows it has, and says why it is not wanted.
    ///
    /// The error says why the files are not used; the caller rebuilds from the store.
    pub(crate) fn read(
        &self,
        fits: impl FnOnce((u64, u64), usize) -> Result<(), String>,
    ) -> Result<Option<Partition>, String> {
        let told = |error: Error| error.to_string();
        let io = self.database.io();
        let Some(bytes) = io::read_file(io, &self.rows_path()).map_err(told)? else { return Ok(None) };
        let (mut partition, vectors, made_by) = snapshot::decode(&bytes)?;
        let applied = partition.applied();
        fits(applied, partition.len())?;
        let generation = self.database.generation();
        // Vectors of an earlier model stay away: those of the present one came with later changes.
        if vectors > 0 && made_by == u64::from(generation) {
            let path = self.vectors_path(applied.0);
            let index =
                VectorIndex::open(io, &path, &vector_options(), [applied.0, applied.1]).map_err(told)?;
            if !partition.set_vectors(index, vectors) {
                return Err("rows and vectors do not fit together".into());
            }
        }
        if generation > 0 {
            partition.note_stale();
        }
        Ok(Some(partition))
    }

    /// Writes the partition in place of what was written before.
    pub(crate) fn write(&self, snapshot: &Snapshot) -> Result<()> {
        let io = self.database.io();
        io::at(&self.directory, io.create_directory(&self.directory))?;
        let (sequence, checksum) = snapshot.applied;
        let path = self.vectors_path(sequence);
        // Of the same change, but maybe with other row numbers: rows must never find vectors that
        // are not theirs.
        if io.exists(&path) && io::remove_file(io, &self.rows_path())? {
            io::at(&self.directory, io.sync_directory(&self.directory))?;
        }
        if let Some(vectors) = &snapshot.vectors {
            vectors.save(io, &path, [sequence, checksum])?;
        }
        io::write_file(io, &self.rows_path(), &snapshot.bytes)?;
        let prefix = format!("{}-", self.track.name());
        let mut removed = false;
        for other in io::at(&self.directory, io.list(&self.directory))? {
            let name = other.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if other != path && name.starts_with(&prefix) && name.ends_with(VECTORS) {
                // Derived, and no longer named by anything. Kept when it cannot be removed.
                match io.remove(&other) {
                    Ok(()) => removed = true,
                    Err(error) => {
                        tracing::warn!(path = %other.display(), %error, "an old index file stays");
                    }
                }
            }
        }
        if removed {
            // It may hold vectors of cards that have gone away: it must not come back.
            io::at(&self.directory, io.sync_directory(&self.directory))?;
        }
        Ok(())
    }
}

/// Extension of files of vectors.
const VECTORS: &str = "vec";

/// Reads every snapshot file and tells what is wrong; for verification.
pub(crate) fn check_files(database: &Database, mut found: impl FnMut(PathBuf, Option<String>)) -> Result<()> {
    let root = database.index_directory();
    let io = database.io();
    if !io.exists(&root) {
        return Ok(());
    }
    for directory in io::at(&root, io.list(&root))? {
        let files = match io.list(&directory) {
            // A file of somebody else's in our folder is none of ours.
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => continue,
            files => io::at(&directory, files)?,
        };
        for path in files {
            // Look-ups are checked with the change log.
            if path.file_name().is_some_and(|name| name == LOOKUP_FILE) {
                continue;
            }
            let detail = match path.extension().and_then(|extension| extension.to_str()) {
                Some("idx") => match io::read_file(io, &path)? {
                    Some(bytes) => snapshot::decode(&bytes).err(),
                    None => None,
                },
                Some(VECTORS) => match verify_snapshot(io, &path) {
                    Err(Error::Corrupt { detail, .. }) => Some(detail),
                    Err(error) => return Err(error),
                    Ok(()) => None,
                },
                // What a killed process left half-written is no index; the next one replaces it.
                _ => continue,
            };
            found(path, detail);
        }
    }
    Ok(())
}
