//! A model of forgetting: one tenant's cards, plans and runs in plain lists.
//!
//! It knows cards that say nothing of each other, so that none is merged or contradicted; what
//! becomes of those that do is the oracle's. Every rule here is a scan.

use std::collections::{BTreeMap, BTreeSet};

use memcards::card::{Card, CardId, Provenance, Reason, STATED_CONFIDENCE, State};
use memcards::{Action, Duration, PlanId, RunId, Timestamp};

/// What a call is expected to say: cards it has changed, and cards left alone with the reason.
pub(crate) type Done = (Vec<CardId>, Vec<(CardId, &'static str)>);

/// A card as a plan has seen it, and what is to be done with it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) card: Card,
    pub(crate) action: Action,
    /// The words by which the answer gives the reason.
    pub(crate) rule: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) id: PlanId,
    made_at: Timestamp,
    items: Vec<Item>,
    pub(crate) run: Option<RunId>,
}

#[derive(Clone, Debug)]
struct Change {
    id: CardId,
    purged: bool,
    versions: (u32, u32),
    undone: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) of_plan: bool,
    changes: Vec<Change>,
    done: Done,
    pub(crate) undone: bool,
}

/// One tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lives {
    /// Whether there is such a tenant.
    pub(crate) there: bool,
    /// Until when nothing that is told counts as told after the wipe.
    pub(crate) wiped_at: Option<Timestamp>,
    /// Whether its policy has switched forgetting off.
    pub(crate) off: bool,
    /// All versions of each card, the present one last.
    pub(crate) cards: BTreeMap<CardId, Vec<Card>>,
    /// What was purged and may not come back: the words, and when they went.
    erased_words: BTreeMap<String, Timestamp>,
    erased_cards: BTreeMap<CardId, String>,
    /// What was purged, to be told again: words and when they were told.
    pub(crate) purged: Vec<(String, Timestamp)>,
    pub(crate) plans: Vec<Plan>,
    pub(crate) runs: Vec<Run>,
    /// Cards in the cold tier.
    pub(crate) cold: BTreeSet<CardId>,
}

impl Lives {
    /// A tenant that was wiped.
    pub(crate) fn wiped(at: Timestamp) -> Self {
        Self { wiped_at: Some(at), ..Self::default() }
    }

    pub(crate) fn present(&self, id: CardId) -> Option<&Card> {
        self.cards.get(&id).and_then(|versions| versions.last())
    }

    pub(crate) fn tell(&mut self, card: Card) {
        self.there = true;
        self.cards.insert(card.id, vec![card]);
    }

    /// Whether a telling is refused, since it is of a time before it was erased or all was wiped.
    pub(crate) fn refuses(&self, content: &str, occurred_at: Timestamp) -> bool {
        let erased = self.erased_words.get(content).is_some_and(|at| occurred_at <= *at);
        erased || self.wiped_at.is_some_and(|at| occurred_at <= at)
    }

    fn revise(&mut self, mut card: Card, action: &str, now: Timestamp) -> u32 {
        let versions = self.cards.get_mut(&card.id).unwrap();
        let present = &versions[versions.len() - 1];
        card.version = present.version + 1;
        card.updated_at = now.max(present.updated_at);
        card.reason.action = action.into();
        let version = card.version;
        self.cold.remove(&card.id);
        versions.push(card);
        version
    }

    fn plainly(card: &Card) -> Card {
        Card { reason: Reason::default(), ..card.clone() }
    }

    /// New tags for a card that may be seen.
    pub(crate) fn edit(&mut self, id: CardId, tags: Vec<String>, now: Timestamp) -> Result<(), &'static str> {
        let card = self.present(id).filter(|card| card.state != State::Forgotten && !card.is_expired(now));
        let card = card.ok_or("not_found")?;
        if card.tags == tags {
            return Err("invalid_argument");
        }
        let card = Card { tags, ..Self::plainly(card) };
        self.revise(card, "edited", now);
        Ok(())
    }

    /// What a feedback on one card says has become of it.
    pub(crate) fn feed_back(
        &mut self,
        id: CardId,
        used: bool,
        now: Timestamp,
    ) -> Result<&'static str, &'static str> {
        let card = self.present(id).filter(|card| card.state != State::Forgotten && !card.is_expired(now));
        let mut card = card.ok_or("not_found")?.clone();
        if !used {
            card = Self::plainly(&card);
            card.confidence /= 2.0;
            if card.confidence <= Provenance::Overturned.confidence() {
                card.provenance = Provenance::Overturned;
            }
            if card.state == State::Active && card.confidence < STATED_CONFIDENCE {
                card.state = State::Candidate;
            }
            self.revise(card, "rejected", now);
            return Ok("rejected");
        }
        card.access_count += 1;
        card.last_accessed_at = Some(card.last_accessed_at.map_or(now, |at| at.max(now)));
        if now > card.reference() {
            card.reinforced_at = Some(now);
        }
        if card.state == State::Archived {
            let before = card.state_before.take().filter(|state| *state != State::Archived);
            card.state = before.unwrap_or(State::Active);
            self.revise(Self::plainly(&card), "revived", now);
            return Ok("revived");
        }
        *self.cards.get_mut(&id).unwrap().last_mut().unwrap() = card;
        Ok("used")
    }

    fn leave(&mut self, card: &Card, state: State, reason: Reason, now: Timestamp) -> (u32, u32) {
        let action = reason.action.clone();
        let next = Card { state_before: Some(card.state), state, reason, ..card.clone() };
        (card.version, self.revise(next, &action, now))
    }

    /// Forgets cards; `chosen` when they were found and not named. Gives what is said of it, and
    /// what the run holds that the store has made of it.
    pub(crate) fn forget(
        &mut self,
        ids: &[CardId],
        chosen: bool,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<Done, &'static str> {
        let mut once: Vec<CardId> = vec![];
        for id in ids {
            self.present(*id).ok_or("not_found")?;
            if !once.contains(id) {
                once.push(*id);
            }
        }
        let (mut done, mut changes): (Done, Vec<Change>) = Default::default();
        for id in once {
            let card = self.present(id).unwrap().clone();
            match () {
                () if card.state == State::Forgotten => done.1.push((id, "already_forgotten")),
                () if chosen && card.pinned => done.1.push((id, "pinned")),
                () => {
                    done.0.push(id);
                    if !dry_run {
                        let reason = Reason { action: "forgotten".into(), ..Reason::default() };
                        let versions = self.leave(&card, State::Forgotten, reason, now);
                        changes.push(Change { id, purged: false, versions, undone: false });
                    }
                }
            }
        }
        if !changes.is_empty() {
            // Its number is the store's to give.
            let id = "run-0000000000000000".parse().unwrap();
            self.runs.push(Run { id, of_plan: false, changes, done: done.clone(), undone: false });
        }
        Ok(done)
    }

    /// Cards that are not forgotten and satisfy a condition, of whatever age.
    pub(crate) fn found(&self, condition: impl Fn(&Card) -> bool) -> Vec<CardId> {
        let all = self.cards.values().filter_map(|versions| versions.last());
        all.filter(|card| card.state != State::Forgotten && condition(card)).map(|card| card.id).collect()
    }

    /// Brings cards back; gives which are back, and which may be told again from now on.
    pub(crate) fn restore(
        &mut self,
        ids: &[CardId],
        now: Timestamp,
    ) -> Result<(Done, Vec<CardId>), &'static str> {
        let gone = |id: &&CardId| self.present(**id).is_none();
        let lifted: Vec<CardId> =
            ids.iter().filter(gone).filter(|id| self.erased_cards.contains_key(*id)).copied().collect();
        let mut once: Vec<CardId> = vec![];
        for id in ids.iter().filter(|id| !lifted.contains(id)) {
            self.present(*id).ok_or("not_found")?;
            if !once.contains(id) {
                once.push(*id);
            }
        }
        for id in &lifted {
            if let Some(content) = self.erased_cards.remove(id) {
                self.erased_words.remove(&content);
            }
        }
        let mut done = Done::default();
        for id in once {
            let mut card = Self::plainly(self.present(id).unwrap());
            if card.state != State::Forgotten {
                done.1.push((id, "not_forgotten"));
                continue;
            }
            card.state = card.state_before.take().unwrap();
            if let Some(end) = card.expires_at.filter(|end| *end <= now) {
                let length = (end.as_micros() - card.recorded_at.as_micros()).max(86_400_000_000);
                card.expires_at = Some(now.plus(Duration::from_micros(length)));
            }
            if now > card.reference() {
                card.reinforced_at = Some(now);
            }
            self.revise(card, "restored", now);
            done.0.push(id);
        }
        Ok((done, lifted))
    }

    /// The cards that a plan of one kind finds: by age, by their own expiry, or forgotten long ago.
    pub(crate) fn due(&self, action: Action, after: Duration, now: Timestamp) -> Vec<Card> {
        let is_due = |card: &&Card| match action {
            Action::Archive => {
                matches!(card.state, State::Active | State::Candidate)
                    && !card.pinned
                    && !card.is_expired(now)
                    && card.reference().plus(after) <= now
            }
            Action::Expire => {
                matches!(card.state, State::Active | State::Candidate | State::Archived)
                    && card.is_expired(now)
            }
            Action::Purge => card.state == State::Forgotten && card.updated_at.plus(after) <= now,
            _ => false,
        };
        self.cards.values().filter_map(|versions| versions.last()).filter(is_due).cloned().collect()
    }

    /// Keeps a plan; those that nobody carried out for thirty days go.
    pub(crate) fn keep(&mut self, id: PlanId, items: Vec<Item>, now: Timestamp) {
        if !self.there {
            return;
        }
        let month = Duration::from_hours(24 * 30);
        self.plans.retain(|plan| plan.id == id || plan.run.is_some() || plan.made_at.plus(month) >= now);
        match self.plans.iter().find(|plan| plan.id == id) {
            // The same instant and the same items.
            Some(known) => assert_eq!(known.items.len(), items.len()),
            None => self.plans.push(Plan { id, made_at: now, items, run: None }),
        }
    }

    /// Carries a plan out; gives what is said of it, and whether it had been done before.
    pub(crate) fn apply(
        &mut self,
        id: PlanId,
        run: RunId,
        now: Timestamp,
    ) -> Result<(Done, bool), &'static str> {
        let at = self.plans.iter().position(|plan| plan.id == id).ok_or("not_found")?;
        if self.off {
            return Err("unavailable");
        }
        if let Some(known) = self.runs.iter().find(|known| self.plans[at].run == Some(known.id)) {
            return if known.undone { Err("conflict") } else { Ok((known.done.clone(), true)) };
        }
        let (mut done, mut changes): (Done, Vec<Change>) = Default::default();
        for item in self.plans[at].items.clone() {
            let id = item.card.id;
            let Some(card) = self.present(id).cloned() else {
                done.1.push((id, "gone"));
                continue;
            };
            if card != item.card {
                done.1.push((
                    id,
                    match () {
                        () if card.state == State::Forgotten && item.action != Action::Purge => {
                            "already_forgotten"
                        }
                        () if card.reference() != item.card.reference() => "used",
                        () if card.pinned => "pinned",
                        () => "changed",
                    },
                ));
                continue;
            }
            let reason = |action: &str| Reason {
                action: action.into(),
                actor: Some("policy".into()),
                why: Some(format!("{} ({run})", item.rule)),
            };
            let purged = item.action == Action::Purge;
            let versions = match item.action {
                Action::Archive => self.leave(&card, State::Archived, reason("archived"), now),
                Action::Expire => self.leave(&card, State::Forgotten, reason("expired"), now),
                _ => {
                    self.cards.remove(&id);
                    self.cold.remove(&id);
                    self.erased_words.insert(card.content.clone(), now);
                    self.erased_cards.insert(id, card.content.clone());
                    self.purged.push((card.content.clone(), card.occurred_at));
                    (card.version, 0)
                }
            };
            changes.push(Change { id, purged, versions, undone: false });
            done.0.push(id);
        }
        self.plans[at].run = Some(run);
        self.runs.push(Run { id: run, of_plan: true, changes, done: done.clone(), undone: false });
        Ok((done, false))
    }

    /// Takes a run back, the last change first.
    pub(crate) fn undo(&mut self, run: RunId, now: Timestamp) -> Result<Done, &'static str> {
        let at = self.runs.iter().position(|known| known.id == run).ok_or("not_found")?;
        self.runs[at].undone = true;
        let mut done = Done::default();
        for number in (0..self.runs[at].changes.len()).rev() {
            let change = self.runs[at].changes[number].clone();
            if change.undone {
                continue;
            }
            if change.purged {
                done.1.push((change.id, "purged"));
                continue;
            }
            let Some(versions) = self.cards.get(&change.id) else {
                done.1.push((change.id, "gone"));
                continue;
            };
            let (present, (before, after)) = (&versions[versions.len() - 1], change.versions);
            let then = &versions[after as usize - 1];
            let again = Card {
                version: then.version,
                updated_at: then.updated_at,
                reason: then.reason.clone(),
                ..present.clone()
            };
            if present.version != after && again != *then {
                done.1.push((change.id, "changed"));
                continue;
            }
            let card = Self::plainly(&versions[before as usize - 1]);
            self.revise(card, "undone", now);
            self.runs[at].changes[number].undone = true;
            done.0.push(change.id);
        }
        Ok(done)
    }
}
