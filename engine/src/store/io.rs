//! The one seam to the file system.
//!
//! redb's file, snapshot files, backups and the directory lock all go through [`Io`], so
//! that a recording or a faulty implementation sees every byte. This module knows nothing
//! of what the files hold.

#![allow(clippy::disallowed_methods, reason = "this is the seam")]

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Read an existing file.
    Read,
    /// Read and write; create when missing, keep what is there.
    ReadWrite,
    /// Read and write an empty file; fail when the file exists.
    CreateNew,
    /// Read and write an empty file; drop what was there.
    Truncate,
}

/// File operations on a directory tree. Paths are absolute or relative to the process.
pub trait Io: fmt::Debug + Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>>;
    /// Replaces `to` by `from` atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory and its parents.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes created, renamed and removed names in a directory durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
    /// Names in a directory, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
    /// True when something is at the path.
    fn exists(&self, path: &Path) -> bool;
    /// True when that is a directory.
    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }
    /// Takes an exclusive lock held until the file is dropped; `None` when another holds it.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>>;
}

/// An open file.
pub trait IoFile: fmt::Debug + Send + Sync {
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// True when the file holds no byte.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `out` from `offset` on; an error when the file is too short.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// Writes all of `data` at `offset`.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Cuts or extends (with zeros) the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
    /// The operating system's file behind it, for mapping it into memory; without one the
    /// content is read instead.
    fn as_file(&self) -> Option<&File> {
        None
    }
}

/// The operating system's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealIo;

impl IoFile for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(out, offset)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_all_at(data, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn as_file(&self) -> Option<&File> {
        Some(self)
    }
}

/// A file whose lock is given back when it is dropped. Closing it would not do: while
/// this process starts another one, that one has the file open too for a moment.
#[derive(Debug)]
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // When this fails the lock goes with the last handle of the file.
        let _ = self.0.unlock();
    }
}

impl IoFile for Locked {
    fn len(&self) -> io::Result<u64> {
        IoFile::len(&self.0)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        IoFile::read_at(&self.0, offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        IoFile::write_at(&self.0, offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        IoFile::set_len(&self.0, len)
    }

    fn sync(&self) -> io::Result<()> {
        IoFile::sync(&self.0)
    }
}

impl Io for RealIo {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => &mut options,
            OpenMode::ReadWrite => options.write(true).create(true).truncate(false),
            OpenMode::CreateNew => options.write(true).create_new(true),
            OpenMode::Truncate => options.write(true).create(true).truncate(true),
        };
        Ok(Box::new(options.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names =
            std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(Locked(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The directory of a path, for making a new name in it durable.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Puts the path into the error of a file operation.
pub(crate) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// Reads a whole file; `None` when there is none.
pub(crate) fn read_file(io: &dyn Io, path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match io.open(path, OpenMode::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return at(path, Err(error)),
    };
    let len = at(path, file.len())?;
    let len = usize::try_from(len).map_err(|_| {
        Error::corrupt(path.display().to_string(), "the file is larger than memory can address")
    })?;
    let mut bytes = vec![0; len];
    at(path, file.read_at(0, &mut bytes))?;
    Ok(Some(bytes))
}

/// Removes a file; false when there is none. That the name is gone is durable once its
/// directory is synced.
pub(crate) fn remove_file(io: &dyn Io, path: &Path) -> Result<bool> {
    match io.remove(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => at(path, Err(error)),
    }
}

/// Writes a file so that the name holds either the old content or all of the new one,
/// also after a crash: temporary file, fsync, rename, fsync of the directory.
pub(crate) fn write_file(io: &dyn Io, path: &Path, bytes: &[u8]) -> Result<()> {
    replace_file(io, path, |file| file.write_at(0, bytes))
}

/// As [`write_file`], for content that is written piece by piece.
pub(crate) fn replace_file(
    io: &dyn Io,
    path: &Path,
    write: impl FnOnce(&dyn IoFile) -> io::Result<()>,
) -> Result<()> {
    let temporary = path.with_extension("tmp");
    {
        let file = at(&temporary, io.open(&temporary, OpenMode::Truncate))?;
        at(&temporary, write(&*file))?;
        at(&temporary, file.sync())?;
    }
    at(path, io.rename(&temporary, path))?;
    let directory = parent(path);
    at(directory, io.sync_directory(directory))
}

/// Reads a file behind the seam from its start to its end.
#[derive(Debug)]
pub(crate) struct Reader {
    file: Box<dyn IoFile>,
    at: u64,
    len: u64,
}

impl Reader {
    /// Opens a file for reading.
    pub(crate) fn open(io: &dyn Io, path: &Path) -> Result<Self> {
        let file = at(path, io.open(path, OpenMode::Read))?;
        let len = at(path, file.len())?;
        Ok(Self { file, at: 0, len })
    }
}

impl io::Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
        let count = out.len().min(left);
        self.file.read_at(self.at, &mut out[..count])?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Writes a new file behind the seam from its start to its end.
#[derive(Debug)]
pub(crate) struct Writer {
    file: Box<dyn IoFile>,
    at: u64,
}

impl Writer {
    /// Creates a file that must not exist yet.
    pub(crate) fn create(io: &dyn Io, path: &Path) -> Result<Self> {
        Ok(Self { file: at(path, io.open(path, OpenMode::CreateNew))?, at: 0 })
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

impl io::Write for Writer {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.file.write_at(self.at, data)?;
        self.at += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
