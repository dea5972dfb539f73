//! The model: one tenant's cards, plans and runs in plain lists, and what calls do to them.

use std::collections::{BTreeMap, BTreeSet};

use memcards::card::{Card, CardId, LinkKind, Provenance, Reason, STATED_CONFIDENCE, State};
use memcards::{Action, PlanId, RunId, Timestamp};

use super::policy::{Policies, Scope};
use super::summing::Cluster;

/// Cards that were changed, and cards left alone with the reason.
pub(crate) type Done = (Vec<CardId>, Vec<(CardId, &'static str)>);

/// A thing that a plan does with a card, as it has seen it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) card: Card,
    pub(crate) action: Action,
    /// The words by which the answer gives the reason.
    pub(crate) rule: String,
    /// The card that takes it over, or that is brought up to date.
    pub(crate) into: Option<Card>,
    /// Of which budget it is one too many, and its place among the cards that count.
    pub(crate) over: Option<Over>,
    /// The card that sums others up, without an identifier where it is new, and those as they
    /// were seen.
    pub(crate) make: Option<(Cluster, Card, Vec<Card>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Over {
    pub(crate) scope: Scope,
    pub(crate) most: u64,
    pub(crate) rank: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) id: PlanId,
    pub(crate) made_at: Timestamp,
    pub(crate) items: Vec<Item>,
    /// Up to which change duplicates were looked for.
    pub(crate) looked: Option<usize>,
    pub(crate) run: Option<RunId>,
}

/// A card and its versions before and after; 0 before one that was made.
pub(crate) type Step = (CardId, u32, u32);

/// What a run has done with a card, and with the one beside it.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) about: CardId,
    pub(crate) own: Option<Step>,
    pub(crate) beside: Option<Step>,
    pub(crate) undone: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) changes: Vec<Change>,
    pub(crate) done: Done,
    pub(crate) undone: bool,
}

/// One tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keep {
    pub(crate) rules: Policies,
    /// All versions of each card, the present one last.
    pub(crate) cards: BTreeMap<CardId, Vec<Card>>,
    /// Which cards got a version, in order.
    pub(crate) log: Vec<CardId>,
    /// How much of that was looked through for duplicates.
    pub(crate) looked: usize,
    pub(crate) plans: Vec<Plan>,
    pub(crate) runs: Vec<Run>,
    /// Cards in the cold tier, which are not compared with what is told.
    pub(crate) cold: BTreeSet<CardId>,
    /// The merge keys of cards that sum up, as the store has made them.
    pub(crate) keys: BTreeMap<Cluster, String>,
}

impl Keep {
    pub(crate) fn present(&self, id: CardId) -> Option<&Card> {
        self.cards.get(&id).and_then(|versions| versions.last())
    }

    /// Every card as it is.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Card> {
        self.cards.values().filter_map(|versions| versions.last())
    }

    pub(crate) fn add(&mut self, card: Card) {
        self.log.push(card.id);
        self.cards.insert(card.id, vec![card]);
    }

    /// Writes the next version of a card; gives its number.
    pub(crate) fn revise(&mut self, mut card: Card, now: Timestamp) -> u32 {
        let versions = self.cards.get_mut(&card.id).unwrap();
        let present = &versions[versions.len() - 1];
        card.version = present.version + 1;
        card.updated_at = now.max(present.updated_at);
        let version = card.version;
        self.cold.remove(&card.id);
        self.log.push(card.id);
        versions.push(card);
        version
    }

    /// A card that a caller may name: not forgotten, and its time not over.
    fn named(&self, id: CardId, now: Timestamp) -> Result<Card, &'static str> {
        let card = self.present(id).filter(|card| card.state != State::Forgotten);
        card.filter(|card| !self.rules.has_expired(card, now)).cloned().ok_or("not_found")
    }

    /// Other fields for a card, which leave what it says.
    pub(crate) fn edit(
        &mut self,
        id: CardId,
        change: impl FnOnce(&mut Card),
        now: Timestamp,
    ) -> Result<(), &'static str> {
        let before = self.named(id, now)?;
        let mut card = before.clone();
        change(&mut card);
        if card == before {
            return Err("invalid_argument");
        }
        card.reason = because("edited");
        self.revise(card, now);
        Ok(())
    }

    /// What a feedback on one card says has become of it.
    pub(crate) fn feed_back(
        &mut self,
        id: CardId,
        used: bool,
        now: Timestamp,
    ) -> Result<&'static str, &'static str> {
        let mut card = self.named(id, now)?;
        if !used {
            card.confidence /= 2.0;
            if card.confidence <= Provenance::Overturned.confidence() {
                card.provenance = Provenance::Overturned;
            }
            if card.state == State::Active && card.confidence < STATED_CONFIDENCE {
                card.state = State::Candidate;
            }
            card.reason = because("rejected");
            self.revise(card, now);
            return Ok("rejected");
        }
        card.access_count += 1;
        card.last_accessed_at = Some(card.last_accessed_at.map_or(now, |at| at.max(now)));
        refer(&mut card, now);
        if card.state == State::Archived {
            let before = card.state_before.take().filter(|state| *state != State::Archived);
            card.state = before.unwrap_or(State::Active);
            card.reason = because("revived");
            self.revise(card, now);
            return Ok("revived");
        }
        *self.cards.get_mut(&id).unwrap().last_mut().unwrap() = card;
        Ok("used")
    }

    /// Soft-deletes or archives a card; gives the versions.
    pub(crate) fn leave(&mut self, card: &Card, state: State, reason: Reason, now: Timestamp) -> Step {
        let next = Card { state_before: Some(card.state), state, reason, ..card.clone() };
        (card.id, card.version, self.revise(next, now))
    }

    /// Forgets cards that are named. The number of the run is the store's to give.
    pub(crate) fn forget(&mut self, ids: &[CardId], now: Timestamp) -> Result<Done, &'static str> {
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
            if card.state == State::Forgotten {
                done.1.push((id, "already_forgotten"));
                continue;
            }
            let own = Some(self.leave(&card, State::Forgotten, because("forgotten"), now));
            changes.push(Change { about: id, own, beside: None, undone: false });
            done.0.push(id);
        }
        if !changes.is_empty() {
            let id = "run-0000000000000000".parse().unwrap();
            self.runs.push(Run { id, changes, done: done.clone(), undone: false });
        }
        Ok(done)
    }

    /// Takes a run back, the last change first. A card that was changed since stays as it is,
    /// and so does what had become one with it.
    pub(crate) fn undo(&mut self, run: RunId, now: Timestamp) -> Result<Done, &'static str> {
        let at = self.runs.iter().position(|known| known.id == run).ok_or("not_found")?;
        self.runs[at].undone = true;
        let mut done = Done::default();
        for number in (0..self.runs[at].changes.len()).rev() {
            let change = self.runs[at].changes[number].clone();
            if change.undone {
                continue;
            }
            let mut why = None;
            if let Some(beside) = change.beside {
                let given_back = self
                    .present(beside.0)
                    .is_some_and(|card| card.version == beside.2 + 1 && card.reason.action == "undone");
                if !given_back {
                    why = self.give_back(beside, now);
                }
            }
            if let (None, Some(own)) = (why, change.own) {
                why = self.give_back(own, now);
            }
            match why {
                None => {
                    self.runs[at].changes[number].undone = true;
                    done.0.push(change.about);
                }
                Some(why) => done.1.push((change.about, why)),
            }
        }
        Ok(done)
    }

    /// Gives a card the fields that it had; says why where it does not.
    fn give_back(&mut self, (id, before, after): Step, now: Timestamp) -> Option<&'static str> {
        let versions = &self.cards[&id];
        let (present, then) = (&versions[versions.len() - 1], &versions[after as usize - 1]);
        let (version, updated_at, reason) = (then.version, then.updated_at, then.reason.clone());
        let again = Card { version, updated_at, reason, ..present.clone() };
        if present.version != after && again != *then {
            return Some("changed");
        }
        if before == 0 {
            let card = present.clone();
            self.leave(&card, State::Forgotten, because("undone"), now);
            return None;
        }
        let mut card = versions[before as usize - 1].clone();
        if card.vector_version != present.vector_version {
            // Its vector is written again, with this version.
            card.vector_version = if card.vector_version > 0 { present.version + 1 } else { 0 };
        }
        card.reason = because("undone");
        self.revise(card, now);
        None
    }
}

/// A reason that names nobody.
pub(crate) fn because(action: &str) -> Reason {
    Reason { action: action.into(), ..Reason::default() }
}

/// Lets a card age from an instant on, unless it does from a later one already.
pub(crate) fn refer(card: &mut Card, at: Timestamp) {
    if at > card.reference() {
        card.reinforced_at = Some(at);
    }
}

pub(crate) fn link(card: &mut Card, to: CardId, kind: LinkKind) {
    let link = memcards::card::Link { to, kind };
    if to != card.id && !card.links.contains(&link) {
        card.links.push(link);
    }
}

/// A card that a new one would be compared with, its own expiry apart.
pub(crate) fn is_kept(card: &Card, now: Timestamp) -> bool {
    matches!(card.state, State::Active | State::Candidate | State::Archived) && !card.is_expired(now)
}

/// Who says it, where that is known.
pub(crate) fn speaker(card: &Card) -> Option<String> {
    card.sources.first().and_then(|source| source.speaker.clone())
}

/// Two tellings by people an hour apart, or in two sessions.
pub(crate) fn are_moments(a: &Card, b: &Card) -> bool {
    use memcards::card::Role;
    let role = |card: &Card| card.sources.first().and_then(|source| source.role);
    let session = |card: &Card| card.sources.first().and_then(|source| source.session.clone());
    let people = [a, b].iter().all(|card| role(card) != Some(Role::Assistant));
    let hours = (a.occurred_at.as_micros() - b.occurred_at.as_micros()).abs() >= 3_600_000_000;
    people && (hours || matches!((session(a), session(b)), (Some(a), Some(b)) if a != b))
}
