//! One pass over normalised text that finds words, numbers, identifiers and runs.
//!
//! What a document and a question make of them differs; that is the [`Sink`]'s business.

use super::script::{Class, class, is_regional_indicator};
use super::tokens::TermKind;

/// Characters of one token; longer ones are cut here.
pub(super) const TOKEN_CHARACTERS: usize = 64;

/// Where scanned tokens go. `part` is true for a piece of an identifier that was itself
/// reported as a whole.
pub(super) trait Sink {
    /// A word of an alphabetic script, lower-cased, not stemmed.
    fn word(&mut self, word: &str, part: bool);
    /// A number, identifier or emoji, as it stays.
    fn exact(&mut self, token: &str, kind: TermKind, part: bool);
    /// A run of characters of the scripts that are indexed by pairs (marks included).
    fn run(&mut self, run: &[char], after_digit: bool);
}

/// Scans normalised text, in time linear in its length.
pub(super) fn scan(text: &[char], sink: &mut impl Sink) {
    let classes = text.iter().map(|c| class(*c)).collect();
    Scanner { text, classes, sink, token: String::new(), segments: Vec::new() }.scan();
}

struct Scanner<'a, S> {
    text: &'a [char],
    classes: Vec<Class>,
    sink: &'a mut S,
    token: String,
    /// Start and end of the pieces between the joiners of the present chunk.
    segments: Vec<(usize, usize)>,
}

impl<S: Sink> Scanner<'_, S> {
    fn scan(&mut self) {
        let mut at = 0;
        while at < self.text.len() {
            at = match self.classes[at] {
                Class::Letter | Class::Digit => self.chunk(at),
                Class::Run => {
                    let end = self.skip(at, |class| matches!(class, Class::Run | Class::Mark));
                    let after_digit = at > 0 && self.classes[at - 1] == Class::Digit;
                    self.sink.run(&self.text[at..end], after_digit);
                    end
                }
                Class::Emoji => {
                    let flag = is_regional_indicator(self.text[at])
                        && self.text.get(at + 1).is_some_and(|c| is_regional_indicator(*c));
                    let end = at + if flag { 2 } else { 1 };
                    self.emit(at, end, TermKind::Emoji, false);
                    end
                }
                Class::Mark | Class::Other => at + 1,
            };
        }
    }

    fn skip(&self, from: usize, within: impl Fn(Class) -> bool) -> usize {
        from + self.classes[from..].iter().take_while(|class| within(**class)).count()
    }

    /// Reports `text[start..end]` as it is.
    fn emit(&mut self, start: usize, end: usize, kind: TermKind, part: bool) {
        self.token.clear();
        // The comma of "1,200" is only there because it groups digits.
        self.token.extend(self.text[start..end].iter().filter(|c| **c != ',').take(TOKEN_CHARACTERS));
        self.sink.exact(&self.token, kind, part);
    }

    /// Reads one chunk (pieces of letters and digits, held together by joiners), reports
    /// its tokens and returns where it ends.
    fn chunk(&mut self, start: usize) -> usize {
        self.segments.clear();
        let mut end = start;
        let (mut digits, mut symbols) = (false, false);
        loop {
            let from = end;
            end = self.skip(from, |class| matches!(class, Class::Letter | Class::Digit | Class::Mark));
            digits |= self.classes[from..end].contains(&Class::Digit);
            self.segments.push((from, end));
            if !self.joins(end, digits || symbols) {
                break;
            }
            symbols |= !matches!(self.text[end], '-' | '\'');
            end += 1;
        }
        if digits || symbols {
            self.compound(start, end);
            return end;
        }
        let next = |offset: usize| self.text.get(end + offset).copied();
        let ends_at = |offset: usize| {
            self.classes.get(end + offset).is_none_or(|c| !matches!(c, Class::Letter | Class::Digit))
        };
        let suffix = match (next(0), next(1)) {
            (Some('+'), Some('+')) if ends_at(2) => 2,
            (Some('#'), _) if end - start == 1 && ends_at(1) => 1,
            _ => 0,
        };
        if suffix > 0 && self.segments.len() == 1 {
            self.emit(start, end + suffix, TermKind::Identifier, false);
            self.word(start, end, true);
            return end + suffix;
        }
        // Hyphens between words: each word counts by itself, apostrophes stay inside.
        let mut from = start;
        for at in start..=end {
            if at == end || self.text[at] == '-' {
                self.word(from, at, false);
                from = at + 1;
            }
        }
        end
    }

    /// True when the character at `at` holds the pieces left and right of it together.
    fn joins(&self, at: usize, identifier: bool) -> bool {
        let Some(next) = self.classes.get(at + 1) else { return false };
        if !matches!(next, Class::Letter | Class::Digit) {
            return false;
        }
        let both_digits = self.classes[at - 1] == Class::Digit && *next == Class::Digit;
        match self.text[at] {
            '-' | '_' | '.' | '@' | '&' => true,
            '/' | ':' => both_digits,
            '\'' => !identifier && *next == Class::Letter,
            ',' => both_digits && self.groups_thousands(at),
            _ => false,
        }
    }

    /// True for the comma of "1,200" and not for that of "3,5" or "1,2003".
    fn groups_thousands(&self, comma: usize) -> bool {
        let digit = |at: usize| self.classes.get(at) == Some(&Class::Digit);
        let before = (1..=4).take_while(|back| comma >= *back && digit(comma - back)).count();
        let after = (1..=4).take_while(|ahead| digit(comma + ahead)).count();
        let plain = self.classes.get(comma + 4) != Some(&Class::Letter);
        before <= 3 && after == 3 && plain
    }

    /// A chunk with digits or symbols in it: a number, an acronym or an identifier.
    fn compound(&mut self, start: usize, end: usize) {
        let segments = std::mem::take(&mut self.segments);
        let joiner = |index: usize| self.text[segments[index].1];
        let joined_by = |allowed: &[char]| (0..segments.len() - 1).all(|i| allowed.contains(&joiner(i)));
        let all_digits = self.classes[start..end].iter().all(|c| matches!(c, Class::Digit | Class::Other));
        let single_letters =
            segments.iter().all(|(a, b)| b - a == 1) && !self.classes[start..end].contains(&Class::Digit);
        if all_digits
            && joined_by(&['.', ','])
            && (0..segments.len() - 1).filter(|i| joiner(*i) == '.').count() <= 1
        {
            self.emit(start, end, TermKind::Number, false);
        } else if single_letters && joined_by(&['.']) {
            // "U.S.A." is the word "usa".
            self.word(start, end, false);
        } else {
            let measure = segments.len() == 1 && self.is_measure(start, end);
            let time = all_digits && joined_by(&[':']);
            let kind = if measure || time { TermKind::Number } else { TermKind::Identifier };
            self.emit(start, end, kind, false);
            // A version is written with and without its "v".
            if self.text[start] == 'v'
                && segments.len() > 1
                && joined_by(&['.'])
                && self.classes[start + 1..end].iter().all(|c| matches!(c, Class::Digit | Class::Other))
                && self.classes[start + 1] == Class::Digit
            {
                let kind = if segments.len() == 2 { TermKind::Number } else { TermKind::Identifier };
                self.emit(start + 1, end, kind, true);
            }
            for &(from, to) in &segments {
                self.pieces(from, to, segments.len() > 1);
            }
        }
        self.segments = segments;
    }

    /// True for digits with a short unit or ending: "5km", "10am", "3rd".
    fn is_measure(&self, start: usize, end: usize) -> bool {
        let unit = self.skip(start, |class| class == Class::Digit);
        unit > start && end - unit <= 3 && self.classes[unit..end].iter().all(|c| *c == Class::Letter)
    }

    /// The parts of one piece of an identifier: the piece itself where it is not the
    /// whole, and its letters and digits apart. Pieces that change between the two often
    /// are hashes; their parts would be noise.
    fn pieces(&mut self, start: usize, end: usize, report_piece: bool) {
        let is_digit = |at: usize| self.classes[at] == Class::Digit;
        let changes = (start + 1..end).filter(|at| is_digit(*at) != is_digit(*at - 1)).count();
        if changes > 0 && report_piece {
            self.emit(start, end, TermKind::Identifier, true);
        }
        if changes > 3 {
            return;
        }
        let mut from = start;
        for at in start + 1..=end {
            if at < end && (self.classes[at] == Class::Digit) == (self.classes[from] == Class::Digit) {
                continue;
            }
            if self.classes[from] == Class::Digit {
                self.emit(from, at, TermKind::Number, true);
            } else {
                self.word(from, at, true);
            }
            from = at;
        }
    }

    /// Reports a word, its apostrophes resolved: "cat's" and "he'll" lose their ending,
    /// "l'amour" gives its article off, any other apostrophe is just left out.
    fn word(&mut self, start: usize, end: usize, part: bool) {
        let (mut start, mut end) = (start, end);
        if let Some(last) = self.text[start..end].iter().rposition(|c| *c == '\'') {
            let mut ending = ['\0'; 2];
            let letters = &self.text[start + last + 1..end];
            if letters.len() <= 2 {
                ending[..letters.len()].copy_from_slice(letters);
            }
            if matches!(ending, ['s' | 'd' | 'm', '\0'] | ['l', 'l'] | ['r', 'e'] | ['v', 'e']) {
                end = start + last;
            }
            match &self.text[start..end] {
                ['l' | 'd' | 'j' | 'c' | 'n' | 's' | 'm' | 't', '\'', ..] => {
                    self.plain_word(start, start + 1, part);
                    start += 2;
                }
                ['q', 'u', '\'', ..] => {
                    self.plain_word(start, start + 2, part);
                    start += 3;
                }
                _ => {}
            }
        }
        self.plain_word(start, end, part);
    }

    fn plain_word(&mut self, start: usize, end: usize, part: bool) {
        self.token.clear();
        let letters = self.text[start..end].iter().filter(|c| !matches!(c, '\'' | '.'));
        self.token.extend(letters.take(TOKEN_CHARACTERS));
        if !self.token.is_empty() {
            self.sink.word(&self.token, part);
        }
    }
}
