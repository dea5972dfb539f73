//! The rules of `remember`.

use std::sync::Arc;

use crate::card::{Card, CardId, Limits, LinkKind, Reason, STATED_CONFIDENCE, Source, State};
use crate::forget::erase;
use crate::forget::rules::LifeRules;
use crate::index::cache::SlotRef;
use crate::index::partition::Prepared;
use crate::judge::{self, Analysis, Relation};
use crate::learn::analyses::Analyses;
use crate::learn::compare::{Findings, are_about_the_same};
use crate::learn::{
    Reading, by_person, is_held, link, mention, register, register_content, relation, succeed, supersede,
    telling_lookups,
};
use crate::store::{Batch, EncodedCard, Lookup, ModelRecord, TenantId};
use crate::time::Timestamp;
use crate::verbs::{Affected, Outcome, Remembered};
use crate::{Error, Result};

/// How many earlier cards a new one is linked with as contradicting it, the latest ones.
const MOST_CONFLICTS: usize = 16;

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
    /// Its record, should it become a card as it is.
    pub(crate) encoded: Option<EncodedCard>,
    pub(crate) vector: Option<Vec<f32>>,
    /// The model that made the vector.
    pub(crate) model: Option<ModelRecord>,
    pub(crate) idempotency_key: Option<String>,
    /// False for what contradicts nothing: a turn of a conversation, which is an event, and a
    /// relation, of which there may be many.
    pub(crate) statement: bool,
    /// True for a relation told without a score: the one that is known stays.
    pub(crate) keeps_score: bool,
    /// True when the caller said when it happened or since when it is true.
    pub(crate) dated: bool,
    /// The partition in which statements about the same thing are looked up; `None` for a
    /// tenant that is not there yet.
    pub(crate) partition: Option<SlotRef>,
    /// What was read of statements that are held.
    pub(crate) analyses: Arc<Analyses>,
    /// Bounds that a card keeps however often it is told.
    pub(crate) limits: Limits,
    /// Rules of age: what is over by them is not held.
    pub(crate) rules: Arc<LifeRules>,
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
    /// A new card.
    Create(Findings),
}

impl Draft {
    /// Carries the request out inside the writer's transaction.
    pub(crate) fn run(self, batch: &mut Batch<'_>) -> Result<Remembered> {
        let now = self.now;
        if let Some(model) = &self.model {
            batch.check_model(model)?;
        }
        let verdict = match batch.tenant(&self.tenant)? {
            Some(tenant) => {
                for link in &self.card.links {
                    if batch.tables().card(tenant, link.to)?.is_none() {
                        return Err(Error::NotFound { what: format!("card {}", link.to) });
                    }
                }
                self.decide(batch, tenant)?
            }
            None if self.card.links.is_empty() => Verdict::Create(Findings::default()),
            None => return Err(Error::NotFound { what: format!("card {}", self.card.links[0].to) }),
        };
        erase::admit_to(batch, &self.tenant, &self.card, self.dated)?;
        if let (Verdict::Create(_), Some(tenant)) = (&verdict, batch.tenant(&self.tenant)?) {
            erase::admit(batch, tenant, &self.card, self.dated)?;
        }
        // Everything is decided; from here on only a broken store can fail.
        if let Some(model) = &self.model {
            batch.require_model(model)?;
        }
        let tenant = batch.ensure_tenant(&self.tenant, self.now)?;
        let key = self.idempotency_key.clone();
        let before = batch.sequence(tenant)?;
        let mut answer = match verdict {
            Verdict::Done(card) => self.known(batch, tenant, card)?,
            Verdict::Duplicate(card) => self.count(batch, tenant, card)?,
            Verdict::Merge(card) if self.card.edge().is_some() => self.tell_edge(batch, tenant, card)?,
            Verdict::Merge(card) => self.merge(batch, tenant, card)?,
            Verdict::Create(findings) => self.create(batch, tenant, findings)?,
        };
        if let Some(key) = key
            && batch.lookup(tenant, &Lookup::Idempotency(&key))?.is_none()
        {
            if answer.seq == before {
                batch.log_lookups(tenant, answer.id, now)?;
            }
            batch.set_lookup(tenant, &Lookup::Idempotency(&key), answer.id)?;
            answer.seq = batch.sequence(tenant)?;
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
            && let Some(done) = card(batch.lookup(tenant, &Lookup::Idempotency(key))?)?
        {
            return Ok(Verdict::Done(done));
        }
        if self.card.edge().is_some() {
            let findings = self.find_edge(batch, tenant)?;
            return Ok(self.verdict(findings));
        }
        let mut findings = Findings::default();
        let hash = self.reading.hash(&self.card.content);
        let follow_up = self.follow_up(batch, tenant)?;
        for lookup in telling_lookups(&self.card, hash) {
            // The same "now it is red" after another statement is about something else.
            if follow_up.is_none()
                && let Some(known) = card(batch.lookup(tenant, &lookup)?)?
                && known.polarity == self.card.polarity
                && judge::normalized_hash(&known.content) == hash
                && self.is_compatible(&known)
                && are_about_the_same(&self.card, &known)
            {
                if !is_held(&known, &self.rules, self.now) {
                    // What was replaced since, told again with its date, is the same telling.
                    let replaced =
                        known.state == State::Superseded && !self.rules.is_expired(&known, self.now);
                    if self.dated && replaced && known.occurred_at == self.card.occurred_at {
                        return Ok(Verdict::Done(known));
                    }
                    self.refuse_forgotten(&known)?;
                    continue;
                }
                let claims_more = self.card.fact.is_some() && known.fact.is_none()
                    || self.card.merge_key.is_some() && known.merge_key.is_none();
                // Other spacing, case or form is another wording, which must come back as given.
                if !claims_more && known.content == self.card.content {
                    return Ok(Verdict::Duplicate(known));
                }
                findings.merge = Some(known);
                break;
            }
        }
        if let Some(key) = &self.card.merge_key
            && let Some(holder) = card(batch.lookup(tenant, &Lookup::MergeKey(key))?)?
        {
            for known in
                self.claimants(batch, tenant, holder, |known| known.merge_key.as_ref() == Some(key))?
            {
                if findings.merges(&known) {
                    continue;
                }
                match relation(&known, self.analysis(), self.card.polarity) {
                    Relation::Identical | Relation::Same
                        if findings.merge.is_none() && self.is_compatible(&known) =>
                    {
                        findings.merge = Some(known);
                    }
                    relation => findings.replace(known, relation == Relation::Opposite),
                }
            }
        }
        if let Some(fact) = self.card.fact.as_ref().filter(|_| !self.card.is_relation())
            && let Some(holder) = card(batch.lookup(tenant, &Lookup::Fact(fact))?)?
        {
            let same_fact = |known: &Card| {
                let held = known.fact.as_ref().filter(|_| !known.is_relation());
                held.is_some_and(|held| Lookup::Fact(held).key() == Lookup::Fact(fact).key())
            };
            for known in self.claimants(batch, tenant, holder, same_fact)? {
                if findings.merges(&known) {
                    continue;
                }
                let same_value = self.is_compatible(&known);
                match same_value && known.polarity == self.card.polarity {
                    true if findings.merge.is_none() => findings.merge = Some(known),
                    true => {}
                    false => findings.replace(known, false),
                }
            }
        }
        if let Some((known, resolved)) = follow_up {
            findings.resolved = resolved;
            findings.replace(known, false);
        }
        self.compare_statements(batch, tenant, &mut findings)?;
        // Of two that cannot both hold the later in time stays, whichever was told first.
        if self.dated {
            let mine = self.card.start();
            let (later, replaces): (Vec<_>, Vec<_>) = findings
                .replaces
                .into_iter()
                .partition(|(old, _)| mine < old.start() && old.start() <= self.now);
            findings.replaces = replaces;
            findings.outlived_by = later.into_iter().map(|(later, _)| later).collect();
            findings.outlived_by.sort_by_key(|later| (later.start(), later.id));
        }
        Ok(self.verdict(findings))
    }

    /// Refuses what somebody wanted forgotten and what is only read again: the same turn of the same
    /// conversation. A statement by itself may be meant anew.
    fn refuse_forgotten(&self, known: &Card) -> Result<()> {
        let unwanted = known.state == State::Forgotten && known.reason.action == "forgotten";
        let turn = |source: &Source| source.session.clone().zip(source.turn);
        let own = self.card.source().and_then(turn);
        let same_turn = own.is_some() && known.sources.iter().any(|source| turn(source) == own);
        match unwanted && same_turn {
            true => Err(Error::Erased { id: known.id.to_string(), at: known.updated_at.to_string() }),
            false => Ok(()),
        }
    }

    /// What follows from what was found.
    fn verdict(&self, mut findings: Findings) -> Verdict {
        // A weak card does not overturn a stated one: both stay, the later ranks first.
        if self.card.confidence < STATED_CONFIDENCE {
            let (strong, weak): (Vec<_>, Vec<_>) =
                findings.replaces.into_iter().partition(|(old, _)| old.confidence >= STATED_CONFIDENCE);
            findings.contradicts.extend(strong.into_iter().map(|(old, _)| old));
            findings.replaces = weak;
        }
        match findings.merge.take() {
            Some(_) if !findings.outlived_by.is_empty() => Verdict::Create(findings),
            Some(known) if findings.replaces.is_empty() || self.card.confidence < STATED_CONFIDENCE => {
                Verdict::Merge(known)
            }
            // The new card says what this one said, and more is replaced by it: one of the
            // two is enough.
            Some(known) => {
                findings.replace(known, false);
                Verdict::Create(findings)
            }
            None => Verdict::Create(findings),
        }
    }

    /// Answers a request that was carried out before; changes nothing.
    pub(super) fn known(self, batch: &mut Batch<'_>, tenant: TenantId, card: Card) -> Result<Remembered> {
        self.answer(batch, tenant, card.id, card.version, Outcome::Duplicate, vec![])
    }

    /// Counts one more mention of the very words.
    fn count(self, batch: &mut Batch<'_>, tenant: TenantId, mut card: Card) -> Result<Remembered> {
        // The same turn delivered again is the same mention.
        if self.card.source().is_some_and(|source| source.turn.is_some() && card.sources.contains(source)) {
            return self.known(batch, tenant, card);
        }
        let before = card.clone();
        let promoted = mention(&mut card, &self.card, self.now);
        self.take_over_expiry(&mut card);
        self.enrich(&mut card);
        let enriched = (&card.summary, &card.entities, &card.tags, &card.attributes, card.pinned)
            != (&before.summary, &before.entities, &before.tags, &before.attributes, before.pinned);
        let (card, change) = match (promoted, enriched) {
            (false, false) => (batch.touch(tenant, card, self.now)?, "mentioned"),
            (promoted, _) => {
                let change = if promoted { "promoted" } else { "merged" };
                card.reason = Reason { action: change.into(), ..self.card.reason.clone() };
                let card = batch.revise(tenant, card, None, self.now)?;
                register(batch, tenant, &card, &self.reading)?;
                (card, change)
            }
        };
        let affected = vec![Affected { id: card.id, change }];
        self.answer(batch, tenant, card.id, card.version, Outcome::Duplicate, affected)
    }

    /// Gives a card the newest wording of its statement.
    fn merge(mut self, batch: &mut Batch<'_>, tenant: TenantId, mut card: Card) -> Result<Remembered> {
        mention(&mut card, &self.card, self.now);
        self.take_over_expiry(&mut card);
        let keeps_wording = self.keeps_wording(&card);
        match keeps_wording {
            true => self.degraded.push("the card keeps its earlier wording".into()),
            false => card.content = self.card.content.clone(),
        }
        self.enrich(&mut card);
        if self.card.fact.is_some() {
            card.fact = self.card.fact.clone();
        }
        if self.card.merge_key.is_some() {
            card.merge_key = self.card.merge_key.clone();
        }
        card.importance = card.importance.max(self.card.importance);
        card.reason = Reason { action: "merged".into(), ..self.card.reason.clone() };
        let (vector, reading) = match keeps_wording {
            true => (None, &Reading::default()),
            false => (Some(self.vector.take()), &self.reading),
        };
        let card = batch.revise(tenant, card, vector, self.now)?;
        register(batch, tenant, &card, reading)?;
        let affected = vec![Affected { id: card.id, change: "merged" }];
        self.answer(batch, tenant, card.id, card.version, Outcome::Merged, affected)
    }

    /// True where the newest wording would, without its vector, be found less well than what
    /// it replaces.
    pub(super) fn keeps_wording(&self, card: &Card) -> bool {
        self.vector.is_none() && !self.degraded.is_empty() && card.vector_version > 0
    }

    fn create(mut self, batch: &mut Batch<'_>, tenant: TenantId, findings: Findings) -> Result<Remembered> {
        let Findings { replaces, outlived_by, mut contradicts, resolved, .. } = findings;
        // Readings of one thing contradict each other without end: each is linked with the last ones
        // before it, so that neither cards nor versions grow with how many there are.
        contradicts.sort_by_key(|old| std::cmp::Reverse((old.recorded_at, old.id)));
        contradicts.truncate(MOST_CONFLICTS);
        let mut card = self.card.clone();
        if !replaces.is_empty() || !outlived_by.is_empty() || !contradicts.is_empty() {
            self.encoded = None;
        }
        if card.summary.is_none() && resolved.is_some() {
            card.summary = resolved;
            // It was read without the summary.
            (self.prepared, self.encoded) = (None, None);
        }
        card.id = batch.next_id(tenant, &self.tenant, self.now)?;
        // What begins later leaves in place, until then, what has begun before it.
        let from = card.valid_from.filter(|from| *from > self.now);
        let stays = |old: &Card| from.filter(|from| old.start() < *from);
        for (old, _) in &replaces {
            let kind = if stays(old).is_some() { LinkKind::Succeeds } else { LinkKind::Supersedes };
            card.link(old.id, kind);
        }
        for old in &contradicts {
            card.link(old.id, LinkKind::ConflictsWith);
        }
        let outlived_by = outlived_by.into_iter().next();
        if let Some(next) = &outlived_by {
            card.state = State::Superseded;
            card.link(next.id, LinkKind::SupersededBy);
            card.valid_to = Some(card.valid_to.map_or(next.start(), |end| end.min(next.start())));
        }
        let own_links = self.card.links.clone();
        let payload = self.prepared.take().map(|prepared| prepared as _);
        let card = batch.create(tenant, card, self.vector.take(), self.encoded.take(), payload)?;
        match card.state {
            // The cards that hold today keep merge key and fact.
            State::Superseded => register_content(batch, tenant, &card, &self.reading)?,
            _ => register(batch, tenant, &card, &self.reading)?,
        }
        let mut affected = vec![Affected { id: card.id, change: "created" }];
        if let Some(later) = outlived_by {
            affected.push(link(batch, tenant, later, &card, LinkKind::Supersedes, self.now)?);
        }
        let superseded = !replaces.is_empty();
        for (old, overturned) in replaces {
            affected.push(match stays(&old) {
                Some(from) => succeed(batch, tenant, old, &card, from, self.now)?,
                None => supersede(batch, tenant, old, &card, overturned, self.now)?,
            });
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

    /// Adds what the request says beside its content.
    pub(super) fn enrich(&self, card: &mut Card) {
        if self.card.summary.is_some() {
            card.summary = self.card.summary.clone();
        }
        unite(&mut card.entities, &self.card.entities, self.limits.list_items);
        unite(&mut card.tags, &self.card.tags, self.limits.list_items);
        let mut attributes = card.attributes.clone();
        attributes.extend(self.card.attributes.clone());
        // The newest ones alone keep within the limit: they were checked.
        card.attributes = match self.limits.attributes(&attributes) {
            Ok(()) => attributes,
            Err(_) => self.card.attributes.clone(),
        };
        card.pinned |= self.card.pinned;
    }

    /// What the rules see in the content.
    pub(super) fn analysis(&self) -> &Analysis {
        self.reading.analysis(&self.card.content)
    }

    /// Of two expiries the later one holds, and none at all above all: what a person was
    /// promised to be remembered must not go with an earlier, shorter promise. An echo by
    /// the assistant promises nothing.
    pub(super) fn take_over_expiry(&self, card: &mut Card) {
        if by_person(&self.card) {
            card.expires_at = match (card.expires_at, self.card.expires_at) {
                (Some(held), Some(new)) => Some(held.max(new)),
                _ => None,
            };
        }
    }

    pub(super) fn answer(
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

/// Makes a validated card the first version of a new one.
pub(crate) fn begin(card: &mut Card) {
    card.version = 1;
    card.state = match card.confidence < STATED_CONFIDENCE {
        true => State::Candidate,
        false => State::Active,
    };
    card.mention_count = 1;
    card.reason.action = "created".into();
}

/// Adds what is missing, within the limit of a list.
fn unite(list: &mut Vec<String>, more: &[String], most: usize) {
    for item in more {
        if !list.contains(item) && list.len() < most {
            list.push(item.clone());
        }
    }
}
