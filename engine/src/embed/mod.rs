//! Turning text into vectors.
//!
//! The engine asks an [`Embedder`] for vectors and records which model made them. This
//! module knows nothing of cards, tenants or files of the store; in particular it never
//! sees who spoke, when or where: those are fields of a card, not text.

#[cfg(feature = "encoder")]
mod encoder;
#[cfg(feature = "remote-embedder")]
mod remote;
#[cfg(feature = "static-model")]
mod static_model;

#[cfg(feature = "encoder")]
pub use encoder::{Encoder, EncoderOptions};
#[cfg(feature = "remote-embedder")]
pub use remote::{RemoteEmbedder, RemoteOptions};
#[cfg(feature = "static-model")]
pub use static_model::StaticModel;

use std::sync::Arc;

use crate::Result;

/// What stands before a text so that the model knows what it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// Before a question.
    pub query: String,
    /// Before a text that is stored.
    pub passage: String,
}

impl Prefixes {
    /// Those of the E5 family.
    pub fn e5() -> Self {
        Self { query: "query: ".into(), passage: "passage: ".into() }
    }

    /// Those that a model of this name wants, as far as the name tells.
    pub fn of_model(name: &str) -> Option<Self> {
        let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let mut parts = last.split(|c: char| !c.is_ascii_alphanumeric());
        parts.any(|part| part.eq_ignore_ascii_case("e5")).then(Self::e5)
    }
}

/// The built-in model, where it is compiled in.
pub fn builtin() -> Option<Arc<dyn Embedder>> {
    #[cfg(feature = "static-model")]
    {
        Some(Arc::new(StaticModel::builtin()))
    }
    #[cfg(not(feature = "static-model"))]
    {
        None
    }
}

impl<T: Embedder + ?Sized> Embedder for &T {
    fn model_id(&self) -> &str {
        (**self).model_id()
    }

    fn dimension(&self) -> usize {
        (**self).dimension()
    }

    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>> {
        (**self).embed(text)
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>> {
        (**self).embed_query(text)
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        (**self).embed_batch(texts)
    }
}

/// A deterministic text encoder: the same text always gives the same vector.
pub trait Embedder: Send + Sync {
    /// Stable name of the model, version included. It is recorded in the store, and a
    /// store refuses to open with another one.
    fn model_id(&self) -> &str;

    /// Length of every vector this model makes, 1 to 4,096.
    fn dimension(&self) -> usize;

    /// The unit-length (L2) vector of a text, or `None` where no token of it is known.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable) when the model cannot be reached.
    fn embed(&self, text: &str) -> Result<Option<Vec<f32>>>;

    /// The vector of a question, for models that embed questions and what answers them
    /// differently.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>> {
        self.embed(text)
    }

    /// The vectors of several texts, in their order.
    ///
    /// # Errors
    /// As [`Embedder::embed`]; then no vector is returned at all.
    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        texts.iter().map(|text| self.embed(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_e5_family_is_told_by_a_part_of_the_name() {
        for name in ["multilingual-e5-small", "intfloat/e5-base-v2", "E5", "/models/e5-large/", "x_e5"] {
            assert_eq!(Prefixes::of_model(name), Some(Prefixes::e5()), "{name}");
        }
        for name in ["all-MiniLM-L6-v2", "", "e50", "te5t", "e5/bge-small", "bge-small-en-v1.5"] {
            assert_eq!(Prefixes::of_model(name), None, "{name}");
        }
    }
}
