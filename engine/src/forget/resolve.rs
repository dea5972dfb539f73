//! Which rule holds for a card: the policies of a tenant and of the store, their presets and the
//! built-in values brought together, with where each value comes from.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};

use super::lifecycle::MICROS_PER_DAY;
use super::policy::{BUILT_IN, MaxCards, OverBudget, Policy, Rule, Span};
use crate::Result;
use crate::card::Track;
use crate::recall::{SettingChanges, Settings};
use crate::time::Duration;

/// The policies that hold for one tenant.
///
/// A value is looked for in the tenant's policy (category, then track, then defaults), then in
/// the store's in the same order, then among the built-in ones, which are those of the preset
/// `assistant`. At each of these places a policy goes before its preset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies {
    /// The policy of the store.
    pub store: Option<Policy>,
    /// The tenant's own.
    pub tenant: Option<Policy>,
}

/// Whose value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The tenant's policy.
    Tenant,
    /// The store's policy.
    Store,
    /// A preset that one of the two starts from.
    Preset(&'static str),
    /// The value that holds where no policy says anything.
    BuiltIn,
}

/// Which cards a rule was written for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Every card.
    Defaults,
    /// Those of a track.
    Track(Track),
    /// Those of a category.
    Category(String),
}

impl Scope {
    /// The scope that is written in an [`Origin`]; `None` for what is none.
    pub(crate) fn of_origin(origin: &str) -> Option<Self> {
        let layers = ["tenant.", "store.", "built-in: "];
        let scope = layers.iter().find_map(|layer| origin.strip_prefix(layer)).or_else(|| {
            // No preset's name has a colon in it.
            Some(origin.strip_prefix("preset ")?.split_once(": ")?.1)
        })?;
        match scope.split_once('.') {
            _ if scope == "defaults" => Some(Self::Defaults),
            Some(("tracks", track)) => Track::from_name(track).map(Self::Track),
            Some(("categories", category)) => Some(Self::Category(category.to_owned())),
            _ => None,
        }
    }

    /// True when cards of a track may belong to the scope.
    pub fn may_hold(&self, track: Track) -> bool {
        match self {
            Self::Track(of) => *of == track,
            Self::Defaults | Self::Category(_) => true,
        }
    }

    /// True for the cards that the scope is about.
    pub fn holds(&self, track: Track, category: &str) -> bool {
        match self {
            Self::Defaults => true,
            Self::Track(of) => *of == track,
            Self::Category(of) => of == category,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defaults => f.write_str("defaults"),
            Self::Track(track) => write!(f, "tracks.{track}"),
            Self::Category(category) => write!(f, "categories.{category}"),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where a value comes from; written like `tenant.categories.preference`,
/// `preset assistant: tracks.episodic` or `built-in: defaults`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Whose value it is.
    pub layer: Layer,
    /// The scope it was written for.
    pub scope: Scope,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            Layer::Tenant => write!(f, "tenant.{}", self.scope),
            Layer::Store => write!(f, "store.{}", self.scope),
            Layer::Preset(name) => write!(f, "preset {name}: {}", self.scope),
            Layer::BuiltIn => write!(f, "built-in: {}", self.scope),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What holds for the cards of one track and category: every value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// How long cards without an expiry of their own live; `None`: no end.
    pub ttl: Option<Duration>,
    /// Rate at which confidence falls, per day; 0 or more.
    pub decay: f64,
    /// Rate at which importance falls, per day; 0 or more.
    pub importance_decay: f64,
    /// Confidence below which a card leaves active memory.
    pub fade_below: f64,
    /// Time without a reference after which a card goes to the cold tier; `None`: never.
    pub archive_after: Option<Duration>,
    /// The narrowest budget that the card counts towards; [`Policies::budgets`] has all of them.
    pub max_cards: Option<u64>,
    /// What happens to cards beyond a budget.
    pub over_budget: OverBudget,
    /// Whether duplicates are merged.
    pub merge: bool,
    /// Cosine from which cards count as duplicates.
    pub similarity: f64,
    /// How long forgotten cards are kept; `None`: for good.
    pub grace: Option<Duration>,
    /// Rules never touch these cards.
    pub protect: bool,
    /// Where each value comes from.
    pub origins: Origins,
}

/// Where each value of a [`Resolved`] comes from, by the same names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Origins {
    pub ttl: Origin,
    pub decay: Origin,
    pub importance_decay: Origin,
    pub fade_below: Origin,
    pub archive_after: Origin,
    pub max_cards: Origin,
    pub over_budget: Origin,
    pub merge: Origin,
    pub similarity: Origin,
    pub grace: Origin,
    pub protect: Origin,
}

/// At most so many active cards in a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// The cards that are counted.
    pub scope: Scope,
    /// How many of them may be active.
    pub max_cards: u64,
    /// What happens to those beyond.
    pub over_budget: OverBudget,
    /// Where the number comes from.
    pub origin: Origin,
}

/// How much a run may do, every value given; see [`super::policy::LimitSettings`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLimits {
    /// Most actions of one run on one tenant.
    pub items: u64,
    /// Largest share of a tenant's active cards that one run takes out of active memory.
    pub share: f64,
    /// Share of the tenants that scheduled runs look at.
    pub tenants_share: f64,
    /// Only these tenants; empty: all.
    pub only: Vec<String>,
}

impl RunLimits {
    /// How many of so many active cards one run may take out of active memory: the share rounded
    /// up, so that small memories age too, and never more than `items`.
    pub fn most(&self, active: u64) -> u64 {
        let share = (active as f64 * self.share).ceil() as u64;
        share.max(1).min(self.items)
    }

    /// True when scheduled runs look at this tenant. Depends on the name and the settings alone.
    pub fn includes(&self, tenant: &str) -> bool {
        if !self.only.is_empty() {
            return self.only.iter().any(|name| name == tenant);
        }
        // 53 bits, which an f64 holds exactly: from 0 to just below 1.
        let place = (xxhash_rust::xxh3::xxh3_64(tenant.as_bytes()) >> 11) as f64 / (1u64 << 53) as f64;
        place < self.tenants_share
    }
}

/// When scheduled runs take place, every value given; see [`super::policy::ScheduleSettings`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// Time from one run to the next.
    pub every: Duration,
    /// Longest stretch of work before a pause, in milliseconds.
    pub slice_ms: u64,
    /// Length of that pause, in milliseconds.
    pub pause_ms: u64,
    /// Runs write their plan and change nothing.
    pub plan_only: bool,
}

/// A policy and the preset that it starts from.
type Group<'a> = Vec<(Layer, &'a Policy)>;

impl Policies {
    /// True when an operator has set a policy of forgetting at all.
    pub fn is_set(&self) -> bool {
        [&self.store, &self.tenant].into_iter().flatten().any(Policy::concerns_forgetting)
    }

    /// The settings of recall with the changes of the store's policy, then the tenant's; none
    /// where neither changes any.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] where one was not checked.
    pub(crate) fn recall_settings(&self, base: &Settings) -> Result<Option<Settings>> {
        let mut settings = None;
        for policy in [&self.store, &self.tenant].into_iter().flatten() {
            if policy.recall != SettingChanges::default() {
                policy.recall.apply(settings.get_or_insert_with(|| base.clone()))?;
            }
        }
        Ok(settings)
    }

    /// True unless one of the two is switched off.
    pub fn enabled(&self) -> bool {
        [&self.store, &self.tenant].into_iter().flatten().all(|policy| policy.enabled)
    }

    /// What holds for cards of this track and category.
    pub fn resolve(&self, track: Track, category: &str) -> Resolved {
        self.resolve_for(Some(track), Some(category))
    }

    /// Every budget that holds. Each counts the cards of its own scope, so that a card may count
    /// towards several. The budgets of a policy beneath hold as well, unless the one above has a
    /// word on the same scope, or on `defaults`, which replaces them all.
    pub fn budgets(&self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        let mut settled = BTreeSet::new();
        for group in self.groups() {
            let mut scopes = BTreeSet::from([Scope::Defaults]);
            for (_, policy) in &group {
                scopes.extend(policy.tracks.keys().map(|track| Scope::Track(*track)));
                scopes.extend(policy.categories.keys().map(|name| Scope::Category(name.clone())));
            }
            let mut said = Vec::new();
            for scope in scopes {
                let max =
                    |(layer, policy): &(Layer, &Policy)| Some((*layer, rule(policy, &scope)?.max_cards?));
                let Some((layer, max)) = group.iter().find_map(max) else { continue };
                let open = !settled.contains(&Scope::Defaults) && !settled.contains(&scope);
                if let (true, Some(max_cards)) = (open, max.count()) {
                    let over_budget = match &scope {
                        Scope::Defaults => self.resolve_for(None, None),
                        Scope::Track(track) => self.resolve_for(Some(*track), None),
                        Scope::Category(name) => self.resolve_for(None, Some(name)),
                    }
                    .over_budget;
                    let origin = Origin { layer, scope: scope.clone() };
                    budgets.push(Budget { scope: scope.clone(), max_cards, over_budget, origin });
                }
                said.push(scope);
            }
            settled.extend(said);
        }
        budgets.sort_by(|a, b| b.scope.cmp(&a.scope));
        budgets
    }

    /// How much a run may do on this tenant.
    pub fn limits(&self) -> RunLimits {
        let all = self.in_order().map(|policy| &policy.limits);
        // Whose memories runs look at is said together, in one policy.
        let whose = all.clone().find(|limits| limits.only.is_some() || limits.tenants_share.is_some());
        RunLimits {
            items: all.clone().find_map(|limits| limits.items).unwrap_or(1000),
            share: all.clone().find_map(|limits| limits.share).unwrap_or(0.1),
            tenants_share: whose.and_then(|limits| limits.tenants_share).unwrap_or(1.0),
            only: whose.and_then(|limits| limits.only.clone()).unwrap_or_default(),
        }
    }

    /// When scheduled runs take place: the store's word.
    pub fn schedule(&self) -> Schedule {
        let all = self.in_order().map(|policy| &policy.schedule);
        Schedule {
            every: all.clone().find_map(|schedule| schedule.every).unwrap_or(Duration::from_hours(1)),
            slice_ms: all.clone().find_map(|schedule| schedule.slice_ms).unwrap_or(20),
            pause_ms: all.clone().find_map(|schedule| schedule.pause_ms).unwrap_or(20),
            plan_only: all.clone().find_map(|schedule| schedule.plan_only).unwrap_or(false),
        }
    }

    /// A hash of everything that holds for the tenant, the built-in values included; the same on
    /// every machine.
    pub fn digest(&self) -> u64 {
        let digest = |policy: Option<&Policy>| policy.map_or(0, Policy::digest);
        let parts = [self.store.as_ref(), self.tenant.as_ref(), Policy::preset(BUILT_IN)].map(digest);
        xxhash_rust::xxh3::xxh3_64(&parts.map(u64::to_le_bytes).concat())
    }

    /// The policies from the first to be asked to the last, each with its preset after it.
    fn groups(&self) -> Vec<Group<'_>> {
        let own = [(Layer::Tenant, &self.tenant), (Layer::Store, &self.store)];
        let mut groups: Vec<Group<'_>> = Vec::with_capacity(3);
        for (layer, policy) in own {
            let Some(policy) = policy else { continue };
            let preset = policy.preset.as_deref().and_then(Policy::preset_with_name);
            let preset = preset.map(|(name, preset)| (Layer::Preset(name), preset));
            groups.push([(layer, policy)].into_iter().chain(preset).collect());
        }
        groups.push(Policy::preset(BUILT_IN).into_iter().map(|policy| (Layer::BuiltIn, policy)).collect());
        groups
    }

    /// The same without saying whose they are.
    fn in_order(&self) -> impl Iterator<Item = &Policy> + Clone {
        let policies: Vec<&Policy> = self.groups().into_iter().flatten().map(|(_, policy)| policy).collect();
        policies.into_iter()
    }

    fn resolve_for(&self, track: Option<Track>, category: Option<&str>) -> Resolved {
        let scopes = [
            category.map(|name| Scope::Category(name.to_owned())),
            track.map(Scope::Track),
            Some(Scope::Defaults),
        ];
        let mut rules = Vec::new();
        for group in self.groups() {
            for scope in scopes.iter().flatten() {
                for (layer, policy) in &group {
                    if let Some(rule) = rule(policy, scope) {
                        rules.push((Origin { layer: *layer, scope: scope.clone() }, rule));
                    }
                }
            }
        }
        let rules = Rules(rules);
        let (decay, decay_origin) = rules.first(0.0, decay);
        let (importance_decay, importance_origin) = rules
            .find(|rule| rule.importance_half_life.map(rate))
            .unwrap_or_else(|| (decay, decay_origin.clone()));
        let (ttl, ttl_origin) = rules.first(Span::Never, |rule| rule.ttl);
        let (fade_below, fade_origin) = rules.first(0.0, |rule| rule.fade_below);
        let (archive_after, archive_origin) = rules.first(Span::Never, |rule| rule.archive_after);
        let (max_cards, max_origin) = rules.first(MaxCards::Unlimited, |rule| rule.max_cards);
        let (over_budget, over_origin) = rules.first(OverBudget::Archive, |rule| rule.over_budget);
        let (merge, merge_origin) = rules.first(false, |rule| rule.merge);
        let (similarity, similarity_origin) = rules.first(0.9, |rule| rule.similarity);
        let (grace, grace_origin) = rules.first(Span::Never, |rule| rule.grace);
        let (protect, protect_origin) = rules.first(false, |rule| rule.protect);
        Resolved {
            ttl: ttl.duration(),
            decay,
            importance_decay,
            fade_below,
            archive_after: archive_after.duration(),
            max_cards: max_cards.count(),
            over_budget,
            merge,
            similarity,
            grace: grace.duration(),
            protect,
            origins: Origins {
                ttl: ttl_origin,
                decay: decay_origin,
                importance_decay: importance_origin,
                fade_below: fade_origin,
                archive_after: archive_origin,
                max_cards: max_origin,
                over_budget: over_origin,
                merge: merge_origin,
                similarity: similarity_origin,
                grace: grace_origin,
                protect: protect_origin,
            },
        }
    }
}

/// Rules from the first to be asked to the last.
struct Rules<'a>(Vec<(Origin, &'a Rule)>);

impl Rules<'_> {
    /// The first rule that has a word on it.
    fn find<T>(&self, get: impl Fn(&Rule) -> Option<T>) -> Option<(T, Origin)> {
        self.0.iter().find_map(|(origin, rule)| Some((get(rule)?, origin.clone())))
    }

    /// The same; what holds if none has is only a way to do without a panic, as the built-in
    /// values are complete.
    fn first<T>(&self, otherwise: T, get: impl Fn(&Rule) -> Option<T>) -> (T, Origin) {
        let built_in = || (otherwise, Origin { layer: Layer::BuiltIn, scope: Scope::Defaults });
        self.find(get).unwrap_or_else(built_in)
    }
}

/// The rule that a policy has for exactly this scope.
fn rule<'a>(policy: &'a Policy, scope: &Scope) -> Option<&'a Rule> {
    match scope {
        Scope::Defaults => Some(&policy.defaults),
        Scope::Track(track) => policy.tracks.get(track),
        Scope::Category(category) => policy.categories.get(category),
    }
}

/// The rate of decay per day that a rule asks for, in either way of saying it.
fn decay(rule: &Rule) -> Option<f64> {
    rule.decay.or_else(|| rule.half_life.map(rate))
}

/// The rate per day that halves a value in this time.
fn rate(half_life: Span) -> f64 {
    match half_life {
        Span::Of(duration) if duration.as_micros() > 0 => {
            std::f64::consts::LN_2 / (duration.as_micros() as f64 / MICROS_PER_DAY)
        }
        _ => 0.0,
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
