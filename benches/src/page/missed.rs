//! The questions that missed evidence, to browse: what was wanted, and what came instead.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::figures::{Evaluation, Explained, Missed, Quote};
use crate::plot::{count, escape, number, stack};

/// Parts of a score that are shown in one colour: class, name, the parts' names.
const KINDS: [(&str, &str, &[&str]); 8] = [
    ("keywords", "keywords", &["keywords"]),
    ("context", "keywords of the neighbours", &["context"]),
    ("meaning", "meaning", &["meaning"]),
    ("date", "date", &["date"]),
    ("lent", "lent by turns and session", &["neighbours", "session", "alone"]),
    ("identifier", "identifiers", &["identifier"]),
    ("rerank", "re-ranking", &["rerank"]),
    ("modifiers", "recency, importance, confidence", &["recency", "importance", "confidence", "settled"]),
];

/// The list, with nothing in it where nothing was missed.
pub(super) fn section(evaluation: &Evaluation) -> String {
    let (whole, part): (Vec<&Missed>, Vec<&Missed>) =
        evaluation.missed.iter().partition(|missed| missed.whole());
    if evaluation.missed.is_empty() {
        return String::new();
    }
    let mut html = String::from("<figure class=\"wide\"><figcaption><h3>What was missed</h3>");
    let _ = write!(
        html,
        "<p class=\"note\">Of {} questions nothing, of {} only a part of the evidence came among the first \
         ten. Each can be opened: the evidence with its ranks, then what came first and why.</p></figcaption>",
        count(whole.len()),
        count(part.len())
    );
    html.push_str("<div class=\"legend\">");
    for (class, name, _) in KINDS {
        let _ = write!(html, "<span><i class=\"{class}\"></i>{name}</span>");
    }
    html.push_str("<span><i class=\"less\"></i>taken away</span></div>");
    for (missed, what) in [(whole, "nothing among ten"), (part, "a part among ten")] {
        let mut categories: BTreeMap<&str, Vec<&Missed>> = BTreeMap::new();
        for missed in missed {
            categories.entry(&missed.category).or_default().push(missed);
        }
        for (category, missed) in categories {
            let (category, count) = (escape(category), count(missed.len()));
            let _ = write!(
                html,
                "<details class=\"group\"><summary><bdi>{category}</bdi>: {what} \
                 <span class=\"faint\">({count})</span></summary>"
            );
            missed.into_iter().for_each(|missed| question(&mut html, missed));
            html.push_str("</details>");
        }
    }
    html.push_str("</figure>");
    html
}

fn question(html: &mut String, missed: &Missed) {
    let rank = |rank: &Option<usize>| rank.map_or_else(|| "not found".to_owned(), |rank| format!("#{rank}"));
    let ranks: Vec<String> = missed.wanted.iter().map(|wanted| rank(&wanted.rank)).collect();
    let mut shown = ranks[..ranks.len().min(6)].join(", ");
    if ranks.len() > 6 {
        let _ = write!(shown, " and {} more", ranks.len() - 6);
    }
    let _ = write!(
        html,
        "<details class=\"question\"><summary><bdi>{}</bdi> <span class=\"ranks\">{shown}</span></summary>\
         <p class=\"note\"><bdi>{}</bdi>, asked at {}</p><h4>Wanted</h4>",
        escape(&missed.question),
        escape(&missed.id),
        escape(&missed.asked_at)
    );
    for (wanted, rank) in missed.wanted.iter().zip(&ranks) {
        let class = if wanted.rank.is_some() { "card hit" } else { "card" };
        for quote in &wanted.quotes {
            let _ = write!(html, "<div class=\"{class}\">{}</div>", text(rank, quote, ""));
        }
    }
    html.push_str("<h4>Came first</h4>");
    let reach = missed.first.iter().map(|hit| {
        let sum = |sign: f64| hit.parts.values().map(|part| (part * sign).max(0.0)).sum::<f64>();
        (sum(-1.0), sum(1.0))
    });
    let reach = reach.fold((0.0, 0.0), |(a, b): (f64, f64), (c, d)| (a.max(c), b.max(d)));
    for (at, hit) in missed.first.iter().enumerate() {
        let class = if hit.evidence { "card hit" } else { "card" };
        let score = format!("score {}", number(hit.score, 3));
        let place = format!("#{}", at + 1);
        let _ = write!(html, "<div class=\"{class}\">{}", text(&place, &hit.quote, &score));
        html.push_str(&parts(hit, reach));
        html.push_str("</div>");
    }
    html.push_str("</details>");
}

fn text(place: &str, quote: &Quote, more: &str) -> String {
    let mut html = format!("<div class=\"head\"><b>{}</b>", escape(place));
    for said in [&quote.name, &quote.speaker, more] {
        if !said.is_empty() {
            let _ = write!(html, "<bdi>{}</bdi>", escape(said));
        }
    }
    html.push_str("</div>");
    if !quote.text.is_empty() {
        let _ = write!(html, "<p dir=\"auto\">{}</p>", escape(&quote.text));
    }
    html
}

/// The parts of a score as a bar and in words.
fn parts(hit: &Explained, reach: (f64, f64)) -> String {
    let kind = |name: &str| KINDS.iter().find(|(_, _, names)| names.contains(&name));
    let mut sorted: Vec<(usize, &str, &String, f64)> = hit
        .parts
        .iter()
        .map(|(name, part)| {
            let at = KINDS.iter().position(|(_, _, names)| names.contains(&name.as_str()));
            let class = if *part < 0.0 { "less" } else { kind(name).map_or("modifiers", |kind| kind.0) };
            (at.unwrap_or(KINDS.len()), class, name, *part)
        })
        .collect();
    sorted.sort_by_key(|(at, _, _, _)| *at);
    let words: Vec<String> =
        sorted.iter().map(|(_, _, name, part)| format!("{} {}", escape(name), number(*part, 3))).collect();
    let bars: Vec<(&str, String, f64)> =
        sorted.iter().map(|(_, class, name, part)| (*class, (*name).clone(), *part)).collect();
    let bar = stack(&bars, reach, "The parts of the score");
    format!("{bar}<p class=\"parts\">{}</p>", words.join(" · "))
}
