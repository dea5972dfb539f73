//! The laws of the pages.

use proptest::prelude::*;
use redb::StorageBackend;

use super::layout::file_block;
use super::*;
use crate::store::io::{Io, OpenMode, RealIo};

const LEN: u64 = 3 * GROUP + 7;

/// A file of two blocks of every number, written through and closed in order.
fn made(path: &Path) -> Arc<Pages> {
    let pages = Pages::create(RealIo.open(path, OpenMode::CreateNew).unwrap(), path);
    let backend = pages.backend();
    backend.set_len(LEN * BLOCK as u64).unwrap();
    backend.write(0, &header(0)).unwrap();
    for block in 1..LEN {
        backend.write(block * BLOCK as u64, &content(block, 0)).unwrap();
    }
    backend.sync_data().unwrap();
    pages
}

/// The start of redb's header; the flags tell whether the file was closed in order.
fn header(flags: u8) -> Vec<u8> {
    let mut header = vec![7; 320];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header[GOD_BYTE] = flags;
    header
}

fn content(block: u64, version: u8) -> Vec<u8> {
    (0..BLOCK).map(|at| (at as u64 * 31 + block * 7) as u8 ^ version).collect()
}

fn open(path: &Path) -> Arc<Pages> {
    Pages::open(RealIo.open(path, OpenMode::ReadWrite).unwrap(), path).unwrap()
}

fn found(pages: &Pages) -> Vec<DamagedPage> {
    let mut found = Vec::new();
    pages.check(|| (), |page| found.push(page)).unwrap();
    found
}

fn read(pages: &Arc<Pages>, block: u64, blocks: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; blocks * BLOCK];
    pages.backend().read(block * BLOCK as u64, &mut bytes)?;
    Ok(bytes)
}

#[test]
fn blocks_and_their_places_in_the_file_belong_together() {
    for block in (0..5000).chain([1 << 30, (1 << 30) + 511]) {
        assert_ne!(file_block(block) % (GROUP + 1), 0, "never a block of checksums");
        assert!(file_block(block + 1) > file_block(block));
        assert_eq!(blocks_in(file_block(block) + 1), block + 1);
    }
}

#[test]
fn what_was_written_is_read_again_by_another_handle() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    drop(made(&path));
    let pages = open(&path);
    assert_eq!(pages.len().unwrap(), LEN * BLOCK as u64);
    assert_eq!(
        read(&pages, GROUP - 2, 5).unwrap(),
        (GROUP - 2..GROUP + 3).flat_map(|b| content(b, 0)).collect::<Vec<_>>()
    );
    assert_eq!(found(&pages), []);
    let mut content_read = Vec::new();
    io::Read::read_to_end(&mut pages.content(), &mut content_read).unwrap();
    assert_eq!(content_read.len() as u64, LEN * BLOCK as u64);
    assert!(content_read[GROUP as usize * BLOCK..].starts_with(&content(GROUP, 0)));
    let raw = std::fs::read(&path).unwrap();
    let at = Content::offset_of(GROUP * BLOCK as u64 + 5) as usize;
    assert_eq!(raw[at], content(GROUP, 0)[5]);
}

#[test]
fn a_damaged_block_is_an_error_for_redb_and_a_mark_for_who_can_tell() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    drop(made(&path));
    let file = RealIo.open(&path, OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    file.read_at(offset_of(700) + 9, &mut byte).unwrap();
    file.write_at(offset_of(700) + 9, &[byte[0] ^ 4]).unwrap();
    let pages = open(&path);
    assert_eq!(read(&pages, 700, 1).unwrap_err().kind(), ErrorKind::InvalidData);
    assert_eq!(read(&pages, 701, 1).unwrap(), content(701, 0));
    assert_eq!(pages.damage().first().unwrap().offset, offset_of(700));
    assert_eq!(found(&pages).len(), 1);
    let marks = {
        let _tolerant = Tolerant::here();
        read(&pages, 699, 2).unwrap()
    };
    assert_eq!(marks[0], 1, "a leaf");
    let salvaged = pages.salvage(RealIo.open(&path, OpenMode::Read).unwrap());
    assert_eq!(read(&salvaged, 699, 2).unwrap(), marks);
    assert_eq!(
        salvaged.write(BLOCK as u64, &content(1, 1)).unwrap_err().kind(),
        ErrorKind::ReadOnlyFilesystem
    );
    assert_eq!(salvaged.set_len(0).unwrap_err().kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn a_checksum_that_was_hit_itself_takes_no_block_away_and_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    drop(made(&path));
    let file = RealIo.open(&path, OpenMode::ReadWrite).unwrap();
    let mut sum = [0];
    file.read_at(3 * 8, &mut sum).unwrap();
    file.write_at(3 * 8, &[sum[0] ^ 16]).unwrap();
    let pages = open(&path);
    assert_eq!(read(&pages, 3, 1).unwrap(), content(3, 0));
    assert_eq!(found(&pages).len(), 1);
}

#[test]
fn what_is_not_on_the_disk_when_a_store_ends_is_settled() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    let pages = made(&path);
    pages.write(0, &header(RECOVERY_REQUIRED)).unwrap();
    pages.write(9 * BLOCK as u64, &content(9, 1)).unwrap();
    // Never synced: the block is in the file, its checksum is not.
    drop(pages);
    let pages = open(&path);
    assert_eq!(read(&pages, 9, 1).unwrap(), content(9, 1), "redb checks it itself");
    pages.settle().unwrap();
    assert_eq!(read(&pages, 9, 1).unwrap(), content(9, 1));
    assert_eq!(found(&pages), []);
    assert!(!pages.damage().any());
}

/// redb says that it has recovered before the checksums are settled; a crash then must not let
/// the next opening trust them.
#[test]
fn a_file_is_not_closed_in_order_before_its_checksums_are_settled() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    let pages = made(&path);
    pages.write(0, &header(RECOVERY_REQUIRED)).unwrap();
    pages.write(9 * BLOCK as u64, &content(9, 1)).unwrap();
    drop(pages);
    let pages = open(&path);
    pages.backend().write(0, &header(0)).unwrap();
    pages.backend().sync_data().unwrap();
    drop(pages);
    let pages = open(&path);
    pages.settle().unwrap();
    assert_eq!(read(&pages, 9, 1).unwrap(), content(9, 1));
    pages.backend().write(0, &header(0)).unwrap();
    pages.backend().sync_data().unwrap();
    drop(pages);
    let pages = open(&path);
    assert_eq!(read(&pages, 9, 1).unwrap(), content(9, 1));
    assert_eq!(found(&pages), []);
}

#[test]
fn a_header_that_was_hit_is_refused_and_salvaged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    drop(made(&path));
    let file = RealIo.open(&path, OpenMode::ReadWrite).unwrap();
    file.write_at(offset_of(0) + 100, &[8]).unwrap();
    let pages = open(&path);
    let mut bytes = [0; 320];
    assert_eq!(pages.backend().read(0, &mut bytes).unwrap_err().kind(), ErrorKind::InvalidData);
    assert_eq!(found(&pages)[0].offset, offset_of(0));
    let salvaged = pages.salvage(RealIo.open(&path, OpenMode::Read).unwrap());
    salvaged.backend().read(0, &mut bytes).unwrap();
    assert!(bytes.starts_with(MAGIC));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any sequence of writes, cuts, growths and openings reads as a plain file does, and
    /// no checksum is ever wrong.
    #[test]
    fn it_is_a_file(steps in proptest::collection::vec((0..4u8, 1..LEN, 1..4u64, any::<u8>()), 1..40)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        let mut pages = made(&path);
        let mut model: Vec<Option<Vec<u8>>> = (0..LEN).map(|block| Some(content(block, 0))).collect();
        for (what, at, count, version) in steps {
            match what {
                0 | 1 => {
                    let end = (at + count).min(model.len() as u64);
                    let data: Vec<u8> = (at.min(end)..end).flat_map(|block| content(block, version)).collect();
                    if !data.is_empty() {
                        pages.backend().write(at * BLOCK as u64, &data).unwrap();
                    }
                    for block in at..end {
                        model[block as usize] = Some(content(block, version));
                    }
                }
                2 => {
                    pages.backend().set_len(at * BLOCK as u64).unwrap();
                    model.resize(at as usize, None);
                }
                _ => {
                    pages.backend().sync_data().unwrap();
                    drop(pages);
                    pages = open(&path);
                }
            }
        }
        prop_assert_eq!(found(&pages), []);
        for (block, content) in model.iter().enumerate().skip(1) {
            match content {
                Some(content) => prop_assert_eq!(&read(&pages, block as u64, 1).unwrap(), content),
                None => prop_assert!(read(&pages, block as u64, 1).is_err(), "never written"),
            }
        }
    }

    /// A checksum of a block that is not there yet is found; what a crash leaves there goes.
    #[test]
    fn checksums_of_blocks_to_come_are_empty(index in 7..GROUP, bit in 0..8u8) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        drop(made(&path));
        let file = RealIo.open(&path, OpenMode::ReadWrite).unwrap();
        let at = 3 * (GROUP + 1) * BLOCK as u64 + 8 * index;
        file.write_at(at, &[1 << bit]).unwrap();
        let pages = open(&path);
        prop_assert_eq!(found(&pages).iter().map(|page| page.offset).collect::<Vec<_>>(), vec![at]);
        pages.set_mode(Mode::Recovering);
        pages.settle().unwrap();
        prop_assert_eq!(found(&pages), []);
        drop(pages);
        prop_assert_eq!(found(&open(&path)), []);
    }

    /// Whatever is hit, `check` finds it, and nobody reads it.
    #[test]
    fn every_flip_is_found(at in 0..LEN * (BLOCK as u64), bit in 0..8u8) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        drop(made(&path));
        let file = RealIo.open(&path, OpenMode::ReadWrite).unwrap();
        let mut byte = [0];
        file.read_at(at, &mut byte).unwrap();
        file.write_at(at, &[byte[0] ^ (1 << bit)]).unwrap();
        let Ok(pages) = Pages::open(RealIo.open(&path, OpenMode::ReadWrite).unwrap(), &path) else {
            prop_assert!(at / BLOCK as u64 == 1, "only the header's start is refused at once");
            return Ok(());
        };
        prop_assert!(!found(&pages).is_empty());
        for block in 1..LEN {
            if let Ok(bytes) = read(&pages, block, 1) {
                prop_assert_eq!(bytes, content(block, 0));
            }
        }
    }
}

/// A file of which some bytes cannot be read, as often as is said.
#[derive(Debug)]
struct Failing {
    file: Box<dyn IoFile>,
    bad: std::ops::Range<u64>,
    times: std::sync::atomic::AtomicUsize,
}

impl IoFile for Failing {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let hit = offset < self.bad.end && self.bad.start < offset + out.len() as u64;
        let left = |times: usize| times.checked_sub(1);
        if hit && self.times.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok() {
            return Err(io::Error::other("a sector of the test"));
        }
        self.file.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

/// A block that the disk does not give back costs nobody the others, and is found with its place.
#[test]
fn a_block_that_cannot_be_read_is_named_and_takes_no_other_one_away() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    drop(made(&path));
    let failing = |times: usize| {
        let file = RealIo.open(&path, OpenMode::ReadWrite).unwrap();
        let bad = offset_of(700)..offset_of(700) + BLOCK as u64;
        Pages::open(Box::new(Failing { file, bad, times: times.into() }), &path).unwrap()
    };
    let pages = failing(usize::MAX);
    let error = read(&pages, 700, 1).unwrap_err();
    assert_eq!(error.to_string(), "a sector of the test");
    assert_eq!(pages.damage().first().unwrap().detail, "cannot be read: a sector of the test");
    assert_eq!(read(&pages, 701, 1).unwrap(), content(701, 0));
    let told = found(&pages);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].offset, told[0].detail.contains("a sector of the test")), (offset_of(700), true));
    // What fails once only is read again.
    let pages = failing(1);
    assert_eq!(read(&pages, 700, 1).unwrap(), content(700, 0));
    assert!(!pages.damage().any());
}

/// redb asks for whole blocks and its header; anything else is a defect and no answer.
#[test]
fn parts_of_blocks_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    let pages = made(&path);
    let backend = pages.backend();
    let block = BLOCK as u64;
    for (offset, length) in [(block + 1, BLOCK), (block, 100), (2, BLOCK - 1)] {
        let error = backend.read(offset, &mut vec![0; length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{offset} {length}");
    }
    for (offset, length) in [(block + 1, BLOCK), (block, 100), (0, BLOCK), (8, 16)] {
        let error = backend.write(offset, &vec![0; length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{offset} {length}");
    }
    assert_eq!(backend.set_len(block + 1).unwrap_err().kind(), ErrorKind::InvalidData);
    backend.sync_data().unwrap();
    assert_eq!(found(&pages), []);
}
