//! Finding cards that say the same: what was told twice through doors that do not compare.
//!
//! `remember` compares as it writes; imports, restored cards and texts that were embedded anew
//! come in without that. Cards that changed since the last run are compared with those that
//! the rules of `learn` and `judge` would compare them with. The first of the cards that say
//! the same survives, and each of the others joins it by a comparison of the two, and of all
//! that have joined before: what is like a card that is like another is not like that one.
//! What contradicts, or gives another value, is found on the way (`contradictions`). What was made
//! one and taken back is not proposed again as long as neither card has changed since.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::Result;
use crate::card::{Card, CardId, LinkKind, Role, Track};
use crate::forget::contradictions::{Otherwise, Replaced, contradictions};
use crate::forget::due::{RuleBook, life};
use crate::forget::mark;
use crate::forget::plan::{Found, MERGED, Planner};
use crate::forget::resolve::Resolved;
use crate::index::cosine;
use crate::index::partition::{Partition, statement};
use crate::judge::{self, Analysis, Relation};
use crate::learn::compare::{are_about_the_same, are_compatible};
use crate::learn::{is_kept, relation_of};
use crate::store::{ChangeKind, Lookup, LookupKey, ReadBytes};
use crate::verbs::Action;

/// What the history says of a card that a run had changed and that is as it was before.
pub(super) const UNDONE: &str = "undone";

/// Changed cards that one plan looks at; the next one goes on with the rest.
const LOOKED_AT: usize = 2000;

/// A card that may be one of several.
pub(super) struct Told {
    pub(super) card: Card,
    /// What the rules read in what it states; of an event nothing but its words counts.
    pub(super) analysis: Analysis,
    vector: Option<Vec<f32>>,
    /// What the card stated in its first wording, where that was another one.
    first: Option<Analysis>,
    /// The cards with which a plan had to do it before that was taken back.
    apart: HashSet<CardId>,
}

impl Told {
    /// True when the two were one, or one took the other's place, and somebody took that back.
    pub(super) fn refuses(&self, other: &Self) -> bool {
        self.apart.contains(&other.card.id) && other.apart.contains(&self.card.id)
    }
}

/// Cards that say the same: the first, and with each other one how alike it is to the first.
pub(super) struct Group {
    pub(super) survivor: usize,
    pub(super) others: Vec<(usize, Likeness)>,
}

/// How a card says what another one says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Likeness {
    /// In the same words.
    Words,
    /// In other words, with vectors of that cosine.
    Statement(f32),
}

/// The cards that may be one with each other: those of one track and category.
type Kinds = BTreeMap<(Track, String), Vec<Told>>;

impl<T: ReadBytes> Planner<'_, T> {
    /// Finds what says the same as another card.
    pub(super) fn find_duplicates(
        &self,
        found: &mut Found,
        book: &mut RuleBook<'_>,
        taken: &mut HashSet<CardId>,
        leaving: &mut u64,
    ) -> Result<()> {
        let done: u64 = self.tables.setting(self.tenant, MERGED)?.unwrap_or(0);
        let (changed, upto, cut) = self.changed_since(done)?;
        if cut {
            found.notes.push(format!(
                "duplicates of {} changed cards were looked for; the next plan goes on with the rest",
                changed.len()
            ));
        }
        let kinds = self.comparable(&changed, found, book, taken)?;
        let held_back = found.held_back;
        for told in kinds.into_values() {
            let Some(first) = told.first() else { continue };
            let rule = book.of(&first.card).clone();
            let told = self.find_replaced(told, &rule, found, taken, leaving)?;
            if !self.wants(Action::Merge) {
                continue;
            }
            for group in groups(&told, rule.similarity as f32) {
                let survivor = &told[group.survivor].card;
                let into_mark = mark(survivor)?;
                for (at, likeness) in group.others {
                    if !self.admits(found, leaving, Action::Merge) {
                        continue;
                    }
                    let card = &told[at].card;
                    let (words, similarity) = match likeness {
                        Likeness::Words => (format!("duplicate words ({})", rule.origins.merge), 1.0),
                        Likeness::Statement(cosine) => {
                            (format!("same statement ({})", rule.origins.similarity), f64::from(cosine))
                        }
                    };
                    let mut item = self.item(card, &rule, Action::Merge, words)?;
                    (item.into, item.into_mark) = (Some(survivor.id), into_mark);
                    item.figures.similarity = Some(similarity);
                    if likeness != Likeness::Words {
                        item.figures.threshold = Some(rule.similarity);
                    }
                    taken.insert(card.id);
                    taken.insert(survivor.id);
                    found.items.push(item);
                }
            }
        }
        // What the limits hold back must be looked for again.
        found.merged_upto = if found.held_back > held_back { done } else { upto };
        Ok(())
    }

    /// Finds what does not hold any more because of what was told later; gives the others.
    fn find_replaced(
        &self,
        told: Vec<Told>,
        rule: &Resolved,
        found: &mut Found,
        taken: &mut HashSet<CardId>,
        leaving: &mut u64,
    ) -> Result<Vec<Told>> {
        if !self.wants(Action::Supersede) {
            return Ok(told);
        }
        let mut of_it = HashSet::new();
        for Replaced { old, by, why } in contradictions(&told, self.now) {
            of_it.extend([old, by]);
            if !self.admits(found, leaving, Action::Supersede) {
                continue;
            }
            let (card, by) = (&told[old].card, &told[by].card);
            let words = match why {
                Otherwise::Opposite => "contrary statement",
                Otherwise::Value => "another value",
            };
            let because = format!("{words} ({})", rule.origins.merge);
            let mut item = self.item(card, rule, Action::Supersede, because)?;
            (item.into, item.into_mark) = (Some(by.id), mark(by)?);
            item.figures.since = Some(by.start());
            taken.extend([card.id, by.id]);
            found.items.push(item);
        }
        // One step at a time: what says the same as one of these is for the next plan.
        let mut at = 0..told.len();
        Ok(told.into_iter().filter(|_| at.next().is_some_and(|at| !of_it.contains(&at))).collect())
    }

    /// The cards that changed after a position of the log, the position up to which that is
    /// so, and whether there are more.
    fn changed_since(&self, done: u64) -> Result<(BTreeSet<CardId>, u64, bool)> {
        let (mut changed, mut upto) = (BTreeSet::new(), done);
        for logged in self.tables.changes(self.tenant, done)? {
            let logged = logged?;
            if matches!(logged.change.kind, ChangeKind::Version | ChangeKind::Vector) {
                if changed.len() >= LOOKED_AT && !changed.contains(&logged.change.card) {
                    return Ok((changed, upto, true));
                }
                changed.insert(logged.change.card);
            }
            upto = logged.sequence;
        }
        Ok((changed, upto, false))
    }

    /// Reads the changed cards and those that may say the same, by track and category.
    fn comparable(
        &self,
        changed: &BTreeSet<CardId>,
        found: &mut Found,
        book: &mut RuleBook<'_>,
        taken: &HashSet<CardId>,
    ) -> Result<Kinds> {
        let (mut kinds, mut read) = (Kinds::new(), HashSet::new());
        let mut hashes: BTreeMap<Track, BTreeSet<u64>> = BTreeMap::new();
        let mut moments: HashMap<Track, HashSet<Moment>> = HashMap::new();
        let mut claims = Claims::default();
        for id in changed {
            let Some(told) = self.told(*id, found, book, taken, &mut read)? else { continue };
            match Moment::of(&told.card) {
                Some(moment) => {
                    moments.entry(told.card.track).or_default().insert(moment);
                }
                None => {
                    claims.add(&told.card);
                    let mine = told.analysis.lookup_hashes();
                    hashes.entry(told.card.track).or_default().extend(mine.into_iter().flatten());
                }
            }
            kinds.entry((told.card.track, told.card.category.clone())).or_default().push(told);
        }
        let mut others = BTreeSet::new();
        for track in Track::ALL {
            let (hashes, moments) = (hashes.get(track), moments.get(track));
            if hashes.is_none() && moments.is_none() {
                continue;
            }
            let slot = (self.partitions)(*track)?;
            let partition = slot.read()?;
            others.extend(claims.held_in(&partition));
            for hash in hashes.into_iter().flatten() {
                others.extend(partition.by_hash(*hash));
            }
            if let Some(moments) = moments {
                let same = |card: &Card| Moment::of(card).is_some_and(|moment| moments.contains(&moment));
                others.extend(
                    partition
                        .rows()
                        .iter()
                        .map(|row| &row.card)
                        .filter(|card| same(card))
                        .map(|card| card.id),
                );
            }
        }
        for id in others {
            if let Some(told) = self.told(id, found, book, taken, &mut read)? {
                kinds.entry((told.card.track, told.card.category.clone())).or_default().push(told);
            }
        }
        for told in kinds.values_mut() {
            told.sort_by_key(|told| (told.card.recorded_at, told.card.id));
        }
        Ok(kinds)
    }

    /// Reads a card, unless that was done, or it can be no duplicate.
    fn told(
        &self,
        id: CardId,
        found: &mut Found,
        book: &mut RuleBook<'_>,
        taken: &HashSet<CardId>,
        read: &mut HashSet<CardId>,
    ) -> Result<Option<Told>> {
        if !read.insert(id) || taken.contains(&id) {
            return Ok(None);
        }
        found.work.cards += 1;
        let Some(card) = self.tables.card(self.tenant, id)? else { return Ok(None) };
        let rule = book.of(&card);
        let over = life(&card).expires(rule).is_some_and(|at| at <= self.now);
        let barred = card.is_relation() || card.is_consolidated() || over || !rule.merge || rule.protect;
        if barred || !is_kept(&card, self.now) {
            return Ok(None);
        }
        if card.is_event() {
            let analysis = judge::analyze(&card.content);
            let apart = self.apart(&card)?;
            return Ok(Some(Told { card, analysis, vector: None, first: None, apart }));
        }
        let analysis = judge::analyze(statement(&card));
        // "Now it is red" says by itself nothing that another card could say as well.
        if analysis.refers_back() {
            return Ok(None);
        }
        let vector = self.tables.vector(self.tenant, &card)?;
        let apart = self.apart(&card)?;
        let first = match card.version {
            1 => None,
            _ => {
                self.tables.version(self.tenant, id, 1)?.filter(|first| statement(first) != statement(&card))
            }
        };
        let first = first.map(|first| judge::analyze(statement(&first)));
        Ok(Some(Told { card, analysis, vector, first, apart }))
    }

    /// The cards with which one had been made one, or whose place one of the two had taken, before
    /// that was taken back: it says so itself, until it changes.
    fn apart(&self, card: &Card) -> Result<HashSet<CardId>> {
        if card.reason.action != UNDONE || card.version < 2 {
            return Ok(HashSet::new());
        }
        let before = self.tables.version(self.tenant, card.id, card.version - 1)?;
        let before = before.filter(|before| {
            matches!(before.reason.action.as_str(), "merged" | "superseded" | "superseding")
        });
        let links = before.map(|before| before.links).unwrap_or_default();
        let ours = |kind| matches!(kind, LinkKind::Supersedes | LinkKind::SupersededBy);
        Ok(links.into_iter().filter(|link| ours(link.kind)).map(|link| link.to).collect())
    }
}

/// What only one card may claim: the value of a fact, a merge key.
#[derive(Default)]
struct Claims {
    /// By the key of the entity.
    facts: BTreeMap<String, HashSet<LookupKey>>,
    keys: HashSet<String>,
}

impl Claims {
    fn add(&mut self, card: &Card) {
        if let Some(fact) = card.fact.as_ref().filter(|_| !card.is_relation()) {
            let key = Lookup::Fact(fact).key();
            self.facts.entry(judge::name_key(&fact.entity)).or_default().insert(key);
        }
        self.keys.extend(card.merge_key.clone());
    }

    /// The cards of a partition that claim one of these.
    fn held_in(&self, partition: &Partition) -> Vec<CardId> {
        let mut found = Vec::new();
        for (entity, facts) in &self.facts {
            let rows = partition.named().others(entity).iter().map(|row| &partition.row(*row).card);
            let claims = |card: &&Card| {
                card.fact.as_ref().is_some_and(|fact| facts.contains(&Lookup::Fact(fact).key()))
            };
            found.extend(rows.filter(claims).map(|card| card.id));
        }
        if !self.keys.is_empty() {
            let rows = partition.rows().iter().map(|row| &row.card);
            let claims = |card: &&Card| card.merge_key.as_ref().is_some_and(|key| self.keys.contains(key));
            found.extend(rows.filter(claims).map(|card| card.id));
        }
        found
    }
}

/// The turn or the instant that makes an event what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    session: Option<String>,
    turn: Option<u32>,
    /// Only where there is no turn: the same turn may have been given a time once.
    at: Option<i64>,
}

impl Moment {
    fn of(card: &Card) -> Option<Self> {
        let source = card.source().filter(|_| card.is_event())?;
        let turn = source.turn.filter(|_| source.session.is_some());
        Some(Self {
            session: source.session.clone(),
            turn,
            at: source.occurred_at.filter(|_| turn.is_none()).map(crate::time::Timestamp::as_micros),
        })
    }
}

/// Puts cards, which are in order of their recording, to those that they say the same as.
pub(super) fn groups(told: &[Told], similarity: f32) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // By their words and by what they state: only these can be the same.
    let (mut by_words, mut by_statement) =
        (HashMap::<u128, Vec<usize>>::new(), HashMap::<u128, Vec<usize>>::new());
    for (at, card) in told.iter().enumerate() {
        let (words, states) = (card.analysis.normalized_hash(), card.analysis.statement_hash());
        let candidates: BTreeSet<usize> = [by_words.get(&words), by_statement.get(&states)]
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .collect();
        let joined = candidates.into_iter().find_map(|group| {
            let known = &groups[group];
            let likeness = likeness(&told[known.survivor], card, similarity)?;
            let with_all = known.others.iter().all(|(other, _)| {
                likeness_is_possible(&told[*other].card, &card.card) && !told[*other].refuses(card)
            });
            (with_all && !card.card.pinned).then_some((group, likeness))
        });
        match joined {
            Some((group, likeness)) => groups[group].others.push((at, likeness)),
            None => {
                by_words.entry(words).or_default().push(groups.len());
                by_statement.entry(states).or_default().push(groups.len());
                groups.push(Group { survivor: at, others: vec![] });
            }
        }
    }
    groups
}

/// How two cards say the same; `None` when they do not, or it is not certain.
fn likeness(survivor: &Told, other: &Told, similarity: f32) -> Option<Likeness> {
    if !likeness_is_possible(&survivor.card, &other.card) || survivor.refuses(other) {
        return None;
    }
    let (mine, theirs) = (&survivor.analysis, &other.analysis);
    if mine.normalized_hash() == theirs.normalized_hash() {
        return Some(Likeness::Words);
    }
    if survivor.card.is_event() {
        return None;
    }
    let polarity = other.card.polarity;
    let same = |of: &Analysis| {
        let relation = relation_of((of, survivor.card.polarity), (theirs, polarity));
        matches!(relation, Relation::Identical | Relation::Same)
    };
    let figures = mine.numbers() == theirs.numbers()
        && mine.dates() == theirs.dates()
        && mine.identifiers() == theirs.identifiers();
    // As the card was worded at first: many small changes must not add up.
    if !figures || !same(mine) || !survivor.first.as_ref().is_none_or(same) {
        return None;
    }
    let cosine = cosine(survivor.vector.as_ref()?, other.vector.as_ref()?)?;
    (cosine >= similarity).then_some(Likeness::Statement(cosine))
}

/// False where anything beside the words says that two cards are not one.
fn likeness_is_possible(a: &Card, b: &Card) -> bool {
    let voice = |card: &Card| {
        let source = card.source();
        let speaker = source.and_then(|source| source.speaker.clone());
        (speaker, source.and_then(|source| source.role) == Some(Role::Assistant))
    };
    let names = |card: &Card| card.entities.iter().map(|name| judge::name_key(name)).collect::<BTreeSet<_>>();
    let (mine, theirs) = (names(a), names(b));
    let apart = |from: &Card, to: &Card| {
        from.links.iter().any(|link| {
            // Whatever the two have been found to be to each other, it is not the same.
            link.to == to.id && link.kind != LinkKind::Related
        })
    };
    a.is_event() == b.is_event()
        && Moment::of(a) == Moment::of(b)
        && a.polarity == b.polarity
        && voice(a) == voice(b)
        && (mine.is_empty() || theirs.is_empty() || mine == theirs)
        && (a.valid_from, a.valid_to) == (b.valid_from, b.valid_to)
        && are_about_the_same(b, a)
        && are_compatible(b, a)
        && !apart(a, b)
        && !apart(b, a)
}
