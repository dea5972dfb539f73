//! The rows that a read shows when it asks for nothing special, kept up to date.
//!
//! Most questions are about the present: current versions of active cards. Going through a
//! whole partition to find these rows and to count what they hold would take longer than
//! the search itself, so set and counts are kept while changes come in. Rows whose time
//! decides (an expiry, a change that is scheduled) stay outside: each read judges them at
//! its own instant. Others may be over by rules of age, which are not known here and may change:
//! rows are also kept in order of age, so that a read looks only at those that are old enough.

use std::collections::{BTreeMap, BTreeSet};

use crate::card::State;
use crate::index::partition::{Age, Hot};
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
    /// By category's number.
    ages: BTreeMap<u32, Ages>,
}

/// The rows of one category that rules may touch, by age.
#[derive(Debug, Default)]
pub(crate) struct Ages {
    recorded: BTreeSet<(i64, u32)>,
    /// In steps of confidence: how long a card lasts depends on it.
    referenced: BTreeMap<u8, Referenced>,
}

/// Rows of about one confidence, by their last reference.
#[derive(Debug)]
struct Referenced {
    /// Bounds of the confidences that came in.
    least: f32,
    most: f32,
    rows: BTreeSet<(i64, u32)>,
}

/// The step of a confidence from 0 to 1.
fn step_of(confidence: f32) -> u8 {
    (confidence * 16.0) as u8
}

/// The first of rows that are in order of a time, as far as that does not lie after `last`.
fn until(rows: &BTreeSet<(i64, u32)>, last: i64) -> impl Iterator<Item = u32> + '_ {
    rows.range(..=(last, u32::MAX)).map(|(_, row)| *row)
}

impl Ages {
    fn insert(&mut self, row: u32, hot: &Hot, age: &Age) {
        self.recorded.insert((age.recorded, row));
        let confidence = hot.confidence;
        let new = || Referenced { least: confidence, most: confidence, rows: BTreeSet::new() };
        let group = self.referenced.entry(step_of(confidence)).or_insert_with(new);
        group.least = group.least.min(confidence);
        group.most = group.most.max(confidence);
        group.rows.insert((age.reference, row));
    }

    fn remove(&mut self, row: u32, hot: &Hot, age: &Age) {
        self.recorded.remove(&(age.recorded, row));
        let step = step_of(hot.confidence);
        if let Some(group) = self.referenced.get_mut(&step) {
            group.rows.remove(&(age.reference, row));
            if group.rows.is_empty() {
                self.referenced.remove(&step);
            }
        }
    }

    /// Rows that were recorded at an instant (microseconds) or before.
    pub(crate) fn recorded_until(&self, last: i64) -> impl Iterator<Item = u32> + '_ {
        until(&self.recorded, last)
    }

    /// Rows that were last referred to so long (microseconds) before an instant, or longer, as
    /// `age` gives for bounds of their confidence; `None` leaves them out.
    pub(crate) fn older_than<'a>(
        &'a self,
        age: impl Fn(f32, f32) -> Option<i64> + 'a,
        instant: i64,
    ) -> impl Iterator<Item = u32> + 'a {
        self.referenced
            .values()
            .filter_map(move |group| Some((group, age(group.least, group.most)?)))
            .flat_map(move |(group, age)| until(&group.rows, instant.saturating_sub(age)))
    }
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
    pub(crate) fn show(&mut self, row: u32, hot: &Hot, age: &Age, speaker: u32, length: u32) -> bool {
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
        if !age.exempt {
            self.ages.entry(hot.category).or_default().insert(row, hot, age);
        }
        true
    }

    /// Takes a row out; the rest is what it came in with. True when its text
    /// counted.
    pub(crate) fn hide(&mut self, row: u32, hot: &Hot, age: &Age, speaker: u32, length: u32) -> bool {
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
        if let Some(ages) = self.ages.get_mut(&hot.category) {
            ages.remove(row, hot, age);
            if ages.recorded.is_empty() {
                self.ages.remove(&hot.category);
            }
        }
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

    /// The rows that rules of age may touch, by their category's number.
    pub(crate) fn ages(&self) -> impl Iterator<Item = (u32, &Ages)> + '_ {
        self.ages.iter().map(|(category, ages)| (*category, ages))
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.count / 4 + self.by_day.len() * 60 + self.days.len() * 24 + self.speakers.len() * 4
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
