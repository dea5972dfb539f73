//! Carrying out what a write was told: cards, log and look-ups as they become.

use std::collections::HashMap;

use memcards::Timestamp;
use memcards::card::{Card, CardId, State};

use super::{Line, Tenant, Told, Write, fact_key, words};

/// A forgotten card gives its key away; a restored one takes it if nobody has it.
fn place<K: std::hash::Hash + Eq>(held: &mut HashMap<K, CardId>, key: K, card: &Card) {
    if card.state == State::Forgotten {
        if held.get(&key) == Some(&card.id) {
            held.remove(&key);
        }
    } else if card.reason.action == "restored" {
        held.entry(key).or_insert(card.id);
    }
}

impl Tenant {
    /// Carries out what was told; `new` is the identifier that the store gave a new card.
    pub(crate) fn carry_out(
        &mut self,
        told: Told,
        new: Option<CardId>,
        vector: Option<&Vec<f32>>,
        now: Timestamp,
    ) {
        let Told { id, writes, register, key, .. } = told;
        let answered = id.or(new);
        // A key for a card that does not change is a line of the log on its own.
        if let (Some(key), Some(card), true) = (&key, answered, writes.is_empty())
            && !self.idempotency.contains_key(key)
        {
            self.log.push(Line { card, stated_in: None });
        }
        let mut main = None;
        for write in writes {
            let touch = matches!(write, Write::Touch(_));
            let card = match write {
                Write::Create(mut card) => {
                    card.id = new.unwrap();
                    if card.vector_version > 0 {
                        // A correction that keeps the content keeps its vector.
                        let kept = card.links.first().and_then(|link| self.current(link.to));
                        let kept = kept.filter(|old| old.content == card.content);
                        let kept = kept.and_then(|old| self.vector(old)).cloned();
                        let vector = vector.cloned().or(kept).unwrap();
                        self.vectors.insert((card.id, 1), vector);
                    }
                    self.cards.insert(card.id, vec![(*card).clone()]);
                    card
                }
                Write::Revise(mut card) => {
                    let versions = self.cards.get_mut(&card.id).unwrap();
                    let present = &versions[versions.len() - 1];
                    card.version = present.version + 1;
                    card.updated_at = now.max(present.updated_at);
                    for link in &mut card.links {
                        if link.to == CardId::default() {
                            link.to = new.unwrap();
                        }
                    }
                    if card.vector_version == card.version {
                        self.vectors.insert((card.id, card.version), vector.unwrap().clone());
                    }
                    versions.push((*card).clone());
                    if let Some(key) = card.merge_key.clone() {
                        place(&mut self.merge_keys, key, &card);
                    }
                    if let Some(key) = fact_key(&card) {
                        place(&mut self.facts, key, &card);
                    }
                    if card.reason.action == "restored" {
                        for place in words(&card) {
                            self.words.insert(place, card.id);
                        }
                    }
                    card
                }
                Write::Touch(card) => {
                    *self.cards.get_mut(&card.id).unwrap().last_mut().unwrap() = (*card).clone();
                    card
                }
            };
            let said =
                touch || ["created", "merged", "promoted", "corrected"].contains(&&*card.reason.action);
            let stated_in = said.then(|| card.source().and_then(|source| source.session.clone()));
            self.log.push(Line { card: card.id, stated_in });
            main.get_or_insert(*card);
        }
        if let Some(card) =
            main.as_ref().filter(|card| !register && card.state == State::Superseded && card.version == 1)
        {
            for place in words(card) {
                self.words.insert(place, card.id);
            }
        }
        if let Some(card) = main.filter(|_| register) {
            for place in words(&card) {
                self.words.insert(place, card.id);
            }
            if let Some(key) = &card.merge_key {
                self.merge_keys.insert(key.clone(), card.id);
            }
            if let Some(key) = fact_key(&card) {
                self.facts.insert(key, card.id);
            }
        }
        if let (Some(key), Some(id)) = (key, answered) {
            self.idempotency.entry(key).or_insert(id);
        }
    }
}
