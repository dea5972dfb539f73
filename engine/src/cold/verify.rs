//! Reading all of a segment, to find what is damaged before somebody asks for it.

use super::layout::{Section, pages};
use super::segment::{Place, Segment, SegmentError};

impl<B: AsRef<[u8]>> Segment<B> {
    /// Reads everything and says what is damaged.
    pub fn verify(&self) -> Vec<SegmentError> {
        let directory = self.places.directory();
        let damaged = |page: &usize| self.check_page(*page).err();
        let mut errors: Vec<_> = (0..pages(directory.len())).filter_map(|page| damaged(&page)).collect();
        let mut versions = 0;
        for (number, block) in (0..).zip(self.blocks()) {
            let counted = block
                .and_then(|block| block.count_versions().map_err(|detail| self.block_error(number, detail)));
            match counted {
                Ok(count) => versions += count,
                // What every block needs is damaged: that is known from its page.
                Err(error) if matches!(error.place, Place::Section(_)) && errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() && versions != self.header.versions {
            let detail = format!("{versions} versions where the header says {}", self.header.versions);
            errors.push(self.error(Section::Records, detail));
        }
        if errors.is_empty() {
            errors.extend(self.verify_order().err());
        }
        errors
    }

    /// What checksums do not say: that whoever wrote them wrote what fits.
    fn verify_order(&self) -> Result<(), SegmentError> {
        let mut before = None;
        for position in 0..self.len() {
            let id = Some(self.id(position)?);
            if id <= before {
                return Err(self.error(Section::Identifiers, format!("card {position} is out of order")));
            }
            before = id;
        }
        for term in 0..self.header.terms {
            let (name, documents, postings) = self.term(term)?;
            let mut count = 0;
            for posting in postings {
                posting.map_err(|detail| self.error(Section::Postings, detail))?;
                count += 1;
            }
            let follows = term == 0 || self.term(term - 1)?.0 < name;
            if count != documents || !follows || std::str::from_utf8(name).is_err() {
                return Err(self.error(Section::Terms, format!("term {term} does not fit")));
            }
        }
        Ok(())
    }
}
