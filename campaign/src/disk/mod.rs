//! A disk in memory that remembers every operation, so that a crash can be put anywhere.
//!
//! [`SimulatedDisk`] behaves like a file system that never fails. What a power failure at a
//! point of its log may leave behind is the business of [`crash`]. Nothing here knows what the
//! files hold.

pub mod bytes;
pub mod crash;
pub mod hooked;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memcards::store::io::{Io, IoFile, OpenMode};
use parking_lot::Mutex;

use crate::disk::bytes::Bytes;

/// Number of a file, whatever its name.
pub type FileNumber = usize;

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File(FileNumber),
    /// A directory.
    Directory,
}

/// One operation, as it was asked for.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Bytes written.
    Write {
        /// To which file.
        file: FileNumber,
        /// Where.
        offset: u64,
        /// What.
        data: Arc<[u8]>,
    },
    /// A file cut or lengthened.
    SetLen {
        /// Which file.
        file: FileNumber,
        /// To this length.
        len: u64,
    },
    /// A file made durable.
    Sync {
        /// Which file.
        file: FileNumber,
    },
    /// A name put into a directory.
    Name {
        /// The name.
        path: Arc<Path>,
        /// What it stands for.
        node: Node,
    },
    /// A name that takes the place of another.
    Rename {
        /// The name before.
        from: Arc<Path>,
        /// The name after.
        to: Arc<Path>,
    },
    /// A name taken away.
    Remove {
        /// The name.
        path: Arc<Path>,
    },
    /// A directory's names made durable.
    SyncDirectory {
        /// Which directory.
        path: Arc<Path>,
    },
}

/// Files and names as they are at one moment.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// By number; those without a name are there still.
    pub files: Vec<Bytes>,
    /// The root is not among them.
    pub names: BTreeMap<Arc<Path>, Node>,
}

impl Contents {
    /// The files that have a name.
    pub fn named(&self) -> impl Iterator<Item = (&Path, &Bytes)> {
        self.names.iter().filter_map(|(path, node)| match node {
            Node::File(number) => Some((&**path, &self.files[*number])),
            Node::Directory => None,
        })
    }
}

#[derive(Default)]
struct State {
    contents: Contents,
    /// What was done since the disk was made.
    log: Vec<Operation>,
    locked: HashSet<FileNumber>,
    /// Reads and lengths asked for; they stand in no log.
    reads: u64,
}

/// The disk. Clones share it.
#[derive(Clone, Default)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

impl fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimulatedDisk")
    }
}

impl SimulatedDisk {
    /// A disk that holds this, all of it durable.
    pub fn holding(contents: Contents) -> Self {
        Self(Arc::new(Mutex::new(State { contents, ..State::default() })))
    }

    /// How many operations there were.
    pub fn position(&self) -> usize {
        self.0.lock().log.len()
    }

    /// Takes the log out.
    pub fn take_log(&self) -> Vec<Operation> {
        std::mem::take(&mut self.0.lock().log)
    }

    /// How often something was read.
    pub fn reads(&self) -> u64 {
        self.0.lock().reads
    }

    /// What a process that starts now would see.
    pub fn contents(&self) -> Contents {
        self.0.lock().contents.clone()
    }
}

fn missing(path: &Path) -> io::Error {
    io::Error::new(ErrorKind::NotFound, format!("{}: no such name", path.display()))
}

/// The directory that a name stands in.
fn above(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

impl State {
    fn node(&self, path: &Path) -> Option<Node> {
        match path == Path::new("/") {
            true => Some(Node::Directory),
            false => self.contents.names.get(path).copied(),
        }
    }

    fn in_directory(&self, path: &Path) -> io::Result<()> {
        match self.node(above(path)) {
            Some(Node::Directory) => Ok(()),
            _ => Err(missing(above(path))),
        }
    }

    fn make_file(&mut self, path: &Path) -> io::Result<FileNumber> {
        self.in_directory(path)?;
        let number = self.contents.files.len();
        self.contents.files.push(Bytes::default());
        self.put_name(path, Node::File(number));
        Ok(number)
    }

    fn put_name(&mut self, path: &Path, node: Node) {
        let path: Arc<Path> = path.into();
        self.contents.names.insert(path.clone(), node);
        self.log.push(Operation::Name { path, node });
    }

    fn set_len(&mut self, file: FileNumber, len: u64) {
        self.contents.files[file].set_len(len);
        self.log.push(Operation::SetLen { file, len });
    }

    /// What stands directly in a directory.
    fn children(&self, path: &Path) -> Vec<PathBuf> {
        self.contents.names.keys().filter(|name| above(name) == path).map(|name| name.to_path_buf()).collect()
    }
}

impl Io for SimulatedDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        let mut state = self.0.lock();
        let number = match (state.node(path), mode) {
            (Some(Node::Directory), _) => return Err(io::Error::from(ErrorKind::IsADirectory)),
            (Some(Node::File(_)), OpenMode::CreateNew) => {
                return Err(io::Error::from(ErrorKind::AlreadyExists));
            }
            (Some(Node::File(number)), OpenMode::Truncate) => {
                state.set_len(number, 0);
                number
            }
            (Some(Node::File(number)), _) => number,
            (None, OpenMode::Read) => return Err(missing(path)),
            (None, _) => state.make_file(path)?,
        };
        Ok(Box::new(OpenFile { disk: self.clone(), number, lock: false }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let Some(node @ Node::File(_)) = state.node(from) else { return Err(missing(from)) };
        state.in_directory(to)?;
        let (from, to): (Arc<Path>, Arc<Path>) = (from.into(), to.into());
        state.contents.names.remove(&from);
        state.contents.names.insert(to.clone(), node);
        state.log.push(Operation::Rename { from, to });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let Some(Node::File(_)) = state.node(path) else { return Err(missing(path)) };
        state.contents.names.remove(path);
        state.log.push(Operation::Remove { path: path.into() });
        Ok(())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let mut all: Vec<&Path> = path.ancestors().collect();
        all.reverse();
        for directory in all {
            match state.node(directory) {
                Some(Node::Directory) => {}
                Some(Node::File(_)) => return Err(io::Error::from(ErrorKind::AlreadyExists)),
                None => state.put_name(directory, Node::Directory),
            }
        }
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        if state.node(path) != Some(Node::Directory) {
            return Err(missing(path));
        }
        if !state.children(path).is_empty() {
            return Err(io::Error::from(ErrorKind::DirectoryNotEmpty));
        }
        state.contents.names.remove(path);
        state.log.push(Operation::Remove { path: path.into() });
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        match state.node(path) {
            Some(Node::Directory) => {
                state.log.push(Operation::SyncDirectory { path: path.into() });
                Ok(())
            }
            _ => Err(missing(path)),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut state = self.0.lock();
        state.reads += 1;
        match state.node(path) {
            Some(Node::Directory) => Ok(state.children(path)),
            Some(Node::File(_)) => Err(io::Error::from(ErrorKind::NotADirectory)),
            None => Err(missing(path)),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.lock().node(path).is_some()
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.0.lock().node(path) == Some(Node::Directory)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        let mut state = self.0.lock();
        let number = match state.node(path) {
            Some(Node::File(number)) => number,
            Some(Node::Directory) => return Err(io::Error::from(ErrorKind::IsADirectory)),
            None => state.make_file(path)?,
        };
        match state.locked.insert(number) {
            true => Ok(Some(Box::new(OpenFile { disk: self.clone(), number, lock: true }))),
            false => Ok(None),
        }
    }
}

#[derive(Debug)]
struct OpenFile {
    disk: SimulatedDisk,
    number: FileNumber,
    lock: bool,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if self.lock {
            self.disk.0.lock().locked.remove(&self.number);
        }
    }
}

impl IoFile for OpenFile {
    fn len(&self) -> io::Result<u64> {
        let mut state = self.disk.0.lock();
        state.reads += 1;
        Ok(state.contents.files[self.number].len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.reads += 1;
        match state.contents.files[self.number].read(offset, out) {
            true => Ok(()),
            false => Err(io::Error::from(ErrorKind::UnexpectedEof)),
        }
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.contents.files[self.number].write(offset, data);
        state.log.push(Operation::Write { file: self.number, offset, data: data.into() });
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.0.lock().set_len(self.number, len);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.0.lock().log.push(Operation::Sync { file: self.number });
        Ok(())
    }
}
