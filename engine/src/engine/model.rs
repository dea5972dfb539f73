//! Asking the embedder, and not trusting its answers blindly: what it gives is written to
//! the store and compared with everything else.

use crate::embed::Embedder;
use crate::store::ModelRecord;
use crate::{Error, Result};

/// The model as the store records it.
pub(super) fn model_of(embedder: &dyn Embedder) -> ModelRecord {
    ModelRecord { id: embedder.model_id().to_owned(), dimension: embedder.dimension() }
}

/// The vector of a text that is stored.
pub(super) fn embed(embedder: &dyn Embedder, text: &str) -> Result<Option<Vec<f32>>> {
    check(embedder, embedder.embed(text)?)
}

/// The vector of a question.
pub(super) fn embed_query(embedder: &dyn Embedder, text: &str) -> Result<Option<Vec<f32>>> {
    check(embedder, embedder.embed_query(text)?)
}

/// The vectors of several texts that are stored.
pub(super) fn embed_all(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
    let vectors = embedder.embed_batch(texts)?;
    if vectors.len() != texts.len() {
        return Err(unusable(embedder, format!("{} vectors for {} texts", vectors.len(), texts.len())));
    }
    vectors.into_iter().map(|vector| check(embedder, vector)).collect()
}

fn check(embedder: &dyn Embedder, vector: Option<Vec<f32>>) -> Result<Option<Vec<f32>>> {
    let Some(vector) = vector else { return Ok(None) };
    if vector.len() != embedder.dimension() {
        let detail = format!("{} numbers instead of {}", vector.len(), embedder.dimension());
        return Err(unusable(embedder, detail));
    }
    if !vector.iter().all(|x| x.is_finite()) || vector.iter().all(|x| *x == 0.0) {
        return Err(unusable(embedder, "a vector without a direction".into()));
    }
    Ok(Some(vector))
}

fn unusable(embedder: &dyn Embedder, detail: String) -> Error {
    Error::Unavailable(format!("the embedding model {} gave {detail}", embedder.model_id()))
}
