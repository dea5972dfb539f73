//! Names in scripts with capitals: runs of capitalised words, identifiers, products.

use super::concept::{Concept, ConceptSet};
use super::lexicon::Tag;
use super::mention::{Finder, Found, Kind};
use super::words::{Token, TokenKind};

/// A run of more words is a headline.
const LONGEST_RUN: usize = 7;

pub(super) fn find(finder: &Finder<'_, '_>, at: usize) -> Found {
    identifier(finder, at)
        .or_else(|| product(finder, at))
        .or_else(|| titled(finder, at))
        .or_else(|| run(finder, at))
}

fn is_latin(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Mixed | TokenKind::Number)
}

/// The place after the parts that hang together with hyphens, dots and nothing at all.
fn glued_end(finder: &Finder<'_, '_>, at: usize) -> usize {
    let mut end = at + 1;
    while end < at + 8 && finder.token(end).is_some_and(|token| token.glued && is_latin(token)) {
        end += 1;
    }
    end
}

/// INC-90312, #48213, SF1234567890, A1603, v2.3.1.
fn identifier(finder: &Finder<'_, '_>, at: usize) -> Found {
    let token = finder.token(at)?;
    if token.kind == TokenKind::Mark && matches!(finder.key(at), "#" | "№") {
        let next = finder.token(at + 1)?;
        let digits = finder.key(at + 1).bytes().filter(u8::is_ascii_digit).count();
        return (next.glued && digits >= 2 && is_latin(next))
            .then(|| (glued_end(finder, at + 1), None, Kind::Identifier));
    }
    // What hangs on a part before was looked at from there.
    let inner = token.glued && finder.before(at).is_some_and(is_latin);
    if !is_latin(token) || inner {
        return None;
    }
    let end = glued_end(finder, at);
    let (mut digits, mut letters, mut capitals, mut small) = (0_usize, 0_usize, 0_usize, 0_usize);
    for place in at..end {
        let source = finder.words.source(finder.token(place)?);
        digits += source.chars().filter(char::is_ascii_digit).count();
        letters += source.chars().filter(|c| c.is_alphabetic()).count();
        capitals += source.chars().filter(|c| c.is_uppercase()).count();
        small += source.chars().filter(|c| c.is_lowercase()).count();
    }
    let key = finder.key(at);
    if letters == 0 {
        // Long numbers without marks are numbers of orders or telephones.
        return (digits >= 7 && key.len() == digits).then_some((end, None, Kind::Identifier));
    }
    if digits == 0 {
        return None;
    }
    if token.has(Tag::BRAND) {
        return None;
    }
    let version = key.starts_with('v') && key[1..].starts_with(|c: char| c.is_ascii_digit());
    // 5km, 10am, 20th, 1080p, 4k; covid-19, mid-2023, top-10.
    let measure = finder.words.source(token).starts_with(|c: char| c.is_ascii_digit())
        && (small > 0 || letters <= 2)
        && digits < 8
        && end == at + 1;
    let worded = end > at + 1 && capitals < 2 && small > 0 && digits < 5;
    if (measure || worded) && !version {
        return None;
    }
    // S3, B2, Q4: too short to be sure.
    let sure = version || (capitals > 0 && digits + letters >= 4) || digits >= 5;
    sure.then_some((end, None, Kind::Identifier))
}

/// iPhone 15 Pro, RTX 4090, Windows 11.
pub(super) fn product(finder: &Finder<'_, '_>, at: usize) -> Found {
    let token = finder.token(at)?;
    let mixed = token.kind == TokenKind::Mixed && is_brand_with_number(finder.key(at));
    if !token.has(Tag::BRAND) && !mixed {
        return None;
    }
    if token.kind == TokenKind::Word
        && !token.capital
        && !finder.words.source(token).contains(char::is_uppercase)
    {
        // "python" in small letters is a product all the same; "switch" and "core" are words.
        let plain = matches!(
            finder.key(at),
            "model"
                | "switch"
                | "surface"
                | "core"
                | "mate"
                | "galaxy"
                | "canon"
                | "windows"
                | "pixel"
                | "kindle"
        );
        if plain {
            return None;
        }
    }
    let mut end = at + 1;
    let mut model = mixed;
    while end < at + 6 {
        let Some(next) = finder.token(end) else { break };
        let key = finder.key(end);
        let modifier = matches!(
            key,
            "pro"
                | "max"
                | "plus"
                | "ultra"
                | "mini"
                | "air"
                | "se"
                | "ti"
                | "super"
                | "lite"
                | "fold"
                | "flip"
                | "x"
                | "s"
                | "y"
        ) && next.kind == TokenKind::Word
            && (next.capital || next.glued);
        let number = matches!(next.kind, TokenKind::Number | TokenKind::Mixed)
            && key.len() <= 6
            && !key.contains([':', '/']);
        if !(modifier || number || (next.has(Tag::BRAND) && (next.capital || next.kind == TokenKind::Mixed)))
        {
            break;
        }
        model = true;
        end += 1;
    }
    if token.kind == TokenKind::Han {
        // 苹果 and 理想 alone are words; with a model they are brands.
        return model.then_some((end, None, Kind::Product));
    }
    let alone = matches!(
        finder.key(at),
        "model" | "mate" | "core" | "surface" | "switch" | "galaxy" | "pixel" | "canon"
    );
    (model || !alone).then_some((end, None, Kind::Product))
}

/// mate60, iphone15.
fn is_brand_with_number(key: &str) -> bool {
    let letters = key.trim_end_matches(|c: char| c.is_ascii_digit());
    letters.len() < key.len()
        && matches!(
            letters,
            "iphone" | "mate" | "ipad" | "rtx" | "gtx" | "gpt" | "pixel" | "redmi" | "ps" | "galaxy" | "p"
        )
        && (letters != "p" && letters != "ps" || key.len() > 2)
}

/// Dr. Lee, Mr Smith, Aunt Maria.
fn titled(finder: &Finder<'_, '_>, at: usize) -> Found {
    let token = finder.token(at)?;
    if !token.has(Tag::TITLE) || !token.capital || token.kind != TokenKind::Word {
        return None;
    }
    let mut end = at + 1;
    if finder.key(end) == "." {
        end += 1;
    }
    let start = end;
    while end < start + 3
        && finder.token(end).is_some_and(|next| {
            next.kind == TokenKind::Word
                && next.capital
                && (!next.has(Tag::STOP) || next.has(Tag::GIVEN))
                && !next.starts
        })
    {
        end += 1;
    }
    (end > start).then_some((end, None, Kind::Person))
}

fn is_particle(key: &str) -> bool {
    matches!(
        key,
        "of" | "the"
            | "de"
            | "van"
            | "von"
            | "der"
            | "den"
            | "la"
            | "le"
            | "di"
            | "da"
            | "du"
            | "del"
            | "&"
            | "bin"
            | "el"
    )
}

/// True where a capital at this place may begin or go on with a name.
fn may_name(finder: &Finder<'_, '_>, at: usize) -> bool {
    let Some(token) = finder.token(at) else { return false };
    if token.kind != TokenKind::Word || !token.capital {
        return false;
    }
    let key = finder.key(at);
    if token.has(Tag::CALENDAR) || key == "i" {
        return false;
    }
    if is_initial(finder, at) {
        return true;
    }
    if token.has(Tag::STOP) {
        // Will and Mark are names where their capital is not the sentence's.
        return token.has(Tag::GIVEN) && !token.starts && !token.has(Tag::DATE);
    }
    true
}

/// "J." in "J. K. Rowling".
fn is_initial(finder: &Finder<'_, '_>, at: usize) -> bool {
    finder.key(at).len() == 1
        && finder.key(at) != "i"
        && finder.key(at + 1) == "."
        && finder.token(at).is_some_and(|token| token.capital)
}

fn run(finder: &Finder<'_, '_>, at: usize) -> Found {
    let first = finder.token(at)?;
    if !may_name(finder, at)
        || (first.glued
            && finder.before(at).is_some_and(|before| before.kind == TokenKind::Word && before.capital))
    {
        return None;
    }
    let mut end = at + 1;
    loop {
        let mut next = end;
        // Initials: "J. K. Rowling".
        if finder.key(next) == "." && finder.before(next).is_some_and(|before| before.range().len() == 1) {
            next += 1;
        }
        while next < end + 3
            && is_particle(finder.key(next))
            && !finder.token(next).is_some_and(|token| token.capital)
        {
            next += 1;
        }
        let joins = finder.token(next).is_some_and(|token| {
            !token.starts
                && token.kind == TokenKind::Word
                && token.capital
                && identifier(finder, next).is_none()
                && (!token.has(Tag::STOP)
                    || token.has(Tag::ORGANISATION | Tag::PLACE_END | Tag::GIVEN)
                    || is_initial(finder, next))
                && !token.has(Tag::CALENDAR)
        });
        if !joins || end - at >= LONGEST_RUN {
            break;
        }
        end = next + 1;
    }
    let tokens: Vec<&Token> = (at..end).filter_map(|place| finder.token(place)).collect();
    let kind = kind(finder, at, end, &tokens)?;
    Some((end, None, kind))
}

fn kind(finder: &Finder<'_, '_>, at: usize, end: usize, tokens: &[&Token]) -> Option<Kind> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let before = at.checked_sub(1).map_or("", |before| finder.words.key_at(before));
    let before_that = at.checked_sub(2).map_or("", |before| finder.words.key_at(before));
    let next = finder.words.tokens().get(end);
    let single = tokens.len() == 1;
    let any = |tag: Tag| tokens.iter().any(|token| token.has(tag));
    if finder.shouted && !any(Tag::GIVEN | Tag::PLACE) {
        return None;
    }
    if first.has(Tag::COMPANY) && single {
        return Some(Kind::Organisation);
    }
    if !single
        && (last.has(Tag::ORGANISATION) || (first.has(Tag::ORGANISATION) && finder.key(at + 1) == "of"))
    {
        return Some(Kind::Organisation);
    }
    if single
        && first.has(Tag::PLACE)
        && (!first.has(Tag::GIVEN) || matches!(before, "in" | "to" | "from" | "near"))
    {
        return Some(Kind::Place);
    }
    if !single && last.has(Tag::PLACE_END) {
        return Some(Kind::Place);
    }
    let follows_relation =
        finder.before(at).is_some_and(|token| token.has(Tag::RELATION) && token.kind == TokenKind::Word);
    let acts = next.is_some_and(|next| next.has(Tag::PERSONAL_VERB));
    // "Mark my words": at the start of a sentence these need to act or own.
    let wordy = matches!(
        finder.key(at),
        "mark"
            | "bill"
            | "grace"
            | "rose"
            | "max"
            | "jack"
            | "sue"
            | "rob"
            | "frank"
            | "art"
            | "iris"
            | "ivy"
            | "jean"
            | "pat"
    );
    let owns = next.is_some_and(|next| next.kind == TokenKind::Clitic && finder.words.key(next) == "'s");
    if wordy && single && first.starts && !acts && !owns {
        return None;
    }
    if first.has(Tag::GIVEN) || (any(Tag::GIVEN) && !any(Tag::ORGANISATION | Tag::PLACE)) {
        return Some(if single && first.has(Tag::PLACE) && before == "in" {
            Kind::Place
        } else {
            Kind::Person
        });
    }
    if !single && any(Tag::PLACE) && tokens.iter().all(|token| token.has(Tag::PLACE)) {
        return Some(Kind::Place);
    }
    // A common word with a capital, alone: "Coffee", "Jazz", "Violin".
    let common = !first.entry.concepts.is_empty()
        || first.has(
            Tag::NATION
                | Tag::TITLE
                | Tag::RELATION
                | Tag::SMALL_TALK
                | Tag::PERSONAL_VERB
                | Tag::UNIT
                | Tag::NUMBER
                | Tag::ORDER
                | Tag::ORGANISATION
                | Tag::PLACE_END,
        );
    if single && common {
        let software = first.common_concepts() == ConceptSet::of(&[Concept::Software])
            && !first.starts
            && !first.has(Tag::CLASS);
        return software.then_some(Kind::Product);
    }
    let weak_start = first.starts && single;
    // A word that no list has, at the start of a sentence, is a name where it acts or owns.
    if weak_start {
        let ordinary = finder.key(at).ends_with("ing")
            || finder.key(at).ends_with("ly")
            || finder.key(at).ends_with("ed");
        return ((acts || owns) && !ordinary && !first.upper && finder.key(at).len() > 2)
            .then_some(if acts { Kind::Person } else { Kind::Other });
    }
    if !single
        && common
        && tokens.iter().all(|token| !token.entry.concepts.is_empty() || token.entry.tags != Tag::NONE)
        && first.starts
    {
        return None;
    }
    if follows_relation || matches!(before, "named" | "called") && before_that != "is" {
        return Some(Kind::Person);
    }
    Some(match before {
        "in" | "near" | "towards" | "around" => Kind::Place,
        "to" if matches!(
            before_that,
            "went"
                | "moved"
                | "go"
                | "going"
                | "travel"
                | "trip"
                | "flew"
                | "drove"
                | "fly"
                | "move"
                | "visit"
                | "travelled"
                | "traveled"
                | "back"
                | "been"
        ) =>
        {
            Kind::Place
        }
        "from"
            if matches!(
                before_that,
                "i'm" | "am" | "is" | "are" | "come" | "comes" | "'m" | "'s" | "moved" | "flew"
            ) =>
        {
            Kind::Place
        }
        "at" | "for"
            if matches!(
                before_that,
                "works"
                    | "work"
                    | "worked"
                    | "working"
                    | "job"
                    | "engineer"
                    | "intern"
                    | "interned"
                    | "studies"
                    | "studied"
                    | "study"
            ) =>
        {
            Kind::Organisation
        }
        "with" | "met" | "meet" | "told" | "asked" | "married" if !first.upper => Kind::Person,
        _ if acts
            && !first.upper
            && !finder.words.tokens().get(end).is_some_and(|next| {
                matches!(
                    finder.words.key(next),
                    "is" | "was" | "has" | "can" | "and" | "'s" | "just" | "does" | "used"
                )
            }) =>
        {
            Kind::Person
        }
        _ => Kind::Other,
    })
}
