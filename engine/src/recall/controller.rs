//! Deciding how to look before looking: whether a question needs the memory at all, which
//! tracks are likely to hold its answer, and by which preset of weights to rank.
//!
//! A wrong guess must not lose anything: a likely track is preferred by a little, every track
//! that the request allows is searched all the same. Only a text without any question or
//! content of its own (a greeting, thanks) is not searched for.

use std::borrow::Cow;

use crate::card::Track;
use crate::graph::{self, Aim, Kinds, Wanted};

/// What was decided about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What the asker is after: `none`, `happened`, `rule`, `who`, `how`, `when`, `prefer`,
    /// `find`, or a name of the application's own.
    pub intent: Cow<'static, str>,
    /// Name of the rule that told.
    pub rule: Cow<'static, str>,
    /// False when there is nothing to look for.
    pub search: bool,
    /// Tracks that are likely to hold the answer; empty when none is preferred.
    pub tracks: Vec<Track>,
    /// Preset of weights, unless the request names one; one that the settings do not have
    /// counts as none.
    pub preset: Option<Cow<'static, str>>,
}

/// Decides how to look. An application may bring its own, such as a classifier.
///
/// It must be deterministic and quick: it runs within every recall that has a query.
pub trait Controller: Send + Sync {
    /// Decides about a question.
    fn decide(&self, question: &str) -> Decision;
}

/// Decides by rules for Chinese and English; see [`crate::graph::intent`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl Controller for Rules {
    fn decide(&self, question: &str) -> Decision {
        let Wanted { intent, shape, .. } = graph::wanted(question);
        let tracks = [
            (Kinds::EVENTS, Track::Episodic),
            (Kinds::FACTS, Track::Semantic),
            (Kinds::ENTITIES, Track::Entity),
            (Kinds::PROCEDURES, Track::Procedural),
        ];
        let tracks: Vec<Track> =
            tracks.into_iter().filter(|(kind, _)| intent.kinds.contains(*kind)).map(|(_, t)| t).collect();
        Decision {
            intent: intent.aim.name().into(),
            rule: intent.rule.into(),
            // Work on a given text may well be about what is known.
            search: intent.aim != Aim::None || intent.rule == "work_on_given_text",
            tracks: if tracks.len() == Track::ALL.len() { vec![] } else { tracks },
            preset: match intent.aim {
                Aim::Rule => Some("rule".into()),
                _ if shape.list => Some("list".into()),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_not_searched_for_and_a_question_is() {
        for (text, search) in [
            ("good morning", false),
            ("你好", false),
            ("thanks!", false),
            ("good morning, where is my key?", true),
            ("你好，我的钥匙在哪里？", true),
            ("blue pot", true),
            ("谢谢，再问一下妹妹的生日", true),
        ] {
            assert_eq!(Rules.decide(text).search, search, "{text}");
        }
    }

    #[test]
    fn tracks_follow_what_is_asked_for() {
        for (text, track) in [
            ("How do I restart the server?", Track::Procedural),
            ("怎么重启服务器？", Track::Procedural),
            ("What happened at the party?", Track::Episodic),
        ] {
            assert!(Rules.decide(text).tracks.contains(&track), "{text}: {:?}", Rules.decide(text));
        }
    }
}
