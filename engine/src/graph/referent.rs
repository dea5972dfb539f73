//! Chains of possession in a question ("my sister's boss"), for the caller to resolve.

use std::ops::Range;

use super::reading::Reading;

/// Somebody who is spoken of by relation to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its bytes in the question.
    pub range: Range<usize>,
    /// Whose relation: a name as written, or the speaker.
    pub owner: String,
    /// The relations, one after the other, in canonical words.
    pub relations: Vec<&'static str>,
}

/// The chains of possession in a question, in order, none within another.
///
/// The speaker stands for "my" and 我; without one the owner is "user".
///
/// ```
/// use memcards::graph::referents;
///
/// let found = referents("Where does my sister's boss live?", Some("Mia"));
/// assert_eq!((found[0].owner.as_str(), found[0].relations.as_slice()), ("Mia", ["sister", "boss"].as_slice()));
/// assert_eq!(found[0].range, 11..27);
/// ```
#[must_use]
pub fn referents(question: &str, speaker: Option<&str>) -> Vec<Reference> {
    let reading = Reading::new(question, speaker);
    let mut all = Vec::new();
    let mut at = 0;
    while at < reading.count() {
        match reading.chain(at) {
            Some(chain) => {
                let end = chain.end.max(at + 1);
                all.push(Reference {
                    range: reading.range(at, end),
                    owner: chain.owner,
                    relations: chain.relations,
                });
                at = end;
            }
            None => at += 1,
        }
    }
    all
}
