//! Text on a terminal: its width, its line breaks, and no control characters.

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Columns of one character: 2 for East Asian wide ones and emoji, 0 for marks.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// A text in one line without anything that could command a terminal: remembered text may
/// come from anybody.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            // Directional overrides make a line read differently from what it says.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(c.escape_unicode()),
            c if c.is_control() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Lines of at most `columns` columns, broken at blanks and between East Asian characters;
/// line breaks of the text stay.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for piece in pieces(&printable(paragraph)) {
            if !line.is_empty() && width(&line) + width(piece.trim_end()) > columns {
                lines.push(line.trim_end().to_owned());
                line = String::new();
            }
            for c in piece.chars() {
                // A word longer than a line is cut.
                if width(&line) + self::columns(c) > columns && !c.is_whitespace() {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(c);
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Pieces between which a line may be broken, blanks at their end.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        let breaks = match before {
            None => false,
            Some(b) if b.is_whitespace() => !c.is_whitespace(),
            // Closing marks stay with what they close, opening ones with what they open.
            Some(b) => {
                (columns(b) == 2 || columns(c) == 2)
                    && !c.is_whitespace()
                    && !"，。！？、；：）」』》”’,.!?;:)]}".contains(c)
                    && !"（「『《“‘(".contains(b)
            }
        };
        if breaks {
            pieces.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_between_wide_characters() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("窑炉周五送到。", 8), ["窑炉周五", "送到。"]);
        assert_eq!(wrap("窑炉周五。送到", 8), ["窑炉周", "五。送到"]);
        assert_eq!(wrap("a\nb", 8), ["a", "b"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        for line in wrap(&"漢字 and words, mixed，都有。".repeat(9), 20) {
            assert!(width(&line) <= 20, "{line}");
        }
    }

    #[test]
    fn nothing_commands_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{7}\n\u{202e}c"), "a\\u{1b}[2Jb\\u{7} \\u{202e}c");
    }
}
