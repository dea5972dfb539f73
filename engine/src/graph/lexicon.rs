//! One table of all words that the rules know, English and Chinese, made of the lists.

use std::collections::HashMap;
use std::ops::BitOr;
use std::sync::LazyLock;

use super::concept::{Concept, ConceptSet};
use super::lists::{MEMBERS, PEOPLE, PLACES, RELATIONS, TAGGED};
use crate::judge::is_han;

/// What a word does in the rules, a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tag(pub(super) u64);

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)*) => {
        impl Tag {
            $($(#[$doc])* pub(super) const $name: Tag = Tag(1 << $bit);)*
        }
    };
}

tags! {
    /// A common word: with a capital at the start of a sentence it is no name.
    STOP = 0,
    /// An asking word.
    ASKS = 1,
    AUXILIARY = 2,
    PREPOSITION = 3,
    /// The speaker: I, my, we, 我.
    FIRST = 4,
    /// A word for a class of things, not for one of its members.
    CLASS = 5,
    /// A city, country or region by name.
    PLACE = 6,
    /// A given name.
    GIVEN = 7,
    /// A word for a time: yesterday, Monday, May.
    DATE = 8,
    /// A unit of time.
    UNIT = 9,
    /// A unit or sign of money.
    MONEY = 10,
    /// A number in words.
    NUMBER = 11,
    /// Greetings, thanks, reactions, and what only goes with them.
    SMALL_TALK = 12,
    /// Before a name: Mr, Dr, Aunt.
    TITLE = 13,
    /// Ends the name of an organisation.
    ORGANISATION = 14,
    /// A nation's people or language.
    NATION = 15,
    /// What a person does: after a name.
    PERSONAL_VERB = 16,
    /// A word for a kind of relation.
    RELATION = 17,
    /// Goes with small talk, and means nothing by itself: "to", "you", "so".
    PADDING = 18,
    /// Ends the name of a place: Street, Park.
    PLACE_END = 19,
    /// Third person: he, she, 他.
    THIRD = 20,
    /// A Chinese title after a name: 老师, 医生.
    CHINESE_TITLE = 21,
    /// Asks for an order in time: first, last, latest.
    ORDER = 22,
    /// A Chinese function word or suffix.
    CHINESE_FUNCTION = 23,
    /// Brand or product.
    BRAND = 24,
    /// Weekdays and months.
    CALENDAR = 25,
    /// Second person.
    SECOND = 26,
    /// Stands before a Chinese name: 叫, 和, 同事.
    BEFORE_NAME = 27,
    /// Follows a Chinese name: 说, 是, 的.
    AFTER_NAME = 28,
    /// A company by name.
    COMPANY = 29,
    /// A Chinese surname of two characters.
    SURNAME = 30,
    /// Listed only so that Chinese is not cut inside of it.
    WHOLE = 31,
}

impl Tag {
    pub(super) const NONE: Tag = Tag(0);

    pub(super) const fn intersects(self, other: Tag) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Tag {
    type Output = Tag;

    fn bitor(self, other: Tag) -> Tag {
        Tag(self.0 | other.0)
    }
}

/// What is known of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) concepts: ConceptSet,
    /// Concepts that it has as a name, with a capital.
    pub(super) proper: ConceptSet,
    pub(super) tags: Tag,
    /// 1 + the number of its relation in [`RELATIONS`], 0 for none.
    pub(super) relation: u8,
}

impl Entry {
    fn add(&mut self, other: &Entry) {
        self.concepts = self.concepts.union(other.concepts);
        self.proper = self.proper.union(other.proper);
        self.tags = self.tags | other.tags;
        if self.relation == 0 {
            self.relation = other.relation;
        }
    }

    /// The canonical word of its relation.
    pub(super) fn relation(&self) -> Option<&'static str> {
        RELATIONS.get(usize::from(self.relation).checked_sub(1)?).map(|(name, _, _)| *name)
    }
}

type Phrase = (Vec<&'static str>, Entry);

#[derive(Default)]
struct Slot {
    entry: Option<Entry>,
    /// What may follow the word to make a phrase, longest first.
    phrases: Vec<Phrase>,
}

/// The table.
pub(super) struct Lexicon {
    words: HashMap<&'static str, Slot>,
    /// Chinese words by their first character, longest first.
    han: HashMap<char, Vec<(&'static str, Entry)>>,
}

/// The table, made once.
pub(super) fn lexicon() -> &'static Lexicon {
    static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);
    &LEXICON
}

impl Lexicon {
    fn new() -> Self {
        let mut lexicon = Self { words: HashMap::new(), han: HashMap::new() };
        for (tags, words) in TAGGED {
            let entry = Entry { tags: *tags, ..Entry::default() };
            lexicon.add_all(words, &entry);
        }
        for (concept, class, members) in MEMBERS {
            let concepts = ConceptSet::of(&[*concept]);
            lexicon.add_all(class, &Entry { concepts, tags: Tag::CLASS, ..Entry::default() });
            lexicon.add_all(members, &Entry { concepts, ..Entry::default() });
        }
        for (concept, names) in PLACES {
            let proper = ConceptSet::of(&[*concept]);
            lexicon.add_all(names, &Entry { proper, tags: Tag::PLACE, ..Entry::default() });
        }
        lexicon.add_all(PEOPLE, &Entry { tags: Tag::GIVEN, ..Entry::default() });
        for (at, (_, concept, words)) in RELATIONS.iter().enumerate() {
            let concepts = concept.map_or(ConceptSet::EMPTY, |concept: Concept| ConceptSet::of(&[concept]));
            let relation = u8::try_from(at + 1).unwrap_or(0);
            lexicon.add_all(words, &Entry { concepts, relation, tags: Tag::RELATION, ..Entry::default() });
        }
        for slot in lexicon.words.values_mut() {
            slot.phrases.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        for words in lexicon.han.values_mut() {
            words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        }
        lexicon
    }

    fn add_all(&mut self, words: &'static str, entry: &Entry) {
        for word in words.split('|').map(str::trim).filter(|word| !word.is_empty()) {
            self.add(word, entry);
        }
    }

    fn add(&mut self, word: &'static str, entry: &Entry) {
        let first = word.chars().next().unwrap_or_default();
        if is_han(first) {
            let words = self.han.entry(first).or_default();
            match words.iter_mut().find(|(known, _)| *known == word) {
                Some((_, known)) => known.add(entry),
                None => words.push((word, *entry)),
            }
            return;
        }
        let mut parts = word.split(' ').flat_map(|part| {
            // As the words of a text are cut: what's is what, 's.
            let cut = ["'s", "'re", "'m", "'ve", "'ll", "'d"].iter().find(|clitic| part.ends_with(**clitic));
            let (left, right) = part.split_at(part.len() - cut.map_or(0, |clitic| clitic.len()));
            [left, right].into_iter().filter(|part| !part.is_empty())
        });
        let first = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        let slot = self.words.entry(first).or_default();
        if rest.is_empty() {
            slot.entry.get_or_insert_default().add(entry);
        } else if let Some((_, known)) = slot.phrases.iter_mut().find(|(known, _)| *known == rest) {
            known.add(entry);
        } else {
            slot.phrases.push((rest, *entry));
        }
    }

    /// The longest Chinese word that a text begins with: its bytes and what is known of it.
    pub(super) fn han_prefix(&self, text: &str, steps: &mut usize) -> Option<(usize, Entry)> {
        let words = self.han.get(&text.chars().next()?)?;
        for (word, entry) in words {
            *steps += 1;
            if text.starts_with(word) {
                return Some((word.len(), *entry));
            }
        }
        None
    }

    /// How many of the words belong to the longest phrase that begins here, and what is known of it.
    pub(super) fn word<'k>(
        &self,
        key: &str,
        following: impl Iterator<Item = &'k str> + Clone,
        steps: &mut usize,
    ) -> (usize, Entry) {
        *steps += 1;
        let Some(slot) = self.words.get(key) else {
            return (1, self.derived(key, steps).unwrap_or_default());
        };
        for (rest, entry) in &slot.phrases {
            let mut words = following.clone();
            let last = rest.len() - 1;
            let matches = rest.iter().enumerate().all(|(at, part)| {
                *steps += 1;
                words.next().is_some_and(|word| {
                    word == *part
                        || (at == last && entry.tags == Tag::NONE && word.strip_suffix('s') == Some(part))
                })
            });
            if matches {
                return (rest.len() + 1, *entry);
            }
        }
        let mut entry = slot.entry.unwrap_or_default();
        if entry.concepts.is_empty()
            && !entry.tags.intersects(Tag::STOP)
            && let Some(derived) = self.derived(key, steps)
        {
            entry.add(&derived);
        }
        (1, entry)
    }

    /// Plurals, "-ing" and "-ed" of words for things.
    fn derived(&self, key: &str, steps: &mut usize) -> Option<Entry> {
        if !(4..=24).contains(&key.len()) || !key.is_ascii() {
            return None;
        }
        let mut known = |base: &str| {
            *steps += 1;
            let entry = self.words.get(base)?.entry?;
            let thing = !entry.concepts.is_empty() || entry.tags.intersects(Tag::RELATION);
            (thing && !entry.tags.intersects(Tag::STOP)).then_some(entry)
        };
        if let Some(base) = key.strip_suffix('s') {
            let base_y = key.strip_suffix("ies").map(|base| format!("{base}y"));
            let base_f = key.strip_suffix("ves").map(|base| format!("{base}f"));
            return known(base)
                .or_else(|| known(key.strip_suffix("es")?))
                .or_else(|| known(&base_y?))
                .or_else(|| known(&base_f?));
        }
        let base = key.strip_suffix("ing").or_else(|| key.strip_suffix("ed"))?;
        let bytes = base.as_bytes();
        if let [.., before, last] = bytes
            && before == last
        {
            return known(&base[..base.len() - 1]).or_else(|| known(base));
        }
        known(&format!("{base}e")).or_else(|| if base.len() > 3 { known(base) } else { None })
    }
}
