//! Damaged segments: opens any bytes as one and does all that can be done with it. For tests
//! and the fuzz target.
//!
//! Checksums that fit say that the bytes are as somebody wrote them, not that they were
//! written by this build: answers may be wrong then, but reading stays safe.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::layout::{BLOCK_ROW, HEADER, PAGE, Section, u32_at, u64_at};
use super::{Carrier, ColdQuery, Segment, SegmentBuilder};

/// Where the parts of a header are, see `docs/format.md`.
const LENGTHS: usize = 88;
const CHECK_OF_PAGES: usize = 80;
/// Cards beyond it are not asked for: it would take too long.
const MOST: u32 = 48;

/// Makes the checksums fit again, as a malicious hand could. What is no segment at all stays
/// as it is.
pub(crate) fn reseal(bytes: &mut [u8]) {
    let Some(lengths) = bytes.get(LENGTHS..HEADER - 8) else { return };
    let lengths: Vec<usize> =
        lengths.as_chunks::<8>().0.iter().map(|x| u64::from_le_bytes(*x) as usize).collect();
    let total = lengths.iter().fold(0usize, |sum, length| sum.saturating_add(*length));
    if total > bytes.len() {
        return;
    }
    let directory: usize = lengths[..Section::Records as usize].iter().sum();
    let start = HEADER + directory.div_ceil(PAGE) * 8;
    if bytes.len() < start + directory {
        return;
    }
    let rows = start + lengths[..Section::Blocks as usize].iter().sum::<usize>();
    let records = start + directory;
    for row in 0..lengths[Section::Blocks as usize] / BLOCK_ROW {
        let at = rows + row * BLOCK_ROW;
        let from = records.saturating_add(u64_at(bytes, at) as usize);
        let length = u32_at(bytes, at + 20) as usize + u32_at(bytes, at + 28) as usize;
        let Some(block) = bytes.get(from..from.saturating_add(length)) else { continue };
        let check = xxh3_64_with_seed(block, row as u64);
        bytes[at + 8..at + 16].copy_from_slice(&check.to_le_bytes());
    }
    let checks: Vec<u8> =
        bytes[start..start + directory].chunks(PAGE).flat_map(|page| xxh3_64(page).to_le_bytes()).collect();
    bytes[HEADER..start].copy_from_slice(&checks);
    let check = xxh3_64(&checks);
    bytes[CHECK_OF_PAGES..LENGTHS].copy_from_slice(&check.to_le_bytes());
    let check = xxh3_64(&bytes[..HEADER - 8]);
    bytes[HEADER - 8..HEADER].copy_from_slice(&check.to_le_bytes());
}

/// Reads bytes as a segment in every way there is. One that `verify` finds whole can be
/// carried over card by card, and is the same then.
pub(crate) fn drive(bytes: &[u8]) {
    let Ok(segment) = Segment::open(bytes) else { return };
    let sound = segment.verify().is_empty();
    let asked = segment.len().min(MOST);
    // One position more than there are.
    for position in 0..=asked {
        let row = (segment.track(position), segment.flags(position), segment.length(position));
        let _ = (row, segment.occurred_at(position), segment.versions(position));
        let found = segment.id(position).and_then(|id| segment.find(id));
        assert!(!sound || position == segment.len() || found == Ok(Some(position)) || position == asked);
    }
    let _ = (segment.strings(), segment.dictionary(), segment.times(), segment.sizes().count());
    let texts: usize =
        segment.blocks().flatten().map(|block| block.text().len() + block.cards().count()).sum();
    assert!(!sound || segment.is_empty() || texts > 0);
    let Ok(mut carrier) = Carrier::new(&segment) else { return };
    let mut builder = SegmentBuilder::new(segment.tenant(), segment.number(), segment.dimension());
    let mut carried = 0;
    for position in 0..asked {
        let terms = carrier.terms(position).unwrap_or_default();
        let terms: Vec<(&str, f32)> = terms.iter().take(4).map(|(term, _)| (*term, 1.0)).collect();
        let vector = vec![0.5; segment.dimension() as usize];
        for vector in [None, Some(vector.as_slice())] {
            let query = ColdQuery { terms: &terms, vector, tracks: 5, ..ColdQuery::new(4) };
            let found = segment.search(&query);
            assert!(found.is_ok_and(|found| found.len() <= 8) || !sound);
        }
        carried += u32::from(builder.push_from(&mut carrier, position).is_ok());
    }
    let Ok(copy) = builder.finish() else { return };
    if sound && asked == segment.len() && carried == asked {
        let copy = Segment::open(copy.as_slice());
        let same = |copy: &Segment<&[u8]>| {
            (0..asked).all(|position| {
                copy.id(position) == segment.id(position)
                    && copy.versions(position) == segment.versions(position)
            })
        };
        assert!(
            copy.is_ok_and(|copy| copy.verify().is_empty() && same(&copy)),
            "what is carried over is the same"
        );
    }
}
