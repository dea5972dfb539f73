//! Consistent copies of a store while it is in use.

use std::path::Path;

use crate::store::database::{Database, STORE_FILE};
use crate::store::io::{OpenMode, at, parent};
use crate::store::pages::Pages;
use crate::store::tables::{ReadBytes, Tables, storage};
use crate::store::verify::open_entry;
use crate::{Error, Result};

/// Entries per transaction of the copy; bounds its memory.
const ENTRIES_PER_COMMIT: usize = 20_000;

impl Database {
    /// Copies the committed state into a new directory, verifying each record on the way.
    /// The copy is a store of its own; the name appears only when it is complete.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `to` when something is there already;
    /// [`Error::Corrupt`] when a record is damaged (then there is no copy).
    pub(crate) fn backup(&self, to: &Path, mut progress: impl FnMut(u64)) -> Result<u64> {
        let io = self.io();
        if io.exists(to) {
            return Err(Error::invalid("to", format!("{} exists already", to.display())));
        }
        let name = to.file_name().ok_or_else(|| Error::invalid("to", "must name a directory"))?;
        let mut partial_name = name.to_owned();
        partial_name.push(".partial");
        let partial = to.with_file_name(partial_name);
        if io.exists(&partial) {
            return Err(Error::invalid(
                "to",
                format!("{} is left from a copy that was cut short; remove it first", partial.display()),
            ));
        }
        let source = self.read()?;
        at(&partial, io.create_directory(&partial))?;
        let file = partial.join(STORE_FILE);
        let pages = Pages::create(at(&file, io.open(&file, OpenMode::CreateNew))?, &file);
        let target = redb::Database::builder().create_with_backend(pages.backend()).map_err(storage)?;
        let copied = copy_records(&source, (&target, &pages), &mut progress)?;
        target.close().map_err(storage)?;
        self.copy_segments(&source, &partial)?;
        at(&partial, io.sync_directory(&partial))?;
        at(to, io.rename(&partial, to))?;
        let directory = parent(to);
        at(directory, io.sync_directory(directory))?;
        Ok(copied)
    }
}

/// Copies every record into an empty database, verifying each on the way; durable when it is
/// done. Gives how many there are.
///
/// # Errors
/// [`Error::Corrupt`] when a record is damaged.
pub(super) fn copy_records<T: ReadBytes>(
    source: &Tables<T>,
    (target, pages): (&redb::Database, &Pages),
    mut progress: impl FnMut(u64),
) -> Result<u64> {
    let mut copied = 0u64;
    let mut entries = source.entries()?.peekable();
    while entries.peek().is_some() {
        let mut transaction = target.begin_write().map_err(storage)?;
        // The last commit is durable; those before it need not be.
        transaction.set_durability(redb::Durability::None).map_err(|e| Error::Internal(e.to_string()))?;
        {
            let mut tables = Tables::write(&transaction, pages.damage())?;
            for entry in entries.by_ref().take(ENTRIES_PER_COMMIT) {
                let (key, value) = entry?;
                open_entry(key.value(), value.value())?;
                tables.put(key.value(), value.value())?;
                copied += 1;
            }
        }
        transaction.commit().map_err(storage)?;
        progress(copied);
    }
    target.begin_write().map_err(storage)?.commit().map_err(storage)?;
    Ok(copied)
}
