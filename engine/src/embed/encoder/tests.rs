//! The encoder against vectors that were computed by other code (`tests/encoder/make_reference.py`),
//! and against folders in which something is wrong.

#![allow(clippy::disallowed_methods, reason = "fixtures and damaged copies of them")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoder").join(name)
}

fn expected(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixture("expected.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()[name].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Option<Vec<f32>> {
    Some(value.as_array()?.iter().map(|x| x.as_f64().unwrap() as f32).collect())
}

fn assert_near(found: Option<Vec<f32>>, expected: Option<Vec<f32>>, text: &str) {
    match (found, expected) {
        (None, None) => {}
        (Some(found), Some(expected)) => {
            assert_eq!(found.len(), expected.len());
            let far = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
            assert!(far < 1e-5, "{text:?} is {far} away:\n{found:?}\n{expected:?}");
        }
        (found, expected) => panic!("{text:?}: {found:?}, expected {expected:?}"),
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    for name in ["bert", "e5"] {
        let model = Encoder::open(fixture(name)).unwrap();
        let cases = expected(name);
        for case in &cases {
            let text = case["text"].as_str().unwrap();
            let tokens = model.tokens(&model.prefixes.query, text).unwrap();
            let wanted: Option<Vec<u32>> = serde_json::from_value(case["tokens"].clone()).unwrap();
            assert_eq!(tokens, wanted, "{text:?}");
            assert_near(model.embed(text).unwrap(), numbers(&case["passage"]), text);
            assert_near(model.embed_query(text).unwrap(), numbers(&case["query"]), text);
        }
        let texts: Vec<&str> = cases.iter().map(|case| case["text"].as_str().unwrap()).collect();
        for (vector, case) in model.embed_batch(&texts).unwrap().into_iter().zip(&cases) {
            assert_near(vector, numbers(&case["passage"]), case["text"].as_str().unwrap());
        }
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_among_others() {
    let model = Encoder::open(fixture("bert")).unwrap();
    let words = ["the", "key", "is", "under", "blue", "pot", "tea", "🙂"];
    let texts: Vec<String> = (0..200usize)
        .map(|n| (0..n % 31).map(|m| words[(n * 7 + m * m) % words.len()]).collect::<Vec<_>>().join(" "))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed_batch(&texts).unwrap();
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(model.embed(text).unwrap(), vector, "{text:?}");
    }
    assert!(model.embed_batch(&[]).unwrap().is_empty());
}

#[test]
fn prefixes_and_limits_are_a_part_of_the_model() {
    let id = |name: &str, options: EncoderOptions| {
        Encoder::open_with(fixture(name), options).unwrap().model_id().to_owned()
    };
    let plain = id("bert", EncoderOptions::default());
    assert!(plain.starts_with("bert-2x32-"), "{plain}");
    assert_eq!(plain, id("bert", EncoderOptions { max_tokens: Some(100), ..EncoderOptions::default() }));
    assert_ne!(plain, id("bert", EncoderOptions { max_tokens: Some(12), ..EncoderOptions::default() }));
    let e5 = EncoderOptions { prefixes: Some(Prefixes::e5()), ..EncoderOptions::default() };
    assert_ne!(plain, id("bert", e5.clone()));
    assert_eq!(id("e5", EncoderOptions::default()), id("e5", e5));
    assert_ne!(
        id("e5", EncoderOptions::default()),
        id("e5", EncoderOptions { prefixes: Some(Prefixes::default()), ..EncoderOptions::default() })
    );
    let none = EncoderOptions { max_tokens: Some(2), ..EncoderOptions::default() };
    assert_eq!(Encoder::open_with(fixture("bert"), none).unwrap_err().field(), Some("max_tokens"));
}

/// A copy of the fixture in which one file was changed.
fn changed(file: &str, change: impl Fn(&mut Vec<u8>)) -> (tempfile::TempDir, Result<Encoder>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    for name in [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ] {
        let mut bytes = std::fs::read(fixture("bert").join(name)).unwrap();
        if name == file {
            change(&mut bytes);
            if bytes.is_empty() {
                continue;
            }
        }
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let opened = Encoder::open(folder.path());
    (folder, opened)
}

fn refused(file: &str, change: impl Fn(&mut Value)) -> String {
    let (_folder, opened) = changed(file, |bytes| {
        let mut value = serde_json::from_slice(bytes).unwrap();
        change(&mut value);
        *bytes = serde_json::to_vec(&value).unwrap();
    });
    let error = opened.unwrap_err();
    assert_eq!(error.code(), "invalid_argument", "{error}");
    let error = error.to_string();
    assert!(error.contains(file), "{file} is not in: {error}");
    error
}

#[test]
fn what_does_not_fit_is_named_by_file_and_field() {
    for (field, value) in [
        ("model_type", json!("gpt2")),
        ("model_type", json!(7)),
        ("hidden_size", json!(0)),
        ("hidden_size", json!(1u64 << 40)),
        ("hidden_size", json!("32")),
        ("num_attention_heads", json!(5)),
        ("hidden_act", json!("swish")),
        ("position_embedding_type", json!("relative_key")),
        ("layer_norm_eps", json!(-1.0)),
        ("is_decoder", json!(true)),
    ] {
        let error = refused("config.json", |config| config[field] = value.clone());
        assert!(error.contains(field), "{field} is not in: {error}");
    }
    let missing = refused("config.json", |config| drop(config.as_object_mut().unwrap().remove("vocab_size")));
    assert!(missing.contains("vocab_size"), "{missing}");
    let error =
        refused("modules.json", |modules| modules[2]["type"] = json!("sentence_transformers.models.Dense"));
    assert!(error.contains("[2].type") && error.contains("Dense"), "{error}");
    let error = refused("1_Pooling/config.json", |pooling| pooling["pooling_mode_max_tokens"] = json!(true));
    assert!(error.contains("pooling_mode_max_tokens"), "{error}");
    let error = refused("1_Pooling/config.json", |pooling| pooling["word_embedding_dimension"] = json!(31));
    assert!(error.contains("word_embedding_dimension"), "{error}");
    let error = refused("tokenizer.json", |tokenizer| tokenizer["model"]["vocab"]["more"] = json!(99));
    assert!(error.contains("rows"), "{error}");

    // Sizes that are possible but not those of the weights: the tensor is named.
    for (field, value, tensor) in [
        ("intermediate_size", 65, "encoder.layer.0.intermediate.dense.weight"),
        ("num_hidden_layers", 3, "encoder.layer.2.attention.self.query.weight"),
        ("max_position_embeddings", 41, "embeddings.position_embeddings.weight"),
    ] {
        let (_folder, opened) = changed("config.json", |bytes| {
            let mut config: Value = serde_json::from_slice(bytes).unwrap();
            config[field] = value.into();
            *bytes = serde_json::to_vec(&config).unwrap();
        });
        let error = opened.unwrap_err().to_string();
        assert!(error.contains("model.safetensors") && error.contains(tensor), "{error}");
    }
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        let (_folder, opened) = changed(file, Vec::clear);
        match opened.unwrap_err() {
            Error::Io { path, .. } => assert!(path.ends_with(file)),
            other => panic!("{file}: {other}"),
        }
    }
}

#[test]
fn damaged_weights_never_bring_it_down() {
    let length = std::fs::metadata(fixture("bert").join("model.safetensors")).unwrap().len() as usize;
    let mut state = 7usize;
    for round in 0..120 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The header more often than the numbers.
        let at = (state >> 16) % if round % 3 == 0 { length } else { 3000 };
        let (_folder, opened) = changed("model.safetensors", |bytes| match round % 4 {
            0 => bytes.truncate(at.max(1)),
            _ => bytes[at] ^= 1 << (state % 8),
        });
        if let Ok(model) = opened {
            let vector = model.embed("the key").unwrap();
            assert!(vector.is_none_or(|vector| vector.iter().all(|x| x.is_finite())));
        }
    }
}
