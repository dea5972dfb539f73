//! Tables on a terminal: columns as wide as what is in them.

use std::io::{self, Write};

use super::{printable, style, width};

/// A table: the first column to the left, the others to the right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes it.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |at: usize| {
            self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let dim = style::DIM;
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (at, (cell, wide)) in row.iter().zip(&widths).enumerate() {
                let fill = " ".repeat(wide.saturating_sub(width(cell)));
                match at {
                    0 => line.push_str(&format!("{cell}{fill}")),
                    _ => line.push_str(&format!("  {fill}{cell}")),
                }
            }
            let line = line.trim_end();
            match number {
                0 => writeln!(out, "{dim}{line}{dim:#}")?,
                _ => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    }
}

/// The beginning of a text, in at most so many columns of one line.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    let text = printable(text);
    if width(&text) <= columns {
        return text;
    }
    let mut shown = String::new();
    for c in text.chars() {
        if width(&shown) + width(c.encode_utf8(&mut [0; 4])) >= columns {
            break;
        }
        shown.push(c);
    }
    shown.trim_end().to_owned() + "…"
}

/// So many things, in words: `1 card`, `2 cards`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// A length of time in days, as short as it can be said.
pub(crate) fn days(days: f64) -> String {
    match days {
        ..1.0 => format!("{:.0} h", (days * 24.0).max(0.0).floor()),
        _ => format!("{:.0} d", days.floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_headings() {
        let mut table = Table::new(&["tenant", "fade"]);
        table.row(["安娜".to_owned(), "12".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out).expect("written");
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        assert_eq!(String::from_utf8(text).expect("text"), "tenant  fade\n安娜      12\n");
    }

    #[test]
    fn texts_are_cut_where_they_do_not_fit() {
        assert_eq!(cut("one two", 7), "one two");
        assert_eq!(cut("one two three", 8), "one two…");
        assert_eq!(cut("窑炉周五送到", 7), "窑炉周…");
        assert_eq!((days(0.5), days(12.9)), ("12 h".to_owned(), "12 d".to_owned()));
        assert_eq!((counted(1, "card"), counted(0, "card")), ("1 card".to_owned(), "0 cards".to_owned()));
    }
}
