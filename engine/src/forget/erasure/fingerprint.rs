//! Fingerprints: hashes of short windows of a text, from which the text cannot be read.

use crate::forget::erasure::key::Key;

/// The lengths of windows in bytes. A scan pays for each of them, so they are few; the windows
/// of a text in between leave out a sixth of it at most (from 24 bytes on, a quarter).
pub(crate) const WINDOWS: [usize; 10] = [6, 7, 8, 10, 12, 14, 16, 20, 24, 32];

/// The shortest window; shorter ones are in any large file by chance.
#[allow(dead_code, reason = "named by the documentation")]
pub(crate) const MIN_WINDOW: usize = WINDOWS[0];

/// The longest window, and the usual one: long texts have several of it.
pub(crate) const MAX_WINDOW: usize = WINDOWS[WINDOWS.len() - 1];

/// A window with fewer different bytes than this (blanks, zeros, a ruled line) is in many
/// files and belongs to no text.
const MIN_DISTINCT: usize = 3;

/// The hashes of one window of an erased text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint {
    length: u8,
    rolling: u32,
    confirming: u64,
}

impl Fingerprint {
    /// Bytes of an encoded fingerprint.
    pub(crate) const SIZE: usize = 13;

    /// The fingerprint of one whole window, of a length in [`WINDOWS`].
    pub(crate) fn of_window(window: &[u8], key: &Key) -> Self {
        debug_assert!(WINDOWS.contains(&window.len()), "{} bytes", window.len());
        Self { length: window.len() as u8, rolling: key.rolling(window), confirming: key.confirming(window) }
    }

    /// Length of the window in bytes.
    pub(crate) fn window_length(&self) -> usize {
        usize::from(self.length)
    }

    pub(crate) fn rolling(&self) -> u32 {
        self.rolling
    }

    pub(crate) fn confirming(&self) -> u64 {
        self.confirming
    }

    /// Length (u8), rolling hash (u32) and confirming hash (u64), little-endian.
    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0] = self.length;
        bytes[1..5].copy_from_slice(&self.rolling.to_le_bytes());
        bytes[5..].copy_from_slice(&self.confirming.to_le_bytes());
        bytes
    }

    /// Reads what [`Fingerprint::to_bytes`] wrote; `None` for a length that no window has.
    pub(crate) fn from_bytes(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let [length, a, b, c, d, confirming @ ..] = *bytes;
        WINDOWS.contains(&usize::from(length)).then_some(Self {
            length,
            rolling: u32::from_le_bytes([a, b, c, d]),
            confirming: u64::from_le_bytes(confirming),
        })
    }
}

/// What fingerprints can prove about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Coverage {
    /// The text has fingerprints.
    Windows = 0,
    /// The text is shorter than [`MIN_WINDOW`] bytes: nothing can be proved.
    TooShort = 1,
    /// The text repeats one or two bytes throughout: nothing can be proved.
    TooUniform = 2,
}

impl Coverage {
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        [Self::Windows, Self::TooShort, Self::TooUniform]
            .into_iter()
            .find(|coverage| *coverage as u8 == number)
    }
}

/// The fingerprints of one text, and what they can prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprints {
    /// Each once; empty unless the coverage is [`Coverage::Windows`].
    pub(crate) list: Vec<Fingerprint>,
    /// Why the list is empty, if it is.
    pub(crate) coverage: Coverage,
}

impl Fingerprints {
    /// The fingerprints of a text's first, last and middle window, in this order, each of the
    /// longest length that the text has; a text of just that length is one window.
    ///
    /// Where such a window is too uniform, the next one inwards stands for it.
    pub(crate) fn of(text: impl AsRef<[u8]>, key: &Key) -> Self {
        let text = text.as_ref();
        let Some(length) = window_within(text.len()) else {
            return Self { list: Vec::new(), coverage: Coverage::TooShort };
        };
        let windows = || text.windows(length).filter(|window| is_distinct(window));
        let middle = (text.len() - length) / 2;
        let from_middle = text[middle..].windows(length).find(|window| is_distinct(window));
        let mut list: Vec<Fingerprint> = Vec::new();
        for window in [windows().next(), windows().next_back(), from_middle].into_iter().flatten() {
            let fingerprint = Fingerprint::of_window(window, key);
            if !list.contains(&fingerprint) {
                list.push(fingerprint);
            }
        }
        let coverage = if list.is_empty() { Coverage::TooUniform } else { Coverage::Windows };
        Self { list, coverage }
    }
}

/// The longest window that a text of this length has.
pub(crate) fn window_within(length: usize) -> Option<usize> {
    WINDOWS.into_iter().rfind(|window| *window <= length)
}

/// True for a window of enough different bytes to belong to a text.
pub(crate) fn is_distinct(window: &[u8]) -> bool {
    let mut seen = [0; MIN_DISTINCT];
    let mut count = 0;
    for byte in window {
        if !seen[..count].contains(byte) {
            seen[count] = *byte;
            count += 1;
            if count == MIN_DISTINCT {
                return true;
            }
        }
    }
    false
}
