//! What each write is to do: who is compared with whom, and what becomes of a card.

use memcards::card::{
    Card, CardId, LinkKind, Polarity, Provenance, Reason, Role, STATED_CONFIDENCE, Source, State, Track,
};
use memcards::judge::{self, Relation};
use memcards::{Duration, Outcome, Remember, Timestamp};

use super::{Tenant, Told, Write, fact_key, held, link, same_value, words};

fn relate(card: &Card, new: &Card) -> Relation {
    match judge::relation(&judge::analyze(&card.content), &judge::analyze(&new.content)) {
        Relation::Identical | Relation::Same if card.polarity != new.polarity => Relation::Opposite,
        Relation::Opposite if card.polarity != new.polarity => Relation::Different,
        other => other,
    }
}

/// The card that a request describes, before anything is compared.
pub(crate) fn draft(request: &Remember, now: Timestamp) -> Card {
    let turn = request.turn.is_some();
    let source = Source {
        session: request.session.clone(),
        turn: request.turn,
        role: request.role,
        speaker: request.speaker.clone(),
        occurred_at: request.occurred_at,
    };
    let provenance = request.provenance.unwrap_or(Provenance::Stated);
    let confidence = request.confidence.unwrap_or(provenance.confidence());
    Card {
        id: CardId::default(),
        version: 1,
        track: request.track.unwrap_or(if turn { Track::Episodic } else { Track::Semantic }),
        category: request
            .category
            .clone()
            .unwrap_or_else(|| if turn { "conversation" } else { "knowledge" }.to_owned()),
        content: request.content.clone(),
        summary: request.summary.clone(),
        fact: request.fact.clone(),
        polarity: request.polarity.unwrap_or(Polarity::Affirmed),
        entities: request.entities.clone(),
        tags: request.tags.clone(),
        attributes: request.attributes.clone(),
        merge_key: request.merge_key.clone(),
        links: vec![],
        provenance,
        sources: if source == Source::default() { vec![] } else { vec![source] },
        extractor: request.extractor.clone(),
        journal: None,
        occurred_at: request.occurred_at.unwrap_or(now),
        recorded_at: now,
        updated_at: now,
        last_accessed_at: None,
        access_count: 0,
        mention_count: 1,
        expires_at: request.ttl.map(|ttl| now.plus(ttl)).or(request.expires_at),
        valid_from: request.valid_from,
        valid_to: request.valid_to,
        importance: request.importance.unwrap_or(0.5),
        confidence,
        pinned: request.pinned,
        state: if confidence < STATED_CONFIDENCE { State::Candidate } else { State::Active },
        state_before: None,
        vector_version: 0,
        reason: Reason {
            action: "created".into(),
            actor: request.actor.clone(),
            why: request.reason.clone(),
        },
    }
}

impl Tenant {
    fn compatible(new: &Card, known: &Card) -> bool {
        (new.merge_key.is_none() || new.merge_key == known.merge_key)
            && match (&new.fact, &known.fact) {
                (Some(a), Some(b)) => same_value(&a.value, &b.value),
                _ => true,
            }
    }

    fn comparable(new: &Card, known: &Card, now: Timestamp) -> bool {
        let assistant = |card: &Card| card.source().and_then(|s| s.role) == Some(Role::Assistant);
        let name = |card: &Card| card.source().and_then(|s| s.speaker.clone());
        let names_fit = match (name(new), name(known)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        known.source().is_none_or(|s| s.turn.is_none())
            && assistant(new) == assistant(known)
            && names_fit
            && new.track == known.track
            && held(known, now)
    }

    fn may_merge(&self, new: &Card, vector: Option<&Vec<f32>>, known: &Card) -> bool {
        let near = match (vector, self.vector(known)) {
            (Some(a), Some(b)) => cosine(a, b) >= 0.9,
            _ => true,
        };
        known.category == new.category
            && Self::compatible(new, known)
            && near
            && matches!(relate(&self.cards[&known.id][0], new), Relation::Identical | Relation::Same)
    }
    /// What `remember` is to do.
    pub(crate) fn remember(&self, request: &Remember, vector: Option<&Vec<f32>>, now: Timestamp) -> Told {
        let new = draft(request, now);
        let told = |id, outcome, affected, writes, register| Told {
            id,
            outcome: Some(outcome),
            affected,
            writes,
            register,
            key: request.idempotency_key.clone(),
        };
        let dated = request.occurred_at.is_some() || request.valid_from.is_some();
        let at = |id: Option<&CardId>| id.and_then(|id| self.current(*id)).cloned();
        if let Some(done) = at(request.idempotency_key.as_ref().and_then(|key| self.idempotency.get(key))) {
            return told(Some(done.id), Outcome::Duplicate, vec![], vec![], false);
        }
        if let Some(known) = at(self.words.get(&words(&new)))
            && known.polarity == new.polarity
            && same_value(&known.content, &new.content)
            && Self::compatible(&new, &known)
            && (held(&known, now)
                || dated && known.state == State::Superseded && known.occurred_at == new.occurred_at)
        {
            if !held(&known, now) {
                return told(Some(known.id), Outcome::Duplicate, vec![], vec![], false);
            }
            let again = new.source().is_some_and(|s| s.turn.is_some() && known.sources.contains(s));
            if again {
                return told(Some(known.id), Outcome::Duplicate, vec![], vec![], false);
            }
            let mut card = known;
            let promoted = mention(&mut card, &new, now);
            card.expires_at = new.expires_at.or(card.expires_at);
            let (id, change) = (Some(card.id), if promoted { "promoted" } else { "mentioned" });
            let write = match promoted {
                true => {
                    card.reason = Reason { action: "promoted".into(), ..new.reason.clone() };
                    Write::Revise(Box::new(card))
                }
                false => Write::Touch(Box::new(card)),
            };
            return told(id, Outcome::Duplicate, vec![(id, change)], vec![write], false);
        }
        let mut replaces: Vec<(Card, bool)> = vec![];
        let mut contradicts: Vec<Card> = vec![];
        let mut merge: Option<Card> = None;
        let add = |replaces: &mut Vec<(Card, bool)>, card: Card, overturned| {
            if replaces.iter().all(|(other, _)| other.id != card.id) {
                replaces.push((card, overturned));
            }
        };
        if let Some(known) = at(new.merge_key.as_ref().and_then(|key| self.merge_keys.get(key)))
            && held(&known, now)
            && known.merge_key == new.merge_key
        {
            match relate(&known, &new) {
                Relation::Identical | Relation::Same if Self::compatible(&new, &known) => merge = Some(known),
                relation => replaces.push((known, relation == Relation::Opposite)),
            }
        }
        if let Some(known) = at(fact_key(&new).and_then(|key| self.facts.get(&key)))
            && held(&known, now)
            && let (Some(mine), Some(theirs)) = (&new.fact, &known.fact)
        {
            match same_value(&mine.value, &theirs.value) && known.polarity == new.polarity {
                true if merge.is_none() && Self::compatible(&new, &known) => merge = Some(known),
                true => {}
                false => add(&mut replaces, known, false),
            }
        }
        if request.turn.is_none() {
            let analysis = judge::analyze(&new.content);
            if analysis.refers_back()
                && let Some(known) = self.log.last().and_then(|id| self.current(*id))
                && Self::comparable(&new, known, now)
                && known.source().and_then(|s| s.session.clone())
                    == new.source().and_then(|s| s.session.clone())
                && judge::relation_to_previous(&judge::analyze(&known.content), &analysis)
                    == (Relation::ValueChanged { explicit: true })
            {
                add(&mut replaces, known.clone(), false);
            }
            for versions in self.cards.values().rev() {
                let known = &versions[versions.len() - 1];
                if !Self::comparable(&new, known, now) {
                    continue;
                }
                match relate(known, &new) {
                    Relation::Identical | Relation::Same
                        if merge.is_none() && self.may_merge(&new, vector, known) =>
                    {
                        merge = Some(known.clone());
                    }
                    Relation::Opposite => add(&mut replaces, known.clone(), true),
                    Relation::ValueChanged { explicit: true } => add(&mut replaces, known.clone(), false),
                    Relation::ValueChanged { explicit: false }
                        if replaces.iter().all(|(other, _)| other.id != known.id) =>
                    {
                        contradicts.push(known.clone());
                    }
                    _ => {}
                }
            }
        }
        // Of two that cannot both hold, the later in time stays, whichever was told first.
        let (mut outlived_by, mut replaces): (Vec<_>, Vec<_>) = replaces
            .into_iter()
            .partition(|(old, _)| dated && begins(&new) < begins(old) && begins(old) <= now);
        outlived_by.sort_by_key(|(later, _)| (begins(later), later.id));
        if new.confidence < STATED_CONFIDENCE {
            let (strong, weak): (Vec<_>, Vec<_>) =
                replaces.into_iter().partition(|(old, _)| old.confidence >= STATED_CONFIDENCE);
            contradicts.extend(strong.into_iter().map(|(old, _)| old));
            replaces = weak;
        }
        if let Some(known) = merge.filter(|_| replaces.is_empty() && outlived_by.is_empty()) {
            let mut card = known;
            mention(&mut card, &new, now);
            card.expires_at = new.expires_at.or(card.expires_at);
            card.content = new.content.clone();
            card.summary = new.summary.clone().or(card.summary);
            card.fact = new.fact.clone().or(card.fact);
            card.merge_key = new.merge_key.clone().or(card.merge_key);
            for (list, more) in [(&mut card.entities, &new.entities), (&mut card.tags, &new.tags)] {
                for item in more {
                    if !list.contains(item) {
                        list.push(item.clone());
                    }
                }
            }
            card.attributes.extend(new.attributes.clone());
            card.importance = card.importance.max(new.importance);
            card.pinned |= new.pinned;
            card.reason = Reason { action: "merged".into(), ..new.reason.clone() };
            card.vector_version = if vector.is_some() { card.version + 1 } else { 0 };
            let id = Some(card.id);
            return told(
                id,
                Outcome::Merged,
                vec![(id, "merged")],
                vec![Write::Revise(Box::new(card))],
                true,
            );
        }
        let outcome = match (replaces.is_empty(), new.state) {
            (false, _) => Outcome::Superseded,
            (true, State::Candidate) => Outcome::Candidate,
            _ => Outcome::Created,
        };
        let mut card = new.clone();
        let old_links = replaces.iter().map(|(old, _)| (old.id, LinkKind::Supersedes));
        let weak_links = contradicts.iter().map(|old| (old.id, LinkKind::ConflictsWith));
        for (to, kind) in old_links.chain(weak_links) {
            link(&mut card, to, kind);
        }
        card.vector_version = u32::from(vector.is_some());
        let outlived = outlived_by.into_iter().next().map(|(later, _)| later);
        let mut outcome = outcome;
        if let Some(later) = &outlived {
            card.state = State::Superseded;
            link(&mut card, later.id, LinkKind::SupersededBy);
            card.valid_to = Some(card.valid_to.map_or(begins(later), |end| end.min(begins(later))));
            if outcome == Outcome::Candidate {
                outcome = Outcome::Created;
            }
        }
        let register = outlived.is_none();
        let mut affected = vec![(None, "created")];
        let mut writes = vec![Write::Create(Box::new(card))];
        if let Some(mut later) = outlived {
            affected.push((Some(later.id), "linked"));
            link(&mut later, CardId::default(), LinkKind::Supersedes);
            later.reason = Reason { action: "linked".into(), ..new.reason.clone() };
            writes.push(Write::Revise(Box::new(later)));
        }
        for (old, overturned) in replaces {
            affected.push((Some(old.id), "superseded"));
            writes.push(Write::Revise(Box::new(supersede(old, &new, overturned))));
        }
        for mut old in contradicts {
            affected.push((Some(old.id), "linked"));
            link(&mut old, CardId::default(), LinkKind::ConflictsWith);
            old.reason = Reason { action: "linked".into(), ..new.reason.clone() };
            writes.push(Write::Revise(Box::new(old)));
        }
        told(None, outcome, affected, writes, register)
    }
}

fn begins(card: &Card) -> Timestamp {
    card.valid_from.unwrap_or(card.occurred_at)
}

pub(super) fn supersede(mut old: Card, new: &Card, overturned: bool) -> Card {
    old.state = State::Superseded;
    link(&mut old, CardId::default(), LinkKind::SupersededBy);
    let end = new.valid_from.unwrap_or(new.occurred_at);
    if old.valid_to.is_none_or(|held| held > end) {
        let begins = old.valid_from.unwrap_or(old.occurred_at);
        old.valid_to = if end > begins { Some(end) } else { None };
    }
    if overturned {
        old.provenance = Provenance::Overturned;
        old.confidence = Provenance::Overturned.confidence();
    }
    old.reason = Reason { action: "superseded".into(), ..new.reason.clone() };
    old
}

/// One mention more, and what it is worth as evidence.
fn mention(card: &mut Card, by: &Card, now: Timestamp) -> bool {
    let hour = Duration::from_hours(1);
    card.mention_count += 1;
    let moment = match by.source() {
        None => card.updated_at.plus(hour) <= now,
        Some(source) => {
            let time = source.occurred_at.unwrap_or(now);
            let elsewhere =
                source.session.is_some() && card.sources.iter().all(|s| s.session != source.session);
            let later =
                card.sources.iter().filter_map(|s| s.occurred_at).all(|known| known.plus(hour) <= time);
            if !card.sources.contains(source) {
                card.sources.push(source.clone());
            }
            elsewhere || later
        }
    };
    let person = by.source().and_then(|s| s.role).is_none_or(|role| role == Role::User);
    let evidence = match by.provenance {
        Provenance::Confirmed => by.confidence,
        Provenance::Stated if person => by.confidence.min(STATED_CONFIDENCE),
        Provenance::Inferred if person && moment => STATED_CONFIDENCE,
        _ => 0.0,
    };
    if evidence > card.confidence {
        card.confidence = evidence;
        card.provenance = by.provenance;
    }
    let promoted = card.state == State::Candidate && card.confidence >= STATED_CONFIDENCE;
    if promoted {
        card.state = State::Active;
    }
    promoted
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
