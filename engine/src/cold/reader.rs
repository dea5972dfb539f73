//! Reading records of many cards: what that takes is made once and kept.

use super::block::{DecodedBlock, Decompressors, Placed};
use super::segment::{Segment, SegmentError};

/// Reads records of a segment, keeping the block that was read last: cards in order of
/// position take one decompression per block. Not to be shared between threads; each may
/// have its own.
pub struct Reader<'a, B> {
    segment: &'a Segment<B>,
    decompressors: Decompressors<'a>,
    block: Option<(u32, DecodedBlock<'a>)>,
}

impl<B: AsRef<[u8]>> Segment<B> {
    /// A reader of many cards' records.
    ///
    /// # Errors
    /// When the dictionary is damaged.
    pub fn reader(&self) -> Result<Reader<'_, B>, SegmentError> {
        Ok(Reader { segment: self, decompressors: self.decompressors()?, block: None })
    }
}

impl<'a, B: AsRef<[u8]>> Reader<'a, B> {
    /// As [`Segment::versions`].
    ///
    /// # Errors
    /// When the card's block is damaged, or there is no such card.
    pub fn versions(&mut self, position: u32) -> Result<Vec<Vec<u8>>, SegmentError> {
        self.with_block(position, |block| block.versions(position))
    }

    /// The versions, and where in each the floats lie.
    pub(super) fn records(&mut self, position: u32) -> Result<Vec<Placed>, SegmentError> {
        self.with_block(position, |block| block.versions_and_floats(position))
    }

    fn with_block<T>(
        &mut self,
        position: u32,
        read: impl Fn(&DecodedBlock<'a>) -> Result<T, String>,
    ) -> Result<T, SegmentError> {
        let segment = self.segment;
        let held = self.block.take().filter(|(_, block)| block.positions().contains(&position));
        let (number, block) = match held {
            Some(held) => held,
            None => {
                let number = segment.block_of(position)?;
                (number, segment.block_with(&mut self.decompressors, number)?)
            }
        };
        let found = read(&block).map_err(|detail| segment.block_error(number, detail));
        self.block = Some((number, block));
        found
    }
}
