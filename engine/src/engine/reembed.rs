//! Embedding cards anew while reads and writes go on: after another model has taken the
//! place of the store's, or for cards that were written while the model was away.
//!
//! Texts are read from a snapshot, embedded outside of any transaction, and written in
//! small commits through the writer, each of which looks at the cards again. What is done
//! is told by the records themselves: a run that was cut short is simply started again.

use std::time::Duration;

use crate::card::CardId;
use crate::engine::model::{embed_all, model_of};
use crate::engine::{Arc, Embedder, Store};
use crate::store::{Embedded, ReadBytes, Tables, TenantId};
use crate::{Error, Result};

/// Texts that are embedded and written together, about.
const TEXTS: usize = 64;
/// Bytes of these, about.
const BYTES: usize = 256 << 10;
/// How often a full queue is tried again.
const TRIES: usize = 100;

/// What was embedded anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Reembedded {
    /// The model, with its dimension.
    pub model: String,
    /// Tenants that were gone through.
    pub tenants: u64,
    /// Cards that were looked at.
    pub cards: u64,
    /// Versions of cards that have got a vector.
    pub embedded: u64,
    /// Versions whose vector was removed since the model knows no token of their text.
    pub removed: u64,
}

/// The texts of one card that want a vector.
struct Wanting {
    card: CardId,
    texts: Vec<(u32, String)>,
}

impl Store {
    /// Gives every card of the store, or of one tenant, a vector of the store's present model
    /// where it has none or one of an earlier model; reads and writes go on meanwhile. Earlier
    /// versions of cards are embedded as well, so that reads of the past find them as before.
    /// Doing it again changes nothing. `progress` is told how many cards were looked at.
    ///
    /// Until it is done, recall compares only vectors of the present model, and says
    /// `reembedding` in its `degraded`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when there is no model, the store holds vectors of its callers, or
    /// the model cannot be reached (what is done so far stays done); [`Error::NotFound`] for a
    /// tenant that is not there.
    pub fn reembed(&self, tenant: Option<&str>, mut progress: impl FnMut(u64)) -> Result<Reembedded> {
        let Some(embedder) = self.embedder()?.cloned() else {
            let why = match self.model()?.is_some_and(crate::store::ModelRecord::is_caller) {
                true => "the store holds caller-supplied vectors: there is no model to make them anew",
                false => "no embedding model is loaded",
            };
            return Err(Error::Unavailable(why.into()));
        };
        let mut answer =
            Reembedded { model: model_of(embedder.as_ref()).to_string(), ..Reembedded::default() };
        let mut tenants = self.database().read()?.tenants()?;
        if let Some(name) = tenant {
            tenants.retain(|(_, record)| record.name == name);
            if tenants.is_empty() {
                return Err(Error::NotFound { what: format!("tenant {name:?}") });
            }
        }
        for (id, _) in tenants {
            answer.tenants += 1;
            self.reembed_tenant(id, &embedder, &mut answer, &mut progress)?;
        }
        if tenant.is_none() {
            self.when_there_is_room(|store| store.database().write(|batch| batch.end_reembedding()))?;
        }
        progress(answer.cards);
        Ok(answer)
    }

    fn reembed_tenant(
        &self,
        tenant: TenantId,
        embedder: &Arc<dyn Embedder>,
        answer: &mut Reembedded,
        progress: &mut impl FnMut(u64),
    ) -> Result<()> {
        let mut after = None;
        loop {
            // A snapshot that is kept for long keeps the store from reusing its pages.
            let (wanting, looked_at, last) = gather(&self.database().read()?, tenant, after)?;
            answer.cards += looked_at;
            if !wanting.is_empty() {
                let texts: Vec<&str> = wanting
                    .iter()
                    .flat_map(|wanting| wanting.texts.iter().map(|(_, text)| text.as_str()))
                    .collect();
                let vectors = embed_all(embedder.as_ref(), &texts)?;
                let (embedded, removed) = self.write_vectors(tenant, wanting, vectors, embedder)?;
                answer.embedded += embedded;
                answer.removed += removed;
            }
            progress(answer.cards);
            match last {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    }

    fn write_vectors(
        &self,
        tenant: TenantId,
        wanting: Vec<Wanting>,
        vectors: Vec<Option<Vec<f32>>>,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<(u64, u64)> {
        let mut vectors = vectors.into_iter();
        let cards: Vec<(CardId, Vec<Embedded>)> = wanting
            .into_iter()
            .map(|Wanting { card, texts }| {
                let embedded = texts.into_iter().zip(&mut vectors);
                let embedded =
                    embedded.map(|((version, content), vector)| Embedded { version, content, vector });
                (card, embedded.collect())
            })
            .collect();
        if cards.iter().flat_map(|(_, texts)| texts).all(|text| text.vector.is_none())
            && self.database().generation() == 0
        {
            return Ok((0, 0));
        }
        let (cards, model) = (Arc::new(cards), model_of(embedder.as_ref()));
        let now = self.clock().now();
        self.when_there_is_room(|store| {
            let (cards, model) = (cards.clone(), model.clone());
            store.database().write(move |batch| {
                batch.require_model(&model)?;
                let mut done = (0, 0);
                for (card, embedded) in cards.iter() {
                    let (given, removed) = batch.embed_anew(tenant, *card, embedded, now)?;
                    done = (done.0 + given, done.1 + removed);
                }
                Ok(done)
            })
        })
    }

    /// Tries again while too many others write.
    fn when_there_is_room<T>(&self, write: impl Fn(&Self) -> Result<T>) -> Result<T> {
        for _ in 1..TRIES {
            match write(self) {
                Err(Error::Busy { retry_after_ms }) => {
                    std::thread::sleep(Duration::from_millis(retry_after_ms));
                }
                other => return other,
            }
        }
        write(self)
    }
}

/// The next cards after one that want vectors, how many were looked at, and the last of
/// these unless it was the tenant's last.
fn gather<T: ReadBytes>(
    tables: &Tables<T>,
    tenant: TenantId,
    after: Option<CardId>,
) -> Result<(Vec<Wanting>, u64, Option<CardId>)> {
    let (mut wanting, mut texts, mut bytes, mut looked_at) = (Vec::new(), 0, 0, 0);
    for stored in tables.stored_cards(tenant, after)? {
        let stored = stored?;
        let card = stored.0.id;
        looked_at += 1;
        let found = tables.wanting(tenant, stored)?;
        if !found.is_empty() {
            texts += found.len();
            bytes += found.iter().map(|(_, text)| text.len()).sum::<usize>();
            wanting.push(Wanting { card, texts: found });
        }
        if texts >= TEXTS || bytes >= BYTES {
            return Ok((wanting, looked_at, Some(card)));
        }
    }
    Ok((wanting, looked_at, None))
}
