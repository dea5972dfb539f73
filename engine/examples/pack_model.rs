//! Packs a static embedding model into the file that the engine reads.
//!
//! ```text
//! cargo run --release --example pack_model -- MODEL_ID model.safetensors tokenizer.json OUTPUT.mcm
//! ```
//!
//! The safetensors file holds `embeddings` (`I8`, pieces × dimension) and `scales` (`F16`,
//! one per piece); the tokenizer is a Unigram model whose unknown piece is the first. The
//! normalisation is not read from it: the engine knows only one (see the model's README).

#[cfg(feature = "static-model")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    packer::run()
}

#[cfg(not(feature = "static-model"))]
fn main() {
    eprintln!("pack_model needs the feature static-model");
    std::process::exit(2);
}

#[cfg(feature = "static-model")]
mod packer {
    use std::error::Error;
    use std::ops::Range;
    use std::path::Path;

    use memcards::embed::{Embedder, StaticModel};
    use serde_json::Value;

    pub(crate) fn run() -> Result<(), Box<dyn Error>> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [model_id, tensors, tokenizer, output] = arguments.as_slice() else {
            return Err("usage: pack_model MODEL_ID MODEL.safetensors TOKENIZER.json OUTPUT.mcm".into());
        };
        let pieces = read_pieces(Path::new(tokenizer))?;
        let (scales, rows) = read_tensors(Path::new(tensors))?;
        let packed = StaticModel::pack(model_id, &pieces, &scales, &rows)?;
        std::fs::write(output, &packed)?;

        let size = packed.len();
        let model = StaticModel::from_bytes(packed)?;
        println!(
            "{output}: {}, {} dimensions, {} pieces, {size} bytes",
            model.model_id(),
            model.dimension(),
            pieces.len()
        );
        Ok(())
    }

    /// The pieces with their log probabilities, in the order of their numbers.
    fn read_pieces(path: &Path) -> Result<Vec<(String, f64)>, Box<dyn Error>> {
        let tokenizer: Value = serde_json::from_slice(&std::fs::read(path)?)?;
        let model = &tokenizer["model"];
        if model["type"] != "Unigram" || model["unk_id"] != 0 || model["byte_fallback"] == true {
            return Err(
                "the tokenizer is not a Unigram model with unknown piece 0 and no byte fallback".into()
            );
        }
        Ok(serde_json::from_value(model["vocab"].clone())?)
    }

    /// The scales and the rows. The file is an 8-byte length, a JSON header of that length
    /// and the tensors, whose offsets count from the end of the header.
    fn read_tensors(path: &Path) -> Result<(Vec<f32>, Vec<i8>), Box<dyn Error>> {
        let bytes = std::fs::read(path)?;
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or("the file is too short")?;
        let (header, data) = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or("the header is incomplete")?;
        let header: Value = serde_json::from_slice(header)?;
        let tensor = |name: &str, kind: &str| -> Result<&[u8], Box<dyn Error>> {
            let entry = &header[name];
            if entry["dtype"] != kind {
                return Err(format!("tensor {name} is not of type {kind}").into());
            }
            let (start, end): (usize, usize) = serde_json::from_value(entry["data_offsets"].clone())?;
            Ok(data.get(Range { start, end }).ok_or_else(|| format!("tensor {name} is incomplete"))?)
        };
        let (halves, _) = tensor("scales", "F16")?.as_chunks::<2>();
        let scales = halves.iter().map(|half| half_to_single(u16::from_le_bytes(*half))).collect();
        let rows = tensor("embeddings", "I8")?.iter().map(|byte| *byte as i8).collect();
        Ok((scales, rows))
    }

    /// The value of an IEEE 754 half-precision number, exactly.
    fn half_to_single(bits: u16) -> f32 {
        let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
        let exponent = i32::from((bits >> 10) & 0x1f);
        let fraction = f32::from(bits & 0x3ff);
        sign * match exponent {
            0 => fraction * 2.0_f32.powi(-24),
            31 if fraction == 0.0 => f32::INFINITY,
            31 => f32::NAN,
            _ => (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
        }
    }
}
