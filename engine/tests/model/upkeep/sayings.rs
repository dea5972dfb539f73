//! What is told: few sayings, of which it is written down here how they relate, so that the
//! model need not ask the engine.

use memcards::card::Polarity;

/// A text, and what it is to other ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Saying {
    pub(crate) text: &'static str,
    /// The same for texts that differ in case, spacing and marks only.
    words: u8,
    /// The same for texts that state the same.
    pub(crate) states: u8,
    /// The same for texts about the same.
    pub(crate) topic: u8,
    /// Somebody likes something, or does not.
    pub(crate) is_preference: bool,
}

/// How two texts stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Words,
    Statement,
    Opposite,
    /// Another value of the same.
    Value,
    Nothing,
}

const fn saying(text: &'static str, words: u8, states: u8, topic: u8, is_preference: bool) -> Saying {
    Saying { text, words, states, topic, is_preference }
}

pub(crate) const SAYINGS: [Saying; 12] = [
    saying("I like tea", 0, 0, 0, true),
    saying("I like tea!", 0, 0, 0, true),
    saying("Please, I like tea", 1, 0, 0, true),
    saying("I don't like tea", 2, 1, 0, true),
    saying("The spare key is under the blue pot.", 3, 2, 1, false),
    saying("the spare key is under the blue pot", 3, 2, 1, false),
    saying("Please, the spare key is under the blue pot.", 4, 2, 1, false),
    saying("The server port is 8080", 5, 3, 2, false),
    saying("The server port is 9090", 6, 4, 2, false),
    saying("我喜欢喝绿茶", 7, 5, 3, true),
    saying("我喜欢喝绿茶。", 7, 5, 3, true),
    saying("我不喜欢喝绿茶", 8, 6, 3, true),
];

/// Statements that deny each other.
const OPPOSITES: [(u8, u8); 2] = [(0, 1), (5, 6)];
/// Statements that give one thing different values.
const VALUES: [(u8, u8); 1] = [(3, 4)];

impl Saying {
    /// The saying with this text.
    pub(crate) fn of(text: &str) -> &'static Self {
        SAYINGS.iter().find(|saying| saying.text == text).unwrap()
    }

    fn plainly(&self, other: &Self) -> Relation {
        let one_of = |pairs: &[(u8, u8)]| {
            pairs.contains(&(self.states, other.states)) || pairs.contains(&(other.states, self.states))
        };
        match () {
            () if self.words == other.words => Relation::Words,
            () if self.states == other.states => Relation::Statement,
            () if one_of(&OPPOSITES) => Relation::Opposite,
            () if one_of(&VALUES) => Relation::Value,
            () => Relation::Nothing,
        }
    }

    /// How two stand to each other where each is affirmed or ruled out: the same, once
    /// affirmed and once ruled out, is the contrary; and ruling out what is denied is none.
    pub(crate) fn relation(&self, mine: Polarity, other: &Self, theirs: Polarity) -> Relation {
        match self.plainly(other) {
            Relation::Words | Relation::Statement if mine != theirs => Relation::Opposite,
            Relation::Opposite if mine != theirs => Relation::Nothing,
            relation => relation,
        }
    }
}

#[test]
fn the_table_says_what_the_rules_read() {
    use memcards::judge;
    let mut differences = vec![];
    for one in &SAYINGS {
        for other in &SAYINGS {
            let read = judge::relation(&judge::analyze(one.text), &judge::analyze(other.text));
            let read = match read {
                judge::Relation::Identical => Relation::Words,
                judge::Relation::Same => Relation::Statement,
                judge::Relation::Opposite => Relation::Opposite,
                judge::Relation::ValueChanged { .. } => Relation::Value,
                _ => Relation::Nothing,
            };
            if one.plainly(other) != read {
                differences.push((one.text, other.text, read));
            }
        }
    }
    assert_eq!(differences, []);
}
