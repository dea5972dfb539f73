//! `repair`: derived files are made anew, the store file where nothing in it is lost.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::engine::Store;
use crate::index::files;
use crate::store::Finding;
use crate::{Error, Result};

/// What a repair has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// What was wrong before.
    pub found: Vec<Finding>,
    /// Tenants whose index files were removed: they are made anew when they are needed.
    pub indexes: u64,
    /// Records in the store file that was written anew; 0 when it was left as it is.
    pub records: u64,
    /// Where the damaged store file is kept.
    pub kept: Option<PathBuf>,
    /// What is still wrong: lost, unless a backup has it.
    pub lost: Vec<Finding>,
}

impl Store {
    /// Repairs what can be repaired without losing anything: index files that are damaged are removed
    /// and made anew on use; a store file in which every record can be read is written anew,
    /// and the damaged one kept beside it. Where records are lost the file stays as it is, and
    /// the answer names them; what is left can be read, not written. `progress` is told how
    /// many records were read.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when a file cannot be read or written; damage is in the answer.
    pub fn repair(&self, mut progress: impl FnMut(u64)) -> Result<Repaired> {
        let found = self.verify(&mut progress)?.findings;
        if found.is_empty() {
            return Ok(Repaired::default());
        }
        let mut repaired = Repaired { found, ..Repaired::default() };
        repaired.indexes = self.remove_damaged_indexes()?;
        let database = self.database();
        if database.is_file_damaged()? {
            match database.repair_file(&mut progress) {
                Ok((records, kept)) => {
                    repaired.records = records;
                    repaired.kept = Some(kept);
                }
                // Named below.
                Err(Error::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        repaired.lost = self.verify(progress)?.findings;
        Ok(repaired)
    }

    /// Removes all index files of tenants of which one is damaged; gives how many such there are.
    fn remove_damaged_indexes(&self) -> Result<u64> {
        let database = self.database();
        let mut damaged = BTreeSet::new();
        files::check_files(database, |path, detail| {
            if detail.is_some() {
                damaged.insert(path.parent().map(PathBuf::from));
            }
        })?;
        let mut removed = 0;
        // Whose names cannot be read keeps its index files: they are checked when they are opened.
        let tenants = database.read().and_then(|tables| tables.tenants());
        let tenants = match tenants {
            Err(Error::Corrupt { .. }) => return Ok(0),
            tenants => tenants?,
        };
        for (tenant, _) in tenants {
            let broken = database.lookups().is_snapshot_damaged(tenant)?;
            if broken || damaged.contains(&Some(files::tenant_directory(database, tenant))) {
                self.cache().forget_tenant(database, tenant)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
