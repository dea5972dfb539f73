//! A file system whose operations a test can let fail, or do something else before them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::store::io::{Io, IoFile, OpenMode, RealIo};

/// Which operations there are; reading is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Write,
    Sync,
    /// Names: open for writing, rename, remove, create, lock; lengths.
    Name,
}

/// Real files; a check comes before every operation, which fails when the check does.
#[derive(Clone)]
pub(crate) struct FaultyIo {
    check: Arc<dyn Fn(Kind) -> io::Result<()> + Send + Sync>,
    /// Half of the data is written before a write fails, in whole sectors.
    torn: bool,
}

impl FaultyIo {
    pub(crate) fn new(torn: bool, check: impl Fn(Kind) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { check: Arc::new(check), torn }
    }
}

impl fmt::Debug for FaultyIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyIo")
    }
}

#[derive(Debug)]
struct FaultyFile(Box<dyn IoFile>, FaultyIo);

impl IoFile for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Err(error) = (self.1.check)(Kind::Write) {
            if self.1.torn {
                self.0.write_at(offset, &data[..data.len() / 2 / 512 * 512])?;
            }
            return Err(error);
        }
        self.0.write_at(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        (self.1.check)(Kind::Name)?;
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        (self.1.check)(Kind::Sync)?;
        self.0.sync()
    }
}

impl Io for FaultyIo {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        if mode != OpenMode::Read {
            (self.check)(Kind::Name)?;
        }
        Ok(Box::new(FaultyFile(RealIo.open(path, mode)?, self.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.check)(Kind::Name)?;
        RealIo.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        (self.check)(Kind::Name)?;
        RealIo.remove(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        (self.check)(Kind::Name)?;
        RealIo.create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        RealIo.remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        (self.check)(Kind::Sync)?;
        RealIo.sync_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        RealIo.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        RealIo.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        (self.check)(Kind::Name)?;
        Ok(RealIo.lock(path)?.map(|file| Box::new(FaultyFile(file, self.clone())) as Box<dyn IoFile>))
    }
}
