//! The page of results: one HTML file that needs nothing but itself, to look at rather than
//! to read. It shows one evaluation, or several side by side.

mod missed;
mod sections;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::Outcome;
use crate::figures::{Evaluation, Found, RANKS, Report};
use crate::files::FileError;
use crate::plot::{Line, count, escape, number, slopes};

/// Reads what evaluations have printed as JSON: a report, or several of one data set. Reports
/// of the same shape are told apart by the names of their files.
///
/// # Errors
/// When a file cannot be read or holds something else.
pub fn read(files: &[PathBuf]) -> Outcome<Vec<Report>> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Printed {
        One(Box<Report>),
        Several(Vec<Report>),
    }
    let mut reports: Vec<(Report, String)> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| FileError::new(file, error))?;
        let printed = serde_json::from_str(&text)
            .map_err(|error| FileError::new(file, format!("not the JSON of an evaluation: {error}")))?;
        let found = match printed {
            Printed::One(report) => vec![*report],
            Printed::Several(reports) => reports,
        };
        let name = file.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        reports.extend(found.into_iter().map(|report| (with_counts(report), name.clone())));
    }
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    for (report, _) in &reports {
        *shapes.entry(report.shape.clone()).or_default() += 1;
    }
    let distinct = |(mut report, name): (Report, String)| {
        if shapes.get(&report.shape).is_some_and(|count| *count > 1) {
            report.shape = format!("{}, {name}", report.shape);
        }
        report
    };
    Ok(reports.into_iter().map(distinct).collect())
}

/// Reports of older versions say only how many questions there are: all were labelled.
fn with_counts(mut report: Report) -> Report {
    let Evaluation { total, categories, corpora, .. } = &mut report.evaluation;
    let older = total.turn_questions == 0 && total.session_questions == 0;
    for found in [total].into_iter().chain(categories.values_mut()).chain(corpora.values_mut()) {
        if older {
            (found.turn_questions, found.session_questions) = (found.questions, found.questions);
        }
    }
    report
}

/// The page about some evaluations.
pub fn render(title: &str, reports: &[Report]) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<header><h1>{0}</h1>\
         <p class=\"faint\">Questions with labelled answers are put to the memory as an agent would put them. \
         Recall at k is the share of a question's evidence that is among the first k cards.</p>",
        escape(title),
        include_str!("style.css")
    );
    if reports.len() > 1 {
        html.push_str("<nav aria-label=\"Data sets\">");
        for (at, report) in reports.iter().enumerate() {
            let _ = write!(html, "<a href=\"#data-{at}\">{}</a>", escape(&report.shape));
        }
        html.push_str("</nav>");
    }
    html.push_str("</header>\n<main>\n");
    if reports.len() > 1 {
        html.push_str(&side_by_side(reports));
    }
    for (at, report) in reports.iter().enumerate() {
        let _ = writeln!(html, "{}", sections::data_set(at, report));
    }
    let _ = write!(
        html,
        "</main>\n<footer>memcards {}. Latency is end to end, with the embedding of the question, on one \
         thread of the machine that ran the evaluation. Hits after the twentieth count as not found.</footer>\n\
         </body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    html
}

/// A share as per cent.
fn percent(share: f64) -> String {
    number(share * 100.0, 1)
}

fn rank_names() -> Vec<String> {
    RANKS.iter().map(|rank| format!("@{rank}")).collect()
}

/// Recall in per cent: of turns, or of sessions where only they are labelled.
fn recall(found: &Found) -> Vec<f64> {
    let shares = if found.turn_questions > 0 { &found.recall } else { &found.sessions };
    shares.iter().map(|share| share * 100.0).collect()
}

fn side_by_side(reports: &[Report]) -> String {
    let mut html = String::from(
        "<section><div class=\"title\"><h2>Side by side</h2></div>\
         <figure class=\"wide\"><div class=\"scroll\"><table><thead><tr><th>data</th><th>questions</th>",
    );
    for rank in rank_names() {
        let _ = write!(html, "<th>recall {rank}</th>");
    }
    html.push_str(
        "<th>any @10</th><th>all @10</th><th>sessions @10</th><th>settled</th><th>p50 ms</th><th>p95 ms</th>\
         <th>p99 ms</th></tr></thead><tbody>",
    );
    for (at, report) in reports.iter().enumerate() {
        let Evaluation { total, latency, .. } = &report.evaluation;
        let _ = write!(
            html,
            "<tr><td><a href=\"#data-{at}\">{}</a></td><td>{}</td>",
            escape(&report.shape),
            count(total.questions)
        );
        let settled = match total.settled_questions {
            0 => "–".to_owned(),
            _ => percent(total.settled),
        };
        let shares = recall(total).into_iter().map(|share| number(share, 1));
        let more = [percent(total.any[2]), percent(total.all[2]), percent(total.sessions[2]), settled];
        let times = [latency.p50_ms, latency.p95_ms, latency.p99_ms].map(|ms| number(ms, 2));
        for cell in shares.chain(more).chain(times) {
            let _ = write!(html, "<td>{cell}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div></figure>");
    let line =
        |report: &Report| Line { label: report.shape.clone(), values: recall(&report.evaluation.total) };
    let lines: Vec<Line> = reports.iter().map(line).collect();
    let _ = write!(
        html,
        "<div class=\"plots\"><figure><figcaption><h3>Recall by rank</h3><p class=\"note\">How much of the \
         evidence is there when more cards are looked at.</p></figcaption>{}</figure>",
        slopes(&rank_names(), &lines, "Recall at each rank, a line for each data set")
    );
    html.push_str(&sections::latencies_side_by_side(reports));
    html.push_str("</div></section>\n");
    html
}
