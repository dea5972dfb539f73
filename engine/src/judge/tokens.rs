//! Cutting a text into words, Chinese words, numbers, identifiers and marks.

use super::lexicon;
use super::normalize::{is_han, is_kana, is_shouted};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Han,
    Number,
    Identifier,
    Symbol,
    Comma,
    Colon,
    Equals,
    /// End of a sentence; `true` after a question mark.
    End(bool),
}

/// One token. `text` is in lower case; `literal` keeps the case where case counts.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) literal: String,
    /// As written.
    pub(super) source: String,
    pub(super) capital: bool,
}

/// Marks that stand around words rather than in them.
const MARKS: &[char] = &[
    ',', ';', ':', '!', '?', '。', '、', '"', '\'', '(', ')', '[', ']', '{', '}', '<', '>', '“', '”', '‘',
    '«', '»', '《', '》', '「', '」', '『', '』', '【', '】', '〈', '〉',
];

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] =
    &["mr", "mrs", "ms", "dr", "st", "prof", "vs", "etc", "no", "e.g", "i.e", "inc", "ltd", "approx"];

pub(super) struct Tokenizer {
    tokens: Vec<Token>,
    shouted: bool,
}

/// The tokens of a text in NFKC form.
pub(super) fn tokenize(text: &str) -> Vec<Token> {
    let chinese = !text.chars().any(is_kana);
    let mut tokenizer = Tokenizer { tokens: Vec::new(), shouted: is_shouted(text) };
    let mut chunk = String::new();
    let mut run: Vec<char> = Vec::new();
    for character in text.chars().chain(['\n']) {
        let character = if matches!(character, '’' | 'ʼ') { '\'' } else { character };
        let native = is_han(character) || is_kana(character);
        if native || character.is_whitespace() {
            tokenizer.chunk(&chunk);
            chunk.clear();
        }
        if !native {
            tokenizer.run(&run, chinese);
            run.clear();
        }
        if native {
            run.push(character);
        } else if character == '\n' {
            tokenizer.end(false);
        } else if !character.is_whitespace() {
            chunk.push(character);
        }
    }
    while matches!(tokenizer.tokens.last(), Some(Token { kind: Kind::End(false), .. })) {
        tokenizer.tokens.pop();
    }
    tokenizer.tokens
}

impl Tokenizer {
    fn push(&mut self, kind: Kind, literal: &str) {
        let capital = literal.chars().next().is_some_and(char::is_uppercase);
        let text = literal.to_lowercase();
        self.tokens.push(Token {
            kind,
            text,
            literal: literal.to_owned(),
            source: literal.to_owned(),
            capital,
        });
    }

    fn end(&mut self, question: bool) {
        match self.tokens.last_mut() {
            None => {}
            Some(Token { kind: Kind::End(before), .. }) => *before |= question,
            Some(_) => self.push(Kind::End(question), "."),
        }
    }

    /// A run of Chinese characters: the longest known word at each place, else one
    /// character, so that nothing is lost and the order is kept.
    fn run(&mut self, run: &[char], chinese: bool) {
        let mut at = 0;
        while at < run.len() {
            if chinese
                && let [verb, mark @ ('不' | '得'), complement, ..] = run[at..]
                && lexicon::is_complemented(&verb.to_string(), &complement.to_string())
            {
                for character in [verb, mark, complement] {
                    self.push(Kind::Han, &character.to_string());
                }
                at += 3;
                continue;
            }
            let mut length = 1;
            if chinese {
                for candidate in (2..=lexicon::LONGEST_CHINESE.min(run.len() - at)).rev() {
                    let word: String = run[at..at + candidate].iter().collect();
                    if lexicon::is_chinese_word(&word) {
                        length = candidate;
                        break;
                    }
                }
            }
            let word: String = run[at..at + length].iter().collect();
            self.push(Kind::Han, &word);
            at += length;
        }
    }

    fn chunk(&mut self, chunk: &str) {
        let core = chunk.trim_start_matches(MARKS);
        self.marks(&chunk[..chunk.len() - core.len()]);
        let kept = core.trim_end_matches(|c| c == '.' || c == '…' || MARKS.contains(&c));
        let (core, after) = core.split_at(kept.len());
        self.core(core);
        let lower = core.to_lowercase();
        let short = after == "."
            && (ABBREVIATIONS.contains(&lower.as_str())
                || (core.chars().count() == 1 && core.chars().all(char::is_uppercase) && core != "I"));
        if !short {
            self.marks(after);
        }
    }

    fn marks(&mut self, marks: &str) {
        for mark in marks.chars() {
            match mark {
                ',' => self.push(Kind::Comma, ","),
                ':' => self.push(Kind::Colon, ":"),
                '?' => self.end(true),
                '.' | '!' | ';' | '。' | '…' => self.end(false),
                other => self.push(Kind::Symbol, other.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// What is left of a chunk once the marks around it are taken off.
    fn core(&mut self, core: &str) {
        if core.is_empty() {
            return;
        }
        let digit_before = |at: usize| core[..at].chars().next_back().is_some_and(|c| c.is_ascii_digit());
        let (equals, colons) = (core.matches('=').count(), core.matches(':').count());
        let separator = core.char_indices().find(|&(at, character)| {
            let rest = &core[at + character.len_utf8()..];
            match character {
                ',' | '、' | '—' | '…' | '《' | '》' | '“' | '”' => {
                    !(digit_before(at) && rest.starts_with(|c: char| c.is_ascii_digit()))
                }
                '=' => equals == 1 && at > 0 && !core[..at].ends_with(['!', '<', '>']),
                ':' => colons == 1 && !rest.starts_with('/') && core[..at].chars().all(char::is_alphabetic),
                _ => false,
            }
        });
        if let Some((at, character)) = separator
            && core.chars().count() > 1
        {
            self.core(&core[..at]);
            match character {
                ',' => self.push(Kind::Comma, ","),
                ':' => self.push(Kind::Colon, ":"),
                '=' => self.push(Kind::Equals, "="),
                other => self.push(Kind::Symbol, other.encode_utf8(&mut [0; 4])),
            }
            return self.core(&core[at + character.len_utf8()..]);
        }
        if core == "=" {
            return self.push(Kind::Equals, core);
        }
        let is_word_mark = |c: char| unicode_normalization::char::is_combining_mark(c);
        if core.chars().all(|c| c.is_alphabetic() || is_word_mark(c) || matches!(c, '\'' | '-'))
            && core.chars().any(char::is_alphabetic)
        {
            return self.word(core);
        }
        let number = core.strip_suffix("st").or(core.strip_suffix("nd")).or(core.strip_suffix("rd"));
        let number = number.or(core.strip_suffix("th")).unwrap_or(core);
        if number.chars().any(|c| c.is_ascii_digit())
            && number.chars().all(|c| {
                c.is_ascii_digit()
                    || matches!(c, '.' | ',' | ':' | '/' | '-' | '%' | '°' | '+' | '$' | '€' | '£' | '¥')
            })
        {
            return self.push(Kind::Number, number);
        }
        if core.chars().any(char::is_alphanumeric) {
            self.push(Kind::Identifier, core);
        } else {
            self.push(Kind::Symbol, core);
        }
    }

    /// A word, with its contraction undone: "don't" is "do not".
    fn word(&mut self, word: &str) {
        let lower = word.to_lowercase();
        let parts: Vec<String> = match lower.as_str() {
            "cannot" | "can't" | "cant" => vec!["can".into(), "not".into()],
            "won't" | "wont" => vec!["will".into(), "not".into()],
            "shan't" => vec!["shall".into(), "not".into()],
            "dont" | "doesnt" | "didnt" | "isnt" | "arent" | "wasnt" | "shouldnt" | "mustnt" => {
                vec![lower[..lower.len() - 2].into(), "not".into()]
            }
            "it's" | "that's" | "he's" | "she's" | "there's" | "what's" | "here's" | "who's" => {
                vec![lower[..lower.len() - 2].into(), "is".into()]
            }
            other => {
                let endings = [
                    ("n't", "not"),
                    ("'re", "are"),
                    ("'ve", "have"),
                    ("'ll", "will"),
                    ("'m", "am"),
                    ("'s", "'s"),
                ];
                match endings.iter().find(|(ending, _)| other.len() > ending.len() && other.ends_with(ending))
                {
                    Some((ending, meaning)) => {
                        vec![other[..other.len() - ending.len()].into(), (*meaning).into()]
                    }
                    None => vec![other.to_owned()],
                }
            }
        };
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let abbreviation = !self.shouted && word.chars().skip(1).any(char::is_uppercase);
        if let [_] = parts.as_slice() {
            let literal = if abbreviation { word.to_owned() } else { lower.clone() };
            self.tokens.push(Token {
                kind: Kind::Word,
                text: lower,
                literal,
                source: word.to_owned(),
                capital,
            });
        } else {
            for (place, text) in parts.into_iter().enumerate() {
                let capital = capital && place == 0;
                let length = if place == 0 { text.len() } else { 0 };
                let source =
                    word.get(..length).filter(|source| !source.is_empty()).unwrap_or(&text).to_owned();
                self.tokens.push(Token { kind: Kind::Word, literal: text.clone(), text, source, capital });
            }
        }
    }
}
