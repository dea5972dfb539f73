//! Training of the model that re-ranks turns: gradient boosting of oblivious trees on a
//! list-wise soft-max loss.
//!
//! The candidates of a question form a list with scores `s = scale · evidence + trees`. The
//! loss is the cross entropy between the soft-max of the scores and the uniform distribution
//! over the labelled candidates (ListNet with one-hot targets, Cao et al. 2007); trees are
//! fitted to its gradient with second-order leaves (Friedman 2001; Chen and Guestrin 2016).
//! Everything is deterministic for a seed.

use std::sync::{Arc, Mutex};

use memcards::recall::rerank::{Candidate, FEATURES, Features, Reranker, Tree, TreeModel};

use crate::Outcome;
use crate::evaluation::{Corpus, Loaded};
use crate::synthetic::Random;

/// Most thresholds that are tried for one feature.
const BINS: usize = 48;
/// Share of the lists that one of several models sees.
const BAGGED: f64 = 0.6;
/// The feature that is the evidence itself.
const EVIDENCE: usize = 0;

/// The candidates of one question.
#[derive(Clone, Debug)]
pub struct List {
    /// Name of the corpus: lists of one corpus are held out together.
    pub corpus: String,
    /// Features of the candidates, best evidence first.
    pub features: Vec<Features>,
    /// Which of them are labelled as evidence.
    pub relevant: Vec<bool>,
    /// Pieces of evidence that are wanted, found or not.
    pub wanted: usize,
}

/// How to train.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Trees.
    pub trees: usize,
    /// Levels of a tree.
    pub depth: usize,
    /// Share of each tree that is kept.
    pub rate: f32,
    /// Added to the second derivatives of a leaf.
    pub ridge: f32,
    /// Share of features that a tree may ask about.
    pub sampled: f32,
    /// Models of half of the lists each that are averaged; each has all the trees.
    pub bags: usize,
    /// Seed.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { trees: 75, depth: 3, rate: 0.1, ridge: 15.0, sampled: 0.6, bags: 8, seed: 1 }
    }
}

/// Notes the candidates that recall shows to a re-ranker.
#[derive(Default)]
struct Recorder(Mutex<Vec<Candidate>>);

impl Reranker for Recorder {
    fn adjust(&self, _question: &str, candidates: &[Candidate]) -> Vec<f32> {
        if let Ok(mut seen) = self.0.lock() {
            *seen = candidates.to_vec();
        }
        vec![]
    }
}

/// The candidates of every question of a corpus.
///
/// # Errors
/// When the corpus cannot be remembered or asked.
pub fn lists(corpus: Corpus) -> Outcome<Vec<List>> {
    let recorder = Arc::new(Recorder::default());
    let loaded = Loaded::with_reranker(corpus, false, Some(recorder.clone()))?;
    let mut lists = Vec::new();
    for question in &loaded.corpus().questions {
        loaded.touch(question)?;
        let seen = std::mem::take(&mut *recorder.0.lock().map_err(|_| "a panic while recording")?);
        let relevant = seen
            .iter()
            .map(|candidate| {
                let number = loaded.number(candidate.id);
                number.is_some_and(|number| question.evidence.iter().any(|cards| cards.contains(&number)))
            })
            .collect();
        lists.push(List {
            corpus: loaded.corpus().name.clone(),
            features: seen.iter().map(|candidate| candidate.features).collect(),
            relevant,
            wanted: question.evidence.len(),
        });
    }
    Ok(lists)
}

/// Joins conversations of one source, `size` at a time, into longer ones of the same two
/// people: what is searched in daily use is hundreds of turns, not fifty. The names of each
/// conversation's people become those of the first one's.
pub fn stack(corpora: &[Corpus], size: usize) -> Vec<Corpus> {
    let source = |corpus: &Corpus| corpus.name.rsplit_once('-').map(|(source, _)| source.to_owned());
    corpora
        .chunk_by(|a, b| source(a) == source(b))
        .flat_map(|source| source.chunks(size.max(1)))
        .map(|part| {
            let people = speakers(&part[0]);
            let mut whole = Corpus { cards: vec![], questions: vec![], ..part[0].clone() };
            for corpus in part {
                let own = speakers(corpus);
                let rename = |text: &str| {
                    // By way of marks, so that two names that change places do.
                    let marked = own.iter().enumerate().fold(text.to_owned(), |text, (at, name)| {
                        replace_name(&text, name, &format!("\u{1}{at}\u{2}"))
                    });
                    own.iter().enumerate().fold(marked, |text, (at, name)| {
                        text.replace(&format!("\u{1}{at}\u{2}"), people.get(at).unwrap_or(name))
                    })
                };
                let first = whole.cards.len();
                for (label, card) in &corpus.cards {
                    let mut card = card.clone();
                    card.content = rename(&card.content);
                    card.speaker = card.speaker.as_deref().map(rename);
                    card.session = card.session.map(|session| format!("{}/{session}", corpus.name));
                    whole.cards.push((format!("{}/{label}", corpus.name), card));
                }
                whole.asked_at = whole.asked_at.max(corpus.asked_at);
                whole.questions.extend(corpus.questions.iter().map(|question| {
                    let mut question = question.clone();
                    question.text = rename(&question.text);
                    let moved = |cards: &std::collections::BTreeSet<usize>| {
                        cards.iter().map(|card| card + first).collect()
                    };
                    question.evidence = question.evidence.iter().map(moved).collect();
                    question.outdated = moved(&question.outdated);
                    question
                }));
            }
            whole
        })
        .collect()
}

/// The names of those who speak, in order of their first words.
fn speakers(corpus: &Corpus) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in corpus.cards.iter().filter_map(|(_, card)| card.speaker.as_ref()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Replaces a name where it stands as a word of its own; scripts without spaces have no
/// such bounds.
fn replace_name(text: &str, name: &str, with: &str) -> String {
    let spaced = name.is_ascii();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, tail) = (&rest[..at], &rest[at + name.len()..]);
        let inside = spaced
            && (before.ends_with(|c: char| c.is_ascii_alphanumeric())
                || tail.starts_with(|c: char| c.is_ascii_alphanumeric()));
        out.push_str(before);
        out.push_str(if inside { name } else { with });
        rest = tail;
    }
    out + rest
}

/// Mean share of the wanted evidence among the best `rank`, by evidence and a model.
pub fn recall_at(lists: &[List], model: &TreeModel, rank: usize) -> f64 {
    let share = |list: &List| {
        let score = |at: usize| list.features[at][EVIDENCE] + model.value(&list.features[at]);
        let mut order: Vec<usize> = (0..list.features.len()).collect();
        let scores: Vec<f32> = order.iter().map(|at| score(*at)).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let found = order.iter().take(rank).filter(|at| list.relevant[**at]).count();
        (found as f64 / list.wanted.max(1) as f64).min(1.0)
    };
    lists.iter().map(share).sum::<f64>() / lists.len().max(1) as f64
}

/// Trains several models on parts of the lists and averages them.
pub fn train(lists: &[List], settings: &Settings) -> TreeModel {
    let bags = settings.bags.max(1);
    let mut random = Random::new(settings.seed);
    let mut whole = TreeModel::default();
    for bag in 0..bags {
        let part: Vec<List> = lists.iter().filter(|_| bags == 1 || random.unit() < BAGGED).cloned().collect();
        let seed = settings.seed.wrapping_add(bag as u64);
        let mut model = train_one(&part, &Settings { seed, ..*settings });
        let leaves = model.trees.iter_mut().flat_map(|tree| &mut tree.leaves);
        leaves.for_each(|leaf| *leaf /= bags as f32);
        whole.trees.append(&mut model.trees);
    }
    whole
}

/// Trains a model. Its mean over the evidence is 0, so that a relevance keeps its meaning.
fn train_one(lists: &[List], settings: &Settings) -> TreeModel {
    let lists: Vec<&List> = lists.iter().filter(|list| list.relevant.contains(&true)).collect();
    let mut data = Data::new(&lists);
    if data.rows.is_empty() {
        return TreeModel::default();
    }
    let scale = data.fit_scale();
    let mut random = Random::new(settings.seed);
    let mut model = TreeModel::default();
    for _ in 0..settings.trees {
        let asked: Vec<usize> =
            (0..FEATURES.len()).filter(|_| random.unit() < f64::from(settings.sampled)).collect();
        let tree = data.grow(&asked, settings);
        data.add(&tree);
        model.trees.push(tree);
    }
    // In units of evidence, and centred.
    for tree in &mut model.trees {
        tree.leaves.iter_mut().for_each(|leaf| *leaf /= scale);
    }
    let relevant: Vec<f32> = lists
        .iter()
        .flat_map(|list| list.features.iter().zip(&list.relevant))
        .filter(|(_, relevant)| **relevant)
        .map(|(features, _)| model.value(features))
        .collect();
    let mean = relevant.iter().sum::<f32>() / relevant.len().max(1) as f32;
    model.trees.push(Tree { splits: vec![], leaves: vec![-mean] });
    model
}

struct Data<'a> {
    /// Features of every candidate of every list.
    rows: Vec<&'a Features>,
    /// Where the lists begin, and the end.
    starts: Vec<usize>,
    /// Target distribution of each list.
    target: Vec<f32>,
    score: Vec<f32>,
    /// By feature the thresholds, and the bin of each row: how many of them it is above.
    thresholds: Vec<Vec<f32>>,
    bins: Vec<Vec<u8>>,
}

impl<'a> Data<'a> {
    fn new(lists: &[&'a List]) -> Self {
        let rows: Vec<&Features> = lists.iter().flat_map(|list| &list.features).collect();
        let mut starts = vec![0];
        let mut target = Vec::new();
        for list in lists {
            target.extend(list.relevant.iter().map(|relevant| f32::from(u8::from(*relevant))));
            starts.push(target.len());
        }
        for window in 0..starts.len() - 1 {
            let range = starts[window]..starts[window + 1];
            let sum: f32 = target[range.clone()].iter().sum();
            target[range].iter_mut().for_each(|share| *share /= sum.max(1e-6));
        }
        let thresholds: Vec<Vec<f32>> = (0..FEATURES.len())
            .map(|feature| {
                let mut values: Vec<f32> = rows.iter().map(|row| row[feature]).collect();
                values.sort_by(f32::total_cmp);
                let mut cuts: Vec<f32> =
                    (1..BINS).map(|bin| values[bin * (values.len() - 1) / BINS]).collect();
                // Few values: every one of them is a threshold.
                let mut distinct = values.clone();
                distinct.dedup();
                if distinct.len() <= BINS {
                    cuts = distinct;
                    cuts.pop();
                }
                cuts.dedup();
                cuts
            })
            .collect();
        let bins = thresholds
            .iter()
            .enumerate()
            .map(|(feature, cuts)| {
                rows.iter().map(|row| cuts.partition_point(|cut| *cut < row[feature]) as u8).collect()
            })
            .collect();
        let score = vec![0.0; rows.len()];
        Self { rows, starts, target, score, thresholds, bins }
    }

    /// Finds the factor on the evidence with the least loss, and starts the scores with it.
    fn fit_scale(&mut self) -> f32 {
        let mut best = (f64::INFINITY, 1.0);
        for step in 1..=60 {
            let scale = step as f32 * 0.25;
            self.set_scores(scale);
            let loss = self.loss();
            if loss < best.0 {
                best = (loss, scale);
            }
        }
        self.set_scores(best.1);
        best.1
    }

    fn set_scores(&mut self, scale: f32) {
        for (score, row) in self.score.iter_mut().zip(&self.rows) {
            *score = scale * row[EVIDENCE];
        }
    }

    fn each_list(&self, mut call: impl FnMut(std::ops::Range<usize>, &[f32])) {
        let mut shares = Vec::new();
        for window in self.starts.windows(2) {
            let range = window[0]..window[1];
            let most = self.score[range.clone()].iter().copied().fold(f32::MIN, f32::max);
            shares.clear();
            shares.extend(self.score[range.clone()].iter().map(|score| (score - most).exp()));
            let sum: f32 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= sum);
            call(range, &shares);
        }
    }

    fn loss(&self) -> f64 {
        let mut loss = 0.0;
        self.each_list(|range, shares| {
            for (at, share) in range.zip(shares) {
                loss -= f64::from(self.target[at]) * f64::from(share.max(1e-12)).ln();
            }
        });
        loss
    }

    fn grow(&self, asked: &[usize], settings: &Settings) -> Tree {
        let mut slope = vec![0.0f32; self.rows.len()];
        let mut curve = vec![0.0f32; self.rows.len()];
        self.each_list(|range, shares| {
            for (at, share) in range.zip(shares) {
                slope[at] = self.target[at] - share;
                curve[at] = share * (1.0 - share);
            }
        });
        let mut leaf = vec![0u8; self.rows.len()];
        let mut tree = Tree::default();
        for level in 0..settings.depth {
            let leaves = 1usize << level;
            let mut best = (0.0f64, None);
            for &feature in asked {
                let cuts = self.thresholds[feature].len();
                if cuts == 0 {
                    continue;
                }
                let mut sums = vec![(0.0f64, 0.0f64); leaves * (cuts + 1)];
                for (row, bin) in self.bins[feature].iter().enumerate() {
                    let slot = &mut sums[usize::from(leaf[row]) * (cuts + 1) + usize::from(*bin)];
                    slot.0 += f64::from(slope[row]);
                    slot.1 += f64::from(curve[row]);
                }
                for cut in 0..cuts {
                    let mut gain = 0.0;
                    for part in sums.chunks_exact(cuts + 1) {
                        let add = |a: (f64, f64), b: &(f64, f64)| (a.0 + b.0, a.1 + b.1);
                        let low = part[..=cut].iter().fold((0.0, 0.0), add);
                        let high = part[cut + 1..].iter().fold((0.0, 0.0), add);
                        let ridge = f64::from(settings.ridge);
                        gain += low.0 * low.0 / (low.1 + ridge) + high.0 * high.0 / (high.1 + ridge);
                    }
                    if gain > best.0 {
                        best = (gain, Some((feature, cut)));
                    }
                }
            }
            let Some((feature, cut)) = best.1 else { break };
            for (row, bin) in self.bins[feature].iter().enumerate() {
                leaf[row] |= u8::from(usize::from(*bin) > cut) << level;
            }
            tree.splits.push((feature as u8, self.thresholds[feature][cut]));
        }
        let mut sums = vec![(0.0f64, 0.0f64); 1 << tree.splits.len()];
        for (row, leaf) in leaf.iter().enumerate() {
            let slot = &mut sums[usize::from(*leaf)];
            slot.0 += f64::from(slope[row]);
            slot.1 += f64::from(curve[row]);
        }
        let ridge = f64::from(settings.ridge);
        tree.leaves =
            sums.iter().map(|(slope, curve)| settings.rate * (slope / (curve + ridge)) as f32).collect();
        tree
    }

    fn add(&mut self, tree: &Tree) {
        for (score, row) in self.score.iter_mut().zip(&self.rows) {
            *score += tree.value(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_as_words() {
        assert_eq!(replace_name("Ann's Anna met Ann.", "Ann", "Eve"), "Eve's Anna met Eve.");
        assert_eq!(replace_name("小雨和小雨的猫", "小雨", "阿强"), "阿强和阿强的猫");
    }

    #[test]
    fn a_model_learns_what_the_evidence_does_not_say() {
        // The label follows the second feature; the evidence says nothing.
        let mut random = Random::new(3);
        let lists: Vec<List> = (0..60)
            .map(|number| {
                let relevant: Vec<bool> = (0..10).map(|at| at == number % 10).collect();
                let features = relevant
                    .iter()
                    .map(|relevant| {
                        let mut features = [0.0; FEATURES.len()];
                        features[0] = random.unit() as f32;
                        features[1] = if *relevant { 1.0 } else { random.unit() as f32 * 0.9 };
                        features
                    })
                    .collect();
                List { corpus: number.to_string(), features, relevant, wanted: 1 }
            })
            .collect();
        let model = train(&lists, &Settings { sampled: 1.0, trees: 40, ..Settings::default() });
        assert!(recall_at(&lists, &TreeModel::default(), 1) < 0.5);
        assert!(recall_at(&lists, &model, 1) > 0.9);
    }
}
