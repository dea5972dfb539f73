//! A sentence encoder: a BERT-class network read from a local folder, run in this process.
//!
//! The folder has the layout of sentence-transformers: `config.json`, `model.safetensors`
//! and `tokenizer.json`; where they are there, `modules.json`, `1_Pooling/config.json`,
//! `sentence_bert_config.json` and `config_sentence_transformers.json` say how tokens become
//! a vector (`folder`). Weights come from the safetensors file (`weights`), the network is in
//! `network`, its arithmetic in `arithmetic`. Nothing is fetched from anywhere.
//!
//! # Determinism
//!
//! The same text gives the same vector on the same kind of machine, alone or among others.
//! Machines whose processors have other vector instructions may round differently in the
//! last bits.

mod arithmetic;
mod folder;
mod network;
#[cfg(test)]
mod tests;
mod weights;

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};
use xxhash_rust::xxh3::Xxh3;

use self::folder::{Folder, Pooling};
use self::network::Network;
use self::weights::Weights;
use super::{Embedder, Prefixes};
use crate::{Error, Result};

/// Tokens that go through the network together, about.
const TOKENS_PER_PASS: usize = 512;

/// How to use a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncoderOptions {
    /// Prefixes; when absent those that the folder names, those of E5 where the model's name
    /// has a part `e5`, and none otherwise.
    pub prefixes: Option<Prefixes>,
    /// Tokens of a text that are read, when fewer than the model's own limit.
    pub max_tokens: Option<usize>,
}

/// A BERT or XLM-RoBERTa sentence encoder.
///
/// Texts beyond the model's limit are cut; a model has no state and can be shared between
/// threads freely, each of which runs it on its own.
///
/// ```no_run
/// use memcards::embed::{Embedder, Encoder};
///
/// let model = Encoder::open("models/multilingual-e5-small")?;
/// let vector = model.embed_query("where is the key?")?;
/// # Ok::<(), memcards::Error>(())
/// ```
pub struct Encoder {
    id: String,
    tokenizer: Tokenizer,
    network: Network,
    pooling: Pooling,
    prefixes: Prefixes,
    /// The token of what the vocabulary does not cover.
    unknown: Option<u32>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("id", &self.id)
            .field("prefixes", &self.prefixes)
            .finish_non_exhaustive()
    }
}

/// An error about the content of a model's folder.
fn invalid(file: &Path, detail: impl std::fmt::Display) -> Error {
    Error::invalid("encoder", format!("{}: {detail}", file.display()))
}

impl Encoder {
    /// Reads a model with the options that its folder suggests.
    ///
    /// # Errors
    /// See [`Encoder::open_with`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, EncoderOptions::default())
    }

    /// Reads a model.
    ///
    /// # Errors
    /// [`Error::Io`] with the file that cannot be read; [`Error::InvalidArgument`] with file
    /// and field for whatever does not fit, or is of a kind that this build does not know.
    pub fn open_with(folder: impl AsRef<Path>, options: EncoderOptions) -> Result<Self> {
        let folder = Folder::read(folder.as_ref())?;
        let prefixes = options.prefixes.unwrap_or_else(|| folder.prefixes.clone());
        let max_tokens = options.max_tokens.map_or(folder.max_tokens, |most| most.min(folder.max_tokens));

        let path = folder.path.join("tokenizer.json");
        let bytes = folder::read(&path)?;
        let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(|error| invalid(&path, error))?;
        let special = tokenizer.encode("", true).map_err(|error| invalid(&path, error))?.len();
        if max_tokens <= special {
            let detail =
                format!("a limit of {max_tokens} tokens leaves no room beside {special} special ones");
            return Err(Error::invalid("max_tokens", detail));
        }
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|error| invalid(&path, error))?;
        tokenizer.with_padding(None);
        let unknown = ["[UNK]", "<unk>"].iter().find_map(|token| tokenizer.token_to_id(token));

        // Whatever decides about vectors is a part of the model's name.
        let mut hash = Xxh3::new();
        hash.update(&bytes);
        let settings = format!(
            "{:?} {:?} {max_tokens} {:?} {:?}",
            folder.architecture, folder.pooling, prefixes.query, prefixes.passage
        );
        hash.update(settings.as_bytes());
        let weights = Weights::open(&folder.path.join("model.safetensors"))?;
        let network = Network::read(&folder.architecture, &weights, &mut hash)?;
        let vocabulary = tokenizer.get_vocab_size(true);
        if vocabulary > network.vocabulary() {
            let detail = format!(
                "has {vocabulary} tokens, the word embeddings of model.safetensors have {} rows",
                network.vocabulary()
            );
            return Err(invalid(&path, detail));
        }
        let shape = &folder.architecture;
        let id = format!("{}-{}x{}-{:032x}", shape.kind.name(), shape.layers, shape.hidden, hash.digest128());
        Ok(Self { id, tokenizer, network, pooling: folder.pooling, prefixes, unknown })
    }

    /// What is put before texts.
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// The tokens of a text; `None` where none of them means anything.
    fn tokens(&self, prefix: &str, text: &str) -> Result<Option<Vec<u32>>> {
        let failed = |error: tokenizers::Error| Error::Unavailable(format!("the tokenizer: {error}"));
        let encode = |text: &str| self.tokenizer.encode_fast(text, true).map_err(failed);
        let bare = encode(text)?;
        let known = bare
            .get_ids()
            .iter()
            .zip(bare.get_special_tokens_mask())
            .any(|(token, special)| *special == 0 && Some(*token) != self.unknown);
        if !known {
            return Ok(None);
        }
        let encoding = if prefix.is_empty() { bare } else { encode(&format!("{prefix}{text}"))? };
        let tokens = encoding.get_ids().to_vec();
        let beyond = tokens.iter().find(|token| **token as usize >= self.network.vocabulary());
        match beyond {
            Some(token) => Err(Error::Unavailable(format!("the tokenizer gave {token}, which is no token"))),
            None => Ok(Some(tokens)),
        }
    }

    fn embed_all(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        let mut vectors = vec![None; texts.len()];
        let (mut pass, mut waiting, mut tokens) = (Vec::new(), Vec::new(), 0);
        for (number, text) in texts.iter().enumerate() {
            if let Some(found) = self.tokens(prefix, text)? {
                tokens += found.len();
                pass.push(found);
                waiting.push(number);
            }
            if !pass.is_empty() && (tokens >= TOKENS_PER_PASS || number + 1 == texts.len()) {
                for (number, vector) in waiting.drain(..).zip(self.network.run(&pass, self.pooling)) {
                    vectors[number] = vector;
                }
                pass.clear();
                tokens = 0;
            }
        }
        Ok(vectors)
    }
}

impl Embedder for Encoder {
    fn model_id(&self) -> &str {
        &self.id
    }

    fn dimension(&self) -> usize {
        self.network.dimension()
    }

    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.embed_all(&self.prefixes.passage, &[text])?.pop().flatten())
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.embed_all(&self.prefixes.query, &[text])?.pop().flatten())
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        self.embed_all(&self.prefixes.passage, texts)
    }
}
