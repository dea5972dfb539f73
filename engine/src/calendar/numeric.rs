//! Runs of digits: numbers, dates, clock times, and what only looks like them.

use super::lexicon_en;
use super::values::{day_of, micros_utc};
use super::words::{Form, Number, Word};

/// Up to three words out of one run (a range gives a number, a dash and a number).
pub(super) type Words = [Option<(Word, usize, usize)>; 3];

/// Groups of digits with the marks between them.
struct Groups {
    groups: [(usize, usize); 6],
    marks: [u8; 6],
    count: usize,
    end: usize,
}

fn groups(bytes: &[u8], start: usize) -> Groups {
    let mut found = Groups { groups: [(0, 0); 6], marks: [0; 6], count: 0, end: start };
    let mut at = start;
    loop {
        let from = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if found.count < 6 {
            found.groups[found.count] = (from, at);
        }
        found.count += 1;
        let more = at + 1 < bytes.len()
            && matches!(bytes[at], b'-' | b'/' | b'.' | b':')
            && bytes[at + 1].is_ascii_digit();
        if !more {
            found.end = at;
            return found;
        }
        if found.count <= 6 {
            found.marks[found.count - 1] = bytes[at];
        }
        at += 1;
    }
}

fn value(text: &str, (from, to): (usize, usize)) -> u32 {
    text[from..to]
        .bytes()
        .fold(0u32, |sum, byte| sum.saturating_mul(10).saturating_add(u32::from(byte - b'0')))
}

fn number(text: &str, group: (usize, usize)) -> Word {
    let value = value(text, group);
    let digits = u8::try_from(group.1 - group.0).unwrap_or(u8::MAX);
    Word::Number(Number { low: value, high: value, form: Form::Digits, digits })
}

fn date(year: u32, month: u32, day: u32) -> Option<Word> {
    let day = day_of(i32::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?)?;
    (1..=9999).contains(&day.year()).then(|| Word::Date(day.year(), day.month(), day.day()))
}

fn clock(hour: u32, minute: u32, wide: bool) -> Option<Word> {
    (hour <= 24 && minute <= 59 && (hour < 24 || minute == 0))
        .then_some(Word::Clock((hour * 60 + minute) as i32, wide))
}

fn one(word: Word, start: usize, end: usize) -> Words {
    [Some((word, start, end)), None, None]
}

/// The words of the run of digits at `start`, and where reading goes on.
pub(super) fn read(text: &str, start: usize, glued: bool) -> (usize, Words) {
    let bytes = text.as_bytes();
    let found = groups(bytes, start);
    let end = found.end;
    if glued {
        return (end, one(Word::Other, start, end));
    }
    if found.count == 1 {
        return single(text, found.groups[0]);
    }
    if found.count > 6 {
        return (end, one(Word::Other, start, end));
    }
    let list = &found.groups[..found.count];
    let marks = &found.marks[..found.count - 1];
    let numbers: Vec<(u32, usize)> =
        list.iter().map(|group| (value(text, *group), group.1 - group.0)).collect();
    let word = match (marks, numbers.as_slice()) {
        ([b'-', b'-'] | [b'/', b'/'] | [b'.', b'.'], &[(year, 4), (month, 1..=2), (day, 1..=2)]) => {
            if let Some(word) = date(year, month, day) {
                return with_time(text, start, end, word);
            }
            None
        }
        ([b'-', b'-'] | [b'/', b'/'], &[(first, 1..=2), (second, 1..=2), (year, 4)]) => {
            // Which of both is the month must be certain.
            match (first, second) {
                (month, day) if month == day || day > 12 => date(year, month, day),
                (day, month) if day > 12 => date(year, month, day),
                _ => None,
            }
        }
        ([b'.', b'.'], &[(day, 1..=2), (month, 1..=2), (year, 4)]) => date(year, month, day),
        ([b'-' | b'/'], &[(year @ 1000..=2999, 4), (month @ 1..=12, 2)]) => {
            Some(Word::YearMonth(year as i16, month as i8))
        }
        ([b':'], &[(hour, digits @ 1..=2), (minute, 2)])
        | ([b':', b':'], &[(hour, digits @ 1..=2), (minute, 2), (_, 2)]) => clock(hour, minute, digits == 2),
        ([b'.'], &[(whole @ 0..=9999, _), (part, digits @ 1..=2)]) => {
            Some(Word::Decimal(whole * 100 + if digits == 1 { part * 10 } else { part }))
        }
        // 2019-2021, 3-7: a range; anything else with one dash is a score or a number of something.
        ([b'-'], &[(_, 4), (_, 4)]) | ([b'-'], &[(_, 1..=2), (_, 1..=2)]) => {
            let dash = list[0].1;
            return (
                end,
                [
                    Some((number(text, list[0]), list[0].0, dash)),
                    Some((Word::Dash, dash, dash + 1)),
                    Some((number(text, list[1]), list[1].0, end)),
                ],
            );
        }
        (
            [b':', b'-', b':'],
            &[(from_hour, width @ 1..=2), (from_minute, 2), (to_hour, to_width @ 1..=2), (to_minute, 2)],
        ) => {
            if let (Some(from), Some(to)) =
                (clock(from_hour, from_minute, width == 2), clock(to_hour, to_minute, to_width == 2))
            {
                let dash = list[1].1;
                return (
                    end,
                    [
                        Some((from, start, dash)),
                        Some((Word::Dash, dash, dash + 1)),
                        Some((to, list[2].0, end)),
                    ],
                );
            }
            None
        }
        _ => None,
    };
    // "2023-05-08x" and "2023-05-08-1" are names of something.
    let cut = bytes.get(end).is_some_and(|byte| {
        byte.is_ascii_alphabetic() && !matches!(word, Some(Word::Clock(..) | Word::Decimal(_)))
    }) || matches!(bytes.get(end), Some(b'-' | b'/' | b'_' | b'%'));
    (end, one(word.filter(|_| !cut).unwrap_or(Word::Other), start, end))
}

fn single(text: &str, group: (usize, usize)) -> (usize, Words) {
    let (start, end) = group;
    let bytes = text.as_bytes();
    // 12,500 is an amount.
    let mut amount = end;
    while bytes.len() >= amount + 4
        && bytes[amount] == b','
        && bytes[amount + 1..amount + 4].iter().all(u8::is_ascii_digit)
        && !bytes.get(amount + 4).is_some_and(u8::is_ascii_digit)
    {
        amount += 4;
    }
    if amount > end || end - start > 4 || matches!(bytes.get(end), Some(b'%' | b'_')) {
        return (amount, one(Word::Other, start, amount));
    }
    let Word::Number(plain) = number(text, group) else { return (end, one(Word::Other, start, end)) };
    let tail = &bytes[end..];
    if tail.len() >= 2 && !tail.get(2).is_some_and(u8::is_ascii_alphanumeric) {
        let letters = [tail[0] | 0x20, tail[1] | 0x20];
        if matches!(&letters, b"st" | b"nd" | b"rd" | b"th") {
            let ordinal = Number { form: Form::DigitsOrdinal, ..plain };
            return (end + 2, one(Word::Number(ordinal), start, end + 2));
        }
    }
    // 3pm, 90s, 2hours; any other letters make a name of it.
    let letters = tail.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let known = match &tail[..letters] {
        [] | [b's' | b'S' | b'a' | b'A' | b'p' | b'P' | b'q' | b'Q'] => true,
        word => matches!(lexicon_en::word(word), Word::Am | Word::Pm | Word::Scale(_) | Word::Month(..)),
    };
    (end, one(if known { Word::Number(plain) } else { Word::Other }, start, end))
}

/// `T14:30:00+08:00` behind a date; without an offset the time is a word of its own.
fn with_time(text: &str, start: usize, end: usize, date: Word) -> (usize, Words) {
    let bytes = text.as_bytes();
    let plain = |word| (end, one(word, start, end));
    let Some(tail) = bytes.get(end) else { return plain(date) };
    if matches!(tail, b'-' | b'/' | b'_' | b'%') {
        return plain(Word::Other);
    }
    if !tail.is_ascii_alphabetic() {
        return plain(date);
    }
    if !matches!(tail, b'T' | b't') || !bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return plain(Word::Other);
    }
    let time_at = end + 1;
    let two = |at: usize| -> Option<u32> {
        let pair = bytes.get(at..at + 2)?;
        pair.iter()
            .all(u8::is_ascii_digit)
            .then(|| u32::from(pair[0] - b'0') * 10 + u32::from(pair[1] - b'0'))
    };
    let (Some(hour), Some(b':'), Some(minute)) = (two(time_at), bytes.get(time_at + 2), two(time_at + 3))
    else {
        return plain(Word::Other);
    };
    let mut at = time_at + 5;
    if bytes.get(at) == Some(&b':') && two(at + 1).is_some() {
        at += 3;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
    }
    let Some(time) = clock(hour, minute, true) else { return plain(Word::Other) };
    let offset = match bytes.get(at) {
        Some(b'Z' | b'z') => Some((0, at + 1)),
        Some(sign @ (b'+' | b'-')) => {
            let colon = bytes.get(at + 3) == Some(&b':');
            match (two(at + 1), two(at + 3 + usize::from(colon))) {
                (Some(hours @ 0..=23), Some(minutes @ 0..=59)) => {
                    let seconds = (hours * 3600 + minutes * 60) as i64;
                    let end = at + 5 + usize::from(colon);
                    Some((if *sign == b'-' { -seconds } else { seconds }, end))
                }
                _ => None,
            }
        }
        _ => None,
    };
    match (offset, date) {
        (Some((seconds, end)), Word::Date(year, month, day)) => {
            let micros = micros_utc(year, month, day, hour, minute) - seconds * 1_000_000;
            (end, one(Word::Instant(micros), start, end))
        }
        _ => (at, [Some((date, start, end)), Some((time, time_at, at)), None]),
    }
}
