//! Drawing plots as SVG: scales, round ticks, labels that do not overlap. Colours are classes
//! (`s1` to `s6` for series) that the page around the drawing defines, for light and dark.

mod charts;

use std::fmt::Write;

pub(crate) use charts::share_title;
pub use charts::{Bar, Line, Mark, Slot, diverging, histogram, nested, slopes, stack};

/// Width of every drawing in units of its own; the page scales it to the room there is.
pub const WIDTH: f64 = 400.0;
/// Size of the type in drawings.
pub const TYPE: f64 = 12.0;

/// Text for HTML and SVG, in content and in quoted attributes. Characters that neither allows
/// are replaced, and so are those that turn the direction of what comes after them.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => safe.push('\u{FFFD}'),
            '\u{FFFE}' | '\u{FFFF}' => safe.push('\u{FFFD}'),
            c if c.is_control() => safe.push('\u{FFFD}'),
            c => safe.push(c),
        }
    }
    safe
}

/// About how wide a text is in the given size of type.
pub fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | '\'' | '|' | ' ' => 0.32,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        c if u32::from(c) >= 0x1100 => 1.0,
        c if c.is_uppercase() => 0.68,
        _ => 0.57,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// The beginning of a text that fits a width, with an ellipsis where something was left out.
pub fn fitting(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if text_width(&kept, size) + text_width("…", size) > width {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

/// The same with the beginning and the end of the text: names of one kind differ at their ends.
pub fn fitting_ends(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let reversed = |text: &str| text.chars().rev().collect::<String>();
    let start = fitting(text, size, width / 2.0);
    let end = fitting(&reversed(text), size, width / 2.0);
    format!("{}{}", start, reversed(end.trim_end_matches('…')))
}

/// A number with a fixed count of decimals and a real minus sign; never "−0".
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !zero { format!("−{text}") } else { text }
}

/// A count with its thousands apart.
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Round numbers (1, 2 or 5 times a power of ten apart) within a range, at most so many.
pub fn round_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return vec![low];
    }
    let least = span / most.max(3) as f64;
    let power = 10f64.powf(least.log10().floor());
    // The next step of the sequence is tried while there are too many.
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power);
    for step in steps {
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        if last - first < most.max(3) as f64 {
            // Adding 0 makes −0 a 0.
            return (first as i64..=last as i64).map(|at| at as f64 * step + 0.0).collect();
        }
    }
    vec![low]
}

/// Powers of ten, and twice and five times these, within a range of positive numbers; only
/// powers of ten where that would be too many.
pub fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    if !(low > 0.0 && high.is_finite()) {
        return vec![];
    }
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let within = |tick: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick);
    let power = |power: i32| 10f64.powi(power);
    let fine = powers.clone().flat_map(|at| [1.0, 2.0, 5.0].map(|factor| factor * power(at)));
    let fine: Vec<f64> = fine.filter(within).collect();
    if fine.len() <= most {
        return fine;
    }
    powers.map(power).filter(within).collect()
}

/// A tick of a logarithmic axis, in the shortest way.
pub fn log_label(tick: f64) -> String {
    let decimals = (-tick.log10()).ceil().max(0.0) as usize;
    number(tick, decimals)
}

/// Moves labels, given by middle and width in order of their middles, so that they keep a gap
/// and stay within bounds, each as near to its place as the others allow.
pub fn apart(labels: &[(f64, f64)], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut places: Vec<f64> = labels.iter().map(|(middle, _)| *middle).collect();
    let distance = |at: usize| (labels[at].1 + labels[at + 1].1) / 2.0 + gap;
    // Pushed to the right from the left border on, then back from the right border: where all
    // have room, that leaves no overlap. Repeating it evens out who is moved.
    for _ in 0..4 {
        for at in 1..places.len() {
            let lack = places[at - 1] + distance(at - 1) - places[at];
            if lack > 0.0 {
                places[at - 1] -= lack / 2.0;
                places[at] += lack / 2.0;
            }
        }
    }
    for at in 0..places.len() {
        let least = if at == 0 { low + labels[0].1 / 2.0 } else { places[at - 1] + distance(at - 1) };
        places[at] = places[at].max(least);
    }
    for at in (0..places.len()).rev() {
        let most = match at + 1 == places.len() {
            true => high - labels[at].1 / 2.0,
            false => places[at + 1] - distance(at),
        };
        places[at] = places[at].min(most);
    }
    places
}

/// Which labels to show so that none overlaps the one shown before it.
pub fn thinned(labels: &[(f64, f64)], gap: f64) -> Vec<bool> {
    let mut end = f64::NEG_INFINITY;
    labels
        .iter()
        .map(|(middle, width)| {
            let shown = middle - width / 2.0 >= end;
            if shown {
                end = middle + width / 2.0 + gap;
            }
            shown
        })
        .collect()
}

/// From numbers to places in a drawing.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    domain: (f64, f64),
    range: (f64, f64),
    log: bool,
}

impl Scale {
    /// Equal differences are equally far apart.
    pub fn linear(domain: (f64, f64), range: (f64, f64)) -> Self {
        Self { domain, range, log: false }
    }

    /// Equal ratios are equally far apart; the domain is positive.
    pub fn log(domain: (f64, f64), range: (f64, f64)) -> Self {
        Self { domain: (domain.0.log10(), domain.1.log10()), range, log: true }
    }

    /// The place of a number; what lies outside of the domain is put at its border.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let (low, high) = self.domain;
        let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        self.range.0 + share * (self.range.1 - self.range.0)
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its start.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A drawing that grows.
#[derive(Debug, Default)]
pub struct Drawing {
    body: String,
}

impl Drawing {
    /// A rectangle of a class, with a text that shows when pointed at.
    pub fn rect(&mut self, (x, y, width, height): (f64, f64, f64, f64), class: &str, title: &str) {
        // Rounded before they are subtracted: edges that meet stay together.
        let _ = write!(
            self.body,
            r#"<rect x="{}" y="{}" width="{}" height="{}" class="{}">"#,
            place(x),
            place(y),
            place(width.max(0.0)),
            place(height.max(0.0)),
            escape(class)
        );
        if !title.is_empty() {
            let _ = write!(self.body, "<title>{}</title>", escape(title));
        }
        self.body.push_str("</rect>");
    }

    /// A straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(place);
        let class = escape(class);
        let _ = write!(self.body, r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{class}"/>"#);
    }

    /// Lines from point to point.
    pub fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", place(*x), place(*y))).collect();
        let class = escape(class);
        let _ = write!(self.body, r#"<polyline points="{}" class="{class}"/>"#, points.join(" "));
    }

    /// A dot.
    pub fn dot(&mut self, (x, y): (f64, f64), class: &str, title: &str) {
        let (x, y, class, title) = (place(x), place(y), escape(class), escape(title));
        let _ = write!(
            self.body,
            r#"<circle cx="{x}" cy="{y}" r="3.2" class="{class}"><title>{title}</title></circle>"#
        );
    }

    /// Text on a base line.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, anchor: Anchor, class: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, class, text) = (place(x), place(y), escape(class), escape(text));
        let _ = write!(
            self.body,
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}" class="{class}">{text}</text>"#
        );
    }

    /// The whole, with a description for those who do not see it.
    pub fn finish(self, height: f64, description: &str) -> String {
        format!(
            r#"<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>"#,
            place(WIDTH),
            place(height),
            escape(description),
            self.body
        )
    }
}

/// A coordinate with at most one decimal.
fn place(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        assert_eq!(
            escape("<script>\"x\" & 'y'</script>"),
            "&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/script&gt;"
        );
        assert_eq!(escape("a\0b\u{1b}c\u{202E}d\ne\u{FFFF}"), "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\ne\u{FFFD}");
        assert_eq!(escape("你好 🎻 שלום"), "你好 🎻 שלום");
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(round_ticks(0.0, 100.0, 5), [0.0, 50.0, 100.0]);
        assert_eq!(round_ticks(0.0, 100.0, 6), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(round_ticks(0.0, 437.0, 5), [0.0, 100.0, 200.0, 300.0, 400.0]);
        assert_eq!(round_ticks(-36.0, 2.0, 5), [-30.0, -20.0, -10.0, 0.0]);
        assert_eq!(round_ticks(0.0, 1.0, 6), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(round_ticks(3.0, 3.0, 5), [3.0]);
        assert_eq!(round_ticks(0.0, f64::NAN, 5), [0.0]);
        for high in [1.0, 3.0, 7.5, 12.0, 99.0, 1234.0, 0.004, 8e9] {
            for most in 3..12 {
                let ticks = round_ticks(0.0, high, most);
                assert!((2..=most).contains(&ticks.len()), "{high} {most}: {ticks:?}");
                assert!(ticks.iter().all(|tick| (0.0..=high * 1.001).contains(tick)));
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_round() {
        assert_eq!(log_ticks(0.08, 3.0, 8), [0.1, 0.2, 0.5, 1.0, 2.0]);
        assert_eq!(log_ticks(0.08, 3000.0, 8).len(), 5);
        assert!(log_ticks(0.0, 1.0, 8).is_empty());
        assert_eq!([0.002, 0.1, 0.5, 1.0, 20.0].map(log_label), ["0.002", "0.1", "0.5", "1", "20"]);
    }

    #[test]
    fn numbers_have_fixed_decimals() {
        assert_eq!([number(-3.94, 1), number(-0.04, 1), number(80.0, 1)], ["−3.9", "0.0", "80.0"]);
        assert_eq!([count(7), count(1073), count(12_345_678)], ["7", "1,073", "12,345,678"]);
    }

    #[test]
    fn labels_are_moved_apart_within_their_bounds() {
        for labels in [
            vec![(10.0, 40.0), (12.0, 40.0), (15.0, 40.0)],
            vec![(390.0, 40.0), (395.0, 50.0), (399.0, 60.0)],
            vec![(100.0, 40.0), (101.0, 40.0), (300.0, 10.0)],
        ] {
            let places = apart(&labels, 4.0, 0.0, 400.0);
            for at in 0..labels.len() {
                let half = labels[at].1 / 2.0;
                assert!(places[at] - half >= -1e-9 && places[at] + half <= 400.0 + 1e-9, "{places:?}");
                if at > 0 {
                    let between = places[at] - half - (places[at - 1] + labels[at - 1].1 / 2.0);
                    assert!(between >= 4.0 - 1e-9, "{places:?}");
                }
            }
        }
        // Labels with room stay where they are.
        assert_eq!(apart(&[(50.0, 20.0), (200.0, 20.0)], 4.0, 0.0, 400.0), [50.0, 200.0]);
    }

    #[test]
    fn labels_without_room_are_left_out() {
        let labels: Vec<(f64, f64)> = (0..6).map(|at| (f64::from(at) * 10.0, 14.0)).collect();
        assert_eq!(thinned(&labels, 2.0), [true, false, true, false, true, false]);
    }

    #[test]
    fn texts_are_cut_to_their_room() {
        let text = "single-session-preference";
        assert_eq!(fitting(text, TYPE, 400.0), text);
        let cut = fitting(text, TYPE, 80.0);
        assert!(cut.ends_with('…') && text_width(&cut, TYPE) <= 80.0, "{cut}");
        let names = ["a card per message", "a card per exchange"].map(|name| fitting_ends(name, TYPE, 90.0));
        assert!(names[0].ends_with("sage") && names[1].ends_with("ange"), "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("a ca") && text_width(name, TYPE) <= 90.0));
        assert!(text_width("中文", TYPE) > text_width("ab", TYPE));
    }

    #[test]
    fn scales_keep_to_their_range() {
        let linear = Scale::linear((0.0, 10.0), (100.0, 200.0));
        assert_eq!([linear.at(-5.0), linear.at(5.0), linear.at(50.0)], [100.0, 150.0, 200.0]);
        let log = Scale::log((0.1, 10.0), (0.0, 100.0));
        assert_eq!(log.at(1.0), 50.0);
        assert_eq!(log.at(0.0), 0.0);
        assert_eq!(Scale::linear((1.0, 1.0), (0.0, 9.0)).at(1.0), 0.0);
    }

    #[test]
    fn drawings_describe_themselves() {
        let mut drawing = Drawing::default();
        drawing.text((1.0, 2.25), "<b>", Anchor::End, "x\" y");
        drawing.rect((0.0, f64::NAN, 3.0, -1.0), "s1", "a & b");
        let svg = drawing.finish(10.0, "what \"it\" shows");
        assert!(svg.starts_with(
            "<svg viewBox=\"0 0 400 10\" role=\"img\" aria-label=\"what &quot;it&quot; shows\">"
        ));
        assert!(svg.contains("class=\"x&quot; y\">&lt;b&gt;</text>"));
        assert!(
            svg.contains("y=\"0\" width=\"3\" height=\"0\" class=\"s1\"><title>a &amp; b</title></rect>")
        );
    }
}
