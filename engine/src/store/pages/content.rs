//! Reading the blocks of the store file in order, without the checksums between them.

use std::io;
use std::sync::Arc;

use crate::store::pages::layout::{BLOCK, GROUP, blocks_in, offset_of};
use crate::store::pages::{Pages, STRETCH};

/// Reads the blocks of a file from the first to the last.
#[derive(Debug)]
pub(crate) struct Content {
    pages: Arc<Pages>,
    next: u64,
    bytes: Vec<u8>,
    read: usize,
}

impl Content {
    pub(super) fn of(pages: Arc<Pages>) -> Self {
        Self { pages, next: 0, bytes: Vec::new(), read: 0 }
    }

    /// Where a byte of the content stands in the file.
    pub(crate) fn offset_of(at: u64) -> u64 {
        offset_of(at / BLOCK as u64) + at % BLOCK as u64
    }
}

impl io::Read for Content {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.read == self.bytes.len() {
            let blocks = blocks_in(self.pages.file.len()? / BLOCK as u64);
            let end = ((self.next / GROUP + 1) * GROUP).min(self.next + STRETCH).min(blocks);
            self.bytes.resize(end.saturating_sub(self.next) as usize * BLOCK, 0);
            self.read = 0;
            if self.bytes.is_empty() {
                return Ok(0);
            }
            self.pages.file.read_at(offset_of(self.next), &mut self.bytes)?;
            self.next = end;
        }
        let count = out.len().min(self.bytes.len() - self.read);
        out[..count].copy_from_slice(&self.bytes[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}
