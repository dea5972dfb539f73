//! Policies, and what age makes of a card by them: a rule is looked for in the tenant's policy
//! (category, track, defaults), then in the store's, and the formulas are written out.

use std::collections::BTreeMap;

use memcards::card::{Card, Polarity, State, Track};
use memcards::{Duration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::Wrong;

pub(crate) const CATEGORIES: [&str; 2] = ["preference", "knowledge"];
const DAY: f64 = 86_400_000_000.0;

/// What one scope says. Lengths are hours.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rule {
    ttl: Option<i64>,
    half_life: Option<i64>,
    importance_half_life: Option<i64>,
    fade_below: Option<f64>,
    archive_after: Option<i64>,
    max_cards: Option<u64>,
    forget_over: Option<bool>,
    merge: Option<bool>,
    similarity: Option<f64>,
    protect: Option<bool>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    off: bool,
    defaults: Rule,
    tracks: BTreeMap<Track, Rule>,
    categories: BTreeMap<&'static str, Rule>,
}

/// Which cards a budget counts; in the order in which budgets are judged, backwards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    All,
    Track(Track),
    Category(&'static str),
}

impl Scope {
    pub(crate) fn holds(&self, card: &Card) -> bool {
        match self {
            Self::All => true,
            Self::Track(track) => card.track == *track,
            Self::Category(category) => card.category == *category,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::All => "defaults".into(),
            Self::Track(track) => format!("tracks.{track}"),
            Self::Category(category) => format!("categories.{category}"),
        }
    }
}

/// Most cards of a scope, what becomes of the others, and the words of the rule.
pub(crate) struct Budget {
    pub(crate) scope: Scope,
    pub(crate) most: u64,
    pub(crate) forget: bool,
    pub(crate) rule: String,
}

/// What holds for one tenant. The store's policy starts from the preset `manual`, in which
/// nothing happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies {
    pub(crate) tenant: Option<Policy>,
    pub(crate) store: Policy,
    pub(crate) wrong: Option<Wrong>,
}

fn rule() -> BoxedStrategy<Rule> {
    let hours = |weight, hours: &'static [i64]| prop::option::weighted(weight, select(hours));
    let age = (
        hours(0.1, &[3, 30, 100]),
        hours(0.4, &[6, 24, 240]),
        hours(0.2, &[12, 48]),
        prop::option::weighted(0.35, select(vec![0.0, 0.3, 0.5, 0.85])),
        hours(0.15, &[10, 50, 200]),
    );
    let count = (
        prop::option::weighted(0.3, 2..9u64),
        prop::option::weighted(0.3, any::<bool>()),
        prop::option::weighted(0.2, prop::bool::weighted(0.8)),
        prop::option::weighted(0.5, select(vec![0.5, 0.9, 1.0, 1.0])),
        prop::option::weighted(0.1, prop::bool::weighted(0.7)),
    );
    (age, count)
        .prop_map(|(age, count)| Rule {
            ttl: age.0,
            half_life: age.1,
            importance_half_life: age.2,
            fade_below: age.3,
            archive_after: age.4,
            max_cards: count.0,
            forget_over: count.1,
            merge: count.2,
            similarity: count.3,
            protect: count.4,
        })
        .boxed()
}

pub(crate) fn policy() -> BoxedStrategy<Policy> {
    let track = prop::option::weighted(0.3, (select(vec![Track::Episodic, Track::Semantic]), rule()));
    let category = prop::option::weighted(0.4, (select(&CATEGORIES[..]), rule()));
    (prop::bool::weighted(0.05), rule(), track, category)
        .prop_map(|(off, defaults, track, category)| Policy {
            off,
            defaults,
            tracks: track.into_iter().collect(),
            categories: category.into_iter().collect(),
        })
        .boxed()
}

impl Rule {
    fn json(&self) -> Value {
        let hours = |hours: Option<i64>| hours.map(|hours| json!(format!("{hours}h")));
        let fields = [
            ("ttl", hours(self.ttl)),
            ("half_life", hours(self.half_life)),
            ("importance_half_life", hours(self.importance_half_life)),
            ("fade_below", self.fade_below.map(|x| json!(x))),
            ("archive_after", hours(self.archive_after)),
            ("max_cards", self.max_cards.map(|most| json!(most))),
            ("over_budget", self.forget_over.map(|forget| json!(if forget { "forget" } else { "archive" }))),
            ("merge", self.merge.map(|merge| json!(merge))),
            ("similarity", self.similarity.map(|x| json!(x))),
            ("protect", self.protect.map(|protect| json!(protect))),
        ];
        fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect::<Map<_, _>>()
            .into()
    }
}

impl Policy {
    /// The policy of the store before anybody has set another one: duplicates are merged.
    pub(crate) fn first() -> Self {
        Self { defaults: Rule { merge: Some(true), ..Rule::default() }, ..Self::default() }
    }

    /// As it is set; with a preset beneath it where one is named.
    pub(crate) fn json(&self, preset: Option<&str>) -> Value {
        let tracks: Map<String, Value> =
            self.tracks.iter().map(|(track, rule)| (track.to_string(), rule.json())).collect();
        let categories: Map<String, Value> =
            self.categories.iter().map(|(name, rule)| ((*name).to_owned(), rule.json())).collect();
        let mut json = json!({
            "enabled": !self.off, "defaults": self.defaults.json(), "tracks": tracks, "categories": categories
        });
        if let Some(preset) = preset {
            json["preset"] = preset.into();
        }
        json
    }

    fn scopes(&self) -> Vec<(Scope, &Rule)> {
        let tracks = self.tracks.iter().map(|(track, rule)| (Scope::Track(*track), rule));
        let categories = self.categories.iter().map(|(name, rule)| (Scope::Category(name), rule));
        categories.chain(tracks).chain([(Scope::All, &self.defaults)]).collect()
    }
}

impl Policies {
    pub(crate) fn is_off(&self) -> bool {
        self.store.off || self.tenant.as_ref().is_some_and(|policy| policy.off)
    }

    /// The first word on something, and where it was found.
    fn first<T>(&self, card: &Card, get: impl Fn(&Rule) -> Option<T>) -> Option<(T, String)> {
        let tenant = self.tenant.iter().flat_map(|policy| policy.scopes()).map(|scope| ("tenant", scope));
        let store = self.store.scopes().into_iter().map(|scope| ("store", scope));
        let mut all = tenant.chain(store).filter(|(_, (scope, _))| scope.holds(card));
        all.find_map(|(layer, (scope, rule))| Some((get(rule)?, format!("{layer}.{}", scope.name()))))
    }

    fn value<T>(&self, card: &Card, get: impl Fn(&Rule) -> Option<T>) -> Option<T> {
        self.first(card, get).map(|(value, _)| value)
    }

    /// The words behind a rule: where it was found, or that the preset says so.
    fn origin<T>(&self, card: &Card, get: impl Fn(&Rule) -> Option<T>) -> String {
        self.first(card, get).map_or_else(|| "preset manual: defaults".into(), |(_, origin)| origin)
    }

    /// True for a card that no rule touches.
    pub(crate) fn is_exempt(&self, card: &Card) -> bool {
        card.pinned || card.polarity == Polarity::Excluded || self.is_protected(card)
    }

    pub(crate) fn is_protected(&self, card: &Card) -> bool {
        self.value(card, |rule| rule.protect).unwrap_or(false)
    }

    pub(crate) fn merges(&self, card: &Card) -> bool {
        self.value(card, |rule| rule.merge).unwrap_or(false)
    }

    pub(crate) fn similarity(&self, card: &Card) -> f64 {
        self.value(card, |rule| rule.similarity).unwrap_or(0.9)
    }

    /// The words with which a plan says why two cards are one.
    pub(crate) fn merge_rule(&self, card: &Card, same_words: bool) -> String {
        match same_words {
            true => format!("duplicate words ({})", self.origin(card, |rule| rule.merge)),
            false => format!("same statement ({})", self.origin(card, |rule| rule.similarity)),
        }
    }

    fn left(hours: Option<i64>, card: &Card, now: Timestamp) -> f64 {
        let days = (now.as_micros() - card.reference().as_micros()) as f64 / DAY;
        match hours {
            Some(hours) if days > 0.0 => {
                (-(std::f64::consts::LN_2 / (hours as f64 * 3_600_000_000.0 / DAY)) * days).exp()
            }
            _ => 1.0,
        }
    }

    fn half_life(&self, card: &Card) -> Option<i64> {
        self.value(card, |rule| rule.half_life)
    }

    pub(crate) fn confidence(&self, card: &Card, now: Timestamp) -> f64 {
        f64::from(card.confidence) * Self::left(self.half_life(card), card, now)
    }

    /// Importance decays like confidence unless a length of its own is given; the preset gives
    /// one, which is that it never does.
    pub(crate) fn importance(&self, card: &Card, now: Timestamp) -> f64 {
        let hours = self.value(card, |rule| rule.importance_half_life);
        f64::from(card.importance) * Self::left(hours, card, now)
    }

    /// How readily it is reached: wholly for 30 days, 0.3 after 90, not at all after 180.
    fn access(card: &Card, now: Timestamp) -> f64 {
        let days = (now.as_micros() - card.reference().as_micros()) as f64 / DAY;
        match days {
            days if days <= 30.0 => 1.0,
            days if days <= 90.0 => 1.0 - 0.7 * (days - 30.0) / 60.0,
            days if days < 180.0 => 0.3 * (180.0 - days) / 90.0,
            _ => 0.0,
        }
    }

    pub(crate) fn worth(&self, card: &Card, now: Timestamp) -> f64 {
        (self.confidence(card, now) + self.importance(card, now) + Self::access(card, now)) / 3.0
    }

    /// When it expires, by its own word or by `ttl`, and which of the two.
    pub(crate) fn expiry(&self, card: &Card) -> Option<(Timestamp, String)> {
        if let Some(end) = card.expires_at {
            return Some((end, "expires_at (the card)".into()));
        }
        let ttl = self.value(card, |rule| rule.ttl).filter(|_| !self.is_exempt(card))?;
        let rule = format!("ttl ({})", self.origin(card, |rule| rule.ttl));
        Some((card.recorded_at.plus(Duration::from_hours(ttl)), rule))
    }

    /// Whether a rule says that its time is over; plans go by it.
    pub(crate) fn is_over(&self, card: &Card, now: Timestamp) -> bool {
        self.expiry(card).is_some_and(|(end, _)| end <= now)
    }

    /// Whether reads leave it out since its time is over.
    pub(crate) fn has_expired(&self, card: &Card, now: Timestamp) -> bool {
        match self.is_off() {
            true => card.is_expired(now),
            false => self.is_over(card, now),
        }
    }

    /// Its confidence is below the threshold: its own, or, of one that was never that sure, that
    /// of a plain statement of the same age, or of a certain one.
    pub(crate) fn fades(&self, card: &Card, now: Timestamp) -> Option<String> {
        let threshold = self.value(card, |rule| rule.fade_below).unwrap_or(0.0);
        let bases = [f64::from(card.confidence), f64::from(0.8f32), 1.0];
        let mut base = bases.into_iter().find(|base| *base >= threshold)?;
        if self.wrong == Some(Wrong::WeakCardsFadeAtOnce) {
            base = bases[0];
        }
        let faded = base * Self::left(self.half_life(card), card, now) < threshold;
        let rule = format!("fade_below ({})", self.origin(card, |rule| rule.fade_below));
        (faded && !self.is_exempt(card)).then_some(rule)
    }

    /// Nobody has referred to it for too long.
    pub(crate) fn is_old(&self, card: &Card, now: Timestamp) -> Option<String> {
        let hours = self.value(card, |rule| rule.archive_after).filter(|_| !self.is_exempt(card))?;
        let rule = format!("archive_after ({})", self.origin(card, |rule| rule.archive_after));
        (card.reference().plus(Duration::from_hours(hours)) <= now).then_some(rule)
    }

    /// The state in which reads find it: by its age it may be archived before a run has come by.
    pub(crate) fn state(&self, card: &Card, now: Timestamp) -> State {
        let old = || self.is_old(card, now).is_some();
        let archived = match card.state {
            State::Active | State::Candidate => self.fades(card, now).is_some() || old(),
            State::Superseded => old(),
            _ => false,
        };
        let judged = !self.is_off() && self.wrong != Some(Wrong::ReadsDoNotAge);
        if archived && judged { State::Archived } else { card.state }
    }

    /// The budgets that hold: the tenant's, and those of the store on whose scope the tenant's
    /// policy has no word; one of all cards replaces every other one beneath it.
    pub(crate) fn budgets(&self) -> Vec<Budget> {
        let of = |layer: &'static str, policy: &Policy| -> Vec<(&'static str, Scope, u64)> {
            let scopes = policy.scopes().into_iter();
            scopes.filter_map(|(scope, rule)| Some((layer, scope, rule.max_cards?))).collect()
        };
        let mut all = self.tenant.as_ref().map(|policy| of("tenant", policy)).unwrap_or_default();
        let said: Vec<Scope> = all.iter().map(|(_, scope, _)| scope.clone()).collect();
        let beneath = of("store", &self.store).into_iter();
        all.extend(beneath.filter(|(_, scope, _)| !said.contains(scope) && !said.contains(&Scope::All)));
        all.sort_by(|a, b| b.1.cmp(&a.1));
        let budget = |(layer, scope, most): (&str, Scope, u64)| {
            let forget = self.forgets_over(&scope);
            let rule = format!("max_cards ({layer}.{})", scope.name());
            Budget { scope, most, forget, rule }
        };
        all.into_iter().map(budget).collect()
    }

    /// What becomes of those that are too many, by the word on the scope, or on all cards.
    fn forgets_over(&self, scope: &Scope) -> bool {
        let policies = self.tenant.iter().chain([&self.store]);
        policies
            .flat_map(|policy| policy.scopes())
            .filter(|(of, _)| of == scope || *of == Scope::All)
            .find_map(|(_, rule)| rule.forget_over)
            .unwrap_or(false)
    }
}
