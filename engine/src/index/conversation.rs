//! The order of turns: which row comes before and after which, within each session.

use std::collections::HashMap;

use crate::card::CardId;
use crate::index::text::NO_ROW;

/// Position of a row in its session: turn, then time, then card, so that a new version of a
/// card stays where the card was.
type Place = (u32, i64, CardId, u32);

/// The sessions of one partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversations {
    numbers: HashMap<String, u32>,
    turns: Vec<Vec<Place>>,
    /// By session, rows that stand between no turns.
    notes: Vec<Vec<u32>>,
    session: Vec<u32>,
    previous: Vec<u32>,
    next: Vec<u32>,
}

impl Conversations {
    /// Counts a row to its session and, when it is a turn or a moment of it (`ordered`), places
    /// it among its neighbours. A note about a session has none.
    pub(crate) fn insert(
        &mut self,
        row: u32,
        session: Option<&str>,
        turn: Option<u32>,
        at: i64,
        card: CardId,
        ordered: bool,
    ) {
        let rows = row as usize + 1;
        if self.session.len() < rows {
            self.session.resize(rows, NO_ROW);
            self.previous.resize(rows, NO_ROW);
            self.next.resize(rows, NO_ROW);
        }
        let Some(name) = session else { return };
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = self.turns.len() as u32;
                self.numbers.insert(name.to_owned(), number);
                self.turns.push(Vec::new());
                self.notes.push(Vec::new());
                number
            }
        };
        self.session[row as usize] = number;
        if !ordered {
            self.notes[number as usize].push(row);
            return;
        }
        let turns = &mut self.turns[number as usize];
        let place = (turn.unwrap_or(u32::MAX), at, card, row);
        let index = turns.partition_point(|other| *other < place);
        turns.insert(index, place);
        let neighbour =
            |index: Option<usize>| index.and_then(|i| turns.get(i)).map_or(NO_ROW, |place| place.3);
        let (before, after) = (neighbour(index.checked_sub(1)), neighbour(Some(index + 1)));
        self.join(before, row);
        self.join(row, after);
    }

    /// Takes a row out of its session; its neighbours become neighbours of each other.
    pub(crate) fn remove(&mut self, row: u32) {
        let Some(&number) = self.session.get(row as usize) else { return };
        if number == NO_ROW {
            return;
        }
        self.turns[number as usize].retain(|place| place.3 != row);
        self.notes[number as usize].retain(|note| *note != row);
        self.session[row as usize] = NO_ROW;
        let (before, after) = (self.previous[row as usize], self.next[row as usize]);
        self.previous[row as usize] = NO_ROW;
        self.next[row as usize] = NO_ROW;
        self.join(before, after);
    }

    fn join(&mut self, before: u32, after: u32) {
        if let Some(next) = self.next.get_mut(before as usize) {
            *next = after;
        }
        if let Some(previous) = self.previous.get_mut(after as usize) {
            *previous = before;
        }
    }

    /// For each row the row before it in its session, or [`NO_ROW`].
    pub(crate) fn previous(&self) -> &[u32] {
        &self.previous
    }

    /// For each row the row after it in its session, or [`NO_ROW`].
    pub(crate) fn next(&self) -> &[u32] {
        &self.next
    }

    /// For each row the number of its session, or [`NO_ROW`].
    pub(crate) fn session(&self) -> &[u32] {
        &self.session
    }

    /// The rows before and after a row in its session.
    pub(crate) fn neighbours(&self, row: u32) -> (Option<u32>, Option<u32>) {
        let neighbour = |rows: &[u32]| rows.get(row as usize).copied().filter(|row| *row != NO_ROW);
        (neighbour(&self.previous), neighbour(&self.next))
    }

    /// How many rows a session has.
    pub(crate) fn size(&self, session: u32) -> usize {
        self.turns.get(session as usize).map_or(0, Vec::len)
            + self.notes.get(session as usize).map_or(0, Vec::len)
    }

    /// The rows of a session.
    pub(crate) fn members(&self, session: u32) -> impl Iterator<Item = u32> + '_ {
        let turns = self.turns.get(session as usize).into_iter().flatten().map(|place| place.3);
        turns.chain(self.notes.get(session as usize).into_iter().flatten().copied())
    }

    /// How many sessions there have been; their numbers are below it.
    pub(crate) fn sessions(&self) -> usize {
        self.turns.len()
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.session.len() * (3 * 4 + size_of::<Place>())
            + self.numbers.keys().map(|name| name.len() + 64).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> CardId {
        CardId::from_bytes([number; 16])
    }

    #[test]
    fn a_new_version_of_a_card_stays_where_the_card_was() {
        let mut order = Conversations::default();
        for row in 0..3 {
            order.insert(row, Some("a"), None, 10, id(row as u8), true);
        }
        // Row 3 is the next version of the card of row 1.
        order.remove(1);
        order.insert(3, Some("a"), None, 10, id(1), true);
        assert_eq!(order.next(), [3, NO_ROW, NO_ROW, 2]);
        assert_eq!(order.previous(), [NO_ROW, NO_ROW, 3, 0]);
    }

    #[test]
    fn turns_are_neighbours_in_their_order_whatever_the_order_of_arrival() {
        let mut order = Conversations::default();
        for (row, turn) in [(0, 3), (1, 1), (2, 2), (3, 9)] {
            order.insert(row, Some("a"), Some(turn), 0, id(0), true);
        }
        order.insert(4, None, None, 0, id(0), true);
        order.insert(5, Some("b"), Some(2), 0, id(0), true);
        assert_eq!(order.previous(), [2, NO_ROW, 1, 0, NO_ROW, NO_ROW]);
        assert_eq!(order.next(), [3, 2, 0, NO_ROW, NO_ROW, NO_ROW]);
        order.remove(2);
        assert_eq!(order.previous(), [1, NO_ROW, NO_ROW, 0, NO_ROW, NO_ROW]);
        assert_eq!(order.next(), [3, 0, NO_ROW, NO_ROW, NO_ROW, NO_ROW]);
        assert_eq!(order.session(), [0, 0, NO_ROW, 0, NO_ROW, 1]);
    }

    #[test]
    fn rows_without_a_turn_follow_in_order_of_time() {
        let mut order = Conversations::default();
        order.insert(0, Some("a"), None, 20, id(0), true);
        order.insert(1, Some("a"), None, 10, id(0), true);
        order.insert(2, Some("a"), Some(4), 30, id(0), true);
        assert_eq!(order.next(), [NO_ROW, 0, 1]);
    }

    #[test]
    fn a_note_belongs_to_its_session_but_stands_between_no_turns() {
        let mut order = Conversations::default();
        order.insert(0, Some("a"), Some(1), 0, id(0), true);
        order.insert(1, Some("a"), None, 0, id(1), false);
        order.insert(2, Some("a"), Some(2), 0, id(2), true);
        assert_eq!(order.next(), [2, NO_ROW, NO_ROW]);
        assert_eq!(order.session(), [0, 0, 0]);
        order.remove(1);
        assert_eq!(order.next(), [2, NO_ROW, NO_ROW]);
    }
}
