//! Weights, presets and half-lives: data, not code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::card::category;
use crate::{Error, Result};

/// The constants of the score. Leave out what should keep its default.
///
/// The keyword legs are 1 when every term of the question occurs once in a text of average
/// length, the vector leg is the cosine above the model's noise floor: the scale of a leg
/// does not depend on which other cards are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// BM25 saturation (0.9, as Trotman et al. recommend for short passages).
    pub k1: f32,
    /// BM25 length normalisation (0.4, same source).
    pub b: f32,
    /// Keyword leg on the card's own text (1.0).
    pub keywords: f32,
    /// Keyword leg on the card with its two neighbours in the conversation (0.5).
    pub context: f32,
    /// Vector leg (0.5).
    pub meaning: f32,
    /// Cosine below which the vector leg is 0 (0.1; the noise of the built-in model, not used
    /// for vectors of the caller).
    pub cosine_floor: f32,
    /// Leg of the concepts that the question asks for (0.12).
    pub concepts: f32,
    /// Share that the keyword legs keep when no term is covered (0.5).
    pub coverage: f32,
    /// Query weight of a date that the question names (2.0).
    pub date: f32,
    /// Least idf of such a date (2.0).
    pub date_idf_min: f32,
    /// Factor on cards by another speaker than the question names (0.75).
    pub other_speaker: f32,
    /// Factor on the assistant's turns, unless the question asks for them (0.8).
    pub assistant: f32,
    /// Factor on cards that ask something themselves (0.9).
    pub asks: f32,
    /// Factor on cards of a track that is unlikely to hold the answer (0.95).
    pub off_track: f32,
    /// Share a turn gets of the turn before it (0.3).
    pub lend_previous: f32,
    /// Share a turn gets of the turn after it (0.1).
    pub lend_next: f32,
    /// Further share of the turn before when that one asks: this is the answer (0.3).
    pub lend_answer: f32,
    /// What a card without neighbours gets of itself (0.4).
    pub alone: f32,
    /// Share of the mean of the session's best three cards (0.3).
    pub session: f32,
    /// Bonus for holding all identifiers of the question (2.0).
    pub identifier: f32,
    /// Factor on what the re-ranker adds or takes away (1.0; 0 switches it off).
    pub rerank: f32,
    /// Raw score that makes a relevance of 0.63 (1.5).
    pub squash: f32,
    /// Share of the score that recency, importance and confidence together decide (0.03):
    /// fresh never beats relevant.
    pub modifier_cap: f32,
    /// Shares of the three within it.
    pub recency: f32,
    /// See [`Weights::recency`].
    pub importance: f32,
    /// See [`Weights::recency`].
    pub confidence: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            k1: 0.9,
            b: 0.4,
            keywords: 1.0,
            context: 0.5,
            meaning: 0.5,
            cosine_floor: 0.1,
            concepts: 0.12,
            coverage: 0.5,
            date: 2.0,
            date_idf_min: 2.0,
            other_speaker: 0.75,
            assistant: 0.8,
            asks: 0.9,
            off_track: 0.95,
            lend_previous: 0.3,
            lend_next: 0.1,
            lend_answer: 0.3,
            alone: 0.4,
            session: 0.3,
            identifier: 2.0,
            rerank: 1.0,
            squash: 1.5,
            modifier_cap: 0.03,
            recency: 0.3,
            importance: 0.1,
            confidence: 0.0,
        }
    }
}

impl Weights {
    /// Refuses weights that are not numbers in their range.
    fn check(&self) -> Result<()> {
        let json = serde_json::to_value(self).map_err(|e| Error::invalid("weights", e.to_string()))?;
        Self::check_json(&json, "weights")
    }

    /// The same of weights as JSON; `at` is the path that an error names.
    pub(super) fn check_json(json: &serde_json::Value, at: &str) -> Result<()> {
        for (name, value) in json.as_object().into_iter().flatten() {
            // A number that is not finite becomes null in JSON.
            let value = value.as_f64().unwrap_or(f64::NAN);
            let (least, most) = match name.as_str() {
                "b" | "coverage" | "modifier_cap" => (0.0, 1.0),
                "cosine_floor" => (0.0, 0.99),
                "squash" => (0.01, 100.0),
                _ => (0.0, 100.0),
            };
            // As 32 bits: 0.99 is a little more than itself otherwise.
            if !(least as f32..=most as f32).contains(&(value as f32)) {
                let message = format!("must be a number from {least} to {most}");
                return Err(Error::invalid(format!("{at}.{name}"), message));
            }
        }
        Ok(())
    }
}

/// Settings of recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Weights by name; `default` must be there.
    pub presets: BTreeMap<String, Weights>,
    /// Hours in which the recency of a category falls to 1/e.
    pub half_life_hours: BTreeMap<String, f32>,
    /// The same for every other category (720).
    pub default_half_life_hours: f32,
    /// Least relevance of a hit of an open question (0.05).
    pub min_score: f32,
}

impl Default for Settings {
    fn default() -> Self {
        let default = Weights::default();
        let preset = |name: &str, weights: Weights| (name.to_owned(), weights);
        let presets = [
            preset("default", default.clone()),
            preset(
                "timeline",
                Weights { modifier_cap: 0.3, recency: 0.5, importance: 0.2, ..default.clone() },
            ),
            // Several cards of many conversations are wanted, whose words differ.
            preset("list", Weights { concepts: 0.3, session: 0.1, lend_previous: 0.2, ..default.clone() }),
            preset(
                "rule",
                Weights {
                    modifier_cap: 0.1,
                    recency: 0.0,
                    importance: 0.2,
                    confidence: 0.3,
                    session: 0.0,
                    ..default.clone()
                },
            ),
            preset(
                "dialogue",
                Weights {
                    modifier_cap: 0.1,
                    recency: 0.2,
                    importance: 0.0,
                    lend_answer: 0.4,
                    ..default.clone()
                },
            ),
            preset(
                "card",
                Weights {
                    modifier_cap: 0.1,
                    recency: 0.1,
                    importance: 0.0,
                    confidence: 0.3,
                    session: 0.0,
                    ..default
                },
            ),
        ];
        let half_lives = [
            (category::PREFERENCE, 720.0),
            (category::PROFILE, 4320.0),
            (category::TASK_STATE, 12.0),
            (category::TEMPORARY, 72.0),
        ];
        Self {
            presets: presets.into(),
            half_life_hours: half_lives.map(|(name, hours)| (name.to_owned(), hours)).into(),
            default_half_life_hours: 720.0,
            min_score: 0.05,
        }
    }
}

impl Settings {
    /// The weights of a request: its own, or a preset's.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] on `preset` or on one of `weights`.
    pub(crate) fn weights(&self, preset: Option<&str>, own: Option<&Weights>) -> Result<Weights> {
        if let Some(own) = own {
            if preset.is_some() {
                return Err(Error::invalid("weights", "give a preset or weights, not both"));
            }
            own.check()?;
            return Ok(own.clone());
        }
        let name = preset.unwrap_or("default");
        self.presets.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = self.presets.keys().map(String::as_str).collect();
            Error::invalid("preset", format!("{name:?} is not one of {}", names.join(", ")))
        })
    }

    /// Hours in which the recency of a category falls to 1/e.
    pub fn half_life(&self, category: &str) -> f32 {
        self.half_life_hours.get(category).copied().unwrap_or(self.default_half_life_hours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_out_of_range_are_named() {
        let settings = Settings::default();
        for (weights, field) in [
            (Weights { b: 1.5, ..Weights::default() }, "weights.b"),
            (Weights { keywords: -1.0, ..Weights::default() }, "weights.keywords"),
            (Weights { recency: f32::NAN, ..Weights::default() }, "weights.recency"),
            (Weights { squash: 0.0, ..Weights::default() }, "weights.squash"),
        ] {
            let error = settings.weights(None, Some(&weights)).expect_err(field);
            assert_eq!(error.field(), Some(field));
        }
        assert_eq!(settings.weights(Some("nope"), None).expect_err("unknown").field(), Some("preset"));
    }

    #[test]
    fn every_preset_is_valid() {
        for weights in Settings::default().presets.values() {
            assert!(weights.check().is_ok());
        }
    }
}
