//! What is read in a card's text when it is written: the times it names and who or what it
//! mentions. It is kept on the card, so that later rules do not change what was understood.

use crate::calendar::{self, Anchor, KnownDates, Zone};
use crate::card::{Card, Mention, MentionKind, TimeSpan};
use crate::graph::{self, Names};
use crate::index::sense::beginning;

/// Times and mentions that a card keeps.
const TIMES_MOST: usize = 16;
const MENTIONS_MOST: usize = 32;
/// Longer phrases and names are no such things.
const LONGEST: usize = 256;

/// Reads the times and mentions of a card's content, which was told at its `occurred_at`.
pub(crate) fn extract(card: &mut Card, zone: &Zone, known: &dyn KnownDates) {
    let content = beginning(&card.content);
    let anchor = Anchor { instant: card.occurred_at, zone: zone.clone() };
    let times = calendar::phrases(content, &anchor, known)
        .into_iter()
        .filter(|phrase| phrase.from.is_some() || phrase.to.is_some())
        .filter(|phrase| phrase.range.len() <= LONGEST)
        .take(TIMES_MOST)
        .map(|phrase| TimeSpan {
            phrase: content.get(phrase.range).unwrap_or_default().to_owned(),
            from: phrase.from,
            to: phrase.to,
        })
        .collect();
    let mut names = Names::new();
    let speaker = card.source().and_then(|source| source.speaker.as_deref());
    for name in speaker.into_iter().chain(card.entities.iter().map(String::as_str)) {
        names.add(name, graph::Kind::Other);
    }
    let mut mentions: Vec<Mention> = Vec::new();
    for found in graph::mentions(content, &names) {
        let new = mentions.iter().all(|mention| mention.name != found.name);
        if new && mentions.len() < MENTIONS_MOST && (1..=LONGEST).contains(&found.name.len()) {
            mentions.push(Mention { name: found.name, kind: kind_of(found.kind) });
        }
    }
    (card.times, card.mentions) = (times, mentions);
}

fn kind_of(kind: graph::Kind) -> MentionKind {
    match kind {
        graph::Kind::Person => MentionKind::Person,
        graph::Kind::Organisation => MentionKind::Organisation,
        graph::Kind::Place => MentionKind::Place,
        graph::Kind::Product => MentionKind::Product,
        graph::Kind::Identifier => MentionKind::Identifier,
        graph::Kind::Title => MentionKind::Title,
        graph::Kind::Contact => MentionKind::Contact,
        graph::Kind::Other => MentionKind::Other,
    }
}
