//! The two keyed hashes of a window: a rolling one to find it, a slower one to be sure.

/// Keeps what is derived here apart from anything else that is derived from the same seed.
const DOMAIN: u64 = u64::from_le_bytes(*b"erasure1");

/// What fingerprints are made and found with; both sides need the same one.
///
/// Fingerprints of one key mean nothing under another.
#[derive(Clone)]
pub(crate) struct Key {
    /// One random word per byte for the rolling hash.
    words: [u64; 256],
    confirming: [u64; 2],
    digesting: [[u64; 2]; 2],
}

impl Key {
    /// The key of a seed: the store's own, or fresh random bits for one proof.
    pub(crate) fn new(seed: u64) -> Self {
        let mut state = seed ^ DOMAIN;
        let mut next = || {
            // SplitMix64: distinct seeds give unrelated sequences.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        };
        let confirming = [next(), next()];
        let words = std::array::from_fn(|_| next());
        Self { words, confirming, digesting: [[next(), next()], [next(), next()]] }
    }

    /// Takes one byte more into the rolling hash of everything before it (cyclic polynomial).
    ///
    /// The hash of a window is that of its end without what its start has become by then:
    /// [`window_hash`].
    pub(crate) fn extend(&self, hash: u64, byte: u8) -> u64 {
        hash.rotate_left(1) ^ self.words[usize::from(byte)]
    }

    /// The rolling hash of a window by itself.
    pub(crate) fn rolling(&self, window: &[u8]) -> u32 {
        window.iter().fold(0, |hash, byte| self.extend(hash, *byte)) as u32
    }

    /// What stands for a whole text, and cannot be run backwards: SipHash-2-4 under two keys.
    pub(crate) fn digest(&self, bytes: &[u8]) -> u128 {
        let [high, low] = self.digesting.map(|key| siphash(key, bytes));
        u128::from(high) << 64 | u128::from(low)
    }

    /// The confirming hash of a window: SipHash-2-4.
    pub(crate) fn confirming(&self, window: &[u8]) -> u64 {
        siphash(self.confirming, window)
    }
}

impl std::fmt::Debug for Key {
    /// Says nothing: with the key, guesses of an erased text can be checked.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

/// The rolling hash of the window of `length` bytes between two places, from the hashes of
/// everything before its start and before its end.
///
/// Half of the bits: enough to find it, and less to learn from.
#[inline(always)]
pub(crate) fn window_hash(before: u64, after: u64, length: u32) -> u32 {
    (after ^ before.rotate_left(length)) as u32
}

/// SipHash-2-4, the reference function.
pub(crate) fn siphash(key: [u64; 2], bytes: &[u8]) -> u64 {
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let mut absorb = |word: u64, rounds: usize, last: bool| {
        if last {
            state[2] ^= 0xff;
        } else {
            state[3] ^= word;
        }
        (0..rounds).for_each(|_| round(&mut state));
        if !last {
            state[0] ^= word;
        }
        state[0] ^ state[1] ^ state[2] ^ state[3]
    };
    let (words, rest) = bytes.as_chunks();
    for word in words {
        absorb(u64::from_le_bytes(*word), 2, false);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = bytes.len() as u8;
    absorb(u64::from_le_bytes(last), 2, false);
    absorb(0, 4, true)
}

fn round(state: &mut [u64; 4]) {
    let [a, b, c, d] = state;
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}
