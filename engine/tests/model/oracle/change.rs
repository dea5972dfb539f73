//! What `correct`, `forget` and `restore` do to the cards that are named.

use memcards::card::{Card, CardId, LinkKind, Provenance, Reason, STATED_CONFIDENCE, Source, State};
use memcards::filter::Filter;
use memcards::{Correct, How, Include, Timestamp};

use super::{Looking, Tenant, Told, Write, fact_key, held, is_event, link, same_value, supersede, words};

/// What a forgetting is to do: forgotten, detached, skipped with why, and the writes.
type Forgetting = (Vec<CardId>, Vec<CardId>, Vec<(CardId, &'static str)>, Told);
/// What a restoring is to do: restored, skipped, and the writes.
type Restoring = (Vec<CardId>, Vec<CardId>, Told);

impl Tenant {
    /// What `correct` is to do, or the code of its error.
    pub(crate) fn correct(
        &self,
        request: &Correct,
        vector: Option<&Vec<f32>>,
        now: Timestamp,
    ) -> Result<Told, &'static str> {
        let view = Looking { include: vec![Include::Superseded, Include::Candidates], ..Looking::default() };
        let base = self.shown(request.id, &view, now).ok_or("not_found")?;
        if request.version.is_some_and(|version| version != base.version) {
            return Err("conflict");
        }
        let mut card = base.clone();
        for field in &request.clear {
            match field.as_str() {
                "merge_key" => card.merge_key = None,
                "expires_at" => card.expires_at = None,
                _ => return Err("invalid_argument"),
            }
        }
        macro_rules! take {
            ($($field:ident),*) => { $(if let Some(value) = request.$field.clone() { card.$field = value; })* };
        }
        take!(content, tags, importance, polarity);
        card.summary = request.summary.clone().or(card.summary);
        card.fact = request.fact.clone().or(card.fact);
        card.merge_key = request.merge_key.clone().or(card.merge_key);
        card.expires_at = request.expires_at.or(card.expires_at);
        if card == *base && request.vector.is_none() {
            return Err("invalid_argument");
        }
        card.reason =
            Reason { actor: request.actor.clone(), why: request.reason.clone(), ..Reason::default() };
        let renewed = card.content != base.content || request.vector.is_some();
        if card.content == base.content && card.fact == base.fact && card.polarity == base.polarity {
            card.reason.action = "edited".into();
            if renewed {
                card.vector_version = if vector.is_some() { card.version + 1 } else { 0 };
            }
            return Ok(Told {
                id: Some(card.id),
                affected: vec![(Some(card.id), "edited")],
                // What is replaced must not take the place of what replaced it.
                register: held(&card, now),
                writes: vec![Write::Revise(Box::new(card))],
                ..Told::default()
            });
        }
        if base.state == State::Superseded {
            return Err("conflict");
        }
        card.occurred_at = now;
        card.valid_to = None;
        card.provenance = Provenance::Stated;
        card.confidence = card.confidence.max(STATED_CONFIDENCE);
        card.state = State::Active;
        card.sources = vec![];
        if card.summary == base.summary {
            card.summary = None;
        }
        let (mine, theirs) = match request.how {
            How::Negation => (LinkKind::Supersedes, LinkKind::SupersededBy),
            How::Scope => (LinkKind::Narrows, LinkKind::NarrowedBy),
            How::Ambiguous => (LinkKind::ConflictsWith, LinkKind::ConflictsWith),
        };
        let has_vector = if renewed { vector.is_some() } else { base.vector_version > 0 };
        card = Card {
            id: CardId::default(),
            version: 1,
            recorded_at: now,
            updated_at: now,
            access_count: 0,
            mention_count: 1,
            last_accessed_at: None,
            reinforced_at: None,
            links: vec![],
            vector_version: u32::from(has_vector),
            ..card
        };
        link(&mut card, base.id, mine);
        card.reason.action = "corrected".into();
        let (old, change) = match request.how {
            How::Negation => (supersede(base.clone(), &card, true), "superseded"),
            how => {
                let mut old = base.clone();
                link(&mut old, CardId::default(), theirs);
                old.reason = Reason { action: "linked".into(), ..card.reason.clone() };
                (old, if how == How::Scope { "narrowed" } else { "linked" })
            }
        };
        Ok(Told {
            affected: vec![(None, "created"), (Some(old.id), change)],
            writes: vec![Write::Create(Box::new(card)), Write::Revise(Box::new(old))],
            register: true,
            ..Told::default()
        })
    }

    /// What a forgetting is to do, or the code of its error.
    pub(crate) fn forget(
        &self,
        ids: &[CardId],
        filter: Option<&Filter>,
        reason: &Reason,
    ) -> Result<Forgetting, &'static str> {
        let mut chosen: Vec<CardId> = vec![];
        match filter {
            Some(filter) => {
                let view = Looking {
                    include: vec![Include::Superseded, Include::Candidates],
                    any_time: true,
                    ..Looking::default()
                };
                // Also those whose time is over.
                chosen.extend(self.select(&view, Some(filter), Timestamp::MIN).map(|card| card.id));
            }
            None => {
                for id in ids {
                    self.current(*id).ok_or("not_found")?;
                    if !chosen.contains(id) {
                        chosen.push(*id);
                    }
                }
            }
        }
        let (mut forgotten, mut detached, mut skipped) = (vec![], vec![], vec![]);
        let mut told = Told::default();
        for id in chosen {
            let mut card = self.cards[&id][self.cards[&id].len() - 1].clone();
            if card.state == State::Forgotten {
                skipped.push((id, "already_forgotten"));
                continue;
            }
            if let Some(filter) = filter {
                if card.pinned {
                    skipped.push((id, "pinned"));
                    continue;
                }
                let admitted = |source: &Source| {
                    filter.matches_card(&Card { sources: vec![source.clone()], ..card.clone() })
                };
                let kept: Vec<Source> = card.sources.iter().filter(|s| !admitted(s)).cloned().collect();
                if !kept.is_empty() {
                    card.sources = kept;
                    card.reason = Reason { action: "detached".into(), ..reason.clone() };
                    detached.push(id);
                    told.writes.push(Write::Revise(Box::new(card)));
                    continue;
                }
            }
            card.state_before = Some(card.state);
            card.state = State::Forgotten;
            card.reason = Reason { action: "forgotten".into(), ..reason.clone() };
            forgotten.push(id);
            told.writes.push(Write::Revise(Box::new(card)));
        }
        Ok((forgotten, detached, skipped, told))
    }

    /// What a restoring is to do, or the code of its error.
    pub(crate) fn restore(
        &self,
        ids: &[CardId],
        reason: &Reason,
        now: Timestamp,
    ) -> Result<Restoring, &'static str> {
        let (mut restored, mut skipped, mut told) = (vec![], vec![], Told::default());
        let mut seen = vec![];
        // As it is after the cards restored so far.
        let mut after = self.clone();
        for id in ids {
            self.current(*id).ok_or("not_found")?;
        }
        for id in ids {
            if seen.contains(id) {
                continue;
            }
            seen.push(*id);
            let mut card = self.cards[id][self.cards[id].len() - 1].clone();
            if card.state != State::Forgotten {
                skipped.push(*id);
                continue;
            }
            let wanted = if is_event(&card) { 1 } else { usize::MAX };
            let said_again = words(&card).iter().take(wanted).any(|place| {
                let other = after.words.get(place).filter(|other| *other != id);
                other.and_then(|other| after.current(*other)).is_some_and(|other| {
                    held(other, now)
                        && other.polarity == card.polarity
                        && same_value(&other.content, &card.content)
                        && Self::about_the_same(&card, other)
                })
            });
            let claimed = card.merge_key.as_ref().and_then(|key| after.merge_keys.get(key));
            let known = fact_key(&card).and_then(|key| after.facts.get(&key).copied());
            let replaced = matches!(card.state_before, Some(State::Active | State::Candidate))
                && [claimed.copied(), known]
                    .into_iter()
                    .flatten()
                    .filter(|other| other != id)
                    .any(|other| after.current(other).is_some_and(|other| held(other, now)));
            if said_again || replaced {
                skipped.push(*id);
                continue;
            }
            card.state = card.state_before.take().unwrap();
            if let Some(end) = card.expires_at.filter(|end| *end <= now) {
                let length = (end.as_micros() - card.recorded_at.as_micros()).max(86_400_000_000);
                card.expires_at = Some(now.plus(memcards::Duration::from_micros(length)));
            }
            if now > card.reinforced_at.unwrap_or(card.recorded_at) {
                card.reinforced_at = Some(now);
            }
            card.reason = Reason { action: "restored".into(), ..reason.clone() };
            restored.push(*id);
            let write = Write::Revise(Box::new(card.clone()));
            after.carry_out(Told { writes: vec![write], ..Told::default() }, None, None, now);
            told.writes.push(Write::Revise(Box::new(card)));
        }
        Ok((restored, skipped, told))
    }
}
