//! What a policy changes in the settings of recall, for a store or for one tenant.
//!
//! Knows names and ranges; who set a policy and where it is kept is not its business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recall::settings::{Settings, Weights};
use crate::{Error, Result};

/// Most presets, and most categories with a half-life.
const MOST_NAMES: usize = 1000;
/// Longest name of a preset or a category, bytes.
const NAME_BYTES: usize = 64;
/// Longest half-life of recency: a hundred years.
const MOST_HOURS: f32 = 876_600.0;

/// The `recall` part of a policy. What it leaves out stays as it is without it; the names are
/// those of [`Settings`].
///
/// ```
/// use memcards::forget::policy::Policy;
/// let policy = Policy::from_toml(
///     r#"
///     [recall]
///     min_score = 0.2
///     [recall.presets.default]
///     meaning = 0.8
///     "#,
/// )?;
/// assert_eq!(policy.recall.min_score, Some(0.2));
/// let wrong = Policy::from_toml("[recall.presets.default]\nmeaning = -1").unwrap_err();
/// assert_eq!(wrong.field(), Some("recall.presets.default.meaning"));
/// # Ok::<(), memcards::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingChanges {
    /// Least relevance (0 to 1) of a hit of an open question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f32>,
    /// Hours (up to a hundred years) in which the recency of a category falls to 1/e.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub half_life_hours: BTreeMap<String, f32>,
    /// The same for every other category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_half_life_hours: Option<f32>,
    /// Weights by the name of a preset, each by its name. A preset that is not there yet starts
    /// as `default`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub presets: BTreeMap<String, BTreeMap<String, f32>>,
}

impl SettingChanges {
    /// # Errors
    /// [`Error::InvalidArgument`] on the path of the field that is wrong, from `recall` on.
    pub(crate) fn check(&self) -> Result<()> {
        let within = |at: String, number: f32, least: f32, most: f32| match (least..=most).contains(&number) {
            true => Ok(()),
            false => Err(Error::invalid(at, format!("must be a number from {least} to {most}"))),
        };
        if let Some(least) = self.min_score {
            within("recall.min_score".into(), least, 0.0, 1.0)?;
        }
        let hours =
            self.half_life_hours.iter().map(|(name, hours)| (format!("half_life_hours.{name}"), *hours));
        let default = self.default_half_life_hours.map(|hours| ("default_half_life_hours".to_owned(), hours));
        for (name, hours) in hours.chain(default) {
            within(format!("recall.{name}"), hours, 0.01, MOST_HOURS)?;
        }
        let named = [("half_life_hours", self.half_life_hours.len()), ("presets", self.presets.len())];
        if let Some((name, _)) = named.iter().find(|(_, count)| *count > MOST_NAMES) {
            return Err(Error::invalid(
                format!("recall.{name}"),
                format!("must hold at most {MOST_NAMES} names"),
            ));
        }
        let names = self.half_life_hours.keys().map(|name| ("half_life_hours", name));
        for (field, name) in names.chain(self.presets.keys().map(|name| ("presets", name))) {
            if name.is_empty() || name.len() > NAME_BYTES || name.chars().any(char::is_control) {
                let message = format!("a name has 1 to {NAME_BYTES} bytes and no control characters");
                return Err(Error::invalid(format!("recall.{field}"), message));
            }
        }
        for (name, weights) in &self.presets {
            changed(&Weights::default(), weights, &format!("recall.presets.{name}"))?;
        }
        Ok(())
    }

    /// Settings with these changes, which were checked.
    ///
    /// # Errors
    /// As [`SettingChanges::check`], for changes that were not.
    pub(crate) fn apply(&self, settings: &mut Settings) -> Result<()> {
        settings.min_score = self.min_score.unwrap_or(settings.min_score);
        settings.half_life_hours.extend(self.half_life_hours.clone());
        settings.default_half_life_hours =
            self.default_half_life_hours.unwrap_or(settings.default_half_life_hours);
        for (name, weights) in &self.presets {
            let base = settings.presets.get(name).or_else(|| settings.presets.get("default")).cloned();
            let new = changed(&base.unwrap_or_default(), weights, &format!("recall.presets.{name}"))?;
            settings.presets.insert(name.clone(), new);
        }
        Ok(())
    }
}

/// Weights of which some are changed.
fn changed(base: &Weights, changes: &BTreeMap<String, f32>, at: &str) -> Result<Weights> {
    let encoded = |e: serde_json::Error| Error::Internal(format!("encoding weights: {e}"));
    let mut all = serde_json::to_value(base).map_err(encoded)?;
    for (name, number) in changes {
        let Some(weight) = all.get_mut(name) else {
            return Err(Error::invalid(format!("{at}.{name}"), "there is no such weight"));
        };
        // A number that is none becomes null, which the check names.
        *weight = serde_json::json!(number);
    }
    Weights::check_json(&all, at)?;
    serde_json::from_value(all).map_err(encoded)
}
