//! Letting go of a card that is gone from the store.
//!
//! Its rows become empty slots: row numbers are positions, so they cannot be given to others, but
//! nothing of the card stays in them, and no view shows them. Names, statements and postings
//! that lead to such a slot are harmless, since whoever follows them looks at what is shown;
//! they are swept out together once there are many. Snapshots are written without them. When
//! most slots are empty the owner makes the partition anew ([`Partition::is_sparse`]).

use crate::card::{Card, CardId, State, Track};
use crate::index::partition::{Age, Hot, Partition, Row, Voice, row_bytes};
use crate::index::sense::Sense;
use crate::index::text::NO_ROW;
use crate::time::Timestamp;

/// One of so many rows is dropped before what leads to them is swept out.
const SWEEP_SHARE: usize = 8;
/// Dropped rows that are not worth making a partition anew.
const SPARSE_FROM: usize = 1024;

/// What is known of an empty slot: it began after the last instant and ended before the first.
const GONE: Hot = Hot {
    from: i64::MAX,
    until: i64::MIN,
    expires: i64::MIN,
    occurred: i64::MIN,
    referenced: i64::MIN,
    importance: 0.0,
    confidence: 0.0,
    category: NO_ROW,
    state: State::Forgotten,
    scheduled: false,
};

const AGELESS: Age = Age { recorded: i64::MAX, reference: i64::MAX, exempt: true };

const SILENT: Voice = Voice { speaker: NO_ROW, assistant: false, question: false, contradicts: false };

impl Row {
    /// A slot that a card has left.
    fn empty() -> Self {
        Self {
            card: Card::placeholder(CardId::default(), Track::ALL[0], 0),
            until: Timestamp::MIN,
            topic: None,
            subject: None,
            length: 0,
            question: false,
            excludes: None,
            sense: Sense::default(),
            says: Box::default(),
        }
    }
}

impl Partition {
    /// Lets go of every row of a card.
    pub(super) fn drop_card(&mut self, id: CardId) {
        let mut rows = self.closed_rows().remove(&id).unwrap_or_default();
        rows.extend(self.open.remove(&id));
        for number in &rows {
            self.drop_row(*number);
        }
        self.unswept += rows.len();
        if self.unswept * SWEEP_SHARE > self.rows.len() {
            self.sweep();
        }
    }

    fn drop_row(&mut self, number: u32) {
        let place = number as usize;
        // As it was, for what is counted; then as it is.
        self.hide(number);
        self.leave(number);
        self.exclusions.remove(&number);
        self.timed.remove(number);
        self.stale_count -= usize::from(self.stale.remove(number));
        self.text.remove(number);
        if let Some(vectors) = &self.vectors {
            vectors.remove(number);
        }
        let row = std::mem::replace(&mut self.rows[place], Row::empty());
        self.row_bytes = (self.row_bytes + row_bytes(&self.rows[place])).saturating_sub(row_bytes(&row));
        for hash in [row.topic, row.subject].into_iter().flatten() {
            if let Some(cards) = self.hashes.get_mut(&hash) {
                cards.retain(|card| *card != row.card.id);
                if cards.is_empty() {
                    self.hashes.remove(&hash);
                }
            }
        }
        (self.hot[place], self.voices[place], self.senses[place]) = (GONE, SILENT, Sense::default());
        self.ages[place] = AGELESS;
        self.dropped_count += usize::from(self.dropped.insert(number));
    }

    /// Adds a slot that was empty when the snapshot was written.
    pub(super) fn attach_dropped(&mut self) {
        let (number, row) = (self.rows.len() as u32, Row::empty());
        self.row_bytes += row_bytes(&row);
        self.rows.push(row);
        self.hot.push(GONE);
        self.ages.push(AGELESS);
        self.voices.push(SILENT);
        self.senses.push(Sense::default());
        self.conversations.insert(number, None, None, 0, CardId::default(), false);
        self.dropped_count += usize::from(self.dropped.insert(number));
    }

    /// Takes out what still leads to dropped rows.
    fn sweep(&mut self) {
        let dropped = &self.dropped;
        self.named.retain(|row| !dropped.contains(row));
        self.said.retain(|row| !dropped.contains(row));
        self.text.settle();
        self.unswept = 0;
    }

    /// How many rows are empty slots.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped_count
    }

    /// True for a row whose card has gone away.
    pub(crate) fn is_dropped(&self, number: u32) -> bool {
        self.dropped.contains(number)
    }

    /// True when it is worth making the partition anew, without its empty slots.
    pub(crate) fn is_sparse(&self) -> bool {
        self.dropped_count > SPARSE_FROM && self.dropped_count * 2 > self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::index::partition::Update;
    use crate::index::snapshot;
    use crate::store::ChangeKind;

    fn update(sequence: u64, kind: ChangeKind, card: Card, vector: Option<[f32; 3]>) -> Update {
        let vector = vector.map(|vector| Arc::from(&vector[..]));
        Update { sequence, checksum: sequence, kind, card: Arc::new(card), vector, prepared: None }
    }

    fn version(number: u8, version: u32, content: &str) -> Card {
        let placeholder = Card::placeholder(CardId::from_bytes([number; 16]), Track::Semantic, version);
        Card { content: content.into(), state: State::Active, vector_version: version, ..placeholder }
    }

    /// A card that moved to the cold tier leaves with its history, and comes back as what it is.
    #[test]
    fn a_card_that_went_away_may_come_back() {
        let mut partition = Partition::default();
        let vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (sequence, number, version_number) in [(1, 1, 1), (2, 2, 1), (3, 1, 2)] {
            let card = version(number, version_number, "the tea is green");
            let vector = vectors[sequence as usize - 1];
            partition.apply(&update(sequence, ChangeKind::Version, card, Some(vector))).unwrap();
        }
        assert_eq!((partition.len(), partition.present().len()), (3, 2));
        let gone = Card::placeholder(CardId::from_bytes([1; 16]), Track::Semantic, 2);
        for sequence in [4, 5] {
            partition.apply(&update(sequence, ChangeKind::Cool, gone.clone(), None)).unwrap();
            assert_eq!((partition.len(), partition.dropped(), partition.present().len()), (3, 2, 1));
        }
        assert!(partition.is_dropped(0) && partition.is_dropped(2) && partition.open_row(gone.id).is_none());
        assert_eq!(partition.vectors().unwrap().len(), 1);
        assert_eq!(partition.text().postings("green").iter().map(|(row, _)| row).collect::<Vec<_>>(), [1]);
        let bytes = snapshot::encode(&partition, 0).unwrap();
        let (loaded, vectors, _) = snapshot::decode(&bytes).unwrap();
        assert_eq!((loaded.len(), loaded.dropped(), loaded.present().len(), vectors), (3, 2, 1, 1));
        for mut partition in [partition, loaded] {
            let back = version(1, 2, "the tea is green");
            partition.apply(&update(6, ChangeKind::Version, back, None)).unwrap();
            assert_eq!((partition.len(), partition.open_row(gone.id)), (4, Some(3)));
            assert_eq!(partition.present().len(), 2);
        }
    }
}
