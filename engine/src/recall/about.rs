//! All cards about somebody or something, for forgetting them: by name, not by likeness.
//!
//! What is forgotten on request must be what was meant, so nothing is taken for being near in
//! meaning: a card is about a thing when it names it (as an entity, in its fact, at an end of
//! a relation, in tags or merge key) or when its text holds the name as whole words. Other
//! names that are known for the thing count as well. Where a name may be a part of a longer one
//! (`phrase`) and nothing else in the card says so, the card is left out and named, so that a person
//! can decide; a name that was only found in the text by rules says no more than the text.

use std::collections::BTreeSet;

use crate::card::{Card, CardId};
use crate::engine::Tenant;
use crate::index::text::{Role, analyze_query};
use crate::judge::name_key;
use crate::recall::cold;
use crate::recall::phrase::{Holds, Phrase};
use crate::recall::relations::{Relations, names, slots};
use crate::recall::{Include, View};
use crate::time::Timestamp;
use crate::{Error, Result};

/// Cards about a thing, in order of their identifiers.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) cards: Vec<CardId>,
    /// Those that were left out because the name seems to be a part of a longer one there.
    pub(crate) unsure: Vec<CardId>,
}

/// A name of the thing.
struct Name {
    spelled: String,
    key: String,
    phrase: Phrase,
    /// Longer names that the tenant knows and that hold it.
    longer: Vec<String>,
}

impl Name {
    fn new(spelled: &str) -> Self {
        let phrase = Phrase::of(spelled);
        Self { spelled: spelled.to_owned(), key: name_key(spelled), phrase, longer: Vec::new() }
    }

    /// Whether a card names the thing as what it is about.
    fn is_named(&self, card: &Card) -> bool {
        let ends = card.fact.iter().flat_map(|fact| match card.is_relation() {
            true => vec![&fact.entity, &fact.value],
            false => vec![&fact.entity],
        });
        ends.chain(&card.entities).any(|name| name_key(name) == self.key)
    }

    /// Whether the texts beside a card's content hold the name.
    fn in_fields(&self, card: &Card) -> Holds {
        let held = card.attributes.values().filter_map(|value| value.as_str());
        let texts = card.tags.iter().chain(&card.merge_key).chain(card.fact.iter().map(|fact| &fact.value));
        let texts = texts.map(String::as_str).chain(held);
        texts.map(|text| self.phrase.is_in(text, &[], &self.longer)).max().unwrap_or_default()
    }

    /// Whether a card is about the thing, as far as it can be told.
    fn in_card(&self, card: &Card) -> Holds {
        if self.is_named(card) {
            return Holds::Yes;
        }
        let mentioned = match card.mentions.iter().any(|mention| name_key(&mention.name) == self.key) {
            true if self.phrase.needs_borders() => Holds::Doubtful,
            true => return Holds::Yes,
            false => Holds::No,
        };
        let held = self.in_fields(card).max(mentioned);
        let mentions = card.mentions.iter().map(|mention| &mention.name);
        let own: Vec<&str> = card.entities.iter().chain(mentions).map(String::as_str).collect();
        let texts = [Some(&card.content), card.summary.as_ref()].into_iter().flatten();
        texts.map(|text| self.phrase.is_in(text, &own, &self.longer)).fold(held, Holds::max)
    }
}

/// The cards about a thing, in every visible state.
///
/// # Errors
/// [`Error::InvalidArgument`] on `about` when it is empty, or holds no word to look for.
pub(crate) fn find(tenant: &Tenant, about: &str, now: Timestamp) -> Result<About> {
    tenant.store().limits().name("about", about)?;
    let mut called = vec![Name::new(about)];
    if called[0].phrase.is_empty() {
        return Err(Error::invalid("about", "holds no word to look for"));
    }
    let Some(slots) = slots(tenant)? else { return Ok(About::default()) };
    let include = [Include::Superseded, Include::Archived, Include::Candidates];
    let view = View::new(tenant.life_rules()?, &include, None, None, now).at_any_age();
    let mut candidates: BTreeSet<CardId> = BTreeSet::new();
    {
        let relations = Relations::new(&slots, &view)?;
        for (key, spelled) in names(&relations, name_key(about)) {
            candidates.extend(relations.cards(&key).map(|card| card.id));
            if !spelled.is_empty() {
                called.push(Name::new(&spelled));
            }
        }
    }
    called.retain(|name| !name.phrase.is_empty());
    for slot in &slots {
        let partition = slot.read()?;
        for name in called.iter_mut().filter(|name| name.phrase.needs_borders()) {
            let longer = partition.named().keys().filter(|key| key.len() > name.key.len());
            name.longer.extend(longer.filter(|key| key.contains(&name.key)).map(str::to_owned));
        }
    }
    for slot in &slots {
        let partition = slot.read()?;
        let judge = view.on(&partition);
        for name in &called {
            // Every card whose text holds the words has their terms; the rarest is enough to start from.
            let terms = analyze_query(&name.spelled);
            let postings = terms.terms().iter().filter(|term| term.role != Role::Secondary);
            let rarest = postings.map(|term| partition.text().postings(&term.text)).min_by_key(|p| p.len());
            let rows: Vec<u32> = match rarest {
                Some(rarest) => rarest.iter().map(|(row, _)| row).collect(),
                // A name that is a function word as well ("Will"): every text is looked into.
                None => (0..partition.len() as u32).collect(),
            };
            // Fields need not be words of the text.
            let fields = |row: &u32| name.in_fields(&partition.row(*row).card) > Holds::No;
            let rows = rows.into_iter().chain((0..partition.len() as u32).filter(fields));
            let shown = rows.filter(|row| judge.shows(*row));
            candidates.extend(shown.map(|row| partition.row(row).card.id));
        }
    }
    let Some(id) = tenant.id()? else { return Ok(About::default()) };
    let tables = tenant.store().database().read()?;
    let (mut found, mut cold) = (About::default(), BTreeSet::new());
    for name in &called {
        cold.extend(cold::with_words(tenant, &tables, id, &name.spelled)?);
    }
    for candidate in candidates.union(&cold) {
        let Some(card) = tables.card(id, *candidate)? else { continue };
        // Of what is not cold the partitions have said that it is shown.
        if !candidates.contains(candidate) && !view.shows(&card) {
            continue;
        }
        match called.iter().map(|name| name.in_card(&card)).max().unwrap_or_default() {
            Holds::Yes => found.cards.push(*candidate),
            Holds::Doubtful => found.unsure.push(*candidate),
            Holds::No => {}
        }
    }
    Ok(found)
}
