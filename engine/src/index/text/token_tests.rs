//! What the analyzer makes of text, as tables.

use proptest::prelude::*;

use super::tokens::{Role, TermKind, analyze_document, analyze_query};

fn document(text: &str) -> Vec<String> {
    analyze_document(text).iter().map(|(term, _)| term.to_owned()).collect()
}

fn query(text: &str) -> Vec<String> {
    let terms = analyze_query(text);
    terms.terms().iter().filter(|t| t.role == Role::Primary).map(|t| t.text.clone()).collect()
}

fn sorted(terms: &[&str]) -> Vec<String> {
    let mut terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
    terms.sort();
    terms
}

#[test]
fn documents() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        (" \u{0}\u{7}.,;!? —…", &[]),
        // English
        ("Running runners ran", &["run", "runner", "ran"]),
        ("don't DON’T dont", &["dont"]),
        ("the cat's toy, Anna's cats'", &["the", "cat", "toy", "anna"]),
        ("we'll they're I've I'm", &["we", "they", "i"]),
        ("O'Brien said o'clock", &["obrien", "said", "oclock"]),
        ("well-known state-of-the-art", &["well", "known", "state", "of", "the", "art"]),
        ("U.S.A. e.g. USA", &["usa", "eg"]),
        ("and/or", &["and", "or"]),
        // other alphabets
        ("l'amour d’été", &["l", "amour", "d", "été"]),
        ("Санкт-Петербург ЁЛКА", &["санкт", "петербург", "ёлка"]),
        ("STRASSE Straße", &["strass", "straße"]),
        ("ΟΔΟΣ οδός", &["οδοσ", "οδόσ"]),
        ("İstanbul", &["istanbul"]),
        ("שָׁלוֹם עולם", &["שלום", "עולם"]),
        ("السَّلامُ عليكم", &["السلام", "عليكم"]),
        ("\u{202b}שלום\u{202c} abc", &["שלום", "abc"]),
        ("हिन्दी भाषा", &["हिन्दी", "भाषा"]),
        // numbers
        ("3.5 2023 1,200 1,234.50 3,5", &["3.5", "2023", "1200", "1234.50", "3", "5"]),
        ("10:30", &["10:30", "10", "30"]),
        ("5km 3rd", &["5km", "5", "km", "3rd", "3", "rd"]),
        ("٢٠٢٣ ２０２３", &["2023"]),
        // identifiers
        ("INC-90312", &["inc-90312", "inc", "90312"]),
        ("A1603.", &["a1603", "a", "1603"]),
        ("user_id", &["user_id", "user", "id"]),
        ("v1.2.3", &["v1.2.3", "1.2.3", "v1", "v", "1", "2", "3"]),
        ("foo@bar.com,", &["foo@bar.com", "foo", "bar", "com"]),
        ("2023-05-08", &["2023-05-08", "2023", "05", "08"]),
        ("C++, C# and c", &["c++", "c#", "c", "and"]),
        ("R&D", &["r&d", "r", "d"]),
        ("src/main.rs", &["src", "main.rs", "main", "rs"]),
        ("3f2a9c1b77", &["3f2a9c1b77"]),
        ("3f2a9c-1b77e2", &["3f2a9c-1b77e2", "3f2a9c", "1b77e2"]),
        // Han, kana, Hangul
        ("我喜欢猫", &["我", "我喜", "喜", "喜欢", "欢", "欢猫", "猫"]),
        ("东北 京剧", &["东", "东北", "北", "京", "京剧", "剧"]),
        ("东北，京剧", &["东", "东北", "北", "京", "京剧", "剧"]),
        ("東京タワー", &["東", "東京", "京", "京タ", "タ", "タワ", "ワ", "ワー", "ー"]),
        ("ﾀﾜｰ", &["タ", "タワ", "ワ", "ワー", "ー"]),
        ("한국 음식", &["한", "한국", "국", "음", "음식", "식"]),
        ("2023年", &["2023", "年"]),
        ("用Python写", &["用", "python", "写"]),
        ("猫abc狗", &["猫", "abc", "狗"]),
        ("แมว", &["แ", "แม", "ม", "มว", "ว"]),
        // invisible characters
        ("pass\u{ad}word \u{feff}a\u{200d}b", &["password", "ab"]),
        ("foo\u{200b}bar foo\u{1}bar", &["foo", "bar"]),
        ("猫\u{200b}狗", &["猫", "狗"]),
        ("می\u{200c}خواهم", &["میخواهم"]),
        // emoji
        ("great😀👍🏽", &["great", "😀", "👍"]),
        ("❤️ ⭐", &["❤", "⭐"]),
        ("👨‍👩‍👧", &["👨", "👩", "👧"]),
        ("🇩🇪🇫🇷🇮", &["🇩🇪", "🇫🇷", "🇮"]),
        ("1️⃣", &["1"]),
    ];
    for (text, expected) in table {
        assert_eq!(document(text), sorted(expected), "{text:?}");
    }
}

#[test]
fn lengths_count_text_once() {
    for (text, length) in
        [("", 0), ("a big cat", 3), ("我喜欢猫", 3), ("猫", 1), ("INC-90312 x", 2), ("한국 음식", 2)]
    {
        assert_eq!(analyze_document(text).length(), length, "{text:?}");
    }
    let terms = analyze_document("cat 猫猫猫 Cats");
    assert_eq!(terms.iter().collect::<Vec<_>>(), [("cat", 2), ("猫", 3), ("猫猫", 2)]);
}

#[test]
fn questions() {
    let table: &[(&str, &[&str])] = &[
        ("What is the capital of France?", &["capit", "franc"]),
        ("Where did Caroline's dog go?", &["carolin", "dog", "go"]),
        ("status of INC-90312", &["status", "inc-90312"]),
        ("version 3.5", &["version", "3.5"]),
        ("什么颜色", &["颜色"]),
        ("京剧是什么", &["京剧", "剧是"]),
        ("猫", &["猫"]),
        ("我的猫呢", &["的猫", "猫呢", "猫"]),
        ("2023年", &["2023"]),
        ("寿司が好きですか", &["寿司", "司が", "が好", "好き"]),
        ("고양이는 어디에 있어", &["고양", "양이", "이는", "있어"]),
        ("😀 when", &["😀"]),
        ("dogs dog DOG", &["dog"]),
    ];
    for (text, expected) in table {
        assert_eq!(query(text), *expected, "{text:?}");
    }
}

#[test]
fn questions_of_nothing_but_function_words_are_empty() {
    for text in [
        "",
        "  ",
        "的",
        "??",
        "what is the",
        "什么",
        "你是谁",
        "The",
        "-",
        "\u{200d}",
        "'",
        "...",
        "我 的",
        "何ですか",
    ] {
        assert!(analyze_query(text).is_empty(), "{text:?} {:?}", analyze_query(text));
    }
    assert!(!analyze_query("猫").is_empty());
}

#[test]
fn kinds_roles_and_weights() {
    let terms = analyze_query("INC-90312 猫狗 的士 2023 😀 hat");
    let find = |text: &str| terms.terms().iter().find(|t| t.text == text).map(|t| (t.kind, t.role, t.weight));
    assert_eq!(find("inc-90312"), Some((TermKind::Identifier, Role::Primary, 1.0)));
    assert_eq!(find("90312"), Some((TermKind::Number, Role::Part, 0.4)));
    assert_eq!(find("猫狗"), Some((TermKind::Bigram, Role::Primary, 1.0)));
    assert_eq!(find("猫"), Some((TermKind::Unigram, Role::Secondary, 0.2)));
    assert_eq!(find("的士"), Some((TermKind::Bigram, Role::Primary, 0.3)));
    assert_eq!(find("2023"), Some((TermKind::Number, Role::Primary, 1.0)));
    assert_eq!(find("😀"), Some((TermKind::Emoji, Role::Primary, 1.0)));
    assert_eq!(find("hat"), Some((TermKind::Word, Role::Primary, 1.0)));
    // A piece that is also asked for by itself is a full term.
    let both = analyze_query("INC-90312 90312");
    assert!(both.terms().iter().any(|t| t.text == "90312" && t.role == Role::Primary && t.weight == 1.0));
}

#[test]
fn names_can_be_taken_out() {
    let without = |text: &str, names: &[&str]| {
        let terms = analyze_query(text).without(names);
        terms.terms().iter().map(|t| t.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(without("Did Caroline's brothers run?", &["caroline"]), ["brother", "run"]);
    assert_eq!(without("Mary Jane Smith moved", &["MARY JANE"]), ["smith", "move"]);
    assert_eq!(without("小明喜欢", &["小明"]), ["喜欢", "喜", "欢"]);
    assert_eq!(without("喜欢小明明天", &["小明"]), ["喜欢", "喜", "欢", "明天", "明", "天"]);
    assert_eq!(without("明天 明", &["明"]), ["明天", "明", "天"]);
    assert_eq!(without("ask user_1 about 1", &["user_1"]), ["ask", "1"]);
    assert!(analyze_query("what about José?").without(&["Jose\u{301}"]).is_empty());
    assert_eq!(analyze_query("a cat").without(&[]), analyze_query("a cat"));
}

#[test]
fn huge_inputs_stay_bounded() {
    for piece in [
        "a",
        "1",
        "猫",
        "-a",
        "a1",
        "1,000,",
        "e\u{301}",
        "\u{301}",
        "a.",
        "ก\u{e31}",
        "'",
        "a'",
        "😀",
        "ﷺ",
        "我的",
    ] {
        let text = piece.repeat(65_536 / piece.len());
        let started = std::time::Instant::now();
        let terms = analyze_document(&text);
        assert!(terms.iter().all(|(term, _)| term.chars().count() <= 64), "{piece:?}");
        let asked = analyze_query(&text).without(&["猫", "aa", "我的"]);
        assert!(asked.terms().len() <= 512);
        assert!(started.elapsed().as_secs() < 2, "{piece:?} took {:?}", started.elapsed());
    }
    let many: String = (0..10_000).map(|n| format!("w{n} ")).collect();
    assert!(analyze_query(&many).terms().len() <= 512);
}

proptest! {
    #[test]
    fn any_text_and_its_decomposition_give_the_same_terms(text in "\\PC{0,60}|[가-힣ぁ-んァ-ヴé-ÿ א-תالأإآ]{0,40}") {
        use unicode_normalization::UnicodeNormalization;
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(analyze_document(&composed), analyze_document(&decomposed));
    }

    #[test]
    fn terms_hold_nothing_invisible_and_the_length_fits(text in any::<String>()) {
        let terms = analyze_document(&text);
        for (term, frequency) in terms.iter() {
            prop_assert!(!term.is_empty() && frequency > 0);
            prop_assert!(!term.chars().any(|c| c.is_control() || c.is_whitespace()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}')), "{:?}", term);
        }
        prop_assert_eq!(terms.is_empty(), terms.length() == 0);
    }

    /// A term of a question can only find rows when documents have it under that name.
    #[test]
    fn questions_use_the_terms_of_documents(text in "\\PC{0,40}|[a-c0-2猫的가。'.+#&@_ -]{0,24}") {
        let document = document(&text);
        for term in analyze_query(&text).terms() {
            prop_assert!(document.contains(&term.text), "{:?} not in {:?}", term, document);
        }
    }
}
