//! Pictures of a [`Simulation`]: an SVG for pages and a block of text for terminals.
//!
//! Both are plain strings made of the figures alone. The SVG stands on its own (no scripts,
//! fonts or files from elsewhere) and follows the reader's light or dark setting.

use std::fmt::Write as _;

use super::simulate::{Counts, Simulation};

const WIDTH: f64 = 720.0;
/// Room left of the plots for the figures of the axis, and right of them.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
/// Room above the first plot for title and legend.
const HEAD: f64 = 72.0;
const PLOT: f64 = 96.0;
/// From the top of one plot to that of the next.
const PITCH: f64 = 150.0;
/// Most points of one line: more than this is finer than the picture.
const MOST_POINTS: usize = 400;

/// What is stacked, from the bottom up: name, class or fill, and how to count it.
type Part = (&'static str, &'static str, fn(&Counts) -> u64);
const PARTS: [Part; 3] = [
    ("active", "█", |counts| counts.active),
    ("cold", "▒", |counts| counts.cold),
    ("gone", "·", |counts| counts.gone),
];

/// Every selector names the picture, so that a page that holds it keeps its own look.
const STYLE: &str = "\
.simulation{background:#fff;color:#1f2328;font:13px system-ui,sans-serif}\
.simulation text{fill:currentColor}.simulation .title{font-size:17px;font-weight:600}\
.simulation .name{font-weight:600}.simulation .figure{font-size:11px;opacity:.75}\
.simulation .grid{stroke:currentColor;stroke-opacity:.16}.simulation .axis{stroke:currentColor;stroke-opacity:.5}\
.simulation .active{fill:#0969da}.simulation .cold{fill:#54aeff}.simulation .gone{fill:#c4ccd4}\
.simulation .edge{stroke:#fff;stroke-width:1;fill:none}\
@media(prefers-color-scheme:dark){.simulation{background:#0d1117;color:#e6edf3}\
.simulation .active{fill:#4493f8}.simulation .cold{fill:#1f4f8f}.simulation .gone{fill:#3d444d}\
.simulation .edge{stroke:#0d1117}}";

/// A picture of what became of the cards: one stacked area chart for each category over days.
pub fn to_svg(simulation: &Simulation) -> String {
    let days = simulation.days.len().saturating_sub(1);
    let height = HEAD + PITCH * simulation.categories.len() as f64;
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" class=\"simulation\"><title>What becomes of the \
         cards in {days} days</title><style>{STYLE}</style>\
         <text class=\"title\" x=\"{LEFT}\" y=\"28\">What becomes of the cards in {days} days</text>"
    );
    let mut x = LEFT;
    for (name, ..) in PARTS {
        let _ = write!(
            svg,
            "<rect class=\"{name}\" x=\"{x}\" y=\"41\" width=\"12\" height=\"12\" rx=\"2\"/>\
             <text x=\"{}\" y=\"51\">{name}</text>",
            x + 18.0
        );
        x += 84.0;
    }
    for (place, category) in simulation.categories.iter().enumerate() {
        plot(&mut svg, simulation, place, category, HEAD + PITCH * place as f64);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The chart of one category, its top edge at `top`.
fn plot(svg: &mut String, simulation: &Simulation, place: usize, category: &str, top: f64) {
    let series: Vec<Counts> =
        simulation.days.iter().filter_map(|day| day.counts.get(place).copied()).collect();
    let Some(last) = series.last() else { return };
    let most = series.iter().map(Counts::total).max().unwrap_or(0).max(1);
    let days = series.len() - 1;
    let (top, bottom) = (top + 22.0, top + 22.0 + PLOT);
    let x = |day: usize| LEFT + (WIDTH - LEFT - RIGHT) * day as f64 / days.max(1) as f64;
    let y = |count: u64| bottom - PLOT * count as f64 / most as f64;
    let _ = write!(
        svg,
        "<text class=\"name\" x=\"{LEFT}\" y=\"{:.1}\">{}</text>\
         <text class=\"figure\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">at the end: {} active, {} cold, {} gone</text>",
        top - 7.0,
        escape(category),
        WIDTH - RIGHT,
        top - 7.0,
        last.active,
        last.cold,
        last.gone
    );
    let step = series.len().div_ceil(MOST_POINTS).max(1);
    let mut points: Vec<usize> = (0..series.len()).step_by(step).collect();
    if points.last() != Some(&days) {
        points.push(days);
    }
    let mut floor: Vec<u64> = vec![0; series.len()];
    for (name, _, count) in PARTS {
        let ceiling: Vec<u64> =
            floor.iter().zip(&series).map(|(below, counts)| below.saturating_add(count(counts))).collect();
        let mut path = String::new();
        for (i, day) in points.iter().enumerate() {
            let _ = write!(path, "{}{:.1},{:.1}", if i == 0 { 'M' } else { 'L' }, x(*day), y(ceiling[*day]));
        }
        let edge = path.clone();
        for day in points.iter().rev() {
            let _ = write!(path, "L{:.1},{:.1}", x(*day), y(floor[*day]));
        }
        let _ = write!(svg, "<path class=\"{name}\" d=\"{path}Z\"/><path class=\"edge\" d=\"{edge}\"/>");
        floor = ceiling;
    }
    let mut levels = vec![0, most / 2, most];
    levels.dedup();
    for level in levels {
        let (right, y) = (WIDTH - RIGHT, y(level));
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
             <text class=\"figure\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{level}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let _ = write!(
        svg,
        "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{:.1}\" y2=\"{bottom}\"/>",
        WIDTH - RIGHT
    );
    for day in ticks(days, 8) {
        let label = if day == 0 { "day 0".to_owned() } else { day.to_string() };
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{x:.1}\" y1=\"{bottom}\" x2=\"{x:.1}\" y2=\"{:.1}\"/>\
             <text class=\"figure\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + 4.0,
            bottom + 16.0,
            x = x(day),
        );
    }
}

/// Round numbers of days from 0 to `days`, at most `most` + 1 of them.
fn ticks(days: usize, most: usize) -> impl Iterator<Item = usize> {
    let steps = [1, 2, 5, 7, 10, 14, 30, 60, 90, 180, 365, 730, 1825, 3650];
    let step = steps.into_iter().find(|step| days / step <= most).unwrap_or(days.max(1));
    (0..=days).step_by(step)
}

/// A chart of all cards and a table of the last day, for a terminal.
///
/// `width` (at least 30) bounds every line of the chart, `height` (at least 3) is that of the
/// plot alone. Names of categories are cut where they would not fit.
pub fn to_text(simulation: &Simulation, width: usize, height: usize) -> String {
    let (width, height) = (width.clamp(30, 400), height.clamp(3, 100));
    let days = simulation.days.len().saturating_sub(1);
    let totals: Vec<Counts> = (0..simulation.days.len()).map(|day| simulation.total(day)).collect();
    let most = totals.iter().map(Counts::total).max().unwrap_or(0).max(1);
    let margin = most.to_string().len().max(5);
    let columns = width - margin - 2;
    // Which part of the stack each cell of a column lies in, from the bottom up.
    let cells = |counts: &Counts| -> Vec<&'static str> {
        let cell = |row: usize| {
            let at = (row as f64 + 0.5) / height as f64 * most as f64;
            let mut sum = 0.0;
            let mut parts = PARTS.iter();
            let part = parts.find(|(_, _, count)| {
                sum += count(counts) as f64;
                at < sum
            });
            part.map_or(" ", |(_, fill, _)| *fill)
        };
        (0..height).map(cell).collect()
    };
    let day_of = |column: usize| column * days / (columns - 1).max(1);
    let plot: Vec<Vec<&str>> =
        (0..columns).map(|column| totals.get(day_of(column)).map(cells).unwrap_or_default()).collect();
    let mut text = String::new();
    let legend: Vec<String> = PARTS.iter().map(|(name, fill, _)| format!("{fill} {name}")).collect();
    let _ = writeln!(text, "{:>margin$}  {}", "cards", legend.join("  "));
    for row in (0..height).rev() {
        let figure = match row {
            _ if row == height - 1 => most.to_string(),
            0 => "0".to_owned(),
            _ => String::new(),
        };
        let line: String = plot.iter().map(|column| column.get(row).copied().unwrap_or(" ")).collect();
        let _ = writeln!(text, "{figure:>margin$} ┤{}", line.trim_end());
    }
    let (first, last) = ("day 0", days.to_string());
    let gap = (columns + 1).saturating_sub(first.len() + last.len());
    let _ = writeln!(text, "{:margin$} └{}", "", "─".repeat(columns));
    let _ = writeln!(text, "{:margin$} {first}{:gap$}{last}\n", "", "");
    table(&mut text, simulation, days, width);
    text
}

/// The counts of a day by category, with their sum.
fn table(text: &mut String, simulation: &Simulation, day: usize, width: usize) {
    let total = simulation.total(day);
    let figures = total.total().to_string().len().max(8);
    let names = simulation.categories.iter().map(|name| columns_of(name));
    let room = width.saturating_sub(3 * (figures + 1)).max(8);
    let column = names.max().unwrap_or(0).max(8).min(room);
    let mut row = |name: &str, cells: [String; 3]| {
        let name = fit(name, column);
        let [active, cold, gone] = cells;
        let _ = writeln!(text, "{name} {active:>figures$} {cold:>figures$} {gone:>figures$}");
    };
    row("category", PARTS.map(|(name, ..)| name.to_owned()));
    let counts = simulation.days.get(day).map(|day| day.counts.as_slice()).unwrap_or_default();
    for (name, counts) in simulation.categories.iter().zip(counts) {
        row(name, PARTS.map(|(_, _, count)| count(counts).to_string()));
    }
    row("all", PARTS.map(|(_, _, count)| count(&total).to_string()));
    if let Some(day) = simulation.days.get(day)
        && day.rewarmed + day.missed + day.waiting > 0
    {
        let (rewarmed, missed, waiting) = (day.rewarmed, day.missed, day.waiting);
        let _ = writeln!(
            text,
            "\nuses of cold cards: {rewarmed}; too late: {missed}; waiting for a run: {waiting}"
        );
    }
}

/// A name in exactly so many columns of a terminal: filled up, or cut with an ellipsis.
fn fit(name: &str, column: usize) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let mut fitted = String::new();
    let mut taken = 0;
    let whole = columns_of(&name) <= column;
    for c in name.chars() {
        if !whole && taken + columns_of_char(c) + 1 > column {
            fitted.push('…');
            taken += 1;
            break;
        }
        fitted.push(c);
        taken += columns_of_char(c);
    }
    fitted.extend(std::iter::repeat_n(' ', column.saturating_sub(taken)));
    fitted
}

fn columns_of(text: &str) -> usize {
    text.chars().map(columns_of_char).sum()
}

/// Columns that a terminal gives a character: two for Han, kana, Hangul and full-width forms.
fn columns_of_char(c: char) -> usize {
    let wide = matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    if wide { 2 } else { 1 }
}

/// Text as it may stand in XML. Characters that XML does not allow become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
#[path = "chart_tests.rs"]
mod tests;
