//! Splitting a typed line into words, as a shell would.

/// The words of a line: blanks separate, `'…'` and `"…"` hold together, a backslash takes
/// the next character as it is (outside of `'…'`). `None` when a quote is not closed.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(characters.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_quotes_and_backslashes() {
        for (line, words) in [
            ("", &[][..]),
            ("  a  b ", &["a", "b"]),
            (r#"recall "two words" --top 3"#, &["recall", "two words", "--top", "3"]),
            (r#"x '{"a":"b\n"}'"#, &["x", r#"{"a":"b\n"}"#]),
            (r#"a\ b "c\"d""#, &["a b", "c\"d"]),
            ("''", &[""]),
            ("记住 '喝 茶'", &["记住", "喝 茶"]),
        ] {
            assert_eq!(
                split(line).as_deref(),
                Some(words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>().as_slice()),
                "{line}"
            );
        }
        assert_eq!(split("it's raining"), None);
        assert_eq!(split("end\\"), None);
    }
}
