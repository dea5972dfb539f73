//! Whether a text holds a name: as whole words, and where a script has no blanks between words,
//! with a border on either side.
//!
//! What is forgotten by name must be what was meant. 김민수는 is 김민수 with a particle, 김민수정 is
//! somebody else; 张伟喜欢 begins with 张伟, 张伟丽 does not, and 李雷 is not in 木子李雷达. Where it
//! cannot be told the answer is that it is doubtful, never that the name is there.
//!
//! Knows texts and names only; no cards, no store.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::graph::{Names, begins_after, ends_before, is_full_name, is_japanese_title, is_title, mentions};
use crate::judge::{is_han, is_kana};

/// How sure it is that a text holds a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    /// It does not.
    #[default]
    No,
    /// Its characters are there, and may be part of a longer name or of another word.
    Doubtful,
    /// It does.
    Yes,
}

/// First names that are words as well: given with a capital, they need one. Bill is not the bill.
const NAMES_AND_WORDS: &str = "amber april art august autumn bill bob chase chip christian crystal daisy dawn dick \
drew earl ernest faith frank gene grace grant guy heather holly hope hunter iris ivy jack joy june lily mark mason \
max may miles nick olive pat penny ray rich rob robin rose ruby sandy sky stew sue summer violet wade will";

/// What stands after a Korean name in the same word: forms of address, then particles.
const KOREAN_ENDINGS: &str = "은 는 이 가 을 를 의 에 에게 에게서 에게는 에게도 께 께서 께서는 한테 한테서 한테는 와 과 랑 이랑 하고 로 \
으로 도 만 만은 까지 부터 처럼 보다 마다 조차 마저 밖에 뿐 이나 나 야 아 이야 라 이라 라고 이라고 라는 이라는 란 이란 이가 이는 이를 \
이의 이와 이도 이만 이에게 이한테 이네 네 들 이다 다 였다 이었다 입니다 였습니다 이었습니다 예요 이에요 이고 인 인데";
/// Forms of address after a Korean name, before its particle.
const KOREAN_TITLES: &str = "씨 님 군 양 선생 선생님 교수 교수님 박사 박사님 대리 대리님 과장 과장님 차장 차장님 부장 부장님 팀장 팀장님 \
사장 사장님 대표 대표님 이사 이사님 선배 선배님 형 누나 언니 오빠 의원 장관 감독 선수 기자";

/// Words that may stand beside a name in hiragana: particles and forms of address after it, particles before it.
const JAPANESE_AFTER: &str =
    "は が を に へ と も の や で から まで より だけ さん ちゃん くん さま です だ って なら か";
const JAPANESE_BEFORE: &str = "は が を に へ と も の や で から";

/// Thai words that often stand before and after a name.
const THAI_BEFORE: &str = "กับ และ ของ ให้ คุณ นาย นาง นางสาว พี่ น้อง ที่ ว่า หา พบ เจอ บอก ชื่อ เพื่อน";
const THAI_AFTER: &str = "ชอบ เป็น ไป มา อยู่ กับ และ ที่ ของ จะ ได้ มี คือ ไม่ ก็ ให้ ว่า พูด บอก กิน ซื้อ เคย ต้อง อยาก รัก";

/// A name's words in a row, without an English plural's or owner's ending.
#[derive(Debug)]
pub(super) struct Phrase(Vec<String>);

impl Phrase {
    pub(super) fn of(text: &str) -> Self {
        Self(words(&folded(text)).into_iter().map(|(word, _)| word).collect())
    }

    /// True when there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when it begins or ends in a script without blanks: then its characters alone say little.
    pub(super) fn needs_borders(&self) -> bool {
        let edge = |word: Option<&String>| word.is_some_and(|word| word.chars().any(is_unspaced));
        edge(self.0.first()) || edge(self.0.last())
    }

    /// Whether a text holds it. Where a longer name of its own stands, of which this is a part, the text
    /// does not hold it there; where one that is only known from elsewhere does, it is doubtful.
    pub(super) fn is_in(&self, text: &str, own: &[&str], known: &[String]) -> Holds {
        let text = folded(text);
        let places = self.places(&text);
        if places.is_empty() {
            return Holds::No;
        }
        let own = self.places_of_longer(&text, own.iter().copied());
        let known = self.places_of_longer(&text, known.iter().map(String::as_str));
        // Found without knowing any name, so without being led by this one.
        let read = if self.needs_borders() { mentions(&text, &Names::new()) } else { vec![] };
        let judge = |place: Range<usize>| {
            let within = |longer: &Range<usize>| longer.start <= place.start && place.end <= longer.end;
            if own.iter().any(within) {
                return Holds::No;
            }
            if known.iter().any(within) {
                return Holds::Doubtful;
            }
            if let Some(mention) = read.iter().find(|mention| within(&mention.range)) {
                let rest = &text[place.end..mention.range.end];
                let same = mention.range.start == place.start && (rest.is_empty() || is_title(rest));
                return if same { Holds::Yes } else { Holds::Doubtful };
            }
            match self.has_borders(&text, &place) {
                true => Holds::Yes,
                false => Holds::Doubtful,
            }
        };
        places.into_iter().map(judge).max().unwrap_or_default()
    }

    /// Where its words stand one after the other.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        if self.0.is_empty() {
            return vec![];
        }
        let fits = |(wanted, (found, _)): (&String, &(String, Range<usize>))| {
            let lower = wanted.to_lowercase();
            let is_name = lower != *wanted && NAMES_AND_WORDS.split(' ').any(|name| name == lower);
            lower == found.to_lowercase() && (!is_name || found.chars().any(char::is_uppercase))
        };
        let words = words(text);
        let windows = words.windows(self.0.len());
        let windows = windows.filter(|window| self.0.iter().zip(*window).all(fits));
        windows.filter_map(|window| Some(window.first()?.1.start..window.last()?.1.end)).collect()
    }

    /// Where names stand that hold this one and more than a title beside it: Mary Ann Evans is not Ann.
    fn places_of_longer<'n>(&self, text: &str, names: impl Iterator<Item = &'n str>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for name in names {
            let name = folded(name);
            let inner = self.places(&name);
            let longer = inner.iter().any(|place| {
                let titled = place.start == 0 && is_title(&name[place.end..]);
                *place != (0..name.len()) && !titled && words(&name).len() > self.0.len()
            });
            if longer {
                found.extend(Self::of(&name).places(text));
            }
        }
        found
    }

    /// True when nothing that stands beside it can belong to it.
    fn has_borders(&self, text: &str, place: &Range<usize>) -> bool {
        let (before, name, rest) = (&text[..place.start], &text[place.clone()], &text[place.end..]);
        let (Some(first), Some(last)) = (name.chars().next(), name.chars().next_back()) else { return false };
        let left = before.chars().next_back().filter(|_| is_unspaced(first));
        let right = rest.chars().next().filter(|_| is_unspaced(last));
        left.is_none_or(|c| self.begins(first, c, before, is_japanese(text)))
            && right.is_none_or(|c| self.ends(last, c, rest, is_japanese(text)))
    }

    /// True when the name, which begins with `first`, begins after the character `left`, the end of `before`.
    fn begins(&self, first: char, left: char, before: &str, japanese: bool) -> bool {
        match (script(first), script(left)) {
            (Script::Thai, Script::Thai) => ends_with_any(before, THAI_BEFORE),
            (Script::Hiragana, Script::Hiragana) => ends_with_any(before, JAPANESE_BEFORE),
            // Long ones are hardly part of another word.
            (Script::Han, Script::Han) if !japanese => self.0.len() > 3 || begins_after(before),
            (a, b) => a != b || b == Script::Spaced,
        }
    }

    /// True when the name, which ends with `last`, ends before the character `right`, the start of `rest`.
    fn ends(&self, last: char, right: char, rest: &str, japanese: bool) -> bool {
        match (script(last), script(right)) {
            (Script::Hangul, Script::Hangul) => self.is_korean_ending(rest),
            (Script::Thai, Script::Thai) => starts_with_any(rest, THAI_AFTER),
            (Script::Hiragana, Script::Hiragana) => starts_with_any(rest, JAPANESE_AFTER),
            (Script::Han, Script::Han) if japanese => is_japanese_title(rest),
            // A surname and two characters are a whole name.
            (Script::Han, Script::Han) => {
                self.0.len() > 3 || is_full_name(&self.0.concat()) || ends_before(rest)
            }
            // 田中さん; but 食べる is a word, and so may be what else goes on in kana.
            (Script::Han, Script::Hiragana) => starts_with_any(rest, JAPANESE_AFTER),
            (a, b) => a != b || b == Script::Spaced,
        }
    }

    /// True when what is left of a Korean word is a form of address, a particle, or both.
    fn is_korean_ending(&self, rest: &str) -> bool {
        let ending: String = rest.chars().take_while(|c| script(*c) == Script::Hangul).collect();
        let is = |text: &str, list: &str| list.split_whitespace().any(|known| known == text);
        let ends = |text: &str| text.is_empty() || is(text, KOREAN_ENDINGS);
        // 김이 may be 김 with a particle or the name 김이; 김민이 may be a whole name. With three syllables
        // or more a name is whole.
        let short = self.0.len() < 3
            && ending.chars().count() == 1
            && "이아나라은인도로만양다의야네".contains(&ending);
        if short {
            return false;
        }
        let titled = || {
            let cuts = ending.char_indices().map(|(at, _)| at).skip(1).chain([ending.len()]);
            cuts.map(|at| ending.split_at(at)).any(|(title, rest)| is(title, KOREAN_TITLES) && ends(rest))
        };
        ends(&ending) || titled()
    }
}

fn starts_with_any(text: &str, list: &str) -> bool {
    list.split_whitespace().any(|word| text.starts_with(word))
}

fn ends_with_any(text: &str, list: &str) -> bool {
    list.split_whitespace().any(|word| text.ends_with(word))
}

fn is_japanese(text: &str) -> bool {
    text.chars().any(is_kana)
}

/// Compatible forms and one apostrophe, so that names and texts are compared alike.
fn folded(text: &str) -> String {
    text.nfkc().map(|c| if c == '’' { '\'' } else { c }).collect()
}

/// The words of a folded text and where they stand; a character of a script without blanks is a word of its own.
fn words(text: &str) -> Vec<(String, Range<usize>)> {
    let mut words = Vec::new();
    let mut start = None;
    let end = |start: &mut Option<usize>, at: usize, words: &mut Vec<(String, Range<usize>)>| {
        let Some(from) = start.take() else { return };
        let word = &text[from..at];
        let plain = word.strip_suffix("'s").unwrap_or(word);
        let singular = plain.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
        words.push((singular.unwrap_or(plain).to_owned(), from..at));
    };
    for (at, c) in text.char_indices() {
        if is_unspaced(c) {
            end(&mut start, at, &mut words);
            words.push((c.to_string(), at..at + c.len_utf8()));
        } else if c.is_alphanumeric() || (matches!(c, '\'' | '+' | '#') && start.is_some()) {
            start.get_or_insert(at);
        } else {
            end(&mut start, at, &mut words);
        }
    }
    end(&mut start, text.len(), &mut words);
    words
}

/// Writing systems as far as borders of words differ in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Han,
    Hiragana,
    Katakana,
    Hangul,
    Thai,
    /// Lao, Burmese, Khmer: nothing is known of their words.
    Other,
    /// Everything with blanks between words, and marks.
    Spaced,
}

fn script(c: char) -> Script {
    match c {
        _ if is_han(c) => Script::Han,
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '・' => Script::Spaced,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        '\u{ac00}'..='\u{d7af}' => Script::Hangul,
        '\u{0e00}'..='\u{0e7f}' => Script::Thai,
        '\u{0e80}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Script::Other,
        _ => Script::Spaced,
    }
}

/// Written without blanks between words, or, as Korean, with particles at them.
fn is_unspaced(c: char) -> bool {
    script(c) != Script::Spaced
}

#[cfg(test)]
mod tests {
    use super::Holds::{Doubtful, No, Yes};
    use super::*;

    #[test]
    fn whole_words_count_and_nothing_else() {
        for (phrase, text, expected) in [
            ("Anna", "ANNA has the keys", true),
            ("Anna", "Annabel has the keys", false),
            ("blue car", "Two Blue cars were sold.", true),
            ("Bill", "Will called Bill's sister", true),
            ("Bill", "I will pay the bill", false),
            ("bill", "BILL called", true),
            ("O'Neil", "o’neil", true),
            ("o'neil", "Ask O’Neil", true),
            ("blue car", "My blue bag is in the car.", false),
            ("王芳", "王芳喜欢茶", true),
            ("王芳", "王小芳喜欢茶", false),
            ("INC-90312", "see INC-90312.", true),
            ("INC-90312", "see INC-903123", false),
            ("C++", "C is a letter", false),
            ("C++", "written in C++", true),
        ] {
            let expected = if expected { Yes } else { No };
            assert_eq!(Phrase::of(phrase).is_in(text, &[], &[]), expected, "{phrase} in {text}");
        }
        assert!(Phrase::of("?!").is_empty());
        let ann = Phrase::of("Ann");
        assert_eq!(ann.is_in("Mary Ann Evans wrote", &["Mary Ann Evans"], &[]), No);
        assert_eq!(ann.is_in("Ann met Mary Ann Evans", &["Mary Ann Evans", "Ann"], &[]), Yes);
        assert_eq!(ann.is_in("Mary Ann Evans wrote", &[], &["mary ann evans".into()]), Doubtful);
        assert_eq!(Phrase::of("张伟").is_in("张伟丽住在北京", &["张伟丽"], &[]), No);
    }

    #[test]
    fn a_name_without_blanks_around_it_needs_borders() {
        for (phrase, text, expected) in [
            ("张伟", "张伟", Yes),
            ("张伟", "张伟丽住在北京", Doubtful),
            ("张伟", "昨天见了张伟丽", Doubtful),
            ("张伟", "昨天见了张伟", Yes),
            ("张伟", "张伟说他不去", Yes),
            ("张伟", "张伟明天来", Yes),
            ("张伟", "张伟明来了", Doubtful),
            ("张伟", "张伟丽和张伟是同事", Yes),
            ("张伟", "我和张伟、李雷一起去", Yes),
            ("张伟", "找张伟老师请假", Yes),
            ("李雷", "木子李雷达很好", Doubtful),
            ("李雷", "李雷达很好", Doubtful),
            ("李雷", "李雷喜欢打篮球", Yes),
            ("李雷", "韩梅梅和李雷是同学", Yes),
            ("王小明", "王小明骑车上班", Yes),
            ("王小明", "小王小明", Doubtful),
            ("欧阳娜", "欧阳娜娜在唱歌", Doubtful),
            ("咖啡", "我喜欢咖啡", Yes),
            ("김민수", "김민수", Yes),
            ("김민수", "김민수는 학생이다", Yes),
            ("김민수", "어제 김민수가 왔다", Yes),
            ("김민수", "김민수와 이영희", Yes),
            ("김민수", "김민수씨의 생일", Yes),
            ("김민수", "김민수 선생님은 친절하다", Yes),
            ("김민수", "김민수선생님께서 말했다", Yes),
            ("김민수", "김민수에게 전화했다", Yes),
            ("김민수", "김민수정은 의사다", Doubtful),
            ("김민수", "박김민수는 다른 사람", Doubtful),
            ("김민", "김민이 왔다", Doubtful),
            ("김민", "김민을 만났다", Yes),
            ("민수", "민수가 웃었다", Yes),
            ("민수", "김민수가 웃었다", Doubtful),
            ("田中", "田中さんは医者です", Yes),
            ("田中", "田中先生に会った", Yes),
            ("田中", "田中角栄は政治家です", Doubtful),
            ("さくら", "さくらは花が好き", Yes),
            ("さくら", "さくらんぼを食べた", Doubtful),
            ("アン", "アンが来た", Yes),
            ("アン", "アンケートを書いた", Doubtful),
            ("アン", "アン・ハサウェイの映画", Yes),
            ("สมชาย", "สมชายชอบชา", Yes),
            ("สมชาย", "เจอกับสมชาย เมื่อวาน", Yes),
            ("แอน", "แอนนาอยู่บ้าน", Doubtful),
        ] {
            assert_eq!(Phrase::of(phrase).is_in(text, &[], &[]), expected, "{phrase} in {text}");
        }
        let known = ["김민수정".to_owned(), "张伟来".to_owned()];
        assert_eq!(Phrase::of("张伟").is_in("张伟来了", &[], &known), Doubtful);
        assert_eq!(Phrase::of("张伟").is_in("张伟去了", &[], &known), Yes);
        // A title makes nobody another one.
        assert_eq!(Phrase::of("张伟").is_in("张伟老师来了", &["张伟老师"], &["张伟老师".into()]), Yes);
    }
}
