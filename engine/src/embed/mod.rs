//! Turning text into vectors.
//!
//! The engine asks an [`Embedder`] for vectors and records which model made them. This
//! module knows nothing of cards, tenants or files of the store; in particular it never
//! sees who spoke, when or where: those are fields of a card, not text.

#[cfg(feature = "static-model")]
mod static_model;

#[cfg(feature = "static-model")]
pub use static_model::StaticModel;

use std::sync::Arc;

use crate::Result;

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
