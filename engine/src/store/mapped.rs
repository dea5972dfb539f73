//! A file that is read where it lies, without a copy in memory.

#![allow(unsafe_code)]

use std::io;

use crate::store::io::IoFile;

/// The bytes of a file that nobody writes to any more.
#[derive(Debug)]
pub(crate) struct Mapped(Backing);

#[derive(Debug)]
enum Backing {
    Read(Vec<u8>),
    #[cfg(unix)]
    Mapped {
        start: std::ptr::NonNull<u8>,
        length: usize,
    },
}

// SAFETY: the bytes are never written to, and the mapping belongs to this value alone.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps a file, or reads it where it cannot be mapped. Its bytes must not change while the
    /// value lives; its name may go.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn open(file: &dyn IoFile) -> io::Result<Self> {
        let length = usize::try_from(file.len()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
        #[cfg(unix)]
        if length > 0
            && let Some(file) = file.as_file()
        {
            use rustix::mm::{MapFlags, ProtFlags, mmap};
            // SAFETY: a new private mapping at an address of the system's choice; the file has
            // so many bytes, is not written to once it has its name, and the store's lock keeps
            // others away.
            let start =
                unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, 0) }?;
            if let Some(start) = std::ptr::NonNull::new(start.cast()) {
                return Ok(Self(Backing::Mapped { start, length }));
            }
        }
        let mut bytes = vec![0; length];
        file.read_at(0, &mut bytes)?;
        Ok(Self(Backing::Read(bytes)))
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Backing::Read(bytes) => bytes,
            #[cfg(unix)]
            // SAFETY: the mapping is so long, is readable, and lives as long as `self`.
            Backing::Mapped { start, length } => unsafe {
                std::slice::from_raw_parts(start.as_ptr(), *length)
            },
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Backing::Mapped { start, length } = self.0 {
            // SAFETY: mapped by `open`, unmapped once; no reference outlives the value.
            let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::io::{Io, OpenMode, RealIo};

    /// Larger than a page, and no whole number of them.
    fn content() -> Vec<u8> {
        (0..10_007u32).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn a_mapped_file_reads_as_it_was_also_when_its_name_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let file = RealIo.open(&path, OpenMode::CreateNew).unwrap();
        file.write_at(0, &content()).unwrap();
        let mapped = Mapped::open(&*file).unwrap();
        assert!(matches!(mapped.0, Backing::Mapped { length: 10_007, .. }));
        drop(file);
        RealIo.remove(&path).unwrap();
        let shared = std::sync::Arc::new(mapped);
        let threads = [0, 1].map(|_| {
            let shared = shared.clone();
            std::thread::spawn(move || assert_eq!((*shared).as_ref(), content()))
        });
        drop(shared);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn what_cannot_be_mapped_is_read() {
        #[derive(Debug)]
        struct Bytes(Vec<u8>);
        impl IoFile for Bytes {
            fn len(&self) -> io::Result<u64> {
                Ok(self.0.len() as u64)
            }
            fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
                let bytes = self.0.get(offset as usize..).and_then(|rest| rest.get(..out.len()));
                out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
                Err(io::ErrorKind::ReadOnlyFilesystem.into())
            }
            fn set_len(&self, _: u64) -> io::Result<()> {
                Err(io::ErrorKind::ReadOnlyFilesystem.into())
            }
            fn sync(&self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(Mapped::open(&Bytes(content())).unwrap().as_ref(), content());
        let directory = tempfile::tempdir().unwrap();
        let empty = RealIo.open(&directory.path().join("empty"), OpenMode::CreateNew).unwrap();
        assert!(Mapped::open(&*empty).unwrap().as_ref().is_empty());
    }
}
