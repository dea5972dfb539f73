//! One tenant: checking its requests and carrying them out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arc_swap::ArcSwapOption;

use crate::card::{Card, CardId, Polarity, Provenance, Reason, Source, State, Track, category, check_vector};
use crate::engine::Store;
use crate::engine::model::{embed, embed_query, model_of};
use crate::forget::due::life;
use crate::forget::rules::LifeRules;
use crate::forget::{Forgetting, Restoring, erase};
use crate::learn::Reading;
use crate::learn::correct::Correction;
use crate::learn::edge;
use crate::learn::extract::extract;
use crate::learn::remember::{Draft, begin};
use crate::recall;
use crate::recall::days::KnownDays;
use crate::store::{EncodedCard, ModelRecord, TenantId};
use crate::time::Timestamp;
use crate::verbs::{
    CardView, Correct, Corrected, Count, Forget, Forgotten, Get, History, HistoryAnswer, List, Outcome, Page,
    Recall, Recalled, Remember, Remembered, Restore, Restored, Undo, Undone,
};
use crate::{Error, Result};

/// Figures of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TenantStatistics {
    /// Cards in each state; `expired` where their time is over, `faded` where age has taken them
    /// out of active memory and no run has archived them yet.
    pub states: BTreeMap<&'static str, u64>,
    /// Cards in each track.
    pub tracks: BTreeMap<&'static str, u64>,
    /// Cards in each category.
    pub categories: BTreeMap<String, u64>,
    /// Cards that have a vector.
    pub vectors: u64,
    /// Position of the change log.
    pub seq: u64,
}

/// A vector, the model that made it, and what could not be done.
type Embedded = (Option<Vec<f32>>, Option<ModelRecord>, Vec<String>);

/// The only door to one tenant's memories.
pub struct Tenant {
    store: Store,
    name: String,
    /// Its number, once it is known, and how many tenants had been wiped by then: a name keeps
    /// its number until it is wiped.
    id: ArcSwapOption<(u64, TenantId)>,
}

impl Clone for Tenant {
    fn clone(&self) -> Self {
        Self::new(self.store.clone(), &self.name)
    }
}

impl Tenant {
    /// The handle of a tenant whose name has been checked.
    pub(super) fn new(store: Store, name: &str) -> Self {
        Self { store, name: name.to_owned(), id: ArcSwapOption::empty() }
    }

    /// The tenant's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The store the tenant belongs to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn now(&self) -> Timestamp {
        self.store.inner.clock.now()
    }

    /// The tenant's number; `None` before its first write.
    pub(crate) fn id(&self) -> Result<Option<TenantId>> {
        let wiped = self.store.inner.wiped.load(Ordering::Acquire);
        if let Some(known) = self.id.load().as_ref().filter(|known| known.0 == wiped) {
            return Ok(Some(known.1));
        }
        let found = self.store.inner.database.read()?.tenant_id(&self.name)?;
        self.id.store(found.map(|id| Arc::new((wiped, id))));
        Ok(found)
    }

    /// The rules of age that hold for its cards.
    pub(crate) fn life_rules(&self) -> Result<Arc<LifeRules>> {
        self.id()?.map_or_else(|| Ok(Arc::default()), |id| self.store.life_rules(id))
    }

    /// Creates the tenant now rather than with its first write; true when it is new.
    pub fn create(&self) -> Result<bool> {
        let (name, now) = (self.name.clone(), self.now());
        self.store.inner.database.write(move |batch| {
            let new = batch.tables().tenant_id(&name)?.is_none();
            batch.ensure_tenant(&name, now)?;
            // It is wanted again: what was wiped may be imported.
            erase::lift_tenant(batch, &name)?;
            Ok(new)
        })
    }

    /// Stores one memory; returns when it is durable and found by the next recall.
    ///
    /// The same statement twice is one card; a contrary one replaces what it contradicts.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::TooLarge`] name the field; then nothing is
    /// changed. [`Error::ModelMismatch`] when a vector does not fit the store's model,
    /// [`Error::Busy`] when too many writes wait, [`Error::ReadOnly`] after a failed commit.
    pub fn remember(&self, request: Remember) -> Result<Remembered> {
        self.write(self.draft(request)?)
    }

    /// Carries a draft out.
    pub(super) fn write(&self, draft: Draft) -> Result<Remembered> {
        let (inner, track, statement) = (&self.store.inner, draft.card.track, draft.reading.statement());
        let answer = inner.database.write(move |batch| draft.run(batch))?;
        if let Some(tenant) = self.id()? {
            if let Some(statement) =
                statement.filter(|_| answer.outcome != Outcome::Duplicate && answer.degraded.is_empty())
            {
                inner.analyses.insert(tenant, answer.id, answer.version, statement);
            }
            inner.cache.relieve(tenant, track);
        }
        Ok(answer)
    }

    /// Stores several memories in one commit; the answers come in the order of the requests.
    /// One that is refused does not keep the others out.
    ///
    /// # Errors
    /// [`Error::TooLarge`] on `batch` above the limit (1,000); errors of single requests are
    /// in the answers.
    pub fn remember_all(&self, requests: Vec<Remember>) -> Result<Vec<Result<Remembered>>> {
        let limit = self.store.inner.limits.batch;
        if requests.len() > limit {
            return Err(Error::TooLarge {
                field: "batch".into(),
                actual: requests.len() as u64,
                limit: limit as u64,
                unit: "items",
            });
        }
        let drafts = requests.into_iter().map(|request| self.draft(request)).collect();
        let answers = self.store.write_drafts(drafts)?;
        if let Some(tenant) = self.id()? {
            Track::ALL.iter().for_each(|track| self.store.inner.cache.relieve(tenant, *track));
        }
        Ok(answers)
    }

    /// Finds the cards that answer a question, best first. If `top` cards satisfy the
    /// conditions and match, `top` cards are returned.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::TooLarge`] name the field.
    pub fn recall(&self, request: Recall) -> Result<Recalled> {
        let start = Instant::now();
        let answer = recall::run(self, request, self.now());
        self.store.inner.scheduler.note(start.elapsed());
        answer
    }

    /// Reads one card.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a card that is not there, is another tenant's, is expired, or
    /// is forgotten (unless included).
    pub fn get(&self, request: &Get) -> Result<CardView> {
        recall::read::get(self, request, self.now())
    }

    /// Reads cards page by page; pages are stable while cards are added.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `limit` or `cursor`.
    pub fn list(&self, request: &List) -> Result<Page> {
        recall::read::list(self, request, self.now())
    }

    /// Counts cards.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count(&self, request: &Count) -> Result<u64> {
        recall::read::count(self, request, self.now())
    }

    /// Every version of a card, and of the cards it replaced or was replaced by, oldest first.
    ///
    /// It shows a forgotten card that is asked for by name: it is the record of who changed
    /// what, until the card is purged.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a card that is not there, is another tenant's, or is expired.
    pub fn history(&self, request: &History) -> Result<HistoryAnswer> {
        recall::read::history(self, request, self.now())
    }

    /// Puts a card right; see [`Correct`].
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when the card has changed meanwhile or is
    /// superseded; [`Error::InvalidArgument`] and [`Error::TooLarge`] name the field.
    pub fn correct(&self, request: Correct) -> Result<Corrected> {
        let correction = self.correction(request)?;
        self.store.inner.database.write(move |batch| correction.run(batch))
    }

    /// Soft-deletes cards by name or by condition; see [`Forget`].
    ///
    /// # Errors
    /// [`Error::NotFound`] for an identifier that is not there (then nothing is forgotten);
    /// [`Error::InvalidArgument`] when it is not said which.
    pub fn forget(&self, request: Forget) -> Result<Forgotten> {
        let by_id = !request.ids.is_empty() || request.id.is_some();
        let mut unsure = Vec::new();
        let ids = match (&request.filter, &request.about) {
            (Some(_), _) if by_id => return Err(Error::invalid("filter", "give ids or a filter, not both")),
            (_, Some(_)) if by_id => return Err(Error::invalid("about", "give ids or about, not both")),
            (Some(_), Some(_)) => return Err(Error::invalid("about", "give a filter or about, not both")),
            (Some(filter), None) => recall::read::matching(self, filter, self.now())?,
            (None, Some(about)) => {
                let found = recall::about::find(self, about, self.now())?;
                unsure = found.unsure;
                found.cards
            }
            (None, None) if by_id => request.id.into_iter().chain(request.ids.iter().copied()).collect(),
            (None, None) => {
                return Err(Error::invalid("id", "say what to forget: id, ids, filter or about"));
            }
        };
        let why = reason(request.actor, request.reason);
        self.store.check_reason(&why)?;
        let forgetting = Forgetting {
            tenant: self.name.clone(),
            ids,
            chosen: by_id.then_some(()).is_none(),
            unsure,
            filter: request.filter,
            reason: why,
            dry_run: request.dry_run,
            now: self.now(),
        };
        self.store.inner.database.write(move |batch| forgetting.run(batch))
    }

    /// Brings forgotten cards back.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an identifier that is not there (then nothing is restored).
    pub fn restore(&self, request: Restore) -> Result<Restored> {
        let ids: Vec<CardId> = request.id.into_iter().chain(request.ids.iter().copied()).collect();
        if let Some(run) = request.run {
            if !ids.is_empty() {
                return Err(Error::invalid("run", "give ids or a run, not both"));
            }
            let undo = Undo { run: Some(run), actor: request.actor, reason: request.reason };
            let Undone { restored, skipped, .. } = self.undo(undo)?;
            return Ok(Restored { restored, skipped, ..Restored::default() });
        }
        if ids.is_empty() {
            return Err(Error::invalid("id", "say what to restore: id, ids or run"));
        }
        let why = reason(request.actor, request.reason);
        self.store.check_reason(&why)?;
        let restoring = Restoring {
            tenant: self.name.clone(),
            ids,
            reason: why,
            rules: self.life_rules()?,
            now: self.now(),
        };
        self.store.inner.database.write(move |batch| restoring.run(batch))
    }

    /// Counts of the tenant's cards.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn statistics(&self) -> Result<TenantStatistics> {
        let tables = self.store.inner.database.read()?;
        let mut figures = TenantStatistics::default();
        let Some(tenant) = tables.tenant_id(&self.name)? else { return Ok(figures) };
        let rules = self.store.life_rules(tenant)?;
        let now = self.now();
        for card in tables.outlines(tenant, None)? {
            let card = card?;
            let (life, rule) = (life(&card), rules.of(card.track, &card.category));
            let state = match rules.state(&life, &rule, now) {
                _ if rules.has_expired(&life, &rule, now) => "expired",
                state if state != card.state => "faded",
                state => state.name(),
            };
            *figures.states.entry(state).or_default() += 1;
            *figures.tracks.entry(card.track.name()).or_default() += 1;
            *figures.categories.entry(card.category).or_default() += 1;
            figures.vectors += u64::from(card.vector_version > 0);
        }
        figures.seq = tables.last_change(tenant)?.0;
        Ok(figures)
    }

    /// Checks a request and prepares all that needs no transaction.
    pub(crate) fn draft(&self, request: Remember) -> Result<Draft> {
        let inner = &self.store.inner;
        let now = self.now();
        let limits = &inner.limits;
        if request.turn.is_some() && request.session.is_none() {
            return Err(Error::invalid("turn", "needs a session"));
        }
        if request.ttl.is_some() && request.expires_at.is_some() {
            return Err(Error::invalid("ttl", "give ttl or expires_at, not both"));
        }
        if let Some(key) = &request.idempotency_key {
            limits.name("idempotency_key", key)?;
        }
        let expires_at = match request.ttl {
            Some(ttl) => Some(now.plus(ttl)),
            None => request.expires_at,
        };
        let is_turn = request.turn.is_some();
        let dated = request.occurred_at.is_some() || request.valid_from.is_some();
        let provenance = request.provenance.unwrap_or(Provenance::Stated);
        let source = Source {
            session: request.session,
            turn: request.turn,
            role: request.role,
            speaker: request.speaker,
            occurred_at: request.occurred_at,
        };
        let mut card = Card {
            id: CardId::default(),
            version: 1,
            track: request.track.unwrap_or(if is_turn { Track::Episodic } else { Track::Semantic }),
            category: request.category.unwrap_or_else(|| {
                if is_turn { category::CONVERSATION } else { category::KNOWLEDGE }.to_owned()
            }),
            content: request.content,
            summary: request.summary,
            fact: request.fact,
            polarity: request.polarity.unwrap_or(Polarity::Affirmed),
            entities: request.entities,
            mentions: vec![],
            times: vec![],
            tags: request.tags,
            attributes: request.attributes,
            merge_key: request.merge_key,
            links: request.links,
            provenance,
            sources: if source == Source::default() { vec![] } else { vec![source] },
            extractor: request.extractor,
            journal: None,
            occurred_at: request.occurred_at.unwrap_or(now),
            recorded_at: now,
            updated_at: now,
            last_accessed_at: None,
            reinforced_at: None,
            access_count: 0,
            mention_count: 1,
            expires_at,
            valid_from: request.valid_from,
            valid_to: request.valid_to,
            importance: request.importance.unwrap_or(0.5),
            confidence: request.confidence.unwrap_or(provenance.confidence()),
            pinned: request.pinned,
            state: State::Active,
            state_before: None,
            vector_version: 0,
            reason: reason(request.actor, request.reason),
        };
        if card.merge_key.is_none() {
            card.merge_key = card.edge().map(edge::merge_key);
        }
        limits.card(&card)?;
        limits.items("links", card.links.len())?;
        self.store.check_reason(&card.reason)?;
        let speaker = card.source().and_then(|source| source.speaker.clone());
        let known = KnownDays::of(self, speaker.as_deref());
        extract(&mut card, &request.zone.unwrap_or_default(), &known);
        let (vector, model, degraded) = self.embed(&card.content, request.vector)?;
        begin(&mut card);
        card.vector_version = if vector.is_some() { card.version } else { 0 };
        let parts = vector.as_deref().map(|vector| (inner.database.generation(), vector));
        let encoded = Some(EncodedCard::new(&card, parts)?);
        let (statement, tenant) = (card.is_statement(), self.id()?);
        let partition = match (statement, tenant) {
            (true, Some(tenant)) => Some(inner.cache.partition(&inner.database, tenant, card.track)?),
            _ => None,
        };
        if let Some(tenant) = tenant {
            inner.database.load_lookups(tenant)?;
        }
        let reading = Reading::of(&card.content, statement);
        let indexed = tenant.is_some_and(|tenant| inner.cache.is_loaded(tenant, card.track));
        let prepared = indexed.then(|| Arc::new(reading.prepare(&card)));
        let draft = Draft {
            tenant: self.name.clone(),
            reading,
            prepared,
            encoded,
            card,
            vector,
            model,
            idempotency_key: request.idempotency_key,
            statement,
            keeps_score: false,
            dated,
            partition,
            analyses: inner.analyses.clone(),
            limits: limits.clone(),
            rules: self.life_rules()?,
            now,
            degraded,
        };
        if let Some(tenant) = tenant {
            draft.read_ahead(&inner.database, tenant)?;
        }
        Ok(draft)
    }

    fn correction(&self, request: Correct) -> Result<Correction> {
        let now = self.now();
        let visible = recall::read::get(self, &Get { id: request.id, ..Get::default() }, now)?;
        let base = visible.card;
        if request.version.is_some_and(|version| version != base.version) {
            return Err(Error::Conflict {
                message: format!("card {} has version {}, not the one named", base.id, base.version),
            });
        }
        let mut card = base.clone();
        for field in &request.clear {
            match field.as_str() {
                "summary" => card.summary = None,
                "fact" => card.fact = None,
                "merge_key" => card.merge_key = None,
                "valid_from" => card.valid_from = None,
                "valid_to" => card.valid_to = None,
                "expires_at" => card.expires_at = None,
                other => {
                    return Err(Error::invalid(
                        "clear",
                        format!(
                            "{other:?} cannot be emptied; summary, fact, merge_key, valid_from, valid_to and expires_at can"
                        ),
                    ));
                }
            }
        }
        let vector_given = request.vector;
        /// Takes over the fields that the request sets.
        macro_rules! set {
            ($($field:ident),*) => { $(if let Some(value) = request.$field { card.$field = value; })* };
            (optional $($field:ident),*) => { $(if request.$field.is_some() { card.$field = request.$field; })* };
        }
        set!(
            content,
            polarity,
            category,
            entities,
            tags,
            attributes,
            occurred_at,
            importance,
            confidence,
            provenance,
            pinned
        );
        set!(optional summary, fact, merge_key, valid_from, valid_to, expires_at);
        if request.provenance.is_some() && request.confidence.is_none() {
            card.confidence = card.provenance.confidence();
        }
        edge::correct_names(&base, &mut card);
        card.reason = reason(request.actor, request.reason);
        let unchanged = Card { reason: base.reason.clone(), ..card.clone() } == base;
        if unchanged && vector_given.is_none() {
            return Err(Error::invalid("content", "the correction changes nothing"));
        }
        let restated =
            card.content != base.content || card.fact != base.fact || card.polarity != base.polarity;
        if restated {
            if request.occurred_at.is_none() {
                card.occurred_at = now;
            }
            card.valid_to = card.valid_to.filter(|end| request.valid_to == Some(*end));
            if request.confidence.is_none() && request.provenance.is_none() {
                card.provenance = Provenance::Stated;
                card.confidence = card.confidence.max(Provenance::Stated.confidence());
            }
            card.state = State::Active;
            card.sources = vec![];
            if card.summary == base.summary {
                card.summary = None;
            }
        }
        self.store.inner.limits.card(&card)?;
        self.store.check_reason(&card.reason)?;
        if card.content != base.content || card.occurred_at != base.occurred_at {
            let speaker = base.source().and_then(|source| source.speaker.clone());
            let zone = request.zone.unwrap_or_default();
            extract(&mut card, &zone, &KnownDays::of(self, speaker.as_deref()));
        }
        let (vector, model, degraded) = match card.content != base.content || vector_given.is_some() {
            // A card of its own takes a vector along, unless that comes from an earlier model.
            false if restated && self.has_stale_vector(&base)? => {
                let (vector, model, _) = self.embed(&card.content, None)?;
                (Some(vector), model, vec![])
            }
            true => {
                let (vector, model, degraded) = self.embed(&card.content, vector_given)?;
                // Without its vector the correction would be found less well than what it
                // corrects: better refuse and keep the old one.
                if let Some(why) = degraded.first() {
                    return Err(Error::Unavailable(why.clone()));
                }
                (Some(vector), model, degraded)
            }
            false => (None, None, vec![]),
        };
        Ok(Correction {
            tenant: self.name.clone(),
            base,
            card,
            restated,
            how: request.how,
            vector,
            model,
            rules: self.life_rules()?,
            now,
            degraded,
        })
    }

    /// True when a card's vector comes from an earlier model.
    fn has_stale_vector(&self, card: &Card) -> Result<bool> {
        let database = &self.store.inner.database;
        if card.vector_version == 0 || database.generation() == 0 {
            return Ok(false);
        }
        let Some(tenant) = self.id()? else { return Ok(false) };
        // The card may have changed since it was read: then the correction is refused.
        Ok(database.read()?.vector(tenant, card).is_ok_and(|vector| vector.is_none()))
    }

    /// The vector of a card's content: as handed in, or made by the store's model.
    fn embed(&self, content: &str, given: Option<Vec<f32>>) -> Result<Embedded> {
        let stored = self.store.model()?;
        if let Some(vector) = given {
            check_vector(&vector, &self.store.inner.limits)?;
            let offered = ModelRecord { id: ModelRecord::CALLER.into(), dimension: vector.len() };
            if let Some(stored) = stored
                && *stored != offered
            {
                return Err(Error::ModelMismatch {
                    stored: stored.to_string(),
                    offered: offered.to_string(),
                });
            }
            return Ok((Some(vector), Some(offered), vec![]));
        }
        if stored.is_some_and(ModelRecord::is_caller) {
            return Ok((None, None, vec![]));
        }
        let Some(embedder) = self.store.embedder()? else {
            let degraded = stored.map(|_| "no vector: the store's embedding model is not loaded".to_owned());
            return Ok((None, None, degraded.into_iter().collect()));
        };
        match embed(embedder.as_ref(), content) {
            Ok(Some(vector)) => Ok((Some(vector), Some(model_of(embedder.as_ref())), vec![])),
            Ok(None) => Ok((None, None, vec![])),
            Err(error) => Ok((None, None, vec![format!("no vector: {error}")])),
        }
    }

    /// The vector of a question, of whatever length, and what could not be done.
    pub(crate) fn embed_query(
        &self,
        query: Option<&str>,
        given: Option<&[f32]>,
    ) -> Result<(Option<Vec<f32>>, Vec<String>)> {
        let stored = self.store.model()?;
        if let Some(vector) = given {
            check_vector(vector, &self.store.inner.limits)?;
            if let Some(stored) = stored
                && (stored.dimension != vector.len() || !stored.is_caller())
            {
                let offered = ModelRecord { id: ModelRecord::CALLER.into(), dimension: vector.len() };
                return Err(Error::ModelMismatch {
                    stored: stored.to_string(),
                    offered: offered.to_string(),
                });
            }
            return Ok((Some(vector.to_vec()), vec![]));
        }
        let Some(query) = query else { return Ok((None, vec![])) };
        match (stored, self.store.embedder()?) {
            (Some(model), _) if model.is_caller() => Ok((
                None,
                vec![
                    "this store holds caller-supplied vectors: without a query vector only text was searched"
                        .into(),
                ],
            )),
            (Some(_), None) => {
                Ok((None, vec!["the store's embedding model is not loaded: only text was searched".into()]))
            }
            (None, None) => Ok((None, vec![])),
            // Also before there is any vector: what a tenant gets must not depend on
            // whether another one has written.
            (_, Some(embedder)) => match embed_query(embedder.as_ref(), query) {
                Ok(vector) => Ok((vector, vec![])),
                Err(error) => Ok((None, vec![format!("only text was searched: {error}")])),
            },
        }
    }

    pub(crate) fn recall_settings(&self) -> &Arc<recall::Settings> {
        &self.store.inner.recall
    }
}

/// Who asks and why; what is done is added by who does it.
pub(super) fn reason(actor: Option<String>, why: Option<String>) -> Reason {
    Reason { action: String::new(), actor, why }
}
