//! Any text, and mixtures of the words of the grammar: no panic, order, no overlap, bounded work.

use std::time::Instant;

use memcards::Timestamp;
use memcards::calendar::{Anchor, KnownDates, Zone, durations, phrases};
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "yesterday",
    "the",
    "day",
    "before",
    "after",
    "last",
    "this",
    "next",
    "week",
    "month",
    "year",
    "weekend",
    "Monday",
    "Fri",
    "of",
    "in",
    "on",
    "at",
    "May",
    "march",
    "June",
    "5",
    "5th",
    "25th",
    "2023",
    "1999",
    "90s",
    "'",
    "s",
    "s'",
    "twenty",
    "-",
    "two",
    "a",
    "half",
    "and",
    "couple",
    "few",
    "weeks",
    "hours",
    "minutes",
    "ago",
    "from",
    "now",
    "to",
    "since",
    "until",
    "by",
    "between",
    "around",
    "3pm",
    "14:30",
    "2023-05-08",
    "2023-05-08T14:30:00+08:00",
    "13/05/2023",
    "noon",
    "morning",
    "night",
    "Christmas",
    "New",
    "Year",
    "eve",
    "summer",
    "Q3",
    "quarter",
    "early",
    "end",
    "every",
    "past",
    "coming",
    "my",
    "birthday",
    "other",
    "will",
    "did",
    ",",
    ".",
    "9999",
    "0",
    "99999",
    "1.5",
    "%",
    "$",
    "\n",
    "昨天",
    "前天",
    "上",
    "下",
    "上周",
    "周",
    "三",
    "星期天",
    "个",
    "月",
    "年",
    "日",
    "号",
    "天",
    "前",
    "后",
    "以前",
    "之后",
    "以来",
    "起",
    "从",
    "到",
    "至",
    "在",
    "的",
    "第",
    "季度",
    "半",
    "几",
    "两",
    "十",
    "百",
    "万",
    "〇",
    "二〇二三",
    "2023年",
    "五月",
    "八号",
    "下午",
    "点",
    "分",
    "刻",
    "去年",
    "年底",
    "月初",
    "国庆",
    "春节",
    "除夕",
    "年代",
    "世纪",
    "每",
    "过去",
    "最近",
    "未来",
    "我的",
    "生日",
    "左右",
    "十分",
    "一点儿",
    "夏天",
    "上半年",
    "小时",
    "分钟",
    "，",
    "。",
    "～",
    "é",
    "🙂",
];

struct All;

impl KnownDates for All {
    fn month_and_day(&self, name: &str) -> Option<(i8, i8)> {
        Some((name.len() as i8, name.len() as i8))
    }
}

fn zones() -> impl Strategy<Value = Zone> {
    prop::sample::select(vec![
        "Z",
        "Asia/Shanghai",
        "America/Los_Angeles",
        "+14:00",
        "-12:00",
        "Africa/Monrovia",
    ])
    .prop_map(|zone| zone.parse().unwrap())
}

fn instants() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        Just(Timestamp::MIN),
        Just(Timestamp::MAX),
        any::<i64>().prop_map(Timestamp::from_micros),
        (0i64..4_102_444_800).prop_map(|second| Timestamp::from_micros(second * 1_000_000)),
    ]
}

fn check(text: &str, anchor: &Anchor) {
    for known in [&() as &dyn KnownDates, &All] {
        let found = phrases(text, anchor, known);
        let mut behind = 0;
        for phrase in &found {
            assert!(
                phrase.range.start >= behind && phrase.range.end > phrase.range.start,
                "{text:?} {found:?}"
            );
            assert!(text.get(phrase.range.clone()).is_some());
            behind = phrase.range.end;
            if let (Some(from), Some(to)) = (phrase.from, phrase.to) {
                assert!(from < to, "{text:?} {phrase:?}");
            }
        }
        assert_eq!(found, phrases(text, anchor, known));
    }
    let mut behind = 0;
    for span in durations(text) {
        assert!(span.range.start >= behind && span.range.end > span.range.start);
        assert!(text.get(span.range.clone()).is_some());
        assert!(span.length.as_micros() >= 0);
        behind = span.range.end;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in any::<String>(), zone in zones(), instant in instants()) {
        check(&text, &Anchor { instant, zone });
    }

    #[test]
    fn any_mixture_of_words_is_read(
        words in prop::collection::vec((prop::sample::select(WORDS), any::<bool>()), 0..40),
        zone in zones(),
        instant in instants(),
    ) {
        let mut text = String::new();
        for (word, space) in words {
            text.push_str(word);
            if space {
                text.push(' ');
            }
        }
        check(&text, &Anchor { instant, zone });
    }
}

/// The best of three runs, so that a busy machine does not decide.
fn micros(text: &str, anchor: &Anchor) -> u128 {
    let once = || {
        let start = Instant::now();
        std::hint::black_box((phrases(text, anchor, &All), durations(text)));
        start.elapsed().as_micros()
    };
    once().min(once()).min(once())
}

/// Twice the text must not cost much more than twice the time, whatever the words are.
#[test]
fn the_cost_grows_with_the_text_and_not_with_its_square() {
    let anchor =
        Anchor { instant: "2024-05-15T02:00:00Z".parse().unwrap(), zone: "Asia/Shanghai".parse().unwrap() };
    let pairs = WORDS.iter().zip(WORDS.iter().cycle().skip(41)).map(|(a, b)| format!("{a} {b} "));
    let glued = WORDS.iter().zip(WORDS.iter().cycle().skip(97)).map(|(a, b)| format!("{a}{b}"));
    let single = WORDS.iter().map(|word| (*word).to_owned());
    let chains = [
        "before after since ",
        "the week before ",
        "a week before ",
        "between ",
        "early ",
        "at ",
        "last year in ",
    ];
    let chains = chains.iter().map(|text| (*text).to_owned());
    for unit in pairs.chain(glued).chain(single).chain(chains) {
        let small = unit.repeat((2 << 10) / unit.len());
        let large = unit.repeat((16 << 10) / unit.len());
        let (small, large) = (micros(&small, &anchor), micros(&large, &anchor));
        // Eight times the text; small figures are noise.
        assert!(large < small * 24 + 20_000, "{unit:?}: {small} µs for 2 KiB, {large} µs for 16 KiB");
    }
}
