//! Forgetting policies as data: read, checked and written; TOML for people, JSON for programs.
//!
//! A [`Policy`] says what happens to cards on its own, by category, by track, and otherwise. It
//! may start from a shipped preset. How the policies of a tenant and of the store come together
//! is the business of `resolve`; what a rule means for one card is that of `lifecycle`. This file
//! knows neither cards nor a clock.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize};

pub use super::values::{MaxCards, Span};
use crate::card::Track;
use crate::recall::SettingChanges;
use crate::time::Duration;
use crate::{Error, Result};

/// Longest text of a policy, bytes.
const POLICY_BYTES: usize = 256 << 10;
/// Longest name of a category, bytes; the bound that cards have.
const CATEGORY_BYTES: usize = 64;
/// Longest name of a tenant, bytes.
const TENANT_BYTES: usize = 256;
/// Most categories with a rule, and most tenants named.
const MOST_NAMES: usize = 1000;
/// Most cards in a budget: far above what one tenant can hold.
const MOST_CARDS: u64 = 1_000_000_000_000;
/// Fastest decay per day: a half-life of one minute.
const FASTEST_DECAY: f64 = 998.2;

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 86_400_000_000;
/// A hundred years, in microseconds.
const CENTURY: i64 = 36_525 * DAY;

/// What happens to the cards of least worth when a scope holds more than its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverBudget {
    /// They leave active memory for the cold tier.
    #[default]
    Archive,
    /// They are forgotten, which can be taken back until they are purged.
    Forget,
}

/// What holds for the cards of one scope. A field that is left out is inherited: a category's
/// from its track's, that from the defaults, those from the policy beneath.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Cards without an expiry of their own expire that long after they were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
    /// Time without a reference in which confidence halves. Not together with `decay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<Span>,
    /// The same as a rate: confidence is multiplied by e^(−decay) a day. 0 is "never".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay: Option<f64>,
    /// Time without a reference in which importance halves; that of confidence where no policy
    /// says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance_half_life: Option<Span>,
    /// Confidence (0 to 1) below which a card leaves active memory; 0 is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fade_below: Option<f64>,
    /// Time without a reference after which a card goes to the cold tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_after: Option<Span>,
    /// Most active cards that a tenant has in this very scope (defaults: altogether).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cards: Option<MaxCards>,
    /// What happens to the cards beyond `max_cards`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_budget: Option<OverBudget>,
    /// Whether duplicates are merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge: Option<bool>,
    /// Cosine (0.5 to 1) from which cards count as duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// How long forgotten cards can be restored before they are purged; "0s" is until the next run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Span>,
    /// Rules never touch cards of this scope, as if they were pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protect: Option<bool>,
}

impl Rule {
    fn check(&self, at: &str) -> Result<()> {
        let field = |name: &str| format!("{at}.{name}");
        let spans = [
            ("ttl", self.ttl, MINUTE),
            ("half_life", self.half_life, MINUTE),
            ("importance_half_life", self.importance_half_life, MINUTE),
            ("archive_after", self.archive_after, MINUTE),
            ("grace", self.grace, 0),
        ];
        for (name, span, least) in spans {
            if let Some(duration) = span.and_then(Span::duration) {
                within(&field(name), duration, least, CENTURY)?;
            }
        }
        if self.half_life.is_some() && self.decay.is_some() {
            return Err(Error::invalid(field("decay"), "give half_life or decay, not both"));
        }
        let numbers = [
            ("decay", self.decay, 0.0, FASTEST_DECAY),
            ("fade_below", self.fade_below, 0.0, 1.0),
            ("similarity", self.similarity, 0.5, 1.0),
        ];
        for (name, number, least, most) in numbers {
            if let Some(number) = number {
                in_range(&field(name), number, least, most)?;
            }
        }
        if let Some(count) = self.max_cards.and_then(MaxCards::count)
            && !(1..=MOST_CARDS).contains(&count)
        {
            let message = format!("must be from 1 to {MOST_CARDS}, or \"unlimited\"");
            return Err(Error::invalid(field("max_cards"), message));
        }
        Ok(())
    }
}

/// How much a run may do, and whose memories runs look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Most actions of one run on one tenant (1,000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// Largest share of a tenant's active cards that one run takes out of active memory (0.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Share of the tenants, chosen by their names, that scheduled runs look at (1.0). Raising
    /// it only ever adds tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenants_share: Option<f64>,
    /// Only these tenants; empty: all. Not together with `tenants_share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
}

impl LimitSettings {
    fn check(&self) -> Result<()> {
        if let Some(items) = self.items
            && !(1..=10_000_000).contains(&items)
        {
            return Err(Error::invalid("limits.items", "must be from 1 to 10000000"));
        }
        if let Some(share) = self.share {
            in_range("limits.share", share, 0.0, 1.0)?;
            if share == 0.0 {
                let message = "must be more than 0; to stop all rules, set enabled to false";
                return Err(Error::invalid("limits.share", message));
            }
        }
        if let Some(share) = self.tenants_share {
            in_range("limits.tenants_share", share, 0.0, 1.0)?;
        }
        let only = self.only.as_deref().unwrap_or_default();
        if only.len() > MOST_NAMES {
            return Err(Error::invalid("limits.only", format!("must name at most {MOST_NAMES} tenants")));
        }
        for (at, tenant) in only.iter().enumerate() {
            name(&format!("limits.only[{at}]"), tenant, TENANT_BYTES)?;
        }
        if !only.is_empty() && self.tenants_share.is_some() {
            return Err(Error::invalid("limits.only", "give only or tenants_share, not both"));
        }
        Ok(())
    }
}

/// When scheduled runs take place, and how they make room for requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleSettings {
    /// Time from one run to the next (1h).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// Longest stretch of work before a pause, in milliseconds (20).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice_ms: Option<u64>,
    /// Length of that pause, in milliseconds (20).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_ms: Option<u64>,
    /// Scheduled runs write their plan and report and change nothing (false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_only: Option<bool>,
}

impl ScheduleSettings {
    fn check(&self) -> Result<()> {
        if let Some(every) = self.every {
            within("schedule.every", every, MINUTE, 365 * DAY)?;
        }
        if self.slice_ms.is_some_and(|slice| !(1..=10_000).contains(&slice)) {
            return Err(Error::invalid("schedule.slice_ms", "must be from 1 to 10000"));
        }
        if self.pause_ms.is_some_and(|pause| pause > 60_000) {
            return Err(Error::invalid("schedule.pause_ms", "must be from 0 to 60000"));
        }
        Ok(())
    }
}

/// A policy, as an operator writes it: for the store, or for one tenant. What is forgotten when, and
/// what recall does otherwise.
///
/// ```
/// use memcards::forget::policy::Policy;
/// let policy = Policy::from_toml(
///     r#"
///     preset = "assistant"
///     [categories.preference]
///     half_life = "365d"
///     "#,
/// )?;
/// assert_eq!(Policy::from_toml(&policy.to_toml()?)?, policy);
/// let wrong = Policy::from_toml("[tracks.episodic]\nfade_below = 2").unwrap_err();
/// assert_eq!(wrong.field(), Some("tracks.episodic.fade_below"));
/// # Ok::<(), memcards::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// False: no rule does anything.
    pub enabled: bool,
    /// The shipped preset that this policy starts from. Field by field and scope by scope, what
    /// the policy says itself goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// What holds for every card, unless its track or category has a rule.
    #[serde(skip_serializing_if = "is_default")]
    pub defaults: Rule,
    /// Rules of tracks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "tracks")]
    pub tracks: BTreeMap<Track, Rule>,
    /// Rules of categories, the application's own included.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub categories: BTreeMap<String, Rule>,
    /// How much a run may do.
    #[serde(skip_serializing_if = "is_default")]
    pub limits: LimitSettings,
    /// When runs take place.
    #[serde(skip_serializing_if = "is_default")]
    pub schedule: ScheduleSettings,
    /// What recall does otherwise. A policy of nothing else leaves forgetting as it is without.
    #[serde(skip_serializing_if = "is_default")]
    pub recall: SettingChanges,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            preset: None,
            defaults: Rule::default(),
            tracks: BTreeMap::new(),
            categories: BTreeMap::new(),
            limits: LimitSettings::default(),
            schedule: ScheduleSettings::default(),
            recall: SettingChanges::default(),
        }
    }
}

/// Reads the rules of tracks. The keys are read as strings, since the path to an error does not
/// tell which variant of an enum a key is.
fn tracks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Track, Rule>, D::Error> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Key(Track);

    impl<'de> Deserialize<'de> for Key {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let name = String::deserialize(deserializer)?;
            Track::from_name(&name).map(Key).ok_or_else(|| {
                let names: Vec<&str> = Track::ALL.iter().map(|track| track.name()).collect();
                serde::de::Error::custom(format!("{name:?} is not one of {}", names.join(", ")))
            })
        }
    }

    let rules = BTreeMap::<Key, Rule>::deserialize(deserializer)?;
    Ok(rules.into_iter().map(|(Key(track), rule)| (track, rule)).collect())
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Policy {
    /// Reads and checks a policy written as TOML.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on the path of the field that is wrong, such as
    /// `categories.preference.half_life`; on `policy` where the text is no TOML.
    pub fn from_toml(text: &str) -> Result<Self> {
        let line = |error: &toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|text| text.matches('\n').count() + 1);
            line.map(|line| format!(" (line {line})")).unwrap_or_default()
        };
        length(text)?;
        let reader = toml::Deserializer::parse(text)
            .map_err(|e| Error::invalid("policy", format!("{}{}", e.message(), line(&e))))?;
        read(reader, |e| format!("{}{}", e.message(), line(e)))
    }

    /// Reads and checks a policy written as JSON.
    ///
    /// # Errors
    /// As [`Policy::from_toml`].
    pub fn from_json(text: &str) -> Result<Self> {
        length(text)?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let policy = read(&mut reader, ToString::to_string)?;
        reader.end().map_err(|e| Error::invalid("policy", e.to_string()))?;
        Ok(policy)
    }

    /// The policy as TOML, without comments.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when a value cannot be written; a checked policy can.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::invalid("policy", e.to_string()))
    }

    /// The policy as JSON on one line, the same text for the same policy.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when a value cannot be written; every policy can.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::invalid("policy", e.to_string()))
    }

    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on the path of the first field that is wrong.
    pub fn check(&self) -> Result<()> {
        if let Some(preset) = &self.preset
            && Self::preset(preset).is_none()
        {
            let message = format!("{preset:?} is not one of {}", PRESETS.map(|(name, _)| name).join(", "));
            return Err(Error::invalid("preset", message));
        }
        self.defaults.check("defaults")?;
        for (track, rule) in &self.tracks {
            rule.check(&format!("tracks.{track}"))?;
        }
        if self.categories.len() > MOST_NAMES {
            let message = format!("must hold at most {MOST_NAMES} categories");
            return Err(Error::invalid("categories", message));
        }
        for (category, rule) in &self.categories {
            let at = format!("categories.{category}");
            name(&at, category, CATEGORY_BYTES)?;
            rule.check(&at)?;
        }
        self.limits.check()?;
        self.recall.check()?;
        self.schedule.check()
    }

    /// True when it says something of forgetting, or nothing at all.
    pub(crate) fn concerns_forgetting(&self) -> bool {
        is_default(&self.recall) || *self != Self { recall: self.recall.clone(), ..Self::default() }
    }

    /// Checks a policy of one tenant, which cannot say what concerns all tenants.
    ///
    /// # Errors
    /// As [`Policy::check`]; also on `schedule`, `limits.tenants_share` and `limits.only`.
    pub fn check_for_tenant(&self) -> Result<()> {
        self.check()?;
        let store_wide = [
            ("schedule", !is_default(&self.schedule)),
            ("limits.tenants_share", self.limits.tenants_share.is_some()),
            ("limits.only", self.limits.only.is_some()),
        ];
        match store_wide.iter().find(|(_, set)| *set) {
            Some((field, _)) => {
                Err(Error::invalid(*field, "belongs to the policy of the store, not a tenant's"))
            }
            None => Ok(()),
        }
    }

    /// A hash of everything the policy says of forgetting, its preset included; the same on every machine, for
    /// telling whether a plan was made under this policy.
    pub fn digest(&self) -> u64 {
        let preset = self.preset.as_deref().and_then(Self::preset);
        let own = Self { recall: SettingChanges::default(), ..self.clone() };
        let texts: Vec<String> = preset.into_iter().chain([&own]).flat_map(Self::to_json).collect();
        xxhash_rust::xxh3::xxh3_64(texts.join("\n").as_bytes())
    }

    /// The names of the shipped presets.
    pub fn preset_names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// A shipped preset.
    pub fn preset(name: &str) -> Option<&'static Self> {
        Self::preset_with_name(name).map(|(_, preset)| preset)
    }

    /// A shipped preset and its name.
    pub(super) fn preset_with_name(name: &str) -> Option<(&'static str, &'static Self)> {
        static PARSED: [OnceLock<Policy>; PRESETS.len()] = [const { OnceLock::new() }; PRESETS.len()];
        let at = PRESETS.iter().position(|(known, _)| *known == name)?;
        // That every preset parses is tested; an empty one still says more than a panic.
        let (name, text) = PRESETS[at];
        Some((name, PARSED[at].get_or_init(|| Self::from_toml(text).unwrap_or_default())))
    }

    /// A shipped preset as it was written, with the comments that say why.
    pub fn preset_text(name: &str) -> Option<&'static str> {
        PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }
}

/// The preset whose values hold where no policy says anything.
pub(super) const BUILT_IN: &str = "assistant";

/// Presets by name. None of them starts from another one.
const PRESETS: [(&str, &str); 5] = [
    ("assistant", include_str!("presets/assistant.toml")),
    ("support_desk", include_str!("presets/support_desk.toml")),
    ("tutoring", include_str!("presets/tutoring.toml")),
    ("medical", include_str!("presets/medical.toml")),
    ("manual", include_str!("presets/manual.toml")),
];

/// Reads a value; the error names the path of the field that does not fit.
fn read<'de, D: Deserializer<'de>>(reader: D, message: impl Fn(&D::Error) -> String) -> Result<Policy> {
    let policy: Policy = serde_path_to_error::deserialize(reader).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "policy".to_owned() } else { path };
        Error::invalid(field, message(error.inner()))
    })?;
    policy.check()?;
    Ok(policy)
}

fn length(text: &str) -> Result<()> {
    if text.len() > POLICY_BYTES {
        return Err(Error::TooLarge {
            field: "policy".into(),
            actual: text.len() as u64,
            limit: POLICY_BYTES as u64,
            unit: "bytes",
        });
    }
    Ok(())
}

fn name(field: &str, text: &str, limit: usize) -> Result<()> {
    if text.trim().is_empty() || text.len() > limit {
        return Err(Error::invalid(field, format!("the name must be 1 to {limit} bytes and not blank")));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(field, "the name must not hold control characters"));
    }
    Ok(())
}

fn within(field: &str, duration: Duration, least: i64, most: i64) -> Result<()> {
    if !(least..=most).contains(&duration.as_micros()) {
        let least = Duration::from_micros(least);
        return Err(Error::invalid(
            field,
            format!("must be from {least} to {}d, not {duration}", most / DAY),
        ));
    }
    Ok(())
}

fn in_range(field: &str, number: f64, least: f64, most: f64) -> Result<()> {
    if !(least..=most).contains(&number) {
        return Err(Error::invalid(field, format!("must be a number from {least} to {most}")));
    }
    Ok(())
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
