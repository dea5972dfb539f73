//! Writing the store file anew: smaller, and without a byte of what was removed.
//!
//! A page that is freed keeps its bytes, and pages are shared by what stands beside each
//! other, so what is erased is gone for sure only when all that is left has been copied to a
//! new file. The copy takes the place of the file while the store is open: readers keep the
//! old one until they are done, writers wait.

use serde::Serialize;

use crate::store::backup::copy_records;
use crate::store::database::{Database, NEW_STORE_FILE, STORE_FILE};
use crate::store::file::OpenFile;
use crate::store::io::{OpenMode, at};
use crate::store::pages::Pages;
use crate::store::tables::storage;
use crate::{Error, Result};

/// What a compaction has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// Size of the store file before, in bytes.
    pub bytes_before: u64,
    /// Size of the store file after, in bytes.
    pub bytes_after: u64,
    /// Records copied.
    pub records: u64,
    /// What is wrong with segments of the cold tier that are left as they are; `verify` says more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

impl Database {
    /// Writes the store file anew. Writers wait until it is done; `progress` is told how many
    /// records are copied.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] after a failed commit; [`Error::Corrupt`] when a record is damaged,
    /// then nothing is changed; [`Error::Io`] when the new file cannot be written. When it took
    /// the place of the old one and that may not be durable, the store refuses writes until it
    /// is reopened.
    pub(crate) fn compact(&self, progress: impl FnMut(u64)) -> Result<Compacted> {
        let _still = self.file().hold();
        if let Some(reason) = self.write_failure() {
            return Err(Error::ReadOnly { reason });
        }
        let bytes_before = self.file_bytes()?;
        let records = self.write_anew(progress)?;
        Ok(Compacted { bytes_before, bytes_after: self.file_bytes()?, records, damaged: vec![] })
    }
    /// Copies every record to a new file, which takes the place of the present one. Commits must
    /// be kept out. Gives how many records there are.
    ///
    /// # Errors
    /// As [`Database::compact`].
    pub(super) fn write_anew(&self, progress: impl FnMut(u64)) -> Result<u64> {
        let (path, new) = (self.directory().join(STORE_FILE), self.directory().join(NEW_STORE_FILE));
        let io = self.io();
        let pages = Pages::create(at(&new, io.open(&new, OpenMode::Truncate))?, &path);
        let made = redb::Database::builder()
            .set_cache_size(self.cache_bytes())
            .create_with_backend(pages.backend())
            .map_err(storage)
            .and_then(|mut target| {
                let records = copy_records(&self.read()?, (&target, &pages), progress)?;
                // What the copying left free goes to the end and is cut off.
                while target.compact().map_err(storage)? {}
                Ok((target, records))
            });
        let (target, records) = match made {
            Ok(made) => made,
            Err(error) => {
                // It is ours, and no store yet.
                let _ = io.remove(&new);
                return Err(error);
            }
        };
        at(&path, io.rename(&new, &path))?;
        self.file().replace(OpenFile::whole(target, pages));
        let durable = at(self.directory(), io.sync_directory(self.directory()));
        if let Err(error) = durable {
            self.refuse_writes(format!("the new store file may not be durable ({error}); reopen the store"));
            return Err(error);
        }
        Ok(records)
    }
}
