//! What a power failure leaves of a disk.
//!
//! Assumed of the disk: a sector of 512 bytes is written whole or not at all, and what was
//! synced stays. Everything else may be lost or kept in any combination: of a file's bytes since
//! its last sync any sectors, each as it was after any of the writes to it; of its length any
//! state since then; of a directory's names since its last sync any that do not depend on one
//! that is lost. A name may be there without the bytes of its file, and the other way round.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::disk::bytes::{Bytes, PAGE};
use crate::disk::{Contents, FileNumber, Node, Operation, above};
use crate::numbers::Numbers;

/// Bytes that a disk writes whole or not at all.
pub const SECTOR: usize = 512;

/// Which of the operations that were not synced are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    Everything,
    /// Each with this chance in percent.
    Each(u64),
    /// Each grain of each write with this chance: sectors or pages.
    Grains(usize, u64),
    /// So many of them in order; of the last one only some sectors.
    First(usize),
    /// All but one.
    AllBut(usize),
}

impl Kept {
    fn choose(numbers: &mut Numbers, pending: usize) -> Self {
        let chance = [10, 50, 50, 90][numbers.below(4)];
        match numbers.below(8) {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 => Self::Each(chance),
            3 => Self::Grains(SECTOR, chance),
            4 => Self::Grains(PAGE, chance),
            5 | 6 => Self::First(numbers.below(pending + 1)),
            _ => Self::AllBut(numbers.below(pending.max(1))),
        }
    }

    /// Whether the operation of this number is kept, as one.
    fn keeps(self, number: usize, numbers: &mut Numbers) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything | Self::Grains(..) => true,
            Self::Each(percent) => numbers.percent(percent),
            Self::First(count) => number < count,
            Self::AllBut(one) => number != one,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct FileState {
    durable: Bytes,
    /// Places in the log.
    pending: Vec<usize>,
}

/// A log that is gone through from its beginning; images are made where it stands.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    log: &'a [Operation],
    at: usize,
    files: Vec<FileState>,
    names: BTreeMap<Arc<Path>, Node>,
    /// By directory, places in the log.
    pending_names: BTreeMap<Arc<Path>, Vec<usize>>,
}

impl<'a> Replay<'a> {
    /// The beginning of a log, on a disk that held this durably.
    pub fn new(base: &Contents, log: &'a [Operation]) -> Self {
        let files =
            base.files.iter().map(|bytes| FileState { durable: bytes.clone(), pending: vec![] }).collect();
        Self { log, at: 0, files, names: base.names.clone(), pending_names: BTreeMap::new() }
    }

    /// Goes on to a place of the log.
    pub fn advance(&mut self, to: usize) {
        while self.at < to.min(self.log.len()) {
            self.step();
        }
    }

    fn step(&mut self) {
        let number = self.at;
        self.at += 1;
        match &self.log[number] {
            Operation::Write { file, .. } | Operation::SetLen { file, .. } => {
                self.file(*file).pending.push(number);
            }
            Operation::Sync { file } => {
                let log = self.log;
                let state = self.file(*file);
                for number in std::mem::take(&mut state.pending) {
                    perform(&mut state.durable, &log[number]);
                }
            }
            Operation::Name { path, .. }
            | Operation::Rename { to: path, .. }
            | Operation::Remove { path } => {
                self.pending_names.entry(above(path).into()).or_default().push(number);
                if let Operation::Name { node: Node::File(file), .. } = &self.log[number] {
                    self.file(*file);
                }
            }
            Operation::SyncDirectory { path } => {
                for number in self.pending_names.remove(path).unwrap_or_default() {
                    rename(&mut self.names, &self.log[number]);
                }
            }
        }
    }

    fn file(&mut self, number: FileNumber) -> &mut FileState {
        if self.files.len() <= number {
            self.files.resize_with(number + 1, FileState::default);
        }
        &mut self.files[number]
    }

    /// What may be left when the power fails here; an operation that has begun is among what is
    /// not synced. Which of the possible images it is, the numbers say.
    pub fn image(&self, numbers: &mut Numbers) -> Contents {
        let mut here = self.clone();
        // Cut inside the next operation: it has done some of its work, or all but told of it.
        let begun = matches!(
            self.log.get(self.at),
            Some(
                Operation::Write { .. }
                    | Operation::SetLen { .. }
                    | Operation::Name { .. }
                    | Operation::Rename { .. }
                    | Operation::Remove { .. }
            )
        );
        if begun && numbers.once_in(2) {
            here.step();
        }
        let pending = here.files.iter().map(|file| file.pending.len()).sum();
        let kept = Kept::choose(numbers, pending);
        let mut seen = 0;
        let files = here
            .files
            .iter()
            .map(|file| {
                let bytes = torn(file, here.log, kept, seen, numbers);
                seen += file.pending.len();
                bytes
            })
            .collect();
        let names = here.names_left(numbers);
        Contents { files, names }
    }

    /// Everything that was done, durable or not: what a process that was killed leaves behind.
    pub fn everything(&self) -> Contents {
        let mut names = self.names.clone();
        let mut pending: Vec<usize> = self.pending_names.values().flatten().copied().collect();
        pending.sort_unstable();
        for number in pending {
            rename(&mut names, &self.log[number]);
        }
        let whole = |file: &FileState| {
            let mut bytes = file.durable.clone();
            file.pending.iter().for_each(|number| perform(&mut bytes, &self.log[*number]));
            bytes
        };
        Contents { files: self.files.iter().map(whole).collect(), names }
    }

    /// Names whose removal or replacement is not durable yet.
    pub fn may_come_back(&self) -> Vec<Arc<Path>> {
        let pending = self.pending_names.values().flatten();
        let gone = pending.filter_map(|number| match &self.log[*number] {
            Operation::Remove { path } | Operation::Rename { to: path, .. } => Some(path.clone()),
            _ => None,
        });
        // In a directory that is gone for good nothing comes back.
        let is_reached = |path: &Path| above(path) == Path::new("/") || self.names.contains_key(above(path));
        gone.filter(|path| self.names.contains_key(path) && is_reached(path)).collect()
    }

    fn names_left(&self, numbers: &mut Numbers) -> BTreeMap<Arc<Path>, Node> {
        let mut names = self.names.clone();
        for pending in self.pending_names.values() {
            let kept = Kept::choose(numbers, pending.len());
            // What is done to a name, or from it, needs what was done to it before.
            let mut lost: HashSet<&Path> = HashSet::new();
            for (count, number) in pending.iter().enumerate() {
                let operation = &self.log[*number];
                let (first, second) = touched(operation);
                let depends = [Some(first), second].into_iter().flatten().any(|path| lost.contains(path));
                if !depends && kept.keeps(count, numbers) {
                    rename(&mut names, operation);
                } else {
                    lost.insert(first);
                    lost.extend(second);
                }
            }
        }
        // A directory that is lost takes what is in it along.
        let all: Vec<Arc<Path>> = names.keys().cloned().collect();
        for path in all {
            let directory = above(&path);
            let there = directory == Path::new("/") || names.get(directory) == Some(&Node::Directory);
            if !there {
                names.remove(&path);
            }
        }
        names
    }
}

/// The names that an operation changes.
fn touched(operation: &Operation) -> (&Path, Option<&Path>) {
    match operation {
        Operation::Rename { from, to } => (from, Some(to)),
        Operation::Name { path, .. } | Operation::Remove { path } | Operation::SyncDirectory { path } => {
            (path, None)
        }
        Operation::Write { .. } | Operation::SetLen { .. } | Operation::Sync { .. } => (Path::new("/"), None),
    }
}

fn rename(names: &mut BTreeMap<Arc<Path>, Node>, operation: &Operation) {
    match operation {
        Operation::Name { path, node } => drop(names.insert(path.clone(), *node)),
        Operation::Rename { from, to } => {
            if let Some(node) = names.remove(from) {
                names.insert(to.clone(), node);
            }
        }
        Operation::Remove { path } => drop(names.remove(path)),
        _ => {}
    }
}

fn perform(bytes: &mut Bytes, operation: &Operation) {
    match operation {
        Operation::Write { offset, data, .. } => bytes.write(*offset, data),
        Operation::SetLen { len, .. } => bytes.set_len(*len),
        _ => {}
    }
}

/// A file's bytes after a crash: `first` is the number of its first pending operation among all.
fn torn(file: &FileState, log: &[Operation], kept: Kept, first: usize, numbers: &mut Numbers) -> Bytes {
    let mut image = file.durable.clone();
    if file.pending.is_empty() || kept == Kept::Nothing {
        return image;
    }
    // The state that a sector is taken from is that of the cache, which has seen every write.
    let mut cache = file.durable.clone();
    // Lengths are kept up to some change of them; what was written beyond that is lost.
    let lengths = match kept {
        Kept::Everything => usize::MAX,
        _ if numbers.once_in(2) => usize::MAX,
        _ => numbers.below(file.pending.len() + 1),
    };
    let mut changes = 0;
    for (count, number) in file.pending.iter().enumerate() {
        let operation = &log[*number];
        let before = cache.len();
        perform(&mut cache, operation);
        if cache.len() != before {
            changes += 1;
            if changes <= lengths {
                image.set_len(cache.len());
            }
        }
        let Operation::Write { offset, data, .. } = operation else { continue };
        let (start, end) = (*offset, *offset + data.len() as u64);
        let last = matches!(kept, Kept::First(count_kept) if first + count == count_kept);
        match kept {
            Kept::Grains(grain, percent) => {
                each_grain(start, end, grain, |from, to| {
                    if numbers.percent(percent) {
                        image.take(&cache, from, to);
                    }
                });
            }
            _ if last => each_grain(start, end, SECTOR, |from, to| {
                if numbers.once_in(2) {
                    image.take(&cache, from, to);
                }
            }),
            _ if kept.keeps(first + count, numbers) => {
                // Whole sectors are written, from the cache.
                each_grain(start, end, usize::MAX, |from, to| image.take(&cache, from, to));
            }
            _ => {}
        }
    }
    image
}

/// Visits the grains that lie in a range, to the bounds of sectors.
fn each_grain(start: u64, end: u64, grain: usize, mut visit: impl FnMut(u64, u64)) {
    let sector = SECTOR as u64;
    let (start, end) = (start / sector * sector, end.div_ceil(sector) * sector);
    let grain = grain as u64;
    let mut at = start;
    while at < end {
        let next = match grain > end {
            true => end,
            false => ((at / grain + 1) * grain).min(end),
        };
        visit(at, next);
        at = next;
    }
}
