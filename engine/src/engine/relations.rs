//! How things relate: the verbs `relate`, `entity` and `walk` of a tenant.

use serde_json::Map;

use crate::card::{Fact, Track, category};
use crate::engine::{Draft, Tenant};
use crate::learn::edge::{SCORE, sentence};
use crate::recall::{relations, walk};
use crate::verbs::{Entity, EntityView, Relate, Remember, Remembered, Walk, Walked};
use crate::{Error, Result};

impl Tenant {
    /// Says how one thing relates to another; see [`Relate`]. The same three names are the
    /// same card, whose score and time are brought up to date.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// use memcards::{Options, Relate, Store, Walk};
    ///
    /// let tenant = Store::open(directory.path(), Options::default())?.tenant("studio")?;
    /// for (from, relation, to) in [("Mira", "works with", "Otto"), ("Otto", "lives in", "Basel")] {
    ///     tenant.relate(Relate::new(from, relation, to))?;
    /// }
    /// let walked = tenant.walk(&Walk { start: "mira".into(), ..Walk::default() })?;
    /// assert_eq!(walked.paths[1].to, "Basel");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::TooLarge`] name the field; for others see
    /// [`Tenant::remember`].
    pub fn relate(&self, request: Relate) -> Result<Remembered> {
        self.write(self.relation(request)?)
    }

    /// Everything that is known of a thing by its name.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no card that may be read names it.
    pub fn entity(&self, request: &Entity) -> Result<EntityView> {
        relations::entity(self, request, self.now())
    }

    /// Follows relations from one thing to others; see [`Walk`].
    ///
    /// # Errors
    /// [`Error::NotFound`] when no card that may be read names the start;
    /// [`Error::InvalidArgument`] and [`Error::TooLarge`] name the field.
    pub fn walk(&self, request: &Walk) -> Result<Walked> {
        walk::walk(self, request, self.now())
    }

    /// Checks a relation and prepares its card.
    pub(crate) fn relation(&self, request: Relate) -> Result<Draft> {
        let limits = self.store().limits();
        for (field, name) in [("from", &request.from), ("relation", &request.relation), ("to", &request.to)] {
            limits.name(field, name)?;
        }
        let score = request.score.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&score) {
            return Err(Error::invalid("score", "must be a number from 0 to 1"));
        }
        if let (Some(since), Some(until)) = (request.since, request.until)
            && since >= until
        {
            return Err(Error::invalid("until", "must lie after since"));
        }
        let edge = Fact { entity: request.from, attribute: request.relation, value: request.to };
        let mut entities = vec![edge.entity.clone(), edge.value.clone()];
        entities.dedup();
        let mut draft = self.draft(Remember {
            content: sentence(&edge),
            track: Some(Track::Entity),
            category: Some(category::RELATION.into()),
            entities,
            fact: Some(edge),
            attributes: Map::from_iter([(SCORE.to_owned(), score.into())]),
            valid_from: request.since,
            valid_to: request.until,
            session: request.session,
            turn: request.turn,
            role: request.role,
            speaker: request.speaker,
            provenance: request.provenance,
            confidence: request.confidence,
            actor: request.actor,
            reason: request.reason,
            ..Remember::default()
        })?;
        draft.keeps_score = request.score.is_none();
        Ok(draft)
    }
}
