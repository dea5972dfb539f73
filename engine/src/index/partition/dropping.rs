//! Letting go of a card that is gone from the store.
//!
//! Its rows become empty slots: row numbers are positions, so they cannot be given to others, but
//! nothing of the card stays in them, and no view shows them. Names, statements and postings
//! that lead to such a slot are harmless, since whoever follows them looks at what is shown;
//! they are swept out together once there are many. Snapshots are written without them. When
//! most slots are empty the owner makes the partition anew ([`Partition::is_sparse`]).

use crate::card::{Card, CardId, State, Track};
use crate::index::partition::{Hot, Partition, Row, Voice, row_bytes};
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
        self.dropped_count += usize::from(self.dropped.insert(number));
    }

    /// Adds a slot that was empty when the snapshot was written.
    pub(super) fn attach_dropped(&mut self) {
        let (number, row) = (self.rows.len() as u32, Row::empty());
        self.row_bytes += row_bytes(&row);
        self.rows.push(row);
        self.hot.push(GONE);
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
