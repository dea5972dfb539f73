//! Lengths of time.

use super::grammar::{Count, Reader};
use super::steps::hundredths_in_micros;
use super::token::Token;
use super::words::{Form, Number, Scale, Word};
use super::{Anchor, Span, Zone};
use crate::{Duration, Timestamp};

/// The lengths in a text that was cut into words.
pub(super) fn read(text: &str, tokens: &[Token]) -> Vec<Span> {
    // Lengths need no anchor; any will do.
    let anchor = Anchor { instant: Timestamp::default(), zone: Zone::UTC };
    let reader = Reader::new(text, tokens, &anchor, &());
    let mut spans = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match length(&reader, at) {
            Some((end, micros, scale)) => {
                if counts(&reader, at, end) {
                    spans.push(Span {
                        range: tokens[at].start as usize..tokens[end - 1].end as usize,
                        length: Duration::from_micros(micros),
                        unit: scale.unit(),
                    });
                }
                at = end;
            }
            None => at += 1,
        }
    }
    spans
}

/// One count of units, or several from large to small: "a year and two months", 1小时30分钟.
fn length(reader: &Reader<'_>, at: usize) -> Option<(usize, i64, Scale)> {
    let first = count(reader, at)?;
    let mut micros = middle(&first)?;
    let (mut end, mut scale) = (first.end, first.scale);
    while let Some(next) = {
        let joined = end + usize::from(matches!(reader.word(end), Word::And | Word::Comma));
        count(reader, joined)
    } {
        // Only what is exact adds up.
        let vague = first.low != first.high || next.low != next.high;
        if vague || rank(next.scale) >= rank(scale) {
            break;
        }
        micros = micros.saturating_add(middle(&next)?);
        (end, scale) = (next.end, next.scale);
    }
    Some((end, micros, first.scale))
}

fn rank(scale: Scale) -> i64 {
    hundredths_in_micros(100, scale).unwrap_or(i64::MAX)
}

fn count(reader: &Reader<'_>, at: usize) -> Option<Count> {
    match reader.word(at) {
        Word::Half | Word::A | Word::Few(..) | Word::Number(_) | Word::Decimal(_) => {
            reader.chinese_count(at).or_else(|| reader.english_count(at))
        }
        _ => None,
    }
}

fn middle(count: &Count) -> Option<i64> {
    hundredths_in_micros(count.low.saturating_add(count.high) / 2, count.scale)
}

/// Whether a count is a length, and not a distance from a point or a place in an order.
fn counts(reader: &Reader<'_>, at: usize, end: usize) -> bool {
    let before = reader.previous(at);
    let ordered = matches!(
        before,
        Word::Nth
            | Word::Every
            | Word::Rel(_)
            | Word::Before
            | Word::After
            | Word::Past
            | Word::Coming
            | Word::Number(_)
    );
    let counted = matches!(before, Word::In) && !reader.han(at);
    let away = matches!(reader.word(end), Word::Ago | Word::Later | Word::Before | Word::After | Word::From);
    // "A day" and "a week" say how often.
    let one_day =
        reader.source(at).eq_ignore_ascii_case("one") && reader.word(at + 1) == Word::Scale(Scale::Day);
    let rate = (reader.word(at) == Word::A || one_day)
        && end == at + 2
        && !matches!(before, Word::About | Word::During | Word::Around)
        && !reader.source(at.wrapping_sub(1)).eq_ignore_ascii_case("for")
        && !reader.source(at.wrapping_sub(1)).eq_ignore_ascii_case("took");
    // 95年 is a year; 一天三次 says how often.
    let year = matches!(reader.word(at), Word::Number(Number { form: Form::Digits, digits: 2, low, .. }) if low >= 50)
        && reader.han(end - 1)
        && end == at + 2
        && reader.word(at + 1) == Word::Scale(Scale::Year);
    let often = matches!(reader.word(end), Word::Number(_)) && reader.source(end + 1).starts_with('次');
    // "Two years old", "a one-year-old".
    let age =
        reader.source(end) == "old" || reader.word(end) == Word::Dash && reader.source(end + 1) == "old";
    !(age || year || often || ordered || counted || away || rate)
}
