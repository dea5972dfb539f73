//! Giving cards the vectors of the store's present model.
//!
//! Every vector in the store says of which generation it is, so what remains to be done is
//! seen in each record: a run that was cut short goes on where it was, and one that is
//! repeated finds nothing to do. This module knows nothing of models.

use crate::Result;
use crate::card::CardId;
use crate::store::batch::Batch;
use crate::store::keys::TenantId;
use crate::store::record::{ChangeKind, OwnVector};
use crate::store::tables::{ReadBytes, Stored, Tables};
use crate::time::Timestamp;

/// A version of a card whose text was embedded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embedded {
    pub(crate) version: u32,
    pub(crate) content: String,
    /// `None` where the model knows no token of it.
    pub(crate) vector: Option<Vec<f32>>,
}

impl<T: ReadBytes> Tables<T> {
    /// Versions and texts of a card that want a vector: those whose vector comes from an
    /// earlier model, and the current one where it has none.
    pub(crate) fn wanting(&self, tenant: TenantId, present: Stored) -> Result<Vec<(u32, String)>> {
        let mut wanting = Vec::new();
        if present.0.version > 1 {
            let earlier = self.stored_earlier(tenant, present.0.id)?;
            let stale = earlier.into_iter().filter(|(_, own)| is_stale(own.as_ref(), self.generation()));
            wanting.extend(stale.map(|(card, _)| (card.version, card.content)));
        }
        let (card, own) = present;
        if card.vector_version == 0 || is_stale(own.as_ref(), self.generation()) {
            wanting.push((card.version, card.content));
        }
        Ok(wanting)
    }
}

fn is_stale(own: Option<&OwnVector>, generation: u16) -> bool {
    own.is_some_and(|own| own.generation != generation)
}

impl Batch<'_> {
    /// Writes vectors that were made of a card's versions, as far as these still want one.
    /// Gives how many versions have one now, and how many have lost theirs.
    pub(crate) fn embed_anew(
        &mut self,
        tenant: TenantId,
        id: CardId,
        embedded: &[Embedded],
        now: Timestamp,
    ) -> Result<(u64, u64)> {
        let generation = self.tables().generation();
        let Some(present) = self.tables().stored(tenant, id)? else { return Ok((0, 0)) };
        let current = present.0.version;
        let mut versions = match current {
            1 => vec![],
            _ => self.tables().stored_earlier(tenant, id)?,
        };
        versions.push(present);
        self.thaw(tenant, id, now)?;
        let mut done = (0, 0);
        for Embedded { version, content, vector } in embedded {
            let named = versions.iter().position(|(card, _)| card.version == *version);
            let stale = named.filter(|at| is_stale(versions[*at].1.as_ref(), generation));
            // One that never had a vector may be another version by now, of the same text.
            let bare = versions.len() - 1;
            let bare = (versions[bare].0.vector_version == 0 && versions[bare].0.content == *content)
                .then_some(bare);
            let Some(at) = stale.or(bare) else { continue };
            match vector {
                Some(numbers) => {
                    let (card, own) = &mut versions[at];
                    card.vector_version = card.version;
                    *own = Some(OwnVector { generation, numbers: numbers.clone() });
                    let card = card.clone();
                    self.put_version(tenant, current, &versions[at], now)?;
                    self.log_at(tenant, ChangeKind::Vector, card, Some(numbers.clone()), now)?;
                    done.0 += 1;
                }
                None if stale.is_some() => {
                    versions[at].1 = None;
                    for stored in versions.iter_mut().filter(|(card, _)| card.vector_version == *version) {
                        stored.0.vector_version = 0;
                        self.put_version(tenant, current, stored, now)?;
                    }
                    self.log_at(tenant, ChangeKind::Vector, versions[at].0.clone(), None, now)?;
                    done.1 += 1;
                }
                None => {}
            }
        }
        Ok(done)
    }

    fn put_version(
        &mut self,
        tenant: TenantId,
        current: u32,
        (card, own): &Stored,
        now: Timestamp,
    ) -> Result<()> {
        let vector = own.as_ref().map(OwnVector::parts);
        match card.version == current {
            true => self.put_card(tenant, card, vector, now),
            false => self.put_earlier(tenant, card, vector),
        }
    }
}
