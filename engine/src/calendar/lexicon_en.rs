//! English words, found by one probe of a hashed table.

use std::sync::LazyLock;

use super::feasts::Feast;
use super::words::{Form, MonthWord, Number, Part, Portion, Scale, Word};

/// The longest word in the table, in bytes.
const LONGEST: usize = 16;
const SLOTS: usize = 2048;

const SIMPLE: &[(&str, Word)] = &[
    ("today", Word::Day(0)),
    ("tonight", Word::DayPart(0, Part::Night)),
    ("tonite", Word::DayPart(0, Part::Night)),
    ("yesterday", Word::Day(-1)),
    ("tomorrow", Word::Day(1)),
    ("tmrw", Word::Day(1)),
    ("morning", Word::Part(Part::Morning)),
    ("afternoon", Word::Part(Part::Afternoon)),
    ("evening", Word::Part(Part::Evening)),
    ("night", Word::Part(Part::Night)),
    ("noon", Word::NoonHour),
    ("midday", Word::NoonHour),
    ("lunchtime", Word::Part(Part::Noon)),
    ("midnight", Word::MidnightHour),
    ("minute", Word::Scale(Scale::Minute)),
    ("minutes", Word::Scale(Scale::Minute)),
    ("mins", Word::Scale(Scale::Minute)),
    ("hour", Word::Scale(Scale::Hour)),
    ("hours", Word::Scale(Scale::Hour)),
    ("hrs", Word::Scale(Scale::Hour)),
    ("day", Word::Scale(Scale::Day)),
    ("days", Word::Scale(Scale::Day)),
    ("weekend", Word::Scale(Scale::Weekend)),
    ("weekends", Word::Scale(Scale::Weekend)),
    ("week", Word::Scale(Scale::Week)),
    ("weeks", Word::Scale(Scale::Week)),
    ("fortnight", Word::Scale(Scale::Fortnight)),
    ("month", Word::Scale(Scale::Month)),
    ("months", Word::Scale(Scale::Month)),
    ("quarter", Word::Scale(Scale::Quarter)),
    ("quarters", Word::Scale(Scale::Quarter)),
    ("year", Word::Scale(Scale::Year)),
    ("years", Word::Scale(Scale::Year)),
    ("yrs", Word::Scale(Scale::Year)),
    ("decade", Word::Scale(Scale::Decade)),
    ("decades", Word::Scale(Scale::Decade)),
    ("century", Word::Scale(Scale::Century)),
    ("centuries", Word::Scale(Scale::Century)),
    ("spring", Word::Season(0)),
    ("summer", Word::Season(1)),
    ("autumn", Word::Season(2)),
    ("fall", Word::Season(2)),
    ("winter", Word::Season(3)),
    ("christmas", Word::Feast(Feast::Christmas)),
    ("xmas", Word::Feast(Feast::Christmas)),
    ("halloween", Word::Feast(Feast::Halloween)),
    ("thanksgiving", Word::Feast(Feast::Thanksgiving)),
    ("easter", Word::Feast(Feast::Easter)),
    ("juneteenth", Word::Feast(Feast::Juneteenth)),
    ("new", Word::FeastStart),
    ("valentine", Word::FeastStart),
    ("valentines", Word::FeastStart),
    ("labor", Word::FeastStart),
    ("labour", Word::FeastStart),
    ("memorial", Word::FeastStart),
    ("independence", Word::FeastStart),
    ("mother", Word::FeastStart),
    ("mothers", Word::FeastStart),
    ("father", Word::FeastStart),
    ("fathers", Word::FeastStart),
    ("boxing", Word::FeastStart),
    ("lunar", Word::FeastStart),
    ("chinese", Word::FeastStart),
    ("dragon", Word::FeastStart),
    ("lantern", Word::FeastStart),
    ("good", Word::FeastStart),
    ("black", Word::FeastStart),
    ("veterans", Word::FeastStart),
    ("st", Word::FeastStart),
    ("birthday", Word::KnownEnd),
    ("anniversary", Word::KnownEnd),
    ("last", Word::Rel(-1)),
    ("this", Word::Rel(0)),
    ("next", Word::Rel(1)),
    ("past", Word::Past),
    ("coming", Word::Coming),
    ("upcoming", Word::Coming),
    ("early", Word::Portion(Portion::Early)),
    ("mid", Word::Portion(Portion::Middle)),
    ("middle", Word::Portion(Portion::Middle)),
    ("late", Word::Portion(Portion::Late)),
    ("beginning", Word::Portion(Portion::Start)),
    ("start", Word::Portion(Portion::Start)),
    ("end", Word::Portion(Portion::End)),
    ("every", Word::Every),
    ("each", Word::Every),
    ("ago", Word::Ago),
    ("later", Word::Later),
    ("from", Word::From),
    ("now", Word::Now),
    ("half", Word::Half),
    ("few", Word::Few(2, 5)),
    ("couple", Word::Few(2, 3)),
    ("several", Word::Few(3, 7)),
    ("a", Word::A),
    ("an", Word::A),
    ("the", Word::The),
    ("of", Word::Of),
    ("and", Word::And),
    ("or", Word::Or),
    ("in", Word::In),
    ("on", Word::On),
    ("at", Word::At),
    ("to", Word::To),
    ("through", Word::To),
    ("since", Word::Since),
    ("before", Word::Before),
    ("after", Word::After),
    ("until", Word::Until),
    ("till", Word::Until),
    ("by", Word::By),
    ("between", Word::Between),
    ("around", Word::Around),
    ("during", Word::During),
    ("over", Word::During),
    ("throughout", Word::During),
    ("about", Word::About),
    ("within", Word::Within),
    ("other", Word::Different),
    ("am", Word::Am),
    ("pm", Word::Pm),
    ("eve", Word::Eve),
    ("s", Word::S),
    ("will", Word::Will),
    ("ll", Word::Will),
    ("shall", Word::Will),
    ("gonna", Word::Will),
    ("going", Word::Will),
    ("did", Word::Did),
    ("didn", Word::Did),
    ("was", Word::Did),
    ("wasn", Word::Did),
    ("were", Word::Did),
    ("had", Word::Did),
    ("went", Word::Did),
    ("happy", Word::Happy),
    ("merry", Word::Happy),
    ("twenties", Word::DecadeName(20)),
    ("thirties", Word::DecadeName(30)),
    ("forties", Word::DecadeName(40)),
    ("fifties", Word::DecadeName(50)),
    ("sixties", Word::DecadeName(60)),
    ("seventies", Word::DecadeName(70)),
    ("eighties", Word::DecadeName(80)),
    ("nineties", Word::DecadeName(90)),
];

const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "mon"],
    &["tuesday", "tue", "tues"],
    &["wednesday", "wed"],
    &["thursday", "thu", "thur", "thurs"],
    &["friday", "fri"],
    &["saturday", "sat"],
    &["sunday", "sun"],
];

const MONTHS: [(&str, &[&str], MonthWord); 12] = [
    ("january", &["jan"], MonthWord::Plain),
    ("february", &["feb"], MonthWord::Plain),
    ("march", &["mar"], MonthWord::Verb),
    ("april", &["apr"], MonthWord::Name),
    ("may", &[], MonthWord::Verb),
    ("june", &["jun"], MonthWord::Name),
    ("july", &["jul"], MonthWord::Plain),
    ("august", &["aug"], MonthWord::Name),
    ("september", &["sep", "sept"], MonthWord::Plain),
    ("october", &["oct"], MonthWord::Plain),
    ("november", &["nov"], MonthWord::Plain),
    ("december", &["dec"], MonthWord::Plain),
];

const CARDINALS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const ORDINALS: [&str; 19] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
const TENS: [(&str, &str, u32); 8] = [
    ("twenty", "twentieth", 20),
    ("thirty", "thirtieth", 30),
    ("forty", "fortieth", 40),
    ("fifty", "fiftieth", 50),
    ("sixty", "sixtieth", 60),
    ("seventy", "seventieth", 70),
    ("eighty", "eightieth", 80),
    ("ninety", "ninetieth", 90),
];

/// Open addressing; a free slot has the key 0.
struct Table(Vec<(u128, Word)>);

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table(vec![(0, Word::Other); SLOTS]);
    for (text, word) in SIMPLE {
        table.put(text, *word);
    }
    for (day, names) in (1i8..).zip(WEEKDAYS) {
        for (place, name) in names.iter().enumerate() {
            table.put(name, Word::Weekday(day, place > 0));
        }
        table.put(&format!("{}s", names[0]), Word::Weekdays(day));
    }
    for (month, (name, short, support)) in (1i8..).zip(MONTHS) {
        table.put(name, Word::Month(month, support));
        for short in short {
            let support = if support == MonthWord::Verb { support } else { MonthWord::Name };
            table.put(short, Word::Month(month, support));
        }
    }
    let number = |value, form| Word::Number(Number { low: value, high: value, form, digits: 0 });
    for (value, name) in (0u32..).zip(CARDINALS) {
        table.put(name, number(value, Form::Spelled));
    }
    for (value, name) in (1u32..).zip(ORDINALS) {
        table.put(name, number(value, Form::SpelledOrdinal));
    }
    for (cardinal, ordinal, value) in TENS {
        table.put(cardinal, number(value, Form::Spelled));
        table.put(ordinal, number(value, Form::SpelledOrdinal));
    }
    table
});

/// The letters in lower case as one number; 0 for what is too long.
fn key(word: &[u8]) -> u128 {
    if word.len() > LONGEST {
        return 0;
    }
    let mut bytes = [0u8; LONGEST];
    bytes[..word.len()].copy_from_slice(word);
    // Only ASCII letters come here, so one bit makes them lower case; the padding stays empty.
    for byte in &mut bytes[..word.len()] {
        *byte |= 0x20;
    }
    u128::from_le_bytes(bytes)
}

fn slot(key: u128) -> usize {
    let mixed = ((key as u64) ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 53) as usize % SLOTS
}

impl Table {
    fn put(&mut self, text: &str, word: Word) {
        let key = key(text.as_bytes());
        let mut at = slot(key);
        while self.0[at].0 != 0 && self.0[at].0 != key {
            at = (at + 1) % SLOTS;
        }
        self.0[at] = (key, word);
    }
}

/// The meaning of a run of ASCII letters.
pub(super) fn word(letters: &[u8]) -> Word {
    let key = key(letters);
    let mut at = slot(key);
    let table = &TABLE.0;
    loop {
        let (found, word) = table[at];
        if found == key {
            return if key == 0 { Word::Other } else { word };
        }
        if found == 0 {
            return Word::Other;
        }
        at = (at + 1) % SLOTS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case() {
        assert_eq!(word(b"yesterday"), Word::Day(-1));
        assert_eq!(word(b"YesterDay"), Word::Day(-1));
        assert_eq!(word(b"september"), Word::Month(9, MonthWord::Plain));
        for unknown in [&b""[..], b"x", b"yesterdays", b"abcdefghijklmnopq", b"z"] {
            assert_eq!(word(unknown), Word::Other);
        }
        for (text, expected) in SIMPLE {
            assert_eq!(word(text.as_bytes()), *expected, "{text}");
        }
    }
}
