//! The layout of 4-bit codes.
//!
//! Dimensions come in blocks of 128, each packed into 64 bytes: the low nibble of byte `i`
//! is dimension `i` of the block, the high nibble dimension `64 + i`. So one 64-byte load
//! gives two full registers of codes without any shuffle. The last block of `r < 128`
//! dimensions takes `ceil(r / 2)` bytes: the low nibbles are its first half, the high
//! nibbles the rest, and the last high nibble is zero when `r` is odd. A code thus has
//! `ceil(dimension / 2)` bytes, and the layout follows from the number of bytes alone.
//!
//! The query is arranged alike: per block first the values that meet the low nibbles, then
//! those that meet the high ones.

/// Bytes of a full block, and dimensions of half of it.
pub(super) const BLOCK: usize = 64;

/// Bytes of a packed code of this many dimensions.
pub const fn packed_u4_length(dimension: usize) -> usize {
    dimension.div_ceil(2)
}

/// Packs one code of 0..=15 per dimension; higher bits of a code are ignored.
///
/// # Panics
/// Unless `out` has [`packed_u4_length`] bytes.
pub fn pack_u4(codes: &[u8], out: &mut [u8]) {
    assert!(out.len() == packed_u4_length(codes.len()), "{} codes into {} bytes", codes.len(), out.len());
    for (block, bytes) in codes.chunks(2 * BLOCK).zip(out.chunks_mut(BLOCK)) {
        let (low, high) = block.split_at(bytes.len());
        for (byte, code) in bytes.iter_mut().zip(low) {
            *byte = code & 15;
        }
        for (byte, code) in bytes.iter_mut().zip(high) {
            *byte |= code << 4;
        }
    }
}

/// The codes of a packed row, one per dimension.
///
/// # Panics
/// Unless `packed` has [`packed_u4_length`] bytes for that many codes.
pub fn unpack_u4(packed: &[u8], codes: &mut [u8]) {
    assert!(packed.len() == packed_u4_length(codes.len()), "{} codes of {} bytes", codes.len(), packed.len());
    for (block, bytes) in codes.chunks_mut(2 * BLOCK).zip(packed.chunks(BLOCK)) {
        let (low, high) = block.split_at_mut(bytes.len());
        for (code, byte) in low.iter_mut().zip(bytes) {
            *code = byte & 15;
        }
        for (code, byte) in high.iter_mut().zip(bytes) {
            *code = byte >> 4;
        }
    }
}

/// The query in the order of the nibbles of a packed code, with a zero after the last
/// dimension when there is an odd number of them.
pub fn arrange_query_u4(query: &[i8]) -> Vec<i8> {
    let mut arranged = Vec::new();
    arrange_query_u4_into(query, &mut arranged);
    arranged
}

/// As [`arrange_query_u4`], replacing the contents of `arranged`.
pub fn arrange_query_u4_into(query: &[i8], arranged: &mut Vec<i8>) {
    // The values of a block are already first those of the low nibbles, then those of the
    // high ones: only the padding is missing.
    arranged.clear();
    arranged.extend_from_slice(query);
    arranged.resize(2 * packed_u4_length(query.len()), 0);
}
