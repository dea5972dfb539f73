//! What a partition reads in a card's text besides its terms: concepts and shape.
//!
//! Both are small sets that tell what kind of answer a text can be; they are derived from
//! the text by the rules of [`crate::graph`], kept with the row, and read again when these
//! rules change.

use std::sync::LazyLock;

use regex::Regex;

use crate::graph::{self, ConceptSet, ContentShape, Length, Told};

/// Changes whenever the rules read something else in a text.
pub(crate) const SENSE_VERSION: u32 = graph::LEXICON_VERSION << 8 | 2;

/// Of longer texts only the beginning is read, up to so many bytes.
const READ_MOST: usize = 8 * 1024;

/// The concepts and the shape of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sense {
    /// What it speaks of.
    pub(crate) concepts: ConceptSet,
    /// What it holds.
    pub(crate) shape: ContentShape,
    /// True when it says that something has changed or was said wrongly.
    pub(crate) changes: bool,
}

/// Words of change and correction.
#[allow(clippy::expect_used, reason = "a constant pattern, compiled by the tests below")]
static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    let english = "actually|any ?more|cancell?ed|changed|correction|ended up|i meant|i was wrong|instead|moved|\
        my mistake|no longer|now it|postponed|quit|rather than|renamed|replaced|rescheduled|scratch that|sold|\
        stopped|swapped|switched|turns out|used to";
    let chinese = "不再|其实|取消|换成|改|更正|记错|说错|搬|推迟|现在是";
    Regex::new(&format!("(?i){english}|{chinese}")).expect("a constant pattern")
});

impl Sense {
    /// The sense of a text that was read.
    pub(crate) fn of(text: &str, told: &Told) -> Self {
        Self { concepts: told.concepts, shape: told.shape, changes: CHANGES.is_match(text) }
    }

    /// The bytes of a sense.
    pub(crate) fn to_bytes(self) -> [u8; 18] {
        let shape = self.shape;
        let flags = [
            shape.number,
            shape.date,
            shape.duration,
            shape.place,
            shape.person,
            shape.money,
            shape.question,
            shape.small_talk,
            shape.first_person,
            self.changes,
        ];
        let bits = flags.iter().enumerate().map(|(at, flag)| u16::from(*flag) << at).sum::<u16>();
        let length = LENGTHS.iter().position(|length| *length == shape.length).unwrap_or(0) as u16;
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&self.concepts.bits().to_le_bytes());
        bytes[16..].copy_from_slice(&(bits | length << flags.len()).to_le_bytes());
        bytes
    }

    /// What [`Sense::to_bytes`] gave.
    pub(crate) fn from_bytes(bytes: [u8; 18]) -> Self {
        let (mut concepts, mut flags) = ([0; 16], [0; 2]);
        concepts.copy_from_slice(&bytes[..16]);
        flags.copy_from_slice(&bytes[16..]);
        let bits = u16::from_le_bytes(flags);
        let flag = |at: u32| bits >> at & 1 == 1;
        Self {
            concepts: ConceptSet::from_bits(u128::from_le_bytes(concepts)),
            shape: ContentShape {
                number: flag(0),
                date: flag(1),
                duration: flag(2),
                place: flag(3),
                person: flag(4),
                money: flag(5),
                question: flag(6),
                small_talk: flag(7),
                first_person: flag(8),
                length: LENGTHS.get(usize::from(bits >> 10)).copied().unwrap_or_default(),
            },
            changes: flag(9),
        }
    }
}

const LENGTHS: [Length; 5] = [Length::Empty, Length::Few, Length::Sentence, Length::Paragraph, Length::Long];

/// The beginning of a text that rules read, whole characters.
pub(crate) fn beginning(text: &str) -> &str {
    let mut end = text.len().min(READ_MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sense_comes_back_from_its_bytes() {
        for text in [
            "I bought a violin for 200 euros in Lisbon last Friday.",
            "谢谢！",
            "",
            "她养了三只猫，你呢？",
            "I moved; it is no longer there.",
            "We stayed for two weeks with Anna.",
        ] {
            let sense = Sense::of(text, &graph::told(text, None));
            assert_eq!(Sense::from_bytes(sense.to_bytes()), sense, "{text}");
        }
    }

    #[test]
    fn the_beginning_of_a_long_text_ends_with_a_whole_character() {
        let text = "猫".repeat(READ_MOST);
        assert_eq!(beginning(&text).len(), READ_MOST / 3 * 3);
        assert_eq!(beginning("short"), "short");
    }
}
