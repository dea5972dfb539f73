//! The kinds of plots that the page of results shows.

use super::{
    Anchor, Drawing, Scale, TYPE, WIDTH, apart, count, fitting, fitting_ends, log_label, log_ticks, number,
    round_ticks, text_width, thinned,
};

/// How much wider bold type is.
const BOLD: f64 = 1.12;
/// A bar this many times as long as the next is broken off, so that the others can be seen.
const BREAK: f64 = 3.0;

/// A row of nested or diverging bars.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it is about.
    pub label: String,
    /// Said beside the label in lighter type.
    pub note: String,
    /// Values, one for each series.
    pub values: Vec<f64>,
}

/// Shares that grow from series to series, as bars one upon the other: the difference between
/// two shades is what the later series adds. Values are per cent.
pub fn nested(series: &[String], bars: &[Bar], description: &str) -> String {
    let mut drawing = Drawing::default();
    let column = |at: usize| WIDTH - (series.len() - 1 - at) as f64 * 44.0;
    for (at, name) in series.iter().enumerate() {
        let width = text_width(name, TYPE);
        drawing.rect((column(at) - width - 13.0, 3.0, 9.0, 9.0), &shade(at), "");
        drawing.text((column(at), 12.0), name, Anchor::End, "faint");
    }
    let scale = Scale::linear((0.0, 100.0), (0.0, WIDTH));
    let (mut y, row) = (22.0, 38.0);
    let ticks = round_ticks(0.0, 100.0, 6);
    for bar in bars {
        let room = column(0) - 46.0 - text_width(&bar.note, TYPE);
        let label = fitting(&bar.label, TYPE, room);
        drawing.text((0.0, y + 13.0), &label, Anchor::Start, "label");
        let beside = text_width(&label, TYPE) * 1.06 + 8.0;
        drawing.text((beside, y + 13.0), &bar.note, Anchor::Start, "faint");
        drawing.rect((0.0, y + 19.0, WIDTH, 11.0), "track", "");
        for (at, value) in bar.values.iter().enumerate() {
            drawing.text((column(at), y + 13.0), &number(*value, 1), Anchor::End, "value");
        }
        // The longest first, so that the shorter lie upon it.
        for (at, value) in bar.values.iter().enumerate().rev() {
            let title = format!("{}, {}: {} %", bar.label, series[at], number(*value, 1));
            drawing.rect((0.0, y + 19.0, scale.at(*value), 11.0), &shade(at), &title);
        }
        for tick in &ticks {
            drawing.line((scale.at(*tick), y + 30.0), (scale.at(*tick), y + 32.0), "tick");
        }
        y += row;
    }
    let places: Vec<f64> = ticks.iter().map(|tick| scale.at(*tick)).collect();
    for (at, (tick, x)) in ticks.iter().zip(places).enumerate() {
        let anchor = match at {
            0 => Anchor::Start,
            at if at + 1 == ticks.len() => Anchor::End,
            _ => Anchor::Middle,
        };
        drawing.text((x, y + 8.0), &format!("{} %", number(*tick, 0)), anchor, "faint");
    }
    drawing.finish(y + 12.0, description)
}

fn shade(at: usize) -> String {
    format!("k{}", at + 1)
}

/// Bars to the left and right of a zero line, with their values in columns beside them. What
/// lies within `noise` of zero is shaded. A bar that is much longer than all others is broken
/// off.
pub fn diverging(series: &[String], bars: &[Bar], noise: f64, description: &str) -> String {
    let mut drawing = Drawing::default();
    let columns = series.len() as f64 * 46.0;
    let (left, right) = (152.0, WIDTH - columns - 8.0);
    let values = || bars.iter().flat_map(|bar| bar.values.iter().copied());
    let limit = reach(bars).max(noise * 2.0);
    let low = values().fold(-noise, f64::min).max(-limit);
    let high = values().fold(noise, f64::max).clamp(1e-9, limit.max(1e-9));
    let scale = Scale::linear((low, high), (left, right));
    let (top, row) = (22.0, 11.0 * series.len() as f64 + 8.0);
    let bottom = top + row * bars.len() as f64;
    drawing.rect(
        (scale.at(-noise), top - 2.0, scale.at(noise) - scale.at(-noise), bottom - top + 2.0),
        "noise",
        "",
    );
    for tick in round_ticks(low, high, 4) {
        let x = scale.at(tick);
        drawing.line((x, top - 2.0), (x, bottom), if tick == 0.0 { "axis" } else { "grid" });
        let decimals = usize::from(tick.fract().abs() > 1e-9);
        drawing.text((x, bottom + 14.0), &number(tick, decimals), Anchor::Middle, "faint");
    }
    let column = |at: usize| WIDTH - (series.len() - 1 - at) as f64 * 46.0;
    for (at, name) in series.iter().enumerate() {
        let width = text_width(name, TYPE);
        drawing.rect((column(at) - width - 13.0, 3.0, 9.0, 9.0), &format!("s{}", at + 1), "");
        drawing.text((column(at), 12.0), name, Anchor::End, "faint");
    }
    for (number_of_row, bar) in bars.iter().enumerate() {
        let y = top + row * number_of_row as f64;
        let middle = y + row / 2.0;
        let label = fitting(&bar.label, TYPE, left - 8.0);
        drawing.text((0.0, middle + 4.0), &label, Anchor::Start, "label");
        for (at, value) in bar.values.iter().enumerate() {
            let (from, to) = (scale.at(value.min(0.0)), scale.at(value.max(0.0)));
            let signed = signed(*value);
            let title = format!("{}, {}: {signed}", bar.label, series[at]);
            let place = (from, y + 4.0 + 11.0 * at as f64, (to - from).max(0.8), 10.0);
            drawing.rect(place, &format!("s{}", at + 1), &title);
            if *value < low || *value > high {
                let x = if *value < low { left + 12.0 } else { right - 18.0 };
                let y = y + 4.0 + 11.0 * at as f64;
                drawing.path(&[(x, y + 11.0), (x + 6.0, y - 1.0)], "break");
            }
            drawing.text((column(at), middle + 4.0), &signed, Anchor::End, "value");
        }
    }
    drawing.finish(bottom + 20.0, description)
}

/// How far the axis of diverging bars goes: to the longest, but for those that would make all
/// others invisible.
fn reach(bars: &[Bar]) -> f64 {
    let longest = |bar: &Bar| bar.values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let mut lengths: Vec<f64> = bars.iter().map(longest).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    match lengths.as_slice() {
        [.., next, last] if *next > 0.0 && *last > *next * BREAK => *next * 1.3,
        [.., last] => *last,
        [] => 0.0,
    }
}

fn signed(value: f64) -> String {
    let text = number(value, 1);
    if value >= 0.05 { format!("+{text}") } else { text }
}

/// One bar of a histogram.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its lower and upper bound.
    pub bounds: (f64, f64),
    /// How high it is.
    pub height: f64,
    /// What is said when it is pointed at.
    pub title: String,
    /// Number of its series, from 1.
    pub series: usize,
    /// Said below it instead of numbers along the axis.
    pub label: Option<String>,
}

/// A line at a place of the axis, with its label on top.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Where.
    pub at: f64,
    /// What it marks.
    pub label: String,
}

/// Bars over an axis, which is logarithmic where `log`; `unit` is said at its end. Heights are
/// numbers, or per cent where `percent`.
pub fn histogram(
    slots: &[Slot],
    marks: &[Mark],
    unit: &str,
    log: bool,
    percent: bool,
    description: &str,
) -> String {
    let mut drawing = Drawing::default();
    if slots.is_empty() {
        drawing.text((WIDTH / 2.0, 30.0), "nothing was measured", Anchor::Middle, "faint");
        return drawing.finish(50.0, description);
    }
    let low = slots.iter().map(|slot| slot.bounds.0).fold(f64::INFINITY, f64::min);
    let high = slots.iter().map(|slot| slot.bounds.1).fold(f64::NEG_INFINITY, f64::max);
    let highest = slots.iter().map(|slot| slot.height).fold(0.0, f64::max).max(1e-9);
    let (top, bottom) = (if marks.is_empty() { 14.0 } else { 30.0 }, 178.0);
    let ticks = round_ticks(0.0, highest, 5);
    let tick_label = |tick: f64| {
        let step = ticks.get(1).copied().unwrap_or(1.0);
        let text = number(tick, usize::from(percent && step < 1.0));
        if percent { format!("{text} %") } else { text }
    };
    let left = ticks.iter().map(|tick| text_width(&tick_label(*tick), TYPE)).fold(0.0, f64::max) + 8.0;
    let heights = Scale::linear((0.0, highest), (bottom, top));
    let scale = match log {
        true => Scale::log((low, high), (left, WIDTH)),
        false => Scale::linear((low, high), (left, WIDTH)),
    };
    for tick in &ticks {
        // A count below 1 is none.
        if percent || tick.fract() == 0.0 {
            let y = heights.at(*tick);
            drawing.line((left, y), (WIDTH, y), if *tick == 0.0 { "axis" } else { "grid" });
            drawing.text((left - 6.0, y + 4.0), &tick_label(*tick), Anchor::End, "faint");
        }
    }
    let gap = if slots.len() > 60 { 0.2 } else { 0.8 };
    for slot in slots {
        let (from, to) = (scale.at(slot.bounds.0), scale.at(slot.bounds.1));
        let y = heights.at(slot.height);
        let place = (from + gap, y, to - from - 2.0 * gap, bottom - y);
        drawing.rect(place, &format!("s{}", slot.series), &slot.title);
    }
    let labels: Vec<(f64, String)> = match slots.iter().any(|slot| slot.label.is_some()) {
        true => {
            let middle = |slot: &Slot| (scale.at(slot.bounds.0) + scale.at(slot.bounds.1)) / 2.0;
            let label = |slot: &Slot| Some((middle(slot), slot.label.clone()?));
            slots.iter().filter_map(label).collect()
        }
        false => {
            let ticks = if log { log_ticks(low, high, 9) } else { round_ticks(low, high, 6) };
            let label = |tick: f64| if log { log_label(tick) } else { number(tick, 1) };
            ticks.into_iter().map(|tick| (scale.at(tick), label(tick))).collect()
        }
    };
    let unit_width = text_width(unit, TYPE);
    let sizes: Vec<(f64, f64)> = labels.iter().map(|(x, text)| (*x, text_width(text, TYPE))).collect();
    for ((x, text), shown) in labels.iter().zip(thinned(&sizes, 4.0)) {
        let width = text_width(text, TYPE);
        let x = x.clamp(left + width / 2.0, WIDTH - width / 2.0);
        if shown {
            drawing.text((x, bottom + 15.0), text, Anchor::Middle, "faint");
        }
    }
    drawing.text((WIDTH, bottom + 31.0), &fitting(unit, TYPE, WIDTH.max(unit_width)), Anchor::End, "faint");
    let widths: Vec<(f64, f64)> =
        marks.iter().map(|mark| (scale.at(mark.at), text_width(&mark.label, TYPE) * BOLD)).collect();
    for ((mark, (x, _)), middle) in marks.iter().zip(&widths).zip(apart(&widths, 7.0, 0.0, WIDTH)) {
        // From the label aslant to the place, where the label had to move.
        drawing.path(&[(middle, 15.0), (*x, 26.0), (*x, bottom)], "mark");
        drawing.text((middle, 11.0), &mark.label, Anchor::Middle, "value");
    }
    drawing.finish(bottom + 36.0, description)
}

/// A line of a plot of slopes.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is about, said at its end.
    pub label: String,
    /// A value in per cent for each place of the axis.
    pub values: Vec<f64>,
}

/// Lines over a few places of an axis, labelled at their ends.
pub fn slopes(places: &[String], lines: &[Line], description: &str) -> String {
    let mut drawing = Drawing::default();
    let lowest = lines.iter().flat_map(|line| &line.values).copied().fold(100.0, f64::min);
    let low = if lowest > 50.0 { 50.0 } else { 0.0 };
    let (left, right) = (44.0, 206.0);
    let (top, bottom) = (12.0, (lines.len() as f64 * 17.0).clamp(196.0, 420.0));
    let heights = Scale::linear((low, 100.0), (bottom, top));
    for tick in round_ticks(low, 100.0, 6) {
        let y = heights.at(tick);
        drawing.line((left, y), (right, y), if tick == low { "axis" } else { "grid" });
        drawing.text((left - 6.0, y + 4.0), &format!("{} %", number(tick, 0)), Anchor::End, "faint");
    }
    let steps = places.len().saturating_sub(1).max(1) as f64;
    let x = |at: usize| left + 12.0 + (right - left - 24.0) * at as f64 / steps;
    for (at, place) in places.iter().enumerate() {
        drawing.text((x(at), bottom + 16.0), place, Anchor::Middle, "faint");
    }
    // Labels in order of where their lines end.
    let end = |line: &Line| heights.at(line.values.last().copied().unwrap_or(low));
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|a, b| end(&lines[*a]).total_cmp(&end(&lines[*b])));
    let sizes: Vec<(f64, f64)> = order.iter().map(|at| (end(&lines[*at]), 14.0)).collect();
    let middles = apart(&sizes, 1.0, 0.0, bottom + 8.0);
    for (at, middle) in order.into_iter().zip(middles) {
        let line = &lines[at];
        let series = format!("s{}", at % 6 + 1);
        let points: Vec<(f64, f64)> =
            line.values.iter().enumerate().map(|(at, value)| (x(at), heights.at(*value))).collect();
        drawing.path(&points, &format!("stroke {series}"));
        for ((point, value), place) in points.iter().zip(&line.values).zip(places) {
            let title = format!("{}, {place}: {} %", line.label, number(*value, 1));
            drawing.dot(*point, &series, &title);
        }
        if let Some(last) = points.last() {
            drawing.line((last.0 + 5.0, last.1), (right + 4.0, middle), "leader");
        }
        let label = fitting_ends(&line.label, TYPE, WIDTH - right - 56.0);
        drawing.dot((right + 10.0, middle), &series, &line.label);
        drawing.text((right + 18.0, middle + 4.0), &label, Anchor::Start, "label");
        let last = line.values.last().copied().unwrap_or_default();
        drawing.text((WIDTH, middle + 4.0), &number(last, 1), Anchor::End, "value");
    }
    drawing.finish(bottom + 22.0, description)
}

/// Parts of a score upon each other: what adds to it to the right of the zero line, what takes
/// away to the left. Each part has a class, a name and a value; `reach` is the greatest sum to
/// the left and to the right of all bars that are compared.
pub fn stack(parts: &[(&str, String, f64)], reach: (f64, f64), description: &str) -> String {
    let mut drawing = Drawing::default();
    let scale = Scale::linear((-reach.0, reach.1.max(1e-9)), (0.0, WIDTH));
    let (mut left, mut right) = (0.0, 0.0);
    for (class, name, value) in parts {
        let end = if *value < 0.0 { &mut left } else { &mut right };
        let (from, to) = (scale.at(*end), scale.at(*end + value));
        *end += value;
        let title = format!("{name} {}", number(*value, 3));
        drawing.rect((from.min(to), 2.0, (to - from).abs(), 10.0), class, &title);
    }
    drawing.line((scale.at(0.0), 0.0), (scale.at(0.0), 14.0), "axis");
    drawing.finish(14.0, description)
}

/// What a bar of a histogram stands for, as its title.
pub(crate) fn share_title(what: &str, part: usize, whole: usize) -> String {
    let share = part as f64 / whole.max(1) as f64 * 100.0;
    format!("{what}: {} of {} ({} %)", count(part), count(whole), number(share, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(values: &[f64]) -> Bar {
        Bar { label: "a label".into(), note: String::new(), values: values.to_vec() }
    }

    /// The numbers of an attribute in order.
    fn numbers(svg: &str, class: &str, attribute: &str) -> Vec<f64> {
        let with = |element: &&str| element.contains(&format!("class=\"{class}\""));
        let number = |element: &str| {
            let (_, rest) = element.split_once(&format!(" {attribute}=\""))?;
            rest.split_once('"')?.0.parse().ok()
        };
        svg.split('<').filter(with).filter_map(number).collect()
    }

    #[test]
    fn the_longest_nested_bar_lies_below_the_others() {
        let series: Vec<String> = ["@1", "@5"].map(String::from).into();
        let svg = nested(&series, &[bar(&[25.0, 50.0])], "what");
        // The first of each class is in the legend.
        assert_eq!(numbers(&svg, "k1", "width"), [9.0, 100.0]);
        assert_eq!(numbers(&svg, "k2", "width"), [9.0, 200.0]);
        assert!(svg.rfind("class=\"k2\"") < svg.rfind("class=\"k1\""));
    }

    #[test]
    fn a_bar_that_dwarfs_the_others_is_broken_off() {
        let series = ["@1".to_owned()];
        let even = diverging(&series, &[bar(&[-4.0]), bar(&[2.0])], 0.5, "what");
        assert!(!even.contains("class=\"break\""));
        let widths = numbers(&even, "s1", "width");
        assert!((widths[1] / widths[2] - 2.0).abs() < 0.01, "{widths:?}");
        let long = diverging(&series, &[bar(&[-40.0]), bar(&[2.0])], 0.5, "what");
        assert_eq!(long.matches("class=\"break\"").count(), 1);
        assert!(long.contains(">−40.0</text>") && long.contains(">+2.0</text>"));
        assert!(diverging(&series, &[], 0.0, "what").starts_with("<svg"));
    }

    #[test]
    fn histograms_are_as_high_as_their_numbers() {
        let slot = |at: f64, height: f64| Slot {
            bounds: (at, at + 1.0),
            height,
            title: String::new(),
            series: 1,
            label: None,
        };
        let marks = ["p50", "p95", "p99"].map(|label| Mark { at: 1.5, label: label.into() });
        let svg = histogram(&[slot(1.0, 3.0), slot(2.0, 6.0)], &marks, "unit", false, false, "what");
        let heights = numbers(&svg, "s1", "height");
        assert_eq!(heights[0] * 2.0, heights[1]);
        let places = numbers(&svg, "value", "x");
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= text_width("p50", TYPE)), "{places:?}");
        assert!(histogram(&[], &[], "unit", true, false, "what").contains("nothing was measured"));
    }

    #[test]
    fn labels_of_lines_that_end_together_are_apart() {
        let places = ["@1".to_owned(), "@10".to_owned()];
        let lines: Vec<Line> =
            (0..8).map(|at| Line { label: format!("line {at}"), values: vec![20.0, 90.0] }).collect();
        let svg = slopes(&places, &lines, "what");
        let heights = numbers(&svg, "label", "y");
        assert_eq!(heights.len(), 8);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= 14.0), "{heights:?}");
        assert!(slopes(&places, &[], "what").starts_with("<svg"));
    }

    #[test]
    fn parts_go_both_ways_from_zero() {
        let parts =
            [("keywords", "k".to_owned(), 0.6), ("less", "r".to_owned(), -0.2), ("date", "d".into(), 0.2)];
        let svg = stack(&parts, (0.2, 0.8), "what");
        assert_eq!(numbers(&svg, "less", "x"), [0.0]);
        assert_eq!(numbers(&svg, "keywords", "x"), [80.0]);
        assert_eq!(numbers(&svg, "date", "x"), [320.0]);
        assert_eq!(numbers(&svg, "date", "width"), [80.0]);
    }
}
