//! What a text forbids to recommend, and whether another text recommends it all the same.
//!
//! "Never recommend model B" forbids *model B*, 不要给我推荐海鲜 forbids 海鲜. Only a ban of advice is
//! read: that somebody dislikes a thing, is allergic to it or does not use it says nothing about
//! what may be told of it, and withholding what is innocent does more harm than a recommendation too many.

/// What forbids, with the verb of advice after it; longest first.
const FORBIDS: [&str; 9] = [
    "do not ever ",
    "must not ",
    "should not ",
    "do not ",
    "never ever ",
    "never ",
    "stop ",
    "avoid ",
    "no more ",
];

/// Verbs of advice.
const ADVISE: [&str; 12] = [
    "recommend",
    "recommending",
    "suggest",
    "suggesting",
    "propose",
    "proposing",
    "offer",
    "offering",
    "advise",
    "advising",
    "recommendations of",
    "suggestions of",
];

/// Small words between the verb and its object, and before the ban.
const SMALL: [&str; 14] =
    ["a", "an", "any", "me", "us", "the", "to", "of", "again", "please", "ever", "for", "anything", "my"];
const BEFORE: [&str; 9] = ["please", "you", "i", "we", "and", "but", "kindly", "ever", "just"];

/// Where an object ends.
const ENDS: [&str; 16] = [
    "and", "as", "at", "because", "but", "for", "if", "in", "since", "so", "unless", "when", "while",
    "anymore", "again", "to",
];

/// Bans of advice in Chinese: what forbids, perhaps to whom, the verb.
const FORBIDS_ZH: [&str; 8] = ["千万不要", "绝对不要", "不要", "不许", "不准", "勿", "别", "禁止"];
const BETWEEN_ZH: [&str; 8] = ["再", "给我们", "给我", "给他", "给她", "向我", "跟我", "为我"];
const ADVISE_ZH: [&str; 2] = ["推荐", "建议"];

/// Words of advice and of praise that amounts to it.
const ADVICE: [&str; 20] = [
    "recommend",
    "recommended",
    "recommendation",
    "suggest",
    "suggested",
    "suggestion",
    "try",
    "should",
    "great",
    "best",
    "excellent",
    "perfect",
    "ideal",
    "delicious",
    "popular",
    "wonderful",
    "fantastic",
    "amazing",
    "worth",
    "favourite",
];
const ADVICE_ZH: [&str; 13] =
    ["推荐", "不错", "值得", "试试", "尝尝", "首选", "好吃", "好喝", "很棒", "热门", "人气", "优先", "最好"];
/// A text that has one of these may say the contrary.
const AGAINST: [&str; 12] = [
    "not",
    "never",
    "no",
    "unlike",
    "avoid",
    "without",
    "instead",
    "substitute",
    "than",
    "except",
    "replaced",
    "worse",
];
const AGAINST_ZH: [char; 4] = ['不', '别', '没', '勿'];

/// The thing that a text forbids to recommend, in its own words and lower case; `None` when
/// it forbids nothing that can be named, asks something, or is long.
///
/// ```
/// use memcards::judge::excluded_object;
///
/// assert_eq!(excluded_object("Please never recommend model B.").as_deref(), Some("model b"));
/// assert_eq!(excluded_object("不要给我推荐海鲜").as_deref(), Some("海鲜"));
/// assert_eq!(excluded_object("I hate model B"), None);
/// ```
#[must_use]
pub fn excluded_object(text: &str) -> Option<String> {
    /// A rule is short; a story that has a "not" in it is none.
    const LONGEST: usize = 200;
    let text = text.trim();
    if text.len() > LONGEST || text.ends_with(['?', '？', '吗']) {
        return None;
    }
    english(text).or_else(|| chinese(text))
}

/// True when a text praises or proposes something and says nothing against anything.
#[must_use]
pub fn recommends(text: &str) -> bool {
    let spelled = spelled_out(text);
    let advice = spelled.iter().any(|word| ADVICE.contains(&word.as_str()))
        || ADVICE_ZH.iter().any(|word| text.contains(word));
    advice && !spelled.iter().any(|word| AGAINST.contains(&word.as_str())) && !text.contains(AGAINST_ZH)
}

/// A text in which objects are looked for.
#[derive(Debug)]
pub struct SpokenOf {
    /// Its words with a blank around each, the last letter of a plural left out.
    words: String,
    /// Without blanks, for what is written without them.
    whole: String,
}

impl SpokenOf {
    /// Prepares a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let words: Vec<String> = spelled_out(text).iter().map(|word| singular(word)).collect();
        let whole = text.to_lowercase().split_whitespace().collect();
        Self { words: format!(" {} ", words.join(" ")), whole }
    }

    /// True when it speaks of an object that [`excluded_object`] gave: its words stand in it one
    /// after the other.
    #[must_use]
    pub fn is_about(&self, object: &str) -> bool {
        if !object.is_ascii() {
            let object: String = object.split_whitespace().collect();
            return object.chars().count() > 1 && self.whole.contains(&object);
        }
        let words: Vec<String> = spelled_out(object).iter().map(|word| singular(word)).collect();
        !words.is_empty() && self.words.contains(&format!(" {} ", words.join(" ")))
    }
}

fn singular(word: &str) -> String {
    let ending = |ending: &str, with: &str| word.strip_suffix(ending).map(|stem| format!("{stem}{with}"));
    let short = word.len() <= 3 || word.ends_with("ss");
    let found = (!short).then(|| ending("ies", "y").or_else(|| ending("s", ""))).flatten();
    found.unwrap_or_else(|| word.to_owned())
}

/// The words of a text in lower case, with "don't" and its like written out.
fn spelled_out(text: &str) -> Vec<String> {
    let lower =
        text.to_lowercase().replace('’', "'").replace("can't", "can not").replace("won't", "will not");
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'')
        .filter(|word| !word.is_empty())
        .flat_map(|word| match word.strip_suffix("n't") {
            Some(verb) => vec![verb.to_owned(), "not".to_owned()],
            None => vec![word.to_owned()],
        })
        .collect()
}

fn english(text: &str) -> Option<String> {
    for clause in text.split(['.', ',', ';', '!', ':', '\n', '—']) {
        let words = spelled_out(clause);
        let start = words.iter().take_while(|word| BEFORE.contains(&word.as_str())).count();
        let clause = format!("{} ", words[start..].join(" "));
        // The ban begins the clause: what somebody else must not do is no rule of the user's.
        let after = FORBIDS.iter().find_map(|forbids| clause.strip_prefix(forbids));
        let advised = after.and_then(|rest| {
            let rest = rest.strip_prefix("ever ").unwrap_or(rest);
            ADVISE.iter().find_map(|verb| rest.strip_prefix(verb)?.strip_prefix(' '))
        });
        let Some(rest) = advised else { continue };
        let object: Vec<&str> = rest
            .split(' ')
            .filter(|word| !word.is_empty())
            .skip_while(|word| SMALL.contains(word))
            .take_while(|word| !ENDS.contains(word))
            .collect();
        // A thing has a short name.
        if (1..=5).contains(&object.len()) {
            return Some(object.join(" "));
        }
    }
    None
}

fn chinese(text: &str) -> Option<String> {
    for clause in text.split(['。', '，', '；', '！', '、', '\n', ',', '.', '!', ';']) {
        let clause = clause.trim().trim_start_matches("请").trim_start_matches("以后");
        let Some(mut rest) = FORBIDS_ZH.iter().find_map(|forbids| clause.strip_prefix(forbids)) else {
            continue;
        };
        while let Some(shorter) = BETWEEN_ZH.iter().find_map(|word| rest.strip_prefix(word)) {
            rest = shorter;
        }
        let Some(rest) = ADVISE_ZH.iter().find_map(|verb| rest.strip_prefix(verb)) else { continue };
        let rest = rest.trim_start_matches("任何").trim_start_matches("给我");
        let end = rest.find(['的', '了', '啊', '吧', '哦', '呢']).unwrap_or(rest.len());
        let object = rest[..end].trim().to_lowercase();
        if (2..=10).contains(&object.chars().count()) {
            return Some(object);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_not_be_recommended_is_named() {
        for (text, object) in [
            ("Never recommend model B", Some("model b")),
            ("Please don't suggest seafood restaurants.", Some("seafood restaurants")),
            ("Don't recommend seafood to me.", Some("seafood")),
            ("Don't recommend me any seafood", Some("seafood")),
            ("Stop recommending crypto to me.", Some("crypto")),
            ("Don't you ever recommend crypto to me again!", None),
            ("不要给我推荐海鲜", Some("海鲜")),
            ("请勿推荐B型号。", Some("b型号")),
            ("别再给我推荐海鲜了", Some("海鲜")),
            // Dislikes, allergies, habits and what others do are no bans of advice.
            ("No e-mail, please", None),
            ("I can't stand coriander", None),
            ("I'm allergic to peanuts.", None),
            ("I hate my job.", None),
            ("Mum hates garlic.", None),
            ("No thanks.", None),
            ("My dog must not eat chocolate.", None),
            ("Do not forget to use the blue form", None),
            ("Tom says: the doctor should not recommend pills", None),
            ("Why not recommend peanuts?", None),
            ("我不喜欢香菜", None),
            ("我不喝酒", None),
            ("我特别喜欢香菜", None),
            ("别忘了带伞", None),
            ("", None),
        ] {
            assert_eq!(excluded_object(text).as_deref(), object, "{text}");
        }
    }

    #[test]
    fn an_object_is_its_words_one_after_the_other() {
        for (text, object, speaks) in [
            ("The Harbour Grill is the best seafood restaurant", "seafood restaurants", true),
            ("A restaurant with good seafood", "seafood restaurant", false),
            ("A steak house", "seafood restaurant", false),
            ("这家的海鲜很不错", "海鲜", true),
            ("这家的面很不错", "海鲜", false),
            ("推荐B 型号", "b型号", true),
            ("我最喜欢的酒店", "酒", false),
            ("Model B is the better printer", "model b", true),
            ("I recommend plan B: take a model train", "model b", false),
            ("anything", "", false),
        ] {
            assert_eq!(SpokenOf::of(text).is_about(object), speaks, "{text}");
        }
    }

    #[test]
    fn praise_and_advice_are_told_from_news_and_warnings() {
        for (text, advice) in [
            ("I recommend model B for photos", true),
            ("这家的海鲜值得一试", true),
            ("Model B broke down yesterday", false),
            ("Model A is the best; unlike model B it never jams.", false),
            ("Sushi is not worth the money", false),
            ("昨天去了海鲜市场", false),
        ] {
            assert_eq!(recommends(text), advice, "{text}");
        }
    }
}
