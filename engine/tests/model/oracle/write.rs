//! What `remember` does: who is compared with whom, and what becomes of the cards.

use memcards::card::{
    Card, CardId, LinkKind, Polarity, Provenance, Reason, Role, STATED_CONFIDENCE, Source, State, Track,
};
use memcards::judge::{self, Relation};
use memcards::{Duration, Outcome, Remember, Timestamp};

use super::{
    Tenant, Told, Write, begins, cosine, fact_key, held, is_event, link, relate, same_value, statement,
    supersede, words,
};

/// A statement with another value.
fn resolve(before: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
    let (old, new) = (old?, new?);
    Some(match before.matches(old).count() {
        1 => before.replace(old, new),
        _ => format!("{before} → {new}"),
    })
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
        mentions: vec![],
        times: vec![],
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
        reinforced_at: None,
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
    /// The statement that a pointing one follows.
    fn follow_up(&self, new: &Card, now: Timestamp) -> Option<(Card, Option<String>)> {
        let analysis = judge::analyze(&new.content);
        if is_event(new) || !analysis.refers_back() {
            return None;
        }
        let session = new.source().and_then(|s| s.session.clone());
        let last = self.log.iter().rev().take(64).find(|line| line.stated_in.as_ref() == Some(&session))?;
        let known = self.current(last.card).filter(|known| Self::comparable(new, known, now))?;
        let before = judge::analyze(statement(known));
        let follows =
            judge::relation_to_previous(&before, &analysis) == Relation::ValueChanged { explicit: true };
        follows.then(|| (known.clone(), resolve(statement(known), before.value(), analysis.value())))
    }

    /// The held cards that claim something, by way of contradictions.
    fn claimants(&self, first: Card, claims: impl Fn(&Card) -> bool, now: Timestamp) -> Vec<Card> {
        let mut found = vec![first];
        let mut at = 0;
        while at < found.len() {
            for link in found[at].links.clone() {
                let new = found.iter().all(|card| card.id != link.to);
                if matches!(link.kind, LinkKind::ConflictsWith | LinkKind::Succeeds) && new {
                    found.extend(self.current(link.to).filter(|card| claims(card)).cloned());
                }
            }
            at += 1;
        }
        found.retain(|card| claims(card) && held(card, now));
        found
    }

    fn comparable(new: &Card, known: &Card, now: Timestamp) -> bool {
        let assistant = |card: &Card| card.source().and_then(|s| s.role) == Some(Role::Assistant);
        !is_event(known)
            && assistant(new) == assistant(known)
            && Self::about_the_same(new, known)
            && new.track == known.track
            && held(known, now)
    }

    fn may_merge(&self, new: &Card, vector: Option<&Vec<f32>>, known: &Card) -> bool {
        let near = match (vector, self.vector(known)) {
            (Some(a), Some(b)) => cosine(a, b) >= 0.7,
            _ => true,
        };
        known.category == new.category
            && Self::compatible(new, known)
            && near
            && matches!(relate(&self.cards[&known.id][0], new), Relation::Identical | Relation::Same)
    }

    /// True when `remember` is to refuse what somebody wanted forgotten and what is only read again.
    pub(crate) fn refuses(&self, request: &Remember, now: Timestamp) -> bool {
        let new = draft(request, now);
        let done = request.idempotency_key.as_ref().and_then(|key| self.idempotency.get(key));
        if done.is_some_and(|id| self.current(*id).is_some()) || self.follow_up(&new, now).is_some() {
            return false;
        }
        let dated = request.occurred_at.is_some() || request.valid_from.is_some();
        let turn = |source: &Source| source.session.clone().zip(source.turn);
        let own = new.source().and_then(turn);
        let mut places = words(&new);
        if is_event(&new) {
            places.truncate(1);
        }
        for known in places.iter().filter_map(|place| self.current(*self.words.get(place)?)) {
            let same = known.polarity == new.polarity
                && same_value(&known.content, &new.content)
                && Self::compatible(&new, known)
                && Self::about_the_same(&new, known);
            let again = dated
                && known.state == State::Superseded
                && !known.is_expired(now)
                && known.occurred_at == new.occurred_at;
            if same && (held(known, now) || again) {
                return false;
            }
            let same_turn = own.is_some() && known.sources.iter().any(|source| turn(source) == own);
            let unwanted = known.state == State::Forgotten && known.reason.action == "forgotten";
            if same && unwanted && same_turn {
                return true;
            }
        }
        false
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
        let at = |id: Option<&CardId>| id.and_then(|id| self.current(*id)).cloned();
        if let Some(done) = at(request.idempotency_key.as_ref().and_then(|key| self.idempotency.get(key))) {
            return told(Some(done.id), Outcome::Duplicate, vec![], vec![], false);
        }
        let mut merge: Option<Card> = None;
        let follow_up = self.follow_up(&new, now);
        let mut places = words(&new);
        if is_event(&new) {
            places.truncate(1);
        }
        let dated = request.occurred_at.is_some() || request.valid_from.is_some();
        // What was replaced since, told again with its date, is the same telling.
        let told_again = |known: &Card| {
            dated
                && known.state == State::Superseded
                && !known.is_expired(now)
                && known.occurred_at == new.occurred_at
        };
        let same = |known: &Card| {
            (held(known, now) || told_again(known))
                && known.polarity == new.polarity
                && same_value(&known.content, &new.content)
                && Self::compatible(&new, known)
                && Self::about_the_same(&new, known)
        };
        let known = places.iter().filter_map(|place| at(self.words.get(place))).find(same);
        let known = known.filter(|_| follow_up.is_none());
        let claims_more = |known: &Card| {
            new.fact.is_some() && known.fact.is_none()
                || new.merge_key.is_some() && known.merge_key.is_none()
                || known.content != new.content
        };
        if let Some(known) = known.as_ref().filter(|known| !held(known, now)) {
            return told(Some(known.id), Outcome::Duplicate, vec![], vec![], false);
        }
        if let Some(known) = known.clone().filter(claims_more) {
            merge = Some(known);
        } else if let Some(known) = known {
            let again = new.source().is_some_and(|s| s.turn.is_some() && known.sources.contains(s));
            if again {
                return told(Some(known.id), Outcome::Duplicate, vec![], vec![], false);
            }
            let mut card = known;
            let promoted = mention(&mut card, &new, now);
            let before = card.clone();
            enrich(&mut card, &new);
            let change = match (promoted, card == before) {
                (true, _) => "promoted",
                (false, false) => "merged",
                (false, true) => "mentioned",
            };
            expire_later(&mut card, &new);
            let id = Some(card.id);
            let write = match change {
                "mentioned" => Write::Touch(Box::new(card)),
                _ => {
                    card.reason = Reason { action: change.into(), ..new.reason.clone() };
                    Write::Revise(Box::new(card))
                }
            };
            let register = change != "mentioned";
            return told(id, Outcome::Duplicate, vec![(id, change)], vec![write], register);
        }
        let mut replaces: Vec<(Card, bool)> = vec![];
        let mut contradicts: Vec<Card> = vec![];
        let add = |replaces: &mut Vec<(Card, bool)>, card: Card, overturned| {
            if replaces.iter().all(|(other, _)| other.id != card.id) {
                replaces.push((card, overturned));
            }
        };
        if let Some(first) = at(new.merge_key.as_ref().and_then(|key| self.merge_keys.get(key))) {
            for known in self.claimants(first, |card| card.merge_key == new.merge_key, now) {
                if merge.as_ref().is_some_and(|merge| merge.id == known.id) {
                    continue;
                }
                match relate(&known, &new) {
                    Relation::Identical | Relation::Same
                        if merge.is_none() && Self::compatible(&new, &known) =>
                    {
                        merge = Some(known);
                    }
                    relation => add(&mut replaces, known, relation == Relation::Opposite),
                }
            }
        }
        if let Some(first) = at(fact_key(&new).and_then(|key| self.facts.get(&key))) {
            for known in self.claimants(first, |card| fact_key(card) == fact_key(&new), now) {
                if merge.as_ref().is_some_and(|merge| merge.id == known.id) {
                    continue;
                }
                match Self::compatible(&new, &known) && known.polarity == new.polarity {
                    true if merge.is_none() => merge = Some(known),
                    true => {}
                    false => add(&mut replaces, known, false),
                }
            }
        }
        let mut new = new;
        if let Some((known, resolved)) = follow_up {
            new.summary = new.summary.or(resolved);
            add(&mut replaces, known, false);
        }
        if !is_event(&new) {
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
        // Of two that cannot both hold the later in time stays, whichever was told first.
        let (mut outlived_by, mut replaces): (Vec<_>, Vec<_>) = replaces
            .into_iter()
            .partition(|(old, _)| dated && begins(&new) < begins(old) && begins(old) <= now);
        outlived_by.sort_by_key(|(later, _)| (begins(later), later.id));
        let outlived_by = outlived_by.into_iter().next().map(|(later, _)| later);
        let merge = merge.filter(|_| outlived_by.is_none());
        if new.confidence < STATED_CONFIDENCE {
            let (strong, weak): (Vec<_>, Vec<_>) =
                replaces.into_iter().partition(|(old, _)| old.confidence >= STATED_CONFIDENCE);
            contradicts.extend(strong.into_iter().map(|(old, _)| old));
            replaces = weak;
        }
        let weak = new.confidence < STATED_CONFIDENCE;
        if let Some(known) = merge.clone().filter(|_| replaces.is_empty() || weak) {
            let mut card = known;
            mention(&mut card, &new, now);
            expire_later(&mut card, &new);
            card.content = new.content.clone();
            enrich(&mut card, &new);
            card.summary = request.summary.clone().or(card.summary);
            card.fact = new.fact.clone().or(card.fact);
            card.merge_key = new.merge_key.clone().or(card.merge_key);
            card.importance = card.importance.max(new.importance);
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
        if let Some(known) = merge {
            add(&mut replaces, known, false);
        }
        let outcome = match (replaces.is_empty(), new.state) {
            (false, _) => Outcome::Superseded,
            (true, State::Candidate) => Outcome::Candidate,
            _ => Outcome::Created,
        };
        // The latest ones are linked with, the last first.
        contradicts.sort_by_key(|old| std::cmp::Reverse((old.recorded_at, old.id)));
        contradicts.truncate(16);
        let mut card = new.clone();
        // What begins later leaves in place, until then, what has begun before it.
        let from = new.valid_from.filter(|from| *from > now);
        let stays = |old: &Card| from.filter(|from| begins(old) < *from);
        let old_links = replaces.iter().map(|(old, _)| match stays(old) {
            Some(_) => (old.id, LinkKind::Succeeds),
            None => (old.id, LinkKind::Supersedes),
        });
        let weak_links = contradicts.iter().map(|old| (old.id, LinkKind::ConflictsWith));
        for (to, kind) in old_links.chain(weak_links) {
            link(&mut card, to, kind);
        }
        card.vector_version = u32::from(vector.is_some());
        let mut outcome = outcome;
        if let Some(later) = &outlived_by {
            card.state = State::Superseded;
            link(&mut card, later.id, LinkKind::SupersededBy);
            card.valid_to = Some(card.valid_to.map_or(begins(later), |end| end.min(begins(later))));
            if outcome == Outcome::Candidate {
                outcome = Outcome::Created;
            }
        }
        let register = outlived_by.is_none();
        let mut affected = vec![(None, "created")];
        let mut writes = vec![Write::Create(Box::new(card))];
        if let Some(mut later) = outlived_by {
            affected.push((Some(later.id), "linked"));
            link(&mut later, CardId::default(), LinkKind::Supersedes);
            later.reason = Reason { action: "linked".into(), ..new.reason.clone() };
            writes.push(Write::Revise(Box::new(later)));
        }
        for (old, overturned) in replaces {
            if let Some(from) = stays(&old) {
                affected.push((Some(old.id), "succeeded"));
                let mut old = old;
                link(&mut old, CardId::default(), LinkKind::SucceededBy);
                old.valid_to = Some(old.valid_to.map_or(from, |end| end.min(from)));
                old.reason = Reason { action: "succeeded".into(), ..new.reason.clone() };
                writes.push(Write::Revise(Box::new(old)));
                continue;
            }
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

fn by_person(card: &Card) -> bool {
    card.source().and_then(|s| s.role).is_none_or(|role| role == Role::User)
}

/// What a repetition says beside the words.
fn enrich(card: &mut Card, new: &Card) {
    card.summary = new.summary.clone().or(card.summary.take());
    for (list, more) in [(&mut card.entities, &new.entities), (&mut card.tags, &new.tags)] {
        for item in more {
            if !list.contains(item) {
                list.push(item.clone());
            }
        }
    }
    card.attributes.extend(new.attributes.clone());
    card.pinned |= new.pinned;
}

/// The longer life of two, if a person speaks.
fn expire_later(card: &mut Card, new: &Card) {
    if by_person(new) {
        card.expires_at = match (card.expires_at, new.expires_at) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
    }
}

/// One mention more, and what it is worth as evidence.
fn mention(card: &mut Card, by: &Card, now: Timestamp) -> bool {
    let hour = Duration::from_hours(1);
    card.mention_count += 1;
    let first = card.recorded_at;
    let source = by.source().cloned().unwrap_or_default();
    // Nobody is named on either side: nothing to note.
    let nameless = card.sources.is_empty() && by.sources.is_empty();
    if card.sources.is_empty() {
        card.sources.push(Source::default());
    }
    let time = source.occurred_at.unwrap_or(now);
    let sessions: Vec<_> = card.sources.iter().filter_map(|s| s.session.as_ref()).collect();
    let elsewhere = !sessions.is_empty() && source.session.as_ref().is_some_and(|s| !sessions.contains(&s));
    let later = card.sources.iter().all(|s| s.occurred_at.unwrap_or(first).plus(hour) <= time);
    let moment = elsewhere || later;
    if nameless {
        card.sources.clear();
    } else if !card.sources.contains(&source) {
        card.sources.push(source);
    }
    let person = by_person(by);
    if person && now > card.reinforced_at.unwrap_or(card.recorded_at) {
        card.reinforced_at = Some(now);
    }
    let evidence = match by.provenance {
        Provenance::Confirmed => by.confidence,
        Provenance::Stated | Provenance::Inferred if person && moment => STATED_CONFIDENCE,
        Provenance::Stated if person => by.confidence.min(STATED_CONFIDENCE),
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
