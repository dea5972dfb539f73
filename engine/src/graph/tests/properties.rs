//! What must hold for any text.

use proptest::prelude::*;

use crate::graph::words::Words;
use crate::graph::{
    Aim, Kind, Names, asked, concepts, content_shape, intent, mentions, referents, shape, statements,
};

/// Words that meet every rule, in any order.
const WORDS: &[&str] = &[
    "I",
    "my",
    "My",
    "sister",
    "'s",
    "Anna",
    "Tom's",
    "is",
    "called",
    "Rex",
    "the",
    "of",
    "in",
    "at",
    "Berlin",
    "what",
    "What",
    "which",
    "how many",
    "where",
    "?",
    ".",
    ",",
    ":",
    "#",
    "48213",
    "INC-90312",
    "iPhone",
    "15",
    "Pro",
    "《",
    "》",
    "“",
    "”",
    "\"",
    "「",
    "我",
    "我的",
    "妹妹",
    "叫",
    "安娜",
    "的",
    "老板",
    "是",
    "李",
    "明",
    "小",
    "王",
    "老师",
    "公司",
    "腾讯",
    "在",
    "工作",
    "住在",
    "杭州",
    "市",
    "什么",
    "哪些",
    "书",
    "吗",
    "hello",
    "thanks",
    "你好",
    "谢谢",
    "translate",
    "this",
    "\n",
    "www.",
    "http://a",
    "a@b.cc",
    "Dr.",
    "J.",
    "van",
    "&",
    "University",
    "favourite",
    "最喜欢",
    "born",
    "on",
    "5",
    "years old",
    "岁",
    "mother-in-law",
    "Hyde",
    "Park",
    "😂",
    "ア",
    "when",
    "-",
    "/",
    "_",
];

fn sentence() -> impl Strategy<Value = String> {
    let glue = prop::sample::select(vec!["", " "]);
    prop::collection::vec((prop::sample::select(WORDS), glue), 0..24)
        .prop_map(|words| words.into_iter().map(|(word, glue)| format!("{word}{glue}")).collect())
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let names = Names::from_iter([
        ("anna", Kind::Person),
        ("明的", Kind::Other),
        ("is called", Kind::Other),
        ("\"", Kind::Other),
    ]);
    for names in [&names, &Names::new()] {
        let mut free = 0;
        for mention in mentions(text, names) {
            prop_assert!(
                mention.range.start >= free && mention.range.start < mention.range.end,
                "{:?}",
                mention
            );
            prop_assert!(text.get(mention.range.clone()).is_some(), "{:?}", mention);
            prop_assert!(!mention.name.is_empty());
            free = mention.range.end;
        }
    }
    let mut free = 0;
    for reference in referents(text, Some("Mia")) {
        prop_assert!(
            reference.range.start >= free && text.get(reference.range.clone()).is_some(),
            "{:?}",
            reference
        );
        prop_assert!(!reference.relations.is_empty());
        free = reference.range.end;
    }
    let mut end = 0;
    let words = Words::read(text);
    for token in words.tokens() {
        let range = token.range();
        prop_assert!(range.start >= end && range.start < range.end && text.get(range.clone()).is_some());
        end = range.end;
    }
    let (asked, shape) = (asked(text), shape(text));
    prop_assert!(asked.intersection(concepts(text)).len() <= asked.len());
    let content = content_shape(text);
    prop_assert!(!(content.small_talk && shape.list));
    if content.small_talk {
        prop_assert_eq!(intent(text).aim, Aim::None);
    }
    let _ = statements(text, None);
    Ok(())
}

proptest! {
    #[test]
    fn any_string_is_read(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_words_are_read(text in sentence()) {
        check(&text)?;
    }

    #[test]
    fn content_is_never_small_talk(text in sentence(), greeting in prop::sample::select(vec!["hi", "thanks,", "你好，", "好的 "])) {
        let asking = format!("{greeting} {text} where did I park?");
        prop_assert_ne!(intent(&asking).aim, Aim::None, "{}", asking);
    }

    #[test]
    fn the_same_text_gets_the_same_answer(text in sentence()) {
        prop_assert_eq!(statements(&text, None), statements(&text, None));
        prop_assert_eq!(mentions(&text, &Names::new()), mentions(&text, &Names::new()));
    }
}

#[test]
fn steps_for_a_byte_do_not_grow_with_the_length() {
    let words = WORDS.join(" ");
    for piece in [
        "a",
        "ab.",
        "a@",
        "a@b.",
        "www.",
        "'s",
        "how ",
        "what kind ",
        "我",
        "什么",
        "小王",
        "A ",
        "Anna van ",
        "\"",
        "《",
        "#1",
        "-",
        "1,",
        "\u{301}",
        "没有",
        &words,
    ] {
        let steps = |count: usize| {
            let text = piece.repeat(count);
            Words::read(&text).steps as f64 / text.len() as f64
        };
        let (short, long) = (steps(40), steps(4000));
        assert!(long <= short * 1.5 + 1.0 && long < 80.0, "{piece}: {short} {long}");
    }
}

#[test]
fn long_texts_take_no_more_time_for_a_byte() {
    let words = WORDS.join(" ");
    for piece in [
        "a",
        "ab.",
        "a@",
        "What a day ",
        "where ",
        "什么",
        "小王",
        "Anna van ",
        "\"",
        "《",
        "#1",
        "我的妹妹的",
        "Tom's sister's ",
        "my ",
        "\" A",
        "I ",
        "list all ",
        &words,
    ] {
        let text = piece.repeat((64 << 10) / piece.len());
        let started = std::time::Instant::now();
        let _ = (mentions(&text, &Names::new()), statements(&text, None), referents(&text, None));
        let _ = (concepts(&text), asked(&text), shape(&text), content_shape(&text), intent(&text));
        // A few milliseconds each where nothing else runs; quadratic ones take minutes.
        assert!(started.elapsed().as_secs() < 10, "{piece}: {:?}", started.elapsed());
        if std::env::var_os("GRAPH_TIMES").is_some() {
            println!("{piece}: {:?}", started.elapsed());
        }
    }
}
