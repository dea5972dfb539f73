//! Function words that a question is not about.
//!
//! Only questions use these lists, so a change does not touch stored indexes.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English function and question words, unstemmed, apostrophes left out.
const ENGLISH: &str = "a an the this that these those some any each every either neither both such \
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself \
    it its itself we us our ours ourselves they them their theirs themselves one \
    am is are was were be been being do does did doing done have has had having \
    will would shall should can could may might must ought cannot \
    dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont wouldnt shouldnt cant couldnt \
    mustnt im ive id youre youve theyre theyve weve hes shes thats whats wheres whos lets theres \
    and or but nor so if then than because as while until though although \
    of at by for with about against between into through during to from in on onto upon off over \
    under up down out within without \
    what when where who whom whose which why how whether \
    not no there here too very just also only again ever now still yet \
    ie eg etc s t d ll m re ve";

/// Function words of several characters, Chinese (both scripts), Japanese and Korean.
/// A pair of characters that shares one of theirs means nothing.
const LONG: &str = "什么 什麼 甚麼 怎么 怎麼 怎样 怎樣 怎么样 怎麼樣 如何 为什么 為什麼 为何 為何 多少 几个 幾個 \
    哪里 哪裡 哪儿 哪兒 哪个 哪個 哪些 哪位 什么时候 什麼時候 何时 何時 是否 有没有 有沒有 是不是 \
    能不能 可不可以 会不会 會不會 我们 我們 你们 你們 他们 他們 她们 她們 它们 它們 咱们 咱們 自己 \
    这个 這個 那个 那個 这些 這些 那些 这里 這裡 那里 那裡 这样 這樣 那样 那樣 一个 一個 一些 \
    因为 因為 所以 但是 如果 以及 并且 並且 或者 还是 還是 关于 關於 \
    です でした ます ました ません ですか ますか でしょう いつ どこ どれ どの どんな どうして なぜ \
    だれ なに 何ですか という について これ それ あれ この その あの している していた する した \
    무엇 무엇을 언제 어디 어디서 어디에 누구 누가 어떻게 어떤 어느 얼마나 무슨 그리고 그런데 나는 너는 우리는 \
    입니까 입니다 합니까 합니다 인가요 있나요 했나요";

/// Function words of one character. They also occur inside words (目的, 和平), so pairs
/// with them keep some weight.
const SHORT: &str = "的了吗嗎呢吧啊呀嘛哦么麼是在和与與或及而也都就还還又很被把我你您他她它们們这這那哪谁誰啥之其妳\
    はがをにへのともでやかねよ何";

/// Korean particles that end a word.
const KOREAN_PARTICLES: &str = "은는이가을를의에도로와과";

/// The longest entry of [`LONG`] in characters.
const LONGEST: usize = 4;

static ENGLISH_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| ENGLISH.split_whitespace().collect());
static LONG_SET: LazyLock<HashSet<Vec<char>>> =
    LazyLock::new(|| LONG.split_whitespace().map(|word| word.chars().collect()).collect());
static SHORT_SET: LazyLock<HashSet<char>> = LazyLock::new(|| SHORT.chars().collect());

/// True for an English function word (lower case, not stemmed).
pub(super) fn is_english(word: &str) -> bool {
    ENGLISH_SET.contains(word)
}

/// True for a function word of one character.
pub(super) fn is_short(c: char) -> bool {
    SHORT_SET.contains(&c)
}

/// True for a Korean particle, where it ends a word.
pub(super) fn is_korean_particle(c: char) -> bool {
    KOREAN_PARTICLES.contains(c)
}

/// Length in characters of the longest function word `text` starts with.
pub(super) fn long_prefix(text: &[char]) -> Option<usize> {
    (2..=LONGEST.min(text.len())).rev().find(|length| LONG_SET.contains(&text[..*length]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_long_word_is_longer_than_the_search_for_it() {
        assert_eq!(LONG.split_whitespace().map(|word| word.chars().count()).max(), Some(LONGEST));
    }
}
