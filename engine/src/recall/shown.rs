//! The rows that a view shows, and what is counted over them.
//!
//! What a view of the present shows is kept by the partition while changes come in; only
//! rows whose time decides are judged here. Every other view goes through all rows.

use std::borrow::Cow;

use crate::index::partition::Partition;
use crate::index::rows::RowSet;
use crate::index::text::{QueryTerms, Statistics};
use crate::recall::View;

/// The rows of one partition that a view shows, before any condition of the request.
pub(super) struct Shown<'a> {
    partition: &'a Partition,
    rows: Cow<'a, RowSet>,
    count: usize,
    /// Rows beyond those that the partition keeps count of; `None` when these are not the
    /// ones that are shown.
    beyond: Option<Vec<u32>>,
}

impl<'a> Shown<'a> {
    /// Finds the rows.
    pub(super) fn of(partition: &'a Partition, view: &View) -> Self {
        let shows = |row: u32| view.shows_row(&partition.hot()[row as usize], partition.row(row));
        if !view.is_present() {
            let rows: RowSet = (0..partition.len() as u32).filter(|row| shows(*row)).collect();
            return Self { partition, count: rows.len(), rows: Cow::Owned(rows), beyond: None };
        }
        let present = partition.present();
        let beyond: Vec<u32> = present.special().filter(|row| shows(*row)).collect();
        let mut rows = Cow::Borrowed(present.rows());
        for row in &beyond {
            rows.to_mut().insert(*row);
        }
        Self { partition, count: present.len() + beyond.len(), rows, beyond: Some(beyond) }
    }

    /// The same rows as a set that [`Shown::from_set`] takes, where finding them anew takes
    /// longer than keeping them.
    pub(super) fn into_set(self) -> Option<RowSet> {
        match (self.beyond, self.rows) {
            (None, Cow::Owned(rows)) => Some(rows),
            _ => None,
        }
    }

    /// What [`Shown::into_set`] gave, for a partition that has not changed since.
    pub(super) fn from_set(partition: &'a Partition, rows: RowSet) -> Self {
        Self { partition, count: rows.len(), rows: Cow::Owned(rows), beyond: None }
    }

    /// The rows.
    pub(super) fn rows(&self) -> &RowSet {
        &self.rows
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// True when every row of the partition is shown.
    pub(super) fn is_everything(&self) -> bool {
        self.count == self.partition.len()
    }

    /// The rows of cards. Only a view of the present knows them without looking at all rows.
    pub(super) fn rows_of(&self, cards: &[crate::card::CardId]) -> Vec<u32> {
        match self.beyond {
            Some(_) => {
                let open = cards.iter().filter_map(|id| self.partition.open_row(*id));
                open.filter(|row| self.rows.contains(*row)).collect()
            }
            None if cards.is_empty() => Vec::new(),
            None => {
                let of = |row: &u32| cards.contains(&self.partition.row(*row).card.id);
                self.rows.iter().filter(of).collect()
            }
        }
    }

    /// Adds what BM25 has to know of these rows to the statistics of a question.
    pub(super) fn gather(&self, terms: &QueryTerms, statistics: &mut Statistics) {
        let text = self.partition.text();
        let Some(beyond) = &self.beyond else {
            text.gather(terms, &self.rows, statistics);
            text.gather_windows(self.partition.windows(&self.rows), statistics);
            return;
        };
        let present = self.partition.present();
        statistics.documents += self.count as u64;
        statistics.total_length += present.length();
        statistics.total_window_length += present.window_length();
        let length = |row: u32| u64::from(text.document_length(row).unwrap_or(0));
        for row in beyond {
            statistics.total_length += length(*row);
            statistics.total_window_length += length(*row);
            let (before, after) = self.partition.conversations().neighbours(*row);
            // Two neighbours are a pair once: the later one counts it when both are beyond.
            let before = before.filter(|before| self.rows.contains(*before));
            let after = after.filter(|after| present.rows().contains(*after));
            for other in before.into_iter().chain(after) {
                statistics.total_window_length += length(*row) + length(other);
            }
        }
        text.gather_frequencies(terms, &self.rows, self.count, statistics);
    }

    /// Those who speak in these rows: number and name.
    pub(super) fn speakers(&self) -> Vec<(u32, &'a str)> {
        let voices = self.partition.voices();
        let names = self.partition.names();
        let mut speaks = vec![false; names.len()];
        let mut hear = |row: u32| {
            if let Some(speaks) = speaks.get_mut(voices[row as usize].speaker as usize) {
                *speaks = true;
            }
        };
        match &self.beyond {
            None => self.rows.iter().for_each(hear),
            Some(beyond) => {
                beyond.iter().for_each(|row| hear(*row));
                let counts = self.partition.present().speakers();
                speaks.iter_mut().zip(counts).for_each(|(speaks, count)| *speaks |= *count > 0);
            }
        }
        let names = names.iter().enumerate().zip(speaks);
        names.filter(|(_, speaks)| *speaks).map(|((number, name), _)| (number as u32, &**name)).collect()
    }

    /// How many rows lie on a day that `is` tells from an instant of it.
    pub(super) fn count_dated(&self, is: impl Fn(i64) -> bool) -> usize {
        let occurred = |row: &u32| is(self.partition.hot()[*row as usize].occurred);
        match &self.beyond {
            None => self.rows.iter().filter(occurred).count(),
            Some(beyond) => {
                let days = self.partition.present().days().filter(|(day, _)| is(*day));
                days.map(|(_, count)| count as usize).sum::<usize>()
                    + beyond.iter().filter(|row| occurred(row)).count()
            }
        }
    }

    /// The rows that [`Shown::count_dated`] counts.
    pub(super) fn dated(&self, is: impl Fn(i64) -> bool) -> Vec<u32> {
        let occurred = |row: &u32| is(self.partition.hot()[*row as usize].occurred);
        match &self.beyond {
            None => self.rows.iter().filter(occurred).collect(),
            Some(beyond) => {
                let present = self.partition.present();
                let days = present.days().map(|(day, _)| day).filter(|day| is(*day));
                let rows = days.flat_map(|day| present.rows_of(day));
                rows.chain(beyond.iter().copied().filter(occurred)).collect()
            }
        }
    }
}
