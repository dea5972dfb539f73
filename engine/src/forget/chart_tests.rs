use proptest::prelude::*;

use super::*;
use crate::forget::simulate::Day;
use crate::time::{Duration, Timestamp};

fn played(categories: &[&str], days: u32, figures: impl Fn(u32, u64) -> Counts) -> Simulation {
    let counts = |day: u32| (0..categories.len() as u64).map(|category| figures(day, category)).collect();
    let day = |day: u32| Day {
        day,
        at: Timestamp::from_micros(0).plus(Duration::from_hours(24 * i64::from(day))),
        counts: counts(day),
        rewarmed: 2,
        missed: 1,
        waiting: 0,
    };
    Simulation {
        categories: categories.iter().map(|name| (*name).to_owned()).collect(),
        days: (0..=days).map(day).collect(),
    }
}

fn falling(day: u32, category: u64) -> Counts {
    let gone = u64::from(day) / 3;
    let cold = u64::from(day) / 2;
    Counts { active: 800 + category - gone - cold, cold, gone }
}

/// Checks that tags nest and that attributes are quoted; returns how many elements there are.
fn elements(xml: &str) -> usize {
    let mut open = Vec::new();
    let mut count = 0;
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        let (text, tail) = rest.split_at(start);
        assert!(!text.contains('>'), "a loose > in {text:?}");
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        for (at, _) in text.match_indices('&') {
            assert!(entities.iter().any(|entity| text[at..].starts_with(entity)), "{text:?}");
        }
        let end = tail.find('>').expect("a tag ends");
        let tag = &tail[1..end];
        assert!(!tag.contains('<'), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            count += 1;
            let name = tag.split([' ', '/']).next().unwrap();
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &tail[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(rest.trim(), "");
    count
}

fn check(svg: &str) {
    assert!(elements(svg) > 5);
    let body = svg.replacen("xmlns=\"http://www.w3.org/2000/svg\"", "", 1).to_lowercase();
    // Escaped names may hold any word, so that only what could load something is looked for.
    let tags: String = body.split('<').filter_map(|part| part.split('>').next()).collect();
    let style = &body[body.find("<style>").unwrap()..body.find("</style>").unwrap()];
    for outside in ["http", "//", "href", "url(", "@import", "<script", "<image", "<use", "<foreign", "src="]
    {
        assert!(!tags.contains(outside) && !style.contains(outside), "{outside}");
    }
    for broken in ["NaN", "inf"] {
        let paths = svg.split(" d=\"").skip(1).filter_map(|part| part.split('"').next());
        assert!(paths.into_iter().all(|path| !path.contains(broken)), "{broken}");
    }
}

#[test]
fn the_picture_stands_on_its_own() {
    let simulation = played(&["preference", "<b>&\"'\u{1}偏好", "]]>http://x.example"], 365, falling);
    let svg = to_svg(&simulation);
    check(&svg);
    assert!(
        svg.contains("&lt;b&gt;&amp;&quot;&#39;\u{fffd}偏好") && svg.contains("prefers-color-scheme:dark")
    );
    assert!(svg.contains(">day 0</text>") && svg.contains(">360</text>"));
    for (name, ..) in PARTS {
        assert_eq!(svg.matches(&format!("<path class=\"{name}\"")).count(), 3);
        assert!(svg.contains(&format!(">{name}</text>")));
    }
}

#[test]
fn the_smallest_and_the_largest_are_drawn() {
    check(&to_svg(&played(&[], 3, falling)));
    check(&to_svg(&played(&["one"], 0, falling)));
    check(&to_svg(&played(&["none"], 3, |_, _| Counts::default())));
    let svg = to_svg(&played(&["long"], 3653, |_, _| Counts { active: u64::MAX / 4, cold: 1, gone: 0 }));
    check(&svg);
    assert!(svg.len() < 40_000, "{}", svg.len());
    let nothing = Simulation { categories: vec!["x".into()], days: Vec::new() };
    check(&to_svg(&nothing));
    assert!(to_text(&nothing, 0, 0).contains("category"));
}

#[test]
fn the_text_shows_the_days_and_the_last_one_in_figures() {
    let simulation = played(&["knowledge", "偏好"], 90, falling);
    let text = to_text(&simulation, 60, 8);
    let expected = "\
cards  █ active  ▒ cold  · gone
 1601 ┤";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("day 0") && text.contains("90\n"));
    assert!(text.contains("knowledge      725       45       30\n"), "{text}");
    assert!(text.contains("偏好           726       45       30\n"), "{text}");
    assert!(text.contains("all           1451       90       60\n"), "{text}");
    assert!(text.contains("uses of cold cards: 2; too late: 1; waiting for a run: 0"));
    assert_eq!(text.lines().filter(|line| line.contains('┤')).count(), 8);
}

#[test]
fn long_names_are_cut_by_columns() {
    assert_eq!(fit("short", 8), "short   ");
    assert_eq!(fit("much too long", 8), "much to…");
    assert_eq!(fit("偏好设置条目", 8), "偏好设… ");
    assert_eq!(fit("a\u{1b}[31m", 8), "a?[31m  ");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_name_and_size_is_drawn(
        names in proptest::collection::vec(any::<String>(), 0..4), days in 0u32..500, width in 0usize..200, height in 0usize..40,
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let simulation = played(&names, days, falling);
        check(&to_svg(&simulation));
        let text = to_text(&simulation, width, height);
        let plot = text.lines().filter(|line| line.contains('┤') || line.contains('└'));
        for line in plot {
            prop_assert!(line.chars().count() <= width.max(30), "{}", text);
        }
        prop_assert!(text.lines().all(|line| !line.chars().any(char::is_control)));
    }
}
