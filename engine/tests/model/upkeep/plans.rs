//! What plans find, and what carrying them out does: age, budgets, duplicates.

use std::collections::{BTreeMap, BTreeSet};

use memcards::card::{Card, CardId, LinkKind, Polarity, Provenance, Reason, Role, STATED_CONFIDENCE, State};
use memcards::embed::Embedder;
use memcards::{Action, Duration, PlanId, RunId, Timestamp};

use super::Wrong;
use super::keep::{
    Change, Done, Item, Keep, Over, Plan, Run, Step, are_moments, is_kept, link, refer, speaker,
};
use super::policy::{CATEGORIES, Scope};
use super::sayings::{Relation, Saying};
use crate::oracle::cosine;
use crate::world::Counting;

impl Item {
    pub(crate) fn new(card: &Card, action: Action, rule: String) -> Self {
        Self { card: card.clone(), action, rule, into: None, over: None, make: None }
    }
}

/// In the order in which plans list and runs do things.
pub(crate) fn sort(items: &mut [Item]) {
    items.sort_by(|a, b| {
        let key = |item: &Item| (item.action, item.into.as_ref().map(|card| card.id));
        key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule)).then(a.card.id.cmp(&b.card.id))
    });
}

/// Whatever the two have been found to be to each other, it is not the same.
fn are_linked(a: &Card, b: &Card) -> bool {
    let to = |from: &Card, to: &Card| {
        from.links.iter().any(|link| link.to == to.id && link.kind != LinkKind::Related)
    };
    to(a, b) || to(b, a)
}

pub(crate) fn is_assistant(card: &Card) -> bool {
    card.sources.first().and_then(|source| source.role) == Some(Role::Assistant)
}

fn vector(text: &str) -> Vec<f32> {
    Counting::version(0).embed(text).unwrap().unwrap()
}

impl Keep {
    /// What the rules say of each card and of their number, and how far duplicates were looked
    /// for.
    pub(crate) fn plan(&self, wanted: &[Action], now: Timestamp) -> (Vec<Item>, Option<usize>) {
        let mut items: Vec<Item> = self
            .all()
            .filter_map(|card| self.due(card, now))
            .filter(|item| wanted.contains(&item.action))
            .collect();
        self.find_over(wanted, &mut items, now);
        let looked = wanted.contains(&Action::Merge).then(|| {
            self.find_duplicates(&mut items, now);
            self.log.len()
        });
        sort(&mut items);
        (items, looked)
    }

    /// The first thing that age does to a card.
    fn due(&self, card: &Card, now: Timestamp) -> Option<Item> {
        let rules = &self.rules;
        let is_active = matches!(card.state, State::Active | State::Candidate);
        let expires = || rules.expiry(card).filter(|(end, _)| *end <= now).map(|(_, rule)| rule);
        let found = match card.state {
            State::Forgotten => None,
            State::Superseded => rules.is_old(card, now).map(|rule| (Action::Archive, rule)),
            _ => expires()
                .map(|rule| (Action::Expire, rule))
                .or_else(|| Some((Action::Fade, rules.fades(card, now).filter(|_| is_active)?)))
                .or_else(|| Some((Action::Archive, rules.is_old(card, now).filter(|_| is_active)?))),
        };
        found.map(|(action, rule)| Item::new(card, action, rule))
    }

    /// Cards that count towards a budget.
    fn counted(&self, scope: &Scope, now: Timestamp) -> Vec<Card> {
        let counts = |card: &&Card| {
            matches!(card.state, State::Active | State::Candidate)
                && scope.holds(card)
                && !self.rules.is_over(card, now)
        };
        self.all().filter(counts).cloned().collect()
    }

    /// Of each scope with too many cards those of least worth, the narrowest scope first; what
    /// goes anyway does not count.
    fn find_over(&self, wanted: &[Action], items: &mut Vec<Item>, now: Timestamp) {
        for budget in self.rules.budgets() {
            let action = if budget.forget { Action::Forget } else { Action::Archive };
            if !wanted.contains(&action) {
                continue;
            }
            let mut cards = self.counted(&budget.scope, now);
            cards.retain(|card| items.iter().all(|item| item.card.id != card.id));
            let of = cards.len() as u64;
            let most = budget.most + u64::from(self.rules.wrong == Some(Wrong::OneMoreThanTheBudget));
            let mut beyond = of.saturating_sub(most);
            cards.sort_by(|a, b| {
                let worth = |card: &Card| match self.rules.wrong {
                    Some(Wrong::BudgetsGoByConfidence) => self.rules.confidence(card, now),
                    _ => self.rules.worth(card, now),
                };
                worth(a).total_cmp(&worth(b)).then((a.reference(), a.id).cmp(&(b.reference(), b.id)))
            });
            for (place, card) in cards.iter().enumerate() {
                if beyond == 0 {
                    break;
                }
                if self.rules.is_exempt(card) {
                    continue;
                }
                beyond -= 1;
                let over = Over { scope: budget.scope.clone(), most: budget.most, rank: of - place as u64 };
                let mut item = Item::new(card, action, budget.rule.clone());
                item.over = Some(over);
                items.push(item);
            }
        }
    }

    /// Cards that changed since duplicates were last looked for, and those that are about the
    /// same, each put to the first one that says the same.
    fn find_duplicates(&self, items: &mut Vec<Item>, now: Timestamp) {
        let going: BTreeSet<CardId> = items.iter().map(|item| item.card.id).collect();
        let comes_in = |card: &&Card| {
            !going.contains(&card.id)
                && self.cluster_of(card).is_none()
                && is_kept(card, now)
                && !self.rules.is_over(card, now)
                && self.rules.merges(card)
                && !self.rules.is_protected(card)
        };
        let changed: BTreeSet<CardId> = self.log[self.looked..].iter().copied().collect();
        let told = |id: &CardId| self.present(*id).filter(comes_in);
        let about: BTreeSet<_> = changed
            .iter()
            .filter_map(told)
            .map(|card| (card.track, Saying::of(&card.content).topic))
            .collect();
        let is_asked = |card: &&Card| {
            let hot = !self.cold.contains(&card.id);
            changed.contains(&card.id)
                || hot && about.contains(&(card.track, Saying::of(&card.content).topic))
        };
        let mut kinds: BTreeMap<_, Vec<&Card>> = BTreeMap::new();
        for card in self.all().filter(comes_in).filter(is_asked) {
            kinds.entry((card.track, card.category.clone())).or_default().push(card);
        }
        for mut cards in kinds.into_values() {
            cards.sort_by_key(|card| (card.recorded_at, card.id));
            let mut groups: Vec<Vec<&Card>> = vec![];
            for card in cards {
                let joins = |group: &&mut Vec<&Card>| {
                    !card.pinned
                        && self.says_the_same(group[0], card)
                        && group.iter().all(|other| self.may_be_one(other, card))
                };
                match groups.iter_mut().find(joins) {
                    Some(group) => group.push(card),
                    None => groups.push(vec![card]),
                }
            }
            for group in groups {
                for card in &group[1..] {
                    let same_words = relation(group[0], card) == Relation::Words;
                    let rule = self.rules.merge_rule(card, same_words);
                    let mut item = Item::new(card, Action::Merge, rule);
                    item.into = Some(group[0].clone());
                    items.push(item);
                }
            }
        }
    }

    /// In the same words, or in other ones that are near enough.
    fn says_the_same(&self, first: &Card, card: &Card) -> bool {
        match relation(first, card) {
            Relation::Words => true,
            Relation::Statement => {
                let near = cosine(&vector(&first.content), &vector(&card.content));
                near >= self.rules.similarity(card) || self.rules.wrong == Some(Wrong::AnyWordingIsOne)
            }
            _ => false,
        }
    }

    /// Nothing beside the words says that they are two: nor that somebody has taken it back when
    /// they were one, and neither has changed since.
    fn may_be_one(&self, a: &Card, b: &Card) -> bool {
        let names = |card: &Card| -> BTreeSet<String> {
            card.entities.iter().map(|name| name.to_lowercase()).collect()
        };
        let voice = |card: &Card| match self.rules.wrong {
            Some(Wrong::SpeakersDoNotMatter) => None,
            _ => Some((speaker(card), is_assistant(card))),
        };
        a.polarity == b.polarity
            && voice(a) == voice(b)
            && names(a) == names(b)
            && !are_linked(a, b)
            && !(self.was_parted_from(a, b) && self.was_parted_from(b, a))
    }

    fn was_parted_from(&self, card: &Card, other: &Card) -> bool {
        if card.reason.action != "undone" || self.rules.wrong == Some(Wrong::UndoneIsProposedAgain) {
            return false;
        }
        let before = &self.cards[&card.id][card.version as usize - 2];
        let ours = |kind| matches!(kind, LinkKind::Supersedes | LinkKind::SupersededBy);
        before.reason.action == "merged"
            && before.links.iter().any(|link| link.to == other.id && ours(link.kind))
    }

    /// Keeps a plan; the same items at the same instant are the same plan. Those that nobody carried
    /// out for thirty days go.
    pub(crate) fn keep(&mut self, id: PlanId, items: Vec<Item>, looked: Option<usize>, now: Timestamp) {
        let month = Duration::from_hours(24 * 30);
        self.plans.retain(|plan| plan.id == id || plan.run.is_some() || plan.made_at.plus(month) >= now);
        if items.is_empty()
            && let Some(looked) = looked.filter(|looked| *looked > 0)
        {
            // There is nothing to be carried out that would note it.
            self.looked = looked;
        }
        match self.plans.iter_mut().find(|plan| plan.id == id) {
            Some(known) => (known.items, known.looked) = (items, looked),
            None => self.plans.push(Plan { id, made_at: now, items, looked, run: None }),
        }
    }

    /// Carries a plan out; gives what is said of it, and whether it had been done before. `new`
    /// are the cards that the store has made for it, in order.
    pub(crate) fn apply(
        &mut self,
        id: PlanId,
        run: RunId,
        actor: &str,
        new: &[Card],
        now: Timestamp,
    ) -> Result<(Done, bool), &'static str> {
        let at = self.plans.iter().position(|plan| plan.id == id).ok_or("not_found")?;
        if self.rules.is_off() {
            return Err("unavailable");
        }
        if let Some(known) = self.runs.iter().find(|known| self.plans[at].run == Some(known.id)) {
            return if known.undone { Err("conflict") } else { Ok((known.done.clone(), true)) };
        }
        let (mut done, mut changes): (Done, Vec<Change>) = Default::default();
        let mut new = new.iter();
        let plan = self.plans[at].clone();
        let mut rest = plan.items.as_slice();
        while let Some(item) = rest.first() {
            let because = |item: &Item, action: &str| Reason {
                action: action.into(),
                actor: Some(actor.into()),
                why: Some(format!("{} ({run})", item.rule)),
            };
            if let (Action::Merge, Some(into)) = (item.action, &item.into) {
                let is_of_it = |item: &&Item| item.into.as_ref().is_some_and(|card| card.id == into.id);
                let (group, after) = rest.split_at(rest.iter().take_while(is_of_it).count());
                self.merge(group, because(item, "merged"), &because, (&mut done, &mut changes), now);
                rest = after;
                continue;
            }
            rest = &rest[1..];
            let (id, card) = (item.card.id, self.present(item.card.id).unwrap().clone());
            let beyond = match &item.over {
                Some(over) => self.counted(&over.scope, now).len() as u64 > over.most,
                None => true,
            };
            let still = beyond || self.rules.wrong == Some(Wrong::BudgetsAreNotCountedAgain);
            if !still {
                done.1.push((id, "within_budget"));
                continue;
            }
            if let Some(why) = changed(&item.card, &card) {
                done.1.push((id, why));
                continue;
            }
            let (mut own, mut beside) = (None, None);
            match item.action {
                Action::Expire => {
                    own = Some(self.leave(&card, State::Forgotten, because(item, "expired"), now));
                }
                Action::Forget => {
                    own = Some(self.leave(&card, State::Forgotten, because(item, "forgotten"), now));
                }
                Action::Fade => own = Some(self.leave(&card, State::Archived, because(item, "faded"), now)),
                Action::Archive => {
                    own = Some(self.leave(&card, State::Archived, because(item, "archived"), now));
                }
                _ => {
                    beside = self.sum_up(item, because(item, "consolidated"), &mut new, now);
                    if beside.is_none() {
                        done.1.push((id, "changed"));
                        continue;
                    }
                }
            }
            changes.push(Change { about: id, own, beside, undone: false });
            done.0.push(id);
        }
        assert_eq!(new.next(), None, "a card that nobody expected");
        if let Some(looked) = plan.looked.filter(|looked| *looked > 0) {
            self.looked = looked;
        }
        self.plans[at].run = Some(run);
        self.runs.push(Run { id: run, changes, done: done.clone(), undone: false });
        Ok((done, false))
    }

    /// Lets the first of several cards take over the others that are as they were.
    fn merge(
        &mut self,
        group: &[Item],
        reason: Reason,
        because: &dyn Fn(&Item, &str) -> Reason,
        (done, changes): (&mut Done, &mut Vec<Change>),
        now: Timestamp,
    ) {
        let seen = group[0].into.clone().unwrap();
        let first = self.present(seen.id).unwrap().clone();
        if first != seen {
            done.1.extend(group.iter().map(|item| (item.card.id, "changed")));
            return;
        }
        let mut members: Vec<(&Item, Card)> = vec![];
        for item in group {
            let card = self.present(item.card.id).unwrap().clone();
            match changed(&item.card, &card) {
                None => members.push((item, card)),
                Some(why) => done.1.push((card.id, why)),
            }
        }
        if members.is_empty() {
            return;
        }
        let mut one = one_of(&first, members.iter().map(|(_, card)| card));
        one.reason = reason;
        let mut steps: Vec<Step> = vec![];
        for (item, card) in members {
            let (id, version) = (card.id, card.version);
            let mut gone = Card { state_before: Some(card.state), state: State::Superseded, ..card };
            link(&mut gone, first.id, LinkKind::SupersededBy);
            gone.reason = because(item, "merged");
            steps.push((id, version, self.revise(gone, now)));
        }
        if one.vector_version != first.vector_version {
            one.vector_version = first.version + 1;
        }
        let beside = Some((first.id, first.version, self.revise(one, now)));
        for step in steps {
            changes.push(Change { about: step.0, own: Some(step), beside, undone: false });
            done.0.push(step.0);
        }
    }
}

pub(crate) fn relation(a: &Card, b: &Card) -> Relation {
    Saying::of(&a.content).relation(a.polarity, Saying::of(&b.content), b.polarity)
}

/// Why a card is not as it was seen.
fn changed(seen: &Card, card: &Card) -> Option<&'static str> {
    (seen != card).then_some(match () {
        () if card.state == State::Forgotten => "already_forgotten",
        () if card.reference() != seen.reference() => "used",
        () if card.pinned => "pinned",
        () => "changed",
    })
}

/// The card that several make: the newest words, everybody's mentions, uses and sources, the
/// strongest evidence. Its `vector_version` differs from the first one's where its vector does.
fn one_of<'a>(first: &Card, others: impl Iterator<Item = &'a Card>) -> Card {
    let others: Vec<&Card> = others.collect();
    let mut all: Vec<&Card> = others.iter().copied().chain([first]).collect();
    all.sort_by_key(|card| (card.recorded_at, card.id));
    let newest = all.iter().max_by_key(|card| (card.occurred_at, card.recorded_at, card.id)).unwrap();
    let mut one = first.clone();
    one.content = newest.content.clone();
    if newest.id != first.id {
        one.vector_version = u32::MAX;
    }
    one.mention_count = all.iter().map(|card| card.mention_count).sum();
    one.access_count = all.iter().map(|card| card.access_count).sum();
    one.last_accessed_at = all.iter().filter_map(|card| card.last_accessed_at).max();
    one.importance = all.iter().map(|card| card.importance).fold(0.0, f32::max);
    one.pinned = all.iter().any(|card| card.pinned);
    // As long as the longest of them, and for good if one of them is.
    let ends: Option<Vec<Timestamp>> = all.iter().map(|card| card.expires_at).collect();
    one.expires_at = ends.and_then(|ends| ends.into_iter().max());
    one.sources = vec![];
    for source in all.iter().flat_map(|card| &card.sources) {
        if !one.sources.contains(source) {
            one.sources.push(source.clone());
        }
    }
    let most = all.iter().map(|card| card.confidence).fold(0.0, f32::max);
    let strongest = all.iter().find(|card| card.confidence == most).unwrap();
    (one.confidence, one.provenance) = (most, strongest.provenance);
    if all.windows(2).any(|pair| are_moments(pair[0], pair[1])) && most < STATED_CONFIDENCE {
        (one.confidence, one.provenance) = (STATED_CONFIDENCE, Provenance::Stated);
    }
    let sure = one.state == State::Candidate && one.confidence >= STATED_CONFIDENCE;
    if sure || all.iter().any(|card| card.state == State::Active) {
        (one.state, one.state_before) = (State::Active, None);
    }
    for other in &all {
        for (mine, theirs) in [(&mut one.entities, &other.entities), (&mut one.tags, &other.tags)] {
            let new: Vec<String> = theirs.iter().filter(|name| !mine.contains(name)).cloned().collect();
            mine.extend(new);
        }
        refer(&mut one, other.reference());
        for known in &other.links {
            if all.iter().all(|card| card.id != known.to) {
                link(&mut one, known.to, known.kind);
            }
        }
    }
    for other in others {
        link(&mut one, other.id, LinkKind::Supersedes);
    }
    one
}

/// True for what somebody likes or rules out.
pub(crate) fn is_preference(card: &Card) -> bool {
    card.category == CATEGORIES[0]
        || card.polarity == Polarity::Excluded
        || Saying::of(&card.content).is_preference
}
