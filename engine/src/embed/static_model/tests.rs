use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// What the reference tokenizer and plain arithmetic made of a text.
#[derive(Deserialize)]
struct Reference {
    text: String,
    ids: Vec<u32>,
    /// Components 0, 1, 2, 128 and 255 of the unit vector.
    components: Option<[f32; 5]>,
}

fn embed(text: &str) -> Option<Vec<f32>> {
    StaticModel::builtin().embed(text).expect("the model is always there")
}

fn similarity(left: &str, right: &str) -> f32 {
    let [left, right] = [left, right].map(|text| embed(text).expect("known words"));
    left.iter().zip(&right).map(|(left, right)| left * right).sum()
}

fn small_pieces() -> Vec<(String, f64)> {
    [("<unk>", 0.0), ("▁", -9.0), ("▁ab", -2.0), ("a", -3.0), ("b", -3.5), ("abc", -4.0), ("学", -3.0)]
        .map(|(piece, score)| (piece.to_owned(), score))
        .to_vec()
}

fn small_model() -> Vec<u8> {
    let rows: Vec<i8> = (0..7 * 4).map(|value: i8| value * 3 % 61 - 30).collect();
    StaticModel::pack("small/1", &small_pieces(), &[0.5; 7], &rows).expect("the arguments fit")
}

/// Makes the checksum fit again, so that the checks behind it are reached.
fn reseal(bytes: &mut [u8]) {
    if let Some((content, checksum)) = bytes.split_last_chunk_mut::<CHECKSUM_BYTES>() {
        *checksum = xxh3_64(content).to_le_bytes();
    }
}

/// A refused model must be refused as corrupt; an accepted one must work.
fn load_and_use(bytes: Vec<u8>) -> bool {
    match StaticModel::from_bytes(bytes) {
        Ok(model) => {
            for text in ["ab abc cab 学a b学", "zzz", ""] {
                if let Some(vector) = model.embed(text).expect("the model is there") {
                    assert_eq!(vector.len(), model.dimension());
                    assert!(vector.iter().all(|value| value.is_finite()));
                }
            }
            true
        }
        Err(Error::Corrupt { .. }) => false,
        Err(error) => panic!("another error: {error}"),
    }
}

#[test]
fn the_builtin_model_is_whole() {
    let model = StaticModel::from_bytes(BUILTIN).expect("checksum and content fit");
    assert_eq!(model.model_id(), "static-zh-en-256/1");
    assert_eq!(model.dimension(), 256);
    assert_eq!(StaticModel::builtin().model_id(), model.model_id());
}

#[test]
fn texts_give_what_the_reference_gives() {
    let references: Vec<Reference> =
        serde_json::from_str(include_str!("reference.json")).expect("valid JSON");
    assert!(references.len() >= 60);
    for Reference { text, ids, components } in references {
        assert_eq!(StaticModel::builtin().token_ids(&text), ids, "{text:?}");
        let vector = embed(&text);
        assert_eq!(vector.is_some(), components.is_some(), "{text:?}");
        if let (Some(vector), Some(components)) = (vector, components) {
            for (index, expected) in [0, 1, 2, 128, 255].into_iter().zip(components) {
                assert!((vector[index] - expected).abs() < 2e-6, "{text:?}: component {index}");
            }
        }
    }
}

#[test]
fn texts_without_known_words_have_no_vector() {
    for text in ["", "   ", "🙂", "?!…", "'", "שלום", "привет мир", "\u{0}"] {
        assert_eq!(embed(text), None, "{text:?}");
    }
    assert!(embed("שלום cat").is_some());
}

#[test]
fn a_batch_is_its_texts_one_by_one() {
    let texts = ["a green bicycle", "", "一辆绿色的自行车", "🙂", "a green bicycle"];
    let batch = StaticModel::builtin().embed_batch(&texts).expect("the model is there");
    let single: Vec<_> = texts.iter().map(|text| embed(text)).collect();
    assert_eq!(batch, single);
}

#[test]
fn meaning_crosses_the_languages() {
    let answer = "Her cat is called Pepper and sleeps on the sofa";
    let unrelated = "The stock market fell sharply after the bank raised interest rates";
    let question = "她的猫叫什么名字？";
    assert!(similarity(question, answer) > similarity(question, unrelated) + 0.1);

    let answer = "我下个月要去日本旅行";
    let unrelated = "这台电脑的内存不够用了";
    let question = "When is the trip to Japan?";
    assert!(similarity(question, answer) > similarity(question, unrelated) + 0.1);

    assert!(
        similarity("I bought a new car", "she purchased a vehicle")
            > similarity("I bought a new car", "the soup is salty")
    );
}

#[test]
fn long_texts_take_linear_time() {
    for unit in ["a", "学", "学a", "\u{301}", "é", "the "] {
        let text = unit.repeat(64 * 1024 / unit.len());
        let start = Instant::now();
        embed(&text);
        // Quadratic work would be billions of steps; this is far from both.
        assert!(start.elapsed() < Duration::from_secs(2), "{unit:?}: {:?}", start.elapsed());
    }
}

#[test]
fn the_most_probable_segmentation_wins() {
    let model = StaticModel::from_bytes(small_model()).expect("it was just made");
    assert_eq!(model.model_id(), "small/1");
    assert_eq!(model.token_ids("ab"), [2]);
    // ▁ab + unknown c (-31.0 in all) loses to ▁ + abc (-13.0).
    assert_eq!(model.token_ids("abc"), [1, 5]);
    assert_eq!(model.token_ids("xyz ab"), [1, 0, 2]);
    assert_eq!(model.token_ids("b学"), [1, 4, 1, 6]);
}

#[test]
fn a_model_that_cannot_be_is_not_packed() {
    let pieces = small_pieces();
    let field = |id: &str, pieces: &[(String, f64)], scales: &[f32], rows: &[i8]| {
        let error = StaticModel::pack(id, pieces, scales, rows).expect_err("it does not fit");
        assert_eq!(error.code(), "invalid_argument");
        error.field().map(str::to_owned)
    };
    assert_eq!(field("", &pieces, &[1.0; 7], &[1; 7]).as_deref(), Some("model_id"));
    assert_eq!(field("m", &[], &[], &[]).as_deref(), Some("pieces"));
    assert_eq!(field("m", &pieces, &[1.0; 7], &[1; 8]).as_deref(), Some("rows"));
    assert_eq!(field("m", &pieces, &[f32::NAN; 7], &[1; 7]).as_deref(), Some("scales"));
    assert_eq!(field("m", &pieces, &[1.0; 6], &[1; 7]).as_deref(), Some("scales"));
    for bad in [("", -1.0), ("a\0", -1.0), ("a", f64::NAN), ("b", -1.0)] {
        let mut pieces = pieces.clone();
        pieces[3] = (bad.0.to_owned(), bad.1);
        assert_eq!(field("m", &pieces, &[1.0; 7], &[1; 7]).as_deref(), Some("pieces"), "{bad:?}");
    }
}

#[test]
fn damage_is_found() {
    let whole = small_model();
    assert!(load_and_use(whole.clone()));
    for length in 0..whole.len() {
        assert!(!load_and_use(whole[..length].to_vec()), "cut to {length} bytes");
    }
    for position in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x10;
        assert!(!load_and_use(damaged), "changed at {position}");
    }
    let mut longer = whole;
    longer.push(0);
    assert!(!load_and_use(longer));
    assert!(!load_and_use(BUILTIN[..BUILTIN.len() - 1].to_vec()));
}

#[test]
fn a_sealed_model_must_still_be_consistent() {
    let whole = small_model();
    let model = StaticModel::from_bytes(whole.clone()).expect("it was just made");
    let Layout { scores, scales, units, lengths, strings, .. } = &model.layout;
    let changes: [(usize, &[u8]); 7] = [
        (8, &[2]),
        (12, &[0, 0, 0, 0]),
        (scores.start + 8, &f64::NAN.to_le_bytes()),
        (scales.start, &f32::INFINITY.to_le_bytes()),
        (units.start, &[0, 0, 0, 0]),
        (lengths.start + 1, &[0]),
        (strings.start + 5, &[0xff]),
    ];
    for (position, change) in changes {
        let mut damaged = whole.clone();
        damaged[position..position + change.len()].copy_from_slice(change);
        reseal(&mut damaged);
        assert!(!load_and_use(damaged), "changed at {position}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_work(mut bytes in prop::collection::vec(any::<u8>(), 0..400), begin in any::<bool>()) {
        if begin && bytes.len() >= 12 {
            bytes[..8].copy_from_slice(MAGIC);
            bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        }
        reseal(&mut bytes);
        load_and_use(bytes);
    }

    #[test]
    fn a_sealed_change_is_refused_or_works(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = small_model();
        for (position, value) in changes {
            let position = position.index(bytes.len());
            bytes[position] = value;
        }
        reseal(&mut bytes);
        load_and_use(bytes);
    }

    #[test]
    fn vectors_have_unit_length_and_stay_the_same(text in "\\PC{0,60}|[a-z 学习喜欢0-9A-Z']{0,60}") {
        let first = embed(&text);
        if let Some(vector) = &first {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            prop_assert!((length - 1.0).abs() < 1e-5);
        }
        prop_assert_eq!(first, embed(&text));
    }
}
