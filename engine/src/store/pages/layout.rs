//! Where blocks and their checksums stand in the store file, and what redb's header says.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes of a block; redb's page size.
pub(crate) const BLOCK: usize = 4096;
/// Blocks of a group, and checksums in the block before them.
pub(super) const GROUP: u64 = (BLOCK / 8) as u64;
/// Bytes that reach the disk whole or not at all.
pub(super) const SECTOR: usize = 512;
/// Where the checksum of redb's header stands in its sector.
pub(super) const HEADER_SUM: usize = SECTOR - 8;
/// redb's header: what is before its checksum.
pub(super) const GOD_BYTE: usize = 9;
pub(super) const RECOVERY_REQUIRED: u8 = 2;
pub(super) const PRIMARY_UNFLUSHED: u8 = 8;
/// Where the numbers of the last two commits stand in it.
pub(super) const COMMITS: [usize; 2] = [64 + 104, 64 + 128 + 104];
pub(super) const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// The file block of a block.
pub(super) fn file_block(block: u64) -> u64 {
    block / GROUP * (GROUP + 1) + 1 + block % GROUP
}

/// How many blocks fit in so many file blocks.
pub(super) fn blocks_in(file_blocks: u64) -> u64 {
    file_blocks - file_blocks.div_ceil(GROUP + 1)
}

/// Where a block starts in the file.
pub(super) fn offset_of(block: u64) -> u64 {
    file_block(block) * BLOCK as u64
}

/// The checksum of a block; never 0.
pub(super) fn sum_of(block: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, block).max(1)
}

/// The checksum of redb's header in its sector.
pub(super) fn header_sum(sector: &[u8]) -> u64 {
    sum_of(0, &sector[..HEADER_SUM])
}

/// Whether a block may be what was written under a checksum. One that differs in a single bit
/// was hit itself: the block is as it was. redb reads nothing that it has not written.
pub(super) fn fits(block: u64, bytes: &[u8], sum: u64) -> bool {
    sum != 0 && (sum_of(block, bytes) ^ sum).count_ones() <= 1
}

/// Whether a header is what was written.
pub(super) fn fits_header(sector: &[u8]) -> bool {
    sector.starts_with(MAGIC) && sector[HEADER_SUM..SECTOR] == header_sum(sector).to_le_bytes()
}

/// The parts of a row of blocks that stand side by side in the file.
pub(super) fn pieces(blocks: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut next = blocks.start;
    std::iter::from_fn(move || {
        let start = next;
        next = ((start / GROUP + 1) * GROUP).min(blocks.end);
        (start < blocks.end).then_some(start..next)
    })
}
