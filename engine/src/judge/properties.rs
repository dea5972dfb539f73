//! What must hold for any text.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::{Relation, analyze, normalized_hash, relation};

fn judged(old: &str, new: &str) -> Relation {
    relation(&analyze(old), &analyze(new))
}

/// Words that meet every rule, in any order.
const WORDS: &[&str] = &[
    "not", "never", "don't", "no", "is", "was", "now", "changed", "moved", "from", "to", "like", "hate",
    "the", "I", "user", "stop", "using", "if", "only", "5", "A1603", "May", "Anna", "colour", "red", ":",
    "=", ",", ".", "?", "must", "can", "不", "没有", "别", "忘了", "是", "改成", "的", "我", "喜欢", "可以",
    "吗", "颜色", "红色", "在", "工作", "把", "。", "《", "》", "需要", "不用", "预约", "看", "见", "讨厌",
    "爱", "吃", "记得", "现在", "更正", "三楼", "改到", "use", "avoid", "prefer", "fan", "a", "of", "out",
    "needed", "optional", "have", "Update", "dentist", "on", "Friday",
];

fn sentence() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn no_string_panics_and_each_equals_itself(text in any::<String>(), other in "\\PC*") {
        prop_assert_eq!(judged(&text, &text), Relation::Identical);
        let _ = judged(&text, &other);
    }

    #[test]
    fn relations_without_direction_hold_both_ways(old in sentence(), new in sentence()) {
        let (forth, back) = (judged(&old, &new), judged(&new, &old));
        match (forth, back) {
            (Relation::ValueChanged { .. }, Relation::ValueChanged { .. }) => {}
            _ => prop_assert_eq!(forth, back, "{} / {}", old, new),
        }
    }

    #[test]
    fn a_sentence_is_never_opposed_to_itself_with_padding(text in sentence()) {
        let padded = format!("please {text}");
        let found = judged(&text, &padded);
        prop_assert!(!matches!(found, Relation::Opposite | Relation::ValueChanged { .. }), "{:?} {}", found, text);
    }

    #[test]
    fn composition_and_width_do_not_count(text in "\\PC{0,40}", ascii in "[a-z0-9 +*-]{0,20}") {
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(normalized_hash(&composed), normalized_hash(&decomposed));
        let wide: String = ascii.chars().map(|c| match c {
            '!'..='~' => char::from_u32(c as u32 + 0xfee0).unwrap_or(c),
            other => other,
        }).collect();
        prop_assert_eq!(normalized_hash(&ascii), normalized_hash(&wide));
    }

    #[test]
    fn another_number_is_never_the_same(text in sentence(), place in 0_usize..12, left in 0_u32..5000, right in 0_u32..5000) {
        prop_assume!(left != right);
        let with = |number: u32| {
            let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            words.insert(place.min(words.len()), number.to_string());
            words.join(" ")
        };
        let found = judged(&with(left), &with(right));
        prop_assert!(!matches!(found, Relation::Same | Relation::Identical | Relation::Opposite), "{:?}", found);
        let inserted = judged(&text, &with(left));
        prop_assert!(!matches!(inserted, Relation::Same | Relation::Identical), "{:?} {}", inserted, with(left));
    }

    #[test]
    fn a_negation_more_is_never_the_same(words in prop::collection::vec("[a-z]{3,7}", 2..6), at in 0_usize..6) {
        let text = words.join(" ");
        let mut negated = words;
        let at = at.min(negated.len());
        negated.insert(at, "not".to_owned());
        prop_assert!(!matches!(judged(&text, &negated.join(" ")), Relation::Same | Relation::Identical));
    }
}
