//! The rules of `correct`.

use std::sync::Arc;

use crate::card::{Card, LinkKind, Reason, State};
use crate::forget::rules::LifeRules;
use crate::learn::{Reading, is_held, link, register, supersede};
use crate::store::{Batch, ModelRecord};
use crate::time::Timestamp;
use crate::verbs::{Affected, Corrected, How};
use crate::{Error, Result};

/// A validated correction on its way into the store.
pub(crate) struct Correction {
    pub(crate) tenant: String,
    /// The version that the correction was made from; refused when the store moved on.
    pub(crate) base: Card,
    /// The card as corrected, still under its old identifier.
    pub(crate) card: Card,
    /// True when content, fact or polarity differ: the correction is a card of its own.
    pub(crate) restated: bool,
    pub(crate) how: How,
    /// The corrected content's vector; `None` when the content stays.
    pub(crate) vector: Option<Option<Vec<f32>>>,
    pub(crate) model: Option<ModelRecord>,
    /// Rules of age: what is over by them is not held.
    pub(crate) rules: Arc<LifeRules>,
    pub(crate) now: Timestamp,
    pub(crate) degraded: Vec<String>,
}

impl Correction {
    /// Carries the correction out inside the writer's transaction.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Corrected> {
        let missing = || Error::NotFound { what: format!("card {}", self.base.id) };
        let tenant = batch.tenant(&self.tenant)?.ok_or_else(missing)?;
        let present = batch.tables().card(tenant, self.base.id)?.ok_or_else(missing)?;
        if present.version != self.base.version {
            return Err(Error::Conflict {
                message: format!(
                    "card {} has version {}, the correction was made from {}",
                    present.id, present.version, self.base.version
                ),
            });
        }
        if self.restated && present.state == State::Superseded {
            return Err(Error::Conflict {
                message: match present.superseded_by() {
                    Some(by) => format!("card {} is superseded by {by}; correct that one", present.id),
                    None => format!("card {} is superseded", present.id),
                },
            });
        }
        if let Some(model) = &self.model {
            batch.require_model(model)?;
        }
        let (card, affected) = match self.restated {
            false => {
                let mut card = self.card.clone();
                // Counters may have moved since the correction was made; they stay.
                card.mention_count = present.mention_count;
                card.access_count = present.access_count;
                card.last_accessed_at = present.last_accessed_at;
                card.reinforced_at = present.reinforced_at;
                card.sources = present.sources.clone();
                card.reason.action = "edited".into();
                let card = batch.revise(tenant, card, self.vector, self.now)?;
                // An edit of what is replaced must not take the place of what replaced it.
                if is_held(&card, &self.rules, self.now) {
                    register(batch, tenant, &card, &Reading::default())?;
                }
                let affected = vec![Affected { id: card.id, change: "edited" }];
                (card, affected)
            }
            true => {
                let mut card = self.card.clone();
                card.id = batch.next_id(tenant, &self.tenant, self.now)?;
                card.version = 1;
                card.recorded_at = self.now;
                card.updated_at = self.now;
                card.access_count = 0;
                card.mention_count = 1;
                card.last_accessed_at = None;
                card.reinforced_at = None;
                card.links = Vec::new();
                let (mine, theirs) = match self.how {
                    How::Negation => (LinkKind::Supersedes, LinkKind::SupersededBy),
                    How::Scope => (LinkKind::Narrows, LinkKind::NarrowedBy),
                    How::Ambiguous => (LinkKind::ConflictsWith, LinkKind::ConflictsWith),
                };
                card.link(present.id, mine);
                card.reason = Reason { action: "corrected".into(), ..card.reason };
                let vector = match self.vector {
                    Some(vector) => vector,
                    None => batch.tables().vector(tenant, &present)?,
                };
                let card = batch.create(tenant, card, vector, None, None)?;
                register(batch, tenant, &card, &Reading::default())?;
                let changed = match self.how {
                    How::Negation => supersede(batch, tenant, present, &card, true, self.now)?,
                    _ => link(batch, tenant, present, &card, theirs, self.now)?,
                };
                let created = Affected { id: card.id, change: "created" };
                (card, vec![created, changed])
            }
        };
        let seq = batch.sequence(tenant)?;
        Ok(Corrected { id: card.id, version: card.version, affected, seq, degraded: self.degraded })
    }
}
