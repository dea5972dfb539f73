//! The rows of a partition by the names in them: entities, and the ends of relations.
//!
//! Derived from the cards in the rows, so nothing of it is written to a file. Rows of every
//! version are kept, for reads of the past; whether a row is shown is for the reader to judge.

use std::collections::HashMap;

use crate::card::Card;
use crate::judge::name_key;

/// The rows in which one name stands, oldest first.
#[derive(Debug, Default)]
struct Rows {
    /// Relations with that end.
    edges: Vec<u32>,
    /// What names it otherwise: an entity of a card, what its fact is about, or what its text
    /// mentions.
    others: Vec<u32>,
}

/// Rows by the key of each name in them.
#[derive(Debug, Default)]
pub(crate) struct NamedRows {
    names: HashMap<Box<str>, Rows>,
    bytes: usize,
}

impl NamedRows {
    /// Adds a row, which is not there yet.
    pub(crate) fn insert(&mut self, row: u32, card: &Card) {
        let (edges, others) = keys(card);
        for (keys, is_edge) in [(edges, true), (others, false)] {
            for key in keys {
                self.bytes += size_of::<u32>();
                let rows = match self.names.get_mut(key.as_str()) {
                    Some(rows) => rows,
                    None => {
                        self.bytes += key.len() + size_of::<(Box<str>, Rows)>();
                        self.names.entry(key.into()).or_default()
                    }
                };
                if is_edge { &mut rows.edges } else { &mut rows.others }.push(row);
            }
        }
    }

    /// Exchanges the names of a row for those of the card as it is now.
    pub(crate) fn replace(&mut self, row: u32, before: &Card, after: &Card) {
        let same = before.is_relation() == after.is_relation()
            && before.fact == after.fact
            && before.entities == after.entities
            && before.mentions == after.mentions;
        if same {
            return;
        }
        let (edges, others) = keys(before);
        for key in edges.into_iter().chain(others) {
            if let Some(rows) = self.names.get_mut(key.as_str()) {
                rows.edges.retain(|known| *known != row);
                rows.others.retain(|known| *known != row);
            }
        }
        self.insert(row, after);
    }

    /// Keeps only some rows, and no name without any.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        let mut bytes = 0;
        self.names.retain(|key, rows| {
            rows.edges.retain(|row| keep(*row));
            rows.others.retain(|row| keep(*row));
            let count = rows.edges.len() + rows.others.len();
            if count > 0 {
                bytes += count * size_of::<u32>() + key.len() + size_of::<(Box<str>, Rows)>();
            }
            count > 0
        });
        self.bytes = bytes;
    }

    /// Rows of relations that have this name, as a key, at one of their ends.
    pub(crate) fn edges(&self, key: &str) -> &[u32] {
        self.names.get(key).map_or(&[], |rows| &rows.edges)
    }

    /// Rows of all other cards that name it.
    pub(crate) fn others(&self, key: &str) -> &[u32] {
        self.names.get(key).map_or(&[], |rows| &rows.others)
    }

    /// The keys of all names, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(AsRef::as_ref)
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The keys of a card's names, each once: the ends of its relation, and the others.
fn keys(card: &Card) -> (Vec<String>, Vec<String>) {
    let mut edges: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    match (card.edge(), &card.fact) {
        (Some(edge), _) => {
            edges.push(name_key(&edge.entity));
            edges.push(name_key(&edge.value));
            edges.dedup();
        }
        (None, Some(fact)) => others.push(name_key(&fact.entity)),
        (None, None) => {}
    }
    for name in card.entities.iter().chain(card.mentions.iter().map(|mention| &mention.name)) {
        let key = name_key(name);
        if !edges.contains(&key) && !others.contains(&key) {
            others.push(key);
        }
    }
    (edges, others)
}
