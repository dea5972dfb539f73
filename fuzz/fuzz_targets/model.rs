//! Bytes that are no model are refused; with a model any text has a unit vector or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memcards::embed::{Embedder, StaticModel};

fuzz_target!(|input: (Vec<u8>, String)| {
    let (bytes, text) = input;
    let check = |model: &StaticModel| {
        if let Some(vector) = model.embed(&text).expect("a static model always answers") {
            assert_eq!(vector.len(), model.dimension());
            let norm: f32 = vector.iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-3, "{norm}");
        }
        let _ = model.token_ids(&text);
    };
    if let Ok(model) = StaticModel::from_bytes(bytes) {
        check(&model);
    }
    check(StaticModel::builtin());
});
