//! The rules of `remember`.

use std::sync::Arc;

use crate::card::{Card, CardId, LinkKind, Reason, Role, STATED_CONFIDENCE, State};
use crate::index::cache::Slot;
use crate::index::partition::Prepared;
use crate::index::vectors;
use crate::judge::{self, Analysis, Relation};
use crate::learn::{Reading, content_lookup, is_held, link, mention, register, relation, supersede};
use crate::store::{Batch, Lookup, ModelRecord, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Affected, Outcome, Remembered};
use crate::{Error, Result};

/// Least cosine of two wordings of one statement, where both have vectors.
pub(crate) const MERGE_COSINE: f32 = 0.9;

/// A validated card on its way into the store.
pub(crate) struct Draft {
    /// Name of the tenant, which is created when missing.
    pub(crate) tenant: String,
    /// The card; identifier and version are set when it is written.
    pub(crate) card: Card,
    /// What the rules read in its content.
    pub(crate) reading: Reading,
    /// What a loaded index needs of its text, should it become a card as it is.
    pub(crate) prepared: Option<Arc<Prepared>>,
    pub(crate) vector: Option<Vec<f32>>,
    /// The model that made the vector.
    pub(crate) model: Option<ModelRecord>,
    pub(crate) idempotency_key: Option<String>,
    /// False for a turn of a conversation, which is an event and contradicts nothing.
    pub(crate) statement: bool,
    /// The partition in which statements about the same thing are looked up; `None` for a
    /// tenant that is not there yet.
    pub(crate) partition: Option<Arc<Slot>>,
    pub(crate) now: Timestamp,
    pub(crate) degraded: Vec<String>,
}

/// What the rules decided, before anything is written.
enum Verdict {
    /// The request was carried out before.
    Done(Card),
    /// The very words are known.
    Duplicate(Card),
    /// The same statement in other words is known.
    Merge(Card),
    /// A new card, with those it replaces (and whether they are overturned) and those it
    /// merely contradicts.
    Create { replaces: Vec<(Card, bool)>, contradicts: Vec<Card> },
}

impl Draft {
    /// Carries the request out inside the writer's transaction.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Remembered> {
        if let Some(model) = &self.model {
            batch.check_model(model)?;
        }
        let verdict = match batch.tables().tenant_id(&self.tenant)? {
            Some(tenant) => {
                for link in &self.card.links {
                    if batch.tables().card(tenant, link.to)?.is_none() {
                        return Err(Error::NotFound { what: format!("card {}", link.to) });
                    }
                }
                self.decide(batch, tenant)?
            }
            None if self.card.links.is_empty() => Verdict::Create { replaces: vec![], contradicts: vec![] },
            None => return Err(Error::NotFound { what: format!("card {}", self.card.links[0].to) }),
        };
        // Everything is decided; from here on only a broken store can fail.
        if let Some(model) = &self.model {
            batch.require_model(model)?;
        }
        let tenant = batch.ensure_tenant(&self.tenant, self.now)?;
        let key = self.idempotency_key.clone();
        let answer = match verdict {
            Verdict::Done(card) => self.known(batch, tenant, card)?,
            Verdict::Duplicate(card) => self.count(batch, tenant, card)?,
            Verdict::Merge(card) => self.merge(batch, tenant, card)?,
            Verdict::Create { replaces, contradicts } => self.create(batch, tenant, replaces, contradicts)?,
        };
        if let Some(key) = key
            && batch.tables().lookup(tenant, &Lookup::Idempotency(&key))?.is_none()
        {
            batch.set_lookup(tenant, &Lookup::Idempotency(&key), answer.id)?;
        }
        Ok(answer)
    }

    fn decide(&self, batch: &Batch<'_>, tenant: TenantId) -> Result<Verdict> {
        let tables = batch.tables();
        let card = |id: Option<CardId>| match id {
            Some(id) => tables.card(tenant, id),
            None => Ok(None),
        };
        if let Some(key) = &self.idempotency_key
            && let Some(done) = card(tables.lookup(tenant, &Lookup::Idempotency(key))?)?
        {
            return Ok(Verdict::Done(done));
        }
        if let Some(known) =
            card(tables.lookup(tenant, &content_lookup(&self.card, self.reading.hash(&self.card.content)))?)?
            && is_held(&known, self.now)
            && known.polarity == self.card.polarity
            && judge::normalized_hash(&known.content) == self.reading.hash(&self.card.content)
            && self.is_compatible(&known)
        {
            return Ok(Verdict::Duplicate(known));
        }
        let mut replaces: Vec<(Card, bool)> = Vec::new();
        let mut contradicts: Vec<Card> = Vec::new();
        let mut merge = None;
        if let Some(key) = &self.card.merge_key
            && let Some(known) = card(tables.lookup(tenant, &Lookup::MergeKey(key))?)?
            && is_held(&known, self.now)
            && known.merge_key.as_ref() == Some(key)
        {
            match relation(&known, self.analysis(), self.card.polarity) {
                Relation::Identical | Relation::Same if self.is_compatible(&known) => merge = Some(known),
                relation => replaces.push((known, relation == Relation::Opposite)),
            }
        }
        if let Some(fact) = &self.card.fact
            && let Some(known) = card(tables.lookup(tenant, &Lookup::Fact(fact))?)?
            && is_held(&known, self.now)
            && let Some(held) = &known.fact
        {
            let same_value = judge::normalized_hash(&held.value) == judge::normalized_hash(&fact.value);
            match same_value && known.polarity == self.card.polarity {
                true if merge.is_none() && self.is_compatible(&known) => merge = Some(known),
                true => {}
                false => add(&mut replaces, (known, false)),
            }
        }
        self.compare_statements(batch, tenant, &mut merge, &mut replaces, &mut contradicts)?;
        // A weak card does not overturn a stated one: both stay, the later ranks first.
        if self.card.confidence < STATED_CONFIDENCE {
            let (strong, weak): (Vec<_>, Vec<_>) =
                replaces.into_iter().partition(|(old, _)| old.confidence >= STATED_CONFIDENCE);
            contradicts.extend(strong.into_iter().map(|(old, _)| old));
            replaces = weak;
        }
        Ok(match merge {
            Some(known) if replaces.is_empty() => Verdict::Merge(known),
            _ => Verdict::Create { replaces, contradicts },
        })
    }

    /// Compares with the statements about the same topic or subject.
    fn compare_statements(
        &self,
        batch: &Batch<'_>,
        tenant: TenantId,
        merge: &mut Option<Card>,
        replaces: &mut Vec<(Card, bool)>,
        contradicts: &mut Vec<Card>,
    ) -> Result<()> {
        if !self.statement {
            return Ok(());
        }
        let analysis = self.analysis();
        let hashes = analysis.lookup_hashes();
        let mut ids: Vec<CardId> = Vec::new();
        for hash in hashes.into_iter().flatten() {
            if let Some(partition) = &self.partition {
                ids.extend_from_slice(partition.read()?.by_hash(hash));
            }
            ids.extend_from_slice(batch.noted(tenant, hash));
        }
        if self.partition.is_none() && !batch.is_new(tenant) {
            // The tenant came to be since the request was checked: it has few cards yet.
            for known in batch.tables().cards(tenant, None, false)? {
                let known = known?;
                let theirs = judge::analyze(&known.content).lookup_hashes();
                if theirs.iter().flatten().any(|hash| hashes.contains(&Some(*hash))) {
                    ids.push(known.id);
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        if analysis.refers_back()
            && let Some(known) = self.previous_statement(batch, tenant)?
            && judge::relation_to_previous(&judge::analyze(&known.content), analysis)
                == (Relation::ValueChanged { explicit: true })
        {
            add(replaces, (known, false));
        }
        for id in ids.into_iter().rev() {
            let Some(known) = batch.tables().card(tenant, id)? else { continue };
            if !self.is_comparable(&known) {
                continue;
            }
            match relation(&known, analysis, self.card.polarity) {
                Relation::Identical | Relation::Same => {
                    if merge.is_none() && self.may_merge(batch, tenant, &known)? {
                        *merge = Some(known);
                    }
                }
                Relation::Opposite => add(replaces, (known, true)),
                Relation::ValueChanged { explicit: true } => add(replaces, (known, false)),
                Relation::ValueChanged { explicit: false } => {
                    if replaces.iter().all(|(other, _)| other.id != known.id) {
                        contradicts.push(known);
                    }
                }
                Relation::Different => {}
            }
        }
        Ok(())
    }

    /// True for a held statement, not an event, in the same voice: "I" of the assistant is
    /// not "I" of the user.
    fn is_comparable(&self, known: &Card) -> bool {
        let voice = |card: &Card| {
            let source = card.source();
            let assistant = source.and_then(|source| source.role) == Some(Role::Assistant);
            (assistant, source.and_then(|source| source.speaker.clone()))
        };
        let ((mine, my_name), (theirs, their_name)) = (voice(&self.card), voice(known));
        let event = known.source().is_some_and(|source| source.turn.is_some());
        !event
            && mine == theirs
            && (my_name.is_none() || their_name.is_none() || my_name == their_name)
            && known.track == self.card.track
            && is_held(known, self.now)
    }

    /// The statement made last in this tenant, if it was made in the same session: what
    /// "it" of "now it is red" stands for.
    fn previous_statement(&self, batch: &Batch<'_>, tenant: TenantId) -> Result<Option<Card>> {
        let (last, _) = batch.tables().last_change(tenant)?;
        let Some(change) = batch.tables().changes(tenant, last.saturating_sub(1))?.next() else {
            return Ok(None);
        };
        let (_, change) = change?;
        let session = |card: &Card| card.source().and_then(|source| source.session.clone());
        let known = batch.tables().card(tenant, change.card)?;
        Ok(known.filter(|known| self.is_comparable(known) && session(known) == session(&self.card)))
    }

    /// True unless merge key or fact say that the two are not one.
    fn is_compatible(&self, known: &Card) -> bool {
        let key = self.card.merge_key.is_none() || self.card.merge_key == known.merge_key;
        let fact = match (&self.card.fact, &known.fact) {
            (Some(new), Some(old)) => {
                judge::normalized_hash(&new.value) == judge::normalized_hash(&old.value)
            }
            _ => true,
        };
        key && fact
    }

    /// The last word before a merge: same category, near in meaning where both have
    /// vectors, and the same statement as the card's first wording, so that a chain of
    /// merges cannot drift.
    fn may_merge(&self, batch: &Batch<'_>, tenant: TenantId, known: &Card) -> Result<bool> {
        if known.category != self.card.category || !self.is_compatible(known) {
            return Ok(false);
        }
        if let (Some(new), Some(old)) = (&self.vector, batch.tables().vector(tenant, known)?)
            && let (Some(new), Some(old)) = (vectors::unit(new), vectors::unit(&old))
            && vectors::cosine(&new, &old) < MERGE_COSINE
        {
            return Ok(false);
        }
        let first = batch.tables().version(tenant, known.id, 1)?;
        Ok(first.is_none_or(|first| {
            matches!(
                relation(&first, self.analysis(), self.card.polarity),
                Relation::Identical | Relation::Same
            )
        }))
    }

    /// Answers a request that was carried out before; changes nothing.
    fn known(self, batch: &mut Batch<'_>, tenant: TenantId, card: Card) -> Result<Remembered> {
        self.answer(batch, tenant, card.id, card.version, Outcome::Duplicate, vec![])
    }

    /// Counts one more mention of the very words.
    fn count(self, batch: &mut Batch<'_>, tenant: TenantId, mut card: Card) -> Result<Remembered> {
        // The same turn delivered again is the same mention.
        if self.card.source().is_some_and(|source| source.turn.is_some() && card.sources.contains(source)) {
            return self.known(batch, tenant, card);
        }
        let promoted = mention(&mut card, &self.card, self.now);
        self.take_over_expiry(&mut card);
        let (card, change) = match promoted {
            true => {
                card.reason = Reason { action: "promoted".into(), ..self.card.reason.clone() };
                (batch.revise(tenant, card, None, self.now)?, "promoted")
            }
            false => (batch.touch(tenant, card)?, "mentioned"),
        };
        let affected = vec![Affected { id: card.id, change }];
        self.answer(batch, tenant, card.id, card.version, Outcome::Duplicate, affected)
    }

    /// Gives a card the newest wording of its statement.
    fn merge(mut self, batch: &mut Batch<'_>, tenant: TenantId, mut card: Card) -> Result<Remembered> {
        mention(&mut card, &self.card, self.now);
        self.take_over_expiry(&mut card);
        card.content = self.card.content.clone();
        if self.card.summary.is_some() {
            card.summary = self.card.summary.clone();
        }
        if self.card.fact.is_some() {
            card.fact = self.card.fact.clone();
        }
        if self.card.merge_key.is_some() {
            card.merge_key = self.card.merge_key.clone();
        }
        unite(&mut card.entities, &self.card.entities);
        unite(&mut card.tags, &self.card.tags);
        card.attributes.extend(self.card.attributes.clone());
        card.importance = card.importance.max(self.card.importance);
        card.pinned |= self.card.pinned;
        card.reason = Reason { action: "merged".into(), ..self.card.reason.clone() };
        let card = batch.revise(tenant, card, Some(self.vector.take()), self.now)?;
        register(batch, tenant, &card, &self.reading)?;
        let affected = vec![Affected { id: card.id, change: "merged" }];
        self.answer(batch, tenant, card.id, card.version, Outcome::Merged, affected)
    }

    fn create(
        mut self,
        batch: &mut Batch<'_>,
        tenant: TenantId,
        replaces: Vec<(Card, bool)>,
        contradicts: Vec<Card>,
    ) -> Result<Remembered> {
        let mut card = self.card.clone();
        card.id = batch.next_id(tenant, &self.tenant, self.now)?;
        card.version = 1;
        card.state = match card.confidence < STATED_CONFIDENCE {
            true => State::Candidate,
            false => State::Active,
        };
        card.mention_count = 1;
        for (old, _) in &replaces {
            card.link(old.id, LinkKind::Supersedes);
        }
        for old in &contradicts {
            card.link(old.id, LinkKind::ConflictsWith);
        }
        let own_links = self.card.links.clone();
        card.reason.action = "created".into();
        let card = batch.create(tenant, card, self.vector.take(), self.prepared.take())?;
        register(batch, tenant, &card, &self.reading)?;
        let mut affected = vec![Affected { id: card.id, change: "created" }];
        let superseded = !replaces.is_empty();
        for (old, overturned) in replaces {
            affected.push(supersede(batch, tenant, old, &card, overturned, self.now)?);
        }
        for old in contradicts {
            affected.push(link(batch, tenant, old, &card, LinkKind::ConflictsWith, self.now)?);
        }
        for own in own_links {
            if let Some(other) = batch.tables().card(tenant, own.to)? {
                affected.push(link(batch, tenant, other, &card, own.kind.reverse(), self.now)?);
            }
        }
        let outcome = match (superseded, card.state) {
            (true, _) => Outcome::Superseded,
            (false, State::Candidate) => Outcome::Candidate,
            (false, _) => Outcome::Created,
        };
        self.answer(batch, tenant, card.id, card.version, outcome, affected)
    }

    /// What the rules see in the content.
    fn analysis(&self) -> &Analysis {
        self.reading.analysis(&self.card.content)
    }

    fn take_over_expiry(&self, card: &mut Card) {
        if self.card.expires_at.is_some() {
            card.expires_at = self.card.expires_at;
        }
    }

    fn answer(
        self,
        batch: &mut Batch<'_>,
        tenant: TenantId,
        id: CardId,
        version: u32,
        outcome: Outcome,
        affected: Vec<Affected>,
    ) -> Result<Remembered> {
        let seq = batch.sequence(tenant)?;
        Ok(Remembered { id, outcome, version, affected, seq, degraded: self.degraded })
    }
}

fn add(replaces: &mut Vec<(Card, bool)>, new: (Card, bool)) {
    if replaces.iter().all(|(old, _)| old.id != new.0.id) {
        replaces.push(new);
    }
}

/// Adds what is missing, within the limit of a list.
fn unite(list: &mut Vec<String>, more: &[String]) {
    for item in more {
        if !list.contains(item) && list.len() < crate::card::Limits::default().list_items {
            list.push(item.clone());
        }
    }
}
