//! What is known to be damaged in the store file, and how reading goes on beside it.
//!
//! redb reads its pages without checking them, and gives up for good when its file reports an
//! error. So a page whose checksum does not fit never reaches it: where a reader asks for
//! one, redb is handed a leaf of two marks instead, one below and one above every key. Whoever meets a mark, or
//! finds nothing where one stands, knows that the answer is lost and says so; everything else
//! in the file stays readable. Nothing may be written any more from then on: the writer asks
//! [`Damage::first`] before and after it works.
//!
//! This module knows how redb lays out a leaf, and nothing of what the keys mean.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// Below every key of ours: none is empty.
pub(super) const LOW: &[u8] = b"";
/// Above every key of ours, and UTF-8: redb compares the names of its tables as text. A tenant
/// of this number would be the four thousand millionth.
pub(super) const HIGH: &[u8] = "\u{10ffff}\u{10ffff}".as_bytes();

/// redb's number of a leaf page.
const LEAF: u8 = 1;

thread_local! {
    /// How many readers of this thread can tell a mark from an entry.
    static TOLERANT: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, reads of this thread get marks in the place of damaged pages.
#[derive(Debug)]
pub(super) struct Tolerant(());

impl Tolerant {
    pub(super) fn here() -> Self {
        TOLERANT.set(TOLERANT.get() + 1);
        Self(())
    }

    /// True while there is one in this thread.
    pub(super) fn is_here() -> bool {
        TOLERANT.get() > 0
    }
}

impl Drop for Tolerant {
    fn drop(&mut self) {
        TOLERANT.set(TOLERANT.get() - 1);
    }
}

/// A place of the store file that cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DamagedPage {
    /// Where it starts, in bytes from the start of the file.
    pub(crate) offset: u64,
    /// What is wrong with it.
    pub(crate) detail: String,
}

impl DamagedPage {
    /// Where it is, for messages.
    pub(crate) fn place(&self) -> String {
        place(self.offset)
    }
}

/// A damaged page's place in messages.
pub(super) fn place(offset: u64) -> String {
    format!("the page at byte {offset} of the store file")
}

impl fmt::Display for DamagedPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.detail)
    }
}

/// The damaged pages that were met so far.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    any: AtomicBool,
    pages: Mutex<Vec<DamagedPage>>,
}

impl Damage {
    /// How many are remembered; more are met, but not kept.
    const KEPT: usize = 1000;

    /// Notes a page.
    pub(super) fn note(&self, page: DamagedPage) {
        let mut pages = self.pages.lock();
        if pages.len() < Self::KEPT && !pages.contains(&page) {
            tracing::error!(%page, "a damaged page; the store refuses writes, what stands elsewhere stays readable");
            pages.push(page);
        }
        self.any.store(true, Ordering::Release);
    }

    /// Notes that the file as a whole cannot be trusted, where no page is known that is to blame.
    pub(super) fn note_whole(&self, error: &crate::Error) {
        if !self.any() {
            self.note(DamagedPage { offset: 0, detail: error.to_string() });
        }
    }

    /// True when a damaged page was met.
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// The first page that was met.
    pub(crate) fn first(&self) -> Option<DamagedPage> {
        if !self.any() {
            return None;
        }
        self.pages.lock().first().cloned()
    }
}

/// The leaf that stands in the place of a damaged page: two marks, whose values tell where
/// that one is. `page` is the length of a page or more.
pub(super) fn write_marks(page: &mut [u8], offset: u64) {
    page.fill(0);
    let value = offset.to_le_bytes();
    let start = 4 + 4 * 4;
    let keys = [LOW.len(), LOW.len() + HIGH.len()].map(|end| start + end);
    let values = [keys[1] + value.len(), keys[1] + 2 * value.len()];
    page[0] = LEAF;
    page[2..4].copy_from_slice(&2u16.to_le_bytes());
    for (at, end) in keys.into_iter().chain(values).enumerate() {
        // A few dozen bytes.
        page[4 + 4 * at..8 + 4 * at].copy_from_slice(&(end as u32).to_le_bytes());
    }
    page[keys[0]..keys[1]].copy_from_slice(HIGH);
    page[keys[1]..values[0]].copy_from_slice(&value);
    page[values[0]..values[1]].copy_from_slice(&value);
}

/// True for the key of a mark.
pub(super) fn is_mark(key: &[u8]) -> bool {
    key == LOW || key == HIGH
}

/// Where the damaged page is that a mark stands for.
pub(super) fn offset_of(value: &[u8]) -> u64 {
    value.try_into().map_or(0, u64::from_le_bytes)
}
