//! Relations: cards of category [`category::RELATION`](crate::card::category::RELATION), whose
//! fact names two ends and what is between them.
//!
//! The same three names are the same card, whoever tells of them: what is told of its score
//! and its time is taken over. A time that has nothing in common with the one that is known is
//! another card under the same key, so that reads of the past find both; the later one holds.

use xxhash_rust::xxh3::Xxh3;

use crate::Result;
use crate::card::{Card, Fact, Reason, STATED_CONFIDENCE, State};
use crate::judge::name_key;
use crate::learn::compare::Findings;
use crate::learn::remember::Draft;
use crate::learn::{Reading, is_held, mention, register, register_content};
use crate::store::{Batch, Lookup, TenantId};
use crate::verbs::{Affected, Outcome, Remembered};

/// Name of the attribute that holds the score of a relation.
pub(crate) const SCORE: &str = "score";

/// The keys of the three names of a relation.
pub(crate) fn names(edge: &Fact) -> [String; 3] {
    [&edge.entity, &edge.attribute, &edge.value].map(|name| name_key(name))
}

/// What a relation says, in words.
pub(crate) fn sentence(edge: &Fact) -> String {
    format!("{} {} {}", edge.entity, edge.attribute, edge.value)
}

/// The merge key of a relation: a hash, as the three names may be longer than a merge key.
pub(crate) fn merge_key(edge: &Fact) -> String {
    let mut hasher = Xxh3::new();
    for name in names(edge) {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    format!("relation:{:032x}", hasher.digest128())
}

/// Gives a relation whose names were corrected the words, the key and the entities that were
/// made of them.
pub(crate) fn correct_names(base: &Card, card: &mut Card) {
    if base.fact == card.fact && base.category == card.category {
        return;
    }
    let (before, after) = (base.edge(), card.edge().cloned());
    let had_key = before.is_some_and(|edge| base.merge_key == Some(merge_key(edge)));
    if card.merge_key == base.merge_key && (had_key || base.merge_key.is_none()) {
        card.merge_key = after.as_ref().map(merge_key);
    }
    let (Some(before), Some(after)) = (before, after) else { return };
    if card.content == sentence(before) {
        card.content = sentence(&after);
    }
    if card.entities == [before.entity.as_str(), before.value.as_str()] {
        card.entities = vec![after.entity, after.value];
    }
}

/// How the time of a telling relates to that of a relation that is known.
enum Period {
    /// It begins when the known one is over.
    Later,
    /// It is over when the known one begins.
    Earlier,
    /// The two have something in common, or nothing says that they have not.
    Same,
}

impl Draft {
    fn period(&self, known: &Card) -> Period {
        let mine = &self.card;
        // Told without its time, it holds now.
        let holds = mine.valid_to.is_none_or(|end| end > self.now);
        let start = mine.valid_from.or(holds.then_some(mine.occurred_at));
        match (known.valid_to, start, mine.valid_to, known.valid_from) {
            (Some(end), Some(start), ..) if end <= start => Period::Later,
            (_, _, Some(end), Some(start)) if end <= start && start <= self.now => Period::Earlier,
            _ => Period::Same,
        }
    }

    /// What the cards under the merge key have to do with this relation.
    pub(super) fn find_edge(&self, batch: &Batch<'_>, tenant: TenantId) -> Result<Findings> {
        let mut findings = Findings::default();
        let Some(key) = &self.card.merge_key else { return Ok(findings) };
        let tables = batch.tables();
        let Some(holder) = batch.lookup(tenant, &Lookup::MergeKey(key))? else { return Ok(findings) };
        let Some(holder) = tables.card(tenant, holder)? else { return Ok(findings) };
        let mine = self.card.edge().map(names);
        let is_same = |known: &Card| {
            known.merge_key.as_ref() == Some(key)
                && known.polarity == self.card.polarity
                && known.edge().map(names) == mine
        };
        for known in self.claimants(batch, tenant, holder, |known| known.merge_key.as_ref() == Some(key))? {
            if !is_same(&known) {
                findings.replace(known, false);
                continue;
            }
            match self.period(&known) {
                Period::Later => findings.replace(known, false),
                Period::Earlier => findings.outlived_by.push(known),
                Period::Same if findings.merge.is_none() => findings.merge = Some(known),
                Period::Same => {}
            }
        }
        if findings.merge.is_some() {
            findings.outlived_by.clear();
        }
        // An earlier time may have been told before.
        let earlier: Vec<_> = findings.outlived_by.iter().flat_map(Card::supersedes).collect();
        for id in earlier {
            let told = |known: &Card| {
                is_same(known)
                    && known.state == State::Superseded
                    && !self.rules.is_expired(known, self.now)
                    && matches!(self.period(known), Period::Same)
            };
            if let Some(known) = tables.card(tenant, id)?.filter(told) {
                findings = Findings { merge: Some(known), ..Findings::default() };
                break;
            }
        }
        Ok(findings)
    }

    /// Takes over what is told of a relation that is known.
    pub(super) fn tell_edge(
        mut self,
        batch: &mut Batch<'_>,
        tenant: TenantId,
        mut card: Card,
    ) -> Result<Remembered> {
        let before = card.clone();
        // The same turn delivered again is the same mention.
        let again = self.card.source().is_some_and(|own| own.turn.is_some() && card.sources.contains(own));
        let promoted = !again && mention(&mut card, &self.card, self.now);
        self.take_over_expiry(&mut card);
        // What is weakly evidenced changes nothing of what was stated.
        if self.card.confidence >= STATED_CONFIDENCE || before.confidence < STATED_CONFIDENCE {
            self.retell(&mut card);
        }
        let counted = Card {
            mention_count: before.mention_count,
            sources: before.sources.clone(),
            confidence: before.confidence,
            provenance: before.provenance,
            expires_at: before.expires_at,
            ..card.clone()
        };
        if again && card == before {
            return self.known(batch, tenant, card);
        }
        if counted == before {
            let card = batch.touch(tenant, card, self.now)?;
            let affected = vec![Affected { id: card.id, change: "mentioned" }];
            return self.answer(batch, tenant, card.id, card.version, Outcome::Duplicate, affected);
        }
        let change = if promoted { "promoted" } else { "merged" };
        card.reason = Reason { action: change.into(), ..self.card.reason.clone() };
        let vector = (card.content != before.content).then(|| self.vector.take());
        let card = batch.revise(tenant, card, vector, self.now)?;
        let kept = Reading::default();
        let reading = if card.content == self.card.content { &self.reading } else { &kept };
        match is_held(&card, &self.rules, self.now) {
            true => register(batch, tenant, &card, reading)?,
            // The one that holds today keeps the key.
            false => register_content(batch, tenant, &card, reading)?,
        }
        let affected = vec![Affected { id: card.id, change }];
        self.answer(batch, tenant, card.id, card.version, Outcome::Merged, affected)
    }

    /// The newest wording, score and time; what is not told stays.
    fn retell(&mut self, card: &mut Card) {
        for known in &mut card.entities {
            let key = name_key(known);
            if let Some(newest) = self.card.entities.iter().find(|newest| name_key(newest) == key) {
                known.clone_from(newest);
            }
        }
        if self.keeps_score && card.attributes.contains_key(SCORE) {
            self.card.attributes.remove(SCORE);
        }
        self.enrich(card);
        if card.content != self.card.content && self.keeps_wording(card) {
            self.degraded.push("the card keeps its earlier wording".into());
        } else {
            card.content.clone_from(&self.card.content);
            card.fact.clone_from(&self.card.fact);
        }
        card.importance = card.importance.max(self.card.importance);
        card.valid_from = self.card.valid_from.or(card.valid_from);
        card.valid_to = self.card.valid_to.or(card.valid_to);
        // Of two ends that do not fit together the one that is told holds.
        if let (Some(from), Some(to)) = (card.valid_from, card.valid_to)
            && from >= to
        {
            match self.card.valid_from {
                None => card.valid_from = None,
                Some(_) => card.valid_to = None,
            }
        }
    }
}
