//! Which of the held cards a new statement concerns, and how.

use std::sync::Arc;

use crate::Result;
use crate::card::{Card, CardId, LinkKind, Role, State};
use crate::forget::consolidate::fact_key;
use crate::index::cosine;
use crate::index::partition::{Partition, Row, statement};
use crate::judge::{self, Relation};
use crate::learn::edge;
use crate::learn::remember::Draft;
use crate::learn::{is_held, relation, relation_of};
use crate::store::{Batch, ChangeKind, Database, Lookup, TenantId};

/// Least cosine of two wordings of one statement, where both have vectors. The judge has
/// found them to differ in padding only; "please remember to" alone takes the built-in
/// model from 1 to 0.77 on a sentence of three words.
const MERGE_COSINE: f32 = 0.7;

/// How many changes of a tenant are looked through for the statement before.
const LOOK_BACK: usize = 64;

/// What a new card has to do with the cards that are there.
#[derive(Default)]
pub(super) struct Findings {
    /// The card that says the same.
    pub(super) merge: Option<Card>,
    /// Cards that it replaces, and whether they are overturned by it.
    pub(super) replaces: Vec<(Card, bool)>,
    /// Cards that hold since a later time than it tells of: it is history already.
    pub(super) outlived_by: Vec<Card>,
    /// Cards that it merely contradicts.
    pub(super) contradicts: Vec<Card>,
    /// What it states in full, where it only points back to the statement before.
    pub(super) resolved: Option<String>,
}

impl Findings {
    /// True when that card is the one that says the same.
    pub(super) fn merges(&self, card: &Card) -> bool {
        self.merge.as_ref().is_some_and(|merge| merge.id == card.id)
    }

    /// Notes that a card is replaced, once.
    pub(super) fn replace(&mut self, card: Card, overturned: bool) {
        if self.replaces.iter().all(|(old, _)| old.id != card.id) {
            self.replaces.push((card, overturned));
        }
    }
}

/// True unless speakers or entities say that two cards are about different people or
/// things: the same words about somebody else are another statement.
pub(crate) fn are_about_the_same(new: &Card, known: &Card) -> bool {
    // "A of B" and "C" make the same words as "A" and "of B C".
    if let (Some(mine), Some(theirs)) = (new.edge(), known.edge()) {
        return edge::names(mine) == edge::names(theirs);
    }
    let speaker = |card: &Card| card.source().and_then(|source| source.speaker.clone());
    let speakers = match (speaker(new), speaker(known)) {
        (Some(mine), Some(theirs)) => mine == theirs,
        _ => true,
    };
    if are_of_other_days(new, known) {
        return false;
    }
    let (mine, theirs) = (&new.entities, &known.entities);
    speakers && (mine.is_empty() || theirs.is_empty() || mine.iter().any(|name| theirs.contains(name)))
}

/// True unless merge keys or facts say that two cards are not one.
pub(crate) fn are_compatible(new: &Card, known: &Card) -> bool {
    let key = match (&new.merge_key, &known.merge_key) {
        (Some(new), Some(old)) => new == old,
        _ => true,
    };
    let fact = match (&new.fact, &known.fact) {
        (Some(new), Some(old)) => {
            let same = |a: &str, b: &str| judge::normalized_hash(a) == judge::normalized_hash(b);
            // The key of a look-up tells what is the same entity and attribute.
            Lookup::Fact(new).key() == Lookup::Fact(old).key() && same(&new.value, &old.value)
        }
        _ => true,
    };
    key && fact
}

/// Words for a day that is another one each day.
const DAY_WORDS: [&str; 24] = [
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "last night",
    "this morning",
    "this afternoon",
    "this evening",
    "the day before yesterday",
    "the day after tomorrow",
    "yesterday morning",
    "yesterday evening",
    "今天",
    "昨天",
    "明天",
    "前天",
    "后天",
    "大前天",
    "大后天",
    "昨晚",
    "今晚",
    "今早",
    "明早",
    "昨天下午",
];

/// True when both tell of a day that only the time of telling gives ("yesterday"), and it is
/// not the same one: what was said of one day is not said again of another.
fn are_of_other_days(new: &Card, known: &Card) -> bool {
    let day = |card: &Card| {
        let told = card.times.iter().find(|time| DAY_WORDS.contains(&time.phrase.to_lowercase().as_str()));
        told.map(|time| (time.from, time.to))
    };
    matches!((day(new), day(known)), (Some(mine), Some(theirs)) if mine != theirs)
}

/// A statement with its value exchanged: what "now it is red" states after "the colour is
/// blue". Both side by side where the old value is not found exactly once.
fn resolve(before: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
    let (old, new) = (old?, new?);
    let mut places = before.match_indices(old);
    let text = match (places.next(), places.next()) {
        (Some((at, _)), None) => format!("{}{new}{}", &before[..at], &before[at + old.len()..]),
        _ => format!("{before} → {new}"),
    };
    (text.len() <= crate::card::Limits::default().summary_bytes).then_some(text)
}

impl Draft {
    /// The held cards that claim a key or a fact: the one found first, and those that were
    /// left beside it as contradictions.
    pub(super) fn claimants(
        &self,
        batch: &Batch<'_>,
        tenant: TenantId,
        holder: Card,
        claims: impl Fn(&Card) -> bool,
    ) -> Result<Vec<Card>> {
        let mut seen = vec![holder.id];
        let mut found = vec![holder];
        let mut at = 0;
        while at < found.len() {
            let links: Vec<CardId> = found[at]
                .links
                .iter()
                .filter(|link| match link.kind {
                    LinkKind::ConflictsWith | LinkKind::Succeeds => true,
                    // What a card sums up falls with it, and it with them.
                    LinkKind::Related => found[at].is_consolidated(),
                    _ => false,
                })
                .filter(|link| !seen.contains(&link.to))
                .map(|link| link.to)
                .collect();
            let summary = match fact_key(&found[at]) {
                Some(key) => batch.lookup(tenant, &Lookup::MergeKey(&key))?,
                None => None,
            };
            let summary = summary.filter(|id| !seen.contains(id));
            for id in links.into_iter().chain(summary) {
                seen.push(id);
                found.extend(batch.tables().card(tenant, id)?.filter(|card| claims(card)));
            }
            at += 1;
        }
        found.retain(|known| claims(known) && is_held(known, &self.rules, self.now));
        Ok(found)
    }

    /// The statement that this one only points back to, and what this one states in full:
    /// "now it is red" after "the colour is blue".
    pub(super) fn follow_up(
        &self,
        batch: &Batch<'_>,
        tenant: TenantId,
    ) -> Result<Option<(Card, Option<String>)>> {
        if !self.statement || !self.analysis().refers_back() {
            return Ok(None);
        }
        let Some(known) = self.previous_statement(batch, tenant)? else { return Ok(None) };
        let (before, after) = (judge::analyze(statement(&known)), self.analysis());
        let follows =
            judge::relation_to_previous(&before, after) == Relation::ValueChanged { explicit: true };
        let resolved = resolve(statement(&known), before.value(), after.value());
        Ok(follows.then_some((known, resolved)))
    }

    /// Compares with the statements about the same topic or subject.
    pub(super) fn compare_statements(
        &self,
        batch: &Batch<'_>,
        tenant: TenantId,
        findings: &mut Findings,
    ) -> Result<()> {
        if !self.statement {
            return Ok(());
        }
        let analysis = self.analysis();
        let hashes = analysis.lookup_hashes();
        let mut ids: Vec<CardId> = Vec::new();
        for hash in hashes.into_iter().flatten() {
            if let Some(partition) = &self.partition {
                let partition = partition.read()?;
                let related = |id: &&CardId| {
                    batch.is_changed(tenant, **id) || !self.is_unrelated(tenant, &partition, **id)
                };
                ids.extend(partition.by_hash(hash).iter().filter(related));
            }
            ids.extend_from_slice(batch.noted(tenant, hash));
        }
        if self.partition.is_none() && !batch.is_new(tenant) {
            // The tenant came to be since the request was checked: it has few cards yet.
            for known in batch.tables().cards(tenant, None, false)? {
                let known = known?;
                let theirs = judge::analyze(statement(&known)).lookup_hashes();
                if theirs.iter().flatten().any(|hash| hashes.contains(&Some(*hash))) {
                    ids.push(known.id);
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        for id in ids.into_iter().rev() {
            let Some(known) = batch.tables().card(tenant, id)? else { continue };
            if !self.is_comparable(&known) {
                continue;
            }
            match relation(&known, analysis, self.card.polarity) {
                Relation::Identical | Relation::Same => {
                    // A statement is counted where it was told, not at the card that sums it up.
                    let free = findings
                        .merge
                        .as_ref()
                        .is_none_or(|found| found.is_consolidated() && !known.is_consolidated());
                    if free && self.may_merge(batch, tenant, &known)? {
                        findings.merge = Some(known);
                    }
                }
                Relation::Opposite => findings.replace(known, true),
                Relation::ValueChanged { explicit: true } => findings.replace(known, false),
                Relation::ValueChanged { explicit: false } => {
                    if findings.replaces.iter().all(|(other, _)| other.id != known.id) {
                        findings.contradicts.push(known);
                    }
                }
                Relation::Different => {}
            }
        }
        Ok(())
    }

    /// True when what was read of a card before says that the two have nothing to do with
    /// each other. The partition shows the card as it is, so its record need not be read.
    fn is_unrelated(&self, tenant: TenantId, partition: &Partition, id: CardId) -> bool {
        let Some(row) = partition.current(id) else { return false };
        let held = (row.card.version, row.card.polarity);
        self.analyses.get(tenant, id, held.0).is_some_and(|known| {
            relation_of((&known, held.1), (self.analysis(), self.card.polarity)) == Relation::Different
        })
    }

    /// Reads the statements that this one will be compared with, unless that was done before:
    /// in the caller's time and not in the transaction, in which everybody waits.
    pub(crate) fn read_ahead(&self, database: &Database, tenant: TenantId) -> Result<()> {
        let Some(partition) = self.partition.as_ref().filter(|_| self.statement) else { return Ok(()) };
        let mut unread: Vec<(CardId, u32)> = Vec::new();
        {
            let partition = partition.read()?;
            for hash in self.analysis().lookup_hashes().into_iter().flatten() {
                let cards = partition.by_hash(hash).iter().filter_map(|id| partition.current(*id));
                let unknown = |row: &&Row| {
                    self.analyses.get(tenant, row.card.id, row.card.version).is_none()
                        && matches!(row.card.state, State::Active | State::Candidate)
                };
                unread.extend(cards.filter(unknown).map(|row| (row.card.id, row.card.version)));
            }
        }
        if unread.is_empty() {
            return Ok(());
        }
        let tables = database.read()?;
        for (id, version) in unread {
            if let Some(card) = tables.version(tenant, id, version)? {
                let analysis = Arc::new(judge::analyze(statement(&card)));
                self.analyses.insert(tenant, id, version, analysis);
            }
        }
        Ok(())
    }

    /// True for a held statement, neither an event nor a relation, in the same voice: "I" of the assistant is
    /// not "I" of the user.
    fn is_comparable(&self, known: &Card) -> bool {
        let assistant = |card: &Card| card.source().and_then(|source| source.role) == Some(Role::Assistant);
        known.is_statement()
            && assistant(&self.card) == assistant(known)
            && are_about_the_same(&self.card, known)
            && known.track == self.card.track
            && is_held(known, &self.rules, self.now)
    }

    /// The statement made last in the same session: what "it" of "now it is red" stands for.
    fn previous_statement(&self, batch: &Batch<'_>, tenant: TenantId) -> Result<Option<Card>> {
        let tables = batch.tables();
        let session = |card: &Card| card.source().and_then(|source| source.session.clone());
        for change in batch.last_changes(tenant, LOOK_BACK)? {
            if change.kind == ChangeKind::Lookups {
                continue;
            }
            let Some(told) = tables.version(tenant, change.card, change.version)? else { continue };
            // What a statement did to other cards is no statement.
            let said = change.kind == ChangeKind::Touch
                || matches!(told.reason.action.as_str(), "created" | "merged" | "promoted" | "corrected");
            if said && !told.is_relation() && session(&told) == session(&self.card) {
                let known = tables.card(tenant, change.card)?;
                return Ok(known.filter(|known| self.is_comparable(known)));
            }
        }
        Ok(None)
    }

    /// True unless merge key or fact say that the two are not one.
    pub(super) fn is_compatible(&self, known: &Card) -> bool {
        are_compatible(&self.card, known)
    }

    /// The last word before a merge: same category, near in meaning where both have
    /// vectors, and the same statement as the card's first wording, so that a chain of
    /// merges cannot drift.
    fn may_merge(&self, batch: &Batch<'_>, tenant: TenantId, known: &Card) -> Result<bool> {
        if known.category != self.card.category || !self.is_compatible(known) {
            return Ok(false);
        }
        if let (Some(new), Some(old)) = (&self.vector, batch.tables().vector(tenant, known)?)
            && cosine(new, &old).is_some_and(|cosine| cosine < MERGE_COSINE)
        {
            return Ok(false);
        }
        let first = batch.tables().version(tenant, known.id, 1)?;
        Ok(first.is_none_or(|first| {
            matches!(
                relation(&first, self.analysis(), self.card.polarity),
                Relation::Identical | Relation::Same
            )
        }))
    }
}
