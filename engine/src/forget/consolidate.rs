//! Several cards become one more that sums them up: what is told again and again is one
//! preference, and what was told of one thing is one summary.
//!
//! The rules find clusters and say what the one card looks like; `apply` makes it. Its words
//! are those of its sources and nothing else, the sources stay as they are, and it is never a
//! source itself, so that nothing grows by repetition. The card of a cluster is found again
//! by its merge key and brought up to date; a cluster that has not changed gives nothing.
//!
//! Archived cards begin no cluster and are not looked at, so that the cost does not grow with what lies in
//! the cold tier. Those that a card sums up already stay its sources: they are read where something else of
//! their cluster is told, or was forgotten.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::Result;
use crate::card::{CONSOLIDATED, Card, CardId, Polarity, State, Track, category};
use crate::forget::apply::sources_of;
use crate::forget::due::{RuleBook, life};
use crate::forget::duplicates::UNDONE;
use crate::forget::plan::{Found, Planner};
use crate::forget::summary::{Kind, Summary, summarize};
use crate::index::partition::statement;
use crate::judge::{self, Analysis, Relation};
use crate::learn::compare::are_about_the_same;
use crate::learn::{by_person, is_another_moment, is_kept, relation_of};
use crate::store::{Lookup, ReadBytes};
use crate::verbs::{Action, Work};

/// Cards that make a cluster.
pub(super) const LEAST: usize = 3;

/// A rule by which cards become one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consolidation {
    /// The same preference or fact, told at several moments, becomes one card of the profile.
    Preferences,
    /// What was told of one thing on one topic becomes one summary.
    Events,
}

/// What a card adds to a cluster, as far as finding clusters needs it.
struct Source {
    id: CardId,
    /// The cluster of the same statement or fact; `None` for what is neither preference nor
    /// fact.
    same: Option<u128>,
    /// The clusters of the same topic and thing.
    about: Vec<u128>,
    /// The hashes under which what contradicts it is found.
    hashes: [Option<u64>; 2],
}

/// Hashes parts, of which none runs into the next.
fn digest(parts: &[&[u8]]) -> u128 {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    xxh3_128(&bytes)
}

/// Who says it, and whether it is ruled out: no card sums up what two people say.
fn voice(card: &Card) -> Vec<u8> {
    let speaker = card.source().and_then(|source| source.speaker.as_deref());
    let mut bytes = vec![u8::from(card.polarity == Polarity::Excluded), u8::from(speaker.is_some())];
    bytes.extend_from_slice(speaker.unwrap_or_default().as_bytes());
    bytes
}

fn fact_digest(card: &Card) -> Option<u128> {
    let fact = card.fact.as_ref().filter(|_| !card.is_relation())?;
    let value = judge::normalized_hash(&fact.value).to_le_bytes();
    Some(digest(&[b"fact", &voice(card), &Lookup::Fact(fact).key(), &value]))
}

fn merge_key(cluster: u128) -> String {
    format!("{CONSOLIDATED}{cluster:032x}")
}

/// The merge key of the card that sums up what has the same fact as this one.
pub(crate) fn fact_key(card: &Card) -> Option<String> {
    fact_digest(card).map(merge_key)
}

impl Source {
    fn of(card: &Card) -> Option<Self> {
        let analysis = judge::analyze(statement(card));
        if analysis.is_question() || analysis.refers_back() {
            return None;
        }
        let voice = voice(card);
        let same = fact_digest(card).or_else(|| {
            is_preference(card, &analysis)
                .then(|| digest(&[b"statement", &voice, &analysis.statement_hash().to_le_bytes()]))
        });
        let mut about = Vec::new();
        if card.track == Track::Episodic
            && let Some(topic) = analysis.subject_hash().or(analysis.topic_hash())
        {
            let mentioned = card.mentions.iter().map(|mention| &mention.name);
            let names: BTreeSet<String> =
                card.entities.iter().chain(mentioned).map(|name| judge::name_key(name)).collect();
            // In order of the names, so that of two clusters of the same cards one is made.
            about = names
                .iter()
                .map(|name| digest(&[b"about", &voice, &topic.to_le_bytes(), name.as_bytes()]))
                .collect();
        }
        Some(Self { id: card.id, same, about, hashes: analysis.lookup_hashes() })
    }
}

/// True for what somebody likes, dislikes or rules out, or is.
fn is_preference(card: &Card, analysis: &Analysis) -> bool {
    matches!(card.category.as_str(), category::PREFERENCE | category::PROFILE)
        || card.polarity == Polarity::Excluded
        || analysis.is_preference()
        || judge::excluded_object(&card.content).is_some()
}

/// True for what a caller has had forgotten, and no rule.
fn is_forgotten_by_caller(card: &Card) -> bool {
    card.state == State::Forgotten
        && card.reason.action == "forgotten"
        && card.reason.actor.as_deref() != Some("policy")
}

/// The sources of a tenant, and the cards that sum some up.
#[derive(Default)]
struct Sources {
    all: Vec<Source>,
    /// By topic and subject.
    by_hash: HashMap<u64, Vec<CardId>>,
    /// By merge key, in whatever state but archived; the last one where there are several.
    summaries: BTreeMap<String, Card>,
    /// What a caller has had forgotten: cards that sum it up must not go on doing so.
    withdrawn: Vec<Source>,
}

impl<T: ReadBytes> Planner<'_, T> {
    /// Finds what can be summed up; all rules when none is named.
    pub(crate) fn find_consolidations(&self, rules: &[Consolidation]) -> Result<Found> {
        let mut found = Found { work: Work { tenants: 1, ..Work::default() }, ..Found::default() };
        let mut book = RuleBook::new(self.policies);
        let wants = |rule| rules.is_empty() || rules.contains(&rule);
        let Sources { all, by_hash, mut summaries, withdrawn } = self.sources(&mut found, &mut book)?;
        let mut same: BTreeMap<u128, Vec<CardId>> = BTreeMap::new();
        let mut about: BTreeMap<u128, Vec<CardId>> = BTreeMap::new();
        let mut about_of: HashMap<CardId, &[u128]> = HashMap::new();
        for source in &all {
            if let Some(cluster) = source.same {
                same.entry(cluster).or_default().push(source.id);
            }
            for cluster in &source.about {
                about.entry(*cluster).or_default().push(source.id);
            }
            about_of.insert(source.id, &source.about);
        }
        for source in &withdrawn {
            if let Some(cluster) = source.same {
                same.entry(cluster).or_default();
            }
            for cluster in &source.about {
                about.entry(*cluster).or_default();
            }
        }
        let mut settled: HashSet<CardId> = HashSet::new();
        for (cluster, mut ids) in same {
            let key = merge_key(cluster);
            let present = self.summary(&key, &mut summaries)?;
            if ids.len() < LEAST && present.is_none() {
                continue;
            }
            let belongs = |source: &Source| source.same == Some(cluster);
            ids.extend(self.archived_sources(present.as_ref(), belongs, &mut found, &mut book)?);
            if ids.is_empty() {
                // Nothing of it is told any more.
                summaries.extend(present.map(|present| (key, present)));
                continue;
            }
            let Some(cards) = self.same(&ids, present.is_some())? else { continue };
            settled.extend(cards.iter().map(|card| card.id));
            if wants(Consolidation::Preferences) && !self.is_contradicted(&cards, &by_hash)? {
                self.propose(Kind::Same, key, cards, present, &mut found, &mut book)?;
            }
        }
        // A card that several names stand in belongs to the cluster of the first of them that
        // is large enough.
        let large: BTreeSet<u128> =
            about.iter().filter(|(_, ids)| ids.len() >= LEAST).map(|(cluster, _)| *cluster).collect();
        let home = |id: &CardId| about_of.get(id)?.iter().find(|cluster| large.contains(cluster)).copied();
        for (cluster, ids) in about {
            let key = merge_key(cluster);
            let present = self.summary(&key, &mut summaries)?;
            let mut ids: Vec<CardId> = ids
                .into_iter()
                .filter(|id| !settled.contains(id))
                .filter(|id| present.is_some() || home(id) == Some(cluster))
                .collect();
            if (ids.len() < LEAST && present.is_none()) || !wants(Consolidation::Events) {
                continue;
            }
            let belongs = |source: &Source| source.about.contains(&cluster);
            ids.extend(self.archived_sources(present.as_ref(), belongs, &mut found, &mut book)?);
            if ids.is_empty() {
                summaries.extend(present.map(|present| (key, present)));
                continue;
            }
            let mut cards = Vec::with_capacity(ids.len());
            for id in ids {
                cards.extend(self.tables.card(self.tenant, id)?);
            }
            self.propose(Kind::About, key, cards, present, &mut found, &mut book)?;
        }
        // Cards whose sources nobody tells any more.
        for present in summaries.into_values().filter(|present| is_kept(present, self.now)) {
            if self.is_withdrawn(&present)? {
                self.drop_summary(&present, &mut found, &mut book)?;
            }
        }
        found.items.sort_by(|a, b| (a.action, a.into, &a.rule, a.id).cmp(&(b.action, b.into, &b.rule, b.id)));
        Ok(found)
    }

    fn sources(&self, found: &mut Found, book: &mut RuleBook<'_>) -> Result<Sources> {
        let mut sources = Sources::default();
        for card in self.tables.cards_in(self.tenant, None, false, |state| state != State::Archived)? {
            let card = card?;
            found.work.cards += 1;
            // Where archived cards lie must not matter.
            if card.state == State::Archived {
                continue;
            }
            if card.is_consolidated() {
                let key = card.merge_key.clone().unwrap_or_default();
                let known = sources.summaries.get(&key);
                if known.is_none_or(|known| !is_kept(known, self.now)) {
                    sources.summaries.insert(key, card);
                }
                continue;
            }
            if is_forgotten_by_caller(&card) {
                sources.withdrawn.extend(Source::of(&card));
            }
            if let Some(source) = self.source(&card, book) {
                for hash in source.hashes.into_iter().flatten() {
                    sources.by_hash.entry(hash).or_default().push(card.id);
                }
                sources.all.push(source);
            }
        }
        Ok(sources)
    }

    /// What a card adds to clusters, where it is one that may be summed up.
    fn source(&self, card: &Card, book: &mut RuleBook<'_>) -> Option<Source> {
        let told = matches!(card.track, Track::Episodic | Track::Semantic)
            && !card.is_relation()
            && is_kept(card, self.now)
            && by_person(card)
            && life(card).expires(book.of(card)).is_none_or(|at| at > self.now);
        told.then(|| Source::of(card)).flatten()
    }

    /// The card that sums up a cluster: one that was met, or an archived one, to which its merge key leads.
    fn summary(&self, key: &str, met: &mut BTreeMap<String, Card>) -> Result<Option<Card>> {
        if let Some(met) = met.remove(key) {
            return Ok(Some(met));
        }
        let Some(id) = (self.lookup)(&Lookup::MergeKey(key))? else { return Ok(None) };
        let found = self.tables.card(self.tenant, id)?;
        Ok(found.filter(|card| card.state == State::Archived && card.is_consolidated()))
    }

    /// The archived cards that a card sums up, as far as they belong to its cluster.
    fn archived_sources(
        &self,
        summary: Option<&Card>,
        belongs: impl Fn(&Source) -> bool,
        found: &mut Found,
        book: &mut RuleBook<'_>,
    ) -> Result<Vec<CardId>> {
        let mut archived = Vec::new();
        for id in summary.into_iter().flat_map(sources_of) {
            let outline = self.tables.outline(self.tenant, id)?;
            if outline.is_none_or(|card| card.state != State::Archived) {
                continue;
            }
            let Some(card) = self.tables.card(self.tenant, id)? else { continue };
            found.work.cards += 1;
            if self.source(&card, book).is_some_and(|source| belongs(&source)) {
                archived.push(id);
            }
        }
        Ok(archived)
    }

    /// The cards that say what the first of them says, told at two moments or more; `None`
    /// where that is no cluster.
    fn same(&self, ids: &[CardId], exists: bool) -> Result<Option<Vec<Card>>> {
        let mut cards = Vec::with_capacity(ids.len());
        for id in ids {
            cards.extend(self.tables.card(self.tenant, *id)?);
        }
        cards.sort_by_key(|card: &Card| (card.recorded_at, card.id));
        let Some((first, rest)) = cards.split_first() else { return Ok(None) };
        let fact = fact_digest(first);
        let states = judge::analyze(statement(first));
        let mut same = vec![first.clone()];
        for card in rest {
            let is_same = match fact {
                Some(_) => fact_digest(card) == fact,
                None => {
                    let theirs = judge::analyze(statement(card));
                    let relation = relation_of((&states, first.polarity), (&theirs, card.polarity));
                    matches!(relation, Relation::Identical | Relation::Same)
                }
            };
            if is_same {
                same.push(card.clone());
            }
        }
        let moments = same.iter().skip(1).any(|card| is_another_moment(&same[0], card));
        Ok((exists || same.len() >= LEAST && moments).then_some(same))
    }

    /// True when something was said after the last of some cards that they cannot both be true
    /// with.
    fn is_contradicted(&self, cards: &[Card], by_hash: &HashMap<u64, Vec<CardId>>) -> Result<bool> {
        let Some(newest) = cards.iter().max_by_key(|card| (card.occurred_at, card.recorded_at, card.id))
        else {
            return Ok(false);
        };
        let mine = judge::analyze(statement(newest));
        let mut seen: HashSet<CardId> = cards.iter().map(|card| card.id).collect();
        for id in mine.lookup_hashes().iter().flatten().filter_map(|hash| by_hash.get(hash)).flatten() {
            if !seen.insert(*id) {
                continue;
            }
            let Some(other) = self.tables.card(self.tenant, *id)? else { continue };
            if other.start() < newest.start() || !are_about_the_same(&other, newest) {
                continue;
            }
            let theirs = judge::analyze(statement(&other));
            let relation = relation_of((&mine, newest.polarity), (&theirs, other.polarity));
            if matches!(relation, Relation::Opposite | Relation::ValueChanged { .. }) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds what is to be done for a cluster, if anything is.
    fn propose(
        &self,
        kind: Kind,
        key: String,
        sources: Vec<Card>,
        present: Option<Card>,
        found: &mut Found,
        book: &mut RuleBook<'_>,
    ) -> Result<()> {
        if let Some(present) = &present
            && self.is_refused(present, &sources)?
        {
            return Ok(());
        }
        let latest = sources.iter().map(|source| source.recorded_at).max();
        let present = match present {
            // What was forgotten, or contradicted since, is not brought back by what it was made of.
            Some(gone) if !is_kept(&gone, self.now) => {
                let undone = gone.state == State::Forgotten && gone.reason.action == UNDONE;
                if !undone && latest.is_none_or(|latest| latest <= gone.updated_at) {
                    return Ok(());
                }
                None
            }
            other => other,
        };
        let withdrawn = match &present {
            Some(present) => self.is_withdrawn(present)?,
            None => false,
        };
        if sources.is_empty() {
            return match (present, withdrawn) {
                (Some(present), true) => self.drop_summary(&present, found, book),
                _ => Ok(()),
            };
        }
        if sources.len() < LEAST && !withdrawn && (present.is_none() || kind == Kind::About) {
            return Ok(());
        }
        let Some(Summary { card, sources_mark, newest }) =
            summarize(kind, key, sources, (present.as_ref(), withdrawn), |ids| {
                crate::forget::apply::sources_mark(self.tables, self.tenant, ids)
            })?
        else {
            return Ok(());
        };
        if !self.admits(found, &mut 0, Action::Consolidate) {
            return Ok(());
        }
        let because = match kind {
            Kind::Same => format!("preferences ({} cards say the same)", sources_of(&card).len()),
            Kind::About => format!("events ({} cards about the same)", sources_of(&card).len()),
        };
        let about = present.as_ref().unwrap_or(&newest);
        let rule = book.of(about).clone();
        let mut item = self.item(about, &rule, Action::Consolidate, because)?;
        item.into = present.as_ref().map(|present| present.id);
        item.into_mark = sources_mark;
        item.make = Some(Box::new(card));
        found.items.push(item);
        Ok(())
    }

    /// True when the summing up was taken back and none of the sources has changed since.
    fn is_refused(&self, summary: &Card, sources: &[Card]) -> Result<bool> {
        if summary.reason.action != UNDONE || summary.version < 2 {
            return Ok(false);
        }
        let before = self.tables.version(self.tenant, summary.id, summary.version - 1)?;
        let mentions = sources.iter().fold(0, |sum: u32, source| sum.saturating_add(source.mention_count));
        let same = |before: Card| before.reason.action == "consolidated" && mentions <= before.mention_count;
        Ok(before.is_some_and(same) && sources.iter().all(|source| source.updated_at <= summary.updated_at))
    }

    /// True when a caller has had one of the sources forgotten: their words must not live on
    /// in the card that sums them up.
    fn is_withdrawn(&self, summary: &Card) -> Result<bool> {
        for id in sources_of(summary) {
            // What is forgotten is not cold.
            let forgotten = |card: &Card| card.state == State::Forgotten;
            if self.tables.outline(self.tenant, id)?.is_some_and(|card| forgotten(&card))
                && self.tables.card(self.tenant, id)?.is_some_and(|source| is_forgotten_by_caller(&source))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets a card of which no source is left.
    fn drop_summary(&self, summary: &Card, found: &mut Found, book: &mut RuleBook<'_>) -> Result<()> {
        if summary.pinned || !self.admits(found, &mut 0, Action::Consolidate) {
            return Ok(());
        }
        let rule = book.of(summary).clone();
        found.items.push(self.item(summary, &rule, Action::Forget, "sources were forgotten".into())?);
        Ok(())
    }
}
