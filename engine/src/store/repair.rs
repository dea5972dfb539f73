//! Making a damaged store file whole again, where nothing that it holds is lost.
//!
//! Damage may hit a page that no record stands in: a free one, one of redb's own, a block of
//! checksums. Then everything can be read, and is written to a new file. Where a record is
//! lost nothing is changed: what is left stays readable, and a backup may know more. The
//! damaged file is kept under another name either way; nothing here removes one.

use std::path::PathBuf;

use crate::store::database::{Database, STORE_FILE};
use crate::store::io::{self, OpenMode, at};
use crate::{Error, Result};

/// Bytes that are copied in one go.
const PIECE: usize = 1 << 20;

impl Database {
    /// Writes the store file anew from every record of the present one, which is kept as a copy.
    /// Gives how many records there are, and where the copy is.
    ///
    /// # Errors
    /// [`Error::Corrupt`] naming the first record that cannot be read: then nothing is changed;
    /// [`Error::Io`] when a file cannot be written.
    pub(crate) fn repair_file(&self, mut progress: impl FnMut(u64)) -> Result<(u64, PathBuf)> {
        let _still = self.file().hold();
        // Before anything is written: is every record there?
        let mut read = 0;
        for entry in self.read()?.entries()? {
            let (key, value) = entry?;
            super::verify::open_entry(key.value(), value.value())?;
            read += 1;
            progress(read);
        }
        let kept = self.keep_file()?;
        let records = self.write_anew(progress)?;
        Ok((records, kept))
    }

    /// Copies the store file, byte for byte, to a name that is free.
    fn keep_file(&self) -> Result<PathBuf> {
        let io = self.io();
        let path = self.directory().join(STORE_FILE);
        let free =
            (1..=u32::MAX).map(|number| self.directory().join(format!("{STORE_FILE}.damaged-{number}")));
        let kept = free.into_iter().find(|name| !io.exists(name));
        let kept = kept.ok_or_else(|| Error::Internal("no name is free for the damaged file".into()))?;
        let from = at(&path, io.open(&path, OpenMode::Read))?;
        let to = at(&kept, io.open(&kept, OpenMode::CreateNew))?;
        let (length, mut offset) = (at(&path, from.len())?, 0);
        let mut piece = vec![0; PIECE];
        while offset < length {
            let piece = &mut piece[..usize::try_from(length - offset).unwrap_or(PIECE).min(PIECE)];
            // A part that the disk does not give back is left out, and zero in the copy.
            if from.read_at(offset, piece).is_ok() {
                at(&kept, to.write_at(offset, piece))?;
            }
            offset += piece.len() as u64;
        }
        at(&kept, to.set_len(length))?;
        at(&kept, to.sync())?;
        let directory = io::parent(&kept);
        at(directory, io.sync_directory(directory))?;
        Ok(kept)
    }
}
