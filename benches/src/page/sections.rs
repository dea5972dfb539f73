//! What the page shows of one data set.

use std::fmt::Write;

use super::{missed, percent, rank_names, recall};
use crate::figures::{Evaluation, Found, Report, SCORE_BINS, TOP, TopScores, Variant};
use crate::latency::{Bin, Percentiles};
use crate::plot::{Bar, Mark, Slot, count, diverging, escape, histogram, nested, number, share_title};

/// The section about one data set.
pub(super) fn data_set(at: usize, report: &Report) -> String {
    let evaluation = &report.evaluation;
    let mut html = format!(
        "<section id=\"data-{at}\"><div class=\"title\"><h2>{}</h2><span class=\"faint\">{}</span></div>",
        escape(&report.shape),
        size(evaluation)
    );
    html.push_str(&tiles(evaluation));
    html.push_str("<div class=\"plots\">");
    let bars = |groups: &mut dyn Iterator<Item = (&String, &Found)>| -> Vec<Bar> {
        let bar = |(name, found): (&String, &Found)| Bar {
            label: name.clone(),
            note: questions(found.questions),
            values: recall(found),
        };
        groups.map(bar).collect()
    };
    let what = match evaluation.total.turn_questions {
        0 => "Sessions found",
        _ => "Recall",
    };
    let categories = bars(&mut evaluation.categories.iter());
    html.push_str(&figure(
        &format!("{what} by category"),
        "Per cent of the evidence among the first 1, 5, 10 and 20 cards, each with what comes on top of the one before.",
        &nested(&rank_names(), &categories, &format!("{what} by category and rank")),
    ));
    html.push_str(&ranks(evaluation));
    html.push_str(&latency(&evaluation.latency, &evaluation.latency_bins));
    html.push_str(&ablations(report));
    html.push_str(&settled(evaluation));
    html.push_str(&abstention(evaluation));
    if (2..=40).contains(&evaluation.corpora.len()) {
        let corpora = bars(&mut evaluation.corpora.iter());
        html.push_str(&figure(
            &format!("{what} by conversation"),
            "The same for each conversation, to see whether one of them decides.",
            &nested(&rank_names(), &corpora, &format!("{what} by conversation and rank")),
        ));
    }
    html.push_str(&missed::section(evaluation));
    html.push_str("</div></section>");
    html
}

fn size(evaluation: &Evaluation) -> String {
    let Evaluation { total, corpus_count, card_count, abstention, .. } = evaluation;
    let mut text = questions(total.questions);
    if let Some(abstention) = abstention {
        let _ = write!(text, " and {} without an answer", count(abstention.unanswerable.questions));
    }
    if *card_count > 0 {
        let _ = write!(text, ", {} cards in {} stores", count(*card_count), count(*corpus_count));
    }
    text
}

fn questions(number: usize) -> String {
    format!("{} question{}", count(number), if number == 1 { "" } else { "s" })
}

fn figure(title: &str, note: &str, drawing: &str) -> String {
    format!(
        "<figure><figcaption><h3>{}</h3><p class=\"note\">{}</p></figcaption>{drawing}</figure>",
        escape(title),
        escape(note)
    )
}

fn tiles(evaluation: &Evaluation) -> String {
    let Evaluation { total, latency, .. } = evaluation;
    let share = |share: f64| format!("{}<small> %</small>", percent(share));
    let mut tiles: Vec<(&str, String, &str)> = vec![];
    if total.turn_questions > 0 {
        tiles.extend([
            ("recall@1", share(total.recall[0]), "of the evidence is the very first card"),
            ("recall@10", share(total.recall[2]), "of the evidence is among the first ten cards"),
            ("any@10", share(total.any[2]), "of the questions have some evidence among ten"),
            ("all@10", share(total.all[2]), "of the questions have all their evidence among ten"),
        ]);
    }
    if total.session_questions > 0 {
        tiles.extend([
            ("sessions@10", share(total.sessions[2]), "of the right sessions have a card among ten"),
            ("all sessions@10", share(total.all_sessions[2]), "of the questions have all sessions among ten"),
        ]);
    }
    if total.settled_questions > 0 {
        let means = "of the questions about what has changed get the new before the old";
        tiles.push(("settled", share(total.settled), means));
    }
    if let Some(abstention) = &evaluation.abstention {
        let means = "of the questions without an answer get no hit that reaches the threshold";
        tiles.push(("silent", share(abstention.unanswerable.silent), means));
    }
    let time = |ms: f64| format!("{}<small> ms</small>", number(ms, 2));
    tiles.extend([
        ("p50", time(latency.p50_ms), "half of the recalls are faster"),
        ("p99", time(latency.p99_ms), "99 of 100 recalls are faster"),
    ]);
    let mut html = String::from("<div class=\"tiles\">");
    for (name, value, means) in tiles {
        let _ = write!(html, "<div class=\"tile\"><span>{name}</span><b>{value}</b><em>{means}</em></div>");
    }
    html.push_str("</div>");
    html
}

fn ranks(evaluation: &Evaluation) -> String {
    let whole: usize = evaluation.first_ranks.iter().sum();
    if whole == 0 {
        return String::new();
    }
    let slot = |(at, part): (usize, &usize)| {
        let later = at == TOP;
        let (label, what) = match later {
            true => ("later".to_owned(), format!("after rank {TOP} or not at all")),
            false => ((at + 1).to_string(), format!("at rank {}", at + 1)),
        };
        // What came too late stands a little apart.
        let (start, width) = if later { (at as f64 + 0.8, 1.6) } else { (at as f64, 1.0) };
        Slot {
            bounds: (start, start + width),
            height: *part as f64 / whole as f64 * 100.0,
            title: share_title(&what, *part, whole),
            series: if later { 2 } else { 1 },
            label: Some(label),
        }
    };
    let slots: Vec<Slot> = evaluation.first_ranks.iter().enumerate().map(slot).collect();
    let drawing =
        histogram(&slots, &[], "rank", false, true, "Questions by the rank of their first evidence");
    let note = "Per cent of the questions by the place of the first card that is evidence.";
    figure("Where the first evidence comes", note, &drawing)
}

/// The histogram of latencies between bounds, so that several can be compared.
fn latency_plot(latency: &Percentiles, bins: &[Bin], bounds: Option<(f64, f64)>) -> String {
    let whole: usize = bins.iter().map(|bin| bin.count).sum();
    let slot = |bin: &Bin| Slot {
        bounds: (bin.from_ms, bin.to_ms),
        height: bin.count as f64,
        title: share_title(
            &format!("{} to {} ms", number(bin.from_ms, 3), number(bin.to_ms, 3)),
            bin.count,
            whole,
        ),
        series: 3,
        label: None,
    };
    let mut slots: Vec<Slot> = bins.iter().filter(|bin| bin.from_ms > 0.0).map(slot).collect();
    if let (Some((low, high)), false) = (bounds, slots.is_empty()) {
        let empty = |bounds| Slot { bounds, height: 0.0, title: String::new(), series: 3, label: None };
        slots.insert(0, empty((low, slots[0].bounds.0)));
        slots.push(empty((slots[slots.len() - 1].bounds.1, high)));
    }
    let mark = |(name, at): (&str, f64)| Mark { at, label: format!("{name} {}", number(at, 2)) };
    let marks = [("p50", latency.p50_ms), ("p95", latency.p95_ms), ("p99", latency.p99_ms)].map(mark);
    let marks = if slots.is_empty() { &[] } else { &marks[..] };
    histogram(&slots, marks, "milliseconds, logarithmic", true, false, "Recalls by their latency")
}

fn latency(latency: &Percentiles, bins: &[Bin]) -> String {
    let note = format!(
        "{} recalls, end to end; the slowest took {} ms.",
        count(latency.count),
        number(latency.max_ms, 2)
    );
    figure("Latency", &note, &latency_plot(latency, bins, None))
}

/// The histograms of several reports over one axis.
pub(super) fn latencies_side_by_side(reports: &[Report]) -> String {
    let bins = || reports.iter().flat_map(|report| &report.evaluation.latency_bins);
    let low = bins().map(|bin| bin.from_ms).filter(|low| *low > 0.0).fold(f64::INFINITY, f64::min);
    let high = bins().map(|bin| bin.to_ms).fold(0.0, f64::max);
    let mut html = String::new();
    for report in reports {
        let Evaluation { latency, latency_bins, .. } = &report.evaluation;
        let drawing = latency_plot(latency, latency_bins, (low < high).then_some((low, high)));
        let note = format!("{} recalls, over the same axis for all data.", count(latency.count));
        html.push_str(&figure(&format!("Latency: {}", report.shape), &note, &drawing));
    }
    html
}

/// How many points recall loses without each signal, the most first, and what signals reach
/// alone.
fn ablations(report: &Report) -> String {
    let full = &report.evaluation.total;
    let points = |variant: &Variant| -> Vec<f64> {
        let (with, without) = (recall(full), recall(&variant.evaluation.total));
        [0, 2].map(|at| without[at] - with[at]).to_vec()
    };
    let bar = |name: &str, variant: &Variant| Bar {
        label: name.to_owned(),
        note: String::new(),
        values: points(variant),
    };
    let left_out = |variant: &Variant| Some(bar(variant.variant.strip_prefix("- ")?, variant));
    let mut bars: Vec<Bar> = report.ablations.iter().filter_map(left_out).collect();
    if bars.is_empty() {
        return String::new();
    }
    bars.sort_by(|a, b| a.values[1].total_cmp(&b.values[1]).then(a.values[0].total_cmp(&b.values[0])));
    let series = ["@1".to_owned(), "@10".to_owned()];
    let noise = full.error(2) * 100.0;
    let mut html = figure(
        "What each signal is worth",
        "Points of recall that are lost without it, the most at ten cards first. Shaded: one standard error \
         of recall@10.",
        &diverging(&series, &bars, noise, "Change of recall without each signal, sorted"),
    );
    let others = report
        .ablations
        .iter()
        .filter(|variant| !variant.variant.starts_with("- ") && variant.variant != "full");
    let bar = |variant: &Variant| Bar {
        label: variant.variant.clone(),
        note: String::new(),
        values: recall(&variant.evaluation.total),
    };
    let mut bars: Vec<Bar> = others.map(bar).collect();
    if !bars.is_empty() {
        bars.insert(0, Bar { label: "everything".into(), note: String::new(), values: recall(full) });
        html.push_str(&figure(
            "What signals reach alone",
            "Recall with everything, and with nothing but what is named.",
            &nested(&rank_names(), &bars, "Recall of single signals"),
        ));
    }
    html
}

/// The share of questions about changed facts in which the new comes before the old.
fn settled(evaluation: &Evaluation) -> String {
    let groups = evaluation.categories.iter().filter(|(_, found)| found.settled_questions > 0);
    let bar = |(name, found): (&str, &Found)| Bar {
        label: name.to_owned(),
        note: questions(found.settled_questions),
        values: vec![found.settled * 100.0],
    };
    let mut bars: Vec<Bar> = groups.map(|(name, found)| bar((name, found))).collect();
    if bars.is_empty() {
        return String::new();
    }
    bars.insert(0, bar(("all", &evaluation.total)));
    figure(
        "Outdated facts",
        "Per cent of the questions about what has changed in which nothing outdated comes before the first \
         evidence.",
        &nested(&["settled".to_owned()], &bars, "Share of settled questions by category"),
    )
}

/// Scores of the first hits of questions with and without an answer.
fn abstention(evaluation: &Evaluation) -> String {
    let Some(abstention) = &evaluation.abstention else { return String::new() };
    let slots = |scores: &TopScores, series: usize| -> Vec<Slot> {
        let slot = |(at, part): (usize, &usize)| {
            let bound = |at: usize| at as f64 / SCORE_BINS as f64;
            let what = format!("{} to {}", number(bound(at), 2), number(bound(at + 1), 2));
            Slot {
                bounds: (bound(at), bound(at + 1)),
                height: *part as f64 / scores.questions.max(1) as f64 * 100.0,
                title: share_title(&what, *part, scores.questions),
                series,
                label: None,
            }
        };
        scores.bins.iter().enumerate().map(slot).collect()
    };
    let marks = [Mark { at: abstention.threshold, label: format!("threshold {}", abstention.threshold) }];
    let mut html = String::new();
    let kinds =
        [("without an answer", &abstention.unanswerable, 2), ("with an answer", &abstention.answerable, 1)];
    for (what, scores, series) in kinds {
        let drawing =
            histogram(&slots(scores, series), &marks, "score", false, true, "Scores of the first hits");
        let note = format!(
            "Per cent of {} questions by the score of their first hit. Its mean is {}; {} % have no hit that \
             reaches the threshold.",
            count(scores.questions),
            number(scores.mean, 3),
            percent(scores.silent)
        );
        html.push_str(&figure(&format!("First hits of questions {what}"), &note, &drawing));
    }
    html
}
