//! The scanner: finds the windows of fingerprints in a stream of bytes.
//!
//! One rolling hash over everything read gives the hash of the window before any place, of
//! any length, in one step. Each length that occurs has a bitmap of its rolling hashes, which
//! turns away nearly every place; what is left is looked up, and confirmed by the second hash
//! of the bytes themselves. A fingerprint is therefore never missed, and 96 bits of hash have
//! to agree by chance for a false match.

use std::io::{self, Read};
use std::sync::Arc;

use crate::forget::erasure::fingerprint::{Fingerprint, MAX_WINDOW};
use crate::forget::erasure::key::{Key, window_hash};

/// How many matches a report lists; the rest is only counted.
pub(crate) const KEPT_MATCHES: usize = 100;

/// Bytes that are looked at in one go: their rolling hashes fit into the first-level cache.
const BLOCK: usize = 2048;

/// Bytes that stay for windows that began before a block.
const CARRY: usize = MAX_WINDOW - 1;

/// Bits of a bitmap per fingerprint, of which it sets two: about one place in a thousand is
/// looked up in vain.
const BITS_EACH: usize = 128;

/// A place where a fingerprint's window was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Match {
    /// Where the window starts, in bytes from the start of the stream.
    pub(crate) offset: u64,
    /// Which fingerprint, as a position in the list that the scanner was made of; of equal
    /// ones the first.
    pub(crate) fingerprint: usize,
}

/// What a scan of one stream has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Bytes read.
    pub(crate) bytes: u64,
    /// The first matches in the order of their ends, at most [`KEPT_MATCHES`].
    pub(crate) matches: Vec<Match>,
    /// All matches, the listed ones included.
    pub(crate) count: u64,
    /// Every fingerprint that was found at least once, ascending, equal ones each.
    pub(crate) found: Vec<usize>,
}

/// Finds fingerprints in a stream of bytes, in memory that does not depend on its length.
///
/// A clone shares the tables: one per thread is cheap.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    key: Arc<Key>,
    sought: Arc<Sought>,
    /// The end of the last block, and what has come since.
    buffer: Vec<u8>,
    /// How many bytes of the buffer belong to the last block.
    carried: usize,
    /// Rolling hashes of everything before each byte of the buffer, and at its end.
    hashes: Vec<u64>,
    /// Which fingerprints were found, by position; empty until the first one is.
    seen: Vec<bool>,
    report: Report,
}

impl Scanner {
    /// A scanner for these fingerprints, made with this key. Order and repetition do not
    /// matter.
    pub(crate) fn new(fingerprints: &[Fingerprint], key: &Key) -> Self {
        Self {
            key: Arc::new(key.clone()),
            sought: Arc::new(Sought::new(fingerprints)),
            buffer: Vec::new(),
            carried: 0,
            hashes: Vec::new(),
            seen: Vec::new(),
            report: Report::default(),
        }
    }

    /// Takes the next bytes of the stream, any number of them.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        self.report.bytes += bytes.len() as u64;
        if self.sought.lengths.is_empty() {
            return;
        }
        while !bytes.is_empty() {
            let room = self.carried + BLOCK - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == self.carried + BLOCK {
                // The buffer begins where the report's bytes without those still there end.
                self.scan_block(self.report.bytes - (self.buffer.len() + bytes.len()) as u64);
            }
        }
    }

    /// Ends the stream and gives what was found in it. The scanner is ready for the next one.
    pub(crate) fn finish(&mut self) -> Report {
        if self.buffer.len() > self.carried {
            self.scan_block(self.report.bytes - self.buffer.len() as u64);
        }
        let mut report = std::mem::take(&mut self.report);
        if report.count > 0 {
            let found = self.sought.first.iter().enumerate().filter(|(_, first)| self.seen[**first as usize]);
            report.found = found.map(|(fingerprint, _)| fingerprint).collect();
        }
        self.reset();
        report
    }

    fn reset(&mut self) {
        self.buffer.clear();
        self.carried = 0;
        self.seen.clear();
        self.report = Report::default();
    }

    /// Reads a stream to its end and gives what was found in it. Anything fed before belongs
    /// to an earlier stream and is left out.
    ///
    /// # Errors
    /// Those of the reader; a stream that could not be read to its end proves nothing.
    pub(crate) fn scan_reader(&mut self, mut reader: impl Read) -> io::Result<Report> {
        self.reset();
        let mut bytes = vec![0; 1 << 16];
        loop {
            match reader.read(&mut bytes) {
                Ok(0) => return Ok(self.finish()),
                Ok(count) => self.feed(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.reset();
                    return Err(error);
                }
            }
        }
    }

    /// Looks at every window that ends in the new part of the buffer, which starts at `base`
    /// of the stream, and keeps what later windows can begin in.
    fn scan_block(&mut self, base: u64) {
        self.hashes.clear();
        let mut hash = 0;
        self.hashes.push(hash);
        self.hashes.extend(self.buffer.iter().map(|byte| {
            hash = self.key.extend(hash, *byte);
            hash
        }));
        // Every length lists its matches up to what is kept; the first ones of all lengths
        // together are among them.
        let kept = self.report.matches.len();
        for wanted in &self.sought.lengths {
            let length = wanted.length;
            let first = (self.carried + 1).saturating_sub(length);
            if first + length > self.buffer.len() {
                continue;
            }
            let befores = &self.hashes[first..self.hashes.len() - length];
            let afters = &self.hashes[first + length..];
            let mut room = KEPT_MATCHES - kept;
            let mut next = 0;
            while let Some(at) = wanted.candidate(&befores[next..], &afters[next..]) {
                let at = next + at;
                next = at + 1;
                let start = first + at;
                let window = &self.buffer[start..start + length];
                let rolling = window_hash(befores[at], afters[at], length as u32);
                let Some(fingerprint) = wanted.find(rolling, window, &self.key) else { continue };
                self.report.count += 1;
                if self.seen.is_empty() {
                    self.seen.resize(self.sought.first.len(), false);
                }
                self.seen[fingerprint] = true;
                if room > 0 {
                    room -= 1;
                    self.report.matches.push(Match { offset: base + start as u64, fingerprint });
                }
            }
        }
        // Of two windows with the same end the longer one, which starts earlier, comes first.
        let ends = |found: &Match| (found.offset + self.sought.window_length(found), found.offset);
        self.report.matches[kept..].sort_unstable_by_key(ends);
        self.report.matches.truncate(KEPT_MATCHES);

        let gone = self.buffer.len().saturating_sub(CARRY);
        self.buffer.copy_within(gone.., 0);
        self.buffer.truncate(self.buffer.len() - gone);
        self.carried = self.buffer.len();
    }
}

/// What is looked for.
#[derive(Debug)]
struct Sought {
    lengths: Vec<Length>,
    /// By fingerprint: the first one that is equal to it.
    first: Vec<u32>,
    windows: Vec<u8>,
}

impl Sought {
    fn new(fingerprints: &[Fingerprint]) -> Self {
        let mut entries: Vec<(Fingerprint, u32)> =
            fingerprints.iter().enumerate().map(|(at, fingerprint)| (*fingerprint, at as u32)).collect();
        // By length, rolling and confirming hash; of equal ones the first in the list leads.
        entries.sort_unstable();
        let mut first = vec![0; entries.len()];
        let equal = |a: &(Fingerprint, u32), b: &(Fingerprint, u32)| a.0 == b.0;
        for group in entries.chunk_by(equal) {
            for (_, fingerprint) in group {
                first[*fingerprint as usize] = group[0].1;
            }
        }
        entries.dedup_by(|later, earlier| equal(later, earlier));
        let lengths =
            entries.chunk_by(|a, b| a.0.window_length() == b.0.window_length()).map(Length::new).collect();
        let windows = fingerprints.iter().map(|fingerprint| fingerprint.window_length() as u8).collect();
        Self { lengths, first, windows }
    }

    fn window_length(&self, found: &Match) -> u64 {
        u64::from(self.windows[found.fingerprint])
    }
}

/// The fingerprints whose windows have the same length.
#[derive(Debug)]
struct Length {
    length: usize,
    /// Of each entry two bits in one word: [`has_both`].
    bitmap: Vec<u64>,
    /// Ascending by rolling and confirming hash.
    entries: Vec<Entry>,
    /// Where the entries of each value of the rolling hash's upper bits begin; one more at
    /// the end.
    buckets: Vec<u32>,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    rolling: u32,
    confirming: u64,
    fingerprint: u32,
}

impl Length {
    /// From fingerprints in ascending order, of which there is at least one.
    fn new(fingerprints: &[(Fingerprint, u32)]) -> Self {
        let entries: Vec<Entry> = fingerprints
            .iter()
            .map(|(found, fingerprint)| Entry {
                rolling: found.rolling(),
                confirming: found.confirming(),
                fingerprint: *fingerprint,
            })
            .collect();
        // Between 4 KiB, which is always in the cache, and 32 MiB.
        let bits = (entries.len() * BITS_EACH).next_power_of_two().clamp(1 << 15, 1 << 28);
        let mut bitmap = vec![0; bits / 64];
        for entry in &entries {
            let word = (entry.rolling as usize / 64) & (bitmap.len() - 1);
            bitmap[word] |= 1 << (entry.rolling % 64) | 1 << (entry.rolling >> 26);
        }
        let bucket_bits = entries.len().next_power_of_two().trailing_zeros().clamp(1, 24);
        let shift = 32 - bucket_bits;
        let buckets = (0..=1_u64 << bucket_bits)
            .map(|bucket| entries.partition_point(|entry| u64::from(entry.rolling) < bucket << shift) as u32)
            .collect();
        Self { length: fingerprints[0].0.window_length(), bitmap, entries, buckets, shift }
    }

    /// The first window that may be wanted, from the hashes of everything before their starts
    /// and before their ends. No wanted one is passed over, and few others are not.
    fn candidate(&self, befores: &[u64], afters: &[u64]) -> Option<usize> {
        // The inner loop of it all: nothing in it but the two hashes and the bitmap.
        let (bitmap, length) = (&self.bitmap[..], self.length as u32);
        let last = bitmap.len() - 1;
        befores.iter().zip(afters).position(|(before, after)| {
            let rolling = window_hash(*before, *after, length);
            has_both(bitmap[(rolling as usize / 64) & last], rolling)
        })
    }

    /// The fingerprint of a window with this rolling hash.
    #[inline(never)]
    fn find(&self, rolling: u32, window: &[u8], key: &Key) -> Option<usize> {
        let bucket = (rolling >> self.shift) as usize;
        let bucket = self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize;
        let entries = &self.entries[bucket];
        let from = entries.partition_point(|entry| entry.rolling < rolling);
        if entries.get(from)?.rolling != rolling {
            return None;
        }
        let wanted = (rolling, key.confirming(window));
        let at =
            entries[from..].binary_search_by_key(&wanted, |entry| (entry.rolling, entry.confirming)).ok()?;
        Some(entries[from + at].fingerprint as usize)
    }
}

/// True when a word of a bitmap has both bits of a rolling hash, its lowest and its highest
/// six bits. The word itself is chosen by bits in between.
#[inline(always)]
fn has_both(word: u64, rolling: u32) -> bool {
    (word >> (rolling % 64)) & (word >> (rolling >> 26)) & 1 == 1
}
