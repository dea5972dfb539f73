//! Damaged files: opens bytes as an index without verification and does all that can be
//! done with it. For tests and the fuzz target.
//!
//! Large files are not verified when they are opened, so a search may meet any bytes in
//! any array. What it finds is undefined then; that it comes back is not.

#![allow(clippy::unwrap_used, reason = "a panic is what this is looking for")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::index::rows::RowSet;
use crate::index::vector::{SearchOptions, VectorIndex, VectorOptions};
use crate::store::io::{Io, IoFile, OpenMode};

/// Files beyond it are not driven: it would take too long.
const MOST: usize = 1 << 18;

/// A file in memory that is only read.
#[derive(Debug)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl IoFile for Bytes {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read(&self.0, offset, out)
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

    fn as_file(&self) -> Option<&File> {
        None
    }
}

fn read(content: &[u8], offset: u64, out: &mut [u8]) -> io::Result<()> {
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    let content = content.get(from..).and_then(|rest| rest.get(..out.len()));
    out.copy_from_slice(content.ok_or(io::ErrorKind::UnexpectedEof)?);
    Ok(())
}

/// One file in memory, whatever its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(pub(super) Arc<Mutex<Vec<u8>>>);

impl IoFile for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read(&self.0.lock(), offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut content = self.0.lock();
        let end = offset as usize + data.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[offset as usize..end].copy_from_slice(data);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().resize(len as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Io for Memory {
    fn open(&self, _: &Path, mode: OpenMode) -> io::Result<Box<dyn IoFile>> {
        if mode == OpenMode::Truncate {
            self.0.lock().clear();
        }
        Ok(Box::new(self.clone()))
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(vec![])
    }

    fn exists(&self, _: &Path) -> bool {
        true
    }

    fn lock(&self, _: &Path) -> io::Result<Option<Box<dyn IoFile>>> {
        Ok(Some(Box::new(self.clone())))
    }
}

/// Opens bytes as an index, whatever their checksums, and uses it in every way; comes back
/// unless the index panics or loops. What must hold for any bytes is asserted.
pub(crate) fn drive(bytes: &[u8]) {
    let options = VectorOptions { graph_from: 8, ..VectorOptions::default() };
    if bytes.len() > MOST {
        return;
    }
    let Some(index) = VectorIndex::open_damaged(bytes.to_vec(), MOST, &options) else { return };
    let dimension = index.dimension();
    let vector = |seed: u32| -> Vec<f32> {
        (0..dimension as u32).map(|i| ((seed.wrapping_add(i) as f32) * 1.7).sin() + 0.01).collect()
    };
    let ask = |index: &VectorIndex| {
        let every_third: RowSet = (0..300).step_by(3).collect();
        for allowed in [None, Some(&every_third), Some(&RowSet::new())] {
            for (wanted, ef) in [(1, None), (10, Some(1)), (1000, None)] {
                let found = index.search(&vector(wanted as u32), wanted, &SearchOptions { ef, allowed });
                assert!(found.len() <= wanted);
                for neighbour in &found {
                    assert!(allowed.is_none_or(|allowed| allowed.contains(neighbour.id)));
                    assert!(index.contains(neighbour.id));
                }
            }
        }
        index.scores(&vector(3), (0..300).chain([u32::MAX]), |_, _| ());
        index.with_vector(3, <[f32]>::len);
        let _ = (index.len(), index.bytes());
    };
    ask(&index);
    for id in 0..20 {
        index.remove(id * 7);
        index.insert(id * 5, &vector(id)).unwrap();
    }
    ask(&index);
    index.maintain(1);
    ask(&index);
    for id in 0..100 {
        index.insert(id, &vector(id)).unwrap();
        index.remove(id / 2);
    }
    index.settle(2);
    ask(&index);
    // Once written again it is a file like any other.
    let file = Memory::default();
    index.save(&file, Path::new("index"), [0, 0]).unwrap();
    VectorIndex::open(&file, Path::new("index"), &options, [0, 0]).unwrap();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::index::vector::verify_snapshot;

    /// A file with everything in it: graph, upper levels, dead slots, slots that wait.
    fn file(dimension: usize, vectors: u32) -> Vec<u8> {
        let index = VectorIndex::new(VectorOptions { dimension, graph_from: 50, ..VectorOptions::default() });
        let vector = |id: u32| -> Vec<f32> {
            (0..dimension as u32).map(|i| (((id * 31 + i * 17 + 5) % 101) as f32).sin() + 0.01).collect()
        };
        (0..vectors).for_each(|id| assert!(index.insert(id, &vector(id)).unwrap()));
        index.settle(1);
        (0..vectors / 10).for_each(|id| assert!(index.remove(id * 10)));
        (vectors..vectors + 20).for_each(|id| assert!(index.insert(id, &vector(id)).unwrap()));
        let file = Memory::default();
        index.save(&file, Path::new("index"), [7, 8]).unwrap();
        file.0.lock().clone()
    }

    fn open(bytes: Vec<u8>) -> crate::Result<VectorIndex> {
        let file = Memory(Arc::new(Mutex::new(bytes)));
        VectorIndex::open(&file, Path::new("index"), &VectorOptions::default(), [7, 8])
    }

    #[test]
    fn every_flip_is_found() {
        let bytes = file(7, 120);
        open(bytes.clone()).unwrap();
        for at in (0..bytes.len()).filter(|at| *at < 400 || at % 7 == 0) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            let io = Memory(Arc::new(Mutex::new(flipped.clone())));
            let error = verify_snapshot(&io, Path::new("index")).expect_err("a flip is seen");
            assert_eq!(error.code(), "corrupt", "byte {at}");
            assert_eq!(open(flipped).unwrap_err().code(), "corrupt", "byte {at}");
        }
    }

    #[test]
    fn every_cut_is_found() {
        let bytes = file(3, 80);
        for length in (0..bytes.len()).filter(|at| *at < 400 || at % 11 == 0 || at + 300 > bytes.len()) {
            let error = open(bytes[..length].to_vec()).expect_err("a cut is seen");
            assert_eq!(error.code(), "corrupt", "{length}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(open(longer).unwrap_err().code(), "corrupt");
        assert_eq!(open(vec![]).unwrap_err().code(), "corrupt");
    }

    /// Writes the samples that the fuzz target starts from.
    #[test]
    #[ignore = "writes files: run by name when the format changes"]
    fn write_samples() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/vector_snapshot");
        std::fs::create_dir_all(&folder).unwrap();
        for (name, dimension, vectors) in [("flat", 3, 20), ("graph", 2, 60), ("nibbles", 256, 4)] {
            // Names of what a run finds begin like a hash and are not kept.
            std::fs::write(folder.join(format!("sample-{name}")), file(dimension, vectors)).unwrap();
        }
    }

    /// Whatever a damaged file says, all calls come back.
    #[test]
    fn damage_that_is_not_looked_for_does_no_harm() {
        let files = [file(1, 100), file(7, 300), file(64, 80), file(256, 50)];
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        // The worst for each array: all bits set, so that every number is as large as can be.
        for bytes in &files {
            let mut bytes = bytes.clone();
            bytes[104..].fill(255);
            drive(&bytes);
        }
        for turn in 0..24 {
            let mut bytes = files[turn % files.len()].clone();
            // A few bytes, a stretch of noise, or whole numbers of the largest kind.
            match turn / files.len() % 3 {
                0 => (0..40).for_each(|_| {
                    let at = 104 + random(bytes.len() - 104);
                    bytes[at] = random(256) as u8;
                }),
                1 => {
                    let from = 104 + random(bytes.len() - 104);
                    let to = (from + 2000).min(bytes.len());
                    bytes[from..to].iter_mut().for_each(|byte| *byte = random(256) as u8);
                }
                _ => {
                    let at = 104 + random(bytes.len() - 1104);
                    bytes[at..at + 1000].fill(255);
                }
            }
            drive(&bytes);
        }
    }

    /// Each number of the header made wrong in turn: refused, or sound.
    #[test]
    fn wrong_headers_do_no_harm() {
        let bytes = file(7, 120);
        for field in 2..13 {
            for wrong in [0, 65, 1 << 31, 1 << 40 | 3, u64::MAX] {
                let mut bytes = bytes.clone();
                bytes[field * 8..field * 8 + 8].copy_from_slice(&u64::to_le_bytes(wrong));
                drive(&bytes);
            }
        }
    }
}
