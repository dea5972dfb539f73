//! What the cards of a partition say of entities: names by which somebody is known
//! ("my sister Anna"), attributes ("my birthday is …"), relations ("works at …").
//!
//! It is read in each card's text by the rules of [`crate::graph`]; which rows count is for
//! the reader to say.

use std::collections::HashMap;

use crate::graph::{Statement, Told};

/// Statements of one text that are kept.
const KEPT_MOST: usize = 16;

/// One statement: names in their written form, the relation or attribute in canonical words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Saying {
    /// Somebody known by relation ("Tom's sister") has a name.
    Alias { alias: String, name: String },
    /// An entity has an attribute.
    Attribute { entity: String, attribute: String, value: String },
    /// Two entities are related.
    Relation { from: String, relation: String, to: String },
}

impl Saying {
    /// The statements of a text that was read.
    pub(crate) fn of(told: Told) -> Box<[Self]> {
        let saying = |statement| match statement {
            Statement::Alias { alias, name } => Self::Alias { alias, name },
            Statement::Attribute { entity, attribute, value } => Self::Attribute { entity, attribute, value },
            Statement::Relation { from, relation, to } => {
                Self::Relation { from, relation: relation.to_owned(), to }
            }
        };
        told.statements.into_iter().take(KEPT_MOST).map(saying).collect()
    }

    /// Kind and texts, for a file.
    pub(crate) fn parts(&self) -> (u8, [&str; 3]) {
        match self {
            Self::Alias { alias, name } => (0, [alias, name, ""]),
            Self::Attribute { entity, attribute, value } => (1, [entity, attribute, value]),
            Self::Relation { from, relation, to } => (2, [from, relation, to]),
        }
    }

    /// What [`Saying::parts`] gave.
    pub(crate) fn from_parts(kind: u8, [first, second, third]: [String; 3]) -> Option<Self> {
        Some(match kind {
            0 => Self::Alias { alias: first, name: second },
            1 => Self::Attribute { entity: first, attribute: second, value: third },
            2 => Self::Relation { from: first, relation: second, to: third },
            _ => return None,
        })
    }
}

/// Statements by whom they concern, in lower case.
#[derive(Debug, Default)]
pub(crate) struct Said {
    aliases: HashMap<String, Vec<(u32, String)>>,
    attributes: HashMap<(String, String), Vec<(u32, String)>>,
    bytes: usize,
}

impl Said {
    /// Takes in what a row says.
    pub(crate) fn add(&mut self, row: u32, sayings: &[Saying]) {
        for saying in sayings {
            match saying {
                Saying::Alias { alias, name } => {
                    self.bytes += alias.len() + name.len() + 80;
                    self.aliases.entry(alias.to_lowercase()).or_default().push((row, name.clone()));
                }
                Saying::Attribute { entity, attribute, value } => {
                    self.bytes += entity.len() + attribute.len() + value.len() + 100;
                    let key = (entity.to_lowercase(), attribute.clone());
                    self.attributes.entry(key).or_default().push((row, value.clone()));
                }
                Saying::Relation { .. } => {}
            }
        }
    }

    /// Keeps only what some rows say.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        let mut bytes = 0;
        self.aliases.retain(|alias, names| {
            names.retain(|(row, _)| keep(*row));
            bytes += names.iter().map(|(_, name)| alias.len() + name.len() + 80).sum::<usize>();
            !names.is_empty()
        });
        self.attributes.retain(|(entity, attribute), values| {
            values.retain(|(row, _)| keep(*row));
            let key = entity.len() + attribute.len() + 100;
            bytes += values.iter().map(|(_, value)| key + value.len()).sum::<usize>();
            !values.is_empty()
        });
        self.bytes = bytes;
    }

    /// The names of somebody who is known by relation, with the rows that say so.
    pub(crate) fn names(&self, alias: &str) -> &[(u32, String)] {
        self.aliases.get(&alias.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The values of an attribute, with the rows that say so.
    pub(crate) fn values(&self, entity: &str, attribute: &str) -> &[(u32, String)] {
        let key = (entity.to_lowercase(), attribute.to_owned());
        self.attributes.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Memory used, roughly, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::told;

    #[test]
    fn what_is_said_is_found_by_whom_it_concerns() {
        let mut said = Said::default();
        said.add(3, &Saying::of(told("My sister Anna lives in Bergen.", Some("Tom"))));
        said.add(4, &Saying::of(told("我妹妹叫安娜。", None)));
        assert_eq!(said.names("tom's Sister"), [(3, "Anna".to_owned())]);
        assert_eq!(said.names("user's sister"), [(4, "安娜".to_owned())]);
        assert_eq!(said.names("Tom's brother"), []);
    }

    #[test]
    fn a_saying_comes_back_from_its_parts() {
        let text = "My sister Anna works at Initech. My birthday is June 5.";
        for saying in Saying::of(told(text, Some("Tom"))) {
            let (kind, parts) = saying.parts();
            assert_eq!(Saying::from_parts(kind, parts.map(str::to_owned)), Some(saying.clone()));
        }
        assert_eq!(Saying::from_parts(9, Default::default()), None);
    }
}
