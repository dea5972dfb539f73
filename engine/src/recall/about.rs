//! All cards about somebody or something, for forgetting them: by name, not by likeness.
//!
//! What is forgotten on request must be what was meant, so nothing is taken for being near in
//! meaning: a card is about a thing when it names it (as an entity, in its fact, at an end of
//! a relation, in tags or merge key) or when its text holds the name as whole words. Other
//! names that are known for the thing count as well. A Chinese name that goes on with a character
//! of which names are made is another one (张伟丽 is not 张伟): where nothing but that says so, the
//! card is left out and named, so that a person can decide.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use crate::card::{Card, CardId};
use crate::engine::Tenant;
use crate::graph::{is_given_character, is_surname_character};
use crate::index::text::{Role, analyze_query};
use crate::judge::name_key;
use crate::recall::cold;
use crate::recall::relations::{Relations, names, slots};
use crate::recall::{Include, View};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Cards about a thing, in order of their identifiers.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) cards: Vec<CardId>,
    /// Those that were left out because the name seems to be a part of a longer one there.
    pub(crate) unsure: Vec<CardId>,
}

/// The cards about a thing, in every visible state.
///
/// # Errors
/// [`Error::InvalidArgument`] on `about` when it is empty, or holds no word to look for.
pub(crate) fn find(tenant: &Tenant, about: &str, now: Timestamp) -> Result<About> {
    tenant.store().limits().name("about", about)?;
    let phrase = Phrase::of(about);
    if phrase.0.is_empty() {
        return Err(Error::invalid("about", "holds no word to look for"));
    }
    let Some(slots) = slots(tenant)? else { return Ok(About::default()) };
    let include = [Include::Superseded, Include::Archived, Include::Candidates];
    let view = View::new(tenant.life_rules()?, &include, None, None, now).at_any_age();
    let (mut found, mut unsure): (BTreeSet<CardId>, Vec<CardId>) = Default::default();
    let mut phrases = vec![(about.to_owned(), phrase)];
    {
        let relations = Relations::new(&slots, &view)?;
        for (key, spelled) in names(&relations, name_key(about)) {
            found.extend(relations.cards(&key).map(|card| card.id));
            if !spelled.is_empty() {
                let phrase = Phrase::of(&spelled);
                phrases.push((spelled, phrase));
            }
        }
    }
    let mut candidates: BTreeSet<CardId> = BTreeSet::new();
    for slot in &slots {
        let partition = slot.read()?;
        let judge = view.on(&partition);
        let shows = |row: u32| judge.shows(row);
        for (text, phrase) in phrases.iter().filter(|(_, phrase)| !phrase.0.is_empty()) {
            // Every card whose text holds the words has their terms; the rarest is enough to start from.
            let terms = analyze_query(text);
            let postings = terms.terms().iter().filter(|term| term.role != Role::Secondary);
            let rarest = postings.map(|term| partition.text().postings(&term.text)).min_by_key(|p| p.len());
            let rows: Vec<u32> = match rarest {
                Some(rarest) => rarest.iter().map(|(row, _)| row).collect(),
                // A name that is a function word as well ("Will"): every text is looked into.
                None => (0..partition.len() as u32).collect(),
            };
            candidates
                .extend(rows.into_iter().filter(|row| shows(*row)).map(|row| partition.row(row).card.id));
            // These need not be words of the text.
            let tagged = |row: &u32| {
                let card = &partition.row(*row).card;
                let texts =
                    card.tags.iter().chain(&card.merge_key).chain(card.fact.iter().map(|fact| &fact.value));
                let held = card.attributes.values().filter_map(|value| value.as_str());
                shows(*row) && texts.map(String::as_str).chain(held).any(|text| phrase.is_in(text))
            };
            found.extend((0..partition.len() as u32).filter(tagged).map(|row| partition.row(row).card.id));
        }
    }
    if let Some(id) = tenant.id()? {
        let tables = tenant.store().database().read()?;
        for (text, phrase) in phrases.iter().filter(|(_, phrase)| !phrase.0.is_empty()) {
            let key = name_key(text);
            for id_of_cold in cold::with_words(tenant, &tables, id, text)? {
                let card = tables.card(id, id_of_cold)?.filter(|card| view.shows(card));
                let Some(card) = card else { continue };
                if is_named(&card, &key, phrase) {
                    found.insert(id_of_cold);
                } else {
                    candidates.insert(id_of_cold);
                }
            }
        }
        for candidate in candidates.difference(&found.clone()) {
            let card = tables.card(id, *candidate)?;
            let about = |card: &Card, cuts: bool| {
                let texts = [Some(&card.content), card.summary.as_ref()];
                let mentions = card.mentions.iter().map(|mention| &mention.name);
                let names: Vec<&str> = card.entities.iter().chain(mentions).map(String::as_str).collect();
                texts.into_iter().flatten().any(|text| {
                    phrases.iter().any(|(_, phrase)| {
                        let text = without_longer(text, phrase, &names);
                        match cuts && phrase.0.len() == 2 {
                            true => phrase.is_in(&without_longer_chinese(&text)),
                            false => phrase.is_in(&text),
                        }
                    })
                })
            };
            match card {
                Some(card) if about(&card, true) => {
                    found.insert(*candidate);
                }
                Some(card) if about(&card, false) => unsure.push(*candidate),
                _ => {}
            }
        }
    }
    Ok(About { cards: found.into_iter().collect(), unsure })
}

/// True when a card that no partition holds names a thing in one of its fields.
fn is_named(card: &Card, key: &str, phrase: &Phrase) -> bool {
    let ends = card.fact.iter().flat_map(|fact| [&fact.entity, &fact.value]);
    let mentions = card.mentions.iter().map(|mention| &mention.name);
    let held = card.attributes.values().filter_map(|value| value.as_str());
    let texts = card.tags.iter().chain(&card.merge_key).chain(card.fact.iter().map(|fact| &fact.value));
    ends.chain(&card.entities).chain(mentions).any(|name| name_key(name) == *key)
        || texts.map(String::as_str).chain(held).any(|text| phrase.is_in(text))
}

/// A text without the names in it that only begin or end like the phrase, or hold it: Mary Ann Evans
/// is not Ann.
fn without_longer(text: &str, phrase: &Phrase, names: &[&str]) -> String {
    let mut text = text.to_owned();
    let mut longer: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| {
            let words = words(name);
            words.len() > phrase.0.len() && phrase.is_in(name)
        })
        .collect();
    longer.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in longer {
        text = text.replace(name, " ␀ ");
    }
    text
}

/// Words that begin with a character of which given names are made: 张伟明天来 is about 张伟.
const AFTER_NAMES: [&str; 64] = [
    "明天", "明年", "明早", "明晚", "明白", "明明", "明确", "平时", "平常", "安排", "安装", "安静", "国庆",
    "国外", "强调", "超过", "然后", "宁可", "宁愿", "红包", "红色", "志愿", "华为", "英语", "英国", "英文",
    "阳台", "敏感", "静静", "军训", "勇敢", "欣赏", "博士", "博客", "思考", "思想", "雨天", "晨跑", "天天",
    "天气", "健身", "健康", "云南", "春天", "春节", "秋天", "冬天", "冬季", "春季", "秋季", "景点", "文章",
    "文件", "建议", "建立", "海边", "海鲜", "东西", "飞往", "飞到", "航班", "龙舟", "美国", "玉米",
];

/// A text without the Chinese names that go on where a name of two characters would end.
fn without_longer_chinese(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        let name = match rest {
            [surname, given, more, ..] => {
                let word: String = rest.iter().skip(2).take(2).collect();
                is_surname_character(*surname)
                    && is_given_character(*given)
                    && is_given_character(*more)
                    && !AFTER_NAMES.contains(&word.as_str())
            }
            _ => false,
        };
        match name {
            true => {
                out.push('␀');
                at += 3;
            }
            false => {
                out.push(characters[at]);
                at += 1;
            }
        }
    }
    out
}

/// First names that are words as well: given with a capital, they need one. Bill is not the bill.
const NAMES_AND_WORDS: [&str; 56] = [
    "amber",
    "april",
    "art",
    "august",
    "autumn",
    "bill",
    "bob",
    "chase",
    "chip",
    "christian",
    "crystal",
    "daisy",
    "dawn",
    "dick",
    "drew",
    "earl",
    "ernest",
    "faith",
    "frank",
    "gene",
    "grace",
    "grant",
    "guy",
    "heather",
    "holly",
    "hope",
    "hunter",
    "iris",
    "ivy",
    "jack",
    "joy",
    "june",
    "lily",
    "mark",
    "mason",
    "max",
    "may",
    "miles",
    "nick",
    "olive",
    "pat",
    "penny",
    "ray",
    "rich",
    "rob",
    "robin",
    "rose",
    "ruby",
    "sandy",
    "sky",
    "stew",
    "sue",
    "summer",
    "violet",
    "wade",
    "will",
];

/// Words in a row, without an English plural's or owner's ending.
struct Phrase(Vec<String>);

impl Phrase {
    fn of(text: &str) -> Self {
        Self(words(text))
    }

    /// True when a text holds these words one after the other.
    fn is_in(&self, text: &str) -> bool {
        let fits = |(wanted, found): (&String, &String)| {
            let lower = wanted.to_lowercase();
            let is_name = lower != *wanted && NAMES_AND_WORDS.contains(&lower.as_str());
            lower == found.to_lowercase() && (!is_name || found.chars().any(char::is_uppercase))
        };
        !self.0.is_empty()
            && words(text).windows(self.0.len()).any(|window| self.0.iter().zip(window).all(fits))
    }
}

/// The words of a text; a character of a script without blanks is a word of its own.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            let plain = word.strip_suffix("'s").unwrap_or(word);
            let singular = plain.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
            words.push(singular.unwrap_or(plain).to_owned());
            word.clear();
        }
    };
    for c in text.nfkc().map(|c| if c == '’' { '\'' } else { c }) {
        if is_unspaced(c) {
            end(&mut word, &mut words);
            words.push(c.to_string());
        } else if c.is_alphanumeric() || (matches!(c, '\'' | '+' | '#') && !word.is_empty()) {
            word.push(c);
        } else {
            end(&mut word, &mut words);
        }
    }
    end(&mut word, &mut words);
    words
}

/// Han, kana, Hangul, Thai: written without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_count_and_nothing_else() {
        for (phrase, text, expected) in [
            ("Anna", "ANNA has the keys", true),
            ("Anna", "Annabel has the keys", false),
            ("blue car", "Two Blue cars were sold.", true),
            ("Bill", "Will called Bill's sister", true),
            ("Bill", "I will pay the bill", false),
            ("bill", "BILL called", true),
            ("O'Neil", "o’neil", true),
            ("o'neil", "Ask O’Neil", true),
            ("blue car", "My blue bag is in the car.", false),
            ("王芳", "王芳喜欢茶", true),
            ("王芳", "王小芳喜欢茶", false),
            ("INC-90312", "see INC-90312.", true),
            ("INC-90312", "see INC-903123", false),
            ("C++", "C is a letter", false),
            ("C++", "written in C++", true),
        ] {
            assert_eq!(Phrase::of(phrase).is_in(text), expected, "{phrase} in {text}");
        }
        assert!(Phrase::of("?!").0.is_empty());
        let ann = Phrase::of("Ann");
        assert!(!ann.is_in(&without_longer("Mary Ann Evans wrote", &ann, &["Mary Ann Evans"])));
        assert!(ann.is_in(&without_longer("Ann met Mary Ann Evans", &ann, &["Mary Ann Evans", "Ann"])));
        let zhang = Phrase::of("张伟");
        assert!(!zhang.is_in(&without_longer("张伟丽住在北京", &zhang, &["张伟丽"])));
        for (text, expected) in [
            ("张伟丽住在北京", false),
            ("昨天见了张伟丽", false),
            ("昨天见了张伟", true),
            ("张伟说他不去", true),
            ("张伟明天来", true),
            ("张伟明来了", false),
            ("张伟丽和张伟是同事", true),
        ] {
            assert_eq!(zhang.is_in(&without_longer_chinese(text)), expected, "{text}");
        }
    }
}
