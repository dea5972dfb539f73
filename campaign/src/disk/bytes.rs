//! The content of a simulated file: pages that are shared until one of their owners writes.

use std::sync::Arc;

/// Bytes of a page, and the coarser of the two grains at which writes are torn.
pub const PAGE: usize = 4096;

/// A file's content. Copies share their pages; a page that was never written is zeros.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    pages: Vec<Option<Arc<[u8; PAGE]>>>,
    len: u64,
}

impl Bytes {
    /// The content of a file that holds these bytes.
    pub fn of(data: &[u8]) -> Self {
        let mut bytes = Self::default();
        bytes.write(0, data);
        bytes
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fills `out` from `offset` on; false when there are not so many bytes.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> bool {
        let Some(end) = offset.checked_add(out.len() as u64).filter(|end| *end <= self.len) else {
            return false;
        };
        let mut at = offset;
        while at < end {
            let (page, start, count) = piece(at, end);
            let to = &mut out[(at - offset) as usize..][..count];
            match self.pages.get(page).and_then(Option::as_ref) {
                Some(page) => to.copy_from_slice(&page[start..start + count]),
                None => to.fill(0),
            }
            at += count as u64;
        }
        true
    }

    /// All bytes.
    pub fn all(&self) -> Vec<u8> {
        let mut out = vec![0; self.len as usize];
        self.read(0, &mut out);
        out
    }

    /// Writes at `offset`; the content grows where that is beyond its end.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        if end > self.len {
            self.set_len(end);
        }
        let mut at = offset;
        while at < end {
            let (page, start, count) = piece(at, end);
            let from = &data[(at - offset) as usize..][..count];
            let page = self.pages[page].get_or_insert_with(|| Arc::new([0; PAGE]));
            Arc::make_mut(page)[start..start + count].copy_from_slice(from);
            at += count as u64;
        }
    }

    /// Cuts the content, or lengthens it with zeros.
    pub fn set_len(&mut self, len: u64) {
        self.pages.resize(len.div_ceil(PAGE as u64) as usize, None);
        let within = (len % PAGE as u64) as usize;
        if len < self.len
            && within > 0
            && let Some(Some(last)) = self.pages.last_mut()
        {
            Arc::make_mut(last)[within..].fill(0);
        }
        self.len = len;
    }

    /// Takes what another content has between two offsets, as far as both reach.
    pub fn take(&mut self, from: &Self, start: u64, end: u64) {
        let end = end.min(self.len).min(from.len);
        let mut at = start;
        while at < end {
            let (page, within, count) = piece(at, end);
            let whole = count == PAGE;
            match (&from.pages[page], whole) {
                (shared, true) => self.pages[page] = shared.clone(),
                (Some(shared), false) => {
                    let own = self.pages[page].get_or_insert_with(|| Arc::new([0; PAGE]));
                    Arc::make_mut(own)[within..within + count]
                        .copy_from_slice(&shared[within..within + count]);
                }
                (None, false) => {
                    if let Some(own) = &mut self.pages[page] {
                        Arc::make_mut(own)[within..within + count].fill(0);
                    }
                }
            }
            at += count as u64;
        }
    }

    /// Visits runs of pages that were written, each with its offset.
    pub fn written(&self, mut visit: impl FnMut(u64, &[u8])) {
        let mut run: Vec<u8> = Vec::new();
        let mut start = 0;
        for (number, page) in self.pages.iter().enumerate() {
            match page {
                Some(page) => {
                    if run.is_empty() {
                        start = (number * PAGE) as u64;
                    }
                    run.extend_from_slice(&page[..]);
                }
                None if run.is_empty() => {}
                None => {
                    visit(start, &run);
                    run.clear();
                }
            }
        }
        if !run.is_empty() {
            let left = (self.len - start) as usize;
            visit(start, &run[..run.len().min(left)]);
        }
    }
}

/// The page of an offset, where in it that is, and how many bytes of it lie before `end`.
fn piece(at: u64, end: u64) -> (usize, usize, usize) {
    let start = (at % PAGE as u64) as usize;
    let count = (PAGE - start).min((end - at) as usize);
    ((at / PAGE as u64) as usize, start, count)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::numbers::Numbers;

    #[test]
    fn bytes_are_what_a_vector_would_be() {
        let mut numbers = Numbers::new(3);
        for _ in 0..200 {
            let (mut bytes, mut plain) = (Bytes::default(), Vec::<u8>::new());
            let mut other = (bytes.clone(), plain.clone());
            for _ in 0..30 {
                let (offset, count) = (numbers.below(20_000), numbers.below(9_000));
                match numbers.below(5) {
                    0 => {
                        bytes.set_len(offset as u64);
                        plain.resize(offset, 0);
                    }
                    1 => other = (bytes.clone(), plain.clone()),
                    2 => {
                        bytes.take(&other.0, offset as u64, (offset + count) as u64);
                        let end = (offset + count).min(plain.len()).min(other.1.len());
                        if offset < end {
                            plain[offset..end].copy_from_slice(&other.1[offset..end]);
                        }
                    }
                    _ => {
                        let data: Vec<u8> = (0..count).map(|_| numbers.any() as u8).collect();
                        bytes.write(offset as u64, &data);
                        plain.resize(plain.len().max(offset + count), 0);
                        plain[offset..offset + count].copy_from_slice(&data);
                    }
                }
                assert_eq!(bytes.all(), plain);
                assert!(!bytes.read(plain.len() as u64, &mut [0]));
            }
        }
    }
}
