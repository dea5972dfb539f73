//! The rows that a view shows, and what is counted over them.
//!
//! What a view of the present shows is kept by the partition while changes come in; only
//! rows whose time decides, and those that are old enough to be over, are judged here. Every
//! other view goes through all rows.

use std::borrow::Cow;

use crate::graph::Concept;
use crate::index::partition::Partition;
use crate::index::rows::RowSet;
use crate::index::text::{NO_ROW, QueryTerms, Statistics};
use crate::judge::name_key;
use crate::recall::View;
use crate::recall::times::Times;
use crate::time::Timestamp;

/// The rows of one partition that a view shows, before any condition of the request.
pub(super) struct Shown<'a> {
    partition: &'a Partition,
    rows: Cow<'a, RowSet>,
    count: usize,
    /// Rows beyond those that the partition keeps count of; `None` when these are not the
    /// ones that are shown.
    beyond: Option<Vec<u32>>,
    /// Rows that the partition keeps count of and that are not shown, in order.
    lapsed: Vec<u32>,
}

impl<'a> Shown<'a> {
    /// Finds the rows.
    pub(super) fn of(partition: &'a Partition, view: &View) -> Self {
        let judge = view.on(partition);
        if !view.is_present() {
            let rows = (0..partition.len() as u32).filter(|row| judge.shows(*row)).collect();
            return Self::from_set(partition, rows);
        }
        let present = partition.present();
        let beyond: Vec<u32> = present.special().filter(|row| judge.shows(*row)).collect();
        let lapsed = judge.lapsed();
        let mut rows = Cow::Borrowed(present.rows());
        for row in &beyond {
            rows.to_mut().insert(*row);
        }
        for row in &lapsed {
            rows.to_mut().remove(*row);
        }
        let count = present.len() + beyond.len() - lapsed.len();
        Self { partition, count, rows, beyond: Some(beyond), lapsed }
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
        Self { partition, count: rows.len(), rows: Cow::Owned(rows), beyond: None, lapsed: Vec::new() }
    }

    /// The rows.
    pub(super) fn rows(&self) -> &RowSet {
        &self.rows
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// True when every row of the partition is shown, but for the slots that cards have left.
    pub(super) fn is_everything(&self) -> bool {
        self.count + self.partition.dropped() == self.partition.len()
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
        let neighbours = |row: u32| self.partition.conversations().neighbours(row);
        for row in &self.lapsed {
            statistics.total_length -= length(*row);
            statistics.total_window_length -= length(*row);
            let (before, after) = neighbours(*row);
            // Two neighbours are a pair once: the later one counts it when both have lapsed.
            let before = before.filter(|before| present.rows().contains(*before));
            let after = after.filter(|after| present.rows().contains(*after) && self.rows.contains(*after));
            for other in before.into_iter().chain(after) {
                statistics.total_window_length -= length(*row) + length(other);
            }
        }
        for row in beyond {
            statistics.total_length += length(*row);
            statistics.total_window_length += length(*row);
            let (before, after) = neighbours(*row);
            // Two neighbours are a pair once: the later one counts it when both are beyond.
            let before = before.filter(|before| self.rows.contains(*before));
            let after = after.filter(|after| present.rows().contains(*after) && self.rows.contains(*after));
            for other in before.into_iter().chain(after) {
                statistics.total_window_length += length(*row) + length(other);
            }
        }
        text.gather_frequencies(terms, &self.rows, self.count, statistics);
    }

    /// How many rows speak of a concept. Only rows about which no instant decides are counted,
    /// whatever the view.
    pub(super) fn concept_count(&self, concept: Concept) -> u32 {
        let senses = self.partition.senses();
        let lapsed = self.lapsed.iter().filter(|row| senses[**row as usize].concepts.contains(concept));
        self.partition.concept_count(concept).saturating_sub(lapsed.count() as u32)
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
                let mut counts = Cow::Borrowed(self.partition.present().speakers());
                for row in &self.lapsed {
                    let speaker = voices[*row as usize].speaker;
                    if speaker != NO_ROW {
                        counts.to_mut()[speaker as usize] -= 1;
                    }
                }
                speaks.iter_mut().zip(&*counts).for_each(|(speaks, count)| *speaks |= *count > 0);
            }
        }
        let names = names.iter().enumerate().zip(speaks);
        names.filter(|(_, speaks)| *speaks).map(|((number, name), _)| (number as u32, &**name)).collect()
    }

    /// What these rows say of an attribute of somebody, with when it happened.
    pub(super) fn values(&self, owner: &str, attribute: &str) -> Vec<(Timestamp, String)> {
        let said = self.partition.said().values(owner, attribute).iter();
        let said = said.filter(|(row, _)| self.rows.contains(*row));
        said.map(|(row, value)| (self.partition.row(*row).card.occurred_at, value.clone())).collect()
    }

    /// The names that these rows give to somebody who is known by relation.
    pub(super) fn names_of(&self, alias: &str) -> impl Iterator<Item = &'a str> {
        let named = self.partition.said().names(alias).iter();
        named.filter(|(row, _)| self.rows.contains(*row)).map(|(_, name)| name.as_str())
    }

    /// Those to whom somebody is related by edges of these rows: Tom's "sister" is Anna.
    pub(super) fn related(&self, owner: &str, relation: &str) -> Vec<&'a str> {
        let (owner, relation) = (name_key(owner), name_key(relation));
        let rows = self.partition.named().edges(&owner).iter().filter(|row| self.rows.contains(**row));
        let edges = rows.filter_map(|row| self.partition.row(*row).card.edge());
        let edges =
            edges.filter(|edge| name_key(&edge.entity) == owner && name_key(&edge.attribute) == relation);
        edges.map(|edge| edge.value.as_str()).collect()
    }

    /// How many rows happened at, or tell of, a time that the question names.
    pub(super) fn count_dated(&self, times: &Times) -> usize {
        let by_day = match &self.beyond {
            // Whole days need not be looked into.
            Some(beyond) if times.are_days() => {
                let days = self.partition.present().days().filter(|(day, _)| times.touch_day(*day));
                let here =
                    |rows: &[u32]| rows.iter().filter(|row| times.contain(self.occurred(**row))).count();
                days.map(|(_, count)| count as usize).sum::<usize>() + here(beyond) - here(&self.lapsed)
            }
            _ => self.happened(times).count(),
        };
        by_day + self.told(times).count()
    }

    /// The rows that [`Shown::count_dated`] counts.
    pub(super) fn dated(&self, times: &Times) -> Vec<u32> {
        self.happened(times).chain(self.told(times)).collect()
    }

    /// True when a row happened at, or tells of, a time that the question names.
    pub(super) fn is_dated(&self, row: u32, times: &Times) -> bool {
        times.contain(self.occurred(row)) || self.tells(row, times)
    }

    /// How surely a row belongs to a time that the question names, 0 to 1: where it tells of a
    /// time itself, the time of telling says less.
    pub(super) fn dated_share(&self, row: u32, times: &Times) -> f32 {
        /// Of a card told at that time which tells of another.
        const TOLD_ELSEWHERE: f32 = 0.97;
        if times.is_empty() {
            return 0.0;
        }
        match (self.tells(row, times), times.contain(self.occurred(row))) {
            (true, _) => 1.0,
            (false, true) if self.partition.timed().contains(row) => TOLD_ELSEWHERE,
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }

    fn occurred(&self, row: u32) -> i64 {
        self.partition.hot()[row as usize].occurred
    }

    fn tells(&self, row: u32, times: &Times) -> bool {
        self.partition.timed().contains(row) && times.meet(&self.partition.row(row).card.times)
    }

    fn happened<'b>(&'b self, times: &'b Times) -> Box<dyn Iterator<Item = u32> + 'b> {
        let present = self.partition.present();
        match &self.beyond {
            None => Box::new(self.rows.iter().filter(|row| times.contain(self.occurred(*row)))),
            Some(beyond) => {
                let days = present.days().map(|(day, _)| day).filter(|day| times.touch_day(*day));
                let rows = days.flat_map(|day| present.rows_of(day)).chain(beyond.iter().copied());
                Box::new(rows.filter(|row| self.rows.contains(*row) && times.contain(self.occurred(*row))))
            }
        }
    }

    /// Rows that only tell of such a time.
    fn told<'b>(&'b self, times: &'b Times) -> impl Iterator<Item = u32> + 'b {
        let timed = self.partition.timed().iter().filter(|row| self.rows.contains(*row));
        timed.filter(|row| !times.contain(self.occurred(*row)) && self.tells(*row, times))
    }
}
