//! Summing up: what three cards say at several moments, and what three tell of one thing.

use std::collections::{BTreeMap, BTreeSet};

use memcards::card::{
    Card, CardId, Link, LinkKind, Polarity, Provenance, Reason, STATED_CONFIDENCE, State, Track,
};
use memcards::{Action, Consolidation, Timestamp};

use super::Wrong;
use super::keep::{Item, Keep, Step, are_moments, is_kept, refer, speaker};
use super::plans::{is_assistant, is_preference, relation, sort};
use super::sayings::{Relation, Saying};

/// What cards have in common that one more sums up: who says it, whether it is ruled out, and
/// the statement; or the topic and a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cluster {
    Same(Voice, u8),
    About(Voice, u8, String),
}

type Voice = (bool, Option<String>);

impl Cluster {
    fn is_same(&self) -> bool {
        matches!(self, Self::Same(..))
    }
}

fn voice(card: &Card) -> Voice {
    (card.polarity == Polarity::Excluded, speaker(card))
}

fn names(card: &Card) -> BTreeSet<String> {
    card.entities.iter().map(|name| name.to_lowercase()).collect()
}

fn newest_first(cards: &mut [Card]) {
    cards.sort_by_key(|card| std::cmp::Reverse((card.occurred_at, card.recorded_at, card.id)));
}

/// The cards that a card sums up.
fn sources_of(card: &Card) -> Vec<CardId> {
    card.links.iter().filter(|link| link.kind == LinkKind::Related).map(|link| link.to).collect()
}

impl Keep {
    /// What a card sums up, if it does.
    pub(crate) fn cluster_of(&self, card: &Card) -> Option<Cluster> {
        let key = card.merge_key.as_ref()?;
        self.keys.iter().find(|(_, known)| *known == key).map(|(cluster, _)| cluster.clone())
    }

    /// What can be summed up, or has to be again.
    pub(crate) fn consolidations(&self, rules: &[Consolidation], now: Timestamp) -> Vec<Item> {
        let wants = |rule| rules.is_empty() || rules.contains(&rule);
        let is_source = |card: &&Card| {
            self.cluster_of(card).is_none()
                && matches!(card.track, Track::Episodic | Track::Semantic)
                && is_kept(card, now)
                && !self.rules.is_over(card, now)
                && !is_assistant(card)
        };
        // Archived cards begin nothing; they stay sources of what sums them up already.
        let archived = |card: &&Card| card.state == State::Archived;
        let sources: Vec<Card> =
            self.all().filter(|card| is_source(card) && !archived(card)).cloned().collect();
        let still = |present: Option<&Card>| -> Vec<Card> {
            let ids = present.map(sources_of).unwrap_or_default();
            let cards = ids.iter().filter_map(|id| self.present(*id));
            cards.filter(|card| archived(card) && is_source(card)).cloned().collect()
        };
        let (mut same, mut about) = (BTreeMap::<_, Vec<Card>>::new(), BTreeMap::<_, Vec<Card>>::new());
        for card in &sources {
            let saying = Saying::of(&card.content);
            if is_preference(card) {
                same.entry(Cluster::Same(voice(card), saying.states)).or_default().push(card.clone());
            }
            for name in names(card).into_iter().filter(|_| card.track == Track::Episodic) {
                let cluster = Cluster::About(voice(card), saying.topic, name);
                about.entry(cluster).or_default().push(card.clone());
            }
        }
        // What a caller has had forgotten is no source, but what sums it up is looked at.
        for card in self.all().filter(|card| self.cluster_of(card).is_none() && is_taken_back(card)) {
            let saying = Saying::of(&card.content);
            if is_preference(card) {
                same.entry(Cluster::Same(voice(card), saying.states)).or_default();
            }
            for name in names(card).into_iter().filter(|_| card.track == Track::Episodic) {
                about.entry(Cluster::About(voice(card), saying.topic, name)).or_default();
            }
        }
        let (mut items, mut settled) = (vec![], BTreeSet::new());
        let (mut summaries, mut cold): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (self.summaries(now, |card| card.state != State::Archived), self.summaries(now, |_| true));
        cold.retain(|_, card| card.state == State::Archived);
        for (cluster, mut cards) in same {
            let present = summaries.remove(&cluster).or_else(|| cold.remove(&cluster));
            cards.sort_by_key(|card| (card.recorded_at, card.id));
            let moments = cards.iter().skip(1).any(|card| are_moments(&cards[0], card));
            let enough = cards.len() >= 3 && (moments || self.rules.wrong == Some(Wrong::OneMomentIsEnough));
            if !enough && present.is_none() {
                continue;
            }
            let belongs = |card: &Card| {
                is_preference(card) && Cluster::Same(voice(card), Saying::of(&card.content).states) == cluster
            };
            cards.extend(still(present.as_ref()).into_iter().filter(belongs));
            if cards.is_empty() {
                summaries.extend(present.map(|present| (cluster, present)));
                continue;
            }
            settled.extend(cards.iter().map(|card| card.id));
            if wants(Consolidation::Preferences) && !self.is_contradicted(&cards, &sources) {
                items.extend(self.propose(cluster, cards, present, now));
            }
        }
        // Of several names the first under which there are enough.
        let large: BTreeSet<Cluster> =
            about.iter().filter(|(_, cards)| cards.len() >= 3).map(|(cluster, _)| cluster.clone()).collect();
        let home = |card: &Card| {
            let topic = Saying::of(&card.content).topic;
            names(card)
                .into_iter()
                .map(|name| Cluster::About(voice(card), topic, name))
                .find(|c| large.contains(c))
        };
        for (cluster, mut cards) in about {
            let present = summaries.remove(&cluster).or_else(|| cold.remove(&cluster));
            cards.retain(|card| !settled.contains(&card.id));
            cards.retain(|card| present.is_some() || home(card).as_ref() == Some(&cluster));
            if (cards.len() < 3 && present.is_none()) || !wants(Consolidation::Events) {
                continue;
            }
            let belongs = |card: &Card| {
                let topic = Saying::of(&card.content).topic;
                card.track == Track::Episodic
                    && names(card).into_iter().any(|name| Cluster::About(voice(card), topic, name) == cluster)
            };
            cards.extend(still(present.as_ref()).into_iter().filter(belongs));
            match cards.is_empty() {
                true => summaries.extend(present.map(|present| (cluster, present))),
                false => items.extend(self.propose(cluster, cards, present, now)),
            }
        }
        let left = summaries.values().filter(|present| is_kept(present, now) && self.is_withdrawn(present));
        items.extend(left.filter_map(drop_summary));
        sort(&mut items);
        items
    }

    /// The cards that sum up, one of each cluster: the first that is kept, or else the last.
    fn summaries(&self, now: Timestamp, wanted: impl Fn(&Card) -> bool) -> BTreeMap<Cluster, Card> {
        let mut found = BTreeMap::<Cluster, Card>::new();
        for card in self.all().filter(|card| wanted(card)) {
            let Some(cluster) = self.cluster_of(card) else { continue };
            if found.get(&cluster).is_none_or(|known| !is_kept(known, now)) {
                found.insert(cluster, card.clone());
            }
        }
        found
    }

    /// Something was said since that cannot be true beside it.
    fn is_contradicted(&self, cards: &[Card], sources: &[Card]) -> bool {
        let newest = cards.iter().max_by_key(|card| (card.occurred_at, card.recorded_at, card.id)).unwrap();
        let speakers = |other: &Card| match (speaker(other), speaker(newest)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        self.rules.wrong != Some(Wrong::ContradictionsDoNotMatter)
            && sources.iter().any(|other| {
                cards.iter().all(|card| card.id != other.id)
                    && other.occurred_at >= newest.occurred_at
                    && speakers(other)
                    && other.entities.iter().any(|name| newest.entities.contains(name))
                    && matches!(relation(newest, other), Relation::Opposite | Relation::Value)
            })
    }

    /// A caller has had something forgotten that it sums up.
    fn is_withdrawn(&self, summary: &Card) -> bool {
        self.rules.wrong != Some(Wrong::WithdrawnWordsStay)
            && sources_of(summary).iter().filter_map(|id| self.present(*id)).any(is_taken_back)
    }

    /// It was taken back, and nothing has been told since.
    fn is_refused(&self, summary: &Card, sources: &[Card]) -> bool {
        if summary.reason.action != "undone" || summary.version < 2 {
            return false;
        }
        let before = &self.cards[&summary.id][summary.version as usize - 2];
        before.reason.action == "consolidated"
            && sources.iter().map(|card| card.mention_count).sum::<u32>() <= before.mention_count
            && sources.iter().all(|card| card.updated_at <= summary.updated_at)
    }

    /// What is to be done for a cluster, if anything.
    fn propose(
        &self,
        cluster: Cluster,
        mut sources: Vec<Card>,
        mut present: Option<Card>,
        now: Timestamp,
    ) -> Option<Item> {
        if present.as_ref().is_some_and(|present| self.is_refused(present, &sources)) {
            return None;
        }
        if let Some(gone) = present.take_if(|present| !is_kept(present, now)) {
            // What is gone is not brought back by what it was made of, unless that was only
            // taken back.
            let undone = gone.state == State::Forgotten && gone.reason.action == "undone";
            if !undone && sources.iter().all(|card| card.recorded_at <= gone.updated_at) {
                return None;
            }
        }
        let withdrawn = present.as_ref().is_some_and(|present| self.is_withdrawn(present));
        newest_first(&mut sources);
        let Some(newest) = sources.first() else {
            return present.as_ref().filter(|_| withdrawn).and_then(drop_summary);
        };
        if sources.len() < 3 && !withdrawn && (present.is_none() || !cluster.is_same()) {
            return None;
        }
        let content = content(&cluster, &sources, present.as_ref().filter(|_| !withdrawn));
        let mentions = sources.iter().map(|card| card.mention_count).sum();
        if let Some(present) = present.as_ref().filter(|_| !withdrawn) {
            let known = sources_of(present);
            let more = sources.iter().any(|card| !known.contains(&card.id));
            if !more && mentions <= present.mention_count && present.content == content {
                return None;
            }
        }
        let mut card = present.clone().unwrap_or_else(|| blank(&cluster, newest));
        card.content = content;
        card.links.retain(|link| link.kind != LinkKind::Related);
        card.links.extend(sources.iter().map(|card| Link { to: card.id, kind: LinkKind::Related }));
        stand_on(&mut card, &sources, mentions, withdrawn);
        let count = sources.len();
        let rule = match cluster.is_same() {
            true => format!("preferences ({count} cards say the same)"),
            false => format!("events ({count} cards about the same)"),
        };
        let mut item = Item::new(present.as_ref().unwrap_or(newest), Action::Consolidate, rule);
        item.into = present;
        item.make = Some((cluster, card, sources));
        Some(item)
    }

    /// Makes the card of a cluster, or brings it up to date, unless something has changed; gives
    /// what it has done with it. A new one has the identifier and the merge key of the next
    /// card that the store has made.
    pub(crate) fn sum_up<'a>(
        &mut self,
        item: &Item,
        reason: Reason,
        new: &mut impl Iterator<Item = &'a Card>,
        now: Timestamp,
    ) -> Option<Step> {
        let (cluster, card, seen) = item.make.clone().unwrap();
        if seen.iter().any(|card| self.present(card.id) != Some(card)) {
            return None;
        }
        let mut card = Card { reason, ..card };
        if let Some(present) = &item.into {
            if card.content != present.content {
                card.vector_version = present.version + 1;
            }
            return Some((present.id, present.version, self.revise(card, now)));
        }
        if self.summaries(now, |_| true).get(&cluster).is_some_and(|other| is_kept(other, now)) {
            return None;
        }
        let made = new.next().expect("a card is made");
        let key = made.merge_key.clone().unwrap();
        assert!(key.starts_with("consolidated."), "{key}");
        let other = self.keys.iter().find(|(known, held)| **known != cluster && **held == key);
        assert_eq!(other, None, "two clusters under one key");
        assert_eq!(*self.keys.entry(cluster).or_insert_with(|| key.clone()), key, "one cluster, two keys");
        card = Card {
            id: made.id,
            version: 1,
            recorded_at: now,
            updated_at: now,
            merge_key: Some(key),
            vector_version: 1,
            ..card
        };
        self.add(card);
        Some((made.id, 0, 1))
    }
}

/// A caller has had it forgotten, and no rule.
fn is_taken_back(card: &Card) -> bool {
    card.state == State::Forgotten
        && card.reason.action == "forgotten"
        && card.reason.actor.as_deref() != Some("policy")
}

fn drop_summary(summary: &Card) -> Option<Item> {
    let item = || Item::new(summary, Action::Forget, "sources were forgotten".into());
    (!summary.pinned).then(item)
}

/// A card that says nothing yet.
fn blank(cluster: &Cluster, newest: &Card) -> Card {
    Card {
        track: Track::Semantic,
        category: if cluster.is_same() { "preference" } else { "knowledge" }.into(),
        extractor: Some("consolidation".into()),
        entities: vec![],
        tags: vec![],
        links: vec![],
        sources: vec![],
        last_accessed_at: None,
        reinforced_at: None,
        access_count: 0,
        mention_count: 0,
        importance: 0.0,
        confidence: 0.0,
        provenance: Provenance::Stated,
        pinned: false,
        state: State::Active,
        state_before: None,
        ..newest.clone()
    }
}

/// What its sources, the newest first, lend to a card.
fn stand_on(card: &mut Card, sources: &[Card], mentions: u32, withdrawn: bool) {
    let newest = &sources[0];
    card.mention_count = if withdrawn { mentions } else { card.mention_count.max(mentions) };
    if withdrawn {
        card.sources.clear();
    }
    for source in sources.iter().rev().flat_map(|source| &source.sources) {
        if !card.sources.contains(source) {
            card.sources.push(source.clone());
        }
    }
    let most = sources.iter().map(|source| source.confidence).fold(0.0, f32::max);
    if most >= STATED_CONFIDENCE && most > card.confidence {
        let strongest = sources.iter().find(|source| source.confidence == most).unwrap();
        (card.confidence, card.provenance) = (most, strongest.provenance);
    }
    if card.confidence < STATED_CONFIDENCE && most < STATED_CONFIDENCE {
        (card.confidence, card.provenance) = (STATED_CONFIDENCE, Provenance::Stated);
    }
    if card.state == State::Candidate {
        card.state = State::Active;
    }
    card.importance = sources.iter().map(|source| source.importance).fold(card.importance, f32::max);
    refer(card, sources.iter().map(Card::reference).max().unwrap());
    let ends: Option<Vec<Timestamp>> = sources.iter().map(|source| source.expires_at).collect();
    card.expires_at = ends.and_then(|ends| ends.into_iter().max());
    (card.entities, card.tags) = (vec![], vec![]);
    for source in sources {
        for (mine, theirs) in [(&mut card.entities, &source.entities), (&mut card.tags, &source.tags)] {
            let new: Vec<String> = theirs.iter().filter(|name| !mine.contains(name)).cloned().collect();
            mine.extend(new);
        }
    }
    (card.occurred_at, card.polarity) = (newest.occurred_at, newest.polarity);
}

/// The words of the card: the newest ones, or each statement on a line, with its day where
/// another line says otherwise.
fn content(cluster: &Cluster, sources: &[Card], present: Option<&Card>) -> String {
    let newest = &sources[0];
    if let Some(present) = present
        && sources.iter().all(|source| source.content != present.content)
        && newest.recorded_at <= present.updated_at
        && present.polarity == newest.polarity
        && super::sayings::SAYINGS.iter().any(|saying| {
            saying.text == present.content && saying.states == Saying::of(&newest.content).states
        })
    {
        return present.content.clone();
    }
    if cluster.is_same() {
        return newest.content.clone();
    }
    let mut lines: Vec<&Card> = vec![];
    for source in sources {
        let states = Saying::of(&source.content).states;
        if lines.iter().all(|line| Saying::of(&line.content).states != states) {
            lines.push(source);
        }
    }
    let line = |card: &&Card| {
        let otherwise = |other: &&Card| matches!(relation(other, card), Relation::Opposite | Relation::Value);
        match lines.iter().any(otherwise) {
            true => format!("{} ({})", card.content, &card.occurred_at.to_string()[..10]),
            false => card.content.clone(),
        }
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
