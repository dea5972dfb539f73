//! Finding the few cards that answer a question, and reading cards in general.
//!
//! question → partitions → candidates → legs → one score with parts → conflicts → threshold
//! → cards. Every condition of the request is applied before scoring, so that `k` cards that
//! satisfy it and match give `k` hits. This room reads store and indexes; it never writes.
//!
//! `question` reads the question, `shown` finds the rows that a view shows, `gather`
//! the candidates where there are too many of these, `evidence` and `fuse` score them,
//! `rank` settles conflicts and sorts, `collect` reads the cards; `aging` judges age for all of
//! them; `cold` brings archived cards in that no partition holds. `relations` and `walk` read
//! what is known by name.

pub(crate) mod about;
mod aging;
mod changes;
mod cold;
mod collect;
mod controller;
pub(crate) mod days;
mod evidence;
mod exclusion;
mod fuse;
mod gather;
mod phrase;
mod question;
mod rank;
pub(crate) mod read;
pub(crate) mod relations;
pub mod rerank;
mod settings;
mod shown;
#[cfg(test)]
mod tests;
mod times;
pub(crate) mod walk;

use std::sync::Arc;

use crate::calendar::Anchor;
use crate::card::{Card, LinkKind, State, Track};
use crate::engine::Tenant;
use crate::filter::Filter;
use crate::forget::due::life;
use crate::forget::rules::LifeRules;
use crate::index::partition::Hot;
use crate::judge::name_key;
use crate::time::Timestamp;
use crate::verbs::{Include, Recall, Recalled};
use crate::{Error, Result};

pub use changes::SettingChanges;
pub use controller::{Controller, Decision, Rules};
pub use fuse::Parts;
pub use settings::{Settings, Weights};
pub use walk::{DECAY, EDGES_LOOKED_AT};

use collect::collect;
use gather::Limits;
use rank::{Ranking, Read};
use times::Times;

/// Hits when the request does not say.
const TOP: usize = 5;
/// What an answer says while vectors of an earlier model are left out.
const REEMBEDDING: &str = "reembedding";
/// Rows beyond the hits that are wanted, for cards that vanish between index and store.
const SPARE: usize = 16;

/// How often a question is asked again because cards became cold meanwhile.
const TRIES: usize = 3;

/// Which versions a read may return, apart from filters.
#[derive(Clone, Debug)]
pub(crate) struct View {
    states: Vec<State>,
    /// Versions as recorded at this instant; the current ones when absent.
    known_at: Option<Timestamp>,
    /// Cards whose content was true at this instant.
    as_of: Option<Timestamp>,
    /// Whether cards are shown before their time has come and after it.
    any_time: bool,
    /// The instant at which expiry and age are judged.
    pub(crate) instant: Timestamp,
    /// Rules of age.
    rules: Arc<LifeRules>,
    /// Whether cards fade: those of the present do. What was believed then is shown as it was.
    fades: bool,
}

impl View {
    pub(crate) fn new(
        rules: Arc<LifeRules>,
        include: &[Include],
        as_of: Option<Timestamp>,
        known_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let mut states = vec![State::Active];
        states.extend(include.iter().map(|include| include.state()));
        // What is superseded today may have been true then.
        if as_of.is_some() && !states.contains(&State::Superseded) {
            states.push(State::Superseded);
        }
        let fades = rules.fades() && as_of.is_none() && known_at.is_none();
        let instant = as_of.or(known_at).unwrap_or(now);
        Self { states, known_at, as_of, any_time: false, instant, rules, fades }
    }

    /// True when it shows what is current and active at its instant, and nothing else.
    fn is_present(&self) -> bool {
        self.known_at.is_none() && self.as_of.is_none() && !self.any_time && self.states == [State::Active]
    }

    /// The same view, of whatever was believed before: replaced cards, too, whether or not
    /// their content was true at the instant asked for.
    fn with_the_past(&self) -> Self {
        let mut states = self.states.clone();
        if !self.wants(State::Superseded) {
            states.push(State::Superseded);
        }
        Self { states, as_of: None, any_time: true, ..self.clone() }
    }

    /// The same view without regard to validity: for cards that are named, not asked for.
    pub(crate) fn at_any_time(self) -> Self {
        Self { any_time: true, ..self }
    }

    /// The same view of cards whose time is over as well, and of those that have faded: what is to
    /// be forgotten is forgotten whether or not it is shown.
    pub(crate) fn at_any_age(self) -> Self {
        Self { any_time: true, instant: Timestamp::MIN, fades: false, ..self }
    }

    /// True when cards of this state are wanted.
    pub(crate) fn wants(&self, state: State) -> bool {
        self.states.contains(&state)
    }

    /// The versions as of which the read is made.
    pub(crate) fn known_at(&self) -> Option<Timestamp> {
        self.known_at
    }

    /// True when the card, in the version at hand, may be returned.
    pub(crate) fn shows(&self, card: &Card) -> bool {
        !card.is_expired(self.instant)
            && self.admits(&life(card), &self.rules.of(card.track, &card.category))
            && self.holds(card)
    }

    /// True when the content was true at the instant asked for. What was replaced before it
    /// began has no end, and was never true.
    fn holds(&self, card: &Card) -> bool {
        match self.as_of {
            Some(at) => {
                card.valid_from.unwrap_or(card.occurred_at) <= at
                    && card.valid_to.map_or(card.state != State::Superseded, |end| at < end)
            }
            // Of two cards of which one takes the other's place at a given time, the one whose
            // time it is.
            None => {
                self.any_time
                    || card.links.iter().all(|link| match link.kind {
                        LinkKind::Succeeds => card.valid_from.is_none_or(|from| from <= self.instant),
                        LinkKind::SucceededBy => card.valid_to.is_none_or(|end| self.instant < end),
                        _ => true,
                    })
            }
        }
    }

    /// True when the row holds the version that was current at the time asked for.
    fn has_version(&self, hot: &Hot) -> bool {
        match self.known_at {
            None => hot.until == Timestamp::MAX.as_micros(),
            Some(at) => hot.from <= at.as_micros() && at.as_micros() < hot.until,
        }
    }
}

/// Answers a question; see [`Tenant::recall`].
pub(crate) fn run(tenant: &Tenant, request: Recall, now: Timestamp) -> Result<Recalled> {
    run_within(tenant, &request, now, &Limits::default())
}

/// The same with other limits of what is looked at in a large partition.
pub(crate) fn run_within(
    tenant: &Tenant,
    request: &Recall,
    now: Timestamp,
    limits: &Limits,
) -> Result<Recalled> {
    let top = check(tenant, request)?;
    let rules = tenant.life_rules()?;
    let settings = rules.recall_settings(tenant.recall_settings())?;
    let decision = request.query.as_deref().map(|query| tenant.store().controller().decide(query));
    // The request's own wish goes first.
    let chosen = decision.as_ref().and_then(|decision| decision.preset.as_deref());
    let chosen = chosen.filter(|name| request.weights.is_none() && settings.presets.contains_key(*name));
    let preset = request.preset.as_deref().or(chosen);
    let weights = settings.weights(preset, request.weights.as_ref())?;
    let view = View::new(rules.clone(), &request.include, request.as_of, request.known_at, now);
    let anchor = Anchor { instant: now, zone: request.zone.clone().unwrap_or_default() };
    let mut answer = Recalled::default();
    if let Some(decision) = &decision {
        answer.intent = Some(decision.intent.clone().into_owned());
        answer.searched.rule = Some(decision.rule.clone().into_owned());
        answer.searched.likely = decision.tracks.clone();
        answer.searched.preset = preset.map(str::to_owned);
        let query = request.query.as_deref().unwrap_or_default();
        if !decision.search && request.vector.is_none() && !is_known_name(tenant, query)? {
            return Ok(answer);
        }
    }
    let Some(id) = tenant.id()? else { return Ok(answer) };
    // Each once: a thread must not lock a partition twice.
    let wanted = |track: &Track| request.tracks.is_empty() || request.tracks.contains(track);
    let tracks: Vec<Track> = Track::ALL.iter().copied().filter(wanted).collect();
    let slots = tracks
        .iter()
        .map(|track| tenant.store().cache().partition(tenant.store().database(), id, *track))
        .collect::<Result<Vec<_>>>()?;
    let likely = decision.map(|decision| decision.tracks).unwrap_or_default();
    answer.searched.tracks = tracks;

    let read = Read::new(&slots, &view, request, &anchor)?;
    // An embedder may take its time: the writer must not wait for it.
    let words = read.question.has_terms().then_some(read.question.words());
    let (vector, degraded) = tenant.embed_query(words, request.vector.as_deref())?;
    answer.degraded = degraded;
    if vector.is_some() && tenant.store().database().generation() > 0 {
        let mut stale = false;
        for slot in &slots {
            stale |= slot.read()?.stale() > 0;
        }
        if stale {
            answer.degraded.push(REEMBEDDING.into());
        }
    }
    answer.searched.terms = read.question.terms();
    answer.searched.speakers = read.question.speakers();
    if read.question.has_keywords() {
        answer.searched.legs.push("text");
    }
    if vector.is_some() {
        answer.searched.legs.push("vector");
    }
    if answer.searched.legs.is_empty() {
        return Ok(answer);
    }

    // A filter on the text needs the cards themselves: then any row may be asked.
    let text_decides = request.filter.as_ref().is_some_and(Filter::needs_text);
    let spare = if text_decides { usize::MAX } else { SPARE };
    let mut keep = cold::KEPT.max(top.saturating_mul(2));
    let terms = read.question.query_terms().clone();
    // Those that no other card tells of may be those of cold ones.
    let times = match (&request.query, cold::concerns(&view)) {
        (Some(query), true) => Times::find(query, &anchor, &()).0,
        _ => Times::default(),
    };
    let mut read = Some(read);
    let mut tries = 0;
    let (ranked, collected) = loop {
        let found = match cold::concerns(&view) {
            true => {
                let asked = cold::Asked { terms: &terms, vector: vector.as_deref(), times: &times };
                cold::find(tenant, id, request, &view, &asked, keep)?
            }
            false => None,
        };
        let hot = slots.len();
        let mut all = slots.clone();
        let mut off_track: Vec<bool> = tracks_unlikely(&answer.searched.tracks, &likely);
        if let Some(found) = &found {
            all.extend(found.slots.iter().cloned());
            off_track.extend(tracks_unlikely(&found.tracks, &likely));
            // Cold cards speak and tell of times as well.
            read = None;
        }
        let ranking = Ranking {
            request,
            view: &view,
            top,
            settings: &settings,
            weights: &weights,
            vector: vector.as_deref(),
            reranker: tenant.store().reranker(),
            off_track,
            cold: found.as_ref().map(|found| (hot, &found.counted)),
        };
        let first = match read.take() {
            Some(read) => read,
            None => Read::new(&all, &view, request, &anchor)?,
        };
        let mut ranked = ranking.rank(&all, first, limits, spare)?;
        let mut collected = collect(tenant, id, request, &view, &mut ranked, top)?;
        // Where conditions or a vector say which cards are wanted, as many as there are must be
        // found; and cards may have vanished between index and store.
        let fill = ranking.least() <= 0.0
            || text_decides
            || ranked.truncated
            || !collected.withheld.is_empty()
            || request.min_confidence.is_some();
        if collected.hits.len() < top && fill && !ranked.complete {
            let read = Read::new(&all, &view, request, &anchor)?;
            ranked = ranking.rank(&all, read, &Limits::none(), usize::MAX)?;
            collected = collect(tenant, id, request, &view, &mut ranked, top)?;
        }
        // Cards that became cold after the segments were asked are in none of the partitions.
        let asked = found.as_ref().map_or(&[][..], |found| &found.numbers);
        if cold::concerns(&view) && tries < TRIES && cold::numbers(tenant, id)? != asked {
            tries += 1;
            read = None;
            continue;
        }
        let more = found.is_some_and(|found| !found.complete) && fill && collected.hits.len() < top;
        if !more || keep >= cold::KEPT_MOST {
            break (ranked, collected);
        }
        keep = cold::KEPT_MOST;
    };
    answer.searched.candidates = ranked.scored;
    answer.hits = collected.hits;
    answer.withheld = collected.withheld;
    Ok(answer)
}

/// Of each track whether it is unlikely to hold the answer.
fn tracks_unlikely(tracks: &[Track], likely: &[Track]) -> Vec<bool> {
    tracks.iter().map(|track| !likely.is_empty() && !likely.contains(track)).collect()
}

/// True when some card of the tenant names something so: Nice is a town as well.
fn is_known_name(tenant: &Tenant, query: &str) -> Result<bool> {
    let key = name_key(query.trim().trim_matches(['?', '!', '.', '？', '！', '。']));
    for slot in relations::slots(tenant)?.unwrap_or_default() {
        let partition = slot.read()?;
        let named = partition.named();
        let rows = named.edges(&key).iter().chain(named.others(&key));
        if rows.into_iter().any(|row| partition.row(*row).until == Timestamp::MAX) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks a bound on a figure from 0 to 1.
fn check_share(field: &'static str, least: Option<f32>) -> Result<()> {
    match least {
        Some(least) if !(0.0..=1.0).contains(&least) => {
            Err(Error::invalid(field, "must be a number from 0 to 1"))
        }
        _ => Ok(()),
    }
}

/// Checks a request; gives how many hits are wanted.
fn check(tenant: &Tenant, request: &Recall) -> Result<usize> {
    let limits = tenant.store().limits();
    match (&request.query, &request.vector) {
        (None, None) => return Err(Error::invalid("query", "give a query, a vector, or both")),
        (Some(query), _) => crate::card::Limits::bytes("query", query, limits.query_bytes)?,
        (None, Some(_)) => {}
    }
    for (field, names) in [("categories", &request.categories), ("entities", &request.entities)] {
        for name in names {
            limits.name(field, name)?;
        }
    }
    if let (Some(since), Some(until)) = (request.since, request.until)
        && since >= until
    {
        return Err(Error::invalid("until", "must lie after since"));
    }
    check_share("min_score", request.min_score)?;
    check_share("min_confidence", request.min_confidence)?;
    let top = request.top.unwrap_or(TOP);
    if top == 0 || top > limits.top {
        return Err(Error::invalid("top", format!("must be 1 to {}", limits.top)));
    }
    Ok(top)
}
