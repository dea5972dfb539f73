//! Tensors of a safetensors file: the length of a JSON header, the header, the numbers.
//!
//! Tensors are read one by one, so that a file is never in memory twice; whatever the file
//! says, nothing is taken that it does not hold.

#![allow(clippy::disallowed_methods, reason = "a model's folder is no part of a store")]

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use serde::Deserialize;
use xxhash_rust::xxh3::Xxh3;

use super::invalid;
use crate::{Error, Result};

/// Longest header; real ones have some 100 bytes per tensor.
const HEADER_MAX: u64 = 16 << 20;
/// Bytes read at once; a multiple of the size of every number.
const CHUNK: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    F32,
    F16,
    Bf16,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// An open file of tensors.
pub(super) struct Weights {
    path: PathBuf,
    file: File,
    /// Where the numbers begin, and how many bytes of them there are.
    start: u64,
    length: u64,
    entries: HashMap<String, Entry>,
    /// What stands before every name.
    prefix: &'static str,
}

/// Prefixes under which models are saved, with a task's head or without.
const PREFIXES: [&str; 4] = ["", "bert.", "roberta.", "xlm-roberta."];

impl Weights {
    /// Reads the header.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut length = [0; 8];
        if size < 8 {
            return Err(invalid(path, "shorter than the length of its header"));
        }
        file.read_exact_at(&mut length, 0).map_err(failed)?;
        let header = u64::from_le_bytes(length);
        if header > HEADER_MAX || header > size - 8 {
            return Err(invalid(path, format!("the header's length is {header}, which cannot be")));
        }
        let mut json = vec![0; header as usize];
        file.read_exact_at(&mut json, 8).map_err(failed)?;
        let mut found: HashMap<String, serde_json::Value> =
            serde_json::from_slice(&json).map_err(|error| invalid(path, format!("the header: {error}")))?;
        found.remove("__metadata__");
        let mut entries = HashMap::with_capacity(found.len());
        for (name, value) in found {
            let entry =
                serde_json::from_value(value).map_err(|error| invalid(path, format!("{name}: {error}")))?;
            entries.insert(name, entry);
        }
        let has = |prefix: &&str| entries.contains_key(&format!("{prefix}embeddings.word_embeddings.weight"));
        let Some(prefix) = PREFIXES.into_iter().find(has) else {
            return Err(invalid(path, "embeddings.word_embeddings.weight: is missing"));
        };
        let start = 8 + header;
        Ok(Self { path: path.to_owned(), file, start, length: size - start, entries, prefix })
    }

    /// A tensor of two dimensions; its bytes go into the hash.
    pub(super) fn matrix(&self, name: &str, shape: [usize; 2], hash: &mut Xxh3) -> Result<Array2<f32>> {
        let numbers = self.numbers(name, &shape, hash)?;
        Array2::from_shape_vec(shape, numbers)
            .map_err(|error| invalid(&self.path, format!("{name}: {error}")))
    }

    /// A tensor of one dimension; its bytes go into the hash.
    pub(super) fn vector(&self, name: &str, length: usize, hash: &mut Xxh3) -> Result<Array1<f32>> {
        // Files of the first years have other names.
        let old = name.strip_suffix("LayerNorm.weight").map(|place| format!("{place}LayerNorm.gamma"));
        let old =
            old.or_else(|| name.strip_suffix("LayerNorm.bias").map(|place| format!("{place}LayerNorm.beta")));
        let name = match old {
            Some(old) if !self.has(name) && self.has(&old) => old,
            _ => name.to_owned(),
        };
        self.numbers(&name, &[length], hash).map(Array1::from_vec)
    }

    fn has(&self, name: &str) -> bool {
        self.entries.contains_key(&format!("{}{name}", self.prefix))
    }

    fn numbers(&self, name: &str, shape: &[usize], hash: &mut Xxh3) -> Result<Vec<f32>> {
        let name = format!("{}{name}", self.prefix);
        let bad = |detail: String| invalid(&self.path, format!("{name}: {detail}"));
        let entry = self.entries.get(&name).ok_or_else(|| bad("is missing".into()))?;
        if entry.shape != shape {
            return Err(bad(format!("has shape {:?}, config.json says {shape:?}", entry.shape)));
        }
        let kind = match entry.dtype.as_str() {
            "F32" => Number::F32,
            "F16" => Number::F16,
            "BF16" => Number::Bf16,
            other => {
                return Err(bad(format!("numbers of type {other} are not known, F32, F16 and BF16 are")));
            }
        };
        let count = shape.iter().try_fold(1usize, |all, size| all.checked_mul(*size));
        let bytes = count.and_then(|count| count.checked_mul(kind.size()));
        let [from, to] = entry.data_offsets;
        match bytes {
            Some(bytes) if from <= to && to <= self.length && to - from == bytes as u64 => {}
            _ => return Err(bad(format!("data_offsets {from} to {to} do not fit shape, type or file"))),
        }
        let mut numbers = Vec::with_capacity(count.unwrap_or_default());
        let mut chunk = vec![0; CHUNK.min((to - from) as usize)];
        let mut at = from;
        while at < to {
            let part = &mut chunk[..CHUNK.min((to - at) as usize)];
            self.file
                .read_exact_at(part, self.start + at)
                .map_err(|source| Error::Io { path: self.path.clone(), source })?;
            hash.update(part);
            match kind {
                Number::F32 => numbers.extend(part.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x))),
                Number::F16 => {
                    numbers.extend(part.as_chunks().0.iter().map(|x| half(u16::from_le_bytes(*x))))
                }
                Number::Bf16 => {
                    let wide = |x: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*x)) << 16);
                    numbers.extend(part.as_chunks().0.iter().map(wide));
                }
            }
            at += part.len() as u64;
        }
        match numbers.iter().position(|x| !x.is_finite()) {
            Some(place) => Err(bad(format!("number {place} is not finite"))),
            None => Ok(numbers),
        }
    }
}

/// A number of half precision.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) =
        (u32::from(bits >> 15), u32::from(bits >> 10 & 31), u32::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction as f32 / 16_777_216.0,
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision_is_read_exactly() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x03ff, 1023.0 * 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x7c00, f32::INFINITY),
        ];
        for (bits, number) in cases {
            assert_eq!(half(bits), number, "{bits:04x}");
        }
        assert!(half(0x7e00).is_nan());
        assert_eq!(half(0x8000).to_bits(), (-0f32).to_bits());
    }
}
