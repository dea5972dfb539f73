//! The door for programs: one line of JSON in, one line of JSON out, in order.
//!
//! Lines that have arrived already are carried out together, which shares commits among
//! `remember` requests; a line never waits for one that has not arrived.

use std::io::{BufRead, BufReader, Read, Write};

use memcards::verbs::{VERBS, error_answer, execute_all};
use memcards::{Error, Store};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::failure::Failure;
use crate::store::Door;

/// Longest line, bytes. A request at every limit is far below it.
const LINE_BYTES: usize = 32 << 20;
/// What is read at once, bytes.
const BUFFER_BYTES: usize = 1 << 20;
/// Lines that are carried out together at most.
const BATCH: usize = 1000;

/// Answers lines until the input ends.
pub(crate) fn run(door: &Door, input: &mut dyn Read, out: &mut dyn Write) -> Result<(), Failure> {
    let input = BufReader::with_capacity(BUFFER_BYTES, input);
    answer_all(&door.store, door.tenant_name(), input, LINE_BYTES, out)
}

fn answer_all(
    store: &Store,
    tenant: &str,
    mut input: BufReader<impl Read>,
    most: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut end = false;
    while !end {
        let mut lines = Vec::new();
        loop {
            match next_line(&mut input, most) {
                Ok(None) => end = true,
                Ok(Some(line)) => lines.push(line.and_then(|line| request(line, tenant))),
                Err(error) => return Err(Error::Unavailable(format!("standard input: {error}")).into()),
            }
            if end || lines.len() >= BATCH || !input.buffer().contains(&b'\n') {
                break;
            }
        }
        answer(store, lines, out)?;
    }
    Ok(())
}

/// Carries out lines that arrived together and sends their answers; blank ones have none.
fn answer(
    store: &Store,
    lines: Vec<Result<Option<String>, Error>>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut requests: Vec<String> = Vec::with_capacity(lines.len());
    let run = |requests: &mut Vec<String>, out: &mut dyn Write| -> Result<(), Failure> {
        write_all(&execute_all(store, requests), out)?;
        requests.clear();
        Ok(())
    };
    for line in lines {
        match line {
            Ok(None) => {}
            Ok(Some(request)) => requests.push(request),
            Err(error) => {
                run(&mut requests, out)?;
                write_all(&[error_answer(&error)], out)?;
            }
        }
    }
    run(&mut requests, out)?;
    Ok(out.flush()?)
}

fn write_all(answers: &[Value], out: &mut dyn Write) -> std::io::Result<()> {
    answers.iter().try_for_each(|answer| writeln!(out, "{answer}"))
}

/// The next line without its end; an error when it is longer than `most` bytes, then the
/// rest of it is skipped; `None` at the end of the input.
fn next_line(input: &mut impl BufRead, most: usize) -> std::io::Result<Option<Result<Vec<u8>, Error>>> {
    let mut line = Vec::new();
    let mut length = 0usize;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() && length == 0 {
            return Ok(None);
        }
        let found = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..found.unwrap_or(buffer.len())];
        let ended = found.is_some() || buffer.is_empty();
        if line.len() + part.len() <= most {
            line.extend_from_slice(part);
        } else {
            // Nothing of it is of use any more.
            line = Vec::new();
        }
        length = length.saturating_add(part.len()).max(1);
        let taken = part.len() + usize::from(found.is_some());
        let too_long = length > most;
        input.consume(taken);
        if ended && too_long {
            return Ok(Some(Err(Error::TooLarge {
                field: "request".into(),
                actual: length as u64,
                limit: most as u64,
                unit: "bytes",
            })));
        }
        if ended {
            return Ok(Some(Ok(line)));
        }
    }
}

/// Only what is needed to see whom a request is about.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow, default)]
    verb: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    tenant: Option<IgnoredAny>,
}

/// The text of a request, for the shell's tenant unless it names one; `None` for a blank line.
fn request(line: Vec<u8>, tenant: &str) -> Result<Option<String>, Error> {
    let text = String::from_utf8(line).map_err(|_| Error::invalid("request", "is not UTF-8"))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    // What cannot be read here is refused, with the reason, by the verb itself.
    let Ok(peek) = serde_json::from_str::<Peek<'_>>(&text) else { return Ok(Some(text)) };
    let verb = peek.verb.unwrap_or_default();
    let about_a_tenant = VERBS.iter().any(|known| !known.store && known.name == verb);
    match text.find('{') {
        Some(brace) if about_a_tenant && peek.tenant.is_none() => {
            let name = Value::from(tenant);
            Ok(Some(format!("{{\"tenant\":{name},{}", &text[brace + 1..])))
        }
        _ => Ok(Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &str, most: usize, capacity: usize) -> Vec<Result<String, u64>> {
        let mut reader = BufReader::with_capacity(capacity, input.as_bytes());
        let mut found = Vec::new();
        while let Some(line) = next_line(&mut reader, most).expect("reads") {
            found.push(match line {
                Ok(line) => Ok(String::from_utf8(line).expect("text")),
                Err(Error::TooLarge { actual, .. }) => Err(actual),
                Err(other) => panic!("{other}"),
            });
        }
        found
    }

    #[test]
    fn lines_are_cut_at_their_ends_whatever_the_buffer() {
        for capacity in [1, 2, 3, 7, 100] {
            let ok = |text: &str| Ok(text.to_owned());
            assert_eq!(lines("", 8, capacity), []);
            assert_eq!(lines("\n\nab\n", 8, capacity), [ok(""), ok(""), ok("ab")], "{capacity}");
            assert_eq!(lines("ab\ncd", 8, capacity), [ok("ab"), ok("cd")], "{capacity}");
            assert_eq!(
                lines("12345678\n123456789\nab\n0123456789", 8, capacity),
                [ok("12345678"), Err(9), ok("ab"), Err(10)],
                "{capacity}"
            );
        }
    }

    #[test]
    fn a_tenant_is_added_only_where_one_is_missing() {
        let whom = |line: &str| {
            let text = request(line.as_bytes().to_vec(), "an\"na").expect("text").expect("not blank");
            serde_json::from_str::<Value>(&text).ok().map(|value| value["tenant"].clone())
        };
        assert_eq!(whom(r#" {"verb":"list"}"#), Some("an\"na".into()));
        assert_eq!(whom(r#"{"verb":"list","tenant":"ben"}"#), Some("ben".into()));
        assert_eq!(whom(r#"{"verb":"verify"}"#), Some(Value::Null));
        assert_eq!(whom(r#"{"verb":"li\u0073t"}"#), Some("an\"na".into()));
        assert_eq!(whom("nonsense"), None);
    }
}
