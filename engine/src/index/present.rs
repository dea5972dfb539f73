//! The rows that a read shows when it asks for nothing special, kept up to date.
//!
//! Most questions are about the present: current versions of active cards. Going through a
//! whole partition to find these rows and to count what they hold would take longer than
//! the search itself, so set and counts are kept while changes come in. Rows whose time
//! decides (an expiry, a change that is scheduled) stay outside: each read judges them at
//! its own instant.

use std::collections::{BTreeMap, BTreeSet};

use crate::card::State;
use crate::index::partition::Hot;
use crate::index::rows::RowSet;
use crate::index::text::NO_ROW;
use crate::time::Timestamp;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// Where the day (UTC) begins on which an instant lies, both in microseconds.
fn day_of(micros: i64) -> i64 {
    micros.div_euclid(DAY_MICROS) * DAY_MICROS
}

/// Rows that are shown whatever the instant, and what they hold.
#[derive(Debug, Default)]
pub(crate) struct Present {
    rows: RowSet,
    count: usize,
    special: RowSet,
    special_count: usize,
    /// Sum of the lengths of their texts.
    length: u64,
    /// Sum of the lengths of both texts over all pairs of neighbours in a conversation of
    /// which both are shown.
    pairs: u64,
    /// By speaker's number, how many rows are theirs.
    speakers: Vec<u32>,
    days: BTreeMap<i64, u32>,
    by_day: BTreeSet<(i64, u32)>,
}

/// Whether the instant of a read decides about a row.
fn is_special(hot: &Hot) -> bool {
    hot.expires != i64::MAX || hot.scheduled
}

fn is_current(hot: &Hot) -> bool {
    hot.until == Timestamp::MAX.as_micros() && hot.state == State::Active
}

impl Present {
    /// Takes a row in, if it is one; true when its text counts from now on.
    pub(crate) fn show(&mut self, row: u32, hot: &Hot, speaker: u32, length: u32) -> bool {
        if !is_current(hot) {
            return false;
        }
        if is_special(hot) {
            self.special_count += usize::from(self.special.insert(row));
            return false;
        }
        if !self.rows.insert(row) {
            return false;
        }
        self.count += 1;
        self.length += u64::from(length);
        if speaker != NO_ROW {
            let speaker = speaker as usize;
            if self.speakers.len() <= speaker {
                self.speakers.resize(speaker + 1, 0);
            }
            self.speakers[speaker] += 1;
        }
        let day = day_of(hot.occurred);
        *self.days.entry(day).or_default() += 1;
        self.by_day.insert((day, row));
        true
    }

    /// Takes a row out; the rest is what it came in with. True when its text
    /// counted.
    pub(crate) fn hide(&mut self, row: u32, hot: &Hot, speaker: u32, length: u32) -> bool {
        self.special_count -= usize::from(self.special.remove(row));
        if !self.rows.remove(row) {
            return false;
        }
        self.count -= 1;
        self.length -= u64::from(length);
        if let Some(count) = self.speakers.get_mut(speaker as usize) {
            *count -= 1;
        }
        let day = day_of(hot.occurred);
        if let Some(count) = self.days.get_mut(&day) {
            *count -= 1;
            if *count == 0 {
                self.days.remove(&day);
            }
        }
        self.by_day.remove(&(day, row));
        true
    }

    /// Two rows have become neighbours, or one of two neighbours is shown.
    pub(crate) fn pair(&mut self, length: u64) {
        self.pairs += length;
    }

    /// The contrary of [`Present::pair`].
    pub(crate) fn part(&mut self, length: u64) {
        self.pairs -= length;
    }

    /// Rows that are shown at every instant.
    pub(crate) fn rows(&self) -> &RowSet {
        &self.rows
    }

    /// How many these are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Current rows of active cards about which the instant decides.
    pub(crate) fn special(&self) -> impl Iterator<Item = u32> + '_ {
        (self.special_count > 0).then(|| self.special.iter()).into_iter().flatten()
    }

    /// Sum of the lengths of the texts of [`Present::rows`].
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Sum of the lengths of the windows around them.
    pub(crate) fn window_length(&self) -> u64 {
        self.length + self.pairs
    }

    /// By speaker's number, how many of [`Present::rows`] are theirs.
    pub(crate) fn speakers(&self) -> &[u32] {
        &self.speakers
    }

    /// Where the days (UTC) begin on which something of [`Present::rows`] occurred, in
    /// microseconds, and how many rows that is.
    pub(crate) fn days(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.days.iter().map(|(day, count)| (*day, *count))
    }

    /// The rows of a day, which is named by its beginning.
    pub(crate) fn rows_of(&self, day: i64) -> impl Iterator<Item = u32> + '_ {
        self.by_day.range((day, 0)..=(day, u32::MAX)).map(|(_, row)| *row)
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.count / 4 + self.by_day.len() * 20 + self.days.len() * 24 + self.speakers.len() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight() {
        for micros in [0, 1, -1, DAY_MICROS, 1_704_067_200_000_000, -DAY_MICROS - 5] {
            let start = day_of(micros);
            assert!(start <= micros && micros < start + DAY_MICROS, "{micros}");
            assert_eq!(start % DAY_MICROS, 0);
        }
    }
}
