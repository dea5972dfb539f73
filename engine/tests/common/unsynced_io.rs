//! Real files that are never synced: for tests in which nothing fails, and which would wait for the
//! disk most of their time.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memcards::store::io::{Io, IoFile, OpenMode, RealIo};

#[derive(Clone, Copy, Debug)]
pub(crate) struct UnsyncedIo;

#[derive(Debug)]
struct UnsyncedFile(Box<dyn IoFile>);

impl IoFile for UnsyncedFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn as_file(&self) -> Option<&File> {
        self.0.as_file()
    }
}

impl Io for UnsyncedIo {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        Ok(Box::new(UnsyncedFile(RealIo.open(path, mode)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealIo.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealIo.remove(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        RealIo.create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        RealIo.remove_directory(path)
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        RealIo.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        RealIo.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        RealIo.lock(path)
    }
}
