use super::*;
use crate::figures::{Abstention, Explained, Missed, Quote, TOP, TopScores, Variant, Wanted};
use crate::latency::{Bin, Percentiles};

const HOSTILE: &str =
    "</title></summary><script>alert('x')</script><img src=x onerror=\"y\"> &amp; \u{202E}\0 ]]>";

/// A report with every kind of figure, whose texts are hostile.
fn report(text: &str) -> Report {
    let found = |settled: usize| Found {
        questions: 12,
        turn_questions: 12,
        recall: [0.4, 0.6, 0.8, 0.9],
        session_questions: 12,
        settled_questions: settled,
        settled: 0.5,
        ..Found::default()
    };
    let quote = || Quote { name: text.into(), speaker: text.into(), text: text.into() };
    let missed = |rank| Missed {
        id: text.into(),
        category: text.into(),
        question: text.into(),
        asked_at: text.into(),
        wanted: vec![Wanted { quotes: vec![quote()], rank }, Wanted { quotes: vec![quote()], rank: None }],
        first: vec![Explained {
            quote: quote(),
            score: 0.61,
            parts: [("keywords".into(), 0.5), ("role".into(), -0.1), (text.into(), 0.2)].into(),
            evidence: false,
        }],
    };
    let scores = || TopScores { questions: 4, mean: 0.4, silent: 0.75, bins: [1; 20] };
    let evaluation = Evaluation {
        total: found(3),
        categories: [(text.into(), found(3)), ("b".into(), found(0))].into(),
        corpora: [(text.into(), found(0)), ("c".into(), found(0))].into(),
        corpus_count: 2,
        card_count: 1234,
        first_ranks: (0..=TOP).collect(),
        abstention: Some(Abstention {
            threshold: 0.5,
            unanswerable: scores(),
            answerable: scores(),
            categories: [(text.into(), scores())].into(),
        }),
        latency: Percentiles { count: 3, p50_ms: 0.2, p95_ms: 0.21, p99_ms: 0.22, max_ms: 0.3 },
        latency_bins: vec![
            Bin { from_ms: 0.1, to_ms: 0.2, count: 1 },
            Bin { from_ms: 0.2, to_ms: 0.4, count: 2 },
        ],
        missed: vec![missed(Some(3)), missed(Some(14)), missed(None)],
    };
    let variant = |name: String| Variant { variant: name, evaluation: evaluation.clone() };
    let ablations = ["full".into(), format!("- {text}"), "- b".into(), format!("{text} alone")];
    Report { shape: text.into(), ablations: ablations.map(variant).into(), evaluation }
}

/// Names of the elements in order, after checking that they are closed in order and that
/// attributes are quoted.
fn elements(html: &str) -> Vec<String> {
    let (mut open, mut seen) = (Vec::<String>::new(), Vec::new());
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "{}", &rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("an end of a tag");
        let (tag, after) = rest.split_at(end);
        rest = &after[1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "before {}", &rest[..rest.len().min(80)]);
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '\n', '/']).next().unwrap_or_default().to_owned();
        seen.push(name.clone());
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("an end of the style")..];
        }
        if !tag.ends_with('/') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    seen
}

#[test]
fn hostile_texts_stay_texts() {
    let page = render(HOSTILE, &[report(HOSTILE), report("harmless")]);
    let elements = elements(&page);
    for name in ["script", "img", "iframe", "link", "object", "foreignObject"] {
        assert!(!elements.iter().any(|element| element == name), "{name}");
    }
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
    assert!(page.contains("&amp;amp;"));
    assert!(!page.contains('\0') && !page.contains('\u{202E}'));
    // The same elements as with harmless texts.
    let count = |page: &str| self::elements(page).len();
    assert_eq!(count(&render("t", &[report(HOSTILE)])), count(&render("t", &[report("harmless")])));
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = render("Recall", &[report("one"), report("two")]);
    for word in ["http://", "https://", "url(", "@import", " src=", "javascript:"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(page.contains("width=device-width"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_figure_is_there_when_there_is_something_to_show() {
    let page = render("Recall", &[report("one")]);
    for title in [
        "Recall by category",
        "Where the first evidence comes",
        "Latency",
        "What each signal is worth",
        "What signals reach alone",
        "Outdated facts",
        "First hits of questions without an answer",
        "Recall by conversation",
        "What was missed",
    ] {
        assert!(page.contains(&format!("<h3>{title}</h3>")), "{title}");
    }
    assert!(!page.contains("Side by side"));
    assert!(page.contains("80.0<small> %</small>"));
    assert!(page.contains("Of 2 questions nothing, of 1 only a part"));
    assert!(page.contains("1,234 cards in 2 stores"));
    let empty = render("Recall", &[Report { shape: "empty".into(), ..Report::default() }]);
    elements(&empty);
    assert!(empty.contains("nothing was measured") && !empty.contains("What was missed"));
    assert!(!empty.contains("NaN") && !empty.contains("inf"));
    elements(&render("nothing", &[]));
}

#[test]
fn reports_go_through_json_and_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let one = write("before.json", serde_json::to_string(&report("x")).unwrap());
    let several = serde_json::to_string(&[report("x"), report("y")]).unwrap();
    let several = write("after.json", several);
    let reports = read(&[one.clone(), several]).unwrap();
    let shapes: Vec<&str> = reports.iter().map(|report| report.shape.as_str()).collect();
    assert_eq!(shapes, ["x, before", "x, after", "y"]);
    assert_eq!(reports[0].evaluation, report("x").evaluation);
    // What an evaluation printed before it had all figures can still be drawn.
    let old =
        r#"{"shape":"old","evaluation":{"total":{"questions":3,"recall":[0.1,0.2,0.3,0.4]}},"ablations":[]}"#;
    let old = read(&[write("old.json", old.into())]).unwrap();
    let page = render("old", &old);
    elements(&page);
    assert!(page.contains("30.0<small> %</small>"));
    let wrong = write("wrong.json", "{\"rows\": 3}".into());
    let error = read(&[wrong]).unwrap_err().to_string();
    assert!(error.contains("wrong.json") && error.contains("not the JSON of an evaluation"), "{error}");
    assert!(read(&[one, folder.path().join("none.json")]).is_err());
}
