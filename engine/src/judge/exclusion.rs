//! What a text rules out, and whether another text recommends it all the same.
//!
//! "Never recommend model B" rules out *model B*, 不要给我推荐海鲜 rules out 海鲜. A text
//! that praises such a thing or proposes it must not be put before a reader as advice.

/// What begins an exclusion in English, and whether its object may follow at once; else a
/// verb of [`DENIED`] must: "I do not *use* model B", but not "it is not good".
const FORBIDS: [(&[&str], bool); 18] = [
    (&["allergic", "to"], true),
    (&["intolerant", "to"], true),
    (&["stay", "away", "from"], true),
    (&["can", "not", "stand"], true),
    (&["can", "not", "bear"], true),
    (&["no", "more"], true),
    (&["avoid"], true),
    (&["hate"], true),
    (&["hates"], true),
    (&["dislike"], true),
    (&["dislikes"], true),
    (&["exclude"], true),
    (&["must", "not"], false),
    (&["should", "not"], false),
    (&["do", "not"], false),
    (&["does", "not"], false),
    (&["can", "not"], false),
    (&["never"], false),
];

/// Verbs whose denial rules their object out.
const DENIED: [&str; 29] = [
    "again",
    "book",
    "buy",
    "call",
    "choose",
    "contact",
    "drink",
    "eat",
    "ever",
    "give",
    "like",
    "love",
    "mention",
    "offer",
    "order",
    "pick",
    "play",
    "propose",
    "recommend",
    "sell",
    "send",
    "serve",
    "show",
    "suggest",
    "touch",
    "try",
    "use",
    "want",
    "wear",
];

/// Verbs and small words between a prohibition and its object.
const BETWEEN: [&str; 51] = [
    "a",
    "again",
    "an",
    "any",
    "anything",
    "book",
    "buy",
    "call",
    "choose",
    "contact",
    "containing",
    "drink",
    "eat",
    "ever",
    "for",
    "from",
    "give",
    "her",
    "him",
    "it",
    "like",
    "love",
    "made",
    "me",
    "mention",
    "my",
    "of",
    "offer",
    "order",
    "pick",
    "play",
    "propose",
    "recommend",
    "sell",
    "send",
    "serve",
    "show",
    "suggest",
    "the",
    "them",
    "to",
    "try",
    "us",
    "use",
    "using",
    "want",
    "wear",
    "with",
    "you",
    "touch",
    "recommending",
];

/// Where an object ends in English.
const ENDS: [&str; 16] = [
    "to", "again", "and", "as", "at", "because", "but", "for", "if", "in", "since", "so", "unless", "when",
    "while", "anymore",
];

/// What begins an exclusion in Chinese, the longer ones first, and whether its object may
/// follow at once; else a verb of [`DENIED_ZH`] must.
const FORBIDS_ZH: [(&str, bool); 19] = [
    ("千万不要", true),
    ("绝对不要", true),
    ("不喜欢", true),
    ("不可以", false),
    ("不允许", false),
    ("不能", false),
    ("不要", true),
    ("不想", false),
    ("不许", false),
    ("不准", false),
    ("不吃", true),
    ("不喝", true),
    ("不用", false),
    ("讨厌", true),
    ("避免", true),
    ("禁止", true),
    ("拒绝", true),
    ("忌口", true),
    ("别", false),
];

/// Verbs whose denial rules their object out.
const DENIED_ZH: [&str; 16] = [
    "再", "给我", "给他", "给她", "推荐", "建议", "安排", "提", "发", "打", "用", "吃", "喝", "点", "买",
    "订",
];

/// Verbs and small words between a prohibition and its object.
const BETWEEN_ZH: [&str; 40] = [
    "再", "给", "我", "我们", "他", "她", "推荐", "建议", "安排", "提", "提到", "发", "发送", "打", "用",
    "使用", "吃", "喝", "点", "买", "订", "选", "放", "加", "去", "做", "任何", "有", "看", "听", "穿", "带",
    "跟", "和", "把", "让", "的", "了", "含", "含有",
];

/// Where an object ends in Chinese.
const ENDS_ZH: [char; 7] = ['的', '了', '啊', '吧', '哦', '呢', '因'];

/// After a prohibition these make something else of it: "do not forget", "no problem".
const HARMLESS: [&str; 24] = [
    "forget", "worry", "hesitate", "miss", "problem", "problems", "doubt", "idea", "matter", "only", "just",
    "sure", "longer", "one", "know", "mind", "think", "wait", "need", "have", "sooner", "less", "yet",
    "stop",
];
const HARMLESS_ZH: [&str; 12] =
    ["忘", "担心", "着急", "客气", "介意", "急", "错过", "知道", "人", "处", "墅", "致"];

/// Words of praise and advice.
const ADVICE: [&str; 36] = [
    "recommend",
    "recommended",
    "recommendation",
    "suggest",
    "suggested",
    "suggestion",
    "try",
    "should",
    "could",
    "great",
    "best",
    "good",
    "excellent",
    "perfect",
    "ideal",
    "favourite",
    "favorite",
    "love",
    "loves",
    "enjoy",
    "enjoys",
    "like",
    "likes",
    "delicious",
    "popular",
    "wonderful",
    "fantastic",
    "amazing",
    "worth",
    "choose",
    "pick",
    "use",
    "prefer",
    "prefers",
    "better",
    "nice",
];
const ADVICE_ZH: [&str; 23] = [
    "推荐",
    "建议",
    "不错",
    "值得",
    "最好",
    "适合",
    "可以试",
    "试试",
    "尝尝",
    "首选",
    "喜欢",
    "爱吃",
    "爱喝",
    "最爱",
    "好吃",
    "好喝",
    "好用",
    "很棒",
    "热门",
    "人气",
    "经典",
    "优先",
    "选择",
];

/// The thing that a text rules out, in its own words and lower case; `None` when it rules
/// out nothing that can be named, asks something, or is long.
///
/// ```
/// use memcards::judge::excluded_object;
///
/// assert_eq!(excluded_object("Please never recommend model B.").as_deref(), Some("model b"));
/// assert_eq!(excluded_object("不要给我推荐海鲜").as_deref(), Some("海鲜"));
/// assert_eq!(excluded_object("I love model B"), None);
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

/// True when a text praises or proposes something.
#[must_use]
pub fn recommends(text: &str) -> bool {
    let lower = text.to_lowercase();
    ADVICE_ZH.iter().any(|word| lower.contains(word)) || words(&lower).any(|word| ADVICE.contains(&word))
}

/// True when a text speaks of an object that [`excluded_object`] gave: all of its words
/// stand in it, in any order; what is written without spaces stands in it as it is.
#[must_use]
pub fn speaks_of(text: &str, object: &str) -> bool {
    let text = text.to_lowercase();
    if !object.is_ascii() {
        return object.split_whitespace().all(|part| text.contains(part));
    }
    let found: Vec<String> = words(&text).map(singular).collect();
    !object.is_empty() && object.split_whitespace().all(|word| found.contains(&singular(word)))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'').filter(|word| !word.is_empty())
}

fn singular(word: &str) -> String {
    let ending = |ending: &str, with: &str| word.strip_suffix(ending).map(|stem| format!("{stem}{with}"));
    let short = word.len() <= 3 || word.ends_with("ss");
    let found = (!short).then(|| ending("ies", "y").or_else(|| ending("s", ""))).flatten();
    found.unwrap_or_else(|| word.to_owned())
}

/// The words of a text with "don't" and its like written out.
fn spelled_out(lower: &str) -> Vec<String> {
    let lower = lower.replace('’', "'").replace("can't", "can not").replace("won't", "will not");
    words(&lower)
        .flat_map(|word| match word.strip_suffix("n't") {
            Some(verb) => vec![verb.to_owned(), "not".to_owned()],
            None => vec![word.to_owned()],
        })
        .collect()
}

fn english(text: &str) -> Option<String> {
    for clause in text.to_lowercase().split(['.', ',', ';', '!', ':', '\n', '—']) {
        let words = spelled_out(clause);
        let starts_with = |at: usize, mark: &[&str]| {
            words.len() >= at + mark.len() && mark.iter().zip(&words[at..]).all(|(a, b)| a == b)
        };
        let forbidden = (0..words.len()).find_map(|at| {
            // A clause that begins with "no" is a rule: "no e-mail, please".
            let (length, strong) = match FORBIDS.iter().find(|(mark, _)| starts_with(at, mark)) {
                Some((mark, strong)) => (mark.len(), *strong),
                None if at == 0 && words[0] == "no" => (1, true),
                None => return None,
            };
            let denied = words.get(at + length).is_some_and(|word| DENIED.contains(&word.as_str()));
            (strong || denied).then_some(at + length)
        });
        let Some(mut at) = forbidden else { continue };
        if words.get(at).is_some_and(|word| HARMLESS.contains(&word.as_str())) {
            continue;
        }
        while words.get(at).is_some_and(|word| BETWEEN.contains(&word.as_str())) {
            at += 1;
        }
        let object: Vec<&str> =
            words[at..].iter().map(String::as_str).take_while(|word| !ENDS.contains(word)).collect();
        // A thing has a short name.
        if (1..=4).contains(&object.len()) {
            return Some(object.join(" "));
        }
    }
    None
}

fn chinese(text: &str) -> Option<String> {
    for clause in text.split(['。', '，', '；', '！', '、', '\n', ',', '.', '!', ';']) {
        // 对花生过敏
        if let Some((before, _)) = clause.split_once("过敏") {
            let object = before.rsplit(['对', '我', '她', '他', '是']).next().unwrap_or_default();
            if let Some(object) = object_zh(object) {
                return Some(object);
            }
        }
        let found = FORBIDS_ZH.iter().filter_map(|(mark, strong)| {
            let start = clause.find(mark)?;
            let rest = &clause[start + mark.len()..];
            let denied = *strong || DENIED_ZH.iter().any(|verb| rest.starts_with(verb));
            denied.then_some((start, mark.len()))
        });
        // The first mark of the clause; of those at one place the longest.
        let Some((start, length)) = found.min_by_key(|(start, length)| (*start, usize::MAX - length)) else {
            continue;
        };
        // 特别, 区别, 分别 are no prohibitions.
        if clause[..start].ends_with(['特', '区', '分', '个', '级', '性', '类', '告', '差']) {
            continue;
        }
        let mut rest = &clause[start + length..];
        if HARMLESS_ZH.iter().any(|word| rest.starts_with(word)) {
            continue;
        }
        while let Some(shorter) = longest_prefix(rest) {
            rest = shorter;
        }
        if let Some(object) = object_zh(rest) {
            return Some(object);
        }
    }
    None
}

/// What is left without the longest of the words between a prohibition and its object.
fn longest_prefix(text: &str) -> Option<&str> {
    let found = BETWEEN_ZH.iter().filter(|word| text.starts_with(**word)).max_by_key(|word| word.len())?;
    Some(&text[found.len()..])
}

fn object_zh(text: &str) -> Option<String> {
    let end = text.find(ENDS_ZH).unwrap_or(text.len());
    let object = text[..end].trim().to_lowercase();
    (1..=8).contains(&object.chars().count()).then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ruled_out_is_named() {
        for (text, object) in [
            ("Never recommend model B", Some("model b")),
            ("Please don't suggest seafood restaurants.", Some("seafood restaurants")),
            ("Don't recommend seafood to me.", Some("seafood")),
            ("No e-mail, please", Some("e-mail")),
            ("I can't stand coriander", Some("coriander")),
            ("I'm allergic to peanuts.", Some("peanuts")),
            ("Avoid the night bus", Some("night bus")),
            ("Stay away from Route 9", Some("route 9")),
            ("Do not forget to use the blue form", None),
            ("No problem", None),
            ("I love peanuts", None),
            ("Why not peanuts?", None),
            ("Don't worry about the keys", None),
            ("不要给我推荐海鲜", Some("海鲜")),
            ("我对花生过敏", Some("花生")),
            ("别再给我打电话了", Some("电话")),
            ("我不吃香菜", Some("香菜")),
            ("我特别喜欢香菜", None),
            ("别忘了带伞", None),
            ("不要担心", None),
            ("我喜欢海鲜", None),
            ("The new model is not good", None),
            ("I cannot come on Monday", None),
            ("There is no train on Sundays", None),
            ("He does not have the keys", None),
            ("我不能去北京", None),
            ("这个版本不能用了", None),
            ("", None),
        ] {
            assert_eq!(excluded_object(text).as_deref(), object, "{text}");
        }
    }

    #[test]
    fn an_object_is_recognised_in_other_words_order_and_number() {
        for (text, object, speaks) in [
            ("The Harbour Grill is the best seafood restaurant", "seafood restaurants", true),
            ("A restaurant with good seafood", "seafood restaurant", true),
            ("A steak house", "seafood restaurant", false),
            ("这家的海鲜很不错", "海鲜", true),
            ("这家的面很不错", "海鲜", false),
            ("Model B is the better printer", "model b", true),
            ("Model C is the better printer", "model b", false),
            ("anything", "", false),
        ] {
            assert_eq!(speaks_of(text, object), speaks, "{text}");
        }
    }

    #[test]
    fn praise_and_advice_are_told_from_news() {
        for (text, advice) in [
            ("I recommend model B for photos", true),
            ("这家的海鲜值得一试", true),
            ("Model B broke down yesterday", false),
            ("昨天去了海鲜市场", false),
        ] {
            assert_eq!(recommends(text), advice, "{text}");
        }
    }
}
