//! Kinds 11, 12 and 20: the words of a question find what holds them, and only that.

use memcards::{Recall, Remember};
use serde_json::json;

use crate::support::{Fixture, ask, contents, filter, question, say, text};

#[test]
fn words_inside_unsegmented_text_are_found() {
    let texts = [
        "昨天下午我们在苏州园林里喝了碧螺春",
        "新来的同事擅长修理打印机和扫描仪",
        "週末は鎌倉の紫陽花を見に行きました",
        "会議室のプロジェクターが故障しています",
        "지난주에제주도에서감귤을땄습니다",
        "우리동네도서관은월요일에쉽니다",
    ];
    for (query, found) in [
        ("园林", 0),
        ("碧螺春", 0),
        ("苏州", 0),
        ("扫描仪", 1),
        ("同事", 1),
        ("鎌倉", 2),
        ("紫陽花", 2),
        ("故障", 3),
        ("プロジェクター", 3),
        ("감귤", 4),
        ("제주도", 4),
        ("도서관", 5),
        ("월요일", 5),
    ] {
        let fixture = Fixture::words_only();
        let tenant = fixture.tenant("t");
        for words in texts {
            say(&tenant, words);
        }
        assert_eq!(ask(&tenant, query).first().map(String::as_str), Some(texts[found]), "{query}");
    }
}

#[test]
fn characters_that_only_adjoin_are_no_word() {
    for (apart, whole, query) in [
        ("他在山 东边有一块地", "他从山东带来一箱苹果", "山东"),
        ("参加大会 计划明天出发", "请会计核对这张单子", "会计"),
        ("今日は東 京子さんに会った", "東京に出張した", "東京"),
        ("나는 사 과자를 먹었다", "나는 사과를 샀다", "사과"),
    ] {
        let fixture = Fixture::words_only();
        let tenant = fixture.tenant("t");
        say(&tenant, apart);
        assert!(
            ask(&tenant, query).is_empty() || !is_hit_as_word(&tenant, query, apart),
            "{query} in {apart}"
        );
        say(&tenant, whole);
        assert_eq!(ask(&tenant, query).first().map(String::as_str), Some(whole), "{query}");
    }

    /// True when the keyword leg takes it for a full match.
    fn is_hit_as_word(tenant: &memcards::Tenant, query: &str, words: &str) -> bool {
        let answer = tenant.recall(Recall { explain: true, ..question(query) }).unwrap();
        answer.hits.iter().any(|hit| hit.card.content == words && hit.score > 0.3)
    }
}

#[test]
fn a_question_without_a_usable_word_finds_nothing() {
    for fixture in [Fixture::new(), Fixture::words_only()] {
        let tenant = fixture.tenant("t");
        let all = Remember { tags: vec!["k".into()], ..text("的 a the ?? 我们 the cat sat on the mat") };
        tenant.remember(all).unwrap();
        say(&tenant, "我们的猫在垫子上");
        for query in [
            "",
            " ",
            "\n\t",
            "的",
            "了",
            "吗？",
            "??",
            "!!!",
            "…",
            "the",
            "a",
            "of the",
            "、。",
            "()",
            "\0",
            "\u{200d}",
            "\u{feff}",
            "-- ' \" \\ ;",
            "'",
            "*",
            "のは",
        ] {
            let answer = tenant.recall(question(query)).unwrap();
            assert!(answer.hits.is_empty(), "{query:?} found {:?}", contents(&answer));
            // A condition beside it does not turn nothing into everything.
            let tagged = filter(json!({"field": "tags", "eq": "k"}));
            let answer = tenant.recall(Recall { filter: Some(tagged), ..question(query) }).unwrap();
            assert!(answer.hits.is_empty(), "{query:?} with a filter");
        }
        let error = tenant.recall(Recall::default()).unwrap_err();
        assert_eq!(error.field(), Some("query"));
    }
}

#[test]
fn query_text_is_never_a_condition_or_a_syntax_error() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    let request = Remember { tags: vec!["private".into()], ..text("The harbour master is called Ingrid") };
    tenant.remember(request).unwrap();
    say(&tenant, "Harbour dues are paid in spring");
    for query in [
        "harbour AND NOT master",
        "harbour -master",
        "harbour OR 1=1",
        "+harbour +(master",
        "\"harbour",
        "harbour\"",
        "harbour*",
        "content:harbour",
        "#type:fact harbour",
        "@tags:{private} harbour",
        "harbour~2^5",
        "harbour'; DROP TABLE cards; --",
        "{\"field\":\"tags\",\"eq\":\"x\"} harbour",
        "[harbour TO zebra]",
        "harbour \\",
        "harbour % _",
        "tenant:u harbour",
    ] {
        let hits = ask(&tenant, query);
        assert_eq!(hits.len(), 2, "{query}: {hits:?}");
    }
}

/// Thousands of cards that all mean the same, told apart by numbers only.
fn paraphrases() -> Vec<Remember> {
    let starts =
        ["The customer says that", "A client reports that", "Someone wrote that", "They complain that"];
    let things = ["the printer", "the copier", "the scanner", "the plotter", "the fax"];
    let faults =
        ["prints nothing", "does not print", "refuses to print", "stopped printing", "will not print"];
    (0..3000)
        .map(|number| {
            let (start, thing, fault) = (starts[number % 4], things[number / 4 % 5], faults[number / 20 % 5]);
            text(&format!("{start} {thing} on floor {number} {fault}, ticket REQ-{}", 20_000 + number))
        })
        .collect()
}

#[test]
fn an_exact_identifier_comes_first_among_thousands_of_paraphrases() {
    let fixture = Fixture::new();
    let tenant = fixture.tenant("t");
    for chunk in paraphrases().chunks(1000) {
        for answer in tenant.remember_all(chunk.to_vec()).unwrap() {
            answer.unwrap();
        }
    }
    let odd = [
        "Lunch with Beate was moved, see REQ-77031",
        "与采购部的午餐改期，参见 REQ-77032",
        "zorvexine is kept in the cold room",
        "冷库里存放着佐维辛",
    ];
    for words in odd {
        say(&tenant, words);
    }
    for (query, found) in [
        ("REQ-77031", odd[0]),
        ("The customer says that the printer does not print, ticket REQ-77031", odd[0]),
        ("what about the printer in REQ-77031?", odd[0]),
        ("req-77032", odd[1]),
        ("打印机不打印，REQ-77032", odd[1]),
        ("zorvexine", odd[2]),
        ("佐维辛", odd[3]),
    ] {
        let top = tenant.recall(Recall { top: Some(1), ..question(query) }).unwrap();
        assert_eq!(contents(&top), [found], "{query}");
    }
    for number in [20_000, 21_234, 22_999] {
        let query = format!("the printer does not print REQ-{number}");
        assert!(ask(&tenant, &query)[0].ends_with(&format!("REQ-{number}")), "{query}");
    }
    // A hit by its words alone is not lost to a threshold on the meaning.
    let strict = Recall { min_score: Some(0.3), ..question("zorvexine") };
    assert_eq!(contents(&tenant.recall(strict).unwrap()), [odd[2]]);
}
