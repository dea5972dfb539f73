//! What the files of a model's folder say, apart from its weights.
//!
//! Everything is checked here, so that the network meets sizes that fit together.

#![allow(clippy::disallowed_methods, reason = "a model's folder is no part of a store")]

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::invalid;
use crate::embed::Prefixes;
use crate::{Error, Result};

/// Most numbers per vector, as everywhere in the engine.
const DIMENSION_MAX: usize = 4096;
/// Tokens when nothing else bounds them.
const TOKENS_MAX: usize = 8192;

/// The network's family, which decides where positions begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bert,
    /// RoBERTa and XLM-RoBERTa: positions begin after the padding token's number.
    Roberta,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Roberta => "roberta",
        }
    }
}

/// What is applied between the two layers of a feed-forward block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    Gelu,
    /// The approximation by the hyperbolic tangent.
    GeluTanh,
    Relu,
}

/// How the vectors of tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    First,
}

/// Sizes and kinds of a network.
#[derive(Clone, Debug)]
pub(super) struct Architecture {
    pub(super) kind: Kind,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    pub(super) activation: Activation,
    pub(super) epsilon: f32,
    pub(super) vocabulary: usize,
    pub(super) positions: usize,
    /// Position of the first token.
    pub(super) first_position: usize,
    pub(super) token_types: usize,
}

/// A model's folder.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) architecture: Architecture,
    pub(super) pooling: Pooling,
    /// Tokens of a text that are read, special ones included.
    pub(super) max_tokens: usize,
    pub(super) prefixes: Prefixes,
}

#[derive(Deserialize)]
struct ConfigFile {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f64,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "token_types")]
    type_vocab_size: usize,
    #[serde(default)]
    pad_token_id: Option<usize>,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
    #[serde(default, rename = "_name_or_path")]
    name: String,
}

fn epsilon() -> f64 {
    1e-12
}

fn token_types() -> usize {
    2
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct PoolingFile {
    word_embedding_dimension: usize,
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_sqrt_len_tokens: bool,
    #[serde(default)]
    pooling_mode_weightedmean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
}

#[derive(Deserialize)]
struct SentenceFile {
    #[serde(default)]
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: std::collections::HashMap<String, String>,
}

/// Reads a file of the folder.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = read(path)?;
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| match error.path().to_string().as_str() {
        "." => invalid(path, error.inner()),
        field => invalid(path, format!("{field}: {}", error.inner())),
    })
}

/// A file that need not be there.
fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match json(path) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

impl Folder {
    /// Reads and checks all but the weights and the tokenizer.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("config.json");
        let config: ConfigFile = json(&path)?;
        let architecture = config.architecture(&path)?;
        check_modules(&folder.join("modules.json"))?;
        let pooling = pooling(&folder.join("1_Pooling/config.json"), architecture.hidden)?;
        let sentence: Option<SentenceFile> = optional(&folder.join("sentence_bert_config.json"))?;
        let room = architecture.positions - architecture.first_position;
        let most = sentence.and_then(|file| file.max_seq_length).unwrap_or(TOKENS_MAX);
        let prompts: Option<PromptsFile> = optional(&folder.join("config_sentence_transformers.json"))?;
        let prefixes = prompts.and_then(PromptsFile::prefixes).unwrap_or_else(|| {
            let folder_name = folder.canonicalize().ok();
            let folder_name = folder_name.as_deref().unwrap_or(folder).file_name();
            let folder_name = folder_name.and_then(|name| name.to_str()).unwrap_or_default();
            Prefixes::of_model(&config.name).or_else(|| Prefixes::of_model(folder_name)).unwrap_or_default()
        });
        Ok(Self { path: folder.to_owned(), architecture, pooling, max_tokens: most.min(room), prefixes })
    }
}

impl PromptsFile {
    fn prefixes(mut self) -> Option<Prefixes> {
        let mut take = |names: [&str; 2]| names.iter().find_map(|name| self.prompts.remove(*name));
        let (query, passage) = (take(["query", "search_query"]), take(["passage", "document"]));
        // Both empty is what sentence-transformers writes when nobody has set any.
        let prefixes = Prefixes { query: query.unwrap_or_default(), passage: passage.unwrap_or_default() };
        (prefixes != Prefixes::default()).then_some(prefixes)
    }
}

impl ConfigFile {
    fn architecture(&self, path: &Path) -> Result<Architecture> {
        let bad = |field: &str, detail: String| Err(invalid(path, format!("{field}: {detail}")));
        let kind = match self.model_type.as_str() {
            "bert" => Kind::Bert,
            "roberta" | "xlm-roberta" => Kind::Roberta,
            other => {
                return bad("model_type", format!("{other:?} is not one of bert, roberta, xlm-roberta"));
            }
        };
        let activation = match self.hidden_act.as_str() {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => {
                return bad("hidden_act", format!("{other:?} is not one of gelu, gelu_new, gelu_fast, relu"));
            }
        };
        for (field, size, most) in [
            ("hidden_size", self.hidden_size, DIMENSION_MAX),
            ("num_hidden_layers", self.num_hidden_layers, 256),
            ("num_attention_heads", self.num_attention_heads, DIMENSION_MAX),
            ("intermediate_size", self.intermediate_size, 1 << 16),
            ("vocab_size", self.vocab_size, 1 << 24),
            ("max_position_embeddings", self.max_position_embeddings, 1 << 20),
            ("type_vocab_size", self.type_vocab_size, 1 << 10),
        ] {
            if !(1..=most).contains(&size) {
                return bad(field, format!("is {size}, 1 to {most} are possible"));
            }
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            let detail =
                format!("{} do not divide hidden_size {}", self.num_attention_heads, self.hidden_size);
            return bad("num_attention_heads", detail);
        }
        if let Some(kind) = self.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
            return bad("position_embedding_type", format!("{kind:?} is not known, absolute is"));
        }
        if self.is_decoder {
            return bad("is_decoder", "an encoder is wanted".into());
        }
        if !(0.0..1.0).contains(&self.layer_norm_eps) {
            return bad("layer_norm_eps", format!("is {}", self.layer_norm_eps));
        }
        let first_position = match kind {
            Kind::Bert => 0,
            Kind::Roberta => self.pad_token_id.unwrap_or(1).saturating_add(1),
        };
        if first_position >= self.max_position_embeddings {
            return bad("pad_token_id", "leaves no position".into());
        }
        Ok(Architecture {
            kind,
            hidden: self.hidden_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            intermediate: self.intermediate_size,
            activation,
            epsilon: self.layer_norm_eps as f32,
            vocabulary: self.vocab_size,
            positions: self.max_position_embeddings,
            first_position,
            token_types: self.type_vocab_size,
        })
    }
}

/// Refuses a model that has more after its network than pooling and normalising.
fn check_modules(path: &Path) -> Result<()> {
    let modules: Vec<Module> = optional(path)?.unwrap_or_default();
    for (number, module) in modules.iter().enumerate() {
        let kind = module.kind.rsplit('.').next().unwrap_or_default();
        if !matches!(kind, "Transformer" | "Pooling" | "Normalize") {
            let detail = format!("[{number}].type: {:?} is not known to this build", module.kind);
            return Err(invalid(path, detail));
        }
    }
    Ok(())
}

fn pooling(path: &Path, hidden: usize) -> Result<Pooling> {
    let Some(file) = optional::<PoolingFile>(path)? else { return Ok(Pooling::Mean) };
    if file.word_embedding_dimension != hidden {
        let detail = format!("is {}, hidden_size is {hidden}", file.word_embedding_dimension);
        return Err(invalid(path, format!("word_embedding_dimension: {detail}")));
    }
    for (field, set) in [
        ("pooling_mode_max_tokens", file.pooling_mode_max_tokens),
        ("pooling_mode_mean_sqrt_len_tokens", file.pooling_mode_mean_sqrt_len_tokens),
        ("pooling_mode_weightedmean_tokens", file.pooling_mode_weightedmean_tokens),
        ("pooling_mode_lasttoken", file.pooling_mode_lasttoken),
    ] {
        if set {
            return Err(invalid(path, format!("{field}: only mean and cls pooling are known to this build")));
        }
    }
    match (file.pooling_mode_mean_tokens, file.pooling_mode_cls_token) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(invalid(path, "pooling_mode_mean_tokens: exactly one of mean and cls pooling must be set")),
    }
}
