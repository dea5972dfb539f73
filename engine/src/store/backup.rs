//! Consistent copies of a store while it is in use.

use std::path::{Path, PathBuf};

use crate::store::database::{Database, STORE_FILE};
use crate::store::io::{IoFile, OpenMode, at, parent};
use crate::store::pages::Pages;
use crate::store::tables::{ReadBytes, Tables, storage};
use crate::store::verify::open_entry;
use crate::{Error, Result};

/// Entries per transaction of the copy; bounds its memory.
const ENTRIES_PER_COMMIT: usize = 20_000;

impl Database {
    /// Copies the committed state into a new directory, verifying each record on the way.
    /// The copy is a store of its own; the name appears only when it is complete. Until then it is
    /// made under another one (`.partial`, `.partial-2`, …), and removed when it cannot be completed.
    /// What a killed process has left under such a name is no backup, and is in nobody's way.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `to` when something is there already;
    /// [`Error::Corrupt`] when a record is damaged (then there is no copy).
    pub(crate) fn backup(&self, to: &Path, mut progress: impl FnMut(u64)) -> Result<u64> {
        let io = self.io();
        if io.exists(to) {
            return Err(Error::invalid("to", format!("{} exists already", to.display())));
        }
        let source = self.read()?;
        let (partial, file) = self.partial(to)?;
        let made = self.copy_to(&source, &partial, file, &mut progress).and_then(|copied| {
            at(to, io.rename(&partial, to))?;
            Ok(copied)
        });
        let copied = made.inspect_err(|_| self.remove_partial(&partial))?;
        let directory = parent(to);
        at(directory, io.sync_directory(directory))?;
        Ok(copied)
    }

    /// Makes the directory in which a copy is made, and its store file, under a name that nobody has: who
    /// creates the file owns the directory.
    fn partial(&self, to: &Path) -> Result<(PathBuf, Box<dyn IoFile>)> {
        let io = self.io();
        let name = to.file_name().ok_or_else(|| Error::invalid("to", "must name a directory"))?;
        for number in 1..=u32::MAX {
            let mut partial = name.to_owned();
            partial.push(".partial");
            if number > 1 {
                partial.push(format!("-{number}"));
            }
            let partial = to.with_file_name(partial);
            if io.exists(&partial) {
                tracing::warn!(path = %partial.display(), "left from a copy that was cut short, or being made");
                continue;
            }
            at(&partial, io.create_directory(&partial))?;
            let file = partial.join(STORE_FILE);
            match io.open(&file, OpenMode::CreateNew) {
                // Somebody else has just taken the name.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => {
                    // Empty, unless it is another one's by now: then it stays.
                    let _ = io.remove_directory(&partial);
                    return Err(Error::Io { path: file, source });
                }
                Ok(file) => return Ok((partial, file)),
            }
        }
        Err(Error::Internal("no name is free for the copy".into()))
    }

    /// Copies everything into a directory and makes it durable there.
    fn copy_to<T: ReadBytes>(
        &self,
        source: &Tables<T>,
        partial: &Path,
        file: Box<dyn IoFile>,
        progress: &mut impl FnMut(u64),
    ) -> Result<u64> {
        let pages = Pages::create(file, &partial.join(STORE_FILE));
        let target = redb::Database::builder().create_with_backend(pages.backend()).map_err(storage)?;
        let copied = copy_records(source, (&target, &pages), progress)?;
        target.close().map_err(storage)?;
        self.copy_segments(source, partial)?;
        at(partial, self.io().sync_directory(partial))?;
        Ok(copied)
    }

    /// Removes what a copy of ours has made, as far as that can be done: it was no backup yet. Whatever
    /// else somebody has put there stays.
    fn remove_partial(&self, partial: &Path) {
        let remove = || -> std::io::Result<()> {
            let io = self.io();
            self.remove_copied_segments(partial)?;
            match io.remove(&partial.join(STORE_FILE)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => io.remove_directory(partial),
            }
        };
        if let Err(error) = remove() {
            tracing::warn!(path = %partial.display(), %error, "what a copy that failed has left stays");
        }
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
