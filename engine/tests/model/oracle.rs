//! The model: one tenant's cards in plain maps, every rule as a scan.
//!
//! It asks the judge how two sentences relate and the filter what it admits; who is
//! compared with whom, what becomes of a card and what a read shows is written here anew.

use std::collections::{BTreeMap, HashMap};

use memcards::card::{
    Card, CardId, LinkKind, Polarity, Provenance, Reason, Role, STATED_CONFIDENCE, Source, State, Track,
};
use memcards::filter::Filter;
use memcards::judge::{self, Relation};
use memcards::{Correct, Duration, How, Include, Order, Outcome, Remember, Timestamp};

/// Where exact words are looked up: normalised text, track, category, and more of it.
type Words = (u128, Track, String, Detail);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Detail {
    Anybody,
    Turn(String, u32),
    Moment(Timestamp),
    Speaker(String),
}

/// A line of the log: the card, and the session in which something was stated, if it was.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    card: CardId,
    stated_in: Option<Option<String>>,
}

/// What a write is expected to answer; `None` stands for the identifier of a new card.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) id: Option<CardId>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) affected: Vec<(Option<CardId>, &'static str)>,
    /// Cards as they become, in the order in which they are logged.
    writes: Vec<Write>,
    register: bool,
    key: Option<String>,
}

#[derive(Debug)]
enum Write {
    Create(Box<Card>),
    Revise(Box<Card>),
    Touch(Box<Card>),
}

/// Which versions a read shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looking {
    pub(crate) include: Vec<Include>,
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) known_at: Option<Timestamp>,
}

/// One tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenant {
    /// All versions of each card, the current one last.
    pub(crate) cards: BTreeMap<CardId, Vec<Card>>,
    pub(crate) log: Vec<Line>,
    vectors: HashMap<(CardId, u32), Vec<f32>>,
    words: HashMap<Words, CardId>,
    merge_keys: HashMap<String, CardId>,
    facts: HashMap<(String, String), CardId>,
    idempotency: HashMap<String, CardId>,
}

fn held(card: &Card, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate) && !card.is_expired(now)
}

fn is_event(card: &Card) -> bool {
    card.track == Track::Episodic
        && card.source().is_some_and(|source| source.turn.is_some() || source.occurred_at.is_some())
}

/// The places of a card's words, the narrowest first.
fn words(card: &Card) -> Vec<Words> {
    let place = |detail| (judge::normalized_hash(&card.content), card.track, card.category.clone(), detail);
    let source = card.source().cloned().unwrap_or_default();
    match (is_event(card), source.turn, source.occurred_at, source.speaker) {
        (true, Some(turn), _, _) => vec![place(Detail::Turn(source.session.unwrap(), turn))],
        (true, None, Some(at), _) => vec![place(Detail::Moment(at)), place(Detail::Anybody)],
        (_, _, _, Some(speaker)) => vec![place(Detail::Speaker(speaker)), place(Detail::Anybody)],
        _ => vec![place(Detail::Anybody)],
    }
}

/// What a card states: a content that only points back does so with its summary.
fn statement(card: &Card) -> &str {
    match &card.summary {
        Some(summary) if judge::analyze(&card.content).refers_back() => summary,
        _ => &card.content,
    }
}

/// A statement with another value.
fn resolve(before: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
    let (old, new) = (old?, new?);
    Some(match before.matches(old).count() {
        1 => before.replace(old, new),
        _ => format!("{before} → {new}"),
    })
}

fn relate(card: &Card, new: &Card) -> Relation {
    match judge::relation(&judge::analyze(statement(card)), &judge::analyze(&new.content)) {
        Relation::Identical | Relation::Same if card.polarity != new.polarity => Relation::Opposite,
        Relation::Opposite if card.polarity != new.polarity => Relation::Different,
        other => other,
    }
}

fn same_value(a: &str, b: &str) -> bool {
    judge::normalized_hash(a) == judge::normalized_hash(b)
}

fn fact_key(card: &Card) -> Option<(String, String)> {
    let fact = card.fact.as_ref()?;
    Some((fact.entity.trim().to_lowercase(), fact.attribute.trim().to_lowercase()))
}

/// A forgotten card gives its key away; a restored one takes it if nobody has it.
fn place<K: std::hash::Hash + Eq>(held: &mut HashMap<K, CardId>, key: K, card: &Card) {
    if card.state == State::Forgotten {
        if held.get(&key) == Some(&card.id) {
            held.remove(&key);
        }
    } else if card.reason.action == "restored" {
        held.entry(key).or_insert(card.id);
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
    pub(crate) fn current(&self, id: CardId) -> Option<&Card> {
        self.cards.get(&id).and_then(|versions| versions.last())
    }

    fn vector(&self, card: &Card) -> Option<&Vec<f32>> {
        self.vectors.get(&(card.id, card.vector_version))
    }

    fn compatible(new: &Card, known: &Card) -> bool {
        (new.merge_key.is_none() || known.merge_key.is_none() || new.merge_key == known.merge_key)
            && match (&new.fact, &known.fact) {
                (Some(a), Some(b)) => fact_key(new) == fact_key(known) && same_value(&a.value, &b.value),
                _ => true,
            }
    }

    /// Nothing says that the two are of different people or things.
    fn about_the_same(new: &Card, known: &Card) -> bool {
        let name = |card: &Card| card.source().and_then(|s| s.speaker.clone());
        let names_fit = match (name(new), name(known)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let apart = !new.entities.is_empty()
            && !known.entities.is_empty()
            && new.entities.iter().all(|entity| !known.entities.contains(entity));
        names_fit && !apart
    }

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
                if link.kind == LinkKind::ConflictsWith && new {
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
            new.fact.is_some() && known.fact.is_none() || new.merge_key.is_some() && known.merge_key.is_none()
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
        let mut card = new.clone();
        let old_links = replaces.iter().map(|(old, _)| (old.id, LinkKind::Supersedes));
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

    /// What a forgetting is to do: forgotten, detached, skipped.
    #[allow(clippy::type_complexity)]
    pub(crate) fn forget(
        &self,
        ids: &[CardId],
        filter: Option<&Filter>,
        reason: &Reason,
        now: Timestamp,
    ) -> Result<(Vec<CardId>, Vec<CardId>, Vec<(CardId, &'static str)>, Told), &'static str> {
        let mut chosen: Vec<CardId> = vec![];
        match filter {
            Some(filter) => {
                let view =
                    Looking { include: vec![Include::Superseded, Include::Candidates], ..Looking::default() };
                chosen.extend(self.select(&view, Some(filter), now).map(|card| card.id));
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

    /// What a restoring is to do: restored, skipped.
    #[allow(clippy::type_complexity)]
    pub(crate) fn restore(
        &self,
        ids: &[CardId],
        reason: &Reason,
        now: Timestamp,
    ) -> Result<(Vec<CardId>, Vec<CardId>, Told), &'static str> {
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
            if said_again {
                skipped.push(*id);
                continue;
            }
            card.state = card.state_before.take().unwrap();
            card.reason = Reason { action: "restored".into(), ..reason.clone() };
            restored.push(*id);
            let write = Write::Revise(Box::new(card.clone()));
            after.carry_out(Told { writes: vec![write], ..Told::default() }, None, None, now);
            told.writes.push(Write::Revise(Box::new(card)));
        }
        Ok((restored, skipped, told))
    }

    /// Carries out what was told; `new` is the identifier that the store gave a new card.
    pub(crate) fn carry_out(
        &mut self,
        told: Told,
        new: Option<CardId>,
        vector: Option<&Vec<f32>>,
        now: Timestamp,
    ) {
        let Told { id, writes, register, key, .. } = told;
        let answered = id.or(new);
        let mut main = None;
        for write in writes {
            let touch = matches!(write, Write::Touch(_));
            let card = match write {
                Write::Create(mut card) => {
                    card.id = new.unwrap();
                    if card.vector_version > 0 {
                        // A correction that keeps the content keeps its vector.
                        let kept = card.links.first().and_then(|link| self.current(link.to));
                        let kept = kept.filter(|old| old.content == card.content);
                        let kept = kept.and_then(|old| self.vector(old)).cloned();
                        let vector = vector.cloned().or(kept).unwrap();
                        self.vectors.insert((card.id, 1), vector);
                    }
                    self.cards.insert(card.id, vec![(*card).clone()]);
                    card
                }
                Write::Revise(mut card) => {
                    let versions = self.cards.get_mut(&card.id).unwrap();
                    let present = &versions[versions.len() - 1];
                    card.version = present.version + 1;
                    card.updated_at = now.max(present.updated_at);
                    for link in &mut card.links {
                        if link.to == CardId::default() {
                            link.to = new.unwrap();
                        }
                    }
                    if card.vector_version == card.version {
                        self.vectors.insert((card.id, card.version), vector.unwrap().clone());
                    }
                    versions.push((*card).clone());
                    if let Some(key) = card.merge_key.clone() {
                        place(&mut self.merge_keys, key, &card);
                    }
                    if let Some(key) = fact_key(&card) {
                        place(&mut self.facts, key, &card);
                    }
                    if card.reason.action == "restored" {
                        for place in words(&card) {
                            self.words.insert(place, card.id);
                        }
                    }
                    card
                }
                Write::Touch(card) => {
                    *self.cards.get_mut(&card.id).unwrap().last_mut().unwrap() = (*card).clone();
                    card
                }
            };
            let said =
                touch || ["created", "merged", "promoted", "corrected"].contains(&&*card.reason.action);
            let stated_in = said.then(|| card.source().and_then(|source| source.session.clone()));
            self.log.push(Line { card: card.id, stated_in });
            main.get_or_insert(*card);
        }
        if let Some(card) =
            main.as_ref().filter(|card| !register && card.state == State::Superseded && card.version == 1)
        {
            for place in words(card) {
                self.words.insert(place, card.id);
            }
        }
        if let Some(card) = main.filter(|_| register) {
            for place in words(&card) {
                self.words.insert(place, card.id);
            }
            if let Some(key) = &card.merge_key {
                self.merge_keys.insert(key.clone(), card.id);
            }
            if let Some(key) = fact_key(&card) {
                self.facts.insert(key, card.id);
            }
        }
        if let (Some(key), Some(id)) = (key, answered) {
            self.idempotency.entry(key).or_insert(id);
        }
    }

    /// The version of a card that a view shows.
    pub(crate) fn shown(&self, id: CardId, view: &Looking, now: Timestamp) -> Option<&Card> {
        let versions = self.cards.get(&id)?;
        let card = match view.known_at {
            None => versions.last()?,
            Some(at) => versions.iter().rev().find(|card| card.updated_at <= at)?,
        };
        let wanted = match card.state {
            State::Active => true,
            State::Superseded if view.as_of.is_some() => true,
            state => view.include.iter().any(|include| include.state() == state),
        };
        let instant = view.as_of.or(view.known_at).unwrap_or(now);
        let holds = view.as_of.is_none_or(|at| {
            let begun = card.valid_from.unwrap_or(card.occurred_at) <= at;
            begun && card.valid_to.map_or(card.state != State::Superseded, |end| at < end)
        });
        (wanted && holds && card.expires_at.is_none_or(|end| instant < end)).then_some(card)
    }

    /// Every card that a view shows and a filter admits, by identifier.
    pub(crate) fn select(
        &self,
        view: &Looking,
        filter: Option<&Filter>,
        now: Timestamp,
    ) -> impl Iterator<Item = &Card> {
        self.cards
            .keys()
            .filter_map(move |id| self.shown(*id, view, now))
            .filter(move |card| filter.is_none_or(|filter| filter.matches_card(card)))
    }

    /// All of them in an order.
    pub(crate) fn list(
        &self,
        view: &Looking,
        filter: Option<&Filter>,
        order: Order,
        now: Timestamp,
    ) -> Vec<Card> {
        let mut cards: Vec<Card> = self.select(view, filter, now).cloned().collect();
        // By identifier first: sorting is stable.
        match order {
            Order::OldestFirst => {}
            Order::NewestFirst => cards.reverse(),
            Order::LatestEvent => cards.sort_by_key(|card| std::cmp::Reverse(card.occurred_at)),
            Order::EarliestEvent => cards.sort_by_key(|card| card.occurred_at),
            Order::LatestChange => cards.sort_by_key(|card| std::cmp::Reverse(card.updated_at)),
            Order::MostImportant => cards.sort_by(|a, b| b.importance.total_cmp(&a.importance)),
            Order::MostConfident => cards.sort_by(|a, b| b.confidence.total_cmp(&a.confidence)),
        }
        cards
    }

    /// All versions of a card and of those it replaced or was replaced by.
    pub(crate) fn history(&self, id: CardId, now: Timestamp) -> Option<Vec<Card>> {
        self.current(id).filter(|card| !card.is_expired(now))?;
        let mut family = vec![id];
        let mut at = 0;
        while at < family.len() {
            for link in &self.current(family[at])?.links {
                let succession = matches!(link.kind, LinkKind::Supersedes | LinkKind::SupersededBy);
                let there = self
                    .current(link.to)
                    .is_some_and(|card| !card.is_expired(now) && card.state != State::Forgotten);
                if succession && there && !family.contains(&link.to) {
                    family.push(link.to);
                }
            }
            at += 1;
        }
        let mut versions: Vec<Card> = family.iter().flat_map(|id| self.cards[id].clone()).collect();
        versions.sort_by_key(|card| (card.updated_at, card.id, card.version));
        Some(versions)
    }
}

fn link(card: &mut Card, to: CardId, kind: LinkKind) {
    let link = memcards::card::Link { to, kind };
    if !card.links.contains(&link) {
        card.links.push(link);
    }
}

fn begins(card: &Card) -> Timestamp {
    card.valid_from.unwrap_or(card.occurred_at)
}

fn supersede(mut old: Card, new: &Card, overturned: bool) -> Card {
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
